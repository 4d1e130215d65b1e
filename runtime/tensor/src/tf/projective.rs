//! Images seen through a projective transformation: `ImageProjectiveTransformV2` and `V3`.
//!
//! ```text
//! pixel (x, y) of the result ──▶ ((a x + b y + c) / k, (d x + e y + f) / k), k = g x + h y + 1
//!      ──▶ a place in the image, inside of it by the fill mode ──▶ nearest pixel, or bilinear
//! ```
//!
//! Places and weights are f32, as in TensorFlow; a nearest pixel keeps all its digits. A pixel that is not
//! in the image has the fill value, cast to the type of the pixels without regard to its range.

use super::fast::Cx;
use crate::error::invalid;
use crate::{DType, Element, HostTensor, Shape, TensorError, bf16, f16};

/// The place in an image for one outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillMode {
    /// None: such a pixel has the fill value.
    Constant,
    /// The image is mirrored at its edges.
    Reflect,
    /// The image is repeated.
    Wrap,
    /// The pixel at the edge.
    Nearest,
}

/// The attributes of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectiveAttrs {
    /// The places outside of an image.
    pub fill_mode: FillMode,
    /// True for the nearest pixel, false for bilinear interpolation.
    pub nearest: bool,
}

impl FillMode {
    /// The coordinate in an axis of `len` pixels, at least one. A coordinate that is no number remains so.
    fn place(self, at: f32, len: usize) -> f32 {
        let (n, last) = (len as f32, len as f32 - 1.0);
        let whole = |quotient: f32| quotient.trunc();
        let inside = match self {
            FillMode::Constant => return at,
            FillMode::Nearest => at,
            FillMode::Reflect | FillMode::Wrap if len == 1 && (at < 0.0 || at > last) => 0.0,
            FillMode::Reflect if at < 0.0 => {
                let twice = 2.0 * n;
                let at = if at < twice { twice * whole(-at / twice) + at } else { at };
                if at < -n { at + twice } else { -at - 1.0 }
            }
            FillMode::Reflect if at > last => {
                let twice = 2.0 * n;
                let at = at - twice * whole(at / twice);
                if at >= n { twice - at - 1.0 } else { at }
            }
            FillMode::Wrap if at < 0.0 => at + n * (whole(-at / last) + 1.0),
            FillMode::Wrap if at > last => at - n * whole(at / last),
            FillMode::Reflect | FillMode::Wrap => at,
        };
        inside.clamp(0.0, last)
    }
}

/// A type of pixels.
pub(super) trait Pixel: Element {
    fn wide(self) -> f32;
    fn narrow(x: f32) -> Self;
}

macro_rules! pixels {
    ($($ty:ident: $x:ident => $wide:expr, $y:ident => $narrow:expr;)*) => {$(
        impl Pixel for $ty {
            fn wide(self) -> f32 {
                let $x = self;
                $wide
            }
            fn narrow($y: f32) -> $ty {
                $narrow
            }
        }
    )*};
}
pixels! {
    u8: x => x.into(), y => y as i64 as u8;
    i32: x => x as f32, y => y as i32;
    i64: x => x as f32, y => y as i64;
    f16: x => x.to_f32(), y => f16::from_f32(y);
    bf16: x => x.to_f32(), y => bf16::from_f32(y);
    f32: x => x, y => y;
    f64: x => x as f32, y => y.into();
}

/// An image of a batch.
struct ImagePixels<'a, T> {
    pixels: &'a [T],
    height: usize,
    width: usize,
    channels: usize,
    fill: T,
}

impl<T: Pixel> ImagePixels<'_, T> {
    /// A channel of the pixel at whole coordinates.
    fn at(&self, y: f32, x: f32, channel: usize) -> T {
        // False for what is no number.
        let is_inside = y >= 0.0 && y < self.height as f32 && x >= 0.0 && x < self.width as f32;
        match is_inside {
            true => self.pixels[(y as usize * self.width + x as usize) * self.channels + channel],
            false => self.fill,
        }
    }

    fn between(&self, y: f32, x: f32, channel: usize) -> T {
        let (top, left) = (y.floor(), x.floor());
        let (bottom, right) = (top + 1.0, left + 1.0);
        let row = |y: f32| {
            let (a, b) = (self.at(y, left, channel).wide(), self.at(y, right, channel).wide());
            (right - x) * a + (x - left) * b
        };
        T::narrow((bottom - y) * row(top) + (y - top) * row(bottom))
    }
}

