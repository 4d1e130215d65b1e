//! Extreme shapes and attributes: every operator returns a tensor within the allocator's limit, or an error
//! with a message.
//!
//! Operands are small, or empty with huge other dimensions. Numbers include both ends of their types. The
//! tests pass if nothing panics, overflows (test builds check this) or hangs.

use std::sync::Arc;

use proptest::prelude::*;

use befrost_tensor::mem::{Allocator, Limited, Malloc};
use befrost_tensor::tf::*;
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

const DIMS: [usize; 10] = [0, 1, 1, 2, 2, 3, 4, 1 << 20, 1 << 33, 1 << 62];
const SIZES: [usize; 10] = [0, 1, 1, 2, 2, 3, 1 << 20, 1 << 33, isize::MAX as usize, usize::MAX];
pub(crate) const INTS: [i64; 17] = [
    i64::MIN,
    i64::MIN + 1,
    -(1 << 40),
    -3,
    -2,
    -1,
    -1,
    0,
    0,
    1,
    1,
    2,
    3,
    1 << 20,
    1 << 33,
    1 << 62,
    i64::MAX,
];

pub(crate) fn limited() -> Arc<dyn Allocator> {
    Arc::new(Limited::new(Malloc::shared(), 1 << 20))
}

/// A small tensor of small numbers. Dimensions are lowered, some to 0, until the tensor is small.
pub(crate) fn operand() -> impl Strategy<Value = HostTensor> {
    let dims = prop::collection::vec(prop::sample::select(&DIMS[..]), 0..5);
    (dims, prop::sample::select(&DType::ALL[..]), any::<u64>()).prop_map(|(mut dims, dtype, seed)| {
        let fits = |dims: &[usize]| Shape::new(dims).is_ok_and(|shape| shape.num_elements() <= 64);
        while !fits(&dims) {
            match dims.iter().position(|&dim| dim > 1) {
                Some(at) => dims[at] = if dims[at] > 4 && seed & 1 == 0 { 0 } else { dims[at] / 2 },
                None => dims.clear(),
            }
        }
        let n: usize = dims.iter().product();
        let numbers: Vec<i64> = (0..n as u64).map(|i| (seed.rotate_left(i as u32) % 7) as i64 - 2).collect();
        let numbers =
            HostTensor::from_slice(Shape::new(&dims).unwrap(), &numbers, &Malloc::shared()).unwrap();
        cast(&numbers, dtype, &Malloc::shared()).unwrap()
    })
}

pub(crate) fn ints() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(prop::sample::select(&INTS[..]), 0..5)
}

fn size() -> impl Strategy<Value = usize> {
    prop::sample::select(&SIZES[..])
}

/// Checks that an operator returns a result, or an error with a message.
fn answered<T>(op: &str, answer: Result<T, TensorError>) -> Result<(), TestCaseError> {
    if let Err(error) = answer {
        prop_assert!(error.to_string().len() > 10, "{op}: {error}");
    }
    Ok(())
}

macro_rules! all {
    ($($call:expr),* $(,)?) => {{ $(answered(stringify!($call), $call)?;)* }};
}

fn elementwise(x: &HostTensor, y: &HostTensor, m: &Arc<dyn Allocator>) -> Result<(), TestCaseError> {
    for &op in Unary::ALL {
        answered(op.name(), unary(op, x, m))?;
    }
    for &op in Binary::ALL {
        answered(op.name(), binary(op, x, y, m))?;
    }
    for &op in Compare::ALL {
        answered(op.name(), compare(op, x, y, m))?;
    }
    for &op in Test::ALL {
        answered(op.name(), test(op, x, m))?;
    }
    for &op in SortedSegment::ALL {
        answered(op.name(), segment(op, x, y, m))?;
    }
    for dtype in DType::ALL {
        all!(
            cast(x, dtype, m),
            cast_truncated(x, dtype, m),
            bitcast(x, dtype),
            shape_of(x, dtype, m),
            size_of(x, dtype, m)
        );
    }
    all!(
        select(x, y, y, m),
        add_n(&[x, y], m),
        leaky_relu(x, f32::NAN, m),
        leaky_relu_grad(x, y, 0.5, m),
        rank_of(x, m),
        zeros_like(x, m),
        ones_like(x, m),
        softmax(x, m),
        log_softmax(x, m),
        softmax_cross_entropy(x, y, m),
        sparse_softmax_cross_entropy(x, y, m),
        in_top_k(x, y, 2, m),
        where_true(x, m),
        unique(x, None, DType::I64, m),
        unique(x, Some(0), DType::I32, m),
        list_diff(x, y, DType::I32, m),
        lrn(x, &LrnAttrs { radius: usize::MAX, bias: 1.0, alpha: f64::NAN, beta: 0.5 }, m),
        lrn_grad(x, y, x, &LrnAttrs { radius: 3, bias: 1.0, alpha: 1.0, beta: 0.5 }, m),
        search_sorted(true, x, y, DType::I32, m),
        dynamic_partition(x, y, 3, m),
        bincount(x, 5, y, false, m),
        invert_permutation(x, m),
        diag(x, m),
        diag_part(x, m),
        broadcast_args(x.shape(), y.shape()),
        broadcast_gradient_args(x.shape(), y.shape()),
        gather_nd(x, y, m),
        population_count(x, m),
        complex(x, y, m),
        part(Part::Angle, x, m),
        next_after(x, y, m),
        clip_by_value(x, y, x, m),
        l2_loss(x, m),
    );
    Ok(())
}

