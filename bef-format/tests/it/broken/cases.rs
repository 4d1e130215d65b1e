//! The list of broken files: a name, and the edit of a sample.
//!
//! Names begin with the section, or with `header` and `directory`. Checksums are corrected after the edits,
//! except in the cases called `checksum_*`.

use std::mem::offset_of;

use bef_format::layout::{
    AttrKind, AttrRec, FunctionLocationRec, FunctionRec, Header, KernelRec, LocationEndRec, LocationRec,
    NONE, RegisterRec, SECTION_OPTIONAL, SectionRec,
};
use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, SectionId as S, validate};

use super::Case;
use crate::patch::{at, directory_at, put, relaid};
use crate::samples;

/// All cases.
pub(super) fn all() -> Vec<Case> {
    let mut list = List { cases: Vec::new(), empty: samples::empty(), everything: samples::everything() };
    list.headers();
    list.directories();
    list.strings_and_names();
    list.attributes();
    list.attribute_data();
    list.dense_attributes();
    list.trees();
    list.compiled_modules();
    list.functions();
    list.function_tables();
    list.kernels();
    list.kernel_tables();
    list.named_attributes();
    list.registers();
    list.locations();
    list.parallel_sections();
    list.cases
}

struct List {
    cases: Vec<Case>,
    empty: AlignedBytes,
    everything: AlignedBytes,
}

fn word(value: u32) -> [u8; 4] {
    value.to_le_bytes()
}

impl List {
    fn push(&mut self, name: &'static str, base: AlignedBytes, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = base.to_vec();
        edit(&mut bytes);
        if !name.starts_with("checksum_") {
            update_checksums(&mut bytes);
        }
        self.cases.push(Case { name, base, bytes });
    }

    /// Changes `everything`.
    fn edit(&mut self, name: &'static str, edit: impl FnOnce(&mut Vec<u8>)) {
        self.push(name, self.everything.clone(), edit);
    }

    /// Changes a field of the header of the empty file.
    fn header(&mut self, name: &'static str, field: usize, value: &[u8]) {
        self.push(name, self.empty.clone(), |bytes| put(bytes, field, value));
    }

    /// Changes a section's record in the directory of the empty file, or of `everything` if the section is
    /// optional.
    fn directory(&mut self, name: &'static str, section: S, field: usize, value: &[u8]) {
        let base = if section.is_optional() { &self.everything } else { &self.empty };
        self.push(name, base.clone(), |bytes| {
            let at = directory_at(bytes, section) + field;
            put(bytes, at, value);
        });
    }

    /// Changes a field of an entry of a section of `everything`.
    fn entry(&mut self, name: &'static str, section: S, index: usize, field: usize, value: &[u8]) {
        let at = at(&self.everything, section, index) + field;
        self.edit(name, |bytes| put(bytes, at, value));
    }

    /// The index of the first attribute of a kind in `everything`.
    fn attr(&self, kind: AttrKind) -> usize {
        let n = validate(&self.everything).expect("valid").n_attrs() as usize;
        (0..n).find(|&i| self.attr_rec(i).kind == kind as u8).expect("everything has all kinds")
    }

    fn attr_rec(&self, i: usize) -> AttrRec {
        let start = at(&self.everything, S::Attributes, i);
        bytemuck::pod_read_unaligned(&self.everything[start..start + size_of::<AttrRec>()])
    }

