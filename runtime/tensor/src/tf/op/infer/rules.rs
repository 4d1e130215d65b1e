//! Which rule an operator has, and the rules that many share.

use super::{Cx, PartialShape, Rule, arrays, broadcast, joins, layers, slices};
use crate::TensorError;
use crate::tf::op::tabled::Tabled;

/// Rows of a family's table: names that have one rule.
pub(super) type Row = (&'static [&'static str], Rule);

const FAMILIES: [&[Row]; 5] = [OPS, arrays::OPS, joins::OPS, layers::OPS, slices::OPS];

pub(super) fn rule(op: &str) -> Option<Rule> {
    let tabled = Tabled::named(op).map(|tabled| -> Rule {
        match tabled {
            Tabled::Unary(_) | Tabled::Test(_) | Tabled::Part(_) => same,
            Tabled::Binary(_) => broadcasting,
            Tabled::Compare(_) => comparison,
            Tabled::Reduce(_) => arrays::reduction,
            Tabled::Scan(_) => arrays::scan,
            Tabled::Segment(_) => arrays::segment,
            Tabled::SortedSegment(_) => arrays::sorted_segment,
        }
    });
    tabled.or_else(|| {
        let mut rows = FAMILIES.iter().copied().flatten();
        rows.find(|(names, _)| names.contains(&op)).map(|(_, rule)| *rule)
    })
}

pub(super) const OPS: &[Row] = &[
    (
        &[
            "Identity",
            "Snapshot",
            "StopGradient",
            "PreventGradient",
            "CheckNumerics",
            "CheckNumericsV2",
            "ZerosLike",
            "OnesLike",
            "Cast",
            "PopulationCount",
            "LeakyRelu",
            "_UnaryOpsComposition",
            "RefIdentity",
        ],
        same,
    ),
    (&["Exit", "RefExit", "LoopCond"], same),
    (&["IdentityN"], |cx| Ok(cx.operands.iter().map(|operand| operand.shape.clone()).collect())),
    (&["NextAfter", "Complex"], broadcasting),
    (&["AddN", "AccumulateNV2", "LeakyReluGrad", "ApproximateEqual"], all_merged),
    (&["SelectV2"], |cx| {
        let arms = broadcast(cx.shape(1)?, cx.shape(2)?);
        match arms.and_then(|arms| broadcast(cx.shape(0).ok()?, &arms)) {
            Some(shape) => Ok(vec![shape]),
            None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
        }
    }),
    (&["Select"], |cx| Ok(vec![cx.merged(cx.shape(1)?, cx.shape(2)?)?])),
    (&["ClipByValue"], same),
    (&["L2Loss", "Rank", "Size"], scalar),
    (
        &[
            "VarHandleOp",
            "VarIsInitializedOp",
            "IsVariableInitialized",
            "EmptyTensorList",
            "TensorListReserve",
            "TensorListFromTensor",
            "TensorListPushBack",
            "OptionalFromValue",
            "OptionalHasValue",
            "OptionalNone",
            "TensorListSetItem",
            "TensorListResize",
            "TensorListLength",
            "TensorListScatter",
            "TensorListScatterV2",
            "TensorListSplit",
            "TensorArraySizeV3",
            "TensorArrayWriteV3",
            "TensorArrayScatterV3",
            "TensorArraySplitV3",
            "StackV2",
        ],
        scalar,
    ),
    (&["TensorArrayV3", "TensorArrayGradV3"], |_| Ok(vec![PartialShape::of_rank(0); 2])),
    (&["Switch", "RefSwitch"], |cx| Ok(vec![cx.shape(0)?.clone(); 2])),
    (&["EnsureShape"], |cx| Ok(vec![cx.merged(cx.shape(0)?, &cx.attrs.shape("shape")?)?])),
    (&["PlaceholderWithDefault", "Placeholder", "PlaceholderV2", "VariableV2", "Variable"], |cx| {
        Ok(vec![cx.attrs.shape("shape")?])
    }),
    (&["Const", "HostConst"], |cx| Ok(vec![PartialShape::from(cx.attrs.tensor("value")?.shape())])),
    (&["Bitcast"], bitcast),
];

pub(super) fn same(cx: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    Ok(vec![cx.shape(0)?.clone()])
}

fn scalar(_: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    Ok(vec![PartialShape::of_rank(0)])
}

fn broadcasting(cx: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    match broadcast(cx.shape(0)?, cx.shape(1)?) {
        Some(shape) => Ok(vec![shape]),
        None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
    }
}

/// `Equal` and `NotEqual` may be told to answer with a scalar where shapes do not broadcast.
fn comparison(cx: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    let can_be_lenient = cx.attrs.signature().attr("incompatible_shape_error").is_some();
    if !can_be_lenient || cx.attrs.bool("incompatible_shape_error")? {
        return broadcasting(cx);
    }
    let shape = match broadcast(cx.shape(0)?, cx.shape(1)?) {
        Some(shape) if cx.shape(0)?.shape().is_some() && cx.shape(1)?.shape().is_some() => shape,
        Some(_) => PartialShape::unknown(),
        None => PartialShape::of_rank(0),
    };
    Ok(vec![shape])
}

fn all_merged(cx: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    let all = cx.operands.iter().try_fold(PartialShape::unknown(), |all, x| cx.merged(&all, &x.shape))?;
    Ok(vec![all])
}

/// Larger elements take a last axis away, smaller ones add one.
fn bitcast(cx: &Cx<'_>) -> Result<Vec<PartialShape>, TensorError> {
    let to = cx.attrs.dtype("type")?.size();
    let Some(from) = cx.operand(0)?.ty.dtype().map(|dtype| dtype.size()) else { return same(cx) };
    let Some(dims) = cx.shape(0)?.as_slice() else { return same(cx) };
    let shape = match dims.split_last() {
        _ if from == to => dims.to_vec(),
        _ if from > to => [dims, &[Some(from / to)]].concat(),
        Some((&last, outer)) if last.is_none_or(|last| last == to / from) => outer.to_vec(),
        _ => return cx.refuse(format!("the last axis is not the {} parts of an element", to / from)),
    };
    Ok(vec![PartialShape::new(shape)])
}

#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().flat_map(|(names, _)| names.iter().copied())
}
