//! Integers of a given width: the arithmetic of `arith`'s integers and of `index`.
//!
//! A number is its bits; each operation interprets them as signed or unsigned. Results wrap around.
//! Operations that upstream leaves undefined return `None`: division by zero, signed quotients that overflow,
//! shifts by the width or more. Integers of more than 128 bits are not supported.

/// The greatest supported width in bits.
pub const MAX_WIDTH: u32 = 128;

/// Bits of a width from 1 to [`MAX_WIDTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    width: u32,
    bits: u128,
}

#[allow(clippy::should_implement_trait, reason = "named like the ops; not all of them give a result")]
impl Int {
    /// The low `width` bits; `None` for an unsupported width.
    pub fn new(width: u32, bits: u128) -> Option<Int> {
        (1..=MAX_WIDTH).contains(&width).then(|| Int { width, bits: bits & mask(width) })
    }

    /// A number of the same width, wrapping around.
    pub fn like(self, bits: i128) -> Int {
        Int { width: self.width, bits: bits as u128 & mask(self.width) }
    }

    /// Number of bits.
    pub fn width(self) -> u32 {
        self.width
    }

    /// The value as unsigned.
    pub fn unsigned(self) -> u128 {
        self.bits
    }

    /// The value as signed.
    pub fn signed(self) -> i128 {
        let spare = 128 - self.width;
        ((self.bits << spare) as i128) >> spare
    }

    /// True if all bits are 0.
    pub fn is_zero(self) -> bool {
        self.bits == 0
    }

    /// True for the number 1, which is also -1 at width one.
    pub fn is_one(self) -> bool {
        self.bits == 1
    }

    /// True if all bits are 1.
    pub fn is_ones(self) -> bool {
        self.bits == mask(self.width)
    }

    /// The least signed number of this width.
    pub fn signed_min(self) -> Int {
        self.make(1 << (self.width - 1))
    }

    /// The greatest signed number of this width.
    pub fn signed_max(self) -> Int {
        self.make(mask(self.width) >> 1)
    }

    fn make(self, bits: u128) -> Int {
        Int { width: self.width, bits: bits & mask(self.width) }
    }

    /// The sum.
    pub fn add(self, other: Int) -> Int {
        self.make(self.bits.wrapping_add(other.bits))
    }

    /// The difference.
    pub fn sub(self, other: Int) -> Int {
        self.make(self.bits.wrapping_sub(other.bits))
    }

    /// The product.
    pub fn mul(self, other: Int) -> Int {
        self.make(self.bits.wrapping_mul(other.bits))
    }

    /// True if the signed sum does not overflow.
    pub fn add_fits_signed(self, other: Int) -> bool {
        let sum = self.signed().checked_add(other.signed());
        sum.is_some_and(|sum| sum == self.add(other).signed())
    }

    /// True if the unsigned sum does not overflow.
    pub fn add_fits_unsigned(self, other: Int) -> bool {
        self.add(other).bits >= self.bits
    }

    /// Bitwise and.
    pub fn and(self, other: Int) -> Int {
        self.make(self.bits & other.bits)
    }

    /// Bitwise or.
    pub fn or(self, other: Int) -> Int {
        self.make(self.bits | other.bits)
    }

    /// Bitwise exclusive or.
    pub fn xor(self, other: Int) -> Int {
        self.make(self.bits ^ other.bits)
    }

    /// The unsigned quotient.
    pub fn div_unsigned(self, other: Int) -> Option<Int> {
        self.bits.checked_div(other.bits).map(|q| self.make(q))
    }

    /// The unsigned remainder.
    pub fn rem_unsigned(self, other: Int) -> Option<Int> {
        self.bits.checked_rem(other.bits).map(|r| self.make(r))
    }

    /// The unsigned quotient, rounded up.
    pub fn ceil_div_unsigned(self, other: Int) -> Option<Int> {
        let up = u128::from(!self.rem_unsigned(other)?.is_zero());
        Some(self.make(self.bits / other.bits + up))
    }

    /// Quotient rounded toward zero and remainder, unless the quotient overflows.
    fn div_rem_signed(self, other: Int) -> Option<(i128, i128)> {
        let (a, b) = (self.signed(), other.signed());
        if b == -1 && self == self.signed_min() {
            return None;
        }
        Some((a.checked_div(b)?, a.checked_rem(b)?))
    }

    /// The signed quotient, rounded toward zero.
    pub fn div_signed(self, other: Int) -> Option<Int> {
        self.div_rem_signed(other).map(|(q, _)| self.like(q))
    }

    /// The remainder of the signed division, with the sign of `self`. The remainder of the least number by -1
    /// is 0.
    pub fn rem_signed(self, other: Int) -> Option<Int> {
        if other.is_ones() {
            return Some(self.like(0));
        }
        self.div_rem_signed(other).map(|(_, r)| self.like(r))
    }

    /// The signed quotient, rounded up.
    pub fn ceil_div_signed(self, other: Int) -> Option<Int> {
        let (q, r) = self.div_rem_signed(other)?;
        let up = r != 0 && (r < 0) == (other.signed() < 0);
        Some(self.like(q + i128::from(up)))
    }

    /// The signed quotient, rounded down.
    pub fn floor_div_signed(self, other: Int) -> Option<Int> {
        let (q, r) = self.div_rem_signed(other)?;
        let down = r != 0 && (r < 0) != (other.signed() < 0);
        Some(self.like(q - i128::from(down)))
    }

    /// `other` as a shift amount, if it is less than the width.
    fn shift(self, other: Int) -> Option<u32> {
        (other.bits < u128::from(self.width)).then_some(other.bits as u32)
    }

    /// Shifted to the left.
    pub fn shl(self, other: Int) -> Option<Int> {
        self.shift(other).map(|n| self.make(self.bits << n))
    }

    /// Shifted to the right, filled with zeros.
    pub fn shr_unsigned(self, other: Int) -> Option<Int> {
        self.shift(other).map(|n| self.make(self.bits >> n))
    }

    /// Shifted to the right, keeping the sign.
    pub fn shr_signed(self, other: Int) -> Option<Int> {
        self.shift(other).map(|n| self.like(self.signed() >> n))
    }

    /// Another width: truncated or zero-extended.
    pub fn resize_unsigned(self, width: u32) -> Option<Int> {
        Int::new(width, self.bits)
    }

    /// Another width: truncated or sign-extended.
    pub fn resize_signed(self, width: u32) -> Option<Int> {
        Int::new(width, self.signed() as u128)
    }

    /// The high half of the unsigned product, of at most 64 bits.
    pub fn mul_high_unsigned(self, other: Int) -> Option<Int> {
        (self.width <= 64).then(|| self.make((self.bits * other.bits) >> self.width))
    }

    /// The high half of the signed product, of at most 64 bits.
    pub fn mul_high_signed(self, other: Int) -> Option<Int> {
        (self.width <= 64).then(|| self.like((self.signed() * other.signed()) >> self.width))
    }
}

fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}
