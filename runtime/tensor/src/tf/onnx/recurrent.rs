//! ONNX's recurrent layers: `LSTM`, `GRU` and `RNN`.
//!
//! ```text
//! all steps: x * w + biases ──▶ gates of a step ◀── h * r (r is packed once)
//!                                    └──▶ cell ──▶ h, c of the next step, y
//! ```
//!
//! Gates have ONNX's order: input, output, forget, cell for an LSTM; update, reset, hidden for a GRU. A
//! sequence that is shorter than the others keeps its last state, and its further results are zeros. The
//! reverse direction begins with the last step of each sequence. As in onnxruntime, gates are clipped, and
//! the memory of an LSTM is not; ONNX's reference implementation does not clip.

use super::super::fast::{self, Cx};
use super::super::{Transposition, slice};
use super::activation::Activation;
use super::{WideFloat, wide, with_float};
use crate::error::invalid;
use crate::gemm::{Matrix, product_into};
use crate::interrupt::is_interrupted;
use crate::matmul::{Epilogue, PackedMatrix, matmul_packed};
use crate::parallel::Parallel;
use crate::scratch::{copied, filled};
use crate::{HostTensor, Shape, TensorError};

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

/// The lengths of the axes.
#[derive(Clone, Copy)]
struct Sizes {
    steps: usize,
    batch: usize,
    inputs: usize,
    hidden: usize,
    gates: usize,
}

/// A float type with its form of the state's weights: packed for f32.
trait Recurrent: WideFloat {
    type Packed: Sync;
    /// Packs the transpose of an n by k matrix.
    fn pack(k: usize, n: usize, r: &[Self]) -> Result<Self::Packed, TensorError>;
    /// `out = h * r`; the number is that of the rows of `h`.
    fn times(
        h: (&[Self], usize),
        r: &Self::Packed,
        out: &mut [Self],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError>;
}

impl Recurrent for f32 {
    type Packed = PackedMatrix<'static>;

    fn pack(k: usize, n: usize, r: &[f32]) -> Result<Self::Packed, TensorError> {
        PackedMatrix::pack_transposed(k, n, r)
    }

    fn times(
        (h, m): (&[f32], usize),
        r: &Self::Packed,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        matmul_packed(m, h, r, &Epilogue::default(), out, parallel)
    }
}

impl Recurrent for f64 {
    type Packed = (Vec<f64>, usize, usize);

    fn pack(k: usize, n: usize, r: &[f64]) -> Result<Self::Packed, TensorError> {
        Ok((copied(r)?, k, n))
    }

    fn times(
        (h, m): (&[f64], usize),
        (r, k, n): &Self::Packed,
        out: &mut [f64],
        _: &dyn Parallel,
    ) -> Result<(), TensorError> {
        if !out.is_empty() {
            let (h, r) = (Matrix::new(h, m, *k), Matrix::new(r, *n, *k).transposed());
            product_into(h, r, (out, (*n, 1)), false);
        }
        Ok(())
    }
}

/// The weights of a direction.
struct Direction<'a, T: Recurrent> {
    cell: Cell,
    activations: &'a [Activation],
    clip: T,
    sizes: Sizes,
    /// Weights of the state for all gates; without the hidden gate of a GRU.
    r: T::Packed,
    /// Weights and bias of the state for the hidden gate of a GRU.
    r_hidden: Option<(T::Packed, &'a [T])>,
    /// The weights of an LSTM's memory for the gates: input, output, forget.
    p: &'a [T],
}

/// The state of a direction, and buffers for its gates and its hidden gate.
struct LayerState<'a, T> {
    h: &'a mut [T],
    c: &'a mut [T],
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

    /// Runs one step. For each sequence, `place` returns its row of `from_x`, the input's part of the gates,
    /// and its row of the results; or `None` if the sequence has ended.
    fn step(
        &self,
        state: &mut LayerState<'_, T>,
        from_x: &[T],
        place: &dyn Fn(usize) -> Option<(usize, usize)>,
        y: &mut [T],
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let Sizes { batch, hidden: n, gates, .. } = self.sizes;
        let LayerState { h, c, gates: from_h, hidden } = state;
        T::times((h, batch), &self.r, from_h, cx.parallel)?;
        let own = from_h.len() / batch;
        for b in 0..batch {
            let Some((row, _)) = place(b) else { continue };
            let from_x = &from_x[row * gates * n..][..own];
            from_h[b * own..][..own].iter_mut().zip(from_x).for_each(|(gate, &x)| *gate += x);
        }
        if let (Cell::Gru { linear_before_reset }, Some((r, bias))) = (self.cell, &self.r_hidden) {
            for b in 0..batch {
                self.activate(0, &mut from_h[b * own..][..own]);
            }
            if linear_before_reset {
                T::times((h, batch), r, hidden, cx.parallel)?;
            } else {
                let mut reset = filled(h.len(), T::ZERO)?;
                for (b, (to, h)) in reset.chunks_exact_mut(n).zip(h.chunks_exact(n)).enumerate() {
                    let r = &from_h[b * own + n..][..n];
                    to.iter_mut().zip(h).zip(r).for_each(|((to, &h), &r)| *to = r * h);
                }
                T::times((&reset, batch), r, hidden, cx.parallel)?;
            }
            for (b, hidden) in hidden.chunks_exact_mut(n).enumerate() {
                let Some((row, _)) = place(b) else { continue };
                let from_x = &from_x[row * gates * n + own..][..n];
                let reset = &from_h[b * own + n..][..n];
                for (i, hidden) in hidden.iter_mut().enumerate() {
                    let by_state = *hidden + bias[i];
                    *hidden = from_x[i] + if linear_before_reset { reset[i] * by_state } else { by_state };
                }
                self.activate(1, hidden);
            }
        }
        for b in 0..batch {
            let Some((_, to)) = place(b) else { continue };
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
            y[to * n..][..n].copy_from_slice(h);
        }
        Ok(())
    }

