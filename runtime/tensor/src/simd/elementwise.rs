//! Functions of each element of a slice, or of the elements of two: a loop per function and instruction set.

use super::binary::{self, Arithmetic, Over};
use super::functions::{self, Function};
use super::layout::FUSED;
use super::update::{MAX_RATES, Update, update};
use super::zip::{self, Zip};
use super::{Isa, IsaKind};

impl Isa {
    /// `x = op(x, y)` for each element, or `op(y, x)` over the right operand. `y` is repeated along `x`: a
    /// tensor of the same size, a row or a single number.
    ///
    /// # Panics
    /// If the length of `x` is not a multiple of that of `y`.
    pub fn arithmetic(self, op: Arithmetic, over: Over, x: &mut [f32], y: &[f32]) {
        assert!(x.len().is_multiple_of(y.len()), "{} elements with {}", x.len(), y.len());
        compiled!(
            self,
            |op: Arithmetic, over: Over, x: &mut [f32], y: &[f32]| binary::run(op, over, x, y),
            binary::run(op, over, x, y)
        );
    }

    /// `to = f(a, b)` for each element. Each operand has as many elements as `to`, or one.
    pub(crate) fn zip(self, zip: Zip, a: &[f32], b: &[f32], to: &mut [f32]) {
        compiled!(
            self,
            |zip: Zip, a: &[f32], b: &[f32], to: &mut [f32]| zip::run(zip, a, b, to),
            zip::run(zip, a, b, to)
        );
    }

    /// `to = a` where a flag, an i32 in the bits of a float, is not 0. Flags and operands have as many
    /// elements as `to`, or one.
    pub(crate) fn choose(self, flags: &[f32], a: &[f32], to: &mut [f32]) {
        compiled!(
            self,
            |flags: &[f32], a: &[f32], to: &mut [f32]| zip::choose(flags, a, to),
            zip::choose(flags, a, to)
        );
    }

    /// `to = x`, where `x` has i32 in the bits of floats: as many as `to`, or one.
    pub(crate) fn to_floats(self, x: &[f32], to: &mut [f32]) {
        compiled!(self, |x: &[f32], to: &mut [f32]| zip::to_floats(x, to), zip::to_floats(x, to));
    }

    /// `x = (x - mean) * factor + offset`. The three are rows of one length or single numbers; the length of
    /// `x` is a multiple of theirs.
    pub(crate) fn normalize(self, mean: &[f32], factor: &[f32], offset: &[f32], x: &mut [f32]) {
        compiled!(
            self,
            |mean: &[f32], factor: &[f32], offset: &[f32], x: &mut [f32]| {
                binary::normalize::<FUSED>((mean, factor, offset), x);
            },
            binary::normalize::<true>((mean, factor, offset), x)
        );
    }

    /// Updates elements of a variable and its slots by the same number of elements of a gradient.
    pub(crate) fn update(
        self,
        rule: Update,
        rates: &[f32; MAX_RATES],
        state: &mut [&mut [f32]],
        grad: &[f32],
    ) {
        compiled!(
            self,
            |rule: Update, rates: &[f32; MAX_RATES], state: &mut [&mut [f32]], grad: &[f32]| {
                update(rule, rates, state, grad);
            },
            update(rule, rates, state, grad)
        );
    }

    /// `x = function(x)` for each element.
    pub fn map(self, function: Function, x: &mut [f32]) {
        compiled!(
            self,
            |function: Function, x: &mut [f32]| functions::map::<FUSED>(function, x),
            functions::map::<true>(function, x)
        );
    }

    /// `to = function(x)` for each element: computed while `x` is read, or in a copy if that takes longer.
    /// `x` has as many elements as `to`, or one.
    ///
    /// # Panics
    /// If it has another number of elements.
    pub fn map_to(self, function: Function, x: &[f32], to: &mut [f32]) {
        let done = &mut false;
        if x.len() == to.len() {
            compiled!(
                self,
                |function: Function, x: &[f32], to: &mut [f32], done: &mut bool| {
                    *done = functions::map_to::<FUSED>(function, x, to);
                },
                *done = functions::map_to::<true>(function, x, to)
            );
        }
        if !*done {
            zip::fill(x, to);
            self.map(function, to);
        }
    }
}
