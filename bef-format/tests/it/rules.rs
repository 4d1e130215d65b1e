//! Each rule of `validate`, broken once.

use std::mem::offset_of;

use bef_format::layout::{
    AttrKind, AttrRec, FunctionLocationRec, FunctionRec, Header, KernelRec, LocationRec, NONE, RegisterRec,
    SECTION_OPTIONAL, SectionRec,
};
use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, SectionId as S, validate, validate::verify_payload};

use crate::patch::{at, changed, directory_at, put};
use crate::samples;

/// The message of the refusal of `everything` after `change`.
fn refusal(change: impl FnOnce(&mut AlignedBytes)) -> String {
    let bytes = changed(&samples::everything(), change);
    match validate(&bytes) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted"),
    }
}

/// Changes a field of a section's record, and expects a refusal whose message has all of these parts.
#[track_caller]
fn check(section: S, index: usize, field: usize, value: &[u8], parts: &[&str]) {
    let message = refusal(|bytes| {
        let place = at(bytes, section, index) + field;
        put(bytes, place, value);
    });
    expect(&message, parts);
}

#[track_caller]
fn expect(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{message}` lacks `{part}`");
    }
}

/// Changes the header.
#[track_caller]
fn check_header(field: usize, value: &[u8], parts: &[&str]) {
    expect(&refusal(|bytes| put(bytes, field, value)), parts);
}

/// Changes a section's record in the directory.
#[track_caller]
fn check_directory(section: S, field: usize, value: &[u8], parts: &[&str]) {
    let message = refusal(|bytes| {
        let place = directory_at(bytes, section) + field;
        put(bytes, place, value);
    });
    expect(&message, parts);
}

fn word(value: u32) -> [u8; 4] {
    value.to_le_bytes()
}

/// The index of the first attribute of a kind.
fn attr(kind: AttrKind) -> usize {
    let bytes = samples::everything();
    let image = validate(&bytes).expect("valid");
    let start = at(&bytes, S::Attributes, 0);
    let kind_of = |i: usize| bytes[start + i * size_of::<AttrRec>()];
    (0..image.n_attrs() as usize).find(|&i| kind_of(i) == kind as u8).expect("everything has all kinds")
}

#[test]
fn head() {
    expect(&refusal(|bytes| bytes[0] = 0), &["not a BEF file", "0B EF"]);
    let empty = AlignedBytes::copy_of(&[]);
    expect(&validate(&empty).expect_err("empty").to_string(), &["not a BEF file"]);
    let short = AlignedBytes::copy_of(&[0x0B, 0xEF, 1]);
    expect(&validate(&short).expect_err("short").to_string(), &["expected 64 bytes, found 3"]);
    check_header(2, &[0], &["classic BEF"]);
    check_header(2, &[2, 7], &["version 2.7", "newer than 1.x"]);
    check_header(offset_of!(Header, n_sections), &word(2000), &["number of sections is 2000"]);
    check_header(offset_of!(Header, n_sections), &word(1000), &["truncated"]);
    check_header(offset_of!(Header, n_sections), &word(3), &[]);
    check_header(offset_of!(Header, features), &[4], &["unknown features 0x4"]);
    check_header(offset_of!(Header, file_len), &[0], &["to end after"]);
    check_header(offset_of!(Header, file_len), &u64::MAX.to_le_bytes(), &["truncated"]);
    check_header(offset_of!(Header, producer), &word(9999), &["string 9999 is out of range"]);
    check_header(offset_of!(Header, module_name), &word(9999), &["string 9999 is out of range"]);
    check_header(offset_of!(Header, module_attrs), &word(9999), &["attribute 9999 is out of range"]);
    check_header(offset_of!(Header, module_attrs), &word(0), &["a dictionary"]);
    check_header(offset_of!(Header, reserved), &[1], &["reserved bytes"]);
    let newer = changed(&samples::everything(), |bytes| bytes[3] = 9);
    assert_eq!(validate(&newer).expect("a newer minor version loads").version(), (1, 9));
}

#[test]
fn alignment() {
    let bytes = samples::everything();
    let mut moved = AlignedBytes::zeroed(bytes.len() + 8);
    moved[4..4 + bytes.len()].copy_from_slice(&bytes);
    let error = validate(&moved[4..4 + bytes.len()]).expect_err("unaligned").to_string();
    expect(&error, &["a multiple of 8"]);
    moved[8..].copy_from_slice(&bytes);
    let image = validate(&moved[8..]).expect("8 is enough for tables");
    assert!(!image.is_payload_aligned(), "and too little for tensors");
    let tables = image.tables();
    assert!(tables.image(&bytes[..bytes.len() - 8]).is_err());
    assert!(tables.image(&samples::adds(3, true)).is_err());
}

#[test]
fn checksums() {
    let mut bytes = samples::everything();
    let place = at(&bytes, S::StringBytes, 5);
    bytes[place] ^= 1;
    expect(&validate(&bytes).expect_err("changed").to_string(), &["StringBytes", "checksum mismatch"]);
    let mut bytes = samples::everything();
    bytes[offset_of!(Header, producer)] ^= 1;
    expect(&validate(&bytes).expect_err("changed").to_string(), &["checksum mismatch"]);
    let mut bytes = samples::everything();
    verify_payload(&validate(&bytes).expect("valid"), &bytes).expect("unchanged");
    let place = at(&bytes, S::Payload, 3);
    bytes[place] ^= 1;
    let image = validate(&bytes).expect("the payload is not looked at");
    expect(
        &verify_payload(&image, &bytes).expect_err("changed").to_string(),
        &["Payload", "checksum mismatch"],
    );
}

#[test]
fn directory() {
    let (id, flags) = (offset_of!(SectionRec, id), offset_of!(SectionRec, flags));
    let (offset, len) = (offset_of!(SectionRec, offset), offset_of!(SectionRec, len));
    check_directory(S::Types, id, &word(1), &["a section id above 2, found 1"]);
    check_directory(S::Results, id, &word(20), &["unknown section 20"]);
    check_directory(S::KernelLocations, flags, &word(0), &["optional flag of section KernelLocations"]);
    check_directory(S::Types, flags, &word(1), &["optional flag of section Types"]);
    check_directory(S::Types, flags, &word(2), &["unknown flags"]);
    check_directory(S::Types, offset, &[0, 0], &["overlaps"]);
    check_directory(S::Payload, offset, &u64::MAX.to_le_bytes(), &["expected the first multiple of 64"]);
    check_directory(
        S::Payload,
        offset,
        &(u64::MAX - 63).to_le_bytes(),
        &["expected the first multiple of 64"],
    );
    check_directory(S::Payload, len, &u64::MAX.to_le_bytes(), &["Payload", "truncated"]);
    check_directory(S::Kernels, len, &word(37), &["a multiple of 36, the size of KernelRec"]);
    let message = refusal(|bytes| {
        let place = directory_at(bytes, S::Results);
        put(bytes, place + id, &word(20));
        put(bytes, place + flags, &word(SECTION_OPTIONAL));
    });
    expect(&message, &["section Results", "expected this section"]);
    // The first string ends before a multiple of 8, and then padding follows.
    let message = refusal(|bytes| {
        let end = at(bytes, S::Types, 0) - 1;
        bytes[end] = 1;
    });
    expect(&message, &["padding between sections"]);
}

#[test]
fn unknown_optional_sections_are_skipped() {
    // Make the names of SSA values, the last optional sections, unknown ones.
    let bytes = changed(&samples::everything(), |bytes| {
        for (section, id) in [(S::SsaNames, 50), (S::SsaNameBytes, 51)] {
            let place = directory_at(bytes, section);
            put(bytes, place, &word(id));
        }
    });
    let image = validate(&bytes).expect("unknown optional sections are skipped");
    assert!(!image.has_ssa_names());
    assert_eq!(image.function(0).ssa_name(0), "");
}

#[test]
fn strings() {
    check(S::StringIndex, 0, 0, &word(1), &["first offset 0, found 1"]);
    check(S::StringIndex, 1, 0, &word(1), &["string 0"]);
    check(S::StringIndex, 3, 0, &word(0), &["ascending"]);
    check(S::StringIndex, 3, 0, &word(99999), &["out of range"]);
    check(S::StringBytes, 0, 0, &[0xFF], &["UTF-8"]);
    check(S::StringBytes, 0, 0, b"zzz", &["strings in ascending order"]);
    let message = refusal(|bytes| {
        let n = validate(bytes).expect("valid").n_strings() as usize;
        let place = at(bytes, S::StringIndex, n);
        bytes[place] -= 1;
    });
    expect(&message, &["last offset"]);
}

#[test]
fn names() {
    check(S::Types, 0, 0, &word(9999), &["Types", "string 9999 is out of range"]);
    check(S::Types, 0, 0, &word(0), &["Types", "not empty"]);
    check(S::KernelNames, 0, 0, &word(0), &["KernelNames", "not empty"]);
    check(S::Devices, 0, 0, &word(1), &["name of device 0"]);
    let message = refusal(|bytes| {
        let place = at(bytes, S::Types, 0);
        bytes.copy_within(place..place + 4, place + 4);
    });
    expect(&message, &["another type"]);
}

#[test]
fn attributes() {
    let kind = offset_of!(AttrRec, kind);
    let (dtype, depth, flags) =
        (offset_of!(AttrRec, dtype), offset_of!(AttrRec, depth), offset_of!(AttrRec, flags));
    let (ty, value) = (offset_of!(AttrRec, ty), offset_of!(AttrRec, value));
    let bad = |which: AttrKind, field, bytes: &[u8], parts: &[&str]| {
        check(S::Attributes, attr(which), field, bytes, parts);
    };
    bad(AttrKind::Unit, kind, &[13], &["13 is not a valid attribute kind"]);
    bad(AttrKind::Unit, dtype, &[99], &["99 is not a valid element type"]);
    bad(AttrKind::Unit, dtype, &[8], &["element type of this kind"]);
    bad(AttrKind::Unit, flags, &[1], &["attribute flags"]);
    bad(AttrKind::Unit, ty, &word(0), &["attribute without one"]);
    bad(AttrKind::Unit, value, &[1], &["inline value"]);
    bad(AttrKind::Unit, depth, &[1], &["depth 0, found 1"]);
    bad(AttrKind::Bool, value, &[2], &["inline value 2"]);
    bad(AttrKind::Int, ty, &word(9999), &["type 9999 is out of range"]);
    bad(AttrKind::Int, value, &[0, 0, 0, 0, 0], &["integer of its type"]);
    bad(AttrKind::Float, dtype, &[8], &["element type of this kind"]);
    bad(AttrKind::Float, value, &[0, 0, 0, 0, 1], &["inline value"]);
    bad(AttrKind::String, value, &word(9999), &["string 9999 is out of range"]);
    bad(AttrKind::String, value, &u64::MAX.to_le_bytes(), &["out of range"]);
    bad(AttrKind::Type, value, &word(9999), &["type 9999 is out of range"]);
    bad(AttrKind::Symbol, value, &word(9999), &["string 9999 is out of range"]);
    bad(AttrKind::Text, value, &word(9999), &["string 9999 is out of range"]);
    bad(AttrKind::Scalars, value, &word(8), &["offset of attribute data"]);
    bad(AttrKind::Scalars, value, &[0, 0, 0, 0, 0xFF, 0xFF], &["truncated"]);
    bad(AttrKind::Scalars, value, &[0, 0, 0, 0, 7], &["size of the last element"]);
    bad(AttrKind::Scalars, dtype, &[16], &["element type of this kind"]);
    bad(AttrKind::Array, depth, &[9], &["depth"]);
    bad(AttrKind::Array, value, &[0, 0, 0, 0], &["offset of attribute data"]);
}

#[test]
fn attribute_data() {
    let bytes = samples::everything();
    let record = |i: usize| {
        let start = at(&bytes, S::Attributes, i);
        bytemuck::pod_read_unaligned::<AttrRec>(&bytes[start..start + size_of::<AttrRec>()])
    };
    let data = |kind: AttrKind| record(attr(kind)).value as u32 as usize;
    check(S::AttrData, data(AttrKind::Array), 0, &word(9999), &["child attribute 9999"]);
    // An array that contains itself.
    check(S::AttrData, data(AttrKind::Array), 0, &word(attr(AttrKind::Array) as u32), &["child attribute"]);
    check(S::AttrData, data(AttrKind::Dict), 0, &word(9999), &["string 9999"]);
    check(S::AttrData, data(AttrKind::Dict), 8, &word(0), &["dictionary keys"]);
    check(S::AttrData, data(AttrKind::Dict), 4, &word(9999), &["child attribute 9999"]);
    check(S::AttrData, data(AttrKind::Shape), 0, &(-2i64).to_le_bytes(), &["dimension"]);
    let dense = data(AttrKind::Dense);
    check(S::AttrData, dense, 0, &word(3), &["length of a dense attribute's data"]);
    check(S::AttrData, dense, 0, &word(256), &["rank is 256"]);
    check(S::AttrData, dense, 4, &word(1), &["reserved field"]);
    check(S::AttrData, dense, 8, &[8], &["multiple of 64"]);
    check(S::AttrData, dense, 8, &u64::MAX.to_le_bytes(), &["truncated"]);
    check(S::AttrData, dense, 16, &[23], &["tensor bytes 24, found 23"]);
    check(S::AttrData, dense, 24, &(-1i64).to_le_bytes(), &["dimension of a dense attribute"]);
    check(S::AttrData, dense, 24, &i64::MAX.to_le_bytes(), &["size of a tensor"]);
    // Twelve bytes of scalars, then padding.
    check(S::AttrData, data(AttrKind::Scalars) + 12, 0, &[1], &["padding of attribute data"]);
}

#[test]
fn functions() {
    let check = |field, value: &[u8], parts: &[&str]| check(S::Functions, 0, field, value, parts);
    check(offset_of!(FunctionRec, name), &word(9999), &["string 9999"]);
    check(offset_of!(FunctionRec, kind), &[3], &["3 is not a valid function kind"]);
    check(offset_of!(FunctionRec, kind), &[1], &["of a native function"]);
    check(offset_of!(FunctionRec, reserved), &[1], &["reserved bytes of the function"]);
    check(offset_of!(FunctionRec, attrs), &word(0), &["a dictionary"]);
    check(offset_of!(FunctionRec, n_args), &word(u32::MAX), &["at least as many registers"]);
    check(offset_of!(FunctionRec, n_args), &word(3), &["next function's first type"]);
    check(offset_of!(FunctionRec, n_results), &word(4), &["next function's"]);
    check(offset_of!(FunctionRec, n_kernels), &word(9), &["next function's first kernel"]);
    check(offset_of!(FunctionRec, n_registers), &word(9), &["next function's first register"]);
    check(offset_of!(FunctionRec, first_type), &word(1), &["first function's entries"]);
    check(offset_of!(FunctionRec, first_kernel), &word(1), &["first function's entries"]);
    let bytes = samples::everything();
    let n = validate(&bytes).expect("valid").n_functions() as usize;
    super::rules::check(S::Functions, n, offset_of!(FunctionRec, name), &word(1), &["sentinel"]);
    super::rules::check(
        S::Functions,
        n,
        offset_of!(FunctionRec, first_kernel),
        &word(99),
        &["end of the functions'"],
    );
    super::rules::check(S::FunctionTypes, 0, 0, &word(9999), &["FunctionTypes", "type 9999"]);
    super::rules::check(S::FunctionTypes, 0, 0, &word(1), &["Registers", "type"]);
    super::rules::check(S::FunctionTypes, 2, 0, &word(1), &["type of the returned register"]);
    super::rules::check(S::IoNames, 0, 0, &word(9999), &["IoNames", "string 9999"]);
    let message = refusal(|bytes| {
        let (first, third) = (at(bytes, S::Functions, 0), at(bytes, S::Functions, 2));
        bytes.copy_within(first..first + 4, third);
    });
    expect(&message, &["another function name"]);
    let message = refusal(|bytes| {
        let third = at(bytes, S::Functions, 2);
        put(bytes, third, &word(0));
    });
    expect(&message, &["name of a native function"]);
}

#[test]
fn kernels() {
    let bad = |k, field, value: &[u8], parts: &[&str]| check(S::Kernels, k, field, value, parts);
    bad(0, offset_of!(KernelRec, code), &word(99), &["kernel name 99"]);
    bad(0, offset_of!(KernelRec, device), &[9], &["device 9"]);
    bad(0, offset_of!(KernelRec, stream), &[3], &["stream 3", "less than 3"]);
    bad(0, offset_of!(KernelRec, flags), &[4], &["kernel flags"]);
    bad(0, offset_of!(KernelRec, first_operand), &[1], &["start of the operands"]);
    bad(1, offset_of!(KernelRec, first_operand), &word(99), &["starts of operands"]);
    bad(2, offset_of!(KernelRec, first_aux), &word(0), &["starts of aux words"]);
    bad(0, offset_of!(KernelRec, first_result), &word(3), &["first result register 2, found 3"]);
    bad(0, offset_of!(KernelRec, n_results), &[0], &["first result register"]);
    bad(1, offset_of!(KernelRec, n_results), &[9], &["number of results is 9"]);
    bad(1, offset_of!(KernelRec, n_results), &[1], &["first result register 4, found 5"]);
    bad(2, offset_of!(KernelRec, n_results), &[1], &["number of results is 1"]);
    bad(0, offset_of!(KernelRec, ready_count), &[1], &["ready count 0, found 1"]);
    bad(1, offset_of!(KernelRec, ready_count), &[4], &["ready count 3, found 4"]);
    bad(2, offset_of!(KernelRec, ready_count), &[0], &["ready count 1, found 0"]);
    bad(2, offset_of!(KernelRec, flags), &[0], &["ready count 3, found 1"]);
    bad(0, offset_of!(KernelRec, n_functions), &[3], &["truncated"]);
    bad(0, offset_of!(KernelRec, n_functions), &[2], &["function"]);
    bad(4, offset_of!(KernelRec, code), &word(1), &["sentinel"]);
    check(S::Operands, 0, 0, &word(2), &["does not match"]);
    check(S::Operands, 0, 0, &word(3), &["register 3 is read before it is written"]);
    check(S::Operands, 0, 0, &word(9999), &["register 9999 is read before"]);
    check(S::Aux, 0, 0, &word(9999), &["attribute 9999"]);
    check(S::Aux, 3, 0, &word(9999), &["function 9999"]);
    check(S::Aux, 6, 0, &[4], &["4 is not a valid operand mode"]);
    check(S::Aux, 6, 0, &[0, 0, 1], &["reserved bytes of an operand word"]);
    check(S::Aux, 6, 0, &[1], &["ready count 2, found 3"]);
}

#[test]
fn registers_that_nobody_writes() {
    let bytes = changed(&samples::adds(3, false), |bytes| {
        let place = at(bytes, S::Kernels, 2) + offset_of!(KernelRec, n_results);
        put(bytes, place, &[0]);
    });
    expect(
        &validate(&bytes).expect_err("one register is never written").to_string(),
        &["number of registers 3, found 4"],
    );
}

#[test]
fn registers_and_users() {
    check(S::Registers, 0, offset_of!(RegisterRec, ty), &word(99), &["type 99"]);
    check(S::Registers, 0, offset_of!(RegisterRec, first_user), &word(1), &["start of the used-by lists"]);
    check(S::Registers, 2, offset_of!(RegisterRec, first_user), &word(99), &["starts of used-by lists"]);
    check(S::Registers, 1, offset_of!(RegisterRec, first_user), &word(1), &["used-by list"]);
    check(S::Registers, 6, offset_of!(RegisterRec, ty), &word(1), &["sentinel"]);
    // Register 0 is returned and read by kernel 1: return first, then newest first.
    check(S::Users, 0, 0, &word(0), &["register 0"]);
    check(S::Users, 1, 0, &word(2), &["register 0"]);
    let message = refusal(|bytes| {
        let place = at(bytes, S::Users, 0);
        put(bytes, place, &word(1));
        put(bytes, place + 4, &word(NONE));
    });
    expect(&message, &["register 0", "does not match"]);
    check(S::Results, 0, 0, &word(99), &["register 99"]);
    check(S::Results, 0, 0, &word(2), &["does not match"]);
}

#[test]
fn locations() {
    let kind_a = offset_of!(LocationRec, kind_a);
    let (b, c) = (offset_of!(LocationRec, b), offset_of!(LocationRec, c));
    // In order: file, unknown, name, bare name, call site, fused, text.
    check(S::Locations, 1, kind_a, &word(6), &["6 is not a valid location kind"]);
    check(S::Locations, 1, b, &word(1), &["unused fields"]);
    check(S::Locations, 0, kind_a, &word(1 | 99999 << 4), &["string 99999"]);
    check(S::Locations, 2, b, &word(2), &["child location 2"]);
    check(S::Locations, 2, c, &word(1), &["unused fields"]);
    check(S::Locations, 4, b, &word(4), &["child location 4"]);
    check(S::Locations, 4, c, &word(NONE), &["child location"]);
    check(S::Locations, 5, kind_a, &word(4 | 99999 << 4), &["attribute 99998"]);
    check(S::Locations, 5, b, &word(1), &["first part"]);
    check(S::Locations, 5, c, &word(4), &["number of parts"]);
    check(S::Locations, 5, c, &word(2), &["LocationExtra", "number of entries"]);
    check(S::LocationExtra, 0, 0, &word(5), &["child location 5"]);
    check(S::KernelLocations, 0, 0, &word(99), &["location 99"]);
    check(S::FunctionLocations, 0, offset_of!(FunctionLocationRec, ret), &word(99), &["location 99"]);
    check(S::FunctionLocations, 4, offset_of!(FunctionLocationRec, ret), &word(0), &["return of the module"]);
    check(S::IoLocations, 0, 0, &word(99), &["location 99"]);
    check(S::AuxNames, 0, 0, &word(9999), &["string 9999"]);
    check(S::AuxNames, 6, 0, &word(1), &["name of an operand word"]);
    check(S::SsaNames, 1, 0, &word(99), &["SsaNames", "out of range"]);
    check(S::SsaNameBytes, 0, 0, &[0xFF], &["SsaNameBytes", "UTF-8"]);
}

/// Optional sections that are parallel to a table must be as long.
#[test]
fn parallel_sections() {
    let message = refusal(|bytes| {
        let place = directory_at(bytes, S::SsaNameBytes);
        put(bytes, place, &word(50));
    });
    expect(&message, &["SsaNameBytes", "expected this section"]);
}

#[test]
fn deep_and_wide_attributes_are_refused() {
    use bef_format::write::Writer;
    let nested = |n: u32, width: usize| {
        let mut w = Writer::new();
        let mut last = w.attr_unit();
        for _ in 0..n {
            last = w.attr_array(&vec![last; width]);
        }
        w.finish()
    };
    let deepest = nested(64, 1).expect("64 levels are allowed");
    validate(&AlignedBytes::copy_of(&deepest)).expect("and accepted");
    nested(65, 1).expect_err("65 are too many");
    nested(21, 2).expect("2^22 nodes are allowed");
    nested(22, 2).expect_err("more are too many");
    // The same bomb, made from the largest allowed one by lengthening each array.
    let bytes = AlignedBytes::copy_of(&nested(64, 1).expect("allowed"));
    let longer = changed(&bytes, |bytes| {
        // Each array's data is one id and four bytes of padding: make the padding a second child.
        let (start, n) = (at(bytes, S::Attributes, 0), 64);
        let data = at(bytes, S::AttrData, 0);
        for i in 1..n {
            let rec = start + i * size_of::<AttrRec>();
            put(bytes, rec + offset_of!(AttrRec, value) + 4, &word(8));
            put(bytes, data + (i - 1) * 8 + 4, &word(i as u32 - 1));
        }
    });
    expect(&validate(&longer).expect_err("a bomb").to_string(), &["size of an attribute"]);
}

/// The helper must be able to fail: a file whose checksums are made right again is accepted.
#[test]
fn resummed_files_are_accepted() {
    for (name, mut bytes) in samples::all() {
        update_checksums(&mut bytes);
        validate(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
