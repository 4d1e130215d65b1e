//! Fourier transforms. The adjoint of a transform is its inverse times the number of elements.

use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::FFT => Rule(|g| g.dx(0, g.d().un(Op::IFFT) * count(g, 1))),
        Op::FFT2D => Rule(|g| g.dx(0, g.d().un(Op::IFFT2D) * count(g, 2))),
        Op::FFT3D => Rule(|g| g.dx(0, g.d().un(Op::IFFT3D) * count(g, 3))),
        Op::IFFT => Rule(|g| g.dx(0, g.d().un(Op::FFT) / count(g, 1))),
        Op::IFFT2D => Rule(|g| g.dx(0, g.d().un(Op::FFT2D) / count(g, 2))),
        Op::IFFT3D => Rule(|g| g.dx(0, g.d().un(Op::FFT3D) / count(g, 3))),
        Op::RFFT => Rule(|g| from_real(g, Op::IFFT)),
        Op::RFFT2D => Rule(|g| from_real(g, Op::IFFT2D)),
        Op::RFFT3D => Rule(|g| from_real(g, Op::IFFT3D)),
        Op::IRFFT => Rule(|g| to_real(g, Op::RFFT)),
        Op::IRFFT2D => Rule(|g| to_real(g, Op::RFFT2D)),
        Op::IRFFT3D => Rule(|g| to_real(g, Op::RFFT3D)),
        _ => return None,
    })
}

/// The number of elements of the last axes, as a complex number.
fn count<'g>(g: &'g Vjp<'_, '_>, rank: i64) -> Val<'g> {
    let sizes = (1..=rank).map(|axis| g.d().size(-axis));
    let n = sizes.reduce(|a, b| a * b).unwrap_or_else(|| g.int_value(1));
    n.cast_like(g.d())
}

/// The number of elements that are transformed.
fn transformed<'g>(g: &'g Vjp<'_, '_>) -> Val<'g> {
    g.op(Op::Prod, &[g.x(1), g.int_value(0)], &[])
}

/// A value with its last axes padded with zeros, or cut, to `sizes`, a vector of i32.
fn fit<'g>(g: &'g Vjp<'_, '_>, value: Val<'g>, sizes: Val<'g>) -> Val<'g> {
    let n = sizes.size(0);
    let rank = value.rank_value();
    let before = value.shape().slice(g.ints_value(&[0]), (rank - n).expand(0));
    let target = Val::concat(&[before, sizes], 0);
    let zero = value.shape().un(Op::ZerosLike);
    let kept = value.slice(zero, value.shape().bin(Op::Minimum, target));
    let more = target - kept.shape();
    kept.bin(Op::Pad, g.op(Op::Pack, &[zero, more], &[("axis", At::Int(1))]))
}

/// The gradient of a transform of real numbers. Its result is the first half of a complex transform's; the
/// second half counts as zero.
fn from_real(g: &Vjp<'_, '_>, inverse: Op) {
    let (x, lengths, d) = (g.x(0), g.x(1), g.d());
    let n = transformed(g);
    let whole = fit(g, d, lengths);
    let found = whole.un(inverse).part(Op::Real) * n.cast_like(x);
    let own = x.shape().slice((x.rank_value() - lengths.size(0)).expand(0), g.ints_value(&[-1]));
    g.dx(0, fit(g, found, own));
}

/// The gradient of a transform to real numbers. Each element of a row of its operand stands for two, except
/// for the first one and, if the length is even, the last one.
fn to_real(g: &Vjp<'_, '_>, forward: Op) {
    let (x, lengths, d) = (g.x(0), g.x(1), g.d());
    let types = [g.tensor_type(None, x.element())];
    let half = g.typed(forward, &[d, lengths], &[], &types)[0];
    let n = lengths.element_at(-1);
    let at = half.range(n.bin(Op::FloorDiv, g.int_value(2)) + g.int_value(1));
    let is_once =
        at.bin(Op::Equal, g.int_value(0)).bin(Op::LogicalOr, (at * g.int_value(2)).bin(Op::Equal, n));
    let weight = is_once.select(d.number(1.0), d.number(2.0)) / transformed(g).cast_like(d);
    let found = half * weight.as_complex().cast_like(half);
    let own = x.shape().slice((x.rank_value() - lengths.size(0)).expand(0), g.ints_value(&[-1]));
    g.dx(0, fit(g, found, own));
}
