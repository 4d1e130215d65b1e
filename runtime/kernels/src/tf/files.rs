//! Operators that read and write tensor bundles: the savers of TensorFlow's graphs.
//!
//! ```text
//! SaveV2 ──▶ PREFIX_temp/part-0.data-.., .index ──MergeV2Checkpoints──▶ PREFIX.data-.., .index ──▶ RestoreV2
//! ```
//!
//! A program names files as it likes, so it may touch only the folders that the caller
//! [allows](allow_folder), by default none. Links are followed before folders are compared: a link out of a
//! folder is refused. Files appear whole. They are read and written on the thread that runs the kernel.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use befrost_kernel_api::context::{Resource, ResourceName, Resources};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_tensor::bundle::{
    Bundle, BundleData, BundleError, BundleFile, BundleWriter, Elements, merge, put, shard_name,
};
use befrost_tensor::tf::op::{Op, Type};
use befrost_tensor::{HostTensor, Shape};

use super::action::{ActionRow, action, int, tensor, variadic_action};
use super::operands::dense;
use super::strings::{strings, strings_in};
use crate::objects::{Strings, refused};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::MergeV2Checkpoints], |attrs| {
        let (removes, is_partial) = (attrs.bool("delete_old_dirs")?, attrs.bool("allow_missing_files")?);
        action(attrs, move |[parts, to], cx| {
            let folders = Folders::of(cx);
            merge_parts(&folders, &texts(parts)?, &text(to)?, removes, is_partial).map(|()| [])
        })
    }),
    (&[Op::RestoreV2], |attrs| {
        let types = attrs.types("dtypes")?;
        action(attrs, move |[prefix, names, slices], cx| restore(&types, [prefix, names, slices], cx))
    }),
    (&[Op::SaveV2], |_| variadic_action(|operands, cx| save(operands, cx).map(|()| []))),
    (&[Op::ShardedFilename], |attrs| {
        action(attrs, |[name, shard, n_shards], cx| {
            let (name, shard, n_shards) = (text(name)?, int(shard)?, int(n_shards)?);
            strings(&Shape::scalar(), &[format!("{name}-{shard:05}-of-{n_shards:05}")], cx.allocator())
                .map(|name| [name])
        })
    }),
    (&[Op::ShardedFilespec], |attrs| {
        action(attrs, |[name, n_shards], cx| {
            let (name, n_shards) = (text(name)?, int(n_shards)?);
            strings(&Shape::scalar(), &[format!("{name}-?????-of-{n_shards:05}")], cx.allocator())
                .map(|pattern| [pattern])
        })
    }),
];

/// The folders that programs may touch.
#[derive(Debug, Default)]
struct AllowedFolders(RwLock<Vec<PathBuf>>);

impl Resource for AllowedFolders {
    const TYPE: &'static str = "allowed folders";
}

/// Allows the programs that run with these resources to read and write files in a folder and the folders in
/// it.
///
/// # Errors
/// If there is no such folder.
pub fn allow_folder(resources: &Resources, folder: impl AsRef<Path>) -> io::Result<()> {
    let folder = fs::canonicalize(folder)?;
    if !folder.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let allowed = resources.or_insert_with(&ResourceName::from(""), AllowedFolders::default);
    allowed.0.write().unwrap_or_else(PoisonError::into_inner).push(folder);
    Ok(())
}

/// The allowed folders, without links.
struct Folders(Vec<PathBuf>);

impl Folders {
    fn of(cx: &ExecContext) -> Folders {
        let allowed = cx.request.resources.find::<AllowedFolders>(&ResourceName::from(""));
        let read =
            |allowed: &AllowedFolders| allowed.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        Folders(allowed.as_deref().map(read).unwrap_or_default())
    }

    /// The place of a file that need not be there, without links.
    fn place(&self, path: &str) -> Result<PathBuf, KernelError> {
        let failed = |error: io::Error| unavailable(path, &error.to_string());
        let (mut there, mut missing) = (std::path::absolute(path).map_err(failed)?, Vec::new());
        let mut place = loop {
            match fs::canonicalize(&there) {
                Ok(place) => break place,
                // Something that cannot be resolved is a link to nowhere.
                Err(error)
                    if error.kind() != io::ErrorKind::NotFound || fs::symlink_metadata(&there).is_ok() =>
                {
                    return Err(failed(error));
                }
                Err(_) => {}
            }
            // What is missing has an ordinary name, not `..`.
            match there.file_name().map(ToOwned::to_owned) {
                Some(name) if there.pop() => missing.push(name),
                _ => return Err(unavailable(path, "it is no path of a file")),
            }
        };
        place.extend(missing.iter().rev());
        if self.0.iter().any(|folder| place.starts_with(folder) && place != *folder) {
            return Ok(place);
        }
        let allowed: Vec<String> = self.0.iter().map(|folder| folder.display().to_string()).collect();
        let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
        let message = format!("{path}: the program may not touch this file; allowed folders: {allowed}");
        Err(KernelError::new(ErrorCode::FailedPrecondition, message))
    }

