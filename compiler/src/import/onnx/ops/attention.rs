//! Attention of several heads, and rotary embeddings.
//!
//! ```text
//! queries, keys ──product──▶ scores ──scale, cap, masks──▶ softmax ──product with values──▶ result
//! ```

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::contributed::scaled_product;
use super::indexing::product;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::tensor::number_type;
use crate::ir::{DYNAMIC, ValueId};

/// The operands and settings of a multi-head attention. Queries, keys and values are (batch, heads, length,
/// size of a head).
struct Heads {
    query: ValueId,
    key: ValueId,
    value: ValueId,
    /// Numbers that are added to the scores, or booleans that select scores.
    mask: Option<ValueId>,
    is_causal: bool,
    /// Number of keys before the first query, for the causal mask.
    past: Option<DimSize>,
    scale: Option<f32>,
    softcap: f32,
    /// The type in which the softmax is computed.
    precision: Option<DType>,
}

impl Heads {
    /// With the settings of the operators of com.microsoft.
    fn of_microsoft(
        n: &OnnxNode<'_>,
        [query, key, value]: [ValueId; 3],
        mask: Option<ValueId>,
        past: Option<DimSize>,
    ) -> Heads {
        let is_causal = n.flag("unidirectional", false);
        let scale = n.float("scale").filter(|&scale| scale != 0.0);
        Heads { query, key, value, mask, is_causal, past, scale, softcap: 0.0, precision: None }
    }
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

/// The result, and the scores after each stage: scaled, capped, masked, after the softmax.
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
        // A query all of whose keys are masked gets zeros.
        let best = g.reduce(Op::Max, masked, &[3], true)?;
        let (sees, zero) = (g.one(Op::Greater, &[best, lowest])?, g.scalar_like(0.0, weights)?);
        weights = g.one(Op::SelectV2, &[sees, weights, zero])?;
    }
    let result = g.one(Op::BatchMatMulV2, &[weights, value])?;
    Ok((result, [scaled, capped, masked, weights]))
}

/// Refuses inputs that are not read.
fn expect_no_inputs_from(n: &OnnxNode<'_>, first: usize) -> Result<(), Why> {
    match (first..n.inputs.len()).find(|&at| n.optional(at).is_some()) {
        Some(at) => Err(format!("input #{at} is not supported")),
        None => Ok(()),
    }
}

/// `Attention` of version 23.
pub(super) fn attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    expect_no_inputs_from(n, 6)?;
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
    let precision = n.int("softmax_precision").map(number_type).transpose()?;
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
    expect_no_inputs_from(n, 8)?;
    let count = n.int_or("num_heads", 0);
    let mut parts = unpacked(g, n)?;
    if let Some(bias) = n.optional(3) {
        biased(g, &mut parts, bias)?;
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
    let padding = n.optional(4).map(|mask| filter_of_keys(g, n, mask, heads[0], heads[1])).transpose()?;
    let mask = summed(g, padding, n.optional(5))?;
    let &[query, key, value] = &heads[..] else { return Err("it has no queries, keys and values".into()) };
    let heads = Heads::of_microsoft(n, [query, key, value], mask, before);
    let (result, _) = attention_of(g, &heads)?;
    Ok(vec![merge_heads(g, result)?, heads.key, heads.value])
}

/// Queries, keys and values of a `MultiHeadAttention`. The first input may have all three, and the second
/// keys and values: (batch, length, heads, 3 or 2, size of a head).
fn unpacked(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Result<[ValueId; 3], Why> {
    let query = n.input(0)?;
    if g.rank(query)? == 5 {
        let parts = unpacked_heads(g, query, 3)?;
        return parts.try_into().map_err(|_| "its parts are not three".to_owned());
    }
    let key = n.input(1)?;
    if g.rank(key)? == 5 {
        let parts = unpacked_heads(g, key, 2)?;
        return Ok([query, parts[0], parts[1]]);
    }
    Ok([query, key, n.input(2)?])
}

/// The parts of (batch, length, heads, parts, size of a head) as (batch, length, heads * size).
fn unpacked_heads(g: &mut OnnxImporter<'_>, packed: ValueId, n_parts: usize) -> Result<Vec<ValueId>, Why> {
    let mut parts = g.split(packed, 3, n_parts)?;
    let sizes = g.sizes(packed)?;
    let width = g.size_product(&[sizes[2], sizes[4]])?;
    for part in &mut parts {
        *part = g.reshape(*part, &[sizes[0], sizes[1], width])?;
    }
    Ok(parts)
}

/// Adds a bias to queries, keys and values. Keys and values that are split into heads have it already.
fn biased(g: &mut OnnxImporter<'_>, parts: &mut [ValueId; 3], bias: ValueId) -> Result<(), Why> {
    let mut first = 0;
    for part in parts {
        let dims = g.dims(*part)?;
        let (is_split, width) = match dims[..] {
            [_, heads, _, size] => (true, heads.saturating_mul(size)),
            [_, _, width] => (false, width),
            _ => return Err(format!("queries, keys or values of rank {}", dims.len())),
        };
        if width < 0 || dims.contains(&DYNAMIC) && is_split {
            return Err("the size of its heads is not known".to_owned());
        }
        if !is_split {
            let of_part = g.slice(bias, 0, first, Some(first.saturating_add(width)))?;
            *part = g.add(*part, of_part)?;
        }
        first = first.saturating_add(width);
    }
    Ok(())
}

/// `Attention` of com.microsoft: queries, keys and values are one product.
pub(super) fn packed_attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    expect_no_inputs_from(n, 6)?;
    let mut all = product(g, n.input(0)?, n.input(1)?)?;
    if let Some(bias) = n.optional(2) {
        all = g.add(all, bias)?;
    }
    attention_of_parts(g, n, all, [n.optional(3), n.optional(4), n.optional(5)])
}

