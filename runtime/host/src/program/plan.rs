//! Plans: how each function is executed, computed once.
//!
//! A function has up to two plans, chosen per call:
//!
//! * The *line*: if all kernels are synchronous, of one stream, and call only functions that have a line too,
//!   then with final arguments nothing ever has to wait. Which kernel runs when does not depend on any value,
//!   so the order that ready counters and the inline stack would produce (`semantics.md`, "Order") is
//!   computed here, and executing it needs neither. Each step knows which registers are read for the last
//!   time.
//! * The *general* plan: ready counters, used-by lists by operand mode, the registers that somebody may read
//!   before their writer has finished, and straight lines: runs of kernels that need no counters.
//!
//! Not here: executing either (`exec`).

mod general;
mod line;
mod straight;

use std::mem::Discriminant;
use std::sync::OnceLock;

use bef_format::{FunctionKind, FunctionView, Image, OperandMode};

use self::line::{Line, line, line_order, with_lines, with_paths};
use super::check::n_passed;
use super::kernels::Kernels;
use befrost_kernel_api::executor::{
    KernelEntry, KernelRef, KernelTable, LoadedFile, Span, immediate, scalar_tag,
};
use befrost_kernel_api::kernel::{Completion, Form};
use befrost_kernel_api::value::Value;

pub(crate) use self::general::{General, GeneralKernel, Operand, User};
pub(crate) use self::line::{Carry, Move, Target};
pub(crate) use self::straight::{Member, Out, Straight};

/// What the executor knows of a kernel, apart from its [`KernelEntry`] and what its
/// [`Step`](befrost_kernel_api::executor::Step) has at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelPlan {
    /// In the line: what it may call, function by function; in `Line::targets`.
    pub(crate) targets: Span,
    /// If it calls functions: the operand that is their first argument.
    pub(crate) first_passed: Option<u32>,
    pub(crate) first_result: u32,
    pub(crate) n_results: u16,
    /// Whether it runs when the first of its data operands is final.
    pub(crate) is_any: bool,
    /// How many events it waits for.
    pub(crate) ready_count: u32,
    /// Whether its results are final when it has run, and it calls nothing.
    pub(crate) is_sync: bool,
    /// Whether what takes time in it is done later, by a task.
    pub(crate) defers: bool,
}

/// How a function is executed.
pub(crate) struct FunctionPlan {
    /// What its kernels read of it.
    pub(crate) table: KernelTable,
    pub(crate) n_args: u32,
    pub(crate) n_registers: u32,
    pub(crate) results: Box<[u32]>,
    /// Whether it is native code.
    pub(crate) is_native: bool,
    /// Whether its kernels run in the order of the program, up to the first that fails.
    pub(crate) is_sync: bool,
    pub(crate) arg_types: Box<[ArgType]>,
    /// By kernel index.
    pub(crate) kernels: Box<[KernelPlan]>,
    /// Whether a kernel asks for its frame, here or in a function that is called from here.
    pub(crate) needs_path: bool,
    pub(crate) has_line: bool,
    /// That of a function that does nothing, if it has none.
    pub(crate) line: Line,
    general: OnceLock<General>,
    /// The same where a seed chooses the order.
    seeded: OnceLock<General>,
}

impl FunctionPlan {
    /// Whether it can be called with these arguments.
    #[inline]
    pub(crate) fn accepts(&self, arguments: &[Value]) -> bool {
        !self.is_native
            && arguments.len() == self.arg_types.len()
            && self.arg_types.iter().zip(arguments).all(|(ty, argument)| ty.accepts(argument))
    }

    /// Whether it is executed as a line. A seed chooses another order, but a synchronous function has only
    /// one.
    #[inline]
    pub(crate) fn is_line(&self, is_seeded: bool) -> bool {
        self.has_line && (!is_seeded || self.is_sync)
    }

    /// How many results a kernel gets that has the function run; `is_while`: as long as the last result is
    /// true.
    #[inline]
    pub(crate) fn n_results(&self, is_while: bool) -> usize {
        self.results.len().saturating_sub(usize::from(is_while))
    }

    /// Number of the function.
    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.table.function
    }

    /// How many slots a frame has: one for each register, and behind them one that holds a chain, for edges
    /// that a kernel has declared as a chain.
    #[inline]
    pub(crate) fn n_slots(&self) -> usize {
        self.table.n_slots
    }

    /// The general plan, made when it is first wanted. A seed may choose among all kernels that are ready, so
    /// there are no straight lines then.
    #[inline]
    pub(crate) fn general(&self, image: &Image<'_>, is_seeded: bool) -> &General {
        let plan = if is_seeded { &self.seeded } else { &self.general };
        plan.get_or_init(|| General::new(&image.function(self.index()), image, self, !is_seeded))
    }
}

/// What an argument of a call from outside must be.
pub(crate) struct ArgType {
    /// How scalars of the type are tagged.
    tag: Option<Discriminant<Value>>,
    name: Box<str>,
}

impl ArgType {
    fn new(name: &str) -> ArgType {
        ArgType { tag: scalar_tag(name), name: name.into() }
    }

