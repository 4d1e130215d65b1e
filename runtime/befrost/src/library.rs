//! Kernel libraries: kernels in shared objects, in any language.
//!
//! ```text
//! path ──load, once per process──▶ befrost_library_v1 ──▶ kernels ─┬─▶ operators: rows
//!                                                                  └─▶ other kernels: ops of a dialect
//! ```
//!
//! The interface is `befrost_library.h`. Loading adds the names to the process's tables: to that of
//! operators, and with the feature `compile` to that of ops, so that text, GraphDefs and ONNX files with such
//! ops compile. A runtime that is built with the library has its kernels. A library is never unloaded.
//!
//! [`library!`](crate::library!) makes a library of Rust's; [`LibraryKernel`] is a kernel of one.

#![allow(unsafe_code, reason = "loads code, which the caller trusts, and calls it")]

mod abi;
mod call;
mod guest;
mod kernel;
mod operator;
mod signature;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use befrost_kernel_api::kernel::{Completion, Kernel, MakePrepared, Signature};
use befrost_kernel_api::{Error, ErrorCode, KernelError, Registry};
use befrost_kernels::tf_operator;
use befrost_tensor::tf::op::row::{function, impure};
use befrost_tensor::tf::op::{self, Cost, OpRow, Type};
use befrost_tensor::{HostTensor, TensorError};

pub use self::guest::{Frame, Kernels, Later, LibraryKernel, Operand, UseAttrs, UseShapes};
pub use self::table::{TableKernel, check_table};

use self::abi::{AttrSource, Attrs, EntryFn, HOST, LibraryMessage, RawKernel, RawLibrary, VERSION};
use self::call::LibraryCall;
use self::signature::{KernelSignature, OperatorSignature};

/// The exported function.
const ENTRY: &str = "befrost_library_v1";

/// Flags of a kernel.
const PURE: u32 = 1;
const BLOCKING: u32 = 2;

/// The answers of `run`.
const DONE: i32 = 0;
const LATER: i32 = 1;
const FAILED: i32 = 2;

/// A loaded kernel library.
#[derive(Clone, Copy, Debug)]
pub struct Library(&'static Loaded);

#[derive(Debug)]
struct Loaded {
    path: PathBuf,
    name: String,
    kernels: Vec<&'static LoadedKernel>,
}

/// The reason why a library is refused.
#[derive(Clone, Debug)]
pub struct LibraryError {
    path: PathBuf,
    why: String,
    code: ErrorCode,
}

impl LibraryError {
    fn new(path: &Path, why: String) -> LibraryError {
        LibraryError { path: path.to_owned(), why, code: ErrorCode::InvalidArgument }
    }

    /// The error of a file that is not there or cannot be reached.
    fn unreached(path: &Path, error: &std::io::Error) -> LibraryError {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorCode::NotFound,
            _ => ErrorCode::Unavailable,
        };
        LibraryError { code, ..LibraryError::new(path, error.to_string()) }
    }
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel library '{}': {}", self.path.display(), self.why)
    }
}

impl std::error::Error for LibraryError {}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Error {
        Error::new(error.code, error.to_string(), Vec::new())
    }
}

/// A kernel of a library.
struct LoadedKernel {
    name: &'static str,
    raw: RawKernel,
    kind: Kind,
}

