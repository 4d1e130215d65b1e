//! Saving beside the steps: a thread writes a snapshot, which shares the variables' memory, while they go on.
//!
//! One at a time: the next one waits for the one before. An error is that of the next call.

use std::thread::JoinHandle;

use crate::checkpoints::Checkpoints;
use crate::error::TrainError;
use crate::stored::Snapshot;

/// The checkpoint that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Next,
    Best,
}

/// Writes checkpoints.
#[derive(Debug)]
pub(crate) struct Saver {
    checkpoints: Checkpoints,
    is_beside: bool,
    running: Option<JoinHandle<Result<(), TrainError>>>,
}

impl Saver {
    pub(crate) fn new(checkpoints: Checkpoints, is_beside: bool) -> Saver {
        Saver { checkpoints, is_beside, running: None }
    }

    /// Saves, or begins to.
    pub(crate) fn save(&mut self, which: Which, snapshot: Snapshot, step: u64) -> Result<(), TrainError> {
        self.finish()?;
        let checkpoints = self.checkpoints.clone();
        let write = move || {
            match which {
                Which::Next => checkpoints.save(&snapshot, step),
                Which::Best => checkpoints.save_best(&snapshot, step),
            }
            .map(|_| ())
        };
        if !self.is_beside {
            return write();
        }
        let thread = std::thread::Builder::new().name("save".to_owned()).spawn(write);
        let failed = |error| TrainError::new(format!("a thread that saves cannot be started: {error}"));
        self.running = Some(thread.map_err(failed)?);
        Ok(())
    }

    /// The error of what has ended meanwhile.
    pub(crate) fn poll(&mut self) -> Result<(), TrainError> {
        if self.running.as_ref().is_some_and(JoinHandle::is_finished) { self.finish() } else { Ok(()) }
    }

    /// Waits for what is being written.
    pub(crate) fn finish(&mut self) -> Result<(), TrainError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.join().unwrap_or_else(|_| Err(TrainError::new("the thread that saves panicked")))
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        // A run that failed has its own error to tell.
        _ = self.finish();
    }
}
