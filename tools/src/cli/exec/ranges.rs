//! `--observe-ranges`: the ranges of products' inputs, for `--precision int8 --ranges`.
//!
//! ```text
//! run in f32 ──▶ inputs of products, as results (tf-lower-precision{observe}) ──▶ distribution ──▶ low, high
//! ```
//!
//! With a percentile below 100 the values beyond it on either side are left out, and are clamped later. The
//! inputs are in memory all at once.

use befrost::{Datum, Port};
use befrost_compiler::graph::lower_precision::OBSERVED;

use crate::cli::failure::Failure;
use crate::cli::precision::Ranges;

/// The places of a distribution: floats of 16 bits, in order.
const PLACES: usize = 1 << 16;

/// How often numbers of some size occur. NaN and infinities do not count.
struct Distribution {
    counts: Vec<u64>,
    n: u64,
    low: f32,
    high: f32,
}

/// The place of a number: monotonous.
fn place_of(x: f32) -> usize {
    let bits = x.to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    (ordered >> 16) as usize
}

/// The number of a place that is farthest from 0.
fn number_of(place: usize) -> f32 {
    let ordered = (place as u32) << 16;
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) | 0xffff } else { !ordered })
}

impl Distribution {
    fn of(numbers: &[f32]) -> Distribution {
        let mut counts = vec![0; PLACES];
        let (mut n, mut low, mut high) = (0, 0.0f32, 0.0f32);
        for &x in numbers.iter().filter(|x| x.is_finite()) {
            counts[place_of(x)] += 1;
            n += 1;
            low = low.min(x);
            high = high.max(x);
        }
        Distribution { counts, n, low, high }
    }

    /// The first of the places that has more than `beyond` numbers up to it.
    fn end(&self, mut places: impl Iterator<Item = usize>, beyond: u64) -> f32 {
        let mut seen = 0;
        let place = places.find(|&place| {
            seen += self.counts[place];
            seen > beyond
        });
        place.map_or(0.0, number_of)
    }

    /// The range without the numbers beyond a percentile; with 0 in any case.
    fn range(&self, percentile: f64) -> (f32, f32) {
        let beyond = (self.n as f64 * (1.0 - percentile / 100.0)) as u64;
        let (low, high) = (self.end(0..PLACES, beyond), self.end((0..PLACES).rev(), beyond));
        (low.clamp(self.low, 0.0), high.clamp(0.0, self.high))
    }
}

/// The ranges of what a function returned as inputs of its products.
pub(super) fn observed(
    function: &str,
    ports: &[Port],
    results: &[Datum],
    percentile: f64,
) -> Result<Ranges, Failure> {
    let refused = |why: String| Failure::Refused(why);
    let mut ends = Vec::new();
    for (port, result) in ports.iter().zip(results) {
        if !port.name().starts_with(OBSERVED) {
            continue;
        }
        let tensor = result.tensor().map_err(|error| refused(error.to_string()))?;
        let numbers = tensor.read::<f32>().map_err(|error| refused(error.to_string()))?;
        ends.push(Distribution::of(&numbers).range(percentile));
    }
    if ends.is_empty() {
        return Err(refused(format!("'{function}' has no products with constant weights")));
    }
    Ok(Ranges { function: function.to_owned(), ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_leave_out_what_is_far_away() {
        let numbers: Vec<f32> = (0..10_000).map(|i| i as f32 / 10_000.0).chain([50.0, -3.0]).collect();
        let all = Distribution::of(&numbers);
        assert_eq!(all.range(100.0), (-3.0, 50.0));
        let (low, high) = all.range(99.0);
        assert!(low == 0.0 && (0.985..0.997).contains(&high), "{low} {high}");
        assert_eq!(Distribution::of(&[]).range(99.0), (0.0, 0.0));
        assert_eq!(Distribution::of(&[f32::NAN, f32::INFINITY, 2.0]).range(100.0), (0.0, 2.0));
        assert_eq!(Distribution::of(&[-1.0, -2.0]).range(100.0), (-2.0, 0.0));
    }

    #[test]
    fn places_are_in_the_order_of_numbers() {
        let numbers = [-f32::MAX, -2.0, -1.0, -1e-30, 0.0, 1e-30, 1.0, 1.5, f32::MAX];
        assert!(numbers.map(place_of).is_sorted());
        for x in numbers {
            assert!(number_of(place_of(x)).abs() >= x.abs(), "{x}");
        }
    }
}
