//! Products, images and layers.

use super::rules::same;
use super::{Dim, Node, PartialShape, Shapes, broadcast, product};
use crate::tf::einsum::einsum_shape;
use crate::tf::fused::Packing;
use crate::tf::op::eval::colors::patches;
use crate::tf::op::eval::layers::{conv, format, padding, plane, pooling};
use crate::tf::window::axis;
use crate::tf::{Conv2dAttrs, ImageFormat, Padding};
use crate::{Shape, TensorError};

pub(in crate::tf::op) fn matmul(cx: &Node<'_>) -> Shapes {
    let (trans_a, trans_b) = (cx.attrs.bool("transpose_a")?, cx.attrs.bool("transpose_b")?);
    let (a, b) = (transposed(cx.dims::<2>(0)?, trans_a), transposed(cx.dims::<2>(1)?, trans_b));
    cx.same(a[1], b[0])?;
    finished(cx, PartialShape::new(vec![a[0], b[1]]), ImageFormat::Nhwc)
}

pub(in crate::tf::op) fn batch_matmul(cx: &Node<'_>) -> Shapes {
    let (trans_a, trans_b) = (cx.attrs.bool("adj_x")?, cx.attrs.bool("adj_y")?);
    let (Some([batch_a @ .., a0, a1]), Some([batch_b @ .., b0, b1])) =
        (cx.at_least(0, 2)?, cx.at_least(1, 2)?)
    else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let (a, b) = (transposed([*a0, *a1], trans_a), transposed([*b0, *b1], trans_b));
    cx.same(a[1], b[0])?;
    let batch = broadcast(&PartialShape::new(batch_a.to_vec()), &PartialShape::new(batch_b.to_vec()));
    let Some(batch) = batch else {
        return cx.refuse("the batches cannot be broadcast together".to_owned());
    };
    Ok(vec![PartialShape::new([batch.as_slice().unwrap_or_default(), &[a[0], b[1]]].concat())])
}

pub(in crate::tf::op) fn einsum(cx: &Node<'_>) -> Shapes {
    let shapes: Vec<&PartialShape> = cx.operands.iter().map(|operand| &operand.shape).collect();
    Ok(vec![einsum_shape(&cx.attrs.string("equation")?, &shapes)?])
}

pub(in crate::tf::op) fn softmax_cross_entropy_with_logits(cx: &Node<'_>) -> Shapes {
    let Some(both) = broadcast(cx.shape(0)?, cx.shape(1)?) else {
        return cx.refuse("the shapes cannot be broadcast together".to_owned());
    };
    let both = cx.merged(&both, &PartialShape::of_rank(2))?;
    Ok(vec![PartialShape::new(both.as_slice().unwrap_or(&[None])[..1].to_vec()), both])
}

pub(in crate::tf::op) fn sparse_softmax_cross_entropy_with_logits(cx: &Node<'_>) -> Shapes {
    let ([rows, classes], [n]) = (cx.dims::<2>(0)?, cx.dims::<1>(1)?);
    let rows = cx.same(rows, n)?;
    Ok(vec![PartialShape::new(vec![rows]), PartialShape::new(vec![rows, classes])])
}

pub(in crate::tf::op) fn bias_add(cx: &Node<'_>) -> Shapes {
    biased(cx, cx.shape(0)?, cx.dims::<1>(1)?, format(&cx.attrs)?).map(|shape| vec![shape])
}

pub(in crate::tf::op) fn bias_add_v1(cx: &Node<'_>) -> Shapes {
    biased(cx, cx.shape(0)?, cx.dims::<1>(1)?, ImageFormat::Nhwc).map(|shape| vec![shape])
}

pub(in crate::tf::op) fn bias_add_grad(cx: &Node<'_>) -> Shapes {
    let channels = match (cx.at_least(0, 2)?, format(&cx.attrs)?) {
        (Some([.., channels]), ImageFormat::Nhwc) | (Some([_, channels, ..]), ImageFormat::Nchw) => *channels,
        _ => None,
    };
    Ok(vec![PartialShape::new(vec![channels])])
}

pub(in crate::tf::op) fn conv2d(cx: &Node<'_>) -> Shapes {
    let (attrs, filter) = (conv(&cx.attrs)?, cx.dims::<4>(1)?);
    let [_, _, from, to] = filter;
    let shape = convolved(cx, &attrs, filter, |cx, channels| {
        // The number of groups is the number of image channels divided by the filter's input channels.
        if let (Some(channels), Some(from)) = (channels, from) {
            let groups = channels.checked_div(from).filter(|&n| n > 0 && n * from == channels);
            if !groups.is_some_and(|groups| to.is_none_or(|to| to.is_multiple_of(groups))) {
                return cx.refuse(format!("{channels} channels for filters of {from}"));
            }
        }
        Ok(to)
    })?;
    finished(cx, shape, attrs.format)
}

