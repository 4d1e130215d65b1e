//! Operators of ONNX.

use super::{Dim, Node, PartialShape, Shapes, broadcast, product};
use crate::tf::op::eval::onnx::{
    NamedSizes, axis, differs, floats_in, pool_windows, pooled_shape, resize_attrs, steps,
};
use crate::tf::{DIRECTIONS, n_pairs};
use crate::{Shape, TensorError};

/// An error unless indices of this shape can select elements of operand 0 along the axis of the attribute
/// `axis`.
fn expect_elements(cx: &Node<'_>, indices: &PartialShape) -> Result<(), TensorError> {
    let (Some(x), Some(indices)) = (cx.shape(0)?.as_slice(), indices.as_slice()) else { return Ok(()) };
    let axis = cx.axis(cx.attrs.int("axis")?, x.len())?;
    let fits =
        |(i, (dim, n)): (usize, (&Dim, &Dim))| i == axis || dim.zip(*n).is_none_or(|(dim, n)| n <= dim);
    match x.len() == indices.len() && x.iter().zip(indices).enumerate().all(fits) {
        true => Ok(()),
        false => cx.refuse(format!("indices that are larger than the tensor along an axis but {axis}")),
    }
}

pub(in crate::tf::op) fn gather_elements(cx: &Node<'_>) -> Shapes {
    expect_elements(cx, cx.shape(1)?)?;
    Ok(vec![cx.shape(1)?.clone()])
}

pub(in crate::tf::op) fn scatter_elements(cx: &Node<'_>) -> Shapes {
    expect_elements(cx, &cx.merged(cx.shape(1)?, cx.shape(2)?)?)?;
    Ok(vec![cx.shape(0)?.clone()])
}

/// Batch and channels, and the spatial axes.
type Image<'a> = ([Dim; 2], &'a [Dim]);

/// Batch, channels and spatial dimensions of operand 0, if its rank is known.
fn image<'a>(cx: &Node<'a>) -> Result<Option<Image<'a>>, TensorError> {
    Ok(cx.at_least(0, 3)?.map(|dims| ([dims[0], dims[1]], &dims[2..])))
}

pub(in crate::tf::op) fn pool(cx: &Node<'_>) -> Shapes {
    let windows = pool_windows(&cx.attrs)?;
    let n = windows.kernel.len();
    windows.steps.expect_axes(cx.op(), n)?;
    let Some((outer, space)) = image(cx)? else {
        return Ok(vec![PartialShape::of_rank(n.saturating_add(2)); cx.n_results]);
    };
    if space.len() != n {
        return cx.refuse(format!("windows of {n} axes for {} axes of space", space.len()));
    }
    let mut dims = outer.to_vec();
    for (i, (dim, &size)) in space.iter().zip(&windows.kernel).enumerate() {
        let span = dim.map(|len| windows.steps.span(cx.op(), (i, n), len, size, windows.ceil)).transpose()?;
        dims.push(span.map(|span| span.count));
    }
    Ok(vec![PartialShape::new(dims); cx.n_results])
}

/// The shape of operand 0; the scale and the zero point are one, or as many as an axis has indices.
pub(in crate::tf::op) fn linear(cx: &Node<'_>) -> Shapes {
    let scales = cx.merged(cx.shape(1)?, cx.shape(2)?)?;
    let x = cx.shape(0)?;
    match (scales.as_slice(), x.as_slice()) {
        (Some([Some(n)]), Some(dims)) if *n != 1 => {
            let axis = cx.axis(cx.attrs.int("axis")?, dims.len())?;
            cx.same(dims[axis], Some(*n))?;
        }
        (Some([_, _, ..]), _) => return cx.refuse(format!("scales of shape {scales}")),
        _ => {}
    }
    Ok(vec![x.clone()])
}

pub(in crate::tf::op) fn look_up_bytes(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(1)?, &PartialShape::new(vec![Some(256)]))?;
    Ok(vec![cx.shape(0)?.clone()])
}

