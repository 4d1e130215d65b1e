//! `tf-fuse-quantization`: layers between dequantized and quantized tensors compute with the integers.
//!
//! ```text
//! Q(Conv2D | DepthwiseConv2dNative | MatMul (DQ(x), DQ(w)) + bias, Relu)
//!                                            ─▶  _Packed...(x, w, scales, bias)
//! Q(Relu(DQ(_Packed...(x, w)) + DQ(y)))      ─▶  _Packed...(x, w, scales, bias, y)
//! Q(Reshape | MaxPool | ConcatV2 ... (DQ(x)))    of one scale  ─▶  Reshape | ...(x)
//! Q(DQ(x))                                       of one scale  ─▶  x
//! Q(f(DQ(x)))                       f of elements and numbers  ─▶  _LookUpBytes(x, the table of all bytes)
//! ```
//!
//! Q is `_QuantizeLinear`, DQ is `_DequantizeLinear` of bytes: the form in which ONNX Runtime and others
//! write quantized models. Tensors between layers have one scale and one zero point; constant weights `w`
//! have one for each column or out channel at most. Without a Q behind it, a product gives f32.
//!
//! The product is exact: sums of 32 bits (of f32 integers for depthwise filters), which are scaled once. So a
//! result differs from that of the separate operators, whose sums round at each step, by one byte where it is
//! almost halfway between two. A sum of two tensors rounds both to bytes before, as it is written.
//!
//! Weights minus their zero points must be bytes, i8; weights of u8 with a zero point of 128 are. All other
//! layers stay as they are, of f32; `tf-constant-fold` dequantizes their constants afterwards.

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::narrow::Precision;
use befrost_tensor::tf::fused::WeightsKind;
use befrost_tensor::tf::op::{Fusion, Op, ProductForm, ProductOps, Traits, Type};
use befrost_tensor::tf::{ones_like, zeros_like};
use befrost_tensor::{DType, HostTensor, Shape};

use super::constant_fold::evaluate;
use super::pack_weights::Packed;
use super::patterns::words;
use super::signatures;
use crate::build::Builder;
use crate::build::query::{data_format, dims, dtype, has_no_edges, is_used_once, producer_if, splat};
use crate::build::sizes::{same_shape, same_type};
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::ir::{Module, OpId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-fuse-quantization",
    title: "TFFuseQuantization",
    summary: "makes layers between dequantized and quantized tensors compute with integers",
    options: &[],
    statistics: &[
        ("num-products", "Number of products of integers"),
        ("num-sums", "Number of sums that became part of a product"),
        ("num-moves", "Number of other ops that have integers now"),
        ("num-tables", "Number of functions that became tables"),
    ],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let ops: Vec<OpId> = r.ir().walk_functions().filter(|&op| tf::row(r.ir(), op).is_some()).collect();
    let mut packed = Packed::default();
    for &op in &ops {
        if !r.ir().is_erased(op) && fuse_product(r, op, &mut packed).is_some() {
            cx.count("num-products", 1);
        }
    }
    // Sums need the products; what is moved may be a sum.
    for &op in &ops {
        if !r.ir().is_erased(op) && fuse_sum(r, op).is_some() {
            cx.count("num-sums", 1);
        }
    }
    for &op in &ops {
        if !r.ir().is_erased(op) && move_integers(r, op).is_some() {
            cx.count("num-moves", 1);
        } else if !r.ir().is_erased(op) && tabulate(r, op).is_some() {
            cx.count("num-tables", 1);
        }
    }
    if r.change() == Change::Changed {
        r.drop_dead_constants();
        signatures::refresh(r);
    }
    r.change()
}

/// The quantization of a tensor of bytes.
#[derive(Clone, Copy, PartialEq)]
struct Quantization {
    scale: f32,
    zero: i64,
    dtype: DType,
}

/// The quantization of a `_QuantizeLinear` or `_DequantizeLinear` with one constant scale.
fn quantization(m: &Module, op: OpId, bytes: ValueId) -> Option<Quantization> {
    let dtype = dtype(m, bytes).filter(|dtype| matches!(dtype, DType::I8 | DType::UI8))?;
    let (scale, zero) = (m.operand(op, 1), m.operand(op, 2));
    let is_one = |value| dims(m, value).is_some_and(<[i64]>::is_empty);
    if !has_no_edges(m, op) || !is_one(scale) || !is_one(zero) {
        return None;
    }
    let scale = splat(m, scale)? as f32;
    (scale.is_normal() && scale > 0.0).then_some(Quantization { scale, zero: splat(m, zero)? as i64, dtype })
}

