//! Functions of f64, and powers of f32, against the standard library's.

use befrost_tensor::tf::fast::{self, Cx};
use befrost_tensor::tf::{Binary, Unary};

use crate::testing::{Random, malloc, tensor};

const SPECIAL: [f64; 16] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -1e-310,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    709.782_712_893_384,
    -745.133_219_101_941_2,
    1_048_576.0,
    -4e22,
];

/// Numbers of all magnitudes, whole multiples of a quarter turn, and special ones.
fn numbers() -> Vec<f64> {
    let mut random = Random(7);
    let mut next = || f64::from(random.next()) / f64::from(u32::MAX) * 2.0 - 1.0;
    let mut numbers = SPECIAL.to_vec();
    for scale in [1e-300, 1e-8, 0.1, 1.0, 10.0, 700.0, 1e5, 3e6, 1e300] {
        numbers.extend((0..2000).map(|_| next() * scale));
    }
    numbers.extend((-2000..2000).map(|i| f64::from(i) * std::f64::consts::FRAC_PI_2));
    numbers
}

/// The number of floats between two; zeros of both signs are one float apart.
fn apart(a: f64, b: f64) -> u64 {
    let place =
        |x: f64| if x.is_sign_negative() { !(x.to_bits() as i64 ^ i64::MIN) } else { x.to_bits() as i64 };
    if a.is_nan() || b.is_nan() {
        if a.is_nan() && b.is_nan() { 0 } else { u64::MAX }
    } else {
        place(a).abs_diff(place(b))
    }
}

#[test]
fn functions_are_near_those_of_the_library() {
    let numbers = numbers();
    let sigmoid = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
    let functions: [(Unary, &dyn Fn(f64) -> f64); 6] = [
        (Unary::Exp, &f64::exp),
        (Unary::Log, &f64::ln),
        (Unary::Sin, &f64::sin),
        (Unary::Cos, &f64::cos),
        (Unary::Tanh, &f64::tanh),
        (Unary::Sigmoid, &sigmoid),
    ];
    for (op, f) in functions {
        let of = |x: &[f64]| {
            let allocator = malloc();
            let result = fast::unary(op, tensor(&[x.len()], x), &Cx::serial(&allocator)).unwrap();
            result.read::<f64>().unwrap().to_vec()
        };
        for (i, (&x, got)) in numbers.iter().zip(of(&numbers)).enumerate() {
            let want = f(x);
            // The library's hyperbolic tangent is itself up to 2 ulp away.
            let limit = match op {
                _ if want == 0.0 => 0,
                Unary::Tanh => 4,
                _ => 2,
            };
            assert!(apart(got, want) <= limit, "{op:?} of {x:e}: {got:e}, not {want:e}");
            // No result depends on its neighbours.
            if i % 97 == 0 || i < SPECIAL.len() {
                assert_eq!(of(&[x])[0].to_bits(), got.to_bits(), "{op:?} of {x:e} alone");
            }
        }
    }
}

#[test]
fn powers_of_f32_are_at_most_one_float_away() {
    let mut random = Random(11);
    let special = SPECIAL.map(|x| x as f32);
    let mut pairs: Vec<(f32, f32)> = special.iter().flat_map(|&a| special.map(|b| (a, b))).collect();
    for scale in [1e-30, 1.0, 20.0, 1e30] {
        pairs.extend((0..3000).map(|_| (random.f32().abs() * scale, random.f32() * 12.0)));
    }
    let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let allocator = malloc();
    let (left, right) = (tensor(&[a.len()], &a), tensor(&[b.len()], &b));
    let result = fast::binary(Binary::Pow, left, right, &Cx::serial(&allocator)).unwrap();
    for ((a, b), &got) in pairs.into_iter().zip(result.read::<f32>().unwrap().iter()) {
        let want = f64::from(a).powf(f64::from(b)) as f32;
        let next = [want.next_down(), want, want.next_up()];
        assert!(next.contains(&got) || (got.is_nan() && want.is_nan()), "{a:e}^{b:e}: {got:e}, not {want:e}");
    }
}
