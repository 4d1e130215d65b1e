//! Comparison of products, convolutions, lists, sums and movements with short formulas, and of gradients with
//! finite differences.

use proptest::prelude::*;

use super::{check, malloc, near, numeric_gradient, refused, tensor, vector};
use befrost_tensor::tf::op::Type;
use befrost_tensor::tf::*;
use befrost_tensor::{Complex64, DType, HostTensor, I1, Shape, StringTensor, TensorError};

fn shape(dims: &[usize]) -> Shape {
    Shape::new(dims).unwrap()
}

/// Numbers in [-4, 4]; 17 of them are distinct, then they repeat.
fn counted(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7 % 17) as f64 / 2.0 - 4.0).collect()
}

fn filled(dims: &[usize]) -> HostTensor {
    tensor(dims, &counted(dims.iter().product()))
}

#[test]
fn products_turn_broadcast_and_refuse() {
    let m = &malloc();
    let (a, b) = (tensor(&[2, 3], &[1i32, 2, 3, 4, 5, 6]), tensor(&[3, 2], &[1i32, 0, 0, 1, 1, 1]));
    check(matmul(&a, Transposition::None, &b, Transposition::None, m), &[2, 2], &[4i32, 5, 10, 11]);
    check(
        matmul(&a, Transposition::Transpose, &a, Transposition::None, m),
        &[3, 3],
        &[17i32, 22, 27, 22, 29, 36, 27, 36, 45],
    );
    check(matmul(&a, Transposition::None, &a, Transposition::Transpose, m), &[2, 2], &[14i32, 32, 32, 77]);
    refused(
        matmul(&a, Transposition::None, &a, Transposition::None, m),
        "`MatMul`: the inner dimensions 3 and 2 differ: shapes [2, 3] (None) and [2, 3] (None)",
    );
    assert!(matmul(&vector(&[1i32]), Transposition::None, &a, Transposition::None, m).is_err());
    let i = |im| Complex64 { re: 0.0, im };
    let z = tensor(&[1, 1], &[i(2.0)]);
    check(
        batch_matmul(&z, Transposition::Adjoint, &z, Transposition::None, m),
        &[1, 1],
        &[Complex64 { re: 4.0, im: 0.0 }],
    );
    check(
        matmul(&z, Transposition::Transpose, &z, Transposition::None, m),
        &[1, 1],
        &[Complex64 { re: -4.0, im: 0.0 }],
    );
    let many = tensor(&[2, 1, 1, 2], &[1i32, 2, 3, 4]);
    let others = tensor(&[3, 2, 1], &[1i32, 1, 1, 0, 0, 1]);
    check(
        batch_matmul(&many, Transposition::None, &others, Transposition::None, m),
        &[2, 3, 1, 1],
        &[3i32, 1, 2, 7, 3, 4],
    );
    let none = HostTensor::zeros(DType::F32, shape(&[2, 0]), m).unwrap();
    check(matmul(&none, Transposition::None, &none, Transposition::Transpose, m), &[2, 2], &[0.0f32; 4]);
}

#[test]
fn einsum_is_sums_of_products() {
    let m = &malloc();
    let a = tensor(&[2, 2], &[1i64, 2, 3, 4]);
    let b = tensor(&[2, 2], &[5i64, 6, 7, 8]);
    check(einsum("ij,jk->ik", &[&a, &b], m), &[2, 2], &[19i64, 22, 43, 50]);
    check(einsum("ij , jk", &[&a, &b], m), &[2, 2], &[19i64, 22, 43, 50]);
    check(einsum("ba", &[&a], m), &[2, 2], &[1i64, 3, 2, 4]);
    check(einsum("ii->", &[&a], m), &[], &[5i64]);
    check(einsum("ii->i", &[&a], m), &[2], &[1i64, 4]);
    check(einsum("ij->j", &[&a], m), &[2], &[4i64, 6]);
    check(einsum("ij,kl->", &[&a, &b], m), &[], &[260i64]);
    check(einsum("ij,jk,kl->il", &[&a, &b, &a], m), &[2, 2], &[85i64, 126, 193, 286]);
    check(einsum("ii,jj->", &[&a, &b], m), &[], &[65i64]);
    check(einsum("...j,j...->...", &[&a, &vector(&[1i64, 10])], m), &[2], &[21i64, 43]);
    let row = tensor(&[1, 2], &[1i64, 2]);
    check(einsum("...,...->...", &[&a, &row], m), &[2, 2], &[1i64, 4, 3, 8]);
    check(einsum(",->", &[&tensor(&[], &[3i64]), &tensor(&[], &[4i64])], m), &[], &[12i64]);
    for (equation, inputs) in [
        ("ij->k", vec![&a]),
        ("ij,jk->ik", vec![&a]),
        ("ijk->i", vec![&a]),
        ("i->i", vec![&a]),
        ("ij->ii", vec![&a]),
        ("......->...", vec![&a]),
        ("i-j", vec![&a]),
        ("é", vec![&a]),
        ("", vec![&a]),
        ("...j->j", vec![&a]),
        ("ij,jk->ik", vec![&a, &row]),
        ("...,...->...", vec![&a, &HostTensor::zeros(DType::I64, shape(&[3]), m).unwrap()]),
    ] {
        assert!(einsum(equation, &inputs, m).is_err(), "{equation}");
    }
    assert!(einsum("", &[], m).is_err());
    for dims in [[0, 1 << 40], [1 << 40, 0]] {
        let huge = HostTensor::zeros(DType::I64, shape(&dims), m).unwrap();
        check(einsum("ij->", &[&huge], m), &[], &[0i64]);
        check(einsum("ij,ij->", &[&huge, &huge], m), &[], &[0i64]);
    }
}