/// The bytes that a value is dequantized from.
fn dequantized(m: &Module, value: ValueId) -> Option<(ValueId, Quantization)> {
    let op = producer_if(m, value, &[Op::_DequantizeLinear])?;
    let bytes = m.operand(op, 0);
    Some((bytes, quantization(m, op, bytes)?))
}

/// The op that quantizes a value, which has no other user.
fn quantized(m: &Module, value: ValueId) -> Option<(OpId, Quantization)> {
    let op = only_user(m, value, &[Op::_QuantizeLinear]).filter(|&op| m.operand(op, 0) == value)?;
    Some((op, quantization(m, op, m.result(op, 0))?))
}

/// A constant of dequantized integers: the integers minus their zero points, and the scale of each.
struct Integers {
    numbers: HostTensor,
    scales: HostTensor,
}

impl Integers {
    /// The integers behind a value, through the ops that move them.
    fn of(m: &Module, value: ValueId, allocator: &Arc<dyn Allocator>) -> Option<Integers> {
        let op = m.defining_op(value)?;
        let row = tf::row(m, op)?;
        let constant = |i: usize| tf::dense_tensor(&m.cx, constant_of(m, m.operand(op, i))?, allocator);
        let run = |operands: &[HostTensor]| evaluate(m, op, row, operands, allocator)?.pop();
        match row.op? {
            Op::_DequantizeLinear => {
                let (x, scale, zero) = (constant(0)?, constant(1)?, constant(2)?);
                let one = ones_like(&scale, allocator).ok()?;
                let (ones, zeros) = (ones_like(&x, allocator).ok()?, zeros_like(&zero, allocator).ok()?);
                Some(Integers { numbers: run(&[x, one, zero])?, scales: run(&[ones, scale, zeros])? })
            }
            Op::Reshape | Op::Transpose | Op::Squeeze | Op::ExpandDims | Op::Identity => {
                let inner = Integers::of(m, m.operand(op, 0), allocator)?;
                let how: Vec<HostTensor> = (1..m.n_operands(op)).map(constant).collect::<Option<_>>()?;
                let moved = |x: HostTensor| run(&[&[x], &how[..]].concat());
                Some(Integers { numbers: moved(inner.numbers)?, scales: moved(inner.scales)? })
            }
            _ => None,
        }
    }

    /// The scale of each of `n` columns, or of each of `n` rows, if its integers have one scale and all
    /// integers are bytes.
    fn column_scales(&self, n: usize, are_rows: bool) -> Option<Vec<f32>> {
        let (numbers, scales) = (self.numbers.read::<f32>().ok()?, self.scales.read::<f32>().ok()?);
        let each = scales.len().checked_div(n).filter(|&each| each > 0)?;
        let column = |i: usize| if are_rows { i / each } else { i % n };
        let first: Vec<f32> = (0..n).map(|i| scales[if are_rows { i * each } else { i }]).collect();
        let have_one = scales.iter().enumerate().all(|(i, scale)| *scale == first[column(i)]);
        (have_one && numbers.iter().all(|&x| f32::from(x as i8) == x)).then_some(first)
    }
}

