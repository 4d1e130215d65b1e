//! Host tensors: an element type, a shape, and a reference-counted buffer.
//!
//! Invariants of a [`HostTensor`]: the buffer has exactly the bytes of the shape, and its address is aligned
//! for the elements. So typed access only fails if another element type is requested, the bytes are borrowed
//! elsewhere or read-only, or a repeated tensor cannot be filled.
//!
//! A tensor is a handle. `clone` shares the bytes; two handles of the same bytes may be operands of one
//! kernel.
//!
//! A [repeated](HostTensor::repeated) tensor has the bytes of one element until all elements are first read.
//!
//! Not here: mathematics (`ops`), text and files (`print`, `literal`, `npy`).

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use befrost_mem::{Allocator, Buffer, Malloc, ReadGuard, WriteGuard};
use bytemuck::{cast_slice, cast_slice_mut};

use crate::interrupt::{STEPS, is_interrupted};
use crate::scratch::copied;
use crate::{DType, Element, Shape, TensorError};

/// A dense tensor in host memory.
#[derive(Clone)]
pub struct HostTensor {
    dtype: DType,
    shape: Shape,
    /// The bytes of all elements, or those of the repeated one.
    buffer: Buffer,
    /// Present in a repeated tensor, whose `buffer` has one element.
    repeated: Option<Arc<Repeated>>,
}

/// The bytes of a repeated tensor, filled on first use.
struct Repeated {
    filled: OnceLock<Buffer>,
    /// Held by the thread that fills the bytes.
    filling: Mutex<()>,
    allocator: Arc<dyn Allocator>,
}

impl Repeated {
    fn new(allocator: &Arc<dyn Allocator>) -> Repeated {
        Repeated { filled: OnceLock::new(), filling: Mutex::default(), allocator: allocator.clone() }
    }
}

impl HostTensor {
    /// A new tensor with unspecified elements, for callers that overwrite them. The memory is initialized.
    pub fn allocate(
        dtype: DType,
        shape: Shape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        let buffer = Buffer::allocate(shape.num_bytes(dtype)?, allocator)?;
        HostTensor::from_buffer(dtype, shape, buffer)
    }

    /// A new tensor of zeros.
    pub fn zeros(
        dtype: DType,
        shape: Shape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        let tensor = HostTensor::allocate(dtype, shape, allocator)?;
        fill(&mut tensor.write_bytes()?, &[0]);
        Ok(tensor)
    }

    /// A new tensor with these elements.
    pub fn from_slice<T: Element>(
        shape: Shape,
        values: &[T],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        let tensor = HostTensor::allocate(T::DTYPE, shape, allocator)?;
        tensor.copy_from_slice(values)?;
        Ok(tensor)
    }

    /// A new tensor with these elements in row-major order, in memory of the system's allocator.
    ///
    /// ```
    /// use befrost_tensor::HostTensor;
    ///
    /// let x = HostTensor::from_vec([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(x.as_slice::<f32>()?[4], 5.0);
    /// assert!(HostTensor::from_vec([2, 2], vec![1.0f32]).is_err());
    /// # Ok::<(), befrost_tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    /// If the shape has another number of elements, or there is no memory.
    pub fn from_vec<T: Element>(
        sizes: impl AsRef<[usize]>,
        values: Vec<T>,
    ) -> Result<HostTensor, TensorError> {
        let shape = Shape::new(sizes.as_ref())?;
        // Checked before memory of the shape's size is allocated.
        if shape.num_elements() != values.len() {
            return Err(TensorError::Count { want: shape.num_elements(), got: values.len() });
        }
        HostTensor::from_slice(shape, &values, &Malloc::shared())
    }

    /// A new tensor of one repeated element, given as its bytes.
    pub fn splat(
        dtype: DType,
        shape: Shape,
        element: &[u8],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        if element.len() != dtype.size() {
            return Err(TensorError::BufferSize { want: dtype.size(), got: element.len() });
        }
        let tensor = HostTensor::allocate(dtype, shape, allocator)?;
        fill(&mut tensor.write_bytes()?, element);
        Ok(tensor)
    }

