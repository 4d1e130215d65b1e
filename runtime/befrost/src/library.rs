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

#![allow(unsafe_code, reason = "loads code, which the caller trusts, and calls it")]

mod abi;
mod call;
mod kernel;
mod operator;
mod signature;

use std::collections::BTreeMap;
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

use self::abi::{
    AttrSource, Attrs, EntryFn, HOST, LibraryMessage, PortShapes, RawKernel, RawLibrary, VERSION,
};
use self::call::{CallOperand, LibraryCall};
use self::signature::{KernelSignature, OperatorSignature};

/// The exported function.
const ENTRY: &str = "befrost_library_v1";

/// Flags of a kernel.
const PURE: u32 = 1;
const BLOCKING: u32 = 2;

/// The answers of `run`.
const DONE: i32 = 0;
const LATER: i32 = 1;

/// A loaded kernel library.
#[derive(Clone, Copy, Debug)]
pub struct Library(&'static Loaded);

#[derive(Debug)]
struct Loaded {
    path: PathBuf,
    name: String,
    kernels: Vec<&'static LibraryKernel>,
}

/// The reason why a library is refused.
#[derive(Clone, Debug)]
pub struct LibraryError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel library '{}': {}", self.path.display(), self.why)
    }
}

impl std::error::Error for LibraryError {}

impl From<LibraryError> for Error {
    fn from(error: LibraryError) -> Error {
        Error::new(ErrorCode::InvalidArgument, error.to_string(), Vec::new())
    }
}

/// A kernel of a library.
struct LibraryKernel {
    name: &'static str,
    raw: RawKernel,
    kind: Kind,
}

enum Kind {
    Operator { row: &'static OpRow, sets: Vec<(String, Vec<Type>)> },
    Kernel { operands: Vec<&'static str>, results: Vec<&'static str>, attrs: Vec<&'static str> },
}

// SAFETY: by the header's contract any thread may call the functions, and the texts never change.
unsafe impl Send for LibraryKernel {}
// SAFETY: as for Send: the functions may run on several threads at once.
unsafe impl Sync for LibraryKernel {}

impl fmt::Debug for LibraryKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The libraries that were loaded, by path.
static LOADED: Mutex<BTreeMap<PathBuf, Library>> = Mutex::new(BTreeMap::new());

fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
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
        let refused = |why: String| LibraryError { path: path.to_owned(), why };
        let full = path.canonicalize().map_err(|error| refused(error.to_string()))?;
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
            return Err(LibraryError { path: self.0.path.clone(), why });
        }
        self.0.kernels.iter().for_each(|kernel| registry.add(kernel.kernel()));
        Ok(())
    }
}

