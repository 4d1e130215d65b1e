//! One broken file per rule: `testdata/bef/invalid/*.hex`, each refused with exactly the error that its comment names.
//!
//! ```text
//! # name: what was changed, in which sample     bytes as hex, one record of a table a line; `00*16` is sixteen times the byte
//! # error: section Kernels at byte 1524: ...    the error, section, offset and what was expected
//! ```
//!
//! The files are made by `UPDATE_INVALID=1 cargo test -p bef-format broken` from the list in `cases`: a sample, an edit, checksums made right
//! again so that the file reaches the check it is about. What stands in the tree is what is tested: files of fuzzers, of which the list
//! knows nothing, may stand beside them. `cargo run -p xtask -- mutate-validate` shows that no check of `validate` can be
//! disabled without one of these files being accepted or refused otherwise.

mod cases;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use bef_format::{AlignedBytes, FormatError, SectionId, validate};

use crate::patch;

/// A broken file in the making.
struct Case {
    name: &'static str,
    /// The valid file that was edited.
    base: AlignedBytes,
    bytes: Vec<u8>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bef/invalid")
}

/// The text of the `.hex` file.
fn text(case: &Case, error: &FormatError) -> String {
    let Case { name, base, bytes } = case;
    let mut out = format!("# {name}\n");
    let n_common = base.len().min(bytes.len());
    // Checksums change with everything else and say nothing.
    let is_checksum = |i: usize| {
        (56..64).contains(&i) || patch::directory(base).any(|(at, _)| (at + 24..at + 32).contains(&i))
    };
    let mut i = 0;
    let mut n_shown = 0;
    while base.len() == bytes.len() && i < n_common {
        let end = (i..n_common).find(|&j| base[j] == bytes[j] || is_checksum(j)).unwrap_or(n_common);
        if end > i && n_shown < 8 {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let (was, is) = (hex(&base[i..end]), hex(&bytes[i..end]));
            writeln!(out, "# byte {i}, {}: {is}, was {was}", place(base, i)).expect("strings take all");
            n_shown += 1;
        }
        i = end + 1;
    }
    if base.len() != bytes.len() {
        writeln!(out, "# {} bytes, was {}", bytes.len(), base.len()).expect("strings take all");
    }
    writeln!(out, "# error: {error}").expect("strings take all");
    let mut line = |what: &str, bytes: &[u8], size: usize| {
        if !what.is_empty() {
            writeln!(out, "# {what}").expect("strings take all");
        }
        bytes.chunks(size).for_each(|record| hex_line(record, &mut out));
    };
    if base.len() != bytes.len() {
        line("", bytes, 32);
        return out;
    }
    line("Header", &bytes[..64], 32);
    let head_len = 64 + patch::directory(base).count() * 32;
    line("directory", &bytes[64..head_len], 32);
    let mut end = head_len;
    for (_, rec) in patch::directory(base) {
        let (start, stop) = (rec.offset as usize, (rec.offset + rec.len) as usize);
        line("", &bytes[end..start], 64);
        let known = SectionId::ALL.iter().find(|&&id| id as u32 == rec.id).expect("samples are known");
        let size = known.record_size();
        line(known.name(), &bytes[start..stop], if size < 8 { 32 } else { size });
        end = stop;
    }
    out
}

/// Which entry of which section byte `i` belongs to.
fn place(base: &[u8], i: usize) -> String {
    if i < 64 {
        return format!("Header + {i}");
    }
    for (at, rec) in patch::directory(base) {
        let known = SectionId::ALL.iter().find(|&&id| id as u32 == rec.id).expect("samples are known");
        if (at..at + 32).contains(&i) {
            return format!("directory of {} + {}", known.name(), i - at);
        }
        if (rec.offset..rec.offset + rec.len).contains(&(i as u64)) {
            let (inside, size) = (i - rec.offset as usize, known.record_size());
            return format!("{}[{}] + {}", known.name(), inside / size, inside % size);
        }
    }
    "padding".to_owned()
}

/// One line of hexadecimal bytes in groups of four, runs of one byte short.
fn hex_line(bytes: &[u8], out: &mut String) {
    let mut i = 0;
    let mut in_group = 0;
    while i < bytes.len() {
        let run = bytes[i..].iter().take_while(|&&byte| byte == bytes[i]).count();
        let space = if i > 0 && (in_group == 0 || run >= 8) { " " } else { "" };
        if run >= 8 {
            write!(out, "{space}{:02x}*{run}", bytes[i]).expect("strings take all");
            in_group = 0;
            i += run;
        } else {
            write!(out, "{space}{:02x}", bytes[i]).expect("strings take all");
            in_group = (in_group + 1) % 4;
            i += 1;
        }
    }
    out.push('\n');
}

/// The bytes in a `.hex` file, and the error that its comment names.
fn parse(text: &str) -> (AlignedBytes, &str) {
    let mut bytes = Vec::new();
    let mut error = "";
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            error = comment.strip_prefix(" error: ").unwrap_or(error);
            continue;
        }
        for group in line.split_whitespace() {
            let (digits, n) = match group.split_once('*') {
                Some((digits, n)) => (digits, n.parse().expect("a number of bytes")),
                None => (group, 1),
            };
            let run: Vec<u8> = digits
                .as_bytes()
                .chunks(2)
                .map(|pair| std::str::from_utf8(pair).expect("digits"))
                .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits"))
                .collect();
            (0..n).for_each(|_| bytes.extend_from_slice(&run));
        }
    }
    (AlignedBytes::copy_of(&bytes), error)
}

/// All `.hex` files, by name.
fn files() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder()).expect("the tree holds broken files");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .map(|path| {
            let name = path.file_stem().expect("has a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("readable"))
        })
        .collect()
}

#[test]
fn broken_files_are_refused_with_their_error() {
    let files = files();
    assert!(files.len() > 150, "the tree holds broken files");
    let mut wrong = Vec::new();
    for (name, text) in files {
        let (bytes, expected) = parse(&text);
        let judge = || validate(&bytes).map(|_| ());
        let Ok(result) = std::panic::catch_unwind(judge) else {
            wrong.push(format!("{name}: panics"));
            continue;
        };
        match result {
            Ok(()) => wrong.push(format!("{name}: accepted")),
            Err(error) if error.to_string() == expected => {}
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The list and the tree agree.
#[test]
fn broken_files_are_those_of_the_list() {
    let mut there = files();
    let update = std::env::var_os("UPDATE_INVALID").is_some();
    let mut wrong = Vec::new();
    for case in cases::all() {
        let name = case.name;
        let bytes = AlignedBytes::copy_of(&case.bytes);
        let Err(error) = validate(&bytes) else {
            wrong.push(format!("{name}: accepted"));
            continue;
        };
        let want = text(&case, &error);
        if there.remove(name).as_ref() == Some(&want) {
            continue;
        }
        if update {
            std::fs::write(folder().join(format!("{name}.hex")), &want).expect("writable");
            assert_eq!(parse(&want).0.to_vec(), case.bytes, "{name}: the text holds the bytes");
        } else {
            wrong.push(format!("{name}: the file is not as the list says"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