    /// A read-only tensor whose elements are all equal. Memory holds one element until all of them are first
    /// read. Then `allocator` provides the memory for them, once for all handles.
    pub fn repeated(
        dtype: DType,
        shape: Shape,
        element: Buffer,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<HostTensor, TensorError> {
        shape.num_bytes(dtype)?;
        let HostTensor { buffer, .. } = HostTensor::from_buffer(dtype, Shape::scalar(), element)?;
        Ok(HostTensor { dtype, shape, buffer, repeated: Some(Arc::new(Repeated::new(allocator))) })
    }

    /// The tensor, with another allocator for the elements of a repeated tensor. Other handles keep theirs.
    pub fn with_allocator(&self, allocator: &Arc<dyn Allocator>) -> HostTensor {
        let of = |_: &Arc<Repeated>| Arc::new(Repeated::new(allocator));
        HostTensor { repeated: self.repeated.as_ref().map(of), ..self.clone() }
    }

    /// The element of a repeated tensor as a scalar; `None` for any other tensor.
    pub fn repeated_element(&self) -> Option<HostTensor> {
        self.repeated.as_ref()?;
        let (dtype, shape, buffer) = (self.dtype, Shape::scalar(), self.buffer.clone());
        Some(HostTensor { dtype, shape, buffer, repeated: None })
    }

    /// A tensor over the bytes of a buffer, in the machine's byte order, without a copy.
    pub fn from_buffer(dtype: DType, shape: Shape, buffer: Buffer) -> Result<HostTensor, TensorError> {
        let want = shape.num_bytes(dtype)?;
        if buffer.len() != want {
            return Err(TensorError::BufferSize { want, got: buffer.len() });
        }
        // An empty slice has no element to misalign, but the typed view requires alignment nevertheless.
        if !buffer.address().is_multiple_of(dtype.align()) {
            return Err(TensorError::Misaligned { dtype });
        }
        Ok(HostTensor { dtype, shape, buffer, repeated: None })
    }

    /// Lends elements to `f` as a vector, without a copy. What keeps the tensor, as a variable does, copies
    /// it. A read through a handle that outlives the call is an error, which the end of the call waits for if
    /// it has begun.
    ///
    /// ```
    /// # use befrost_tensor::HostTensor;
    /// let mut numbers = vec![1.0f32, 2.0];
    /// let kept = HostTensor::lend(&numbers, |tensor| {
    ///     assert_eq!(tensor.to_vec::<f32>(), Ok(vec![1.0, 2.0]));
    ///     tensor
    /// });
    /// numbers.fill(0.0); // no longer lent
    /// assert!(kept.to_vec::<f32>().is_err());
    /// ```
    pub fn lend<T: Element, R>(elements: &[T], f: impl FnOnce(HostTensor) -> R) -> R {
        Buffer::lend(cast_slice(elements), |buffer| {
            let shape = Shape::of_slice(elements);
            f(HostTensor { dtype: T::DTYPE, shape, buffer: buffer.clone(), repeated: None })
        })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The buffer of all bytes.
    ///
    /// # Errors
    /// For a repeated tensor that is not filled yet: if there is no memory for its elements, or the work is
    /// interrupted.
    pub fn buffer(&self) -> Result<&Buffer, TensorError> {
        match &self.repeated {
            None => Ok(&self.buffer),
            Some(repeated) => match repeated.filled.get() {
                Some(filled) => Ok(filled),
                None => self.fill(repeated),
            },
        }
    }

    #[cold]
    fn fill<'a>(&'a self, repeated: &'a Repeated) -> Result<&'a Buffer, TensorError> {
        let _only = repeated.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(filled) = repeated.filled.get() {
            return Ok(filled);
        }
        let element = self.buffer.try_read()?;
        let all = HostTensor::splat(self.dtype, self.shape.clone(), &element, &repeated.allocator)?;
        if is_interrupted() {
            return Err(TensorError::Interrupted);
        }
        // A view is read-only.
        let len = all.buffer.len();
        let view = all.buffer.view(0..len).map_err(|_| TensorError::TooLarge)?; // all of it
        Ok(repeated.filled.get_or_init(|| view))
    }

    /// The number of elements.
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// The same bytes under another shape with the same number of elements.
    pub fn reshaped(&self, shape: Shape) -> Result<HostTensor, TensorError> {
        if shape.num_elements() != self.num_elements() {
            return Err(TensorError::Shape { what: "x", want: shape, got: self.shape.clone() });
        }
        Ok(HostTensor { shape, ..self.clone() })
    }

    /// A writable copy.
    pub(crate) fn copied(&self, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        let buffer = Buffer::copy_of(&self.buffer()?.try_read()?, allocator)?;
        HostTensor::from_buffer(self.dtype, self.shape.clone(), buffer)
    }

    /// True if both are handles of the same bytes of the same buffer.
    pub fn shares_buffer(&self, other: &HostTensor) -> bool {
        self.buffer.is_same(&other.buffer)
    }

    /// True if a kernel that holds this handle may overwrite the tensor with its result.
    pub fn is_unique(&self) -> bool {
        self.repeated.is_none() && self.buffer.is_unique()
    }

    /// Makes this the only handle of its bytes, and the bytes writable, by a copy unless both hold already.
    /// The elements do not change.
    ///
    /// # Errors
    /// If there is no memory for the copy, or the bytes are being written. The tensor is unchanged then.
    pub fn make_unique(&mut self, allocator: &Arc<dyn Allocator>) -> Result<(), TensorError> {
        if !self.is_unique() {
            *self = match &self.repeated {
                Some(_) => {
                    HostTensor::splat(self.dtype, self.shape.clone(), &self.buffer.try_read()?, allocator)?
                }
                None => self.copied(allocator)?,
            };
        }
        Ok(())
    }

    /// True if the bytes are lent, see [`Buffer::is_lent`].
    #[inline]
    pub fn is_lent(&self) -> bool {
        self.buffer.is_lent()
    }

    /// A tensor that may outlive the call in which this one is an operand: a copy if the bytes are lent.
    ///
    /// # Errors
    /// If there is no memory for the copy, or the lease has ended.
    pub fn kept(&self, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        let mut kept = self.clone();
        if self.is_lent() {
            kept.buffer = Buffer::copy_of(&self.buffer.try_read()?, allocator)?;
            kept.repeated = self.repeated.as_ref().map(|of| Arc::new(Repeated::new(&of.allocator)));
        }
        Ok(kept)
    }

    /// The buffer of all bytes. The caller is its only owner if the tensor
    /// [is unique](HostTensor::is_unique).
    ///
    /// # Errors
    /// As [`HostTensor::buffer`].
    pub fn into_buffer(self) -> Result<Buffer, TensorError> {
        match self.repeated {
            None => Ok(self.buffer),
            Some(_) => self.buffer().cloned(),
        }
    }

    /// Borrows the elements for reading. Fails for another element type, or while they are being written.
    pub fn read<T: Element>(&self) -> Result<Ref<'_, T>, TensorError> {
        self.read_as("x")
    }

    /// The elements in row-major order: [`HostTensor::read`] under the name that vectors and arrays use.
    ///
    /// # Errors
    /// If the elements have another type, or are being written.
    pub fn as_slice<T: Element>(&self) -> Result<Ref<'_, T>, TensorError> {
        self.read()
    }