/// The kernels that a library describes.
fn described(raw: &RawLibrary) -> Result<Vec<LibraryKernel>, String> {
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
    let mut all: Vec<LibraryKernel> = Vec::new();
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

fn one(raw: RawKernel) -> Result<LibraryKernel, String> {
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
    let (name, signature) = (leaked(abi::text(raw.name)), abi::text(raw.signature));
    let summary = leaked(abi::text(raw.summary));
    if !name.starts_with("tf.") {
        if name.split_once('.').is_none_or(|(dialect, op)| dialect.is_empty() || op.is_empty()) {
            return Err("its name has no dialect".to_owned());
        }
        let KernelSignature { operands, results, attrs } = KernelSignature::parse(&signature)?;
        let leak = |texts: Vec<String>| texts.into_iter().map(leaked).collect();
        let kind = Kind::Kernel { operands: leak(operands), results: leak(results), attrs: leak(attrs) };
        return Ok(LibraryKernel { name, raw, kind });
    }
    let OperatorSignature { text, sets } = OperatorSignature::parse(&signature)?;
    let made = if raw.flags & PURE != 0 { function } else { impure };
    let columns = made(operator::prepare, operator::infer, Cost::PerResult(16)).no_gradient().foreign();
    let row = OpRow::parsed(name, summary, leaked(text), columns);
    let row = row.ok_or_else(|| format!("its signature is malformed: {signature}"))?;
    Ok(LibraryKernel { name, raw, kind: Kind::Operator { row: Box::leak(Box::new(row)), sets } })
}

/// Adds the names to the process's tables: all, or none if one is taken.
fn added(kernels: Vec<LibraryKernel>) -> Result<Vec<&'static LibraryKernel>, String> {
    let taken = |kernel: &&LibraryKernel| match &kernel.kind {
        Kind::Operator { row, .. } => op::row(row.name).is_some() || is_op(row.op_name),
        Kind::Kernel { .. } => crate::registry().find(kernel.name).is_some() || is_op(kernel.name),
    };
    if let Some(kernel) = kernels.iter().find(taken) {
        return Err(format!("there is a kernel '{}' already", kernel.name));
    }
    let kernels: Vec<&'static LibraryKernel> =
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
fn add_op(kernel: &'static LibraryKernel) -> Result<(), String> {
    use befrost_compiler::dialects::libraries::{ForeignKernel, add_kernel, add_operator};
    match &kernel.kind {
        Kind::Operator { row, .. } => add_operator(row),
        Kind::Kernel { operands, results, attrs } => add_kernel(&ForeignKernel {
            name: kernel.name,
            summary: leaked(abi::text(kernel.raw.summary)),
            operands,
            results,
            attrs,
            is_pure: kernel.raw.flags & PURE != 0,
        }),
    }
}

/// A use of a kernel with its state, which `prepare` made.
struct UseState {
    kernel: &'static LibraryKernel,
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

impl LibraryKernel {
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

// ---- operators ----

fn operator(name: &str) -> Option<&'static LibraryKernel> {
    OPERATORS.read().unwrap_or_else(PoisonError::into_inner).get(name).copied()
}

fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}

/// The types of an operator's attributes, if they are in the sets.
fn check_sets(kernel: &LibraryKernel, attrs: &Attributes<'_>) -> Result<(), TensorError> {
    let Kind::Operator { sets, .. } = &kernel.kind else { return Ok(()) };
    for (name, allowed) in sets {
        // Where the type is not known, it is checked later.
        let Ok(ty) = attrs.ty(name) else { continue };
        if !allowed.contains(&ty) {
            let names: Vec<&str> = allowed.iter().map(|ty| ty.name()).collect();
            let problem =
                format!("attribute `{name}` is {}, expected one of {}", ty.name(), names.join(", "));
            return invalid(attrs.op(), problem);
        }
    }
    Ok(())
}

fn prepare_operator(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let Some(kernel) = operator(op) else { return invalid(op, "its library is gone".to_owned()) };
    check_sets(kernel, attrs)?;
    let state = kernel.prepare(&NodeSource(attrs));
    let state = state.or_else(|error| invalid(op, error.message().to_owned()))?;
    let signature = attrs.signature();
    let (n_inputs, n_outputs) = (signature.inputs.len(), signature.outputs.len());
    let is_list = |arg: &op::Arg| arg.number.is_some() || matches!(arg.ty, op::ArgType::List(_));
    let has_lists = signature.inputs.iter().any(is_list);
    if signature.outputs.iter().any(is_list) {
        return invalid(op, "an operator of a library has no lists of results".to_owned());
    }
    Ok(Box::new(move |operands, cx| {
        if operands.len() != n_inputs && !has_lists {
            return invalid(op, format!("{} operands, expected {n_inputs}", operands.len()));
        }
        let operands = operands.into_iter().map(|operand| CallOperand::new(Some(operand))).collect();
        let call = LibraryCall::new(kernel.name, operands, n_outputs, cx.allocator.clone());
        // An operator is a function: a thread waits for what comes later.
        let ended = Arc::new((Mutex::new(None), Condvar::new()));
        let ends = ended.clone();
        let ran = state.run(call, move || {
            Box::new(move |results| {
                *ends.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(results);
                ends.1.notify_all();
            })
        });
        let results = match ran {
            Ran::Done(results) => results,
            Ran::Later => {
                let mut results = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    match results.take() {
                        Some(results) => break results,
                        None => results = ended.1.wait(results).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            }
        };
        match results {
            Ok(results) => Ok(results.into()),
            Err(error) => invalid(op, error.message().to_owned()),
        }
    }))
}

fn infer_operator(node: &Node<'_>) -> NodeShapes {
    let Some(kernel) = operator(node.op()) else { return node.refuse("its library is gone".to_owned()) };
    check_sets(kernel, node.attrs())?;
    let Some(infer) = kernel.raw.infer else {
        return Ok(vec![PartialShape::unknown(); node.n_results()]);
    };
    let operands = (0..node.n_operands()).map(|i| node.shape(i).ok().and_then(PartialShape::dims));
    let mut shapes = PortShapes::new(operands, node.n_results());
    let source = NodeSource(node.attrs());
    let status = infer(&HOST, &Attrs::new(&source), &mut shapes);
    shapes.finish(status).or_else(|why| node.refuse(why))
}

/// Attributes of a node, with defaults.
struct NodeSource<'a>(&'a Attributes<'a>);

impl AttrSource for NodeSource<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        self.0.int(name).ok()
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.0.float(name).ok()
    }
    fn bool(&self, name: &str) -> Option<bool> {
        self.0.bool(name).ok()
    }
    fn ty(&self, name: &str) -> Option<Type> {
        self.0.ty(name).ok()
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.string(name).ok().map(|text| Cow::Owned(text.as_bytes().to_vec()))
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.0.ints(name).ok()
    }
}

