//! Invariants of loops that several devices read: each device gets a variable of its own.
//!
//! ```text
//! tf.While(%x) {body = @body}                     tf.While(%x, %x) {body = @body}
//! @body(%c):                                      @body(%c, %d):
//!   %a = tf.Sin(%c) {device = SIM:0}       ──▶      %a = tf.Sin(%c) {device = SIM:0}
//!   %b = tf.Cos(%c) {device = SIM:1}                %b = tf.Cos(%d) {device = SIM:1}
//! ```
//!
//! An invariant that one device reads has its home there ([`homes`](super::homes)), so it is transferred in
//! front of the loop. An inner loop is split before the one around it, whose invariant then has two readers.
//!
//! Not here: what functions that the body calls read on several devices.

use std::collections::BTreeSet;

use super::homes::Homes;
use super::is_handle;
use super::specs::{DeviceIndex, Devices};
use crate::dialects::tf;
use crate::graph::licm::{MAX_DEPTH, WhileLoop, each_loop};
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::pass::Rewriter;
use crate::rewrite::signatures;

/// Splits the invariants of all loops whose functions have no other callers.
pub(super) fn split(r: &mut Rewriter<'_>, devices: &Devices) {
    // Transfers between devices that share a memory are free.
    if !devices.have_memories() {
        return;
    }
    for _ in 0..MAX_DEPTH {
        let homes = Homes::of_module(r.ir(), devices);
        let mut n_split = 0;
        each_loop(r, |r, parts| n_split += split_loop(r, parts, &homes, devices));
        if n_split == 0 {
            break;
        }
        signatures::refresh(r);
    }
}

/// Splits the invariants of a loop. Returns the number of new variables.
fn split_loop(r: &mut Rewriter<'_>, parts: &WhileLoop, homes: &Homes<'_>, devices: &Devices) -> usize {
    let m = r.ir();
    let mut split: Vec<(usize, DeviceIndex)> = Vec::new();
    for (i, (&arg, returned)) in m.args(parts.body).iter().zip(m.operands(parts.end)).enumerate() {
        let is_tensor = tf::type_of(&m.cx, m.value_type(arg)).is_some();
        let Some(home) = homes.home(m, arg).filter(|_| arg == returned && is_tensor && !is_handle(m, arg))
        else {
            continue;
        };
        let is_other =
            |&device: &DeviceIndex| device != home && !(devices.is_host(device) && devices.is_host(home));
        let blocks = [parts.cond, parts.body];
        let others: BTreeSet<DeviceIndex> = blocks
            .iter()
            .flat_map(|&block| readers(m, homes, block, i))
            .map(|(_, _, device)| device)
            .filter(is_other)
            .collect();
        split.extend(others.into_iter().map(|device| (i, device)));
    }
    if split.is_empty() {
        return 0;
    }
    let outside: Vec<ValueId> = split.iter().map(|&(i, _)| m.operand(parts.op, i)).collect();
    let types: Vec<TypeId> = outside.iter().map(|&value| m.value_type(value)).collect();
    let reads: Vec<Vec<(OpId, usize)>> = split
        .iter()
        .flat_map(|&(i, device)| [(parts.cond, i, device), (parts.body, i, device)])
        .map(|(block, i, device)| {
            let all = readers(m, homes, block, i).into_iter().filter(|read| read.2 == device);
            all.map(|(op, operand, _)| (op, operand)).collect()
        })
        .collect();
    let (new, args) = parts.grown(r, &outside, &types);
    let results: Vec<ValueId> = r.ir().results(new).collect();
    r.replace_op(parts.op, &[&results[..parts.n], &results[parts.n + types.len()..]].concat());
    parts.returns_also(r, &args);
    let in_cond = r.ir().args(parts.cond)[parts.n..].to_vec();
    let new_args = in_cond.into_iter().zip(args).flat_map(|(in_cond, in_body)| [in_cond, in_body]);
    for (reads, arg) in reads.into_iter().zip(new_args) {
        reads.into_iter().for_each(|(op, operand)| r.set_operand(op, operand, arg));
    }
    split.len()
}

/// The ops that read an argument of a block, with the number of the operand and the device.
fn readers(m: &Module, homes: &Homes<'_>, block: BlockId, i: usize) -> Vec<(OpId, usize, DeviceIndex)> {
    let users = m.users(m.args(block)[i]);
    users.filter_map(|(op, operand)| Some((op, operand, homes.wanted(m, op, operand)?))).collect()
}
