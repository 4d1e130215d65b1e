//! `tf`: the op graph. TensorFlow's operators on values of type `tensor<...>`, with TensorFlow's names,
//! attributes and order of operands.
//!
//! ```text
//! %2 = "tf.Conv2D"(%0, %1) {strides = [1, 2, 2, 1], padding = "SAME"}
//!     : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x4x4x16xf32>
//! %3, %done = "tf.ReadVariableOp"(%v, %after)
//!     : (tensor<!tf_type.resource>, !tfrt.chain) -> (tensor<4xf32>, !tfrt.chain)
//! ```
//!
//! The table is generated from the tensor library's rows, which folding and kernels use as well. Attributes
//! derived from types (`T`, `N`, `Tin`) are not written. Other omitted attributes have TensorFlow's defaults.
//!
//! Any op may have control edges: operands of type `!tfrt.chain` after the others, for which it waits, and
//! one more result of that type, which becomes available when the op has completed. Control edges propagate
//! errors.
//!
//! Types: `tensor<2x?xf32>`, `tensor<*x!tf_type.string>`, `!tf_type.resource`, `!tf_type.variant`;
//! `tensor<4x!tf_type.f32ref>` is a reference to a variable that holds f32.

mod attrs;
pub(crate) mod request;
mod total;
mod types;

pub use attrs::{
    IrAttrs, attrs_of, declared_attr, dense_ints, dense_splat, dense_tensor, derived_attrs, ints_attr,
    scalar_attr, shape_attr, shape_of_attr, splat_attr, tensor_attr,
};
pub use total::{MAX_SHAPE_CONSTANT, small_constant};
pub use types::{element, is_resource, tensor, type_of, with_element};

use bef_format::is_own_attr;
use befrost_tensor::TensorError;
use befrost_tensor::tf::op::{
    Arg, ArgType, AttrKind, Attrs, Effect, Gradient, Op, OpRow, Signature, Traits as RowTraits, rows,
};

use super::{
    Access, Arity, AttrConstraint as A, EffectResource, Effects, OpDef, OperandMode, Registry, Traits,
    TypeConstraint as T,
};
use crate::diag::Diagnostic;
use crate::diag::factory::nearest;
use crate::ir::{KnownType, Module, OpId, TypeId, ValueId, names};

/// The op that reads the variable that a reference denotes.
pub const READ_REF: &str = "tf._ReadRef";

/// The pass that lowers operators to kernels.
pub const TF_TO_KERNELS: &str = "tf-to-kernels";

/// The pass that turns regions of operators into functions.
pub const OUTLINE_REGIONS: &str = "tf-outline-regions";

/// The op that reads the truth of a tensor.
pub const PREDICATE: &str = "tf._Predicate";

/// The op that reads the number of a branch.
pub const BRANCH_INDEX: &str = "tf._BranchIndex";

/// The pass that replaces requests for gradients.
pub const GRADIENTS: &str = "tf-gradients";

/// The attribute of functions and of ops that call them, which says what backward functions compute again.
pub const RECOMPUTE: &str = "bef.recompute";

/// The attribute of a loop: the number of iterations from one state that is kept for the backward loop to the
/// next.
pub const KEEP_EVERY: &str = "bef.keep_every";

/// The attribute with the memory plan of an operator's results: whether in place, then offset and size of
/// each one.
pub const MEMORY: &str = "memory";

/// The row of an op's operator.
pub fn row(m: &Module, op: OpId) -> Option<&'static OpRow> {
    m.def(op)?.row
}

/// The operator of an op, if it is in the standard tables.
pub fn operator(m: &Module, op: OpId) -> Option<Op> {
    row(m, op)?.op
}

/// True if an op returns its operands unchanged, of any types.
pub fn is_passing(m: &Module, op: OpId) -> bool {
    row(m, op).is_some_and(|row| row.has(RowTraits::PASSING))
}

