//! Pictures as arguments: JPEG, PNG and BMP files, sized and scaled for the argument that takes them.
//!
//! ```text
//! FILE.jpg | .png | .bmp ──decode──▶ [h, w, 3] of bytes ──gray?──▶ fit ──▶ [H, W, C] ──--pixels──▶ argument
//! ```
//!
//! The rest follows from the type of the argument: its layout, `[N, C, H, W]` or `[N, H, W, C]` (the batch is
//! 1 and may be missing) with one or three channels; its size; bytes or floating-point numbers. An argument
//! without a size takes the size of the picture.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use befrost::Port;
use befrost_compiler::diag::shortened;
use befrost_kernels::decode_picture;
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::fast::{Cx, cast};
use befrost_tensor::tf::{AspectRatio, AxisInterpolation, Coordinates, ResizeAxesAttrs, resize_axes};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};
use clap::ValueEnum;

use crate::cli::failure::Failure;

/// Limit on the bytes of a file.
const MAX_BYTES: u64 = 1 << 28;
/// The channels of a decoded pixel: red, green, blue.
const CHANNELS: usize = 3;
/// The element types for which `--pixels` is needed.
const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
/// The side of the square in which ImageNet's models are tested, as a fraction of the picture's shorter side.
const CROPPED: f64 = 224.0 / 256.0;

/// The meaning of a pixel's bytes in an argument of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Pixels {
    /// 0 to 255
    Bytes,
    /// 0 to 1
    Unit,
    /// -1 to 1
    Signed,
    /// 0 to 1, less ImageNet's mean, by its standard deviation: torchvision, ONNX model zoo
    Imagenet,
    /// Blue, green, red from 0 to 255, less ImageNet's mean: Caffe, Keras' VGG and ResNet50
    Caffe,
}

impl Pixels {
    /// The number for a byte of a channel (red, green, blue) is `byte * scale + offset`.
    fn line(self, channel: usize) -> (f32, f32) {
        let of = |numbers: [f32; CHANNELS]| numbers.get(channel).copied().unwrap_or(numbers[0]);
        match self {
            Pixels::Bytes => (1.0, 0.0),
            Pixels::Unit => (1.0 / 255.0, 0.0),
            Pixels::Signed => (1.0 / 127.5, -1.0),
            Pixels::Imagenet => {
                let deviation = of([0.229, 0.224, 0.225]);
                (1.0 / (255.0 * deviation), -of([0.485, 0.456, 0.406]) / deviation)
            }
            Pixels::Caffe => (1.0, -of([123.68, 116.779, 103.939])),
        }
    }
}

/// The way in which a picture of another size becomes one of the argument's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Fit {
    /// The middle of the picture, 7/8 of its shorter side: the usual test of ImageNet
    Crop,
    /// All of the picture, with another ratio of its sides
    Stretch,
}

/// A decoded picture: `[height, width, 3]` of bytes.
#[derive(Clone, Debug)]
pub(super) struct Picture {
    height: usize,
    width: usize,
    rgb: Vec<u8>,
}

/// The layout and size that an argument wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PictureLayout {
    has_batch: bool,
    channels_first: bool,
    channels: usize,
    height: Option<usize>,
    width: Option<usize>,
}

impl PictureLayout {
    /// The layout of an argument's sizes.
    fn of(dims: &[Option<usize>]) -> Option<PictureLayout> {
        let (has_batch, [a, b, c]) = match *dims {
            [None | Some(1), a, b, c] => (true, [a, b, c]),
            [a, b, c] => (false, [a, b, c]),
            _ => return None,
        };
        let channels = |dim: Option<usize>| dim.filter(|dim| [1, CHANNELS].contains(dim));
        match (channels(a), channels(c)) {
            (_, Some(channels)) => {
                Some(PictureLayout { has_batch, channels_first: false, channels, height: a, width: b })
            }
            (Some(channels), None) => {
                Some(PictureLayout { has_batch, channels_first: true, channels, height: b, width: c })
            }
            (None, None) => None,
        }
    }
}

/// True for the name of a picture.
pub(super) fn is_picture(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|it| ["jpg", "jpeg", "png", "bmp"].contains(&it.to_ascii_lowercase().as_str()))
}

