//! `ExtractImagePatches`: the pixels of each window of an image, side by side in one pixel of the result.

use super::fast::Cx;
use super::resize::each_line;
use super::window::{ImageFormat, ImageLayout, ImageWindows, Padding, taps};
use crate::{HostTensor, Shape, TensorError};

/// The windows of patches, each pair down and across.
#[derive(Clone, Copy, Debug)]
pub struct PatchAttrs {
    /// Height and width: `ksizes`.
    pub size: (usize, usize),
    /// The distance of neighbouring windows.
    pub strides: (usize, usize),
    /// The distance of neighbouring pixels of a window: `rates`.
    pub rates: (usize, usize),
    /// The padding at the borders.
    pub padding: Padding,
}

/// The patches of NHWC images of any dtype: `[batch, rows, columns, height * width * channels]`. Pixels
/// outside of the image are 0.
pub fn extract_image_patches(
    images: &HostTensor,
    attrs: &PatchAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "ExtractImagePatches";
    let image = ImageLayout::new(op, images.shape(), ImageFormat::Nhwc)?;
    let PatchAttrs { size, strides, rates, padding } = *attrs;
    let plane = (image.height, image.width);
    let windows = ImageWindows::new(op, images.shape(), plane, size, strides, rates, padding)?;
    let depth = size.0.checked_mul(size.1).and_then(|n| n.checked_mul(image.channels));
    let (rows, columns) = windows.counts;
    let shape = Shape::new(&[image.batch, rows, columns, depth.ok_or(TensorError::TooLarge)?])?;
    let out = HostTensor::zeros(images.dtype(), shape, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let element = images.dtype().size();
    let pixel = image.channels * element;
    let (row, patch) = (size.1 * pixel, size.0 * size.1 * pixel);
    {
        let from = images.read_bytes()?;
        let from: &[u8] = &from;
        each_line(&mut out.write_bytes()?, (columns * patch, rows), 1, cx, |n, y, out| {
            for (x, out) in out.chunks_exact_mut(patch).enumerate() {
                for (i, at_y) in taps(&windows.rows, y) {
                    for (j, at_x) in taps(&windows.cols, x) {
                        let at = image.pixel(n, at_y, at_x) * element;
                        out[i * row + j * pixel..][..pixel].copy_from_slice(&from[at..][..pixel]);
                    }
                }
            }
        });
    }
    Ok(out)
}
