//! Strings joined along axes, by segment, and as n-grams: `ReduceJoin`, `UnsortedSegmentJoin` and
//! `StringNGrams`.
//!
//! Results may be much longer than the operands, since separators and pads are repeated: [`TextBuilder`] asks
//! the allocator before it grows.

use std::ops::Range;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::interrupt::is_interrupted;
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{collected, no_room, push};
use befrost_tensor::sort::sorted_by_keys;
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::{DType, HostTensor, Shape, StringTensor, Strings, TensorError};

use super::action::{ActionRow, action, int, ints, tensor};
use super::operands::dense;
use super::strings::{expect_room, strings, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ReduceJoin], |attrs| {
        let (separator, keeps_dims) = (attrs.bytes("separator")?, attrs.bool("keep_dims")?);
        action(attrs, move |[x, axes], cx| {
            Ok([reduce_join(strings_in(x)?, &ints(axes)?, &separator, keeps_dims, cx.allocator())?])
        })
    }),
    (&[Op::UnsortedSegmentJoin], |attrs| {
        let separator = attrs.bytes("separator")?;
        action(attrs, move |[x, ids, n], cx| {
            if dense(n)?.shape().rank() != 0 {
                return Err(invalid("UnsortedSegmentJoin", "the number of segments must be a scalar"));
            }
            Ok([segment_join(strings_in(x)?, ids, int(n)?, &separator, cx.allocator())?])
        })
    }),
    (&[Op::StringNGrams], |attrs| {
        let grams = NGrams::new(attrs)?;
        action(attrs, move |[data, splits], cx| grams.of(strings_in(data)?, splits, cx.allocator()))
    }),
];

fn invalid(op: &str, problem: impl std::fmt::Display) -> KernelError {
    KernelError::invalid(format!("`{op}`: {problem}"))
}

/// Texts that are written one after the other.
pub(super) struct TextBuilder<'a> {
    bytes: Vec<u8>,
    /// The end of each text.
    ends: Vec<usize>,
    allocator: &'a Arc<dyn Allocator>,
}

impl<'a> TextBuilder<'a> {
    /// No texts; later `n`.
    pub(super) fn new(n: usize, allocator: &'a Arc<dyn Allocator>) -> Result<TextBuilder<'a>, KernelError> {
        expect_room(n, size_of::<usize>(), allocator)?;
        let ends = befrost_tensor::scratch::with_room(n).map_err(refused)?;
        Ok(TextBuilder { bytes: Vec::new(), ends, allocator })
    }

    /// Room for more bytes of the current text.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), KernelError> {
        let (len, room) = (self.bytes.len(), self.bytes.capacity());
        if more > room - len {
            let wanted = len.checked_add(more).ok_or_else(|| refused(TensorError::TooLarge))?;
            expect_room(wanted, 1, self.allocator)?;
            let grown = wanted.max(room.saturating_mul(2)) - len;
            self.bytes.try_reserve(grown).map_err(|_| refused(no_room::<u8>(wanted)))?;
        }
        Ok(())
    }

    /// Appends bytes to the current text.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        self.reserve(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends bytes several times.
    fn repeat(&mut self, bytes: &[u8], n: usize) -> Result<(), KernelError> {
        let all = bytes.len().checked_mul(n).ok_or_else(|| refused(TensorError::TooLarge))?;
        if all > 0 {
            self.reserve(all)?;
            (0..n).for_each(|_| self.bytes.extend_from_slice(bytes));
        }
        Ok(())
    }

    /// Ends the current text.
    pub(super) fn end(&mut self) -> Result<(), KernelError> {
        push(&mut self.ends, self.bytes.len()).map_err(refused)
    }

    /// Appends parts with separators between them, and ends the text.
    fn join<'t>(
        &mut self,
        parts: impl IntoIterator<Item = &'t [u8]>,
        separator: &[u8],
    ) -> Result<(), KernelError> {
        for (i, part) in parts.into_iter().enumerate() {
            if i > 0 {
                self.append(separator)?;
            }
            self.append(part)?;
        }
        self.end()
    }

    /// The texts.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    /// The tensor of all texts.
    pub(super) fn finish(self, shape: &Shape) -> Result<Value, KernelError> {
        strings(shape, &collected(self.iter()).map_err(refused)?, self.allocator)
    }
}

/// The positions of all combinations of indices of axes, the last axis fastest, by lengths and strides.
fn positions(axes: &[(usize, usize)]) -> impl Iterator<Item = usize> {
    // The axes are some of a tensor's.
    let n: usize = axes.iter().map(|&(len, _)| len).product();
    (0..n).map(move |mut i| {
        axes.iter().rev().fold(0, |position, &(len, stride)| {
            let at = i % len;
            i /= len;
            position + at * stride
        })
    })
}

