//! `tf_executor`: TensorFlow 1's dataflow control flow, the primitives Switch, Merge, Enter, Exit,
//! NextIteration and LoopCond, in graphs.
//!
//! ```text
//! %r = tf_executor.graph -> tensor<i32> {        // 0 + 1 + ... while it is < %limit
//!   %next, %token = tf_executor.NextIteration.Source : () -> (tensor<i32>, !tf_executor.token)
//!   %l = tf_executor.Enter %limit frame "w" constant true : (tensor<i32>) -> tensor<i32>
//!   %e = tf_executor.Enter %zero frame "w" : (tensor<i32>) -> tensor<i32>
//!   %i, %from = tf_executor.Merge %e, %next : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
//!   %less = "tf.Less"(%i, %l) : (tensor<i32>, tensor<i32>) -> tensor<i1>
//!   %c = tf_executor.LoopCond %less : (tensor<i1>) -> tensor<i1>
//!   %done, %go = tf_executor.Switch %i, %c : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
//!   %one, %ch = "tf.OnesLike"(%go) : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
//!   %sum = "tf.AddV2"(%go, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
//!   tf_executor.NextIteration.Sink %token, %sum : (!tf_executor.token, tensor<i32>) -> ()
//!   %x = tf_executor.Exit %done : (tensor<i32>) -> tensor<i32>
//!   tf_executor.fetch %x : tensor<i32>
//! }
//! ```
//!
//! Names, attributes and the order of operands and results are those of MLIR's dialect of this name. Three
//! things are simpler. Ops of `tf` are in the graph directly; an island only groups ops that are live or dead
//! together. A control edge is a `!tfrt.chain`, as everywhere in the op graph: after the data operands, and
//! after the data results of an op that others wait for. MLIR's `!tf_executor.control` would be a second type
//! for the same thing. Finally, the result types of a graph are written, while MLIR takes them from its
//! `fetch`. The primitives on references to variables (`RefSwitch` ...) are the same ops on tensors of
//! references.
//!
//! A value is live, dead, or an error; `semantics.md` says which ops forward deadness. So no pass may treat a
//! graph as straight-line code: `tf-functionalize-control-flow` (`graph/dataflow`) runs before all others and
//! turns it into functions and calls.
//!
//! A graph is acyclic: a NextIteration is a `Source` before the Merge and a `Sink` after the loop's body,
//! tied by a token. [`frames`] finds the loops, and refuses graphs whose frames are no nested loops.

mod errors;
pub mod frames;

use super::{Arity, AttrConstraint as A, Effects, OpDef, OperandMode, Registry, Traits, TypeConstraint as T};
use crate::diag::Diagnostic;
use crate::ir::{BlockId, KnownType, Module, OpId, TypeId, ValueId};

pub use errors::{beside_graph, enters_itself, node};

/// The op that holds a graph.
pub const GRAPH: &str = "tf_executor.graph";

/// The terminator of a graph, with its results and the chains that it waits for.
pub const FETCH: &str = "tf_executor.fetch";

/// A group of ops that lives or dies as one.
pub const ISLAND: &str = "tf_executor.island";

/// The terminator of an island.
pub const YIELD: &str = "tf_executor.yield";

/// The type that ties a `NextIteration.Source` to its sink.
pub const TOKEN: &str = "tf_executor.token";

/// The pass that replaces the primitives by calls of functions.
pub const FUNCTIONALIZE: &str = "tf-functionalize-control-flow";

/// The pass that replaces the primitives by kernels.
pub const TO_KERNELS: &str = "tf-executor-to-kernels";

/// An attribute of functions that this pass made: `graph`, or `loop` for an iteration. Nothing but operands
/// orders their ops.
pub const FRAME: &str = "tf_executor.frame";

/// A primitive of dataflow control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Forwards its operand as one of two results; the other is dead.
    Switch,
    /// Forwards its operand as one of several results; the others are dead.
    SwitchN,
    /// Forwards the operand that is not dead.
    Merge,
    /// Passes a value into a frame.
    Enter,
    /// Passes a value out of a frame.
    Exit,
    /// The value from the previous iteration.
    Source,
    /// The value for the next iteration.
    Sink,
    /// The condition of a loop.
    LoopCond,
    /// A place for control edges that runs whatever they carry.
    ControlTrigger,
}

/// Each primitive, its op, and TensorFlow's names of it. A NextIteration of TensorFlow's is two ops.
const PRIMITIVES: [(Primitive, &str, &[&str]); 9] = [
    (Primitive::Switch, "tf_executor.Switch", &["Switch", "RefSwitch"]),
    (Primitive::SwitchN, "tf_executor._SwitchN", &["_SwitchN"]),
    (Primitive::Merge, "tf_executor.Merge", &["Merge", "RefMerge"]),
    (Primitive::Enter, "tf_executor.Enter", &["Enter", "RefEnter"]),
    (Primitive::Exit, "tf_executor.Exit", &["Exit", "RefExit"]),
    (Primitive::Source, "tf_executor.NextIteration.Source", &[]),
    (Primitive::Sink, "tf_executor.NextIteration.Sink", &["NextIteration", "RefNextIteration"]),
    (Primitive::LoopCond, "tf_executor.LoopCond", &["LoopCond"]),
    (Primitive::ControlTrigger, "tf_executor.ControlTrigger", &["ControlTrigger"]),
];

