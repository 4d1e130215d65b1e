//! TensorFlow's recurrent cells: `LSTMBlockCell`, `BlockLSTM`, `BlockLSTMV2`, `GRUBlockCell`, and their
//! gradients.
//!
//! ```text
//! all steps: x * w[..inputs] + b ──▶ gates of a step ◀── h * w[inputs..] (packed once)
//!                                          └──▶ i, ci, f, cs, o, co, h ──▶ next step
//! all steps: x, h, w * gradients of the gates (joined) ◀── one step after the other, from the last one
//! ```
//!
//! A result of a gate is the activated gate; `cs` is the memory, `co` its tangent. Gradients of the results
//! other than `cs` and `h` do not exist, and the memory's clipping counts as the identity, as in TensorFlow.
//!
//! f16 and bf16 are computed in f32; results are rounded once, where TensorFlow rounds each of them.

use super::fast::{self, Cx, concat, slice};
use super::onnx::{Activation, Recurrent, wide, with_float};
use super::{Binary, Reduce, Transposition};
use crate::error::invalid;
use crate::gemm::GemmElement as _;
use crate::interrupt::is_interrupted;
use crate::scratch::{filled, try_collected};
use crate::{HostTensor, Shape, TensorError};

/// The columns of the weights that are an LSTM's gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateOrder {
    /// Input, cell, forget, output.
    InputCellForget,
    /// Input, forget, cell, output.
    InputForgetCell,
}

/// A long short-term memory.
#[derive(Clone, Copy, Debug)]
pub struct LstmCell {
    /// The operator's name.
    pub op: &'static str,
    /// The order of the gates.
    pub order: GateOrder,
    /// A number that is added to the forget gate before its activation.
    pub forget_bias: f64,
    /// The absolute value to which the memory is clipped; 0 or less for no clipping.
    pub clip: f64,
    /// True if the memory is an input of the gates.
    pub has_peepholes: bool,
}

/// The operands of an LSTM.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are TensorFlow's")]
pub struct LstmOperands<'a> {
    /// The number of steps, of all of `x`; `None` for a cell, whose `x` has one step and no axis of steps.
    pub steps: Option<i64>,
    pub x: &'a HostTensor,
    pub cs_prev: &'a HostTensor,
    pub h_prev: &'a HostTensor,
    pub w: &'a HostTensor,
    /// `wci`, `wcf`, `wco`.
    pub peepholes: [&'a HostTensor; 3],
    pub b: &'a HostTensor,
}

/// The lengths of the axes.
#[derive(Clone, Copy)]
struct LstmSizes {
    /// The steps of `x`, and those that are computed; results of further ones are 0.
    all_steps: usize,
    steps: usize,
    batch: usize,
    inputs: usize,
    hidden: usize,
}

impl LstmSizes {
    /// The shape of a result of each step.
    fn shape(self, is_cell: bool, last: usize) -> Result<Shape, TensorError> {
        let dims = [self.all_steps, self.batch, last];
        Shape::new(if is_cell { &dims[1..] } else { &dims })
    }

    /// The number of elements of a state.
    fn state(self) -> usize {
        self.batch * self.hidden // fits: the elements of `cs_prev`
    }
}

/// The number of steps of an LSTM's results that its gradient reads: `i`, `cs`, `f`, `o`, `ci`, `co`.
const N_SAVED: usize = 6;

/// The weights of the memory, and the sums of their gradients.
type Peepholes<'a, T> = ([&'a [T]; 3], &'a mut [Vec<T>; 3]);

/// The gradients of a row's gates, and of the weights of the memory.
struct Back<'a, T> {
    gates: &'a mut [T],
    peepholes: Option<Peepholes<'a, T>>,
}

impl LstmCell {
    /// The positions of the gates among four: input, cell, forget, output.
    fn positions(&self) -> [usize; 4] {
        match self.order {
            GateOrder::InputCellForget => [0, 1, 2, 3],
            GateOrder::InputForgetCell => [0, 2, 1, 3],
        }
    }

