//! The step function: gradients and updates, appended to the forward ops.
//!
//! ```text
//! loss ──▶ gradients ──▶ [sums] ──▶ + l2 w ──▶ norm, clip ──▶ w -= lr decay w ──▶ update(w, slots)
//!                                                         └─ with accumulate: every K batches ──┘
//! ```
//!
//! Rates are f64 and are cast to the type of the variable that they update. Gradients of rows stay rows where
//! the optimizer has an operator for them; rows of equal indices are summed first.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::entry::{end_of, function, result_names};
use super::optimizer::{Algorithm, Optimizer};
use super::schedule::{RATE, Schedule};
use super::spec::NamePattern;
use super::variables::{self, Variable};
use super::{Clip, Decay, TrainOptions, errors};
use crate::diag::Diagnostic;
use crate::dialects::tf;
use crate::grad::{At, Emit, Emitter, Grad, Slices, Val, by_variables, dense};
use crate::import::names_attr;
use crate::ir::{OpId, TypeId, ValueId, names};
use crate::print::type_text;
use crate::rewrite::{InsertionPoint, Rewriter};

/// The variables and gradients of a step.
pub(super) struct StepPlan<'o> {
    pub options: &'o TrainOptions,
    pub schedule: Schedule,
    /// The function.
    pub step: OpId,
    end: OpId,
    /// The variables of the step with their handles.
    pub variables: Vec<(Variable, ValueId)>,
    /// The indices in `variables` of the trained ones.
    pub trained: Vec<usize>,
    /// The gradient of each trained variable.
    grads: Vec<Grad>,
}

/// A variable of the optimizer.
#[derive(Clone, Debug)]
pub(super) struct OptimizerSlot {
    pub name: String,
    pub dtype: DType,
    pub dims: Option<Vec<i64>>,
    /// The initial value of its elements.
    start: f64,
    /// The variable that it belongs to.
    pub of: Option<String>,
    /// True for state that is no slot of a variable: counters of updates and batches, sums of gradients,
    /// positions of random streams.
    pub counts: bool,
}

/// The variable that counts updates.
const STEP: &str = "befrost/step";

/// The variable that counts the batches since the last update.
const BATCH: &str = "befrost/batch";

fn is_real(ty: Type) -> bool {
    matches!(ty, Type::Dense(DType::F16 | DType::BF16 | DType::F32 | DType::F64))
}

impl OptimizerSlot {
    /// A counter that starts with zero.
    pub(super) fn counter(name: String) -> OptimizerSlot {
        OptimizerSlot { name, dtype: DType::I64, dims: Some(Vec::new()), start: 0.0, of: None, counts: true }
    }
}

