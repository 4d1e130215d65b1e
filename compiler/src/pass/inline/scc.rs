//! Strongly connected components.

/// The components of a graph, each after its successors. (Tarjan's algorithm with an explicit stack.)
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut open = vec![false; edges.len()];
    let mut path: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    let mut next = 0;
    for root in 0..edges.len() {
        // A node and the number of its edges followed so far.
        let mut stack = if number[root] == NEW { vec![(root, 0)] } else { Vec::new() };
        while let Some((node, at)) = stack.pop() {
            if at == 0 {
                number[node] = next;
                low[node] = next;
                next += 1;
                path.push(node);
                open[node] = true;
            } else {
                let child = edges[node][at - 1];
                if open[child] {
                    low[node] = low[node].min(low[child]);
                }
            }
            match edges[node].get(at) {
                Some(&child) => {
                    stack.push((node, at + 1));
                    if number[child] == NEW {
                        stack.push((child, 0));
                    }
                }
                None if low[node] == number[node] => {
                    let start = path.iter().rposition(|n| *n == node).unwrap_or(0);
                    let mut part = path.split_off(start);
                    part.iter().for_each(|n| open[*n] = false);
                    part.sort_unstable();
                    found.push(part);
                }
                None => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_first() {
        let check = |edges: &[&[usize]], expected: &[&[usize]]| {
            let edges: Vec<Vec<usize>> = edges.iter().map(|e| e.to_vec()).collect();
            assert_eq!(components(&edges), expected);
        };
        check(&[], &[]);
        check(&[&[1], &[2], &[]], &[&[2], &[1], &[0]]);
        check(&[&[0], &[0]], &[&[0], &[1]]);
        check(&[&[1], &[2], &[0, 3], &[]], &[&[3], &[0, 1, 2]]);
        check(&[&[1, 2], &[3], &[3], &[1]], &[&[1, 3], &[2], &[0]]);
    }
}