pub(in crate::tf::op) fn depthwise_conv2d_native(cx: &Node<'_>) -> Shapes {
    let (attrs, filter) = (conv(&cx.attrs)?, cx.dims::<4>(1)?);
    let [_, _, from, multiplier] = filter;
    let shape = convolved(cx, &attrs, filter, |cx, channels| product(cx.same(channels, from)?, multiplier))?;
    finished(cx, shape, attrs.format)
}

pub(in crate::tf::op) fn pack_matrix(cx: &Node<'_>) -> Shapes {
    let [Some(rows), Some(cols)] = cx.dims::<2>(0)? else { return Ok(vec![PartialShape::of_rank(1)]) };
    let packing = Packing::matrix(&Shape::new(&[rows, cols])?, cx.attrs.bool("transpose")?)?;
    Ok(vec![PartialShape::new(vec![Some(packing.n_bytes())])])
}

pub(in crate::tf::op) fn layer_norm_grad(cx: &Node<'_>) -> Shapes {
    let x = cx.merged(cx.shape(0)?, cx.shape(1)?)?;
    let vector = cx.shape(2)?.clone();
    Ok(vec![x, vector.clone(), vector])
}

pub(in crate::tf::op) fn packed_matmul(cx: &Node<'_>) -> Shapes {
    let (shape, n) = (cx.attrs.ints("shape")?, cx.attrs.count("contracted")?);
    let dims: Option<Vec<Dim>> = shape.iter().map(|&dim| usize::try_from(dim).ok().map(Some)).collect();
    let Some((inner, columns)) = dims.as_deref().and_then(|dims| dims.split_at_checked(n)) else {
        return cx.refuse(format!("{n} axes contracted of weights {shape:?}"));
    };
    let Some(x) = cx.at_least(0, n)? else { return Ok(vec![PartialShape::unknown()]) };
    let (rows, last) = x.split_at(x.len() - n);
    for (&a, &b) in last.iter().zip(inner) {
        cx.same(a, b)?;
    }
    let product = PartialShape::new([rows, columns].concat());
    // A bias may have several axes.
    if columns.len() > 1 { Ok(vec![product]) } else { finished(cx, product, ImageFormat::Nhwc) }
}

pub(in crate::tf::op) fn packed_conv2d(cx: &Node<'_>) -> Shapes {
    let (attrs, filter) = (conv(&cx.attrs)?, known::<4>(cx, "filter_shape")?);
    let shape = convolved(cx, &attrs, filter, |cx, channels| {
        cx.same(channels, filter[2])?;
        Ok(filter[3])
    })?;
    finished(cx, shape, attrs.format)
}

pub(in crate::tf::op) fn packed_depthwise_conv2d_native(cx: &Node<'_>) -> Shapes {
    let (attrs, filter) = (conv(&cx.attrs)?, known::<4>(cx, "filter_shape")?);
    let shape = convolved(cx, &attrs, filter, |cx, channels| cx.same(channels, filter[2]))?;
    finished(cx, shape, attrs.format)
}

pub(in crate::tf::op) fn packed_bottleneck(cx: &Node<'_>) -> Shapes {
    let (attrs, filter) = (conv(&cx.attrs)?, known::<4>(cx, "filter_shape")?);
    // The channels before and behind a 1x1 convolution, if it is there.
    let channels = |attr: &str| -> Result<Option<[Dim; 2]>, TensorError> {
        if cx.attrs.ints(attr)?.is_empty() { Ok(None) } else { known::<2>(cx, attr).map(Some) }
    };
    let (expand, project) = (channels("expand_shape")?, channels("project_shape")?);
    let shape = convolved(cx, &attrs, filter, |cx, channels| {
        let [before, expanded] = expand.unwrap_or([channels; 2]);
        cx.same(channels, before)?;
        let middle = cx.same(expanded, filter[2])?;
        let [middle_too, behind] = project.unwrap_or([middle; 2]);
        cx.same(middle, middle_too)?;
        Ok(behind)
    })?;
    Ok(vec![shape])
}

