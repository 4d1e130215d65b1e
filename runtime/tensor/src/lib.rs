//! Host tensors and their mathematics.
//!
//! ```text
//! DType + Shape + Buffer = HostTensor ──read/write──▶ typed slices ──▶ math (slices) ◀── reference (slices, the oracle)
//!                              ▲  │                                      ▲
//!            npy, literal ─────┘  └──▶ print, compare                    └── ops (tensors: checks, borrows, in place)
//! ```
//!
//! * [`HostTensor`] is a handle: cloning shares the bytes. Access is borrowed at run time; a conflict is an error.
//! * [`ops`] is what kernels call: destination-passing functions over tensors that check dtypes and shapes and allow `x` and `out` to
//!   be the same tensor where the mathematics does.
//! * [`math`] is the fast version of each function over plain slices, [`mod@reference`] the plain one that the oracle uses.
//! * [`matmul`] is the product with a constant matrix packed ahead of time, on the register tiles of [`simd`]; [`conv`] has an
//!   image's windows for its rows.
//! * [`StringTensor`] is the tensor of strings, which are no elements.
//! * [`tf`] has TensorFlow's operators for every dtype: plain ones, fast ones that stand in for them, and fusions for compilers.
//! * [`scalar`] is what ops on single numbers compute, for kernels and for the compiler's folder.
//! * [`npy`], [`literal`], [`mod@print`] and [`compare`] are the tensors' ways in and out of text and files.
//!
//! Everything from outside (shapes, files, literals) is checked before it is used or allocated for; the answer to bad input is a
//! [`TensorError`] or the module's own error, never a panic.
//!
//! Not here: AsyncValues, threads (the work queue's `parallel_for` will come in as an argument), devices, graph semantics.
//! `unsafe` lives in `gemm.rs` and `simd` only.

pub mod btf;
pub mod compare;
pub mod conv;
mod coo;
mod dtype;
mod element;
mod error;
#[allow(unsafe_code, reason = "the gemm crate takes raw pointers; every extent is checked in this one file")]
mod gemm;
pub mod literal;
pub mod math;
pub mod matmul;
pub mod npy;
pub mod ops;
pub mod print;
pub mod reference;
pub mod scalar;
mod shape;
#[allow(unsafe_code, reason = "intrinsics and functions for instructions that the machine was found to have")]
pub mod simd;
mod string;
mod tensor;
pub mod tf;
pub mod ulps;

pub use befrost_mem as mem;
pub use coo::CooTensor;
pub use dtype::DType;
pub use element::{Complex64, Complex128, Element, I1};
pub use error::TensorError;
pub use half::{bf16, f16};
pub use shape::{MAX_RANK, Shape, matmul_shape, reduce_shape, resolve_axis};
pub use string::{StringTensor, Strings};
pub use tensor::{HostTensor, Ref, RefMut};
