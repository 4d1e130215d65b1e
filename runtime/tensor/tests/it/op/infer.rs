//! Comparison of the shape rules with computed results, and tests of partially known shapes.

use crate::op::{TextAttrs, attrs};
use befrost_tensor::literal;
use befrost_tensor::mem::Malloc;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::*;
use befrost_tensor::{HostTensor, TensorError};

/// Operands with full or partial knowledge of tensors.
fn known<'a>(inputs: &[&'a HostTensor], values: bool, dims: impl Fn(usize, Dim) -> Dim) -> Vec<Operand<'a>> {
    let of = |x: &&'a HostTensor| {
        let axes = x.shape().dims().iter().enumerate().map(|(i, &dim)| dims(i, Some(dim)));
        Operand {
            ty: x.dtype().into(),
            shape: PartialShape::new(axes.collect()),
            constant: values.then_some(*x),
            dims: None,
        }
    };
    inputs.iter().map(of).collect()
}

/// Checks that the shapes inferred from full or partial knowledge of the operands hold for the results.
pub(crate) fn agrees(
    op: &str,
    attrs: &dyn Attrs,
    inputs: &[&HostTensor],
    results: &[HostTensor],
) -> Result<(), String> {
    let unranked = inputs.iter().map(|x| Operand::new(x.dtype().into(), PartialShape::unknown())).collect();
    let cases = [
        known(inputs, true, |_, dim| dim),
        known(inputs, false, |_, dim| dim),
        known(inputs, true, |_, _| None),
        known(inputs, true, |i, dim| dim.filter(|_| i > 0)),
        known(inputs, false, |i, dim| dim.filter(|_| i == 0)),
        unranked,
    ];
    for (case, operands) in cases.iter().enumerate() {
        let inferred = match row(op).expect(op).infer(attrs, operands) {
            Ok(inferred) => inferred,
            // A function may accept types that the signature excludes.
            Err(error) if error.to_string().contains("has type") => return Ok(()),
            Err(error) => return Err(format!("case {case}: {error}")),
        };
        if inferred.len() != results.len() {
            return Err(format!("{} results inferred of {}", inferred.len(), results.len()));
        }
        for (result, Inferred { ty, shape }) in results.iter().zip(inferred) {
            if ty != result.dtype().into() || !shape.allows(result.shape()) {
                let got = (result.dtype(), result.shape());
                return Err(format!("case {case}: {ty} {shape} inferred of {got:?}"));
            }
            let open = [
                "Where",
                "DynamicPartition",
                "ListDiff",
                "Unique",
                "UniqueV2",
                "UniqueWithCounts",
                "UniqueWithCountsV2",
                "DenseToDenseSetOperation",
                "DenseToSparseSetOperation",
                "SparseToSparseSetOperation",
                "RaggedRange",
                "BroadcastGradientArgs",
                "PlaceholderWithDefault",
                "_BatchedNonMaxSuppression",
                "_UniqueSorted",
            ];
            if case == 0 && shape.shape().is_none() && !open.contains(&op) {
                return Err(format!("{shape} inferred of {}", result.shape()));
            }
        }
    }
    Ok(())
}

/// Parses `f32[2x?]`, `f32?` for an unknown rank, or a literal, which is a constant operand.
fn operand(text: &str) -> Operand<'static> {
    if text.contains(':') {
        let x: &'static HostTensor = Box::leak(Box::new(literal::parse(text, &Malloc::shared()).unwrap()));
        return known(&[x], true, |_, dim| dim).remove(0);
    }
    let (ty, shape) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((ty, dims)) => {
            let dims = dims.split('x').filter(|dim| !dim.is_empty()).map(|dim| dim.parse().ok());
            (ty, PartialShape::new(dims.collect()))
        }
        None => (text.trim_end_matches('?'), PartialShape::unknown()),
    };
    let ty = match ty {
        "resource" => Type::Resource,
        "variant" => Type::Variant,
        "string" => Type::String,
        dtype => Type::Dense(dtype.parse().unwrap()),
    };
    Operand::new(ty, shape)
}

fn inferred(op: &str, given: &[(&str, &str)], operands: &[&str]) -> Result<Vec<String>, TensorError> {
    let operands: Vec<Operand<'_>> = operands.iter().map(|text| operand(text)).collect();
    let results = row(op).expect(op).infer(&attrs(given), &operands)?;
    Ok(results.into_iter().map(|Inferred { ty, shape }| format!("{ty} {shape}")).collect())
}

