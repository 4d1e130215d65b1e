//! The last step: strings are sorted and receive their ids, sections are laid out, checksums computed.

use std::mem::offset_of;

use bytemuck::NoUninit;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::code::{count, location_id};
use super::locations::LocationTables;
use super::parts::{Part, Parts, Section};
use super::pool::SortedStrings;
use super::{WriteError, Writer};
use crate::layout::{
    AttrId, AttrKind, AttrRec, CompiledModuleRec, DictEntry, FEATURE_NAMED_ATTRS, FunctionLocationRec,
    Header, KERNEL_NAMED_ATTRS, KERNEL_OPERAND_INFO, KernelRec, LOCATION_KIND_BITS, LocationId, LocationKind,
    LocationRec, MAGIC, MAJOR, MINOR, NONE, PAYLOAD_ALIGN, SECTION_OPTIONAL, SectionId, SectionRec, StringId,
    TABLE_ALIGN,
};

/// Finishes the tables and lays out the sections of the file.
pub(super) fn assemble(writer: Writer) -> Result<Parts, WriteError> {
    let Writer {
        strings,
        producer,
        module_name,
        module_attrs,
        module_location,
        features,
        types,
        kernel_names,
        devices,
        mut attrs,
        attr_nodes: _,
        mut attr_data,
        attr_ids: _,
        payload,
        locations,
        functions,
        n_written,
        mut code,
        error,
    } = writer;
    if let Some(error) = error {
        return Err(error);
    }
    if n_written < functions.len() {
        return Err(WriteError(format!("function {n_written} is declared but not defined")));
    }
    let strings = Strings(strings.sort());
    strings.remap_attrs(&mut attrs, &mut attr_data);
    code.functions.iter_mut().for_each(|rec| rec.name = strings.id(StringId(rec.name)));
    for name in code.io_names.iter_mut().chain(&mut code.aux_names) {
        *name = strings.id(StringId(*name));
    }
    code.end()?;
    let has_names = strings.remap_attr_names(&code.kernels, &mut code.aux)?;
    let ids = |items: &[StringId]| items.iter().map(|&id| strings.id(id)).collect::<Vec<_>>();
    let header = Header {
        magic: MAGIC,
        major: MAJOR,
        minor: MINOR,
        n_sections: 0,
        file_len: 0,
        features: features | if has_names { FEATURE_NAMED_ATTRS } else { 0 },
        producer: strings.id(producer),
        module_name: module_name.map_or(NONE, |id| strings.id(id)),
        module_attrs: module_attrs.map_or(NONE, |id| id.0),
        reserved: [0; 5],
        checksum: 0,
    };
    let index: Vec<u32> =
        strings.0.index.iter().map(|&offset| count(offset as usize)).collect::<Result<_, _>>()?;
    let mut sections = Sections::default();
    let (types, kernel_names, devices) =
        (ids(types.items()), ids(kernel_names.items()), ids(devices.items()));
    let LocationTables { recs: mut location_recs, parts, ends } = locations.into_tables();
    let extra = strings.remap_locations(&mut location_recs, &parts)?;
    sections.add(SectionId::StringIndex, index);
    sections.add(SectionId::StringBytes, strings.0.bytes);
    sections.add(SectionId::Types, types);
    sections.add(SectionId::KernelNames, kernel_names);
    sections.add(SectionId::Devices, devices);
    sections.add(SectionId::Attributes, attrs);
    sections.add(SectionId::AttrData, attr_data);
    sections.add(SectionId::Functions, code.functions);
    sections.add(SectionId::FunctionTypes, code.types);
    sections.add(SectionId::IoNames, code.io_names);
    sections.add(SectionId::Kernels, code.kernels);
    sections.add(SectionId::Operands, code.operands);
    sections.add(SectionId::Aux, code.aux);
    sections.add(SectionId::Registers, code.registers);
    sections.add(SectionId::Users, code.users);
    sections.add(SectionId::Results, code.results);
    if !location_recs.is_empty() {
        sections.add(SectionId::Locations, location_recs);
        sections.add(SectionId::LocationExtra, extra);
    }
    if code.kernel_locations.iter().any(|&id| id != NONE) {
        sections.add(SectionId::KernelLocations, code.kernel_locations);
    }
    code.function_locations.push(FunctionLocationRec { function: location_id(module_location), ret: NONE });
    if code.function_locations.iter().any(|rec| rec.function != NONE || rec.ret != NONE) {
        sections.add(SectionId::FunctionLocations, code.function_locations);
    }
    if code.io_locations.iter().any(|&id| id != NONE) {
        sections.add(SectionId::IoLocations, code.io_locations);
    }
    if code.aux_names.iter().any(|&id| id != 0) {
        sections.add(SectionId::AuxNames, code.aux_names);
    }
    if !code.ssa_bytes.is_empty() {
        sections.add(SectionId::SsaNames, code.ssa_index);
        sections.add(SectionId::SsaNameBytes, code.ssa_bytes);
    }
    if !ends.is_empty() {
        sections.add(SectionId::LocationEnds, ends);
    }
    sections.found.push((SectionId::Payload, payload.into_parts()));
    Ok(sections.lay_out(header))
}

