//! Raising of one function body: values for registers, ops for kernels, a return for the results.

use bef_format::layout::TypeId as BefTypeId;
use bef_format::{FunctionId, FunctionView, KernelView, OperandInfo};

use super::{Failure, Raiser, errors};
use crate::dialects::{AttrConstraint, OpDef, Traits};
use crate::emit::{self, ARRAY_SUFFIX, PROPERTY_PREFIX};
use crate::ir::{
    AttrId, AttrKind, BlockId, KnownType, LocId, NewOp, OpId, OpNameId, StrId, TypeId, ValueId, names,
};

/// Cached facts about the kernels of one name.
pub(super) struct KernelDecoding {
    op: OpNameId,
    def: Option<&'static OpDef>,
    /// Names of the declared attributes that are not references to functions.
    attrs: Vec<StrId>,
    /// Names of the declared references to functions.
    functions: Vec<StrId>,
    /// A declared list of functions.
    list: Option<List>,
    /// The cost of a kernel without an explicit one.
    cost: Option<u32>,
    /// All operands are required and in the host's memory, by the definition.
    has_usual_operands: bool,
}

/// A declared list of functions. It is stored among the references if its elements are functions of the file,
/// else among the attributes.
#[derive(Clone, Copy)]
struct List {
    name: StrId,
    /// Place in `attrs`.
    attr: usize,
    /// Place among `functions`.
    function: usize,
}

/// Buffers reused for every kernel.
#[derive(Default)]
pub(super) struct OpBuffers {
    operands: Vec<ValueId>,
    results: Vec<TypeId>,
    attrs: Vec<(StrId, AttrId)>,
}

