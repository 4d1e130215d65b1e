//! Ensembles of decision trees: ONNX's `TreeEnsembleRegressor` and `TreeEnsembleClassifier`.
//!
//! ```text
//! lists of nodes by tree and number ──Trees::new──▶ nodes with the positions of children; leaf weights
//! ```
//!
//! A node may have several parents. [`Trees::new`] refuses cycles, so each walk ends at a leaf. Nodes that
//! are unreachable from a root are ignored.

use std::collections::HashMap;

use super::super::fast::{self, Cx};
use super::{WideFloat, with_float};
use crate::error::invalid;
use crate::scratch::{filled, no_room, push, with_room};
use crate::{DType, HostTensor, Shape, TensorError};

/// The lists of an ensemble, named as in ONNX.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are ONNX's")]
pub struct TreeLists {
    pub nodes_treeids: Vec<i64>,
    pub nodes_nodeids: Vec<i64>,
    pub nodes_featureids: Vec<i64>,
    pub nodes_modes: Vec<String>,
    pub nodes_values: Vec<f64>,
    pub nodes_truenodeids: Vec<i64>,
    pub nodes_falsenodeids: Vec<i64>,
    pub nodes_missing_value_tracks_true: Vec<i64>,
    pub target_treeids: Vec<i64>,
    pub target_nodeids: Vec<i64>,
    pub target_ids: Vec<i64>,
    pub target_weights: Vec<f64>,
    pub base_values: Vec<f64>,
}

/// The aggregation of the trees' leaf weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are ONNX's")]
pub enum Aggregate {
    Sum,
    Average,
    Min,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
    Equal,
    NotEqual,
}

#[derive(Clone, Copy, Debug)]
enum TreeNode {
    /// The first child is for a true test, the second for a false one; `missing` is the result for a NaN.
    Branch { feature: u32, test: Test, missing: bool, value: f64, children: [u32; 2] },
    /// The range of the leaf's weights.
    Leaf { first: u32, end: u32 },
}

/// A checked ensemble of trees.
#[derive(Clone, Debug)]
pub struct Trees {
    nodes: Vec<TreeNode>,
    roots: Vec<u32>,
    /// Targets and weights, leaf by leaf.
    weights: Vec<(u32, f32)>,
    n_targets: usize,
    /// The minimum number of features for the tests.
    n_features: usize,
    aggregate: Aggregate,
    /// Empty, one number for all targets, or one for each target.
    base: Vec<f32>,
}

fn test_of(op: &'static str, mode: &str) -> Result<Option<Test>, TensorError> {
    Ok(Some(match mode {
        "BRANCH_LEQ" => Test::LessEqual,
        "BRANCH_LT" => Test::Less,
        "BRANCH_GTE" => Test::GreaterEqual,
        "BRANCH_GT" => Test::Greater,
        "BRANCH_EQ" => Test::Equal,
        "BRANCH_NEQ" => Test::NotEqual,
        "LEAF" => return Ok(None),
        _ => {
            let mode: String = mode.chars().take(32).collect();
            return invalid(op, format!("there is no mode \"{mode}\" of a node"));
        }
    }))
}

/// The position of a node by its tree and its number.
type NodePlaces = HashMap<(i64, i64), u32>;

impl Trees {
    /// An ensemble from its lists.
    ///
    /// # Errors
    /// If lists have different lengths, a node occurs twice, a child or a target does not exist, or there is
    /// a cycle.
    pub fn new(
        op: &'static str,
        lists: &TreeLists,
        n_targets: usize,
        aggregate: Aggregate,
    ) -> Result<Trees, TensorError> {
        let n = lists.nodes_treeids.len();
        let tracks = lists.nodes_missing_value_tracks_true.len();
        let lengths = [
            lists.nodes_nodeids.len(),
            lists.nodes_featureids.len(),
            lists.nodes_modes.len(),
            lists.nodes_values.len(),
            lists.nodes_truenodeids.len(),
            lists.nodes_falsenodeids.len(),
            if tracks == 0 { n } else { tracks },
        ];
        if lengths.iter().any(|&len| len != n) || u32::try_from(n).is_err() {
            return invalid(op, format!("lists of {lengths:?} for {n} nodes"));
        }
        let mut trees = Trees {
            nodes: with_room(n)?,
            roots: Vec::new(),
            weights: Vec::new(),
            n_targets,
            n_features: 0,
            aggregate,
            base: lists.base_values.iter().map(|&x| x as f32).collect(),
        };
        if n_targets == 0 || ![0, 1, n_targets].contains(&trees.base.len()) {
            return invalid(op, format!("{} base values for {n_targets} targets", trees.base.len()));
        }
        let places = trees.places(op, lists)?;
        let leaves = trees.leaves(op, lists, &places)?;
        for (i, leaf) in leaves.into_iter().enumerate() {
            let node = trees.node(op, lists, i, leaf, &places)?;
            trees.nodes.push(node);
        }
        trees.expect_no_cycle(op)?;
        Ok(trees)
    }