pub(in crate::tf::op) fn quantized_matmul(cx: &Node<'_>) -> Shapes {
    let (Some(a), Some(b)) = (cx.at_least(0, 1)?, cx.at_least(1, 1)?) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let ((a_batch, m, k), (b_batch, rows, n)) = (
        match a {
            [batch @ .., m, k] => (batch, Some(*m), *k),
            _ => (&[][..], None, a[0]),
        },
        match b {
            [batch @ .., rows, n] => (batch, *rows, Some(*n)),
            _ => (&[][..], b[0], None),
        },
    );
    cx.same(k, rows)?;
    let [a_batch, b_batch] = [a_batch, b_batch].map(|batch| PartialShape::new(batch.to_vec()));
    let Some(batch) = broadcast(&a_batch, &b_batch) else {
        return cx.refuse("the batches cannot be broadcast together".to_owned());
    };
    let mut dims = batch.as_slice().unwrap_or(&[]).to_vec();
    dims.extend(m.into_iter().chain(n));
    Ok(vec![PartialShape::new(dims)])
}

/// Images of operand 0 convolved with filters `[out channels, channels of a group, ...]`, operand 1.
pub(in crate::tf::op) fn conv(cx: &Node<'_>) -> Shapes {
    let (steps, group) = (steps(&cx.attrs)?, cx.attrs.count("group")?);
    let (image, filters) = (image(cx)?, cx.at_least(1, 3)?);
    let ([batch, channels], space, sizes, outs) = match (image, filters) {
        (Some((outer, space)), Some(filters)) if space.len() + 2 == filters.len() => {
            if product(filters[1], Some(group))?
                .zip(outer[1])
                .is_some_and(|(from, channels)| from != channels)
            {
                return cx.refuse(format!("{group} groups of channels"));
            }
            (outer, space.to_vec(), filters[2..].to_vec(), filters[0])
        }
        (Some(_), Some(_)) => return cx.refuse("filters of another rank".to_owned()),
        (Some((outer, space)), None) => (outer, space.to_vec(), vec![None; space.len()], None),
        (None, Some(filters)) => {
            ([None, None], vec![None; filters.len() - 2], filters[2..].to_vec(), filters[0])
        }
        (None, None) => return Ok(vec![PartialShape::unknown()]),
    };
    if group == 0 || outs.is_some_and(|outs| outs % group != 0) || channels.is_some_and(|n| n % group != 0) {
        return cx.refuse(format!("{group} groups of channels"));
    }
    let n = space.len();
    steps.expect_axes(cx.op(), n)?;
    let mut dims = vec![batch, outs];
    for (i, (dim, size)) in space.into_iter().zip(sizes).enumerate() {
        let span = dim.zip(size).map(|(len, size)| steps.span(cx.op(), (i, n), len, size, false));
        dims.push(span.transpose()?.map(|span| span.count));
    }
    Ok(vec![PartialShape::new(dims)])
}

/// The states of all steps of a recurrent layer; each further result has the shape of the last state.
pub(in crate::tf::op) fn recurrent(cx: &Node<'_>) -> Shapes {
    let directions = Some(cx.attrs.word("direction", &DIRECTIONS)?.len());
    let ([steps, batch, inputs], [_, _, more], [n, _, hidden]) =
        (cx.dims::<3>(0)?, cx.dims::<3>(1)?, cx.dims::<3>(2)?);
    let ([count], [m, b, units]) = (cx.dims::<1>(4)?, cx.dims::<3>(5)?);
    cx.same(inputs, more)?;
    let (batch, hidden) = (cx.same(cx.same(batch, count)?, b)?, cx.same(hidden, units)?);
    let n = cx.same(cx.same(n, directions)?, m)?;
    let last = PartialShape::new(vec![n, batch, hidden]);
    let mut shapes = vec![PartialShape::new(vec![steps, n, batch, hidden])];
    shapes.resize(cx.n_results, last);
    Ok(shapes)
}

/// The shapes of the operands but the lengths of the sequences.
pub(in crate::tf::op) fn recurrent_gradient(cx: &Node<'_>) -> Shapes {
    recurrent(cx)?;
    [0, 1, 2, 3, 5, 6, 7][..cx.n_results].iter().map(|&operand| Ok(cx.shape(operand)?.clone())).collect()
}

