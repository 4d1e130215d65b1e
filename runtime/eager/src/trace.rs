//! Scopes of dispatched operators, for a tool that prints them.
//!
//! ```text
//! tf.AddV2#op_handler=cpu#     the operator
//!   RunMetadataFunction        its metadata
//!   RunDispatch: tf.AddV2      its code, if it runs within the call
//! ```
//!
//! A process has one receiver. Without one a scope costs a load.

use std::sync::OnceLock;

/// The receiver of scopes.
#[derive(Clone, Copy, Debug)]
pub struct Tracer {
    /// A scope begins.
    pub begin: fn(&str),
    /// The last scope that began on this thread ends.
    pub end: fn(),
}

static TRACER: OnceLock<Tracer> = OnceLock::new();

/// Sets the receiver of scopes. False if there is one.
pub fn trace_with(tracer: Tracer) -> bool {
    TRACER.set(tracer).is_ok()
}

/// True if there is a receiver.
pub(crate) fn is_on() -> bool {
    TRACER.get().is_some()
}

/// A scope, until it is dropped.
pub(crate) struct OpScope(Option<&'static Tracer>);

impl OpScope {
    /// A scope of this name, if there is a receiver.
    pub(crate) fn begin(name: impl FnOnce() -> String) -> OpScope {
        let tracer = TRACER.get();
        if let Some(tracer) = tracer {
            (tracer.begin)(&name());
        }
        OpScope(tracer)
    }
}

impl Drop for OpScope {
    fn drop(&mut self) {
        if let Some(tracer) = self.0 {
            (tracer.end)();
        }
    }
}
