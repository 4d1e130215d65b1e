//! The tensor library's types as values of the host runtime.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use befrost_kernel_api::context::Resource;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Cursor, KernelFrame, Outcome, Param, Signature};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::collected;
use befrost_tensor::{CooTensor, Dims, HostTensor, Shape, StringTensor, TensorError, print};

/// A `!t.tensor`, or a `tensor<...>` of any element type and shape, in host memory.
#[derive(Clone, Debug)]
pub struct Tensor(pub HostTensor);

impl Deref for Tensor {
    type Target = HostTensor;
    fn deref(&self) -> &HostTensor {
        &self.0
    }
}

impl Object for Tensor {
    const TYPES: &'static [&'static str] = &["!t.tensor", "tensor", "!tfrt_tensor.tensor"];

    fn display(&self) -> String {
        print::tensor(&self.0).unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }

    fn copied(&self, to: &Arc<dyn Allocator>) -> Option<Result<(Value, usize), KernelError>> {
        let copied = copy_of(&self.0, to).map_err(refused);
        Some(copied.map(|(tensor, bytes)| (Value::object(Tensor(tensor)), bytes)))
    }
}

/// A tensor's copy in memory of `to`, and its bytes.
pub(crate) fn copy_of(
    tensor: &HostTensor,
    to: &Arc<dyn Allocator>,
) -> Result<(HostTensor, usize), TensorError> {
    // Two handles are never the only one.
    let mut copy = tensor.clone();
    copy.make_unique(to)?;
    let bytes = copy.shape().num_bytes(copy.dtype())?;
    Ok((copy, bytes))
}

/// A `!t.tensor` in coordinate format.
#[derive(Clone, Debug)]
pub struct Coo(pub CooTensor);

impl Object for Coo {
    const TYPES: &'static [&'static str] = Tensor::TYPES;

    fn display(&self) -> String {
        self.0.text().unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }
}

/// A `!t.tensor` of strings.
#[derive(Clone, Debug)]
pub struct Strings(pub StringTensor);

impl Object for Strings {
    const TYPES: &'static [&'static str] = Tensor::TYPES;

    fn display(&self) -> String {
        print::strings(&self.0).unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }
}

/// A `!t.tensor` of strings that is written once; before, its strings are empty.
#[derive(Debug)]
pub(crate) struct WriteOnceStrings {
    empty: StringTensor,
    written: OnceLock<StringTensor>,
}

impl WriteOnceStrings {
    pub(crate) fn new(empty: StringTensor) -> WriteOnceStrings {
        WriteOnceStrings { empty, written: OnceLock::new() }
    }

    pub(crate) fn strings(&self) -> &StringTensor {
        self.written.get().unwrap_or(&self.empty)
    }

    /// Writes strings, tiled along each axis to the size of the tensor.
    pub(crate) fn write(&self, x: &StringTensor, allocator: &Arc<dyn Allocator>) -> Result<(), KernelError> {
        let (from, to) = (x.shape().dims(), self.empty.shape().dims());
        let is_one = x.num_elements() == 1;
        let fits = |(&from, &to): (&usize, &usize)| from > 0 && to % from == 0;
        if !is_one && (from.len() != to.len() || !from.iter().zip(to).all(fits)) {
            let (from, to) = (x.shape(), self.empty.shape());
            return Err(KernelError::invalid(format!("strings of shape {from} do not fill shape {to}")));
        }
        let read = x.read().map_err(refused)?;
        let source = |position: usize| {
            let (mut rest, mut at, mut step) = (position, 0, 1);
            for (from, to) in from.iter().zip(to).rev() {
                at += rest % to % from * step;
                rest /= to;
                step *= from;
            }
            read.at(if is_one { 0 } else { at }).unwrap_or_default()
        };
        let strings = collected((0..self.empty.num_elements()).map(source)).map_err(refused)?;
        let strings = StringTensor::new(self.empty.shape().clone(), &strings, allocator).map_err(refused)?;
        let again = |_| KernelError::new(ErrorCode::FailedPrecondition, "the strings are written already");
        self.written.set(strings).map_err(again)
    }
}

impl Object for WriteOnceStrings {
    const TYPES: &'static [&'static str] = Tensor::TYPES;

    fn display(&self) -> String {
        print::strings(self.strings()).unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }
}

/// A `!t.tensor` whose elements are all equal.
#[derive(Clone, Debug)]
pub struct ScalarTensor {
    /// The shape.
    pub shape: Shape,
    /// A tensor of rank 0.
    pub value: HostTensor,
}

impl ScalarTensor {
    /// The same elements, each in its place.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn to_dense(&self, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        HostTensor::splat(self.value.dtype(), self.shape.clone(), &self.value.read_bytes()?, allocator)
    }

    fn text(&self) -> Result<String, TensorError> {
        let value = print::elements(&self.value)?;
        Ok(format!(
            "ScalarHostTensor dtype = {}, shape = {}, value = {value}",
            self.value.dtype(),
            self.shape
        ))
    }
}

impl Object for ScalarTensor {
    const TYPES: &'static [&'static str] = Tensor::TYPES;

    fn display(&self) -> String {
        self.text().unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }
}

