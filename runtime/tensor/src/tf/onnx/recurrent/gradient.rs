//! Gradients of recurrent layers: back-propagation through time.
//!
//! ```text
//! y ──▶ the state before each step ──▶ gates: one product for all steps ──▶ an LSTM's memories, step by step
//!
//! d y, d h, d c ──▶ d gates of a step ──▶ d h, d c of the step before       from the last step to the first
//! all steps: d gates ──▶ d x, d w, d r, d b
//! ```
//!
//! Nothing is kept for it but `y`: the gates are computed again, without the forward pass's product per step.
//! Rows are those of `x`, position by position, sequence by sequence. Rows behind the end of a sequence have
//! no gates; gradients of their results, which are constant zeros, are ignored, and gradients of the last
//! state pass them.
//!
//! A gate that is clipped has no gradient; a number on the bound passes.

use super::{
    Cell, Direction, FromX, Recurrence, Recurrent, RecurrentOperands, Sizes, add_products, add_to,
    of_direction, place,
};
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled, try_collected};
use crate::tf::fast::{self, Cx, concat, slice};
use crate::tf::onnx::{WideFloat, wide, with_float};
use crate::tf::{Reduce, Transposition};
use crate::{HostTensor, Shape, TensorError};

/// The states of a recurrent layer, and the gradients of its results; only those of an LSTM have `d_c`.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentGradients<'a> {
    /// The states of all steps.
    pub y: &'a HostTensor,
    /// The gradient of the states of all steps.
    pub d_y: &'a HostTensor,
    /// The gradient of the last state.
    pub d_h: &'a HostTensor,
    /// The gradient of the last memory.
    pub d_c: Option<&'a HostTensor>,
}

/// The order in which a direction visits the rows.
#[derive(Clone, Copy)]
struct RowOrder<'a> {
    lengths: &'a [usize],
    is_reverse: bool,
    sizes: Sizes,
}

impl RowOrder<'_> {
    /// The row of a step of sequence `b`, `None` if the sequence has ended.
    fn row(self, step: usize, b: usize) -> Option<usize> {
        Some(place(step, self.lengths[b], self.is_reverse)? * self.sizes.batch + b)
    }

    /// The sequences that have not ended at a step, with their rows.
    fn rows(self, step: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.sizes.batch).filter_map(move |b| Some((b, self.row(step, b)?)))
    }

    /// The state before each row, given the first state of each sequence and the state behind each row.
    fn before<T: Copy>(self, first: &[T], states: &[T], before: &mut [T]) {
        let n = self.sizes.hidden;
        for step in 0..self.sizes.steps {
            for (b, row) in self.rows(step) {
                let state = match step.checked_sub(1).and_then(|step| self.row(step, b)) {
                    Some(row) => &states[row * n..][..n],
                    None => &first[b * n..][..n],
                };
                before[row * n..][..n].copy_from_slice(state);
            }
        }
    }
}

/// The operands of the way back through a direction.
struct Given<'a, T> {
    order: RowOrder<'a>,
    from_x: FromX<'a, T>,
    /// The weights of the state, not packed.
    r: &'a [T],
    /// The state before each row.
    before: &'a [T],
    /// The gradient of the state behind each row.
    d_y: &'a [T],
    /// The first memory of each sequence of an LSTM.
    c: &'a [T],
}

/// The gradients of the states, and on return those of the first ones.
struct Carried<'a, T> {
    h: &'a mut [T],
    c: &'a mut [T],
}

/// The gradients of the gates of each row, before their activation.
struct OfGates<'a, T> {
    by_x: &'a mut [T],
    /// Of the state's part of a GRU's hidden gate, where it differs.
    by_h: &'a mut [T],
    /// The sums of the gradients of the weights of an LSTM's memory.
    p: &'a mut [T],
}

