//! Conversion of a file's types, attributes and locations to those of the IR, each converted once.
//!
//! MLIR texts in the file become attributes of one op in a synthetic program, which is parsed once. Each
//! result is then printed and compared with its text: equality shows that the text was exactly one type,
//! attribute or location.

use std::fmt::Write;

use bef_format::layout::TypeId as BefTypeId;
use bef_format::{AttrView, DType, Image, LocationView};
use rustc_hash::FxHashMap;

use super::{Failure, RaiseOptions, errors};
use crate::dialects::Registry;
use crate::emit::{ABSENT, dense_type, dtype, shape_text};
use crate::ir::{AttrId, AttrKind, Blob, KnownType, LocId, LocKind, Module, OpId, TypeId, ValueId};
use crate::print::{self, PrintOptions, print_op};
use crate::syntax::{self, ParseOptions};

/// The IR entities for the ids of the file.
pub(super) struct DecodedConstants {
    types: Vec<TypeId>,
    /// `None` where an optional attribute is absent.
    attrs: Vec<Option<AttrId>>,
    /// Empty if locations are not read.
    locs: Vec<LocId>,
    unit: AttrId,
    /// The modules that kernels compile, with the number of named functions before each.
    pub(super) compiled: Vec<(u32, OpId)>,
}

impl DecodedConstants {
    pub(super) fn ty(&self, id: BefTypeId) -> TypeId {
        self.types[id.index()]
    }

    /// The attribute; `None` for the placeholder of an absent one.
    pub(super) fn attr(&self, id: bef_format::AttrId) -> Option<AttrId> {
        self.attrs[id.index()]
    }

    /// The attribute, or unit for the placeholder.
    pub(super) fn attr_or_unit(&self, id: bef_format::AttrId) -> AttrId {
        self.attr(id).unwrap_or(self.unit)
    }

    pub(super) fn loc(&self, id: bef_format::LocationId) -> LocId {
        self.locs[id.index()]
    }

