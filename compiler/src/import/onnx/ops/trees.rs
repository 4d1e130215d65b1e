//! Ensembles of decision trees.
//!
//! ```text
//! TreeEnsemble (version 5): lists of nodes and leaves by position
//!    └──TreeWalk──▶ TreeEnsembleRegressor, -Classifier: nodes by tree and number ──▶ _TreeEnsemble
//! ```

use std::collections::HashMap;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::learning::{classified, labels, linked};
use crate::import::onnx::emit::{AttrArg, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// The attributes of trees; `of` is `target` or `class`.
fn trees(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    of: &str,
    n_targets: i64,
    aggregate: &str,
) -> Result<ValueId, Why> {
    let mut x = n.input(0)?;
    if !matches!(g.dtype(x)?, DType::F32 | DType::F64) {
        x = g.cast(x, DType::F32)?;
    }
    let ints = |name: &str| n.ints(name).unwrap_or_default();
    let of_name = |name: &str| format!("{of}_{name}");
    let modes = n.words("nodes_modes")?;
    let (values, bits) = match n.tensor("nodes_values_as_tensor") {
        Some(tensor) => {
            let constant = g.tensor_constant(tensor)?;
            splits(&g.numbers_of(constant).ok_or("nodes_values_as_tensor has no numbers")?)
        }
        None => (n.floats("nodes_values").to_vec(), Vec::new()),
    };
    let weights = weights(g, n, of)?;
    let attrs = [
        ("nodes_treeids", AttrArg::Ints(ints("nodes_treeids"))),
        ("nodes_nodeids", AttrArg::Ints(ints("nodes_nodeids"))),
        ("nodes_featureids", AttrArg::Ints(ints("nodes_featureids"))),
        ("nodes_modes", AttrArg::Strs(&modes)),
        ("nodes_values", AttrArg::Floats(&values)),
        ("nodes_value_bits", AttrArg::Ints(&bits)),
        ("nodes_truenodeids", AttrArg::Ints(ints("nodes_truenodeids"))),
        ("nodes_falsenodeids", AttrArg::Ints(ints("nodes_falsenodeids"))),
        ("nodes_missing_value_tracks_true", AttrArg::Ints(ints("nodes_missing_value_tracks_true"))),
        ("target_treeids", AttrArg::Ints(ints(&of_name("treeids")))),
        ("target_nodeids", AttrArg::Ints(ints(&of_name("nodeids")))),
        ("target_ids", AttrArg::Ints(ints(&of_name("ids")))),
        ("target_weights", AttrArg::Floats(&weights)),
        ("n_targets", AttrArg::Int(n_targets)),
        ("aggregate_function", AttrArg::Str(aggregate)),
        ("base_values", AttrArg::Floats(n.floats("base_values"))),
    ];
    g.op(Op::_TreeEnsemble, &[x], &attrs)
}

/// The weights of the leaves; `of` is `target` or `class`.
fn weights(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, of: &str) -> Result<Vec<f32>, Why> {
    let Some(tensor) = n.tensor(&format!("{of}_weights_as_tensor")) else {
        return Ok(n.floats(&format!("{of}_weights")).to_vec());
    };
    let constant = g.tensor_constant(tensor)?;
    let numbers = g.numbers_of(constant).ok_or("the tensor of its weights has no numbers")?;
    Ok(numbers.into_iter().map(|weight| weight as f32).collect())
}

pub(super) fn tree_regressor(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let aggregate = n.word("aggregate_function", "SUM")?;
    let scores = trees(g, n, "target", n.int_or("n_targets", 1), aggregate)?;
    one(linked(g, scores, n.word("post_transform", "NONE")?))
}

pub(super) fn tree_classifier(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let labels = labels(g, n, "classlabels_int64s", "classlabels_strings")?;
    let ids = n.ints("class_ids").unwrap_or_default();
    // With two classes, the trees may score only one of them.
    let is_binary = labels.1 == 2 && ids.iter().all(|&id| id == ids[0]);
    if !is_binary {
        let scores = trees(g, n, "class", labels.1, "SUM")?;
        return classified(g, n, scores, labels, false);
    }
    let scores = trees(g, n, "class", 2, "SUM")?;
    let at = ids.first().copied().unwrap_or(0);
    if !(0..2).contains(&at) {
        return Err(format!("class {at} of two"));
    }
    let score = g.slice(scores, 1, at, Some(at + 1).filter(|&end| end < 2))?;
    let is_probability = weights(g, n, "class")?.iter().all(|&weight| weight >= 0.0);
    classified(g, n, score, labels, is_probability)
}

/// Limit on the number of nodes in all trees, where trees may share nodes.
const MAX_NODES: usize = 1 << 24;

/// `TreeEnsemble`. Sums are f32.
pub(super) fn tree_ensemble(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = n.input(0)?;
    let result = g.dtype(x)?;
    if result == DType::F16 {
        x = g.cast(x, DType::F32)?;
    }
    let aggregate = match n.int_or("aggregate_function", 1) {
        0 => "AVERAGE",
        1 => "SUM",
        2 => "MIN",
        3 => "MAX",
        other => return Err(format!("aggregate_function {other}")),
    };
    let post = match n.int_or("post_transform", 0) {
        0 => "NONE",
        1 => "SOFTMAX",
        2 => "LOGISTIC",
        3 => "SOFTMAX_ZERO",
        other => return Err(format!("post_transform {other} is not supported")),
    };
    let walk = TreeWalk::new(g, n)?.of_all_roots(n.ints("tree_roots").unwrap_or_default())?;
    let modes: Vec<&str> = walk.modes.iter().map(|&mode| MODES[mode]).collect();
    let (values, bits) = splits(&walk.values);
    let weights: Vec<f32> = walk.target_weights.iter().map(|&weight| weight as f32).collect();
    let attrs = [
        ("nodes_treeids", AttrArg::Ints(&walk.trees)),
        ("nodes_nodeids", AttrArg::Ints(&walk.ids)),
        ("nodes_featureids", AttrArg::Ints(&walk.features)),
        ("nodes_modes", AttrArg::Strs(&modes)),
        ("nodes_values", AttrArg::Floats(&values)),
        ("nodes_value_bits", AttrArg::Ints(&bits)),
        ("nodes_truenodeids", AttrArg::Ints(&walk.children[0])),
        ("nodes_falsenodeids", AttrArg::Ints(&walk.children[1])),
        ("nodes_missing_value_tracks_true", AttrArg::Ints(&walk.tracks_true)),
        ("target_treeids", AttrArg::Ints(&walk.target_trees)),
        ("target_nodeids", AttrArg::Ints(&walk.target_nodes)),
        ("target_ids", AttrArg::Ints(&walk.target_ids)),
        ("target_weights", AttrArg::Floats(&weights)),
        ("n_targets", AttrArg::Int(n.int_or("n_targets", 1))),
        ("aggregate_function", AttrArg::Str(aggregate)),
    ];
    let scores = g.op(Op::_TreeEnsemble, &[x], &attrs)?;
    let linked = linked(g, scores, post)?;
    one(g.cast(linked, result))
}

/// The splits of nodes as f32. Where a rounded one would send some rows to the other child, the bits of f64.
fn splits(values: &[f64]) -> (Vec<f32>, Vec<i64>) {
    let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
    if values.iter().zip(&narrow).all(|(&wide, &value)| f64::from(value) == wide || wide.is_nan()) {
        return (narrow, Vec::new());
    }
    (Vec::new(), values.iter().map(|value| value.to_bits() as i64).collect())
}

/// The modes of nodes, by number; [`MEMBER`] is none of them.
const MODES: [&str; 7] =
    ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"];
/// The mode of a node that tests whether its feature is an element of a set.
const MEMBER: f64 = 6.0;
const EQUAL: usize = 4;
const LEAF: usize = 6;

/// A walk of the trees of version 5, which writes the lists of the older operators.
///
/// A node's number is its position, a leaf's is its position behind all nodes. A test for an element of a set
/// becomes a chain of tests for equality; its nodes but the first have numbers behind all leaves.
#[derive(Default)]
struct TreeWalk<'a> {
    features_of: &'a [i64],
    modes_of: Vec<f64>,
    splits_of: Vec<f64>,
    children_of: [&'a [i64]; 2],
    are_leaves: [&'a [i64]; 2],
    tracks_of: &'a [i64],
    targets_of: &'a [i64],
    weights_of: Vec<f64>,
    /// The elements of the set that a node tests.
    sets: HashMap<usize, Vec<f64>>,

    trees: Vec<i64>,
    ids: Vec<i64>,
    features: Vec<i64>,
    modes: Vec<usize>,
    values: Vec<f64>,
    children: [Vec<i64>; 2],
    tracks_true: Vec<i64>,
    target_trees: Vec<i64>,
    target_nodes: Vec<i64>,
    target_ids: Vec<i64>,
    target_weights: Vec<f64>,
}

impl<'a> TreeWalk<'a> {
    fn new(g: &mut OnnxImporter<'_>, n: &'a OnnxNode<'_>) -> Result<TreeWalk<'a>, Why> {
        let ints = |name: &str| n.ints(name).unwrap_or_default();
        let mut numbers = |name: &str| -> Result<Vec<f64>, Why> {
            let Some(tensor) = n.tensor(name) else { return Ok(Vec::new()) };
            let constant = g.tensor_constant(tensor)?;
            g.numbers_of(constant).ok_or_else(|| format!("{name} has no numbers"))
        };
        let mut walk = TreeWalk {
            features_of: ints("nodes_featureids"),
            modes_of: numbers("nodes_modes")?,
            splits_of: numbers("nodes_splits")?,
            children_of: [ints("nodes_truenodeids"), ints("nodes_falsenodeids")],
            are_leaves: [ints("nodes_trueleafs"), ints("nodes_falseleafs")],
            tracks_of: ints("nodes_missing_value_tracks_true"),
            targets_of: ints("leaf_targetids"),
            weights_of: numbers("leaf_weights")?,
            ..TreeWalk::default()
        };
        let count = walk.features_of.len();
        let tracks = walk.tracks_of.len();
        let lengths = [
            walk.modes_of.len(),
            walk.splits_of.len(),
            walk.children_of[0].len(),
            walk.children_of[1].len(),
            walk.are_leaves[0].len(),
            walk.are_leaves[1].len(),
            if tracks == 0 { count } else { tracks },
        ];
        if lengths.iter().any(|&len| len != count) || walk.targets_of.len() != walk.weights_of.len() {
            return Err(format!("lists of {lengths:?} for {count} nodes, or of leaves"));
        }
        // The elements of the sets, in the order of the nodes that test them; NaN ends a set.
        let members = numbers("membership_values")?;
        let mut sets = members.split(|x| x.is_nan());
        for at in (0..count).filter(|&at| walk.modes_of[at] == MEMBER) {
            walk.sets.insert(at, sets.next().unwrap_or_default().to_vec());
        }
        Ok(walk)
    }

    /// The lists of the trees with these roots.
    fn of_all_roots(mut self, roots: &[i64]) -> Result<TreeWalk<'a>, Why> {
        let (n_nodes, n_leaves) = (self.features_of.len(), self.targets_of.len());
        for (tree, &root) in (0..).zip(roots) {
            let mut known = vec![false; n_nodes + n_leaves];
            let mut next = (n_nodes + n_leaves) as i64;
            let mut open = vec![self.number(root, false)?];
            while let Some(at) = open.pop() {
                if std::mem::replace(&mut known[at], true) {
                    continue;
                }
                if self.ids.len() > MAX_NODES {
                    return Err(format!("its trees have more than {MAX_NODES} nodes"));
                }
                if let Some(leaf) = at.checked_sub(n_nodes) {
                    self.node(tree, at as i64, (LEAF, 0, 0.0), [0, 0], 0);
                    self.target_trees.push(tree);
                    self.target_nodes.push(at as i64);
                    self.target_ids.push(self.targets_of[leaf]);
                    self.target_weights.push(self.weights_of[leaf]);
                    continue;
                }
                let mut children = [0; 2];
                for (side, child) in children.iter_mut().enumerate() {
                    let to = self.number(self.children_of[side][at], self.are_leaves[side][at] != 0)?;
                    *child = to as i64;
                    open.push(to);
                }
                let (feature, tracks) = (self.features_of[at], self.tracks_of.get(at).copied().unwrap_or(0));
                let Some(set) = self.sets.get(&at) else {
                    let mode = self.modes_of[at];
                    if !(0.0..LEAF as f64).contains(&mode) {
                        return Err(format!("node {at} has the mode {mode}"));
                    }
                    let test = (mode as usize, feature, self.splits_of[at]);
                    self.node(tree, at as i64, test, children, tracks);
                    continue;
                };
                // Nothing equals NaN, the only element of an empty set.
                let set = if set.is_empty() { vec![f64::NAN] } else { set.clone() };
                let mut id = at as i64;
                for (i, &element) in set.iter().enumerate() {
                    let otherwise = if i + 1 < set.len() { next } else { children[1] };
                    self.node(tree, id, (EQUAL, feature, element), [children[0], otherwise], tracks);
                    (id, next) = (next, next + 1);
                }
            }
        }
        Ok(self)
    }

    /// The number of a node or a leaf.
    fn number(&self, at: i64, is_leaf: bool) -> Result<usize, Why> {
        let (of, before) = if is_leaf {
            (self.targets_of.len(), self.features_of.len())
        } else {
            (self.features_of.len(), 0)
        };
        let at = usize::try_from(at).ok().filter(|&at| at < of);
        at.map(|at| at + before).ok_or_else(|| "a child or a root that does not exist".into())
    }

    fn node(
        &mut self,
        tree: i64,
        id: i64,
        (mode, feature, value): (usize, i64, f64),
        children: [i64; 2],
        tracks_true: i64,
    ) {
        self.trees.push(tree);
        self.ids.push(id);
        self.features.push(feature);
        self.modes.push(mode);
        self.values.push(value);
        self.children[0].push(children[0]);
        self.children[1].push(children[1]);
        self.tracks_true.push(tracks_true);
    }
}
