//! Assignment of offsets in an arena.
//!
//! Storages are placed one by one, largest first, each into the smallest gap between the storages that it
//! must not overlap (best fit). The same is done in program order, and the smaller arena wins. Each start
//! order is refined for some rounds, while that helps: storages at the peak are moved to its front.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::order::Ancestors;
use super::storage::Storage;

/// Alignment of offsets.
const ALIGNMENT: usize = 64;

/// Maximum rounds for each start order.
const ROUNDS: usize = 40;
/// Maximum rounds in a row without a smaller arena.
const PATIENCE: usize = 8;
/// Budget of visited pairs over all rounds.
const MAX_VISITS: usize = 1 << 24;

/// The offsets of storages.
pub(super) struct Plan {
    /// By storage.
    pub(super) offsets: Vec<usize>,
    /// The size of the arena.
    pub(super) peak: usize,
}

impl Plan {
    /// A plan for storages; `is_done(a, b)` is true if `a` is dead when `b` is written.
    pub(super) fn new(storages: &[&Storage], is_done: impl Fn(&Storage, &Storage) -> bool) -> Plan {
        let n = storages.len();
        let mut overlap = vec![Vec::new(); n];
        for (i, &a) in storages.iter().enumerate() {
            for (j, &b) in storages.iter().enumerate().skip(i + 1) {
                if !is_done(a, b) && !is_done(b, a) {
                    overlap[i].push(j);
                    overlap[j].push(i);
                }
            }
        }
        let by_program: Vec<usize> = (0..n).collect();
        let mut by_size = by_program.clone();
        by_size.sort_by_key(|&i| std::cmp::Reverse(storages[i].bytes));
        let least = lower_bound(storages);
        let n_pairs: usize = overlap.iter().map(Vec::len).sum();
        let rounds = (MAX_VISITS / n_pairs.max(1)).clamp(1, ROUNDS);
        let mut best: Option<Plan> = None;
        for mut order in [by_size, by_program] {
            let mut in_vain = 0;
            for _ in 0..rounds {
                let plan = Plan::in_order(storages, &order, &overlap);
                let top =
                    |&i: &usize| plan.offsets[i] + storages[i].bytes.next_multiple_of(ALIGNMENT) == plan.peak;
                // The sort is stable.
                order.sort_by_key(|i| !top(i));
                in_vain += 1;
                if best.as_ref().is_none_or(|best| plan.peak < best.peak) {
                    (best, in_vain) = (Some(plan), 0);
                }
                if in_vain >= PATIENCE || best.as_ref().is_some_and(|best| best.peak <= least) {
                    break;
                }
            }
        }
        best.unwrap_or(Plan { offsets: Vec::new(), peak: 0 })
    }

    fn in_order(storages: &[&Storage], order: &[usize], overlap: &[Vec<usize>]) -> Plan {
        let mut offsets = vec![0; storages.len()];
        // The storages that are placed, by offset: first byte, end and number.
        let mut placed: Vec<(usize, usize, usize)> = Vec::with_capacity(order.len());
        // By storage, the last one placed that must not overlap it.
        let mut apart_from = vec![usize::MAX; storages.len()];
        let mut peak = 0;
        for &i in order {
            let size = storages[i].bytes.next_multiple_of(ALIGNMENT);
            overlap[i].iter().for_each(|&j| apart_from[j] = i);
            let (mut end, mut best) = (0, None);
            for &(from, to, _) in placed.iter().filter(|(.., j)| apart_from[*j] == i) {
                let gap = from.saturating_sub(end);
                if gap >= size && best.is_none_or(|(_, smallest)| gap < smallest) {
                    best = Some((end, gap));
                }
                end = end.max(to);
            }
            let at = best.map_or(end, |(at, _)| at);
            offsets[i] = at;
            let place = (at, at + size, i);
            placed.insert(placed.partition_point(|other| *other < place), place);
            peak = peak.max(at + size);
        }
        Plan { offsets, peak }
    }
}

