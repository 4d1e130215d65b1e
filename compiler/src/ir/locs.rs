//! Locations: where an operation came from, as data of the program.
//!
//! A location is not a span: a span is a place in the text that was just parsed and lives in a side table, a location
//! is part of the program and survives printing, passes and BEF. Interned; the common case (file, line, column) is
//! small. Nesting is finite by construction: a location may only refer to earlier ones.

use super::{AttrId, LocId, StrId};

/// What a location says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocKind {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:col)`.
    File {
        /// File name.
        file: StrId,
        /// From 1 (0 if not known).
        line: u32,
        /// From 1 (0 if not known).
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
        /// Where; [`LocKind::Unknown`] if not said.
        child: LocId,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// The place in the callee.
        callee: LocId,
        /// The place of the call.
        caller: LocId,
    },
    /// `loc(fused<metadata>[a, b])`.
    Fused {
        /// The parts.
        locs: Box<[LocId]>,
        /// The attribute in angle brackets.
        metadata: Option<AttrId>,
    },
}
