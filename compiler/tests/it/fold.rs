//! Tests of folding against an independent reference: integers by their mathematical definition in `i128`,
//! floats by the machine's own operations, and narrow floats by search for the nearest one.

use befrost_compiler::fold::float::Float;
use befrost_compiler::fold::int::Int;
use befrost_compiler::ir::{AttrKind, FloatKind, Module};
use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use proptest::prelude::*;

/// The constants that reach `u.use` after folding; `None` for unfolded operands.
fn folded(body: &str) -> Vec<Option<AttrKind>> {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let text = format!("func.func @f() {{\n{body}  tfrt.return\n}}\n");
    let parsed = parse("t", &text, &options);
    let (Some(m), Ok(mut passes)) = (parsed.module, PassManager::parse("canonicalize")) else {
        panic!("{text}{:?}", parsed.diagnostics)
    };
    let Ok((m, _)) = verify(m).and_then(|m| passes.run(m)) else { panic!("{text}") };
    let uses: Vec<_> = m.walk(m.top()).filter(|op| m.op_name_str(*op) == "u.use").collect();
    uses.into_iter().flat_map(|op| operands(&m, op)).collect()
}

fn operands(m: &Module, op: befrost_compiler::ir::OpId) -> Vec<Option<AttrKind>> {
    m.operands(op).map(|v| befrost_compiler::fold::constant_of(m, v).map(|a| m.cx.attr(a).clone())).collect()
}

fn number(attr: &Option<AttrKind>) -> Option<i128> {
    match attr {
        Some(AttrKind::Bool(b)) => Some(i128::from(*b)),
        Some(AttrKind::Int { value, .. }) => Some(i128::from(*value)),
        _ => None,
    }
}

const INT_OPS: [&str; 20] = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "remsi",
    "remui",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "maxsi",
    "maxui",
    "minsi",
    "minui",
];

/// The signed value of the low `width` bits.
fn wrap(value: i128, width: u32) -> i128 {
    let modulus = 1i128 << width;
    let low = value.rem_euclid(modulus);
    // A one-bit number is written as a truth value.
    if width > 1 && low >= modulus / 2 { low - modulus } else { low }
}

fn reference(op: &str, a: i128, b: i128, width: u32) -> Option<i128> {
    let modulus = 1i128 << width;
    let signed = |x: i128| {
        let low = x.rem_euclid(modulus);
        if low >= modulus / 2 { low - modulus } else { low }
    };
    let (a, b) = (signed(a), signed(b));
    let (ua, ub) = (a.rem_euclid(modulus), b.rem_euclid(modulus));
    let overflows = a == -(modulus / 2) && b == -1;
    let exact = match op {
        "addi" => a + b,
        "subi" => a - b,
        "muli" => a * b,
        "divsi" | "ceildivsi" | "floordivsi" if b == 0 || overflows => return None,
        "remsi" | "remui" | "divui" | "ceildivui" if b == 0 => return None,
        "divsi" => a / b,
        "divui" => ua / ub,
        // The least number that is not less than the quotient, and the greatest that is not greater.
        "ceildivsi" => (a / b..=a / b + 1).find(|q| if b > 0 { q * b >= a } else { q * b <= a })?,
        "ceildivui" => (ua + ub - 1) / ub,
        "floordivsi" => (a / b - 1..=a / b).rev().find(|q| if b > 0 { q * b <= a } else { q * b >= a })?,
        "remsi" => a % b,
        "remui" => ua % ub,
        "andi" => a & b,
        "ori" => a | b,
        "xori" => a ^ b,
        "shli" | "shrsi" | "shrui" if ub >= i128::from(width) => return None,
        "shli" => a.rem_euclid(modulus) << ub.min(63),
        "shrsi" => a >> ub,
        "shrui" => ua >> ub,
        "maxsi" => a.max(b),
        "maxui" => ua.max(ub),
        "minsi" => a.min(b),
        "minui" => ua.min(ub),
        _ => return None,
    };
    Some(wrap(exact, width))
}

/// A number as the text of a constant of `width` bits.
fn literal(value: i128, width: u32) -> String {
    if width == 1 { (value & 1 == 1).to_string() } else { format!("{} : i{width}", wrap(value, width)) }
}

