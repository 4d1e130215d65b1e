//! ONNX's recurrent layers: `LSTM`, `GRU` and `RNN`.
//!
//! ```text
//! all steps: x * w + biases ──▶ gates of a step ◀── h * r (r is packed once)
//!                                    └──▶ cell ──▶ h, c of the next step, y
//! ```
//!
//! [`Recurrence::run`] takes the layer's operands and packs `r` in each call. [`Recurrence::run_packed`]
//! takes the product of all steps and an `r` that was packed ahead of time, for constant weights; the
//! compiler makes a packed product of the rest.
//!
//! Gates have ONNX's order: input, output, forget, cell for an LSTM; update, reset, hidden for a GRU. A
//! sequence that is shorter than the others keeps its last state, and its further results are zeros. The
//! reverse direction begins with the last step of each sequence. As in onnxruntime, gates are clipped, and
//! the memory of an LSTM is not; ONNX's reference implementation does not clip.
//!
//! Gradients are those of [`gradient`].

mod gradient;
#[cfg(test)]
mod tests;

pub use gradient::RecurrentGradients;

use super::super::fast::{self, Cx};
use super::super::{Transposition, slice};
use super::activation::Activation;
use super::{WideFloat, wide, with_float};
use crate::error::invalid;
use crate::gemm::{Matrix, product_into};
use crate::interrupt::is_interrupted;
use crate::matmul::{Epilogue, PackedMatrix, matmul_packed};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, Serial, in_parts, nanoseconds, part, parts_of};
use crate::scratch::{copied, filled, grow, try_collected, with_room};
use crate::tf::fused::{Weights, WeightsKind};
use crate::{DType, HostTensor, Shape, TensorError};

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A long short-term memory.
    Lstm {
        /// True if the input gate and the forget gate add up to 1.
        input_forget: bool,
    },
    /// A gated recurrent unit.
    Gru {
        /// True if the reset gate is applied after the hidden gate's product, false if before it.
        linear_before_reset: bool,
    },
    /// A plain cell.
    Rnn,
}

impl Cell {
    fn op(self) -> &'static str {
        match self {
            Cell::Lstm { .. } => "_Lstm",
            Cell::Gru { .. } => "_Gru",
            Cell::Rnn => "_Rnn",
        }
    }

    /// The number of gates.
    pub fn gates(self) -> usize {
        match self {
            Cell::Lstm { .. } => 4,
            Cell::Gru { .. } => 3,
            Cell::Rnn => 1,
        }
    }

    /// The default activation functions of a direction: ONNX's f, g, h.
    pub fn activations(self) -> &'static [&'static str] {
        match self {
            Cell::Lstm { .. } => &["Sigmoid", "Tanh", "Tanh"],
            Cell::Gru { .. } => &["Sigmoid", "Tanh"],
            Cell::Rnn => &["Tanh"],
        }
    }
}

/// A recurrent layer.
#[derive(Clone, Debug)]
pub struct Recurrence {
    /// The cell.
    pub cell: Cell,
    /// True for each direction that is reverse.
    pub directions: Vec<bool>,
    /// The activation functions, direction by direction.
    pub activations: Vec<Activation>,
    /// The absolute value to which inputs of activation functions are clipped; 0 for no clipping.
    pub clip: f64,
    /// The number of hidden units; 0 if it follows from the operands.
    pub hidden: usize,
}

/// The operands of a recurrent layer; only `_Lstm` has `c` and `p`.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are ONNX's")]
pub struct RecurrentOperands<'a> {
    pub x: &'a HostTensor,
    pub w: &'a HostTensor,
    pub r: &'a HostTensor,
    pub b: &'a HostTensor,
    pub lengths: &'a HostTensor,
    pub h: &'a HostTensor,
    pub c_and_p: Option<[&'a HostTensor; 2]>,
}

