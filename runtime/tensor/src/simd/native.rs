//! Loops over slices of the integers and floats that programs use most, which the compiler vectorizes: for
//! the dtypes that the other modules, written for f32, do not know. Each loop of each dtype is code, so the
//! other dtypes are converted to one of these, or they are left to the reference.
//!
//! ```text
//! with_native!(dtype, T => ..) ─▶ T: Native ─┬─ zip, compare      two slices of one length
//!                                            ├─ reduce_row, ..    sums, products, extremes, in `Acc`
//!                                            └─ extreme, ..       the place of an extreme
//! ```
//!
//! Integers wrap around. Their sums and products are accumulated modulo 2^64, which is right modulo the range
//! of every shorter integer. Floats are accumulated in f64. Loops over floats have a version for AVX2, which
//! AVX-512 uses as well: most operands come from memory.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::across;
use super::zip::Comparison;
use super::{Isa, IsaKind};
use crate::{Element, I1};

/// The numbers that are reduced side by side: eight registers of AVX2 of 64-bit numbers.
const LANES: usize = 32;

/// The length of the parts of a row that are added up one after another. Longer rows are halved, so that the
/// error of a sum grows with the logarithm of the count.
const PART: usize = 1024;

/// A function of two numbers of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NativeOp {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient of floats.
    Div,
    /// The larger number; of floats NaN if either is.
    Max,
    /// The smaller number; of floats NaN if either is.
    Min,
    /// The square of the difference.
    SquaredDifference,
    /// The bits that are set in both integers.
    And,
    /// The bits that are set in one of the integers.
    Or,
    /// The bits that are set in exactly one of the integers.
    Xor,
    /// The integer times 2 to the power of a count, which is clamped to the width of the type.
    ShiftLeft,
    /// The integer divided by 2 to the power of a count, rounded down; the count is clamped.
    ShiftRight,
    /// The quotient of integers, rounded to zero; the number itself if the divisor is 0.
    TruncateDiv,
    /// The remainder of [`NativeOp::TruncateDiv`].
    TruncateMod,
    /// The quotient of integers, rounded down; the number itself if the divisor is 0.
    FloorDiv,
    /// The remainder of [`NativeOp::FloorDiv`].
    FloorMod,
    /// The number, or the limit if that is smaller; a limit that is NaN has no effect.
    AtMost,
    /// The number, or the limit if that is larger; a limit that is NaN has no effect.
    AtLeast,
}

impl NativeOp {
    /// True of divisions of integers, which have no result for a divisor of 0.
    pub(crate) fn is_division(self) -> bool {
        use NativeOp::{FloorDiv, FloorMod, TruncateDiv, TruncateMod};
        matches!(self, TruncateDiv | TruncateMod | FloorDiv | FloorMod)
    }
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NativeMap {
    /// `|x|`; that of the lowest integer is itself.
    Abs,
    /// `-x`.
    Neg,
    /// 1 or -1; 0 for zeros; NaN stays NaN.
    Sign,
    /// `x * x`.
    Square,
    /// `max(x, 0)`; NaN stays NaN, and -0 becomes 0.
    Relu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// The bits that are not set in an integer.
    Invert,
    /// `1 / x`, of floats, as the next five.
    Reciprocal,
    /// The square root.
    Sqrt,
    /// `1 / sqrt(x)`.
    Rsqrt,
    /// The smallest integer not below `x`.
    Ceil,
    /// The largest integer not above `x`.
    Floor,
    /// The nearest integer, ties to even.
    Round,
}

/// A function of two booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Both are true.
    And,
    /// One is true.
    Or,
    /// They are equal.
    Equal,
    /// They differ.
    NotEqual,
}

/// A reduction of many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// The sum.
    Sum,
    /// The sum of their squares.
    Squares,
    /// The product.
    Prod,
    /// The largest; NaN if one is NaN.
    Max,
    /// The smallest; NaN if one is NaN.
    Min,
}

/// A number of the machine.
pub(crate) trait Native: Element + PartialOrd {
    /// The type in which its sums are accumulated.
    type Acc: Copy + Send + PartialEq;

