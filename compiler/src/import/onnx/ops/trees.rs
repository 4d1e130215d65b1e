//! Ensembles of decision trees.
//!
//! ```text
//! TreeEnsemble (version 5): lists of nodes and leaves by position
//!    └──TreeWalk──▶ TreeEnsembleRegressor, -Classifier: nodes by tree and number ──▶ _TreeEnsemble
//! ```

use std::collections::{HashMap, HashSet};

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::classes::{Labels, linked, of_two_classes};
use crate::import::onnx::emit::{AttrArg, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// The trees of a node, and what to add to the sums of their leaves. `of` is `target` or `class`.
struct TreeSums<'a> {
    x: ValueId,
    of: &'a str,
    n_targets: i64,
    weights: Vec<f32>,
    base: Vec<f32>,
}

impl<'a> TreeSums<'a> {
    fn new(
        g: &mut OnnxImporter<'_>,
        n: &OnnxNode<'_>,
        of: &'a str,
        n_targets: i64,
    ) -> Result<TreeSums<'a>, Why> {
        let mut x = n.input(0)?;
        if !matches!(g.dtype(x)?, DType::F32 | DType::F64) {
            x = g.cast(x, DType::F32)?;
        }
        let weights = numbers(g, n, &format!("{of}_weights"))?;
        let base = numbers(g, n, "base_values")?;
        // A single number stands for two classes.
        let is_for_two = (base.len(), n_targets, of) == (1, 2, "class");
        if !base.is_empty() && base.len() as i64 != n_targets && !is_for_two {
            return Err(format!("{} base_values for {n_targets} results", base.len()));
        }
        Ok(TreeSums { x, of, n_targets, weights, base })
    }

    /// The aggregated weights and the base values for each row of features.
    fn based(&self, g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, aggregate: &str) -> Result<ValueId, Why> {
        let scores = self.aggregated(g, n, aggregate, &self.weights)?;
        if self.base.is_empty() || self.n_targets == 1 {
            return Ok(scores);
        }
        let base = g.floats(&self.base, &[self.n_targets])?;
        g.add(scores, base)
    }

    /// The aggregated weights for each row of features; with the base value, if there is one result only.
    fn aggregated(
        &self,
        g: &mut OnnxImporter<'_>,
        n: &OnnxNode<'_>,
        aggregate: &str,
        weights: &[f32],
    ) -> Result<ValueId, Why> {
        let ints = |name: &str| n.ints(name).unwrap_or_default();
        let of_name = |name: &str| format!("{}_{name}", self.of);
        let modes = n.words("nodes_modes")?;
        let (values, bits) = match n.tensor("nodes_values_as_tensor") {
            Some(tensor) => {
                let constant = g.tensor_constant(tensor)?;
                splits(&g.numbers_of(constant).ok_or("nodes_values_as_tensor has no numbers")?)
            }
            None => (n.floats("nodes_values").to_vec(), Vec::new()),
        };
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
            ("target_weights", AttrArg::Floats(weights)),
            ("n_targets", AttrArg::Int(self.n_targets)),
            ("aggregate_function", AttrArg::Str(aggregate)),
            ("base_values", AttrArg::Floats(if self.n_targets == 1 { &self.base } else { &[] })),
        ];
        g.op(Op::_TreeEnsemble, &[self.x], &attrs)
    }

    /// For each result, whether the leaves of a row have a weight for it; `None` if that depends on the row.
    fn reached(&self, n: &OnnxNode<'_>) -> Result<Vec<Option<bool>>, Why> {
        let ints = |name: &str| n.ints(name).unwrap_or_default();
        let mut trees: HashMap<i64, Vec<i64>> = HashMap::new();
        let nodes = ints("nodes_treeids").iter().zip(ints("nodes_nodeids")).zip(n.words("nodes_modes")?);
        for ((&tree, &node), _) in nodes.filter(|&(_, mode)| mode == "LEAF") {
            trees.entry(tree).or_default().push(node);
        }
        let of = |name: &str| ints(&format!("{}_{name}", self.of));
        let places = of("treeids").iter().zip(of("nodeids")).zip(of("ids"));
        let weighted: HashSet<(i64, i64, i64)> =
            places.map(|((&tree, &node), &result)| (tree, node, result)).collect();
        let reached = |result: i64| {
            let is_weighted = |(&tree, leaves): (&i64, &Vec<i64>)| {
                leaves.iter().all(|&leaf| weighted.contains(&(tree, leaf, result)))
            };
            if trees.iter().any(is_weighted) {
                return Some(true);
            }
            Some(false).filter(|_| weighted.iter().all(|&(.., other)| other != result))
        };
        Ok((0..self.n_targets).map(reached).collect())
    }

    /// [`TreeSums::reached`] for each row of features.
    fn reached_by_row(&self, g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Result<ValueId, Why> {
        let ones = vec![1.0; self.weights.len()];
        let counts = self.aggregated(g, n, "SUM", &ones)?;
        let zero = g.scalar_like(0.0, counts)?;
        g.one(Op::Greater, &[counts, zero])
    }

    /// The scores, with another number where the leaves of a row have no weight.
    fn scores_where_reached(
        &self,
        g: &mut OnnxImporter<'_>,
        n: &OnnxNode<'_>,
        scores: ValueId,
        otherwise: f64,
    ) -> Result<ValueId, Why> {
        let reached = self.reached(n)?;
        if reached.iter().all(|&reached| reached == Some(true)) {
            return Ok(scores);
        }
        let known: Option<Vec<i64>> = reached.into_iter().map(|reached| reached.map(i64::from)).collect();
        let reached = match known {
            Some(known) => {
                let known = g.ints(&known)?;
                g.cast(known, DType::I1)?
            }
            None => self.reached_by_row(g, n)?,
        };
        let otherwise = g.scalar_like(otherwise, scores)?;
        g.one(Op::SelectV2, &[reached, scores, otherwise])
    }
}