// ---- other kernels ----

/// Attributes of a use in a program.
struct UseSource<'u>(&'u KernelUse<'u>);

impl UseSource<'_> {
    fn view(&self, name: &str) -> Option<RawAttr<'_>> {
        self.0.attr_named(name)
    }
}

impl AttrSource for UseSource<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        match self.view(name)?.view {
            AttrView::Int { value, .. } => Some(value),
            _ => None,
        }
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.view(name)?.view.as_f64().or_else(|| self.int(name).map(|value| value as f64))
    }
    fn bool(&self, name: &str) -> Option<bool> {
        match self.view(name)?.view {
            AttrView::Bool(value) => Some(value),
            _ => None,
        }
    }
    fn ty(&self, name: &str) -> Option<Type> {
        match self.view(name)?.view {
            AttrView::Type(text) => text.parse::<DType>().ok().map(Type::Dense),
            _ => None,
        }
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        match self.view(name)?.view {
            AttrView::Str(text) => Some(Cow::Owned(text.as_bytes().to_vec())),
            _ => None,
        }
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        let attr = self.view(name)?;
        match attr.view {
            AttrView::Scalars { dtype: bef_format::DType::I64, bytes, n, .. } => {
                Some(bytes.as_chunks::<8>().0.iter().take(n).map(|word| i64::from_le_bytes(*word)).collect())
            }
            AttrView::Scalars { dtype: bef_format::DType::I32, bytes, n, .. } => {
                let words = bytes.as_chunks::<4>().0.iter().take(n);
                Some(words.map(|word| i64::from(i32::from_le_bytes(*word))).collect())
            }
            AttrView::Array([]) => Some(Vec::new()),
            _ => None,
        }
    }
}

/// An operand of a kernel as a tensor; a chain is none. `None` for a value that is not there.
fn as_tensor(
    value: &Value,
    allocator: &Arc<dyn Allocator>,
) -> Option<Result<Option<HostTensor>, TensorError>> {
    macro_rules! scalars {
        ($($variant:ident: $dtype:ident),*) => {
            match value {
                Value::Chain => return Some(Ok(None)),
                Value::I1(value) => (DType::I1, vec![u8::from(*value)]),
                $(Value::$variant(value) => (DType::$dtype, value.to_le_bytes().to_vec()),)*
                _ => return value.downcast_ref::<Tensor>().map(|tensor| Ok(Some(tensor.0.clone()))),
            }
        };
    }
    let (dtype, bytes) = scalars!(
        I8: I8, I16: I16, I32: I32, I64: I64, U8: UI8, U16: UI16, U32: UI32, U64: UI64, F16: F16, BF16: BF16,
        F32: F32, F64: F64
    );
    Some(HostTensor::splat(dtype, Shape::scalar(), &bytes, allocator).map(Some))
}

/// A result of a kernel: a value of its declared type.
fn as_value(kernel: &'static str, ty: &str, result: HostTensor) -> Result<Value, KernelError> {
    if ty == "!t.tensor" {
        return Ok(Value::object(Tensor(result)));
    }
    let wrong = || {
        let (dtype, shape) = (result.dtype(), result.shape());
        KernelError::new(
            ErrorCode::Internal,
            format!("{kernel}: a result of type {ty} is set to a tensor of {dtype}, shape {shape}"),
        )
    };
    if result.shape().rank() != 0 || ty.parse() != Ok(result.dtype()) {
        return Err(wrong());
    }
    let bytes = result.read_bytes().map_err(|_| wrong())?;
    macro_rules! scalars {
        ($($dtype:ident: $variant:ident($of:ty)),*) => {
            match result.dtype() {
                DType::I1 => Some(Value::I1(bytes.first() != Some(&0))),
                $(DType::$dtype => {
                    bytes.first_chunk().map(|bytes| Value::$variant(<$of>::from_le_bytes(*bytes)))
                })*
                _ => None,
            }
        };
    }
    scalars!(
        I8: I8(i8), I16: I16(i16), I32: I32(i32), I64: I64(i64), UI8: U8(u8), UI16: U16(u16), UI32: U32(u32),
        UI64: U64(u64), F32: F32(f32), F64: F64(f64), F16: F16(befrost_tensor::f16),
        BF16: BF16(befrost_tensor::bf16)
    )
    .ok_or_else(wrong)
}