    /// `out = f(a, b)` for three slices of one length; false if the type lacks the function.
    fn zip(isa: Isa, op: NativeOp, a: &[Self], b: &[Self], out: &mut [Self]) -> bool;

    /// `out = f(x)` for two slices of one length; false if the type lacks the function.
    fn map(isa: Isa, map: NativeMap, x: &[Self], out: &mut [Self]) -> bool;

    /// True where the comparison of `a` and `b` holds, for three slices of one length.
    fn compare(isa: Isa, how: Comparison, a: &[Self], b: &[Self], out: &mut [I1]);

    /// The neutral element of a reduction, which is the result for no numbers.
    fn start(reduction: Reduction) -> Self::Acc;

    /// Combines two partial results.
    fn join(reduction: Reduction, a: Self::Acc, b: Self::Acc) -> Self::Acc;

    /// The result of a reduction as a number of this type.
    fn of_acc(acc: Self::Acc) -> Self;

    /// The square root of a sum of squares of floats.
    fn root(acc: Self::Acc) -> Self;

    /// The mean of `count` numbers with this sum; 0 for integers if there are none.
    fn mean(sum: Self::Acc, count: usize) -> Self;

    /// Reduces a row to a number.
    fn reduce_row(isa: Isa, reduction: Reduction, x: &[Self]) -> Self::Acc;

    /// Reduces each column of a matrix with row stride `stride` into `acc`.
    fn reduce_rows(isa: Isa, reduction: Reduction, x: &[Self], stride: usize, acc: &mut [Self::Acc]);

    /// The largest number of a row, or the smallest: the end of the type's range if it has none but NaN.
    fn extreme(isa: Isa, largest: bool, x: &[Self]) -> Self;

    /// Where a number of `x` is larger (or smaller) than `best`, or the first that is not NaN: updates `best`
    /// to it and `at` to `row`. All three have one length.
    fn keep_extremes(isa: Isa, largest: bool, row: i64, x: &[Self], best: &mut [Self], at: &mut [i64]);
}

/// Evaluates `$body` with `$t` as the Rust type of the [`DType`](crate::DType) `$dtype`, or `$other` if that
/// is no [`Native`] type.
macro_rules! with_native {
    ($dtype:expr, $t:ident => $body:expr, _ => $other:expr) => {
        $crate::simd::with_native!(@ $dtype, $t, $body, $other, UI8 u8, I32 i32, I64 i64, F32 f32, F64 f64)
    };
    (@ $dtype:expr, $t:ident, $body:expr, $other:expr, $($name:ident $ty:ident),*) => {
        match $dtype {
            $($crate::DType::$name => {
                type $t = $ty;
                $body
            })*
            _ => $other,
        }
    };
}
pub(crate) use with_native;

/// Expands to the loop for each of these functions, and to true; any other leaves the slices as they are, and
/// gives false.
macro_rules! each_loop {
    ($enum:ident $op:expr, $loop:ident $slices:tt: $($name:ident => $f:expr,)*) => {
        match $op {
            $($enum::$name => {
                $loop($slices, $f);
                true
            })*
            #[allow(unreachable_patterns, reason = "some types have all functions")]
            _ => false,
        }
    };
}

/// Arithmetic of the numbers of a type.
trait NativeLoops: Sized {
    fn zip(op: NativeOp, a: &[Self], b: &[Self], out: &mut [Self]) -> bool;
    fn map(map: NativeMap, x: &[Self], out: &mut [Self]) -> bool;
}

#[inline(always)]
fn each_pair<T: Copy, R>((a, b, out): (&[T], &[T], &mut [R]), f: impl Fn(T, T) -> R) {
    let n = out.len();
    let (a, b) = (&a[..n], &b[..n]);
    for i in 0..n {
        out[i] = f(a[i], b[i]);
    }
}

#[inline(always)]
fn each_number<T: Copy>((x, out): (&[T], &mut [T]), f: impl Fn(T) -> T) {
    let n = out.len();
    let x = &x[..n];
    for i in 0..n {
        out[i] = f(x[i]);
    }
}

