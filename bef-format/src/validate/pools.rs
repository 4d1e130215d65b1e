//! Strings, types, kernel names, devices, attributes, and the header's references to them.

use super::{BitSet, Checker};
use crate::dtype::DType;
use crate::error::{FormatError, FormatErrorKind as Kind};
use crate::layout::{
    ATTR_DENSE_ARRAY, ATTR_SPLAT, ATTR_UNRANKED, AttrId, AttrKind, AttrRec, CompiledModuleRec, DenseRec,
    DictEntry, FEATURE_COMPILED, Header, MAX_ATTR_DEPTH, MAX_ATTR_NODES, MAX_RANK, NONE, PAYLOAD_ALIGN,
    SectionId, StringId, TABLE_ALIGN,
};
use crate::view::dense_parts;

impl From<StringId> for u32 {
    fn from(id: StringId) -> u32 {
        id.0
    }
}

pub(super) fn check(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    strings(cx)?;
    names(cx)?;
    attributes(cx)?;
    header(cx)
}

fn strings(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let (index, bytes) = (cx.image.string_index, cx.image.string_bytes);
    offsets(cx, SectionId::StringIndex, index, SectionId::StringBytes, bytes)?;
    // The empty string has id 0, which therefore means "no name" where a name is optional.
    if index.get(1) != Some(&0) {
        let found = u64::from(index.get(1).copied().unwrap_or(NONE));
        let kind = Kind::Mismatch { what: "end of string 0, which is empty,", found, expected: 0 };
        return Err(cx.refuse(SectionId::StringIndex, 1, kind));
    }
    let mut last: &[u8] = &[];
    for (i, ends) in index.windows(2).enumerate().skip(1) {
        // In range and ascending: `offsets` checked that.
        let string = &bytes[ends[0] as usize..ends[1] as usize];
        if string <= last {
            return Err(cx.refuse(SectionId::StringIndex, i, Kind::Order { what: "strings" }));
        }
        last = string;
    }
    Ok(())
}

/// Checks that offsets ascend from 0 to the length of the bytes, and divide them into valid UTF-8.
pub(super) fn offsets(
    cx: &Checker<'_, '_>,
    section: SectionId,
    index: &[u32],
    bytes_section: SectionId,
    bytes: &[u8],
) -> Result<(), FormatError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| cx.refuse(bytes_section, error.valid_up_to(), Kind::Utf8))?;
    cx.equal(section, 0, "first offset", u64::from(index.first().copied().unwrap_or(NONE)), 0)?;
    let mut last = 0;
    for (i, &offset) in index.iter().enumerate() {
        if offset < last {
            return Err(cx.refuse(section, i, Kind::Order { what: "offsets" }));
        }
        if !text.is_char_boundary(offset as usize) {
            let kind = if offset as usize > bytes.len() {
                Kind::Index { what: "offset", index: u64::from(offset), limit: bytes.len() as u64 + 1 }
            } else {
                Kind::Utf8
            };
            return Err(cx.refuse(section, i, kind));
        }
        last = offset;
    }
    cx.equal(section, index.len().saturating_sub(1), "last offset", u64::from(last), bytes.len() as u64)
}

fn names(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let tables = [
        (SectionId::Types, cx.image.types, "type"),
        (SectionId::KernelNames, cx.image.kernel_names, "kernel name"),
        (SectionId::Devices, cx.image.devices, "device name"),
    ];
    for (section, ids, what) in tables {
        cx.strings(section, ids)?;
        let mut seen = BitSet::new(cx.image.n_strings() as usize);
        for (i, id) in ids.iter().enumerate() {
            if !seen.insert(id.index()) {
                return Err(cx.refuse(section, i, Kind::Duplicate { what }));
            }
            if section != SectionId::Devices && id.0 == 0 {
                return Err(cx.refuse(section, i, Kind::Empty { what }));
            }
        }
    }
    let first = cx.image.devices.first().map_or(NONE, |id| id.0);
    cx.equal(SectionId::Devices, 0, "name of device 0 to be string", u64::from(first), 0)?;
    let (found, limit) = (cx.image.devices.len() as u64, u64::from(u16::MAX));
    if found > limit {
        return Err(cx.refuse(
            SectionId::Devices,
            0,
            Kind::Limit { what: "number of devices", found, limit },
        ));
    }
    Ok(())
}

