//! The tensor library's types as values of the host runtime.

use std::ops::Deref;

use befrost_host::error::ErrorCode;
use befrost_host::object::Object;
use befrost_host::{KernelError, Value};
use befrost_tensor::{HostTensor, Shape, TensorError, print};

/// A `!t.tensor` in host memory.
#[derive(Clone, Debug)]
pub struct Tensor(pub HostTensor);

impl Deref for Tensor {
    type Target = HostTensor;
    fn deref(&self) -> &HostTensor {
        &self.0
    }
}

impl Object for Tensor {
    const TYPES: &'static [&'static str] = &["!t.tensor"];

    fn display(&self) -> String {
        print::tensor(&self.0).unwrap_or_else(|error| format!("<<unreadable: {error}>>"))
    }
}

/// A `!ts.shape`.
#[derive(Clone, Debug)]
pub struct ShapeValue(pub Shape);

impl Object for ShapeValue {
    const TYPES: &'static [&'static str] = &["!ts.shape"];

    fn display(&self) -> String {
        format!("shape = {}", self.0)
    }
}

/// A `!tfrt.string`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl Object for Text {
    const TYPES: &'static [&'static str] = &["!tfrt.string"];

    fn display(&self) -> String {
        self.0.clone()
    }
}

/// A `complex<f64>`: real, imaginary.
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
    /// Such as `CPU:0`.
    pub name: String,
}

impl Object for Device {
    const TYPES: &'static [&'static str] = &["!tfrt.device"];

    fn display(&self) -> String {
        self.name.clone()
    }
}

/// What a kernel fails with when the tensor library refuses something.
pub(crate) fn refused(error: TensorError) -> KernelError {
    let code = match error {
        TensorError::Alloc(_) => ErrorCode::ResourceExhausted,
        TensorError::Borrow(_) => ErrorCode::FailedPrecondition,
        _ => ErrorCode::InvalidArgument,
    };
    KernelError::new(code, error.to_string())
}
