//! Arguments and results of functions: names, types, and the check of a value against a type.

use std::mem::{Discriminant, discriminant};

use befrost_kernel_api::value::scalar_tag;
use befrost_kernel_api::{Error, ErrorCode, Value};
use befrost_kernels::{Strings, Tensor};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, HostTensor};

/// The type of chains.
const CHAIN: &str = "!tfrt.chain";
/// The types of host tensors of any dtype and shape, as the two states of TFRT spell them.
const HOST_TENSORS: [&str; 2] = ["!t.tensor", "!tfrt_tensor.tensor"];
/// The element types of tensors of strings, as TensorFlow's dialect and TFRT's spell them.
const STRINGS: [&str; 2] = ["!tf_type.string", "!tfrt.string"];

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    name: String,
    ty: String,
    /// The element type of a type `tensor<...>` of numbers or strings.
    tensor: Option<TensorElement>,
    shape: PartialShape,
    /// The tag of numbers of the type, and of chains.
    tag: Option<Discriminant<Value>>,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TensorElement {
    Number(DType),
    Text,
}

impl Port {
    /// A port of a type as MLIR prints it; the name is empty if it has none.
    pub fn new(name: impl Into<String>, ty: impl Into<String>) -> Port {
        let ty = ty.into();
        let (tensor, shape) = tensor_type(&ty).unzip();
        // A number has no dimensions; of anything else nothing is known.
        let of_others = || match ty.parse::<DType>() {
            Ok(_) => PartialShape::new(Vec::new()),
            Err(_) => PartialShape::unknown(),
        };
        let shape = shape.unwrap_or_else(of_others);
        Port { name: name.into(), tensor, shape, tag: scalar_tag(&ty), ty }
    }

    /// The name; empty if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type as MLIR prints it: `tensor<?x64xf32>`, `i32`, `!tfrt.chain`.
    pub fn ty(&self) -> &str {
        &self.ty
    }

    /// The element type of a tensor, or the type of a number; `None` for anything else.
    pub fn dtype(&self) -> Option<DType> {
        match self.tensor {
            Some(TensorElement::Number(dtype)) => Some(dtype),
            Some(TensorElement::Text) => None,
            None => self.ty.parse().ok(),
        }
    }

    /// The element type of a tensor, of texts, too, or the type of a number; `None` for anything else.
    pub fn element_type(&self) -> Option<Type> {
        match self.tensor {
            Some(TensorElement::Text) => Some(Type::String),
            _ => self.dtype().map(Type::Dense),
        }
    }

    /// The shape of a tensor, in which a size is unknown if it differs from call to call; that of a number is
    /// a scalar's, that of anything else unknown.
    pub fn shape(&self) -> &PartialShape {
        &self.shape
    }

    /// True for a chain: an argument that callers need not give.
    pub fn is_chain(&self) -> bool {
        self.ty == CHAIN
    }

    /// True if a tensor has the type: element type, rank and the known sizes. Any tensor has the type
    /// `!t.tensor`, none the type of a number.
    pub fn accepts(&self, tensor: &HostTensor) -> bool {
        match self.tensor {
            Some(element) => {
                element == TensorElement::Number(tensor.dtype()) && self.shape.allows(tensor.shape())
            }
            None => HOST_TENSORS.contains(&self.ty.as_str()),
        }
    }

    /// The value, if it has the type. An error, a dead value or one that is not there yet may stand for any
    /// type.
    ///
    /// # Errors
    /// If it has another type.
    pub(crate) fn check(&self, at: usize, value: &Value) -> Result<(), Error> {
        if self.tag == Some(discriminant(value)) {
            return Ok(());
        }
        let Some(last) = value.final_value() else { return Ok(()) };
        let got = if let Some(Tensor(tensor)) = last.downcast_ref::<Tensor>() {
            if self.accepts(tensor) {
                return Ok(());
            }
            format!("expected such a tensor, got dtype {}, shape {}", tensor.dtype(), tensor.shape())
        } else if let (Some(element), Some(Strings(strings))) = (self.tensor, last.downcast_ref::<Strings>())
        {
            if element == TensorElement::Text && self.shape.allows(strings.shape()) {
                return Ok(());
            }
            format!("expected such a tensor, got strings, shape {}", strings.shape())
        } else if last.may_be(&self.ty) == Some(false) {
            format!("got a value of type {}", last.type_name())
        } else {
            return Ok(());
        };
        let Port { ty, .. } = self;
        let message = format!("argument {} has type {ty}: {got}", self.label(at));
        Err(Error::new(ErrorCode::InvalidArgument, message, Vec::new()))
    }

