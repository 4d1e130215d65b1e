//! Optimizers: ops that update a variable and its slots by a gradient.

use befrost_tensor::HostTensor;
use befrost_tensor::parallel::Serial;
use befrost_tensor::tf::fast;
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::reference::UpdatePlan;

use super::state::Cx;
use super::value::TfValue;
use super::variables::{passed_on, update};
use crate::oracle::frames::Stop;

/// The results of an optimizer op; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let kind = name.strip_prefix('_').unwrap_or(name);
    let kind = kind.strip_prefix("Resource").unwrap_or(kind);
    if !kind.strip_prefix("Sparse").unwrap_or(kind).starts_with("Apply") {
        return Ok(None);
    }
    let plan = UpdatePlan::new(attrs)?;
    let Some((state, rest)) = operands.split_at_checked(plan.n_state()) else { return Ok(None) };
    let rest = rest.iter().map(TfValue::tensor).collect::<Result<Vec<_>, _>>()?;
    let m = cx.allocator;
    update(state, |old| {
        let mut new: Vec<HostTensor> = old.to_vec();
        let mut state: Vec<&mut HostTensor> = new.iter_mut().collect();
        plan.apply(&mut state, &rest, &fast::Cx { allocator: m, parallel: &Serial })?;
        Ok(new)
    })?;
    Ok(Some(passed_on(attrs, &state[0])))
}
