//! Elements by index: gathered, scattered, sorted, found. ONNX's negative indices count from the end, while
//! TensorFlow's select nothing.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::export::onnx::emit::{AttrList, AttrValue, Name, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

impl NodeWriter<'_> {
    /// Operand `i` with elements of i64.
    pub(super) fn indices(&mut self, n: &TfNode<'_>, i: usize) -> Result<Name, WhyNot> {
        Ok(self.cast(n.input(i)?, n.dtype(i)?, DType::I64))
    }
}

pub(super) fn gather(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let indices = w.indices(n, 1)?;
    let (axis, batch) = match n.operator {
        Op::GatherV2 => (n.known_int(2)?, n.int("batch_dims")?),
        _ => (0, 0),
    };
    let x = n.input(0)?;
    if batch == 0 {
        return Ok(vec![w.with("Gather", &[x, &indices], vec![("axis", AttrValue::Int(axis))])]);
    }
    let batch = if batch < 0 { batch.saturating_add(n.rank(1)? as i64) } else { batch };
    if TfNode::axis(axis, n.rank(0)?)? as i64 != batch {
        return Err("batches before another axis".to_owned());
    }
    let each = w.unsqueeze(&indices, &[-1]);
    Ok(vec![w.with("GatherND", &[x, &each], vec![("batch_dims", AttrValue::Int(batch))])])
}

pub(super) fn gather_nd(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let indices = w.indices(n, 1)?;
    Ok(vec![w.op("GatherND", &[n.input(0)?, &indices])])
}

/// `OneHot`: `on` where the number of the class equals the index.
pub(super) fn one_hot(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let rank = n.rank(0)?;
    let axis = n.int("axis")?;
    let axis = if axis < 0 { rank } else { TfNode::axis(axis, rank + 1)? };
    let indices = w.indices(n, 0)?;
    let indices = w.unsqueeze(&indices, &[axis as i64]);
    let depth = w.cast(n.input(1)?, n.dtype(1)?, DType::I64);
    let depth = if n.rank(1) == Ok(0) { depth } else { w.reshape(&depth, &[]) };
    let (zero, unit) = (w.int(0), w.int(1));
    let classes = w.op("Range", &[&zero, &depth, &unit]);
    let behind: Vec<i64> = (1..=(rank - axis) as i64).collect();
    let classes = w.unsqueeze(&classes, &behind);
    let is_on = w.op("Equal", &[&indices, &classes]);
    Ok(vec![w.op("Where", &[&is_on, n.input(2)?, n.input(3)?])])
}

fn reduction(name: &str) -> AttrList<'_> {
    vec![("reduction", AttrValue::Str(name))]
}

pub(super) fn scatter_nd(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let indices = w.indices(n, 0)?;
    let shape = w.int_vector(n, 2)?;
    let zero = w.scalar(0.0, n.dtype(1)?)?;
    let zeros = w.op("Expand", &[&zero, &shape]);
    Ok(vec![w.with("ScatterND", &[&zeros, &indices, n.input(1)?], reduction("add"))])
}

pub(super) fn tensor_scatter(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let indices = w.indices(n, 1)?;
    let mut updates = n.input(2)?.to_owned();
    let how = match n.operator {
        Op::TensorScatterAdd => "add",
        Op::TensorScatterMax => "max",
        Op::TensorScatterMin => "min",
        Op::TensorScatterSub => {
            updates = w.op("Neg", &[&updates]);
            "add"
        }
        _ => "none",
    };
    Ok(vec![w.with("ScatterND", &[n.input(0)?, &indices, &updates], reduction(how))])
}

/// `UnsortedSegment*`: rows are combined by segment; those of a negative segment in a last row, which is cut
/// off.
pub(super) fn segments(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let dtype = n.dtype(0)?;
    let lowest = |is_max: bool| match dtype {
        DType::F32 => Ok(if is_max { f64::from(f32::MIN) } else { f64::from(f32::MAX) }),
        DType::F64 => Ok(if is_max { f64::MIN } else { f64::MAX }),
        DType::I32 => Ok(f64::from(if is_max { i32::MIN } else { i32::MAX })),
        _ => Err(format!("of {dtype}")),
    };
    let (start, how) = match n.operator {
        Op::UnsortedSegmentSum => (0.0, "add"),
        Op::UnsortedSegmentProd => (1.0, "mul"),
        Op::UnsortedSegmentMax => (lowest(true)?, "max"),
        _ => (lowest(false)?, "min"),
    };
    let (of_ids, of_data) = (n.rank(1)?, n.rank(0)?);
    let ids = w.indices(n, 1)?;
    let count = w.cast(n.input(2)?, n.dtype(2)?, DType::I64);
    let count = w.reshape(&count, &[1]);
    let (zero, unit) = (w.int(0), w.ints(&[1]));
    let is_none = w.op("Less", &[&ids, &zero]);
    let ids = w.op("Where", &[&is_none, &count, &ids]);
    let rows = w.op("Add", &[&count, &unit]);
    let mut dims = rows;
    if of_data > of_ids {
        let shape = w.op("Shape", &[n.input(0)?]);
        let behind = w.slice(&shape, 0, of_ids as i64, i64::MAX);
        dims = w.concat_ints(&[&dims, &behind]);
    }
    let start = w.scalar(start, dtype)?;
    let empty = w.op("Expand", &[&start, &dims]);
    let at = w.unsqueeze(&ids, &[-1]);
    let all = w.with("ScatterND", &[&empty, &at, n.input(0)?], reduction(how));
    let (from, axis) = (w.ints(&[0]), w.ints(&[0]));
    Ok(vec![w.op("Slice", &[&all, &from, &count, &axis])])
}

pub(super) fn top_k(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let k = w.int_vector(n, 1)?;
    let found = w.node_of("", "TopK", &[n.input(0)?, &k], AttrList::new(), 2);
    let indices = w.cast(&found[1], DType::I64, n.result_dtype(1)?);
    Ok(vec![found[0].clone(), indices])
}

pub(super) fn unique(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let mut attrs = vec![("sorted", AttrValue::Int(0))];
    if n.operator == Op::UniqueV2 {
        match n.known_ints(1)?[..] {
            [] => {}
            [axis] => attrs.push(("axis", AttrValue::Int(axis))),
            _ => return Err("of several axes".to_owned()),
        }
    }
    let found = w.node_of("", "Unique", &[n.input(0)?], attrs, 4);
    let positions = w.cast(&found[2], DType::I64, n.result_dtype(1)?);
    Ok(vec![found[0].clone(), positions])
}

/// `Where`: a row per element that is not zero, where `NonZero` has a column.
pub(super) fn where_(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let columns = w.op("NonZero", &[n.input(0)?]);
    Ok(vec![w.transpose(&columns, &[1, 0])])
}