    /// A copy of the elements in row-major order.
    ///
    /// # Errors
    /// If the elements have another type, or are being written, or there is no memory.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        copied(&self.read::<T>()?)
    }

    /// The elements by their positions in row-major order. A repeated tensor is not filled for them.
    ///
    /// # Errors
    /// If the elements have another type, or are being written.
    pub(crate) fn by_position<T: Element>(&self) -> Result<impl Fn(usize) -> Option<T>, TensorError> {
        self.expect_dtype("x", T::DTYPE)?;
        let is_repeated = self.repeated.as_ref().is_some_and(|repeated| repeated.filled.get().is_none());
        let buffer = if is_repeated { &self.buffer } else { self.buffer()? };
        let elements = Ref { guard: buffer.try_read()?, _of: PhantomData };
        Ok(move |i| elements.get(if is_repeated { 0 } else { i }).copied())
    }

    /// [`HostTensor::read`], with the operand's role for the message.
    pub fn read_as<T: Element>(&self, what: &'static str) -> Result<Ref<'_, T>, TensorError> {
        self.expect_dtype(what, T::DTYPE)?;
        Ok(Ref { guard: self.buffer()?.try_read()?, _of: PhantomData })
    }

    /// Borrows the elements for writing. Fails for another element type, while they are borrowed elsewhere,
    /// and for constants and views.
    pub fn write<T: Element>(&self) -> Result<RefMut<'_, T>, TensorError> {
        self.write_as("out")
    }

    /// [`HostTensor::write`], with the operand's role for the message.
    pub fn write_as<T: Element>(&self, what: &'static str) -> Result<RefMut<'_, T>, TensorError> {
        self.expect_dtype(what, T::DTYPE)?;
        Ok(RefMut { guard: self.buffer()?.try_write()?, _of: PhantomData })
    }

    /// Borrows the bytes for reading.
    pub fn read_bytes(&self) -> Result<ReadGuard<'_>, TensorError> {
        Ok(self.buffer()?.try_read()?)
    }

    /// Borrows the bytes for writing.
    pub fn write_bytes(&self) -> Result<WriteGuard<'_>, TensorError> {
        Ok(self.buffer()?.try_write()?)
    }

    /// Overwrites all elements.
    pub fn copy_from_slice<T: Element>(&self, values: &[T]) -> Result<(), TensorError> {
        let mut out = self.write::<T>()?;
        if values.len() != out.len() {
            return Err(TensorError::Count { want: out.len(), got: values.len() });
        }
        out.copy_from_slice(values);
        Ok(())
    }

    /// Returns an error unless the element type is `want`.
    pub fn expect_dtype(&self, what: &'static str, want: DType) -> Result<(), TensorError> {
        if self.dtype == want { Ok(()) } else { Err(TensorError::DType { what, want, got: self.dtype }) }
    }

    /// Returns an error unless the shape is `want`.
    pub fn expect_shape(&self, what: &'static str, want: &Shape) -> Result<(), TensorError> {
        if self.shape == *want {
            Ok(())
        } else {
            Err(TensorError::Shape { what, want: want.clone(), got: self.shape.clone() })
        }
    }
}

