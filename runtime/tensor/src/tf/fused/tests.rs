//! Comparison with the sequence of reference operators.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::conv::Patch;
use crate::mem::{Allocator, Malloc};
use crate::simd::{Arithmetic, Comparison, IntArithmetic};
use crate::testing::{Random, near, own, same, tensor, with_threads};
use crate::tf::{Binary, Compare, Padding, Transposition, Unary, reference};

fn malloc() -> Arc<dyn Allocator> {
    Malloc::shared()
}

fn numbers(seed: u32, dims: &[usize]) -> HostTensor {
    let mut numbers = Random(seed);
    tensor(dims, &(0..dims.iter().product()).map(|_| numbers.f32()).collect::<Vec<_>>())
}

/// An epilogue's function, computed by reference operators.
fn plain(function: Function, x: &HostTensor) -> Result<HostTensor, TensorError> {
    let unary = |op| reference::unary(op, x, &malloc());
    let binary = |op, a: &HostTensor, b: &HostTensor| reference::binary(op, a, b, &malloc());
    let number = |x: f32| tensor(&[], &[x]);
    match function {
        Function::Identity => Ok(x.clone()),
        Function::Relu => unary(Unary::Relu),
        Function::Relu6 => unary(Unary::Relu6),
        Function::Elu => unary(Unary::Elu),
        Function::Tanh => unary(Unary::Tanh),
        Function::Sigmoid => unary(Unary::Sigmoid),
        Function::Silu => binary(Binary::Mul, x, &unary(Unary::Sigmoid)?),
        Function::LeakyRelu(alpha) => reference::leaky_relu(x, alpha, &malloc()),
        Function::Gelu => {
            let inner = binary(Binary::Mul, x, &number(std::f32::consts::FRAC_1_SQRT_2))?;
            let erf = reference::unary(Unary::Erf, &inner, &malloc())?;
            let sum = binary(Binary::Add, &erf, &number(1.0))?;
            binary(Binary::Mul, &binary(Binary::Mul, x, &number(0.5))?, &sum)
        }
        other => panic!("{other:?}"),
    }
}

const FUNCTIONS: [Function; 9] = [
    Function::Identity,
    Function::Relu,
    Function::Relu6,
    Function::Elu,
    Function::Tanh,
    Function::Sigmoid,
    Function::LeakyRelu(0.2),
    Function::Gelu,
    Function::Silu,
];

/// An epilogue, computed by one reference operator after another, with vectors along the last axis.
fn after_plain(product: HostTensor, after: &After<'_>) -> Result<HostTensor, TensorError> {
    let mut x = product;
    for (op, y) in [(Binary::Mul, after.scale), (Binary::Add, after.bias), (Binary::Add, after.residual)] {
        if let Some(y) = y {
            x = reference::binary(op, &x, y, &malloc())?;
        }
    }
    plain(after.function, &x)
}

/// The epilogue with the parts and the function that the bits of `which` select.
fn chosen<'a>(which: u8, [scale, bias, residual]: [&'a HostTensor; 3]) -> After<'a> {
    After {
        scale: (which & 1 != 0).then_some(scale),
        bias: (which & 2 != 0).then_some(bias),
        residual: (which & 4 != 0).then_some(residual),
        function: FUNCTIONS[usize::from(which >> 3) % FUNCTIONS.len()],
        ..After::default()
    }
}

/// Packed weights. Asserts that packing in pieces gives the same bytes as packing at once; the given bytes
/// are not aligned. Aligned ones are packed by other functions.
fn packed(packing: Result<Packing, TensorError>, weights: &HostTensor) -> Weights {
    let packing = packing.unwrap();
    let bytes = [&[0], &*weights.read_bytes().unwrap()].concat();
    let [whole, pieces] = [packing.n_bytes(), 7 * 128].map(|len| {
        let all =
            HostTensor::zeros(DType::UI8, Shape::new(&[packing.n_bytes()]).unwrap(), &malloc()).unwrap();
        for (i, piece) in all.write::<u8>().unwrap().chunks_mut(len).enumerate().rev() {
            packing.fill(&bytes[1..], i * len, piece);
        }
        all
    });
    assert_eq!(*whole.read::<u8>().unwrap(), *pieces.read::<u8>().unwrap());
    packing.fill(&weights.read_bytes().unwrap(), 0, &mut pieces.write::<u8>().unwrap());
    assert_eq!(*whole.read::<u8>().unwrap(), *pieces.read::<u8>().unwrap());
    Weights::from_tensor(whole).unwrap()
}

