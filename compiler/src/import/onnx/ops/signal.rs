//! Signals: transforms, windows, filter banks.

use std::f64::consts::PI;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::{Lowered, one};
use crate::import::onnx::emit::{Attr, Size, Why, axis_of};
use crate::import::onnx::graph::Importer;
use crate::import::onnx::node::Node;
use crate::import::onnx::tensor::number_type;
use crate::ir::ValueId;

/// A complex tensor from the pairs, or the single numbers, of its last axis.
fn complex(g: &mut Importer<'_>, x: ValueId) -> Result<ValueId, Why> {
    let last = g.rank(x)?.checked_sub(1).ok_or("a scalar is no signal")?;
    let to = if g.dtype(x)? == DType::F64 { DType::Complex128 } else { DType::Complex64 };
    let (real, imaginary) = match g.dims(x)?[last] {
        1 => {
            let real = g.squeeze(x, &[last as i64])?;
            (real, g.one(Op::ZerosLike, &[real])?)
        }
        2 => {
            let parts = g.split(x, last, 2)?;
            (g.squeeze(parts[0], &[last as i64])?, g.squeeze(parts[1], &[last as i64])?)
        }
        n => return Err(format!("the last axis has {n} numbers, expected 1 or 2")),
    };
    g.to(Op::Complex, &[real, imaginary], &[], to)
}

/// The pairs of real and imaginary parts.
fn pairs(g: &mut Importer<'_>, x: ValueId) -> Result<ValueId, Why> {
    let to = if g.dtype(x)? == DType::Complex128 { DType::F64 } else { DType::F32 };
    let (real, imaginary) = (g.to(Op::Real, &[x], &[], to)?, g.to(Op::Imag, &[x], &[], to)?);
    let axis = g.rank(x)? as i64;
    g.op(Op::Pack, &[real, imaginary], &[("axis", Attr::Int(axis))])
}

/// The transform of the last axis, cut or filled up to a length.
fn transform(
    g: &mut Importer<'_>,
    x: ValueId,
    length: Option<i64>,
    inverse: bool,
    onesided: bool,
) -> Result<ValueId, Why> {
    let last = g.rank(x)?.checked_sub(1).ok_or("a scalar is no signal")?;
    let size = g.known_dims(x)?[last];
    let length = length.unwrap_or(size);
    let mut x = x;
    if length < size {
        x = g.slice(x, last, 0, Some(length))?;
    } else if length > size {
        let mut pads = vec![(0, 0); last + 1];
        pads[last].1 = length - size;
        let zero = g.scalar_like(0.0, x)?;
        x = g.pad(x, &pads, zero)?;
    }
    let y = g.one(if inverse { Op::IFFT } else { Op::FFT }, &[x])?;
    if onesided { g.slice(y, last, 0, Some(length / 2 + 1)) } else { Ok(y) }
}

pub(super) fn dft(g: &mut Importer<'_>, n: &Node<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    let axis = match n.optional(2) {
        Some(axis) => *g.known_ints(axis, "its axis")?.first().ok_or("its axis is empty")?,
        None => n.int_or("axis", if n.version < 20 { 1 } else { -2 }),
    };
    let axis = axis_of(axis, rank)?;
    if axis + 1 == rank {
        return Err("its axis is that of the parts of complex numbers".into());
    }
    let length = match n.optional(1) {
        Some(length) => Some(*g.known_ints(length, "its length")?.first().ok_or("its length is empty")?),
        None => None,
    };
    let signal = complex(g, x)?;
    let signal = g.move_axis(signal, axis, rank - 2)?;
    let y = transform(g, signal, length, n.flag("inverse", false), n.flag("onesided", false))?;
    let y = g.move_axis(y, rank - 2, axis)?;
    one(pairs(g, y))
}

