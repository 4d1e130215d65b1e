//! Plans: how each function is executed, computed once.
//!
//! A function has up to two plans, chosen per call:
//!
//! * The *line*: if all kernels are synchronous, of one stream, and call only functions that have a line too, then with final arguments
//!   nothing ever has to wait. Which kernel runs when does not depend on any value, so the order that ready counters and the
//!   inline stack would produce (`semantics.md`, "Order") is computed here, and executing it needs neither. Each step knows which
//!   registers are read for the last time.
//! * The *general* plan: ready counters, used-by lists by operand mode, and the registers that somebody may read before their
//!   writer has finished.
//!
//! Not here: executing either (`exec`).

use std::ops::Range;
use std::sync::OnceLock;

use bef_format::{FunctionKind, FunctionView, Image, OperandMode};

use super::check::n_passed;
use crate::kernel::{Again, Completion, Kernel, KernelFn, Outcome, immediate};
use crate::value::{Value, is_inline_type};

/// A range of one of a plan's lists.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    first: u32,
    n: u32,
}

impl Span {
    #[inline]
    pub(crate) fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.first as usize..).and_then(|rest| rest.get(..self.n as usize)).unwrap_or_default()
    }

    fn push<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) -> Span {
        let first = list.len() as u32;
        list.extend(items);
        Span { first, n: list.len() as u32 - first }
    }
}

/// What is known of a kernel, apart from what its [`Step`] has at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelPlan {
    pub(crate) run: KernelFn,
    /// The slots of what is passed to the kernel; in `FunctionPlan::lists`.
    pub(crate) operands: Span,
    /// The registers that must not be an error or dead, unless the kernel finds out about all by reading them; in `lists`.
    pub(crate) checked: Span,
    /// Attribute ids; in `lists`.
    pub(crate) attrs: Span,
    /// The attributes that are scalars as values, the others as nothing; in `FunctionPlan::immediates`.
    pub(crate) immediates: Span,
    /// Function ids; in `lists`.
    pub(crate) functions: Span,
    /// In the line: the operands that a kernel that calls gives away, as it is the last to read them; in `lists`.
    pub(crate) given: Span,
    pub(crate) first_result: u32,
    pub(crate) n_results: u16,
}

/// How many operands a [`Step`] has at hand.
pub(crate) const INLINE_OPERANDS: usize = 3;

/// A slot of a frame, as the distance in bytes from the first: what an address is made of with one addition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot(u32);

/// More slots than this no frame has.
pub(crate) const MAX_SLOTS: usize = 1 << 28;

impl Slot {
    /// Slot number `index`, which is less than [`MAX_SLOTS`].
    fn new(index: usize) -> Slot {
        assert!(index < MAX_SLOTS, "a slot that no frame has");
        Slot((index * size_of::<Value>()) as u32)
    }

    /// The distance in bytes.
    #[inline(always)]
    pub(crate) fn bytes(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn index(self) -> usize {
        self.bytes() / size_of::<Value>()
    }
}

/// What a [`Step`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// A kernel.
    Kernel,
    /// It frees registers.
    Retire,
    /// The last of a line. It is never done: it answers with a request, but makes none.
    End,
}

/// One step of a line, with all that a small kernel needs in half a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) run: KernelFn,
    /// The slots of the first operands; where there is none, the last slot.
    pub(crate) inline: [Slot; INLINE_OPERANDS],
    /// The slot of the first result; if there is none, the last slot.
    pub(crate) first_result: Slot,
    /// The kernel, or the number of the list of registers to free.
    pub(crate) kernel: u32,
    pub(crate) n_results: u16,
    pub(crate) kind: StepKind,
}

const _: () = assert!(size_of::<Step>() == 32);

impl Step {
    /// The end of an empty line.
    pub(crate) const NONE: Step = Step {
        run: |_| Outcome::Request,
        inline: [Slot(0); INLINE_OPERANDS],
        first_result: Slot(0),
        kernel: 0,
        n_results: 0,
        kind: StepKind::End,
    };

