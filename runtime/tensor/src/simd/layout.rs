//! Sizes and memory layouts of the operands of the functions in `simd`.

use super::finish::Epilogue;

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

/// The row stride of [`TileRows`]: 25 cache lines, so that rows do not share cache sets.
pub(crate) const ROW: usize = MAX_STEPS + 16;

/// The copied steps of a row.
pub(crate) type Row = [f32; ROW];

/// The copied steps of a tile's rows, in whole cache lines: 22 KB.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct TileRows(pub(crate) [Row; MAX_ROWS]);

impl TileRows {
    /// The numbers of the rows or steps.
    pub(crate) fn numbers_mut(&mut self) -> &mut [f32] {
        self.0.as_flattened_mut()
    }
}

/// Some steps of a panel of the right matrix: packed, one after another, or in place in a row-major matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelSteps<'a> {
    /// The numbers from the first step on.
    numbers: &'a [f32],
    /// The distance between steps.
    stride: usize,
    len: usize,
}

impl<'a> PanelSteps<'a> {
    /// No steps.
    pub(crate) const NONE: PanelSteps<'static> = PanelSteps { numbers: &[], stride: PANEL, len: 0 };

    /// Packed steps.
    pub(crate) fn packed(steps: &'a [PanelStep]) -> PanelSteps<'a> {
        PanelSteps { numbers: steps.as_flattened(), stride: PANEL, len: steps.len() }
    }

    /// `len` steps, `stride` numbers apart. `None` if there are none, or they reach outside of `numbers`.
    pub(crate) fn strided(numbers: &'a [f32], stride: usize, len: usize) -> Option<PanelSteps<'a>> {
        let end = len.checked_sub(1)?.checked_mul(stride)?.checked_add(PANEL)?;
        (end <= numbers.len()).then_some(PanelSteps { numbers, stride, len })
    }

    /// The number of steps.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The distance between steps, in numbers.
    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Step `p`, which is below [`PanelSteps::len`].
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

/// Some steps of a tile's left matrix.
#[derive(Clone, Copy)]
pub(crate) enum LeftSteps<'a> {
    /// Rows at a constant stride: copied ones, or the matrix itself.
    Rows(&'a [f32], usize),
    /// Copied steps: the elements of all rows at a step follow each other.
    Steps(&'a TileRows),
}

impl<'a> LeftSteps<'a> {
    /// Copied rows.
    pub(crate) fn copied(rows: &'a TileRows) -> LeftSteps<'a> {
        LeftSteps::Rows(rows.0.as_flattened(), ROW)
    }

    /// Rows where they are, unless some of them would displace each other from the cache: a set has eight
    /// lines, and at strides of 2 KB all rows share two sets.
    pub(crate) fn in_place(rows: &'a [f32], stride: usize) -> Option<LeftSteps<'a>> {
        (!stride.is_multiple_of(32 * LINE)).then_some(LeftSteps::Rows(rows, stride))
    }

    /// The steps from `from` on.
    pub(crate) fn from(self, from: usize) -> LeftSteps<'a> {
        match self {
            LeftSteps::Rows(rows, stride) => LeftSteps::Rows(rows.get(from..).unwrap_or(&[]), stride),
            LeftSteps::Steps(_) => self,
        }
    }

    /// The steps, with the elements of `N` rows ([`super::Isa::step`]); none of rows.
    #[inline(always)]
    pub(super) fn steps<const N: usize>(self) -> &'a [[f32; N]] {
        match self {
            LeftSteps::Steps(steps) => steps.0.as_flattened().as_chunks().0,
            LeftSteps::Rows(..) => &[],
        }
    }

    /// The rows and their stride.
    ///
    /// # Panics
    /// If there are fewer than `count` rows of `len > 0` elements, or steps.
    #[inline(always)]
    pub(super) fn rows(self, count: usize, len: usize) -> (&'a [f32], usize) {
        let LeftSteps::Rows(rows, stride) = self else { panic!("steps, not rows") };
        let end = (count - 1).checked_mul(stride).and_then(|last| last.checked_add(len));
        assert!(len == 0 || end.is_some_and(|end| end <= rows.len()), "{count} rows of {len} elements");
        (rows, stride)
    }
}

/// Some steps of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    /// The left matrix: rows in all segments of a tile, or copied steps in all.
    pub(crate) a: LeftSteps<'a>,
    /// The steps of the right matrix's panel, at most [`MAX_STEPS`].
    pub(crate) b: PanelSteps<'a>,
    /// Numbers that are needed after the tile, prefetched meanwhile. Those for which the steps do not suffice
    /// are left out.
    pub(crate) next: &'a [f32],
}

impl<'a> Segment<'a> {
    /// No steps.
    pub(crate) const NONE: Segment<'static> =
        Segment { a: LeftSteps::Rows(&[], 0), b: PanelSteps::NONE, next: &[] };

    /// Rows times the steps of a panel, with nothing to prefetch.
    pub(crate) fn of_rows(a: LeftSteps<'a>, b: PanelSteps<'a>) -> Segment<'a> {
        Segment { a, b, next: &[] }
    }
}

/// Rows of a result, each from some column on.
pub(crate) enum OutRows<'a, 'o> {
    /// In one slice, at a constant stride.
    Strided(&'a mut [f32], usize),
    /// Each in a slice of its own, from this column on: the columns of a result that one thread computes.
    Apart(&'a mut [&'o mut [f32]], usize),
}

impl<'o> OutRows<'_, 'o> {
    /// Row `i`. The slice may extend beyond the row.
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
    /// The precisions.
    pub const ALL: [Precision; 2] = [Precision::Bf16, Precision::Int8];

    /// The name, as `--precision` has it.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Bf16 => "bf16",
            Precision::Int8 => "int8",
        }
    }

    /// The number of steps in a group of four bytes.
    pub(crate) fn steps(self) -> usize {
        match self {
            Precision::Bf16 => 2,
            Precision::Int8 => 4,
        }
    }

    /// The size of a number in bytes.
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

/// The destination of a tile's sums.
pub(crate) struct Place<'a, 'o> {
    /// The result from the tile's first element on.
    pub(crate) out: OutRows<'a, 'o>,
    /// True if the sums are added to the elements of `out`.
    pub(crate) add: bool,
    /// The epilogue of the sums. It begins with the tile's first element.
    pub(crate) epilogue: Epilogue<'a>,
    /// The row stride of the epilogue's residual.
    pub(crate) stride: usize,
}

impl<'a, 'o> Place<'a, 'o> {
    /// The destination of plain sums.
    pub(crate) fn of_sums(out: OutRows<'a, 'o>, add: bool) -> Place<'a, 'o> {
        Place { out, add, epilogue: Epilogue::default(), stride: 0 }
    }
}

/// True if the portable code has a fused multiply-add.
pub(super) const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));
