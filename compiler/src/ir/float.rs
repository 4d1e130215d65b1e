//! Floating point formats: decoding of bits and rounding to bits.
//!
//! Every format is a row of one table: numbers of bits of exponent and fraction, the bias, and the encoding
//! of infinity and NaN. Decoding and rounding are implemented once for all rows. Existing crates lack some
//! formats (the `FNUZ` ones and those of six and four bits), and arithmetic, the hard part, is not needed
//! here.
//!
//! A decimal literal is read as an `f64` and then rounded to its format, as upstream does even for `f128`. To
//! keep printing lossless, a number whose decimal form does not read back as the same bits is printed as its
//! bits.

use num_bigint::BigUint;

/// Encoding of values beyond the finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// The greatest exponent means infinity and NaN.
    Ieee,
    /// All bits set means NaN; no infinity.
    OnesNan,
    /// Minus zero means NaN; no infinity.
    ZeroNan,
    /// Numbers only.
    Finite,
    /// Powers of two only: no sign, no zero; all bits set means NaN.
    Power,
    /// As [`Special::Ieee`], but with an explicit integer bit.
    X87,
}

macro_rules! float_kinds {
    ($($kind:ident $name:literal $exponent:literal $fraction:literal $bias:literal $special:ident,)*) => {
        /// The floating point formats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are MLIR's own type names")]
        pub enum FloatKind { $($kind,)* }

        impl FloatKind {
            /// Every format.
            pub const ALL: &'static [FloatKind] = &[$(FloatKind::$kind,)*];

            /// As written in a program.
            pub fn name(self) -> &'static str {
                match self { $(FloatKind::$kind => $name,)* }
            }

            /// The format called `name`.
            pub fn from_name(name: &str) -> Option<FloatKind> {
                match name { $($name => Some(FloatKind::$kind),)* _ => None }
            }

            const fn format(self) -> FloatSemantics {
                match self {
                    $(FloatKind::$kind => FloatSemantics {
                        exponent: $exponent, fraction: $fraction, bias: $bias, special: Special::$special,
                    },)*
                }
            }
        }
    };
}
float_kinds! {
    F16 "f16" 5 10 15 Ieee,
    BF16 "bf16" 8 7 127 Ieee,
    F32 "f32" 8 23 127 Ieee,
    F64 "f64" 11 52 1023 Ieee,
    F80 "f80" 15 63 16383 X87,
    F128 "f128" 15 112 16383 Ieee,
    TF32 "tf32" 8 10 127 Ieee,
    F4E2M1FN "f4E2M1FN" 2 1 1 Finite,
    F6E2M3FN "f6E2M3FN" 2 3 1 Finite,
    F6E3M2FN "f6E3M2FN" 3 2 3 Finite,
    F8E5M2 "f8E5M2" 5 2 15 Ieee,
    F8E4M3 "f8E4M3" 4 3 7 Ieee,
    F8E4M3FN "f8E4M3FN" 4 3 7 OnesNan,
    F8E5M2FNUZ "f8E5M2FNUZ" 5 2 16 ZeroNan,
    F8E4M3FNUZ "f8E4M3FNUZ" 4 3 8 ZeroNan,
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" 4 3 11 ZeroNan,
    F8E3M4 "f8E3M4" 3 4 3 Ieee,
    F8E8M0FNU "f8E8M0FNU" 8 0 127 Power,
}

#[derive(Clone, Copy)]
struct FloatSemantics {
    exponent: u32,
    fraction: u32,
    bias: i32,
    special: Special,
}

/// A finite number: `mantissa * 2^exponent`.
struct Finite {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Finite {
    /// The number of decimal digits of the exact value, up to the greatest one of interest.
    fn n_digits(&self) -> usize {
        if self.mantissa == 0 { 1 } else { decimal(self.mantissa, self.exponent, 40).0.len() }
    }
}

/// The style of [`FloatKind::digits`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum DigitStyle {
    /// Six digits, always with an exponent: `1.500000e+00`.
    Short,
    /// Enough digits to distinguish all numbers of the format, with an exponent only if needed.
    Exact,
}

