//! Conversion of the IR's types, attributes and locations to those of a file, each converted once.
//!
//! Children are converted first, in their order, without recursion. So the order in the file depends on the
//! module's contents only, not on the order of interning.

use bef_format::write::Writer;
use bef_format::{DType, StringId};

use rustc_hash::FxHashMap;

use super::ABSENT;
use crate::ir::{
    AttrId, AttrKind, FloatKind, KnownType, LocId, LocKind, Module, Signedness, StrId, TypeId, TypeKind,
};
use crate::print;

/// A step of the iterative traversal of an attribute or location, children first.
enum ConstantVisit<T> {
    Enter(T),
    Leave(T),
}

/// Converted types, attributes and locations, by id.
#[derive(Default)]
pub(super) struct ConstantEncoder {
    types: Vec<Option<bef_format::TypeId>>,
    attrs: Vec<Option<bef_format::AttrId>>,
    locations: Vec<Option<bef_format::LocationId>>,
    names: Vec<Option<StringId>>,
    absent: Option<bef_format::AttrId>,
    /// The modules that kernels compile, by name.
    compiled: FxHashMap<StrId, bef_format::AttrId>,
    /// The line of the last converted place in the text, near which the next one is likely to be.
    line: u32,
}

impl ConstantEncoder {
    /// A name as a string of the file.
    pub(super) fn name(&mut self, m: &Module, w: &mut Writer, name: StrId) -> StringId {
        *slot(&mut self.names, name.0).get_or_insert_with(|| w.string(m.cx.str(name)))
    }

    /// Placeholder for an absent optional attribute.
    pub(super) fn absent(&mut self, w: &mut Writer) -> bef_format::AttrId {
        *self.absent.get_or_insert_with(|| w.attr_text(ABSENT))
    }

    /// Adds a module that kernels compile. Later references to it become compilation units.
    pub(super) fn compiled(&mut self, w: &mut Writer, m: &Module, name: StrId, text: &str, place: u32) {
        self.compiled.insert(name, w.attr_compiled_module(m.cx.str(name), text, place));
    }

    pub(super) fn ty(&mut self, m: &Module, w: &mut Writer, ty: TypeId) -> bef_format::TypeId {
        *slot(&mut self.types, ty.0).get_or_insert_with(|| w.ty(&print::type_text(&m.cx, ty)))
    }

    pub(super) fn attr(&mut self, m: &Module, w: &mut Writer, attr: AttrId) -> bef_format::AttrId {
        if let Some(id) = *slot(&mut self.attrs, attr.0) {
            return id;
        }
        let mut pending = vec![ConstantVisit::Enter(attr)];
        while let Some(visit) = pending.pop() {
            match visit {
                ConstantVisit::Leave(id) => {
                    let converted = self.convert(m, w, id);
                    *slot(&mut self.attrs, id.0) = Some(converted);
                }
                // A child shared by several parents is converted at its first visit.
                ConstantVisit::Enter(id) if self.has_attr(id) => {}
                ConstantVisit::Enter(id) => {
                    pending.push(ConstantVisit::Leave(id));
                    match m.cx.attr(id) {
                        // Numbers of one type are stored as a typed array, not as children.
                        AttrKind::Array(elements) if scalar_type(m, elements).is_none() => {
                            pending.extend(elements.iter().rev().copied().map(ConstantVisit::Enter));
                        }
                        AttrKind::Dict(entries) => {
                            pending
                                .extend(entries.iter().rev().map(|&(_, value)| ConstantVisit::Enter(value)));
                        }
                        _ => {}
                    }
                }
            }
        }
        slot(&mut self.attrs, attr.0).unwrap_or_default()
    }

    fn has_attr(&self, id: AttrId) -> bool {
        self.attrs.get(id.0 as usize).is_some_and(Option::is_some)
    }

    fn children(&mut self, ids: &[AttrId]) -> Vec<bef_format::AttrId> {
        ids.iter().map(|id| slot(&mut self.attrs, id.0).unwrap_or_default()).collect()
    }

