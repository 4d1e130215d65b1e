//! `tf.Example` messages as columns of tensors: `ParseExample`, `ParseExampleV2` and `ParseSingleExample`.
//!
//! ```text
//! example 0: { age: [3], words: ["a"] }       dense   age    [[3], [7]]
//! example 1: { age: [7], words: ["b", "c"] }  sparse  words  entries (0, 0) (1, 0) (1, 1)
//!                                             ragged  words  rows 0 1 3
//! ```
//!
//! An example is a message of untrusted bytes. A feature that occurs several times has its last value. Memory
//! is proportional to the messages, except for dense features of any length, which are padded to the longest.

use std::collections::HashMap;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::{collected, push, reserve, try_collected};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::wire::{Message, WireValue, fixed32, varint};
use befrost_tensor::{DType, HostTensor, Shape, StringTensor, TensorError};

use super::action::{ActionRow, tensor, variadic_action};
use super::operands::dense;
use super::strings::{strings, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ParseSingleExample], |attrs| {
        let schema = ExampleSchema::new(attrs, "")?;
        let keys = |name| Ok::<_, TensorError>(attrs.strings(name)?.into_iter().map(String::into_bytes));
        let keys: Vec<Vec<u8>> = keys("sparse_keys")?.chain(keys("dense_keys")?).collect();
        variadic_action(move |operands, cx| {
            let [serialized, defaults @ ..] = operands else { return Err(missing_operands()) };
            schema.parsed(serialized, &keys, defaults, cx.allocator())
        })
    }),
    (&[Op::ParseExample], |attrs| {
        let schema = ExampleSchema::new(attrs, "")?;
        variadic_action(move |operands, cx| {
            let n = schema.sparse.len() + schema.dense.len();
            let Some(([serialized, _names], rest)) = operands.split_first_chunk() else {
                return Err(missing_operands());
            };
            let Some((keys, defaults)) = rest.split_at_checked(n) else { return Err(missing_operands()) };
            let keys = keys.iter().map(|key| key_list(key)).collect::<Result<Vec<_>, _>>()?.concat();
            schema.parsed(serialized, &keys, defaults, cx.allocator())
        })
    }),
    (&[Op::ParseExampleV2], |attrs| {
        let schema = ExampleSchema::new(attrs, "")?;
        variadic_action(move |operands, cx| {
            let [serialized, _names, sparse, dense, ragged, defaults @ ..] = operands else {
                return Err(missing_operands());
            };
            let keys = [key_list(sparse)?, key_list(dense)?, key_list(ragged)?].concat();
            schema.parsed(serialized, &keys, defaults, cx.allocator())
        })
    }),
];

pub(super) fn missing_operands() -> KernelError {
    KernelError::invalid("examples: operands are missing".to_owned())
}

/// The names of features in a tensor.
pub(super) fn key_list(keys: &Value) -> Result<Vec<Vec<u8>>, KernelError> {
    let keys = strings_in(keys)?.read().map_err(refused)?;
    Ok(keys.iter().map(<[u8]>::to_vec).collect())
}

/// The type of the numbers or strings of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FeatureKind {
    Bytes,
    Floats,
    Ints,
}

impl FeatureKind {
    pub(super) fn new(op: &'static str, ty: Type) -> Result<FeatureKind, TensorError> {
        match ty {
            Type::String => Ok(FeatureKind::Bytes),
            Type::Dense(DType::F32) => Ok(FeatureKind::Floats),
            Type::Dense(DType::I64) => Ok(FeatureKind::Ints),
            ty => Err(TensorError::Invalid { op, problem: format!("a feature of type {ty}") }),
        }
    }

    /// The name in messages, TensorFlow's.
    pub(super) fn name(self) -> &'static str {
        match self {
            FeatureKind::Bytes => "string",
            FeatureKind::Floats => "float",
            FeatureKind::Ints => "int64",
        }
    }
}

/// The values of a feature in one or all examples.
pub(super) enum FeatureValues<'a> {
    Bytes(Vec<&'a [u8]>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
}

impl<'a> FeatureValues<'a> {
    pub(super) fn new(kind: FeatureKind) -> FeatureValues<'a> {
        match kind {
            FeatureKind::Bytes => FeatureValues::Bytes(Vec::new()),
            FeatureKind::Floats => FeatureValues::Floats(Vec::new()),
            FeatureKind::Ints => FeatureValues::Ints(Vec::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            FeatureValues::Bytes(values) => values.len(),
            FeatureValues::Floats(values) => values.len(),
            FeatureValues::Ints(values) => values.len(),
        }
    }