/// A product of dequantized bytes and weights, perhaps with a bias and a function, perhaps quantized.
fn fuse_product(r: &mut Rewriter<'_>, op: OpId, packed: &mut Packed) -> Option<()> {
    let m = r.ir();
    let form = packed.form(m, op).filter(|_| has_no_edges(m, op))?;
    let (x, input) = dequantized(m, m.operand(op, 0))?;
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let weights = Integers::of(m, m.operand(op, 1), &plain)?;
    let [_, _, channels, outs] = form.packing.dims();
    let n = if form.packing.kind() == WeightsKind::Depthwise { channels } else { outs };
    let scales = weights.column_scales(n, form.packing.is_transposed())?;
    let scales: Vec<f32> = scales.iter().map(|scale| scale * input.scale).collect();
    let mut operands: Vec<ValueId> = m.operands(op).collect();
    let (mut done, mut ops) = (words(m, op, "fused_ops"), vec![op]);
    // Products of batches, and depthwise ones with explicit paddings, are not fused with what follows.
    if done.is_empty() {
        done.extend(following_bias(m, op, n as i64).map(|(sum, bias)| {
            ops.push(sum);
            operands.push(bias);
            "BiasAdd".to_owned()
        }));
        let value = m.result(*ops.last()?, 0);
        done.extend(only_user(m, value, &[Op::Relu, Op::Relu6]).and_then(|relu| {
            ops.push(relu);
            Some(tf::row(m, relu)?.name.to_owned())
        }));
    }
    // What is rounded to bytes in registers has been clamped at most.
    let is_simple = done.iter().all(|word| ["BiasAdd", "Relu", "Relu6"].contains(&word.as_str()));
    let end = quantized(m, m.result(*ops.last()?, 0)).filter(|_| is_simple);
    ops.extend(end.map(|(op, _)| op));
    let last = *ops.last()?;
    let (ty, n_args) = (m.value_type(m.result(last, 0)), operands.len() - 1);
    operands[0] = x;
    let packing = match form.product {
        ProductOps::DEPTHWISE => form.packing,
        _ => form.packing.with_precision(Precision::Int8).ok()?,
    };
    let numbers = tf::tensor_attr(r.cx(), &weights.numbers)?;
    let numbers = packed.weights(r, numbers, packing)?;
    let scales = HostTensor::from_slice(Shape::new(&[n]).ok()?, &scales, &plain).ok()?;
    let scales = tf::tensor_attr(r.cx(), &scales)?;
    let before = r.checkpoint();
    let mut b = Builder::before(r, last);
    operands[1] = b.constant(numbers);
    let scales = b.constant(scales);
    operands.insert(2, scales);
    let all: Vec<&str> = std::iter::once("Mul").chain(done.iter().map(String::as_str)).collect();
    let mut new = form
        .op(&mut b, op, &operands)
        .strs("fused_ops", &all)
        .int("input_zero_point", input.zero)
        .int("num_args", n_args as i64);
    if let Some((_, to)) = end {
        new = new.f32("output_scale", to.scale).int("output_zero_point", to.zero);
    }
    let Ok(new) = new.results(&[ty]).one() else {
        r.rollback(before);
        return None;
    };
    r.replace_op(last, &[new]);
    for &op in ops.iter().rev().skip(1) {
        r.erase(op);
    }
    Some(())
}

/// The only user of a value, if it is one of these operators.
fn only_user(m: &Module, value: ValueId, wanted: &[Op]) -> Option<OpId> {
    let (user, _) = m.users(value).next().filter(|_| is_used_once(m, value))?;
    (has_no_edges(m, user) && wanted.contains(&tf::operator(m, user)?)).then_some(user)
}

/// The sum of a product and a vector of `n` numbers, one per column, which has no other user.
fn following_bias(m: &Module, product: OpId, n: i64) -> Option<(OpId, ValueId)> {
    let value = m.result(product, 0);
    let sum = only_user(m, value, &[Op::Add, Op::AddV2, Op::BiasAdd])?;
    let bias = m.operands(sum).find(|&operand| operand != value)?;
    let fits = match tf::operator(m, sum)? {
        Op::BiasAdd => data_format(m, sum) == data_format(m, product),
        _ => data_format(m, product) == "NHWC" && same_type(m, value, m.result(sum, 0)),
    };
    (fits && dims(m, bias) == Some(&[n])).then_some((sum, bias))
}

