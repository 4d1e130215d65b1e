//! Functions and calls: a stack of frames, each at one op of its function's text.

mod control;

use std::collections::HashMap;
use std::rc::Rc;

use befrost_compiler::dialects::{OperandMode, Traits};
use befrost_compiler::ir::{AttrKind, BlockId, LocId, LocKind, Module, OpId, ValueId};

use self::control::Continuation;
use super::attrs::Attrs;
use super::value::{Code, OracleError, Value};
use super::{Execution, Limits, Refusal, scalars, tensors};

/// Maximum number of locations in the trace of an error.
const MAX_TRACE: usize = 32;

/// The outcome of an op that completed.
pub(super) struct Done {
    pub(super) results: Vec<Value>,
    /// The line that it prints.
    pub(super) printed: Option<String>,
    /// True if it cancels the execution: no later op runs.
    pub(super) cancels: bool,
}

impl Done {
    pub(super) fn values<const N: usize>(results: [Value; N]) -> Done {
        Done { results: results.into(), printed: None, cancels: false }
    }

    pub(super) fn printed(line: String) -> Done {
        Done { printed: Some(line), ..Done::values([Value::Chain]) }
    }
}

/// The reason why an op did not complete.
pub(super) enum Stop {
    /// It failed. `first` are the results set before the failure; all others become the error.
    Fails { code: Code, message: String, first: Vec<Value> },
    /// The oracle cannot interpret it.
    Refused(String),
}

impl From<Refusal> for Stop {
    fn from(Refusal(why): Refusal) -> Stop {
        Stop::Refused(why)
    }
}

/// A failure without results.
pub(super) fn fails(code: Code, message: impl Into<String>) -> Stop {
    Stop::Fails { code, message: message.into(), first: Vec::new() }
}

/// A value, with the number of lines that are printed before it is available in every legal execution: the
/// first `after` lines.
#[derive(Clone)]
struct OrderedValue {
    value: Value,
    after: usize,
}

/// A running function or region.
struct Frame {
    next: Option<OpId>,
    values: HashMap<ValueId, OrderedValue>,
    caller: Option<Caller>,
    /// The number of lines that are printed before anything in the frame happens.
    after: usize,
    n_registers: usize,
}

/// The calling op in the frame below, and the continuation for its results.
struct Caller {
    op: OpId,
    then: Continuation,
}

struct Interpreter<'m> {
    module: &'m Module,
    limits: Limits,
    frames: Vec<Frame>,
    n_registers: usize,
    is_cancelled: bool,
    printed: Vec<String>,
    is_ordered: bool,
}

pub(super) fn call(
    module: &Module,
    function: &str,
    arguments: &[Value],
    limits: Limits,
) -> Result<Execution, Refusal> {
    let mut interpreter = Interpreter {
        module,
        limits,
        frames: Vec::new(),
        n_registers: 0,
        is_cancelled: false,
        printed: Vec::new(),
        is_ordered: true,
    };
    let block = interpreter.body(function)?;
    let takes = module.args(block).len();
    if takes != arguments.len() {
        return Err(Refusal(format!("@{function} takes {takes} arguments, got {}", arguments.len())));
    }
    let arguments = arguments.iter().map(|value| OrderedValue { value: value.clone(), after: 0 }).collect();
    if interpreter.push(block, arguments, None, 0).is_err() {
        return Err(Refusal(format!("@{function} alone exceeds the limits")));
    }
    let results = interpreter.run()?;
    let Interpreter { printed, is_ordered, .. } = interpreter;
    Ok(Execution { results, printed, is_ordered })
}

