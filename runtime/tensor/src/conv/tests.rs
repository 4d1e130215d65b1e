//! Comparison with the definition.

use proptest::prelude::*;

use super::*;
use crate::parallel::Serial;
use crate::simd::{Fold, Function, OutRows};
use crate::testing::Threads;

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 2_654_435_761) % 1000) as f32 / 500.0 - 1.0).collect()
}

/// The definition: one element of the result at a time, in f64.
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

/// Comparison with the definition, with an epilogue. Two threads yield the same bits.
fn check_epilogue(conv: Conv2d, o: usize, has_residual: bool, function: Function) {
    let Conv2d { batch, channels, height, width, rows, .. } = conv;
    let image = numbers(batch * height.input * width.input * channels);
    let filters = numbers(height.filter * width.filter * channels * o);
    let (scale, bias, residual) = (numbers(o), vec![0.25; o], numbers(rows * o));
    let mut want = plain(&conv, o, &image, &filters);
    for (i, x) in want.iter_mut().enumerate() {
        let sum = *x * scale[i % o] + bias[i % o] + if has_residual { residual[i] } else { 0.0 };
        *x = if function == Function::Tanh { sum.tanh() } else { sum.max(0.0) };
    }
    let packed = conv.pack(o, &filters).unwrap();
    let epilogue = Epilogue {
        scale: Some(&scale),
        bias: Some(&bias),
        residual: has_residual.then_some(&residual),
        function,
    };
    for isa in Isa::all() {
        let (mut got, mut two) = (vec![f32::NAN; want.len()], vec![f32::NAN; want.len()]);
        conv.run_with(isa, &image, &packed, &epilogue, &mut got, &Serial).unwrap();
        conv.run_with(isa, &image, &packed, &epilogue, &mut two, &Threads).unwrap();
        assert_eq!(got, two, "the number of workers does not matter");
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!((got - want).abs() <= 1e-3, "{isa:?} at {i}: {got} {want}");
        }
    }
}

/// Comparison with the definition, to a fraction of the largest result. Two threads yield the same bits.
fn check_winograd(conv: Conv2d, patch: Patch, o: usize, limit: f32) {
    let Conv2d { batch, channels, height, width, rows, .. } = conv;
    let winograd = conv.winograd(patch).unwrap();
    let image = numbers(batch * height.input * width.input * channels);
    let (filters, bias, residual) = (numbers(9 * channels * o), numbers(o), numbers(rows * o));
    let want = plain(&conv, o, &image, &filters);
    let largest = want.iter().fold(0.0f32, |max, x| max.max(x.abs()));
    let packed = winograd.pack(o, &filters).unwrap();
    let unpacked = Matrix::new(&filters, 9 * channels, o);
    let epilogue = Epilogue {
        bias: Some(&bias),
        residual: Some(&residual),
        function: Function::Relu,
        ..Epilogue::default()
    };
    for isa in Isa::all() {
        let run = |is_packed, parallel: &dyn Parallel| {
            let mut got = vec![f32::NAN; want.len()];
            let done = if is_packed {
                winograd.run_with(isa, &image, &packed, &epilogue, &mut got, parallel)
            } else {
                winograd.run_unpacked(isa, &image, &unpacked, &epilogue, &mut got, parallel)
            };
            done.map(|()| got).unwrap()
        };
        for is_packed in [true, false] {
            let got = run(is_packed, &Serial);
            assert_eq!(got, run(is_packed, &Threads), "the number of workers does not matter");
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                let want = (want + bias[i % o] + residual[i]).max(0.0);
                let bound = limit * largest + 1e-6;
                assert!((got - want).abs() <= bound, "{isa:?} {patch:?} at {i}: {got} {want}");
            }
        }
    }
}

