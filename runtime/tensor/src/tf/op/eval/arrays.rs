//! Operators that move elements, or gather and scatter them by index.

use std::sync::Arc;

use super::{
    MAX_INTS, all, count_in, int_in, ints_in, many_ints_in, of, of_many, owning, owning_many, shape_in,
};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, copied};
use crate::tf::index::indices_of;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, Band, PadMode, Scatter, SliceMasks, SliceRange, Unary, batch_to_space, cast, depth_to_space, fast,
    mirror_pad_grad, search_sorted, space_to_batch, space_to_depth, tensor_scatter, unary,
};
use crate::{DType, HostTensor, I1, Shape, TensorError};

pub(in crate::tf::op) fn transpose(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x, perm], cx| fast::transpose(&x, &ints_in("Transpose", "perm", &perm)?, cx))
}

pub(in crate::tf::op) fn conjugate_transpose(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, perm], m| {
        let transposed = tf::transpose(x, &ints_in("ConjugateTranspose", "perm", perm)?, m)?;
        if matches!(x.dtype(), DType::Complex64 | DType::Complex128) {
            unary(Unary::Conj, &transposed, m)
        } else {
            Ok(transposed)
        }
    })
}

pub(in crate::tf::op) fn tile(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, n], m| tf::tile(x, &ints_in("Tile", "multiples", n)?, m))
}

pub(in crate::tf::op) fn reverse_v2(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, axes], m| tf::reverse(x, &ints_in("ReverseV2", "axis", axes)?, m))
}

pub(in crate::tf::op) fn reverse(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, transposed], m| {
        if transposed.shape().dims() != [x.shape().rank()] {
            return invalid(
                "Reverse",
                format!("`dims` of shape {} for shape {}", transposed.shape(), x.shape()),
            );
        }
        let transposed = transposed.read_as::<I1>("dims")?;
        let axes = (0..).zip(transposed.iter()).filter(|(_, transposed)| transposed.is_true());
        tf::reverse(x, &axes.map(|(axis, _)| axis).collect::<Vec<_>>(), m)
    })
}

pub(in crate::tf::op) fn roll(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, shift, axis], m| {
        tf::roll(x, &many_ints_in("Roll", "shift", shift)?, &many_ints_in("Roll", "axis", axis)?, m)
    })
}

pub(in crate::tf::op) fn depth_and_space(attrs: &Attributes<'_>) -> Made {
    let (op, block) = (attrs.op(), attrs.count("block_size")?);
    attrs.word("data_format", &[("NHWC", ())])?;
    let f = if op == "SpaceToDepth" { space_to_depth } else { depth_to_space };
    of(attrs, move |[x], m| f(x, block, m))
}

pub(in crate::tf::op) fn concat_v2(attrs: &Attributes<'_>) -> Made {
    owning_many(attrs, 2, |inputs, cx| match all(&inputs).split_last() {
        Some((axis, xs)) => fast::concat(xs, int_in("ConcatV2", "axis", axis)?, cx),
        None => fast::concat(&[], 0, cx),
    })
}

pub(in crate::tf::op) fn concat(attrs: &Attributes<'_>) -> Made {
    owning_many(attrs, 2, |inputs, cx| match all(&inputs).split_first() {
        Some((axis, xs)) => fast::concat(xs, int_in("Concat", "concat_dim", axis)?, cx),
        None => fast::concat(&[], 0, cx),
    })
}

pub(in crate::tf::op) fn parallel_concat(attrs: &Attributes<'_>) -> Made {
    owning_many(attrs, 1, |inputs, cx| fast::concat(&all(&inputs), 0, cx))
}

pub(in crate::tf::op) fn pack(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    owning_many(attrs, 1, move |inputs, cx| fast::pack(&all(&inputs), axis, cx))
}

pub(in crate::tf::op) fn unpack(attrs: &Attributes<'_>) -> Made {
    let (axis, n) = (attrs.int("axis")?, attrs.count("num")?);
    of(attrs, move |[x], m| {
        let parts = tf::unpack(x, axis, m)?;
        match parts.len() == n {
            true => Ok(parts),
            false => {
                invalid("Unpack", format!("{} slices of shape {}, expected {n}", parts.len(), x.shape()))
            }
        }
    })
}

