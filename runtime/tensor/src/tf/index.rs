//! Gathering and scattering by index tensors, and operators whose results are indices.
//!
//! Indices are i32 or i64 and checked before anything is written. An index out of range is an error, as on
//! TensorFlow's CPU.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::binary::{Binary, BinaryTable};
use super::movement::{broadcast_to, transpose};
use super::numeric::{Domain, Number};
use super::unary::cast;
use super::walk::strides;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::{expect_not_interrupted, is_interrupted};
use crate::mem::Allocator;
use crate::scratch::{collected, copied, filled, no_room, push, try_collected, with_room};
use crate::{DType, HostTensor, I1, Shape, TensorError, resolve_axis};

/// The elements of an index tensor.
pub(super) fn indices_of(op: &'static str, indices: &HostTensor) -> Result<Vec<i64>, TensorError> {
    match indices.dtype() {
        DType::UI8 => collected(indices.read_as::<u8>("indices")?.iter().map(|&i| i64::from(i))),
        DType::I8 => collected(indices.read_as::<i8>("indices")?.iter().map(|&i| i64::from(i))),
        DType::I16 => collected(indices.read_as::<i16>("indices")?.iter().map(|&i| i64::from(i))),
        DType::I32 => collected(indices.read_as::<i32>("indices")?.iter().map(|&i| i64::from(i))),
        DType::I64 => copied(&indices.read_as::<i64>("indices")?),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// The elements of an index tensor as positions on an axis of length `limit`.
pub(super) fn positions(
    op: &'static str,
    indices: &HostTensor,
    limit: usize,
    shape: &Shape,
) -> Result<Vec<usize>, TensorError> {
    let found = indices_of(op, indices)?;
    try_collected(found.iter().enumerate().map(|(at, &i)| match usize::try_from(i) {
        Ok(position) if position < limit => Ok(position),
        _ => {
            let at = indices.shape().index_of(at);
            invalid(op, format!("indices{at:?} = {i} is not in [0, {limit}) of shape {shape}"))
        }
    }))
}

/// The slices of `shape` that rows of indices select: their offsets in elements, and the shape of a slice.
/// With `from_end`, negative indices count from the end.
fn slices(
    op: &'static str,
    indices: &HostTensor,
    shape: &Shape,
    from_end: bool,
) -> Result<(Vec<usize>, Shape), TensorError> {
    let depth = indices.shape().dims().last().copied().unwrap_or(0);
    if depth == 0 || depth > shape.rank() {
        return invalid(op, format!("indices of shape {} do not fit shape {shape}", indices.shape()));
    }
    let (indexed, rest) = shape.dims().split_at(depth);
    let slice = Shape::new(rest)?;
    let strides = strides(shape);
    let found = indices_of(op, indices)?;
    let mut offsets = with_room(found.len() / depth)?;
    for row in found.chunks_exact(depth) {
        let mut offset = 0;
        for ((&i, &dim), &stride) in row.iter().zip(indexed).zip(&strides) {
            let from_start = if from_end && i < 0 { i.saturating_add(dim as i64) } else { i };
            match usize::try_from(from_start) {
                Ok(i) if i < dim => offset += i * stride,
                _ => return invalid(op, format!("indices {row:?} are out of range of shape {shape}")),
            }
        }
        offsets.push(offset);
    }
    Ok((offsets, slice))
}

/// `GatherV2`: slices of `x` along an axis; the axis is replaced by the axes of the indices (i32 or i64). The
/// first `batch_dims` axes of both have equal lengths and are iterated together; a negative `batch_dims`
/// counts from the rank of the indices. Fails if `axis` is one of these axes.
pub fn gather(
    x: &HostTensor,
    indices: &HostTensor,
    axis: i64,
    batch_dims: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "GatherV2";
    let at = resolve_axis(x.shape(), axis)?;
    let (dims, rows) = (x.shape().dims(), indices.shape().dims());
    let n_batch = if batch_dims < 0 { batch_dims.saturating_add(rows.len() as i64) } else { batch_dims };
    let n_batch =
        usize::try_from(n_batch).ok().filter(|&n| n <= at && n <= rows.len() && dims[..n] == rows[..n]);
    let Some(n_batch) = n_batch else {
        let problem = format!(
            "{batch_dims} batch dimensions do not fit axis {at} of shape {} and indices of shape {}",
            x.shape(),
            indices.shape()
        );
        return invalid(op, problem);
    };
    let positions = positions(op, indices, dims[at], x.shape())?;
    let shape = Shape::new(&[&dims[..at], &rows[n_batch..], &dims[at + 1..]].concat())?;
    let out = HostTensor::allocate(x.dtype(), shape, allocator)?;
    if out.num_elements() > 0 {
        let slab = dims[at + 1..].iter().product::<usize>() * x.dtype().size();
        let outer: usize = dims[n_batch..at].iter().product();
        let per_batch: usize = rows[n_batch..].iter().product();
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        // The rows are of the axes before the gathered one.
        for (row, to) in to.chunks_exact_mut(per_batch * slab).enumerate() {
            let positions = &positions[row / outer * per_batch..][..per_batch];
            let from = &from[row * dims[at] * slab..][..dims[at] * slab];
            match slab {
                1 => pick::<1>(from, positions, to),
                2 => pick::<2>(from, positions, to),
                4 => pick::<4>(from, positions, to),
                8 => pick::<8>(from, positions, to),
                _ => to.chunks_exact_mut(slab).zip(positions).for_each(|(to, position)| {
                    to.copy_from_slice(&from[position * slab..][..slab]);
                }),
            }
        }
    }
    Ok(out)
}

/// The elements of `N` bytes at these positions.
fn pick<const N: usize>(from: &[u8], positions: &[usize], to: &mut [u8]) {
    let from = from.as_chunks::<N>().0;
    to.as_chunks_mut::<N>().0.iter_mut().zip(positions).for_each(|(to, &position)| *to = from[position]);
}

/// `GatherNd`: the elements or slices of `x` that the rows along the last axis of the indices select.
pub fn gather_nd(
    x: &HostTensor,
    indices: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if let Some((0, outer)) = indices.shape().dims().split_last() {
        // Empty rows of indices select the whole tensor.
        return broadcast_to(x, &Shape::new(&[outer, x.shape().dims()].concat())?, allocator);
    }
    let (offsets, slice) = slices("GatherNd", indices, x.shape(), false)?;
    let outer = &indices.shape().dims()[..indices.shape().rank() - 1];
    let out = HostTensor::allocate(x.dtype(), Shape::new(&[outer, slice.dims()].concat())?, allocator)?;
    if out.num_elements() > 0 {
        let len = slice.num_elements() * x.dtype().size(); // at most the bytes of the result
        let from = x.read_bytes()?;
        for (to, offset) in out.write_bytes()?.chunks_exact_mut(len).zip(offsets) {
            let start = offset * x.dtype().size();
            to.copy_from_slice(&from[start..start + len]);
        }
    }
    Ok(out)
}

/// The combination of an update with the current element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// Replaces it; the last of several updates is kept.
    Update,
    /// Adds to it.
    Add,
    /// Subtracts from it.
    Sub,
    /// Multiplies it; several updates are applied in order.
    Mul,
    /// Divides it.
    Div,
    /// Keeps the smaller.
    Min,
    /// Keeps the larger.
    Max,
}

/// `ScatterNd`: zeros of the shape, with the updates added at the indices.
pub fn scatter_nd(
    indices: &HostTensor,
    updates: &HostTensor,
    shape: &Shape,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::zeros(updates.dtype(), shape.clone(), allocator)?;
    scatter_into("ScatterNd", Scatter::Add, &out, (indices, false), updates)?;
    Ok(out)
}

/// `TensorScatterUpdate`, `TensorScatterAdd` ...: a copy of `x` with the updates at the indices.
pub fn tensor_scatter(
    mode: Scatter,
    x: &HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let mut out = x.clone();
    scatter_update(mode, &mut out, indices, updates, allocator)?;
    Ok(out)
}

/// `ScatterNdUpdate`, `ScatterNdAdd` ...: [`tensor_scatter`] in place of `x`. An error leaves the elements of
/// `x` unchanged.
pub fn scatter_update(
    mode: Scatter,
    x: &mut HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    updates.expect_dtype("updates", x.dtype())?;
    x.make_unique(allocator)?;
    scatter_into("TensorScatter", mode, x, (indices, false), updates)
}

/// `_ScatterNdReduce`, ONNX's `ScatterND`: [`tensor_scatter`] where negative indices count from the end.
pub fn scatter_nd_reduce(
    mode: Scatter,
    mut x: HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "_ScatterNdReduce";
    let mode = is_ordered(op, mode, x.dtype())?;
    updates.expect_dtype("updates", x.dtype())?;
    x.make_unique(allocator)?;
    scatter_into(op, mode, &x, (indices, true), updates)?;
    Ok(x)
}

/// The mode for a dtype. `Min` and `Max` of complex numbers are errors. Of booleans they are `and` and `or`:
/// `Mul` and `Add`.
pub(super) fn is_ordered(op: &'static str, mode: Scatter, dtype: DType) -> Result<Scatter, TensorError> {
    match (mode, dtype) {
        (Scatter::Min | Scatter::Max, DType::Complex64 | DType::Complex128) => {
            Err(TensorError::Unsupported { op, dtype })
        }
        (Scatter::Min, DType::I1) => Ok(Scatter::Mul),
        (Scatter::Max, DType::I1) => Ok(Scatter::Add),
        _ => Ok(mode),
    }
}

/// Combines the updates with the slices of `out` at the indices. An error leaves `out` unchanged.
fn scatter_into(
    op: &'static str,
    mode: Scatter,
    out: &HostTensor,
    (indices, from_end): (&HostTensor, bool),
    updates: &HostTensor,
) -> Result<(), TensorError> {
    let (offsets, slice) = slices(op, indices, out.shape(), from_end)?;
    let outer = &indices.shape().dims()[..indices.shape().rank() - 1];
    updates.expect_shape("updates", &Shape::new(&[outer, slice.dims()].concat())?)?;
    let len = slice.num_elements();
    if len == 0 {
        return Ok(());
    }
    with_element!(out.dtype(), T => {
        let (from, mut to) = (updates.read_as::<T>("updates")?, out.write::<T>()?);
        if mode == Scatter::Div && from.iter().any(|x| <T as Number>::Wide::refuses(Binary::Div, x.widen())) {
            return invalid(op, format!("an integer divided by zero, updates of shape {}", updates.shape()));
        }
        for (from, offset) in from.chunks_exact(len).zip(offsets) {
            for (to, &from) in to[offset..offset + len].iter_mut().zip(from) {
                *to = combine(mode, *to, from);
            }
        }
    });
    Ok(())
}

/// The element after an update.
pub(super) fn combine<T: Number>(mode: Scatter, old: T, new: T) -> T {
    use std::cmp::Ordering::{Greater, Less};
    let (a, b) = (old.widen(), new.widen());
    match mode {
        Scatter::Update => new,
        Scatter::Add => T::narrow(a.plus(b)),
        Scatter::Sub => T::narrow(a.plus(b.negated())),
        Scatter::Mul => T::narrow(a.times(b)),
        // Zero divisors of integers were refused before.
        Scatter::Div => <T::Wide as BinaryTable>::binary(Binary::Div).map_or(old, |div| T::narrow(div(a, b))),
        Scatter::Min => {
            if b.is_nan() || b.order(a) == Some(Less) {
                new
            } else {
                old
            }
        }
        Scatter::Max => {
            if b.is_nan() || b.order(a) == Some(Greater) {
                new
            } else {
                old
            }
        }
    }
}

/// `OneHot`: a new axis of length `depth`, `on` at the index and `off` elsewhere; all `off` if the index is
/// out of range. `on` and `off` are scalars of one dtype.
pub fn one_hot(
    indices: &HostTensor,
    depth: usize,
    on: &HostTensor,
    off: &HostTensor,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    on.expect_shape("on_value", &Shape::scalar())?;
    off.expect_shape("off_value", &Shape::scalar())?;
    off.expect_dtype("off_value", on.dtype())?;
    let rank = indices.shape().rank();
    let at = if axis == -1 { Some(rank) } else { usize::try_from(axis).ok().filter(|&at| at <= rank) };
    let Some(at) = at else { return Err(TensorError::Axis { axis, shape: indices.shape().clone() }) };
    let found = indices_of("OneHot", indices)?;
    let (before, after) = indices.shape().dims().split_at(at);
    let shape = Shape::new(&[before, &[depth], after].concat())?;
    let out = HostTensor::splat(on.dtype(), shape, &off.read_bytes()?, allocator)?;
    let (inner, size) = (after.iter().product::<usize>(), on.dtype().size());
    if out.num_elements() > 0 {
        let (on, mut bytes) = (on.read_bytes()?, out.write_bytes()?);
        for (i, &index) in found.iter().enumerate() {
            let Some(index) = usize::try_from(index).ok().filter(|&index| index < depth) else { continue };
            let at = ((i / inner * depth + index) * inner + i % inner) * size;
            bytes[at..at + size].copy_from_slice(&on);
        }
    }
    Ok(out)
}

/// `Where`: the indices of the true (or non-zero) elements in row-major order, one row each, i64.
pub fn where_true(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let truth = cast(x, DType::I1, allocator)?;
    let truth = truth.read::<I1>()?;
    let rank = x.shape().rank();
    let count = truth.iter().filter(|t| t.is_true()).count();
    let out = HostTensor::allocate(DType::I64, Shape::new(&[count, rank])?, allocator)?;
    if rank > 0 {
        let found = truth.iter().enumerate().filter(|(_, t)| t.is_true());
        for (row, (position, _)) in out.write::<i64>()?.chunks_exact_mut(rank).zip(found) {
            expect_not_interrupted()?;
            for (to, i) in row.iter_mut().zip(x.shape().index_of(position)) {
                *to = i as i64;
            }
        }
    }
    Ok(out)
}

/// `Unique`, `UniqueV2`, `UniqueWithCounts`: the distinct slices along an axis in order of appearance
/// (elements of a vector, without an axis), the position of each slice among them, and the number of
/// occurrences of each. Positions and counts are i32 or i64. Slices are compared by bytes, except that zeros
/// are equal; slices with a NaN are distinct.
pub fn unique(
    x: &HostTensor,
    axis: Option<i64>,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "UniqueWithCounts";
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op, dtype: to });
    }
    let at = match axis {
        Some(axis) => resolve_axis(x.shape(), axis)?,
        None if x.shape().rank() == 1 => 0,
        None => return Err(TensorError::Rank { what: "x", want: 1, got: x.shape().clone() }),
    };
    let rank = x.shape().rank() as i64;
    let first: Vec<i64> = std::iter::once(at as i64).chain((0..rank).filter(|&i| i != at as i64)).collect();
    let transposed = if at == 0 { x.clone() } else { transpose(x, &first, allocator)? };
    let (n, rest) = (transposed.shape().dims()[0], &transposed.shape().dims()[1..]);
    if to == DType::I32 && i32::try_from(n).is_err() {
        return Err(TensorError::IndexRange { n });
    }
    let element = x.dtype().size();
    // Without elements the other dimensions are not bounded.
    let len = if x.num_elements() == 0 { 0 } else { rest.iter().product::<usize>() * element };
    let places = HostTensor::allocate(DType::I64, Shape::new(&[n])?, allocator)?;
    let key_of = with_element!(x.dtype(), T => key_of::<T> as fn(&[u8]) -> Key);
    let from = transposed.read_bytes()?;
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new(); // looked up only
    let (mut distinct, mut counts): (Vec<usize>, Vec<i64>) = (Vec::new(), Vec::new());
    for (i, place) in places.write::<i64>()?.iter_mut().enumerate() {
        expect_not_interrupted()?;
        let next = counts.len();
        let mut slice_key = with_room(len)?;
        let mut is_number = true;
        for value in from[i * len..(i + 1) * len].chunks_exact(element) {
            let key = key_of(value);
            is_number &= !key.is_nan;
            slice_key.extend_from_slice(&key.bytes[..element]);
        }
        let at = if is_number {
            seen.try_reserve(1).map_err(|_| no_room::<(Vec<u8>, usize)>(next))?;
            *seen.entry(slice_key).or_insert(next)
        } else {
            next
        };
        if at == next {
            push(&mut distinct, i)?;
            push(&mut counts, 0)?;
        }
        counts[at] += 1;
        *place = at as i64;
    }
    let shape = Shape::new(&[&[counts.len()], rest].concat())?;
    let values = slices_at(x.dtype(), shape, (&from, len), &distinct, allocator)?;
    let back: Vec<i64> = (1..=at as i64).chain([0]).chain(at as i64 + 1..rank).collect();
    let values = if at == 0 { values } else { transpose(&values, &back, allocator)? };
    let counts = HostTensor::from_slice(Shape::new(&[counts.len()])?, &counts, allocator)?;
    Ok([values, cast(&places, to, allocator)?, cast(&counts, to, allocator)?])
}

