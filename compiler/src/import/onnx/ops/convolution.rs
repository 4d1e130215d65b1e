//! Convolutions and pooling. Images are NC..., filters OI...

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// Limit on a size of a result, so that sums of sizes do not overflow.
const MAX_SIZE: i64 = 1 << 40;

/// The windows of a convolution or a pool, one entry per spatial axis.
#[derive(Clone)]
pub(super) struct Windows {
    pub(super) kernel: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) dilations: Vec<i64>,
    /// The padding before and after.
    pub(super) pads: Vec<(i64, i64)>,
    /// The padding is that of TensorFlow's `SAME`, or with `is_lower` its mirror image: it follows from sizes
    /// that are not known. `pads` are zeros.
    pub(super) is_same: bool,
    is_lower: bool,
}

impl Windows {
    /// The windows of a node on images `x`; automatic padding is computed from their sizes.
    pub(super) fn new(
        g: &OnnxImporter<'_>,
        n: &OnnxNode<'_>,
        x: ValueId,
        kernel: Vec<i64>,
    ) -> Result<Windows, Why> {
        let rank = kernel.len();
        let list = |name: &str| match n.ints(name) {
            None => Ok(vec![1; rank]),
            Some(values) if values.len() == rank && values.iter().all(|&value| value > 0) => {
                Ok(values.to_vec())
            }
            Some(values) => Err(format!("{name} {values:?} for {rank} axes")),
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        let pads = match n.ints("pads") {
            None => vec![(0, 0); rank],
            Some(pads) if pads.len() == 2 * rank => (0..rank).map(|i| (pads[i], pads[i + rank])).collect(),
            Some(pads) => return Err(format!("pads {pads:?} for {rank} axes")),
        };
        let auto = n.word("auto_pad", "NOTSET")?;
        let is_lower = auto == "SAME_LOWER";
        let mut windows = Windows { kernel, strides, dilations, pads, is_same: false, is_lower };
        match auto {
            "NOTSET" => {}
            "VALID" => windows.pads = vec![(0, 0); rank],
            "SAME_UPPER" | "SAME_LOWER" => {
                let dims = g.dims(x)?;
                for i in 0..rank {
                    let size = dims.get(i + 2).copied().ok_or("its images lack axes")?;
                    if size < 0 && windows.strides[i] > 1 {
                        windows.is_same = true;
                    } else {
                        windows.pads[i] = windows.same(i, size);
                    }
                }
                if windows.is_same {
                    windows.pads = vec![(0, 0); rank];
                }
            }
            other => return Err(format!("auto_pad '{other}'")),
        }
        Ok(windows)
    }

    /// The extent of a dilated window.
    pub(super) fn extent(&self, i: usize) -> i64 {
        self.kernel[i].saturating_sub(1).saturating_mul(self.dilations[i]).saturating_add(1)
    }

    /// The padding with which there is a window per stride. Only with a stride of 1 may `size` be unknown
    /// (negative).
    fn same(&self, i: usize, size: i64) -> (i64, i64) {
        let total = if self.strides[i] == 1 {
            self.extent(i) - 1
        } else {
            let before_last = (size - 1).max(0) / self.strides[i] * self.strides[i];
            before_last.saturating_add(self.extent(i)).saturating_sub(size).max(0)
        };
        let less = total / 2;
        if self.is_lower { (total - less, less) } else { (less, total - less) }
    }

    /// Images to which the padding that follows from their sizes is added, as numbers `with`, and the windows
    /// on them.
    pub(super) fn padded(
        &self,
        g: &mut OnnxImporter<'_>,
        x: ValueId,
        with: ValueId,
    ) -> Result<(ValueId, Windows), Why> {
        let mut pads = vec![DimSize::Known(0); 4];
        for i in 0..self.kernel.len() {
            let (before, behind) = match g.size(x, i + 2)? {
                DimSize::Known(size) => {
                    let (before, behind) = self.same(i, size);
                    (DimSize::Known(before), DimSize::Known(behind))
                }
                DimSize::Value(size) => {
                    let (last, stride) = (g.plus(size, -1.0)?, g.int(self.strides[i])?);
                    // From the beginning of the last window to the last number of the images.
                    let inside = g.one(Op::FloorMod, &[last, stride])?;
                    let (extent, zero) = (g.int(self.extent(i) - 1)?, g.int(0)?);
                    let outside = g.sub(extent, inside)?;
                    let total = g.one(Op::Maximum, &[outside, zero])?;
                    let two = g.int(2)?;
                    let less = g.div(total, two)?;
                    let more = g.sub(total, less)?;
                    let (before, behind) = if self.is_lower { (more, less) } else { (less, more) };
                    (DimSize::Value(before), DimSize::Value(behind))
                }
            };
            pads.extend([before, behind]);
        }
        let flat = g.size_vector(&pads)?;
        let pads = g.reshape_to(flat, &[self.kernel.len() as i64 + 2, 2])?;
        Ok((g.one(Op::PadV2, &[x, pads, with])?, Windows { is_same: false, ..self.clone() }))
    }

    /// All padding before, then all behind.
    pub(super) fn flat_pads(&self) -> Result<Vec<i64>, Why> {
        if self.is_same {
            return Err("automatic padding with strides needs images of known size here".into());
        }
        Ok(self.pads.iter().map(|pad| pad.0).chain(self.pads.iter().map(|pad| pad.1)).collect())
    }

    fn is_padded(&self) -> bool {
        self.is_same || self.pads.iter().any(|&pad| pad != (0, 0))
    }

    /// The attributes of TensorFlow for the padding of images NCHW; `explicit` is [`explicit`]'s.
    fn padding<'a>(&self, explicit: &'a [i64]) -> Vec<(&'static str, AttrArg<'a>)> {
        match (self.is_same, self.is_padded()) {
            (true, _) => vec![("padding", AttrArg::Str("SAME"))],
            (false, false) => vec![("padding", AttrArg::Str("VALID"))],
            (false, true) => {
                vec![("padding", AttrArg::Str("EXPLICIT")), ("explicit_paddings", AttrArg::Ints(explicit))]
            }
        }
    }
}

