//! Images and the windows that slide over them: what convolutions and poolings share.
//!
//! A [`ImageFormat`] says which axis is which; a [`ImageLayout`] where a pixel's channel lies. Where windows lie along an axis is `crate::conv`'s
//! [`Window`]; here the paddings of TensorFlow become its numbers.

use std::fmt;

use crate::conv::Window;
use crate::{HostTensor, Shape, TensorError};

/// The order of an image's axes: `data_format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageFormat {
    /// Batch, height, width, channels.
    #[default]
    Nhwc,
    /// Batch, channels, height, width.
    Nchw,
}

/// How windows lie at the border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// Only windows that are entirely inside.
    #[default]
    Valid,
    /// One window per stride, beginning half the missing positions (rounded down) before the image.
    Same,
    /// So many positions before and after the rows, and before and after the columns.
    Explicit([(usize, usize); 2]),
}

/// Where the elements of a tensor of images lie.
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
        // These products fit: a shape's invariant, zeros counted as ones.
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

    /// From channel to channel.
    pub(super) fn channel_step(&self) -> usize {
        self.strides[3]
    }

    /// Every pixel: image, row, column. For tensors that have elements.
    pub(super) fn pixels(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let ImageLayout { batch, height, width, .. } = *self;
        (0..batch * height * width).map(move |i| (i / (height * width), i / width % height, i % width))
    }
}

impl ImageFormat {
    /// The shape of a tensor of images.
    pub(super) fn shape(
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

    /// For a tensor whose channels are axis 1 (`Nchw`) or the last one: how many channels, and from channel to channel. Rank 2 and above.
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

/// Height and width of something.
pub(super) type Plane = (usize, usize);

/// The windows over the rows and columns of images, and how many there are of each.
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

    /// Calls `f` for each element of window (y, x) that is inside the image: its row and column in the window, then in the image.
    pub(super) fn for_each_tap(&self, (y, x): Plane, mut f: impl FnMut(Plane, Plane)) {
        for (i, row) in taps(&self.rows, y) {
            for (j, col) in taps(&self.cols, x) {
                f((i, j), (row, col));
            }
        }
    }
}

/// The elements of window `at` that are inside, and their pixels.
fn taps(window: &Window, at: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
    let Window { input, filter, stride, dilation, pad } = *window;
    let start = at * stride; // at most the padded length
    let first = pad.0.saturating_sub(start).div_ceil(dilation);
    let end = (input + pad.0).saturating_sub(start).div_ceil(dilation).min(filter);
    (first..end).map(move |tap| (tap, start + tap * dilation - pad.0))
}

/// Which window, of `count`, has this pixel as its element `tap`.
pub(super) fn window_of(window: &Window, count: usize, pixel: usize, tap: usize) -> Option<usize> {
    let from_start = (pixel + window.pad.0).checked_sub(tap * window.dilation)?;
    (from_start.is_multiple_of(window.stride) && from_start / window.stride < count)
        .then_some(from_start / window.stride)
}

/// The window along an axis, and how many there are.
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
    if padded < reach && !(same && input == 0) {
        return refused(format!("{words} is larger than the image of shape {shape} with paddings {pad:?}"));
    }
    let window = Window { input, filter, stride, dilation, pad };
    let count = window.output()?;
    Ok((window, count))
}