pub(in crate::tf::op) fn fused_elementwise(cx: &Node<'_>) -> Shapes {
    let all = cx.operands.iter().try_fold(PartialShape::of_rank(0), |all, x| broadcast(&all, &x.shape));
    match all {
        Some(shape) => Ok(vec![shape; cx.attrs.types("TResults")?.len()]),
        None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
    }
}

pub(in crate::tf::op) fn fused_attention(cx: &Node<'_>) -> Shapes {
    let ([batch, a, b, _], [.., numbers]) = (cx.dims::<4>(0)?, cx.dims::<4>(2)?);
    let (heads, rows) = if cx.attrs.bool("heads_inside")? { (b, a) } else { (a, b) };
    Ok(vec![PartialShape::new(vec![batch, heads, rows, numbers])])
}

pub(in crate::tf::op) fn conv2d_backprop_input(cx: &Node<'_>) -> Shapes {
    let attrs = conv(&cx.attrs)?;
    let sizes = cx.shape_in(0)?;
    let ([batch, ..], [_, _, channels, _]) = (cx.dims::<4>(2)?, cx.dims::<4>(1)?);
    match sizes.as_slice() {
        Some(&[height, width]) => Ok(vec![image(attrs.format, batch, [height, width], channels)]),
        _ => Ok(vec![cx.merged(&sizes, &PartialShape::of_rank(4))?]),
    }
}

/// Batch and channels: height and width depend on the paddings.
fn convolved_after(cx: &Node<'_>, filter: usize) -> Shapes {
    let ([batch, ..], [.., channels]) = (cx.dims::<4>(0)?, cx.dims::<4>(filter)?);
    Ok(vec![PartialShape::new(vec![batch, None, None, channels])])
}

pub(in crate::tf::op) fn pad_conv2d(cx: &Node<'_>) -> Shapes {
    convolved_after(cx, 2)
}

pub(in crate::tf::op) fn resize_pad_conv2d(cx: &Node<'_>) -> Shapes {
    convolved_after(cx, 3)
}

pub(in crate::tf::op) fn global_batch_norm(cx: &Node<'_>) -> Shapes {
    let [.., channels] = cx.dims::<4>(0)?;
    let one = (1..5).try_fold(channels, |all, i| cx.dims::<1>(i).and_then(|[n]| cx.same(all, n)))?;
    let [batch, height, width, _] = cx.dims::<4>(0)?;
    Ok(vec![PartialShape::new(vec![batch, height, width, one])])
}

pub(in crate::tf::op) fn depthwise_conv2d_native_backprop_input(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(0)?, &PartialShape::of_rank(4))?])
}

pub(in crate::tf::op) fn conv2d_backprop_filter(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(1)?, &PartialShape::of_rank(4))?])
}

pub(in crate::tf::op) fn avg_pool_grad(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(&cx.shape_in(0)?, &PartialShape::of_rank(4))?])
}

pub(in crate::tf::op) fn max_pool_grad(cx: &Node<'_>) -> Shapes {
    cx.dims::<4>(0).and_then(|_| same(cx))
}

pub(in crate::tf::op) fn pool(cx: &Node<'_>) -> Shapes {
    let pool = pooling(&cx.attrs)?;
    pooled(cx, pool.format, pool.padding, Some((pool.window, pool.strides)))
}

pub(in crate::tf::op) fn max_pool_v2(cx: &Node<'_>) -> Shapes {
    pooled_by(cx, 1)
}

pub(in crate::tf::op) fn max_pool_grad_grad_v2(cx: &Node<'_>) -> Shapes {
    pooled_by(cx, 3)
}

/// The pooled images, by windows and strides that are operand `i` and the next one.
fn pooled_by(cx: &Node<'_>, i: usize) -> Shapes {
    let format = format(&cx.attrs)?;
    let windows = match (cx.ints(i)?, cx.ints(i + 1)?) {
        (Some(window), Some(strides)) => {
            Some((plane(cx.op(), "ksize", &window, format)?, plane(cx.op(), "strides", &strides, format)?))
        }
        _ => None,
    };
    pooled(cx, format, padding(&cx.attrs, format)?, windows)
}

pub(in crate::tf::op) fn batch_norm(cx: &Node<'_>) -> Shapes {
    let (shape, channels) = normalized(cx, 0, &[1, 2])?;
    let mut shapes = vec![shape];
    shapes.extend(vec![PartialShape::new(vec![channels]); cx.n_results.saturating_sub(1).min(4)]);
    shapes.extend((cx.n_results > 5).then(|| PartialShape::new(vec![Some(0)])));
    Ok(shapes)
}

