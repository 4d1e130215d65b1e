//! Crops of images, resized: TensorFlow's `CropAndResize` and its gradients.
//!
//! A box is `[y1, x1, y2, x2]` in fractions of the image: 0 is the first row or column, 1 the last. A pixel
//! of the crop whose position is outside of the image has a fixed value and no gradient.

use super::fast::{self, Cx};
use super::real::expect_float;
use super::resize::image_dims;
use crate::error::invalid;
use crate::scratch::{collected, try_collected};
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of a crop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CropAttrs {
    /// True for the nearest pixel, false for bilinear interpolation.
    pub nearest: bool,
    /// The value of pixels outside of the image.
    pub extrapolation: f32,
}

/// The image and the corners of each crop.
struct Boxes {
    images: Vec<usize>,
    corners: Vec<[f32; 4]>,
}

impl Boxes {
    fn new(
        op: &'static str,
        boxes: &HostTensor,
        indices: &HostTensor,
        batch: usize,
    ) -> Result<Boxes, TensorError> {
        let shapes = || format!("boxes of shape {} and indices of shape {}", boxes.shape(), indices.shape());
        let n = match (boxes.shape().dims(), indices.shape().dims()) {
            // TensorFlow accepts any shapes of no elements.
            _ if boxes.num_elements() == 0 && indices.num_elements() == 0 => 0,
            (&[n, 4], &[count]) if n == count => n,
            _ => return invalid(op, format!("{}, expected [n, 4] and [n]", shapes())),
        };
        let given = indices.read_as::<i32>("box_ind")?;
        let image = |&i: &i32| match usize::try_from(i) {
            Ok(image) if image < batch => Ok(image),
            _ => invalid(op, format!("box_ind {i} is not in [0, {batch})")),
        };
        let images = try_collected(given.iter().map(image))?;
        let corners = boxes.read_as::<f32>("boxes")?;
        let corners = collected(corners.chunks_exact(4).take(n).map(|b| [b[0], b[1], b[2], b[3]]))?;
        Ok(Boxes { images, corners })
    }
}

/// Positions along an axis of an image of `length` pixels, for a crop of `count` pixels.
#[derive(Clone, Copy)]
struct Span {
    length: usize,
    count: usize,
    start: f32,
    end: f32,
}

impl Span {
    /// The distance in the image of neighbouring pixels in a crop of the whole image.
    fn ratio(&self) -> f32 {
        if self.count > 1 { (self.length - 1) as f32 / (self.count - 1) as f32 } else { 0.0 }
    }

    /// The position in the image of pixel `i` of the crop; `None` if it is outside of the image.
    fn position(&self, i: usize) -> Option<f32> {
        let last = (self.length - 1) as f32; // no axis of an image has length 0
        let at = match self.count > 1 {
            true => {
                let scale = (self.end - self.start) * last / (self.count - 1) as f32;
                self.start * last + i as f32 * scale
            }
            false => 0.5 * (self.start + self.end) * last,
        };
        (at >= 0.0 && at <= last).then_some(at)
    }

    /// The derivatives of the position of pixel `i` by the start and by the end.
    fn slopes(&self, i: usize) -> [f32; 2] {
        let last = (self.length - 1) as f32;
        match self.count > 1 {
            true => [last - i as f32 * self.ratio(), i as f32 * self.ratio()],
            false => [0.5 * last; 2],
        }
    }
}

/// A pixel of a crop: the two rows and the two columns of the image around its position, and the position
/// between them as fractions.
struct CropPixel {
    rows: [usize; 2],
    columns: [usize; 2],
    down: f32,
    across: f32,
}

impl CropPixel {
    fn new(y: f32, x: f32) -> CropPixel {
        CropPixel {
            rows: [y.floor() as usize, y.ceil() as usize],
            columns: [x.floor() as usize, x.ceil() as usize],
            down: y - y.floor(),
            across: x - x.floor(),
        }
    }

    /// The four pixels around the position: row, column and weight.
    fn taps(&self) -> [(usize, usize, f32); 4] {
        let (down, across) = ([1.0 - self.down, self.down], [1.0 - self.across, self.across]);
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| (self.rows[i], self.columns[j], down[i] * across[j]))
    }
}

