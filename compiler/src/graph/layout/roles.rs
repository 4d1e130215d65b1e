//! Roles of operands and results in a layout conversion.
//!
//! A row of the table of operators has a letter for each operand and, after `>`, for each result. The letter
//! before `*` stands for any number of values.
//!
//! ```text
//! i   an image: transposed                              .   independent of the layout
//! b   broadcast: an image, or reshaped at lower rank    e   an image or a scalar
//! g   an image, or independent at any other rank        a   axes, a constant: renumbered
//! r   a row for each axis (sizes, paddings): permuted   k   a reduced image; its axes must keep their order
//! f   an image that is flattened in the same order
//! ```
//!
//! Attributes are converted by their names, for all operators.

use super::{Layout, Permutation};
use crate::build::query::{has_no_edges, int_list, ints, shape};
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{AttrKind, DYNAMIC, Module, OpId, ValueId};
use befrost_tensor::tf::op::{Attrs as _, Class, Op};

/// The role of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueRole {
    /// Transposed.
    Image,
    /// Independent of the layout.
    Same,
    /// A tensor of lower rank that is broadcast to the image.
    Broadcast,
    /// One row per axis.
    Rows,
    /// Indices of axes.
    Axes,
}

/// The roles of an op's operands and results.
#[derive(Clone, Debug)]
pub(super) struct OpRole {
    pub operands: Vec<ValueRole>,
    pub results: Vec<ValueRole>,
}

/// The letters of `n` values.
fn spread(letters: &str, n: usize) -> Option<Vec<u8>> {
    let letters = letters.as_bytes();
    let Some(star) = letters.iter().position(|&letter| letter == b'*') else {
        return (letters.len() == n).then(|| letters.to_vec());
    };
    let (before, after) = (&letters[..star], &letters[star + 1..]);
    let n_more = (n + 1).checked_sub(before.len() + after.len())?;
    let (repeated, before) = before.split_last()?;
    Some([before, &vec![*repeated; n_more], after].concat())
}

fn rank(m: &Module, value: ValueId) -> Option<usize> {
    shape(m, value).map(<[i64]>::len)
}

fn is_image(m: &Module, value: ValueId) -> bool {
    rank(m, value) == Some(4)
}

/// The layout in an op's `data_format`.
pub(super) fn written(m: &Module, op: OpId) -> Option<Layout> {
    let signature = tf::row(m, op)?.signature();
    signature.attr("data_format")?;
    match tf::attrs_of(m, op, signature).string("data_format").as_deref() {
        Some(b"NCHW") => Some(Layout::Nchw),
        Some(b"NHWC") | None => Some(Layout::Nhwc),
        _ => None,
    }
}

/// The roles of a convertible op, for either layout.
pub(super) fn of(m: &Module, op: OpId) -> Option<OpRole> {
    if !has_no_edges(m, op) {
        return None;
    }
    let (inputs, outputs) = tf::row(m, op)?.layout()?.split_once('>')?;
    let operands: Vec<ValueRole> = spread(inputs, m.n_operands(op))?
        .into_iter()
        .zip(m.operands(op))
        .map(|(letter, value)| operand(m, letter, value))
        .collect::<Option<_>>()?;
    let results: Vec<ValueRole> = spread(outputs, m.n_results(op))?
        .into_iter()
        .zip(m.results(op))
        .map(|(letter, value)| match letter {
            b'i' => is_image(m, value).then_some(ValueRole::Image),
            b'k' if is_image(m, value) => Some(ValueRole::Image),
            b'r' => Some(ValueRole::Rows),
            _ => Some(ValueRole::Same),
        })
        .collect::<Option<_>>()?;
    (operands.contains(&ValueRole::Image) && attributes_fit(m, op)).then_some(OpRole { operands, results })
}

