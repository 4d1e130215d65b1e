//! Sequential plans: functions in which nothing ever has to wait, as lists of steps.
//!
//! ```text
//! steps:   [chain] kernel retire kernel call kernel ... end
//!                                        │               ├─ returns: moves of results to the caller
//!                                        │               └─ carries: moves of results to the next arguments
//!                                        └─ targets[..]: per callee, moves of operands to its arguments
//! ```
//!
//! Everything about a call that does not depend on values is computed here: the callee's frame, the slots
//! that are copied or moved, and the registers that have to be dropped.
//!
//! Invariant: a register that has not been written since the beginning of its frame or iteration holds a
//! value that owns nothing. Steps overwrite it without dropping it, and do not read it before.

use std::collections::BTreeMap;

use bef_format::{FunctionKind, FunctionView, Image, OperandMode};

use super::general::Users;
use super::{AdjacencyLists, FunctionPlan, Kernels};
use befrost_kernel_api::executor::{Slot, Span, Step, StepKind};
use befrost_kernel_api::kernel::{Form, KernelFn, Outcome};
use befrost_kernel_api::value::Value;

/// A step for a kernel that does not check all its operands itself, or that may store some results and then
/// fail. Its results are cleared before it runs.
fn guarded(step: Step) -> Step {
    let run: KernelFn = |frame| {
        let (kernel, lists) = (frame.kernel(), &frame.table().lists);
        if !kernel.stores_all {
            frame.clear_results();
        }
        let slots = frame.slots();
        if kernel.checked.of(lists).iter().all(|&register| slots[register as usize].is_concrete()) {
            (kernel.run)(frame)
        } else {
            Outcome::Operand
        }
    };
    Step { run, ..step }
}

/// A step that frees the registers of list `list`.
fn retire(list: u32, n_slots: usize) -> Step {
    let run: KernelFn = |frame| {
        let table = frame.table();
        for &register in table.retired[frame.step().kernel as usize].of(&table.lists) {
            frame.slots_mut()[register as usize] = Value::Empty;
        }
        Outcome::Done
    };
    Step { kernel: list, ..Step::registers(run, n_slots) }
}

/// A step that writes a chain to the last slot.
fn chain(n_slots: usize) -> Step {
    let run: KernelFn = |frame| {
        if let Some(last) = frame.slots_mut().last_mut() {
            *last = Value::Chain;
        }
        Outcome::Done
    };
    Step::registers(run, n_slots)
}

/// Order in which the kernels of a function run on one thread when nothing has to wait: that of ready
/// counters, newest-first lists of users and a stack; for a synchronous function, that of the program. A
/// kernel that could run when its first operand is final runs when all are. `None` if a kernel of the
/// function itself may have to wait.
pub(super) fn sequential_order(function: &FunctionView<'_, '_>, plan: &FunctionPlan) -> Option<Vec<u32>> {
    if function.kind() == FunctionKind::Native {
        return None;
    }
    let n = function.n_kernels();
    let first_stream = function.kernels().next().map(|kernel| kernel.stream());
    let mut left = Vec::with_capacity(n as usize);
    for (kernel, known) in function.kernels().zip(&plan.kernels) {
        if known.is_late || Some(kernel.stream()) != first_stream {
            return None;
        }
        let data = |i: &u32| !matches!(kernel.operand_mode(*i), OperandMode::Order | OperandMode::After);
        let n_data = if known.is_any { (0..kernel.operands().len() as u32).filter(data).count() } else { 0 };
        // The count of a kernel that runs at its first operand has all of them as one.
        left.push(known.ready_count + (n_data as u32).saturating_sub(1));
    }
    if function.kind() == FunctionKind::Sync {
        return Some((0..n).collect());
    }
    let Users { on_final, on_completion, on_first } = Users::new(function, plan, |_| true);
    let mut stack: Vec<u32> = (0..n).filter(|&k| left[k as usize] == 0).collect();
    fn release(ready: &[u32], left: &mut [u32], stack: &mut Vec<u32>) {
        for &kernel in ready {
            let left = &mut left[kernel as usize];
            *left -= 1;
            if *left == 0 {
                stack.push(kernel);
            }
        }
    }
    for argument in 0..function.n_args() {
        for users in [&on_final, &on_first, &on_completion] {
            release(users.get(argument), &mut left, &mut stack);
        }
    }
    let mut order = Vec::with_capacity(n as usize);
    let mut written = vec![false; function.n_registers() as usize];
    written[..function.n_args() as usize].fill(true);
    while let Some(k) = stack.pop() {
        let kernel = function.kernel(k);
        let lenient_is_late = |(i, &register): (usize, &u32)| {
            kernel.operand_mode(i as u32) == OperandMode::Lenient && !written[register as usize]
        };
        if kernel.operands().iter().enumerate().any(lenient_is_late) {
            return None;
        }
        order.push(k);
        let results = kernel.first_result()..kernel.first_result() + kernel.n_results();
        for register in results.clone() {
            written[register as usize] = true;
            release(on_final.get(register), &mut left, &mut stack);
            release(on_first.get(register), &mut left, &mut stack);
        }
        for register in results {
            release(on_completion.get(register), &mut left, &mut stack);
        }
    }
    // Producers come first in the file and the counts are validated, so every kernel becomes ready.
    (order.len() == n as usize).then_some(order)
}

