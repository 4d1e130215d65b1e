//! Functions, kernels, registers and used-by lists.
//!
//! One walk over a function's kernels proves that the dataflow graph is sound. Registers are numbered in the
//! order in which they are written, so "written before read" is one comparison. Used-by lists are newest
//! first. A cursor per register starts at the list's end and moves down, one step per use in kernel order and
//! then one per use by the return. It meets every entry in turn, and has consumed the list exactly when it is
//! back at its start.

use std::mem::offset_of;

use super::{BitSet, Checker, pools};
use crate::error::{FormatError, FormatErrorKind as Kind};
use crate::layout::{
    FEATURE_NAMED_ATTRS, FunctionKind, FunctionRec, Header, KERNEL_ANY, KERNEL_NAMED_ATTRS,
    KERNEL_OPERAND_INFO, KernelRec, OperandInfo, OperandMode, RETURN, RegisterRec, SectionId, StringId,
};

pub(super) fn check(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let image = cx.image;
    sentinels(cx)?;
    for (at, ty) in image.function_types.iter().enumerate() {
        cx.index(SectionId::FunctionTypes, at, "type", ty.0, image.types.len())?;
    }
    cx.equal(
        SectionId::IoNames,
        0,
        "number of names",
        image.io_names.len() as u64,
        image.function_types.len() as u64,
    )?;
    cx.strings(SectionId::IoNames, image.io_names)?;

    let mut names = BitSet::new(image.n_strings() as usize);
    let mut cursors = Vec::new();
    for (i, pair) in image.functions.windows(2).enumerate() {
        let [rec, next] = pair else { continue };
        function(cx, i, rec, next, &mut names)?;
        if rec.kind != FunctionKind::Native as u8 {
            body(cx, i, rec, &mut cursors)?;
        }
    }
    // A kernel with named attributes in a file without the feature was refused for its flags.
    let has_names = |rec: &KernelRec| rec.flags & KERNEL_NAMED_ATTRS != 0;
    if may_name_attrs(cx) && !image.kernels.iter().any(has_names) {
        let (found, expected) = (FEATURE_NAMED_ATTRS, 0);
        let kind = Kind::Mismatch { what: "feature of named attributes", found, expected };
        return Err(cx.refuse_header(offset_of!(Header, features), kind));
    }
    Ok(())
}

/// True if the file has the feature that kernels with named attributes need.
fn may_name_attrs(cx: &Checker<'_, '_>) -> bool {
    cx.tables().header.features & FEATURE_NAMED_ATTRS != 0
}

