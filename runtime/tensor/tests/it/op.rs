//! Attribute defaults and refusals of operators, and random operands and attributes for every operator.
//!
//! `tf/truth.rs` compares results with TensorFlow's.

pub(crate) mod infer;
mod refusals;

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::tf::hostile::{INTS, limited, operand};
use befrost_tensor::mem::Malloc;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::*;
use befrost_tensor::{DType, HostTensor, Shape, TensorError, literal};

/// Attributes as `name=value`; each is parsed as the requested kind.
pub(crate) struct TextAttrs<'a>(pub(crate) BTreeMap<&'a str, &'a str>);

impl TextAttrs<'_> {
    fn parsed<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.parse().ok()
    }

    fn list<T>(&self, name: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        self.0.get(name)?.split(',').filter(|text| !text.is_empty()).map(item).collect()
    }
}

impl Attrs for TextAttrs<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
    fn int(&self, name: &str) -> Option<i64> {
        self.parsed(name)
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.parsed(name)
    }
    fn bool(&self, name: &str) -> Option<bool> {
        self.parsed(name)
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.0.get(name)?.as_bytes()))
    }
    fn ty(&self, name: &str) -> Option<Type> {
        self.parsed::<DType>(name).map(Type::from)
    }
    fn shape(&self, name: &str) -> Option<PartialShape> {
        PartialShape::from_i64(&self.ints(name)?).ok()
    }
    fn tensor(&self, name: &str) -> Option<HostTensor> {
        literal::parse(self.0.get(name)?, &Malloc::shared()).ok()
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.list(name, |text| text.parse().ok())
    }
    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.list(name, |text| text.parse().ok())
    }
    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        self.list(name, |text| Some(text.as_bytes().to_vec()))
    }
    fn types(&self, name: &str) -> Option<Vec<Type>> {
        self.list(name, |text| text.parse::<DType>().ok().map(Type::from))
    }
    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        Some(vec![self.shape(name)?])
    }
}

pub(crate) fn attrs<'a>(given: &[(&'a str, &'a str)]) -> TextAttrs<'a> {
    TextAttrs(given.iter().copied().collect())
}

fn run(op: &str, given: &[(&str, &str)], inputs: &[&str]) -> Result<Vec<HostTensor>, TensorError> {
    let inputs: Vec<HostTensor> =
        inputs.iter().map(|text| literal::parse(text, &Malloc::shared()).unwrap()).collect();
    let eval = row(op).expect(op).prepare(&attrs(given))?.unwrap_or_else(|| panic!("no operator {op}"));
    Ok(eval(&inputs.iter().collect::<Vec<_>>(), &Malloc::shared())?.into_vec())
}

fn check(op: &str, given: &[(&str, &str)], inputs: &[&str], want: &[&str]) {
    let got = run(op, given, inputs).unwrap_or_else(|error| panic!("{op}: {error}"));
    assert_eq!(got.len(), want.len(), "{op}");
    for (got, want) in got.iter().zip(want) {
        let want = literal::parse(want, &Malloc::shared()).unwrap();
        let report =
            befrost_tensor::compare::compare(got, &want, befrost_tensor::compare::Tolerance::EXACT).unwrap();
        assert!(report.is_match(), "{op}: {report}");
    }
}

fn refused(op: &str, given: &[(&str, &str)], inputs: &[&str], words: &str) {
    let error = run(op, given, inputs).err().unwrap_or_else(|| panic!("{op} accepts {inputs:?}"));
    assert!(error.to_string().contains(words), "{op}: {error}");
}

#[test]
fn attributes_have_defaults() {
    check(
        "Conv2D",
        &[("strides", "1,1,1,1"), ("padding", "VALID")],
        &["f32[1x1x2x1]:1,2", "f32[1x1x1x1]:3"],
        &["f32[1x1x2x1]:3,6"],
    );
    check("Sum", &[], &["f32[2]:1,2", "i32:0"], &["f32:3"]);
    check("ArgMax", &[], &["f32[3]:1,5,2", "i64:0"], &["i64:1"]);
    check("LeakyRelu", &[], &["f32[2]:-10,1"], &["f32[2]:-2,1"]);
    check("Squeeze", &[], &["f32[1x2x1]:1,2"], &["f32[2]:1,2"]);
    check("GatherV2", &[], &["f32[2x2]:1,2,3,4", "i64:1", "i32:-1"], &["f32[2]:2,4"]);
}