/// [`recurrent`] with packed weights: operand 0 has the gates of all directions, and the operands behind the
/// weights have the places of the signature.
pub(in crate::tf::op) fn packed_recurrent(cx: &Node<'_>) -> Shapes {
    let directions = Some(cx.attrs.word("direction", &DIRECTIONS)?.len());
    let n_weights = cx.attrs.count("num_weights")?;
    let operand = |name: &str| {
        let place = cx.attrs.signature().inputs.iter().position(|arg| arg.name == name);
        place.unwrap_or_default().saturating_sub(1).saturating_add(n_weights)
    };
    let ([steps, batch, _], [count]) = (cx.dims::<3>(0)?, cx.dims::<1>(operand("sequence_lens"))?);
    let [m, b, hidden] = cx.dims::<3>(operand("initial_h"))?;
    let (batch, n) = (cx.same(cx.same(batch, count)?, b)?, cx.same(directions, m)?);
    let last = PartialShape::new(vec![n, batch, hidden]);
    let mut shapes = vec![PartialShape::new(vec![steps, n, batch, hidden])];
    shapes.resize(cx.n_results, last);
    Ok(shapes)
}

pub(in crate::tf::op) fn unique_sorted(cx: &Node<'_>) -> Shapes {
    let vector = |n: Dim| PartialShape::new(vec![n]);
    let values = match (axis(&cx.attrs)?, cx.shape(0)?.as_slice()) {
        (None, dims) => {
            let all = dims.and_then(|dims| dims.iter().try_fold(Some(1), |n, &dim| product(n, dim).ok()));
            return Ok(vec![vector(None), vector(None), vector(all.flatten()), vector(None)]);
        }
        (Some(_), None) => PartialShape::unknown(),
        (Some(axis), Some(dims)) => {
            let at = cx.axis(axis, dims.len())?;
            let mut values = dims.to_vec();
            let n = std::mem::take(&mut values[at]);
            return Ok(vec![PartialShape::new(values), vector(None), vector(n), vector(None)]);
        }
    };
    Ok(vec![values, vector(None), vector(None), vector(None)])
}

pub(in crate::tf::op) fn batched_non_max_suppression(cx: &Node<'_>) -> Shapes {
    let ([batch, n, _], [b, _, m]) = (cx.dims::<3>(0)?, cx.dims::<3>(1)?);
    cx.same(batch, b)?;
    cx.same(n, m)?;
    Ok(vec![PartialShape::new(vec![None, Some(3)])])
}

pub(in crate::tf::op) fn roi_align(cx: &Node<'_>) -> Shapes {
    let ([_, channels, _, _], [n, _], [m]) = (cx.dims::<4>(0)?, cx.dims::<2>(1)?, cx.dims::<1>(2)?);
    let size = [cx.attrs.count("output_height")?, cx.attrs.count("output_width")?];
    Ok(vec![PartialShape::new(vec![cx.same(n, m)?, channels, Some(size[0]), Some(size[1])])])
}

pub(in crate::tf::op) fn max_roi_pool(cx: &Node<'_>) -> Shapes {
    let ([_, channels, _, _], [n, _]) = (cx.dims::<4>(0)?, cx.dims::<2>(1)?);
    let [height, width] = pooled_shape(&cx.attrs)?;
    Ok(vec![PartialShape::new(vec![n, channels, Some(height), Some(width)])])
}

pub(in crate::tf::op) fn grid_sample(cx: &Node<'_>) -> Shapes {
    let (Some((outer, _)), Some([batch, places @ .., _])) = (image(cx)?, cx.at_least(1, 2)?) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let mut dims = vec![cx.same(outer[0], *batch)?, outer[1]];
    dims.extend(places);
    Ok(vec![PartialShape::new(dims)])
}

/// The gradient for the images, the operand after that of the results.
pub(in crate::tf::op) fn grad_image(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(1)?.clone()])
}

/// The gradient for the positions, the operand after the images.
pub(in crate::tf::op) fn grad_positions(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(2)?.clone()])
}

pub(in crate::tf::op) fn col_to_image(cx: &Node<'_>) -> Shapes {
    let ([batch, planes, _], image) = (cx.dims::<3>(0)?, cx.shape_in(1)?);
    let Some(space) = image.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let block = cx.shape_in(2)?;
    let block = block.as_slice().map(|dims| dims.iter().try_fold(Some(1), |n, &dim| product(n, dim)));
    let channels = planes.zip(block.transpose()?.flatten());
    let mut dims = vec![batch, channels.and_then(|(planes, taps)| planes.checked_div(taps))];
    dims.extend(space);
    Ok(vec![PartialShape::new(dims)])
}