    /// Checks the types and shapes.
    fn check(&self, operands: &LstmOperands<'_>) -> Result<LstmSizes, TensorError> {
        let LstmOperands { steps, x, cs_prev, h_prev, w, peepholes, b } = *operands;
        let (all_steps, &[batch, inputs]) = (match (steps, x.shape().dims()) {
            (None, rest) => (1, rest),
            (Some(_), [steps, rest @ ..]) => (*steps, rest),
            (Some(_), []) => (0, &[][..]),
        }) else {
            let rank = if steps.is_some() { 3 } else { 2 };
            return Err(TensorError::Rank { what: "x", want: rank, got: x.shape().clone() });
        };
        let &[_, hidden] = cs_prev.shape().dims() else {
            return Err(TensorError::Rank { what: "cs_prev", want: 2, got: cs_prev.shape().clone() });
        };
        let rows = inputs.checked_add(hidden).ok_or(TensorError::TooLarge)?;
        let columns = hidden.checked_mul(4).ok_or(TensorError::TooLarge)?;
        cs_prev.expect_shape("cs_prev", &Shape::new(&[batch, hidden])?)?;
        h_prev.expect_shape("h_prev", cs_prev.shape())?;
        w.expect_shape("w", &Shape::new(&[rows, columns])?)?;
        b.expect_shape("b", &Shape::new(&[columns])?)?;
        for (what, weights) in ["wci", "wcf", "wco"].into_iter().zip(peepholes) {
            match weights.shape().dims() {
                // A cell does not look at weights that it does not use.
                [_] if steps.is_none() && !self.has_peepholes => {}
                _ => weights.expect_shape(what, &Shape::new(&[hidden])?)?,
            }
            weights.expect_dtype(what, x.dtype())?;
        }
        for (what, other) in [("cs_prev", cs_prev), ("h_prev", h_prev), ("w", w), ("b", b)] {
            other.expect_dtype(what, x.dtype())?;
        }
        let steps = match (steps, steps.map(usize::try_from)) {
            (_, Some(Ok(steps))) if steps <= all_steps => steps,
            (None, _) => 1,
            (Some(steps), _) => {
                return invalid(self.op, format!("seq_len_max is {steps} of {all_steps} steps"));
            }
        };
        all_steps.checked_mul(batch).ok_or(TensorError::TooLarge)?;
        Ok(LstmSizes { all_steps, steps, batch, inputs, hidden })
    }

    /// `i`, `cs`, `f`, `o`, `ci`, `co`, `h` of each step.
    pub fn run(&self, operands: &LstmOperands<'_>, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
        let sizes = self.check(operands)?;
        let dtype = operands.x.dtype();
        let of = |x: &HostTensor| wide(self.op, x, cx);
        let (x, cs, h, w, b) =
            (of(operands.x)?, of(operands.cs_prev)?, of(operands.h_prev)?, of(operands.w)?, of(operands.b)?);
        let peepholes = each(operands.peepholes, of)?;
        let shape = sizes.shape(operands.steps.is_none(), sizes.hidden)?;
        let made: [HostTensor; N_SAVED + 1] =
            each([(); N_SAVED + 1], |()| HostTensor::zeros(x.dtype(), shape.clone(), cx.allocator))?;
        if made[0].num_elements() > 0 && sizes.steps > 0 {
            with_float!(x, T => self.forward::<T>(&sizes, [&x, &cs, &h, &w, &b], &peepholes, &made, cx)?);
        }
        made.iter().map(|made| fast::cast(made, dtype, cx)).collect()
    }

