//! Whole layers: recurrent networks, losses, and the sampling of images.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::indexing::product;
use super::quantize::dequantized;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::ops::convolution::{Windows, kernel_of};
use crate::import::onnx::tensor::MAX_RANK;
use crate::ir::ValueId;

// ---- recurrent networks ----

/// `LSTM`, `GRU` and `RNN`.
pub(super) fn recurrent(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    recurrent_with(g, n, [n.input(1)?, n.input(2)?])
}

/// `DynamicQuantizeLSTM` of com.microsoft: an LSTM with weights of bytes, in the order (directions, inputs,
/// gates). The weights are dequantized. ONNX Runtime also quantizes the inputs and the states of each step,
/// so its results have a larger error.
pub(super) fn dynamic_quantize_lstm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut weights = [n.input(1)?, n.input(2)?];
    for (weights, quantum) in weights.iter_mut().zip([8, 10]) {
        // One number per direction, or one per direction and row of a gate.
        let along = |g: &mut OnnxImporter<'_>, of: ValueId| match g.rank(of)? {
            1 => g.expand_behind(of, 3),
            2 => g.expand(of, 1),
            rank => Err(format!("scales of rank {rank}")),
        };
        let scale = along(g, n.input(quantum)?)?;
        let zero_point = n.optional(quantum + 1).map(|point| along(g, point)).transpose()?;
        let numbers = dequantized(g, *weights, scale, zero_point)?;
        *weights = g.transpose(numbers, &[0, 2, 1])?;
    }
    recurrent_with(g, n, weights)
}

/// A recurrent layer with these weights of inputs and of states.
fn recurrent_with(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, [w, r]: [ValueId; 2]) -> Lowered {
    let (op, gates, default): (Op, i64, &[&str]) = match n.proto.op_type.as_str() {
        "LSTM" | "DynamicQuantizeLSTM" => (Op::_Lstm, 4, &["Sigmoid", "Tanh", "Tanh"]),
        "GRU" => (Op::_Gru, 3, &["Sigmoid", "Tanh"]),
        _ => (Op::_Rnn, 1, &["Tanh"]),
    };
    let is_lstm = op == Op::_Lstm;
    let batch_first = n.flag("layout", false);
    let mut x = g.of_rank(n.input(0)?, 3)?;
    if batch_first {
        x = g.transpose(x, &[1, 0, 2])?;
    }
    let (steps, batch, directions) = (g.size(x, 0)?, g.size(x, 1)?, g.size(w, 0)?);
    let hidden = match g.size(r, 2)? {
        DimSize::Known(hidden) => hidden,
        DimSize::Value(_) => n.int("hidden_size").ok_or("its hidden size is not known")?,
    };
    let zeros = |g: &mut OnnxImporter<'_>, sizes: &[DimSize]| {
        let zero = g.scalar_like(0.0, x)?;
        g.fill(sizes, zero)
    };
    let bias = match n.optional(3) {
        Some(bias) => bias,
        None => zeros(g, &[directions, DimSize::Known(hidden.saturating_mul(2 * gates))])?,
    };
    let lengths = match n.optional(4) {
        Some(lengths) => lengths,
        None => {
            let steps = g.size_value(steps)?;
            let steps = g.cast(steps, DType::I32)?;
            g.fill(&[batch], steps)?
        }
    };
    let mut operands = vec![x, w, r, bias, lengths];
    for i in if is_lstm { 5..7 } else { 5..6 } {
        operands.push(match n.optional(i) {
            Some(state) if batch_first => g.transpose(state, &[1, 0, 2])?,
            Some(state) => state,
            None => zeros(g, &[directions, batch, DimSize::Known(hidden)])?,
        });
    }
    if is_lstm {
        operands.push(match n.optional(7) {
            Some(peepholes) => peepholes,
            None => zeros(g, &[directions, DimSize::Known(hidden.saturating_mul(3))])?,
        });
    }
    let direction = n.word("direction", "forward")?;
    let count = if direction == "bidirectional" { 2 } else { 1 };
    let mut activations = n.words("activations")?;
    if activations.is_empty() {
        activations = default.repeat(count);
    }
    let mut attrs = vec![
        ("direction", AttrArg::Str(direction)),
        ("activations", AttrArg::Strs(&activations)),
        ("activation_alpha", AttrArg::Floats(n.floats("activation_alpha"))),
        ("activation_beta", AttrArg::Floats(n.floats("activation_beta"))),
        ("clip", AttrArg::Float(n.float_or("clip", 0.0))),
        ("hidden_size", AttrArg::Int(hidden)),
    ];
    match op {
        Op::_Lstm => attrs.push(("input_forget", AttrArg::Bool(n.flag("input_forget", false)))),
        Op::_Gru => attrs.push(("linear_before_reset", AttrArg::Int(n.int_or("linear_before_reset", 0)))),
        _ => {}
    }
    let mut results = g.ops(op, &operands, &attrs, &[])?;
    if batch_first {
        // (steps, directions, batch, hidden) and (directions, batch, hidden).
        results[0] = g.transpose(results[0], &[2, 0, 1, 3])?;
        for state in &mut results[1..] {
            *state = g.transpose(*state, &[1, 0, 2])?;
        }
    }
    Ok(results)
}