impl Interpreter<'_> {
    /// The only block of a function's body.
    fn body(&self, function: &str) -> Result<BlockId, Refusal> {
        let op =
            self.module.find_function(function).ok_or_else(|| Refusal(format!("no function @{function}")))?;
        self.region(op, 0).ok_or_else(|| Refusal(format!("@{function} has no body of one block")))
    }

    /// The only block of one of an op's regions.
    fn region(&self, op: OpId, i: usize) -> Option<BlockId> {
        match self.module.blocks_of(*self.module.regions_of(op).get(i)?) {
            [block] => Some(*block),
            _ => None,
        }
    }

    /// Opens a frame.
    fn push(
        &mut self,
        block: BlockId,
        arguments: Vec<OrderedValue>,
        caller: Option<Caller>,
        after: usize,
    ) -> Result<(), Stop> {
        let module = self.module;
        let n_results = module.ops_in(block).map(|op| module.n_results(op)).sum::<usize>();
        let n_registers = module.args(block).len() + n_results;
        let Limits { depth, values } = self.limits;
        if self.frames.len() >= depth || self.n_registers + n_registers > values {
            return Err(fails(
                Code::ResourceExhausted,
                format!(
                    "calls nest too deeply: at most {depth} calls with {values} registers in all may be active"
                ),
            ));
        }
        self.n_registers += n_registers;
        let values = module.args(block).iter().copied().zip(arguments).collect();
        self.frames.push(Frame { next: module.first_op(block), values, caller, after, n_registers });
        Ok(())
    }

    /// Runs the frames until the outermost returns.
    fn run(&mut self) -> Result<Vec<Value>, Refusal> {
        let module = self.module;
        loop {
            let Some(frame) = self.frames.last_mut() else { return Err(Refusal("no frame".to_owned())) };
            let after = frame.after;
            let Some(op) = frame.next else { return Err(Refusal("a function without a return".to_owned())) };
            frame.next = module.next_op(op);
            let operands = module
                .operands(op)
                .map(|value| frame.values.get(&value).cloned())
                .collect::<Option<Vec<OrderedValue>>>()
                .ok_or_else(|| {
                    Refusal(format!("'{}' uses a value before its definition", module.op_name_str(op)))
                })?;
            let is_return = module.def(op).is_some_and(|def| def.traits.has(Traits::RETURN));
            if !is_return {
                self.op(op, &operands)?;
                continue;
            }
            let Some(ended) = self.frames.pop() else { continue };
            self.n_registers -= ended.n_registers;
            let Some(Caller { op, then }) = ended.caller else {
                return Ok(operands.into_iter().map(|held| held.value).collect());
            };
            // No result of a call is available before the call begins, even if it is one of its arguments.
            let results = operands
                .into_iter()
                .map(|OrderedValue { value, after: at }| OrderedValue { value, after: at.max(after) });
            self.go_on(op, then, results.collect(), after)?;
        }
    }

    /// Interprets one op of the top frame.
    fn op(&mut self, op: OpId, operands: &[OrderedValue]) -> Result<(), Refusal> {
        let module = self.module;
        let name = module.op_name_str(op);
        let modes = self.modes(op)?;
        let counted = operands.iter().zip(&modes).filter(|(_, mode)| **mode != OperandMode::Lenient);
        let begun = self.frames.last().map_or(0, |frame| frame.after);
        let after = counted.map(|(held, _)| held.after).fold(begun, usize::max);

        let propagating = operands
            .iter()
            .zip(&modes)
            .filter(|(_, mode)| matches!(mode, OperandMode::Required | OperandMode::Order));
        let blocked_by = blocked_by(propagating.map(|(held, _)| &held.value));
        let blocked_by = match blocked_by {
            Some(Value::Dead) => Some(Value::Dead),
            _ if self.is_cancelled => Some(cancelled()),
            blocked_by => blocked_by,
        };
        if let Some(value) = blocked_by {
            let results = (0..module.n_results(op)).map(|_| OrderedValue { value: value.clone(), after });
            self.store(op, results);
            return Ok(());
        }

        let passed = operands.iter().zip(&modes).map(|(held, mode)| match mode {
            OperandMode::Required | OperandMode::Lenient => held.clone(),
            OperandMode::Order | OperandMode::After => OrderedValue { value: Value::Chain, after },
        });
        let answer = if control::is_control(name) {
            match self.begin(op, passed.collect(), after) {
                Ok(()) => return Ok(()),
                Err(stop) => Err(stop),
            }
        } else {
            let values: Vec<Value> = passed.map(|held| held.value).take(self.n_passed(op)).collect();
            evaluate(name, &values, Attrs { module, op })
        };
        let (results, after) = match answer {
            Ok(done) => {
                self.is_cancelled |= done.cancels;
                let after = match done.printed {
                    Some(line) => self.print(line, after),
                    None => after,
                };
                (done.results, after)
            }
            Err(Stop::Fails { code, message, mut first }) => {
                let error = Value::Error(Rc::new(OracleError { code, message, trace: self.trace(op) }));
                first.resize(module.n_results(op), error);
                (first, after)
            }
            Err(Stop::Refused(why)) => return Err(Refusal(why)),
        };
        // An op with a lenient operand may have results as soon as its frame has begun.
        let lenient = operands.iter().zip(&modes).filter(|(_, mode)| **mode == OperandMode::Lenient);
        let after = if lenient.clone().count() > 0 { begun } else { after };
        self.store(op, results.into_iter().map(|value| OrderedValue { value, after }));
        Ok(())
    }

    /// The number of operands of an op without the implicit chain that orders it.
    fn n_passed(&self, op: OpId) -> usize {
        match self.module.def(op) {
            Some(def) if def.accepts_implicit_chain() => def.operands.len(),
            _ => usize::MAX,
        }
    }

    /// The mode of each operand: the op's attribute, or else the definition's.
    fn modes(&self, op: OpId) -> Result<Vec<OperandMode>, Refusal> {
        let module = self.module;
        let Some(def) = module.def(op) else {
            return Err(Refusal(format!("the op '{}' is not defined", module.op_name_str(op))));
        };
        for name in ["bef.nonstrict", "bef.device"] {
            if module.attr_named(op, name).is_some() {
                return Err(Refusal(format!("'{name}' is beyond it")));
            }
        }
        let n = module.n_operands(op);
        let Some(attr) = module.attr_named(op, "bef.operand_modes") else {
            return Ok((0..n).map(|i| def.operand_mode(i, n)).collect());
        };
        let mode = |text: &str| match text {
            "required" => Some(OperandMode::Required),
            "lenient" => Some(OperandMode::Lenient),
            "order" => Some(OperandMode::Order),
            "after" => Some(OperandMode::After),
            _ => None,
        };
        let modes = match module.cx.attr(attr) {
            AttrKind::Array(elements) => {
                elements.iter().map(|&element| mode(module.cx.as_str(element)?)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        modes
            .filter(|modes| modes.len() == n)
            .ok_or_else(|| Refusal("'bef.operand_modes' is not an array of modes".to_owned()))
    }

    fn store(&mut self, op: OpId, results: impl Iterator<Item = OrderedValue>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.values.extend(self.module.results(op).zip(results));
        }
    }

    /// Prints a line that comes after the first `after` ones. Returns the number of lines that precede its
    /// dependents.
    fn print(&mut self, line: String, after: usize) -> usize {
        self.is_ordered &= after == self.printed.len();
        self.printed.push(line);
        if self.is_ordered { self.printed.len() } else { 0 }
    }

    /// The location of an op of the top frame, then the calls that led there.
    fn trace(&self, op: OpId) -> Vec<String> {
        let calls =
            self.frames.iter().rev().filter_map(|frame| frame.caller.as_ref()).map(|caller| caller.op);
        let places = std::iter::once(op).chain(calls);
        let mut trace = Vec::new();
        for op in places.take(MAX_TRACE) {
            let inlined = places_of(self.module, self.module.loc(op));
            if inlined.len() == 1 || !trace.ends_with(&inlined) {
                trace.extend(inlined);
            }
        }
        trace
    }
}

/// The value that keeps an op from running: dead takes precedence over errors, the first error over the
/// others.
fn blocked_by<'v>(values: impl Iterator<Item = &'v Value>) -> Option<Value> {
    let mut first_error = None;
    for value in values {
        match value {
            Value::Dead => return Some(Value::Dead),
            Value::Error(_) if first_error.is_none() => first_error = Some(value.clone()),
            _ => {}
        }
    }
    first_error
}

