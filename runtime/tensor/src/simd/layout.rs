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

/// Some steps of a panel of the right matrix: packed, one after another, or where they lie in a row-major
/// matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelSteps<'a> {
    /// From the first step on.
    numbers: &'a [f32],
    /// From step to step.
    stride: usize,
    len: usize,
}

impl<'a> PanelSteps<'a> {
    /// No steps.
    pub(crate) const NONE: PanelSteps<'static> = PanelSteps { numbers: &[], stride: PANEL, len: 0 };

    /// Steps that were packed.
    pub(crate) fn packed(steps: &'a [PanelStep]) -> PanelSteps<'a> {
        PanelSteps { numbers: steps.as_flattened(), stride: PANEL, len: steps.len() }
    }

    /// `len` steps, `stride` numbers apart. `None` if they are not all there.
    pub(crate) fn strided(numbers: &'a [f32], stride: usize, len: usize) -> Option<PanelSteps<'a>> {
        let end = len.checked_sub(1)?.checked_mul(stride)?.checked_add(PANEL)?;
        (end <= numbers.len()).then_some(PanelSteps { numbers, stride, len })
    }

    /// The number of steps.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The numbers from step to step.
    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// A step below the number of steps.
    #[inline(always)]
    pub(super) fn step(&self, p: usize) -> &'a PanelStep {
        let step = self.numbers[p * self.stride..].first_chunk();
        step.expect("a panel has its steps")
    }

    /// Steps from `from` on, at most `most`.
    pub(crate) fn part(&self, from: usize, most: usize) -> PanelSteps<'a> {
        let from = from.min(self.len);
        let numbers = self.numbers.get(from * self.stride..).unwrap_or(&[]);
        PanelSteps { numbers, len: most.min(self.len - from), ..*self }
    }
}

/// Some steps of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The left matrix's rows.
    pub(crate) a: &'a TileRows,
    /// The right matrix's panel: as many steps as there are, [`MAX_STEPS`] at most.
    pub(crate) b: PanelSteps<'a>,
    /// Numbers that will be needed after the tile, and are asked for meanwhile; of many, as many as there is
    /// time for.
    pub(crate) next: &'a [f32],
}

/// Rows of a result, each from some column on.
pub(crate) enum OutRows<'a, 'o> {
    /// In one slice, at a constant stride.
    Strided(&'a mut [f32], usize),
    /// In slices of their own, from this column on: the columns of a result that one thread computes.
    Apart(&'a mut [&'o mut [f32]], usize),
}

impl<'o> OutRows<'_, 'o> {
    /// Row `i`, and perhaps more.
    #[inline(always)]
    pub(crate) fn row(&mut self, i: usize) -> &mut [f32] {
        match self {
            OutRows::Strided(out, stride) => &mut out[i * *stride..],
            OutRows::Apart(rows, col) => &mut rows[i][*col..],
        }
    }

    /// The rows from `row` on, from column `col` on.
    pub(crate) fn from(&mut self, row: usize, col: usize) -> OutRows<'_, 'o> {
        match self {
            OutRows::Strided(out, stride) => OutRows::Strided(&mut out[row * *stride + col..], *stride),
            OutRows::Apart(rows, before) => OutRows::Apart(&mut rows[row..], *before + col),
        }
    }
}

/// A precision that is lower than that of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 16 bits, with the exponent of f32.
    Bf16,
    /// 8 bits, with scales and zero points.
    Int8,
}

impl Precision {
    /// The steps in a group of four bytes.
    pub(crate) fn steps(self) -> usize {
        match self {
            Precision::Bf16 => 2,
            Precision::Int8 => 4,
        }
    }

    /// The bytes of a number.
    pub(crate) fn size(self) -> usize {
        4 / self.steps()
    }

    /// The most steps whose sums cannot overflow.
    pub fn max_steps(self) -> usize {
        match self {
            Precision::Bf16 => usize::MAX,
            Precision::Int8 => 1 << 16,
        }
    }
}

/// Where a tile's sums go.
pub(crate) struct Place<'a, 'o> {
    /// From the tile's first element on.
    pub(crate) out: OutRows<'a, 'o>,
    /// Whether the sums are added to what is there.
    pub(crate) add: bool,
}

impl Place<'_, '_> {
    /// Where row `i` goes.
    #[inline(always)]
    pub(super) fn row(&mut self, i: usize) -> &mut [f32] {
        &mut self.out.row(i)[..PANEL]
    }
}

/// Whether the portable code has a fused multiply-add.
pub(super) const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
