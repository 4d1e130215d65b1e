//! The last step: strings are sorted, functions joined, used-by lists computed, sections laid out, checksums taken.

use bytemuck::{NoUninit, Zeroable};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::pool::SortedStrings;
use super::{FunctionBuilder, LocationKey, WriteError, Writer};
use crate::layout::{
    AttrId, AttrKind, AttrRec, DictEntry, FunctionKind, FunctionLocationRec, FunctionRec, Header, KernelRec,
    LOCATION_KIND_BITS, LocationEndRec, LocationId, LocationKind, LocationRec, MAGIC, MAJOR, MINOR, NONE,
    PAYLOAD_ALIGN, RETURN, RegisterRec, SECTION_OPTIONAL, SectionId, SectionRec, StringId, TABLE_ALIGN,
};

/// The file in two parts: everything before the tensor bytes, and these.
pub(super) fn assemble(writer: Writer) -> Result<(Vec<u8>, Vec<u8>), WriteError> {
    let Writer {
        strings,
        producer,
        module_name,
        module_attrs,
        module_location,
        types,
        kernel_names,
        devices,
        mut attrs,
        attr_nodes: _,
        mut attr_data,
        attr_ids: _,
        payload,
        payload_places: _,
        locations,
        location_trees: _,
        functions,
        error,
    } = writer;
    if let Some(error) = error {
        return Err(error);
    }
    let strings = Strings(strings.sort());
    strings.remap_attrs(&mut attrs, &mut attr_data);

    let mut code = Code::default();
    for (i, function) in functions.into_iter().enumerate() {
        let function =
            function.ok_or_else(|| WriteError(format!("function {i} is declared but not defined")))?;
        code.add(function, &strings)?;
    }
    code.end()?;
    let ids = |items: &[StringId]| items.iter().map(|&id| strings.id(id)).collect::<Vec<_>>();

    let mut sections = Sections::default();
    let index: Vec<u32> =
        strings.0.index.iter().map(|&offset| count(offset as usize)).collect::<Result<_, _>>()?;
    sections.add(SectionId::StringIndex, &index);
    sections.add(SectionId::StringBytes, &strings.0.bytes);
    sections.add(SectionId::Types, &ids(types.items()));
    sections.add(SectionId::KernelNames, &ids(kernel_names.items()));
    sections.add(SectionId::Devices, &ids(devices.items()));
    sections.add(SectionId::Attributes, &attrs);
    sections.add(SectionId::AttrData, &attr_data);
    sections.add(SectionId::Functions, &code.functions);
    sections.add(SectionId::FunctionTypes, &code.types);
    sections.add(SectionId::IoNames, &code.io_names);
    sections.add(SectionId::Kernels, &code.kernels);
    sections.add(SectionId::Operands, &code.operands);
    sections.add(SectionId::Aux, &code.aux);
    sections.add(SectionId::Registers, &code.registers);
    sections.add(SectionId::Users, &code.users);
    sections.add(SectionId::Results, &code.results);
    let mut ends = Vec::new();
    if !locations.items().is_empty() {
        let mut extra: Vec<LocationId> = Vec::new();
        let mut recs = Vec::with_capacity(locations.items().len());
        for (i, LocationKey { rec, parts, end }) in locations.items().iter().enumerate() {
            recs.push(strings.location(*rec, parts, extra.len())?);
            extra.extend_from_slice(parts);
            ends.extend(end.map(|(line, col)| LocationEndRec { location: i as u32, line, col }));
        }
        sections.add(SectionId::Locations, &recs);
        sections.add(SectionId::LocationExtra, &extra);
    }
    if code.kernel_locations.iter().any(|&id| id != NONE) {
        sections.add(SectionId::KernelLocations, &code.kernel_locations);
    }
    code.function_locations.push(FunctionLocationRec { function: location_id(module_location), ret: NONE });
    if code.function_locations.iter().any(|rec| rec.function != NONE || rec.ret != NONE) {
        sections.add(SectionId::FunctionLocations, &code.function_locations);
    }
    if code.io_locations.iter().any(|&id| id != NONE) {
        sections.add(SectionId::IoLocations, &code.io_locations);
    }
    if code.aux_names.iter().any(|&id| id != 0) {
        sections.add(SectionId::AuxNames, &code.aux_names);
    }
    if !code.ssa_bytes.is_empty() {
        sections.add(SectionId::SsaNames, &code.ssa_index);
        sections.add(SectionId::SsaNameBytes, &code.ssa_bytes);
    }
    if !ends.is_empty() {
        sections.add(SectionId::LocationEnds, &ends);
    }
    let header = Header {
        magic: MAGIC,
        major: MAJOR,
        minor: MINOR,
        n_sections: 0,
        file_len: 0,
        features: 0,
        producer: strings.id(producer),
        module_name: module_name.map_or(NONE, |id| strings.id(id)),
        module_attrs: module_attrs.map_or(NONE, |id| id.0),
        reserved: [0; 5],
        checksum: 0,
    };
    Ok((sections.lay_out(header, &payload), payload))
}

