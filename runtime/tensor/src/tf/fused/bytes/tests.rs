//! Comparison with sums of integers, one after another, for i8 and u8 and every last step.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::mem::{Allocator, Malloc};
use crate::simd::Function;
use crate::testing::{Random, near, tensor, with_threads};
use crate::tf::fused::{Algorithm, Packing, conv2d, depthwise_conv2d, matmul};
use crate::tf::{
    Conv2dAttrs, Padding, Pool, Pool2dAttrs, dequantize_linear, fast, quantize_linear, reference,
};

fn malloc() -> Arc<dyn Allocator> {
    Malloc::shared()
}

fn bytes(random: &mut Random, dims: &[usize], is_signed: bool) -> HostTensor {
    let n = dims.iter().product();
    let drawn: Vec<u8> = (0..n).map(|_| (random.f32() * 64.0 + 100.0) as i32 as u8).collect();
    let shape = Shape::new(dims).unwrap();
    if is_signed {
        let drawn: Vec<i8> = drawn.into_iter().map(|byte| byte as i8).collect();
        return HostTensor::from_slice(shape, &drawn, &malloc()).unwrap();
    }
    HostTensor::from_slice(shape, &drawn, &malloc()).unwrap()
}

/// The bytes of a tensor minus a zero point, as f32.
fn integers(x: &HostTensor, zero: i32) -> HostTensor {
    let numbers = reference::cast(x, DType::F32, &malloc()).unwrap();
    let numbers: Vec<f32> = numbers.read::<f32>().unwrap().iter().map(|x| x - zero as f32).collect();
    tensor(x.shape().dims(), &numbers)
}

fn scalars(affine: Affine) -> [HostTensor; 2] {
    let zero = [affine.zero];
    let zero = HostTensor::from_slice(Shape::scalar(), &zero, &malloc()).unwrap();
    let dtype = if affine.is_signed { DType::I8 } else { DType::UI8 };
    [tensor(&[], &[affine.scale]), reference::cast(&zero, dtype, &malloc()).unwrap()]
}

