//! The host runtime.

pub mod async_value;
pub mod error;
pub mod object;
pub mod context;
pub mod queue;
mod sync;
pub mod value;

pub use value::Value;
