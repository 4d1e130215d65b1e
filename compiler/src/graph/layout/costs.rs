//! Layout costs of operators by device.
//!
//! A cost is additional data movement, in quarters of one pass over the operator's images. A kernel that
//! transposes its operand and its result internally costs 4. An explicit transposition passes over the image
//! once. The costs of the CPU functions are a column of the operators' rows.

use befrost_tensor::tf::op::Op;

use super::Layout;

/// The costs of the layouts of operators on a device.
pub(super) struct Device {
    nchw: fn(Op) -> u64,
    nhwc: fn(Op) -> u64,
}

/// Higher than the cost of all transpositions of a graph.
const NEVER: u64 = 1 << 16;

/// Our CPU kernels: a vector register holds adjacent channels.
const CPU: Device = Device { nchw: |op| op.row().nchw_cost(), nhwc: |_| 0 };

const ALWAYS_NCHW: Device = Device { nchw: |_| 0, nhwc: |_| NEVER };
const ALWAYS_NHWC: Device = Device { nchw: |_| NEVER, nhwc: |_| 0 };

/// The cost table for the value of the pass option.
pub(super) fn device(choice: &str) -> &'static Device {
    match choice {
        "nchw" => &ALWAYS_NCHW,
        "nhwc" => &ALWAYS_NHWC,
        _ => &CPU,
    }
}

impl Device {
    /// The cost of a layout for each element of the operator's images, in quarters of moving it once.
    pub(super) fn cost(&self, op: Op, layout: Layout) -> u64 {
        match layout {
            Layout::Nchw => (self.nchw)(op),
            Layout::Nhwc => (self.nhwc)(op),
        }
    }
}
