//! Attribute access for operators: given attributes first, then TensorFlow's defaults.
//!
//! ```text
//! IR attributes, BEF attributes ──▶ trait Attrs ──┐
//! row's signature ────────────────▶ Signature ────┴─▶ Attributes: a value, or an error that names both
//! ```

use std::borrow::Cow;

use super::signature::{DefaultValue, Signature};
use super::types::Type;
use crate::tf::PartialShape;
use crate::{DType, HostTensor, TensorError};

/// The attributes of a node. A method returns `None` if there is no attribute with this name, or it is of
/// another kind.
pub trait Attrs {
    /// True if there is an attribute with this name, of any kind.
    fn has(&self, name: &str) -> bool;
    /// An int.
    fn int(&self, name: &str) -> Option<i64>;
    /// A float.
    fn float(&self, name: &str) -> Option<f64>;
    /// A boolean.
    fn bool(&self, name: &str) -> Option<bool>;
    /// A string of bytes.
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>>;
    /// An element type.
    fn ty(&self, name: &str) -> Option<Type>;
    /// A shape.
    fn shape(&self, name: &str) -> Option<PartialShape>;
    /// A dense tensor.
    fn tensor(&self, name: &str) -> Option<HostTensor>;
    /// A list of ints. An empty list has every list kind.
    fn ints(&self, name: &str) -> Option<Vec<i64>>;
    /// A list of floats.
    fn floats(&self, name: &str) -> Option<Vec<f64>>;
    /// A list of strings.
    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>>;
    /// A list of element types.
    fn types(&self, name: &str) -> Option<Vec<Type>>;
    /// A list of shapes.
    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>>;
}

/// The attributes of a node of a known operator, including defaults.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    signature: &'a Signature,
    attrs: &'a dyn Attrs,
}

