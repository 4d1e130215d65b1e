//! What a definition of an op says. See the essay in `mod.rs`.

use super::enums::{EnumDef, FlagsDef};
use super::format::{Format, Of};
use super::types::{ElementKind, TypeFn, TypeRule, TypeSource};
use crate::diag::Diagnostic;
use crate::ir::{AttrId, Context, KnownType, Module, OpId, TypeId, TypeKind, ValueId};
use crate::rewrite::Pattern;

/// Properties of an op that passes and the verifier rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Traits(u32);

macro_rules! traits {
    ($($(#[$meta:meta])* $name:ident = $bit:literal $text:literal,)*) => {
        impl Traits {
            $($(#[$meta])* pub const $name: Traits = Traits(1 << $bit);)*

            /// The names of the traits in this set, for documentation.
            pub fn names(self) -> Vec<&'static str> {
                [$((Traits::$name, $text),)*].into_iter().filter(|(t, _)| self.has(*t)).map(|(_, n)| n).collect()
            }
        }
    };
}
traits! {
    /// Ends a block.
    TERMINATOR = 0 "terminator",
    /// Has a name that others refer to (`sym_name`).
    SYMBOL = 1 "symbol",
    /// The names of the symbols inside are one name space.
    SYMBOL_TABLE = 2 "symbol table",
    /// Its regions cannot use values from outside.
    ISOLATED = 3 "isolated from above",
    /// The order of two operands does not matter.
    COMMUTATIVE = 4 "commutative",
    /// All operands and results have one type.
    SAME_TYPE = 5 "same operand and result types",
    /// A constant: no operands, the attribute `value` is its result.
    CONSTANT = 6 "constant",
    /// Its regions need no terminator.
    NO_TERMINATOR = 7 "no terminator",
    /// Its regions have exactly one block.
    SINGLE_BLOCK = 8 "single block",
    /// A function: `function_type`, and a body or none.
    FUNCTION = 9 "function",
    /// Calls the function named by `callee` with its operands.
    CALL = 10 "call",
    /// Returns its operands from the enclosing function.
    RETURN = 11 "return",
    /// Two applications are one.
    IDEMPOTENT = 12 "idempotent",
    /// Its regions run any number of times, none included.
    LOOP = 13 "loop",
    /// A terminator that hands operands over to its successors: see [`Module::successor_operands`].
    BRANCH = 14 "branch",
    /// Gives its operands to the op around it.
    YIELD = 15 "yield",
    /// All operands have one type.
    SAME_OPERANDS = 16 "same operand types",
    /// Several declared operands are optional or variadic: `operandSegmentSizes` says how many values each one has.
    OPERAND_SEGMENTS = 17 "operand segments",
    /// Gives no error if no operand is one.
    TOTAL = 24 "never fails",
    /// Undefined for some operands, zero as the second one among them: not to be computed in vain.
    TRAPS = 25 "undefined for some operands",
}

impl Traits {
    /// No traits.
    pub const NONE: Traits = Traits(0);

    /// True if all of `other` are in this set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

/// Which types an operand or result may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeConstraint {
    /// Any type.
    Any,
    /// Exactly this one.
    Is(KnownType),
    /// An integer type or `index`.
    AnyInteger,
    /// A float type.
    AnyFloat,
    /// A scalar of this kind, or a vector or tensor of it.
    Like(ElementKind),
    /// The same, or a memref of it.
    LikeOrMemRef(ElementKind),
}

impl TypeConstraint {
    /// The only type that satisfies it, if there is one: custom forms then need not write it.
    pub fn only(self) -> Option<TypeId> {
        match self {
            TypeConstraint::Is(known) => Some(known.id()),
            TypeConstraint::Any
            | TypeConstraint::AnyInteger
            | TypeConstraint::AnyFloat
            | TypeConstraint::Like(_)
            | TypeConstraint::LikeOrMemRef(_) => None,
        }
    }

    /// May a value have this type?
    pub fn holds(self, cx: &Context, ty: TypeId) -> bool {
        match self {
            TypeConstraint::Any => true,
            TypeConstraint::Is(known) => ty == known.id(),
            TypeConstraint::AnyInteger => matches!(cx.ty(ty), TypeKind::Integer { .. } | TypeKind::Index),
            TypeConstraint::AnyFloat => matches!(cx.ty(ty), TypeKind::Float(_)),
            TypeConstraint::Like(kind) => kind.holds(cx, cx.element(ty)),
            TypeConstraint::LikeOrMemRef(kind) => match cx.ty(ty) {
                TypeKind::MemRef { elem, .. } => kind.holds(cx, *elem),
                _ => kind.holds(cx, cx.element(ty)),
            },
        }
    }
}

/// When an operand must be there and what its error does; `semantics.md` is the law.
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

/// Where a buffer must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MemorySpace {
    /// Not a buffer, or in the memory of the host.
    #[default]
    Host,
    /// In the memory of the device on which the op is placed.
    Device,
}

/// How many values stand for one declared operand or result.
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
    /// When it must be there.
    pub mode: OperandMode,
    /// Where its buffer must be.
    pub space: MemorySpace,
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
    /// Where its buffer is.
    pub space: MemorySpace,
}

/// Which attributes are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrConstraint {
    /// Any attribute.
    Any,
    /// `unit`.
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer of this type.
    Int(KnownType),
    /// A float of this type.
    Float(KnownType),
    /// A string.
    Str,
    /// `@name`.
    FlatSymbol,
    /// `@name` or `@a::@b`.
    Symbol,
    /// An array of anything.
    Array,
    /// An array of integers of this type.
    IntArray(KnownType),
    /// An array of integers or floats of this type.
    NumberArray(KnownType),
    /// An array of dictionaries.
    DictArray,
    /// A dictionary.
    Dict,
    /// A type.
    Type,
    /// A function type.
    FunctionType,
    /// `dense<...>` or another constant tensor.
    Dense,
    /// Anything that has a type.
    Typed,
    /// A choice of one word.
    Enum(&'static EnumDef),
    /// A set of words.
    Flags(&'static FlagsDef),
}

/// A declared attribute.
#[derive(Clone, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: AttrConstraint,
    /// Must it be there?
    pub required: bool,
}

/// A declared region.
#[derive(Clone, Debug)]
pub struct RegionDef {
    /// Its name in formats and documentation.
    pub name: &'static str,
    /// May it have no blocks?
    pub may_be_empty: bool,
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
    /// For a variadic successor: the attribute `array<i32: ...>` that says how many of those values each block gets.
    pub counts: Option<&'static str>,
}

/// What an effect touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The buffer behind operand number `0`.
    Operand(u8),
    /// The buffer behind result number `0`.
    Result(u8),
    /// The output of the program.
    Output,
    /// The execution context (cancellation, resources).
    ExecutionContext,
}

