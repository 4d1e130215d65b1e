//! Signals: transforms, windows, filter banks.

use std::f64::consts::PI;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::tensor::number_type;
use crate::ir::ValueId;

/// A complex tensor from a last axis of pairs, or of real numbers alone.
fn complex(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<ValueId, Why> {
    let last = g.rank(x)?.checked_sub(1).ok_or("a scalar is no signal")?;
    let to = if g.dtype(x)? == DType::F64 { DType::Complex128 } else { DType::Complex64 };
    let (real, imaginary) = match g.dims(x)?[last] {
        1 => {
            let real = g.squeeze(x, &[last as i64])?;
            (real, g.one(Op::ZerosLike, &[real])?)
        }
        // Without a second number, which is not known here, zeros are appended; more than two are an error.
        n if n == 2 || n < 0 => {
            let x = if n == 2 { x } else { filled_up(g, x, last)? };
            let parts = g.split(x, last, 2)?;
            (g.squeeze(parts[0], &[last as i64])?, g.squeeze(parts[1], &[last as i64])?)
        }
        n => return Err(format!("the last axis has {n} numbers, expected 1 or 2")),
    };
    g.to(Op::Complex, &[real, imaginary], &[], to)
}

/// A last axis of one or two numbers with zeros behind, so that there are two.
fn filled_up(g: &mut OnnxImporter<'_>, x: ValueId, last: usize) -> Result<ValueId, Why> {
    let (size, two) = (g.size(x, last)?, g.int(2)?);
    let size = g.size_value(size)?;
    let more = g.sub(two, size)?;
    let mut pads = vec![DimSize::Known(0); 2 * (last + 1)];
    pads[2 * last + 1] = DimSize::Value(more);
    let pads = g.size_vector(&pads)?;
    let pads = g.reshape_to(pads, &[last as i64 + 1, 2])?;
    g.one(Op::Pad, &[x, pads])
}

/// The pairs of real and imaginary parts.
fn pairs(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<ValueId, Why> {
    let to = if g.dtype(x)? == DType::Complex128 { DType::F64 } else { DType::F32 };
    let (real, imaginary) = (g.to(Op::Real, &[x], &[], to)?, g.to(Op::Imag, &[x], &[], to)?);
    let axis = g.rank(x)? as i64;
    g.op(Op::Pack, &[real, imaginary], &[("axis", AttrArg::Int(axis))])
}

/// The transform of the last axis, cut or filled up to a length.
fn transform(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    length: Option<DimSize>,
    inverse: bool,
    onesided: bool,
) -> Result<ValueId, Why> {
    let last = g.rank(x)?.checked_sub(1).ok_or("a scalar is no signal")?;
    let old = g.size(x, last)?;
    let mut x = x;
    if let Some(length) = length.filter(|&length| length != old) {
        // Zeros are appended, then the first elements taken.
        let (length_value, zero) = (g.size_value(length)?, g.int(0)?);
        let size = g.size_value(old)?;
        let more = g.sub(length_value, size)?;
        let more = g.one(Op::Maximum, &[more, zero])?;
        let mut pads = vec![DimSize::Known(0); 2 * (last + 1)];
        pads[2 * last + 1] = g.as_size(more);
        let pads = g.size_vector(&pads)?;
        let pads = g.reshape_to(pads, &[last as i64 + 1, 2])?;
        x = g.one(Op::Pad, &[x, pads])?;
        x = g.first(x, last, length)?;
    }
    let y = g.one(if inverse { Op::IFFT } else { Op::FFT }, &[x])?;
    if !onesided {
        return Ok(y);
    }
    let (size, two) = (g.size(x, last)?, g.int(2)?);
    let size = g.size_value(size)?;
    let half = g.one(Op::TruncateDiv, &[size, two])?;
    let half = g.plus(half, 1.0)?;
    let half = g.as_size(half);
    g.first(y, last, half)
}

pub(super) fn dft(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    let length = match n.optional(1) {
        Some(length) => {
            let length = g.reshape_to(length, &[])?;
            let length = g.cast(length, DType::I64)?;
            Some(g.as_size(length))
        }
        None => None,
    };
    let (inverse, onesided) = (n.flag("inverse", false), n.flag("onesided", false));
    let signal = complex(g, x)?;
    let default = if n.version < 20 { 1 } else { -2 };
    let known = match n.optional(2) {
        Some(axis) => g.ints_of(axis).and_then(|axis| axis.first().copied()),
        None => Some(n.int_or("axis", default)),
    };
    if let Some(axis) = known {
        let axis = axis_of(axis, rank)?;
        if axis + 1 == rank {
            return Err("its axis is that of the parts of complex numbers".into());
        }
        let signal = g.move_axis(signal, axis, rank - 2)?;
        let y = transform(g, signal, length, inverse, onesided)?;
        let y = g.move_axis(y, rank - 2, axis)?;
        return one(pairs(g, y));
    }
    // The program computes the axis: it is swapped with the last one.
    let axis = g.reshape_to(n.input(2)?, &[])?;
    let axis = g.cast(axis, DType::I64)?;
    let axis = g.wrapped(axis, DimSize::Known(rank as i64))?;
    let (axes, last) = (g.iota(DimSize::Known(rank as i64 - 1))?, g.int(rank as i64 - 2)?);
    let (is_axis, is_last) = (g.one(Op::Equal, &[axes, axis])?, g.one(Op::Equal, &[axes, last])?);
    let perm = g.one(Op::SelectV2, &[is_axis, last, axes])?;
    let perm = g.one(Op::SelectV2, &[is_last, axis, perm])?;
    let signal = g.one(Op::Transpose, &[signal, perm])?;
    let y = transform(g, signal, length, inverse, onesided)?;
    let y = g.one(Op::Transpose, &[y, perm])?;
    one(pairs(g, y))
}

pub(super) fn stft(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let signal = n.input(0)?;
    let scalar = |g: &mut OnnxImporter<'_>, value: ValueId| {
        let value = g.reshape_to(value, &[])?;
        g.cast(value, DType::I64)
    };
    let step = scalar(g, n.input(1)?)?;
    let window = n.optional(2);
    let length = match (n.optional(3), window) {
        (Some(length), _) => scalar(g, length)?,
        (None, Some(window)) => {
            let length = g.size(window, 0)?;
            g.size_value(length)?
        }
        (None, None) => return Err("it has no frame_length and no window".into()),
    };
    let signal = if g.rank(signal)? == 2 { g.expand(signal, 2)? } else { signal };
    let size = g.size(signal, 1)?;
    let size = g.size_value(size)?;
    let rest = g.sub(size, length)?;
    let n_frames = g.one(Op::FloorDiv, &[rest, step])?;
    let n_frames = g.plus(n_frames, 1.0)?;
    let whole = complex(g, signal)?;
    // The positions of the samples of each frame.
    let (n_frames, n_samples) = (g.as_size(n_frames), g.as_size(length));
    let (frames, samples) = (g.iota(n_frames)?, g.iota(n_samples)?);
    let starts = g.mul(frames, step)?;
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
pub(super) fn window(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let factors: &[f64] = match n.proto.op_type.as_str() {
        "HannWindow" => &[0.5, -0.5],
        "HammingWindow" => &[25.0 / 46.0, -21.0 / 46.0],
        _ => &[0.42, -0.5, 0.08],
    };
    let to = number_type(n.int_or("output_datatype", 1))?;
    let size = g.reshape_to(n.input(0)?, &[])?;
    let size = g.cast(size, DType::I64)?;
    let numbers = g.iota(DimSize::Value(size))?;
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
pub(super) fn mel_weights(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let number = |g: &mut OnnxImporter<'_>, input: usize| {
        let value = n.input(input)?;
        g.number_of(value).ok_or_else(|| "its inputs must be constant".to_owned())
    };
    let (bins, length, rate) = (number(g, 0)?, number(g, 1)?, number(g, 2)?);
    let (low, high) = (number(g, 3)?, number(g, 4)?);
    let (bins, rows) = (bins as usize, ((length / 2.0).floor() as usize).saturating_add(1));
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
        // Edges may be far outside of the rows.
        let difference = |a: i64, b: i64| a as f64 - b as f64;
        if centre > from {
            let up = |row| difference(row, from) / difference(centre, from);
            (from.max(0)..=centre.min(rows as i64 - 1)).for_each(|row| set(row, up(row)));
        }
        let down = |row| difference(to, row) / difference(to, centre);
        (centre.max(0)..to.min(rows as i64)).for_each(|row| set(row, down(row)));
    }
    let to = number_type(n.int_or("output_datatype", 1))?;
    let weights = g.floats(&weights, &[rows as i64, bins as i64])?;
    one(g.cast(weights, to))
}
