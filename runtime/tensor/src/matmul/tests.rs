//! Comparison with the reference, on every instruction set of this machine.

use proptest::prelude::*;

use super::*;
use crate::gemm::Matrix;
use crate::parallel::Serial;
use crate::reference;
use crate::simd::Function;
use crate::testing::Threads;

pub(crate) fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 * 4.0 - 2.0
    };
    (0..n).map(|_| next()).collect()
}

fn check((m, k, n): (usize, usize, usize), seed: u32, function: Function) {
    let (a, b) = (numbers(m * k, seed), numbers(k * n, seed ^ 77));
    let (scale, bias, residual) = (numbers(n, 4), numbers(n, 5), numbers(m * n, 6));
    let mut want = vec![0.0; m * n];
    reference::matmul((m, k, n), &a, &b, &mut want);
    for (i, want) in want.iter_mut().enumerate() {
        let x = *want * scale[i % n] + bias[i % n] + residual[i];
        *want = match function {
            Function::Relu => x.max(0.0),
            Function::Relu6 => x.clamp(0.0, 6.0),
            Function::Tanh => x.tanh(),
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            _ => x,
        };
    }
    let transposed: Vec<f32> = (0..k * n).map(|i| b[i % k * n + i / k]).collect();
    let a_transposed: Vec<f32> = (0..m * k).map(|i| a[i % m * k + i / m]).collect();
    let packed = PackedMatrix::pack(k, n, &b).unwrap();
    assert_eq!(packed.panels(), PackedMatrix::pack_transposed(k, n, &transposed).unwrap().panels());
    let viewed = PackedMatrix::from_panels(k, n, packed.panels()).unwrap();
    let epilogue = Epilogue { scale: Some(&scale), bias: Some(&bias), residual: Some(&residual), function };
    for isa in Isa::all() {
        let (mut got, mut two) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
        multiply(isa, m, &Matrix::new(&a, m, k), &viewed, &epilogue, &mut got, &Serial).unwrap();
        multiply(isa, m, &Matrix::new(&a, m, k), &packed, &epilogue, &mut two, &Threads).unwrap();
        assert_eq!(got, two, "the number of workers does not matter");
        let (mut rows, mut cols) = (two.clone(), two);
        multiply(isa, m, &Matrix::new(&a, m, k), &Matrix::new(&b, k, n), &epilogue, &mut rows, &Serial)
            .unwrap();
        let (a, b) =
            (Matrix::new(&a_transposed, k, m).transposed(), Matrix::new(&transposed, n, k).transposed());
        multiply(isa, m, &a, &b, &epilogue, &mut cols, &Threads).unwrap();
        assert_eq!(rows, cols, "nor does the order of the elements in memory");
        if m > 1 {
            assert_eq!(got, rows, "nor does it when b is packed");
        }
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!(
                (got - want).abs() <= 2e-5 * (k + 4) as f32,
                "{isa:?} {m} {k} {n} at {i}: {got}, not {want}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn as_the_reference(m in 0usize..60, k in 0usize..70, n in 0usize..80, seed: u32, f in 0usize..5) {
        use Function::*;
        check((m, k, n), seed, [Identity, Relu, Relu6, Tanh, Sigmoid][f]);
    }
}

#[test]
fn several_blocks_of_everything() {
    check((1, 600, 70), 3, Function::Identity);
    check((341, MAX_STEPS + 3, 40), 4, Function::Relu);
    check((30, 2 * MAX_STEPS, 545), 5, Function::Identity);
    check((16, STEPS + 9, BLOCK / STEPS * PANEL + 33), 6, Function::Identity);
    // Rows that share cache sets, which are copied.
    check((30, 1024, 70), 8, Function::Relu);
    // More tiles than are kept, and more column blocks than the limit for repacking.
    check((45, STEPS - 8, BLOCKS * (BLOCK / STEPS) * PANEL + 1), 7, Function::Relu);
}

/// The epilogue is that of a pass of its own, bit by bit, for each width of the last panel.
#[test]
fn epilogues_in_registers_are_those_of_a_pass() {
    let (m, k) = (17, 30);
    for (n, function) in (1..=2 * PANEL + 1).zip(
        [Function::Identity, Function::Relu, Function::Relu6, Function::Silu, Function::Gelu].iter().cycle(),
    ) {
        let (a, b) = (numbers(m * k, 1), PackedMatrix::pack(k, n, &numbers(k * n, 2)).unwrap());
        let (scale, bias, residual) = (numbers(n, 4), numbers(n, 5), numbers(m * n, 6));
        for (isa, parts) in Isa::all().flat_map(|isa| (0..8).map(move |parts| (isa, parts))) {
            let epilogue = Epilogue {
                scale: (parts & 1 > 0).then_some(&scale),
                bias: (parts & 2 > 0).then_some(&bias),
                residual: (parts & 4 > 0).then_some(&residual),
                function: *function,
            };
            let run = |epilogue: &Epilogue<'_>| {
                let mut out = vec![f32::NAN; m * n];
                multiply(isa, m, &Matrix::new(&a, m, k), &b, epilogue, &mut out, &Serial).unwrap();
                out
            };
            let (got, mut want) = (run(&epilogue), run(&Epilogue::default()));
            isa.finish(&epilogue, (m, n), &mut OutRows::Strided(&mut want, n), n);
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&got), bits(&want), "{isa:?} {n} {epilogue:?}");
        }
    }
}

