//! Arguments and results on the command line, and their conversion to values.
//!
//! ```text
//! --input  [NAME=]FILE.npy | [NAME=]FILE.jpg | [NAME=]DTYPE[SHAPE]:v,v,...
//! --output [NAME=]FILE.npy        --expect [NAME=]FILE.npy
//! ```
//!
//! FILE.npy may be `-`, standard input or output. NAME is the name of an argument or result, or its number.
//! Options without a name are assigned to the remaining ports, in order. Chains need no input. A scalar is a
//! tensor without dimensions, a shape a vector of i64.

use std::ffi::OsString;
use std::str::FromStr;
use std::sync::Arc;

use befrost::{Datum, Error, HostTensor, Port, Shape, Value};
use befrost_compiler::diag::shortened;
use befrost_kernels::{ShapeValue, Strings};
use befrost_tensor::mem::Allocator;
use befrost_tensor::npy::Array;
use befrost_tensor::{Complex64, DType, Dims, Element, I1, bf16, f16, literal, npy};

use super::picture::{Picture, is_picture};
use crate::cli::failure::Failure;
use crate::cli::files::Place;

/// The contents of an `--input`.
pub(super) enum InputFile {
    Array(Array),
    /// A picture, which becomes an array of its argument's size.
    Picture(Picture),
}

/// `[NAME=]TEXT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedText {
    name: Option<String>,
    text: String,
}

impl FromStr for NamedText {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedText, String> {
        let (name, text) = match text.split_once('=') {
            Some((name, text)) => (Some(name).filter(|name| !name.is_empty()), text),
            None => (None, text),
        };
        if text.is_empty() {
            return Err("nothing follows the name".to_owned());
        }
        Ok(NamedText { name: name.map(str::to_owned), text: text.to_owned() })
    }
}

impl NamedText {
    /// The name of the argument or result.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The file of the text.
    pub(super) fn place(&self) -> Place {
        Place::from(OsString::from(&self.text))
    }

    /// The argument in the file or literal.
    pub(super) fn input(&self, allocator: &Arc<dyn Allocator>) -> Result<InputFile, Failure> {
        match self.place() {
            Place::File(path) if is_picture(&self.text) && !literal::is_literal(&self.text) => {
                Picture::read(&path, allocator).map(InputFile::Picture)
            }
            _ => self.array(allocator).map(InputFile::Array),
        }
    }

    /// The array in the file or literal.
    pub(super) fn array(&self, allocator: &Arc<dyn Allocator>) -> Result<Array, Failure> {
        if literal::is_literal(&self.text) {
            return literal::parse(&self.text, allocator)
                .map(Array::Numbers)
                .map_err(|error| Failure::Usage(format!("'{}': {error}", excerpt(&self.text))));
        }
        let place = self.place();
        match &place {
            Place::Std => npy::read_array(std::io::stdin().lock(), allocator),
            Place::File(path) => npy::read_array_file(path, allocator),
        }
        .map_err(|error| Failure::Refused(format!("cannot read '{}': {error}", excerpt(&place.name()))))
    }
}

/// True if two names denote the same tensor of a model: the first result of `x` is `x` and `x:0`.
pub(super) fn same_tensor(a: &str, b: &str) -> bool {
    let first = |name: &str| name.strip_suffix(":0").map_or(name.len(), str::len);
    a[..first(a)] == b[..first(b)]
}

/// The user's text, cut to the length of a message.
fn excerpt(text: &str) -> String {
    shortened(text, 200)
}

/// Assigns options to ports: `given[i]` belongs to port `answer[i]`. `role` is `argument` or `result`.
pub(super) fn bind(
    given: &[NamedText],
    ports: &[Port],
    role: &str,
    signature: &str,
) -> Result<Vec<usize>, Failure> {
    let refuse = |what: String| Err(Failure::Refused(format!("{what}; the function is {signature}")));
    let mut taken = vec![false; ports.len()];
    let mut bound = vec![None; given.len()];
    for (slot, NamedText { name, .. }) in bound.iter_mut().zip(given) {
        let Some(name) = name else { continue };
        let by_name = ports.iter().position(|port| port.name() == name);
        let by_name = by_name.or_else(|| ports.iter().position(|port| same_tensor(port.name(), name)));
        let Some(at) = by_name.or_else(|| name.parse().ok().filter(|&at| at < ports.len())) else {
            return refuse(format!("there is no {role} '{name}'"));
        };
        if std::mem::replace(&mut taken[at], true) {
            return refuse(format!("{role} '{name}' is given twice"));
        }
        *slot = Some(at);
    }
    let mut answer = Vec::with_capacity(given.len());
    for (slot, NamedText { text, .. }) in bound.into_iter().zip(given) {
        let is_free = |&at: &usize| !(taken[at] || role == ARGUMENT && ports[at].is_chain());
        let free = || (0..ports.len()).find(is_free);
        let Some(at) = slot.or_else(free) else {
            return refuse(format!("there is no {role} left for '{}'", excerpt(text)));
        };
        taken[at] = true;
        answer.push(at);
    }
    Ok(answer)
}

