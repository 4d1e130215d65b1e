//! Files of more than 4 GiB, files of which only a small part is read, and files locked by other processes.
#![allow(unsafe_code, reason = "maps files that only this test changes")]

use std::fs::File;
use std::io::Cursor;
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use bef_format::layout::{AttrRec, DenseRec, Header, SectionRec};
use bef_format::write::update_checksums;
use bef_format::{AlignedBytes, SectionId, validate};
use befrost::{HostTensor, Runtime};
use befrost_compiler::device::DeviceOptions;
use befrost_compiler::emit::{EmitOptions, emit, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;

const EXEC: &str = env!("CARGO_BIN_EXE_bef-exec");

const PROGRAM: &str = "
func.func @main() -> !t.tensor {
  %t = \"cpu.constant\"() {value = dense<[1.0, 2.5]> : tensor<2xf32>} : () -> !t.tensor
  tfrt.return %t : !t.tensor
}";

fn compiled() -> AlignedBytes {
    let module = parse("large.mlir", PROGRAM, &ParseOptions::default()).module.expect("the program is right");
    let module = verify(module).expect("the program is right");
    AlignedBytes::copy_of(&emit(&module, &EmitOptions::default()).expect("it has a form"))
}

/// Writes the program with its tensor 5 GiB into the payload, after a hole that takes no space on disk.
fn write_large(path: &Path) -> u64 {
    let mut bytes = compiled();
    let image = validate(&bytes).expect("valid");
    let (tables, data) = (image.tables(), image.payload().to_vec());
    let at = |section| tables.section(section).expect("it is there").0;
    let (payload, attributes) = (at(SectionId::Payload), at(SectionId::Attributes));
    let offset = 5u64 << 30;
    let dense = (0..image.n_attrs() as usize)
        .map(|i| attributes + i * size_of::<AttrRec>())
        .map(|at| bytemuck::pod_read_unaligned::<AttrRec>(&bytes[at..at + size_of::<AttrRec>()]))
        .find(|rec| rec.kind == bef_format::layout::AttrKind::Dense as u8)
        .expect("it has a tensor");
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(at(SectionId::AttrData) + dense.value as u32 as usize + offset_of!(DenseRec, offset), offset);
    let len = offset + data.len() as u64;
    let directory = size_of::<Header>();
    let n_sections = SectionId::ALL.iter().filter(|&&id| tables.section(id).is_some()).count();
    // The payload is the last section.
    put(directory + (n_sections - 1) * size_of::<SectionRec>() + offset_of!(SectionRec, len), len);
    put(offset_of!(Header, file_len), payload as u64 + len);
    update_checksums(&mut bytes);
    let file = File::create(path).expect("a file can be written");
    file.write_all_at(&bytes[..payload], 0).expect("a file can be written");
    file.write_all_at(&data, payload as u64 + offset).expect("a file can be written");
    payload as u64 + len
}

/// The resident bytes of this process's maps of a file.
fn resident(path: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("the system tells");
    let name = path.to_str().expect("its name is UTF-8");
    let mut is_ours = false;
    let mut sum = 0;
    for line in maps.lines() {
        if line.contains('-') && line.as_bytes()[0].is_ascii_hexdigit() && !line.contains(": ") {
            is_ours = line.ends_with(name);
        }
        if let (true, Some(rest)) = (is_ours, line.strip_prefix("Rss:")) {
            sum += rest.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024;
        }
    }
    sum
}

/// A tensor after the first 4 GiB is found, and only it and the tables are read.
#[test]
fn files_of_more_than_4_gib() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("large.bef");
    let len = write_large(&path);
    let metadata = std::fs::metadata(&path).expect("it is there");
    assert!(metadata.len() == len && len > 5 << 30);
    assert!(metadata.blocks() * 512 < 1 << 20, "the file has no holes: {} blocks", metadata.blocks());

    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime of one thread");
    let file = File::open(&path).expect("it is there");
    // SAFETY: the file is in a temporary directory of this test, which does not change it while it is mapped.
    let program = unsafe { runtime.map_file(file) }.expect("it is valid");
    let loaded = resident(&path);
    assert!(loaded > 0 && loaded < 1 << 20, "loading made {loaded} bytes resident");
    let results = program.function("main").and_then(|main| main.call([])).expect("it runs");
    let text = results[0].to_string();
    assert!(text.contains("2.5"), "{text}");
    let executed = resident(&path);
    assert!(executed < 2 << 20, "execution made {executed} bytes resident");
    drop((results, program));
    assert_eq!(resident(&path), 0, "the map goes with the program");

    let output = Command::new(EXEC).arg(&path).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && printed.contains("2.5"), "{printed}");
}