impl Primitive {
    /// The primitive that an op is.
    pub fn of(m: &Module, op: OpId) -> Option<Primitive> {
        let name = m.op_name_str(op);
        if !name.starts_with("tf_executor.") {
            return None;
        }
        PRIMITIVES.iter().find(|(_, op, _)| *op == name).map(|&(primitive, ..)| primitive)
    }

    /// The primitive that a node with this operation is; a NextIteration is a [`Primitive::Sink`].
    pub fn of_node(operation: &str) -> Option<Primitive> {
        PRIMITIVES.iter().find(|(.., nodes)| nodes.contains(&operation)).map(|&(primitive, ..)| primitive)
    }

    /// The name of its op.
    pub fn op_name(self) -> &'static str {
        PRIMITIVES[self as usize].1
    }
}

/// The block of a graph or an island.
pub fn block_of(m: &Module, op: OpId) -> Option<BlockId> {
    m.regions_of(op).first().and_then(|&region| m.entry(region))
}

/// The operands of an op in front of its control edges.
pub fn data_operands(m: &Module, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
    m.operands(op).filter(|&value| !is_chain(m, value))
}

/// True for a control edge.
pub fn is_chain(m: &Module, value: ValueId) -> bool {
    m.value_type(value) == KnownType::Chain.id()
}

const CHAIN: T = T::Is(KnownType::Chain);

/// A value that a loop carries: a tensor, or the frame in which a part of a divided program sends and
/// receives.
const CARRIED: T = T::TensorOr(KnownType::Step);

fn primitive(of: Primitive, summary: &'static str) -> OpDef {
    OpDef::new(of.op_name(), summary).parents(&[GRAPH]).lowered_by(FUNCTIONALIZE)
}

/// With control edges, which are its last operands, and a completion.
fn with_edges(def: OpDef) -> OpDef {
    def.operand_with("controls", CHAIN, Arity::Variadic, OperandMode::Required).result_with(
        "control",
        CHAIN,
        Arity::Optional,
    )
}

/// With the form of all operands and the types of all values.
fn plain(def: OpDef) -> OpDef {
    def.format("operands attr-dict `:` functional-type(operands, results)")
}

pub(super) fn ops(r: &mut Registry) {
    groups(r);
    r.add(plain(
        with_edges(
            primitive(Primitive::Switch, "the operand on one of two ways, dead on the other")
                .operand("data", CARRIED)
                .operand("predicate", T::AnyTensor)
                .result("falseOutput", CARRIED)
                .result("trueOutput", CARRIED),
        )
        .pure()
        .verifier(verify_switch),
    ));
    r.add(plain(
        primitive(Primitive::SwitchN, "the operand on one of several ways, dead on the others")
            .operand("data", T::AnyTensor)
            .operand("index", T::AnyTensor)
            .operand_with("controls", CHAIN, Arity::Variadic, OperandMode::Required)
            .result_with("outputs", T::Any, Arity::Variadic)
            .pure()
            .verifier(verify_switch),
    ));
    r.add(plain(
        primitive(Primitive::Merge, "the first operand that is not dead, and its number")
            .operand_with("inputs", T::Any, Arity::Variadic, OperandMode::Required)
            .result("output", CARRIED)
            .result("value_index", T::AnyTensor)
            .result_with("control", CHAIN, Arity::Optional)
            .pure()
            .verifier(verify_same),
    ));
    r.add(
        with_edges(
            primitive(Primitive::Enter, "the operand in the first iteration of a frame, or in all")
                .operand("data", CARRIED)
                .attr("frame_name", A::Str)
                .optional_attr("is_constant", A::Bool)
                .optional_attr("parallel_iterations", A::Int(KnownType::I64))
                .result("output", CARRIED),
        )
        .pure()
        .verifier(verify_same)
        .format(
            "operands `frame` $frame_name (`constant` $is_constant^)? attr-dict `:` \
             functional-type(operands, results)",
        ),
    );
    let one = |of, summary, name| {
        plain(
            with_edges(primitive(of, summary).operand(name, T::AnyTensor).result("output", T::AnyTensor))
                .pure()
                .verifier(verify_same),
        )
    };
    r.add(one(
        Primitive::Exit,
        "the operand out of its frame, from the iteration in which it is live",
        "input",
    ));
    r.add(one(Primitive::LoopCond, "the condition of a frame", "input"));
    // Neither is pure: two sources are two values.
    r.add(plain(
        primitive(Primitive::Source, "what the sink of this token was given in the iteration before")
            .result("output", CARRIED)
            .result("token", T::Opaque("!tf_executor.token"))
            .result_with("control", CHAIN, Arity::Optional),
    ));
    r.add(plain(
        primitive(Primitive::Sink, "the operand in the next iteration, where the source of the token is")
            .operand("token", T::Opaque("!tf_executor.token"))
            .operand("input", CARRIED)
            .operand_with("controls", CHAIN, Arity::Variadic, OperandMode::Required),
    ));
    r.add(plain(with_edges(primitive(
        Primitive::ControlTrigger,
        "nothing; runs whatever its control edges carry",
    ))));
}