/// True for operators whose result is a resource that the attributes `container` and `shared_name` name.
pub fn names_resource(row: &OpRow) -> bool {
    row.signature().attr("shared_name").is_some()
}

/// True for operators that create variables: named resources of a declared shape.
pub fn creates_variable(row: &OpRow) -> bool {
    names_resource(row) && row.signature().attr("shape").is_some()
}

/// TensorFlow's name of an op of this dialect.
pub fn op_of(name: &str) -> Option<&str> {
    name.strip_prefix("tf.")
}

/// Control flow over functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Calls the function `f`.
    Call,
    /// Calls `then_branch` or `else_branch`, selected by operand 0.
    If,
    /// Calls one of `branches`, selected by operand 0.
    Case,
    /// Calls `body` while `cond` holds.
    While,
}

impl Control {
    /// The kind of an op's operator; `None` if it is no control flow.
    pub fn of(m: &Module, op: OpId) -> Option<Control> {
        Some(match operator(m, op)? {
            Op::PartitionedCall | Op::StatefulPartitionedCall => Control::Call,
            Op::If | Op::StatelessIf => Control::If,
            Op::Case | Op::StatelessCase => Control::Case,
            Op::While | Op::StatelessWhile => Control::While,
            _ => return None,
        })
    }

    /// True for a conditional, whose operand 0 is the predicate.
    pub fn is_branch(self) -> bool {
        matches!(self, Control::If | Control::Case)
    }

    /// Number of the operand that is argument 0 of the functions.
    pub fn first_argument(self) -> usize {
        usize::from(self.is_branch())
    }
}

/// True if an attribute is derived from the types of operands and results, so that it is not written. The
/// length of a list is derived if the operands, or the results, have no other list of unknown length. The
/// length of a list with a default is not.
pub fn is_derived(signature: &Signature, attr: &str) -> bool {
    let length = |arg: &Arg| match arg.ty {
        ArgType::List(name) => Some(name),
        ArgType::Attr(_) | ArgType::Is(_) => arg.number,
    };
    [&signature.inputs, &signature.outputs].into_iter().any(|args| {
        let of_type = args.iter().any(|arg| matches!(arg.ty, ArgType::Attr(name) if name == attr));
        let has_default = |name: &str| signature.attr(name).is_some_and(|attr| attr.default.is_some());
        let mut open = args.iter().filter_map(length).filter(|name| !has_default(name)).peekable();
        of_type || open.peek().is_some() && open.all(|name| name == attr)
    })
}

/// Number of data operands of an op. An arena for its results and control edges may follow them.
pub fn n_data_operands(m: &Module, op: OpId) -> usize {
    data(m, m.operands(op))
}

/// Number of data results of an op. The completion chain may follow them.
pub fn n_data_results(m: &Module, op: OpId) -> usize {
    data(m, m.results(op))
}

fn data(m: &Module, values: impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator) -> usize {
    values.len() - values.rev().take_while(|&value| !is_data(m.value_type(value))).count()
}

/// The types before the arena and the control edges, which stand last.
pub fn data_types(types: &[TypeId]) -> &[TypeId] {
    &types[..types.iter().rposition(|&ty| is_data(ty)).map_or(0, |last| last + 1)]
}

fn is_data(ty: TypeId) -> bool {
    ty != KnownType::Chain.id() && ty != KnownType::Arena.id()
}

/// Number of control edges of an op, which are its last operands.
pub fn n_control_edges(m: &Module, op: OpId) -> usize {
    m.operands(op).rev().take_while(|&value| m.value_type(value) == KnownType::Chain.id()).count()
}