    /// Returns the positions of the nodes, and sets the roots: the first node of each tree.
    fn places(&mut self, op: &'static str, lists: &TreeLists) -> Result<NodePlaces, TensorError> {
        let n = lists.nodes_treeids.len();
        let mut places = NodePlaces::new();
        places.try_reserve(n).map_err(|_| no_room::<((i64, i64), u32)>(n))?;
        let mut known = HashMap::new();
        for (i, key) in
            (0u32..).zip(lists.nodes_treeids.iter().copied().zip(lists.nodes_nodeids.iter().copied()))
        {
            if places.insert(key, i).is_some() {
                return invalid(op, format!("node {} of tree {} occurs twice", key.1, key.0));
            }
            known.try_reserve(1).map_err(|_| no_room::<i64>(n))?;
            if known.insert(key.0, ()).is_none() {
                push(&mut self.roots, i)?;
            }
        }
        Ok(places)
    }

    /// Returns the range of weights of each node, and sets the weights.
    fn leaves(
        &mut self,
        op: &'static str,
        lists: &TreeLists,
        places: &NodePlaces,
    ) -> Result<Vec<[u32; 2]>, TensorError> {
        let m = lists.target_treeids.len();
        let lengths = [lists.target_nodeids.len(), lists.target_ids.len(), lists.target_weights.len()];
        if lengths.iter().any(|&len| len != m) || u32::try_from(m).is_err() {
            return invalid(op, format!("lists of {lengths:?} for {m} weights"));
        }
        let mut by_node: Vec<(u32, u32, f32)> = with_room(m)?;
        let keys = lists.target_treeids.iter().copied().zip(lists.target_nodeids.iter().copied());
        for (key, (&target, &weight)) in keys.zip(lists.target_ids.iter().zip(&lists.target_weights)) {
            let Some(&node) = places.get(&key) else {
                return invalid(op, format!("there is no node {} of tree {} for a weight", key.1, key.0));
            };
            match u32::try_from(target) {
                Ok(target) if (target as usize) < self.n_targets => {
                    by_node.push((node, target, weight as f32));
                }
                _ => return invalid(op, format!("target {target} of {}", self.n_targets)),
            }
        }
        // A stable sort: the weights of a leaf keep their order.
        by_node.sort_by_key(|&(node, ..)| node);
        self.weights =
            crate::scratch::collected(by_node.iter().map(|&(_, target, weight)| (target, weight)))?;
        let mut leaves = filled(lists.nodes_treeids.len(), [0, 0])?;
        for (at, &(node, ..)) in (0u32..).zip(&by_node) {
            let leaf = &mut leaves[node as usize];
            *leaf = if *leaf == [0, 0] { [at, at + 1] } else { [leaf[0], at + 1] };
        }
        Ok(leaves)
    }

    fn node(
        &mut self,
        op: &'static str,
        lists: &TreeLists,
        i: usize,
        [first, end]: [u32; 2],
        places: &NodePlaces,
    ) -> Result<TreeNode, TensorError> {
        let Some(test) = test_of(op, &lists.nodes_modes[i])? else {
            return Ok(TreeNode::Leaf { first, end });
        };
        let (tree, number) = (lists.nodes_treeids[i], lists.nodes_nodeids[i]);
        let child = |child: i64| match places.get(&(tree, child)) {
            Some(&place) => Ok(place),
            None => invalid(op, format!("the child {child} of node {number} of tree {tree} does not exist")),
        };
        let children = [child(lists.nodes_truenodeids[i])?, child(lists.nodes_falsenodeids[i])?];
        let Ok(feature) = u32::try_from(lists.nodes_featureids[i]) else {
            let problem = format!("node {number} of tree {tree} tests feature {}", lists.nodes_featureids[i]);
            return invalid(op, problem);
        };
        self.n_features = self.n_features.max(feature as usize + 1);
        let missing = lists.nodes_missing_value_tracks_true.get(i).is_some_and(|&tracks| tracks != 0);
        Ok(TreeNode::Branch { feature, test, missing, value: lists.nodes_values[i], children })
    }

