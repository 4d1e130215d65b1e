//! The writer: from parts to bytes.
//!
//! ```text
//! Writer: strings, types, names, attributes, locations ─┐
//! FunctionBuilder: registers, kernels, results ──add────┴──finish──▶ bytes that `validate` accepts
//! ```
//!
//! Pools store each item once, in the order of first use, so the same calls yield the same bytes. String ids
//! are provisional until `finish` sorts the strings; all other ids are final. A function is appended to the
//! file's tables as soon as it and all functions before it are defined, so it is in memory once; the tables
//! themselves are written. Used-by lists, ready counts, partitions and checksums are computed, never passed.
//!
//! Errors (a register that is read too early, a table of more than 2^32 entries) are recorded and reported by
//! `finish`, so callers need not check each call.
//!
//! Not here: the IR, and the mapping of an op's attributes (the compiler's `emit`).

mod assemble;
mod code;
mod function;
mod locations;
mod parts;
mod payload;
mod pool;

use std::sync::Arc;

use crate::dtype::DType;
use crate::layout::{
    ATTR_DENSE_ARRAY, ATTR_SPLAT, ATTR_UNRANKED, AttrId, AttrKind, AttrRec, CompiledModuleRec, DenseRec,
    DictEntry, FEATURE_COMPILED, FunctionId, KernelCode, LocationId, LocationKind, MAX_ATTR_DEPTH,
    MAX_ATTR_NODES, MAX_LOCATION_DEPTH, MAX_LOCATION_NODES, MAX_RANK, NONE, StringId, TABLE_ALIGN, TypeId,
};
use code::Code;
pub use function::{FunctionBuilder, KernelSpec};
use locations::{Locations, TooLarge};
pub use parts::{PIECE, Parts, Pieces};
use payload::Payload;
use pool::{FastMap, IdPool, StringPool};

/// The reason why no file could be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteError(String);

impl std::error::Error for WriteError {}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Recomputes the checksums of a modified file, as far as its directory can be read.
///
/// For tests and fuzzers, which must pass the checksums to reach the other rules.
pub fn update_checksums(bytes: &mut [u8]) {
    assemble::update_checksums(bytes);
}

/// A builder for a file.
pub struct Writer {
    strings: StringPool,
    producer: StringId,
    module_name: Option<StringId>,
    module_attrs: Option<AttrId>,
    module_location: Option<LocationId>,
    /// The features that readers must support.
    features: u64,
    types: IdPool<StringId>,
    kernel_names: IdPool<StringId>,
    devices: IdPool<StringId>,
    attrs: Vec<AttrRec>,
    /// Number of nodes of each attribute as a tree.
    attr_nodes: Vec<u32>,
    attr_data: Vec<u8>,
    attr_ids: FastMap<(AttrRec, Box<[u8]>), AttrId>,
    payload: Payload,
    locations: Locations,
    functions: Vec<Function>,
    /// The number of functions that are in the tables already.
    n_written: usize,
    code: Code,
    error: Option<WriteError>,
}

/// A declared function.
enum Function {
    Declared,
    /// Waiting for the functions before it.
    Defined(Box<FunctionBuilder>),
    /// In the tables.
    Written,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer::new()
    }
}

impl Writer {
    /// A file without functions.
    pub fn new() -> Writer {
        let mut strings = StringPool::default();
        let empty = strings.id("");
        let mut devices = IdPool::default();
        devices.id(empty);
        Writer {
            strings,
            producer: empty,
            module_name: None,
            module_attrs: None,
            module_location: None,
            features: 0,
            types: IdPool::default(),
            kernel_names: IdPool::default(),
            devices,
            attrs: Vec::new(),
            attr_nodes: Vec::new(),
            attr_data: Vec::new(),
            attr_ids: FastMap::default(),
            payload: Payload::default(),
            locations: Locations::default(),
            functions: Vec::new(),
            n_written: 0,
            code: Code::default(),
            error: None,
        }
    }

    /// Records the first error.
    fn fail(&mut self, text: impl FnOnce() -> String) {
        if self.error.is_none() {
            self.error = Some(WriteError(text()));
        }
    }

    /// The first error, if any.
    pub fn error(&self) -> Option<&WriteError> {
        self.error.as_ref()
    }

    /// Sets the name of the program that writes the file.
    pub fn set_producer(&mut self, producer: &str) {
        self.producer = self.strings.id(producer);
    }

    /// Sets the module's symbol name.
    pub fn set_module_name(&mut self, name: &str) {
        self.module_name = Some(self.strings.id(name));
    }