macro_rules! integers {
    ($($ty:ident [$abs:expr, $sign:expr])*) => {$(
        impl NativeLoops for $ty {
            #[inline(always)]
            fn zip(op: NativeOp, a: &[$ty], b: &[$ty], out: &mut [$ty]) -> bool {
                const ZERO: $ty = 0;
                let last = $ty::BITS as $ty - 1;
                // A divisor of 0 was refused before.
                let divisor = |b: $ty| if b == 0 { 1 } else { b };
                each_loop!(NativeOp op, each_pair(a, b, out):
                    Add => $ty::wrapping_add,
                    Sub => $ty::wrapping_sub,
                    Mul => $ty::wrapping_mul,
                    Max => Ord::max,
                    Min => Ord::min,
                    AtMost => Ord::min,
                    AtLeast => Ord::max,
                    SquaredDifference => |a, b| a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b)),
                    And => |a, b| a & b,
                    Or => |a, b| a | b,
                    Xor => |a, b| a ^ b,
                    ShiftLeft => |a, b| a.wrapping_shl(b.clamp(0, last) as u32),
                    ShiftRight => |a, b| a.wrapping_shr(b.clamp(0, last) as u32),
                    TruncateDiv => |a, b| a.wrapping_div(divisor(b)),
                    TruncateMod => |a, b| a.wrapping_rem(divisor(b)),
                    FloorDiv => |a, b| {
                        let (quotient, rest) = (a.wrapping_div(divisor(b)), a.wrapping_rem(divisor(b)));
                        quotient.wrapping_sub($ty::from(rest != 0 && (rest < ZERO) != (b < ZERO)))
                    },
                    FloorMod => |a, b| {
                        let rest = a.wrapping_rem(divisor(b));
                        if rest != 0 && (rest < ZERO) != (b < ZERO) { rest.wrapping_add(b) } else { rest }
                    },
                )
            }

            #[inline(always)]
            fn map(map: NativeMap, x: &[$ty], out: &mut [$ty]) -> bool {
                each_loop!(NativeMap map, each_number(x, out):
                    Abs => $abs,
                    Neg => $ty::wrapping_neg,
                    Sign => $sign,
                    Square => |x| x.wrapping_mul(x),
                    Invert => |x| !x,
                    Round => |x| x,
                )
            }
        }
    )*};
}
integers! { u8 [|x| x, |x| x.min(1)] i32 [i32::wrapping_abs, i32::signum] i64 [i64::wrapping_abs, i64::signum] }

impl NativeLoops for f32 {
    /// The limits alone: the other functions of f32 are in `binary.rs` and `functions.rs`.
    #[inline(always)]
    fn zip(op: NativeOp, a: &[f32], b: &[f32], out: &mut [f32]) -> bool {
        each_loop!(NativeOp op, each_pair(a, b, out):
            AtMost => |a, b| if b < a { b } else { a },
            AtLeast => |a, b| if b > a { b } else { a },
        )
    }

    #[inline(always)]
    fn map(_: NativeMap, _: &[f32], _: &mut [f32]) -> bool {
        false
    }
}

impl NativeLoops for f64 {
    #[inline(always)]
    fn zip(op: NativeOp, a: &[f64], b: &[f64], out: &mut [f64]) -> bool {
        each_loop!(NativeOp op, each_pair(a, b, out):
            Add => |a, b| a + b,
            Sub => |a, b| a - b,
            Mul => |a, b| a * b,
            Div => |a, b| a / b,
            Max => |a, b| if a > b || a.is_nan() { a } else { b },
            Min => |a, b| if a < b || a.is_nan() { a } else { b },
            AtMost => |a, b| if b < a { b } else { a },
            AtLeast => |a, b| if b > a { b } else { a },
            SquaredDifference => |a, b| (a - b) * (a - b),
        )
    }

    #[inline(always)]
    fn map(map: NativeMap, x: &[f64], out: &mut [f64]) -> bool {
        each_loop!(NativeMap map, each_number(x, out):
            Abs => f64::abs,
            Neg => |x| -x,
            Sign => |x| if x == 0.0 || x.is_nan() { x.abs() } else { 1.0f64.copysign(x) },
            Square => |x| x * x,
            Relu => |x| if x <= 0.0 { 0.0 } else { x },
            Relu6 => |x| if x <= 0.0 { 0.0 } else { x.clamp(0.0, 6.0) },
            Reciprocal => |x| 1.0 / x,
            Sqrt => f64::sqrt,
            Rsqrt => |x| 1.0 / x.sqrt(),
            Ceil => f64::ceil,
            Floor => f64::floor,
            Round => f64::round_ties_even,
        )
    }
}

