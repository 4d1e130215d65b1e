//! Asynchronous results: of tasks, of blocking threads, of other values.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bef_format::AttrView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    Async, Attr, Completion, Deferred, Kernel, KernelFrame, Outcome, RawAttr, Rest, ResultValue, Signature,
    control,
};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};

pub(super) fn add(registry: &mut Registry) {
    registry
        .add(kernel!("tfrt_test.async_add.i32", |a: i32, b: i32| Deferred::new(move |_| a.wrapping_add(b))));
    registry.add(kernel!("tfrt_test.async_constant.i1", |value: RawAttr<'_>| {
        let value = truth(&value.view)?;
        Ok::<_, KernelError>(Deferred::new(move |_| value))
    }));
    registry.add(kernel!("tfrt_test.async_constant.i32", |value: Attr<i32>| Deferred::new(move |_| value.0)));
    registry.add(kernel!("tfrt_test.async_copy.i32", |value: i32| Deferred::new(move |_| value)));
    registry.add(kernel!("tfrt_test.async_copy_2.i32", |value: i32| Deferred::new(move |_| value)));
    registry.add(kernel!("tfrt_test.async_copy.with_delay.i32", |value: i32| delayed(move || value)));
    registry.add(kernel!("tfrt_test.async_copy.with_delay.i64", |value: i64| delayed(move || value)));
    registry.add(kernel!("tfrt_test.copy.with_delay.i32", |value: i32| {
        thread::sleep(delay());
        value
    }));
    registry.add(kernel!("tfrt_test.copy.with_delay.i64", |value: i64| {
        thread::sleep(delay());
        value
    }));
    registry.add(kernel!("tfrt_test.report_error_async", || Deferred::new(|_| Err::<i32, _>(bad_later()))));
    registry.add(kernel!("tfrt_test.report_error_concrete_async", |x: i32| {
        Deferred::new(move |_| if x == 0 { Ok(0i32) } else { Err(bad_later()) })
    }));
    registry.add(kernel!("tfrt_test.report_error_indirect_async", |x: i32| {
        Deferred::new(move |_| if x == 0 { Ok(0i32) } else { Err(bad_later()) })
    }));
    registry.add(kernel!("tfrt_test.usleep", |microseconds: i32| {
        Deferred::blocking(move |cx| sleep(microseconds, cx))
    }));
    registry.add(kernel!("tfrt_test.blocking.usleep", |microseconds: i32| {
        Deferred::blocking(move |cx| sleep(microseconds, cx).map(|()| Chain))
    }));
    registry.add(kernel!("tfrt_test.get_thread_id", |_: Chain| thread_number()));
    registry.add(as_chain());
    // Native functions, declared with `tfrt.native` and called by `tfrt.call`.
    registry.add(kernel!("native_add", |a: i32, b: i32| a.wrapping_add(b)));
    registry.add(kernel!("native_async_add", |a: i32, b: i32| Deferred::new(move |_| a.wrapping_add(b))));
    registry.add(kernel!("native_error", || Err::<i32, _>(super::something_bad())));
    registry.add(kernel!("native_sink", |_: Rest<'_, Value>| ()));
    registry.add(kernel!("native_async_sink", |_: Rest<'_, Value>| Chain));
    registry.add(control::task("tfrt_test.do.async"));
}

/// A boolean attribute, which TFRT's programs write as an integer of any type.
fn truth(attr: &AttrView<'_>) -> Result<bool, KernelError> {
    match *attr {
        AttrView::Bool(value) => Ok(value),
        AttrView::Int { value, .. } => Ok(value != 0),
        other => Err(KernelError::invalid(format!("expected an integer attribute, got {other:?}"))),
    }
}

fn bad_later() -> KernelError {
    KernelError::new(ErrorCode::Unknown, "something bad happened asynchronously")
}

/// A delay of 1 to 10 ms that differs between calls.
fn delay() -> Duration {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Relaxed: nothing depends on the number. The multiplier is that of PCG.
    let call = CALLS.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
    Duration::from_millis(1 + (call.wrapping_mul(6_364_136_223_846_793_005) >> 33) % 10)
}

fn delayed<T: ResultValue>(result: impl FnOnce() -> T + Send + 'static) -> Deferred<T> {
    Deferred::blocking(move |_| {
        thread::sleep(delay());
        result()
    })
}

/// Sleeps, or returns early on cancellation.
fn sleep(microseconds: i32, cx: &ExecContext) -> Result<(), KernelError> {
    let microseconds = u64::try_from(microseconds)
        .map_err(|_| KernelError::invalid(format!("cannot sleep {microseconds} microseconds")))?;
    let mut left = Duration::from_micros(microseconds);
    while !left.is_zero() && !cx.request.cancellation.is_cancelled() {
        let part = left.min(Duration::from_millis(10));
        thread::sleep(part);
        left -= part;
    }
    cx.print(&format!("Slept for {microseconds} microseconds\n"))
}

/// Numbers of threads in the order of their first call.
fn thread_number() -> i32 {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: only uniqueness matters.
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number as i32)
}

/// A chain that is final when all operands are final, including errors.
fn as_chain() -> Kernel {
    let signature = Signature {
        rest: Some(&[]),
        results: vec![&["!tfrt.chain"]],
        completion: Completion::Async,
        takes_any_state: true,
        ..Signature::default()
    };
    Kernel::new("tfrt_test.as_chain", signature, |frame: &mut KernelFrame<'_>| {
        let operands = (0..frame.n_operands()).filter_map(|i| frame.raw_operand(i));
        let pending: Vec<_> = operands
            .filter_map(|operand| match operand {
                Value::Async(value) if value.value().is_none() => Some(value.clone()),
                _ => None,
            })
            .collect();
        if pending.is_empty() {
            frame.set_result(0, Value::Chain);
            return Outcome::Done;
        }
        let (promise, chain) = Async::<Chain>::pending();
        let waiting = Arc::new((AtomicUsize::new(pending.len()), Mutex::new(Some(promise))));
        frame.set_result(0, chain.into_value());
        for value in pending {
            let waiting = waiting.clone();
            value.and_then(move |_| {
                let (left, promise) = &*waiting;
                // AcqRel: the last decrement synchronizes with all earlier ones.
                if left.fetch_sub(1, Ordering::AcqRel) == 1
                    && let Some(promise) = promise.lock().unwrap_or_else(PoisonError::into_inner).take()
                {
                    promise.set(Value::Chain);
                }
            });
        }
        Outcome::Done
    })
}
