//! Loops: each frame becomes one op of its parent frame.
//!
//! ```text
//! ops without a literal of the loop's condition      the condition, in every iteration and once more
//! ops that are live if the condition holds           the body
//! ops that are live if it does not hold              behind the loop
//! ```
//!
//! The variables are the results of the Merges. Ops of the condition with users in the body or behind the
//! loop are computed there again, if they have no effects. Invariants are captured.

use rustc_hash::FxHashSet;

use super::condition::{Literals, Liveness, Refused};
use super::plan::{Nodes, PlanNode, PlanStep};
use super::{Functionalizer, build};
use crate::dialects::tf_executor::frames::{FrameId, LoopVariable, inputs, is_constant};
use crate::dialects::tf_executor::{Primitive, block_of, is_chain, node};
use crate::ir::{KnownType, LocId, OpId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, would_be_trivially_dead};

/// TensorFlow's default of `parallel_iterations`.
const PARALLEL_ITERATIONS: i64 = 10;

/// The plan of a loop.
struct LoopPlan {
    cond: OpId,
    variables: Vec<LoopVariable>,
    invariants: Vec<OpId>,
    exits: Vec<OpId>,
    /// The condition of the loop.
    when: Liveness,
    condition: Vec<PlanStep>,
    body: Vec<PlanStep>,
    after: Vec<PlanStep>,
}

