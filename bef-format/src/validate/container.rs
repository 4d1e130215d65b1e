//! The header and the section directory.
//!
//! The directory is canonical: sections are in the order of their ids, each begins at the first aligned
//! offset after the previous one (unknown sections may choose any alignment up to 64), and the gaps are zero.
//! So sections cannot overlap, and every byte of a file is covered by a rule.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{FormatError, FormatErrorKind as Kind};
use crate::image::{N_SECTIONS, Tables};
use crate::layout::{
    Header, KNOWN_FEATURES, MAGIC, MAJOR, MAX_SECTIONS, PAYLOAD_ALIGN, SECTION_OPTIONAL, SectionId,
    SectionRec, TABLE_ALIGN,
};

/// Checks header and directory and all checksums except the payload's.
pub(super) fn check(bytes: &[u8]) -> Result<Tables, FormatError> {
    let header = header(bytes)?;
    let head_len = size_of::<Header>() + header.n_sections as usize * size_of::<SectionRec>();
    let directory = bytes.get(size_of::<Header>()..head_len);
    let truncated = Kind::Truncated { want: head_len as u64, have: bytes.len() as u64 };
    let directory = directory.ok_or_else(|| refuse(size_of::<Header>() as u64, truncated))?;

    let mut hasher = Xxh3::new();
    hasher.update(bytemuck::bytes_of(&Header { checksum: 0, ..header }));
    hasher.update(directory);
    let computed = hasher.digest();
    if computed != header.checksum {
        let at = size_of::<Header>() - size_of::<u64>();
        return Err(refuse(at as u64, Kind::Checksum { stored: header.checksum, computed }));
    }

    let directory = directory.chunks_exact(size_of::<SectionRec>()).map(bytemuck::pod_read_unaligned);
    let mut sections = [None; N_SECTIONS];
    let mut end = head_len as u64;
    let mut last_id = 0;
    let mut payload_checksum = 0;
    for (i, rec) in directory.enumerate() {
        let at = (size_of::<Header>() + i * size_of::<SectionRec>()) as u64;
        let SectionRec { id, flags, offset, len, checksum } = rec;
        if id <= last_id {
            return Err(refuse(
                at,
                Kind::Directory(format!("expected a section id above {last_id}, found {id}")),
            ));
        }
        last_id = id;
        let known = SectionId::ALL.iter().position(|&section| section as u32 == id);
        check_extent(bytes, at, &rec, &mut end, known.map(|i| SectionId::ALL[i]))?;
        let is_optional = flags & SECTION_OPTIONAL != 0;
        if flags & !SECTION_OPTIONAL != 0 {
            return Err(refuse(at, Kind::Directory(format!("unknown flags {flags:#x} of section {id}"))));
        }
        let Some(known) = known else {
            if is_optional {
                continue;
            }
            return Err(refuse(at, Kind::UnknownSection { id }));
        };
        let section = SectionId::ALL[known];
        if is_optional != section.is_optional() {
            let text =
                format!("expected the optional flag of section {} to be {}", section.name(), !is_optional);
            return Err(refuse(at, Kind::Directory(text)));
        }
        // In range: `check_extent` compared both with the length of the bytes.
        let (start, len) = (offset as usize, len as usize);
        let record_size = section.record_size();
        if len % record_size != 0 {
            let text = format!(
                "section {} has {len} bytes: expected a multiple of {record_size}, the size of {}",
                section.name(),
                section.record_name()
            );
            return Err(refuse(at, Kind::Directory(text)));
        }
        sections[known] = Some((start, len));
        if section == SectionId::Payload {
            payload_checksum = checksum;
        } else {
            let computed = bytes.get(start..start + len).map_or(0, xxh3_64);
            if computed != checksum {
                return Err(FormatError::new(
                    Some(section),
                    offset,
                    Kind::Checksum { stored: checksum, computed },
                ));
            }
        }
    }
    if end != header.file_len {
        let kind = Kind::TrailingData { file_len: end, have: header.file_len };
        return Err(refuse(end, kind));
    }
    for (&section, found) in SectionId::ALL.iter().zip(&sections) {
        if found.is_none() && !section.is_optional() {
            return Err(FormatError::new(Some(section), 0, Kind::MissingSection));
        }
    }
    Ok(Tables { header, payload_checksum, sections })
}

