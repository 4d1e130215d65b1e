//! The programs of one set of names to feed and to fetch.
//!
//! ```text
//! feeds ──sizes──▶ a program of these sizes? ──yes──▶ run it
//!                        │no                          (sizes.rs makes it when they come often)
//!                        └──▶ the program as the graph declares it
//! ```

use std::fmt;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost_kernel_api::{Error, ErrorCode, Value};
use befrost_kernels::Tensor;
use befrost_tensor::mem::Buffer;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::{HostTensor, Shape, TensorError};
use bytemuck::TransparentWrapperAlloc as _;

use super::refusal::refused;
use super::results::Results;
use super::sizes::Sizes;
use super::{RunOptions, SessionState};
use crate::datum::Datum;
use crate::port::Port;
use crate::prepared::PreparedFunction;
use crate::program::CallOptions;

/// The names that make an executable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Names {
    pub(super) feeds: Vec<String>,
    pub(super) fetches: Vec<String>,
    pub(super) targets: Vec<String>,
    /// The ranks of the feeds, if a program needs to know them; otherwise none.
    pub(super) ranks: Vec<usize>,
}

impl Names {
    pub(super) fn new(feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Names {
        let [feeds, fetches, targets] =
            [feeds, fetches, targets].map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Names { feeds, fetches, targets, ranks: Vec::new() }
    }

    /// The shapes of the feeds, as far as the names tell them.
    pub(super) fn shapes(&self) -> Vec<PartialShape> {
        self.ranks.iter().map(|&rank| PartialShape::of_rank(rank)).collect()
    }

    /// The fetches and targets, in words.
    pub(super) fn needed(&self) -> String {
        let all: Vec<&str> = self.fetches.iter().chain(&self.targets).map(String::as_str).collect();
        format!("'{}'", all.join("', '"))
    }
}

/// The programs of a set of names.
pub(super) struct Executable {
    pub(super) names: Names,
    /// For all sizes.
    pub(super) declared: PreparedFunction,
    /// For sizes of their own.
    pub(super) sizes: Sizes,
    /// For each argument the number of its feed, if the orders differ.
    pub(super) order: Option<Box<[usize]>>,
    /// For each fetch the number of its result; none for an operation without outputs.
    pub(super) results: Box<[Option<usize>]>,
    /// The names of the fetches.
    pub(super) fetches: Arc<[String]>,
}

impl Executable {
    /// Runs the program of the feeds' sizes, or the one for all sizes.
    pub(super) fn call(
        self: &Arc<Executable>,
        session: &Arc<SessionState>,
        mut feeds: Vec<Value>,
        options: &RunOptions,
    ) -> Result<Results, Error> {
        let mut made = Vec::with_capacity(self.declared.function().results().len());
        self.run(session, &mut feeds, options, &mut made)?;
        let values = match self.is_straight(made.len()) {
            // In place.
            true => made.into_iter().map(|value| Some(Datum::from(value))).collect(),
            false => self.results.iter().map(|&at| made.get(at?).cloned().map(Datum::from)).collect(),
        };
        Ok(Results { names: self.fetches.clone(), values })
    }

    /// The same, from one list to another: takes the feeds, appends the fetches. A fetch without a value is a
    /// chain.
    pub(super) fn call_values(
        self: &Arc<Executable>,
        session: &Arc<SessionState>,
        feeds: &mut Vec<Value>,
        results: &mut Vec<Value>,
    ) -> Result<(), Error> {
        let first = results.len();
        static NONE: RunOptions = RunOptions::NONE;
        if let Err(error) = self.run(session, feeds, &NONE, results) {
            results.truncate(first);
            return Err(error);
        }
        if !self.is_straight(results.len() - first) {
            let made: Vec<Value> = results.drain(first..).collect();
            let of = |&result: &Option<usize>| made.get(result?).cloned();
            results.extend(self.results.iter().map(|result| of(result).unwrap_or(Value::Chain)));
        }
        Ok(())
    }

