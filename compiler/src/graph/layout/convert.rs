//! Layout conversion of operators.

use befrost_tensor::tf::op::Op;
use rustc_hash::FxHashMap;

use befrost_tensor::DType;

use super::network::between_layouts;
use super::roles::{self, OpRole, ValueRole, axes, permuted_axis};
use super::{Layout, Permutation};
use crate::build::Builder;
use crate::build::query::{dims, dtype, int_list, ints, producer_if, shape, shape_of};
use crate::dialects::tf::{self, operator};
use crate::ir::{AttrId, BlockId, DYNAMIC, KnownType, OpId, StrId, TypeId, ValueId};
use crate::pass::Rewriter;

/// List attributes with one element per axis.
const PER_AXIS: &[&str] = &["strides", "ksize", "dilations"];

struct Conversion<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    /// Values and their transposes.
    transposes: FxHashMap<(ValueId, Permutation), ValueId>,
    /// Created transpositions; unused ones are erased at the end.
    created: Vec<OpId>,
}

/// Converts the ops of a block to their new layouts.
pub(super) fn convert_block(r: &mut Rewriter<'_>, block: BlockId, chosen: &FxHashMap<OpId, Layout>) {
    let ops: Vec<OpId> = r.ir().ops_in(block).collect();
    let mut conversion = Conversion { r, transposes: FxHashMap::default(), created: Vec::new() };
    for op in ops {
        let Some(&layout) = chosen.get(&op) else {
            conversion.record(op);
            continue;
        };
        // Conversions keep the ranks of all values, so the roles are still the same.
        if let Some(role) = roles::of(conversion.r.ir(), op) {
            let before = conversion.r.checkpoint();
            if conversion.convert(op, &role, layout).is_none() {
                conversion.r.rollback(before);
                conversion.forget_erased();
            }
        }
    }
    let Conversion { r, created, .. } = conversion;
    for op in created.into_iter().rev() {
        r.erase_if_unused(op);
    }
    let transposes: Vec<OpId> =
        r.ir().ops_in(block).filter(|&op| operator(r.ir(), op) == Some(Op::Transpose)).collect();
    for op in transposes {
        reshape(r, op);
    }
}

/// A tensor type with permuted axes.
fn reordered(r: &mut Rewriter<'_>, ty: TypeId, order: &Permutation) -> TypeId {
    let m = r.ir();
    let Some(dims) = shape_of(m, ty).filter(|dims| dims.len() == order.len()) else { return ty };
    let (dims, element) = (order.map(|axis| dims[axis]), m.cx.element(ty));
    tf::tensor(r.cx(), Some(&dims), element)
}

fn numbers(order: &Permutation) -> Vec<i64> {
    order.iter().map(|&axis| axis as i64).collect()
}

impl Conversion<'_, '_> {
    /// Records a transposition between layouts for reuse.
    fn record(&mut self, op: OpId) {
        let m = self.r.ir();
        if operator(m, op) == Some(Op::Transpose)
            && let result = m.result(op, 0)
            && let Some((x, made)) = between_layouts(m, result)
        {
            self.transposes.entry((x, made.order())).or_insert(result);
        }
    }

    /// A value converted to `layout`.
    fn transposed(&mut self, before: OpId, value: ValueId, layout: Layout) -> Option<ValueId> {
        if let Some((x, made)) = between_layouts(self.r.ir(), value)
            && made == layout.other()
        {
            return Some(x);
        }
        let order = layout.order();
        if let Some(&known) = self.transposes.get(&(value, order)) {
            return Some(known);
        }
        let transposed = self.transpose(before, value, &order)?;
        self.transposes.insert((value, order), transposed);
        Some(transposed)
    }

    fn transpose(&mut self, before: OpId, value: ValueId, order: &Permutation) -> Option<ValueId> {
        let mut b = Builder::before(self.r, before);
        let perm = b.ints(&numbers(order), DType::I32).ok()?;
        let transposed = b.one(Op::Transpose, &[value, perm]).ok()?;
        self.created.extend(self.r.ir().defining_op(transposed));
        Some(transposed)
    }