/// What is done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Written.
    Write,
    /// Allocated.
    Alloc,
    /// Freed.
    Free,
}

/// One effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// On what.
    pub on: Resource,
    /// What.
    pub access: Access,
}

/// All effects of an op.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Effects {
    /// Not known: assume anything.
    #[default]
    Unknown,
    /// None: the op may be removed if its results are unused. (A kernel that may fail is pure too: errors are values.)
    Pure,
    /// Those of the ops inside of it.
    Recursive,
    /// These.
    List(Vec<Effect>),
}

/// An estimate for stream analysis, in units of one trivial kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cost {
    /// Not known: stream analysis uses its threshold.
    #[default]
    Unknown,
    /// Always the same.
    Fixed(u32),
    /// In the attribute `_tfrt_cost` of each op.
    Attribute,
}

/// The kernel that runs an op on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelDef {
    /// Kind of device; "" is the host.
    pub device: &'static str,
    /// Name in the kernel registry.
    pub kernel: String,
}

/// What folding an op gave for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    /// A constant.
    Attr(AttrId),
    /// A value that is there already.
    Value(ValueId),
}

/// Checks what the table cannot say.
pub type Verifier = fn(&Module, OpId, &mut Vec<Diagnostic>);
/// Computes results from constant operands (`None`: not constant). Nothing if it cannot.
pub type Folder = fn(&mut Module, OpId, &[Option<AttrId>]) -> Option<Vec<Folded>>;
/// Computes result types from operand types and attributes.
pub type ShapeFn = fn(&Module, OpId) -> Result<Vec<TypeId>, Diagnostic>;
/// Builds the gradients of the operands from those of the results.
pub type Gradient = fn(&mut Module, OpId, &[Option<ValueId>]) -> Vec<Option<ValueId>>;

/// One op: everything that the compiler knows about it.
#[derive(Clone, Debug)]
pub struct OpDef {
    /// Full name.
    pub name: String,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Operands in order. At most one is optional or variadic.
    pub operands: Vec<OperandDef>,
    /// Results in order. At most one is optional or variadic.
    pub results: Vec<ResultDef>,
    /// Attributes, sorted by name.
    pub attrs: Vec<AttrDef>,
    /// Regions in order.
    pub regions: Vec<RegionDef>,
    /// Successors in order. At most one is variadic.
    pub successors: Vec<SuccessorDef>,
    /// Ops that may hold this op directly; any if none is named.
    pub parents: Vec<&'static str>,
    /// Traits.
    pub traits: Traits,
    /// Types that follow from others.
    pub type_rules: Vec<TypeRule>,
    /// Effects.
    pub effects: Effects,
    /// Custom form; without one the op prints in generic form.
    pub format: Option<Format>,
    /// Further checks.
    pub verifier: Option<Verifier>,
    /// Constant folding.
    pub folder: Option<Folder>,
    /// Canonicalization, by falling benefit.
    pub patterns: Vec<Pattern>,
    /// Shape inference.
    pub shape: Option<ShapeFn>,
    /// Differentiation.
    pub gradient: Option<Gradient>,
    /// Kernels, the host's first. Empty: the op does not run (modules, functions, returns).
    pub kernels: Vec<KernelDef>,
    /// Does the kernel finish before it returns?
    pub sync: bool,
    /// Cost.
    pub cost: Cost,
}

