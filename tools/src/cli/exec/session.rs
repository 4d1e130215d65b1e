//! Calls, and what is said about them.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use befrost::{
    CallOptions, Cancellation, Datum, Error, ErrorCode, Function, HostTensor, Port, Resources, Value,
};
use befrost_tensor::compare::{Tolerance, compare};
use befrost_tensor::mem::Allocator;
use befrost_tensor::{TensorError, npy};

use super::Args;
use super::ports::{ARGUMENT, CHAIN, RESULT, bind, port_name, to_datum, to_tensor};
use super::timing::{Moment, Times};
use crate::cli::failure::{Failure, not_written, print, tell};

/// One run of the program `bef-exec`.
pub(super) struct Session<'a> {
    args: &'a Args,
    allocator: &'a Arc<dyn Allocator>,
    deadline: Option<Deadline>,
}

/// When all calls must have ended.
struct Deadline {
    at: Instant,
    /// How many kernels each call may start.
    fuel: Option<u64>,
    /// The cancellation of the call that is running.
    current: Arc<Mutex<Cancellation>>,
}

impl Deadline {
    /// Watches the clock in a thread of its own: calls look at it, but not while they wait for something.
    fn new(at: Instant, fuel: Option<u64>) -> Deadline {
        let current = Arc::new(Mutex::new(Cancellation::default()));
        let watched = current.clone();
        std::thread::spawn(move || {
            while let Some(left) = at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                std::thread::sleep(left);
            }
            watched.lock().unwrap_or_else(PoisonError::into_inner).check_deadline();
        });
        Deadline { at, fuel, current }
    }

    /// The cancellation of the next call.
    fn next(&self) -> Cancellation {
        let cancellation = Cancellation::limited(Some(self.at), self.fuel);
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
        Session { args, allocator, deadline: at.map(|at| Deadline::new(at, args.fuel)) }
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
        let called = self.call(function, Vec::new(), resources)?;
        self.print_results(function, &called, |_| true)?;
        if called.has_values() { Ok(()) } else { Err(Failure::Told) }
    }

    /// Runs one of the functions that were chosen.
    pub(super) fn run(
        &self,
        function: &Function,
        files: &Files,
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
        let arguments = self.arguments(&arguments, &files.inputs, &signature)?;
        let outputs = bind(&self.args.output, &ports, RESULT, &signature)?;
        let expected = bind(&self.args.expect, &ports, RESULT, &signature)?;

        let is_reported = !self.args.writes_arrays_to_stdout();
        if is_reported {
            print(&format!("--- Running '{name}':\n"))?;
        }
        let called = self.call_as_often_as_asked(function, &arguments, resources)?;
        let is_printed = |at: usize| is_reported && !outputs.contains(&at) && !expected.contains(&at);
        self.print_results(function, &called, is_printed)?;

        let mut ok = called.limit.is_none();
        if wants_values {
            ok &= called.has_values();
            let results = &called.results;
            for (output, &at) in self.args.output.iter().zip(&outputs) {
                ok &= self.tensor(results, &ports, at).is_some_and(|tensor| {
                    let written = npy::to_bytes(&tensor).map_err(|error| Failure::Refused(error.to_string()));
                    told(written.and_then(|bytes| output.place().write_binary([&bytes[..]])))
                });
            }
            for ((expect, want), &at) in self.args.expect.iter().zip(&files.expected).zip(&expected) {
                ok &= self.tensor(results, &ports, at).is_some_and(|tensor| {
                    let file = expect.place().name();
                    told(self.compare(&tensor, want, &port_name(&ports[at], at), &file))
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
            arguments[at] = Some(Argument { value, source: Some((tensor.clone(), ports[at].clone(), at)) });
        }
        let filled = arguments.into_iter().zip(ports).enumerate().map(|(at, (argument, port))| {
            if let Some(argument) = argument {
                return Ok(argument);
            }
            if port.ty != CHAIN {
                let name = port_name(port, at);
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
            // A function may write to its arguments; every call begins with the same.
            let arguments =
                arguments.iter().map(|argument| argument.copy(self.allocator)).collect::<Result<_, _>>()?;
            let start = Moment::now();
            called = self.call(function, arguments, resources)?;
            if i >= u64::from(self.args.warmup) {
                times.add(start);
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
            cancellation: match &self.deadline {
                Some(deadline) => deadline.next(),
                None => Cancellation::limited(None, self.args.fuel),
            },
            resources: resources.clone(),
            ..CallOptions::default()
        };
        let results = function.call_with(arguments, &options);
        let results = results.map_err(|error| Failure::Refused(error.to_string()))?;
        let is_limit = |error: &&Error| {
            matches!(error.code(), ErrorCode::DeadlineExceeded | ErrorCode::ResourceExhausted)
        };
        let limit = options.cancellation.error().filter(is_limit);
        Ok(Called { results, limit: limit.cloned() })
    }

    /// The protocol's line, and each error with its places on standard error.
    fn print_results(
        &self,
        function: &Function,
        called: &Called,
        is_printed: impl Fn(usize) -> bool,
    ) -> Result<(), Failure> {
        let Called { results, limit } = called;
        let mut told: Vec<&Error> = Vec::new();
        for error in results.iter().filter_map(Datum::error).chain(limit) {
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
        std::io::stdout().flush().map_err(not_written)
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

/// What the files that the command line names hold, read before anything runs.
pub(super) struct Files {
    /// For each `--input`.
    pub(super) inputs: Vec<HostTensor>,
    /// For each `--expect`.
    pub(super) expected: Vec<HostTensor>,
}

/// What came of a call.
#[derive(Default)]
struct Called {
    results: Vec<Datum>,
    /// The limit that cut it short, of time or of kernels.
    limit: Option<Error>,
}

impl Called {
    /// Whether no result is an error.
    fn has_values(&self) -> bool {
        self.limit.is_none() && self.results.iter().all(|result| result.ok().is_ok())
    }
}

/// What goes into a function.
struct Argument {
    value: Datum,
    /// What it was made of; nothing for a chain.
    source: Option<(HostTensor, Port, usize)>,
}

impl Argument {
    /// The same, in memory of its own.
    fn copy(&self, allocator: &Arc<dyn Allocator>) -> Result<Datum, Failure> {
        let Some((tensor, port, at)) = &self.source else { return Ok(self.value.clone()) };
        let copy = || {
            let copy = HostTensor::allocate(tensor.dtype(), tensor.shape().clone(), allocator)?;
            copy.write_bytes()?.copy_from_slice(&tensor.read_bytes()?);
            Ok(copy)
        };
        let copy = copy().map_err(|error: TensorError| Failure::Refused(error.to_string()))?;
        to_datum(&copy, port, *at)
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
        Err(Failure::Told | Failure::UsageTold | Failure::Closed) => false,
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