    /// The place of the file, in a folder that is made if it is missing.
    fn place_to_write(&self, path: &str) -> Result<PathBuf, KernelError> {
        let place = self.place(path)?;
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(|error| unavailable(path, &error.to_string()))?;
        Ok(place)
    }

    fn open(&self, prefix: &str) -> Result<Bundle, KernelError> {
        let mut open = |name: &str| {
            let place = self.place(name).map_err(|error| error.message().to_owned())?;
            BundleFile::open(place).map_err(|error| error.to_string())
        };
        // A refused folder has the code of one.
        self.place(&index_name(prefix))?;
        Bundle::open(prefix, &mut open).map_err(|error| damaged(&error))
    }
}

fn index_name(prefix: &str) -> String {
    format!("{prefix}.index")
}

fn unavailable(path: &str, why: &str) -> KernelError {
    KernelError::new(ErrorCode::Unavailable, format!("{path}: {why}"))
}

fn damaged(error: &BundleError) -> KernelError {
    KernelError::new(ErrorCode::Unavailable, error.to_string())
}

/// The strings of an operand.
fn texts(value: &Value) -> Result<Vec<String>, KernelError> {
    let read = strings_in(value)?.read().map_err(refused)?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec());
    let all: Result<_, _> = read.iter().map(text).collect();
    all.map_err(|_| KernelError::invalid("a name of a file or a tensor is not UTF-8"))
}

fn text(value: &Value) -> Result<String, KernelError> {
    match <[String; 1]>::try_from(texts(value)?) {
        Ok([text]) => Ok(text),
        Err(other) => Err(KernelError::invalid(format!("{} names of files, expected one", other.len()))),
    }
}

fn save(operands: &[&Value], cx: &ExecContext) -> Result<(), KernelError> {
    let [prefix, names, slices, tensors @ ..] = operands else {
        return Err(KernelError::invalid("`SaveV2`: it needs a prefix, names, slices and tensors"));
    };
    let (prefix, names, slices) = (text(prefix)?, texts(names)?, texts(slices)?);
    expect_counts("SaveV2", &names, &slices, tensors.len())?;
    let folders = Folders::of(cx);
    let mut index = Vec::new();
    let data = shard_name(&prefix, 0, 1);
    let failed = |error: io::Error| unavailable(&prefix, &format!("the tensors cannot be saved: {error}"));
    let write = |to: &mut dyn io::Write| {
        let mut writer = BundleWriter::new(vec![to]);
        for ((name, slice), tensor) in names.iter().zip(&slices).zip(tensors) {
            add(&mut writer, (name, slice), tensor)?;
        }
        index = writer.finish_part()?.1;
        Ok(())
    };
    put(&folders.place_to_write(&data)?, write).map_err(failed)?;
    put(&folders.place_to_write(&index_name(&prefix))?, |to| to.write_all(&index)).map_err(failed)
}

fn add(writer: &mut BundleWriter<&mut dyn io::Write>, name: (&str, &str), value: &Value) -> io::Result<()> {
    let failed = |error: befrost_tensor::TensorError| io::Error::other(error.to_string());
    if let Some(Strings(x)) = value.downcast_ref::<Strings>() {
        let read = x.read().map_err(failed)?;
        let all: Vec<&[u8]> = read.iter().collect();
        return writer.add_specified(name, 0, Type::String, x.shape().dims(), Elements::Strings(&all));
    }
    let x = dense(value).map_err(|error| io::Error::other(error.message().to_owned()))?;
    let bytes = x.read_bytes().map_err(failed)?;
    writer.add_specified(name, 0, Type::Dense(x.dtype()), x.shape().dims(), Elements::Dense(&bytes))
}

fn expect_counts(op: &str, names: &[String], slices: &[String], n: usize) -> Result<(), KernelError> {
    if names.len() == n && slices.len() == n {
        return Ok(());
    }
    let (names, slices) = (names.len(), slices.len());
    Err(KernelError::invalid(format!("`{op}`: {names} names of tensors, {slices} slices and {n} tensors")))
}

