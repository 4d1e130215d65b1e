//! Kernels that call functions from a task: for each block of a range, or once per set of resources.
//!
//! Their work is a job, so the thread that runs the kernel continues. The job of a range waits for its calls,
//! as a caller from outside does, and uses the queue's workers. No thread waits for a function that is called
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;

use crossbeam_queue::SegQueue;

use super::Kernel;
use super::file::LoadedFile;
use super::frame::{KernelFrame, Outcome};
use super::job::{Job, Place};
use super::param::Param;
use super::prepare::{KernelUse, Prepare, Prepared};
use super::signature::{CallResults, CallShape, Completion, Form, Signature};
use crate::async_value::{AsyncRef, Promise};
use crate::context::{FrameStep, KernelRef};
use crate::error::{Error, ErrorCode, KernelError};
use crate::parallel::{before_block, share_out};
use crate::queue::Parking;
use crate::resources::{Resource, ResourceName, Resources};
use crate::value::{Chain, Scalar, Value};

/// A kernel that runs its function for each block of a range. Its operands are start and end of the range,
/// the number of indices per block, and further arguments. The function's arguments are start and end of a
/// block, and those further arguments. Its result is a chain, available when all blocks have ended: dead if
/// the result of a block is dead, otherwise the error of the first block that failed.
pub fn parallel(name: &'static str) -> Kernel {
    let signature = Signature {
        operands: vec![i32::TYPES; 3],
        rest: Some(&[]),
        results: vec![Chain::TYPES],
        n_functions: 1,
        calls: Some(CallShape { first_operand: 3, results: CallResults::OfBlock, form: Form::Own }),
        completion: Completion::Async,
        ..Signature::default()
    };
    Kernel::new(name, signature, |frame| {
        let bound = |i| frame.operand(i).and_then(i32::from_value);
        let (Some(start), Some(end), Some(block)) = (bound(0), bound(1), bound(2)) else {
            return Outcome::Operand;
        };
        let Ok(block @ 1..) = usize::try_from(block) else {
            let message = format!("the size of a block is {block}; it must be positive");
            return Outcome::error(KernelError::invalid(message));
        };
        let arguments = frame.operands_from(3);
        Outcome::Later(Job::new(Place::Queue, move |frame| blocks(frame, start..end, block, &arguments)))
    })
}

/// Runs the function of a kernel for all blocks of a range. Each worker prepares the function once for the
/// consecutive blocks that it takes.
fn blocks(frame: &mut KernelFrame<'_>, range: Range<i32>, size: usize, arguments: &[Value]) -> Outcome {
    let Some(function) = frame.function(0) else { return Outcome::Operand };
    let (functions, context) = (frame.functions(), frame.context().inside(frame.origin_of(function)));
    let cancellation = &context.request.cancellation;
    let (failed, is_dead) = (SegQueue::new(), AtomicBool::new(false));
    // An empty range has no blocks; no range has 2^32 indices.
    let n = (i64::from(range.end) - i64::from(range.start)).max(0) as usize;
    // In bounds: `i` is at most `n`.
    let index = |i: usize| Value::I32((i64::from(range.start) + i as i64) as i32);
    let share = |taken: Range<usize>| {
        let (first, mut own, mut results) = (taken.start, Vec::new(), Vec::new());
        let mut prepared = functions.prepare(function, &context).map_err(|error| (first, error))?;
        for block in taken {
            before_block(cancellation).map_err(|error| (block, error))?;
            // There are fewer than 2^32 blocks.
            prepared.set_iteration(block as u32);
            let start = block * size;
            own.clear();
            own.extend([index(start), index(start.saturating_add(size).min(n))]);
            own.extend(arguments.iter().cloned());
            results.clear();
            let error = match prepared.call_into(&mut own, &mut results) {
                Err(error) => error,
                Ok(()) => match results.first().and_then(Value::final_value) {
                    Some(Value::Error(error)) => KernelError::of_call(error),
                    Some(Value::Dead) => {
                        // Relaxed: `share_out` orders it before its return.
                        is_dead.store(true, Ordering::Relaxed);
                        continue;
                    }
                    _ => continue,
                },
            };
            // The other blocks run, so the first error does not depend on the order of execution.
            failed.push((block, error));
        }
        Ok(())
    };
    let ended = share_out(context.queue(), n.div_ceil(size), &share);
    let first = failed.into_iter().min_by_key(|(at, _)| *at);
    let result = match (ended, first) {
        _ if is_dead.into_inner() => Value::Dead,
        // Not all blocks ran.
        (Err(_), _) if cancellation.is_cancelled() => context.cancelled(),
        (_, Some((_, error))) | (Err(error), None) => return Outcome::Error(error),
        (Ok(()), None) => Value::Chain,
    };
    frame.set_result(0, result);
    Outcome::Done
}