/// The spatial sizes of filters; from the attribute if their type does not have them.
pub(super) fn kernel_of(g: &OnnxImporter<'_>, n: &OnnxNode<'_>, filters: ValueId) -> Result<Vec<i64>, Why> {
    let dims = g.dims(filters)?;
    let kernel = dims.get(2..).ok_or("its filters lack axes")?;
    if kernel.iter().all(|&dim| dim >= 0) {
        return Ok(kernel.to_vec());
    }
    if n.ints("kernel_shape").is_some_and(|given| given.len() != kernel.len()) {
        return Err("kernel_shape has another number of axes than its filters".into());
    }
    n.ints("kernel_shape").map(<[i64]>::to_vec).ok_or_else(|| "the size of its filters is not known".into())
}

/// A list with one number per axis of images NCHW.
fn nchw(batch: i64, spatial: &[i64]) -> Vec<i64> {
    [&[batch, batch], spatial].concat()
}

fn explicit(windows: &Windows) -> Vec<i64> {
    [&[0, 0, 0, 0][..], &windows.pads.iter().flat_map(|&(a, b)| [a, b]).collect::<Vec<_>>()].concat()
}

pub(super) fn conv(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, filters) = (n.input(0)?, n.input(1)?);
    let group = n.int_or("group", 1);
    let kernel = kernel_of(g, n, filters)?;
    let x = g.of_rank(x, kernel.len() + 2)?;
    let (mut x, mut windows) = (x, Windows::new(g, n, x, kernel)?);
    if windows.is_same && windows.is_lower {
        let zero = g.scalar_like(0.0, x)?;
        (x, windows) = windows.padded(g, x, zero)?;
    }
    one(convolved(g, x, filters, n.optional(2), &windows, group))
}

/// A convolution of one to three spatial axes, with a bias of one number per channel.
fn convolved(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    bias: Option<ValueId>,
    windows: &Windows,
    group: i64,
) -> Result<ValueId, Why> {
    let y = match windows.kernel.len() {
        1 => {
            return along_rows(g, x, filters, windows, |g, x, filters, windows| {
                convolved(g, x, filters, bias, windows, group)
            });
        }
        2 => conv_2d(g, x, filters, windows, group)?,
        3 => conv_3d(g, x, filters, windows, group)?,
        n => return Err(format!("convolutions of {n} axes are not supported")),
    };
    let Some(bias) = bias else { return Ok(y) };
    if windows.kernel.len() == 2 {
        return g.op(Op::BiasAdd, &[y, bias], &[("data_format", AttrArg::Str("NCHW"))]);
    }
    let bias = g.expand_behind(bias, windows.kernel.len() + 1)?;
    g.add(y, bias)
}