fn check(op: &str, given: &[(&str, &str)], operands: &[&str], want: &[&str]) {
    assert_eq!(
        inferred(op, given, operands).unwrap_or_else(|e| panic!("{op}: {e}")),
        want,
        "{op} {operands:?}"
    );
}

fn refused(op: &str, given: &[(&str, &str)], operands: &[&str], words: &str) {
    let error = inferred(op, given, operands).expect_err(op).to_string();
    assert!(error.contains(words), "{op}: {error}");
}

#[test]
fn partly_known_shapes_give_partly_known_results() {
    check("AddV2", &[], &["f32[?x3]", "f32[4x1]"], &["f32 [4, 3]"]);
    check("AddV2", &[], &["f32[?]", "f32[1]"], &["f32 [?]"]);
    check("AddV2", &[], &["f32[?x3]", "f32?"], &["f32 ?"]);
    check("Less", &[], &["f32[2]", "f32[2]"], &["i1 [2]"]);
    check("Equal", &[("incompatible_shape_error", "false")], &["f32[?]", "f32[2]"], &["i1 ?"]);
    check("SelectV2", &[], &["i1[?x1]", "f32[3]", "f32[]"], &["f32 [?, 3]"]);
    check("AddN", &[], &["f32[?x3]", "f32[2x?]", "f32?"], &["f32 [2, 3]"]);
    check("MatMul", &[("transpose_b", "true")], &["f32[?x3]", "f32[5x?]"], &["f32 [?, 5]"]);
    check("BatchMatMulV2", &[], &["f32[?x2x3]", "f32[7x1x3x4]"], &["f32 [7, ?, 2, 4]"]);
    check("Einsum", &[("equation", "bij,bjk->bik")], &["f32[?x2x3]", "f32[5x3x?]"], &["f32 [5, 2, ?]"]);
    check("Einsum", &[("equation", "...ij->...ji")], &["f32?"], &["f32 ?"]);
    check("Reshape", &[], &["f32[?x6]", "i32[2]:-1,3"], &["f32 [?, 3]"]);
    check("Reshape", &[], &["f32[2x6]", "i32[2]:-1,3"], &["f32 [4, 3]"]);
    check("Reshape", &[], &["f32[2x6]", "i32[3]"], &["f32 [?, ?, ?]"]);
    check("Sum", &[], &["f32[2x?x4]", "i32[1]:-1"], &["f32 [2, ?]"]);
    check("Sum", &[("keep_dims", "true")], &["f32[2x?]", "i32[1]"], &["f32 [?, ?]"]);
    check("Shape", &[("out_type", "i64")], &["f32[?x?]"], &["i64 [2]"]);
    check("Squeeze", &[], &["f32[?x1]"], &["f32 ?"]);
    check("Squeeze", &[("squeeze_dims", "1")], &["f32[?x1]"], &["f32 [?]"]);
    check("ConcatV2", &[], &["f32[?x2]", "f32[3x?]", "i32:1"], &["f32 [3, ?]"]);
    check("ConcatV2", &[], &["f32[?x2]", "f32[3x5]", "i32:1"], &["f32 [3, 7]"]);
    check("Pack", &[("axis", "-1")], &["f32[?]", "f32[3]"], &["f32 [3, 2]"]);
    check("Unpack", &[("num", "2")], &["f32[?x3]"], &["f32 [3]", "f32 [3]"]);
    check("Split", &[("num_split", "2")], &["i32:1", "f32[?x6]"], &["f32 [?, 3]", "f32 [?, 3]"]);
    check("SplitV", &[("num_split", "2")], &["f32[?]", "i32[2]:3,-1", "i32:0"], &["f32 [3]", "f32 [?]"]);
    check("Transpose", &[], &["f32[2x?]", "i32[2]:1,0"], &["f32 [?, 2]"]);
    check("Transpose", &[], &["f32?", "i32[3]"], &["f32 [?, ?, ?]"]);
    check("Slice", &[], &["f32[?x5]", "i32[2]:0,1", "i32[2]:2,-1"], &["f32 [2, 4]"]);
    let lists = ["i32[2]:0,1", "i32[2]:0,3", "i32[2]:1,1"];
    let masks = [("begin_mask", "1"), ("end_mask", "1")];
    check("StridedSlice", &masks, &["f32[?x5]", lists[0], lists[1], lists[2]], &["f32 [?, 2]"]);
    check(
        "StridedSlice",
        &[("shrink_axis_mask", "1")],
        &["f32[?x5]", "i32[1]", "i32[1]", "i32[1]:1"],
        &["f32 [5]"],
    );
    check(
        "StridedSlice",
        &[("new_axis_mask", "1")],
        &["f32[5]", "i32[1]:0", "i32[1]:0", "i32[1]:1"],
        &["f32 [1, 5]"],
    );
    check("GatherV2", &[], &["f32[10x?]", "i32[2x3]", "i32:0"], &["f32 [2, 3, ?]"]);
    check("GatherNd", &[], &["f32[10x?]", "i32[?x1]"], &["f32 [?, ?]"]);
    check("OneHot", &[], &["i32[?]", "i32:4", "f32[]", "f32[]"], &["f32 [?, 4]"]);
    check("Range", &[], &["i32:0", "i32:10", "i32:3"], &["i32 [4]"]);
    check("Fill", &[], &["i32[3]", "f32[]"], &["f32 [?, ?, ?]"]);
    check("BroadcastTo", &[], &["f32[?]", "i32[2]:2,3"], &["f32 [2, 3]"]);
    check("TopKV2", &[], &["f32[?x9]", "i32:2"], &["f32 [?, 2]", "i32 [?, 2]"]);
    let conv = [("strides", "1,2,2,1"), ("padding", "SAME")];
    check("Conv2D", &conv, &["f32[?x28x?x3]", "f32[3x3x3x16]"], &["f32 [?, 14, ?, 16]"]);
    let nchw = [("strides", "1,1,2,2"), ("padding", "VALID"), ("data_format", "NCHW")];
    check("Conv2D", &nchw, &["f32[?x3x28x28]", "f32[3x3x3x?]"], &["f32 [?, ?, 13, 13]"]);
    check("DepthwiseConv2dNative", &conv, &["f32[1x4x4x?]", "f32[3x3x3x2]"], &["f32 [1, 2, 2, 6]"]);
    let pool = [("strides", "1,2,2,1"), ("padding", "VALID"), ("ksize", "1,2,2,1")];
    check("MaxPool", &pool, &["f32[?x28x28x8]"], &["f32 [?, 14, 14, 8]"]);
    check("BiasAdd", &[], &["f32[?x?]", "f32[8]"], &["f32 [?, 8]"]);
    let fused = [("fused_ops", "BiasAdd,Relu"), ("num_args", "1")];
    check("_FusedMatMul", &fused, &["f32[?x3]", "f32[3x?]", "f32[8]"], &["f32 [?, 8]"]);
    let norm = inferred("FusedBatchNormV3", &[], &["f32[?x4x4x?]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"]);
    assert_eq!(norm.unwrap()[..2], ["f32 [?, 4, 4, 8]", "f32 [8]"]);
    // Operators without a function of dense tensors have result types, and shapes if attributes determine
    // them.
    check("Placeholder", &[("dtype", "f32"), ("shape", "-1,3")], &[], &["f32 [?, 3]"]);
    check("VarHandleOp", &[("dtype", "f32"), ("shape", "3")], &[], &["resource []"]);
    check("ReadVariableOp", &[("dtype", "f32")], &["resource[]"], &["f32 ?"]);
    check("TensorListStack", &[("element_dtype", "f32")], &["variant[]", "i32[]"], &["f32 ?"]);
    check("StatelessIf", &[("Tout", "f32,i32")], &["i1[]", "f32[2]"], &["f32 ?", "i32 ?"]);
    check("Switch", &[], &["f32[2]", "i1[]"], &["f32 [2]", "f32 [2]"]);
    check("NoOp", &[], &[], &[]);
}

