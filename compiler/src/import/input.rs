//! Input for protobuf's decoder.
//!
//! A file is read in order, and each large field into separate memory: the file is never in memory as a
//! whole, each tensor is aligned, and tensors can be dropped one by one. The fields of a mapped file are
//! slices of it.

use prost::bytes::{Buf, Bytes};
use std::io::{Error, Read};

/// Bytes read at a time, unless a larger field is read.
const WINDOW: usize = 64 << 10;

/// A file, read from its beginning to its end.
pub(super) struct Input<R> {
    file: R,
    /// Number of bytes of the file after the window.
    n_behind: usize,
    window: Vec<u8>,
    /// Position of the first undecoded byte of the window. It exists unless the file is at its end.
    at: usize,
    /// The first error. From there on all bytes are 0, which is no valid message.
    error: Option<Error>,
}

impl<R: Read> Input<R> {
    /// Input from the first `len` bytes of a file.
    pub(super) fn new(file: R, len: usize) -> Input<R> {
        let mut input = Input { file, n_behind: len, window: Vec::new(), at: 0, error: None };
        input.refill();
        input
    }

    /// The error that ended the reading early.
    pub(super) fn into_error(self) -> Option<Error> {
        self.error
    }

    /// Reads the next bytes if all of the window is decoded.
    fn refill(&mut self) {
        if self.at == self.window.len() {
            let mut window = std::mem::take(&mut self.window);
            window.resize(WINDOW.min(self.n_behind), 0);
            self.read(&mut window);
            (self.window, self.at) = (window, 0);
        }
    }

    fn read(&mut self, bytes: &mut [u8]) {
        self.n_behind -= bytes.len();
        if self.error.is_none() {
            self.error = self.file.read_exact(bytes).err();
        }
        if self.error.is_some() {
            bytes.fill(0);
        }
    }
}

/// A file in memory, which is shared by its large fields.
pub(super) fn shared(file: Box<dyn AsRef<[u8]> + Send>) -> Bytes {
    struct Owner(Box<dyn AsRef<[u8]> + Send>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref()
        }
    }
    Bytes::from_owner(Owner(file))
}

impl<R: Read> Buf for Input<R> {
    fn remaining(&self) -> usize {
        self.chunk().len() + self.n_behind
    }

    fn chunk(&self) -> &[u8] {
        &self.window[self.at..]
    }

    fn advance(&mut self, mut n: usize) {
        assert!(n <= self.remaining(), "as the trait demands");
        loop {
            let here = n.min(self.chunk().len());
            self.at += here;
            n -= here;
            self.refill();
            if n == 0 {
                return;
            }
        }
    }

    fn copy_to_bytes(&mut self, len: usize) -> Bytes {
        assert!(len <= self.remaining(), "as the trait demands");
        let mut bytes = vec![0; len];
        let (here, behind) = bytes.split_at_mut(len.min(self.chunk().len()));
        here.copy_from_slice(&self.chunk()[..here.len()]);
        self.at += here.len();
        self.read(behind);
        self.refill();
        bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_come_in_order() {
        let file: Vec<u8> = (0..3 * WINDOW + 7).map(|i| (i % 251) as u8).collect();
        let mut input = Input::new(&file[..], file.len());
        let mut found = Vec::new();
        // Within the window, over its end, to its end, and skipped.
        for n in [1, 10, WINDOW, 0, WINDOW - 11, 5] {
            found.extend_from_slice(&input.copy_to_bytes(n));
        }
        input.advance(WINDOW - 4);
        assert_eq!(found[..], file[..2 * WINDOW + 5]);
        assert_eq!((input.remaining(), input.chunk()[0]), (6, file[3 * WINDOW + 1]));
        input.advance(6);
        assert!(!input.has_remaining() && input.chunk().is_empty() && input.into_error().is_none());
    }

    #[test]
    fn a_file_that_ends_early_is_an_error() {
        let mut input = Input::new(&[7; 100][..], 200);
        assert_eq!(&input.copy_to_bytes(200)[..], [0; 200]);
        assert!(input.into_error().is_some());
    }
}
