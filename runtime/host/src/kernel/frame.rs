//! What a kernel sees while it runs, and how it answers.

use std::sync::Arc;

use bef_format::{AttrId, AttrView, FunctionId, Image};
use befrost_mem::{Buffer, ViewError};

use crate::context::ExecContext;
use crate::error::{Error, KernelError};
use crate::program::{CHAIN, KernelPlan, Program};
use crate::value::Value;

/// A kernel's answer.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The results are stored.
    Done,
    /// An operand is not a concrete value of its type: an error, dead, or something else. The executor knows what to do.
    Operand,
    /// It failed: all results that are not stored become the error.
    Error(KernelError),
    /// A function is to be run; its results are the kernel's.
    Call(Call),
}

/// Asks the executor to run a function on its own stack.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Which of the kernel's functions.
    pub function: u32,
    /// The operand that is its first argument; the others follow.
    pub first_operand: u32,
}

impl Outcome {
    /// An error answer.
    pub fn error(error: impl Into<KernelError>) -> Outcome {
        Outcome::Error(error.into())
    }
}

/// One kernel of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelRef {
    pub(crate) function: u32,
    pub(crate) kernel: u32,
}

/// What a kernel sees while it runs: its operands, attributes and functions, and where its results go.
pub struct KernelFrame<'f> {
    /// The registers that `operands` and `first_result` index.
    pub(crate) registers: &'f mut [Value],
    pub(crate) operands: &'f [u32],
    pub(crate) first_result: usize,
    /// The kernel, and the lists that its spans refer to.
    pub(crate) plan: &'f KernelPlan,
    pub(crate) lists: &'f [u32],
    pub(crate) at: KernelRef,
    pub(crate) program: &'f Arc<Program>,
    pub(crate) context: &'f ExecContext,
}

impl<'f> KernelFrame<'f> {
    /// How many operands are passed.
    #[inline]
    pub fn n_operands(&self) -> usize {
        self.operands.len()
    }

    /// An operand, looking through an AsyncValue that is final. `None` if there is none so far.
    #[inline]
    pub fn operand(&self, i: usize) -> Option<&Value> {
        register(self.registers, *self.operands.get(i)?)?.final_value()
    }

    /// An operand as it is: perhaps an AsyncValue that is not final.
    pub fn raw_operand(&self, i: usize) -> Option<&Value> {
        register(self.registers, *self.operands.get(i)?)
    }

    /// How many results the use of the kernel wants.
    #[inline]
    pub fn n_results(&self) -> usize {
        self.plan.n_results as usize
    }

    /// Stores a result. One that the use does not want is dropped.
    #[inline]
    pub fn set_result(&mut self, i: usize, value: Value) {
        if i < self.n_results()
            && let Some(register) = self.registers.get_mut(self.first_result + i)
        {
            *register = value;
        }
    }

    /// An attribute, by its position in the op's definition.
    pub fn attr(&self, i: usize) -> Option<AttrView<'_>> {
        let id = *self.plan.attrs.of(self.lists).get(i)?;
        Some(self.image().attr(AttrId(id)))
    }

    /// A function that the kernel may call.
    pub fn function(&self, i: usize) -> Option<FunctionId> {
        self.plan.functions.of(self.lists).get(i).copied().map(FunctionId)
    }

    /// The file that the kernel stands in.
    pub fn image(&self) -> &Image<'_> {
        self.program.image()
    }

    /// A part of the file as a buffer that keeps the file alive. No copy.
    ///
    /// # Errors
    /// If `data` is not a part of the file.
    pub fn mapped(&self, data: &[u8]) -> Result<Buffer, ViewError> {
        self.program.mapped(data)
    }

    /// The execution.
    pub fn context(&self) -> &'f ExecContext {
        self.context
    }

    /// Where this kernel stands, to be kept beyond its run.
    pub fn site(&self) -> Site {
        Site { program: self.program.clone(), at: self.at }
    }
}

/// What an operand refers to: a register, or the chain that is always there.
#[inline]
pub(super) fn register(registers: &[Value], operand: u32) -> Option<&Value> {
    static READY: Value = Value::Chain;
    match registers.get(operand as usize) {
        Some(value) => Some(value),
        None => (operand == CHAIN).then_some(&READY),
    }
}

/// A place in a program. Asynchronous kernels keep it to say where an error happened.
#[derive(Clone)]
pub struct Site {
    program: Arc<Program>,
    at: KernelRef,
}

impl Site {
    /// The error that happened here.
    pub fn error(&self, error: KernelError) -> Error {
        let trace = self.program.location_string(self.at).into_iter().collect();
        Error::new(error.code(), error.message(), trace)
    }
}
