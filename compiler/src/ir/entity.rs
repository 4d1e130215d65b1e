//! Typed `u32` ids and the two containers that they index.
//!
//! An id refers to a row of exactly one table. Names of ids end in `Id` (`OpId`), those of payloads in `Data`
//! (`OpData`). `Debug` prints the id as the text form does (`%3`, `op7`), so that logs and dumps agree.
//! [`Arena`] owns payloads and hands out ids in order; [`SideTable`] holds facts that may be absent (spans,
//! names) and grows on demand. Ids are never reused: erasing an entity leaves an unreachable row.

use crate::diag::Span;
use std::marker::PhantomData;

/// An index into one particular table.
pub trait EntityId: Copy + Eq {
    /// The id of row `index`.
    fn new(index: usize) -> Self;
    /// The row number.
    fn index(self) -> usize;
}

/// Declares ids: `entity! { /// Doc. OpId = "op"; }`.
macro_rules! entity {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $crate::ir::entity::EntityId for $name {
            #[inline]
            fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize, "too many entities");
                $name(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::ir::entity::Absent for $name {
            const ABSENT: Self = $name(u32::MAX);
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}
pub(crate) use entity;

/// `Option<Id>` in four bytes, for storage; signatures use plain `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackedOption<K>(u32, PhantomData<K>);

impl<K: EntityId> PackedOption<K> {
    /// No id.
    pub const NONE: Self = PackedOption(u32::MAX, PhantomData);

    /// The plain option.
    #[inline]
    pub fn get(self) -> Option<K> {
        if self.0 == u32::MAX { None } else { Some(K::new(self.0 as usize)) }
    }
}

impl<K: EntityId> From<Option<K>> for PackedOption<K> {
    #[inline]
    fn from(id: Option<K>) -> Self {
        id.map_or(Self::NONE, |id| PackedOption(id.index() as u32, PhantomData))
    }
}

impl<K: EntityId> From<K> for PackedOption<K> {
    #[inline]
    fn from(id: K) -> Self {
        PackedOption(id.index() as u32, PhantomData)
    }
}

impl<K: EntityId + std::fmt::Debug> std::fmt::Debug for PackedOption<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

/// A table that owns its rows. Ids are assigned in order and stay valid.
#[derive(Clone)]
pub struct Arena<K, V> {
    rows: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for Arena<K, V> {
    fn default() -> Self {
        Arena { rows: Vec::new(), key: PhantomData }
    }
}

impl<K: EntityId, V> Arena<K, V> {
    /// Adds a row.
    #[inline]
    pub fn push(&mut self, value: V) -> K {
        let id = K::new(self.rows.len());
        self.rows.push(value);
        id
    }

    /// The id of the next [`Arena::push`].
    #[inline]
    pub fn next_id(&self) -> K {
        K::new(self.rows.len())
    }

    /// Number of rows ever added.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reserves space for `n` more rows.
    pub fn reserve(&mut self, n: usize) {
        self.rows.reserve(n);
    }

    /// All rows with their ids, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.rows.iter().enumerate().map(|(i, v)| (K::new(i), v))
    }
}

impl<K: EntityId, V> std::ops::Index<K> for Arena<K, V> {
    type Output = V;
    #[inline]
    fn index(&self, id: K) -> &V {
        &self.rows[id.index()]
    }
}

impl<K: EntityId, V> std::ops::IndexMut<K> for Arena<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.rows[id.index()]
    }
}

/// A type with a spare value that means absence: an `Option` without a discriminant.
pub trait Absent: Clone + PartialEq {
    /// The spare value.
    const ABSENT: Self;
}

impl Absent for u32 {
    const ABSENT: Self = u32::MAX;
}

impl Absent for Span {
    const ABSENT: Self = Span { start: u32::MAX, end: u32::MAX };
}

/// A dense table of optional facts about entities.
#[derive(Clone)]
pub struct SideTable<K, V> {
    rows: Vec<V>,
    key: PhantomData<K>,
}

impl<K, V> Default for SideTable<K, V> {
    fn default() -> Self {
        SideTable { rows: Vec::new(), key: PhantomData }
    }
}

impl<K: EntityId, V: Absent> SideTable<K, V> {
    /// Sets the value for `id`.
    #[inline]
    pub fn set(&mut self, id: K, value: V) {
        let at = id.index();
        if at == self.rows.len() {
            self.rows.push(value);
            return;
        }
        if at > self.rows.len() {
            self.rows.resize(at + 1, V::ABSENT);
        }
        self.rows[at] = value;
    }

    /// The value for `id`.
    #[inline]
    pub fn at(&self, id: K) -> Option<&V> {
        self.rows.get(id.index()).filter(|v| **v != V::ABSENT)
    }

    /// Removes the value for `id`.
    pub fn unset(&mut self, id: K) {
        if let Some(row) = self.rows.get_mut(id.index()) {
            *row = V::ABSENT;
        }
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Reserves space for `n` ids.
    pub fn reserve(&mut self, n: usize) {
        self.rows.reserve(n.saturating_sub(self.rows.len()));
    }
}
