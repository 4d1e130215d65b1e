//! Ensembles of decision trees: ONNX's `TreeEnsembleRegressor` and `TreeEnsembleClassifier`.
//!
//! ```text
//! lists of nodes by tree and number ──Trees::new──▶ nodes with the positions of children; leaf weights
//! ```
//!
//! A node may have several parents. [`Trees::new`] refuses cycles, so each walk ends at a leaf. Nodes that
//! are unreachable from a root are ignored.
//!
//! The way through a tree is a chain of loads and comparisons, each of which waits for the one before. So a
//! row of features walks [`AT_ONCE`] trees at once, in steps without branches: a leaf is its own child. Steps
//! that cannot be the last, since no leaf of some tree is that near, are not tested for the end: a step in
//! which no tree changes its node, or the one to the farthest leaf. Ensembles whose nodes all test in one of
//! the usual ways have code without the table of outcomes. Leaf weights are added in the order of the trees.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::super::fast::{self, Cx};
use super::with_float;
use crate::error::invalid;
use crate::scratch::{collected, filled, no_room, push, with_room};
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

/// The number of trees that are walked at once.
const AT_ONCE: usize = 8;

/// The time for a tree, in additions of vectors.
const COST: usize = 64;

/// The outcomes of a comparison of a feature with a node's value for which the node's test is true, as bits:
/// less, equal, greater, and not a number.
type Outcomes = u8;

/// The outcomes of `BRANCH_LT` and `BRANCH_LEQ`.
const LESS: u32 = 0b001;
const LESS_OR_EQUAL: u32 = 0b011;

/// The outcome for a feature that is not a number.
const NAN: u32 = 3;

/// The outcomes of which each is true: those of a leaf, whose children are the leaf itself.
const ANY: Outcomes = 0b1111;

/// The bits of [`TreeNode::feature`] that hold the feature; the outcomes are above them.
const FEATURE_BITS: u32 = 28;

/// A node whose value has the type `V`: f32 if no value loses digits.
#[derive(Clone, Copy, Debug)]
struct TreeNode<V> {
    value: V,
    /// The number of the tested feature, and above its [`FEATURE_BITS`] the outcomes.
    feature: u32,
    /// The first child is for a true test, the second for a false one.
    children: [u32; 2],
}

/// A number that can be compared with one of type `V`, both in a type that holds either.
trait Meets<V>: Copy {
    type Common: PartialOrd + Copy;
    fn meet(self, other: V) -> [Self::Common; 2];
}

macro_rules! meets {
    ($($ty:ident and $other:ident in $common:ident;)*) => {$(
        impl Meets<$other> for $ty {
            type Common = $common;
            #[inline(always)]
            fn meet(self, other: $other) -> [$common; 2] {
                [self.into(), other.into()]
            }
        }
    )*};
}
meets! { f32 and f32 in f32; f32 and f64 in f64; f64 and f32 in f64; f64 and f64 in f64; }

impl<V: Copy> TreeNode<V> {
    fn is_leaf(&self) -> bool {
        self.feature >> FEATURE_BITS == u32::from(ANY)
    }

    /// The next node for a row of features. `test` gets the outcomes for which the node's test is true, the
    /// feature and the node's value.
    #[inline(always)]
    fn next<T: Meets<V>>(&self, row: &[T], test: impl Fn(u32, [T::Common; 2]) -> bool) -> u32 {
        let feature = row[(self.feature & ((1 << FEATURE_BITS) - 1)) as usize];
        let holds = test(self.feature >> FEATURE_BITS, feature.meet(self.value));
        self.children[usize::from(!holds)]
    }
}

#[derive(Clone, Debug)]
enum TreeNodes {
    Narrow(Vec<TreeNode<f32>>),
    Wide(Vec<TreeNode<f64>>),
}

/// A checked ensemble of trees.
#[derive(Clone, Debug)]
pub struct Trees {
    nodes: TreeNodes,
    /// The range of the weights of each node; empty for inner nodes.
    leaves: Vec<[u32; 2]>,
    roots: Vec<u32>,
    /// The steps of the walks of each [`AT_ONCE`] roots: the fewest and the most.
    steps: Vec<[u32; 2]>,
    /// Targets and weights, leaf by leaf.
    weights: Vec<(u32, f32)>,
    /// The outcomes for which the test of each inner node is true, if they are the same for all.
    outcomes: Option<u32>,
    n_targets: usize,
    /// The minimum number of features for the tests.
    n_features: usize,
    aggregate: Aggregate,
    /// Empty, one number for all targets, or one for each target.
    base: Vec<f32>,
}