fn edgy() -> impl Strategy<Value = i128> {
    prop_oneof![
        any::<i64>().prop_map(i128::from),
        -3i128..4,
        (0u32..64, -1i128..2).prop_map(|(n, d)| (1i128 << n) + d),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers(a in edgy(), b in edgy(), width in prop::sample::select(vec![1u32, 2, 7, 8, 16, 31, 32, 33, 63, 64])) {
        let mut body = format!("  %a = arith.constant {}\n  %b = arith.constant {}\n", literal(a, width), literal(b, width));
        for op in INT_OPS {
            body += &format!("  %{op} = arith.{op} %a, %b : i{width}\n  \"u.use\"(%{op}) : (i{width}) -> ()\n");
        }
        let found = folded(&body);
        for (op, found) in INT_OPS.iter().zip(&found) {
            prop_assert_eq!(number(found), reference(op, a, b, width), "{} of {}", op, &body);
        }
    }

    #[test]
    fn comparisons(a in edgy(), b in edgy(), width in prop::sample::select(vec![1u32, 8, 32, 64])) {
        let words = befrost_compiler::dialects::arith::CMPI.words;
        let mut body = format!("  %a = arith.constant {}\n  %b = arith.constant {}\n", literal(a, width), literal(b, width));
        for word in words {
            body += &format!("  %{word} = arith.cmpi {word}, %a, %b : i{width}\n  \"u.use\"(%{word}) : (i1) -> ()\n");
        }
        let modulus = 1i128 << width;
        let (ua, ub) = (a.rem_euclid(modulus), b.rem_euclid(modulus));
        let sign = |x: i128| if x >= modulus / 2 { x - modulus } else { x };
        let (a, b) = (sign(ua), sign(ub));
        let want = [a == b, a != b, a < b, a <= b, a > b, a >= b, ua < ub, ua <= ub, ua > ub, ua >= ub];
        let found: Vec<_> = folded(&body).iter().map(number).collect();
        prop_assert_eq!(found, want.map(|w| Some(i128::from(w))), "{}", body);
    }

    #[test]
    fn wide_integers(a in any::<i128>(), b in any::<i128>()) {
        // 128 bits are Rust's `i128`; 100 bits are its low bits.
        for width in [128, 100] {
            let (x, y) = (Int::new(width, a as u128), Int::new(width, b as u128));
            let (Some(x), Some(y)) = (x, y) else { panic!("a width") };
            let low = |v: u128| Int::new(width, v);
            prop_assert_eq!(Some(x.add(y)), low((a as u128).wrapping_add(b as u128)));
            prop_assert_eq!(Some(x.sub(y)), low((a as u128).wrapping_sub(b as u128)));
            prop_assert_eq!(Some(x.mul(y)), low((a as u128).wrapping_mul(b as u128)));
            prop_assert_eq!(x.div_signed(y), x.signed().checked_div(y.signed()).and_then(|q| low(q as u128)));
        }
    }

    #[test]
    fn floats_of_the_machine(a in any::<f32>(), b in any::<f32>(), c in any::<f64>(), d in any::<f64>()) {
        let single = |x: f32| Float::new(FloatKind::F32, u64::from(x.to_bits()));
        let double = |x: f64| Float::new(FloatKind::F64, x.to_bits());
        let (Some(x), Some(y), Some(z), Some(w)) = (single(a), single(b), double(c), double(d)) else { panic!("a format") };
        let same32 = |found: Float, want: f32| found.bits() == u64::from(want.to_bits()) || found.is_nan() && want.is_nan();
        let same64 = |found: Float, want: f64| found.bits() == want.to_bits() || found.is_nan() && want.is_nan();
        prop_assert!(same32(x.add(y), a + b) && same64(z.add(w), c + d));
        prop_assert!(same32(x.sub(y), a - b) && same64(z.sub(w), c - d));
        prop_assert!(same32(x.mul(y), a * b) && same64(z.mul(w), c * d));
        prop_assert!(same32(x.div(y), a / b) && same64(z.div(w), c / d));
        prop_assert!(same32(x.rem(y), a % b) && same64(z.rem(w), c % d));
        prop_assert_eq!(x.compare(y), a.partial_cmp(&b));
    }

    #[test]
    fn narrow_floats_are_the_nearest(value in any::<f64>(), exponent in -30i32..20) {
        let value = if value.is_finite() { value / value.abs().max(1.0) * 2f64.powi(exponent) } else { return Ok(()) };
        for kind in [FloatKind::F16, FloatKind::BF16] {
            let Some(found) = Float::from_f64(kind, value) else { panic!("a format") };
            if !found.value().is_finite() {
                continue;
            }
            let distance = (found.value() - value).abs();
            for neighbour in [found.bits().wrapping_sub(1), found.bits() + 1] {
                let Some(other) = Float::new(kind, neighbour & 0xFFFF) else { panic!("a format") };
                if other.value().is_finite() {
                    let further = (other.value() - value).abs();
                    prop_assert!(distance < further || distance == further && found.bits() % 2 == 0, "{value} in {kind:?}");
                }
            }
        }
    }
}

#[test]
fn extremes_of_floats() {
    let f = |x: f32| Float::new(FloatKind::F32, u64::from(x.to_bits()));
    let (Some(zero), Some(minus), Some(one), Some(nan)) = (f(0.0), f(-0.0), f(1.0), f(f32::NAN)) else {
        panic!("a format")
    };
    assert_eq!((zero.maximum(minus), minus.maximum(zero)), (zero, zero));
    assert_eq!((zero.minimum(minus), minus.minimum(zero)), (minus, minus));
    assert!(one.maximum(nan).is_nan() && nan.minimum(one).is_nan());
    assert_eq!((one.max_num(nan), nan.min_num(one)), (one, one));
    assert_eq!(nan.neg().neg(), nan);
    assert_eq!(one.convert_exactly(FloatKind::F16).map(Float::bits), Some(0x3C00));
    assert_eq!(f(0.1).and_then(|x| x.convert_exactly(FloatKind::BF16)), None);
}
