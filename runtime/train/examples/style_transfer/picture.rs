//! Pictures: PNG or npy in and out, as the numbers that VGG19 takes.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use befrost::mem::Malloc;
use befrost::{HostTensor, npy};

use crate::Failure;
use crate::vgg::MEAN;

/// Reads a picture of `size` times `size` pixels: the middle square of a PNG, or the numbers 0 to 255 of an
/// npy file of this size.
pub(crate) fn read(path: &Path, size: usize) -> Result<Vec<f32>, Failure> {
    let shown = path.display();
    let mut numbers = if path.extension().is_some_and(|end| end == "npy") {
        let array = npy::read_file(path, &Malloc::shared()).map_err(|error| format!("{shown}: {error}"))?;
        let numbers = array.to_vec::<f32>().map_err(|error| format!("{shown}: {error}"))?;
        if numbers.len() != size * size * 3 {
            return Err(format!("{shown}: {} numbers, expected {size}x{size}x3", numbers.len()).into());
        }
        numbers
    } else {
        png_numbers(path, size).map_err(|error| format!("{shown}: {error}"))?
    };
    numbers.iter_mut().zip(MEAN.iter().cycle()).for_each(|(number, mean)| *number -= mean);
    Ok(numbers)
}

fn png_numbers(path: &Path, size: usize) -> Result<Vec<f32>, Failure> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    let frame = reader.next_frame(&mut pixels)?;
    let (width, height, samples) = (frame.width as usize, frame.height as usize, frame.color_type.samples());
    let side = width.min(height);
    if side == 0 || size == 0 {
        return Err("it has no pixels".into());
    }
    let (left, top) = ((width - side) / 2, (height - side) / 2);
    // The mean of the pixels that a pixel covers, at least one.
    let cover = |i: usize| i * side / size..((i + 1) * side / size).max(i * side / size + 1);
    let mut numbers = Vec::with_capacity(size * size * 3);
    for y in 0..size {
        for x in 0..size {
            for channel in 0..3 {
                let channel = if samples < 3 { 0 } else { channel };
                let places = cover(y).flat_map(|y| cover(x).map(move |x| (top + y) * width + left + x));
                let values: Vec<f32> =
                    places.map(|place| f32::from(pixels[place * samples + channel])).collect();
                numbers.push(values.iter().sum::<f32>() / values.len() as f32);
            }
        }
    }
    Ok(numbers)
}

/// Writes a picture as PNG, or as npy.
pub(crate) fn write(path: &Path, size: usize, numbers: &[f32]) -> Result<(), Failure> {
    let colors: Vec<f32> =
        numbers.iter().zip(MEAN.iter().cycle()).map(|(number, mean)| number + mean).collect();
    if path.extension().is_some_and(|end| end == "npy") {
        let tensor = HostTensor::from_vec([size, size, 3], colors)?;
        return npy::write_file(path, &tensor).map_err(|error| format!("{}: {error}", path.display()).into());
    }
    let bytes: Vec<u8> = colors.iter().map(|color| color.round().clamp(0.0, 255.0) as u8).collect();
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), size as u32, size as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
