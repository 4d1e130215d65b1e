//! Reads of variables leave loops that write nothing, before the loops are differentiated.
//!
//! ```text
//! %r:2 = tf.While(%x, %handle)            %w = ReadVariableOp(%handle)
//!   @body(%x, %h):                 ──▶    %r:3 = tf.While(%x, %handle, %w)
//!     %w = ReadVariableOp(%h)               @body(%x, %h, %w):
//!     return MatMul(%x, %w), %h               return MatMul(%x, %w), %h, %w
//! ```
//!
//! A value that an iteration reads is kept for the backward loop in each iteration, and nothing there knows
//! that it is always the same. What does not change in a loop is passed to the backward loop once.
//!
//! A variable without a value is an error of the function that reads it. So a read moves only if the loop
//! runs an iteration: its condition holds for the initial values, which are constants. Functions with other
//! callers are copied, since they get more arguments.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{callees, functions};
use super::licm::WhileLoop;
use crate::build::query::{has_no_edges, splat};
use crate::dialects::{Access, Effects, tf};
use crate::ir::{BlockId, Module, OpId, StrId, ValueId};
use crate::pass::licm::{IsolatedLoop, hoist_from_isolated};
use crate::rewrite::{Rewriter, state_access};

/// Limit on rounds, one per level of nested loops.
const MAX_DEPTH: usize = 16;

/// Moves reads out of all loops of the module.
pub(crate) fn hoist_reads(r: &mut Rewriter<'_>) {
    for _ in 0..MAX_DEPTH {
        let m = r.ir();
        let is_loop = |&op: &OpId| tf::Control::of(m, op) == Some(tf::Control::While);
        let loops: Vec<OpId> = m.walk_functions().filter(is_loop).collect();
        let moved: u64 = loops.into_iter().map(|op| hoist_from(r, op)).sum();
        if moved == 0 {
            break;
        }
    }
}

fn hoist_from(r: &mut Rewriter<'_>, op: OpId) -> u64 {
    let m = r.ir();
    let functions = functions(m);
    let Some(shared) = WhileLoop::of_any(m, op, &functions) else { return 0 };
    let reads = ReadLoop(shared);
    let outside = reads.invariants(m);
    let has_reads =
        m.ops_in(reads.body()).any(|op| is_read(m, op) && outside.contains_key(&m.operand(op, 0)));
    if !has_reads || !writes_nothing(m, op, &functions) || !runs(m, &reads.0) {
        return 0;
    }
    match WhileLoop::owned(r, op) {
        Some(own) => hoist_from_isolated(r, &ReadLoop(own)),
        None => 0,
    }
}

fn is_read(m: &Module, op: OpId) -> bool {
    tf::operator(m, op) == Some(Op::ReadVariableOp) && has_no_edges(m, op) && m.n_results(op) == 1
}

/// True if nothing that an op calls changes state.
fn writes_nothing(m: &Module, op: OpId, functions: &FxHashMap<StrId, OpId>) -> bool {
    let (mut todo, mut seen) = (callees(m, op), FxHashSet::default());
    while let Some(name) = todo.pop() {
        if !seen.insert(name) {
            continue;
        }
        let Some(&function) = functions.get(&name) else { return false };
        for op in m.walk(function) {
            let is_known = m.def(op).is_some_and(|def| def.effects != Effects::Unknown);
            if op != function && !is_known || state_access(m, op).is_some_and(|access| access != Access::Read)
            {
                return false;
            }
            if op != function {
                todo.extend(callees(m, op));
            }
        }
    }
    true
}

/// True if the condition of a loop is known to hold for its initial values.
fn runs(m: &Module, of: &WhileLoop) -> bool {
    let Some(end) = m.last_op(of.cond) else { return false };
    m.operands(end).next().and_then(|value| number(m, of, value, MAX_DEPTH)) == Some(1.0)
}

/// A scalar of a loop's condition for the initial values; of a boolean 0 or 1.
fn number(m: &Module, of: &WhileLoop, value: ValueId, depth: usize) -> Option<f64> {
    let depth = depth.checked_sub(1)?;
    let Some(op) = m.defining_op(value) else {
        let at = m.args(of.cond).iter().position(|&arg| arg == value)?;
        return constant(m, m.operand(of.op, at));
    };
    let operand = |i: usize| number(m, of, m.operand(op, i), depth);
    let flag = |holds: bool| Some(f64::from(u8::from(holds)));
    match tf::operator(m, op)? {
        Op::Identity => operand(0),
        Op::Less => flag(operand(0)? < operand(1)?),
        Op::LessEqual => flag(operand(0)? <= operand(1)?),
        Op::Greater => flag(operand(0)? > operand(1)?),
        Op::GreaterEqual => flag(operand(0)? >= operand(1)?),
        Op::LogicalAnd => flag(operand(0)? == 1.0 && operand(1)? == 1.0),
        _ => constant(m, value),
    }
}

/// The number that a scalar constant is, if f64 has it exactly.
fn constant(m: &Module, mut value: ValueId) -> Option<f64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    while let Some(op) = m.defining_op(value).filter(|&op| tf::operator(m, op) == Some(Op::Identity)) {
        value = m.operand(op, 0);
    }
    splat(m, value).filter(|number| number.abs() < EXACT)
}

/// A loop of which only reads move.
struct ReadLoop(WhileLoop);

impl IsolatedLoop for ReadLoop {
    fn op(&self) -> OpId {
        self.0.op()
    }

    fn body(&self) -> BlockId {
        self.0.body()
    }

    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId> {
        self.0.invariants(m)
    }

    fn may_move(&self, m: &Module, op: OpId) -> bool {
        is_read(m, op) || tf::is_passing(m, op) && has_no_edges(m, op)
    }

    fn carry(&self, r: &mut Rewriter<'_>, inside: &[ValueId], outside: &[ValueId]) {
        self.0.carry(r, inside, outside);
    }
}
