//! Emission of one function body: registers for values, kernels for ops, results for the return.

use bef_format::write::{FunctionBuilder, KernelSpec};
use bef_format::{FunctionId, FunctionKind, KernelCode, OperandInfo, OperandMode, StringId};

use smallvec::SmallVec;

use super::{ARRAY_SUFFIX, EMPTY_REGION, Emitter, PROPERTY_PREFIX, PendingBody, Strip, errors};
use crate::dialects::{self, AttrConstraint, OpDef, Traits, tf};
use crate::ir::{AttrId, AttrKind, BlockId, KnownType, Module, OpId, StrId, ValueId, names};
use crate::streams::StreamOptions;

impl Emitter<'_> {
    /// Emits body number `at` of the list.
    pub(super) fn body(&mut self, at: usize) {
        let body = self.bodies[at];
        let PendingBody { id, owner, block, kind, streams: _, is_region } = body;
        let mut f = if is_region {
            FunctionBuilder::new(StringId(0), kind)
        } else {
            let name = self.m.symbol_name(owner).unwrap_or(names::EMPTY);
            FunctionBuilder::new(self.w.string(self.m.cx.str(name)), kind)
        };
        if is_region && block.is_none() {
            let unit = self.w.attr_unit();
            f.set_attrs(self.w.attr_dict(&[(EMPTY_REGION, unit)]));
        }
        if !is_region {
            self.function_attrs(&mut f, owner);
        }
        match block {
            None if is_region => {}
            None => self.native(&mut f, owner),
            Some(block) => {
                self.args(&mut f, body, block);
                self.ops(&mut f, body, block);
            }
        }
        // The next body begins after this one.
        self.first_place = self.first_place.saturating_add(f.n_registers());
        self.w.define(id, f);
        self.check_limits(owner);
    }

    /// Reports the first exceeded limit of the format, at the op that exceeded it.
    fn check_limits(&mut self, op: OpId) {
        if let (Some(error), true) = (self.w.error(), self.diags.is_empty()) {
            self.diags.push(errors::limit(self.span(op), &error.to_string()));
        }
    }

    /// The attributes and the location of a `func.func`.
    fn function_attrs(&mut self, f: &mut FunctionBuilder, op: OpId) {
        let m = self.m;
        let rest: Vec<(StrId, AttrId)> = m
            .attrs(op)
            .iter()
            .copied()
            .filter(|&(name, value)| {
                let is_name =
                    name == names::SYM_NAME && matches!(m.cx.attr(value), AttrKind::Str { ty: None, .. });
                !is_name && name != names::FUNCTION_TYPE
            })
            .collect();
        if let Some(attrs) = self.dict(&rest) {
            f.set_attrs(attrs);
        }
        if let Some(location) = self.location(m.loc(op)) {
            f.set_location(location);
        }
    }

    /// A native function: one kernel of its name, without a location, on its arguments. So every kernel that
    /// calls functions can call it.
    fn native(&mut self, f: &mut FunctionBuilder, op: OpId) {
        let Some((inputs, results)) = self.m.signature(op) else {
            return self.diags.push(errors::function_type(self.span(op), "arguments"));
        };
        let (inputs, results) = (inputs.to_vec(), results.to_vec());
        let n_args = inputs.len() as u32;
        for (i, ty) in inputs.into_iter().enumerate() {
            let name = self.m.port_name(op, names::ARG_ATTRS, i).unwrap_or("").to_owned();
            let (ty, name) = (self.constants.ty(self.m, &mut self.w, ty), self.w.string(&name));
            f.arg(ty, name, None);
        }
        let types: Vec<_> =
            results.into_iter().map(|ty| self.constants.ty(self.m, &mut self.w, ty)).collect();
        let name = self.m.symbol_name(op).unwrap_or(names::EMPTY);
        let (code, n_results) = (self.w.kernel_name(self.m.cx.str(name)), types.len());
        let first = f.plain_kernel(code, 0, None, 0..n_args, types.into_iter());
        for (i, register) in (0..n_results).zip(first..) {
            let name = self.m.port_name(op, names::RES_ATTRS, i).unwrap_or("").to_owned();
            f.result(register, self.w.string(&name));
        }
    }

    fn args(&mut self, f: &mut FunctionBuilder, body: PendingBody, block: BlockId) {
        let m = self.m;
        let PendingBody { owner, is_region, .. } = body;
        if !is_region {
            let found = m.args(block).iter().map(|&arg| m.value_type(arg));
            if !self.m.signature(owner).is_some_and(|(inputs, _)| found.eq(inputs.iter().copied())) {
                self.diags.push(errors::function_type(self.span(owner), "arguments"));
            }
        }
        for (i, &arg) in m.args(block).iter().enumerate() {
            let ssa_name = m.value_name(arg).unwrap_or("");
            let name = if is_region { None } else { self.m.port_name(owner, names::ARG_ATTRS, i) };
            // Region arguments are never fed by name, so their names are debug information only.
            let name = name.unwrap_or(if is_region { "" } else { ssa_name }).to_owned();
            let (ty, name) = (self.constants.ty(m, &mut self.w, m.value_type(arg)), self.w.string(&name));
            let loc = m.value_locs.at(arg).and_then(|&loc| self.location(loc));
            let register = f.arg(ty, name, loc);
            self.define_value(f, arg, register);
        }
    }

    /// Assigns a register to a value.
    fn define_value(&mut self, f: &mut FunctionBuilder, value: ValueId, register: u32) {
        self.places[value.0 as usize] = self.first_place.saturating_add(register);
        if self.strip == Strip::Nothing
            && let Some(name) = self.m.value_name(value)
        {
            f.name_register(register, name);
        }
    }

    fn ops(&mut self, f: &mut FunctionBuilder, body: PendingBody, block: BlockId) {
        let m = self.m;
        let mut scratch = KernelBuffers::default();
        let mut has_returned = false;
        let (mut n_kernels, mut n_operands, mut n_registers) = (0, 0, m.args(block).len());
        for op in m.ops_in(block) {
            n_kernels += 1;
            n_operands += m.n_operands(op);
            n_registers += m.n_results(op);
        }
        f.reserve(n_kernels, n_operands, n_registers);
        let streams = match body.kind {
            FunctionKind::Async if !body.is_region && self.loops.is_body(m, body.owner) => {
                self.analysis.stored_of_body(block, &body.streams, &self.loops)
            }
            FunctionKind::Async => self.analysis.stored(block, &body.streams),
            FunctionKind::Sync | FunctionKind::Native => None,
        };
        for (position, op) in m.ops_in(block).enumerate() {
            if m.def(op).is_some_and(|def| def.traits.has(Traits::RETURN)) {
                if has_returned || m.next_op(op).is_some() {
                    self.diags.push(errors::no_return(self.span(op)));
                }
                has_returned = true;
                self.returns(f, body, op);
            } else {
                let stream = streams.as_ref().map_or(0, |streams| streams[position]);
                self.kernel(f, op, (body, stream), &mut scratch);
                self.check_limits(op);
            }
        }
        if !has_returned {
            self.diags.push(errors::no_return(
                m.last_op(block).and_then(|op| self.span(op)).or_else(|| self.span(body.owner)),
            ));
        }
    }

    fn returns(&mut self, f: &mut FunctionBuilder, body: PendingBody, op: OpId) {
        let m = self.m;
        let PendingBody { owner, is_region, .. } = body;
        if !m.attrs(op).is_empty() {
            self.diags.push(errors::no_place(self.span(op), "an attribute of a return"));
        }
        if !is_region {
            let found = m.operands(op).map(|value| m.value_type(value));
            if !self.m.signature(owner).is_some_and(|(_, results)| found.eq(results.iter().copied())) {
                self.diags.push(errors::function_type(self.span(op), "results"));
            }
        }
        for (i, value) in m.operands(op).enumerate() {
            let register = self.register(op, i, value);
            let name = if is_region { None } else { self.m.port_name(owner, names::RES_ATTRS, i) };
            let name = name.unwrap_or("").to_owned();
            let name = self.w.string(&name);
            if self.diags.is_empty() {
                f.result(register, name);
            }
        }
        if let Some(location) = self.location(m.loc(op)) {
            f.set_return_location(location);
        }
    }

    fn kernel(
        &mut self,
        f: &mut FunctionBuilder,
        op: OpId,
        (body, stream): (PendingBody, u32),
        scratch: &mut KernelBuffers,
    ) {
        let m = self.m;
        if let Some(code) = self.code(op).filter(|code| code.is_plain && self.diags.is_empty())
            && m.attrs(op).is_empty()
            && m.properties(op).is_none()
            && m.regions_of(op).is_empty()
            && m.successors(op).is_empty()
            && stream == 0
        {
            return self.plain_kernel(f, op, code);
        }
        let KernelBuffers { operands, info, results, attrs, attr_names, functions, function_names } = scratch;
        for list in [&mut *attr_names, &mut *function_names] {
            list.clear();
        }
        operands.clear();
        info.clear();
        results.clear();
        attrs.clear();
        functions.clear();

        let Some(OpEncoding { code, cost, has_usual_operands, named_attrs, is_plain: _ }) = self.code(op)
        else {
            self.diags.push(errors::no_kernel(self.span(op), m.op_name_str(op)));
            return self.assume_results(op);
        };
        if !m.successors(op).is_empty() {
            self.diags.push(errors::successors(self.span(op), m.op_name_str(op)));
        }
        for (i, value) in m.operands(op).enumerate() {
            let register = self.register(op, i, value);
            operands.push(register);
        }
        let mut spec = KernelSpec { code, cost, stream, named_attrs, ..KernelSpec::default() };
        let def = m.def(op);
        if let (Some(def), false) = (def, has_usual_operands) {
            operand_info(def, operands.len(), control_edges(m, op, def), info);
        }

        // Declared attributes come first, in their order, then the others; both sorted by name. Attributes
        // looked up by name are all among the others.
        let declared = &m.cx.op_name_data(m.op_name(op)).attr_names;
        let placed = if named_attrs { &[][..] } else { &**declared };
        // The cost has a field of its own, or is one of the others.
        let is_placed = |name: &StrId| placed.contains(name) && *name != names::TFRT_COST;
        for (i, &name) in placed.iter().enumerate().filter(|(_, name)| is_placed(name)) {
            let attr_def = def.and_then(|def| def.attrs.get(i));
            match m.attr(op, name) {
                Some(value) => {
                    let is_special = self.special(op, name, value, &mut spec, info);
                    if !is_special
                        && !self.function_refs(op, "", name, value, attr_def, functions, function_names)
                    {
                        let value = self.declared_attr(value, attr_def);
                        attrs.push(value);
                        attr_names.push(self.attr_name(name));
                    }
                }
                None if attr_def.is_some_and(|def| !is_symbol(def.kind)) => {
                    attrs.push(self.constants.absent(&mut self.w));
                    attr_names.push(self.attr_name(name));
                }
                None => {}
            }
        }
        self.properties(op, attrs, attr_names, functions, function_names);
        for &(name, value) in m.attrs(op) {
            if is_placed(&name) || self.special(op, name, value, &mut spec, info) {
                continue;
            }
            let at = declared.iter().position(|&declared| declared == name);
            let attr_def = at.and_then(|at| def?.attrs.get(at));
            if !self.function_refs(op, "", name, value, attr_def, functions, function_names) {
                attrs.push(self.declared_attr(value, attr_def));
                attr_names.push(match named_attrs {
                    true => self.constants.name(m, &mut self.w, name),
                    false => self.attr_name(name),
                });
            }
        }

        for &region in m.regions_of(op) {
            let blocks = m.blocks_of(region);
            if blocks.len() > 1 {
                self.diags.push(errors::not_one_block(self.span(op), blocks.len()));
            }
            let id = self.w.declare();
            functions.push(id);
            function_names.push(StringId(0));
            // The module's options are found once, however deep the regions nest.
            let streams = match body.is_region {
                true => body.streams,
                false => self.stored_streams(StreamOptions::of_region(m, op)),
            };
            self.bodies.push(PendingBody {
                id,
                owner: op,
                block: blocks.first().copied(),
                streams,
                is_region: true,
                ..body
            });
        }

        results.extend(m.results(op).map(|value| self.constants.ty(m, &mut self.w, m.value_type(value))));
        let location = self.location(m.loc(op));
        if !self.diags.is_empty() {
            return self.assume_results(op);
        }
        let first = f.kernel(&KernelSpec {
            operands,
            operand_info: info,
            results,
            attrs,
            attr_names,
            functions,
            function_names,
            location,
            ..spec
        });
        for (i, value) in m.results(op).enumerate() {
            self.define_value(f, value, first + i as u32);
        }
    }

    /// The kernel of an op that has only operands and results.
    fn plain_kernel(&mut self, f: &mut FunctionBuilder, op: OpId, code: OpEncoding) {
        let m = self.m;
        let operands: SmallVec<[u32; 8]> =
            m.operands(op).enumerate().map(|(i, value)| self.register(op, i, value)).collect();
        let types: SmallVec<[bef_format::TypeId; 4]> =
            m.results(op).map(|value| self.constants.ty(m, &mut self.w, m.value_type(value))).collect();
        let location = self.location(m.loc(op));
        if !self.diags.is_empty() {
            return self.assume_results(op);
        }
        let first = f.plain_kernel(code.code, code.cost, location, operands.into_iter(), types.into_iter());
        for (i, value) in m.results(op).enumerate() {
            self.define_value(f, value, first + i as u32);
        }
    }

    /// The name of an attribute or function reference. A stripped file has no such names, so all map to one.
    fn aux_name(&mut self, text: &str) -> StringId {
        if self.strip != Strip::Nothing { StringId(0) } else { self.w.string(text) }
    }

    /// The name of an attribute as in the module.
    fn attr_name(&mut self, name: StrId) -> StringId {
        if self.strip != Strip::Nothing {
            StringId(0)
        } else {
            self.constants.name(self.m, &mut self.w, name)
        }
    }

    /// Assigns registers after an error. No file is written then, but later ops must not report undefined
    /// registers.
    fn assume_results(&mut self, op: OpId) {
        for value in self.m.results(op) {
            self.places[value.0 as usize] = self.first_place;
        }
    }

    /// Cached facts about the ops of this name; `None` if they have no kernel.
    fn code(&mut self, op: OpId) -> Option<OpEncoding> {
        let m = self.m;
        let name = m.op_name(op).0 as usize;
        if let Some(&Some(code)) = self.codes.get(name) {
            return Some(code);
        }
        let def = m.def(op);
        if def.is_some_and(|def| !def.has_kernel) {
            return None;
        }
        let cost = def.map_or(0, |def| def.cost.stored());
        let has_usual_operands = def.is_none_or(has_usual_operands);
        let named_attrs = def.is_some_and(|def| def.named_attrs);
        let is_plain = has_usual_operands && def.is_none_or(|def| def.attrs.is_empty());
        let code = self.w.kernel_name(m.op_name_str(op));
        let code = OpEncoding { code, cost, has_usual_operands, named_attrs, is_plain };
        self.codes.resize(self.codes.len().max(name + 1), None);
        self.codes[name] = Some(code);
        Some(code)
    }

    /// Encodes an attribute that has a field of its own in the kernel's record; returns false for an ordinary
    /// attribute.
    fn special(
        &mut self,
        op: OpId,
        name: StrId,
        value: AttrId,
        spec: &mut KernelSpec<'_>,
        info: &mut Vec<OperandInfo>,
    ) -> bool {
        let m = self.m;
        if name == names::BEF_NONSTRICT {
            spec.any = true;
            if *m.cx.attr(value) != AttrKind::Unit {
                self.diags.push(errors::special_attr(self.span(op), "bef.nonstrict", "a unit"));
            }
            return true;
        }
        if name == names::TFRT_COST {
            let fixed = spec.cost;
            let cost = m.cx.as_int(value).and_then(|cost| u32::try_from(cost).ok()).filter(|&cost| cost > 0);
            spec.cost = cost.unwrap_or(spec.cost);
            // Without the attribute the cost must equal the definition's, else `raise` writes the attribute.
            return m.cx.attr_type(value) == Some(KnownType::I64.id())
                && cost.is_some_and(|cost| cost != fixed);
        }
        if name == names::BEF_DEVICE {
            match m.cx.as_str(value) {
                Some(device) if !device.is_empty() => spec.device = self.w.device(device),
                _ => {
                    self.diags.push(errors::special_attr(
                        self.span(op),
                        "bef.device",
                        "the name of a device",
                    ));
                }
            }
            return true;
        }
        if name == names::BEF_OPERAND_MODES {
            let modes = operand_modes(m, value).filter(|modes| modes.len() == m.n_operands(op));
            let Some(modes) = modes else {
                let want = "an array of `required`, `lenient`, `order` or `after`, one for each operand";
                self.diags.push(errors::special_attr(self.span(op), "bef.operand_modes", want));
                return true;
            };
            info.resize(modes.len(), OperandInfo::default());
            for (info, mode) in info.iter_mut().zip(modes) {
                *info = OperandInfo::new(mode, info.space);
            }
            return true;
        }
        false
    }

    /// Encodes an attribute that refers to functions; returns false for other attributes.
    #[allow(clippy::too_many_arguments, reason = "the last two are one list in two columns")]
    fn function_refs(
        &mut self,
        op: OpId,
        prefix: &str,
        name: StrId,
        value: AttrId,
        def: Option<&dialects::AttrDef>,
        functions: &mut Vec<FunctionId>,
        function_names: &mut Vec<StringId>,
    ) -> bool {
        let m = self.m;
        let text = m.cx.str(name);
        let function_of = |attr: AttrId| match m.cx.attr(attr) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => self.functions.get(root).copied(),
            _ => None,
        };
        match m.cx.attr(value) {
            AttrKind::Symbol { root, .. } => match function_of(value) {
                Some(id) => {
                    functions.push(id);
                    function_names.push(self.aux_name(&format!("{prefix}{text}")));
                    true
                }
                None if def.is_some_and(|def| is_symbol(def.kind)) => {
                    self.diags.push(errors::no_such_function(self.span(op), text, m.cx.str(*root)));
                    true
                }
                None => false,
            },
            AttrKind::Array(elements) if !elements.is_empty() => {
                let Some(ids) =
                    elements.iter().map(|&element| function_of(element)).collect::<Option<Vec<_>>>()
                else {
                    return false;
                };
                let name = self.aux_name(&format!("{prefix}{text}{ARRAY_SUFFIX}"));
                function_names.extend(ids.iter().map(|_| name));
                functions.extend(ids);
                true
            }
            _ => false,
        }
    }

    /// The value of a declared attribute. An empty array has the element type of the definition.
    fn declared_attr(&mut self, value: AttrId, def: Option<&dialects::AttrDef>) -> bef_format::AttrId {
        let m = self.m;
        if let (AttrKind::Array(elements), Some(def)) = (m.cx.attr(value), def)
            && elements.is_empty()
            && let AttrConstraint::IntArray(known) | AttrConstraint::NumberArray(known) = def.kind
            && let Some(id) = self.constants.empty_scalars(m, &mut self.w, known.id())
        {
            return id;
        }
        self.constants.attr(m, &mut self.w, value)
    }

    /// The properties of an unregistered op: one attribute each, or one for all if they are not a dictionary.
    fn properties(
        &mut self,
        op: OpId,
        attrs: &mut Vec<bef_format::AttrId>,
        attr_names: &mut Vec<StringId>,
        functions: &mut Vec<FunctionId>,
        function_names: &mut Vec<StringId>,
    ) {
        let m = self.m;
        let Some(properties) = m.properties(op) else { return };
        let mut prefix = [0; 4];
        let prefix: &str = PROPERTY_PREFIX.encode_utf8(&mut prefix);
        match m.cx.attr(properties) {
            AttrKind::Dict(entries) if !entries.is_empty() => {
                for &(name, value) in entries {
                    if !self.function_refs(op, prefix, name, value, None, functions, function_names) {
                        attrs.push(self.constants.attr(m, &mut self.w, value));
                        attr_names.push(self.aux_name(&format!("{prefix}{}", m.cx.str(name))));
                    }
                }
            }
            _ => {
                attrs.push(self.constants.attr(m, &mut self.w, properties));
                attr_names.push(self.aux_name(prefix));
            }
        }
    }
}

