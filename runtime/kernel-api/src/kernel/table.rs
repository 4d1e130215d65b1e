//! [`KernelTable`]: the part of a function's plan that its kernels read while they run.

use super::frame::KernelFn;
use crate::value::Value;

/// A range of one of a plan's lists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Number of the first item.
    pub first: u32,
    /// The number of items.
    pub n: u32,
}

impl Span {
    /// Where it begins, and how long it is.
    #[inline(always)]
    pub fn bounds(self) -> (usize, usize) {
        (self.first as usize, self.n as usize)
    }

    /// Its items; none if the list is too short.
    #[inline]
    pub fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.first as usize..).and_then(|rest| rest.get(..self.n as usize)).unwrap_or_default()
    }

    /// True if there are no items.
    pub fn is_empty(self) -> bool {
        self.n == 0
    }

    /// Appends items to a list.
    pub fn push<T>(list: &mut Vec<T>, items: impl Iterator<Item = T>) -> Span {
        let first = list.len() as u32;
        list.extend(items);
        Span { first, n: list.len() as u32 - first }
    }
}

/// Whether a number is in a set with 32 bits a word.
#[inline]
pub(crate) fn is_in(set: &[u32], i: usize) -> bool {
    set.get(i / 32).is_some_and(|word| word >> (i % 32) & 1 != 0)
}

/// The lists of a function's kernels. They are shared by the kernels, which have spans of them.
pub struct KernelTable {
    /// Number of the function.
    pub function: u32,
    /// Of a frame.
    pub n_slots: usize,
    /// Numbers.
    pub lists: Box<[u32]>,
    /// Values of attributes.
    pub immediates: Box<[Value]>,
    /// By kernel index.
    pub kernels: Box<[KernelEntry]>,
    /// In the line: the slots that steps free; in `lists`.
    pub retired: Box<[Span]>,
}

/// A kernel of a function, apart from what its [`Step`](super::step::Step) has at hand.
#[derive(Clone, Copy, Debug)]
pub struct KernelEntry {
    /// The code.
    pub run: KernelFn,
    /// The slots of what is passed to the kernel; in `lists`.
    pub operands: Span,
    /// In the line: the operands that the kernel may keep, as a set of 32 bits a word; in `lists`.
    pub yields: Span,
    /// The registers that must not be an error or dead, unless the kernel finds out about all by reading
    /// them; in `lists`.
    pub checked: Span,
    /// Attribute ids; in `lists`.
    pub attrs: Span,
    /// The attributes that are scalars as values, the others as nothing; in `immediates`.
    pub immediates: Span,
    /// Function ids; in `lists`.
    pub functions: Span,
    /// What it has made of its use, by number in the file.
    pub prepared: Option<u32>,
    /// Whether it stores all of its results or, when it is not done, none.
    pub stores_all: bool,
}
