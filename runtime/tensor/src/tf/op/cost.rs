//! The work of an operator: floating-point operations, and bytes read and written.
//!
//! ```text
//! cost column + shapes of operands and results ──▶ Work { flops, bytes }
//! ```
//!
//! An estimate for decisions (constant folding at compile time, splitting over threads), not a measurement: a
//! multiplication and an addition count 2, a transcendental function counts as many operations as its
//! vectorized polynomial, and each operand and result is moved once.

use super::attrs::Attrs;
use super::infer::{Node, Operand, Rule, infer_in};
use super::signature::Signature;
use super::types::Type;
use crate::TensorError;
use crate::tf::PartialShape;

/// The cost column of an operator.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// No element is touched.
    Free,
    /// Elements are moved without arithmetic.
    Moves,
    /// A number of operations per element of the results.
    PerResult(u32),
    /// A number of operations per element of the operands.
    PerOperand(u32),
    /// An operator-specific function of the shapes.
    By(Flops),
}

/// The number of operations; `None` if it depends on unknown dimensions. The slice has the shapes of the
/// results.
pub type Flops = fn(&Node<'_>, &[PartialShape]) -> Result<Option<u64>, TensorError>;

/// The work of one evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Arithmetic operations.
    pub flops: u64,
    /// Bytes read and written.
    pub bytes: u64,
}

