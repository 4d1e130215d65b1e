//! A node during its lowering: its operands, its attributes and the version of its operator set.

use crate::import::onnx_proto::{AttributeProto, GraphProto, NodeProto, TensorProto};
use crate::ir::ValueId;

use super::emit::Why;

/// A node with the values of its inputs.
pub(super) struct OnnxNode<'n> {
    pub(super) proto: &'n NodeProto,
    /// The inputs; `None` where an optional one is omitted.
    pub(super) inputs: Vec<Option<ValueId>>,
    /// The attributes. References to attributes of a function are resolved.
    pub(super) attrs: Vec<(&'n str, &'n AttributeProto)>,
    /// The version of the operator's set.
    pub(super) version: i64,
}

impl<'n> OnnxNode<'n> {
    /// A required input.
    pub(super) fn input(&self, i: usize) -> Result<ValueId, Why> {
        self.optional(i).ok_or_else(|| format!("input #{i} is missing"))
    }

    /// An input that may be omitted.
    pub(super) fn optional(&self, i: usize) -> Option<ValueId> {
        self.inputs.get(i).copied().flatten()
    }

    /// All inputs; none may be omitted, and there is at least one.
    pub(super) fn all(&self) -> Result<Vec<ValueId>, Why> {
        let all: Vec<ValueId> = (0..self.inputs.len()).map(|i| self.input(i)).collect::<Result<_, _>>()?;
        if all.is_empty() { Err("it has no inputs".to_owned()) } else { Ok(all) }
    }

    /// The number of outputs.
    pub(super) fn n_outputs(&self) -> usize {
        self.proto.output.len()
    }

    /// True if an output is wanted.
    pub(super) fn has_output(&self, i: usize) -> bool {
        self.proto.output.get(i).is_some_and(|name| !name.is_empty())
    }

    pub(super) fn attr(&self, name: &str) -> Option<&'n AttributeProto> {
        self.attrs.iter().find(|(given, _)| *given == name).map(|&(_, attr)| attr)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.attr(name).map(|attr| attr.i)
    }

    pub(super) fn int_or(&self, name: &str, default: i64) -> i64 {
        self.int(name).unwrap_or(default)
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> bool {
        self.int(name).map_or(default, |value| value != 0)
    }

    pub(super) fn float(&self, name: &str) -> Option<f32> {
        self.attr(name).map(|attr| attr.f)
    }

    pub(super) fn float_or(&self, name: &str, default: f32) -> f32 {
        self.float(name).unwrap_or(default)
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'n [i64]> {
        self.attr(name).map(|attr| &attr.ints[..])
    }

    pub(super) fn floats(&self, name: &str) -> &'n [f32] {
        self.attr(name).map_or(&[], |attr| &attr.floats)
    }

    /// A string; the default if it is absent.
    pub(super) fn word(&self, name: &str, default: &'n str) -> Result<&'n str, Why> {
        match self.attr(name) {
            None => Ok(default),
            Some(attr) => text(&attr.s),
        }
    }

    pub(super) fn words(&self, name: &str) -> Result<Vec<&'n str>, Why> {
        self.attr(name).into_iter().flat_map(|attr| &attr.strings).map(|bytes| text(bytes)).collect()
    }

    pub(super) fn tensor(&self, name: &str) -> Option<&'n TensorProto> {
        self.attr(name)?.t.as_ref()
    }

    pub(super) fn graph(&self, name: &str) -> Result<&'n GraphProto, Why> {
        self.attr(name).and_then(|attr| attr.g.as_ref()).ok_or_else(|| format!("it has no graph '{name}'"))
    }
}

fn text(bytes: &[u8]) -> Result<&str, Why> {
    std::str::from_utf8(bytes).map_err(|_| "an attribute is not UTF-8".to_owned())
}

/// The name of a domain; that of ONNX itself is empty.
pub(super) fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}