// ---- losses ----

pub(super) fn negative_log_likelihood(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(likelihood(g, n, n.input(0)?))
}

/// `SoftmaxCrossEntropyLoss`, with the logarithms of the probabilities.
pub(super) fn softmax_cross_entropy(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let last = g.rank(x)?.checked_sub(1).filter(|&last| last > 0).ok_or("its scores have no classes")?;
    let turned = g.move_axis(x, 1, last)?;
    let logs = g.one(Op::LogSoftmax, &[turned])?;
    let logs = g.move_axis(logs, last, 1)?;
    Ok(vec![likelihood(g, n, logs)?, logs])
}

/// The negative log probabilities of the targets' classes, weighted and reduced.
fn likelihood(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, logs: ValueId) -> Result<ValueId, Why> {
    let targets = n.input(1)?;
    let targets = g.cast(targets, DType::I64)?;
    let ignored = n.int("ignore_index");
    let zero_index = g.int(0)?;
    let (counts, safe) = match ignored {
        Some(index) => {
            let index = g.int(index)?;
            let counts = g.one(Op::NotEqual, &[targets, index])?;
            (Some(counts), g.one(Op::SelectV2, &[counts, targets, zero_index])?)
        }
        None => (None, targets),
    };
    let at = g.expand(safe, 1)?;
    let picked = g.op(Op::_GatherElements, &[logs, at], &[("axis", AttrArg::Int(1))])?;
    let picked = g.squeeze(picked, &[1])?;
    let mut loss = g.one(Op::Neg, &[picked])?;
    let zero = g.scalar_like(0.0, loss)?;
    let mut weights = n.optional(2).map(|weights| g.gather(weights, safe, 0)).transpose()?;
    if let Some(counts) = counts {
        let weight = match weights {
            Some(weight) => weight,
            None => g.one(Op::OnesLike, &[loss])?,
        };
        weights = Some(g.one(Op::SelectV2, &[counts, weight, zero])?);
        loss = g.one(Op::SelectV2, &[counts, loss, zero])?;
    }
    if let Some(weights) = weights {
        loss = g.mul(loss, weights)?;
    }
    let axes: Vec<usize> = (0..g.rank(loss)?).collect();
    match (n.word("reduction", "mean")?, weights) {
        ("none", _) => Ok(loss),
        ("sum", _) => g.reduce(Op::Sum, loss, &axes, false),
        ("mean", None) => g.reduce(Op::Mean, loss, &axes, false),
        ("mean", Some(weights)) => {
            let (sum, total) =
                (g.reduce(Op::Sum, loss, &axes, false)?, g.reduce(Op::Sum, weights, &axes, false)?);
            g.div(sum, total)
        }
        (other, _) => Err(format!("reduction '{other}'")),
    }
}

// ---- images ----

/// `Resize`, and `Upsample`, its old form.
pub(super) fn resize(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let is_old = n.version < 11 || n.proto.op_type == "Upsample";
    let no_floats = g.floats(&[], &[0])?;
    let no_sizes = g.ints(&[])?;
    let given = |input: usize, none: ValueId| match n.optional(input) {
        Some(value) if g.dims(value).is_ok_and(|dims| dims == [0]) => none,
        Some(value) => value,
        None => none,
    };
    let (roi, scales, sizes) = if is_old {
        (no_floats, given(1, no_floats), no_sizes)
    } else {
        (given(1, no_floats), given(2, no_floats), given(3, no_sizes))
    };
    let scales = match n.floats("scales") {
        [] => scales,
        scales => g.floats(scales, &[scales.len() as i64])?,
    };
    let (roi, scales) = (g.cast(roi, DType::F32)?, g.cast(scales, DType::F32)?);
    let rank = g.rank(x)?;
    let axes: Vec<i64> = match n.ints("axes") {
        Some(axes) => {
            let axes: Vec<usize> = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<_, _>>()?;
            axes.into_iter().map(|axis| axis as i64).collect()
        }
        None => (0..rank as i64).collect(),
    };
    let (coordinates, nearest) =
        if is_old { ("asymmetric", "floor") } else { ("half_pixel", "round_prefer_floor") };
    let mut coordinates = n.word("coordinate_transformation_mode", coordinates)?;
    let mut nearest = n.word("nearest_mode", nearest)?;
    if (coordinates, nearest) == ("tf_half_pixel_for_nn", "floor") {
        // The floor of a coordinate that is larger by a half than that of `half_pixel`.
        (coordinates, nearest) = ("half_pixel", "round_prefer_ceil");
    }
    let mode = n.word("mode", "nearest")?;
    if is_old && mode == "nearest" {
        return one(nearest_of_old(g, x, scales, &axes));
    }
    let attrs = [
        ("axes", AttrArg::Ints(&axes)),
        ("mode", AttrArg::Str(mode)),
        ("coordinate_transformation_mode", AttrArg::Str(coordinates)),
        ("nearest_mode", AttrArg::Str(nearest)),
        ("cubic_coeff_a", AttrArg::Float(n.float_or("cubic_coeff_a", -0.75))),
        ("exclude_outside", AttrArg::Bool(n.flag("exclude_outside", false))),
        ("extrapolation_value", AttrArg::Float(n.float_or("extrapolation_value", 0.0))),
        ("antialias", AttrArg::Bool(n.flag("antialias", false))),
        ("keep_aspect_ratio_policy", AttrArg::Str(n.word("keep_aspect_ratio_policy", "stretch")?)),
    ];
    one(g.op(Op::_Resize, &[x, roi, scales, sizes], &attrs))
}

