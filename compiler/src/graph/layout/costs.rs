//! What devices want.
//!
//! The numbers say how often an operator moves its images more than it must, in quarters: a kernel that turns
//! its operand and its result inside has 4. They are compared with the cost of a transposition, which moves
//! an image once.

use befrost_tensor::tf::op::Op;

use super::Layout;

/// What the layouts of operators cost on a device.
pub(super) struct Device {
    first: fn(Op) -> u64,
    last: fn(Op) -> u64,
}

/// More than all transpositions of a graph.
const NEVER: u64 = 1 << 16;

/// Our kernels for processors: a vector register holds neighbouring channels.
const CPU: Device = Device {
    first: |op| match op {
        // Beyond the turning inside, nothing can be fused with these, and their weights cannot be packed.
        Op::Conv2D
        | Op::DepthwiseConv2dNative
        | Op::_FusedConv2D
        | Op::_FusedDepthwiseConv2dNative
        | Op::Conv2DBackpropFilter
        | Op::Conv2DBackpropInput
        | Op::DepthwiseConv2dNativeBackpropFilter
        | Op::DepthwiseConv2dNativeBackpropInput => 16,
        Op::BiasAdd | Op::BiasAddGrad => 1,
        _ => 4,
    },
    last: |_| 0,
};

const ALWAYS_FIRST: Device = Device { first: |_| 0, last: |_| NEVER };
const ALWAYS_LAST: Device = Device { first: |_| NEVER, last: |_| 0 };

/// The costs by the pass's option.
pub(super) fn device(choice: &str) -> &'static Device {
    match choice {
        "nchw" => &ALWAYS_FIRST,
        "nhwc" => &ALWAYS_LAST,
        _ => &CPU,
    }
}

impl Device {
    /// What an operator costs for each element of its images, in quarters of moving it once.
    pub(super) fn cost(&self, op: Op, layout: Layout) -> u64 {
        match layout {
            Layout::First => (self.first)(op),
            Layout::Last => (self.last)(op),
        }
    }
}
