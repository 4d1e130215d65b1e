//! An op of the op graph as the writers of operators see it: operands by name, types, constants, attributes.

use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::{DType, MAX_RANK, TensorError};

use super::emit::{Name, WhyNot};
use crate::build::query;
use crate::dialects::tf;
use crate::ir::{AttrKind, DYNAMIC, Module, OpId, StrId, ValueId};

/// An op and what its operands are called.
pub(super) struct TfNode<'a> {
    pub(super) m: &'a Module,
    pub(super) op: OpId,
    pub(super) operator: Op,
    pub(super) inputs: Vec<Name>,
    pub(super) attrs: Attributes<'a>,
}

impl TfNode<'_> {
    pub(super) fn input(&self, i: usize) -> Result<&str, WhyNot> {
        self.inputs.get(i).map(String::as_str).ok_or_else(|| format!("no operand {i}"))
    }

    pub(super) fn all(&self) -> Vec<&str> {
        self.inputs.iter().map(String::as_str).collect()
    }

    pub(super) fn value(&self, i: usize) -> Result<ValueId, WhyNot> {
        if i < self.inputs.len() { Ok(self.m.operand(self.op, i)) } else { Err(format!("no operand {i}")) }
    }

    /// The number of data results.
    pub(super) fn n_results(&self) -> usize {
        tf::n_data_results(self.m, self.op)
    }

    /// True if nothing uses the results from number `first` on.
    pub(super) fn lacks_uses_from(&self, first: usize) -> bool {
        self.m.results(self.op).skip(first).all(|result| self.m.users(result).next().is_none())
    }

    // ---- types ----

    pub(super) fn dtype(&self, i: usize) -> Result<DType, WhyNot> {
        dtype_of(self.m, self.value(i)?)
    }

    pub(super) fn result_dtype(&self, i: usize) -> Result<DType, WhyNot> {
        if i >= self.n_results() {
            return Err(format!("no result {i}"));
        }
        dtype_of(self.m, self.m.result(self.op, i))
    }

    /// True if operand `i` is a tensor of floating point numbers.
    pub(super) fn is_float(&self, i: usize) -> bool {
        self.dtype(i).is_ok_and(|dtype| matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64))
    }

    /// The dimensions, -1 for unknown ones.
    pub(super) fn dims(&self, i: usize) -> Result<Vec<i64>, WhyNot> {
        dims_of(self.m, self.value(i)?)
    }

    pub(super) fn rank(&self, i: usize) -> Result<usize, WhyNot> {
        self.dims(i).map(|dims| dims.len())
    }

    /// The dimensions, which must be known.
    pub(super) fn known_dims(&self, i: usize) -> Result<Vec<i64>, WhyNot> {
        let dims = self.dims(i)?;
        if dims.iter().all(|&dim| dim >= 0) { Ok(dims) } else { Err("operands of unknown size".to_owned()) }
    }

    /// The length of a vector with an element per axis.
    pub(super) fn length(&self, i: usize) -> Option<i64> {
        match self.dims(i).ok()?[..] {
            [n] if (0..=MAX_RANK as i64).contains(&n) => Some(n),
            _ => None,
        }
    }

    /// The dimensions of the first result, -1 for unknown ones.
    pub(super) fn result_dims(&self) -> Result<Vec<i64>, WhyNot> {
        if self.n_results() == 0 {
            return Err("no results".to_owned());
        }
        dims_of(self.m, self.m.result(self.op, 0))
    }

    /// An axis of a rank, counted from the start.
    pub(super) fn axis(axis: i64, rank: usize) -> Result<usize, WhyNot> {
        let at = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < rank);
        at.ok_or_else(|| format!("axis {axis} of {rank}"))
    }

    // ---- constants ----

    /// The integers of a constant operand.
    pub(super) fn ints(&self, i: usize) -> Option<Vec<i64>> {
        query::ints(self.m, self.value(i).ok()?)
    }

    /// The integers of an operand that ONNX needs as an attribute.
    pub(super) fn known_ints(&self, i: usize) -> Result<Vec<i64>, WhyNot> {
        self.ints(i).ok_or_else(|| format!("operand {i} is not constant"))
    }

    /// The integer of an operand that ONNX needs as an attribute.
    pub(super) fn known_int(&self, i: usize) -> Result<i64, WhyNot> {
        match self.known_ints(i)?[..] {
            [int] => Ok(int),
            _ => Err(format!("operand {i} is no scalar")),
        }
    }

    // ---- attributes ----

    pub(super) fn int(&self, name: &str) -> Result<i64, WhyNot> {
        self.attrs.int(name).map_err(said)
    }

    pub(super) fn int_list(&self, name: &str) -> Result<Vec<i64>, WhyNot> {
        self.attrs.ints(name).map_err(said)
    }

    pub(super) fn float(&self, name: &str) -> Result<f32, WhyNot> {
        self.attrs.float(name).map(|float| float as f32).map_err(said)
    }

    pub(super) fn float_list(&self, name: &str) -> Result<Vec<f32>, WhyNot> {
        let floats = self.attrs.floats(name).map_err(said)?;
        Ok(floats.into_iter().map(|float| float as f32).collect())
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, WhyNot> {
        self.attrs.bool(name).map_err(said)
    }

    pub(super) fn word(&self, name: &str) -> Result<String, WhyNot> {
        self.attrs.string(name).map_err(said)
    }

    pub(super) fn words(&self, name: &str) -> Result<Vec<String>, WhyNot> {
        self.attrs.strings(name).map_err(said)
    }

    /// The element type that an attribute is.
    pub(super) fn dtype_attr(&self, name: &str) -> Result<DType, WhyNot> {
        self.attrs.dtype(name).map_err(said)
    }

    /// The name of the function that an attribute refers to.
    pub(super) fn callee(&self, name: &str) -> Result<StrId, WhyNot> {
        let attr = self.m.attr_named(self.op, name);
        match attr.map(|attr| self.m.cx.attr(attr)) {
            Some(AttrKind::Symbol { root, nested }) if nested.is_empty() => Ok(*root),
            _ => Err(format!("'{name}' is no function of the module")),
        }
    }
}

fn said(error: TensorError) -> WhyNot {
    error.to_string()
}

/// The element type of a value.
pub(super) fn dtype_of(m: &Module, value: ValueId) -> Result<DType, WhyNot> {
    match tf::type_of(&m.cx, m.value_type(value)) {
        Some((Type::Dense(dtype), false)) => Ok(dtype),
        _ => Err("an operand is no tensor of numbers".to_owned()),
    }
}

/// The dimensions of a value of known rank, -1 for unknown ones.
pub(super) fn dims_of(m: &Module, value: ValueId) -> Result<Vec<i64>, WhyNot> {
    let dims = query::shape(m, value).ok_or("operands of unknown rank")?;
    Ok(dims.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect())
}
