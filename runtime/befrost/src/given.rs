//! Memory of callers as tensors, without a copy.
//!
//! ```text
//! adopt   a Vec or any other owner ──▶ a tensor, which nobody writes to; the owner goes with the last handle
//! lend    a slice ──▶ a tensor for the time of a call; a read that comes later is an error
//! ```

use std::marker::PhantomData;
use std::sync::Arc;

use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::mem::Buffer;
use befrost_tensor::{Element, HostTensor, Shape, TensorError};

/// The elements of an owner, as bytes.
struct Adopted<T, O>(O, PhantomData<fn() -> T>);

impl<T: Element, O: AsRef<[T]>> AsRef<[u8]> for Adopted<T, O> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}

/// A tensor over the elements of a `Vec`, or of any other owner, which it keeps: nothing is copied. Nobody
/// writes to them, so an operator whose operand it is does not reuse them for its result either.
///
/// ```
/// let numbers = vec![1.0f32, 2.0, 3.0, 4.0];
/// let address = numbers.as_ptr().addr();
/// let tensor = befrost::adopt::<f32>([2, 2], numbers)?;
/// assert_eq!(tensor.buffer()?.address(), address);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the shape has another number of elements.
pub fn adopt<T: Element>(
    sizes: impl AsRef<[usize]>,
    owner: impl AsRef<[T]> + Send + Sync + 'static,
) -> Result<HostTensor, Error> {
    let buffer = Buffer::from_owner(Arc::new(Adopted(owner, PhantomData)));
    over::<T>(sizes.as_ref(), buffer)
}

/// [`HostTensor::lend`] of elements in any shape.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut numbers = vec![1.0f32, 2.0];
/// let kept = befrost::lend([2], &numbers, |tensor| {
///     assert_eq!(tensor.to_vec::<f32>().ok(), Some(vec![1.0, 2.0]));
///     tensor
/// })?;
/// numbers.fill(0.0); // no longer lent
/// assert!(kept.to_vec::<f32>().is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the shape has another number of elements; then `f` is not called.
pub fn lend<T: Element, R>(
    sizes: impl AsRef<[usize]>,
    elements: &[T],
    f: impl FnOnce(HostTensor) -> R,
) -> Result<R, Error> {
    Buffer::lend(bytemuck::cast_slice(elements), |buffer| over::<T>(sizes.as_ref(), buffer.clone()).map(f))
}

fn over<T: Element>(sizes: &[usize], buffer: Buffer) -> Result<HostTensor, Error> {
    let refused = |error: TensorError| Error::new(ErrorCode::InvalidArgument, error.to_string(), Vec::new());
    let shape = Shape::new(sizes).map_err(refused)?;
    let (want, got) = (shape.num_elements(), buffer.len() / size_of::<T>());
    if want != got {
        return Err(refused(TensorError::Count { want, got }));
    }
    HostTensor::from_buffer(T::DTYPE, shape, buffer).map_err(refused)
}
