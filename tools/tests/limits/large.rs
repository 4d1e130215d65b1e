//! Ops on large operands: whichever large request for memory is refused, the call succeeds or its error says
//! that memory is exhausted.
//!
//! All memory of the process counts here, not only that of tensors. Requests of a fixed size, such as the
//! packing buffers of matrix products, are below [`LARGE`].

use befrost::{CompileOptions, Error, ErrorCode, Runtime, Source, compile_with};

use crate::allocator::refusing_nth;

/// Minimum size of a large request. Only requests that grow with the operands are so large.
const LARGE: usize = 8 << 20;

/// The number of elements of an operand. With 4 bytes each it has more than [`LARGE`] bytes.
const N: usize = 2_200_000;

/// An op, its attributes, operands (values and types), and the element types of its results. `N` in a type is
/// [`N`].
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const X: (&str, &str) = ("1.5", "tensor<Nxf32>");
const D: (&str, &str) = ("1.5", "tensor<Nxf64>");
const I: (&str, &str) = ("3", "tensor<Nxi32>");
const ZEROS: (&str, &str) = ("0", "tensor<Nxi32>");
const AXIS: (&str, &str) = ("0", "tensor<i32>");
const ROWS: (&str, &str) = ("1.5", "tensor<2xNxf32>");
const IMAGE: (&str, &str) = ("1.5", "tensor<1x1x1xNxf32>");