/// Applies `act` to sequences as images of height 1.
fn along_rows(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    windows: &Windows,
    act: impl FnOnce(&mut OnnxImporter<'_>, ValueId, ValueId, &Windows) -> Result<ValueId, Why>,
) -> Result<ValueId, Why> {
    let Windows { kernel, strides, dilations, pads, is_same, is_lower } = windows;
    let with = |first: i64, rest: &[i64]| [&[first], rest].concat();
    let windows = Windows {
        kernel: with(1, kernel),
        strides: with(1, strides),
        dilations: with(1, dilations),
        pads: [&[(0, 0)], &pads[..]].concat(),
        is_same: *is_same,
        is_lower: *is_lower,
    };
    let (x, filters) = (g.expand(x, 2)?, g.expand(filters, 2)?);
    let y = act(g, x, filters, &windows)?;
    g.squeeze(y, &[2])
}

fn conv_2d(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    windows: &Windows,
    group: i64,
) -> Result<ValueId, Why> {
    let dims = g.dims(filters)?;
    let strides = nchw(1, &windows.strides);
    let dilations = nchw(1, &windows.dilations);
    let explicit = explicit(windows);
    let mut attrs = vec![
        ("data_format", AttrArg::Str("NCHW")),
        ("strides", AttrArg::Ints(&strides)),
        ("dilations", AttrArg::Ints(&dilations)),
    ];
    attrs.extend(windows.padding(&explicit));
    let channels = g.dims(x)?.get(1).copied().unwrap_or(-1);
    if group > 1 && dims[1] == 1 && channels == group && dims[0] > 0 && dims[0] % group == 0 {
        // One group per channel: filters of shape (height, width, channels, multiplier).
        let parts = g.reshape_to(filters, &[group, dims[0] / group, dims[2], dims[3]])?;
        let filters = g.transpose(parts, &[2, 3, 0, 1])?;
        return g.op(Op::DepthwiseConv2dNative, &[x, filters], &attrs);
    }
    let filters = g.transpose(filters, &[2, 3, 1, 0])?;
    g.op(Op::Conv2D, &[x, filters], &attrs)
}

fn conv_3d(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    windows: &Windows,
    group: i64,
) -> Result<ValueId, Why> {
    let zero = g.scalar_like(0.0, x)?;
    let padded = g.pad(x, &[&[(0, 0), (0, 0)], &windows.pads[..]].concat(), zero)?;
    let padding = if windows.is_same { "SAME" } else { "VALID" };
    let last = g.transpose(padded, &[0, 2, 3, 4, 1])?;
    let ndhwc = |spatial: &[i64]| [&[1], spatial, &[1]].concat();
    let (strides, dilations) = (ndhwc(&windows.strides), ndhwc(&windows.dilations));
    let attrs = [
        ("strides", AttrArg::Ints(&strides)),
        ("dilations", AttrArg::Ints(&dilations)),
        ("padding", AttrArg::Str(padding)),
    ];
    let filters = g.transpose(filters, &[2, 3, 4, 1, 0])?;
    let y = by_group(g, last, filters, group, 4, |g, x, filters| g.op(Op::Conv3D, &[x, filters], &attrs))?;
    g.transpose(y, &[0, 4, 1, 2, 3])
}

/// Applies `act` to each group of channels, and concatenates the results. The groups of `x` are along `axis`,
/// those of `filters` along the last axis.
fn by_group(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    group: i64,
    axis: usize,
    mut act: impl FnMut(&mut OnnxImporter<'_>, ValueId, ValueId) -> Result<ValueId, Why>,
) -> Result<ValueId, Why> {
    const MAX_GROUPS: i64 = 1 << 12;
    if group == 1 {
        return act(g, x, filters);
    }
    let n = usize::try_from(group).ok().filter(|_| (1..=MAX_GROUPS).contains(&group));
    let n = n.ok_or_else(|| format!("{group} groups"))?;
    let last = g.rank(filters)? - 1;
    let (xs, filters) = (g.split(x, axis, n)?, g.split(filters, last, n)?);
    let mut parts = Vec::with_capacity(n);
    for (x, filters) in xs.into_iter().zip(filters) {
        parts.push(act(g, x, filters)?);
    }
    g.concat(&parts, axis)
}

/// `ConvTranspose`: the gradient of a convolution for its images. Filters are IO..., where I are the
/// channels of the input.
pub(super) fn conv_transpose(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, filters) = (n.input(0)?, n.input(1)?);
    let group = n.int_or("group", 1);
    let kernel = kernel_of(g, n, filters)?;
    let rank = kernel.len();
    let x = g.of_rank(x, rank + 2)?;
    if g.rank(x)? != rank + 2 {
        return Err("its images and filters have different ranks".into());
    }
    let auto = n.word("auto_pad", "NOTSET")?;
    let explicit = OnnxNode { attrs: without(n, "auto_pad"), inputs: n.inputs.clone(), ..*n };
    let mut windows = Windows::new(g, &explicit, x, kernel)?;
    let extra = n.ints("output_padding").map_or_else(|| vec![0; rank], <[i64]>::to_vec);
    let wanted = n.ints("output_shape").map(|shape| &shape[shape.len().saturating_sub(rank)..]);
    if extra.len() != rank || wanted.is_some_and(|wanted| wanted.len() != rank) {
        return Err("output_padding or output_shape has another number of axes".into());
    }
    // The sizes of the result without padding.
    let mut full = Vec::with_capacity(rank);
    for i in 0..rank {
        full.push(match g.size(x, i + 2)? {
            DimSize::Known(size) => {
                let size =
                    windows.strides[i].checked_mul(size - 1).and_then(|n| n.checked_add(windows.extent(i)));
                DimSize::Known(size.filter(|&size| size <= MAX_SIZE).ok_or("its result is too large")?)
            }
            DimSize::Value(size) => {
                let last = g.plus(size, -1.0)?;
                let before_last = g.times(last, windows.strides[i] as f64)?;
                DimSize::Value(g.plus(before_last, windows.extent(i) as f64)?)
            }
        });
    }
    let is_same = auto.starts_with("SAME");
    if is_same || wanted.is_some() {
        for i in 0..rank {
            let total = match (wanted, full[i]) {
                (Some(wanted), DimSize::Known(full)) => {
                    full.saturating_add(extra[i]).saturating_sub(wanted[i])
                }
                (Some(_), DimSize::Value(_)) => {
                    return Err(
                        "output_shape needs images of known size; give it: --feed NAME=DTYPE[SHAPE]".into()
                    );
                }
                // The result has `stride` times the size of the images.
                (None, _) => windows.extent(i).saturating_add(extra[i]).saturating_sub(windows.strides[i]),
            };
            let less = total.div_euclid(2);
            windows.pads[i] = if auto == "SAME_UPPER" { (less, total - less) } else { (total - less, less) };
        }
    }
    // The result is computed without padding, then cropped or filled up with zeros.
    let pads = std::mem::replace(&mut windows.pads, vec![(0, 0); rank]);
    let mut y = transposed(g, x, filters, &windows, &full, group)?;
    let mut crops = vec![(0, 0); 2];
    crops.extend(
        pads.iter()
            .zip(&extra)
            .map(|(&(before, behind), &extra)| (before.saturating_neg(), extra.saturating_sub(behind))),
    );
    for (axis, &(before, behind)) in crops.iter().enumerate().filter(|(_, crop)| crop.0 < 0 || crop.1 < 0) {
        y = g.slice(y, axis, before.saturating_neg().max(0), if behind < 0 { Some(behind) } else { None })?;
    }
    let more: Vec<(i64, i64)> = crops.iter().map(|&(a, b)| (a.max(0), b.max(0))).collect();
    let zero = g.scalar_like(0.0, y)?;
    y = g.pad(y, &more, zero)?;
    let Some(bias) = n.optional(2) else { return one(Ok(y)) };
    let bias = g.expand_behind(bias, rank + 1)?;
    one(g.add(y, bias))
}

/// The attributes of a node except for one.
fn without<'n>(
    n: &OnnxNode<'n>,
    name: &str,
) -> Vec<(&'n str, &'n crate::import::onnx_proto::AttributeProto)> {
    n.attrs.iter().copied().filter(|(given, _)| *given != name).collect()
}

