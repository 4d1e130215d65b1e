//! Windows of images around a place, and boxes drawn on images.

use super::fast::Cx;
use super::projective::Pixel;
use super::random::{Distribution, Generator, random};
use crate::error::invalid;
use crate::{DType, HostTensor, Shape, TensorError, f16};

/// Batch, height, width and channels.
fn image_dims(images: &HostTensor) -> Result<[usize; 4], TensorError> {
    match <[usize; 4]>::try_from(images.shape().dims()) {
        Ok(dims) => Ok(dims),
        Err(_) => Err(TensorError::Rank { what: "images", want: 4, got: images.shape().clone() }),
    }
}

/// The pixels of a glimpse outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlimpseNoise {
    /// Zeros.
    Zero,
    /// Between the least and the largest number of the image.
    Uniform,
    /// With the mean and the deviation of the image, between its least and largest number.
    Gaussian,
}

/// The attributes of glimpses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlimpseAttrs {
    /// True if an offset of 0 is the center of the image, false if its first pixel.
    pub centered: bool,
    /// True if offsets are fractions of the image, or of its half if they are centered.
    pub normalized: bool,
    /// The pixels outside of the image.
    pub noise: GlimpseNoise,
    /// True for the places of the first version: an offset is that of the glimpse's center in any case, and
    /// half of it counts if it is centered.
    pub is_first_version: bool,
}

impl GlimpseAttrs {
    /// The first pixel of a glimpse of `size` pixels along an axis of `len`; the least number for an offset
    /// that is none.
    fn start(&self, offset: f32, len: usize, size: usize) -> i64 {
        let (len, half) = (len as f32, size as f32 / 2.0);
        let scaled = if self.normalized { offset * len } else { offset };
        let at = match (self.is_first_version, self.centered, self.normalized) {
            (true, true, _) | (false, true, true) => (scaled + len) / 2.0 - half,
            (true, false, _) => scaled - half,
            (false, true, false) => scaled + len / 2.0,
            (false, false, _) => scaled,
        };
        if at.is_nan() { i64::MIN } else { at as i64 }
    }
}

/// `ExtractGlimpse`: windows of a height and width of images, one for each, at offsets (y, x).
pub fn extract_glimpse(
    op: &'static str,
    images: &HostTensor,
    (height, width): (usize, usize),
    offsets: &HostTensor,
    by: &GlimpseAttrs,
    generator: &Generator,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let [batch, rows, columns, channels] = image_dims(images)?;
    offsets.expect_shape("offsets", &Shape::new(&[batch, 2])?)?;
    let shape = Shape::new(&[batch, height, width, channels])?;
    let noise =
        |distribution, n| random(op, distribution, (DType::F32, shape.clone()), generator.take_for(n), cx);
    let n = shape.num_elements();
    let out = match by.noise {
        GlimpseNoise::Zero => HostTensor::zeros(DType::F32, shape.clone(), cx.allocator)?,
        GlimpseNoise::Uniform => noise(Distribution::Uniform, n)?,
        GlimpseNoise::Gaussian => noise(Distribution::Normal, n)?,
    };
    if n == 0 {
        return Ok(out);
    }
    let (pixels, offsets) = (images.read_as::<f32>("input")?, offsets.read_as::<f32>("offsets")?);
    {
        let mut out = out.write::<f32>()?;
        let (of_glimpse, of_image) = (height * width * channels, rows * columns * channels);
        for (i, glimpse) in out.chunks_exact_mut(of_glimpse).enumerate() {
            let image = &pixels[i * of_image..][..of_image];
            by.noise.scale(glimpse, image);
            let (top, left) =
                (by.start(offsets[2 * i], rows, height), by.start(offsets[2 * i + 1], columns, width));
            // The columns of the glimpse that are in the image.
            let within = |start: i64, len: usize, size: usize| {
                let first = start.saturating_neg().clamp(0, size as i64);
                first..(len as i64).saturating_sub(start).clamp(first, size as i64)
            };
            let inside = within(left, columns, width);
            if inside.is_empty() {
                continue;
            }
            for y in within(top, rows, height) {
                // The sums are places in the image.
                let from = ((top + y) as usize * columns + (left + inside.start) as usize) * channels;
                let to = (y as usize * width + inside.start as usize) * channels;
                let len = (inside.end - inside.start) as usize * channels;
                glimpse[to..to + len].copy_from_slice(&image[from..from + len]);
            }
        }
    }
    Ok(out)
}