/// The weights after a round trip through their bytes.
fn kept(weights: &Weights) -> Weights {
    let again = Weights::from_tensor(own(weights.tensor())).unwrap();
    assert_eq!((again.kind(), again.dims()), (weights.kind(), weights.dims()));
    again
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn products(rows in prop::collection::vec(0usize..6, 0..3), k in 0usize..40, n in 0usize..70, which: u8, transposed: bool, seed: u32) {
        let (a, b) = (numbers(seed, &[&rows[..], &[k]].concat()), numbers(seed ^ 1, &[k, n]));
        let shape = [&rows[..], &[n]].concat();
        let parts = [numbers(seed ^ 2, &[n]), numbers(seed ^ 3, &[n]), numbers(seed ^ 4, &shape)];
        let after = chosen(which, parts.each_ref());
        let m: usize = rows.iter().product();
        let flat = a.reshaped(Shape::new(&[m, k]).unwrap()).unwrap();
        let product = reference::matmul(&flat, Transposition::None, &b, Transposition::None, &malloc()).unwrap();
        let want = after_plain(product.reshaped(Shape::new(&shape).unwrap()).unwrap(), &after);
        let weights = if transposed {
            let b = reference::transpose(&b, &[1, 0], &malloc()).unwrap();
            packed(Packing::matrix(b.shape(), true), &b)
        } else {
            packed(Packing::matrix(b.shape(), false), &b)
        };
        let weights = kept(&weights);
        let got = with_threads("matmul", |cx| matmul(&a, &weights, &after, cx));
        near("matmul", &got, &want, (1e-5, 1e-4));
    }

    #[test]
    fn products_of_two(
        (m, k, n) in (0usize..40, 0usize..40, 0usize..100), turned: [bool; 2], which: u8, seed: u32,
    ) {
        let turn = |turned: bool| if turned { Transposition::Transpose } else { Transposition::None };
        let operand = |seed, (rows, cols), turned: bool| numbers(seed, &if turned { [cols, rows] } else { [rows, cols] });
        let (a, b) = (operand(seed, (m, k), turned[0]), operand(seed ^ 1, (k, n), turned[1]));
        let parts = [numbers(seed ^ 2, &[n]), numbers(seed ^ 3, &[n]), numbers(seed ^ 4, &[m, n])];
        let after = chosen(which, parts.each_ref());
        let product = reference::matmul(&a, turn(turned[0]), &b, turn(turned[1]), &malloc()).unwrap();
        let want = after_plain(product, &after);
        let run = |cx: &Cx<'_>| matmul_of_two((&a, turn(turned[0])), (&b, turn(turned[1])), &after, cx);
        let is_small = [m, k, n].into_iter().any(|size| size < PACKED_SIZE);
        assert_eq!(run(&Cx::serial(&malloc())).unwrap().is_none(), is_small);
        if !is_small {
            let got = with_threads("matmul", |cx| Ok(run(cx)?.unwrap()));
            near("matmul", &got, &want, (1e-5, 1e-4));
        }
    }

    #[test]
    fn convolutions(
        (batch, plane, channels) in (0usize..3, (3usize..12, 3usize..12), 1usize..40),
        (outs, side, stride, nchw) in (1usize..40, 1usize..4, 1usize..3, any::<bool>()),
        which: u8, algorithm in 0usize..3, seed: u32,
    ) {
        let format = if nchw { ImageFormat::Nchw } else { ImageFormat::Nhwc };
        let algorithm =
            [Algorithm::Direct, Algorithm::Winograd(Patch::Two), Algorithm::Winograd(Patch::Four)][algorithm];
        let (side, stride) = if algorithm == Algorithm::Direct { (side, stride) } else { (3, 1) };
        let attrs = Conv2dAttrs { strides: (stride, stride), padding: Padding::Same, format, ..Conv2dAttrs::default() };
        let x = numbers(seed, format.shape(batch, plane, channels).unwrap().dims());
        let to_nhwc = |x: &HostTensor| match format {
            ImageFormat::Nhwc => x.clone(),
            ImageFormat::Nchw => reference::transpose(x, &[0, 2, 3, 1], &malloc()).unwrap(),
        };
        let check = |what: &str, result: HostTensor, run: &dyn Fn(&After<'_>, &Cx<'_>) -> Result<HostTensor, TensorError>| {
            let outs = if nchw { result.shape().dims()[1] } else { result.shape().dims()[3] };
            let parts = [numbers(seed ^ 2, &[outs]), numbers(seed ^ 3, &[outs]), numbers(seed ^ 4, result.shape().dims())];
            let residual = to_nhwc(&parts[2]);
            let want = after_plain(to_nhwc(&result), &chosen(which, [&parts[0], &parts[1], &residual]));
            let after = chosen(which, parts.each_ref());
            let got = with_threads(what, |cx| run(&after, cx)).map(|got| to_nhwc(&got));
            near(what, &got, &want, (2e-4, 4e-3));
        };
        let filter = numbers(seed ^ 1, &[side, side, channels, outs]);
        let weights = kept(&packed(Packing::filters(filter.shape(), algorithm), &filter));
        check("conv2d", reference::conv2d(&x, &filter, &attrs, &malloc()).unwrap(), &|after, cx| {
            conv2d(&x, &weights, &attrs, after, cx)
        });
        let filter = numbers(seed ^ 1, &[side, side, channels, 1]);
        let weights = kept(&packed(Packing::depthwise(filter.shape()), &filter));
        check("depthwise", reference::depthwise_conv2d(&x, &filter, &attrs, &malloc()).unwrap(), &|after, cx| {
            depthwise_conv2d(&x, &weights, &attrs, after, cx)
        });
    }

    /// The layers at once give the bits of the layers one after another.
    #[test]
    fn bottlenecks(
        (batch, plane) in (0usize..3, (1usize..30, 5usize..20)),
        channels in [1usize..20, 1usize..40, 1usize..20],
        (side, stride, dilation, is_valid) in (1usize..4, 1usize..3, 1usize..3, any::<bool>()),
        (has_expand, has_project) in (any::<bool>(), any::<bool>()),
        which: [u8; 3], seed: u32,
    ) {
        let [from, middle, to] = channels;
        let from = if has_expand { from } else { middle };
        // No windows of one column: a product of a single row may be summed in another order.
        let padding = if is_valid && plane.1 > 2 * side * dilation { Padding::Valid } else { Padding::Same };
        let attrs = Conv2dAttrs {
            strides: (stride, stride), dilations: (dilation, dilation), padding, ..Conv2dAttrs::default()
        };
        let x = numbers(seed, &[batch, plane.0, plane.1, from]);
        let filters = [[1, 1, from, middle], [side, side, middle, 1], [1, 1, middle, to]]
            .map(|dims| numbers(seed ^ dims[2] as u32, &dims));
        let weights = [
            packed(Packing::filters(filters[0].shape(), Algorithm::Direct), &filters[0]),
            packed(Packing::depthwise(filters[1].shape()), &filters[1]),
            packed(Packing::filters(filters[2].shape(), Algorithm::Direct), &filters[2]),
        ];
        let geometry = |x: &HostTensor| {
            let shape = grouped(x.shape(), filters[1].shape(), attrs.format)?;
            Ok(ConvGeometry::new("", x.shape(), &shape, &attrs)?.result_shape)
        };
        let expanded = tensor(&[batch, plane.0, plane.1, middle], &vec![0.0; batch * plane.0 * plane.1 * middle]);
        let counts = geometry(&expanded).map(|shape: Shape| [shape.dims()[0], shape.dims()[1], shape.dims()[2], to]);
        let Ok::<_, TensorError>(counts) = counts else { return Ok(()) };
        let vectors = [middle, middle, to].map(|n| [numbers(seed ^ 2, &[n]), numbers(seed ^ 3, &[n])]);
        let residual = numbers(seed ^ 4, &counts);
        let after = |i: usize| {
            let [scale, bias]: &[HostTensor; 2] = &vectors[i];
            chosen(which[i] & if i == 2 { 0xff } else { !4 }, [scale, bias, &residual])
        };
        let attrs_of_pixels = Conv2dAttrs::default();
        let apart = |cx: &Cx<'_>| {
            let x = if has_expand { conv2d(&x, &weights[0], &attrs_of_pixels, &after(0), cx)? } else { x.clone() };
            let x = depthwise_conv2d(&x, &weights[1], &attrs, &after(1), cx)?;
            if has_project { conv2d(&x, &weights[2], &attrs_of_pixels, &after(2), cx) } else { Ok(x) }
        };
        let layer = |i: usize| BottleneckLayer { weights: &weights[i], after: after(i) };
        let layers = BottleneckLayers {
            expand: has_expand.then(|| layer(0)),
            depthwise: layer(1),
            project: has_project.then(|| layer(2)),
        };
        let got = with_threads("bottleneck", |cx| bottleneck(&x, &layers, &attrs, cx));
        same("bottleneck", &got, &with_threads("layers", apart));
    }

    #[test]
    fn chains(
        dims in prop::collection::vec(0usize..40, 0..4),
        steps in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 1..12),
        ones: [u8; 3], cut in 0usize..4, given: u8, seed: u32,
    ) {
        let side = |ones: u8, cut: usize| -> Vec<usize> {
            let dims = dims.iter().enumerate().map(|(i, &d)| if ones >> i & 3 == 1 { 1 } else { d });
            dims.skip(cut).collect()
        };
        let shapes = [side(0, 0), side(ones[1], 0), side(ones[2], cut)];
        let operands: Vec<HostTensor> = (0..3).map(|i| numbers(seed ^ i as u32, &shapes[i])).collect();
        let mut made = Vec::new();
        for &(op, a, b) in &steps {
            let ints: Vec<usize> = (0..made.len()).filter(|&i| Step::dtype(&made[i]) == DType::I32).collect();
            let floats: Vec<usize> = (0..made.len()).filter(|i| !ints.contains(i)).collect();
            let value = |x: u8| match x % 8 {
                0 => Value::Number(f32::from(x) / 64.0),
                1..4 => Value::Operand(usize::from(x) % 3),
                _ if floats.is_empty() => Value::Operand(0),
                _ => Value::Step(floats[usize::from(x / 8) % floats.len()]),
            };
            let int = |x: u8| match x % 8 {
                0 => Value::Number(f32::from(x)),
                1 | 2 => Value::Operand(3),
                _ if ints.is_empty() => Value::Operand(3),
                _ => Value::Step(ints[usize::from(x / 8) % ints.len()]),
            };
            const UNARY: [Function; 4] = [Function::Tanh, Function::Relu, Function::Neg, Function::Abs];
            const BINARY: [Arithmetic; 4] = [Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul, Arithmetic::Max];
            const INTS: [IntArithmetic; 3] = [IntArithmetic::Add, IntArithmetic::Sub, IntArithmetic::Mul];
            const COMPARE: [Comparison; 4] =
                [Comparison::Less, Comparison::LessEqual, Comparison::Equal, Comparison::NotEqual];
            let which = usize::from(op / 8);
            made.push(match op % 8 {
                0 | 1 => Step::Map(UNARY[which % 4], value(a)),
                2 => Step::Compare(COMPARE[which % 4], value(a), value(b)),
                3 => Step::Ints(INTS[which % 3], int(a), int(b)),
                4 => Step::ToFloat(int(a)),
                5 => Step::Choose(int(a), value(b), value(op)),
                _ => Step::Arithmetic(BINARY[which % 4], value(a), value(b)),
            });
        }
        // The last step, and some of the others.
        let wanted: Vec<usize> = (0..made.len()).filter(|&i| i + 1 == made.len() || steps[i].1 % 4 == 3).collect();
        let operands: Vec<HostTensor> =
            operands.into_iter().chain([tensor(&[1], &[i32::from(given)])]).collect();
        let program = Program::new(&[DType::F32, DType::F32, DType::F32, DType::I32], made.clone(), &wanted).unwrap();
        // The operators one by one, in the result's shape.
        let number = |x: f32| tensor(&[], &[x]);
        let mut results: Vec<HostTensor> = Vec::new();
        for step in &made {
            let value = |value: Value| match value {
                Value::Operand(i) => operands[i].clone(),
                Value::Step(i) => results[i].clone(),
                Value::Number(x) => number(x),
            };
            let int = |x: Value| match x {
                Value::Number(x) => tensor(&[], &[x as i32]),
                x => value(x),
            };
            let cast = |x: &HostTensor, to| reference::cast(x, to, &malloc()).unwrap();
            let binary = |op, a: &HostTensor, b: &HostTensor| reference::binary(op, a, b, &malloc()).unwrap();
            let result = match *step {
                Step::Map(function, x) => {
                    let op = match function {
                        Function::Tanh => Unary::Tanh,
                        Function::Relu => Unary::Relu,
                        Function::Neg => Unary::Neg,
                        _ => Unary::Abs,
                    };
                    reference::unary(op, &value(x), &malloc()).unwrap()
                }
                Step::Arithmetic(op, a, b) => {
                    let op = match op {
                        Arithmetic::Add => Binary::Add,
                        Arithmetic::Sub => Binary::Sub,
                        Arithmetic::Mul => Binary::Mul,
                        _ => Binary::Maximum,
                    };
                    binary(op, &value(a), &value(b))
                }
                Step::Ints(op, a, b) => {
                    let op = match op {
                        IntArithmetic::Add => Binary::Add,
                        IntArithmetic::Sub => Binary::Sub,
                        IntArithmetic::Mul => Binary::Mul,
                    };
                    binary(op, &int(a), &int(b))
                }
                Step::Compare(op, a, b) => {
                    let op = match op {
                        Comparison::Less => Compare::Less,
                        Comparison::LessEqual => Compare::LessEqual,
                        Comparison::Equal => Compare::Equal,
                        Comparison::NotEqual => Compare::NotEqual,
                    };
                    cast(&reference::compare(op, &value(a), &value(b), &malloc()).unwrap(), DType::I32)
                }
                Step::ToFloat(x) => cast(&int(x), DType::F32),
                Step::Choose(flag, a, b) => {
                    let flag = cast(&int(flag), DType::I1);
                    reference::select(&flag, &value(a), &value(b), &malloc()).unwrap()
                }
            };
            results.push(result);
        }
        let mut shape = Shape::scalar();
        for x in &operands {
            shape = crate::tf::broadcast_args(&shape, x.shape()).unwrap();
        }
        let got = |i: usize| {
            with_threads("chain", |cx| {
                let of = |(i, x): (usize, &HostTensor)| if given >> i & 1 == 1 { own(x) } else { x.clone() };
                let mut results = program.run(operands.iter().enumerate().map(of).collect(), cx)?;
                Ok(results.swap_remove(i))
            })
        };
        // Beyond this a rounding is a difference of integers.
        let is_tame = results.iter().all(|x| {
            let Ok(x) = x.read::<f32>() else { return true };
            x.iter().all(|x| x.abs() < 1e20)
        });
        if is_tame {
            for (i, &step) in wanted.iter().enumerate() {
                let got = got(i).unwrap();
                let want = reference::broadcast_to(&results[step], &shape, &malloc()).unwrap();
                if want.dtype() == DType::I32 {
                    assert_eq!(*got.read::<i32>().unwrap(), *want.read::<i32>().unwrap());
                    continue;
                }
                let scale = want.read::<f32>().unwrap().iter().fold(1.0f32, |m, x| m.max(x.abs()));
                near("chain", &Ok(got), &Ok(want), (1e-4, f64::from(scale) * 1e-4));
            }
        }
    }

    #[test]
    fn layer_norms(rows in 0usize..5, n in 1usize..100, seed: u32) {
        let (x, scale, offset) = (numbers(seed, &[rows, n]), numbers(seed ^ 1, &[n]), numbers(seed ^ 2, &[n]));
        let got = with_threads("layer norm", |cx| layer_norm(own(&x), &scale, &offset, 0.1, cx)).unwrap();
        assert!(with_threads("layer norm", |cx| layer_norm(x.clone(), &scale, &offset, 0.1, cx)).is_ok());
        let (x, got) = (x.read::<f32>().unwrap(), got.read::<f32>().unwrap());
        let (scale, offset) = (scale.read::<f32>().unwrap(), offset.read::<f32>().unwrap());
        for (x, got) in x.chunks(n).zip(got.chunks(n)) {
            let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / n as f64;
            let variance = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n as f64;
            for i in 0..n {
                let want = (f64::from(x[i]) - mean) / (variance + 0.1).sqrt() * f64::from(scale[i]) + f64::from(offset[i]);
                assert!((f64::from(got[i]) - want).abs() < 1e-5 * (1.0 + want.abs()));
            }
        }
    }

    #[test]
    fn gradients_of_layer_norms(rows in 0usize..40, n in 1usize..100, seed: u32) {
        let (x, dy, scale) = (numbers(seed, &[rows, n]), numbers(seed ^ 1, &[rows, n]), numbers(seed ^ 2, &[n]));
        let all = |cx: &Cx<'_>, dy: HostTensor| layer_norm_grad(dy, &x, &scale, 0.1, cx);
        let got = [0, 1, 2].map(|i| {
            let pick = |made: Result<[HostTensor; 3], TensorError>| made.map(|made| made[i].clone());
            assert!(with_threads("shared", |cx| pick(all(cx, dy.clone()))).is_ok());
            with_threads("gradient of layer norm", |cx| pick(all(cx, own(&dy)))).unwrap()
        });
        let [x, dy, scale, dx, by_scale, by_offset] =
            [&x, &dy, &scale, &got[0], &got[1], &got[2]].map(|x| x.read::<f32>().unwrap());
        let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|&x| f64::from(x)).collect() };
        let mean = |x: &mut dyn Iterator<Item = f64>| x.sum::<f64>() / n as f64;
        let (mut of_scale, mut of_offset) = (vec![0.0; n], vec![0.0; n]);
        for ((x, dy), dx) in x.chunks(n).zip(dy.chunks(n)).zip(dx.chunks(n)) {
            let (x, dy) = (wide(x), wide(dy));
            let center = mean(&mut x.iter().copied());
            let deviation = (mean(&mut x.iter().map(|x| (x - center).powi(2))) + 0.1).sqrt();
            let normal: Vec<f64> = x.iter().map(|x| (x - center) / deviation).collect();
            let scaled: Vec<f64> = dy.iter().zip(scale.iter()).map(|(dy, &scale)| dy * f64::from(scale)).collect();
            let sum = mean(&mut scaled.iter().copied());
            let product = mean(&mut scaled.iter().zip(&normal).map(|(d, x)| d * x));
            for i in 0..n {
                let want = (scaled[i] - sum - normal[i] * product) / deviation;
                assert!((f64::from(dx[i]) - want).abs() < 1e-4 * (1.0 + want.abs()), "{} {want}", dx[i]);
                of_scale[i] += dy[i] * normal[i];
                of_offset[i] += dy[i];
            }
        }
        for (got, want) in by_scale.iter().chain(by_offset.iter()).zip(of_scale.iter().chain(&of_offset)) {
            assert!((f64::from(*got) - want).abs() < 1e-4 * (1.0 + want.abs()), "{got} {want}");
        }
    }

    #[test]
    fn attentions(
        [batch, heads, rows, columns, n, m] in [0usize..3, 1usize..4, 1usize..12, 1usize..20, 1usize..9, 1usize..9],
        (spread, heads_inside, has_mask) in (0usize..16, any::<bool>(), any::<bool>()),
        seed: u32,
    ) {
        let q = numbers(seed, &[batch, heads, rows, n]);
        let (k, v) = (numbers(seed ^ 1, &[batch, heads, columns, n]), numbers(seed ^ 2, &[batch, heads, columns, m]));
        let full = [batch, heads, rows, columns];
        let mask_dims: Vec<usize> = (0..4).map(|i| if spread >> i & 1 == 1 { full[i] } else { 1 }).collect();
        let mask = numbers(seed ^ 3, &mask_dims);
        let binary = |op, a: &HostTensor, b: &HostTensor| reference::binary(op, a, b, &malloc()).unwrap();
        let scores = reference::batch_matmul(&q, Transposition::None, &k, Transposition::Transpose, &malloc()).unwrap();
        let scores = binary(Binary::Mul, &scores, &tensor(&[], &[0.5f32]));
        let scores = if has_mask { binary(Binary::Add, &scores, &mask) } else { scores };
        let weights = reference::softmax(&scores, &malloc()).unwrap();
        let want = reference::batch_matmul(&weights, Transposition::None, &v, Transposition::None, &malloc()).unwrap();
        let inside = |x: &HostTensor| {
            if heads_inside { reference::transpose(x, &[0, 2, 1, 3], &malloc()).unwrap() } else { x.clone() }
        };
        let (q, k, v) = (inside(&q), inside(&k), inside(&v));
        let how = Attention { scale: 0.5, heads_inside };
        let got = with_threads("attention", |cx| attention([&q, &k, &v], has_mask.then_some(&mask), &how, cx));
        near("attention", &got, &Ok(want), (1e-4, 1e-3));
        let wrong = numbers(seed, &[batch, heads, rows, n + 1]);
        assert!(with_threads("attention", |cx| attention([&wrong, &k, &v], None, &how, cx)).is_err());
    }

    #[test]
    fn bytes_that_are_no_weights(changes in prop::collection::vec((0usize..160, any::<u8>()), 0..6), len in 0usize..5000) {
        let b = numbers(1, &[3, 5]);
        let weights = packed(Packing::matrix(b.shape(), false), &b);
        let mut bytes = weights.tensor().read::<u8>().unwrap().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(len);
        let a = numbers(2, &[2, 3]);
        let allocator = malloc();
        if let Ok(weights) = Weights::from_tensor(tensor(&[bytes.len()], &bytes)) {
            drop(matmul(&a, &weights, &After::default(), &Cx::serial(&allocator)));
        }
    }
}

