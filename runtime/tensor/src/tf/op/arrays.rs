//! Operators that move elements, or take and put them by index.

use super::{Attributes, OwnedEval, Row, count_in, int_in, ints_in, of, of_many, owning, shape_in};
use crate::error::invalid;
use crate::tf::{
    Band, PadMode, Scatter, SliceMasks, SliceRange, Unary, batch_to_space, bincount, cast, concat,
    depth_to_space, diag, diag_part, dynamic_partition, dynamic_stitch, fast, gather, gather_nd, in_top_k,
    list_diff, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag, mirror_pad_grad, one_hot,
    pack, pad, reverse, reverse_sequence, roll, scatter_nd, search_sorted, slice, space_to_batch,
    space_to_depth, split, split_v, strided_slice, strided_slice_grad, tensor_scatter,
    tensor_strided_slice_update, tile, top_k, transpose, unary, unique, unpack,
};
use crate::{DType, HostTensor, I1, TensorError};

pub(super) const OPS: &[Row] = &[
    (&["Transpose"], |attrs| {
        owning(attrs, |[x, perm], cx| fast::transpose(&x, &ints_in("Transpose", "perm", &perm)?, cx))
    }),
    (&["ConjugateTranspose"], |attrs| {
        of(attrs, |[x, perm], m| {
            let turned = transpose(x, &ints_in("ConjugateTranspose", "perm", perm)?, m)?;
            if matches!(x.dtype(), DType::Complex64 | DType::Complex128) {
                unary(Unary::Conj, &turned, m)
            } else {
                Ok(turned)
            }
        })
    }),
    (&["Tile"], |attrs| of(attrs, |[x, n], m| tile(x, &ints_in("Tile", "multiples", n)?, m))),
    (&["ReverseV2"], |attrs| of(attrs, |[x, axes], m| reverse(x, &ints_in("ReverseV2", "axis", axes)?, m))),
    (&["Reverse"], |attrs| {
        of(attrs, |[x, turned], m| {
            if turned.shape().dims() != [x.shape().rank()] {
                return invalid(
                    "Reverse",
                    format!("`dims` of shape {} for shape {}", turned.shape(), x.shape()),
                );
            }
            let turned = turned.read_as::<I1>("dims")?;
            let axes = (0..).zip(turned.iter()).filter(|(_, turned)| turned.is_true());
            reverse(x, &axes.map(|(axis, _)| axis).collect::<Vec<_>>(), m)
        })
    }),
    (&["Roll"], |attrs| {
        of(attrs, |[x, shift, axis], m| {
            roll(x, &ints_in("Roll", "shift", shift)?, &ints_in("Roll", "axis", axis)?, m)
        })
    }),
    (&["SpaceToDepth", "DepthToSpace"], |attrs| {
        let (op, block) = (attrs.op(), attrs.count("block_size")?);
        attrs.word("data_format", &[("NHWC", ())])?;
        let f = if op == "SpaceToDepth" { space_to_depth } else { depth_to_space };
        of(attrs, move |[x], m| f(x, block, m))
    }),
    (&["ConcatV2"], |attrs| {
        of_many(attrs, 2, |inputs, m| match inputs.split_last() {
            Some((axis, xs)) => concat(xs, int_in("ConcatV2", "axis", axis)?, m),
            None => concat(&[], 0, m),
        })
    }),
    (&["Concat"], |attrs| {
        of_many(attrs, 2, |inputs, m| match inputs.split_first() {
            Some((axis, xs)) => concat(xs, int_in("Concat", "concat_dim", axis)?, m),
            None => concat(&[], 0, m),
        })
    }),
    (&["ParallelConcat"], |attrs| of_many(attrs, 1, |xs, m| concat(xs, 0, m))),
    (&["Pack"], |attrs| {
        let axis = attrs.int("axis")?;
        of_many(attrs, 1, move |xs, m| pack(xs, axis, m))
    }),
    (&["Unpack"], |attrs| {
        let (axis, n) = (attrs.int("axis")?, attrs.count("num")?);
        of(attrs, move |[x], m| {
            let parts = unpack(x, axis, m)?;
            match parts.len() == n {
                true => Ok(parts),
                false => {
                    invalid("Unpack", format!("{} slices of shape {}, expected {n}", parts.len(), x.shape()))
                }
            }
        })
    }),
    (&["Split"], |attrs| {
        let n = attrs.count("num_split")?;
        of(attrs, move |[axis, x], m| split(x, n, int_in("Split", "split_dim", axis)?, m))
    }),
    (&["SplitV"], |attrs| {
        let n = attrs.count("num_split")?;
        of(attrs, move |[x, sizes, axis], m| {
            let sizes = ints_in("SplitV", "size_splits", sizes)?;
            if sizes.len() != n {
                return invalid("SplitV", format!("{} sizes, expected {n}", sizes.len()));
            }
            split_v(x, &sizes, int_in("SplitV", "split_dim", axis)?, m)
        })
    }),
    (&["Pad"], |attrs| {
        of(attrs, |[x, paddings], m| pad(x, &pairs_in("Pad", paddings)?, PadMode::Constant(&[]), m))
    }),
    (&["PadV2"], |attrs| {
        of(attrs, |[x, paddings, value], m| {
            let value = element_in("PadV2", "constant_values", value, x)?;
            pad(x, &pairs_in("PadV2", paddings)?, PadMode::Constant(&value), m)
        })
    }),
    (&["MirrorPad", "MirrorPadGrad"], |attrs| {
        let op = attrs.op();
        let mode = attrs.word("mode", &[("REFLECT", PadMode::Reflect), ("SYMMETRIC", PadMode::Symmetric)])?;
        let f = if op == "MirrorPad" { pad } else { mirror_pad_grad };
        of(attrs, move |[x, paddings], m| f(x, &pairs_in(op, paddings)?, mode, m))
    }),
    (&["Slice"], |attrs| {
        of(attrs, |[x, begin, size], m| {
            slice(x, &ints_in("Slice", "begin", begin)?, &ints_in("Slice", "size", size)?, m)
        })
    }),
    (&["StridedSlice"], |attrs| {
        let masks = masks(attrs)?;
        of(attrs, move |[x, begin, end, strides], m| {
            let [begin, end, strides] = ranges("StridedSlice", [begin, end, strides])?;
            strided_slice(x, &SliceRange { begin: &begin, end: &end, strides: &strides, masks }, m)
        })
    }),
    (&["StridedSliceGrad"], |attrs| {
        let masks = masks(attrs)?;
        of(attrs, move |[shape, begin, end, strides, dy], m| {
            let [begin, end, strides] = ranges("StridedSliceGrad", [begin, end, strides])?;
            let range = SliceRange { begin: &begin, end: &end, strides: &strides, masks };
            strided_slice_grad(&shape_in("StridedSliceGrad", "shape", shape)?, &range, dy, m)
        })
    }),
    (&["TensorStridedSliceUpdate"], |attrs| {
        let masks = masks(attrs)?;
        of(attrs, move |[x, begin, end, strides, value], m| {
            let [begin, end, strides] = ranges("TensorStridedSliceUpdate", [begin, end, strides])?;
            let range = SliceRange { begin: &begin, end: &end, strides: &strides, masks };
            tensor_strided_slice_update(x, &range, value, m)
        })
    }),
    (&["Gather"], |attrs| of(attrs, |[x, indices], m| gather(x, indices, 0, 0, m))),
    (&["GatherV2"], |attrs| {
        let batch_dims = attrs.int("batch_dims")?;
        of(attrs, move |[x, indices, axis], m| {
            gather(x, indices, int_in("GatherV2", "axis", axis)?, batch_dims, m)
        })
    }),
    (&["GatherNd"], |attrs| of(attrs, |[x, indices], m| gather_nd(x, indices, m))),
    (&["OneHot"], |attrs| {
        let axis = attrs.int("axis")?;
        of(attrs, move |[indices, depth, on, off], m| {
            one_hot(indices, count_in("OneHot", "depth", depth)?, on, off, axis, m)
        })
    }),
    (&["ScatterNd"], |attrs| {
        of(attrs, |[at, values, shape], m| scatter_nd(at, values, &shape_in("ScatterNd", "shape", shape)?, m))
    }),
    (&["TensorScatterUpdate"], |attrs| scatter(attrs, Scatter::Update)),
    (&["TensorScatterAdd", "ScatterNdNonAliasingAdd"], |attrs| scatter(attrs, Scatter::Add)),
    (&["TensorScatterSub"], |attrs| scatter(attrs, Scatter::Sub)),
    (&["TensorScatterMin"], |attrs| scatter(attrs, Scatter::Min)),
    (&["TensorScatterMax"], |attrs| scatter(attrs, Scatter::Max)),
    (&["DynamicStitch", "ParallelDynamicStitch"], |attrs| {
        of_many(attrs, 2, |inputs, m| {
            let (indices, data) = inputs.split_at(inputs.len() / 2);
            dynamic_stitch(indices, data, m)
        })
    }),
    (&["DynamicPartition"], |attrs| {
        let n = attrs.count("num_partitions")?;
        of(attrs, move |[x, partitions], m| dynamic_partition(x, partitions, n, m))
    }),
    (&["DenseBincount", "Bincount"], |attrs| {
        let op = attrs.op();
        let binary = op == "DenseBincount" && attrs.bool("binary_output")?;
        of(attrs, move |[x, size, weights], m| bincount(x, count_in(op, "size", size)?, weights, binary, m))
    }),
    (&["LowerBound", "UpperBound"], |attrs| {
        let (upper, to) = (attrs.op() == "UpperBound", attrs.dtype("out_type")?);
        of(attrs, move |[sorted, values], m| search_sorted(upper, sorted, values, to, m))
    }),
    (&["Unique"], |attrs| {
        let to = attrs.dtype("out_idx")?;
        of(attrs, move |[x], m| unique(x, None, to, m).map(|[values, at, _]| [values, at]))
    }),
    (&["UniqueWithCounts"], |attrs| {
        let to = attrs.dtype("out_idx")?;
        of(attrs, move |[x], m| unique(x, None, to, m))
    }),
    (&["TopK"], |attrs| {
        let k = attrs.count("k")?;
        of(attrs, move |[x], m| top_k(x, k, m))
    }),
    (&["TopKV2"], |attrs| {
        let to = attrs.dtype("index_type")?;
        of(attrs, move |[x, k], m| {
            let [values, at] = top_k(x, count_in("TopKV2", "k", k)?, m)?;
            let at = if at.dtype() == to { at } else { cast(&at, to, m)? };
            Ok([values, at])
        })
    }),
    (&["InTopK"], |attrs| {
        let k = attrs.int("k")?;
        of(attrs, move |[x, targets], m| in_top_k(x, targets, k, m))
    }),
    (&["InTopKV2"], |attrs| {
        of(attrs, |[x, targets, k], m| in_top_k(x, targets, int_in("InTopKV2", "k", k)?, m))
    }),
    (&["Diag"], |attrs| of(attrs, |[x], m| diag(x, m))),
    (&["DiagPart"], |attrs| of(attrs, |[x], m| diag_part(x, m))),
    (&["MatrixBandPart", "BatchMatrixBandPart"], |attrs| {
        let op = attrs.op();
        of(attrs, move |[x, lower, upper], m| {
            matrix_band_part(x, int_in(op, "num_lower", lower)?, int_in(op, "num_upper", upper)?, m)
        })
    }),
    (&["MatrixDiag"], |attrs| {
        of(attrs, |[x], m| matrix_diag(x, &Band::MAIN, [None; 2], &[0; 16][..x.dtype().size()], m))
    }),
    (&["MatrixDiagV2", "MatrixDiagV3"], |attrs| {
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
            matrix_diag(x, &band_in(op, k, align)?, sizes, &element_in(op, "padding_value", padding, x)?, m)
        })
    }),
    (&["MatrixDiagPart"], |attrs| {
        of(attrs, |[x], m| matrix_diag_part(x, &Band::MAIN, &[0; 16][..x.dtype().size()], m))
    }),
    (&["MatrixDiagPartV2", "MatrixDiagPartV3"], |attrs| {
        let (op, align) = (attrs.op(), alignment(attrs)?);
        of(attrs, move |[x, k, padding], m| {
            matrix_diag_part(x, &band_in(op, k, align)?, &element_in(op, "padding_value", padding, x)?, m)
        })
    }),
    (&["MatrixSetDiag"], |attrs| of(attrs, |[x, diagonal], m| matrix_set_diag(x, diagonal, &Band::MAIN, m))),
    (&["MatrixSetDiagV2", "MatrixSetDiagV3"], |attrs| {
        let (op, align) = (attrs.op(), alignment(attrs)?);
        of(attrs, move |[x, diagonal, k], m| matrix_set_diag(x, diagonal, &band_in(op, k, align)?, m))
    }),
    (&["ReverseSequence"], |attrs| {
        let (seq, batch) = (attrs.int("seq_dim")?, attrs.int("batch_dim")?);
        of(attrs, move |[x, lengths], m| {
            reverse_sequence(x, &ints_in("ReverseSequence", "seq_lengths", lengths)?, seq, batch, m)
        })
    }),
    (&["SpaceToBatchND", "BatchToSpaceND"], |attrs| {
        let op = attrs.op();
        let f = if op == "SpaceToBatchND" { space_to_batch } else { batch_to_space };
        of(attrs, move |[x, blocks, pairs], m| {
            f(x, &ints_in(op, "block_shape", blocks)?, &pairs_in(op, pairs)?, m)
        })
    }),
    (&["ListDiff"], |attrs| {
        let to = attrs.dtype("out_idx")?;
        of(attrs, move |[x, y], m| list_diff(x, y, to, m))
    }),
    (&["UniqueV2"], |attrs| {
        let to = attrs.dtype("out_idx")?;
        of(attrs, move |[x, axis], m| {
            let axis = match &ints_in("UniqueV2", "axis", axis)?[..] {
                [] => None,
                &[axis] => Some(axis),
                axes => return invalid("UniqueV2", format!("axes {axes:?}, expected one at most")),
            };
            unique(x, axis, to, m).map(|[values, at, _]| [values, at])
        })
    }),
];

