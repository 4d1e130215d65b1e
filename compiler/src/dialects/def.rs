//! Definitions of ops: parts, traits, effects, form and hooks of an op. See the essay in `mod.rs`.

use befrost_tensor::tf::op::{Gradient, OpRow};

use super::constraint::{AttrConstraint, TypeConstraint};
use super::effect::{Access, Effect, EffectResource, Effects};
use super::enums::EnumDef;
use super::format::{Format, PartRef};
use super::types::{TypeFn, TypeRule, TypeSource};
use crate::diag::Diagnostic;
use crate::ir::Traits;
use crate::ir::{AttrId, KnownType, Module, OpId, TypeId, ValueId};
use crate::rewrite::Pattern;

/// Readiness and error propagation of an operand; `semantics.md` is normative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OperandMode {
    /// Counted and passed; its error skips the kernel.
    #[default]
    Required,
    /// Not counted; passed in any state.
    Lenient,
    /// Counted, not passed; its error skips the kernel.
    Order,
    /// Counted when its producer has completed; not passed.
    After,
}

/// Number of values for one declared operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Arity {
    /// Exactly one.
    #[default]
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// A declared operand.
#[derive(Clone, Debug)]
pub struct OperandDef {
    /// Its name in formats and documentation.
    pub name: &'static str,
    /// Its types.
    pub ty: TypeConstraint,
    /// One, optional or variadic.
    pub arity: Arity,
    /// Readiness and error propagation.
    pub mode: OperandMode,
}

/// A declared result.
#[derive(Clone, Debug)]
pub struct ResultDef {
    /// Its name in formats and documentation.
    pub name: &'static str,
    /// Its types.
    pub ty: TypeConstraint,
    /// One, optional or variadic.
    pub arity: Arity,
}

/// A declared attribute.
#[derive(Clone, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// The accepted attributes.
    pub kind: AttrConstraint,
    /// True if the attribute must be present.
    pub required: bool,
    /// The default value: the parser adds it, and custom forms omit it.
    pub default: Option<DefaultValue>,
}

/// The default value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// An integer of the declared type.
    Int(i64),
}

/// A declared region.
#[derive(Clone, Debug)]
pub struct RegionDef {
    /// Its name in formats and documentation.
    pub name: &'static str,
    /// True if the region may have no blocks.
    pub may_be_empty: bool,
    /// The terminator that the custom form omits.
    pub implicit: Option<&'static str>,
}

/// A declared successor.
#[derive(Clone, Debug)]
pub struct SuccessorDef {
    /// Its name in formats and documentation.
    pub name: &'static str,
    /// One or variadic.
    pub arity: Arity,
    /// The declared operand whose values become the arguments of the block.
    pub operands: Option<usize>,
    /// For a variadic successor: name of the attribute `array<i32: ...>` with the number of those values per
    /// block.
    pub counts: Option<&'static str>,
}

/// An estimate for stream analysis, in units of one trivial kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cost {
    /// Unknown: stream analysis uses its threshold.
    #[default]
    Unknown,
    /// Always this many units.
    Fixed(u32),
    /// One unit. TFRT has no cost for such an op: where a threshold is set, it counts as unknown.
    Small,
    /// Unknown, but large: the kernel sleeps or processes tensors.
    Large,
}

impl Cost {
    /// The cost stored with a kernel whose op has no attribute `_tfrt_cost`; 0 is unknown.
    pub fn stored(self) -> u32 {
        match self {
            Cost::Unknown | Cost::Large => 0,
            Cost::Fixed(cost) => cost,
            Cost::Small => 1,
        }
    }
}

/// The folded form of one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    /// A constant.
    Attr(AttrId),
    /// An existing value.
    Value(ValueId),
}

/// Checks of an op beyond the table.
pub type Verifier = fn(&Module, OpId, &mut Vec<Diagnostic>);