fn movements(
    x: &HostTensor,
    y: &HostTensor,
    (a, b, c): (&[i64], &[i64], &[i64]),
    bits: u64,
    m: &Arc<dyn Allocator>,
) -> Result<(), TestCaseError> {
    let at = |i: usize| a.get(i).copied().unwrap_or(0);
    let band = Band { lower: at(0), upper: at(1), above_left: bits & 1 == 0, below_left: bits & 2 == 0 };
    let sizes = [usize::try_from(at(2)).ok(), usize::try_from(at(3)).ok()];
    let element = vec![0; x.dtype().size()];
    for band in [&band, &Band::MAIN] {
        all!(
            matrix_diag(x, band, sizes, &element, m),
            matrix_diag(x, band, [None; 2], &element, m),
            matrix_diag_part(x, band, &element, m),
            matrix_set_diag(x, y, band, m),
        );
    }
    let pairs: Vec<(i64, i64)> = a.iter().copied().zip(b.iter().copied()).collect();
    let masks = SliceMasks {
        begin: bits,
        end: bits >> 5,
        ellipsis: bits >> 10,
        new_axis: bits >> 15,
        shrink_axis: bits >> 20,
    };
    let sliced = SliceRange { begin: a, end: b, strides: c, masks };
    let n = at(0).unsigned_abs() as usize;
    all!(
        reshape(x, a),
        expand_dims(x, at(0)),
        squeeze(x, a),
        transpose(x, a, m),
        reverse(x, a, m),
        roll(x, a, b, m),
        reverse_sequence(x, a, at(3), at(4), m),
        space_to_batch(x, a, &pairs, m),
        batch_to_space(x, a, &pairs, m),
        tile(x, a, m),
        slice(x, a, b, m),
        strided_slice(x, &sliced, m),
        strided_slice_grad(y.shape(), &sliced, x, m),
        pad(x, &pairs, PadMode::Constant(&[]), m),
        pad(x, &pairs, PadMode::Reflect, m),
        pad(x, &pairs, PadMode::Symmetric, m),
        mirror_pad_grad(x, &pairs, PadMode::Symmetric, m),
        broadcast_to(x, y.shape(), m),
        concat(&[x, y, x], at(0), m),
        pack(&[x, x], at(0), m),
        unpack(x, at(0), m),
        split(x, n, at(1), m),
        split_v(x, a, at(1), m),
        space_to_depth(x, n, m),
        depth_to_space(x, n, m),
        gather(x, y, at(0), at(1), m),
        top_k(x, n, m),
        sort(x, at(0), true, m),
        arg_extreme(true, x, at(0), DType::I16, m),
        matrix_band_part(x, at(0), at(1), m),
        one_hot(x, n, y, y, at(1), m),
        eye(n, at(1).unsigned_abs() as usize, DType::F32, m),
        range(x, y, y, m),
        lin_space(x, y, at(0), m),
        unsorted_segment(Segment::Sum, x, y, n, m),
        shape_from("Fill", x),
        dynamic_stitch(&[x, y], &[y, x], m),
        select_slices(x, y, y, m),
    );
    if let Ok(shape) = Shape::from_i64(a) {
        all!(fill(shape.clone(), y, m), scatter_nd(x, y, &shape, m), broadcast_to(x, &shape, m));
    }
    for mode in [Scatter::Update, Scatter::Add, Scatter::Sub, Scatter::Min, Scatter::Max] {
        all!(tensor_scatter(mode, x, y, x, m));
    }
    for &op in Reduce::ALL {
        answered(op.name(), reduce(op, x, a, bits & 1 == 0, m))?;
    }
    for &op in Scan::ALL {
        answered(op.name(), scan(op, x, at(0), bits & 1 == 0, bits & 2 == 0, m))?;
    }
    let open = PartialShape::from_i64(a).unwrap_or(PartialShape::unknown());
    let (any_x, any_y) = (&AnyTensor::from(x.clone()), &AnyTensor::from(y.clone()));
    let list = |element: &PartialShape| TensorList::from_tensor(any_x, element, m);
    all!(
        TensorList::reserve(DType::F32.into(), open.clone(), at(0)),
        list(&open).and_then(|list| list.concat(&open, b, m)),
        list(&open).and_then(|list| list.gather(b, &open, m)),
        list(&PartialShape::unknown()).and_then(|list| list.set_item(at(0), any_y, true)),
        list(&PartialShape::unknown()).and_then(|list| list.resize(at(0))),
        TensorList::split(any_x, &open, b, m),
        PartialShape::from_tensor(x),
    );
    Ok(())
}