/// A table's size as it is stored.
fn count(n: usize) -> Result<u32, WriteError> {
    // NONE and RETURN are not indices.
    u32::try_from(n)
        .ok()
        .filter(|&n| n < NONE)
        .ok_or_else(|| WriteError(format!("a table would have {n} entries, more than a file can hold")))
}

fn location_id(id: Option<LocationId>) -> u32 {
    id.map_or(NONE, |id| id.0)
}

/// The sorted strings, and the replacement of provisional ids.
struct Strings(SortedStrings);

impl Strings {
    fn id(&self, provisional: StringId) -> u32 {
        self.0.final_ids.get(provisional.index()).copied().unwrap_or(0)
    }

    fn remap_attrs(&self, attrs: &mut [AttrRec], data: &mut [u8]) {
        for rec in attrs {
            match AttrKind::from_code(rec.kind) {
                Some(AttrKind::String | AttrKind::Symbol | AttrKind::Text) => {
                    rec.value = u64::from(self.id(StringId(rec.value as u32)));
                }
                Some(AttrKind::Dict) => {
                    let (start, len) = (rec.value as u32 as usize, (rec.value >> 32) as usize);
                    for bytes in data[start..start + len].chunks_exact_mut(size_of::<DictEntry>()) {
                        let entry: DictEntry = bytemuck::pod_read_unaligned(bytes);
                        let entry = DictEntry { key: StringId(self.id(entry.key)), ..entry };
                        bytes.copy_from_slice(bytemuck::bytes_of(&entry));
                    }
                }
                _ => {}
            }
        }
    }

    fn location(
        &self,
        rec: LocationRec,
        parts: &[LocationId],
        extra: usize,
    ) -> Result<LocationRec, WriteError> {
        let code = rec.kind_a & ((1 << LOCATION_KIND_BITS) - 1);
        let a = rec.kind_a >> LOCATION_KIND_BITS;
        Ok(match LocationKind::from_code(code as u8) {
            Some(LocationKind::File | LocationKind::Name | LocationKind::Text) => {
                LocationRec { kind_a: code | self.id(StringId(a)) << LOCATION_KIND_BITS, ..rec }
            }
            Some(LocationKind::Fused) => LocationRec { b: count(extra)?, c: count(parts.len())?, ..rec },
            _ => rec,
        })
    }
}

/// The joined tables of all functions.
#[derive(Default)]
struct Code {
    functions: Vec<FunctionRec>,
    types: Vec<u32>,
    io_names: Vec<u32>,
    io_locations: Vec<u32>,
    kernels: Vec<KernelRec>,
    operands: Vec<u32>,
    aux: Vec<u32>,
    aux_names: Vec<u32>,
    registers: Vec<RegisterRec>,
    users: Vec<u32>,
    results: Vec<u32>,
    kernel_locations: Vec<u32>,
    function_locations: Vec<FunctionLocationRec>,
    ssa_index: Vec<u32>,
    ssa_bytes: Vec<u8>,
}

