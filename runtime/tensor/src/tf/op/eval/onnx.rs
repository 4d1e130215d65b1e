//! Operators of ONNX.

use super::{int_in, ints_in, of, owning, owning_many};
use crate::error::invalid;
use crate::scratch::try_collected;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, Activation, Aggregate, AspectRatio, AxisInterpolation, Beyond, Cell, Coordinates, DIRECTIONS,
    Deformed, GridAttrs, Limits, NearestMode, PackedOperands, PoolWindows, Pooling, Recurrence,
    RecurrentGradients, RecurrentOperands, ResizeAxesAttrs, RoiAlignAttrs, Sampling, Scatter, TreeLists,
    Trees, WindowSteps,
};
use crate::{HostTensor, TensorError};

/// The axes of two tensors whose sizes have the same names.
pub(in crate::tf::op) struct NamedSizes {
    axes: Vec<i64>,
    like_axes: Vec<i64>,
    names: Vec<String>,
    op: &'static str,
}

impl NamedSizes {
    pub(in crate::tf::op) fn of(attrs: &Attributes<'_>) -> Result<NamedSizes, TensorError> {
        let (axes, like_axes, names) =
            (attrs.ints("axes")?, attrs.ints("like_axes")?, attrs.strings("names")?);
        if axes.len() != like_axes.len() || axes.len() != names.len() {
            return invalid(
                attrs.op(),
                format!("{} axes, {} and {} names", axes.len(), like_axes.len(), names.len()),
            );
        }
        Ok(NamedSizes { axes, like_axes, names, op: attrs.op() })
    }

    /// Each pair of axes of tensors of these ranks, with the name of their size.
    pub(in crate::tf::op) fn each(
        &self,
        (rank, like_rank): (usize, usize),
    ) -> Result<Vec<(usize, usize, &str)>, TensorError> {
        let within = |axis: i64, rank: usize| usize::try_from(axis).ok().filter(|&axis| axis < rank);
        let pairs = self.axes.iter().zip(&self.like_axes).zip(&self.names);
        let pairs = pairs.map(|((&axis, &like), name)| {
            let pair = within(axis, rank).zip(within(like, like_rank));
            pair.map(|(axis, like)| (axis, like, name.as_str()))
        });
        match pairs.collect() {
            Some(pairs) => Ok(pairs),
            None => invalid(self.op, format!("an axis that tensors of ranks {rank} and {like_rank} lack")),
        }
    }
}

/// The message for two sizes of one name.
pub(in crate::tf::op) fn differs(axis: usize, name: &str, n: usize, other: usize) -> String {
    format!("size {n} along axis {axis}, expected {other}: {name}")
}

pub(in crate::tf::op) fn ensure_same_sizes(attrs: &Attributes<'_>) -> Made {
    let pairs = NamedSizes::of(attrs)?;
    let op = attrs.op();
    of(attrs, move |[x, like], _| {
        let (dims, others) = (x.shape().dims(), like.shape().dims());
        for (axis, like_axis, name) in pairs.each((dims.len(), others.len()))? {
            if dims[axis] != others[like_axis] {
                return invalid(op, differs(axis, name, dims[axis], others[like_axis]));
            }
        }
        Ok(x.clone())
    })
}

pub(in crate::tf::op) fn gather_elements(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    owning(attrs, move |[x, indices], cx| tf::gather_elements(&x, &indices, axis, cx))
}

fn reduction(attrs: &Attributes<'_>) -> Result<Scatter, TensorError> {
    let words = [
        ("none", Scatter::Update),
        ("add", Scatter::Add),
        ("mul", Scatter::Mul),
        ("max", Scatter::Max),
        ("min", Scatter::Min),
    ];
    attrs.word("reduction", &words)
}

pub(in crate::tf::op) fn scatter_elements(attrs: &Attributes<'_>) -> Made {
    let (axis, mode) = (attrs.int("axis")?, reduction(attrs)?);
    owning(attrs, move |[x, indices, updates], cx| {
        tf::scatter_elements(mode, x, &indices, &updates, axis, cx)
    })
}