fn attributes(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let mut data = DataCursor { cx, end: 0 };
    // The number of nodes of each attribute as a tree; shared children count each time.
    let mut nodes: Vec<u32> = Vec::with_capacity(cx.image.attributes.len());
    for (i, rec) in cx.image.attributes.iter().enumerate() {
        let n = attribute(cx, i, rec, &mut data, &nodes)?;
        nodes.push(n);
    }
    let is_compiled = |rec: &AttrRec| {
        rec.kind == AttrKind::CompiledModule as u8 || rec.kind == AttrKind::CompilationUnit as u8
    };
    let features = if cx.image.attributes.iter().any(is_compiled) { FEATURE_COMPILED } else { 0 };
    let found = cx.tables().header.features & FEATURE_COMPILED;
    if found != features {
        let kind = Kind::Mismatch { what: "feature of compiled modules", found, expected: features };
        return Err(cx.refuse_header(16, kind));
    }
    let (found, expected) = (data.end as u64, cx.image.attr_data.len() as u64);
    if found != expected {
        let kind = Kind::Mismatch { what: "attribute data to end at", found: expected, expected: found };
        return Err(cx.refuse(SectionId::AttrData, data.end, kind));
    }
    Ok(())
}

/// Checks one attribute. Returns the number of its nodes.
fn attribute(
    cx: &Checker<'_, '_>,
    i: usize,
    rec: &AttrRec,
    data: &mut DataCursor<'_, '_, '_>,
    nodes: &[u32],
) -> Result<u32, FormatError> {
    let refuse = |kind| cx.refuse(SectionId::Attributes, i, kind);
    let AttrRec { kind, dtype, depth, flags, ty, value } = *rec;
    let Some(kind) = AttrKind::from_code(kind) else {
        return Err(refuse(Kind::Code { what: "attribute kind", found: u64::from(kind) }));
    };
    let element = DType::from_code(dtype);
    if dtype != 0 && element.is_none() {
        return Err(refuse(Kind::Code { what: "element type", found: u64::from(dtype) }));
    }
    let allowed_flags = match kind {
        AttrKind::Scalars => ATTR_DENSE_ARRAY,
        AttrKind::Dense => ATTR_SPLAT,
        AttrKind::Shape => ATTR_UNRANKED,
        _ => 0,
    };
    if flags & !allowed_flags != 0 {
        return Err(refuse(Kind::Code { what: "combination of attribute flags", found: u64::from(flags) }));
    }
    let (wants_ty, dtype_ok) = match kind {
        AttrKind::Int => (true, element.is_none_or(DType::is_int)),
        AttrKind::Float => (false, element.is_some_and(DType::is_float)),
        AttrKind::Scalars | AttrKind::Dense => (true, element.is_some_and(|dtype| dtype.size() > 0)),
        _ => (false, element.is_none()),
    };
    if !dtype_ok {
        return Err(refuse(Kind::Code {
            what: "element type of this kind of attribute",
            found: u64::from(dtype),
        }));
    }
    if wants_ty {
        cx.index(SectionId::Attributes, i, "type", ty, cx.image.types.len())?;
    } else if ty != NONE {
        return Err(refuse(Kind::Mismatch {
            what: "type of an attribute without one to be",
            found: u64::from(ty),
            expected: u64::from(NONE),
        }));
    }

    let string = |limit: usize, what| {
        let index = u32::try_from(value).unwrap_or(NONE);
        cx.index(SectionId::Attributes, i, what, index, limit)
    };
    let inline_limit = |limit: u64| {
        if value < limit {
            Ok(())
        } else {
            Err(cx.refuse(
                SectionId::Attributes,
                i,
                Kind::Index { what: "inline value", index: value, limit },
            ))
        }
    };
    let n_strings = cx.image.n_strings() as usize;
    let mut tree = Tree { cx, i, nodes, n: 1, depth: 0 };
    match kind {
        AttrKind::Unit => inline_limit(1)?,
        AttrKind::Bool => inline_limit(2)?,
        AttrKind::Int => int(cx, i, element, value)?,
        AttrKind::Float => {
            if let Some(width @ (2 | 4)) = element.map(DType::size) {
                inline_limit(1 << (8 * width))?;
            }
        }
        AttrKind::String | AttrKind::Symbol | AttrKind::Text => string(n_strings, "string")?,
        AttrKind::Type => string(cx.image.types.len(), "type")?,
        AttrKind::Array => {
            let children: &[AttrId] = data.records(i, value)?;
            tree.depth = 1;
            for child in children {
                tree.child(*child)?;
            }
        }
        AttrKind::Dict => {
            let entries: &[DictEntry] = data.records(i, value)?;
            tree.depth = 1;
            let mut last = None;
            for entry in entries {
                cx.index(SectionId::Attributes, i, "string", entry.key.0, n_strings)?;
                // Strings are sorted, so ids compare as the strings do.
                if last.is_some_and(|last| entry.key <= last) {
                    return Err(refuse(Kind::Order { what: "dictionary keys" }));
                }
                last = Some(entry.key);
                tree.child(entry.value)?;
            }
        }
        AttrKind::Scalars => {
            let bytes = data.bytes(i, value)?;
            // Not zero, as checked above.
            let size = element.map_or(1, DType::size);
            cx.equal(SectionId::Attributes, i, "size of the last element", (bytes.len() % size) as u64, 0)?;
            if element == Some(DType::I1) && bytes.iter().any(|&byte| byte > 1) {
                return Err(refuse(Kind::Code { what: "boolean", found: 2 }));
            }
        }
        AttrKind::Shape if flags & ATTR_UNRANKED != 0 => inline_limit(1)?,
        AttrKind::Shape => {
            let dims: &[i64] = data.records(i, value)?;
            rank(cx, i, dims.len() as u64)?;
            if let Some(&dim) = dims.iter().find(|&&dim| dim < -1) {
                return Err(refuse(Kind::Code { what: "dimension", found: dim as u64 }));
            }
        }
        AttrKind::Dense => dense(cx, i, rec, data.bytes(i, value)?)?,
        AttrKind::CompiledModule => compiled_module(cx, i, data.records(i, value)?)?,
        AttrKind::CompilationUnit => {
            let [module, nested @ ..]: &[u32] = data.records(i, value)? else {
                return Err(refuse(Kind::Empty { what: "compilation unit" }));
            };
            tree.depth = 1;
            tree.child(AttrId(*module))?;
            let found = u64::from(cx.image.attributes[*module as usize].kind);
            let expected = AttrKind::CompiledModule as u64;
            if found != expected {
                return Err(refuse(Kind::Mismatch {
                    what: "a compiled module, attribute kind",
                    found,
                    expected,
                }));
            }
            // The reference to a whole module has no unit.
            if nested.is_empty() {
                return Err(refuse(Kind::Empty { what: "path of a compilation unit" }));
            }
            for &name in nested {
                cx.index(SectionId::Attributes, i, "string", name, n_strings)?;
            }
        }
    }
    cx.equal(SectionId::Attributes, i, "depth", u64::from(depth), u64::from(tree.depth))?;
    Ok(tree.n)
}

