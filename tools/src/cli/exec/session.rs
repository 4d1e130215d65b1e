//! Function calls, and their output.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use befrost::{
    CallOptions, Cancellation, Datum, Error, ErrorCode, Function, HostTensor, Port, Program, Resources, Value,
};
use befrost_tensor::TensorError;
use befrost_tensor::compare::{Tolerance, compare, compare_strings};
use befrost_tensor::mem::Allocator;
use befrost_tensor::npy::{self, Array};
use befrost_tensor::print::exponent;

use super::ExecArgs;
use super::interrupt;
use super::labels::Labels;
use super::ports::{ARGUMENT, InputFile, RESULT, bind, example_input, to_array, to_datum};
use super::raised::{Raised, sources, verify};
use super::scopes::TraceScope;
use super::timing::{Moment, Times};
use super::{precision, ranges};
use crate::cli::deadline::{Deadline, Work};
use crate::cli::failure::{Failure, not_written, print, print_with, tell};
use crate::cli::files::{Format, Place};

/// One run of the program `bef-exec`.
pub(super) struct Session<'a> {
    args: &'a ExecArgs,
    deadline: &'a Deadline,
    allocator: &'a Arc<dyn Allocator>,
    /// The number of kernels that may still start.
    fuel: Cell<Option<u64>>,
    raised: Arc<Raised>,
    /// All errors of all functions, with `--verify-diagnostics`.
    to_verify: RefCell<Vec<Error>>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        args: &'a ExecArgs,
        deadline: &'a Deadline,
        allocator: &'a Arc<dyn Allocator>,
    ) -> Session<'a> {
        let fuel = Cell::new(args.fuel);
        Session { args, deadline, allocator, fuel, raised: Arc::default(), to_verify: RefCell::default() }
    }

    /// Compares the errors of all calls with the expectations in the program's texts.
    pub(super) fn verify(&self, program: &Program) -> Result<(), Failure> {
        let ExecArgs { file, .. } = self.args;
        let mut files: BTreeSet<String> = sources(program);
        if let (true, Place::File(path)) = (files.is_empty(), file)
            && Format::of_name(path) == Some(Format::Mlir)
        {
            files.insert(file.name());
        }
        let problems = verify(files, &self.to_verify.borrow());
        problems.iter().for_each(|problem| tell(&format!("{problem}\n")));
        if problems.is_empty() { Ok(()) } else { Err(Failure::Reported) }
    }

    /// Runs the initialization function.
    pub(super) fn initialize(&self, function: &Function, resources: &Resources) -> Result<(), Failure> {
        if !function.arguments().is_empty() {
            let message = format!("an init function has no arguments; the function is {function:?}");
            return Err(Failure::Refused(message));
        }
        print(&format!("--- Running '{}':\n", function.name()))?;
        let _scope = self.scope(function);
        let called = self.call(function, Vec::new(), resources)?;
        self.print_results(function, &called, |_| true)?;
        if called.has_values() { Ok(()) } else { Err(Failure::Reported) }
    }

    /// Initializes the variables and tables of a model.
    pub(super) fn initialize_model(&self, function: &Function, resources: &Resources) -> Result<(), Failure> {
        let called = self.call(function, Vec::new(), resources)?;
        let errors =
            called.results.iter().filter_map(Datum::error).chain(&called.limit).chain(&called.raised);
        match errors.into_iter().next() {
            None => Ok(()),
            Some(error) => {
                tell(&located(error));
                Err(Failure::Reported)
            }
        }
    }

    /// Runs one of the chosen functions, and the same in f32, with its resources, if there is one.
    pub(super) fn run(
        &self,
        function: &Function,
        in_f32: Option<&(Function, Resources)>,
        files: &Files,
        resources: &Resources,
    ) -> Result<(), Failure> {
        let name = function.name();
        let (arguments, ports) = (function.arguments(), function.results());
        let wants_values = self.args.wants_values();
        if !wants_values && !arguments.is_empty() {
            let is_hidden = function.is_private() && !function.is_native() && !self.args.tfrt_output;
            if is_hidden && self.args.functions.is_empty() {
                return Ok(());
            }
            print(&format!("--- Not running '{name}' because it has arguments.\n"))?;
            if self.args.functions.len() > 1 {
                tell(&format!("note: give them with --input; the function is {function:?}\n"));
            }
            return Ok(());
        }
        if self.args.input.is_empty() && arguments.iter().any(|port| !port.is_chain()) {
            tell(&format!("error: no arguments are given\n{}", self.example(function)));
            return Err(Failure::UsageReported);
        }
        let signature = format!("{function:?}");
        let arguments = self.arguments(arguments, &files.inputs, &signature)?;
        let outputs = bind(&self.args.output, ports, RESULT, &signature)?;
        let expected = bind(&self.args.expect, ports, RESULT, &signature)?;

        let is_reported = !self.args.writes_arrays_to_stdout();
        if is_reported {
            print(&format!("--- Running '{name}':\n"))?;
        }
        let _scope = self.scope(function);
        if let Some(file) = &self.args.observe_ranges {
            return self.observe(function, &arguments, resources, file);
        }
        let called = self.call_as_often_as_asked(function, &arguments, resources)?;
        if let Some((in_f32, own)) = in_f32 {
            let copies = arguments.iter().map(|argument| argument.copy(self.allocator));
            let before = self.call(in_f32, copies.collect::<Result<_, _>>()?, own)?;
            tell(&precision::differences(ports, &before.results, &called.results));
        }
        let classes = files.labels.as_ref().map_or(Ok(Vec::new()), |labels| self.classes(labels, &called))?;
        let is_classes = |at: usize| classes.iter().any(|&(class, _)| class == at);
        let is_printed =
            |at: usize| is_reported && !outputs.contains(&at) && !expected.contains(&at) && !is_classes(at);
        self.print_results(function, &called, is_printed)?;
        for (at, text) in classes.iter().filter(|_| is_reported) {
            print(&format!("result {}:\n{text}", ports[*at].label(*at)))?;
        }

        let mut ok = called.limit.is_none();
        if wants_values {
            ok &= called.has_values();
            let results = &called.results;
            for (output, &at) in self.args.output.iter().zip(&outputs) {
                ok &= self.array(results, ports, at).is_some_and(|array| {
                    let written = match &array {
                        Array::Numbers(tensor) => npy::to_bytes(tensor),
                        Array::Strings(strings) => npy::strings_to_bytes(strings),
                    };
                    let written = written.map_err(|error| Failure::Refused(error.to_string()));
                    succeeded(written.and_then(|bytes| output.place().write_binary(&bytes)))
                });
            }
            for ((expect, want), &at) in self.args.expect.iter().zip(&files.expected).zip(&expected) {
                ok &= self.array(results, ports, at).is_some_and(|array| {
                    let file = expect.place().name();
                    succeeded(self.compare(&array, want, &ports[at].label(at), &file))
                });
            }
        }
        if ok { Ok(()) } else { Err(Failure::Reported) }
    }

    /// Writes the ranges of the inputs of products.
    fn observe(
        &self,
        function: &Function,
        arguments: &[Argument],
        resources: &Resources,
        file: &Place,
    ) -> Result<(), Failure> {
        let arguments = arguments.iter().map(|argument| argument.value.clone()).collect();
        let called = self.call(function, arguments, resources)?;
        if !called.has_values() {
            self.print_results(function, &called, |_| false)?;
            return Err(Failure::Reported);
        }
        let percentile = self.args.percentile;
        let ranges = ranges::observed(function.name(), function.results(), &called.results, percentile)?;
        file.write_text(&ranges.text())
    }

    /// The results that have a score for each class, with the best classes.
    fn classes(&self, labels: &Labels, called: &Called) -> Result<Vec<(usize, String)>, Failure> {
        let mut classes = Vec::new();
        for (at, result) in called.results.iter().enumerate() {
            let Some(scores) = result.tensor().ok().filter(|scores| labels.fits(scores)) else { continue };
            let scores = Labels::scores(scores, self.allocator);
            let scores = scores.map_err(|error| Failure::Refused(error.to_string()))?;
            classes.push((at, labels.ranking(&scores, self.args.top)));
        }
        if classes.is_empty() && called.has_values() {
            let n = labels.len();
            return Err(Failure::Refused(format!(
                "--labels names {n} classes, and no result has {n} scores"
            )));
        }
        Ok(classes)
    }

    /// The signature of a function, and a call of it.
    pub(super) fn example(&self, function: &Function) -> String {
        let mut call = format!("bef-exec {}", self.args.file.name());
        if *function.name() != self.args.model.function {
            call.push_str(&format!(" --functions {}", function.name()));
        }
        let ports = function.arguments().iter().enumerate().filter(|(_, port)| !port.is_chain());
        for (at, port) in ports {
            call.push_str(&format!(" --input {}", example_input(port, at)));
        }
        format!("note: the function is {function:?}\nnote: call it like this: {call}\n")
    }

    /// The scope of a function, if scopes are traced.
    fn scope(&self, function: &Function) -> Option<TraceScope> {
        self.args.traces_scopes().then(|| TraceScope::begin(&format!("Function: {}", function.name())))
    }

    /// An argument for each port.
    fn arguments(
        &self,
        ports: &[Port],
        inputs: &[InputFile],
        signature: &str,
    ) -> Result<Vec<Argument>, Failure> {
        let bound = bind(&self.args.input, ports, ARGUMENT, signature)?;
        let mut arguments: Vec<Option<Argument>> = ports.iter().map(|_| None).collect();
        for (input, at) in inputs.iter().zip(bound) {
            let port = &ports[at];
            let array = match input {
                InputFile::Array(array) => array.clone(),
                InputFile::Picture(picture) => {
                    let ExecArgs { pixels, fit, .. } = *self.args;
                    Array::Numbers(picture.tensor(port, at, pixels, fit, self.allocator)?)
                }
            };
            let value = to_datum(&array, port, at)?;
            arguments[at] = Some(Argument { value, source: Some((array, port.clone(), at)) });
        }
        let filled = arguments.into_iter().zip(ports).enumerate().map(|(at, (argument, port))| {
            if let Some(argument) = argument {
                return Ok(argument);
            }
            if !port.is_chain() {
                let name = port.label(at);
                return Err(Failure::Refused(format!(
                    "argument {name} is missing; the function is {signature}"
                )));
            }
            Ok(Argument { value: Datum::from(Value::Chain), source: None })
        });
        filled.collect()
    }

    fn call_as_often_as_asked(
        &self,
        function: &Function,
        arguments: &[Argument],
        resources: &Resources,
    ) -> Result<Called, Failure> {
        let Some(n_timed) = self.args.repeat else {
            let arguments = arguments.iter().map(|argument| argument.value.clone()).collect();
            return self.call(function, arguments, resources);
        };
        let mut times = Times::default();
        let mut called = Called::default();
        for i in 0..u64::from(self.args.warmup) + u64::from(n_timed) {
            // A function may write to its arguments, so every call gets a copy.
            let arguments =
                arguments.iter().map(|argument| argument.copy(self.allocator)).collect::<Result<_, _>>()?;
            let start = Moment::now();
            called = self.call(function, arguments, resources)?;
            if i >= u64::from(self.args.warmup) && called.limit.is_none() {
                times.add(start);
            }
            if interrupt::is_set() {
                break;
            }
            if called.limit.is_some() {
                return Ok(called);
            }
        }
        tell(&times.report(function.name(), self.args.warmup));
        Ok(called)
    }

    fn call(
        &self,
        function: &Function,
        arguments: Vec<Datum>,
        resources: &Resources,
    ) -> Result<Called, Failure> {
        let options = CallOptions {
            cancellation: Cancellation::limited(self.deadline.at(), self.fuel.get()),
            resources: resources.clone(),
            diagnostics: Some(self.raised.clone()),
            ..CallOptions::default()
        };
        interrupt::set_running(&options.cancellation);
        let results = self.deadline.limit(Work::Executing, || function.call_with(arguments, &options));
        self.fuel.set(options.cancellation.fuel());
        let results = results.map_err(|error| Failure::Refused(error.to_string()))?;
        let is_limit = |error: &&Error| match error.code() {
            ErrorCode::DeadlineExceeded | ErrorCode::ResourceExhausted => true,
            ErrorCode::Cancelled => interrupt::is_set(),
            _ => false,
        };
        let limit = options.cancellation.error().filter(is_limit);
        Ok(Called { results, limit: limit.cloned(), raised: self.raised.take() })
    }

    /// Prints the protocol's line, and each error with its locations on standard error.
    fn print_results(
        &self,
        function: &Function,
        called: &Called,
        is_printed: impl Fn(usize) -> bool,
    ) -> Result<(), Failure> {
        let Called { results, limit, raised } = called;
        let mut errors: Vec<&Error> = Vec::new();
        for error in results.iter().filter_map(Datum::error).chain(limit).chain(raised) {
            if !errors.iter().any(|one| is_same(one, error)) {
                if self.is_reported(error) || limit.as_ref().is_some_and(|limit| is_same(limit, error)) {
                    tell(&located(error));
                }
                errors.push(error);
            }
        }
        if self.args.verify_diagnostics {
            self.to_verify.borrow_mut().extend(errors.into_iter().cloned());
        }
        // The error that ends a synchronous function is printed once.
        let ended = || results.iter().find_map(Datum::error).or(raised.first());
        if let Some(error) = function.is_sync().then(ended).flatten() {
            print(&format!("'{}' returned {}\n", function.name(), self.shown_error(error)))?;
            return std::io::stdout().flush().map_err(not_written);
        }
        let ports = function.results();
        let printed = |at: usize, result: &Datum| is_printed(at) || result.ok().is_err();
        let mut printed = results.iter().enumerate().filter(|(at, result)| printed(*at, result)).peekable();
        if printed.peek().is_some() {
            print_with(|out| {
                write!(out, "'{}' returned", function.name())?;
                for (i, (at, result)) in printed.enumerate() {
                    // Continuation lines of an array are aligned.
                    let has_rows = result
                        .tensor()
                        .is_ok_and(|tensor| tensor.shape().rank() > 1 && tensor.num_elements() > 0);
                    out.write_str(match (i, has_rows && !self.args.tfrt_output) {
                        (0, false) => " ",
                        (0, true) => "\n",
                        (_, false) => ",",
                        (_, true) => ",\n",
                    })?;
                    self.write_result(out, result, ports.get(at).map_or("", Port::ty))?;
                }
                out.write_str("\n")
            })?;
        }
        std::io::stdout().flush().map_err(not_written)
    }

    /// True if the error of a kernel appears on standard error. One without a location cannot match an
    /// expectation; TFRT does not report it.
    fn is_reported(&self, error: &Error) -> bool {
        match error.location() {
            Some(_) => !self.args.verify_diagnostics,
            None => !self.args.tfrt_output,
        }
    }

    fn write_result(&self, out: &mut dyn fmt::Write, result: &Datum, ty: &str) -> fmt::Result {
        match result.error() {
            Some(error) => out.write_str(&self.shown_error(error)),
            None if self.args.tfrt_output => match (ty, result.value()) {
                ("i1" | "i32" | "i64", _) => write!(out, "{result}"),
                // As LLVM prints them.
                ("f32", Value::F32(value)) => out.write_str(&exponent(f64::from(*value))),
                ("f64", Value::F64(value)) => out.write_str(&exponent(*value)),
                _ => write!(out, "{ty} value"),
            },
            None => result.write(out, self.args.print_elements),
        }
    }

    fn shown_error(&self, error: &Error) -> String {
        let message = error.message();
        match (self.args.print_error_code, self.args.tfrt_output) {
            (true, true) => format!("<<error: {message}, code: {}>>", tfrt_code(error.code())),
            (true, false) => format!("<<error: {message}, code: {}>>", error.code()),
            (false, _) => format!("<<error: {message}>>"),
        }
    }

    /// The array of a result. An error result has been reported before.
    fn array(&self, results: &[Datum], ports: &[Port], at: usize) -> Option<Array> {
        let result = results.get(at).filter(|result| result.error().is_none())?;
        let array = to_array(result, self.allocator);
        array.map_err(|error| tell(&format!("error: result {}: {error}\n", ports[at].label(at)))).ok()
    }

    fn compare(&self, got: &Array, want: &Array, result: &str, file: &str) -> Result<(), Failure> {
        let tolerance = Tolerance { rtol: self.args.rtol, atol: self.args.atol };
        let compared = match (got, want) {
            (Array::Numbers(got), Array::Numbers(want)) => Some(compare(got, want, tolerance)),
            (Array::Strings(got), Array::Strings(want)) => Some(compare_strings(got, want)),
            _ => None,
        };
        let what = match compared {
            Some(Ok(report)) if report.is_match() => {
                tell(&format!("result {result} is as expected in '{file}': {report}\n"));
                return Ok(());
            }
            Some(Ok(report)) => report.to_string(),
            Some(Err(error)) => error.to_string(),
            None => "one of the two are strings, the other are numbers".to_owned(),
        };
        Err(Failure::Refused(format!("result {result} is not as expected in '{file}': {what}")))
    }
}