/// The convolution of NHWC images by its definition.
fn convolved(
    x: &HostTensor,
    f: &HostTensor,
    attrs: &Conv2dAttrs,
    pad: (usize, usize),
    out: &[usize],
) -> Vec<f64> {
    let (&[_, h, w, c], &[kh, kw, ci, o]) = (x.shape().dims(), f.shape().dims()) else { panic!() };
    let (xs, fs) = (x.read::<f64>().unwrap(), f.read::<f64>().unwrap());
    let mut sums = vec![0.0; out.iter().product()];
    for (at, sum) in sums.iter_mut().enumerate() {
        let index = shape(out).index_of(at);
        let group = index[3] / (o / (c / ci));
        for (i, j, k) in (0..kh).flat_map(|i| (0..kw).flat_map(move |j| (0..ci).map(move |k| (i, j, k)))) {
            let y = (index[1] * attrs.strides.0 + i * attrs.dilations.0) as isize - pad.0 as isize;
            let z = (index[2] * attrs.strides.1 + j * attrs.dilations.1) as isize - pad.1 as isize;
            if (0..h as isize).contains(&y) && (0..w as isize).contains(&z) {
                let pixel = (index[0] * h + y as usize) * w + z as usize;
                *sum += xs[pixel * c + group * ci + k] * fs[((i * kw + j) * ci + k) * o + index[3]];
            }
        }
    }
    sums
}

#[test]
fn convolutions_and_their_gradients() {
    let m = &malloc();
    for (strides, dilations, padding, pad, ci, o, side) in [
        ((1, 1), (1, 1), Padding::Valid, (0, 0), 4, 2, (4, 3)),
        ((2, 1), (1, 1), Padding::Same, (0, 1), 2, 4, (3, 5)),
        ((1, 2), (2, 1), Padding::Explicit([(1, 0), (2, 1)]), (1, 2), 1, 8, (4, 3)),
    ] {
        let attrs = Conv2dAttrs { strides, dilations, padding, format: ImageFormat::Nhwc };
        let (x, f) = (filled(&[2, 5, 5, 4]), filled(&[2, 3, ci, o]));
        let y = conv2d(&x, &f, &attrs, m).unwrap();
        assert_eq!(y.shape().dims(), [2, side.0, side.1, o], "{attrs:?}");
        near(&y, &convolved(&x, &f, &attrs, pad, y.shape().dims()));
        let dy = filled(y.shape().dims());
        let weights = dy.read::<f64>().unwrap().to_vec();
        let by_x = conv2d_backprop_input(x.shape(), &f, &dy, &attrs, m).unwrap();
        let run = |v: &[f64]| conv2d(&tensor(&[2, 5, 5, 4], v), &f, &attrs, m).unwrap();
        near(&by_x, &numeric_gradient(&x.read::<f64>().unwrap(), &weights, run));
        let by_f = conv2d_backprop_filter(&x, f.shape(), &dy, &attrs, m).unwrap();
        let run = |v: &[f64]| conv2d(&x, &tensor(&[2, 3, ci, o], v), &attrs, m).unwrap();
        near(&by_f, &numeric_gradient(&f.read::<f64>().unwrap(), &weights, run));
        // The NCHW results are the transposed NHWC results.
        let other = Conv2dAttrs { format: ImageFormat::Nchw, ..attrs };
        let transposed = |t: &HostTensor| transpose(t, &[0, 3, 1, 2], m).unwrap();
        let back = |t: &HostTensor| transpose(t, &[0, 2, 3, 1], m).unwrap();
        near(&back(&conv2d(&transposed(&x), &f, &other, m).unwrap()), &y.read::<f64>().unwrap());
        let by_turned =
            conv2d_backprop_input(transposed(&x).shape(), &f, &transposed(&dy), &other, m).unwrap();
        near(&back(&by_turned), &by_x.read::<f64>().unwrap());
        let by_turned =
            conv2d_backprop_filter(&transposed(&x), f.shape(), &transposed(&dy), &other, m).unwrap();
        near(&by_turned, &by_f.read::<f64>().unwrap());
    }
}