/// Weights that are packed piece by piece while the file is written.
#[test]
fn weights_packed_in_pieces_are_right() {
    const N: u32 = 600;
    let elements: String = (0..N * N).map(|i| format!("{:08X}", (i as f32).to_bits().swap_bytes())).collect();
    let (row, matrix) = (format!("tensor<1x{N}xf32>"), format!("tensor<{N}x{N}xf32>"));
    let text = format!(
        "func.func @main(%x: {row}) -> {row} {{
           %w = \"tf.Const\"() {{value = dense<\"0x{elements}\"> : {matrix}}} : () -> {matrix}
           %y = \"tf.MatMul\"(%x, %w) : ({row}, {matrix}) -> {row}
           tfrt.return %y : {row}
         }}"
    );
    let module = parse("weights.mlir", &text, &ParseOptions::default()).module.expect("the program is right");
    let module = verify(module).expect("the program is right");
    let pipeline = default_pipeline(&module, 2, &DeviceOptions::default()).expect("it is an op graph");
    let mut passes = PassManager::parse(&pipeline).expect("the pipeline is right");
    let (module, _) = passes.run(module).expect("it can be compiled");
    let file = emit_parts(&module, &EmitOptions::default()).expect("it has a form");
    let (mut written, mut in_order) = (Cursor::new(Vec::new()), Vec::new());
    file.write_to_file(&mut written).expect("there is memory");
    file.write_in_order(&mut in_order).expect("there is memory");
    assert!(written.get_ref() == &in_order && in_order == file.to_vec());

    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime of one thread");
    let program = runtime.load_bytes(&in_order).expect("it is valid");
    for row in [0, 123, N - 1] {
        let x = (0..N).map(|i| if i == row { 1.0f32 } else { 0.0 }).collect();
        let x = HostTensor::from_vec([1, N as usize], x).expect("a tensor");
        let y = program.function("main").and_then(|main| main.call([x.into()])).expect("it runs");
        let y: HostTensor = (&y[0]).try_into().expect("a tensor");
        let want: Vec<f32> = (row * N..(row + 1) * N).map(|i| i as f32).collect();
        assert_eq!(y.to_vec::<f32>().expect("floats"), want, "row {row}");
    }
}

/// Loading reads no tensor. The file of this test ends where its tensors would begin.
#[test]
fn tensors_are_not_read_before_they_are_used() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("hollow.bef");
    write_large(&path);
    let file = File::options().read(true).write(true).open(&path).expect("it is there");
    // SAFETY: the file shrinks below while it is mapped. Only tensors lie in the pages that it loses, and a
    // read of these ends the process, which is the failure that this test detects.
    let map = unsafe { memmap2::Mmap::map(&file) }.expect("it can be mapped");
    let header: Header = bytemuck::pod_read_unaligned(&map[..size_of::<Header>()]);
    let tables = header.file_len - (5 << 30);
    file.set_len(tables).expect("a file can be cut");
    // Access to a page beyond the end of a mapped file kills the process.
    let image = validate(&map).expect("the tables are as they were");
    assert!(image.payload().len() > 5 << 30);
}

/// A program keeps a shared lock on its file, so a cooperating writer can detect it. A file that a writer has
/// locked is not mapped.
#[test]
fn files_are_locked_while_they_run() {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("locked.bef");
    std::fs::write(&path, &*compiled()).expect("a file can be written");
    let file = File::open(&path).expect("it is there");
    let run = || Command::new(EXEC).arg(&path).output().expect("it starts");
    file.lock_shared().expect("a file can be locked");
    assert!(run().status.success(), "readers share");
    file.unlock().expect("and unlocked");
    file.lock().expect("a file can be locked");
    let output = run();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("another process has locked it"), "{told}");
    // A file whose length differs from the one in its header is refused before anything else is read.
    file.unlock().expect("and unlocked");
    let writable = File::options().write(true).open(&path).expect("it is there");
    writable.set_len(file.metadata().expect("it is there").len() - 8).expect("a file can be cut");
    let told = String::from_utf8_lossy(&run().stderr).into_owned();
    assert!(told.contains("truncated: expected"), "{told}");
}
