//! Changes to the bytes of files, with or without new checksums.

use bef_format::layout::{Header, PAYLOAD_ALIGN, SectionRec, TABLE_ALIGN};
use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, SectionId};

const HEAD: usize = size_of::<Header>();
const RECORD: usize = size_of::<SectionRec>();

/// The records of the directory, and where they begin.
pub(crate) fn directory(bytes: &[u8]) -> impl Iterator<Item = (usize, SectionRec)> {
    let n = bytemuck::pod_read_unaligned::<Header>(&bytes[..HEAD]).n_sections as usize;
    let at = (0..n).map(|i| HEAD + i * RECORD);
    at.map(|at| (at, bytemuck::pod_read_unaligned(&bytes[at..at + RECORD])))
}

/// Where entry `index` of a section of a valid file begins.
pub(crate) fn at(bytes: &[u8], section: SectionId, index: usize) -> usize {
    let found = directory(bytes).find(|(_, rec)| rec.id == section as u32);
    let SectionRec { offset, len, .. } = found.expect("the section is there").1;
    let at = offset as usize + index * section.record_size();
    assert!(at <= (offset + len) as usize, "entry {index} of {}", section.name());
    at
}

/// Where a section's record begins in the directory.
pub(crate) fn directory_at(bytes: &[u8], section: SectionId) -> usize {
    let found = directory(bytes).find(|(_, rec)| rec.id == section as u32);
    found.expect("the section is there").0
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

/// Lets `change` edit or drop the contents of each section, by id, and lays the others out again in valid
/// form.
pub(crate) fn relaid(bytes: &mut Vec<u8>, mut change: impl FnMut(u32, &mut Vec<u8>) -> bool) {
    let mut sections: Vec<(SectionRec, Vec<u8>)> = directory(bytes)
        .map(|(_, rec)| (rec, bytes[rec.offset as usize..(rec.offset + rec.len) as usize].to_vec()))
        .collect();
    sections.retain_mut(|(rec, contents)| change(rec.id, contents));
    let mut file = bytes[..HEAD].to_vec();
    let mut records = Vec::new();
    let mut body = Vec::new();
    let head_len = HEAD + sections.len() * RECORD;
    for (rec, contents) in sections {
        let align = if rec.id == SectionId::Payload as u32 { PAYLOAD_ALIGN } else { TABLE_ALIGN };
        body.resize((head_len + body.len()).next_multiple_of(align) - head_len, 0);
        records.push(SectionRec {
            offset: (head_len + body.len()) as u64,
            len: contents.len() as u64,
            ..rec
        });
        body.extend(contents);
    }
    file.extend_from_slice(bytemuck::cast_slice(&records));
    file.extend(body);
    let (len, n_sections) = (file.len() as u64, records.len() as u32);
    put(&mut file, std::mem::offset_of!(Header, n_sections), &n_sections.to_le_bytes());
    put(&mut file, std::mem::offset_of!(Header, file_len), &len.to_le_bytes());
    *bytes = file;
}