#[test]
fn depthwise_convolutions_have_a_group_per_channel() {
    let m = &malloc();
    let attrs = Conv2dAttrs { padding: Padding::Same, ..Conv2dAttrs::default() };
    let (x, f) = (filled(&[1, 3, 3, 2]), filled(&[2, 2, 2, 3]));
    let y = depthwise_conv2d(&x, &f, &attrs, m).unwrap();
    assert_eq!(y.shape().dims(), [1, 3, 3, 6]);
    for channel in 0..2 {
        let of = |t: &HostTensor, axis: usize, size: &[i64]| {
            let mut begin = [0i64; 4];
            begin[axis] = if axis == 3 && size[3] == 3 { channel * 3 } else { channel };
            slice(t, &begin, size, m).unwrap()
        };
        let alone = conv2d(&of(&x, 3, &[-1, -1, -1, 1]), &of(&f, 2, &[-1, -1, 1, -1]), &attrs, m).unwrap();
        near(&of(&y, 3, &[-1, -1, -1, 3]), &alone.read::<f64>().unwrap());
    }
    let dy = filled(y.shape().dims());
    let weights = dy.read::<f64>().unwrap().to_vec();
    let by_x = depthwise_conv2d_backprop_input(x.shape(), &f, &dy, &attrs, m).unwrap();
    let run = |v: &[f64]| depthwise_conv2d(&tensor(&[1, 3, 3, 2], v), &f, &attrs, m).unwrap();
    near(&by_x, &numeric_gradient(&x.read::<f64>().unwrap(), &weights, run));
    let by_f = depthwise_conv2d_backprop_filter(&x, f.shape(), &dy, &attrs, m).unwrap();
    let run = |v: &[f64]| depthwise_conv2d(&x, &tensor(&[2, 2, 2, 3], v), &attrs, m).unwrap();
    near(&by_f, &numeric_gradient(&f.read::<f64>().unwrap(), &weights, run));
}

#[test]
fn convolutions_refuse_what_does_not_fit() {
    let m = &malloc();
    let (x, f) = (filled(&[1, 4, 4, 3]), filled(&[2, 2, 3, 1]));
    let empty = conv2d(&x, &filled(&[5, 1, 3, 1]), &Conv2dAttrs::default(), m).unwrap();
    assert_eq!(empty.shape().dims(), [1, 0, 4, 1]);
    refused(
        conv2d(&x, &filled(&[2, 2, 2, 1]), &Conv2dAttrs::default(), m),
        "`Conv2D`: the channels of images of shape [1, 4, 4, 3] (Nhwc) and of filters of shape [2, 2, 2, 1] do not fit",
    );
    refused(
        conv2d(&x, &filled(&[6, 1, 3, 1]), &Conv2dAttrs::default(), m),
        "`Conv2D`: a window of 6 with stride 1 and dilation 1 is larger than the image of shape [1, 4, 4, 3] with paddings (0, 0)",
    );
    let attrs =
        |strides, dilations, padding| Conv2dAttrs { strides, dilations, padding, format: ImageFormat::Nhwc };
    let most = usize::MAX;
    for attrs in [
        attrs((0, 1), (1, 1), Padding::Same),
        attrs((1, 1), (1, 0), Padding::Same),
        attrs((1, 1), (most, 1), Padding::Same),
        attrs((1, 1), (1, 1), Padding::Explicit([(most, most), (0, 0)])),
        attrs((1, 1), (1, 1), Padding::Explicit([(1 << 61, 0), (1 << 61, 0)])),
    ] {
        assert!(conv2d(&x, &f, &attrs, m).is_err(), "{attrs:?}");
        assert!(conv2d_backprop_input(x.shape(), &f, &x, &attrs, m).is_err(), "{attrs:?}");
    }
    let far = attrs((most, most), (1, 1), Padding::Same);
    assert_eq!(conv2d(&x, &f, &far, m).unwrap().shape().dims(), [1, 1, 1, 1]);
}

/// In-place addition gives the same bits as addition, for every dtype. A dtype without addition is refused
/// before the operand is copied.
#[test]
fn accumulation_is_addition() {
    let m = &malloc();
    for dtype in DType::ALL {
        let number = |x: &[f64]| cast(&vector(x), dtype, m).unwrap();
        let (a, b) = (number(&[0.1, 3.0, 65504.0, -7.5, 0.0]), number(&[0.3, -5.0, 17.0, 7.5, -0.0]));
        for op in [Binary::Add, Binary::Sub] {
            let mut sum = a.clone();
            match (accumulate(op, &mut sum, &b, m), binary(op, &a, &b, m)) {
                (Ok(()), Ok(want)) => assert_eq!(*sum.read_bytes().unwrap(), *want.read_bytes().unwrap()),
                (Err(error), Err(want)) => {
                    assert_eq!(error, want);
                    assert!(sum.shares_buffer(&a));
                }
                (got, want) => panic!("{op:?} of {dtype}: {got:?}, expected {want:?}"),
            }
        }
    }
    let mut x = vector(&[1.0f32]);
    refused(
        accumulate(Binary::Add, &mut x, &tensor(&[], &[1.0f32]), m),
        "`value` has shape [], expected [1]",
    );
    refused(accumulate(Binary::Add, &mut x, &vector(&[1i32]), m), "`value` has dtype i32, expected f32");
    assert!(accumulate(Binary::Mul, &mut x, &vector(&[1.0f32]), m).is_err());
}