    fn headers(&mut self) {
        self.header("header_magic", 0, &[0]);
        self.push("header_nothing", self.empty.clone(), Vec::clear);
        self.push("header_cut", self.empty.clone(), |bytes| bytes.truncate(3));
        self.header("header_classic_bef", 2, &[0]);
        self.header("header_major_newer", 2, &[2, 7]);
        self.header("header_n_sections_limit", offset_of!(Header, n_sections), &word(2000));
        self.header("header_n_sections_beyond_file", offset_of!(Header, n_sections), &word(1000));
        self.header("header_features", offset_of!(Header, features), &[4]);
        self.header("header_file_len_less", offset_of!(Header, file_len), &64u64.to_le_bytes());
        self.header("header_file_len_more", offset_of!(Header, file_len), &u64::MAX.to_le_bytes());
        self.push("header_trailing_bytes", self.empty.clone(), |bytes| bytes.extend([0; 8]));
        self.push("header_trailing_bytes_counted", self.empty.clone(), |bytes| {
            bytes.extend([0; 8]);
            let len = bytes.len() as u64;
            put(bytes, offset_of!(Header, file_len), &len.to_le_bytes());
        });
        self.header("header_producer", offset_of!(Header, producer), &word(9999));
        self.header("header_module_name", offset_of!(Header, module_name), &word(9999));
        self.header("header_module_attrs", offset_of!(Header, module_attrs), &word(9999));
        self.edit("header_module_attrs_kind", |bytes| {
            put(bytes, offset_of!(Header, module_attrs), &word(0));
        });
        self.header("header_reserved", offset_of!(Header, reserved), &[1]);
        self.header("checksum_header", offset_of!(Header, producer), &[1]);
        let strings = at(&self.everything, S::StringBytes, 5);
        self.edit("checksum_section", |bytes| bytes[strings] ^= 1);
    }

    fn directories(&mut self) {
        let (id, flags) = (offset_of!(SectionRec, id), offset_of!(SectionRec, flags));
        let (offset, len) = (offset_of!(SectionRec, offset), offset_of!(SectionRec, len));
        self.directory("directory_order", S::Types, id, &word(1));
        self.directory("directory_unknown_section", S::Results, id, &word(20));
        self.directory("directory_flag_missing", S::KernelLocations, flags, &word(0));
        self.directory("directory_flag_surplus", S::Types, flags, &word(1));
        self.directory("directory_flag_unknown", S::Types, flags, &word(2));
        self.directory("directory_overlap", S::Types, offset, &[0, 0]);
        self.directory("directory_alignment", S::Payload, offset, &u64::MAX.to_le_bytes());
        self.directory("directory_offset_beyond_file", S::Payload, offset, &(u64::MAX - 63).to_le_bytes());
        self.directory("directory_gap", S::Payload, offset, &8192u64.to_le_bytes());
        self.directory("directory_len_beyond_file", S::Payload, len, &u64::MAX.to_le_bytes());
        self.edit("directory_partial_record", |bytes| {
            let at = directory_at(bytes, S::Kernels) + len;
            bytes[at] += 1;
        });
        self.push("directory_missing_section", self.empty.clone(), |bytes| {
            let at = directory_at(bytes, S::Results);
            put(bytes, at + id, &word(20));
            put(bytes, at + flags, &word(SECTION_OPTIONAL));
        });
        // The last string ends before a multiple of 8, and then padding follows.
        let types = at(&self.everything, S::Types, 0);
        self.edit("directory_padding", |bytes| bytes[types - 1] = 1);
    }

    fn strings_and_names(&mut self) {
        self.entry("strings_first_offset", S::StringIndex, 0, 0, &word(1));
        self.entry("strings_empty_string", S::StringIndex, 1, 0, &word(1));
        self.entry("strings_offsets_descend", S::StringIndex, 3, 0, &word(0));
        self.entry("strings_offset_beyond_bytes", S::StringIndex, 3, 0, &word(99999));
        self.entry("strings_utf8", S::StringBytes, 0, 0, &[0xFF]);
        let text = self.everything.windows(2).position(|pair| pair == "ü".as_bytes()).expect("it has one");
        let inside = (text + 1 - at(&self.everything, S::StringBytes, 0)) as u32;
        let n = validate(&self.everything).expect("valid").n_strings() as usize;
        let index = at(&self.everything, S::StringIndex, 0);
        let first = (0..=n).find(|i| {
            let at = index + 4 * i;
            u32::from_le_bytes(self.everything[at..at + 4].try_into().expect("four")) > inside
        });
        self.entry("strings_cut_character", S::StringIndex, first.expect("in a string"), 0, &word(inside));
        self.entry("strings_order", S::StringBytes, 0, 0, b"zzz");
        let last = at(&self.everything, S::StringIndex, n);
        self.edit("strings_last_offset", |bytes| bytes[last] -= 1);
        self.entry("types_string", S::Types, 0, 0, &word(9999));
        self.entry("types_empty", S::Types, 0, 0, &word(0));
        self.edit("types_duplicate", |bytes| {
            let first = at(bytes, S::Types, 0);
            bytes.copy_within(first..first + 4, first + 4);
        });
        self.entry("kernel_names_string", S::KernelNames, 0, 0, &word(9999));
        self.entry("kernel_names_empty", S::KernelNames, 0, 0, &word(0));
        self.entry("devices_string", S::Devices, 1, 0, &word(9999));
        self.entry("devices_first", S::Devices, 0, 0, &word(1));
    }