pub(in crate::tf::op) fn split(attrs: &Attributes<'_>) -> Made {
    let n = attrs.count("num_split")?;
    of(attrs, move |[axis, x], m| tf::split(x, n, int_in("Split", "split_dim", axis)?, m))
}

pub(in crate::tf::op) fn split_v(attrs: &Attributes<'_>) -> Made {
    let n = attrs.count("num_split")?;
    of(attrs, move |[x, sizes, axis], m| {
        let sizes = many_ints_in("SplitV", "size_splits", sizes)?;
        if sizes.len() != n {
            return invalid("SplitV", format!("{} sizes, expected {n}", sizes.len()));
        }
        tf::split_v(x, &sizes, int_in("SplitV", "split_dim", axis)?, m)
    })
}

pub(in crate::tf::op) fn pad(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, paddings], m| tf::pad(x, &pairs_in("Pad", paddings)?, PadMode::Constant(&[]), m))
}

pub(in crate::tf::op) fn pad_v2(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, paddings, value], m| {
        let value = element_in("PadV2", "constant_values", value, x)?;
        tf::pad(x, &pairs_in("PadV2", paddings)?, PadMode::Constant(&value), m)
    })
}

/// The mode of a padding by reflection.
pub(super) fn mirror_mode(attrs: &Attributes<'_>) -> Result<PadMode<'static>, TensorError> {
    attrs.word("mode", &[("REFLECT", PadMode::Reflect), ("SYMMETRIC", PadMode::Symmetric)])
}

pub(in crate::tf::op) fn mirror_pad(attrs: &Attributes<'_>) -> Made {
    let (op, mode) = (attrs.op(), mirror_mode(attrs)?);
    let f = if op == "MirrorPad" { tf::pad } else { mirror_pad_grad };
    of(attrs, move |[x, paddings], m| f(x, &pairs_in(op, paddings)?, mode, m))
}

pub(in crate::tf::op) fn slice(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x, begin, size], cx| {
        fast::slice(&x, &ints_in("Slice", "begin", &begin)?, &ints_in("Slice", "size", &size)?, cx)
    })
}

pub(in crate::tf::op) fn strided_slice(attrs: &Attributes<'_>) -> Made {
    let masks = masks(attrs)?;
    owning(attrs, move |[x, begin, end, strides], cx| {
        let [begin, end, strides] = ranges("StridedSlice", [&begin, &end, &strides])?;
        fast::strided_slice(&x, &SliceRange { begin: &begin, end: &end, strides: &strides, masks }, cx)
    })
}

pub(in crate::tf::op) fn strided_slice_grad(attrs: &Attributes<'_>) -> Made {
    let masks = masks(attrs)?;
    of(attrs, move |[shape, begin, end, strides, dy], m| {
        let [begin, end, strides] = ranges("StridedSliceGrad", [begin, end, strides])?;
        let range = SliceRange { begin: &begin, end: &end, strides: &strides, masks };
        tf::strided_slice_grad(&shape_in("StridedSliceGrad", "shape", shape)?, &range, dy, m)
    })
}

pub(in crate::tf::op) fn tensor_strided_slice_update(attrs: &Attributes<'_>) -> Made {
    let masks = masks(attrs)?;
    of(attrs, move |[x, begin, end, strides, value], m| {
        let [begin, end, strides] = ranges("TensorStridedSliceUpdate", [begin, end, strides])?;
        let range = SliceRange { begin: &begin, end: &end, strides: &strides, masks };
        tf::tensor_strided_slice_update(x, &range, value, m)
    })
}

pub(in crate::tf::op) fn gather(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, indices], m| tf::gather(x, indices, 0, 0, m))
}

pub(in crate::tf::op) fn gather_v2(attrs: &Attributes<'_>) -> Made {
    let batch_dims = attrs.int("batch_dims")?;
    of(attrs, move |[x, indices, axis], m| {
        tf::gather(x, indices, int_in("GatherV2", "axis", axis)?, batch_dims, m)
    })
}

pub(in crate::tf::op) fn gather_nd(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, indices], m| tf::gather_nd(x, indices, m))
}