pub(in crate::tf::op) fn scatter_nd_reduce(attrs: &Attributes<'_>) -> Made {
    let mode = reduction(attrs)?;
    owning(attrs, move |[x, indices, updates], cx| {
        tf::scatter_nd_reduce(mode, x, &indices, &updates, cx.allocator)
    })
}

/// Strides, dilations and pads.
pub(in crate::tf::op) fn steps(attrs: &Attributes<'_>) -> Result<WindowSteps, TensorError> {
    Ok(WindowSteps {
        strides: attrs.ints("strides")?,
        dilations: attrs.ints("dilations")?,
        pads: attrs.ints("pads")?,
    })
}

/// The windows of a pooling.
pub(in crate::tf::op) fn pool_windows(attrs: &Attributes<'_>) -> Result<PoolWindows, TensorError> {
    let given = attrs.ints("kernel_shape")?;
    match given.iter().map(|&n| usize::try_from(n).ok()).collect() {
        Some(kernel) => Ok(PoolWindows { kernel, steps: steps(attrs)?, ceil: attrs.bool("ceil_mode")? }),
        None => invalid(attrs.op(), format!("`kernel_shape` is {given:?}")),
    }
}

pub(in crate::tf::op) fn pool(attrs: &Attributes<'_>) -> Made {
    let windows = pool_windows(attrs)?;
    let average = Pooling::Average { padded: attrs.bool("count_include_pad")? };
    let kinds = [("max", Pooling::Max), ("average", average), ("lp", Pooling::Lp(attrs.int("p")?))];
    let kind = attrs.word("mode", &kinds)?;
    owning(attrs, move |[x], cx| tf::window_pool(kind, &x, &windows, cx))
}

pub(in crate::tf::op) fn max_pool_with_indices(attrs: &Attributes<'_>) -> Made {
    let (windows, order) = (pool_windows(attrs)?, attrs.int("storage_order")?);
    if !(0..2).contains(&order) {
        return invalid(attrs.op(), format!("`storage_order` is {order}, expected 0 or 1"));
    }
    owning(attrs, move |[x], cx| tf::max_pool_with_indices(&x, &windows, order == 1, cx))
}

pub(in crate::tf::op) fn quantized_matmul(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[a, b, za, zb], cx| tf::quantized_matmul(&a, &b, &za, &zb, cx))
}

pub(in crate::tf::op) fn quantized_conv(attrs: &Attributes<'_>) -> Made {
    let (steps, group) = (steps(attrs)?, attrs.count("group")?);
    owning(attrs, move |[x, w, zx, zw], cx| tf::quantized_conv(&x, &w, &zx, &zw, (&steps, group), cx))
}

pub(in crate::tf::op) fn quantize_linear(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    owning(attrs, move |[x, scale, zero], cx| tf::quantize_linear(&x, &scale, &zero, axis, cx))
}

pub(in crate::tf::op) fn dequantize_linear(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    owning(attrs, move |[x, scale, zero], cx| tf::dequantize_linear(&x, &scale, &zero, axis, cx))
}

pub(in crate::tf::op) fn look_up_bytes(attrs: &Attributes<'_>) -> Made {
    owning(attrs, move |[x, table], cx| tf::look_up_bytes(&x, &table, cx))
}

fn recurrence(attrs: &Attributes<'_>, cell: Cell) -> Result<Recurrence, TensorError> {
    let op = attrs.op();
    let directions = attrs.word("direction", &DIRECTIONS)?.to_vec();
    let names = attrs.strings("activations")?;
    let names: Vec<&str> = match names.is_empty() {
        true => cell.activations().repeat(directions.len()),
        false => names.iter().map(String::as_str).collect(),
    };
    let want = cell.activations().len() * directions.len();
    if names.len() != want {
        return invalid(op, format!("`activations` has {} names, expected {want}", names.len()));
    }
    let mut alphas = attrs.floats("activation_alpha")?.into_iter();
    let mut betas = attrs.floats("activation_beta")?.into_iter();
    let activations = names.iter().map(|name| Activation::named(op, name, &mut alphas, &mut betas));
    let activations = activations.collect::<Result<_, _>>()?;
    let (clip, hidden) = (attrs.float("clip")?, attrs.count("hidden_size")?);
    if clip.is_nan() || clip < 0.0 {
        return invalid(op, format!("`clip` is {clip}"));
    }
    Ok(Recurrence { cell, directions, activations, clip, hidden })
}

