//! The joined tables of all functions.
//!
//! A function's tables are appended as soon as it and all functions before it are defined; the first
//! function's tables are moved. String ids stay provisional until the last step.

use bytemuck::Zeroable;

use super::{FunctionBuilder, WriteError};
use crate::layout::{
    AttrId, FunctionKind, FunctionLocationRec, FunctionRec, KernelRec, LocationId, NONE, RETURN, RegisterRec,
    TypeId,
};

/// A table size in its stored width.
pub(super) fn count(n: usize) -> Result<u32, WriteError> {
    // NONE and RETURN are not indices.
    u32::try_from(n)
        .ok()
        .filter(|&n| n < NONE)
        .ok_or_else(|| WriteError(format!("a table would have {n} entries, more than a file can hold")))
}

pub(super) fn location_id(id: Option<LocationId>) -> u32 {
    id.map_or(NONE, |id| id.0)
}

/// The joined tables of all functions.
#[derive(Default)]
pub(super) struct Code {
    pub(super) functions: Vec<FunctionRec>,
    pub(super) types: Vec<u32>,
    pub(super) io_names: Vec<u32>,
    pub(super) io_locations: Vec<u32>,
    pub(super) kernels: Vec<KernelRec>,
    pub(super) operands: Vec<u32>,
    pub(super) aux: Vec<u32>,
    pub(super) aux_names: Vec<u32>,
    pub(super) registers: Vec<RegisterRec>,
    pub(super) users: Vec<u32>,
    pub(super) results: Vec<u32>,
    pub(super) kernel_locations: Vec<u32>,
    pub(super) function_locations: Vec<FunctionLocationRec>,
    pub(super) ssa_index: Vec<u32>,
    pub(super) ssa_bytes: Vec<u8>,
}

impl Code {
    /// Adds the next function.
    pub(super) fn add(&mut self, function: FunctionBuilder) -> Result<(), WriteError> {
        let FunctionBuilder {
            kind,
            name,
            attrs,
            location,
            return_location,
            args,
            results,
            result_registers,
            register_types,
            mut kernels,
            operands,
            aux,
            aux_names,
            locations,
            ssa_names,
            mut ssa_ends,
            last_stream,
            error,
        } = function;
        if let Some(error) = error {
            return Err(error);
        }
        if kind == FunctionKind::Native && name.0 == 0 {
            return Err(WriteError("a native function has no name".to_owned()));
        }
        if !kernels.is_empty() && last_stream as usize > kernels.len() {
            return Err(WriteError(format!(
                "stream {last_stream} in a function of {} kernels",
                kernels.len()
            )));
        }
        self.functions.push(FunctionRec {
            name: name.0,
            kind: kind as u8,
            reserved: [0; 3],
            attrs: attrs.map_or(NONE, |id: AttrId| id.0),
            n_args: count(args.len())?,
            n_results: count(results.len())?,
            first_type: count(self.types.len())?,
            first_kernel: count(self.kernels.len())?,
            n_kernels: count(kernels.len())?,
            first_register: count(self.registers.len())?,
            n_registers: count(register_types.len())?,
            first_result: count(self.results.len())?,
        });
        self.types.extend(args.iter().map(|&(ty, _, _)| ty.0));
        self.types.extend(results.iter().map(|&(ty, _)| ty.0));
        self.io_names.extend(args.iter().map(|&(_, name, _)| name.0));
        self.io_names.extend(results.iter().map(|&(_, name)| name.0));
        self.io_locations.extend(args.iter().map(|&(_, _, location)| location_id(location)));
        self.io_locations.extend(results.iter().map(|_| NONE));
        self.function_locations
            .push(FunctionLocationRec { function: location_id(location), ret: location_id(return_location) });

        self.add_registers(&register_types, &kernels, &operands, &result_registers)?;
        let (first_operand, first_aux) = (count(self.operands.len())?, count(self.aux.len())?);
        count(self.operands.len() + operands.len())?;
        count(self.aux.len() + aux.len())?;
        if first_operand > 0 || first_aux > 0 {
            for rec in &mut kernels {
                rec.first_operand += first_operand;
                rec.first_aux += first_aux;
            }
        }
        // The start of each name: the end of the previous one.
        let base = count(self.ssa_bytes.len())?;
        count(self.ssa_bytes.len() + ssa_names.len())?;
        ssa_ends.resize(register_types.len(), ssa_names.len() as u32);
        ssa_ends.iter_mut().for_each(|end| *end += base);
        if !ssa_ends.is_empty() {
            ssa_ends.rotate_right(1);
            ssa_ends[0] = base;
        }
        append(&mut self.kernels, kernels);
        append(&mut self.operands, operands);
        append(&mut self.aux, aux);
        append(&mut self.aux_names, aux_names);
        append(&mut self.kernel_locations, locations);
        append(&mut self.results, result_registers);
        append(&mut self.ssa_index, ssa_ends);
        append(&mut self.ssa_bytes, ssa_names.into_bytes());
        Ok(())
    }

    /// Adds the registers of a function and their used-by lists: newest first, uses by the return before all
    /// others.
    fn add_registers(
        &mut self,
        types: &[TypeId],
        kernels: &[KernelRec],
        operands: &[u32],
        results: &[u32],
    ) -> Result<(), WriteError> {
        let mut n_uses = vec![0u32; types.len()];
        for &register in operands.iter().chain(results) {
            n_uses[register as usize] += 1;
        }
        // The position of the next older use of each register: lists are filled from their ends.
        let mut places = n_uses;
        let mut end = self.users.len();
        count(end + operands.len() + results.len())?;
        for (place, &ty) in places.iter_mut().zip(types) {
            self.registers.push(RegisterRec { ty: ty.0, first_user: end as u32 });
            end += *place as usize;
            *place = end as u32;
        }
        self.users.resize(end, 0);
        let mut use_of = |register: u32, user: u32| {
            let place = &mut places[register as usize];
            *place -= 1;
            self.users[*place as usize] = user;
        };
        let ends = kernels.iter().skip(1).map(|rec| rec.first_operand as usize).chain([operands.len()]);
        for (k, (rec, end)) in kernels.iter().zip(ends).enumerate() {
            for &register in &operands[rec.first_operand as usize..end] {
                use_of(register, k as u32);
            }
        }
        for &register in results {
            use_of(register, RETURN);
        }
        Ok(())
    }

    /// Adds the sentinels and refuses duplicate names.
    pub(super) fn end(&mut self) -> Result<(), WriteError> {
        let mut names: Vec<u32> =
            self.functions.iter().map(|rec| rec.name).filter(|&name| name != 0).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(WriteError("two functions have the same name".to_owned()));
        }
        self.functions.push(FunctionRec {
            first_type: count(self.types.len())?,
            first_kernel: count(self.kernels.len())?,
            first_register: count(self.registers.len())?,
            first_result: count(self.results.len())?,
            ..FunctionRec::zeroed()
        });
        self.kernels.push(KernelRec {
            first_operand: count(self.operands.len())?,
            first_aux: count(self.aux.len())?,
            ..KernelRec::zeroed()
        });
        self.registers.push(RegisterRec { ty: 0, first_user: count(self.users.len())? });
        self.ssa_index.push(count(self.ssa_bytes.len())?);
        Ok(())
    }
}

/// Appends a table; moves it if the other is empty.
fn append<T: Clone>(to: &mut Vec<T>, from: Vec<T>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.extend_from_slice(&from);
    }
}