/// The result of a product whose exact sums are `sums`: each step by itself.
fn expected(sums: &HostTensor, after: &After<'_>, function: Function, cx: &Cx<'_>) -> HostTensor {
    let n = *sums.shape().dims().last().unwrap();
    let read = |x: Option<&HostTensor>, other: f32| match x {
        Some(x) => x.read::<f32>().unwrap().to_vec(),
        None => vec![other; n],
    };
    let (scale, bias) = (read(after.scale, 1.0), read(after.bias, 0.0));
    let numbers = sums.read::<f32>().unwrap();
    let scaled: Vec<f32> =
        numbers.iter().enumerate().map(|(i, x)| x.mul_add(scale[i % n], bias[i % n])).collect();
    let mut x = tensor(sums.shape().dims(), &scaled);
    let affine =
        |op: fn(&HostTensor, &HostTensor, &HostTensor, i64, &Cx<'_>) -> Result<HostTensor, TensorError>,
         x: &HostTensor,
         affine| {
            let [scale, zero] = scalars(affine);
            op(x, &scale, &zero, 1, cx).unwrap()
        };
    if let Some(sum) = after.bytes.sum {
        let product = affine(dequantize_linear, &affine(quantize_linear, &x, sum.product), sum.product);
        let other = affine(dequantize_linear, sum.residual, sum.of);
        x = reference::binary(reference::Binary::Add, &product, &other, &malloc()).unwrap();
    }
    x = fast::map(function, x, cx).unwrap();
    match after.bytes.output {
        Some(to) => affine(quantize_linear, &x, to),
        None => x,
    }
}

/// A last step by the bits of `which`.
struct Step {
    after: After<'static>,
    residual: Option<HostTensor>,
    function: Function,
}

fn step(
    which: u8,
    dims: &[usize],
    is_signed: bool,
    vectors: &'static [HostTensor; 2],
    random: &mut Random,
) -> Step {
    let shift = if is_signed { -128 } else { 0 };
    let affine = |scale, zero| Affine { scale, zero: zero + shift, is_signed };
    let has_bytes = which & 1 != 0;
    let function = [Function::Identity, Function::Relu, Function::Relu6][usize::from(which >> 3) % 3];
    let residual = (has_bytes && which & 2 != 0).then(|| bytes(random, dims, is_signed));
    let after = After {
        scale: Some(&vectors[0]),
        bias: (which & 4 != 0).then_some(&vectors[1]),
        function,
        bytes: ByteForm {
            input_zero: 77 + shift,
            output: has_bytes.then_some(affine(0.031, 120)),
            sum: None,
        },
        ..After::default()
    };
    Step { after, residual, function }
}

fn check(
    step: &Step,
    is_signed: bool,
    sums: &HostTensor,
    run: impl Fn(&After<'_>, &Cx<'_>) -> Result<HostTensor, TensorError>,
) {
    let shift = if is_signed { -128 } else { 0 };
    let sum = step.residual.as_ref().map(|residual| ByteSum {
        product: Affine { scale: 0.05, zero: 100 + shift, is_signed },
        residual,
        of: Affine { scale: 0.02, zero: 9 + shift, is_signed },
    });
    let after = After { bytes: ByteForm { sum, ..step.after.bytes }, ..step.after };
    let memory = malloc();
    let want = expected(sums, &after, step.function, &Cx::serial(&memory));
    // Bytes may differ by one where a number is almost halfway between two.
    let most = if want.dtype() == DType::F32 { 1e-3 } else { 1.0 };
    near("product", &with_threads("product", |cx| run(&after, cx)), &Ok(want), (0.0, most));
}

/// Scales and biases of `n` columns, for the whole process: steps borrow them.
fn vectors(n: usize, random: &mut Random) -> &'static [HostTensor; 2] {
    let scales: Vec<f32> = (0..n).map(|_| 0.0005 + random.f32().abs() * 0.001).collect();
    let biases: Vec<f32> = (0..n).map(|_| random.f32()).collect();
    Box::leak(Box::new([tensor(&[n], &scales), tensor(&[n], &biases)]))
}

