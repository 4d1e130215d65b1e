//! Operators that select and place elements by indices.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::shaping::axes;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, is_float, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

pub(super) fn gather(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, indices) = (n.input(0)?, n.input(1)?);
    let axis = g.axis(x, n.int_or("axis", 0))?;
    // Elements of a vector of sizes stay known.
    if let (Some(elements), Some(at), Ok(1)) = (g.elements_of(x), g.ints_of(indices), g.rank(x))
        && g.dtype(x) == Ok(DType::I64)
    {
        let count = elements.len() as i64;
        let picked: Option<Vec<DimSize>> = at
            .iter()
            .map(|&at| elements.get(usize::try_from(if at < 0 { at + count } else { at }).ok()?).copied())
            .collect();
        match (picked.as_deref(), g.rank(indices)?) {
            (Some(&[size]), 0) => {
                let value = g.size_value(size)?;
                g.vectors.insert(value, vec![size]);
                return one(Ok(value));
            }
            (Some(picked), 1) => return one(g.vector(picked.to_vec())),
            _ => {}
        }
    }
    let size = g.size(x, axis)?;
    let indices = g.wrapped(indices, size)?;
    one(g.gather(x, indices, axis))
}

pub(super) fn gather_elements(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, indices) = (n.input(0)?, n.input(1)?);
    let axis = axis_of(n.int_or("axis", 0), g.rank(x)?)?;
    one(g.op(Op::_GatherElements, &[x, indices], &[("axis", AttrArg::Int(axis as i64))]))
}

/// `ScatterElements`, and `Scatter`, its old name.
pub(super) fn scatter_elements(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = axis_of(n.int_or("axis", 0), g.rank(x)?)?;
    let attrs =
        [("axis", AttrArg::Int(axis as i64)), ("reduction", AttrArg::Str(n.word("reduction", "none")?))];
    one(g.op(Op::_ScatterElements, &[x, n.input(1)?, n.input(2)?], &attrs))
}

pub(super) fn scatter_nd(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [("reduction", AttrArg::Str(n.word("reduction", "none")?))];
    one(g.op(Op::_ScatterNdReduce, &[n.input(0)?, n.input(1)?, n.input(2)?], &attrs))
}

pub(super) fn gather_nd(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, indices) = (n.input(0)?, n.input(1)?);
    let n_batch = usize::try_from(n.int_or("batch_dims", 0)).map_err(|_| "batch_dims is negative")?;
    let (sizes, of_indices) = (g.sizes(x)?, g.sizes(indices)?);
    let Some((&DimSize::Known(depth), rest)) = of_indices.split_last() else {
        return Err("the number of its indices is not known".into());
    };
    if n_batch > rest.len() {
        return Err(format!("batch_dims is {n_batch} for indices of rank {}", of_indices.len()));
    }
    let inner = sizes.get(n_batch..).and_then(|inner| inner.get(..usize::try_from(depth).ok()?));
    let inner = inner.ok_or("more indices than axes")?;
    let bounds = g.size_vector(inner)?;
    let (zero, moved) = (g.int(0)?, g.add(indices, bounds)?);
    let is_negative = g.one(Op::Less, &[indices, zero])?;
    let indices = g.one(Op::SelectV2, &[is_negative, moved, indices])?;
    if n_batch == 0 {
        return one(g.one(Op::GatherNd, &[x, indices]));
    }
    // The positions in the batch are indices as well.
    let mut all = Vec::new();
    let mut shape = rest.to_vec();
    shape.push(DimSize::Known(1));
    let to = g.size_vector(&shape)?;
    for (axis, &size) in sizes.iter().enumerate().take(n_batch) {
        let positions = g.iota(size)?;
        let mut around = vec![DimSize::Known(1); shape.len()];
        around[axis] = size;
        let positions = g.reshape(positions, &around)?;
        all.push(g.one(Op::BroadcastTo, &[positions, to])?);
    }
    all.push(indices);
    let indices = g.concat(&all, rest.len())?;
    one(g.one(Op::GatherNd, &[x, indices]))
}

