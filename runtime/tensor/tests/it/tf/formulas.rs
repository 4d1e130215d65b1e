//! Comparison with short formulas over random shapes, values and dtypes. The formulas give the source index
//! of each element for movements, the machine's arithmetic for integers, and the definition of order for
//! sorts.

use proptest::prelude::*;

use super::{malloc, tensor, vector};
use befrost_tensor::tf::*;
use befrost_tensor::{DType, HostTensor, Shape, bf16, f16};

/// Random dimensions below 4.
fn dims(rank: std::ops::Range<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..4, rank)
}

/// The tensor of 0, 1, 2, ... in this shape.
fn counted(dims: &[usize]) -> HostTensor {
    tensor(dims, &(0..dims.iter().product::<usize>() as i32).collect::<Vec<_>>())
}

/// The element of [`counted`] at an index.
fn at(dims: &[usize], index: &[usize]) -> i32 {
    dims.iter().zip(index).fold(0, |at, (dim, i)| at * dim + i) as i32
}

/// Checks that each element of a tensor equals the formula of its index.
#[track_caller]
fn holds(got: &HostTensor, dims: &[usize], formula: impl Fn(&[usize]) -> i32) {
    assert_eq!(got.shape().dims(), dims);
    let shape = Shape::new(dims).unwrap();
    for (position, got) in got.read::<i32>().unwrap().iter().enumerate() {
        let index = shape.index_of(position);
        assert_eq!(*got, formula(&index), "at {index:?} of {dims:?}");
    }
}

/// The permutation that sorts random keys.
fn permutation(keys: &[u8], n: usize) -> Vec<usize> {
    let mut perm: Vec<usize> = (0..n).collect();
    perm.sort_by_key(|&i| keys[i]);
    perm
}

fn signed(list: &[usize]) -> Vec<i64> {
    list.iter().map(|&i| i as i64).collect()
}

