//! Signatures: operands, results, attributes and functions of kernels, as data.
//!
//! A [`Signature`] is derived from the kernel's Rust types. The loader compares it with every use of the
//! kernel. The contract test compares it with the compiler's op table.

use bef_format::AttrView;

use super::attr::{FromAttr, immediate};
use super::prepare::MakePrepared;
use crate::value::{Chain, Scalar};

/// Alternative IR types, as MLIR prints them. An empty list permits any type.
pub type Types = &'static [&'static str];

/// The time at which a kernel's results are final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// The return of the kernel.
    #[default]
    Sync,
    /// Possibly later.
    Async,
    /// The end of the frames that it requests.
    Calls,
}

/// Calls of a kernel's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallShape {
    /// The first operand that is an argument of each function. The others follow.
    pub first_operand: u32,
    /// The results of each function.
    pub results: CallResults,
    /// Selection of the function that runs, and of the number of runs.
    pub form: Form,
}

/// Selection of the function that runs, and of the number of runs. The executor may apply all forms but
/// [`Form::Own`] without running the kernel, if the deciding operand is a concrete value of the form's type;
/// otherwise it runs the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The kernel's code decides.
    Own,
    /// The first function, once.
    Call,
    /// The first function if the first operand, an `i1`, is true, otherwise the second.
    Branch,
    /// The function whose number is the first operand, an `i32`.
    Case,
    /// The first function. The first operand, an `i32`, is the number of iterations, each on the results of
    /// the previous one.
    Repeat,
    /// The first function if the first operand, an `i1`, is true. It is repeated on the results of the
    /// previous iteration while its last result is true.
    While,
}

/// Result contract of a kernel's callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallResults {
    /// The kernel's results.
    Kernel,
    /// The kernel's results, which are the arguments of the next iteration.
    Carried,
    /// Anything: the kernel checks the results itself.
    Any,
    /// Anything, and the arguments are not the kernel's operands: the function is a value, called later.
    Free,
    /// A chain or nothing. The function takes two `i32` in front of the operands: start and end of a block.
    OfBlock,
    /// As `Carried`, followed by an `i1`: whether there is a next iteration.
    CarriedAndCondition,
}

/// The use that a kernel makes of a step, in which the parts of a divided program meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepUse {
    /// Begins one.
    Begins,
    /// Enters a frame in it, named by the first attribute.
    Enters,
    /// Goes to the next iteration of its frame.
    Advances,
    /// Sends all operands but the second, the step, on the channel that the first attribute numbers.
    Sends,
    /// Receives its results on such a channel: it waits for another kernel of its execution.
    Receives,
}

/// An attribute of a kernel.
#[derive(Clone, Copy)]
pub struct AttrSpec {
    /// Description in messages.
    pub kind: &'static str,
    /// True for an attribute of this kind.
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

/// Operands, results, attributes and functions of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// The operands.
    pub operands: Vec<Types>,
    /// The types of further operands, if any number of them is permitted.
    pub rest: Option<Types>,
    /// The results.
    pub results: Vec<Types>,
    /// The types of further results, if any number of them is permitted.
    pub rest_results: Option<Types>,
    /// The attributes, in the order of the op's definition. Further attributes of a use are not passed.
    pub attrs: Vec<AttrSpec>,
    /// The names of all known attributes of a kernel that finds them by name; `attrs` is empty then.
    pub attr_names: Option<Vec<&'static str>>,
    /// The number of functions.
    pub n_functions: u32,
    /// True if any number of further functions is permitted.
    pub more_functions: bool,
    /// The calls of the functions.
    pub calls: Option<CallShape>,
    /// The time at which the results are final.
    pub completion: Completion,
    /// True if an operand is taken in any state; otherwise all must be concrete.
    pub takes_any_state: bool,
    /// True if it takes required operands in any final state: an error or a dead value does not skip it.
    pub observes: bool,
    /// True if it stores all results when it succeeds and none when it fails.
    pub stores_all: bool,
    /// Its use of a step, if it is for nothing else.
    pub step: Option<StepUse>,
    /// True if it takes the identity of its frame.
    pub takes_frame: bool,
    /// True if it takes values in any memory and enqueues its work on the device itself. On a device with
    /// streams it is called on the host, like the kernels that were added for one kind of devices.
    pub takes_any_memory: bool,
    /// True if its only result is in the file, the same in each call: a device keeps a copy of it.
    pub is_in_file: bool,
    /// True if it waits for its operands and reads none, in whatever memory they are.
    pub reads_nothing: bool,
    /// Preparation of each use when a program is loaded.
    pub prepare: Option<MakePrepared>,
}

impl Signature {
    /// True if one more chain is accepted as the last operand: if the kernel takes no chain itself, or calls
    /// functions.
    pub fn accepts_trailing_chain(&self) -> bool {
        !self.operands.iter().any(|types| is_chain(types))
            && !self.rest.is_some_and(|types| types.is_empty() || is_chain(types))
            || self.calls.is_some()
    }
}

#[doc(hidden)]
impl Signature {
    /// True if it can run while any operand is unavailable.
    pub fn takes_all_in_any_state(&self) -> bool {
        self.takes_any_state && self.operands.iter().chain(&self.rest).all(|types| types.is_empty())
    }
}

/// True if these are the types of a chain.
pub fn is_chain(types: Types) -> bool {
    types == Chain::TYPES
}
