//! The row of an operator: the single definition of all its properties.
//!
//! ```text
//! /// log(exp(x) + 1).                                                    summary
//! Softplus "features:T -> activations:T; T:type"                          name and signature
//!     => unary(Unary::Softplus);                                          columns
//!
//! columns: shape rule, CPU function, class, traits, effect, dtypes for which it cannot fail, layout roles,
//!          cost of NCHW images, place in a fused product, operands that may be overwritten, cost, gradient
//! ```
//!
//! The importer, the passes, the memory planner, the kernels and the documentation query the row; none of
//! them has a list of names. The constructors ([`unary`], [`function`], [`state`] ...) set the columns common
//! to all operators of a kind. They take the others (shape rule, cost) as arguments, so that a row without
//! them does not compile. Methods on the constructed columns set the optional ones.
//!
//! A row in a table of another crate is made by [`OpRow::new`] and has no [`Op`].

use std::sync::OnceLock;

use super::attrs::Attributes;
pub use super::cost::Cost;
use super::eval::elementwise;
use super::function::Made;
use super::infer::{Rule, arrays, rules};
use super::signature::Signature;
use crate::DType;
use crate::simd::{Arithmetic, Function, IntArithmetic};
use crate::tf::fused::StepKind;
use crate::tf::{Binary, Compare, Part, Reduce, Scan, Segment, SortedSegment, Test, Unary, fast};

/// The dialect's name in the names of its ops.
pub(super) const PREFIX: &str = "tf.";

/// An operator of the standard tables. The constants have TensorFlow's names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Op(pub(super) u16);

/// An operator's row.
#[derive(Debug)]
pub struct OpRow {
    /// TensorFlow's name.
    pub name: &'static str,
    /// The name of the op and of the kernel: `tf.` and TensorFlow's name.
    pub op_name: &'static str,
    /// The operator; `None` for a row outside of the standard tables.
    pub op: Option<Op>,
    summary: &'static str,
    text: &'static str,
    signature: OnceLock<Signature>,
    columns: Columns,
}

