//! Calls, and what is said about them.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use befrost::{CallOptions, Cancellation, Datum, Error, ErrorCode, Function, HostTensor, Port, Resources, Value};
use befrost_tensor::compare::{Tolerance, compare};
use befrost_tensor::mem::Allocator;
use befrost_tensor::npy;

use super::Args;
use super::ports::{ARGUMENT, CHAIN, RESULT, bind, port_name, to_datum, to_tensor};
use super::timing::{Moment, Times};
use crate::cli::failure::{Failure, print, tell};
use crate::cli::files::write_file;

/// One run of the program `bef-exec`.
pub(super) struct Session<'a> {
    args: &'a Args,
    allocator: &'a Arc<dyn Allocator>,
    deadline: Option<Deadline>,
}

/// When all calls must have ended.
struct Deadline {
    at: Instant,
    /// The cancellation of the call that is running.
    current: Arc<Mutex<Cancellation>>,
}

impl Deadline {
    /// Watches the clock in a thread of its own: calls look at it, but not while they wait for something.
    fn new(at: Instant) -> Deadline {
        let current = Arc::new(Mutex::new(Cancellation::default()));
        let watched = current.clone();
        std::thread::spawn(move || {
            while let Some(left) = at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                std::thread::sleep(left);
            }
            watched.lock().unwrap_or_else(PoisonError::into_inner).check_deadline();
        });
        Deadline { at, current }
    }

    /// The cancellation of the next call.
    fn next(&self) -> Cancellation {
        let cancellation = Cancellation::with_deadline(self.at);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = cancellation.clone();
        // The thread may have looked at the one before for the last time.
        cancellation.check_deadline();
        cancellation
    }
}

