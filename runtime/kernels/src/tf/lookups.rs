//! Lookup tables: resources that map keys to values.
//!
//! ```text
//! HashTableV2 ──▶ handle ──▶ LookupTable in the resources, by device, container and name
//! AnonymousHashTable ──▶ handle ──▶ LookupTable that each execution creates
//!                              bytes of a key ──▶ bytes of its value: number, text, or tensor of numbers
//! ```
//!
//! The operators of TensorFlow 1 refer to a table by a reference to a string; a handle is the same here.
//!
//! A HashTable is initialized once, and can only be read then; a MutableHashTable exists from the beginning.
//! A lookup of a key that is not there gives the default value. Exports are in the order of the keys' bytes,
//! which TensorFlow leaves open.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use befrost_kernel_api::context::{Resource, ResourceName};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::mem::{Allocator, ReadGuard};
use befrost_tensor::scratch::{collected, push};
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

use super::action::{Action, ActionRow, action, scalar, tensor, variadic_action};
use super::operands::dense;
use super::placed::PlacedName;
use super::strings::{strings, strings_in};
use crate::objects::{Strings, refused};

/// A table.
#[derive(Debug)]
struct LookupTable {
    name: ResourceName,
    key: Type,
    value: Type,
    /// The shape of a value.
    element: Shape,
    /// Keys that mark free places where tables are exported, and are none.
    reserved: Vec<Box<[u8]>>,
    /// True for a table that may be changed after it was initialized.
    is_mutable: bool,
    rows: RwLock<Rows>,
}

#[derive(Debug, Default)]
struct Rows {
    is_initialized: bool,
    /// Keys come from models and their users, so their hashes are keyed.
    by_key: HashMap<Box<[u8]>, Box<[u8]>>,
}

impl Resource for LookupTable {
    const TYPE: &'static str = "table";
}

/// A table as a value.
#[derive(Clone, Debug)]
pub(super) struct TableHandle(Arc<LookupTable>);

impl Object for TableHandle {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("table '{}'", self.0.name)
    }
}

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::HashTable, Op::HashTableV2], |attrs| create(attrs, Shape::scalar(), false)),
    (&[Op::MutableHashTable, Op::MutableHashTableV2], |attrs| create(attrs, Shape::scalar(), true)),
    (
        &[Op::MutableHashTableOfTensors, Op::MutableHashTableOfTensorsV2, Op::MutableDenseHashTableV2],
        |attrs| create(attrs, element_shape(attrs)?, true),
    ),
    (&[Op::AnonymousHashTable], |attrs| create_anonymous(attrs, Shape::scalar(), false)),
    (&[Op::AnonymousMutableHashTable], |attrs| create_anonymous(attrs, Shape::scalar(), true)),
    (&[Op::AnonymousMutableDenseHashTable, Op::AnonymousMutableHashTableOfTensors], |attrs| {
        create_anonymous(attrs, element_shape(attrs)?, true)
    }),
    (&[Op::InitializeTable, Op::InitializeTableV2], |attrs| {
        action(attrs, |[of, keys, values], _| {
            table(of)?.initialize(pairs(table(of)?, keys, values)?)?;
            Ok([])
        })
    }),
    (&[Op::_InitializeTableFromText], |attrs| {
        let lines = Lines::new(attrs)?;
        action(attrs, move |[of, text], _| {
            let (table, text) = (table(of)?, strings_in(text)?.read().map_err(refused)?);
            table.initialize(lines.pairs(table, text.at(0).unwrap_or_default())?)?;
            Ok([])
        })
    }),
    (&[Op::LookupTableImport, Op::LookupTableImportV2], |attrs| {
        action(attrs, |[of, keys, values], _| {
            let table = table(of)?;
            let mut pairs = pairs(table, keys, values)?;
            pairs.retain(|(key, _)| !table.reserved.contains(key));
            let mut rows = table.write();
            rows.by_key.clear();
            rows.is_initialized = true;
            rows.insert(pairs)?;
            Ok([])
        })
    }),
    (&[Op::LookupTableInsert, Op::LookupTableInsertV2], |attrs| {
        action(attrs, |[of, keys, values], _| {
            let table = table(of)?;
            table.expect_mutable("inserted into")?;
            let pairs = pairs(table, keys, values)?;
            table.write().insert(pairs)?;
            Ok([])
        })
    }),
    (&[Op::LookupTableRemoveV2], |attrs| {
        action(attrs, |[of, keys], _| {
            let table = table(of)?;
            table.expect_mutable("removed from")?;
            let keys = Cells::keys(table, keys)?;
            let mut rows = table.write();
            keys.iter().for_each(|key| _ = rows.by_key.remove(key));
            Ok([])
        })
    }),
    (&[Op::LookupTableFind, Op::LookupTableFindV2], |attrs| {
        action(attrs, |[of, keys, default], cx| {
            let table = table(of)?;
            let (keys, default) = (Cells::keys(table, keys)?, Cells::values(table, default)?);
            Ok([table.find(&keys, &default, cx.allocator())?])
        })
    }),
    (&[Op::LookupTableExport, Op::LookupTableExportV2], |attrs| {
        action(attrs, |[of], cx| table(of)?.export(cx.allocator()))
    }),
    (&[Op::LookupTableSize, Op::LookupTableSizeV2], |attrs| {
        action(attrs, |[of], cx| Ok([scalar(table(of)?.initialized()?.by_key.len() as i64, cx)?]))
    }),
];

