//! Execution plans of functions, computed once.
//!
//! A function has up to two plans, chosen per call:
//!
//! * The *sequential* plan, of a function whose kernels are all synchronous, of one stream, and call only
//!   functions that have a sequential plan too. With final arguments such a function never has to wait, and
//!   the order of its kernels does not depend on any value. So the order that ready counters and the inline
//!   stack would produce (`semantics.md`, "Order") is computed here, and executing it needs neither. Each
//!   step knows which registers it reads for the last time.
//! * The *general* plan: ready counters, lists of users by operand mode, the registers that may be read
//!   before their writer has finished, and straight lines: runs of kernels that need no counters.
//!
//! Execution of the plans is in `exec`.

mod general;
mod launches;
mod queues;
mod sequential;
mod straight;

use std::mem::Discriminant;
use std::sync::OnceLock;

use bef_format::{FunctionKind, FunctionView, Image, OperandMode};

use self::sequential::{
    SequentialPlan, path_functions, sequential_functions, sequential_order, sequential_plan,
};
use super::check::n_passed;
use super::kernels::Kernels;
use befrost_kernel_api::executor::{
    KernelEntry, KernelRef, KernelTable, LoadedFile, SharedData, Span, head_of, immediate, scalar_tag,
};
use befrost_kernel_api::kernel::{Completion, Form};
use befrost_kernel_api::launch::launch;
use befrost_kernel_api::value::Value;

pub(crate) use self::general::{GeneralKernel, GeneralPlan, Operand, User};
pub(crate) use self::sequential::{CallTarget, Carry, Move};
pub(crate) use self::straight::{OutsideUse, StraightKernel, StraightLine};

/// The executor's part of a kernel's description. The rest is in [`KernelEntry`] and
/// [`Step`](befrost_kernel_api::executor::Step).
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelPlan {
    /// Possible callees in the sequential plan, by function of the kernel; in `SequentialPlan::targets`.
    pub(crate) targets: Span,
    /// Number of the operand that is the callees' first argument, if the kernel calls functions.
    pub(crate) first_passed: Option<u32>,
    pub(crate) first_result: u32,
    pub(crate) n_results: u16,
    /// Whether the kernel runs when the first of its data operands is final.
    pub(crate) is_any: bool,
    /// Whether its required operands may be errors or dead.
    pub(crate) observes: bool,
    /// Number of events that the kernel waits for.
    pub(crate) ready_count: u32,
    /// Whether the kernel's results are final when it has run. False for kernels that call functions.
    pub(crate) is_sync: bool,
    /// Whether a result may become final after the kernel has run, other than by calls.
    pub(crate) is_late: bool,
    /// Whether the kernel defers its long part to a task.
    pub(crate) defers: bool,
}

/// The queue of a function without kernels: any.
pub(crate) const ANY_QUEUE: u16 = u16::MAX;

/// Plans of a function.
pub(crate) struct FunctionPlan {
    /// Description of the function for its kernels.
    pub(crate) table: KernelTable,
    pub(crate) n_args: u32,
    pub(crate) n_registers: u32,
    pub(crate) results: Box<[u32]>,
    /// Whether the function is native code.
    pub(crate) is_native: bool,
    /// Whether the kernels run in the order of the program, up to the first that fails.
    pub(crate) is_sync: bool,
    pub(crate) arg_types: Box<[ArgType]>,
    /// By kernel index.
    pub(crate) kernels: Box<[KernelPlan]>,
    /// Whether a kernel of the function, or of a direct or indirect callee, asks for its frame path.
    pub(crate) needs_path: bool,
    pub(crate) has_sequential_plan: bool,
    /// The device on whose queue each kernel runs, by kernel index. Empty if all run on the client's.
    pub(crate) queues: Box<[u16]>,
    /// The device on whose queue all kernels of a function with a sequential plan run, or [`ANY_QUEUE`].
    pub(crate) queue: u16,
    /// The sequential plan. An empty plan if there is none.
    pub(crate) sequential: SequentialPlan,
    general: OnceLock<GeneralPlan>,
    /// The general plan for seeded queues, without straight lines.
    seeded: OnceLock<GeneralPlan>,
}

impl FunctionPlan {
    /// Whether the function can be called with these arguments.
    #[inline]
    pub(crate) fn accepts(&self, arguments: &[Value]) -> bool {
        !self.is_native
            && arguments.len() == self.arg_types.len()
            && self.arg_types.iter().zip(arguments).all(|(ty, argument)| ty.accepts(argument))
    }

    /// Whether the function runs sequentially on the queue of device `queue`. A seed chooses another order,
    /// but a synchronous function has only one.
    #[inline]
    pub(crate) fn runs_sequentially(&self, is_seeded: bool, queue: u16) -> bool {
        self.has_sequential_plan
            && (!is_seeded || self.is_sync)
            && (self.queue == queue || self.queue == ANY_QUEUE)
    }

