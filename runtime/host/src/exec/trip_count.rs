//! [`TripCount`]: the number of further iterations of a function, and the number of the current one.

use befrost_kernel_api::executor::Runs;

/// Number of further runs of a function on its own results, with the number of the current iteration. Packed
/// into one word, because it is copied right after it is written.
///
/// ```text
/// bit 63 is 0: further iterations (31 bits) | iteration (32 bits)
/// bit 63 is 1: repeat while the last result is true; iteration (63 bits)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TripCount(u64);

/// Continuation after an iteration, as far as it does not depend on the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextIteration {
    /// No further iteration.
    Never,
    /// One more iteration, with this trip count.
    Always(TripCount),
    /// One more iteration, with this trip count, if the last result is true.
    IfTrue(TripCount),
}

impl TripCount {
    pub(super) const ONCE: TripCount = TripCount(0);
    pub(super) const WHILE_TRUE: TripCount = TripCount(1 << 63);
    const ONE_MORE: u64 = 1 << 32;

    /// `more` further iterations, at most [`Runs::MAX_MORE`].
    #[inline(always)]
    pub(super) fn more(more: u32) -> TripCount {
        debug_assert!(more <= Runs::MAX_MORE, "more iterations than can be counted");
        TripCount(u64::from(more) << 32)
    }

    /// The same trip count, numbered from `iteration` instead of 0. The number is less than 2^32 unless the
    /// results decide.
    pub(super) fn at(self, iteration: u64) -> TripCount {
        debug_assert!(
            self.is_while() || iteration < TripCount::ONE_MORE,
            "more iterations than can be counted"
        );
        TripCount(self.0 | iteration)
    }

    /// Number of the current iteration, from 0.
    pub(super) fn iteration(self) -> u64 {
        if self.is_while() { self.0 & !TripCount::WHILE_TRUE.0 } else { self.0 & (TripCount::ONE_MORE - 1) }
    }

    /// Whether this is the last iteration.
    #[inline(always)]
    pub(super) fn is_last(self) -> bool {
        self.0 < TripCount::ONE_MORE
    }

    /// Whether the last result decides about the next iteration.
    #[inline(always)]
    pub(super) fn is_while(self) -> bool {
        self.0 >= TripCount::WHILE_TRUE.0
    }

    /// The continuation after this iteration.
    #[inline(always)]
    pub(super) fn next(self) -> NextIteration {
        if self.is_while() {
            NextIteration::IfTrue(TripCount(self.0 + 1))
        } else if self.is_last() {
            NextIteration::Never
        } else {
            NextIteration::Always(TripCount(self.0 - TripCount::ONE_MORE + 1))
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_up_while_runs_are_counted_down() {
        let (mut trips, mut iterations) = (TripCount::more(2).at(5), vec![]);
        while let NextIteration::Always(next) = trips.next() {
            trips = next;
            iterations.push(trips.iteration());
        }
        assert_eq!((iterations, trips.is_last()), (vec![6, 7], true));
        assert_eq!(TripCount::more(Runs::MAX_MORE).iteration(), 0);
        assert!(!TripCount::more(Runs::MAX_MORE).is_while() && !TripCount::more(1).is_last());
        let late = TripCount::WHILE_TRUE.at(u64::from(u32::MAX));
        let NextIteration::IfTrue(next) = late.next() else { panic!("the result decides") };
        assert!(next.is_while() && !next.is_last());
        assert_eq!(next.iteration(), 1 << 32);
    }
}