/// The values of all results; chains are not set by libraries.
fn as_values(
    kernel: &'static LibraryKernel,
    results: Result<Vec<HostTensor>, KernelError>,
) -> Result<Vec<Value>, KernelError> {
    let Kind::Kernel { results: types, .. } = &kernel.kind else { return Ok(Vec::new()) };
    let mut results = results?.into_iter();
    let value = |ty: &&'static str| match *ty {
        "!tfrt.chain" => Ok(Value::Chain),
        ty => match results.next() {
            Some(result) => as_value(kernel.name, ty, result),
            None => Err(KernelError::new(ErrorCode::Internal, "a result is missing")),
        },
    };
    types.iter().map(value).collect()
}

fn run_kernel(frame: &mut KernelFrame<'_>) -> Outcome {
    let state: &UseState = match frame.prepared::<UseState>() {
        Ok(state) => state.0,
        Err(outcome) => return outcome,
    };
    let Kind::Kernel { results: types, .. } = &state.kernel.kind else { return Outcome::Operand };
    let allocator = frame.context().allocator().clone();
    let mut operands = Vec::new();
    for i in 0..frame.n_operands() {
        match frame.operand(i).and_then(|value| as_tensor(value, &allocator)) {
            Some(Ok(tensor)) => operands.push(CallOperand::new(tensor)),
            Some(Err(error)) => return Outcome::error(KernelError::invalid(error.to_string())),
            None => return Outcome::Operand,
        }
    }
    let n_results = types.iter().filter(|ty| **ty != "!tfrt.chain").count();
    let call = LibraryCall::new(state.kernel.name, operands, n_results, allocator);
    if state.kernel.raw.flags & BLOCKING != 0 {
        return run_blocking(frame, call);
    }
    let (promises, values): (Vec<Promise>, Vec<AsyncRef>) = types.iter().map(|_| AsyncRef::pending()).unzip();
    let (kernel, cx, site) = (state.kernel, frame.context().clone(), frame.site());
    let mut promises = Some(promises);
    let ran = state.run(call, || {
        let promises = promises.take().unwrap_or_default();
        Box::new(move |results| match as_values(kernel, results) {
            Ok(values) => promises.into_iter().zip(values).for_each(|(promise, value)| promise.set(value)),
            Err(error) => {
                let error = cx.raise(&error, site.location().into_iter().collect());
                promises.into_iter().for_each(|promise| promise.fail(error.clone()));
            }
        })
    });
    match ran {
        Ran::Done(results) => match as_values(kernel, results) {
            Ok(values) => {
                values.into_iter().enumerate().for_each(|(i, value)| frame.set_result(i, value));
                Outcome::Done
            }
            Err(error) => Outcome::Error(error),
        },
        Ran::Later => {
            let values = values.into_iter().map(Value::Async).enumerate();
            values.for_each(|(i, value)| frame.set_result(i, value));
            Outcome::Done
        }
    }
}

/// Runs a kernel on a thread that may block. The state belongs to the program, which the frame's file keeps.
fn run_blocking(frame: &mut KernelFrame<'_>, call: LibraryCall) -> Outcome {
    let file = frame.file().clone();
    let Ok(state) = frame.prepared::<UseState>() else { return Outcome::Operand };
    let state: *const UseState = state.0;
    let state = UsedState(state);
    let work = move |_: &befrost_kernel_api::ExecContext| {
        let (state, _file) = (state, &file);
        // SAFETY: the state is part of the loaded file, which lives as long as `_file`.
        let state = unsafe { &*state.0 };
        let refuse = |kernel: &'static LibraryKernel| {
            KernelError::new(ErrorCode::Internal, format!("{}: a blocking kernel comes later", kernel.name))
        };
        match state.run(call, || Box::new(|_| ())) {
            Ran::Done(results) => as_values(state.kernel, results),
            Ran::Later => Err(refuse(state.kernel)),
        }
    };
    Deferred::blocking(work).store(frame)
}

/// A pointer to a state that another thread may use.
#[derive(Clone, Copy)]
struct UsedState(*const UseState);

// SAFETY: a state may be used by any thread.
unsafe impl Send for UsedState {}
