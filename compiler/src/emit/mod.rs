//! Emission: from a kernel graph to a BEF file.
//!
//! ```text
//! func.func @f   ──▶ function `f`                    tfrt.return ──▶ the function's results
//! region         ──▶ function without name           block argument, op result ──▶ register
//! op             ──▶ kernel                          @f in an attribute ──▶ function id
//! module to compile ──▶ text                         @m::@f             ──▶ compilation unit
//! ```
//!
//! Functions come in the order of the module, then the bodies of regions in the order in which they were met.
//! Kernels come in textual order. A verified block is in dominance order, so producers come first.
//!
//! The attributes of an op, in this order:
//! * `bef.nonstrict` becomes the kernel's flag *any*; `bef.device = "name"` its device; `bef.operand_modes =
//!   ["required", "lenient", "order", "after", ...]` its operand modes, which are the definition's without
//!   it; `_tfrt_cost` its cost, unless the record cannot hold it (another type than i64, out of range).
//! * references to functions become function ids: attributes of registered ops that are declared as symbols,
//!   and any other symbol (or array of symbols) that names functions of the module.
//! * references to a nested module that is marked `tfrt.compiled`, or to a symbol in it, become compilation
//!   units: attributes that hold the module as text, for kernels that compile it. Such a module is not
//!   emitted otherwise.
//! * the others become attributes: those of an op whose kernel finds them by name under their names; of any
//!   other op the declared ones in the order of the definition (an optional one that is absent holds its
//!   place as [`ABSENT`]), then the rest by name.
//!
//! The names of other attributes, of functions and values, and the locations, go into sections of their own,
//! which [`EmitOptions::strip`] leaves out. With them, `raise` restores the emitted module.
//!
//! There is no recursion: regions are in a worklist, attributes and locations are visited in post-order.
//!
//! Not here: verification (`verify`) and stream analysis (`streams`).

mod constants;
mod errors;
mod function;
mod limits;
#[cfg(test)]
mod tests;

pub(crate) use constants::{dense_type, dtype, shape_text};
pub(crate) use function::{has_usual_operands, mode_name, operand_info};

use bef_format::write::{Parts, Writer};
use bef_format::{FunctionId, FunctionKind};
use rustc_hash::FxHashMap;

use crate::diag::{self, Diagnostic, Span};
use crate::ir::{AttrId, AttrKind, BlockId, LocId, Module, OpId, StrId, ValueId, names};
use crate::print::{PrintOptions, print_op};
use crate::streams::{Analysis, Loops, StreamOptions};
use crate::verify::Verified;
use constants::ConstantEncoder;

pub use limits::tfrt_limits;

/// Text of the placeholder attribute for an absent optional attribute.
pub const ABSENT: &str = "";
/// Prefix of the names of attributes that were properties of an unregistered op.
pub const PROPERTY_PREFIX: char = '<';
/// Suffix of the names of function references that were elements of an array.
pub const ARRAY_SUFFIX: &str = "[]";
/// Name of the function attribute that marks a region without blocks.
pub const EMPTY_REGION: &str = "bef.empty_region";

/// Name of the entry of the module's attributes that holds the text of the resource section.
pub const RESOURCES: &str = "bef.resources";

/// Options of emission.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmitOptions {
    /// Sections left out of the file, none of which execution needs.
    pub strip: Strip,
    /// Store streams as TFRT does, of any size: [`StreamOptions::stores_all`].
    pub stores_all_streams: bool,
}

/// Degree of stripping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strip {
    /// Nothing is left out.
    #[default]
    Nothing,
    /// The names of attributes and values.
    Names,
    /// Names and locations, including the names that kernels receive for debugging.
    Debug,
}

/// Emits a module as the bytes of a BEF file.
///
/// A program without an encoding is refused with a located error. The rules that emission itself relies on
/// are checked again, since no verifier runs after the passes of a release build (see [`Verified`]).
pub fn emit(module: &Verified, options: &EmitOptions) -> Result<Vec<u8>, Vec<Diagnostic>> {
    emit_parts(module, options).map(|parts| parts.to_vec())
}