#[test]
fn lists_are_values() {
    let m = &malloc();
    let open = PartialShape::from_i64(&[-1, 2]).unwrap();
    let (one, two) = (held(tensor(&[1, 2], &[1i32, 2])), held(tensor(&[1, 2], &[3i32, 4])));
    let list = TensorList::empty(DType::I32.into(), open.clone());
    let longer = list.clone().push_back(&one).unwrap().push_back(&two).unwrap();
    assert_eq!((list.len(), longer.len()), (0, 2));
    check(numbers(longer.stack(&PartialShape::unknown(), -1, m)), &[2, 1, 2], &[1i32, 2, 3, 4]);
    check(numbers(longer.get_item(1, &PartialShape::unknown(), m)), &[1, 2], &[3i32, 4]);
    let (joined, lengths) = longer.concat(&PartialShape::unknown(), &[], m).unwrap();
    check(numbers(Ok(joined)), &[2, 2], &[1i32, 2, 3, 4]);
    assert_eq!(lengths, [1, 1]);
    let (shorter, last) = longer.clone().pop_back(&PartialShape::unknown(), m).unwrap();
    check(numbers(Ok(last)), &[1, 2], &[3i32, 4]);
    assert_eq!(shorter.len(), 1);
    refused(
        list.clone().push_back(&held(vector(&[1i32]))),
        "`TensorListPushBack`: a tensor of shape [1] in a list of Some([-1, 2])",
    );
    assert!(list.clone().push_back(&held(tensor(&[1, 2], &[0i64; 2]))).is_err());
    refused(list.clone().pop_back(&open, m).map(|_| ()), "`TensorListPopBack`: the list is empty");
    refused(longer.get_item(2, &open, m), "`TensorListGetItem`: index 2 in a list of length 2");
    let known = PartialShape::from_i64(&[2]).unwrap();
    let reserved = TensorList::reserve(DType::I32.into(), known.clone(), 2).unwrap();
    let set = reserved.set_item(1, &held(vector(&[5i32, 6])), false).unwrap();
    check(numbers(set.stack(&known, 2, m)), &[2, 2], &[0i32, 0, 5, 6]);
    check(numbers(set.gather(&[1, 1], &known, m)), &[2, 2], &[5i32, 6, 5, 6]);
    assert!(
        set.stack(&known, 3, m).is_err()
            && set.clone().set_item(2, &held(vector(&[5i32, 6])), false).is_err()
    );
    assert_eq!(set.clone().set_item(3, &held(vector(&[5i32, 6])), true).unwrap().len(), 4);
    assert!(set.set_item(i64::MAX, &held(vector(&[5i32, 6])), true).is_err());
    assert!(TensorList::reserve(DType::I32.into(), open.clone(), i64::MAX).is_err());
    check(
        numbers(TensorList::empty(DType::I32.into(), known.clone()).stack(&known, -1, m)),
        &[0, 2],
        &[] as &[i32],
    );
    let rows = held(tensor(&[3, 2], &[1i32, 2, 3, 4, 5, 6]));
    check(
        numbers(TensorList::split(&rows, &open, &[1, 2], m).unwrap().get_item(1, &open, m)),
        &[2, 2],
        &[3i32, 4, 5, 6],
    );
    for lengths in [&[1i64, 1][..], &[2, 2], &[-1, 4], &[i64::MAX, 1]] {
        assert!(TensorList::split(&rows, &open, lengths, m).is_err(), "{lengths:?}");
    }
    assert_eq!(TensorList::from_tensor(&rows, &known, m).unwrap().len(), 3);
}

fn held(x: HostTensor) -> AnyTensor {
    x.into()
}

fn numbers(x: Result<AnyTensor, TensorError>) -> Result<HostTensor, TensorError> {
    Ok(x?.numbers().expect("numbers").clone())
}

