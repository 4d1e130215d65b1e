//! Minimum cut of a graph: Dinic's algorithm ("Algorithm for solution of a problem of maximum flow", 1970).
//!
//! ```text
//! source ══▶ nodes of the one side ──cut──▶ nodes of the other side ══▶ sink
//! ```

/// Higher than the cost of any cut.
pub(crate) const INFINITE: u64 = u64::MAX / 4;

/// The source; its side of the cut is what the residual flow reaches from it.
pub(crate) const SOURCE: usize = 0;
pub(crate) const SINK: usize = 1;

/// Limit on visits per edge; the graphs of networks need a few dozen.
const VISITS_PER_EDGE: usize = 500;

/// A flow network.
pub(crate) struct Graph {
    /// Target and residual capacity of each edge. The reverse edge has the same index with the last bit
    /// flipped.
    edges: Vec<(usize, u64)>,
    /// The outgoing edges of each node.
    from: Vec<Vec<usize>>,
}

impl Graph {
    pub(crate) fn new() -> Graph {
        Graph { edges: Vec::new(), from: vec![Vec::new(); 2] }
    }

    pub(crate) fn add_node(&mut self) -> usize {
        self.from.push(Vec::new());
        self.from.len() - 1
    }

    /// Adds an edge that costs `cost` if `a` is on the source's side and `b` on the sink's, and `back` in the
    /// opposite case.
    pub(crate) fn add_edge(&mut self, a: usize, b: usize, cost: u64, back: u64) {
        if a == b || cost == 0 && back == 0 {
            return;
        }
        self.from[a].push(self.edges.len());
        self.edges.push((b, cost));
        self.from[b].push(self.edges.len());
        self.edges.push((a, back));
    }

    /// The nodes on the source's side of a minimum cut, the smallest such side. `None` if the search exceeds
    /// its budget.
    pub(crate) fn cut(mut self) -> Option<Vec<bool>> {
        let mut visits = self.edges.len().saturating_mul(VISITS_PER_EDGE);
        loop {
            let levels = self.levels();
            visits = visits.checked_sub(self.edges.len())?;
            if levels[SINK].is_none() {
                return Some(levels.iter().map(Option::is_some).collect());
            }
            self.fill(&levels, &mut visits)?;
        }
    }

    /// Distances from the source over edges with residual capacity.
    fn levels(&self) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.from.len()];
        levels[SOURCE] = Some(0);
        let mut todo = std::collections::VecDeque::from([SOURCE]);
        while let Some(node) = todo.pop_front() {
            let next = levels[node].map(|level| level + 1);
            for &edge in &self.from[node] {
                let (to, left) = self.edges[edge];
                if left > 0 && levels[to].is_none() {
                    levels[to] = next;
                    todo.push_back(to);
                }
            }
        }
        levels
    }

    /// Finds a blocking flow along shortest paths.
    fn fill(&mut self, levels: &[Option<usize>], visits: &mut usize) -> Option<()> {
        let mut tried = vec![0; self.from.len()];
        let mut path: Vec<usize> = Vec::new();
        loop {
            *visits = visits.checked_sub(1)?;
            let node = path.last().map_or(SOURCE, |&edge| self.edges[edge].0);
            if node == SINK {
                *visits = visits.checked_sub(path.len())?;
                let most = path.iter().map(|&edge| self.edges[edge].1).min().unwrap_or(0);
                for &edge in &path {
                    self.edges[edge].1 -= most;
                    self.edges[edge ^ 1].1 += most;
                }
                let full = path.iter().position(|&edge| self.edges[edge].1 == 0).unwrap_or(0);
                path.truncate(full);
                continue;
            }
            let forward = self.from[node][tried[node]..].iter().position(|&edge| {
                let (to, left) = self.edges[edge];
                left > 0 && levels[to].is_some() && levels[to] == levels[node].map(|level| level + 1)
            });
            match forward {
                Some(skipped) => {
                    tried[node] += skipped;
                    path.push(self.from[node][tried[node]]);
                }
                None => {
                    tried[node] = self.from[node].len();
                    let Some(edge) = path.pop() else { return Some(()) };
                    tried[self.edges[edge ^ 1].0] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a graph of `n` nodes besides source and sink and compares the nodes on the source's side.
    #[track_caller]
    fn check(n: usize, edges: &[(usize, usize, u64, u64)], expected: &[usize]) {
        let mut graph = Graph::new();
        for _ in 0..n {
            graph.add_node();
        }
        for &(a, b, cost, back) in edges {
            graph.add_edge(a, b, cost, back);
        }
        let sides = graph.cut().unwrap_or_default();
        let found: Vec<usize> = (2..n + 2).filter(|&node| sides[node]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_cheapest_edges_are_cut() {
        check(2, &[(SOURCE, 2, 5, 0), (2, 3, 2, 2), (3, SINK, 4, 0)], &[2]);
        check(2, &[(SOURCE, 2, 1, 0), (2, 3, 2, 2), (3, SINK, 4, 0)], &[]);
        check(2, &[(SOURCE, 2, 9, 0), (2, 3, 7, 7), (3, SINK, 4, 0)], &[2, 3]);
        // Flow along the first paths must be undone.
        let crossed = [
            (SOURCE, 2, 3, 0),
            (SOURCE, 3, 3, 0),
            (2, 3, INFINITE, 0),
            (2, 4, 2, 0),
            (3, 5, 2, 0),
            (4, SINK, 9, 0),
            (5, SINK, 1, 0),
        ];
        check(4, &crossed, &[2, 3, 5]);
    }
}
