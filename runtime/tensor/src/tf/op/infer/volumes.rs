//! Convolutions and poolings of volumes.

use super::{Dim, Node, PartialShape, Shapes, product};
use crate::TensorError;
use crate::tf::VolumeAttrs;
use crate::tf::op::eval::volumes::{dilation, patches, size, windows};
use crate::tf::window::axis;

/// The numbers of windows of this size along three axes.
fn counts(
    cx: &Node<'_>,
    volume: [Dim; 3],
    size: [Dim; 3],
    attrs: &VolumeAttrs,
) -> Result<[Dim; 3], TensorError> {
    let mut counts = [None; 3];
    for i in 0..3 {
        // With SAME padding, the number of windows does not depend on their size.
        let size = if attrs.same { size[i].or(Some(1)) } else { size[i] };
        if let (Some(length), Some(size)) = (volume[i], size) {
            let window = (size, attrs.strides[i], attrs.dilations[i]);
            counts[i] = Some(axis(cx.op(), cx.shape(0)?, length, window, attrs.same, None)?.1);
        }
    }
    Ok(counts)
}

pub(in crate::tf::op) fn conv3d(cx: &Node<'_>) -> Shapes {
    let ([batch, a, b, c, from], [i, j, k, channels, to]) = (cx.dims::<5>(0)?, cx.dims::<5>(1)?);
    cx.same(from, channels)?;
    let [a, b, c] = counts(cx, [a, b, c], [i, j, k], &windows(&cx.attrs)?)?;
    Ok(vec![PartialShape::new(vec![batch, a, b, c, to])])
}

pub(in crate::tf::op) fn pool3d(cx: &Node<'_>) -> Shapes {
    let [batch, a, b, c, channels] = cx.dims::<5>(0)?;
    let [a, b, c] = counts(cx, [a, b, c], size(&cx.attrs)?.map(Some), &windows(&cx.attrs)?)?;
    Ok(vec![PartialShape::new(vec![batch, a, b, c, channels])])
}

/// An element for each window, with all elements of the window.
pub(in crate::tf::op) fn extract_volume_patches(cx: &Node<'_>) -> Shapes {
    let [batch, a, b, c, channels] = cx.dims::<5>(0)?;
    let (size, attrs) = patches(&cx.attrs)?;
    let size = size.map(Some);
    let [a, b, c] = counts(cx, [a, b, c], size, &attrs)?;
    let patch = size.into_iter().try_fold(channels, product)?;
    Ok(vec![PartialShape::new(vec![batch, a, b, c, patch])])
}

/// The shape stored in operand 0.
pub(in crate::tf::op) fn sizes_first(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(0)?, &PartialShape::of_rank(5))?])
}

/// The shape stored in operand 1.
pub(in crate::tf::op) fn sizes_second(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(1)?, &PartialShape::of_rank(5))?])
}

pub(in crate::tf::op) fn max_pool3d_grad(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(cx.dims::<5>(0)?.to_vec())])
}

pub(in crate::tf::op) fn dilation2d(cx: &Node<'_>) -> Shapes {
    let ([batch, height, width, channels], [rows, columns, c]) = (cx.dims::<4>(0)?, cx.dims::<3>(1)?);
    let channels = cx.same(channels, c)?;
    let volume = [Some(1), height, width];
    let [_, down, across] = counts(cx, volume, [Some(1), rows, columns], &dilation(&cx.attrs)?)?;
    Ok(vec![PartialShape::new(vec![batch, down, across, channels])])
}

/// The shape of the images.
pub(in crate::tf::op) fn dilation2d_backprop_input(cx: &Node<'_>) -> Shapes {
    dilation2d(cx)?;
    Ok(vec![cx.shape(0)?.clone()])
}

/// The shape of the filters.
pub(in crate::tf::op) fn dilation2d_backprop_filter(cx: &Node<'_>) -> Shapes {
    dilation2d(cx)?;
    Ok(vec![cx.shape(1)?.clone()])
}
