//! Tests of what only this module can call.

mod properties;
