//! Loaded files and their functions.

use std::fmt;
use std::sync::Arc;

use bef_format::{FunctionId, FunctionKind};
use befrost_host::context::{Cancellation, Diagnostics, Output, Resources, Stdout};
use befrost_host::{Error, ErrorCode, ExecContext, LoadError, Request, call};

use crate::datum::Datum;
use crate::runtime::Runtime;

/// A loaded file. Cheap to clone.
#[derive(Clone)]
pub struct Program {
    pub(crate) runtime: Runtime,
    pub(crate) program: Arc<befrost_host::Program>,
}

/// A function of a program.
#[derive(Clone)]
pub struct Function {
    owner: Program,
    id: FunctionId,
}

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type, as MLIR prints it.
    pub ty: String,
}

/// How to execute one call.
#[derive(Clone)]
pub struct CallOptions {
    /// The caller's number for the call, such as the step of a training loop; kernels see it.
    pub step: u64,
    /// Stops the call, by hand or by deadline.
    pub cancellation: Cancellation,
    /// Where kernels that print write to.
    pub output: Arc<dyn Output>,
    /// Named things that the call shares with others.
    pub resources: Resources,
    /// Who is told of every error that a kernel raises, whether or not a result depends on it.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
}

impl Default for CallOptions {
    fn default() -> CallOptions {
        CallOptions {
            step: 0,
            cancellation: Cancellation::default(),
            output: Arc::new(Stdout),
            resources: Resources::default(),
            diagnostics: None,
        }
    }
}

impl Program {
    /// The function called `name`.
    ///
    /// # Errors
    /// If there is none.
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

    /// All functions that can be called, in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.program.functions().map(|view| Function { owner: self.clone(), id: FunctionId(view.index()) })
    }

    /// Compares the tensors with their checksum, which loading does not, so that it need not read them.
    ///
    /// # Errors
    /// If they are not those that were written.
    pub fn verify_checksums(&self) -> Result<(), LoadError> {
        bef_format::validate::verify_payload(self.program.image()).map_err(LoadError::Format)
    }

    /// The runtime's view of it.
    pub fn inner(&self) -> &Arc<befrost_host::Program> {
        &self.program
    }
}

impl Function {
    /// Its name.
    pub fn name(&self) -> &str {
        self.owner.program.image().function(self.id.0).name()
    }

    /// Its arguments.
    pub fn arguments(&self) -> Vec<Port> {
        let view = self.owner.program.image().function(self.id.0);
        (0..view.n_args())
            .map(|i| Port { name: view.arg_name(i).into(), ty: view.arg_type(i).into() })
            .collect()
    }

    /// Its results.
    pub fn results(&self) -> Vec<Port> {
        let view = self.owner.program.image().function(self.id.0);
        (0..view.n_results())
            .map(|i| Port { name: view.result_name(i).into(), ty: view.result_type(i).into() })
            .collect()
    }

    /// Whether it is native code, declared with `tfrt.native`.
    pub fn is_native(&self) -> bool {
        let image = self.owner.program.image();
        image
            .function(self.id.0)
            .attrs()
            .is_some_and(|attrs| image.dict_entry(attrs, "tfrt.native").is_some())
    }

    /// Whether its kernels run one after the other, until one fails.
    pub fn is_sync(&self) -> bool {
        self.owner.program.image().function(self.id.0).kind() == FunctionKind::Sync
    }

    /// Calls it and waits for the results.
    ///
    /// # Errors
    /// If the arguments do not fit. What fails inside is an error *result*.
    pub fn call(&self, arguments: impl IntoIterator<Item = Datum>) -> Result<Vec<Datum>, Error> {
        self.call_with(arguments, &CallOptions::default())
    }

    /// [`Function::call`], with options.
    ///
    /// # Errors
    /// If the arguments do not fit.
    pub fn call_with(
        &self,
        arguments: impl IntoIterator<Item = Datum>,
        options: &CallOptions,
    ) -> Result<Vec<Datum>, Error> {
        let CallOptions { step, cancellation, output, resources, diagnostics } = options.clone();
        let Runtime { queue, allocator, limits, .. } = self.owner.runtime.clone();
        let request = Request {
            step,
            cancellation,
            output,
            resources,
            allocator,
            limits,
            diagnostics,
            ..Request::new(queue)
        };
        let context = ExecContext::new(Arc::new(request));
        let arguments = arguments.into_iter().map(|datum| datum.value().clone()).collect();
        let results = call(&self.owner.program, self.id, arguments, &context)?;
        Ok(results.into_iter().map(Datum::from).collect())
    }
}

impl fmt::Debug for Function {
    /// `main(images: !t.tensor) -> (logits: !t.tensor)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = |ports: Vec<Port>| {
            let port = |Port { name, ty }: Port| if name.is_empty() { ty } else { format!("{name}: {ty}") };
            ports.into_iter().map(port).collect::<Vec<_>>().join(", ")
        };
        write!(f, "{}({}) -> ({})", self.name(), ports(self.arguments()), ports(self.results()))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}