impl Code {
    fn add(&mut self, function: FunctionBuilder, strings: &Strings) -> Result<(), WriteError> {
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
            kernels,
            operands,
            aux,
            aux_names,
            locations,
            ssa_names,
            mut ssa_ends,
            error,
        } = function;
        if let Some(error) = error {
            return Err(error);
        }
        if kind == FunctionKind::Native && name.0 == 0 {
            return Err(WriteError("a native function has no name".to_owned()));
        }
        if let Some(kernel) = kernels.iter().find(|kernel| kernel.stream as usize >= kernels.len()) {
            return Err(WriteError(format!(
                "stream {} in a function of {} kernels",
                kernel.stream,
                kernels.len()
            )));
        }
        self.functions.push(FunctionRec {
            name: strings.id(name),
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
        self.io_names.extend(args.iter().map(|&(_, name, _)| strings.id(name)));
        self.io_names.extend(results.iter().map(|&(_, name)| strings.id(name)));
        self.io_locations.extend(args.iter().map(|&(_, _, location)| location_id(location)));
        self.io_locations.extend(results.iter().map(|_| NONE));
        self.kernel_locations.extend(locations.iter().map(|&location| location_id(location)));
        self.function_locations
            .push(FunctionLocationRec { function: location_id(location), ret: location_id(return_location) });

        let base = self.ssa_bytes.len();
        ssa_ends.resize(register_types.len(), ssa_names.len());
        let starts = std::iter::once(0).chain(ssa_ends);
        for start in starts.take(register_types.len()) {
            self.ssa_index.push(count(base + start)?);
        }
        self.ssa_bytes.extend_from_slice(ssa_names.as_bytes());

        self.add_registers(&register_types, &kernels, &operands, &result_registers)?;
        let (first_operand, first_aux) = (count(self.operands.len())?, count(self.aux.len())?);
        count(self.operands.len() + operands.len())?;
        count(self.aux.len() + aux.len())?;
        self.kernels.extend(kernels.into_iter().map(|rec| KernelRec {
            first_operand: rec.first_operand + first_operand,
            first_aux: rec.first_aux + first_aux,
            ..rec
        }));
        self.operands.extend_from_slice(&operands);
        self.aux.extend_from_slice(&aux);
        self.aux_names.extend(aux_names.into_iter().map(|id| strings.id(id)));
        self.results.extend_from_slice(&result_registers);
        Ok(())
    }

    /// Adds the registers of a function and their used-by lists: newest first, uses by the return before all.
    fn add_registers(
        &mut self,
        types: &[crate::layout::TypeId],
        kernels: &[KernelRec],
        operands: &[u32],
        results: &[u32],
    ) -> Result<(), WriteError> {
        let mut n_uses = vec![0u32; types.len()];
        for &register in operands.iter().chain(results) {
            n_uses[register as usize] += 1;
        }
        // Where the next older use of each register goes: lists are filled from their ends.
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

    /// Adds the sentinels and refuses names that are not unique.
    fn end(&mut self) -> Result<(), WriteError> {
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

/// The sections so far, ascending, without the payload.
#[derive(Default)]
struct Sections {
    found: Vec<(SectionId, Vec<u8>)>,
}

impl Sections {
    fn add<T: NoUninit>(&mut self, id: SectionId, records: &[T]) {
        self.found.push((id, bytemuck::cast_slice(records).to_vec()));
    }

    /// Everything before the payload's bytes.
    fn lay_out(self, header: Header, payload: &[u8]) -> Vec<u8> {
        let n_sections = self.found.len() + 1;
        let head_len = size_of::<Header>() + n_sections * size_of::<SectionRec>();
        let mut bytes = vec![0; head_len];
        let mut directory = Vec::with_capacity(n_sections);
        for (id, section) in &self.found {
            bytes.resize(bytes.len().next_multiple_of(TABLE_ALIGN), 0);
            directory.push(entry(*id, bytes.len(), section));
            bytes.extend_from_slice(section);
        }
        bytes.resize(bytes.len().next_multiple_of(PAYLOAD_ALIGN), 0);
        directory.push(entry(SectionId::Payload, bytes.len(), payload));

        let file_len = (bytes.len() + payload.len()) as u64;
        let header = Header { n_sections: n_sections as u32, file_len, ..header };
        let directory: &[u8] = bytemuck::cast_slice(&directory);
        let mut hasher = Xxh3::new();
        hasher.update(bytemuck::bytes_of(&header));
        hasher.update(directory);
        let header = Header { checksum: hasher.digest(), ..header };
        bytes[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        bytes[size_of::<Header>()..head_len].copy_from_slice(directory);
        bytes
    }
}

fn entry(id: SectionId, offset: usize, section: &[u8]) -> SectionRec {
    let flags = if id.is_optional() { SECTION_OPTIONAL } else { 0 };
    SectionRec {
        id: id as u32,
        flags,
        offset: offset as u64,
        len: section.len() as u64,
        checksum: xxh3_64(section),
    }
}

/// See `write::update_checksums`.
pub(super) fn update_checksums(bytes: &mut [u8]) {
    let (head_len, size) = (size_of::<Header>(), size_of::<SectionRec>());
    let Some(head) = bytes.get(..head_len) else { return };
    let header: Header = bytemuck::pod_read_unaligned(head);
    let n_sections = (header.n_sections as usize).min((bytes.len() - head_len) / size);
    let end = head_len + n_sections * size;
    for at in (head_len..end).step_by(size) {
        let rec: SectionRec = bytemuck::pod_read_unaligned(&bytes[at..at + size]);
        let start = usize::try_from(rec.offset).unwrap_or(usize::MAX);
        let stop = start.saturating_add(usize::try_from(rec.len).unwrap_or(usize::MAX));
        if let Some(section) = bytes.get(start..stop) {
            let rec = SectionRec { checksum: xxh3_64(section), ..rec };
            bytes[at..at + size].copy_from_slice(bytemuck::bytes_of(&rec));
        }
    }
    // A section that reaches into the head (an error) was hashed with the checksum that the header had.
    let header = Header { checksum: 0, ..header };
    let mut hasher = Xxh3::new();
    hasher.update(bytemuck::bytes_of(&header));
    hasher.update(&bytes[head_len..end]);
    let header = Header { checksum: hasher.digest(), ..header };
    bytes[..head_len].copy_from_slice(bytemuck::bytes_of(&header));
}