fn compiled_module(cx: &Checker<'_, '_>, i: usize, records: &[CompiledModuleRec]) -> Result<(), FormatError> {
    cx.equal(SectionId::Attributes, i, "number of modules in a compiled module", records.len() as u64, 1)?;
    for &CompiledModuleRec { name, text, place } in records {
        for string in [name, text] {
            cx.index(SectionId::Attributes, i, "string", string.0, cx.image.n_strings() as usize)?;
        }
        if name.0 == 0 {
            return Err(cx.refuse(
                SectionId::Attributes,
                i,
                Kind::Empty { what: "name of a compiled module" },
            ));
        }
        // The last record is the sentinel.
        cx.index(SectionId::Attributes, i, "function", place, cx.image.functions.len())?;
    }
    Ok(())
}

/// Checks that an integer fits into its type.
fn int(cx: &Checker<'_, '_>, i: usize, element: Option<DType>, value: u64) -> Result<(), FormatError> {
    let signed = value as i64;
    let fits = match element {
        Some(DType::UI8) => value <= u64::from(u8::MAX),
        Some(DType::UI16) => value <= u64::from(u16::MAX),
        Some(DType::UI32) => value <= u64::from(u32::MAX),
        Some(DType::I1) => value <= 1,
        Some(DType::I8) => i8::try_from(signed).is_ok(),
        Some(DType::I16) => i16::try_from(signed).is_ok(),
        Some(DType::I32) => i32::try_from(signed).is_ok(),
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(cx.refuse(SectionId::Attributes, i, Kind::Code { what: "integer of its type", found: value }))
}

fn rank(cx: &Checker<'_, '_>, i: usize, found: u64) -> Result<(), FormatError> {
    let limit = u64::from(MAX_RANK);
    if found <= limit {
        return Ok(());
    }
    Err(cx.refuse(SectionId::Attributes, i, Kind::Limit { what: "rank", found, limit }))
}

/// Checks a dense attribute: its dimensions, and that its elements lie in the payload.
fn dense(cx: &Checker<'_, '_>, i: usize, rec: &AttrRec, bytes: &[u8]) -> Result<(), FormatError> {
    let refuse = |kind| cx.refuse(SectionId::Attributes, i, kind);
    let head_len = size_of::<DenseRec>();
    if bytes.len() < head_len {
        return Err(refuse(Kind::Truncated { want: head_len as u64, have: bytes.len() as u64 }));
    }
    let (DenseRec { rank: n_dims, reserved, offset, len }, dims) = dense_parts(bytes);
    if reserved != 0 {
        return Err(refuse(Kind::NotZero { what: "the reserved field of a dense attribute" }));
    }
    rank(cx, i, u64::from(n_dims))?;
    let expected = head_len as u64 + u64::from(n_dims) * 8;
    cx.equal(SectionId::Attributes, i, "length of a dense attribute's data", bytes.len() as u64, expected)?;
    let size = DType::from_code(rec.dtype).map_or(0, DType::size) as u64;
    let mut n_elements = Some(1u64);
    for &dim in dims {
        let Ok(dim) = u64::try_from(dim) else {
            return Err(refuse(Kind::Code { what: "dimension of a dense attribute", found: dim as u64 }));
        };
        n_elements = n_elements.and_then(|n| n.checked_mul(dim));
    }
    let Some(n_bytes) = n_elements.and_then(|n| n.checked_mul(size)).filter(|&n| i64::try_from(n).is_ok())
    else {
        let kind = Kind::Limit { what: "size of a tensor in bytes", found: u64::MAX, limit: i64::MAX as u64 };
        return Err(refuse(kind));
    };
    let is_splat = rec.flags & ATTR_SPLAT != 0;
    let n_stored = if is_splat { size } else { n_bytes };
    cx.equal(SectionId::Attributes, i, "tensor bytes", len, n_stored)?;
    let limit = cx.image.payload.len() as u64;
    if offset > limit || len > limit - offset {
        return Err(refuse(Kind::Truncated { want: offset.saturating_add(len), have: limit }));
    }
    let is_placed = offset % PAYLOAD_ALIGN as u64 == 0 && (len != 0 || offset == 0);
    if !is_placed {
        return Err(refuse(Kind::Unaligned { align: PAYLOAD_ALIGN }));
    }
    Ok(())
}

/// A cursor through the attribute data, which attributes partition in order.
struct DataCursor<'c, 'i, 'a> {
    cx: &'c Checker<'i, 'a>,
    end: usize,
}

