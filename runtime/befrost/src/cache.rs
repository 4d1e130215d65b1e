//! Compiled programs on disk.
//!
//! ```text
//! folder/<hash>.befc    "BEFP", checksum of the rest, name of the initializing function, number of its named
//!                       resources, container, name and device of each, BEF file; a text behind its length
//! ```
//!
//! The hash is that of all that a program depends on: the build of Befrost, the options, the source. Of files
//! beside a model, which it may name (weights, variables), their names, lengths and times of change are
//! enough, so that gigabytes need not be read.
//!
//! A file that is not whole is as good as none: the program is compiled, and the file written anew. It gets
//! its name when it is complete. If it cannot be written, the next process compiles again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use befrost_compiler::device::ResourcePlaces;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::access::FileAccess;
use crate::compile::{CompileError, CompileOptions, Compiled, Source, compiled_now};
use crate::folder::saved_model;

/// The first bytes of the files.
const MAGIC: &[u8; 4] = b"BEFP";

/// The release, and the hash of the sources of this build.
const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("BEFROST_BUILD"));

/// The number of files beside a model beyond which it is not looked up.
const MAX_FILES: usize = 10_000;

/// Compiles a program, unless the folder has it.
pub(crate) fn through(
    folder: &Path,
    source: Source,
    options: &CompileOptions,
) -> Result<Compiled, CompileError> {
    let Some(hash) = hash(BUILD, &source, options) else { return compiled_now(source, options) };
    let path = folder.join(format!("{hash:032x}.befc"));
    if let Some(found) = fs::read(&path).ok().and_then(|file| decode(&file)) {
        return Ok(found);
    }
    let compiled = compiled_now(source, options)?;
    _ = fs::create_dir_all(folder).and_then(|()| replace(&path, &encode(&compiled)));
    Ok(compiled)
}

/// The hash of all that a program depends on; none for what cannot be read.
fn hash(build: &str, source: &Source, options: &CompileOptions) -> Option<u128> {
    let mut hash = Xxh3::new();
    let mut add = |part: &[u8]| {
        hash.update(&part.len().to_le_bytes());
        hash.update(part);
    };
    add(build.as_bytes());
    let of_program = CompileOptions { cache_dir: None, access: FileAccess::default(), ..options.clone() };
    add(format!("{of_program:?}").as_bytes());
    match source {
        Source::Text(text) => {
            add(b"text");
            add(text.as_bytes());
        }
        Source::GraphDef(bytes) => {
            add(b"graph");
            add(bytes);
        }
        Source::Bytes(bytes) => {
            add(b"bytes");
            add(bytes);
        }
        Source::File(path) => {
            let file = if path.is_dir() { saved_model(path)? } else { path.clone() };
            // Messages and locations have the path.
            add(file.as_os_str().as_encoded_bytes());
            add(&fs::read(&file).ok()?);
            let names_others = matches!(file.extension()?.to_str()?, "onnx" | "meta")
                || file.file_stem().is_some_and(|stem| stem == "saved_model");
            if names_others {
                for (name, n_bytes, changed) in beside(&file)? {
                    add(name.as_os_str().as_encoded_bytes());
                    add(&n_bytes.to_le_bytes());
                    add(&changed.to_le_bytes());
                }
            }
        }
    }
    Some(hash.digest128())
}

/// The files of a model's folder: paths, lengths, nanoseconds of their last change.
fn beside(file: &Path) -> Option<Vec<(PathBuf, u64, u128)>> {
    let root = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_none_or(|extension| extension != "befc") {
                let changed = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
                files.push((entry.path(), metadata.len(), changed.as_nanos()));
            }
            if files.len() + folders.len() > MAX_FILES {
                return None;
            }
        }
    }
    files.sort();
    Some(files)
}

fn encode(compiled: &Compiled) -> Vec<u8> {
    let Compiled { bef, init, resources, is_from_cache: _ } = compiled;
    let mut rest = Vec::new();
    let mut put = |text: &str| {
        rest.extend_from_slice(&(text.len() as u64).to_le_bytes());
        rest.extend_from_slice(text.as_bytes());
    };
    put(init.as_deref().unwrap_or_default());
    put(&resources.iter().count().to_string());
    for (container, name, device) in resources.iter() {
        [container, name, &device.to_string()].into_iter().for_each(&mut put);
    }
    rest.extend_from_slice(bef);
    [MAGIC.as_slice(), &xxh3_64(&rest).to_le_bytes(), &rest].concat()
}

fn decode(file: &[u8]) -> Option<Compiled> {
    let (checksum, mut rest) = file.strip_prefix(MAGIC)?.split_first_chunk()?;
    if u64::from_le_bytes(*checksum) != xxh3_64(rest) {
        return None;
    }
    let mut text = || {
        let (n, behind) = rest.split_first_chunk()?;
        let (text, behind) = behind.split_at_checked(usize::try_from(u64::from_le_bytes(*n)).ok()?)?;
        rest = behind;
        std::str::from_utf8(text).ok()
    };
    let init = Some(text()?).filter(|init| !init.is_empty()).map(str::to_owned);
    let n: usize = text()?.parse().ok()?;
    let mut resources = ResourcePlaces::default();
    for _ in 0..n {
        let (container, name) = (text()?, text()?);
        resources.insert(container, name, text()?.parse().ok()?);
    }
    Some(Compiled { bef: rest.to_vec(), init, resources, is_from_cache: true })
}

/// Writes a file, which gets its name when it is complete.
pub(crate) fn replace(path: &Path, file: &[u8]) -> std::io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let part = path.with_added_extension(format!("{}.{number}.part", std::process::id()));
    let written = fs::write(&part, file).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_another_build_are_not_found() {
        let of_build = |build| hash(build, &Source::Text("module {}".to_owned()), &CompileOptions::default());
        assert_eq!(of_build(BUILD), of_build(BUILD));
        assert_ne!(of_build(BUILD), of_build("0.1.0-0123456789abcdef"));
    }
}
