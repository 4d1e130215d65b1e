//! The general plan: whom to tell of what, and which registers may be read before their writer has finished.

use std::ops::Range;

use bef_format::{FunctionView, Image, OperandMode};

use super::line::{INLINE_OPERANDS, Step};
use super::{FunctionPlan, KernelPlan, Lists, Span};
use crate::value::scalar_tag;

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
    pub(super) fn new(function: &FunctionView<'_, '_>) -> Listeners {
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
    pub(super) fn new(function: &FunctionView<'_, '_>, image: &Image<'_>, plan: &FunctionPlan) -> General {
        let n_registers = function.n_registers();
        let mut reads = vec![0u32; n_registers as usize];
        let mut is_async = vec![false; n_registers as usize];
        let counted: Vec<bool> = image.types().map(|ty| scalar_tag(ty).is_none()).collect();
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
