//! `tf-pack-weights`: constant weights of products are packed in the order in which kernels read them.
//!
//! ```text
//! MatMul | BatchMatMulV2 | Einsum | _FusedMatMul (x, w)  ─▶  _PackedMatMul(x, weights, ...)
//! Conv2D | _FusedConv2D (x, w)                           ─▶  _PackedConv2D(x, weights, ...)
//! DepthwiseConv2dNative | _Fused... (x, w)               ─▶  _PackedDepthwiseConv2dNative(x, weights, ...)
//! _Lstm | _Gru | _Rnn (x, w, r, b, ...)                  ─▶  _PackedLstm(_PackedMatMul(x, w, b), r, ...)
//!     with weights: tensor<nxui8>, in the file
//! ```
//!
//! The packing is the same for all machines (`befrost_tensor::tf::fused::Weights`); the kernel that reads
//! it is chosen at run time. Large weights are packed while the file is written, so that they are in
//! memory once. Weights of products with the attribute `_precision` are packed in that precision
//! (`tf-lower-precision`). Filters are transformed for Winograd's convolution where that is faster.
//! `winograd=false` and the op attribute `_no_winograd` disable the transform.

mod recurrent;

use befrost_tensor::tf::op::{Fusion, Op, ProductForm, ProductOps};
use std::sync::Arc;

use bef_format::write::Pieces;
use befrost_tensor::narrow::Precision;
use befrost_tensor::tf::fused::{Algorithm, Packing};
use befrost_tensor::{DType, Shape};
use rustc_hash::FxHashMap;

use super::lower_precision::{INPUT_RANGE, PRECISION};
use super::signatures;
use crate::build::query::{bytes_of, data_format, dims, dtype, flag, n_elements, shape};
use crate::build::{Builder, PendingOp};
use crate::dialects::tf::{self, operator};
use crate::fold::constant_of;
use crate::ir::{AttrId, AttrKind, Blob, KnownType, Module, OpId, ValueId};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-pack-weights",
    title: "TFPackWeights",
    summary: "packs constant weights for the kernels that read them",
    options: &[PassOption {
        name: "winograd",
        summary: "Whether filters may be transformed for Winograd's convolution, which rounds otherwise.",
        kind: OptionKind::Flag(true),
    }],
    statistics: &[("num-packed", "Number of products that read packed weights")],
    run,
};

/// Minimum number of columns; packed narrower matrices would mostly be padding.
pub(super) const MIN_COLUMNS: i64 = 8;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let ops: Vec<OpId> =
        r.ir().walk_functions().filter(|&op| tf::op_of(r.ir().op_name_str(op)).is_some()).collect();
    let mut packed = Packed { may_transform: cx.flag("winograd"), known: FxHashMap::default() };
    for op in ops {
        if !r.ir().is_erased(op) && packed.pack(r, op).is_some() {
            cx.count("num-packed", 1);
            r.drop_dead_constants();
        }
    }
    if r.change() == Change::Changed {
        signatures::refresh(r);
    }
    r.change()
}

/// Maximum number of equal weights that are packed: a file with more would grow out of all proportion.
const MAX_REPEATED: usize = 1 << 18;

/// Packed weights, made from the plain ones while the file is written.
struct PackedPieces {
    packing: Packing,
    weights: Blob,
}

impl Pieces for PackedPieces {
    fn n_bytes(&self) -> usize {
        self.packing.n_bytes()
    }

    fn make(&self, start: usize, piece: &mut [u8]) {
        self.packing.fill(&self.weights, start, piece);
    }
}

/// The packed form of a product.
pub(super) struct PackedForm {
    pub(super) product: ProductOps,
    pub(super) packing: Packing,
    /// The shape of the weights.
    shape: Vec<i64>,
    /// The number of contracted axes, if the weights may have several.
    contracted: Option<i64>,
}

impl PackedForm {
    /// The packed product `op` of other operands.
    pub(super) fn op<'b, 'm, 'v>(
        &self,
        b: &'b mut Builder<'_, 'm>,
        op: OpId,
        operands: &'v [ValueId],
    ) -> PendingOp<'b, 'm, 'v> {
        let (kept, attr_of_shape): (&[&str], &str) = match self.product {
            ProductOps::MATMUL => (&["fused_ops", "leakyrelu_alpha"], "shape"),
            _ => (
                &[
                    "data_format",
                    "dilations",
                    "explicit_paddings",
                    "fused_ops",
                    "leakyrelu_alpha",
                    "padding",
                    "strides",
                ],
                "filter_shape",
            ),
        };
        let new = b.op(self.product.packed, operands).attrs_of(op, |name| kept.contains(&name));
        let new = new.ints(attr_of_shape, &self.shape);
        match self.contracted {
            Some(n) => new.int("contracted", n),
            None => new,
        }
    }
}

