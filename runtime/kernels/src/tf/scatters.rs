//! Updates of parts of variables, by index.

use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::tf::{Scatter, broadcast_to, expand_dims, scatter_update};
use befrost_tensor::{Shape, TensorError};

use super::action::{Action, Row, of};
use super::values::dense;
use super::variables::{update, variable};

pub(super) const OPS: &[Row] = &[
    (&["tf.ScatterUpdate", "tf.ResourceScatterUpdate"], |attrs| rows(attrs, Scatter::Update)),
    (&["tf.ScatterAdd", "tf.ResourceScatterAdd"], |attrs| rows(attrs, Scatter::Add)),
    (&["tf.ScatterSub", "tf.ResourceScatterSub"], |attrs| rows(attrs, Scatter::Sub)),
    (&["tf.ScatterMul", "tf.ResourceScatterMul"], |attrs| rows(attrs, Scatter::Mul)),
    (&["tf.ScatterDiv", "tf.ResourceScatterDiv"], |attrs| rows(attrs, Scatter::Div)),
    (&["tf.ScatterMin", "tf.ResourceScatterMin"], |attrs| rows(attrs, Scatter::Min)),
    (&["tf.ScatterMax", "tf.ResourceScatterMax"], |attrs| rows(attrs, Scatter::Max)),
    (&["tf.ScatterNdUpdate", "tf.ResourceScatterNdUpdate"], |attrs| slices(attrs, Scatter::Update)),
    (&["tf.ScatterNdAdd", "tf.ResourceScatterNdAdd"], |attrs| slices(attrs, Scatter::Add)),
    (&["tf.ScatterNdSub", "tf.ResourceScatterNdSub"], |attrs| slices(attrs, Scatter::Sub)),
    (&["tf.ScatterNdMin", "tf.ResourceScatterNdMin"], |attrs| slices(attrs, Scatter::Min)),
    (&["tf.ScatterNdMax", "tf.ResourceScatterNdMax"], |attrs| slices(attrs, Scatter::Max)),
    (&["tf.ResourceStridedSliceAssign", "tf.StridedSliceAssign"], slice),
];

fn gives(attrs: &Attributes<'_>) -> bool {
    !attrs.signature().outputs.is_empty()
}

/// `indices` are rows of the variable; one update for each, or a scalar for all.
fn rows(attrs: &Attributes<'_>, mode: Scatter) -> Result<Action, TensorError> {
    let gives = gives(attrs);
    of(attrs, move |[to, indices, updates], cx| {
        let (indices, updates) = (dense(indices)?, dense(updates)?);
        update([variable(to)?], |[x]| {
            let row = x.shape().dims().get(1..).unwrap_or_default();
            let whole = Shape::new(&[indices.shape().dims(), row].concat())?;
            let updates = match updates.shape().rank() {
                0 => broadcast_to(updates, &whole, cx.allocator())?,
                _ => updates.clone(),
            };
            let indices = expand_dims(indices, -1)?;
            scatter_update(mode, x, &indices, &updates, cx.allocator())
        })?;
        Ok(gives.then(|| to.clone()))
    })
}

/// The last axis of `indices` names elements or slices of the variable.
fn slices(attrs: &Attributes<'_>, mode: Scatter) -> Result<Action, TensorError> {
    let gives = gives(attrs);
    of(attrs, move |[to, indices, updates], cx| {
        let (indices, updates) = (dense(indices)?, dense(updates)?);
        update([variable(to)?], |[x]| scatter_update(mode, x, indices, updates, cx.allocator()))?;
        Ok(gives.then(|| to.clone()))
    })
}

/// `x[begin:end:strides] = value`.
fn slice(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let gives = gives(attrs);
    // The attributes have the same names.
    let Some(eval) = Op::TensorStridedSliceUpdate.row().prepare(attrs.given())? else {
        return Err(TensorError::Invalid { op: attrs.op(), problem: "there is no such function".to_owned() });
    };
    of(attrs, move |[to, begin, end, strides, value], cx| {
        let rest = [dense(begin)?, dense(end)?, dense(strides)?, dense(value)?];
        update([variable(to)?], |[x]| {
            let [begin, end, strides, value] = rest;
            let new = eval(&[x, begin, end, strides, value], cx.allocator())?;
            *x = new.into_iter().next().ok_or(TensorError::Count { want: 1, got: 0 })?;
            Ok(())
        })?;
        Ok(gives.then(|| to.clone()))
    })
}