pub(in crate::tf::op) fn lstm(attrs: &Attributes<'_>) -> Made {
    let cell = Cell::Lstm { input_forget: attrs.bool("input_forget")? };
    let layer = recurrence(attrs, cell)?;
    owning(attrs, move |[x, w, r, b, lengths, h, c, p], cx| {
        let c_and_p = Some([&c, &p]);
        layer.run(&RecurrentOperands { x: &x, w: &w, r: &r, b: &b, lengths: &lengths, h: &h, c_and_p }, cx)
    })
}

pub(in crate::tf::op) fn gru(attrs: &Attributes<'_>) -> Made {
    unit(attrs, Cell::Gru { linear_before_reset: attrs.int("linear_before_reset")? != 0 })
}

pub(in crate::tf::op) fn rnn(attrs: &Attributes<'_>) -> Made {
    unit(attrs, Cell::Rnn)
}

fn unit(attrs: &Attributes<'_>, cell: Cell) -> Made {
    let layer = recurrence(attrs, cell)?;
    owning(attrs, move |[x, w, r, b, lengths, h], cx| {
        layer.run(
            &RecurrentOperands { x: &x, w: &w, r: &r, b: &b, lengths: &lengths, h: &h, c_and_p: None },
            cx,
        )
    })
}

pub(in crate::tf::op) fn lstm_gradient(attrs: &Attributes<'_>) -> Made {
    let layer = recurrence(attrs, Cell::Lstm { input_forget: attrs.bool("input_forget")? })?;
    owning(attrs, move |[x, w, r, b, lengths, h, c, p, y, d_y, d_h, d_c], cx| {
        let c_and_p = Some([&c, &p]);
        let operands = RecurrentOperands { x: &x, w: &w, r: &r, b: &b, lengths: &lengths, h: &h, c_and_p };
        layer.gradient(&operands, &RecurrentGradients { y: &y, d_y: &d_y, d_h: &d_h, d_c: Some(&d_c) }, cx)
    })
}

pub(in crate::tf::op) fn gru_gradient(attrs: &Attributes<'_>) -> Made {
    unit_gradient(attrs, Cell::Gru { linear_before_reset: attrs.int("linear_before_reset")? != 0 })
}

pub(in crate::tf::op) fn rnn_gradient(attrs: &Attributes<'_>) -> Made {
    unit_gradient(attrs, Cell::Rnn)
}

fn unit_gradient(attrs: &Attributes<'_>, cell: Cell) -> Made {
    let layer = recurrence(attrs, cell)?;
    owning(attrs, move |[x, w, r, b, lengths, h, y, d_y, d_h], cx| {
        let operands =
            RecurrentOperands { x: &x, w: &w, r: &r, b: &b, lengths: &lengths, h: &h, c_and_p: None };
        layer.gradient(&operands, &RecurrentGradients { y: &y, d_y: &d_y, d_h: &d_h, d_c: None }, cx)
    })
}

pub(in crate::tf::op) fn packed_lstm(attrs: &Attributes<'_>) -> Made {
    packed(attrs, Cell::Lstm { input_forget: attrs.bool("input_forget")? })
}

pub(in crate::tf::op) fn packed_gru(attrs: &Attributes<'_>) -> Made {
    packed(attrs, Cell::Gru { linear_before_reset: attrs.int("linear_before_reset")? != 0 })
}

pub(in crate::tf::op) fn packed_rnn(attrs: &Attributes<'_>) -> Made {
    packed(attrs, Cell::Rnn)
}

