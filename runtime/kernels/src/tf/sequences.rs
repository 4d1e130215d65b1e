//! `tf.SequenceExample` messages as columns of tensors: `ParseSequenceExample`, `ParseSequenceExampleV2` and
//! `ParseSingleSequenceExample`.
//!
//! ```text
//! { context: { age: [3] },                      context: as an example
//!   lists: { words: [["a"], ["b", "c"]] } }     sparse   words  entries (0, 0, 0) (0, 1, 0) (0, 1, 1)
//!                                               dense    words  [example, time, ...], padded with zeros
//!                                               ragged   words  splits of examples, and of times
//! ```
//!
//! The context has the encoding of an example, and `examples` parses it. A list that is missing is empty;
//! one that becomes a dense tensor must be said to be empty then.

use std::collections::HashMap;
use std::sync::Arc;

use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::push;
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::wire::{Message, WireValue};
use befrost_tensor::{I1, Shape, TensorError};

use super::action::{ActionRow, variadic_action};
use super::examples::{
    DenseFeature, ExampleSchema, FeatureKind, FeatureValues, feature, ints_tensor, key_list,
    missing_operands, read_example, shown, splits_tensor,
};
use super::operands::dense;
use super::strings::{expect_room, strings_in};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ParseSequenceExample], |attrs| {
        let schema = SequenceSchema::new(attrs)?;
        let keys = |names: &[&str]| -> Result<Vec<Vec<u8>>, TensorError> {
            let lists = names.iter().map(|name| attrs.strings(name)).collect::<Result<Vec<_>, _>>()?;
            Ok(lists.into_iter().flatten().map(String::into_bytes).collect())
        };
        let context = keys(&["context_sparse_keys", "context_dense_keys"])?;
        let lists = keys(&["feature_list_sparse_keys", "feature_list_dense_keys"])?;
        let empty = schema.named(&lists, &keys(&["feature_list_dense_missing_assumed_empty"])?);
        variadic_action(move |operands, cx| {
            let [serialized, _names, defaults @ ..] = operands else { return Err(missing_operands()) };
            schema.parsed(serialized, (&context, defaults), (&lists, &empty), cx.allocator())
        })
    }),
    (&[Op::ParseSequenceExampleV2], |attrs| {
        let schema = SequenceSchema::new(attrs)?;
        variadic_action(move |operands, cx| {
            let Some(([serialized, _names, keys @ .., empty], defaults)) = operands.split_first_chunk::<9>()
            else {
                return Err(missing_operands());
            };
            let keys = keys.iter().map(|&keys| key_list(keys)).collect::<Result<Vec<_>, _>>()?;
            let (context, lists) = keys.split_at(3);
            let empty = dense(empty)?.to_vec::<I1>().map_err(refused)?;
            let empty: Vec<bool> = empty.into_iter().map(I1::is_true).collect();
            schema.parsed(
                serialized,
                (&context.concat(), defaults),
                (&lists.concat(), &empty),
                cx.allocator(),
            )
        })
    }),
    (&[Op::ParseSingleSequenceExample], |attrs| {
        let schema = SequenceSchema::new(attrs)?;
        variadic_action(move |operands, cx| {
            let [serialized, empty, rest @ .., _name] = operands else { return Err(missing_operands()) };
            if strings_in(serialized)?.shape().rank() != 0 {
                return Err(schema.lists.invalid("serialized is no scalar"));
            }
            let n_context = schema.context.sparse.len() + schema.context.dense.len();
            let n_lists = schema.lists.sparse.len() + schema.lists.dense.len();
            let Some((keys, defaults)) = rest.split_at_checked(n_context + n_lists) else {
                return Err(missing_operands());
            };
            let keys = keys.iter().map(|&key| key_list(key)).collect::<Result<Vec<_>, _>>()?.concat();
            let Some((context, lists)) = keys.split_at_checked(n_context) else {
                return Err(missing_operands());
            };
            let empty = schema.named(lists, &key_list(empty)?);
            schema.parsed(serialized, (context, defaults), (lists, &empty), cx.allocator())
        })
    }),
];

/// The features to parse of the context and of the lists.
struct SequenceSchema {
    context: ExampleSchema,
    lists: ExampleSchema,
    /// True if the lengths of dense lists are results.
    has_lengths: bool,
}