    /// Appends the values of a list message: single fields, or packed numbers.
    pub(super) fn append(&mut self, list: &'a [u8]) -> Result<(), String> {
        let out_of_memory = |error: TensorError| error.to_string();
        for field in Message::new(list) {
            match (&mut *self, field?) {
                (FeatureValues::Bytes(to), (1, WireValue::Bytes(value))) => {
                    push(to, value).map_err(out_of_memory)?;
                }
                (FeatureValues::Floats(to), (1, WireValue::Fixed32(bits))) => {
                    push(to, f32::from_bits(bits)).map_err(out_of_memory)?;
                }
                (FeatureValues::Floats(to), (1, WireValue::Bytes(mut packed))) => {
                    while !packed.is_empty() {
                        let bits = fixed32(&mut packed).ok_or("a list of floats is cut off")?;
                        push(to, f32::from_bits(bits)).map_err(out_of_memory)?;
                    }
                }
                (FeatureValues::Ints(to), (1, WireValue::Varint(value))) => {
                    push(to, value as i64).map_err(out_of_memory)?;
                }
                (FeatureValues::Ints(to), (1, WireValue::Bytes(mut packed))) => {
                    while !packed.is_empty() {
                        let value = varint(&mut packed).ok_or("a list of integers is cut off")?;
                        push(to, value as i64).map_err(out_of_memory)?;
                    }
                }
                (_, (field, _)) => return Err(format!("a list has a field {field} of another type")),
            }
        }
        Ok(())
    }

    /// Appends values of another list of the same kind.
    pub(super) fn extend(
        &mut self,
        other: &FeatureValues<'a>,
        range: std::ops::Range<usize>,
    ) -> Result<(), TensorError> {
        fn some<T: Copy>(to: &mut Vec<T>, from: &[T]) -> Result<(), TensorError> {
            reserve(to, from.len())?;
            to.extend_from_slice(from);
            Ok(())
        }
        match (self, other) {
            (FeatureValues::Bytes(to), FeatureValues::Bytes(from)) => some(to, &from[range]),
            (FeatureValues::Floats(to), FeatureValues::Floats(from)) => some(to, &from[range]),
            (FeatureValues::Ints(to), FeatureValues::Ints(from)) => some(to, &from[range]),
            _ => unreachable!("both have the kind of the feature"),
        }
    }

    /// Appends a zero, or an empty text.
    pub(super) fn push_zero(&mut self) -> Result<(), TensorError> {
        match self {
            FeatureValues::Bytes(to) => push(to, &[][..]),
            FeatureValues::Floats(to) => push(to, 0.0),
            FeatureValues::Ints(to) => push(to, 0),
        }
    }

    pub(super) fn reserve(&mut self, n: usize) -> Result<(), TensorError> {
        match self {
            FeatureValues::Bytes(to) => reserve(to, n),
            FeatureValues::Floats(to) => reserve(to, n),
            FeatureValues::Ints(to) => reserve(to, n),
        }
    }

    pub(super) fn tensor(&self, shape: Shape, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
        match self {
            FeatureValues::Bytes(values) => strings(&shape, values, allocator),
            FeatureValues::Floats(values) => {
                HostTensor::from_slice(shape, values, allocator).map(tensor).map_err(refused)
            }
            FeatureValues::Ints(values) => {
                HostTensor::from_slice(shape, values, allocator).map(tensor).map_err(refused)
            }
        }
    }
}

/// The kind and the list message of a feature; `None` if it is empty.
pub(super) fn feature(bytes: &[u8]) -> Result<Option<(FeatureKind, &[u8])>, String> {
    let mut found = None;
    for field in Message::new(bytes) {
        found = match field? {
            (1, WireValue::Bytes(list)) => Some((FeatureKind::Bytes, list)),
            (2, WireValue::Bytes(list)) => Some((FeatureKind::Floats, list)),
            (3, WireValue::Bytes(list)) => Some((FeatureKind::Ints, list)),
            _ => return Err("a feature has an unknown type".to_owned()),
        };
    }
    Ok(found)
}

