//! Random tensors.

use super::{Node, PartialShape, Shapes};

/// A row of samples for each row of logits.
pub(in crate::tf::op) fn multinomial(cx: &Node<'_>) -> Shapes {
    let [batch, _] = cx.dims::<2>(0)?;
    Ok(vec![PartialShape::new(vec![batch, cx.count(1)?])])
}

/// The key, the counter, and the algorithm if the operator returns it.
pub(in crate::tf::op) fn key_counter_alg(cx: &Node<'_>) -> Shapes {
    let vector = |n| PartialShape::new(vec![Some(n)]);
    let all = [vector(1), vector(2), PartialShape::of_rank(0)];
    Ok(all.into_iter().take(cx.n_results).collect())
}