    fn forward<T: Recurrent>(
        &self,
        sizes: &LstmSizes,
        [x, cs, h, w, b]: [&HostTensor; 5],
        peepholes: &[HostTensor; 3],
        made: &[HostTensor; N_SAVED + 1],
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let LstmSizes { all_steps, steps, batch, inputs, hidden } = *sizes;
        let (state, columns) = (sizes.state(), 4 * hidden);
        let rows = x.reshaped(Shape::new(&[all_steps * batch, inputs])?)?;
        let rows = slice(&rows, &[0, 0], &[(steps * batch) as i64, -1], cx)?;
        let product =
            |a: &HostTensor, b: &HostTensor| fast::matmul(a, Transposition::None, b, Transposition::None, cx);
        // The state of a single step is multiplied together with the input.
        let by_parts = steps > 1;
        let from_x = match by_parts {
            true => product(&rows, &slice(w, &[0, 0], &[inputs as i64, -1], cx)?)?,
            false => product(&concat(&[&rows, h], 1, cx)?, w)?,
        };
        let (w, b, from_x) = (w.read::<T>()?, b.read::<T>()?, from_x.read::<T>()?);
        let r = match by_parts {
            true => Some(T::pack(hidden, columns, &w[inputs * columns..], Transposition::None)?),
            false => None,
        };
        let peepholes = each(peepholes.each_ref(), HostTensor::read::<T>)?;
        let (cs_first, h_first) = (cs.read::<T>()?, h.read::<T>()?);
        let mut made = each(made.each_ref(), HostTensor::write::<T>)?;
        let mut gates = filled(batch * columns, T::ZERO)?;
        for t in 0..steps {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let mut results = made.each_mut().map(|made| &mut made[..(t + 1) * state]);
            let mut before = [&cs_first[..], &h_first[..]];
            let mut now = results.each_mut().map(|all| {
                let (before, now) = all.split_at_mut(t * state);
                (&*before, now)
            });
            if t > 0 {
                before = [1, 6].map(|i| &now[i].0[(t - 1) * state..]);
            }
            match &r {
                Some(r) => T::times((before[1], batch), r, None, &mut gates, cx.parallel)?,
                None => gates.fill(T::ZERO),
            }
            for (row, gates) in gates.chunks_exact_mut(columns).enumerate() {
                let from_x = &from_x[(t * batch + row) * columns..][..columns];
                gates.iter_mut().zip(from_x).zip(&*b).for_each(|((gate, &x), &b)| *gate = *gate + x + b);
                let of_row = row * hidden..(row + 1) * hidden;
                let peepholes =
                    self.has_peepholes.then_some(peepholes.each_ref().map(|weights| &weights[..]));
                let out = now.each_mut().map(|(_, now)| &mut now[of_row.clone()]);
                self.advance(gates, &before[0][of_row.clone()], peepholes, out);
            }
        }
        Ok(())
    }

    /// A row of a step.
    fn advance<T: Recurrent>(
        &self,
        gates: &[T],
        cs_prev: &[T],
        peepholes: Option<[&[T]; 3]>,
        [i, cs, f, o, ci, co, h]: [&mut [T]; N_SAVED + 1],
    ) {
        let n = cs_prev.len();
        let gate = |at: usize| &gates[self.positions()[at] * n..][..n];
        i.copy_from_slice(gate(0));
        ci.copy_from_slice(gate(1));
        f.copy_from_slice(gate(2));
        o.copy_from_slice(gate(3));
        let forget_bias = T::rounded(self.forget_bias);
        f.iter_mut().for_each(|f| *f += forget_bias);
        let add = |gate: &mut [T], cs: &[T], weights: &[T]| {
            gate.iter_mut().zip(cs).zip(weights).for_each(|((gate, &cs), &w)| *gate += cs * w);
        };
        if let Some([wci, wcf, _]) = peepholes {
            add(i, cs_prev, wci);
            add(f, cs_prev, wcf);
        }
        Activation::Sigmoid.apply(i);
        Activation::Sigmoid.apply(f);
        Activation::Tanh.apply(ci);
        let kept = f.iter().zip(cs_prev);
        let new = i.iter().zip(&*ci);
        cs.iter_mut()
            .zip(new)
            .zip(kept)
            .for_each(|((cs, (&i, &ci)), (&f, &before))| *cs = i * ci + f * before);
        if self.clip > 0.0 {
            let (low, high) = (T::rounded(-self.clip), T::rounded(self.clip));
            for cs in &mut *cs {
                if *cs > high {
                    *cs = high;
                } else if *cs < low {
                    *cs = low;
                }
            }
        }
        if let Some([_, _, wco]) = peepholes {
            add(o, cs, wco);
        }
        co.copy_from_slice(cs);
        Activation::Tanh.apply(co);
        Activation::Sigmoid.apply(o);
        h.iter_mut().zip(&*o).zip(&*co).for_each(|((h, &o), &co)| *h = o * co);
    }

