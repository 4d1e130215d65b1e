//! Requirements on every row, the parsing of signatures, and the work of operators.

use crate::op::attrs;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::*;
use befrost_tensor::tf::op::{
    Arg, ArgType, AttrKind, Class, Cost, DefaultValue, Effect, Fusion, Gradient, Operand, ProductForm,
    ProductOps, Traits, Type, Work,
};
use befrost_tensor::{DType, Shape};

#[test]
fn every_row_is_found_by_name_and_by_operator() {
    let names: Vec<&str> = rows().map(|row| row.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b) && names.len() > 400, "sorted, each name once");
    for row in rows() {
        assert!(std::ptr::eq(befrost_tensor::tf::op::row(row.name).unwrap(), row), "{}", row.name);
        assert!(std::ptr::eq(row.op.unwrap().row(), row), "{}", row.name);
    }
    for name in ["", "A", "zzz", "Concat V2", "Abort!", "Ifs", "_", "\n"] {
        assert!(row(name).is_none(), "{name}");
    }
    assert_eq!(format!("{:?}", Op::_FusedConv2D), "_FusedConv2D");
}

#[test]
fn every_row_has_a_summary_and_a_signature_that_agrees_with_itself() {
    for row in rows() {
        let (name, summary, signature) = (row.name, row.summary(), row.signature());
        assert!(
            summary.len() > 5 && summary.ends_with('.') && !summary.starts_with("What"),
            "{name}: {summary}"
        );
        assert!(signature.attrs.is_sorted_by(|a, b| a.name < b.name), "{name}");
        for arg in signature.inputs.iter().chain(&signature.outputs) {
            let kind = |name: &str| signature.attr(name).map(|attr| attr.kind);
            match arg.ty {
                ArgType::Is(_) => {}
                ArgType::Attr(ty) => assert_eq!(kind(ty), Some(AttrKind::Type), "{name}"),
                ArgType::List(list) => {
                    assert_eq!(kind(list), Some(AttrKind::List(&AttrKind::Type)), "{name}");
                }
            }
            if let Some(number) = arg.number {
                assert_eq!(kind(number), Some(AttrKind::Int), "{name}");
            }
        }
    }
}

#[test]
fn columns_agree_with_one_another() {
    for row in rows() {
        let (name, n_inputs) = (row.name, row.signature().inputs.len());
        let is_unknown = std::ptr::fn_addr_eq(row.rule(), shape::unknown as Rule);
        assert!(!row.has_function() || !is_unknown, "{name}: a function of tensors has a shape rule");
        assert!(!row.has(Traits::COMMUTATIVE) || n_inputs == 2, "{name}");
        assert!(!row.has(Traits::VIEW) || row.is_pure_function(), "{name}");
        assert!(!(row.has(Traits::OF_VALUES) && row.has_function()), "{name}: two kernels");
        assert!(row.effect() == Effect::Pure || !row.has(Traits::CONSTANT), "{name}");
        if let Some(layout) = row.layout() {
            let (operands, results) = layout.split_once('>').unwrap();
            assert!(!operands.is_empty() && !results.is_empty(), "{name}");
            assert!(
                operands.contains(['i', 'b', 'g', 'e', 'f', 'r']),
                "{name}: nothing depends on the layout"
            );
        }
    }
}

/// The operators without a gradient. [`Gradient::Missing`] is a debt: names leave this list and none joins
/// it.
const WITHOUT_GRADIENT: &[&str] = &[
    "Conv",
    "CropAndResizeGradBoxes",
    "CropAndResizeGradImage",
    "DestroyTemporaryVariable",
    "Enter",
    "Exit",
    "For",
    "LRNGrad",
    "Merge",
    "NextIteration",
    "RefEnter",
    "RefExit",
    "RefMerge",
    "RefNextIteration",
    "RefSwitch",
    "RemoteCall",
    "StackPop",
    "StackPush",
    "Switch",
    "TemporaryVariable",
    "TensorListPushBackBatch",
    "_ArrayToList",
    "_FusedElementwise",
    "_GridSampleGradGrid",
    "_GridSampleGradImage",
    "_GruGrad",
    "_ListToArray",
    "_LstmGrad",
    "_MaxRoiPoolGrad",
    "_PackMatrix",
    "_PackedBottleneck",
    "_PackedConv2D",
    "_PackedDepthwiseConv2dNative",
    "_PackedGru",
    "_PackedLstm",
    "_PackedMatMul",
    "_PackedRnn",
    "_ReadVariablesOp",
    "_RnnGrad",
    "_RoiAlignGradImage",
    "_RoiAlignGradRois",
    "_SwitchN",
    "_UniqueSorted",
];