/// Sets the features of an example, or of another field with named messages, at the places of their names.
/// The last one with a name remains.
pub(super) fn read_example<'a>(
    example: &'a [u8],
    field: u64,
    places: &HashMap<&[u8], usize>,
    found: &mut [Option<&'a [u8]>],
) -> Result<(), String> {
    for found_field in Message::new(example) {
        let (number, WireValue::Bytes(features)) = found_field? else { continue };
        if number != field {
            continue;
        }
        for field in Message::new(features) {
            let (1, WireValue::Bytes(entry)) = field? else { continue };
            let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
            for field in Message::new(entry) {
                match field? {
                    (1, WireValue::Bytes(bytes)) => key = bytes,
                    (2, WireValue::Bytes(bytes)) => value = bytes,
                    _ => {}
                }
            }
            if let Some(&place) = places.get(key) {
                found[place] = Some(value);
            }
        }
    }
    Ok(())
}

/// A feature of all examples.
struct FeatureColumn<'a> {
    values: FeatureValues<'a>,
    /// The end of the values of each example.
    ends: Vec<usize>,
}

impl FeatureColumn<'_> {
    /// The values of each example.
    fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end)
    }

    fn longest(&self) -> usize {
        self.rows().map(|row| row.len()).max().unwrap_or(0)
    }
}

/// A dense feature: its kind and the sizes of one example, of which the first may be unknown.
pub(super) struct DenseFeature {
    pub(super) kind: FeatureKind,
    pub(super) is_open: bool,
    /// The known sizes, without the open one.
    pub(super) dims: Vec<usize>,
    /// The number of elements of these sizes.
    pub(super) stride: usize,
}

/// The features to parse; their names are given with the examples: sparse, dense, ragged ones.
pub(super) struct ExampleSchema {
    op: &'static str,
    pub(super) sparse: Vec<FeatureKind>,
    pub(super) dense: Vec<DenseFeature>,
    pub(super) ragged: Vec<(FeatureKind, DType)>,
}

impl ExampleSchema {
    /// The features that attributes specify, whose names have this prefix.
    pub(super) fn new(attrs: &Attributes<'_>, prefix: &str) -> Result<ExampleSchema, TensorError> {
        let op = attrs.op();
        let named = |name: &str| format!("{prefix}{name}");
        let kinds = |name: &str| {
            attrs.types(name)?.into_iter().map(|ty| FeatureKind::new(op, ty)).collect::<Result<Vec<_>, _>>()
        };
        let dense_types = match prefix {
            "" => "Tdense",
            "context_" => "Tcontext_dense",
            _ => "feature_list_dense_types",
        };
        let (dense_kinds, shapes) = (kinds(dense_types)?, attrs.shapes(&named("dense_shapes"))?);
        if dense_kinds.len() != shapes.len() {
            let problem = format!("{} dense features of {} shapes", dense_kinds.len(), shapes.len());
            return Err(TensorError::Invalid { op, problem });
        }
        let dense = dense_kinds.into_iter().zip(&shapes);
        let dense =
            dense.map(|(kind, shape)| DenseFeature::new(op, kind, shape)).collect::<Result<_, _>>()?;
        let mut ragged = Vec::new();
        if attrs.signature().attr(&named("ragged_value_types")).is_some() {
            let splits = attrs.types(&named("ragged_split_types"))?;
            for (kind, split) in kinds(&named("ragged_value_types"))?.into_iter().zip(splits) {
                match split {
                    Type::Dense(dtype @ (DType::I32 | DType::I64)) => ragged.push((kind, dtype)),
                    ty => {
                        return Err(TensorError::Invalid { op, problem: format!("row splits of type {ty}") });
                    }
                }
            }
        }
        Ok(ExampleSchema { op, sparse: kinds(&named("sparse_types"))?, dense, ragged })
    }

    pub(super) fn invalid(&self, problem: &str) -> KernelError {
        KernelError::invalid(format!("`{}`: {problem}", self.op))
    }