pub(super) fn ops(r: &mut Registry) {
    for row in rows() {
        add(r, row);
    }
    with_regions(r);
    dataflow(r);
    r.add(
        OpDef::new("tf._Strings", "a constant tensor of strings")
            .attr("shape", A::IntArray(KnownType::I64))
            .attr("strings", A::Array)
            .result("value", T::AnyTensor)
            .pure()
            .gradient(Gradient::Constant)
            .kernel(),
    );
    r.add(
        OpDef::new(request::REQUEST, "the gradients of values by others; the sum over the values")
            .operand_with("ys", T::Any, Arity::Variadic, OperandMode::Required)
            .operand_with("dys", T::Any, Arity::Variadic, OperandMode::Required)
            .operand_with("xs", T::Any, Arity::Variadic, OperandMode::Required)
            .operand_with("stops", T::Any, Arity::Variadic, OperandMode::Required)
            .traits(Traits::OPERAND_SEGMENTS)
            .optional_attr("unconnected", A::Str)
            .result_with("dxs", T::Any, Arity::Variadic)
            .pure()
            .verifier(request::verify)
            .lowered_by(GRADIENTS),
    );
    r.add(
        OpDef::new(
            PREDICATE,
            "whether a tensor is true: a number that is not 0, or a tensor of other ranks that is not empty",
        )
        .operand("x", T::AnyTensor)
        .result("is_true", T::Is(KnownType::I1))
        .pure()
        .kernel(),
    );
    r.add(
        OpDef::new(BRANCH_INDEX, "the number of a branch; that of the last one if there is no such branch")
            .operand("index", T::AnyTensor)
            .attr("branches", A::Int(KnownType::I64))
            .result("number", T::Is(KnownType::I32))
            .pure()
            .kernel(),
    );
    r.add(
        blank(READ_REF, "what a reference to a variable refers to")
            .result_with("outputs", T::Any, Arity::Variadic)
            .effect(Access::Read, EffectResource::State)
            .gradient(Gradient::Rule)
            .kernel(),
    );
}

/// Adds the kernels of dataflow control flow, which `tf-executor-to-kernels` makes of the primitives.
fn dataflow(r: &mut Registry) {
    let def = |name: &str, summary| OpDef::new(name, summary).pure().kernel();
    let observer = |name: &str, summary| def(name, summary).observes();
    let way = |name: &str, summary, by| {
        observer(name, summary).operand("data", T::Any).operand(by, T::Any).control_edges().result_with(
            "results",
            T::Any,
            Arity::Variadic,
        )
    };
    r.add(
        way("tf._Switch", "the first operand on one of two ways, dead on the other", "predicate")
            .attr("is_loop_cond", A::Bool),
    );
    r.add(way("tf._SwitchCase", "the first operand on one of several ways, dead on the others", "index"));
    r.add(
        observer("tf._Merge", "the first operand that is not dead, its number, and its completion")
            .operand_with("inputs", T::Any, Arity::Variadic, OperandMode::Required)
            .control_edges()
            .result_with("results", T::Any, Arity::Variadic),
    );
    r.add(
        def("tf._IndexTensor", "a number as a tensor")
            .operand("number", T::Is(KnownType::I32))
            .result("tensor", T::AnyTensor),
    );
    r.add(
        observer("tf._IsLive", "whether a value is not dead")
            .operand("value", T::Any)
            .result("is_live", T::Is(KnownType::I1)),
    );
    // Its chains are no control edges: it takes them dead or not.
    r.add(
        observer("tf._Join", "a chain behind values that may be dead")
            .operand_with("values", T::Any, Arity::Variadic, OperandMode::Required)
            .result("chain", T::Is(KnownType::Chain)),
    );
    r.add(def("tf._Dead", "a dead value").result("dead", T::Any));
    r.add(
        observer("tf._Fetch", "a value that must not be dead")
            .operand("value", T::Any)
            .control_edges()
            .result("result", T::Any),
    );
}

