//! Reductions over axes, and sums along an axis.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

impl NodeWriter<'_> {
    /// A reduction over known axes.
    pub(super) fn reduced(&mut self, op_type: &str, x: &str, axes: &[i64], keep: bool) -> Name {
        let axes = self.ints(axes);
        self.reduced_by(op_type, x, &axes, keep)
    }

    /// A reduction over the axes in a vector of i64, of which there may be none.
    fn reduced_by(&mut self, op_type: &str, x: &str, axes: &str, keep: bool) -> Name {
        let attrs =
            vec![("keepdims", AttrValue::Int(i64::from(keep))), ("noop_with_empty_axes", AttrValue::Int(1))];
        self.with(op_type, &[x, axes], attrs)
    }

    /// Operand `i` as a vector of i64: axes or sizes, which may be one scalar.
    pub(super) fn int_vector(&mut self, n: &TfNode<'_>, i: usize) -> Result<Name, WhyNot> {
        if let Some(known) = n.ints(i) {
            return Ok(self.ints(&known));
        }
        let wide = self.cast(n.input(i)?, n.dtype(i)?, DType::I64);
        Ok(if n.rank(i) == Ok(1) { wide } else { self.reshape(&wide, &[-1]) })
    }
}

/// The element type in which numbers of `dtype` are summed, as ONNX has no sums of small integers.
fn wide(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 | DType::UI8 | DType::UI16 => DType::I32,
        _ => dtype,
    }
}

pub(super) fn reduce(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let op_type = match n.operator {
        Op::Max => "ReduceMax",
        Op::Mean => "ReduceMean",
        Op::Min => "ReduceMin",
        Op::Prod => "ReduceProd",
        _ => "ReduceSum",
    };
    let (dtype, keep) = (n.dtype(0)?, n.flag("keep_dims")?);
    let axes = w.int_vector(n, 1)?;
    let x = w.cast(n.input(0)?, dtype, wide(dtype));
    let reduced = w.reduced_by(op_type, &x, &axes, keep);
    Ok(vec![w.cast(&reduced, wide(dtype), dtype)])
}

/// `All` and `Any`: the product and the sum of truths.
pub(super) fn truths(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let op_type = if n.operator == Op::All { "ReduceProd" } else { "ReduceSum" };
    let keep = n.flag("keep_dims")?;
    let axes = w.int_vector(n, 1)?;
    let numbers = w.cast(n.input(0)?, DType::I1, DType::I64);
    let reduced = w.reduced_by(op_type, &numbers, &axes, keep);
    Ok(vec![w.cast(&reduced, DType::I64, DType::I1)])
}

pub(super) fn arg_extreme(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let op_type = if n.operator == Op::ArgMax { "ArgMax" } else { "ArgMin" };
    let attrs = vec![("axis", AttrValue::Int(n.known_int(1)?)), ("keepdims", AttrValue::Int(0))];
    let found = w.with(op_type, &[n.input(0)?], attrs);
    Ok(vec![w.cast(&found, DType::I64, n.result_dtype(0)?)])
}

pub(super) fn cumsum(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let attrs = vec![
        ("exclusive", AttrValue::Int(i64::from(n.flag("exclusive")?))),
        ("reverse", AttrValue::Int(i64::from(n.flag("reverse")?))),
    ];
    Ok(vec![w.with("CumSum", &[n.input(0)?, n.input(1)?], attrs)])
}

pub(super) fn l2_loss(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let half = w.scalar(0.5, n.dtype(0)?)?;
    let sum = w.with("ReduceSumSquare", &[n.input(0)?], vec![("keepdims", AttrValue::Int(0))]);
    Ok(vec![w.op("Mul", &[&sum, &half])])
}