/// The operators that TensorFlow cannot differentiate either.
const WITHOUT_GRADIENT_IN_TENSORFLOW: &[&str] = &[
    "Bincount",
    "BlockLSTMGrad",
    "BlockLSTMGradV2",
    "CholeskyGrad",
    "DenseBincount",
    "Dequantize",
    "Dilation2DBackpropFilter",
    "Dilation2DBackpropInput",
    "DrawBoundingBoxesV2",
    "ExtractGlimpseV2",
    "FractionalAvgPoolGrad",
    "FractionalMaxPoolGrad",
    "GRUBlockCellGrad",
    "IgammaGradA",
    "LSTMBlockCellGrad",
    "ListDiff",
    "MatrixExponential",
    "MatrixLogarithm",
    "QuantizeDownAndShrinkRange",
    "QuantizeV2",
    "QuantizedAdd",
    "QuantizedAvgPool",
    "QuantizedBatchNormWithGlobalNormalization",
    "QuantizedBiasAdd",
    "QuantizedConcat",
    "QuantizedConv2D",
    "QuantizedInstanceNorm",
    "QuantizedMatMul",
    "QuantizedMaxPool",
    "QuantizedMul",
    "QuantizedRelu",
    "QuantizedRelu6",
    "QuantizedReluX",
    "QuantizedReshape",
    "QuantizedResizeBilinear",
    "RaggedBincount",
    "RandomGammaGrad",
    "RequantizationRange",
    "Requantize",
    "SelfAdjointEig",
    "SparseBincount",
    "SparseSparseMaximum",
    "SparseSparseMinimum",
    "SparseSplit",
    "StatelessShuffle",
    "UniformDequantize",
    "UniformQuantize",
    "UniformQuantizedAdd",
    "UniformQuantizedClipByValue",
    "UniformQuantizedDot",
    "UniformQuantizedDotHybrid",
    "UniformRequantize",
    "Unique",
    "UniqueV2",
    "UniqueWithCounts",
    "UniqueWithCountsV2",
];

#[test]
fn every_other_operator_decides_about_its_gradient() {
    let missing = rows().filter(|row| row.gradient() == Gradient::Missing).map(|row| row.name);
    let missing = missing.filter(|name| !WITHOUT_GRADIENT_IN_TENSORFLOW.contains(name));
    assert_eq!(missing.collect::<Vec<_>>(), WITHOUT_GRADIENT);
}

/// The functions that touch no element of a large tensor: they share its memory, read shapes, or compute a
/// few numbers.
const WITHOUT_COST: &[&str] = &[
    "Bitcast",
    "BroadcastArgs",
    "BroadcastGradientArgs",
    "ConcatOffset",
    "EnsureShape",
    "HostConst",
    "InvertPermutation",
    "PlaceholderWithDefault",
    "QuantizedReshape",
    "Rank",
    "Shape",
    "ShapeN",
    "Size",
    "StatelessRandomGetAlg",
    "StatelessRandomGetKeyCounter",
    "StatelessRandomGetKeyCounterAlg",
    "_EnsureSameSizes",
];

#[test]
fn every_other_function_has_a_cost() {
    let is_passing =
        |row: &OpRow| [Traits::VIEW, Traits::CONSTANT, Traits::PASSING].iter().any(|&of| row.has(of));
    let free =
        rows().filter(|row| row.has_function() && matches!(row.cost(), Cost::Free) && !is_passing(row));
    assert_eq!(free.map(|row| row.name).collect::<Vec<_>>(), WITHOUT_COST);
}

/// Each operator of a class has a row with that class.
#[test]
fn every_class_has_its_row() {
    use befrost_tensor::tf::{Binary, Compare, Part, Reduce, Scan, Segment, SortedSegment, Test, Unary};
    let classes = (Unary::ALL.iter().map(|&op| (op.name(), Class::Unary(op))))
        .chain(Binary::ALL.iter().map(|&op| (op.name(), Class::Binary(op))))
        .chain(Compare::ALL.iter().map(|&op| (op.name(), Class::Compare(op))))
        .chain(Test::ALL.iter().map(|&op| (op.name(), Class::Test(op))))
        .chain(Part::ALL.iter().map(|&op| (op.name(), Class::Part(op))))
        .chain(Reduce::ALL.iter().map(|&op| (op.name(), Class::Reduce(op))))
        .chain(Scan::ALL.iter().map(|&op| (op.name(), Class::Scan(op))))
        .chain(Segment::ALL.iter().map(|&op| (op.name(), Class::Segment(op))))
        .chain(SortedSegment::ALL.iter().map(|&op| (op.name(), Class::SortedSegment(op))));
    for (name, class) in classes {
        assert_eq!(row(name).map(OpRow::class), Some(class), "{name}");
    }
}