/// A recurrent layer whose weights of the state are packed.
fn packed(attrs: &Attributes<'_>, cell: Cell) -> Made {
    let (op, layer, n) = (attrs.op(), recurrence(attrs, cell)?, attrs.count("num_weights")?);
    owning_many(attrs, 3, move |operands, cx| {
        let parts =
            operands.split_first().and_then(|(from_x, rest)| Some((from_x, rest.split_at_checked(n)?)));
        let Some((from_x, (r, rest))) = parts else {
            return invalid(op, format!("{} operands for {n} packed weights", operands.len()));
        };
        let (hidden_bias, lengths, h, c_and_p) = match (cell, rest) {
            (Cell::Lstm { .. }, [lengths, h, c, p]) => (None, lengths, h, Some([c, p])),
            (Cell::Gru { .. }, [bias, lengths, h]) => (Some(bias), lengths, h, None),
            (Cell::Rnn, [lengths, h]) => (None, lengths, h, None),
            _ => return invalid(op, format!("{} operands behind the packed weights", rest.len())),
        };
        layer.run_packed(&PackedOperands { from_x, r, hidden_bias, lengths, h, c_and_p }, cx)
    })
}

/// The attribute `axis`: a list of one axis, or an empty list.
pub(in crate::tf::op) fn axis(attrs: &Attributes<'_>) -> Result<Option<i64>, TensorError> {
    match attrs.ints("axis")?[..] {
        [] => Ok(None),
        [axis] => Ok(Some(axis)),
        ref axes => invalid(attrs.op(), format!("`axis` is {axes:?}, expected one number or none")),
    }
}

pub(in crate::tf::op) fn unique_sorted(attrs: &Attributes<'_>) -> Made {
    let (axis, sorted) = (axis(attrs)?, attrs.bool("sorted")?);
    owning(attrs, move |[x], cx| tf::unique_sorted(&x, axis, sorted, cx))
}

/// The element of an f32 operand of one element, of any rank.
fn number(op: &'static str, what: &'static str, x: &HostTensor) -> Result<f32, TensorError> {
    match x.read_as::<f32>(what)?[..] {
        [number] => Ok(number),
        _ => invalid(op, format!("`{what}` has shape {}, expected one element", x.shape())),
    }
}

pub(in crate::tf::op) fn batched_non_max_suppression(attrs: &Attributes<'_>) -> Made {
    let (op, centered) = (attrs.op(), attrs.int("center_point_box")? != 0);
    owning(attrs, move |[boxes, scores, most, iou, score], cx| {
        let most = int_in(op, "max_output_boxes_per_class", &most)?;
        let limits = Limits {
            most: usize::try_from(most).unwrap_or(0), // a negative number selects none, as in ONNX
            iou: number(op, "iou_threshold", &iou)?,
            score: number(op, "score_threshold", &score)?,
            centered,
        };
        tf::batched_non_max_suppression(&boxes, &scores, &limits, cx)
    })
}

fn roi_align_attrs(attrs: &Attributes<'_>) -> Result<RoiAlignAttrs, TensorError> {
    Ok(RoiAlignAttrs {
        max: attrs.word("mode", &[("avg", false), ("max", true)])?,
        size: [attrs.count("output_height")?, attrs.count("output_width")?],
        samples: attrs.count("sampling_ratio")?,
        scale: attrs.float("spatial_scale")?,
        half_pixel: attrs.bool("half_pixel")?,
    })
}

pub(in crate::tf::op) fn roi_align(attrs: &Attributes<'_>) -> Made {
    let align = roi_align_attrs(attrs)?;
    owning(attrs, move |[x, rois, indices], cx| tf::roi_align(&x, &rois, &indices, &align, cx))
}

pub(in crate::tf::op) fn roi_align_grad_image(attrs: &Attributes<'_>) -> Made {
    let align = roi_align_attrs(attrs)?;
    owning(attrs, move |[dy, x, rois, indices], cx| {
        tf::roi_align_grad_image(&dy, &x, &rois, &indices, &align, cx)
    })
}

pub(in crate::tf::op) fn roi_align_grad_rois(attrs: &Attributes<'_>) -> Made {
    let align = roi_align_attrs(attrs)?;
    owning(attrs, move |[dy, x, rois, indices], cx| {
        tf::roi_align_grad_rois(&dy, &x, &rois, &indices, &align, cx)
    })
}

