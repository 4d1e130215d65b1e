//! Conversion of the attributes of `tf` ops to the tensor library's values and back.

use std::borrow::Cow;
use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Buffer, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{AttrKind as Kind, Attrs, DefaultValue, Derived, Signature, Type};
use befrost_tensor::{DType, HostTensor, Shape};

use super::{element, n_data_operands, n_data_results, tensor, type_of};
use crate::ir::{AttrId, AttrKind, Blob, Context, KnownType, Module, OpId, StrId, TypeId, TypeKind};

/// Prefix of `#tf_type.shape<2x?>` before the dimensions.
const SHAPE: &str = "tf_type.shape<";

/// A shape as an attribute. -1 is an unknown dimension, `None` an unknown rank.
pub fn shape_attr(cx: &mut Context, dims: Option<&[i64]>) -> AttrId {
    let dims = match dims {
        None => "*".to_owned(),
        Some(dims) => {
            let dim = |&dim: &i64| if dim < 0 { "?".to_owned() } else { dim.to_string() };
            dims.iter().map(dim).collect::<Vec<_>>().join("x")
        }
    };
    let text = cx.str_id(&format!("{SHAPE}{dims}>"));
    cx.attr_id(AttrKind::Opaque { text, ty: None })
}

/// The shape that an attribute is.
pub fn shape_of_attr(cx: &Context, attr: AttrId) -> Option<PartialShape> {
    let AttrKind::Opaque { text, .. } = cx.attr(attr) else { return None };
    PartialShape::from_text(cx.str(*text).strip_prefix(SHAPE)?.strip_suffix('>')?)
}

/// The value of an attribute of this kind, as it is written.
pub fn declared_attr(cx: &mut Context, kind: Kind, value: &DefaultValue) -> AttrId {
    match value {
        DefaultValue::Type(ty) => {
            let ty = element(cx, *ty, false);
            cx.type_attr(ty)
        }
        DefaultValue::Int(int) => cx.int_attr(KnownType::I64.id(), *int),
        DefaultValue::Float(float) => cx.f32_attr(*float as f32),
        DefaultValue::Bool(value) => cx.bool_attr(*value),
        DefaultValue::String(text) => cx.str_attr(text),
        DefaultValue::Shape(dims) => shape_attr(cx, dims.as_deref()),
        DefaultValue::List(items) => {
            let kind = if let Kind::List(kind) = kind { *kind } else { kind };
            let items: Vec<AttrId> = items.iter().map(|item| declared_attr(cx, kind, item)).collect();
            cx.array_attr(&items)
        }
    }
}

/// A constant with numeric elements as a read-only tensor. It shares the bytes of a large constant whose
/// address has the alignment of the elements; else it is a copy.
pub fn dense_tensor(cx: &Context, attr: AttrId, allocator: &Arc<dyn Allocator>) -> Option<HostTensor> {
    let (dtype, shape, splat, data) = dense(cx, attr)?;
    if splat {
        let element = Buffer::copy_of(data, allocator).ok()?;
        return HostTensor::repeated(dtype, shape, element, allocator).ok();
    }
    let buffer = match data.buffer() {
        Some(shared) if shared.address().is_multiple_of(dtype.align()) => shared.clone(),
        _ => Buffer::copy_of(data, allocator).ok()?,
    };
    HostTensor::from_buffer(dtype, shape, buffer).ok()
}

/// The numbers of an i32 or i64 constant with at most `max` elements.
pub fn dense_ints(cx: &Context, attr: AttrId, max: usize) -> Option<Vec<i64>> {
    let (dtype, shape, splat, data) = dense(cx, attr)?;
    let n = shape.num_elements();
    if !matches!(dtype, DType::I32 | DType::I64) || n > max {
        return None;
    }
    let ints: Vec<i64> = read_ints(data, dtype.size()).collect();
    match (splat, &ints[..]) {
        (true, &[int]) => Some(vec![int; n]),
        _ => (ints.len() == n).then_some(ints),
    }
}