/// The operands of a recurrent layer of f32 with packed weights of the state.
#[derive(Clone, Copy, Debug)]
pub struct PackedOperands<'a> {
    /// The input's part of the gates of all directions, with the biases of both parts:
    /// `[steps, batch, directions * gates * hidden]`. The bias of the state's part of a GRU's hidden gate is
    /// not in it.
    pub from_x: &'a HostTensor,
    /// The weights of the state: for each direction those of all gates; for a GRU those of the first two
    /// gates, then those of the hidden gate.
    pub r: &'a [HostTensor],
    /// The bias of the state's part of a GRU's hidden gate, `[directions, hidden]`; only `_PackedGru` has it.
    pub hidden_bias: Option<&'a HostTensor>,
    /// The length of each sequence.
    pub lengths: &'a HostTensor,
    /// The initial state.
    pub h: &'a HostTensor,
    /// The initial memory and the weights of the memory; only `_PackedLstm` has them.
    pub c_and_p: Option<[&'a HostTensor; 2]>,
}

/// The lengths of the axes.
#[derive(Clone, Copy)]
struct Sizes {
    steps: usize,
    batch: usize,
    hidden: usize,
    gates: usize,
}

/// The input's part of the gates of a direction: rows of gates, `stride` apart, from `start` on.
#[derive(Clone, Copy)]
struct FromX<'a, T> {
    numbers: &'a [T],
    stride: usize,
    start: usize,
}

impl<'a, T> FromX<'a, T> {
    /// The first `len` numbers of some rows, if these follow each other.
    fn rows(&self, row: usize, count: usize, len: usize) -> Option<&'a [T]> {
        let is_dense = count == 1 || self.stride == len;
        is_dense.then(|| &self.numbers[row * self.stride + self.start..][..count * len])
    }

    /// `len` numbers of a row, from `from` on.
    fn row(&self, row: usize, from: usize, len: usize) -> &'a [T] {
        &self.numbers[row * self.stride + self.start + from..][..len]
    }
}

/// A float type with its form of the state's weights: packed for f32.
pub(in crate::tf) trait Recurrent: WideFloat {
    type Packed<'a>: Sync;
    /// Packs a k by n matrix, or the transpose of an n by k matrix.
    fn pack<'a>(k: usize, n: usize, r: &[Self], form: Transposition)
    -> Result<Self::Packed<'a>, TensorError>;
    /// `out = h * r + more`; the number is that of the rows of `h`.
    fn times(
        h: (&[Self], usize),
        r: &Self::Packed<'_>,
        more: Option<&[Self]>,
        out: &mut [Self],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError>;
}

impl Recurrent for f32 {
    type Packed<'a> = PackedMatrix<'a>;

    fn pack<'a>(k: usize, n: usize, r: &[f32], form: Transposition) -> Result<PackedMatrix<'a>, TensorError> {
        match form {
            Transposition::None => PackedMatrix::pack(k, n, r),
            Transposition::Transpose | Transposition::Adjoint => PackedMatrix::pack_transposed(k, n, r),
        }
    }

    fn times(
        (h, m): (&[f32], usize),
        r: &PackedMatrix<'_>,
        more: Option<&[f32]>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        matmul_packed(m, h, r, &Epilogue { residual: more, ..Epilogue::default() }, out, parallel)
    }
}

impl Recurrent for f64 {
    type Packed<'a> = (Vec<f64>, [usize; 2], Transposition);

    fn pack<'a>(k: usize, n: usize, r: &[f64], form: Transposition) -> Result<Self::Packed<'a>, TensorError> {
        Ok((copied(r)?, [k, n], form))
    }