/// The shapes and errors are those of TensorFlow 2.21.
#[test]
fn empty_slots_of_lists_are_zeros() {
    let m = &malloc();
    let shape = |dims: &[i64]| PartialShape::from_i64(dims).unwrap();
    let open = PartialShape::unknown();
    let list = |n: i64, element: &PartialShape, tensors: &[(i64, &[usize])]| {
        let list = TensorList::reserve(DType::F32.into(), element.clone(), n).unwrap();
        tensors.iter().fold(list, |list, &(i, dims)| {
            let ones = vec![1f32; dims.iter().product()];
            list.set_item(i, &held(tensor(dims, &ones)), false).unwrap()
        })
    };
    type Found<'f> = (&'f TensorList, &'f PartialShape, &'f [i64]);
    let joined = |(list, element, leading): Found<'_>, want: Option<(&[usize], &[i64])>| {
        let found = list.concat(element, leading, m).ok();
        let found = found.as_ref().map(|(x, lengths)| (x.shape().dims(), &lengths[..]));
        assert_eq!(found, want, "{list:?} {element} {leading:?}");
    };
    let (none, rows) = (list(0, &open, &[]), shape(&[-1, 3]));
    for element in [&rows, &shape(&[2, 3])] {
        joined((&list(0, element, &[]), &rows, &[]), Some((&[0, 3], &[])));
        joined((&list(0, element, &[]), &open, &[]), Some((&[0, 3], &[])));
    }
    joined((&none, &rows, &[]), Some((&[0, 3], &[])));
    joined((&none, &open, &[]), None);
    joined((&none, &shape(&[]), &[]), None);
    joined((&list(0, &shape(&[2, 4]), &[]), &rows, &[]), None);
    joined((&list(2, &shape(&[2, 3]), &[]), &rows, &[]), Some((&[4, 3], &[2, 2])));
    joined((&list(2, &shape(&[2, 3]), &[]), &rows, &[1, 5]), Some((&[6, 3], &[1, 5])));
    joined((&list(2, &rows, &[]), &rows, &[1, 2]), Some((&[3, 3], &[1, 2])));
    joined((&list(2, &rows, &[]), &rows, &[]), None);
    joined((&list(2, &rows, &[]), &rows, &[1, -1]), None);
    let one = list(3, &rows, &[(1, &[2, 3])]);
    joined((&one, &open, &[1, 5, 3]), Some((&[6, 3], &[1, 2, 3])));
    joined((&one, &open, &[]), Some((&[6, 3], &[2, 2, 2])));
    let differing = list(3, &rows, &[(0, &[2, 3]), (1, &[1, 3])]);
    joined((&differing, &open, &[]), None);
    joined((&differing, &open, &[0, 0, 4]), Some((&[7, 3], &[2, 1, 4])));
    joined((&differing, &shape(&[2, 3]), &[0, 0, 4]), None);
    joined((&list(2, &open, &[(0, &[2, 1]), (1, &[3, 2])]), &open, &[]), None);
    joined((&list(1, &open, &[(0, &[])]), &open, &[]), None);

    let item = |list: &TensorList, element: &PartialShape| {
        list.get_item(0, element, m).ok().map(|x| x.shape().dims().to_vec())
    };
    assert_eq!(item(&one, &open), Some(vec![2, 3]));
    assert_eq!(item(&one, &shape(&[3, 3])), Some(vec![3, 3]));
    assert_eq!(item(&one, &shape(&[3, -1])), Some(vec![3, 3]));
    let unknown = list(3, &open, &[(1, &[2, 2])]);
    assert_eq!(item(&unknown, &shape(&[3, -1])), None);
    assert_eq!(item(&list(3, &rows, &[(1, &[2, 3]), (2, &[1, 3])]), &open), None);
    assert!(unknown.stack(&shape(&[3, -1]), -1, m).is_err());
    check(numbers(unknown.gather(&[0, 1], &open, m)), &[2, 2, 2], &[0f32, 0., 0., 0., 1., 1., 1., 1.]);
    let both = unknown.clone().followed_by(&unknown).unwrap();
    assert_eq!((both.len(), item(&both, &open)), (6, Some(vec![2, 2])));
    assert!(one.clone().followed_by(&unknown).is_err(), "of another shape");
}

/// Lists of strings, with the results of TensorFlow 2.21.
#[test]
fn lists_of_strings() {
    let m = &malloc();
    let strings = |dims: &[usize], texts: &[&str]| {
        AnyTensor::from(StringTensor::new(Shape::new(dims).unwrap(), texts, m).unwrap())
    };
    let shown = |x: Result<AnyTensor, TensorError>| match x.unwrap() {
        AnyTensor::Strings(x) => {
            let read = x.read().unwrap();
            let texts: Vec<_> = read.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
            (x.shape().dims().to_vec(), texts.join(","))
        }
        AnyTensor::Numbers(x) => panic!("{x:?}"),
    };
    let (open, pairs) = (PartialShape::unknown(), PartialShape::from_i64(&[2]).unwrap());
    let list = TensorList::reserve(Type::String, pairs.clone(), 3).unwrap();
    let list = list.set_item(1, &strings(&[2], &["hi", "yo"]), false).unwrap();
    assert_eq!(shown(list.stack(&open, -1, m)), (vec![3, 2], ",,hi,yo,,".to_owned()));
    assert_eq!(shown(list.get_item(0, &open, m)), (vec![2], ",".to_owned()));
    assert_eq!(shown(list.gather(&[1, 1], &open, m)), (vec![2, 2], "hi,yo,hi,yo".to_owned()));
    let (joined, lengths) = list.concat(&open, &[], m).unwrap();
    assert_eq!((shown(Ok(joined)), lengths), ((vec![6], ",,hi,yo,,".to_owned()), vec![2, 2, 2]));
    let rows = strings(&[3, 1], &["a", "b", "c"]);
    let parts = TensorList::split(&rows, &open, &[1, 2], m).unwrap();
    assert_eq!(shown(parts.get_item(1, &open, m)), (vec![2, 1], "b,c".to_owned()));
    assert!(TensorList::split(&rows, &open, &[1, 3], m).is_err() && parts.stack(&open, -1, m).is_err());
    let rows = TensorList::from_tensor(&rows, &open, m).unwrap();
    let (rows, last) = rows.pop_back(&open, m).unwrap();
    assert_eq!((rows.len(), shown(Ok(last))), (2, (vec![1], "c".to_owned())));
    refused(rows.push_back(&held(vector(&[1i32]))), "`TensorListPushBack`: a tensor of i32, expected string");
    let many = StringTensor::new(Shape::new(&[1 << 40, 0]).unwrap(), &[] as &[&str], m).unwrap();
    assert!(AnyTensor::from(many).unpack(m).is_err());
}

