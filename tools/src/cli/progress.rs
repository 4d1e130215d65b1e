//! A progress bar on standard error, while a large file is read or written.
//!
//! Only a terminal gets it, and only if the work takes more than a second. It is erased at the end.

use std::io::{IsTerminal, Read, Result, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use super::failure::tell;

/// The time before the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two changes.
const INTERVAL: Duration = Duration::from_millis(100);
/// The length of the full bar.
const WIDTH: usize = 40;

/// A stream whose bytes are counted.
pub(super) struct Metered<T> {
    stream: T,
    /// Reading or writing, and what.
    title: String,
    n_done: usize,
    n_all: usize,
    /// The earliest time of the next change; `None` if there is no bar.
    next: Option<Instant>,
    is_visible: bool,
}

impl<T> Metered<T> {
    /// A stream of `n_all` bytes.
    pub(super) fn new(stream: T, title: String, n_all: usize) -> Metered<T> {
        let next = std::io::stderr().is_terminal().then(|| Instant::now() + PATIENCE);
        Metered { stream, title, n_done: 0, n_all, next, is_visible: false }
    }

    fn advance(&mut self, n: usize) {
        self.n_done += n;
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now >= next {
            tell(&format!("\r{}", bar(&self.title, self.n_done, self.n_all)));
            (self.next, self.is_visible) = (Some(now + INTERVAL), true);
        }
    }
}

impl<T> Drop for Metered<T> {
    fn drop(&mut self) {
        if self.is_visible {
            // Carriage return, then erase the line.
            tell("\r\x1b[K");
        }
    }
}

impl<T: Read> Read for Metered<T> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let n = self.stream.read(bytes)?;
        self.advance(n);
        Ok(n)
    }
}

impl<T: Write> Write for Metered<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let n = self.stream.write(bytes)?;
        self.advance(n);
        Ok(n)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}

impl<T: Seek> Seek for Metered<T> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.stream.seek(to)
    }
}

fn bar(title: &str, n_done: usize, n_all: usize) -> String {
    let share = (n_done as f64 / n_all.max(1) as f64).min(1.0);
    let full = (share * WIDTH as f64) as usize;
    let (full, percent) = ("=".repeat(full), (share * 100.0) as usize);
    format!("{title} [{full:<WIDTH$}] {percent:>3} % of {} MB", n_all / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert_eq!(bar("writing x.bef", 0, 0).matches('=').count(), 0);
        let half = bar("writing x.bef", 300_000_000, 600_000_000);
        assert_eq!(half, format!("writing x.bef [{:<40}]  50 % of 600 MB", "=".repeat(20)));
        assert_eq!(bar("writing x.bef", 7, 6).matches('=').count(), WIDTH);
    }
}