/// Expected (argument, result) types of a callee, by the calling op and the types of its results.
pub type CalleeType = fn(&Module, OpId, &[TypeId]) -> (Vec<TypeId>, Vec<TypeId>);
/// A predicate on an op, decided by its operands and attributes.
pub type OpPredicate = fn(&Module, OpId) -> bool;
/// Computes results from constant operands (`None`: not constant). `None` if the op does not fold.
pub type Folder = fn(&mut Module, OpId, &[Option<AttrId>]) -> Option<Vec<Folded>>;
/// Names that the printer uses for the results of an op: `c1_i32` for a constant. Missing or empty names
/// leave the results numbered.
pub type ResultNames = fn(&Module, OpId) -> Vec<String>;

/// The definition of an op: all that the compiler assumes about it.
#[derive(Clone, Debug)]
pub struct OpDef {
    /// Full name.
    pub name: String,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Operands in order. At most one is optional or variadic, unless the op has `OPERAND_SEGMENTS`.
    pub operands: Vec<OperandDef>,
    /// Results in order. At most one is optional or variadic.
    pub results: Vec<ResultDef>,
    /// Attributes, sorted by name.
    pub attrs: Vec<AttrDef>,
    /// Numbers of additional attributes and function references of the kernel. They have any names and are
    /// passed in the order of these names. For TFRT kernels without a declared op.
    pub unnamed: (u32, u32),
    /// True if the kernel looks its attributes up by name, so that definitions may grow: a file holds the
    /// names, and only the attributes that an op has.
    pub named_attrs: bool,
    /// True if chains after the other operands are control edges: the kernel waits for them but does not
    /// receive them.
    pub control_edges: bool,
    /// True if the kernel takes its required operands in any final state: errors and dead values do not skip
    /// it.
    pub observes: bool,
    /// Regions in order.
    pub regions: Vec<RegionDef>,
    /// True if more regions like the last one are allowed.
    pub more_regions: bool,
    /// Successors in order. At most one is variadic.
    pub successors: Vec<SuccessorDef>,
    /// Ops that may hold this op directly; any if none is named.
    pub parents: Vec<&'static str>,
    /// Traits.
    pub traits: Traits,
    /// Types inferred from others.
    pub type_rules: Vec<TypeRule>,
    /// Effects.
    pub effects: Effects,
    /// Custom form. Without one the op prints in generic form.
    pub format: Option<Format>,
    /// The dialect whose prefix ops directly inside may omit.
    pub default_dialect: &'static str,
    /// Names of the results.
    pub result_names: Option<ResultNames>,
    /// Further checks.
    pub verifier: Option<Verifier>,
    /// Expected types of the functions that attributes refer to.
    pub callee_type: Option<CalleeType>,
    /// The attribute that names the function of which the op is a call.
    pub callee: Option<&'static str>,
    /// Whether the op gives no error if no operand is one, where that depends on more than its name.
    pub total_if: Option<OpPredicate>,
    /// Constant folding.
    pub folder: Option<Folder>,
    /// Canonicalization patterns, by falling benefit.
    pub patterns: Vec<Pattern>,
    /// The row in the tensor library, if the op is an operator on tensors.
    pub row: Option<&'static OpRow>,
    /// Differentiation.
    pub gradient: Option<Gradient>,
    /// True if the op executes, as the kernel of its name. Modules, functions and returns do not.
    pub has_kernel: bool,
    /// The pass that replaces the op by kernels, if it has none of its own.
    pub lowered_by: Option<&'static str>,
    /// True if the kernel finishes before it returns.
    pub sync: bool,
    /// Cost.
    pub cost: Cost,
    // Cached facts about operands and results, needed for every op that is read, checked or printed; updated
    // by the methods that declare operands and results.
    variadic_operand: Option<usize>,
    variadic_result: Option<usize>,
    takes_chain: bool,
    has_open_operand: bool,
}

