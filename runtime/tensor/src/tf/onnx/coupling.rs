//! Probabilities of classes from those of pairs: the last step of ONNX's `SVMClassifier`.
//!
//! ```text
//! r(i, j) = probability of class i, given class i or j        p = argmin Σ (r(j, i) p(i) - r(i, j) p(j))²
//! ```
//!
//! The method is the second of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by
//! Pairwise Coupling" (JMLR 5, 2004), with LIBSVM's limits: iterations stop at an error of 0.005 / k, so the
//! results are those of LIBSVM, not of the exact minimum.

use super::super::fast::Cx;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::filled;
use crate::{DType, HostTensor, Shape, TensorError};

/// The least number of iterations before the method gives up.
const MIN_TRIES: usize = 100;

/// The number of pairs of `n` classes.
pub(in crate::tf) fn n_pairs(n: usize) -> Option<usize> {
    Some(n.checked_mul(n.checked_sub(1)?)? / 2)
}

/// `_CoupledProbabilities`: for each row of probabilities of pairs (0, 1), (0, 2), ..., (1, 2), ... the
/// probabilities of the `n` classes, which sum to 1.
///
/// # Errors
/// If `x` is not a matrix of f32 with a column per pair, or there is no memory.
pub fn coupled_probabilities(
    op: &'static str,
    x: &HostTensor,
    n: usize,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (rows, pairs) = match *x.shape().dims() {
        [rows, pairs] if n >= 2 && n_pairs(n) == Some(pairs) => (rows, pairs),
        _ => {
            return invalid(op, format!("probabilities of shape {} for the pairs of {n} classes", x.shape()));
        }
    };
    let y = HostTensor::allocate(DType::F32, Shape::new(&[rows, n])?, cx.allocator)?;
    {
        let (given, mut out) = (x.read::<f32>()?, y.write::<f32>()?);
        let mut coupling = Coupling::new(n)?;
        for (given, out) in given.chunks_exact(pairs).zip(out.chunks_exact_mut(n)) {
            if is_interrupted() {
                break;
            }
            coupling.solve(given, out);
        }
    }
    Ok(y)
}

/// The matrix of the quadratic form, its product with `p`, and `p`.
struct Coupling {
    n: usize,
    q: Vec<f64>,
    product: Vec<f64>,
    p: Vec<f64>,
}

impl Coupling {
    fn new(n: usize) -> Result<Coupling, TensorError> {
        let size = n.checked_mul(n).ok_or(TensorError::TooLarge)?;
        Ok(Coupling { n, q: filled(size, 0.0)?, product: filled(n, 0.0)?, p: filled(n, 0.0)? })
    }

    fn solve(&mut self, pairs: &[f32], out: &mut [f32]) {
        let n = self.n;
        self.q.fill(0.0);
        let mut pairs = pairs.iter();
        for i in 0..n {
            for (j, &r) in (i + 1..n).zip(&mut pairs) {
                let (r, other) = (f64::from(r), 1.0 - f64::from(r));
                self.q[i * n + i] += other * other;
                self.q[j * n + j] += r * r;
                self.q[i * n + j] = -r * other;
                self.q[j * n + i] = -r * other;
            }
        }
        self.p.fill(1.0 / n as f64);
        for _ in 0..n.max(MIN_TRIES) {
            let mut form = 0.0;
            for t in 0..n {
                let row = &self.q[t * n..][..n];
                self.product[t] = row.iter().zip(&self.p).map(|(q, p)| q * p).sum();
                form += self.p[t] * self.product[t];
            }
            let error = self.product.iter().map(|x| (x - form).abs()).fold(0.0, f64::max);
            if error.is_nan() || error < 0.005 / n as f64 {
                break;
            }
            for t in 0..n {
                let q = self.q[t * n + t];
                let step = (form - self.product[t]) / q;
                let scale = 1.0 + step;
                self.p[t] += step;
                form = (form + step * (step * q + 2.0 * self.product[t])) / scale / scale;
                for j in 0..n {
                    self.product[j] = (self.product[j] + step * self.q[t * n + j]) / scale;
                    self.p[j] /= scale;
                }
            }
        }
        for (out, &p) in out.iter_mut().zip(&self.p) {
            *out = p as f32;
        }
    }
}