/// The ops with regions, and their terminators.
fn groups(r: &mut Registry) {
    let end = |name: &str, summary, parent: &'static [&'static str]| {
        OpDef::new(name, summary)
            .operand_with("fetches", T::Any, Arity::Variadic, OperandMode::Required)
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(parent)
            .lowered_by(FUNCTIONALIZE)
            .format("($fetches^ `:` type($fetches))? attr-dict")
    };
    r.add(end(FETCH, "ends a graph with its results, and waits for control edges", &[GRAPH]));
    r.add(end(YIELD, "ends an island with its results", &[ISLAND]));
    let group = |name: &str, summary, end| {
        let mut def = OpDef::new(name, summary)
            .result_with("results", T::Any, Arity::Variadic)
            .region_ending("body", false, end)
            .traits(Traits::SINGLE_BLOCK.and(Traits::DATAFLOW))
            .lowered_by(FUNCTIONALIZE);
        def.effects = Effects::Recursive;
        def
    };
    r.add(
        group(GRAPH, "a graph with dataflow control flow", FETCH)
            .verifier(verify_graph)
            .format("arrow-types(results) $body attr-dict"),
    );
    r.add(
        group(ISLAND, "ops that live or die as one", YIELD)
            .operand_with("controls", CHAIN, Arity::Variadic, OperandMode::Required)
            .parents(&[GRAPH])
            .traits(Traits::DATAFLOW)
            .verifier(verify_island)
            .format("(`after` $controls^)? arrow-types(results) $body attr-dict"),
    );
}

fn data_types(m: &Module, values: impl Iterator<Item = ValueId>) -> Vec<TypeId> {
    values.filter(|&value| !is_chain(m, value)).map(|value| m.value_type(value)).collect()
}

/// The element types of the data operands and results must agree: shapes may be known in one place only.
fn verify_same(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let n = if Primitive::of(m, op) == Some(Primitive::Merge) { 1 } else { usize::MAX };
    let inputs = data_types(m, m.operands(op));
    let results = data_types(m, m.results(op).take(n));
    elements_agree(m, op, &inputs, &results, diags);
    if inputs.is_empty() {
        diags.push(errors::malformed(m, op, "it has no operand"));
    }
}

fn verify_switch(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let inputs = data_types(m, m.operands(op).take(1));
    let results = data_types(m, m.results(op));
    elements_agree(m, op, &inputs, &results, diags);
    let is_n = Primitive::of(m, op) == Some(Primitive::SwitchN);
    let want = if is_n { KnownType::I32 } else { KnownType::I1 };
    if let Some(by) = m.operands(op).nth(1)
        && m.cx.element(m.value_type(by)) != want.id()
    {
        diags.push(errors::malformed(m, op, &format!("its operand #1 is no tensor of {}", want.name())));
    }
    if results.is_empty() {
        diags.push(errors::malformed(m, op, "it has no result"));
    }
}

fn elements_agree(m: &Module, op: OpId, inputs: &[TypeId], results: &[TypeId], diags: &mut Vec<Diagnostic>) {
    let mut elements = inputs.iter().chain(results).map(|&ty| m.cx.element(ty));
    if let Some(first) = elements.next()
        && elements.any(|element| element != first)
    {
        diags.push(errors::malformed(m, op, "its operands and results have different element types"));
    }
}

/// The element types of values: passes may learn shapes on one side only.
fn element_types(m: &Module, values: impl Iterator<Item = ValueId>) -> Vec<TypeId> {
    data_types(m, values).into_iter().map(|ty| m.cx.element(ty)).collect()
}

/// The results of a graph are the fetched values without control edges, and its frames are well-formed.
fn verify_graph(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(end) = block_of(m, op).and_then(|block| m.last_op(block)) else { return };
    if m.op_name_str(end) != FETCH {
        return;
    }
    if element_types(m, m.operands(end)) != element_types(m, m.results(op)) {
        diags.push(errors::malformed(m, op, "its results are not those that it fetches"));
    }
    if let Err(wrong) = frames::Frames::of(m, op) {
        diags.extend(wrong);
    }
}

/// The results of an island are those that it yields, and its completion.
fn verify_island(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(end) = block_of(m, op).and_then(|block| m.last_op(block)) else { return };
    if m.op_name_str(end) == YIELD && element_types(m, m.operands(end)) != element_types(m, m.results(op)) {
        diags.push(errors::malformed(m, op, "its results are not those that it yields"));
    }
}
