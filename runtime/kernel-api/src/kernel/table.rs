//! [`KernelTable`]: the part of a function's plan that running kernels read.

use std::sync::Arc;

use super::frame::KernelFn;
use crate::device::DeviceBuffer;
use crate::sync::{Mutex, lock};
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
    /// Start and length.
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

/// True if `i` is in a set with 32 bits per word.
#[inline]
pub(crate) fn is_in(set: &[u32], i: usize) -> bool {
    set.get(i / 32).is_some_and(|word| word >> (i % 32) & 1 != 0)
}

/// The lists of a function's kernels. Each kernel has spans of them.
pub struct KernelTable {
    /// Number of the function.
    pub function: u32,
    /// Number of slots of a frame.
    pub n_slots: usize,
    /// Numbers of slots, attributes and functions, and words of sets.
    pub lists: Box<[u32]>,
    /// The attributes of all kernels as values.
    pub immediates: Box<[Value]>,
    /// By kernel index.
    pub kernels: Box<[KernelEntry]>,
    /// In the sequential plan: the slots that each freeing step empties; in `lists`.
    pub retired: Box<[Span]>,
    /// The kernels that are launched.
    pub launches: Box<[LaunchEntry]>,
}

/// A kernel of the host on a device with streams.
#[derive(Clone, Debug)]
pub struct LaunchEntry {
    /// Its code.
    pub run: KernelFn,
    /// The stream of the device.
    pub stream: u32,
    /// By operand: whether it is read in the device's memory.
    pub operands: Box<[bool]>,
    /// By operand: the copy of a constant in the device's memory.
    pub constants: Box<[Option<Arc<StagedConstant>>]>,
    /// By result: whether it is left in the device's memory.
    pub results: Box<[bool]>,
}

/// A constant in the memory of a device, from the first launch that reads it on.
#[derive(Debug, Default)]
pub struct StagedConstant {
    buffer: Mutex<Option<Value>>,
}

impl StagedConstant {
    /// The buffer; made by `stage` if there is none so far, or a fault has spoiled it.
    pub(crate) fn get_or_stage(&self, stage: impl FnOnce() -> Value) -> Value {
        let content =
            |value: &Value| value.downcast_ref::<DeviceBuffer>().map(|buffer| buffer.content().clone());
        let mut kept = lock(&self.buffer);
        let is_spoiled = |value: &Value| {
            content(value).is_none_or(|content| matches!(content.get(), Some(Value::Error(_))))
        };
        match &*kept {
            Some(value) if !is_spoiled(value) => value.clone(),
            _ => {
                let staged = stage();
                *kept = content(&staged).map(|_| staged.clone());
                staged
            }
        }
    }
}

/// A kernel of a function, except for the data in its [`Step`](super::step::Step).
#[derive(Clone, Copy, Debug)]
pub struct KernelEntry {
    /// The code.
    pub run: KernelFn,
    /// The slots of the operands that are passed; in `lists`.
    pub operands: Span,
    /// In the sequential plan: the operands that the kernel may keep, as a set with 32 bits per word; in
    /// `lists`.
    pub last_uses: Span,
    /// The registers that must not be an error or dead; none if the kernel checks all of them by reading; in
    /// `lists`.
    pub checked: Span,
    /// Attribute ids; in `lists`.
    pub attrs: Span,
    /// The attributes: scalars as values, others as [`Value::Empty`]; in `immediates`.
    pub immediates: Span,
    /// Function ids; in `lists`.
    pub functions: Span,
    /// Number of the prepared data in the file.
    pub prepared: Option<u32>,
    /// The device, by its number in the request's set.
    pub device: u16,
    /// Its number in `launches`, if it is launched on a stream.
    pub launch: Option<u32>,
    /// True if it stores all results when it succeeds and none when it fails.
    pub stores_all: bool,
}