/// The three forms of a product have its [`ProductOps`], and each row with a form is one of them or a more
/// general operator.
#[test]
fn products_have_three_forms() {
    for product in [ProductOps::CONV2D, ProductOps::DEPTHWISE, ProductOps::MATMUL] {
        for (op, form) in [
            (product.plain, ProductForm::Plain),
            (product.fused, ProductForm::Fused),
            (product.packed, ProductForm::Packed),
        ] {
            assert_eq!(op.row().fusion(), Fusion::Product(product, form), "{op:?}");
        }
    }
    for row in rows() {
        match row.fusion() {
            Fusion::None => {}
            Fusion::Product(product, ProductForm::General) => {
                assert_ne!(Some(product.plain), row.op, "{}", row.name);
            }
            Fusion::Product(product, _) => {
                let forms = [product.plain, product.fused, product.packed];
                assert!(forms.map(Some).contains(&row.op), "{}", row.name);
            }
            // The epilogue needs a vectorized function; `_Gelu` and `LeakyRelu` have one with parameters.
            Fusion::Activation(_) => assert!(
                row.class().vector_function().is_some()
                    || [Some(Op::_Gelu), Some(Op::LeakyRelu)].contains(&row.op),
                "{}",
                row.name
            ),
        }
        assert!(row.nchw_cost() == 4 || row.layout().is_some(), "{}: costs of no layout", row.name);
    }
}

#[test]
fn only_pure_functions_may_be_evaluated_early() {
    let pure = rows().filter(|row| row.is_pure_function()).count();
    assert!(pure > 200, "{pure}");
    let check = Op::CheckNumerics.row();
    assert!(check.prepare(&attrs(&[("message", "")])).unwrap().is_some());
    assert!(!check.is_pure_function(), "it fails on purpose");
    for op in [Op::If, Op::While, Op::VarHandleOp, Op::TensorListStack, Op::StackPopV2, Op::Switch] {
        assert!(!op.row().is_pure_function(), "{op:?}");
        assert!(op.row().prepare(&attrs(&[])).unwrap().is_none(), "{op:?}");
    }
}

#[test]
fn signatures_are_read_as_written() {
    let concat = Op::ConcatV2.row().signature();
    let values = Arg { name: "values", ty: ArgType::Attr("T"), number: Some("N"), is_ref: false };
    assert_eq!(concat.inputs[0], values);
    let tidx = DefaultValue::Type(Type::Dense(DType::I32));
    assert_eq!(concat.attr("Tidx").unwrap().default, Some(tidx));
    assert_eq!(concat.attr("N").unwrap().default, None);
    assert!(!concat.is_stateful && Op::Assert.row().signature().is_stateful);
    assert_eq!(Op::Assert.row().signature().outputs, []);
    assert_eq!(Op::IdentityN.row().signature().outputs[0].ty, ArgType::List("T"));
    assert_eq!(Op::Less.row().signature().outputs[0].ty, ArgType::Is(Type::Dense(DType::I1)));
    let assign = Op::Assign.row().signature();
    assert!(assign.inputs[0].is_ref && !assign.inputs[1].is_ref);
    let default = |op: Op, attr: &str| op.row().signature().attr(attr).unwrap().default.clone().unwrap();
    let ones = DefaultValue::List(vec![DefaultValue::Int(1); 4]);
    assert_eq!(default(Op::Conv2D, "dilations"), ones);
    assert_eq!(default(Op::Conv2D, "data_format"), DefaultValue::String("NHWC".to_owned()));
    assert_eq!(default(Op::PrintV2, "end"), DefaultValue::String("\n".to_owned()));
    assert_eq!(default(Op::Placeholder, "shape"), DefaultValue::Shape(None));
    assert_eq!(default(Op::VarHandleOp, "container"), DefaultValue::String(String::new()));
    assert_eq!(default(Op::FusedBatchNormV3, "epsilon"), DefaultValue::Float(1e-4));
    assert_eq!(Op::If.row().signature().attr("then_branch").unwrap().kind, AttrKind::Func);
    assert_eq!(Op::Const.row().signature().attr("value").unwrap().kind, AttrKind::Tensor);
}

