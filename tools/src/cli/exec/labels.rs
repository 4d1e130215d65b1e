//! Names of classes (`--labels`), and the classes with the highest scores of a result.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::fast::{Cx, cast};
use befrost_tensor::{DType, HostTensor, TensorError};

use crate::cli::failure::Failure;

/// Limit on the bytes of a file of names.
const MAX_BYTES: u64 = 1 << 24;

/// The names of classes, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    names: Vec<String>,
}

impl Labels {
    /// Reads a file with a name per line.
    pub(super) fn read(path: &Path) -> Result<Labels, Failure> {
        let refuse = |why: String| Failure::Refused(format!("cannot read '{}': {why}", path.display()));
        let is_large = std::fs::metadata(path).is_ok_and(|file| file.len() > MAX_BYTES);
        if is_large {
            return Err(refuse(format!("names of classes take at most {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        let names: Vec<String> = text.trim_end().lines().map(|line| line.trim().to_owned()).collect();
        if names.is_empty() { Err(refuse("it has no names".to_owned())) } else { Ok(Labels { names }) }
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// True for a result with a score for each class: floating-point numbers, the classes along the
    /// last axis.
    pub(super) fn fits(&self, result: &HostTensor) -> bool {
        result.dtype().is_inexact() && result.shape().dims().last() == Some(&self.len())
    }

    /// The scores of a result that fits.
    pub(super) fn scores(
        result: &HostTensor,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<f64>, TensorError> {
        cast(result, DType::F64, &Cx::serial(allocator))?.to_vec()
    }

    /// The `top` classes of each row of a result that fits, with their probabilities: the scores themselves
    /// if they are probabilities, else their softmax.
    pub(super) fn ranking(&self, scores: &[f64], top: usize) -> String {
        let mut text = String::new();
        let rows = scores.chunks_exact(self.len());
        let has_rows = rows.len() > 1;
        for (row, scores) in rows.enumerate() {
            if has_rows {
                _ = writeln!(text, "row {row}:");
            }
            let probabilities = probabilities(scores);
            let mut order: Vec<usize> = (0..scores.len()).collect();
            // NaN is last; equal scores are in the order of the classes.
            let key = |at: usize| if scores[at].is_nan() { f64::NEG_INFINITY } else { scores[at] };
            order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
            for at in order.into_iter().take(top) {
                _ = writeln!(text, "{:6.2} % {}", 100.0 * probabilities[at], self.names[at]);
            }
        }
        text
    }
}

/// Scores as probabilities.
fn probabilities(scores: &[f64]) -> Vec<f64> {
    /// The difference from 1 that rounding of a thousand probabilities in bf16 can make.
    const ROUNDING: f64 = 0.01;
    let sum: f64 = scores.iter().sum();
    if scores.iter().all(|score| (0.0..=1.0).contains(score)) && (sum - 1.0).abs() <= ROUNDING {
        return scores.to_vec();
    }
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_ranked() {
        let labels = Labels { names: ["a", "b", "c"].map(str::to_owned).to_vec() };
        assert_eq!(labels.ranking(&[0.25, 0.5, 0.25], 2), " 50.00 % b\n 25.00 % a\n");
        let logits = [0.0, 4f64.ln(), 0.0, 1.0, 1.0, 1.0];
        assert_eq!(labels.ranking(&logits, 1), "row 0:\n 66.67 % b\nrow 1:\n 33.33 % a\n");
    }
}
