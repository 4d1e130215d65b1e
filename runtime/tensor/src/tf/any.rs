//! Tensors of numbers or of strings: the elements of lists and arrays, and the values of variables.

use std::sync::Arc;

use super::joins::{MAX_EMPTY, concat, pack, unpack};
use super::op::Type;
use super::slices::slice;
use crate::mem::Allocator;
use crate::scratch::{collected, try_collected};
use crate::{HostTensor, Shape, StringTensor, TensorError};

/// A dense tensor.
#[derive(Clone, Debug)]
pub enum AnyTensor {
    /// Of numbers or booleans.
    Numbers(HostTensor),
    /// Of strings.
    Strings(StringTensor),
}

impl From<HostTensor> for AnyTensor {
    fn from(x: HostTensor) -> AnyTensor {
        AnyTensor::Numbers(x)
    }
}

impl From<StringTensor> for AnyTensor {
    fn from(x: StringTensor) -> AnyTensor {
        AnyTensor::Strings(x)
    }
}

impl AnyTensor {
    /// The element type.
    pub fn ty(&self) -> Type {
        match self {
            AnyTensor::Numbers(x) => x.dtype().into(),
            AnyTensor::Strings(_) => Type::String,
        }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        match self {
            AnyTensor::Numbers(x) => x.shape(),
            AnyTensor::Strings(x) => x.shape(),
        }
    }

    /// Refuses another element type.
    pub fn expect_type(&self, op: &'static str, want: Type) -> Result<(), TensorError> {
        match self.ty() == want {
            true => Ok(()),
            false => Err(refused(op, format!("a tensor of {}, expected {want}", self.ty()))),
        }
    }

    /// The tensor, if it has numbers.
    pub fn numbers(&self) -> Option<&HostTensor> {
        match self {
            AnyTensor::Numbers(x) => Some(x),
            AnyTensor::Strings(_) => None,
        }
    }

    /// [`AnyTensor::numbers`], to change them.
    pub fn numbers_mut(&mut self) -> Option<&mut HostTensor> {
        match self {
            AnyTensor::Numbers(x) => Some(x),
            AnyTensor::Strings(_) => None,
        }
    }

