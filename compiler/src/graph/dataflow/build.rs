//! Execution of plans: ops are moved, and conditionals get regions.
//!
//! The operands of an op are replaced when it is moved. The replacement of a value, [`FrameBuilder::now`], is
//! the value forwarded through Switches, the result of a conditional whose border the value crosses, or an
//! argument of a loop's region.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};
use rustc_hash::FxHashMap;

use super::condition::{Chosen, Conditions, Literals, Liveness, Replaced};
use super::plan::{Branch, Crossing, PlanNode, PlanStep};
use super::{gated, is_fetch, shown};
use crate::dialects::tf;
use crate::dialects::tf_executor::{Primitive, is_chain};
use crate::ir::{AttrKind, BlockId, Context, KnownType, LocId, Module, NewOp, OpId, Traits, TypeId, ValueId};
use crate::pass::Rewriter;
use crate::rewrite::{InsertionPoint, would_be_trivially_dead};

const CHAIN: TypeId = KnownType::Chain.id();

/// True if [`FrameBuilder::zero`] has a placeholder of this type.
pub(super) fn has_zero(m: &Module, ty: TypeId) -> bool {
    matches!(tf::type_of(&m.cx, ty), Some((_, false)))
}

/// Executes the plans of one frame.
pub(super) struct FrameBuilder<'a, 'm> {
    pub(super) r: &'a mut Rewriter<'m>,
    conditions: &'a Conditions,
    /// The replacements of values.
    pub(super) replaced: FxHashMap<ValueId, ValueId>,
    /// The literals of the region that is being built.
    literals: Literals,
    /// The results of selects.
    selected: FxHashMap<usize, ValueId>,
    /// The ops that were moved or created.
    pub(super) placed: Vec<OpId>,
    pub(super) n_conditionals: u64,
}

impl<'a, 'm> FrameBuilder<'a, 'm> {
    pub(super) fn new(r: &'a mut Rewriter<'m>, conditions: &'a Conditions) -> FrameBuilder<'a, 'm> {
        let (replaced, literals, selected) = Default::default();
        FrameBuilder { r, conditions, replaced, literals, selected, placed: Vec::new(), n_conditionals: 0 }
    }

    /// The value that a value is replaced by at this point.
    pub(super) fn now(&self, value: ValueId) -> ValueId {
        let behind = |value| self.conditions.behind_under(self.r.ir(), value, &self.literals);
        let mut value = behind(value);
        while let Some(&next) = self.replaced.get(&value) {
            value = behind(next);
        }
        value
    }

    /// Executes steps at an insertion point.
    pub(super) fn steps(&mut self, steps: &[PlanStep], at: InsertionPoint) {
        for step in steps {
            match step {
                PlanStep::PlanNode(PlanNode::Op(op)) => self.place(*op, at),
                PlanStep::PlanNode(PlanNode::Copy(op)) => self.copy(*op, at),
                PlanStep::PlanNode(PlanNode::Gate(op)) => self.gate(*op, at),
                // A select is built with its conditional.
                PlanStep::PlanNode(PlanNode::Select(_)) => {}
                PlanStep::Branch(branch) => self.conditional(branch, at),
            }
        }
    }

    /// The operands of an op after replacements. Its control edges come from ops that remain.
    fn operands(&self, op: OpId) -> Vec<ValueId> {
        let m = self.r.ir();
        let is_constant = m.traits(op).has(Traits::CONSTANT);
        let (edges, data): (Vec<ValueId>, Vec<ValueId>) =
            m.operands(op).partition(|&value| is_chain(m, value));
        let mut operands: Vec<ValueId> = data.into_iter().map(|value| self.now(value)).collect();
        if !is_constant {
            operands.extend(self.edges(&edges));
        }
        operands
    }