/// The results of a function that is called once, in the resources of a request.
#[derive(Default)]
struct Once(OnceLock<Vec<AsyncRef>>);

impl Resource for Once {
    const TYPE: &'static str = "once";
}

/// The name of a function's results in the resources, computed when the program is loaded.
struct Key(ResourceName);

impl Prepare for Key {
    fn prepare(site: &KernelUse<'_>) -> Result<Key, String> {
        let function = site.function_name(0).unwrap_or_default();
        // One name for all uses of a function, so that equal names are equal by address.
        Ok(Key(site.shared(function, || ResourceName::from(&*format!("tfrt.once @{function}")))))
    }
}

/// The obligation to make the results of a function final, of the use that calls it. If the call does not
/// happen, or is cancelled, its results are not those of the function: uses that wait for them fail, and the
/// next use calls the function again.
struct Obligation {
    resources: Resources,
    name: ResourceName,
    once: Arc<Once>,
    /// `None` when they are set.
    promises: Option<Vec<Promise>>,
}

impl Obligation {
    /// Removes the results from the resources, and returns the promises that are not set.
    fn cancel(&mut self) -> Vec<Promise> {
        let Some(promises) = self.promises.take() else { return Vec::new() };
        if self.resources.remove(&self.name, &self.once)
            && let Some(waits) = self.resources.find::<Waits>(&waits_name())
        {
            waits.remove(self.name.name());
        }
        promises
    }

    /// The promises, to be set to the results of the function, which `is_cancelled` says are no such results.
    fn promises(mut self, is_cancelled: bool) -> Vec<Promise> {
        if is_cancelled { self.cancel() } else { self.promises.take().unwrap_or_default() }
    }
}

impl Drop for Obligation {
    fn drop(&mut self) {
        for promise in self.cancel() {
            let message = format!("the use of '{}' that called the function was cancelled", self.name.name());
            promise.fail(Error::new(ErrorCode::Cancelled, message, Vec::new()));
        }
    }
}

/// The wait-for graph of functions that are called once, by key, in the resources of a request. Edges are
/// removed only if a function is to be called again: a function that has ended waits for no running one, so
/// no running function is reached through it.
#[derive(Default)]
struct Waits(Mutex<BTreeMap<String, BTreeSet<String>>>);

impl Resource for Waits {
    const TYPE: &'static str = "waits";
}

