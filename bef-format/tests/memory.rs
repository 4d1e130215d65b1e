//! Validation needs at most a small multiple of the file's size in memory, whatever the file claims.
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use bef_format::write::{FunctionBuilder, KernelSpec, Writer, update_checksums};
use bef_format::{AlignedBytes, FunctionKind, validate};

/// The system's allocator, with a count of the memory held by this thread.
struct Counting;

thread_local! {
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn count(change: impl FnOnce(usize) -> usize) {
    // A terminating thread may still free, which is not counted.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = change(now);
        held.set((now, most.max(now)));
    });
}

// SAFETY: all calls are forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(|now| now + layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(|now| now.saturating_sub(layout.size()));
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The peak memory of `f` beyond what was held before.
fn most(f: impl FnOnce()) -> usize {
    let before = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    f();
    HELD.with(|held| held.get().1 - before)
}

#[track_caller]
fn check(name: &str, bytes: &AlignedBytes) {
    let n = most(|| _ = validate(bytes));
    // An error may hold a short text.
    assert!(n <= bytes.len() + 1024, "{name}: {n} bytes to validate {}", bytes.len());
}

/// A chain of `n` additions.
fn adds(n: u32) -> AlignedBytes {
    let mut w = Writer::new();
    let i32t = w.ty("i32");
    let code = w.kernel_name("tfrt.add.i32");
    let mut f = FunctionBuilder::new(w.string("main"), FunctionKind::Async);
    let mut last = f.arg(i32t, w.string("a"), None);
    for k in 0..n {
        let location = Some(w.location_file("adds.mlir", k, 8));
        let operands = &[last, last];
        last = f.kernel(&KernelSpec { code, operands, results: &[i32t], location, ..Default::default() });
    }
    w.add(f);
    AlignedBytes::copy_of(&w.finish().expect("can be written"))
}

#[test]
fn validation_takes_less_memory_than_the_file() {
    let bytes = adds(100_000);
    let n = most(|| assert!(validate(&bytes).is_ok()));
    assert!(n * 4 < bytes.len(), "{n} bytes to validate {}", bytes.len());
    // Locations and attributes need memory per item.
    let mut w = Writer::new();
    for i in 0..10_000 {
        w.location_file("a.mlir", i, 1);
        w.attr_str(&i.to_string());
    }
    check("pools", &AlignedBytes::copy_of(&w.finish().expect("can be written")));
}

/// Broken files, and files with any word at its maximum: counts are checked against the available entries
/// before memory is reserved.
#[test]
fn claims_take_no_memory() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/bef/golden");
    for entry in std::fs::read_dir(golden).expect("the tree holds golden files") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "bef") {
            continue;
        }
        let bytes = AlignedBytes::copy_of(&std::fs::read(&path).expect("readable"));
        for at in (0..bytes.len() - 4).step_by(4) {
            for value in [u32::MAX, u32::MAX - 1, 1 << 31, 1 << 24] {
                let mut copy = bytes.clone();
                copy[at..at + 4].copy_from_slice(&value.to_le_bytes());
                update_checksums(&mut copy);
                check(&format!("{} with {value:#x} at {at}", path.display()), &copy);
            }
        }
    }
}
