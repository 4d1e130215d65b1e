//! Convolutions, pools and resizing. TensorFlow's images mostly have their channels last, ONNX's have them as
//! axis 1: transpositions are written around each operator, and two that meet vanish.

use befrost_tensor::tf::op::Op;

use super::layers::channels_last;
use crate::export::onnx::emit::{AttrList, AttrValue, NodeWriter, WhyNot, Written};
use crate::export::onnx::node::TfNode;

/// The windows of an operator on images, one entry per axis of space.
struct Spatial {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    padding: Padding,
}

enum Padding {
    Valid,
    Same,
    /// Before and behind each axis.
    Explicit(Vec<(i64, i64)>),
}

/// The entries of the axes of space in a list with one entry per axis.
fn spatial<T: Copy>(list: &[T], last: bool) -> Result<Vec<T>, WhyNot> {
    let entries = if last { list.get(1..list.len().saturating_sub(1)) } else { list.get(2..) };
    entries.map(<[T]>::to_vec).ok_or_else(|| "a list that is too short".to_owned())
}

impl Spatial {
    fn of(n: &TfNode<'_>, rank: usize) -> Result<Spatial, WhyNot> {
        let last = channels_last(n)?;
        let all = n.int_list("strides")?;
        let strides = spatial(&all, last)?;
        let across = if last { [0, rank - 1] } else { [0, 1] };
        if all.len() != rank || across.iter().any(|&axis| all[axis] != 1) {
            return Err("steps across images or channels".to_owned());
        }
        if strides.iter().any(|&stride| stride < 1) {
            return Err("steps that are not positive".to_owned());
        }
        let dilations = match n.int_list("dilations") {
            Ok(all) => spatial(&all, last)?,
            Err(_) => vec![1; strides.len()],
        };
        let padding = match n.word("padding")?.as_str() {
            "VALID" => Padding::Valid,
            "SAME" => Padding::Same,
            _ => {
                let pairs: Vec<(i64, i64)> =
                    n.int_list("explicit_paddings")?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
                Padding::Explicit(spatial(&pairs, last)?)
            }
        };
        let n_pads = if let Padding::Explicit(pads) = &padding { pads.len() } else { strides.len() };
        if dilations.len() != strides.len() || n_pads != strides.len() {
            return Err("lists of different lengths".to_owned());
        }
        Ok(Spatial { strides, dilations, padding })
    }

    /// The padding of images of these sizes, `None` for SAME with an unknown size.
    fn pads(&self, sizes: &[i64], kernel: &[i64]) -> Option<Vec<(i64, i64)>> {
        match &self.padding {
            Padding::Valid => Some(vec![(0, 0); self.strides.len()]),
            Padding::Explicit(pads) => Some(pads.clone()),
            Padding::Same => {
                (0..self.strides.len()).map(|i| self.same(i, *sizes.get(i)?, *kernel.get(i)?)).collect()
            }
        }
    }

    fn same(&self, i: usize, size: i64, kernel: i64) -> Option<(i64, i64)> {
        if size < 0 {
            return None;
        }
        let stride = self.strides[i];
        let windows = size.checked_add(stride - 1)?.checked_div(stride)?;
        let reach = (windows - 1).max(0).checked_mul(stride)?.checked_add(self.extent(i, kernel)?)?;
        let total = (reach - size).max(0);
        Some((total / 2, total - total / 2))
    }

    /// The extent of a dilated window.
    fn extent(&self, i: usize, kernel: i64) -> Option<i64> {
        kernel.checked_sub(1)?.checked_mul(self.dilations[i])?.checked_add(1)
    }

    /// The attributes of a convolution or pool with images of these sizes.
    fn write<'a>(&'a self, sizes: &[i64], kernel: &'a [i64], flat: &'a mut Vec<i64>) -> AttrList<'a> {
        let mut attrs =
            vec![("kernel_shape", AttrValue::Ints(kernel)), ("strides", AttrValue::Ints(&self.strides))];
        if self.dilations.iter().any(|&dilation| dilation != 1) {
            attrs.push(("dilations", AttrValue::Ints(&self.dilations)));
        }
        match self.pads(sizes, kernel) {
            Some(pads) => {
                flat.extend(pads.iter().map(|pad| pad.0).chain(pads.iter().map(|pad| pad.1)));
                if flat.iter().any(|&pad| pad != 0) {
                    attrs.push(("pads", AttrValue::Ints(flat)));
                }
            }
            None => attrs.push(("auto_pad", AttrValue::Str("SAME_UPPER"))),
        }
        attrs
    }
}