    /// Permutes the rows of a vector or matrix.
    fn rows(&mut self, before: OpId, value: ValueId, order: &Permutation) -> Option<ValueId> {
        let mut b = Builder::before(self.r, before);
        let indices = b.ints(&numbers(order), DType::I32).ok()?;
        let axis = b.ints_of_shape(&[0], &[], DType::I32).ok()?;
        b.one(Op::GatherV2, &[value, indices, axis]).ok()
    }

    /// Renumbers axes.
    fn axes(&mut self, before: OpId, value: ValueId, order: &Permutation) -> Option<ValueId> {
        let m = self.r.ir();
        let new: Vec<i64> =
            axes(&ints(m, value)?).into_iter().map(|axis| permuted_axis(order, axis) as i64).collect();
        let (dims, dtype) = (dims(m, value)?.to_vec(), dtype(m, value)?);
        Builder::before(self.r, before).ints_of_shape(&new, &dims, dtype).ok()
    }

    /// Converts a tensor of lower rank that is broadcast to the image.
    fn small(&mut self, before: OpId, value: ValueId, layout: Layout) -> Option<ValueId> {
        let dims = dims(self.r.ir(), value)?;
        let mut full = vec![1; 4 - dims.len()];
        full.extend(dims);
        let order = layout.order();
        let transposed: Vec<i64> = order.iter().map(|&axis| full[axis]).collect();
        let mut value = value;
        let mut wide = full.iter().filter(|&&dim| dim != 1);
        if wide.next().is_some() && wide.next().is_some() {
            value = self.reshape(before, value, &full)?;
            value = self.transposed(before, value, layout)?;
        }
        // As few dimensions as possible: a vector along the last axis is a bias.
        let leading = transposed.iter().take_while(|&&dim| dim == 1).count();
        self.reshape(before, value, &transposed[leading..])
    }

    fn reshape(&mut self, before: OpId, value: ValueId, dims: &[i64]) -> Option<ValueId> {
        let mut b = Builder::before(self.r, before);
        let to = b.ints(dims, DType::I32).ok()?;
        b.one(Op::Reshape, &[value, to]).ok()
    }

    /// Forgets the values of erased ops.
    fn forget_erased(&mut self) {
        let m = self.r.ir();
        self.created.retain(|&op| !m.is_erased(op));
        self.transposes.retain(|_, &mut value| m.defining_op(value).is_none_or(|op| !m.is_erased(op)));
    }

    /// Converts one op; on `None` the caller rolls back.
    fn convert(&mut self, op: OpId, role: &OpRole, layout: Layout) -> Option<()> {
        let order = layout.order();
        let back = layout.other().order();
        let values: Vec<ValueId> = self.r.ir().operands(op).collect();
        let operands: Vec<ValueId> = values
            .into_iter()
            .zip(&role.operands)
            .map(|(value, part)| match part {
                ValueRole::Image => self.transposed(op, value, layout),
                ValueRole::Same => Some(value),
                ValueRole::Broadcast => self.small(op, value, layout),
                ValueRole::Rows => self.rows(op, value, &order),
                ValueRole::Axes => self.axes(op, value, &order),
            })
            .collect::<Option<_>>()?;
        let types: Vec<TypeId> = self.r.ir().results(op).map(|value| self.r.ir().value_type(value)).collect();
        let types: Vec<TypeId> = types
            .into_iter()
            .zip(&role.results)
            .map(|(ty, part)| if *part == ValueRole::Image { reordered(self.r, ty, &order) } else { ty })
            .collect();
        let attrs = self.attrs(op, layout);
        let new = self.r.rebuild(op, &operands, &types);
        for (name, attr) in attrs {
            self.r.set_attr(new, name, attr);
        }
        let results: Vec<ValueId> = self.r.ir().results(new).collect();
        let results: Vec<ValueId> = results
            .into_iter()
            .zip(&role.results)
            .map(|(value, part)| match part {
                ValueRole::Image => self.transpose(op, value, &back),
                ValueRole::Rows => self.rows(op, value, &back),
                _ => Some(value),
            })
            .collect::<Option<_>>()?;
        self.r.replace_op(op, &results);
        Some(())
    }

