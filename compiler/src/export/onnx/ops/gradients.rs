//! Gradients of operators on elements, by TensorFlow's formulas: of results `y` and their gradients `dy`.
//!
//! Where `dy` is 0, the gradients of roots and reciprocals are 0 even if the derivative is infinite.

use crate::export::onnx::emit::{NodeWriter, Written};
use crate::export::onnx::node::TfNode;
use crate::export::onnx::ops::layers::channels_last;

pub(super) fn bias_add_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let rank = n.rank(0)? as i64;
    let channels = if channels_last(n)? { rank - 1 } else { 1 };
    let axes: Vec<i64> = (0..rank).filter(|&axis| axis != channels).collect();
    Ok(vec![w.reduced("ReduceSum", n.input(0)?, &axes, false)])
}

pub(super) fn elu_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    // Its first operand is the gradient.
    let (dy, y) = (n.input(0)?, n.input(1)?);
    let (zero, unit) = (w.scalar(0.0, n.dtype(0)?)?, w.scalar(1.0, n.dtype(0)?)?);
    let is_below = w.op("Less", &[y, &zero]);
    let slope = w.op("Add", &[y, &unit]);
    let less = w.op("Mul", &[dy, &slope]);
    Ok(vec![w.op("Where", &[&is_below, &less, dy])])
}

pub(super) fn relu_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    // Its first operand is the gradient.
    let (dy, x) = (n.input(0)?, n.input(1)?);
    let zero = w.scalar(0.0, n.dtype(0)?)?;
    let is_above = w.op("Greater", &[x, &zero]);
    Ok(vec![w.op("Where", &[&is_above, dy, &zero])])
}

/// The value, but 0 where `dy`, operand 1, is 0.
fn unless_zero(w: &mut NodeWriter<'_>, n: &TfNode<'_>, value: &str) -> Written {
    let zero = w.scalar(0.0, n.dtype(1)?)?;
    let is_zero = w.op("Equal", &[n.input(1)?, &zero]);
    Ok(vec![w.op("Where", &[&is_zero, &zero, value])])
}

pub(super) fn reciprocal_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let square = w.op("Mul", &[y, y]);
    let product = w.op("Mul", &[dy, &square]);
    let gradient = w.op("Neg", &[&product]);
    unless_zero(w, n, &gradient)
}

pub(super) fn rsqrt_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let factor = w.scalar(-0.5, n.dtype(0)?)?;
    let square = w.op("Mul", &[y, y]);
    let cube = w.op("Mul", &[&square, y]);
    let product = w.op("Mul", &[dy, &cube]);
    let gradient = w.op("Mul", &[&product, &factor]);
    unless_zero(w, n, &gradient)
}

pub(super) fn sigmoid_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let unit = w.scalar(1.0, n.dtype(0)?)?;
    let rest = w.op("Sub", &[&unit, y]);
    let slope = w.op("Mul", &[y, &rest]);
    Ok(vec![w.op("Mul", &[dy, &slope])])
}

pub(super) fn sqrt_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let half = w.scalar(0.5, n.dtype(0)?)?;
    let less = w.op("Mul", &[n.input(1)?, &half]);
    let gradient = w.op("Div", &[&less, n.input(0)?]);
    unless_zero(w, n, &gradient)
}

pub(super) fn tanh_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let unit = w.scalar(1.0, n.dtype(0)?)?;
    let square = w.op("Mul", &[y, y]);
    let slope = w.op("Sub", &[&unit, &square]);
    Ok(vec![w.op("Mul", &[dy, &slope])])
}