/// The transposed convolution without padding; the result has the spatial sizes `full`.
fn transposed(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    filters: ValueId,
    windows: &Windows,
    full: &[DimSize],
    group: i64,
) -> Result<ValueId, Why> {
    let batch = g.size(x, 0)?;
    let channels =
        g.dims(filters)?.get(1).copied().filter(|&n| n > 0).ok_or("its filters have no channels")?;
    let mut sizes = vec![batch, DimSize::Known(channels)];
    sizes.extend(full);
    if windows.kernel.len() == 1 {
        let full = [&[DimSize::Known(1)], full].concat();
        return along_rows(g, x, filters, windows, |g, x, filters, windows| {
            transposed(g, x, filters, windows, &full, group)
        });
    }
    if windows.kernel.len() == 2 {
        let filters = g.transpose(filters, &[2, 3, 1, 0])?;
        let (strides, dilations) = (nchw(1, &windows.strides), nchw(1, &windows.dilations));
        let attrs = [
            ("data_format", AttrArg::Str("NCHW")),
            ("strides", AttrArg::Ints(&strides)),
            ("dilations", AttrArg::Ints(&dilations)),
            ("padding", AttrArg::Str("VALID")),
        ];
        let sizes = g.size_vector(&sizes)?;
        let sizes = g.cast(sizes, DType::I32)?;
        return by_group(g, x, filters, group, 1, |g, x, filters| {
            g.op(Op::Conv2DBackpropInput, &[sizes, filters, x], &attrs)
        });
    }
    if windows.kernel.len() != 3 {
        return Err(format!("convolutions of {} axes are not supported", windows.kernel.len()));
    }
    let last = g.transpose(x, &[0, 2, 3, 4, 1])?;
    let filters = g.transpose(filters, &[2, 3, 4, 1, 0])?;
    let channels = sizes.remove(1);
    sizes.push(channels);
    let sizes = g.size_vector(&sizes)?;
    let ndhwc = |spatial: &[i64]| [&[1], spatial, &[1]].concat();
    let (strides, dilations) = (ndhwc(&windows.strides), ndhwc(&windows.dilations));
    let attrs = [
        ("strides", AttrArg::Ints(&strides)),
        ("dilations", AttrArg::Ints(&dilations)),
        ("padding", AttrArg::Str("VALID")),
    ];
    let y = by_group(g, last, filters, group, 4, |g, x, filters| {
        g.op(Op::Conv3DBackpropInputV2, &[sizes, filters, x], &attrs)
    })?;
    g.transpose(y, &[0, 4, 1, 2, 3])
}