/// The role of arguments.
pub(super) const ARGUMENT: &str = "argument";
/// The role of results.
pub(super) const RESULT: &str = "result";
/// The argument for an array.
pub(super) fn to_datum(array: &Array, port: &Port, at: usize) -> Result<Datum, Failure> {
    match array {
        Array::Numbers(tensor) => number_datum(tensor, port, at),
        // The call compares them with the type.
        Array::Strings(strings) => Ok(Datum::from(Value::object(Strings(strings.clone())))),
    }
}

fn number_datum(tensor: &HostTensor, port: &Port, at: usize) -> Result<Datum, Failure> {
    let refuse = |want: &str| {
        let (name, dtype, shape) = (port.label(at), tensor.dtype(), tensor.shape());
        let message =
            format!("argument {name} has type {}: {want}, got dtype {dtype}, shape {shape}", port.ty());
        Err(Failure::Refused(message))
    };
    let unreadable = |error: befrost_tensor::TensorError| Failure::Refused(error.to_string());
    match port.ty() {
        _ if port.accepts(tensor) => Ok(Datum::from(tensor.clone())),
        ty if ty.starts_with("tensor<") => refuse("expected such a tensor"),
        "!ts.shape" => {
            if tensor.dtype() != DType::I64 || tensor.shape().rank() != 1 {
                return refuse("expected the sizes as a vector of i64");
            }
            let dims = tensor.read::<i64>().map_err(unreadable)?;
            match Dims::from_i64(&dims) {
                Ok(shape) => Ok(Datum::from(Value::object(ShapeValue(shape)))),
                Err(error) => refuse(&format!("{error}")),
            }
        }
        ty => {
            let value = match scalar(tensor).map_err(unreadable)? {
                Some(value) if value.may_be(ty) == Some(true) => value,
                _ if ty.parse::<DType>().is_ok() || ty == "index" => {
                    return refuse("expected one such number");
                }
                _ => return refuse("no file and no text can stand for one"),
            };
            Ok(Datum::from(value))
        }
    }
}

/// An example of `--input` for a port: a literal for a few elements, otherwise a file.
pub(super) fn example_input(port: &Port, at: usize) -> String {
    /// Maximum number of elements that are written out.
    const WRITTEN: usize = 4;
    let name = if port.name().is_empty() { at.to_string() } else { port.name().to_owned() };
    let known: Option<Vec<usize>> = port.shape().as_slice().and_then(|dims| dims.iter().copied().collect());
    let elements = known.as_ref().map(|dims| dims.iter().fold(1, |n: usize, &dim| n.saturating_mul(dim)));
    match (port.dtype(), known, elements) {
        (Some(dtype), Some(dims), Some(n @ 1..=WRITTEN)) => {
            let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
            let shape = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join("x")) };
            let values: Vec<String> = (1..=n).map(|i| (i % 2).to_string()).collect();
            format!("{name}={dtype}{shape}:{}", values.join(","))
        }
        _ => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let stem: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(40).collect();
            format!("{name}={}.npy", if port.name().is_empty() { format!("input{stem}") } else { stem })
        }
    }
}

/// The value of a tensor without dimensions.
fn scalar(tensor: &HostTensor) -> Result<Option<Value>, befrost_tensor::TensorError> {
    fn only<T: Element>(tensor: &HostTensor) -> Result<Option<T>, befrost_tensor::TensorError> {
        Ok(tensor.read::<T>()?.first().copied())
    }
    if tensor.shape().rank() != 0 {
        return Ok(None);
    }
    Ok(match tensor.dtype() {
        DType::I1 => only::<I1>(tensor)?.map(|v| Value::I1(v.is_true())),
        DType::I8 => only(tensor)?.map(Value::I8),
        DType::I16 => only(tensor)?.map(Value::I16),
        DType::I32 => only(tensor)?.map(Value::I32),
        DType::I64 => only(tensor)?.map(Value::I64),
        DType::UI8 => only(tensor)?.map(Value::U8),
        DType::UI16 => only(tensor)?.map(Value::U16),
        DType::UI32 => only(tensor)?.map(Value::U32),
        DType::UI64 => only(tensor)?.map(Value::U64),
        DType::F16 => only::<f16>(tensor)?.map(Value::F16),
        DType::BF16 => only::<bf16>(tensor)?.map(Value::BF16),
        DType::F32 => only(tensor)?.map(Value::F32),
        DType::F64 => only(tensor)?.map(Value::F64),
        DType::Complex64 => only::<Complex64>(tensor)?.map(|v| Value::Complex64([v.re, v.im])),
        DType::Complex128 => None,
    })
}

