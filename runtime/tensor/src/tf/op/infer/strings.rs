//! Strings.

use super::{Node, PartialShape, Shapes};
use crate::TensorError;
use crate::error::invalid;

/// A vector of strings, or a matrix of one row.
pub(in crate::tf::op) fn normalizer(cx: &Node<'_>) -> Shapes {
    let shape = match cx.shape(0)?.rank() {
        Some(1) => PartialShape::of_rank(1),
        Some(2) => PartialShape::new(vec![Some(1), None]),
        Some(rank) => return invalid(cx.attrs.op(), format!("an input of rank {rank}, expected 1 or 2")),
        None => PartialShape::unknown(),
    };
    Ok(vec![shape])
}

/// The operand's shape with a new last axis, and the operand's shape.
pub(in crate::tf::op) fn parts(cx: &Node<'_>) -> Shapes {
    let shape = cx.shape(0)?;
    let longer = match shape.as_slice() {
        Some(dims) => PartialShape::new(dims.iter().copied().chain([None]).collect()),
        None => PartialShape::unknown(),
    };
    Ok(vec![longer, shape.clone()])
}

/// A vector of counts for each row.
pub(in crate::tf::op) fn tf_idf_vectorizer(cx: &Node<'_>) -> Shapes {
    let columns = cx.attrs.ints("ngram_indexes")?.into_iter().max().unwrap_or(-1).saturating_add(1);
    let columns = usize::try_from(columns).ok();
    Ok(vec![match cx.shape(0)?.as_slice() {
        Some(&[_]) => PartialShape::new(vec![columns]),
        Some(&[rows, _]) => PartialShape::new(vec![rows, columns]),
        Some(dims) => {
            let problem = format!("an input of rank {}, expected 1 or 2", dims.len());
            return invalid(cx.attrs.op(), problem);
        }
        None => PartialShape::unknown(),
    }])
}

/// The common shape of the operands that are not scalars.
pub(in crate::tf::op) fn join(cx: &Node<'_>) -> Shapes {
    let mut all = PartialShape::of_rank(0);
    for operand in cx.operands {
        match (operand.shape.rank(), all.rank()) {
            (Some(0), _) => {}
            (_, Some(0)) => all = operand.shape.clone(),
            _ => all = cx.merged(&all, &operand.shape)?,
        }
    }
    // A shape of unknown rank may be that of a scalar.
    let is_known = cx.operands.iter().all(|operand| operand.shape.rank().is_some());
    Ok(vec![if is_known { all } else { PartialShape::unknown() }])
}

/// The coordinates, the strings and the shape of a sparse matrix.
pub(in crate::tf::op) fn split(cx: &Node<'_>) -> Shapes {
    cx.dims::<1>(0)?;
    let of = |dims: &[super::Dim]| PartialShape::new(dims.to_vec());
    Ok(vec![of(&[None, Some(2)]), of(&[None]), of(&[Some(2)])])
}

/// The operand's shape with a new last axis.
pub(in crate::tf::op) fn decode_raw(cx: &Node<'_>) -> Shapes {
    Ok(vec![parts(cx)?.remove(0)])
}

/// Sparse features (coordinates, values, shapes), dense ones, and ragged ones (values, row splits), each with
/// an axis of examples unless there is a single one.
pub(in crate::tf::op) fn parse_examples(cx: &Node<'_>) -> Shapes {
    match examples(cx)? {
        Some(examples) => features(cx, &examples, ""),
        None => Ok(vec![PartialShape::unknown(); cx.n_results]),
    }
}

/// The axis of examples, none for a single one; `None` if it is not known whether there is one.
fn examples(cx: &Node<'_>) -> Result<Option<Vec<super::Dim>>, TensorError> {
    Ok(match cx.shape(0)?.as_slice() {
        _ if matches!(cx.attrs.op(), "ParseSingleExample" | "ParseSingleSequenceExample") => Some(vec![]),
        Some(dims) if dims.len() < 2 => Some(dims.to_vec()),
        Some(dims) => return cx.refuse(format!("examples of rank {}, expected 1 or less", dims.len())),
        None => None,
    })
}

/// The types in an attribute that not all operators have.
fn n_types(cx: &Node<'_>, name: &str) -> Result<usize, TensorError> {
    match cx.attrs.signature().attr(name) {
        Some(_) => Ok(cx.attrs.types(name)?.len()),
        None => Ok(0),
    }
}

/// The number of row splits of the examples.
fn n_splits(examples: &[super::Dim]) -> Result<super::Dim, TensorError> {
    match *examples {
        [n] => super::sum(n, Some(1)),
        _ => Ok(Some(0)),
    }
}