    /// Sets the module's attribute dictionary.
    pub fn set_module_attrs(&mut self, attrs: AttrId) {
        self.check_dict(attrs);
        self.module_attrs = Some(attrs);
    }

    /// Sets the module's source location.
    pub fn set_module_location(&mut self, location: LocationId) {
        self.module_location = Some(location);
    }

    fn check_dict(&mut self, attrs: AttrId) {
        if self.attrs.get(attrs.index()).is_none_or(|rec| rec.kind != AttrKind::Dict as u8) {
            self.fail(|| format!("{attrs:?} is not a dictionary"));
        }
    }

    /// The id of a string; 0 for the empty one.
    pub fn string(&mut self, text: &str) -> StringId {
        self.strings.id(text)
    }

    /// The id of a type, by its MLIR text.
    pub fn ty(&mut self, text: &str) -> TypeId {
        if text.is_empty() {
            self.fail(|| "a type has no text".to_owned());
        }
        let text = self.strings.id(text);
        TypeId(self.types.id(text))
    }

    /// The code of a kernel, by its name.
    pub fn kernel_name(&mut self, name: &str) -> KernelCode {
        if name.is_empty() {
            self.fail(|| "a kernel has no name".to_owned());
        }
        let name = self.strings.id(name);
        KernelCode(self.kernel_names.id(name))
    }

    /// The index of a device, by its name; 0 for the empty one, the default host.
    pub fn device(&mut self, name: &str) -> u16 {
        let name = self.strings.id(name);
        let index = self.devices.id(name);
        u16::try_from(index).ok().filter(|&index| index < u16::MAX).unwrap_or_else(|| {
            self.fail(|| "more devices than a file can name".to_owned());
            0
        })
    }

    // Attributes.

    /// The id of an attribute that has no children and no data.
    fn leaf(&mut self, kind: AttrKind, dtype: Option<DType>, flags: u8, ty: u32, value: u64) -> AttrId {
        let dtype = dtype.map_or(0, |dtype| dtype as u8);
        self.intern_attr(AttrRec { kind: kind as u8, dtype, depth: 0, flags, ty, value }, Box::default(), 1)
    }

    /// The id of an attribute with data. `rec.value` is set here.
    fn aggregate(&mut self, rec: AttrRec, data: Box<[u8]>, n_nodes: u32) -> AttrId {
        self.intern_attr(AttrRec { value: 0, ..rec }, data, n_nodes)
    }

    fn intern_attr(&mut self, mut rec: AttrRec, data: Box<[u8]>, n_nodes: u32) -> AttrId {
        let key = (rec, data);
        if let Some(&id) = self.attr_ids.get(&key) {
            return id;
        }
        let id = AttrId(self.attrs.len() as u32);
        let has_data = matches!(
            AttrKind::from_code(rec.kind),
            Some(
                AttrKind::Array
                    | AttrKind::Scalars
                    | AttrKind::Dict
                    | AttrKind::Dense
                    | AttrKind::Shape
                    | AttrKind::CompiledModule
                    | AttrKind::CompilationUnit
            )
        ) && rec.flags & ATTR_UNRANKED == 0;
        if has_data {
            let start = self.attr_data.len().next_multiple_of(TABLE_ALIGN);
            let (Ok(offset), Ok(len)) = (u32::try_from(start), u32::try_from(key.1.len())) else {
                self.fail(|| "attributes take more than 4 GiB".to_owned());
                return AttrId(0);
            };
            self.attr_data.resize(start, 0);
            self.attr_data.extend_from_slice(&key.1);
            rec.value = u64::from(offset) | u64::from(len) << 32;
        }
        if rec.depth > MAX_ATTR_DEPTH || n_nodes > MAX_ATTR_NODES {
            self.fail(|| {
                format!("an attribute nests more than {MAX_ATTR_DEPTH} deep or has more than {MAX_ATTR_NODES} nodes")
            });
        }
        self.attrs.push(rec);
        self.attr_nodes.push(n_nodes);
        self.attr_ids.insert(key, id);
        id
    }

    /// A unit.
    pub fn attr_unit(&mut self) -> AttrId {
        self.leaf(AttrKind::Unit, None, 0, NONE, 0)
    }

    /// A boolean.
    pub fn attr_bool(&mut self, value: bool) -> AttrId {
        self.leaf(AttrKind::Bool, None, 0, NONE, u64::from(value))
    }

    /// An integer of at most 64 bits, extended to 64 bits as its type's signedness says.
    pub fn attr_int(&mut self, ty: TypeId, dtype: Option<DType>, value: i64) -> AttrId {
        self.leaf(AttrKind::Int, dtype, 0, ty.0, value as u64)
    }