proptest! {
    #[test]
    fn transposes(d in dims(0..5), keys in any::<[u8; 4]>()) {
        let perm = permutation(&keys, d.len());
        let transposed: Vec<usize> = perm.iter().map(|&p| d[p]).collect();
        let got = transpose(&counted(&d), &signed(&perm), &malloc()).unwrap();
        holds(&got, &transposed, |index| {
            let mut from = vec![0; d.len()];
            perm.iter().zip(index).for_each(|(&p, &i)| from[p] = i);
            at(&d, &from)
        });
    }

    #[test]
    fn repetitions_and_reversals(d in dims(1..4), times in prop::collection::vec(0usize..3, 3), axis in 0usize..3, shift in -9i64..9) {
        let (x, m, axis) = (counted(&d), &malloc(), axis % d.len());
        let times = &times[..d.len()];
        let tiled: Vec<usize> = d.iter().zip(times).map(|(d, t)| d * t).collect();
        holds(&tile(&x, &signed(times), m).unwrap(), &tiled, |index| {
            at(&d, &index.iter().zip(&d).map(|(i, d)| i % d).collect::<Vec<_>>())
        });
        let moved = |index: &[usize], f: &dyn Fn(usize) -> usize| {
            let mut from = index.to_vec();
            from[axis] = f(from[axis]);
            at(&d, &from)
        };
        let n = d[axis];
        holds(&reverse(&x, &[axis as i64], m).unwrap(), &d, |index| moved(index, &|i| n - 1 - i));
        let rolled = roll(&x, &[shift], &[axis as i64 - d.len() as i64], m).unwrap();
        holds(&rolled, &d, |index| moved(index, &|i| (i as i64 - shift).rem_euclid(n as i64) as usize));
    }

    #[test]
    fn pads_have_the_source_or_the_constant(d in dims(1..4), around in prop::collection::vec((0usize..3, 0usize..3), 3)) {
        let around = &around[..d.len()];
        let padded: Vec<usize> = d.iter().zip(around).map(|(d, (a, b))| d + a + b).collect();
        let paddings: Vec<(i64, i64)> = around.iter().map(|&(a, b)| (a as i64, b as i64)).collect();
        let got = pad(&counted(&d), &paddings, PadMode::Constant(&(-7i32).to_ne_bytes()), &malloc()).unwrap();
        holds(&got, &padded, |index| {
            let inside = index.iter().zip(around).map(|(i, (a, _))| i.checked_sub(*a)).collect::<Option<Vec<_>>>();
            inside.filter(|from| from.iter().zip(&d).all(|(i, d)| i < d)).map_or(-7, |from| at(&d, &from))
        });
    }

    #[test]
    fn slices_are_pythons(n in 0usize..7, begin in -9i64..9, end in -9i64..9, step in 1i64..4, backwards in any::<bool>()) {
        let step = if backwards { -step } else { step };
        let range = SliceRange { begin: &[begin], end: &[end], strides: &[step], masks: SliceMasks::default() };
        let got = strided_slice(&counted(&[n]), &range, &malloc()).unwrap();
        // The definition in Python's documentation: x[i], x[i + k] ... up to but not including x[j].
        let (low, high) = if backwards { (-1, n as i64 - 1) } else { (0, n as i64) };
        let place = |i: i64| if i < 0 { i + n as i64 } else { i }.clamp(low, high);
        let (mut i, last) = (place(begin), place(end));
        let mut want = Vec::new();
        while if backwards { i > last } else { i < last } {
            want.push(i as i32);
            i += step;
        }
        prop_assert_eq!(&*got.read::<i32>().unwrap(), &want[..]);
        let back = strided_slice_grad(&Shape::new(&[n]).unwrap(), &range, &got, &malloc()).unwrap();
        holds(&back, &[n], |index| if want.contains(&(index[0] as i32)) { index[0] as i32 } else { 0 });
    }

    #[test]
    fn gathers_take_what_indices_name(
        batch in 1usize..3, before in 1usize..3, n in 1usize..4, after in 1usize..3, picks in prop::collection::vec(0usize..12, 6),
    ) {
        let d = [batch, before, n, after];
        let indices: Vec<i32> = picks[..batch * 3].iter().map(|&i| (i % n) as i32).collect();
        let got = gather(&counted(&d), &tensor(&[batch, 3], &indices), 2, 1, &malloc()).unwrap();
        holds(&got, &[batch, before, 3, after], |i| {
            at(&d, &[i[0], i[1], indices[i[0] * 3 + i[2]] as usize, i[3]])
        });
        let got = gather(&counted(&d), &tensor(&[batch, 3], &indices), -2, 0, &malloc()).unwrap();
        holds(&got, &[batch, before, batch, 3, after], |i| {
            at(&d, &[i[0], i[1], indices[i[2] * 3 + i[3]] as usize, i[4]])
        });
    }

    #[test]
    fn scatters_visit_every_update(n in 1usize..5, updates in prop::collection::vec((0usize..5, -9i32..9), 0..8)) {
        let places: Vec<i32> = updates.iter().map(|(p, _)| (p % n) as i32).collect();
        let values: Vec<i32> = updates.iter().map(|(_, v)| *v).collect();
        let (places_t, values_t) = (tensor(&[places.len(), 1], &places), vector(&values));
        let start: Vec<i32> = (0..n as i32).collect();
        type IntFormula = fn(i32, i32) -> i32;
        let modes: [(Scatter, IntFormula); 5] = [
            (Scatter::Update, |_, b| b), (Scatter::Add, |a, b| a + b), (Scatter::Sub, |a, b| a - b),
            (Scatter::Min, i32::min), (Scatter::Max, i32::max),
        ];
        for (mode, formula) in modes {
            let mut want = start.clone();
            places.iter().zip(&values).for_each(|(&p, &v)| want[p as usize] = formula(want[p as usize], v));
            let got = tensor_scatter(mode, &vector(&start), &places_t, &values_t, &malloc()).unwrap();
            prop_assert_eq!(&*got.read::<i32>().unwrap(), &want[..], "{:?}", mode);
        }
    }

    #[test]
    fn reductions_fold_the_axis(d in dims(1..4), axis in 0usize..3, keep in any::<bool>(), seed in any::<i32>()) {
        let axis = axis % d.len();
        let values: Vec<i32> = (0..d.iter().product::<usize>() as i32).map(|i| seed.wrapping_mul(i + 1)).collect();
        let x = tensor(&d, &values);
        let mut kept = d.clone();
        kept[axis] = 1;
        type ReduceCase = (Reduce, i32, fn(i32, i32) -> i32);
        let folds: [ReduceCase; 4] = [
            (Reduce::Sum, 0, i32::wrapping_add), (Reduce::Prod, 1, i32::wrapping_mul), (Reduce::Min, i32::MAX, i32::min),
            (Reduce::Max, i32::MIN, i32::max),
        ];
        for (op, start, fold) in folds {
            let got = reduce(op, &x, &[axis as i64], keep, &malloc()).unwrap();
            let got = if keep { got } else { expand_dims(&got, axis as i64).unwrap() };
            holds(&got, &kept, |index| {
                (0..d[axis]).fold(start, |acc, i| {
                    let mut from = index.to_vec();
                    from[axis] = i;
                    fold(acc, values[at(&d, &from) as usize])
                })
            });
        }
    }

    #[test]
    fn scans_are_reductions_of_prefixes(values in prop::collection::vec(any::<i32>(), 0..7), exclusive in any::<bool>(), reverse in any::<bool>()) {
        for (op, start, fold) in [(Scan::Cumsum, 0, i32::wrapping_add as fn(i32, i32) -> i32), (Scan::Cumprod, 1, i32::wrapping_mul)] {
            let got = scan(op, &vector(&values), 0, exclusive, reverse, &malloc()).unwrap();
            holds(&got, &[values.len()], |i| {
                let part = match (exclusive, reverse) {
                    (false, false) => &values[..=i[0]],
                    (true, false) => &values[..i[0]],
                    (false, true) => &values[i[0]..],
                    (true, true) => &values[i[0] + 1..],
                };
                part.iter().fold(start, |acc, &x| fold(acc, x))
            });
        }
    }

    #[test]
    fn order_is_what_it_means(values in prop::collection::vec(prop::sample::select(vec![-1.5f32, 0.0, -0.0, 1.0, 7.0, f32::NAN, f32::INFINITY]), 1..9)) {
        let (x, m, n) = (vector(&values), &malloc(), values.len());
        let rank = |v: f32| if v.is_nan() { f32::INFINITY.to_bits() as i64 + 1 } else if v == 0.0 { 0 } else { (v.to_bits() as i32 ^ ((v.to_bits() as i32 >> 31) & i32::MAX)) as i64 };
        let [top, places] = top_k(&x, n, m).unwrap();
        let places = places.read::<i32>().unwrap().to_vec();
        for pair in places.windows(2) {
            let (a, b) = (rank(values[pair[0] as usize]), rank(values[pair[1] as usize]));
            prop_assert!(a > b || (a == b && pair[0] < pair[1]), "{values:?} {places:?}");
        }
        for (&place, top) in places.iter().zip(top.read::<f32>().unwrap().iter()) {
            prop_assert_eq!(values[place as usize].to_bits(), top.to_bits());
        }
        let mut all = places.clone();
        all.sort_unstable();
        prop_assert_eq!(all, (0..n as i32).collect::<Vec<_>>());
        let largest = arg_extreme(true, &x, 0, DType::I32, m).unwrap();
        let first = places.iter().find(|&&place| !values[place as usize].is_nan());
        prop_assert_eq!(largest.read::<i32>().unwrap()[0], first.copied().unwrap_or(0));
        let ascending = sort(&x, 0, false, m).unwrap();
        let ascending: Vec<i64> = ascending.read::<f32>().unwrap().iter().map(|&v| rank(v)).collect();
        prop_assert!(ascending.is_sorted());
    }

    #[test]
    fn unique_elements_lead_back(values in prop::collection::vec(-3i8..3, 0..12)) {
        let [distinct, places, counts] = unique(&vector(&values), None, DType::I64, &malloc()).unwrap();
        let (distinct, places, counts) =
            (distinct.read::<i8>().unwrap(), places.read::<i64>().unwrap(), counts.read::<i64>().unwrap());
        let back: Vec<i8> = places.iter().map(|&p| distinct[p as usize]).collect();
        prop_assert_eq!(&back, &values);
        for (d, c) in distinct.iter().zip(counts.iter()) {
            prop_assert_eq!(values.iter().filter(|v| *v == d).count() as i64, *c);
        }
        let firsts: Vec<usize> = distinct.iter().map(|d| values.iter().position(|v| v == d).unwrap()).collect();
        prop_assert!(firsts.is_sorted());
    }

    #[test]
    fn poolings_are_their_definition(h in 1usize..6, w in 1usize..6, window in (1usize..4, 1usize..4), strides in (1usize..4, 1usize..4), before in (0usize..2, 0usize..2), values in prop::collection::vec(-9i32..9, 25)) {
        let padding = Padding::Explicit([(before.0, 1), (before.1, 0)]);
        let image = tensor(&[1, h, w, 1], &values[..h * w]);
        let attrs = Pool2dAttrs { window, strides, padding, format: ImageFormat::Nhwc };
        let padded = (h + before.0 + 1, w + before.1);
        // A window that exceeds the padded image by less than two strides has no results; a larger one is
        // refused.
        let fits = padded.0 + 2 * strides.0 > window.0 && padded.1 + 2 * strides.1 > window.1;
        let got = pool(Pool::Max, &image, &attrs, &malloc());
        prop_assert_eq!(got.is_ok(), fits);
        if let Ok(got) = got {
            let count = |padded: usize, window, stride| padded.checked_sub(window).map_or(0, |free| free / stride + 1);
            let d = [1, count(padded.0, window.0, strides.0), count(padded.1, window.1, strides.1), 1];
            holds(&got, &d, |at| {
                let taps = (0..window.0).flat_map(|i| (0..window.1).map(move |j| (i, j)));
                let inside = taps.filter_map(|(i, j)| {
                    let (y, x) = ((at[1] * strides.0 + i).checked_sub(before.0)?, (at[2] * strides.1 + j).checked_sub(before.1)?);
                    (y < h && x < w).then(|| values[y * w + x])
                });
                inside.max().unwrap_or(i32::MIN)
            });
        }
    }
}

