//! TensorFlow's training updates, in place of the variables and their slots.
//!
//! ```text
//! state (var, slots), rates, gradient ──check──▶ make_unique ──▶ write, in chunks, on all workers
//!                             rows of a gradient, at indices ──▶ write, row by row; by Adam all rows
//! ```
//!
//! A state tensor without other handles is overwritten, and nothing of its size is allocated. A state tensor
//! with other handles is replaced by a new tensor, so the other handles keep the old elements. Everything
//! that can fail precedes the first write: after an error all elements are unchanged. An update that has
//! begun is finished even if the request is cancelled.
//!
//! Variables, slots and gradients are float tensors of one dtype and shape; rates are scalars of that dtype,
//! as in TensorFlow. The arithmetic is that of the dtype, f32 for f16 and bf16 ([`simd`](crate::simd)).

use std::ops::{Add, Sub};
use std::sync::{Arc, Mutex};

use half::{bf16, f16};

use super::Binary;
use super::binary::BinaryTable;
use super::fast::Cx;
use super::numeric::Number;
use super::op::Attributes;
use super::real::scalar;
use crate::element::with_element;
use crate::mem::Allocator;
use crate::scratch::filled;
use crate::simd::{Isa, Lane, MAX_RATES, MAX_STATE, Update, UpdateFloat, update};
use crate::{DType, Element, HostTensor, RefMut, TensorError};

/// The number of elements in a chunk.
const CHUNK: usize = 1 << 14;

/// The number of elements that one thread updates per nanosecond.
const ELEMENTS_PER_NS: usize = 2;

/// An update operator with its attributes: its rule, and the positions of its operands behind the variable
/// and the slots.
#[derive(Clone, Debug)]
pub struct UpdatePlan {
    op: &'static str,
    rule: Update,
    /// The rates of the rule. A rate without an operand is 0.
    rates: Vec<(&'static str, Option<usize>)>,
    grad: usize,
    /// The indices of rows, for an update of rows.
    indices: Option<usize>,
    /// The number of operands behind the variable and its slots.
    n_rest: usize,
}

/// The operands of an update: the variable with its slots, the rates and the gradient.
struct UpdateOperands<'a, 's> {
    op: &'static str,
    rule: Update,
    state: &'a mut [&'s mut HostTensor],
    rates: Vec<(&'static str, Option<&'a HostTensor>)>,
    grad: &'a HostTensor,
}

/// The rates of a rule: the names of their operands.
fn rates_of(rule: Update) -> &'static [&'static str] {
    match rule {
        Update::GradientDescent => &["alpha"],
        Update::Momentum { .. } | Update::KerasMomentum { .. } => &["lr", "momentum"],
        Update::Adam { .. } | Update::AdamWithAmsgrad => {
            &["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"]
        }
        Update::AdaMax => &["beta1_power", "lr", "beta1", "beta2", "epsilon"],
        Update::Adadelta => &["lr", "rho", "epsilon"],
        Update::Adagrad { .. } => &["lr", "epsilon"],
        Update::RmsProp | Update::CenteredRmsProp => &["lr", "rho", "momentum", "epsilon"],
        Update::Ftrl { .. } => &["lr", "l1", "l2", "l2_shrinkage", "lr_power"],
        Update::AddSign => &["lr", "alpha", "sign_decay", "beta"],
        Update::PowerSign => &["lr", "logbase", "sign_decay", "beta"],
        Update::ProximalGradientDescent => &["alpha", "l1", "l2"],
        Update::ProximalAdagrad => &["lr", "l1", "l2"],
    }
}