impl Picture {
    /// Reads a JPEG, PNG or BMP file; which of them its first bytes say.
    pub(super) fn read(path: &Path, allocator: &Arc<dyn Allocator>) -> Result<Picture, Failure> {
        let mut data = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut data));
        let decoded = match read {
            Err(error) => Err(error.to_string()),
            Ok(_) if data.len() as u64 > MAX_BYTES => Err(format!("it has more than {MAX_BYTES} bytes")),
            Ok(_) => Picture::decoded(&data, allocator),
        };
        decoded.map_err(|why| {
            let name = shortened(&path.display().to_string(), 200);
            Failure::Refused(format!("cannot read the picture '{name}': {why}"))
        })
    }

    fn decoded(data: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Picture, String> {
        let decoded = decode_picture(data, allocator).map_err(|error| error.to_string())?;
        on_white(&decoded).map_err(|error| error.to_string())
    }

    /// The picture as an argument.
    pub(super) fn tensor(
        &self,
        port: &Port,
        at: usize,
        pixels: Option<Pixels>,
        fit: Fit,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, Failure> {
        let (label, ty) = (port.label(at), port.ty());
        let Some(layout) = port.shape().as_slice().and_then(PictureLayout::of) else {
            return Err(Failure::Refused(format!(
                "argument {label} has type {ty}, and a picture needs one of 1x3xHxW, 1xHxWx3, or with one channel"
            )));
        };
        let dtype = port.dtype().unwrap_or(DType::UI8);
        let floats = FLOATS.contains(&dtype);
        let pixels = match (pixels, floats, dtype) {
            (Some(pixels), true, _) => pixels,
            (None | Some(Pixels::Bytes), false, DType::UI8) => Pixels::Bytes,
            (None, true, _) => {
                return Err(Failure::Usage(format!(
                    "argument {label} has type {ty}: say with --pixels which numbers its model expects"
                )));
            }
            (_, false, _) => {
                return Err(Failure::Refused(format!(
                    "argument {label} has type {ty}, which takes no such pixels"
                )));
            }
        };
        self.fitted(layout, pixels, fit, dtype, allocator).map_err(|error| {
            Failure::Refused(format!("argument {label}: the picture does not become a {ty}: {error}"))
        })
    }

    fn fitted(
        &self,
        layout: PictureLayout,
        pixels: Pixels,
        fit: Fit,
        dtype: DType,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        let size = [layout.height.unwrap_or(self.height), layout.width.unwrap_or(self.width)];
        let [top, left, height, width] = match fit {
            _ if size == [self.height, self.width] => [0, 0, self.height, self.width],
            Fit::Stretch => [0, 0, self.height, self.width],
            Fit::Crop => middle([self.height, self.width], size),
        };
        let channels = layout.channels;
        let mut values = Vec::with_capacity(height * width * channels);
        for row in self.rgb.chunks_exact(self.width * CHANNELS).skip(top).take(height) {
            for pixel in row.chunks_exact(CHANNELS).skip(left).take(width) {
                let rgb: [f32; CHANNELS] = std::array::from_fn(|i| f32::from(pixel[i]));
                match channels {
                    // The luminance of ITU-R BT.601.
                    1 => values.push(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]),
                    _ => values.extend(rgb),
                }
            }
        }
        let cx = &Cx::serial(allocator);
        let x = HostTensor::from_slice(Shape::new(&[height, width, channels])?, &values, allocator)?;
        let sizes = size.map(|size| size as i64);
        let x = resize_axes(&x, &[], &[], &sizes, &antialiased(), cx)?;
        let resized = x.read::<f32>()?;
        let n = size[0] * size[1];
        let mut values = vec![0.0; n * channels];
        let is_bgr = pixels == Pixels::Caffe && channels == CHANNELS;
        for (i, pixel) in resized.chunks_exact(channels).enumerate() {
            for (channel, &byte) in pixel.iter().enumerate() {
                let (scale, offset) = pixels.line(channel);
                let to = if is_bgr { channels - 1 - channel } else { channel };
                let to = if layout.channels_first { to * n + i } else { i * channels + to };
                // Rounded to bytes, as in image libraries after resizing.
                values[to] = byte.round_ties_even().clamp(0.0, 255.0) * scale + offset;
            }
        }
        let [height, width] = size;
        let dims = match layout.channels_first {
            true => [1, channels, height, width],
            false => [1, height, width, channels],
        };
        let dims = if layout.has_batch { &dims[..] } else { &dims[1..] };
        cast(&HostTensor::from_slice(Shape::new(dims)?, &values, allocator)?, dtype, cx)
    }
}

/// The part of a picture that [`Fit::Crop`] shows: its top, left, height and width.
fn middle([height, width]: [usize; 2], to: [usize; 2]) -> [usize; 4] {
    let [to_height, to_width] = to.map(|side| side.max(1) as f64);
    // The largest part with the wanted ratio of sides, cropped to its middle.
    let scale = (height as f64 / to_height).min(width as f64 / to_width) * CROPPED;
    let side = |wanted: f64, all: usize| ((wanted * scale).round() as usize).clamp(1, all);
    let (shown_height, shown_width) = (side(to_height, height), side(to_width, width));
    [(height - shown_height) / 2, (width - shown_width) / 2, shown_height, shown_width]
}

