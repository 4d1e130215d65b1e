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
#[cfg(feature = "kernels-test")]
mod tfrt_test;
mod ts;
mod upstream;
mod workers;

use befrost_kernel_api::Registry;
use befrost_tensor::tf::op::{self, OpRow};

pub use coo::coo;
pub use cpu::cpu;
pub use dev::dev;
pub use eigen::eigen;
pub use objects::{
    AnyTensor, Complex128, Coo, Device, ScalarTensor, ShapeValue, Strings, Tensor, TensorType, Text, refused,
};
#[cfg(feature = "kernels-images")]
pub use tf::decode_picture;
pub use tf::{
    Operator, allow_folder, assign_variable_values, opaque_type, operator as tf_operator, remove_variable,
    tf, variable_values,
};
pub use tf_sync::tf_sync;
pub use tfrt::tfrt;
pub use tfrt_dht::tfrt_dht;
#[cfg(feature = "kernels-test")]
pub use tfrt_test::tfrt_test;
pub use ts::ts;
pub use upstream::upstream;
pub use workers::{compute, run};

/// The standard kernels, as far as Cargo features include them. With the feature `kernels-test` also those of
/// `tfrt_test`, `vt` and `tfrt_tutorial`, such as readers of pictures and Protobuf.
pub fn registry() -> Registry {
    besides_tf(Registry::new().with(tf))
}

/// The kernels of these operators, which are functions of tensors, and those of arenas; with `OTHERS` also
/// all standard kernels that are not functions of tensors, as far as Cargo features include them. For
/// programs that contain the operators which they name, and no others: see [`op::selected`].
pub fn selected<const OTHERS: bool>(functions: &[&'static OpRow]) -> Registry {
    let mut registry = Registry::new();
    tf::selected::<OTHERS>(functions, &mut registry);
    if OTHERS { besides_tf(registry) } else { registry }
}

/// With the standard kernels of dialects besides `tf`.
fn besides_tf(registry: Registry) -> Registry {
    let registry = registry.with(tfrt).with(upstream).with(dev);
    #[cfg(feature = "kernels-tfrt")]
    let registry = registry.with(tfrt_dht).with(ts).with(coo).with(cpu).with(eigen).with(tf_sync);
    #[cfg(feature = "kernels-test")]
    let registry = registry.with(tfrt_test);
    registry
}

/// The Cargo feature that includes a standard kernel; none for those that are always included, and for names
/// of others.
pub fn feature(kernel: &str) -> Option<&'static str> {
    // TFRT's native functions for tests have no dialect.
    let Some((dialect, name)) = kernel.split_once('.') else {
        return kernel.starts_with("native_").then_some("kernels-test");
    };
    match dialect {
        "tf" => Some(op::row(name)?.op?.feature()),
        "tfrt_test" | "tfrt_test_sync" | "vt" | "tfrt_tutorial" => Some("kernels-test"),
        "cpu" if matches!(name, "arena" | "scaled_arena") => None,
        "btf" | "tfrt_dht" | "tfrt_sht" | "tfrt_sht_sync" | "tfrt_dht_sync" | "ts" | "ts_sync" | "coo"
        | "cpu" | "eigen" | "tf_sync" => Some("kernels-tfrt"),
        _ => None,
    }
}

#[cfg(all(test, feature = "kernels-tfrt", feature = "kernels-test"))]
mod tests {
    use super::*;

    fn check(groups: &[fn(&mut Registry)], expected: impl Fn(&str) -> Option<&'static str>) {
        let registry = groups.iter().fold(Registry::new(), |registry, group| registry.with(group));
        assert!(registry.iter().count() > 0);
        for kernel in registry.iter() {
            assert_eq!(feature(kernel.name), expected(kernel.name), "{}", kernel.name);
        }
    }

    #[test]
    fn each_kernel_names_the_feature_that_includes_it() {
        check(&[tfrt, upstream, dev], |_| None);
        check(&[tfrt_dht, ts, coo, cpu, eigen, tf_sync], |_| Some("kernels-tfrt"));
        check(&[tfrt_test], |_| Some("kernels-test"));
        let rows = |name: &str| op::row(name.strip_prefix("tf.")?)?.op.map(op::Op::feature);
        check(&[tf], rows);
        assert_eq!(feature("tf.Conv2D"), Some("tf-nn"));
        assert_eq!(feature("tf.DecodePng"), Some("kernels-images"));
        assert_eq!(feature("tf.ResourceApplyAdam"), Some("tf-train"));
        assert_eq!((feature("tf._Switch"), feature("geo.area"), feature("")), (None, None, None));
    }
}