    fn attributes(&mut self) {
        let kind = offset_of!(AttrRec, kind);
        let (dtype, depth, flags) =
            (offset_of!(AttrRec, dtype), offset_of!(AttrRec, depth), offset_of!(AttrRec, flags));
        let (ty, value) = (offset_of!(AttrRec, ty), offset_of!(AttrRec, value));
        let mut bad = |name, which: AttrKind, field, bytes: &[u8]| {
            self.entry(name, S::Attributes, self.attr(which), field, bytes);
        };
        bad("attributes_kind", AttrKind::Unit, kind, &[15]);
        bad("attributes_dtype", AttrKind::Unit, dtype, &[99]);
        bad("attributes_dtype_surplus", AttrKind::Unit, dtype, &[8]);
        bad("attributes_flags", AttrKind::Unit, flags, &[1]);
        bad("attributes_type_surplus", AttrKind::Unit, ty, &word(0));
        bad("attributes_type", AttrKind::Int, ty, &word(9999));
        bad("attributes_unit_value", AttrKind::Unit, value, &[1]);
        bad("attributes_leaf_depth", AttrKind::Unit, depth, &[1]);
        bad("attributes_depth", AttrKind::Array, depth, &[9]);
        bad("attributes_bool_value", AttrKind::Bool, value, &[2]);
        bad("attributes_int_range", AttrKind::Int, value, &[0, 0, 0, 0, 0]);
        bad("attributes_float_dtype", AttrKind::Float, dtype, &[8]);
        bad("attributes_float_width", AttrKind::Float, value, &[0, 0, 0, 0, 1]);
        bad("attributes_string", AttrKind::String, value, &word(9999));
        bad("attributes_string_wide", AttrKind::String, value, &u64::MAX.to_le_bytes());
        bad("attributes_type_value", AttrKind::Type, value, &word(9999));
        bad("attributes_symbol", AttrKind::Symbol, value, &word(9999));
        bad("attributes_text", AttrKind::Text, value, &word(9999));
        bad("attributes_unranked_value", AttrKind::Shape, flags, &[4]);
        bad("attributes_data_offset", AttrKind::Scalars, value, &word(8));
        bad("attributes_data_beyond_section", AttrKind::Scalars, value, &[0, 0, 0, 0, 0xFF, 0xFF]);
        bad("attributes_scalars_partial", AttrKind::Scalars, value, &[0, 0, 0, 0, 7]);
        bad("attributes_scalars_dtype", AttrKind::Scalars, dtype, &[16]);
        bad("attributes_array_partial", AttrKind::Array, value + 4, &[63]);
    }