fn side(input: usize, pad: (usize, usize)) -> Window {
    Window { input, filter: 3, stride: 1, dilation: 1, pad }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn winograd_as_the_definition(
        batch in 0usize..3, channels in 0usize..70, o in 0usize..40,
        (h, w) in (0usize..14, 0usize..14), pads in ((0usize..3, 0usize..3), (0usize..3, 0usize..3)),
    ) {
        let conv = Conv2d::new(batch, channels, side(h, pads.0), side(w, pads.1)).unwrap();
        check_winograd(conv, Patch::Two, o, 1e-5);
        check_winograd(conv, Patch::Four, o, 1e-4);
    }

    #[test]
    fn few_channels_with_epilogues(
        batch in 1usize..3, channels in 1usize..6, o in 1usize..40, (height, width) in (windows(), windows()),
        more in 0usize..40, has_residual in any::<bool>(), is_tanh in any::<bool>(),
    ) {
        let width = Window { input: width.input + more, ..width };
        let conv = Conv2d::new(batch, channels, height, width).unwrap();
        check_epilogue(conv, o, has_residual, if is_tanh { Function::Tanh } else { Function::Relu });
    }

    #[test]
    fn channels_as_the_definition(batch in 0usize..3, channels in 1usize..80, height in windows(), width in windows()) {
        let conv = Conv2d::new(batch, channels, height, width).unwrap();
        let image = numbers(batch * height.input * width.input * channels);
        let filter = numbers(height.filter * width.filter * channels);
        for isa in Isa::all() {
            let run = |fold| {
                let mut got = vec![7.0; conv.rows * channels];
                conv.fold(isa, fold, &image, &Epilogue::default(), &mut got, &Threads).unwrap();
                got
            };
            let (max, mean, weighted) = (run(Fold::Max), run(Fold::Mean), run(Fold::Weighted(&filter)));
            for at in 0..conv.rows * channels {
                let (row, c) = (at / channels, at % channels);
                let (b, y, x) = (row / (conv.out.0 * conv.out.1), row / conv.out.1 % conv.out.0, row % conv.out.1);
                let mut covered = Vec::new();
                for tap in 0..height.filter * width.filter {
                    let (i, j) = (tap / width.filter, tap % width.filter);
                    if let (Some(y), Some(x)) = (height.pixel(y, i), width.pixel(x, j)) {
                        let pixel = image[((b * height.input + y) * width.input + x) * channels + c];
                        covered.push((f64::from(pixel), f64::from(filter[tap * channels + c])));
                    }
                }
                let want = covered.iter().fold(f64::NEG_INFINITY, |max, x| max.max(x.0));
                prop_assert_eq!(f64::from(max[at]), want);
                let want = covered.iter().map(|x| x.0).sum::<f64>() / covered.len() as f64;
                prop_assert!((f64::from(mean[at]) - want).abs() < 1e-5 || covered.is_empty() && mean[at].is_nan());
                let want = covered.iter().map(|x| x.0 * x.1).sum::<f64>();
                prop_assert!((f64::from(weighted[at]) - want).abs() < 1e-5);
            }
        }
    }
}

/// The epilogue of channelwise operations is that of a pass of its own, bit by bit.
#[test]
fn channels_with_epilogues() {
    let side = Window { input: 11, filter: 3, stride: 1, dilation: 1, pad: (1, 1) };
    for (channels, function) in [
        (1, Function::Identity),
        (16, Function::Relu),
        (37, Function::Relu6),
        (40, Function::Silu),
        (72, Function::Tanh),
    ] {
        let conv = Conv2d::new(2, channels, side, Window { stride: 2, ..side }).unwrap();
        let (image, filter) = (numbers(2 * 11 * 11 * channels), numbers(9 * channels));
        let n = conv.rows * channels;
        let (scale, bias, residual) = (numbers(channels), vec![0.25; channels], numbers(n));
        for (isa, parts) in Isa::all().flat_map(|isa| (0..8).map(move |parts| (isa, parts))) {
            let epilogue = Epilogue {
                scale: (parts & 1 > 0).then_some(&scale),
                bias: (parts & 2 > 0).then_some(&bias),
                residual: (parts & 4 > 0).then_some(&residual),
                function,
            };
            let run = |epilogue: &Epilogue<'_>| {
                let mut out = vec![f32::NAN; n];
                conv.fold(isa, Fold::Weighted(&filter), &image, epilogue, &mut out, &Threads).unwrap();
                out
            };
            let (got, mut want) = (run(&epilogue), run(&Epilogue::default()));
            let out = &mut OutRows::Strided(&mut want, channels);
            isa.finish(&epilogue, (conv.rows, channels), out, channels);
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&got), bits(&want), "{isa:?} {channels} {epilogue:?}");
        }
    }
}

