//! Vectors for intermediate results, whose allocation may fail.
//!
//! Memory whose size depends on data is allocated by these functions, or belongs to a tensor. If the system
//! refuses memory, they return [`TensorError::Alloc`], whereas the functions of the standard library end the
//! process.

use std::cmp::Ordering;

use crate::TensorError;
use crate::interrupt::expect_not_interrupted;
use crate::mem::AllocError;

/// The error for a refused allocation of `len` elements.
pub fn no_room<T>(len: usize) -> TensorError {
    TensorError::Alloc(AllocError::OutOfMemory { size: len.saturating_mul(size_of::<T>()) })
}

/// Reserves room for exactly `more` elements.
pub fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), TensorError> {
    vec.try_reserve_exact(more).map_err(|_| no_room::<T>(vec.len().saturating_add(more)))
}

/// An empty vector with room for `len` elements.
pub fn with_room<T>(len: usize) -> Result<Vec<T>, TensorError> {
    let mut vec = Vec::new();
    reserve(&mut vec, len)?;
    Ok(vec)
}

/// A vector of `len` equal elements.
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, TensorError> {
    let mut vec = with_room(len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// Appends an element. The capacity grows by doubling.
pub fn push<T>(vec: &mut Vec<T>, value: T) -> Result<(), TensorError> {
    if vec.len() == vec.capacity() {
        vec.try_reserve(1).map_err(|_| no_room::<T>(vec.len().saturating_mul(2)))?;
    }
    vec.push(value);
    Ok(())
}

/// Extends the vector to at least `len` elements, with the results of `value`.
pub fn grow<T>(vec: &mut Vec<T>, len: usize, value: impl FnMut() -> T) -> Result<(), TensorError> {
    if len > vec.len() {
        reserve(vec, len - vec.len())?;
        vec.resize_with(len, value);
    }
    Ok(())
}

/// The elements of a slice.
pub fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>, TensorError> {
    let mut vec = with_room(items.len())?;
    vec.extend_from_slice(items);
    Ok(vec)
}

/// The elements of an iterator.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>, TensorError> {
    let mut items = items.into_iter();
    let least = items.size_hint().0;
    let mut vec = with_room(least)?;
    vec.extend(items.by_ref().take(least));
    items.try_for_each(|item| push(&mut vec, item))?;
    Ok(vec)
}

/// The elements of an iterator, or its first error.
pub fn try_collected<T>(
    items: impl IntoIterator<Item = Result<T, TensorError>>,
) -> Result<Vec<T>, TensorError> {
    let mut items = items.into_iter();
    let mut vec = with_room(items.size_hint().1.unwrap_or(0))?;
    items.try_for_each(|item| push(&mut vec, item?))?;
    Ok(vec)
}

/// The number of positions that are sorted, or merged, between two checks for interruption: some 50 ms of
/// numbers. Each doubling saves a merge, which takes a quarter of the time of sorting a million.
const RUN: usize = 1 << 19;

/// The positions of `len` elements, sorted by `compare`; equal elements are sorted by position. `compare` is
/// a trait object, since the standard library's sort is compiled into a dozen functions for each comparison
/// type.
///
/// The library's sort cannot be interrupted, so it sorts runs of [`RUN`] positions, which are merged.
pub fn sorted_positions(
    len: usize,
    compare: &dyn Fn(usize, usize) -> Ordering,
) -> Result<Vec<usize>, TensorError> {
    let ordered = |i: usize, j: usize| compare(i, j).then(i.cmp(&j));
    let mut positions = collected(0..len)?;
    for run in positions.chunks_mut(RUN) {
        expect_not_interrupted()?;
        run.sort_unstable_by(|&i, &j| ordered(i, j));
    }
    let mut merged = if len > RUN { filled(len, 0)? } else { Vec::new() };
    let mut width = RUN;
    while width < len {
        for (from, to) in
            positions.chunks(width.saturating_mul(2)).zip(merged.chunks_mut(width.saturating_mul(2)))
        {
            let (mut left, mut right) = from.split_at(width.min(from.len()));
            for to in to.chunks_mut(RUN) {
                expect_not_interrupted()?;
                for to in to {
                    let side = match (left, right) {
                        ([i, ..], [j, ..]) if ordered(*i, *j).is_gt() => &mut right,
                        ([], _) => &mut right,
                        _ => &mut left,
                    };
                    if let Some((&first, rest)) = side.split_first() {
                        (*to, *side) = (first, rest);
                    }
                }
            }
        }
        std::mem::swap(&mut positions, &mut merged);
        width = width.saturating_mul(2);
    }
    Ok(positions)
}

/// Sorts in place. Equal elements keep their order.
pub fn stable_sort<T: Copy>(
    items: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering,
) -> Result<(), TensorError> {
    let old = copied(items)?;
    let order = sorted_positions(old.len(), &|i, j| compare(&old[i], &old[j]))?;
    items.iter_mut().zip(order).for_each(|(item, i)| *item = old[i]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sorts_merge_runs_until_interrupted() {
        use crate::interrupt::interruptible;
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
        let key = |i: usize| i.wrapping_mul(0x9E37_79B9) % 1000;
        for len in [RUN - 1, RUN, 2 * RUN + 1, 5 * RUN + 7] {
            let mut want: Vec<usize> = (0..len).collect();
            want.sort_by_key(|&i| key(i));
            assert!(sorted_positions(len, &|i, j| key(i).cmp(&key(j))).unwrap() == want, "{len}");
        }
        // The flag is set by the first comparison of the second run.
        let (flag, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
        let compare = |i: usize, j: usize| {
            calls.fetch_add(1, Relaxed);
            flag.fetch_or(i >= RUN, Relaxed);
            key(i).cmp(&key(j))
        };
        let sorted = interruptible(&flag, || sorted_positions(8 * RUN, &compare));
        assert_eq!(sorted, Err(TensorError::Interrupted));
        assert!(calls.into_inner() < 64 * RUN, "the other runs are not sorted");
    }

    #[test]
    fn vectors_are_made_and_refused() {
        assert_eq!(filled(3, 7u8).unwrap(), [7, 7, 7]);
        assert_eq!(collected((0..9).filter(|i| i % 2 == 0)).unwrap(), [0, 2, 4, 6, 8]);
        assert_eq!(collected(0..4).unwrap(), [0, 1, 2, 3]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(try_collected((0..3).map(Ok)).unwrap(), [0, 1, 2]);
        assert_eq!(
            try_collected((0..3).map(|i| if i < 1 { Ok(i) } else { Err(TensorError::TooLarge) })),
            Err(TensorError::TooLarge)
        );
        let size = usize::MAX / 4 * 4;
        assert_eq!(filled(usize::MAX / 4, 0u32), Err(TensorError::Alloc(AllocError::OutOfMemory { size })));
        let mut pairs = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')];
        stable_sort(&mut pairs, |a, b| a.0.cmp(&b.0)).unwrap();
        assert_eq!(pairs, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
        let mut vec = vec![1];
        grow(&mut vec, 3, || 0).unwrap();
        grow(&mut vec, 2, || 0).unwrap();
        assert_eq!(vec, [1, 0, 0]);
        assert!(grow(&mut vec, usize::MAX, || 0).is_err());
    }
}