/// The nearest numbers as before version 11: at positions that are rounded up along axes that shrink, else
/// down.
fn nearest_of_old(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    scales: ValueId,
    axes: &[i64],
) -> Result<ValueId, Why> {
    let (one_, no_roi, no_sizes) = (g.scalar(1.0, DType::F32)?, g.floats(&[], &[0])?, g.ints(&[])?);
    let known = g.numbers_of(scales);
    let mut y = x;
    for (limited, nearest) in [(Op::Minimum, "ceil"), (Op::Maximum, "floor")] {
        let changes = |&scale: &f64| if limited == Op::Minimum { scale < 1.0 } else { scale > 1.0 };
        if known.as_ref().is_some_and(|known| !known.iter().any(changes)) {
            continue;
        }
        let attrs = [
            ("axes", AttrArg::Ints(axes)),
            ("mode", AttrArg::Str("nearest")),
            ("coordinate_transformation_mode", AttrArg::Str("asymmetric")),
            ("nearest_mode", AttrArg::Str(nearest)),
        ];
        let scales = g.one(limited, &[scales, one_])?;
        y = g.op(Op::_Resize, &[y, no_roi, scales, no_sizes], &attrs)?;
    }
    Ok(y)
}

pub(super) fn grid_sample(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mode = match n.word("mode", "linear")? {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        other => other,
    };
    let attrs = [
        ("mode", AttrArg::Str(mode)),
        ("padding_mode", AttrArg::Str(n.word("padding_mode", "zeros")?)),
        ("align_corners", AttrArg::Bool(n.flag("align_corners", false))),
    ];
    one(g.op(Op::_GridSample, &[n.input(0)?, n.input(1)?], &attrs))
}

/// `AffineGrid`: the points of a regular grid, transformed.
pub(super) fn affine_grid(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (theta, size) = (n.input(0)?, n.input(1)?);
    let dim =
        usize::try_from(g.dims(theta)?.get(1).copied().unwrap_or(-1)).map_err(|_| "theta of unknown size")?;
    if !(2..=3).contains(&dim) {
        return Err("it transforms neither images nor volumes".into());
    }
    let dtype = g.dtype(theta)?;
    let corners = n.flag("align_corners", false);
    let mut sizes = Vec::new();
    for i in 0..dim {
        sizes.push(DimSize::Value(g.element_at(size, i as i64 + 2)?));
    }
    let mut points = Vec::new();
    let shape = g.size_vector(&sizes)?;
    for axis in (0..dim).rev() {
        // From -1 to 1: the centres of the pixels, or the corners at both ends.
        let DimSize::Value(count) = sizes[axis] else { continue };
        let (numbers, count) = (g.iota(sizes[axis])?, g.cast(count, dtype)?);
        let numbers = g.cast(numbers, dtype)?;
        let line = if corners {
            let (twice, last) = (g.times(numbers, 2.0)?, g.plus(count, -1.0)?);
            let part = g.div(twice, last)?;
            g.plus(part, -1.0)?
        } else {
            let twice = g.times(numbers, 2.0)?;
            let centre = g.plus(twice, 1.0)?;
            let part = g.div(centre, count)?;
            g.plus(part, -1.0)?
        };
        let mut around = vec![DimSize::Known(1); dim];
        around[axis] = sizes[axis];
        let line = g.reshape(line, &around)?;
        let line = g.one(Op::BroadcastTo, &[line, shape])?;
        points.push(g.reshape_to(line, &[-1])?);
    }
    let ones = g.one(Op::OnesLike, &[points[0]])?;
    points.push(ones);
    let grid = g.op(Op::Pack, &points, &[("axis", AttrArg::Int(0))])?;
    let moved = product(g, theta, grid)?;
    let moved = g.transpose(moved, &[0, 2, 1])?;
    let batch = g.size(theta, 0)?;
    one(g.reshape(moved, &[&[batch], &sizes[..], &[DimSize::Known(dim as i64)]].concat()))
}