impl Waits {
    /// Adds edges from all `waiting` to `key`. False, without adding any, if `key` is one of them or waits
    /// for one.
    fn add(&self, waiting: &[&str], key: &str) -> bool {
        let mut waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut seen, mut pending) = (BTreeSet::new(), vec![key]);
        while let Some(key) = pending.pop() {
            if waiting.contains(&key) {
                return false;
            }
            if seen.insert(key) {
                pending.extend(waits.get(key).into_iter().flatten().map(String::as_str));
            }
        }
        for &one in waiting {
            waits.entry(one.to_owned()).or_default().insert(key.to_owned());
        }
        true
    }

    /// Removes the edges from `key`.
    fn remove(&self, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// The name of the graph in the resources.
fn waits_name() -> ResourceName {
    "tfrt.once".into()
}

/// A kernel that calls its function once per set of resources, and returns the same results every time,
/// errors included, except those of a cancellation. It is an error if the function requests its own results,
/// directly or through others, because it would wait for itself.
pub fn once(name: &'static str) -> Kernel {
    let mut signature = Signature {
        rest: Some(&[]),
        rest_results: Some(&[]),
        n_functions: 1,
        calls: Some(CallShape { first_operand: 0, results: CallResults::Kernel, form: Form::Own }),
        completion: Completion::Async,
        // The function and its callees must know the functions that wait for them.
        takes_frame: true,
        ..Signature::default()
    };
    Prepared::<Key>::declare(&mut signature);
    Kernel::new(name, signature, |frame| try_once(frame).unwrap_or_else(|outcome| outcome))
}

fn try_once(frame: &mut KernelFrame<'_>) -> Result<Outcome, Outcome> {
    let Prepared(Key(name)) = frame.prepared()?;
    let resources = &frame.context().request.resources;
    let (entry, key) = (resources.or_insert_with(name, Once::default), name.name());
    let n_results = frame.n_results();
    let mut promises: Option<Vec<Promise>> = None;
    let values = entry.0.get_or_init(|| {
        let (ours, values) = (0..n_results).map(|_| AsyncRef::pending()).unzip();
        promises = Some(ours);
        values
    });
    if let Some(promises) = promises {
        let mut arguments = frame.operands_from(0);
        // A trailing chain that is not the callee's argument only orders the call.
        let n_args = frame.function(0).map(|callee| frame.file().image().function(callee.0).n_args());
        arguments.truncate(n_args.map_or(0, |n| n as usize));
        let (resources, name) = (resources.clone(), name.clone());
        let obligation = Obligation { resources, name, once: entry, promises: Some(promises) };
        return Ok(Outcome::Later(Job::new(Place::Queue, move |frame| {
            call_once(frame, arguments, obligation)
        })));
    }
    if values.len() != n_results {
        let message = format!("'{key}' has given {} results, and is asked for {n_results}", values.len());
        return Err(Outcome::Error(KernelError::new(ErrorCode::FailedPrecondition, message)));
    }
    if values.iter().any(|value| value.value().is_none()) {
        may_wait_for(key, frame)?;
    }
    for (i, value) in values.iter().enumerate() {
        frame.set_result(i, value.value().cloned().unwrap_or_else(|| Value::Async(value.clone())));
    }
    Ok(Outcome::Done)
}

/// Calls the function for all uses that wait for its results. No thread waits, because it could block the
/// function itself.
fn call_once(frame: &mut KernelFrame<'_>, mut arguments: Vec<Value>, obligation: Obligation) -> Outcome {
    let Some(function) = frame.function(0) else { return Outcome::Operand };
    let (functions, context) = (frame.functions(), frame.context().inside(frame.origin_of(function)));
    let (parking, mut results) =
        (Parking::new(context.queue().clone(), context.activity().cloned()), Vec::new());
    let begun = functions
        .prepare(function, &context)
        .and_then(|mut call| call.begin(&mut arguments, &mut results, Waker::from(parking.clone())));
    match begun {
        Ok(false) => give(frame, results, obligation),
        Ok(true) => {
            Outcome::Later(Job::new(Place::Parked(parking), move |frame| give(frame, results, obligation)))
        }
        Err(error) => Outcome::Error(error),
    }
}

/// Stores final results in the calling kernel's frame and sets the promises.
fn give(frame: &mut KernelFrame<'_>, results: Vec<Value>, obligation: Obligation) -> Outcome {
    // An error after a cancellation may be a consequence of it.
    let is_cancelled = frame.context().request.cancellation.is_cancelled()
        && results.iter().any(|value| value.error().is_some());
    let promises = obligation.promises(is_cancelled);
    for (i, (promise, value)) in promises.into_iter().zip(results).enumerate() {
        let value = match value.resolved() {
            Value::Error(error) => Value::Error(frame.error_of_call(&error)),
            value => value,
        };
        frame.set_result(i, value.clone());
        promise.set(value);
    }
    Outcome::Done
}

/// The key of a kernel that calls its function once.
fn key_of<'p>(file: &'p LoadedFile, step: &FrameStep) -> Option<&'p str> {
    let prepared = file.prepared_at(KernelRef { function: step.caller, kernel: step.kernel })?;
    file.prepared(prepared)?.downcast_ref().map(|Key(key)| key.name())
}

/// An error if the function `key` would wait for the kernel itself.
#[cold]
fn may_wait_for(key: &str, frame: &KernelFrame<'_>) -> Result<(), Outcome> {
    let path = frame.path()?;
    let waiting: Vec<&str> =
        path.steps().iter().rev().filter_map(|step| key_of(frame.file(), step)).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let waits: Arc<Waits> = {
        let resources = &frame.context().request.resources;
        resources.or_insert_with(&waits_name(), Waits::default)
    };
    if waits.add(&waiting, key) {
        return Ok(());
    }
    let message = match waiting.contains(&key) {
        true => format!("'{key}' is asked for by its own function, whose results it would wait for"),
        false => {
            format!("'{key}' waits for '{}', which asks for it", waiting.first().copied().unwrap_or_default())
        }
    };
    Err(Outcome::error(KernelError::new(ErrorCode::FailedPrecondition, message)))
}
