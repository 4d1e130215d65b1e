//! Pictures in files: PNG, JPEG and BMP decoded, PNG encoded.
//!
//! ```text
//! bytes ──signature──▶ png, zune-jpeg, or rows of BMP ──▶ samples of 8 or 16 bits ──channels, type──▶ tensor
//! ```
//!
//! A file is untrusted: the number of pixels in its header is checked before memory is allocated. As in
//! TensorFlow, `DecodePng` and `DecodeJpeg` take either of the two kinds. JPEG is decoded by an accurate
//! integer transform whatever `dct_method` says, and chroma is interpolated whatever `fancy_upscaling` says;
//! samples differ from libjpeg's for `INTEGER_ACCURATE` by 3 at most, and by 5 at the right edge. GIF, WebP
//! and JPEG XL are refused, and `ratio` other than 1.

use std::fmt::Display;
use std::io::Cursor;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::interrupt::is_interrupted;
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{collected, filled};
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};
use png::{BitDepth, ColorType, DeflateCompression, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::action::{ActionRow, action, ints, tensor};
use super::joined::TextBuilder;
use super::operands::dense;
use super::strings::{expect_room, invalid, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::DecodePng, Op::DecodeJpeg, Op::DecodeBmp, Op::DecodeImage], |attrs| {
        let reader = PictureReader::new(attrs)?;
        action(attrs, move |[contents], cx| Ok([reader.decoded(contents, None, cx.allocator())?]))
    }),
    (&[Op::DecodeAndCropJpeg], |attrs| {
        let reader = PictureReader::new(attrs)?;
        action(attrs, move |[contents, window], cx| {
            Ok([reader.decoded(contents, Some(&ints(window)?), cx.allocator())?])
        })
    }),
    (&[Op::ExtractJpegShape], |attrs| {
        let (op, dtype) = (attrs.op(), attrs.dtype("output_type")?);
        if !matches!(dtype, DType::I32 | DType::I64) {
            return Err(TensorError::Unsupported { op, dtype });
        }
        action(attrs, move |[contents], cx| {
            let [height, width, channels] = with_contents(op, contents, |bytes| jpeg_size(op, bytes))?;
            let sizes = [height, width, channels].map(|size| size as i64);
            let shape = Shape::new(&[3]).map_err(refused)?;
            let sizes = HostTensor::from_slice(shape, &sizes, cx.allocator()).map_err(refused)?;
            Ok([tensor(befrost_tensor::tf::cast(&sizes, dtype, cx.allocator()).map_err(refused)?)])
        })
    }),
    (&[Op::EncodePng], |attrs| {
        let op = attrs.op();
        let level = attrs.int("compression")?;
        let compression = match u8::try_from(level) {
            Ok(0) => DeflateCompression::NoCompression,
            Ok(level) if level <= 9 => DeflateCompression::Level(level),
            Err(_) if level == -1 => DeflateCompression::default(),
            _ => return invalid(op, format!("compression should be in [-1, 9], got {level}")),
        };
        action(attrs, move |[images], cx| Ok([encoded(dense(images)?, compression, cx.allocator())?]))
    }),
];