/// `QAttention` of com.microsoft: the product is one of bytes.
pub(super) fn quantized_attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let operands = [n.input(0)?, n.input(3)?, n.input(1)?, n.input(4)?];
    let all = scaled_product(g, operands, [n.optional(6), n.optional(7), n.optional(2)])?;
    attention_of_parts(g, n, all, [n.optional(5), n.optional(8), None])
}

/// The attention of queries, keys and values that are parts of `all`, with a mask of keys, the keys and
/// values before, and numbers to add to the scores.
fn attention_of_parts(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    all: ValueId,
    [mask, past, bias]: [Option<ValueId>; 3],
) -> Lowered {
    if n.flag("do_rotary", false) {
        return Err("its attribute do_rotary is not supported".into());
    }
    let count = n.int_or("num_heads", 0);
    let parts = match n.ints("qkv_hidden_sizes") {
        None | Some([]) => g.split(all, 2, 3)?,
        Some(sizes) => {
            let sizes = g.ints(sizes)?;
            g.split_by(all, 2, sizes, 3)?
        }
    };
    let &[query, key, value] = &parts[..] else { return Err("it has no queries, keys and values".into()) };
    let query = split_heads(g, query, count)?;
    let (mut key, mut value) = (split_heads(g, key, count)?, split_heads(g, value, count)?);
    let mut before = None;
    if let Some(past) = past {
        let halves = g.split(past, 0, 2)?;
        let (keys, values) = (g.squeeze(halves[0], &[0])?, g.squeeze(halves[1], &[0])?);
        before = Some(g.size(keys, 2)?);
        (key, value) = (g.concat(&[keys, key], 2)?, g.concat(&[values, value], 2)?);
    }
    let padding = mask.map(|mask| filter_of_keys(g, n, mask, query, key)).transpose()?;
    let mask = summed(g, padding, bias)?;
    let heads = Heads::of_microsoft(n, [query, key, value], mask, before);
    let (result, _) = attention_of(g, &heads)?;
    let mut results = vec![merge_heads(g, result)?];
    if n.has_output(1) {
        results.push(g.op(Op::Pack, &[key, value], &[("axis", AttrArg::Int(0))])?);
    }
    Ok(results)
}

/// The numbers to add to scores by a mask that com.microsoft's operators have: zero, or `mask_filter_value`
/// where a key is not seen.
///
/// The mask is a vector, whose first elements are the ends of keys for each element of the batch, and whose
/// next ones may be their starts (2 * batch) or the places of sequences (3 * batch + 2), which are not read;
/// or it has flags of keys, for each element of the batch and perhaps each query.
fn filter_of_keys(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    mask: ValueId,
    query: ValueId,
    key: ValueId,
) -> Result<ValueId, Why> {
    let (batch, keys) = (g.size(query, 0)?, g.size(key, 2)?);
    let flags = match (g.rank(mask)?, g.size(mask, 0)?, batch) {
        (1, DimSize::Known(length), DimSize::Known(batch)) => {
            let with_starts = batch.saturating_mul(2);
            if ![batch, with_starts, with_starts.saturating_add(batch).saturating_add(2)].contains(&length) {
                return Err(format!("a mask of {length} elements for a batch of {batch}"));
            }
            let ends = g.slice(mask, 0, 0, Some(batch))?;
            let mut flags = mask_of_lengths(g, ends, keys)?;
            if length == with_starts {
                let starts = g.slice(mask, 0, batch, None)?;
                let before = mask_of_lengths(g, starts, keys)?;
                let behind = g.one(Op::LogicalNot, &[before])?;
                flags = g.one(Op::LogicalAnd, &[flags, behind])?;
            }
            flags
        }
        (1, ..) => mask_of_lengths(g, mask, keys)?,
        (2 | 3, ..) => g.cast(mask, DType::I1)?,
        (rank, ..) => return Err(format!("a mask of rank {rank}")),
    };
    let flags = if g.rank(flags)? == 2 { g.expand(flags, 1)? } else { flags };
    let flags = g.expand(flags, 1)?;
    let filter = g.scalar_like(n.float_or("mask_filter_value", -10_000.0).into(), query)?;
    let zero = g.scalar_like(0.0, query)?;
    g.one(Op::SelectV2, &[flags, zero, filter])
}

