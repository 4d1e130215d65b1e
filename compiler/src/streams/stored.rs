//! Streams in a BEF file.
//!
//! Unless a threshold or TFRT's order is requested, streams of small kernels are merged into the stream that
//! starts them. If only one stream has other kernels, it contains all kernels. A function of constants and
//! sums is one stream, which the executor runs as straight code.
//!
//! A recv only begins to wait, so it stays in the stream that starts its own: a part of a program begins all
//! of its waits without a task for each. A send only hands over, so a stream of sends and small kernels is
//! merged, too. As a task it would stand behind the work of the stream that starts it, if the device has one
//! thread, and the part that waits for what is sent would wait for that work.

use super::{Analysis, Loops, Stream, StreamOptions, Streams};
use crate::dialects::{Cost, Traits, dev};
use crate::ir::{BlockId, Module, OpId};

/// The least number of small kernels that is worth a task.
pub(super) const WORTH_A_TASK: usize = 256;

impl Analysis<'_> {
    /// The stored streams of a block's ops, by position. Stream 0, where execution begins, is the root's and
    /// may have no kernels. The others follow without gaps, so none is greater than the number of kernels.
    /// `None` if there is only one.
    pub fn stored(&mut self, block: BlockId, options: &StreamOptions) -> Option<Vec<u32>> {
        if !options.stores_all && !is_worth_a_task(self.m, block) {
            return None;
        }
        let streams = self.block(block, &StreamOptions { merges_left_over: !options.stores_all, ..*options });
        if streams.streams.len() == 1 {
            return None;
        }
        let home = match options.stores_all {
            true => (0..streams.streams.len() as u32).collect(),
            false => streams.homes(self.m, &self.ops)?,
        };
        streams.numbered(self.m, &self.ops, &home)
    }

    /// The stored streams of a block that is the body of a loop with overlapping iterations.
    pub fn stored_of_body(
        &mut self,
        block: BlockId,
        options: &StreamOptions,
        loops: &Loops,
    ) -> Option<Vec<u32>> {
        let streams = self.stored(block, options);
        if options.stores_all {
            return streams;
        }
        let ops: Vec<OpId> = self.m.ops_in(block).collect();
        self.split(&ops, loops, streams)
    }
}

fn is_small(m: &Module, op: OpId) -> bool {
    m.def(op).is_some_and(|def| match def.cost {
        Cost::Small | Cost::Fixed(_) => true,
        // A constant is a view of the file.
        Cost::Unknown => def.traits.has(Traits::CONSTANT),
        Cost::Large => false,
    })
}

fn is_worth_a_task(m: &Module, block: BlockId) -> bool {
    let mut n_small = 0;
    m.ops_in(block).any(|op| {
        n_small += 1;
        n_small > WORTH_A_TASK || !is_small(m, op)
    })
}

impl Streams {
    /// The kernels with their streams; returns are none.
    fn kernels<'s>(&'s self, m: &'s Module, ops: &'s [OpId]) -> impl Iterator<Item = (OpId, u32)> + 's {
        let all = ops.iter().copied().zip(self.of.iter().copied());
        all.filter(|&(op, _)| m.def(op).is_none_or(|def| !def.traits.has(Traits::RETURN)))
    }

    /// For each stream, the stream that it is merged into, so that all are worth a task. `None` if one is
    /// enough.
    fn homes(&self, m: &Module, ops: &[OpId]) -> Option<Vec<u32>> {
        // Sends and recvs, and the others as if all were small.
        let (mut meets, mut n_small) = (vec![false; self.streams.len()], vec![0; self.streams.len()]);
        for (op, stream) in self.kernels(m, ops) {
            match m.op_name_str(op) {
                dev::SEND | dev::RECV => meets[stream as usize] = true,
                _ => n_small[stream as usize] += if is_small(m, op) { 1 } else { WORTH_A_TASK },
            }
        }
        let is_worth = |&stream: &u32| n_small[stream as usize] >= WORTH_A_TASK;
        let mut home: Vec<u32> = (0..self.streams.len() as u32).collect();
        home.iter().filter(|stream| is_worth(stream) || meets[**stream as usize]).nth(1)?;
        for stream in self.parents_first() {
            if let Some(Stream { parent: Some((parent, _)), .. }) = self.stream(stream)
                && !is_worth(&stream)
            {
                home[stream as usize] = home[parent as usize];
            }
        }
        Some(home)
    }

    /// The streams of kernels by position, numbered in their order.
    fn numbered(&self, m: &Module, ops: &[OpId], home: &[u32]) -> Option<Vec<u32>> {
        let of = |op: OpId, stream: u32| match self.stream(stream).and_then(|stream| stream.parent) {
            Some((parent, _)) if m.op_name_str(op) == dev::RECV => home[parent as usize],
            _ => home[stream as usize],
        };
        let mut has_kernel = vec![false; home.len()];
        for (op, stream) in self.kernels(m, ops) {
            has_kernel[of(op, stream) as usize] = true;
        }
        let mut ids = vec![0; home.len()];
        let others = (1..has_kernel.len()).filter(|&stream| has_kernel[stream]);
        for (n, stream) in (1..).zip(others) {
            ids[stream] = n;
        }
        let n_streams = has_kernel.iter().filter(|has| **has).count();
        let all = ops.iter().zip(&self.of);
        (n_streams > 1).then(|| all.map(|(&op, &stream)| ids[of(op, stream) as usize]).collect())
    }

    /// All streams, each after the one that starts it.
    pub(super) fn parents_first(&self) -> Vec<u32> {
        let parent = |id: u32| self.streams[id as usize].parent.map(|(parent, _)| parent);
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.streams.len()];
        let mut order = Vec::with_capacity(self.streams.len());
        for id in 0..self.streams.len() as u32 {
            match parent(id) {
                Some(parent) => children[parent as usize].push(id),
                None => order.push(id),
            }
        }
        let mut at = 0;
        while let Some(&id) = order.get(at) {
            order.append(&mut children[id as usize]);
            at += 1;
        }
        order
    }
}
