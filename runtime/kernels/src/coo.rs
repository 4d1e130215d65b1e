//! `coo`: sparse tensors in coordinate format.

use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::{DType, Element};

use crate::objects::{Coo, Tensor, refused};

/// Adds the kernels of the `coo` dialect.
pub fn coo(registry: &mut Registry) {
    registry.add(kernel!("coo.print_tensor", |tensor: &Coo, _: Chain, cx: &ExecContext| {
        cx.print(&format!("{}\n", tensor.0.text().map_err(refused)?)).map(|()| Chain)
    }));
    kernels(registry);
}

macro_rules! typed {
    ($registry:ident, $ty:ident, $($rank:literal)*) => {$(
        $registry.add(kernel!(
            concat!("coo.convert_coo_to_dht.", stringify!($ty), ".", $rank),
            |tensor: &Coo, _: Chain, cx: &ExecContext| {
                check(tensor.0.dtype(), tensor.0.shape().rank(), <$ty as Element>::DTYPE, $rank)?;
                tensor.0.to_dense(cx.allocator()).map(|dense| (Tensor(dense), Chain)).map_err(refused)
            }
        ));
        $registry.add(kernel!(
            concat!("coo.convert_dht_to_coo.", stringify!($ty), ".", $rank),
            |tensor: &Tensor, _: Chain, cx: &ExecContext| {
                check(tensor.dtype(), tensor.shape().rank(), <$ty as Element>::DTYPE, $rank)?;
                let sparse = befrost_tensor::CooTensor::from_dense(tensor, cx.allocator());
                sparse.map(|sparse| (Coo(sparse), Chain)).map_err(refused)
            }
        ));
        $registry.add(kernel!(
            concat!("coo.tensor_equal.", stringify!($ty), ".", $rank),
            |a: &Coo, b: &Coo, _: Chain, cx: &ExecContext| {
                check(a.0.dtype(), a.0.shape().rank(), <$ty as Element>::DTYPE, $rank)?;
                a.0.equals(&b.0, cx.allocator()).map(|equal| (equal, Chain)).map_err(refused)
            }
        ));
    )*};
}

fn kernels(registry: &mut Registry) {
    typed!(registry, f32, 0 1 2 3);
    typed!(registry, i32, 0 1 2 3);
}

fn check(dtype: DType, rank: usize, want: DType, want_rank: usize) -> Result<(), KernelError> {
    if (dtype, rank) == (want, want_rank) {
        return Ok(());
    }
    let message = format!("a tensor of {dtype} and rank {rank}; expected {want} and rank {want_rank}");
    Err(KernelError::invalid(message))
}