/// The sum of a product of bytes and other bytes, which becomes part of the product.
fn fuse_sum(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let m = r.ir();
    if tf::operator(m, op) != Some(Op::_QuantizeLinear) {
        return None;
    }
    let (last, to) = (op, quantization(m, op, m.result(op, 0))?);
    let mut value = m.operand(last, 0);
    let relu = producer_if(m, value, &[Op::Relu, Op::Relu6]).filter(|_| is_used_once(m, value));
    if let Some(relu) = relu {
        value = m.operand(relu, 0);
    }
    let sum = producer_if(m, value, &[Op::Add, Op::AddV2]).filter(|_| is_used_once(m, value))?;
    let of = |i: usize| {
        let value = m.operand(sum, i);
        dequantized(m, value).map(|(bytes, of)| (value, bytes, of))
    };
    let (left, right) = (of(0)?, of(1)?);
    // Of two products the later one, whose other operand is ready then.
    let fits = |&(value, bytes, of): &(ValueId, ValueId, Quantization)| {
        let inner = m.defining_op(bytes)?;
        let Fusion::Product(product, ProductForm::Packed) = tf::row(m, inner)?.fusion() else { return None };
        let done = words(m, inner, "fused_ops");
        let is_linear = done.iter().all(|word| ["Mul", "BiasAdd"].contains(&word.as_str()));
        let is_own = is_used_once(m, bytes) && is_used_once(m, value) && of.dtype == to.dtype;
        (is_own && is_linear && product != ProductOps::DEPTHWISE && !adds_bytes(m, inner)).then_some(inner)
    };
    let (inner, (_, bytes, product), (_, residual, other)) = match (fits(&left), fits(&right)) {
        (Some(first), Some(second)) if m.is_before(first, second) => (second, right, left),
        (Some(inner), _) => (inner, left, right),
        (None, Some(inner)) => (inner, right, left),
        (None, None) => return None,
    };
    if other.dtype != to.dtype || !same_type(m, bytes, residual) || bytes == residual {
        return None;
    }
    let (ty, done) = (m.value_type(m.result(last, 0)), words(m, inner, "fused_ops"));
    let function = relu.and_then(|relu| Some(tf::row(m, relu)?.name));
    let all: Vec<&str> = done.iter().map(String::as_str).chain(function).collect();
    let operands: Vec<ValueId> = m.operands(inner).chain([residual]).collect();
    let operator = tf::operator(m, inner)?;
    let before = r.checkpoint();
    let mut b = Builder::before(r, last);
    let new = b
        .op(operator, &operands)
        .attrs_of(inner, |_| true)
        .strs("fused_ops", &all)
        .int("num_residuals", 1)
        .f32("output_scale", to.scale)
        .int("output_zero_point", to.zero)
        .f32("residual_scale", other.scale)
        .int("residual_zero_point", other.zero)
        .f32("sum_scale", product.scale)
        .int("sum_zero_point", product.zero)
        .results(&[ty])
        .one();
    let Ok(new) = new else {
        r.rollback(before);
        return None;
    };
    let m = r.ir();
    let between = relu.into_iter().chain([sum]);
    let between: Vec<OpId> =
        between.chain([left.0, right.0].into_iter().filter_map(|x| m.defining_op(x))).collect();
    r.replace_op(last, &[new]);
    for op in between.into_iter().chain([inner]) {
        r.erase_if_unused(op);
    }
    Some(())
}

/// True for a product that adds bytes already.
fn adds_bytes(m: &Module, op: OpId) -> bool {
    m.attr_named(op, "num_residuals").is_some()
}

/// An op that moves or selects elements, between tensors of the same quantization; or none between them.
fn move_integers(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let m = r.ir();
    if tf::operator(m, op) != Some(Op::_QuantizeLinear) {
        return None;
    }
    let (value, to) = (m.operand(op, 0), quantization(m, op, m.result(op, 0))?);
    let bytes = |value| dequantized(m, value).filter(|(_, of)| *of == to).map(|(bytes, _)| bytes);
    if let Some(bytes) = bytes(value).filter(|&bytes| same_type(m, bytes, m.result(op, 0))) {
        r.replace_op(op, &[bytes]);
        return Some(());
    }
    let inner = m.defining_op(value).filter(|&inner| is_used_once(m, value) && has_no_edges(m, inner))?;
    let operator = tf::operator(m, inner)?;
    let word = |name| m.attr_named(inner, name).and_then(|attr| m.cx.as_str(attr));
    let moved = match operator {
        Op::ConcatV2 => 0..m.n_operands(inner) - 1,
        Op::Pack => 0..m.n_operands(inner),
        Op::Reshape | Op::Transpose | Op::Squeeze | Op::ExpandDims | Op::Slice | Op::StridedSlice => 0..1,
        Op::GatherV2 | Op::GatherNd | Op::MaxPool | Op::PadV2 | Op::ReverseV2 | Op::Tile => 0..1,
        Op::BroadcastTo | Op::DepthToSpace | Op::SpaceToDepth | Op::ResizeNearestNeighbor => 0..1,
        Op::Max | Op::Min | Op::MirrorPad | Op::_GatherElements => 0..1,
        // Regions of images have a number beyond the image.
        Op::_Resize
            if word("mode") == Some("nearest")
                && word("coordinate_transformation_mode") != Some("tf_crop_and_resize") =>
        {
            0..1
        }
        _ => return None,
    };
    let mut operands: Vec<ValueId> = m.operands(inner).collect();
    for operand in &mut operands[moved] {
        *operand = bytes(*operand)?;
    }
    let (ty, affine) = (m.value_type(m.result(op, 0)), [m.operand(op, 1), m.operand(op, 2)]);
    let padding = (operator == Op::PadV2).then(|| m.operand(inner, 2));
    let before = r.checkpoint();
    let mut b = Builder::before(r, op);
    if let Some(padding) = padding {
        let [scale, zero] = affine;
        let byte = tf::element(b.cx(), Type::Dense(to.dtype), false);
        let byte = tf::tensor(b.cx(), Some(&[]), byte);
        let Ok(padding) = b.op(Op::_QuantizeLinear, &[padding, scale, zero]).results(&[byte]).one() else {
            b.rollback(before);
            return None;
        };
        operands[2] = padding;
    }
    let new = b.op(operator, &operands).attrs_of(inner, |name| name != "T" && name != "Tparams");
    let Ok(new) = new.results(&[ty]).one() else {
        r.rollback(before);
        return None;
    };
    r.replace_op(op, &[new]);
    r.erase_if_unused(inner);
    Some(())
}