impl OpDef {
    /// A definition without anything; the methods below add to it.
    pub fn new(name: impl Into<String>, summary: &'static str) -> Self {
        OpDef {
            name: name.into(),
            summary,
            operands: Vec::new(),
            results: Vec::new(),
            attrs: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            parents: Vec::new(),
            traits: Traits::NONE,
            type_rules: Vec::new(),
            effects: Effects::Unknown,
            format: None,
            verifier: None,
            folder: None,
            patterns: Vec::new(),
            shape: None,
            gradient: None,
            kernels: Vec::new(),
            sync: true,
            cost: Cost::Unknown,
        }
    }

    /// A required operand.
    #[must_use]
    pub fn operand(self, name: &'static str, ty: TypeConstraint) -> Self {
        self.operand_with(name, ty, Arity::One, OperandMode::Required)
    }

    /// Any operand.
    #[must_use]
    pub fn operand_with(
        mut self,
        name: &'static str,
        ty: TypeConstraint,
        arity: Arity,
        mode: OperandMode,
    ) -> Self {
        self.operands.push(OperandDef { name, ty, arity, mode, space: MemorySpace::Host });
        self
    }

    /// A result.
    #[must_use]
    pub fn result(self, name: &'static str, ty: TypeConstraint) -> Self {
        self.result_with(name, ty, Arity::One)
    }

    /// Any result.
    #[must_use]
    pub fn result_with(mut self, name: &'static str, ty: TypeConstraint, arity: Arity) -> Self {
        self.results.push(ResultDef { name, ty, arity, space: MemorySpace::Host });
        self
    }

    /// A required attribute.
    #[must_use]
    pub fn attr(self, name: &'static str, kind: AttrConstraint) -> Self {
        self.push_attr(AttrDef { name, kind, required: true })
    }

    /// An attribute that may be missing.
    #[must_use]
    pub fn optional_attr(self, name: &'static str, kind: AttrConstraint) -> Self {
        self.push_attr(AttrDef { name, kind, required: false })
    }

    fn push_attr(mut self, attr: AttrDef) -> Self {
        let at = self.attrs.partition_point(|a| a.name < attr.name);
        self.attrs.insert(at, attr);
        self
    }

    /// The type of the operand or result `of` follows from that of the operand, result or attribute `from`.
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

    /// The type of the operand or result `of` is this one unless the form says another.
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
        self.regions.push(RegionDef { name, may_be_empty });
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

    /// Any successor.
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

    /// More traits.
    #[must_use]
    pub fn traits(mut self, traits: Traits) -> Self {
        self.traits = self.traits.and(traits);
        self
    }

    /// No effects.
    #[must_use]
    pub fn pure(mut self) -> Self {
        self.effects = Effects::Pure;
        self
    }

    /// One more effect.
    #[must_use]
    pub fn effect(mut self, access: Access, on: Resource) -> Self {
        let effect = Effect { on, access };
        match &mut self.effects {
            Effects::List(list) => list.push(effect),
            Effects::Unknown | Effects::Pure | Effects::Recursive => {
                self.effects = Effects::List(vec![effect]);
            }
        }
        self
    }

    /// The custom form, in the language of `format.rs`.
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

    /// Runs on the host as the kernel of the same name.
    #[must_use]
    pub fn kernel(mut self) -> Self {
        self.kernels.push(KernelDef { device: "", kernel: self.name.clone() });
        self
    }

    /// The kernel returns before its results are there.
    #[must_use]
    pub fn asynchronous(mut self) -> Self {
        self.sync = false;
        self
    }

    /// Always the same cost.
    #[must_use]
    pub fn cost(mut self, cost: u32) -> Self {
        self.cost = Cost::Fixed(cost);
        self
    }