    fn attribute_data(&mut self) {
        let data = |list: &List, kind| list.attr_rec(list.attr(kind)).value as u32 as usize;
        let (array, dict) = (data(self, AttrKind::Array), data(self, AttrKind::Dict));
        self.entry("attr_data_child", S::AttrData, array, 0, &word(9999));
        let itself = self.attr(AttrKind::Array) as u32;
        self.entry("attr_data_cycle", S::AttrData, array, 0, &word(itself));
        self.entry("attr_data_dict_key", S::AttrData, dict, 0, &word(9999));
        self.entry("attr_data_dict_order", S::AttrData, dict, 8, &word(0));
        self.entry("attr_data_dict_value", S::AttrData, dict, 4, &word(9999));
        let scalars = data(self, AttrKind::Scalars);
        // Twelve bytes of scalars, then padding.
        self.entry("attr_data_padding", S::AttrData, scalars + 12, 0, &[1]);
        let n = validate(&self.everything).expect("valid").n_attrs() as usize;
        let booleans = (0..n).map(|i| self.attr_rec(i)).find(|rec| (rec.kind, rec.dtype) == (8, 5));
        let booleans = booleans.expect("it has an array of booleans").value as u32 as usize;
        self.entry("attr_data_boolean", S::AttrData, booleans, 0, &[2]);
        self.entry(
            "attr_data_dimension",
            S::AttrData,
            data(self, AttrKind::Shape),
            0,
            &(-2i64).to_le_bytes(),
        );
        let shape = self.attr(AttrKind::Shape);
        self.edit("attr_data_shape_rank", |bytes| {
            let rec = at(bytes, S::Attributes, shape) + offset_of!(AttrRec, value) + 4;
            put(bytes, rec, &word(8 * 256));
            relaid(bytes, |id, contents| {
                if id == S::AttrData as u32 {
                    contents.resize(contents.len() + 8 * 256, 0);
                }
                true
            });
        });
        self.edit("attr_data_surplus", |bytes| {
            relaid(bytes, |id, contents| {
                if id == S::AttrData as u32 {
                    contents.extend([0; 8]);
                }
                true
            });
        });
    }

    fn dense_attributes(&mut self) {
        let dense = self.attr(AttrKind::Dense);
        let data = self.attr_rec(dense).value as u32 as usize;
        self.entry("dense_cut", S::Attributes, dense, offset_of!(AttrRec, value) + 4, &word(16));
        self.entry("dense_length", S::AttrData, data, 0, &word(3));
        self.entry("dense_rank", S::AttrData, data, 0, &word(256));
        self.entry("dense_reserved", S::AttrData, data, 4, &word(1));
        self.entry("dense_alignment", S::AttrData, data, 8, &[8]);
        self.entry("dense_beyond_payload", S::AttrData, data, 8, &word(1 << 20));
        self.entry("dense_offset_overflow", S::AttrData, data, 8, &u64::MAX.to_le_bytes());
        self.entry("dense_bytes", S::AttrData, data, 16, &[23]);
        self.entry("dense_dimension", S::AttrData, data, 24, &(-1i64).to_le_bytes());
        self.entry("dense_size_overflow", S::AttrData, data, 24, &i64::MAX.to_le_bytes());
        self.entry("dense_dtype", S::Attributes, dense, offset_of!(AttrRec, dtype), &[16]);
    }

    fn compiled_modules(&mut self) {
        let base = samples::compiled();
        // In order: two modules, a unit, an array; twelve bytes of data and four of padding each.
        let mut bad = |name, section, (i, field): (usize, usize), value: &[u8]| {
            self.push(name, base.clone(), |bytes| {
                let at = at(bytes, section, i) + field;
                put(bytes, at, value);
            });
        };
        bad("compiled_module_name", S::AttrData, (0, 0), &word(9999));
        bad("compiled_module_without_name", S::AttrData, (0, 0), &word(0));
        bad("compiled_module_text", S::AttrData, (4, 0), &word(9999));
        bad("compiled_module_place", S::AttrData, (8, 0), &word(2));
        bad("compilation_unit_module", S::AttrData, (32, 0), &word(2));
        bad("compilation_unit_string", S::AttrData, (36, 0), &word(9999));
        let (value, depth) = (offset_of!(AttrRec, value), offset_of!(AttrRec, depth));
        bad("compiled_module_length", S::Attributes, (0, value + 4), &word(8));
        bad("compiled_module_none", S::Attributes, (0, value + 4), &word(0));
        bad("compiled_module_depth", S::Attributes, (0, depth), &[1]);
        bad("compilation_unit_length", S::Attributes, (2, value + 4), &word(11));
        bad("compilation_unit_alone", S::Attributes, (2, value + 4), &word(4));
        bad("compilation_unit_empty", S::Attributes, (2, value + 4), &word(0));
        self.push("header_compiled_untold", base, |bytes| put(bytes, offset_of!(Header, features), &[0]));
        self.push("compilation_unit_kind", samples::unit_of_second(), |bytes| {
            let module = at(bytes, S::AttrData, 0) + 16;
            put(bytes, module, &word(0));
        });
        self.header("header_compiled_unused", offset_of!(Header, features), &[1]);
    }

