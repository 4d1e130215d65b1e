//! Recurrent cells.

use super::{int_in, owning};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::{Made, Operands};
use crate::tf::{self, GateOrder, GruOperands, LstmCell, LstmOperands};
use crate::{HostTensor, Shape, TensorError};

/// The cell that attributes specify. Those that a gradient lacks do not matter to it.
fn lstm(attrs: &Attributes<'_>) -> Result<LstmCell, TensorError> {
    let float = |name, missing| match attrs.signature().attr(name) {
        Some(_) => attrs.float(name),
        None => Ok(missing),
    };
    let order = match attrs.op() {
        "BlockLSTMV2" | "BlockLSTMGradV2" => GateOrder::InputForgetCell,
        _ => GateOrder::InputCellForget,
    };
    Ok(LstmCell {
        op: attrs.op(),
        order,
        forget_bias: float("forget_bias", 0.0)?,
        clip: float("cell_clip", 0.0)?,
        has_peepholes: attrs.bool("use_peephole")?,
    })
}

fn operands<'a>(steps: Option<i64>, of: &'a [HostTensor; 8]) -> LstmOperands<'a> {
    let [x, cs_prev, h_prev, w, wci, wcf, wco, b] = of;
    LstmOperands { steps, x, cs_prev, h_prev, w, peepholes: [wci, wcf, wco], b }
}

/// The eight operands of the forward function, and the others.
fn split<'a>(
    op: &'static str,
    inputs: &'a [HostTensor],
) -> Result<(&'a [HostTensor; 8], Vec<&'a HostTensor>), TensorError> {
    match inputs.split_first_chunk::<8>() {
        Some((first, rest)) => Ok((first, rest.iter().collect())),
        None => invalid(op, format!("{} operands", inputs.len())),
    }
}

/// The number of steps, which is the first operand.
fn steps(op: &'static str, inputs: &Operands) -> Result<i64, TensorError> {
    match inputs.first() {
        Some(steps) => {
            steps.expect_shape("seq_len_max", &Shape::scalar())?;
            int_in(op, "seq_len_max", steps)
        }
        None => invalid(op, "no operands".to_owned()),
    }
}

pub(in crate::tf::op) fn lstm_cell(attrs: &Attributes<'_>) -> Made {
    let cell = lstm(attrs)?;
    owning::<8, _>(attrs, move |inputs, cx| cell.run(&operands(None, &inputs), cx))
}

pub(in crate::tf::op) fn lstm_layer(attrs: &Attributes<'_>) -> Made {
    let cell = lstm(attrs)?;
    owning::<9, _>(attrs, move |inputs, cx| {
        let inputs = Operands::from_iter(inputs);
        let (first, _) = split(cell.op, &inputs[1..])?;
        cell.run(&operands(Some(steps(cell.op, &inputs)?), first), cx)
    })
}

pub(in crate::tf::op) fn lstm_cell_gradient(attrs: &Attributes<'_>) -> Made {
    let cell = lstm(attrs)?;
    owning::<16, _>(attrs, move |inputs, cx| {
        let (first, states) = split(cell.op, &inputs)?;
        cell.gradient(&operands(None, first), &states, cx)
    })
}

pub(in crate::tf::op) fn lstm_layer_gradient(attrs: &Attributes<'_>) -> Made {
    let cell = lstm(attrs)?;
    owning::<18, _>(attrs, move |inputs, cx| {
        let inputs = Operands::from_iter(inputs);
        let (first, states) = split(cell.op, &inputs[1..])?;
        cell.gradient(&operands(Some(steps(cell.op, &inputs)?), first), &states, cx)
    })
}

pub(in crate::tf::op) fn gru_cell(attrs: &Attributes<'_>) -> Made {
    owning(attrs, move |[x, h_prev, w_ru, w_c, b_ru, b_c], cx| {
        let operands = GruOperands { x: &x, h_prev: &h_prev, w_ru: &w_ru, w_c: &w_c, b_ru: &b_ru, b_c: &b_c };
        tf::gru_cell(&operands, cx)
    })
}

pub(in crate::tf::op) fn gru_cell_gradient(attrs: &Attributes<'_>) -> Made {
    owning(attrs, move |[x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, dh], cx| {
        let operands = GruOperands { x: &x, h_prev: &h_prev, w_ru: &w_ru, w_c: &w_c, b_ru: &b_ru, b_c: &b_c };
        tf::gru_cell_gradient(&operands, [&r, &u, &c, &dh], cx)
    })
}