impl<'a> Attributes<'a> {
    /// The node's attributes, and the signature's defaults for the others.
    pub fn new(signature: &'a Signature, attrs: &'a dyn Attrs) -> Attributes<'a> {
        Attributes { signature, attrs }
    }

    /// The operator's name.
    pub fn op(&self) -> &'static str {
        self.signature.name
    }

    /// The node's own attributes.
    pub fn given(&self) -> &'a dyn Attrs {
        self.attrs
    }

    /// The operator's signature.
    pub fn signature(&self) -> &'a Signature {
        self.signature
    }

    /// True if the node has the attribute, apart from defaults.
    pub fn has(&self, name: &str) -> bool {
        self.attrs.has(name)
    }

    fn value<T>(
        &self,
        name: &str,
        kind: &str,
        given: Option<T>,
        default: impl FnOnce(&DefaultValue) -> Option<T>,
    ) -> Result<T, TensorError> {
        if let Some(value) = given {
            return Ok(value);
        }
        let op = self.op();
        if self.attrs.has(name) {
            return Err(TensorError::Invalid {
                op,
                problem: format!("attribute `{name}` is not of kind {kind}"),
            });
        }
        let default = self.signature.attr(name).and_then(|attr| attr.default.as_ref()).and_then(default);
        default.ok_or_else(|| TensorError::Invalid { op, problem: format!("no attribute `{name}` ({kind})") })
    }

    /// An int.
    pub fn int(&self, name: &str) -> Result<i64, TensorError> {
        self.value(name, "int", self.attrs.int(name), |value| match value {
            DefaultValue::Int(int) => Some(*int),
            _ => None,
        })
    }

    /// A float.
    pub fn float(&self, name: &str) -> Result<f64, TensorError> {
        self.value(name, "float", self.attrs.float(name), |value| match value {
            DefaultValue::Float(float) => Some(*float),
            _ => None,
        })
    }

    /// A boolean.
    pub fn bool(&self, name: &str) -> Result<bool, TensorError> {
        self.value(name, "bool", self.attrs.bool(name), |value| match value {
            DefaultValue::Bool(bool) => Some(*bool),
            _ => None,
        })
    }

    /// A string of bytes.
    pub fn bytes(&self, name: &str) -> Result<Vec<u8>, TensorError> {
        self.value(name, "string", self.attrs.string(name).map(Cow::into_owned), |value| match value {
            DefaultValue::String(string) => Some(string.clone().into_bytes()),
            _ => None,
        })
    }

    /// A string of text.
    pub fn string(&self, name: &str) -> Result<String, TensorError> {
        self.text(name, self.bytes(name)?)
    }

    fn text(&self, name: &str, bytes: Vec<u8>) -> Result<String, TensorError> {
        String::from_utf8(bytes).map_err(|error| TensorError::Invalid {
            op: self.op(),
            problem: format!("attribute `{name}` is no text: {error}"),
        })
    }

    /// An element type.
    pub fn ty(&self, name: &str) -> Result<Type, TensorError> {
        self.value(name, "type", self.attrs.ty(name), |value| match value {
            DefaultValue::Type(ty) => Some(*ty),
            _ => None,
        })
    }

    /// The element type of a dense tensor.
    pub fn dtype(&self, name: &str) -> Result<DType, TensorError> {
        let ty = self.ty(name)?;
        ty.dtype().ok_or_else(|| TensorError::Invalid {
            op: self.op(),
            problem: format!("attribute `{name}` is {ty}, which is no type of numbers"),
        })
    }

    /// A shape.
    pub fn shape(&self, name: &str) -> Result<PartialShape, TensorError> {
        self.value(name, "shape", self.attrs.shape(name), |value| match value {
            DefaultValue::Shape(None) => Some(PartialShape::unknown()),
            DefaultValue::Shape(Some(dims)) => PartialShape::from_i64(dims).ok(),
            _ => None,
        })
    }

    /// A dense tensor.
    pub fn tensor(&self, name: &str) -> Result<HostTensor, TensorError> {
        self.value(name, "tensor", self.attrs.tensor(name), |_| None)
    }

    /// A list of ints.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, TensorError> {
        self.value(name, "list(int)", self.attrs.ints(name), |value| {
            list(value, |item| match item {
                DefaultValue::Int(int) => Some(*int),
                _ => None,
            })
        })
    }

    /// A list of floats.
    pub fn floats(&self, name: &str) -> Result<Vec<f64>, TensorError> {
        self.value(name, "list(float)", self.attrs.floats(name), |value| {
            list(value, |item| match item {
                DefaultValue::Float(float) => Some(*float),
                _ => None,
            })
        })
    }

    /// A list of strings of text.
    pub fn strings(&self, name: &str) -> Result<Vec<String>, TensorError> {
        let given = self.value(name, "list(string)", self.attrs.strings(name), |value| {
            list(value, |item| match item {
                DefaultValue::String(string) => Some(string.clone().into_bytes()),
                _ => None,
            })
        })?;
        given.into_iter().map(|bytes| self.text(name, bytes)).collect()
    }

    /// A list of element types.
    pub fn types(&self, name: &str) -> Result<Vec<Type>, TensorError> {
        self.value(name, "list(type)", self.attrs.types(name), |value| {
            list(value, |item| match item {
                DefaultValue::Type(ty) => Some(*ty),
                _ => None,
            })
        })
    }

    /// A list of shapes.
    pub fn shapes(&self, name: &str) -> Result<Vec<PartialShape>, TensorError> {
        self.value(name, "list(shape)", self.attrs.shapes(name), |value| {
            list(value, |item| match item {
                DefaultValue::Shape(None) => Some(PartialShape::unknown()),
                DefaultValue::Shape(Some(dims)) => PartialShape::from_i64(dims).ok(),
                _ => None,
            })
        })
    }

    /// The value paired with the attribute's word; other words are errors.
    pub(super) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, TensorError> {
        let given = self.string(name)?;
        words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let given: String = given.chars().take(32).collect();
            let problem = format!("attribute `{name}` is \"{given}\", not one of {known:?}");
            TensorError::Invalid { op: self.op(), problem }
        })
    }

    /// A nonnegative int.
    pub(super) fn count(&self, name: &str) -> Result<usize, TensorError> {
        let given = self.int(name)?;
        usize::try_from(given).map_err(|_| TensorError::Invalid {
            op: self.op(),
            problem: format!("attribute `{name}` is {given}"),
        })
    }
}

fn list<T>(value: &DefaultValue, item: impl Fn(&DefaultValue) -> Option<T>) -> Option<Vec<T>> {
    match value {
        DefaultValue::List(items) => items.iter().map(item).collect(),
        _ => None,
    }
}
