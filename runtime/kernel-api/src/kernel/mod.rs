//! The interface of kernels: plain Rust functions that the executor can run.
//!
//! ```text
//! fn add_i32(a: i32, b: i32) -> i32           the function, without annotations
//! kernel!("tfrt.add.i32", add_i32)            name, [`Signature`], and code between registers and arguments
//! ```
//!
//! Arguments are taken by type, in order: scalars, `&T` of objects, [`Chain`](crate::Chain), [`Rest`] of the
//! operands, [`Attr`]s, functions, the [`ExecContext`](crate::ExecContext), the [`FrameCx`]; see [`Param`].
//! Results are stored by type too; see [`Returns`]. A kernel that takes no chain, or that calls functions,
//! accepts one more chain as its last operand, which only orders it, as in TFRT.
//!
//! The loader compares the signature with every use, so operands are of the *declared* types. Their states
//! are checked when they are read: for an error or a dead value the kernel returns [`Outcome::Operand`], and
//! the executor propagates it.
//!
//! Nothing here knows plans or the executor. The loader lays out steps and a table per function
//! ([`executor`](crate::executor)). The executor makes a [`KernelFrame`] of them and implements the calls of
//! functions from a task.

pub(crate) mod attr;
mod callee;
mod calling;
pub mod control;
mod deferred;
pub(crate) mod file;
pub(crate) mod frame;
mod frame_cx;
pub(crate) mod functions;
pub(crate) mod job;
mod param;
pub(crate) mod prepare;
mod result;
mod returns;
pub(crate) mod signature;
pub(crate) mod step;
pub(crate) mod table;

pub use attr::RawAttr;
pub use callee::{Callee, PreparedCallee};
pub use deferred::Deferred;
pub use frame::{Call, KernelFn, KernelFrame, Outcome, Site};
pub use frame_cx::FrameCx;
pub use job::Job;
pub use param::{Attr, CompilationUnit, Cursor, DenseAttr, Ignored, Param, Rest, StrAttr};
pub use prepare::{AnyPrepared, KernelUse, MakePrepared, Prepare, Prepared};
pub use result::{Async, ResultValue};
pub use returns::{Failure, Returns};
pub use signature::{AttrSpec, CallResults, CallShape, Completion, Form, Signature, StepUse, Types};

use std::fmt;
use std::sync::LazyLock;

/// A kernel: name, signature and code.
pub struct Kernel {
    /// The name in BEF files.
    pub name: &'static str,
    /// Computed on first use, because a program uses few of the registered kernels.
    pub signature: LazyLock<Signature, MakeSignature>,
    /// Its code.
    pub run: KernelFn,
    /// Selects other code for a use.
    typed: Option<SelectCode>,
    /// True if its only result is a scalar, the value of an attribute.
    pub is_constant: bool,
}

/// Selects code for a use of a kernel by the use's types and attributes, when a program is loaded. It must
/// have the same results and errors as the kernel's own.
pub type SelectCode = fn(&KernelUse<'_>) -> Option<KernelFn>;

/// Constructor of a signature. A closure that captures nothing is not allocated.
pub type MakeSignature = Box<dyn FnOnce() -> Signature + Send>;

impl Kernel {
    /// A kernel with this name, signature and code.
    pub fn new(name: &'static str, signature: Signature, run: KernelFn) -> Kernel {
        Kernel::lazy(name, || signature, run)
    }

    /// A kernel whose signature is computed on first use. [`kernel!`](crate::kernel!) is the usual way.
    pub fn lazy(
        name: &'static str,
        signature: impl FnOnce() -> Signature + Send + 'static,
        run: KernelFn,
    ) -> Kernel {
        let signature = LazyLock::<_, MakeSignature>::new(Box::new(signature));
        Kernel { name, signature, run, typed: None, is_constant: false }
    }

    /// The kernel with code for uses of some types.
    pub fn with_typed_code(self, select: SelectCode) -> Kernel {
        Kernel { typed: Some(select), ..self }
    }

    /// The kernel as a constant: its only result is a scalar, the value of an attribute. It need not run
    /// again in the next iteration of a loop.
    pub fn constant(self) -> Kernel {
        Kernel { is_constant: true, ..self }
    }

    /// The code for a use.
    #[doc(hidden)]
    pub fn code_for(&self, site: &KernelUse<'_>) -> KernelFn {
        self.typed.and_then(|select| select(site)).unwrap_or(self.run)
    }
}

impl Clone for Kernel {
    fn clone(&self) -> Kernel {
        let own = Kernel::new(self.name, (*self.signature).clone(), self.run);
        Kernel { typed: self.typed, is_constant: self.is_constant, ..own }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, *self.signature)
    }
}

