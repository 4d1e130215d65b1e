//! Signatures: what a kernel takes and gives, as data.
//!
//! A [`Signature`] is derived from the kernel's Rust types. Loading a program compares it with every use of
//! the kernel, the contract test with the compiler's op table.

use bef_format::AttrView;

use super::attr::{FromAttr, immediate};
use super::prepare::MakePrepared;
use crate::value::{Chain, Scalar};

/// IR types, as MLIR prints them, any of which will do; none means any type.
pub type Types = &'static [&'static str];

/// When a kernel's results are final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// When it returns.
    #[default]
    Sync,
    /// Perhaps later.
    Async,
    /// When the frames that it asks for have ended.
    Calls,
}

/// How a kernel calls the functions that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallShape {
    /// Each function takes the operands from this one on.
    pub first_operand: u32,
    /// What each gives.
    pub results: CallResults,
    /// Who decides which one runs, and how often.
    pub form: Form,
}

/// How it is decided which of a kernel's functions runs, and how often. All but [`Form::Own`] are rules that
/// the executor may follow without asking the kernel, as long as the operand that decides is as the rule
/// wants it; else the kernel is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By the kernel's code.
    Own,
    /// The first one.
    Call,
    /// The first one if the first operand, an `i1`, is true, else the second.
    Branch,
    /// The one whose number the first operand is, an `i32`.
    Case,
    /// The first one, as many times as the first operand says, an `i32`; each time on the results of the time
    /// before.
    Repeat,
    /// The first one if the first operand, an `i1`, is true; and again on the results of the time before, as
    /// long as the last one is true.
    While,
}

/// What the functions give that a kernel calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResults {
    /// The kernel's results.
    Kernel,
    /// The kernel's results, which are its arguments the next time.
    Carried,
    /// Anything: the kernel looks at it itself.
    Any,
    /// A chain or nothing; and in front of the operands it takes two `i32`, the start and the end of a block.
    OfBlock,
    /// As `Carried`, and behind them an `i1`: whether there is a next time.
    CarriedAndCondition,
}

/// An attribute that a kernel takes.
#[derive(Clone, Copy)]
pub struct AttrSpec {
    /// What it should be, for messages.
    pub kind: &'static str,
    /// Whether an attribute is one.
    pub accepts: fn(&AttrView<'_>) -> bool,
}

impl AttrSpec {
    /// A number.
    pub fn of<T: FromAttr>() -> AttrSpec {
        AttrSpec { kind: T::KIND, accepts: |attr| T::from_value(&immediate(attr)).is_some() }
    }
}

impl std::fmt::Debug for AttrSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind)
    }
}

/// What a kernel takes and gives.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// The operands.
    pub operands: Vec<Types>,
    /// The types of any number of further operands.
    pub rest: Option<Types>,
    /// The results.
    pub results: Vec<Types>,
    /// The types of any number of further results.
    pub rest_results: Option<Types>,
    /// The attributes, in the order of the op's definition. A use may have more of them, which are not
    /// passed.
    pub attrs: Vec<AttrSpec>,
    /// The names of all attributes that it knows, if it finds them by name; then there are none in `attrs`.
    pub attr_names: Option<Vec<&'static str>>,
    /// How many functions.
    pub n_functions: u32,
    /// Whether there may be any number of further functions.
    pub more_functions: bool,
    /// How it calls them.
    pub calls: Option<CallShape>,
    /// When the results are final.
    pub completion: Completion,
    /// Whether an operand is taken in any state; else all must be concrete.
    pub takes_any_state: bool,
    /// Whether it stores all of its results when it is done, and none when it is not.
    pub stores_all: bool,
    /// Whether it takes the identity of its frame.
    pub takes_frame: bool,
    /// What it makes of each of its uses when a program is loaded.
    pub prepare: Option<MakePrepared>,
}

impl Signature {
    /// Whether one more chain is accepted as the last operand: it is if the kernel takes none of its own.
    pub fn accepts_trailing_chain(&self) -> bool {
        !self.operands.iter().any(|types| is_chain(types))
            && !self.rest.is_some_and(|types| types.is_empty() || is_chain(types))
            || self.calls.is_some()
    }
}

#[doc(hidden)]
impl Signature {
    /// Whether it can run while any of its operands is missing.
    pub fn takes_all_in_any_state(&self) -> bool {
        self.takes_any_state && self.operands.iter().chain(&self.rest).all(|types| types.is_empty())
    }
}

/// Whether the types that an operand may have are the chain's.
pub fn is_chain(types: Types) -> bool {
    types == Chain::TYPES
}
