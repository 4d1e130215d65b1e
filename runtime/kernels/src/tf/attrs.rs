//! Attributes of BEF files as attributes of the tensor library.

use std::borrow::Cow;
use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::kernel::{KernelUse, RawAttr};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{AttrKind, Attributes, Attrs, Derived, OpRow, Type};
use befrost_tensor::{DType, HostTensor, Shape};

use super::memory::ARENA;

/// The attribute that the memory plan adds to operators that are functions of tensors.
pub(super) const MEMORY: &str = "memory";

/// The attribute names of an operator's kernel: TensorFlow's, without attributes that are functions.
pub(super) fn names(row: &'static OpRow) -> Vec<&'static str> {
    let is_function = |kind: AttrKind| matches!(kind, AttrKind::Func | AttrKind::List(AttrKind::Func));
    let own = row.signature().attrs.iter().filter(|attr| !is_function(attr.kind)).map(|attr| attr.name);
    own.chain(row.has_function().then_some(MEMORY)).collect()
}

/// The attributes of a use of a kernel.
pub(super) struct UseAttrs<'s>(pub(super) &'s KernelUse<'s>);

/// Calls `f` with the attributes of a use: explicit ones, those derived from types, and TensorFlow's
/// defaults.
pub(super) fn attributes<R>(
    row: &OpRow,
    site: &KernelUse<'_>,
    f: impl FnOnce(&Attributes<'_>) -> Result<R, String>,
) -> Result<R, String> {
    let signature = row.signature();
    let types = |ty: &str| element_type(ty);
    let data = |ty: &&str| *ty != "!tfrt.chain" && *ty != ARENA;
    let inputs = site.operand_types().take_while(data).map(types).collect();
    let outputs = site.result_types().take_while(data).map(types).collect();
    let attrs = Derived::new(signature, UseAttrs(site), inputs, outputs);
    attrs.check()?;
    f(&Attributes::new(signature, &attrs))
}

/// The element type in the text of an element type or a tensor type.
pub(super) fn element_type(text: &str) -> Option<Type> {
    let mut element = text;
    if let Some(body) = text.strip_prefix("tensor<") {
        element = body.strip_suffix('>')?;
        while let Some((dim, rest)) = element.split_once('x') {
            let is_dim = dim == "?"
                || dim == "*"
                || (!dim.is_empty() && dim.bytes().all(|byte| byte.is_ascii_digit()));
            if !is_dim {
                break;
            }
            element = rest;
        }
    }
    if let Some(name) = element.strip_prefix("!tf_type.") {
        // A reference type has the element type of its referent.
        return Type::referred(name.strip_suffix("ref").unwrap_or(name));
    }
    match element {
        "complex<f32>" => Some(Type::Dense(DType::Complex64)),
        "complex<f64>" => Some(Type::Dense(DType::Complex128)),
        dtype => dtype.parse::<DType>().ok().map(Type::Dense),
    }
}

impl UseAttrs<'_> {
    pub(super) fn raw(&self, name: &str) -> Option<RawAttr<'_>> {
        self.0.attr_named(name)
    }

    fn list<T>(&self, name: &str, item: impl Fn(&AttrView<'_>) -> Option<T>) -> Option<Vec<T>> {
        items(&self.raw(name)?, item)
    }

    /// A constant in the file; of equal elements the file has one.
    pub(super) fn constant(&self, name: &str) -> Option<Result<HostTensor, String>> {
        let AttrView::Dense { ty: _, dtype, shape, data, splat } = self.raw(name)?.view else { return None };
        let dtype = DType::from_code(dtype as u8)?;
        let view = || {
            let shape = Shape::from_i64(shape).map_err(|error| error.to_string())?;
            let data = self.0.mapped(data).map_err(|error| error.to_string())?;
            let tensor = match splat {
                true => HostTensor::repeated(dtype, shape, data, &(Malloc::shared() as Arc<dyn Allocator>)),
                false => HostTensor::from_buffer(dtype, shape, data),
            };
            tensor.map_err(|error| error.to_string())
        };
        Some(view())
    }
}

/// The elements of a list attribute.
fn items<T>(attr: &RawAttr<'_>, item: impl Fn(&AttrView<'_>) -> Option<T>) -> Option<Vec<T>> {
    match attr.view {
        AttrView::Array(_) => attr.elements().map(|element| item(&element.view)).collect(),
        AttrView::Scalars { dtype, bytes, n, .. } => {
            let size = dtype.size();
            bytes.chunks_exact(size).take(n).map(|bytes| item(&scalar(dtype, bytes)?)).collect()
        }
        _ => None,
    }
}

/// The elements of a list attribute of integers.
pub(super) fn ints(attr: &RawAttr<'_>) -> Option<Vec<i64>> {
    items(attr, int)
}

