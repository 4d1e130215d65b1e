//! The general plan: users of each value, and the registers that may be read before their writer has
//! finished.

use std::collections::BTreeMap;
use std::ops::Range;

use bef_format::{FunctionView, Image, OperandMode};

use super::straight::{
    self, StraightKernel, StraightLine, StraightLineBuilder, StraightLineContext, StraightLines,
};
use super::{AdjacencyLists, FunctionPlan};
use befrost_kernel_api::executor::scalar_tag;
use befrost_kernel_api::executor::{CopyStep, Span};

/// Users of registers, by event.
pub(super) struct Users {
    /// Per register: the kernels to notify when it is final, newest first.
    pub(super) on_final: AdjacencyLists,
    /// Per register: the kernels to notify when the kernel that writes it has completed.
    pub(super) on_completion: AdjacencyLists,
    /// Per register: the kernels to notify when it is final, of those that run when their first operand is
    /// final.
    pub(super) on_first: AdjacencyLists,
}

impl Users {
    /// Lists of the users among the kernels selected by `is_notified`.
    pub(super) fn new(
        function: &FunctionView<'_, '_>,
        plan: &FunctionPlan,
        is_notified: impl Fn(u32) -> bool,
    ) -> Users {
        let (mut on_final, mut on_completion, mut on_first) = (Vec::new(), Vec::new(), Vec::new());
        let kernels = function.kernels().zip(&plan.kernels).enumerate();
        for (k, (kernel, known)) in kernels.filter(|(k, _)| is_notified(*k as u32)) {
            for (i, &register) in kernel.operands().iter().enumerate() {
                match kernel.operand_mode(i as u32) {
                    OperandMode::Order => on_final.push((register, k as u32)),
                    OperandMode::After => on_completion.push((register, k as u32)),
                    _ if known.is_any => on_first.push((register, k as u32)),
                    OperandMode::Required => on_final.push((register, k as u32)),
                    OperandMode::Lenient => {}
                }
            }
        }
        let lists = |pairs: &[_]| AdjacencyLists::newest_first(function.n_registers(), pairs);
        Users { on_final: lists(&on_final), on_completion: lists(&on_completion), on_first: lists(&on_first) }
    }
}

/// Index of a register without promise: it is not read before its writer has finished.
const NO_PROMISE: u32 = u32::MAX;

/// An operand of a kernel in the general plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) register: u32,
    /// Lenient for all data operands of a kernel that runs when its first operand is final.
    pub(crate) mode: OperandMode,
    /// Whether the operand is passed to the kernel. Control edges may not be.
    pub(crate) is_passed: bool,
}

/// A kernel to be notified of an event, and its stream. Packed into one word, because it is copied right
/// after it is written.
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

/// Index of a kernel that begins no straight line.
pub(super) const NO_LINE: u32 = u32::MAX;

/// A kernel of the general plan. It runs on copies of its operands, followed by its results and a chain.
pub(crate) struct GeneralKernel {
    step: CopyStep,
    /// First register of the results.
    first_register: u32,
    /// In `GeneralPlan::operands`.
    operands: Span,
    /// Users of the results, in `GeneralPlan::users`.
    users: Span,
    /// The straight line that begins with this kernel, whose operands are the inputs of the line; or
    /// [`NO_LINE`].
    straight_line: u32,
    /// Whether all operands are required and passed.
    pub(crate) has_required_operands: bool,
    /// Whether, besides, none of them is counted and all must be concrete.
    pub(crate) has_plain_operands: bool,
    /// Whether the kernel runs when its first operand is final.
    pub(crate) is_any: bool,
    /// Whether its required operands may be errors or dead.
    pub(crate) observes: bool,
    /// Whether the kernel has one result, which is not read before its users are notified, and no kernel
    /// waits for its completion.
    pub(crate) has_plain_result: bool,
    /// Whether the kernel defers its long part to a task.
    pub(crate) defers: bool,
    /// Whether a result may become final after the kernel has run, other than by calls.
    pub(crate) is_late: bool,
}

const _: () = assert!(size_of::<GeneralKernel>() <= 64);

impl GeneralKernel {
    #[inline]
    pub(crate) fn step(&self) -> &CopyStep {
        &self.step
    }

    /// Number of operands that are passed to the kernel.
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

    /// Whether a straight line begins with this kernel.
    #[inline]
    pub(crate) fn begins_straight_line(&self) -> bool {
        self.straight_line != NO_LINE
    }

    /// Registers of the results.
    #[inline]
    pub(crate) fn registers(&self) -> Range<u32> {
        self.first_register..self.first_register + self.n_results() as u32
    }
}

