//! `tf-layout`: where the channels of images stand, for each operator.
//!
//! ```text
//! image, channels first ─▶ Conv2D ─▶ Relu ─▶ MaxPool ─▶ result        four operators written for channels first, on a device that wants them last
//!
//!          1. which layout each operator is written for                (`network`, from `data_format` and from transpositions between layouts)
//!          2. which one it gets: that of the least cost                (`costs`, `cut`)
//!          3. operators are turned, transpositions put between         (`turn`, by the table of `roles`)
//!
//! image ─Transpose▶ Conv2D ─▶ Relu ─▶ MaxPool ─Transpose▶ result
//! ```
//!
//! **The choice** is a minimal cut. Every operator that can be turned is a node; it is on the side of channels last or first. Operators that have
//! a layout attribute cost something on one of the sides, by the table of the device; a value costs its size
//! if who makes it and who reads it are on different sides, once for all readers. What cannot be turned
//! (arguments, results, a matrix product) stays as it is written. A transposition that is there between two
//! layouts is no node: it only says that its two ends are written differently, so it vanishes where both ends
//! come to the same side, wherever it stood.
//!
//! Only tensors of rank 4 are images, and only what is connected with an operator that has a layout, or with
//! such a transposition, is looked at. Constants are turned for nothing; `tf-constant-fold` afterwards turns
//! their elements, and drops pairs of transpositions.

mod costs;
mod cut;
mod network;
mod roles;
mod turn;

use rustc_hash::FxHashMap;

use super::effects::functions;
use super::signatures;
use crate::ir::{BlockId, OpId};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-layout",
    title: "TFLayout",
    summary: "chooses where the channels of images stand, with the fewest transpositions",
    options: &[PassOption {
        name: "layout",
        summary: "nhwc or nchw: all operators that can have it; auto: what costs the device least",
        kind: OptionKind::Word("auto", &["auto", "nchw", "nhwc"]),
    }],
    statistics: &[("num-turned", "Number of operators turned")],
    run,
};

/// Where the channels of an image stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Behind the batch: NCHW.
    First,
    /// Behind the plane: NHWC.
    Last,
}

/// The axes of an image in the other order: axis i of what comes out is axis `order[i]` of what goes in.
type Order = [usize; 4];

impl Layout {
    fn other(self) -> Layout {
        match self {
            Layout::First => Layout::Last,
            Layout::Last => Layout::First,
        }
    }

    /// The transposition that makes this layout of the other.
    fn order(self) -> Order {
        match self {
            Layout::Last => [0, 2, 3, 1],
            Layout::First => [0, 3, 1, 2],
        }
    }

    /// The layout that a transposition makes of the other one.
    fn made_by(order: &[i64]) -> Option<Layout> {
        match order {
            [0, 2, 3, 1] => Some(Layout::Last),
            [0, 3, 1, 2] => Some(Layout::First),
            _ => None,
        }
    }

    /// Its name in attributes.
    fn name(self) -> &'static str {
        match self {
            Layout::First => "NCHW",
            Layout::Last => "NHWC",
        }
    }
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let device = costs::device(cx.text("layout"));
    let mut order: Vec<OpId> = functions(r.ir()).into_values().collect();
    order.sort_by_key(|op| op.0);
    for function in order {
        let m = r.ir();
        let [region] = m.regions_of(function) else { continue };
        let &[block] = m.blocks_of(*region) else { continue };
        let turned = choose(r, block, device);
        cx.count("num-turned", turned.len() as u64);
        if !turned.is_empty() {
            turn::turn(r, block, &turned);
        }
    }
    signatures::refresh(r);
    r.change()
}

/// The ops of a block that get another layout than they are written for, with that layout.
fn choose(r: &Rewriter<'_>, block: BlockId, device: &costs::Device) -> FxHashMap<OpId, Layout> {
    let network = network::Network::new(r.ir(), block);
    if network.is_empty() {
        return FxHashMap::default();
    }
    network.labels(r.ir(), device)
}