/// The memory of an LSTM before and behind each row, and the latter's activation.
struct Memories<T> {
    before: Vec<T>,
    behind: Vec<T>,
    shown: Vec<T>,
}

/// Products, element by element.
fn set_products<T: WideFloat>(out: &mut [T], a: &[T], b: &[T]) {
    out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = a * b);
}

impl<T: Recurrent> Direction<'_, T> {
    /// Multiplies gradients of the results `y` of activation function `i` at `x` by its slopes.
    fn activate_back(&self, i: usize, x: &[T], y: &[T], d: &mut [T]) {
        if let Some(activation) = self.activations.get(i) {
            activation.times_slopes(x, y, d);
        }
        if self.clip > T::ZERO {
            let (low, high) = (T::ZERO - self.clip, self.clip);
            d.iter_mut().zip(x).filter(|&(_, &x)| x < low || x > high).for_each(|(d, _)| *d = T::ZERO);
        }
    }

    /// The first `own` gates of all rows before their activation.
    fn gates_of_rows(&self, given: &Given<'_, T>, own: usize, cx: &Cx<'_>) -> Result<Vec<T>, TensorError> {
        let rows = given.before.len() / self.sizes.hidden;
        let mut gates = filled(rows * own, T::ZERO)?;
        let joint = given.from_x.rows(0, rows, own);
        T::times((given.before, rows), &self.r, joint, &mut gates, cx.parallel)?;
        if joint.is_none() {
            let each = gates.chunks_exact_mut(own).enumerate();
            each.for_each(|(row, gates)| add_to(gates, given.from_x.row(row, 0, own)));
        }
        Ok(gates)
    }

    /// The way back through an LSTM or plain cells.
    fn back(
        &self,
        given: &Given<'_, T>,
        carried: &mut Carried<'_, T>,
        made: &mut OfGates<'_, T>,
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let Sizes { steps, batch, hidden: n, gates } = self.sizes;
        let own = gates * n;
        let mut before_activation = self.gates_of_rows(given, own, cx)?;
        let mut activated = copied(&before_activation)?;
        let memories = match self.cell {
            Cell::Lstm { input_forget } => {
                let both = (&mut before_activation[..], &mut activated[..]);
                Some((input_forget, self.memories(input_forget, given, both)?))
            }
            Cell::Gru { .. } | Cell::Rnn => {
                self.activate(0, &mut activated);
                None
            }
        };
        let r = T::pack(own, n, given.r, Transposition::None)?;
        let (mut of_step, mut kept) = (filled(batch * own, T::ZERO)?, filled(batch * n, T::ZERO)?);
        let mut room = filled(n, T::ZERO)?;
        for step in (0..steps).rev() {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            // A sequence that has ended keeps the gradient of its last state.
            kept.copy_from_slice(carried.h);
            of_step.fill(T::ZERO);
            for (b, row) in given.order.rows(step) {
                let h = &mut carried.h[b * n..][..n];
                add_to(h, &given.d_y[row * n..][..n]);
                kept[b * n..][..n].fill(T::ZERO);
                let d = &mut of_step[b * own..][..own];
                let (x, y) = (&before_activation[row * own..][..own], &activated[row * own..][..own]);
                match &memories {
                    None => {
                        d.copy_from_slice(h);
                        self.activate_back(0, x, y, d);
                    }
                    Some((input_forget, memories)) => {
                        let states = [&memories.before, &memories.behind, &memories.shown]
                            .map(|states| &states[row * n..][..n]);
                        let c = &mut carried.c[b * n..][..n];
                        self.remember_back(*input_forget, (x, y), states, (h, c, &mut room), (d, made.p));
                    }
                }
                made.by_x[row * own..][..own].copy_from_slice(d);
            }
            T::times((&of_step, batch), &r, Some(&kept), carried.h, cx.parallel)?;
        }
        Ok(())
    }

    /// The memories of an LSTM, given its gates before their activation twice: to the first ones the parts of
    /// the memory are added, the others are activated.
    fn memories(
        &self,
        input_forget: bool,
        given: &Given<'_, T>,
        (gates, activated): (&mut [T], &mut [T]),
    ) -> Result<Memories<T>, TensorError> {
        let (n, len) = (self.sizes.hidden, given.before.len());
        let mut made =
            Memories { before: filled(len, T::ZERO)?, behind: filled(len, T::ZERO)?, shown: Vec::new() };
        let (mut c, mut h) = (copied(given.c)?, filled(n, T::ZERO)?);
        for step in 0..self.sizes.steps {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            for (b, row) in given.order.rows(step) {
                let c = &mut c[b * n..][..n];
                made.before[row * n..][..n].copy_from_slice(c);
                self.remember(input_forget, &mut activated[row * 4 * n..][..4 * n], &mut h, c);
                made.behind[row * n..][..n].copy_from_slice(c);
                if let Some([p_input, p_output, p_forget]) = self.peepholes_of_gates() {
                    let before = &made.before[row * n..][..n];
                    let gates = &mut gates[row * 4 * n..][..4 * n];
                    add_products(&mut gates[..n], p_input, before);
                    add_products(&mut gates[n..][..n], p_output, c);
                    add_products(&mut gates[2 * n..][..n], p_forget, before);
                }
            }
        }
        made.shown = copied(&made.behind)?;
        if let Some(activation) = self.activations.get(2) {
            activation.apply(&mut made.shown);
        }
        Ok(made)
    }

    /// One step of an LSTM: the gradients of its gates before activation and of the memory before the step.
    fn remember_back(
        &self,
        input_forget: bool,
        (x, y): (&[T], &[T]),
        [before, behind, shown]: [&[T]; 3],
        (d_h, d_c, room): (&[T], &mut [T], &mut [T]),
        (d_gates, d_p): (&mut [T], &mut [T]),
    ) {
        let n = d_c.len();
        let [x_input, x_output, x_forget, x_new] = [0, 1, 2, 3].map(|i| &x[i * n..][..n]);
        let [input, output, forget, new] = [0, 1, 2, 3].map(|i| &y[i * n..][..n]);
        let (d_input, rest) = d_gates.split_at_mut(n);
        let (d_output, rest) = rest.split_at_mut(n);
        let (d_forget, d_new) = rest.split_at_mut(n);
        let p = self.peepholes_of_gates();
        set_products(d_output, d_h, shown);
        self.activate_back(0, x_output, output, d_output);
        set_products(room, d_h, output);
        if let Some(activation) = self.activations.get(2) {
            activation.times_slopes(behind, shown, room);
        }
        add_to(d_c, room);
        if let Some([_, p_output, _]) = p {
            add_products(d_c, d_output, p_output);
        }
        set_products(d_new, d_c, input);
        self.activate_back(1, x_new, new, d_new);
        set_products(d_input, d_c, new);
        set_products(d_forget, d_c, before);
        if input_forget {
            d_input.iter_mut().zip(&mut *d_forget).for_each(|(input, forget)| {
                *input = *input - *forget;
                *forget = T::ZERO;
            });
        } else {
            self.activate_back(0, x_forget, forget, d_forget);
        }
        self.activate_back(0, x_input, input, d_input);
        d_c.iter_mut().zip(forget).for_each(|(d, &forget)| *d = *d * forget);
        if let Some([p_input, _, p_forget]) = p {
            add_products(d_c, d_input, p_input);
            add_products(d_c, d_forget, p_forget);
        }
        let of_gates = [(&*d_input, before), (&*d_output, behind), (&*d_forget, before)];
        d_p.chunks_exact_mut(n).zip(of_gates).for_each(|(d_p, (d, c))| add_products(d_p, d, c));
    }

    /// The way back through gated recurrent units. `states` is the state that the hidden gate takes.
    fn gated_back(
        &self,
        given: &Given<'_, T>,
        (linear_before_reset, states): (bool, &mut [T]),
        carried: &mut Carried<'_, T>,
        made: &mut OfGates<'_, T>,
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let Some((r_hidden, bias)) = &self.r_hidden else { return Ok(()) };
        let Sizes { steps, batch, hidden: n, .. } = self.sizes;
        let (rows, own) = (given.before.len() / n, 2 * n);
        let joint = self.gates_of_rows(given, own, cx)?;
        let mut activated = copied(&joint)?;
        self.activate(0, &mut activated);
        let reset_of = |row: usize| &activated[row * own + n..][..n];
        states.copy_from_slice(given.before);
        if !linear_before_reset {
            for (row, state) in states.chunks_exact_mut(n).enumerate() {
                state.iter_mut().zip(reset_of(row)).for_each(|(state, &reset)| *state = *state * reset);
            }
        }
        let mut by_state = filled(rows * n, T::ZERO)?;
        T::times((states, rows), r_hidden, None, &mut by_state, cx.parallel)?;
        let mut hidden = filled(rows * n, T::ZERO)?;
        for (row, (hidden, by_state)) in
            hidden.chunks_exact_mut(n).zip(by_state.chunks_exact_mut(n)).enumerate()
        {
            add_to(by_state, bias);
            match linear_before_reset {
                true => set_products(hidden, reset_of(row), by_state),
                false => hidden.copy_from_slice(by_state),
            }
            add_to(hidden, given.from_x.row(row, own, n));
        }
        let mut new = copied(&hidden)?;
        self.activate(1, &mut new);
        let (r, r_hidden) = given.r.split_at(own * n);
        let r = T::pack(own, n, r, Transposition::None)?;
        let r_hidden = T::pack(n, n, r_hidden, Transposition::None)?;
        let zeros = |columns: usize| filled(batch * columns, T::ZERO);
        let (mut of_joint, mut of_hidden, mut of_state, mut kept) =
            (zeros(own)?, zeros(n)?, zeros(n)?, zeros(n)?);
        for step in (0..steps).rev() {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            // A sequence that has ended keeps the gradient of its last state.
            kept.copy_from_slice(carried.h);
            of_joint.fill(T::ZERO);
            of_hidden.fill(T::ZERO);
            for (b, row) in given.order.rows(step) {
                let of_row = row * n..(row + 1) * n;
                let (h, update) = (&mut carried.h[b * n..][..n], &activated[row * own..][..n]);
                add_to(h, &given.d_y[of_row.clone()]);
                set_products(&mut kept[b * n..][..n], h, update);
                let d_new = &mut made.by_x[row * 3 * n..][own..3 * n];
                d_new.iter_mut().zip(&*h).zip(update).for_each(|((d, &h), &z)| *d = h * (T::ONE - z));
                self.activate_back(1, &hidden[of_row.clone()], &new[of_row.clone()], d_new);
                let d_hidden = &mut of_hidden[b * n..][..n];
                match linear_before_reset {
                    true => set_products(d_hidden, d_new, reset_of(row)),
                    false => d_hidden.copy_from_slice(d_new),
                }
                made.by_h[row * 3 * n..][own..3 * n].copy_from_slice(d_hidden);
                let d_update = &mut of_joint[b * own..][..n];
                let changes = given.before[of_row.clone()].iter().zip(&new[of_row]);
                d_update
                    .iter_mut()
                    .zip(&*h)
                    .zip(changes)
                    .for_each(|((d, &h), (&old, &new))| *d = h * (old - new));
                self.activate_back(0, &joint[row * own..][..n], update, d_update);
            }
            T::times((&of_hidden, batch), &r_hidden, None, &mut of_state, cx.parallel)?;
            for (b, row) in given.order.rows(step) {
                let (of_row, reset) = (row * n..(row + 1) * n, reset_of(row));
                let (d_state, kept) = (&of_state[b * n..][..n], &mut kept[b * n..][..n]);
                let d_joint = &mut of_joint[b * own..][..own];
                let d_reset = &mut d_joint[n..];
                match linear_before_reset {
                    true => {
                        add_to(kept, d_state);
                        set_products(d_reset, &made.by_x[row * 3 * n..][own..3 * n], &by_state[of_row]);
                    }
                    false => {
                        add_products(kept, d_state, reset);
                        set_products(d_reset, d_state, &given.before[of_row]);
                    }
                }
                self.activate_back(0, &joint[row * own + n..][..n], reset, d_reset);
                for gates in [&mut *made.by_x, &mut *made.by_h] {
                    gates[row * 3 * n..][..own].copy_from_slice(d_joint);
                }
            }
            T::times((&of_joint, batch), &r, Some(&kept), carried.h, cx.parallel)?;
        }
        Ok(())
    }
}