impl<'a> DataCursor<'_, '_, 'a> {
    /// The data of an attribute, which must follow the previous attribute's.
    fn bytes(&mut self, i: usize, value: u64) -> Result<&'a [u8], FormatError> {
        let cx = self.cx;
        let (offset, len) = (value as u32 as usize, (value >> 32) as usize);
        let start = self.end.next_multiple_of(TABLE_ALIGN);
        cx.equal(SectionId::Attributes, i, "offset of attribute data", offset as u64, start as u64)?;
        let have = cx.image.attr_data.len();
        if start > have || len > have - start {
            let kind = Kind::Truncated { want: (start + len) as u64, have: have as u64 };
            return Err(cx.refuse(SectionId::Attributes, i, kind));
        }
        if cx.image.attr_data[self.end..start].iter().any(|&byte| byte != 0) {
            let kind = Kind::NotZero { what: "the padding of attribute data" };
            return Err(cx.refuse(SectionId::AttrData, self.end, kind));
        }
        self.end = start + len;
        Ok(&cx.image.attr_data[start..self.end])
    }

    fn records<T: bytemuck::Pod>(&mut self, i: usize, value: u64) -> Result<&'a [T], FormatError> {
        let bytes = self.bytes(i, value)?;
        if bytes.is_empty() {
            return Ok(&[]);
        }
        let found = (bytes.len() % size_of::<T>()) as u64;
        let kind = Kind::Mismatch { what: "size of the last element", found, expected: 0 };
        bytemuck::try_cast_slice(bytes).map_err(|_| self.cx.refuse(SectionId::Attributes, i, kind))
    }
}

