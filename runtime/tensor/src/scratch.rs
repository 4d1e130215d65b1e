//! Vectors for intermediate results, whose allocation may fail.
//!
//! Memory whose size depends on data is allocated by these functions, or belongs to a tensor. If the system
//! refuses memory, they return [`TensorError::Alloc`], whereas the functions of the standard library end the
//! process.

use crate::TensorError;
use crate::mem::AllocError;

/// The error for a refused allocation of `len` elements.
pub fn no_room<T>(len: usize) -> TensorError {
    TensorError::Alloc(AllocError::OutOfMemory { size: len.saturating_mul(size_of::<T>()) })
}

/// Reserves room for exactly `more` elements.
pub fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), TensorError> {
    vec.try_reserve_exact(more).map_err(|_| no_room::<T>(vec.len().saturating_add(more)))
}

/// An empty vector with room for `len` elements.
pub fn with_room<T>(len: usize) -> Result<Vec<T>, TensorError> {
    let mut vec = Vec::new();
    reserve(&mut vec, len)?;
    Ok(vec)
}

/// A vector of `len` equal elements.
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>, TensorError> {
    let mut vec = with_room(len)?;
    vec.resize(len, value);
    Ok(vec)
}

/// Appends an element. The capacity grows by doubling.
pub fn push<T>(vec: &mut Vec<T>, value: T) -> Result<(), TensorError> {
    if vec.len() == vec.capacity() {
        vec.try_reserve(1).map_err(|_| no_room::<T>(vec.len().saturating_mul(2)))?;
    }
    vec.push(value);
    Ok(())
}

/// Extends the vector to at least `len` elements, with the results of `value`.
pub fn grow<T>(vec: &mut Vec<T>, len: usize, value: impl FnMut() -> T) -> Result<(), TensorError> {
    if len > vec.len() {
        reserve(vec, len - vec.len())?;
        vec.resize_with(len, value);
    }
    Ok(())
}

/// The elements of a slice.
pub fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>, TensorError> {
    let mut vec = with_room(items.len())?;
    vec.extend_from_slice(items);
    Ok(vec)
}

/// The elements of an iterator.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>, TensorError> {
    let mut items = items.into_iter();
    let least = items.size_hint().0;
    let mut vec = with_room(least)?;
    vec.extend(items.by_ref().take(least));
    items.try_for_each(|item| push(&mut vec, item))?;
    Ok(vec)
}

/// The elements of an iterator, or its first error.
pub fn try_collected<T>(
    items: impl IntoIterator<Item = Result<T, TensorError>>,
) -> Result<Vec<T>, TensorError> {
    let mut items = items.into_iter();
    let mut vec = with_room(items.size_hint().1.unwrap_or(0))?;
    items.try_for_each(|item| push(&mut vec, item?))?;
    Ok(vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_made_and_refused() {
        assert_eq!(filled(3, 7u8).unwrap(), [7, 7, 7]);
        assert_eq!(collected((0..9).filter(|i| i % 2 == 0)).unwrap(), [0, 2, 4, 6, 8]);
        assert_eq!(collected(0..4).unwrap(), [0, 1, 2, 3]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(try_collected((0..3).map(Ok)).unwrap(), [0, 1, 2]);
        assert_eq!(
            try_collected((0..3).map(|i| if i < 1 { Ok(i) } else { Err(TensorError::TooLarge) })),
            Err(TensorError::TooLarge)
        );
        let size = usize::MAX / 4 * 4;
        assert_eq!(filled(usize::MAX / 4, 0u32), Err(TensorError::Alloc(AllocError::OutOfMemory { size })));
        let mut vec = vec![1];
        grow(&mut vec, 3, || 0).unwrap();
        grow(&mut vec, 2, || 0).unwrap();
        assert_eq!(vec, [1, 0, 0]);
        assert!(grow(&mut vec, usize::MAX, || 0).is_err());
    }
}