/// Emits a module without a copy, in parts to be written one after the other.
pub fn emit_parts(module: &Verified, options: &EmitOptions) -> Result<Parts, Vec<Diagnostic>> {
    let mut cx = Emitter {
        m: module,
        strip: options.strip,
        stores_all_streams: options.stores_all_streams,
        w: Writer::new(),
        constants: ConstantEncoder::default(),
        functions: FxHashMap::default(),
        places: vec![NOWHERE; module.n_value_ids()],
        first_place: 0,
        codes: Vec::new(),
        analysis: Analysis::new(module),
        loops: Loops::new(module),
        bodies: Vec::new(),
        diags: Vec::new(),
    };
    cx.w.set_producer(concat!("befrost ", env!("CARGO_PKG_VERSION")));
    cx.module();
    if let (Some(error), true) = (cx.w.error(), cx.diags.is_empty()) {
        cx.diags.push(errors::limit(None, &error.to_string()));
    }
    if cx.diags.is_empty() {
        cx.w.finish_parts().map_err(|error| vec![errors::limit(None, &error.to_string())])
    } else {
        diag::sort(&mut cx.diags);
        Err(cx.diags)
    }
}

/// The place of a value without a register.
const NOWHERE: u32 = u32::MAX;

/// A body in the worklist.
#[derive(Clone, Copy)]
struct PendingBody {
    id: FunctionId,
    /// The `func.func` or the op that owns the region.
    owner: OpId,
    /// The body; `None` for native functions and empty regions.
    block: Option<BlockId>,
    kind: FunctionKind,
    /// The options of its `func.func`.
    streams: StreamOptions,
    is_region: bool,
}

/// The state of emission.
struct Emitter<'m> {
    m: &'m Module,
    strip: Strip,
    stores_all_streams: bool,
    w: Writer,
    constants: ConstantEncoder,
    /// The functions that symbols can refer to.
    functions: FxHashMap<StrId, FunctionId>,
    /// The place of each value: its register number, counted through all bodies so far.
    places: Vec<u32>,
    /// The place of the first register of the body that is being emitted.
    first_place: u32,
    /// Cached facts about the ops of each name.
    codes: Vec<Option<function::OpEncoding>>,
    analysis: Analysis<'m>,
    loops: Loops,
    bodies: Vec<PendingBody>,
    diags: Vec<Diagnostic>,
}

impl<'m> Emitter<'m> {
    fn span(&self, op: OpId) -> Option<Span> {
        self.m.op_spans.at(op).copied()
    }

    fn module(&mut self) {
        let m = self.m;
        let top = m.top();
        let mut rest = Vec::new();
        for &(name, value) in m.attrs(top) {
            match *m.cx.attr(value) {
                AttrKind::Str { text, ty: None } if name == names::SYM_NAME => {
                    self.w.set_module_name(m.cx.str(text));
                }
                _ => rest.push((name, value)),
            }
        }
        // Functions are declared before any reference to them.
        let mut n_functions = 0;
        for op in m.symbols() {
            if m.is(op, names::FUNC_FUNC) {
                n_functions += 1;
            } else if m.is_compiled(op) {
                self.compiled(op, n_functions);
            }
        }
        let mut entries = self.dict_entries(&rest);
        if let Some(resources) = crate::print::resources_text(m) {
            entries.push((RESOURCES, self.w.attr_str(&resources)));
        }
        if !entries.is_empty() {
            let attrs = self.w.attr_dict(&entries);
            self.w.set_module_attrs(attrs);
        }
        if let Some(location) = self.location(m.loc(top)) {
            self.w.set_module_location(location);
        }
        for op in m.symbols() {
            if m.is(op, names::FUNC_FUNC) {
                self.declare(op);
            } else if !m.is_compiled(op) {
                self.diags.push(errors::not_a_function(self.span(op), m.op_name_str(op)));
            }
        }
        // Emitting a body may add bodies of regions.
        let mut at = 0;
        while at < self.bodies.len() {
            self.body(at);
            at += 1;
        }
    }

