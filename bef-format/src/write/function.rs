//! A builder for one function.

use crate::layout::{
    AttrId, FunctionId, FunctionKind, KERNEL_ANY, KERNEL_NAMED_ATTRS, KERNEL_OPERAND_INFO, KernelCode,
    KernelRec, LocationId, OperandInfo, OperandMode, StringId, TypeId,
};

use super::WriteError;
use super::code::location_id;

/// A kernel to be added to a function, with defaults: `KernelSpec { code, operands: &[a, b],
/// ..KernelSpec::default() }`.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelSpec<'k> {
    /// The kernel's name, from `Writer::kernel_name`.
    pub code: KernelCode,
    /// The registers that it reads.
    pub operands: &'k [u32],
    /// Mode and space of each operand; empty if all are required and in the host's memory.
    pub operand_info: &'k [OperandInfo],
    /// The types of its results.
    pub results: &'k [TypeId],
    /// Its attributes.
    pub attrs: &'k [AttrId],
    /// The names of its attributes. Empty if they are omitted, which named attributes do not allow.
    pub attr_names: &'k [StringId],
    /// True if attributes are found by name, so that the names are part of the program. They must ascend.
    pub named_attrs: bool,
    /// The functions that it refers to.
    pub functions: &'k [FunctionId],
    /// The names under which it refers to them. Empty if they are omitted.
    pub function_names: &'k [StringId],
    /// Its stream, at most the function's number of kernels.
    pub stream: u32,
    /// Its estimated cost, 0 if unknown.
    pub cost: u32,
    /// Its device, from `Writer::device`.
    pub device: u16,
    /// True if it runs when the first of its data operands is available.
    pub any: bool,
    /// Its source location.
    pub location: Option<LocationId>,
}

/// The contents of a function: arguments first, then kernels, producers before users, then results.
#[derive(Clone, Debug)]
pub struct FunctionBuilder {
    pub(super) kind: FunctionKind,
    pub(super) name: StringId,
    pub(super) attrs: Option<AttrId>,
    pub(super) location: Option<LocationId>,
    pub(super) return_location: Option<LocationId>,
    /// Types, names and locations of the arguments.
    pub(super) args: Vec<(TypeId, StringId, Option<LocationId>)>,
    /// Types and names of the results.
    pub(super) results: Vec<(TypeId, StringId)>,
    pub(super) result_registers: Vec<u32>,
    pub(super) register_types: Vec<TypeId>,
    /// The partitions are relative to this function.
    pub(super) kernels: Vec<KernelRec>,
    pub(super) operands: Vec<u32>,
    pub(super) aux: Vec<u32>,
    /// Parallel to `aux`; provisional ids of strings.
    pub(super) aux_names: Vec<u32>,
    /// By kernel; `NONE` if unknown.
    pub(super) locations: Vec<u32>,
    /// SSA names, one after the other, and the end of each.
    pub(super) ssa_names: String,
    pub(super) ssa_ends: Vec<u32>,
    /// The greatest stream of a kernel.
    pub(super) last_stream: u32,
    pub(super) error: Option<WriteError>,
}

impl FunctionBuilder {
    /// A function without arguments, kernels and results. An empty name denotes a region's body.
    pub fn new(name: StringId, kind: FunctionKind) -> FunctionBuilder {
        FunctionBuilder {
            kind,
            name,
            attrs: None,
            location: None,
            return_location: None,
            args: Vec::new(),
            results: Vec::new(),
            result_registers: Vec::new(),
            register_types: Vec::new(),
            kernels: Vec::new(),
            operands: Vec::new(),
            aux: Vec::new(),
            aux_names: Vec::new(),
            locations: Vec::new(),
            ssa_names: String::new(),
            ssa_ends: Vec::new(),
            last_stream: 0,
            error: None,
        }
    }

    fn fail(&mut self, text: impl FnOnce() -> String) {
        if self.error.is_none() {
            self.error = Some(WriteError(text()));
        }
    }

