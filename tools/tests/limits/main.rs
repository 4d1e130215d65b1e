//! Limits: deadlines that reach into kernels, refused memory as an error value, damaged files that cost no
//! more than their size.
//!
//! The allocator of this program refuses requests on demand (`allocator`). So code that asks for memory as
//! large as its data without regard to a refusal ends the test program.

mod allocator;
mod damaged;
mod deadlines;
mod large;
mod refusals;