/// Height and width of the results of `_MaxRoiPool`.
pub(in crate::tf::op) fn pooled_shape(attrs: &Attributes<'_>) -> Result<[usize; 2], TensorError> {
    let given = attrs.ints("pooled_shape")?;
    let sizes: Option<Vec<usize>> = given.iter().map(|&n| usize::try_from(n).ok()).collect();
    match sizes.as_deref() {
        Some(&[height, width]) => Ok([height, width]),
        _ => invalid(attrs.op(), format!("`pooled_shape` is {given:?}, expected height and width")),
    }
}

pub(in crate::tf::op) fn max_roi_pool(attrs: &Attributes<'_>) -> Made {
    let (size, scale) = (pooled_shape(attrs)?, attrs.float("spatial_scale")?);
    owning(attrs, move |[x, rois], cx| tf::max_roi_pool(&x, &rois, size, scale, cx))
}

pub(in crate::tf::op) fn max_roi_pool_grad(attrs: &Attributes<'_>) -> Made {
    let (size, scale) = (pooled_shape(attrs)?, attrs.float("spatial_scale")?);
    owning(attrs, move |[dy, x, rois], cx| tf::max_roi_pool_grad(&dy, &x, &rois, size, scale, cx))
}

fn grid_attrs(attrs: &Attributes<'_>) -> Result<GridAttrs, TensorError> {
    let samplings =
        [("linear", Sampling::Linear), ("nearest", Sampling::Nearest), ("cubic", Sampling::Cubic)];
    let beyond = [("zeros", Beyond::Zeros), ("border", Beyond::Border), ("reflection", Beyond::Reflection)];
    Ok(GridAttrs {
        sampling: attrs.word("mode", &samplings)?,
        beyond: attrs.word("padding_mode", &beyond)?,
        align_corners: attrs.bool("align_corners")?,
    })
}

pub(in crate::tf::op) fn grid_sample(attrs: &Attributes<'_>) -> Made {
    let grid = grid_attrs(attrs)?;
    owning(attrs, move |[x, positions], cx| tf::grid_sample(&x, &positions, &grid, cx))
}

pub(in crate::tf::op) fn grid_sample_grad_image(attrs: &Attributes<'_>) -> Made {
    let grid = grid_attrs(attrs)?;
    owning(attrs, move |[dy, x, positions], cx| tf::grid_sample_grad_image(&dy, &x, &positions, &grid, cx))
}

pub(in crate::tf::op) fn grid_sample_grad_grid(attrs: &Attributes<'_>) -> Made {
    let grid = grid_attrs(attrs)?;
    owning(attrs, move |[dy, x, positions], cx| tf::grid_sample_grad_grid(&dy, &x, &positions, &grid, cx))
}

pub(in crate::tf::op) fn deform_conv(attrs: &Attributes<'_>) -> Made {
    let (steps, groups) = (steps(attrs)?, [attrs.count("group")?, attrs.count("offset_group")?]);
    owning(attrs, move |[x, w, offset, bias, mask], cx| {
        let operands = Deformed { x: &x, w: &w, offset: &offset, bias: &bias, mask: &mask };
        tf::deform_conv(&operands, &steps, groups, cx)
    })
}

pub(in crate::tf::op) fn col_to_image(attrs: &Attributes<'_>) -> Made {
    let (op, steps) = (attrs.op(), steps(attrs)?);
    owning(attrs, move |[x, image, block], cx| {
        let (image, block) = (ints_in(op, "image_shape", &image)?, ints_in(op, "block_shape", &block)?);
        tf::col_to_image(&x, &image, &block, &steps, cx)
    })
}

pub(in crate::tf::op) fn image_to_col(attrs: &Attributes<'_>) -> Made {
    let (op, steps) = (attrs.op(), steps(attrs)?);
    owning(attrs, move |[x, block], cx| {
        tf::image_to_col(&x, &ints_in(op, "block_shape", &block)?, &steps, cx)
    })
}