/// Checks that the three tables with sentinels have them, that they are zero except for the ends that they
/// mark, and that each table starts at 0.
fn sentinels(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let image = cx.image;
    let missing = |section| cx.refuse(section, 0, Kind::Truncated { want: 1, have: 0 });
    let not_zero =
        |section, at| cx.refuse(section, at, Kind::NotZero { what: "unused fields of the sentinel" });

    let at = image.functions.len().wrapping_sub(1);
    let last = image.functions.last().ok_or_else(|| missing(SectionId::Functions))?;
    let FunctionRec { first_type, first_kernel, first_register, first_result, .. } = *last;
    let blank: FunctionRec = bytemuck::Zeroable::zeroed();
    if *last != (FunctionRec { first_type, first_kernel, first_register, first_result, ..blank }) {
        return Err(not_zero(SectionId::Functions, at));
    }
    let n_kernels = image.kernels.len().checked_sub(1).ok_or_else(|| missing(SectionId::Kernels))?;
    let n_registers = image.registers.len().checked_sub(1).ok_or_else(|| missing(SectionId::Registers))?;
    let ends = [
        (SectionId::FunctionTypes, first_type, image.function_types.len()),
        (SectionId::Kernels, first_kernel, n_kernels),
        (SectionId::Registers, first_register, n_registers),
        (SectionId::Results, first_result, image.results.len()),
    ];
    for (section, found, expected) in ends {
        if found as usize != expected {
            let what = match section {
                SectionId::FunctionTypes => "end of the functions' types at",
                SectionId::Kernels => "end of the functions' kernels at",
                SectionId::Registers => "end of the functions' registers at",
                _ => "end of the functions' results at",
            };
            cx.equal(SectionId::Functions, at, what, u64::from(found), expected as u64)?;
        }
    }
    let first = &image.functions[0];
    let starts = [first.first_type, first.first_kernel, first.first_register, first.first_result];
    for start in starts {
        cx.equal(SectionId::Functions, 0, "start of the first function's entries at", u64::from(start), 0)?;
    }

    let last = &image.kernels[n_kernels];
    let KernelRec { first_operand, first_aux, .. } = *last;
    let blank: KernelRec = bytemuck::Zeroable::zeroed();
    if *last != (KernelRec { first_operand, first_aux, ..blank }) {
        return Err(not_zero(SectionId::Kernels, n_kernels));
    }
    let (n_operands, n_aux) = (image.operands.len() as u64, image.aux.len() as u64);
    cx.equal(SectionId::Kernels, n_kernels, "end of the operands at", u64::from(first_operand), n_operands)?;
    cx.equal(SectionId::Kernels, n_kernels, "end of the aux words at", u64::from(first_aux), n_aux)?;
    let first = &image.kernels[0];
    cx.equal(SectionId::Kernels, 0, "start of the operands at", u64::from(first.first_operand), 0)?;
    cx.equal(SectionId::Kernels, 0, "start of the aux words at", u64::from(first.first_aux), 0)?;

    let RegisterRec { ty, first_user } = image.registers[n_registers];
    if ty != 0 {
        return Err(not_zero(SectionId::Registers, n_registers));
    }
    let n_users = image.users.len() as u64;
    cx.equal(
        SectionId::Registers,
        n_registers,
        "end of the used-by lists at",
        u64::from(first_user),
        n_users,
    )?;
    let first_user = image.registers[0].first_user;
    cx.equal(SectionId::Registers, 0, "start of the used-by lists at", u64::from(first_user), 0)
}

/// Checks a function's own fields, and that the next function's entries follow its own.
fn function(
    cx: &Checker<'_, '_>,
    i: usize,
    rec: &FunctionRec,
    next: &FunctionRec,
    names: &mut BitSet,
) -> Result<(), FormatError> {
    let image = cx.image;
    let section = SectionId::Functions;
    let FunctionRec {
        name,
        kind,
        reserved,
        attrs,
        n_args,
        n_results,
        first_type,
        first_kernel,
        n_kernels,
        first_register,
        n_registers,
        first_result,
    } = *rec;
    cx.index(section, i, "string", name, image.n_strings() as usize)?;
    if name != 0 && !names.insert(StringId(name).index()) {
        return Err(cx.refuse(section, i, Kind::Duplicate { what: "function name" }));
    }
    let Some(kind) = FunctionKind::from_code(kind) else {
        return Err(cx.refuse(section, i, Kind::Code { what: "function kind", found: u64::from(kind) }));
    };
    if reserved != [0; 3] {
        return Err(cx.refuse(section, i, Kind::NotZero { what: "the reserved bytes of the function" }));
    }
    pools::dictionary(cx, attrs).map_err(|kind| cx.refuse(section, i, kind))?;
    let is_native = kind == FunctionKind::Native;
    if is_native {
        if name == 0 {
            return Err(cx.refuse(section, i, Kind::Empty { what: "name of a native function" }));
        }
        cx.equal(section, i, "number of kernels of a native function", u64::from(n_kernels), 0)?;
        cx.equal(section, i, "number of registers of a native function", u64::from(n_registers), 0)?;
    } else if n_registers < n_args {
        let (found, expected) = (u64::from(n_registers), u64::from(n_args));
        return Err(cx.refuse(
            section,
            i,
            Kind::Mismatch { what: "at least as many registers as arguments,", found, expected },
        ));
    }
    let n_returned = if is_native { 0 } else { n_results };
    // Sums are in 64 bits. They are compared with the next function's start, and the last function's with the
    // table's length, so all ranges are inside their tables from here on.
    let ends = [
        (
            "next function's first type",
            next.first_type,
            u64::from(first_type) + u64::from(n_args) + u64::from(n_results),
        ),
        ("next function's first kernel", next.first_kernel, u64::from(first_kernel) + u64::from(n_kernels)),
        (
            "next function's first register",
            next.first_register,
            u64::from(first_register) + u64::from(n_registers),
        ),
        ("next function's first result", next.first_result, u64::from(first_result) + u64::from(n_returned)),
    ];
    for (what, found, expected) in ends {
        cx.equal(section, i, what, u64::from(found), expected)?;
    }
    // A later function may still claim more than there is. The sentinel reveals that, but this function is
    // read now.
    let limits = [
        (next.first_type, image.function_types.len()),
        (next.first_kernel, image.kernels.len() - 1),
        (next.first_register, image.registers.len() - 1),
        (next.first_result, image.results.len()),
    ];
    for (end, limit) in limits {
        cx.index(section, i, "end of the function's entries", end, limit + 1)?;
    }
    Ok(())
}

