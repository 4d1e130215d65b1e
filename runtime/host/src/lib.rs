//! The host runtime.

pub mod async_value;
pub mod error;
pub mod object;
mod sync;
pub mod value;

pub use value::Value;