/// A storage at its place: the arena, and the first and the last byte there if all unknown dimensions are 1.
pub(super) struct PlannedPlace<'s> {
    pub(super) storage: &'s Storage,
    pub(super) arena: usize,
    pub(super) bytes: Range<usize>,
}

impl PlannedPlace<'_> {
    fn overlaps(&self, other: &PlannedPlace<'_>) -> bool {
        self.arena == other.arena && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }
}

/// The dependencies, beyond the existing ones, that keep ops from overwriting storages that are earlier
/// in the program and still needed.
pub(super) fn edges(places: &[PlannedPlace<'_>], before: Ancestors) -> FxHashMap<usize, Vec<usize>> {
    let mut made: FxHashMap<usize, Vec<&PlannedPlace<'_>>> = FxHashMap::default();
    for place in places {
        made.entry(place.storage.maker).or_default().push(place);
    }
    let mut edges: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    before.extend(|op, is_before| {
        let mut waits = Vec::new();
        for place in made.get(&op).into_iter().flatten() {
            for other in places.iter().filter(|other| other.storage.last() < op && other.overlaps(place)) {
                waits.extend(other.storage.events().filter(|&event| !is_before(event)));
            }
        }
        waits.sort_unstable();
        waits.dedup();
        if !waits.is_empty() {
            edges.insert(op, waits.clone());
        }
        waits
    });
    edges
}

/// The peak of live bytes if ops run in program order.
pub(super) fn lower_bound(storages: &[&Storage]) -> usize {
    let n_ops = storages.iter().map(|storage| storage.last() + 1).max().unwrap_or(0);
    live_bytes(storages, n_ops).into_iter().max().unwrap_or(0)
}

/// The live bytes while each of `n_ops` ops runs, if they run in program order.
pub(super) fn live_bytes(storages: &[&Storage], n_ops: usize) -> Vec<usize> {
    let (mut begins, mut ends) = (vec![0usize; n_ops], vec![0usize; n_ops]);
    for storage in storages {
        let size = storage.bytes.next_multiple_of(ALIGNMENT);
        begins[storage.maker] += size;
        // Operands are live while results are written.
        ends[storage.last()] += size;
    }
    let mut now = 0;
    let live = begins.iter().zip(&ends).map(|(begins, ends)| {
        let here = now + begins;
        now = here - ends;
        here
    });
    live.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage(maker: usize, readers: &[usize], bytes: usize) -> Storage {
        Storage { maker, readers: readers.to_vec(), bytes, scale: Default::default(), escapes: false }
    }

    fn serial(a: &Storage, b: &Storage) -> bool {
        a.last() < b.maker
    }

    #[test]
    fn a_chain_needs_two_places() {
        let all: Vec<Storage> = (0..10).map(|i| storage(i, &[i + 1], 128)).collect();
        let all: Vec<&Storage> = all.iter().collect();
        let plan = Plan::new(&all, serial);
        assert_eq!((plan.peak, lower_bound(&all)), (256, 256));
        for pair in plan.offsets.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }

    #[test]
    fn values_alive_at_once_never_overlap() {
        // Sizes and lifetimes from a small generator.
        let mut state = 1u64;
        let mut next = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..50 {
            let all: Vec<Storage> = (0..40)
                .map(|i| storage(i, &[i + 1 + next(6) as usize], 64 + 64 * next(20) as usize))
                .collect();
            let all: Vec<&Storage> = all.iter().collect();
            let plan = Plan::new(&all, serial);
            assert!(plan.peak >= lower_bound(&all));
            for (i, a) in all.iter().enumerate() {
                for (j, b) in all.iter().enumerate().skip(i + 1) {
                    let apart = plan.offsets[i] + a.bytes <= plan.offsets[j]
                        || plan.offsets[j] + b.bytes <= plan.offsets[i];
                    assert!(apart || serial(a, b) || serial(b, a), "{i} {j}");
                }
            }
        }
    }
}
