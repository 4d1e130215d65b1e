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

/// A shape, followed by that of the parameters.
pub(in crate::tf::op) fn samples(cx: &Node<'_>) -> Shapes {
    let shape = match (cx.shape_in(0)?.as_slice(), cx.shape(1)?.as_slice()) {
        (Some(samples), Some(parameters)) => PartialShape::new([samples, parameters].concat()),
        _ => PartialShape::unknown(),
    };
    Ok(vec![shape])
}

/// The shape in the operand before the parameters of the distribution.
pub(in crate::tf::op) fn from_state(cx: &Node<'_>) -> Shapes {
    let at = cx.attrs.signature().inputs.iter().position(|input| input.name == "shape");
    Ok(vec![cx.shape_in(at.unwrap_or(0))?])
}

/// The largest state of a generator.
pub(in crate::tf::op) fn generator_state(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![Some(3)])])
}

/// The candidates, and numbers for the true classes and for them.
pub(in crate::tf::op) fn candidates(cx: &Node<'_>) -> Shapes {
    let ([batch, columns], n_true) = (cx.dims::<2>(0)?, cx.attrs.count("num_true")?);
    let columns = cx.same(columns, Some(n_true))?;
    let candidates = PartialShape::new(vec![Some(cx.attrs.count("num_sampled")?)]);
    Ok(vec![candidates.clone(), PartialShape::new(vec![batch, columns]), candidates])
}

/// Three numbers for each hit.
pub(in crate::tf::op) fn accidental_hits(cx: &Node<'_>) -> Shapes {
    let ([_, columns], [_]) = (cx.dims::<2>(0)?, cx.dims::<1>(1)?);
    cx.same(columns, Some(cx.attrs.count("num_true")?))?;
    Ok(vec![PartialShape::of_rank(1); 3])
}