    /// Reserves memory for a body of this size.
    pub fn reserve(&mut self, n_kernels: usize, n_operands: usize, n_registers: usize) {
        self.kernels.reserve(n_kernels);
        self.locations.reserve(n_kernels);
        self.operands.reserve(n_operands);
        self.register_types.reserve(n_registers);
        self.ssa_ends.reserve(n_registers);
    }

    /// Sets the attribute dictionary.
    pub fn set_attrs(&mut self, attrs: AttrId) {
        self.attrs = Some(attrs);
    }

    /// Sets the source location.
    pub fn set_location(&mut self, location: LocationId) {
        self.location = Some(location);
    }

    /// Sets the source location of the return.
    pub fn set_return_location(&mut self, location: LocationId) {
        self.return_location = Some(location);
    }

    /// Adds an argument and returns its register. Arguments come before kernels.
    pub fn arg(&mut self, ty: TypeId, name: StringId, location: Option<LocationId>) -> u32 {
        if !self.kernels.is_empty() {
            self.fail(|| "an argument was added after a kernel".to_owned());
        }
        self.args.push((ty, name, location));
        if self.kind != FunctionKind::Native {
            self.register_types.push(ty);
        }
        self.args.len() as u32 - 1
    }

    /// Adds a kernel with operands and results only. Returns the register of its first result; the others
    /// follow it.
    pub fn plain_kernel(
        &mut self,
        code: KernelCode,
        cost: u32,
        location: Option<LocationId>,
        operands: impl Iterator<Item = u32>,
        results: impl Iterator<Item = TypeId>,
    ) -> u32 {
        let first_operand = self.operands.len();
        let first_result = self.register_types.len() as u32;
        if self.kind == FunctionKind::Native {
            self.fail(|| "a native function has a kernel".to_owned());
        }
        for register in operands {
            if register >= first_result {
                self.fail(|| format!("register {register} is read before it is written"));
            }
            self.operands.push(register);
        }
        results.for_each(|ty| self.register_types.push(ty));
        let n_results = self.register_types.len() - first_result as usize;
        let n_results = u16::try_from(n_results).unwrap_or_else(|_| {
            self.fail(|| format!("a kernel has {n_results} results and 0 functions"));
            0
        });
        self.kernels.push(KernelRec {
            code: code.0,
            first_operand: first_operand as u32,
            first_result,
            first_aux: self.aux.len() as u32,
            ready_count: (self.operands.len() - first_operand) as u32,
            stream: 0,
            cost,
            n_results,
            n_functions: 0,
            device: 0,
            flags: 0,
        });
        self.locations.push(location_id(location));
        first_result
    }