    fn trees(&mut self) {
        self.push("trees_attribute_nodes", samples::nested_arrays(64), |bytes| {
            // Each array's data is one id and four bytes of padding: make the padding a second child.
            let (start, data) = (at(bytes, S::Attributes, 0), at(bytes, S::AttrData, 0));
            for i in 1..64 {
                put(bytes, start + i * size_of::<AttrRec>() + offset_of!(AttrRec, value) + 4, &word(8));
                put(bytes, data + (i - 1) * 8 + 4, &word(i as u32 - 1));
            }
        });
        // One array more than is allowed.
        self.push("trees_attribute_depth", samples::nested_arrays(64), |bytes| {
            relaid(bytes, |id, contents| {
                if id == S::Attributes as u32 {
                    let mut last: AttrRec = bytemuck::pod_read_unaligned(&contents[contents.len() - 16..]);
                    last.depth += 1;
                    last.value += 8;
                    contents.extend_from_slice(bytemuck::bytes_of(&last));
                } else if id == S::AttrData as u32 {
                    contents.resize(contents.len().next_multiple_of(8), 0);
                    contents.extend(word(64));
                }
                true
            });
        });
        self.push("trees_location_depth", samples::named_locations(65), |bytes| {
            let start = at(bytes, S::Locations, 0);
            for i in 1..=65 {
                put(
                    bytes,
                    start + i * size_of::<LocationRec>() + offset_of!(LocationRec, b),
                    &word(i as u32 - 1),
                );
            }
        });
        self.push("trees_location_nodes", samples::named_locations(65), |bytes| {
            let start = at(bytes, S::Locations, 0);
            // Call sites of the location before, twice.
            for i in 1..=40 {
                let rec = start + i * size_of::<LocationRec>();
                put(bytes, rec, &word(3));
                put(bytes, rec + offset_of!(LocationRec, b), &word(i as u32 - 1));
                put(bytes, rec + offset_of!(LocationRec, c), &word(i as u32 - 1));
            }
        });
    }

