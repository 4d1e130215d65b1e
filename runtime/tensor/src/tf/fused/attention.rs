//! Attention: `Softmax(q k^T * scale + mask) v`, head by head.
//!
//! ```text
//! for each batch and head (parallel)   scores = q k^T   scores * scale + mask, softmax   result = scores v
//! ```
//!
//! Each thread holds the scores of one head only. The operands are read in place; the heads may be either of
//! the two middle axes.

use crate::error::invalid;
use crate::gemm::Matrix;
use crate::math::softmax_in_place;
use crate::tf::fast::{Cx, one_f32};
use crate::{DType, HostTensor, Shape, TensorError};

const OP: &str = "_FusedAttention";

/// The attributes of an attention.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// The factor of the products.
    pub scale: f32,
    /// The order of the axes of q, k and v. True: batch, positions, heads, elements. False: batch, heads,
    /// positions, elements. In the mask and the result, the heads always precede the positions.
    pub heads_inside: bool,
}

/// An operand with its dimensions and strides.
struct Side<'a> {
    numbers: &'a [f32],
    /// The dimensions as batch, heads, positions, elements.
    dims: [usize; 4],
    /// The strides in the same order.
    steps: [usize; 4],
}

impl<'a> Side<'a> {
    fn new(
        what: &'static str,
        shape: &Shape,
        numbers: &'a [f32],
        heads_inside: bool,
    ) -> Result<Side<'a>, TensorError> {
        let &[batch, a, b, n] = shape.dims() else {
            return Err(TensorError::Rank { what, want: 4, got: shape.clone() });
        };
        let (dims, steps) = if heads_inside {
            ([batch, b, a, n], [a * b * n, n, b * n, 1])
        } else {
            ([batch, a, b, n], [a * b * n, b * n, n, 1])
        };
        Ok(Side { numbers, dims, steps })
    }

    /// The operand with stride 0 along axes of length 1, along which it broadcasts.
    fn spread(mut self) -> Side<'a> {
        for (dim, step) in self.dims.iter().zip(&mut self.steps) {
            *step = if *dim == 1 { 0 } else { *step };
        }
        self
    }

    fn from(&self, batch: usize, head: usize) -> &'a [f32] {
        self.numbers.get(batch * self.steps[0] + head * self.steps[1]..).unwrap_or_default()
    }

    /// The matrix of a head, with its positions as rows.
    fn head(&self, batch: usize, head: usize) -> Option<Matrix<'a, f32>> {
        let [_, _, positions, n] = self.dims;
        Matrix::strided(self.from(batch, head), (positions, self.steps[2]), (n, 1))
    }
}

/// Attention of q (`T` positions) to k and v (`S` positions). `mask`, of rank 4, broadcasts to the scores of
/// shape `[batch, heads, T, S]` and is added to them. The result has shape
/// `[batch, heads, T, elements of v]`.
pub fn attention(
    [q, k, v]: [&HostTensor; 3],
    mask: Option<&HostTensor>,
    how: &Attention,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (from_q, from_k, from_v) = (q.read_as::<f32>("q")?, k.read_as::<f32>("k")?, v.read_as::<f32>("v")?);
    let q = Side::new("q", q.shape(), &from_q, how.heads_inside)?;
    let k = Side::new("k", k.shape(), &from_k, how.heads_inside)?;
    let v = Side::new("v", v.shape(), &from_v, how.heads_inside)?;
    let ([batch, heads, rows, n], [.., columns, _], [.., numbers]) = (q.dims, k.dims, v.dims);
    if k.dims != [batch, heads, columns, n] || v.dims != [batch, heads, columns, numbers] {
        return invalid(OP, format!("queries {:?}, keys {:?} and values {:?}", q.dims, k.dims, v.dims));
    }
    let from_mask = mask.map(|mask| mask.read_as::<f32>("mask")).transpose()?;
    let mask = match (mask, &from_mask) {
        (Some(mask), Some(numbers)) => Some(Side::new("mask", mask.shape(), numbers, false)?.spread()),
        _ => None,
    };
    if let Some(mask) = &mask {
        let fits =
            mask.dims.iter().zip([batch, heads, rows, columns]).all(|(&dim, want)| dim == 1 || dim == want);
        if !fits {
            return invalid(
                OP,
                format!("a mask {:?} for scores {:?}", mask.dims, [batch, heads, rows, columns]),
            );
        }
    }
    let shape = Shape::new(&[batch, heads, rows, numbers])?;
    let scores_len = Shape::new(&[rows, columns])?.num_elements();
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    let unit = rows * numbers; // fits: a factor of the number of elements
    // A single position reads all keys and values for itself.
    let cost = if rows == 1 { 3 * columns } else { columns + n };
    // The scores are allocated by the request's allocator, so its limits apply to them.
    let failed = std::sync::OnceLock::new();
    cx.parts(&mut out.write::<f32>()?, (unit, cost), &|first, part| {
        let run = |part: &mut [f32]| -> Result<(), TensorError> {
            let scores = HostTensor::allocate(DType::F32, Shape::new(&[scores_len])?, cx.allocator)?;
            let mut scores = scores.write::<f32>()?;
            for (i, out) in part.chunks_mut(unit.max(1)).enumerate() {
                let at = first / unit.max(1) + i;
                let (batch, head) = (at / heads, at % heads);
                let (Some(q), Some(k), Some(v)) =
                    (q.head(batch, head), k.head(batch, head), v.head(batch, head))
                else {
                    return Err(TensorError::TooLarge);
                };
                one_f32(q, k.transposed(), (&mut scores, (columns, 1)), false);
                for (position, row) in scores.chunks_mut(columns.max(1)).enumerate() {
                    row.iter_mut().for_each(|x| *x *= how.scale);
                    if let Some(mask) = &mask {
                        let from = mask.from(batch, head).get(position * mask.steps[2]..).unwrap_or_default();
                        match (mask.steps[3], from.first()) {
                            (0, Some(&one)) => row.iter_mut().for_each(|x| *x += one),
                            _ => row.iter_mut().zip(from).for_each(|(x, more)| *x += more),
                        }
                    }
                }
                softmax_in_place(columns, &mut scores);
                let scores = Matrix::new(&scores, rows, columns);
                one_f32(scores, v, (out, (numbers, 1)), false);
            }
            Ok(())
        };
        if let Err(error) = run(part) {
            // The first error is kept.
            _ = failed.set(error);
        }
    });
    failed.into_inner().map_or(Ok(out), Err)
}