impl UpdatePlan {
    /// The plan of an update operator, whose name is that of a rule with the prefixes `_`, `Resource`,
    /// `Sparse` (for updates of rows) and `Apply`, each of them optional.
    ///
    /// # Errors
    /// If the operator is not an update.
    pub fn new(attrs: &Attributes<'_>) -> Result<UpdatePlan, TensorError> {
        let op = attrs.op();
        let name = op.strip_prefix('_').unwrap_or(op);
        let name = name.strip_prefix("Resource").unwrap_or(name);
        let name = name.strip_prefix("Sparse").unwrap_or(name);
        let rule = match name.strip_prefix("Apply").unwrap_or(name) {
            "GradientDescent" => Update::GradientDescent,
            "Momentum" => Update::Momentum { nesterov: attrs.bool("use_nesterov")? },
            "KerasMomentum" => Update::KerasMomentum { nesterov: attrs.bool("use_nesterov")? },
            "Adam" => Update::Adam { nesterov: attrs.bool("use_nesterov")? },
            "AdamWithAmsgrad" => Update::AdamWithAmsgrad,
            "AdaMax" => Update::AdaMax,
            "Adadelta" => Update::Adadelta,
            "Adagrad" | "AdagradV2" => Update::Adagrad { update_slots: attrs.bool("update_slots")? },
            "RMSProp" => Update::RmsProp,
            "CenteredRMSProp" => Update::CenteredRmsProp,
            "Ftrl" | "FtrlV2" => Update::Ftrl { multiply_linear_by_lr: attrs.bool("multiply_linear_by_lr")? },
            "AddSign" => Update::AddSign,
            "PowerSign" => Update::PowerSign,
            "ProximalGradientDescent" => Update::ProximalGradientDescent,
            "ProximalAdagrad" => Update::ProximalAdagrad,
            _ => return Err(TensorError::Invalid { op, problem: "it is no update".to_owned() }),
        };
        let inputs = attrs.signature().inputs.get(rule.n_state()..).unwrap_or_default();
        let at = |name: &str| inputs.iter().position(|input| input.name == name);
        let grad = at("grad").or_else(|| at("delta"));
        let grad =
            grad.ok_or_else(|| TensorError::Invalid { op, problem: "it has no gradient".to_owned() })?;
        let rates = rates_of(rule).iter().map(|&name| (name, at(name))).collect();
        Ok(UpdatePlan { op, rule, rates, grad, indices: at("indices"), n_rest: inputs.len() })
    }

    /// The number of state tensors: the variable and its slots.
    pub fn n_state(&self) -> usize {
        self.rule.n_state()
    }

    /// Updates the variable and its slots by the operands behind them.
    ///
    /// # Errors
    /// If dtypes or shapes differ, the dtype is not a float, or an index is out of range.
    pub fn apply(
        &self,
        state: &mut [&mut HostTensor],
        rest: &[&HostTensor],
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        let n_state = self.n_state();
        let count = || TensorError::Count { want: n_state + self.n_rest, got: state.len() + rest.len() };
        if rest.len() != self.n_rest {
            return Err(count());
        }
        let operand = |at: usize| rest.get(at).copied();
        let rates = self.rates.iter().map(|&(name, at)| (name, at.and_then(operand))).collect();
        let Some(grad) = operand(self.grad) else { return Err(count()) };
        let operands = UpdateOperands { op: self.op, rule: self.rule, state, rates, grad };
        match self.indices.and_then(operand) {
            None => operands.apply(cx),
            Some(indices) => operands.apply_rows(indices, cx),
        }
    }
}

/// A float dtype, with the fastest update of its elements.
trait Updated: Element + Lane {
    fn update(rule: Update, rates: &[Self::Wide; MAX_RATES], state: &mut [&mut [Self]], grad: &[Self]) {
        update(rule, rates, state, grad);
    }
}
impl Updated for f16 {}
impl Updated for bf16 {}
impl Updated for f64 {}
impl Updated for f32 {
    fn update(rule: Update, rates: &[f32; MAX_RATES], state: &mut [&mut [f32]], grad: &[f32]) {
        Isa::detect().update(rule, rates, state, grad);
    }
}