    /// Zeros, or empty strings.
    pub fn zeros(ty: Type, shape: Shape, allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, TensorError> {
        match ty {
            Type::Dense(dtype) => HostTensor::zeros(dtype, shape, allocator).map(AnyTensor::Numbers),
            Type::String => {
                let texts = crate::scratch::filled(shape.num_elements(), "")?;
                StringTensor::new(shape, &texts, allocator).map(AnyTensor::Strings)
            }
            Type::Resource | Type::Variant => {
                Err(refused("ZerosLike", format!("there are no tensors of {ty}")))
            }
        }
    }

    /// `Pack` along a new first axis. The element type is that of the first tensor.
    pub fn pack(all: &[AnyTensor], allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, TensorError> {
        let Some(AnyTensor::Strings(first)) = all.first() else {
            return pack(&numbers(all)?, 0, allocator).map(AnyTensor::Numbers);
        };
        for x in all {
            if x.shape() != first.shape() {
                let (want, got) = (first.shape().clone(), x.shape().clone());
                return Err(TensorError::Shape { what: "values", want, got });
            }
        }
        joined(all, Shape::new(&[&[all.len()], first.shape().dims()].concat())?, allocator)
    }

    /// `ConcatV2` along the first axis. The element type is that of the first tensor.
    pub fn concat(all: &[AnyTensor], allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, TensorError> {
        let Some(AnyTensor::Strings(first)) = all.first() else {
            return concat(&numbers(all)?, 0, allocator).map(AnyTensor::Numbers);
        };
        let row = row(first.shape())?;
        let mut n = 0_usize;
        for x in all {
            match x.shape().dims().split_first() {
                Some((&length, rest)) if rest == row.dims() => n = n.saturating_add(length),
                _ => {
                    let (want, got) = (first.shape().clone(), x.shape().clone());
                    return Err(TensorError::Shape { what: "values", want, got });
                }
            }
        }
        joined(all, Shape::new(&[&[n], row.dims()].concat())?, allocator)
    }

    /// `Unpack` along the first axis.
    pub fn unpack(&self, allocator: &Arc<dyn Allocator>) -> Result<Vec<AnyTensor>, TensorError> {
        match self {
            AnyTensor::Numbers(x) => {
                try_collected(unpack(x, 0, allocator)?.into_iter().map(|x| Ok(AnyTensor::Numbers(x))))
            }
            AnyTensor::Strings(x) => {
                let (row, n) = (row(x.shape())?, x.shape().dims().first().copied().unwrap_or(0));
                if n > x.num_elements().max(MAX_EMPTY) {
                    return Err(refused("Unpack", format!("{n} empty slices of shape {}", x.shape())));
                }
                try_collected((0..n).map(|i| rows(x, i, row.clone(), row.num_elements(), allocator)))
            }
        }
    }

    /// Consecutive parts of these lengths along the first axis.
    pub fn split(
        &self,
        op: &'static str,
        lengths: &[i64],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<AnyTensor>, TensorError> {
        let wrong = || {
            let n = lengths.len();
            refused(op, format!("{n} lengths do not add up to the first of shape {}", self.shape()))
        };
        let mut rest = *self.shape().dims().first().ok_or_else(wrong)?;
        let mut first = 0;
        let parts = try_collected(lengths.iter().map(|&length| {
            let length = usize::try_from(length).ok().filter(|&length| length <= rest).ok_or_else(wrong)?;
            let part = self.rows(first, length, allocator)?;
            (first, rest) = (first + length, rest - length);
            Ok(part)
        }))?;
        if rest == 0 { Ok(parts) } else { Err(wrong()) }
    }

    /// The rows `first..first + n`, as a slice along the first axis.
    fn rows(&self, first: usize, n: usize, allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, TensorError> {
        match self {
            AnyTensor::Numbers(x) => {
                let rank = x.shape().rank();
                let (mut begin, mut size) = (vec![0; rank], vec![-1; rank]);
                if let (Some(begin), Some(size)) = (begin.first_mut(), size.first_mut()) {
                    (*begin, *size) = (first as i64, n as i64);
                }
                slice(x, &begin, &size, allocator).map(AnyTensor::Numbers)
            }
            AnyTensor::Strings(x) => {
                let row = row(x.shape())?;
                let shape = Shape::new(&[&[n], row.dims()].concat())?;
                rows(x, first, shape, row.num_elements(), allocator)
            }
        }
    }
}

fn refused(op: &'static str, problem: String) -> TensorError {
    TensorError::Invalid { op, problem }
}

fn numbers(all: &[AnyTensor]) -> Result<Vec<&HostTensor>, TensorError> {
    let among = || refused("Pack", "strings among numbers".to_owned());
    try_collected(all.iter().map(|x| x.numbers().ok_or_else(among)))
}

/// The shape without its first axis.
fn row(shape: &Shape) -> Result<Shape, TensorError> {
    let rest = shape.dims().get(1..).ok_or_else(|| TensorError::Axis { axis: 0, shape: shape.clone() })?;
    Shape::new(rest)
}

/// All strings, in order.
fn joined(all: &[AnyTensor], shape: Shape, allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, TensorError> {
    let read = try_collected(all.iter().map(|x| match x {
        AnyTensor::Strings(x) => x.read(),
        AnyTensor::Numbers(x) => Err(refused("Pack", format!("{} among strings", x.dtype()))),
    }))?;
    let texts = collected(read.iter().flat_map(|strings| strings.iter()))?;
    StringTensor::new(shape, &texts, allocator).map(AnyTensor::Strings)
}

/// The strings of `shape` from row `first` on, in rows of `width` strings.
fn rows(
    x: &StringTensor,
    first: usize,
    shape: Shape,
    width: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<AnyTensor, TensorError> {
    let read = x.read()?;
    let from = first.saturating_mul(width);
    let texts = (from..from.saturating_add(shape.num_elements())).map_while(|at| read.at(at));
    StringTensor::new(shape, &collected(texts)?, allocator).map(AnyTensor::Strings)
}