/// The lists with one name of all examples.
struct ListColumn<'a> {
    values: FeatureValues<'a>,
    /// The end of the values of each time.
    ends: Vec<usize>,
    /// The end of the times of each example.
    time_ends: Vec<usize>,
}

impl ListColumn<'_> {
    /// The times of each example.
    fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        ranges(&self.time_ends)
    }
}

/// Ranges by their ends.
fn ranges(ends: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, &end)| start..end)
}

fn longest(ends: &[usize]) -> usize {
    ranges(ends).map(|row| row.len()).max().unwrap_or(0)
}

impl SequenceSchema {
    fn new(attrs: &Attributes<'_>) -> Result<SequenceSchema, TensorError> {
        let (context, lists) =
            (ExampleSchema::new(attrs, "context_")?, ExampleSchema::new(attrs, "feature_list_")?);
        if lists.dense.iter().any(|feature| feature.is_open) {
            let problem = "a dense list of features of any length".to_owned();
            return Err(TensorError::Invalid { op: attrs.op(), problem });
        }
        Ok(SequenceSchema { context, lists, has_lengths: attrs.op() != "ParseSingleSequenceExample" })
    }

    /// For each dense list, true if its name is among `names`.
    fn named(&self, lists: &[Vec<u8>], names: &[Vec<u8>]) -> Vec<bool> {
        let of_dense = lists.iter().skip(self.lists.sparse.len());
        of_dense.map(|name| names.contains(name)).collect()
    }

