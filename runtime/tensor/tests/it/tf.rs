//! Tests with hand-checked values, mostly from TensorFlow's documentation, and with short formulas.

mod formulas;
pub(crate) mod hostile;
mod layers;
mod truth;

use std::sync::Arc;

use proptest::prelude::*;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::*;
use befrost_tensor::{Complex64, Complex128, DType, Element, HostTensor, I1, Shape, TensorError, bf16, f16};

pub(crate) fn tensor<T: Element>(dims: &[usize], values: &[T]) -> HostTensor {
    HostTensor::from_slice(Shape::new(dims).unwrap(), values, &malloc()).unwrap()
}

pub(crate) fn vector<T: Element>(values: &[T]) -> HostTensor {
    tensor(&[values.len()], values)
}

pub(crate) fn malloc() -> Arc<dyn Allocator> {
    Malloc::shared()
}

#[track_caller]
pub(crate) fn check<T: Element>(got: Result<HostTensor, TensorError>, dims: &[usize], want: &[T]) {
    let got = got.unwrap();
    assert_eq!(got.shape().dims(), dims);
    assert_eq!(*got.read::<T>().unwrap(), *want);
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(got: Result<T, TensorError>, message: &str) {
    assert_eq!(got.unwrap_err().to_string(), message);
}

fn bools(values: &[bool]) -> Vec<I1> {
    values.iter().map(|&b| b.into()).collect()
}

#[test]
fn unary_functions_of_each_kind() {
    let m = &malloc();
    check(unary(Unary::Abs, &vector(&[i8::MIN, -3, 4]), m), &[3], &[i8::MIN, 3, 4]);
    check(unary(Unary::Neg, &vector(&[1u8, 0]), m), &[2], &[255u8, 0]);
    check(unary(Unary::Round, &vector(&[0.5f32, 1.5, -2.5]), m), &[3], &[0.0f32, 2.0, -2.0]);
    check(unary(Unary::Relu6, &vector(&[f16::from_f32(7.0)]), m), &[1], &[f16::from_f32(6.0)]);
    check(unary(Unary::Sqrt, &vector(&[bf16::from_f32(4.0)]), m), &[1], &[bf16::from_f32(2.0)]);
    check(unary(Unary::LogicalNot, &vector(&bools(&[true, false])), m), &[2], &bools(&[false, true]));
    check(unary(Unary::Invert, &vector(&[0u16, 5]), m), &[2], &[65535u16, 65530]);
    let i = Complex64 { re: 0.0, im: 1.0 };
    check(unary(Unary::Square, &vector(&[i]), m), &[1], &[Complex64 { re: -1.0, im: 0.0 }]);
    let erf = unary(Unary::Erf, &vector(&[0.5f64]), m).unwrap();
    assert!((erf.read::<f64>().unwrap()[0] - 0.520_499_877_813_046_5).abs() < 1e-15);
    let digamma = unary(Unary::Digamma, &vector(&[1.0f64, 0.5, -0.5]), m).unwrap();
    for (got, want) in digamma.read::<f64>().unwrap().iter().zip([
        -0.577_215_664_901_532_9,
        -1.963_510_026_021_423_5,
        0.036_489_973_978_576_52,
    ]) {
        assert!((got - want).abs() < 1e-13, "{got} {want}");
    }
    refused(unary(Unary::Exp, &vector(&[1i32]), m), "`Exp` does not take elements of dtype i32");
    check(leaky_relu(&vector(&[-10.0f32, 2.0]), 0.5, m), &[2], &[-5.0f32, 2.0]);
    check(test(Test::IsFinite, &vector(&[f32::NAN, 1.0]), m), &[2], &bools(&[false, true]));
}

#[test]
fn division_and_its_relatives() {
    let m = &malloc();
    let (a, b) = (vector(&[7i32, -7, 7, -7, i32::MIN]), vector(&[3i32, 3, -3, -3, -1]));
    check(binary(Binary::FloorDiv, &a, &b, m), &[5], &[2, -3, -3, 2, i32::MIN]);
    check(binary(Binary::FloorMod, &a, &b, m), &[5], &[1, 2, -2, -1, 0]);
    check(binary(Binary::TruncateDiv, &a, &b, m), &[5], &[2, -2, -2, 2, i32::MIN]);
    check(binary(Binary::TruncateMod, &a, &b, m), &[5], &[1, -1, 1, -1, 0]);
    let (x, y) = (vector(&[-5.5f32, 5.5]), vector(&[2.0f32, -2.0]));
    check(binary(Binary::FloorMod, &x, &y, m), &[2], &[0.5f32, -0.5]);
    check(binary(Binary::FloorDiv, &x, &y, m), &[2], &[-3.0f32, -3.0]);
    check(binary(Binary::DivNoNan, &x, &vector(&[0.0f32]), m), &[2], &[0.0f32, 0.0]);
    refused(
        binary(Binary::FloorMod, &a, &vector(&[0i32]), m),
        "`FloorMod`: an integer divided by zero: element [0] of `b` of shape [1]",
    );
    check(binary(Binary::Div, &tensor::<i32>(&[0], &[]), &vector(&[0i32]), m), &[0], &[] as &[i32]);
    check(binary(Binary::Pow, &vector(&[3i64, -2]), &vector(&[2i64, 63]), m), &[2], &[9, i64::MIN]);
    refused(
        binary(Binary::Pow, &vector(&[3i64]), &vector(&[-1i64]), m),
        "`Pow`: a negative power of an integer: element [0] of `b` of shape [1]",
    );
}

#[test]
fn comparisons_selection_and_bits() {
    let m = &malloc();
    let (a, b) = (vector(&[f32::NAN, 1.0, 2.0]), vector(&[f32::NAN, 1.0, 1.0]));
    check(compare(Compare::Equal, &a, &b, m), &[3], &bools(&[false, true, false]));
    check(compare(Compare::NotEqual, &a, &b, m), &[3], &bools(&[true, false, true]));
    check(compare(Compare::GreaterEqual, &a, &b, m), &[3], &bools(&[false, true, true]));
    let largest = binary(Binary::Maximum, &a, &vector(&[1.0f32, f32::NAN, 3.0]), m).unwrap();
    let largest = largest.read::<f32>().unwrap();
    assert!(largest[0].is_nan() && largest[1].is_nan() && largest[2] == 3.0);
    check(binary(Binary::LeftShift, &vector(&[1i8, 1]), &vector(&[100i8, -5]), m), &[2], &[i8::MIN, 1]);
    check(binary(Binary::RightShift, &vector(&[-8i8]), &vector(&[1i8]), m), &[1], &[-4i8]);
    let c = tensor(&[2, 1], &bools(&[true, false]));
    check(select(&c, &vector(&[1i16, 2]), &tensor(&[], &[9i16]), m), &[2, 2], &[1i16, 2, 9, 9]);
    refused(
        binary(Binary::Add, &tensor(&[2, 3], &[0i32; 6]), &vector(&[0i32; 2]), m),
        "shapes [2, 3] and [2] cannot be broadcast together",
    );
    let huge = HostTensor::zeros(DType::F32, Shape::new(&[0, 1 << 40, 1]).unwrap(), m).unwrap();
    let wide = HostTensor::zeros(DType::F32, Shape::new(&[1, 1, 0, 1 << 40]).unwrap(), m).unwrap();
    refused(
        binary(Binary::Add, &huge, &wide, m),
        "shapes [0, 1099511627776, 1] and [1, 1, 0, 1099511627776] cannot be broadcast together",
    );
}

#[test]
fn casts() {
    let m = &malloc();
    check(cast(&vector(&[1.9f32, -1.9, 300.0, f32::NAN]), DType::I8, m), &[4], &[1i8, -1, 127, -128]);
    check(cast(&vector(&[-1i64, 1 << 40]), DType::UI8, m), &[2], &[255u8, 0]);
    check(cast(&vector(&[0.5f32, 0.0]), DType::I1, m), &[2], &bools(&[true, false]));
    check(cast(&vector(&bools(&[true])), DType::F64, m), &[1], &[1.0f64]);
    check(bitcast(&vector(&[1.0f32]), DType::UI32), &[1], &[0x3f80_0000u32]);
    assert!(bitcast(&vector(&[1.0f32]), DType::F64).is_err());
}

proptest! {
    #[test]
    fn f32_arithmetic_is_the_machines(pairs in prop::collection::vec((any::<f32>(), any::<f32>()), 1..50)) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
        type Formula = (Binary, fn(f32, f32) -> f32);
        let formulas: [Formula; 4] = [
            (Binary::Add, |a, b| a + b), (Binary::Sub, |a, b| a - b), (Binary::Mul, |a, b| a * b), (Binary::RealDiv, |a, b| a / b),
        ];
        for (op, formula) in formulas {
            let got = binary(op, &vector(&a), &vector(&b), &malloc()).unwrap();
            for ((got, &a), &b) in got.read::<f32>().unwrap().iter().zip(&a).zip(&b) {
                let want = formula(a, b);
                prop_assert!(got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()), "{op:?} {a} {b}: {got} {want}");
            }
        }
    }

    #[test]
    fn broadcasting_repeats(rows in 0usize..5, cols in 0usize..5, seed in any::<i32>()) {
        let column: Vec<i32> = (0..rows as i32).map(|i| seed.wrapping_mul(i + 3)).collect();
        let row: Vec<i32> = (0..cols as i32).map(|i| seed.wrapping_add(i)).collect();
        let got = binary(Binary::Sub, &tensor(&[rows, 1], &column), &vector(&row), &malloc()).unwrap();
        let want: Vec<i32> = column.iter().flat_map(|c| row.iter().map(move |r| c.wrapping_sub(*r))).collect();
        prop_assert_eq!(got.shape().dims(), &[rows, cols]);
        prop_assert_eq!(&*got.read::<i32>().unwrap(), &want[..]);
    }
}

