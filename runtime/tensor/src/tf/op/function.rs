//! Functions of operators, with their attributes decoded.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::mem::Allocator;
use crate::tf::fast::Cx;
use crate::{HostTensor, TensorError};

/// The results of an operator; mostly one.
pub type Results = SmallVec<[HostTensor; 1]>;

/// An operator with its attributes: a function of its operands.
pub type Eval =
    Box<dyn Fn(&[&HostTensor], &Arc<dyn Allocator>) -> Result<Results, TensorError> + Send + Sync>;

/// Operands passed by value; a caller that needs one later passes a clone.
pub type Operands = SmallVec<[HostTensor; 4]>;

/// An operator with decoded attributes: a function of owned operands and the execution context. An operand
/// without other handles may become the result.
pub type OwnedEval = Box<dyn Fn(Operands, &Cx<'_>) -> Result<Results, TensorError> + Send + Sync>;

/// An operator with its attributes decoded, or the error of an attribute.
pub type Made = Result<OwnedEval, TensorError>;
