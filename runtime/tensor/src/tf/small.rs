//! Operators on small tensors, without the fixed costs of a call.
//!
//! ```text
//! row, attributes ──OpRow::small──▶ Small ──call───────▶ result, or None: call the operator itself
//!                                         └─overwrite──▶ the operand that was overwritten by the result
//! ```
//!
//! A call declines operands that are not simple: shapes that broadcast unless one operand is a single
//! element, large tensors, and more than a few elements where the operator is no machine instruction. It also
//! declines all operands that the operator refuses, so the errors are those of the operator's function.
//! Elementwise results equal those of the operator's function; products differ by rounding.

use std::borrow::Cow;
use std::iter::Sum;
use std::ops::Mul;
use std::sync::Arc;

use smallvec::SmallVec;

use super::binary::{binary_of_pair, compare_of_pair};
use super::fast::{Cx, arithmetic_of, cast, function_of, is_square, wide_of};
use super::numeric::{Domain, Number};
use super::op::{Attributes, Attrs, Class, Op, OpRow, Type};
use super::unary::unary_in_place;
use super::{Binary, Compare, Unary};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::simd::{Arithmetic, Function, Isa, Over};
use crate::{DType, Element, HostTensor, I1, Shape};

/// The largest number of elements of an operand.
const MAX: usize = 4096;

/// The largest number of elements of an operand for which each pair of elements looks for its function.
const FEW: usize = 64;

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
    Unary(Unary, Option<Function>),
    Binary(Binary, Option<Arithmetic>),
    Compare(Compare),
    /// A conversion to this element type.
    Cast(DType),
    /// True for each of the left and the right matrix if it is transposed.
    MatMul(bool, bool),
}

impl OpRow {
    /// The version of the operator for small tensors, if there is one.
    pub fn small(&self, attrs: &dyn Attrs) -> Option<Small> {
        let kind = match self.class() {
            Class::Unary(op) => Kind::Unary(op, function_of(op)),
            Class::Binary(op) => Kind::Binary(op, arithmetic_of(op)),
            Class::Compare(op) => Kind::Compare(op),
            Class::Cast => {
                let attrs = Attributes::new(self.signature(), attrs);
                if attrs.bool("Truncate").ok()? {
                    return None;
                }
                Kind::Cast(attrs.dtype("DstT").ok()?)
            }
            _ if self.op == Some(Op::MatMul) => {
                let attrs = Attributes::new(self.signature(), attrs);
                Kind::MatMul(attrs.bool("transpose_a").ok()?, attrs.bool("transpose_b").ok()?)
            }
            _ => return None,
        };
        let of_operands = if matches!(kind, Kind::Cast(_)) { "SrcT" } else { "T" };
        let ty = attrs.ty(of_operands);
        (ty.is_some() || !attrs.has(of_operands)).then_some(Small { kind, ty })
    }
}