/// Makes a [`Kernel`] of a name and a function, or a closure that captures nothing. The optional third
/// argument is a function from the kernel's name to the names of its attributes, which are then found by
/// name.
#[macro_export]
macro_rules! kernel {
    ($name:expr, $function:expr, $attr_names:expr) => {{
        let name: &'static str = $name;
        let signature = move || $crate::kernel::Signature {
            attr_names: Some($attr_names(name)),
            ..$crate::kernel::signature_of(&$function)
        };
        $crate::kernel::Kernel::lazy(name, signature, |frame| {
            $crate::kernel::IntoKernel::invoke(&$function, frame)
        })
    }};
    ($name:expr, $function:expr) => {
        $crate::kernel::Kernel::lazy(
            $name,
            || $crate::kernel::signature_of(&$function),
            |frame| $crate::kernel::IntoKernel::invoke(&$function, frame),
        )
    };
}

/// A function that can be a kernel. `M` stands for its parameter types, so one type may have several
/// implementations.
pub trait IntoKernel<M> {
    /// Operands, attributes, functions and results.
    fn signature() -> Signature;
    /// Extracts the arguments from the frame, calls the function and stores the results.
    fn invoke(&self, frame: &mut KernelFrame<'_>) -> Outcome;
}

/// The signature of a function.
pub fn signature_of<M, F: IntoKernel<M>>(_: &F) -> Signature {
    F::signature()
}

macro_rules! into_kernel {
    ($($param:ident),*) => {
        impl<F, R, $($param),*> IntoKernel<fn($($param),*) -> R> for F
        where
            R: Returns,
            $($param: Param,)*
            F: Fn($($param),*) -> R + for<'f> Fn($($param::Item<'f>),*) -> R,
        {
            fn signature() -> Signature {
                let mut signature = Signature::default();
                $($param::declare(&mut signature);)*
                R::declare(&mut signature);
                signature
            }

            #[inline(always)]
            #[allow(non_snake_case, reason = "the type parameters' names serve as the variables'")]
            fn invoke(&self, frame: &mut KernelFrame<'_>) -> Outcome {
                /// Selects one of the two `Fn` bounds.
                #[inline(always)]
                #[allow(clippy::too_many_arguments, reason = "as many as kernels have parameters")]
                fn call<Fun: Fn($($param),*) -> R, R, $($param),*>(function: &Fun, $($param: $param),*) -> R {
                    function($($param),*)
                }
                let results = {
                    #[allow(unused_variables, reason = "kernels without parameters")]
                    let frame = &*frame;
                    #[allow(unused_variables, unused_mut, reason = "kernels without parameters")]
                    let mut cursor = Cursor::default();
                    $(let $param = match $param::extract(frame, &mut cursor) {
                        Ok(argument) => argument,
                        Err(outcome) => return outcome,
                    };)*
                    call(self, $($param),*)
                };
                results.store(frame)
            }
        }
    };
}

into_kernel!();
into_kernel!(A);
into_kernel!(A, B);
into_kernel!(A, B, C);
into_kernel!(A, B, C, D);
into_kernel!(A, B, C, D, E);
into_kernel!(A, B, C, D, E, G);
into_kernel!(A, B, C, D, E, G, H);
into_kernel!(A, B, C, D, E, G, H, I);