/// A constructor of an operator's function from its attributes.
pub type Make = fn(&Attributes<'_>) -> Made;

/// The constructor of a CPU function. A row refers to the constructor of its own class only, so that a
/// program with few operators need not contain the functions of all classes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cpu {
    Own(Make),
    OfClass(fn(Class, &Attributes<'_>) -> Made),
}

/// The columns of a row besides name, summary and signature.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    shape: Rule,
    /// The function on the CPU, with operands and results in host memory.
    cpu: Option<Cpu>,
    class: Class,
    traits: Traits,
    effect: Effect,
    total: Total,
    layout: Option<&'static str>,
    nchw_cost: u8,
    fusion: Fusion,
    overwrites: Overwrites,
    cost: Cost,
    gradient: Gradient,
}

/// The parameterized function that computes an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the enums")]
pub enum Class {
    Unary(Unary),
    Test(Test),
    Part(Part),
    Binary(Binary),
    Compare(Compare),
    Reduce(Reduce),
    Scan(Scan),
    Segment(Segment),
    SortedSegment(SortedSegment),
    /// A conversion to another element type.
    Cast,
    /// Elements of one of two tensors, chosen by a third.
    Select,
    /// No parameterized function.
    Other,
}

impl Class {
    /// The vectorized function of one f32 operand that computes it.
    pub fn vector_function(self) -> Option<Function> {
        match self {
            Class::Unary(op) => fast::function_of(op),
            _ => None,
        }
    }

    /// The vectorized function of two f32 operands that computes it.
    pub fn vector_arithmetic(self) -> Option<Arithmetic> {
        match self {
            Class::Binary(op) => fast::arithmetic_of(op),
            _ => None,
        }
    }

    /// The step of a fused program that computes it from f32, or from i32 where `is_int`. A boolean is an i32
    /// there.
    pub fn step(self, is_int: bool) -> Option<StepKind> {
        Some(match self {
            Class::Unary(_) => StepKind::Map(self.vector_function()?),
            Class::Binary(Binary::Add) if is_int => StepKind::Ints(IntArithmetic::Add),
            Class::Binary(Binary::Sub) if is_int => StepKind::Ints(IntArithmetic::Sub),
            Class::Binary(Binary::Mul) if is_int => StepKind::Ints(IntArithmetic::Mul),
            Class::Binary(_) if !is_int => StepKind::Arithmetic(self.vector_arithmetic()?),
            Class::Compare(op) => StepKind::Compare(op),
            Class::Cast => StepKind::ToFloat,
            Class::Select => StepKind::Choose,
            _ => return None,
        })
    }

    /// The number of operands of a step.
    pub(super) fn n_step_operands(self) -> usize {
        match self {
            Class::Binary(_) | Class::Compare(_) => 2,
            Class::Select => 3,
            _ => 1,
        }
    }
}

/// A set of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(u16);

impl Traits {
    /// None.
    pub const NONE: Traits = Traits(0);
    /// The first two operands may be exchanged.
    pub const COMMUTATIVE: Traits = Traits(1);
    /// Each element of the result depends on one element of each broadcast operand.
    pub const ELEMENTWISE: Traits = Traits(1 << 1);
    /// The results are the operands, of any kind of value.
    pub const PASSING: Traits = Traits(1 << 2);
    /// The result is the memory of the first operand in another shape.
    pub const VIEW: Traits = Traits(1 << 3);
    /// The result is the attribute `value`.
    pub const CONSTANT: Traits = Traits(1 << 4);
    /// The compiler lowers it to other ops before execution.
    pub const LOWERED: Traits = Traits(1 << 5);
    /// A kernel of values other than dense tensors: lists, optionals, resources.
    pub const OF_VALUES: Traits = Traits(1 << 6);
    /// Foreign code, which the compiler does not evaluate.
    pub const FOREIGN: Traits = Traits(1 << 7);
    /// A kernel with an effect that reads its dense operands and retains none.
    pub const READS: Traits = Traits(1 << 8);
    /// The result has random numbers: all different, if they are many.
    pub const RANDOM: Traits = Traits(1 << 9);

    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// True if all properties of `other` are in this set.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The effect on the resources among an operator's operands; without such operands, on any resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None: the results depend on operands and attributes alone.
    Pure,
    /// A new resource or a new state of a random generator is created. Equal operators cannot be merged.
    Allocate,
    /// The state is read.
    Read,
    /// The state or the outside world is changed, or an error must be reported.
    Write,
    /// The effects of the called functions.
    OfCallees,
}

/// The element types of operands for which an operator cannot fail, if shape inference accepts the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total(u8);

/// No element types.
pub const NONE: Total = Total(0);
/// f16, bf16, f32 and f64.
pub const FLOATS: Total = Total(1);
/// All integers.
pub const INTS: Total = Total(2);
/// Booleans.
pub const BOOLS: Total = Total(4);
/// Floats and integers.
pub const NUMBERS: Total = Total(1 | 2);
/// Floats, integers and booleans.
pub const ALL: Total = Total(1 | 2 | 4);
/// Floats, and constant integers: axes, sizes or positions checked by shape inference.
pub const CONSTANT: Total = Total(1 | 8);

impl Total {
    /// True if the set contains the element type of an operand.
    pub fn has(self, dtype: DType, is_constant: bool) -> bool {
        let bits = match dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => FLOATS.0,
            DType::I1 => BOOLS.0,
            DType::Complex64 | DType::Complex128 => 0,
            _ if is_constant => INTS.0 | 8,
            _ => INTS.0,
        };
        self.0 & bits != 0
    }
}

