//! Ctrl-C while statistics are collected: the first one cancels the running call, and the run reports the
//! measurements so far; a second one ends the process at once.
//!
//! The program (`src/bin`) has the handler of the signal. It writes to a pipe, from which a thread here
//! reads.

use std::io::{PipeReader, Read};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use befrost::{Cancellation, Error, ErrorCode};

/// The caller's function that installs a handler of SIGINT for one signal: an `unsafe` operation that this
/// crate leaves to the program. A byte comes from the pipe on the signal.
pub type Interrupts = fn() -> std::io::Result<PipeReader>;

/// The time that a cancelled call may take to end before its statistics are reported without it.
const PATIENCE: Duration = Duration::from_secs(1);

static IS_SET: AtomicBool = AtomicBool::new(false);

/// The cancellation of the running call.
static RUNNING: Mutex<Option<Cancellation>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Cancellation>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread that waits for an interrupt. It calls `report` if the run does not end in time by itself.
/// Without a handler an interrupt ends the process.
pub(super) fn watch(interrupts: Interrupts, report: impl FnOnce() + Send + 'static) {
    let Ok(mut pipe) = interrupts() else { return };
    // Without a thread the signal is lost, and the next one ends the process.
    _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(move || {
        if pipe.read_exact(&mut [0]).is_err() {
            return;
        }
        IS_SET.store(true, Ordering::SeqCst);
        if let Some(cancellation) = &*running() {
            cancel(cancellation);
        }
        std::thread::sleep(PATIENCE);
        report();
        exit(1);
    });
}

fn cancel(cancellation: &Cancellation) {
    cancellation.cancel_with(Error::new(ErrorCode::Cancelled, "interrupted", Vec::new()));
}

/// True after an interrupt.
pub(super) fn is_set() -> bool {
    IS_SET.load(Ordering::SeqCst)
}

/// Sets the call that an interrupt cancels.
pub(super) fn set_running(cancellation: &Cancellation) {
    *running() = Some(cancellation.clone());
    if is_set() {
        cancel(cancellation);
    }
}