/// The packed weights of a module.
#[derive(Default)]
pub(super) struct Packed {
    may_transform: bool,
    /// The weights that are packed already.
    known: FxHashMap<(AttrId, Packing), AttrId>,
}

impl Packed {
    fn pack(&mut self, r: &mut Rewriter<'_>, op: OpId) -> Option<()> {
        let m = r.ir();
        if let Some(Op::_Lstm | Op::_Gru | Op::_Rnn) = operator(m, op) {
            return self.recurrent(r, op);
        }
        let form = self.form(m, op)?;
        let weights = constant_of(m, m.operand(op, 1))?;
        let packing =
            precision(m, op).and_then(|to| form.packing.with_precision(to).ok()).unwrap_or(form.packing);
        let input_range = m.attr_named(op, INPUT_RANGE).filter(|_| form.product != ProductOps::DEPTHWISE);
        let packed = self.weights(r, weights, packing)?;
        let m = r.ir();
        let w = m.operand(op, 1);
        let types: Vec<_> = m.results(op).map(|value| m.value_type(value)).collect();
        let mut operands: Vec<ValueId> = m.operands(op).collect();
        let n_args = (tf::n_data_operands(m, op) - 2) as i64;
        let before = r.checkpoint();
        let mut b = Builder::before(r, op);
        operands[1] = b.constant(packed);
        let new =
            form.op(&mut b, op, &operands).maybe_attr("input_range", input_range).int("num_args", n_args);
        let Ok(new) = new.results(&types).build() else {
            r.rollback(before);
            return None;
        };
        let results: Vec<ValueId> = r.ir().results(new).collect();
        r.replace_op(op, &results);
        erase_unused(r, w);
        Some(())
    }

    /// The packed form of a product of f32.
    pub(super) fn form(&self, m: &Module, op: OpId) -> Option<PackedForm> {
        let Fusion::Product(product, ProductForm::Plain | ProductForm::Fused | ProductForm::General) =
            tf::row(m, op)?.fusion()
        else {
            return None;
        };
        if tf::n_data_operands(m, op) < 2 {
            return None;
        }
        let (x, w) = (m.operand(op, 0), m.operand(op, 1));
        if dtype(m, x) != Some(DType::F32) || dtype(m, w) != Some(DType::F32) {
            return None;
        }
        let mut contracted = None;
        let (packing, shape) = match (product, operator(m, op)?) {
            (ProductOps::CONV2D, _) => (self.filters(m, op)?, dims(m, w)?.to_vec()),
            (ProductOps::DEPTHWISE, _) => (depthwise(m, op)?, dims(m, w)?.to_vec()),
            (_, Op::Einsum) => {
                let (packing, shape, n) = contraction(m, op)?;
                contracted = Some(n as i64);
                (packing, shape)
            }
            _ => matrix(m, op)?,
        };
        Some(PackedForm { product, packing, shape, contracted })
    }

    /// The packed form of a constant.
    pub(super) fn weights(
        &mut self,
        r: &mut Rewriter<'_>,
        weights: AttrId,
        packing: Packing,
    ) -> Option<AttrId> {
        if let Some(&known) = self.known.get(&(weights, packing)) {
            return Some(known);
        }
        let m = r.ir();
        let AttrKind::Dense { splat, data, ty } = m.cx.attr(weights) else { return None };
        let plain = match (splat, bytes_of(m, *ty)?) {
            (false, _) => data.clone(),
            (true, len) if len / data.len() <= MAX_REPEATED => Blob::from(data.repeat(len / data.len())),
            (true, _) => return None,
        };
        let data = Blob::from_pieces(Arc::new(PackedPieces { packing, weights: plain }));
        let ty = tf::tensor(r.cx(), Some(&[packing.n_bytes() as i64]), KnownType::UI8.id());
        let packed = r.cx().attr_id(AttrKind::Dense { ty, splat: false, data });
        self.known.insert((weights, packing), packed);
        Some(packed)
    }

    /// The packing of the filters of a convolution without groups.
    fn filters(&self, m: &Module, op: OpId) -> Option<Packing> {
        let filter = dims(m, m.operand(op, 1))?;
        let &[height, width, from, to] = filter else { return None };
        let planes = Planes::of(m, op);
        if planes.channels(m, m.operand(op, 0))? != from || from == 0 || to == 0 {
            return None;
        }
        let [strides, dilations] = ["strides", "dilations"].map(|name| planes.pair(m, op, name));
        let size = |n: i64| usize::try_from(n).ok();
        let sizes = [size(height)?, size(width)?, size(from)?, size(to)?];
        let may_transform =
            self.may_transform && m.attr_named(op, "_no_winograd").is_none() && precision(m, op).is_none();
        let algorithm = match planes.plane(m, m.result(op, 0)).filter(|_| may_transform) {
            Some(plane) => Algorithm::fastest(sizes, strides?, dilations?, plane),
            None => Algorithm::Direct,
        };
        Packing::filters(&Shape::from_i64(filter).ok()?, algorithm).ok()
    }
}