/// True for the keys in front of the end of each element of the batch.
fn mask_of_lengths(g: &mut OnnxImporter<'_>, lengths: ValueId, keys: DimSize) -> Result<ValueId, Why> {
    let numbers = g.iota(keys)?;
    let (numbers, lengths) = (g.cast_like(numbers, lengths)?, g.expand(lengths, 1)?);
    g.one(Op::Less, &[numbers, lengths])
}

/// The sum of numbers that are to be added to scores.
fn summed(g: &mut OnnxImporter<'_>, a: Option<ValueId>, b: Option<ValueId>) -> Result<Option<ValueId>, Why> {
    let (Some(a), Some(b)) = (a, b) else { return Ok(a.or(b)) };
    g.add(a, b).map(Some)
}

/// One mask of flags and of numbers to add.
fn masked(
    g: &mut OnnxImporter<'_>,
    flags: Option<ValueId>,
    bias: Option<ValueId>,
) -> Result<Option<ValueId>, Why> {
    let (Some(flags), Some(bias)) = (flags, bias) else { return Ok(flags.or(bias)) };
    let lowest = g.scalar_like(f64::NEG_INFINITY, bias)?;
    g.one(Op::SelectV2, &[flags, bias, lowest]).map(Some)
}

/// `RotaryEmbedding`. The one of com.microsoft has the positions as its second input.
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
    let positions = match positions {
        Some(positions) if g.rank(positions)? == 1 => {
            // The first position; the others follow.
            let length = g.size(heads, 2)?;
            let numbers = g.iota(length)?;
            let positions = g.add(numbers, positions)?;
            Some(g.expand(positions, 0)?)
        }
        positions => positions,
    };
    let (rotated, interleaved) = (n.int_or("rotary_embedding_dim", 0), n.flag("interleaved", false));
    let y = turned(g, heads, [cos, sin], positions, (rotated, interleaved))?;
    one(if is_flat { merge_heads(g, y) } else { Ok(y) })
}

/// Heads whose first `rotated` elements, all if that is 0, are turned by the angles of their positions. The
/// cosines and sines are (positions, half of the elements), or with a batch if no positions are given.
fn turned(
    g: &mut OnnxImporter<'_>,
    heads: ValueId,
    caches: [ValueId; 2],
    positions: Option<ValueId>,
    (rotated, interleaved): (i64, bool),
) -> Result<ValueId, Why> {
    let DimSize::Known(size) = g.size(heads, 3)? else {
        return Err("the size of its heads is not known".into());
    };
    let rotated = match rotated {
        0 => size,
        rotated if (0..=size).contains(&rotated) => rotated,
        rotated => return Err(format!("rotary_embedding_dim {rotated} of heads of size {size}")),
    };
    let mut factors = Vec::new();
    for cache in caches {
        let factor = match positions {
            Some(positions) => g.gather(cache, positions, 0)?,
            None => cache,
        };
        let factor = g.slice(factor, 2, 0, Some(rotated / 2))?;
        factors.push(g.expand(factor, 1)?);
    }
    let turning = g.slice(heads, 3, 0, Some(rotated))?;
    let rest = if rotated < size { Some(g.slice(heads, 3, rotated, None)?) } else { None };
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
    Ok(y)
}

