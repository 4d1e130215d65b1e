//! Whole layers: recurrent networks, attention, losses, and what samples images.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::indexing::product;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::ops::convolution::{Windows, kernel_of};
use crate::ir::ValueId;

// ---- recurrent networks ----

/// `LSTM`, `GRU` and `RNN`.
pub(super) fn recurrent(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (op, gates, default): (Op, i64, &[&str]) = match n.proto.op_type.as_str() {
        "LSTM" => (Op::_Lstm, 4, &["Sigmoid", "Tanh", "Tanh"]),
        "GRU" => (Op::_Gru, 3, &["Sigmoid", "Tanh"]),
        _ => (Op::_Rnn, 1, &["Tanh"]),
    };
    let is_lstm = op == Op::_Lstm;
    let batch_first = n.flag("layout", false);
    let mut x = n.input(0)?;
    if batch_first {
        x = g.transpose(x, &[1, 0, 2])?;
    }
    let (w, r) = (n.input(1)?, n.input(2)?);
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
    match n.proto.op_type.as_str() {
        "LSTM" => attrs.push(("input_forget", AttrArg::Bool(n.flag("input_forget", false)))),
        "GRU" => attrs.push(("linear_before_reset", AttrArg::Int(n.int_or("linear_before_reset", 0)))),
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

// ---- attention ----

/// The operands and settings of an attention of heads: queries, keys and values are (batch, heads, length,
/// size of a head).
struct Heads {
    query: ValueId,
    key: ValueId,
    value: ValueId,
    /// Added to the products, or booleans that say which count.
    mask: Option<ValueId>,
    is_causal: bool,
    /// Number of keys before the first query, for the causal mask.
    past: Option<DimSize>,
    scale: Option<f32>,
    softcap: f32,
    /// The type in which the softmax is computed.
    precision: Option<DType>,
}

/// Splits (batch, length, heads * size) into (batch, heads, length, size).
fn split_heads(g: &mut OnnxImporter<'_>, x: ValueId, heads: i64) -> Result<ValueId, Why> {
    if heads < 1 {
        return Err("its number of heads is missing".into());
    }
    let sizes = g.sizes(x)?;
    let &[batch, length, width] = &sizes[..] else { return Err("an input is not of rank 3".into()) };
    let size = match width {
        DimSize::Known(width) if width % heads == 0 => DimSize::Known(width / heads),
        DimSize::Known(width) => return Err(format!("{width} columns for {heads} heads")),
        DimSize::Value(_) => DimSize::Known(-1),
    };
    let parts = g.reshape(x, &[batch, length, DimSize::Known(heads), size])?;
    g.transpose(parts, &[0, 2, 1, 3])
}

/// The inverse of [`split_heads`].
fn merge_heads(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<ValueId, Why> {
    let turned = g.transpose(x, &[0, 2, 1, 3])?;
    let sizes = g.sizes(turned)?;
    let width = g.size_product(&sizes[2..])?;
    g.reshape(turned, &[sizes[0], sizes[1], width])
}

/// Heads of keys or values repeated for groups of queries.
fn repeat_heads(g: &mut OnnxImporter<'_>, x: ValueId, queries: ValueId) -> Result<ValueId, Why> {
    let (of_x, of_queries) = (g.sizes(x)?, g.size(queries, 1)?);
    let &[batch, DimSize::Known(heads), length, size] = &of_x[..] else { return Ok(x) };
    let DimSize::Known(wanted) = of_queries else { return Ok(x) };
    if heads == wanted || heads < 1 || wanted % heads != 0 {
        return Ok(x);
    }
    let times = wanted / heads;
    let apart = g.expand(x, 2)?;
    let one_ = DimSize::Known(1);
    let repeats = g.size_vector(&[one_, one_, DimSize::Known(times), one_, one_])?;
    let repeated = g.one(Op::Tile, &[apart, repeats])?;
    g.reshape(repeated, &[batch, DimSize::Known(wanted), length, size])
}

/// The result, and the products: scaled, with the soft cap, with the masks, and behind the softmax.
fn attention_of(g: &mut OnnxImporter<'_>, of: &Heads) -> Result<(ValueId, [ValueId; 4]), Why> {
    let key = repeat_heads(g, of.key, of.query)?;
    let value = repeat_heads(g, of.value, of.query)?;
    let scale = match (of.scale, g.size(of.query, 3)?) {
        (Some(scale), _) => f64::from(scale),
        (None, DimSize::Known(size)) if size > 0 => 1.0 / (size as f64).sqrt(),
        (None, _) => return Err("the size of its heads is not known".into()),
    };
    let products = g.op(Op::BatchMatMulV2, &[of.query, key], &[("adj_y", AttrArg::Bool(true))])?;
    let scaled = g.times(products, scale)?;
    let mut capped = scaled;
    if of.softcap > 0.0 {
        let inner = g.times(scaled, 1.0 / f64::from(of.softcap))?;
        let bent = g.one(Op::Tanh, &[inner])?;
        capped = g.times(bent, f64::from(of.softcap))?;
    }
    let mut masked = capped;
    let lowest = g.scalar_like(f64::NEG_INFINITY, scaled)?;
    if of.is_causal {
        let (rows, columns) = (g.size(scaled, 2)?, g.size(scaled, 3)?);
        let (mut rows, columns) = (g.iota(rows)?, g.iota(columns)?);
        if let Some(past) = of.past {
            let past = g.size_value(past)?;
            rows = g.add(rows, past)?;
        }
        let rows = g.expand(rows, 1)?;
        let seen = g.one(Op::LessEqual, &[columns, rows])?;
        masked = g.one(Op::SelectV2, &[seen, masked, lowest])?;
    }
    if let Some(mask) = of.mask {
        masked = if g.dtype(mask)? == DType::I1 {
            g.one(Op::SelectV2, &[mask, masked, lowest])?
        } else {
            let mask = g.cast_like(mask, masked)?;
            g.add(masked, mask)?
        };
    }
    let dtype = g.dtype(masked)?;
    let wide = g.cast(masked, of.precision.unwrap_or(dtype))?;
    let weights = g.one(Op::Softmax, &[wide])?;
    let mut weights = g.cast(weights, dtype)?;
    if of.mask.is_some() {
        // A query that may see no key gets zeros.
        let best = g.reduce(Op::Max, masked, &[3], true)?;
        let (sees, zero) = (g.one(Op::Greater, &[best, lowest])?, g.scalar_like(0.0, weights)?);
        weights = g.one(Op::SelectV2, &[sees, weights, zero])?;
    }
    let result = g.one(Op::BatchMatMulV2, &[weights, value])?;
    Ok((result, [scaled, capped, masked, weights]))
}

/// `Attention` of version 23.
pub(super) fn attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let [mut query, mut key, mut value] = [n.input(0)?, n.input(1)?, n.input(2)?];
    let is_flat = g.rank(query)? == 3;
    if is_flat {
        let (of_queries, of_keys) = (n.int_or("q_num_heads", 0), n.int_or("kv_num_heads", 0));
        query = split_heads(g, query, of_queries)?;
        key = split_heads(g, key, of_keys)?;
        value = split_heads(g, value, of_keys)?;
    }
    let mut before = None;
    if let Some(past) = n.optional(4) {
        before = Some(g.size(past, 2)?);
        key = g.concat(&[past, key], 2)?;
    }
    if let Some(past) = n.optional(5) {
        value = g.concat(&[past, value], 2)?;
    }
    let precision = n.int("softmax_precision").map(crate::import::onnx::tensor::number_type).transpose()?;
    let heads = Heads {
        query,
        key,
        value,
        mask: n.optional(3),
        is_causal: n.flag("is_causal", false),
        past: before,
        scale: n.float("scale"),
        softcap: n.float_or("softcap", 0.0),
        precision,
    };
    let (result, stages) = attention_of(g, &heads)?;
    let mode = usize::try_from(n.int_or("qk_matmul_output_mode", 0)).ok();
    let stage = mode.and_then(|mode| stages.get(mode)).ok_or("an unknown qk_matmul_output_mode")?;
    let result = if is_flat { merge_heads(g, result)? } else { result };
    Ok(vec![result, key, value, *stage])
}

/// `MultiHeadAttention` of com.microsoft.
pub(super) fn multi_head_attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let count = n.int_or("num_heads", 0);
    let mut parts = [n.input(0)?, n.input(1)?, n.input(2)?];
    if let Some(bias) = n.optional(3) {
        for (part, bias) in parts.iter_mut().zip(g.split(bias, 0, 3)?) {
            *part = g.add(*part, bias)?;
        }
    }
    let mut heads = Vec::new();
    for part in parts {
        heads.push(if g.rank(part)? == 4 { part } else { split_heads(g, part, count)? });
    }
    let mut before = None;
    if let Some(past) = n.optional(6) {
        before = Some(g.size(past, 2)?);
        heads[1] = g.concat(&[past, heads[1]], 2)?;
    }
    if let Some(past) = n.optional(7) {
        heads[2] = g.concat(&[past, heads[2]], 2)?;
    }
    let padding = match n.optional(4) {
        None => None,
        Some(mask) if g.rank(mask)? == 2 => {
            // Which keys count, for each of the batch.
            let flags = g.cast(mask, DType::I1)?;
            let flags = g.expand(flags, 1)?;
            Some(g.expand(flags, 1)?)
        }
        Some(_) => return Err("key_padding_mask is not of rank 2".into()),
    };
    let mask = match (padding, n.optional(5)) {
        (Some(flags), Some(bias)) => {
            let lowest = g.scalar_like(f64::NEG_INFINITY, bias)?;
            Some(g.one(Op::SelectV2, &[flags, bias, lowest])?)
        }
        (flags, bias) => flags.or(bias),
    };
    let heads = Heads {
        query: heads[0],
        key: heads[1],
        value: heads[2],
        mask,
        is_causal: n.flag("unidirectional", false),
        past: before,
        scale: n.float("scale").filter(|&scale| scale != 0.0),
        softcap: 0.0,
        precision: None,
    };
    let (result, _) = attention_of(g, &heads)?;
    Ok(vec![merge_heads(g, result)?, heads.key, heads.value])
}

/// `RotaryEmbedding`; that of com.microsoft has its positions second.
pub(super) fn rotary_embedding(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let is_contrib = n.proto.domain == "com.microsoft";
    let x = n.input(0)?;
    let (cos, sin, positions) = if is_contrib {
        (n.input(2)?, n.input(3)?, n.optional(1))
    } else {
        (n.input(1)?, n.input(2)?, n.optional(3))
    };
    let is_flat = g.rank(x)? == 3;
    let mut count = n.int_or("num_heads", 0);
    if is_flat && count == 0 {
        // The caches have half of the size of a head.
        let (half, width) = (g.dims(cos)?.last().copied().unwrap_or(-1), g.dims(x)?[2]);
        count = if half > 0 && width > 0 { width / half.saturating_mul(2) } else { 0 };
    }
    let heads = if is_flat { split_heads(g, x, count)? } else { x };
    let DimSize::Known(size) = g.size(heads, 3)? else {
        return Err("the size of its heads is not known".into());
    };
    let rotated = match n.int_or("rotary_embedding_dim", 0) {
        0 => size,
        rotated if (0..=size).contains(&rotated) => rotated,
        rotated => return Err(format!("rotary_embedding_dim {rotated} of heads of size {size}")),
    };
    let mut factors = Vec::new();
    for cache in [cos, sin] {
        let factor = match positions {
            Some(positions) => {
                let length = g.size(heads, 2)?;
                let positions = if g.rank(positions)? == 1 {
                    // The first position; the others follow.
                    let numbers = g.iota(length)?;
                    let positions = g.add(numbers, positions)?;
                    g.expand(positions, 0)?
                } else {
                    positions
                };
                g.gather(cache, positions, 0)?
            }
            None => cache,
        };
        let factor = g.slice(factor, 2, 0, Some(rotated / 2))?;
        factors.push(g.expand(factor, 1)?);
    }
    let turning = g.slice(heads, 3, 0, Some(rotated))?;
    let rest = if rotated < size { Some(g.slice(heads, 3, rotated, None)?) } else { None };
    let interleaved = n.flag("interleaved", false);
    let sizes = g.sizes(turning)?;
    let (a, b) = if interleaved {
        let pairs = [&sizes[..3], &[DimSize::Known(rotated / 2), DimSize::Known(2)]].concat();
        let pairs = g.reshape(turning, &pairs)?;
        let parts = g.split(pairs, 4, 2)?;
        (g.squeeze(parts[0], &[4])?, g.squeeze(parts[1], &[4])?)
    } else {
        let parts = g.split(turning, 3, 2)?;
        (parts[0], parts[1])
    };
    let (cos, sin) = (factors[0], factors[1]);
    let (ac, bs, asin, bc) = (g.mul(a, cos)?, g.mul(b, sin)?, g.mul(a, sin)?, g.mul(b, cos)?);
    let (real, imaginary) = (g.sub(ac, bs)?, g.add(asin, bc)?);
    let mut y = if interleaved {
        let pairs = g.op(Op::Pack, &[real, imaginary], &[("axis", AttrArg::Int(4))])?;
        g.reshape(pairs, &sizes)?
    } else {
        g.concat(&[real, imaginary], 3)?
    };
    if let Some(rest) = rest {
        y = g.concat(&[y, rest], 3)?;
    }
    one(if is_flat { merge_heads(g, y) } else { Ok(y) })
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

/// The negative of the elements of the targets' classes, weighted and reduced.
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
    let attrs = [
        ("axes", AttrArg::Ints(&axes)),
        ("mode", AttrArg::Str(n.word("mode", "nearest")?)),
        (
            "coordinate_transformation_mode",
            AttrArg::Str(n.word("coordinate_transformation_mode", coordinates)?),
        ),
        ("nearest_mode", AttrArg::Str(n.word("nearest_mode", nearest)?)),
        ("cubic_coeff_a", AttrArg::Float(n.float_or("cubic_coeff_a", -0.75))),
        ("exclude_outside", AttrArg::Bool(n.flag("exclude_outside", false))),
        ("extrapolation_value", AttrArg::Float(n.float_or("extrapolation_value", 0.0))),
        ("antialias", AttrArg::Bool(n.flag("antialias", false))),
        ("keep_aspect_ratio_policy", AttrArg::Str(n.word("keep_aspect_ratio_policy", "stretch")?)),
    ];
    one(g.op(Op::_Resize, &[x, roi, scales, sizes], &attrs))
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
        // From -1 to 1: the centres of the pixels, or with the corners on the ends.
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
    let pads = windows.flat_pads();
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
        [rank] if rank >= 0 => rank as usize,
        _ => return Err("the number of its axes is not known".into()),
    };
    let (ones, zeros) = (vec![1; rank], vec![0; 2 * rank]);
    let attrs = [
        ("dilations", AttrArg::Ints(n.ints("dilations").unwrap_or(&ones))),
        ("pads", AttrArg::Ints(n.ints("pads").unwrap_or(&zeros))),
        ("strides", AttrArg::Ints(n.ints("strides").unwrap_or(&ones))),
    ];
    one(g.op(Op::_Col2Im, &[n.input(0)?, n.input(1)?, block], &attrs))
}
