//! What goes into a function and comes out of it.

use std::fmt;

use befrost_kernel_api::{Error, ErrorCode, Value};
use befrost_kernels::Tensor;
use befrost_tensor::HostTensor;

/// An argument or a result: a scalar, a tensor, or an error.
#[derive(Clone, Debug)]
pub struct Datum(Value);

impl Datum {
    /// The runtime's value.
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
        match self.0.final_value() {
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
    /// The error that it is, or that it is something else than a tensor.
    pub fn tensor(&self) -> Result<&HostTensor, Error> {
        let value = self.ok()?;
        value.downcast_ref::<Tensor>().map(|tensor| &tensor.0).ok_or_else(|| {
            let message = format!("expected a tensor, got a value of type {}", value.type_name());
            Error::new(ErrorCode::InvalidArgument, message, Vec::new())
        })
    }
}

impl fmt::Display for Datum {
    /// As `bef-exec` prints results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<HostTensor> for Datum {
    fn from(tensor: HostTensor) -> Datum {
        Datum(Value::object(Tensor(tensor)))
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

from_scalar!(bool i32 i64 f32 f64);