    fn times(
        (h, m): (&[f64], usize),
        (r, [k, n], form): &Self::Packed<'_>,
        more: Option<&[f64]>,
        out: &mut [f64],
        _: &dyn Parallel,
    ) -> Result<(), TensorError> {
        if !out.is_empty() {
            let r = match form {
                Transposition::None => Matrix::new(r, *k, *n),
                Transposition::Transpose | Transposition::Adjoint => Matrix::new(r, *n, *k).transposed(),
            };
            product_into(Matrix::new(h, m, *k), r, (out, (*n, 1)), false);
        }
        add_to(out, more.unwrap_or_default());
        Ok(())
    }
}

/// Adds numbers to as many of `out`.
fn add_to<T: WideFloat>(out: &mut [T], more: &[T]) {
    out.iter_mut().zip(more).for_each(|(out, &x)| *out += x);
}

/// Adds the products of numbers.
fn add_products<T: WideFloat>(out: &mut [T], a: &[T], b: &[T]) {
    out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out += a * b);
}

/// The weights of a direction.
struct Direction<'a, T: Recurrent> {
    cell: Cell,
    activations: &'a [Activation],
    clip: T,
    sizes: Sizes,
    /// Weights of the state for all gates; without the hidden gate of a GRU.
    r: T::Packed<'a>,
    /// Weights and bias of the state for the hidden gate of a GRU.
    r_hidden: Option<(T::Packed<'a>, &'a [T])>,
    /// The weights of an LSTM's memory for the gates: input, output, forget. Empty if all are 0.
    p: &'a [T],
}

/// Neighbouring sequences of a direction, from number `first` on. They depend on no others.
struct Sequences<'a, 'y, T> {
    first: usize,
    lengths: &'a [usize],
    /// The state of each sequence.
    h: &'a mut [T],
    /// The memory of each sequence of an LSTM.
    c: &'a mut [T],
    /// By step, the results of each sequence.
    y: &'a mut [&'y mut [T]],
    outcome: Result<(), TensorError>,
}

/// Buffers for the gates of some sequences, and for the hidden gate of a GRU.
struct Gates<T> {
    gates: Vec<T>,
    hidden: Vec<T>,
}

