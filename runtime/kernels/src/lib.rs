//! The standard kernels: bindings of the tensor library to the host runtime, one module per dialect.
//!
//! A kernel is a function or closure over scalars, tensors and chains that calls the tensor library. Kernel
//! names are the names of the compiler's ops; a contract test compares the signatures of both.
#![forbid(unsafe_code)]

/// Registers kernels without chains in a dialect and in its synchronous twin.
macro_rules! twins {
    ($registry:expr, $dialect:literal; $($name:expr => $function:expr;)*) => {$(
        $registry.add(befrost_kernel_api::kernel!(concat!($dialect, ".", $name), $function));
        $registry.add(befrost_kernel_api::kernel!(concat!($dialect, "_sync.", $name), $function));
    )*};
}

mod coo;
mod cpu;
mod dev;
mod eigen;
mod gemm;
mod images;
mod objects;
mod tf;
mod tf_sync;
mod tfrt;
mod tfrt_dht;
#[cfg(feature = "test-kernels")]
mod tfrt_test;
mod ts;
mod upstream;
mod workers;

use befrost_kernel_api::Registry;

pub use coo::coo;
pub use cpu::cpu;
pub use dev::dev;
pub use eigen::eigen;
pub use objects::{
    AnyTensor, Complex128, Coo, Device, ScalarTensor, ShapeValue, Strings, Tensor, TensorType, Text, refused,
};
pub use tf::{
    Operator, allow_folder, assign_variable_values, operator as tf_operator, remove_variable, tf,
    variable_values,
};
pub use tf_sync::tf_sync;
pub use tfrt::tfrt;
pub use tfrt_dht::tfrt_dht;
#[cfg(feature = "test-kernels")]
pub use tfrt_test::tfrt_test;
pub use ts::ts;
pub use upstream::upstream;
pub use workers::{compute, run};

/// All standard kernels. With the feature `test-kernels` also those of `tfrt_test`, `vt` and `tfrt_tutorial`,
/// such as readers of pictures and Protobuf.
pub fn registry() -> Registry {
    #[cfg(feature = "test-kernels")]
    let registry = Registry::new().with(tfrt_test);
    #[cfg(not(feature = "test-kernels"))]
    let registry = Registry::new();
    registry
        .with(tfrt)
        .with(tfrt_dht)
        .with(ts)
        .with(coo)
        .with(cpu)
        .with(dev)
        .with(eigen)
        .with(upstream)
        .with(tf_sync)
        .with(tf)
}