/// `out = f(a, b)` for three slices of one length.
pub(crate) fn truths(op: Truth, a: &[I1], b: &[I1], out: &mut [I1]) {
    each_loop!(Truth op, each_pair(a, b, out):
        And => |a, b| I1::from(a.is_true() & b.is_true()),
        Or => |a, b| I1::from(a.is_true() | b.is_true()),
        Equal => |a, b| I1::from(a == b),
        NotEqual => |a, b| I1::from(a != b),
    );
}

/// A number as its accumulator.
trait Accumulated<Acc>: Copy {
    fn widened(self) -> Acc;
}

macro_rules! accumulated {
    ($($ty:ident => $acc:ident)*) => {$(
        impl Accumulated<$acc> for $ty {
            #[inline(always)]
            fn widened(self) -> $acc {
                $acc::from(self)
            }
        }
    )*};
}
accumulated! { u8 => u64 i32 => i64 i64 => i64 f32 => f64 f64 => f64 }

/// A type in which numbers are accumulated.
trait Accumulator: Copy {
    /// The neutral element of a sum or a product; extremes begin at the ends of the numbers' type.
    fn start(reduction: Reduction) -> Self;
    /// Adds one number.
    fn step(self, reduction: Reduction, x: Self) -> Self;
}

impl Accumulator for f64 {
    #[inline(always)]
    fn start(reduction: Reduction) -> f64 {
        if reduction == Reduction::Prod { 1.0 } else { 0.0 }
    }

    #[inline(always)]
    fn step(self, reduction: Reduction, x: f64) -> f64 {
        let chosen = |is_better: bool| if is_better || x.is_nan() { x } else { self };
        match reduction {
            Reduction::Sum => self + x,
            Reduction::Squares => self + x * x,
            Reduction::Prod => self * x,
            Reduction::Max => chosen(x > self),
            Reduction::Min => chosen(x < self),
        }
    }
}

macro_rules! integer_accumulators {
    ($($ty:ident)*) => {$(
        impl Accumulator for $ty {
            #[inline(always)]
            fn start(reduction: Reduction) -> $ty {
                if reduction == Reduction::Prod { 1 } else { 0 }
            }

            #[inline(always)]
            fn step(self, reduction: Reduction, x: $ty) -> $ty {
                match reduction {
                    Reduction::Sum => self.wrapping_add(x),
                    Reduction::Squares => self.wrapping_add(x.wrapping_mul(x)),
                    Reduction::Prod => self.wrapping_mul(x),
                    Reduction::Max => self.max(x),
                    Reduction::Min => self.min(x),
                }
            }
        }
    )*};
}
integer_accumulators! { i64 u64 }

#[inline(always)]
fn joined<A: Accumulator>(reduction: Reduction, a: A, b: A) -> A {
    a.step(if reduction == Reduction::Squares { Reduction::Sum } else { reduction }, b)
}

/// Expands to one loop per kind of reduction.
macro_rules! each_kind {
    ($reduction:expr, $kind:ident => $body:expr, $($name:ident)*, $($other:ident => $result:expr,)*) => {
        match $reduction {
            $(Reduction::$name => {
                let $kind = Reduction::$name;
                $body
            })*
            $(Reduction::$other => $result,)*
        }
    };
}

#[inline(always)]
fn part_of_row<T, A>(reduction: Reduction, [low, high]: [T; 2], x: &[T]) -> A
where
    T: Accumulated<A> + PartialOrd,
    A: Accumulator,
{
    each_kind!(reduction, kind => {
        let mut lanes = [A::start(kind); LANES];
        let (blocks, rest) = x.as_chunks::<LANES>();
        for block in blocks {
            for j in 0..LANES {
                lanes[j] = lanes[j].step(kind, block[j].widened());
            }
        }
        let mut acc = A::start(kind);
        for &x in rest {
            acc = acc.step(kind, x.widened());
        }
        joined(kind, acc, across(lanes, |a, b| joined(kind, a, b)))
    }, Sum Squares Prod,
    Max => extreme_or_nan::<true, T>(low, x).widened(),
    Min => extreme_or_nan::<false, T>(high, x).widened(),)
}