/// Plan of a function in which something may have to wait.
pub(crate) struct GeneralPlan {
    pub(crate) kernels: Box<[GeneralKernel]>,
    /// By kernel.
    streams: Box<[u32]>,
    /// By stream: the device on whose queue its kernels run. Empty if all run on the client's.
    stream_queues: Box<[u16]>,
    /// By kernel: number of events that it waits for.
    pub(crate) ready_counts: Box<[u32]>,
    /// Kernels that wait for no event.
    pub(crate) idle: Box<[User]>,
    operands: Box<[Operand]>,
    /// The items of `user_lists.on_final`.
    users: Box<[User]>,
    user_lists: Users,
    /// Whether a kernel runs when its first operand is final.
    pub(crate) has_any: bool,
    /// By kernel: number of data operands, if it runs when the first of them is final; else 0. Empty if there
    /// is no such kernel.
    pub(crate) n_any: Box<[u32]>,
    straight_lines: Box<[StraightLine]>,
    pub(crate) members: Box<[StraightKernel]>,
    /// Lists of `members`.
    pub(crate) member_lists: Box<[u32]>,
    /// Whether a kernel waits for the completion of another one.
    pub(crate) has_after: bool,
    /// By register: number of reads, if its value is worth freeing early; else 0.
    pub(crate) reads: Box<[u32]>,
    /// Whether any register is counted in `reads`.
    pub(crate) counts_reads: bool,
    /// Arguments that are never read and are worth freeing.
    pub(crate) unread_arguments: Box<[u32]>,
    /// Results that are never read and are worth freeing, ascending.
    unread_results: Box<[u32]>,
    /// Registers that may be read before their writer has finished.
    pub(crate) async_registers: Box<[u32]>,
    /// By register: its index in `async_registers`, or [`NO_PROMISE`]. Empty if there are none.
    promises: Box<[u32]>,
}

/// The stream of each kernel, and the queue of each stream. A stream of the file that has kernels of several
/// queues becomes as many.
fn streams(function: &FunctionView<'_, '_>, queues: &[u16]) -> (Box<[u32]>, Box<[u16]>) {
    let of_file = function.kernels().map(|kernel| kernel.stream());
    if queues.is_empty() {
        return (of_file.collect(), Box::default());
    }
    let (mut known, mut stream_queues) = (BTreeMap::new(), Vec::new());
    let streams = of_file.zip(queues).map(|(stream, &queue)| {
        *known.entry((queue, stream)).or_insert_with(|| {
            stream_queues.push(queue);
            stream_queues.len() as u32 - 1
        })
    });
    let streams = streams.collect();
    (streams, stream_queues.into())
}