    /// A kernel with these operands and results in a frame with `n_slots` slots.
    fn new(plan: &KernelPlan, kernel: u32, operands: &[u32], first_result: u32, n_slots: usize) -> Step {
        let last = Slot::new(n_slots - 1);
        let mut inline = [last; INLINE_OPERANDS];
        for (slot, &operand) in inline.iter_mut().zip(operands) {
            *slot = Slot::new(operand as usize);
        }
        let first_result = if plan.n_results == 0 { last } else { Slot::new(first_result as usize) };
        let step = Step {
            run: plan.run,
            inline,
            first_result,
            kernel,
            n_results: plan.n_results,
            kind: StepKind::Kernel,
        };
        assert!(step.fits(n_slots), "a register that the frame does not have");
        step
    }

    /// The same for a kernel that does not find out by itself whether all its operands are concrete.
    fn checked(self) -> Step {
        let run: KernelFn = |frame| {
            let (kernel, lists) = (frame.kernel(), &frame.plan().lists);
            let slots = frame.slots();
            if kernel.checked.of(lists).iter().all(|&register| slots[register as usize].is_concrete()) {
                (kernel.run)(frame)
            } else {
                Outcome::Operand
            }
        };
        Step { run, ..self }
    }

    /// Frees the registers of list `list`.
    fn retire(list: u32, n_slots: usize) -> Step {
        let run: KernelFn = |frame| {
            let plan = frame.plan();
            let registers = plan.retired[frame.step().kernel as usize].of(&plan.lists);
            for &register in registers {
                frame.slots_mut()[register as usize] = Value::Empty;
            }
            Outcome::Done
        };
        let last = Slot::new(n_slots - 1);
        let inline = [last; INLINE_OPERANDS];
        Step { run, inline, first_result: last, kernel: list, kind: StepKind::Retire, ..Step::NONE }
    }

    /// Whether a frame with so many slots has all those that the step names.
    pub(crate) fn fits(&self, n_slots: usize) -> bool {
        self.first_result.index() + usize::from(self.n_results.max(1)) <= n_slots
            && self.inline.iter().all(|slot| slot.index() < n_slots)
    }
}

/// How a function is executed.
pub(crate) struct FunctionPlan {
    /// Which function.
    pub(crate) index: u32,
    pub(crate) n_args: u32,
    pub(crate) n_registers: u32,
    pub(crate) results: Box<[u32]>,
    /// Whether a register is returned more than once.
    pub(crate) repeats_results: bool,
    /// Whether no result is an argument but the one in its own place: so that the next iteration's can be moved there one by one.
    pub(crate) carries_directly: bool,
    /// What steps of the line free; in `lists`.
    pub(crate) retired: Box<[Span]>,
    pub(crate) lists: Box<[u32]>,
    pub(crate) immediates: Box<[Value]>,
    /// By kernel index.
    pub(crate) kernels: Box<[KernelPlan]>,
    /// The steps, if the function has a line.
    pub(crate) line: Option<Box<[Step]>>,
    general: OnceLock<General>,
}

impl FunctionPlan {
    /// How many slots a frame has: one for each register, and behind them one that holds a chain, for edges that a kernel has declared
    /// as a chain.
    #[inline]
    pub(crate) fn n_slots(&self) -> usize {
        self.n_registers as usize + 1
    }

    /// The first step of its line.
    #[inline]
    pub(crate) fn first_step(&self) -> &Step {
        self.line.as_deref().and_then(<[Step]>::first).unwrap_or(const { &Step::NONE })
    }

    /// How many results a kernel gets that has the function run.
    pub(crate) fn n_results(&self, again: Again) -> usize {
        self.results.len().saturating_sub(usize::from(again == Again::WHILE_TRUE))
    }

    /// The general plan, made when it is first wanted.
    #[inline]
    pub(crate) fn general(&self, image: &Image<'_>) -> &General {
        self.general.get_or_init(|| General::new(&image.function(self.index), image, self))
    }
}

/// A list of lists.
struct Lists {
    starts: Box<[u32]>,
    items: Box<[u32]>,
}

impl Lists {
    #[inline]
    fn get(&self, i: u32) -> &[u32] {
        let (Some(&start), Some(&end)) = (self.starts.get(i as usize), self.starts.get(i as usize + 1))
        else {
            return &[];
        };
        self.items.get(start as usize..end as usize).unwrap_or_default()
    }