impl OpDef {
    /// An empty definition; the methods below add to it.
    pub fn new(name: impl Into<String>, summary: &'static str) -> Self {
        OpDef {
            name: name.into(),
            summary,
            operands: Vec::new(),
            results: Vec::new(),
            attrs: Vec::new(),
            unnamed: (0, 0),
            named_attrs: false,
            observes: false,
            control_edges: false,
            regions: Vec::new(),
            more_regions: false,
            successors: Vec::new(),
            parents: Vec::new(),
            traits: Traits::NONE,
            type_rules: Vec::new(),
            effects: Effects::Unknown,
            format: None,
            default_dialect: "",
            result_names: None,
            verifier: None,
            callee_type: None,
            callee: None,
            total_if: None,
            folder: None,
            patterns: Vec::new(),
            row: None,
            gradient: None,
            has_kernel: false,
            lowered_by: None,
            sync: true,
            cost: Cost::Unknown,
            variadic_operand: None,
            variadic_result: None,
            takes_chain: false,
            has_open_operand: false,
        }
    }

    /// A required operand.
    #[must_use]
    pub fn operand(self, name: &'static str, ty: TypeConstraint) -> Self {
        self.operand_with(name, ty, Arity::One, OperandMode::Required)
    }

    /// An operand with any arity and mode.
    #[must_use]
    pub fn operand_with(
        mut self,
        name: &'static str,
        ty: TypeConstraint,
        arity: Arity,
        mode: OperandMode,
    ) -> Self {
        if arity != Arity::One {
            self.variadic_operand.get_or_insert(self.operands.len());
        }
        self.has_open_operand |= ty.only().is_none();
        self.takes_chain |= ty == TypeConstraint::Is(KnownType::Chain);
        self.operands.push(OperandDef { name, ty, arity, mode });
        self
    }

    /// A result.
    #[must_use]
    pub fn result(self, name: &'static str, ty: TypeConstraint) -> Self {
        self.result_with(name, ty, Arity::One)
    }

    /// A result with any arity.
    #[must_use]
    pub fn result_with(mut self, name: &'static str, ty: TypeConstraint, arity: Arity) -> Self {
        if arity != Arity::One {
            self.variadic_result.get_or_insert(self.results.len());
        }
        self.results.push(ResultDef { name, ty, arity });
        self
    }

    /// A required attribute.
    #[must_use]
    pub fn attr(self, name: &'static str, kind: AttrConstraint) -> Self {
        self.push_attr(AttrDef { name, kind, required: true, default: None })
    }

    /// An attribute that may be missing.
    #[must_use]
    pub fn optional_attr(self, name: &'static str, kind: AttrConstraint) -> Self {
        self.push_attr(AttrDef { name, kind, required: false, default: None })
    }

    /// An attribute with a default value.
    #[must_use]
    pub fn default_attr(self, name: &'static str, kind: AttrConstraint, default: DefaultValue) -> Self {
        self.push_attr(AttrDef { name, kind, required: false, default: Some(default) })
    }

    fn push_attr(mut self, attr: AttrDef) -> Self {
        let at = self.attrs.partition_point(|a| a.name < attr.name);
        self.attrs.insert(at, attr);
        self
    }

    /// Additional attributes and function references, which the kernel takes in the order of their names.
    #[must_use]
    pub fn unnamed(mut self, attrs: u32, functions: u32) -> Self {
        self.unnamed = (attrs, functions);
        self
    }

    /// The kernel looks its attributes up by name.
    #[must_use]
    pub fn named_attrs(mut self) -> Self {
        self.named_attrs = true;
        self
    }

    /// The kernel takes its required operands in any final state.
    #[must_use]
    pub fn observes(mut self) -> Self {
        self.observes = true;
        self
    }

    /// Chains after the other operands are control edges.
    #[must_use]
    pub fn control_edges(mut self) -> Self {
        self.control_edges = true;
        self
    }

    /// Infers the type of the operand or result `of` from the operand, result or attribute `from`.
    ///
    /// # Panics
    /// If a name is not declared: definitions are part of the compiler.
    #[must_use]
    pub fn type_from(mut self, of: &str, from: &str, by: TypeFn) -> Self {
        let attr = self.attrs.iter().position(|a| a.name == from);
        let (of, value) = (self.value_named(of), self.value_named(from));
        let source = value.map(TypeSource::Value).or(attr.map(TypeSource::Attr));
        match (of, source) {
            (Some(of), Some(from)) => self.type_rules.push(TypeRule { of, from, by }),
            _ => panic!("type rule of {}: a name is not declared", self.name),
        }
        self
    }

