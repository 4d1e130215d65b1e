//! Comparison with the reference for random shapes, dtypes and values, including NaN, infinities and zeros.
//! The operators run on one thread and on two, out of place and in place.

use proptest::prelude::*;

use crate::testing::{Random, malloc, near, own, same, tensor, with_threads};
use befrost_tensor::tf::fast::Cx;
use befrost_tensor::tf::*;
use befrost_tensor::{DType, HostTensor, I1};

/// The integers, the floats of 32 and 64 bits, and booleans.
const NUMBERS: [DType; 11] = [
    DType::F32,
    DType::F64,
    DType::I1,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::UI64,
];

fn dims() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        8 => prop::collection::vec(0usize..7, 0..5),
        1 => prop::collection::vec(1usize..90, 1..3),
        1 => Just(vec![5000]),
        1 => Just(vec![3, 2500]),
    ]
}

/// Two shapes that mostly broadcast: axes of either are omitted or have length 1.
fn pair() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    (dims(), any::<[u8; 2]>(), 0usize..6, 0usize..6).prop_map(|(dims, ones, cut_a, cut_b)| {
        let side = |ones: u8, cut: usize| {
            let of = |(i, &d): (usize, &usize)| if ones >> i & 3 == 1 { 1 } else { d };
            let dims: Vec<usize> = dims.iter().enumerate().map(of).collect();
            dims[cut.saturating_sub(2).min(dims.len())..].to_vec()
        };
        (side(ones[0], cut_a), side(ones[1], cut_b))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn functions_of_one_tensor(dims in dims(), seed: u32) {
        for dtype in [DType::F32, DType::F64, DType::I1, DType::UI8, DType::I16, DType::I32, DType::UI64] {
            let x = Random(seed).tensor(dtype, &dims, true);
            for &op in Unary::ALL {
                let want = reference::unary(op, &x, &malloc());
                let apart = with_threads(op.name(), |cx| fast::unary(op, x.clone(), cx));
                // The slopes are sums that nearly cancel out where they leave 0.
                let least = if matches!(op, Unary::GeluSlope | Unary::GeluTanhSlope) { 2e-6 } else { 1e-37 };
                near(op.name(), &apart, &want, (6e-7, least));
                same(op.name(), &with_threads(op.name(), |cx| fast::unary(op, own(&x), cx)), &apart);
            }
            let want = reference::leaky_relu(&x, 0.3, &malloc());
            same("LeakyRelu", &with_threads("LeakyRelu", |cx| fast::leaky_relu(own(&x), 0.3, cx)), &want);
            for to in DType::ALL {
                let want = reference::cast(&x, to, &malloc());
                same("Cast", &with_threads("Cast", |cx| fast::cast(&x, to, cx)), &want);
            }
        }
    }

    #[test]
    fn functions_of_two_tensors((a, b) in pair(), seed: u32) {
        for &dtype in &NUMBERS {
            let mut numbers = Random(seed);
            let (a, b) = (numbers.tensor(dtype, &a, true), numbers.tensor(dtype, &b, true));
            for &op in Binary::ALL {
                let want = reference::binary(op, &a, &b, &malloc());
                let apart = with_threads(op.name(), |cx| fast::binary(op, a.clone(), b.clone(), cx));
                near(op.name(), &apart, &want, (3e-7, 1e-37));
                for (keep_a, keep_b) in [(false, false), (false, true), (true, false)] {
                    let of = |x: &HostTensor, keep| if keep { x.clone() } else { own(x) };
                    let in_place =
                        with_threads(op.name(), |cx| fast::binary(op, of(&a, keep_a), of(&b, keep_b), cx));
                    same(op.name(), &in_place, &apart);
                }
            }
            for &op in Compare::ALL {
                let want = reference::compare(op, &a, &b, &malloc());
                same(op.name(), &with_threads(op.name(), |cx| fast::compare(op, &a, &b, cx)), &want);
            }
        }
    }

    #[test]
    fn clipped(dims in dims(), of_all: bool, seed: u32) {
        for &dtype in &NUMBERS {
            let mut numbers = Random(seed);
            let x = numbers.tensor(dtype, &dims, true);
            let limits = if of_all { &dims[..] } else { &[] };
            let (low, high) = (numbers.tensor(dtype, limits, true), numbers.tensor(dtype, limits, true));
            let want = clip_by_value(&x, &low, &high, &malloc());
            same("ClipByValue", &with_threads("ClipByValue", |cx| fast::clip_by_value(&x, &low, &high, cx)), &want);
        }
    }

    #[test]
    fn selections((c, a) in pair(), (_, b) in pair(), seed: u32, of_c: bool) {
        let mut numbers = Random(seed);
        let b = if of_c { &c } else { &b };
        for dtype in [DType::F32, DType::I64, DType::UI8] {
            let condition = numbers.tensor(DType::I1, &c, true);
            let (a, b) = (numbers.tensor(dtype, &a, true), numbers.tensor(dtype, b, true));
            let want = reference::select(&condition, &a, &b, &malloc());
            same("SelectV2", &with_threads("SelectV2", |cx| fast::select(&condition, &a, &b, cx)), &want);
        }
    }

    #[test]
    fn reductions(dims in dims(), chosen: u8, keep: bool, seed: u32) {
        let axes: Vec<i64> = (0..dims.len() as i64).filter(|i| chosen >> i & 1 == 1).collect();
        for &dtype in &NUMBERS {
            let x = Random(seed).tensor(dtype, &dims, seed % 2 == 0);
            for &op in Reduce::ALL {
                let want = reference::reduce(op, &x, &axes, keep, &malloc());
                let got = with_threads(op.name(), |cx| fast::reduce(op, &x, &axes, keep, cx));
                near(op.name(), &got, &want, (2e-7, 1e-37));
            }
            for (axis, largest) in (-1..dims.len() as i64).flat_map(|axis| [(axis, true), (axis, false)]) {
                let want = arg_extreme(largest, &x, axis, DType::I64, &malloc());
                let got = with_threads("ArgMax", |cx| fast::arg_extreme(largest, &x, axis, DType::I64, cx));
                same("ArgMax", &got, &want);
                let want = sort(&x, axis, largest, &malloc());
                if let Ok(sorted) = &want {
                    same("Sort", &sort(sorted, axis, largest, &malloc()), &want);
                }
            }
        }
        let x = Random(seed).tensor(DType::F32, &dims, seed % 2 == 0);
        let limits = (1e-5, 1e-37);
        let want = reference::softmax(&x, &malloc());
        near("Softmax", &with_threads("Softmax", |cx| fast::softmax(own(&x), cx)), &want, limits);
        near("Softmax", &with_threads("Softmax", |cx| fast::softmax(x.clone(), cx)), &want, limits);
        let want = reference::log_softmax(&x, &malloc());
        near("LogSoftmax", &with_threads("LogSoftmax", |cx| fast::log_softmax(own(&x), cx)), &want, (2e-6, 5e-6));
    }

    #[test]
    fn transposes(dims in prop::collection::vec(0usize..40, 0..4), small in prop::collection::vec(1usize..4, 0..3), seed: u32) {
        let dims = [small, dims].concat();
        let mut perm: Vec<i64> = (0..dims.len() as i64).collect();
        let mut numbers = Random(seed);
        for i in (1..perm.len()).rev() {
            perm.swap(i, numbers.next() as usize % (i + 1));
        }
        for dtype in [DType::F32, DType::I64, DType::UI8] {
            let x = numbers.tensor(dtype, &dims, false);
            let want = reference::transpose(&x, &perm, &malloc());
            same("Transpose", &with_threads("Transpose", |cx| fast::transpose(&x, &perm, cx)), &want);
        }
    }

    #[test]
    fn norms_and_biases(outer in 0usize..4, plane in (0usize..9, 0usize..9), channels in 0usize..40, nchw: bool, seed: u32) {
        let format = if nchw { ImageFormat::Nchw } else { ImageFormat::Nhwc };
        let shape = format.shape(outer, plane, channels).unwrap();
        let mut numbers = Random(seed);
        let x = numbers.tensor(DType::F32, shape.dims(), true);
        let [scale, offset, mean] = [0, 1, 2].map(|_| numbers.tensor(DType::F32, &[channels], false));
        let variance = reference::unary(Unary::Square, &numbers.tensor(DType::F32, &[channels], false), &malloc());
        let variance = variance.unwrap();
        let by = BatchNorm { scale: &scale, offset: &offset, mean: &mean, variance: &variance };
        let attrs = BatchNormAttrs { epsilon: 0.01, format, ..BatchNormAttrs::default() };
        let want = reference::batch_norm(&x, &by, &attrs, &malloc());
        for x in [&x, &own(&x)] {
            let got = with_threads("FusedBatchNorm", |cx| fast::batch_norm(own(x), &by, &attrs, cx));
            near("FusedBatchNorm", &got, &want, (1e-5, 1e-5));
            let got = with_threads("FusedBatchNorm", |cx| fast::batch_norm(x.clone(), &by, &attrs, cx));
            near("FusedBatchNorm", &got, &want, (1e-5, 1e-5));
        }
        let want = reference::bias_add(&x, &scale, format, &malloc());
        same("BiasAdd", &with_threads("BiasAdd", |cx| fast::bias_add(own(&x), &scale, format, cx)), &want);
        let want = bias_add_grad(&x, format, &malloc());
        near("BiasAddGrad", &with_threads("BiasAddGrad", |cx| fast::bias_add_grad(&x, format, cx)), &want, (1e-6, 1e-6));
    }

    #[test]
    fn training_norms(
        outer in 0usize..4, plane in (0usize..9, 0usize..9), channels in 0usize..40, nchw: bool, seed: u32, factor in prop_oneof![Just(1.0f32), Just(0.3)],
    ) {
        let format = if nchw { ImageFormat::Nchw } else { ImageFormat::Nhwc };
        let shape = format.shape(outer, plane, channels).unwrap();
        let mut numbers = Random(seed);
        let x = numbers.tensor(DType::F32, shape.dims(), seed % 4 == 0);
        let dy = numbers.tensor(DType::F32, shape.dims(), false);
        let [scale, offset, mean] = [0, 1, 2].map(|_| numbers.tensor(DType::F32, &[channels], false));
        let variance = reference::unary(Unary::Square, &numbers.tensor(DType::F32, &[channels], false), &malloc());
        let running = (&mean, &variance.unwrap());
        let attrs = BatchNormAttrs { epsilon: 0.01, exponential_avg_factor: factor, format };
        let wanted = batch_norm_training(&x, &scale, &offset, running, &attrs, &malloc()).unwrap();
        for (i, want) in wanted.iter().enumerate() {
            let got = with_threads("training", |cx| {
                Ok(fast::batch_norm_training(x.clone(), (&scale, &offset), running, &attrs, cx)?[i].clone())
            });
            near("training", &got, &Ok(want.clone()), (1e-5, 1e-5));
        }
        for is_training in [false, true] {
            let wanted = batch_norm_grad(&dy, &x, &scale, running, is_training, &attrs, &malloc()).unwrap();
            for (i, want) in wanted.iter().enumerate() {
                let got = with_threads("gradients", |cx| {
                    Ok(fast::batch_norm_grad(dy.clone(), x.clone(), &scale, running, is_training, &attrs, cx)?[i].clone())
                });
                near("gradients", &got, &Ok(want.clone()), (1e-5, 1e-4));
            }
        }
    }

    /// 16-bit floats agree with the reference up to the last bit or two.
    #[test]
    fn halves((a, b) in pair(), seed: u32) {
        for (dtype, limits) in [(DType::F16, (2e-3, 2e-3)), (DType::BF16, (1.6e-2, 1e-2))] {
            let mut numbers = Random(seed);
            let mut half = |dims: &[usize], special| {
                reference::cast(&numbers.tensor(DType::F32, dims, special), dtype, &malloc()).unwrap()
            };
            let (x, a, b) = (half(&a, true), half(&a, false), half(&b, false));
            for &op in Unary::ALL {
                let want = reference::unary(op, &x, &malloc());
                near(op.name(), &with_threads(op.name(), |cx| fast::unary(op, x.clone(), cx)), &want, limits);
            }
            for &op in Binary::ALL {
                let want = reference::binary(op, &a, &b, &malloc());
                near(op.name(), &with_threads(op.name(), |cx| fast::binary(op, a.clone(), b.clone(), cx)), &want, limits);
            }
            for op in [Reduce::Sum, Reduce::Mean, Reduce::Max, Reduce::EuclideanNorm] {
                let want = reference::reduce(op, &a, &[-1], true, &malloc());
                near(op.name(), &with_threads(op.name(), |cx| fast::reduce(op, &a, &[-1], true, cx)), &want, limits);
            }
            let want = reference::softmax(&a, &malloc());
            near("Softmax", &with_threads("Softmax", |cx| fast::softmax(a.clone(), cx)), &want, limits);
            let (a, b) = (half(&[3, 40], false), half(&[40, 7], false));
            let want = reference::matmul(&a, Transposition::None, &b, Transposition::None, &malloc());
            near("MatMul", &with_threads("MatMul", |cx| fast::matmul(&a, Transposition::None, &b, Transposition::None, cx)), &want, limits);
            let (x, filter) = (half(&[2, 5, 6, 3], false), half(&[2, 3, 3, 4], false));
            let attrs = Conv2dAttrs::default();
            let want = reference::conv2d(&x, &filter, &attrs, &malloc());
            near("Conv2D", &with_threads("Conv2D", |cx| fast::conv2d(&x, &filter, &attrs, cx)), &want, limits);
        }
    }

    #[test]
    fn products(batch in pair(), (m, k, n) in (0usize..20, 0usize..40, 0usize..50), turns: [bool; 2], seed: u32) {
        let turn = |transposed| if transposed { Transposition::Transpose } else { Transposition::None };
        let dims = |batch: &[usize], transposed: bool, rows: usize, cols: usize| {
            let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
            let batch: Vec<usize> = batch.iter().rev().take(2).rev().map(|&d| d.min(4)).collect();
            [&batch[..], &[rows, cols]].concat()
        };
        let mut numbers = Random(seed);
        for dtype in [DType::F32, DType::F64, DType::I32] {
            let a = numbers.tensor(dtype, &dims(&batch.0, turns[0], m, k), seed % 4 == 0);
            let b = numbers.tensor(dtype, &dims(&batch.1, turns[1], k, n), false);
            let (left, right) = (turn(turns[0]), turn(turns[1]));
            let want = reference::batch_matmul(&a, left, &b, right, &malloc());
            let got = with_threads("BatchMatMul", |cx| fast::batch_matmul(&a, left, &b, right, cx));
            near("BatchMatMul", &got, &want, (1e-5, 1e-4));
            let want = reference::matmul(&a, left, &b, right, &malloc());
            near("MatMul", &with_threads("MatMul", |cx| fast::matmul(&a, left, &b, right, cx)), &want, (1e-5, 1e-4));
        }
    }

    #[test]
    fn equations(lengths in prop::collection::vec(0usize..7, 6), seed: u32) {
        for equation in [
            "ij,jk->ik", "ij,jk->ki", "bij,bkj->bik", "abc,cd->abd", "abcd,aecd->aceb", "abc,abd->cd", "ab,cd->acbd", "i,i->", "ii,ij->j",
            "ab,ab->ab", "abcd,cde->abe", "abe,cde->abcd", "ab->ba", "ab,b", "ace,bdf->fa", "abc,bad->cd",
        ] {
            let (left, _) = equation.split_once("->").unwrap_or((equation, ""));
            let mut numbers = Random(seed);
            let inputs: Vec<HostTensor> = left
                .split(',')
                .map(|part| {
                    let dims: Vec<usize> = part.bytes().map(|c| lengths[usize::from(c - b'a') % 6]).collect();
                    numbers.tensor(DType::F32, &dims, false)
                })
                .collect();
            let inputs: Vec<&HostTensor> = inputs.iter().collect();
            let want = reference::einsum(equation, &inputs, &malloc());
            near(equation, &with_threads(equation, |cx| fast::einsum(equation, &inputs, cx)), &want, (1e-5, 1e-4));
        }
    }
}

#[derive(Clone, Debug)]
struct Case {
    batch: usize,
    plane: (usize, usize),
    filter: (usize, usize),
    /// The number of groups, and the numbers of channels and out channels per group.
    channels: (usize, usize, usize),
    attrs: Conv2dAttrs,
}

fn case() -> impl Strategy<Value = Case> {
    let format = prop_oneof![Just(ImageFormat::Nhwc), Just(ImageFormat::Nchw)];
    let pads = || (0usize..6, 0usize..6);
    let explicit = (pads(), pads()).prop_map(|(rows, cols)| Padding::Explicit([rows, cols]));
    let padding = prop_oneof![Just(Padding::Valid), Just(Padding::Same), explicit];
    let groups = prop_oneof![3 => Just(1usize), 1 => 2usize..5];
    (
        (0usize..3, (1usize..9, 1usize..9)),
        ((1usize..4, 1usize..4), (groups, 1usize..5, 1usize..5)),
        ((1usize..4, 1usize..3), (1usize..3, 1usize..3)),
        (padding, format),
    )
        .prop_map(|((batch, plane), (filter, channels), (strides, dilations), (padding, format))| Case {
            batch,
            plane,
            filter,
            channels,
            attrs: Conv2dAttrs { strides, dilations, padding, format },
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn images(case in case(), seed: u32, special: bool) {
        let Case { batch, plane, filter: (fh, fw), channels: (groups, from, to), attrs } = case;
        let mut numbers = Random(seed);
        let shape = attrs.format.shape(batch, plane, groups * from).unwrap();
        let x = numbers.tensor(DType::F32, shape.dims(), special);
        let filter = numbers.tensor(DType::F32, &[fh, fw, from, groups * to], false);
        let limits = (1e-5, 1e-4);
        let want = reference::conv2d(&x, &filter, &attrs, &malloc());
        near("Conv2D", &with_threads("Conv2D", |cx| fast::conv2d(&x, &filter, &attrs, cx)), &want, limits);
        let window = Pool2dAttrs { window: (fh, fw), strides: attrs.strides, padding: attrs.padding, format: attrs.format };
        for kind in [Pool::Max, Pool::Avg] {
            let want = reference::pool(kind, &x, &window, &malloc());
            near("pool", &with_threads("pool", |cx| fast::pool(kind, &x, &window, cx)), &want, (1e-6, 1e-6));
        }
        let depthwise = numbers.tensor(DType::F32, &[fh, fw, groups * from, to], false);
        let wanted = reference::depthwise_conv2d(&x, &depthwise, &attrs, &malloc());
        let got = with_threads("Depthwise", |cx| fast::depthwise_conv2d(&x, &depthwise, &attrs, cx));
        near("Depthwise", &got, &wanted, limits);
        if let Ok(y) = want {
            let dy = numbers.tensor(DType::F32, y.shape().dims(), false);
            let want = reference::conv2d_backprop_input(&shape, &filter, &dy, &attrs, &malloc());
            let got = with_threads("by input", |cx| fast::conv2d_backprop_input(&shape, &filter, &dy, &attrs, cx));
            near("by input", &got, &want, limits);
            let want = reference::conv2d_backprop_filter(&x, filter.shape(), &dy, &attrs, &malloc());
            let got =
                with_threads("by filter", |cx| fast::conv2d_backprop_filter(&x, filter.shape(), &dy, &attrs, cx));
            near("by filter", &got, &want, limits);
        }
        if let Ok(y) = wanted {
            let dy = numbers.tensor(DType::F32, y.shape().dims(), false);
            let want = depthwise_conv2d_backprop_input(&shape, &depthwise, &dy, &attrs, &malloc());
            let got = with_threads("depthwise by input", |cx| {
                fast::depthwise_conv2d_backprop_input(&shape, &depthwise, &dy, &attrs, cx)
            });
            near("depthwise by input", &got, &want, limits);
            let dims = depthwise.shape();
            let want = depthwise_conv2d_backprop_filter(&x, dims, &dy, &attrs, &malloc());
            let got = with_threads("depthwise by filter", |cx| {
                fast::depthwise_conv2d_backprop_filter(&x, dims, &dy, &attrs, cx)
            });
            near("depthwise by filter", &got, &want, limits);
        }
        if let Ok(y) = reference::pool(Pool::Max, &x, &window, &malloc()) {
            let dy = numbers.tensor(DType::F32, y.shape().dims(), special);
            let want = max_pool_grad(&x, &dy, &window, &malloc());
            let got = with_threads("MaxPoolGrad", |cx| fast::max_pool_grad(&x, &dy, &window, cx));
            near("MaxPoolGrad", &got, &want, (1e-6, 1e-6));
            let want = avg_pool_grad(&shape, &dy, &window, &malloc());
            let got = with_threads("AvgPoolGrad", |cx| fast::avg_pool_grad(&shape, &dy, &window, cx));
            near("AvgPoolGrad", &got, &want, (1e-6, 1e-6));
        }
    }
}

/// The moments are accurate for a mean that is large relative to the deviation, and for a variance that
/// overflows f32.
#[test]
fn extreme_norms() {
    let (ones, zeros) = (tensor(&[1], &[1.0f32]), tensor(&[1], &[0.0f32]));
    let attrs = BatchNormAttrs { epsilon: 0.0, ..BatchNormAttrs::default() };
    for x in [[1e6f32, 1e6 + 0.0625, 1e6, 1e6 + 0.0625], [-1e20, 1e20, -1e20, 1e20]] {
        let x = tensor(&[1, 2, 2, 1], &x);
        let want = batch_norm_training(&x, &ones, &zeros, (&ones, &ones), &attrs, &malloc()).unwrap();
        for (i, want) in want.into_iter().enumerate() {
            let got = with_threads("training", |cx| {
                let results =
                    fast::batch_norm_training(x.clone(), (&ones, &zeros), (&ones, &ones), &attrs, cx)?;
                Ok(results[i].clone())
            });
            near("training", &got, &Ok(want), (1e-6, 1e-6));
        }
    }
}

/// A window far wider than its image is pooled without a visit to every tap.
#[test]
fn absurd_windows() {
    let wide = 4_000_000_000;
    let attrs = Pool2dAttrs {
        window: (1, wide),
        strides: (1, wide),
        padding: Padding::Explicit([(0, 0), (wide, wide)]),
        format: ImageFormat::Nhwc,
    };
    let (x, dy) = (tensor(&[1, 1, 4, 1], &[1.0f32, 3.0, 2.0, 0.0]), tensor(&[1, 1, 2, 1], &[5.0f32, 7.0]));
    let want = max_pool_grad(&x, &dy, &attrs, &malloc());
    same("MaxPoolGrad", &with_threads("MaxPoolGrad", |cx| fast::max_pool_grad(&x, &dy, &attrs, cx)), &want);
}

/// Rows longer than the parts that are summed separately, and shapes that several threads share.
#[test]
fn large_tensors() {
    let x = Random(3).tensor(DType::F32, &[3, 70_001], false);
    for (op, axes) in [(Reduce::Sum, vec![1]), (Reduce::Mean, vec![0, 1]), (Reduce::Max, vec![0])] {
        let want = reference::reduce(op, &x, &axes, false, &malloc());
        near(
            op.name(),
            &with_threads(op.name(), |cx| fast::reduce(op, &x, &axes, false, cx)),
            &want,
            (2e-7, 1e-7),
        );
    }
    let row = Random(4).tensor(DType::F32, &[70_001], false);
    let want = reference::binary(Binary::Sub, &row, &x, &malloc());
    same("Sub", &with_threads("Sub", |cx| fast::binary(Binary::Sub, own(&row), own(&x), cx)), &want);
    let transposed = with_threads("Transpose", |cx| fast::transpose(&x, &[1, 0], cx));
    same("Transpose", &transposed, &reference::transpose(&x, &[1, 0], &malloc()));
    for turn in [Transposition::None, Transposition::Transpose] {
        let a = Random(7).tensor(DType::F32, &[1, 301], false);
        let dims = if turn == Transposition::None { [301, 555] } else { [555, 301] };
        let b = Random(8).tensor(DType::F32, &dims, false);
        let want = reference::matmul(&a, Transposition::None, &b, turn, &malloc());
        let got = with_threads("MatMul", |cx| fast::matmul(&a, Transposition::None, &b, turn, cx));
        near("MatMul", &got, &want, (1e-5, 1e-3));
    }
    let (a, b) = (
        Random(5).tensor(DType::F32, &[2, 150, 130], false),
        Random(6).tensor(DType::F32, &[150, 2, 130], false),
    );
    let want = reference::einsum("hij,khj->kih", &[&a, &b], &malloc());
    let got = with_threads("Einsum", |cx| fast::einsum("hij,khj->kih", &[&a, &b], cx));
    near("Einsum", &got, &want, (1e-5, 1e-3));
}

#[test]
fn shared_values_are_not_overwritten() {
    let allocator = malloc();
    let cx = &Cx::serial(&allocator);
    let x = tensor(&[3], &[1.0f32, -2.0, 3.0]);
    let y = fast::unary(Unary::Neg, x.clone(), cx).unwrap();
    assert!(!y.shares_buffer(&x) && *x.read::<f32>().unwrap() == [1.0, -2.0, 3.0]);
    let before = y.buffer().unwrap().address();
    let z = fast::binary(Binary::Add, y, x.clone(), cx).unwrap();
    assert_eq!(z.buffer().unwrap().address(), before);
    let square = fast::binary(Binary::Mul, x.clone(), x.clone(), cx).unwrap();
    assert_eq!(*square.read::<f32>().unwrap(), [1.0, 4.0, 9.0]);
}

/// Shapes with several matrices per result, with long and with many rows, and without elements.
#[test]
fn reductions_of_odd_shapes() {
    let shapes: [(&[usize], &[i64]); 9] = [
        (&[2, 3, 2, 3, 2], &[0, 2, 4]),
        (&[2, 3, 2, 3, 2], &[1, 3]),
        (&[3, 2, 70_000], &[0, 2]),
        (&[2, 70_000], &[1]),
        (&[300, 2, 300, 3], &[0, 2]),
        (&[300, 2, 3, 2], &[0, 2]),
        (&[20, 66_000], &[1]),
        (&[1_000_000_000, 0, 2], &[0, 2]),
        (&[4, 0, 3], &[1]),
    ];
    for (dims, axes) in shapes {
        for dtype in [DType::F32, DType::F64, DType::I32, DType::UI8, DType::I8, DType::I1] {
            let x = Random(3).tensor(dtype, dims, false);
            for &op in Reduce::ALL {
                let want = reference::reduce(op, &x, axes, false, &malloc());
                let got = with_threads(op.name(), |cx| fast::reduce(op, &x, axes, false, cx));
                near(op.name(), &got, &want, (2e-7, 1e-37));
            }
        }
    }
}

/// Any byte but 0 is true.
#[test]
fn booleans_of_any_byte() {
    let bytes: Vec<u8> = (0..600).map(|i| (i * 37 % 5) as u8).collect();
    let plain: Vec<I1> = bytes.iter().map(|&byte| I1::from(byte != 0)).collect();
    let [x, y] = [bytemuck::cast_slice::<u8, I1>(&bytes), &plain].map(|x| tensor(&[20, 30], x));
    let allocator = malloc();
    let cx = Cx::serial(&allocator);
    for op in [Reduce::All, Reduce::Any] {
        same(op.name(), &fast::reduce(op, &x, &[1], false, &cx), &fast::reduce(op, &y, &[1], false, &cx));
    }
    same(
        "ArgMax",
        &fast::arg_extreme(true, &x, 1, DType::I64, &cx),
        &fast::arg_extreme(true, &y, 1, DType::I64, &cx),
    );
    same("Cast", &fast::cast(&x, DType::I32, &cx), &fast::cast(&y, DType::I32, &cx));
    let of = |x: &HostTensor| fast::compare(Compare::Equal, x, &y, &cx).unwrap();
    assert!(of(&x).read::<I1>().unwrap().iter().all(|equal| equal.is_true()));
    let both = fast::binary(Binary::LogicalAnd, x.clone(), y.clone(), &cx).unwrap();
    assert_eq!(*both.read_bytes().unwrap(), *y.read_bytes().unwrap());
}