enum Kind {
    Operator { row: &'static OpRow, sets: Vec<(String, Vec<Type>)> },
    Kernel { operands: Vec<&'static str>, results: Vec<&'static str>, attrs: Vec<&'static str> },
}

// SAFETY: by the header's contract any thread may call the functions, and the texts never change.
unsafe impl Send for LoadedKernel {}
// SAFETY: as for Send: the functions may run on several threads at once.
unsafe impl Sync for LoadedKernel {}

impl fmt::Debug for LoadedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The libraries that were loaded, by path.
static LOADED: Mutex<BTreeMap<PathBuf, Library>> = Mutex::new(BTreeMap::new());

/// The texts of libraries, which live as long as the process.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A text that lives as long as the process, one for all equal ones.
fn kept(text: String) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = texts.get(text.as_str()) {
        return known;
    }
    let new: &'static str = Box::leak(text.into_boxed_str());
    texts.insert(new);
    new
}

impl Library {
    /// Loads a library, or finds it if it was loaded before. Its names stay in the process's tables.
    ///
    /// # Errors
    /// If it cannot be loaded, is of another version, or one of its kernels is refused; then none is added.
    ///
    /// # Safety
    /// Its code runs now and whenever a program uses its kernels. It must keep the contract of
    /// `befrost_library.h`.
    pub unsafe fn load(path: impl AsRef<Path>) -> Result<Library, LibraryError> {
        let path = path.as_ref();
        let refused = |why: String| LibraryError::new(path, why);
        let full = path.canonicalize().map_err(|error| LibraryError::unreached(path, &error))?;
        // Held until the end, so that a library is loaded once.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = loaded.get(&full) {
            return Ok(*library);
        }
        // SAFETY: the caller's contract.
        let library = unsafe { libloading::Library::new(&full) };
        let library = library.map_err(|error| refused(format!("cannot be loaded: {error}")))?;
        // SAFETY: the header declares the function with this type.
        let entry = unsafe { library.get::<EntryFn>(ENTRY.as_bytes()) };
        let entry = *entry.map_err(|_| refused(format!("it has no function '{ENTRY}'")))?;
        let mut raw = RawLibrary {
            size: size_of::<RawLibrary>() as u32,
            version: 0,
            name: std::ptr::null(),
            kernels: std::ptr::null(),
            n_kernels: 0,
        };
        // Never unloaded: kernels refer to its code, and it may have threads.
        std::mem::forget(library);
        if let Some(LibraryMessage { message, .. }) = abi::taken(entry(&HOST, &mut raw)) {
            return Err(refused(format!("it refuses this host: {message}")));
        }
        let kernels = described(&raw).map_err(refused)?;
        let kernels = added(kernels).map_err(refused)?;
        let name = abi::text(raw.name);
        let library = Library(Box::leak(Box::new(Loaded { path: full.clone(), name, kernels })));
        loaded.insert(full, library);
        Ok(library)
    }

    /// The name that the library gives itself.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The full names of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> {
        self.0.kernels.iter().map(|kernel| kernel.name)
    }

    /// Adds the kernels to a registry.
    ///
    /// # Errors
    /// If the registry has a kernel of one of the names.
    pub fn add_to(&self, registry: &mut Registry) -> Result<(), LibraryError> {
        if let Some(taken) = self.kernels().find(|name| registry.find(name).is_some()) {
            let why = format!("the registry has a kernel '{taken}' already");
            return Err(LibraryError::new(&self.0.path, why));
        }
        self.0.kernels.iter().for_each(|kernel| registry.add(kernel.kernel()));
        Ok(())
    }
}

/// The kernels that a library describes.
fn described(raw: &RawLibrary) -> Result<Vec<LoadedKernel>, String> {
    let RawLibrary { size, version, kernels, n_kernels, .. } = *raw;
    let expected = size_of::<RawLibrary>();
    if version != VERSION || size as usize != expected {
        return Err(format!(
            "it is of version {version} with a table of {size} bytes; this host knows version {VERSION} with {expected}"
        ));
    }
    if n_kernels > 1 << 16 || kernels.is_null() && n_kernels > 0 {
        return Err(format!("it says that it has {n_kernels} kernels"));
    }
    let mut all: Vec<LoadedKernel> = Vec::new();
    for i in 0..n_kernels {
        // SAFETY: `kernels` points to `n_kernels` kernels, by the header's contract.
        let raw = unsafe { kernels.add(i) };
        // SAFETY: `i` is below `n_kernels`, so there is a kernel; the structure is plain data.
        let raw = unsafe { raw.read() };
        let kernel = one(raw).map_err(|why| format!("kernel #{i} '{}': {why}", abi::text(raw.name)))?;
        if all.iter().any(|known| known.name == kernel.name) {
            return Err(format!("it has two kernels '{}'", kernel.name));
        }
        all.push(kernel);
    }
    Ok(all)
}