/// Fills `bytes` with copies of `element`, until interrupted. Each element size is a constant, so the loops
/// vectorize.
fn fill(bytes: &mut [u8], element: &[u8]) {
    fn each<const N: usize>(bytes: &mut [u8], element: &[u8]) {
        if let Some(element) = element.first_chunk::<N>() {
            bytes.as_chunks_mut::<N>().0.fill(*element);
        }
    }
    for part in bytes.chunks_mut(STEPS).take_while(|_| !is_interrupted()) {
        match element.len() {
            1 => each::<1>(part, element),
            2 => each::<2>(part, element),
            4 => each::<4>(part, element),
            8 => each::<8>(part, element),
            _ => each::<16>(part, element),
        }
    }
}

impl fmt::Debug for HostTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostTensor({} {:?})", self.dtype, self.shape)
    }
}

/// Elements borrowed for reading.
pub struct Ref<'a, T> {
    guard: ReadGuard<'a>,
    _of: PhantomData<T>,
}

impl<T: Element> Deref for Ref<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        cast_slice(&self.guard) // size and alignment are the tensor's invariant
    }
}

/// Elements borrowed for writing.
pub struct RefMut<'a, T> {
    guard: WriteGuard<'a>,
    _of: PhantomData<T>,
}

impl<T: Element> Deref for RefMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        cast_slice(&self.guard)
    }
}