impl<T: Recurrent> Direction<'_, T> {
    /// Clips the numbers, and applies activation function `i`.
    fn activate(&self, i: usize, x: &mut [T]) {
        if self.clip > T::ZERO {
            let (low, high) = (T::ZERO - self.clip, self.clip);
            x.iter_mut().for_each(|x| {
                *x = if *x < low {
                    low
                } else if *x > high {
                    high
                } else {
                    *x
                }
            });
        }
        if let Some(activation) = self.activations.get(i) {
            activation.apply(x);
        }
    }

    /// Runs one step. For each sequence, `place` returns the step of its operands and results, or `None` if
    /// the sequence has ended.
    fn step(
        &self,
        sequences: &mut Sequences<'_, '_, T>,
        buffers: &mut Gates<T>,
        from_x: FromX<'_, T>,
        place: &dyn Fn(usize) -> Option<usize>,
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let n = self.sizes.hidden;
        let Sequences { first, lengths, h, c, y, .. } = sequences;
        let batch = lengths.len();
        let row_of_x = |b: usize| place(b).map(|at| at * self.sizes.batch + *first + b);
        let Gates { gates: from_h, hidden } = buffers;
        let own = from_h.len() / batch;
        // All sequences at one step, whose rows follow each other.
        let first_row = row_of_x(0).filter(|_| (1..batch).all(|b| place(b) == place(0)));
        let joint = first_row.and_then(|row| from_x.rows(row, batch, own));
        T::times((h, batch), &self.r, joint, from_h, parallel)?;
        for b in (0..batch).filter(|_| joint.is_none()) {
            let Some(row) = row_of_x(b) else { continue };
            add_to(&mut from_h[b * own..][..own], from_x.row(row, 0, own));
        }
        if let (Cell::Gru { linear_before_reset }, Some((r, bias))) = (self.cell, &self.r_hidden) {
            for b in 0..batch {
                self.activate(0, &mut from_h[b * own..][..own]);
            }
            if linear_before_reset {
                T::times((h, batch), r, None, hidden, parallel)?;
            } else {
                let mut reset = filled(h.len(), T::ZERO)?;
                for (b, (to, h)) in reset.chunks_exact_mut(n).zip(h.chunks_exact(n)).enumerate() {
                    let r = &from_h[b * own + n..][..n];
                    to.iter_mut().zip(h).zip(r).for_each(|((to, &h), &r)| *to = r * h);
                }
                T::times((&reset, batch), r, None, hidden, parallel)?;
            }
            for (b, hidden) in hidden.chunks_exact_mut(n).enumerate() {
                let Some(row) = row_of_x(b) else { continue };
                let from_x = from_x.row(row, own, n);
                let reset = &from_h[b * own + n..][..n];
                for (i, hidden) in hidden.iter_mut().enumerate() {
                    let by_state = *hidden + bias[i];
                    *hidden = from_x[i] + if linear_before_reset { reset[i] * by_state } else { by_state };
                }
                self.activate(1, hidden);
            }
        }
        for b in 0..batch {
            let Some(at) = place(b) else { continue };
            let (gates, h) = (&mut from_h[b * own..][..own], &mut h[b * n..][..n]);
            match self.cell {
                Cell::Rnn => {
                    self.activate(0, gates);
                    h.copy_from_slice(gates);
                }
                Cell::Gru { .. } => {
                    let hidden = &hidden[b * n..][..n];
                    for ((h, &new), &z) in h.iter_mut().zip(hidden).zip(&*gates) {
                        *h = (T::ONE - z) * new + z * *h;
                    }
                }
                Cell::Lstm { input_forget } => self.remember(input_forget, gates, h, &mut c[b * n..][..n]),
            }
            y[at][b * n..][..n].copy_from_slice(h);
        }
        Ok(())
    }

    /// The weights of the memory for the gates input, output, forget.
    fn peepholes_of_gates(&self) -> Option<[&[T]; 3]> {
        let (input, rest) = self.p.split_at_checked(self.sizes.hidden)?;
        let (output, forget) = rest.split_at_checked(self.sizes.hidden)?;
        Some([input, output, forget])
    }

    /// One step of an LSTM.
    fn remember(&self, input_forget: bool, gates: &mut [T], h: &mut [T], c: &mut [T]) {
        let n = h.len();
        let (input, rest) = gates.split_at_mut(n);
        let (output, rest) = rest.split_at_mut(n);
        let (forget, new) = rest.split_at_mut(n);
        let p = self.peepholes_of_gates();
        if let Some([p_input, _, p_forget]) = p {
            add_products(input, p_input, c);
            add_products(forget, p_forget, c);
        }
        self.activate(0, input);
        if input_forget {
            forget.iter_mut().zip(&*input).for_each(|(forget, &input)| *forget = T::ONE - input);
        } else {
            self.activate(0, forget);
        }
        self.activate(1, new);
        for (((c, h), (&input, &new)), &forget) in
            c.iter_mut().zip(&mut *h).zip(input.iter().zip(&*new)).zip(&*forget)
        {
            *c = forget * *c + input * new;
            *h = *c;
        }
        if let Some([_, p_output, _]) = p {
            add_products(output, p_output, c);
        }
        self.activate(0, output);
        if let Some(activation) = self.activations.get(2) {
            activation.apply(h);
        }
        h.iter_mut().zip(output).for_each(|(h, &mut output)| *h = *h * output);
    }

    /// Runs all steps of direction `d` of `n`; `y` has the results of all directions. Workers divide the
    /// sequences if there are enough, so that they meet only at the end; else the columns of each product.
    fn run(
        &self,
        (d, n, is_reverse): (usize, usize, bool),
        lengths: &[usize],
        from_x: FromX<'_, T>,
        (h, c): (&mut [T], &mut [T]),
        y: &mut [T],
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let Sizes { steps, batch, hidden, gates } = self.sizes;
        let products = steps.saturating_mul(batch).saturating_mul(hidden).saturating_mul(hidden * gates);
        let work = nanoseconds(products, PRODUCTS_PER_NS);
        let workers = cx.parallel.workers(work);
        // A product of a single row adds in another order.
        let groups = if batch < 2 * workers { 1 } else { parts_of(batch / 2, work, (workers, 1)) };
        let sequences = |group: usize| part(batch, groups, group);
        let len = |group: usize| sequences(group).len() * hidden;
        // The results of step i of a group are number `group * steps + i`.
        let mut ys: Vec<&mut [T]> = Vec::new();
        grow(&mut ys, groups.saturating_mul(steps), Default::default)?;
        for (i, mut of_step) in y.chunks_exact_mut(batch * hidden).skip(d).step_by(n).enumerate() {
            for group in 0..groups {
                ys[group * steps + i] = of_step.split_off_mut(..len(group)).unwrap_or_default();
            }
        }
        let (mut h, mut c, mut all) = (h, c, with_room(groups)?);
        for (group, y) in ys.chunks_mut(steps.max(1)).enumerate() {
            all.push(Sequences {
                first: sequences(group).start,
                lengths: &lengths[sequences(group)],
                h: h.split_off_mut(..len(group)).unwrap_or_default(),
                c: c.split_off_mut(..len(group)).unwrap_or_default(),
                y,
                outcome: Ok(()),
            });
        }
        let parallel = if groups > 1 { &Serial } else { cx.parallel };
        in_parts(&mut all, 1, groups, cx.parallel, &|_, all| {
            for some in all {
                some.outcome = self.all_steps(some, is_reverse, from_x, parallel);
            }
        });
        all.into_iter().try_for_each(|some| some.outcome)
    }

    /// Runs all steps of some sequences.
    fn all_steps(
        &self,
        sequences: &mut Sequences<'_, '_, T>,
        is_reverse: bool,
        from_x: FromX<'_, T>,
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let (Sizes { steps, hidden, gates, .. }, lengths) = (self.sizes, sequences.lengths);
        let (joint, room) = match self.r_hidden {
            Some(_) => (2 * hidden, hidden),
            None => (gates * hidden, 0),
        };
        let batch = lengths.len();
        let mut buffers =
            Gates { gates: filled(batch * joint, T::ZERO)?, hidden: filled(batch * room, T::ZERO)? };
        for step in 0..steps {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let place = |b: usize| place(step, lengths[b], is_reverse);
            self.step(sequences, &mut buffers, from_x, &place, parallel)?;
        }
        Ok(())
    }
}