    /// For each of `n` lists the second halves of the pairs whose first half is its number, the last pair's first.
    fn newest_first(n: u32, pairs: &[(u32, u32)]) -> Lists {
        let mut starts = vec![0u32; n as usize + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![0; pairs.len()];
        for &(list, item) in pairs.iter().rev() {
            let at = &mut next[list as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Lists { starts: starts.into(), items: items.into() }
    }
}

/// Whom to tell of what.
struct Listeners {
    /// Per register: the kernels to tell when it is final, newest first.
    users: Lists,
    /// Per register: the kernels to tell when the kernel that writes it has completed.
    after_users: Lists,
    /// Per register: the kernels to tell when it is final, that run when their first operand is.
    any_users: Lists,
}

impl Listeners {
    fn new(function: &FunctionView<'_, '_>) -> Listeners {
        let (mut users, mut after_users, mut any_users) = (Vec::new(), Vec::new(), Vec::new());
        for (k, kernel) in function.kernels().enumerate() {
            for (i, &register) in kernel.operands().iter().enumerate() {
                match kernel.operand_mode(i as u32) {
                    OperandMode::Order => users.push((register, k as u32)),
                    OperandMode::After => after_users.push((register, k as u32)),
                    _ if kernel.is_any() => any_users.push((register, k as u32)),
                    OperandMode::Required => users.push((register, k as u32)),
                    OperandMode::Lenient => {}
                }
            }
        }
        let lists = |pairs: &[_]| Lists::newest_first(function.n_registers(), pairs);
        Listeners { users: lists(&users), after_users: lists(&after_users), any_users: lists(&any_users) }
    }
}

/// An operand of a kernel, as the general plan gathers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) register: u32,
    /// Of a kernel that runs when its first operand is final, all data is lenient.
    pub(crate) mode: OperandMode,
    /// Whether the kernel gets it.
    pub(crate) is_passed: bool,
}

/// Of a register that nobody reads before its writer has finished.
const NO_PROMISE: u32 = u32::MAX;

/// What the general plan gathers for a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gathering {
    /// In `General::operands`.
    operands: Span,
    /// How many operands are data, of a kernel that runs when the first of them is final; else 0.
    pub(crate) n_any: u32,
}

/// A kernel on copies of its operands: behind them come its results, and then a chain.
pub(crate) struct CopiedStep {
    step: Step,
    first_register: u32,
}

impl CopiedStep {
    fn new(plan: &KernelPlan, kernel: u32) -> CopiedStep {
        let n = plan.operands.n;
        let operands: Vec<u32> = (0..n.min(INLINE_OPERANDS as u32)).collect();
        let n_slots = n as usize + usize::from(plan.n_results) + 1;
        CopiedStep { step: Step::new(plan, kernel, &operands, n, n_slots), first_register: plan.first_result }
    }

    #[inline]
    pub(crate) fn step(&self) -> &Step {
        &self.step
    }

    #[inline]
    pub(crate) fn n_operands(&self) -> usize {
        self.step.first_result.index()
    }

    #[inline]
    pub(crate) fn n_results(&self) -> usize {
        usize::from(self.step.n_results)
    }

    #[inline]
    pub(crate) fn n_slots(&self) -> usize {
        self.n_operands() + self.n_results() + 1
    }

