//! Shapes, checked on construction so that counting elements cannot overflow later.
//!
//! Invariants of [`Shape`]: at most [`MAX_RANK`] dimensions; the product of the dimensions, zeros counted as
//! one, fits `isize`. So every index and every stride of a tensor fits, even if a zero dimension makes the
//! tensor empty. [`Dims`] need not belong to a tensor; only their number is bounded.

use std::fmt;

use smallvec::SmallVec;

use crate::{DType, TensorError};

/// The largest number of dimensions.
pub const MAX_RANK: usize = 64;

/// A list of dimensions, outermost first, whose product is not bounded.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Dims(SmallVec<[usize; 4]>);

impl Dims {
    /// These dimensions; an error if they are more than [`MAX_RANK`].
    pub fn new(dims: &[usize]) -> Result<Dims, TensorError> {
        if dims.len() > MAX_RANK {
            return Err(TensorError::TooManyDims { rank: dims.len() });
        }
        Ok(Dims(SmallVec::from_slice(dims)))
    }

    /// Converts signed dimensions, as attributes store them.
    pub fn from_i64(dims: &[i64]) -> Result<Dims, TensorError> {
        if dims.len() > MAX_RANK {
            return Err(TensorError::TooManyDims { rank: dims.len() });
        }
        let unsigned = |(at, &dim): (usize, &i64)| {
            if dim < 0 {
                return Err(TensorError::NegativeDim { at, dim });
            }
            usize::try_from(dim).map_err(|_| TensorError::TooLarge)
        };
        dims.iter().enumerate().map(unsigned).collect::<Result<_, _>>().map(Dims)
    }

    /// The dimensions.
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the dimensions; an error if it does not fit `isize`.
    pub fn num_elements(&self) -> Result<usize, TensorError> {
        if self.0.contains(&0) {
            return Ok(0);
        }
        product(&self.0)
    }

    /// The shape of a tensor with these dimensions; an error if there is none.
    pub fn shape(&self) -> Result<Shape, TensorError> {
        Shape::new(&self.0)
    }
}

impl From<&Shape> for Dims {
    fn from(shape: &Shape) -> Dims {
        Dims(shape.dims.clone())
    }
}

impl fmt::Display for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(&self.0, f)
    }
}

impl fmt::Debug for Dims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(&self.0, f)
    }
}

/// The product of dimensions, zeros counted as one; an error if it does not fit `isize`.
fn product(dims: &[usize]) -> Result<usize, TensorError> {
    dims.iter()
        .try_fold(1usize, |n, &dim| n.checked_mul(dim.max(1)))
        .filter(|&n| n <= isize::MAX as usize)
        .ok_or(TensorError::TooLarge)
}

fn write_dims(dims: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("[")?;
    for (i, dim) in dims.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{dim}")?;
    }
    f.write_str("]")
}

/// The extents of a tensor, row-major: the last dimension is contiguous.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    dims: SmallVec<[usize; 4]>,
}

impl Shape {
    /// The shape with these dimensions; an error if it violates an invariant.
    pub fn new(dims: &[usize]) -> Result<Shape, TensorError> {
        let Dims(dims) = Dims::new(dims)?;
        product(&dims)?;
        Ok(Shape { dims })
    }

    /// The shape with these signed dimensions, as attributes store them.
    pub fn from_i64(dims: &[i64]) -> Result<Shape, TensorError> {
        let Dims(dims) = Dims::from_i64(dims)?;
        product(&dims)?;
        Ok(Shape { dims })
    }

    /// The shape of a scalar: no dimensions.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// The shape of a vector of these elements, which are in memory, so that it has a size in bytes.
    pub(crate) fn of_slice<T>(elements: &[T]) -> Shape {
        Shape { dims: [elements.len()].into_iter().collect() }
    }

