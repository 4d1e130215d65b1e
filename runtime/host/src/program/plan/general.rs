//! The general plan: whom to tell of what, and which registers may be read before their writer has finished.

use std::ops::Range;

use bef_format::{FunctionView, Image, OperandMode};

use super::straight::{self, Found, Lines, Member, Site, Straight};
use super::{FunctionPlan, Lists};
use befrost_kernel_api::executor::{CopyStep, Span, scalar_tag};

/// Whom to tell of what.
pub(super) struct Listeners {
    /// Per register: the kernels to tell when it is final, newest first.
    pub(super) users: Lists,
    /// Per register: the kernels to tell when the kernel that writes it has completed.
    pub(super) after_users: Lists,
    /// Per register: the kernels to tell when it is final, that run when their first operand is.
    pub(super) any_users: Lists,
}

impl Listeners {
    /// Those kernels of a function are told that `is_told` says.
    pub(super) fn new(
        function: &FunctionView<'_, '_>,
        plan: &FunctionPlan,
        is_told: impl Fn(u32) -> bool,
    ) -> Listeners {
        let (mut users, mut after_users, mut any_users) = (Vec::new(), Vec::new(), Vec::new());
        let kernels = function.kernels().zip(&plan.kernels).enumerate();
        for (k, (kernel, known)) in kernels.filter(|(k, _)| is_told(*k as u32)) {
            for (i, &register) in kernel.operands().iter().enumerate() {
                match kernel.operand_mode(i as u32) {
                    OperandMode::Order => users.push((register, k as u32)),
                    OperandMode::After => after_users.push((register, k as u32)),
                    _ if known.is_any => any_users.push((register, k as u32)),
                    OperandMode::Required => users.push((register, k as u32)),
                    OperandMode::Lenient => {}
                }
            }
        }
        let lists = |pairs: &[_]| Lists::newest_first(function.n_registers(), pairs);
        Listeners { users: lists(&users), after_users: lists(&after_users), any_users: lists(&any_users) }
    }
}

/// Of a register that nobody reads before its writer has finished.
const NO_PROMISE: u32 = u32::MAX;

/// An operand of a kernel, as the general plan gathers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) register: u32,
    /// Of a kernel that runs when its first operand is final, all data is lenient.
    pub(crate) mode: OperandMode,
    /// Whether the kernel gets it.
    pub(crate) is_passed: bool,
}

/// A kernel, which is told of an event, and its stream: in one word, as it is copied as soon as it is
/// written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct User(u64);

impl User {
    fn new(kernel: u32, stream: u32) -> User {
        User(u64::from(kernel) | u64::from(stream) << 32)
    }

