//! Loaded files and their functions.

use std::fmt;
use std::sync::{Arc, OnceLock};

#[cfg(feature = "compile")]
use bef_format::Image;
use bef_format::{AttrView, FunctionId, FunctionKind};
use befrost_host::call;
use befrost_kernel_api::context::{Cancellation, Diagnostics, Output, Resources, Stdout};
use befrost_kernel_api::{Error, ErrorCode, ExecContext, Request, Value};

use crate::datum::Datum;
use crate::error::LoadError;
use crate::pending::PendingCall;
use crate::port::Port;
use crate::recorder::Recorder;
use crate::runtime::Runtime;
#[cfg(doc)]
use crate::runtime::RuntimeBuilder;

/// A loaded file. Cheap to clone; all clones share the file, and nothing else: variables live in
/// [`Resources`].
#[derive(Clone)]
pub struct Program {
    runtime: Runtime,
    program: Arc<befrost_host::Program>,
    /// The signatures of the functions that were asked for, by their number.
    signatures: Arc<[OnceLock<FunctionPorts>]>,
}

/// The arguments and results of a function.
#[derive(Debug)]
struct FunctionPorts {
    arguments: Vec<Port>,
    results: Vec<Port>,
    /// The number of chains among the arguments.
    n_chains: usize,
}

/// A function of a program.
#[derive(Clone)]
pub struct Function {
    pub(crate) owner: Program,
    pub(crate) id: FunctionId,
}

/// Options of one call.
#[derive(Clone)]
pub struct CallOptions {
    /// A number chosen by the caller, such as the step of a training loop; kernels can read it.
    pub step: u64,
    /// Stops the call, on request or at a deadline.
    pub cancellation: Cancellation,
    /// Output of kernels that print.
    pub output: Arc<dyn Output>,
    /// Named resources, which several calls can share.
    pub resources: Resources,
    /// Observer of all errors that kernels raise, whether or not a result depends on them.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
    /// Receiver of the times of kernels, instead of the runtime's: for programs of a runtime that
    /// [records](RuntimeBuilder::recorder).
    pub recorder: Option<Recorder>,
}

impl Default for CallOptions {
    fn default() -> CallOptions {
        CallOptions {
            step: 0,
            cancellation: Cancellation::default(),
            output: Arc::new(Stdout),
            resources: Resources::default(),
            diagnostics: None,
            recorder: None,
        }
    }
}

impl Program {
    pub(crate) fn new(runtime: Runtime, program: Arc<befrost_host::Program>) -> Program {
        let signatures = (0..program.image().n_functions()).map(|_| OnceLock::new()).collect();
        Program { runtime, program, signatures }
    }

    /// The runtime that executes it.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The function called `name`.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn function(&self, name: &str) -> Result<Function, Error> {
        match self.program.find(name) {
            Some(id) => Ok(Function { owner: self.clone(), id }),
            None => {
                let names: Vec<&str> = self.program.functions().map(|f| f.name()).collect();
                let message = format!("no function '{name}'; there are: {}", names.join(", "));
                Err(Error::new(ErrorCode::NotFound, message, Vec::new()))
            }
        }
    }

    /// All functions with names, private ones included, in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.program.functions().map(|view| Function { owner: self.clone(), id: FunctionId(view.index()) })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.program.bytes()
    }

    /// Verifies the checksum of the tensors. Loading does not, so that it need not read them.
    ///
    /// # Errors
    /// If the tensors differ from those that were written.
    pub fn verify_checksums(&self) -> Result<(), LoadError> {
        let verified = bef_format::validate::verify_payload(self.program.image());
        verified.map_err(|error| LoadError::new(befrost_host::LoadError::Format(error)))
    }

    /// The host runtime's program, for tools that use that crate too.
    #[doc(hidden)]
    pub fn inner(&self) -> &Arc<befrost_host::Program> {
        &self.program
    }
}

impl Function {
    /// The name.
    pub fn name(&self) -> &str {
        self.owner.program.image().function(self.id.0).name()
    }

    /// The program that it belongs to.
    pub fn program(&self) -> &Program {
        &self.owner
    }