fn one(raw: RawKernel) -> Result<LoadedKernel, String> {
    let expected = size_of::<RawKernel>();
    if raw.size as usize != expected {
        return Err(format!("its table has {} bytes, expected {expected}", raw.size));
    }
    if raw.name.is_null() || raw.signature.is_null() || raw.run.is_none() {
        return Err("name, signature and run must be there".to_owned());
    }
    if raw.flags & !(PURE | BLOCKING) != 0 {
        return Err(format!("flags {:#x} are not known", raw.flags));
    }
    let (name, signature) = (kept(abi::text(raw.name)), abi::text(raw.signature));
    let kind = match Declared::parse(name, &signature)? {
        Declared::Kernel(KernelSignature { operands, results, attrs }) => {
            let keep = |texts: Vec<String>| texts.into_iter().map(kept).collect();
            Kind::Kernel { operands: keep(operands), results: keep(results), attrs: keep(attrs) }
        }
        Declared::Operator(OperatorSignature { text, sets }) => {
            let row = row(name, kept(abi::text(raw.summary)), text, raw.flags & PURE != 0)?;
            Kind::Operator { row: Box::leak(Box::new(row)), sets }
        }
    };
    Ok(LoadedKernel { name, raw, kind })
}

/// The declaration of a kernel, by its name and its signature.
enum Declared {
    Operator(OperatorSignature),
    Kernel(KernelSignature),
}

impl Declared {
    fn parse(name: &str, signature: &str) -> Result<Declared, String> {
        if name.starts_with("tf.") {
            return OperatorSignature::parse(signature).map(Declared::Operator);
        }
        if name.split_once('.').is_none_or(|(dialect, op)| dialect.is_empty() || op.is_empty()) {
            return Err("its name has no dialect".to_owned());
        }
        KernelSignature::parse(signature).map(Declared::Kernel)
    }
}

/// The row of an operator.
fn row(name: &'static str, summary: &'static str, signature: String, is_pure: bool) -> Result<OpRow, String> {
    let signature = kept(signature);
    let made = if is_pure { function } else { impure };
    let columns = made(operator::prepare, operator::infer, Cost::PerResult(16)).no_gradient().foreign();
    let row = OpRow::parsed(name, summary, signature, columns);
    row.ok_or_else(|| format!("its signature is malformed: {signature}"))
}

/// Checks the name and the signature of a kernel, as loading its library does.
///
/// # Errors
/// The reason why a library with it is refused.
pub fn check(name: &str, signature: &str) -> Result<(), String> {
    match Declared::parse(name, signature)? {
        Declared::Kernel(_) => Ok(()),
        Declared::Operator(OperatorSignature { text, .. }) => {
            row(kept(name.to_owned()), "", text, true).map(|_| ())
        }
    }
}

/// Adds the names to the process's tables: all, or none if one is taken.
fn added(kernels: Vec<LoadedKernel>) -> Result<Vec<&'static LoadedKernel>, String> {
    let taken = |kernel: &&LoadedKernel| match &kernel.kind {
        Kind::Operator { row, .. } => op::row(row.name).is_some() || is_op(row.op_name),
        Kind::Kernel { .. } => crate::registry().find(kernel.name).is_some() || is_op(kernel.name),
    };
    if let Some(kernel) = kernels.iter().find(taken) {
        return Err(format!("there is a kernel '{}' already", kernel.name));
    }
    let kernels: Vec<&'static LoadedKernel> =
        kernels.into_iter().map(|kernel| &*Box::leak(Box::new(kernel))).collect();
    for &kernel in &kernels {
        if let Kind::Operator { row, .. } = kernel.kind {
            operator::add(kernel, row);
        }
        #[cfg(feature = "compile")]
        add_op(kernel)?;
    }
    Ok(kernels)
}

/// True if the compiler has an op of this name.
fn is_op(name: &str) -> bool {
    #[cfg(feature = "compile")]
    {
        befrost_compiler::dialects::libraries::has_op(name)
    }
    #[cfg(not(feature = "compile"))]
    {
        _ = name;
        false
    }
}