pub(in crate::tf::op) fn batch_norm_grad(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(0)?, cx.shape(1)?)?;
    let (shape, channels) = normalized(cx, 1, &[2])?;
    let vector = PartialShape::new(vec![channels]);
    let empty = PartialShape::new(vec![Some(0)]);
    Ok(vec![shape, vector.clone(), vector, empty.clone(), empty])
}

/// The dimensions in an attribute, exactly `N`.
fn known<const N: usize>(cx: &Node<'_>, attr: &str) -> Result<[Dim; N], TensorError> {
    let given = cx.attrs.ints(attr)?;
    let dims: Option<Vec<Dim>> = given.iter().map(|&dim| usize::try_from(dim).ok().map(Some)).collect();
    match dims.and_then(|dims| dims.try_into().ok()) {
        Some(dims) => Ok(dims),
        None => cx.refuse(format!("attribute `{attr}` is {given:?}")),
    }
}

fn transposed([rows, cols]: [Dim; 2], turn: bool) -> [Dim; 2] {
    if turn { [cols, rows] } else { [rows, cols] }
}

/// The shape of images, checked against a bias.
fn biased(
    cx: &Node<'_>,
    x: &PartialShape,
    [bias]: [Dim; 1],
    format: ImageFormat,
) -> Result<PartialShape, TensorError> {
    let Some(dims) = x.as_slice() else { return Ok(PartialShape::unknown()) };
    let mut dims = dims.to_vec();
    let at = if format == ImageFormat::Nchw { 1 } else { dims.len().saturating_sub(1) };
    match dims.get_mut(at) {
        Some(channels) if at > 0 => *channels = cx.same(*channels, bias)?,
        _ => return cx.refuse(format!("rank {}, expected 2 or more", dims.len())),
    }
    Ok(PartialShape::new(dims))
}

/// The shape after the epilogue of a fused product or convolution.
fn finished(cx: &Node<'_>, mut shape: PartialShape, format: ImageFormat) -> Shapes {
    if cx.attrs.signature().attr("fused_ops").is_none() {
        return Ok(vec![shape]);
    }
    let mut operand = 2;
    for name in cx.attrs.strings("fused_ops")? {
        match &name[..] {
            "BiasAdd" => shape = biased(cx, &shape, cx.dims::<1>(operand)?, format)?,
            "Add" => match broadcast(&shape, cx.shape(operand)?) {
                Some(both) => shape = both,
                None => return cx.refuse("the shapes cannot be broadcast together".to_owned()),
            },
            _ => {}
        }
        operand += match &name[..] {
            "Mul" | "BiasAdd" | "Add" => 1,
            "FusedBatchNorm" => 4,
            _ => 0,
        };
    }
    Ok(vec![shape])
}

/// Batch, height and width, and channels of operand `i`.
fn images(cx: &Node<'_>, i: usize, format: ImageFormat) -> Result<(Dim, [Dim; 2], Dim), TensorError> {
    let dims = cx.dims::<4>(i)?;
    Ok(match format {
        ImageFormat::Nhwc => (dims[0], [dims[1], dims[2]], dims[3]),
        ImageFormat::Nchw => (dims[0], [dims[2], dims[3]], dims[1]),
    })
}

fn image(format: ImageFormat, batch: Dim, [height, width]: [Dim; 2], channels: Dim) -> PartialShape {
    PartialShape::new(match format {
        ImageFormat::Nhwc => vec![batch, height, width, channels],
        ImageFormat::Nchw => vec![batch, channels, height, width],
    })
}

/// The numbers of windows along height and width.
fn windows(
    cx: &Node<'_>,
    plane: [Dim; 2],
    size: [Dim; 2],
    strides: (usize, usize),
    dilations: (usize, usize),
    padding: Padding,
) -> Result<[Dim; 2], TensorError> {
    let explicit = match padding {
        Padding::Explicit([rows, cols]) => [Some(rows), Some(cols)],
        _ => [None, None],
    };
    let (strides, dilations) = ([strides.0, strides.1], [dilations.0, dilations.1]);
    let mut counts = [None, None];
    for i in 0..2 {
        // With SAME padding, the number of windows does not depend on their size.
        let size = if padding == Padding::Same { size[i].or(Some(1)) } else { size[i] };
        if let (Some(length), Some(size)) = (plane[i], size) {
            let same = padding == Padding::Same;
            let window = (size, strides[i], dilations[i]);
            counts[i] = Some(axis(cx.op(), cx.shape(0)?, length, window, same, explicit[i])?.1);
        }
    }
    Ok(counts)
}