/// `UnravelIndex`: for each size the index along its axis of the elements at these positions. A negative
/// position gives the remainders of its division, as in TensorFlow.
pub fn unravel_index(
    indices: &HostTensor,
    dims: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "UnravelIndex";
    dims.expect_dtype("dims", indices.dtype())?;
    let most = if indices.dtype() == DType::I32 { i64::from(i32::MAX) } else { i64::MAX };
    if indices.shape().rank() > 1 || dims.shape().rank() != 1 {
        let (indices, dims) = (indices.shape(), dims.shape());
        return invalid(op, format!("indices of shape {indices} and dims of shape {dims}"));
    }
    let (given, sizes) = (indices_of(op, indices)?, indices_of(op, dims)?);
    if given.is_empty() {
        return invalid(op, "there are no indices".to_owned());
    }
    if let Some(size) = sizes.iter().find(|&&size| size < 1) {
        return invalid(op, format!("dims have a size of {size}"));
    }
    // The number of elements behind each axis, and with it.
    let mut strides = filled(sizes.len(), (1i64, 1i64))?;
    let mut all = 1i64;
    for (stride, &size) in strides.iter_mut().zip(&sizes).rev() {
        let inner = all;
        all = inner.checked_mul(size).filter(|&all| all <= most).ok_or(TensorError::TooLarge)?;
        *stride = (inner, all);
    }
    if let Some(index) = given.iter().find(|&&index| index >= all) {
        return invalid(op, format!("index {index} is out of bounds for {all} elements"));
    }
    let shape = Shape::new(&[&[sizes.len()], indices.shape().dims()].concat())?;
    let out = HostTensor::allocate(DType::I64, shape, allocator)?;
    for (to, (inner, all)) in out.write::<i64>()?.chunks_exact_mut(given.len()).zip(strides) {
        to.iter_mut().zip(&given).for_each(|(to, &index)| *to = index % all / inner);
    }
    cast(&out, indices.dtype(), allocator)
}

