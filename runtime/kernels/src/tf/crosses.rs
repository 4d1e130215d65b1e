//! Crosses of features: all combinations of one feature of each column, row by row.
//!
//! ```text
//! row 0 of three columns: [a b] [c] [d e] ──▶ a_X_c_X_d  a_X_c_X_e  b_X_c_X_d  b_X_c_X_e, or their hashes
//! ```
//!
//! A column is a sparse or a dense matrix of strings or integers. Rows of a sparse one must be sorted: as in
//! TensorFlow, entries after one of an earlier row are not used. A row in which a column has no feature has
//! no crosses, so the work depends on the number of entries, not on the number of rows that a shape declares.

use std::ops::Range;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::interrupt::is_interrupted;
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::push;
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::{
    DType, HostTensor, I1, Ref, Shape, Strings, TensorError, fingerprint_cat64, fingerprint64,
};
use siphasher::sip::SipHasher24;

use super::action::{ActionRow, int, tensor, variadic_action};
use super::joined::TextBuilder;
use super::operands::dense;
use super::strings::strings_in;
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::SparseCross], |attrs| {
        let (form, start) = (Form::new(attrs)?, attrs.int("hash_key")? as u64);
        let (n_buckets, is_hashed) = (attrs.int("num_buckets")?, attrs.ty("out_type")? != Type::String);
        let are_strings = attrs.ty("internal_type")? == Type::String;
        variadic_action(move |operands, cx| {
            let (columns, _) = form.columns(operands, 0)?;
            if are_strings && columns.all.iter().any(|column| matches!(column.features, Features::Numbers(_)))
            {
                return Err(form.invalid("integers among features of the internal type string"));
            }
            match is_hashed {
                true => {
                    let hash = |_: &CrossColumn<'_>, feature: Feature<'_>| feature.simple_hash();
                    columns.hashed(Some(start), hash, n_buckets, cx.allocator())
                }
                false => columns.joined(b"_X_", cx.allocator()),
            }
        })
    }),
    (&[Op::SparseCrossV2], |attrs| {
        let form = Form::new(attrs)?;
        variadic_action(move |operands, cx| {
            let (columns, rest) = form.columns(operands, 1)?;
            let separator = strings_in(rest[0])?;
            if separator.shape().rank() != 0 {
                return Err(form.invalid("the separator must be a scalar"));
            }
            let separator = separator.read().map_err(refused)?;
            columns.joined(separator.at(0).unwrap_or_default(), cx.allocator())
        })
    }),
    (&[Op::SparseCrossHashed], |attrs| {
        let form = Form::new(attrs)?;
        variadic_action(move |operands, cx| {
            let (columns, rest) = form.columns(operands, 3)?;
            let (is_strong, salt) = (dense(rest[1])?, dense(rest[2])?);
            let is_strong = is_strong.read_as::<I1>("strong_hash").map_err(refused)?;
            let salt = salt.read_as::<i64>("salt").map_err(refused)?;
            let (&[is_strong], &[a, b]) = (&is_strong[..], &salt[..]) else {
                return Err(form.invalid("expected one `strong_hash` and two numbers of `salt`"));
            };
            let is_strong = is_strong == I1::TRUE;
            let strong = SipHasher24::new_with_keys(a as u64, b as u64);
            let hash = |column: &CrossColumn<'_>, feature: Feature<'_>| match feature {
                Feature::Text(text) if is_strong => strong.hash(text),
                // Only half of an integer is hashed, by a mistake that models depend on.
                Feature::Number(number) if is_strong => strong.hash(&number.to_le_bytes()[..4]),
                Feature::Number(number) if matches!(column.rows, CrossRows::Sparse(_)) => {
                    fingerprint64(&number.to_le_bytes()[..4])
                }
                feature => feature.simple_hash(),
            };
            columns.hashed(None, hash, int(rest[0])?, cx.allocator())
        })
    }),
];

/// The numbers of sparse and dense columns of an operator.
struct Form {
    op: &'static str,
    n_sparse: usize,
    n_dense: usize,
}

/// A feature.
#[derive(Clone, Copy)]
enum Feature<'a> {
    Text(&'a [u8]),
    Number(i64),
}

impl Feature<'_> {
    fn simple_hash(self) -> u64 {
        match self {
            Feature::Text(text) => fingerprint64(text),
            Feature::Number(number) => number as u64,
        }
    }
}

/// The features of a column.
enum Features<'a> {
    Texts(Strings<'a>),
    Numbers(Ref<'a, i64>),
}

/// The features of each row.
enum CrossRows {
    /// Rows in order, with the positions of their features.
    Sparse(Vec<(usize, Range<usize>)>),
    /// The number of features of all rows.
    Dense(usize),
}

struct CrossColumn<'a> {
    features: Features<'a>,
    rows: CrossRows,
}

