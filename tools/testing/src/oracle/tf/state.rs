//! Mode and outcome of a call, and the state that ops share.

use std::sync::Arc;

use befrost_compiler::ir::OpId;
use befrost_tensor::mem::Allocator;

use super::value::TfValue;
use super::variables::VariableStore;

/// The effect of an error among a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// All results of the call are that error.
    Strict,
    /// The call runs, as if it were inlined.
    Inlined,
}

/// The outcome of a call.
#[derive(Clone, Debug)]
pub struct TfExecution {
    /// The function's results.
    pub results: Vec<TfValue>,
    /// The texts that were printed to standard output, in order.
    pub printed: Vec<String>,
    /// True if an effect failed. An executor may then have run some of the effects that follow in the text.
    pub is_cut_short: bool,
}

/// The state that the evaluation of a single op reads and writes.
pub(super) struct Cx<'a> {
    pub(super) op: OpId,
    pub(super) variables: &'a mut VariableStore,
    pub(super) printed: &'a mut Vec<String>,
    pub(super) allocator: &'a Arc<dyn Allocator>,
}