    /// Converts one attribute whose children are converted.
    fn convert(&mut self, m: &Module, w: &mut Writer, attr: AttrId) -> bef_format::AttrId {
        let cx = &m.cx;
        match cx.attr(attr) {
            AttrKind::Unit => w.attr_unit(),
            AttrKind::Bool(value) => w.attr_bool(*value),
            AttrKind::Int { ty, value } => {
                let dtype = dtype(m, *ty);
                let ty = self.ty(m, w, *ty);
                w.attr_int(ty, dtype, *value)
            }
            AttrKind::Float { ty, bits } if let Some(dtype) = dtype(m, *ty) => w.attr_float(dtype, *bits),
            AttrKind::Str { text, ty: None } => w.attr_str(cx.str(*text)),
            AttrKind::Type(ty) => {
                let ty = self.ty(m, w, *ty);
                w.attr_type(ty)
            }
            AttrKind::Symbol { root, nested } if let Some(&module) = self.compiled.get(root) => {
                match &**nested {
                    [] => module,
                    nested => w.attr_compilation_unit(module, nested.iter().map(|&name| cx.str(name))),
                }
            }
            AttrKind::Symbol { root, nested } if nested.is_empty() => w.attr_symbol(cx.str(*root)),
            AttrKind::Array(elements) => match self.scalars(m, w, elements) {
                Some(id) => id,
                None => {
                    let children = self.children(elements);
                    w.attr_array(&children)
                }
            },
            AttrKind::Dict(entries) => {
                let ids: Vec<AttrId> = entries.iter().map(|&(_, value)| value).collect();
                let children = self.children(&ids);
                let entries: Vec<_> = entries.iter().map(|&(name, _)| cx.str(name)).zip(children).collect();
                w.attr_dict(&entries)
            }
            AttrKind::DenseArray { elem, data } if let Some(dtype) = dtype(m, *elem) => {
                let ty = self.ty(m, w, *elem);
                w.attr_scalars(ty, dtype, data, true)
            }
            AttrKind::Dense { ty, splat, data }
                if let Some((shape, dtype)) = dense_type(m, *ty)
                    && (!splat || shape.iter().all(|dim| *dim > 0)) =>
            {
                let ty = self.ty(m, w, *ty);
                match data.pieces() {
                    Some(pieces) => w.attr_dense_in_pieces(ty, dtype, shape, pieces),
                    None => w.attr_dense(ty, dtype, shape, data, *splat),
                }
            }
            AttrKind::Opaque { text, ty: None } if let Some(shape) = shape(cx.str(*text)) => {
                w.attr_shape(shape.as_deref())
            }
            AttrKind::WideInt { .. }
            | AttrKind::Float { .. }
            | AttrKind::WideFloat { .. }
            | AttrKind::Str { .. }
            | AttrKind::Bytes { .. }
            | AttrKind::DenseArray { .. }
            | AttrKind::Dense { .. }
            | AttrKind::DenseStrings { .. }
            | AttrKind::DenseResource { .. }
            | AttrKind::Sparse { .. }
            | AttrKind::Symbol { .. }
            | AttrKind::Opaque { .. }
            | AttrKind::AffineMap(_)
            | AttrKind::IntegerSet(_)
            | AttrKind::Strided { .. }
            | AttrKind::Distinct { .. }
            | AttrKind::Loc(_) => w.attr_text(&print::attr_text(cx, attr)),
        }
    }

    /// An array of numbers of one type, as a typed array.
    fn scalars(&mut self, m: &Module, w: &mut Writer, elements: &[AttrId]) -> Option<bef_format::AttrId> {
        let (ty, dtype) = scalar_type(m, elements)?;
        let mut bytes = Vec::with_capacity(elements.len() * dtype.size());
        for &element in elements {
            bytes.extend_from_slice(scalar_bits(m, ty, element)?.to_le_bytes().get(..dtype.size())?);
        }
        let ty = self.ty(m, w, ty);
        Some(w.attr_scalars(ty, dtype, &bytes, false))
    }

