//! Several trees walked at once against one after the other.

use super::*;
use crate::mem::{Allocator, Malloc};
use proptest::prelude::*;
use std::sync::Arc;

const MODES: [&str; 7] =
    ["LEAF", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"];
const N_FEATURES: usize = 3;

/// Numbers that are often equal, and often special.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-2i32..3).prop_map(f64::from),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(0.1),
    ]
}

/// Trees whose children have higher numbers than their parents, so that a node may have several parents.
fn lists() -> impl Strategy<Value = TreeLists> {
    let node = (0..MODES.len(), 0..N_FEATURES as i64, number(), any::<bool>(), any::<[u8; 2]>());
    let tree = proptest::collection::vec(node, 1..12);
    proptest::collection::vec(tree, 1..20).prop_map(|trees| {
        let mut lists = TreeLists::default();
        for (tree, nodes) in (0..).zip(&trees) {
            for (i, &(mode, feature, value, missing, children)) in nodes.iter().enumerate() {
                let below = nodes.len() - 1 - i;
                let mode = if below == 0 { 0 } else { mode };
                let child = |byte: u8| if mode == 0 { 0 } else { (i + 1 + usize::from(byte) % below) as i64 };
                lists.nodes_treeids.push(tree);
                lists.nodes_nodeids.push(i as i64);
                lists.nodes_featureids.push(feature);
                lists.nodes_modes.push(MODES[mode].to_owned());
                lists.nodes_values.push(value);
                lists.nodes_truenodeids.push(child(children[0]));
                lists.nodes_falsenodeids.push(child(children[1]));
                lists.nodes_missing_value_tracks_true.push(missing.into());
                if mode == 0 {
                    lists.target_treeids.push(tree);
                    lists.target_nodeids.push(i as i64);
                    lists.target_ids.push((i % 2) as i64);
                    lists.target_weights.push((tree * 100) as f64 + i as f64);
                }
            }
        }
        lists
    })
}

/// The sums of both targets, by ONNX's words.
fn walked(lists: &TreeLists, row: &[f64]) -> [f32; 2] {
    let mut sums = [0.0; 2];
    let place = |tree: i64, node: i64| {
        let places = lists.nodes_treeids.iter().zip(&lists.nodes_nodeids);
        places.clone().position(|key| key == (&tree, &node)).unwrap()
    };
    for tree in 0..=*lists.nodes_treeids.last().unwrap() {
        let mut at = place(tree, 0);
        while lists.nodes_modes[at] != "LEAF" {
            let (x, value) = (row[lists.nodes_featureids[at] as usize], lists.nodes_values[at]);
            let holds = match &lists.nodes_modes[at][..] {
                _ if x.is_nan() => lists.nodes_missing_value_tracks_true[at] != 0,
                "BRANCH_LEQ" => x <= value,
                "BRANCH_LT" => x < value,
                "BRANCH_GTE" => x >= value,
                "BRANCH_GT" => x > value,
                "BRANCH_EQ" => x == value,
                _ => x != value,
            };
            let children = if holds { &lists.nodes_truenodeids } else { &lists.nodes_falsenodeids };
            at = place(tree, children[at]);
        }
        let node = lists.nodes_nodeids[at];
        sums[(node % 2) as usize] += (tree * 100) as f32 + node as f32;
    }
    sums
}

proptest! {
    #[test]
    fn walks_of_several_trees_are_those_of_one(
        lists in lists(),
        rows in proptest::collection::vec(number(), 1..5 * N_FEATURES),
        is_double: bool,
    ) {
        let n = rows.len() / N_FEATURES;
        let rows = &rows[..n * N_FEATURES];
        let trees = Trees::new("_TreeEnsemble", &lists, 2, Aggregate::Sum).unwrap();
        // 0.1 is no f32.
        let tested = lists.nodes_values.iter().zip(&lists.nodes_modes).filter(|(_, mode)| *mode != "LEAF");
        let is_wide = tested.map(|(value, _)| *value).any(|value| value == 0.1);
        prop_assert_eq!(matches!(trees.nodes, TreeNodes::Wide(_)), is_wide);
        let x = if is_double {
            HostTensor::from_vec([n, N_FEATURES], rows.to_vec())
        } else {
            HostTensor::from_vec([n, N_FEATURES], rows.iter().map(|&x| x as f32).collect::<Vec<f32>>())
        };
        let rows: Vec<f64> =
            rows.iter().map(|&x| if is_double { x } else { f64::from(x as f32) }).collect();
        let allocator: Arc<dyn Allocator> = Malloc::shared();
        let found = trees.run("_TreeEnsemble", &x.unwrap(), &Cx::serial(&allocator)).unwrap();
        let want: Vec<f32> = rows.chunks_exact(N_FEATURES).flat_map(|row| walked(&lists, row)).collect();
        prop_assert_eq!(found.to_vec::<f32>().unwrap(), want);
    }
}

#[test]
fn bad_lists_are_refused() {
    let of = |modes: &[&str], children: &[i64], feature: i64| {
        let n = modes.len();
        let lists = TreeLists {
            nodes_treeids: vec![0; n],
            nodes_nodeids: (0..n as i64).collect(),
            nodes_featureids: vec![feature; n],
            nodes_modes: modes.iter().map(|&mode| mode.to_owned()).collect(),
            nodes_values: vec![0.0; n],
            nodes_truenodeids: children.to_vec(),
            nodes_falsenodeids: children.to_vec(),
            ..TreeLists::default()
        };
        Trees::new("_TreeEnsemble", &lists, 1, Aggregate::Sum).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(of(&["BRANCH_LT", "LEAF"], &[1, 0], 0), Ok(()));
    for (modes, children, feature, want) in [
        (["BRANCH_LT", "BRANCH_LT"], [1, 0], 0, "is its own child"),
        (["BRANCH_LT", "LEAF"], [2, 0], 0, "the child 2 of node 0 of tree 0 does not exist"),
        (["BRANCH_LT", "LEAF"], [1, 0], -1, "tests feature -1"),
        (["BRANCH_LT", "LEAF"], [1, 0], 1 << 28, "tests feature 268435456"),
        (["BRANCH", "LEAF"], [1, 0], 0, "there is no mode"),
    ] {
        let error = of(&modes, &children, feature).unwrap_err();
        assert!(error.contains(want), "{error}");
    }
}