/// The value of a splat constant, as f64.
pub fn dense_splat(cx: &Context, attr: AttrId) -> Option<f64> {
    let AttrKind::Dense { ty, splat, data } = cx.attr(attr) else { return None };
    let dtype = type_of(cx, *ty)?.0.dtype()?;
    if !splat && data.len() != dtype.size() {
        return None;
    }
    befrost_tensor::tf::element_as_f64(dtype, data)
}

/// Element type, shape, splat flag and bytes of a constant with numeric elements.
fn dense(cx: &Context, attr: AttrId) -> Option<(DType, Shape, bool, &Blob)> {
    let AttrKind::Dense { ty, splat, data } = cx.attr(attr) else { return None };
    let (Some(dims), _) = cx.ty(*ty).shaped()? else { return None };
    let (Type::Dense(dtype), false) = type_of(cx, *ty)? else { return None };
    Some((dtype, Shape::from_i64(dims).ok()?, *splat, data))
}

/// Little-endian integers of 4 or 8 bytes.
fn read_ints(bytes: &[u8], size: usize) -> impl Iterator<Item = i64> {
    bytes.chunks_exact(size).map(|bytes| match *bytes {
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => bytes.try_into().map_or(0, i64::from_le_bytes),
    })
}

/// A tensor as a constant. A large one shares its bytes, which are immutable from then on.
pub fn tensor_attr(cx: &mut Context, x: &HostTensor) -> Option<AttrId> {
    let elem = element(cx, Type::Dense(x.dtype()), false);
    let dims: Vec<i64> = x.shape().dims().iter().map(|&dim| dim as i64).collect();
    let ty = tensor(cx, Some(&dims), elem);
    if let Some(element) = x.repeated_element().filter(|_| x.num_elements() > 1) {
        let data = Blob::from(&element.read_bytes().ok()?[..]);
        return Some(cx.attr_id(AttrKind::Dense { ty, splat: true, data }));
    }
    let bytes = x.buffer().ok()?.freeze().ok()?;
    let size = x.dtype().size();
    // Each element equals the next one.
    let splat = x.num_elements() > 1 && bytes[size..] == bytes[..bytes.len() - size];
    let data = if splat { Blob::from(&bytes[..size]) } else { Blob::from(bytes) };
    Some(cx.attr_id(AttrKind::Dense { ty, splat, data }))
}

/// A scalar constant; `None` if no number converts to the element type.
pub fn scalar_attr(cx: &mut Context, number: f64, dtype: DType) -> Option<AttrId> {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let wide = HostTensor::from_slice(Shape::scalar(), &[number], &plain).ok()?;
    tensor_attr(cx, &befrost_tensor::tf::cast(&wide, dtype, &plain).ok()?)
}

/// A constant of a static tensor type with elements of type `dtype` that are all one number.
pub fn splat_attr(cx: &mut Context, number: f64, dtype: DType, ty: TypeId) -> Option<AttrId> {
    let (Some(dims), _) = cx.ty(ty).shaped()? else { return None };
    let n = Shape::from_i64(dims).ok()?.num_elements();
    let scalar = scalar_attr(cx, number, dtype)?;
    let AttrKind::Dense { data, .. } = cx.attr(scalar).clone() else { return None };
    let data = if n == 0 { Blob::from(&[][..]) } else { data };
    Some(cx.attr_id(AttrKind::Dense { ty, splat: n > 1, data }))
}

/// A constant of i64, or of i32 for every other `dtype`; `None` if a number does not fit or there are not as
/// many as the shape has elements.
pub fn ints_attr(cx: &mut Context, numbers: &[i64], shape: &[i64], dtype: DType) -> Option<AttrId> {
    let shape = Shape::from_i64(shape).ok()?;
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let tensor = match dtype {
        DType::I64 => HostTensor::from_slice(shape, numbers, &plain),
        _ => {
            let narrow: Vec<i32> = numbers.iter().map(|&n| i32::try_from(n).ok()).collect::<Option<_>>()?;
            HostTensor::from_slice(shape, &narrow, &plain)
        }
    };
    tensor_attr(cx, &tensor.ok()?)
}

