//! The context: interned strings, types, attributes, locations and op names.
//!
//! Ids are equal if and only if their contents are. Contents are stored once, in the order of their first
//! use, so ids never depend on a hasher's order. They live as long as the context, except for the bytes of
//! large constants ([`super::Module::drop_dead_constants`]). Strings used by the compiler itself have fixed
//! ids ([`super::names`]), and so have the types that op definitions name ([`KnownType`]).

use super::affine::AffineTable;
use super::constants::Large;
use super::entity::{Arena, EntityId};
use super::info::{Definition, OpTable};
use super::locs::SourceText;
use super::{
    AttrId, AttrKind, Blob, FloatKind, LocId, LocKind, OpNameId, Signedness, StrId, Traits, TypeId, TypeKind,
    names,
};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::borrow::Cow;
use string_interner::backend::StringBackend;
use string_interner::symbol::SymbolU32;
use string_interner::{StringInterner, Symbol};

/// The types with their names, in the order of their ids.
macro_rules! known_types {
    ($($known:ident = $name:literal,)*) => {
        /// The types that op definitions name. Interned first: type `k` has the id `k as u32`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the types'")]
        #[repr(u32)]
        pub enum KnownType {
            $($known,)*
        }

        impl KnownType {
            /// All of them, by id.
            pub const ALL: [KnownType; [$($name),*].len()] = [$(KnownType::$known),*];

            /// As written in a program.
            pub fn name(self) -> &'static str {
                match self {
                    $(KnownType::$known => $name,)*
                }
            }
        }
    };
}

known_types! {
    I1 = "i1",
    I8 = "i8",
    I32 = "i32",
    I64 = "i64",
    F32 = "f32",
    F64 = "f64",
    Index = "index",
    None = "none",
    Chain = "!tfrt.chain",
    Tensor = "!t.tensor",
    Shape = "!ts.shape",
    F16 = "f16",
    BF16 = "bf16",
    I16 = "i16",
    UI8 = "ui8",
    UI32 = "ui32",
    UI64 = "ui64",
    Complex64 = "complex<f32>",
    Complex128 = "complex<f64>",
    String = "!tfrt.string",
    Device = "!tfrt.device",
    HostBuffer = "!ht.host_buffer",
    PartialShape = "!ts.partial_shape",
    FixedRankShape1 = "!ts.fixed_rank_shape.1",
    FixedRankShape2 = "!ts.fixed_rank_shape.2",
    FixedRankShape3 = "!ts.fixed_rank_shape.3",
    Arena = "!cpu.arena",
    Step = "!dev.step",
    TensorHandle = "!corert.tensorhandle",
    OpHandler = "!corert.ophandler",
    TensorType = "!tfrt.tensor_type",
    ProtoExample = "!tfrt_test.proto_example",
}

impl KnownType {
    /// Its id in every context.
    pub const fn id(self) -> TypeId {
        TypeId(self as u32)
    }
}

/// Facts about an op name, registered or not.
#[derive(Clone, Debug)]
pub struct OpNameData {
    /// The full name, `tfrt.add.i32`.
    pub name: StrId,
    /// Its traits; none if it is not registered.
    pub traits: Traits,
    /// The interned names of the attributes that its definition declares, in that order.
    pub attr_names: Box<[StrId]>,
    /// Its definition, if it is registered. `OpNameData::def` returns it to the layers above.
    pub(crate) definition: Option<Definition>,
}

/// The interners.
pub struct Context {
    strings: StringInterner<StringBackend<SymbolU32>, FxBuildHasher>,
    types: IndexSet<TypeKind, FxBuildHasher>,
    attrs: IndexSet<AttrKind, FxBuildHasher>,
    /// Bytes of large constants among the attributes.
    pub(super) large: Large,
    locs: IndexSet<LocKind, FxBuildHasher>,
    places: SourceText,
    affine: AffineTable,
    op_names: Arena<OpNameId, OpNameData>,
    op_name_of: FxHashMap<StrId, OpNameId>,
    table: &'static dyn OpTable,
}