/// Bilinear with antialiasing: a pixel of the result averages all pixels that it covers, as in image
/// libraries.
fn antialiased() -> ResizeAxesAttrs {
    ResizeAxesAttrs {
        axes: vec![0, 1],
        interpolation: AxisInterpolation::Linear,
        coordinates: Coordinates::HalfPixel,
        exclude_outside: false,
        extrapolation: 0.0,
        antialias: true,
        aspect: AspectRatio::Stretch,
    }
}

/// A decoded picture as red, green and blue; transparent pixels are shown on white.
fn on_white(decoded: &HostTensor) -> Result<Picture, TensorError> {
    let &[height, width, channels] = decoded.shape().dims() else {
        let problem = format!("a picture of shape {}", decoded.shape());
        return Err(TensorError::Invalid { op: "DecodeImage", problem });
    };
    let samples = decoded.read::<u8>()?;
    let rgb = samples.chunks_exact(channels).flat_map(|pixel| {
        let (color, alpha) = match *pixel {
            [gray, alpha] => ([gray; CHANNELS], alpha),
            [red, green, blue] => ([red, green, blue], u8::MAX),
            [red, green, blue, alpha] => ([red, green, blue], alpha),
            _ => ([pixel[0]; CHANNELS], u8::MAX),
        };
        color.map(|sample| {
            let (sample, alpha) = (u16::from(sample), u16::from(alpha));
            ((sample * alpha + 255 * (255 - alpha) + 127) / 255) as u8
        })
    });
    Ok(Picture { height, width, rgb: rgb.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        let check = |dims: &[Option<usize>], want: Option<(bool, bool, usize)>| {
            let got = PictureLayout::of(dims);
            let got = got.map(|layout| (layout.has_batch, layout.channels_first, layout.channels));
            assert_eq!(got, want, "{dims:?}");
        };
        check(&[Some(1), Some(3), Some(224), Some(224)], Some((true, true, 3)));
        check(&[None, Some(224), Some(224), Some(3)], Some((true, false, 3)));
        check(&[Some(8), Some(8), Some(1)], Some((false, false, 1)));
        check(&[Some(1), Some(1), None, None], Some((true, true, 1)));
        check(&[Some(2), Some(3), Some(8), Some(8)], None);
        check(&[Some(8), Some(8)], None);
        check(&[None, None, None, None], None);
    }

    #[test]
    fn the_middle_has_the_ratio_of_the_argument() {
        assert_eq!(middle([256, 256], [224, 224]), [16, 16, 224, 224]);
        assert_eq!(middle([512, 1024], [224, 224]), [32, 288, 448, 448]);
        assert_eq!(middle([100, 50], [10, 20]), [39, 3, 22, 44]);
        assert_eq!(middle([1, 1], [8, 8]), [0, 0, 1, 1]);
    }

    #[test]
    fn pixels_become_numbers_of_the_layout() {
        let picture = Picture { height: 1, width: 2, rgb: vec![255, 0, 51, 0, 255, 102] };
        let allocator = befrost_tensor::mem::Malloc::shared();
        let numbers = |ty: &str, pixels| {
            let tensor = picture.tensor(&Port::new("x", ty), 0, Some(pixels), Fit::Stretch, &allocator);
            tensor.ok().map(|tensor| tensor.to_vec::<f32>().expect("f32"))
        };
        let signed = numbers("tensor<1x3x1x2xf32>", Pixels::Signed).expect("numbers");
        let near = |want: &[f32]| signed.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-6);
        assert!(signed.len() == 6 && near(&[1.0, -1.0, -1.0, 1.0, -0.6, -0.2]), "{signed:?}");
        let last = numbers("tensor<?x?x?x3xf32>", Pixels::Bytes);
        assert_eq!(last, Some(vec![255.0, 0.0, 51.0, 0.0, 255.0, 102.0]));
        let gray = numbers("tensor<1x2x1xf32>", Pixels::Bytes);
        assert_eq!(gray, Some(vec![82.0, 161.0]));
        let blue = numbers("tensor<1x1x2x3xf32>", Pixels::Caffe).expect("numbers");
        assert_eq!(blue[0], 51.0 - 103.939);
    }

    #[test]
    fn damaged_files_are_refused() {
        let allocator = befrost_tensor::mem::Malloc::shared();
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 2, 2);
        encoder.set_color(png::ColorType::Rgba);
        let written =
            encoder.write_header().and_then(|mut out| out.write_image_data(&[7, 7, 7, 255].repeat(4)));
        written.expect("a picture");
        assert_eq!(Picture::decoded(&png, &allocator).expect("a picture").rgb, [7; 12]);
        for n in 0..png.len() - 12 {
            assert!(Picture::decoded(&png[..n], &allocator).is_err(), "{n}");
        }
        for at in 0..png.len() {
            let mut damaged = png.clone();
            damaged[at] ^= 0x55;
            _ = Picture::decoded(&damaged, &allocator);
        }
        assert!(Picture::decoded(b"\xff\xd8\xff\xe0", &allocator).is_err());
    }
}