/// The contents of the files on the command line, read before anything runs.
pub(super) struct Files {
    /// For each `--input`.
    pub(super) inputs: Vec<InputFile>,
    /// For each `--expect`.
    pub(super) expected: Vec<Array>,
    /// The file of `--labels`.
    pub(super) labels: Option<Labels>,
}

/// The result of a call.
#[derive(Default)]
struct Called {
    results: Vec<Datum>,
    /// The limit that ended it, of time or of kernels.
    limit: Option<Error>,
    /// Kernel errors, by location.
    raised: Vec<Error>,
}

impl Called {
    /// True if no result is an error.
    fn has_values(&self) -> bool {
        self.limit.is_none() && self.results.iter().all(|result| result.ok().is_ok())
    }
}

/// An argument of a function.
struct Argument {
    value: Datum,
    /// Its source; `None` for a chain.
    source: Option<(Array, Port, usize)>,
}

impl Argument {
    /// A copy of the argument in its own memory.
    fn copy(&self, allocator: &Arc<dyn Allocator>) -> Result<Datum, Failure> {
        // Strings are immutable.
        let Some((Array::Numbers(tensor), port, at)) = &self.source else { return Ok(self.value.clone()) };
        let copy = || {
            let copy = HostTensor::allocate(tensor.dtype(), tensor.shape().clone(), allocator)?;
            copy.write_bytes()?.copy_from_slice(&tensor.read_bytes()?);
            Ok(copy)
        };
        let copy = copy().map_err(|error: TensorError| Failure::Refused(error.to_string()))?;
        to_datum(&Array::Numbers(copy), port, *at)
    }
}

/// The code of an error in TFRT, whose kernels report texts without codes.
fn tfrt_code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Cancelled => "CANCELLED",
        ErrorCode::DeadlineExceeded => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    }
}

/// Reports a failure to the user; true if there was none.
fn succeeded(result: Result<(), Failure>) -> bool {
    match result {
        Ok(()) => true,
        Err(Failure::Refused(message) | Failure::Usage(message)) => {
            tell(&format!("error: {message}\n"));
            false
        }
        Err(Failure::Reported | Failure::UsageReported | Failure::Closed) => false,
    }
}

/// True if two errors have the same text.
fn is_same(one: &Error, other: &Error) -> bool {
    one.same(other)
        || one.location().is_some() && one.location() == other.location() && one.message() == other.message()
}

/// An error with its location and call stack.
fn located(error: &Error) -> String {
    let place = error.location().map_or(String::new(), |location| format!("{location}: "));
    let mut text = format!("{place}error: {}\n", error.message());
    for call in error.calls() {
        text.push_str(&format!("{call}: note: called from here\n"));
    }
    text
}