/// The attributes that an op has in the IR.
pub struct IrAttrs<'m> {
    cx: &'m Context,
    attrs: &'m [(StrId, AttrId)],
}

/// The attributes of an op, including those derived from types.
pub fn attrs_of<'m>(m: &'m Module, op: OpId, signature: &'m Signature) -> Derived<'m, IrAttrs<'m>> {
    let inputs = m.operands(op).take(n_data_operands(m, op)).map(|value| m.value_type(value));
    let outputs = m.results(op).take(n_data_results(m, op)).map(|value| m.value_type(value));
    derived_attrs(&m.cx, m.attrs(op), signature, inputs, outputs)
}

/// Attributes, with those that follow from the types of data operands and results.
pub fn derived_attrs<'m>(
    cx: &'m Context,
    attrs: &'m [(StrId, AttrId)],
    signature: &'m Signature,
    inputs: impl Iterator<Item = TypeId>,
    outputs: impl Iterator<Item = TypeId>,
) -> Derived<'m, IrAttrs<'m>> {
    let ty = |ty: TypeId| type_of(cx, ty).map(|(ty, _)| ty);
    Derived::new(signature, IrAttrs { cx, attrs }, inputs.map(ty).collect(), outputs.map(ty).collect())
}

impl IrAttrs<'_> {
    fn id(&self, name: &str) -> Option<AttrId> {
        let name = self.cx.find_str(name)?;
        self.attrs.iter().find(|(written, _)| *written == name).map(|&(_, attr)| attr)
    }

    fn attr(&self, name: &str) -> Option<&AttrKind> {
        Some(self.cx.attr(self.id(name)?))
    }

    fn list<T>(&self, name: &str, item: impl Fn(AttrId) -> Option<T>) -> Option<Vec<T>> {
        match self.attr(name)? {
            AttrKind::Array(items) => items.iter().map(|&attr| item(attr)).collect(),
            _ => None,
        }
    }

    fn float_of(&self, attr: &AttrKind) -> Option<f64> {
        match attr {
            AttrKind::Float { ty, bits } => match self.cx.ty(*ty) {
                TypeKind::Float(kind) if kind.bits() == 32 => Some(f64::from(f32::from_bits(*bits as u32))),
                TypeKind::Float(kind) if kind.bits() == 64 => Some(f64::from_bits(*bits)),
                _ => None,
            },
            AttrKind::Int { value, .. } => Some(*value as f64),
            _ => None,
        }
    }

    fn text(&self, text: StrId) -> &str {
        self.cx.str(text)
    }

    fn type_of(&self, attr: AttrId) -> Option<Type> {
        type_of(self.cx, self.cx.as_type(attr)?).map(|(ty, _)| ty)
    }
}

