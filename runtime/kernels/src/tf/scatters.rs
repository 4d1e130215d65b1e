//! Scatter updates of variables.

use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::tf::{Scatter, broadcast_to, expand_dims, scatter_update};
use befrost_tensor::{Shape, TensorError};

use super::action::{Action, ActionRow, action};
use super::operands::dense;
use super::variables::{update_one, variable};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ScatterUpdate, Op::ResourceScatterUpdate], |attrs| rows(attrs, Scatter::Update)),
    (&[Op::ScatterAdd, Op::ResourceScatterAdd], |attrs| rows(attrs, Scatter::Add)),
    (&[Op::ScatterSub, Op::ResourceScatterSub], |attrs| rows(attrs, Scatter::Sub)),
    (&[Op::ScatterMul, Op::ResourceScatterMul], |attrs| rows(attrs, Scatter::Mul)),
    (&[Op::ScatterDiv, Op::ResourceScatterDiv], |attrs| rows(attrs, Scatter::Div)),
    (&[Op::ScatterMin, Op::ResourceScatterMin], |attrs| rows(attrs, Scatter::Min)),
    (&[Op::ScatterMax, Op::ResourceScatterMax], |attrs| rows(attrs, Scatter::Max)),
    (&[Op::ScatterNdUpdate, Op::ResourceScatterNdUpdate], |attrs| slices(attrs, Scatter::Update)),
    (&[Op::ScatterNdAdd, Op::ResourceScatterNdAdd], |attrs| slices(attrs, Scatter::Add)),
    (&[Op::ScatterNdSub, Op::ResourceScatterNdSub], |attrs| slices(attrs, Scatter::Sub)),
    (&[Op::ScatterNdMin, Op::ResourceScatterNdMin], |attrs| slices(attrs, Scatter::Min)),
    (&[Op::ScatterNdMax, Op::ResourceScatterNdMax], |attrs| slices(attrs, Scatter::Max)),
    (&[Op::ResourceStridedSliceAssign, Op::StridedSliceAssign], slice),
];

fn returns_ref(attrs: &Attributes<'_>) -> bool {
    !attrs.signature().outputs.is_empty()
}

/// `indices` select rows of the variable, with an update for each row, or a scalar for all.
fn rows(attrs: &Attributes<'_>, mode: Scatter) -> Result<Action, TensorError> {
    let returns_ref = returns_ref(attrs);
    action(attrs, move |[to, indices, updates], cx| {
        let (indices, updates) = (dense(indices)?, dense(updates)?);
        update_one(variable(to)?, |x| {
            let row = x.shape().dims().get(1..).unwrap_or_default();
            let whole = Shape::new(&[indices.shape().dims(), row].concat())?;
            let updates = match updates.shape().rank() {
                0 => broadcast_to(updates, &whole, cx.allocator())?,
                _ => updates.clone(),
            };
            let indices = expand_dims(indices, -1)?;
            scatter_update(mode, x, &indices, &updates, cx.allocator())
        })?;
        Ok(returns_ref.then(|| to.clone()))
    })
}

/// The last axis of `indices` selects elements or slices of the variable.
fn slices(attrs: &Attributes<'_>, mode: Scatter) -> Result<Action, TensorError> {
    let returns_ref = returns_ref(attrs);
    action(attrs, move |[to, indices, updates], cx| {
        let (indices, updates) = (dense(indices)?, dense(updates)?);
        update_one(variable(to)?, |x| scatter_update(mode, x, indices, updates, cx.allocator()))?;
        Ok(returns_ref.then(|| to.clone()))
    })
}

/// `x[begin:end:strides] = value`.
fn slice(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let returns_ref = returns_ref(attrs);
    // Both operators have the same attributes.
    let Some(eval) = Op::TensorStridedSliceUpdate.row().prepare(attrs.given())? else {
        return Err(TensorError::Invalid { op: attrs.op(), problem: "there is no such function".to_owned() });
    };
    action(attrs, move |[to, begin, end, strides, value], cx| {
        let rest = [dense(begin)?, dense(end)?, dense(strides)?, dense(value)?];
        update_one(variable(to)?, |x| {
            let [begin, end, strides, value] = rest;
            let new = eval(&[x, begin, end, strides, value], cx.allocator())?;
            *x = new.into_iter().next().ok_or(TensorError::Count { want: 1, got: 0 })?;
            Ok(())
        })?;
        Ok(returns_ref.then(|| to.clone()))
    })
}