    /// The features of the context and of the lists: the results of the operator. `empty` says which dense
    /// lists may be missing.
    fn parsed(
        &self,
        serialized: &Value,
        (context, defaults): (&[Vec<u8>], &[&Value]),
        (keys, empty): (&[Vec<u8>], &[bool]),
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<Value>, KernelError> {
        let mut results = self.context.parsed(serialized, context, defaults, allocator)?;
        let (schema, serialized) = (&self.lists, strings_in(serialized)?);
        let dense = schema.dense.iter().map(|feature| feature.kind);
        let ragged = schema.ragged.iter().map(|&(kind, _)| kind);
        let kinds: Vec<FeatureKind> = schema.sparse.iter().copied().chain(dense).chain(ragged).collect();
        if keys.len() != kinds.len() || empty.len() != schema.dense.len() {
            let (n, n_dense) = (kinds.len(), schema.dense.len());
            let problem = format!(
                "{} names and {} flags for {n} lists of features, of which {n_dense} are dense",
                keys.len(),
                empty.len()
            );
            return Err(schema.invalid(&problem));
        }
        let places: HashMap<&[u8], usize> = keys.iter().enumerate().map(|(i, key)| (&key[..], i)).collect();
        if places.len() != keys.len() {
            return Err(schema.invalid("two lists of features have one name"));
        }
        let read = serialized.read().map_err(refused)?;
        let mut columns: Vec<ListColumn<'_>> = kinds
            .iter()
            .map(|&kind| ListColumn {
                values: FeatureValues::new(kind),
                ends: Vec::new(),
                time_ends: Vec::new(),
            })
            .collect();
        let mut found = vec![None; keys.len()];
        for (i, example) in read.iter().enumerate() {
            found.fill(None);
            read_example(example, 2, &places, &mut found)
                .map_err(|why| schema.invalid(&format!("example {i}: {why}")))?;
            for (key, (column, &list)) in columns.iter_mut().zip(&found).enumerate() {
                let wrong =
                    |why: &str| schema.invalid(&format!("example {i}, list `{}`: {why}", shown(&keys[key])));
                let at = key.checked_sub(schema.sparse.len()).filter(|&at| at < schema.dense.len());
                let feature = at.map(|at| &schema.dense[at]);
                match list {
                    Some(list) => column.append(list, kinds[key], feature).map_err(|why| wrong(&why))?,
                    None if at.is_some_and(|at| !empty[at]) => {
                        return Err(wrong("it is required but could not be found"));
                    }
                    None => {}
                }
                push(&mut column.time_ends, column.ends.len()).map_err(refused)?;
            }
        }
        let is_single = serialized.shape().rank() == 0;
        let (sparse, rest) = columns.split_at(schema.sparse.len());
        let (dense, ragged) = rest.split_at(schema.dense.len());
        let sparse = sparse.iter().map(|column| column.sparse(is_single, allocator));
        let sparse = sparse.collect::<Result<Vec<_>, _>>()?;
        for part in 0..3 {
            results.extend(sparse.iter().map(|column| column[part].clone()));
        }
        for (column, feature) in dense.iter().zip(&schema.dense) {
            results.push(column.dense(feature, is_single, allocator)?);
        }
        for column in dense.iter().filter(|_| self.has_lengths) {
            let lengths: Vec<i64> = column.rows().map(|row| row.len() as i64).collect();
            let dims = [lengths.len()];
            results.push(ints_tensor(if is_single { &[] } else { &dims }, &lengths, allocator)?);
        }
        let values = ragged.iter().map(|column| {
            let shape = Shape::new(&[column.values.len()]).map_err(refused)?;
            column.values.tensor(shape, allocator)
        });
        let of = |ends: Option<&[usize]>, i: usize| splits_tensor(ends, schema.ragged[i].1, allocator);
        let outer = ragged.iter().enumerate();
        let outer = outer.map(|(i, column)| of((!is_single).then_some(&column.time_ends[..]), i));
        let inner = ragged.iter().enumerate().map(|(i, column)| of(Some(&column.ends), i));
        results.extend(values.chain(outer).chain(inner).collect::<Result<Vec<_>, _>>()?);
        Ok(results)
    }
}

impl<'a> ListColumn<'a> {
    /// Appends the features of a list.
    fn append(
        &mut self,
        list: &'a [u8],
        kind: FeatureKind,
        of_dense: Option<&DenseFeature>,
    ) -> Result<(), String> {
        for field in Message::new(list) {
            let (1, WireValue::Bytes(bytes)) = field? else { continue };
            let start = self.values.len();
            if let Some((given, values)) = feature(bytes)? {
                if given != kind {
                    return Err(format!(
                        "data types don't match: {}, expected {}",
                        given.name(),
                        kind.name()
                    ));
                }
                self.values.append(values)?;
            }
            let n = self.values.len() - start;
            if let Some(feature) = of_dense.filter(|feature| feature.stride != n) {
                return Err(format!("{n} values for the shape {:?}", feature.dims));
            }
            push(&mut self.ends, self.values.len()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Coordinates, values and shape; a single example has no axis of examples.
    fn sparse(&self, is_single: bool, allocator: &Arc<dyn Allocator>) -> Result<[Value; 3], KernelError> {
        let (n, rank) = (self.values.len(), if is_single { 2 } else { 3 });
        let mut places = Vec::new();
        let mut times = ranges(&self.ends);
        for (example, row) in self.rows().enumerate() {
            for (time, values) in times.by_ref().take(row.len()).enumerate() {
                for i in 0..values.len() {
                    let place = [example as i64, time as i64, i as i64];
                    place[3 - rank..].iter().try_for_each(|&at| push(&mut places, at)).map_err(refused)?;
                }
            }
        }
        let dims = [self.time_ends.len(), longest(&self.time_ends), longest(&self.ends)].map(|n| n as i64);
        Ok([
            ints_tensor(&[n, rank], &places, allocator)?,
            self.values.tensor(Shape::new(&[n]).map_err(refused)?, allocator)?,
            ints_tensor(&[rank], &dims[3 - rank..], allocator)?,
        ])
    }

    /// The lists of all examples, padded to the longest.
    fn dense(
        &self,
        feature: &DenseFeature,
        is_single: bool,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        let (examples, times) = (self.time_ends.len(), longest(&self.time_ends));
        let row = times.checked_mul(feature.stride);
        let total = row.and_then(|row| row.checked_mul(examples));
        let (Some(row), Some(total)) = (row, total) else { return Err(refused(TensorError::TooLarge)) };
        expect_room(total, size_of::<u64>(), allocator)?;
        let (mut values, mut zero) = (FeatureValues::new(feature.kind), FeatureValues::new(feature.kind));
        values.reserve(total).map_err(refused)?;
        zero.push_zero().map_err(refused)?;
        for times in self.rows() {
            let own = times.start * feature.stride..times.end * feature.stride;
            let missing = row - own.len();
            values.extend(&self.values, own).map_err(refused)?;
            (0..missing).try_for_each(|_| values.extend(&zero, 0..1)).map_err(refused)?;
        }
        let first = (!is_single).then_some(examples);
        let dims: Vec<usize> = first.into_iter().chain([times]).chain(feature.dims.iter().copied()).collect();
        values.tensor(Shape::new(&dims).map_err(refused)?, allocator)
    }
}
