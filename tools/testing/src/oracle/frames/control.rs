//! Calls, branches and loops: the next body to run, its arguments, and the use of its results.
//!
//! An op opens the frame of a function or region, or returns its results at once. When the frame returns, its
//! [`Continuation`] decides the use of the results. Iterations and blocks run one after the other.

use std::rc::Rc;

use befrost_compiler::ir::{AttrKind, BlockId, OpId};

use super::{Caller, Interpreter, OrderedValue, Stop, cancelled, fails};
use crate::oracle::Refusal;
use crate::oracle::value::{Code, OracleError, Value};

/// The use of a body's results.
pub(super) enum Continuation {
    /// Returns them as the op's results.
    Give,
    /// Runs the body on them `left` times more.
    Repeat { body: BlockId, left: i32 },
    /// Runs the body on all results but the last, the condition, while the condition is true.
    While { body: BlockId },
    /// Runs the body on the next block of a range, unless there is none.
    Blocks(Blocks),
}

/// The rest of a range that is processed block by block.
pub(super) struct Blocks {
    body: BlockId,
    next: i64,
    end: i64,
    size: i64,
    rest: Vec<OrderedValue>,
    /// The resulting chain: dead if the chain of any block is dead, else the first error among them.
    chain: OrderedValue,
}

/// True if an op runs functions or regions.
pub(super) fn is_control(name: &str) -> bool {
    matches!(
        name,
        "tfrt.call"
            | "tfrt.if"
            | "tfrt.cond"
            | "tfrt.case"
            | "tfrt.while"
            | "tfrt.repeat.i32"
            | "tfrt.parallel_for.i32"
            | "tfrt.parallel_call.i32"
    )
}

