//! Tests of the mathematics that need nothing but its interface. Here they link the library; among its own
//! tests all of it would be built a second time.
#![forbid(unsafe_code)]

mod fast;
mod math;
mod op;
mod rows;
mod selected;
mod small;
#[path = "../../src/testing.rs"]
mod testing;
mod tf;
mod wide;