    /// A floating-point number; `bits` are those of `dtype`'s own width.
    pub fn attr_float(&mut self, dtype: DType, bits: u64) -> AttrId {
        self.leaf(AttrKind::Float, Some(dtype), 0, NONE, bits)
    }

    /// Text.
    pub fn attr_str(&mut self, text: &str) -> AttrId {
        let text = self.strings.id(text);
        self.leaf(AttrKind::String, None, 0, NONE, u64::from(text.0))
    }

    /// A type.
    pub fn attr_type(&mut self, ty: TypeId) -> AttrId {
        self.leaf(AttrKind::Type, None, 0, NONE, u64::from(ty.0))
    }

    /// A reference to a symbol, by its name without the `@`.
    pub fn attr_symbol(&mut self, name: &str) -> AttrId {
        let name = self.strings.id(name);
        self.leaf(AttrKind::Symbol, None, 0, NONE, u64::from(name.0))
    }

    /// An attribute that has no kind of its own, as MLIR text.
    pub fn attr_text(&mut self, text: &str) -> AttrId {
        let text = self.strings.id(text);
        self.leaf(AttrKind::Text, None, 0, NONE, u64::from(text.0))
    }

    /// A module that a kernel compiles, by its symbol name and its generic MLIR text; `place` is the number
    /// of named functions before it.
    pub fn attr_compiled_module(&mut self, name: &str, text: &str, place: u32) -> AttrId {
        if name.is_empty() {
            self.fail(|| "a compiled module has no name".to_owned());
        }
        self.features |= FEATURE_COMPILED;
        let rec = CompiledModuleRec { name: self.strings.id(name), text: self.strings.id(text), place };
        let kind = AttrKind::CompiledModule as u8;
        let attr = AttrRec { kind, dtype: 0, depth: 0, flags: 0, ty: NONE, value: 0 };
        self.aggregate(attr, bytemuck::bytes_of(&rec).into(), 1)
    }

