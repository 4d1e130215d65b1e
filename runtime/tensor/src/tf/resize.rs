//! Bilinear resizing of images.
//!
//! As TensorFlow's `ResizeBilinear` without aligned corners and without half pixel centers: pixel `i` of the
//! result lies at `i * from / to` of the input and is interpolated between the four pixels around it.
//! Positions after the last pixel use the last pixel.

use std::sync::Arc;

use befrost_mem::Allocator;

use crate::{DType, Element, HostTensor, Shape, TensorError};

const OP: &str = "resize_bilinear";

/// The position of a result pixel on one axis of the input: two pixels, and the fraction between them.
#[derive(Clone, Copy)]
struct Between {
    low: usize,
    high: usize,
    part: f32,
}

/// The positions of all `to` pixels on an axis of length `from`.
fn places(from: usize, to: usize) -> impl Iterator<Item = Between> + Clone {
    let scale = from as f32 / to as f32;
    (0..to).map(move |i| {
        let at = i as f32 * scale;
        let low = (at as usize).min(from - 1);
        Between { low, high: (low + 1).min(from - 1), part: at - low as f32 }
    })
}

/// Images `[..., height, width, channels]` of bytes or f32, resized, as f32.
pub fn resize_bilinear(
    images: &HostTensor,
    (height, width): (usize, usize),
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    match images.dtype() {
        DType::UI8 => resize::<u8>(images, (height, width), allocator),
        _ => resize::<f32>(images, (height, width), allocator),
    }
}

fn resize<T: Element + Into<f32>>(
    images: &HostTensor,
    (height, width): (usize, usize),
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let refused = |problem: String| Err(TensorError::Invalid { op: OP, problem });
    let [batch @ .., rows, columns, channels] = images.shape().dims() else {
        return refused(format!("the shape {} is not that of an image", images.shape()));
    };
    let (rows, columns, channels) = (*rows, *columns, *channels);
    if rows == 0 || columns == 0 || height == 0 || width == 0 {
        return refused(format!(
            "an image of shape {} cannot become one of {height} by {width}",
            images.shape()
        ));
    }
    let pixels = images.read_as::<T>("images")?;
    let shape = Shape::new(&[batch, &[height, width, channels]].concat())?;
    let result = HostTensor::allocate(DType::F32, shape, allocator)?;
    if channels > 0 {
        let mut out = result.write::<f32>()?;
        let across = places(columns, width);
        let line = width * channels;
        let images = pixels.chunks_exact(rows * columns * channels);
        for (image, out) in images.zip(out.chunks_exact_mut(height * line)) {
            for (y, out) in places(rows, height).zip(out.chunks_exact_mut(line)) {
                for (x, out) in across.clone().zip(out.chunks_exact_mut(channels)) {
                    let pixel = |row: usize, column: usize| &image[(row * columns + column) * channels..];
                    let (above, below) = (pixel(y.low, x.low), pixel(y.high, x.low));
                    let (above_next, below_next) = (pixel(y.low, x.high), pixel(y.high, x.high));
                    for (c, out) in out.iter_mut().enumerate() {
                        let between = |a: T, b: T, part: f32| {
                            let (a, b): (f32, f32) = (a.into(), b.into());
                            a + (b - a) * part
                        };
                        let (top, bottom) = (
                            between(above[c], above_next[c], x.part),
                            between(below[c], below_next[c], x.part),
                        );
                        *out = top + (bottom - top) * y.part;
                    }
                }
            }
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_mem::Malloc;

    fn resized(values: &[f32], shape: &[usize], to: (usize, usize)) -> Vec<f32> {
        let images = HostTensor::allocate(DType::F32, Shape::new(shape).unwrap(), &Malloc::shared()).unwrap();
        images.write::<f32>().unwrap().copy_from_slice(values);
        resize_bilinear(&images, to, &Malloc::shared()).unwrap().read::<f32>().unwrap().to_vec()
    }

    /// The expected values are TensorFlow's.
    #[test]
    fn pixels_lie_between_those_around_them() {
        let square = [1., 2., 3., 4.];
        assert_eq!(resized(&square, &[2, 2, 1], (2, 2)), square);
        assert_eq!(resized(&square, &[2, 2, 1], (1, 1)), [1.]);
        assert_eq!(
            resized(&square, &[2, 2, 1], (4, 4)),
            [1., 1.5, 2., 2., 2., 2.5, 3., 3., 3., 3.5, 4., 4., 3., 3.5, 4., 4.]
        );
        // Two images of two channels.
        assert_eq!(
            resized(&[0., 8., 4., 0., 1., 1., 1., 1.], &[2, 1, 2, 2], (1, 4)),
            [0., 8., 2., 4., 4., 0., 4., 0., 1., 1., 1., 1., 1., 1., 1., 1.]
        );
    }

    #[test]
    fn what_has_no_size_is_refused() {
        let tensor = |shape: &[usize], dtype| {
            HostTensor::allocate(dtype, Shape::new(shape).unwrap(), &Malloc::shared()).unwrap()
        };
        let refused = |shape: &[usize], dtype, to| {
            resize_bilinear(&tensor(shape, dtype), to, &Malloc::shared()).unwrap_err().to_string()
        };
        assert!(refused(&[2, 2], DType::UI8, (1, 1)).contains("is not that of an image"));
        assert!(refused(&[0, 2, 1], DType::UI8, (1, 1)).contains("cannot become one of 1 by 1"));
        assert!(refused(&[2, 2, 1], DType::F32, (0, 1)).contains("cannot become one of 0 by 1"));
        assert!(refused(&[2, 2, 1], DType::I32, (1, 1)).contains("f32"));
        assert!(
            resize_bilinear(&tensor(&[1, 1, 3], DType::UI8), (usize::MAX, 2), &Malloc::shared()).is_err()
        );
    }
}