/// By function: whether it has a sequential plan, that is, an order and only callees with sequential plans.
pub(super) fn sequential_functions(image: &Image<'_>, orders: &[Option<Vec<u32>>]) -> Vec<bool> {
    let without = with_callers(image, orders.iter().map(Option::is_none).collect());
    without.into_iter().map(|without| !without).collect()
}

/// By function: whether a kernel of it, or of a direct or indirect callee, asks for its frame path.
pub(super) fn path_functions(image: &Image<'_>, resolved: &Kernels) -> Vec<bool> {
    let asks = |function: FunctionView<'_, '_>| {
        function.kernels().any(|kernel| resolved.of(&kernel).signature.takes_frame)
    };
    with_callers(image, image.functions().map(asks).collect())
}

/// Extends a property of functions to their direct and indirect callers.
fn with_callers(image: &Image<'_>, mut has: Vec<bool>) -> Vec<bool> {
    let mut reached: Vec<u32> = (0..image.n_functions()).filter(|&f| has[f as usize]).collect();
    if reached.is_empty() {
        return has;
    }
    let mut calls = Vec::new();
    for function in image.functions() {
        for kernel in function.kernels() {
            // Native functions are kernels themselves.
            let callees = kernel
                .functions()
                .iter()
                .filter(|callee| image.function(callee.0).kind() != FunctionKind::Native);
            calls.extend(callees.map(|callee| (callee.0, function.index())));
        }
    }
    let callers = AdjacencyLists::newest_first(image.n_functions(), &calls);
    while let Some(function) = reached.pop() {
        for &caller in callers.get(function) {
            if !std::mem::replace(&mut has[caller as usize], true) {
                reached.push(caller);
            }
        }
    }
    has
}

/// A move of a value between frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) from: Slot,
    /// Whether the value is taken, because this is its last use; otherwise it is copied.
    pub(crate) takes: bool,
}

/// One of the moves that turn results into the arguments of the next iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carry {
    /// From, to. The value is also needed where it is.
    Copy(Slot, Slot),
    /// From, to.
    Take(Slot, Slot),
    Swap(Slot, Slot),
}

/// A function that a kernel may call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTarget {
    pub(crate) function: u32,
    /// In `SequentialPlan::moves`.
    pub(crate) args: Span,
    /// Registers whose last use is this call but which are not passed; in `KernelTable::lists`.
    pub(crate) drops: Span,
    /// Whether only the passed values need to be checked: no register is to be dropped, no other operand must
    /// be concrete, and no argument is missing.
    pub(crate) is_simple: bool,
}