/// Cached facts about the ops of one name.
#[derive(Clone, Copy)]
pub(super) struct OpEncoding {
    code: KernelCode,
    cost: u32,
    has_usual_operands: bool,
    /// The kernel looks its attributes up by name.
    named_attrs: bool,
    /// True if an op of this name without attributes becomes a plain kernel.
    is_plain: bool,
}

/// Buffers reused for every kernel.
#[derive(Default)]
struct KernelBuffers {
    operands: Vec<u32>,
    info: Vec<OperandInfo>,
    results: Vec<bef_format::TypeId>,
    attrs: Vec<bef_format::AttrId>,
    attr_names: Vec<StringId>,
    functions: Vec<FunctionId>,
    function_names: Vec<StringId>,
}

fn is_symbol(kind: AttrConstraint) -> bool {
    matches!(kind, AttrConstraint::FlatSymbol | AttrConstraint::Symbol)
}

/// True if the op's definition requires all operands.
pub(crate) fn has_usual_operands(def: &OpDef) -> bool {
    !def.control_edges && def.is_strict()
}

/// Number of control edges of an op, which are its last operands.
fn control_edges(m: &Module, op: OpId, def: &OpDef) -> usize {
    if def.control_edges { tf::n_control_edges(m, op) } else { 0 }
}

