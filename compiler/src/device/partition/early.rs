//! The limit of what a part receives before it is read.
//!
//! ```text
//! order of a part:   recv a, read a, recv b, read b, recv c, read c        limit: two values
//!                            ╰──────────────────────▶╯ c is received after a was read
//! ```
//!
//! A recv takes what was sent as soon as it was sent, however late it is read: a part that is behind the
//! others keeps all that they send it. With a limit of bytes (`recv-memory`), a recv waits for the first
//! reader of an earlier one, so that what is received and not yet read is within the limit. A single value
//! may exceed it.
//!
//! The readers are earlier in the order of the function, in which parts cannot wait for each other in a
//! circle. The limit counts for each function of a part by itself, and in a loop for each iteration.

use std::collections::VecDeque;

use crate::ir::ValueId;

/// The values that a function of a part has received, in its order.
#[derive(Default)]
pub(super) struct EarlyValues {
    /// The bytes of each value, and a result of its first reader once there is one.
    window: VecDeque<(u64, Option<ValueId>)>,
    /// The bytes in the window.
    bytes: u64,
}

impl EarlyValues {
    /// Adds a value of so many bytes. Returns a result of the op that has to be complete before.
    pub(super) fn receive(&mut self, bytes: u64, limit: u64) -> Option<ValueId> {
        let mut after = None;
        while self.bytes.saturating_add(bytes) > limit {
            // A value without a reader so far is read by the same op as this one.
            let Some(&(earlier, Some(reader))) = self.window.front() else { break };
            after = Some(reader);
            self.bytes -= earlier;
            self.window.pop_front();
        }
        self.window.push_back((bytes, None));
        self.bytes = self.bytes.saturating_add(bytes);
        after
    }

    /// Records that an op with this result reads all that was received.
    pub(super) fn read(&mut self, result: ValueId) {
        for (_, reader) in self.window.iter_mut().rev() {
            if reader.is_some() {
                return;
            }
            *reader = Some(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_waits_for_the_reader_that_makes_room() {
        let mut early = EarlyValues::default();
        let reader = |i| ValueId(i);
        for i in 0..2 {
            assert_eq!(early.receive(40, 100), None);
            early.read(reader(i));
        }
        assert_eq!(early.receive(40, 100), Some(reader(0)));
        early.read(reader(2));
        assert_eq!(early.receive(100, 100), Some(reader(2)), "all that was before");
        // Two operands of one op: the second does not wait for the op itself.
        assert_eq!(early.receive(1, 100), None);
        early.read(reader(3));
        assert_eq!(early.receive(500, 100), Some(reader(3)), "alone it may exceed the limit");
    }
}