    /// Converts all types, attributes and locations of a file into a module that contains nothing but the
    /// modules that kernels compile.
    pub(super) fn read(
        image: &Image<'_>,
        options: &RaiseOptions,
    ) -> Result<(Module, DecodedConstants), Failure> {
        let attr_ids = || (0..image.n_attrs()).map(bef_format::AttrId);
        let n_locations = if options.locations { image.n_locations() } else { 0 };
        let loc_ids = || (0..n_locations).map(bef_format::LocationId);
        let texts: Vec<&str> = attr_ids()
            .filter_map(|id| match image.attr(id) {
                AttrView::Text(text) if text != ABSENT => Some(text),
                _ => None,
            })
            .collect();
        let loc_texts: Vec<&str> = loc_ids()
            .filter_map(|id| match image.location(id) {
                LocationView::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let compiled: Vec<(&str, &str, u32)> = attr_ids()
            .filter_map(|id| match image.attr(id) {
                AttrView::CompiledModule { name, text, place } => Some((name, text, place)),
                _ => None,
            })
            .collect();
        let pool = Pool::parse(image, &texts, &loc_texts, &compiled, options.registry)?;
        let Pool { module: mut m, types, attrs: texts, locs: loc_texts, compiled: ops } = pool;
        let compiled = compiled.iter().map(|&(_, _, place)| place).zip(ops).collect();

        let type_of: FxHashMap<&str, TypeId> = image.types().zip(types.iter().copied()).collect();
        let unit = m.cx.attr_id(AttrKind::Unit);
        let mut c = DecodedConstants { types, attrs: Vec::new(), locs: Vec::new(), unit, compiled };
        let mut texts = texts.into_iter();
        for id in attr_ids() {
            let attr = match image.attr(id) {
                AttrView::Text(ABSENT) => None,
                AttrView::Text(_) => texts.next(),
                AttrView::Type(text) => {
                    let ty = type_of.get(text).ok_or_else(|| errors::bad_text("a type", text))?;
                    Some(m.cx.type_attr(*ty))
                }
                view => Some(c.convert(image, &mut m, view)?),
            };
            c.attrs.push(attr);
        }
        let mut loc_texts = loc_texts.into_iter();
        c.locs.reserve(n_locations as usize);
        for id in loc_ids() {
            let loc = match image.location(id) {
                LocationView::Text(_) => loc_texts.next().unwrap_or(LocId::UNKNOWN),
                view => c.convert_location(&mut m, view),
            };
            c.locs.push(loc);
        }
        Ok((m, c))
    }

    /// Converts one attribute whose children are converted.
    fn convert(&self, image: &Image<'_>, m: &mut Module, view: AttrView<'_>) -> Result<AttrId, Failure> {
        let kind = match view {
            AttrView::Unit | AttrView::Text(_) | AttrView::Type(_) => AttrKind::Unit,
            AttrView::Bool(value) => AttrKind::Bool(value),
            AttrView::Int { ty, dtype: _, value } => return self.int(m, self.ty(ty), value),
            AttrView::Float { dtype, bits } => AttrKind::Float { ty: float_type(dtype), bits },
            AttrView::Str(text) => AttrKind::Str { text: m.cx.str_id(text), ty: None },
            AttrView::Symbol(text) | AttrView::CompiledModule { name: text, .. } => {
                return Ok(m.cx.symbol_attr(text));
            }
            AttrView::CompilationUnit { module, nested } => {
                let AttrView::CompiledModule { name, .. } = image.attr(module) else {
                    return Ok(self.unit);
                };
                let nested = nested.iter().map(|&name| m.cx.str_id(image.string(name))).collect();
                AttrKind::Symbol { root: m.cx.str_id(name), nested }
            }
            AttrView::Array(children) => {
                AttrKind::Array(children.iter().map(|&id| self.attr_or_unit(id)).collect())
            }
            AttrView::Scalars { ty, dtype, bytes, n: _, dense: true } => {
                let elem = self.ty(ty);
                self.check_dtype(image, m, ty, dtype)?;
                AttrKind::DenseArray { elem, data: Blob::from(bytes) }
            }
            AttrView::Scalars { ty, dtype, bytes, n: _, dense: false } => {
                self.check_dtype(image, m, ty, dtype)?;
                let elements = bytes
                    .chunks_exact(dtype.size())
                    .map(|bytes| self.scalar(m, self.ty(ty), dtype, bytes))
                    .collect::<Result<Box<[AttrId]>, Failure>>()?;
                AttrKind::Array(elements)
            }
            AttrView::Dict(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|e| (m.cx.str_id(image.string(e.key)), self.attr_or_unit(e.value)))
                    .collect();
                return Ok(m.cx.dict_attr(&entries));
            }
            AttrView::Dense { ty, dtype, shape, data, splat } => {
                if dense_type(m, self.ty(ty)) != Some((shape, dtype)) {
                    return Err(errors::dense(image.type_name(ty)));
                }
                if dtype == DType::I1 && data.iter().any(|&byte| byte > 1) {
                    return Err(errors::dense(image.type_name(ty)));
                }
                AttrKind::Dense { ty: self.ty(ty), splat, data: Blob::from(data) }
            }
            AttrView::Shape(dims) => {
                AttrKind::Opaque { text: m.cx.str_id(&shape_text(Some(dims))), ty: None }
            }
            AttrView::UnrankedShape => AttrKind::Opaque { text: m.cx.str_id(&shape_text(None)), ty: None },
        };
        Ok(m.cx.attr_id(kind))
    }

    fn check_dtype(&self, image: &Image<'_>, m: &Module, ty: BefTypeId, found: DType) -> Result<(), Failure> {
        if dtype(m, self.ty(ty)) == Some(found) { Ok(()) } else { Err(errors::dense(image.type_name(ty))) }
    }

    /// An integer attribute, which must fit into its type.
    fn int(&self, m: &mut Module, ty: TypeId, value: i64) -> Result<AttrId, Failure> {
        let is_integer = match *m.cx.ty(ty) {
            crate::ir::TypeKind::Integer { width, .. } => {
                (1..=64).contains(&width) && ty != KnownType::I1.id()
            }
            crate::ir::TypeKind::Index => true,
            _ => false,
        };
        let attr = m.cx.int_attr(ty, value);
        if is_integer && *m.cx.attr(attr) == (AttrKind::Int { ty, value }) {
            return Ok(attr);
        }
        Err(errors::bad_text("an integer of its type", &format!("{value} : {}", print::type_text(&m.cx, ty))))
    }

    /// One element of an array of numbers.
    fn scalar(&self, m: &mut Module, ty: TypeId, dtype: DType, bytes: &[u8]) -> Result<AttrId, Failure> {
        let mut word = [0; 8];
        let Some(low) = word.get_mut(..bytes.len()) else {
            return Err(errors::bad_text("a number", dtype.name()));
        };
        low.copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        if dtype.is_float() {
            return Ok(m.cx.attr_id(AttrKind::Float { ty, bits }));
        }
        if !dtype.is_int() {
            return Err(errors::bad_text("a number", dtype.name()));
        }
        // `int_attr` truncates to the width of the type and extends by its signedness.
        Ok(m.cx.int_attr(ty, bits as i64))
    }

    /// Converts one location whose children are converted.
    fn convert_location(&self, m: &mut Module, view: LocationView<'_>) -> LocId {
        let kind = match view {
            LocationView::Unknown | LocationView::Text(_) => LocKind::Unknown,
            LocationView::File { file, line, col, end: None } => {
                LocKind::File { file: m.cx.str_id(file), line, col }
            }
            LocationView::File { file, line, col, end: Some(end) } => {
                LocKind::Range { file: m.cx.str_id(file), start: (line, col), end }
            }
            LocationView::Name { name, child } => LocKind::Name {
                name: m.cx.str_id(name),
                child: child.map_or(LocId::UNKNOWN, |id| self.loc(id)),
            },
            LocationView::CallSite { callee, caller } => {
                LocKind::CallSite { callee: self.loc(callee), caller: self.loc(caller) }
            }
            LocationView::Fused { parts, metadata } => {
                let parts: Vec<LocId> = parts.iter().map(|&id| self.loc(id)).collect();
                return m.cx.fused_loc(&parts, metadata.map(|id| self.attr_or_unit(id)));
            }
        };
        m.cx.loc_id(kind)
    }
}

fn float_type(dtype: DType) -> TypeId {
    match dtype {
        DType::F16 => KnownType::F16.id(),
        DType::BF16 => KnownType::BF16.id(),
        DType::F32 => KnownType::F32.id(),
        _ => KnownType::F64.id(),
    }
}

/// The parsed texts of the file.
struct Pool {
    /// The parsed program, emptied: only its context is used.
    module: Module,
    types: Vec<TypeId>,
    attrs: Vec<AttrId>,
    locs: Vec<LocId>,
    compiled: Vec<OpId>,
}

impl Pool {
    fn parse(
        image: &Image<'_>,
        attrs: &[&str],
        locs: &[&str],
        compiled: &[(&str, &str, u32)],
        registry: &'static Registry,
    ) -> Result<Pool, Failure> {
        let types: Vec<&str> = image.types().collect();
        let mut text = String::from("\"bef.pool\"() {attrs = [");
        let join = |text: &mut String, items: &[&str]| {
            for (i, item) in items.iter().enumerate() {
                let comma = if i > 0 { ",\n" } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(text, "{comma}{item}");
            }
        };
        join(&mut text, attrs);
        text.push_str("], locs = [");
        join(&mut text, locs);
        text.push_str("], types = [");
        join(&mut text, &types);
        text.push_str("]} : () -> ()\n");
        for (_, module, _) in compiled {
            text.push_str(module);
            text.push('\n');
        }

        let parsed = syntax::parse("BEF", &text, &ParseOptions { allow_unregistered: true, registry });
        let Some(mut m) = parsed.module else {
            let why = parsed.diagnostics.first().map_or("", |diag| &diag.message);
            return Err(errors::bad_pool(why));
        };
        let body = m.body();
        let op = m.first_op(body).ok_or_else(|| errors::bad_pool("nothing was read"))?;
        let list = |m: &Module, name: &str, n: usize| match m.attr_named(op, name).map(|id| m.cx.attr(id)) {
            Some(AttrKind::Array(items)) if items.len() == n => Ok(items.to_vec()),
            _ => Err(errors::bad_pool("some text stands for more or less than one thing")),
        };
        let (attr_ids, loc_ids) = (list(&m, "attrs", attrs.len())?, list(&m, "locs", locs.len())?);
        let type_ids = list(&m, "types", types.len())?;
        let ops: Vec<OpId> = m.ops_in(body).skip(1).collect();
        if ops.len() != compiled.len() || m.attrs(op).len() != 3 {
            return Err(errors::bad_pool("some text stands for more than one thing"));
        }
        m.erase(op);
        m.set_loc(m.top(), LocId::UNKNOWN);
        for (&op, &(name, text, _)) in ops.iter().zip(compiled) {
            compiled_module(&mut m, op, name, text)?;
        }

        for (&id, &text) in attr_ids.iter().zip(attrs) {
            if print::attr_text(&m.cx, id) != text {
                return Err(errors::bad_text("an attribute", text));
            }
        }
        let locs = loc_ids
            .iter()
            .zip(locs)
            .map(|(&id, &text)| match *m.cx.attr(id) {
                AttrKind::Loc(loc) if print::loc_text(&m.cx, loc) == text => Ok(loc),
                _ => Err(errors::bad_text("a location", text)),
            })
            .collect::<Result<_, _>>()?;
        let types = type_ids
            .iter()
            .zip(types)
            .map(|(&id, text)| {
                let found = m.cx.as_type(id).filter(|&ty| print::type_text(&m.cx, ty) == text);
                found.ok_or_else(|| errors::bad_text("a type", text))
            })
            .collect::<Result<_, _>>()?;
        Ok(Pool { module: m, types, attrs: attr_ids, locs, compiled: ops })
    }
}

/// Checks that an op is the module of its text. Locations that the text does not contain become unknown.
fn compiled_module(m: &mut Module, op: OpId, name: &str, text: &str) -> Result<(), Failure> {
    let locations = !text.ends_with("-> ()");
    let is_text = |keep_names| {
        let options = PrintOptions {
            generic: true,
            keep_names,
            locations,
            local_scope: true,
            ..PrintOptions::default()
        };
        print_op(m, op, &options) == text
    };
    let is_named = m.symbol_name(op).is_some_and(|found| m.cx.str(found) == name);
    if !m.is_compiled(op) || !is_named || !(is_text(true) || is_text(false)) {
        return Err(errors::bad_text("a module to compile", text));
    }
    if !locations {
        let ops: Vec<OpId> = m.walk(op).collect();
        for op in ops {
            m.set_loc(op, LocId::UNKNOWN);
            let blocks = m.regions_of(op).iter().flat_map(|&region| m.blocks_of(region));
            let args: Vec<ValueId> = blocks.flat_map(|&block| m.args(block)).copied().collect();
            args.into_iter().for_each(|arg| m.value_locs.unset(arg));
        }
    }
    Ok(())
}
