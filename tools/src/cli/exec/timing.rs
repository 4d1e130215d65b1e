//! `--repeat`: the duration of calls.
//!
//! Wall time by the monotonic clock, CPU time of the whole process, that is of all threads together.
//! Percentiles use the nearest rank.

use std::fmt::Write;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Both clocks at one moment.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    wall: Instant,
    cpu: Duration,
}

impl Moment {
    /// The current moment.
    pub(super) fn now() -> Moment {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(cpu.tv_sec).unwrap_or(0);
        Moment { wall: Instant::now(), cpu: Duration::new(seconds, u32::try_from(cpu.tv_nsec).unwrap_or(0)) }
    }
}

/// The times of some calls.
#[derive(Default)]
pub(super) struct Times {
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Times {
    /// Adds a call that began at `start` and has just ended.
    pub(super) fn add(&mut self, start: Moment) {
        let end = Moment::now();
        self.wall.push(end.wall - start.wall);
        self.cpu.push(end.cpu.saturating_sub(start.cpu));
    }

    /// One line per clock, under the name of the function.
    pub(super) fn report(mut self, function: &str, n_warmups: u32) -> String {
        let mut text = format!("'{function}': {} calls after {n_warmups} to warm up\n", self.wall.len());
        for (clock, times) in [("wall", &mut self.wall), ("cpu ", &mut self.cpu)] {
            times.sort_unstable();
            let at = |percent| shown(percentile(times, percent));
            _ = writeln!(
                text,
                "  {clock} min {}  median {}  p90 {}  p99 {}",
                shown(times.first().copied().unwrap_or_default()),
                at(50),
                at(90),
                at(99)
            );
        }
        text
    }
}

/// The smallest of `sorted` that at least `percent` of 100 do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// A duration in a suitable unit.
fn shown(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    match time.as_nanos() {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.3} us", nanos / 1e3),
        1_000_000..1_000_000_000 => format!("{:.3} ms", nanos / 1e6),
        _ => format!("{:.3} s", nanos / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_nanos).collect();
        let check = |n: usize, percent, want| {
            assert_eq!(percentile(&times[..n], percent), Duration::from_nanos(want), "{percent} of {n}");
        };
        check(1, 50, 1);
        check(1, 99, 1);
        check(2, 50, 1);
        check(10, 90, 9);
        check(200, 50, 100);
        check(200, 99, 198);
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn times_are_shown_in_units_that_suit() {
        let check = |nanos, want: &str| assert_eq!(shown(Duration::from_nanos(nanos)), want);
        check(0, "0 ns");
        check(999, "999 ns");
        check(1_500, "1.500 us");
        check(2_000_000, "2.000 ms");
        check(61_000_000_000, "61.000 s");
    }
}