    /// The registers of the results.
    #[inline]
    pub(crate) fn registers(&self) -> Range<u32> {
        self.first_register..self.first_register + u32::from(self.step.n_results)
    }
}

/// How a function is executed when something may have to wait.
pub(crate) struct General {
    /// Per kernel.
    pub(crate) steps: Box<[CopiedStep]>,
    /// How many events each kernel waits for.
    pub(crate) ready_counts: Box<[u32]>,
    /// The kernels that wait for none.
    pub(crate) idle: Box<[u32]>,
    pub(crate) streams: Box<[u32]>,
    /// Per kernel.
    pub(crate) gatherings: Box<[Gathering]>,
    operands: Box<[Operand]>,
    /// Whether any kernel runs when its first operand is final.
    pub(crate) has_any: bool,
    listeners: Listeners,
    /// Per register: how many times it is read, for those whose values are worth freeing early; else 0.
    pub(crate) reads: Box<[u32]>,
    /// Whether there is one.
    pub(crate) counts_reads: bool,
    /// The registers that may be read before their writer has finished.
    pub(crate) async_registers: Box<[u32]>,
    /// Per register: which of these it is, or [`NO_PROMISE`]. Empty if there is none.
    promises: Box<[u32]>,
    /// Whether any kernel waits for a completion.
    pub(crate) has_after: bool,
}

impl General {
    fn new(function: &FunctionView<'_, '_>, image: &Image<'_>, plan: &FunctionPlan) -> General {
        let n_registers = function.n_registers();
        let mut reads = vec![0u32; n_registers as usize];
        let mut is_async = vec![false; n_registers as usize];
        let counted: Vec<bool> = image.types().map(|ty| !is_inline_type(ty)).collect();
        let is_counted = |register: u32| counted[function.register_type(register).index()];
        let (mut operands, mut gatherings) = (Vec::new(), Vec::new());
        for (kernel, known) in function.kernels().zip(&plan.kernels) {
            let is_data = |mode: OperandMode| matches!(mode, OperandMode::Required | OperandMode::Lenient);
            let mode = |i: usize| match kernel.operand_mode(i as u32) {
                mode if kernel.is_any() && is_data(mode) => OperandMode::Lenient,
                mode => mode,
            };
            let n = kernel.operands().len();
            gatherings.push(Gathering {
                operands: Span::push(
                    &mut operands,
                    kernel.operands().iter().enumerate().map(|(i, &register)| Operand {
                        register,
                        mode: mode(i),
                        is_passed: i < known.operands.n as usize,
                    }),
                ),
                n_any: if kernel.is_any() { (0..n).filter(|&i| is_data(mode(i))).count() as u32 } else { 0 },
            });
            for (i, &register) in kernel.operands().iter().enumerate() {
                let mode = mode(i);
                if mode == OperandMode::Lenient && register >= function.n_args() {
                    is_async[register as usize] = true;
                }
                if mode != OperandMode::After && is_counted(register) {
                    reads[register as usize] += 1;
                }
            }
        }
        for &register in function.results() {
            // A returned argument is the argument; it needs no value of its own.
            if register >= function.n_args() {
                is_async[register as usize] = true;
            }
            if is_counted(register) {
                reads[register as usize] += 1;
            }
        }
        let listeners = Listeners::new(function);
        let async_registers: Box<[u32]> = (0..n_registers).filter(|&r| is_async[r as usize]).collect();
        let mut promises = vec![NO_PROMISE; if async_registers.is_empty() { 0 } else { is_async.len() }];
        for (i, &register) in async_registers.iter().enumerate() {
            promises[register as usize] = i as u32;
        }
        let ready_counts: Box<[u32]> = function.kernels().map(|k| k.ready_count()).collect();
        let idle = ready_counts.iter().enumerate().filter(|(_, count)| **count == 0);
        General {
            steps: plan.kernels.iter().zip(0..).map(|(kernel, k)| CopiedStep::new(kernel, k)).collect(),
            idle: idle.map(|(k, _)| k as u32).collect(),
            ready_counts,
            streams: function.kernels().map(|k| k.stream()).collect(),
            has_after: !listeners.after_users.items.is_empty(),
            has_any: !listeners.any_users.items.is_empty(),
            gatherings: gatherings.into(),
            operands: operands.into(),
            listeners,
            counts_reads: reads.iter().any(|&count| count > 0),
            reads: reads.into(),
            async_registers,
            promises: promises.into(),
        }
    }

    /// Which of the async registers `register` is.
    #[inline]
    pub(crate) fn promise_of(&self, register: u32) -> Option<usize> {
        match self.promises.get(register as usize) {
            None | Some(&NO_PROMISE) => None,
            Some(&i) => Some(i as usize),
        }
    }

    /// The kernels to tell when `register` is final.
    #[inline]
    pub(crate) fn users(&self, register: u32) -> &[u32] {
        self.listeners.users.get(register)
    }

    /// The kernels to tell when `register` is final, that run when their first operand is.
    pub(crate) fn any_users(&self, register: u32) -> &[u32] {
        self.listeners.any_users.get(register)
    }

