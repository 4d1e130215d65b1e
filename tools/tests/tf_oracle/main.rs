//! The executor against the oracle of op graphs, and the oracle against TensorFlow.
#![forbid(unsafe_code)]

/// Most of the time of the random programs is the compiler's, which allocates.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod compare;
mod devices;
mod gradients;
mod models;
mod random;
