//! Comparison of every instruction set with `f64`, over the whole range.

use super::{Arithmetic, Function, Isa, Native as _, NativeMap, NativeOp, Over, Reduction, Wide};

/// The largest error in units in the last place of the exact result, over numbers spread by bit pattern.
/// Errors below `least` do not count.
fn worst_ulp(isa: Isa, function: Function, least: f64, exact: impl Fn(f64) -> f64) -> f64 {
    let x: Vec<f32> =
        (0..u32::MAX / 4999).map(|i| f32::from_bits(i * 4999)).filter(|x| !x.is_nan()).collect();
    let mut got = x.clone();
    isa.map(function, &mut got);
    let mut apart = vec![0.0; x.len()];
    isa.map_to(function, &x, &mut apart);
    assert!(apart.iter().map(|y| y.to_bits()).eq(got.iter().map(|y| y.to_bits())), "{function:?} elsewhere");
    let mut worst = 0.0f64;
    for (&x, &got) in x.iter().zip(&got) {
        let want = exact(f64::from(x));
        let rounded = want as f32;
        if want.is_nan() {
            assert!(got.is_nan(), "{function:?} of {x:e}: {got:e}");
            continue;
        }
        if rounded.is_infinite() || got.is_infinite() {
            let near = want.abs() > f64::from(f32::MAX) * (1.0 - 1e-6);
            assert!(got == rounded || near, "{function:?} of {x:e}: {got:e}, not {want:e}");
            continue;
        }
        // The distance to the next float, at least that of the smallest normal numbers.
        let ulp = f64::from((rounded.abs().max(f32::MIN_POSITIVE)).next_up())
            - f64::from(rounded.abs().max(f32::MIN_POSITIVE));
        let error = (f64::from(got) - want).abs();
        let error = if error < least { 0.0 } else { error / ulp };
        assert!(error.is_finite(), "{function:?} of {x:e}: {got:e}, not {want:e}");
        worst = worst.max(error);
    }
    worst
}

#[test]
fn functions_are_as_accurate_as_they_say() {
    for isa in Isa::all() {
        let check = |function, limit: f64, exact: fn(f64) -> f64| {
            let worst = worst_ulp(isa, function, 0.0, exact);
            assert!(worst <= limit, "{function:?} with {}: {worst} ulp", isa.name());
        };
        check(Function::Exp, 2.0, f64::exp);
        check(Function::Tanh, 2.0, f64::tanh);
        check(Function::Log, 2.0, f64::ln);
        check(Function::Erf, 2.0, libm::erf);
        check(Function::Sigmoid, 2.0, |x| 1.0 / (1.0 + (-x).exp()));
        check(Function::Elu, 2.0, |x| if x < 0.0 { x.exp_m1() } else { x });
        check(Function::Selu, 3.0, |x| {
            if x < 0.0 { 1.758_099_340_847_376_8 * x.exp_m1() } else { 1.050_700_987_355_480_5 * x }
        });
        check(Function::Softplus, 4.0, |x| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() });
        check(Function::Rsqrt, 1.5, |x| 1.0 / x.sqrt());
        check(Function::Square, 0.5, |x| x * x);
        check(Function::Reciprocal, 0.5, |x| 1.0 / x);
        check(Function::Sqrt, 0.5, f64::sqrt);
    }
}

#[test]
fn silu_is_as_accurate_as_it_says() {
    for isa in Isa::all() {
        let worst = worst_ulp(isa, Function::Silu, 1e-43, |x| x / (1.0 + (-x).exp()));
        assert!(worst <= 4.0, "{}: {worst} ulp", isa.name());
    }
}

#[test]
fn gelu_is_as_accurate_as_it_says() {
    for isa in Isa::all() {
        let x: Vec<f32> = (-200_000..200_000).map(|i| i as f32 / 16_000.0).collect();
        let mut got = x.clone();
        isa.map(Function::Gelu, &mut got);
        for (&x, &got) in x.iter().zip(&got) {
            let exact =
                f64::from(x) / 2.0 * (1.0 + libm::erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2));
            assert!(
                (f64::from(got) - exact).abs() <= 4e-7 * f64::from(x.abs().max(1.0)),
                "{x}: {got} {exact}"
            );
        }
    }
}