/// A name that is not taken: `text`, or `text` with a number.
pub(crate) fn free_name(text: &str, mut is_free: impl FnMut(&str) -> bool) -> String {
    let mut name = text.to_owned();
    let mut n = 0;
    while !is_free(&name) {
        n += 1;
        name = format!("{text}_{n}");
    }
    name
}

impl Context {
    /// An empty context whose op names are looked up in `table`.
    pub(super) fn new(table: &'static dyn OpTable) -> Self {
        let mut cx = Context {
            strings: StringInterner::with_capacity(256),
            types: IndexSet::default(),
            attrs: IndexSet::default(),
            large: Large::default(),
            locs: IndexSet::default(),
            places: SourceText::default(),
            affine: AffineTable::default(),
            op_names: Arena::default(),
            op_name_of: FxHashMap::default(),
            table,
        };
        for (i, text) in names::FIXED.iter().enumerate() {
            let id = cx.str_id(text);
            debug_assert_eq!(id, StrId(i as u32));
        }
        for known in KnownType::ALL {
            let kind = match known {
                KnownType::I1 => int(1, Signedness::Signless),
                KnownType::I8 => int(8, Signedness::Signless),
                KnownType::I16 => int(16, Signedness::Signless),
                KnownType::I32 => int(32, Signedness::Signless),
                KnownType::I64 => int(64, Signedness::Signless),
                KnownType::UI8 => int(8, Signedness::Unsigned),
                KnownType::UI32 => int(32, Signedness::Unsigned),
                KnownType::UI64 => int(64, Signedness::Unsigned),
                KnownType::F16 => TypeKind::Float(FloatKind::F16),
                KnownType::BF16 => TypeKind::Float(FloatKind::BF16),
                KnownType::F32 => TypeKind::Float(FloatKind::F32),
                KnownType::F64 => TypeKind::Float(FloatKind::F64),
                KnownType::Index => TypeKind::Index,
                KnownType::None => TypeKind::None,
                KnownType::Complex64 => TypeKind::Complex(KnownType::F32.id()),
                KnownType::Complex128 => TypeKind::Complex(KnownType::F64.id()),
                KnownType::Chain
                | KnownType::Tensor
                | KnownType::Shape
                | KnownType::String
                | KnownType::Device
                | KnownType::HostBuffer
                | KnownType::PartialShape
                | KnownType::FixedRankShape1
                | KnownType::FixedRankShape2
                | KnownType::FixedRankShape3
                | KnownType::Arena
                | KnownType::Step
                | KnownType::TensorHandle
                | KnownType::OpHandler
                | KnownType::TensorType
                | KnownType::ProtoExample => TypeKind::Opaque(cx.str_id(&known.name()[1..])),
            };
            let id = cx.type_id(kind);
            debug_assert_eq!(id, known.id());
        }
        let unknown = cx.loc_id(LocKind::Unknown);
        debug_assert_eq!(unknown, LocId::UNKNOWN);
        cx
    }

