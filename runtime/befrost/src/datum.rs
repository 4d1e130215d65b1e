//! Arguments and results of functions.

use std::convert::identity;
use std::fmt;

use befrost_kernel_api::{Error, ErrorCode, Value};
use befrost_kernels::{Strings, Tensor, Text, opaque_type};
use befrost_tensor::print::numpy;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{HostTensor, I1, Shape, StringTensor};
use bytemuck::TransparentWrapper;

/// An argument or a result: a scalar, a tensor, or an error. A list of them is a list of the host runtime's
/// values.
#[derive(Clone, Debug, TransparentWrapper)]
#[repr(transparent)]
pub struct Datum(Value);

impl Datum {
    /// The host runtime's value, by value.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// [`Datum::tensor`], by value: the only handle if this was the only reference.
    ///
    /// # Errors
    /// As [`Datum::tensor`].
    pub fn into_tensor(self) -> Result<HostTensor, Error> {
        match self.0.into_object::<Tensor>() {
            Ok(Tensor(tensor)) => Ok(tensor),
            Err(value) => Datum(value).tensor().cloned(),
        }
    }

    /// The tensor of strings.
    ///
    /// # Errors
    /// The error that it is, or a type error if it is no tensor of strings.
    pub fn strings(&self) -> Result<&StringTensor, Error> {
        let value = self.ok()?;
        value.downcast_ref::<Strings>().map(|strings| &strings.0).ok_or_else(|| {
            let message = format!("expected a tensor of strings, got a value of type {}", value.type_name());
            Error::new(ErrorCode::InvalidArgument, message, Vec::new())
        })
    }

    /// The element type and the shape of a tensor. Of one without elements, a variable's handle or a list,
    /// the shape is that of a scalar.
    ///
    /// # Errors
    /// The error that it is, or a type error if it is no tensor.
    pub fn tensor_type(&self) -> Result<(Type, Shape), Error> {
        let value = self.ok()?;
        if let Some(Tensor(tensor)) = value.downcast_ref::<Tensor>() {
            return Ok((Type::Dense(tensor.dtype()), tensor.shape().clone()));
        }
        if let Some(Strings(strings)) = value.downcast_ref::<Strings>() {
            return Ok((Type::String, strings.shape().clone()));
        }
        match opaque_type(value) {
            Some(ty) => Ok((ty, Shape::scalar())),
            None => self.tensor().map(|tensor| (Type::Dense(tensor.dtype()), tensor.shape().clone())),
        }
    }

    /// True for a chain: an operation without outputs that was fetched.
    pub fn is_chain(&self) -> bool {
        matches!(self.0, Value::Chain)
    }

    /// The host runtime's value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The error, if it is one.
    pub fn error(&self) -> Option<&Error> {
        self.0.error()
    }

    /// The value, unless it is an error.
    ///
    /// # Errors
    /// The error that it is.
    pub fn ok(&self) -> Result<&Value, Error> {
        Datum::of(&self.0)
    }

    /// [`Datum::ok`] of the host runtime's value.
    pub(crate) fn of(value: &Value) -> Result<&Value, Error> {
        match value.final_value() {
            Some(Value::Error(error)) => Err(error.clone()),
            Some(Value::Dead) => {
                Err(Error::new(ErrorCode::Unavailable, "control flow did not come this way", Vec::new()))
            }
            Some(value) => Ok(value),
            None => Err(Error::new(ErrorCode::Unavailable, "the value is not there yet", Vec::new())),
        }
    }

    /// The tensor.
    ///
    /// # Errors
    /// The error that it is, or a type error if it is no tensor.
    pub fn tensor(&self) -> Result<&HostTensor, Error> {
        let value = self.ok()?;
        value.downcast_ref::<Tensor>().map(|tensor| &tensor.0).ok_or_else(|| {
            let message = format!("expected a tensor, got a value of type {}", value.type_name());
            Error::new(ErrorCode::InvalidArgument, message, Vec::new())
        })
    }
}

impl Datum {
    /// The number or the text, if the value is a scalar or a tensor of one element.
    ///
    /// ```
    /// use befrost::{Datum, HostTensor};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let loss = Datum::from(HostTensor::from_vec([1], vec![0.5f32])?);
    /// assert_eq!(loss.item::<f32>()?, 0.5);
    /// assert!(loss.item::<i32>().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error that it is, or a type error if it is no single element of this type.
    pub fn item<'d, T: TryFrom<&'d Datum, Error = Error>>(&'d self) -> Result<T, Error> {
        T::try_from(self)
    }