/// The result of an op that a cancellation keeps from running.
fn cancelled() -> Value {
    Value::Error(Rc::new(OracleError {
        code: Code::Cancelled,
        message: "Cancelled".to_owned(),
        trace: Vec::new(),
    }))
}

fn evaluate(name: &str, operands: &[Value], attrs: Attrs<'_>) -> Result<Done, Stop> {
    if let Some(done) = scalars::evaluate(name, operands, attrs)? {
        return Ok(done);
    }
    match tensors::evaluate(name, operands, attrs)? {
        Some(done) => Ok(done),
        None => Err(Stop::Refused(format!("it does not know '{name}' on such operands"))),
    }
}

/// A location, and those of the calls that were inlined around it, innermost first, each as [`place`].
fn places_of(module: &Module, loc: LocId) -> Vec<String> {
    let mut places: Vec<String> = place(module, loc).into_iter().collect();
    let mut at = loc;
    loop {
        at = match &*module.cx.loc(at) {
            LocKind::CallSite { caller, .. } => {
                places.push(place(module, *caller).unwrap_or_else(|| "unknown".to_owned()));
                *caller
            }
            LocKind::Name { child, .. } => *child,
            LocKind::Fused { locs, .. } => match locs.first() {
                Some(first) => *first,
                None => return places,
            },
            _ => return places,
        };
    }
}

/// A location as `file:line:col`: that of the innermost file location, else a name.
pub(super) fn place(module: &Module, loc: LocId) -> Option<String> {
    if loc == LocId::UNKNOWN {
        return None;
    }
    let text = |id| module.cx.str(id);
    let mut at = loc;
    let mut name = "unknown";
    loop {
        at = match &*module.cx.loc(at) {
            LocKind::Unknown => return Some(name.to_owned()),
            LocKind::File { file, line, col } => return Some(format!("{}:{line}:{col}", text(*file))),
            LocKind::Range { file, start: (line, col), .. } => {
                return Some(format!("{}:{line}:{col}", text(*file)));
            }
            LocKind::Name { name: outer, child } => {
                if name == "unknown" {
                    name = text(*outer);
                }
                *child
            }
            LocKind::CallSite { callee, .. } => *callee,
            LocKind::Fused { locs, .. } => match locs.first() {
                Some(first) => *first,
                None => return Some(name.to_owned()),
            },
        };
    }
}