/// The position of a step of a sequence, `None` if the sequence has ended.
fn place(step: usize, length: usize, is_reverse: bool) -> Option<usize> {
    let last = length.checked_sub(step + 1)?;
    Some(if is_reverse { last } else { step })
}

/// The weights of the memory, or none if all are 0: then an infinite memory adds no NaN to the gates.
fn peepholes<T: WideFloat>(p: &[T]) -> &[T] {
    if p.iter().all(|&p| p == T::ZERO) { &[] } else { p }
}

/// Slice `d` of a tensor along its first axis, in the float type of the computation.
fn of_direction(x: &HostTensor, d: usize, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let rank = x.shape().rank();
    let (mut begin, mut size) = (vec![0; rank], vec![-1; rank]);
    (begin[0], size[0]) = (d as i64, 1);
    let one = slice(x, &begin, &size, cx.allocator)?;
    one.reshaped(Shape::new(&x.shape().dims()[1..])?)
}

impl Recurrence {
    /// Checks the shapes, and returns the sizes and the lengths of the sequences.
    fn check(&self, operands: &RecurrentOperands<'_>) -> Result<(Sizes, Vec<usize>), TensorError> {
        let op = self.cell.op();
        let RecurrentOperands { x, w, r, b, lengths, h, c_and_p } = *operands;
        let (&[steps, batch, inputs], &[_, _, hidden]) = (x.shape().dims(), r.shape().dims()) else {
            return invalid(
                op,
                format!("`x` of shape {} and `r` of shape {}, expected rank 3", x.shape(), r.shape()),
            );
        };
        if self.hidden > 0 && self.hidden != hidden {
            return invalid(op, format!("`hidden_size` is {} for `r` of shape {}", self.hidden, r.shape()));
        }
        let gates = self.cell.gates();
        let (n, rows) = (self.directions.len(), hidden.checked_mul(gates).ok_or(TensorError::TooLarge)?);
        let expect = |what, x: &HostTensor, dims: &[usize]| x.expect_shape(what, &Shape::new(dims)?);
        expect("w", w, &[n, rows, inputs])?;
        expect("r", r, &[n, rows, hidden])?;
        expect("b", b, &[n, rows.checked_mul(2).ok_or(TensorError::TooLarge)?])?;
        expect("initial_h", h, &[n, batch, hidden])?;
        for (what, other) in [("w", w), ("r", r), ("b", b), ("initial_h", h)] {
            other.expect_dtype(what, x.dtype())?;
        }
        if let Some([c, p]) = c_and_p {
            expect("initial_c", c, &[n, batch, hidden])?;
            expect("p", p, &[n, hidden.checked_mul(3).ok_or(TensorError::TooLarge)?])?;
            c.expect_dtype("initial_c", x.dtype())?;
            p.expect_dtype("p", x.dtype())?;
        }
        let sizes = Sizes { steps, batch, hidden, gates };
        Ok((sizes, self.lengths(lengths, sizes)?))
    }

