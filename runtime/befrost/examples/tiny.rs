//! A small program: the digits network is in it, and of the kernels only those that it needs.
//!
//! `cargo build --profile small -p befrost --example tiny --no-default-features`
//!
//! `ir-translate --print-kernels` told the kernels.

use befrost::{HostTensor, Runtime};

/// `ir-translate testdata/digits/digits_mlp.pb -o runtime/befrost/examples/digits_mlp.bef`, which a test
/// keeps current.
static MODEL: &[u8] = befrost::include_bef!("digits_mlp.bef");

/// A handwritten digit, with 16 shades.
const IMAGE: [&str; 8] =
    ["001efff1", "00be8db0", "00f60e30", "00515d10", "000dff90", "002ff910", "000b9000", "003f2000"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shade = |digit: char| digit.to_digit(16).map(|shade| shade as f32 / 16.0);
    let pixels: Vec<f32> = IMAGE.iter().flat_map(|row| row.chars()).filter_map(shade).collect();
    let kernels = befrost::kernels!("tf.Const tf._PackedMatMul");
    let program = Runtime::with_kernels(kernels).work_queue("s").build()?.load_static(MODEL)?;
    let results = program.function("main")?.call_ok([HostTensor::from_vec([1, 64], pixels)?.into()])?;
    let logits: Vec<f32> = results[0].tensor()?.to_vec()?;
    let best = logits.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    println!("It is a {}.", best.map_or(0, |(digit, _)| digit));
    Ok(())
}