/// The array of a result; an error if the result is another value or an error.
pub(super) fn to_array(datum: &Datum, allocator: &Arc<dyn Allocator>) -> Result<Array, Error> {
    match datum.ok()?.downcast_ref::<Strings>() {
        Some(Strings(strings)) => Ok(Array::Strings(strings.clone())),
        None => to_tensor(datum, allocator).map(Array::Numbers),
    }
}

fn to_tensor(datum: &Datum, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, Error> {
    fn one<T: Element>(value: T, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, String> {
        HostTensor::from_slice(Shape::scalar(), &[value], allocator).map_err(|error| error.to_string())
    }
    let value = datum.ok()?;
    let tensor = match value {
        Value::I1(v) => one(I1::from(*v), allocator),
        Value::I8(v) => one(*v, allocator),
        Value::I16(v) => one(*v, allocator),
        Value::I32(v) => one(*v, allocator),
        Value::I64(v) => one(*v, allocator),
        Value::U8(v) => one(*v, allocator),
        Value::U16(v) => one(*v, allocator),
        Value::U32(v) => one(*v, allocator),
        Value::U64(v) => one(*v, allocator),
        Value::F16(v) => one(*v, allocator),
        Value::BF16(v) => one(*v, allocator),
        Value::F32(v) => one(*v, allocator),
        Value::F64(v) => one(*v, allocator),
        Value::Complex64([re, im]) => one(Complex64 { re: *re, im: *im }, allocator),
        value => match value.downcast_ref::<ShapeValue>() {
            Some(ShapeValue(shape)) => sizes(shape, allocator),
            None => return datum.tensor().cloned(),
        },
    };
    tensor.map_err(|message| Error::new(befrost::ErrorCode::ResourceExhausted, message, Vec::new()))
}

fn sizes(shape: &Dims, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, String> {
    let dims: Vec<i64> = shape.as_slice().iter().map(|&dim| dim as i64).collect();
    let rank = Shape::new(&[dims.len()]).map_err(|error| error.to_string())?;
    HostTensor::from_slice(rank, &dims, allocator).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(texts: &[&str]) -> Vec<NamedText> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn names_are_what_stands_before_the_first_equals_sign() {
        let check = |text: &str, name: Option<&str>, rest: &str| {
            assert_eq!(text.parse(), Ok(NamedText { name: name.map(str::to_owned), text: rest.to_owned() }));
        };
        check("a.npy", None, "a.npy");
        check("x=a.npy", Some("x"), "a.npy");
        check("x=a=b.npy", Some("x"), "a=b.npy");
        check("=a=b.npy", None, "a=b.npy");
        check("x=i32:7", Some("x"), "i32:7");
        assert!("x=".parse::<NamedText>().is_err() && "".parse::<NamedText>().is_err());
    }

    #[test]
    fn examples_of_inputs() {
        let check = |name: &str, ty: &str, want: &str| {
            assert_eq!(example_input(&Port::new(name, ty), 2), want);
        };
        check("x", "i32", "x=i32:1");
        check("", "f32", "2=f32:1");
        check("x", "tensor<2x2xf32>", "x=f32[2x2]:1,0,1,0");
        check("x", "tensor<i64>", "x=i64:1");
        check("a/b:0", "tensor<?x2xf32>", "a/b:0=a_b_0.npy");
        check("", "tensor<28x28xf32>", "2=input2.npy");
        check("x", "tensor<*xf32>", "x=x.npy");
        check("x", "tensor<0xf32>", "x=x.npy");
        check("s", "!ts.shape", "s=s.npy");
    }

    #[test]
    fn unnamed_values_go_where_there_is_room() {
        let ports = [("a", "i32"), ("ch", "!tfrt.chain"), ("b", "i32"), ("", "i32")];
        let ports = ports.map(|(name, ty)| Port::new(name, ty));
        let check = |given: &[&str], want: Result<Vec<usize>, &str>| {
            let got = bind(&named(given), &ports, ARGUMENT, "f");
            let got = got.map_err(|failure| match failure {
                Failure::Refused(message) => message,
                other => format!("{other:?}"),
            });
            assert_eq!(got, want.map_err(|message| format!("{message}; the function is f")));
        };
        check(&[], Ok(vec![]));
        check(&["x", "y", "z"], Ok(vec![0, 2, 3]));
        check(&["x", "a=y", "z"], Ok(vec![2, 0, 3]));
        check(&["3=x", "y"], Ok(vec![3, 0]));
        check(&["c=x"], Err("there is no argument 'c'"));
        check(&["4=x"], Err("there is no argument '4'"));
        check(&["a=x", "0=y"], Err("argument '0' is given twice"));
        check(&["x", "y", "z", "u"], Err("there is no argument left for 'u'"));
    }
}