    /// Default type of the operand or result `of`, which the form may override.
    ///
    /// # Panics
    /// If the name is not declared: definitions are part of the compiler.
    #[must_use]
    pub fn type_default(mut self, of: &str, ty: KnownType) -> Self {
        match self.value_named(of) {
            Some(of) => {
                self.type_rules.push(TypeRule { of, from: TypeSource::Default(ty), by: TypeFn::Same });
            }
            None => panic!("type rule of {}: `{of}` is not declared", self.name),
        }
        self
    }

    /// A region.
    #[must_use]
    pub fn region(mut self, name: &'static str, may_be_empty: bool) -> Self {
        self.regions.push(RegionDef { name, may_be_empty, implicit: None });
        self
    }

    /// One region or more.
    #[must_use]
    pub fn regions(self, name: &'static str) -> Self {
        self.region(name, false).more_regions()
    }

    /// Any number of further regions like the last one.
    #[must_use]
    pub fn more_regions(self) -> Self {
        OpDef { more_regions: true, ..self }
    }

    /// A region whose blocks end with `terminator` where the custom form omits it.
    #[must_use]
    pub fn region_ending(mut self, name: &'static str, may_be_empty: bool, terminator: &'static str) -> Self {
        self.regions.push(RegionDef { name, may_be_empty, implicit: Some(terminator) });
        self
    }

    /// A successor whose arguments are the values of the declared operand `operands`.
    ///
    /// # Panics
    /// If there is no such operand: definitions are part of the compiler.
    #[must_use]
    pub fn successor(self, name: &'static str, operands: &'static str) -> Self {
        self.successor_with(name, Arity::One, operands, None)
    }

    /// A successor with any arity.
    ///
    /// # Panics
    /// If there is no such operand.
    #[must_use]
    pub fn successor_with(
        mut self,
        name: &'static str,
        arity: Arity,
        operands: &'static str,
        counts: Option<&'static str>,
    ) -> Self {
        let index = self.operands.iter().position(|o| o.name == operands);
        assert!(index.is_some(), "{}: `{operands}` is not declared", self.name);
        self.successors.push(SuccessorDef { name, arity, operands: index, counts });
        self
    }

