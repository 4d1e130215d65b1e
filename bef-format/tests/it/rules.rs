//! Acceptance, refusal and skipping beyond single broken fields, which are in `broken`.

use std::mem::offset_of;

use bef_format::layout::{Header, MAJOR, MINOR, SectionRec};
use bef_format::write::{Writer, update_checksums};
use bef_format::{AlignedBytes, LocationView, SectionId as S, validate, validate::verify_payload};

use crate::patch::{at, changed, directory_at, put, relaid};
use crate::samples;

#[track_caller]
fn expect(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{message}` lacks `{part}`");
    }
}

/// A newer minor version loads. A newer major version and unknown features are refused; the message has the
/// unknown and the known ones.
#[test]
fn versions_and_features() {
    let newer = changed(&samples::everything(), |bytes| bytes[3] = MINOR + 1);
    assert_eq!(validate(&newer).expect("a newer minor version loads").version(), (MAJOR, MINOR + 1));
    let older = changed(&samples::everything(), |bytes| bytes[3] = 0);
    assert_eq!(validate(&older).expect("an older one as well").version(), (MAJOR, 0));
    let newer = changed(&samples::everything(), |bytes| put(bytes, 2, &[MAJOR + 1, 7]));
    let message = validate(&newer).expect_err("a newer major version").to_string();
    expect(&message, &[&format!("{}.7", MAJOR + 1), &format!("{MAJOR}.{MINOR}")]);
    for bit in 2..64 {
        let features = changed(&samples::everything(), |bytes| {
            put(bytes, offset_of!(Header, features), &(1u64 << bit).to_le_bytes());
        });
        let message = validate(&features).expect_err("an unknown feature").to_string();
        expect(&message, &[&format!("unknown features {:#x}", 1u64 << bit)]);
    }
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
    verify_payload(&validate(&bytes).expect("valid")).expect("unchanged");
    let place = at(&bytes, S::Payload, 3);
    bytes[place] ^= 1;
    let image = validate(&bytes).expect("the payload is not looked at");
    expect(&verify_payload(&image).expect_err("changed").to_string(), &["Payload", "checksum mismatch"]);
}

/// Readers of version 1.0 do not know `LocationEnds`. For them, as for this reader if the section has an
/// unknown id, ranges are positions.
#[test]
fn unknown_optional_sections_are_skipped() {
    let bytes = changed(&samples::everything(), |bytes| {
        let place = directory_at(bytes, S::LocationEnds) + offset_of!(SectionRec, id);
        put(bytes, place, &50u32.to_le_bytes());
    });
    let range = |bytes: &AlignedBytes| {
        let image = validate(bytes).expect("unknown optional sections are skipped");
        let location = image.function(0).arg_location(1).expect("the sample has it");
        let LocationView::File { line, end, .. } = image.location(location) else { panic!("not a place") };
        (line, end, image.location_string(location))
    };
    assert_eq!(range(&bytes), (3, None, "x.mlir:3:4".to_owned()));
    assert_eq!(range(&samples::everything()), (3, Some((5, 6)), "x.mlir:3:4".to_owned()));
}

#[test]
fn deep_and_wide_attributes_are_refused() {
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
}

/// Kernels refer to devices by 16 bits. A file with more devices is too large for the `broken` directory.
#[test]
fn too_many_devices_are_refused() {
    let with = |n: u32| {
        let mut bytes = samples::empty().to_vec();
        relaid(&mut bytes, |id, contents| {
            // The empty string and n - 1 others, in order; each names a device.
            if id == S::StringIndex as u32 {
                let ends = std::iter::once(0).chain((0..n).map(|i| i * 5));
                *contents = ends.flat_map(u32::to_le_bytes).collect();
            } else if id == S::StringBytes as u32 {
                *contents = (1..n).flat_map(|i| format!("{i:05}").into_bytes()).collect();
            } else if id == S::Devices as u32 {
                *contents = (0..n).flat_map(u32::to_le_bytes).collect();
            }
            true
        });
        update_checksums(&mut bytes);
        let bytes = AlignedBytes::copy_of(&bytes);
        validate(&bytes).map(|image| image.n_devices()).map_err(|error| error.to_string())
    };
    assert_eq!(with(65535), Ok(65535));
    expect(
        &with(65536).expect_err("one more"),
        &["section Devices", "number of devices is 65536: expected at most 65535"],
    );
}

/// The checksum helper must work: an unchanged file with recomputed checksums is accepted.
#[test]
fn resummed_files_are_accepted() {
    for (name, mut bytes) in samples::all() {
        update_checksums(&mut bytes);
        validate(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