/// The work of an operator with these columns, attributes and operands; `None` if it depends on unknown
/// dimensions. Numbers saturate.
pub(super) fn work(
    cost: Cost,
    signature: &Signature,
    rule: Rule,
    attrs: &dyn Attrs,
    operands: &[Operand<'_>],
) -> Result<Option<Work>, TensorError> {
    infer_in(signature, rule, attrs, operands, |cx, results| {
        let shapes: Vec<PartialShape> = results.iter().map(|result| result.shape.clone()).collect();
        let given = operands.iter().map(|operand| (operand.ty, &operand.shape));
        let made = results.iter().map(|result| (result.ty, &result.shape));
        let moved = || {
            let bytes = |(ty, shape): (Type, &PartialShape)| {
                let size = ty.dtype().map_or(8, |dtype| dtype.size() as u64);
                Some(elements(shape)?.saturating_mul(size))
            };
            // The number of results may depend on the operands' values.
            let known = made.clone().filter_map(bytes).fold(0u64, u64::saturating_add);
            given.clone().try_fold(known, |sum, operand| Some(sum.saturating_add(bytes(operand)?)))
        };
        let (flops, bytes) = match cost {
            Cost::Free => (Some(0), Some(0)),
            Cost::Moves => (Some(0), moved()),
            Cost::PerResult(n) => (times(total(&mut shapes.iter()), n), moved()),
            Cost::PerOperand(n) => (times(total(&mut given.clone().map(|(_, shape)| shape)), n), moved()),
            Cost::By(flops) => (flops(cx, &shapes)?, moved()),
        };
        Ok(flops.zip(bytes).map(|(flops, bytes)| Work { flops, bytes }))
    })
}

fn elements(shape: &PartialShape) -> Option<u64> {
    shape.as_slice()?.iter().try_fold(1u64, |n, dim| Some(n.saturating_mul((*dim)? as u64)))
}

/// The total number of elements of the shapes.
fn total(shapes: &mut dyn Iterator<Item = &PartialShape>) -> Option<u64> {
    let mut sum = 0u64;
    for shape in shapes {
        sum = sum.saturating_add(elements(shape)?);
    }
    Some(sum)
}

fn times(n: Option<u64>, by: u32) -> Option<u64> {
    n.map(|n| n.saturating_mul(u64::from(by)))
}

/// The operations for the elements of a shape, each a sum of `terms` products.
fn products(of: &PartialShape, terms: Option<u64>) -> Option<u64> {
    Some(elements(of)?.saturating_mul(terms?).saturating_mul(2))
}

/// The product of the dimensions in a range of axes.
fn area(shape: &PartialShape, axes: std::ops::Range<usize>) -> Option<u64> {
    elements(&PartialShape::new(shape.as_slice()?.get(axes)?.to_vec()))
}

/// The product of numbers from an attribute or a constant operand.
fn product(numbers: &[i64]) -> Option<u64> {
    numbers.iter().try_fold(1u64, |n, &by| Some(n.saturating_mul(u64::try_from(by).ok()?)))
}

/// Matrix products, batched or not: each result is a sum over the contracted axis of operand 0.
pub(super) fn matmul(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let name = ["transpose_a", "adj_x"].into_iter().find(|name| cx.attrs.signature().attr(name).is_some());
    let is_turned = name.map_or(Ok(false), |name| cx.attrs.bool(name))?;
    let row = match cx.shape(0)?.as_slice() {
        Some([.., rows, columns]) => {
            if is_turned {
                *rows
            } else {
                *columns
            }
        }
        _ => None,
    };
    Ok(results.first().and_then(|result| products(result, row.map(|n| n as u64))))
}

/// Two operations for each combination of indices of all labels.
pub(super) fn einsum(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let equation = cx.attrs.string("equation")?;
    let inputs = equation.split_once("->").map_or(&equation[..], |(inputs, _)| inputs);
    let mut lengths: Vec<(char, u64)> = Vec::new();
    let mut batch = 1;
    for (term, operand) in inputs.split(',').zip(cx.operands) {
        let Some(dims) = operand.shape.as_slice() else { return Ok(None) };
        let Some(dims) = dims.iter().map(|dim| dim.map(|dim| dim as u64)).collect::<Option<Vec<u64>>>()
        else {
            return Ok(None);
        };
        let term = term.trim();
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        let n_before = before.len().min(dims.len());
        let n_inside = dims.len().saturating_sub(before.len() + after.len());
        let (first, rest) = dims.split_at(n_before);
        let (inside, last) = rest.split_at(n_inside.min(rest.len()));
        batch = inside.iter().copied().fold(1, u64::saturating_mul).max(batch);
        for (label, &length) in before.chars().zip(first).chain(after.chars().zip(last)) {
            if !lengths.iter().any(|(known, _)| *known == label) {
                lengths.push((label, length));
            }
        }
    }
    let terms = lengths.iter().fold(batch, |n, (_, length)| n.saturating_mul(*length));
    Ok(Some(terms.saturating_mul(2)))
}

/// Each result is a sum over height, width and input channels of the filter.
pub(super) fn conv2d(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(1)?;
    Ok(results.first().and_then(|result| products(result, area(filter, 0..3))))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn conv2d_backprop_input(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(products(cx.shape(2)?, area(cx.shape(1)?, 0..3)))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn conv2d_backprop_filter(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    let dy = cx.shape(2)?;
    Ok(results.first().and_then(|filter| products(dy, area(filter, 0..3))))
}

/// Each result is a sum over height and width of the filter.
pub(super) fn depthwise(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(1)?;
    Ok(results.first().and_then(|result| products(result, area(filter, 0..2))))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn depthwise_backprop_input(
    cx: &Node<'_>,
    _: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    Ok(products(cx.shape(2)?, area(cx.shape(1)?, 0..2)))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn depthwise_backprop_filter(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    let dy = cx.shape(2)?;
    Ok(results.first().and_then(|filter| products(dy, area(filter, 0..2))))
}

/// [`conv2d`], with the filter's shape in an attribute.
pub(super) fn packed_conv2d(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.attrs.ints("filter_shape")?;
    Ok(results.first().and_then(|result| products(result, product(filter.get(..3)?))))
}

/// [`depthwise`], with the filter's shape in an attribute.
pub(super) fn packed_depthwise(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.attrs.ints("filter_shape")?;
    Ok(results.first().and_then(|result| products(result, product(filter.get(..2)?))))
}

/// The convolutions of a bottleneck: 1x1 filters over the images, a depthwise one and 1x1 filters over the
/// results.
pub(super) fn packed_bottleneck(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let attr = |name: &str| cx.attrs.ints(name);
    let (expand, filter, project) = (attr("expand_shape")?, attr("filter_shape")?, attr("project_shape")?);
    // A layer that is missing has no shape.
    let weights = |dims: &[i64]| if dims.is_empty() { Some(0) } else { product(dims) };
    let (image, result) = (cx.shape(0)?, results.first());
    let all = || {
        let before = area(image, 0..3)?.saturating_mul(weights(&expand)?);
        let each = product(filter.get(..3)?)?.saturating_add(weights(&project)?);
        let behind = area(result?, 0..3)?.saturating_mul(each);
        Some(before.saturating_add(behind).saturating_mul(2))
    };
    Ok(all())
}

/// A product with packed weights. The attributes are the shape of the weights and the number of contracted
/// axes, which come first.
pub(super) fn packed_matmul(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let (shape, contracted) = (cx.attrs.ints("shape")?, cx.attrs.count("contracted")?);
    Ok(results.first().and_then(|result| products(result, product(shape.get(..contracted)?))))
}

/// The number of elements of a window.
fn window(cx: &Node<'_>) -> Result<Option<u64>, TensorError> {
    let signature = cx.attrs.signature();
    for name in ["ksize", "kernel_shape"] {
        if signature.attr(name).is_some() {
            return Ok(product(&cx.attrs.ints(name)?));
        }
    }
    match signature.inputs.iter().position(|arg| arg.name == "ksize") {
        Some(at) => Ok(cx.ints(at)?.and_then(|sizes| product(&sizes))),
        None => Ok(None),
    }
}

/// Each pooled element depends on one window. The pooled image is the result, or operand 1 of `AvgPoolGrad`.
pub(super) fn pool(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let is_gradient = cx.operands.len() == 2;
    let pooled = if is_gradient { Some(cx.shape(1)?) } else { results.first() };
    Ok(pooled.and_then(elements).zip(window(cx)?).map(|(n, window)| n.saturating_mul(window)))
}

/// The gradient of each pooled element (operand 2) is distributed over a window.
pub(super) fn pool_grad(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(elements(cx.shape(2)?).zip(window(cx)?).map(|(n, window)| n.saturating_mul(window)))
}

/// Each element depends on a window of channels and a power of their sum of squares.
pub(super) fn lrn(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let radius = cx.attrs.count("depth_radius")? as u64;
    let window = results.first().and_then(|result| {
        let channels = (*result.as_slice()?.last()?)? as u64;
        Some(radius.saturating_mul(2).saturating_add(1).min(channels))
    });
    let n = results.first().and_then(elements);
    Ok(n.zip(window).map(|(n, window)| n.saturating_mul(window.saturating_mul(2).saturating_add(32))))
}

/// The products of queries and keys, and of weights and values, for each head.
pub(super) fn attention(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let [_, a, b, _] = cx.dims::<4>(1)?;
    let keys = if cx.attrs.bool("heads_inside")? { a } else { b };
    let keys = keys.map(|keys| keys as u64);
    let scores = products(cx.shape(0)?, keys);
    let sums = results.first().and_then(|result| products(result, keys));
    Ok(scores.zip(sums).map(|(a, b)| a.saturating_add(b)))
}

/// All steps of the program for each element of the result.
pub(super) fn elementwise_program(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    let n_steps = cx.attrs.strings("ops")?.len() as u64;
    Ok(results.first().and_then(elements).map(|n| n.saturating_mul(n_steps).saturating_mul(4)))
}

/// Each result is a sum over the axes of the filter but the first, the output channels.
pub(super) fn conv_of_channels_first(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(1)?;
    let terms = area(filter, 1..filter.rank().unwrap_or(0));
    Ok(results.first().and_then(|result| products(result, terms)))
}

/// At each step, the products of the input and of the state with their weights, operands 1 and 2.
pub(super) fn recurrent(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let rows = area(cx.shape(0)?, 0..2);
    let weights = elements(cx.shape(1)?).zip(elements(cx.shape(2)?));
    let products = rows.zip(weights).map(|(rows, (w, r))| rows.saturating_mul(w.saturating_add(r)));
    Ok(products.map(|n| n.saturating_mul(2)))
}

/// [`recurrent`], whose products are computed again and have a gradient by either operand.
pub(super) fn recurrent_gradient(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    Ok(recurrent(cx, results)?.map(|flops| flops.saturating_mul(3)))
}

/// At each step, the product of the state with as many columns as operand 0 has. The last result is a state.
pub(super) fn packed_recurrent(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let hidden = results.last().and_then(|state| (*state.as_slice()?.last()?).map(|n| n as u64));
    Ok(products(cx.shape(0)?, hidden))
}

/// At each step, the products of the input and of the state with their weights.
pub(super) fn lstm(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let signature = cx.attrs.signature();
    let (x, w) = if signature.inputs.iter().any(|arg| arg.name == "seq_len_max") { (1, 4) } else { (0, 3) };
    let x = cx.shape(x)?;
    let rows = area(x, 0..x.rank().unwrap_or(1).saturating_sub(1));
    Ok(products(cx.shape(w)?, rows))
}

/// [`lstm`], whose products have a gradient by either operand.
pub(super) fn lstm_gradient(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(lstm(cx, results)?.map(|flops| flops.saturating_mul(2)))
}

/// The products of the input and of the state with the weights of the gates and of the candidate.
pub(super) fn gru(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let rows = area(cx.shape(0)?, 0..1);
    let weights = products(cx.shape(2)?, rows).zip(products(cx.shape(3)?, rows));
    Ok(weights.map(|(gates, candidate)| gates.saturating_add(candidate)))
}

/// Each result is a sum over depth, height, width and input channels of the filter.
pub(super) fn conv3d(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(1)?;
    Ok(results.first().and_then(|result| products(result, area(filter, 0..4))))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn conv3d_backprop_input(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(products(cx.shape(2)?, area(cx.shape(1)?, 0..4)))
}

/// The operations of the forward convolution; operand 2 has the shape of its result.
pub(super) fn conv3d_backprop_filter(
    cx: &Node<'_>,
    results: &[PartialShape],
) -> Result<Option<u64>, TensorError> {
    let dy = cx.shape(2)?;
    Ok(results.first().and_then(|filter| products(dy, area(filter, 0..4))))
}

/// Each result is a maximum over height and width of the filter.
pub(super) fn dilation2d(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(1)?;
    Ok(results.first().and_then(|result| products(result, area(filter, 0..2))))
}

/// The operations of the forward function; operand 2 has the shape of its result.
pub(super) fn dilation2d_backprop(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(products(cx.shape(2)?, area(cx.shape(1)?, 0..2)))
}

/// [`conv2d`], whose filter is the last operand.
pub(super) fn padded_conv2d(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let filter = cx.shape(cx.attrs.signature().inputs.len() - 1)?;
    Ok(results.first().and_then(|result| products(result, area(filter, 0..3))))
}

/// Each box, whose score is an element of operand 1, may be compared with all of the longest axis.
pub(super) fn suppression(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let scores = cx.shape(1)?;
    let longest = scores.as_slice().and_then(|dims| dims.iter().map(|dim| Some((*dim)? as u64)).max()?);
    Ok(products(scores, longest).map(|n| n.saturating_mul(8)))
}

/// For each element of operand 0, a step of each beam.
pub(super) fn beam_search(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let beams = cx.attrs.int("beam_width")?;
    Ok(products(cx.shape(0)?, product(&[beams])).map(|n| n.saturating_mul(16)))
}

/// A pass over operand 0, and over the labels, of which are twice as many with blanks, at each time.
pub(super) fn ctc_loss(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let (inputs, labels) = (cx.shape(0)?, cx.shape(2)?);
    let pass = products(inputs, Some(32));
    let by_time = area(inputs, 0..1).and_then(|times| products(labels, Some(times.saturating_mul(64))));
    Ok(pass.zip(by_time).map(|(pass, by_time)| pass.saturating_add(by_time)))
}

/// Each element of one sequence is compared with each of the other.
pub(super) fn edit_distance(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(products(cx.shape(1)?, elements(cx.shape(4)?)).map(|n| n.saturating_mul(2)))
}

/// For each element of the sparse matrix, a row of the dense one.
pub(super) fn sparse_matmul(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let rows = usize::from(!cx.attrs.bool("adjoint_b")?);
    Ok(products(cx.shape(1)?, area(cx.shape(3)?, rows..rows + 1)))
}

/// For each element of operand 0, a sum of products as long as the last axis.
pub(super) fn square_matrices(cx: &Node<'_>, _: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let x = cx.shape(0)?;
    let n = x.as_slice().and_then(|dims| dims.last().copied().flatten());
    Ok(products(x, n.map(|n| n as u64)))
}

/// Each result is a sum over the bands of operand 0.
pub(super) fn banded(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    let bands = match cx.shape(0)?.as_slice() {
        Some([.., bands, _]) => *bands,
        _ => None,
    };
    Ok(results.first().and_then(|result| products(result, bands.map(|n| n as u64))))
}

/// [`square_matrices`] for decompositions, which take several passes.
pub(super) fn matrices(cx: &Node<'_>, results: &[PartialShape]) -> Result<Option<u64>, TensorError> {
    Ok(square_matrices(cx, results)?.map(|flops| flops.saturating_mul(16)))
}