/// A `!t.tensor` of any representation.
#[derive(Debug)]
pub enum AnyTensor<'f> {
    /// Elements in row-major order.
    Dense(&'f Tensor),
    /// Elements that are not zero, with their indices.
    Coo(&'f Coo),
    /// Strings.
    Strings(&'f StringTensor),
    /// Equal elements.
    Scalar(&'f ScalarTensor),
}

impl<'f> AnyTensor<'f> {
    /// The tensor in a value.
    pub fn of(value: &'f Value) -> Option<AnyTensor<'f>> {
        let tensor = value.downcast_ref().map(AnyTensor::Dense);
        let tensor = tensor.or_else(|| value.downcast_ref().map(AnyTensor::Coo));
        let strings = || value.downcast_ref().map(|Strings(strings)| strings);
        let strings = || strings().or_else(|| value.downcast_ref().map(WriteOnceStrings::strings));
        let tensor = tensor.or_else(|| strings().map(AnyTensor::Strings));
        tensor.or_else(|| value.downcast_ref().map(AnyTensor::Scalar))
    }

    /// The shape.
    pub fn shape(&self) -> &'f Shape {
        match self {
            AnyTensor::Dense(tensor) => tensor.0.shape(),
            AnyTensor::Coo(tensor) => tensor.0.shape(),
            AnyTensor::Strings(tensor) => tensor.shape(),
            AnyTensor::Scalar(tensor) => &tensor.shape,
        }
    }

    /// The text that TFRT prints.
    ///
    /// # Errors
    /// If the elements are being written.
    pub fn text(&self) -> Result<String, TensorError> {
        match self {
            AnyTensor::Dense(tensor) => print::tensor(tensor),
            AnyTensor::Coo(tensor) => tensor.0.text(),
            AnyTensor::Strings(tensor) => print::strings(tensor),
            AnyTensor::Scalar(tensor) => tensor.text(),
        }
    }
}

impl Param for AnyTensor<'_> {
    type Item<'f> = AnyTensor<'f>;
    fn declare(signature: &mut Signature) {
        signature.operands.push(Tensor::TYPES);
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<AnyTensor<'f>, Outcome> {
        let value = cursor.next_operand(frame).ok_or(Outcome::Operand)?;
        AnyTensor::of(value).ok_or(Outcome::Operand)
    }
}

/// A `!ts.shape`: dimensions, which may be larger than any tensor.
#[derive(Clone, Debug)]
pub struct ShapeValue(pub Dims);

impl ShapeValue {
    /// The shape of a tensor.
    ///
    /// # Errors
    /// If no tensor can have it.
    pub fn of_tensor(&self) -> Result<Shape, KernelError> {
        self.0.shape().map_err(refused)
    }
}

impl Object for ShapeValue {
    const TYPES: &'static [&'static str] = &["!ts.shape"];

    fn display(&self) -> String {
        format!("shape = {}", self.0)
    }
}

/// A `!ts.partial_shape`: dimensions, some unknown, or an unknown rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartialShape(pub(crate) Option<Vec<Option<usize>>>);

impl Object for PartialShape {
    const TYPES: &'static [&'static str] = &["!ts.partial_shape"];

    fn display(&self) -> String {
        format!("shape = {self}")
    }
}

impl fmt::Display for PartialShape {
    /// Prints as TFRT: unknown dimensions are -1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("Unknown rank") };
        let dims: Vec<String> =
            dims.iter().map(|dim| dim.map_or("-1".into(), |dim| dim.to_string())).collect();
        write!(f, "[{}]", dims.join(", "))
    }
}

/// A `!tfrt.string`: arbitrary bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub Arc<[u8]>);

impl Text {
    /// The bytes as UTF-8; invalid sequences become replacement characters.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().into())
    }
}

impl Resource for Text {
    const TYPE: &'static str = "string";
}

impl Object for Text {
    const TYPES: &'static [&'static str] = &["!tfrt.string"];

    fn display(&self) -> String {
        self.text().into_owned()
    }
}

/// A `complex<f64>`: real part, imaginary part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex128(pub [f64; 2]);

impl Object for Complex128 {
    const TYPES: &'static [&'static str] = &["complex<f64>"];

    fn display(&self) -> String {
        let [re, im] = self.0.map(Value::F64);
        format!("({re},{im})")
    }
}

/// A `!tfrt.device`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name, such as `CPU:0`.
    pub name: String,
}

impl Object for Device {
    const TYPES: &'static [&'static str] = &["!tfrt.device"];

    fn display(&self) -> String {
        self.name.clone()
    }
}

/// A `!tfrt.tensor_type`: the name of a representation of tensors, such as `DenseHost`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType(pub String);

impl Object for TensorType {
    const TYPES: &'static [&'static str] = &["!tfrt.tensor_type"];

    fn display(&self) -> String {
        self.0.clone()
    }
}

/// The kernel error for an error of the tensor library.
pub fn refused(error: TensorError) -> KernelError {
    let code = match error {
        TensorError::Alloc(_) => ErrorCode::ResourceExhausted,
        TensorError::Borrow(_) => ErrorCode::FailedPrecondition,
        _ => ErrorCode::InvalidArgument,
    };
    KernelError::new(code, error.to_string())
}
