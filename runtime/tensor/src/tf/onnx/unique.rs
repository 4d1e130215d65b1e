//! ONNX's `Unique`: distinct slices along an axis, sorted or in order of appearance.
//!
//! The sort permutes positions; slices stay in place. As in NumPy, NaNs are equal to each other and larger
//! than all numbers. -0 and 0 are equal.

use std::cmp::Ordering;

use super::super::fast::Cx;
use super::super::index::slices_at;
use super::super::numeric::{Domain, Number};
use super::super::reference::transpose;
use crate::element::with_element;
use crate::scratch::{collected, filled, push};
use crate::sort::sorted_positions;
use crate::{DType, HostTensor, Shape, TensorError, resolve_axis};

/// The order of two numbers: NaNs last, complex numbers by real part, then by imaginary part.
fn order<T: Number>(a: T, b: T) -> Ordering {
    let (a, b) = (a.widen(), b.widen());
    a.order(b).unwrap_or_else(|| {
        let parts = |x: T::Wide| match x.any() {
            super::super::numeric::AnyWide::Complex(c) => [c.re, c.im],
            other => [other.real(), 0.0],
        };
        let by_part = |(a, b): (&f64, &f64)| a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
        let (a, b) = (parts(a), parts(b));
        a.iter().zip(&b).map(by_part).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// The groups of equal slices.
struct Groups {
    /// The position of the first slice of each group.
    first: Vec<usize>,
    /// The group of each slice.
    inverse: Vec<i64>,
    counts: Vec<i64>,
}

impl Groups {
    fn new<T: Number>(x: &[T], (n, len): (usize, usize), sorted: bool) -> Result<Groups, TensorError> {
        let slice = |i: usize| &x[i * len..][..len];
        let compare = |a: usize, b: usize| {
            let pairs = slice(a).iter().zip(slice(b));
            pairs.map(|(&a, &b)| order(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let by_value = sorted_positions(n, &compare)?;
        let mut groups = Groups { first: Vec::new(), inverse: filled(n, 0)?, counts: Vec::new() };
        for (at, &i) in by_value.iter().enumerate() {
            if at == 0 || compare(by_value[at - 1], i).is_ne() {
                push(&mut groups.first, i)?;
                push(&mut groups.counts, 0)?;
            }
            let group = groups.first.len() - 1;
            groups.counts[group] += 1;
            groups.inverse[i] = group as i64;
        }
        if !sorted {
            groups.by_appearance()?;
        }
        Ok(groups)
    }

    /// Orders the groups by their first slices.
    fn by_appearance(&mut self) -> Result<(), TensorError> {
        let mut old = collected(0..self.first.len())?;
        old.sort_unstable_by_key(|&group| self.first[group]);
        let mut new = filled(old.len(), 0)?;
        old.iter().zip(0i64..).for_each(|(&old, at)| new[old] = at);
        self.inverse.iter_mut().for_each(|group| *group = new[*group as usize]);
        self.first = collected(old.iter().map(|&group| self.first[group]))?;
        self.counts = collected(old.iter().map(|&group| self.counts[group]))?;
        Ok(())
    }
}

/// `_UniqueSorted`: the distinct slices along the axis, or the distinct elements without an axis; the
/// position of the first occurrence of each; for each slice, its position among the distinct ones; and the
/// number of occurrences of each.
pub fn unique_sorted(
    x: &HostTensor,
    axis: Option<i64>,
    sorted: bool,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 4], TensorError> {
    let flat = match axis {
        Some(_) => x.clone(),
        None => x.reshaped(Shape::new(&[x.num_elements()])?)?,
    };
    let at = resolve_axis(flat.shape(), axis.unwrap_or(0))?;
    let rank = flat.shape().rank() as i64;
    let others = (0..rank).filter(|&i| i != at as i64);
    let turned = match at {
        0 => flat,
        _ => transpose(&flat, &std::iter::once(at as i64).chain(others).collect::<Vec<_>>(), cx.allocator)?,
    };
    let (n, rest) = (turned.shape().dims()[0], &turned.shape().dims()[1..]);
    // Of a tensor without slices, a slice may have any number of elements.
    let len = rest.iter().fold(1usize, |len, &dim| len.saturating_mul(dim));
    let slice_bytes = len.saturating_mul(x.dtype().size());
    // This allocation, which the allocator may refuse, bounds the number of slices of an empty tensor.
    let inverse = HostTensor::allocate(DType::I64, Shape::new(&[n])?, cx.allocator)?;
    let groups =
        with_element!(turned.dtype(), T => Groups::new::<T>(&turned.read::<T>()?, (n, len), sorted)?);
    let count = groups.first.len();
    let shape = Shape::new(&[&[count], rest].concat())?;
    let from = turned.read_bytes()?;
    let values = slices_at(x.dtype(), shape, (&from, slice_bytes), &groups.first, cx.allocator)?;
    let back: Vec<i64> = (1..=at as i64).chain([0]).chain(at as i64 + 1..rank).collect();
    let values = if at == 0 { values } else { transpose(&values, &back, cx.allocator)? };
    let first = collected(groups.first.iter().map(|&i| i as i64))?;
    let vector = |x: &[i64]| HostTensor::from_slice(Shape::new(&[x.len()])?, x, cx.allocator);
    inverse.copy_from_slice(&groups.inverse)?;
    Ok([values, vector(&first)?, inverse, vector(&groups.counts)?])
}