    /// The features of the examples: the results of the operator.
    pub(super) fn parsed(
        &self,
        serialized: &Value,
        keys: &[Vec<u8>],
        defaults: &[&Value],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<Value>, KernelError> {
        let serialized = strings_in(serialized)?;
        let is_single = match serialized.shape().rank() {
            0 => true,
            1 => false,
            rank => {
                return Err(self.invalid(&format!("examples of rank {rank}, expected a vector or a scalar")));
            }
        };
        let dense = self.dense.iter().map(|feature| feature.kind);
        let kinds: Vec<FeatureKind> = self
            .sparse
            .iter()
            .copied()
            .chain(dense)
            .chain(self.ragged.iter().map(|&(kind, _)| kind))
            .collect();
        if keys.len() != kinds.len() || defaults.len() != self.dense.len() {
            let problem = format!(
                "{} names and {} defaults for {} features, of which {} are dense",
                keys.len(),
                defaults.len(),
                kinds.len(),
                self.dense.len()
            );
            return Err(self.invalid(&problem));
        }
        let places: HashMap<&[u8], usize> = keys.iter().enumerate().map(|(i, key)| (&key[..], i)).collect();
        if places.len() != keys.len() {
            return Err(self.invalid("two features have one name"));
        }
        let read = serialized.read().map_err(refused)?;
        let mut columns: Vec<FeatureColumn<'_>> = kinds
            .iter()
            .map(|&kind| FeatureColumn { values: FeatureValues::new(kind), ends: Vec::new() })
            .collect();
        let mut found = vec![None; keys.len()];
        for (i, example) in read.iter().enumerate() {
            found.fill(None);
            let wrong = |key: Option<usize>, why: &str| {
                let key = key.map(|key| format!(", feature `{}`", shown(&keys[key]))).unwrap_or_default();
                self.invalid(&format!("example {i}{key}: {why}"))
            };
            read_example(example, 1, &places, &mut found).map_err(|why| wrong(None, &why))?;
            for (key, (column, &bytes)) in columns.iter_mut().zip(&found).enumerate() {
                let own = bytes.map_or(Ok(None), feature).map_err(|why| wrong(Some(key), &why))?;
                if let Some((kind, list)) = own {
                    if kind != kinds[key] {
                        let (given, wanted) = (kind.name(), kinds[key].name());
                        let why = format!("data types don't match: {given}, expected {wanted}");
                        return Err(wrong(Some(key), &why));
                    }
                    column.values.append(list).map_err(|why| wrong(Some(key), &why))?;
                }
                if let Some(at) = key.checked_sub(self.sparse.len())
                    && let Some(feature) = self.dense.get(at)
                    && !feature.is_open
                {
                    let start = column.ends.last().copied().unwrap_or(0);
                    let n = column.values.len() - start;
                    if own.is_some() && n != feature.stride {
                        let why = format!("{n} values for the shape {:?}", feature.dims);
                        return Err(wrong(Some(key), &why));
                    }
                }
                push(&mut column.ends, column.values.len()).map_err(refused)?;
            }
        }
        let (sparse, rest) = columns.split_at(self.sparse.len());
        let (dense_columns, ragged) = rest.split_at(self.dense.len());
        let sparse = sparse.iter().map(|column| sparse_column(column, is_single, allocator));
        let sparse = sparse.collect::<Result<Vec<_>, _>>()?;
        let mut results: Vec<Value> = Vec::new();
        for part in 0..3 {
            results.extend(sparse.iter().map(|column| column[part].clone()));
        }
        for (i, ((column, feature), default)) in
            dense_columns.iter().zip(&self.dense).zip(defaults).enumerate()
        {
            let key = &keys[self.sparse.len() + i];
            let wrong = |why: &str| self.invalid(&format!("feature `{}`: {why}", shown(key)));
            results.push(feature.column(column, default, is_single, &wrong, allocator)?);
        }
        let values = ragged.iter().map(|column| {
            let shape = Shape::new(&[column.values.len()]).map_err(refused)?;
            column.values.tensor(shape, allocator)
        });
        let splits = ragged.iter().zip(&self.ragged);
        let splits = splits.map(|(column, &(_, dtype))| row_splits(column, dtype, is_single, allocator));
        results.extend(values.chain(splits).collect::<Result<Vec<_>, _>>()?);
        Ok(results)
    }
}

/// The beginning of a name.
pub(super) fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).chars().take(64).collect()
}

pub(super) fn ints_tensor(
    dims: &[usize],
    numbers: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let shape = Shape::new(dims).map_err(refused)?;
    HostTensor::from_slice(shape, numbers, allocator).map(tensor).map_err(refused)
}