#[test]
fn few_channels_in_bands() {
    // The first layers of LeNet and ResNet, lines that fill a band, and few out channels of many channels.
    let window = |input, filter, stride, pad| Window { input, filter, stride, dilation: 1, pad };
    for (batch, channels, o, side) in [
        (3, 1, 6, window(28, 5, 1, (2, 2))),
        (1, 3, 64, window(40, 7, 2, (2, 3))),
        (1, 3, 2, window(100, 3, 1, (1, 1))),
        (1, 70, 3, window(33, 3, 1, (1, 1))),
    ] {
        let conv = Conv2d::new(batch, channels, side, Window { input: 3 * side.input, ..side }).unwrap();
        check_epilogue(conv, o, batch == 1, Function::Relu);
    }
}

#[test]
fn winograd_of_many_channels_and_bands() {
    let conv = Conv2d::new(1, 256, side(9, (1, 1)), side(11, (1, 1))).unwrap();
    check_winograd(conv, Patch::Two, 33, 1e-5);
    check_winograd(conv, Patch::Four, 33, 1e-4);
    let conv = Conv2d::new(2, 130, side(21, (1, 1)), side(22, (1, 1))).unwrap();
    check_winograd(conv, Patch::Four, 64, 1e-4);
}

/// A convolution and its gradient by the images transform filters that many pixels use.
#[test]
fn unpacked_filters_of_many_pixels() {
    let (channels, outs) = (33, 40);
    let conv = Conv2d::new(2, channels, side(17, (0, 2)), side(19, (1, 1))).unwrap();
    let (image, filters) = (numbers(2 * 17 * 19 * channels), numbers(9 * channels * outs));
    assert!(conv.winograd_of(&Matrix::new(&filters, 9 * channels, outs)).is_some());
    assert!(conv.winograd_of(&conv.pack(outs, &filters).unwrap()).is_none(), "packed for the direct one");
    let close = |got: &[f32], want: &[f32]| {
        let largest = want.iter().fold(0.0f32, |max, x| max.max(x.abs()));
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() <= 1e-4 * largest));
    };
    let want = plain(&conv, outs, &image, &filters);
    let mut got = vec![f32::NAN; want.len()];
    conv.run_unpacked(&image, &filters, outs, &mut got, &Serial).unwrap();
    close(&got, &want);
    let dy = numbers(want.len());
    let back = Conv2d::new(2, outs, side(17, (2, 0)), side(19, (1, 1))).unwrap();
    let mut reversed = vec![0.0; filters.len()];
    for (i, x) in filters.iter().enumerate() {
        let (tap, channel, out) = (i / outs / channels, i / outs % channels, i % outs);
        reversed[((8 - tap) * outs + out) * channels + channel] = *x;
    }
    let want = plain(&back, channels, &dy, &reversed);
    let mut got = vec![f32::NAN; want.len()];
    conv.by_images(&dy, (&filters, outs), &mut got, &Threads).unwrap();
    close(&got, &want);
}

#[test]
fn winograd_leaves_other_patches_alone() {
    let conv = Conv2d::new(1, 3, side(16, (1, 1)), side(16, (1, 1))).unwrap();
    let mut image = vec![1.0; 16 * 16 * 3];
    image[0] = f32::INFINITY;
    let winograd = conv.winograd(Patch::Four).unwrap();
    let filters = winograd.pack(2, &[1.0; 54]).unwrap();
    let mut out = vec![0.0; 16 * 16 * 2];
    winograd.run(&image, &filters, &Epilogue::default(), &mut out, &Serial).unwrap();
    for (i, x) in out.iter().enumerate() {
        let near = i / 32 < 4 && i / 2 % 16 < 4;
        assert!(near || x.is_finite(), "at {i}: {x}");
    }
}

#[test]
fn max_pool_keeps_nan() {
    let two = Window { input: 4, filter: 2, stride: 2, dilation: 1, pad: (0, 0) };
    let conv = Conv2d::new(1, 1, two, two).unwrap();
    let mut image = [1.0; 16];
    image[1] = f32::NAN;
    let mut out = [0.0; 4];
    conv.max_pool(&image, &mut out, &Serial).unwrap();
    assert!(out[0].is_nan() && out[1..] == [1.0; 3]);
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