impl Interpreter<'_> {
    /// Begins to interpret an op that runs functions or regions, none of whose operands is an error or dead.
    pub(super) fn begin(
        &mut self,
        op: OpId,
        mut operands: Vec<OrderedValue>,
        after: usize,
    ) -> Result<(), Stop> {
        let name = self.module.op_name_str(op);
        let n_before = match name {
            "tfrt.call" => 0,
            "tfrt.parallel_for.i32" | "tfrt.parallel_call.i32" => 3,
            _ => 1,
        };
        if operands.len() < n_before {
            return Err(Stop::Refused(format!("'{name}' has too few operands")));
        }
        let arguments = operands.split_off(n_before);
        let i1 = |i: usize| match operands.get(i).map(|held| &held.value) {
            Some(Value::I1(value)) => Ok(*value),
            _ => Err(Stop::Refused(format!("operand #{i} of '{name}' is no i1"))),
        };
        let i32 = |i: usize| match operands.get(i).map(|held| &held.value) {
            Some(Value::I32(value)) => Ok(*value),
            _ => Err(Stop::Refused(format!("operand #{i} of '{name}' is no i32"))),
        };
        match name {
            "tfrt.call" => self.enter(op, self.callee(op, "callee")?, arguments, Continuation::Give, after),
            "tfrt.if" => match self.region(op, usize::from(!i1(0)?)) {
                Some(body) => self.enter(op, body, arguments, Continuation::Give, after),
                // Without an `else` there are no results.
                None => Ok(()),
            },
            "tfrt.cond" => {
                let function = self.callee(op, if i1(0)? { "a_true_fn" } else { "b_false_fn" })?;
                self.enter(op, function, arguments, Continuation::Give, after)
            }
            "tfrt.case" => {
                let branches = self.branches(op)?;
                let index = i32(0)?;
                match usize::try_from(index).ok().and_then(|i| branches.get(i)) {
                    Some(&branch) => self.enter(op, branch, arguments, Continuation::Give, after),
                    None => {
                        let n = branches.len();
                        Err(fails(
                            Code::InvalidArgument,
                            format!("branch_index invalid. branch index: {index} # branches: {n}"),
                        ))
                    }
                }
            }
            "tfrt.while" => {
                let mut values = arguments;
                values.push(operands[0].clone());
                self.go_on(op, Continuation::While { body: self.callee(op, "body_fn")? }, values, after)?;
                Ok(())
            }
            "tfrt.repeat.i32" => {
                let body = self.region(op, 0).ok_or_else(|| Stop::Refused("a loop without a body".into()))?;
                let left = i32(0)?;
                if left < 0 {
                    let message = format!("the trip count is {left}: it must not be negative");
                    return Err(fails(Code::InvalidArgument, message));
                }
                self.go_on(op, Continuation::Repeat { body, left }, arguments, after)?;
                Ok(())
            }
            _ => {
                let body = match self.region(op, 0) {
                    Some(body) => body,
                    None => self.callee(op, "callee")?,
                };
                let (next, end, size) = (i64::from(i32(0)?), i64::from(i32(1)?), i64::from(i32(2)?));
                if size <= 0 {
                    let message = format!("the size of a block is {size}; it must be positive");
                    return Err(fails(Code::InvalidArgument, message));
                }
                let chain = OrderedValue { value: Value::Chain, after };
                self.next_block(op, Blocks { body, next, end, size, rest: arguments, chain }, after)
            }
        }
    }

    /// Continues after a body has returned `results`.
    pub(super) fn go_on(
        &mut self,
        op: OpId,
        then: Continuation,
        mut results: Vec<OrderedValue>,
        after: usize,
    ) -> Result<(), Refusal> {
        let entered = match then {
            Continuation::Give => {
                self.store(op, results.into_iter());
                return Ok(());
            }
            Continuation::Repeat { left: 0, .. } => {
                self.store(op, results.into_iter());
                return Ok(());
            }
            Continuation::Repeat { body, left } if !self.is_cancelled => {
                self.enter(op, body, results, Continuation::Repeat { body, left: left - 1 }, after)
            }
            Continuation::While { body } => {
                let Some(condition) = results.pop() else { return Ok(()) };
                match condition.value {
                    Value::I1(false) => {
                        self.store(op, results.into_iter());
                        return Ok(());
                    }
                    Value::I1(true) if !self.is_cancelled => {
                        let after = after.max(condition.after);
                        self.enter(op, body, results, Continuation::While { body }, after)
                    }
                    Value::I1(true) => return self.fill(op, cancelled(), after),
                    blocked_by => return self.fill(op, blocked_by, condition.after.max(after)),
                }
            }
            Continuation::Blocks(mut blocks) => {
                for OrderedValue { value, after } in results {
                    blocks.chain.after = blocks.chain.after.max(after);
                    // Dead takes precedence over the first error.
                    match (&blocks.chain.value, &value) {
                        (_, Value::Dead) | (Value::Chain, Value::Error(_)) => blocks.chain.value = value,
                        _ => {}
                    }
                }
                self.next_block(op, blocks, after)
            }
            Continuation::Repeat { .. } => return self.fill(op, cancelled(), after),
        };
        match entered {
            Ok(()) => Ok(()),
            Err(Stop::Refused(why)) => Err(Refusal(why)),
            Err(Stop::Fails { code, message, .. }) => {
                let error = Value::Error(Rc::new(OracleError { code, message, trace: self.trace(op) }));
                self.fill(op, error, after)
            }
        }
    }

    /// Runs the body on the next block, or returns the chain.
    fn next_block(&mut self, op: OpId, mut blocks: Blocks, after: usize) -> Result<(), Stop> {
        if blocks.next >= blocks.end {
            let chain = blocks.chain;
            self.store(op, std::iter::once(chain));
            return Ok(());
        }
        if self.is_cancelled {
            let is_dead = matches!(blocks.chain.value, Value::Dead);
            self.fill(op, if is_dead { Value::Dead } else { cancelled() }, after)?;
            return Ok(());
        }
        let start = blocks.next;
        blocks.next = (start + blocks.size).min(blocks.end);
        let bounds = [start, blocks.next].map(|at| OrderedValue { value: Value::I32(at as i32), after });
        let arguments = bounds.into_iter().chain(blocks.rest.iter().cloned()).collect();
        self.enter(op, blocks.body, arguments, Continuation::Blocks(blocks), after)
    }

    /// Returns the same value for all results.
    fn fill(&mut self, op: OpId, value: Value, after: usize) -> Result<(), Refusal> {
        let results = std::iter::repeat_n(OrderedValue { value, after }, self.module.n_results(op));
        self.store(op, results);
        Ok(())
    }

    /// Opens the frame of a body.
    fn enter(
        &mut self,
        op: OpId,
        body: BlockId,
        mut arguments: Vec<OrderedValue>,
        then: Continuation,
        after: usize,
    ) -> Result<(), Stop> {
        // A chain beyond the body's arguments only orders the op.
        arguments.truncate(self.module.args(body).len());
        self.push(body, arguments, Some(Caller { op, then }), after)
    }

    /// The body of the function that an attribute names.
    fn callee(&self, op: OpId, attr: &str) -> Result<BlockId, Stop> {
        let cx = &self.module.cx;
        match self.module.attr_named(op, attr).map(|attr| cx.attr(attr)) {
            Some(AttrKind::Symbol { root, nested }) if nested.is_empty() => Ok(self.body(cx.str(*root))?),
            _ => Err(Stop::Refused("a call of no function".to_owned())),
        }
    }

    /// The bodies of the branches of a `tfrt.case`.
    fn branches(&self, op: OpId) -> Result<Vec<BlockId>, Stop> {
        let cx = &self.module.cx;
        let Some(AttrKind::Array(symbols)) = self.module.attr_named(op, "branches").map(|attr| cx.attr(attr))
        else {
            return Err(Stop::Refused("a case without branches".to_owned()));
        };
        let body = |symbol: &_| match cx.attr(*symbol) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => Ok(self.body(cx.str(*root))?),
            _ => Err(Stop::Refused("a branch that is no function".to_owned())),
        };
        symbols.iter().map(body).collect()
    }
}
