//! A depthwise convolution and the 1x1 convolutions before and behind it, at once.

use super::weights::Stored;
use super::{After, MaybeNumbers, Weights, WeightsKind, epilogue};
use crate::conv::{Bottleneck, OfPixels};
use crate::error::invalid;
use crate::matmul::{Epilogue, PackedMatrix};
use crate::tf::conv::{ConvGeometry, grouped};
use crate::tf::fast::Cx;
use crate::tf::{Conv2dAttrs, ImageFormat};
use crate::{DType, HostTensor, Shape, TensorError};

const OP: &str = "_PackedBottleneck";

/// A layer of a bottleneck: its packed weights and its epilogue.
#[derive(Clone, Copy, Debug)]
pub struct BottleneckLayer<'a> {
    /// Filters of f32, packed as those of a convolution, or of a depthwise one.
    pub weights: &'a Weights,
    /// The epilogue. Only the last layer may have a residual.
    pub after: After<'a>,
}

/// The layers of a bottleneck.
#[derive(Clone, Copy, Debug)]
pub struct BottleneckLayers<'a> {
    /// The 1x1 convolution before the depthwise one.
    pub expand: Option<BottleneckLayer<'a>>,
    /// The depthwise convolution.
    pub depthwise: BottleneckLayer<'a>,
    /// The 1x1 convolution behind it.
    pub project: Option<BottleneckLayer<'a>>,
}

/// A layer with the memory that the kernel reads.
struct Borrowed<'a> {
    layer: BottleneckLayer<'a>,
    stored: Stored<'a>,
    numbers: [MaybeNumbers<'a>; 3],
}

impl<'a> BottleneckLayer<'a> {
    /// Borrows the layer, whose result has `n` channels and this shape.
    fn borrowed(self, n: usize, result: &Shape) -> Result<Borrowed<'a>, TensorError> {
        let (stored, numbers) = (self.weights.numbers()?, self.after.read(n, result)?);
        Ok(Borrowed { layer: self, stored, numbers })
    }

    /// The channels before and behind a 1x1 convolution.
    fn channels(&self) -> Result<(usize, usize), TensorError> {
        match self.weights.expect(OP, &[WeightsKind::Filters])? {
            [1, 1, from, to] if self.weights.precision().is_none() => Ok((from, to)),
            dims => invalid(OP, format!("filters of shape {dims:?}, expected 1x1 filters of f32")),
        }
    }
}

impl Borrowed<'_> {
    fn packed(&self) -> Result<PackedMatrix<'_>, TensorError> {
        self.layer.weights.packed(&self.stored)
    }

    fn epilogue(&self) -> Epilogue<'_> {
        epilogue(&self.numbers, self.layer.after.function)
    }
}

/// The layers applied to NHWC images, one after another, without the images between them.
///
/// # Errors
/// If the channels of two layers do not fit, weights are of another kind or precision, a layer other than
/// `project` has a residual, or the images are NCHW.
pub fn bottleneck(
    x: &HostTensor,
    layers: &BottleneckLayers<'_>,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let BottleneckLayers { expand, depthwise, project } = *layers;
    x.expect_dtype("input", DType::F32)?;
    let &[batch, height, width, from] = x.shape().dims() else {
        return Err(TensorError::Rank { what: "input", want: 4, got: x.shape().clone() });
    };
    let has_residual = |layer: BottleneckLayer<'_>| layer.after.residual.is_some();
    if attrs.format != ImageFormat::Nhwc || expand.is_some_and(has_residual) || has_residual(depthwise) {
        return invalid(OP, "images that are not NHWC, or a residual before the last layer".to_owned());
    }
    let filter = depthwise.weights.expect(OP, &[WeightsKind::Depthwise])?;
    let [_, _, channels, multiplier] = filter;
    let before = expand.map_or(Ok((from, from)), |layer| layer.channels())?;
    let behind = project.map_or(Ok((channels, channels)), |layer| layer.channels())?;
    if before != (from, channels) || multiplier != 1 || behind.0 != channels {
        let problem = format!("{from} channels for layers of {before:?}, {filter:?} and {behind:?}");
        return invalid(OP, problem);
    }
    let expanded = Shape::new(&[batch, height, width, channels])?;
    let filter = grouped(&expanded, &Shape::new(&filter)?, attrs.format)?;
    let geometry = ConvGeometry::new(OP, &expanded, &filter, attrs)?;
    let shape = attrs.format.shape(batch, geometry.windows.counts, behind.1)?;
    let expand = expand.map(|layer| layer.borrowed(channels, &expanded)).transpose()?;
    let depthwise = depthwise.borrowed(channels, &geometry.result_shape)?;
    let project = project.map(|layer| layer.borrowed(behind.1, &shape)).transpose()?;
    let expand_weights = expand.as_ref().map(Borrowed::packed).transpose()?;
    let project_weights = project.as_ref().map(Borrowed::packed).transpose()?;
    let of_pixels = |(layer, weights)| OfPixels { weights, epilogue: Borrowed::epilogue(layer) };
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    let kernel = Bottleneck {
        expand: expand.as_ref().zip(expand_weights.as_ref()).map(of_pixels),
        conv: &geometry.images(channels)?,
        filters: &depthwise.stored,
        epilogue: depthwise.epilogue(),
        project: project.as_ref().zip(project_weights.as_ref()).map(of_pixels),
    };
    kernel.run(&x.read::<f32>()?, &mut out.write::<f32>()?, cx.parallel)?;
    Ok(out)
}