impl Recurrence {
    /// `_LstmGrad`, `_GruGrad`, `_RnnGrad`: the gradients of `x`, `w`, `r`, `b` and the initial state, and
    /// for an LSTM of the initial memory and its weights.
    pub fn gradient(
        &self,
        operands: &RecurrentOperands<'_>,
        results: &RecurrentGradients<'_>,
        cx: &Cx<'_>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let (sizes, lengths) = self.check(operands)?;
        let RecurrentOperands { x, w, r, b, lengths: _, h, c_and_p } = *operands;
        let RecurrentGradients { y, d_y, d_h, d_c } = *results;
        let all = Shape::new(&[sizes.steps, self.directions.len(), sizes.batch, sizes.hidden])?;
        for (what, given, shape) in [
            ("y", Some(y), &all),
            ("y_grad", Some(d_y), &all),
            ("y_h_grad", Some(d_h), h.shape()),
            ("y_c_grad", d_c, h.shape()),
        ] {
            let Some(given) = given else { continue };
            given.expect_shape(what, shape)?;
            given.expect_dtype(what, x.dtype())?;
        }
        let like = [x, w, r, b, h].into_iter().chain(c_and_p.into_iter().flatten());
        let zeros = |x: &HostTensor| HostTensor::zeros(x.dtype(), x.shape().clone(), cx.allocator);
        if all.num_elements() == 0 {
            let mut made = try_collected(like.map(zeros))?;
            made[4] = d_h.clone();
            if let (Some(made), Some(d_c)) = (made.get_mut(5), d_c) {
                *made = d_c.clone();
            }
            return Ok(made);
        }
        let x = wide(self.cell.op(), operands.x, cx)?;
        let directions = try_collected((0..self.directions.len()).map(|d| {
            with_float!(x, T => self.direction_gradients::<T>(d, operands, results, (&x, sizes, &lengths), cx))
        }))?;
        // All directions read `x`; the others have a first axis of directions.
        try_collected(like.enumerate().map(|(i, like)| {
            let parts = collected(directions.iter().map(|made| &made[i]))?;
            let whole = match i {
                0 => fast::add_n(parts.into_iter().cloned(), cx)?,
                _ => concat(&parts, 0, cx)?,
            };
            fast::cast(&whole.reshaped(like.shape().clone())?, like.dtype(), cx)
        }))
    }

