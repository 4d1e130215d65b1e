//! Attributes of operators.
//!
//! ```text
//! op_attrs of a kernel ──AttrValue::decode──▶ OpAttrs ──freeze──▶ OpAttrsRef ──Attrs──▶ the tensor library
//! ```
//!
//! [`OpAttrs`] are set by name; the first value of a name stays. [`OpAttrsRef`] is an immutable copy.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::kernel::{KernelUse, RawAttr};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Attrs, Type};
use befrost_tensor::{DType, HostTensor, Shape};

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum AttrValue {
    /// A truth value.
    Bool(bool),
    /// An integer; of `ui64`, its bits.
    Int(DType, i64),
    /// A float.
    Float(DType, f64),
    /// Text.
    Str(Arc<str>),
    /// An element type.
    Type(Type),
    /// Integers.
    Ints(DType, Arc<[i64]>),
    /// Floats.
    Floats(DType, Arc<[f64]>),
    /// Values of any kinds.
    List(Arc<[AttrValue]>),
    /// A shape.
    Shape(PartialShape),
    /// A tensor.
    Dense(HostTensor),
    /// A function, by its name.
    Func(Arc<str>),
    /// An attribute that no operator takes, as text.
    Other(Arc<str>),
}

impl From<bool> for AttrValue {
    fn from(value: bool) -> AttrValue {
        AttrValue::Bool(value)
    }
}

impl From<i32> for AttrValue {
    fn from(value: i32) -> AttrValue {
        AttrValue::Int(DType::I32, i64::from(value))
    }
}

impl From<i64> for AttrValue {
    fn from(value: i64) -> AttrValue {
        AttrValue::Int(DType::I64, value)
    }
}

impl From<f32> for AttrValue {
    fn from(value: f32) -> AttrValue {
        AttrValue::Float(DType::F32, f64::from(value))
    }
}

impl From<&str> for AttrValue {
    fn from(value: &str) -> AttrValue {
        AttrValue::Str(value.into())
    }
}

impl From<Type> for AttrValue {
    fn from(value: Type) -> AttrValue {
        AttrValue::Type(value)
    }
}

impl From<&[i64]> for AttrValue {
    fn from(value: &[i64]) -> AttrValue {
        AttrValue::Ints(DType::I64, value.into())
    }
}

impl From<HostTensor> for AttrValue {
    fn from(value: HostTensor) -> AttrValue {
        AttrValue::Dense(value)
    }
}

/// Limit of the depth of lists in an attribute. A small file may share lists, so that all of them together
/// are large.
const MAX_DEPTH: u32 = 8;
/// Limit of the elements of all lists in an attribute.
const MAX_LISTED: u32 = 1 << 16;

/// The element type of the tensor library.
fn dtype(dtype: bef_format::DType) -> Option<DType> {
    DType::from_code(dtype as u8)
}

impl AttrValue {
    /// The value in a file.
    pub(crate) fn decode(attr: &RawAttr<'_>, site: &KernelUse<'_>) -> AttrValue {
        AttrValue::decode_within(attr, site, MAX_DEPTH, &mut { MAX_LISTED })
    }

    /// The value in a file, of at most this depth and `left` elements in its lists.
    fn decode_within(attr: &RawAttr<'_>, site: &KernelUse<'_>, depth: u32, left: &mut u32) -> AttrValue {
        AttrValue::known(attr, site, depth, left)
            .unwrap_or_else(|| AttrValue::Other(format!("{:?}", attr.view).into()))
    }