pub(super) fn roi_align(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let default = if n.version < 16 { "output_half_pixel" } else { "half_pixel" };
    let attrs = [
        ("mode", AttrArg::Str(n.word("mode", "avg")?)),
        ("output_height", AttrArg::Int(n.int_or("output_height", 1))),
        ("output_width", AttrArg::Int(n.int_or("output_width", 1))),
        ("sampling_ratio", AttrArg::Int(n.int_or("sampling_ratio", 0))),
        ("spatial_scale", AttrArg::Float(n.float_or("spatial_scale", 1.0))),
        ("half_pixel", AttrArg::Bool(n.word("coordinate_transformation_mode", default)? == "half_pixel")),
    ];
    let indices = g.cast(n.input(2)?, DType::I64)?;
    one(g.op(Op::_RoiAlign, &[n.input(0)?, n.input(1)?, indices], &attrs))
}

pub(super) fn max_roi_pool(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [
        ("pooled_shape", AttrArg::Ints(n.ints("pooled_shape").ok_or("it has no pooled_shape")?)),
        ("spatial_scale", AttrArg::Float(n.float_or("spatial_scale", 1.0))),
    ];
    one(g.op(Op::_MaxRoiPool, &[n.input(0)?, n.input(1)?], &attrs))
}

pub(super) fn non_max_suppression(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let scalar = |g: &mut OnnxImporter<'_>, input: usize, default: f64, dtype: DType| match n.optional(input)
    {
        Some(value) => {
            let value = g.reshape_to(value, &[])?;
            g.cast(value, dtype)
        }
        None => g.scalar(default, dtype),
    };
    let most = scalar(g, 2, 0.0, DType::I64)?;
    let overlap = scalar(g, 3, 0.0, DType::F32)?;
    let threshold = scalar(g, 4, f64::from(f32::MIN), DType::F32)?;
    let attrs = [("center_point_box", AttrArg::Int(n.int_or("center_point_box", 0)))];
    let operands = [n.input(0)?, n.input(1)?, most, overlap, threshold];
    one(g.op(Op::_BatchedNonMaxSuppression, &operands, &attrs))
}

pub(super) fn deform_conv(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, filters, offset) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let kernel = kernel_of(g, n, filters)?;
    let taps =
        kernel.iter().try_fold(1i64, |n, &size| n.checked_mul(size)).ok_or("its filters are too large")?;
    let windows = Windows::new(g, n, x, kernel)?;
    let zero = g.scalar_like(0.0, x)?;
    let bias = match n.optional(3) {
        Some(bias) => bias,
        None => {
            let channels = g.size(filters, 0)?;
            g.fill(&[channels], zero)?
        }
    };
    let groups = n.int_or("offset_group", 1);
    let mask = match n.optional(4) {
        Some(mask) => mask,
        None => {
            let mut sizes = g.sizes(offset)?;
            *sizes.get_mut(1).ok_or("its offsets have no channels")? =
                DimSize::Known(groups.saturating_mul(taps));
            let one_ = g.scalar_like(1.0, x)?;
            g.fill(&sizes, one_)?
        }
    };
    let pads = windows.flat_pads()?;
    let attrs = [
        ("strides", AttrArg::Ints(&windows.strides)),
        ("dilations", AttrArg::Ints(&windows.dilations)),
        ("pads", AttrArg::Ints(&pads)),
        ("group", AttrArg::Int(n.int_or("group", 1))),
        ("offset_group", AttrArg::Int(groups)),
    ];
    one(g.op(Op::_DeformConv, &[x, filters, offset, bias, mask], &attrs))
}

pub(super) fn col2im(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let block = n.input(2)?;
    let rank = match g.dims(block)?[..] {
        [rank] if (0..=MAX_RANK).contains(&rank) => rank as usize,
        _ => return Err(format!("the number of its axes is not known, or above {MAX_RANK}")),
    };
    let (ones, zeros) = (vec![1; rank], vec![0; 2 * rank]);
    let attrs = [
        ("dilations", AttrArg::Ints(n.ints("dilations").unwrap_or(&ones))),
        ("pads", AttrArg::Ints(n.ints("pads").unwrap_or(&zeros))),
        ("strides", AttrArg::Ints(n.ints("strides").unwrap_or(&ones))),
    ];
    one(g.op(Op::_Col2Im, &[n.input(0)?, n.input(1)?, block], &attrs))
}
