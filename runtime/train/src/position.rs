//! Where a run is, besides its variables: what a checkpoint holds under `befrost/`.

use befrost::{DType, HostTensor};

use crate::error::TrainError;
use crate::stored::Snapshot;

/// Sums over examples, whose means are losses and metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// The number of examples.
    pub examples: f64,
    /// The loss and the metrics, times examples.
    pub sums: Vec<f64>,
}

impl Sums {
    /// Adds the means of a batch.
    pub fn add(&mut self, means: &[f64], examples: f64) {
        self.sums.resize(means.len(), 0.0);
        self.examples += examples;
        for (sum, mean) in self.sums.iter_mut().zip(means) {
            *sum += mean * examples;
        }
    }

    /// The means.
    pub fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|sum| sum / self.examples).collect()
    }
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Lower ones.
    Lower,
    /// Higher ones.
    Higher,
}

impl Better {
    /// Lower losses, higher anything else.
    pub fn of(metric: &str) -> Better {
        if metric == "loss" { Better::Lower } else { Better::Higher }
    }

    /// True if `new` is better than `old` by more than `by`. NaN is never better, and nothing than NaN.
    pub fn is_better(self, new: f64, old: Option<f64>, by: f64) -> bool {
        match (old, self) {
            (None, _) => !new.is_nan(),
            (Some(old), Better::Lower) => new < old - by,
            (Some(old), Better::Higher) => new > old + by,
        }
    }
}

/// Where a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The examples of the epoch that have been fed.
    pub example: u64,
    /// The seed of the order, if there is one.
    pub seed: Option<u64>,
    /// The best value of the metric that stops the run.
    pub best: Option<f64>,
    /// How often it was not better since.
    pub waits: u64,
    /// The best value of the metric of the checkpoint that is kept.
    pub kept: Option<f64>,
    /// The losses and metrics of the epoch so far.
    pub sums: Sums,
}

/// The prefix of the names.
pub(crate) const OWN: &str = "befrost/";

impl Position {
    /// Adds it to a checkpoint.
    pub(crate) fn put(&self, to: &mut Snapshot) -> Result<(), TrainError> {
        let Position { epoch, example, seed, best, waits, kept, sums } = self;
        let failed = |error: befrost::TensorError| TrainError::new(error.to_string());
        let mut put = |name: &str, tensor| to.tensors.push((format!("{OWN}{name}"), tensor));
        let count = |n: u64| HostTensor::from_vec([], vec![n as i64]).map_err(failed);
        let number = |x: f64| HostTensor::from_vec([], vec![x]).map_err(failed);
        put("epoch", count(*epoch)?);
        put("example", count(*example)?);
        put("waits", count(*waits)?);
        if let Some(seed) = seed {
            put("seed", count(*seed)?);
        }
        for (name, best) in [("best", best), ("kept", kept)] {
            if let Some(best) = best {
                put(name, number(*best)?);
            }
        }
        let all: Vec<f64> = [sums.examples].iter().chain(&sums.sums).copied().collect();
        put("sums", HostTensor::from_vec([all.len()], all).map_err(failed)?);
        Ok(())
    }

    /// The position of a checkpoint; what it lacks is as in the beginning.
    pub(crate) fn take(
        get: &dyn Fn(&str) -> Result<Option<HostTensor>, TrainError>,
    ) -> Result<Position, TrainError> {
        let at = |name: &str| get(&format!("{OWN}{name}"));
        let wrong = |name: &str| TrainError::new(format!("the checkpoint's '{OWN}{name}' is malformed"));
        let count = |name: &str| match at(name)? {
            None => Ok(None),
            Some(tensor) => match tensor.to_vec::<i64>().ok().as_deref() {
                Some([n]) => Ok(Some(*n as u64)),
                _ => Err(wrong(name)),
            },
        };
        let numbers = |name: &str| match at(name)? {
            None => Ok(Vec::new()),
            Some(tensor) if tensor.dtype() == DType::F64 => tensor.to_vec().map_err(|_| wrong(name)),
            Some(_) => Err(wrong(name)),
        };
        let sums = numbers("sums")?;
        Ok(Position {
            epoch: count("epoch")?.unwrap_or(0),
            example: count("example")?.unwrap_or(0),
            seed: count("seed")?,
            best: numbers("best")?.first().copied(),
            waits: count("waits")?.unwrap_or(0),
            kept: numbers("kept")?.first().copied(),
            sums: Sums {
                examples: sums.first().copied().unwrap_or(0.0),
                sums: sums.get(1..).unwrap_or_default().to_vec(),
            },
        })
    }
}
