//! Sorting: the positions of elements, in their order.
//!
//! ```text
//! numbers ──▶ keys of 64 bits ─┬▶ short, and the keys within 2^32: words of a key and a position
//!                              └▶ a pass over all for each byte in which keys differ
//! others  ──▶ a comparison    ──▶ runs, sorted by the standard library ──▶ merges
//! ```
//!
//! Equal elements keep their order. All sorts end early when they are interrupted, which the sort of the
//! standard library cannot.

use std::cmp::Ordering;

use crate::TensorError;
use crate::interrupt::{STEPS, expect_not_interrupted};
use crate::scratch::{collected, copied, filled, with_room};

/// A key and its position.
type Keyed = (u64, usize);

/// The number of keys from which passes over all, of 256 counters each, take less time than comparisons.
const LONG: usize = 1 << 9;

/// The most numbers that the standard library sorts at once, some 10 ms of work: it cannot be interrupted.
pub const AT_ONCE: usize = 1 << 18;

/// The positions of keys in ascending order.
pub fn sorted_by_keys(keys: impl ExactSizeIterator<Item = u64>) -> Result<Vec<usize>, TensorError> {
    if keys.len() > AT_ONCE {
        return positions(sorted(collected(keys.zip(0..))?)?);
    }
    let keys: Vec<u64> = collected(keys)?;
    let (least, greatest) = keys.iter().fold((u64::MAX, 0), |(a, b), &key| (a.min(key), b.max(key)));
    if greatest.saturating_sub(least) <= u64::from(u32::MAX) {
        expect_not_interrupted()?;
        let words = keys.iter().zip(0..).map(|(key, i): (&u64, u64)| (key - least) << 32 | i);
        let mut words: Vec<u64> = collected(words)?;
        words.sort_unstable();
        return collected(words.into_iter().map(|word| word as u32 as usize));
    }
    positions(sorted(collected(keys.into_iter().zip(0..))?)?)
}

/// The positions of the `n` least keys, in ascending order.
pub fn least_by_keys(keys: impl ExactSizeIterator<Item = u64>, n: usize) -> Result<Vec<usize>, TensorError> {
    let room = n.saturating_mul(2).saturating_add(64);
    if room > keys.len() {
        let mut least = sorted_by_keys(keys)?;
        least.truncate(n);
        return Ok(least);
    }
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut found = with_room(room)?;
    // Of equal keys the first one counts, so one that comes later must be less than the n-th.
    let mut greatest = u64::MAX;
    for (key, i) in keys.zip(0..) {
        if i % STEPS == 0 {
            expect_not_interrupted()?;
        }
        if key > greatest {
            continue;
        }
        found.push((key, i));
        if found.len() == room {
            let (_, &mut (last, _), _) = found.select_nth_unstable(n - 1);
            found.truncate(n);
            match last.checked_sub(1) {
                Some(less) => greatest = less,
                None => break,
            }
        }
    }
    found.sort_unstable();
    found.truncate(n);
    positions(found)
}

fn positions(items: Vec<Keyed>) -> Result<Vec<usize>, TensorError> {
    collected(items.into_iter().map(|(_, i)| i))
}

/// Items in ascending order of their keys. Their positions ascend.
fn sorted(mut items: Vec<Keyed>) -> Result<Vec<Keyed>, TensorError> {
    if items.len() < LONG {
        items.sort_unstable();
        return Ok(items);
    }
    let first = items[0].0;
    let differing = items.iter().fold(0, |bits, (key, _)| bits | (key ^ first));
    let mut spread = filled(items.len(), (0, 0))?;
    for shift in (0..u64::BITS).step_by(8).filter(|shift| (differing >> shift) as u8 != 0) {
        let byte = |&(key, _): &Keyed| usize::from((key >> shift) as u8);
        let mut next = [0; 256];
        items.iter().for_each(|item| next[byte(item)] += 1);
        let mut start = 0;
        for n in &mut next {
            start += std::mem::replace(n, start);
        }
        for items in items.chunks(STEPS) {
            expect_not_interrupted()?;
            for item in items {
                let at = &mut next[byte(item)];
                spread[*at] = *item;
                *at += 1;
            }
        }
        std::mem::swap(&mut items, &mut spread);
    }
    Ok(items)
}

/// The number of positions that are sorted, or merged, between two checks for interruption: some 50 ms of
/// comparisons. Each doubling saves a merge, which takes a quarter of the time of sorting a million.
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
    use crate::interrupt::interruptible;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    /// Few different numbers, spread over the positions.
    fn key(i: usize) -> usize {
        i.wrapping_mul(0x9E37_79B9) % 1000
    }

    fn by_key(len: usize) -> Vec<usize> {
        let mut want: Vec<usize> = (0..len).collect();
        want.sort_by_key(|&i| key(i));
        want
    }

    #[test]
    fn keys_are_sorted_by_bytes() {
        for len in [0, 1, 2, LONG - 1, LONG, 10 * LONG + 3] {
            let keys = (0..len).map(|i| key(i) as u64);
            let want = by_key(len);
            assert_eq!(sorted_by_keys(keys.clone()).unwrap(), want, "{len}");
            // Every byte differs, and those in the middle do not.
            for spread in [0x0101_0101_0101_0101, 0x8000_0000_0000_0001] {
                let keys = keys.clone().map(|key: u64| key.wrapping_mul(spread));
                let mut want: Vec<usize> = (0..len).collect();
                want.sort_by_key(|&i| (key(i) as u64).wrapping_mul(spread));
                assert_eq!(sorted_by_keys(keys).unwrap(), want, "{len}, {spread:x}");
            }
            for n in [0, 1, 7, len / 3, len] {
                let least = least_by_keys(keys.clone(), n.min(len)).unwrap();
                assert_eq!(least, want[..n.min(len)], "{n} of {len}");
            }
        }
        let ends = || [u64::MAX, 0, u64::MAX, 0].into_iter().cycle();
        let many = |n| ends().take(1000).collect::<Vec<_>>().into_iter().skip(n);
        assert_eq!(least_by_keys(many(0), 3).unwrap(), [1, 3, 5]);
        assert_eq!(least_by_keys(vec![u64::MAX; 1000].into_iter(), 3).unwrap(), [0, 1, 2]);
        let flag = AtomicBool::new(true);
        let keys = || (0..2 * LONG).map(|i| i as u64);
        assert_eq!(interruptible(&flag, || sorted_by_keys(keys())), Err(TensorError::Interrupted));
        assert_eq!(interruptible(&flag, || least_by_keys(keys(), 1)), Err(TensorError::Interrupted));
    }

    #[test]
    fn long_sorts_merge_runs_until_interrupted() {
        for len in [RUN - 1, RUN, 2 * RUN + 1, 5 * RUN + 7] {
            assert!(sorted_positions(len, &|i, j| key(i).cmp(&key(j))).unwrap() == by_key(len), "{len}");
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
    fn equal_elements_keep_their_order() {
        let mut pairs = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')];
        stable_sort(&mut pairs, |a, b| a.0.cmp(&b.0)).unwrap();
        assert_eq!(pairs, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
    }
}
