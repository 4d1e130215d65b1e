//! Saving in the background: a thread writes a snapshot, which shares the variables' memory, during the next
//! steps.
//!
//! One snapshot is written at a time. The next call returns the error of the previous one.

use std::thread::JoinHandle;

use crate::checkpoints::Checkpoints;
use crate::error::TrainError;
use crate::stored::Snapshot;

/// The kind of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveAs {
    Latest,
    Best,
    BestOfStop,
}

/// Writes checkpoints.
#[derive(Debug)]
pub(crate) struct Saver {
    checkpoints: Checkpoints,
    in_background: bool,
    refuses_nan: bool,
    running: Option<JoinHandle<Result<(), TrainError>>>,
}

impl Saver {
    /// Saves between steps, or beside them. With `refuses_nan` no snapshot is saved whose variables hold a
    /// NaN.
    pub(crate) fn new(checkpoints: Checkpoints, in_background: bool, refuses_nan: bool) -> Saver {
        Saver { checkpoints, in_background, refuses_nan, running: None }
    }

    /// Waits for the previous checkpoint, and saves this one or begins to.
    pub(crate) fn save(&mut self, kind: SaveAs, snapshot: Snapshot, step: u64) -> Result<(), TrainError> {
        self.finish()?;
        let (checkpoints, refuses_nan) = (self.checkpoints.clone(), self.refuses_nan);
        let write = move || {
            if let (true, Some(name)) = (refuses_nan, snapshot.variable_with_nan()) {
                let good = checkpoints.last_good();
                let why = format!("'{name}' holds a NaN after step {step}, which is not saved; {good}");
                return Err(TrainError::new(why));
            }
            match kind {
                SaveAs::Latest => checkpoints.save(&snapshot, step),
                SaveAs::Best => checkpoints.save_best(&snapshot, step),
                SaveAs::BestOfStop => checkpoints.save_best_of_stop(&snapshot, step),
            }
            .map(|_| ())
        };
        if !self.in_background {
            return write();
        }
        let thread = std::thread::Builder::new().name("save".to_owned()).spawn(write);
        let failed = |error| TrainError::new(format!("a thread that saves cannot be started: {error}"));
        self.running = Some(thread.map_err(failed)?);
        Ok(())
    }

    /// The error of a checkpoint that was written meanwhile.
    pub(crate) fn poll(&mut self) -> Result<(), TrainError> {
        if self.running.as_ref().is_some_and(JoinHandle::is_finished) { self.finish() } else { Ok(()) }
    }

    /// Waits for the checkpoint that is being written.
    pub(crate) fn finish(&mut self) -> Result<(), TrainError> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.join().unwrap_or_else(|_| Err(TrainError::new("the thread that saves panicked")))
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        // The run has failed with another error.
        _ = self.finish();
    }
}