    /// An empty array of numbers; the element type comes from the op's definition.
    pub(super) fn empty_scalars(
        &mut self,
        m: &Module,
        w: &mut Writer,
        ty: TypeId,
    ) -> Option<bef_format::AttrId> {
        let dtype = dtype(m, ty)?;
        let ty = self.ty(m, w, ty);
        Some(w.attr_scalars(ty, dtype, &[], false))
    }

    /// A location; `None` if it is unknown.
    pub(super) fn location(
        &mut self,
        m: &Module,
        w: &mut Writer,
        loc: LocId,
    ) -> Option<bef_format::LocationId> {
        if loc == LocId::UNKNOWN {
            return None;
        }
        if loc.is_place() {
            return Some(self.convert_location(m, w, loc));
        }
        if let Some(id) = *slot(&mut self.locations, loc.0) {
            return Some(id);
        }
        let mut pending = vec![ConstantVisit::Enter(loc)];
        while let Some(visit) = pending.pop() {
            let id = match visit {
                ConstantVisit::Leave(id) => {
                    let converted = self.convert_location(m, w, id);
                    *slot(&mut self.locations, id.0) = Some(converted);
                    continue;
                }
                // The writer has it from now on.
                ConstantVisit::Enter(id) if id.is_place() => {
                    self.convert_location(m, w, id);
                    continue;
                }
                ConstantVisit::Enter(id) => id,
            };
            if slot(&mut self.locations, id.0).is_some() {
                continue;
            }
            pending.push(ConstantVisit::Leave(id));
            match &*m.cx.loc(id) {
                LocKind::Unknown | LocKind::File { .. } | LocKind::Range { .. } => {}
                LocKind::Name { name: _, child } => {
                    pending.extend((*child != LocId::UNKNOWN).then_some(ConstantVisit::Enter(*child)));
                }
                LocKind::CallSite { callee, caller } => {
                    pending.extend([ConstantVisit::Enter(*caller), ConstantVisit::Enter(*callee)]);
                }
                LocKind::Fused { locs, metadata: _ } => {
                    pending.extend(locs.iter().rev().copied().map(ConstantVisit::Enter));
                }
            }
        }
        *slot(&mut self.locations, loc.0)
    }

    fn convert_location(&mut self, m: &Module, w: &mut Writer, loc: LocId) -> bef_format::LocationId {
        let cx = &m.cx;
        if let Some((line, col)) = cx.places().line_and_column(loc, self.line) {
            self.line = line;
            let file = self.name(m, w, cx.places().file);
            return w.location_place(file, line, col);
        }
        // A place refers to nothing, so this recurses one level at most.
        let known = |known: &mut Self, w: &mut Writer, id: LocId| {
            if id.is_place() {
                return known.convert_location(m, w, id);
            }
            slot(&mut known.locations, id.0).unwrap_or_default()
        };
        match &*cx.loc(loc) {
            LocKind::Unknown => w.location_unknown(),
            LocKind::File { file, line, col } => w.location_file(cx.str(*file), *line, *col),
            LocKind::Range { file, start, end } => w.location_range(cx.str(*file), *start, *end),
            LocKind::Name { name, child } => {
                let child = (*child != LocId::UNKNOWN).then(|| known(self, w, *child));
                w.location_name(cx.str(*name), child)
            }
            LocKind::CallSite { callee, caller } => {
                let (callee, caller) = (known(self, w, *callee), known(self, w, *caller));
                w.location_call_site(callee, caller)
            }
            LocKind::Fused { locs, metadata } => {
                let parts: Vec<_> = locs.iter().map(|&part| known(self, w, part)).collect();
                let metadata = metadata.map(|id| self.attr(m, w, id));
                w.location_fused(&parts, metadata)
            }
        }
    }
}