/// Adds control flow with regions, which `tf-outline-regions` turns into functions.
fn with_regions(r: &mut Registry) {
    let def = |name: &str, summary| {
        let mut def = blank(name, summary)
            .result_with("outputs", T::Any, Arity::Variadic)
            .optional_attr("is_stateless", A::Bool)
            .traits(Traits::SINGLE_BLOCK)
            .lowered_by(OUTLINE_REGIONS);
        def.effects = Effects::Recursive;
        def
    };
    r.add(
        def("tf.IfRegion", "does one of two things")
            .region("then_branch", false)
            .region("else_branch", false)
            .verifier(verify_regions),
    );
    r.add(
        def("tf.CaseRegion", "does one of several things, the last one if there is none of that number")
            .regions("branches")
            .verifier(verify_regions),
    );
    r.add(
        def("tf.WhileRegion", "does something while a condition holds")
            .optional_attr("parallel_iterations", A::Int(KnownType::I64))
            .region("cond", false)
            .region("body", false)
            .verifier(verify_regions),
    );
    r.add(
        OpDef::new("tf.Yield", "ends a region with its results")
            .operand_with("results", T::Any, Arity::Variadic, OperandMode::Required)
            .pure()
            .traits(Traits::TERMINATOR.and(Traits::YIELD))
            .parents(&["tf.IfRegion", "tf.CaseRegion", "tf.WhileRegion"])
            .lowered_by(OUTLINE_REGIONS),
    );
}

/// Checks that regions have the op's operands as arguments and yield its results.
fn verify_regions(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let n_data = n_data_operands(m, op);
    let is_loop = m.op_name_str(op) == "tf.WhileRegion";
    let n_results = n_data_results(m, op);
    let mut complain = |why: String| diags.push(super::errors::tf_signature(m, op, &why));
    match (is_loop, n_data) {
        (true, _) if n_data != n_results => complain(format!("{n_data} values go in, {n_results} come out")),
        (false, 0) => complain("no operand says which region runs".to_owned()),
        (false, 2..) => complain(format!("{n_data} operands, expected one")),
        _ => {}
    }
    for (i, &region) in m.regions_of(op).iter().enumerate() {
        let &[block] = m.blocks_of(region) else { continue };
        let n_args = if is_loop { n_data } else { 0 };
        if m.args(block).len() != n_args {
            complain(format!("region {i} takes {} values, expected {n_args}", m.args(block).len()));
        }
        let Some(end) = m.last_op(block).filter(|&end| m.op_name_str(end) == "tf.Yield") else {
            complain(format!("region {i} does not end with 'tf.Yield'"));
            continue;
        };
        let n_yielded = if is_loop && i == 0 { 1 } else { n_results };
        if m.n_operands(end) != n_yielded {
            complain(format!("region {i} yields {} values, expected {n_yielded}", m.n_operands(end)));
        }
    }
}

/// An op with any operands and results.
fn blank(name: &str, summary: &'static str) -> OpDef {
    OpDef::new(name, summary)
        .operand_with("inputs", T::Any, Arity::Variadic, OperandMode::Required)
        .control_edges()
}

/// Adds the op of an operator, possibly of another crate.
pub fn add(r: &mut Registry, row: &'static OpRow) {
    let def = blank(row.op_name, row.summary())
        .result_with("outputs", T::Any, Arity::Variadic)
        .named_attrs()
        .verifier(verify)
        .total_if(total::is_total)
        .row(row);
    let def = row.signature().attrs.iter().fold(def, |def, attr| {
        let kind = match attr.kind {
            AttrKind::Func => A::FlatSymbol,
            AttrKind::List(AttrKind::Func) => A::SymbolArray,
            _ => A::Any,
        };
        def.optional_attr(attr.name, kind)
    });
    // The placement of results by `tf-plan-memory`.
    let def = if row.has_function() { def.optional_attr(MEMORY, A::IntArray(KnownType::I64)) } else { def };
    let def = match row.effect() {
        Effect::Pure => def.pure(),
        Effect::Allocate => def.effect(Access::Alloc, EffectResource::Result(0)),
        Effect::Read => def.effect(Access::Read, EffectResource::State),
        Effect::Write => def.effect(Access::Write, EffectResource::State),
        Effect::OfCallees => def.effects_of_callees(),
    };
    let def = [(RowTraits::CONSTANT, Traits::CONSTANT), (RowTraits::COMMUTATIVE, Traits::COMMUTATIVE)]
        .into_iter()
        .filter(|&(of_row, _)| row.has(of_row))
        .fold(def, |def, (_, of_op)| def.traits(of_op));
    let is_call = matches!(row.op, Some(Op::PartitionedCall | Op::StatefulPartitionedCall));
    let def = if is_call { def.callee("f") } else { def };
    let def = def.gradient(row.gradient());
    r.add(match row.has_kernel() {
        true => def.kernel(),
        false if row.has(RowTraits::LOWERED) => def.lowered_by(TF_TO_KERNELS),
        false => def,
    });
}

