//! Conversion of the return value of a kernel's function to values in registers.
//!
//! A function returns `()`, one result, or a tuple of results, each a [`ResultValue`]. Any of these may be
//! wrapped in a `Result`, whose error fails the kernel. Kernels that store their results themselves return an
//! [`Outcome`].

use super::frame::{KernelFrame, Outcome};
use super::result::ResultValue;
use super::signature::{Completion, Signature};
use crate::error::KernelError;
use crate::value::Value;

/// Return type of a kernel's function.
pub trait Returns {
    /// Adds its results to a signature. If storing may fail after some results have been stored,
    /// `stores_all` must stay false.
    fn declare(signature: &mut Signature);
    /// Stores the results.
    fn store(self, frame: &mut KernelFrame<'_>) -> Outcome;
    /// Stores the results in the frame of a job.
    #[inline(always)]
    fn store_later(self, frame: &mut KernelFrame<'_>) -> Outcome
    where
        Self: Sized,
    {
        self.store(frame)
    }
}

impl<T: ResultValue> Returns for T {
    fn declare(signature: &mut Signature) {
        signature.results.push(T::TYPES);
        signature.stores_all = true;
        if T::COMPLETION == Completion::Async {
            signature.completion = Completion::Async;
        }
    }
    #[inline(always)]
    fn store(self, frame: &mut KernelFrame<'_>) -> Outcome {
        frame.store(0, self);
        Outcome::Done
    }
    #[inline(always)]
    fn store_later(self, frame: &mut KernelFrame<'_>) -> Outcome {
        frame.store_to_copy(0, self);
        Outcome::Done
    }
}

/// As many results as the use has, of any types. Missing ones become errors.
impl Returns for Vec<Value> {
    fn declare(signature: &mut Signature) {
        signature.rest_results = Some(&[]);
        signature.completion = Completion::Async;
    }
    fn store(self, frame: &mut KernelFrame<'_>) -> Outcome {
        self.into_iter().enumerate().for_each(|(i, value)| frame.set_result(i, value));
        Outcome::Done
    }
}

macro_rules! tuple_result {
    ($($one:ident $i:tt),*) => {
        impl<$($one: ResultValue),*> Returns for ($($one,)*) {
            fn declare(signature: &mut Signature) {
                signature.stores_all = true;
                $(<$one as Returns>::declare(signature);)*
            }
            #[inline]
            fn store(self, #[allow(unused_variables, reason = "the empty tuple")] frame: &mut KernelFrame<'_>) -> Outcome {
                $(frame.store($i, self.$i);)*
                Outcome::Done
            }
        }
    };
}

tuple_result!();
tuple_result!(A 0, B 1);
tuple_result!(A 0, B 1, C 2);
tuple_result!(A 0, B 1, C 2, D 3);

/// Failure of a kernel: an error, or an outcome to pass on.
pub trait Failure {
    /// The outcome of the kernel.
    fn outcome(self) -> Outcome;
}

impl Failure for KernelError {
    fn outcome(self) -> Outcome {
        Outcome::Error(self)
    }
}

impl Failure for Outcome {
    fn outcome(self) -> Outcome {
        self
    }
}

impl<R: Returns, E: Failure> Returns for Result<R, E> {
    fn declare(signature: &mut Signature) {
        R::declare(signature);
    }
    #[inline(always)]
    fn store(self, frame: &mut KernelFrame<'_>) -> Outcome {
        match self {
            Ok(results) => results.store(frame),
            Err(failure) => failure.outcome(),
        }
    }
    #[inline(always)]
    fn store_later(self, frame: &mut KernelFrame<'_>) -> Outcome {
        match self {
            Ok(results) => results.store_later(frame),
            Err(failure) => failure.outcome(),
        }
    }
}
