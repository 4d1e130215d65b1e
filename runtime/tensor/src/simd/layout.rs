//! Sizes of what the functions here work on, and what they are given.

/// Columns in a panel of a packed matrix.
pub const PANEL: usize = 32;

/// Numbers in a cache line.
pub(crate) const LINE: usize = 16;

/// The most rows that a tile has on any machine.
pub(crate) const MAX_ROWS: usize = 14;

/// One step along the inner dimension in a panel.
pub(crate) type PanelStep = [f32; PANEL];

/// The most steps of a segment.
pub(crate) const MAX_STEPS: usize = 384;

/// From row to row in [`TileRows`]: a constant, so that the rows' addresses cost no registers; 25 cache
/// lines, so that they do not share sets.
pub(crate) const ROW: usize = MAX_STEPS + 16;

/// Where some steps of a row are copied to.
pub(crate) type Row = [f32; ROW];

/// Where some steps of a tile's rows are copied to, in whole cache lines: 22 KB.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct TileRows(pub(crate) [Row; MAX_ROWS]);

/// Some steps of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The left matrix's rows.
    pub(crate) a: &'a TileRows,
    /// The right matrix's panel: as many steps as there are, [`MAX_STEPS`] at most.
    pub(crate) b: &'a [PanelStep],
    /// Numbers that will be needed after the tile, and are asked for meanwhile; of many, as many as there is
    /// time for.
    pub(crate) next: &'a [f32],
}

/// Where a tile's sums go.
pub(crate) struct Place<'a> {
    /// From the tile's first element on.
    pub(crate) out: &'a mut [f32],
    /// From row to row.
    pub(crate) stride: usize,
    /// Whether the sums are added to what is there.
    pub(crate) add: bool,
}

impl Place<'_> {
    /// Where row `i` goes.
    #[inline(always)]
    pub(super) fn row(&mut self, i: usize) -> &mut [f32] {
        &mut self.out[i * self.stride..][..PANEL]
    }
}

/// Whether the portable code has a fused multiply-add.
pub(super) const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