impl FloatKind {
    /// Width in bits.
    pub const fn bits(self) -> u32 {
        let FloatSemantics { exponent, fraction, special, .. } = self.format();
        match special {
            Special::Power => exponent,
            Special::X87 => 1 + exponent + 1 + fraction,
            _ => 1 + exponent + fraction,
        }
    }

    /// Bytes of a tensor element. `tf32` has four, as upstream.
    pub const fn bytes(self) -> usize {
        match self {
            FloatKind::TF32 => 4,
            _ => self.bits().div_ceil(8) as usize,
        }
    }

    /// True for the formats with arithmetic (f16, bf16, f32, f64).
    pub fn is_arithmetic(self) -> bool {
        matches!(self, FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64)
    }

    fn decode(self, bits: u128) -> Option<Finite> {
        let FloatSemantics { exponent, fraction, bias, special } = self.format();
        let stored = fraction + u32::from(special == Special::X87);
        let mantissa = bits & ones(stored);
        let field = (bits >> stored) & ones(exponent);
        let negative = special != Special::Power && bits >> (stored + exponent) & 1 == 1;
        let finite = match special {
            Special::Ieee | Special::X87 => field != ones(exponent),
            Special::OnesNan => field != ones(exponent) || mantissa != ones(fraction),
            Special::ZeroNan => !(negative && field == 0 && mantissa == 0),
            Special::Finite => true,
            Special::Power => field != ones(exponent),
        };
        if !finite {
            return None;
        }
        let field = field as i32;
        Some(match special {
            Special::Power => Finite { negative, mantissa: 1, exponent: field - bias },
            Special::X87 => Finite { negative, mantissa, exponent: field.max(1) - bias - fraction as i32 },
            _ if field == 0 => Finite { negative, mantissa, exponent: 1 - bias - fraction as i32 },
            _ => Finite {
                negative,
                mantissa: mantissa | 1 << fraction,
                exponent: field - bias - fraction as i32,
            },
        })
    }

    /// `value` rounded to this format, ties to even. Numbers out of range become the format's infinity or
    /// NaN; `None` if the format has neither.
    pub fn round(self, value: f64) -> Option<u128> {
        let FloatSemantics { exponent, fraction, bias, special } = self.format();
        let stored = fraction + u32::from(special == Special::X87);
        let negative = value.is_sign_negative();
        if special == Special::Power && (value.is_nan() || value <= 0.0) {
            return None;
        }
        let sign = u128::from(negative) << (stored + exponent);
        let overflow = match special {
            Special::Ieee => sign | ones(exponent) << stored,
            Special::X87 => sign | ones(exponent) << stored | 1 << fraction,
            Special::OnesNan | Special::Finite => sign | ones(exponent + fraction),
            Special::ZeroNan => 1 << (stored + exponent),
            Special::Power => ones(exponent),
        };
        if !value.is_finite() {
            return Some(overflow);
        }
        let Finite { mantissa, exponent: scale, .. } = FloatKind::F64.decode(u128::from(value.to_bits()))?;
        if mantissa == 0 {
            return Some(if special == Special::ZeroNan { 0 } else { sign });
        }
        let top = scale + mantissa.ilog2() as i32;
        let least = if special == Special::Power { -bias } else { 1 - bias };
        let mut unit = top.max(least) - fraction as i32;
        let mut n = scaled(mantissa, scale - unit);
        if n >> (fraction + 1) != 0 {
            n >>= 1;
            unit += 1;
        }
        let normal = n >> fraction != 0;
        let field = if normal { unit + fraction as i32 + bias } else { 0 };
        let greatest = match special {
            Special::Ieee | Special::X87 | Special::Power => ones(exponent) as i32 - 1,
            Special::OnesNan | Special::ZeroNan | Special::Finite => ones(exponent) as i32,
        };
        if field > greatest {
            return Some(overflow);
        }
        if n == 0 && special == Special::ZeroNan {
            return Some(0);
        }
        Some(sign | (field as u128) << stored | n & ones(stored))
    }

