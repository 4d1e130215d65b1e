//! A call of a kernel of a library: operands, results, an error. The library gets pointers into it.
//!
//! ```text
//! defer ──▶ ticket ─┬─ set_ending, when the kernel has returned ─┐
//!                   └─ end, by any thread ───────────────────────┴─ both: the ending runs
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_kernel_api::{ErrorCode, KernelError};
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{HostTensor, Shape, TensorError};

/// An operand: a tensor, or a chain.
pub(super) struct CallOperand {
    pub(super) dims: Vec<i64>,
    pub(super) tensor: Option<HostTensor>,
}

impl CallOperand {
    pub(super) fn new(tensor: Option<HostTensor>) -> CallOperand {
        let dims =
            tensor.as_ref().map(|tensor| tensor.shape().dims().iter().map(|&dim| dim as i64).collect());
        CallOperand { dims: dims.unwrap_or_default(), tensor }
    }
}

/// The end of a deferred call.
pub(super) type Ending = Box<dyn FnOnce(Result<Vec<HostTensor>, KernelError>) + Send>;

/// A call.
pub(super) struct LibraryCall {
    pub(super) name: &'static str,
    pub(super) operands: Vec<CallOperand>,
    pub(super) results: Vec<Option<HostTensor>>,
    error: Option<KernelError>,
    allocator: Arc<dyn Allocator>,
    /// Its ticket, if it was deferred.
    pub(super) ticket: Option<u64>,
}

impl LibraryCall {
    pub(super) fn new(
        name: &'static str,
        operands: Vec<CallOperand>,
        n_results: usize,
        allocator: Arc<dyn Allocator>,
    ) -> LibraryCall {
        let results = vec![None; n_results];
        LibraryCall { name, operands, results, error: None, allocator, ticket: None }
    }

    /// Sets the error of the call; the first one counts.
    pub(super) fn fail(&mut self, code: ErrorCode, message: &str) {
        let message = format!("{}: {message}", self.name);
        self.error.get_or_insert_with(|| KernelError::new(code, message));
    }

    /// A tensor for a result.
    pub(super) fn result(&mut self, i: usize, dtype: i32, dims: &[i64]) -> Option<&HostTensor> {
        let n = self.results.len();
        match self.results.get(i) {
            Some(None) => {}
            Some(Some(_)) => {
                self.fail(ErrorCode::Internal, &format!("result #{i} is set twice"));
                return None;
            }
            None => {
                self.fail(ErrorCode::Internal, &format!("result #{i} of {n} is set"));
                return None;
            }
        }
        match self.made(dtype, dims) {
            Ok(tensor) => {
                let place = self.results.get_mut(i)?;
                Some(place.insert(tensor))
            }
            Err(error) => {
                let code = match error {
                    TensorError::Alloc(_) => ErrorCode::ResourceExhausted,
                    _ => ErrorCode::InvalidArgument,
                };
                self.fail(code, &format!("result #{i}: {error}"));
                None
            }
        }
    }

    fn made(&self, dtype: i32, dims: &[i64]) -> Result<HostTensor, TensorError> {
        let ty = Type::from_code(dtype).ok().and_then(|(ty, is_ref)| ty.dtype().filter(|_| !is_ref));
        let ty = ty.ok_or_else(|| TensorError::Invalid {
            op: self.name,
            problem: format!("there are no tensors of type {dtype}"),
        })?;
        HostTensor::allocate(ty, Shape::from_i64(dims)?, &self.allocator)
    }

    /// Makes an operand a result.
    pub(super) fn forward(&mut self, i: usize, operand: usize) -> bool {
        let tensor = self.operands.get(operand).and_then(|operand| operand.tensor.clone());
        match (self.results.get_mut(i), tensor) {
            (Some(place @ None), Some(tensor)) => {
                *place = Some(tensor);
                true
            }
            _ => {
                self.fail(ErrorCode::Internal, &format!("operand #{operand} cannot be result #{i}"));
                false
            }
        }
    }

    /// The results, or the error of the call.
    pub(super) fn finish(self) -> Result<Vec<HostTensor>, KernelError> {
        let LibraryCall { name, results, error, .. } = self;
        if let Some(error) = error {
            return Err(error);
        }
        let unset =
            |i: usize| KernelError::new(ErrorCode::Internal, format!("{name}: result #{i} is not set"));
        results.into_iter().enumerate().map(|(i, result)| result.ok_or_else(|| unset(i))).collect()
    }
}