    /// True if the fetches are the results of the function, in their order.
    fn is_straight(&self, n_results: usize) -> bool {
        self.results.len() == n_results && self.results.iter().enumerate().all(|(i, &at)| at == Some(i))
    }

    /// Appends the results of the function.
    fn run(
        self: &Arc<Executable>,
        session: &Arc<SessionState>,
        feeds: &mut Vec<Value>,
        options: &RunOptions,
        made: &mut Vec<Value>,
    ) -> Result<(), Error> {
        if let Some(order) = &self.order {
            let given = take(feeds);
            feeds.extend(order.iter().filter_map(|&at| given.get(at).cloned()));
        }
        let of_sizes = self.sizes.find(self, session, feeds)?;
        let special = of_sizes.as_ref().and_then(|found| found.function());
        let prepared = special.unwrap_or(&self.declared);
        let prepared =
            if options.recorder.is_some() { prepared.recorded(session.recording())? } else { prepared };
        let run = match options.call(prepared.options()) {
            Some(options) => prepared.begin_with(options),
            None => prepared.begin(),
        };
        let first = made.len();
        run.call(feeds, made)?;
        made[first..].iter().try_for_each(|result| Datum::of(result).map(|_| ()))?;
        run.cancellation().error().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Compiles the program for feeds of these sizes, if they have one of their own.
    pub(super) fn warm<'s>(
        self: &Arc<Executable>,
        session: &SessionState,
        shapes: impl Iterator<Item = &'s Shape>,
    ) -> Result<(), Error> {
        let allocator = &session.runtime.allocator;
        let mut feeds = Vec::new();
        let ports = self.inputs().iter().filter(|port| !port.is_chain());
        for (at, (port, shape)) in ports.zip(shapes).enumerate() {
            // Programs with feeds of other kinds have no sizes of their own.
            let Some(dtype) = port.dtype() else { return Ok(()) };
            let zero = Buffer::copy_of(&[0; 16][..dtype.size()], allocator).map_err(TensorError::from);
            let feed = zero.and_then(|zero| HostTensor::repeated(dtype, shape.clone(), zero, allocator));
            let feed = feed.map_err(|error| Error::from(befrost_kernels::refused(error)))?;
            let feed = Value::object(Tensor(feed));
            port.check(at, &feed)?;
            feeds.push(feed);
        }
        self.sizes.warm(self, session, &feeds)
    }

    /// The feeds, with types.
    pub(super) fn inputs(&self) -> &[Port] {
        self.declared.function().arguments()
    }

    /// The bytes of its programs.
    pub(super) fn n_bytes(&self) -> usize {
        n_bytes(&self.declared)
            + self.sizes.ready().iter().filter_map(|found| found.function()).map(n_bytes).sum::<usize>()
    }
}

/// The bytes of a program.
fn n_bytes(prepared: &PreparedFunction) -> usize {
    prepared.function().program().bytes().len()
}

/// A fixed set of names to feed and to fetch.
#[derive(Clone)]
pub struct Callable {
    executable: Arc<Executable>,
    session: Arc<SessionState>,
}

impl Callable {
    pub(super) fn new(executable: Arc<Executable>, session: Arc<SessionState>) -> Callable {
        Callable { executable, session }
    }

    /// Computes the fetches, from feeds in their order.
    ///
    /// # Errors
    /// If there are more or fewer values than feeds, one has another type, or the computation fails.
    pub fn run(&self, feeds: impl IntoIterator<Item = impl Into<Datum>>) -> Result<Results, Error> {
        self.run_with(feeds, &RunOptions::default())
    }

    /// [`Callable::run`] with options.
    ///
    /// # Errors
    /// As [`Callable::run`], and if the options name targets.
    pub fn run_with(
        &self,
        feeds: impl IntoIterator<Item = impl Into<Datum>>,
        options: &RunOptions,
    ) -> Result<Results, Error> {
        if let Some(target) = options.targets.first() {
            let message = format!("a callable has no further targets, such as '{target}'");
            return Err(refused(ErrorCode::InvalidArgument, message));
        }
        let feeds = feeds.into_iter().map(|feed| feed.into().into_value()).collect();
        self.executable.call(&self.session, feeds, options)
    }