/// Tests that compare a dtype's integer arithmetic with the machine's.
macro_rules! machine {
    ($($test:ident $ty:ident;)*) => {
        proptest! {$(
            #[test]
            fn $test(a in any::<$ty>(), b in any::<$ty>(), shift in 0u32..$ty::BITS) {
                let m = &malloc();
                let of = |op, x: $ty, y: $ty| binary(op, &tensor(&[], &[x]), &tensor(&[], &[y]), m).map(|t| t.read::<$ty>().unwrap()[0]);
                prop_assert_eq!(of(Binary::Add, a, b), Ok(a.wrapping_add(b)));
                prop_assert_eq!(of(Binary::Sub, a, b), Ok(a.wrapping_sub(b)));
                prop_assert_eq!(of(Binary::Mul, a, b), Ok(a.wrapping_mul(b)));
                prop_assert_eq!(of(Binary::Maximum, a, b), Ok(a.max(b)));
                prop_assert_eq!(of(Binary::BitwiseXor, a, b), Ok(a ^ b));
                prop_assert_eq!(of(Binary::LeftShift, a, shift as $ty), Ok(a << shift));
                prop_assert_eq!(of(Binary::RightShift, a, shift as $ty), Ok(a >> shift));
                prop_assert_eq!(of(Binary::Pow, a, shift as $ty), Ok(a.wrapping_pow(shift)));
                if b == 0 {
                    prop_assert!(of(Binary::FloorDiv, a, b).is_err() && of(Binary::TruncateMod, a, b).is_err());
                } else {
                    prop_assert_eq!(of(Binary::TruncateDiv, a, b), Ok(a.wrapping_div(b)));
                    prop_assert_eq!(of(Binary::TruncateMod, a, b), Ok(a.wrapping_rem(b)));
                    let floor = of(Binary::FloorDiv, a, b).unwrap();
                    let rest = of(Binary::FloorMod, a, b).unwrap();
                    prop_assert_eq!(floor.wrapping_mul(b).wrapping_add(rest), a);
                    prop_assert!(rest == 0 || (rest < 0 as $ty) == (b < 0 as $ty));
                }
                let cast_of = |to| cast(&tensor(&[], &[a]), to, m).unwrap();
                prop_assert_eq!(cast_of(DType::I8).read::<i8>().unwrap()[0], a as i8);
                prop_assert_eq!(cast_of(DType::UI32).read::<u32>().unwrap()[0], a as u32);
                prop_assert_eq!(cast_of(DType::F32).read::<f32>().unwrap()[0], a as f32);
                prop_assert_eq!(cast_of(DType::F64).read::<f64>().unwrap()[0], a as f64);
            }
        )*}
    };
}
machine! {
    i8_is_the_machines i8; i16_is_the_machines i16; i32_is_the_machines i32; i64_is_the_machines i64;
    u8_is_the_machines u8; u16_is_the_machines u16; u32_is_the_machines u32; u64_is_the_machines u64;
}