/// A deferred call.
struct DeferredCall {
    call: LibraryCall,
    /// Set when the kernel has returned.
    ending: Option<Ending>,
    /// True if the library has finished or dropped it.
    is_finished: bool,
}

/// The calls that have not ended, by ticket.
static DEFERRED: Mutex<BTreeMap<u64, Arc<Mutex<Option<DeferredCall>>>>> = Mutex::new(BTreeMap::new());

static NEXT: AtomicU64 = AtomicU64::new(1);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Defers a call: makes one with copies of its operands, and returns the ticket. `None` after an error, which
/// is set.
pub(super) fn defer(call: &mut LibraryCall) -> Option<u64> {
    if call.ticket.is_some() {
        call.fail(ErrorCode::Internal, "it is deferred twice");
        return None;
    }
    let copy = |operand: &CallOperand| match &operand.tensor {
        None => Ok(CallOperand::new(None)),
        Some(tensor) => {
            let bytes = tensor.read_bytes()?;
            let copy = HostTensor::allocate(tensor.dtype(), tensor.shape().clone(), &call.allocator)?;
            copy.write_bytes()?.copy_from_slice(&bytes);
            Ok(CallOperand::new(Some(copy)))
        }
    };
    let operands: Result<Vec<CallOperand>, TensorError> = call.operands.iter().map(copy).collect();
    let operands = match operands {
        Ok(operands) => operands,
        Err(error) => {
            call.fail(ErrorCode::ResourceExhausted, &error.to_string());
            return None;
        }
    };
    let mut later = LibraryCall::new(call.name, operands, call.results.len(), call.allocator.clone());
    later.results = call.results.clone();
    // Relaxed: only uniqueness matters.
    let ticket = NEXT.fetch_add(1, Ordering::Relaxed);
    let deferred = DeferredCall { call: later, ending: None, is_finished: false };
    lock(&DEFERRED).insert(ticket, Arc::new(Mutex::new(Some(deferred))));
    call.ticket = Some(ticket);
    Some(ticket)
}

/// Calls `f` with a deferred call; `None` if it is finished.
pub(super) fn with_deferred<R>(ticket: u64, f: impl FnOnce(&mut LibraryCall) -> R) -> Option<R> {
    let deferred = lock(&DEFERRED).get(&ticket).cloned()?;
    let mut deferred = lock(&deferred);
    deferred.as_mut().filter(|deferred| !deferred.is_finished).map(|deferred| f(&mut deferred.call))
}

/// Ends a deferred call, with an error unless `why` is `None`. False if it is finished already.
pub(super) fn end(ticket: u64, why: Option<&str>) -> bool {
    let Some(shared) = lock(&DEFERRED).get(&ticket).cloned() else { return false };
    let mut deferred = lock(&shared);
    let Some(known) = deferred.as_mut().filter(|deferred| !deferred.is_finished) else { return false };
    if let Some(why) = why {
        known.call.fail(ErrorCode::Internal, why);
    }
    known.is_finished = true;
    complete(ticket, deferred);
    true
}

/// Sets the ending of a deferred call whose kernel has returned.
pub(super) fn set_ending(ticket: u64, ending: Ending) {
    let Some(shared) = lock(&DEFERRED).get(&ticket).cloned() else { return };
    let mut deferred = lock(&shared);
    if let Some(known) = deferred.as_mut() {
        known.ending = Some(ending);
    }
    complete(ticket, deferred);
}

/// Removes a deferred call whose kernel did not return `BF_LATER`.
pub(super) fn forget(ticket: u64) {
    lock(&DEFERRED).remove(&ticket);
}

/// Runs the ending, if the call is finished and the kernel has returned.
fn complete(ticket: u64, mut deferred: MutexGuard<'_, Option<DeferredCall>>) {
    let is_ready = deferred.as_ref().is_some_and(|known| known.is_finished && known.ending.is_some());
    let taken = if is_ready { deferred.take() } else { None };
    drop(deferred);
    if let Some(DeferredCall { call, ending: Some(ending), .. }) = taken {
        lock(&DEFERRED).remove(&ticket);
        // Outside of the locks: dependent kernels may run here.
        ending(call.finish());
    }
}