impl Attrs for IrAttrs<'_> {
    fn has(&self, name: &str) -> bool {
        self.attr(name).is_some()
    }

    fn int(&self, name: &str) -> Option<i64> {
        self.cx.as_int(self.id(name)?)
    }

    fn float(&self, name: &str) -> Option<f64> {
        self.float_of(self.attr(name)?)
    }

    fn bool(&self, name: &str) -> Option<bool> {
        match self.attr(name)? {
            AttrKind::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self.attr(name)? {
            AttrKind::Str { text, .. } => Some(Cow::Borrowed(self.text(*text).as_bytes())),
            AttrKind::Bytes { bytes, .. } => Some(Cow::Borrowed(bytes)),
            _ => None,
        }
    }

    fn ty(&self, name: &str) -> Option<Type> {
        self.type_of(self.id(name)?)
    }

    fn shape(&self, name: &str) -> Option<PartialShape> {
        match self.attr(name)? {
            AttrKind::Array(_) => PartialShape::from_i64(&self.ints(name)?).ok(),
            _ => shape_of_attr(self.cx, self.id(name)?),
        }
    }

    fn tensor(&self, name: &str) -> Option<HostTensor> {
        dense_tensor(self.cx, self.id(name)?, &Malloc::shared())
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        if let AttrKind::DenseArray { elem, data } = self.attr(name)? {
            let size = match self.cx.ty(*elem) {
                TypeKind::Integer { width: 64, .. } => 8,
                TypeKind::Integer { width: 32, .. } => 4,
                _ => return None,
            };
            return Some(read_ints(data, size).collect());
        }
        self.list(name, |attr| self.cx.as_int(attr))
    }

    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.list(name, |attr| self.float_of(self.cx.attr(attr)))
    }

    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        self.list(name, |attr| match self.cx.attr(attr) {
            AttrKind::Str { text, .. } => Some(self.text(*text).as_bytes().to_vec()),
            AttrKind::Bytes { bytes, .. } => Some(bytes.to_vec()),
            _ => None,
        })
    }

    fn types(&self, name: &str) -> Option<Vec<Type>> {
        self.list(name, |attr| self.type_of(attr))
    }

    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        self.list(name, |attr| shape_of_attr(self.cx, attr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_constants_are_shared_with_tensors() {
        let (mut cx, malloc) = (Module::new().cx, Malloc::shared());
        let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let made = HostTensor::from_slice(Shape::new(&[10, 100]).unwrap(), &numbers, &malloc).unwrap();
        let attr = tensor_attr(&mut cx, &made).unwrap();
        assert!(made.write::<f32>().is_err());
        let read = dense_tensor(&cx, attr, &malloc).unwrap();
        assert_eq!(read.buffer().unwrap().address(), made.buffer().unwrap().address());
        assert!(read.write::<f32>().is_err() && !read.is_unique());
        assert_eq!(tensor_attr(&mut cx, &read), Some(attr));
        drop(made);
        assert_eq!(*read.read::<f32>().unwrap(), numbers[..]);
    }

    #[test]
    fn misaligned_or_short_data_is_copied() {
        let (mut cx, malloc) = (Module::new().cx, Malloc::shared());
        let ty = |cx: &mut Context, n| {
            let elem = element(cx, Type::Dense(DType::I32), false);
            tensor(cx, Some(&[n]), elem)
        };
        let ints: Vec<i64> = (0..1000).collect();
        let bytes: Vec<u8> = ints.iter().flat_map(|&i| (i as i32).to_le_bytes()).collect();
        for gap in 0..4 {
            let file = Buffer::copy_of(&[&vec![0; gap][..], &bytes].concat(), &malloc).unwrap();
            let part = file.view(gap..gap + 4000).unwrap().freeze().unwrap();
            let kind = AttrKind::Dense { ty: ty(&mut cx, 1000), splat: false, data: Blob::from(part) };
            let attr = cx.attr_id(kind);
            let tensor = dense_tensor(&cx, attr, &malloc).unwrap();
            assert_eq!(tensor.buffer().unwrap().address() == file.address(), gap == 0);
            assert_eq!(tensor.read::<i32>().unwrap()[999], 999);
            assert_eq!(dense_ints(&cx, attr, 1000).as_ref(), Some(&ints));
            assert_eq!((dense_ints(&cx, attr, 999), dense_splat(&cx, attr)), (None, None));
        }
        let seven = Blob::from(&7i32.to_le_bytes()[..]);
        assert!(seven.buffer().is_none());
        let kind = AttrKind::Dense { ty: ty(&mut cx, 3), splat: true, data: seven };
        let attr = cx.attr_id(kind);
        assert_eq!(dense_ints(&cx, attr, 3), Some(vec![7; 3]));
        assert_eq!(dense_splat(&cx, attr), Some(7.0));
    }
}