    /// Writes the value. A tensor is written as NumPy prints arrays; of one with more than `limit` elements
    /// only the edges.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn fmt::Write, limit: usize) -> fmt::Result {
        let unreadable = |error| Err(format!("<<unreadable: {error}>>"));
        let written = match self.0.final_value() {
            Some(value) => match (value.downcast_ref::<Tensor>(), value.downcast_ref::<Strings>()) {
                (Some(Tensor(tensor)), _) => numpy::write_array(out, tensor, limit).or_else(unreadable),
                (_, Some(Strings(strings))) => numpy::write_strings(out, strings, limit).or_else(unreadable),
                _ => Err(self.0.to_string()),
            },
            None => Err(self.0.to_string()),
        };
        written.unwrap_or_else(|text| out.write_str(&text))
    }
}

impl fmt::Display for Datum {
    /// Prints as `bef-exec` prints results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, numpy::ALL_UP_TO)
    }
}

impl From<HostTensor> for Datum {
    fn from(tensor: HostTensor) -> Datum {
        Datum(Value::object(Tensor(tensor)))
    }
}

impl From<StringTensor> for Datum {
    fn from(strings: StringTensor) -> Datum {
        Datum(Value::object(Strings(strings)))
    }
}

impl From<Value> for Datum {
    fn from(value: Value) -> Datum {
        Datum(value)
    }
}

macro_rules! from_scalar {
    ($($ty:ty)*) => {$(
        impl From<$ty> for Datum {
            fn from(scalar: $ty) -> Datum {
                Datum(scalar.into())
            }
        }
    )*};
}

from_scalar!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl From<&str> for Datum {
    /// A `!tfrt.string`.
    fn from(text: &str) -> Datum {
        Datum(Value::object(Text::from(text)))
    }
}

impl From<String> for Datum {
    /// A `!tfrt.string`.
    fn from(text: String) -> Datum {
        text.as_str().into()
    }
}

/// The error for a datum that is not a `want`.
fn other(datum: &Datum, want: &str) -> Error {
    let message = match datum.ok() {
        Ok(value) => format!("expected {want}, got a value of type {}", value.type_name()),
        Err(error) => return error,
    };
    Error::new(ErrorCode::InvalidArgument, message, Vec::new())
}

macro_rules! to_scalar {
    ($($ty:ident $variant:ident $element:ty, $read:expr;)*) => {$(
        impl TryFrom<&Datum> for $ty {
            type Error = Error;

            /// The number, or the only element of a tensor of this type.
            fn try_from(datum: &Datum) -> Result<$ty, Error> {
                match datum.ok()? {
                    Value::$variant(scalar) => return Ok(*scalar),
                    value => {
                        if let Some(Tensor(tensor)) = value.downcast_ref::<Tensor>()
                            && let Ok(elements) = tensor.read::<$element>()
                            && let [only] = *elements
                        {
                            return Ok($read(only));
                        }
                    }
                }
                Err(other(datum, concat!("a number of type ", stringify!($ty))))
            }
        }
    )*};
}

to_scalar! {
    bool I1 I1, I1::is_true;
    i8 I8 i8, identity;
    i16 I16 i16, identity;
    i32 I32 i32, identity;
    i64 I64 i64, identity;
    u8 U8 u8, identity;
    u16 U16 u16, identity;
    u32 U32 u32, identity;
    u64 U64 u64, identity;
    f32 F32 f32, identity;
    f64 F64 f64, identity;
}

impl TryFrom<&Datum> for String {
    type Error = Error;

    /// A `!tfrt.string`, or the only element of a tensor of strings, if it is UTF-8.
    fn try_from(datum: &Datum) -> Result<String, Error> {
        let value = datum.ok()?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        if let Some(Text(bytes)) = value.downcast_ref::<Text>()
            && let Some(text) = text(bytes)
        {
            return Ok(text);
        }
        if let Some(Strings(strings)) = value.downcast_ref::<Strings>()
            && strings.num_elements() == 1
            && let Some(text) = strings.read().ok().and_then(|read| text(read.at(0)?))
        {
            return Ok(text);
        }
        Err(other(datum, "a string of UTF-8"))
    }
}

impl TryFrom<&Datum> for HostTensor {
    type Error = Error;

    fn try_from(datum: &Datum) -> Result<HostTensor, Error> {
        datum.tensor().cloned()
    }
}
