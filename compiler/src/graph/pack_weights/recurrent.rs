//! Recurrent layers with constant weights.
//!
//! ```text
//! _Lstm(x, w, r, b, ...)  ─▶  gates = _PackedMatMul(x, [w of all directions], [biases])  all steps at once
//!                             _PackedLstm(gates, r of each direction, ...)               step by step
//! ```
//!
//! The biases of the input's and the state's part are added at compile time. That of the state's part of a
//! GRU's hidden gate stays apart, since the reset gate may multiply it; the weights of this gate are packed
//! apart from those of the others, since its product comes later.

use befrost_tensor::tf::fused::Packing;
use befrost_tensor::tf::op::Op;
use befrost_tensor::{DType, Shape};

use super::{MIN_COLUMNS, Packed, erase_unused};
use crate::build::Builder;
use crate::build::query::{dims, dtype, has_no_edges};
use crate::dialects::tf::{self, operator};
use crate::fold::constant_of;
use crate::ir::{AttrId, AttrKind, Blob, KnownType, Module, OpId, ValueId};
use crate::pass::Rewriter;

/// The bytes of a constant f32.
const FLOAT: usize = size_of::<f32>();

impl Packed {
    /// Packs the weights of a recurrent layer, if they are constants of f32.
    pub(super) fn recurrent(&mut self, r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
        let m = r.ir();
        let (packed, gates) = match operator(m, op)? {
            Op::_Lstm => (Op::_PackedLstm, 4),
            Op::_Gru => (Op::_PackedGru, 3),
            _ => (Op::_PackedRnn, 1),
        };
        if !has_no_edges(m, op) || dtype(m, m.operand(op, 0)) != Some(DType::F32) {
            return None;
        }
        let [w, state_weights, bias] = [1, 2, 3].map(|i| m.operand(op, i));
        let (&[n, rows, inputs], &[_, _, hidden]) = (dims(m, w)?, dims(m, state_weights)?) else {
            return None;
        };
        let columns = n.checked_mul(rows)?;
        if rows != gates * hidden || columns < MIN_COLUMNS || inputs == 0 || dims(m, bias)? != [n, 2 * rows] {
            return None;
        }
        let whole = constant_of(m, w)?;
        let [state_floats, bias_floats] = [state_weights, bias].map(|value| floats(m, value));
        let (state_floats, bias_floats) = (state_floats?, bias_floats?);
        let is_gru = packed == Op::_PackedGru;
        // The numbers of gates whose weights of the state are packed together.
        let products: &[i64] = if is_gru { &[2, 1] } else { &[gates] };
        let joint = usize::try_from(products[0] * hidden).ok()?;
        let rows_len = usize::try_from(rows).ok()?;
        let mut sums = Vec::new();
        let mut hidden_bias = Vec::new();
        for both in bias_floats.chunks_exact(2 * rows_len) {
            let (by_x, by_h) = both.split_at(rows_len);
            let added = by_x.iter().zip(by_h).map(|(x, h)| x + h);
            sums.extend(added.take(joint).chain(by_x[joint..].iter().copied()));
            hidden_bias.extend_from_slice(&by_h[joint..]);
        }

        let x_packing = Packing::matrix(&Shape::from_i64(&[columns, inputs]).ok()?, true).ok()?;
        let flat = reshaped(r, whole, &[columns, inputs])?;
        let x_weights = self.weights(r, flat, x_packing)?;
        let mut state = Vec::new();
        let mut rest = &state_floats[..];
        for &gates in products.iter().cycle().take(products.len() * usize::try_from(n).ok()?) {
            let sizes = [gates * hidden, hidden];
            let part = rest.split_off(..usize::try_from(sizes[0] * sizes[1]).ok()?)?;
            let plain = constant(r, part, &sizes);
            let packing = Packing::matrix(&Shape::from_i64(&sizes).ok()?, true).ok()?;
            state.push(self.weights(r, plain, packing)?);
        }
        let sums = constant(r, &sums, &[columns]);
        let hidden_bias = is_gru.then(|| constant(r, &hidden_bias, &[n, hidden]));

        let m = r.ir();
        let operands: Vec<ValueId> = m.operands(op).collect();
        let types: Vec<_> = m.results(op).map(|value| m.value_type(value)).collect();
        let before = r.checkpoint();
        let mut b = Builder::before(r, op);
        let product = [operands[0], b.constant(x_weights), b.constant(sums)];
        let from_x = b
            .op(Op::_PackedMatMul, &product)
            .ints("shape", &[inputs, columns])
            .strs("fused_ops", &["BiasAdd"])
            .int("num_args", 1)
            .one();
        let Ok(from_x) = from_x else {
            r.rollback(before);
            return None;
        };
        let mut all = vec![from_x];
        all.extend(state.iter().map(|&weights| b.constant(weights)));
        all.extend(hidden_bias.map(|bias| b.constant(bias)));
        all.extend(&operands[4..]);
        let new = b
            .op(packed, &all)
            .attrs_of(op, |name| name != "T")
            .int("num_weights", state.len() as i64)
            .results(&types)
            .build();
        let Ok(new) = new else {
            r.rollback(before);
            return None;
        };
        let results: Vec<ValueId> = r.ir().results(new).collect();
        r.replace_op(op, &results);
        [w, state_weights, bias].into_iter().for_each(|value| erase_unused(r, value));
        Some(())
    }
}

/// The elements of a constant of f32.
fn floats(m: &Module, value: ValueId) -> Option<Vec<f32>> {
    let AttrKind::Dense { splat, data, .. } = m.cx.attr(constant_of(m, value)?) else { return None };
    if dtype(m, value) != Some(DType::F32) {
        return None;
    }
    let numbers = data.as_chunks::<FLOAT>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let n = dims(m, value)?.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?))?;
    Some(if *splat { numbers.cycle().take(n).collect() } else { numbers.collect() })
}

/// A constant of f32.
fn constant(r: &mut Rewriter<'_>, numbers: &[f32], shape: &[i64]) -> AttrId {
    let ty = tf::tensor(r.cx(), Some(shape), KnownType::F32.id());
    let data: Blob = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    r.cx().attr_id(AttrKind::Dense { ty, splat: false, data })
}

/// A constant of f32 in another shape.
fn reshaped(r: &mut Rewriter<'_>, constant: AttrId, shape: &[i64]) -> Option<AttrId> {
    let AttrKind::Dense { splat, data, .. } = r.ir().cx.attr(constant) else { return None };
    let (splat, data) = (*splat, data.clone());
    let ty = tf::tensor(r.cx(), Some(shape), KnownType::F32.id());
    Some(r.cx().attr_id(AttrKind::Dense { ty, splat, data }))
}