impl GeneralPlan {
    /// Makes the plan, with or without straight lines.
    pub(super) fn new(
        function: &FunctionView<'_, '_>,
        image: &Image<'_>,
        plan: &FunctionPlan,
        with_straight_lines: bool,
    ) -> GeneralPlan {
        let n_registers = function.n_registers();
        let mut reads = vec![0u32; n_registers as usize];
        let mut is_async = vec![false; n_registers as usize];
        let counted: Vec<bool> = image.types().map(|ty| scalar_tag(ty).is_none()).collect();
        let is_counted = |register: u32| counted[function.register_type(register).index()];
        let user_lists = Users::new(function, plan, |_| true);
        let (has_any, has_after) =
            (!user_lists.on_first.items.is_empty(), !user_lists.on_completion.items.is_empty());
        let has_observers = plan.kernels.iter().any(|known| known.observes);
        let found = if with_straight_lines && !has_any && !has_after && !has_observers {
            straight::find(function, plan, &user_lists)
        } else {
            StraightLines::default()
        };
        let user_lists = Users::new(function, plan, |kernel| !found.follows(kernel));
        let (mut operands, mut kernels, mut n_any) = (Vec::new(), Vec::new(), Vec::new());
        let (mut inputs, mut lines) = (Vec::new(), StraightLineBuilder::default());
        let used_outside = found.used_outside(function);
        for line in &found.lines {
            let cx = StraightLineContext {
                function,
                plan,
                is_counted: &is_counted,
                is_used_outside: &used_outside,
            };
            inputs.push(lines.push(&cx, line));
        }
        for (k, (kernel, known)) in function.kernels().zip(&plan.kernels).enumerate() {
            let (entry, k) = (&plan.table.kernels[k], k as u32);
            let is_data = |mode: OperandMode| matches!(mode, OperandMode::Required | OperandMode::Lenient);
            let mode = |i: usize| match kernel.operand_mode(i as u32) {
                mode if known.is_any && is_data(mode) => OperandMode::Lenient,
                mode => mode,
            };
            let n = kernel.operands().len();
            // A straight line reads all its inputs when it begins.
            let line = found.begun_by(k);
            let all: Vec<Operand> = match line {
                Some(line) => {
                    let required =
                        |&register| Operand { register, mode: OperandMode::Required, is_passed: true };
                    inputs[line as usize].iter().map(required).collect()
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
            let is_required = |operand: &Operand| operand.is_passed && operand.mode == OperandMode::Required;
            let has_required_operands = all.iter().all(is_required);
            let has_counted_operands = all.iter().any(|operand| is_counted(operand.register));
            kernels.push(GeneralKernel {
                step: CopyStep::new(entry.run, k, n_passed, known.n_results),
                first_register: known.first_result,
                has_required_operands,
                has_plain_operands: has_required_operands && !has_counted_operands && !known.observes,
                operands: Span::push(&mut operands, all.into_iter()),
                users: user_lists.on_final.span(known.first_result, known.n_results),
                straight_line: line.unwrap_or(NO_LINE),
                is_any: known.is_any,
                observes: known.observes,
                has_plain_result: known.n_results == 1 && !has_any && !has_after,
                defers: known.defers,
                is_late: known.is_late,
            });
        }
        for &register in function.results() {
            // An argument that is returned needs no AsyncValue of its own.
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
            let register = kernel.first_register;
            let is_dropped = kernel.n_results() == 1 && is_unread(&register);
            let is_awaited = is_async.get(register as usize).is_some_and(|&is| is);
            kernel.has_plain_result &= !is_awaited && !is_dropped;
        }
        let async_registers: Box<[u32]> = (0..n_registers).filter(|&r| is_async[r as usize]).collect();
        let mut promises = vec![NO_PROMISE; if async_registers.is_empty() { 0 } else { is_async.len() }];
        for (i, &register) in async_registers.iter().enumerate() {
            promises[register as usize] = i as u32;
        }
        let (streams, stream_queues) = streams(function, &plan.queues);
        let user = |kernel: u32| User::new(kernel, streams[kernel as usize]);
        let ready_counts: Box<[u32]> = plan.kernels.iter().map(|known| known.ready_count).collect();
        let idle = ready_counts.iter().enumerate().filter(|(_, count)| **count == 0);
        GeneralPlan {
            idle: idle.map(|(k, _)| user(k as u32)).collect(),
            ready_counts,
            users: user_lists.on_final.items.iter().map(|&kernel| user(kernel)).collect(),
            has_after,
            has_any,
            n_any: n_any.into(),
            straight_lines: lines.lines.into(),
            members: lines.members.into(),
            member_lists: lines.lists.into(),
            operands: operands.into(),
            user_lists,
            counts_reads,
            unread_arguments: (0..function.n_args()).filter(is_unread).collect(),
            unread_results: (function.n_args()..n_registers).filter(is_unread).collect(),
            reads: reads.into(),
            async_registers,
            promises: promises.into(),
            kernels: kernels.into(),
            streams,
            stream_queues,
        }
    }

    /// The device on whose queue the kernels of a stream run.
    #[inline]
    pub(crate) fn queue_of(&self, stream: u32) -> u16 {
        self.stream_queues.get(stream as usize).copied().unwrap_or(0)
    }

    /// The straight line that begins with a kernel.
    #[inline]
    pub(crate) fn straight_line(&self, kernel: &GeneralKernel) -> Option<&StraightLine> {
        self.straight_lines.get(kernel.straight_line as usize)
    }

    /// Whether the value of a result is dropped as soon as it is made.
    #[inline]
    pub(crate) fn is_unread_result(&self, register: u32) -> bool {
        !self.unread_results.is_empty() && self.unread_results.binary_search(&register).is_ok()
    }

    /// Index of `register` in `async_registers`.
    #[inline]
    pub(crate) fn promise_of(&self, register: u32) -> Option<usize> {
        match self.promises.get(register as usize) {
            None | Some(&NO_PROMISE) => None,
            Some(&i) => Some(i as usize),
        }
    }

    /// A kernel as a user. For the rare events; frequent ones have lists of [`User`].
    pub(crate) fn user(&self, kernel: u32) -> User {
        User::new(kernel, self.streams[kernel as usize])
    }

    /// The kernels to notify when `register` is final.
    #[inline]
    pub(crate) fn users(&self, register: u32) -> &[User] {
        self.user_lists.on_final.span(register, 1).of(&self.users)
    }

    /// The kernels to notify when the results of a kernel are final.
    #[inline]
    pub(crate) fn users_of(&self, kernel: &GeneralKernel) -> &[User] {
        kernel.users.of(&self.users)
    }

    /// The kernels to notify when `register` is final, of those that run when their first operand is final.
    pub(crate) fn any_users(&self, register: u32) -> &[u32] {
        self.user_lists.on_first.get(register)
    }

    /// Operands of a kernel.
    #[inline]
    pub(crate) fn operands(&self, kernel: &GeneralKernel) -> &[Operand] {
        kernel.operands.of(&self.operands)
    }

    /// The kernels to notify when the kernel that writes `register` has completed.
    pub(crate) fn after_users(&self, register: u32) -> &[u32] {
        self.user_lists.on_completion.get(register)
    }
}