/// See the module's essay.
pub(crate) struct SequentialPlan {
    /// At least one step. The last one is an end.
    pub(crate) steps: Box<[Step]>,
    /// Callees of all kernels.
    pub(crate) targets: Box<[CallTarget]>,
    pub(crate) moves: Box<[Move]>,
    /// Moves of the results.
    pub(crate) returns: Box<[Move]>,
    pub(crate) carries: Box<[Carry]>,
    /// The last result, which decides about the next iteration of a loop. Any slot if there are no results.
    pub(crate) condition: Slot,
    /// Whether every argument of the next iteration is a result of this one.
    pub(crate) carries_all: bool,
}

impl SequentialPlan {
    /// Plan of a function without a sequential plan.
    pub(super) fn none() -> SequentialPlan {
        SequentialPlan {
            steps: Box::new([Step::NONE]),
            targets: Box::default(),
            moves: Box::default(),
            returns: Box::default(),
            carries: Box::default(),
            condition: Slot::new(0),
            carries_all: false,
        }
    }
}

/// Makes the plan of a function whose kernels run in `order`. `inline` says for each type whether its values
/// own nothing; `n_args` and `needs_path` are by function.
pub(super) fn sequential_plan(
    (inline, n_args, needs_path): (&[bool], &[u32], &[bool]),
    function: &FunctionView<'_, '_>,
    plan: &mut FunctionPlan,
    order: &[u32],
    resolved: &Kernels,
) -> SequentialPlan {
    let n_slots = plan.n_slots();
    let mut lists = std::mem::take(&mut plan.table.lists).into_vec();
    let mut is_needed = vec![false; plan.n_registers as usize];
    for &register in &plan.results {
        is_needed[register as usize] = true;
    }
    let mut steps = Vec::with_capacity(order.len() + 1);
    steps.push(Step::NONE);
    let (mut retired, mut targets, mut moves) = (Vec::new(), Vec::new(), Vec::new());
    let mut reads_chain = false;
    let is_constant = |k: u32| {
        let kernel = function.kernel(k);
        let results = kernel.first_result()..kernel.first_result() + kernel.n_results();
        resolved.of(&kernel).is_constant
            && kernel.operands().is_empty()
            && results.into_iter().all(|register| inline[function.register_type(register).index()])
    };
    // Constants first: another iteration begins behind them.
    let (constants, others): (Vec<u32>, Vec<u32>) = order.iter().partition(|&&k| is_constant(k));
    // Backwards, to find the last uses.
    for &k in constants.iter().chain(&others).rev() {
        let kernel = function.kernel(k);
        let mut last_use = |register: &u32| {
            let is_inline = inline[function.register_type(*register).index()];
            !std::mem::replace(&mut is_needed[*register as usize], true) && !is_inline
        };
        let results = kernel.first_result()..kernel.first_result() + kernel.n_results();
        // A result without reader is freed after its own kernel.
        let mut freed: Vec<u32> = results.filter(&mut last_use).collect();
        let read: Vec<u32> = kernel.operands().iter().copied().filter(&mut last_use).collect();
        let calls = resolved.of(&kernel).signature.calls;
        // The last uses of a kernel that has called were passed to its callee; those of any other kernel are
        // freed after it.
        freed.extend(&read);
        let (entry, known) = (&mut plan.table.kernels[k as usize], &mut plan.kernels[k as usize]);
        let operands = entry.operands.of(&lists).to_vec();
        entry.last_uses = last_uses(&mut lists, &operands, &read);
        reads_chain |= operands.contains(&plan.n_registers);
        // A kernel that calls passes the values of its last uses on to its callee.
        if let Some(shape) = calls {
            let passed = operands.get(shape.first_operand as usize..).unwrap_or_default();
            let callees: Vec<u32> = entry.functions.of(&lists).to_vec();
            known.targets = Span::push(
                &mut targets,
                callees.into_iter().map(|callee| {
                    let n_args = n_args[callee as usize] as usize;
                    let passed = &passed[..passed.len().min(n_args)];
                    let drops = read.iter().copied().filter(|register| !passed.contains(register));
                    let drops = Span::push(&mut lists, drops);
                    let args = passed.iter().enumerate().map(|(i, register)| Move {
                        from: Slot::new(*register as usize),
                        takes: read.contains(register) && !passed[i + 1..].contains(register),
                    });
                    let args = Span::push(&mut moves, args);
                    let mut checked = entry.checked.of(&lists).iter();
                    let is_simple = drops.is_empty()
                        && passed.len() == n_args
                        && checked.all(|register| {
                            decides(shape.form, &operands, *register) || passed.contains(register)
                        });
                    CallTarget { function: callee, args, drops, is_simple }
                }),
            );
        }
        if !freed.is_empty() {
            steps.push(retire(retired.len() as u32, n_slots));
            retired.push(Span::push(&mut lists, freed.into_iter()));
        }
        let step = Step::new(entry.run, k, &operands, (known.first_result, known.n_results), n_slots);
        let is_guarded = entry.checked.n > 0 || !entry.stores_all && known.n_results > 0;
        let form = calls.and_then(|shape| step_kind(shape.form, known.targets));
        // The kernel may begin executions of its functions, so it needs its path.
        let is_placed = resolved.of(&kernel).signature.takes_frame
            || entry.functions.of(&lists).iter().any(|&callee| needs_path[callee as usize]);
        steps.push(match form {
            Some(kind) => step.of_form(kind, known.targets.first),
            None if is_placed => step.placed(),
            None if is_guarded => guarded(step),
            None => step,
        });
    }
    if reads_chain {
        steps.push(chain(n_slots));
    }
    let mut n_once = constants.len() + usize::from(reads_chain);
    let is_inline = |register: u32| inline[function.register_type(register).index()];
    let unread: Vec<u32> = (0..plan.n_args).filter(|&r| !is_needed[r as usize] && !is_inline(r)).collect();
    if !unread.is_empty() {
        n_once += 1;
        steps.push(retire(retired.len() as u32, n_slots));
        retired.push(Span::push(&mut lists, unread.into_iter()));
    }
    // The end was pushed first. What runs once has no effect in another iteration, if the frame owns nothing:
    // constants are in their slots, and there is nothing to free.
    steps[0] = Step::end((steps.len() - 1 - n_once) as u32);
    steps.reverse();
    plan.table.lists = lists.into();
    plan.table.retired = retired.into();
    let results = &plan.results;
    let returns = results.iter().enumerate().map(|(i, register)| Move {
        from: Slot::new(*register as usize),
        takes: !results[i + 1..].contains(register),
    });
    let n_carried = results.len().min(plan.n_args as usize);
    SequentialPlan {
        steps: steps.into(),
        targets: targets.into(),
        moves: moves.into(),
        returns: returns.collect(),
        carries: carries(&results[..n_carried]),
        condition: Slot::new(results.last().map_or(n_slots - 1, |&register| register as usize)),
        carries_all: n_carried == plan.n_args as usize,
    }
}