    fn functions(&mut self) {
        let mut bad = |name, i, field, value: &[u8]| self.entry(name, S::Functions, i, field, value);
        bad("functions_name", 0, offset_of!(FunctionRec, name), &word(9999));
        bad("functions_kind", 0, offset_of!(FunctionRec, kind), &[3]);
        bad("functions_native_kernels", 0, offset_of!(FunctionRec, kind), &[1]);
        bad("functions_native_name", 2, offset_of!(FunctionRec, name), &word(0));
        bad("functions_reserved", 0, offset_of!(FunctionRec, reserved), &[1]);
        bad("functions_attrs", 0, offset_of!(FunctionRec, attrs), &word(9999));
        bad("functions_attrs_kind", 0, offset_of!(FunctionRec, attrs), &word(0));
        bad("functions_n_args", 0, offset_of!(FunctionRec, n_args), &word(u32::MAX));
        bad("functions_next_type", 0, offset_of!(FunctionRec, n_args), &word(3));
        bad("functions_next_kernel", 0, offset_of!(FunctionRec, n_kernels), &word(9));
        bad("functions_next_register", 0, offset_of!(FunctionRec, n_registers), &word(9));
        bad("functions_next_result", 1, offset_of!(FunctionRec, first_result), &word(4));
        bad("functions_first_type", 0, offset_of!(FunctionRec, first_type), &word(1));
        bad("functions_first_kernel", 0, offset_of!(FunctionRec, first_kernel), &word(1));
        bad("functions_first_register", 0, offset_of!(FunctionRec, first_register), &word(1));
        bad("functions_first_result", 0, offset_of!(FunctionRec, first_result), &word(1));
        let n = 4;
        bad("functions_sentinel", n, offset_of!(FunctionRec, name), &word(1));
        bad("functions_end_of_types", n, offset_of!(FunctionRec, first_type), &word(99));
        bad("functions_end_of_kernels", n, offset_of!(FunctionRec, first_kernel), &word(99));
        bad("functions_end_of_registers", n, offset_of!(FunctionRec, first_register), &word(99));
        bad("functions_end_of_results", n, offset_of!(FunctionRec, first_result), &word(99));
        // The body of a region has a register and no kernels.
        self.edit("functions_native_registers", |bytes| {
            let body = at(bytes, S::Functions, 1);
            put(bytes, body, &word(2));
            put(bytes, body + offset_of!(FunctionRec, kind), &[1]);
        });
        self.edit("functions_duplicate_name", |bytes| {
            let (first, third) = (at(bytes, S::Functions, 0), at(bytes, S::Functions, 2));
            bytes.copy_within(first..first + 4, third);
        });
        // One function claims more than there is, and the next one follows it.
        self.edit("functions_claim", |bytes| {
            let first = at(bytes, S::Functions, 0);
            let n_kernels = 1u32 << 31;
            put(bytes, first + offset_of!(FunctionRec, n_kernels), &word(n_kernels));
            put(
                bytes,
                first + size_of::<FunctionRec>() + offset_of!(FunctionRec, first_kernel),
                &word(n_kernels),
            );
        });
        self.push("functions_no_sentinel", self.empty.clone(), |bytes| remove_last(bytes, S::Functions));
    }

    fn function_tables(&mut self) {
        self.entry("function_types_type", S::FunctionTypes, 0, 0, &word(9999));
        self.entry("function_types_argument", S::FunctionTypes, 0, 0, &word(1));
        self.entry("function_types_result", S::FunctionTypes, 2, 0, &word(1));
        self.entry("io_names_string", S::IoNames, 0, 0, &word(9999));
        self.edit("io_names_length", |bytes| remove_last(bytes, S::IoNames));
    }

    fn kernels(&mut self) {
        let mut bad = |name, k, field, value: &[u8]| self.entry(name, S::Kernels, k, field, value);
        bad("kernels_code", 0, offset_of!(KernelRec, code), &word(99));
        bad("kernels_device", 0, offset_of!(KernelRec, device), &[9]);
        bad("kernels_stream", 0, offset_of!(KernelRec, stream), &[4]);
        bad("kernels_flags", 0, offset_of!(KernelRec, flags), &[8]);
        bad("kernels_flags_without_feature", 0, offset_of!(KernelRec, flags), &[4]);
        bad("kernels_first_operand", 0, offset_of!(KernelRec, first_operand), &[1]);
        bad("kernels_first_aux", 0, offset_of!(KernelRec, first_aux), &[1]);
        bad("kernels_operands_order", 1, offset_of!(KernelRec, first_operand), &word(99));
        bad("kernels_aux_order", 2, offset_of!(KernelRec, first_aux), &word(0));
        bad("kernels_first_result", 0, offset_of!(KernelRec, first_result), &word(3));
        bad("kernels_n_results", 1, offset_of!(KernelRec, n_results), &[9]);
        bad("kernels_results_overlap", 1, offset_of!(KernelRec, n_results), &[1]);
        bad("kernels_ready_count", 0, offset_of!(KernelRec, ready_count), &[1]);
        bad("kernels_ready_count_modes", 1, offset_of!(KernelRec, ready_count), &[4]);
        bad("kernels_ready_count_any", 2, offset_of!(KernelRec, ready_count), &[0]);
        bad("kernels_aux_too_short", 0, offset_of!(KernelRec, n_functions), &[3]);
        bad("kernels_sentinel", 4, offset_of!(KernelRec, code), &word(1));
        bad("kernels_end_of_operands", 4, offset_of!(KernelRec, first_operand), &word(99));
        bad("kernels_end_of_aux", 4, offset_of!(KernelRec, first_aux), &word(99));
        self.push("kernels_no_sentinel", self.empty.clone(), |bytes| remove_last(bytes, S::Kernels));
        self.push("kernels_register_unwritten", samples::adds(3, false), |bytes| {
            let at = at(bytes, S::Kernels, 2) + offset_of!(KernelRec, n_results);
            put(bytes, at, &[0]);
        });
    }