impl<'o> StepPlan<'o> {
    /// Chooses the variables and differentiates the loss.
    pub(super) fn new(
        r: &mut Rewriter<'_>,
        options: &'o TrainOptions,
        schedule: Schedule,
    ) -> Result<StepPlan<'o>, Vec<Diagnostic>> {
        let step = function(r.ir(), "step").ok_or_else(|| vec![errors::no_function("step")])?;
        let variables = variables::unify(r, step);
        let m = r.ir();
        let end = end_of(m, step).filter(|&end| m.n_operands(end) > 0);
        let end = end.ok_or_else(|| vec![errors::no_function("step")])?;
        let plan =
            StepPlan { options, schedule, step, end, variables, trained: Vec::new(), grads: Vec::new() };
        if options.optimizer.is_none() {
            return Ok(plan);
        }
        let ty = m.value_type(m.operand(end, 0));
        if !tf::type_of(&m.cx, ty).is_some_and(|(ty, _)| is_real(ty)) {
            return Err(vec![errors::loss(&type_text(&m.cx, ty))]);
        }
        let all: Vec<&str> =
            plan.variables.iter().filter(|(of, _)| is_real(of.ty)).map(|(of, _)| &of.name[..]).collect();
        let mut wrong = Vec::new();
        let mut has_match = |what: &str, pattern: &NamePattern| {
            if !all.iter().any(|name| pattern.matches(name)) {
                wrong.push(errors::no_match(what, &pattern.to_string(), &all));
            }
        };
        let chosen = [("--trainable", &options.trainable), ("--freeze", &options.freeze)];
        chosen.iter().filter_map(|(what, pattern)| Some((what, pattern.as_ref()?))).for_each(
            |(what, pattern)| {
                has_match(what, pattern);
            },
        );
        options.groups.iter().for_each(|group| has_match("--group", &group.pattern));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let wanted: Vec<usize> = (0..plan.variables.len())
            .filter(|&i| {
                let (Variable { name, ty, .. }, _) = &plan.variables[i];
                is_real(*ty)
                    && options.trainable.as_ref().is_none_or(|pattern| pattern.matches(name))
                    && !options.freeze.as_ref().is_some_and(|pattern| pattern.matches(name))
            })
            .collect();
        if wanted.is_empty() {
            return Err(vec![errors::nothing_to_train(&all)]);
        }
        let handles: Vec<ValueId> = wanted.iter().map(|&i| plan.variables[i].1).collect();
        let found = by_variables(r, end, &handles)?;
        let (trained, grads): (Vec<usize>, Vec<Grad>) =
            wanted.iter().zip(found).filter_map(|(&i, grad)| Some((i, grad?))).unzip();
        if trained.is_empty() {
            let names: Vec<&str> = wanted.iter().map(|&i| &plan.variables[i].0.name[..]).collect();
            return Err(vec![errors::unconnected(&names)]);
        }
        Ok(StepPlan { trained, grads, ..plan })
    }
}

/// A trained variable with its numbers.
struct Trained<'p> {
    variable: &'p Variable,
    dtype: DType,
    handle: ValueId,
    grad: Grad,
    optimizer: Optimizer,
    l2: f64,
    decay: f64,
}

fn trained<'p>(plan: &'p StepPlan<'_>, default: &Optimizer) -> Result<Vec<Trained<'p>>, Vec<Diagnostic>> {
    let options = plan.options;
    let mut all = Vec::new();
    for (&i, &grad) in plan.trained.iter().zip(&plan.grads) {
        let (variable, handle) = &plan.variables[i];
        let factor = |of: &Option<Decay>| of.as_ref().map(|decay| decay.of(variable.rank()));
        let mut optimizer = default.clone();
        let mut l2 = factor(&options.l2);
        let mut decay = factor(&options.weight_decay);
        let group = options.groups.iter().find(|group| group.pattern.matches(&variable.name));
        for (key, value) in group.iter().flat_map(|group| &group.numbers) {
            match &key[..] {
                "l2" => l2 = Some(*value),
                "weight_decay" if optimizer.number(key).is_none() => decay = Some(*value),
                _ => optimizer
                    .set(key, *value)
                    .map_err(|why| vec![errors::option(&format!("{why}, besides l2 and weight_decay"))])?,
            }
        }
        let own = (optimizer.kind == Algorithm::AdamW).then(|| optimizer.get("weight_decay"));
        let in_group = group.is_some_and(|group| group.numbers.iter().any(|(key, _)| key == "weight_decay"));
        let decay = if in_group { own.or(decay) } else { decay.or(own) };
        all.push(Trained {
            variable,
            dtype: variable.ty.dtype().unwrap_or(DType::F32),
            handle: *handle,
            grad,
            optimizer,
            l2: l2.unwrap_or(0.0),
            decay: decay.unwrap_or(0.0),
        });
    }
    Ok(all)
}

/// Gradients and rates, ready for the updates.
struct ReadyGradients {
    /// The gradient of each trained variable.
    grads: Vec<Grad>,
    /// The learning rate of each.
    rates: Vec<ValueId>,
    /// With accumulation: whether this batch completes an update, the number of batches so far, and the sums
    /// of the gradients.
    batches: Option<(ValueId, ValueId, Vec<ValueId>)>,
    /// The results of the step.
    lr: ValueId,
    norm: ValueId,
}