    fn known(attr: &RawAttr<'_>, site: &KernelUse<'_>, depth: u32, left: &mut u32) -> Option<AttrValue> {
        Some(match attr.view {
            AttrView::Bool(value) => AttrValue::Bool(value),
            AttrView::Int { dtype: Some(of), value, ty: _ } => AttrValue::Int(dtype(of)?, value),
            AttrView::Float { dtype: of, bits: _ } => AttrValue::Float(dtype(of)?, attr.view.as_f64()?),
            AttrView::Str(text) => AttrValue::Str(text.into()),
            AttrView::Type(text) => AttrValue::Type(element_type(text)?),
            AttrView::Symbol(name) => AttrValue::Func(name.into()),
            AttrView::Shape(dims) => AttrValue::Shape(PartialShape::from_i64(dims).ok()?),
            AttrView::UnrankedShape => AttrValue::Shape(PartialShape::unknown()),
            AttrView::Scalars { dtype: of, bytes, n, .. } => numbers(dtype(of)?, bytes, n)?,
            AttrView::Array(elements) => {
                let depth = depth.checked_sub(1)?;
                *left = left.checked_sub(u32::try_from(elements.len()).ok()?)?;
                let one = |element: RawAttr<'_>| AttrValue::decode_within(&element, site, depth, left);
                AttrValue::List(attr.elements().map(one).collect())
            }
            AttrView::Dense { dtype: of, shape, data, splat, ty: _ } => {
                let (shape, data) = (Shape::from_i64(shape).ok()?, site.mapped(data).ok()?);
                let made = match splat {
                    true => {
                        let malloc: Arc<dyn Allocator> = Malloc::shared();
                        HostTensor::repeated(dtype(of)?, shape, data, &malloc)
                    }
                    false => HostTensor::from_buffer(dtype(of)?, shape, data),
                };
                AttrValue::Dense(made.ok()?)
            }
            _ => return None,
        })
    }

    /// A shape: sizes, -1 for unknown ones; `None` for an unknown rank. `None` if a size is none.
    pub fn of_shape(dims: Option<&[i64]>) -> Option<AttrValue> {
        let shape = dims.map_or(Ok(PartialShape::unknown()), PartialShape::from_i64);
        shape.ok().map(AttrValue::Shape)
    }

    /// True if it holds a tensor.
    fn has_tensor(&self) -> bool {
        match self {
            AttrValue::Dense(_) => true,
            AttrValue::List(elements) => elements.iter().any(AttrValue::has_tensor),
            _ => false,
        }
    }
}

/// The element type with this name in the IR.
fn element_type(text: &str) -> Option<Type> {
    match text {
        "!corert.string" | "!tf_type.string" | "!tfrt.string" => Some(Type::String),
        "!corert.resource" | "!tf_type.resource" => Some(Type::Resource),
        "!corert.variant" | "!tf_type.variant" => Some(Type::Variant),
        "complex<f32>" => Some(Type::Dense(DType::Complex64)),
        "complex<f64>" => Some(Type::Dense(DType::Complex128)),
        _ => text.parse().ok().map(Type::Dense),
    }
}

/// The numbers in the bytes of an array.
fn numbers(dtype: DType, bytes: &[u8], n: usize) -> Option<AttrValue> {
    let all = || bytes.chunks_exact(dtype.size()).take(n);
    macro_rules! ints {
        ($($ty:ty),*) => {
            AttrValue::Ints(dtype, match dtype.size() {
                $(n if n == size_of::<$ty>() => {
                    all().filter_map(|word| Some(<$ty>::from_le_bytes(word.try_into().ok()?) as i64)).collect()
                })*
                _ => return None,
            })
        };
    }
    macro_rules! floats {
        ($ty:ty) => {
            AttrValue::Floats(
                dtype,
                all()
                    .filter_map(|word| Some(f64::from(<$ty>::from_le_bytes(word.try_into().ok()?))))
                    .collect(),
            )
        };
    }
    Some(match dtype {
        DType::F32 => floats!(f32),
        DType::F64 => floats!(f64),
        DType::F16 => floats!(befrost_tensor::f16),
        DType::BF16 => floats!(befrost_tensor::bf16),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => ints!(i8, i16, i32, i64),
        DType::I1 | DType::UI8 | DType::UI16 | DType::UI32 | DType::UI64 => ints!(u8, u16, u32, u64),
        DType::Complex64 | DType::Complex128 => return None,
    })
}

/// An attribute with its name.
type Named = (Arc<str>, AttrValue);

/// Attributes by name, to which more can be added.
#[derive(Clone, Debug, Default)]
pub struct OpAttrs(Vec<Named>);

impl OpAttrs {
    /// No attributes.
    pub fn new() -> OpAttrs {
        OpAttrs::default()
    }

