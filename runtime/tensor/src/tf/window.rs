//! Image layouts and sliding windows, shared by convolutions and poolings.
//!
//! An [`ImageFormat`] is the order of the axes; an [`ImageLayout`] has the strides. The windows along an axis
//! are a [`Window`] of `crate::conv`; [`axis`] computes its padding from TensorFlow's attribute.

use std::fmt;

use crate::conv::Window;
use crate::interrupt::is_interrupted;
use crate::{HostTensor, Shape, TensorError};

/// The order of the axes of images: `data_format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageFormat {
    /// Batch, height, width, channels.
    #[default]
    Nhwc,
    /// Batch, channels, height, width.
    Nchw,
}

/// The padding at the borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// No padding: only windows entirely inside.
    #[default]
    Valid,
    /// One window per stride. Half of the padding (rounded down) is before the image.
    Same,
    /// The padding before and after the rows, and before and after the columns.
    Explicit([(usize, usize); 2]),
}

/// The sizes and strides of a tensor of images.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageLayout {
    pub(super) batch: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
    strides: [usize; 4],
}

impl ImageLayout {
    pub(super) fn new(
        op: &'static str,
        shape: &Shape,
        format: ImageFormat,
    ) -> Result<ImageLayout, TensorError> {
        let &[batch, b, c, d] = shape.dims() else {
            let problem = format!("shape {shape} is not of rank 4, {format:?}");
            return Err(TensorError::Invalid { op, problem });
        };
        // The products fit by the invariant of a shape, which counts zeros as ones.
        let (far, near, image) = (c.max(1) * d.max(1), d.max(1), b.max(1) * c.max(1) * d.max(1));
        let layout = match format {
            ImageFormat::Nhwc => {
                ImageLayout { batch, height: b, width: c, channels: d, strides: [image, far, near, 1] }
            }
            ImageFormat::Nchw => {
                ImageLayout { batch, height: c, width: d, channels: b, strides: [image, near, 1, far] }
            }
        };
        Ok(layout)
    }

    /// The position of a pixel's first channel.
    pub(super) fn pixel(&self, image: usize, y: usize, x: usize) -> usize {
        image * self.strides[0] + y * self.strides[1] + x * self.strides[2]
    }

    /// The stride of channels.
    pub(super) fn channel_step(&self) -> usize {
        self.strides[3]
    }

    /// Every pixel as image, row and column.
    pub(super) fn pixels(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let ImageLayout { batch, height, width, .. } = *self;
        (0..batch * height * width).map(move |i| (i / (height * width), i / width % height, i % width))
    }
}

impl ImageFormat {
    /// The shape of a tensor of images.
    pub fn shape(
        self,
        batch: usize,
        (height, width): (usize, usize),
        channels: usize,
    ) -> Result<Shape, TensorError> {
        match self {
            ImageFormat::Nhwc => Shape::new(&[batch, height, width, channels]),
            ImageFormat::Nchw => Shape::new(&[batch, channels, height, width]),
        }
    }

    /// The number of channels and their stride, for a tensor whose channels are axis 1 (`Nchw`) or the last
    /// axis. Fails below rank 2.
    pub(super) fn channels(self, op: &'static str, x: &HostTensor) -> Result<(usize, usize), TensorError> {
        match (self, x.shape().dims()) {
            (ImageFormat::Nhwc, [_, .., channels]) => Ok((*channels, 1)),
            (ImageFormat::Nchw, [_, channels, rest @ ..]) => {
                Ok((*channels, rest.iter().map(|d| d.max(&1)).product()))
            }
            _ => {
                let problem = format!("shape {} has rank {}, below 2", x.shape(), x.shape().rank());
                Err(TensorError::Invalid { op, problem })
            }
        }
    }
}

/// A height and a width.
pub(super) type Plane = (usize, usize);

/// The windows over the rows and columns of images, and their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ImageWindows {
    pub(super) rows: Window,
    pub(super) cols: Window,
    pub(super) counts: Plane,
}