/// The operands that the CPU function may overwrite with its result.
#[derive(Clone, Copy, Debug)]
enum Overwrites {
    /// The listed operands.
    Operands(&'static [usize]),
    /// All operands.
    Every,
    /// Those that the vectorized function of the class may overwrite.
    OfClass,
}

/// The operators of a product with constant weights: the plain product, the product with an epilogue as
/// TensorFlow fuses it, and the product with packed weights and an epilogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the enum says what they are")]
pub struct ProductOps {
    pub plain: Op,
    pub fused: Op,
    pub packed: Op,
}

impl ProductOps {
    /// A product of images and filters.
    pub const CONV2D: ProductOps =
        ProductOps { plain: Op::Conv2D, fused: Op::_FusedConv2D, packed: Op::_PackedConv2D };
    /// A product of each channel of images with the channel's own filters.
    pub const DEPTHWISE: ProductOps = ProductOps {
        plain: Op::DepthwiseConv2dNative,
        fused: Op::_FusedDepthwiseConv2dNative,
        packed: Op::_PackedDepthwiseConv2dNative,
    };
    /// A product of matrices.
    pub const MATMUL: ProductOps =
        ProductOps { plain: Op::MatMul, fused: Op::_FusedMatMul, packed: Op::_PackedMatMul };
}

/// The form of a [`ProductOps`] that a row computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProductForm {
    /// The product alone.
    Plain,
    /// With an epilogue, as TensorFlow fuses it.
    Fused,
    /// With packed weights and an epilogue.
    Packed,
    /// A more general operator, which is the product for some attributes and shapes.
    General,
}

/// The products whose epilogue may end with an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activates {
    /// All products.
    All,
    /// Products of matrices, and those with packed weights.
    Matrices,
    /// Products with packed weights.
    Packed,
}

/// The place of an operator in a fused product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// None; or dedicated patterns fuse the operator.
    None,
    /// The product.
    Product(ProductOps, ProductForm),
    /// The end of the epilogue.
    Activation(Activates),
}

/// The differentiation of an operator. The compiler has the rules; a test there checks that each row with
/// [`Gradient::Rule`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// There is none: differentiation is an error.
    Missing,
    /// No gradient flows: the results are piecewise constant, or not numbers.
    Constant,
    /// By a rule, which emits other operators.
    Rule,
    /// The gradients of the operators of its decomposition.
    Expands,
    /// Through the called functions.
    Flow,
    /// An error with the operator's message.
    Refuses,
}

impl Gradient {
    /// The description in the documentation.
    pub fn describe(self) -> &'static str {
        match self {
            Gradient::Missing => "none",
            Gradient::Constant => "constant: no gradient flows",
            Gradient::Rule => "by a rule",
            Gradient::Expands => "that of the operators that it is made of",
            Gradient::Flow => "through the functions that it calls",
            Gradient::Refuses => "refused with the operator's message",
        }
    }
}

impl OpRow {
    /// A row of a table outside of this crate.
    ///
    /// # Panics
    /// If `op_name` does not begin with `tf.`: at compile time, in a static.
    pub const fn new(
        op_name: &'static str,
        summary: &'static str,
        signature: &'static str,
        columns: Columns,
    ) -> OpRow {
        let (dialect, name) = op_name.split_at(PREFIX.len());
        let ([b't', b'f', b'.'], false) = (dialect.as_bytes(), name.is_empty()) else {
            panic!("the name of an op of the dialect begins with `tf.`")
        };
        OpRow { op: None, name, op_name, summary, text: signature, signature: OnceLock::new(), columns }
    }

    /// A row of an operator that is first known at run time. `None` if the name does not begin with `tf.` or
    /// the signature is malformed.
    pub fn parsed(
        op_name: &'static str,
        summary: &'static str,
        signature: &'static str,
        columns: Columns,
    ) -> Option<OpRow> {
        let name = op_name.strip_prefix(PREFIX).filter(|name| !name.is_empty())?;
        let parsed = OnceLock::from(Signature::parse(name, signature)?);
        Some(OpRow { op: None, name, op_name, summary, text: signature, signature: parsed, columns })
    }