/// Decodes a PNG, JPEG or BMP file: `[height, width, channels]` of bytes. The channels are those of the file:
/// gray; gray, alpha; red, green, blue; red, green, blue, alpha. Words become their upper bytes.
///
/// # Errors
/// Contents that are damaged or of another format, more than 2^27 pixels, memory that is refused.
pub fn decode_picture(bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, KernelError> {
    let reader =
        PictureReader { op: "DecodeImage", channels: Channels(0), dtype: DType::UI8, may_be_cut: false };
    reader.read(bytes, None, allocator)
}

/// Limit on the pixels of a picture: a small file can declare any number.
const MAX_PIXELS: usize = 1 << 27;

fn wrong(op: &str, why: impl Display) -> KernelError {
    KernelError::invalid(format!("`{op}`: {why}"))
}

/// Calls `f` with the string that the operand is.
fn with_contents<R>(
    op: &str,
    contents: &Value,
    f: impl FnOnce(&[u8]) -> Result<R, KernelError>,
) -> Result<R, KernelError> {
    let contents = strings_in(contents)?;
    if contents.shape().rank() != 0 {
        return Err(wrong(op, format_args!("contents of shape {}, expected a scalar", contents.shape())));
    }
    f(contents.read().map_err(refused)?.at(0).unwrap_or_default())
}

/// The number of pixels, if that is not too large.
fn pixels(op: &str, width: usize, height: usize) -> Result<usize, KernelError> {
    match width.checked_mul(height) {
        Some(0) => Err(wrong(op, "a picture without pixels")),
        Some(n) if n <= MAX_PIXELS => Ok(n),
        _ => Err(wrong(op, format_args!("{width} by {height} pixels are more than {MAX_PIXELS}"))),
    }
}

/// Samples of a picture, row by row.
struct Picture {
    width: usize,
    height: usize,
    channels: usize,
    samples: Samples,
}

enum Samples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

/// The number of channels that are asked for; 0 for those of the file.
#[derive(Clone, Copy)]
struct Channels(usize);

/// A sample.
trait Sample: Copy {
    const MOST: Self;
    fn gray(rgb: [Self; 3]) -> Self;
}

/// The weights of red, green and blue in gray, of which 2^15 is the sum: libpng's for those of TensorFlow.
const GRAY: [u32; 3] = [9797, 19234, 3737];

fn weighted(rgb: [u32; 3]) -> u32 {
    // At most 2^31.
    rgb.into_iter().zip(GRAY).map(|(sample, weight)| sample * weight).sum()
}

impl Sample for u8 {
    const MOST: u8 = u8::MAX;
    fn gray(rgb: [u8; 3]) -> u8 {
        (weighted(rgb.map(u32::from)) >> 15) as u8
    }
}

impl Sample for u16 {
    const MOST: u16 = u16::MAX;
    // Words are rounded.
    fn gray(rgb: [u16; 3]) -> u16 {
        ((weighted(rgb.map(u32::from)) + (1 << 14)) >> 15) as u16
    }
}

/// Samples with another number of channels.
fn rechanneled<T: Sample>(samples: &[T], from: usize, to: usize) -> Result<Vec<T>, TensorError> {
    let pixel = |pixel: &[T]| -> [T; 4] {
        match *pixel {
            [gray] => [gray, gray, gray, T::MOST],
            [gray, alpha] => [gray, gray, gray, alpha],
            [red, green, blue] => [red, green, blue, T::MOST],
            [red, green, blue, alpha] => [red, green, blue, alpha],
            _ => [T::MOST; 4],
        }
    };
    let pixels = samples.chunks_exact(from).map(pixel);
    match (to, from) {
        (1, 3 | 4) => collected(pixels.map(|[red, green, blue, _]| T::gray([red, green, blue]))),
        (2, _) => collected(pixels.flat_map(|[gray, .., alpha]| [gray, alpha])),
        (to, _) => collected(pixels.flat_map(move |pixel| pixel.into_iter().take(to))),
    }
}

impl Picture {
    fn with_channels(self, Channels(to): Channels) -> Result<Picture, KernelError> {
        let from = self.channels;
        if to == 0 || to == from {
            return Ok(self);
        }
        let samples = match &self.samples {
            Samples::Bytes(samples) => rechanneled(samples, from, to).map(Samples::Bytes),
            Samples::Words(samples) => rechanneled(samples, from, to).map(Samples::Words),
        };
        Ok(Picture { channels: to, samples: samples.map_err(refused)?, ..self })
    }

    /// The picture without the rows and columns outside of a window: top, left, height, width.
    fn cropped(self, op: &str, window: &[i64]) -> Result<Picture, KernelError> {
        let &[top, left, height, width] = window else {
            return Err(wrong(op, format_args!("a window of {} numbers, expected 4", window.len())));
        };
        let part = |start: i64, len: i64, all: usize| {
            let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
            (len > 0 && start <= all && len <= all - start).then(|| start..start + len)
        };
        let (Some(rows), Some(columns)) = (part(top, height, self.height), part(left, width, self.width))
        else {
            let (h, w) = (self.height, self.width);
            return Err(wrong(op, format_args!("the window {window:?} is not in {h} by {w} pixels")));
        };
        let (row, channels) = (self.width * self.channels, self.channels);
        fn some<T: Copy>(
            samples: &[T],
            row: usize,
            rows: std::ops::Range<usize>,
            columns: std::ops::Range<usize>,
        ) -> Result<Vec<T>, TensorError> {
            let kept = samples.chunks_exact(row).skip(rows.start).take(rows.len());
            collected(kept.flat_map(|row| row[columns.clone()].iter().copied()))
        }
        let (height, width) = (rows.len(), columns.len());
        let columns = columns.start * channels..columns.end * channels;
        let samples = match &self.samples {
            Samples::Bytes(samples) => some(samples, row, rows, columns).map(Samples::Bytes),
            Samples::Words(samples) => some(samples, row, rows, columns).map(Samples::Words),
        };
        Ok(Picture { width, height, channels, samples: samples.map_err(refused)? })
    }
}

/// The operators that decode a picture.
struct PictureReader {
    op: &'static str,
    channels: Channels,
    dtype: DType,
    /// True for a JPEG that may end early.
    may_be_cut: bool,
}

impl PictureReader {
    fn new(attrs: &Attributes<'_>) -> Result<PictureReader, TensorError> {
        let (op, signature) = (attrs.op(), attrs.signature());
        let channels = attrs.int("channels")?;
        let Some(channels) = usize::try_from(channels).ok().filter(|n| [0, 1, 3, 4].contains(n)) else {
            return invalid(op, format!("`channels` must be 0, 1, 3 or 4 but got {channels}"));
        };
        let dtype = match signature.attr("dtype") {
            Some(_) => attrs.ty("dtype")?,
            None => Type::Dense(DType::UI8),
        };
        let dtype = match dtype {
            Type::Dense(dtype @ (DType::UI8 | DType::UI16)) => dtype,
            Type::Dense(DType::F32) if op == "DecodeImage" => DType::F32,
            ty => return invalid(op, format!("pictures of {ty} are not decoded")),
        };
        let is_jpeg = signature.attr("dct_method").is_some();
        if is_jpeg {
            let method = attrs.string("dct_method")?;
            if !["", "INTEGER_FAST", "INTEGER_ACCURATE"].contains(&&method[..]) {
                return invalid(
                    op,
                    format!("dct_method must be INTEGER_FAST or INTEGER_ACCURATE, not {method}"),
                );
            }
            let ratio = attrs.int("ratio")?;
            if ratio != 1 {
                return invalid(op, format!("a ratio of {ratio} is not supported, only 1"));
            }
        }
        let may_be_cut = is_jpeg && attrs.bool("try_recover_truncated")?;
        Ok(PictureReader { op, channels: Channels(channels), dtype, may_be_cut })
    }

    fn decoded(
        &self,
        contents: &Value,
        window: Option<&[i64]>,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        with_contents(self.op, contents, |bytes| self.read(bytes, window, allocator).map(tensor))
    }

    fn read(
        &self,
        bytes: &[u8],
        window: Option<&[i64]>,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, KernelError> {
        let op = self.op;
        let takes_bmp = matches!(op, "DecodeBmp" | "DecodeImage");
        let (picture, is_png) = match bytes {
            [] => return Err(wrong(op, "the contents are empty")),
            [0x89, b'P', b'N', b'G', ..] if op != "DecodeBmp" => (self.png(bytes, allocator)?, true),
            [0xff, 0xd8, 0xff, ..] if op != "DecodeBmp" => (self.jpeg(bytes, allocator)?, false),
            [b'B', b'M', ..] if takes_bmp => (self.bmp(bytes, allocator)?, false),
            [b'B', b'M', ..] => return Err(wrong(op, "a BMP, which DecodeBmp and DecodeImage decode")),
            _ => return Err(wrong(op, "unknown picture format: neither PNG nor JPEG nor BMP")),
        };
        let picture = match window {
            Some(window) => picture.cropped(op, window)?,
            None => picture,
        };
        self.finished(&picture, is_png, allocator)
    }

    /// The picture as a tensor of the wanted type.
    fn finished(
        &self,
        picture: &Picture,
        is_png: bool,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, KernelError> {
        let shape = Shape::new(&[picture.height, picture.width, picture.channels]).map_err(refused)?;
        let out = HostTensor::allocate(self.dtype, shape, allocator).map_err(refused)?;
        let filled = match (self.dtype, &picture.samples) {
            (DType::UI8, Samples::Bytes(from)) => fill(&out, from, |x| x),
            (DType::UI8, Samples::Words(from)) => fill(&out, from, |x| (x >> 8) as u8),
            (DType::UI16, Samples::Words(from)) => fill(&out, from, |x| x),
            // The two scales are TensorFlow's.
            (DType::UI16, Samples::Bytes(from)) if is_png => fill(&out, from, |x| u16::from(x) * 257),
            (DType::UI16, Samples::Bytes(from)) => fill(&out, from, |x| u16::from(x) << 8),
            (_, Samples::Bytes(from)) => fill(&out, from, |x| f32::from(x) / 255.0),
            (_, Samples::Words(from)) => fill(&out, from, |x| f32::from(x) / 65535.0),
        };
        filled.map_err(refused)?;
        Ok(out)
    }

    fn png(&self, bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Picture, KernelError> {
        let op = self.op;
        let bad = |error: png::DecodingError| wrong(op, format_args!("invalid PNG: {error}"));
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        decoder.set_transformations(Transformations::EXPAND);
        let header = decoder.read_header_info().map_err(bad)?;
        let (width, height) = (header.width as usize, header.height as usize);
        pixels(op, width, height)?;
        decoder.set_limits(png::Limits { bytes: 8 * MAX_PIXELS });
        let mut reader = decoder.read_info().map_err(bad)?;
        let info = reader.info();
        // Transparent colors of a picture without alpha count only if alpha is asked for.
        let own = match (info.color_type, info.trns.is_some()) {
            (ColorType::Grayscale, _) => 1,
            (ColorType::GrayscaleAlpha, _) => 2,
            (ColorType::Rgb, _) | (ColorType::Indexed, false) => 3,
            (ColorType::Rgba, _) | (ColorType::Indexed, true) => 4,
        };
        let (color, depth) = reader.output_color_type();
        let channels = color.samples();
        let len = reader.output_buffer_size().ok_or_else(|| refused(TensorError::TooLarge))?;
        expect_room(len, 2, allocator)?;
        let mut samples = filled(len, 0u8).map_err(refused)?;
        reader.next_frame(&mut samples).map_err(bad)?;
        reader.finish().map_err(bad)?;
        let samples = match depth {
            BitDepth::Sixteen => {
                let words = samples.as_chunks::<2>().0.iter().map(|&word| u16::from_be_bytes(word));
                collected(words).map(Samples::Words)
            }
            _ => Ok(Samples::Bytes(samples)),
        };
        let picture = Picture { width, height, channels, samples: samples.map_err(refused)? };
        let Channels(wanted) = self.channels;
        picture.with_channels(Channels(if wanted == 0 { own } else { wanted }))
    }

    fn jpeg(&self, bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Picture, KernelError> {
        let (op, Channels(wanted)) = (self.op, self.channels);
        if wanted == 4 {
            return Err(wrong(op, "JPEG does not support 4 channels"));
        }
        let [height, width, own] = jpeg_size(op, bytes)?;
        let channels = if own == 1 || wanted == 1 { 1 } else { 3 };
        let len = pixels(op, width, height)? * channels;
        let space = if channels == 1 { ColorSpace::Luma } else { ColorSpace::RGB };
        let options =
            DecoderOptions::default().jpeg_set_out_colorspace(space).set_strict_mode(!self.may_be_cut);
        let options = options.set_max_width(width).set_max_height(height);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        expect_room(len, 2, allocator)?;
        let mut samples = filled(len, 0u8).map_err(refused)?;
        decoder
            .decode_into(&mut samples)
            .map_err(|error| wrong(op, format_args!("invalid JPEG: {error}")))?;
        let picture = Picture { width, height, channels, samples: Samples::Bytes(samples) };
        picture.with_channels(self.channels)
    }

    fn bmp(&self, bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Picture, KernelError> {
        let op = self.op;
        if self.channels.0 == 1 {
            return Err(wrong(op, "`channels` must be 0, 3 or 4 for BMP, but got 1"));
        }
        if bytes.len() < 32 {
            return Err(wrong(op, "the header of a BMP is cut off"));
        }
        let word = |at: usize| i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (start, width, height) = (word(10), word(18), word(22));
        let bits = usize::from(u16::from_le_bytes([bytes[28], bytes[29]]));
        let (Ok(start), Ok(width)) = (usize::try_from(start), usize::try_from(width)) else {
            return Err(wrong(op, "a BMP of negative width"));
        };
        let channels = bits / 8;
        if !matches!(channels, 1 | 3 | 4) {
            return Err(wrong(op, format_args!("{bits} bits for each pixel of a BMP, expected 8, 24 or 32")));
        }
        let (is_down, height) = (height < 0, height.unsigned_abs() as usize);
        let n = pixels(op, width, height)?;
        let row = (bits * width).div_ceil(32) * 4;
        let data = bytes.get(start..).filter(|data| data.len() == row * height);
        let Some(data) = data else {
            return Err(wrong(
                op,
                format_args!("a BMP of {} bytes for {width} by {height} pixels", bytes.len()),
            ));
        };
        expect_room(n, 2 * channels, allocator)?;
        let rows = (0..height).map(|i| if is_down { i } else { height - 1 - i });
        let pixels = rows.flat_map(|i| data[i * row..][..width * channels].chunks_exact(channels));
        let ordered = pixels.flat_map(|pixel| match *pixel {
            [blue, green, red] => [red, green, blue, 0],
            [blue, green, red, alpha] => [red, green, blue, alpha],
            _ => [pixel[0]; 4],
        });
        // Of four samples for each pixel, those that there are.
        let samples = ordered.enumerate().filter(|(i, _)| i % 4 < channels).map(|(_, sample)| sample);
        let samples = Samples::Bytes(collected(samples).map_err(refused)?);
        Picture { width, height, channels, samples }.with_channels(self.channels)
    }
}

/// Writes converted samples to a tensor.
fn fill<S: Copy, T: befrost_tensor::Element>(
    out: &HostTensor,
    from: &[S],
    convert: impl Fn(S) -> T,
) -> Result<(), TensorError> {
    out.write::<T>()?.iter_mut().zip(from).for_each(|(to, &from)| *to = convert(from));
    Ok(())
}

/// Height, width and number of channels in the header of a JPEG.
fn jpeg_size(op: &str, bytes: &[u8]) -> Result<[usize; 3], KernelError> {
    let bad = |why: &dyn Display| wrong(op, format_args!("invalid JPEG: {why}"));
    let options = DecoderOptions::default().set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| bad(&error))?;
    match (decoder.dimensions(), decoder.info()) {
        (Some((width, height)), Some(info)) => Ok([height, width, info.components.into()]),
        _ => Err(bad(&"it has no size")),
    }
}

/// A PNG for each image in the last three axes.
fn encoded(
    images: &HostTensor,
    compression: DeflateCompression,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let op = "EncodePng";
    let &[ref batch @ .., height, width, channels] = images.shape().dims() else {
        return Err(wrong(op, format_args!("images of shape {}, expected rank 3 or more", images.shape())));
    };
    let color = match channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        4 => ColorType::Rgba,
        _ => return Err(wrong(op, format_args!("image must have 1, 2, 3, or 4 channels, got {channels}"))),
    };
    let depth = match images.dtype() {
        DType::UI8 => BitDepth::Eight,
        DType::UI16 => BitDepth::Sixteen,
        dtype => return Err(refused(TensorError::Unsupported { op, dtype })),
    };
    let bad = |error: png::EncodingError| wrong(op, error);
    let batch = Shape::new(batch).map_err(refused)?;
    let (Ok(columns), Ok(rows)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(refused(TensorError::TooLarge));
    };
    let len = pixels(op, width, height)? * channels * images.dtype().size();
    let mut made = TextBuilder::new(batch.num_elements(), allocator)?;
    let samples = images.read_bytes().map_err(refused)?;
    for image in samples.chunks_exact(len) {
        if is_interrupted() {
            return Err(refused(TensorError::Interrupted));
        }
        // Nothing compressed is much longer than what it was.
        expect_room(len, 3, allocator)?;
        let words = image.chunks_exact(2).flat_map(|word| [word[1], word[0]]);
        let image = match depth {
            BitDepth::Sixteen => collected(words),
            _ => befrost_tensor::scratch::copied(image),
        };
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, columns, rows);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.set_deflate_compression(compression);
        let mut writer = encoder.write_header().map_err(bad)?;
        writer.write_image_data(&image.map_err(refused)?).map_err(bad)?;
        writer.finish().map_err(bad)?;
        made.append(&file)?;
        made.end()?;
    }
    made.finish(&batch)
}
