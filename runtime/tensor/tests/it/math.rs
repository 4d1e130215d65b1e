//! Comparison of the fast functions with the reference functions, and of the in-place versions with the
//! others.

use proptest::prelude::*;

use befrost_tensor::{math, reference};

/// max|err| <= 1e-4 * max|ref| is the project's limit; one product of small numbers is far better than that.
fn close(got: &[f32], want: &[f32], limit: f32) -> bool {
    let scale = want.iter().fold(0.0f32, |m, x| m.max(x.abs()));
    got.iter().zip(want).all(|(g, w)| (g.is_nan() && w.is_nan()) || (g - w).abs() <= limit * scale)
}

fn floats(n: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-10.0f32..10.0, n)
}

/// Arbitrary floats, special values included.
fn any_floats(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f32>> {
    let special = prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0]);
    prop::collection::vec(prop_oneof![4 => -100.0f32..100.0, 1 => special], n)
}

fn matrices() -> impl Strategy<Value = ((usize, usize, usize), Vec<f32>, Vec<f32>)> {
    (0usize..40, 0usize..40, 0usize..40)
        .prop_flat_map(|(m, k, n)| (Just((m, k, n)), floats(m * k), floats(k * n)))
}

proptest! {
    #[test]
    fn matmul((mkn, a, b) in matrices()) {
        let (m, k, n) = mkn;
        let (mut got, mut want) = (vec![f32::NAN; m * n], vec![0.0; m * n]);
        math::matmul(mkn, &a, &b, &mut got);
        reference::matmul(mkn, &a, &b, &mut want);
        prop_assert!(close(&got, &want, 1e-5), "{got:?} {want:?}");

        let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let (mut got, mut want) = (vec![f64::NAN; m * n], vec![0.0; m * n]);
        math::matmul(mkn, &wide(&a), &wide(&b), &mut got);
        reference::matmul(mkn, &wide(&a), &wide(&b), &mut want);
        prop_assert!(got.iter().zip(&want).all(|(g, w)| (g - w).abs() <= 1e-9), "{got:?} {want:?}");

        // a * b = (b^T * a^T)^T
        let (a, b) = (math::Matrix::new(&a, m, k), math::Matrix::new(&b, k, n));
        let (mut plain, mut twice) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
        math::product(a, b, &mut plain);
        math::product(b.transposed(), a.transposed(), &mut twice);
        for i in 0..m {
            for j in 0..n {
                prop_assert!((plain[i * n + j] - twice[j * m + i]).abs() <= 1e-2);
            }
        }
    }

    #[test]
    fn bias_add(rows in 0usize..20, bias in any_floats(1..40), seed in any::<u32>()) {
        let x: Vec<f32> = (0..rows * bias.len()).map(|i| (seed.wrapping_mul(i as u32 + 1) >> 8) as f32).collect();
        let (mut got, mut want, mut in_place) = (vec![0.0; x.len()], vec![0.0; x.len()], x.clone());
        math::bias_add(&x, &bias, &mut got);
        math::bias_add_in_place(&mut in_place, &bias);
        reference::bias_add(&x, &bias, &mut want);
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&got), bits(&want));
        prop_assert_eq!(bits(&in_place), bits(&want));
    }

    #[test]
    fn relu(x in any_floats(0..100)) {
        let (mut got, mut want, mut in_place) = (vec![0.0; x.len()], vec![0.0; x.len()], x.clone());
        math::relu(&x, &mut got);
        math::relu_in_place(&mut in_place);
        reference::relu(&x, &mut want);
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&got), bits(&want));
        prop_assert_eq!(bits(&in_place), bits(&want));
    }

    #[test]
    fn softmax(n in 1usize..80, x in any_floats(0..200)) {
        let x = &x[..x.len() / n * n];
        let (mut got, mut want) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        math::softmax(n, x, &mut got);
        reference::softmax(n, x, &mut want);
        for (i, (g, w)) in got.iter().zip(&want).enumerate() {
            // x - max is rounded to f32: an error of 4e-6 at most where the exponential is not 0.
            prop_assert!((g.is_nan() && w.is_nan()) || (g - w).abs() <= 1e-5 * w + 2e-38, "at {i}: {g} {w}");
        }
    }

    #[test]
    fn argmax(outer in 0usize..4, axis in 1usize..50, inner in 0usize..5, x in any_floats(0..1000)) {
        let n = outer * axis * inner;
        let x: Vec<f32> = x.iter().cycle().take(n).copied().collect();
        prop_assume!(x.len() == n);
        let (mut got, mut want) = (vec![-1; outer * inner], vec![-2; outer * inner]);
        math::argmax((outer, axis, inner), &x, &mut got);
        reference::argmax((outer, axis, inner), &x, &mut want);
        prop_assert_eq!(got, want);
    }

    #[test]
    fn transpose(rows in 0usize..140, cols in 0usize..140) {
        let x: Vec<usize> = (0..rows * cols).collect();
        let (mut transposed, mut back) = (vec![0; x.len()], vec![0; x.len()]);
        math::transpose((rows, cols), &x, &mut transposed);
        for i in 0..rows {
            for j in 0..cols {
                prop_assert_eq!(transposed[j * rows + i], x[i * cols + j]);
            }
        }
        math::transpose((cols, rows), &transposed, &mut back);
        prop_assert_eq!(back, x);
    }

    #[test]
    fn count_equal(pairs in prop::collection::vec((0i32..3, 0i32..3), 0..100)) {
        let (a, b): (Vec<i32>, Vec<i32>) = pairs.into_iter().unzip();
        prop_assert_eq!(math::count_equal(&a, &b), reference::count_equal(&a, &b));
    }
}

#[test]
fn argmax_ties_and_nan() {
    let argmax = |x: &[f32]| {
        let mut out = [-1];
        math::argmax((1, x.len(), 1), x, &mut out);
        out[0]
    };
    assert_eq!(argmax(&[1.0, 3.0, 3.0, 2.0]), 1);
    assert_eq!(argmax(&[1.0, f32::NAN, 9.0, f32::NAN]), 1);
    assert_eq!(argmax(&[f32::NEG_INFINITY; 3]), 0);
    assert_eq!(argmax(&[-0.0, 0.0]), 0);
    let mut long = [0.0; 100];
    (long[70], long[71]) = (1.0, 1.0);
    assert_eq!(argmax(&long), 70);
}

#[test]
fn softmax_rows_sum_to_one_whatever_their_size() {
    for n in [1, 2, 31, 32, 33, 1000] {
        let mut x: Vec<f32> = (0..n).map(|i| 1000.0 + (i % 7) as f32).collect();
        math::softmax_in_place(n, &mut x);
        let sum: f64 = x.iter().map(|&x| f64::from(x)).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{n}: {sum}");
    }
}
