//! Against the definition.

use proptest::prelude::*;

use super::*;
use crate::matmul::Serial;

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0).collect()
}

/// One number of the result at a time, in f64.
fn plain(conv: &Conv2d, out_channels: usize, image: &[f32], filters: &[f32]) -> Vec<f32> {
    let Conv2d { batch, channels, height, width, out, .. } = *conv;
    let mut result = Vec::new();
    let inside = |at: usize, tap: usize, w: Window| {
        let pixel = (at * w.stride + tap * w.dilation) as i64 - w.pad.0 as i64;
        (0..w.input as i64).contains(&pixel).then_some(pixel as usize)
    };
    for b in 0..batch {
        for (y, x, o) in
            (0..out.0).flat_map(|y| (0..out.1).flat_map(move |x| (0..out_channels).map(move |o| (y, x, o))))
        {
            let mut sum = 0.0;
            for (fy, fx) in (0..height.filter).flat_map(|fy| (0..width.filter).map(move |fx| (fy, fx))) {
                let (Some(iy), Some(ix)) = (inside(y, fy, height), inside(x, fx, width)) else { continue };
                for c in 0..channels {
                    let pixel = image[((b * height.input + iy) * width.input + ix) * channels + c];
                    let weight = filters[((fy * width.filter + fx) * channels + c) * out_channels + o];
                    sum += f64::from(pixel) * f64::from(weight);
                }
            }
            result.push(sum as f32);
        }
    }
    result
}

fn windows() -> impl Strategy<Value = Window> {
    (0usize..12, 1usize..5, 1usize..4, 1usize..3, (0usize..4, 0usize..4))
        .prop_map(|(input, filter, stride, dilation, pad)| Window { input, filter, stride, dilation, pad })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn as_the_definition(batch in 0usize..3, channels in 0usize..40, o in 0usize..40, height in windows(), width in windows()) {
        let conv = Conv2d::new(batch, channels, height, width).unwrap();
        let image = numbers(batch * height.input * width.input * channels);
        let filters = numbers(height.filter * width.filter * channels * o);
        let packed = conv.pack(o, &filters).unwrap();
        let want = plain(&conv, o, &image, &filters);
        for isa in Isa::all() {
            let mut got = vec![f32::NAN; want.len()];
            conv.run_with(isa, &image, &packed, &Epilogue::default(), &mut got, &Serial).unwrap();
            for (got, want) in got.iter().zip(&want) {
                prop_assert!((got - want).abs() <= 1e-3, "{:?}: {} {}", isa, got, want);
            }
        }
    }
}

#[test]
fn hostile_sizes_are_errors() {
    let good = Window { input: 5, filter: 3, stride: 1, dilation: 1, pad: (1, 1) };
    assert_eq!(good.output(), Ok(5));
    assert_eq!(Window { filter: 30, ..good }.output(), Ok(0));
    for bad in [
        Window { stride: 0, ..good },
        Window { filter: 0, ..good },
        Window { dilation: 0, ..good },
        Window { pad: (usize::MAX, 1), ..good },
        Window { dilation: usize::MAX, ..good },
        Window { input: usize::MAX / 2, ..good },
    ] {
        assert!(Conv2d::new(1, 3, bad, bad).is_err(), "{bad:?}");
    }
    assert!(Conv2d::new(usize::MAX, 3, good, good).is_err());
    assert!(Conv2d::new(1, usize::MAX / 2, good, good).is_err());
    let conv = Conv2d::new(1, 2, good, good).unwrap();
    let filters = conv.pack(4, &[0.0; 72]).unwrap();
    let run = |image: &[f32], n| conv.run(image, &filters, &Epilogue::default(), &mut vec![0.0; n], &Serial);
    assert_eq!(run(&[0.0; 50], 100), Ok(()));
    assert!(run(&[0.0; 49], 100).is_err());
    assert!(run(&[0.0; 50], 99).is_err());
    assert!(conv.pack(4, &[0.0; 71]).is_err());
}