pub(in crate::tf::op) fn one_hot(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    of(attrs, move |[indices, depth, on, off], m| {
        tf::one_hot(indices, count_in("OneHot", "depth", depth)?, on, off, axis, m)
    })
}

pub(in crate::tf::op) fn scatter_nd(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[at, values, shape], m| tf::scatter_nd(at, values, &shape_in("ScatterNd", "shape", shape)?, m))
}

pub(in crate::tf::op) fn tensor_scatter_update(attrs: &Attributes<'_>) -> Made {
    scatter(attrs, Scatter::Update)
}

pub(in crate::tf::op) fn tensor_scatter_add(attrs: &Attributes<'_>) -> Made {
    scatter(attrs, Scatter::Add)
}

pub(in crate::tf::op) fn tensor_scatter_sub(attrs: &Attributes<'_>) -> Made {
    scatter(attrs, Scatter::Sub)
}

pub(in crate::tf::op) fn tensor_scatter_min(attrs: &Attributes<'_>) -> Made {
    scatter(attrs, Scatter::Min)
}

pub(in crate::tf::op) fn tensor_scatter_max(attrs: &Attributes<'_>) -> Made {
    scatter(attrs, Scatter::Max)
}

pub(in crate::tf::op) fn inplace_add(attrs: &Attributes<'_>) -> Made {
    inplace(attrs, Scatter::Add)
}

pub(in crate::tf::op) fn inplace_sub(attrs: &Attributes<'_>) -> Made {
    inplace(attrs, Scatter::Sub)
}

pub(in crate::tf::op) fn inplace_update(attrs: &Attributes<'_>) -> Made {
    inplace(attrs, Scatter::Update)
}

pub(in crate::tf::op) fn dynamic_stitch(attrs: &Attributes<'_>) -> Made {
    of_many(attrs, 2, |inputs, m| {
        let (indices, data) = inputs.split_at(inputs.len() / 2);
        tf::dynamic_stitch(indices, data, m)
    })
}

pub(in crate::tf::op) fn dynamic_partition(attrs: &Attributes<'_>) -> Made {
    let n = attrs.count("num_partitions")?;
    of(attrs, move |[x, partitions], m| tf::dynamic_partition(x, partitions, n, m))
}

pub(in crate::tf::op) fn bincount(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let by_rows = op == "DenseBincount";
    let binary = by_rows && attrs.bool("binary_output")?;
    of(attrs, move |[x, size, weights], m| {
        let size = count_in(op, "size", size)?;
        if by_rows {
            return tf::bincount(x, size, weights, binary, m);
        }
        let flat = |x: &HostTensor| x.reshaped(Shape::new(&[x.num_elements()])?);
        tf::bincount(&flat(x)?, size, &flat(weights)?, binary, m)
    })
}

pub(in crate::tf::op) fn bucketize(attrs: &Attributes<'_>) -> Made {
    let boundaries = attrs.floats("boundaries")?;
    if !boundaries.is_sorted() {
        return invalid(attrs.op(), "the boundaries do not ascend".to_owned());
    }
    of(attrs, move |[x], m| tf::bucketize(x, &boundaries, m))
}

pub(in crate::tf::op) fn sorted_bounds(attrs: &Attributes<'_>) -> Made {
    let (upper, to) = (attrs.op() == "UpperBound", attrs.dtype("out_type")?);
    of(attrs, move |[sorted, values], m| search_sorted(upper, sorted, values, to, m))
}

pub(in crate::tf::op) fn unique(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_idx")?;
    of(attrs, move |[x], m| tf::unique(x, None, to, m).map(|[values, at, _]| [values, at]))
}

pub(in crate::tf::op) fn unique_with_counts(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_idx")?;
    of(attrs, move |[x], m| tf::unique(x, None, to, m))
}

pub(in crate::tf::op) fn top_k(attrs: &Attributes<'_>) -> Made {
    let k = attrs.count("k")?;
    of(attrs, move |[x], m| tf::top_k(x, k, m))
}

pub(in crate::tf::op) fn top_kv2(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("index_type")?;
    of(attrs, move |[x, k], m| {
        let [values, at] = tf::top_k(x, count_in("TopKV2", "k", k)?, m)?;
        let at = if at.dtype() == to { at } else { cast(&at, to, m)? };
        Ok([values, at])
    })
}