#[test]
fn operators_do_what_their_attributes_say() {
    check("Equal", &[("incompatible_shape_error", "false")], &["f32[2]:1,2", "f32[3]:1,2,3"], &["i1:false"]);
    check(
        "NotEqual",
        &[("incompatible_shape_error", "false")],
        &["f32[2]:1,2", "f32[3]:1,2,3"],
        &["i1:true"],
    );
    refused("Equal", &[], &["f32[2]:1,2", "f32[3]:1,2,3"], "cannot be broadcast");
    check("ConcatOffset", &[], &["i32:1", "i32[2]:4,2", "i32[2]:4,3"], &["i32[2]:0,0", "i32[2]:0,2"]);
    refused("ConcatOffset", &[], &["i32:1", "i32[2]:4,2", "i32[2]:5,3"], "along axis 1");
    check("_UnaryOpsComposition", &[("op_names", "Neg,Relu")], &["f32[2]:-3,3"], &["f32[2]:3,0"]);
    check("CheckNumerics", &[("message", "here")], &["f32[2]:1,2"], &["f32[2]:1,2"]);
    refused("CheckNumerics", &[("message", "here")], &["f32[2]:1,nan"], "here: NaN");
    check("Reverse", &[], &["f32[2x2]:1,2,3,4", "i1[2]:false,true"], &["f32[2x2]:2,1,4,3"]);
    check("Const", &[("dtype", "f32"), ("value", "f32[2]:1,2")], &[], &["f32[2]:1,2"]);
    refused("Const", &[("dtype", "i32"), ("value", "f32[2]:1,2")], &[], "has dtype f32");
    check("TopKV2", &[("index_type", "i64")], &["f32[3]:1,5,2", "i32:2"], &["f32[2]:5,2", "i64[2]:1,2"]);
    check("Concat", &[], &["i32:0", "f32[1]:1", "f32[1]:2"], &["f32[2]:1,2"]);
    check("MatrixDiagV3", &[], &["f32[2]:1,2", "i32:0", "i32:-1", "i32:-1", "f32:0"], &["f32[2x2]:1,0,0,2"]);
    check(
        "ApproximateEqual",
        &[("tolerance", "0.5")],
        &["f32[2]:1,2", "f32[2]:1.25,3"],
        &["i1[2]:true,false"],
    );
    let pads = [("strides", "1,1,1,1"), ("padding", "EXPLICIT"), ("explicit_paddings", "0,0,0,0,1,0,0,0")];
    check("Conv2D", &pads, &["f32[1x1x2x1]:1,2", "f32[1x1x1x1]:3"], &["f32[1x1x3x1]:0,3,6"]);
    let sizes = ["i32[2]:1,2", "f32[1x1x1x1]:3", "f32[1x1x2x1]:1,2"];
    let plain = [("strides", "1,1,1,1"), ("padding", "VALID")];
    check("Conv2DBackpropInput", &plain, &sizes, &["f32[1x1x2x1]:3,6"]);
    let window = ["f32[1x1x2x1]:1,2", "i32[4]:1,1,2,1", "i32[4]:1,1,2,1"];
    check("MaxPoolV2", &[("padding", "VALID")], &window, &["f32[1x1x1x1]:2"]);
}

/// An attribute of types is that of any operand or result whose type is known.
#[test]
fn types_are_derived_from_all_arguments() {
    let f32s = Some(Type::from(DType::F32));
    let derived = |op, inputs: &[Option<Type>], outputs: &[Option<Type>]| {
        let signature = row(op).expect(op).signature();
        Derived::new(signature, attrs(&[]), inputs.to_vec(), outputs.to_vec())
    };
    for (inputs, output) in [([f32s, None], None), ([None, f32s], None), ([None, None], f32s)] {
        assert_eq!(derived("AddV2", &inputs, &[output]).ty("T"), f32s);
    }
    assert_eq!(derived("AddV2", &[None, None], &[None]).ty("T"), None);
    let listed = [None, f32s, None];
    assert_eq!(derived("AddN", &listed, &[None]).ty("T"), f32s);
    assert_eq!(derived("AddN", &listed, &[None]).int("N"), Some(3));
    let i32s = Some(Type::from(DType::I32));
    assert_eq!(
        derived("IdentityN", &[f32s, None], &[None, i32s]).types("T").map(|types| types.len()),
        Some(2)
    );
    assert_eq!(derived("IdentityN", &[f32s, None], &[None, None]).types("T"), None);
}

