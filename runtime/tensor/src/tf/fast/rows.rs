//! Blockwise traversal of a result and two operands that broadcast.
//!
//! Within a block, one operand is contiguous. The other one is contiguous as well, or a single element, or a
//! row that repeats. The outer axes determine the position of each block in the operands.

use super::super::walk::{Axis, broadcast_axes};
use super::BLOCK;
use crate::Shape;
use crate::simd::Over;

/// The blocks of a result.
pub(super) struct Blocks {
    outer: Vec<Axis>,
    /// The number of elements of the result in a block.
    pub(super) len: usize,
    /// The number of elements of each operand in a block.
    pub(super) a: usize,
    pub(super) b: usize,
}

impl Blocks {
    /// The blocks of a nonempty result.
    pub(super) fn new(a: &Shape, b: &Shape, to: &Shape) -> Blocks {
        let mut outer = broadcast_axes(a, b, to);
        let last = outer.pop().unwrap_or(Axis { len: 1, a: 0, b: 0 });
        let taken = |step: usize| if step == 0 { 1 } else { last.len };
        let mut blocks = Blocks { outer, len: last.len, a: taken(last.a), b: taken(last.b) };
        // A block extends over the next axis if a short row of one operand repeats along it.
        if let Some(&rows) = blocks.outer.last()
            && blocks.len <= BLOCK / 2
        {
            let len = rows.len * blocks.len;
            if blocks.a == blocks.len && rows.a == blocks.len && rows.b == 0 {
                (blocks.a, blocks.len) = (len, len);
                blocks.outer.pop();
            } else if blocks.b == blocks.len && rows.b == blocks.len && rows.a == 0 {
                (blocks.b, blocks.len) = (len, len);
                blocks.outer.pop();
            }
        }
        blocks
    }

    /// The operand that is contiguous in a block.
    pub(super) fn even(&self) -> Over {
        if self.a == self.len { Over::Left } else { Over::Right }
    }

    /// The unit of parts of the result: a block, or a piece if there is only one block.
    pub(super) fn unit(&self) -> usize {
        if self.outer.is_empty() { self.piece() } else { self.len }
    }

    /// The length of the pieces of a block that are processed at a time: a multiple of the repeated row.
    fn piece(&self) -> usize {
        let row = if self.even() == Over::Left { self.b } else { self.a };
        if row == self.len || row == 1 { BLOCK } else { (BLOCK / row).max(1) * row }
    }

    /// The start of block `i` in each operand.
    fn starts(&self, mut i: usize) -> (usize, usize) {
        let (mut a, mut b) = (0, 0);
        for axis in self.outer.iter().rev() {
            let at = i % axis.len;
            i /= axis.len;
            a += at * axis.a;
            b += at * axis.b;
        }
        (a, b)
    }

    /// Calls `f(piece, a, b)` for each piece of `out`, which is a part of whole units that begins at element
    /// `first` of the result. `a` and `b` are the matching elements of the operands: as many as the piece
    /// has, a row that repeats, or a single element.
    pub(super) fn each<A, B, T>(
        &self,
        first: usize,
        out: &mut [T],
        (a, b): (&[A], &[B]),
        mut f: impl FnMut(&mut [T], &[A], &[B]),
    ) {
        let piece = self.piece();
        let (mut i, mut at) = (first / self.len, first % self.len);
        for block in out.chunks_mut(self.len) {
            let (start_a, start_b) = self.starts(i);
            let (a, b) = (&a[start_a..start_a + self.a], &b[start_b..start_b + self.b]);
            for piece in block.chunks_mut(piece) {
                let end = at + piece.len();
                let a = if self.a == self.len { &a[at..end] } else { a };
                let b = if self.b == self.len { &b[at..end] } else { b };
                f(piece, a, b);
                at = end;
            }
            (i, at) = (i + 1, 0);
        }
    }
}