pub(super) fn one_hot(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (indices, depth, values) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let indices = g.cast(indices, DType::I64)?;
    let depth = g.reshape_to(depth, &[])?;
    let depth = g.cast(depth, DType::I64)?;
    let indices = g.wrapped(indices, DimSize::Value(depth))?;
    let depth = g.cast(depth, DType::I32)?;
    let (off, on) = (g.element_at(values, 0)?, g.element_at(values, 1)?);
    let rank = g.rank(indices)? + 1;
    let axis = axis_of(n.int_or("axis", -1), rank)?;
    let axis = if axis + 1 == rank { -1 } else { axis as i64 };
    one(g.op(Op::OneHot, &[indices, depth, on, off], &[("axis", AttrArg::Int(axis))]))
}

pub(super) fn non_zero(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = n.input(0)?;
    if g.rank(x)? == 0 {
        x = g.reshape_to(x, &[1])?;
    }
    let found = g.one(Op::Where, &[x])?;
    one(g.transpose(found, &[1, 0]))
}

pub(super) fn compress(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (mut x, condition) = (n.input(0)?, n.input(1)?);
    let axis = match n.int("axis") {
        Some(axis) => axis_of(axis, g.rank(x)?)?,
        None => {
            x = g.reshape_to(x, &[-1])?;
            0
        }
    };
    let found = g.one(Op::Where, &[condition])?;
    let found = g.squeeze(found, &[1])?;
    one(g.gather(x, found, axis))
}

pub(super) fn reverse_sequence(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [
        ("batch_dim", AttrArg::Int(n.int_or("batch_axis", 1))),
        ("seq_dim", AttrArg::Int(n.int_or("time_axis", 0))),
    ];
    one(g.op(Op::ReverseSequence, &[n.input(0)?, n.input(1)?], &attrs))
}