/// Checks the registers, kernels and results of one function.
fn body(
    cx: &Checker<'_, '_>,
    i: usize,
    rec: &FunctionRec,
    cursors: &mut Vec<u32>,
) -> Result<(), FormatError> {
    let image = cx.image;
    let first_register = rec.first_register as usize;
    let n_registers = rec.n_registers as usize;
    // All in range, see `function`. There is one more record than registers or kernels: the next function's
    // first one, or the sentinel.
    let registers = &image.registers[first_register..first_register + n_registers + 1];
    let first_kernel = rec.first_kernel as usize;
    let kernels = &image.kernels[first_kernel..first_kernel + rec.n_kernels as usize + 1];
    let types = &image.function_types[rec.first_type as usize..];
    let (arg_types, result_types) = types.split_at(rec.n_args as usize);

    cursors.clear();
    let n_users = image.users.len() as u32;
    let mut last = registers[0].first_user;
    for (r, register) in registers[1..].iter().enumerate() {
        let at = first_register + r;
        cx.index(SectionId::Registers, at, "type", registers[r].ty, image.types.len())?;
        if register.first_user < last || register.first_user > n_users {
            return Err(cx.refuse(
                SectionId::Registers,
                at + 1,
                Kind::Order { what: "starts of used-by lists" },
            ));
        }
        last = register.first_user;
        cursors.push(last);
    }
    for (r, ty) in arg_types.iter().enumerate() {
        cx.equal(
            SectionId::Registers,
            first_register + r,
            "type",
            u64::from(registers[r].ty),
            u64::from(ty.0),
        )?;
    }

    let mut walk = Walk {
        cx,
        first_register,
        first_kernel,
        n_kernels: rec.n_kernels,
        registers: &registers[..n_registers],
        cursors: cursors.as_mut_slice(),
        users: image.users,
        written: rec.n_args,
    };
    for (k, pair) in kernels.windows(2).enumerate() {
        let [kernel, next] = pair else { continue };
        walk.kernel(k as u32, kernel, next)?;
    }
    let written = u64::from(walk.written);
    cx.equal(SectionId::Functions, i, "number of registers", u64::from(rec.n_registers), written)?;

    let first_result = rec.first_result as usize;
    let results = &image.results[first_result..first_result + rec.n_results as usize];
    for (r, (&register, ty)) in results.iter().zip(result_types).enumerate() {
        let at = first_result + r;
        cx.index(SectionId::Results, at, "register", register, n_registers)?;
        let found = u64::from(registers[register as usize].ty);
        cx.equal(SectionId::Results, at, "type of the returned register", found, u64::from(ty.0))?;
        walk.use_of(register, RETURN)?;
    }
    for (r, (&cursor, register)) in walk.cursors.iter().zip(registers).enumerate() {
        if cursor != register.first_user {
            return Err(walk.wrong_users(r as u32, cursor as usize));
        }
    }
    Ok(())
}