/// Depth and number of nodes of an attribute.
struct Tree<'c, 'i, 'a> {
    cx: &'c Checker<'i, 'a>,
    i: usize,
    nodes: &'c [u32],
    n: u32,
    depth: u8,
}

impl Tree<'_, '_, '_> {
    fn child(&mut self, id: AttrId) -> Result<(), FormatError> {
        let (cx, i) = (self.cx, self.i);
        cx.index(SectionId::Attributes, i, "child attribute", id.0, self.nodes.len())?;
        self.n = self.n.saturating_add(self.nodes[id.index()]);
        if self.n > MAX_ATTR_NODES {
            let (found, limit) = (u64::from(self.n), u64::from(MAX_ATTR_NODES));
            return Err(cx.refuse(
                SectionId::Attributes,
                i,
                Kind::Limit { what: "size of an attribute", found, limit },
            ));
        }
        self.depth = self.depth.max(cx.image.attributes[id.index()].depth + 1);
        if self.depth > MAX_ATTR_DEPTH {
            let (found, limit) = (u64::from(self.depth), u64::from(MAX_ATTR_DEPTH));
            return Err(cx.refuse(
                SectionId::Attributes,
                i,
                Kind::Limit { what: "attribute depth", found, limit },
            ));
        }
        Ok(())
    }
}

/// Refuses an attribute id, unless absent, that is not a dictionary's.
pub(super) fn dictionary(cx: &Checker<'_, '_>, id: u32) -> Result<(), Kind> {
    if id == NONE {
        return Ok(());
    }
    match cx.image.attributes.get(id as usize) {
        None => {
            let limit = cx.image.attributes.len() as u64;
            Err(Kind::Index { what: "attribute", index: u64::from(id), limit })
        }
        Some(rec) if rec.kind == AttrKind::Dict as u8 => Ok(()),
        Some(rec) => {
            let expected = AttrKind::Dict as u64;
            Err(Kind::Mismatch { what: "a dictionary, attribute kind", found: u64::from(rec.kind), expected })
        }
    }
}

fn header(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let Header { producer, module_name, module_attrs, .. } = cx.tables().header;
    let limit = cx.image.n_strings();
    for (at, id) in [(24, producer), (28, module_name)] {
        let is_absent = at == 28 && id == NONE;
        if id >= limit && !is_absent {
            let kind = Kind::Index { what: "string", index: u64::from(id), limit: u64::from(limit) };
            return Err(cx.refuse_header(at, kind));
        }
    }
    dictionary(cx, module_attrs).map_err(|kind| cx.refuse_header(32, kind))
}
