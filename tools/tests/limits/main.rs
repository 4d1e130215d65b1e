//! Limits: deadlines that reach into kernels, refused memory as an error value, damaged files that cost no
//! more than their size.
//!
//! The allocator of this program refuses requests on demand (`allocator`). Code that requests memory in
//! proportion to its data and does not handle a refusal ends the test program.

mod allocator;
mod damaged;
mod deadlines;
mod large;
mod refusals;