/// Gives the tensor that an elementwise operator writes to, from an operand of its shape and the operand's
/// number. Not generic: one copy of the functions of all dtypes is large.
type GiveOutput<'a, 'f> = dyn FnMut(&'a HostTensor, usize) -> Option<Cow<'a, HostTensor>> + 'f;

impl Small {
    /// True if the operator's function may overwrite an operand with its result.
    pub fn may_overwrite(&self) -> bool {
        matches!(self.kind, Kind::Unary(..) | Kind::Binary(..))
    }

    /// True if results equal those of the operator's function.
    pub fn is_exact(&self) -> bool {
        !matches!(self.kind, Kind::MatMul(..))
    }

    /// The result; `None` if the call declines the operands.
    pub fn call(&self, operands: &[&HostTensor], allocator: &Arc<dyn Allocator>) -> Option<HostTensor> {
        let dtype = self.dtype(operands)?;
        match (self.kind, operands) {
            (Kind::Compare(op), [a, b]) if is_alike(a, b) => match dtype {
                DType::F32 => compare::<f32>(op, a, b, allocator),
                DType::F64 => compare::<f64>(op, a, b, allocator),
                DType::I32 => compare::<i32>(op, a, b, allocator),
                DType::I64 => compare::<i64>(op, a, b, allocator),
                _ => with_element!(dtype, T => compare_pairs::<T>(op, a, b, allocator)),
            },
            (Kind::Compare(op), [a, b]) if a.dtype() == b.dtype() => {
                with_element!(dtype, T => compare_pairs::<T>(op, a, b, allocator))
            }
            (Kind::Cast(to), [x]) if is_small(x.shape()) => cast(x, to, &Cx::serial(allocator)).ok(),
            (Kind::MatMul(left, right), [a, b]) if a.dtype() == b.dtype() => match dtype {
                DType::F32 => product::<f32>((a, left), (b, right), allocator),
                DType::F64 => product::<f64>((a, left), (b, right), allocator),
                _ => None,
            },
            _ => self
                .elementwise(operands, &mut |x, _| x.copied(allocator).ok().map(Cow::Owned))
                .map(Cow::into_owned),
        }
    }

    /// Overwrites one of the operands with the result, one that `may` be overwritten and has its shape, and
    /// returns the number of that operand; `None` if the call declines the operands, which keep their
    /// elements. An operand that may be overwritten shares its memory with no other one.
    pub fn overwrite(&self, operands: &[&HostTensor], may: &dyn Fn(usize) -> bool) -> Option<usize> {
        self.dtype(operands)?;
        let mut overwritten = None;
        self.elementwise(operands, &mut |x, i| {
            overwritten = may(i).then_some(i);
            overwritten.map(|_| Cow::Borrowed(x))
        })?;
        overwritten
    }

    /// The element type of the first operand, unless an attribute contradicts it.
    fn dtype(&self, operands: &[&HostTensor]) -> Option<DType> {
        let dtype = operands.first()?.dtype();
        self.ty.is_none_or(|ty| ty == Type::Dense(dtype)).then_some(dtype)
    }

    /// The result of an elementwise operator, in what `place` gives for an operand of its shape, and the
    /// number of that: the operand itself or a copy.
    fn elementwise<'a>(
        &self,
        operands: &[&'a HostTensor],
        place: &mut GiveOutput<'a, '_>,
    ) -> Option<Cow<'a, HostTensor>> {
        match (self.kind, operands) {
            (Kind::Unary(op, function), &[x]) if is_small(x.shape()) => unary((op, function), x, place),
            (Kind::Binary(op, arithmetic), &[a, b]) if a.dtype() == b.dtype() => {
                binary((op, arithmetic), (a, b), larger(a, b)?, place)
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

/// The operand that has the shape of the result, if both are small and the other one has this shape too or is
/// a single element.
fn larger(a: &HostTensor, b: &HostTensor) -> Option<Over> {
    let (of_a, of_b) = (a.shape(), b.shape());
    let is_single =
        |shape: &Shape, beside: &Shape| shape.rank() <= beside.rank() && shape.num_elements() == 1;
    if of_a == of_b || is_single(of_b, of_a) {
        return is_small(of_a).then_some(Over::Left);
    }
    (is_single(of_a, of_b) && is_small(of_b)).then_some(Over::Right)
}

/// The result of a function of one tensor.
fn unary<'a>(
    (op, function): (Unary, Option<Function>),
    x: &'a HostTensor,
    place: &mut GiveOutput<'a, '_>,
) -> Option<Cow<'a, HostTensor>> {
    if let Some(function) = wide_of(op, x.dtype()) {
        let out = place(x, 0)?;
        match x.dtype() {
            DType::F64 => Isa::detect().map_wide(function, &mut out.write::<f64>().ok()?),
            _ => Isa::detect().map_wide_f32(function, &mut out.write::<f32>().ok()?),
        }
        return Some(out);
    }
    match (x.dtype(), function) {
        (DType::F32, Some(function)) => {
            let out = place(x, 0)?;
            Isa::detect().map(function, &mut out.write::<f32>().ok()?);
            Some(out)
        }
        // The operator's function computes them in f32.
        (DType::F16 | DType::BF16, Some(_)) => None,
        (dtype, _) => {
            let out = place(x, 0)?;
            with_element!(dtype, T => unary_in_place(op, &mut out.write::<T>().ok()?)?);
            Some(out)
        }
    }
}

/// The result of an arithmetic operator, in the shape of the operand `over`.
fn binary<'a>(
    (op, arithmetic): (Binary, Option<Arithmetic>),
    (a, b): (&'a HostTensor, &'a HostTensor),
    over: Over,
    place: &mut GiveOutput<'a, '_>,
) -> Option<Cow<'a, HostTensor>> {
    if op == Binary::Pow && over == Over::Left && is_square(a, b).ok()? {
        return unary((Unary::Square, function_of(Unary::Square)), a, place);
    }
    let (shaped, other, i) = if over == Over::Left { (a, b, 0) } else { (b, a, 1) };
    let mut place = || place(shaped, i);
    match (shaped.dtype(), op) {
        (DType::F32, _) => {
            if shaped.num_elements() == 1
                && let Some(f) = of_scalars(op)
            {
                let result = f(*a.read::<f32>().ok()?.first()?, *b.read::<f32>().ok()?.first()?);
                let out = place()?;
                *out.write::<f32>().ok()?.first_mut()? = result;
                return Some(out);
            }
            if op == Binary::Pow {
                return powers(a, b, place);
            }
            let Some(arithmetic) = arithmetic else { return pairs::<f32>(op, a, b, place) };
            let out = place()?;
            let other = other.read::<f32>().ok()?;
            Isa::detect().arithmetic(arithmetic, over, &mut out.write::<f32>().ok()?, &other);
            Some(out)
        }
        (DType::F64, Binary::Add) => zip::<f64>(place()?, other, over, |a, b| a + b),
        (DType::F64, Binary::Sub) => zip::<f64>(place()?, other, over, |a, b| a - b),
        (DType::F64, Binary::Mul) => zip::<f64>(place()?, other, over, |a, b| a * b),
        (DType::F64, Binary::RealDiv | Binary::Div) => zip::<f64>(place()?, other, over, |a, b| a / b),
        (DType::I32, Binary::Add) => zip(place()?, other, over, i32::wrapping_add),
        (DType::I32, Binary::Sub) => zip(place()?, other, over, i32::wrapping_sub),
        (DType::I32, Binary::Mul) => zip(place()?, other, over, i32::wrapping_mul),
        (DType::I64, Binary::Add) => zip(place()?, other, over, i64::wrapping_add),
        (DType::I64, Binary::Sub) => zip(place()?, other, over, i64::wrapping_sub),
        (DType::I64, Binary::Mul) => zip(place()?, other, over, i64::wrapping_mul),
        // The operator's function computes them in f32.
        (DType::F16 | DType::BF16, _) if arithmetic.is_some() => None,
        (dtype, _) => with_element!(dtype, T => pairs::<T>(op, a, b, place)),
    }
}