/// The work of an operator of f32 operands.
fn work(op: Op, given: &[(&str, &str)], shapes: &[&[usize]]) -> Option<Work> {
    let operand = |dims: &&[usize]| {
        let shape = PartialShape::from(&Shape::new(dims).unwrap());
        Operand::new(Type::Dense(DType::F32), shape)
    };
    let operands: Vec<Operand<'_>> = shapes.iter().map(operand).collect();
    op.row().work(&attrs(given), &operands).unwrap()
}

#[test]
fn work_follows_from_shapes() {
    let flops = |op, given: &[(&str, &str)], shapes: &[&[usize]]| work(op, given, shapes).unwrap().flops;
    assert_eq!(work(Op::AddV2, &[], &[&[2, 3], &[3]]), Some(Work { flops: 6, bytes: 4 * (6 + 3 + 6) }));
    assert_eq!(work(Op::Reshape, &[], &[&[2, 3], &[1]]), Some(Work { flops: 0, bytes: 0 }));
    assert_eq!(flops(Op::MatMul, &[], &[&[2, 3], &[3, 5]]), 2 * 2 * 3 * 5);
    assert_eq!(flops(Op::MatMul, &[("transpose_a", "true")], &[&[3, 2], &[3, 5]]), 2 * 2 * 3 * 5);
    assert_eq!(flops(Op::BatchMatMulV2, &[("adj_y", "true")], &[&[7, 2, 3], &[1, 5, 3]]), 2 * 7 * 2 * 3 * 5);
    assert_eq!(
        flops(Op::Einsum, &[("equation", "bij,bjk->bik")], &[&[7, 2, 3], &[7, 3, 5]]),
        2 * 7 * 2 * 3 * 5
    );
    let conv = [("strides", "1,1,1,1"), ("padding", "SAME")];
    assert_eq!(flops(Op::Conv2D, &conv, &[&[1, 8, 8, 3], &[3, 3, 3, 16]]), 2 * 8 * 8 * 16 * 27);
    assert_eq!(flops(Op::DepthwiseConv2dNative, &conv, &[&[1, 8, 8, 3], &[3, 3, 3, 2]]), 2 * 8 * 8 * 6 * 9);
    let pool = [("strides", "1,2,2,1"), ("ksize", "1,2,2,1"), ("padding", "VALID")];
    assert_eq!(flops(Op::MaxPool, &pool, &[&[1, 8, 8, 3]]), 4 * 4 * 3 * 4);
    let ones = [("strides", "1,1,1,1"), ("rates", "1,1,1,1"), ("padding", "SAME")];
    let images: &[&[usize]] = &[&[1, 8, 8, 3], &[2, 2, 3], &[1, 8, 8, 3]];
    assert_eq!(flops(Op::Dilation2DBackpropInput, &ones, images), 2 * 8 * 8 * 3 * 4);
    // The work saturates.
    let wide: &[usize] = &[1 << 31, 1 << 20];
    assert_eq!(flops(Op::Exp, &[], &[wide]), 4 << 51);
}

#[test]
fn rows_can_be_added_while_the_process_runs() {
    use befrost_tensor::tf::op::row::{Columns, function};
    use befrost_tensor::tf::op::{Cost, OpRow, add_row, added_row, of, row, shape};
    const COLUMNS: Columns =
        function(|attrs| of(attrs, |[x], _| Ok(x.clone())), shape::same, Cost::Free).foreign();
    let made =
        |name, signature| OpRow::parsed(name, "", signature, COLUMNS).map(|row| &*Box::leak(Box::new(row)));
    assert!(made("tf._AddedByTest", "x:T -> y").is_none() && made("AddedByTest", "x:T -> y:T").is_none());
    let added = made("tf._AddedByTest", "x:T -> y:T; T:type").unwrap();
    assert!(row("_AddedByTest").is_none());
    assert!(add_row(added) && !add_row(added));
    assert_eq!(row("_AddedByTest").map(|row| row.op_name), Some("tf._AddedByTest"));
    assert!(added_row("_AddedByTest").is_some() && !added.is_pure_function());
    assert!(!add_row(made("tf.AddV2", "x:T -> y:T; T:type").unwrap()));
}