#[inline(always)]
fn rows<T: Accumulated<A>, A: Accumulator>(reduction: Reduction, x: &[T], stride: usize, acc: &mut [A]) {
    each_kind!(reduction, kind => {
        for x in x.chunks(stride.max(1)) {
            let x = &x[..acc.len()];
            for i in 0..acc.len() {
                acc[i] = acc[i].step(kind, x[i].widened());
            }
        }
    }, Sum Squares Prod Max Min,);
}

/// The largest number of a row that is not NaN, or `start`. `LARGEST` is false for the smallest.
#[inline(always)]
fn extreme<const LARGEST: bool, T: Copy + PartialOrd>(start: T, x: &[T]) -> T {
    best(start, x, |a: T, b: T| if (LARGEST && a > b) || (!LARGEST && a < b) { a } else { b })
}

/// [`extreme`], or NaN if a number is.
#[inline(always)]
#[allow(clippy::eq_op, reason = "a number that differs from itself is NaN, in a loop over any type")]
fn extreme_or_nan<const LARGEST: bool, T: Copy + PartialOrd>(start: T, x: &[T]) -> T {
    best(start, x, |a: T, b: T| if (if LARGEST { a > b } else { a < b }) | (a != a) { a } else { b })
}

/// The number of a row, or `start`, that is better than all others. `better(a, b)` is one of the two.
#[inline(always)]
fn best<T: Copy>(start: T, x: &[T], better: impl Fn(T, T) -> T + Copy) -> T {
    let mut lanes = [start; 2 * LANES];
    let (blocks, rest) = x.as_chunks::<{ 2 * LANES }>();
    for block in blocks {
        for j in 0..2 * LANES {
            lanes[j] = better(block[j], lanes[j]);
        }
    }
    rest.iter().fold(across(lanes, better), |best, &x| better(x, best))
}

#[inline(always)]
#[allow(clippy::eq_op, reason = "a number that differs from itself is NaN, in a loop over any type")]
fn keep_extremes<const LARGEST: bool, T: Copy + PartialOrd>(
    row: i64,
    x: &[T],
    best: &mut [T],
    at: &mut [i64],
) {
    let n = best.len();
    let (x, at) = (&x[..n], &mut at[..n]);
    for i in 0..n {
        let is_better = if LARGEST { x[i] > best[i] } else { x[i] < best[i] };
        let is_better = is_better | ((best[i] != best[i]) & (x[i] == x[i]));
        best[i] = if is_better { x[i] } else { best[i] };
        at[i] = if is_better { row } else { at[i] };
    }
}

/// An inlinable expression: of floats compiled for AVX2 and without target features, of integers only
/// without.
macro_rules! compiled_for {
    (integers, $isa:expr, |$($arg:ident: $type:ty),*| $(-> $result:ty)? { $body:expr }) => {{
        let _ = $isa;
        $body
    }};
    (floats, $isa:expr, |$($arg:ident: $type:ty),*| $(-> $result:ty)? { $body:expr }) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn avx2($($arg: $type),*) $(-> $result)? {
            $body
        }
        dispatch!($isa, $body, avx2($($arg),*), avx2($($arg),*))
    }};
}