/// The numbers of an attribute, or of its tensor.
fn numbers(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, name: &str) -> Result<Vec<f32>, Why> {
    let Some(tensor) = n.tensor(&format!("{name}_as_tensor")) else {
        return Ok(n.floats(name).to_vec());
    };
    let constant = g.tensor_constant(tensor)?;
    let numbers = g.numbers_of(constant).ok_or_else(|| format!("{name}_as_tensor has no numbers"))?;
    Ok(numbers.into_iter().map(|number| number as f32).collect())
}

pub(super) fn tree_regressor(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let aggregate = n.word("aggregate_function", "SUM")?;
    let n_targets = n.int_or("n_targets", 1);
    let sums = TreeSums::new(g, n, "target", n_targets)?;
    let mut scores = sums.based(g, n, aggregate)?;
    if n_targets > 1 && !sums.base.is_empty() {
        // A base value is added to weights only.
        scores = sums.scores_where_reached(g, n, scores, 0.0)?;
    }
    one(linked(g, scores, n_targets, n.word("post_transform", "NONE")?))
}

pub(super) fn tree_classifier(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let labels = Labels::new(g, n, "classlabels_int64s", "classlabels_strings")?;
    let sums = TreeSums::new(g, n, "class", labels.count)?;
    let post = n.word("post_transform", "NONE")?;
    match labels.count {
        ..1 => Err("it has no classes".to_owned()),
        1 if labels.are_strings => Err("a single class with a string is not supported".to_owned()),
        1 => {
            let scores = sums.based(g, n, "SUM")?;
            let labels = zero_and_one(g)?;
            Ok(vec![labels.above(g, scores, 0.0)?, linked(g, scores, 1, post)?])
        }
        2 => two_classes(g, n, labels, &sums, post),
        _ => {
            let scores = sums.based(g, n, "SUM")?;
            // A class without a weight or a base value is not chosen.
            let compared = if sums.base.is_empty() {
                sums.scores_where_reached(g, n, scores, f64::NEG_INFINITY)?
            } else {
                scores
            };
            Ok(vec![labels.of_largest(g, compared)?, linked(g, scores, labels.count, post)?])
        }
    }
}

/// The labels that ONNX Runtime gives where it does not use those of the node.
fn zero_and_one(g: &mut OnnxImporter<'_>) -> Result<Labels, Why> {
    Ok(Labels { values: g.ints(&[0, 1])?, count: 2, are_strings: false })
}

/// Two classes, whose label is that of the second class if its score is above a threshold. Where the leaves
/// of a row have no weight for the second class, the score is that of the first one.
fn two_classes(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    labels: Labels,
    sums: &TreeSums<'_>,
    post: &str,
) -> Lowered {
    let ids = n.ints("class_ids").unwrap_or_default();
    let is_one_scored = ids.iter().all(|&id| id == ids[0]);
    let are_positive = is_one_scored && sums.weights.iter().all(|&weight| weight >= 0.0);
    let labels = if is_one_scored || labels.are_strings { labels } else { zero_and_one(g)? };
    let scores = sums.aggregated(g, n, "SUM", &sums.weights)?;
    let columns = |g: &mut OnnxImporter<'_>, matrix: ValueId| -> Result<[ValueId; 2], Why> {
        Ok([g.slice(matrix, 1, 0, Some(1))?, g.slice(matrix, 1, 1, Some(2))?])
    };
    let [first, second] = columns(g, scores)?;
    let reached = sums.reached(n)?;
    let by_row = match reached.contains(&None) {
        true => {
            let reached = sums.reached_by_row(g, n)?;
            Some(columns(g, reached)?)
        }
        false => None,
    };
    // `then` if the leaves of the row have a weight for the class, else `otherwise`.
    let select = |g: &mut OnnxImporter<'_>, class: usize, then: ValueId, otherwise: ValueId| match (
        reached[class],
        by_row,
    ) {
        (None, Some(by_row)) => g.one(Op::SelectV2, &[by_row[class], then, otherwise]),
        (reached, _) => Ok(if reached == Some(true) { then } else { otherwise }),
    };
    let based = |i: usize| sums.base.get(i).copied().map_or(0.0, f64::from);
    let first_based = g.plus(first, based(0))?;
    let (mut score, mut scores) = (first_based, first_based);
    if reached[1] != Some(true) {
        scores = match sums.base.len() {
            2 => {
                let both = g.concat(&[first_based, second], 1)?;
                linked(g, both, 2, post)?
            }
            1 if !is_one_scored => return Err("one of base_values for scores of both classes".to_owned()),
            _ => of_two_classes(g, first_based, are_positive, post)?,
        };
    }
    if reached[1] != Some(false) {
        let (other, of_second) = if sums.base.len() == 2 {
            let score = g.plus(first, based(1))?;
            (g.one(Op::Neg, &[score])?, score)
        } else {
            (first_based, second)
        };
        let other = select(g, 0, other, first)?;
        let both = g.concat(&[other, of_second], 1)?;
        let both = linked(g, both, 2, post)?;
        score = select(g, 1, of_second, score)?;
        scores = select(g, 1, both, scores)?;
    }
    let threshold = if are_positive { 0.5 } else { 0.0 };
    Ok(vec![labels.above(g, score, threshold)?, scores])
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
        4 => "PROBIT",
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
    let linked = linked(g, scores, n.int_or("n_targets", 1), post)?;
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