    fn kernel_tables(&mut self) {
        self.entry("operands_order", S::Operands, 0, 0, &word(3));
        self.entry("operands_register", S::Operands, 0, 0, &word(9999));
        self.entry("operands_users", S::Operands, 0, 0, &word(2));
        self.entry("aux_attribute", S::Aux, 0, 0, &word(9999));
        self.entry("aux_function", S::Aux, 3, 0, &word(9999));
        self.entry("aux_operand_mode", S::Aux, 6, 0, &[4]);
        self.entry("aux_operand_reserved", S::Aux, 6, 0, &[0, 0, 1]);
        self.entry("aux_ready_count", S::Aux, 6, 0, &[1]);
    }

    fn named_attributes(&mut self) {
        let named = samples::named();
        let mut bad = |name, section, index, field, value: &[u8]| {
            let at = at(&named, section, index) + field;
            self.push(name, named.clone(), |bytes| put(bytes, at, value));
        };
        let flags = offset_of!(KernelRec, flags);
        bad("kernels_named_odd", S::Kernels, 0, offset_of!(KernelRec, n_functions), &[0]);
        bad("kernels_named_none", S::Kernels, 2, flags, &[4]);
        // Aux words of the first kernel: two attributes, their names, a function and two operand words.
        bad("aux_name_string", S::Aux, 3, 0, &word(9999));
        bad("aux_name_order", S::Aux, 3, 0, &word(1));
        bad("aux_name_empty", S::Aux, 2, 0, &word(0));
        bad("aux_names_named_attribute", S::AuxNames, 0, 0, &word(1));
        bad("aux_names_name", S::AuxNames, 3, 0, &word(1));
        self.push("header_named_attributes", samples::adds(3, false), |bytes| {
            put(bytes, offset_of!(Header, features), &[2]);
        });
    }

    fn registers(&mut self) {
        let first_user = offset_of!(RegisterRec, first_user);
        self.entry("registers_type", S::Registers, 0, offset_of!(RegisterRec, ty), &word(99));
        self.entry("registers_first_user", S::Registers, 0, first_user, &word(1));
        self.entry("registers_users_order", S::Registers, 2, first_user, &word(99));
        self.entry("registers_users", S::Registers, 1, first_user, &word(1));
        self.entry("registers_sentinel", S::Registers, 6, offset_of!(RegisterRec, ty), &word(1));
        self.entry("registers_end_of_users", S::Registers, 6, first_user, &word(99));
        self.push("registers_no_sentinel", self.empty.clone(), |bytes| remove_last(bytes, S::Registers));
        // Register 0 is returned and read by kernel 1: return first, then newest first.
        self.entry("users_return", S::Users, 0, 0, &word(0));
        self.entry("users_kernel", S::Users, 1, 0, &word(2));
        self.edit("users_order", |bytes| {
            let first = at(bytes, S::Users, 0);
            put(bytes, first, &word(1));
            put(bytes, first + 4, &word(NONE));
        });
        // The first list has one entry more than there are uses.
        self.edit("users_surplus", |bytes| {
            relaid(bytes, |id, contents| {
                if id == S::Users as u32 {
                    contents.splice(0..0, word(NONE));
                } else if id == S::Registers as u32 {
                    for rec in bytemuck::cast_slice_mut::<u8, RegisterRec>(contents).iter_mut().skip(1) {
                        rec.first_user += 1;
                    }
                }
                true
            });
        });
        self.entry("results_register", S::Results, 0, 0, &word(99));
        self.entry("results_users", S::Results, 0, 0, &word(2));
    }