    /// Stores a module that kernels compile, after `place` functions.
    fn compiled(&mut self, op: OpId, place: u32) {
        let m = self.m;
        let Some(name) = m.symbol_name(op).filter(|&name| name != names::EMPTY) else {
            return self.diags.push(errors::nameless_module(self.span(op)));
        };
        let options = PrintOptions {
            generic: true,
            keep_names: self.strip == Strip::Nothing,
            locations: self.strip != Strip::Debug,
            local_scope: true,
            ..PrintOptions::default()
        };
        let text = print_op(m, op, &options);
        self.constants.compiled(&mut self.w, m, name, &text, place);
    }

    /// Assigns an id to a `func.func` and adds it to the worklist.
    fn declare(&mut self, op: OpId) {
        let m = self.m;
        let span = self.span(op);
        let Some(name) = m.symbol_name(op).filter(|&name| name != names::EMPTY) else {
            return self.diags.push(errors::function_name(span, "must have a name"));
        };
        let id = self.w.declare();
        if self.functions.insert(name, id).is_some() {
            let why = format!("must have a name of its own: @{} is there already", m.cx.str(name));
            self.diags.push(errors::function_name(span, &why));
        }
        let blocks = m.regions_of(op).first().map_or(&[][..], |&region| m.blocks_of(region));
        if blocks.len() > 1 {
            // A function that cannot be emitted has this error only.
            return self.diags.push(errors::not_one_block(span, blocks.len()));
        }
        let block = blocks.first().copied();
        let kind = match block {
            None => FunctionKind::Async,
            Some(_) if m.attr(op, names::TFRT_SYNC).is_some() => FunctionKind::Sync,
            Some(_) => FunctionKind::Async,
        };
        if block.is_none() && m.attr(op, names::TFRT_NATIVE).is_none() {
            self.diags.push(errors::not_native(span, m.cx.str(name)));
        }
        let streams = self.stored_streams(StreamOptions::of_function(m, op));
        self.bodies.push(PendingBody { id, owner: op, block, kind, streams, is_region: false });
    }

    /// The options of stream analysis, with the option to store all streams.
    fn stored_streams(&self, options: StreamOptions) -> StreamOptions {
        StreamOptions { stores_all: options.stores_all || self.stores_all_streams, ..options }
    }

    /// A location, unless locations are stripped.
    fn location(&mut self, loc: LocId) -> Option<bef_format::LocationId> {
        if self.strip == Strip::Debug { None } else { self.constants.location(self.m, &mut self.w, loc) }
    }

    /// A dictionary of these attributes; `None` if there are none.
    fn dict(&mut self, attrs: &[(StrId, AttrId)]) -> Option<bef_format::AttrId> {
        let entries = self.dict_entries(attrs);
        if entries.is_empty() { None } else { Some(self.w.attr_dict(&entries)) }
    }

    fn dict_entries(&mut self, attrs: &[(StrId, AttrId)]) -> Vec<(&'m str, bef_format::AttrId)> {
        let m = self.m;
        attrs
            .iter()
            .map(|&(name, value)| (m.cx.str(name), self.constants.attr(m, &mut self.w, value)))
            .collect()
    }

    /// The register of an operand in the body being emitted; reports an operand without one.
    #[inline]
    fn register(&mut self, op: OpId, i: usize, value: ValueId) -> u32 {
        match self.places[value.0 as usize] {
            place if place >= self.first_place && place != NOWHERE => place - self.first_place,
            _ => self.no_register(op, i, value),
        }
    }

    #[cold]
    fn no_register(&mut self, op: OpId, i: usize, value: ValueId) -> u32 {
        let m = self.m;
        let span = m.use_spans.at(m.operand_use(op, i)).copied().or_else(|| self.span(op));
        let def = m.value_spans.at(value).copied();
        let is_local = m.defining_block(value) == m.parent_block(op);
        let diag =
            if is_local { errors::use_before_def(span, i, def) } else { errors::capture(span, i, def) };
        self.diags.push(diag);
        0
    }
}