/// The data of an attribute.
fn part<'d>(data: &'d mut [u8], rec: &AttrRec) -> &'d mut [u8] {
    let (start, len) = (rec.value as u32 as usize, (rec.value >> 32) as usize);
    &mut data[start..start + len]
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
                    for entry in part(data, rec).chunks_exact_mut(size_of::<DictEntry>()) {
                        self.remap(entry.split_at_mut(size_of::<StringId>()).0);
                    }
                }
                // Name and text; no string follows.
                Some(AttrKind::CompiledModule) => {
                    self.remap(part(data, rec).split_at_mut(offset_of!(CompiledModuleRec, place)).0);
                }
                // The first word is an attribute.
                Some(AttrKind::CompilationUnit) => {
                    self.remap(part(data, rec).split_at_mut(size_of::<AttrId>()).1);
                }
                _ => {}
            }
        }
    }

    /// Replaces the names of named attributes by their final ids, which must ascend. Returns whether there
    /// are any.
    fn remap_attr_names(&self, kernels: &[KernelRec], aux: &mut [u32]) -> Result<bool, WriteError> {
        let mut has_names = false;
        for pair in kernels.windows(2) {
            let [rec, next] = pair else { continue };
            if rec.flags & KERNEL_NAMED_ATTRS == 0 {
                continue;
            }
            has_names = true;
            let has_infos = rec.flags & KERNEL_OPERAND_INFO != 0;
            let n_infos = if has_infos { next.first_operand - rec.first_operand } else { 0 };
            let end = next.first_aux - n_infos - u32::from(rec.n_functions);
            let names = &mut aux[rec.first_aux.midpoint(end) as usize..end as usize];
            names.iter_mut().for_each(|name| *name = self.id(StringId(*name)));
            if names.first() == Some(&0) || !names.is_sorted_by(|a, b| a < b) {
                return Err(WriteError("the names of a kernel's attributes do not ascend".to_owned()));
            }
        }
        Ok(has_names)
    }

    /// Replaces a list of provisional string ids by the final ones.
    fn remap(&self, ids: &mut [u8]) {
        for bytes in ids.chunks_exact_mut(size_of::<StringId>()) {
            let id: StringId = bytemuck::pod_read_unaligned(bytes);
            bytes.copy_from_slice(bytemuck::bytes_of(&self.id(id)));
        }
    }

    /// Sets the strings of locations, and the position and number of parts of fused ones in the list of all
    /// parts, which it returns.
    fn remap_locations(
        &self,
        recs: &mut [LocationRec],
        parts: &[(LocationId, Box<[LocationId]>)],
    ) -> Result<Vec<LocationId>, WriteError> {
        // Nearly all strings are the same file name.
        let mut last = None;
        for rec in &mut *recs {
            let code = rec.kind_a & ((1 << LOCATION_KIND_BITS) - 1);
            if let Some(LocationKind::File | LocationKind::Name | LocationKind::Text) =
                LocationKind::from_code(code as u8)
            {
                rec.kind_a = match last {
                    Some((from, to)) if from == rec.kind_a => to,
                    _ => {
                        let to =
                            code | self.id(StringId(rec.kind_a >> LOCATION_KIND_BITS)) << LOCATION_KIND_BITS;
                        last = Some((rec.kind_a, to));
                        to
                    }
                };
            }
        }
        let mut extra = Vec::new();
        for (id, parts) in parts {
            if let Some(rec) = recs.get_mut(id.index()) {
                *rec = LocationRec { b: count(extra.len())?, c: count(parts.len())?, ..*rec };
            }
            extra.extend_from_slice(parts);
        }
        Ok(extra)
    }
}

/// A table as the bytes of a file.
struct Records<T>(Vec<T>);

impl<T: NoUninit> AsRef<[u8]> for Records<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// The sections so far, ascending, each in parts.
#[derive(Default)]
struct Sections {
    found: Vec<(SectionId, Vec<Part>)>,
}

impl Sections {
    fn add<T: NoUninit>(&mut self, id: SectionId, records: Vec<T>) {
        self.found.push((id, vec![Part::Bytes(Box::new(Records(records)))]));
    }

    fn lay_out(self, header: Header) -> Parts {
        let n_sections = self.found.len();
        let mut len = size_of::<Header>() + n_sections * size_of::<SectionRec>();
        let sections = self.found.into_iter().map(|(id, parts)| {
            let align = if id == SectionId::Payload { PAYLOAD_ALIGN } else { TABLE_ALIGN };
            let (end, start) = (len, len.next_multiple_of(align));
            let n_bytes: usize = parts.iter().map(Part::n_bytes).sum();
            len = start + n_bytes;
            let flags = if id.is_optional() { SECTION_OPTIONAL } else { 0 };
            let (offset, len) = (start as u64, n_bytes as u64);
            let entry = SectionRec { id: id as u32, flags, offset, len, checksum: 0 };
            Section { n_zeros: start - end, entry, parts }
        });
        let sections = sections.collect();
        Parts { header: Header { n_sections: n_sections as u32, file_len: len as u64, ..header }, sections }
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
    // A section that overlaps the header (an error) was hashed with the header's old checksum.
    let header = Header { checksum: 0, ..header };
    let mut hasher = Xxh3::new();
    hasher.update(bytemuck::bytes_of(&header));
    hasher.update(&bytes[head_len..end]);
    let header = Header { checksum: hasher.digest(), ..header };
    bytes[..head_len].copy_from_slice(bytemuck::bytes_of(&header));
}
