//! Tests of the compiler that need nothing but its interface. Here they link the library; among its own
//! tests all of it would be built a second time.
#![forbid(unsafe_code)]

mod build;
mod fold;
mod pass;
mod resolve;
mod rewrite;
mod syntax;
mod verify;