/// `ImageProjectiveTransformV3`: images of this height and width, whose pixels have the places in the
/// operand's that their image's transformation gives, or the only one.
pub fn projective_transform(
    op: &'static str,
    images: &HostTensor,
    transforms: &HostTensor,
    (size, fill): ((usize, usize), f32),
    by: ProjectiveAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let &[batch, _, _, channels] = images.shape().dims() else {
        return Err(TensorError::Rank { what: "images", want: 4, got: images.shape().clone() });
    };
    match *transforms.shape().dims() {
        [n, 8] if n == 1 || n == batch => {}
        _ => {
            let (transforms, images) = (transforms.shape(), images.shape());
            return invalid(op, format!("transforms of shape {transforms} for images of shape {images}"));
        }
    }
    if size.0 == 0 || size.1 == 0 {
        return invalid(op, format!("a result of {} by {} pixels", size.0, size.1));
    }
    let shape = Shape::new(&[batch, size.0, size.1, channels])?;
    let out = HostTensor::allocate(images.dtype(), shape, cx.allocator)?;
    match images.dtype() {
        DType::UI8 => transformed::<u8>(images, transforms, fill, by, &out, cx)?,
        DType::I32 => transformed::<i32>(images, transforms, fill, by, &out, cx)?,
        DType::I64 => transformed::<i64>(images, transforms, fill, by, &out, cx)?,
        DType::F16 => transformed::<f16>(images, transforms, fill, by, &out, cx)?,
        DType::BF16 => transformed::<bf16>(images, transforms, fill, by, &out, cx)?,
        DType::F32 => transformed::<f32>(images, transforms, fill, by, &out, cx)?,
        DType::F64 => transformed::<f64>(images, transforms, fill, by, &out, cx)?,
        dtype => return Err(TensorError::Unsupported { op, dtype }),
    }
    Ok(out)
}

fn transformed<T: Pixel>(
    images: &HostTensor,
    transforms: &HostTensor,
    fill: f32,
    by: ProjectiveAttrs,
    out: &HostTensor,
    cx: &Cx<'_>,
) -> Result<(), TensorError> {
    let (&[_, height, width, channels], &[_, rows, columns, _]) = (images.shape().dims(), out.shape().dims())
    else {
        unreachable!("both are images")
    };
    if out.num_elements() == 0 {
        return Ok(());
    }
    let (pixels, transforms) = (images.read::<T>()?, transforms.read_as::<f32>("transforms")?);
    let (pixels, transforms, fill) = (&pixels[..], transforms.as_chunks::<8>().0, T::narrow(fill));
    if pixels.is_empty() {
        out.write::<T>()?.fill(fill);
        return Ok(());
    }
    let (row, area) = (columns * channels, height * width * channels);
    cx.parts(&mut out.write::<T>()?, (row, if by.nearest { 8 } else { 32 }), &|first, part| {
        for (i, to) in (first / row..).zip(part.chunks_exact_mut(row)) {
            let (image, y) = (i / rows, (i % rows) as f32);
            let [a, b, c, d, e, f, g, h] = transforms[if transforms.len() == 1 { 0 } else { image }];
            let source =
                ImagePixels { pixels: &pixels[image * area..][..area], height, width, channels, fill };
            for (x, to) in to.chunks_exact_mut(channels).enumerate() {
                let x = x as f32;
                let k = g * x + h * y + 1.0;
                if k == 0.0 {
                    to.fill(fill);
                    continue;
                }
                let at_x = by.fill_mode.place((a * x + b * y + c) / k, width);
                let at_y = by.fill_mode.place((d * x + e * y + f) / k, height);
                for (channel, to) in to.iter_mut().enumerate() {
                    *to = match by.nearest {
                        true => source.at(at_y.round(), at_x.round(), channel),
                        false => source.between(at_y, at_x, channel),
                    };
                }
            }
        }
    });
    Ok(())
}