/// As in TensorFlow, the gradients are products with 0 or 1.
#[test]
fn gradients_that_are_not_finite_reach_all_ends_of_a_range() {
    let ends = ["f32:-1", "f32:1"];
    let check = |gradients, want: [&str; 3]| {
        let op = "FakeQuantWithMinMaxVarsGradient";
        check(op, &[], &[&[gradients, "f32[3]:0,5,-5"], &ends[..]].concat(), &want);
    };
    check("f32[3]:1,2,4", ["f32[3]:1,0,0", "f32:4", "f32:2"]);
    check("f32[3]:inf,2,4", ["f32[3]:inf,0,0", "f32:nan", "f32:nan"]);
    check("f32[3]:1,2,-inf", ["f32[3]:1,0,nan", "f32:-inf", "f32:nan"]);
}

/// ONNX Runtime's results for a size of 1. ONNX's reference implementation has the position -0.5.
#[test]
fn a_single_pixel_is_the_first() {
    for (mode, x) in [("nearest", "1,8,27,64"), ("linear", "1,8,27,64"), ("cubic", "1,8,27,64")] {
        for (scales, sizes) in [("f32[0]:", "i64[1]:1"), ("f32[1]:0.3", "i64[0]:")] {
            let coordinates = ("coordinate_transformation_mode", "pytorch_half_pixel");
            let given = [("mode", mode), ("axes", "0"), coordinates];
            let x = format!("f32[4]:{x}");
            check("_Resize", &given, &[&x, "f32[0]:", scales, sizes], &["f32[1]:1"]);
        }
    }
}

#[test]
fn fusions_are_compositions() {
    let product = ["f32[1x2]:1,2", "f32[2x2]:1,0,0,-1"];
    let ops = [("fused_ops", "BiasAdd,Relu"), ("num_args", "1")];
    check("_FusedMatMul", &ops, &[product[0], product[1], "f32[2]:1,1"], &["f32[1x2]:2,0"]);
    let ops = [("fused_ops", "BiasAdd,Add,LeakyRelu"), ("leakyrelu_alpha", "0.5")];
    check("_FusedMatMul", &ops, &[product[0], product[1], "f32[2]:1,1", "f32[1x2]:0,-1"], &["f32[1x2]:2,-1"]);
    refused("_FusedMatMul", &ops, &product, "expected 2");
    refused("_FusedMatMul", &[("fused_ops", "Exotic")], &product, "unknown \"Exotic\"");
    let ops = [
        ("fused_ops", "FusedBatchNorm,Relu6"),
        ("epsilon", "0"),
        ("strides", "1,1,1,1"),
        ("padding", "SAME"),
        ("num_args", "4"),
    ];
    let vectors = ["f32[1]:2", "f32[1]:1", "f32[1]:3", "f32[1]:4"];
    let inputs = ["f32[1x1x2x1]:1,9", "f32[1x1x1x1]:3", vectors[0], vectors[1], vectors[2], vectors[3]];
    check("_FusedConv2D", &ops, &inputs, &["f32[1x1x2x1]:1,6"]);
    let inputs = ["f32[1x1x2x1]:1,9", vectors[0], vectors[1], vectors[2], vectors[3], "f32[1x1x2x1]:0,-9"];
    let ops =
        [("activation_mode", "Relu"), ("epsilon", "0"), ("is_training", "false"), ("num_side_inputs", "1")];
    let got = run("_FusedBatchNormEx", &ops, &inputs).unwrap();
    assert_eq!((got.len(), got[0].read::<f32>().unwrap().to_vec()), (6, vec![0.0, 0.0]));
    for (name, want) in
        [("GeluExact", [0.8413448, -0.045500264]), ("GeluApproximate", [0.841192, -0.045402307])]
    {
        let y = run("_FusedMatMul", &[("fused_ops", name)], &product).unwrap();
        for (got, want) in y[0].read::<f32>().unwrap().iter().zip(want) {
            assert!((got - want).abs() < 4e-7, "{name}: {got} {want}");
        }
    }
}

#[test]
fn wrong_attributes_and_operands_are_named() {
    let image = ["f32[1x1x2x1]:1,2", "f32[1x1x1x1]:3"];
    refused("Conv2D", &[("padding", "VALID")], &image, "no attribute `strides` (list(int))");
    refused("Conv2D", &[("padding", "MAYBE"), ("strides", "1,1,1,1")], &image, "\"MAYBE\", not one of");
    refused("Conv2D", &[("padding", "VALID"), ("strides", "2,1,1,1")], &image, "batch and channels");
    refused("Conv2D", &[("padding", "VALID"), ("strides", "1,1")], &image, "expected four numbers");
    refused(
        "Conv2D",
        &[("padding", "VALID"), ("strides", "x")],
        &image,
        "`strides` is not of kind list(int)",
    );
    refused(
        "Conv2D",
        &[("padding", "EXPLICIT"), ("strides", "1,1,1,1")],
        &image,
        "`explicit_paddings` is []",
    );
    refused(
        "AvgPool",
        &[("padding", "EXPLICIT"), ("ksize", "1,1,1,1"), ("strides", "1,1,1,1")],
        &image[..1],
        "not one of",
    );
    refused("Relu", &[], &[], "`Relu`: 0 operands, expected 1");
    refused("AddV2", &[], &["f32:1", "i32:1"], "has dtype i32");
    refused("Reshape", &[], &["f32:1", "f32[1]:1"], "does not take elements of dtype f32");
    refused("ExpandDims", &[], &["f32:1", "i32[2]:0,1"], "expected one element");
    refused("Unpack", &[("num", "3")], &["f32[2]:1,2"], "expected 3");
    refused("OneHot", &[], &["i32:1", "i32:-1", "f32:1", "f32:0"], "`depth` is -1");
    refused("Cast", &[], &["f32:1"], "no attribute `DstT` (type)");
    refused("Pad", &[], &["f32[2]:1,2", "i32[2]:1,1"], "expected [n, 2]");
}