// ---- pooling ----

/// `MaxPool`, `AveragePool` and `LpPool`.
pub(super) fn pool(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    pool_of(g, n, n.input(0)?)
}

/// `NhwcMaxPool` of com.microsoft.
pub(super) fn nhwc_max_pool(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let last = g.rank(x)?.checked_sub(1).filter(|&last| last > 1).ok_or("its images lack axes")?;
    let images = g.move_axis(x, last, 1)?;
    let pooled = pool_of(g, n, images)?;
    pooled.into_iter().map(|y| g.move_axis(y, 1, last)).collect()
}

/// The pooling of a node, of these images.
pub(super) fn pool_of(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, x: ValueId) -> Lowered {
    let kernel = n.ints("kernel_shape").ok_or("it has no kernel_shape")?.to_vec();
    if kernel.iter().any(|&size| size < 1) {
        return Err(format!("kernel_shape {kernel:?}"));
    }
    let x = g.of_rank(x, kernel.len() + 2)?;
    let windows = Windows::new(g, n, x, kernel)?;
    let (mode, op) = match n.proto.op_type.as_str() {
        "MaxPool" | "NhwcMaxPool" => ("max", Op::MaxPool),
        "AveragePool" | "QLinearAveragePool" => ("average", Op::AvgPool),
        _ => ("lp", Op::_Pool),
    };
    let ceil = n.flag("ceil_mode", false);
    let with_pads = n.flag("count_include_pad", false);
    let is_plain = windows.kernel.len() == 2
        && !n.has_output(1)
        && !ceil
        && windows.dilations.iter().all(|&dilation| dilation == 1)
        && (mode == "max" || !windows.is_padded() || windows.is_same && !with_pads)
        && !(windows.is_same && windows.is_lower)
        && mode != "lp"
        && matches!(g.dtype(x)?, DType::F32 | DType::F64);
    if is_plain {
        let (ksize, strides) = (nchw(1, &windows.kernel), nchw(1, &windows.strides));
        let explicit = explicit(&windows);
        let mut attrs = vec![
            ("data_format", AttrArg::Str("NCHW")),
            ("ksize", AttrArg::Ints(&ksize)),
            ("strides", AttrArg::Ints(&strides)),
        ];
        attrs.extend(windows.padding(&explicit));
        return one(g.op(op, &[x], &attrs));
    }
    let pooled = |g: &mut OnnxImporter<'_>, x: ValueId, windows: &Windows| -> Lowered {
        let pads = windows.flat_pads()?;
        let mut attrs = vec![
            ("kernel_shape", AttrArg::Ints(&windows.kernel)),
            ("strides", AttrArg::Ints(&windows.strides)),
            ("dilations", AttrArg::Ints(&windows.dilations)),
            ("pads", AttrArg::Ints(&pads)),
            ("ceil_mode", AttrArg::Bool(ceil)),
        ];
        if n.has_output(1) {
            attrs.push(("storage_order", AttrArg::Int(n.int_or("storage_order", 0))));
            return g.ops(Op::_MaxPoolWithIndices, &[x], &attrs, &[]);
        }
        attrs.extend([
            ("mode", AttrArg::Str(mode)),
            ("count_include_pad", AttrArg::Bool(with_pads)),
            ("p", AttrArg::Int(n.int_or("p", 2))),
        ]);
        one(g.op(Op::_Pool, &[x], &attrs))
    };
    // The positions of the largest numbers are those in the images without padding.
    if !windows.is_same || n.has_output(1) {
        return pooled(g, x, &windows);
    }
    let with = match (mode, g.dtype(x)?) {
        ("max", DType::I8) => f64::from(i8::MIN),
        ("max", DType::UI8) => 0.0,
        ("max", _) => f64::NEG_INFINITY,
        _ => 0.0,
    };
    let with = g.scalar_like(with, x)?;
    let (padded, on_padded) = windows.padded(g, x, with)?;
    let y = pooled(g, padded, &on_padded)?;
    if mode != "average" || with_pads {
        return Ok(y);
    }
    // The mean of what a window has of the images: that of the whole window by their share of it.
    let ones = g.one(Op::OnesLike, &[x])?;
    let (inside, _) = windows.padded(g, ones, with)?;
    let share = pooled(g, inside, &on_padded)?;
    y.into_iter().zip(share).map(|(y, share)| g.div(y, share)).collect()
}