#[test]
fn onnx_operators_are_inferred_from_parts() {
    check("_GatherElements", &[("axis", "1")], &["f32[4x?]", "i64[2x9]"], &["f32 [2, 9]"]);
    refused("_GatherElements", &[("axis", "1")], &["f32[4x?]", "i64[5x9]"], "larger than the tensor");
    refused("_GatherElements", &[("axis", "2")], &["f32[4x?]", "i64[5x9]"], "no axis 2");
    check("_ScatterElements", &[], &["f32[?x3]", "i32[2x?]", "f32[?x2]"], &["f32 [?, 3]"]);
    let pool = [("kernel_shape", "3,2"), ("strides", "2,1"), ("pads", "1,0,1,0")];
    check("_Pool", &pool, &["f32[?x8x7x?]"], &["f32 [?, 8, 4, ?]"]);
    check("_MaxPoolWithIndices", &pool, &["ui8?"], &["ui8 [?, ?, ?, ?]", "i64 [?, ?, ?, ?]"]);
    refused("_Pool", &pool, &["f32[?x8x7]"], "2 axes for 1 axes of space");
    refused("_Pool", &[("kernel_shape", "9")], &["f32[?x8x7]"], "larger than the 7 of axis 0");
    let zeros = ["i8[]", "ui8[]"];
    let product = |a, b, want: &[&str]| {
        check("_QuantizedMatMul", &[], &[a, b, zeros[0], zeros[1]], want);
    };
    product("i8[?x2x3]", "ui8[7x1x3x?]", &["i32 [7, ?, 2, ?]"]);
    product("i8[3]", "ui8[3x?]", &["i32 [?]"]);
    product("i8?", "ui8[3]", &["i32 ?"]);
    refused(
        "_QuantizedMatMul",
        &[],
        &["i8[2x3]", "ui8[4x5]", zeros[0], zeros[1]],
        "dimensions 3 and 4 differ",
    );
    let conv = [("group", "2"), ("pads", "1,1")];
    check("_QuantizedConv", &conv, &["i8[?x4x9]", "i8[6x2x3]", "i8[]", "i8[]"], &["i32 [?, 6, 9]"]);
    check("_QuantizedConv", &conv, &["i8?", "i8[6x2x3]", "i8[]", "i8[]"], &["i32 [?, 6, ?]"]);
    refused("_QuantizedConv", &conv, &["i8[1x4x9]", "i8[6x4x3]", "i8[]", "i8[]"], "2 groups of channels");
    let (x, w, r, b) = ("f32[5x?x3]", "f32[2x16x3]", "f32[2x?x4]", "f32[2x32]");
    let states = [x, w, r, b, "i32[?]", "f32[?x7x4]", "f32[2x7x4]", "f32[2x12]"];
    let both = [("direction", "bidirectional")];
    check("_Lstm", &both, &states, &["f32 [5, 2, 7, 4]", "f32 [2, 7, 4]", "f32 [2, 7, 4]"]);
    check("_Gru", &both, &states[..6], &["f32 [5, 2, 7, 4]", "f32 [2, 7, 4]"]);
    refused("_Rnn", &[], &states[..6], "dimensions 2 and 1 differ");
    let given = [&states[..6], &["f32?", "f32?", "f32?"]].concat();
    let gradients = ["f32 [5, ?, 3]", "f32 [2, 16, 3]", "f32 [2, ?, 4]", "f32 [2, 32]", "f32 [?, 7, 4]"];
    check("_GruGrad", &both, &given, &gradients);
    check("_UniqueSorted", &[("axis", "1")], &["f32[3x4]"], &["f32 [3, ?]", "i64 [?]", "i64 [4]", "i64 [?]"]);
    check("_UniqueSorted", &[], &["f32[3x4]"], &["f32 [?]", "i64 [?]", "i64 [12]", "i64 [?]"]);
    let size = [("output_height", "2"), ("output_width", "3")];
    check("_RoiAlign", &size, &["f32[1x8x?x?]", "f32[?x4]", "i64[5]"], &["f32 [5, 8, 2, 3]"]);
    check("_MaxRoiPool", &[("pooled_shape", "2,3")], &["f32[1x8x?x?]", "f32[?x5]"], &["f32 [?, 8, 2, 3]"]);
    check("_GridSample", &[], &["f32[?x8x?x?]", "f32[2x5x?x2]"], &["f32 [2, 8, 5, ?]"]);
    let sampled = ["f32[2x8x5x?]", "f32[?x8x?x?]", "f32[2x5x?x2]"];
    check("_GridSampleGradImage", &[], &sampled, &["f32 [?, 8, ?, ?]"]);
    check("_GridSampleGradGrid", &[], &sampled, &["f32 [2, 5, ?, 2]"]);
    let image = ["f32[1x4x9x9]", "f32[6x4x3x3]", "f32[1x18x7x7]", "f32[6]", "f32[1x9x7x7]"];
    check("_DeformConv", &[], &image, &["f32 [1, 6, 7, 7]"]);
    check("_Col2Im", &[], &["f32[2x12x?]", "i64[2]:5,5", "i64[2]:2,3"], &["f32 [2, 2, 5, 5]"]);
    check("_Col2Im", &[], &["f32[2x12x?]", "i64[2]", "i64[2]:2,3"], &["f32 [2, 2, ?, ?]"]);
    let steps = [("pads", "1,0,1,0"), ("strides", "1,2")];
    check("_Im2Col", &steps, &["f32[2x3x5x7]", "i64[2]:2,3"], &["f32 [2, 18, 18]"]);
    check("_Im2Col", &steps, &["f32[2x?x5x?]", "i64[2]:2,3"], &["f32 [2, ?, ?]"]);
    check("_Im2Col", &[], &["f32[2x3x5x7]", "i64[2]"], &["f32 [2, ?, ?]"]);
    let pooled = ["f32[5x8x2x3]", "f32[?x8x9x?]", "f32[5x4]", "i64[5]"];
    check("_RoiAlignGradImage", &[], &pooled, &["f32 [?, 8, 9, ?]"]);
    check("_RoiAlignGradRois", &[], &pooled, &["f32 [5, 4]"]);
    check("_TreeEnsemble", &[("n_targets", "3")], &["f64[?x9]"], &["f32 [?, 3]"]);
    refused("_TreeEnsemble", &[("n_targets", "3")], &["f64[?x9x1]"], "rank 3");
    check("_SequenceErase", &[], &["variant[]", "i64[]"], &["variant []"]);
}