    /// The name in messages: quoted, or the position.
    pub fn label(&self, at: usize) -> String {
        if self.name.is_empty() { format!("#{at}") } else { format!("'{}'", self.name) }
    }

    /// The only value that a port may have, if there is one.
    pub(crate) fn only_value(&self) -> Option<Value> {
        self.is_chain().then_some(Value::Chain)
    }
}

/// The parts of a type `tensor<...>` of numbers or strings.
fn tensor_type(ty: &str) -> Option<(TensorElement, PartialShape)> {
    let body = ty.strip_prefix("tensor<")?.strip_suffix('>')?;
    // The element type begins behind the last size: `2x?x` may be followed by `complex<f32>`.
    let n_sizes = body.split('x').take_while(|size| is_size(size)).map(|size| size.len() + 1).sum();
    let (sizes, element) = body.split_at_checked(n_sizes)?;
    let element = match element {
        "complex<f32>" => TensorElement::Number(DType::Complex64),
        "complex<f64>" => TensorElement::Number(DType::Complex128),
        element if STRINGS.contains(&element) => TensorElement::Text,
        element => TensorElement::Number(element.parse().ok()?),
    };
    let size = |size: &str| if size == "?" { Some(None) } else { size.parse().ok().map(Some) };
    let shape = match sizes {
        "*x" => PartialShape::unknown(),
        sizes => PartialShape::new(sizes.split_terminator('x').map(size).collect::<Option<_>>()?),
    };
    Some((element, shape))
}

/// True for a dimension in a type: a size, `?` or `*`.
fn is_size(text: &str) -> bool {
    !text.is_empty() && (text == "?" || text == "*" || text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_tensor::{Shape, mem::Malloc};

    #[test]
    fn types_of_tensors_have_dtype_and_shape() {
        let check = |ty: &str, dtype: Option<DType>, shape: Option<&[Option<usize>]>| {
            let port = Port::new("x", ty);
            assert_eq!((port.dtype(), port.shape().as_slice()), (dtype, shape), "{ty}");
        };
        check("tensor<f32>", Some(DType::F32), Some(&[]));
        check("tensor<2x?xf16>", Some(DType::F16), Some(&[Some(2), None]));
        check("tensor<0xcomplex<f64>>", Some(DType::Complex128), Some(&[Some(0)]));
        check("tensor<*xi1>", Some(DType::I1), None);
        check("tensor<3x!tf_type.string>", None, Some(&[Some(3)]));
        check("tensor<!tf_type.resource<tensor<2xf32>>>", None, None);
        check("tensor<99999999999999999999xf32>", None, None);
        check("i32", Some(DType::I32), Some(&[]));
        check("!tfrt.chain", None, None);
        check("tensor<", None, None);
    }

    #[test]
    fn a_tensor_must_have_the_sizes_that_are_known() {
        let of = |dims: &[usize]| {
            HostTensor::zeros(DType::F32, Shape::new(dims).unwrap(), &Malloc::shared()).unwrap()
        };
        let check = |ty: &str, dims: &[usize], want: bool| {
            assert_eq!(Port::new("", ty).accepts(&of(dims)), want, "{ty} {dims:?}");
        };
        check("tensor<1x64xf32>", &[64], false);
        check("tensor<1x64xf32>", &[1, 64], true);
        check("tensor<1x64xf32>", &[500, 64], false);
        check("tensor<?x64xf32>", &[500, 64], true);
        check("tensor<*xf32>", &[1, 2, 3], true);
        check("tensor<1x64xf64>", &[1, 64], false);
        check("!t.tensor", &[7], true);
        check("f32", &[], false);
    }
}