#[test]
fn shapes_change() {
    let m = &malloc();
    let x = tensor(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    check(reshape(&x, &[3, -1]), &[3, 2], &[1i32, 2, 3, 4, 5, 6]);
    refused(reshape(&x, &[4, -1]), "`Reshape`: shape [2, 3] with 6 elements cannot become [4, -1]");
    refused(reshape(&x, &[-1, -1]), "dimension 1 of the shape is -1");
    assert!(reshape(&x, &[i64::MAX, i64::MAX]).is_err());
    check(transpose(&x, &[1, 0], m), &[3, 2], &[1i32, 4, 2, 5, 3, 6]);
    refused(transpose(&x, &[0], m), "`Transpose`: [0] is no permutation of the axes of shape [2, 3]");
    refused(transpose(&x, &[0, 0], m), "`Transpose`: axis 0 of shape [2, 3] is named twice in [0, 0]");
    assert_eq!(expand_dims(&x, -1).unwrap().shape().dims(), [2, 3, 1]);
    assert!(expand_dims(&x, i64::MIN).is_err());
    assert_eq!(squeeze(&tensor(&[1, 2, 1], &[0u8; 2]), &[-1]).unwrap().shape().dims(), [1, 2]);
    refused(squeeze(&x, &[0]), "`Squeeze`: axis 0 of shape [2, 3] is not 1 long");
    check(tile(&x, &[1, 2], m), &[2, 6], &[1i32, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
    assert!(tile(&x, &[-1, 2], m).is_err() && tile(&x, &[i64::MAX, i64::MAX], m).is_err());
    check(reverse(&x, &[1], m), &[2, 3], &[3i32, 2, 1, 6, 5, 4]);
    check(roll(&vector(&[0i32, 1, 2, 3, 4]), &[2], &[0], m), &[5], &[3i32, 4, 0, 1, 2]);
    check(roll(&x, &[-2, i64::MAX], &[0, 1], m), &[2, 3], &[3i32, 1, 2, 6, 4, 5]);
    check(broadcast_to(&vector(&[1i32, 2]), &Shape::new(&[2, 2]).unwrap(), m), &[2, 2], &[1i32, 2, 1, 2]);
    let image = tensor(&[1, 2, 2, 1], &[1i32, 2, 3, 4]);
    check(space_to_depth(&image, 2, m), &[1, 1, 1, 4], &[1i32, 2, 3, 4]);
    check(depth_to_space(&space_to_depth(&image, 2, m).unwrap(), 2, m), &[1, 2, 2, 1], &[1i32, 2, 3, 4]);
    assert!(depth_to_space(&image, usize::MAX, m).is_err());
}

#[test]
fn joins_and_cuts() {
    let m = &malloc();
    let (x, y) = (tensor(&[2, 2], &[1i32, 2, 3, 4]), tensor(&[2, 1], &[5i32, 6]));
    check(concat(&[&x, &y], 1, m), &[2, 3], &[1i32, 2, 5, 3, 4, 6]);
    check(concat(&[&x, &tensor::<i32>(&[2, 0], &[])], -1, m), &[2, 2], &[1i32, 2, 3, 4]);
    refused(concat(&[&x, &y], 0, m), "`ConcatV2`: shapes [2, 2] and [2, 1] differ beyond axis 0");
    check(pack(&[&vector(&[1i32, 4]), &vector(&[2i32, 5])], 1, m), &[2, 2], &[1i32, 2, 4, 5]);
    check(pack(&[&vector(&[1i32, 4]), &vector(&[2i32, 5])], -1, m), &[2, 2], &[1i32, 2, 4, 5]);
    check(Ok(unpack(&x, 1, m).unwrap()[1].clone()), &[2], &[2i32, 4]);
    check(Ok(split(&x, 2, 0, m).unwrap()[1].clone()), &[1, 2], &[3i32, 4]);
    assert!(split(&x, 3, 0, m).is_err() && split(&x, 0, 0, m).is_err());
    check(Ok(split_v(&vector(&[1i32, 2, 3]), &[1, -1], 0, m).unwrap()[1].clone()), &[2], &[2i32, 3]);
    assert!(split_v(&x, &[i64::MAX, i64::MAX], 0, m).is_err() && split_v(&x, &[-2, 4], 0, m).is_err());
    check(slice(&x, &[0, 1], &[-1, 1], m), &[2, 1], &[2i32, 4]);
    refused(slice(&x, &[0, 3], &[1, 1], m), "`Slice`: begin [0, 3] and size [1, 1] do not fit shape [2, 2]");
}

#[test]
fn strided_slices_are_pythons() {
    let m = &malloc();
    let x = vector(&[0i32, 1, 2, 3, 4, 5]);
    let cut =
        |b, e, s, masks| strided_slice(&x, &SliceRange { begin: &[b], end: &[e], strides: &[s], masks }, m);
    let none = SliceMasks::default();
    check(cut(1, -1, 2, none), &[2], &[1i32, 3]);
    check(cut(-1, -100, -2, none), &[3], &[5i32, 3, 1]);
    check(cut(0, 0, -1, SliceMasks { begin: 1, end: 1, ..none }), &[6], &[5i32, 4, 3, 2, 1, 0]);
    check(cut(-2, 0, 1, SliceMasks { shrink_axis: 1, ..none }), &[], &[4i32]);
    check(cut(i64::MIN, i64::MAX, i64::MAX, none), &[1], &[0i32]);
    check(cut(i64::MAX, i64::MIN, i64::MIN, none), &[1], &[5i32]);
    check(cut(4, 2, 1, none), &[0], &[] as &[i32]);
    refused(cut(0, 1, 0, none), "`StridedSlice`: a stride of 0: [[0], [1], [0]) of shape [6]");
    assert!(cut(6, 0, 1, SliceMasks { shrink_axis: 1, ..none }).is_err());
    // x[..., newaxis, 1]
    let y = tensor(&[2, 1, 2], &[1i32, 2, 3, 4]);
    let masks = SliceMasks { ellipsis: 1, new_axis: 2, shrink_axis: 4, ..none };
    let range = SliceRange { begin: &[0, 0, 1], end: &[0, 0, 2], strides: &[1, 1, 1], masks };
    check(strided_slice(&y, &range, m), &[2, 1, 1], &[2i32, 4]);
    let dy = tensor(&[2, 1, 1], &[7i32, 8]);
    check(strided_slice_grad(y.shape(), &range, &dy, m), &[2, 1, 2], &[0i32, 7, 0, 8]);
    check(tensor_strided_slice_update(&y, &range, &dy, m), &[2, 1, 2], &[1i32, 7, 3, 8]);
}

#[test]
fn pads() {
    let m = &malloc();
    let x = tensor(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    let reflected = [6i32, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1];
    check(pad(&x, &[(1, 1), (2, 2)], PadMode::Reflect, m), &[4, 7], &reflected);
    let symmetric = [2i32, 1, 1, 2, 3, 3, 2, 2, 1, 1, 2, 3, 3, 2, 5, 4, 4, 5, 6, 6, 5, 5, 4, 4, 5, 6, 6, 5];
    check(pad(&x, &[(1, 1), (2, 2)], PadMode::Symmetric, m), &[4, 7], &symmetric);
    check(pad(&vector(&[7i32]), &[(1, 2)], PadMode::Constant(&[]), m), &[4], &[0i32, 7, 0, 0]);
    check(pad(&vector::<i8>(&[]), &[(1, 1)], PadMode::Constant(&[9]), m), &[2], &[9i8, 9]);
    refused(
        pad(&x, &[(0, 0), (3, 0)], PadMode::Reflect, m),
        "`Pad`: paddings [(0, 0), (3, 0)] do not fit shape [2, 3]",
    );
    assert!(pad(&x, &[(0, 0), (i64::MAX, i64::MAX)], PadMode::Constant(&[]), m).is_err());
}

#[test]
fn gathers_and_scatters() {
    let m = &malloc();
    let x = tensor(&[3, 2], &[1i32, 2, 3, 4, 5, 6]);
    check(gather(&x, &vector(&[2i64, 0]), 0, 0, m), &[2, 2], &[5i32, 6, 1, 2]);
    check(gather(&x, &tensor(&[], &[1i32]), 1, 0, m), &[3], &[2i32, 4, 6]);
    refused(
        gather(&x, &vector(&[0i32, 3]), 0, 0, m),
        "`GatherV2`: indices[1] = 3 is not in [0, 3) of shape [3, 2]",
    );
    check(gather_nd(&x, &tensor(&[2, 2], &[0i32, 1, 2, 0]), m), &[2], &[2i32, 5]);
    check(gather_nd(&x, &tensor(&[1, 1], &[1i32]), m), &[1, 2], &[3i32, 4]);
    refused(
        gather_nd(&x, &tensor(&[1, 1], &[-1i32]), m),
        "`GatherNd`: indices [-1] are out of range of shape [3, 2]",
    );
    let at = tensor(&[4, 1], &[4i32, 3, 1, 7]);
    let eight = Shape::new(&[8]).unwrap();
    check(scatter_nd(&at, &vector(&[9i32, 10, 11, 12]), &eight, m), &[8], &[0i32, 11, 0, 10, 9, 0, 0, 12]);
    let twice = tensor(&[2, 1], &[1i32, 1]);
    check(
        tensor_scatter(Scatter::Max, &vector(&[0i32, 5]), &twice, &vector(&[3i32, 8]), m),
        &[2],
        &[0i32, 8],
    );
    check(unsorted_segment(Segment::Sum, &x, &vector(&[1i32, -1, 1]), 2, m), &[2, 2], &[0i32, 0, 6, 8]);
    assert!(unsorted_segment(Segment::Sum, &x, &vector(&[2i32, 0, 0]), 2, m).is_err());
    let (on, off) = (tensor(&[], &[5.0f32]), tensor(&[], &[0.0f32]));
    check(
        one_hot(&vector(&[0i32, 2, -1]), 3, &on, &off, -1, m),
        &[3, 3],
        &[5.0f32, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0],
    );
    check(one_hot(&vector(&[1i32, 0]), 2, &on, &off, 0, m), &[2, 2], &[0.0f32, 5.0, 5.0, 0.0]);
    check(where_true(&tensor(&[2, 2], &[1i32, 0, 0, 1]), m), &[2, 2], &[0i64, 0, 1, 1]);
    let [values, places, counts] =
        unique(&vector(&[1i32, 1, 2, 4, 4, 4, 7, 8, 8]), None, DType::I32, m).unwrap();
    check(Ok(values), &[5], &[1i32, 2, 4, 7, 8]);
    check(Ok(places), &[9], &[0i32, 0, 1, 2, 2, 2, 3, 4, 4]);
    check(Ok(counts), &[5], &[2i32, 1, 3, 1, 2]);
}

#[test]
fn segments_and_stitches() {
    let m = &malloc();
    let (x, ids) = (tensor(&[3, 2], &[1i32, 2, 3, 4, 5, 6]), vector(&[1i32, -1, 1]));
    check(unsorted_segment(Segment::Prod, &x, &ids, 2, m), &[2, 2], &[1i32, 1, 5, 12]);
    check(unsorted_segment(Segment::Max, &x, &ids, 2, m), &[2, 2], &[i32::MIN, i32::MIN, 5, 6]);
    check(unsorted_segment(Segment::Min, &x, &ids, 2, m), &[2, 2], &[i32::MAX, i32::MAX, 1, 2]);
    let (a, b) = (vector(&[0i32, 3]), tensor(&[], &[1i32]));
    let (rows, row) = (tensor(&[2, 2], &[1i32, 2, 3, 4]), vector(&[7i32, 8]));
    check(dynamic_stitch(&[&a, &b], &[&rows, &row], m), &[4, 2], &[1i32, 2, 7, 8, 0, 0, 3, 4]);
    assert!(dynamic_stitch(&[&a, &b], &[&rows, &rows], m).is_err() && dynamic_stitch(&[], &[], m).is_err());
    let c = vector(&bools(&[true, false]));
    check(select_slices(&c, &rows, &tensor(&[2, 2], &[0i32; 4]), m), &[2, 2], &[1i32, 2, 0, 0]);
    assert!(select_slices(&vector(&bools(&[true; 3])), &rows, &rows, m).is_err());
}

#[test]
fn complex_functions_are_inverses_and_quotients() {
    let m = &malloc();
    let z = vector(&[
        Complex128 { re: 0.5, im: 0.25 },
        Complex128 { re: -1.5, im: 0.75 },
        Complex128 { re: 2.0, im: -0.5 },
        Complex128 { re: 1e-9, im: 1e-9 },
    ]);
    let of = |op, x: &HostTensor| unary(op, x, m).unwrap();
    let near = |a: &HostTensor, b: &HostTensor, what: &str| {
        for (a, b) in a.read::<Complex128>().unwrap().iter().zip(b.read::<Complex128>().unwrap().iter()) {
            let error = (a.re - b.re).hypot(a.im - b.im);
            assert!(error <= 1e-13 * (b.re.hypot(b.im) + 1e-6), "{what}: {a:?} {b:?}");
        }
    };
    for (back, there) in [
        (Unary::Sin, Unary::Asin),
        (Unary::Cos, Unary::Acos),
        (Unary::Tan, Unary::Atan),
        (Unary::Sinh, Unary::Asinh),
        (Unary::Cosh, Unary::Acosh),
        (Unary::Tanh, Unary::Atanh),
        (Unary::Exp, Unary::Log),
        (Unary::Expm1, Unary::Log1p),
        (Unary::Square, Unary::Sqrt),
    ] {
        let tolerant = matches!(back, Unary::Cos | Unary::Cosh); // not compared: near 0 the inverse loses digits
        let there = of(there, &z);
        if !tolerant {
            near(&of(back, &there), &z, back.name());
        }
    }
    let quotient = binary(Binary::RealDiv, &of(Unary::Sinh, &z), &of(Unary::Cosh, &z), m).unwrap();
    near(&of(Unary::Tanh, &z), &quotient, "tanh");
    let (re, im) = (part(Part::Real, &z, m).unwrap(), part(Part::Imag, &z, m).unwrap());
    near(&complex(&re, &im, m).unwrap(), &z, "parts");
    check(part(Part::ComplexAbs, &vector(&[Complex64 { re: 3.0, im: 4.0 }]), m), &[1], &[5.0f32]);
    refused(part(Part::Real, &re, m), "`Real` does not take elements of dtype f64");
}

#[test]
fn the_rarer_functions() {
    let m = &malloc();
    for x in [-3.5f64, -1.0, -0.3, -1e-9, 0.0, 1e-20, 0.47, 0.5, 1.0, 2.5, 4.0] {
        let back = |op, y: f64| unary(op, &vector(&[y]), m).unwrap().read::<f64>().unwrap()[0];
        let erf = back(Unary::Erf, x);
        let tolerance = 1e-14 * x.abs() + 1e-16 / (-x * x).exp();
        assert!((back(Unary::Erfinv, erf) - x).abs() <= tolerance, "{x} {}", back(Unary::Erfinv, erf));
        let p = back(Unary::Erfc, x) / 2.0;
        let tolerance = 1e-13 * x.abs() + 1e-15 / if x < 0.0 { (-x * x).exp() } else { 1.0 };
        assert!((back(Unary::Ndtri, p) + x * 2f64.sqrt()).abs() <= tolerance, "{x}");
    }
    let ends = unary(Unary::Erfinv, &vector(&[1.0f64, -1.0, 1.5, f64::NAN]), m).unwrap();
    let ends = ends.read::<f64>().unwrap();
    assert!(ends[0] == f64::INFINITY && ends[1] == f64::NEG_INFINITY && ends[2].is_nan() && ends[3].is_nan());
    check(population_count(&vector(&[-1i8, 7, 0]), m), &[3], &[8u8, 3, 0]);
    refused(population_count(&vector(&[1.0f32]), m), "`PopulationCount` does not take elements of dtype f32");
    let up = next_after(&vector(&[1.0f32, 1.0, 0.0]), &vector(&[2.0f32, 1.0, -1.0]), m);
    check(up, &[3], &[1.000_000_1f32, 1.0, -1e-45]);
    let (low, high) = (tensor(&[], &[0i32]), vector(&[1i32, 2, 3]));
    check(clip_by_value(&vector(&[-5i32, 5, 2]), &low, &high, m), &[3], &[0i32, 2, 2]);
    check(l2_loss(&vector(&[3.0f32, 4.0]), m), &[], &[12.5f32]);
}

#[test]
fn tensors_out_of_numbers() {
    let m = &malloc();
    let scalar = |x: i32| tensor(&[], &[x]);
    check(range(&scalar(3), &scalar(18), &scalar(3), m), &[5], &[3i32, 6, 9, 12, 15]);
    check(range(&scalar(3), &scalar(1), &scalar(-2), m), &[1], &[3i32]);
    refused(range(&scalar(0), &scalar(5), &scalar(0), m), "`Range`: delta is 0");
    assert!(range(&scalar(0), &scalar(5), &scalar(-1), m).is_err());
    check(lin_space(&tensor(&[], &[10.0f32]), &tensor(&[], &[12.0f32]), 3, m), &[3], &[10.0f32, 11.0, 12.0]);
    check(eye(2, 3, DType::I8, m), &[2, 3], &[1i8, 0, 0, 0, 1, 0]);
    check(diag(&vector(&[1i32, 2]), m), &[2, 2], &[1i32, 0, 0, 2]);
    check(shape_of(&tensor(&[2, 0], &[0u8; 0]), DType::I64, m), &[2], &[2i64, 0]);
    check(fill(Shape::new(&[2]).unwrap(), &scalar(7), m), &[2], &[7i32, 7]);
}

#[test]
fn reductions_and_scans() {
    let m = &malloc();
    let x = tensor(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(reduce(Reduce::Sum, &x, &[0], false, m), &[3], &[5.0f32, 7.0, 9.0]);
    check(reduce(Reduce::Mean, &x, &[-1], true, m), &[2, 1], &[2.0f32, 5.0]);
    check(reduce(Reduce::Max, &x, &[0, 1], false, m), &[], &[6.0f32]);
    check(reduce(Reduce::Prod, &x, &[], false, m), &[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(reduce(Reduce::Mean, &vector(&[1i32, 4]), &[0], false, m), &[], &[2i32]);
    check(reduce(Reduce::Mean, &vector(&[100i8, 100]), &[0], false, m), &[], &[100i8]);
    let empty = tensor::<i8>(&[0, 2], &[]);
    check(reduce(Reduce::Max, &empty, &[0], false, m), &[2], &[i8::MIN; 2]);
    check(reduce(Reduce::Min, &empty, &[0], false, m), &[2], &[i8::MAX; 2]);
    check(reduce(Reduce::All, &tensor::<I1>(&[0], &[]), &[0], false, m), &[], &bools(&[true]));
    refused(reduce(Reduce::Sum, &x, &[2], false, m), "axis 2 is not one of shape [2, 3] of rank 2");
    refused(reduce(Reduce::Any, &x, &[0], false, m), "`Any` does not take elements of dtype f32");
    check(scan(Scan::Cumsum, &vector(&[1i32, 2, 3]), 0, true, false, m), &[3], &[0i32, 1, 3]);
    check(scan(Scan::Cumprod, &x, 0, false, true, m), &[2, 3], &[4.0f32, 10.0, 18.0, 4.0, 5.0, 6.0]);
    check(arg_extreme(true, &x, 0, DType::I64, m), &[3], &[1i64; 3]);
    check(arg_extreme(false, &vector(&[2i32, 1, 1]), -1, DType::I32, m), &[], &[1i32]);
    assert!(arg_extreme(true, &empty, 0, DType::I32, m).is_err());
    let [values, places] = top_k(&vector(&[1i32, 3, 2, 3]), 3, m).unwrap();
    check(Ok(values), &[3], &[3i32, 3, 2]);
    check(Ok(places), &[3], &[1i32, 3, 2]);
    assert!(top_k(&vector(&[1i32]), 2, m).is_err());
    check(sort(&x, 0, true, m), &[2, 3], &[4.0f32, 5.0, 6.0, 1.0, 2.0, 3.0]);
    check(in_top_k(&x, &vector(&[1i32, 9]), 2, m), &[2], &bools(&[true, false]));
}

#[test]
fn layers() {
    let m = &malloc();
    let logits = tensor(&[2, 3], &[1.0f64, 2.0, 3.0, 1000.0, 1000.0, 1000.0]);
    let soft = softmax(&logits, m).unwrap();
    let e: Vec<f64> = [1.0f64, 2.0, 3.0].iter().map(|x| x.exp()).collect();
    let sum: f64 = e.iter().sum();
    for (got, want) in soft.read::<f64>().unwrap().iter().zip([
        e[0] / sum,
        e[1] / sum,
        e[2] / sum,
        1.0 / 3.0,
        1.0 / 3.0,
        1.0 / 3.0,
    ]) {
        assert!((got - want).abs() < 1e-14);
    }
    let [dense, _] =
        softmax_cross_entropy(&logits, &tensor(&[2, 3], &[0.0f64, 0.0, 1.0, 1.0, 0.0, 0.0]), m).unwrap();
    let [sparse, gradient] = sparse_softmax_cross_entropy(&logits, &vector(&[2i32, 0]), m).unwrap();
    assert_eq!(*dense.read::<f64>().unwrap(), *sparse.read::<f64>().unwrap());
    assert!((sparse.read::<f64>().unwrap()[1] - 3f64.ln()).abs() < 1e-14);
    assert!((gradient.read::<f64>().unwrap()[2] - (e[2] / sum - 1.0)).abs() < 1e-14);
    refused(
        sparse_softmax_cross_entropy(&logits, &vector(&[3i32, 0]), m),
        "`SparseSoftmaxCrossEntropyWithLogits`: indices[0] = 3 is not in [0, 3) of shape [2, 3]",
    );
    let x = tensor(&[2, 2], &[1i32, 2, 3, 4]);
    check(bias_add(&x, &vector(&[10i32, 20]), ImageFormat::Nhwc, m), &[2, 2], &[11i32, 22, 13, 24]);
    check(bias_add_grad(&x, ImageFormat::Nhwc, m), &[2], &[4i32, 6]);
    refused(bias_add(&x, &vector(&[1i32]), ImageFormat::Nhwc, m), "`bias` has shape [1], expected [2]");
    let two = &vector(&[2.0f32]);
    let attrs = BatchNormAttrs { epsilon: 0.0, ..BatchNormAttrs::default() };
    let by = BatchNorm { scale: two, offset: two, mean: two, variance: &vector(&[4.0f32]) };
    check(batch_norm(&tensor(&[1, 1, 2, 1], &[2.0f32, 4.0]), &by, &attrs, m), &[1, 1, 2, 1], &[2.0f32, 4.0]);
    assert!(batch_norm(&logits, &by, &attrs, m).is_err());
}

fn pooling(window: (usize, usize), strides: (usize, usize), padding: Padding) -> Pool2dAttrs {
    Pool2dAttrs { window, strides, padding, format: ImageFormat::Nhwc }
}

#[test]
fn pools() {
    let m = &malloc();
    let x = tensor(&[1, 3, 3, 1], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    let run = |kind, window, strides, padding| pool(kind, &x, &pooling(window, strides, padding), m);
    check(run(Pool::Max, (2, 2), (1, 1), Padding::Valid), &[1, 2, 2, 1], &[5.0f32, 6.0, 8.0, 9.0]);
    check(run(Pool::Max, (2, 2), (2, 2), Padding::Same), &[1, 2, 2, 1], &[5.0f32, 6.0, 8.0, 9.0]);
    check(run(Pool::Avg, (2, 2), (2, 2), Padding::Same), &[1, 2, 2, 1], &[3.0f32, 4.5, 7.5, 9.0]);
    check(run(Pool::Avg, (3, 3), (2, 2), Padding::Same), &[1, 2, 2, 1], &[3.0f32, 4.0, 6.0, 7.0]);
    refused(
        run(Pool::Max, (5, 1), (1, 1), Padding::Valid),
        "`MaxPool`: a window of 5 with stride 1 and dilation 1 is larger than the image of shape [1, 3, 3, 1] with paddings (0, 0)",
    );
    // A window that exceeds the image by less than two strides has no results; a larger one is refused.
    check::<f32>(run(Pool::Max, (4, 1), (1, 1), Padding::Valid), &[1, 0, 3, 1], &[]);
    check::<f32>(run(Pool::Avg, (6, 1), (2, 1), Padding::Valid), &[1, 0, 3, 1], &[]);
    assert!(run(Pool::Max, (7, 1), (2, 1), Padding::Valid).is_err());
    assert!(run(Pool::Max, (1, 1), (0, 1), Padding::Valid).is_err());
    assert!(run(Pool::Max, (usize::MAX, 1), (1, 1), Padding::Same).is_err());
    check(run(Pool::Max, (1 << 62, 1 << 62), (1 << 62, 1 << 62), Padding::Same), &[1, 1, 1, 1], &[9.0f32]);
    check(
        pool(Pool::Avg, &tensor::<f32>(&[0, 3, 3, 2], &[]), &pooling((2, 2), (1, 1), Padding::Valid), m),
        &[0, 2, 2, 2],
        &[] as &[f32],
    );
}

/// The gradient of the sum of `weights * f(x)` with respect to x, by finite differences.
pub(crate) fn numeric_gradient(x: &[f64], weights: &[f64], f: impl Fn(&[f64]) -> HostTensor) -> Vec<f64> {
    let loss = |x: &[f64]| f(x).read::<f64>().unwrap().iter().zip(weights).map(|(y, w)| y * w).sum::<f64>();
    (0..x.len())
        .map(|i| {
            let (mut above, mut below) = (x.to_vec(), x.to_vec());
            above[i] += 1e-5;
            below[i] -= 1e-5;
            (loss(&above) - loss(&below)) / 2e-5
        })
        .collect()
}

#[track_caller]
pub(crate) fn near(got: &HostTensor, want: &[f64]) {
    let got = got.read::<f64>().unwrap();
    assert_eq!(got.len(), want.len());
    assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-6), "{:?} {want:?}", &*got);
}

#[test]
fn gradients_of_layers_are_those_of_differences() {
    let m = &malloc();
    let values: Vec<f64> = (0..18).map(|i| f64::from(i * 7 % 18) - 5.5).collect();
    let x = tensor(&[1, 3, 3, 2], &values);
    for (kind, padding, side) in
        [(Pool::Max, Padding::Valid, 2), (Pool::Avg, Padding::Same, 3), (Pool::Max, Padding::Same, 3)]
    {
        let weights: Vec<f64> = (0..side * side * 2).map(|i| i as f64 + 1.0).collect();
        let attrs = pooling((2, 2), (1, 1), padding);
        let run = |x: &[f64]| pool(kind, &tensor(&[1, 3, 3, 2], x), &attrs, m).unwrap();
        let dy = tensor(&[1, side, side, 2], &weights);
        let got = match kind {
            Pool::Max => max_pool_grad(&x, &dy, &attrs, m).unwrap(),
            Pool::Avg => avg_pool_grad(x.shape(), &dy, &attrs, m).unwrap(),
        };
        near(&got, &numeric_gradient(&values, &weights, run));
    }
    let (scale, offset) = (vector(&[2.0f64, -1.0]), vector(&[0.5f64, 0.0]));
    let weights: Vec<f64> = (0..18).map(|i| f64::from(i % 5)).collect();
    let dy = tensor(&[1, 3, 3, 2], &weights);
    let attrs = BatchNormAttrs { epsilon: 1e-3, ..BatchNormAttrs::default() };
    let none = vector::<f64>(&[]);
    let train = |x: &HostTensor, scale: &HostTensor, offset: &HostTensor| {
        batch_norm_training(x, scale, offset, (&none, &none), &attrs, m).unwrap()
    };
    let images = |[y, ..]: [HostTensor; 5]| y;
    let run = |x: &[f64]| images(train(&tensor(&[1, 3, 3, 2], x), &scale, &offset));
    let [.., mean, variance] = train(&x, &scale, &offset);
    let moments = (&mean, &variance);
    let [by_x, by_scale, by_offset] = batch_norm_grad(&dy, &x, &scale, moments, true, &attrs, m).unwrap();
    near(&by_x, &numeric_gradient(&values, &weights, run));
    near(&by_scale, &numeric_gradient(&[2.0, -1.0], &weights, |s| images(train(&x, &vector(s), &offset))));
    near(&by_offset, &numeric_gradient(&[0.5, 0.0], &weights, |o| images(train(&x, &scale, &vector(o)))));
    let fixed = |x: &[f64]| {
        let by = BatchNorm { scale: &scale, offset: &offset, mean: moments.0, variance: moments.1 };
        batch_norm(&tensor(&[1, 3, 3, 2], x), &by, &attrs, m).unwrap()
    };
    let [by_x, ..] = batch_norm_grad(&dy, &x, &scale, moments, false, &attrs, m).unwrap();
    near(&by_x, &numeric_gradient(&values, &weights, fixed));
    let (one, ten) = (vector(&[1.0f64]), vector(&[10.0f64]));
    let attrs = BatchNormAttrs { epsilon: 0.0, exponential_avg_factor: 0.5, format: ImageFormat::Nchw };
    let images = tensor(&[1, 1, 2, 1], &[1.0f64, 3.0]);
    let [y, mean, variance, _, batch_variance] =
        batch_norm_training(&images, &one, &one, (&ten, &ten), &attrs, m).unwrap();
    check(Ok(y), &[1, 1, 2, 1], &[0.0f64, 2.0]);
    check(Ok(mean), &[1], &[6.0f64]);
    check(Ok(variance), &[1], &[6.0f64]);
    check(Ok(batch_variance), &[1], &[1.0f64]);
}

#[test]
fn empty_tensors_of_huge_dimensions_wrap_nothing() {
    let m = &malloc();
    let huge = HostTensor::zeros(DType::F64, Shape::new(&[0, 1 << 62]).unwrap(), m).unwrap();
    assert_eq!(concat(&[&huge, &huge], 0, m).unwrap().num_elements(), 0);
    assert!(concat(&[&huge, &huge, &huge], 1, m).is_err());
    assert!(split(&huge, 1 << 62, 1, m).is_err() && unpack(&huge, 1, m).is_err());
    let none = HostTensor::zeros(DType::I32, Shape::new(&[0, 1]).unwrap(), m).unwrap();
    assert_eq!(gather_nd(&huge, &none, m).unwrap().num_elements(), 0);
    assert_eq!(transpose(&huge, &[1, 0], m).unwrap().shape().dims(), [1 << 62, 0]);
    assert_eq!(binary(Binary::Add, &huge, &tensor(&[1, 1], &[1.0f64]), m).unwrap().num_elements(), 0);
    assert_eq!(reduce(Reduce::Sum, &huge, &[1], false, m).unwrap().num_elements(), 0);
    assert!(reduce(Reduce::Sum, &huge, &[0], false, m).is_err());
    assert!(tile(&huge, &[1, 4], m).is_err());
    let nothing = HostTensor::zeros(DType::I32, Shape::new(&[1 << 40, 0]).unwrap(), m).unwrap();
    assert!(scatter_nd(&nothing, &huge, &Shape::new(&[2]).unwrap(), m).is_err());
}
