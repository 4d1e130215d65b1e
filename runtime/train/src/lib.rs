//! Training of programs: data, steps, checkpoints.
//!
//! ```text
//! Dataset (npy, npz) ──Order──▶ batches, gathered ahead ─▶ Trainer ─▶ step, evaluate of a training program
//!                                                            │  ▲
//!                       Checkpoints (bundles, safetensors) ◀─┘  └─ Position: epoch, example, best, waits
//! ```
//!
//! A training program (`compiler/TRAINING.md`) has the functions `init`, `step`, `evaluate`, `predict`; its
//! variables are resources. Training needs no compiler. A checkpoint has the whole state of a run, so a run
//! that was stopped at any step and resumed gives the same bits as one that was not.
//!
//! Not here: gradients and optimizers, which are in the program; command lines.
#![forbid(unsafe_code)]

mod checkpoints;
mod dataset;
mod description;
mod error;
mod finite;
mod npz;
mod order;
mod position;
mod safetensors;
mod saver;
mod stored;
mod trainer;

pub use checkpoints::{Checkpoints, Format};
pub use dataset::Dataset;
pub use description::{Description, Stored};
pub use error::TrainError;
pub use order::Order;
pub use position::{Better, Position, Sums};
pub use stored::{Checkpoint, Snapshot};
pub use trainer::{EarlyStop, End, Event, Every, Report, StepLine, Trainer, TrainerOptions, Until};