fn operand(m: &Module, letter: u8, value: ValueId) -> Option<ValueRole> {
    let rank = rank(m, value);
    match (letter, rank) {
        (b'i' | b'f' | b'b' | b'g' | b'e', Some(4)) => Some(ValueRole::Image),
        (b'b' | b'e', Some(0)) | (b'g', Some(_)) => Some(ValueRole::Same),
        (b'b', Some(1..4)) => {
            let dims = shape(m, value)?;
            let n_wide = dims.iter().filter(|&&dim| dim != 1).count();
            let known = !dims.contains(&DYNAMIC);
            (known && (n_wide <= 1 || constant_of(m, value).is_some())).then_some(ValueRole::Broadcast)
        }
        (b'r', Some(1 | 2)) => (shape(m, value)?.first() == Some(&4)).then_some(ValueRole::Rows),
        (b'a', _) => ints(m, value)
            .filter(|axes| axes.iter().all(|axis| (-4..4).contains(axis)))
            .map(|_| ValueRole::Axes),
        (b'.', _) => Some(ValueRole::Same),
        _ => None,
    }
}

/// True if all attributes that depend on the layout can be converted.
fn attributes_fit(m: &Module, op: OpId) -> bool {
    let n = |attr: &str| int_list(m, op, attr).map(|list| list.len());
    let number = |attr: &str| m.attr_named(op, attr).and_then(|attr| m.cx.as_int(attr)).unwrap_or(0);
    n("strides").is_none_or(|n| n == 4)
        && n("ksize").is_none_or(|n| n == 4)
        && n("dilations").is_none_or(|n| n == 4 || n == 0)
        && n("explicit_paddings").is_none_or(|n| n == 8 || n == 0)
        && n("squeeze_dims").is_none_or(|n| n > 0)
        && ["ellipsis_mask", "new_axis_mask", "shrink_axis_mask"].iter().all(|mask| number(mask) == 0)
        && m.attr_named(op, "filter_format").is_none_or(
            |attr| matches!(m.cx.attr(attr), AttrKind::Str { text, .. } if m.cx.str(*text) == "HWIO"),
        )
}

/// Axes of an image as non-negative indices.
pub(super) fn axes(numbers: &[i64]) -> Vec<usize> {
    numbers.iter().map(|&axis| if axis < 0 { axis + 4 } else { axis } as usize).collect()
}

/// The index of an axis after the permutation.
pub(super) fn permuted_axis(order: &Permutation, axis: usize) -> usize {
    order.iter().position(|&from| from == axis).unwrap_or(axis)
}

/// True if an op that is written for `written` can be converted.
pub(super) fn fits(m: &Module, op: OpId, written: Layout) -> bool {
    let order = written.other().order();
    let in_order = |kept: &[usize]| {
        let permuted: Vec<usize> = kept.iter().map(|&axis| permuted_axis(&order, axis)).collect();
        permuted.is_sorted()
    };
    let result_is_image = is_image(m, m.result(op, 0));
    match tf::operator(m, op) {
        Some(Op::Reshape) => {
            let wide = shape(m, m.operand(op, 0)).unwrap_or_default();
            let wide: Vec<usize> = (0..wide.len()).filter(|&axis| wide[axis] != 1).collect();
            in_order(&wide)
        }
        Some(Op::Squeeze) => {
            let gone = axes(&int_list(m, op, "squeeze_dims").unwrap_or_default());
            gone.iter().all(|&axis| axis < 4) && in_order(&rest(&gone))
        }
        Some(operator) if !result_is_image && reduces(operator) => {
            ints(m, m.operand(op, 1)).is_some_and(|gone| in_order(&rest(&axes(&gone))))
        }
        _ => true,
    }
}

/// True if the operator reduces the axes in operand 1.
fn reduces(operator: Op) -> bool {
    matches!(operator.row().class(), Class::Reduce(_)) || matches!(operator, Op::ArgMax | Op::ArgMin)
}

/// The other axes.
fn rest(gone: &[usize]) -> Vec<usize> {
    (0..4).filter(|axis| !gone.contains(axis)).collect()
}