#[test]
fn slopes_of_gelu_are_as_accurate_as_they_say() {
    let exact = |x: f64| {
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) + x * density
    };
    // The difference quotient of the approximate gelu.
    let approximate = |x: f64| {
        let gelu = |x: f64| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            0.5 * x * (1.0 + inner.tanh())
        };
        (gelu(x + 1e-6) - gelu(x - 1e-6)) / 2e-6
    };
    let slopes: [&dyn Fn(f64) -> f64; 2] = [&exact, &approximate];
    for isa in Isa::all() {
        for ((function, limit), exact) in
            [(Function::GeluSlope, 4e-7), (Function::GeluTanhSlope, 1e-6)].into_iter().zip(slopes)
        {
            let x: Vec<f32> = (-2_000..2_000).map(|i| i as f32 / 160.0).collect();
            let mut got = x.clone();
            isa.map(function, &mut got);
            for (&x, &got) in x.iter().zip(&got) {
                let (want, limit) = (exact(f64::from(x)), limit * f64::from(x.abs().max(1.0)));
                assert!((f64::from(got) - want).abs() <= limit, "{function:?} of {x}: {got} {want}");
            }
        }
    }
}

#[test]
fn logarithms_of_what_has_none() {
    for isa in Isa::all() {
        let mut x = [0.0, -0.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1.0];
        isa.map(Function::Log, &mut x);
        assert!(x[0] == f32::NEG_INFINITY && x[1] == f32::NEG_INFINITY && x[2].is_nan(), "{x:?}");
        assert!(x[3] == f32::INFINITY && x[4].is_nan() && x[5].is_nan() && x[6] == 0.0, "{x:?}");
    }
}

#[test]
fn arithmetic_with_whole_tensors_rows_and_numbers() {
    use Arithmetic::*;
    type Scalar = fn(f32, f32) -> f32;
    let scalar: [(Arithmetic, Scalar); 9] = [
        (Add, |a, b| a + b),
        (Sub, |a, b| a - b),
        (Mul, |a, b| a * b),
        (Div, |a, b| a / b),
        (Max, |a, b| if a.is_nan() || b.is_nan() { f32::NAN } else { a.max(b) }),
        (Min, |a, b| if a.is_nan() || b.is_nan() { f32::NAN } else { a.min(b) }),
        (SquaredDifference, |a, b| (a - b) * (a - b)),
        (DivNoNan, |a, b| if b == 0.0 { 0.0 } else { a / b }),
        (ReluGrad, |a, b| a * if b > 0.0 { 1.0 } else { 0.0 }),
    ];
    let a: Vec<f32> = (0..210).map(|i| if i % 13 == 0 { f32::NAN } else { (i % 17) as f32 - 8.0 }).collect();
    for (isa, n) in Isa::all().flat_map(|isa| [1usize, 7, 30, 210].map(|n| (isa, n))) {
        let b: Vec<f32> =
            (0..n).map(|i| if i % 11 == 3 { f32::NAN } else { (i % 19) as f32 - 9.0 }).collect();
        for (op, f) in scalar {
            let (mut left, mut right) = (a.clone(), a.clone());
            isa.arithmetic(op, Over::Left, &mut left, &b);
            isa.arithmetic(op, Over::Right, &mut right, &b);
            let same = |got: f32, want: f32| got == want || (got.is_nan() && want.is_nan());
            for (i, (&left, &right)) in left.iter().zip(&right).enumerate() {
                let (a, b) = (a[i], b[i % n]);
                assert!(same(left, f(a, b)) && same(right, f(b, a)), "{op:?} of {a} and {b}");
            }
        }
    }
    Isa::detect().arithmetic(Add, Over::Left, &mut [], &[]);
}

#[test]
fn rows_as_in_f64() {
    use super::RowFunction::*;
    for (isa, n) in Isa::all().flat_map(|isa| [1usize, 5, 32, 77, 1000].map(|n| (isa, n))) {
        let x: Vec<f32> = (0..3 * n).map(|i| ((i * 7919) % 1000) as f32 / 100.0 - 3.0).collect();
        let (scale, offset): (Vec<f32>, Vec<f32>) = (0..n).map(|i| (1.0 + i as f32 / n as f32, 0.5)).unzip();
        let run = |function| {
            let mut x = x.clone();
            isa.map_rows(function, n, &mut x);
            x
        };
        let (soft, log) = (run(Softmax), run(LogSoftmax));
        let norm = run(LayerNorm { scale: &scale, offset: &offset, epsilon: 1e-3 });
        for (at, &element) in x.iter().enumerate() {
            let row: Vec<f64> = x[at / n * n..][..n].iter().map(|&x| f64::from(x)).collect();
            let element = f64::from(element);
            let log_sum = row.iter().map(|x| x.exp()).sum::<f64>().ln();
            assert!((f64::from(log[at]) - (element - log_sum)).abs() < 2e-6 * (1.0 + log_sum.abs()) * 4.0);
            let want = (element - log_sum).exp();
            assert!((f64::from(soft[at]) - want).abs() < 2e-6 * want);
            let mean = row.iter().sum::<f64>() / n as f64;
            let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            let want = (element - mean) / (variance + 1e-3).sqrt() * f64::from(scale[at % n]) + 0.5;
            assert!((f64::from(norm[at]) - want).abs() < 1e-5 * (1.0 + want.abs()), "{} {want}", norm[at]);
        }
    }
}

