//! The pool of locations.
//!
//! A program has about as many locations as kernels. Nearly all of them are positions in one file, in the
//! order of the text. Such a position is greater than all before it, so it is new, and only its record is
//! stored; no lookup is needed. At the first position out of order, all positions are put into an index.

use crate::layout::{
    LOCATION_A_MAX, LOCATION_KIND_BITS, LocationEndRec, LocationId, LocationKind, LocationRec,
    MAX_LOCATION_DEPTH, MAX_LOCATION_NODES,
};

use super::pool::FastMap;

/// The kind in a record.
const KIND_MASK: u32 = (1 << LOCATION_KIND_BITS) - 1;

/// Locations by id, each of them once.
#[derive(Default)]
pub(super) struct Locations {
    /// With provisional strings; fused locations lack position and number of their parts.
    recs: Vec<LocationRec>,
    /// The parts of fused locations, by ascending id.
    parts: Vec<(LocationId, Box<[LocationId]>)>,
    /// The ends of ranges, by ascending id.
    ends: Vec<LocationEndRec>,
    /// Depth and number of nodes of locations that have parts.
    trees: FastMap<LocationId, (u8, u32)>,
    /// All locations except file positions.
    others: FastMap<Key, LocationId>,
    /// The file positions among the first `n_indexed` locations.
    places: FastMap<LocationRec, LocationId>,
    n_indexed: usize,
    /// The greatest file position.
    last: Option<(u32, u32, u32)>,
}

/// The identity of a location other than a file position.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    rec: LocationRec,
    parts: Box<[LocationId]>,
    end: Option<(u32, u32)>,
}

/// The error for a location that nests too deep, or has too many parts.
pub(super) struct TooLarge;

/// The tables of a file.
pub(super) struct LocationTables {
    pub(super) recs: Vec<LocationRec>,
    pub(super) parts: Vec<(LocationId, Box<[LocationId]>)>,
    pub(super) ends: Vec<LocationEndRec>,
}

impl Locations {
    /// A position in a file.
    pub(super) fn place(&mut self, file: u32, line: u32, col: u32) -> Result<LocationId, TooLarge> {
        let rec = record(LocationKind::File, file, line, col)?;
        let order = Some((rec.kind_a, line, col));
        if order > self.last {
            self.last = order;
            return Ok(self.push(rec));
        }
        for (i, rec) in self.recs.iter().enumerate().skip(self.n_indexed) {
            let id = LocationId(i as u32);
            if is_file(rec) && self.ends.binary_search_by_key(&id.0, |end| end.location).is_err() {
                self.places.insert(*rec, id);
            }
        }
        self.n_indexed = self.recs.len();
        if let Some(&id) = self.places.get(&rec) {
            return Ok(id);
        }
        let id = self.push(rec);
        self.places.insert(rec, id);
        self.n_indexed = self.recs.len();
        Ok(id)
    }

    /// A range in a file.
    pub(super) fn range(
        &mut self,
        file: u32,
        start: (u32, u32),
        end: (u32, u32),
    ) -> Result<LocationId, TooLarge> {
        let rec = record(LocationKind::File, file, start.0, start.1)?;
        Ok(self.other(Key { rec, parts: Box::default(), end: Some(end) }))
    }

    /// Any other location. `children` are the locations that it refers to.
    pub(super) fn node(
        &mut self,
        kind: LocationKind,
        (a, b, c): (u32, u32, u32),
        children: &[LocationId],
    ) -> Result<LocationId, TooLarge> {
        let (depth, n_nodes) = self.size_above(children);
        if depth > MAX_LOCATION_DEPTH || n_nodes > MAX_LOCATION_NODES {
            return Err(TooLarge);
        }
        let parts = if kind == LocationKind::Fused { children.into() } else { Box::default() };
        let id = self.other(Key { rec: record(kind, a, b, c)?, parts, end: None });
        if depth > 0 {
            self.trees.insert(id, (depth, n_nodes));
        }
        Ok(id)
    }

    /// Depth and number of nodes of a location with these children.
    fn size_above(&self, children: &[LocationId]) -> (u8, u32) {
        let (mut depth, mut n_nodes) = (0u8, 1u32);
        for child in children {
            let (child_depth, child_nodes) = self.trees.get(child).copied().unwrap_or((0, 1));
            depth = depth.max(child_depth.saturating_add(1));
            n_nodes = n_nodes.saturating_add(child_nodes);
        }
        (depth, n_nodes)
    }

    /// True if a location with these children is within the limits.
    pub(super) fn fits(&self, children: &[LocationId]) -> bool {
        let (depth, n_nodes) = self.size_above(children);
        depth <= MAX_LOCATION_DEPTH && n_nodes <= MAX_LOCATION_NODES
    }

    /// The innermost callee, or first part, of a location: a place, or a name of a place.
    pub(super) fn nearest(&self, mut id: LocationId) -> LocationId {
        const CALL_SITE: u32 = LocationKind::CallSite as u32;
        const FUSED: u32 = LocationKind::Fused as u32;
        const NAME: u32 = LocationKind::Name as u32;
        // A child is older than its parent.
        while let Some(rec) = self.recs.get(id.index()) {
            let inner = match rec.kind_a & KIND_MASK {
                CALL_SITE => LocationId(rec.b),
                NAME if self.trees.get(&id).is_some_and(|(depth, _)| *depth > 1) => LocationId(rec.b),
                FUSED => match self.parts.binary_search_by_key(&id, |(fused, _)| *fused) {
                    Ok(at) => self.parts[at].1[0],
                    Err(_) => break,
                },
                _ => break,
            };
            if inner >= id {
                break;
            }
            id = inner;
        }
        id
    }

    /// True if the location exists.
    pub(super) fn contains(&self, id: LocationId) -> bool {
        id.index() < self.recs.len()
    }

    fn other(&mut self, key: Key) -> LocationId {
        if let Some(&id) = self.others.get(&key) {
            return id;
        }
        let id = self.push(key.rec);
        if !key.parts.is_empty() {
            self.parts.push((id, key.parts.clone()));
        }
        self.ends.extend(key.end.map(|(line, col)| LocationEndRec { location: id.0, line, col }));
        self.others.insert(key, id);
        id
    }

    fn push(&mut self, rec: LocationRec) -> LocationId {
        // Ids beyond 2^32 are refused when the table is assembled.
        let id = LocationId(self.recs.len() as u32);
        self.recs.push(rec);
        id
    }

    pub(super) fn into_tables(self) -> LocationTables {
        let Locations { recs, parts, ends, trees: _, others: _, places: _, n_indexed: _, last: _ } = self;
        LocationTables { recs, parts, ends }
    }
}

fn is_file(rec: &LocationRec) -> bool {
    rec.kind_a & KIND_MASK == LocationKind::File as u32
}

fn record(kind: LocationKind, a: u32, b: u32, c: u32) -> Result<LocationRec, TooLarge> {
    if a > LOCATION_A_MAX {
        Err(TooLarge)
    } else {
        Ok(LocationRec { kind_a: kind as u32 | a << LOCATION_KIND_BITS, b, c })
    }
}