pub(in crate::tf::op) fn in_top_k(attrs: &Attributes<'_>) -> Made {
    let k = attrs.int("k")?;
    of(attrs, move |[x, targets], m| tf::in_top_k(x, targets, k, m))
}

pub(in crate::tf::op) fn in_top_kv2(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, targets, k], m| tf::in_top_k(x, targets, int_in("InTopKV2", "k", k)?, m))
}

pub(in crate::tf::op) fn diag(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::diag(x, m))
}

pub(in crate::tf::op) fn diag_part(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::diag_part(x, m))
}

pub(in crate::tf::op) fn matrix_band_part(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[x, lower, upper], m| {
        tf::matrix_band_part(x, int_in(op, "num_lower", lower)?, int_in(op, "num_upper", upper)?, m)
    })
}

pub(in crate::tf::op) fn matrix_diag(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::matrix_diag(x, &Band::MAIN, [None; 2], &[0; 16][..x.dtype().size()], m))
}

pub(in crate::tf::op) fn matrix_diag_v2(attrs: &Attributes<'_>) -> Made {
    let (op, align) = (attrs.op(), alignment(attrs)?);
    of(attrs, move |[x, k, rows, cols, padding], m| {
        let size = |what, size| {
            let given = int_in(op, what, size)?;
            match usize::try_from(given) {
                Ok(size) => Ok(Some(size)),
                Err(_) if given == -1 => Ok(None),
                Err(_) => invalid(op, format!("`{what}` is {given}")),
            }
        };
        let sizes = [size("num_rows", rows)?, size("num_cols", cols)?];
        tf::matrix_diag(x, &band_in(op, k, align)?, sizes, &element_in(op, "padding_value", padding, x)?, m)
    })
}

pub(in crate::tf::op) fn matrix_diag_part(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x], m| tf::matrix_diag_part(x, &Band::MAIN, &[0; 16][..x.dtype().size()], m))
}

pub(in crate::tf::op) fn matrix_diag_part_v2(attrs: &Attributes<'_>) -> Made {
    let (op, align) = (attrs.op(), alignment(attrs)?);
    of(attrs, move |[x, k, padding], m| {
        tf::matrix_diag_part(x, &band_in(op, k, align)?, &element_in(op, "padding_value", padding, x)?, m)
    })
}

pub(in crate::tf::op) fn matrix_set_diag(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[x, diagonal], m| tf::matrix_set_diag(x, diagonal, &Band::MAIN, m))
}

pub(in crate::tf::op) fn matrix_set_diag_v2(attrs: &Attributes<'_>) -> Made {
    let (op, align) = (attrs.op(), alignment(attrs)?);
    of(attrs, move |[x, diagonal, k], m| tf::matrix_set_diag(x, diagonal, &band_in(op, k, align)?, m))
}

pub(in crate::tf::op) fn reverse_sequence(attrs: &Attributes<'_>) -> Made {
    let (seq, batch) = (attrs.int("seq_dim")?, attrs.int("batch_dim")?);
    of(attrs, move |[x, lengths], m| {
        tf::reverse_sequence(x, &many_ints_in("ReverseSequence", "seq_lengths", lengths)?, seq, batch, m)
    })
}

pub(in crate::tf::op) fn batches_and_space(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let f = if op == "SpaceToBatchND" { space_to_batch } else { batch_to_space };
    of(attrs, move |[x, blocks, pairs], m| {
        f(x, &ints_in(op, "block_shape", blocks)?, &pairs_in(op, pairs)?, m)
    })
}

/// Blocks of the height and the width of images.
pub(in crate::tf::op) fn batches_and_planes(attrs: &Attributes<'_>) -> Made {
    let (op, size) = (attrs.op(), attrs.int("block_size")?);
    let f = if op == "SpaceToBatch" { space_to_batch } else { batch_to_space };
    of(attrs, move |[x, pairs], m| {
        if size < 2 || x.shape().rank() != 4 || pairs.shape().dims() != [2, 2] {
            let (x, pairs) = (x.shape(), pairs.shape());
            return invalid(op, format!("blocks of {size} for shape {x} and pairs of shape {pairs}"));
        }
        f(x, &[size; 2], &pairs_in(op, pairs)?, m)
    })
}