    /// Normalized bits: x87 numbers without the integer bit become NaN, as upstream.
    pub fn normal_bits(self, bits: u128) -> u128 {
        if self != FloatKind::F80 {
            return bits;
        }
        let (field, first) = (bits >> 64 & ones(15), bits >> 63 & 1);
        match (field, first) {
            (0, 0) | (1.., 1) => bits,
            (0, _) => bits | 1 << 64,
            _ => bits | ones(15) << 64,
        }
    }

    /// The number as text that reads back as the same bits: decimal if possible, else the bits in
    /// hexadecimal.
    pub fn text(self, bits: u128) -> String {
        if let Some(number) = self.decode(bits) {
            for style in [DigitStyle::Short, DigitStyle::Exact] {
                let text = self.digits(&number, style);
                // Without a point it would read as an integer. A number that `f64` cannot hold exactly is not
                // short in a wider format, even though it reads back: upstream compares with the exact value
                // of the text.
                if style == DigitStyle::Short && self.bits() > 64 && number.n_digits() > 6 {
                    continue;
                }
                if text.contains('.') && text.parse().is_ok_and(|value| self.round(value) == Some(bits)) {
                    return text;
                }
            }
        }
        format!("0x{bits:X}")
    }

    /// Digits of a number, identical to upstream's.
    fn digits(self, number: &Finite, style: DigitStyle) -> String {
        let &Finite { negative, mantissa, exponent } = number;
        let sign = if negative { "-" } else { "" };
        if mantissa == 0 {
            return format!("{sign}0.000000e+00");
        }
        let precision = match style {
            DigitStyle::Short => 6,
            DigitStyle::Exact => 2 + (self.format().fraction as usize + 1) * 59 / 196,
        };
        let (digits, exp) = decimal(mantissa, exponent, precision);
        let n = digits.len() as i32;
        let first = exp + n - 1;
        let scientific = match style {
            DigitStyle::Short => true,
            DigitStyle::Exact if exp >= 0 => exp > 3 || n + exp > precision as i32,
            DigitStyle::Exact => first < -3,
        };
        if scientific {
            let (head, tail) = digits.split_at(1);
            let sign_of_exp = if first < 0 { '-' } else { '+' };
            return match style {
                DigitStyle::Short => format!("{sign}{head}.{tail:0<6}e{sign_of_exp}{:02}", first.abs()),
                DigitStyle::Exact => {
                    let tail = if tail.is_empty() { "0" } else { tail };
                    format!("{sign}{head}.{tail}E{sign_of_exp}{}", first.abs())
                }
            };
        }
        if exp >= 0 {
            format!("{sign}{digits}{}", "0".repeat(exp as usize))
        } else if first >= 0 {
            let (whole, part) = digits.split_at(first as usize + 1);
            format!("{sign}{whole}.{part}")
        } else {
            format!("{sign}0.{}{digits}", "0".repeat((-first - 1) as usize))
        }
    }
}

/// The lowest `n` bits.
const fn ones(n: u32) -> u128 {
    if n == 0 { 0 } else { u128::MAX >> (128 - n) }
}

/// `mantissa * 2^shift`, rounded to an integer, ties to even. The result must not overflow.
fn scaled(mantissa: u128, shift: i32) -> u128 {
    if shift >= 0 {
        return mantissa << shift.min(127);
    }
    let down = shift.unsigned_abs();
    if down > 64 {
        return 0;
    }
    let (whole, rest) = (mantissa >> down, mantissa & ones(down));
    let half = 1u128 << (down - 1);
    whole + u128::from(rest > half || rest == half && whole & 1 == 1)
}

