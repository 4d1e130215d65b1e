//! Lists of tensors: ONNX's sequences.
//!
//! A list of a length without elements is one of zeros of the shape that its operand has, as TensorFlow reads
//! what was not set.

use befrost_tensor::DType;

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;
use crate::export::onnx::tensor;

/// Operand `i`, a number, as a scalar of i64.
fn position(w: &mut NodeWriter<'_>, n: &TfNode<'_>, i: usize) -> Result<Name, WhyNot> {
    let at = w.cast(n.input(i)?, n.dtype(i)?, DType::I64);
    Ok(if n.rank(i) == Ok(0) { at } else { w.reshape(&at, &[]) })
}

/// The rows of a tensor.
fn rows(w: &mut NodeWriter<'_>, x: &str) -> Name {
    let attrs = vec![("axis", AttrValue::Int(0)), ("keepdims", AttrValue::Int(0))];
    w.with("SplitToSequence", &[x], attrs)
}

pub(super) fn empty(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let dtype = i64::from(tensor::code(n.dtype_attr("element_dtype")?));
    Ok(vec![w.with("SequenceEmpty", &[], vec![("dtype", AttrValue::Int(dtype))])])
}

pub(super) fn from_tensor(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![rows(w, n.input(0)?)])
}

pub(super) fn reserve(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut zero = tensor::number(0.0, n.dtype_attr("element_dtype")?)?;
    zero.dims = vec![1];
    let dims = n.known_ints(0)?;
    if dims.iter().any(|&dim| dim < 0) {
        return Err("of elements of unknown shape".to_owned());
    }
    let count = w.int_vector(n, 1)?;
    let dims = w.ints(&dims);
    let shape = w.concat_ints(&[&count, &dims]);
    let zeros = w.with("ConstantOfShape", &[&shape], vec![("value", AttrValue::Tensor(zero))]);
    Ok(vec![rows(w, &zeros)])
}

pub(super) fn length(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let length = w.op("SequenceLength", &[n.input(0)?]);
    Ok(vec![w.cast(&length, DType::I64, n.result_dtype(0)?)])
}

pub(super) fn get_item(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let at = position(w, n, 1)?;
    Ok(vec![w.op("SequenceAt", &[n.input(0)?, &at])])
}

/// `TensorListSetItem`: the new element before the old one, which is then erased.
pub(super) fn set_item(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.flag("resize_if_index_out_of_bounds")? {
        return Err("that may grow".to_owned());
    }
    let (at, unit) = (position(w, n, 1)?, w.int(1));
    let more = w.op("SequenceInsert", &[n.input(0)?, n.input(2)?, &at]);
    let old = w.op("Add", &[&at, &unit]);
    Ok(vec![w.op("SequenceErase", &[&more, &old])])
}

pub(super) fn push_back(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![w.op("SequenceInsert", &[n.input(0)?, n.input(1)?])])
}

pub(super) fn pop_back(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (list, end) = (n.input(0)?, w.int(-1));
    let last = w.op("SequenceAt", &[list, &end]);
    Ok(vec![w.op("SequenceErase", &[list]), last])
}

pub(super) fn stack(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let attrs = vec![("axis", AttrValue::Int(0)), ("new_axis", AttrValue::Int(1))];
    Ok(vec![w.with("ConcatFromSequence", &[n.input(0)?], attrs)])
}