    /// The lengths of the sequences.
    fn lengths(&self, lengths: &HostTensor, sizes: Sizes) -> Result<Vec<usize>, TensorError> {
        let (op, steps) = (self.cell.op(), sizes.steps);
        lengths.expect_shape("sequence_lens", &Shape::new(&[sizes.batch])?)?;
        let lengths = lengths.read_as::<i32>("sequence_lens")?;
        try_collected(lengths.iter().map(|&length| match usize::try_from(length) {
            Ok(length) if length <= steps => Ok(length),
            _ => invalid(op, format!("a sequence of length {length} of {steps} steps")),
        }))
    }

    /// `_Lstm`, `_Gru`, `_Rnn`: the states of all steps, the last state, and the last memory of an LSTM.
    pub fn run(&self, operands: &RecurrentOperands<'_>, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
        let op = self.cell.op();
        let (sizes, lengths) = self.check(operands)?;
        let n = self.directions.len();
        let dtype = operands.x.dtype();
        let x = wide(op, operands.x, cx)?;
        let shape = Shape::new(&[sizes.steps, n, sizes.batch, sizes.hidden])?;
        let y = HostTensor::zeros(x.dtype(), shape, cx.allocator)?;
        let own = |x: &HostTensor| -> Result<HostTensor, TensorError> {
            let mut own = wide(op, x, cx)?;
            own.make_unique(cx.allocator)?;
            Ok(own)
        };
        let h = own(operands.h)?;
        let c = operands.c_and_p.map(|[c, _]| own(c)).transpose()?;
        if h.num_elements() > 0 {
            with_float!(x, T => {
                self.each_direction::<T>(sizes, (&y, &h, c.as_ref()), &mut |d, states, y| {
                    self.direction::<T, _>(d, operands, (&x, sizes), cx, |direction, from_x| {
                        direction.run((d, n, self.directions[d]), &lengths, from_x, states, y, cx)
                    })
                })?;
            });
        }
        let results = [Some(y), Some(h), c].into_iter().flatten();
        results.map(|x| fast::cast(&x, dtype, cx)).collect()
    }

    /// Calls `run` for each direction with its number, its states and the results of all directions.
    fn each_direction<T: Recurrent>(
        &self,
        sizes: Sizes,
        (y, h, c): (&HostTensor, &HostTensor, Option<&HostTensor>),
        run: &mut DirectionFn<'_, T>,
    ) -> Result<(), TensorError> {
        let len = sizes.batch * sizes.hidden; // fits: a factor of the elements of `h`
        let (mut hs, mut ys) = (h.write::<T>()?, y.write::<T>()?);
        let mut cs = c.map(HostTensor::write::<T>).transpose()?;
        for d in 0..self.directions.len() {
            let c = cs.as_mut().map_or(&mut [][..], |c| &mut c[d * len..][..len]);
            run(d, (&mut hs[d * len..][..len], c), &mut ys)?;
        }
        Ok(())
    }

