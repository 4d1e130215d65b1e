//! `btf`: tensors from BTF files.

use std::fs::File;
use std::sync::Arc;

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::Deferred;
use befrost_kernel_api::{ExecContext, KernelError, Registry, kernel};
use befrost_tensor::btf::{self, BtfError, Wanted};
use befrost_tensor::mem::Allocator;
use befrost_tensor::{Element, TensorError};

use crate::objects::{Coo, Tensor, Text, refused};

macro_rules! readers {
    ($registry:ident, $kernel:literal, $read:path, $($ty:ident $name:literal)*) => {$(
        readers!(@ranks $registry, $kernel, $read, $ty $name, 0 1 2 3 4);
    )*};
    (@ranks $registry:ident, $kernel:literal, $read:path, $ty:ident $name:literal, $($rank:literal)*) => {$(
        $registry.add(kernel!(concat!($kernel, ".", $name, ".", $rank), |path: &Text, index: i32| {
            let path = path.text().into_owned();
            let want = Wanted { dtype: <$ty as Element>::DTYPE, rank: $rank };
            Deferred::blocking(move |cx: &ExecContext| $read(&path, index, want, cx.allocator()))
        }));
    )*};
}

pub(super) fn add(registry: &mut Registry) {
    readers!(registry, "btf.read_dense_tensor", dense, f32 "f32" i32 "i32" i64 "i64" i8 "i8" u8 "ui8");
    readers!(registry, "btf.read_coo_tensor", coo, f32 "f32" i32 "i32" i8 "i8");
}

fn dense(
    path: &str,
    index: i32,
    want: Wanted,
    allocator: &Arc<dyn Allocator>,
) -> Result<Tensor, KernelError> {
    read(path, index, |file, index| btf::read_dense(file, index, want, allocator)).map(Tensor)
}

fn coo(path: &str, index: i32, want: Wanted, allocator: &Arc<dyn Allocator>) -> Result<Coo, KernelError> {
    read(path, index, |file, index| btf::read_coo(file, index, want, allocator)).map(Coo)
}

fn read<T>(
    path: &str,
    index: i32,
    tensor: impl FnOnce(&mut File, u64) -> Result<T, BtfError>,
) -> Result<T, KernelError> {
    let failed = |error: BtfError| match error {
        BtfError::Tensor(error @ TensorError::Alloc(_)) => refused(error),
        error => KernelError::new(ErrorCode::InvalidArgument, format!("cannot read {path}: {error}")),
    };
    let index = u64::try_from(index)
        .map_err(|_| KernelError::invalid(format!("there is no tensor {index} in {path}")))?;
    let mut file = File::open(path).map_err(|error| {
        KernelError::new(ErrorCode::NotFound, format!("failed to open file {path} for reading: {error}"))
    })?;
    tensor(&mut file, index).map_err(failed)
}
