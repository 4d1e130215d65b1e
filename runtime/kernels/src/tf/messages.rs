//! Tensors as `TensorProto` messages: `ParseTensor` and `SerializeTensor`.
//!
//! ```text
//! { dtype: 1 (float), shape: [3], content: 12 bytes }       a message written here: all bytes of the tensor
//! { dtype: 1 (float), shape: [3], float_val: [2, 4] }       a message may also list numbers: 2 4 4
//! ```
//!
//! A message is untrusted. If it lists fewer elements than the shape has, the last one is repeated; zeros
//! stand for none.

use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::push;
use befrost_tensor::tf::op::{Op, Type};
use befrost_tensor::wire::{
    Message, WireValue, fixed32, fixed64, push_bytes, push_number, push_varint, varint,
};
use befrost_tensor::{DType, HostTensor, Shape};

use super::action::{ActionRow, action, tensor};
use super::joined::TextBuilder;
use super::operands::dense;
use super::strings::{expect_room, strings_in};
use crate::objects::{Strings, refused};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ParseTensor], |attrs| {
        let ty = attrs.ty("out_type")?;
        action(attrs, move |[serialized], cx| {
            let serialized = strings_in(serialized)?;
            if serialized.shape().rank() != 0 {
                return Err(invalid(&format!(
                    "serialized has shape {}, expected a scalar",
                    serialized.shape()
                )));
            }
            let read = serialized.read().map_err(refused)?;
            let message = TensorMessage::new(read.at(0).unwrap_or_default()).map_err(|why| invalid(&why))?;
            if message.ty != ty {
                return Err(invalid(&format!("the message is of type {}, expected {ty}", message.ty)));
            }
            Ok([match ty {
                Type::Dense(dtype) => message.numbers(dtype, cx.allocator())?,
                _ => message.texts(cx.allocator())?,
            }])
        })
    }),
    (&[Op::SerializeTensor], |attrs| action(attrs, |[x], cx| Ok([serialized(x, cx.allocator())?]))),
];

fn invalid(why: &str) -> KernelError {
    KernelError::invalid(format!("`ParseTensor`: {why}"))
}

/// The fields of the message.
mod field {
    pub(super) const DTYPE: u64 = 1;
    pub(super) const SHAPE: u64 = 2;
    pub(super) const CONTENT: u64 = 4;
    pub(super) const STRINGS: u64 = 8;
}

/// The message of a tensor.
fn serialized(x: &Value, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    let texts = x.downcast_ref::<Strings>().map(|strings| &strings.0);
    let (ty, shape) = match texts {
        Some(texts) => (Type::String, texts.shape()),
        None => (Type::Dense(dense(x)?.dtype()), dense(x)?.shape()),
    };
    let (mut head, mut of_shape) = (Vec::new(), Vec::new());
    for &dim in shape.dims() {
        let mut size = Vec::new();
        push_number(&mut size, 1, dim as u64);
        push_bytes(&mut of_shape, 2, &size);
    }
    push_number(&mut head, field::DTYPE, ty.code() as u64);
    push_bytes(&mut head, field::SHAPE, &of_shape);
    let mut made = TextBuilder::new(1, allocator)?;
    made.append(&head)?;
    let mut part = |number: u64, bytes: &[u8]| {
        let mut tag = Vec::new();
        push_varint(&mut tag, number << 3 | 2);
        push_varint(&mut tag, bytes.len() as u64);
        made.append(&tag)?;
        made.append(bytes)
    };
    match texts {
        Some(texts) => {
            for text in texts.read().map_err(refused)?.iter() {
                part(field::STRINGS, text)?;
            }
        }
        None if shape.num_elements() > 0 => part(field::CONTENT, &dense(x)?.read_bytes().map_err(refused)?)?,
        None => {}
    }
    made.end()?;
    made.finish(&Shape::scalar())
}

/// A message of a tensor, whose elements are not decoded yet.
struct TensorMessage<'a> {
    bytes: &'a [u8],
    ty: Type,
    shape: Shape,
    content: &'a [u8],
}

/// The sizes of a shape message.
fn sizes(message: &[u8]) -> Result<Vec<i64>, String> {
    let mut dims = Vec::new();
    for field in Message::new(message) {
        let (2, WireValue::Bytes(dim)) = field? else { continue };
        let mut size = 0;
        for field in Message::new(dim) {
            if let (1, WireValue::Varint(value)) = field? {
                size = value as i64;
            }
        }
        if dims.len() > befrost_tensor::MAX_RANK {
            return Err("the shape has too many sizes".to_owned());
        }
        dims.push(size);
    }
    Ok(dims)
}