#[test]
fn a_shape_operand_may_be_known_in_part() {
    let part = Operand { dims: Some(PartialShape::new(vec![None, Some(3)])), ..operand("i32[2]") };
    let shape = |op, x: &str| {
        let results = row(op).expect(op).infer(&attrs(&[]), &[operand(x), part.clone()]).unwrap();
        results[0].shape.to_string()
    };
    assert_eq!(shape("Reshape", "f32[2x6]"), "[4, 3]");
    assert_eq!(shape("Reshape", "f32[?x6]"), "[?, 3]");
    assert_eq!(shape("BroadcastTo", "f32[]"), "[?, 3]");
}

#[test]
fn impossible_operands_are_refused_with_their_shapes() {
    refused(
        "MatMul",
        &[],
        &["f32[2x3]", "f32[4x5]"],
        "dimensions 3 and 4 differ; operands of shapes [2, 3], [4, 5]",
    );
    refused("MatMul", &[], &["f32[2]", "f32[4x5]"], "operand 0 has rank 1, expected 2");
    refused("AddV2", &[], &["f32[2]", "f32[?x3]"], "cannot be broadcast");
    refused("AddV2", &[], &["f32[2]", "i32[2]"], "`y` has type i32, expected f32");
    refused("AddV2", &[("T", "f64")], &["f32[2]", "f32[2]"], "expected f64");
    refused("AddV2", &[], &["f32[2]"], "1 operands, expected 2");
    refused("Reshape", &[], &["f32[2x3]", "i32[1]:4"], "6 elements do not fit [4]");
    refused("Reshape", &[], &["f32[2x3]", "i32[2]:-1,-1"], "is open");
    refused("Reshape", &[], &["f32[2x0]", "i32[2]:-1,0"], "0 elements do not fit");
    refused("Reshape", &[], &["f32[2]", "i32[1x1]:2"], "has rank 2, expected a vector");
    refused("ConcatV2", &[], &["f32[2x3]", "f32[3x3]", "i32:1"], "shapes");
    refused("Transpose", &[], &["f32[2x?]", "i32[2]:0,0"], "no permutation");
    refused("Squeeze", &[("squeeze_dims", "0")], &["f32[2x?]"], "axis 0 is not 1 long");
    refused("Split", &[("num_split", "4")], &["i32:1", "f32[?x6]"], "4 equal parts");
    refused("Unpack", &[], &["f32[?x3]"], "no attribute `num`");
    refused(
        "Conv2D",
        &[("strides", "1,1,1,1"), ("padding", "SAME")],
        &["f32[1x4x4x3]", "f32[3x3x2x4]"],
        "3 channels",
    );
    refused("Unpack", &[("num", "1000000000000")], &["f32?"], "1000000000000 results");
    refused("DynamicStitch", &[], &["i32[2]", "i32[2]", "f32[2]"], "3 operands, expected");
    refused("Fill", &[], &["i32[70]", "f32[]"], "rank 70");
}

#[test]
fn operands_and_results_are_counted() {
    check("DynamicStitch", &[], &["i32[2]:0,3", "i32[1]:1", "f32[2x5]", "f32[1x?]"], &["f32 [4, 5]"]);
    check("IdentityN", &[], &["f32[2]", "i32?"], &["f32 [2]", "i32 ?"]);
    check("ShapeN", &[], &["f32[2]", "f32?"], &["i32 [1]", "i32 [?]"]);
    check("Assert", &[], &["i1[]", "f32[]", "string[]"], &[]);
    check("While", &[], &["f32[2]", "resource[]"], &["f32 ?", "resource ?"]);
    let given = TextAttrs(Default::default());
    let none: [Operand<'_>; 0] = [];
    assert!(Op::_FusedConv2D.row().infer(&given, &none).is_err());
}