impl UpdateOperands<'_, '_> {
    /// Updates all elements by a gradient of the variable's shape.
    fn apply(self, cx: &Cx<'_>) -> Result<(), TensorError> {
        let var = self.check()?;
        self.grad.expect_shape("grad", &self.state[0].shape().clone())?;
        match var {
            DType::F16 => self.elements::<f16>(cx),
            DType::BF16 => self.elements::<bf16>(cx),
            DType::F32 => self.elements::<f32>(cx),
            _ => self.elements::<f64>(cx),
        }
    }

    /// Updates the row of each index, in the order of the indices.
    fn apply_rows(self, indices: &HostTensor, cx: &Cx<'_>) -> Result<(), TensorError> {
        let var = self.check()?;
        let invalid = |problem: String| Err(TensorError::Invalid { op: self.op, problem });
        let dims = self.state[0].shape().dims().to_vec();
        let Some((&n_rows, row)) = dims.split_first() else {
            return invalid("the variable is a scalar, which has no rows".to_owned());
        };
        if indices.shape().rank() != 1 {
            return invalid(format!("indices of shape {}, expected a vector", indices.shape()));
        }
        let n = indices.num_elements();
        if self.grad.shape().dims() != [&[n], row].concat() {
            let (found, var) = (self.grad.shape(), self.state[0].shape());
            return invalid(format!("a gradient of shape {found} for {n} rows of a variable of shape {var}"));
        }
        let mut at = Vec::new();
        at.try_reserve_exact(n).map_err(|_| TensorError::Invalid {
            op: self.op,
            problem: format!("no memory for {n} indices"),
        })?;
        match indices.dtype() {
            DType::I32 => at.extend(indices.read::<i32>()?.iter().map(|&i| i64::from(i))),
            DType::I64 => at.extend(indices.read::<i64>()?.iter().copied()),
            dtype => return Err(TensorError::Unsupported { op: self.op, dtype }),
        }
        if let Some((i, row)) =
            at.iter().enumerate().find(|(_, row)| usize::try_from(**row).map_or(true, |row| row >= n_rows))
        {
            return invalid(format!("index {i} is {row}, not below the {n_rows} rows of the variable"));
        }
        let len = row.iter().product();
        if let Update::Adam { .. } = self.rule {
            let places = self.places(&at, n_rows)?;
            return match var {
                DType::F16 => self.all_rows::<f16>(&places, len, cx),
                DType::BF16 => self.all_rows::<bf16>(&places, len, cx),
                DType::F32 => self.all_rows::<f32>(&places, len, cx),
                _ => self.all_rows::<f64>(&places, len, cx),
            };
        }
        match var {
            DType::F16 => self.rows::<f16>(&at, len, cx),
            DType::BF16 => self.rows::<bf16>(&at, len, cx),
            DType::F32 => self.rows::<f32>(&at, len, cx),
            _ => self.rows::<f64>(&at, len, cx),
        }
    }

    /// For each row of the variable the number of its row of the gradient.
    fn places(&self, at: &[i64], n_rows: usize) -> Result<Vec<Option<usize>>, TensorError> {
        let mut places = filled(n_rows, None)?;
        for (i, &row) in at.iter().enumerate() {
            if let Some(before) = places[row as usize].replace(i) {
                let problem = format!("indices {before} and {i} are the same row, {row}");
                return Err(TensorError::Invalid { op: self.op, problem });
            }
        }
        Ok(places)
    }

    /// Checks dtypes and the shapes of the state.
    fn check(&self) -> Result<DType, TensorError> {
        let n = self.rule.n_state();
        if self.state.len() != n {
            return Err(TensorError::Count { want: n, got: self.state.len() });
        }
        let var = &*self.state[0];
        for slot in self.state.iter().skip(1) {
            slot.expect_dtype("slot", var.dtype())?;
            slot.expect_shape("slot", var.shape())?;
        }
        self.grad.expect_dtype("grad", var.dtype())?;
        match var.dtype() {
            dtype @ (DType::F16 | DType::BF16 | DType::F32 | DType::F64) => Ok(dtype),
            dtype => Err(TensorError::Unsupported { op: self.op, dtype }),
        }
    }