    /// The device on whose queue a kernel runs.
    #[inline]
    pub(crate) fn queue_of(&self, kernel: u32) -> u16 {
        self.queues.get(kernel as usize).copied().unwrap_or(0)
    }

    /// Number of results of a kernel that runs the function. With `is_while` the last result is the condition
    /// of a loop, and no result of the kernel.
    #[inline]
    pub(crate) fn n_results(&self, is_while: bool) -> usize {
        self.results.len().saturating_sub(usize::from(is_while))
    }

    /// Number of the function.
    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.table.function
    }

    /// Number of slots of a frame: one for each register, and a last one that holds a chain, for control
    /// edges that a kernel has declared as chain operands.
    #[inline]
    pub(crate) fn n_slots(&self) -> usize {
        self.table.n_slots
    }

    /// The general plan, made on first use. A seed may choose among all ready kernels, so the plan for a
    /// seeded queue has no straight lines.
    #[inline]
    pub(crate) fn general(&self, image: &Image<'_>, is_seeded: bool) -> &GeneralPlan {
        let plan = if is_seeded { &self.seeded } else { &self.general };
        plan.get_or_init(|| GeneralPlan::new(&image.function(self.index()), image, self, !is_seeded))
    }
}

/// Type of an argument of a call from outside.
pub(crate) struct ArgType {
    /// Tag of scalars of the type.
    tag: Option<Discriminant<Value>>,
    name: Box<str>,
    /// The length of the name's head, if it has parameters.
    n_head: Option<usize>,
}

impl ArgType {
    fn new(name: &str) -> ArgType {
        ArgType { tag: scalar_tag(name), name: name.into(), n_head: head_of(name).map(str::len) }
    }

    /// Whether a value may be passed. Errors, dead and unavailable values may.
    #[inline]
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        let head = || self.n_head.and_then(|n| self.name.get(..n));
        self.tag == Some(std::mem::discriminant(value)) || value.may_be_of(&self.name, head()) != Some(false)
    }
}

/// Lists of numbers, stored one after the other (compressed rows).
struct AdjacencyLists {
    starts: Box<[u32]>,
    items: Box<[u32]>,
}

impl AdjacencyLists {
    #[inline]
    fn get(&self, i: u32) -> &[u32] {
        self.span(i, 1).of(&self.items)
    }

    /// Span of the items of `n` lists, from list `i` on.
    #[inline]
    fn span(&self, i: u32, n: u16) -> Span {
        let starts = self.starts.get(i as usize..).unwrap_or_default();
        match (starts.first(), starts.get(usize::from(n))) {
            (Some(&first), Some(&end)) => Span { first, n: end - first },
            _ => Span::default(),
        }
    }

    /// Makes `n` lists from pairs of list number and item. The items of each list are in the reverse order of
    /// the pairs.
    fn newest_first(n: u32, pairs: &[(u32, u32)]) -> AdjacencyLists {
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
        AdjacencyLists { starts: starts.into(), items: items.into() }
    }
}

/// Plans all functions of a checked image.
pub(super) fn plan(file: &LoadedFile, kernels: &Kernels) -> Box<[FunctionPlan]> {
    let image = file.image();
    let shared = SharedData::default();
    let mut plans: Vec<FunctionPlan> =
        image.functions().map(|f| plan_function(file, &f, kernels, &shared)).collect();
    let n_args: Vec<u32> = plans.iter().map(|plan| plan.n_args).collect();
    let planned = plans.iter().zip(image.functions());
    let mut orders: Vec<Option<Vec<u32>>> = planned.map(|(plan, f)| sequential_order(&f, plan)).collect();
    if file.devices().has_queues() {
        queues::end_at_other_queues(image, &mut plans, &mut orders);
    }
    let has_sequential_plan = sequential_functions(image, &orders);
    let inline: Vec<bool> = image.types().map(|ty| scalar_tag(ty).is_some()).collect();
    let needs_path = path_functions(image, kernels);
    for ((plan, function), order) in plans.iter_mut().zip(image.functions()).zip(&orders) {
        plan.needs_path = needs_path[function.index() as usize];
        if has_sequential_plan[function.index() as usize]
            && let Some(order) = order
        {
            plan.sequential =
                sequential_plan((&inline, &n_args, &needs_path), &function, plan, order, kernels);
            plan.has_sequential_plan = true;
        }
    }
    plans.into()
}

