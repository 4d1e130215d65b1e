//! Recurrent cells.

use super::{Dim, Node, PartialShape, Shapes, product};
use crate::TensorError;

/// The lengths of an LSTM's axes.
struct LstmDims {
    batch: Dim,
    hidden: Dim,
}

/// The lengths that follow from the operands, from `cs_prev` on, and the number of inputs.
fn lstm_dims(cx: &Node<'_>, cs: usize, (batch, inputs): (Dim, Dim)) -> Result<LstmDims, TensorError> {
    let ([rows, hidden], [h_rows, h_columns]) = (cx.dims::<2>(cs)?, cx.dims::<2>(cs + 1)?);
    let batch = cx.same(batch, cx.same(rows, h_rows)?)?;
    let hidden = cx.same(hidden, h_columns)?;
    let ([w_rows, w_columns], [b]) = (cx.dims::<2>(cs + 2)?, cx.dims::<1>(cs + 6)?);
    cx.same(cx.same(w_columns, b)?, product(hidden, Some(4))?)?;
    cx.same(w_rows, super::sum(inputs, hidden)?)?;
    for weights in cs + 3..cs + 6 {
        cx.dims::<1>(weights)?;
    }
    // The weights tell the number of hidden units, if nothing else does.
    Ok(LstmDims { batch, hidden: hidden.or(w_columns.map(|columns| columns / 4)) })
}

fn of(dims: &[Dim]) -> PartialShape {
    PartialShape::new(dims.to_vec())
}

pub(in crate::tf::op) fn lstm_cell(cx: &Node<'_>) -> Shapes {
    let [batch, inputs] = cx.dims::<2>(0)?;
    let LstmDims { batch, hidden } = lstm_dims(cx, 1, (batch, inputs))?;
    Ok(vec![of(&[batch, hidden]); 7])
}

pub(in crate::tf::op) fn lstm_layer(cx: &Node<'_>) -> Shapes {
    let [steps, batch, inputs] = cx.dims::<3>(1)?;
    let LstmDims { batch, hidden } = lstm_dims(cx, 2, (batch, inputs))?;
    Ok(vec![of(&[steps, batch, hidden]); 7])
}

pub(in crate::tf::op) fn lstm_cell_gradient(cx: &Node<'_>) -> Shapes {
    let [batch, inputs] = cx.dims::<2>(0)?;
    let LstmDims { batch, hidden } = lstm_dims(cx, 1, (batch, inputs))?;
    let mut shapes = vec![of(&[batch, hidden]), of(&[batch, product(hidden, Some(4))?])];
    shapes.extend([cx.shape(4)?.clone(), cx.shape(5)?.clone(), cx.shape(6)?.clone()]);
    Ok(shapes)
}

/// The shapes of the operands but the number of steps.
pub(in crate::tf::op) fn lstm_layer_gradient(cx: &Node<'_>) -> Shapes {
    let [_, batch, inputs] = cx.dims::<3>(1)?;
    let LstmDims { batch, hidden } = lstm_dims(cx, 2, (batch, inputs))?;
    let mut shapes = vec![cx.shape(1)?.clone()];
    shapes.extend(vec![of(&[batch, hidden]); 2]);
    for weights in 4..9 {
        shapes.push(cx.shape(weights)?.clone());
    }
    Ok(shapes)
}

/// The number of rows, inputs and hidden units.
fn gru_dims(cx: &Node<'_>) -> Result<[Dim; 3], TensorError> {
    let ([batch, inputs], [rows, hidden]) = (cx.dims::<2>(0)?, cx.dims::<2>(1)?);
    let ([_, twice], [_, once]) = (cx.dims::<2>(2)?, cx.dims::<2>(3)?);
    cx.same(twice, product(hidden, Some(2))?)?;
    Ok([cx.same(batch, rows)?, inputs, cx.same(hidden, once)?])
}

pub(in crate::tf::op) fn gru_cell(cx: &Node<'_>) -> Shapes {
    let [batch, _, hidden] = gru_dims(cx)?;
    Ok(vec![of(&[batch, hidden]); 4])
}

pub(in crate::tf::op) fn gru_cell_gradient(cx: &Node<'_>) -> Shapes {
    let [batch, inputs, hidden] = gru_dims(cx)?;
    let state = of(&[batch, hidden]);
    Ok(vec![of(&[batch, inputs]), state.clone(), state, of(&[batch, product(hidden, Some(2))?])])
}