/// The features of examples, whose attributes have names with this prefix.
fn features(cx: &Node<'_>, examples: &[super::Dim], prefix: &str) -> Shapes {
    let n_sparse = n_types(cx, &format!("{prefix}sparse_types"))?;
    let n_ragged = n_types(cx, &format!("{prefix}ragged_value_types"))?;
    let rank = Some(1 + examples.len());
    let of = |dims: &[super::Dim]| PartialShape::new(dims.to_vec());
    let mut shapes = vec![of(&[None, rank]); n_sparse];
    shapes.extend(vec![of(&[None]); n_sparse]);
    shapes.extend(vec![of(&[rank]); n_sparse]);
    for shape in cx.attrs.shapes(&format!("{prefix}dense_shapes"))? {
        shapes.push(match shape.as_slice() {
            Some(dims) => of(&[examples, dims].concat()),
            None => PartialShape::unknown(),
        });
    }
    shapes.extend(vec![of(&[None]); n_ragged]);
    shapes.extend(vec![of(&[n_splits(examples)?]); n_ragged]);
    Ok(shapes)
}

/// The features of examples; their lists of features, with an axis of time, and the lengths of these lists.
pub(in crate::tf::op) fn parse_sequences(cx: &Node<'_>) -> Shapes {
    let Some(examples) = examples(cx)? else { return Ok(vec![PartialShape::unknown(); cx.n_results]) };
    let mut shapes = features(cx, &examples, "context_")?;
    let over_time = [&examples[..], &[None]].concat();
    let of_lists = features(cx, &over_time, "feature_list_")?;
    let n_ragged = n_types(cx, "feature_list_ragged_value_types")?;
    let n_dense = cx.attrs.shapes("feature_list_dense_shapes")?.len();
    // Splits of examples stand before those of lists, and lengths before ragged values.
    let (dense, ragged) = of_lists.split_at(of_lists.len().saturating_sub(2 * n_ragged));
    shapes.extend_from_slice(dense);
    if cx.attrs.op() != "ParseSingleSequenceExample" {
        shapes.extend(vec![PartialShape::new(examples.clone()); n_dense]);
    }
    shapes.extend_from_slice(&ragged[..n_ragged]);
    shapes.extend(vec![PartialShape::new(vec![n_splits(&examples)?]); n_ragged]);
    shapes.extend(vec![PartialShape::of_rank(1); n_ragged]);
    Ok(shapes)
}

/// A vector of n-grams, and splits of as many rows.
pub(in crate::tf::op) fn ngrams(cx: &Node<'_>) -> Shapes {
    let ([_], [splits]) = (cx.dims::<1>(0)?, cx.dims::<1>(1)?);
    Ok(vec![PartialShape::of_rank(1), PartialShape::new(vec![splits])])
}

/// The row splits of all strings, and a number for each character.
pub(in crate::tf::op) fn unicode_decode(cx: &Node<'_>) -> Shapes {
    let strings = match cx.shape(0)?.as_slice() {
        Some(dims) => dims.iter().try_fold(Some(1), |n, &dim| super::product(n, dim))?,
        None => None,
    };
    let mut shapes = vec![PartialShape::new(vec![super::sum(strings, Some(1))?])];
    shapes.extend(vec![PartialShape::of_rank(1); cx.n_results.saturating_sub(1)]);
    Ok(shapes)
}

/// A string for each row.
pub(in crate::tf::op) fn unicode_encode(cx: &Node<'_>) -> Shapes {
    let ([_], [splits]) = (cx.dims::<1>(0)?, cx.dims::<1>(1)?);
    Ok(vec![PartialShape::new(vec![splits.map(|splits| splits.saturating_sub(1))])])
}

/// A value for each record in each column.
pub(in crate::tf::op) fn csv(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(0)?.clone(); cx.n_results])
}

/// The operand's shape with a new last axis, as long as the bytes have elements.
pub(in crate::tf::op) fn decode_padded_raw(cx: &Node<'_>) -> Shapes {
    let size = cx.attrs.dtype("out_type")?.size();
    let width = cx.count(1)?.map(|bytes| bytes / size);
    Ok(vec![match cx.shape(0)?.as_slice() {
        Some(dims) => PartialShape::new([dims, &[width]].concat()),
        None => PartialShape::unknown(),
    }])
}

/// Height, width and channels; those are known if they are asked for.
pub(in crate::tf::op) fn picture(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(0)?, &PartialShape::of_rank(0))?;
    let channels = usize::try_from(cx.attrs.int("channels")?).ok().filter(|&channels| channels > 0);
    Ok(vec![PartialShape::new(vec![None, None, channels])])
}

/// Three numbers.
pub(in crate::tf::op) fn jpeg_shape(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![Some(3)])])
}

/// The axes of the operand but the last three.
pub(in crate::tf::op) fn encoded(cx: &Node<'_>) -> Shapes {
    Ok(vec![match cx.at_least(0, 3)? {
        Some([batch @ .., _, _, _]) => PartialShape::new(batch.to_vec()),
        _ => PartialShape::unknown(),
    }])
}