    /// The gradients of a row of a step. `dcs` is the gradient of the memory on entry, and that of the memory
    /// before the step on return.
    fn back<T: Recurrent>(
        &self,
        [i, cs, f, o, ci, co]: [&[T]; N_SAVED],
        cs_prev: &[T],
        (dh, dcs): (&[T], &mut [T]),
        Back { gates, mut peepholes }: Back<'_, T>,
    ) {
        let n = cs_prev.len();
        let at = self.positions().map(|position| position * n);
        let slope = |gate: T| gate * (T::ONE - gate);
        for j in 0..n {
            let (i, cs, f, o, ci, co) = (i[j], cs[j], f[j], o[j], ci[j], co[j]);
            let d_o = slope(o) * dh[j] * co;
            let mut d = (T::ONE - co * co) * dh[j] * o + dcs[j];
            if let Some(([_, _, wco], _)) = &peepholes {
                d += d_o * wco[j];
            }
            let d_ci = (T::ONE - ci * ci) * d * i;
            let d_f = slope(f) * d * cs_prev[j];
            let d_i = slope(i) * d * ci;
            dcs[j] = d * f;
            if let Some(([wci, wcf, _], [sum_i, sum_f, sum_o])) = &mut peepholes {
                dcs[j] += d_i * wci[j] + d_f * wcf[j];
                sum_i[j] += d_i * cs_prev[j];
                sum_f[j] += d_f * cs_prev[j];
                sum_o[j] += d_o * cs;
            }
            for (at, d) in at.into_iter().zip([d_i, d_ci, d_f, d_o]) {
                gates[at + j] = d;
            }
        }
    }

    /// The gradients: for a cell of `cs_prev`, the gates and the weights of the memory; for a layer of `x`,
    /// `cs_prev`, `h_prev`, `w`, the weights of the memory and `b`. The operands are the results of
    /// [`Self::run`], without the last one for a cell, then the gradients of `cs` and `h`.
    pub fn gradient(
        &self,
        operands: &LstmOperands<'_>,
        results: &[&HostTensor],
        cx: &Cx<'_>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let sizes = self.check(operands)?;
        let (dtype, is_cell) = (operands.x.dtype(), operands.steps.is_none());
        let shape = sizes.shape(is_cell, sizes.hidden)?;
        let n_states = if is_cell { N_SAVED } else { N_SAVED + 1 };
        if results.len() != n_states + 2 {
            return invalid(
                self.op,
                format!("{} states and gradients, expected {}", results.len(), n_states + 2),
            );
        }
        for result in results {
            result.expect_shape("a state or a gradient", &shape)?;
            result.expect_dtype("a state or a gradient", dtype)?;
        }
        let of = |x: &HostTensor| wide(self.op, x, cx);
        let (saved, given) = results.split_at(n_states);
        let (h_states, saved) = (saved.get(N_SAVED), saved.first_chunk::<N_SAVED>());
        let (Some(saved), [cs_grad, h_grad]) = (saved, given) else {
            return invalid(self.op, format!("{} states and gradients", results.len()));
        };
        let (saved, given) = (each(*saved, of)?, [of(cs_grad)?, of(h_grad)?]);
        let (cs, h, w) = (of(operands.cs_prev)?, of(operands.h_prev)?, of(operands.w)?);
        let peepholes = each(operands.peepholes, of)?;
        let (mut dcs, mut dh) = (of(operands.cs_prev)?, of(operands.h_prev)?);
        dcs.make_unique(cx.allocator)?;
        dh.make_unique(cx.allocator)?;
        let gates = Shape::new(&[sizes.steps * sizes.batch, 4 * sizes.hidden])?;
        let gates = HostTensor::zeros(cs.dtype(), gates, cx.allocator)?;
        let sums = with_float!(cs, T => {
            dcs.write::<T>()?.fill(T::ZERO);
            dh.write::<T>()?.fill(T::ZERO);
            let mut sums = each([(); 3], |()| filled(sizes.hidden, T::ZERO))?;
            let states = [&cs, &dcs, &dh, &gates];
            self.backward::<T>(&sizes, (&saved, &given), (&w, &peepholes), states, (&mut sums, is_cell), cx)?;
            each([0, 1, 2], |i| match self.has_peepholes {
                true => HostTensor::from_slice(peepholes[i].shape().clone(), &sums[i], cx.allocator),
                false => HostTensor::zeros(cs.dtype(), peepholes[i].shape().clone(), cx.allocator),
            })?
        });
        let made: Vec<HostTensor> = match h_states {
            None => [dcs, gates].into_iter().chain(sums).collect(),
            Some(h_states) => {
                let [x_grad, w_grad, b_grad] =
                    self.of_weights(&sizes, (&of(operands.x)?, &h, &of(h_states)?), (&w, &gates), cx)?;
                [x_grad, dcs, dh, w_grad].into_iter().chain(sums).chain([b_grad]).collect()
            }
        };
        made.iter().map(|made| fast::cast(made, dtype, cx)).collect()
    }