/// Each element of `a` and that of `b` at its place, or the only one, if they are few.
fn few<'a, T: Copy>(a: &'a [T], b: &'a [T]) -> Option<impl Iterator<Item = (T, T)> + 'a> {
    let n = a.len().max(b.len());
    (n <= FEW).then(|| a.iter().copied().cycle().zip(b.iter().copied().cycle()).take(n))
}

/// The result of an operator without machine instructions here, in what `place` gives: one that refuses no
/// pair of elements.
fn pairs<'a, T: Number>(
    op: Binary,
    a: &HostTensor,
    b: &HostTensor,
    place: impl FnOnce() -> Option<Cow<'a, HostTensor>>,
) -> Option<Cow<'a, HostTensor>> {
    let elements: SmallVec<[T; 8]> = {
        let (a, b) = (a.read::<T>().ok()?, b.read::<T>().ok()?);
        few(&a, &b)?.map(|(a, b)| binary_of_pair(op, a, b)).collect::<Option<_>>()?
    };
    let out = place()?;
    out.copy_from_slice(&elements).ok()?;
    Some(out)
}

/// Powers of few numbers, in what `place` gives.
fn powers<'a>(
    a: &HostTensor,
    b: &HostTensor,
    place: impl FnOnce() -> Option<Cow<'a, HostTensor>>,
) -> Option<Cow<'a, HostTensor>> {
    let (bases, exponents): (SmallVec<[f32; 8]>, SmallVec<[f32; 8]>) = {
        let (a, b) = (a.read::<f32>().ok()?, b.read::<f32>().ok()?);
        few(&a, &b)?.unzip()
    };
    let out = place()?;
    Isa::detect().powers(&bases, &exponents, &mut out.write::<f32>().ok()?);
    Some(out)
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

/// `f` of all pairs of elements, of which `other` has as many as `out`, or one, in place of those of `out`.
/// They are the left operand's if `over` says so.
fn zip<'a, T: Element>(
    out: Cow<'a, HostTensor>,
    other: &HostTensor,
    over: Over,
    f: impl Fn(T, T) -> T,
) -> Option<Cow<'a, HostTensor>> {
    let other = other.read::<T>().ok()?;
    let mut elements = out.write::<T>().ok()?;
    match (&*other, over) {
        (&[b], Over::Left) => elements.iter_mut().for_each(|a| *a = f(*a, b)),
        (&[a], Over::Right) => elements.iter_mut().for_each(|b| *b = f(a, *b)),
        (other, Over::Left) => elements.iter_mut().zip(other).for_each(|(a, &b)| *a = f(*a, b)),
        (other, Over::Right) => elements.iter_mut().zip(other).for_each(|(b, &a)| *b = f(a, *b)),
    }
    drop(elements);
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

/// A comparison of few elements, or with a single one.
fn compare_pairs<T: Number>(
    op: Compare,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Option<HostTensor> {
    if !T::Wide::ORDERED && !matches!(op, Compare::Equal | Compare::NotEqual) {
        return None;
    }
    let shape = if larger(a, b)? == Over::Left { a.shape() } else { b.shape() };
    let elements: SmallVec<[I1; 8]> = {
        let (a, b) = (a.read::<T>().ok()?, b.read::<T>().ok()?);
        few(&a, &b)?.map(|(a, b)| compare_of_pair(op, a, b)).collect()
    };
    HostTensor::from_slice(shape.clone(), &elements, allocator).ok()
}

/// The product of two matrices. The flag of each is true if it is transposed.
fn product<T: Element + Mul<Output = T> + Sum>(
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
    let out = HostTensor::allocate(T::DTYPE, Shape::new(&[rows, columns]).ok()?, allocator).ok()?;
    let (a, b) = (a.read::<T>().ok()?, b.read::<T>().ok()?);
    for (i, row) in out.write::<T>().ok()?.chunks_exact_mut(columns).enumerate() {
        for (j, out) in row.iter_mut().enumerate() {
            *out = (0..inner).map(|k| a[i * a_down + k * a_across] * b[k * b_down + j * b_across]).sum();
        }
    }
    Some(out)
}