/// The sizes of the axes of space of operand `i`, -1 for unknown ones.
fn sizes(n: &TfNode<'_>, i: usize, rank: usize) -> Result<Vec<i64>, WhyNot> {
    n.dims(i).map_or_else(|_| Ok(vec![-1; rank - 2]), |dims| spatial(&dims, channels_last(n)?))
}

/// The dimensions of the filters, operand 1, and their sizes in space.
fn filters_of(n: &TfNode<'_>, rank: usize) -> Result<(Vec<i64>, Vec<i64>), WhyNot> {
    let filters = n.dims(1)?;
    let kernel = filters.get(..rank - 2).unwrap_or_default().to_vec();
    if filters.len() != rank || kernel.iter().any(|&size| size < 0) {
        return Err("filters of unknown size".to_owned());
    }
    Ok((filters, kernel))
}

/// `Conv2D` and `Conv3D`. Fewer channels in the filters than in the images make groups.
pub(super) fn conv(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let rank = if n.operator == Op::Conv2D { 4 } else { 5 };
    let windows = Spatial::of(n, rank)?;
    let (filters, kernel) = filters_of(n, rank)?;
    let channels = n
        .dims(0)
        .ok()
        .and_then(|dims| dims.get(if channels_last(n) == Ok(true) { rank - 1 } else { 1 }).copied());
    let group = match (channels, filters[rank - 2]) {
        (Some(all @ 1..), per_group @ 1..) => all / per_group,
        _ => 1,
    };
    // Filters HWIO become OIHW.
    let space = 0..rank as i64 - 2;
    let perm: Vec<i64> = [rank as i64 - 1, rank as i64 - 2].into_iter().chain(space).collect();
    let filters = w.transpose_value(n.value(1)?, n.input(1)?, &perm);
    let sizes = sizes(n, 0, rank)?;
    let y = w.channels_first(n, 0, rank, |w, x| {
        let mut flat = Vec::new();
        let mut attrs = windows.write(&sizes, &kernel, &mut flat);
        if group != 1 {
            attrs.push(("group", AttrValue::Int(group)));
        }
        Ok(w.with("Conv", &[x, &filters], attrs))
    })?;
    Ok(vec![y])
}

/// `DepthwiseConv2dNative`: a group per channel. Filters are (height, width, channels, multiplier).
pub(super) fn depthwise(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let windows = Spatial::of(n, 4)?;
    let filters = n.known_dims(1)?;
    let [height, width, channels, multiplier] = filters[..] else {
        return Err("filters of another rank".into());
    };
    let kernel = [height, width];
    let turned = w.transpose_value(n.value(1)?, n.input(1)?, &[2, 3, 0, 1]);
    let outputs = channels.checked_mul(multiplier).ok_or("too many channels")?;
    let filters = w.reshape(&turned, &[outputs, 1, height, width]);
    let sizes = sizes(n, 0, 4)?;
    let y = w.channels_first(n, 0, 4, |w, x| {
        let mut flat = Vec::new();
        let mut attrs = windows.write(&sizes, &kernel, &mut flat);
        attrs.push(("group", AttrValue::Int(channels)));
        Ok(w.with("Conv", &[x, &filters], attrs))
    })?;
    Ok(vec![y])
}