    /// The attributes that change.
    fn attrs(&mut self, op: OpId, layout: Layout) -> Vec<(StrId, AttrId)> {
        let order = layout.order();
        let m = self.r.ir();
        let mut changed: Vec<(&str, Vec<i64>)> = Vec::new();
        let written = |name: &str| m.attr_named(op, name).is_some();
        for name in PER_AXIS.iter().filter(|name| written(name)) {
            if let Some(numbers) = int_list(m, op, name).filter(|list| list.len() == 4) {
                changed.push((name, order.iter().map(|&axis| numbers[axis]).collect()));
            }
        }
        if let Some(pairs) = int_list(m, op, "explicit_paddings").filter(|list| list.len() == 8) {
            let pairs = order.iter().flat_map(|&axis| [pairs[2 * axis], pairs[2 * axis + 1]]).collect();
            changed.push(("explicit_paddings", pairs));
        }
        if let Some(gone) = int_list(m, op, "squeeze_dims") {
            let mut gone: Vec<i64> =
                axes(&gone).into_iter().map(|axis| permuted_axis(&order, axis) as i64).collect();
            gone.sort_unstable();
            changed.push(("squeeze_dims", gone));
        }
        let masks: Vec<(&str, i64)> = ["begin_mask", "end_mask"]
            .into_iter()
            .filter_map(|name| Some((name, m.cx.as_int(m.attr_named(op, name)?)?)))
            .map(|(name, mask)| {
                let bit = |(i, &axis): (usize, &usize)| (mask >> axis & 1) << i;
                (name, order.iter().enumerate().map(bit).sum())
            })
            .collect();
        let has_format = roles::written(m, op).is_some();
        let cx = self.r.cx();
        let int = |cx: &mut crate::ir::Context, n| cx.int_attr(KnownType::I64.id(), n);
        let mut attrs = Vec::new();
        for (name, numbers) in changed {
            let numbers: Vec<AttrId> = numbers.into_iter().map(|n| int(cx, n)).collect();
            attrs.push((cx.str_id(name), cx.array_attr(&numbers)));
        }
        for (name, mask) in masks {
            attrs.push((cx.str_id(name), int(cx, mask)));
        }
        if has_format {
            attrs.push((cx.str_id("data_format"), cx.str_attr(layout.name())));
        }
        attrs
    }
}

/// Replaces a transposition that only moves size-1 axes by a reshape, which copies nothing.
fn reshape(r: &mut Rewriter<'_>, op: OpId) {
    let m = r.ir();
    let Some(order) = ints(m, m.operand(op, 1)) else { return };
    let (x, result) = (m.operand(op, 0), m.result(op, 0));
    let (Some(from), Some(to)) = (shape(m, x), shape(m, result)) else { return };
    let dim = |&axis: &i64| usize::try_from(axis).ok().and_then(|axis| from.get(axis)).copied();
    let Some(moved) = order.iter().map(dim).collect::<Option<Vec<i64>>>() else { return };
    let wide: Vec<i64> =
        order.iter().zip(&moved).filter(|&(_, &dim)| dim != 1).map(|(&axis, _)| axis).collect();
    let n_unknown = moved.iter().filter(|&&dim| dim < 0).count();
    if !wide.is_sorted() || n_unknown > 1 || producer_if(m, result, &[Op::Transpose]).is_none() || moved != to
    {
        return;
    }
    let sizes: Vec<i64> = moved.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect();
    let mut b = Builder::before(r, op);
    let Ok(to) = b.ints(&sizes, DType::I32) else { return };
    if let Ok(new) = b.op(Op::Reshape, &[x, to]).like(result).one() {
        r.replace_op(op, &[new]);
    }
}