/// Coordinates, values and shape of a sparse feature. A single example has no axis of examples.
fn sparse_column(
    column: &FeatureColumn<'_>,
    is_single: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[Value; 3], KernelError> {
    let (n, rank) = (column.values.len(), if is_single { 1 } else { 2 });
    let mut places = Vec::new();
    for (example, row) in column.rows().enumerate() {
        for i in 0..row.len() {
            if !is_single {
                push(&mut places, example as i64).map_err(refused)?;
            }
            push(&mut places, i as i64).map_err(refused)?;
        }
    }
    let dims = [column.ends.len() as i64, column.longest() as i64];
    Ok([
        ints_tensor(&[n, rank], &places, allocator)?,
        column.values.tensor(Shape::new(&[n]).map_err(refused)?, allocator)?,
        ints_tensor(&[rank], &dims[2 - rank..], allocator)?,
    ])
}

/// The row splits of a ragged feature; none for a single example.
fn row_splits(
    column: &FeatureColumn<'_>,
    dtype: DType,
    is_single: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    splits_tensor(if is_single { None } else { Some(&column.ends) }, dtype, allocator)
}

/// Row splits from the ends of rows; none without rows.
pub(super) fn splits_tensor(
    ends: Option<&[usize]>,
    dtype: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let splits = ends.iter().flat_map(|ends| std::iter::once(0).chain(ends.iter().map(|&end| end as i64)));
    let splits = collected(splits).map_err(refused)?;
    if dtype == DType::I64 {
        return ints_tensor(&[splits.len()], &splits, allocator);
    }
    let narrow = splits.iter().map(|&end| {
        i32::try_from(end)
            .map_err(|_| TensorError::IndexRange { n: usize::try_from(end).unwrap_or(usize::MAX) })
    });
    let narrow = try_collected(narrow).map_err(refused)?;
    let shape = Shape::new(&[narrow.len()]).map_err(refused)?;
    HostTensor::from_slice(shape, &narrow, allocator).map(tensor).map_err(refused)
}

impl DenseFeature {
    fn new(op: &'static str, kind: FeatureKind, shape: &PartialShape) -> Result<DenseFeature, TensorError> {
        let problem = || TensorError::Invalid { op, problem: format!("a dense feature of shape {shape}") };
        let given = shape.as_slice().ok_or_else(problem)?;
        let is_open = given.first() == Some(&None);
        let dims = given[usize::from(is_open)..].iter().copied().collect::<Option<Vec<_>>>();
        let dims = dims.ok_or_else(problem)?;
        let stride = Shape::new(&dims)?.num_elements();
        if is_open && stride == 0 {
            return Err(problem());
        }
        Ok(DenseFeature { kind, is_open, dims, stride })
    }

    /// The feature of all examples, with the default where it is missing, or behind shorter ones.
    fn column(
        &self,
        column: &FeatureColumn<'_>,
        default: &Value,
        is_single: bool,
        wrong: &dyn Fn(&str) -> KernelError,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        let mut fill = FeatureValues::new(self.kind);
        let texts: Option<&StringTensor> = strings_in(default).ok();
        let texts = texts.map(StringTensor::read).transpose().map_err(refused)?;
        match (&mut fill, &texts) {
            (FeatureValues::Bytes(to), Some(texts)) => *to = collected(texts.iter()).map_err(refused)?,
            (FeatureValues::Floats(to), None) => *to = dense(default)?.to_vec().map_err(refused)?,
            (FeatureValues::Ints(to), None) => *to = dense(default)?.to_vec().map_err(refused)?,
            _ => return Err(wrong("the default has another type")),
        }
        let n = if self.is_open { column.longest().next_multiple_of(self.stride) } else { self.stride };
        let n_examples = column.ends.len();
        let total = n.checked_mul(n_examples).ok_or(TensorError::TooLarge).map_err(refused)?;
        let mut values = FeatureValues::new(self.kind);
        values.reserve(total).map_err(refused)?;
        for row in column.rows() {
            let len = row.len();
            if self.is_open && !len.is_multiple_of(self.stride) {
                return Err(wrong(&format!("{len} values, not a multiple of {}", self.stride)));
            }
            values.extend(&column.values, row).map_err(refused)?;
            match (len < n, self.is_open, fill.len()) {
                (false, ..) => {}
                (true, true, 1) => {
                    (len..n).try_for_each(|_| values.extend(&fill, 0..1)).map_err(refused)?;
                }
                (true, false, count) if count == n => values.extend(&fill, 0..n).map_err(refused)?,
                (true, _, 0) => return Err(wrong("it is required but could not be found")),
                (true, _, count) => return Err(wrong(&format!("a default of {count} elements"))),
            }
        }
        let mut dims = Vec::new();
        dims.extend((!is_single).then_some(n_examples));
        dims.extend(self.is_open.then_some(n / self.stride.max(1)));
        dims.extend(&self.dims);
        values.tensor(Shape::new(&dims).map_err(refused)?, allocator)
    }
}
