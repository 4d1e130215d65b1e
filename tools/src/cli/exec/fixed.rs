//! TFRT's test allocator: 1024 bytes in all, with a line on standard error for each request.
//!
//! Small requests are neither counted nor reported.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use befrost_tensor::mem::{AllocError, Allocator, Block, Malloc};

use crate::cli::failure::tell;

/// The bytes that may be in use.
const BUDGET: usize = 1024;

/// Requests of up to this many bytes are not counted.
const UNCOUNTED: usize = 32;

/// The system's memory, whose blocks are as large as requested, with a budget.
pub(super) struct Fixed {
    /// The bytes that are left.
    left: Mutex<usize>,
}

impl Fixed {
    pub(super) fn new() -> Fixed {
        Fixed { left: Mutex::new(BUDGET) }
    }

    fn left(&self) -> MutexGuard<'_, usize> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allocator for Fixed {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        if size <= UNCOUNTED {
            return Malloc.allocate(size, align);
        }
        let mut left = self.left();
        if size > *left {
            let text =
                format!("Attempted to allocate {size} bytes. However current capacity is only {left}.");
            log('E', line!(), &text);
            return Err(AllocError::OverBudget { size, left: *left, budget: BUDGET });
        }
        let block = Malloc.allocate(size, align)?;
        *left = left.saturating_sub(block.size());
        log('I', line!(), &format!("Allocating {size} bytes. {left} remaining."));
        Ok(block)
    }

    fn release(&self, block: Block) {
        let size = block.size();
        Malloc.release(block);
        if size > UNCOUNTED {
            let mut left = self.left();
            *left = left.saturating_add(size);
            log('I', line!(), &format!("Freeing {size} bytes. {left} available."));
        }
    }
}

/// Writes a line with the prefix of TFRT's log, with the time as UTC.
fn log(level: char, line: u32, text: &str) {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (thread, time) = (thread::current().id(), date(time.as_micros()));
    tell(&format!("{level} {time} {thread:?} {}:{line}] {text}\n", file!()));
}

/// The time `micros` microseconds after the start of 1970, as `1970-01-01 00:00:00.000000`.
fn date(micros: u128) -> String {
    const PER_DAY: u128 = 24 * 60 * 60 * 1_000_000;
    let is_leap =
        |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut day = micros / PER_DAY;
    let mut year = 1970;
    while day >= 365 + u128::from(is_leap(year)) {
        day -= 365 + u128::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u128::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (micros, seconds) = (micros % 1_000_000, micros % PER_DAY / 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02}.{micros:06}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00:00.000000");
        assert_eq!(date(951_782_400_000_001), "2000-02-29 00:00:00.000001");
        assert_eq!(date(1_709_251_199_999_999), "2024-02-29 23:59:59.999999");
        assert_eq!(date(1_735_689_599_000_000), "2024-12-31 23:59:59.000000");
        assert_eq!(date(4_107_542_400_000_000), "2100-03-01 00:00:00.000000");
    }

    #[test]
    fn small_requests_are_not_counted() {
        let fixed = Fixed::new();
        let (small, large) = (fixed.allocate(32, 8).unwrap(), fixed.allocate(1000, 8).unwrap());
        assert_eq!(*fixed.left(), 24);
        let refused = fixed.allocate(33, 8).unwrap_err();
        assert_eq!(refused, AllocError::OverBudget { size: 33, left: 24, budget: 1024 });
        fixed.release(large);
        fixed.release(small);
        assert_eq!(*fixed.left(), 1024);
    }
}