/// The outcomes for which a node's test is true; `None` for a leaf.
fn outcomes_of(op: &'static str, mode: &str) -> Result<Option<Outcomes>, TensorError> {
    Ok(Some(match mode {
        "BRANCH_LEQ" => LESS_OR_EQUAL as Outcomes,
        "BRANCH_LT" => LESS as Outcomes,
        "BRANCH_GTE" => 0b110,
        "BRANCH_GT" => 0b100,
        "BRANCH_EQ" => 0b010,
        "BRANCH_NEQ" => 0b101,
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
            nodes: TreeNodes::Wide(Vec::new()),
            leaves: Vec::new(),
            roots: Vec::new(),
            steps: Vec::new(),
            weights: Vec::new(),
            outcomes: None,
            n_targets,
            n_features: 0,
            aggregate,
            base: lists.base_values.iter().map(|&x| x as f32).collect(),
        };
        if n_targets == 0 || ![0, 1, n_targets].contains(&trees.base.len()) {
            return invalid(op, format!("{} base values for {n_targets} targets", trees.base.len()));
        }
        let places = trees.places(op, lists)?;
        trees.leaves = trees.leaves(op, lists, &places)?;
        let mut nodes = with_room(n)?;
        for i in 0..n {
            nodes.push(trees.node(op, lists, i, &places)?);
        }
        let depths = trees.depths(op, &nodes)?;
        let most = |[a, b]: [u32; 2], [c, d]: [u32; 2]| [a.max(c), b.max(d)];
        let of_roots = |roots: &[u32]| roots.iter().map(|&root| depths[root as usize]).fold([0, 0], most);
        trees.steps = collected(trees.roots.chunks(AT_ONCE).map(of_roots))?;
        let mut outcomes =
            nodes.iter().filter(|node| !node.is_leaf()).map(|node| node.feature >> FEATURE_BITS);
        let first = outcomes.next();
        trees.outcomes = first.filter(|&first| outcomes.all(|outcomes| outcomes == first));
        let is_narrow =
            nodes.iter().all(|node| f64::from(node.value as f32) == node.value || node.value.is_nan());
        trees.nodes = if is_narrow {
            let narrow = |&TreeNode { value, feature, children }: &TreeNode<f64>| TreeNode {
                value: value as f32,
                feature,
                children,
            };
            TreeNodes::Narrow(collected(nodes.iter().map(narrow))?)
        } else {
            TreeNodes::Wide(nodes)
        };
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
        self.weights = collected(by_node.iter().map(|&(_, target, weight)| (target, weight)))?;
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
        places: &NodePlaces,
    ) -> Result<TreeNode<f64>, TensorError> {
        let Some(outcomes) = outcomes_of(op, &lists.nodes_modes[i])? else {
            // Fits: `new` has checked the number of nodes.
            let (feature, itself) = (u32::from(ANY) << FEATURE_BITS, i as u32);
            return Ok(TreeNode { value: 0.0, feature, children: [itself; 2] });
        };
        // A weight of an inner node has no effect.
        self.leaves[i] = [0, 0];
        let (tree, number) = (lists.nodes_treeids[i], lists.nodes_nodeids[i]);
        let child = |child: i64| match places.get(&(tree, child)) {
            Some(&place) => Ok(place),
            None => invalid(op, format!("the child {child} of node {number} of tree {tree} does not exist")),
        };
        let children = [child(lists.nodes_truenodeids[i])?, child(lists.nodes_falsenodeids[i])?];
        let feature =
            u32::try_from(lists.nodes_featureids[i]).ok().filter(|feature| feature >> FEATURE_BITS == 0);
        let Some(feature) = feature else {
            let problem = format!("node {number} of tree {tree} tests feature {}", lists.nodes_featureids[i]);
            return invalid(op, problem);
        };
        self.n_features = self.n_features.max(feature as usize + 1);
        let missing = lists.nodes_missing_value_tracks_true.get(i).is_some_and(|&tracks| tracks != 0);
        let value = lists.nodes_values[i];
        // A comparison with NaN has the outcome `less`, which is true for `BRANCH_NEQ` only.
        let outcomes = if value.is_nan() { outcomes & (outcomes >> 2) } else { outcomes };
        let outcomes = u32::from(outcomes) | (u32::from(missing) << NAN);
        Ok(TreeNode { value, feature: feature | (outcomes << FEATURE_BITS), children })
    }

    /// The distances of each node from the nearest and the farthest leaf below it. Walks the trees depth
    /// first. An edge to an open node closes a cycle.
    fn depths(&self, op: &'static str, nodes: &[TreeNode<f64>]) -> Result<Vec<[u32; 2]>, TensorError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            New,
            Open,
            Done,
        }
        let mut states = filled(nodes.len(), Visit::New)?;
        let mut depths = filled(nodes.len(), [0, 0])?;
        let mut open: Vec<u32> = Vec::new();
        for &root in &self.roots {
            push(&mut open, root)?;
            while let Some(&node) = open.last() {
                let (state, children) = (&mut states[node as usize], nodes[node as usize].children);
                if nodes[node as usize].is_leaf() || *state != Visit::New {
                    if *state == Visit::Open {
                        let [[a, b], [c, d]] = children.map(|child| depths[child as usize]);
                        depths[node as usize] = [a.min(c) + 1, b.max(d) + 1];
                    }
                    *state = Visit::Done;
                    open.pop();
                    continue;
                }
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
        Ok(depths)
    }

    fn evaluate<T: Meets<f32> + Meets<f64>>(&self, row: &[T], out: &mut [f32]) {
        match &self.nodes {
            TreeNodes::Narrow(nodes) => self.tested(nodes, row, out),
            TreeNodes::Wide(nodes) => self.tested(nodes, row, out),
        }
    }

    fn tested<V: Copy, T: Meets<V>>(&self, nodes: &[TreeNode<V>], row: &[T], out: &mut [f32]) {
        match self.outcomes {
            Some(LESS) => self.aggregate(nodes, row, out, |_, [x, value]| x < value),
            Some(LESS_OR_EQUAL) => self.aggregate(nodes, row, out, |_, [x, value]| x <= value),
            _ => self.aggregate(nodes, row, out, |outcomes, [x, value]| {
                // A comparison of a number with itself fails for NaN only.
                #[expect(clippy::eq_op, reason = "the type has no other test")]
                let is_nan = x != x;
                let outcome = u32::from(x >= value) + u32::from(x > value) + NAN * u32::from(is_nan);
                (outcomes >> outcome) & 1 != 0
            }),
        }
    }

    #[inline(always)]
    fn aggregate<V: Copy, T: Meets<V>>(
        &self,
        nodes: &[TreeNode<V>],
        row: &[T],
        out: &mut [f32],
        test: impl Fn(u32, [T::Common; 2]) -> bool,
    ) {
        // For minimum and maximum, NaN marks a target without a weight.
        let is_sum = matches!(self.aggregate, Aggregate::Sum | Aggregate::Average);
        out.fill(if is_sum { 0.0 } else { f32::NAN });
        for (roots, &[fewest, most]) in self.roots.chunks(AT_ONCE).zip(&self.steps) {
            let mut at = [roots[0]; AT_ONCE];
            at[..roots.len()].copy_from_slice(roots);
            // Without features all nodes are leaves, and there are no steps.
            for _ in 0..fewest {
                for at in &mut at {
                    *at = nodes[*at as usize].next(row, &test);
                }
            }
            for _ in fewest..most {
                let mut changed = 0;
                for at in &mut at {
                    let next = nodes[*at as usize].next(row, &test);
                    changed |= next ^ *at;
                    *at = next;
                }
                if changed == 0 {
                    break;
                }
            }
            for &leaf in &at[..roots.len()] {
                let [first, end] = self.leaves[leaf as usize];
                for &(target, weight) in &self.weights[first as usize..end as usize] {
                    let out = &mut out[target as usize];
                    *out = match self.aggregate {
                        Aggregate::Sum | Aggregate::Average => *out + weight,
                        Aggregate::Min => out.min(weight),
                        Aggregate::Max => out.max(weight),
                    };
                }
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
            let cost = self.roots.len().saturating_mul(COST).div_ceil(self.n_targets);
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