/// Appends the updates to the step, and the initial values of the slots to `init`. Returns the slots.
pub(super) fn append(
    r: &mut Rewriter<'_>,
    plan: &StepPlan<'_>,
    optimizer: &Optimizer,
) -> Result<Vec<OptimizerSlot>, Vec<Diagnostic>> {
    let trained = trained(plan, optimizer)?;
    let mut slots = Vec::new();
    let ready = emitted(r, plan.end, |g| {
        StepBuilder { g, plan, trained: &trained, slots: &mut slots }.ready(optimizer.get("lr"))
    })?;
    results(r, plan, &[("learning_rate", ready.lr), ("gradient_norm", ready.norm)]);
    match &ready.batches {
        None => emitted(r, plan.end, |g| {
            StepBuilder { g, plan, trained: &trained, slots: &mut slots }.update(&ready);
        })?,
        Some((ends, count, sums)) => {
            let [yes, no] = branches(r, plan.end, *ends);
            emitted(r, yes, |g| {
                let mut step = StepBuilder { g, plan, trained: &trained, slots: &mut slots };
                step.update(&ready);
                step.keep(None);
            })?;
            emitted(r, no, |g| {
                StepBuilder { g, plan, trained: &trained, slots: &mut slots }.keep(Some((*count, sums)));
            })?;
        }
    }
    initialized(r, &slots, &trained)?;
    Ok(slots)
}

/// Appends the initial values of counters to `init`.
pub(super) fn initialize_counters(
    r: &mut Rewriter<'_>,
    counters: &[OptimizerSlot],
) -> Result<(), Vec<Diagnostic>> {
    initialized(r, counters, &[])
}

/// Appends the initial values of slots to `init`.
fn initialized(
    r: &mut Rewriter<'_>,
    slots: &[OptimizerSlot],
    trained: &[Trained<'_>],
) -> Result<(), Vec<Diagnostic>> {
    let init = function(r.ir(), "init").and_then(|init| end_of(r.ir(), init));
    let init = init.ok_or_else(|| vec![errors::no_function("init")])?;
    emitted(r, init, |g| slots.iter().for_each(|slot| initialize(g, slot, trained)))
}

/// Creates ops in front of the op `at`.
///
/// # Errors
/// The first op that was refused.
pub(super) fn emitted<'m, R>(
    r: &mut Rewriter<'m>,
    at: OpId,
    act: impl FnOnce(&Emitter<'_, 'm>) -> R,
) -> Result<R, Vec<Diagnostic>> {
    let loc = r.ir().loc(at);
    let emitter = Emitter::new(r, at, loc, at, at);
    let value = act(&emitter);
    emitter.finish().map_err(|refusal| vec![*refusal])?;
    Ok(value)
}

/// Adds results to the step.
fn results(r: &mut Rewriter<'_>, plan: &StepPlan<'_>, more: &[(&str, ValueId)]) {
    let m = r.ir();
    let mut names = result_names(m, plan.step);
    let mut values: Vec<ValueId> = m.operands(plan.end).collect();
    for &(name, value) in more {
        names.push(name.to_owned());
        values.push(value);
    }
    let types: Vec<TypeId> = values.iter().map(|&value| m.value_type(value)).collect();
    let block = m.parent_block(plan.end);
    let args = block.map_or(&[][..], |block| m.args(block));
    let inputs: Vec<TypeId> = args.iter().map(|&arg| m.value_type(arg)).collect();
    r.set_operands(plan.end, &values);
    r.set_signature(plan.step, &inputs, &types);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let attrs = names_attr(r.cx(), &names);
    r.set_attr(plan.step, names::RES_ATTRS, attrs);
}

/// Creates a conditional without results; returns the terminators of its two branches.
fn branches(r: &mut Rewriter<'_>, at: OpId, condition: ValueId) -> [OpId; 2] {
    let loc = r.ir().loc(at);
    let made = r.create_named(InsertionPoint::Before(at), loc, "tf.IfRegion", &[condition], &[], &[]);
    [(); 2].map(|()| {
        let region = r.add_region(made);
        let block = r.add_block(region);
        r.create_named(InsertionPoint::End(block), loc, "tf.Yield", &[], &[], &[])
    })
}