/// In an epilogue as alone, functions that clamp at 0 make 0 of -0.
#[test]
fn clamped_zeros_are_positive() {
    let (m, k, n) = (5, 4, 37);
    let (a, b) = (vec![0.0; m * k], vec![1.0; k * n]);
    let packed = PackedMatrix::pack(k, n, &b).unwrap();
    let scale = vec![-1.0; n];
    for (isa, function) in
        Isa::all().flat_map(|isa| [Function::Identity, Function::Relu, Function::Relu6].map(|f| (isa, f)))
    {
        let epilogue = Epilogue { scale: Some(&scale), function, ..Epilogue::default() };
        let (mut out, mut alone) = (vec![f32::NAN; m * n], vec![-0.0; m * n]);
        multiply(isa, m, &Matrix::new(&a, m, k), &packed, &epilogue, &mut out, &Serial).unwrap();
        isa.map(function, &mut alone);
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&out), bits(&alone), "{isa:?} {function:?}");
    }
}

#[test]
fn special_numbers_stay_in_their_rows_and_columns() {
    let (m, k, n) = (17, 20, 37);
    let (mut a, mut b) = (vec![1.0; m * k], vec![1.0; k * n]);
    a[3 * k + 4] = f32::NAN;
    b[4 * n + 36] = f32::INFINITY;
    let packed = PackedMatrix::pack(k, n, &b).unwrap();
    for isa in Isa::all() {
        let mut out = vec![0.0; m * n];
        multiply(isa, m, &Matrix::new(&a, m, k), &packed, &Epilogue::default(), &mut out, &Serial).unwrap();
        for (i, x) in out.iter().enumerate() {
            let right = match (i / n, i % n) {
                (3, _) => x.is_nan(),
                (_, 36) => *x == f32::INFINITY,
                _ => *x == k as f32,
            };
            assert!(right, "{isa:?} at {i}: {x}");
        }
    }
}

#[test]
fn wrong_sizes_are_errors() {
    assert_eq!(PackedMatrix::packed_len(usize::MAX / 4, 3), Err(TensorError::TooLarge));
    assert_eq!(PackedMatrix::packed_len(1, usize::MAX), Err(TensorError::TooLarge));
    assert!(PackedMatrix::pack(2, 3, &[0.0; 5]).is_err());
    assert!(PackedMatrix::from_panels(2, 3, &[0.0; 6]).is_err());
    let b = PackedMatrix::pack(2, 3, &[0.0; 6]).unwrap();
    let run = |m, a: &[f32], bias: &[f32], n| {
        let epilogue = Epilogue { bias: Some(bias), ..Epilogue::default() };
        matmul_packed(m, a, &b, &epilogue, &mut vec![0.0; n], &Serial)
    };
    assert_eq!(run(2, &[0.0; 4], &[0.0; 3], 6), Ok(()));
    assert_eq!(run(2, &[0.0; 3], &[0.0; 3], 6), Err(TensorError::Count { want: 4, got: 3 }));
    assert_eq!(run(2, &[0.0; 4], &[0.0; 2], 6), Err(TensorError::Count { want: 3, got: 2 }));
    assert_eq!(run(2, &[0.0; 4], &[0.0; 3], 7), Err(TensorError::Count { want: 6, got: 7 }));
    assert_eq!(run(usize::MAX, &[0.0; 4], &[0.0; 3], 6), Err(TensorError::TooLarge));
}
