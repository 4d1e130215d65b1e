//! Shapes: changed, read and filled; parts joined and split.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrValue, NodeWriter, Written};
use crate::export::onnx::node::TfNode;
use crate::export::onnx::tensor;

pub(super) fn reshape(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if let Some(known) = n.ints(1) {
        return Ok(vec![w.reshape(n.input(0)?, &known)]);
    }
    let shape = w.int_vector(n, 1)?;
    // Sizes of 0 are sizes, not those of the operand.
    Ok(vec![w.with("Reshape", &[n.input(0)?, &shape], vec![("allowzero", AttrValue::Int(1))])])
}

pub(super) fn expand_dims(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let axis = w.int_vector(n, 1)?;
    Ok(vec![w.op("Unsqueeze", &[n.input(0)?, &axis])])
}

pub(super) fn squeeze(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let axes = n.int_list("squeeze_dims")?;
    let x = n.input(0)?;
    Ok(vec![if axes.is_empty() { w.op("Squeeze", &[x]) } else { w.squeeze(x, &axes) }])
}

pub(super) fn transpose(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let rank = n.known_ints(1)?.len();
    let axes = n.known_ints(1)?.into_iter().map(|axis| TfNode::axis(axis, rank).map(|axis| axis as i64));
    let perm: Vec<i64> = axes.collect::<Result<_, _>>()?;
    Ok(vec![w.transpose_value(n.value(0)?, n.input(0)?, &perm)])
}

pub(super) fn shape(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut shapes = Vec::new();
    for (i, x) in n.inputs.iter().enumerate() {
        let shape = w.op("Shape", &[x]);
        shapes.push(w.cast(&shape, DType::I64, n.result_dtype(i)?));
    }
    Ok(shapes)
}

pub(super) fn size(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let size = w.op("Size", &[n.input(0)?]);
    Ok(vec![w.cast(&size, DType::I64, n.result_dtype(0)?)])
}

pub(super) fn rank(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if let Ok(rank) = n.rank(0) {
        return Ok(vec![w.scalar(rank as f64, DType::I32)?]);
    }
    let shape = w.op("Shape", &[n.input(0)?]);
    let rank = w.op("Size", &[&shape]);
    Ok(vec![w.cast(&rank, DType::I64, DType::I32)])
}

pub(super) fn fill(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let dims = w.int_vector(n, 0)?;
    Ok(vec![w.op("Expand", &[n.input(1)?, &dims])])
}

pub(super) fn broadcast_to(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let dims = w.int_vector(n, 1)?;
    Ok(vec![w.op("Expand", &[n.input(0)?, &dims])])
}

/// `BroadcastArgs`: the shape of the sum of two constants of these shapes.
pub(super) fn broadcast_args(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (a, b) = (w.int_vector(n, 0)?, w.int_vector(n, 1)?);
    let zero = w.int(0);
    let (a, b) = (w.op("Expand", &[&zero, &a]), w.op("Expand", &[&zero, &b]));
    let both = w.op("Add", &[&a, &b]);
    let shape = w.op("Shape", &[&both]);
    Ok(vec![w.cast(&shape, DType::I64, n.result_dtype(0)?)])
}

/// `ZerosLike` and `OnesLike`.
pub(super) fn same_everywhere(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let number = if n.operator == Op::OnesLike { 1.0 } else { 0.0 };
    let mut value = tensor::number(number, n.dtype(0)?)?;
    value.dims = vec![1];
    let shape = w.op("Shape", &[n.input(0)?]);
    Ok(vec![w.with("ConstantOfShape", &[&shape], vec![("value", AttrValue::Tensor(value))])])
}

pub(super) fn range(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![w.op("Range", &n.all())])
}

pub(super) fn tile(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let repeats = w.int_vector(n, 1)?;
    Ok(vec![w.op("Tile", &[n.input(0)?, &repeats])])
}

pub(super) fn pack(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let axis = n.int("axis")?;
    let parts: Vec<String> = n.inputs.iter().map(|part| w.unsqueeze(part, &[axis])).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Ok(vec![w.with("Concat", &parts, vec![("axis", AttrValue::Int(axis))])])
}

pub(super) fn concat(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let last = n.inputs.len().checked_sub(1).ok_or("it has no axis")?;
    let axis = n.known_int(last)?;
    Ok(vec![w.with("Concat", &n.all()[..last], vec![("axis", AttrValue::Int(axis))])])
}

pub(super) fn split(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let n_parts = n.n_results();
    if n.operator == Op::Split {
        let axis = ("axis", AttrValue::Int(n.known_int(0)?));
        let attrs = vec![axis, ("num_outputs", AttrValue::Int(n_parts as i64))];
        return Ok(w.node_of("", "Split", &[n.input(1)?], attrs, n_parts));
    }
    let axis = n.known_int(2)?;
    let mut sizes = n.known_ints(1)?;
    if let Some(rest) = sizes.iter().position(|&size| size < 0) {
        // At most one size is what the others leave.
        let dims = n.dims(0)?;
        let all = dims[TfNode::axis(axis, dims.len())?];
        let others: i64 =
            sizes.iter().filter(|&&size| size >= 0).fold(0, |sum, &size| sum.saturating_add(size));
        sizes[rest] = all.checked_sub(others).filter(|&size| size >= 0).ok_or("parts of unknown size")?;
    }
    let sizes = w.ints(&sizes);
    let attrs = vec![("axis", AttrValue::Int(axis))];
    Ok(w.node_of("", "Split", &[n.input(0)?, &sizes], attrs, n_parts))
}

pub(super) fn unpack(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (axis, n_parts) = (n.int("axis")?, n.n_results());
    if n_parts == 0 {
        return Ok(Vec::new());
    }
    let attrs = vec![("axis", AttrValue::Int(axis)), ("num_outputs", AttrValue::Int(n_parts as i64))];
    let parts = w.node_of("", "Split", &[n.input(0)?], attrs, n_parts);
    Ok(parts.iter().map(|part| w.squeeze(part, &[axis])).collect())
}