    #[inline(always)]
    pub(crate) fn kernel(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) fn stream(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Of a kernel that begins no straight line.
pub(super) const NO_LINE: u32 = u32::MAX;

/// A kernel of the general plan. It runs on copies of its operands: behind them come its results, and then a
/// chain.
pub(crate) struct GeneralKernel {
    step: CopyStep,
    /// Where the results go.
    first_register: u32,
    /// In `General::operands`.
    operands: Span,
    /// The users of its results, in `General::users`.
    users: Span,
    /// The straight line that it begins, whose operands it has, or [`NO_LINE`].
    line: u32,
    /// Whether all operands are required and passed, and nobody counts how often any of them is read.
    pub(crate) gathers_plainly: bool,
    /// Whether it runs when its first operand is final.
    pub(crate) is_any: bool,
    /// Whether there is one result, which nobody looks at before it is told of it, and nobody waits for the
    /// kernel's completion.
    pub(crate) publishes_plainly: bool,
    /// Whether what takes time in it is done later, by a task.
    pub(crate) defers: bool,
}

const _: () = assert!(size_of::<GeneralKernel>() <= 64);

impl GeneralKernel {
    #[inline]
    pub(crate) fn step(&self) -> &CopyStep {
        &self.step
    }

    /// How many operands it gets.
    #[inline]
    pub(crate) fn n_operands(&self) -> usize {
        self.step.n_operands()
    }

    #[inline]
    pub(crate) fn n_results(&self) -> usize {
        self.step.n_results()
    }

    #[inline]
    pub(crate) fn n_slots(&self) -> usize {
        self.step.n_slots()
    }

    /// Whether it begins a straight line.
    #[inline]
    pub(crate) fn is_straight(&self) -> bool {
        self.line != NO_LINE
    }

    /// The registers of the results.
    #[inline]
    pub(crate) fn registers(&self) -> Range<u32> {
        self.first_register..self.first_register + self.n_results() as u32
    }
}

/// How a function is executed when something may have to wait.
pub(crate) struct General {
    pub(crate) kernels: Box<[GeneralKernel]>,
    /// Of each kernel.
    streams: Box<[u32]>,
    /// How many events each kernel waits for.
    pub(crate) ready_counts: Box<[u32]>,
    /// The kernels that wait for none.
    pub(crate) idle: Box<[User]>,
    operands: Box<[Operand]>,
    /// The items of `listeners.users`.
    users: Box<[User]>,
    listeners: Listeners,
    /// Whether any kernel runs when its first operand is final.
    pub(crate) has_any: bool,
    /// Per kernel: how many operands are data, if it runs when the first of them is final; else 0. Empty if
    /// there is none.
    pub(crate) n_any: Box<[u32]>,
    lines: Box<[Straight]>,
    pub(crate) members: Box<[Member]>,
    /// Of `members`.
    pub(crate) member_lists: Box<[u32]>,
    /// Whether any kernel waits for a completion.
    pub(crate) has_after: bool,
    /// Per register: how many times it is read, for those whose values are worth freeing early; else 0.
    pub(crate) reads: Box<[u32]>,
    /// Whether there is one.
    pub(crate) counts_reads: bool,
    /// The arguments that nobody reads and that are worth freeing.
    pub(crate) unread_arguments: Box<[u32]>,
    /// The registers that may be read before their writer has finished.
    pub(crate) async_registers: Box<[u32]>,
    /// Per register: which of these it is, or [`NO_PROMISE`]. Empty if there is none.
    promises: Box<[u32]>,
}

impl General {
    /// `is_straight`: with straight lines.
    pub(super) fn new(
        function: &FunctionView<'_, '_>,
        image: &Image<'_>,
        plan: &FunctionPlan,
        is_straight: bool,
    ) -> General {
        let n_registers = function.n_registers();
        let mut reads = vec![0u32; n_registers as usize];
        let mut is_async = vec![false; n_registers as usize];
        let counted: Vec<bool> = image.types().map(|ty| scalar_tag(ty).is_none()).collect();
        let is_counted = |register: u32| counted[function.register_type(register).index()];
        let listeners = Listeners::new(function, plan, |_| true);
        let (has_any, has_after) =
            (!listeners.any_users.items.is_empty(), !listeners.after_users.items.is_empty());
        let found = if is_straight && !has_any && !has_after {
            straight::find(function, plan, &listeners)
        } else {
            Found::default()
        };
        let listeners = Listeners::new(function, plan, |kernel| !found.follows(kernel));
        let (mut operands, mut kernels, mut n_any) = (Vec::new(), Vec::new(), Vec::new());
        let (mut entering, mut lines) = (Vec::new(), Lines::default());
        let used_outside = found.used_outside(function);
        for line in &found.lines {
            let site = Site { function, plan, is_counted: &is_counted, is_used_outside: &used_outside };
            entering.push(lines.push(&site, line));
        }
        for (k, (kernel, known)) in function.kernels().zip(&plan.kernels).enumerate() {
            let (entry, k) = (&plan.table.kernels[k], k as u32);
            let is_data = |mode: OperandMode| matches!(mode, OperandMode::Required | OperandMode::Lenient);
            let mode = |i: usize| match kernel.operand_mode(i as u32) {
                mode if known.is_any && is_data(mode) => OperandMode::Lenient,
                mode => mode,
            };
            let n = kernel.operands().len();
            // A straight line reads what enters, all at once.
            let line = found.begun_by(k);
            let all: Vec<Operand> = match line {
                Some(line) => {
                    let required =
                        |&register| Operand { register, mode: OperandMode::Required, is_passed: true };
                    entering[line as usize].iter().map(required).collect()
                }
                None if found.follows(k) => Vec::new(),
                None => {
                    let is_passed = |i| i < entry.operands.n as usize;
                    let all = kernel.operands().iter().enumerate();
                    all.map(|(i, &register)| Operand { register, mode: mode(i), is_passed: is_passed(i) })
                        .collect()
                }
            };
            for operand in &all {
                let &Operand { register, mode, is_passed: _ } = operand;
                if mode == OperandMode::Lenient && register >= function.n_args() {
                    is_async[register as usize] = true;
                }
                if mode != OperandMode::After && is_counted(register) {
                    reads[register as usize] += 1;
                }
            }
            if has_any {
                let n_data = (0..n).filter(|&i| is_data(mode(i))).count() as u32;
                n_any.push(if known.is_any { n_data } else { 0 });
            }
            let n_passed = all.iter().filter(|operand| operand.is_passed).count() as u32;
            let is_plain = |operand: &Operand| {
                operand.is_passed && operand.mode == OperandMode::Required && !is_counted(operand.register)
            };
            kernels.push(GeneralKernel {
                step: CopyStep::new(entry.run, k, n_passed, known.n_results),
                first_register: known.first_result,
                gathers_plainly: all.iter().all(is_plain),
                operands: Span::push(&mut operands, all.into_iter()),
                users: listeners.users.span(known.first_result, known.n_results),
                line: line.unwrap_or(NO_LINE),
                is_any: known.is_any,
                publishes_plainly: known.n_results == 1 && !has_any && !has_after,
                defers: known.defers,
            });
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
        let counts_reads = reads.iter().any(|&count| count > 0);
        let is_unread = |&register: &u32| is_counted(register) && reads[register as usize] == 0;
        for kernel in &mut kernels {
            kernel.publishes_plainly &= !is_async.get(kernel.first_register as usize).is_some_and(|&is| is);
        }
        let async_registers: Box<[u32]> = (0..n_registers).filter(|&r| is_async[r as usize]).collect();
        let mut promises = vec![NO_PROMISE; if async_registers.is_empty() { 0 } else { is_async.len() }];
        for (i, &register) in async_registers.iter().enumerate() {
            promises[register as usize] = i as u32;
        }
        let streams: Box<[u32]> = function.kernels().map(|k| k.stream()).collect();
        let user = |kernel: u32| User::new(kernel, streams[kernel as usize]);
        let ready_counts: Box<[u32]> = plan.kernels.iter().map(|known| known.ready_count).collect();
        let idle = ready_counts.iter().enumerate().filter(|(_, count)| **count == 0);
        General {
            idle: idle.map(|(k, _)| user(k as u32)).collect(),
            ready_counts,
            users: listeners.users.items.iter().map(|&kernel| user(kernel)).collect(),
            has_after,
            has_any,
            n_any: n_any.into(),
            lines: lines.lines.into(),
            members: lines.members.into(),
            member_lists: lines.lists.into(),
            operands: operands.into(),
            listeners,
            counts_reads,
            unread_arguments: (0..function.n_args()).filter(is_unread).collect(),
            reads: reads.into(),
            async_registers,
            promises: promises.into(),
            kernels: kernels.into(),
            streams,
        }
    }

    /// The straight line that a kernel begins.
    #[inline]
    pub(crate) fn line(&self, kernel: &GeneralKernel) -> Option<&Straight> {
        self.lines.get(kernel.line as usize)
    }

    /// Which of the async registers `register` is.
    #[inline]
    pub(crate) fn promise_of(&self, register: u32) -> Option<usize> {
        match self.promises.get(register as usize) {
            None | Some(&NO_PROMISE) => None,
            Some(&i) => Some(i as usize),
        }
    }

    /// A kernel that is told of something that few are told of.
    pub(crate) fn user(&self, kernel: u32) -> User {
        User::new(kernel, self.streams[kernel as usize])
    }

    /// The kernels to tell when `register` is final.
    #[inline]
    pub(crate) fn users(&self, register: u32) -> &[User] {
        self.listeners.users.span(register, 1).of(&self.users)
    }

    /// The kernels to tell when the results of a kernel are final.
    #[inline]
    pub(crate) fn users_of(&self, kernel: &GeneralKernel) -> &[User] {
        kernel.users.of(&self.users)
    }

    /// The kernels to tell when `register` is final, that run when their first operand is.
    pub(crate) fn any_users(&self, register: u32) -> &[u32] {
        self.listeners.any_users.get(register)
    }

    /// The operands of a kernel.
    #[inline]
    pub(crate) fn operands(&self, kernel: &GeneralKernel) -> &[Operand] {
        kernel.operands.of(&self.operands)
    }

    /// The kernels to tell when the kernel that writes `register` has completed.
    pub(crate) fn after_users(&self, register: u32) -> &[u32] {
        self.listeners.after_users.get(register)
    }
}
