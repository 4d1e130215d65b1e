//! Host tensors and their mathematics.
//!
//! ```text
//! DType + Shape + Buffer = HostTensor ──read/write──▶ slices ──▶ math (slices) ◀── reference (oracle)
//!                              ▲  │                                ▲
//!            npy, literal ─────┘  └──▶ print, compare              └── ops (tensors: checks, borrows)
//! ```
//!
//! * [`HostTensor`] is a handle: clones share the bytes. Access is borrowed at run time; a conflict is an
//!   error.
//! * [`ops`] has destination-passing functions over tensors, for kernels. They check dtypes and shapes. `x`
//!   and `out` may be the same tensor where the mathematics allows it.
//! * [`math`] has the fast version of each function over plain slices, [`mod@reference`] the reference
//!   version for the oracle.
//! * [`matmul`] is the product with a constant matrix that was packed ahead of time, on the register tiles of
//!   [`simd`]. [`conv`] runs it with the windows of images as rows.
//! * [`StringTensor`] is a tensor of strings.
//! * [`tf`] has TensorFlow's operators for every dtype: reference versions, fast versions, and fused versions
//!   for compilers.
//! * [`scalar`] has the ops on single numbers, for kernels and for the compiler's folder.
//! * [`parallel`] divides the work of one function among the caller's threads.
//! * [`npy`], [`btf`], [`literal`] and [`mod@print`] convert tensors from and to files and text. [`compare`]
//!   and [`ulps`] compare them.
//! * [`bundle`] reads tensors from TensorFlow's checkpoints and SavedModels.
//! * [`CooTensor`] is a sparse tensor.
//! * [`spelling`] finds the known name that was meant by an unknown one.
//! * [`sort`] has sorts that end early when they are interrupted.
//!
//! All outside input (shapes, files, literals) is checked before it is used or allocated for. Bad input
//! results in a [`TensorError`] or the module's own error, never a panic.
//!
//! Long loops check [`interrupt`] and stop early.
//!
//! Not here: AsyncValues, threads (callers pass a parallel-for), devices, graph semantics. `unsafe` occurs in
//! `gemm.rs`, `interrupt.rs` and `simd` only.

#[cfg(test)]
extern crate self as befrost_tensor;

pub mod btf;
pub mod bundle;
mod cache;
pub mod compare;
pub mod conv;
mod coo;
mod dtype;
mod element;
mod error;
mod fingerprint;
#[allow(unsafe_code, reason = "the gemm crate takes raw pointers; every extent is checked in this one file")]
mod gemm;
#[allow(unsafe_code, reason = "the flag of a thread is borrowed for the length of a call")]
pub mod interrupt;
pub mod literal;
pub mod math;
pub mod matmul;
pub mod narrow;
pub mod npy;
pub mod ops;
pub mod parallel;
pub mod print;
pub mod reference;
pub mod scalar;
pub mod scratch;
mod shape;
#[allow(unsafe_code, reason = "intrinsics and functions for instructions that the machine was found to have")]
pub mod simd;
pub mod sort;
pub mod spelling;
mod string;
mod tensor;
#[cfg(test)]
mod testing;
pub mod tf;
pub mod ulps;
pub mod wire;

pub use befrost_mem as mem;
pub use coo::CooTensor;
pub use dtype::DType;
pub use element::{Complex64, Complex128, Element, I1};
pub use error::TensorError;
pub use fingerprint::{fingerprint_cat64, fingerprint64};
pub use half::{bf16, f16};
pub use shape::{Dims, MAX_RANK, Shape, matmul_shape, reduce_shape, resolve_axis};
pub use string::{StringTensor, Strings};
pub use tensor::{HostTensor, Ref, RefMut};