/// Creates the handle of a variable.
pub(super) fn handle<'g>(g: &'g Emitter<'_, '_>, name: &str, dtype: DType, dims: Option<&[i64]>) -> Val<'g> {
    g.val(g.constant(&|b| {
        let shape = tf::shape_attr(b.cx(), dims);
        let pending = b.op(Op::VarHandleOp, &[]).ty("dtype", Type::Dense(dtype));
        pending.attr("shape", shape).str("shared_name", name).one()
    }))
}

/// Reads a variable.
pub(super) fn read<'g>(
    g: &'g Emitter<'_, '_>,
    handle: ValueId,
    dtype: DType,
    dims: Option<&[i64]>,
) -> Val<'g> {
    let ty = g.tensor_type(dims, Type::Dense(dtype));
    g.val(g.emit(Op::ReadVariableOp, &[handle], &[], Some(&[ty]), 1)[0])
}

fn assign(g: &Emitter<'_, '_>, handle: Val<'_>, value: Val<'_>) {
    _ = g.emit(Op::AssignVariableOp, &[handle.id, value.id], &[], None, 0);
}

/// Sets the initial value of a slot.
fn initialize(g: &Emitter<'_, '_>, slot: &OptimizerSlot, trained: &[Trained<'_>]) {
    let dims = slot.dims.as_deref();
    let to = handle(g, &slot.name, slot.dtype, dims);
    let ty = g.tensor_type(dims, Type::Dense(slot.dtype));
    let of = trained.iter().find(|of| slot.of.as_ref() == Some(&of.variable.name));
    let value = match (dims.is_some_and(|dims| !dims.contains(&-1)), of) {
        (false, Some(of)) => {
            let of_variable = handle(g, &of.variable.name, of.dtype, of.variable.dims.as_deref());
            read(g, of_variable.id, of.dtype, of.variable.dims.as_deref()).full(slot.start)
        }
        _ => g.val(g.constant(&|b| b.splat(slot.start, ty))),
    };
    assign(g, to, value);
}

/// The ops of a step.
struct StepBuilder<'s, 'r, 'm> {
    g: &'s Emitter<'r, 'm>,
    plan: &'s StepPlan<'s>,
    trained: &'s [Trained<'s>],
    slots: &'s mut Vec<OptimizerSlot>,
}