/// For each axis of one data format, its position in another one, from two attributes.
fn format_axes(attrs: &Attributes<'_>) -> Result<(String, String, Vec<usize>), TensorError> {
    let (from, to) = (attrs.string("src_format")?, attrs.string("dst_format")?);
    let at: Option<Vec<usize>> =
        from.chars().map(|axis| to.chars().position(|other| other == axis)).collect();
    let at = at.filter(|at| {
        let is_hit = |i| at.contains(&i);
        [4, 5].contains(&at.len()) && to.chars().count() == at.len() && (0..at.len()).all(is_hit)
    });
    match at {
        Some(at) => Ok((from, to, at)),
        None => invalid(attrs.op(), format!("`{from}` and `{to}` are not the same 4 or 5 axes")),
    }
}

/// Integers, each replaced by `f`.
fn mapped_ints(
    op: &'static str,
    x: &HostTensor,
    m: &Arc<dyn Allocator>,
    f: impl Fn(&[i64], usize) -> i64,
) -> Result<HostTensor, TensorError> {
    let numbers = indices_of(op, x)?;
    let numbers = collected((0..numbers.len()).map(|i| f(&numbers, i)))?;
    cast(&HostTensor::from_slice(x.shape().clone(), &numbers, m)?, x.dtype(), m)
}

pub(in crate::tf::op) fn format_axis(attrs: &Attributes<'_>) -> Made {
    let (op, (_, _, at)) = (attrs.op(), format_axes(attrs)?);
    of(attrs, move |[x], m| {
        mapped_ints(op, x, m, |axes, i| at[axes[i].rem_euclid(at.len() as i64) as usize] as i64)
    })
}

/// The numbers, or pairs of them, of all axes or of the spatial ones.
pub(in crate::tf::op) fn format_order(attrs: &Attributes<'_>) -> Made {
    let (op, (from, to, _)) = (attrs.op(), format_axes(attrs)?);
    let positions = |from: &str, to: &str| -> Vec<usize> {
        to.chars().filter_map(|axis| from.chars().position(|other| other == axis)).collect()
    };
    let spatial = |format: &str| format.replace(|axis| !"DHW".contains(axis), "");
    let orders = [positions(&from, &to), positions(&spatial(&from), &spatial(&to))];
    of(attrs, move |[x], m| {
        let width = match x.shape().dims() {
            [_] => 1,
            [_, 2] => 2,
            _ => return invalid(op, format!("shape {}, expected a vector or pairs", x.shape())),
        };
        let n = x.shape().dims()[0];
        let Some(order) = orders.iter().find(|order| order.len() == n && n > 1) else {
            return invalid(op, format!("{n} numbers, expected {} or the spatial ones", orders[0].len()));
        };
        mapped_ints(op, x, m, |numbers, i| numbers[order[i / width] * width + i % width])
    })
}

pub(in crate::tf::op) fn list_diff(attrs: &Attributes<'_>) -> Made {
    let to = attrs.dtype("out_idx")?;
    of(attrs, move |[x, y], m| tf::list_diff(x, y, to, m))
}

pub(in crate::tf::op) fn unique_v2(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("out_idx")?);
    of(attrs, move |[x, axis], m| {
        tf::unique(x, axis_of_unique(op, axis)?, to, m).map(|[values, at, _]| [values, at])
    })
}

pub(in crate::tf::op) fn unique_with_counts_v2(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("out_idx")?);
    of(attrs, move |[x, axis], m| tf::unique(x, axis_of_unique(op, axis)?, to, m))
}

/// The axis whose slices are compared, if there is one.
fn axis_of_unique(op: &'static str, axis: &HostTensor) -> Result<Option<i64>, TensorError> {
    match &ints_in(op, "axis", axis)?[..] {
        [] => Ok(None),
        &[axis] => Ok(Some(axis)),
        axes => invalid(op, format!("axes {axes:?}, expected one at most")),
    }
}

