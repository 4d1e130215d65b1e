//! Gradients of operators on elements, by TensorFlow's formulas: of results `y` and their gradients `dy`.

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

pub(super) fn reciprocal_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let square = w.op("Mul", &[y, y]);
    let product = w.op("Mul", &[dy, &square]);
    Ok(vec![w.op("Neg", &[&product])])
}

pub(super) fn rsqrt_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let factor = w.scalar(-0.5, n.dtype(0)?)?;
    let square = w.op("Mul", &[y, y]);
    let cube = w.op("Mul", &[&square, y]);
    let product = w.op("Mul", &[dy, &cube]);
    Ok(vec![w.op("Mul", &[&product, &factor])])
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
    Ok(vec![w.op("Div", &[&less, n.input(0)?])])
}

pub(super) fn tanh_grad(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (y, dy) = (n.input(0)?, n.input(1)?);
    let unit = w.scalar(1.0, n.dtype(0)?)?;
    let square = w.op("Mul", &[y, y]);
    let slope = w.op("Sub", &[&unit, &square]);
    Ok(vec![w.op("Mul", &[dy, &slope])])
}
