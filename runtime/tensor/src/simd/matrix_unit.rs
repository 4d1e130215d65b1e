//! The matrix unit of x86 (AMX): tiles of 16 rows of 64 bytes, multiplied by one instruction.
//!
//! ```text
//! rows of a, 16 by 16 groups ─┐
//! panel of b, 16 groups       ┴─▶ 16 by 16 sums          two by two such tiles at a time, 32 by 32 sums
//! ```
//!
//! A group has four bytes, or two bf16 ([`bytes`](super::bytes), [`halves`](super::halves)): the instruction
//! reads a panel of packed columns as it is. The number of groups of a panel must be a multiple of [`BLOCK`].
//!
//! The system must permit the unit's state first, once per process, since the frames of signal handlers grow
//! by 8 KB. [`Tiles::new`] configures the unit for a number of rows, which takes as long as 64 products of
//! tiles. Dropping the value releases the unit, since its state slows down context switches. No compiled code
//! touches the unit, so its configuration persists between the blocks of assembly. Stable Rust has no
//! intrinsics for it.
//!
//! Products of bytes are exact. Those of bf16 are summed in pairs, and denormals are zeros.

use std::arch::asm;
use std::sync::OnceLock;

use super::bytes::{ByteRows, LANES, PanelGroup, ROWS, RowGroup, Sums};
use super::layout::Precision;

/// The fewest rows for which configuring the matrix unit pays off. For fewer rows, reading the panels
/// dominates.
pub(super) const MIN_ROWS: usize = 5;
/// The number of groups of a tile.
const BLOCK: usize = super::GROUPS;

/// The number of rows of a tile.
const HALF: usize = ROWS / 2;

/// True if the machine has the unit and the system permits its use.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_instructions() && is_permitted())
}

/// True if the machine has tiles with products of bytes and of bf16.
fn has_instructions() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const BF16_TILES_BYTES: u32 = 1 << 22 | 1 << 24 | 1 << 25;
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & BF16_TILES_BYTES == BF16_TILES_BYTES
}

/// Asks the system for the permission to use the unit's registers.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
    const XFEATURE_XTILEDATA: i64 = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: the call takes two numbers and touches no memory of the process; the kernel changes rcx and r11
    // besides the result.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack)
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// The unit's configuration: a palette, and for each tile the bytes of a row and the number of rows.
#[repr(C, align(64))]
struct Config([u8; 64]);

/// The unit while it is configured for tiles of some rows.
pub(super) struct Tiles {
    rows: usize,
}

impl Tiles {
    /// For 1 to [`ROWS`] rows; `None` without the unit.
    pub(super) fn new(rows: usize) -> Option<Tiles> {
        if !is_available() || !(1..=ROWS).contains(&rows) {
            return None;
        }
        let (top, bottom) = (rows.min(HALF), rows.saturating_sub(HALF));
        let mut config = Config([0; 64]);
        config.0[0] = 1;
        // Tiles 0 to 3: the sums of the upper and of the lower rows. Tiles 4 and 5: the upper and the lower
        // rows. Tiles 6 and 7: two panels. A tile without rows is not used.
        for (tile, rows) in [top, top, bottom, bottom, top, bottom, BLOCK, BLOCK].into_iter().enumerate() {
            config.0[16 + 2 * tile] = if rows > 0 { 64 } else { 0 };
            config.0[48 + tile] = rows as u8;
        }
        // SAFETY: `is_available` has found the unit; the configuration is valid for palette 1, and its 64
        // bytes are only read.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, readonly));
        }
        Some(Tiles { rows })
    }

    /// Sets the sums to the products of the rows of `a`, as many as configured, with two panels of the same
    /// number of groups, a multiple of [`BLOCK`].
    pub(super) fn multiply(
        &self,
        precision: Precision,
        a: ByteRows<'_>,
        [left, right]: [&[PanelGroup]; 2],
        sums: &mut Sums,
    ) {
        let n = left.len();
        assert!(n > 0 && n.is_multiple_of(BLOCK) && right.len() == n && a.rows == self.rows, "{n} groups");
        // Row slices are bounds-checked: the last row has its groups, so all rows do.
        a.row(a.rows - 1, n);
        let top = a.groups.as_ptr();
        let lower = if a.rows > HALF { a.groups[HALF * a.stride..].as_ptr() } else { top };
        /// One loop over blocks of groups, with instructions for the lower rows or without.
        macro_rules! blocks {
            ($product:literal) => {
                if a.rows > HALF {
                    blocks!(
                        $product,
                        ["tilezero tmm2", "tilezero tmm3"],
                        ["tileloadd tmm5, [{lower} + {stride}*1]"],
                        [concat!($product, " tmm2, tmm5, tmm6"), concat!($product, " tmm3, tmm5, tmm7")],
                        ["tilestored [{sums} + {line}*1 + 2048], tmm2", "tilestored [{sums} + {line}*1 + 2112], tmm3"]
                    )
                } else {
                    blocks!($product, [], [], [], [])
                }
            };
            ($product:literal, [$($zero:expr),*], [$($load:expr),*], [$($multiply:expr),*], [$($store:expr),*]) => {
                // SAFETY: the unit is configured for the rows. All rows of `a` have `n` groups, `stride`
                // groups apart, both panels have `n`, 64 bytes each, and the sums have the rows of all
                // tiles: the slices were checked. All registers that change are named.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        $($zero,)*
                        "2:",
                        "tileloadd tmm4, [{top} + {stride}*1]",
                        "tileloadd tmm6, [{left} + {group}*1]",
                        "tileloadd tmm7, [{right} + {group}*1]",
                        $($load,)*
                        concat!($product, " tmm0, tmm4, tmm6"),
                        concat!($product, " tmm1, tmm4, tmm7"),
                        $($multiply,)*
                        "add {top}, 64",
                        "add {lower}, 64",
                        "add {left}, 1024",
                        "add {right}, 1024",
                        "dec {blocks}",
                        "jnz 2b",
                        "tilestored [{sums} + {line}*1], tmm0",
                        "tilestored [{sums} + {line}*1 + 64], tmm1",
                        $($store,)*
                        top = inout(reg) top => _,
                        lower = inout(reg) lower => _,
                        left = inout(reg) left.as_ptr() => _,
                        right = inout(reg) right.as_ptr() => _,
                        blocks = inout(reg) n / BLOCK => _,
                        stride = in(reg) a.stride * size_of::<RowGroup>(),
                        group = in(reg) size_of::<PanelGroup>(),
                        line = in(reg) size_of::<[[i32; LANES]; 2]>(),
                        sums = in(reg) sums.as_mut_ptr(),
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack)
                    );
                }
            };
        }
        match precision {
            Precision::Bf16 => blocks!("tdpbf16ps"),
            Precision::Int8 => blocks!("tdpbusd"),
        }
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: a value of this type exists only where the unit does, and the tile registers hold nothing
        // that is needed.
        unsafe {
            asm!(
                "tilerelease",
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack, nomem)
            );
        }
    }
}