/// The walk over one function's kernels.
struct Walk<'c, 'i, 'a> {
    cx: &'c Checker<'i, 'a>,
    /// In the whole file's tables.
    first_register: usize,
    first_kernel: usize,
    n_kernels: u32,
    registers: &'c [RegisterRec],
    /// Per register, the end of the part of its used-by list that is not consumed yet.
    cursors: &'c mut [u32],
    /// All used-by lists.
    users: &'a [u32],
    /// Number of registers written so far.
    written: u32,
}

impl Walk<'_, '_, '_> {
    /// Checks kernel `k` of the function.
    fn kernel(&mut self, k: u32, rec: &KernelRec, next: &KernelRec) -> Result<(), FormatError> {
        let (cx, image) = (self.cx, self.cx.image);
        let section = SectionId::Kernels;
        let at = self.first_kernel + k as usize;
        let KernelRec {
            code,
            first_operand,
            first_result,
            first_aux,
            ready_count,
            stream,
            cost: _,
            n_results,
            n_functions,
            device,
            flags,
        } = *rec;
        cx.index(section, at, "kernel name", code, image.kernel_names.len())?;
        cx.index(section, at, "device", u32::from(device), image.devices.len())?;
        cx.index(section, at, "stream", stream, self.n_kernels as usize + 1)?;
        let known =
            KERNEL_ANY | KERNEL_OPERAND_INFO | if may_name_attrs(cx) { KERNEL_NAMED_ATTRS } else { 0 };
        if flags & !known != 0 {
            return Err(cx.refuse(
                section,
                at,
                Kind::Code { what: "combination of kernel flags", found: u64::from(flags) },
            ));
        }
        let Some(operands) = image.operands.get(first_operand as usize..next.first_operand as usize) else {
            return Err(cx.refuse(section, at, Kind::Order { what: "starts of operands" }));
        };
        let Some(aux) = image.aux.get(first_aux as usize..next.first_aux as usize) else {
            return Err(cx.refuse(section, at, Kind::Order { what: "starts of aux words" }));
        };

        // Results follow the registers written before, so none is written twice, and none is skipped.
        cx.equal(section, at, "first result register", u64::from(first_result), u64::from(self.written))?;
        for (i, &register) in operands.iter().enumerate() {
            if register >= self.written {
                let kind = Kind::ReadBeforeWrite { register, written: self.written };
                return Err(cx.refuse(SectionId::Operands, first_operand as usize + i, kind));
            }
            self.use_of(register, k)?;
        }
        let n_registers = self.cursors.len() as u32;
        if u32::from(n_results) > n_registers - self.written {
            let (found, limit) = (u64::from(n_results), u64::from(n_registers - self.written));
            return Err(cx.refuse(section, at, Kind::Limit { what: "number of results", found, limit }));
        }
        self.written += u32::from(n_results);

        let ready = if aux.is_empty() && flags == 0 && n_functions == 0 {
            operands.len()
        } else {
            aux_words(cx, at, rec, operands.len(), aux)?
        };
        cx.equal(section, at, "ready count", u64::from(ready_count), ready as u64)
    }

    /// Consumes one use of an existing register, by kernel `user` or by the return.
    #[inline]
    fn use_of(&mut self, register: u32, user: u32) -> Result<(), FormatError> {
        let r = register as usize;
        let cursor = &mut self.cursors[r];
        let entry = cursor.wrapping_sub(1);
        // A cursor at the list's start finds an entry of another register there, or none at all.
        if *cursor <= self.registers[r].first_user || self.users.get(entry as usize) != Some(&user) {
            return Err(self.wrong_users(register, entry as usize));
        }
        *cursor = entry;
        Ok(())
    }

    #[cold]
    fn wrong_users(&self, register: u32, entry: usize) -> FormatError {
        if self.cx.image.users.get(entry).is_none() {
            let at = self.first_register + register as usize;
            return self.cx.refuse(SectionId::Registers, at, Kind::Users { register });
        }
        self.cx.refuse(SectionId::Users, entry, Kind::Users { register })
    }
}