impl CrossColumn<'_> {
    /// The positions of the features of a row.
    fn row(&self, row: usize) -> Range<usize> {
        match &self.rows {
            CrossRows::Sparse(rows) => match rows.binary_search_by_key(&row, |(row, _)| *row) {
                Ok(at) => rows[at].1.clone(),
                Err(_) => 0..0,
            },
            CrossRows::Dense(width) => row * width..(row + 1) * width,
        }
    }

    fn feature(&self, at: usize) -> Feature<'_> {
        match &self.features {
            Features::Texts(texts) => Feature::Text(texts.at(at).unwrap_or_default()),
            Features::Numbers(numbers) => Feature::Number(numbers[at]),
        }
    }
}

impl Form {
    fn new(attrs: &Attributes<'_>) -> Result<Form, TensorError> {
        let count = |name| attrs.types(name).map(|types| types.len());
        Ok(Form { op: attrs.op(), n_sparse: count("sparse_types")?, n_dense: count("dense_types")? })
    }

    fn invalid(&self, problem: impl std::fmt::Display) -> KernelError {
        KernelError::invalid(format!("`{}`: {problem}", self.op))
    }

    /// The features in a value with a shape of this rank, and the shape.
    fn features<'a>(&self, value: &'a Value, rank: usize) -> Result<(Features<'a>, &'a Shape), KernelError> {
        let (features, shape) = match strings_in(value) {
            Ok(texts) => (Features::Texts(texts.read().map_err(refused)?), texts.shape()),
            Err(_) => {
                let numbers = dense(value)?;
                (Features::Numbers(numbers.read_as::<i64>("values").map_err(refused)?), numbers.shape())
            }
        };
        match shape.rank() == rank {
            true => Ok((features, shape)),
            false => Err(self.invalid(format!("features of shape {shape}, expected rank {rank}"))),
        }
    }

    /// The columns, and the `n_rest` operands after them.
    fn columns<'a>(
        &self,
        operands: &[&'a Value],
        n_rest: usize,
    ) -> Result<(Columns<'a>, Vec<&'a Value>), KernelError> {
        let n = self.n_sparse;
        if operands.len() != 3 * n + self.n_dense + n_rest {
            return Err(self.invalid(format!("{} operands for {n} sparse columns", operands.len())));
        }
        let (indices, others) = operands.split_at(n);
        let (values, others) = others.split_at(n);
        let (shapes, others) = others.split_at(n);
        let (matrices, rest) = others.split_at(self.n_dense);
        let mut columns = Columns { n_rows: None, all: Vec::new() };
        for ((indices, values), shape) in indices.iter().zip(values).zip(shapes) {
            let (indices, shape) = (dense(indices)?, dense(shape)?);
            let sizes = shape.read_as::<i64>("shapes").map_err(refused)?;
            let (features, count) = self.features(values, 1)?;
            let n = count.num_elements();
            let (&[n_rows, _], &[n_indices, 2], 1) =
                (&sizes[..], indices.shape().dims(), shape.shape().rank())
            else {
                let (indices, shape) = (indices.shape(), shape.shape());
                return Err(self.invalid(format!("indices of shape {indices}, a shape of shape {shape}")));
            };
            if n_indices != n {
                return Err(self.invalid(format!("{n_indices} indices of {n} features")));
            }
            let n_rows = columns.with_rows(self, n_rows)?;
            let indices = indices.read_as::<i64>("indices").map_err(refused)?;
            let mut rows: Vec<(usize, Range<usize>)> = Vec::new();
            for (at, entry) in indices.chunks_exact(2).enumerate() {
                let Some(row) = usize::try_from(entry[0]).ok().filter(|&row| row < n_rows) else { break };
                match rows.last_mut() {
                    Some((last, range)) if *last == row => range.end += 1,
                    Some((last, _)) if *last > row => break,
                    _ => push(&mut rows, (row, at..at + 1)).map_err(refused)?,
                }
            }
            columns.all.push(CrossColumn { features, rows: CrossRows::Sparse(rows) });
        }
        for matrix in matrices {
            let (features, shape) = self.features(matrix, 2)?;
            columns.with_rows(self, shape.dims()[0] as i64)?;
            columns.all.push(CrossColumn { features, rows: CrossRows::Dense(shape.dims()[1]) });
        }
        Ok((columns, rest.to_vec()))
    }
}

/// All columns of an operator.
struct Columns<'a> {
    n_rows: Option<usize>,
    all: Vec<CrossColumn<'a>>,
}