fn convolved(
    cx: &Node<'_>,
    attrs: &Conv2dAttrs,
    [height, width, ..]: [Dim; 4],
    channels: impl Fn(&Node<'_>, Dim) -> Result<Dim, TensorError>,
) -> Result<PartialShape, TensorError> {
    let (batch, plane, from) = images(cx, 0, attrs.format)?;
    let counts = windows(cx, plane, [height, width], attrs.strides, attrs.dilations, attrs.padding)?;
    Ok(image(attrs.format, batch, counts, channels(cx, from)?))
}

/// Height and width of windows, and the strides.
type WindowsOf = ((usize, usize), (usize, usize));

fn pooled(cx: &Node<'_>, format: ImageFormat, padding: Padding, known: Option<WindowsOf>) -> Shapes {
    let (batch, plane, channels) = images(cx, 0, format)?;
    let counts = match known {
        Some((size, strides)) => windows(cx, plane, [Some(size.0), Some(size.1)], strides, (1, 1), padding)?,
        None => [None, None],
    };
    Ok(vec![image(format, batch, counts, channels)])
}

/// The pooled images, and a position for each of their elements.
pub(in crate::tf::op) fn max_pool_with_argmax(cx: &Node<'_>) -> Shapes {
    Ok(vec![pool(cx)?.remove(0); 2])
}

/// The shape of the images, which are operand 0.
pub(in crate::tf::op) fn max_pool_grad_with_argmax(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(1)?, cx.shape(2)?)?;
    Ok(vec![cx.merged(cx.shape(0)?, &PartialShape::of_rank(4))?])
}

/// The shape of the positions.
pub(in crate::tf::op) fn max_pool_grad_grad_with_argmax(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(0)?, cx.shape(1)?)?;
    Ok(vec![cx.merged(&pool(cx)?.remove(0), cx.shape(2)?)?])
}

/// A pixel for each window, with all pixels of the window.
pub(in crate::tf::op) fn extract_image_patches(cx: &Node<'_>) -> Shapes {
    let of = patches(&cx.attrs)?;
    let (batch, plane, channels) = images(cx, 0, ImageFormat::Nhwc)?;
    let (height, width) = of.size;
    let counts = windows(cx, plane, [Some(height), Some(width)], of.strides, of.rates, of.padding)?;
    let depth = product(product(Some(height), Some(width))?, channels)?;
    Ok(vec![image(ImageFormat::Nhwc, batch, counts, depth)])
}

/// The number of sequences of logits `[time, batch, classes]`.
fn ctc_batch(cx: &Node<'_>, lengths: usize) -> Result<Dim, TensorError> {
    let ([_, batch, _], [n]) = (cx.dims::<3>(0)?, cx.dims::<1>(lengths)?);
    cx.same(batch, n)
}

/// `n` sparse matrices of labels, as coordinates, labels and shapes, and numbers for each sequence.
fn ctc_decoded(cx: &Node<'_>, n: usize) -> Shapes {
    let batch = ctc_batch(cx, 1)?;
    let of = |dims: &[Dim]| PartialShape::new(dims.to_vec());
    let mut shapes = vec![of(&[None, Some(2)]); n];
    shapes.extend(vec![of(&[None]); n]);
    shapes.extend(vec![of(&[Some(2)]); n]);
    shapes.push(of(&[batch, Some(n)]));
    Ok(shapes)
}

pub(in crate::tf::op) fn ctc_greedy(cx: &Node<'_>) -> Shapes {
    ctc_decoded(cx, 1)
}

pub(in crate::tf::op) fn ctc_beam_search(cx: &Node<'_>) -> Shapes {
    ctc_decoded(cx, cx.n_results.saturating_sub(1) / 3)
}

/// A number for each sequence, and one for each logit.
pub(in crate::tf::op) fn ctc_loss(cx: &Node<'_>) -> Shapes {
    let batch = ctc_batch(cx, 3)?;
    let logits = cx.merged(cx.shape(0)?, &PartialShape::new(vec![None, batch, None]))?;
    Ok(vec![PartialShape::new(vec![batch]), logits])
}

/// The shape of images and the length of vectors with one number per channel.
fn normalized(cx: &Node<'_>, x: usize, vectors: &[usize]) -> Result<(PartialShape, Dim), TensorError> {
    let format = format(&cx.attrs)?;
    let (batch, plane, mut channels) = images(cx, x, format)?;
    for &vector in vectors {
        let [n] = cx.dims::<1>(vector)?;
        channels = cx.same(channels, n)?;
    }
    Ok((image(format, batch, plane, channels), channels))
}