/// The bytes of an operand that is one element of `x`'s dtype.
fn element_in(
    op: &'static str,
    what: &'static str,
    element: &HostTensor,
    x: &HostTensor,
) -> Result<Vec<u8>, TensorError> {
    element.expect_dtype(what, x.dtype())?;
    match element.num_elements() {
        1 => Ok(element.read_bytes()?.to_vec()),
        _ => invalid(op, format!("`{what}` is no scalar")),
    }
}

/// Whether diagonals above and below the main one are at the left of their rows; always, before there was an attribute for it.
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

/// The diagonals in an operand: one, or the lowest and the highest.
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

fn scatter(attrs: &Attributes<'_>, mode: Scatter) -> Result<OwnedEval, TensorError> {
    of(attrs, move |[x, indices, updates], m| tensor_scatter(mode, x, indices, updates, m))
}

/// The paddings in an operand: a row of two for each axis.
fn pairs_in(op: &'static str, x: &HostTensor) -> Result<Vec<(i64, i64)>, TensorError> {
    match x.shape().dims() {
        [_, 2] => {
            let flat = super::indices_of(op, x)?;
            Ok(flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
        }
        _ => invalid(op, format!("`paddings` has shape {}, expected [n, 2]", x.shape())),
    }
}

fn masks(attrs: &Attributes<'_>) -> Result<SliceMasks, TensorError> {
    let mask = |name| attrs.int(name).map(|mask| mask as u64); // bits
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