impl<'a> TensorMessage<'a> {
    fn new(bytes: &'a [u8]) -> Result<TensorMessage<'a>, String> {
        let (mut code, mut dims, mut content) = (0, Vec::new(), &[][..]);
        for field in Message::new(bytes) {
            match field? {
                (field::DTYPE, WireValue::Varint(value)) => code = value as i32,
                (field::SHAPE, WireValue::Bytes(shape)) => dims = sizes(shape)?,
                (field::CONTENT, WireValue::Bytes(bytes)) => content = bytes,
                _ => {}
            }
        }
        let (ty, is_ref) = Type::from_code(code).map_err(|error| error.to_string())?;
        if is_ref || !matches!(ty, Type::Dense(_) | Type::String) {
            return Err(format!("a message of type {ty}"));
        }
        let shape = Shape::from_i64(&dims).map_err(|error| error.to_string())?;
        Ok(TensorMessage { bytes, ty, shape, content })
    }

    fn numbers(&self, dtype: DType, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
        let (n, size) = (self.shape.num_elements(), dtype.size());
        let out = HostTensor::zeros(dtype, self.shape.clone(), allocator).map_err(refused)?;
        let mut listed = Vec::new();
        let from = if self.content.is_empty() {
            self.listed(dtype, &mut listed)?;
            let whole = listed.len() / size * size;
            &listed[..whole.min(n * size)]
        } else if self.content.len() == n * size {
            self.content
        } else {
            let problem = format!("{} bytes of content for shape {}", self.content.len(), self.shape);
            return Err(invalid(&problem));
        };
        {
            let mut to = out.write_bytes().map_err(refused)?;
            let (own, rest) = to.split_at_mut(from.len());
            own.copy_from_slice(from);
            if let Some(last) = from.rchunks(size).next() {
                rest.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(last));
            }
            if dtype == DType::I1 {
                to.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            }
        }
        Ok(tensor(out))
    }

    /// The bytes of the elements in the field of the type.
    fn listed(&self, dtype: DType, to: &mut Vec<u8>) -> Result<(), KernelError> {
        // The field; the bytes of a number in it: 0 for a varint; the bytes of the number that are used.
        let (wanted, width, used) = match dtype {
            DType::F32 => (5, 4, 4),
            DType::F64 => (6, 8, 8),
            DType::I8 | DType::UI8 | DType::I16 | DType::UI16 | DType::I32 => (7, 0, dtype.size()),
            DType::Complex64 => (9, 4, 4),
            DType::I64 => (10, 0, 8),
            DType::I1 => (11, 0, 1),
            DType::Complex128 => (12, 8, 8),
            DType::F16 | DType::BF16 => (13, 0, 2),
            DType::UI32 => (16, 0, 4),
            DType::UI64 => (17, 0, 8),
        };
        let mut add = |value: u64| {
            let value = if dtype == DType::I1 { u64::from(value != 0) } else { value };
            value.to_le_bytes()[..used].iter().try_for_each(|&byte| push(to, byte)).map_err(refused)
        };
        for field in Message::new(self.bytes) {
            let (number, value) = field.map_err(|why| invalid(&why))?;
            match (number == wanted, width, value) {
                (false, ..) => {}
                (true, 0, WireValue::Varint(value)) | (true, 8, WireValue::Fixed64(value)) => add(value)?,
                (true, 4, WireValue::Fixed32(value)) => add(value.into())?,
                (true, _, WireValue::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        let value = match width {
                            0 => varint(&mut packed),
                            4 => fixed32(&mut packed).map(u64::from),
                            _ => fixed64(&mut packed),
                        };
                        add(value.ok_or_else(|| invalid("a list of numbers is cut off"))?)?;
                    }
                }
                (true, ..) => return Err(invalid("a list of numbers of another type")),
            }
        }
        Ok(())
    }

    fn texts(&self, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
        let n = self.shape.num_elements();
        let (mut texts, mut found) = (Vec::new(), TextBuilder::new(n, allocator)?);
        for field in Message::new(self.bytes) {
            if let (field::STRINGS, WireValue::Bytes(text)) = field.map_err(|why| invalid(&why))? {
                push(&mut texts, text).map_err(refused)?;
            }
        }
        let last = texts.last().copied().unwrap_or_default();
        let missing = n.saturating_sub(texts.len());
        expect_room(missing, last.len(), allocator)?;
        let all = texts.into_iter().take(n).chain(std::iter::repeat_n(last, missing));
        for text in all {
            found.append(text)?;
            found.end()?;
        }
        found.finish(&self.shape)
    }
}
