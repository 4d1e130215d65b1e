//! The types of operators' functions.

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

/// Operands given away; a caller that needs one afterwards gives a clone.
pub type Operands = SmallVec<[HostTensor; 4]>;

/// An operator with its attributes: a function that its operands are given to. One with no other owner may
/// become the result; the caller's threads do the work.
pub type OwnedEval = Box<dyn Fn(Operands, &Cx<'_>) -> Result<Results, TensorError> + Send + Sync>;

/// An operator with its attributes decoded, or the error of an attribute.
pub type Made = Result<OwnedEval, TensorError>;
