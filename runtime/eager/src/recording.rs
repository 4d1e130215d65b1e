//! The handler that records operators and passes them to its fallback: the tape of a gradient.

use std::sync::{Arc, Mutex, PoisonError};

use befrost_kernel_api::Error;

use crate::attrs::OpAttrsRef;
use crate::handle::TensorHandle;
use crate::handler::{Dispatch, Invocation, OpHandler, OpKey};

/// A dispatched operator.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its full name.
    pub name: Arc<str>,
    /// Its attributes.
    pub attrs: OpAttrsRef,
    /// Its operands.
    pub args: Vec<TensorHandle>,
    /// Its results.
    pub results: Vec<TensorHandle>,
}

/// The dispatched operators.
type Tape = Arc<Mutex<Vec<Recorded>>>;

/// The handler that records operators and passes them to its fallback. Refused operators are not recorded.
pub struct RecordingOpHandler {
    fallback: Arc<dyn OpHandler>,
    tape: Tape,
}

impl RecordingOpHandler {
    /// A handler in front of another one.
    pub fn new(fallback: Arc<dyn OpHandler>) -> RecordingOpHandler {
        RecordingOpHandler { fallback, tape: Tape::default() }
    }

    /// Takes the operators that were dispatched since the last call, in their order.
    pub fn take(&self) -> Vec<Recorded> {
        std::mem::take(&mut *self.tape.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for RecordingOpHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordingOpHandler").finish_non_exhaustive()
    }
}

impl OpHandler for RecordingOpHandler {
    fn name(&self) -> &str {
        "RecordingOpHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        Some(&self.fallback)
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        Ok(Arc::new(RecordingDispatch {
            name: key.name.into(),
            attrs: key.attrs.clone(),
            inner: self.fallback.make(key)?,
            tape: self.tape.clone(),
        }))
    }
}

struct RecordingDispatch {
    name: Arc<str>,
    attrs: OpAttrsRef,
    inner: Arc<dyn Dispatch>,
    tape: Tape,
}

impl Dispatch for RecordingDispatch {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        let args = call.args.to_vec();
        self.inner.dispatch(call)?;
        let (name, attrs, results) = (self.name.clone(), self.attrs.clone(), call.results.to_vec());
        let recorded = Recorded { name, attrs, args, results };
        self.tape.lock().unwrap_or_else(PoisonError::into_inner).push(recorded);
        Ok(())
    }

    fn has_effect(&self) -> bool {
        self.inner.has_effect()
    }
}