fn restore(types: &[Type], operands: [&Value; 3], cx: &ExecContext) -> Result<Vec<Value>, KernelError> {
    let [prefix, names, slices] = operands;
    let (prefix, names, slices) = (text(prefix)?, texts(names)?, texts(slices)?);
    expect_counts("RestoreV2", &names, &slices, types.len())?;
    let bundle = Folders::of(cx).open(&prefix)?;
    let mut all = Vec::with_capacity(types.len());
    for ((name, slice), want) in names.iter().zip(&slices).zip(types) {
        let entry = bundle.entry(name).filter(|entry| entry.ty != *want);
        if let Some(entry) = entry {
            let message = format!("{prefix}: tensor '{name}' is of type {}, not {want}", entry.ty);
            return Err(KernelError::invalid(message));
        }
        all.push(read(&bundle, name, slice, cx)?);
    }
    Ok(all)
}

/// A tensor of a bundle, or a slice of it.
fn read(bundle: &Bundle, name: &str, slice: &str, cx: &ExecContext) -> Result<Value, KernelError> {
    let of_numbers = |ty, dims: &[usize]| -> Result<HostTensor, KernelError> {
        let Type::Dense(dtype) = ty else {
            return Err(KernelError::invalid(format!("tensor '{name}' is of type {ty}")));
        };
        let shape = Shape::new(dims).map_err(refused)?;
        HostTensor::allocate(dtype, shape, cx.allocator()).map_err(refused)
    };
    // All of a tensor is read to where it stays.
    let whole = bundle.entry(name).filter(|entry| slice.is_empty() && entry.ty != Type::String);
    if let Some(entry) = whole {
        let x = of_numbers(entry.ty, &entry.dims)?;
        bundle.read_into(name, &mut x.write_bytes().map_err(refused)?).map_err(|error| damaged(&error))?;
        return Ok(tensor(x));
    }
    let part = bundle.read(name, slice).map_err(|error| damaged(&error))?;
    match part.data {
        BundleData::Dense(bytes) => {
            let x = of_numbers(part.ty, &part.dims)?;
            x.write_bytes().map_err(refused)?.copy_from_slice(&bytes);
            Ok(tensor(x))
        }
        BundleData::Strings(texts) => {
            strings(&Shape::new(&part.dims).map_err(refused)?, &texts, cx.allocator())
        }
    }
}

/// Makes one bundle of several. Their data files are renamed. If the process ends meanwhile, the new bundle
/// has no index, so it is none.
fn merge_parts(
    folders: &Folders,
    parts: &[String],
    to: &str,
    removes: bool,
    is_partial: bool,
) -> Result<(), KernelError> {
    let is_there = |prefix: &&String| folders.place(&index_name(prefix)).is_ok_and(|place| place.is_file());
    let parts: Vec<&String> = parts.iter().filter(|prefix| !is_partial || is_there(prefix)).collect();
    if parts.is_empty() {
        return Err(KernelError::invalid(format!("{to}: there are no parts to be merged")));
    }
    let bundles = parts.iter().map(|prefix| folders.open(prefix)).collect::<Result<Vec<_>, _>>()?;
    let index = merge(&bundles).map_err(|error| damaged(&error))?;
    let n_shards = bundles.iter().map(Bundle::n_shards).sum();
    let mut shard = 0;
    for (prefix, bundle) in parts.iter().zip(&bundles) {
        for i in 0..bundle.n_shards() {
            let from = folders.place(&shard_name(prefix, i, bundle.n_shards()))?;
            let name = shard_name(to, shard, n_shards);
            let moved = fs::rename(from, folders.place_to_write(&name)?);
            moved.map_err(|error| unavailable(&name, &error.to_string()))?;
            shard += 1;
        }
    }
    let name = index_name(to);
    let place = folders.place_to_write(&name)?;
    put(&place, |to| to.write_all(&index)).map_err(|error| unavailable(&name, &error.to_string()))?;
    for prefix in parts {
        let old = folders.place(&index_name(prefix))?;
        if old == place {
            continue;
        }
        fs::remove_file(&old).map_err(|error| unavailable(prefix, &error.to_string()))?;
        if removes && let Some(folder) = old.parent() {
            // A folder with other files, or one that the caller gave, stays.
            let is_given = folders.0.iter().any(|allowed| allowed == folder);
            _ = if is_given { Ok(()) } else { fs::remove_dir(folder) };
        }
    }
    Ok(())
}