    /// Control edges after replacements.
    pub(super) fn edges(&self, edges: &[ValueId]) -> Vec<ValueId> {
        let m = self.r.ir();
        let waited = edges.iter().flat_map(|&edge| self.conditions.waited_for(m, edge, &self.literals));
        // A ControlTrigger does not wait for ops that never run.
        let waited = waited.filter(|&edge| self.conditions.of_value(edge) != Liveness::Never);
        let mut found: Vec<ValueId> = waited.map(|edge| self.now(edge)).collect();
        // A primitive that was removed is complete when its operands are final.
        found.retain(|&edge| m.defining_op(edge).is_none_or(|from| Primitive::of(m, from).is_none()));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Moves an op. A terminator stays and gets its operands.
    fn place(&mut self, op: OpId, at: InsertionPoint) {
        let m = self.r.ir();
        let inside: Vec<OpId> = m.walk(op).collect();
        for inner in inside {
            let m = self.r.ir();
            let operands = match is_fetch(m, inner) && inner == op {
                true => self.fetched(op),
                false => self.operands(inner),
            };
            self.r.set_operands(inner, &operands);
        }
        let m = self.r.ir();
        if Primitive::of(m, op).is_none() && !is_fetch(m, op) {
            self.r.move_to(op, at);
            self.placed.push(op);
        }
    }

    /// The operands of the graph's terminator: selects for values that may be dead.
    fn fetched(&self, fetch: OpId) -> Vec<ValueId> {
        let m = self.r.ir();
        let chosen = |i| self.selected.get(&self.conditions.select_of(fetch, Replaced::Operand(i))?).copied();
        m.operands(fetch).enumerate().map(|(i, value)| chosen(i).unwrap_or_else(|| self.now(value))).collect()
    }

    fn copy(&mut self, op: OpId, at: InsertionPoint) {
        let operands = self.operands(op);
        let m = self.r.ir();
        let (name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
        let results: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let new = NewOp { loc, operands: &operands, results: &results, attrs: &attrs, ..NewOp::new(name) };
        let made = self.r.create(at, new);
        self.placed.push(made);
        let m = self.r.ir();
        self.replaced.extend(m.results(op).zip(m.results(made)));
    }

    /// An Identity that waits for control edges.
    pub(super) fn identity(
        &mut self,
        value: ValueId,
        edges: &[ValueId],
        is_watched: bool,
        loc: LocId,
        at: InsertionPoint,
    ) -> OpId {
        let operands = [&[value], edges].concat();
        let ty = self.r.ir().value_type(value);
        let results: &[TypeId] = if is_watched { &[ty, CHAIN] } else { &[ty] };
        let made = self.r.create_named(at, loc, Op::Identity.op_name(), &operands, results, &[]);
        self.placed.push(made);
        made
    }

    /// Places the gate of a Switch or a Merge.
    fn gate(&mut self, op: OpId, at: InsertionPoint) {
        let m = self.r.ir();
        let selected = self.conditions.select_of(op, Replaced::Result(m.result(op, 0)));
        let value = match selected.and_then(|select| self.selected.get(&select)) {
            Some(&value) => value,
            None => self.now(gated(m, self.conditions, op)),
        };
        let edges: Vec<ValueId> = m.operands(op).filter(|&operand| is_chain(m, operand)).collect();
        let edges = self.edges(&edges);
        let m = self.r.ir();
        let (data, chains): (Vec<ValueId>, Vec<ValueId>) =
            m.results(op).partition(|&result| !is_chain(m, result));
        let is_watched = chains.iter().any(|&chain| !m.is_unused(chain));
        // The index of a Merge's live input has a select of its own.
        let n = if Primitive::of(m, op) == Some(Primitive::Merge) { 1 } else { data.len() };
        let loc = m.loc(op);
        let made = self.identity(value, &edges, is_watched, loc, at);
        let made: Vec<ValueId> = self.r.ir().results(made).collect();
        self.replaced.extend(data.into_iter().take(n).map(|result| (result, made[0])));
        self.replaced.extend(chains.into_iter().zip(made.get(1).copied()));
    }

    /// Builds a conditional.
    fn conditional(&mut self, branch: &Branch, at: InsertionPoint) {
        let Branch { predicate, branches, selects, crossing: Crossing { values, chosen, chains } } = branch;
        self.n_conditionals += 1;
        let conditions = self.conditions;
        let is_number = conditions.predicate(*predicate).is_some_and(|predicate| predicate.is_number);
        let name = if is_number { "tf.CaseRegion" } else { "tf.IfRegion" };
        let mut types: Vec<TypeId> = selects.iter().map(|&select| conditions.selects[select].ty).collect();
        for &(value, _) in values {
            let m = self.r.ir();
            let element = m.cx.element(m.value_type(value));
            types.push(tf::tensor(self.r.cx(), None, element));
        }
        if !chains.is_empty() {
            types.push(CHAIN);
        }
        let m = self.r.ir();
        let of = selects.first().map(|&select| conditions.selects[select].op);
        let loc = of.or(m.defining_op(*predicate)).map_or(LocId::UNKNOWN, |op| m.loc(op));
        let made = self.r.create_named(at, loc, name, &[self.now(*predicate)], &types, &[]);
        // Branch number 1, for true, is the first region.
        let order: Vec<usize> = if is_number { (0..branches.len()).collect() } else { vec![1, 0] };
        for number in order {
            let region = self.r.add_region(made);
            let block = self.r.add_block(region);
            self.literals.push((*predicate, number));
            self.steps(&branches[number], InsertionPoint::End(block));
            let mut yielded = Vec::new();
            for &select in selects {
                yielded.push(self.source(select, number, block));
            }
            for &(value, of) in values {
                let value = self.now(value);
                yielded.push(if of == number {
                    value
                } else {
                    self.zero(self.r.ir().value_type(value), block)
                });
            }
            self.r.create_named(InsertionPoint::End(block), loc, "tf.Yield", &yielded, &[], &[]);
            self.literals.pop();
        }
        if would_be_trivially_dead(self.r.ir(), made) {
            let (name, yes) = (self.r.cx().str_id("is_stateless"), self.r.cx().bool_attr(true));
            self.r.set_attr(made, name, yes);
        }
        let results: Vec<ValueId> = self.r.ir().results(made).collect();
        for (&select, &result) in selects.iter().zip(&results) {
            self.selected.insert(select, result);
            // A gated Merge is replaced by its gate.
            if let Some(Replaced::Result(value)) = conditions.selects[select].replaces
                && !(conditions.is_gated(conditions.selects[select].op)
                    && value == self.r.ir().result(conditions.selects[select].op, 0))
            {
                self.replaced.insert(value, result);
            }
        }
        for (&(value, _), &result) in values.iter().zip(&results[selects.len()..]) {
            let value = self.now(value);
            self.replaced.insert(value, result);
        }
        for (value, select) in chosen {
            let value = self.now(*value);
            let chosen = self.selected[select];
            if value != chosen {
                self.replaced.insert(value, chosen);
            }
        }
        for &chain in chains {
            let (chain, done) = (self.now(chain), results[results.len() - 1]);
            // An inner conditional may complete several chains.
            if chain != done {
                self.replaced.insert(chain, done);
            }
        }
    }

    /// The operand of a select in a branch.
    fn source(&mut self, select: usize, branch: usize, block: BlockId) -> ValueId {
        let select = &self.conditions.selects[select];
        let m = self.r.ir();
        match select.of[branch] {
            Chosen::Input(op, i) => self.now(m.operand(op, i)),
            Chosen::Select(inner) => self.selected[&inner],
            Chosen::Number(number) => {
                let value = f64::from(number);
                self.constant(block, |cx| tf::scalar_attr(cx, value, DType::I32))
            }
            Chosen::Dead(op, i) => {
                let text = format!("the fetched value of {} is dead", shown(m, m.operand(op, i)));
                self.dead(&text, select.ty, block)
            }
        }
    }

    /// A constant of a computed attribute.
    fn constant(
        &mut self,
        block: BlockId,
        attr: impl Fn(&mut Context) -> Option<crate::ir::AttrId>,
    ) -> ValueId {
        let attr = attr(self.r.cx()).unwrap_or_else(|| self.r.cx().bool_attr(false));
        let ty = self.r.ir().cx.attr_type(attr).unwrap_or(CHAIN);
        let at = InsertionPoint::End(block);
        let op = self.r.create_named(at, LocId::UNKNOWN, Op::Const.op_name(), &[], &[ty], &[("value", attr)]);
        self.r.ir().result(op, 0)
    }

    /// A result that is never used: a zero, an empty string, an uninitialized variable, an empty list.
    fn zero(&mut self, ty: TypeId, block: BlockId) -> ValueId {
        let cx = self.r.cx();
        let of = tf::type_of(cx, ty).map(|(ty, _)| ty);
        let (f32, scalar) = (cx.type_attr(KnownType::F32.id()), tf::shape_attr(cx, Some(&[])));
        let (op, operands, attrs) = match of {
            Some(Type::Resource) => (Op::VarHandleOp, vec![], vec![("dtype", f32), ("shape", scalar)]),
            Some(Type::Variant) => {
                let shape = self.constant(block, |cx| tf::ints_attr(cx, &[], &[0], DType::I32));
                let most = self.constant(block, |cx| tf::scalar_attr(cx, 0.0, DType::I32));
                (Op::EmptyTensorList, vec![shape, most], vec![("element_dtype", f32)])
            }
            Some(Type::String) => return self.text("", block),
            of => {
                let dtype = of.and_then(Type::dtype);
                return self.constant(block, |cx| tf::scalar_attr(cx, 0.0, dtype?));
            }
        };
        let cx = self.r.cx();
        let result = tf::tensor(cx, None, cx.element(ty));
        let at = InsertionPoint::End(block);
        let made = self.r.create_named(at, LocId::UNKNOWN, op.op_name(), &operands, &[result], &attrs);
        self.r.ir().result(made, 0)
    }

    fn text(&mut self, text: &str, block: BlockId) -> ValueId {
        self.constant(block, |cx| {
            let element = tf::element(cx, Type::String, false);
            let (ty, text) = (tf::tensor(cx, Some(&[]), element), cx.str_attr(text));
            Some(cx.attr_id(AttrKind::DenseStrings { ty, splat: true, strings: Box::new([text]) }))
        })
    }

    /// An op that fails because a value is dead.
    fn dead(&mut self, text: &str, ty: TypeId, block: BlockId) -> ValueId {
        let never = self.constant(block, |cx| tf::scalar_attr(cx, 0.0, DType::I1));
        let message = self.text(text, block);
        let value = self.zero(ty, block);
        let at = InsertionPoint::End(block);
        let check = [never, message];
        let assert = self.r.create_named(at, LocId::UNKNOWN, Op::Assert.op_name(), &check, &[CHAIN], &[]);
        let failed = self.r.ir().result(assert, 0);
        let made = self.identity(value, &[failed], false, LocId::UNKNOWN, at);
        self.r.ir().result(made, 0)
    }
}