    /// The file that it is in.
    #[cfg(feature = "compile")]
    pub(crate) fn image(&self) -> &Image<'_> {
        self.owner.program.image()
    }

    /// The arguments.
    pub fn arguments(&self) -> &[Port] {
        self.signature().map_or(&[], |signature| &signature.arguments)
    }

    /// The results.
    pub fn results(&self) -> &[Port] {
        self.signature().map_or(&[], |signature| &signature.results)
    }

    fn signature(&self) -> Option<&FunctionPorts> {
        let signature = self.owner.signatures.get(self.id.0 as usize)?;
        Some(signature.get_or_init(|| {
            let view = self.owner.program.image().function(self.id.0);
            let arguments = (0..view.n_args()).map(|i| Port::new(view.arg_name(i), view.arg_type(i)));
            let results = (0..view.n_results()).map(|i| Port::new(view.result_name(i), view.result_type(i)));
            let arguments: Vec<Port> = arguments.collect();
            let n_chains = arguments.iter().filter(|port| port.is_chain()).count();
            FunctionPorts { arguments, results: results.collect(), n_chains }
        }))
    }

    /// True for native code, declared with `tfrt.native`.
    pub fn is_native(&self) -> bool {
        let image = self.owner.program.image();
        image
            .function(self.id.0)
            .attrs()
            .is_some_and(|attrs| image.dict_entry(attrs, "tfrt.native").is_some())
    }

    /// True for a function that is declared private, such as those that the compiler makes.
    pub fn is_private(&self) -> bool {
        let image = self.owner.program.image();
        let entry = |attrs| image.dict_entry(attrs, "sym_visibility");
        let visibility = image.function(self.id.0).attrs().and_then(entry);
        visibility.is_some_and(|attr| matches!(image.attr(attr), AttrView::Str("private")))
    }

    /// A text that the compiler attached to the function, such as `bef.training` of a training program's
    /// step.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let image = self.owner.program.image();
        let attrs = image.function(self.id.0).attrs()?;
        match image.attr(image.dict_entry(attrs, name)?) {
            AttrView::Str(text) => Some(text),
            _ => None,
        }
    }

    /// True for a synchronous function: its kernels run in sequence until one fails.
    pub fn is_sync(&self) -> bool {
        self.owner.program.image().function(self.id.0).kind() == FunctionKind::Sync
    }

    /// Calls the function and waits for the results. Chains among the arguments may be left out.
    ///
    /// # Errors
    /// If the number of arguments or the type of one is wrong: dtype, rank, or a size that the function
    /// declares. A failure inside is an error *result*, which [`Function::call_ok`] returns as an error.
    pub fn call(&self, arguments: impl IntoIterator<Item = Datum>) -> Result<Vec<Datum>, Error> {
        self.call_with(arguments, &CallOptions::default())
    }

    /// [`Function::call`] whose first error result becomes the error.
    ///
    /// # Errors
    /// As [`Function::call`], and the first error among the results.
    pub fn call_ok(&self, arguments: impl IntoIterator<Item = Datum>) -> Result<Vec<Datum>, Error> {
        let results = self.call(arguments)?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        Ok(results)
    }

    /// [`Function::call`] with arguments by their names, in any order.
    ///
    /// # Errors
    /// As [`Function::call`], and if a name is unknown or given twice.
    pub fn call_named<'n>(
        &self,
        arguments: impl IntoIterator<Item = (&'n str, Datum)>,
    ) -> Result<Vec<Datum>, Error> {
        self.call(self.by_name(arguments)?)
    }

    /// The arguments in the order of the function's, for calls with options; chains are left out.
    ///
    /// # Errors
    /// If a name is unknown, given twice or missing.
    pub fn by_name<'n>(
        &self,
        arguments: impl IntoIterator<Item = (&'n str, Datum)>,
    ) -> Result<Vec<Datum>, Error> {
        let ports = self.arguments();
        let mut given: Vec<Option<Datum>> = ports.iter().map(|_| None).collect();
        for (name, datum) in arguments {
            let at = ports.iter().position(|port| port.name() == name && !port.is_chain());
            let slot = at.and_then(|at| given.get_mut(at));
            let slot = slot.ok_or_else(|| self.refuse(&format!("there is no argument '{name}'")))?;
            if slot.replace(datum).is_some() {
                return Err(self.refuse(&format!("argument '{name}' is given twice")));
            }
        }
        let given = ports.iter().zip(given).enumerate().filter(|(_, (port, _))| !port.is_chain());
        given
            .map(|(at, (port, datum))| {
                datum.ok_or_else(|| self.refuse(&format!("argument {} is missing", port.label(at))))
            })
            .collect()
    }

    /// [`Function::call`], with options.
    ///
    /// # Errors
    /// As [`Function::call`].
    pub fn call_with(
        &self,
        arguments: impl IntoIterator<Item = Datum>,
        options: &CallOptions,
    ) -> Result<Vec<Datum>, Error> {
        let arguments = self.checked(arguments)?;
        self.run(arguments, options)
    }

    /// Begins a call, which goes on while the caller does something else. A queue without threads, `s`, runs
    /// it at once.
    ///
    /// # Errors
    /// As [`Function::call`], and if too many calls are waiting for a thread.
    pub fn call_async(
        &self,
        arguments: impl IntoIterator<Item = Datum>,
        options: &CallOptions,
    ) -> Result<PendingCall, Error> {
        let arguments = self.checked(arguments)?;
        PendingCall::begin(&self.owner.runtime.queue, {
            let (function, options) = (self.clone(), options.clone());
            move || function.run(arguments, &options)
        })
    }

    /// All arguments, if they have the declared types.
    fn checked(&self, arguments: impl IntoIterator<Item = Datum>) -> Result<Vec<Value>, Error> {
        let mut values = Vec::with_capacity(self.arguments().len());
        values.extend(arguments.into_iter().map(Datum::into_value));
        self.check(&mut values)?;
        Ok(values)
    }

    /// Adds the arguments that are chains, and checks that all have the declared types.
    pub(crate) fn check(&self, values: &mut Vec<Value>) -> Result<(), Error> {
        let (ports, n_chains) =
            self.signature().map_or((&[][..], 0), |ports| (&ports.arguments[..], ports.n_chains));
        if n_chains > 0 && values.len() + n_chains == ports.len() {
            let mut given = std::mem::take(values).into_iter();
            *values = ports.iter().filter_map(|port| port.only_value().or_else(|| given.next())).collect();
        }
        if values.len() != ports.len() {
            let (want, got) = (ports.len(), values.len());
            return Err(self.refuse(&format!("the function has {want} arguments, got {got}")));
        }
        ports.iter().zip(&*values).enumerate().try_for_each(|(at, (port, value))| port.check(at, value))
    }

    /// Calls the function as part of an execution. Chains among the arguments may be left out.
    #[cfg(feature = "eager")]
    pub(crate) fn call_in(&self, arguments: Vec<Value>, cx: &ExecContext) -> Result<Vec<Value>, Error> {
        let arguments = self.checked(arguments.into_iter().map(Datum::from))?;
        Ok(call(&self.owner.program, self.id, arguments, cx)?)
    }

    fn refuse(&self, what: &str) -> Error {
        Error::new(ErrorCode::InvalidArgument, format!("{what}; the function is {self:?}"), Vec::new())
    }

    /// The request of a call with these options.
    pub(crate) fn request(&self, options: CallOptions) -> Request {
        let CallOptions { step, cancellation, output, resources, diagnostics, recorder } = options;
        let request = self.owner.runtime.request(recorder);
        Request { step, cancellation, output, resources, diagnostics, ..request }
    }

    fn run(&self, arguments: Vec<Value>, options: &CallOptions) -> Result<Vec<Datum>, Error> {
        let context = ExecContext::new(Arc::new(self.request(options.clone())));
        let results = call(&self.owner.program, self.id, arguments, &context)?;
        Ok(results.into_iter().map(Datum::from).collect())
    }
}

impl fmt::Debug for Function {
    /// Prints as `main(images: !t.tensor) -> (logits: !t.tensor)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = |port: &Port| match port.name() {
            "" => port.ty().to_owned(),
            name => format!("{name}: {}", port.ty()),
        };
        let ports = |ports: &[Port]| ports.iter().map(port).collect::<Vec<_>>().join(", ");
        write!(f, "{}({}) -> ({})", self.name(), ports(self.arguments()), ports(self.results()))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}