    /// The operands of a kernel.
    #[inline]
    pub(crate) fn operands(&self, kernel: u32) -> &[Operand] {
        self.gatherings[kernel as usize].operands.of(&self.operands)
    }

    /// The kernels to tell when the kernel that writes `register` has completed.
    pub(crate) fn after_users(&self, register: u32) -> &[u32] {
        self.listeners.after_users.get(register)
    }
}

/// Plans all functions of a checked image.
pub(super) fn plan(image: &Image<'_>, kernels: &[Kernel]) -> Box<[FunctionPlan]> {
    let mut plans: Vec<FunctionPlan> = image.functions().map(|f| plan_function(image, &f, kernels)).collect();
    let orders: Vec<Option<Vec<u32>>> = image.functions().map(|f| line_order(&f, kernels)).collect();
    let has_line = with_lines(image, &orders);
    let inline: Vec<bool> = image.types().map(is_inline_type).collect();
    for ((plan, function), order) in plans.iter_mut().zip(image.functions()).zip(&orders) {
        if has_line[function.index() as usize]
            && let Some(order) = order
        {
            plan.line = Some(line(&inline, &function, plan, order, kernels));
        }
    }
    plans.into()
}

fn plan_function(image: &Image<'_>, function: &FunctionView<'_, '_>, resolved: &[Kernel]) -> FunctionPlan {
    let (mut lists, mut immediates) = (Vec::new(), Vec::new());
    let mut kernels = Vec::with_capacity(function.n_kernels() as usize);
    for kernel in function.kernels() {
        let known = &resolved[kernel.code().index()];
        let signature = &known.signature;
        let operands = kernel.operands();
        let mode = |i: usize| kernel.operand_mode(i as u32);
        let n = n_passed(&kernel, signature, |i| image.type_name(function.register_type(operands[i])));
        let passed = operands.iter().enumerate().take(n).map(|(i, &register)| match mode(i) {
            OperandMode::Required | OperandMode::Lenient => register,
            OperandMode::Order | OperandMode::After => function.n_registers(),
        });
        // A kernel that reads its operands by their types notices errors there. If it does not read one, all are checked, in their order.
        let reads_all = signature.calls.is_none()
            && !signature.takes_any_state
            && !signature.operands.iter().any(|t| t.is_empty());
        let reads_rest = signature.rest.is_some_and(|types| !types.is_empty());
        let reads = |i: usize| {
            reads_all
                && mode(i) == OperandMode::Required
                && i < n
                && (i < signature.operands.len() || reads_rest)
        };
        let propagates = |&i: &usize| matches!(mode(i), OperandMode::Required | OperandMode::Order);
        let reads_those = (0..operands.len()).filter(propagates).all(reads);
        let checked = (0..operands.len()).filter(|i| !reads_those && propagates(i));
        kernels.push(KernelPlan {
            run: known.run,
            operands: Span::push(&mut lists, passed),
            checked: Span::push(&mut lists, checked.map(|i| operands[i])),
            attrs: Span::push(&mut lists, kernel.attrs().iter().map(|id| id.0)),
            immediates: Span::push(
                &mut immediates,
                kernel.attrs().iter().map(|&id| immediate(&image.attr(id))),
            ),
            functions: Span::push(&mut lists, kernel.functions().iter().map(|id| id.0)),
            given: Span::default(),
            first_result: kernel.first_result(),
            // As wide as in the file.
            n_results: kernel.n_results() as u16,
        });
    }
    FunctionPlan {
        index: function.index(),
        n_args: function.n_args(),
        n_registers: function.n_registers(),
        results: function.results().into(),
        repeats_results: {
            let mut seen = vec![false; function.n_registers() as usize];
            function.results().iter().any(|&register| std::mem::replace(&mut seen[register as usize], true))
        },
        carries_directly: function
            .results()
            .iter()
            .enumerate()
            .all(|(i, &register)| register >= function.n_args() || register as usize == i),
        retired: Box::default(),
        lists: lists.into(),
        immediates: immediates.into(),
        kernels: kernels.into(),
        line: None,
        general: OnceLock::new(),
    }
}

/// The order in which the kernels of a function run on one thread when nothing has to wait: that of ready counters, newest-first
/// used-by lists and a stack. `None` if the function itself has something that may wait.
fn line_order(function: &FunctionView<'_, '_>, resolved: &[Kernel]) -> Option<Vec<u32>> {
    if function.kind() == FunctionKind::Native {
        return None;
    }
    let n = function.n_kernels();
    let first_stream = function.kernels().next().map(|kernel| kernel.stream());
    let mut left = Vec::with_capacity(n as usize);
    for kernel in function.kernels() {
        let completion = resolved[kernel.code().index()].signature.completion;
        if completion == Completion::Async || kernel.is_any() || Some(kernel.stream()) != first_stream {
            return None;
        }
        left.push(kernel.ready_count());
    }
    let Listeners { users, after_users, any_users: _ } = Listeners::new(function);
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
        release(users.get(argument), &mut left, &mut stack);
        release(after_users.get(argument), &mut left, &mut stack);
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
            release(users.get(register), &mut left, &mut stack);
        }
        for register in results {
            release(after_users.get(register), &mut left, &mut stack);
        }
    }
    // Producers come first in the file and counts are validated, so every kernel becomes ready.
    (order.len() == n as usize).then_some(order)
}

