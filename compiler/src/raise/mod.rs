//! From a BEF file back to IR: the reverse of `emit`, without loss.
//!
//! ```text
//! strings ─▶ texts of types, attributes and locations without a kind of their own ──one parse──▶ pool
//! pool, attributes, locations ─▶ interned constants
//! texts of modules to compile, parsed with the pool ─▶ modules
//! functions ─▶ func.func        bodies of regions wait in a list until the op that owns them exists
//! ```
//!
//! `print(raise(emit(m))) == print(m)` for every module that has a form in BEF. A file without its optional
//! sections is raised as well: names of values come from the printer, those of attributes from the op's
//! definition (`attr0`, ... if there is none), and locations are unknown.
//!
//! The file is valid, but its contents may be nonsense: a type may be called `][`, a region may contain
//! itself. Such contents are an error here. There is no recursion, and each part of the file is visited once.
//! The result should be verified like any other module.

mod constants;
mod errors;
mod function;

use bef_format::{AttrView, FunctionKind, FunctionView, Image, LocationId};

use crate::diag::Diagnostic;
use crate::dialects::Registry;
use crate::emit::{EMPTY_REGION, RESOURCES};
use crate::ir::resources::Resources;
use crate::ir::{AttrId, BlockId, Capacity, LocId, Module, OpId, StrId, TypeId, names};
use constants::DecodedConstants;

/// The error of a refused file; boxed, since it is rare and large.
type Failure = Box<Diagnostic>;

/// Options of raising.
#[derive(Clone, Copy)]
pub struct RaiseOptions {
    /// The registry of the ops.
    pub registry: &'static Registry,
    /// Read the names of values. Most programs have as many names as ops, and the printer generates its own.
    pub names: bool,
    /// Read locations. Most programs have as many locations as ops.
    pub locations: bool,
}

impl Default for RaiseOptions {
    /// Reads everything, over the standard dialects.
    fn default() -> Self {
        RaiseOptions { registry: Registry::standard(), names: true, locations: true }
    }
}

/// Reads all of a file as IR over the standard dialects.
pub fn raise(image: &Image<'_>) -> Result<Module, Vec<Diagnostic>> {
    raise_with(image, &RaiseOptions::default())
}

/// Reads a file as IR.
pub fn raise_with(image: &Image<'_>, options: &RaiseOptions) -> Result<Module, Vec<Diagnostic>> {
    raise_module(image, options).map_err(|diag| vec![*diag])
}

fn raise_module(image: &Image<'_>, options: &RaiseOptions) -> Result<Module, Failure> {
    let (mut module, constants) = DecodedConstants::read(image, options)?;
    let n_functions = image.n_functions() as usize;
    module.reserve(Capacity {
        // A `func.func` and a return for each function.
        ops: image.n_kernels() as usize + 2 * n_functions,
        values: image.n_registers() as usize,
        // And a result for each function: an estimate.
        uses: image.n_operands() + n_functions,
        named: 0,
    });
    if options.names && image.has_ssa_names() {
        module.value_names.reserve(image.n_registers() as usize);
    }
    let mut cx = Raiser {
        image,
        options: *options,
        m: module,
        constants,
        codes: Vec::new(),
        regions: Vec::new(),
        is_used: vec![false; n_functions],
        scratch: function::OpBuffers::default(),
    };
    cx.module()?;
    Ok(cx.m)
}

/// The state of raising.
struct Raiser<'i, 'a> {
    image: &'i Image<'a>,
    options: RaiseOptions,
    m: Module,
    constants: DecodedConstants,
    /// Cached facts about kernel names, by kernel code.
    codes: Vec<function::KernelDecoding>,
    /// Regions whose bodies are not raised yet: function and block.
    regions: Vec<(u32, BlockId)>,
    /// True for functions that are already the body of a region.
    is_used: Vec<bool>,
    scratch: function::OpBuffers,
}