/// Tables with their first parts: name and reserved keys.
type Make = Box<dyn Fn(&ResourceName, Vec<Box<[u8]>>) -> LookupTable + Send + Sync>;

/// The types of keys and values of an operator that creates tables, and the function that makes one.
fn maker(
    attrs: &Attributes<'_>,
    element: Shape,
    is_mutable: bool,
) -> Result<(Type, Type, Make), TensorError> {
    let (key, value) = (attrs.ty("key_dtype")?, attrs.ty("value_dtype")?);
    let is_text_alone = value != Type::String || element.rank() == 0;
    let is_known = |ty| matches!(ty, Type::Dense(_) | Type::String);
    if !is_known(key) || !is_known(value) || !is_text_alone {
        let problem = format!("tables from {key} to {value} of shape {element} are not supported");
        return Err(TensorError::Invalid { op: attrs.op(), problem });
    }
    let make = move |name: &ResourceName, reserved| {
        let rows = Rows { is_initialized: is_mutable, ..Rows::default() };
        let (name, element, rows) = (name.clone(), element.clone(), RwLock::new(rows));
        LookupTable { name, key, value, element, reserved, is_mutable, rows }
    };
    Ok((key, value, Box::new(make)))
}

/// The sizes of a value, which must be known.
fn element_shape(attrs: &Attributes<'_>) -> Result<Shape, TensorError> {
    let shape = attrs.shape("value_shape")?;
    shape.dims().and_then(|dims| Shape::from_i64(&dims).ok()).ok_or_else(|| TensorError::Invalid {
        op: attrs.op(),
        problem: format!("value_shape is {shape}, expected known sizes"),
    })
}

/// Creates a table at each execution. The operands, if there are any, are reserved keys.
fn create_anonymous(attrs: &Attributes<'_>, element: Shape, is_mutable: bool) -> Result<Action, TensorError> {
    let (key, _, make) = maker(attrs, element, is_mutable)?;
    let name = ResourceName::from(attrs.op());
    variadic_action(move |reserved: &[&Value], _| {
        let reserved = reserved.iter().map(|of| reserved_key(key, of)).collect::<Result<Vec<_>, _>>()?;
        Ok([Value::object(TableHandle(Arc::new(make(&name, reserved))))])
    })
}

/// Creates handles of a table. The operands, if there are any, are reserved keys.
fn create(attrs: &Attributes<'_>, element: Shape, is_mutable: bool) -> Result<Action, TensorError> {
    let (key, value, make) = maker(attrs, element, is_mutable)?;
    let name = PlacedName::of(attrs)?;
    let own = name.is_empty().then(|| Arc::new(make(&ResourceName::from(attrs.op()), Vec::new())));
    variadic_action(move |reserved: &[&Value], cx: &ExecContext| {
        let reserved = reserved.iter().map(|of| reserved_key(key, of)).collect::<Result<Vec<_>, _>>()?;
        let found = match &own {
            Some(own) => own.clone(),
            None => {
                let name = name.on_device(cx);
                cx.request.resources.or_insert_with(&name, || make(&name, reserved))
            }
        };
        if (found.key, found.value) != (key, value) {
            let (k, v) = (found.key, found.value);
            let name = &found.name;
            let problem = format!("the table '{name}' is from {k} to {v}, not from {key} to {value}");
            return Err(KernelError::invalid(problem));
        }
        Ok([Value::object(TableHandle(found))])
    })
}

