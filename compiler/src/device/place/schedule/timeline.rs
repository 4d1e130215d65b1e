//! When a device or a link is idle.
//!
//! ```text
//! idle threads  2 ──┐     ┌──┐  ┌────     a task that needs both threads for as long as this: ──
//!               1   └──┐  │  └──┘         begins in the gap
//!               0      └──┘
//! ```

/// Maximum number of steps that are remembered. What is older counts as busy, so that a search takes constant
/// time.
const MAX_STEPS: usize = 64;

/// How many threads of a device, or lanes of a link, are idle, by time.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    width: u32,
    /// From when on how many are idle, in order of time; from the last one on all are. Before the first, none
    /// counts as idle. If it is empty, all are idle from 0 on.
    steps: Vec<(f64, u32)>,
}

impl Timeline {
    /// All of `width` threads are idle.
    pub(super) fn new(width: u32) -> Timeline {
        Timeline { width, steps: Vec::new() }
    }

    /// The first time from `ready` on from which `n` threads, or all if there are fewer, are idle for a
    /// duration.
    pub(super) fn first(&self, ready: f64, n: u32, duration: f64) -> f64 {
        let Some(&(oldest, _)) = self.steps.first() else { return ready };
        let (mut start, n) = (ready.max(oldest), n.min(self.width));
        let first = self.steps.partition_point(|&(from, _)| from <= start) - 1;
        let ends = self.steps[first + 1..].iter().map(|&(from, _)| from).chain([f64::INFINITY]);
        for (&(_, idle), end) in self.steps[first..].iter().zip(ends) {
            if idle < n {
                start = end;
            } else if end >= start + duration {
                break;
            }
        }
        start
    }

    /// Keeps `n` threads busy for a duration from `start` on, which [`Timeline::first`] has found.
    pub(super) fn take(&mut self, start: f64, n: u32, duration: f64) {
        if duration <= 0.0 {
            return;
        }
        if self.steps.is_empty() {
            self.steps.push((0.0, self.width));
        }
        let first = self.split(start);
        let last = self.split(start + duration);
        let n = n.min(self.width);
        self.steps[first..last].iter_mut().for_each(|(_, idle)| *idle -= n);
        self.steps.dedup_by(|next, step| next.1 == step.1);
        let extra = self.steps.len().saturating_sub(MAX_STEPS);
        self.steps.drain(..extra);
    }

    /// The number of the step that begins at a time, not before the first one.
    fn split(&mut self, at: f64) -> usize {
        let next = self.steps.partition_point(|&(from, _)| from <= at);
        let (from, idle) = self.steps[next - 1];
        if from == at {
            return next - 1;
        }
        self.steps.insert(next, (at, idle));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the first time for each of tasks: ready, threads, duration. Returns the times.
    fn check(width: u32, tasks: &[(f64, u32, f64)], want: &[f64]) {
        let mut line = Timeline::new(width);
        let mut place = |&(ready, n, duration): &(f64, u32, f64)| {
            let start = line.first(ready, n, duration);
            line.take(start, n, duration);
            start
        };
        assert_eq!(tasks.iter().map(&mut place).collect::<Vec<f64>>(), want, "{tasks:?}");
    }

    #[test]
    fn tasks_begin_in_the_first_gap_that_is_long_enough() {
        check(1, &[(10.0, 1, 5.0), (0.0, 1, 11.0), (0.0, 1, 4.0), (0.0, 1, 6.0)], &[10.0, 15.0, 0.0, 4.0]);
        // A gap that is as long as the task; a task without duration, in between.
        check(1, &[(2.0, 1, 2.0), (0.0, 1, 2.0), (3.0, 1, 0.0), (1.0, 1, 1.0)], &[2.0, 0.0, 4.0, 4.0]);
    }

    #[test]
    fn threads_run_tasks_beside_each_other() {
        check(2, &[(0.0, 1, 10.0), (0.0, 1, 4.0), (0.0, 1, 4.0), (0.0, 1, 1.0)], &[0.0, 0.0, 4.0, 8.0]);
        // Both threads at once, and more than there are.
        check(2, &[(0.0, 1, 3.0), (0.0, 2, 3.0), (1.0, 1, 2.0), (0.0, 9, 1.0)], &[0.0, 3.0, 1.0, 6.0]);
    }

    #[test]
    fn old_gaps_are_forgotten() {
        let mut line = Timeline::new(1);
        (0..1000).for_each(|i| line.take(f64::from(i) * 2.0, 1, 1.0));
        assert!(line.steps.len() <= MAX_STEPS);
        let start = line.first(0.0, 1, 1.0);
        assert!((1900.0..1999.0).contains(&start), "{start}");
    }
}