    fn numbers<R: UpdateFloat>(&self) -> Result<[R; MAX_RATES], TensorError> {
        let mut numbers = [R::of(0.0); MAX_RATES];
        for (number, (name, rate)) in numbers.iter_mut().zip(&self.rates) {
            let Some(rate) = rate else { continue };
            rate.expect_dtype(name, self.state[0].dtype())?;
            *number = R::of(scalar(self.op, name, rate)?);
        }
        Ok(numbers)
    }

    fn elements<T: Updated>(self, cx: &Cx<'_>) -> Result<(), TensorError> {
        let rates = self.numbers::<T::Wide>()?;
        let UpdateOperands { rule, state, grad, .. } = self;
        state.iter_mut().try_for_each(|to| to.make_unique(cx.allocator))?;
        let grad = grad.read::<T>()?;
        let mut to = state.iter().map(|to| to.write::<T>()).collect::<Result<Vec<_>, _>>()?;
        let to = to.iter_mut().map(|to| &mut to[..]).collect();
        let grad: &[T] = &grad;
        in_chunks(to, CHUNK, cx, &|first, part| {
            let len = part.first().map_or(0, |part| part.len());
            T::update(rule, &rates, part, &grad[first..first + len]);
        });
        Ok(())
    }

    /// Updates all rows: by the row of the gradient that `places` has for them, else by zeros.
    fn all_rows<T: Updated>(
        self,
        places: &[Option<usize>],
        len: usize,
        cx: &Cx<'_>,
    ) -> Result<(), TensorError> {
        if len == 0 {
            return Ok(());
        }
        let rates = self.numbers::<T::Wide>()?;
        let UpdateOperands { rule, state, grad, .. } = self;
        // Rows without a gradient are updated so many at once.
        let many = (CHUNK / len).max(1);
        let zeros = filled(many * len, T::lower(<T::Wide>::of(0.0)))?;
        state.iter_mut().try_for_each(|to| to.make_unique(cx.allocator))?;
        let grad = grad.read::<T>()?;
        let mut to = state.iter().map(|to| to.write::<T>()).collect::<Result<Vec<_>, _>>()?;
        let to: Vec<&mut [T]> = to.iter_mut().map(|to| &mut to[..]).collect();
        let (n, grad): (usize, &[T]) = (to.len(), &grad);
        in_chunks(to, many * len, cx, &|first, part| {
            let rows = part.first().map_or(0, |part| part.len()) / len;
            let places = &places[first / len..][..rows];
            let mut row = 0;
            while let Some(place) = places.get(row) {
                let (run, by) = match place {
                    Some(place) => (1, &grad[place * len..(place + 1) * len]),
                    None => {
                        let run = places[row..].iter().take(many).take_while(|place| place.is_none()).count();
                        (run, &zeros[..run * len])
                    }
                };
                let mut some: [&mut [T]; MAX_STATE] = [(); MAX_STATE].map(|()| &mut [][..]);
                some.iter_mut().zip(&mut *part).for_each(|(some, part)| {
                    *some = &mut part[row * len..(row + run) * len];
                });
                T::update(rule, &rates, &mut some[..n], by);
                row += run;
            }
        });
        Ok(())
    }

    fn rows<T: Updated>(self, at: &[i64], len: usize, cx: &Cx<'_>) -> Result<(), TensorError> {
        let rates = self.numbers::<T::Wide>()?;
        let UpdateOperands { rule, state, grad, .. } = self;
        state.iter_mut().try_for_each(|to| to.make_unique(cx.allocator))?;
        let grad = grad.read::<T>()?;
        let mut to = state.iter().map(|to| to.write::<T>()).collect::<Result<Vec<_>, _>>()?;
        let n = to.len();
        for (i, &row) in at.iter().enumerate() {
            let first = row as usize * len;
            let mut part: [&mut [T]; MAX_STATE] = [(); MAX_STATE].map(|()| &mut [][..]);
            part.iter_mut().zip(&mut to).for_each(|(part, to)| *part = &mut to[first..first + len]);
            T::update(rule, &rates, &mut part[..n], &grad[i * len..(i + 1) * len]);
        }
        Ok(())
    }
}