    /// The op stands directly in one of these.
    #[must_use]
    pub fn parents(mut self, parents: &[&'static str]) -> Self {
        self.parents.extend(parents);
        self
    }

    /// More traits. `OPERAND_SEGMENTS` declares the attribute as well.
    #[must_use]
    pub fn traits(mut self, traits: Traits) -> Self {
        self.traits = self.traits.and(traits);
        if traits.has(Traits::OPERAND_SEGMENTS) {
            return self.attr("operandSegmentSizes", AttrConstraint::DenseArray(KnownType::I32));
        }
        self
    }

    /// Ops directly inside may omit the prefix of this dialect.
    #[must_use]
    pub fn default_dialect(mut self, dialect: &'static str) -> Self {
        self.default_dialect = dialect;
        self
    }

    /// Names of the results.
    #[must_use]
    pub fn result_names(mut self, names: ResultNames) -> Self {
        self.result_names = Some(names);
        self
    }

    /// The operator of this row.
    #[must_use]
    pub fn row(self, row: &'static OpRow) -> OpDef {
        OpDef { row: Some(row), ..self }
    }

    /// Differentiation.
    #[must_use]
    pub fn gradient(self, gradient: Gradient) -> OpDef {
        OpDef { gradient: Some(gradient), ..self }
    }

    /// No effects.
    #[must_use]
    pub fn pure(mut self) -> Self {
        self.effects = Effects::Pure;
        self
    }

    /// The effects of the functions that the op refers to.
    #[must_use]
    pub fn effects_of_callees(self) -> Self {
        OpDef { effects: Effects::OfCallees, ..self }
    }

    /// One more effect.
    #[must_use]
    pub fn effect(mut self, access: Access, on: EffectResource) -> Self {
        let effect = Effect { on, access };
        match &mut self.effects {
            Effects::List(list) => list.push(effect),
            Effects::Unknown | Effects::Pure | Effects::Recursive | Effects::OfCallees => {
                self.effects = Effects::List(vec![effect]);
            }
        }
        self
    }

    /// The custom form, in the language of [`super::format`].
    ///
    /// # Panics
    /// If the format is not well-formed: definitions are part of the compiler.
    #[must_use]
    pub fn format(mut self, text: &'static str) -> Self {
        match Format::parse(text, &self) {
            Ok(format) => self.format = Some(format),
            Err(why) => panic!("format of {}: {why}", self.name),
        }
        self
    }

    /// The op runs as the kernel of the same name.
    #[must_use]
    pub fn kernel(self) -> Self {
        OpDef { has_kernel: true, ..self }
    }

    /// A pass of this name replaces the op by kernels.
    #[must_use]
    pub fn lowered_by(self, pass: &'static str) -> Self {
        OpDef { lowered_by: Some(pass), ..self }
    }

    /// The kernel may return before its results are available.
    #[must_use]
    pub fn asynchronous(mut self) -> Self {
        self.sync = false;
        self
    }

    /// A fixed cost.
    #[must_use]
    pub fn cost(mut self, cost: u32) -> Self {
        self.cost = Cost::Fixed(cost);
        self
    }

    /// The kernel has negligible cost.
    #[must_use]
    pub fn small(mut self) -> Self {
        self.cost = Cost::Small;
        self
    }

    /// The kernel has a large cost: it sleeps or processes tensors.
    #[must_use]
    pub fn large(mut self) -> Self {
        self.cost = Cost::Large;
        self
    }

    /// Further checks.
    #[must_use]
    pub fn verifier(mut self, verifier: Verifier) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// Expected types of the functions that attributes refer to.
    #[must_use]
    pub fn callee_type(mut self, ty: CalleeType) -> Self {
        self.callee_type = Some(ty);
        self
    }

    /// It is a call of the function that this attribute names, which has its operands and results.
    #[must_use]
    pub fn callee(self, attr: &'static str) -> Self {
        OpDef { callee: Some(attr), ..self }
    }

    /// It gives no error if no operand is one, and if this holds.
    #[must_use]
    pub fn total_if(self, holds: OpPredicate) -> Self {
        OpDef { total_if: Some(holds), ..self }
    }

    /// Constant folding.
    #[must_use]
    pub fn folder(mut self, folder: Folder) -> Self {
        self.folder = Some(folder);
        self
    }

    /// A canonicalization pattern.
    #[must_use]
    pub fn pattern(mut self, pattern: Pattern) -> Self {
        let at = self.patterns.partition_point(|p| p.benefit >= pattern.benefit);
        self.patterns.insert(at, pattern);
        self
    }

    // ---- queries ----

    /// Prefix of the name: `tfrt` of `tfrt.add.i32`.
    pub fn dialect(&self) -> &str {
        self.name.split('.').next().unwrap_or("")
    }

    /// True if every operand is required, and an error or a dead one skips the kernel.
    pub fn is_strict(&self) -> bool {
        !self.observes && self.operands.iter().all(|o| o.mode == OperandMode::Required)
    }

    /// True if an operand is declared to be a chain.
    pub fn takes_chain(&self) -> bool {
        self.takes_chain
    }

    /// True if an operand may have one of several types.
    pub fn has_open_operand(&self) -> bool {
        self.has_open_operand
    }

    /// True if the op accepts one chain more than declared, as its last operand: it runs as a kernel, and no
    /// operand is declared as a chain or variadic.
    pub fn accepts_implicit_chain(&self) -> bool {
        self.has_kernel && !self.takes_chain && self.variadic_operand.is_none()
    }

    /// Position of the optional or variadic operand.
    pub fn variadic_operand(&self) -> Option<usize> {
        self.variadic_operand
    }

    /// Position of the optional or variadic result.
    pub fn variadic_result(&self) -> Option<usize> {
        self.variadic_result
    }

    /// The index of the declared operand for actual operand `i` of `n`, by counting. `None` for the implicit
    /// chain and surplus operands.
    pub fn operand_index(&self, i: usize, n: usize) -> Option<usize> {
        declared_index(self.variadic_operand(), self.operands.len(), i, n)
            .filter(|d| *d < self.operands.len())
    }

    /// The declared operand for actual operand `i` of `n`, by counting.
    pub fn operand_def(&self, i: usize, n: usize) -> Option<&OperandDef> {
        self.operand_index(i, n).and_then(|d| self.operands.get(d))
    }

    /// The declared result for actual result `i` of `n`.
    pub fn result_def(&self, i: usize, n: usize) -> Option<&ResultDef> {
        declared_index(self.variadic_result(), self.results.len(), i, n).and_then(|d| self.results.get(d))
    }

    /// Mode of actual operand `i` of `n`. Undeclared operands (an implicit chain) are required.
    pub fn operand_mode(&self, i: usize, n: usize) -> OperandMode {
        self.operand_def(i, n).map_or(OperandMode::Required, |o| o.mode)
    }

    /// The operand or result called `name`.
    pub fn value_named(&self, name: &str) -> Option<PartRef> {
        let operand = self.operands.iter().position(|o| o.name == name).map(PartRef::Operand);
        operand.or_else(|| self.results.iter().position(|r| r.name == name).map(PartRef::Result))
    }

    /// The name of a declared operand or result.
    pub fn value_name(&self, of: PartRef) -> Option<&'static str> {
        match of {
            PartRef::Operand(i) => self.operands.get(i).map(|o| o.name),
            PartRef::Result(i) => self.results.get(i).map(|r| r.name),
            PartRef::Operands | PartRef::Results => None,
        }
    }