/// At most `precision` digits of `mantissa * 2^exponent` without trailing zeros, and the power of ten of the
/// last.
///
/// Upstream first drops surplus digits, then rounds the rest by its next digit. So the result is sometimes
/// truncated where it should be rounded up.
fn decimal(mantissa: u128, exponent: i32, precision: usize) -> (String, i32) {
    let zeros = mantissa.trailing_zeros();
    let (mantissa, exponent) = (mantissa >> zeros, exponent + zeros as i32);
    let (digits, mut exp) = match small_digits(mantissa, exponent, precision) {
        Some((number, exp)) => (number.to_string(), exp),
        None => big_digits(mantissa, exponent, precision),
    };
    let mut digits = digits.into_bytes();
    if digits.len() > precision {
        let up = digits[precision] >= b'5';
        exp += (digits.len() - precision) as i32;
        digits.truncate(precision);
        if up {
            while digits.last() == Some(&b'9') {
                digits.pop();
                exp += 1;
            }
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => digits.push(b'1'),
            }
        }
    }
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
        exp += 1;
    }
    (String::from_utf8(digits).unwrap_or_default(), exp)
}

/// Number of digits of an integer of `bits` bits that upstream drops before it rounds to `precision` digits.
fn n_removable(bits: u64, precision: usize) -> u32 {
    let needed = (precision as u64 * 196).div_ceil(59);
    (bits.saturating_sub(needed) * 59 / 196) as u32
}

/// The digits of `mantissa * 2^exponent` before upstream's rounding, and the power of ten of the last.
fn big_digits(mantissa: u128, exponent: i32, precision: usize) -> (String, i32) {
    let mut number = BigUint::from(mantissa);
    if exponent >= 0 {
        number <<= exponent as u32;
    } else {
        number *= BigUint::from(5u32).pow(exponent.unsigned_abs());
    }
    let removable = n_removable(number.bits(), precision);
    if removable > 0 {
        number /= BigUint::from(10u32).pow(removable);
    }
    (number.to_string(), exponent.min(0) + removable as i32)
}