    /// These attributes and one more, unless there is one of its name.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<AttrValue>) -> OpAttrs {
        self.insert(name, value.into());
        self
    }

    /// Adds an attribute. False if there is one of this name, which stays.
    pub fn insert(&mut self, name: &str, value: AttrValue) -> bool {
        match self.0.binary_search_by(|(known, _)| (**known).cmp(name)) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, (name.into(), value));
                true
            }
        }
    }

    /// An immutable copy.
    pub fn freeze(&self) -> OpAttrsRef {
        OpAttrsRef((!self.0.is_empty()).then(|| self.0.as_slice().into()))
    }
}

impl From<OpAttrs> for OpAttrsRef {
    fn from(attrs: OpAttrs) -> OpAttrsRef {
        OpAttrsRef((!attrs.0.is_empty()).then(|| attrs.0.into()))
    }
}

impl From<&OpAttrs> for OpAttrsRef {
    fn from(attrs: &OpAttrs) -> OpAttrsRef {
        attrs.freeze()
    }
}

impl From<&OpAttrsRef> for OpAttrsRef {
    fn from(attrs: &OpAttrsRef) -> OpAttrsRef {
        attrs.clone()
    }
}

/// Immutable attributes, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct OpAttrsRef(Option<Arc<[Named]>>);

impl OpAttrsRef {
    /// The attribute of this name.
    pub fn get(&self, name: &str) -> Option<&AttrValue> {
        let all = self.0.as_deref()?;
        let at = all.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        all.get(at).map(|(_, value)| value)
    }

    /// All attributes, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AttrValue)> {
        self.0.as_deref().unwrap_or_default().iter().map(|(name, value)| (&**name, value))
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        self.0.as_deref().map_or(0, <[_]>::len)
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// True if one holds a tensor, whose elements the text of the attributes does not have.
    pub(crate) fn has_tensors(&self) -> bool {
        self.iter().any(|(_, value)| value.has_tensor())
    }
}

/// Limit of the printed elements of an array.
const MAX_PRINTED: usize = 5;

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    values: &[T],
    mut one: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("[")?;
    for (i, value) in values.iter().take(MAX_PRINTED).enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        one(f, value)?;
    }
    f.write_str(if values.len() > MAX_PRINTED { "...]" } else { "]" })
}

fn int(f: &mut fmt::Formatter<'_>, dtype: DType, value: i64) -> fmt::Result {
    match dtype {
        // Stored as the bits.
        DType::UI64 => write!(f, "{}", value as u64),
        _ => write!(f, "{value}"),
    }
}

/// The name of an element type in capitals.
fn capital(dtype: DType) -> String {
    dtype.to_string().to_uppercase()
}

