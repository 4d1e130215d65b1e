//! Copies of values between registers as two words.
//!
//! A value that is written in parts, tag and payload, and soon read as a whole defeats the processor's store
//! forwarding: the read waits until the parts have reached the cache, which costs more than the rest of a
//! small kernel. So registers are written and copied word by word.

#![allow(unsafe_code, reason = "copies bits where that is what copying means")]

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use super::Value;

/// Any bits, initialized or not: a part of a value may be padding.
type Words = [MaybeUninit<u64>; 2];

const _: () = assert!(size_of::<Words>() == size_of::<Value>() && align_of::<Words>() == align_of::<Value>());

#[doc(hidden)]
impl Value {
    /// Writes the value to `to` without dropping the previous content.
    ///
    /// # Safety
    /// `to` must be valid for writing.
    #[inline(always)]
    pub unsafe fn place(self, to: NonNull<Value>) {
        let value = ManuallyDrop::new(self);
        // SAFETY: both have the same size, and words may have any bits.
        let words: Words = unsafe { std::mem::transmute(value) };
        // SAFETY: the caller's contract; the alignment is the same. The words are those of a value, whose
        // ownership moves to `to`.
        unsafe { to.cast::<Words>().write(words) };
    }

    /// [`Value::place`] for a value that is next copied word by word: the compiler may not write it in parts.
    ///
    /// # Safety
    /// `to` must be valid for writing.
    #[inline(always)]
    pub(crate) unsafe fn place_to_copy(self, to: NonNull<Value>) {
        let value = ManuallyDrop::new(self);
        // SAFETY: both have the same size, and words may have any bits.
        let [first, second]: Words = unsafe { std::mem::transmute(value) };
        let to = to.cast::<MaybeUninit<u64>>();
        // SAFETY: the caller's contract; the alignment is the same. The words are those of a value, whose
        // ownership moves to `to`. Volatile, so that the compiler does not write the word in parts.
        unsafe { to.as_ptr().write_volatile(first) };
        // SAFETY: in bounds: a value is two words.
        let to = unsafe { to.add(1) };
        // SAFETY: as above.
        unsafe { to.write(second) };
    }

    /// Writes a clone to `to` without dropping the previous content.
    ///
    /// # Safety
    /// `to` must be valid for writing.
    #[inline(always)]
    pub unsafe fn copy_to(&self, to: NonNull<Value>) {
        if !self.is_plain() {
            // SAFETY: the caller's contract.
            return unsafe { to.write(self.clone()) };
        }
        // SAFETY: the caller's contract. A value that owns nothing may be duplicated.
        unsafe { self.copy_words_to(to) };
    }

    /// Writes the same words to `to`.
    ///
    /// # Safety
    /// `to` must be valid for writing, and at most one of the two values may be used if it owns something.
    #[inline(always)]
    unsafe fn copy_words_to(&self, to: NonNull<Value>) {
        let words = NonNull::from(self).cast::<MaybeUninit<u64>>();
        // SAFETY: in bounds: a value is two words.
        let second = unsafe { words.add(1) };
        // SAFETY: a reference can be read, and words may have any bits. Volatile, so that the compiler does
        // not read both at once.
        let first = unsafe { words.as_ptr().read_volatile() };
        // SAFETY: as above.
        let words: Words = [first, unsafe { second.as_ptr().read_volatile() }];
        // SAFETY: the caller's contract.
        unsafe { to.cast::<Words>().write(words) };
    }

    /// If the value owns nothing and is not `Empty`, writes a copy to `to` without dropping the previous
    /// content. Returns whether it did.
    ///
    /// # Safety
    /// `to` must be valid for writing.
    #[inline(always)]
    #[must_use]
    pub unsafe fn copy_plain_to(&self, to: NonNull<Value>) -> bool {
        let copies = self.is_plain() && !matches!(self, Value::Empty);
        if copies {
            // SAFETY: the caller's contract. The value owns nothing.
            unsafe { self.copy_words_to(to) };
        }
        copies
    }

    /// If the value is concrete and owns nothing, writes a copy to `to` without dropping the previous
    /// content. Returns whether it did.
    ///
    /// # Safety
    /// `to` must be valid for writing.
    #[inline(always)]
    #[must_use]
    pub unsafe fn copy_concrete_to(&self, to: NonNull<Value>) -> bool {
        let copies = self.is_plain() && self.is_concrete();
        if copies {
            // SAFETY: the caller's contract.
            unsafe { self.copy_to(to) };
        }
        copies
    }

    /// Drops the content and sets it to `Empty`.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.release();
        self.overwrite(Value::Empty);
    }

    /// Sets it to `value` without dropping the previous content.
    #[inline(always)]
    pub fn overwrite(&mut self, value: Value) {
        std::mem::forget(std::mem::replace(self, value));
    }

    /// Drops the content if it owns something; otherwise leaves it unchanged.
    #[inline(always)]
    pub fn release(&mut self) {
        if !self.is_plain() {
            *self = Value::Empty;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorCode};

    #[test]
    fn values_arrive_as_they_were() {
        let error = Value::Error(Error::new(ErrorCode::Unknown, "bad", Vec::new()));
        for value in [Value::Dead, Value::I1(true), Value::I32(-7), Value::F64(0.5), Value::Chain, error] {
            let mut slots = [Value::Empty, Value::Empty, Value::Empty];
            // SAFETY: slots can be written, and nothing is there.
            unsafe { value.clone().place(NonNull::from(&mut slots[1])) };
            // SAFETY: as above.
            unsafe { std::mem::take(&mut slots[1]).place_to_copy(NonNull::from(&mut slots[0])) };
            let [first, second, third] = &mut slots;
            // SAFETY: as above.
            unsafe { first.copy_to(NonNull::from(&mut *second)) };
            // SAFETY: as above.
            let is_copied = unsafe { second.copy_concrete_to(NonNull::from(&mut *third)) };
            assert_eq!(is_copied, value.is_plain() && value.is_concrete());
            if !is_copied {
                *third = second.clone();
            }
            assert_eq!([&slots[0], &slots[2]].map(Value::to_string), [&value, &value].map(Value::to_string));
            slots.iter_mut().for_each(Value::clear);
            assert!(slots.iter().all(|slot| matches!(slot, Value::Empty)));
        }
    }
}