#[test]
fn misfits_are_refused() {
    let allocator = malloc();
    let cx = &Cx::serial(&allocator);
    let b = numbers(1, &[3, 5]);
    let weights = packed(Packing::matrix(b.shape(), false), &b);
    let message = |result: Result<HostTensor, TensorError>| result.unwrap_err().to_string();
    assert_eq!(
        message(matmul(&numbers(2, &[2, 4]), &weights, &After::default(), cx)),
        "`MatMul`: shape [2, 4] with weights of shape [3, 5]"
    );
    let bias = numbers(3, &[4]);
    let after = After { bias: Some(&bias), ..After::default() };
    assert_eq!(
        message(matmul(&numbers(2, &[2, 3]), &weights, &after, cx)),
        "`bias` has shape [4], expected [5]"
    );
    let x = numbers(4, &[1, 4, 4, 3]);
    assert_eq!(
        message(conv2d(&x, &weights, &Conv2dAttrs::default(), &After::default(), cx)),
        "`Conv2D`: weights that were packed as Matrix"
    );
    let strided = Conv2dAttrs { strides: (2, 2), ..Conv2dAttrs::default() };
    let filters = numbers(5, &[3, 3, 3, 2]);
    let algorithm = Algorithm::Winograd(Patch::Two);
    let weights = packed(Packing::filters(filters.shape(), algorithm), &filters);
    assert!(message(conv2d(&x, &weights, &strided, &After::default(), cx)).contains("Winograd"));
    let (relu, one) = (|x| vec![Step::Map(Function::Relu, x)], [DType::F32]);
    assert!(Program::new(&one, Vec::new(), &[]).is_err());
    assert!(Program::new(&one, relu(Value::Step(0)), &[0]).is_err());
    assert!(Program::new(&one, relu(Value::Operand(1)), &[0]).is_err());
    assert!(Program::new(&[DType::I32], relu(Value::Operand(0)), &[0]).is_err());
    assert!(Program::new(&[DType::F64], relu(Value::Operand(0)), &[0]).is_err());
    for results in [&[][..], &[1], &[0, 0]] {
        assert!(Program::new(&one, relu(Value::Operand(0)), results).is_err());
    }
    let half = Step::Ints(IntArithmetic::Add, Value::Number(0.5), Value::Number(1.0));
    assert!(Program::new(&one, vec![half], &[0]).is_err());
    let compare = reference::compare(Compare::Less, &x, &x, &allocator).unwrap();
    let program = Program::new(&one, relu(Value::Operand(0)), &[0]).unwrap();
    assert!(program.run(vec![compare], cx).is_err() && program.run(Vec::new(), cx).is_err());
}
