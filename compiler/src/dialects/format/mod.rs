//! The language in which an op declares its custom form: ODS's `assemblyFormat` with a few additions.
//!
//! ```text
//! operands                      all operands, separated by commas
//! $name                         an operand, attribute, successor or region by its declared name
//! type(x)                       types of x, separated by commas; x is `operands`, `results` or `$name`
//! type($x else T)               the same, T if it is not written
//! functional-type(x, y)         (types of x) -> types of y
//! functional-lists(x, y)        (types of x) -> (types of y); one type of y is also read without parentheses
//! chained-lists(x, y)           the same; both lists are also read without a `!tfrt.chain` in front
//! arrow-types(x)                -> types of x, parentheses as needed; nothing if there are none
//! arrow-list(x)                 the same, always written in parentheses
//! typed($x)                     %a : T, %b : U
//! attr-dict                     the other attributes in braces, if there are any
//! attr-dict-with-keyword        the same after `attributes`
//! named-attrs($a, $b)           a = 1, b = 2, in any order
//! `,` or ','                    itself; `` nothing, but no blank either; ` ` a blank
//! ( ... x^ ... )?               optional; written if the operand, attribute, type or region x exists
//! qualified(x)                  x; types and attributes of dialects are always written in full
//! shadow($region, $x, $y)       a region whose arguments are the operands x and y under their own names
//! arg($region, $x)              the name of the next argument of the region, which has the type of operand x
//! assign($region, $x)           (%arg = %a, ...): further arguments and their initial operands
//! custom<module> ...            forms implemented by code
//! ```
//!
//! One format drives parser (`syntax::lower::custom`) and printer (`print::custom`), so they cannot disagree.
//! An attribute of a declared numeric type is written without its type, an enumeration as its word, a set of
//! flags as `<a, b>`. A group whose anchor is a type with a default is written if the type is not the
//! default. Unwritten types must be inferable from written ones: [`TypePlan`] is computed once per format,
//! and [`Format::parse`] refuses a format without a plan, as well as undeclared names.

mod parse;
mod plan;

pub use plan::{TypeOrigin, TypePlan};

use crate::ir::KnownType;

/// A reference to types or values of an op's operands or results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRef {
    /// All operands.
    Operands,
    /// All results.
    Results,
    /// The declared operand with this index.
    Operand(usize),
    /// The declared result with this index.
    Result(usize),
}

/// The spelling of a function type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionForm {
    /// The results as in a function type.
    Type,
    /// The results always in parentheses.
    Lists,
    /// The same. If there is one type of operands less than operands, both lists lack a leading chain.
    ChainedLists,
}

/// A form implemented by code in both parser and printer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Custom {
    /// `@name attributes {...} { ops }`.
    Module,
    /// `private @name(%a: T {attrs}) -> (T {attrs}) attributes {...} { blocks }`.
    Function,
    /// `[default: ^bb1(%a : T), 42: ^bb2]`.
    SwitchCases,
    /// `case 42 { ops } default { ops }`; the default is the first region.
    RegionCases,
    /// `{attr = 1 : i32} {func_attr = @f} : 2`: the arrays of pairs `op_attrs` and `op_func_attrs`, and the
    /// number of results of the variadic result. Each part may be missing.
    OpAttrs,
}

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A keyword or punctuation; empty: no blank here.
    Literal(String),
    /// A blank in print.
    Blank,
    /// All operands.
    Operands,
    /// One declared operand (a list, if variadic).
    Operand(usize),
    /// One declared attribute.
    Attr(usize),
    /// `a = 1, b = 2`: declared attributes in any order.
    NamedAttrs(Vec<usize>),
    /// The rest of the attributes.
    AttrDict {
        /// After the word `attributes`.
        keyword: bool,
    },
    /// One declared successor.
    Successor(usize),
    /// Types, with the default for omitted ones.
    Types(PartRef, Option<KnownType>),
    /// `(types) -> types`.
    FunctionalType(PartRef, PartRef, FunctionForm),
    /// `-> types`; in parentheses if the flag is set or several types need them.
    ArrowTypes(PartRef, bool),
    /// `%a : T, %b : U`.
    Typed(usize),
    /// One declared region. Its entry arguments have the names of these operands.
    Region(usize, Vec<usize>),
    /// The name of the next region argument, which has the type of an operand.
    Arg(usize, usize),
    /// `(%arg = %a, ...)`: arguments of a region and operands.
    Assign(usize, usize),
    /// A group that may be absent; `anchor` is the index in `elements` of the element that decides.
    Optional {
        /// The group.
        elements: Vec<Element>,
        /// Index of the deciding element.
        anchor: usize,
    },
    /// A form implemented by code.
    Custom(Custom),
}

/// A parsed format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The text as declared.
    pub text: &'static str,
    /// Its pieces.
    pub elements: Vec<Element>,
    /// Sources of the types.
    pub plan: TypePlan,
    /// Indices of the declared attributes that are written outside the dictionary.
    pub written_attrs: Vec<usize>,
}

/// Calls `f` for each element, groups before their elements.
pub(crate) fn each(elements: &[Element], f: &mut dyn FnMut(&Element)) {
    for element in elements {
        f(element);
        if let Element::Optional { elements, .. } = element {
            each(elements, f);
        }
    }
}