/// The most ops between a dequantized tensor and what quantizes a function of it.
const MAX_TABULATED: usize = 32;

/// The computation of a function of one tensor of bytes.
struct Tabulation<'m> {
    m: &'m Module,
    allocator: Arc<dyn Allocator>,
    /// The bytes, once they are found.
    source: Option<ValueId>,
    n_ops: usize,
}

impl Tabulation<'_> {
    /// The value for each of the 256 bytes; one number if it is a constant. `None` if it is no function of
    /// one tensor of bytes, element by element.
    fn of(&mut self, value: ValueId) -> Option<HostTensor> {
        let m = self.m;
        if let Some(constant) = constant_of(m, value) {
            let number = tf::dense_tensor(&m.cx, constant, &self.allocator)?;
            return (number.num_elements() == 1).then_some(number);
        }
        let op = m.defining_op(value)?;
        let row = tf::row(m, op).filter(|_| has_no_edges(m, op) && m.n_results(op) == 1)?;
        self.n_ops += 1;
        if self.n_ops > MAX_TABULATED {
            return None;
        }
        let operands = if let Some((bytes, of)) = dequantized(m, value) {
            if *self.source.get_or_insert(bytes) != bytes {
                return None;
            }
            let all = HostTensor::zeros(of.dtype, Shape::new(&[256]).ok()?, &self.allocator).ok()?;
            all.write_bytes().ok()?.iter_mut().zip(0..=u8::MAX).for_each(|(to, byte)| *to = byte);
            vec![all, self.of(m.operand(op, 1))?, self.of(m.operand(op, 2))?]
        } else {
            if !row.has(Traits::ELEMENTWISE) {
                return None;
            }
            m.operands(op).map(|operand| self.of(operand)).collect::<Option<_>>()?
        };
        evaluate(m, op, row, &operands, &self.allocator)?.pop()
    }
}

/// A function of the elements of dequantized bytes that is quantized: a table.
fn tabulate(r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let m = r.ir();
    if tf::operator(m, op) != Some(Op::_QuantizeLinear) {
        return None;
    }
    let result = m.result(op, 0);
    quantization(m, op, result)?;
    let mut tabulation = Tabulation { m, allocator: Malloc::shared(), source: None, n_ops: 0 };
    let row = tf::row(m, op)?;
    let operands = m.operands(op).map(|operand| tabulation.of(operand)).collect::<Option<Vec<_>>>()?;
    let table = evaluate(m, op, row, &operands, &tabulation.allocator)?.pop()?;
    let source = tabulation.source.filter(|&source| same_shape(m, source, result))?;
    let (ty, value) = (m.value_type(result), m.operand(op, 0));
    let table = (table.num_elements() == 256).then(|| tf::tensor_attr(r.cx(), &table))??;
    let before = r.checkpoint();
    let mut b = Builder::before(r, op);
    let table = b.constant(table);
    let Ok(new) = b.op(Op::_LookUpBytes, &[source, table]).results(&[ty]).one() else {
        r.rollback(before);
        return None;
    };
    r.replace_op(op, &[new]);
    if let Some(function) = r.ir().defining_op(value) {
        r.erase_if_unused(function);
    }
    Some(())
}
