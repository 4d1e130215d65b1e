//! Operators on small tensors, without the fixed costs of a call.
//!
//! ```text
//! row, attributes ──OpRow::small──▶ Small ──call──▶ result, or None: call the operator's function instead
//! ```
//!
//! A call declines operands that are not simple: other element types, shapes that broadcast, and large
//! tensors. It also declines all operands that the operator refuses, so the errors are those of the
//! operator's function. Elementwise results equal those of the operator's function; products differ by
//! rounding.

use std::sync::Arc;

use super::fast::{arithmetic_of, function_of};
use super::op::{Attributes, Attrs, Class, Op, OpRow, Type};
use super::{Binary, Compare};
use crate::mem::Allocator;
use crate::simd::{Arithmetic, Function, Isa, Over};
use crate::{DType, Element, HostTensor, I1, Shape};

/// The largest number of elements of an operand.
const MAX: usize = 4096;

/// The largest number of multiplications of a product.
const MAX_PRODUCTS: usize = 512;

/// An operator on small tensors.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    kind: Kind,
    /// The element type of the operands, if an attribute specifies it.
    ty: Option<Type>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Unary(Function),
    Binary(Binary, Option<Arithmetic>),
    Compare(Compare),
    /// True for each of the left and the right matrix if it is transposed.
    MatMul(bool, bool),
}

impl OpRow {
    /// The version of the operator for small tensors, if there is one.
    pub fn small(&self, attrs: &dyn Attrs) -> Option<Small> {
        let kind = match self.class() {
            Class::Unary(op) => Kind::Unary(function_of(op)?),
            Class::Binary(op) => Kind::Binary(op, arithmetic_of(op)),
            Class::Compare(op) => Kind::Compare(op),
            _ if self.op == Some(Op::MatMul) => {
                let attrs = Attributes::new(self.signature(), attrs);
                Kind::MatMul(attrs.bool("transpose_a").ok()?, attrs.bool("transpose_b").ok()?)
            }
            _ => return None,
        };
        let ty = attrs.ty("T");
        (ty.is_some() || !attrs.has("T")).then_some(Small { kind, ty })
    }
}

impl Small {
    /// True if the operator's function may overwrite an operand with its result.
    pub fn may_overwrite(&self) -> bool {
        matches!(self.kind, Kind::Unary(_) | Kind::Binary(..))
    }

    /// The result; `None` if the call declines the operands.
    #[inline]
    pub fn call(&self, operands: &[&HostTensor], allocator: &Arc<dyn Allocator>) -> Option<HostTensor> {
        let first = operands.first()?;
        let dtype = first.dtype();
        if self.ty.is_some_and(|ty| ty != Type::Dense(dtype)) {
            return None;
        }
        match (self.kind, operands) {
            (Kind::Unary(function), [x]) if dtype == DType::F32 && is_small(x.shape()) => {
                let out = x.copied(allocator).ok()?;
                Isa::detect().map(function, &mut out.write::<f32>().ok()?);
                Some(out)
            }
            (Kind::Binary(op, arithmetic), [a, b]) if is_alike(a, b) => {
                binary(op, arithmetic, a, b, allocator)
            }
            (Kind::Compare(op), [a, b]) if is_alike(a, b) => match dtype {
                DType::F32 => compare::<f32>(op, a, b, allocator),
                DType::F64 => compare::<f64>(op, a, b, allocator),
                DType::I32 => compare::<i32>(op, a, b, allocator),
                DType::I64 => compare::<i64>(op, a, b, allocator),
                _ => None,
            },
            (Kind::MatMul(left, right), [a, b]) if dtype == DType::F32 && b.dtype() == DType::F32 => {
                product((a, left), (b, right), allocator)
            }
            _ => None,
        }
    }
}

fn is_small(shape: &Shape) -> bool {
    (1..=MAX).contains(&shape.num_elements())
}

/// True for small tensors of equal dtype and shape.
fn is_alike(a: &HostTensor, b: &HostTensor) -> bool {
    a.dtype() == b.dtype() && a.shape() == b.shape() && is_small(a.shape())
}

