//! Changes to the bytes of files, with or without new checksums.

use bef_format::layout::{Header, SectionRec};
use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, SectionId, validate};

/// Where entry `index` of a section of a valid file begins.
pub(crate) fn at(bytes: &[u8], section: SectionId, index: usize) -> usize {
    let image = validate(bytes).expect("patches start from valid files");
    let (offset, len) = image.tables().section(section).expect("the section is there");
    let at = offset + index * section.record_size();
    assert!(at <= offset + len, "entry {index} of {}", section.name());
    at
}

/// Where a section's record begins in the directory.
pub(crate) fn directory_at(bytes: &[u8], section: SectionId) -> usize {
    let n = bytemuck::pod_read_unaligned::<Header>(&bytes[..64]).n_sections as usize;
    let mut records = (0..n).map(|i| size_of::<Header>() + i * size_of::<SectionRec>());
    let is_it = |at: &usize| bytes[*at..*at + 4] == (section as u32).to_le_bytes();
    records.find(is_it).expect("the section is there")
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// A copy, changed, with right checksums.
pub(crate) fn changed(bytes: &AlignedBytes, change: impl FnOnce(&mut AlignedBytes)) -> AlignedBytes {
    let mut copy = bytes.clone();
    change(&mut copy);
    update_checksums(&mut copy);
    copy
}
