//! Interning of value names in a text, by hashing.
//!
//! A name is a place in the text; nothing is copied. Most names end in a number and most of those count up,
//! `%v7`, `%v8`, so the first slot for a name is the hash of the text before the number, plus the number.
//! Consecutive names are adjacent in the table, so a long function is as fast as many short ones. Collisions
//! are resolved by double hashing with a step that depends on the whole name.

use crate::syntax::token::Tok;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameId(u32);

/// A hash table of names, each with a `T`.
pub(super) struct NameTable<T> {
    /// Numbers of names from 1 on; 0 is free. The length is a power of two, and at least half of the slots
    /// are free.
    slots: Vec<u32>,
    rows: Vec<NameRow<T>>,
}

struct NameRow<T> {
    start: u32,
    end: u32,
    value: T,
}

/// Probe sequence of a name: the first slot and the step to the next ones.
struct Hash {
    first: usize,
    step: usize,
}

const MIN_SLOTS: usize = 64;

impl<T: Default> NameTable<T> {
    /// A table without names, with space for `n`.
    pub(super) fn with_capacity(n: usize) -> Self {
        let slots = vec![0; (2 * n).next_power_of_two().max(MIN_SLOTS)];
        NameTable { slots, rows: Vec::with_capacity(n) }
    }

    /// The id of the name at `tok`, which is added if new.
    pub(super) fn id(&mut self, tok: Tok, source: &str) -> NameId {
        let name = bytes(source, tok.start, tok.end);
        self.find(tok, name, tail(name), source)
    }

    /// The id of the name at `tok`; `None` if it ends in `#` and a number, or in too many digits.
    pub(super) fn plain_id(&mut self, tok: Tok, source: &str) -> Option<NameId> {
        let name = bytes(source, tok.start, tok.end);
        let tail = tail(name);
        let digits = name.len() - tail.stem;
        if digits >= MAX_DIGITS || digits > 0 && tail.stem > 0 && name[tail.stem - 1] == b'#' {
            return None;
        }
        Some(self.find(tok, name, tail, source))
    }

    fn find(&mut self, tok: Tok, name: &[u8], tail: Tail, source: &str) -> NameId {
        let Hash { first, step } = hash(name, tail);
        let mask = self.slots.len() - 1;
        let mut at = first & mask;
        while let Some(row) = self.slots[at].checked_sub(1) {
            let NameRow { start, end, value: _ } = self.rows[row as usize];
            if bytes(source, start, end) == name {
                return NameId(row);
            }
            at = (at + step) & mask;
        }
        let id = NameId(self.rows.len() as u32);
        self.rows.push(NameRow { start: tok.start, end: tok.end, value: T::default() });
        self.slots[at] = id.0 + 1;
        if self.rows.len() * 2 > self.slots.len() {
            self.grow(source);
        }
        id
    }

    fn grow(&mut self, source: &str) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for (i, row) in (1..).zip(&self.rows) {
            let name = bytes(source, row.start, row.end);
            let Hash { first, step } = hash(name, tail(name));
            let mut at = first & mask;
            while slots[at] != 0 {
                at = (at + step) & mask;
            }
            slots[at] = i;
        }
        self.slots = slots;
    }

    pub(super) fn at(&self, id: NameId) -> &T {
        &self.rows[id.0 as usize].value
    }

    pub(super) fn at_mut(&mut self, id: NameId) -> &mut T {
        &mut self.rows[id.0 as usize].value
    }

    /// The text of a name.
    pub(super) fn text<'s>(&self, id: NameId, source: &'s str) -> &'s str {
        let row = &self.rows[id.0 as usize];
        source.get(row.start as usize..row.end as usize).unwrap_or("")
    }

    /// All names, in the order of their first use.
    pub(super) fn ids(&self) -> impl Iterator<Item = NameId> + use<T> {
        (0..self.rows.len() as u32).map(NameId)
    }
}

#[inline]
fn bytes(source: &str, start: u32, end: u32) -> &[u8] {
    source.as_bytes().get(start as usize..end as usize).unwrap_or_default()
}

/// The number at the end of a name, and its position.
#[derive(Clone, Copy)]
struct Tail {
    stem: usize,
    number: u64,
}

/// Maximum number of digits of a tail; the last ones count.
const MAX_DIGITS: usize = 9;

#[inline]
fn tail(name: &[u8]) -> Tail {
    let (mut stem, mut number, mut unit) = (name.len(), 0, 1);
    while stem > 0 && name[stem - 1].is_ascii_digit() && name.len() - stem < MAX_DIGITS {
        stem -= 1;
        number += u64::from(name[stem] - b'0') * unit;
        unit *= 10;
    }
    Tail { stem, number }
}

#[inline]
fn hash(name: &[u8], tail: Tail) -> Hash {
    let mix = |hash: u64, next: u64| (hash.rotate_left(5) ^ next).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (eights, rest) = name[..tail.stem].as_chunks();
    let whole = eights.iter().fold(tail.stem as u64, |hash, next| mix(hash, u64::from_le_bytes(*next)));
    let whole = mix(whole, rest.iter().fold(0, |all, next| all << 8 | u64::from(*next)));
    let first = (whole >> 32).wrapping_add(tail.number);
    // Odd, so that the steps reach every slot.
    Hash { first: first as usize, step: (mix(whole, tail.number) >> 32) as usize | 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::token::{Kind, Mark};

    #[test]
    fn every_name_keeps_its_number() {
        let names: Vec<String> = (0..3000)
            .flat_map(|i| {
                [format!("v{i}"), format!("{i}"), format!("w0{i}"), format!("long.name.of_a_value{i}x")]
            })
            .collect();
        let source = names.concat();
        let mut table: NameTable<usize> = NameTable::with_capacity(0);
        for round in 0..2 {
            let mut start = 0;
            for (i, name) in names.iter().enumerate() {
                let end = start + name.len() as u32;
                let id = table.id(Tok { kind: Kind::Value, mark: Mark::Nothing, start, end }, &source);
                assert_eq!(table.text(id, &source), name);
                assert_eq!(*table.at(id), i * round);
                *table.at_mut(id) = i;
                start = end;
            }
        }
        assert_eq!(table.ids().count(), names.len());
    }
}