    /// A row of the standard tables.
    pub(super) const fn standard(
        op: Op,
        op_name: &'static str,
        summary: &'static str,
        signature: &'static str,
        columns: Columns,
    ) -> OpRow {
        let (_, name) = op_name.split_at(PREFIX.len());
        let op = Some(op);
        // A static is built whether it is used or not, and all operators with these. The library's own tests
        // call none of them by name; those that do are in `tests/it`.
        let columns = if cfg!(test) { BASE } else { columns };
        OpRow { op, name, op_name, summary, text: signature, signature: OnceLock::new(), columns }
    }

    /// The summary.
    pub fn summary(&self) -> &'static str {
        self.summary.trim()
    }

    /// Operands, results and attributes.
    ///
    /// # Panics
    /// If the row's signature is malformed, which is a bug in its table.
    pub fn signature(&self) -> &Signature {
        self.signature.get_or_init(|| match Signature::parse(self.name, self.text) {
            Some(signature) => signature,
            None => panic!("the signature of `{}` is malformed: {}", self.name, self.text),
        })
    }

    /// The shape rule.
    pub fn rule(&self) -> Rule {
        self.columns.shape
    }

    /// The constructor of the CPU function of dense tensors, if there is one.
    pub(super) fn cpu(&self) -> Option<Cpu> {
        self.columns.cpu
    }

    /// True if there is a CPU function of dense tensors.
    pub fn has_function(&self) -> bool {
        self.columns.is_function()
    }

    /// The parameterized function that computes it.
    pub fn class(&self) -> Class {
        self.columns.class()
    }

    /// True if it has all of these properties.
    pub fn has(&self, traits: Traits) -> bool {
        self.columns.traits.has(traits)
    }

    /// The effect.
    pub fn effect(&self) -> Effect {
        self.columns.effect
    }

    /// True if a kernel runs it.
    pub fn has_kernel(&self) -> bool {
        self.has_function() || self.has(Traits::OF_VALUES)
    }

    /// True if it can be compiled and run.
    pub fn is_supported(&self) -> bool {
        self.has_kernel() || self.has(Traits::LOWERED)
    }

    /// True for a pure function of dense tensors, which the compiler may evaluate.
    pub fn is_pure_function(&self) -> bool {
        self.has_function() && self.columns.effect == Effect::Pure && !self.has(Traits::FOREIGN)
    }

    /// The element types of operands for which it cannot fail.
    pub fn total(&self) -> Total {
        self.columns.total
    }

    /// The roles of operands and results in a change of the image layout; see the layout pass.
    pub fn layout(&self) -> Option<&'static str> {
        self.columns.layout
    }

    /// The cost of NCHW images for the CPU function, which computes in NHWC. The unit is a quarter of one
    /// pass over the images. A function that transposes its operand and its result itself costs 4.
    pub fn nchw_cost(&self) -> u64 {
        self.columns.nchw_cost.into()
    }

    /// The place in a fused product.
    pub fn fusion(&self) -> Fusion {
        self.columns.fusion
    }

    /// True if the CPU function may overwrite operand `i` with its result.
    pub fn overwrites(&self, i: usize) -> bool {
        match self.columns.overwrites {
            Overwrites::Operands(operands) => operands.contains(&i),
            Overwrites::Every => true,
            Overwrites::OfClass => {
                let class = self.class();
                i == 0 && class.vector_function().is_some() || i < 2 && class.vector_arithmetic().is_some()
            }
        }
    }

    /// The work of one evaluation.
    pub fn cost(&self) -> Cost {
        self.columns.cost
    }

    /// The differentiation.
    pub fn gradient(&self) -> Gradient {
        self.columns.gradient
    }
}

const BASE: Columns = Columns {
    shape: rules::unknown,
    cpu: None,
    class: Class::Other,
    traits: Traits::NONE,
    effect: Effect::Pure,
    total: NONE,
    layout: None,
    nchw_cost: 4,
    fusion: Fusion::None,
    overwrites: Overwrites::Operands(&[]),
    cost: Cost::Free,
    gradient: Gradient::Rule,
};

/// A pure function of dense tensors.
pub const fn function(cpu: Make, shape: Rule, cost: Cost) -> Columns {
    Columns { cpu: Some(Cpu::Own(cpu)), shape, cost, ..BASE }
}