    /// The activation functions of direction `d`.
    fn activations_of(&self, d: usize) -> &[Activation] {
        let each = self.cell.activations().len();
        &self.activations[d * each..][..each]
    }

    /// Calls `run` with the weights of direction `d` and the input's part of its gates.
    fn direction<T: Recurrent, R>(
        &self,
        d: usize,
        operands: &RecurrentOperands<'_>,
        (x, sizes): (&HostTensor, Sizes),
        cx: &Cx<'_>,
        run: impl FnOnce(&Direction<'_, T>, FromX<'_, T>) -> Result<R, TensorError>,
    ) -> Result<R, TensorError> {
        let op = self.cell.op();
        let of = |x: &HostTensor| wide(op, &of_direction(x, d, cx)?, cx);
        let Sizes { steps, batch, hidden, gates } = sizes;
        let inputs = x.shape().dims().last().copied().unwrap_or_default();
        let rows = x.reshaped(Shape::new(&[steps * batch, inputs])?)?;
        let mut from_x =
            fast::matmul(&rows, Transposition::None, &of(operands.w)?, Transposition::Transpose, cx)?;
        from_x.make_unique(cx.allocator)?;
        let (r, bias) = (of(operands.r)?, of(operands.b)?);
        let (r, bias) = (r.read::<T>()?, bias.read::<T>()?);
        let (by_x, by_h) = bias.split_at(gates * hidden);
        let is_gru = matches!(self.cell, Cell::Gru { .. });
        // The state's bias of a GRU's hidden gate is not added here: the reset gate may multiply it.
        let joint = if is_gru { 2 * hidden } else { gates * hidden };
        let mut bias = copied(by_x)?;
        bias.iter_mut().zip(&by_h[..joint]).for_each(|(bias, &more)| *bias += more);
        let mut from_x = from_x.write::<T>()?;
        cx.parts(&mut from_x, (bias.len(), 1), &|_, part| {
            for row in part.chunks_exact_mut(bias.len()) {
                row.iter_mut().zip(&bias).for_each(|(x, &bias)| *x += bias);
            }
        });
        let p = operands.c_and_p.map(|[_, p]| of(p)).transpose()?;
        let p = p.as_ref().map(HostTensor::read::<T>).transpose()?;
        let (r, r_hidden) = r.split_at(joint * hidden);
        let r_hidden = match is_gru {
            true => Some((T::pack(hidden, hidden, r_hidden, Transposition::Transpose)?, &by_h[joint..])),
            false => None,
        };
        let direction = Direction {
            cell: self.cell,
            activations: self.activations_of(d),
            clip: T::rounded(self.clip),
            sizes,
            r: T::pack(hidden, joint, r, Transposition::Transpose)?,
            r_hidden,
            p: peepholes(p.as_deref().unwrap_or(&[])),
        };
        run(&direction, FromX { numbers: &from_x, stride: bias.len(), start: 0 })
    }

