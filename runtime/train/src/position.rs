//! The position of a run: its state besides the variables, which checkpoints store under `befrost/`.

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

/// The direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Lower ones.
    Lower,
    /// Higher ones.
    Higher,
}

impl Better {
    /// `Lower` for the loss, `Higher` for all other metrics.
    pub fn of(metric: &str) -> Better {
        if metric == "loss" { Better::Lower } else { Better::Higher }
    }

    /// True if `new` is better than `old` by more than `by`. A NaN is never better, and no value is better
    /// than a NaN.
    pub fn is_better(self, new: f64, old: Option<f64>, by: f64) -> bool {
        match (old, self) {
            (None, _) => !new.is_nan(),
            (Some(old), Better::Lower) => new < old - by,
            (Some(old), Better::Higher) => new > old + by,
        }
    }
}

/// The state of a run besides its variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The number of examples of the epoch that were fed.
    pub example: u64,
    /// The seed of the order, if there is one.
    pub seed: Option<u64>,
    /// The best value of the metric that stops the run.
    pub best: Option<f64>,
    /// The number of evaluations since without a better one.
    pub waits: u64,
    /// The value of the metric in the checkpoint that is kept as the best.
    pub kept: Option<f64>,
    /// The losses and metrics of the epoch so far.
    pub sums: Sums,
}

/// The prefix of the names.
pub(crate) const OWN: &str = "befrost/";

impl Position {
    /// Goes to the beginning of the next epoch.
    pub(crate) fn end_epoch(&mut self) {
        self.epoch += 1;
        self.example = 0;
        self.sums = Sums::default();
    }

    /// True for the name of a part of it in a checkpoint.
    pub(crate) fn has(name: &str) -> bool {
        let parts = ["epoch", "example", "seed", "best", "waits", "kept", "sums"];
        name.strip_prefix(OWN).is_some_and(|part| parts.contains(&part))
    }

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

    /// The position in a checkpoint. A missing part has the value of a new run.
    ///
    /// # Errors
    /// If a tensor of it has another type or number of elements, or a count is negative.
    pub(crate) fn take(
        get: &dyn Fn(&str) -> Result<Option<HostTensor>, TrainError>,
    ) -> Result<Position, TrainError> {
        let at = |name: &str| get(&format!("{OWN}{name}"));
        let wrong = |name: &str| TrainError::new(format!("the checkpoint's '{OWN}{name}' is malformed"));
        let int = |name: &str| match at(name)? {
            None => Ok(None),
            Some(tensor) => match tensor.to_vec::<i64>().ok().as_deref() {
                Some([n]) => Ok(Some(*n)),
                _ => Err(wrong(name)),
            },
        };
        let count = |name: &str| match int(name)?.map(u64::try_from).transpose() {
            Ok(n) => Ok(n.unwrap_or(0)),
            Err(_) => Err(wrong(name)),
        };
        let numbers = |name: &str| match at(name)? {
            None => Ok(Vec::new()),
            Some(tensor) if tensor.dtype() == DType::F64 => tensor.to_vec().map_err(|_| wrong(name)),
            Some(_) => Err(wrong(name)),
        };
        let sums = numbers("sums")?;
        Ok(Position {
            epoch: count("epoch")?,
            example: count("example")?,
            // All 64 bits of it are used.
            seed: int("seed")?.map(i64::cast_unsigned),
            best: numbers("best")?.first().copied(),
            waits: count("waits")?,
            kept: numbers("kept")?.first().copied(),
            sums: Sums {
                examples: sums.first().copied().unwrap_or(0.0),
                sums: sums.get(1..).unwrap_or_default().to_vec(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_and_a_negative_count_refused() {
        let sums = Sums { examples: 4.0, sums: vec![2.0, 3.0] };
        let position =
            Position { epoch: 3, example: 8, seed: Some(u64::MAX), waits: 1, sums, ..Position::default() };
        let mut snapshot = Snapshot::default();
        position.put(&mut snapshot).unwrap();
        assert!(snapshot.tensors.iter().all(|(name, _)| Position::has(name)));
        assert!(!Position::has("befrost/step"));
        let tensors = &mut snapshot.tensors;
        let take = |tensors: &[(String, HostTensor)]| {
            Position::take(&|name| {
                Ok(tensors.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.clone()))
            })
        };
        assert_eq!(take(tensors).unwrap(), position);
        let example = tensors.iter_mut().find(|(name, _)| name == "befrost/example");
        example.unwrap().1 = HostTensor::from_vec([], vec![-1i64]).unwrap();
        let why = take(tensors).unwrap_err().to_string();
        assert!(why.contains("'befrost/example' is malformed"), "{why}");
    }
}
