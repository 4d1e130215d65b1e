//! Attributes as kernels read them: scalars and views of the file.

use bef_format::layout::DictEntry;
use bef_format::{AttrId, AttrView, DType, Image};

use crate::value::{Scalar, Value};

/// A number that an attribute can hold.
pub trait FromAttr: Scalar {
    /// Description in messages.
    const KIND: &'static str;
}

macro_rules! from_attr {
    ($($ty:ty => $kind:literal;)*) => {$(
        impl FromAttr for $ty {
            const KIND: &'static str = $kind;
        }
    )*};
}

from_attr! {
    bool => "an i1 attribute";
    i8 => "an i8 attribute";
    i16 => "an i16 attribute";
    i32 => "an i32 attribute";
    i64 => "an i64 attribute";
    u8 => "a ui8 attribute";
    u16 => "a ui16 attribute";
    u32 => "a ui32 attribute";
    u64 => "a ui64 attribute";
    half::f16 => "an f16 attribute";
    half::bf16 => "a bf16 attribute";
    f32 => "an f32 attribute";
    f64 => "an f64 attribute";
}

/// The value of a scalar attribute. Other attributes give [`Value::Empty`].
pub fn immediate(attr: &AttrView<'_>) -> Value {
    match *attr {
        AttrView::Bool(value) => Value::I1(value),
        AttrView::Int { dtype: Some(dtype), value, .. } => match dtype {
            DType::I1 => Value::I1(value != 0),
            DType::I8 => i8::try_from(value).map_or(Value::Empty, Value::I8),
            DType::I16 => i16::try_from(value).map_or(Value::Empty, Value::I16),
            DType::I32 => i32::try_from(value).map_or(Value::Empty, Value::I32),
            DType::I64 => Value::I64(value),
            DType::UI8 => u8::try_from(value).map_or(Value::Empty, Value::U8),
            DType::UI16 => u16::try_from(value).map_or(Value::Empty, Value::U16),
            DType::UI32 => u32::try_from(value).map_or(Value::Empty, Value::U32),
            // Stored as the bits.
            DType::UI64 => Value::U64(value as u64),
            _ => Value::Empty,
        },
        AttrView::Float { dtype, bits } => match dtype {
            DType::F16 => Value::F16(half::f16::from_bits(bits as u16)),
            DType::BF16 => Value::BF16(half::bf16::from_bits(bits as u16)),
            DType::F32 => Value::F32(f32::from_bits(bits as u32)),
            DType::F64 => Value::F64(f64::from_bits(bits)),
            _ => Value::Empty,
        },
        _ => Value::Empty,
    }
}

/// An attribute as stored in the file, for kernels that accept several kinds.
#[derive(Clone, Copy)]
pub struct RawAttr<'f> {
    /// The decoded attribute.
    pub view: AttrView<'f>,
    image: &'f Image<'f>,
}

impl<'f> RawAttr<'f> {
    pub(super) fn new(view: AttrView<'f>, image: &'f Image<'f>) -> RawAttr<'f> {
        RawAttr { view, image }
    }

    /// The elements of a list or a dictionary.
    pub fn elements(&self) -> impl Iterator<Item = RawAttr<'f>> + use<'f> {
        let (list, entries): (&[AttrId], &[DictEntry]) = match self.view {
            AttrView::Array(list) => (list, &[]),
            AttrView::Dict(entries) => (&[], entries),
            _ => (&[], &[]),
        };
        let image = self.image;
        let ids = list.iter().copied().chain(entries.iter().map(|entry| entry.value));
        ids.map(move |id| RawAttr { view: image.attr(id), image })
    }
}