    /// One step of an LSTM.
    fn remember(&self, input_forget: bool, gates: &mut [T], h: &mut [T], c: &mut [T]) {
        let n = h.len();
        let (p, (input, rest)) = (self.p, gates.split_at_mut(n));
        let (output, rest) = rest.split_at_mut(n);
        let (forget, new) = rest.split_at_mut(n);
        for (i, &c) in c.iter().enumerate() {
            input[i] += p[i] * c;
            forget[i] += p[2 * n + i] * c;
        }
        self.activate(0, input);
        if input_forget {
            forget.iter_mut().zip(&*input).for_each(|(forget, &input)| *forget = T::ONE - input);
        } else {
            self.activate(0, forget);
        }
        self.activate(1, new);
        for (i, c) in c.iter_mut().enumerate() {
            *c = forget[i] * *c + input[i] * new[i];
            output[i] += p[n + i] * *c;
            h[i] = *c;
        }
        self.activate(0, output);
        if let Some(activation) = self.activations.get(2) {
            activation.apply(h);
        }
        h.iter_mut().zip(output).for_each(|(h, &mut output)| *h = *h * output);
    }
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
        expect("sequence_lens", lengths, &[batch])?;
        let lengths = lengths.read_as::<i32>("sequence_lens")?;
        let length = |&length: &i32| match usize::try_from(length) {
            Ok(length) if length <= steps => Ok(length),
            _ => invalid(op, format!("a sequence of length {length} of {steps} steps")),
        };
        let lengths = crate::scratch::try_collected(lengths.iter().map(length))?;
        Ok((Sizes { steps, batch, inputs, hidden, gates }, lengths))
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
                for d in 0..n {
                    let (mut hs, mut ys) = (h.write::<T>()?, y.write::<T>()?);
                    let mut cs = c.as_ref().map(HostTensor::write::<T>).transpose()?;
                    let len = sizes.batch * sizes.hidden;
                    let cs = cs.as_mut().map_or(&mut [][..], |c| &mut c[d * len..][..len]);
                    self.direction::<T>(d, operands, (&x, sizes, &lengths), (&mut hs[d * len..][..len], cs), &mut ys, cx)?;
                }
            });
        }
        let results = [Some(y), Some(h), c].into_iter().flatten();
        results.map(|x| fast::cast(&x, dtype, cx)).collect()
    }

    /// Runs direction `d`; `y` has the results of all directions.
    fn direction<T: Recurrent>(
        &self,
        d: usize,
        operands: &RecurrentOperands<'_>,
        (x, sizes, lengths): (&HostTensor, Sizes, &[usize]),
        (h, c): (&mut [T], &mut [T]),
        y: &mut [T],
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let op = self.cell.op();
        let of = |x: &HostTensor| wide(op, &of_direction(x, d, cx)?, cx);
        let Sizes { steps, batch, inputs, hidden, gates } = sizes;
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
            true => Some((T::pack(hidden, hidden, r_hidden)?, &by_h[joint..])),
            false => None,
        };
        let each = self.cell.activations().len();
        let direction = Direction {
            cell: self.cell,
            activations: &self.activations[d * each..][..each],
            clip: T::rounded(self.clip),
            sizes,
            r: T::pack(hidden, joint, r)?,
            r_hidden,
            p: p.as_deref().unwrap_or(&[]),
        };
        let room = if is_gru { batch * hidden } else { 0 };
        let gates = filled(batch * joint, T::ZERO)?;
        let mut state = LayerState { h, c, gates, hidden: filled(room, T::ZERO)? };
        let (n, is_reverse) = (self.directions.len(), self.directions[d]);
        for step in 0..steps {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let place = |b: usize| {
                let last = lengths[b].checked_sub(step + 1)?;
                let at = if is_reverse { last } else { step };
                Some((at * batch + b, (at * n + d) * batch + b))
            };
            direction.step(&mut state, &from_x, &place, y, cx)?;
        }
        Ok(())
    }
}

/// ONNX's names of directions: for each direction of a layer, true if it is reverse.
pub const DIRECTIONS: [(&str, &[bool]); 3] =
    [("forward", &[false]), ("reverse", &[true]), ("bidirectional", &[false, true])];
