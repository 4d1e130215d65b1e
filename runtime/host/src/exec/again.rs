//! [`Again`]: how often a function is run, and which iteration is running.

use befrost_kernel_api::executor::Runs;

/// Whether a function is run again, on the results of the time before, and which iteration it is in. One
/// word, as it is copied as soon as it is written.
///
/// ```text
/// bit 63 is 0: how many times more (31 bits) | iteration (32 bits)
/// bit 63 is 1: as long as the last result is true; iteration (63 bits)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again(u64);

/// What comes after an iteration, as far as its results have no say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing.
    Nothing,
    /// Another one; and whether there is a next one after that.
    Iteration(Again),
    /// This one, as long as one more result, the last, is true.
    IfTrue(Again),
}

impl Again {
    pub(super) const NEVER: Again = Again(0);
    pub(super) const WHILE_TRUE: Again = Again(1 << 63);
    const ONCE_MORE: u64 = 1 << 32;

    /// So many times more, at most [`Runs::MAX_MORE`].
    #[inline(always)]
    pub(super) fn times(more: u32) -> Again {
        debug_assert!(more <= Runs::MAX_MORE, "more iterations than can be counted");
        Again(u64::from(more) << 32)
    }

    /// The same, of which this is iteration 0, in iteration `iteration`: less than 2^32 unless the results
    /// decide.
    pub(super) fn at(self, iteration: u64) -> Again {
        debug_assert!(self.is_while() || iteration < Again::ONCE_MORE, "more iterations than can be counted");
        Again(self.0 | iteration)
    }

    /// The iteration that is running, from 0.
    pub(super) fn iteration(self) -> u64 {
        if self.is_while() { self.0 & !Again::WHILE_TRUE.0 } else { self.0 & (Again::ONCE_MORE - 1) }
    }

    /// Whether this is the last time.
    #[inline(always)]
    pub(super) fn is_last(self) -> bool {
        self.0 < Again::ONCE_MORE
    }

    /// Whether the last result decides.
    #[inline(always)]
    pub(super) fn is_while(self) -> bool {
        self.0 >= Again::WHILE_TRUE.0
    }

    /// The next iteration.
    #[inline(always)]
    pub(super) fn after(self) -> After {
        if self.is_while() {
            After::IfTrue(Again(self.0 + 1))
        } else if self.is_last() {
            After::Nothing
        } else {
            After::Iteration(Again(self.0 - Again::ONCE_MORE + 1))
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_counted_up_while_runs_are_counted_down() {
        let (mut again, mut iterations) = (Again::times(2).at(5), vec![]);
        while let After::Iteration(next) = again.after() {
            again = next;
            iterations.push(again.iteration());
        }
        assert_eq!((iterations, again.is_last()), (vec![6, 7], true));
        assert_eq!(Again::times(Runs::MAX_MORE).iteration(), 0);
        assert!(!Again::times(Runs::MAX_MORE).is_while() && !Again::times(1).is_last());
        let late = Again::WHILE_TRUE.at(u64::from(u32::MAX));
        let After::IfTrue(next) = late.after() else { panic!("the result decides") };
        assert!(next.is_while() && !next.is_last());
        assert_eq!(next.iteration(), 1 << 32);
    }
}