/// An element of a numeric list.
fn scalar<'v>(dtype: bef_format::DType, bytes: &[u8]) -> Option<AttrView<'v>> {
    let int = |value: i64| AttrView::Int { ty: bef_format::TypeId(0), dtype: Some(dtype), value };
    Some(match (dtype, bytes) {
        (bef_format::DType::I1, &[byte]) => AttrView::Bool(byte != 0),
        (bef_format::DType::I32, &[a, b, c, d]) => int(i64::from(i32::from_le_bytes([a, b, c, d]))),
        (bef_format::DType::I64, _) => int(i64::from_le_bytes(bytes.try_into().ok()?)),
        (bef_format::DType::F32, &[a, b, c, d]) => {
            AttrView::Float { dtype, bits: u64::from(u32::from_le_bytes([a, b, c, d])) }
        }
        (bef_format::DType::F64, _) => {
            AttrView::Float { dtype, bits: u64::from_le_bytes(bytes.try_into().ok()?) }
        }
        _ => return None,
    })
}

fn int(attr: &AttrView<'_>) -> Option<i64> {
    match *attr {
        AttrView::Int { value, .. } => Some(value),
        _ => None,
    }
}

fn float(attr: &AttrView<'_>) -> Option<f64> {
    attr.as_f64().or_else(|| int(attr).map(|value| value as f64))
}

/// A string. One that is not UTF-8 is in a file as MLIR's text.
pub(super) fn string<'a>(attr: &AttrView<'a>) -> Option<Cow<'a, [u8]>> {
    match *attr {
        AttrView::Str(text) => Some(Cow::Borrowed(text.as_bytes())),
        AttrView::Text(text) => unquoted(text.strip_prefix('"')?.strip_suffix('"')?).map(Cow::Owned),
        _ => None,
    }
}

/// The bytes that MLIR's text of a string means: `\\` is a backslash, `\FF` a byte.
fn unquoted(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            bytes.push(b'\\');
            bytes.extend_from_slice(parts.next()?.as_bytes());
        } else {
            bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
            bytes.extend_from_slice(&part.as_bytes()[2..]);
        }
    }
    Some(bytes)
}

fn ty(attr: &AttrView<'_>) -> Option<Type> {
    match attr {
        AttrView::Type(text) => element_type(text),
        _ => None,
    }
}

fn shape(attr: &AttrView<'_>) -> Option<PartialShape> {
    match attr {
        AttrView::Shape(dims) => PartialShape::from_i64(dims).ok(),
        AttrView::UnrankedShape => Some(PartialShape::unknown()),
        AttrView::Text(text) => {
            PartialShape::from_text(text.strip_prefix("#tf_type.shape<")?.strip_suffix('>')?)
        }
        _ => None,
    }
}

impl Attrs for UseAttrs<'_> {
    fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    fn int(&self, name: &str) -> Option<i64> {
        int(&self.raw(name)?.view)
    }

    fn float(&self, name: &str) -> Option<f64> {
        float(&self.raw(name)?.view)
    }

    fn bool(&self, name: &str) -> Option<bool> {
        match self.raw(name)?.view {
            AttrView::Bool(value) => Some(value),
            _ => None,
        }
    }

    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        string(&self.raw(name)?.view)
    }

    fn ty(&self, name: &str) -> Option<Type> {
        ty(&self.raw(name)?.view)
    }

    fn shape(&self, name: &str) -> Option<PartialShape> {
        match self.raw(name)?.view {
            view @ (AttrView::Shape(_) | AttrView::UnrankedShape | AttrView::Text(_)) => shape(&view),
            _ => PartialShape::from_i64(&self.ints(name)?).ok(),
        }
    }

    fn tensor(&self, name: &str) -> Option<HostTensor> {
        self.constant(name)?.ok()
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.list(name, int)
    }

    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.list(name, float)
    }

    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        self.list(name, |attr| match attr {
            AttrView::Str(text) => Some(text.as_bytes().to_vec()),
            _ => None,
        })
    }

    fn types(&self, name: &str) -> Option<Vec<Type>> {
        self.list(name, ty)
    }

    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        self.list(name, shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_written() {
        for (text, want) in [
            ("tensor<2x?xf32>", Some(Type::Dense(DType::F32))),
            ("tensor<*xcomplex<f64>>", Some(Type::Dense(DType::Complex128))),
            ("tensor<ui8>", Some(Type::Dense(DType::UI8))),
            ("tensor<2x!tf_type.f32ref>", Some(Type::Dense(DType::F32))),
            ("tensor<!tf_type.stringref>", Some(Type::String)),
            ("tensor<!tf_type.resource>", Some(Type::Resource)),
            ("f32", Some(Type::Dense(DType::F32))),
            ("tensor<2x!tf_type.what>", None),
            ("tensor<", None),
            ("", None),
        ] {
            assert_eq!(element_type(text), want, "{text}");
        }
    }
}