/// Calls `f(first, parts)` for chunks of slices of one length, which begin at element `first`: on all
/// workers, or once for everything on one.
fn in_chunks<T: Updated>(
    mut to: Vec<&mut [T]>,
    chunk: usize,
    cx: &Cx<'_>,
    f: &(dyn Fn(usize, &mut [&mut [T]]) + Sync),
) {
    let len = to.first().map_or(0, |to| to.len());
    if len <= chunk || cx.parallel.workers((len / ELEMENTS_PER_NS) as u64) <= 1 {
        return f(0, &mut to);
    }
    let mut parts = Vec::with_capacity(len.div_ceil(chunk));
    let mut rest: [&mut [T]; MAX_STATE] = [(); MAX_STATE].map(|()| &mut [][..]);
    let n = to.len();
    rest.iter_mut().zip(to).for_each(|(rest, to)| *rest = to);
    for first in (0..len).step_by(chunk) {
        let mut part: [&mut [T]; MAX_STATE] = [(); MAX_STATE].map(|()| &mut [][..]);
        for (part, rest) in part.iter_mut().zip(&mut rest).take(n) {
            let (begin, others) = std::mem::take(rest).split_at_mut(chunk.min(len - first));
            (*part, *rest) = (begin, others);
        }
        parts.push(Mutex::new(Some((part, first))));
    }
    let block = |i: usize| {
        let part = parts.get(i).and_then(|part| part.lock().ok()?.take());
        if let Some((mut part, first)) = part {
            f(first, &mut part[..n]);
        }
    };
    cx.parallel.parallel_for(parts.len(), &block);
    // A cancelled loop skips chunks, which are updated here.
    (0..parts.len()).for_each(block);
}

