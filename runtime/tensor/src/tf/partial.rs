//! Partially known shapes, for the elements of lists and for shape inference.

use std::fmt;

use crate::{HostTensor, Shape, TensorError};

/// A shape in which any dimension, or the rank, may be unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialShape(Option<Vec<Option<usize>>>);

impl PartialShape {
    /// The shape with these dimensions; `None` stands for an unknown dimension.
    pub fn new(dims: Vec<Option<usize>>) -> PartialShape {
        PartialShape(Some(dims))
    }

    /// The shape of this rank with unknown dimensions.
    pub fn of_rank(rank: usize) -> PartialShape {
        PartialShape(Some(vec![None; rank]))
    }

    /// The shape with these dimensions; -1 stands for an unknown dimension.
    pub fn from_i64(dims: &[i64]) -> Result<PartialShape, TensorError> {
        let known: Vec<i64> = dims.iter().map(|&dim| if dim == -1 { 1 } else { dim }).collect();
        let shape = Shape::from_i64(&known)?;
        let open = dims.iter().zip(shape.dims()).map(|(&dim, &known)| (dim != -1).then_some(known));
        Ok(PartialShape(Some(open.collect())))
    }

    /// Parses `2x?`, `*`, or the empty text for a scalar.
    pub fn from_text(text: &str) -> Option<PartialShape> {
        if text == "*" {
            return Some(PartialShape::unknown());
        }
        let dim =
            |dim: &str| if dim == "?" { Some(-1) } else { dim.parse().ok().filter(|&dim: &i64| dim >= 0) };
        let dims = text.split('x').filter(|_| !text.is_empty()).map(dim);
        PartialShape::from_i64(&dims.collect::<Option<Vec<i64>>>()?).ok()
    }

    /// The shape of unknown rank.
    pub fn unknown() -> PartialShape {
        PartialShape(None)
    }

    /// The shape in an `element_shape` operand: a vector of dimensions, or a scalar -1 for an unknown rank.
    pub fn from_tensor(x: &HostTensor) -> Result<PartialShape, TensorError> {
        let dims = super::index::indices_of("TensorList", x)?;
        match x.shape().rank() {
            0 if dims == [-1] => Ok(PartialShape::unknown()),
            1 => PartialShape::from_i64(&dims),
            _ => Err(TensorError::Rank { what: "element_shape", want: 1, got: x.shape().clone() }),
        }
    }

    /// The dimensions; `None` if the rank is unknown.
    pub fn as_slice(&self) -> Option<&[Option<usize>]> {
        self.0.as_deref()
    }

    /// The rank, if known.
    pub fn rank(&self) -> Option<usize> {
        self.0.as_ref().map(Vec::len)
    }

    /// The dimensions, with -1 for an unknown dimension; `None` if the rank is unknown.
    pub fn dims(&self) -> Option<Vec<i64>> {
        Some(self.0.as_ref()?.iter().map(|dim| dim.map_or(-1, |dim| dim as i64)).collect())
    }

    /// The shape, if fully known.
    pub fn shape(&self) -> Option<Shape> {
        let dims = self.0.as_ref()?.iter().copied().collect::<Option<Vec<usize>>>()?;
        Shape::new(&dims).ok()
    }

    /// True if `shape` has this rank and these dimensions, as far as they are known.
    pub fn allows(&self, shape: &Shape) -> bool {
        self.0.as_ref().is_none_or(|dims| {
            dims.len() == shape.rank()
                && dims.iter().zip(shape.dims()).all(|(dim, d)| dim.is_none_or(|dim| dim == *d))
        })
    }

    /// The shape with the dimensions that are known in either; `None` if the two contradict each other.
    pub fn merged(&self, other: &PartialShape) -> Option<PartialShape> {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return Some(if self.0.is_some() { self.clone() } else { other.clone() });
        };
        if a.len() != b.len() {
            return None;
        }
        let dims = a.iter().zip(b).map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) if a != b => None,
            (a, b) => Some(a.or(*b)),
        });
        Some(PartialShape(Some(dims.collect::<Option<Vec<_>>>()?)))
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> PartialShape {
        PartialShape(Some(shape.dims().iter().copied().map(Some).collect()))
    }
}

impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("?") };
        let words: Vec<String> =
            dims.iter().map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string())).collect();
        write!(f, "[{}]", words.join(", "))
    }
}