/// The spans of a box, down and across.
fn spans(corners: [f32; 4], rows: (usize, usize), columns: (usize, usize)) -> [Span; 2] {
    let [y1, x1, y2, x2] = corners;
    [
        Span { length: rows.0, count: rows.1, start: y1, end: y2 },
        Span { length: columns.0, count: columns.1, start: x1, end: x2 },
    ]
}

/// `CropAndResize`: for each box a crop of `height` by `width` pixels, as f32.
pub fn crop_and_resize(
    image: &HostTensor,
    boxes: &HostTensor,
    indices: &HostTensor,
    (height, width): (usize, usize),
    attrs: CropAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "CropAndResize";
    let [batch, rows, columns, channels] = image_dims(op, "image", image)?;
    if height == 0 || width == 0 {
        return invalid(op, format!("crop dimensions must be positive, got {height} by {width}"));
    }
    let boxes = Boxes::new(op, boxes, indices, batch)?;
    let shape = Shape::new(&[boxes.images.len(), height, width, channels])?;
    let result = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    let image = fast::cast(image, DType::F32, cx)?;
    let line = width * channels;
    {
        let pixels = image.read::<f32>()?;
        let pixels: &[f32] = &pixels;
        cx.parts(&mut result.write::<f32>()?, (line, 8), &|first, part| {
            for (i, out) in part.chunks_exact_mut(line).enumerate() {
                let (crop, y) = ((first / line + i) / height, (first / line + i) % height);
                let [down, across] = spans(boxes.corners[crop], (rows, height), (columns, width));
                let from = &pixels[boxes.images[crop] * rows * columns * channels..];
                let row = down.position(y);
                for (x, out) in out.chunks_exact_mut(channels).enumerate() {
                    let Some((y, x)) = row.zip(across.position(x)) else {
                        out.fill(attrs.extrapolation);
                        continue;
                    };
                    let pixel = |row: usize, column: usize| &from[(row * columns + column) * channels..];
                    if attrs.nearest {
                        let nearest = pixel(y.round() as usize, x.round() as usize);
                        out.copy_from_slice(&nearest[..channels]);
                        continue;
                    }
                    let place = CropPixel::new(y, x);
                    let [top, bottom] = place.rows.map(|row| place.columns.map(|column| pixel(row, column)));
                    for (c, out) in out.iter_mut().enumerate() {
                        let above = top[0][c] + (top[1][c] - top[0][c]) * place.across;
                        let below = bottom[0][c] + (bottom[1][c] - bottom[0][c]) * place.across;
                        *out = above + (below - above) * place.down;
                    }
                }
            }
        });
    }
    Ok(result)
}

/// The boxes and the dimensions of the gradients by crops.
struct Gradients {
    boxes: Boxes,
    crop: (usize, usize),
    channels: usize,
}

impl Gradients {
    fn new(
        op: &'static str,
        dy: &HostTensor,
        boxes: &HostTensor,
        indices: &HostTensor,
        (batch, channels): (usize, usize),
    ) -> Result<Gradients, TensorError> {
        let boxes = Boxes::new(op, boxes, indices, batch)?;
        let [n, height, width, depth] = image_dims(op, "grads", dy)?;
        if (n, depth) != (boxes.images.len(), channels) {
            let problem = format!(
                "`grads` of shape {} for {} boxes of {channels} channels",
                dy.shape(),
                boxes.images.len()
            );
            return invalid(op, problem);
        }
        Ok(Gradients { boxes, crop: (height, width), channels })
    }