/// The bytes of a reserved key.
fn reserved_key(ty: Type, value: &Value) -> Result<Box<[u8]>, KernelError> {
    let cells = Cells::of("reserved keys", ty, &Shape::scalar(), value)?;
    Ok(cells.at(0).into())
}

/// The table of a handle.
fn table(value: &Value) -> Result<&Arc<LookupTable>, KernelError> {
    value.downcast_ref::<TableHandle>().map(|handle| &handle.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a table, got a value of type {}", value.type_name()))
    })
}

impl Rows {
    fn insert(&mut self, pairs: Vec<Pair>) -> Result<(), KernelError> {
        let reserved = self.by_key.try_reserve(pairs.len());
        reserved.map_err(|_| refused(TensorError::TooLarge))?;
        self.by_key.extend(pairs);
        Ok(())
    }
}

impl LookupTable {
    // A panic leaves a map with some of the new rows, which is a map.
    fn read(&self) -> RwLockReadGuard<'_, Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn invalid(&self, problem: &str) -> KernelError {
        KernelError::invalid(format!("the table '{}': {problem}", self.name))
    }

    fn wrong(&self, problem: &str) -> KernelError {
        KernelError::new(ErrorCode::FailedPrecondition, format!("the table '{}' {problem}", self.name))
    }

    fn initialized(&self) -> Result<RwLockReadGuard<'_, Rows>, KernelError> {
        let rows = self.read();
        if rows.is_initialized { Ok(rows) } else { Err(self.wrong("is read before it is initialized")) }
    }

    fn expect_mutable(&self, what: &str) -> Result<(), KernelError> {
        if self.is_mutable { Ok(()) } else { Err(self.wrong(&format!("is immutable, and {what}"))) }
    }

    /// Fills a table that is empty. A second initialization with as many keys changes nothing, as in
    /// TensorFlow.
    fn initialize(&self, pairs: Vec<Pair>) -> Result<(), KernelError> {
        let mut rows = self.write();
        let mut by_key = HashMap::new();
        by_key.try_reserve(pairs.len()).map_err(|_| refused(TensorError::TooLarge))?;
        for (key, value) in pairs {
            match by_key.entry(key) {
                Entry::Vacant(place) => _ = place.insert(value),
                Entry::Occupied(there) if *there.get() == value => {}
                Entry::Occupied(there) => {
                    let key = shown(self.key, there.key());
                    let values = [there.get(), &value].map(|value| shown(self.value, value));
                    let [a, b] = values;
                    let problem = format!("has different values for the key {key}: {a} and {b}");
                    return Err(KernelError::invalid(format!("the table '{}' {problem}", self.name)));
                }
            }
        }
        if rows.is_initialized && !self.is_mutable {
            let (n, more) = (rows.by_key.len(), by_key.len());
            return match n == more {
                true => Ok(()),
                false => Err(self.wrong(&format!("is initialized with {n} keys, and again with {more}"))),
            };
        }
        *rows = Rows { is_initialized: true, by_key };
        Ok(())
    }

    /// The values of keys.
    fn find(
        &self,
        keys: &Cells<'_>,
        default: &Cells<'_>,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        let (n, n_defaults) = (keys.n, default.n);
        if n_defaults != 1 && n_defaults != n {
            let problem = format!("{n_defaults} default values for {n} keys of the table '{}'", self.name);
            return Err(KernelError::invalid(problem));
        }
        let rows = self.initialized()?;
        let found = (0..n).map(|i| match rows.by_key.get(keys.at(i)) {
            Some(value) => &value[..],
            None => default.at(if n_defaults == 1 { 0 } else { i }),
        });
        self.values(keys.shape.dims(), found, allocator)
    }

    fn export(&self, allocator: &Arc<dyn Allocator>) -> Result<[Value; 2], KernelError> {
        let rows = self.initialized()?;
        let mut all: Vec<(&[u8], &[u8])> =
            rows.by_key.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        all.sort_unstable();
        let n = Shape::new(&[all.len()]).map_err(refused)?;
        let keys = joined(self.key, n, all.iter().map(|(key, _)| *key), allocator)?;
        Ok([keys, self.values(&[all.len()], all.iter().map(|(_, value)| *value), allocator)?])
    }

    /// Values as a tensor.
    fn values<'a>(
        &self,
        dims: &[usize],
        values: impl Iterator<Item = &'a [u8]>,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Value, KernelError> {
        let shape = Shape::new(&[dims, self.element.dims()].concat()).map_err(refused)?;
        joined(self.value, shape, values, allocator)
    }
}