/// Checks a kernel's attributes, their names, functions and operand words. Returns the ready count that they
/// imply.
fn aux_words(
    cx: &Checker<'_, '_>,
    at: usize,
    rec: &KernelRec,
    n_operands: usize,
    aux: &[u32],
) -> Result<usize, FormatError> {
    let image = cx.image;
    let first = rec.first_aux as usize;
    let n_infos = if rec.flags & KERNEL_OPERAND_INFO != 0 { n_operands } else { 0 };
    let n_functions = usize::from(rec.n_functions);
    let Some(n_before) = aux.len().checked_sub(n_infos).and_then(|n| n.checked_sub(n_functions)) else {
        let kind = Kind::Truncated { want: 4 * (n_infos + n_functions) as u64, have: 4 * aux.len() as u64 };
        return Err(cx.refuse(SectionId::Kernels, at, kind));
    };
    let is_named = rec.flags & KERNEL_NAMED_ATTRS != 0;
    let (attrs, names) = aux[..n_before].split_at(if is_named { n_before.div_ceil(2) } else { n_before });
    if is_named {
        attr_names(cx, at, first, attrs.len(), names)?;
    }
    for (i, &attr) in attrs.iter().enumerate() {
        cx.index(SectionId::Aux, first + i, "attribute", attr, image.attributes.len())?;
    }
    for (i, &function) in aux[n_before..n_before + n_functions].iter().enumerate() {
        cx.index(SectionId::Aux, first + n_before + i, "function", function, image.n_functions() as usize)?;
    }
    let infos: &[OperandInfo] = bytemuck::cast_slice(&aux[n_before + n_functions..]);
    // Without operand words, all operands are required: data, and counted.
    let (mut n_data, mut n_counted_data, mut n_counted) =
        (n_operands - infos.len(), n_operands - infos.len(), 0);
    for (i, info) in infos.iter().enumerate() {
        let OperandInfo { mode, space: _, reserved } = *info;
        let at = first + n_before + n_functions + i;
        if reserved != [0; 2] {
            return Err(cx.refuse(
                SectionId::Aux,
                at,
                Kind::NotZero { what: "the reserved bytes of an operand word" },
            ));
        }
        match OperandMode::from_code(mode) {
            Some(OperandMode::Required) => (n_data, n_counted_data) = (n_data + 1, n_counted_data + 1),
            Some(OperandMode::Lenient) => n_data += 1,
            Some(OperandMode::Order | OperandMode::After) => n_counted += 1,
            None => {
                return Err(cx.refuse(
                    SectionId::Aux,
                    at,
                    Kind::Code { what: "operand mode", found: u64::from(mode) },
                ));
            }
        }
    }
    let is_any = rec.flags & KERNEL_ANY != 0;
    Ok(n_counted + if is_any { usize::from(n_data > 0) } else { n_counted_data })
}

/// Checks the names of a kernel's `n_attrs` attributes, starting at entry `first` of `Aux`: one per
/// attribute, at least one, ascending, none empty.
fn attr_names(
    cx: &Checker<'_, '_>,
    at: usize,
    first: usize,
    n_attrs: usize,
    names: &[u32],
) -> Result<(), FormatError> {
    let (found, expected) = (names.len() as u64, n_attrs as u64);
    cx.equal(SectionId::Kernels, at, "number of names of attributes", found, expected)?;
    if n_attrs == 0 {
        return Err(cx.refuse(SectionId::Kernels, at, Kind::Empty { what: "list of named attributes" }));
    }
    let mut last = 0;
    for (i, &name) in names.iter().enumerate() {
        let at = first + n_attrs + i;
        cx.index(SectionId::Aux, at, "string", name, cx.image.n_strings() as usize)?;
        if name <= last {
            return Err(cx.refuse(SectionId::Aux, at, Kind::Order { what: "names of attributes" }));
        }
        last = name;
    }
    Ok(())
}