fn plan_function(
    file: &LoadedFile,
    function: &FunctionView<'_, '_>,
    resolved: &Kernels,
    shared: &SharedData,
) -> FunctionPlan {
    let image = file.image();
    let mut entries = Vec::with_capacity(function.n_kernels() as usize);
    let (mut lists, mut immediates) = (Vec::new(), Vec::new());
    let (mut kernels, mut launches) = (Vec::with_capacity(function.n_kernels() as usize), Vec::new());
    let mut constants = launches::FileConstants::default();
    for (i, kernel) in function.kernels().enumerate() {
        let at = KernelRef { function: function.index(), kernel: i as u32 };
        let known = resolved.of(&kernel);
        let signature = &known.signature;
        let code = known.code_for(&file.use_of(known.name, at, shared));
        let is_own = resolved.is_own(&kernel);
        let launched = launches::entry(file, &mut constants, function, &kernel, (known, code), is_own);
        constants.record(&kernel, signature);
        let is_late = launches::is_late(file, signature, launched.as_ref());
        let operands = kernel.operands();
        // The flag has no meaning for a kernel that reads its operands: it waits for all of them.
        let is_any = kernel.is_any() && signature.takes_all_in_any_state();
        let mode = |i: usize| match kernel.operand_mode(i as u32) {
            OperandMode::Required if is_any => OperandMode::Lenient,
            mode => mode,
        };
        let n = n_passed(&kernel, signature, |i| image.type_name(function.register_type(operands[i])));
        let passed = operands.iter().enumerate().take(n).map(|(i, &register)| match mode(i) {
            OperandMode::Required | OperandMode::Lenient => register,
            OperandMode::Order | OperandMode::After => function.n_registers(),
        });
        // A kernel that reads its operands by type notices errors itself. If it does not read all of them,
        // all are checked, in order.
        let reads_all = signature.calls.is_none()
            && launched.is_none()
            && !signature.takes_any_state
            && !signature.operands.iter().any(|t| t.is_empty());
        let reads_rest = signature.rest.is_some_and(|types| !types.is_empty());
        let reads = |i: usize| {
            reads_all
                && mode(i) == OperandMode::Required
                && i < n
                && (i < signature.operands.len() || reads_rest)
        };
        let observes = signature.observes;
        let propagates = |&i: &usize| match mode(i) {
            OperandMode::Required => !observes,
            mode => mode == OperandMode::Order,
        };
        let reads_those = (0..operands.len()).filter(propagates).all(reads);
        let checked = (0..operands.len()).filter(|i| !reads_those && propagates(i));
        let is_counted = |&i: &usize| mode(i) != OperandMode::Lenient;
        let ready_count = match kernel.is_any() && !is_any {
            true => (0..operands.len()).filter(is_counted).count() as u32,
            false => kernel.ready_count(),
        };
        entries.push(KernelEntry {
            run: if launched.is_some() { launch } else { code },
            operands: Span::push(&mut lists, passed),
            last_uses: Span::default(),
            checked: Span::push(&mut lists, checked.map(|i| operands[i])),
            attrs: Span::push(&mut lists, kernel.attrs().iter().map(|id| id.0)),
            immediates: Span::push(
                &mut immediates,
                kernel.attrs().iter().map(|&id| immediate(&image.attr(id))),
            ),
            functions: Span::push(&mut lists, kernel.functions().iter().map(|id| id.0)),
            prepared: file.prepared_at(at),
            device: file.devices().of(&kernel),
            launch: launched.as_ref().map(|_| launches.len() as u32),
            stores_all: launched.is_none() && signature.stores_all
                || signature.calls.is_some_and(|shape| shape.form != Form::Own),
        });
        launches.extend(launched);
        kernels.push(KernelPlan {
            targets: Span::default(),
            first_passed: signature.calls.map(|shape| shape.first_operand),
            first_result: kernel.first_result(),
            // The file has 16 bits for this number.
            n_results: kernel.n_results() as u16,
            is_any,
            observes,
            ready_count,
            is_sync: signature.completion == Completion::Sync && signature.calls.is_none() && !is_late,
            is_late,
            defers: signature.completion == Completion::Async,
        });
    }
    let table = KernelTable {
        function: function.index(),
        n_slots: function.n_registers() as usize + 1,
        lists: lists.into(),
        immediates: immediates.into(),
        kernels: entries.into(),
        retired: Box::default(),
        launches: launches.into(),
    };
    FunctionPlan {
        table,
        n_args: function.n_args(),
        n_registers: function.n_registers(),
        results: function.results().into(),
        is_native: function.kind() == FunctionKind::Native,
        is_sync: function.kind() == FunctionKind::Sync,
        queues: queues::of_kernels(file.devices(), function),
        queue: 0,
        arg_types: (0..function.n_args()).map(|i| ArgType::new(function.arg_type(i))).collect(),
        kernels: kernels.into(),
        needs_path: false,
        has_sequential_plan: false,
        sequential: SequentialPlan::none(),
        general: OnceLock::new(),
        seeded: OnceLock::new(),
    }
}