/// A tensor of the bytes of its parts.
fn joined<'a>(
    ty: Type,
    shape: Shape,
    parts: impl Iterator<Item = &'a [u8]>,
    allocator: &Arc<dyn Allocator>,
) -> Result<Value, KernelError> {
    let Type::Dense(dtype) = ty else {
        return strings(&shape, &parts.collect::<Vec<_>>(), allocator);
    };
    let out = HostTensor::allocate(dtype, shape, allocator).map_err(refused)?;
    {
        let mut to = out.write_bytes().map_err(refused)?;
        let mut rest = &mut to[..];
        for part in parts {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(part.len());
            here.copy_from_slice(part);
            rest = behind;
        }
    }
    Ok(tensor(out))
}

/// A key or value for messages.
fn shown(ty: Type, bytes: &[u8]) -> String {
    let number = |n: usize| bytes.get(..n).unwrap_or_default();
    match ty {
        Type::Dense(DType::I64) => {
            number(8).try_into().map_or(String::new(), |b| i64::from_le_bytes(b).to_string())
        }
        Type::Dense(DType::I32) => {
            number(4).try_into().map_or(String::new(), |b| i32::from_le_bytes(b).to_string())
        }
        Type::Dense(DType::F32) => {
            number(4).try_into().map_or(String::new(), |b| f32::from_le_bytes(b).to_string())
        }
        Type::Dense(dtype) => format!("of type {dtype}"),
        _ => format!("'{}'", String::from_utf8_lossy(bytes).chars().take(64).collect::<String>()),
    }
}

/// A key and its value.
type Pair = (Box<[u8]>, Box<[u8]>);

/// The cells of an operand: texts, or the bytes of as many numbers as a cell has.
struct Cells<'a> {
    shape: Shape,
    n: usize,
    bytes: CellBytes<'a>,
}