impl Columns<'_> {
    /// The number of rows, which all columns have.
    fn with_rows(&mut self, form: &Form, given: i64) -> Result<usize, KernelError> {
        match usize::try_from(given) {
            Ok(n) if self.n_rows.is_none_or(|known| known == n) => Ok(*self.n_rows.insert(n)),
            _ => Err(form.invalid(format!("a column of {given} rows among columns of {:?}", self.n_rows))),
        }
    }

    /// Calls `f` with each row in which all columns have features, and the positions of the features.
    fn each_row(
        &self,
        mut f: impl FnMut(usize, &[Range<usize>]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut row_of = |row: usize| {
            ranges.clear();
            ranges.extend(self.all.iter().map(|column| column.row(row)));
            if ranges.iter().any(Range::is_empty) { Ok(()) } else { f(row, &ranges) }
        };
        let sparse = self.all.iter().find_map(|column| match &column.rows {
            CrossRows::Sparse(rows) => Some(rows),
            CrossRows::Dense(_) => None,
        });
        match sparse {
            Some(rows) => rows.iter().try_for_each(|(row, _)| row_of(*row)),
            // A matrix without columns may have any number of rows.
            None if self.all.iter().any(|column| matches!(column.rows, CrossRows::Dense(0))) => Ok(()),
            None => (0..self.n_rows.unwrap_or(0)).try_for_each(row_of),
        }
    }

    /// The number of crosses, and the largest number in a row.
    fn counts(&self) -> Result<[usize; 2], KernelError> {
        let too_large = || refused(TensorError::TooLarge);
        let (mut sum, mut largest) = (0usize, 0);
        self.each_row(|_, ranges| {
            let n = ranges.iter().try_fold(1usize, |n, range| n.checked_mul(range.len()));
            let n = n.ok_or_else(too_large)?;
            (sum, largest) = (sum.checked_add(n).ok_or_else(too_large)?, largest.max(n));
            Ok(())
        })?;
        Ok([sum, largest])
    }

    /// Calls `f` with the positions of the features of each cross, the last column the fastest. The results
    /// are the coordinates and the shape of all crosses.
    fn each(
        &self,
        allocator: &Arc<dyn Allocator>,
        mut f: impl FnMut(&[usize]) -> Result<(), KernelError>,
    ) -> Result<[Value; 2], KernelError> {
        let [n, largest] = self.counts()?;
        let indices = Shape::new(&[n, 2]).and_then(|shape| HostTensor::zeros(DType::I64, shape, allocator));
        let indices = indices.map_err(refused)?;
        {
            let mut to = indices.write::<i64>().map_err(refused)?;
            let mut to = to.chunks_exact_mut(2);
            let mut at: Vec<usize> = Vec::new();
            self.each_row(|row, ranges| {
                at.clear();
                at.extend(ranges.iter().map(|range| range.start));
                for i in (0..).take_while(|_| !is_interrupted()) {
                    f(&at)?;
                    if let Some(to) = to.next() {
                        to.copy_from_slice(&[row as i64, i]);
                    }
                    let Some(next) = (0..at.len()).rev().find(|&i| at[i] + 1 < ranges[i].end) else { break };
                    at[next] += 1;
                    (next + 1..at.len()).for_each(|i| at[i] = ranges[i].start);
                }
                Ok(())
            })?;
        }
        let shape = [self.n_rows.unwrap_or(0) as i64, largest as i64];
        let shape = Shape::new(&[2]).and_then(|of| HostTensor::from_slice(of, &shape, allocator));
        Ok([tensor(indices), tensor(shape.map_err(refused)?)])
    }

    /// The texts of all crosses.
    fn joined(&self, separator: &[u8], allocator: &Arc<dyn Allocator>) -> Result<[Value; 3], KernelError> {
        let [n, _] = self.counts()?;
        let mut texts = TextBuilder::new(n, allocator)?;
        let [indices, shape] = self.each(allocator, |at| {
            for (i, (column, &at)) in self.all.iter().zip(at).enumerate() {
                if i > 0 {
                    texts.append(separator)?;
                }
                match column.feature(at) {
                    Feature::Text(text) => texts.append(text)?,
                    Feature::Number(number) => texts.append(number.to_string().as_bytes())?,
                }
            }
            texts.end()
        })?;
        let texts = texts.finish(&Shape::new(&[n]).map_err(refused)?)?;
        Ok([indices, texts, shape])
    }

    /// The hashes of all crosses, as numbers of buckets. Without a first number, the fold of the hashes
    /// begins with that of the first feature.
    fn hashed(
        &self,
        first: Option<u64>,
        hash: impl Fn(&CrossColumn<'_>, Feature<'_>) -> u64,
        n_buckets: i64,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<[Value; 3], KernelError> {
        let [n, _] = self.counts()?;
        let values = Shape::new(&[n]).and_then(|shape| HostTensor::zeros(DType::I64, shape, allocator));
        let values = values.map_err(refused)?;
        let n_buckets = if n_buckets > 0 { n_buckets } else { i64::MAX } as u64;
        let [indices, shape] = {
            let mut to = values.write::<i64>().map_err(refused)?;
            let mut to = to.iter_mut();
            self.each(allocator, |at| {
                let features = self.all.iter().zip(at).map(|(column, &at)| hash(column, column.feature(at)));
                let all = features
                    .fold(first, |all, hash| Some(all.map_or(hash, |all| fingerprint_cat64(all, hash))));
                if let Some(to) = to.next() {
                    *to = (all.unwrap_or(0) % n_buckets) as i64;
                }
                Ok(())
            })?
        };
        Ok([indices, tensor(values), shape])
    }
}
