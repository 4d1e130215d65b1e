//! Locations: source positions of operations, as part of the program.
//!
//! A location is not a span. A span is a place in the text that was just parsed, held in a side table; a
//! location is part of the program and survives printing, passes and BEF. Locations are interned; the common
//! case (file, line, column) is small. Nesting is finite by construction: a location may only refer to
//! earlier ones.
//!
//! Most locations are places in the text being parsed, one per op. These are not interned: the id is the
//! offset of the byte with the top bit set, from which [`SourceText`] computes line and column.

use super::{AttrId, LocId, StrId, names};
use std::sync::Arc;

/// The contents of a location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocKind {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:col)`.
    File {
        /// File name.
        file: StrId,
        /// From 1; 0 if unknown.
        line: u32,
        /// From 1; 0 if unknown.
        col: u32,
    },
    /// `loc("file":line:col to line:col)`.
    Range {
        /// File name.
        file: StrId,
        /// First line and column.
        start: (u32, u32),
        /// Last line and column.
        end: (u32, u32),
    },
    /// `loc("name"(child))`.
    Name {
        /// The name.
        name: StrId,
        /// The place; [`LocKind::Unknown`] if absent.
        child: LocId,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// The place in the callee.
        callee: LocId,
        /// The place of the call.
        caller: LocId,
    },
    /// `loc(fused<metadata>[a, b])`. Made by [`super::Context::fused_loc`], which normalizes it.
    Fused {
        /// The parts.
        locs: Box<[LocId]>,
        /// The attribute in angle brackets.
        metadata: Option<AttrId>,
    },
}

/// The text that a module was parsed from, for locations of its bytes.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// The file's name.
    pub file: StrId,
    /// The whole text.
    pub text: Arc<str>,
    /// Offsets of the beginnings of lines.
    pub line_starts: Arc<[u32]>,
}

impl Default for SourceText {
    /// An empty text.
    fn default() -> Self {
        SourceText { file: names::EMPTY, text: Arc::default(), line_starts: Arc::default() }
    }
}

const PLACE: u32 = 1 << 31;

impl LocId {
    /// True if the location is a place in the parsed text.
    pub fn is_place(self) -> bool {
        self.0 & PLACE != 0
    }
}

impl SourceText {
    /// The location of a byte of the text.
    #[inline]
    pub fn at(&self, offset: u32) -> Option<LocId> {
        (offset as usize <= self.text.len() && offset < PLACE - 1 && !self.line_starts.is_empty())
            .then_some(LocId(offset | PLACE))
    }

    pub(super) fn id(&self, file: StrId, line: u32, col: u32) -> Option<LocId> {
        if file != self.file {
            return None;
        }
        let line = line.checked_sub(1)? as usize;
        let offset = self.line_starts.get(line)?.checked_add(col.checked_sub(1)?)?;
        let inside =
            self.line_starts.get(line + 1).map_or(offset as usize <= self.text.len(), |next| offset < *next);
        if inside { self.at(offset) } else { None }
    }

    /// Line and column of a location in the parsed text. Constant time if it is on line `near` or the next
    /// one.
    pub fn line_and_column(&self, id: LocId, near: u32) -> Option<(u32, u32)> {
        if !id.is_place() {
            return None;
        }
        let offset = id.0 & !PLACE;
        let holds = |line: usize| {
            self.line_starts.get(line.wrapping_sub(1)).is_some_and(|start| *start <= offset)
                && self.line_starts.get(line).is_none_or(|next| offset < *next)
        };
        let near = near as usize;
        let line = if holds(near) {
            near
        } else if holds(near + 1) {
            near + 1
        } else {
            self.line_starts.partition_point(|s| *s <= offset)
        };
        let start = self.line_starts.get(line.checked_sub(1)?)?;
        Some((line as u32, offset - start + 1))
    }

    pub(super) fn kind(&self, id: LocId) -> Option<LocKind> {
        let (line, col) = self.line_and_column(id, 0)?;
        Some(LocKind::File { file: self.file, line, col })
    }
}
