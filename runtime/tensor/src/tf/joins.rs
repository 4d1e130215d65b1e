//! Concatenation and splitting along an axis, as bytes for every dtype.
//!
//! Along an axis, the joined tensor consists of rows of slabs. There is a row for each index of the axes
//! before it, and a row has a slab for each part. [`copy_slabs`] copies the slabs of one part in either
//! direction.

use std::sync::Arc;

use super::fast::Cx;
use super::shapes::{expand_dims, squeeze};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, try_collected, with_room};
use crate::{HostTensor, Shape, TensorError, resolve_axis};

/// Copies `len` bytes of every row. Either side is `(bytes, offset in a row, length of a row)`.
fn copy_slabs(
    (from, from_start, from_row): (&[u8], usize, usize),
    (to, to_start, to_row): (&mut [u8], usize, usize),
    len: usize,
) {
    if len > 0 {
        for (from, to) in from.chunks_exact(from_row).zip(to.chunks_exact_mut(to_row)) {
            to[to_start..to_start + len].copy_from_slice(&from[from_start..from_start + len]);
        }
    }
}

/// `ConcatV2`: the tensors joined along an axis. All other dimensions are equal.
pub fn concat(
    inputs: &[&HostTensor],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    concat_on(inputs, axis, &Cx::serial(allocator))
}

/// [`concat`] on several threads.
pub fn concat_on(inputs: &[&HostTensor], axis: i64, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let Some(&first) = inputs.first() else { return invalid("ConcatV2", "no operands".to_owned()) };
    let at = resolve_axis(first.shape(), axis)?;
    let mut dims = first.shape().dims().to_vec();
    dims[at] = 0;
    for x in inputs {
        x.expect_dtype("values", first.dtype())?;
        let same = x.shape().rank() == dims.len()
            && x.shape().dims().iter().zip(&dims).enumerate().all(|(i, (a, b))| i == at || a == b);
        if !same {
            let problem = format!("shapes {} and {} differ beyond axis {at}", first.shape(), x.shape());
            return invalid("ConcatV2", problem);
        }
        dims[at] = dims[at].checked_add(x.shape().dims()[at]).ok_or(TensorError::TooLarge)?;
    }
    let out = HostTensor::allocate(first.dtype(), Shape::new(&dims)?, cx.allocator)?;
    if out.num_elements() > 0 {
        let slab = |dims: &[usize]| dims[at..].iter().product::<usize>() * first.dtype().size();
        let guards = try_collected(inputs.iter().map(|x| x.read_bytes()))?;
        let slabs = inputs.iter().map(|x| slab(x.shape().dims()));
        let froms: Vec<(&[u8], usize)> = collected(guards.iter().map(|from| &**from).zip(slabs))?;
        let row = slab(&dims);
        cx.parts(&mut out.write_bytes()?, (row, 1), &|first, to| {
            let mut start = 0;
            for (from, len) in &froms {
                copy_slabs((&from[first / row * len..], 0, *len), (to, start, row), *len);
                start += len;
            }
        });
    }
    Ok(out)
}

/// `Pack`: tensors of one shape along a new axis, in `-rank - 1..=rank`.
pub fn pack(
    inputs: &[&HostTensor],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    pack_on(inputs, axis, &Cx::serial(allocator))
}

/// [`pack`] on several threads.
pub fn pack_on(inputs: &[&HostTensor], axis: i64, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let Some(&first) = inputs.first() else { return invalid("Pack", "no operands".to_owned()) };
    let mut expanded = with_room(inputs.len())?;
    for x in inputs {
        x.expect_shape("values", first.shape())?;
        expanded.push(expand_dims(x, axis)?);
    }
    // A negative axis counts from the end of the new shape, whose rank is larger by 1.
    let axis = if axis < 0 { axis + first.shape().rank() as i64 + 1 } else { axis };
    concat_on(&collected(&expanded)?, axis, cx)
}

/// The largest number of parts of an empty tensor. The tensor's bytes do not bound it.
pub(super) const MAX_EMPTY: usize = 1 << 20;

/// `Unpack`: the slices along an axis, each without it.
pub fn unpack(
    x: &HostTensor,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let n = x.shape().dims()[at];
    if n > x.num_elements().max(MAX_EMPTY) {
        return invalid("Unpack", format!("{n} empty slices of shape {}", x.shape()));
    }
    let parts = split_v(x, &filled(n, 1)?, axis, allocator)?;
    try_collected(parts.iter().map(|part| squeeze(part, &[at as i64])))
}

/// `Split` into `n` equal parts along an axis.
pub fn split(
    x: &HostTensor,
    n: usize,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let len = x.shape().dims()[at];
    if n == 0 || !len.is_multiple_of(n) || n > x.num_elements().max(MAX_EMPTY) {
        return invalid(
            "Split",
            format!("axis {at} of shape {} cannot be split into {n} equal parts", x.shape()),
        );
    }
    split_v(x, &filled(n, (len / n) as i64)?, axis, allocator)
}

/// `SplitV` into parts of these lengths along an axis; one length may be -1 and takes the rest.
pub fn split_v(
    x: &HostTensor,
    sizes: &[i64],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let len = x.shape().dims()[at];
    let known = sizes
        .iter()
        .filter(|&&s| s != -1)
        .try_fold(0i64, |sum, &s| if s < 0 { None } else { sum.checked_add(s) });
    let free = sizes.iter().filter(|&&s| s == -1).count();
    let rest = known.and_then(|known| usize::try_from(known).ok()).and_then(|known| len.checked_sub(known));
    let rest = match rest {
        Some(rest) if free == 1 || (free == 0 && rest == 0) => rest,
        _ => {
            return invalid(
                "SplitV",
                format!("axis {at} of shape {} cannot be split into these {} sizes", x.shape(), sizes.len()),
            );
        }
    };
    // At most the bytes of the tensor. For an empty tensor the product of the dimensions may overflow.
    let row: usize = match x.num_elements() {
        0 => 0,
        _ => x.shape().dims()[at + 1..].iter().product::<usize>() * x.dtype().size(),
    };
    let mut dims = x.shape().dims().to_vec();
    let from = x.read_bytes()?;
    let mut start = 0;
    let mut parts = with_room(sizes.len())?;
    for &size in sizes {
        dims[at] = if size == -1 { rest } else { size as usize }; // not negative: summed above
        let part = HostTensor::allocate(x.dtype(), Shape::new(&dims)?, allocator)?;
        if part.num_elements() > 0 {
            let slab = dims[at] * row; // at most the bytes of the part
            copy_slabs((&from, start, len * row), (&mut part.write_bytes()?, 0, slab), slab);
            start += slab;
        }
        parts.push(part);
    }
    Ok(parts)
}