/// A float as LLVM prints it: `1.000000e+00`.
fn float(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if !value.is_finite() {
        return f.write_str(&value.to_string().to_uppercase());
    }
    let text = format!("{value:.6e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    write!(f, "{digits}e{sign}{exponent:0>2}")
}

impl AttrValue {
    /// The name of the kind.
    fn kind(&self) -> String {
        match self {
            AttrValue::Bool(_) => "BOOL".to_owned(),
            AttrValue::Int(dtype, _) | AttrValue::Ints(dtype, _) => capital(*dtype),
            AttrValue::Float(dtype, _) | AttrValue::Floats(dtype, _) => capital(*dtype),
            // The elements of an array.
            AttrValue::Str(_) => "CHAR".to_owned(),
            AttrValue::Type(_) => "DTYPE".to_owned(),
            AttrValue::List(_) => "AGGREGATE".to_owned(),
            AttrValue::Shape(_) => "SHAPE".to_owned(),
            AttrValue::Dense(_) => "DENSE".to_owned(),
            AttrValue::Func(_) => "FUNC".to_owned(),
            AttrValue::Other(_) => "UNSUPPORTED".to_owned(),
        }
    }

    fn value(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrValue::Bool(value) => write!(f, "{}", u8::from(*value)),
            AttrValue::Int(dtype, value) => int(f, *dtype, *value),
            AttrValue::Float(_, value) => float(f, *value),
            AttrValue::Str(text) => {
                let chars: Vec<char> = text.chars().take(MAX_PRINTED + 1).collect();
                list(f, &chars, |f, char| write!(f, "{char}"))
            }
            AttrValue::Type(Type::Dense(dtype)) => f.write_str(&capital(*dtype)),
            AttrValue::Type(ty) => f.write_str(&ty.name().to_uppercase()),
            AttrValue::Ints(dtype, values) => list(f, values, |f, value| int(f, *dtype, *value)),
            AttrValue::Floats(_, values) => list(f, values, |f, value| float(f, *value)),
            AttrValue::List(values) => {
                write!(f, "elt_count={} [", values.len())?;
                for (i, value) in values.iter().enumerate() {
                    f.write_str(if i > 0 { ", {" } else { "{" })?;
                    value.value(f)?;
                    f.write_str("}")?;
                }
                f.write_str("]")
            }
            AttrValue::Shape(shape) => match shape.dims() {
                None => f.write_str("<*>"),
                Some(dims) => {
                    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
                    write!(f, "<{}>", dims.join("x"))
                }
            },
            AttrValue::Dense(tensor) => write!(
                f,
                "dtype={}, rank={}, elt_count={}",
                capital(tensor.dtype()),
                tensor.shape().rank(),
                tensor.num_elements()
            ),
            AttrValue::Func(name) => write!(f, "FUNC function_name: {name}"),
            AttrValue::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for AttrValue {
    /// `type=I32 value=1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type={} value=", self.kind())?;
        self.value(f)
    }
}

impl fmt::Display for OpAttrsRef {
    /// `OpAttrs is empty`, or a list of lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("OpAttrs is empty\n");
        }
        writeln!(f, "OpAttrs contains {} entries:", self.len())?;
        for (name, value) in self.iter() {
            writeln!(f, "  '{name}' {value}")?;
        }
        f.write_str("\n")
    }
}

impl Attrs for &OpAttrsRef {
    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            AttrValue::Int(_, value) => Some(*value),
            _ => None,
        }
    }

    fn float(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            AttrValue::Float(_, value) => Some(*value),
            AttrValue::Int(_, value) => Some(*value as f64),
            _ => None,
        }
    }

    fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            AttrValue::Bool(value) => Some(*value),
            AttrValue::Int(DType::I1 | DType::I8, value) => Some(*value != 0),
            _ => None,
        }
    }

    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self.get(name)? {
            AttrValue::Str(text) => Some(Cow::Borrowed(text.as_bytes())),
            _ => None,
        }
    }

    fn ty(&self, name: &str) -> Option<Type> {
        match self.get(name)? {
            AttrValue::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    fn shape(&self, name: &str) -> Option<PartialShape> {
        match self.get(name)? {
            AttrValue::Shape(shape) => Some(shape.clone()),
            _ => PartialShape::from_i64(&self.ints(name)?).ok(),
        }
    }

    fn tensor(&self, name: &str) -> Option<HostTensor> {
        match self.get(name)? {
            AttrValue::Dense(tensor) => Some(tensor.clone()),
            _ => None,
        }
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.get(name)? {
            AttrValue::Ints(_, values) => Some(values.to_vec()),
            AttrValue::List(values) if values.is_empty() => Some(Vec::new()),
            _ => None,
        }
    }

    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.get(name)? {
            AttrValue::Floats(_, values) => Some(values.to_vec()),
            AttrValue::List(values) if values.is_empty() => Some(Vec::new()),
            _ => None,
        }
    }

    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        match self.get(name)? {
            AttrValue::List(values) => values
                .iter()
                .map(|value| match value {
                    AttrValue::Str(text) => Some(text.as_bytes().to_vec()),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    fn types(&self, name: &str) -> Option<Vec<Type>> {
        match self.get(name)? {
            AttrValue::List(values) => values
                .iter()
                .map(|value| match value {
                    AttrValue::Type(ty) => Some(*ty),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }

    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        match self.get(name)? {
            AttrValue::List(values) => values
                .iter()
                .map(|value| match value {
                    AttrValue::Shape(shape) => Some(shape.clone()),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }
}
