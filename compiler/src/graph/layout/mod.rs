//! `tf-layout`: assignment of an image layout, NHWC or NCHW, to each operator.
//!
//! ```text
//! image, NCHW ─▶ Conv2D ─▶ Relu ─▶ MaxPool ─▶ result         written for NCHW, on a device that prefers NHWC
//!
//!          1. the layout that each operator is written for     (`network`: `data_format`, and transpositions
//!                                                               between layouts)
//!          2. the layout of least cost for each operator       (`costs`, `cut`)
//!          3. conversion of operators, with transpositions     (`convert`, by the table of `roles`)
//!             in between
//!
//! image ─Transpose▶ Conv2D ─▶ Relu ─▶ MaxPool ─Transpose▶ result
//! ```
//!
//! The choice is a minimum cut. Each convertible operator is a node, on the side of NHWC or of NCHW.
//! Operators with a layout attribute have a cost on one of the sides, by the table of the device. A value
//! costs its size if its producer and a reader are on different sides, once for all readers. Operators that
//! cannot be converted (arguments, results, a matrix product) keep their layout. An existing transposition
//! between layouts is not a node, but the information that its operand and its result are written for
//! different layouts. So it vanishes if both get the same layout.
//!
//! Only tensors of rank 4 are images. Only operators connected with an operator with a layout attribute, or
//! with a transposition between layouts, take part. Transpositions of constants are free: `tf-constant-fold`
//! folds them later, and cancels pairs of transpositions.

mod convert;
mod costs;

mod network;
mod roles;

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

/// Position of the channel axis of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// After the batch: NCHW.
    Nchw,
    /// Last: NHWC.
    Nhwc,
}

/// A permutation of the axes of an image: axis i of the result is axis `order[i]` of the operand.
type Permutation = [usize; 4];

impl Layout {
    fn other(self) -> Layout {
        match self {
            Layout::Nchw => Layout::Nhwc,
            Layout::Nhwc => Layout::Nchw,
        }
    }

    /// The permutation from the other layout to this one.
    fn order(self) -> Permutation {
        match self {
            Layout::Nhwc => [0, 2, 3, 1],
            Layout::Nchw => [0, 3, 1, 2],
        }
    }

    /// The layout that a permutation results in from the other layout.
    fn producer_if(order: &[i64]) -> Option<Layout> {
        match order {
            [0, 2, 3, 1] => Some(Layout::Nhwc),
            [0, 3, 1, 2] => Some(Layout::Nchw),
            _ => None,
        }
    }

    /// The layout as a value of `data_format`.
    fn name(self) -> &'static str {
        match self {
            Layout::Nchw => "NCHW",
            Layout::Nhwc => "NHWC",
        }
    }
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let device = costs::device(cx.text("layout"));
    let mut order: Vec<OpId> = functions(r.ir()).into_values().collect();
    order.sort_unstable();
    for function in order {
        let m = r.ir();
        let [region] = m.regions_of(function) else { continue };
        let &[block] = m.blocks_of(*region) else { continue };
        let converted = choose(r, block, device);
        cx.count("num-turned", converted.len() as u64);
        if !converted.is_empty() {
            convert::convert_block(r, block, &converted);
        }
    }
    signatures::refresh(r);
    r.change()
}

/// The ops of a block whose layout changes, with their new layout.
fn choose(r: &Rewriter<'_>, block: BlockId, device: &costs::Device) -> FxHashMap<OpId, Layout> {
    let network = network::Network::new(r.ir(), block);
    if network.is_empty() {
        return FxHashMap::default();
    }
    network.labels(r.ir(), device)
}