/// Checks operands, results and attributes against the signature, as far as loading a program does.
fn verify(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let Some(row) = row(m, op) else { return };
    let signature = row.signature();
    let attrs = attrs_of(m, op, signature);
    let mut refuse = |why: &str| diags.push(super::errors::tf_signature(m, op, why));
    if let Err(why) = attrs.check() {
        return refuse(&why);
    }
    let mut ok = true;
    for attr in &signature.attrs {
        let is_missing = attr.default.is_none() && !is_derived(signature, attr.name) && !attrs.has(attr.name);
        if is_missing {
            refuse(&format!("attribute '{}' is missing", attr.name));
            ok = false;
        } else if attrs.has(attr.name) && !is_of_kind(&attrs, attr.name, attr.kind) {
            refuse(&format!("attribute '{}' is not of kind {}", attr.name, attr.kind));
            ok = false;
        }
    }
    let known = || m.def(op).into_iter().flat_map(|def| &def.attrs).map(|attr| attr.name);
    let own = m.attrs(op).iter().map(|&(name, _)| m.cx.str(name));
    // Other attributes belong to a dialect, to the compiler, or are for the placement.
    let of_placement = [names::DEVICE, names::COLOCATE, names::COST_NS];
    let is_placement = |name: &str| of_placement.iter().any(|&id| m.cx.str(id) == name);
    for name in own.filter(|name| is_own_attr(name) && !is_placement(name)) {
        if !known().any(|attr| attr == name) {
            let near =
                nearest(name, known()).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            refuse(&format!("there is no attribute '{name}'{near}"));
            ok = false;
        }
    }
    // The values that the operator refuses. Constants and what returns its operands decode nothing.
    if ok
        && !row.has(RowTraits::CONSTANT)
        && !row.has(RowTraits::PASSING)
        && let Err(error) = row.prepare_owned(&attrs)
    {
        refuse(&match error {
            TensorError::Invalid { op: _, problem } => problem,
            error => error.to_string(),
        });
    }
}

/// True if an attribute that is there can be read as this kind. The symbols of functions are checked with
/// the op table.
fn is_of_kind(attrs: &impl Attrs, name: &str, kind: AttrKind) -> bool {
    match kind {
        AttrKind::Type => attrs.ty(name).is_some(),
        AttrKind::Int => attrs.int(name).is_some(),
        AttrKind::Float => attrs.float(name).is_some(),
        AttrKind::Bool => attrs.bool(name).is_some(),
        AttrKind::String => attrs.string(name).is_some(),
        AttrKind::Shape => attrs.shape(name).is_some(),
        AttrKind::List(AttrKind::Type) => attrs.types(name).is_some(),
        AttrKind::List(AttrKind::Int) => attrs.ints(name).is_some(),
        AttrKind::List(AttrKind::Float) => attrs.floats(name).is_some(),
        AttrKind::List(AttrKind::String) => attrs.strings(name).is_some(),
        AttrKind::Tensor | AttrKind::Func | AttrKind::List(_) => true,
    }
}