proptest! {
    #[test]
    fn elementwise_operators_answer(x in operand(), y in operand()) {
        elementwise(&x, &y, &limited())?;
        elementwise(&x, &x, &limited())?;
    }

    #[test]
    fn movements_answer(x in operand(), y in operand(), a in ints(), b in ints(), c in ints(), bits in any::<u64>()) {
        movements(&x, &y, (&a, &b, &c), bits, &limited())?;
        movements(&x, &x, (&b, &a, &c), bits, &limited())?;
    }

    #[test]
    fn products_and_layers_answer(
        x in operand(), y in operand(), z in operand(), sizes in prop::collection::vec(size(), 8), kind in 0usize..6,
    ) {
        let m = &limited();
        let pair = |i: usize| (sizes[i], sizes[i + 1]);
        let padding = [Padding::Valid, Padding::Same, Padding::Explicit([pair(4), pair(6)])][kind % 3];
        let format = [ImageFormat::Nhwc, ImageFormat::Nchw][kind / 3];
        let attrs = Conv2dAttrs { strides: pair(0), dilations: pair(2), padding, format };
        let pooling = Pool2dAttrs { window: pair(0), strides: pair(2), padding, format };
        let norm = BatchNormAttrs { exponential_avg_factor: 0.5, format, ..BatchNormAttrs::default() };
        let by = BatchNorm { scale: &y, offset: &y, mean: &y, variance: &y };
        all!(
            matmul(&x, Transposition::None, &y, Transposition::Transpose, m),
            batch_matmul(&x, Transposition::Adjoint, &y, Transposition::None, m),
            conv2d(&x, &y, &attrs, m),
            conv2d_backprop_input(x.shape(), &y, &z, &attrs, m),
            conv2d_backprop_filter(&x, y.shape(), &z, &attrs, m),
            depthwise_conv2d(&x, &y, &attrs, m),
            depthwise_conv2d_backprop_input(x.shape(), &y, &z, &attrs, m),
            depthwise_conv2d_backprop_filter(&x, y.shape(), &z, &attrs, m),
            pool(Pool::Max, &x, &pooling, m),
            pool(Pool::Avg, &x, &pooling, m),
            max_pool_grad(&x, &y, &pooling, m),
            avg_pool_grad(x.shape(), &y, &pooling, m),
            bias_add(&x, &y, format, m),
            bias_add_grad(&x, format, m),
            batch_norm(&x, &by, &norm, m),
            batch_norm_training(&x, &y, &y, (&z, &z), &norm, m),
            batch_norm_grad(&x, &x, &y, (&y, &y), true, &norm, m),
            accumulate(Binary::Sub, &mut x.clone(), &y, m),
            scatter_update(Scatter::Div, &mut x.clone(), &y, &z, m),
        );
        for equation in ["ij,jk->ik", "...ij,...jk->...ik", "ii->i", "i...->...", "ij->", ",->", "abcd,abcd", "i,j,k->kji"] {
            for operands in [&[&x][..], &[&x, &y], &[&x, &x], &[&x, &y, &z]] {
                answered(equation, einsum(equation, operands, m))?;
            }
        }
    }

    #[test]
    fn any_equation_is_answered(equation in "[ij.,>-]{0,12}", x in operand()) {
        for operands in [&[&x][..], &[&x, &x]] {
            answered(&equation, einsum(&equation, operands, &limited()))?;
        }
    }
}