    /// Whether a value may be passed. Errors, dead and unavailable values may.
    #[inline]
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.tag == Some(std::mem::discriminant(value)) || value.may_be(&self.name) != Some(false)
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
        self.span(i, 1).of(&self.items)
    }

    /// Where the items of `n` lists are, from list `i` on.
    #[inline]
    fn span(&self, i: u32, n: u16) -> Span {
        let starts = self.starts.get(i as usize..).unwrap_or_default();
        match (starts.first(), starts.get(usize::from(n))) {
            (Some(&first), Some(&end)) => Span { first, n: end - first },
            _ => Span::default(),
        }
    }

    /// For each of `n` lists the second halves of the pairs whose first half is its number, the last pair's
    /// first.
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

/// Plans all functions of a checked image.
pub(super) fn plan(file: &LoadedFile, kernels: &Kernels) -> Box<[FunctionPlan]> {
    let image = file.image();
    let mut plans: Vec<FunctionPlan> = image.functions().map(|f| plan_function(file, &f, kernels)).collect();
    let n_args: Vec<u32> = plans.iter().map(|plan| plan.n_args).collect();
    let planned = plans.iter().zip(image.functions());
    let orders: Vec<Option<Vec<u32>>> = planned.map(|(plan, f)| line_order(&f, plan, kernels)).collect();
    let has_line = with_lines(image, &orders);
    let inline: Vec<bool> = image.types().map(|ty| scalar_tag(ty).is_some()).collect();
    let needs_path = with_paths(image, kernels);
    for ((plan, function), order) in plans.iter_mut().zip(image.functions()).zip(&orders) {
        plan.needs_path = needs_path[function.index() as usize];
        if has_line[function.index() as usize]
            && let Some(order) = order
        {
            plan.line = line((&inline, &n_args, &needs_path), &function, plan, order, kernels);
            plan.has_line = true;
        }
    }
    plans.into()
}

fn plan_function(file: &LoadedFile, function: &FunctionView<'_, '_>, resolved: &Kernels) -> FunctionPlan {
    let image = file.image();
    let mut entries = Vec::with_capacity(function.n_kernels() as usize);
    let (mut lists, mut immediates) = (Vec::new(), Vec::new());
    let mut kernels = Vec::with_capacity(function.n_kernels() as usize);
    for (i, kernel) in function.kernels().enumerate() {
        let at = KernelRef { function: function.index(), kernel: i as u32 };
        let known = resolved.of(&kernel);
        let signature = &known.signature;
        let operands = kernel.operands();
        let mode = |i: usize| kernel.operand_mode(i as u32);
        let n = n_passed(&kernel, signature, |i| image.type_name(function.register_type(operands[i])));
        let passed = operands.iter().enumerate().take(n).map(|(i, &register)| match mode(i) {
            OperandMode::Required | OperandMode::Lenient => register,
            OperandMode::Order | OperandMode::After => function.n_registers(),
        });
        // A kernel that reads its operands by their types notices errors there. If it does not read one, all
        // are checked, in their order.
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
        // To a kernel that reads its operands it means nothing that it is marked so: it waits for all of
        // them.
        let is_any = kernel.is_any() && signature.takes_all_in_any_state();
        let is_counted = |&i: &usize| mode(i) != OperandMode::Lenient;
        let ready_count = match kernel.is_any() && !is_any {
            true => (0..operands.len()).filter(is_counted).count() as u32,
            false => kernel.ready_count(),
        };
        entries.push(KernelEntry {
            run: known.run,
            operands: Span::push(&mut lists, passed),
            yields: Span::default(),
            checked: Span::push(&mut lists, checked.map(|i| operands[i])),
            attrs: Span::push(&mut lists, kernel.attrs().iter().map(|id| id.0)),
            immediates: Span::push(
                &mut immediates,
                kernel.attrs().iter().map(|&id| immediate(&image.attr(id))),
            ),
            functions: Span::push(&mut lists, kernel.functions().iter().map(|id| id.0)),
            prepared: file.prepared_at(at),
            stores_all: signature.stores_all || signature.calls.is_some_and(|shape| shape.form != Form::Own),
        });
        kernels.push(KernelPlan {
            targets: Span::default(),
            first_passed: signature.calls.map(|shape| shape.first_operand),
            first_result: kernel.first_result(),
            // As wide as in the file.
            n_results: kernel.n_results() as u16,
            is_any,
            ready_count,
            is_sync: signature.completion == Completion::Sync && signature.calls.is_none(),
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
    };
    FunctionPlan {
        table,
        n_args: function.n_args(),
        n_registers: function.n_registers(),
        results: function.results().into(),
        is_native: function.kind() == FunctionKind::Native,
        is_sync: function.kind() == FunctionKind::Sync,
        arg_types: (0..function.n_args()).map(|i| ArgType::new(function.arg_type(i))).collect(),
        kernels: kernels.into(),
        needs_path: false,
        has_line: false,
        line: Line::none(),
        general: OnceLock::new(),
        seeded: OnceLock::new(),
    }
}
