//! Parts of tensors, and tensors with more around them.
//!
//! `StridedSlice` has masks of the axes of its bounds: whole axes, new ones, and those that a single element
//! leaves. ONNX has the axes themselves, with bounds of their own, and neither new nor lost axes:
//!
//! ```text
//! x[i, 2:, newaxis, ..., -1]  ──▶  Slice(starts 2, -1; ends max, max; axes 1, last), Squeeze, Unsqueeze
//!                                  Gather(i) where i is computed
//! ```

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

/// The end behind all elements, and the one before all.
const ENDS: (i64, i64) = (i64::MAX, i64::MIN + 1);

/// The axes of bounds, and what is done to them.
struct SliceAxes {
    /// Axes of the operand with a position in the bounds.
    sliced: Vec<(usize, usize)>,
    /// Axes of the operand from which one element is taken, with a position in the bounds.
    picked: Vec<(usize, usize)>,
    /// New axes of the result.
    new: Vec<i64>,
}

impl SliceAxes {
    /// The axes of `n_bounds` bounds of a tensor; its rank matters behind an ellipsis only.
    fn of(n: &TfNode<'_>, n_bounds: usize) -> Result<SliceAxes, WhyNot> {
        let mask = |name: &str| n.int(name);
        let (ellipsis, new_axis, shrink) =
            (mask("ellipsis_mask")?, mask("new_axis_mask")?, mask("shrink_axis_mask")?);
        let has = |mask: i64, i: usize| i < 64 && mask >> i & 1 != 0;
        let mut axes = SliceAxes { sliced: Vec::new(), picked: Vec::new(), new: Vec::new() };
        let (mut axis, mut result) = (0, 0);
        for i in 0..n_bounds {
            if has(ellipsis, i) {
                let behind = (i + 1..n_bounds).filter(|&j| !has(new_axis, j)).count();
                let to = n.rank(0)?.checked_sub(behind).filter(|&to| to >= axis).ok_or("too many bounds")?;
                result += to - axis;
                axis = to;
            } else if has(new_axis, i) {
                axes.new.push(result as i64);
                result += 1;
            } else if has(shrink, i) {
                axes.picked.push((axis, i));
                axis += 1;
            } else {
                axes.sliced.push((axis, i));
                axis += 1;
                result += 1;
            }
        }
        Ok(axes)
    }
}

pub(super) fn strided_slice(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.ints(3).is_none() {
        return computed_steps(w, n);
    }
    let strides = n.known_ints(3)?;
    let (begins, ends) = (n.ints(1), n.ints(2));
    let axes = SliceAxes::of(n, strides.len())?;
    let open = |mask: i64, i: usize| i < 64 && mask >> i & 1 != 0;
    let (begin_mask, end_mask) = (n.int("begin_mask")?, n.int("end_mask")?);
    let mut x = n.input(0)?.to_owned();
    let (mut starts, mut stops, mut along, mut steps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for &(axis, i) in &axes.sliced {
        let forward = strides[i] > 0;
        let first = if forward { 0 } else { ENDS.0 };
        let last = if forward { ENDS.0 } else { ENDS.1 };
        let (begin, end) = (open(begin_mask, i), open(end_mask, i));
        if begin && end && strides[i] == 1 {
            continue;
        }
        starts.push(if begin { w.ints(&[first]) } else { bound(w, n, 1, &begins, i)? });
        stops.push(if end { w.ints(&[last]) } else { bound(w, n, 2, &ends, i)? });
        along.push(axis as i64);
        steps.push(strides[i]);
    }
    // An element at a known position is sliced as well, and its axis squeezed.
    let mut squeezed = Vec::new();
    for &(axis, i) in &axes.picked {
        if let Some(known) = begins.as_ref().and_then(|begins| begins.get(i)) {
            starts.push(w.ints(&[*known]));
            stops.push(w.ints(&[if *known == -1 { ENDS.0 } else { known.saturating_add(1) }]));
            along.push(axis as i64);
            steps.push(1);
            squeezed.push(axis as i64);
        }
    }
    if !along.is_empty() {
        let (starts, stops) = (joined(w, &starts), joined(w, &stops));
        let (along, steps) = (w.ints(&along), w.ints(&steps));
        x = w.op("Slice", &[&x, &starts, &stops, &along, &steps]);
    }
    // From behind, so that the axes before keep their numbers.
    for &(axis, i) in axes.picked.iter().rev() {
        if !squeezed.contains(&(axis as i64)) {
            let at = bound(w, n, 1, &begins, i)?;
            let at = w.squeeze(&at, &[0]);
            x = w.with("Gather", &[&x, &at], vec![("axis", AttrValue::Int(axis as i64))]);
            for other in &mut squeezed {
                *other -= i64::from(*other > axis as i64);
            }
        }
    }
    let x = w.squeeze(&x, &squeezed);
    Ok(vec![w.unsqueeze(&x, &axes.new)])
}

/// `StridedSlice` with steps that are computed: without masks its bounds are those of the first axes.
fn computed_steps(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    for mask in ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"] {
        if n.int(mask)? != 0 {
            return Err("with masks and computed steps".to_owned());
        }
    }
    let count = n.length(3).ok_or("steps of unknown number")?;
    let (starts, ends, steps) = (w.int_vector(n, 1)?, w.int_vector(n, 2)?, w.int_vector(n, 3)?);
    let axes: Vec<i64> = (0..count).collect();
    let axes = w.ints(&axes);
    Ok(vec![w.op("Slice", &[n.input(0)?, &starts, &ends, &axes, &steps])])
}