    /// The only type that an operand or result may have, if there is one.
    pub fn only_type(&self, of: PartRef) -> Option<TypeId> {
        match of {
            PartRef::Operand(i) => self.operands.get(i).and_then(|o| o.ty.only()),
            PartRef::Result(i) => self.results.get(i).and_then(|r| r.ty.only()),
            PartRef::Operands | PartRef::Results => None,
        }
    }

    /// Arity of a declared operand or result.
    pub fn arity(&self, of: PartRef) -> Option<Arity> {
        match of {
            PartRef::Operand(i) => self.operands.get(i).map(|o| o.arity),
            PartRef::Result(i) => self.results.get(i).map(|r| r.arity),
            PartRef::Operands | PartRef::Results => None,
        }
    }

    /// The enumeration of a declared attribute, if it is one.
    pub fn enum_attr(&self, i: usize) -> Option<&'static EnumDef> {
        match self.attrs.get(i)?.kind {
            AttrConstraint::Enum(words) => Some(words),
            _ => None,
        }
    }

    /// The inference rule for the type of an operand or result.
    pub fn type_rule(&self, of: PartRef) -> Option<&TypeRule> {
        self.type_rules.iter().find(|r| r.of == of)
    }

    /// The declared attribute called `name`.
    pub fn attr_def(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// Attributes that refer to functions. They become the kernel's function operands, in this order.
    pub fn function_attrs(&self) -> impl Iterator<Item = &AttrDef> {
        self.attrs.iter().filter(|a| matches!(a.kind, AttrConstraint::FlatSymbol | AttrConstraint::Symbol))
    }
}

/// Maps an actual position to a declared one when the declaration at `variadic` stands for any number of
/// values.
fn declared_index(variadic: Option<usize>, declared: usize, i: usize, n: usize) -> Option<usize> {
    match variadic {
        Some(v) if i >= v => {
            let after = declared - v - 1;
            if n < after || i < n - after { Some(v) } else { Some(declared - (n - i)) }
        }
        _ => Some(i),
    }
}