impl<'a> Session<'a> {
    /// Starts the clock.
    pub(super) fn new(args: &'a Args, allocator: &'a Arc<dyn Allocator>) -> Session<'a> {
        // A time too far away to be one is no deadline.
        let at = args.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Session { args, allocator, deadline: at.map(Deadline::new) }
    }

    /// Whether time has run out.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.as_ref().is_some_and(|deadline| Instant::now() >= deadline.at)
    }

    /// Runs the function that comes before the others.
    pub(super) fn initialize(&self, function: &Function, resources: &Resources) -> Result<(), Failure> {
        if !function.arguments().is_empty() {
            let message = format!("an init function has no arguments; the function is {function:?}");
            return Err(Failure::Refused(message));
        }
        print(&format!("--- Running '{}':\n", function.name()))?;
        let results = self.call(function, Vec::new(), resources)?;
        self.print_results(function, &results, |_| true)?;
        if results.iter().any(|result| result.ok().is_err()) { Err(Failure::Told) } else { Ok(()) }
    }

    /// Runs one of the functions that were chosen.
    pub(super) fn run(
        &self,
        function: &Function,
        inputs: &[HostTensor],
        resources: &Resources,
    ) -> Result<(), Failure> {
        let name = function.name();
        let (arguments, ports) = (function.arguments(), function.results());
        let wants_values = self.args.wants_values();
        if !wants_values && !arguments.is_empty() {
            print(&format!("--- Not running '{name}' because it has arguments.\n"))?;
            if !self.args.functions.is_empty() {
                tell(&format!("note: give them with --input; the function is {function:?}\n"));
            }
            return Ok(());
        }
        let signature = format!("{function:?}");
        let arguments = self.arguments(&arguments, inputs, &signature)?;
        let outputs = bind(&self.args.output, &ports, RESULT, &signature)?;
        let expected = bind(&self.args.expect, &ports, RESULT, &signature)?;

        print(&format!("--- Running '{name}':\n"))?;
        let results = self.call_as_often_as_asked(function, &arguments, resources)?;
        let is_printed = |at: usize| !outputs.contains(&at) && !expected.contains(&at);
        self.print_results(function, &results, is_printed)?;

        let mut ok = !self.is_over_time(&results);
        if wants_values {
            ok &= results.iter().all(|result| result.ok().is_ok());
            for (output, &at) in self.args.output.iter().zip(&outputs) {
                ok &= self.tensor(&results, &ports, at).is_some_and(|tensor| {
                    let written = npy::to_bytes(&tensor).map_err(|error| Failure::Refused(error.to_string()));
                    told(written.and_then(|bytes| write_file(output.path(), &[&bytes])))
                });
            }
            for (expected, &at) in self.args.expect.iter().zip(&expected) {
                ok &= self.tensor(&results, &ports, at).is_some_and(|tensor| {
                    told(expected.tensor(self.allocator).and_then(|want| {
                        self.compare(&tensor, &want, &port_name(&ports[at], at), &expected.path().display().to_string())
                    }))
                });
            }
        }
        if ok { Ok(()) } else { Err(Failure::Told) }
    }

    /// An argument for each port.
    fn arguments(
        &self,
        ports: &[Port],
        inputs: &[HostTensor],
        signature: &str,
    ) -> Result<Vec<Argument>, Failure> {
        let bound = bind(&self.args.input, ports, ARGUMENT, signature)?;
        let mut arguments: Vec<Option<Argument>> = ports.iter().map(|_| None).collect();
        for (tensor, at) in inputs.iter().zip(bound) {
            let value = to_datum(tensor, &ports[at], at)?;
            arguments[at] = Some(Argument { value, tensor: tensor.clone(), port: ports[at].clone(), at });
        }
        let filled = arguments.into_iter().zip(ports).enumerate().map(|(at, (argument, port))| {
            if let Some(argument) = argument {
                return Ok(argument);
            }
            if port.ty != CHAIN {
                let name = port_name(port, at);
                return Err(Failure::Refused(format!("argument {name} is missing; the function is {signature}")));
            }
            let nothing = befrost_tensor::Shape::new(&[0]).and_then(|shape| HostTensor::from_slice::<u8>(shape, &[], self.allocator));
            let tensor = nothing.map_err(|error| Failure::Refused(error.to_string()))?;
            Ok(Argument { value: Datum::from(Value::Chain), tensor, port: port.clone(), at })
        });
        filled.collect()
    }

    fn call_as_often_as_asked(
        &self,
        function: &Function,
        arguments: &[Argument],
        resources: &Resources,
    ) -> Result<Vec<Datum>, Failure> {
        let Some(n_timed) = self.args.repeat else {
            let arguments = arguments.iter().map(|argument| argument.value.clone()).collect();
            return self.call(function, arguments, resources);
        };
        let mut times = Times::default();
        let mut results = Vec::new();
        for i in 0..u64::from(self.args.warmup) + u64::from(n_timed) {
            // A function may write to its arguments; every call begins with the same.
            let arguments = arguments.iter().map(|argument| argument.copy(self.allocator)).collect::<Result<_, _>>()?;
            let start = Moment::now();
            results = self.call(function, arguments, resources)?;
            if i >= u64::from(self.args.warmup) {
                times.add(start);
            }
            if self.is_over_time(&results) {
                return Ok(results);
            }
        }
        tell(&times.report(function.name(), self.args.warmup));
        Ok(results)
    }

    fn call(&self, function: &Function, arguments: Vec<Datum>, resources: &Resources) -> Result<Vec<Datum>, Failure> {
        let options = CallOptions {
            cancellation: self.deadline.as_ref().map(Deadline::next).unwrap_or_default(),
            resources: resources.clone(),
            ..CallOptions::default()
        };
        function.call_with(arguments, &options).map_err(|error| Failure::Refused(error.to_string()))
    }

    /// Whether these are the results of a call that was cut short.
    fn is_over_time(&self, results: &[Datum]) -> bool {
        let is_late = |result: &Datum| result.error().is_some_and(|error| error.code() == ErrorCode::DeadlineExceeded);
        self.deadline.is_some() && (results.iter().any(is_late) || self.is_over())
    }

    /// The protocol's line, and each error with its places on standard error.
    fn print_results(
        &self,
        function: &Function,
        results: &[Datum],
        is_printed: impl Fn(usize) -> bool,
    ) -> Result<(), Failure> {
        let mut told: Vec<&Error> = Vec::new();
        for error in results.iter().filter_map(Datum::error) {
            if !told.iter().any(|one| one.same(error)) {
                tell(&located(error));
                told.push(error);
            }
        }
        let shown = results.iter().enumerate().filter(|(at, result)| is_printed(*at) || result.ok().is_err());
        let shown: Vec<String> = shown.map(|(_, result)| self.shown(result)).collect();
        if !shown.is_empty() {
            print(&format!("'{}' returned {}\n", function.name(), shown.join(",")))?;
        }
        std::io::stdout().flush().map_err(crate::cli::failure::not_written)
    }

    fn shown(&self, result: &Datum) -> String {
        match result.error() {
            Some(error) if self.args.print_error_code => {
                format!("<<error: {}, code: {}>>", error.message(), error.code())
            }
            _ => result.to_string(),
        }
    }

    /// The tensor that a result is. That a result is an error has been told.
    fn tensor(&self, results: &[Datum], ports: &[Port], at: usize) -> Option<HostTensor> {
        let result = results.get(at).filter(|result| result.error().is_none())?;
        let tensor = to_tensor(result, self.allocator);
        tensor.map_err(|error| tell(&format!("error: result {}: {error}\n", port_name(&ports[at], at)))).ok()
    }

    fn compare(&self, got: &HostTensor, want: &HostTensor, result: &str, file: &str) -> Result<(), Failure> {
        let tolerance = Tolerance { rtol: self.args.rtol, atol: self.args.atol };
        let what = match compare(got, want, tolerance) {
            Ok(report) if report.is_match() => return Ok(()),
            Ok(report) => report.to_string(),
            Err(error) => error.to_string(),
        };
        Err(Failure::Refused(format!("result {result} is not as expected in '{file}': {what}")))
    }
}

/// What goes into a function, and how to make it anew.
struct Argument {
    value: Datum,
    tensor: HostTensor,
    port: Port,
    at: usize,
}

impl Argument {
    /// The same, in memory of its own.
    fn copy(&self, allocator: &Arc<dyn Allocator>) -> Result<Datum, Failure> {
        if self.value.tensor().is_err() {
            return Ok(self.value.clone());
        }
        let copy = || {
            let copy = HostTensor::allocate(self.tensor.dtype(), self.tensor.shape().clone(), allocator)?;
            copy.write_bytes()?.copy_from_slice(&self.tensor.read_bytes()?);
            Ok(copy)
        };
        let copy = copy().map_err(|error: befrost_tensor::TensorError| Failure::Refused(error.to_string()))?;
        to_datum(&copy, &self.port, self.at)
    }
}

/// Whether something went well; if not, the user has been told.
fn told(result: Result<(), Failure>) -> bool {
    match result {
        Ok(()) => true,
        Err(Failure::Refused(message) | Failure::Usage(message)) => {
            tell(&format!("error: {message}\n"));
            false
        }
        Err(Failure::Told | Failure::Closed) => false,
    }
}

/// An error with where it happened, and through which calls.
fn located(error: &Error) -> String {
    let place = error.location().map_or(String::new(), |location| format!("{location}: "));
    let mut text = format!("{place}error: {}\n", error.message());
    for call in error.calls() {
        text.push_str(&format!("{call}: note: called from here\n"));
    }
    text
}
