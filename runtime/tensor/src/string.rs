//! Tensors of strings: arbitrary bytes of any length.
//!
//! ```text
//! bytes: "onetwo"    ends: [3, 6]    string i = bytes[end of i - 1 .. end of i]
//! ```
//!
//! Both buffers come from the allocator. A string tensor is immutable, so reads cannot conflict; clones share
//! the bytes.
//!
//! Strings are not a [`crate::Element`]: TFRT's code 16 is not a [`crate::DType`]. `.npy` files of strings
//! are read and written by [`crate::npy`].

use std::sync::Arc;

use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::{HostTensor, Ref, Shape, TensorError};

/// A dense tensor of strings.
#[derive(Clone, Debug)]
pub struct StringTensor {
    shape: Shape,
    bytes: HostTensor,
    ends: HostTensor,
}

/// The strings, borrowed.
pub struct Strings<'a> {
    bytes: Ref<'a, u8>,
    ends: Ref<'a, u64>,
}

impl StringTensor {
    /// A tensor of these strings, in row-major order.
    pub fn new<S: AsRef<[u8]>>(
        shape: Shape,
        strings: &[S],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<StringTensor, TensorError> {
        let n = shape.num_elements();
        if n != strings.len() {
            return Err(TensorError::Count { want: n, got: strings.len() });
        }
        let total = strings.iter().try_fold(0usize, |sum, s| sum.checked_add(s.as_ref().len()));
        let total = total.ok_or(TensorError::TooLarge)?;
        let bytes = HostTensor::allocate(crate::DType::UI8, Shape::new(&[total])?, allocator)?;
        let ends = HostTensor::allocate(crate::DType::UI64, Shape::new(&[n])?, allocator)?;
        {
            let (mut to, mut ends) = (bytes.write::<u8>()?, ends.write::<u64>()?);
            let mut at = 0;
            for (string, end) in strings.iter().zip(ends.iter_mut()) {
                let string = string.as_ref();
                to[at..at + string.len()].copy_from_slice(string);
                at += string.len(); // at most the total
                *end = at as u64;
            }
        }
        Ok(StringTensor { shape, bytes, ends })
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of strings.
    pub fn num_elements(&self) -> usize {
        self.shape.num_elements()
    }

    /// The number of bytes of all strings together.
    pub fn num_bytes(&self) -> usize {
        self.bytes.num_elements()
    }

    /// Borrows the strings.
    pub fn read(&self) -> Result<Strings<'_>, TensorError> {
        Ok(Strings { bytes: self.bytes.read()?, ends: self.ends.read()? })
    }

    /// The same strings under another shape with the same number of elements.
    pub fn reshaped(&self, shape: Shape) -> Result<StringTensor, TensorError> {
        if shape.num_elements() != self.num_elements() {
            return Err(TensorError::Shape { what: "x", want: shape, got: self.shape.clone() });
        }
        Ok(StringTensor { shape, bytes: self.bytes.clone(), ends: self.ends.clone() })
    }
}

impl Strings<'_> {
    /// The string at a row-major position.
    pub fn at(&self, position: usize) -> Option<&[u8]> {
        let end = usize::try_from(*self.ends.get(position)?).ok()?;
        let start = match position.checked_sub(1) {
            Some(before) => usize::try_from(self.ends[before]).ok()?,
            None => 0,
        };
        self.bytes.get(start..end)
    }

    /// All strings, in row-major order, until the work on this thread is [interrupted](crate::interrupt).
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        /// The number of strings between two checks.
        const STEP: usize = 1 << 12;
        let goes_on = |&position: &usize| position % STEP != 0 || !is_interrupted();
        (0..self.ends.len()).take_while(goes_on).filter_map(|position| self.at(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::{Limited, Malloc};
    use crate::print;

    #[test]
    fn strings_go_in_and_come_out() {
        let malloc = Malloc::shared();
        let shape = |dims: &[usize]| Shape::new(dims).unwrap();
        let t = StringTensor::new(shape(&[2, 2]), &["one", "", "tw\"o", "\n\u{e9}"], &malloc).unwrap();
        let strings = t.read().unwrap();
        assert_eq!(strings.at(2), Some(&b"tw\"o"[..]));
        assert_eq!((strings.at(1), strings.at(4)), (Some(&b""[..]), None));
        assert_eq!(strings.iter().map(<[u8]>::len).sum::<usize>(), 10);
        let flat = t.reshaped(shape(&[4])).unwrap();
        let want = r#"StringHostTensor shape = [4], values = ["one", "", "tw\22o", "\0A\C3\A9"]"#;
        assert_eq!(print::strings(&flat).unwrap(), want);
        assert!(t.reshaped(shape(&[3])).is_err());
        assert_eq!(
            StringTensor::new(shape(&[1]), &[] as &[&str], &malloc).err(),
            Some(TensorError::Count { want: 1, got: 0 })
        );
        let none = StringTensor::new(shape(&[0, 1 << 40]), &[] as &[&str], &malloc).unwrap();
        assert_eq!(
            print::strings(&none).unwrap(),
            "StringHostTensor shape = [0, 1099511627776], values = []"
        );
        let small: Arc<dyn Allocator> = Arc::new(Limited::new(malloc, 1024));
        assert!(StringTensor::new(shape(&[1]), &["x".repeat(5000)], &small).is_err());
    }
}
