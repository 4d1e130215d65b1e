//! Integers of arbitrary width, since LLVM's FileCheck computes with unlimited precision.
//!
//! A sign and a magnitude of 32-bit digits, lowest first, without zeros at its end; zero is never negative.
//! Numbers beyond [`MAX_DIGITS`] are refused, which bounds the cost of a check file.

use std::cmp::Ordering;

/// Most digits of a number: 8,192 bits.
const MAX_DIGITS: usize = 256;

/// A whole number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Number {
    negative: bool,
    digits: Vec<u32>,
}

impl Number {
    fn new(negative: bool, mut digits: Vec<u32>) -> Option<Number> {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let fits = digits.len() <= MAX_DIGITS;
        fits.then_some(Number { negative: negative && !digits.is_empty(), digits })
    }

    /// The number with valid `digits` in base `radix`; `None` if it is too large.
    pub(crate) fn parse(digits: &[u8], radix: u32, negative: bool) -> Option<Number> {
        let mut all = Vec::new();
        for digit in digits {
            multiply_add(&mut all, radix, char::from(*digit).to_digit(radix)?);
            if all.len() > MAX_DIGITS {
                return None;
            }
        }
        Number::new(negative, all)
    }

    /// The number of a line.
    pub(crate) fn from_line(line: usize) -> Number {
        let line = u64::try_from(line).unwrap_or(u64::MAX).to_le_bytes();
        let [a, b, c, d, e, f, g, h] = line;
        let digits = vec![u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])];
        Number::new(false, digits).unwrap_or_default()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// The magnitude in base 10 or 16, with small letters.
    pub(crate) fn magnitude(&self, radix: u32) -> String {
        let mut rest = self.digits.clone();
        let mut reversed = Vec::new();
        while !rest.is_empty() {
            let digit = divide_small(&mut rest, radix);
            reversed.push(char::from_digit(digit, radix).unwrap_or('0'));
        }
        if reversed.is_empty() { "0".to_owned() } else { reversed.iter().rev().collect() }
    }

    pub(crate) fn add(&self, other: &Number) -> Option<Number> {
        if self.negative == other.negative {
            return Number::new(self.negative, sum(&self.digits, &other.digits));
        }
        match compare(&self.digits, &other.digits) {
            Ordering::Less => Number::new(other.negative, difference(&other.digits, &self.digits)),
            _ => Number::new(self.negative, difference(&self.digits, &other.digits)),
        }
    }

    pub(crate) fn sub(&self, other: &Number) -> Option<Number> {
        let negated =
            Number { negative: !other.negative && !other.digits.is_empty(), digits: other.digits.clone() };
        self.add(&negated)
    }

    pub(crate) fn mul(&self, other: &Number) -> Option<Number> {
        let mut product = vec![0_u32; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (place, b) in product[i..].iter_mut().zip(other.digits.iter().chain(std::iter::repeat(&0))) {
                let total = u64::from(*place) + u64::from(*a) * u64::from(*b) + carry;
                *place = low(total);
                carry = total >> 32;
            }
        }
        Number::new(self.negative != other.negative, product)
    }

    /// The quotient, rounded towards zero; `None` for a division by zero.
    pub(crate) fn div(&self, other: &Number) -> Option<Number> {
        if other.digits.is_empty() {
            return None;
        }
        let mut quotient = vec![0_u32; self.digits.len()];
        let mut rest: Vec<u32> = Vec::new();
        for bit in (0..self.digits.len() * 32).rev() {
            multiply_add(&mut rest, 2, self.digits[bit / 32] >> (bit % 32) & 1);
            if compare(&rest, &other.digits) != Ordering::Less {
                rest = difference(&rest, &other.digits);
                while rest.last() == Some(&0) {
                    rest.pop();
                }
                quotient[bit / 32] |= 1 << (bit % 32);
            }
        }
        Number::new(self.negative != other.negative, quotient)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare(&self.digits, &other.digits),
            (true, true) => compare(&other.digits, &self.digits),
        }
    }
}

fn low(value: u64) -> u32 {
    u32::try_from(value & u64::from(u32::MAX)).unwrap_or_default()
}

/// Both have no zeros at their ends.
fn compare(a: &[u32], b: &[u32]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn sum(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut carry = 0;
    let digit = |of: &[u32], i: usize| u64::from(of.get(i).copied().unwrap_or(0));
    let mut digits = Vec::new();
    for i in 0..a.len().max(b.len()) {
        let total = digit(a, i) + digit(b, i) + carry;
        digits.push(low(total));
        carry = total >> 32;
    }
    digits.push(low(carry));
    digits
}

/// `a - b`, where `a` is not less.
fn difference(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut borrow = false;
    let mut digits = Vec::with_capacity(a.len());
    for (i, digit) in a.iter().enumerate() {
        let (once, first) = digit.overflowing_sub(b.get(i).copied().unwrap_or(0));
        let (twice, second) = once.overflowing_sub(u32::from(borrow));
        digits.push(twice);
        borrow = first || second;
    }
    digits
}

fn multiply_add(digits: &mut Vec<u32>, factor: u32, addend: u32) {
    let mut carry = u64::from(addend);
    for digit in digits.iter_mut() {
        let total = u64::from(*digit) * u64::from(factor) + carry;
        *digit = low(total);
        carry = total >> 32;
    }
    if carry != 0 {
        digits.push(low(carry));
    }
}

/// Divides in place and returns the remainder.
fn divide_small(digits: &mut Vec<u32>, by: u32) -> u32 {
    let mut rest = 0_u64;
    for digit in digits.iter_mut().rev() {
        let total = rest << 32 | u64::from(*digit);
        *digit = low(total / u64::from(by));
        rest = total % u64::from(by);
    }
    while digits.last() == Some(&0) {
        digits.pop();
    }
    low(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i128) -> Number {
        let digits = value.unsigned_abs().to_string();
        Number::parse(digits.as_bytes(), 10, value < 0).expect("128 bits fit")
    }

    fn text(number: &Option<Number>) -> String {
        let number = number.as_ref().expect("the result fits");
        format!("{}{}", if number.is_negative() { "-" } else { "" }, number.magnitude(10))
    }

    #[test]
    fn arithmetic_is_that_of_wide_integers() {
        let big = i128::from(i64::MAX);
        let all = [0, 1, -1, 7, -9, 10, 0xffff_ffff, 0x1_0000_0000, big, -big, big - 1, 12_345_678_901_234];
        for a in all {
            for b in all {
                let (x, y) = (number(a), number(b));
                assert_eq!(text(&x.add(&y)), (a + b).to_string());
                assert_eq!(text(&x.sub(&y)), (a - b).to_string());
                assert_eq!(text(&x.mul(&y)), (a.checked_mul(b).expect("63 bits each")).to_string());
                assert_eq!(x.div(&y).is_none(), b == 0);
                if b != 0 {
                    assert_eq!(text(&x.div(&y)), (a / b).to_string());
                }
                assert_eq!(x.cmp(&y), a.cmp(&b));
            }
        }
    }

    #[test]
    fn large_numbers_are_refused() {
        let mut power = number(2);
        for _ in 0..12 {
            power = power.mul(&power).expect("up to 4,097 bits fit");
        }
        assert_eq!(power.mul(&power), None);
        assert_eq!(Number::parse(&[b'9'; 10_000], 10, false), None);
        assert_eq!(number(255).magnitude(16), "ff");
        assert_eq!(Number::from_line(7), number(7));
    }
}