impl ImageWindows {
    pub(super) fn new(
        op: &'static str,
        shape: &Shape,
        image: Plane,
        size: Plane,
        strides: Plane,
        dilations: Plane,
        padding: Padding,
    ) -> Result<ImageWindows, TensorError> {
        let (before, after) = match padding {
            Padding::Explicit([rows, cols]) => (Some(rows), Some(cols)),
            _ => (None, None),
        };
        let same = padding == Padding::Same;
        let (rows, n_rows) = axis(op, shape, image.0, (size.0, strides.0, dilations.0), same, before)?;
        let (cols, n_cols) = axis(op, shape, image.1, (size.1, strides.1, dilations.1), same, after)?;
        Ok(ImageWindows { rows, cols, counts: (n_rows, n_cols) })
    }

    /// Calls `f` for each tap of window (y, x) inside the image, until interrupted. The arguments are the
    /// tap's row and column in the window, and its row and column in the image.
    pub(super) fn for_each_tap(&self, (y, x): Plane, mut f: impl FnMut(Plane, Plane)) {
        for (i, row) in taps(&self.rows, y) {
            if is_interrupted() {
                return;
            }
            for (j, col) in taps(&self.cols, x) {
                f((i, j), (row, col));
            }
        }
    }
}

/// The taps of window `at` that are inside the image, each with its position in the image.
pub(super) fn taps(window: &Window, at: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
    let Window { input, filter, stride, dilation, pad } = *window;
    let start = at * stride; // at most the padded length
    let first = pad.0.saturating_sub(start).div_ceil(dilation);
    let end = (input + pad.0).saturating_sub(start).div_ceil(dilation).min(filter);
    (first..end).map(move |tap| (tap, start + tap * dilation - pad.0))
}

/// The window, below `count`, whose tap `tap` is at position `pixel`; `None` if there is none.
pub(super) fn window_of(window: &Window, count: usize, pixel: usize, tap: usize) -> Option<usize> {
    let from_start = (pixel + window.pad.0).checked_sub(tap * window.dilation)?;
    (from_start.is_multiple_of(window.stride) && from_start / window.stride < count)
        .then_some(from_start / window.stride)
}

/// The window along an axis, and the number of windows.
pub(super) fn axis(
    op: &'static str,
    shape: &dyn fmt::Display,
    input: usize,
    (filter, stride, dilation): (usize, usize, usize),
    same: bool,
    explicit: Option<(usize, usize)>,
) -> Result<(Window, usize), TensorError> {
    let refused = |problem: String| Err(TensorError::Invalid { op, problem });
    let words = format!("a window of {filter} with stride {stride} and dilation {dilation}");
    if filter == 0 || stride == 0 || dilation == 0 {
        return refused(format!("{words} on shape {shape}"));
    }
    let reach = (filter - 1).checked_mul(dilation).and_then(|reach| reach.checked_add(1));
    let Some(reach) = reach.filter(|&reach| reach <= isize::MAX as usize) else {
        return refused(format!("{words} is too large, on shape {shape}"));
    };
    let pad = match explicit {
        None if same => {
            let covered = input.div_ceil(stride).saturating_sub(1) * stride; // below the input
            let missing = if input == 0 { 0 } else { reach.saturating_sub(input - covered) };
            (missing / 2, missing - missing / 2)
        }
        None => (0, 0),
        Some(pad) => pad,
    };
    let padded = input.checked_add(pad.0).and_then(|n| n.checked_add(pad.1));
    let Some(padded) = padded.filter(|&padded| padded <= isize::MAX as usize) else {
        return refused(format!("paddings {pad:?} on shape {shape} are too large"));
    };
    // As in TensorFlow, a window that exceeds the image by less than twice the stride gives an empty result,
    // since the quotient in the formula of the count is rounded towards zero.
    if padded.saturating_add(stride).saturating_add(stride) <= reach && !(same && input == 0) {
        return refused(format!("{words} is larger than the image of shape {shape} with paddings {pad:?}"));
    }
    let window = Window { input, filter, stride, dilation, pad };
    let count = window.output()?;
    Ok((window, count))
}