proptest! {
    #[test]
    fn casts_of_floats_cut_off(x in any::<f32>()) {
        let m = &malloc();
        let of = |to| cast(&tensor(&[], &[x]), to, m).unwrap();
        let is_in = |limit: f32| -limit <= x && x < limit;
        let long = if is_in(9_223_372_036_854_775_808.0) { x as i64 } else { i64::MIN };
        let int = if is_in(2_147_483_648.0) { x as i32 } else { i32::MIN };
        prop_assert_eq!(of(DType::I64).read::<i64>().unwrap()[0], long);
        prop_assert_eq!(of(DType::I32).read::<i32>().unwrap()[0], int);
        prop_assert_eq!(of(DType::I8).read::<i8>().unwrap()[0], int.clamp(-128, 127) as i8);
        prop_assert_eq!(of(DType::UI16).read::<u16>().unwrap()[0], int.clamp(0, 65_535) as u16);
        prop_assert_eq!(of(DType::UI32).read::<u32>().unwrap()[0], long as u32);
        let is_large = (9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&x);
        prop_assert_eq!(of(DType::UI64).read::<u64>().unwrap()[0], if is_large { x as u64 } else { long as u64 });
        prop_assert_eq!(of(DType::F64).read::<f64>().unwrap()[0].to_bits(), f64::from(x).to_bits());
        prop_assert_eq!(of(DType::F16).read::<f16>().unwrap()[0].to_bits(), f16::from_f32(x).to_bits());
        prop_assert_eq!(of(DType::BF16).read::<bf16>().unwrap()[0].to_bits(), bf16::from_f32(x).to_bits());
    }

    #[test]
    fn gradients_of_activations_are_those_of_differences(x in -4.0f64..4.0, dy in -2.0f64..2.0) {
        let m = &malloc();
        let of = |op, x: f64| unary(op, &tensor(&[], &[x]), m).unwrap().read::<f64>().unwrap()[0];
        let x = if x.abs() < 0.01 { 0.5 } else { x };
        let slope = |op, x: f64| (of(op, x + 1e-6) - of(op, x - 1e-6)) / 2e-6;
        let gradient = |op, a: f64, b: f64| binary(op, &tensor(&[], &[a]), &tensor(&[], &[b]), m).unwrap().read::<f64>().unwrap()[0];
        // TensorFlow's gradients take dy and the operand or the result, in different orders.
        let by_operand = [
            (Unary::Relu, Binary::ReluGrad), (Unary::Relu6, Binary::Relu6Grad), (Unary::Softplus, Binary::SoftplusGrad),
            (Unary::Softsign, Binary::SoftsignGrad),
        ];
        for (op, grad) in by_operand {
            prop_assert!((gradient(grad, dy, x) - dy * slope(op, x)).abs() < 1e-5, "{grad:?} {x}");
        }
        for (op, grad) in [(Unary::Elu, Binary::EluGrad), (Unary::Selu, Binary::SeluGrad)] {
            prop_assert!((gradient(grad, dy, of(op, x)) - dy * slope(op, x)).abs() < 1e-5, "{grad:?} {x}");
        }
        let by_result = [
            (Unary::Sigmoid, Binary::SigmoidGrad, x), (Unary::Tanh, Binary::TanhGrad, x), (Unary::Sqrt, Binary::SqrtGrad, x.abs() + 0.5),
            (Unary::Rsqrt, Binary::RsqrtGrad, x.abs() + 0.5), (Unary::Reciprocal, Binary::ReciprocalGrad, x.abs() + 0.5),
        ];
        for (op, grad, x) in by_result {
            prop_assert!((gradient(grad, of(op, x), dy) - dy * slope(op, x)).abs() < 1e-5, "{grad:?} {x}");
        }
    }
}