const WORDS: [&str; 18] = [
    "true",
    "false",
    "f32",
    "i32",
    "i64",
    "SAME",
    "VALID",
    "EXPLICIT",
    "NCHW",
    "NHWC",
    "REFLECT",
    "0.5",
    "nan",
    "",
    "ij,jk->ik",
    "BiasAdd,Relu",
    "Relu,Neg",
    "f32[2]:1,2",
];

/// The text of an attribute, plausible or extreme.
fn attr_text() -> impl Strategy<Value = String> {
    let int = prop::sample::select(&INTS[..]);
    prop_oneof![
        prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        int.clone().prop_map(|i| i.to_string()),
        prop::collection::vec(int, 0..9).prop_map(|list| list
            .iter()
            .map(i64::to_string)
            .collect::<Vec<_>>()
            .join(",")),
        Just("1,1,1,1".to_owned()),
        Just("1,2,2,1".to_owned()),
    ]
}

/// A tensor of indices, axes or sizes.
fn index_operand() -> impl Strategy<Value = HostTensor> {
    let int = prop::sample::select(&INTS[..]);
    (prop::collection::vec(int, 0..5), any::<bool>(), any::<bool>()).prop_map(|(ints, wide, scalar)| {
        let shape =
            if scalar && !ints.is_empty() { Shape::scalar() } else { Shape::new(&[ints.len()]).unwrap() };
        let ints = if scalar && !ints.is_empty() { &ints[..1] } else { &ints[..] };
        let ints = HostTensor::from_slice(shape, ints, &Malloc::shared()).unwrap();
        if wide { ints } else { befrost_tensor::tf::cast(&ints, DType::I32, &Malloc::shared()).unwrap() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn every_operator_answers(
        values in prop::collection::vec(attr_text(), 12),
        tensors in prop::collection::vec(prop_oneof![operand(), index_operand()], 12),
        (extra, absent, same) in (-1isize..2, any::<u64>(), any::<bool>()),
    ) {
        for row in rows().filter(|row| row.is_pure_function()) {
            let (name, signature) = (row.name, row.signature());
            // Attributes that follow from the operands are left out, since random values contradict them.
            let says = |arg: &Arg, name: &str| {
                let by_type = matches!(arg.ty, ArgType::Attr(own) | ArgType::List(own) if own == name);
                by_type || arg.number == Some(name)
            };
            let said = |name: &str| signature.inputs.iter().any(|arg| says(arg, name));
            let given = signature.attrs.iter().filter(|attr| !said(attr.name)).zip(&values).enumerate();
            let given = given.filter(|(i, (attr, _))| attr.default.is_none() || absent >> i & 1 == 0);
            let given = TextAttrs(given.map(|(_, (attr, text))| (attr.name, &text[..])).collect());
            match row.prepare(&given) {
                Err(error) => prop_assert!(error.to_string().len() > 10, "{name}: {error}"),
                Ok(None) => prop_assert!(false, "{name} is not evaluated"),
                Ok(Some(eval)) => {
                    let n = signature.inputs.len().saturating_add_signed(extra).min(tensors.len());
                    let at = |i: usize| if same { &tensors[i / 2] } else { &tensors[i] };
                    let inputs: Vec<&HostTensor> = (0..n).map(at).collect();
                    match eval(&inputs, &limited()) {
                        Ok(results) => {
                            let agrees = infer::agrees(name, &given, &inputs, &results);
                            prop_assert!(agrees.is_ok(), "{name} of {inputs:?}, {:?}: {agrees:?}", given.0);
                        }
                        Err(error) => prop_assert!(error.to_string().len() > 10, "{name}: {error}"),
                    }
                }
            }
        }
    }
}
