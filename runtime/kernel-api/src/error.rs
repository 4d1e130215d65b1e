//! Errors as values.
//!
//! A kernel fails with a [`KernelError`]: a code and a message, without location. The executor adds the
//! kernel's source location and its callers and makes it an [`Error`]: the counted, immutable value that
//! propagates through registers to all dependent kernels.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Kind of an error. The names and meanings are absl's, as in TFRT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The execution was cancelled by its caller.
    Cancelled,
    /// No other code fits.
    Unknown,
    /// An operand or attribute has a value that the kernel cannot take.
    InvalidArgument,
    /// The execution's deadline has passed.
    DeadlineExceeded,
    /// There is nothing of the given name.
    NotFound,
    /// Memory or another bounded resource is exhausted.
    ResourceExhausted,
    /// The operation is not legal in this state, such as two kernels writing one buffer at once.
    FailedPrecondition,
    /// A value lies outside its range.
    OutOfRange,
    /// Not implemented.
    Unimplemented,
    /// A bug of the runtime or of a kernel, such as a panic.
    Internal,
    /// Reading or writing the outside world failed.
    Unavailable,
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Error of a kernel, without location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError(Box<KernelErrorData>);

/// The fields of a [`KernelError`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct KernelErrorData {
    code: ErrorCode,
    message: String,
    /// The trace of an error in a function that the kernel called, as in [`Error`]; otherwise empty.
    inside: Vec<String>,
}

impl KernelError {
    /// An error of kind `code`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> KernelError {
        KernelError(Box::new(KernelErrorData { code, message: message.into(), inside: Vec::new() }))
    }

    /// The error of a kernel whose function failed.
    pub fn of_call(error: &Error) -> KernelError {
        let (code, message) = (error.code(), error.message().to_owned());
        KernelError(Box::new(KernelErrorData { code, message, inside: error.trace().to_vec() }))
    }

    /// An [`ErrorCode::InvalidArgument`] error.
    pub fn invalid(message: impl Into<String>) -> KernelError {
        KernelError::new(ErrorCode::InvalidArgument, message)
    }

    /// The kind of error.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

#[doc(hidden)]
impl KernelError {
    /// The trace of an error in a function that the kernel called; otherwise empty.
    pub fn inside(&self) -> &[String] {
        &self.0.inside
    }

    /// The error of a kernel's panic, which was caught with this payload.
    pub fn of_panic(payload: Box<dyn Any + Send>) -> KernelError {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!("a kernel panicked: {}", text.unwrap_or("(no message)"));
        drop_payload(payload);
        KernelError::new(ErrorCode::Internal, message)
    }
}

/// Calls destructors. A panic, which the panic hook has reported, ends nothing but `work`.
#[doc(hidden)]
pub fn quietly(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        drop_payload(payload);
    }
}

/// Drops the payload of a panic that was caught. If its destructor panics, the payload of that panic is
/// leaked.
#[doc(hidden)]
pub fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(next);
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for KernelError {}

/// The fields of an [`Error`].
#[derive(Debug)]
struct ErrorData {
    code: ErrorCode,
    message: String,
    /// The locations of the failing kernel and of its callers, innermost first, as `file:line:col`.
    trace: Vec<String>,
}

/// An error value: message, location and callers. Immutable and cheap to clone.
#[derive(Clone, Debug)]
pub struct Error(Arc<ErrorData>);

impl Error {
    /// An error with its trace, innermost first; empty if unknown.
    pub fn new(code: ErrorCode, message: impl Into<String>, trace: Vec<String>) -> Error {
        Error(Arc::new(ErrorData { code, message: message.into(), trace }))
    }

    /// The kind of error.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The message, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The source location of the kernel that failed, `file:line:col`.
    pub fn location(&self) -> Option<&str> {
        self.0.trace.first().map(String::as_str)
    }

    /// The locations of the failing kernel's callers, innermost first.
    pub fn calls(&self) -> &[String] {
        self.0.trace.get(1..).unwrap_or_default()
    }

    /// True if both refer to one error value.
    pub fn same(&self, other: &Error) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[doc(hidden)]
impl Error {
    /// The locations of the failing kernel and of its callers, innermost first.
    pub fn trace(&self) -> &[String] {
        &self.0.trace
    }
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Error {
        let KernelErrorData { code, message, inside } = *error.0;
        Error::new(code, message, inside)
    }
}

impl fmt::Display for Error {
    /// `file:line:col: message`, or the message alone where no location is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location() {
            Some(location) => write!(f, "{location}: {}", self.message()),
            None => f.write_str(self.message()),
        }
    }
}

impl std::error::Error for Error {}
