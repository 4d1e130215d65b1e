//! The order of the examples of an epoch.
//!
//! Epoch `e` is shuffled by Fisher and Yates from the last index down: index `i` changes places with
//! `j = floor(u (i + 1) / 2^64)`, where `u` are the first 64 bits of Philox with the seed as its key at the
//! counter `(i, e)`. So an order depends on nothing but seed, epoch and the number of examples.

use befrost::{DType, HostTensor, Philox};

use crate::error::TrainError;

/// The order in which examples are fed.
#[derive(Clone, Debug)]
pub enum Order {
    /// Shuffled in each epoch, with this seed.
    Shuffled(u64),
    /// By row.
    Sequential,
    /// A list of rows for each step; all steps are an epoch.
    Given {
        /// All rows, step by step.
        rows: Vec<usize>,
        /// The rows of a step.
        batch: usize,
    },
}

impl Order {
    /// The order of a tensor of integers, of shape [steps, batch].
    ///
    /// # Errors
    /// If it is of another type or shape, or empty, or has a negative row.
    pub fn given(tensor: &HostTensor) -> Result<Order, TrainError> {
        let wrong = |why: String| TrainError::data(format!("the order of the examples: {why}"));
        let &[_, batch] = tensor.shape().dims() else {
            return Err(wrong(format!("expected [steps, batch], got the shape {}", tensor.shape())));
        };
        let rows: Vec<i64> = match tensor.dtype() {
            DType::I32 => tensor.to_vec::<i32>().map(|rows| rows.into_iter().map(i64::from).collect()),
            DType::I64 => tensor.to_vec::<i64>(),
            dtype => return Err(wrong(format!("expected i32 or i64, got {dtype}"))),
        }
        .map_err(|error| wrong(error.to_string()))?;
        if rows.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        let row = |row: i64| usize::try_from(row).map_err(|_| wrong(format!("row {row} is out of range")));
        Ok(Order::Given { rows: rows.into_iter().map(row).collect::<Result<_, _>>()?, batch })
    }

    /// The seed, if it has one.
    pub(crate) fn seed(&self) -> Option<u64> {
        match self {
            Order::Shuffled(seed) => Some(*seed),
            Order::Sequential | Order::Given { .. } => None,
        }
    }

    /// Checks the rows against the number of examples.
    pub(crate) fn check(&self, n: usize) -> Result<(), TrainError> {
        let Order::Given { rows, batch } = self else { return Ok(()) };
        match rows.iter().position(|&row| row >= n) {
            None => Ok(()),
            Some(at) => Err(TrainError::data(format!(
                "the order of the examples: row {} of step {} is out of range, there are {n} examples",
                rows[at],
                at / batch
            ))),
        }
    }

    /// The rows of an epoch.
    pub fn rows(&self, epoch: u64, n: usize) -> Vec<usize> {
        match self {
            Order::Given { rows, .. } => rows.clone(),
            Order::Sequential => (0..n).collect(),
            Order::Shuffled(seed) => {
                let mut rows: Vec<usize> = (0..n).collect();
                for i in (1..n).rev() {
                    let bits = Philox::at([i as u64, epoch], *seed).bits();
                    let j = (u128::from(bits) * (i as u128 + 1)) >> 64;
                    rows.swap(i, j as usize);
                }
                rows
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_have_all_rows_and_orders_of_their_own() {
        let order = Order::Shuffled(7);
        let (first, second) = (order.rows(0, 1437), order.rows(1, 1437));
        assert_ne!(first, second);
        assert_ne!(first, Order::Shuffled(8).rows(0, 1437));
        assert_eq!(first, order.rows(0, 1437));
        for mut rows in [first, second] {
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..1437));
        }
        assert_eq!((order.rows(0, 0), order.rows(3, 1)), (vec![], vec![0]));
    }

    #[test]
    fn rows_out_of_range_are_refused() {
        let tensor = HostTensor::from_vec([2, 2], vec![0i32, 1, 5, 2]).unwrap();
        let order = Order::given(&tensor).unwrap();
        assert!(order.check(6).is_ok());
        assert!(order.check(5).unwrap_err().message.contains("row 5 of step 1 is out of range"));
        let negative = HostTensor::from_vec([1, 1], vec![-1i64]).unwrap();
        assert!(Order::given(&negative).unwrap_err().to_string().contains("E0911"));
        assert!(Order::given(&HostTensor::from_vec([2], vec![0i64, 1]).unwrap()).is_err());
    }
}
