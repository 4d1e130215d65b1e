//! Pinning threads to cores of the processor.

use std::ops::RangeInclusive;

/// Pins the calling thread to cores.
///
/// # Errors
/// If the processor does not have the cores, or the system refuses them.
#[cfg(target_os = "linux")]
pub(super) fn pin(cores: &RangeInclusive<u32>) -> Result<(), String> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    if *cores.end() as usize >= CpuSet::MAX_CPU {
        return Err(format!("there is no core {}", cores.end()));
    }
    let mut set = CpuSet::new();
    cores.clone().for_each(|core| set.set(core as usize));
    sched_setaffinity(None, &set).map_err(|error| {
        format!("threads cannot run on the cores {}-{}: {error}", cores.start(), cores.end())
    })
}

/// Pins the calling thread to cores.
///
/// # Errors
/// Threads are not pinned on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn pin(_: &RangeInclusive<u32>) -> Result<(), String> {
    Err("threads cannot be pinned to cores on this system".to_owned())
}

/// Checks that threads can be pinned to cores, by pinning one.
///
/// # Errors
/// As [`pin`].
pub(super) fn check(cores: &RangeInclusive<u32>) -> Result<(), String> {
    let cores = cores.clone();
    let tried = std::thread::Builder::new().spawn(move || pin(&cores)).map_err(|error| error.to_string())?;
    tried.join().unwrap_or_else(|_| Err("the thread that tried panicked".to_owned()))
}