    /// Walks the trees depth first. An edge to an open node closes a cycle.
    fn expect_no_cycle(&self, op: &'static str) -> Result<(), TensorError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            New,
            Open,
            Done,
        }
        let mut states = filled(self.nodes.len(), Visit::New)?;
        let mut open: Vec<u32> = Vec::new();
        for &root in &self.roots {
            push(&mut open, root)?;
            while let Some(&node) = open.last() {
                let state = &mut states[node as usize];
                let (TreeNode::Branch { children, .. }, Visit::New) = (self.nodes[node as usize], *state)
                else {
                    *state = Visit::Done;
                    open.pop();
                    continue;
                };
                *state = Visit::Open;
                for child in children {
                    match states[child as usize] {
                        Visit::New => push(&mut open, child)?,
                        Visit::Open => {
                            return invalid(op, format!("node {child} of the list is its own child"));
                        }
                        Visit::Done => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// The weights of the leaf that a row of features leads to.
    fn leaf<T: WideFloat>(&self, root: u32, row: &[T]) -> &[(u32, f32)] {
        let mut at = root;
        loop {
            match self.nodes[at as usize] {
                TreeNode::Leaf { first, end } => return &self.weights[first as usize..end as usize],
                TreeNode::Branch { feature, test, missing, value, children } => {
                    let x = row[feature as usize].wide();
                    let holds = match test {
                        _ if x.is_nan() => missing,
                        Test::LessEqual => x <= value,
                        Test::Less => x < value,
                        Test::GreaterEqual => x >= value,
                        Test::Greater => x > value,
                        Test::Equal => x == value,
                        Test::NotEqual => x != value,
                    };
                    at = children[usize::from(!holds)];
                }
            }
        }
    }

    fn evaluate<T: WideFloat>(&self, row: &[T], out: &mut [f32]) {
        // For minimum and maximum, NaN marks a target without a weight.
        let is_sum = matches!(self.aggregate, Aggregate::Sum | Aggregate::Average);
        out.fill(if is_sum { 0.0 } else { f32::NAN });
        for &root in &self.roots {
            for &(target, weight) in self.leaf(root, row) {
                let out = &mut out[target as usize];
                *out = match self.aggregate {
                    Aggregate::Sum | Aggregate::Average => *out + weight,
                    Aggregate::Min => out.min(weight),
                    Aggregate::Max => out.max(weight),
                };
            }
        }
        for (i, out) in out.iter_mut().enumerate() {
            if !is_sum && out.is_nan() {
                *out = 0.0;
            } else if self.aggregate == Aggregate::Average {
                *out /= self.roots.len() as f32;
            }
            match self.base[..] {
                [] => {}
                [base] => *out += base,
                ref base => *out += base[i],
            }
        }
    }

    /// `_TreeEnsemble`: the aggregated weights of the leaves that each row of features reaches.
    pub fn run(&self, op: &'static str, x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        let (n, features) = match *x.shape().dims() {
            [features] => (1, features),
            [n, features] => (n, features),
            _ => return invalid(op, format!("features of shape {}, expected rank 2", x.shape())),
        };
        if features < self.n_features {
            return invalid(op, format!("{features} features, the trees test {}", self.n_features));
        }
        let wide = match x.dtype() {
            DType::F16 | DType::BF16 | DType::F32 => fast::cast(x, DType::F32, cx)?,
            DType::Complex64 | DType::Complex128 => {
                return Err(TensorError::Unsupported { op, dtype: x.dtype() });
            }
            _ => fast::cast(x, DType::F64, cx)?,
        };
        let out = HostTensor::allocate(DType::F32, Shape::new(&[n, self.n_targets])?, cx.allocator)?;
        if out.num_elements() > 0 {
            let cost = self.roots.len().saturating_mul(64).div_ceil(self.n_targets);
            with_float!(wide, T => {
                let (x, mut out) = (wide.read::<T>()?, out.write::<f32>()?);
                let x: &[T] = &x;
                cx.parts(&mut out, (self.n_targets, cost), &|first, part| {
                    let own = part.chunks_exact_mut(self.n_targets);
                    for (row, out) in (first / self.n_targets..).zip(own) {
                        self.evaluate(&x[row * features..][..features], out);
                    }
                });
            });
        }
        Ok(out)
    }
}
