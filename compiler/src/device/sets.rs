//! Disjoint sets of nodes, for what has to share a device.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Disjoint sets of nodes. The number of a set is that of its first node.
pub(super) struct Sets<T> {
    number: FxHashMap<T, usize>,
    parent: Vec<usize>,
}

impl<T> Default for Sets<T> {
    fn default() -> Sets<T> {
        Sets { number: FxHashMap::default(), parent: Vec::new() }
    }
}

impl<T: Eq + Hash> Sets<T> {
    /// The number of a node.
    pub(super) fn id(&mut self, node: T) -> usize {
        let next = self.parent.len();
        let id = *self.number.entry(node).or_insert(next);
        if id == next {
            self.parent.push(id);
        }
        id
    }

    /// The number of the set of a node.
    pub(super) fn set_of(&mut self, node: T) -> usize {
        let id = self.id(node);
        self.find(id)
    }

    /// The number of the set of the node with this number.
    pub(super) fn find(&mut self, mut id: usize) -> usize {
        while self.parent[id] != id {
            self.parent[id] = self.parent[self.parent[id]];
            id = self.parent[id];
        }
        id
    }

    /// Unites the sets of two nodes.
    pub(super) fn join(&mut self, a: T, b: T) {
        let (a, b) = (self.set_of(a), self.set_of(b));
        // The earlier one stays, so that numbers do not depend on the order of joining.
        self.parent[a.max(b)] = a.min(b);
    }

    /// All nodes, each with the number of its set.
    pub(super) fn into_nodes(mut self) -> Vec<(T, usize)> {
        let mut nodes: Vec<(T, usize)> = std::mem::take(&mut self.number).into_iter().collect();
        nodes.sort_by_key(|&(_, id)| id);
        nodes.into_iter().map(|(node, id)| (node, self.find(id))).collect()
    }
}
