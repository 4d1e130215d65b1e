//! `strip-debuginfo`: removal of the locations of ops and block arguments.

use super::{Change, Pass, PassCx, Rewriter};
use crate::ir::{LocId, OpId, ValueId};

pub(crate) const PASS: Pass = Pass {
    name: "strip-debuginfo",
    title: "StripDebugInfo",
    summary: "makes all locations unknown",
    options: &[],
    statistics: &[],
    run,
};

fn run(rewriter: &mut Rewriter<'_>, _: &PassCx<'_>) -> Change {
    let ops: Vec<OpId> = rewriter.ir().walk(rewriter.root()).collect();
    for op in ops {
        rewriter.set_loc(op, LocId::UNKNOWN);
        let ir = rewriter.ir();
        let args: Vec<ValueId> = ir
            .regions_of(op)
            .iter()
            .flat_map(|r| ir.blocks_of(*r).iter())
            .flat_map(|b| ir.args(*b).iter().copied())
            .collect();
        for arg in args {
            rewriter.set_arg_loc(arg, LocId::UNKNOWN);
        }
    }
    rewriter.change()
}