    /// The gradients of all gates, from the last step to the first, and of the states before the first step.
    fn backward<T: Recurrent>(
        &self,
        sizes: &LstmSizes,
        (saved, given): (&[HostTensor; N_SAVED], &[HostTensor; 2]),
        (w, peepholes): (&HostTensor, &[HostTensor; 3]),
        [cs_first, dcs, dh, gates]: [&HostTensor; 4],
        (sums, is_cell): (&mut [Vec<T>; 3], bool),
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let LstmSizes { steps, batch, inputs, hidden, .. } = *sizes;
        let (state, columns) = (sizes.state(), 4 * hidden);
        if state == 0 {
            return Ok(());
        }
        let (saved, given) = (each(saved.each_ref(), HostTensor::read::<T>)?, given.each_ref());
        let (given, w, cs_first) =
            (each(given, HostTensor::read::<T>)?, w.read::<T>()?, cs_first.read::<T>()?);
        let weights = each(peepholes.each_ref(), HostTensor::read::<T>)?;
        let weights = weights.each_ref().map(|weights| &weights[..]);
        let (mut dcs, mut dh, mut gates) = (dcs.write::<T>()?, dh.write::<T>()?, gates.write::<T>()?);
        let r = match is_cell {
            true => None,
            false => Some(T::pack(columns, hidden, &w[inputs * columns..], Transposition::Transpose)?),
        };
        for t in (0..steps).rev() {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let now = t * state..(t + 1) * state;
            for (d, given) in [&mut dcs, &mut dh].into_iter().zip(&given) {
                d.iter_mut().zip(&given[now.clone()]).for_each(|(d, &given)| *d += given);
            }
            let before = if t == 0 { &cs_first[..] } else { &saved[1][(t - 1) * state..now.start] };
            let of_step = &mut gates[t * batch * columns..][..batch * columns];
            for (row, gates) in of_step.chunks_exact_mut(columns).enumerate() {
                let of_row = row * hidden..(row + 1) * hidden;
                let peepholes = self.has_peepholes.then_some((weights, &mut *sums));
                let saved = saved.each_ref().map(|saved| &saved[now.clone()][of_row.clone()]);
                let d = (&dh[of_row.clone()], &mut dcs[of_row.clone()]);
                self.back(saved, &before[of_row], d, Back { gates, peepholes });
            }
            if let Some(r) = &r {
                T::times((of_step, batch), r, None, &mut dh, cx.parallel)?;
            }
        }
        Ok(())
    }

    /// The gradients of `x`, `w` and `b` from those of the gates.
    fn of_weights(
        &self,
        sizes: &LstmSizes,
        (x, h, h_states): (&HostTensor, &HostTensor, &HostTensor),
        (w, gates): (&HostTensor, &HostTensor),
        cx: &Cx<'_>,
    ) -> Result<[HostTensor; 3], TensorError> {
        let LstmSizes { all_steps, steps, batch, inputs, hidden } = *sizes;
        let (used, turned) = ((steps * batch) as i64, Transposition::Transpose);
        let rows = |x: &HostTensor, last: usize| x.reshaped(Shape::new(&[all_steps * batch, last])?);
        let some = |x: &HostTensor, n: i64| slice(x, &[0, 0], &[n, -1], cx);
        let x_rows = some(&rows(x, inputs)?, used)?;
        // The state before each step.
        let h_rows = concat(&[h, &rows(h_states, hidden)?], 0, cx)?;
        let before = concat(&[&x_rows, &some(&h_rows, used)?], 1, cx)?;
        let w_grad = fast::matmul(&before, turned, gates, Transposition::None, cx)?;
        let x_grad = fast::matmul(gates, Transposition::None, &some(w, inputs as i64)?, turned, cx)?;
        let unused = Shape::new(&[(all_steps - steps) * batch, inputs])?;
        let unused = HostTensor::zeros(x.dtype(), unused, cx.allocator)?;
        let x_grad = concat(&[&x_grad, &unused], 0, cx)?.reshaped(x.shape().clone())?;
        Ok([x_grad, w_grad, fast::reduce(Reduce::Sum, gates, &[0], false, cx)?])
    }
}