/// The key by which elements of a dtype are compared: the bytes of the element, with -0 replaced by 0.
struct Key {
    /// The bytes of the element, then zeros.
    bytes: [u8; 16],
    is_nan: bool,
}

/// The key of an element, given as its bytes.
fn key_of<T: Number>(element: &[u8]) -> Key {
    let wide = bytemuck::pod_read_unaligned::<T>(element).widen();
    let mut bytes = [0; 16];
    // Adding zero removes the sign of zero.
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&T::narrow(wide.plus(Domain::ZERO))));
    Key { bytes, is_nan: wide.is_nan() }
}

/// A tensor of slices of `from`, which consists of slices of `len` bytes; `places` are their numbers.
pub(crate) fn slices_at(
    dtype: DType,
    shape: Shape,
    (from, len): (&[u8], usize),
    places: &[usize],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(dtype, shape, allocator)?;
    if len > 0 {
        for (to, &at) in out.write_bytes()?.chunks_exact_mut(len).zip(places) {
            to.copy_from_slice(&from[at * len..][..len]);
        }
    }
    Ok(out)
}

/// `ListDiff`: the elements of the vector `x` that are not in the vector `y`, in order, and their positions
/// as i32 or i64. Elements are compared by bytes, except that zeros are equal.
pub fn list_diff(
    x: &HostTensor,
    y: &HostTensor,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    y.expect_dtype("y", x.dtype())?;
    for (what, vector) in [("x", x), ("y", y)] {
        if vector.shape().rank() != 1 {
            return Err(TensorError::Rank { what, want: 1, got: vector.shape().clone() });
        }
    }
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op: "ListDiff", dtype: to });
    }
    if to == DType::I32 && i32::try_from(x.num_elements()).is_err() {
        return Err(TensorError::IndexRange { n: x.num_elements() });
    }
    let key_of = with_element!(x.dtype(), T => key_of::<T> as fn(&[u8]) -> Key);
    let size = x.dtype().size();
    let mut unwanted: HashSet<[u8; 16]> = HashSet::new(); // looked up only
    unwanted.try_reserve(y.num_elements()).map_err(|_| no_room::<[u8; 16]>(y.num_elements()))?;
    // NaN equals nothing.
    let keys = y.read_bytes()?;
    let keys = keys.chunks_exact(size).map(key_of).filter(|key| !key.is_nan);
    unwanted.extend(keys.map(|key| key.bytes).take_while(|_| !is_interrupted()));
    let from = x.read_bytes()?;
    let values = from.chunks_exact(size).enumerate().take_while(|_| !is_interrupted());
    let kept = values.filter(|(_, value)| !unwanted.contains(&key_of(value).bytes)).map(|(i, _)| i);
    let places = collected(kept)?;
    let shape = Shape::new(&[places.len()])?;
    let values = slices_at(x.dtype(), shape.clone(), (&from, size), &places, allocator)?;
    let places = collected(places.iter().map(|&i| i as i64))?;
    let places = HostTensor::from_slice(shape, &places, allocator)?;
    Ok([values, cast(&places, to, allocator)?])
}