impl GlimpseNoise {
    /// Makes the noise of an image of standard noise.
    fn scale(self, noise: &mut [f32], image: &[f32]) {
        if self == GlimpseNoise::Zero {
            return;
        }
        let (mut least, mut most, mut sum, mut squares) = (f32::INFINITY, f32::NEG_INFINITY, 0.0, 0.0);
        for &x in image {
            (least, most) = (least.min(x), most.max(x));
            sum += f64::from(x);
            squares += f64::from(x) * f64::from(x);
        }
        if image.is_empty() {
            return noise.fill(0.0);
        }
        let mean = sum / image.len() as f64;
        let deviation = (squares / image.len() as f64 - mean * mean).max(0.0).sqrt();
        for x in noise {
            *x = match self {
                GlimpseNoise::Gaussian => (mean + f64::from(*x) * deviation) as f32,
                GlimpseNoise::Uniform | GlimpseNoise::Zero => least + *x * (most - least),
            };
            // `clamp` refuses an image of infinities.
            *x = x.max(least).min(most);
        }
    }
}

/// The colors of boxes in turn: red, green, blue, alpha.
const COLORS: [[f32; 4]; 10] = [
    [1.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.5, 0.0, 0.5, 1.0],
    [0.5, 0.5, 0.0, 1.0],
    [0.5, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

/// `DrawBoundingBoxesV2`: images with the outlines of boxes, which are fractions of an image, in colors by
/// turns. Boxes without any pixel in the image, or whose ends are exchanged, are left out.
pub fn draw_boxes(
    op: &'static str,
    mut images: HostTensor,
    boxes: &HostTensor,
    colors: Option<&HostTensor>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let [batch, .., depth] = image_dims(&images)?;
    if !matches!(depth, 1 | 3 | 4) {
        return invalid(op, format!("images of {depth} channels, expected 1, 3 or 4"));
    }
    match *boxes.shape().dims() {
        [n, _, 4] if n == batch => {}
        _ => {
            let (boxes, images) = (boxes.shape(), images.shape());
            return invalid(op, format!("boxes of shape {boxes} for images of shape {images}"));
        }
    }
    let given = colors.map(|colors| colors.read_as::<f32>("colors")).transpose()?;
    let mut table: Vec<&[f32]> = COLORS.iter().map(|color| &color[..depth]).collect();
    if depth == 1 {
        // Gray boxes are white.
        table = vec![&[1.0]];
    }
    if let (Some(colors), Some(given)) = (colors, &given) {
        match *colors.shape().dims() {
            [_, width] if width >= depth => {
                if !given.is_empty() {
                    table =
                        crate::scratch::collected(given.chunks_exact(width).map(|color| &color[..depth]))?;
                }
            }
            _ => return invalid(op, format!("colors of shape {} for {depth} channels", colors.shape())),
        }
    }
    images.make_unique(cx.allocator)?;
    match images.dtype() {
        DType::F32 => drawn::<f32>(&images, boxes, &table)?,
        DType::F16 => drawn::<f16>(&images, boxes, &table)?,
        dtype => return Err(TensorError::Unsupported { op, dtype }),
    }
    Ok(images)
}

fn drawn<T: Pixel>(images: &HostTensor, boxes: &HostTensor, table: &[&[f32]]) -> Result<(), TensorError> {
    let &[_, height, width, depth] = images.shape().dims() else { unreachable!("they are images") };
    let (mut pixels, all) = (images.write::<T>()?, boxes.read_as::<f32>("boxes")?);
    let boxes = boxes.shape().dims()[1];
    if pixels.is_empty() || boxes == 0 {
        return Ok(());
    }
    let place = |x: f32, len: usize| {
        let at = x * (len - 1) as f32;
        if at.is_nan() { i64::MIN } else { at as i64 }
    };
    let area = height * width * depth;
    for (image, ends) in pixels.chunks_exact_mut(area).zip(all.as_chunks::<4>().0.chunks_exact(boxes)) {
        for (i, &[top, left, bottom, right]) in ends.iter().enumerate() {
            let color = table[i % table.len()];
            let [top, bottom] = [top, bottom].map(|y| place(y, height));
            let [left, right] = [left, right].map(|x| place(x, width));
            let (rows, columns) = (height as i64, width as i64);
            if top > bottom || left > right || top >= rows || bottom < 0 || left >= columns || right < 0 {
                continue;
            }
            let mut paint = |y: i64, x: i64| {
                let at = (y as usize * width + x as usize) * depth;
                image[at..at + depth].iter_mut().zip(color).for_each(|(to, &color)| *to = T::narrow(color));
            };
            let (first, last) = (left.max(0), right.min(columns - 1));
            for y in [top, bottom].into_iter().filter(|y| (0..rows).contains(y)) {
                (first..=last).for_each(|x| paint(y, x));
            }
            let (first, last) = (top.max(0), bottom.min(rows - 1));
            for x in [left, right].into_iter().filter(|x| (0..columns).contains(x)) {
                (first..=last).for_each(|y| paint(y, x));
            }
        }
    }
    Ok(())
}