    /// The op table; `Context::registry` returns it to the layers above.
    pub(crate) fn table(&self) -> &'static dyn OpTable {
        self.table
    }

    /// Interns a string.
    #[inline]
    pub fn str_id(&mut self, text: &str) -> StrId {
        StrId(self.strings.get_or_intern(text).to_usize() as u32)
    }

    /// [`free_name`] among interned names.
    pub fn free_name(&mut self, text: &str, mut is_free: impl FnMut(StrId) -> bool) -> String {
        free_name(text, |name| is_free(self.str_id(name)))
    }

    /// The id of `text` if it was ever interned.
    #[inline]
    pub fn find_str(&self, text: &str) -> Option<StrId> {
        self.strings.get(text).map(|s| StrId(s.to_usize() as u32))
    }

    /// The text of an interned string.
    #[inline]
    pub fn str(&self, id: StrId) -> &str {
        SymbolU32::try_from_usize(id.0 as usize).and_then(|s| self.strings.resolve(s)).unwrap_or("")
    }

    /// Interns a type. Of the two spellings of the host tensor type, `!t.tensor` and `!tfrt_tensor.tensor`,
    /// the first one is kept.
    #[inline]
    pub fn type_id(&mut self, kind: TypeKind) -> TypeId {
        if kind == TypeKind::Opaque(names::HOST_TENSOR) {
            return KnownType::Tensor.id();
        }
        TypeId::new(self.types.insert_full(kind).0)
    }

    /// The contents of a type.
    #[inline]
    pub fn ty(&self, id: TypeId) -> &TypeKind {
        &self.types[id.index()]
    }

    /// Interns an attribute. Prefer the constructors below, which keep the invariants of [`AttrKind`].
    #[inline]
    pub fn attr_id(&mut self, kind: AttrKind) -> AttrId {
        let n_shared = kind.n_shared();
        let (index, is_new) = self.attrs.insert_full(kind);
        if is_new {
            self.large.bytes += n_shared;
        }
        AttrId::new(index)
    }

    /// Every interned type.
    pub(crate) fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len()).map(TypeId::new)
    }

    /// Every interned attribute.
    pub(crate) fn attr_ids(&self) -> impl Iterator<Item = AttrId> + use<> {
        (0..self.attrs.len()).map(AttrId::new)
    }

    /// Every interned location that is no place in the text.
    pub(super) fn loc_kinds(&self) -> impl Iterator<Item = &LocKind> {
        self.locs.iter()
    }

    /// Drops the bytes of a large constant without references. Its id is invalid from then on; equal contents
    /// get another id.
    pub(super) fn drop_large(&mut self, id: AttrId) {
        let n_shared = self.attr(id).n_shared();
        let data = Blob::from(&id.0.to_le_bytes()[..]);
        let nothing = AttrKind::Dense { ty: KnownType::None.id(), splat: true, data };
        if n_shared > 0 && self.attrs.replace_index(id.index(), nothing).is_ok() {
            self.large.bytes -= n_shared;
        }
    }

    /// The contents of an attribute.
    #[inline]
    pub fn attr(&self, id: AttrId) -> &AttrKind {
        &self.attrs[id.index()]
    }

    /// Sets the text being parsed: the places of its bytes are locations without being interned.
    pub fn set_places(&mut self, places: SourceText) {
        debug_assert!(self.locs.len() == 1, "no location may have been made yet");
        self.places = places;
    }

    /// The places of the text being parsed.
    #[inline]
    pub fn places(&self) -> &SourceText {
        &self.places
    }

    /// Interns a location.
    #[inline]
    pub fn loc_id(&mut self, kind: LocKind) -> LocId {
        if let LocKind::File { file, line, col } = kind
            && let Some(place) = self.places.id(file, line, col)
        {
            return place;
        }
        LocId::new(self.locs.insert_full(kind).0)
    }

    /// `loc(fused<metadata>[locs])`, normalized as upstream: parts fused with the same metadata are
    /// flattened, unknown and repeated ones are dropped, and a single part without metadata is returned
    /// itself.
    pub fn fused_loc(&mut self, locs: &[LocId], metadata: Option<AttrId>) -> LocId {
        let mut parts: IndexSet<LocId, FxBuildHasher> = IndexSet::default();
        for loc in locs {
            match &*self.loc(*loc) {
                LocKind::Fused { locs: inner, metadata: same } if *same == metadata => parts.extend(inner),
                LocKind::Unknown => {}
                _ => {
                    parts.insert(*loc);
                }
            }
        }
        parts.shift_remove(&LocId::UNKNOWN);
        match (parts.len(), metadata) {
            (0, None) => return LocId::UNKNOWN,
            (1, None) => return parts[0],
            (0, Some(_)) => {
                parts.insert(LocId::UNKNOWN);
            }
            _ => {}
        }
        let locs = parts.into_iter().collect();
        self.loc_id(LocKind::Fused { locs, metadata })
    }

    /// The contents of a location.
    #[inline]
    pub fn loc(&self, id: LocId) -> Cow<'_, LocKind> {
        match self.places.kind(id) {
            Some(kind) => Cow::Owned(kind),
            None => Cow::Borrowed(&self.locs[id.index()]),
        }
    }

    pub(super) fn affine_table(&self) -> &AffineTable {
        &self.affine
    }

    pub(super) fn affine_table_mut(&mut self) -> &mut AffineTable {
        &mut self.affine
    }

    /// Interns an op name and looks up its definition at the first time. The op need not be registered.
    #[inline]
    pub fn op_name(&mut self, name: StrId) -> OpNameId {
        if let Some(id) = self.op_name_of.get(&name) {
            return *id;
        }
        let info = self.table.info(self.str(name));
        let traits = info.as_ref().map_or(Traits::NONE, |info| info.traits);
        let definition = info.as_ref().map(|info| info.definition);
        let attr_names = info.map_or_else(Vec::new, |info| info.attr_names);
        let attr_names = attr_names.into_iter().map(|name| self.str_id(name)).collect();
        let id = self.op_names.push(OpNameData { name, traits, attr_names, definition });
        self.op_name_of.insert(name, id);
        id
    }

    /// The facts about all interned op names, by id.
    pub(crate) fn op_names(&self) -> impl Iterator<Item = &OpNameData> {
        self.op_names.iter().map(|(_, data)| data)
    }

    /// The facts about an op name.
    #[inline]
    pub fn op_name_data(&self, id: OpNameId) -> &OpNameData {
        &self.op_names[id]
    }

    /// `iN`, `siN` or `uiN`.
    pub fn integer(&mut self, width: u32, sign: Signedness) -> TypeId {
        self.type_id(int(width, sign))
    }

    /// `!text`, for example `tfrt.chain`.
    pub fn opaque_type(&mut self, text: &str) -> TypeId {
        let text = self.str_id(text);
        self.type_id(TypeKind::Opaque(text))
    }

    /// `(inputs) -> results`.
    pub fn function_type(&mut self, inputs: &[TypeId], results: &[TypeId]) -> TypeId {
        self.type_id(TypeKind::Function { inputs: inputs.into(), results: results.into() })
    }

    /// `tensor<shape x elem>`, with [`super::DYNAMIC`] for `?`.
    pub fn tensor_type(&mut self, shape: &[i64], elem: TypeId) -> TypeId {
        self.type_id(TypeKind::Tensor { shape: Some(shape.into()), elem, encoding: None })
    }

    /// An integer of type `ty` (at most 64 bits, or `index`), truncated to its width; a boolean if `ty` is
    /// `i1`.
    pub fn int_attr(&mut self, ty: TypeId, value: i64) -> AttrId {
        let kind = match *self.ty(ty) {
            TypeKind::Integer { width: 1, sign: Signedness::Signless } => AttrKind::Bool(value & 1 == 1),
            TypeKind::Integer { width, sign } if (1..64).contains(&width) => {
                let shift = 64 - width;
                let value = match sign {
                    Signedness::Unsigned => (((value as u64) << shift) >> shift) as i64,
                    Signedness::Signless | Signedness::Signed => (value << shift) >> shift,
                };
                AttrKind::Int { ty, value }
            }
            _ => AttrKind::Int { ty, value },
        };
        self.attr_id(kind)
    }

    /// `true` or `false`.
    pub fn bool_attr(&mut self, value: bool) -> AttrId {
        self.attr_id(AttrKind::Bool(value))
    }

    /// A float of type `f32`.
    pub fn f32_attr(&mut self, value: f32) -> AttrId {
        self.attr_id(AttrKind::Float { ty: KnownType::F32.id(), bits: u64::from(value.to_bits()) })
    }

    /// A float of type `f64`.
    pub fn f64_attr(&mut self, value: f64) -> AttrId {
        self.attr_id(AttrKind::Float { ty: KnownType::F64.id(), bits: value.to_bits() })
    }

    /// A string without a type.
    pub fn str_attr(&mut self, text: &str) -> AttrId {
        let text = self.str_id(text);
        self.attr_id(AttrKind::Str { text, ty: None })
    }

    /// A string of any bytes, without a type.
    pub fn bytes_attr(&mut self, bytes: &[u8]) -> AttrId {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.str_attr(text),
            Err(_) => self.attr_id(AttrKind::Bytes { bytes: bytes.into(), ty: None }),
        }
    }

    /// The contents of a string, if it is one.
    pub fn string_bytes(&self, attr: AttrId) -> Option<&[u8]> {
        match self.attr(attr) {
            AttrKind::Str { text, .. } => Some(self.str(*text).as_bytes()),
            AttrKind::Bytes { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// `@name`.
    pub fn symbol_attr(&mut self, name: &str) -> AttrId {
        let root = self.str_id(name);
        self.attr_id(AttrKind::Symbol { root, nested: Box::default() })
    }

    /// A type as an attribute.
    pub fn type_attr(&mut self, ty: TypeId) -> AttrId {
        self.attr_id(AttrKind::Type(ty))
    }

    /// `array<i32: ...>`.
    pub fn i32_array_attr(&mut self, numbers: &[i32]) -> AttrId {
        let data = numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        self.attr_id(AttrKind::DenseArray { elem: KnownType::I32.id(), data: data.into() })
    }

    /// `[elems]`.
    pub fn array_attr(&mut self, elems: &[AttrId]) -> AttrId {
        self.attr_id(AttrKind::Array(elems.into()))
    }

    /// A dictionary. Sorts the entries; the last of several with one name wins.
    pub fn dict_attr(&mut self, entries: &[(StrId, AttrId)]) -> AttrId {
        let mut sorted: Vec<(StrId, AttrId)> = Vec::with_capacity(entries.len());
        for &(name, value) in entries {
            match sorted.binary_search_by(|(n, _)| self.str(*n).cmp(self.str(name))) {
                Ok(at) => sorted[at].1 = value,
                Err(at) => sorted.insert(at, (name, value)),
            }
        }
        self.attr_id(AttrKind::Dict(sorted.into()))
    }

    /// The integer value of an integer or boolean attribute.
    pub fn as_int(&self, attr: AttrId) -> Option<i64> {
        match *self.attr(attr) {
            AttrKind::Int { value, .. } => Some(value),
            AttrKind::Bool(b) => Some(i64::from(b)),
            _ => None,
        }
    }

    /// The contents of a string attribute.
    pub fn as_str(&self, attr: AttrId) -> Option<&str> {
        match *self.attr(attr) {
            AttrKind::Str { text, .. } => Some(self.str(text)),
            _ => None,
        }
    }

    /// The type inside a type attribute.
    pub fn as_type(&self, attr: AttrId) -> Option<TypeId> {
        match *self.attr(attr) {
            AttrKind::Type(ty) => Some(ty),
            _ => None,
        }
    }

    /// The type of a typed attribute.
    pub fn attr_type(&self, attr: AttrId) -> Option<TypeId> {
        match *self.attr(attr) {
            AttrKind::Bool(_) => Some(KnownType::I1.id()),
            AttrKind::Int { ty, .. }
            | AttrKind::WideInt { ty, .. }
            | AttrKind::Float { ty, .. }
            | AttrKind::WideFloat { ty, .. }
            | AttrKind::Dense { ty, .. }
            | AttrKind::DenseStrings { ty, .. }
            | AttrKind::DenseResource { ty, .. }
            | AttrKind::Sparse { ty, .. } => Some(ty),
            AttrKind::Str { ty, .. } | AttrKind::Bytes { ty, .. } | AttrKind::Opaque { ty, .. } => ty,
            _ => None,
        }
    }

    /// Inputs and results of a function type.
    pub fn function_signature(&self, ty: TypeId) -> Option<(&[TypeId], &[TypeId])> {
        match self.ty(ty) {
            TypeKind::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }
}

fn int(width: u32, sign: Signedness) -> TypeKind {
    TypeKind::Integer { width, sign }
}