/// The mode of each operand by the op's definition, where the last ones are control edges. Empty if all have
/// the usual mode.
pub(crate) fn operand_info(def: &OpDef, n: usize, n_edges: usize, info: &mut Vec<OperandInfo>) {
    if has_usual_operands(def) {
        return;
    }
    info.extend((0..n).map(|i| {
        let is_edge = i + n_edges >= n;
        let mode = if is_edge { OperandMode::Order } else { mode(def.operand_mode(i, n)) };
        OperandInfo::new(mode, 0)
    }));
}

fn mode(mode: dialects::OperandMode) -> OperandMode {
    match mode {
        dialects::OperandMode::Required => OperandMode::Required,
        dialects::OperandMode::Lenient => OperandMode::Lenient,
        dialects::OperandMode::Order => OperandMode::Order,
        dialects::OperandMode::After => OperandMode::After,
    }
}

/// Text of a mode in `bef.operand_modes`.
pub(crate) fn mode_name(mode: OperandMode) -> &'static str {
    match mode {
        OperandMode::Required => "required",
        OperandMode::Lenient => "lenient",
        OperandMode::Order => "order",
        OperandMode::After => "after",
    }
}

fn operand_modes(m: &Module, value: AttrId) -> Option<Vec<OperandMode>> {
    let AttrKind::Array(elements) = m.cx.attr(value) else { return None };
    elements
        .iter()
        .map(|&element| {
            let text = m.cx.as_str(element)?;
            OperandMode::ALL.iter().copied().find(|&mode| mode_name(mode) == text)
        })
        .collect()
}