    /// `_PackedLstm`, `_PackedGru`, `_PackedRnn`: as [`Self::run`].
    pub fn run_packed(
        &self,
        operands: &PackedOperands<'_>,
        cx: &Cx<'_>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let op = self.cell.op();
        let PackedOperands { from_x, r, hidden_bias, lengths, h, c_and_p } = *operands;
        let (&[steps, batch, columns], &[n, _, hidden]) = (from_x.shape().dims(), h.shape().dims()) else {
            let (x, h) = (from_x.shape(), h.shape());
            return invalid(op, format!("gates of shape {x} and `initial_h` of shape {h}, expected rank 3"));
        };
        let sizes = Sizes { steps, batch, hidden, gates: self.cell.gates() };
        let want = hidden.checked_mul(sizes.gates).and_then(|rows| rows.checked_mul(n));
        if n != self.directions.len() || want != Some(columns) || (self.hidden > 0 && self.hidden != hidden) {
            let (x, h) = (from_x.shape(), h.shape());
            return invalid(op, format!("gates of shape {x} for `initial_h` of shape {h}"));
        }
        let state = Shape::new(&[n, batch, hidden])?;
        h.expect_shape("initial_h", &state)?;
        if let Some([c, p]) = c_and_p {
            c.expect_shape("initial_c", &state)?;
            p.expect_shape("p", &Shape::new(&[n, 3 * hidden])?)?; // fits: an LSTM has four gates
        }
        if let Some(bias) = hidden_bias {
            bias.expect_shape("hidden_bias", &Shape::new(&[n, hidden])?)?;
        }
        let lengths = self.lengths(lengths, sizes)?;
        let outs: &[usize] = match self.cell {
            Cell::Gru { .. } => &[2 * hidden, hidden],
            _ => &[sizes.gates * hidden],
        };
        if r.len() != n * outs.len() {
            return invalid(op, format!("{} packed weights, expected {}", r.len(), n * outs.len()));
        }
        let weights = try_collected(r.iter().zip(outs.iter().cycle()).map(|(r, &out)| {
            let weights = Weights::from_tensor(r.clone())?;
            let dims = weights.expect(op, &[WeightsKind::Matrix])?;
            if dims != [1, 1, hidden, out] || weights.precision().is_some() {
                return invalid(op, format!("weights of shape {dims:?}, expected {hidden} by {out} of f32"));
            }
            Ok(weights)
        }))?;
        let y = HostTensor::zeros(DType::F32, Shape::new(&[steps, n, batch, hidden])?, cx.allocator)?;
        let own = |what: &'static str, x: &HostTensor| -> Result<HostTensor, TensorError> {
            x.expect_dtype(what, DType::F32)?;
            let mut own = x.clone();
            own.make_unique(cx.allocator)?;
            Ok(own)
        };
        let h = own("initial_h", h)?;
        let c = c_and_p.map(|[c, _]| own("initial_c", c)).transpose()?;
        let from_x = from_x.read_as::<f32>("from_x")?;
        let p = c_and_p.map(|[_, p]| p.read_as::<f32>("p")).transpose()?;
        let bias = hidden_bias.map(|bias| bias.read_as::<f32>("hidden_bias")).transpose()?;
        let numbers = try_collected(weights.iter().map(Weights::numbers))?;
        let packed = |i: usize| weights[i].packed(&numbers[i]);
        if h.num_elements() > 0 {
            self.each_direction::<f32>(sizes, (&y, &h, c.as_ref()), &mut |d, states, y| {
                let r_hidden = match &bias {
                    Some(bias) => Some((packed(2 * d + 1)?, &bias[d * hidden..][..hidden])),
                    None => None,
                };
                let direction = Direction {
                    cell: self.cell,
                    activations: self.activations_of(d),
                    clip: self.clip as f32,
                    sizes,
                    r: packed(d * outs.len())?,
                    r_hidden,
                    p: peepholes(p.as_ref().map_or(&[][..], |p| &p[d * 3 * hidden..][..3 * hidden])),
                };
                let start = d * sizes.gates * hidden;
                let from_x = FromX { numbers: &from_x, stride: columns, start };
                direction.run((d, n, self.directions[d]), &lengths, from_x, states, y, cx)
            })?;
        }
        Ok([Some(y), Some(h), c].into_iter().flatten().collect())
    }
}

/// Runs the direction of this number on its states: h and c. The results are those of all directions.
type DirectionFn<'a, T> = dyn FnMut(usize, (&mut [T], &mut [T]), &mut [T]) -> Result<(), TensorError> + 'a;

/// ONNX's names of directions: for each direction of a layer, true if it is reverse.
pub const DIRECTIONS: [(&str, &[bool]); 3] =
    [("forward", &[false]), ("reverse", &[true]), ("bidirectional", &[false, true])];