impl<'a> Raiser<'_, 'a> {
    /// The op of the kernels called `name`.
    pub(super) fn code(&mut self, name: &str) -> Result<KernelDecoding, Failure> {
        let cx = &mut self.m.cx;
        let registry = cx.registry();
        let def = registry.find(name);
        if def.is_some_and(|def| !def.has_kernel || def.traits.has(Traits::RETURN)) {
            return Err(errors::not_a_kernel(name));
        }
        let op_name = cx.str_id(def.map_or(name, |def| &def.name));
        let op = cx.op_name(op_name);
        let (mut attrs, mut functions, mut list) = (Vec::new(), Vec::new(), None);
        for attr in def.map_or(&[][..], |def| &def.attrs) {
            let name = cx.str_id(attr.name);
            // The cost has a field of its own.
            if name == names::TFRT_COST {
                continue;
            }
            match attr.kind {
                AttrConstraint::FlatSymbol | AttrConstraint::Symbol => functions.push(name),
                kind => {
                    if kind == AttrConstraint::SymbolArray {
                        list.get_or_insert(List { name, attr: attrs.len(), function: functions.len() });
                    }
                    attrs.push(name);
                }
            }
        }
        let cost = def.map(|def| def.cost.stored()).filter(|&cost| cost != 0);
        let has_usual_operands = def.is_none_or(emit::has_usual_operands);
        Ok(KernelDecoding { op, def, attrs, functions, list, cost, has_usual_operands })
    }

    /// Fills a block with the arguments, ops and return of a function.
    pub(super) fn body(&mut self, f: FunctionView<'_, 'a>, block: BlockId) -> Result<(), Failure> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let OpBuffers { operands, results, attrs } = &mut scratch;
        // Values are created in the order of registers without gaps: bodies of regions come later.
        let first_value = self.m.n_value_ids() as u32;
        let value_of = |&register: &u32| ValueId(first_value + register);
        for (i, &ty) in f.arg_types().iter().enumerate() {
            let value = self.m.add_arg(block, self.constants.ty(ty));
            let loc = self.loc(f.arg_location(i as u32));
            if loc != LocId::UNKNOWN {
                self.m.value_locs.set(value, loc);
            }
            if self.options.names {
                let ssa_name = f.ssa_name(i as u32);
                // Without SSA names, the argument's own name is the best one.
                let name = if ssa_name.is_empty() && !self.image.has_ssa_names() {
                    f.arg_name(i as u32)
                } else {
                    ssa_name
                };
                self.name_value(value, name);
            }
        }
        let registers = f.registers();
        for k in f.kernels() {
            operands.clear();
            operands.extend(k.operands().iter().map(value_of));
            results.clear();
            let first = k.first_result();
            let made = registers.get(first as usize..).unwrap_or_default();
            let made = made.iter().take(k.n_results() as usize);
            results.extend(made.map(|register| self.constants.ty(BefTypeId(register.ty))));
            let op = self.op(k, operands, results, attrs)?;
            self.m.append(block, op);
            if self.options.names {
                for (i, value) in self.m.results(op).enumerate() {
                    self.name_value(value, f.ssa_name(first + i as u32));
                }
            }
        }
        operands.clear();
        operands.extend(f.results().iter().map(value_of));
        let name = self.m.cx.op_name(names::TFRT_RETURN);
        let loc = self.loc(f.return_location());
        let op = self.m.create(NewOp { operands, loc, ..NewOp::new(name) });
        self.m.append(block, op);
        self.scratch = scratch;
        Ok(())
    }

    fn name_value(&mut self, value: ValueId, name: &str) {
        if !name.is_empty() {
            let name = self.m.cx.str_id(name);
            self.m.value_names.set(value, name);
        }
    }

    fn op(
        &mut self,
        k: KernelView<'_, 'a>,
        operands: &[ValueId],
        results: &[TypeId],
        attrs: &mut Vec<(StrId, AttrId)>,
    ) -> Result<OpId, Failure> {
        let code = &self.codes[k.code().index()];
        let (name, def) = (code.op, code.def);
        let loc = self.loc(k.location());
        if k.is_plain() && code.has_usual_operands && k.cost().is_none_or(|cost| Some(cost) == code.cost) {
            return Ok(self.m.create(NewOp { operands, results, loc, ..NewOp::new(name) }));
        }
        let listed = self.listed(k);
        attrs.clear();
        let mut properties = Properties::None;
        for (i, &id) in k.attrs().iter().enumerate() {
            let Some(value) = self.constants.attr(id) else { continue };
            match k.attr_name(i as u32) {
                Some(name) => self.place(name, value, attrs, &mut properties),
                None if def.is_some_and(|def| def.named_attrs) => {
                    let why = "has attributes without names, which are found by name";
                    return Err(errors::attributes(k.name(), why));
                }
                None => {
                    let at = i + usize::from(listed.is_some_and(|(list, _)| i >= list.attr));
                    let name = match self.codes[k.code().index()].attrs.get(at) {
                        Some(&name) => name,
                        None => self.m.cx.str_id(&numbered("attr", i, k.attrs().len())),
                    };
                    attrs.push((name, value));
                }
            }
        }
        let regions = self.functions(k, listed, attrs, &mut properties)?;
        self.fields(k, operands, attrs);

        attrs.sort_by(|a, b| self.m.cx.str(a.0).cmp(self.m.cx.str(b.0)));
        if let Some(pair) = attrs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let why = format!("has two attributes called `{}`", self.m.cx.str(pair[0].0));
            return Err(errors::attributes(k.name(), &why));
        }
        let op = self.m.create(NewOp { name, loc, operands, results, attrs, successors: &[] });
        let properties = match properties {
            Properties::None => None,
            Properties::Whole(value) => Some(value),
            Properties::Entries(entries) => Some(self.m.cx.dict_attr(&entries)),
        };
        if properties.is_some() {
            if def.is_some() {
                return Err(errors::attributes(k.name(), "has properties, which only unregistered ops have"));
            }
            self.m.set_properties(op, properties);
        }
        for region in regions {
            self.region(op, region.0)?;
        }
        Ok(op)
    }

    /// The list of functions of a kernel with unnamed references, and its length: the references beyond the
    /// declared ones.
    fn listed(&self, k: KernelView<'_, 'a>) -> Option<(List, usize)> {
        let KernelDecoding { list, functions, .. } = &self.codes[k.code().index()];
        let list = (*list)?;
        if k.function_name(0).is_some() {
            return None;
        }
        let n = k.functions().iter().filter(|id| !self.image.function(id.0).name().is_empty()).count();
        n.checked_sub(functions.len()).filter(|&n| n > 0).map(|n| (list, n))
    }

    /// Adds an attribute by its name in the file, which marks properties.
    fn place(
        &mut self,
        name: &str,
        value: AttrId,
        attrs: &mut Vec<(StrId, AttrId)>,
        properties: &mut Properties,
    ) {
        let cx = &mut self.m.cx;
        match name.strip_prefix(PROPERTY_PREFIX) {
            None => attrs.push((cx.str_id(name), value)),
            Some("") => *properties = Properties::Whole(value),
            Some(name) => {
                let entry = (cx.str_id(name), value);
                match properties {
                    Properties::Entries(entries) => entries.push(entry),
                    Properties::None | Properties::Whole(_) => *properties = Properties::Entries(vec![entry]),
                }
            }
        }
    }

    /// Adds references to functions as attributes; the remaining ones are bodies of regions.
    fn functions(
        &mut self,
        k: KernelView<'_, 'a>,
        listed: Option<(List, usize)>,
        attrs: &mut Vec<(StrId, AttrId)>,
        properties: &mut Properties,
    ) -> Result<Vec<FunctionId>, Failure> {
        let mut regions = Vec::new();
        let mut arrays: Vec<(&str, Vec<AttrId>)> = Vec::new();
        let mut n_symbols = 0;
        let mut in_list = Vec::new();
        for (i, &id) in k.functions().iter().enumerate() {
            let target = self.image.function(id.0).name();
            let name = k.function_name(i as u32);
            if target.is_empty() {
                regions.push(id);
                continue;
            }
            let symbol = self.m.cx.symbol_attr(target);
            match name {
                Some("") => {
                    return Err(errors::attributes(k.name(), "refers to a function without saying as what"));
                }
                Some(name) => match name.strip_suffix(ARRAY_SUFFIX) {
                    None => self.place(name, symbol, attrs, properties),
                    Some(name) => match arrays.last_mut() {
                        Some((last, symbols)) if *last == name => symbols.push(symbol),
                        _ => arrays.push((name, vec![symbol])),
                    },
                },
                None if let Some((list, n)) = listed
                    && (list.function..list.function + n).contains(&n_symbols) =>
                {
                    in_list.push(symbol);
                }
                None => {
                    let at = n_symbols - in_list.len();
                    let name = match self.codes[k.code().index()].functions.get(at) {
                        Some(&name) => name,
                        None => self.m.cx.str_id(&numbered("function", i, k.functions().len())),
                    };
                    attrs.push((name, symbol));
                }
            }
            n_symbols += 1;
        }
        if let (Some((list, _)), false) = (listed, in_list.is_empty()) {
            attrs.push((list.name, self.m.cx.array_attr(&in_list)));
        }
        for (name, symbols) in arrays {
            let array = self.m.cx.array_attr(&symbols);
            self.place(name, array, attrs, properties);
        }
        Ok(regions)
    }

    /// Adds the attributes that have fields of their own in a kernel's record.
    fn fields(&mut self, k: KernelView<'_, 'a>, operands: &[ValueId], attrs: &mut Vec<(StrId, AttrId)>) {
        let is_chain = |value: &&ValueId| self.m.value_type(**value) == KnownType::Chain.id();
        let n_chains = operands.iter().rev().take_while(is_chain).count();
        let cx = &mut self.m.cx;
        let KernelDecoding { op: _, def, attrs: _, functions: _, list: _, cost: fixed, has_usual_operands } =
            &self.codes[k.code().index()];
        if k.is_any() {
            attrs.push((names::BEF_NONSTRICT, cx.attr_id(AttrKind::Unit)));
        }
        if let Some(cost) = k.cost().filter(|&cost| Some(cost) != *fixed)
            && !attrs.iter().any(|&(name, _)| name == names::TFRT_COST)
        {
            let cost = cx.int_attr(KnownType::I64.id(), i64::from(cost));
            attrs.push((names::TFRT_COST, cost));
        }
        if k.device() != 0 {
            let device = cx.str_attr(self.image.device_name(k.device()));
            attrs.push((names::BEF_DEVICE, device));
        }
        if *has_usual_operands && !k.has_operand_info() {
            return;
        }
        let n = k.operands().len();
        let mut usual: Vec<OperandInfo> = Vec::new();
        if let Some(def) = def {
            emit::operand_info(def, n, if def.control_edges { n_chains } else { 0 }, &mut usual);
        }
        usual.resize(n, OperandInfo::default());
        if (0..n).any(|i| k.operand_mode(i as u32) as u8 != usual[i].mode) {
            let modes: Vec<AttrId> =
                (0..n).map(|i| cx.str_attr(emit::mode_name(k.operand_mode(i as u32)))).collect();
            let modes = cx.array_attr(&modes);
            attrs.push((names::BEF_OPERAND_MODES, modes));
        }
    }
}

/// A generated name. Names of one kernel sort by their numbers.
fn numbered(what: &str, i: usize, n: usize) -> String {
    let width = n.saturating_sub(1).to_string().len();
    format!("{what}{i:0width$}")
}

/// The properties of an unregistered op.
enum Properties {
    None,
    /// One attribute that is no dictionary, or an empty one.
    Whole(AttrId),
    /// The entries of a dictionary.
    Entries(Vec<(StrId, AttrId)>),
}