/// Adds the op to the compiler's tables.
#[cfg(feature = "compile")]
fn add_op(kernel: &'static LoadedKernel) -> Result<(), String> {
    use befrost_compiler::dialects::libraries::{ForeignKernel, add_kernel, add_operator};
    match &kernel.kind {
        Kind::Operator { row, .. } => add_operator(row),
        Kind::Kernel { operands, results, attrs } => add_kernel(&ForeignKernel {
            name: kernel.name,
            summary: kept(abi::text(kernel.raw.summary)),
            operands,
            results,
            attrs,
            is_pure: kernel.raw.flags & PURE != 0,
        }),
    }
}

/// A use of a kernel with its state, which `prepare` made.
struct UseState {
    kernel: &'static LoadedKernel,
    state: *mut c_void,
}

// SAFETY: by the header's contract any thread may run the kernel with its state, and release it.
unsafe impl Send for UseState {}
// SAFETY: as for Send: several threads may run the kernel with one state at once.
unsafe impl Sync for UseState {}

impl Drop for UseState {
    fn drop(&mut self) {
        if let Some(release) = self.kernel.raw.release {
            release(self.state);
        }
    }
}

impl LoadedKernel {
    /// The state of a use with these attributes.
    fn prepare(&'static self, attrs: &dyn AttrSource) -> Result<UseState, KernelError> {
        let mut state = UseState { kernel: self, state: null_mut() };
        if let Some(prepare) = self.raw.prepare {
            let attrs = Attrs::new(attrs);
            if let Some(error) = abi::taken(prepare(&HOST, &attrs, &mut state.state)) {
                // There is no state to be released.
                std::mem::forget(state);
                return Err(error.into());
            }
        }
        Ok(state)
    }

    fn kernel(&'static self) -> Kernel {
        match &self.kind {
            Kind::Operator { row, .. } => tf_operator(row),
            Kind::Kernel { operands, results, attrs } => Kernel::lazy(
                self.name,
                move || Signature {
                    operands: operands.iter().map(kernel::types_of).collect(),
                    results: results.iter().map(kernel::types_of).collect(),
                    attr_names: (!attrs.is_empty()).then(|| attrs.clone()),
                    completion: Completion::Async,
                    stores_all: true,
                    prepare: Some(MakePrepared::new(move |site| kernel::prepare(self, site))),
                    ..Signature::default()
                },
                kernel::run,
            ),
        }
    }
}

impl UseState {
    /// Runs the kernel. The results of a deferred call go to the function that `later` returns, those of
    /// others are returned.
    fn run(&self, mut call: LibraryCall, later: impl FnOnce() -> call::Ending) -> Ran {
        let Some(run) = self.kernel.raw.run else { return Ran::Done(Ok(Vec::new())) };
        let operands: Vec<HostTensor> =
            call.operands.iter().filter_map(|operand| operand.tensor.clone()).collect();
        let guards: Result<Vec<_>, TensorError> = operands.iter().map(HostTensor::read_bytes).collect();
        if let Err(error) = guards {
            return Ran::Done(Err(KernelError::new(ErrorCode::FailedPrecondition, error.to_string())));
        }
        let status = run(&HOST, self.state, &mut call);
        drop(guards);
        match (status, call.ticket) {
            (LATER, Some(ticket)) => {
                call::set_ending(ticket, later());
                return Ran::Later;
            }
            (LATER, None) => call.fail(ErrorCode::Internal, "it returned BF_LATER without a ticket"),
            (status, ticket) => {
                if let Some(ticket) = ticket {
                    call::forget(ticket);
                    call.fail(ErrorCode::Internal, "it took a ticket, and did not return BF_LATER");
                }
                if status != DONE {
                    call.fail(ErrorCode::Unknown, &format!("it failed with the status {status}"));
                }
            }
        }
        Ran::Done(call.finish())
    }
}

/// The end of a run.
enum Ran {
    Done(Result<Vec<HostTensor>, KernelError>),
    Later,
}
