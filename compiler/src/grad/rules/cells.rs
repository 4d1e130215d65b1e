//! Recurrent cells, which have operators for their gradients. Gradients of the results that are states of a
//! step, other than the memory and the hidden state, are ignored, as in TensorFlow.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::grad::val::Val;
use crate::grad::vjp::Differentiation::{self, Rule};
use crate::grad::vjp::{At, Vjp};

pub(super) fn gradient(op: Op) -> Option<Differentiation> {
    Some(match op {
        Op::BlockLSTM => Rule(|g| layer(g, Op::BlockLSTMGrad)),
        Op::BlockLSTMV2 => Rule(|g| layer(g, Op::BlockLSTMGradV2)),
        Op::LSTMBlockCell => Rule(|g| {
            let made = of_states(g, Op::LSTMBlockCellGrad, 8, 6, 5);
            let [x, _, h, w] = [0, 1, 2, 3].map(|i| g.x(i));
            joined(g, [0, 2], made[1].matmul(w, false, true));
            g.dx(1, made[0]);
            if g.wants(3) {
                g.dx(3, Val::concat(&[x, h], 1).matmul(made[1], true, false));
            }
            (4..7).for_each(|i| g.dx(i, made[i - 2]));
            bias(g, 7, made[1]);
        }),
        Op::GRUBlockCell => Rule(|g| {
            let d_h = g.dy(3).unwrap_or_else(|| g.y(3).zeros());
            let operands: Vec<Val<'_>> = (0..6).map(|i| g.x(i)).chain((0..3).map(|i| g.y(i))).collect();
            let made = g.ops(Op::GRUBlockCellGrad, &[&operands[..], &[d_h]].concat(), &[], 4);
            let (x, h) = (g.x(0), g.x(1));
            g.dx(0, made[0]);
            g.dx(1, made[1]);
            if g.wants(2) {
                g.dx(2, Val::concat(&[x, h], 1).matmul(made[3], true, false));
            }
            if g.wants(3) {
                g.dx(3, Val::concat(&[x, h * g.y(0)], 1).matmul(made[2], true, false));
            }
            bias(g, 4, made[3]);
            bias(g, 5, made[2]);
        }),
        Op::_Lstm => Rule(|g| onnx_layer(g, Op::_LstmGrad)),
        Op::_Gru => Rule(|g| onnx_layer(g, Op::_GruGrad)),
        Op::_Rnn => Rule(|g| onnx_layer(g, Op::_RnnGrad)),
        _ => return None,
    })
}

/// A layer of ONNX, whose operands have gradients but for the lengths of the sequences.
fn onnx_layer(g: &Vjp<'_, '_>, op: Op) {
    let operands = (0..g.n_x()).map(|i| g.x(i)).chain([g.y(0)]).chain(g.ds());
    let differentiable: Vec<usize> = (0..g.n_x()).filter(|&i| i != 4).collect();
    let made = g.ops(op, &operands.collect::<Vec<_>>(), &g.common(op, &[]), differentiable.len());
    differentiable.into_iter().zip(made).for_each(|(i, d)| g.dx(i, d));
}

/// The results of a cell's gradient op: it takes `n_x` operands, `n_y` results, and the gradients of the
/// memory and the hidden state.
fn of_states<'g>(g: &'g Vjp<'_, '_>, op: Op, n_x: usize, n_y: usize, n: usize) -> Vec<Val<'g>> {
    let d = |i: usize| g.dy(i).unwrap_or_else(|| g.y(i).zeros());
    let operands = (0..n_x).map(|i| g.x(i)).chain((0..n_y).map(|i| g.y(i))).chain([d(1), d(6)]);
    let attrs = [("use_peephole", At::Bool(g.flag("use_peephole")))];
    g.ops(op, &operands.collect::<Vec<_>>(), &attrs, n)
}

fn layer(g: &Vjp<'_, '_>, op: Op) {
    let made = of_states(g, op, 9, 7, 8);
    made.into_iter().enumerate().for_each(|(i, d)| g.dx(i + 1, d));
}

/// The gradients of two operands from that of the matrices joined.
fn joined(g: &Vjp<'_, '_>, [left, right]: [usize; 2], d: Val<'_>) {
    let columns = g.x(left).size(1).expand(0);
    if g.wants(left) {
        g.dx(
            left,
            d.slice(d.ints(&[0, 0], DType::I32), Val::concat(&[d.ints(&[-1], DType::I32), columns], 0)),
        );
    }
    if g.wants(right) {
        g.dx(
            right,
            d.slice(Val::concat(&[d.ints(&[0], DType::I32), columns], 0), d.ints(&[-1, -1], DType::I32)),
        );
    }
}

/// The gradient of a bias, which is added to each row.
fn bias(g: &Vjp<'_, '_>, i: usize, d: Val<'_>) {
    if g.wants(i) {
        g.dx(i, g.op(Op::BiasAddGrad, &[d], &[]));
    }
}