    /// Calls `f` for each pixel of a crop whose position is inside of the image. The arguments are the
    /// numbers of the box and of the image, the box's spans, the pixel, its position, and the gradients of
    /// its channels.
    fn each(
        &self,
        dy: &[f32],
        (rows, columns): (usize, usize),
        mut f: impl FnMut((usize, usize), &[Span; 2], (usize, usize), (f32, f32), &[f32]),
    ) {
        let (height, width) = self.crop;
        let crops = dy.chunks_exact(height * width * self.channels);
        for (n, ((&corners, &image), dy)) in
            self.boxes.corners.iter().zip(&self.boxes.images).zip(crops).enumerate()
        {
            let spans = spans(corners, (rows, height), (columns, width));
            for (i, dy) in dy.chunks_exact(self.channels).enumerate() {
                let (y, x) = (i / width, i % width);
                if let Some(at) = spans[0].position(y).zip(spans[1].position(x)) {
                    f((n, image), &spans, (y, x), at, dy);
                }
            }
        }
    }
}

/// `CropAndResizeGradImage`: the gradient by images of `shape` and `dtype`.
pub fn crop_and_resize_grad_image(
    dy: &HostTensor,
    boxes: &HostTensor,
    indices: &HostTensor,
    (shape, dtype): (Shape, DType),
    nearest: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "CropAndResizeGradImage";
    let &[batch, rows, columns, channels] = shape.dims() else {
        return invalid(op, format!("`image_size` is {shape}, expected four numbers"));
    };
    let gradients = Gradients::new(op, dy, boxes, indices, (batch, channels))?;
    if rows == 0 || columns == 0 {
        return invalid(op, format!("images of shape {shape} have no pixels"));
    }
    let sums = HostTensor::zeros(DType::F64, shape, cx.allocator)?;
    {
        let (dy, mut sums) = (dy.read_as::<f32>("grads")?, sums.write::<f64>()?);
        gradients.each(&dy, (rows, columns), |(_, image), _, _, (y, x), dy| {
            let mut add = |row: usize, column: usize, weight: f32| {
                let pixel = &mut sums[((image * rows + row) * columns + column) * channels..][..channels];
                pixel.iter_mut().zip(dy).for_each(|(sum, &dy)| *sum += f64::from(weight * dy));
            };
            match nearest {
                true => add(y.round() as usize, x.round() as usize, 1.0),
                false => CropPixel::new(y, x).taps().into_iter().for_each(|(row, col, by)| add(row, col, by)),
            }
        });
    }
    fast::cast(&sums, dtype, cx)
}

/// `CropAndResizeGradBoxes`: the gradient of bilinear crops by the boxes.
pub fn crop_and_resize_grad_boxes(
    dy: &HostTensor,
    image: &HostTensor,
    boxes: &HostTensor,
    indices: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "CropAndResizeGradBoxes";
    let [batch, rows, columns, channels] = image_dims(op, "image", image)?;
    let gradients = Gradients::new(op, dy, boxes, indices, (batch, channels))?;
    let image = fast::cast(image, DType::F32, cx)?;
    expect_float(op, &image)?;
    let result =
        HostTensor::zeros(DType::F32, Shape::new(&[gradients.boxes.images.len(), 4])?, cx.allocator)?;
    {
        let (dy, pixels, mut sums) =
            (dy.read_as::<f32>("grads")?, image.read::<f32>()?, result.write::<f32>()?);
        gradients.each(&dy, (rows, columns), |(n, image), [down, across], (y, x), at, dy| {
            let place = CropPixel::new(at.0, at.1);
            let pixel = |i: usize, j: usize| {
                &pixels[((image * rows + place.rows[i]) * columns + place.columns[j]) * channels..]
            };
            let [top_left, top_right, bottom_left, bottom_right] =
                [pixel(0, 0), pixel(0, 1), pixel(1, 0), pixel(1, 1)];
            for (c, &dy) in dy.iter().enumerate() {
                let by_y = (1.0 - place.across) * (bottom_left[c] - top_left[c])
                    + place.across * (bottom_right[c] - top_right[c]);
                let by_x = (1.0 - place.down) * (top_right[c] - top_left[c])
                    + place.down * (bottom_right[c] - bottom_left[c]);
                let [from_y, to_y] = down.slopes(y);
                let [from_x, to_x] = across.slopes(x);
                let slopes = [by_y * from_y, by_x * from_x, by_y * to_y, by_x * to_x];
                sums[4 * n..][..4].iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += dy * slope);
            }
        });
    }
    Ok(result)
}