pub(in crate::tf::op) fn tree_ensemble(attrs: &Attributes<'_>) -> Made {
    // Values that f32 cannot hold are given as the bits of f64.
    let bits = attrs.ints("nodes_value_bits")?;
    let wide: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits as u64)).collect();
    let lists = TreeLists {
        nodes_treeids: attrs.ints("nodes_treeids")?,
        nodes_nodeids: attrs.ints("nodes_nodeids")?,
        nodes_featureids: attrs.ints("nodes_featureids")?,
        nodes_modes: attrs.strings("nodes_modes")?,
        nodes_values: if wide.is_empty() { attrs.floats("nodes_values")? } else { wide },
        nodes_truenodeids: attrs.ints("nodes_truenodeids")?,
        nodes_falsenodeids: attrs.ints("nodes_falsenodeids")?,
        nodes_missing_value_tracks_true: attrs.ints("nodes_missing_value_tracks_true")?,
        target_treeids: attrs.ints("target_treeids")?,
        target_nodeids: attrs.ints("target_nodeids")?,
        target_ids: attrs.ints("target_ids")?,
        target_weights: attrs.floats("target_weights")?,
        base_values: attrs.floats("base_values")?,
    };
    let aggregates = [
        ("SUM", Aggregate::Sum),
        ("AVERAGE", Aggregate::Average),
        ("MIN", Aggregate::Min),
        ("MAX", Aggregate::Max),
    ];
    let aggregate = attrs.word("aggregate_function", &aggregates)?;
    let trees = Trees::new(attrs.op(), &lists, attrs.count("n_targets")?, aggregate)?;
    let op = attrs.op();
    owning(attrs, move |[x], cx| trees.run(op, &x, cx))
}

pub(in crate::tf::op) fn coupled_probabilities(attrs: &Attributes<'_>) -> Made {
    let (op, n) = (attrs.op(), attrs.count("n_classes")?);
    owning(attrs, move |[x], cx| tf::coupled_probabilities(op, &x, n, cx))
}

/// The attributes of `_Resize`.
pub(in crate::tf::op) fn resize_attrs(attrs: &Attributes<'_>) -> Result<ResizeAxesAttrs, TensorError> {
    let nearest = [
        ("round_prefer_floor", NearestMode::PreferFloor),
        ("round_prefer_ceil", NearestMode::PreferCeil),
        ("floor", NearestMode::Floor),
        ("ceil", NearestMode::Ceil),
    ];
    let modes = [
        ("nearest", AxisInterpolation::Nearest(attrs.word("nearest_mode", &nearest)?)),
        ("linear", AxisInterpolation::Linear),
        ("cubic", AxisInterpolation::Cubic(attrs.float("cubic_coeff_a")?)),
    ];
    let coordinates = [
        ("half_pixel", Coordinates::HalfPixel),
        ("half_pixel_symmetric", Coordinates::HalfPixelSymmetric),
        ("pytorch_half_pixel", Coordinates::PytorchHalfPixel),
        ("align_corners", Coordinates::AlignCorners),
        ("asymmetric", Coordinates::Asymmetric),
        ("tf_crop_and_resize", Coordinates::CropAndResize),
    ];
    let policies = [
        ("stretch", AspectRatio::Stretch),
        ("not_larger", AspectRatio::NotLarger),
        ("not_smaller", AspectRatio::NotSmaller),
    ];
    Ok(ResizeAxesAttrs {
        axes: attrs.ints("axes")?,
        interpolation: attrs.word("mode", &modes)?,
        coordinates: attrs.word("coordinate_transformation_mode", &coordinates)?,
        exclude_outside: attrs.bool("exclude_outside")?,
        extrapolation: attrs.float("extrapolation_value")?,
        antialias: attrs.bool("antialias")?,
        aspect: attrs.word("keep_aspect_ratio_policy", &policies)?,
    })
}

/// The elements of an f32 operand, as f64.
pub(in crate::tf::op) fn floats_in(x: &HostTensor) -> Result<Vec<f64>, TensorError> {
    try_collected(x.read_as::<f32>("vector")?.iter().map(|&x| Ok(f64::from(x))))
}

pub(in crate::tf::op) fn resize(attrs: &Attributes<'_>) -> Made {
    let (op, settings) = (attrs.op(), resize_attrs(attrs)?);
    owning(attrs, move |[x, roi, scales, sizes], cx| {
        let sizes = ints_in(op, "sizes", &sizes)?;
        tf::resize_axes(&x, &floats_in(&roi)?, &floats_in(&scales)?, &sizes, &settings, cx)
    })
}