/// `x` with the order of its elements reversed. The operation is its own inverse.
fn reversed_order(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<ValueId, Why> {
    let op = if g.is_float(x) { Op::Neg } else { Op::Invert };
    g.one(op, &[x])
}

pub(super) fn top_k(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    let axis = axis_of(n.int_or("axis", -1), rank)?;
    let k = match (n.optional(1), n.int("k")) {
        (Some(k), _) => g.reshape_to(k, &[])?,
        (None, Some(k)) => g.int(k)?,
        (None, None) => return Err("it has no k".into()),
    };
    let k = g.cast(k, DType::I32)?;
    let last = g.move_axis(x, axis, rank - 1)?;
    let is_largest = n.flag("largest", true);
    let last = if is_largest { last } else { reversed_order(g, last)? };
    let attrs = [("sorted", AttrArg::Bool(n.flag("sorted", true)))];
    let element = g.element(last).ok_or("its input is no tensor")?;
    let found = g.ops(Op::TopKV2, &[last, k], &attrs, &[element, Type::Dense(DType::I64)])?;
    let values = if is_largest { found[0] } else { reversed_order(g, found[0])? };
    Ok(vec![g.move_axis(values, rank - 1, axis)?, g.move_axis(found[1], rank - 1, axis)?])
}

/// `ArgMax` and `ArgMin`.
pub(super) fn arg_extreme(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = axis_of(n.int_or("axis", 0), g.rank(x)?)?;
    let op = if n.proto.op_type == "ArgMax" { Op::ArgMax } else { Op::ArgMin };
    let at = g.int(axis as i64)?;
    let found = if n.flag("select_last_index", false) {
        let along = g.ints(&[axis as i64])?;
        let backwards = g.one(Op::ReverseV2, &[x, along])?;
        let found = g.to(op, &[backwards, at], &[], DType::I64)?;
        let last = g.size(x, axis)?;
        let last = g.size_value(last)?;
        let last = g.plus(last, -1.0)?;
        g.sub(last, found)?
    } else {
        g.to(op, &[x, at], &[], DType::I64)?
    };
    one(if n.flag("keepdims", true) { g.expand(found, axis) } else { Ok(found) })
}

pub(super) fn unique(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = n.int("axis").map(|axis| axis_of(axis, g.rank(x)?)).transpose()?;
    let axis: Vec<i64> = axis.into_iter().map(|axis| axis as i64).collect();
    let attrs = [("axis", AttrArg::Ints(&axis)), ("sorted", AttrArg::Bool(n.flag("sorted", true)))];
    g.ops(Op::_UniqueSorted, &[x], &attrs, &[])
}

pub(super) fn cumsum(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let axis = g.reshape_to(n.input(1)?, &[])?;
    let attrs = [
        ("exclusive", AttrArg::Bool(n.flag("exclusive", false))),
        ("reverse", AttrArg::Bool(n.flag("reverse", false))),
    ];
    one(g.op(Op::Cumsum, &[n.input(0)?, axis], &attrs))
}

// ---- reductions ----

/// Reductions, with the elementwise operators before and after them.
pub(super) fn reduce(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let mut x = n.input(0)?;
    let keep = n.flag("keepdims", true);
    let rank = g.rank(x)?;
    let dynamic = n
        .optional(1)
        .filter(|&axes| g.ints_of(axes).is_none() && g.dims(axes).map_or(true, |dims| dims != [0]));
    let axes = match dynamic {
        Some(axes) => axes,
        None => {
            let is_none = n.optional(1).is_some_and(|axes| g.ints_of(axes).is_none());
            let given = if is_none { None } else { axes(g, n, 1, rank)?.filter(|axes| !axes.is_empty()) };
            if given.is_none() && n.flag("noop_with_empty_axes", false) {
                let x = unreduced(g, n, x)?;
                return one(reduced(g, n, x));
            }
            let axes = given.unwrap_or_else(|| (0..rank).collect());
            let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
            g.ints(&axes)?
        }
    };
    let attrs = [("keep_dims", AttrArg::Bool(keep))];
    let is_bool = g.dtype(x)? == DType::I1;
    let op = match n.proto.op_type.as_str() {
        "ReduceMax" if is_bool => Op::Any,
        "ReduceMin" if is_bool => Op::All,
        "ReduceMax" => Op::Max,
        "ReduceMin" => Op::Min,
        "ReduceMean" => Op::Mean,
        "ReduceProd" => Op::Prod,
        "ReduceLogSumExp" => {
            // exp(x - max) does not overflow; an infinite maximum is left in place.
            let dtype = g.dtype(x)?;
            if !is_float(dtype) {
                x = g.cast(x, DType::F64)?;
            }
            let wide = g.dtype(x)?;
            let top = g.op(Op::Max, &[x, axes], &[("keep_dims", AttrArg::Bool(true))])?;
            let (finite, zero) = (g.one(Op::IsFinite, &[top])?, g.scalar(0.0, wide)?);
            let top = g.one(Op::SelectV2, &[finite, top, zero])?;
            let less = g.sub(x, top)?;
            let powers = g.one(Op::Exp, &[less])?;
            let sum = g.op(Op::Sum, &[powers, axes], &attrs)?;
            let log = g.one(Op::Log, &[sum])?;
            let top = g.op(Op::Sum, &[top, axes], &attrs)?;
            let sum = g.add(log, top)?;
            return one(g.cast(sum, dtype));
        }
        _ => {
            x = unreduced(g, n, x)?;
            Op::Sum
        }
    };
    let y = g.op(op, &[x, axes], &attrs)?;
    one(reduced(g, n, y))
}

/// The terms of the sum of a reduction: the elements, their sizes or squares.
fn unreduced(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, x: ValueId) -> Result<ValueId, Why> {
    match n.proto.op_type.as_str() {
        "ReduceL1" => g.one(Op::Abs, &[x]),
        "ReduceL2" | "ReduceSumSquare" => g.one(Op::Square, &[x]),
        _ => Ok(x),
    }
}

/// The result of a reduction, of its sum.
fn reduced(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, sum: ValueId) -> Result<ValueId, Why> {
    match n.proto.op_type.as_str() {
        "ReduceL2" => g.one(Op::Sqrt, &[sum]),
        "ReduceLogSum" => g.one(Op::Log, &[sum]),
        _ => Ok(sum),
    }
}

// ---- linear algebra ----

pub(super) fn det(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.one(Op::MatrixDeterminant, &[n.input(0)?]))
}