#[test]
fn diagonals_bands_and_shapes() {
    let m = &malloc();
    let x = tensor(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    check(matrix_band_part(&x, 0, 1, m), &[2, 3], &[1i32, 2, 0, 0, 5, 6]);
    check(matrix_band_part(&x, -1, 0, m), &[2, 3], &[1i32, 0, 0, 4, 5, 0]);
    assert!(matrix_band_part(&x, 3, 0, m).is_err() && matrix_band_part(&vector(&[1i32]), 0, 0, m).is_err());
    let (main, zero) = (&Band::MAIN, &[0; 4]);
    check(matrix_diag_part(&x, main, zero, m), &[2], &[1i32, 5]);
    check(matrix_diag(&vector(&[7i32, 8]), main, [None; 2], zero, m), &[2, 2], &[7i32, 0, 0, 8]);
    check(matrix_set_diag(&x, &vector(&[9i32, 9]), main, m), &[2, 3], &[9i32, 2, 3, 4, 9, 6]);
    let right_left = &Band { lower: -1, upper: 2, above_left: false, below_left: true };
    let diagonals = tensor(&[4, 2], &[0i32, 3, 2, 6, 1, 5, 4, 0]);
    check(matrix_diag_part(&x, right_left, zero, m), &[4, 2], &[0i32, 3, 2, 6, 1, 5, 4, 0]);
    check(matrix_diag(&diagonals, right_left, [Some(2), Some(3)], zero, m), &[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    check(matrix_set_diag(&x, &diagonals, right_left, m), &[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    let below = &Band { lower: -1, upper: -1, ..Band::MAIN };
    check(matrix_diag(&vector(&[7i32]), below, [None; 2], &[9, 0, 0, 0], m), &[2, 2], &[9i32, 9, 7, 9]);
    assert!(matrix_diag(&vector(&[7i32]), below, [Some(1), None], zero, m).is_err());
    assert!(matrix_diag(&vector(&[7i32]), below, [None; 2], &[], m).is_err());
    assert!(matrix_diag_part(&x, &Band { lower: 0, upper: 3, ..Band::MAIN }, zero, m).is_err());
    check(diag_part(&diag(&x, m).unwrap(), m), &[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    assert!(diag_part(&x, m).is_err());
    check(invert_permutation(&vector(&[2i32, 0, 1]), m), &[3], &[1i32, 2, 0]);
    assert!(
        invert_permutation(&vector(&[0i32, 0]), m).is_err()
            && invert_permutation(&vector(&[2i32]), m).is_err()
    );
    check(size_of(&x, DType::I64, m), &[], &[6i64]);
    check(rank_of(&x, m), &[], &[2i32]);
    check(ones_like(&x, m), &[2, 3], &[1i32; 6]);
    let axes = |a: &[usize], b: &[usize]| broadcast_gradient_args(&shape(a), &shape(b)).unwrap();
    assert_eq!(axes(&[2, 3, 1], &[3, 5]), [vec![2], vec![0]]);
    assert_eq!(axes(&[1], &[1]), [vec![], vec![]]);
    assert_eq!(axes(&[1, 1], &[1]), [vec![0, 1], vec![0, 1]]);
    assert_eq!(axes(&[], &[2]), [vec![0], vec![]]);
    assert!(broadcast_gradient_args(&shape(&[2]), &shape(&[3])).is_err());
    check(mirror_pad_grad(&vector(&[1i32, 2, 3, 4, 5]), &[(1, 1)], PadMode::Reflect, m), &[3], &[2i32, 9, 4]);
    check(
        mirror_pad_grad(&vector(&[1i32, 2, 3, 4, 5]), &[(1, 1)], PadMode::Symmetric, m),
        &[3],
        &[3i32, 3, 9],
    );
    assert!(mirror_pad_grad(&vector(&[1i32]), &[(1, 1)], PadMode::Symmetric, m).is_err());
    let images = tensor(&[2, 2, 2], &[1i32, 2, 3, 4, 5, 6, 7, 8]);
    let at = tensor(&[2, 1], &[1i32, 0]);
    check(gather(&images, &at, 1, 1, m), &[2, 1, 2], &[3i32, 4, 5, 6]);
    check(gather(&images, &at, 2, -1, m), &[2, 2, 1], &[2i32, 4, 5, 7]);
    assert!(gather(&images, &at, 0, 1, m).is_err() && gather(&images, &vector(&[0i32]), 1, 1, m).is_err());
}

#[test]
fn running_logarithms_of_sums() {
    let m = &malloc();
    let x = vector(&[0.0f32, 2f32.ln(), f32::NEG_INFINITY]);
    let got = scan(Scan::CumulativeLogsumexp, &x, 0, false, false, m).unwrap();
    let got = got.read::<f32>().unwrap();
    assert!(got[0] == 0.0 && (got[1] - 3f32.ln()).abs() < 1e-6 && got[1] == got[2]);
    check(scan(Scan::CumulativeLogsumexp, &vector(&[1.0f32]), 0, true, false, m), &[1], &[f32::NEG_INFINITY]);
    let got =
        scan(Scan::CumulativeLogsumexp, &vector(&[f32::INFINITY, f32::NAN]), 0, false, false, m).unwrap();
    assert!(got.read::<f32>().unwrap()[1].is_nan());
    check(
        scan(Scan::CumulativeLogsumexp, &vector(&[f32::INFINITY; 2]), 0, false, true, m),
        &[2],
        &[f32::INFINITY; 2],
    );
    refused(
        scan(Scan::CumulativeLogsumexp, &vector(&[1i32]), 0, false, false, m),
        "`CumulativeLogsumexp` does not take elements of dtype i32",
    );
    check(reduce(Reduce::EuclideanNorm, &vector(&[3.0f32, -4.0]), &[0], false, m), &[], &[5.0f32]);
    let z = vector(&[Complex64 { re: 3.0, im: 4.0 }]);
    check(reduce(Reduce::EuclideanNorm, &z, &[0], false, m), &[], &[Complex64 { re: 5.0, im: 0.0 }]);
}

fn extents() -> impl Strategy<Value = usize> {
    0usize..5
}

proptest! {
    #[test]
    fn matrix_products_are_their_definition(
        dims in (extents(), extents(), extents()), turns in (any::<bool>(), any::<bool>()), values in prop::collection::vec(-9i64..9, 32),
    ) {
        let (rows, inner, cols) = dims;
        let m = &malloc();
        let transposed = |turn: bool| if turn { Transposition::Transpose } else { Transposition::None };
        let stored = |turn: bool, a: usize, b: usize| if turn { [b, a] } else { [a, b] };
        let (da, db) = (stored(turns.0, rows, inner), stored(turns.1, inner, cols));
        let (a, b) = (tensor(&da, &values[..rows * inner]), tensor(&db, &values[16..16 + inner * cols]));
        let at = |x: &[i64], turn: bool, d: [usize; 2], i: usize, j: usize| if turn { x[j * d[1] + i] } else { x[i * d[1] + j] };
        let mut want = Vec::new();
        for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
            want.push((0..inner).map(|k| at(&values, turns.0, da, i, k) * at(&values[16..], turns.1, db, k, j)).sum::<i64>());
        }
        let got = matmul(&a, transposed(turns.0), &b, transposed(turns.1), m).unwrap();
        prop_assert_eq!(got.shape().dims(), [rows, cols]);
        prop_assert_eq!(&*got.read::<i64>().unwrap(), &want[..]);
        let letters = |turn: bool, a: char, b: char| if turn { [b, a] } else { [a, b] }.iter().collect::<String>();
        let equation = format!("{},{}->ik", letters(turns.0, 'i', 'j'), letters(turns.1, 'j', 'k'));
        let by_labels = einsum(&equation, &[&a, &b], m).unwrap();
        prop_assert_eq!(&*by_labels.read::<i64>().unwrap(), &want[..]);
    }

    #[test]
    fn a_joined_tensor_splits_into_what_it_was(
        before in 0usize..3, after in 0usize..3, lengths in prop::collection::vec(0usize..4, 1..4),
    ) {
        let m = &malloc();
        let parts: Vec<HostTensor> = lengths.iter().map(|&n| filled(&[before, n, after])).collect();
        let joined = concat(&parts.iter().collect::<Vec<_>>(), 1, m).unwrap();
        let sizes: Vec<i64> = lengths.iter().map(|&n| n as i64).collect();
        for (part, again) in parts.iter().zip(split_v(&joined, &sizes, 1, m).unwrap()) {
            prop_assert_eq!(part.shape(), again.shape());
            prop_assert_eq!(&*part.read::<f64>().unwrap(), &*again.read::<f64>().unwrap());
        }
    }
}

/// The expected values are TensorFlow's.
#[test]
fn sequences_blocks_and_sorted_segments() {
    let m = &malloc();
    let x = tensor(&[3, 4], &(0..12).collect::<Vec<i32>>());
    let transposed = [0i32, 1, 2, 3, 5, 4, 6, 7, 11, 10, 9, 8];
    check(reverse_sequence(&x, &[0, 2, 4], 1, 0, m), &[3, 4], &transposed);
    check(reverse_sequence(&x, &[0, 2, 3, 1], 0, 1, m), &[3, 4], &[0i32, 5, 10, 3, 4, 1, 6, 7, 8, 9, 2, 11]);
    for (lengths, seq) in [(&[0i64, 2, 5][..], 1), (&[0, 2, -1], 1), (&[0, 2], 1), (&[0, 2, 1], 0)] {
        assert!(reverse_sequence(&x, lengths, seq, 0, m).is_err(), "{lengths:?}");
    }
    let image = tensor(&[1, 2, 3, 1], &[1i32, 2, 3, 4, 5, 6]);
    let batched = space_to_batch(&image, &[2, 2], &[(0, 0), (0, 1)], m);
    check(batched, &[4, 1, 2, 1], &[1i32, 3, 2, 0, 4, 6, 5, 0]);
    let batched = tensor(&[4, 1, 2, 1], &[1i32, 3, 2, 0, 4, 6, 5, 0]);
    check(batch_to_space(&batched, &[2, 2], &[(0, 0), (0, 1)], m), &[1, 2, 3, 1], &[1i32, 2, 3, 4, 5, 6]);
    assert!(space_to_batch(&image, &[2, 2], &[(0, 0), (0, 0)], m).is_err());
    assert!(batch_to_space(&batched, &[2, 2], &[(0, 0), (3, 2)], m).is_err());

    let (data, ids) = (vector(&[1.0f32, 2.0, 4.0]), vector(&[0i32, 0, 3]));
    check(segment(SortedSegment::Sum, &data, &ids, m), &[4], &[3.0f32, 0.0, 0.0, 4.0]);
    check(segment(SortedSegment::Prod, &data, &ids, m), &[4], &[2.0f32, 1.0, 1.0, 4.0]);
    check(segment(SortedSegment::Mean, &data, &ids, m), &[4], &[1.5f32, 0.0, 0.0, 4.0]);
    check(segment(SortedSegment::Min, &data, &ids, m), &[4], &[1.0f32, 0.0, 0.0, 4.0]);
    for ids in [&[-1i32, 0, 1][..], &[1, 0, 2], &[0, 1]] {
        assert!(segment(SortedSegment::Max, &data, &vector(ids), m).is_err(), "{ids:?}");
    }
}

/// The expected values are TensorFlow's.
#[test]
fn extremes_means_and_casts_at_the_edge() {
    let m = &malloc();
    let x = tensor(&[2, 3], &[1.0f32, f32::NAN, 3.0, f32::NAN, 2.0, 1.0]);
    check(arg_extreme(true, &x, 1, DType::I64, m), &[2], &[2i64, 1]);
    check(arg_extreme(false, &x, 1, DType::I64, m), &[2], &[0i64, 2]);
    check(arg_extreme(true, &vector(&[f32::NAN; 2]), 0, DType::I32, m), &[], &[0i32]);
    // The largest index is the length minus 1.
    check(arg_extreme(true, &vector(&[0u8; 1 << 15]), 0, DType::I16, m), &[], &[0i16]);
    assert!(arg_extreme(true, &vector(&[0u8; (1 << 15) + 1]), 0, DType::I16, m).is_err());
    check(arg_extreme(true, &vector(&[I1::FALSE, I1::TRUE]), 0, DType::I32, m), &[], &[1i32]);
    check(reduce(Reduce::Mean, &vector(&[200u8, 100]), &[0], false, m), &[], &[150u8]);
    check(reduce(Reduce::Mean, &vector(&[i64::MAX; 4]), &[0], false, m), &[], &[-1i64]);
    check(reduce(Reduce::EuclideanNorm, &vector(&[1i32, 2, 3]), &[0], false, m), &[], &[3i32]);
    check(cast(&vector(&[1e10f32, f32::NAN, -2.9]), DType::I32, m), &[3], &[i32::MIN, i32::MIN, -2]);
    check(cast_truncated(&vector(&[1.2345678f32]), DType::BF16, m), &[1], &[half::bf16::from_f32(1.234375)]);
    check(bitcast(&vector(&[1.0f32]), DType::UI8), &[1, 4], &[0u8, 0, 0x80, 0x3f]);
    check(bitcast(&tensor(&[1, 4], &[0u8, 0, 0x80, 0x3f]), DType::F32), &[1], &[1.0f32]);
    assert!(bitcast(&vector(&[0u8, 1]), DType::F32).is_err());
    let rows = tensor(&[3, 2], &[1i32, 2, 3, 4, 1, 2]);
    let [values, places, counts] = unique(&rows, Some(0), DType::I32, m).unwrap();
    check(Ok(values), &[2, 2], &[1i32, 2, 3, 4]);
    check(Ok(places), &[3], &[0i32, 1, 0]);
    check(Ok(counts), &[2], &[2i32, 1]);
    let columns = tensor(&[2, 3], &[1i32, 2, 1, 3, 4, 3]);
    check(unique(&columns, Some(1), DType::I32, m).map(|[values, ..]| values), &[2, 2], &[1i32, 2, 3, 4]);
    let nan = vector(&[f32::NAN]);
    let [kept, _] = list_diff(&nan, &nan, DType::I32, m).unwrap();
    assert_eq!(kept.num_elements(), 1, "NaN equals nothing");
    let [values, places] = list_diff(&vector(&[1i32, 2, 3, 2]), &vector(&[3i32]), DType::I32, m).unwrap();
    check(Ok(values), &[3], &[1i32, 2, 2]);
    check(Ok(places), &[3], &[0i32, 1, 3]);
    let whole = gather_nd(&vector(&[1i32, 2]), &HostTensor::zeros(DType::I32, shape(&[2, 0]), m).unwrap(), m);
    check(whole, &[2, 2], &[1i32, 2, 1, 2]);
}
