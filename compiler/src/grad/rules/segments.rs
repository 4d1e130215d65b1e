//! Reductions of rows by segment. The gradient of a row is that of its segment.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::Vjp;

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::SegmentSum => Rule(|g| g.dx(0, rows(g, g.d()))),
        Op::SegmentMean => Rule(|g| {
            let ids = g.x(1);
            let ones = ids.number(1.0).broadcast_like(ids).cast_like(g.d());
            let n = by_segment(g, Op::SegmentSum, ones);
            g.dx(0, rows(g, g.d()) / beside(rows(g, n), g.x(0)));
        }),
        Op::SegmentMax | Op::SegmentMin => Rule(|g| extreme(g, Op::SegmentSum)),
        Op::SegmentProd => Rule(|g| product(g, Op::SegmentSum, Op::SegmentProd)),
        Op::UnsortedSegmentSum => Rule(|g| g.dx(0, rows(g, g.d()))),
        Op::UnsortedSegmentMax | Op::UnsortedSegmentMin => Rule(|g| extreme(g, Op::UnsortedSegmentSum)),
        Op::UnsortedSegmentProd => Rule(|g| product(g, Op::UnsortedSegmentSum, Op::UnsortedSegmentProd)),
        _ => return None,
    })
}

/// The same reduction of other data.
fn by_segment<'g>(g: &'g Vjp<'_, '_>, op: Op, data: Val<'g>) -> Val<'g> {
    let operands: Vec<Val<'_>> = std::iter::once(data).chain((1..g.n_x()).map(|i| g.x(i))).collect();
    g.op(op, &operands, &[])
}

/// For each row the value of its segment. Rows with a negative segment number are in no segment and get
/// zeros.
fn rows<'g>(g: &'g Vjp<'_, '_>, of_segments: Val<'g>) -> Val<'g> {
    let ids = g.x(1);
    if g.n_x() == 2 {
        return of_segments.gather(ids);
    }
    let zero = ids.number(0.0);
    let found = of_segments.gather(ids.bin(Op::Maximum, zero));
    found.only(beside(ids.bin(Op::GreaterEqual, zero), g.x(0)))
}

/// A value per row, with axes of size 1 appended, so that it broadcasts to `data`.
fn beside<'g>(value: Val<'g>, data: Val<'g>) -> Val<'g> {
    match (value.rank(), data.rank()) {
        (Some(n), Some(rank)) => (n..rank).fold(value, |value, _| value.expand(-1)),
        _ => {
            let more = (data.rank_value() - value.rank_value()).expand(0);
            let ones = data.op(Op::Fill, &[more, data.int(1)], &[]);
            value.reshape(Val::concat(&[value.shape(), ones], 0))
        }
    }
}

/// Elements equal to a segment's maximum or minimum share its gradient.
fn extreme(g: &Vjp<'_, '_>, sum: Op) {
    let is_it = g.x(0).bin(Op::Equal, rows(g, g.y(0)));
    let n = by_segment(g, sum, is_it.cast_like(g.d()));
    g.dx(0, rows(g, g.d() / n).only(is_it));
}

/// An element's derivative is the product of the others in its segment. For a single zero it is the product
/// of the nonzero elements; in a segment with two zeros it is zero.
fn product(g: &Vjp<'_, '_>, sum: Op, prod: Op) {
    let x = g.x(0);
    let is_zero = x.bin(Op::Equal, x.number(0.0));
    let n_zeros = by_segment(g, sum, is_zero.cast(DType::I32));
    let d = n_zeros.bin(Op::Greater, n_zeros.number(1.0)).select(g.d().number(0.0), g.d());
    let without_zeros = by_segment(g, prod, is_zero.select(x.number(1.0), x));
    let quotient = rows(g, g.y(0)).bin(Op::DivNoNan, x);
    g.dx(0, rows(g, d) * is_zero.select(rows(g, without_zeros), quotient));
}