const CASES: &[Case] = &[
    ("Neg", "", &[X], &["f32"]),
    ("Lgamma", "", &[D], &["f64"]),
    ("AddV2", "", &[X, X], &["f32"]),
    ("Maximum", "", &[I, I], &["i32"]),
    ("Less", "", &[X, X], &["i1"]),
    ("Cast", "", &[X], &["f64"]),
    ("Sum", "", &[ROWS, ("0", "tensor<1xi32>")], &["f32"]),
    ("Prod", "", &[("1.5", "tensor<Nx2xf64>"), ("0", "tensor<1xi32>")], &["f64"]),
    ("Cumsum", "", &[X, AXIS], &["f32"]),
    ("Softmax", "", &[ROWS], &["f32"]),
    ("Softmax", "", &[("1.5", "tensor<2xNxf64>")], &["f64"]),
    ("Einsum", r#"equation = "ij,kj->ik""#, &[("3", "tensor<2xNxi32>"), ("3", "tensor<2xNxi32>")], &["i32"]),
    ("Einsum", r#"equation = "ij,ji->i""#, &[ROWS, ("1.5", "tensor<Nx2xf32>")], &["f32"]),
    ("Einsum", r#"equation = "ij,kj->jik""#, &[ROWS, ROWS], &["f32"]),
    ("Transpose", "", &[ROWS, ("[1, 0]", "tensor<2xi32>")], &["f32"]),
    ("Tile", "", &[X, ("2", "tensor<1xi32>")], &["f32"]),
    ("Pad", "", &[X, ("1", "tensor<1x2xi32>")], &["f32"]),
    ("MirrorPad", r#"mode = "SYMMETRIC""#, &[X, ("1", "tensor<1x2xi32>")], &["f32"]),
    ("Roll", "", &[X, ("1", "tensor<i32>"), AXIS], &["f32"]),
    ("ReverseV2", "", &[X, ("0", "tensor<1xi32>")], &["f32"]),
    ("Slice", "", &[X, ("1", "tensor<1xi32>"), ("-1", "tensor<1xi32>")], &["f32"]),
    ("Slice", "", &[("1.5", "tensor<4x4xf32>"), ("0", "tensor<2xi32>"), ("2", "tensor<2xi32>")], &["f32"]),
    ("ConcatV2", "", &[X, X, AXIS], &["f32"]),
    ("Pack", "", &[X, X], &["f32"]),
    ("GatherV2", "", &[X, ZEROS, AXIS], &["f32"]),
    ("GatherNd", "", &[X, ("0", "tensor<Nx1xi32>")], &["f32"]),
    ("ScatterNd", "", &[("0", "tensor<Nx1xi32>"), X, ("5", "tensor<1xi32>")], &["f32"]),
    ("TensorScatterUpdate", "", &[X, ("0", "tensor<Nx1xi32>"), X], &["f32"]),
    ("OneHot", "", &[ZEROS, ("2", "tensor<i32>"), ("1.0", "tensor<f32>"), ("0.0", "tensor<f32>")], &["f32"]),
    ("Unique", "", &[I], &["i32", "i32"]),
    ("ListDiff", "", &[I, ZEROS], &["i32", "i32"]),
    ("Where", "", &[X], &["i64"]),
    ("TopKV2", "", &[X, ("2", "tensor<i32>")], &["f32", "i32"]),
    ("InvertPermutation", "", &[("0", "tensor<1xi32>")], &["i32"]),
    ("UnsortedSegmentSum", "", &[X, ZEROS, ("2", "tensor<i32>")], &["f32"]),
    ("SegmentMean", "", &[X, ZEROS], &["f32"]),
    ("DenseBincount", "", &[I, ("4", "tensor<i32>"), ("", "tensor<0xi32>")], &["i32"]),
    ("DynamicPartition", "num_partitions = 2 : i64", &[X, ZEROS], &["f32", "f32"]),
    ("DynamicStitch", "", &[ZEROS, X], &["f32"]),
    ("LRN", "", &[IMAGE], &["f32"]),
    ("LRNGrad", "", &[IMAGE, IMAGE, IMAGE], &["f32"]),
    (
        "FusedBatchNormV3",
        "is_training = true",
        &[IMAGE, X, X, ("", "tensor<0xf32>"), ("", "tensor<0xf32>")],
        &["f32", "f32", "f32", "f32", "f32", "f32"],
    ),
    ("BiasAddGrad", "", &[("1.5", "tensor<2xNxf32>")], &["f32"]),
    (
        "MaxPool",
        r#"ksize = [1, 1, 1, 1], strides = [1, 1, 1, 1], padding = "VALID""#,
        &[("1.5", "tensor<1x1x1xNxf64>")],
        &["f64"],
    ),
    (
        "Conv2D",
        r#"strides = [1, 1, 1, 1], padding = "VALID""#,
        &[("1.5", "tensor<1x1x1xNxf64>"), ("1.5", "tensor<1x1xNx1xf64>")],
        &["f64"],
    ),
    ("FFT", "", &[("(1.5, 0.5)", "tensor<300007xcomplex<f64>>")], &["complex<f64>"]),
    ("Qr", "", &[("1.5", "tensor<2x1100000xf64>")], &["f64", "f64"]),
    ("Multinomial", "", &[("1.5", "tensor<1xNxf32>"), ("3", "tensor<i32>")], &["i64"]),
    ("RandomShuffle", "", &[I], &["i32"]),
    ("TridiagonalSolve", "", &[("1.5", "tensor<3xNxf32>"), ("1.5", "tensor<Nx1xf32>")], &["f32"]),
    ("BandedTriangularSolve", "", &[("1.5", "tensor<1xNxf32>"), ("1.5", "tensor<Nx1xf32>")], &["f32"]),
    (
        "FractionalAvgPool",
        "pooling_ratio = [1.0 : f32, 1.0 : f32, 1.0 : f32, 1.0 : f32]",
        &[("1.5", "tensor<1x1xNx1xf32>")],
        &["f32", "i64", "i64"],
    ),
    ("SparseSoftmax", "", &[("0", "tensor<Nx2xi64>"), X, ("5", "tensor<2xi64>")], &["f32"]),
    (
        "SparseSparseMaximum",
        "",
        &[
            ("0", "tensor<Nx1xi64>"),
            X,
            ("5", "tensor<1xi64>"),
            ("0", "tensor<Nx1xi64>"),
            X,
            ("5", "tensor<1xi64>"),
        ],
        &["i64", "f32"],
    ),
    (
        "SparseSplit",
        "num_split = 1 : i64",
        &[("0", "tensor<i64>"), ("0", "tensor<Nx1xi64>"), X, ("5", "tensor<1xi64>")],
        &["i64", "f32", "i64"],
    ),
    (
        "ComputeAccidentalHits",
        "num_true = 1 : i64",
        &[("3", "tensor<Nx1xi64>"), ("3", "tensor<Nxi64>")],
        &["i32", "i64", "f32"],
    ),
    ("ResizeBilinear", "", &[("1.5", "tensor<1x1x2x1xf32>"), ("[1, 2200000]", "tensor<2xi32>")], &["f32"]),
    ("AsString", "", &[I], &["!tf_type.string"]),
    (
        "SparseToDense",
        "validate_indices = false",
        &[("0", "tensor<Nxi64>"), ("5", "tensor<1xi64>"), X, ("0.0", "tensor<f32>")],
        &["f32"],
    ),
];

fn text((op, attrs, operands, results): &Case) -> String {
    let of = |ty: &str| ty.replace('N', &N.to_string());
    let all: Vec<String> = results.iter().map(|result| format!("tensor<*x{result}>")).collect();
    let all = all.join(", ");
    let mut text = format!("func.func @main() -> ({all}) {{\n");
    for (i, (value, ty)) in operands.iter().enumerate() {
        let ty = of(ty);
        text += &format!("  %{i} = \"tf.Const\"() {{value = dense<{value}> : {ty}}} : () -> {ty}\n");
    }
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%{i}")).collect();
    let types: Vec<String> = operands.iter().map(|(_, ty)| of(ty)).collect();
    let (names, types, n) = (names.join(", "), types.join(", "), results.len());
    text += &format!("  %y:{n} = \"tf.{op}\"({names}) {{{attrs}}} : ({types}) -> ({all})\n");
    let results: Vec<String> = (0..n).map(|i| format!("%y#{i}")).collect();
    text + &format!("  return {} : {all}\n}}\n", results.join(", "))
}

/// Loads the program, so that its constants are not in memory yet, and calls it. Returns the result, and the
/// number of large requests of the call.
fn call(bef: &[u8], runtime: &Runtime, nth: u64) -> (Result<(), Error>, u64) {
    let main = runtime.load_bytes(bef).map_err(Error::from).and_then(|program| program.function("main"));
    match main {
        Ok(main) => {
            // Kept blocks would serve requests that are to be refused.
            befrost_tensor::mem::release_kept_blocks();
            refusing_nth(LARGE, nth, || main.call_ok([]).map(drop))
        }
        Err(error) => (Err(error), 0),
    }
}

#[test]
fn whichever_large_request_is_refused() {
    let runtime = Runtime::builder().work_queue("s").build().expect("a queue");
    let (mut wrong, mut refusals) = (Vec::new(), 0);
    for case in CASES {
        let options = CompileOptions { level: 0, ..CompileOptions::default() };
        let bef = match compile_with(Source::Text(text(case)), &options) {
            Ok(bef) => bef,
            Err(error) => {
                wrong.push(format!("{}: {error}", case.0));
                continue;
            }
        };
        let (result, n) = call(&bef, &runtime, u64::MAX);
        if let Err(error) = result {
            wrong.push(format!("{}: {}", case.0, error.message()));
        }
        for nth in 0..n {
            refusals += 1;
            let (result, _) = call(&bef, &runtime, nth);
            if let Err(error) = result
                && (error.code() != ErrorCode::ResourceExhausted || !error.message().contains("memory"))
            {
                wrong.push(format!(
                    "{}, request {nth} of {n}: {:?} {}",
                    case.0,
                    error.code(),
                    error.message()
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(refusals > 100, "only {refusals} requests were refused");
}