    /// A symbol of a compiled module, by its nonempty symbol path.
    pub fn attr_compilation_unit<'n>(
        &mut self,
        module: AttrId,
        nested: impl IntoIterator<Item = &'n str>,
    ) -> AttrId {
        let (depth, n_nodes) = self.tree(std::iter::once(module));
        let names = nested.into_iter().map(|name| self.strings.id(name).0);
        let words: Vec<u32> = std::iter::once(module.0).chain(names).collect();
        let kind = AttrKind::CompilationUnit as u8;
        let attr = AttrRec { kind, dtype: 0, depth, flags: 0, ty: NONE, value: 0 };
        self.aggregate(attr, bytemuck::cast_slice(&words).into(), n_nodes)
    }

    /// Depth and number of nodes of an attribute with these children.
    fn tree(&mut self, children: impl Iterator<Item = AttrId>) -> (u8, u32) {
        let (mut depth, mut n_nodes) = (1u8, 1u32);
        for child in children {
            let Some(rec) = self.attrs.get(child.index()) else {
                self.fail(|| format!("{child:?} does not exist"));
                continue;
            };
            depth = depth.max(rec.depth.saturating_add(1));
            n_nodes = n_nodes.saturating_add(self.attr_nodes[child.index()]);
        }
        (depth, n_nodes)
    }

    /// A list of attributes.
    pub fn attr_array(&mut self, children: &[AttrId]) -> AttrId {
        let (depth, n_nodes) = self.tree(children.iter().copied());
        let rec = AttrRec { kind: AttrKind::Array as u8, dtype: 0, depth, flags: 0, ty: NONE, value: 0 };
        self.aggregate(rec, bytemuck::cast_slice(children).into(), n_nodes)
    }

    /// A dictionary, in any order.
    pub fn attr_dict(&mut self, entries: &[(&str, AttrId)]) -> AttrId {
        let (depth, n_nodes) = self.tree(entries.iter().map(|&(_, value)| value));
        let mut sorted = entries.to_vec();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            self.fail(|| format!("a dictionary has two entries named `{}`", pair[0].0));
        }
        let entries: Vec<DictEntry> =
            sorted.into_iter().map(|(key, value)| DictEntry { key: self.strings.id(key), value }).collect();
        let rec = AttrRec { kind: AttrKind::Dict as u8, dtype: 0, depth, flags: 0, ty: NONE, value: 0 };
        self.aggregate(rec, bytemuck::cast_slice(&entries).into(), n_nodes)
    }

    /// A list of numbers of one type; `dense` selects the form `array<i32: 1, 2>`.
    pub fn attr_scalars(&mut self, ty: TypeId, dtype: DType, bytes: &[u8], dense: bool) -> AttrId {
        if dtype.size() == 0 || !bytes.len().is_multiple_of(dtype.size()) {
            self.fail(|| format!("{} bytes are not a list of {dtype}", bytes.len()));
        }
        let flags = if dense { ATTR_DENSE_ARRAY } else { 0 };
        let kind = AttrKind::Scalars as u8;
        let rec = AttrRec { kind, dtype: dtype as u8, depth: 0, flags, ty: ty.0, value: 0 };
        self.aggregate(rec, bytes.into(), 1)
    }

    /// A shape; -1 is an unknown dimension, `None` an unknown rank.
    pub fn attr_shape(&mut self, dims: Option<&[i64]>) -> AttrId {
        let Some(dims) = dims else { return self.leaf(AttrKind::Shape, None, ATTR_UNRANKED, NONE, 0) };
        self.check_rank(dims);
        if let Some(dim) = dims.iter().find(|&&dim| dim < -1) {
            self.fail(|| format!("{dim} is not a dimension"));
        }
        let rec = AttrRec { kind: AttrKind::Shape as u8, dtype: 0, depth: 0, flags: 0, ty: NONE, value: 0 };
        self.aggregate(rec, bytemuck::cast_slice(dims).into(), 1)
    }

    fn check_rank(&mut self, dims: &[i64]) {
        if dims.len() > MAX_RANK as usize {
            self.fail(|| format!("rank {} is more than {MAX_RANK}", dims.len()));
        }
    }

    /// A tensor of type `ty`. `data` are its elements, or one element for a splat. A clone of large data is
    /// kept until the file is written.
    pub fn attr_dense<D: AsRef<[u8]> + Clone + 'static>(
        &mut self,
        ty: TypeId,
        dtype: DType,
        shape: &[i64],
        data: &D,
        splat: bool,
    ) -> AttrId {
        let offset = self.payload.offset(data);
        self.dense(ty, dtype, shape, (offset, data.as_ref().len()), splat)
    }

    /// A tensor whose elements are made while the file is written.
    pub fn attr_dense_in_pieces(
        &mut self,
        ty: TypeId,
        dtype: DType,
        shape: &[i64],
        pieces: &Arc<dyn Pieces>,
    ) -> AttrId {
        let offset = self.payload.offset_of_pieces(pieces);
        self.dense(ty, dtype, shape, (offset, pieces.n_bytes()), false)
    }

    /// A tensor at `offset` in the payload.
    fn dense(
        &mut self,
        ty: TypeId,
        dtype: DType,
        shape: &[i64],
        (offset, len): (usize, usize),
        splat: bool,
    ) -> AttrId {
        self.check_rank(shape);
        let mut n_elements = Some(1usize);
        for &dim in shape {
            n_elements = n_elements.zip(usize::try_from(dim).ok()).and_then(|(n, dim)| n.checked_mul(dim));
        }
        let n_bytes =
            n_elements.and_then(|n| n.checked_mul(dtype.size())).filter(|&n| i64::try_from(n).is_ok());
        let n_stored = if splat { n_bytes.map(|_| dtype.size()) } else { n_bytes };
        if n_stored != Some(len) || dtype.size() == 0 {
            self.fail(|| format!("{len} bytes are not a tensor of {dtype} with shape {shape:?}"));
        }
        let (rank, offset, len) = (shape.len() as u32, offset as u64, len as u64);
        let mut bytes = bytemuck::bytes_of(&DenseRec { rank, reserved: 0, offset, len }).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(shape));
        let flags = if splat { ATTR_SPLAT } else { 0 };
        let kind = AttrKind::Dense as u8;
        let rec = AttrRec { kind, dtype: dtype as u8, depth: 0, flags, ty: ty.0, value: 0 };
        self.aggregate(rec, bytes.into(), 1)
    }

    // Locations.

    /// The id of a location, unless it is too large.
    fn located(&mut self, id: Result<LocationId, TooLarge>) -> LocationId {
        id.unwrap_or_else(|TooLarge| {
            self.fail(|| {
                format!("a location nests more than {MAX_LOCATION_DEPTH} deep or has more than {MAX_LOCATION_NODES} nodes")
            });
            LocationId(0)
        })
    }

    fn location(
        &mut self,
        kind: LocationKind,
        fields: (u32, u32, u32),
        children: &[LocationId],
    ) -> LocationId {
        if let Some(child) = children.iter().find(|&&child| !self.locations.contains(child)) {
            self.fail(|| format!("{child:?} does not exist"));
        }
        let id = self.locations.node(kind, fields, children);
        self.located(id)
    }

    /// The unknown location.
    pub fn location_unknown(&mut self) -> LocationId {
        self.location(LocationKind::Unknown, (0, 0, 0), &[])
    }

    /// A position in a file.
    pub fn location_file(&mut self, file: &str, line: u32, col: u32) -> LocationId {
        let file = self.strings.id(file);
        self.location_place(file, line, col)
    }

    /// A position in a file whose name has an id.
    pub fn location_place(&mut self, file: StringId, line: u32, col: u32) -> LocationId {
        let id = self.locations.place(file.0, line, col);
        self.located(id)
    }

    /// A range in a file, from line and column to line and column.
    pub fn location_range(&mut self, file: &str, start: (u32, u32), end: (u32, u32)) -> LocationId {
        let file = self.strings.id(file);
        // The start alone has an id as well, as in every earlier version.
        self.location_place(file, start.0, start.1);
        let id = self.locations.range(file.0, start, end);
        self.located(id)
    }

    /// A name, optionally with a location, which is left out if it is too large.
    pub fn location_name(&mut self, name: &str, child: Option<LocationId>) -> LocationId {
        let name = self.strings.id(name);
        let child = child.filter(|&child| self.locations.fits(&[child]));
        self.location(LocationKind::Name, (name.0, child.map_or(NONE, |id| id.0), 0), child.as_slice())
    }

    /// An inlined location and the location of its call. If it is too large, the callers beyond the nearest
    /// one are left out, or all callers.
    pub fn location_call_site(&mut self, callee: LocationId, caller: LocationId) -> LocationId {
        let mut callers = [caller, self.locations.nearest(caller)].into_iter();
        match callers.find(|&caller| self.locations.fits(&[callee, caller])) {
            Some(caller) => self.location(LocationKind::CallSite, (0, callee.0, caller.0), &[callee, caller]),
            None => callee,
        }
    }

    /// Several locations merged into one, and metadata of the merging pass. If it is too large, of each part
    /// only the nearest place is kept, and parts beyond the limit are left out.
    pub fn location_fused(&mut self, parts: &[LocationId], metadata: Option<AttrId>) -> LocationId {
        /// A nearest place has two nodes at most.
        const MAX_PARTS: usize = (MAX_LOCATION_NODES as usize - 1) / 2;
        let a = metadata.map_or(0, |id| id.0.saturating_add(1));
        if self.locations.fits(parts) {
            return self.location(LocationKind::Fused, (a, 0, 0), parts);
        }
        let parts = parts.iter().take(MAX_PARTS).map(|&part| self.locations.nearest(part));
        let parts: Vec<LocationId> = parts.collect();
        self.location(LocationKind::Fused, (a, 0, 0), &parts)
    }

    /// A location without a kind of its own, as MLIR text.
    pub fn location_text(&mut self, text: &str) -> LocationId {
        let text = self.strings.id(text);
        self.location(LocationKind::Text, (text.0, 0, 0), &[])
    }

    // Functions.

    /// Reserves the next function id, for mutually recursive functions.
    pub fn declare(&mut self) -> FunctionId {
        self.functions.push(Function::Declared);
        FunctionId(self.functions.len() as u32 - 1)
    }

    /// Sets the contents of a declared function.
    pub fn define(&mut self, id: FunctionId, function: FunctionBuilder) {
        match self.functions.get_mut(id.index()) {
            Some(slot @ Function::Declared) => *slot = Function::Defined(Box::new(function)),
            Some(Function::Defined(_) | Function::Written) => {
                return self.fail(|| format!("{id:?} is defined twice"));
            }
            None => return self.fail(|| format!("{id:?} is not declared")),
        }
        while let Some(slot @ Function::Defined(_)) = self.functions.get_mut(self.n_written) {
            self.n_written += 1;
            if let Function::Defined(function) = std::mem::replace(slot, Function::Written)
                && let Err(error) = self.code.add(*function)
            {
                self.fail(|| error.0);
            }
        }
    }

    /// Declares and defines a function.
    pub fn add(&mut self, function: FunctionBuilder) -> FunctionId {
        let id = self.declare();
        self.define(id, function);
        id
    }

    /// The bytes of the file.
    pub fn finish(self) -> Result<Vec<u8>, WriteError> {
        self.finish_parts().map(|parts| parts.to_vec())
    }

    /// The bytes without a copy, in parts.
    pub fn finish_parts(self) -> Result<Parts, WriteError> {
        assemble::assemble(self)
    }
}
