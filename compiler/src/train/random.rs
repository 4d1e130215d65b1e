//! Random streams as variables, so that dropout continues from a checkpoint.
//!
//! ```text
//! RandomUniform(shape) {seed, seed2} ──▶ p = read befrost/random/NODE
//!                                        StatelessRandomUniformV2(shape, key = [seed], counter = [p, seed2])
//!                                        befrost/random/NODE += 256 * elements
//! ```
//!
//! A stateful random operator of TensorFlow takes 256 blocks of its Philox stream for each element. The
//! stateless operator draws the same numbers from a position, which is a variable: a checkpoint of the
//! variables saves the stream. `step` and `evaluate` have separate streams, so that an evaluation does not
//! change the training.
//!
//! Not converted: operators in `init`, which runs once; operators without seeds, whose numbers are not
//! repeatable; `RandomShuffle` and `Multinomial`, which have no stateless form with a counter.

use std::collections::{BTreeMap, BTreeSet};

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Attrs, Op, Type};

use super::step::{OptimizerSlot, emitted, handle, initialize_counters, read};
use crate::diag::Diagnostic;
use crate::dialects::tf;
use crate::grad::{At, Emit};
use crate::graph::{callees, functions};
use crate::ir::{Module, OpId, StrId, ValueId};
use crate::rewrite::Rewriter;

/// The number of blocks that a stateful operator takes for each element.
const RESERVED: f64 = 256.0;

/// The number of the Philox algorithm, an operand of stateless operators.
const PHILOX: i64 = 1;

/// The stateless form of a stateful random operator.
fn stateless(op: Op) -> Option<Op> {
    Some(match op {
        Op::RandomUniform => Op::StatelessRandomUniformV2,
        Op::RandomUniformInt => Op::StatelessRandomUniformIntV2,
        Op::RandomStandardNormal => Op::StatelessRandomNormalV2,
        Op::TruncatedNormal => Op::StatelessTruncatedNormalV2,
        _ => return None,
    })
}

/// A random operator with its seeds and the name of its position variable.
struct Drawn {
    op: OpId,
    stateless: Op,
    seeds: [i64; 2],
    position: String,
}

/// The functions that `init` runs.
fn of_init(m: &Module) -> BTreeSet<StrId> {
    let all = functions(m);
    let mut found = BTreeSet::new();
    let mut next: Vec<StrId> = m.cx.find_str("init").into_iter().collect();
    while let Some(name) = next.pop() {
        if let (true, Some(&function)) = (found.insert(name), all.get(&name)) {
            next.extend(m.walk(function).flat_map(|op| callees(m, op)));
        }
    }
    found
}

fn drawn(m: &Module) -> Vec<Drawn> {
    let of_init = of_init(m);
    let mut found = Vec::new();
    for function in m.functions() {
        let Some(name) = m.symbol_name(function).filter(|name| !of_init.contains(name)) else { continue };
        let function_name = m.cx.str(name).to_string();
        let prefix = match &function_name[..] {
            "step" => String::new(),
            name => format!("{name}/"),
        };
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for op in m.walk(function) {
            let Some((row, stateless)) = tf::operator(m, op).and_then(|op| Some((op, stateless(op)?))) else {
                continue;
            };
            let attrs = tf::attrs_of(m, op, row.row().signature());
            let seeds = ["seed", "seed2"].map(|name| attrs.int(name).unwrap_or(0));
            if seeds == [0, 0] {
                continue;
            }
            let node = m.node_name(op).unwrap_or(m.op_name_str(op)).to_owned();
            let nth = seen.entry(node.clone()).or_default();
            let suffix = if *nth == 0 { String::new() } else { format!("_{nth}") };
            *nth += 1;
            found.push(Drawn {
                op,
                stateless,
                seeds,
                position: format!("befrost/random/{prefix}{node}{suffix}"),
            });
        }
    }
    found
}

/// Replaces random operators by stateless ones, whose positions are variables that `init` sets to zero.
/// Returns these variables.
pub(super) fn append(r: &mut Rewriter<'_>) -> Result<Vec<OptimizerSlot>, Vec<Diagnostic>> {
    let mut slots: Vec<OptimizerSlot> = Vec::new();
    for drawn in drawn(r.ir()) {
        let old = r.ir().result(drawn.op, 0);
        let new = emitted(r, drawn.op, |g| {
            let (ty, operands) = (g.ir().value_type(old), g.ir().operands(drawn.op).collect::<Vec<_>>());
            let position = handle(g, &drawn.position, DType::I64, Some(&[]));
            let at = read(g, position.id, DType::I64, Some(&[]));
            let words = [("type", At::Type(Type::Dense(DType::UI64)))];
            let [seed, seed2] =
                drawn.seeds.map(|seed| g.val(g.constant(&|b| b.ints_of_shape(&[seed], &[], DType::I64))));
            let pack = |parts: &[ValueId]| {
                let packed = g.emit(Op::Pack, parts, &[], None, 1)[0];
                g.emit(Op::Bitcast, &[packed], &words, None, 1)[0]
            };
            let (key, counter) = (pack(&[seed.id]), pack(&[at.id, seed2.id]));
            let philox = g.constant(&|b| b.ints_of_shape(&[PHILOX], &[], DType::I32));
            let shape = g.val(operands[0]).cast(DType::I64);
            let elements = shape.bin(Op::Prod, shape.ints(&[0], DType::I32));
            let all = [&[operands[0], key, counter, philox], &operands[1..]].concat();
            let made = g.emit(drawn.stateless, &all, &[("dtype", At::Of("dtype"))], Some(&[ty]), 1)[0];
            let taken = elements * RESERVED;
            _ = g.emit(Op::AssignAddVariableOp, &[position.id, taken.id], &[], None, 0);
            made
        })?;
        r.replace(old, new);
        r.erase(drawn.op);
        if slots.iter().all(|slot| slot.name != drawn.position) {
            slots.push(OptimizerSlot::counter(drawn.position));
        }
    }
    initialize_counters(r, &slots)?;
    Ok(slots)
}
