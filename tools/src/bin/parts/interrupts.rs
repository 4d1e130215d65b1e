//! The handler of Ctrl-C, of all programs that have one.

use std::io::PipeReader;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// The end of the pipe that [`on_interrupt`] writes to.
static INTERRUPTS: AtomicI32 = AtomicI32::new(-1);

/// Installs a handler of SIGINT for the first signal, which writes a byte to the pipe. The second signal has
/// the system's effect.
#[allow(unsafe_code, reason = "handlers of signals are installed by the system's interface")]
pub(crate) fn interrupts() -> std::io::Result<PipeReader> {
    let (reader, writer) = std::io::pipe()?;
    // The handler owns this end for the rest of the process.
    INTERRUPTS.store(writer.into_raw_fd(), Ordering::SeqCst);
    let handler: extern "C" fn(libc::c_int) = on_interrupt;
    // SAFETY: zeros are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
    // SAFETY: the handler only calls `write`, which is safe in handlers; the pointer for the old action may
    // be null.
    let installed = unsafe { libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut()) };
    if installed == 0 { Ok(reader) } else { Err(std::io::Error::last_os_error()) }
}

/// Writes a byte to the pipe.
#[allow(unsafe_code, reason = "`write` is what a handler may call")]
extern "C" fn on_interrupt(_: libc::c_int) {
    let byte = [0u8];
    // SAFETY: the byte is readable. `write` is safe in handlers and returns an error for a file that is not
    // open. A failure cannot be reported here.
    unsafe { libc::write(INTERRUPTS.load(Ordering::SeqCst), byte.as_ptr().cast(), 1) };
}