/// The strings along axes joined; the first axis of the list is the fastest.
fn reduce_join(
    x: &StringTensor,
    axes: &[i64],
    separator: &[u8],
    keeps_dims: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let (op, dims) = ("ReduceJoin", x.shape().dims());
    let mut strides = vec![1; dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i] * dims[i].max(1);
    }
    let mut is_joined = vec![false; dims.len()];
    let mut joined = Vec::new();
    for &axis in axes {
        let at = if axis < 0 { axis.saturating_add(dims.len() as i64) } else { axis };
        let at = usize::try_from(at).ok().filter(|&at| at < dims.len());
        let Some(at) = at else {
            return Err(invalid(op, format_args!("there is no axis {axis} of {}", dims.len())));
        };
        if std::mem::replace(&mut is_joined[at], true) {
            return Err(invalid(op, format_args!("axis {axis} occurs twice")));
        }
        joined.push((dims[at], strides[at]));
    }
    joined.reverse();
    let own = |i: usize| (dims[i], strides[i]);
    let kept: Vec<(usize, usize)> = (0..dims.len()).filter(|&i| !is_joined[i]).map(own).collect();
    let lens = (0..dims.len()).filter_map(|i| match (is_joined[i], keeps_dims) {
        (false, _) => Some(dims[i]),
        (true, true) => Some(1),
        (true, false) => None,
    });
    let shape = Shape::new(&lens.collect::<Vec<_>>()).map_err(refused)?;
    let read = x.read().map_err(refused)?;
    let mut made = TextBuilder::new(shape.num_elements(), allocator)?;
    for start in positions(&kept).take(shape.num_elements()) {
        if is_interrupted() {
            return Err(refused(TensorError::Interrupted));
        }
        let parts = positions(&joined).map(|at| read.at(start + at).unwrap_or_default());
        made.join(parts, separator)?;
    }
    made.finish(&shape)
}

/// The strings with equal ids joined.
fn segment_join(
    x: &StringTensor,
    ids: &Value,
    n: i64,
    separator: &[u8],
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let op = "UnsortedSegmentJoin";
    let (of_ids, dims) = (dense(ids)?.shape().dims(), x.shape().dims());
    let Ok(n) = usize::try_from(n) else {
        return Err(invalid(op, format_args!("{n} segments")));
    };
    let Some(inner) = dims.strip_prefix(of_ids).filter(|_| !of_ids.is_empty()) else {
        let (x, ids) = (x.shape(), dense(ids)?.shape());
        return Err(invalid(op, format_args!("segment ids of shape {ids} for strings of shape {x}")));
    };
    let ids = ints(ids)?;
    if let Some(id) = ids.iter().find(|&&id| !usize::try_from(id).is_ok_and(|id| id < n)) {
        return Err(invalid(op, format_args!("segment id {id} of {n} segments")));
    }
    let shape = Shape::new(&[&[n], inner].concat()).map_err(refused)?;
    let width: usize = inner.iter().product();
    let read = x.read().map_err(refused)?;
    let order = sorted_by_keys(ids.iter().map(|&id| id as u64)).map_err(refused)?; // not negative
    let (mut made, mut rest) = (TextBuilder::new(shape.num_elements(), allocator)?, &order[..]);
    for id in 0..if width > 0 { n as i64 } else { 0 } {
        if is_interrupted() {
            return Err(refused(TensorError::Interrupted));
        }
        let (own, others) = rest.split_at(rest.iter().take_while(|&&i| ids[i] == id).count());
        for column in 0..width {
            let parts = own.iter().map(|&i| read.at(i * width + column).unwrap_or_default());
            made.join(parts, separator)?;
        }
        rest = others;
    }
    made.finish(&shape)
}

/// The row splits of `len` elements: they begin with 0, do not fall, and end with `len`.
pub(super) fn row_splits(op: &str, splits: &[i64], len: usize) -> Result<Vec<Range<usize>>, KernelError> {
    if splits.first().is_some_and(|&first| first != 0) {
        return Err(invalid(op, format_args!("the first split is {}, expected 0", splits[0])));
    }
    if splits.last().is_some_and(|&last| usize::try_from(last) != Ok(len)) {
        let last = splits[splits.len() - 1];
        return Err(invalid(op, format_args!("the last split is {last}, expected {len}")));
    }
    let rows = splits.windows(2).map(|ends| match ends {
        &[start, end] if start <= end => Ok(start as usize..end as usize),
        _ => Err(TensorError::Invalid { op: "row splits", problem: format!("{ends:?} fall") }),
    });
    befrost_tensor::scratch::try_collected(rows).map_err(refused)
}

/// The attributes of `StringNGrams`.
struct NGrams {
    separator: Vec<u8>,
    widths: Vec<usize>,
    pads: [Vec<u8>; 2],
    /// The number of pads at either end; `None` for as many as an n-gram has room for.
    pad_width: Option<usize>,
    keeps_short: bool,
}