/// Erases the constant `weights` if nothing uses it any more.
fn erase_unused(r: &mut Rewriter<'_>, weights: ValueId) {
    if let Some(constant) = r.ir().defining_op(weights) {
        r.erase_if_unused(constant);
    }
}

/// The lower precision that an op asks for.
fn precision(m: &Module, op: OpId) -> Option<Precision> {
    let name = m.attr_named(op, PRECISION).and_then(|attr| m.cx.as_str(attr))?;
    Precision::ALL.into_iter().find(|precision| precision.name() == name)
}

/// The packing of the right operand of a product, if it is one matrix, with its rows and columns.
fn matrix(m: &Module, op: OpId) -> Option<(Packing, Vec<i64>)> {
    let is_batch = tf::row(m, op)?.signature().attr("adj_x").is_some();
    let (left, right) = if is_batch { ("adj_x", "adj_y") } else { ("transpose_a", "transpose_b") };
    let &[a, b] = dims(m, m.operand(op, 1))? else { return None };
    let is_transposed = flag(m, op, right);
    let (rows, cols) = if is_transposed { (b, a) } else { (a, b) };
    if flag(m, op, left) || rows == 0 || cols < MIN_COLUMNS {
        return None;
    }
    Some((Packing::matrix(&Shape::from_i64(&[a, b]).ok()?, is_transposed).ok()?, vec![rows, cols]))
}

/// The packing of an einsum's right operand, its dimensions and the number of contracted axes, which become
/// the rows, if these are the last axes of the left operand and the first of the right one, in the same
/// order: `btd,dhe->bthe`.
fn contraction(m: &Module, op: OpId) -> Option<(Packing, Vec<i64>, usize)> {
    let equation = m.attr_named(op, "equation").and_then(|attr| m.cx.as_str(attr))?;
    let (operands, result) = equation.split_once("->")?;
    let (left, right) = operands.split_once(',')?;
    let [left, right, result] = [left, right, result].map(str::trim);
    let distinct = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphabetic())
            && text.bytes().enumerate().all(|(i, byte)| !text.as_bytes()[..i].contains(&byte))
    };
    let n = right.bytes().take_while(|byte| left.as_bytes().contains(byte)).count();
    let (inner, columns) = right.split_at_checked(n)?;
    let rows = left.strip_suffix(inner)?;
    let fits = distinct(left) && distinct(right) && n > 0 && result.strip_prefix(rows) == Some(columns);
    let dims = dims(m, m.operand(op, 1)).filter(|dims| dims.len() == right.len())?;
    let (rows, columns) = (n_elements(&dims[..n])?, n_elements(&dims[n..])?);
    if !fits || columns < MIN_COLUMNS || dims.iter().any(|&dim| dim <= 0) {
        return None;
    }
    let packing = Packing::matrix(&Shape::from_i64(&[rows, columns]).ok()?, false).ok()?;
    Some((packing, dims.to_vec(), n))
}

fn depthwise(m: &Module, op: OpId) -> Option<Packing> {
    let dims = dims(m, m.operand(op, 1))?;
    match *dims {
        [_, _, from, 1] if from > 0 => Packing::depthwise(&Shape::from_i64(dims).ok()?).ok(),
        _ => None,
    }
}

/// Positions of the axes of images.
struct Planes {
    is_nchw: bool,
}

impl Planes {
    fn of(m: &Module, op: OpId) -> Planes {
        Planes { is_nchw: data_format(m, op) == "NCHW" }
    }

    fn axes(&self) -> [usize; 2] {
        if self.is_nchw { [2, 3] } else { [1, 2] }
    }

    fn channels(&self, m: &Module, x: ValueId) -> Option<i64> {
        shape(m, x)?.get(if self.is_nchw { 1 } else { 3 }).copied().filter(|&dim| dim > 0)
    }

    /// Height and width, if known.
    fn plane(&self, m: &Module, x: ValueId) -> Option<(usize, usize)> {
        let shape = shape(m, x)?;
        let [height, width] = self.axes().map(|axis| usize::try_from(*shape.get(axis)?).ok());
        Some((height?, width?))
    }

    /// The elements of a list attribute for height and width; 1 if the attribute is absent.
    fn pair(&self, m: &Module, op: OpId, attr: &str) -> Option<(usize, usize)> {
        use befrost_tensor::tf::op::Attrs as _;
        let signature = tf::row(m, op)?.signature();
        let Some(list) = tf::attrs_of(m, op, signature).ints(attr) else { return Some((1, 1)) };
        let [height, width] = self.axes().map(|axis| usize::try_from(*list.get(axis)?).ok());
        Some((height?, width?))
    }
}