pub(in crate::tf::op) fn image_to_col(cx: &Node<'_>) -> Shapes {
    let (steps, block) = (steps(&cx.attrs)?, cx.shape_in(1)?);
    let Some(&[batch, channels, ref image @ ..]) = cx.at_least(0, 2)? else {
        return cx.of_rank(Some(3)).map(|shape| vec![shape]);
    };
    let windows = match block.as_slice() {
        Some(block) if block.len() == image.len() => {
            steps.expect_axes(cx.attrs.op(), image.len())?;
            let mut sizes = image.iter().zip(block).enumerate();
            sizes.try_fold(Some(1), |n, (i, (&len, &size))| match len.zip(size) {
                Some((len, size)) => {
                    let span = steps.span(cx.attrs.op(), (i, image.len()), len, size, false)?;
                    product(n, Some(span.count))
                }
                None => product(n, None),
            })?
        }
        _ => None,
    };
    let taps = block.as_slice().map(|dims| dims.iter().try_fold(Some(1), |n, &dim| product(n, dim)));
    Ok(vec![PartialShape::new(vec![batch, product(channels, taps.transpose()?.flatten())?, windows])])
}

pub(in crate::tf::op) fn tree_ensemble(cx: &Node<'_>) -> Shapes {
    let rows = match cx.at_least(0, 1)? {
        Some([_]) => Some(1),
        Some([rows, _]) => *rows,
        Some(dims) => return cx.refuse(format!("features of rank {}, expected 2", dims.len())),
        None => None,
    };
    Ok(vec![PartialShape::new(vec![rows, Some(cx.attrs.count("n_targets")?)])])
}

pub(in crate::tf::op) fn coupled_probabilities(cx: &Node<'_>) -> Shapes {
    let ([rows, pairs], n) = (cx.dims::<2>(0)?, cx.attrs.count("n_classes")?);
    if n < 2 || pairs.is_some_and(|pairs| n_pairs(n) != Some(pairs)) {
        return cx.refuse(format!("probabilities of the pairs of {n} classes, of shape {}", cx.shape(0)?));
    }
    Ok(vec![PartialShape::new(vec![rows, Some(n)])])
}

pub(in crate::tf::op) fn resize(cx: &Node<'_>) -> Shapes {
    let attrs = resize_attrs(&cx.attrs)?;
    let Some(dims) = cx.shape(0)?.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let floats = |i: usize| cx.operand(i)?.constant.map(floats_in).transpose();
    let (roi, scales, sizes) = (floats(1)?, floats(2)?, cx.ints(3)?);
    let mut new = dims.to_vec();
    for &axis in &attrs.axes {
        new[cx.axis(axis, dims.len())?] = None;
    }
    // The new lengths may depend on all resized axes, so all of them have to be known.
    if let (Some(scales), Some(sizes)) = (scales, sizes)
        && attrs.axes.iter().all(|&axis| cx.axis(axis, dims.len()).is_ok_and(|axis| dims[axis].is_some()))
    {
        let known: Vec<usize> = dims.iter().map(|dim| dim.unwrap_or(1)).collect();
        let roi = roi.unwrap_or_else(|| vec![0.0; 2 * attrs.axes.len()]);
        let axes = attrs.axes(cx.op(), &Shape::new(&known)?, &roi, &scales, &sizes)?;
        for (&axis, resized) in attrs.axes.iter().zip(axes) {
            new[cx.axis(axis, dims.len())?] = Some(resized.to);
        }
    }
    Ok(vec![PartialShape::new(new)])
}

pub(in crate::tf::op) fn ensure_same_sizes(cx: &Node<'_>) -> Shapes {
    let pairs = NamedSizes::of(&cx.attrs)?;
    let (Some(x), Some(like)) = (cx.shape(0)?.as_slice(), cx.shape(1)?.as_slice()) else {
        return Ok(vec![cx.shape(0)?.clone()]);
    };
    let mut dims = x.to_vec();
    for (axis, like_axis, name) in pairs.each((x.len(), like.len()))? {
        match (dims[axis], like[like_axis]) {
            (Some(n), Some(other)) if n != other => return cx.refuse(differs(axis, name, n, other)),
            (None, known) => dims[axis] = known,
            _ => {}
        }
    }
    Ok(vec![PartialShape::new(dims)])
}