impl<'s> StepBuilder<'s, '_, '_> {
    fn number(&self, number: f64, dtype: DType) -> Val<'s> {
        self.g.val(self.g.constant(&|b| b.scalar(number, dtype)))
    }

    /// The handle of a variable of the optimizer.
    fn slot(&mut self, slot: OptimizerSlot) -> Val<'s> {
        let made = handle(self.g, &slot.name, slot.dtype, slot.dims.as_deref());
        if self.slots.iter().all(|known| known.name != slot.name) {
            self.slots.push(slot);
        }
        made
    }

    /// A scalar variable of the optimizer.
    fn scalar(&mut self, name: &str, dtype: DType, start: f64, counts: bool) -> Val<'s> {
        self.slot(OptimizerSlot {
            name: name.to_owned(),
            dtype,
            dims: Some(Vec::new()),
            start,
            of: None,
            counts,
        })
    }

    /// The sum of the gradients of a variable over batches.
    fn sum(&mut self, of: &Trained<'_>) -> Val<'s> {
        self.slot(OptimizerSlot {
            name: format!("befrost/accumulated/{}", of.variable.name),
            dtype: of.dtype,
            dims: of.variable.dims.clone(),
            start: 0.0,
            of: Some(of.variable.name.clone()),
            counts: true,
        })
    }

    /// The value of a variable.
    fn value(&self, of: &Trained<'_>) -> Val<'s> {
        read(self.g, of.handle, of.dtype, of.variable.dims.as_deref())
    }

    fn dense(&self, of: &Trained<'_>, grad: Grad) -> Val<'s> {
        match grad {
            Grad::Dense(value) => self.g.val(value),
            Grad::Slices(slices) => {
                let ty = self.g.tensor_type(of.variable.dims.as_deref(), Type::Dense(of.dtype));
                dense(self.g, slices, ty)
            }
        }
    }

    /// The sums of the rows of equal indices.
    fn summed(&self, slices: Slices) -> Slices {
        let found = self.g.emit(Op::Unique, &[slices.indices], &[], None, 2);
        let count = self.g.val(found[0]).count();
        let operands = [slices.values, found[1], count.id];
        let values = self.g.emit(Op::UnsortedSegmentSum, &operands, &[], None, 1)[0];
        Slices { values, indices: found[0], ..slices }
    }

    /// Half the sum of the squares of a gradient's elements: in f64 if they are f64, else in f32.
    fn half_square(&self, values: Val<'s>) -> Val<'s> {
        let wide = if matches!(values.dtype(), DType::F64) { DType::F64 } else { DType::F32 };
        values.cast(wide).un(Op::L2Loss)
    }

    /// The norm of a tensor.
    fn norm(&self, values: Val<'s>) -> Val<'s> {
        (self.half_square(values).cast(RATE) * 2.0).un(Op::Sqrt)
    }

    /// The norm of all gradients together, as TensorFlow rounds it.
    fn global_norm(&self, grads: &[Grad]) -> Val<'s> {
        let squares = grads.iter().map(|grad| match grad {
            Grad::Dense(value) => self.half_square(self.g.val(*value)),
            Grad::Slices(slices) => self.half_square(self.g.val(slices.values)),
        });
        let total = squares.reduce(|sum, next| match (sum.dtype(), next.dtype()) {
            (DType::F32, DType::F32) => sum + next,
            _ => sum.cast(DType::F64) + next.cast(DType::F64),
        });
        let total = total.unwrap_or_else(|| self.number(0.0, DType::F32));
        (total * 2.0).un(Op::Sqrt)
    }

    /// Gradients and rates.
    fn ready(&mut self, lr: f64) -> ReadyGradients {
        let options = self.plan.options;
        let schedule = &self.plan.schedule;
        let counter = self.scalar(STEP, DType::I64, 0.0, true);
        let t = match schedule.counts() {
            true => read(self.g, counter.id, DType::I64, Some(&[])).cast(RATE),
            false => self.number(0.0, RATE),
        };
        let rates = self.trained.iter().map(|of| schedule.rate(of.optimizer.get("lr"), t).id).collect();
        let lr = schedule.rate(lr, t).id;
        let mut grads: Vec<Grad> = self.trained.iter().map(|of| of.grad).collect();
        let mut batches = None;
        if options.accumulate > 1 {
            let mut sums = Vec::new();
            for (of, grad) in self.trained.iter().zip(&mut grads) {
                let sum = self.sum(of);
                let sum = read(self.g, sum.id, of.dtype, of.variable.dims.as_deref());
                let total = sum + self.dense(of, *grad);
                sums.push(total.id);
                *grad = Grad::Dense(total.id);
            }
            let counter = self.scalar(BATCH, DType::I64, 0.0, true);
            let count = read(self.g, counter.id, DType::I64, Some(&[])) + 1.0;
            let ends = count.bin(Op::GreaterEqual, count.number(f64::from(options.accumulate)));
            batches = Some((ends.id, count.id, sums));
        }
        for (of, grad) in self.trained.iter().zip(&mut grads) {
            let is_dense = !of.optimizer.takes_rows() || matches!(options.clip, Some(Clip::Value(_)));
            if of.l2 != 0.0 {
                *grad = Grad::Dense((self.dense(of, *grad) + self.value(of) * of.l2).id);
            } else if is_dense {
                *grad = Grad::Dense(self.dense(of, *grad).id);
            } else if let (Grad::Slices(slices), true) = (&mut *grad, of.optimizer.changes_all_rows()) {
                // The gradient is that of all rows, and so is its norm.
                *slices = self.summed(*slices);
            }
        }
        let norm = self.global_norm(&grads);
        for grad in &mut grads {
            let values = match grad {
                Grad::Dense(value) => value,
                Grad::Slices(slices) => &mut slices.values,
            };
            let x = self.g.val(*values);
            *values = match options.clip {
                None => continue,
                Some(Clip::Value(by)) => x.bin(Op::Minimum, x.number(by)).bin(Op::Maximum, x.number(-by)).id,
                Some(Clip::GlobalNorm(by)) => {
                    let least = (1.0 / norm).bin(Op::Minimum, norm.number(1.0 / by));
                    (x * (least * by).cast_like(x)).id
                }
            };
        }
        ReadyGradients { grads, rates, batches, lr, norm: norm.cast(RATE).id }
    }

    /// Updates variables, slots and the counter.
    fn update(&mut self, ready: &ReadyGradients) {
        let mut powers: Vec<[f64; 2]> = Vec::new();
        for ((of, &grad), &rate) in self.trained.iter().zip(&ready.grads).zip(&ready.rates) {
            let rate = self.g.val(rate);
            if of.decay != 0.0 {
                let value = self.value(of);
                let by = (rate * of.decay).cast(of.dtype);
                assign(self.g, self.g.val(of.handle), value - value * by);
            }
            let power = match of.optimizer.kind {
                Algorithm::Adam | Algorithm::AdamW => {
                    let betas = [of.optimizer.get("beta1"), of.optimizer.get("beta2")];
                    let known = powers.iter().position(|known| *known == betas);
                    known.unwrap_or_else(|| {
                        powers.push(betas);
                        powers.len() - 1
                    })
                }
                _ => 0,
            };
            self.variable(of, grad, rate, power);
        }
        for (i, betas) in powers.iter().enumerate() {
            for (which, beta) in betas.iter().enumerate() {
                let power = self.power(which, i, *beta);
                let old = read(self.g, power.id, DType::F32, Some(&[]));
                assign(self.g, power, old * *beta);
            }
        }
        let counter = self.scalar(STEP, DType::I64, 0.0, true);
        let one = self.number(1.0, DType::I64);
        _ = self.g.emit(Op::AssignAddVariableOp, &[counter.id, one.id], &[], None, 0);
    }

    /// The variable that holds a power of one of Adam's two rates (`which`), for pair number `i` of rates.
    fn power(&mut self, which: usize, i: usize, beta: f64) -> Val<'s> {
        let suffix = if i == 0 { String::new() } else { format!("_{i}") };
        self.scalar(&format!("beta{}_power{suffix}", which + 1), DType::F32, beta, false)
    }

    /// Updates one variable.
    fn variable(&mut self, of: &Trained<'_>, grad: Grad, rate: Val<'s>, power: usize) {
        let Trained { variable, dtype, handle, optimizer, .. } = of;
        let mut state = vec![*handle];
        for (suffix, start) in optimizer.slots() {
            let slot = OptimizerSlot {
                name: format!("{}/{suffix}", variable.name),
                dtype: *dtype,
                dims: variable.dims.clone(),
                start,
                of: Some(variable.name.clone()),
                counts: false,
            };
            state.push(self.slot(slot).id);
        }
        let lr = rate.cast(*dtype);
        let number = |step: &Self, key: &str| step.number(optimizer.get(key), *dtype);
        let (grad, rows) = match grad {
            Grad::Dense(grad) => (self.g.val(grad), None),
            Grad::Slices(slices) => {
                let slices = if optimizer.changes_all_rows() { slices } else { self.summed(slices) };
                (self.g.val(slices.values), Some(slices.indices))
            }
        };
        let nesterov = [("use_nesterov", At::Bool(optimizer.flag("nesterov")))];
        let mut attrs: &[(&str, At<'_>)] = &[];
        // The dense operator; the operator for rows and the place of their indices in `rest`; the operands
        // after the variable and its slots.
        let (dense, by_rows, rest) = match optimizer.kind {
            Algorithm::Sgd => match rows {
                None => (Op::ResourceApplyGradientDescent, None, vec![lr, grad]),
                Some(indices) => {
                    let by = grad * lr;
                    _ = self.g.emit(Op::ResourceScatterSub, &[*handle, indices, by.id], &[], None, 0);
                    return;
                }
            },
            Algorithm::Momentum => {
                attrs = &nesterov;
                let rest = vec![lr, grad, number(self, "momentum")];
                (Op::ResourceApplyMomentum, Some((Op::ResourceSparseApplyMomentum, 2)), rest)
            }
            Algorithm::Adam | Algorithm::AdamW => {
                let mut rest = Vec::new();
                for (which, key) in ["beta1", "beta2"].into_iter().enumerate() {
                    let handle = self.power(which, power, optimizer.get(key));
                    rest.push(read(self.g, handle.id, DType::F32, Some(&[])).cast(*dtype));
                }
                rest.push(lr);
                rest.extend(["beta1", "beta2", "epsilon"].map(|key| number(self, key)));
                rest.push(grad);
                (Op::ResourceApplyAdam, Some((Op::_ResourceSparseApplyAdam, 7)), rest)
            }
            Algorithm::Adagrad if optimizer.get("epsilon") == 0.0 => {
                (Op::ResourceApplyAdagrad, Some((Op::ResourceSparseApplyAdagrad, 2)), vec![lr, grad])
            }
            Algorithm::Adagrad => {
                let rest = vec![lr, number(self, "epsilon"), grad];
                (Op::ResourceApplyAdagradV2, Some((Op::ResourceSparseApplyAdagradV2, 3)), rest)
            }
            Algorithm::RmsProp => {
                let numbers = ["decay", "momentum", "epsilon"].map(|key| number(self, key));
                let rest = [&[lr], &numbers[..], &[grad]].concat();
                if optimizer.flag("centered") {
                    // The operator takes the slots in the order ms, mg, mom.
                    state.swap(1, 2);
                    let by_rows = Op::ResourceSparseApplyCenteredRMSProp;
                    (Op::ResourceApplyCenteredRMSProp, Some((by_rows, 5)), rest)
                } else {
                    (Op::ResourceApplyRMSProp, Some((Op::ResourceSparseApplyRMSProp, 5)), rest)
                }
            }
            Algorithm::Lars => {
                let value = self.value(of);
                let decay = optimizer.get("weight_decay");
                let [of_value, of_grad] = [value, grad].map(|x| self.norm(x));
                let ratio = of_value * optimizer.get("trust") / (of_grad + of_value * decay);
                let zero = ratio.number(0.0);
                let [is_value, is_grad] = [of_value, of_grad].map(|norm| norm.bin(Op::Greater, zero));
                let ratio = is_value.bin(Op::LogicalAnd, is_grad).select(ratio, ratio.number(1.0));
                let step = (grad + value * decay) * (rate * ratio).cast(*dtype);
                let rest = vec![self.number(1.0, *dtype), step, number(self, "momentum")];
                (Op::ResourceApplyMomentum, None, rest)
            }
        };
        let mut operands = state;
        let first = operands.len();
        operands.extend(rest.iter().map(|value| value.id));
        let op = match (rows, by_rows) {
            (Some(indices), Some((op, at))) => {
                operands.insert(first + at, indices);
                op
            }
            _ => dense,
        };
        _ = self.g.emit(op, &operands, attrs, None, 0);
    }

    /// Stores the sums of gradients and the number of batches, or zeros for `None`.
    fn keep(&mut self, so_far: Option<(ValueId, &[ValueId])>) {
        for (i, of) in self.trained.iter().enumerate() {
            let sum = self.sum(of);
            let value = match so_far {
                Some((_, sums)) => self.g.val(sums[i]),
                None => self.value(of).zeros(),
            };
            assign(self.g, sum, value);
        }
        let counter = self.scalar(BATCH, DType::I64, 0.0, true);
        let count = so_far.map(|(count, _)| self.g.val(count));
        let count = count.unwrap_or_else(|| self.number(0.0, DType::I64));
        assign(self.g, counter, count);
    }
}
