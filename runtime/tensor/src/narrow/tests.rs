//! Comparison with products of f32, for every instruction set including the matrix unit.

use super::*;
use crate::conv::{Conv2d, Window};
use crate::gemm::Matrix;
use crate::matmul::PackedMatrix;
use crate::parallel::Serial;
use crate::scratch::filled;

const PRECISIONS: [Precision; 2] = [Precision::Bf16, Precision::Int8];

/// Numbers from -1 to 1.
fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let number = |i: u32| (i ^ seed.wrapping_mul(977)).wrapping_mul(2_654_435_761) >> 8;
    (0..n as u32).map(|i| number(i) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// The packed form of a k by n matrix, made in pieces of a few units.
fn packed(precision: Precision, (k, n): (usize, usize), b: &[f32]) -> Vec<Line> {
    let len = NarrowMatrix::packed_len(precision, k, n).unwrap();
    let mut lines = filled(len / LINE, Line([0; LINE])).unwrap();
    let units: &mut [PanelGroup] = bytemuck::cast_slice_mut(&mut lines);
    for (i, piece) in units.chunks_mut(7).enumerate() {
        fill(precision, &Matrix::new(b, k, n), i * 7, piece);
    }
    lines
}

/// The largest difference from f32 that rounding explains: half a step of each operand for each product.
fn tolerance(precision: Precision, k: usize) -> f32 {
    let step = match precision {
        Precision::Bf16 => 1.0 / 256.0,
        Precision::Int8 => 1.0 / 127.0,
    };
    step * 1.2 * (k as f32).sqrt() + step
}

#[test]
fn products_are_those_of_f32_up_to_rounding() {
    for (m, k, n) in [
        (1, 1, 1),
        (1, 300, 70),
        (3, 7, 17),
        (16, 64, 32),
        (17, 65, 33),
        (32, 128, 16),
        (40, 129, 50),
        (300, 20, 9),
    ] {
        let (a, b, bias) = (numbers(m * k, 1), numbers(k * n, 2), numbers(n, 3));
        let residual = numbers(m * n, 4);
        let epilogue = Epilogue { bias: Some(&bias), residual: Some(&residual), ..Epilogue::default() };
        let mut want = vec![0.0; m * n];
        let matrix = PackedMatrix::pack(k, n, &b).unwrap();
        crate::matmul::matmul_packed(m, &a, &matrix, &epilogue, &mut want, &Serial).unwrap();
        for precision in PRECISIONS {
            let lines = packed(precision, (k, n), &b);
            let matrix = NarrowMatrix::new(precision, k, n, bytemuck::cast_slice(&lines)).unwrap();
            for groups in [RowQuanta::Each, RowQuanta::All(Quantum::of_range((-1.0, 1.0)))] {
                let rows = FloatRows { numbers: &a, k, precision, groups: &groups };
                let mut first: Option<Vec<f32>> = None;
                for isa in Isa::all() {
                    let mut out = vec![f32::NAN; m * n];
                    multiply(isa, m, &rows, &matrix, &epilogue, &mut out, &Serial).unwrap();
                    let most = tolerance(precision, k);
                    for (i, (got, want)) in out.iter().zip(&want).enumerate() {
                        assert!(
                            (got - want).abs() < most,
                            "{isa:?} {precision:?} {m} {k} {n} {i}: {got} {want}"
                        );
                    }
                    let first = first.get_or_insert_with(|| out.clone());
                    for (x, y) in out.iter().zip(first) {
                        assert!((x - *y).abs() < 1e-4, "{isa:?} {precision:?} {m} {k} {n}: {x} {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn convolutions_are_those_of_f32_up_to_rounding() {
    let window = |input, filter, stride, dilation, pad| Window { input, filter, stride, dilation, pad };
    for (height, width, channels, outs) in [
        (window(9, 3, 1, 1, (1, 1)), window(7, 3, 1, 1, (1, 1)), 8, 20),
        (window(9, 3, 2, 1, (0, 1)), window(12, 5, 3, 1, (2, 0)), 3, 33),
        (window(9, 1, 1, 1, (0, 0)), window(7, 1, 1, 1, (0, 0)), 70, 16),
        (window(9, 1, 2, 1, (0, 0)), window(7, 1, 2, 1, (0, 0)), 5, 4),
        (window(11, 3, 1, 2, (2, 2)), window(8, 2, 1, 3, (1, 3)), 4, 40),
    ] {
        let conv = Conv2d::new(2, channels, height, width).unwrap();
        let (k, rows) = (height.filter * width.filter * channels, 2 * conv.output().0 * conv.output().1);
        let (image, filters) = (numbers(2 * height.input * width.input * channels, 5), numbers(k * outs, 6));
        let plain = Epilogue::default();
        let mut want = vec![0.0; rows * outs];
        conv.run(&image, &conv.pack(outs, &filters).unwrap(), &plain, &mut want, &Serial).unwrap();
        for precision in PRECISIONS {
            let lines = packed(precision, (k, outs), &filters);
            let matrix = NarrowMatrix::new(precision, k, outs, bytemuck::cast_slice(&lines)).unwrap();
            for range in [None, Some((-1.0, 1.0))] {
                let mut out = vec![f32::NAN; rows * outs];
                let mut space = vec![0xff; conv.narrow_bytes(precision).unwrap()];
                let to = (&mut out[..], &mut space[..]);
                conv.run_narrow(&image, range, &matrix, &plain, to, &Serial).unwrap();
                let most = tolerance(precision, k);
                for (got, want) in out.iter().zip(&want) {
                    assert!((got - want).abs() < most, "{precision:?} {height:?} {width:?}: {got} {want}");
                }
            }
        }
    }
}

/// Quanta of empty, tiny, one-sided and huge ranges; conversion of NaN and infinities.
#[test]
fn quanta_of_odd_ranges_are_numbers() {
    let isa = Isa::detect();
    assert_eq!(Quantum::of_range((0.0, 0.0)), Quantum { scale: 1.0, zero: 0 });
    assert_eq!(Quantum::of_range((1e-45, 1e-44)), Quantum { scale: 1.0, zero: 0 });
    assert_eq!(Quantum::of_range((-1.0, 0.0)).zero, 255);
    assert_eq!(Quantum::of_range((5.0, 10.0)), Quantum { scale: 10.0 / 255.0, zero: 0 });
    assert!(Quantum::of_range((f32::MIN, f32::MAX)).scale.is_finite());
    assert_eq!(isa.range(&[f32::NAN, 3.0, -2.0]), (-2.0, 3.0));
    let mut bytes = [0; 4];
    isa.to_bytes(&[f32::NAN, f32::INFINITY, -9.0, 0.5], Quantum::of_range((-1.0, 1.0)), &mut bytes);
    assert_eq!(bytes, [0, 255, 0, 191]);
    let mut halves = [[0; 2]; 3];
    isa.to_halves(&[f32::NAN, 1.0, f32::MAX], &mut halves);
    assert!(f32::from_bits(u32::from(u16::from_le_bytes(halves[0])) << 16).is_nan());
    assert_eq!(halves[1..], [0x3f80u16.to_le_bytes(), 0x7f80u16.to_le_bytes()]);
}

#[test]
fn misfits_are_refused() {
    assert!(NarrowMatrix::packed_len(Precision::Int8, (1 << 16) + 1, 1).is_err());
    assert!(NarrowMatrix::packed_len(Precision::Bf16, usize::MAX, 1).is_err());
    assert!(NarrowMatrix::packed_len(Precision::Bf16, 16, usize::MAX).is_err());
    assert!(NarrowMatrix::new(Precision::Bf16, 16, 16, &[0; 64]).is_err());
}
