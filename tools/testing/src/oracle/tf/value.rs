//! Values of op graphs.

use std::rc::Rc;

use befrost_tensor::{DType, HostTensor, StringTensor};

use super::arrays::Array;
use super::lists::List;
use super::stacks::Stack;
use super::variables::StoredVariable;
use crate::oracle::Code;
use crate::oracle::frames::{Stop, fails};
use crate::oracle::value::OracleError;

/// A final value.
#[derive(Clone, Debug)]
pub enum TfValue {
    /// Its producer failed, or an operand of its producer was an error.
    Error(Rc<OracleError>),
    /// A control edge.
    Chain,
    /// A dense tensor of numbers.
    Tensor(HostTensor),
    /// A tensor of strings.
    Strings(StringTensor),
    /// A variable: a resource or a reference.
    Variable(Rc<StoredVariable>),
    /// A variant that is a list.
    List(Rc<List>),
    /// A variant that is an optional, with its components if it has a value.
    Optional(Option<Rc<[TfValue]>>),
    /// A `TensorArray`.
    Array(Rc<Array>),
    /// A stack.
    Stack(Rc<Stack>),
}

impl TfValue {
    /// The error, if the value is one.
    pub fn error(&self) -> Option<&Rc<OracleError>> {
        match self {
            TfValue::Error(failure) => Some(failure),
            _ => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            TfValue::Error(_) => "an error",
            TfValue::Chain => "a control edge",
            TfValue::Tensor(_) => "a tensor",
            TfValue::Strings(_) => "a tensor of strings",
            TfValue::Variable(_) => "a variable",
            TfValue::List(_) => "a list",
            TfValue::Optional(_) => "an optional",
            TfValue::Array(_) => "a TensorArray",
            TfValue::Stack(_) => "a stack",
        }
    }

    /// The failure of an op that takes another kind of value.
    pub(super) fn is_not(&self, wanted: &str) -> Stop {
        invalid(format!("expected {wanted}, got {}", self.kind()))
    }

    /// A dense tensor.
    pub(super) fn tensor(&self) -> Result<&HostTensor, Stop> {
        match self {
            TfValue::Tensor(x) => Ok(x),
            other => Err(other.is_not("a dense tensor")),
        }
    }

    /// The numbers in a tensor of indices or sizes.
    pub(super) fn ints(&self) -> Result<Vec<i64>, Stop> {
        let x = self.tensor()?;
        match x.dtype() {
            DType::I32 => Ok(x.read::<i32>()?.iter().map(|&i| i64::from(i)).collect()),
            DType::I64 => Ok(x.read::<i64>()?.to_vec()),
            dtype => Err(invalid(format!("indices of type {dtype}"))),
        }
    }

    /// The only number in a tensor.
    pub(super) fn int(&self) -> Result<i64, Stop> {
        match self.ints()?[..] {
            [int] => Ok(int),
            ref other => Err(invalid(format!("{} numbers, expected one", other.len()))),
        }
    }
}

/// A failure for an operand or attribute that the op cannot take.
pub(super) fn invalid(message: impl Into<String>) -> Stop {
    fails(Code::InvalidArgument, message)
}