/// `Conv2DBackpropInput` and its like for volumes: a transposed convolution of the gradients, cut to the
/// sizes of the images.
pub(super) fn conv_transpose(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let rank = if n.operator == Op::Conv2DBackpropInput { 4 } else { 5 };
    let windows = Spatial::of(n, rank)?;
    let last = channels_last(n)?;
    let (filters, kernel) = filters_of(n, rank)?;
    let wanted = match n.ints(0) {
        // Sizes may lack the batch and the channels.
        Some(sizes) if sizes.len() == rank => spatial(&sizes, last)?,
        Some(sizes) if sizes.len() == rank - 2 => sizes,
        _ => spatial(&n.result_dims()?, last)?,
    };
    let given = sizes(n, 2, rank)?;
    if [&given, &wanted].iter().any(|sizes| sizes.len() != rank - 2 || sizes.iter().any(|&size| size < 0)) {
        return Err("images of unknown size".to_owned());
    }
    let channels = |dims: &[i64]| dims.get(if last { rank - 1 } else { 1 }).copied();
    let group = match (channels(&n.result_dims().unwrap_or_default()), filters[rank - 2]) {
        (Some(all @ 1..), per_group @ 1..) => all / per_group,
        _ => 1,
    };
    let pads = windows.pads(&wanted, &kernel).ok_or("images of unknown size")?;
    let (mut flat, mut behind, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..rank - 2 {
        let reach = (given[i] - 1).checked_mul(windows.strides[i]);
        let full = reach.and_then(|reach| reach.checked_add(windows.extent(i, kernel[i])?));
        let left = full.and_then(|full| full.checked_sub(wanted[i])?.checked_sub(pads[i].0));
        let left = left.ok_or("sizes that overflow")?;
        flat.push(pads[i].0);
        behind.push(left.max(0));
        more.push(left.saturating_neg().max(0));
    }
    flat.extend(behind);
    // Filters HWIO become OIHW, where O are the channels of the gradients.
    let perm: Vec<i64> = [rank as i64 - 1, rank as i64 - 2].into_iter().chain(0..rank as i64 - 2).collect();
    let filters = w.transpose_value(n.value(1)?, n.input(1)?, &perm);
    let y = w.channels_first(n, 2, rank, |w, x| {
        let attrs = vec![
            ("kernel_shape", AttrValue::Ints(&kernel)),
            ("strides", AttrValue::Ints(&windows.strides)),
            ("dilations", AttrValue::Ints(&windows.dilations)),
            ("pads", AttrValue::Ints(&flat)),
            ("output_padding", AttrValue::Ints(&more)),
            ("group", AttrValue::Int(group)),
        ];
        Ok(w.with("ConvTranspose", &[x, &filters], attrs))
    })?;
    Ok(vec![y])
}

pub(super) fn pool(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (rank, op_type) = match n.operator {
        Op::AvgPool => (4, "AveragePool"),
        Op::MaxPool => (4, "MaxPool"),
        Op::AvgPool3D => (5, "AveragePool"),
        _ => (5, "MaxPool"),
    };
    let windows = Spatial::of(n, rank)?;
    let last = channels_last(n)?;
    let all = n.int_list("ksize")?;
    if all.len() != rank || all[0] != 1 || all[if last { rank - 1 } else { 1 }] != 1 {
        return Err("of images or channels".to_owned());
    }
    let (kernel, sizes) = (spatial(&all, last)?, sizes(n, 0, rank)?);
    let y = w.channels_first(n, 0, rank, |w, x| {
        let mut flat = Vec::new();
        Ok(w.with(op_type, &[x], windows.write(&sizes, &kernel, &mut flat)))
    })?;
    Ok(vec![y])
}

pub(super) fn depth_and_space(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let op_type = if n.operator == Op::DepthToSpace { "DepthToSpace" } else { "SpaceToDepth" };
    let size = n.int("block_size")?;
    let y = w.channels_first(n, 0, 4, |w, x| {
        Ok(w.with(op_type, &[x], vec![("blocksize", AttrValue::Int(size))]))
    })?;
    Ok(vec![y])
}

/// `ResizeBilinear` and its like, which have images NHWC and the two sizes of the result.
pub(super) fn resize(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    let (corners, centers) = (n.flag("align_corners")?, n.flag("half_pixel_centers")?);
    let coordinates = match (corners, centers) {
        (true, _) => "align_corners",
        (_, true) => "half_pixel",
        _ => "asymmetric",
    };
    let mut attrs = vec![("coordinate_transformation_mode", AttrValue::Str(coordinates))];
    match n.operator {
        Op::ResizeBilinear => attrs.push(("mode", AttrValue::Str("linear"))),
        Op::ResizeBicubic => attrs.extend([
            ("mode", AttrValue::Str("cubic")),
            ("cubic_coeff_a", AttrValue::Float(if centers { -0.5 } else { -0.75 })),
            ("exclude_outside", AttrValue::Int(i64::from(centers))),
        ]),
        _ => {
            let rounded = if corners || centers { "round_prefer_ceil" } else { "floor" };
            attrs.extend([("mode", AttrValue::Str("nearest")), ("nearest_mode", AttrValue::Str(rounded))]);
        }
    }
    let sizes = w.int_vector(n, 1)?;
    let (first, last) = super::layers::moves(4);
    let x = w.transpose_value(n.value(0)?, n.input(0)?, &first);
    let x = w.cast(&x, n.dtype(0)?, n.result_dtype(0)?);
    let shape = w.op("Shape", &[&x]);
    let outer = w.slice(&shape, 0, 0, 2);
    let sizes = w.concat_ints(&[&outer, &sizes]);
    let y = w.with("Resize", &[&x, "", "", &sizes], attrs);
    Ok(vec![w.transpose(&y, &last)])
}