    /// Adds a kernel. Returns the register of its first result; the others follow it.
    pub fn kernel(&mut self, spec: &KernelSpec<'_>) -> u32 {
        let KernelSpec {
            code,
            operands,
            operand_info,
            results,
            attrs,
            attr_names,
            named_attrs,
            functions,
            function_names,
            stream,
            cost,
            device,
            any,
            location,
        } = *spec;
        let first_result = self.register_types.len() as u32;
        if self.kind == FunctionKind::Native {
            self.fail(|| "a native function has a kernel".to_owned());
        }
        if let Some(register) = operands.iter().find(|&&register| register >= first_result) {
            self.fail(|| format!("register {register} is read before it is written"));
        }
        if !operand_info.is_empty() && operand_info.len() != operands.len() {
            self.fail(|| "a kernel has operand words for some of its operands only".to_owned());
        }
        if (named_attrs || !attr_names.is_empty()) && attr_names.len() != attrs.len()
            || !function_names.is_empty() && function_names.len() != functions.len()
        {
            self.fail(|| "a kernel has names for some of its attributes or functions only".to_owned());
        }
        let (Ok(n_results), Ok(n_functions)) = (u16::try_from(results.len()), u16::try_from(functions.len()))
        else {
            self.fail(|| format!("a kernel has {} results and {} functions", results.len(), functions.len()));
            return first_result;
        };
        let has_info = operand_info.iter().any(|info| *info != OperandInfo::default());
        let operand_info = if has_info { operand_info } else { &[] };
        let is_named = named_attrs && !attrs.is_empty();
        let flag = |holds: bool, flag: u16| if holds { flag } else { 0 };
        self.kernels.push(KernelRec {
            code: code.0,
            first_operand: self.operands.len() as u32,
            first_result,
            first_aux: self.aux.len() as u32,
            ready_count: ready_count(operands.len(), operand_info, any),
            stream,
            cost,
            n_results,
            n_functions,
            device,
            flags: flag(any, KERNEL_ANY)
                | flag(has_info, KERNEL_OPERAND_INFO)
                | flag(is_named, KERNEL_NAMED_ATTRS),
        });
        self.operands.extend_from_slice(operands);
        if attrs.len() + functions.len() + operand_info.len() > 0 {
            let (hot_names, attr_names): (&[StringId], &[StringId]) =
                if is_named { (attr_names, &[]) } else { (&[], attr_names) };
            self.aux.extend_from_slice(bytemuck::cast_slice(attrs));
            self.aux.extend_from_slice(bytemuck::cast_slice(hot_names));
            self.aux.extend_from_slice(bytemuck::cast_slice(functions));
            self.aux.extend_from_slice(bytemuck::cast_slice(operand_info));
            for (names, n) in [
                (attr_names, attrs.len() + hot_names.len()),
                (function_names, functions.len()),
                (&[], operand_info.len()),
            ] {
                let end = self.aux_names.len() + n;
                self.aux_names.extend_from_slice(bytemuck::cast_slice(names));
                self.aux_names.resize(end, 0);
            }
        }
        self.last_stream = self.last_stream.max(stream);
        self.register_types.extend_from_slice(results);
        self.locations.push(location_id(location));
        first_result
    }

    /// Adds a result: the returned register.
    pub fn result(&mut self, register: u32, name: StringId) {
        let Some(&ty) = self.register_types.get(register as usize) else {
            return self.fail(|| format!("register {register} is returned but never written"));
        };
        self.result_registers.push(register);
        self.results.push((ty, name));
    }

    /// Adds a result of a native function.
    pub fn native_result(&mut self, ty: TypeId, name: StringId) {
        if self.kind != FunctionKind::Native {
            self.fail(|| "a function with a body has a result without register".to_owned());
        }
        self.results.push((ty, name));
    }

    /// Names a register as in the source. Registers are named in ascending order.
    pub fn name_register(&mut self, register: u32, name: &str) {
        let register = register as usize;
        if register < self.ssa_ends.len() || register >= self.register_types.len() {
            return self.fail(|| format!("register {register} cannot be named `{name}` now"));
        }
        self.ssa_ends.resize(register, self.ssa_names.len() as u32);
        self.ssa_names.push_str(name);
        if u32::try_from(self.ssa_names.len()).is_err() {
            return self.fail(|| "the names of a function's values take more than 4 GiB".to_owned());
        }
        self.ssa_ends.push(self.ssa_names.len() as u32);
    }

    /// Number of registers so far.
    pub fn n_registers(&self) -> u32 {
        self.register_types.len() as u32
    }

    /// Number of kernels so far.
    pub fn n_kernels(&self) -> u32 {
        self.kernels.len() as u32
    }
}

/// The number of events that a kernel waits for.
fn ready_count(n_operands: usize, infos: &[OperandInfo], any: bool) -> u32 {
    let count = |mode: OperandMode| infos.iter().filter(|info| info.mode == mode as u8).count();
    let n_counted = count(OperandMode::Order) + count(OperandMode::After);
    let n_lenient = count(OperandMode::Lenient);
    let n_data = n_operands - n_counted;
    let n = if any { n_counted + usize::from(n_data > 0) } else { n_operands - n_lenient };
    n as u32
}