impl<T: Element> DerefMut for RefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        cast_slice_mut(&mut self.guard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_mem::{BorrowError, LeakCheck, Limited, Malloc};

    fn shape(dims: &[usize]) -> Shape {
        Shape::new(dims).unwrap()
    }

    #[test]
    fn kept_memory_outlives_its_lease() {
        let (bytes, malloc) = ([1u8, 0, 0, 0, 2, 0, 0, 0], Malloc::shared());
        let lent = |shape: &[usize], buffer: &Buffer| {
            HostTensor::from_buffer(DType::I32, Shape::new(shape).unwrap(), buffer.clone()).unwrap()
        };
        let (kept, repeated, lost) = Buffer::lend(&bytes, |buffer| {
            let x = lent(&[2], buffer);
            assert!(x.is_lent() && !x.is_unique());
            let element = buffer.view(4..8).unwrap();
            let of = HostTensor::repeated(DType::I32, Shape::new(&[3]).unwrap(), element, &malloc).unwrap();
            (x.kept(&malloc).unwrap(), of.kept(&malloc).unwrap(), lent(&[1, 2], buffer))
        });
        assert!(!kept.is_lent() && kept.is_unique() && kept.to_vec::<i32>().unwrap() == [1, 2]);
        assert_eq!(repeated.to_vec::<i32>().unwrap(), [2, 2, 2]);
        assert_eq!(lost.to_vec::<i32>().err(), Some(TensorError::Borrow(BorrowError::Revoked)));
        assert_eq!(lost.kept(&malloc).err(), Some(TensorError::Borrow(BorrowError::Revoked)));
        assert!(kept.kept(&malloc).unwrap().shares_buffer(&kept) && kept.into_buffer().is_ok());
    }

    #[test]
    fn elements_go_in_and_come_out() {
        let t = HostTensor::from_slice(shape(&[2, 2]), &[1.0f32, 2.0, 3.0, 4.0], &Malloc::shared()).unwrap();
        assert_eq!(*t.read::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        t.write::<f32>().unwrap()[3] = 5.0;
        assert_eq!(t.clone().read::<f32>().unwrap()[3], 5.0);
        let flat = t.reshaped(shape(&[4])).unwrap();
        assert!(flat.shares_buffer(&t) && !t.is_unique());
        assert!(t.reshaped(shape(&[5])).is_err());
        let splat = |element: &[u8]| HostTensor::splat(DType::I16, shape(&[3]), element, &Malloc::shared());
        assert_eq!(*splat(&7i16.to_ne_bytes()).unwrap().read::<i16>().unwrap(), [7, 7, 7]);
        assert_eq!(splat(&[1]).err(), Some(TensorError::BufferSize { want: 2, got: 1 }));
    }

    #[test]
    fn a_copy_is_made_only_of_what_has_other_handles() {
        let malloc = Malloc::shared();
        let mut t = HostTensor::from_slice(shape(&[2]), &[1.0f32, 2.0], &malloc).unwrap();
        let (address, none): (_, Arc<dyn Allocator>) =
            (t.buffer().unwrap().address(), Arc::new(Limited::new(malloc.clone(), 0)));
        t.make_unique(&none).unwrap();
        assert_eq!(t.buffer().unwrap().address(), address);
        let other = t.clone();
        assert!(matches!(t.make_unique(&none), Err(TensorError::Alloc(_))));
        assert!(t.shares_buffer(&other));
        t.make_unique(&malloc).unwrap();
        t.write::<f32>().unwrap()[0] = 3.0;
        assert_eq!(*t.read::<f32>().unwrap(), [3.0, 2.0]);
        assert_eq!(*other.read::<f32>().unwrap(), [1.0, 2.0]);
        let view = other.buffer().unwrap().view(0..8).unwrap();
        let mut view = HostTensor::from_buffer(DType::F32, shape(&[2]), view).unwrap();
        view.make_unique(&malloc).unwrap();
        assert!(view.is_unique() && *view.read::<f32>().unwrap() == [1.0, 2.0]);
    }

    #[test]
    fn a_repeated_element_is_written_once_when_all_are_read() {
        let leaks = Arc::new(LeakCheck::new(Malloc::shared()));
        let allocator: Arc<dyn Allocator> = leaks.clone();
        let element = Buffer::copy_of(&7i32.to_ne_bytes(), &Malloc::shared()).unwrap();
        let seven =
            |dims: &[usize]| HostTensor::repeated(DType::I32, shape(dims), element.clone(), &allocator);
        let mut t = seven(&[2, 3]).unwrap();
        assert!(!t.is_unique() && leaks.live().blocks == 0);
        assert_eq!(*t.repeated_element().unwrap().read::<i32>().unwrap(), [7]);
        let flat = t.reshaped(shape(&[6])).unwrap();
        assert_eq!(leaks.live().blocks, 0);
        assert_eq!(*flat.read::<i32>().unwrap(), [7; 6]);
        assert_eq!(*t.clone().read_bytes().unwrap(), *flat.read_bytes().unwrap());
        assert_eq!(leaks.live().blocks, 1, "once for all handles");
        assert_eq!(t.write::<i32>().err(), Some(TensorError::Borrow(BorrowError::ReadOnly)));
        t.make_unique(&allocator).unwrap();
        t.write::<i32>().unwrap()[0] = 1;
        assert_eq!((t.read::<i32>().unwrap()[5], flat.read::<i32>().unwrap()[0]), (7, 7));
        // Far more than there is.
        let huge = seven(&[1 << 30, 1 << 20]).unwrap();
        assert!(matches!(huge.read::<i32>().err(), Some(TensorError::Alloc(_))));
        assert_eq!(seven(&[1 << 40, 1 << 22]).err(), Some(TensorError::TooLarge));
        assert!(HostTensor::repeated(DType::I64, shape(&[2]), element.clone(), &allocator).is_err());
    }

    #[test]
    fn an_interrupted_fill_is_not_kept() {
        let malloc = Malloc::shared();
        let element = Buffer::copy_of(&[7], &malloc).unwrap();
        let t = HostTensor::repeated(DType::UI8, shape(&[100]), element, &malloc).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(true);
        let read = crate::interrupt::interruptible(&stop, || t.read::<u8>().map(|x| x[0]));
        assert_eq!(read, Err(TensorError::Interrupted));
        assert_eq!(*t.read::<u8>().unwrap(), [7; 100]);
    }

    #[test]
    fn wrong_uses_are_errors() {
        let malloc = Malloc::shared();
        let t = HostTensor::zeros(DType::F32, shape(&[2]), &malloc).unwrap();
        assert_eq!(
            t.read::<i32>().err(),
            Some(TensorError::DType { what: "x", want: DType::I32, got: DType::F32 })
        );
        assert_eq!(t.copy_from_slice(&[1.0f32]), Err(TensorError::Count { want: 2, got: 1 }));
        let _reader = t.read::<f32>().unwrap();
        assert_eq!(t.write::<f32>().err(), Some(TensorError::Borrow(BorrowError::Read)));
        let small: Arc<dyn Allocator> = Arc::new(Limited::new(malloc, 1024));
        assert!(matches!(HostTensor::zeros(DType::F64, shape(&[1000]), &small), Err(TensorError::Alloc(_))));
    }

    #[test]
    fn buffers_must_fit() {
        let bytes = Buffer::copy_of(&[0; 9], &Malloc::shared()).unwrap();
        let wrong = HostTensor::from_buffer(DType::F32, shape(&[2]), bytes.clone());
        assert_eq!(wrong.err(), Some(TensorError::BufferSize { want: 8, got: 9 }));
        let odd = bytes.view(1..9).unwrap();
        let wrong = HostTensor::from_buffer(DType::F32, shape(&[2]), odd.clone());
        assert_eq!(wrong.err(), Some(TensorError::Misaligned { dtype: DType::F32 }));
        let constant = HostTensor::from_buffer(DType::UI8, shape(&[8]), odd).unwrap();
        assert_eq!(constant.write::<u8>().err(), Some(TensorError::Borrow(BorrowError::ReadOnly)));
    }
}