/// Element type of an array of numbers of one type.
fn scalar_type(m: &Module, elements: &[AttrId]) -> Option<(TypeId, DType)> {
    let ty = m.cx.attr_type(*elements.first()?)?;
    let dtype = dtype(m, ty).filter(|dtype| dtype.size() <= 8)?;
    let are_numbers = elements.iter().all(|&element| scalar_bits(m, ty, element).is_some());
    are_numbers.then_some((ty, dtype))
}

/// The bits of a number of this type.
fn scalar_bits(m: &Module, ty: TypeId, attr: AttrId) -> Option<u64> {
    match *m.cx.attr(attr) {
        AttrKind::Bool(value) if ty == KnownType::I1.id() => Some(u64::from(value)),
        AttrKind::Int { ty: found, value } if found == ty => Some(value as u64),
        AttrKind::Float { ty: found, bits } if found == ty => Some(bits),
        _ => None,
    }
}

fn slot<T: Clone>(table: &mut Vec<Option<T>>, id: u32) -> &mut Option<T> {
    let i = id as usize;
    if i >= table.len() {
        table.resize((i + 1).next_power_of_two(), None);
    }
    &mut table[i]
}

/// The BEF element type of a type, if a file can hold its values.
pub(crate) fn dtype(m: &Module, ty: TypeId) -> Option<DType> {
    Some(match *m.cx.ty(ty) {
        TypeKind::Integer { width, sign } => match (width, sign) {
            (1, Signedness::Signless) => DType::I1,
            (8, Signedness::Unsigned) => DType::UI8,
            (16, Signedness::Unsigned) => DType::UI16,
            (32, Signedness::Unsigned) => DType::UI32,
            (64, Signedness::Unsigned) => DType::UI64,
            (8, _) => DType::I8,
            (16, _) => DType::I16,
            (32, _) => DType::I32,
            (64, _) => DType::I64,
            _ => return None,
        },
        TypeKind::Float(FloatKind::F16) => DType::F16,
        TypeKind::Float(FloatKind::BF16) => DType::BF16,
        TypeKind::Float(FloatKind::F32) => DType::F32,
        TypeKind::Float(FloatKind::F64) => DType::F64,
        TypeKind::Complex(elem) => match *m.cx.ty(elem) {
            TypeKind::Float(FloatKind::F32) => DType::Complex64,
            TypeKind::Float(FloatKind::F64) => DType::Complex128,
            _ => return None,
        },
        _ => return None,
    })
}

/// Shape and element type of a tensor or vector type, if a file can hold its elements.
pub(crate) fn dense_type(m: &Module, ty: TypeId) -> Option<(&[i64], DType)> {
    let (shape, elem) = m.cx.ty(ty).shaped()?;
    let shape = shape.filter(|dims| dims.iter().all(|&dim| dim >= 0))?;
    shape.iter().try_fold(1i64, |n, dim| n.checked_mul(*dim))?;
    Some((shape, dtype(m, elem)?))
}

/// The dimensions in `corert.shape<1x?x3>` (`None` if unranked), if the text is exactly as [`shape_text`]
/// writes it.
fn shape(text: &str) -> Option<Option<Vec<i64>>> {
    let body = text.strip_prefix("corert.shape<")?.strip_suffix('>')?;
    let shape = if body == "*" {
        None
    } else if body.is_empty() {
        Some(Vec::new())
    } else {
        let dims = body.split('x').map(|dim| if dim == "?" { Some(-1) } else { dim.parse().ok() });
        Some(dims.collect::<Option<Vec<i64>>>()?)
    };
    (shape_text(shape.as_deref()) == text).then_some(shape)
}

/// A shape as the text of an attribute, without its `#`.
pub(crate) fn shape_text(shape: Option<&[i64]>) -> String {
    let body = match shape {
        None => "*".to_owned(),
        Some(dims) => {
            let dims: Vec<String> =
                dims.iter().map(|&dim| if dim < 0 { "?".to_owned() } else { dim.to_string() }).collect();
            dims.join("x")
        }
    };
    format!("corert.shape<{body}>")
}