macro_rules! natives {
    ($kind:ident: $($ty:ident $acc:ident [$low:expr, $high:expr] $mean:expr;)*) => {$(
        impl Native for $ty {
            type Acc = $acc;

            fn zip(isa: Isa, op: NativeOp, a: &[$ty], b: &[$ty], out: &mut [$ty]) -> bool {
                compiled_for!($kind, isa, |op: NativeOp, a: &[$ty], b: &[$ty], out: &mut [$ty]| -> bool {
                    <$ty as NativeLoops>::zip(op, a, b, out)
                })
            }

            fn map(isa: Isa, map: NativeMap, x: &[$ty], out: &mut [$ty]) -> bool {
                compiled_for!($kind, isa, |map: NativeMap, x: &[$ty], out: &mut [$ty]| -> bool {
                    <$ty as NativeLoops>::map(map, x, out)
                })
            }

            fn compare(isa: Isa, how: Comparison, a: &[$ty], b: &[$ty], out: &mut [I1]) {
                compiled_for!($kind, isa, |how: Comparison, a: &[$ty], b: &[$ty], out: &mut [I1]| { compare_slices(how, a, b, out) });
            }

            fn start(reduction: Reduction) -> $acc {
                match reduction {
                    Reduction::Max => $low as $acc,
                    Reduction::Min => $high as $acc,
                    other => <$acc as Accumulator>::start(other),
                }
            }

            fn join(reduction: Reduction, a: $acc, b: $acc) -> $acc {
                joined(reduction, a, b)
            }

            fn of_acc(acc: $acc) -> $ty {
                acc as $ty
            }

            fn root(acc: $acc) -> $ty {
                (acc as f64).sqrt() as $ty
            }

            fn mean(sum: $acc, count: usize) -> $ty {
                let mean: fn($acc, usize) -> $acc = $mean;
                mean(sum, count) as $ty
            }

            fn reduce_row(isa: Isa, reduction: Reduction, x: &[$ty]) -> $acc {
                if x.len() > PART && !matches!(reduction, Reduction::Max | Reduction::Min) {
                    let (left, right) = x.split_at(x.len().div_ceil(2).next_multiple_of(LANES));
                    return joined(
                        reduction,
                        Self::reduce_row(isa, reduction, left),
                        Self::reduce_row(isa, reduction, right),
                    );
                }
                compiled_for!($kind, isa, |reduction: Reduction, x: &[$ty]| -> $acc {
                    part_of_row(reduction, [$low, $high], x)
                })
            }

            fn reduce_rows(isa: Isa, reduction: Reduction, x: &[$ty], stride: usize, acc: &mut [$acc]) {
                compiled_for!($kind, isa, |reduction: Reduction, x: &[$ty], stride: usize, acc: &mut [$acc]| {
                    rows(reduction, x, stride, acc)
                });
            }

            fn extreme(isa: Isa, largest: bool, x: &[$ty]) -> $ty {
                compiled_for!($kind, isa, |largest: bool, x: &[$ty]| -> $ty {
                    if largest { extreme::<true, $ty>($low, x) } else { extreme::<false, $ty>($high, x) }
                })
            }

            fn keep_extremes(isa: Isa, largest: bool, row: i64, x: &[$ty], best: &mut [$ty], at: &mut [i64]) {
                compiled_for!($kind, isa, |largest: bool, row: i64, x: &[$ty], best: &mut [$ty], at: &mut [i64]| {
                    if largest {
                        keep_extremes::<true, $ty>(row, x, best, at)
                    } else {
                        keep_extremes::<false, $ty>(row, x, best, at)
                    }
                });
            }
        }
    )*};
}
natives! { integers:
    u8 u64 [u8::MIN, u8::MAX] |sum, n| sum.checked_div(n as u64).unwrap_or(0);
    i32 i64 [i32::MIN, i32::MAX] |sum, n| sum.checked_div(n as i64).unwrap_or(0);
    i64 i64 [i64::MIN, i64::MAX] |sum, n| sum.checked_div(n as i64).unwrap_or(0);
}
natives! { floats:
    f32 f64 [f32::NEG_INFINITY, f32::INFINITY] |sum, n| sum / n as f64;
    f64 f64 [f64::NEG_INFINITY, f64::INFINITY] |sum, n| sum / n as f64;
}

/// True where the comparison of `a` and `b` holds, for three slices of one length.
#[inline(always)]
pub(crate) fn compare_slices<T: Copy + PartialOrd>(how: Comparison, a: &[T], b: &[T], out: &mut [I1]) {
    each_loop!(Comparison how, each_pair(a, b, out):
        Less => |a, b| I1::from(a < b),
        LessEqual => |a, b| I1::from(a <= b),
        Equal => |a, b| I1::from(a == b),
        NotEqual => |a, b| I1::from(a != b),
    );
}