/// The results of a function for each item, or its first error.
fn each<A, B, const N: usize>(
    items: [A; N],
    of: impl FnMut(A) -> Result<B, TensorError>,
) -> Result<[B; N], TensorError> {
    match <[B; N]>::try_from(try_collected(items.into_iter().map(of))?) {
        Ok(made) => Ok(made),
        Err(_) => unreachable!("there is one for each item"),
    }
}

/// The operands of a gated recurrent unit.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are TensorFlow's")]
pub struct GruOperands<'a> {
    pub x: &'a HostTensor,
    pub h_prev: &'a HostTensor,
    pub w_ru: &'a HostTensor,
    pub w_c: &'a HostTensor,
    pub b_ru: &'a HostTensor,
    pub b_c: &'a HostTensor,
}

impl GruOperands<'_> {
    /// The number of inputs and of hidden units.
    fn check(&self) -> Result<(usize, usize), TensorError> {
        let (&[batch, inputs], &[_, hidden]) = (self.x.shape().dims(), self.h_prev.shape().dims()) else {
            return invalid(
                "GRUBlockCell",
                format!("`x` of shape {}, `h_prev` of shape {}", self.x.shape(), self.h_prev.shape()),
            );
        };
        let rows = inputs.checked_add(hidden).ok_or(TensorError::TooLarge)?;
        let twice = hidden.checked_mul(2).ok_or(TensorError::TooLarge)?;
        let wanted: [(_, _, &[usize]); 5] = [
            ("h_prev", self.h_prev, &[batch, hidden]),
            ("w_ru", self.w_ru, &[rows, twice]),
            ("w_c", self.w_c, &[rows, hidden]),
            ("b_ru", self.b_ru, &[twice]),
            ("b_c", self.b_c, &[hidden]),
        ];
        for (what, x, dims) in wanted {
            x.expect_shape(what, &Shape::new(dims)?)?;
            x.expect_dtype(what, self.x.dtype())?;
        }
        Ok((inputs, hidden))
    }
}

/// `x * w + b`, activated.
fn layer(
    [x, w, b]: [&HostTensor; 3],
    activation: Activation,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let y = fast::matmul(x, Transposition::None, w, Transposition::None, cx)?;
    let y = fast::binary(Binary::Add, y, b.clone(), cx)?;
    with_float!(y, T => activation.apply(&mut y.write::<T>()?));
    Ok(y)
}

/// `GRUBlockCell`: `r`, `u`, `c`, `h`.
pub fn gru_cell(operands: &GruOperands<'_>, cx: &Cx<'_>) -> Result<[HostTensor; 4], TensorError> {
    let (_, hidden) = operands.check()?;
    let dtype = operands.x.dtype();
    let GruOperands { x, h_prev, w_ru, w_c, b_ru, b_c } = *operands;
    let [x, h, w_ru, w_c, b_ru, b_c] =
        each([x, h_prev, w_ru, w_c, b_ru, b_c], |x| wide("GRUBlockCell", x, cx))?;
    let gates = layer([&concat(&[&x, &h], 1, cx)?, &w_ru, &b_ru], Activation::Sigmoid, cx)?;
    let [r, u] = halves(&gates, hidden, cx)?;
    let reset = fast::binary(Binary::Mul, r.clone(), h.clone(), cx)?;
    let c = layer([&concat(&[&x, &reset], 1, cx)?, &w_c, &b_c], Activation::Tanh, cx)?;
    let made = HostTensor::allocate(h.dtype(), h.shape().clone(), cx.allocator)?;
    with_float!(h, T => {
        let (u, c, h) = (u.read::<T>()?, c.read::<T>()?, h.read::<T>()?);
        for (((made, &u), &c), &h) in made.write::<T>()?.iter_mut().zip(&*u).zip(&*c).zip(&*h) {
            *made = u * h + (1.0 - u) * c;
        }
    });
    each([r, u, c, made], |made| fast::cast(&made, dtype, cx))
}