    /// The dimensions, outermost first.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    pub fn num_elements(&self) -> usize {
        self.dims.iter().product() // cannot overflow: the type's invariant
    }

    /// The size of a tensor of this shape in bytes; an error if it exceeds the address space.
    pub fn num_bytes(&self, dtype: DType) -> Result<usize, TensorError> {
        self.num_elements()
            .checked_mul(dtype.size())
            .filter(|&n| n <= isize::MAX as usize)
            .ok_or(TensorError::TooLarge)
    }

    /// The index of the element at a row-major position.
    pub fn index_of(&self, mut position: usize) -> Vec<usize> {
        let mut index: Vec<usize> = self
            .dims
            .iter()
            .rev()
            .map(|&dim| {
                let dim = dim.max(1);
                let i = position % dim;
                position /= dim;
                i
            })
            .collect();
        index.reverse();
        index
    }

    /// The shape as a matrix, all dimensions but the last merged into one: (rows, length of the last). A
    /// scalar is 1 by 1.
    pub fn rows_and_last(&self) -> (usize, usize) {
        match self.dims.split_last() {
            Some((&last, outer)) => (outer.iter().product(), last),
            None => (1, 1),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(&self.dims, f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_dims(&self.dims, f)
    }
}

/// The shape of the product of two matrices.
pub fn matmul_shape(a: &Shape, b: &Shape) -> Result<Shape, TensorError> {
    let &[m, k] = a.dims() else {
        return Err(TensorError::Rank { what: "a", want: 2, got: a.clone() });
    };
    let &[k2, n] = b.dims() else {
        return Err(TensorError::Rank { what: "b", want: 2, got: b.clone() });
    };
    if k != k2 {
        return Err(TensorError::MatmulShapes { a: a.clone(), b: b.clone() });
    }
    Shape::new(&[m, n])
}

/// The shape without dimension `axis`.
pub fn reduce_shape(shape: &Shape, axis: i64) -> Result<Shape, TensorError> {
    let axis = resolve_axis(shape, axis)?;
    let mut reduced = shape.clone();
    reduced.dims.remove(axis);
    Ok(reduced)
}

/// The position of an axis; a negative one counts from the end, as in NumPy.
pub fn resolve_axis(shape: &Shape, axis: i64) -> Result<usize, TensorError> {
    let rank = shape.rank() as i64; // at most MAX_RANK
    let from_start = if axis < 0 { axis + rank } else { axis };
    if (0..rank).contains(&from_start) {
        Ok(from_start as usize)
    } else {
        Err(TensorError::Axis { axis, shape: shape.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[usize]) -> Shape {
        Shape::new(dims).unwrap()
    }

    #[test]
    fn shapes_print_and_count() {
        assert_eq!(shape(&[1, 57, 92]).to_string(), "[1, 57, 92]");
        assert_eq!(Shape::scalar().to_string(), "[]");
        assert_eq!(Shape::scalar().num_elements(), 1);
        assert_eq!(shape(&[2, 3]).num_bytes(DType::F64), Ok(48));
        assert_eq!(shape(&[2, 0]).num_elements(), 0);
        assert_eq!(shape(&[2, 3]).index_of(5), [1, 2]);
        assert_eq!(shape(&[2, 3, 4]).rows_and_last(), (6, 4));
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let big = 1usize << 40;
        assert_eq!(Shape::new(&[big, big]), Err(TensorError::TooLarge));
        assert_eq!(Shape::new(&[0, big, big]), Err(TensorError::TooLarge));
        assert_eq!(Shape::new(&[usize::MAX]), Err(TensorError::TooLarge));
        assert_eq!(shape(&[1 << 61]).num_bytes(DType::F64), Err(TensorError::TooLarge));
        assert_eq!(Shape::new(&[1; 65]), Err(TensorError::TooManyDims { rank: 65 }));
        assert_eq!(Shape::from_i64(&[2, -1]), Err(TensorError::NegativeDim { at: 1, dim: -1 }));
    }

    #[test]
    fn dimensions_alone_may_be_large() {
        let dims = Dims::new(&[1 << 40, 1 << 40]).unwrap();
        assert_eq!(dims.to_string(), "[1099511627776, 1099511627776]");
        assert_eq!(dims.num_elements(), Err(TensorError::TooLarge));
        assert_eq!(dims.shape(), Err(TensorError::TooLarge));
        assert_eq!(Dims::from_i64(&[0, i64::MAX, i64::MAX]).unwrap().num_elements(), Ok(0));
        assert_eq!(Dims::new(&[2, 3]).unwrap().shape(), Ok(shape(&[2, 3])));
        assert_eq!(Dims::new(&[1; 65]), Err(TensorError::TooManyDims { rank: 65 }));
        assert_eq!(Dims::from_i64(&[2, -1]), Err(TensorError::NegativeDim { at: 1, dim: -1 }));
    }

    #[test]
    fn shape_functions() {
        assert_eq!(matmul_shape(&shape(&[2, 3]), &shape(&[3, 5])), Ok(shape(&[2, 5])));
        assert!(matmul_shape(&shape(&[2, 3]), &shape(&[2, 3])).is_err());
        assert!(matmul_shape(&shape(&[2]), &shape(&[2, 3])).is_err());
        assert_eq!(reduce_shape(&shape(&[2, 3, 4]), 1), Ok(shape(&[2, 4])));
        assert_eq!(reduce_shape(&shape(&[2, 3, 4]), -1), Ok(shape(&[2, 3])));
        for axis in [3, -4, i64::MIN, i64::MAX] {
            assert!(reduce_shape(&shape(&[2, 3, 4]), axis).is_err());
        }
        assert!(reduce_shape(&Shape::scalar(), 0).is_err());
    }
}