fn binary(
    op: Binary,
    arithmetic: Option<Arithmetic>,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Option<HostTensor> {
    match (a.dtype(), op) {
        (DType::F32, _)
            if a.num_elements() == 1
                && let Some(f) = of_scalars(op) =>
        {
            let result = f(*a.read::<f32>().ok()?.first()?, *b.read::<f32>().ok()?.first()?);
            HostTensor::from_bytes(DType::F32, a.shape().clone(), &result.to_le_bytes(), allocator).ok()
        }
        (DType::F32, _) => {
            let (arithmetic, out) = (arithmetic?, a.copied(allocator).ok()?);
            Isa::detect().arithmetic(
                arithmetic,
                Over::Left,
                &mut out.write::<f32>().ok()?,
                &b.read::<f32>().ok()?,
            );
            Some(out)
        }
        (DType::F64, Binary::Add) => zip::<f64>(a, b, allocator, |a, b| a + b),
        (DType::F64, Binary::Sub) => zip::<f64>(a, b, allocator, |a, b| a - b),
        (DType::F64, Binary::Mul) => zip::<f64>(a, b, allocator, |a, b| a * b),
        (DType::F64, Binary::RealDiv | Binary::Div) => zip::<f64>(a, b, allocator, |a, b| a / b),
        (DType::I32, Binary::Add) => zip(a, b, allocator, i32::wrapping_add),
        (DType::I32, Binary::Sub) => zip(a, b, allocator, i32::wrapping_sub),
        (DType::I32, Binary::Mul) => zip(a, b, allocator, i32::wrapping_mul),
        (DType::I64, Binary::Add) => zip(a, b, allocator, i64::wrapping_add),
        (DType::I64, Binary::Sub) => zip(a, b, allocator, i64::wrapping_sub),
        (DType::I64, Binary::Mul) => zip(a, b, allocator, i64::wrapping_mul),
        _ => None,
    }
}

/// The function of two numbers, if it is a single machine instruction.
fn of_scalars(op: Binary) -> Option<fn(f32, f32) -> f32> {
    Some(match op {
        Binary::Add => |a, b| a + b,
        Binary::Sub => |a, b| a - b,
        Binary::Mul => |a, b| a * b,
        Binary::RealDiv | Binary::Div => |a, b| a / b,
        _ => return None,
    })
}

fn zip<T: Element>(
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(T, T) -> T,
) -> Option<HostTensor> {
    let out = a.copied(allocator).ok()?;
    let b = b.read::<T>().ok()?;
    out.write::<T>().ok()?.iter_mut().zip(b.iter()).for_each(|(a, b)| *a = f(*a, *b));
    Some(out)
}

fn compare<T: Element + PartialOrd>(
    op: Compare,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Option<HostTensor> {
    let f: fn(&T, &T) -> bool = match op {
        Compare::Equal => |a, b| a == b,
        Compare::NotEqual => |a, b| a != b,
        Compare::Less => |a, b| a < b,
        Compare::LessEqual => |a, b| a <= b,
        Compare::Greater => |a, b| a > b,
        Compare::GreaterEqual => |a, b| a >= b,
    };
    let out = HostTensor::allocate(DType::I1, a.shape().clone(), allocator).ok()?;
    let (a, b) = (a.read::<T>().ok()?, b.read::<T>().ok()?);
    let pairs = a.iter().zip(b.iter());
    out.write::<I1>().ok()?.iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = I1::from(f(a, b)));
    Some(out)
}

/// The product of two matrices. The flag of each is true if it is transposed.
fn product(
    (a, left): (&HostTensor, bool),
    (b, right): (&HostTensor, bool),
    allocator: &Arc<dyn Allocator>,
) -> Option<HostTensor> {
    let (&[a0, a1], &[b0, b1]) = (a.shape().dims(), b.shape().dims()) else { return None };
    let (rows, inner) = if left { (a1, a0) } else { (a0, a1) };
    let (other, columns) = if right { (b1, b0) } else { (b0, b1) };
    let work = rows.checked_mul(inner)?.checked_mul(columns)?;
    if inner != other || !(1..=MAX_PRODUCTS).contains(&work) {
        return None;
    }
    // The strides of rows and of columns.
    let (a_down, a_across) = if left { (1, a1) } else { (a1, 1) };
    let (b_down, b_across) = if right { (1, b1) } else { (b1, 1) };
    let out = HostTensor::allocate(DType::F32, Shape::new(&[rows, columns]).ok()?, allocator).ok()?;
    let (a, b) = (a.read::<f32>().ok()?, b.read::<f32>().ok()?);
    for (i, row) in out.write::<f32>().ok()?.chunks_exact_mut(columns).enumerate() {
        for (j, out) in row.iter_mut().enumerate() {
            *out = (0..inner).map(|k| a[i * a_down + k * a_across] * b[k * b_down + j * b_across]).sum();
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::mem::Malloc;
    use crate::tf::op::tests::TextAttrs;
    use crate::tf::op::{Eval, row};

    fn made(name: &str) -> (Small, Eval) {
        let (row, no) = (row(name).unwrap(), TextAttrs(BTreeMap::new()));
        (row.small(&no).unwrap(), row.prepare(&no).unwrap().unwrap())
    }

    fn check(name: &str, operands: &[&HostTensor], is_taken: bool) {
        let allocator: Arc<dyn Allocator> = Malloc::shared();
        let (small, eval) = made(name);
        let found = small.call(operands, &allocator);
        assert_eq!(found.is_some(), is_taken, "{name}");
        if let Some(found) = found {
            let want = eval(operands, &allocator).unwrap().remove(0);
            assert_eq!((found.dtype(), found.shape()), (want.dtype(), want.shape()));
            assert_eq!(*found.read_bytes().unwrap(), *want.read_bytes().unwrap(), "{name}");
        }
    }

    #[test]
    fn results_are_those_of_the_functions() {
        let x = HostTensor::from_vec([2, 2], vec![1.5f32, -2.0, 0.0, 4.0]).unwrap();
        let y = HostTensor::from_vec([2, 2], vec![0.5f32, 2.0, -1.0, 4.0]).unwrap();
        let n = HostTensor::from_vec([2], vec![i32::MAX, 7]).unwrap();
        let long = HostTensor::from_vec([2], vec![1i64, 7]).unwrap();
        for name in ["AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Less", "Equal", "MatMul"] {
            check(name, &[&x, &y], true);
        }
        for name in ["Neg", "Relu", "Exp"] {
            check(name, &[&x], true);
        }
        check("Mul", &[&n, &n], true);
        check("AddV2", &[&long, &long], true);
        check("GreaterEqual", &[&n, &n], true);
    }

    #[test]
    fn numbers_have_a_way_of_their_own() {
        let number = |x: f32| HostTensor::from_vec([], vec![x]).unwrap();
        for (a, b) in [(1.5, -2.0), (f32::MAX, f32::MAX), (0.0, 0.0), (f32::NAN, 1.0)] {
            let names = ["AddV2", "Sub", "Mul", "RealDiv", "Minimum"];
            names.iter().for_each(|name| check(name, &[&number(a), &number(b)], true));
        }
    }

    #[test]
    fn other_operands_are_declined() {
        let x = HostTensor::from_vec([2, 2], vec![1.0f32; 4]).unwrap();
        let row = HostTensor::from_vec([2], vec![1.0f32; 2]).unwrap();
        let n = HostTensor::from_vec([2, 2], vec![1i32; 4]).unwrap();
        let empty = HostTensor::from_vec([0], Vec::<f32>::new()).unwrap();
        let large = HostTensor::from_vec([MAX + 1], vec![1.0f32; MAX + 1]).unwrap();
        let allocator: Arc<dyn Allocator> = Malloc::shared();
        for (name, operands) in [
            ("AddV2", vec![&x, &row]),
            ("AddV2", vec![&x, &n]),
            ("AddV2", vec![&x]),
            ("AddV2", vec![&empty, &empty]),
            ("AddV2", vec![&large, &large]),
            ("MatMul", vec![&x, &row]),
            ("MatMul", vec![&x, &n]),
            ("Neg", vec![&n]),
        ] {
            assert!(made(name).0.call(&operands, &allocator).is_none(), "{name}");
        }
    }
}
