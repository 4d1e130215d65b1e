//! [`ChainHandle`]: a caller's own order of effects.

use befrost_kernel_api::value::State;
use befrost_kernel_api::{Error, ExecContext, Value};

use crate::handle::wait_for;

/// A chain. Operators that are called with it have their effects in the order of the calls. A clone is the
/// same position in the order.
#[derive(Clone)]
pub struct ChainHandle {
    value: Value,
    /// The execution of the last operator.
    cx: Option<ExecContext>,
}

impl Default for ChainHandle {
    fn default() -> ChainHandle {
        ChainHandle { value: Value::Chain, cx: None }
    }
}

impl ChainHandle {
    /// The beginning of an order.
    pub fn new() -> ChainHandle {
        ChainHandle::default()
    }

    /// The state of the last effect.
    pub fn state(&self) -> State {
        self.value.state()
    }

    /// The error, if an effect failed. Operators that are called after it do not run.
    pub fn error(&self) -> Option<&Error> {
        self.value.error()
    }

    /// Waits for all effects.
    ///
    /// # Errors
    /// The error of the first effect that failed.
    pub fn wait(&self) -> Result<(), Error> {
        if let Value::Async(value) = &self.value
            && value.value().is_none()
        {
            wait_for(value, self.cx.as_ref())?;
        }
        self.error().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// The completion of an operator.
    pub(crate) fn of(value: Value, cx: &ExecContext) -> ChainHandle {
        ChainHandle { value, cx: Some(cx.clone()) }
    }

    /// The value that an operator takes.
    pub(crate) fn value(&self) -> Value {
        self.value.clone().resolved()
    }

    /// Replaces the chain by the completion of an operator.
    pub(crate) fn advance(&mut self, value: Value, cx: &ExecContext) {
        *self = ChainHandle::of(value, cx);
    }
}

impl std::fmt::Debug for ChainHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ChainHandle").field(&self.state()).finish()
    }
}
