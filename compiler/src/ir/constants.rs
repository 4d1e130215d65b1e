//! Garbage collection of large constants.
//!
//! Attributes are interned for good, but the bytes of large constants are dropped once no op can reach them:
//! weights that were packed, operands that were folded. An attribute that is part of another one, of a type
//! or of a location counts as reachable, so only ops are searched.

use super::{AttrId, AttrKind, LocKind, Module, TypeKind};
use crate::ir::entity::EntityId;

/// Statistics of large constants, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Large {
    /// All large constants held.
    pub(super) bytes: usize,
    /// Large constants held after the last search.
    kept: usize,
}

/// The least growth that is worth a search.
const MIN_GROWTH: usize = 1 << 20;

impl Large {
    /// True if the constants have grown enough since the last search.
    fn has_grown(self) -> bool {
        self.bytes.saturating_sub(self.kept) > MIN_GROWTH.max(self.kept / 8)
    }
}

impl AttrKind {
    /// Bytes freed when the attribute is dropped.
    #[inline]
    pub(super) fn n_shared(&self) -> usize {
        match self {
            AttrKind::Dense { data, .. } | AttrKind::DenseArray { data, .. } => data.n_shared(),
            _ => 0,
        }
    }
}

impl Module {
    /// Drops the bytes of large constants to which no op refers, if there may be many of them. The search is
    /// repeated only after the constants have grown by an eighth, so frequent calls cost little.
    pub fn drop_dead_constants(&mut self) {
        if !self.cx.large.has_grown() {
            return;
        }
        let mut is_dead: Vec<bool> = self.cx.attr_ids().map(|id| self.cx.attr(id).n_shared() > 0).collect();
        let mut keep = |id: AttrId| is_dead[id.index()] = false;
        for (_, op) in self.ops.iter().filter(|(_, op)| !op.erased) {
            op.attrs.iter().map(|&(_, attr)| attr).chain(op.properties.get()).for_each(&mut keep);
        }
        for id in self.cx.attr_ids() {
            match self.cx.attr(id) {
                AttrKind::Array(elements) => elements.iter().copied().for_each(&mut keep),
                AttrKind::Dict(entries) => entries.iter().for_each(|&(_, value)| keep(value)),
                AttrKind::Sparse { indices, values, .. } => {
                    [*indices, *values].into_iter().for_each(&mut keep);
                }
                AttrKind::Distinct { of, .. } => keep(*of),
                _ => {}
            }
        }
        for id in self.cx.type_ids() {
            match self.cx.ty(id) {
                TypeKind::Tensor { encoding, .. } => encoding.iter().copied().for_each(&mut keep),
                TypeKind::MemRef { layout, space, .. } => {
                    layout.iter().chain(space).copied().for_each(&mut keep);
                }
                _ => {}
            }
        }
        for loc in self.cx.loc_kinds() {
            if let LocKind::Fused { metadata, .. } = loc {
                metadata.iter().copied().for_each(&mut keep);
            }
        }
        let dead: Vec<AttrId> = self.cx.attr_ids().filter(|id| is_dead[id.index()]).collect();
        dead.into_iter().for_each(|id| self.cx.drop_large(id));
        self.cx.large.kept = self.cx.large.bytes;
    }
}

#[cfg(test)]
mod tests {
    use crate::dialects::tf;
    use crate::ir::{AttrKind, Blob, KnownType, Module, names};

    #[test]
    fn constants_go_with_the_last_op_that_refers_to_them() {
        let mut m = Module::new();
        let constant = |m: &mut Module, byte: u8| {
            let ty = tf::tensor(&mut m.cx, Some(&[1 << 20]), KnownType::I8.id());
            m.cx.attr_id(AttrKind::Dense { ty, splat: false, data: Blob::from(vec![byte; 1 << 20]) })
        };
        let is_held =
            |m: &Module, id| matches!(m.cx.attr(id), AttrKind::Dense { data, .. } if data.len() == 1 << 20);
        let [used, nested, dead] = [1, 2, 3].map(|byte| constant(&mut m, byte));
        let array = m.cx.array_attr(&[nested]);
        let top = m.top();
        m.set_attr(top, names::VALUE, used);
        m.drop_dead_constants();
        assert!(is_held(&m, used) && is_held(&m, nested) && !is_held(&m, dead));
        // Equal contents may come again, as another attribute.
        let again = constant(&mut m, 3);
        assert!(again != dead && is_held(&m, again) && constant(&mut m, 1) == used);
        m.set_attr(top, names::VALUE, array);
        // Too little was added for a search.
        m.drop_dead_constants();
        assert!(is_held(&m, used) && is_held(&m, again));
        let more = constant(&mut m, 4);
        m.drop_dead_constants();
        assert!(![used, again, more].iter().any(|&id| is_held(&m, id)) && is_held(&m, nested));
    }
}