/// `GroupQueryAttention` of com.microsoft: causal, with the keys and values before, of which each element of
/// the batch may have another number.
///
/// ```text
/// past        k0 k1 k2 __          here three keys are before
/// new                     k3 k4
/// present     k0 k1 k2 k3 k4       as long as `past` at least; zeros behind
/// ```
pub(super) fn group_query_attention(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    expect_no_inputs_from(n, 11)?;
    for name in ["smooth_softmax", "k_quant_type", "v_quant_type", "qk_output"] {
        if n.attr(name).is_some_and(|attr| attr.i > 0 || !matches!(&attr.s[..], b"" | b"NONE")) {
            return Err(format!("its attribute {name} is not supported"));
        }
    }
    let (count, groups) = (n.int_or("num_heads", 0), n.int_or("kv_num_heads", 0));
    let [mut query, mut key, value] = heads_of_groups(g, n, count, groups)?;
    let length = g.size(query, 2)?;
    // The numbers of keys before: those of all keys less one are given.
    let last = g.cast(n.input(5)?, DType::I64)?;
    let last = g.reshape_to(last, &[-1])?;
    let (count_new, none) = (g.size_value(length)?, g.int(0)?);
    let before = g.plus(last, 1.0)?;
    let before = g.sub(before, count_new)?;
    let before = g.one(Op::Maximum, &[before, none])?;
    let before = g.expand(before, 1)?;
    let numbers = g.iota(length)?;
    let places = g.add(before, numbers)?;
    if n.flag("do_rotary", false) {
        let caches = [n.input(7)?, n.input(8)?];
        let positions = match n.optional(9) {
            Some(positions) => g.cast(positions, DType::I64)?,
            None => places,
        };
        let width = g.dims(caches[0])?.last().copied().filter(|&half| half > 0);
        let width = width.ok_or("the size of its cos_cache is not known")?.saturating_mul(2);
        let how = (width, n.flag("rotary_interleaved", false));
        query = turned(g, query, caches, Some(positions), how)?;
        key = turned(g, key, caches, Some(positions), how)?;
    }
    // Where each key of the result stands among those before and the new ones.
    let mut all = [key, value];
    let past = [n.optional(3), n.optional(4)];
    let kept = match past[0] {
        Some(past) => g.size(past, 2)?,
        None => DimSize::Known(0),
    };
    let kept = g.size_value(kept)?;
    let total = g.cast(n.input(6)?, DType::I64)?;
    let total = g.reshape_to(total, &[])?;
    let keys = g.one(Op::Maximum, &[kept, total])?;
    let numbers = g.iota(DimSize::Value(keys))?;
    let numbers = g.expand(numbers, 0)?;
    let since = g.sub(numbers, before)?;
    let is_new = g.one(Op::GreaterEqual, &[since, none])?;
    let (behind, most) = (g.add(since, kept)?, g.add(kept, count_new)?);
    let most = g.plus(most, -1.0)?;
    let behind = g.one(Op::Minimum, &[behind, most])?;
    let at = g.one(Op::SelectV2, &[is_new, behind, numbers])?;
    let is_filled = g.one(Op::Less, &[since, count_new])?;
    let is_filled = g.expand(is_filled, 1)?;
    let is_filled = g.expand(is_filled, 3)?;
    for (all, past) in all.iter_mut().zip(past) {
        if let Some(past) = past {
            *all = g.concat(&[past, *all], 2)?;
        }
        let axis = g.int(2)?;
        let moved = g.op(Op::GatherV2, &[*all, at, axis], &[("batch_dims", AttrArg::Int(1))])?;
        let zero = g.scalar_like(0.0, moved)?;
        *all = g.one(Op::SelectV2, &[is_filled, moved, zero])?;
    }
    // Each query sees the keys up to its own, or a window of them.
    let (places, numbers) = (g.expand(places, 2)?, g.expand(numbers, 1)?);
    let mut seen = g.one(Op::LessEqual, &[numbers, places])?;
    let window = n.int_or("local_window_size", -1);
    if window > 0 {
        let first = g.plus(places, -(window as f64))?;
        let is_near = g.one(Op::Greater, &[numbers, first])?;
        seen = g.one(Op::LogicalAnd, &[seen, is_near])?;
    }
    let seen = g.expand(seen, 1)?;
    let mask = masked(g, Some(seen), n.optional(10))?;
    let [key, value] = all;
    let softcap = n.float_or("softcap", 0.0);
    let heads = Heads { softcap, ..Heads::of_microsoft(n, [query, key, value], mask, None) };
    let (result, _) = attention_of(g, &heads)?;
    Ok(vec![merge_heads(g, result)?, key, value])
}

/// The heads of queries, keys and values of a `GroupQueryAttention`; the first input may have all three.
fn heads_of_groups(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    count: i64,
    groups: i64,
) -> Result<[ValueId; 3], Why> {
    let query = n.input(0)?;
    let parts = match (n.optional(1), n.optional(2)) {
        (Some(key), Some(value)) => [query, key, value],
        (None, None) => {
            let width = g.dims(query)?.get(2).copied().filter(|&width| width > 0);
            let width = width.ok_or("the size of its heads is not known")?;
            let heads = groups.checked_mul(2).and_then(|both| both.checked_add(count));
            let heads = heads.filter(|&heads| heads > 0 && count > 0 && groups > 0 && width % heads == 0);
            let size = width / heads.ok_or_else(|| format!("{width} columns for its heads"))?;
            let sizes = g.ints(&[count * size, groups * size, groups * size])?;
            let parts = g.split_by(query, 2, sizes, 3)?;
            parts.try_into().map_err(|_| "its parts are not three")?
        }
        _ => return Err("it has keys without values, or values without keys".into()),
    };
    let [query, key, value] = parts;
    Ok([split_heads(g, query, count)?, split_heads(g, key, groups)?, split_heads(g, value, groups)?])
}