/// A function of dense tensors that runs even if no result is used: its errors are wanted, or its results
/// may differ between calls.
pub const fn impure(cpu: Make, shape: Rule, cost: Cost) -> Columns {
    Columns { effect: Effect::Write, ..function(cpu, shape, cost) }
}

/// A function of dense tensors with its own state: results may differ between evaluations, and each operator
/// has a separate state.
pub(super) const fn random(cpu: Make, shape: Rule, cost: Cost) -> Columns {
    Columns { effect: Effect::Allocate, gradient: Gradient::Constant, ..function(cpu, shape, cost) }
}

const fn of_class(class: Class, cpu: fn(Class, &Attributes<'_>) -> Made, shape: Rule, cost: Cost) -> Columns {
    let cpu = Some(Cpu::OfClass(cpu));
    Columns { class, cpu, overwrites: Overwrites::OfClass, shape, cost, ..BASE }
}

/// A function of each element.
pub(super) const fn unary(op: Unary) -> Columns {
    let columns = of_class(Class::Unary(op), elementwise::unary, rules::same, Cost::PerResult(4));
    Columns { traits: Traits::ELEMENTWISE, total: FLOATS, layout: Some("i>i"), ..columns }
}

/// A predicate on each element.
pub(super) const fn test(op: Test) -> Columns {
    let columns = of_class(Class::Test(op), elementwise::test, rules::same, Cost::PerResult(1));
    Columns { traits: Traits::ELEMENTWISE, layout: Some("i>i"), ..columns.no_gradient() }
}

/// A real-valued function of each complex element.
pub(super) const fn part(op: Part) -> Columns {
    let columns = of_class(Class::Part(op), elementwise::part, rules::same, Cost::PerResult(2));
    Columns { traits: Traits::ELEMENTWISE, ..columns }
}

/// A function of the elements of two tensors.
pub(super) const fn binary(op: Binary) -> Columns {
    let columns = of_class(Class::Binary(op), elementwise::binary, rules::broadcasting, Cost::PerResult(1));
    Columns { traits: Traits::ELEMENTWISE, layout: Some("bb>i"), ..columns }
}

/// A comparison of the elements of two tensors.
pub(super) const fn compare(op: Compare) -> Columns {
    let columns = of_class(Class::Compare(op), elementwise::compare, rules::comparison, Cost::PerResult(1));
    let columns = Columns { traits: Traits::ELEMENTWISE, layout: Some("bb>i"), ..columns };
    columns.total(NUMBERS).no_gradient()
}

/// A reduction along axes.
pub(super) const fn reduce(op: Reduce) -> Columns {
    of_class(Class::Reduce(op), elementwise::reduce, arrays::reduction, Cost::PerOperand(1)).layout("ia>k")
}

/// A running sum or product.
pub(super) const fn scan(op: Scan) -> Columns {
    of_class(Class::Scan(op), elementwise::scan, arrays::scan, Cost::PerResult(1))
}

/// A reduction of rows by segment id.
pub(super) const fn segment(op: Segment) -> Columns {
    of_class(Class::Segment(op), elementwise::segment, arrays::segment, Cost::PerOperand(1))
}

/// A reduction of rows by sorted segment id.
pub(super) const fn sorted_segment(op: SortedSegment) -> Columns {
    of_class(
        Class::SortedSegment(op),
        elementwise::sorted_segment,
        arrays::sorted_segment,
        Cost::PerOperand(1),
    )
}

/// A conversion of each element to another type.
pub(super) const fn cast() -> Columns {
    of_class(Class::Cast, elementwise::cast, rules::same, Cost::PerResult(1))
}

/// Elements of the second and the third tensor, chosen by the first.
pub(super) const fn select() -> Columns {
    of_class(Class::Select, elementwise::select_v2, rules::select_v2, Cost::PerResult(1))
}

/// A pure function of values other than dense tensors; its kernel belongs to the runtime.
pub const fn values(shape: Rule, cost: Cost) -> Columns {
    Columns { shape, cost, traits: Traits::OF_VALUES, ..BASE }
}

/// A kernel of the runtime with an effect.
pub const fn state(effect: Effect, shape: Rule, cost: Cost) -> Columns {
    Columns { effect, ..values(shape, cost) }
}

/// A kernel that updates variables by the elements of its dense operands.
pub(super) const fn update() -> Columns {
    state(Effect::Write, rules::unknown, Cost::PerOperand(1)).with(Traits::READS).no_gradient()
}

/// Control flow, lowered by the compiler.
pub(super) const fn control(effect: Effect, shape: Rule) -> Columns {
    Columns { shape, effect, traits: Traits::LOWERED, gradient: Gradient::Flow, ..BASE }
}

/// A known operator that is refused.
pub(super) const fn unsupported(shape: Rule) -> Columns {
    Columns { shape, effect: Effect::Write, gradient: Gradient::Missing, ..BASE }
}

impl Columns {
    /// True if there is a CPU function.
    pub(super) const fn is_function(&self) -> bool {
        self.cpu.is_some()
    }

    /// The class.
    pub(super) const fn class(&self) -> Class {
        self.class
    }

    /// Adds traits.
    const fn with(self, traits: Traits) -> Columns {
        Columns { traits: self.traits.and(traits), ..self }
    }

    /// Sets [`Traits::COMMUTATIVE`].
    pub const fn commutative(self) -> Columns {
        self.with(Traits::COMMUTATIVE)
    }

    /// Sets [`Traits::PASSING`].
    pub(super) const fn passing(self) -> Columns {
        self.with(Traits::PASSING)
    }

    /// Sets [`Traits::VIEW`].
    pub(super) const fn view(self) -> Columns {
        self.with(Traits::VIEW)
    }

    /// Sets [`Traits::CONSTANT`].
    pub(super) const fn constant(self) -> Columns {
        self.with(Traits::CONSTANT)
    }

    /// Sets [`Traits::LOWERED`].
    pub(super) const fn lowered(self) -> Columns {
        self.with(Traits::LOWERED)
    }

    /// Sets [`Traits::FOREIGN`].
    pub const fn foreign(self) -> Columns {
        self.with(Traits::FOREIGN)
    }

    /// Sets the element types for which it cannot fail.
    pub const fn total(self, total: Total) -> Columns {
        Columns { total, ..self }
    }

    /// Sets the layout roles.
    pub const fn layout(self, letters: &'static str) -> Columns {
        Columns { layout: Some(letters), ..self }
    }

    /// Sets the cost of images in NCHW.
    pub(super) const fn nchw_cost(self, nchw_cost: u8) -> Columns {
        Columns { nchw_cost, ..self }
    }

    /// Sets the product and the form that the operator computes.
    pub(super) const fn product(self, product: ProductOps, form: ProductForm) -> Columns {
        Columns { fusion: Fusion::Product(product, form), ..self }
    }

    /// Sets the products whose epilogue it may end.
    pub(super) const fn activates(self, products: Activates) -> Columns {
        Columns { fusion: Fusion::Activation(products), ..self }
    }

    /// Sets the operands that may be overwritten.
    pub const fn overwrites(self, operands: &'static [usize]) -> Columns {
        Columns { overwrites: Overwrites::Operands(operands), ..self }
    }

    /// Allows any operand to be overwritten.
    pub(super) const fn overwrites_any(self) -> Columns {
        Columns { overwrites: Overwrites::Every, ..self }
    }

    /// Declares the results constant for differentiation.
    pub const fn no_gradient(self) -> Columns {
        self.differentiated(Gradient::Constant)
    }

    /// Sets [`Traits::RANDOM`].
    pub const fn random(self) -> Columns {
        self.with(Traits::RANDOM)
    }

    /// Sets the differentiation.
    pub const fn differentiated(self, gradient: Gradient) -> Columns {
        Columns { gradient, ..self }
    }
}