/// Set of the operands that a kernel may keep: those read for the last time, once each. As bits in 32-bit
/// words; empty if there are none.
pub(super) fn last_uses(lists: &mut Vec<u32>, operands: &[u32], last_read: &[u32]) -> Span {
    if last_read.is_empty() {
        return Span::default();
    }
    let mut n_reads: BTreeMap<u32, usize> = last_read.iter().map(|&register| (register, 0)).collect();
    for register in operands {
        n_reads.entry(*register).and_modify(|n| *n += 1);
    }
    let words = operands.chunks(32).map(|chunk| {
        let bits = chunk.iter().enumerate();
        bits.fold(0, |word, (i, register)| word | u32::from(n_reads.get(register) == Some(&1)) << i)
    });
    Span::push(lists, words)
}

/// Kind of the step of a kernel of form `form` with callees `targets`. `None` if the kernel's code has to
/// run.
fn step_kind(form: Form, targets: Span) -> Option<StepKind> {
    let (kind, at_least) = match form {
        Form::Own => return None,
        Form::Call => (StepKind::Call, 1),
        Form::Branch => (StepKind::Branch, 2),
        Form::Case => (StepKind::Case, 0),
        Form::Repeat => (StepKind::Repeat, 1),
        Form::While => (StepKind::While, 1),
    };
    (targets.n >= at_least).then_some(kind)
}