/// `GlobalAveragePool`, `GlobalMaxPool` and `GlobalLpPool`.
pub(super) fn global_pool(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axes: Vec<usize> = (2..g.rank(x)?).collect();
    match n.proto.op_type.as_str() {
        "GlobalAveragePool" => one(g.reduce(Op::Mean, x, &axes, true)),
        "GlobalMaxPool" => one(g.reduce(Op::Max, x, &axes, true)),
        _ => {
            let p = n.int_or("p", 2) as f64;
            let size = g.one(Op::Abs, &[x])?;
            let power = g.scalar_like(p, x)?;
            let powers = g.one(Op::Pow, &[size, power])?;
            let sum = g.reduce(Op::Sum, powers, &axes, true)?;
            let root = g.scalar_like(1.0 / p, x)?;
            one(g.one(Op::Pow, &[sum, root]))
        }
    }
}

/// `MaxUnpool`: scatters values to their indices in a tensor of zeros.
pub(super) fn max_unpool(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, indices) = (n.input(0)?, n.input(1)?);
    let kernel = n.ints("kernel_shape").ok_or("it has no kernel_shape")?.to_vec();
    let windows = Windows::new(g, n, x, kernel)?;
    let dims = g.known_dims(x)?;
    if dims.len() != windows.kernel.len() + 2 {
        return Err("its images and windows have different ranks".into());
    }
    let plain: Vec<i64> = (0..dims.len())
        .map(|axis| match axis.checked_sub(2) {
            None => dims[axis],
            Some(i) => {
                let (before, behind) = windows.pads[i];
                let full =
                    (dims[axis] - 1).saturating_mul(windows.strides[i]).saturating_add(windows.kernel[i]);
                full.saturating_sub(before).saturating_sub(behind)
            }
        })
        .collect();
    let count = plain.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim)).ok_or("its result is too large")?;
    let total = g.ints(&[count])?;
    let (flat, at) = (g.reshape_to(x, &[-1])?, g.reshape_to(indices, &[-1, 1])?);
    let placed = g.one(Op::ScatterNd, &[at, flat, total])?;
    let placed = g.reshape_to(placed, &plain)?;
    let Some(shape) = n.optional(2) else { return one(Ok(placed)) };
    // A larger result has zeros at the end.
    let (rank, plain) = (plain.len() as i64, g.ints(&plain)?);
    let (behind, before) = (g.sub(shape, plain)?, g.one(Op::ZerosLike, &[plain])?);
    let pads = g.op(Op::Pack, &[before, behind], &[("axis", AttrArg::Int(1))])?;
    let pads = g.reshape_to(pads, &[rank, 2])?;
    one(g.one(Op::Pad, &[placed, pads]))
}