#[test]
fn special_numbers() {
    use Function::*;
    let inf = f32::INFINITY;
    for isa in Isa::all() {
        for (function, low, high) in [
            (Identity, -inf, inf),
            (Relu, 0.0, inf),
            (Relu6, 0.0, 6.0),
            (GeluTanh, f32::NAN, inf),
            (Tanh, -1.0, 1.0),
            (Sigmoid, 0.0, 1.0),
            (Exp, 0.0, inf),
            (Erf, -1.0, 1.0),
            (Gelu, f32::NAN, inf),
            (Abs, inf, inf),
            (Neg, inf, -inf),
            (Square, inf, inf),
            (Sqrt, f32::NAN, inf),
        ] {
            let mut x = [0.0; 3];
            isa.map_to(function, &[-inf, inf, f32::NAN], &mut x);
            let is_low = x[0] == low || x[0].is_nan() && low.is_nan();
            assert!(is_low && x[1] == high && x[2].is_nan(), "{function:?} with {}: {x:?}", isa.name());
        }
    }
}

/// Loops over floats of the machine give the same bits with every instruction set.
#[test]
fn native_loops_do_not_depend_on_the_instructions() {
    let a: Vec<f64> = (0..2500).map(|i| f64::from(i * 7919 % 5003 - 2500) / 7.0).collect();
    let b: Vec<f64> = a.iter().rev().map(|x| x * 1.5 + 0.25).collect();
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let found = |isa: Isa| {
        let mut results = Vec::new();
        for reduction in [Reduction::Sum, Reduction::Squares, Reduction::Prod, Reduction::Max, Reduction::Min]
        {
            results.push(f64::reduce_row(isa, reduction, &a));
            let mut columns = [f64::start(reduction); 100];
            f64::reduce_rows(isa, reduction, &a, 100, &mut columns);
            results.extend(columns);
        }
        let mut out = vec![0.0; a.len()];
        for map in [NativeMap::Sqrt, NativeMap::Rsqrt, NativeMap::Floor, NativeMap::Round, NativeMap::Sign] {
            assert!(f64::map(isa, map, &a, &mut out));
            results.extend_from_slice(&out);
        }
        for op in [NativeOp::Div, NativeOp::Max, NativeOp::SquaredDifference, NativeOp::AtLeast] {
            assert!(f64::zip(isa, op, &a, &b, &mut out));
            results.extend_from_slice(&out);
        }
        results.push(f64::extreme(isa, true, &a));
        bits(&results)
    };
    let want = found(Isa::detect());
    assert!(Isa::all().all(|isa| found(isa) == want));
}

/// Functions of f64 are within 2 ulp of the standard library's with every instruction set, the hyperbolic
/// tangent within 4, as the library's is 2 away itself.
#[test]
fn functions_of_f64_are_as_accurate_as_they_say() {
    let x: Vec<f64> = (-20_000..20_000).map(|i| f64::from(i) * 0.003_7).collect();
    let place =
        |x: f64| if x.is_sign_negative() { !(x.to_bits() as i64 ^ i64::MIN) } else { x.to_bits() as i64 };
    for isa in Isa::all() {
        let check = |function, limit, exact: fn(f64) -> f64| {
            let mut got = x.clone();
            isa.map_wide(function, &mut got);
            for (&x, &got) in x.iter().zip(&got) {
                let want = exact(x);
                let is_near = place(got).abs_diff(place(want)) <= limit || (got.is_nan() && want.is_nan());
                assert!(is_near, "{function:?} of {x:e} with {}: {got:e}, not {want:e}", isa.name());
            }
        };
        check(Wide::Exp, 2, f64::exp);
        check(Wide::Log, 2, f64::ln);
        check(Wide::Sin, 2, f64::sin);
        check(Wide::Cos, 2, f64::cos);
        check(Wide::Tanh, 4, f64::tanh);
        check(
            Wide::Sigmoid,
            2,
            |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) },
        );
        let (mut sines, mut powers) = ([1.0f32, -2.5, 30.0], [0.0; 3]);
        isa.map_wide_f32(Wide::Sin, &mut sines);
        assert_eq!(sines, [1.0f64.sin() as f32, -2.5f64.sin() as f32, 30.0f64.sin() as f32]);
        isa.powers(&[2.0, 10.0, -3.0], &[0.5, -3.0, 3.0], &mut powers);
        assert_eq!(powers, [std::f32::consts::SQRT_2, 1e-3, -27.0]);
    }
}