/// Which functions have a line: those with an order whose callees all have one. The greatest such set, so recursion is no obstacle.
fn with_lines(image: &Image<'_>, orders: &[Option<Vec<u32>>]) -> Vec<bool> {
    let mut calls = Vec::new();
    for function in image.functions() {
        for kernel in function.kernels() {
            calls.extend(kernel.functions().iter().map(|callee| (callee.0, function.index())));
        }
    }
    let callers = Lists::newest_first(image.n_functions(), &calls);
    let mut has_line: Vec<bool> = orders.iter().map(Option::is_some).collect();
    let mut without: Vec<u32> = (0..image.n_functions()).filter(|&f| !has_line[f as usize]).collect();
    while let Some(function) = without.pop() {
        for &caller in callers.get(function) {
            if std::mem::replace(&mut has_line[caller as usize], false) {
                without.push(caller);
            }
        }
    }
    has_line
}

/// The steps in order, each followed by the freeing of what it is the last to read. `inline`: by type, whether its values need no release.
fn line(
    inline: &[bool],
    function: &FunctionView<'_, '_>,
    plan: &mut FunctionPlan,
    order: &[u32],
    resolved: &[Kernel],
) -> Box<[Step]> {
    let n_slots = plan.n_slots();
    let mut lists = std::mem::take(&mut plan.lists).into_vec();
    let mut is_needed = vec![false; plan.n_registers as usize];
    for &register in &plan.results {
        is_needed[register as usize] = true;
    }
    let mut steps = Vec::with_capacity(order.len() + 1);
    steps.push(Step::NONE);
    let mut retired = Vec::new();
    // From the last to the first.
    for &k in order.iter().rev() {
        let kernel = function.kernel(k);
        let mut last_use = |register: &u32| {
            let is_inline = inline[function.register_type(*register).index()];
            !std::mem::replace(&mut is_needed[*register as usize], true) && !is_inline
        };
        let results = kernel.first_result()..kernel.first_result() + kernel.n_results();
        // A result that nobody reads is freed after its own kernel.
        let mut freed: Vec<u32> = results.filter(&mut last_use).collect();
        let read: Vec<u32> = kernel.operands().iter().copied().filter(&mut last_use).collect();
        // A kernel that calls gives to its callee what it need not keep.
        if resolved[kernel.code().index()].signature.calls.is_some() {
            plan.kernels[k as usize].given = Span::push(&mut lists, read.into_iter());
        } else {
            freed.extend(read);
        }
        if !freed.is_empty() {
            steps.push(Step::retire(retired.len() as u32, n_slots));
            retired.push(Span::push(&mut lists, freed.into_iter()));
        }
        let known = &plan.kernels[k as usize];
        let step = Step::new(known, k, known.operands.of(&lists), known.first_result, n_slots);
        steps.push(if known.checked.n > 0 { step.checked() } else { step });
    }
    steps.reverse();
    plan.lists = lists.into();
    plan.retired = retired.into();
    steps.into()
}
