//! Resizing of images, and boxes in images.

use super::{Dim, Node, PartialShape, Shapes, product, sum};
use crate::TensorError;
use crate::tf::fractional::n_windows;
use crate::tf::op::eval::images::fractions;

/// Height and width stored in an operand.
fn plane_in(cx: &Node<'_>, i: usize) -> Result<[Dim; 2], TensorError> {
    match cx.shape_in(i)?.as_slice() {
        Some(&[height, width]) => Ok([height, width]),
        Some(dims) => cx.refuse(format!("operand {i} has {} numbers, expected two", dims.len())),
        None => Ok([None, None]),
    }
}

/// The images of operand 0, with height and width from operand 1.
pub(in crate::tf::op) fn resize(cx: &Node<'_>) -> Shapes {
    let [batch, _, _, channels] = cx.dims::<4>(0)?;
    let [height, width] = plane_in(cx, 1)?;
    Ok(vec![PartialShape::new(vec![batch, height, width, channels])])
}

/// The shape of the original images, which are operand 1.
pub(in crate::tf::op) fn resize_grad(cx: &Node<'_>) -> Shapes {
    let ([batch, _, _, channels], [n, height, width, c]) = (cx.dims::<4>(0)?, cx.dims::<4>(1)?);
    Ok(vec![PartialShape::new(vec![cx.same(batch, n)?, height, width, cx.same(channels, c)?])])
}

pub(in crate::tf::op) fn crop_and_resize(cx: &Node<'_>) -> Shapes {
    let [_, _, _, channels] = cx.dims::<4>(0)?;
    // The function accepts any shape of boxes without elements, so a number of 0 is not certain.
    let boxes = match (cx.shape(1)?.as_slice(), cx.shape(2)?.as_slice()) {
        (Some([n, _]), Some([count])) => n.or(*count),
        _ => None,
    };
    let boxes = boxes.filter(|&n| n > 0);
    let [height, width] = plane_in(cx, 3)?;
    Ok(vec![PartialShape::new(vec![boxes, height, width, channels])])
}

pub(in crate::tf::op) fn crop_and_resize_grad_image(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(3)?, &PartialShape::of_rank(4))?])
}

pub(in crate::tf::op) fn crop_and_resize_grad_boxes(cx: &Node<'_>) -> Shapes {
    let [n, ..] = cx.dims::<4>(0)?;
    Ok(vec![PartialShape::new(vec![n, Some(4)])])
}

/// The positions of the selected boxes, then, as far as the operator returns them, their scores and their
/// number. With padding, the number of positions is the limit in operand 2.
pub(in crate::tf::op) fn non_max_suppression(cx: &Node<'_>) -> Shapes {
    let ([n, _], [count]) = (cx.dims::<2>(0)?, cx.dims::<1>(1)?);
    cx.same(n, count)?;
    let can_pad = cx.attrs.signature().attr("pad_to_max_output_size").is_some();
    let is_padded = can_pad && cx.attrs.bool("pad_to_max_output_size")?;
    let selected = if is_padded { cx.count(2)? } else { None };
    let mut shapes = vec![PartialShape::new(vec![selected]); cx.n_results.max(2) - 1];
    if cx.n_results > 1 {
        shapes.push(PartialShape::of_rank(0));
    }
    Ok(shapes)
}

pub(in crate::tf::op) fn combined_non_max_suppression(cx: &Node<'_>) -> Shapes {
    let ([batch, n, _, _], [b, m, classes]) = (cx.dims::<4>(0)?, cx.dims::<3>(1)?);
    let batch = cx.same(batch, b)?;
    cx.same(n, m)?;
    let (per_class, total) = (cx.count(2)?, cx.count(3)?);
    let room = match cx.attrs.bool("pad_per_class")? {
        true => product(per_class, classes)?.zip(total).map(|(all, total)| all.min(total)),
        false => total,
    };
    let of = |dims: &[Dim]| PartialShape::new(dims.to_vec());
    Ok(vec![of(&[batch, room, Some(4)]), of(&[batch, room]), of(&[batch, room]), of(&[batch])])
}

/// Images whose last axis is that of colors.
pub(in crate::tf::op) fn colors(cx: &Node<'_>) -> Shapes {
    match cx.at_least(0, 1)? {
        Some([outer @ .., channels]) => {
            let channels = cx.same(*channels, Some(3))?;
            Ok(vec![PartialShape::new([outer, &[channels]].concat())])
        }
        _ => Ok(vec![PartialShape::unknown()]),
    }
}

/// Images that are adjusted, with a scalar.
pub(in crate::tf::op) fn adjusted(cx: &Node<'_>) -> Shapes {
    cx.at_least(0, 3)?;
    cx.dims::<0>(1)?;
    Ok(vec![cx.shape(0)?.clone()])
}

/// [`adjusted`] colors.
pub(in crate::tf::op) fn adjusted_colors(cx: &Node<'_>) -> Shapes {
    adjusted(cx)?;
    colors(cx)
}

/// Images of another height and width.
pub(in crate::tf::op) fn projective_transform(cx: &Node<'_>) -> Shapes {
    let ([batch, _, _, channels], [_, _]) = (cx.dims::<4>(0)?, cx.dims::<2>(1)?);
    let [height, width] = plane_in(cx, 2)?;
    Ok(vec![PartialShape::new(vec![batch, height, width, channels])])
}

/// The images.
pub(in crate::tf::op) fn draw_boxes(cx: &Node<'_>) -> Shapes {
    let ([batch, height, width, channels], [n, _, _]) = (cx.dims::<4>(0)?, cx.dims::<3>(1)?);
    Ok(vec![PartialShape::new(vec![cx.same(batch, n)?, height, width, channels])])
}

/// Images of another height and width, one for each offset.
pub(in crate::tf::op) fn glimpse(cx: &Node<'_>) -> Shapes {
    let ([batch, _, _, channels], [n, _]) = (cx.dims::<4>(0)?, cx.dims::<2>(2)?);
    let [height, width] = plane_in(cx, 1)?;
    Ok(vec![PartialShape::new(vec![cx.same(batch, n)?, height, width, channels])])
}

/// The poolings, and the starts of their windows with the end.
pub(in crate::tf::op) fn fractional_pool(cx: &Node<'_>) -> Shapes {
    let [batch, rows, columns, channels] = cx.dims::<4>(0)?;
    let ratios = fractions(&cx.attrs)?.0.ratios;
    let count = |length: Dim, ratio: f32| match length.map(|length| n_windows(length, ratio)) {
        Some(None) => cx.refuse(format!("a ratio of {ratio}")),
        count => Ok(count.flatten()),
    };
    let (rows, columns) = (count(rows, ratios[0])?, count(columns, ratios[1])?);
    let ends = |n: Dim| Ok::<_, TensorError>(PartialShape::new(vec![sum(n, Some(1))?]));
    Ok(vec![PartialShape::new(vec![batch, rows, columns, channels]), ends(rows)?, ends(columns)?])
}

pub(in crate::tf::op) fn fractional_max_pool_grad(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(1)?, cx.shape(2)?)?;
    Ok(vec![cx.merged(cx.shape(0)?, &PartialShape::of_rank(4))?])
}

pub(in crate::tf::op) fn fractional_avg_pool_grad(cx: &Node<'_>) -> Shapes {
    cx.dims::<4>(1)?;
    Ok(vec![cx.merged(&cx.shape_in(0)?, &PartialShape::of_rank(4))?])
}
