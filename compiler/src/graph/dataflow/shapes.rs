//! The shapes of the values of a graph with dataflow control flow.
//!
//! ```text
//! Enter ─▶ Merge ─▶ body ─▶ NextIteration      first the Merge has the shape of what enters, then the
//!            ▲                    │            common one of that and of what comes back, until it stays
//!            └────────────────────┘
//! ```
//!
//! The analysis is optimistic: a value without a shape is one that has not been reached. Shapes only become
//! less exact, so it ends.

use befrost_tensor::tf::PartialShape;
use rustc_hash::FxHashMap;

use crate::dialects::tf_executor::{FETCH, Primitive, block_of, data_operands, is_chain};
use crate::graph::shape_inference::common;
use crate::ir::{Module, OpId, ValueId};

/// Limit of the passes over a graph. Each makes at least one shape less exact.
const MAX_PASSES: usize = 256;

/// The shapes of values that have been reached.
pub(crate) type Shapes = FxHashMap<ValueId, PartialShape>;

/// The shapes of the values in a graph, and of its results. `infer` gives those of the results of an op for
/// operands of these shapes. Nothing is known if the analysis takes too long.
pub(crate) fn shapes_of(
    m: &Module,
    graph: OpId,
    outside: impl Fn(ValueId) -> PartialShape,
    infer: impl Fn(OpId, &Shapes) -> Vec<PartialShape>,
) -> Shapes {
    let Some(block) = block_of(m, graph) else { return Shapes::default() };
    let ops: Vec<OpId> = m.ops_in(block).collect();
    // The sinks of the sources, by token.
    let mut next: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &op in ops.iter().filter(|&&op| Primitive::of(m, op) == Some(Primitive::Sink)) {
        if let (Some(token), Some(value)) = (m.operands(op).next(), m.operands(op).nth(1)) {
            next.insert(token, value);
        }
    }
    let scalar = PartialShape::from_i64(&[]).unwrap_or_else(|_| PartialShape::unknown());
    let mut shapes = Shapes::default();
    for _ in 0..MAX_PASSES {
        let mut is_changed = false;
        for &op in &ops {
            let of = |value: ValueId| match m.defining_op(value) {
                Some(producer) if m.parent_op(producer) == Some(graph) => shapes.get(&value).cloned(),
                _ => Some(outside(value)),
            };
            let found: Vec<PartialShape> = match Primitive::of(m, op) {
                Some(Primitive::Source) => {
                    let token = m.results(op).nth(1);
                    token.and_then(|token| of(*next.get(&token)?)).into_iter().collect()
                }
                Some(Primitive::Merge) => {
                    let inputs: Vec<PartialShape> = data_operands(m, op).filter_map(of).collect();
                    match inputs.is_empty() {
                        true => Vec::new(),
                        false => vec![common(inputs.iter()), scalar.clone()],
                    }
                }
                Some(Primitive::Sink | Primitive::ControlTrigger) => Vec::new(),
                Some(_) => {
                    let shape = m.operands(op).next().and_then(of);
                    shape.map_or_else(Vec::new, |shape| vec![shape; m.n_results(op)])
                }
                None if m.op_name_str(op) == FETCH => {
                    let fetched = m.operands(op).filter(|&value| !is_chain(m, value));
                    let fetched: Vec<(ValueId, Option<PartialShape>)> =
                        m.results(graph).zip(fetched.map(of)).collect();
                    for (result, shape) in fetched {
                        shapes.extend(shape.map(|shape| (result, shape)));
                    }
                    continue;
                }
                None => {
                    let is_reached = m.operands(op).all(|value| is_chain(m, value) || of(value).is_some());
                    if is_reached { infer(op, &shapes) } else { Vec::new() }
                }
            };
            for (result, shape) in m.results(op).zip(found).filter(|&(result, _)| !is_chain(m, result)) {
                let new = match shapes.get(&result) {
                    Some(old) => common([old, &shape].into_iter()),
                    None => shape,
                };
                if shapes.get(&result) != Some(&new) {
                    shapes.insert(result, new);
                    is_changed = true;
                }
            }
        }
        if !is_changed {
            return shapes;
        }
    }
    Shapes::default()
}