impl NGrams {
    fn new(attrs: &Attributes<'_>) -> Result<NGrams, TensorError> {
        let op = attrs.op();
        let widths = attrs.ints("ngram_widths")?.into_iter().map(|width| {
            usize::try_from(width).ok().filter(|&width| width > 0).ok_or_else(|| TensorError::Invalid {
                op,
                problem: format!("ngram_widths must contain positive values, not {width}"),
            })
        });
        Ok(NGrams {
            separator: attrs.bytes("separator")?,
            widths: widths.collect::<Result<_, _>>()?,
            pads: [attrs.bytes("left_pad")?, attrs.bytes("right_pad")?],
            pad_width: usize::try_from(attrs.int("pad_width")?).ok(),
            keeps_short: attrs.bool("preserve_short_sequences")?,
        })
    }

    /// The widths, the pads at either end and the numbers of the n-grams of a row of this length.
    fn plans(&self, len: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let plans = self.widths.iter().map(move |&width| {
            let pads = self.pad_width.unwrap_or(usize::MAX).min(width - 1);
            let room = len.saturating_add(pads.saturating_mul(2));
            (width, pads, room.saturating_add(1).saturating_sub(width))
        });
        // A row without n-grams is one, with all its pads.
        let is_short = self.keeps_short && len > 0 && plans.clone().all(|(_, _, n)| n == 0);
        let whole = is_short.then(|| {
            let pads = self.pad_width.unwrap_or(0);
            (len.saturating_add(pads.saturating_mul(2)), pads, 1)
        });
        plans.chain(whole)
    }

    fn of(
        &self,
        data: &StringTensor,
        splits: &Value,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<[Value; 2], KernelError> {
        let (op, dtype) = ("StringNGrams", dense(splits)?.dtype());
        let read = data.read().map_err(refused)?;
        let rows = row_splits(op, &ints(splits)?, data.num_elements())?;
        let mut ends = befrost_tensor::scratch::with_room(rows.len().saturating_add(1)).map_err(refused)?;
        let mut n = 0usize;
        let splits = dense(splits)?.num_elements();
        ends.extend((splits > 0).then_some(0));
        for row in &rows {
            n = self.plans(row.len()).fold(n, |n, (_, _, more)| n.saturating_add(more));
            ends.push(n as i64);
        }
        if splits == 0 || data.num_elements() == 0 {
            // TensorFlow's answer for data without rows, and for rows that are all empty.
            let empty = vec![&[][..]; data.num_elements()];
            let none = HostTensor::zeros(dtype, Shape::new(&[splits]).map_err(refused)?, allocator);
            let shape = Shape::new(&[empty.len()]).map_err(refused)?;
            return Ok([strings(&shape, &empty, allocator)?, tensor(none.map_err(refused)?)]);
        }
        let mut made = TextBuilder::new(n, allocator)?;
        for row in rows {
            for (width, pads, n) in self.plans(row.len()) {
                for i in 0..n {
                    if is_interrupted() {
                        return Err(refused(TensorError::Interrupted));
                    }
                    self.gram(&read, row.clone(), (width, pads), (i, n), &mut made)?;
                }
            }
        }
        let shape = Shape::new(&[n]).map_err(refused)?;
        let wide = HostTensor::from_slice(Shape::new(&[ends.len()]).map_err(refused)?, &ends, allocator);
        let ends = befrost_tensor::tf::cast(&wide.map_err(refused)?, dtype, allocator).map_err(refused)?;
        if dtype == DType::I32 && i32::try_from(n).is_err() {
            return Err(invalid(op, format_args!("{n} n-grams, too many for splits of i32")));
        }
        Ok([made.finish(&shape)?, tensor(ends)])
    }

    /// N-gram `i` of `n` of a row.
    fn gram(
        &self,
        data: &Strings<'_>,
        row: Range<usize>,
        (width, pads): (usize, usize),
        (i, n): (usize, usize),
        made: &mut TextBuilder<'_>,
    ) -> Result<(), KernelError> {
        let (left, right) = (pads.saturating_sub(i), pads.saturating_sub(n - i - 1));
        let tokens = width - left - right;
        let [left_pad, right_pad] = &self.pads;
        let separated = |pad: &[u8], after: bool| match after {
            true => [pad, &self.separator].concat(),
            false => [&self.separator, pad].concat(),
        };
        let first = row.start + i.saturating_sub(pads);
        if tokens > 0 {
            made.repeat(&separated(left_pad, true), left)?;
            for (k, token) in (first..first + tokens).enumerate() {
                if k > 0 {
                    made.append(&self.separator)?;
                }
                made.append(data.at(token).unwrap_or_default())?;
            }
            made.repeat(&separated(right_pad, false), right)?;
        } else {
            // Pads alone.
            made.repeat(&separated(left_pad, true), left)?;
            made.append(if right > 0 { right_pad } else { &[] })?;
            made.repeat(&separated(right_pad, false), right.saturating_sub(1))?;
        }
        made.end()
    }
}