enum CellBytes<'a> {
    Texts(befrost_tensor::Strings<'a>),
    Numbers { bytes: ReadGuard<'a>, size: usize },
}

impl<'a> Cells<'a> {
    fn keys(table: &LookupTable, of: &'a Value) -> Result<Cells<'a>, KernelError> {
        let cells = Cells::of("keys", table.key, &Shape::scalar(), of);
        cells.map_err(|error| table.invalid(error.message()))
    }

    fn values(table: &LookupTable, of: &'a Value) -> Result<Cells<'a>, KernelError> {
        let cells = Cells::of("values", table.value, &table.element, of);
        cells.map_err(|error| table.invalid(error.message()))
    }

    fn of(what: &str, ty: Type, element: &Shape, of: &'a Value) -> Result<Cells<'a>, KernelError> {
        let wrong = |found: String| {
            KernelError::invalid(format!("{what} are {found}, expected {ty} of shape {element}"))
        };
        if ty == Type::String {
            let strings = of.downcast_ref::<Strings>().map(|strings| &strings.0);
            let strings = strings.ok_or_else(|| wrong(of.type_name().to_owned()))?;
            let (shape, n) = (strings.shape().clone(), strings.num_elements());
            return Ok(Cells { shape, n, bytes: CellBytes::Texts(strings.read().map_err(refused)?) });
        }
        let numbers = dense(of)?;
        if Type::Dense(numbers.dtype()) != ty {
            return Err(wrong(numbers.dtype().to_string()));
        }
        let dims = numbers.shape().dims();
        let outer = dims.len().checked_sub(element.rank()).filter(|&n| dims[n..] == *element.dims());
        let outer = outer.ok_or_else(|| wrong(format!("of shape {}", numbers.shape())))?;
        let shape = Shape::new(&dims[..outer]).map_err(refused)?;
        let (bytes, size) =
            (numbers.read_bytes().map_err(refused)?, numbers.dtype().size() * element.num_elements());
        Ok(Cells { n: shape.num_elements(), shape, bytes: CellBytes::Numbers { bytes, size } })
    }

    fn at(&self, i: usize) -> &[u8] {
        match &self.bytes {
            CellBytes::Texts(texts) => texts.at(i),
            CellBytes::Numbers { bytes, size } => bytes.get(i * size..(i + 1) * size),
        }
        .unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.n).map(|i| self.at(i))
    }
}

/// Keys and their values.
fn pairs(table: &LookupTable, keys: &Value, values: &Value) -> Result<Vec<Pair>, KernelError> {
    let (keys, values) = (Cells::keys(table, keys)?, Cells::values(table, values)?);
    // An export of a dense table has one more axis in its keys.
    let has_axis = keys.shape.dims().split_last() == Some((&1, values.shape.dims()));
    if keys.shape != values.shape && !has_axis {
        let problem = format!("keys of shape {} and values of shape {}", keys.shape, values.shape);
        return Err(KernelError::invalid(format!("{problem} for the table '{}'", table.name)));
    }
    let pairs = keys.iter().zip(values.iter()).map(|(key, value)| (key.into(), value.into()));
    collected(pairs).map_err(refused)
}

/// Positions of keys and values in the lines of a text.
struct Lines {
    key: Column,
    value: Column,
    /// The number of lines to read, if not all.
    n: Option<usize>,
    delimiter: u8,
    offset: i64,
}

/// A part of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Line,
    Number,
    At(usize),
}

impl Lines {
    fn new(attrs: &Attributes<'_>) -> Result<Lines, TensorError> {
        let invalid = |problem: String| TensorError::Invalid { op: attrs.op(), problem };
        let column = |name: &str| match attrs.int(name)? {
            -2 => Ok(Column::Line),
            -1 => Ok(Column::Number),
            at => usize::try_from(at).map(Column::At).map_err(|_| invalid(format!("{name} is {at}"))),
        };
        let n = match attrs.int("vocab_size")? {
            -1 => None,
            n => {
                let n = usize::try_from(n).ok().filter(|&n| n > 0);
                Some(n.ok_or_else(|| invalid("vocab_size is neither positive nor -1".to_owned()))?)
            }
        };
        let &[delimiter] = &attrs.bytes("delimiter")?[..] else {
            return Err(invalid("delimiter is not one character".to_owned()));
        };
        let (key, value) = (column("key_index")?, column("value_index")?);
        Ok(Lines { key, value, n, delimiter, offset: attrs.int("offset")? })
    }

    /// The keys and values in a text.
    fn pairs(&self, table: &LookupTable, text: &[u8]) -> Result<Vec<Pair>, KernelError> {
        let wrong = |problem: String| {
            KernelError::invalid(format!("the text for the table '{}': {problem}", table.name))
        };
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let n_lines = if text.is_empty() { 0 } else { usize::MAX };
        let lines = text.split(|&byte| byte == b'\n').take(n_lines);
        let mut pairs = Vec::new();
        for (number, line) in lines.enumerate().take(self.n.unwrap_or(usize::MAX)) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let cell = |column: Column, ty: Type| match column {
                Column::Line => Ok(cell(ty, line)),
                Column::Number => {
                    Ok(cell(ty, (number as i64).wrapping_add(self.offset).to_string().as_bytes()))
                }
                Column::At(at) => {
                    let part = line.split(|&byte| byte == self.delimiter).nth(at);
                    part.map(|part| cell(ty, part)).ok_or_else(|| {
                        wrong(format!(
                            "line {} has no column {at}: {}",
                            number + 1,
                            shown(Type::String, line)
                        ))
                    })
                }
            };
            let (key, value) = (cell(self.key, table.key)?, cell(self.value, table.value)?);
            let pair = key.and_then(|key| Some((key, value?)));
            let pair = pair.ok_or_else(|| {
                let (k, v) = (table.key, table.value);
                let line = shown(Type::String, line);
                wrong(format!("line {} is no key of {k} with a value of {v}: {line}", number + 1))
            })?;
            push(&mut pairs, pair).map_err(refused)?;
        }
        match self.n {
            Some(n) if n != pairs.len() => Err(wrong(format!("it has {} lines, expected {n}", pairs.len()))),
            _ => Ok(pairs),
        }
    }
}

/// A part of a line as a key or value.
fn cell(ty: Type, text: &[u8]) -> Option<Box<[u8]>> {
    fn number<T: FromStr>(text: &[u8]) -> Option<T> {
        std::str::from_utf8(text).ok()?.trim().parse().ok()
    }
    Some(match ty {
        Type::String => text.into(),
        Type::Dense(DType::I64) => number::<i64>(text)?.to_le_bytes().into(),
        Type::Dense(DType::I32) => number::<i32>(text)?.to_le_bytes().into(),
        Type::Dense(DType::F32) => number::<f32>(text)?.to_le_bytes().into(),
        Type::Dense(DType::F64) => number::<f64>(text)?.to_le_bytes().into(),
        _ => return None,
    })
}