    /// [`Callable::run`] from one list to another: takes the feeds, in their order, and appends the fetches.
    /// With room in the lists nothing is allocated but what kernels allocate for results. A fetch that has no
    /// value, an operation without outputs, is a chain.
    ///
    /// ```
    /// use befrost::{HostTensor, Session};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_mlp.pb");
    /// let step = Session::open(path)?.callable(&["images"], &["logits"])?;
    /// let (mut feeds, mut results) = (Vec::new(), Vec::new());
    /// for n in 1..4 {
    ///     let images = HostTensor::from_vec([n, 64], vec![0.5f32; n * 64])?;
    ///     feeds.push(images.into());
    ///     step.call(&mut feeds, &mut results)?;
    ///     let logits = results.remove(0).into_tensor()?;
    ///     assert_eq!(logits.shape().dims(), [n, 10]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Callable::run`]; then nothing is appended.
    pub fn call(&self, feeds: &mut Vec<Datum>, results: &mut Vec<Datum>) -> Result<(), Error> {
        let (mut values, mut made) = (Datum::peel_vec(take(feeds)), Datum::peel_vec(take(results)));
        let called = self.executable.call_values(&self.session, &mut values, &mut made);
        (*feeds, *results) = (Datum::wrap_vec(values), Datum::wrap_vec(made));
        called
    }

    /// [`Callable::run`] that writes the fetches into tensors of the caller's.
    ///
    /// # Errors
    /// As [`Callable::run`], and if there are more or fewer tensors than fetches, or one has another dtype
    /// or shape than the fetch, is being read or written, or is read-only; then some may have been written.
    pub fn call_into(
        &self,
        feeds: impl IntoIterator<Item = impl Into<Datum>>,
        into: &[HostTensor],
    ) -> Result<(), Error> {
        let results = self.run(feeds)?;
        if results.len() != into.len() {
            let message = format!("{} tensors for {} fetches", into.len(), results.len());
            return Err(refused(ErrorCode::InvalidArgument, message));
        }
        for (i, (result, to)) in results.iter().zip(into).enumerate() {
            let name = &results.names[i];
            let wrong = |what: String| {
                refused(ErrorCode::InvalidArgument, format!("the fetch '{name}' cannot be written: {what}"))
            };
            let made = result.ok_or_else(|| wrong("it has no value".to_owned()))?.tensor()?;
            if made.dtype() != to.dtype() || made.shape() != to.shape() {
                let shown = |tensor: &HostTensor| format!("{}{}", tensor.dtype(), tensor.shape());
                return Err(wrong(format!("it is {}, the tensor {}", shown(made), shown(to))));
            }
            let failed = |error: TensorError| wrong(error.to_string());
            let from = made.read_bytes().map_err(failed)?;
            to.write_bytes().map_err(failed)?.copy_from_slice(&from);
        }
        Ok(())
    }

    /// The feeds, with types.
    pub fn inputs(&self) -> &[Port] {
        self.executable.inputs()
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({:?})", self.executable.declared.function())
    }
}

impl RunOptions {
    /// The options of the call, if they are not those that all calls share.
    fn call(&self, shared: &CallOptions) -> Option<CallOptions> {
        let RunOptions { targets: _, deadline, cancellation, output, recorder } = self;
        if deadline.is_none() && cancellation.is_none() && output.is_none() && recorder.is_none() {
            return None;
        }
        Some(CallOptions {
            cancellation: self.cancellation(),
            output: output.clone().unwrap_or_else(|| shared.output.clone()),
            recorder: recorder.clone(),
            ..shared.clone()
        })
    }
}

/// A number that grows with each use: entries that were not used for the longest time have the least.
#[derive(Default)]
pub(super) struct Clock(AtomicU64);

impl Clock {
    /// Marks a use. Relaxed: an order of use that is a little off does no harm.
    pub(super) fn mark(&self, used: &AtomicU64) {
        used.store(self.0.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }
}