    /// Further checks.
    #[must_use]
    pub fn verifier(mut self, verifier: Verifier) -> Self {
        self.verifier = Some(verifier);
        self
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

    // ---- questions ----

    /// `tfrt` of `tfrt.add.i32`.
    pub fn dialect(&self) -> &str {
        self.name.split('.').next().unwrap_or("")
    }

    /// The kernel on the host.
    pub fn host_kernel(&self) -> Option<&str> {
        self.kernels.iter().find(|k| k.device.is_empty()).map(|k| k.kernel.as_str())
    }

    /// True if every operand is required.
    pub fn is_strict(&self) -> bool {
        self.operands.iter().all(|o| o.mode == OperandMode::Required)
    }

    /// True if an operand is declared to be a chain.
    pub fn takes_chain(&self) -> bool {
        self.operands.iter().any(|o| o.ty == TypeConstraint::Is(KnownType::Chain))
    }

    /// True if the op accepts one chain more than declared, as its last operand: it runs as a kernel that takes none.
    pub fn accepts_implicit_chain(&self) -> bool {
        !self.kernels.is_empty() && !self.takes_chain() && self.operands.iter().all(|o| o.arity == Arity::One)
    }

    /// Position of the optional or variadic operand.
    pub fn variadic_operand(&self) -> Option<usize> {
        self.operands.iter().position(|o| o.arity != Arity::One)
    }

    /// Position of the optional or variadic result.
    pub fn variadic_result(&self) -> Option<usize> {
        self.results.iter().position(|r| r.arity != Arity::One)
    }

    /// The declared operand that actual operand `i` of `n` stands for; nothing for the implicit chain and for surplus.
    pub fn operand_def(&self, i: usize, n: usize) -> Option<&OperandDef> {
        declared_index(self.variadic_operand(), self.operands.len(), i, n).and_then(|d| self.operands.get(d))
    }

    /// The declared result that actual result `i` of `n` stands for.
    pub fn result_def(&self, i: usize, n: usize) -> Option<&ResultDef> {
        declared_index(self.variadic_result(), self.results.len(), i, n).and_then(|d| self.results.get(d))
    }

    /// Mode of actual operand `i` of `n`: what is not declared (an implicit chain) is required.
    pub fn operand_mode(&self, i: usize, n: usize) -> OperandMode {
        self.operand_def(i, n).map_or(OperandMode::Required, |o| o.mode)
    }

    /// The operand or result called `name`.
    pub fn value_named(&self, name: &str) -> Option<Of> {
        let operand = self.operands.iter().position(|o| o.name == name).map(Of::Operand);
        operand.or_else(|| self.results.iter().position(|r| r.name == name).map(Of::Result))
    }

    /// The name of a declared operand or result.
    pub fn value_name(&self, of: Of) -> Option<&'static str> {
        match of {
            Of::Operand(i) => self.operands.get(i).map(|o| o.name),
            Of::Result(i) => self.results.get(i).map(|r| r.name),
            Of::Operands | Of::Results => None,
        }
    }

    /// The only type that an operand or result may have, if there is one.
    pub fn only_type(&self, of: Of) -> Option<TypeId> {
        match of {
            Of::Operand(i) => self.operands.get(i).and_then(|o| o.ty.only()),
            Of::Result(i) => self.results.get(i).and_then(|r| r.ty.only()),
            Of::Operands | Of::Results => None,
        }
    }

    /// How many values a declared operand or result stands for.
    pub fn arity(&self, of: Of) -> Option<Arity> {
        match of {
            Of::Operand(i) => self.operands.get(i).map(|o| o.arity),
            Of::Result(i) => self.results.get(i).map(|r| r.arity),
            Of::Operands | Of::Results => None,
        }
    }

    /// The words of a declared attribute that is a choice of words.
    pub fn enum_attr(&self, i: usize) -> Option<&'static EnumDef> {
        match self.attrs.get(i)?.kind {
            AttrConstraint::Enum(words) => Some(words),
            _ => None,
        }
    }

    /// The rule for the type of an operand or result.
    pub fn type_rule(&self, of: Of) -> Option<&TypeRule> {
        self.type_rules.iter().find(|r| r.of == of)
    }

    /// The declared attribute called `name`.
    pub fn attr_def(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// Attributes that name functions: they become the kernel's function operands, in this order.
    pub fn function_attrs(&self) -> impl Iterator<Item = &AttrDef> {
        self.attrs.iter().filter(|a| matches!(a.kind, AttrConstraint::FlatSymbol | AttrConstraint::Symbol))
    }
}

/// Maps an actual position to a declared one when the declaration at `variadic` stands for any number of values.
fn declared_index(variadic: Option<usize>, declared: usize, i: usize, n: usize) -> Option<usize> {
    match variadic {
        Some(v) if i >= v => {
            let after = declared - v - 1;
            if n < after || i < n - after { Some(v) } else { Some(declared - (n - i)) }
        }
        _ => Some(i),
    }
}