/// The product of matrices by NumPy's rules: vectors are rows or columns, batches broadcast.
pub(super) fn product(g: &mut OnnxImporter<'_>, a: ValueId, b: ValueId) -> Result<ValueId, Why> {
    let (of_a, of_b) = (g.rank(a)?, g.rank(b)?);
    if of_a == 0 || of_b == 0 {
        return Err("a scalar is no matrix".into());
    }
    let left = if of_a == 1 { g.expand(a, 0)? } else { a };
    let right = if of_b == 1 { g.expand(b, 1)? } else { b };
    let op = if of_a.max(of_b) <= 2 { Op::MatMul } else { Op::BatchMatMulV2 };
    let y = g.one(op, &[left, right])?;
    let dropped: &[i64] = match (of_a, of_b) {
        (1, 1) => &[-2, -1],
        (1, _) => &[-2],
        (_, 1) => &[-1],
        _ => return Ok(y),
    };
    g.squeeze(y, dropped)
}

pub(super) fn matmul(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(product(g, n.input(0)?, n.input(1)?))
}

/// `FusedMatMul` of com.microsoft.
pub(super) fn fused_matmul(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [
        ("adj_x", AttrArg::Bool(n.flag("transA", false))),
        ("adj_y", AttrArg::Bool(n.flag("transB", false))),
    ];
    let y = g.op(Op::BatchMatMulV2, &[n.input(0)?, n.input(1)?], &attrs)?;
    one(g.times(y, f64::from(n.float_or("alpha", 1.0))))
}

pub(super) fn gemm(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let attrs = [
        ("transpose_a", AttrArg::Bool(n.flag("transA", false))),
        ("transpose_b", AttrArg::Bool(n.flag("transB", false))),
    ];
    let mut y = g.op(Op::MatMul, &[n.input(0)?, n.input(1)?], &attrs)?;
    let (alpha, beta) = (n.float_or("alpha", 1.0), n.float_or("beta", 1.0));
    if alpha != 1.0 {
        y = g.times(y, f64::from(alpha))?;
    }
    let Some(mut c) = n.optional(2).filter(|_| beta != 0.0) else { return one(Ok(y)) };
    if beta != 1.0 {
        c = g.times(c, f64::from(beta))?;
    }
    let is_bias =
        matches!((&g.dims(c)?[..], &g.dims(y)?[..]), (&[of_c], &[_, of_y]) if of_c == of_y && of_c >= 0);
    one(if is_bias { g.one(Op::BiasAdd, &[y, c]) } else { g.add(y, c) })
}

pub(super) fn einsum(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let equation: String = n.word("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let equation = if equation.contains("->") {
        equation
    } else {
        // The result has the broadcast axes, then the letters that occur once, in alphabetical order.
        let mut letters: Vec<char> = equation.chars().filter(char::is_ascii_alphabetic).collect();
        letters.sort_unstable();
        let once = |&&letter: &&char| equation.matches(letter).count() == 1;
        let once: String = letters.iter().filter(once).collect();
        let dots = if equation.contains("...") { "..." } else { "" };
        format!("{equation}->{dots}{once}")
    };
    one(g.op(Op::Einsum, &n.all()?, &[("equation", AttrArg::Str(&equation))]))
}