/// Same as [`big_digits`] for an odd mantissa where 128 bits suffice, as for most numbers in programs.
fn small_digits(mantissa: u128, exponent: i32, precision: usize) -> Option<(u128, i32)> {
    if exponent >= 0 {
        let bits = u64::from(mantissa.checked_ilog2()?) + 1 + u64::from(exponent.unsigned_abs());
        let removable = n_removable(bits, precision);
        let number = if bits <= 128 { mantissa << exponent } else { return None };
        return Some((number / 10u128.checked_pow(removable)?, removable as i32));
    }
    let fives = exponent.unsigned_abs();
    // An odd number that is no power of two: unless the logarithm is near an integer, it determines the
    // length.
    let log = (mantissa as f64).log2() + f64::from(fives) * 5f64.log2();
    if (log - log.round()).abs() < 1e-6 {
        return None;
    }
    let removable = n_removable(log as u64 + 1, precision);
    // `mantissa * 5^fives / 10^removable`, truncated.
    let number = match fives.checked_sub(removable) {
        Some(left) => mantissa.checked_mul(5u128.checked_pow(left)?)?.checked_shr(removable)?,
        None => mantissa.checked_shr(removable)? / 5u128.checked_pow(removable - fives)?,
    };
    Some((number, exponent + removable as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the bits of a literal, and that they print as the text.
    #[track_caller]
    fn check(kind: FloatKind, literal: f64, bits: u128, text: &str) {
        assert_eq!(kind.round(literal), Some(bits), "{literal} as {}", kind.name());
        assert_eq!(kind.text(bits), text);
    }

    #[test]
    fn literals_round_and_print_as_upstream() {
        check(FloatKind::F64, 0.1, 0x3FB9_9999_9999_999A, "1.000000e-01");
        check(FloatKind::F64, 1234567.0, 0x4132_D687_0000_0000, "0x4132D68700000000");
        check(FloatKind::F64, 123456789.125, 0x419D_6F34_5480_0000, "123456789.125");
        check(FloatKind::F64, 1.0e23, 0x44B5_2D02_C7E1_4AF6, "9.9999999999999991E+22");
        check(FloatKind::F64, f64::INFINITY, 0x7FF0_0000_0000_0000, "0x7FF0000000000000");
        check(FloatKind::F32, 1.0e39, 0x7F80_0000, "0x7F800000");
        check(FloatKind::F32, 100000.5, 0x47C3_5040, "100000.5");
        check(FloatKind::F16, 0.1, 0x2E66, "9.997550e-02");
        check(FloatKind::F16, 65520.0, 0x7C00, "0x7C00");
        check(FloatKind::BF16, 0.333333, 0x3EAB, "3.339840e-01");
        check(FloatKind::TF32, 0.1, 0x1EE66, "9.997550e-02");
        check(FloatKind::F80, 0.1, 0x3FFB_CCCC_CCCC_CCCC_D000, "0.100000000000000005551");
        check(FloatKind::F128, 1.0, 0x3FFF << 112, "1.000000e+00");
        check(FloatKind::F8E4M3FN, 500.0, 0x7F, "0x7F");
        check(FloatKind::F8E4M3FN, 1.1, 0x39, "1.125000e+00");
        check(FloatKind::F8E4M3FN, 0.001953125, 0x01, "1.953130e-03");
        check(FloatKind::F8E4M3FN, -0.0, 0x80, "-0.000000e+00");
        check(FloatKind::F8E4M3FNUZ, -0.0, 0, "0.000000e+00");
        check(FloatKind::F8E4M3FNUZ, 300.0, 0x80, "0x80");
        check(FloatKind::F8E4M3FNUZ, 240.0, 0x7F, "2.400000e+02");
        check(FloatKind::F8E4M3B11FNUZ, 50.0, 0x80, "0x80");
        check(FloatKind::F8E5M2, 60000.0, 0x7B, "5.734400e+04");
        check(FloatKind::F8E5M2, 1.0e-10, 0, "0.000000e+00");
        check(FloatKind::F8E4M3, 100000.0, 0x78, "0x78");
        check(FloatKind::F8E8M0FNU, 4.0, 129, "4.000000e+00");
        check(FloatKind::F4E2M1FN, 100.0, 7, "6.000000e+00");
    }

    #[test]
    fn short_and_long_arithmetic_agree() {
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            for (mantissa, exponent) in
                [(bits >> 11, (bits % 2098) as i32 - 1074), (bits >> 40, (bits % 277) as i32 - 149)]
            {
                let mantissa = u128::from(mantissa | 1);
                for precision in [6, 9, 17] {
                    if let Some((number, exp)) = small_digits(mantissa, exponent, precision) {
                        let big = big_digits(mantissa, exponent, precision);
                        assert_eq!((number.to_string(), exp), big, "{mantissa}*2^{exponent}");
                    }
                }
            }
        }
        // Numbers common in programs take the short path.
        for value in [0.1, 1.0e-6, 2.71, 1.0e6, 123.456, 1.0e-10] {
            let Finite { mantissa, exponent, .. } =
                FloatKind::F64.decode(u128::from(f64::to_bits(value))).unwrap();
            let zeros = mantissa.trailing_zeros();
            let (mantissa, exponent) = (mantissa >> zeros, exponent + zeros as i32);
            assert!([6, 17].iter().all(|p| small_digits(mantissa, exponent, *p).is_some()), "{value}");
        }
    }

    #[test]
    fn every_small_pattern_reads_back() {
        for &kind in FloatKind::ALL.iter().filter(|k| k.bits() <= 8) {
            for bits in 0..1u128 << kind.bits() {
                let text = kind.text(bits);
                match text.strip_prefix("0x") {
                    Some(hex) => assert_eq!(u128::from_str_radix(hex, 16), Ok(bits)),
                    None => {
                        assert_eq!(
                            text.parse().ok().and_then(|v| kind.round(v)),
                            Some(bits),
                            "{}",
                            kind.name()
                        );
                    }
                }
            }
        }
    }
}