pub(in crate::tf::op) fn unravel_index(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[indices, dims], m| tf::unravel_index(indices, dims, m))
}

/// The bytes of an operand with a single element, of `x`'s dtype.
fn element_in(
    op: &'static str,
    what: &'static str,
    element: &HostTensor,
    x: &HostTensor,
) -> Result<Vec<u8>, TensorError> {
    element.expect_dtype(what, x.dtype())?;
    match element.num_elements() {
        1 => copied(&element.read_bytes()?),
        _ => invalid(op, format!("`{what}` is no scalar")),
    }
}

/// True for left-aligned diagonals: above the main diagonal, and below it. Operators without the attribute
/// align left.
fn alignment(attrs: &Attributes<'_>) -> Result<(bool, bool), TensorError> {
    if attrs.signature().attr("align").is_none() {
        return Ok((true, true));
    }
    attrs.word(
        "align",
        &[
            ("LEFT_LEFT", (true, true)),
            ("LEFT_RIGHT", (true, false)),
            ("RIGHT_LEFT", (false, true)),
            ("RIGHT_RIGHT", (false, false)),
        ],
    )
}

/// The band in an operand: one diagonal, or the lowest and the highest.
fn band_in(
    op: &'static str,
    k: &HostTensor,
    (above_left, below_left): (bool, bool),
) -> Result<Band, TensorError> {
    match ints_in(op, "k", k)?[..] {
        [k] => Ok(Band { lower: k, upper: k, above_left, below_left }),
        [lower, upper] => Ok(Band { lower, upper, above_left, below_left }),
        ref other => invalid(op, format!("diagonals {other:?}, expected one number or two")),
    }
}

fn scatter(attrs: &Attributes<'_>, mode: Scatter) -> Made {
    of(attrs, move |[x, indices, updates], m| tensor_scatter(mode, x, indices, updates, m))
}

/// Rows by number, where a negative number, and any beyond the rows, wraps around.
fn inplace(attrs: &Attributes<'_>, mode: Scatter) -> Made {
    let op = attrs.op();
    of(attrs, move |[x, i, v], m| {
        let (rows, n) = (x.shape().dims().first().copied().unwrap_or(0), i.num_elements());
        let has_rows = v.shape().dims().get(1..) == x.shape().dims().get(1..);
        if i.shape().rank() != 1 || v.shape().dims().first() != Some(&n) || !has_rows {
            let (x, i, v) = (x.shape(), i.shape(), v.shape());
            return invalid(op, format!("`i` of shape {i} and `v` of shape {v} for shape {x}"));
        }
        let Some(rows) = i64::try_from(rows).ok().filter(|&rows| rows > 0) else { return Ok(x.clone()) };
        let wrapped = collected(indices_of(op, i)?.into_iter().map(|i| i.rem_euclid(rows)))?;
        let wrapped = HostTensor::from_slice(Shape::new(&[n, 1])?, &wrapped, m)?;
        tensor_scatter(mode, x, &wrapped, v, m)
    })
}

/// The paddings in an operand: a row of two per axis.
pub(super) fn pairs_in(op: &'static str, x: &HostTensor) -> Result<Vec<(i64, i64)>, TensorError> {
    match x.shape().dims() {
        [0..=MAX_INTS, 2] => {
            let flat = indices_of(op, x)?;
            Ok(flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
        }
        _ => invalid(op, format!("`paddings` has shape {}, expected [n, 2]", x.shape())),
    }
}

fn masks(attrs: &Attributes<'_>) -> Result<SliceMasks, TensorError> {
    let mask = |name| attrs.int(name).map(|mask| mask as u64); // the bits, not the value
    Ok(SliceMasks {
        begin: mask("begin_mask")?,
        end: mask("end_mask")?,
        ellipsis: mask("ellipsis_mask")?,
        new_axis: mask("new_axis_mask")?,
        shrink_axis: mask("shrink_axis_mask")?,
    })
}

fn ranges(op: &'static str, [begin, end, strides]: [&HostTensor; 3]) -> Result<[Vec<i64>; 3], TensorError> {
    Ok([ints_in(op, "begin", begin)?, ints_in(op, "end", end)?, ints_in(op, "strides", strides)?])
}