/// The left and the right half of a matrix with twice as many columns.
fn halves(x: &HostTensor, columns: usize, cx: &Cx<'_>) -> Result<[HostTensor; 2], TensorError> {
    let columns = columns as i64;
    each([0, columns], |from| slice(x, &[0, from], &[-1, columns], cx))
}

/// `GRUBlockCellGrad`: the gradients of `x` and `h_prev`, of the candidate before its activation, and of the
/// gates before theirs. `states` are `r`, `u`, `c` and the gradient of `h`.
pub fn gru_cell_gradient(
    operands: &GruOperands<'_>,
    states: [&HostTensor; 4],
    cx: &Cx<'_>,
) -> Result<[HostTensor; 4], TensorError> {
    let op = "GRUBlockCellGrad";
    let (inputs, hidden) = operands.check()?;
    let dtype = operands.x.dtype();
    for state in states {
        state.expect_shape("a state or a gradient", operands.h_prev.shape())?;
        state.expect_dtype("a state or a gradient", dtype)?;
    }
    let [r, u, c, dh] = each(states, |state| wide(op, state, cx))?;
    let [h, w_ru, w_c] = each([operands.h_prev, operands.w_ru, operands.w_c], |x| wide(op, x, cx))?;
    let (plain, turned) = (Transposition::None, Transposition::Transpose);
    // The gradients of the columns of x and of those of the state.
    let parts = |d: &HostTensor, w: &HostTensor| -> Result<[HostTensor; 2], TensorError> {
        let all = fast::matmul(d, plain, w, turned, cx)?;
        let (inputs, hidden) = (inputs as i64, hidden as i64);
        each([(0, inputs), (inputs, hidden)], |(from, n)| slice(&all, &[0, from], &[-1, n], cx))
    };
    let like = || HostTensor::allocate(h.dtype(), h.shape().clone(), cx.allocator);
    let (d_c, d_r, d_u, d_h) = (like()?, like()?, like()?, like()?);
    with_float!(h, T => {
        let (u, c, h, dh) = (u.read::<T>()?, c.read::<T>()?, h.read::<T>()?, dh.read::<T>()?);
        let (mut d_c, mut d_u) = (d_c.write::<T>()?, d_u.write::<T>()?);
        for (i, (d_c, d_u)) in d_c.iter_mut().zip(&mut *d_u).enumerate() {
            *d_c = dh[i] * (1.0 - u[i]) * (1.0 - c[i] * c[i]);
            *d_u = dh[i] * (h[i] - c[i]) * (u[i] * (1.0 - u[i]));
        }
    });
    let [x_by_c, reset] = parts(&d_c, &w_c)?;
    with_float!(h, T => {
        let (r, h, reset, mut d_r) = (r.read::<T>()?, h.read::<T>()?, reset.read::<T>()?, d_r.write::<T>()?);
        for (i, d_r) in d_r.iter_mut().enumerate() {
            *d_r = reset[i] * h[i] * (r[i] * (1.0 - r[i]));
        }
    });
    let gates = concat(&[&d_r, &d_u], 1, cx)?;
    let [x_by_gates, h_by_gates] = parts(&gates, &w_ru)?;
    with_float!(h, T => {
        let (r, u, dh, reset) = (r.read::<T>()?, u.read::<T>()?, dh.read::<T>()?, reset.read::<T>()?);
        let (by_gates, mut d_h) = (h_by_gates.read::<T>()?, d_h.write::<T>()?);
        for (i, d_h) in d_h.iter_mut().enumerate() {
            *d_h = by_gates[i] + reset[i] * r[i] + dh[i] * u[i];
        }
    });
    let d_x = fast::binary(Binary::Add, x_by_c, x_by_gates, cx)?;
    each([d_x, d_h, d_c, gates], |made| fast::cast(&made, dtype, cx))
}