pub(super) fn stft(g: &mut Importer<'_>, n: &Node<'_>) -> Lowered {
    let signal = n.input(0)?;
    let first = |g: &Importer<'_>, value: ValueId, name: &str| {
        g.known_ints(value, name)?.first().copied().filter(|&n| n > 0).ok_or_else(|| format!("{name} is not positive"))
    };
    let step = first(g, n.input(1)?, "its frame_step")?;
    let window = n.optional(2);
    let length = match (n.optional(3), window) {
        (Some(length), _) => first(g, length, "its frame_length")?,
        (None, Some(window)) => g.known_dims(window)?.first().copied().ok_or("its window is a scalar")?,
        (None, None) => return Err("it has no frame_length and no window".into()),
    };
    let signal = if g.rank(signal)? == 2 { g.expand(signal, 2)? } else { signal };
    let size = *g.known_dims(signal)?.get(1).ok_or("its signal has no axis of time")?;
    let n_frames = (size - length).div_euclid(step) + 1;
    if n_frames < 1 || length < 1 {
        return Err(format!("frames of {length} samples in a signal of {size}"));
    }
    let whole = complex(g, signal)?;
    // The positions of the samples of each frame.
    let (frames, samples) = (g.iota(Size::Known(n_frames))?, g.iota(Size::Known(length))?);
    let starts = g.times(frames, step as f64)?;
    let starts = g.expand(starts, 1)?;
    let at = g.add(starts, samples)?;
    let mut parts = g.gather(whole, at, 1)?;
    if let Some(window) = window {
        let window = g.cast_like(window, parts)?;
        parts = g.mul(parts, window)?;
    }
    let y = transform(g, parts, None, false, n.flag("onesided", true))?;
    one(pairs(g, y))
}

/// `HannWindow`, `HammingWindow` and `BlackmanWindow`: sums of cosines.
pub(super) fn window(g: &mut Importer<'_>, n: &Node<'_>) -> Lowered {
    let factors: &[f64] = match n.proto.op_type.as_str() {
        "HannWindow" => &[0.5, -0.5],
        "HammingWindow" => &[25.0 / 46.0, -21.0 / 46.0],
        _ => &[0.42, -0.5, 0.08],
    };
    let to = number_type(n.int_or("output_datatype", 1))?;
    let size = g.reshape_to(n.input(0)?, &[])?;
    let size = g.cast(size, DType::I64)?;
    let numbers = g.iota(Size::Value(size))?;
    let (numbers, mut count) = (g.cast(numbers, DType::F64)?, g.cast(size, DType::F64)?);
    if !n.flag("periodic", true) {
        count = g.plus(count, -1.0)?;
    }
    let turns = g.div(numbers, count)?;
    let mut sum = g.times(turns, 0.0)?;
    sum = g.plus(sum, factors[0])?;
    for (i, &factor) in factors.iter().enumerate().skip(1) {
        let angle = g.times(turns, 2.0 * PI * i as f64)?;
        let wave = g.one(Op::Cos, &[angle])?;
        let wave = g.times(wave, factor)?;
        sum = g.add(sum, wave)?;
    }
    one(g.cast(sum, to))
}

/// `MelWeightMatrix`: triangles of equal width on the mel scale.
pub(super) fn mel_weights(g: &mut Importer<'_>, n: &Node<'_>) -> Lowered {
    let number = |g: &mut Importer<'_>, input: usize| {
        let value = n.input(input)?;
        g.number_of(value).ok_or_else(|| "its inputs must be constant".to_owned())
    };
    let (bins, length, rate) = (number(g, 0)?, number(g, 1)?, number(g, 2)?);
    let (low, high) = (number(g, 3)?, number(g, 4)?);
    let (bins, rows) = (bins as usize, (length / 2.0).floor() as usize + 1);
    const MAX: usize = 1 << 24;
    if bins.checked_mul(rows).is_none_or(|n| n > MAX) || bins == 0 {
        return Err("a matrix of an impossible size".into());
    }
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(low), mel(high));
    let step = (high - low) / (bins as f64 + 2.0);
    let edges: Vec<i64> = (0..bins + 2)
        .map(|i| {
            let hertz = 700.0 * (10f64.powf((i as f64 * step + low) / 2595.0) - 1.0);
            ((length + 1.0) * hertz / rate).floor() as i64
        })
        .collect();
    let mut weights = vec![0f32; rows * bins];
    for i in 0..bins {
        let (from, centre, to) = (edges[i], edges[i + 1], edges[i + 2]);
        let mut set = |row: i64, weight: f64| {
            if let Ok(row) = usize::try_from(row)
                && row < rows
            {
                weights[row * bins + i] = weight as f32;
            }
        };
        if centre == from {
            set(centre, 1.0);
        }
        (from..=centre).filter(|_| centre > from).for_each(|row| {
            set(row, (row - from) as f64 / (centre - from) as f64);
        });
        (centre..to).filter(|_| to > centre).for_each(|row| set(row, (to - row) as f64 / (to - centre) as f64));
    }
    let to = number_type(n.int_or("output_datatype", 1))?;
    let weights = g.floats(&weights, &[rows as i64, bins as i64])?;
    one(g.cast(weights, to))
}