/// Whether a register is the operand by which a kernel of form `form` chooses its callee. The step checks
/// this operand itself.
fn decides(form: Form, operands: &[u32], register: u32) -> bool {
    match form {
        Form::Own | Form::Call => false,
        Form::Branch | Form::Case | Form::Repeat | Form::While => operands.first() == Some(&register),
    }
}

/// Moves that bring the values of the slots `from` into the slots 0, 1, 2, ..., as if all at once.
fn carries(from: &[u32]) -> Box<[Carry]> {
    let slot = |i: u32| Slot::new(i as usize);
    let n = from.len() as u32;
    // By slot: number of remaining moves that read it, plus one if its value stays there.
    let mut readers = vec![0u32; from.iter().map(|&r| r as usize + 1).max().unwrap_or(0).max(from.len())];
    for &register in from {
        readers[register as usize] += 1;
    }
    let mut is_left: Vec<bool> = (0..n).map(|to| from[to as usize] != to).collect();
    // Slots that may be written.
    let mut free: Vec<u32> = (0..n).filter(|&to| readers[to as usize] == 0).collect();
    let mut steps = Vec::new();
    while let Some(to) = free.pop() {
        let register = from[to as usize];
        is_left[to as usize] = false;
        let left = &mut readers[register as usize];
        *left -= 1;
        if *left > 0 {
            steps.push(Carry::Copy(slot(register), slot(to)));
            continue;
        }
        steps.push(Carry::Take(slot(register), slot(to)));
        if register < n {
            free.push(register);
        }
    }
    // The remaining moves are cycles: every slot has one reader.
    for first in 0..n {
        let mut to = first;
        while is_left[to as usize] {
            is_left[to as usize] = false;
            let next = from[to as usize];
            if is_left[next as usize] {
                steps.push(Carry::Swap(slot(to), slot(next)));
            }
            to = next;
        }
    }
    steps.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Carries out the moves on slots 0, 1, 2, ... with values 0, 1, 2, ...: slot i must then hold `from[i]`.
    fn check(from: &[u32]) {
        let mut slots: Vec<Option<u32>> = (0..10).map(Some).collect();
        for step in carries(from) {
            match step {
                Carry::Copy(from, to) => slots[to.index()] = slots[from.index()],
                Carry::Take(from, to) => slots[to.index()] = slots[from.index()].take(),
                Carry::Swap(a, b) => slots.swap(a.index(), b.index()),
            }
        }
        let got: Vec<u32> = slots.into_iter().flatten().take(from.len()).collect();
        assert_eq!(got, from);
    }

    #[test]
    fn results_become_arguments_all_at_once() {
        for from in [
            &[][..],
            &[0],
            &[5],
            &[1, 0],
            &[1, 2, 0],
            &[1, 5, 0],
            &[2, 2, 2],
            &[0, 0, 0],
            &[1, 1, 0],
            &[3, 2, 1, 0],
            &[1, 0, 3, 2],
            &[5, 5, 0, 1],
            &[1, 2, 3, 4, 0, 5, 6, 5],
        ] {
            check(from);
        }
        // All maps of four slots to five.
        for n in 0..5u32.pow(4) {
            check(&[n % 5, n / 5 % 5, n / 25 % 5, n / 125 % 5]);
        }
    }
}