    fn locations(&mut self) {
        let kind_a = offset_of!(LocationRec, kind_a);
        let (b, c) = (offset_of!(LocationRec, b), offset_of!(LocationRec, c));
        // In order: file, unknown, name, bare name, call site, fused, text, range.
        let mut bad = |name, i, field, value: &[u8]| self.entry(name, S::Locations, i, field, value);
        bad("locations_kind", 1, kind_a, &word(6));
        bad("locations_unknown_a", 1, kind_a, &word(1 << 4));
        bad("locations_unknown_b", 1, b, &word(1));
        bad("locations_unknown_c", 1, c, &word(1));
        bad("locations_file", 0, kind_a, &word(1 | 99999 << 4));
        bad("locations_name", 2, kind_a, &word(2 | 99999 << 4));
        bad("locations_name_child", 2, b, &word(2));
        bad("locations_name_c", 2, c, &word(1));
        bad("locations_call_site_a", 4, kind_a, &word(3 | 1 << 4));
        bad("locations_callee", 4, b, &word(4));
        bad("locations_caller", 4, c, &word(NONE));
        bad("locations_fused_metadata", 5, kind_a, &word(4 | 99999 << 4));
        bad("locations_fused_first", 5, b, &word(1));
        bad("locations_fused_n", 5, c, &word(4));
        bad("locations_text", 6, kind_a, &word(5 | 99999 << 4));
        bad("locations_text_b", 6, b, &word(1));
        bad("locations_text_c", 6, c, &word(1));
        bad("location_extra_length", 5, c, &word(2));
        self.entry("location_extra_child", S::LocationExtra, 0, 0, &word(5));
        let location = offset_of!(LocationEndRec, location);
        self.entry("location_ends_location", S::LocationEnds, 0, location, &word(99));
        self.entry("location_ends_kind", S::LocationEnds, 0, location, &word(6));
        self.entry("location_ends_order", S::LocationEnds, 1, location, &word(7));
    }

    fn parallel_sections(&mut self) {
        self.entry("kernel_locations_location", S::KernelLocations, 0, 0, &word(99));
        self.edit("kernel_locations_length", |bytes| remove_last(bytes, S::KernelLocations));
        let ret = offset_of!(FunctionLocationRec, ret);
        self.entry("function_locations_location", S::FunctionLocations, 0, ret, &word(99));
        self.entry("function_locations_module", S::FunctionLocations, 4, ret, &word(0));
        self.edit("function_locations_length", |bytes| remove_last(bytes, S::FunctionLocations));
        self.entry("io_locations_location", S::IoLocations, 0, 0, &word(99));
        self.edit("io_locations_length", |bytes| remove_last(bytes, S::IoLocations));
        self.entry("aux_names_string", S::AuxNames, 0, 0, &word(9999));
        self.entry("aux_names_operand_word", S::AuxNames, 6, 0, &word(1));
        self.edit("aux_names_length", |bytes| remove_last(bytes, S::AuxNames));
        self.entry("ssa_names_offset", S::SsaNames, 1, 0, &word(99));
        self.edit("ssa_names_length", |bytes| remove_last(bytes, S::SsaNames));
        self.entry("ssa_names_utf8", S::SsaNameBytes, 0, 0, &[0xFF]);
        self.edit("ssa_names_without_bytes", |bytes| remove(bytes, S::SsaNameBytes));
        self.edit("ssa_name_bytes_alone", |bytes| remove(bytes, S::SsaNames));
    }
}

/// Removes a section.
fn remove(bytes: &mut Vec<u8>, section: S) {
    relaid(bytes, |id, _| id != section as u32);
}

/// Makes a section shorter by its last entry.
fn remove_last(bytes: &mut Vec<u8>, section: S) {
    relaid(bytes, |id, contents| {
        if id == section as u32 {
            contents.truncate(contents.len() - section.record_size());
        }
        true
    });
}
