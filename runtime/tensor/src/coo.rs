//! Sparse tensors in coordinate format: the nonzero elements with their indices.

use std::sync::Arc;

use bytemuck::Zeroable;

use crate::element::with_element;
use crate::mem::Allocator;
use crate::print::write_elements;
use crate::scratch::{collected, push};
use crate::tf::slices_at;
use crate::{DType, HostTensor, Shape, TensorError};

/// A sparse tensor.
#[derive(Clone, Debug)]
pub struct CooTensor {
    shape: Shape,
    /// `i64[n x rank]`: one index per element, in range.
    indices: HostTensor,
    /// `T[n]`.
    values: HostTensor,
}

impl CooTensor {
    /// A tensor of `shape` with `values`, of shape `[n]`, at `indices`, of shape `[n, rank]`. All other
    /// elements are zero.
    ///
    /// # Errors
    /// If the shapes do not fit, or an index is out of range.
    pub fn new(shape: Shape, indices: HostTensor, values: HostTensor) -> Result<CooTensor, TensorError> {
        let n = values.num_elements();
        values.expect_shape("values", &Shape::new(&[n])?)?;
        indices.expect_shape("indices", &Shape::new(&[n, shape.rank()])?)?;
        {
            let places = indices.read_as::<i64>("indices")?;
            for place in places.chunks_exact(shape.rank().max(1)) {
                for (&index, &dim) in place.iter().zip(shape.dims()) {
                    if usize::try_from(index).map_or(true, |index| index >= dim) {
                        let problem = format!("index {index} is not in a dimension of {dim}");
                        return Err(TensorError::Invalid { op: "SparseTensor", problem });
                    }
                }
            }
        }
        Ok(CooTensor { shape, indices, values })
    }

    /// The nonzero elements of `tensor`.
    ///
    /// # Errors
    /// If there is no memory, or the tensor is being written.
    pub fn from_dense(tensor: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<CooTensor, TensorError> {
        let shape = tensor.shape().clone();
        let places = with_element!(tensor.dtype(), T => {
            let values = tensor.read::<T>()?;
            collected(values.iter().enumerate().filter(|(_, value)| **value != T::zeroed()).map(|(i, _)| i))?
        });
        let mut indices = Vec::new();
        for &i in &places {
            shape.index_of(i).into_iter().try_for_each(|index| push(&mut indices, index as i64))?;
        }
        let indices =
            HostTensor::from_slice(Shape::new(&[places.len(), shape.rank()])?, &indices, allocator)?;
        let (from, size) = (tensor.read_bytes()?, tensor.dtype().size());
        let values =
            slices_at(tensor.dtype(), Shape::new(&[places.len()])?, (&from, size), &places, allocator)?;
        Ok(CooTensor { shape, indices, values })
    }

    /// The dense tensor. If an index occurs twice, the later element is taken.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn to_dense(&self, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        let dense = HostTensor::zeros(self.dtype(), self.shape.clone(), allocator)?;
        self.scatter(&dense)?;
        Ok(dense)
    }

    fn scatter(&self, dense: &HostTensor) -> Result<(), TensorError> {
        let (indices, values) = (self.indices.read::<i64>()?, self.values.read_bytes()?);
        let mut out = dense.write_bytes()?;
        let (rank, size) = (self.shape.rank(), self.dtype().size());
        for (i, value) in values.chunks_exact(size).enumerate() {
            let place = &indices[i * rank..(i + 1) * rank];
            // The index is in range, as `new` has checked. The product of the dimensions fits, by the
            // invariant of shapes.
            let at =
                place.iter().zip(self.shape.dims()).fold(0, |at, (&index, &dim)| at * dim + index as usize);
            out[at * size..(at + 1) * size].copy_from_slice(value);
        }
        Ok(())
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// True if both have the same shape and elements.
    ///
    /// # Errors
    /// If the element types differ, or there is no memory.
    pub fn equals(&self, other: &CooTensor, allocator: &Arc<dyn Allocator>) -> Result<bool, TensorError> {
        other.values.expect_dtype("b", self.dtype())?;
        if self.shape != other.shape {
            return Ok(false);
        }
        crate::ops::equal(&self.to_dense(allocator)?, &other.to_dense(allocator)?)
    }

    /// The tensor as TFRT prints it, without a line end.
    ///
    /// # Errors
    /// If the tensor is being written.
    pub fn text(&self) -> Result<String, TensorError> {
        let mut text = format!("CooHostTensor dtype = {}, shape = {}, indices = [", self.dtype(), self.shape);
        write_elements(&mut text, &self.indices)?;
        text.push_str("], values = [");
        write_elements(&mut text, &self.values)?;
        text.push(']');
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;

    #[test]
    fn zeros_are_left_out_and_come_back() {
        let malloc = Malloc::shared();
        let shape = Shape::new(&[2, 3]).unwrap();
        let dense =
            HostTensor::from_slice(shape.clone(), &[0.0f32, 1.5, 0.0, -2.0, 0.0, -0.0], &malloc).unwrap();
        let coo = CooTensor::from_dense(&dense, &malloc).unwrap();
        assert_eq!(
            coo.text().unwrap(),
            "CooHostTensor dtype = f32, shape = [2, 3], indices = [0, 1, 1, 0], values = [1.500000e+00, -2.000000e+00]"
        );
        assert!(crate::ops::equal(&coo.to_dense(&malloc).unwrap(), &dense).unwrap());
        assert!(coo.equals(&coo.clone(), &malloc).unwrap());
        let scalar = HostTensor::from_slice(Shape::scalar(), &[7i32], &malloc).unwrap();
        let coo = CooTensor::from_dense(&scalar, &malloc).unwrap();
        assert!(crate::ops::equal(&coo.to_dense(&malloc).unwrap(), &scalar).unwrap());
    }

    #[test]
    fn places_must_be_in_range() {
        let malloc = Malloc::shared();
        let vector = |n: usize| Shape::new(&[n]).unwrap();
        let values = HostTensor::from_slice(vector(1), &[1i32], &malloc).unwrap();
        for index in [-1i64, 3] {
            let indices = HostTensor::from_slice(Shape::new(&[1, 1]).unwrap(), &[index], &malloc).unwrap();
            assert!(CooTensor::new(vector(3), indices, values.clone()).is_err(), "{index}");
        }
        let indices = HostTensor::from_slice(vector(1), &[1i64], &malloc).unwrap();
        assert!(CooTensor::new(vector(3), indices, values).is_err());
    }
}