impl<'a> Raiser<'_, 'a> {
    fn module(&mut self) -> Result<(), Failure> {
        let image = self.image;
        let top = self.m.top();
        if let Some(name) = image.module_name() {
            let name = self.m.cx.str_attr(name);
            self.m.set_attr(top, names::SYM_NAME, name);
        }
        for (name, value) in self.dict(image.module_attrs()) {
            match self.m.cx.as_str(value).map(str::to_owned) {
                Some(text) if self.m.cx.str(name) == RESOURCES => {
                    let mut resources = Resources::default();
                    if crate::syntax::resources::read(&text, 0, &mut resources, &mut Default::default())
                        .is_err()
                    {
                        return Err(errors::bad_text("a resource section", &text));
                    }
                    self.m.resources = Some(resources);
                }
                _ => self.m.set_attr(top, name, value),
            }
        }
        let loc = self.loc(image.module_location());
        self.m.set_loc(top, loc);
        self.codes = image.kernel_names().map(|name| self.code(name)).collect::<Result<_, _>>()?;

        let body = self.m.body();
        // The modules return to their places.
        let mut compiled = std::mem::take(&mut self.constants.compiled);
        compiled.iter().for_each(|&(_, op)| self.m.detach(op));
        compiled.sort_by_key(|&(place, _)| place);
        let mut compiled = compiled.into_iter().peekable();
        for (f, i) in image.functions().filter(|f| !f.name().is_empty()).zip(0..) {
            while let Some((_, op)) = compiled.next_if(|&(place, _)| place <= i) {
                self.m.append(body, op);
            }
            let op = self.function(f)?;
            self.m.append(body, op);
            while let Some((index, block)) = self.regions.pop() {
                self.body(image.function(index), block)?;
            }
        }
        compiled.for_each(|(_, op)| self.m.append(body, op));
        let unused = image.functions().find(|f| f.name().is_empty() && !self.is_used[f.index() as usize]);
        match unused {
            Some(f) => Err(errors::region(f.index(), "no kernel refers to it")),
            None => Ok(()),
        }
    }

    /// The entries of a dictionary attribute; empty if it is no dictionary.
    fn dict(&mut self, attrs: Option<bef_format::AttrId>) -> Vec<(StrId, AttrId)> {
        let Some(AttrView::Dict(entries)) = attrs.map(|id| self.image.attr(id)) else { return Vec::new() };
        let (cx, constants) = (&mut self.m.cx, &self.constants);
        entries
            .iter()
            .map(|e| (cx.str_id(self.image.string(e.key)), constants.attr_or_unit(e.value)))
            .collect()
    }

    fn loc(&self, id: Option<LocationId>) -> LocId {
        id.filter(|_| self.options.locations).map_or(LocId::UNKNOWN, |id| self.constants.loc(id))
    }

    fn types(&self, ids: &[bef_format::TypeId]) -> Vec<TypeId> {
        ids.iter().map(|&id| self.constants.ty(id)).collect()
    }

    /// A named function, with its body.
    fn function(&mut self, f: FunctionView<'_, 'a>) -> Result<OpId, Failure> {
        let (inputs, results) = (self.types(f.arg_types()), self.types(f.result_types()));
        let ty = self.m.cx.function_type(&inputs, &results);
        let ty = self.m.cx.type_attr(ty);
        let name = self.m.cx.str_attr(f.name());
        let mut attrs = self.dict(f.attrs());
        attrs.retain(|&(attr, _)| attr != names::SYM_NAME && attr != names::FUNCTION_TYPE);
        attrs.extend([(names::SYM_NAME, name), (names::FUNCTION_TYPE, ty)]);
        let op_name = self.m.cx.op_name(names::FUNC_FUNC);
        let loc = self.loc(f.location());
        let op = self.m.create(crate::ir::NewOp { attrs: &attrs, loc, ..crate::ir::NewOp::new(op_name) });
        let region = self.m.add_region(op);
        let is_declared = attrs.iter().any(|&(attr, _)| attr == names::TFRT_NATIVE);
        if f.kind() == FunctionKind::Native || is_declared && is_native(f) {
            return Ok(op);
        }
        let block = self.m.add_block(region);
        self.body(f, block)?;
        Ok(op)
    }

    /// Adds a region to `op`. Its body is an unnamed function, which is raised later.
    fn region(&mut self, op: OpId, index: u32) -> Result<(), Failure> {
        if std::mem::replace(&mut self.is_used[index as usize], true) {
            return Err(errors::region(index, "of more than one"));
        }
        let region = self.m.add_region(op);
        let f = self.image.function(index);
        let is_empty = f.attrs().is_some_and(|attrs| self.image.dict_entry(attrs, EMPTY_REGION).is_some());
        if is_empty && (f.n_registers() > 0 || f.n_kernels() > 0) {
            return Err(errors::region(index, "it is marked as empty and is not"));
        }
        if !is_empty {
            let block = self.m.add_block(region);
            self.regions.push((index, block));
        }
        Ok(())
    }
}

/// True if a function is one kernel of its name on its arguments: what a native function is emitted as.
fn is_native(f: FunctionView<'_, '_>) -> bool {
    let mut kernels = f.kernels();
    let (Some(kernel), None) = (kernels.next(), kernels.next()) else { return false };
    kernel.name() == f.name()
        && kernel.operands().iter().copied().eq(0..f.n_args())
        && f.results().iter().copied().eq(f.n_args()..f.n_registers())
}
