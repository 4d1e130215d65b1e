//! JPEG decoding and resizing.

use befrost_kernel_api::{ExecContext, KernelError, Registry, kernel};
use befrost_tensor::tf::resize_bilinear;
use befrost_tensor::{DType, HostTensor, Shape};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::objects::{Tensor, Text, refused};

/// Limit on pixels: a small file can declare an image of any size.
const MAX_PIXELS: usize = 1 << 25;

/// The channels of a pixel: red, green, blue.
const CHANNELS: usize = 3;

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.decode_jpeg", |data: &Text, cx: &ExecContext| decode(&data.0, cx)));
    registry.add(kernel!(
        "tfrt_test.resize_bilinear",
        |picture: &Tensor, height: i64, width: i64, cx: &ExecContext| {
            let size = |size: i64| {
                usize::try_from(size).map_err(|_| KernelError::invalid(format!("{size} is no size")))
            };
            let to = (size(height)?, size(width)?);
            resize_bilinear(picture, to, cx.allocator()).map(Tensor).map_err(refused)
        }
    ));
}

/// A decoded image as a tensor `[height, width, 3]` of bytes.
fn decode(data: &[u8], cx: &ExecContext) -> Result<Tensor, KernelError> {
    let bad = |why: &dyn std::fmt::Display| KernelError::invalid(format!("cannot decode a JPEG: {why}"));
    // Truncated files are an error instead of gray pixels.
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB).set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
    decoder.decode_headers().map_err(|error| bad(&error))?;
    let Some((width, height)) = decoder.dimensions() else { return Err(bad(&"it has no size")) };
    if width.saturating_mul(height) > MAX_PIXELS {
        return Err(bad(&format!("{width} by {height} pixels are more than {MAX_PIXELS}")));
    }
    let picture = Shape::new(&[height, width, CHANNELS])
        .and_then(|shape| HostTensor::allocate(DType::UI8, shape, cx.allocator()))
        .map_err(refused)?;
    let mut pixels = picture.write::<u8>().map_err(refused)?;
    decoder.decode_into(&mut pixels).map_err(|error| bad(&error))?;
    drop(pixels);
    Ok(Tensor(picture))
}
