//! Models: a file in, results out.

use std::path::Path;

use befrost_compiler::import::recognize::FileKind;
use befrost_kernel_api::context::Resources;
use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::HostTensor;

use crate::compile::{CompileOptions, KnownBytes, KnownFile, Source, compiled};
use crate::datum::Datum;
use crate::port::Port;
use crate::program::{CallOptions, Function, Program};
use crate::runtime::Runtime;

/// The functions that are a model's if none is named, the first one first.
pub(crate) const DEFAULTS: [&str; 2] = ["main", "serving_default"];

/// A function of a model, with the variables and tables of the model. Cheap to clone; clones, and the
/// model's other signatures, share the variables. Any number of threads may run it at once.
///
/// ```
/// use befrost::{HostTensor, Model};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_cnn.onnx");
/// let model = Model::load(path)?;
/// let image = HostTensor::from_vec([1, 1, 8, 8], vec![0.5f32; 64])?;
/// let logits: Vec<f32> = model.run([image])?.remove(0).to_vec()?;
/// assert_eq!(logits.len(), 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Model {
    program: Program,
    function: Function,
    resources: Resources,
}

impl Model {
    /// Loads a model: a BEF file, or a file or folder that [`Source::File`] names. Its variables and
    /// tables are initialized. Those of a BEF file are not: see [`Model::of`].
    ///
    /// # Errors
    /// If it cannot be read, compiled, loaded or initialized; if it has several functions, none of them
    /// `main` or `serving_default`: then [`Model::load_with`] takes a signature.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
        let runtime = Runtime::builder().build();
        let runtime = runtime.map_err(|error| refused(error.to_string()))?;
        Model::load_with(&runtime, path, &CompileOptions::default())
    }

    /// [`Model::load`] on a runtime, with options. Of a BEF file, which is compiled already, only the
    /// signature counts; a precision is refused.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_with(
        runtime: &Runtime,
        path: impl AsRef<Path>,
        options: &CompileOptions,
    ) -> Result<Model, Error> {
        let path = path.as_ref();
        let (kind, name) = (KnownFile::open(path, &options.access)?.kind, format!("'{}'", path.display()));
        let source = Source::File(path.to_owned());
        Model::made((kind, source, &name), runtime, options, || options.access.program(runtime, path))
    }

    /// [`Model::load`] of the contents of a file that names no other files.
    ///
    /// ```
    /// use befrost::Model;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_mlp.pb");
    /// let model = Model::from_bytes(std::fs::read(path)?)?;
    /// assert_eq!(model.inputs()[0].name(), "images");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Model, Error> {
        let runtime = Runtime::builder().build();
        let runtime = runtime.map_err(|error| refused(error.to_string()))?;
        Model::from_bytes_with(&runtime, bytes, &CompileOptions::default())
    }

    /// [`Model::load_with`] of the contents of a file that names no other files.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes_with(
        runtime: &Runtime,
        bytes: Vec<u8>,
        options: &CompileOptions,
    ) -> Result<Model, Error> {
        let KnownBytes { kind, bytes } = KnownBytes::of(bytes.into())?;
        let source = Source::Bytes(bytes.clone());
        let bef = || Ok(runtime.load_bytes(&bytes)?);
        Model::made((kind, source, "the model in memory"), runtime, options, bef)
    }

    /// The model of a source of a kind, with a name for messages. `bef` loads it if it is compiled.
    fn made(
        (kind, source, name): (FileKind, Source, &str),
        runtime: &Runtime,
        options: &CompileOptions,
        bef: impl FnOnce() -> Result<Program, Error>,
    ) -> Result<Model, Error> {
        let (program, init) = match (kind, options.precision) {
            (FileKind::Bef, None) => (bef()?, None),
            (FileKind::Bef, Some(_)) => return Err(compiled_already(name)),
            _ => {
                let compiled = compiled(source, options)?;
                (runtime.load_bytes(&compiled.bef)?, compiled.init)
            }
        };
        Model::of(program, init.as_deref(), options.signature.as_deref())
    }

    /// The model in a program. `init` is the function that initializes its variables, `signature` the one
    /// that is run; without a name `main`, `serving_default` or the only one.
    ///
    /// # Errors
    /// If there is no such function, or the initialization fails.
    pub fn of(program: Program, init: Option<&str>, signature: Option<&str>) -> Result<Model, Error> {
        let resources = Resources::default();
        if let Some(init) = init {
            let options = CallOptions { resources: resources.clone(), ..CallOptions::default() };
            let results = program.function(init)?.call_with([], &options)?;
            results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        }
        let function = match signature {
            Some(name) => program.function(name)?,
            None => default_function(&program, init)?,
        };
        Ok(Model { program, function, resources })
    }

    /// The model's function of another signature, with the same variables.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn signature(&self, name: &str) -> Result<Model, Error> {
        let function = self.program.function(name)?;
        Ok(Model { function, ..self.clone() })
    }

    /// The names of the functions that can be run.
    pub fn signatures(&self) -> Vec<String> {
        public(&self.program).map(|function| function.name().to_owned()).collect()
    }

    /// The inputs.
    pub fn inputs(&self) -> &[Port] {
        self.function.arguments()
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Port] {
        self.function.results()
    }

    /// The function.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Its variables and tables, which other programs may share.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Runs the model on its inputs in their order.
    ///
    /// # Errors
    /// If an input is missing or has another type, or the model fails.
    pub fn run(&self, inputs: impl IntoIterator<Item = HostTensor>) -> Result<Vec<HostTensor>, Error> {
        self.call(inputs.into_iter().map(Datum::from).collect())
    }

    /// Runs the model on inputs by their names.
    ///
    /// # Errors
    /// As [`Model::run`], and if a name is unknown or given twice.
    pub fn run_named<'n>(
        &self,
        inputs: impl IntoIterator<Item = (&'n str, HostTensor)>,
    ) -> Result<Vec<HostTensor>, Error> {
        let inputs = inputs.into_iter().map(|(name, input)| (name, Datum::from(input)));
        self.call(self.function.by_name(inputs)?)
    }

    /// [`Model::run`] of values that need not be tensors of numbers: strings, too.
    ///
    /// # Errors
    /// As [`Model::run`].
    pub fn run_data(&self, inputs: Vec<Datum>) -> Result<Vec<Datum>, Error> {
        let options = CallOptions { resources: self.resources.clone(), ..CallOptions::default() };
        let results = self.function.call_with(inputs, &options)?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        let data = results.into_iter().zip(self.outputs());
        Ok(data.filter(|(_, port)| !port.is_chain()).map(|(result, _)| result).collect())
    }

    fn call(&self, inputs: Vec<Datum>) -> Result<Vec<HostTensor>, Error> {
        self.run_data(inputs)?.into_iter().map(Datum::into_tensor).collect()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({:?})", self.function)
    }
}

/// The functions that callers may run: neither private nor native.
pub(crate) fn public(program: &Program) -> impl Iterator<Item = Function> {
    program.functions().filter(|function| !function.is_private() && !function.is_native())
}

pub(crate) fn default_function(program: &Program, init: Option<&str>) -> Result<Function, Error> {
    let all: Vec<Function> = public(program).filter(|function| Some(function.name()) != init).collect();
    let named = |name: &&str| all.iter().find(|function| function.name() == *name);
    match (DEFAULTS.iter().find_map(named), &all[..]) {
        (Some(function), _) | (None, [function]) => Ok(function.clone()),
        (None, _) => {
            let names: Vec<&str> = all.iter().map(Function::name).collect();
            Err(refused(format!("name the signature; there are: {}", names.join(", "))))
        }
    }
}

/// The refusal of a precision for a program.
pub(crate) fn compiled_already(model: &str) -> Error {
    refused(format!("{model} is compiled already: its precision cannot change"))
}

fn refused(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, message, Vec::new())
}