/// Number `i` of the bounds in an operand, as a vector of one.
fn bound(
    w: &mut NodeWriter<'_>,
    n: &TfNode<'_>,
    operand: usize,
    known: &Option<Vec<i64>>,
    i: usize,
) -> Result<Name, WhyNot> {
    match known {
        Some(known) => Ok(w.ints(&[*known.get(i).ok_or("bounds of different lengths")?])),
        None => {
            let all = w.int_vector(n, operand)?;
            Ok(w.slice(&all, 0, i as i64, i as i64 + 1))
        }
    }
}

/// Vectors of i64 as one.
fn joined(w: &mut NodeWriter<'_>, parts: &[Name]) -> Name {
    if let [part] = parts {
        return part.clone();
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    w.concat_ints(&parts)
}

/// `Slice`: a size of -1 reaches to the end.
pub(super) fn slice(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (begin, size) = (n.ints(1), n.ints(2));
    let starts = w.int_vector(n, 1)?;
    let ends = match (&begin, &size) {
        (Some(begin), Some(size)) => {
            let end =
                |(&begin, &size): (&i64, &i64)| if size < 0 { ENDS.0 } else { begin.saturating_add(size) };
            let ends: Vec<i64> = begin.iter().zip(size).map(end).collect();
            w.ints(&ends)
        }
        _ => {
            let sizes = w.int_vector(n, 2)?;
            let (none, all) = (w.int(-1), w.int(ENDS.0));
            let is_open = w.op("Equal", &[&sizes, &none]);
            let sum = w.op("Add", &[&starts, &sizes]);
            w.op("Where", &[&is_open, &all, &sum])
        }
    };
    let rank = match n.length(1) {
        Some(rank) => rank,
        None => n.rank(0)? as i64,
    };
    let axes: Vec<i64> = (0..rank).collect();
    let axes = w.ints(&axes);
    Ok(vec![w.op("Slice", &[n.input(0)?, &starts, &ends, &axes])])
}

/// Paddings as pairs become those before all axes, then those behind.
pub(super) fn pad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mode = match n.operator {
        Op::MirrorPad if n.word("mode")? == "REFLECT" => "reflect",
        Op::MirrorPad => return Err("of mode SYMMETRIC".to_owned()),
        _ => "constant",
    };
    let pads = match n.ints(1) {
        Some(pairs) => {
            let before = pairs.chunks_exact(2).map(|pair| pair[0]);
            let pads: Vec<i64> = before.chain(pairs.chunks_exact(2).map(|pair| pair[1])).collect();
            w.ints(&pads)
        }
        None => {
            let pairs = w.cast(n.input(1)?, n.dtype(1)?, DType::I64);
            let turned = w.transpose(&pairs, &[1, 0]);
            w.reshape(&turned, &[-1])
        }
    };
    let mut inputs = vec![n.input(0)?, &pads];
    inputs.extend(n.input(2).ok().filter(|_| n.operator == Op::PadV2));
    Ok(vec![w.with("Pad", &inputs, vec![("mode", AttrValue::Str(mode))])])
}

pub(super) fn reverse(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let axes = n.known_ints(1)?;
    if axes.is_empty() {
        return Ok(vec![n.input(0)?.to_owned()]);
    }
    let all = |number: i64| vec![number; axes.len()];
    let (starts, ends, steps) = (w.ints(&all(-1)), w.ints(&all(ENDS.1)), w.ints(&all(-1)));
    let axes = w.ints(&axes);
    Ok(vec![w.op("Slice", &[n.input(0)?, &starts, &ends, &axes, &steps])])
}

/// `ReverseSequence`, which ONNX has for axes 0 and 1.
pub(super) fn reverse_sequence(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (batch, time) = (n.int("batch_dim")?, n.int("seq_dim")?);
    if (batch, time) != (0, 1) && (batch, time) != (1, 0) {
        return Err(format!("of axes {batch} and {time}"));
    }
    let lengths = w.cast(n.input(1)?, n.dtype(1)?, DType::I64);
    let attrs = vec![("batch_axis", AttrValue::Int(batch)), ("time_axis", AttrValue::Int(time))];
    Ok(vec![w.with("ReverseSequence", &[n.input(0)?, &lengths], attrs)])
}

/// `Roll`: the end of an axis before its start.
pub(super) fn roll(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (shifts, axes, dims) = (n.known_ints(1)?, n.known_ints(2)?, n.known_dims(0)?);
    let mut x = n.input(0)?.to_owned();
    for (&shift, &axis) in shifts.iter().zip(&axes) {
        let axis = TfNode::axis(axis, dims.len())?;
        let shift = if dims[axis] == 0 { 0 } else { shift.rem_euclid(dims[axis]) };
        if shift > 0 {
            let at = dims[axis] - shift;
            let end = w.slice(&x, axis as i64, at, ENDS.0);
            let start = w.slice(&x, axis as i64, 0, at);
            x = w.with("Concat", &[&end, &start], vec![("axis", AttrValue::Int(axis as i64))]);
        }
    }
    Ok(vec![x])
}