fn weights(packing: Packing, integers: &HostTensor) -> Weights {
    let all = HostTensor::zeros(DType::UI8, Shape::new(&[packing.n_bytes()]).unwrap(), &malloc()).unwrap();
    packing.fill(&integers.read_bytes().unwrap(), 0, &mut all.write::<u8>().unwrap());
    Weights::from_tensor(all).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn products_of_bytes(m in 1usize..70, k in 1usize..150, n in 1usize..70, which: u8, is_signed: bool, seed: u32) {
        let random = &mut Random(seed);
        let (a, b) = (bytes(random, &[m, k], is_signed), integers(&bytes(random, &[k, n], true), 0));
        let packing = Packing::matrix(b.shape(), false).unwrap().with_precision(Precision::Int8).unwrap();
        let weights = weights(packing, &b);
        let step = step(which, &[m, n], is_signed, vectors(n, random), random);
        let plain = reference::Transposition::None;
        let sums = reference::matmul(&integers(&a, step.after.bytes.input_zero), plain, &b, plain, &malloc()).unwrap();
        check(&step, is_signed, &sums, |after, cx| matmul(&a, &weights, after, cx));
    }

    #[test]
    fn convolutions_of_bytes(
        (batch, height, width) in (1usize..3, 1usize..9, 1usize..9),
        (channels, outs) in (1usize..12, 1usize..40),
        (filter, stride, dilation) in ((1usize..4, 1usize..4), (1usize..3, 1usize..3), (1usize..3, 1usize..3)),
        (is_depthwise, is_nchw, which, is_signed) in any::<(bool, bool, u8, bool)>(),
        seed: u32,
    ) {
        let random = &mut Random(seed);
        let format = if is_nchw { ImageFormat::Nchw } else { ImageFormat::Nhwc };
        let outs = if is_depthwise { channels } else { outs };
        let nhwc = bytes(random, &[batch, height, width, channels], is_signed);
        let filters = [filter.0, filter.1, channels, if is_depthwise { 1 } else { outs }];
        let filters = integers(&bytes(random, &filters, true), 0);
        let attrs = |format| Conv2dAttrs { strides: stride, padding: Padding::Same, dilations: dilation, format };
        // Neither a sum nor f32 where there is none of both: depthwise products add nothing.
        let which = if is_depthwise || is_nchw { which & !2 } else { which };
        let zero = step(which, &[1], is_signed, vectors(1, random), random).after.bytes.input_zero;
        let image = integers(&nhwc, zero);
        let sums = if is_depthwise {
            reference::depthwise_conv2d(&image, &filters, &attrs(ImageFormat::Nhwc), &malloc()).unwrap()
        } else {
            reference::conv2d(&image, &filters, &attrs(ImageFormat::Nhwc), &malloc()).unwrap()
        };
        let step = step(which, sums.shape().dims(), is_signed, vectors(outs, random), random);
        let packing = if is_depthwise {
            Packing::depthwise(filters.shape()).unwrap()
        } else {
            Packing::filters(filters.shape(), Algorithm::Direct).unwrap().with_precision(Precision::Int8).unwrap()
        };
        let weights = weights(packing, &filters);
        check(&step, is_signed, &sums, |after, cx| {
            let x = from_nhwc(format, nhwc.clone(), cx)?;
            let y = if is_depthwise {
                depthwise_conv2d(&x, &weights, &attrs(format), after, cx)
            } else {
                conv2d(&x, &weights, &attrs(format), after, cx)
            };
            to_nhwc(format, &y?, cx)
        });
    }

    #[test]
    fn maxima_of_bytes(
        (batch, height, width, channels) in (1usize..3, 1usize..9, 1usize..9, 1usize..40),
        (window, strides) in ((1usize..4, 1usize..4), (1usize..3, 1usize..3)),
        is_signed: bool,
        seed: u32,
    ) {
        let x = bytes(&mut Random(seed), &[batch, height, width, channels], is_signed);
        let attrs = Pool2dAttrs { window, strides, padding: Padding::Same, format: ImageFormat::Nhwc };
        let want = reference::pool(Pool::Max, &x, &attrs, &malloc());
        near("pool", &with_threads("pool", |cx| fast::pool(Pool::Max, &x, &attrs, cx)), &want, (0.0, 0.0));
    }
}

/// Rounding to even, limits, infinities and NaN, with a scale for each index of an axis.
#[test]
fn quantization_rounds_to_even_and_stays_in_range() {
    let x = tensor(
        &[2, 6],
        &[0.5, 1.5, -0.5, 1e9, f32::NEG_INFINITY, f32::NAN, 1.0, 3.0, 5.0, -1e9, f32::INFINITY, 0.0],
    );
    let memory = malloc();
    let cx = Cx::serial(&memory);
    let zeros = |zeros: &[i8]| HostTensor::from_slice(Shape::new(&[2]).unwrap(), zeros, &malloc()).unwrap();
    let (scale, zero) = (tensor(&[2], &[1.0f32, 2.0]), zeros(&[3, -5]));
    let y = quantize_linear(&x, &scale, &zero, 0, &cx).unwrap();
    assert_eq!(*y.read::<i8>().unwrap(), [3, 5, 3, 127, -128, 0, -5, -3, -3, -128, 127, -5]);
    let again = dequantize_linear(&y, &scale, &zero, 0, &cx).unwrap();
    assert_eq!(again.read::<f32>().unwrap()[..4], [0.0, 2.0, 0.0, 124.0]);
    assert!(quantize_linear(&x, &scale, &zero, 1, &cx).is_err());
    assert!(dequantize_linear(&x, &scale, &zero, 0, &cx).is_err());
}
