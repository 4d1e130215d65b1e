//! `//` and `%` of floats as NumPy defines them, which no operator of TensorFlow's computes.
//!
//! The quotient belongs to the exact remainder: 1.0 // 0.1 is 9.0, although 1.0 / 0.1 is 10.0. A remainder of
//! zero has the sign of the divisor, a quotient of zero that of the exact one.

use befrost::mem::Malloc;
use befrost::{DType, Element, HostTensor, Shape};
use smallvec::SmallVec;

use crate::eager::Binary;

/// The result on tensors of one shape, or with a number, of f32 or f64; `None` of others, of more than `most`
/// elements, and of other operators.
pub(crate) fn floored(op: Binary, a: &HostTensor, b: &HostTensor, most: usize) -> Option<HostTensor> {
    let shape = match (a.shape(), b.shape()) {
        (shape, number) if number.rank() == 0 => shape,
        (number, shape) if number.rank() == 0 => shape,
        (shape, other) => Some(shape).filter(|_| shape == other)?,
    };
    if shape.num_elements() > most || a.dtype() != b.dtype() {
        return None;
    }
    match (op, a.dtype()) {
        (Binary::FloorDiv, DType::F32) => zip(a, b, shape, f32s::quotient),
        (Binary::FloorDiv, DType::F64) => zip(a, b, shape, f64s::quotient),
        (Binary::Mod, DType::F32) => zip(a, b, shape, f32s::remainder),
        (Binary::Mod, DType::F64) => zip(a, b, shape, f64s::remainder),
        _ => None,
    }
}

fn zip<T: Element>(a: &HostTensor, b: &HostTensor, shape: &Shape, f: fn(T, T) -> T) -> Option<HostTensor> {
    let (a, b) = (a.read::<T>().ok()?, b.read::<T>().ok()?);
    let pairs = a.iter().cycle().zip(b.iter().cycle()).take(shape.num_elements());
    let made: SmallVec<[T; 8]> = pairs.map(|(&a, &b)| f(a, b)).collect();
    HostTensor::from_slice(shape.clone(), &made, &Malloc::shared()).ok()
}

macro_rules! of_type {
    ($name:ident, $float:ident) => {
        mod $name {
            pub(super) fn quotient(a: $float, b: $float) -> $float {
                if b == 0.0 {
                    return a / b;
                }
                let rest = a % b;
                let is_below = rest != 0.0 && (rest < 0.0) != (b < 0.0);
                let quotient = (a - rest) / b - if is_below { 1.0 } else { 0.0 };
                if quotient == 0.0 {
                    return $float::copysign(0.0, a / b);
                }
                // An integer but for the rounding of the division.
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }

            pub(super) fn remainder(a: $float, b: $float) -> $float {
                let rest = a % b;
                if rest == 0.0 {
                    return $float::copysign(0.0, b);
                }
                if (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }
        }
    };
}

of_type!(f32s, f32);
of_type!(f64s, f64);
