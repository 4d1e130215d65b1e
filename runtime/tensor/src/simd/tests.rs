//! Every set of instructions against `f64`, over the whole range.

use super::{Function, Isa};

/// The largest error in units of the last place of the exact result, over numbers spread by bit pattern.
fn worst_ulp(isa: Isa, function: Function, exact: impl Fn(f64) -> f64) -> f64 {
    let x: Vec<f32> = (0..u32::MAX / 997).map(|i| f32::from_bits(i * 997)).filter(|x| !x.is_nan()).collect();
    let mut got = x.clone();
    isa.map(function, &mut got);
    let mut worst = 0.0f64;
    for (&x, &got) in x.iter().zip(&got) {
        let want = exact(f64::from(x));
        let rounded = want as f32;
        if rounded.is_infinite() || got.is_infinite() {
            let near = want.abs() > f64::from(f32::MAX) * (1.0 - 1e-6);
            assert!(got == rounded || near, "{function:?} of {x:e}: {got:e}, not {want:e}");
            continue;
        }
        // The distance to the next number, at least that of the smallest normal ones.
        let ulp = f64::from((rounded.abs().max(f32::MIN_POSITIVE)).next_up())
            - f64::from(rounded.abs().max(f32::MIN_POSITIVE));
        let error = (f64::from(got) - want).abs() / ulp;
        assert!(error.is_finite(), "{function:?} of {x:e}: {got:e}, not {want:e}");
        worst = worst.max(error);
    }
    worst
}

#[test]
fn functions_are_as_accurate_as_they_say() {
    for isa in Isa::all() {
        let check = |function, limit: f64, exact: fn(f64) -> f64| {
            let worst = worst_ulp(isa, function, exact);
            assert!(worst <= limit, "{function:?} with {}: {worst} ulp", isa.name());
        };
        check(Function::Exp, 2.0, f64::exp);
        check(Function::Tanh, 4.0, f64::tanh);
        check(Function::Sigmoid, 4.0, |x| 1.0 / (1.0 + (-x).exp()));
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
            (GeluTanh, -0.0, inf),
            (Tanh, -1.0, 1.0),
            (Sigmoid, 0.0, 1.0),
            (Exp, 0.0, inf),
        ] {
            let mut x = [-inf, inf, f32::NAN];
            isa.map(function, &mut x);
            assert!(x[0] == low && x[1] == high && x[2].is_nan(), "{function:?} with {}: {x:?}", isa.name());
        }
    }
}