/// Sets the state to `f` of itself and `x`, elementwise. All have one shape.
fn each<T: Element, const N: usize>(
    mut state: [&mut HostTensor; N],
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn([T; N], T) -> [T; N],
) -> Result<(), TensorError> {
    state.iter_mut().try_for_each(|to| to.make_unique(allocator))?;
    let x = x.read::<T>()?;
    let to = state.iter().map(|to| to.write::<T>()).collect::<Result<Vec<_>, _>>()?;
    let to = <[RefMut<'_, T>; N]>::try_from(to);
    let mut to = to.map_err(|to| TensorError::Count { want: N, got: to.len() })?;
    let mut to = to.each_mut().map(|to| &mut to[..x.len()]);
    for (i, &x) in x.iter().enumerate() {
        let new = f(to.each_ref().map(|to| to[i]), x);
        to.iter_mut().zip(new).for_each(|(to, new)| to[i] = new);
    }
    Ok(())
}

/// `AssignAdd` and `AssignSub`: `var + value` or `var - value`, of one dtype and shape, in place of `var`.
///
/// # Errors
/// If dtypes or shapes differ, if `op` is another function, or if the dtype lacks this function.
pub fn accumulate(
    op: Binary,
    var: &mut HostTensor,
    value: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    value.expect_shape("value", var.shape())?;
    value.expect_dtype("value", var.dtype())?;
    let dtype = var.dtype();
    macro_rules! native {
        ($($dtype:ident $ty:ty: $add:expr, $sub:expr;)*) => {
            match (op, dtype) {
                $((Binary::Add, DType::$dtype) => each::<$ty, 1>([var], value, allocator, |[a], b| [$add(a, b)]),)*
                $((Binary::Sub, DType::$dtype) => each::<$ty, 1>([var], value, allocator, |[a], b| [$sub(a, b)]),)*
                (Binary::Add | Binary::Sub, _) => with_element!(dtype, T => {
                    let f = <T as Number>::Wide::binary(op).ok_or(TensorError::Unsupported { op: op.name(), dtype })?;
                    each::<T, 1>([var], value, allocator, |[a], b| [T::narrow(f(a.widen(), b.widen()))])
                }),
                _ => Err(TensorError::Unsupported { op: op.name(), dtype }),
            }
        };
    }
    // Other dtypes use the functions of their wide type.
    native! {
        F16 f16: f16::add, f16::sub;
        BF16 bf16: bf16::add, bf16::sub;
        F32 f32: f32::add, f32::sub;
        F64 f64: f64::add, f64::sub;
        I32 i32: i32::wrapping_add, i32::wrapping_sub;
        I64 i64: i64::wrapping_add, i64::wrapping_sub;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;
    use crate::testing::{Random, tensor, with_threads};

    /// The state after a step of Adam by a gradient, or by rows of it and their indices.
    fn updated(
        state: &[HostTensor],
        grad: &[&HostTensor],
        cx: &Cx<'_>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let rule = Update::Adam { nesterov: false };
        let names = rates_of(rule);
        let plan = UpdatePlan {
            op: "Adam",
            rule,
            rates: names.iter().enumerate().map(|(i, &name)| (name, Some(i))).collect(),
            grad: names.len(),
            indices: (grad.len() > 1).then_some(names.len() + 1),
            n_rest: names.len() + grad.len(),
        };
        let rates = [0.9, 0.99, 0.1, 0.9, 0.99, 1e-3].map(|rate| tensor(&[], &[rate as f32]));
        let rest: Vec<&HostTensor> = rates.iter().chain(grad.iter().copied()).collect();
        let mut state = state.to_vec();
        plan.apply(&mut state.iter_mut().collect::<Vec<_>>(), &rest, cx)?;
        Ok(state)
    }

    #[test]
    fn adam_by_rows_is_adam_by_a_gradient_with_zeros() {
        for (rows, len, at) in
            [(5, 3, &[4i64, 0, 2][..]), (3000, 20, &[7, 2999, 8, 0]), (40_000, 1, &[39_999]), (4, 2, &[])]
        {
            let mut random = Random(3);
            let mut numbers = |rows: usize| {
                let numbers: Vec<f32> = (0..rows * len).map(|_| random.f32().abs()).collect();
                tensor(&[rows, len], &numbers)
            };
            let (state, values) = ([numbers(rows), numbers(rows), numbers(rows)], numbers(at.len()));
            let indices = tensor(&[at.len()], at);
            let mut all = vec![0.0; rows * len];
            for (i, &row) in at.iter().enumerate() {
                let values = values.read::<f32>().unwrap();
                all[row as usize * len..][..len].copy_from_slice(&values[i * len..][..len]);
            }
            let all = tensor(&[rows, len], &all);
            for which in 0..3 {
                let one =
                    |grad: &[&HostTensor], cx: &Cx<'_>| Ok(updated(&state, grad, cx)?.swap_remove(which));
                let want = with_threads("dense", |cx| one(&[&all], cx)).unwrap();
                let got = with_threads("rows", |cx| one(&[&values, &indices], cx)).unwrap();
                assert_eq!(*got.read::<f32>().unwrap(), *want.read::<f32>().unwrap());
            }
        }
    }

    #[test]
    fn a_row_of_adam_is_named_once() {
        let (x, grad) = (tensor(&[3, 1], &[1f32; 3]), tensor(&[2, 1], &[1f32; 2]));
        let state = [x.clone(), x.clone(), x];
        let allocator = Malloc::shared() as Arc<dyn Allocator>;
        let twice = updated(&state, &[&grad, &tensor(&[2], &[1i64, 1])], &Cx::serial(&allocator));
        assert!(twice.unwrap_err().to_string().contains("the same row, 1"));
    }
}