impl Functionalizer<'_, '_, '_> {
    /// Replaces a frame by a loop.
    pub(super) fn make_loop(&mut self, frame: FrameId) -> Result<(), Refused> {
        match (self.plan_loop(frame)?, self.frames.frame(frame).parent) {
            (Some(planned), _) => self.build_loop(frame, &planned),
            // It is erased with the dead ops of the parent frame.
            (None, Some(parent)) => {
                let dead = std::mem::take(&mut self.ops[frame.0 as usize]);
                self.ops[parent.0 as usize].extend(dead);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// The plan of a loop; `None` if it is never live.
    fn plan_loop(&self, frame: FrameId) -> Result<Option<LoopPlan>, Refused> {
        let (m, conditions) = (self.m(), &self.conditions);
        let of = self.frames.frame(frame);
        let first = of.enters[0];
        let &[cond] = &of.conds[..] else {
            return Err((first, format!("its loop has {} conditions", of.conds.len())));
        };
        let when =
            of.enters.iter().fold(Liveness::always(), |when, &enter| when.and(&conditions.of_op(enter)));
        if conditions.of_op(cond) != when {
            return Err((cond, "it is not live exactly when all values that enter the loop are".to_owned()));
        }
        if when == Liveness::Never {
            return Ok(None);
        }
        if of.variables.is_empty() {
            return Err((cond, "its loop has no variable".to_owned()));
        }
        let (invariants, starts): (Vec<OpId>, Vec<OpId>) =
            of.enters.iter().partition(|&&enter| is_constant(m, enter));
        for &enter in &starts {
            let is_start =
                |(user, _): (OpId, usize)| of.variables.iter().any(|variable| variable.merge == user);
            if !m.results(enter).all(|result| is_chain(m, result) || m.users(result).all(is_start)) {
                return Err((enter, "it is used in the first iteration only".to_owned()));
            }
        }
        let decision = m.result(cond, 0);
        let holds =
            |literals: &Literals| literals.iter().find(|&&(p, _)| p == decision).map(|&(_, branch)| branch);
        let (mut condition, mut body, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for (node, literals) in self.nodes(frame)? {
            match holds(&literals) {
                None => condition.push((node, literals)),
                Some(1) => body.push((node, literals)),
                Some(_) => after.push((node, literals)),
            }
        }
        let region = |branch| Literals::from_slice(&[(decision, branch)]);
        let sinks = of.variables.iter().map(|variable| variable.sink).collect();
        self.check_ends(frame, [(sinks, region(1)), (of.exits.clone(), region(0))])?;
        self.check_merges(&of.variables)?;
        for (nodes, branch) in [(&mut body, 1), (&mut after, 0)] {
            let copies = self.copies(&condition, nodes)?;
            nodes.extend(copies.into_iter().map(|op| (PlanNode::Copy(op), region(branch))));
        }
        let plan = |nodes: Vec<(PlanNode, Literals)>, region: &Literals| {
            Nodes::new(m, conditions, nodes)?.plan(region)
        };
        let condition = plan(condition, &Literals::new())?;
        let body = plan(body, &region(1))?;
        let after = plan(after, &region(0))?;
        let (variables, exits) = (of.variables.clone(), of.exits.clone());
        Ok(Some(LoopPlan { cond, variables, invariants, exits, when, condition, body, after }))
    }

    /// Checks that the terminators of the body and of the loop are live whenever their operands are.
    fn check_ends(&self, frame: FrameId, ends: [(Vec<OpId>, Literals); 2]) -> Result<(), Refused> {
        for (ops, region) in ends {
            let is_wrong = |&op: &OpId| {
                let when = self.conditions.of_op(op);
                self.conditions.in_frame(&when, frame).as_ref() != Some(&region)
            };
            if let Some(op) = ops.into_iter().find(is_wrong) {
                return Err((op, "it is dead in some iterations, or live in the wrong ones".to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that the Merges which the loop replaces have no control edges, and that nothing uses the number
    /// of their live input, which a loop does not have.
    fn check_merges(&self, variables: &[LoopVariable]) -> Result<(), Refused> {
        let m = self.m();
        for merge in variables.iter().map(|variable| variable.merge) {
            if m.operands(merge).any(|value| is_chain(m, value)) {
                return Err((merge, format!("{} waits for control edges", node(m, merge))));
            }
            if m.results(merge).nth(1).is_some_and(|number| !is_chain(m, number) && !m.is_unused(number)) {
                return Err((merge, format!("the number of the input of {} is used", node(m, merge))));
            }
        }
        Ok(())
    }

    /// The ops of the condition with users in other nodes, and their operands' producers.
    fn copies(
        &self,
        condition: &[(PlanNode, Literals)],
        nodes: &[(PlanNode, Literals)],
    ) -> Result<Vec<OpId>, Refused> {
        let (m, conditions) = (self.m(), &self.conditions);
        let computed: FxHashSet<OpId> = condition
            .iter()
            .map(|&(node, _)| match node {
                PlanNode::Op(op) | PlanNode::Copy(op) | PlanNode::Gate(op) => op,
                PlanNode::Select(select) => conditions.selects[select].op,
            })
            .collect();
        let mut todo: Vec<ValueId> = Vec::new();
        for &(node, _) in nodes {
            match node {
                PlanNode::Op(op) | PlanNode::Copy(op) => todo.extend(inputs(m, op)),
                PlanNode::Gate(op) => todo.extend(m.operands(op)),
                PlanNode::Select(select) => {
                    let select = &conditions.selects[select];
                    todo.push(select.predicate);
                    todo.extend(m.operands(select.op));
                }
            }
        }
        let (mut copies, mut seen) = (Vec::new(), FxHashSet::default());
        while let Some(value) = todo.pop() {
            for value in conditions.waited_for(m, value, &[]) {
                let Some(op) = m.defining_op(value).filter(|op| computed.contains(op)) else { continue };
                // In its branches the value of the condition is known.
                if Primitive::of(m, op) == Some(Primitive::LoopCond) || !seen.insert(op) {
                    continue;
                }
                let is_plain = Primitive::of(m, op).is_none() && m.regions_of(op).is_empty();
                if !is_plain || !would_be_trivially_dead(m, op) {
                    return Err((op, "both the condition and the body of its loop need it".to_owned()));
                }
                copies.push(op);
                todo.extend(m.operands(op));
            }
        }
        Ok(copies)
    }

    fn build_loop(&mut self, frame: FrameId, planned: &LoopPlan) {
        let LoopPlan { cond, variables, invariants, exits, when, condition, body, after } = planned;
        let graph = self.graph;
        let m = self.m();
        let Some(end) = block_of(m, graph).and_then(|block| m.last_op(block)) else { return };
        let at = InsertionPoint::Before(end);
        let (of, loc) = (self.frames.frame(frame), m.loc(*cond));
        let parallel = of.parallel_iterations;
        let enters = of.enters.clone();
        let mut operands: Vec<ValueId> =
            variables.iter().map(|variable| m.operand(variable.enter, 0)).collect();
        let mut edges: Vec<ValueId> =
            enters.iter().flat_map(|&enter| m.operands(enter)).filter(|&value| is_chain(m, value)).collect();
        edges.sort_unstable();
        edges.dedup();
        operands.extend(edges);
        let is_watched = exits
            .iter()
            .any(|&exit| m.results(exit).any(|result| is_chain(m, result) && !m.is_unused(result)));
        let types: Vec<TypeId> =
            variables.iter().map(|variable| m.value_type(m.result(variable.merge, 0))).collect();
        let results: Vec<TypeId> =
            types.iter().copied().chain(is_watched.then_some(KnownType::Chain.id())).collect();
        let made = self.r.create_named(at, loc, "tf.WhileRegion", &operands, &results, &[]);
        if parallel != PARALLEL_ITERATIONS {
            let name = self.r.cx().str_id("parallel_iterations");
            let parallel = self.r.cx().int_attr(KnownType::I64.id(), parallel);
            self.r.set_attr(made, name, parallel);
        }
        let results: Vec<ValueId> = self.r.ir().results(made).collect();
        let merged: Vec<ValueId> =
            variables.iter().map(|variable| self.r.ir().result(variable.merge, 0)).collect();

        let mut builder = build::FrameBuilder::new(self.r, &self.conditions);
        for &enter in invariants {
            let m = builder.r.ir();
            let (value, outer) = (m.result(enter, 0), m.operand(enter, 0));
            builder.replaced.insert(value, outer);
        }
        let ends: [(&[PlanStep], Vec<OpId>); 2] =
            [(condition, vec![*cond]), (body, variables.iter().map(|variable| variable.sink).collect())];
        for (steps, ends) in ends {
            let region = builder.r.add_region(made);
            let block = builder.r.add_block(region);
            let args: Vec<ValueId> = types.iter().map(|&ty| builder.r.add_arg(block, ty)).collect();
            builder.replaced.extend(merged.iter().copied().zip(args));
            let at = InsertionPoint::End(block);
            builder.steps(steps, at);
            let yielded: Vec<ValueId> = ends.into_iter().map(|end| given(&mut builder, end, at)).collect();
            builder.r.create_named(at, loc, "tf.Yield", &yielded, &[], &[]);
        }
        builder.replaced.extend(merged.iter().copied().zip(results.iter().copied()));
        builder.placed.clear();
        builder.steps(after, at);
        let mut left = Vec::new();
        for &exit in exits {
            let value = given(&mut builder, exit, at);
            let outputs: Vec<ValueId> = builder.r.ir().results(exit).collect();
            left.push((outputs[0], value));
            left.extend(outputs.get(1).copied().zip(results.get(types.len()).copied()));
        }
        let mut kept = std::mem::take(&mut builder.placed);
        kept.push(made);
        let n_conditionals = builder.n_conditionals;
        self.cx.count("num-conditionals", n_conditionals);
        self.cx.count("num-loops", 1);
        for (old, new) in left {
            self.r.replace(old, new);
            self.conditions.replace(old, new);
        }
        self.leave(frame, when, kept);
    }

    /// Moves ops of the loop, and those behind it, to the parent frame, and erases the rest of the frame.
    fn leave(&mut self, frame: FrameId, when: &Liveness, kept: Vec<OpId>) {
        let m = self.r.ir();
        for &op in &kept {
            self.conditions.set(m, op, when.clone());
        }
        let Some(parent) = self.frames.frame(frame).parent else { return };
        let enters = self.frames.frame(frame).enters.clone();
        let block = block_of(m, self.graph);
        let gone: Vec<OpId> = std::mem::take(&mut self.ops[frame.0 as usize])
            .into_iter()
            .chain(enters.iter().copied())
            .filter(|op| m.parent_block(*op) == block && !kept.contains(op))
            .collect();
        self.ops[parent.0 as usize].retain(|op| !enters.contains(op));
        self.ops[parent.0 as usize].extend(kept);
        for &op in &gone {
            let inside: Vec<OpId> = self.r.ir().walk(op).collect();
            inside.into_iter().for_each(|op| self.r.set_operands(op, &[]));
        }
        for op in gone {
            self.r.erase(op);
        }
    }
}

/// The operand of a region's terminator, behind its control edges.
fn given(builder: &mut build::FrameBuilder<'_, '_>, end: OpId, at: InsertionPoint) -> ValueId {
    let m = builder.r.ir();
    let i = usize::from(Primitive::of(m, end) == Some(Primitive::Sink));
    let value = builder.now(m.operand(end, i));
    let edges: Vec<ValueId> = m.operands(end).filter(|&operand| is_chain(m, operand)).collect();
    if edges.is_empty() {
        return value;
    }
    let loc: LocId = m.loc(end);
    let made = builder.identity(value, &edges, false, loc, at);
    builder.r.ir().result(made, 0)
}
