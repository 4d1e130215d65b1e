//! Normalizations, biases and losses.

use befrost_tensor::DType;

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

/// True if the channels of images are the last axis, false if they are axis 1.
pub(super) fn channels_last(n: &TfNode<'_>) -> Result<bool, WhyNot> {
    match n.word("data_format")?.as_str() {
        "NHWC" | "NDHWC" => Ok(true),
        "NCHW" | "NCDHW" => Ok(false),
        other => Err(format!("of data_format {other}")),
    }
}

/// The axes of channels-last images with the channels first, and back.
pub(super) fn moves(rank: usize) -> (Vec<i64>, Vec<i64>) {
    let rank = rank as i64;
    let first = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    let last = std::iter::once(0).chain(2..rank).chain([1]).collect();
    (first, last)
}

impl NodeWriter<'_> {
    /// The images that `act` makes of those with the channels as axis 1, in the layout of the op.
    pub(super) fn channels_first(
        &mut self,
        n: &TfNode<'_>,
        operand: usize,
        rank: usize,
        act: impl FnOnce(&mut Self, &str) -> Result<Name, WhyNot>,
    ) -> Result<Name, WhyNot> {
        if !channels_last(n)? {
            return act(self, n.input(operand)?);
        }
        if rank < 2 {
            return Err("images without channels".to_owned());
        }
        let (first, last) = moves(rank);
        let x = self.transpose_value(n.value(operand)?, n.input(operand)?, &first);
        let y = act(self, &x)?;
        Ok(self.transpose(&y, &last))
    }
}

pub(super) fn bias_add(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut bias = n.input(1)?.to_owned();
    if !channels_last(n)? {
        let behind: Vec<i64> = (1..n.rank(0)? as i64 - 1).collect();
        bias = w.unsqueeze(&bias, &behind);
    }
    Ok(vec![w.op("Add", &[n.input(0)?, &bias])])
}

pub(super) fn batch_norm(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if n.flag("is_training")? {
        return Err("of training".to_owned());
    }
    if !n.lacks_uses_from(1) {
        return Err("whose moments are used".to_owned());
    }
    let epsilon = n.float("epsilon")?;
    let params = n.all();
    let [_, scale, offset, mean, variance] = params[..] else { return Err("it lacks operands".to_owned()) };
    let y = w.channels_first(n, 0, n.rank(0).unwrap_or(4), |w, x| {
        let attrs = vec![("epsilon", AttrValue::Float(epsilon))];
        Ok(w.with("BatchNormalization", &[x, scale, offset, mean, variance], attrs))
    })?;
    Ok(vec![y])
}

/// `LRN`: TensorFlow's `alpha` is for one neighbour, ONNX's for all of them.
pub(super) fn lrn(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let size = n.int("depth_radius")?.saturating_mul(2).saturating_add(1);
    let attrs = vec![
        ("size", AttrValue::Int(size)),
        ("alpha", AttrValue::Float(n.float("alpha")? * size as f32)),
        ("beta", AttrValue::Float(n.float("beta")?)),
        ("bias", AttrValue::Float(n.float("bias")?)),
    ];
    let (first, last) = moves(4);
    let x = w.transpose_value(n.value(0)?, n.input(0)?, &first);
    let y = w.with("LRN", &[&x], attrs);
    Ok(vec![w.transpose(&y, &last)])
}

fn along_last(w: &mut NodeWriter<'_>, op_type: &str, x: &str) -> Name {
    w.with(op_type, &[x], vec![("axis", AttrValue::Int(-1))])
}

pub(super) fn softmax(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![along_last(w, "Softmax", n.input(0)?)])
}

pub(super) fn log_softmax(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    Ok(vec![along_last(w, "LogSoftmax", n.input(0)?)])
}

/// The loss of each row, and the gradient: of the labels' probabilities, and their products with the
/// logarithms of the shares.
fn loss(w: &mut NodeWriter<'_>, x: &str, labels: &str, products: &str) -> Vec<Name> {
    let shares = along_last(w, "Softmax", x);
    let sum = w.reduced("ReduceSum", products, &[-1], false);
    let loss = w.op("Neg", &[&sum]);
    vec![loss, w.op("Sub", &[&shares, labels])]
}

pub(super) fn cross_entropy(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (x, labels) = (n.input(0)?, n.input(1)?);
    let logs = along_last(w, "LogSoftmax", x);
    let products = w.op("Mul", &[labels, &logs]);
    Ok(loss(w, x, labels, &products))
}

pub(super) fn sparse_cross_entropy(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let x = n.input(0)?;
    let dtype = n.dtype(0)?;
    let labels = w.indices(n, 1)?;
    let labels = w.unsqueeze(&labels, &[-1]);
    let shape = w.op("Shape", &[x]);
    let count = w.slice(&shape, 0, -1, i64::MAX);
    let count = w.squeeze(&count, &[0]);
    let (zero, unit) = (w.int(0), w.int(1));
    let classes = w.op("Range", &[&zero, &count, &unit]);
    let is_label = w.op("Equal", &[&labels, &classes]);
    let labels = w.cast(&is_label, DType::I1, dtype);
    let (logs, zero) = (along_last(w, "LogSoftmax", x), w.scalar(0.0, dtype)?);
    // The logarithm of another class may be infinite, and no product with it is 0.
    let products = w.op("Where", &[&is_label, &logs, &zero]);
    Ok(loss(w, x, &labels, &products))
}
