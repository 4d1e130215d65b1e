//! Topological order: items that wait for others, each after those, otherwise in ascending order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A topological order that is taken item by item.
pub(crate) struct TopologicalOrder<K> {
    /// The number of items that each item still waits for.
    missing: FxHashMap<K, usize>,
    ready: BinaryHeap<Reverse<K>>,
}

impl<K: Copy + Ord + Hash> TopologicalOrder<K> {
    /// No items.
    pub(crate) fn new() -> TopologicalOrder<K> {
        TopologicalOrder { missing: FxHashMap::default(), ready: BinaryHeap::new() }
    }

    /// Adds an item that waits for others, as many as `n_missing`.
    pub(crate) fn add(&mut self, item: K, n_missing: usize) {
        match n_missing {
            0 => self.ready.push(Reverse(item)),
            _ => _ = self.missing.insert(item, n_missing),
        }
    }

    /// Takes the first item that waits for nothing.
    pub(crate) fn take(&mut self) -> Option<K> {
        self.ready.pop().map(|Reverse(item)| item)
    }

    /// Counts an item as placed for these users of it. A user that has not been added is ignored.
    pub(crate) fn placed(&mut self, users: impl IntoIterator<Item = K>) {
        for user in users {
            let Some(n) = self.missing.get_mut(&user) else { continue };
            *n -= 1;
            if *n == 0 {
                self.missing.remove(&user);
                self.ready.push(Reverse(user));
            }
        }
    }

    /// All items in order, by the users of each. Those of a cycle are left.
    pub(crate) fn take_all<I: IntoIterator<Item = K>>(&mut self, users: impl Fn(K) -> I) -> Vec<K> {
        let mut order = Vec::with_capacity(self.missing.len() + self.ready.len());
        while let Some(item) = self.take() {
            order.push(item);
            self.placed(users(item));
        }
        order
    }

    /// The items that wait, in no order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = K> + '_ {
        self.missing.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the items `0..n` with these edges, and the items that are left.
    fn order(n: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<usize>) {
        let mut order = TopologicalOrder::new();
        for item in 0..n {
            order.add(item, edges.iter().filter(|&&(_, to)| to == item).count());
        }
        let users = |item| edges.iter().filter(move |&&(from, _)| from == item).map(|&(_, to)| to);
        let found = order.take_all(users);
        let mut left: Vec<usize> = order.waiting().collect();
        left.sort_unstable();
        (found, left)
    }

    #[test]
    fn items_follow_those_that_they_wait_for() {
        assert_eq!(order(3, &[]), (vec![0, 1, 2], vec![]));
        assert_eq!(order(4, &[(3, 0), (0, 2), (3, 2)]), (vec![1, 3, 0, 2], vec![]));
        // An edge that stands twice counts twice.
        assert_eq!(order(2, &[(1, 0), (1, 0)]), (vec![1, 0], vec![]));
        assert_eq!(order(4, &[(0, 1), (1, 2), (2, 1), (2, 3)]), (vec![0], vec![1, 2, 3]));
    }
}