    /// The gradients of a direction, in the order of the results.
    fn direction_gradients<T: Recurrent>(
        &self,
        d: usize,
        operands: &RecurrentOperands<'_>,
        results: &RecurrentGradients<'_>,
        (x, sizes, lengths): (&HostTensor, Sizes, &[usize]),
        cx: &Cx<'_>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let op = self.cell.op();
        let Sizes { steps, batch, hidden, gates } = sizes;
        let zeros = |dims: &[usize]| HostTensor::zeros(T::DTYPE, Shape::new(dims)?, cx.allocator);
        let of = |x: &HostTensor| wide(op, &of_direction(x, d, cx)?, cx);
        let own = |x: &HostTensor| -> Result<HostTensor, TensorError> {
            let mut own = of(x)?;
            own.make_unique(cx.allocator)?;
            Ok(own)
        };
        let of_steps = |x: &HostTensor| wide(op, &slice(x, &[0, d as i64, 0, 0], &[-1, 1, -1, -1], cx)?, cx);
        let rows = steps * batch; // fits: a factor of the elements of `y`
        let order = RowOrder { lengths, is_reverse: self.directions[d], sizes };
        let (w, r) = (of(operands.w)?, of(operands.r)?);
        let before = zeros(&[rows, hidden])?;
        order.before(
            &of(operands.h)?.read::<T>()?,
            &of_steps(results.y)?.read::<T>()?,
            &mut before.write::<T>()?,
        );
        let none = || zeros(&[0]);
        let c = operands.c_and_p.map_or_else(none, |[c, _]| of(c))?;
        let (d_h, d_c) = (own(results.d_h)?, results.d_c.map_or_else(none, own)?);
        let d_p = operands.c_and_p.map_or_else(none, |_| zeros(&[3 * hidden]))?;
        let by_x = zeros(&[rows, gates * hidden])?;
        let (by_h, states) = match self.cell {
            Cell::Gru { .. } => (zeros(&[rows, gates * hidden])?, zeros(&[rows, hidden])?),
            Cell::Lstm { .. } | Cell::Rnn => (none()?, none()?),
        };
        let d_y = of_steps(results.d_y)?;
        self.direction::<T, _>(d, operands, (x, sizes), cx, |direction, from_x| {
            let given = Given {
                order,
                from_x,
                r: &r.read::<T>()?,
                before: &before.read::<T>()?,
                d_y: &d_y.read::<T>()?,
                c: &c.read::<T>()?,
            };
            let mut carried = Carried { h: &mut d_h.write::<T>()?, c: &mut d_c.write::<T>()? };
            let mut made = OfGates {
                by_x: &mut by_x.write::<T>()?,
                by_h: &mut by_h.write::<T>()?,
                p: &mut d_p.write::<T>()?,
            };
            match self.cell {
                Cell::Gru { linear_before_reset } => {
                    let mut states = states.write::<T>()?;
                    let hidden = (linear_before_reset, &mut states[..]);
                    direction.gated_back(&given, hidden, &mut carried, &mut made, cx)
                }
                Cell::Lstm { .. } | Cell::Rnn => direction.back(&given, &mut carried, &mut made, cx),
            }
        })?;
        let product = |a: &HostTensor, trans: Transposition, b: &HostTensor| {
            fast::matmul(a, trans, b, Transposition::None, cx)
        };
        let (plain, turned) = (Transposition::None, Transposition::Transpose);
        let sum = |x: &HostTensor| fast::reduce(Reduce::Sum, x, &[0], false, cx);
        let flat = x.reshaped(Shape::new(&[rows, x.shape().dims()[2]])?)?;
        let by_h = if matches!(self.cell, Cell::Gru { .. }) { &by_h } else { &by_x };
        let d_r = match self.cell {
            Cell::Gru { linear_before_reset: false } => {
                let joint = 2 * hidden as i64;
                let columns = |from: i64, n: i64| slice(by_h, &[0, from], &[-1, n], cx);
                let parts = [
                    product(&columns(0, joint)?, turned, &before)?,
                    product(&columns(joint, -1)?, turned, &states)?,
                ];
                concat(&[&parts[0], &parts[1]], 0, cx)?
            }
            _ => product(by_h, turned, &before)?,
        };
        let d_b = concat(&[&sum(&by_x)?, &sum(by_h)?], 0, cx)?;
        Ok(vec![product(&by_x, plain, &w)?, product(&by_x, turned, &flat)?, d_r, d_b, d_h, d_c, d_p])
    }
}