/// Checks the fixed start of the file, in the order of the most helpful messages.
fn header(bytes: &[u8]) -> Result<Header, FormatError> {
    let have = bytes.len() as u64;
    match bytes {
        [a, b, ..] if [*a, *b] == MAGIC => {}
        _ => return Err(refuse(0, Kind::NotBef)),
    }
    match bytes.get(2) {
        Some(0) => return Err(refuse(2, Kind::ClassicBef)),
        Some(&major) if major > MAJOR => {
            return Err(refuse(2, Kind::Version { major, minor: bytes.get(3).copied().unwrap_or(0) }));
        }
        _ => {}
    }
    let want = size_of::<Header>() as u64;
    let Some(start) = bytes.first_chunk::<{ size_of::<Header>() }>() else {
        return Err(refuse(0, Kind::Truncated { want, have }));
    };
    let header: Header = bytemuck::cast(*start);
    let Header {
        magic: _,
        major: _,
        minor: _,
        n_sections,
        file_len,
        features,
        producer: _,
        module_name: _,
        module_attrs: _,
        reserved,
        checksum: _,
    } = header;
    if features & !KNOWN_FEATURES != 0 {
        return Err(refuse(16, Kind::Features { unknown: features & !KNOWN_FEATURES }));
    }
    if file_len > have {
        return Err(refuse(8, Kind::Truncated { want: file_len, have }));
    }
    if file_len < have {
        return Err(refuse(file_len, Kind::TrailingData { file_len, have }));
    }
    if n_sections > MAX_SECTIONS {
        let (found, limit) = (u64::from(n_sections), u64::from(MAX_SECTIONS));
        return Err(refuse(4, Kind::Limit { what: "number of sections", found, limit }));
    }
    if reserved != [0; 5] {
        return Err(refuse(36, Kind::NotZero { what: "the reserved bytes of the header" }));
    }
    Ok(header)
}

/// Checks the position of a section and the padding before it, and advances `end` to its end.
fn check_extent(
    bytes: &[u8],
    at: u64,
    rec: &SectionRec,
    end: &mut u64,
    known: Option<SectionId>,
) -> Result<(), FormatError> {
    let SectionRec { id, flags: _, offset, len, checksum: _ } = *rec;
    let have = bytes.len() as u64;
    let Some(gap) = offset.checked_sub(*end) else {
        let text = format!("section {id} at offset {offset} overlaps what ends at {end}");
        return Err(refuse(at, Kind::Directory(text)));
    };
    let align = match known {
        Some(SectionId::Payload) => PAYLOAD_ALIGN,
        Some(_) => TABLE_ALIGN,
        None if offset % PAYLOAD_ALIGN as u64 == 0 => PAYLOAD_ALIGN,
        None => TABLE_ALIGN,
    } as u64;
    if offset % align != 0 || gap >= align {
        let text =
            format!("section {id} at offset {offset}: expected the first multiple of {align} from {end}");
        return Err(refuse(at, Kind::Directory(text)));
    }
    if offset > have || len > have - offset {
        let kind = Kind::Truncated { want: offset.saturating_add(len), have };
        return Err(FormatError::new(known, offset, kind));
    }
    let padding = bytes.get(*end as usize..offset as usize).unwrap_or(&[]);
    if let Some(i) = padding.iter().position(|&byte| byte != 0) {
        return Err(refuse(*end + i as u64, Kind::NotZero { what: "the padding between sections" }));
    }
    *end = offset + len;
    Ok(())
}

fn refuse(at: u64, kind: Kind) -> FormatError {
    FormatError::new(None, at, kind)
}
