//! Memory use of the translation of a model: little more than the larger of input and output.
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::graph::pipeline;
use befrost_compiler::import::{ImportOptions, graphdef};
use befrost_compiler::pass::{PassManager, RunOptions};
use befrost_compiler::verify::verify;

/// The system's allocator, with a count of the held bytes. Relaxed: the counts guard no data.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all blocks come from the system's allocator and return to it with the same layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn varint(mut n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn field(tag: usize, contents: &[u8]) -> Vec<u8> {
    [varint(tag << 3 | 2), varint(contents.len()), contents.to_vec()].concat()
}

fn number(tag: usize, n: usize) -> Vec<u8> {
    [varint(tag << 3), varint(n)].concat()
}

fn node(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = [field(1, name.as_bytes()), field(2, op.as_bytes())].concat();
    inputs.iter().for_each(|input| bytes.extend(field(3, input.as_bytes())));
    for (name, value) in attrs {
        bytes.extend(field(5, &[field(1, name.as_bytes()), field(2, value)].concat()));
    }
    field(1, &bytes)
}

/// A GraphDef that multiplies a vector by `n` matrices of `side` rows and columns, half of them transposed.
fn products(n: usize, side: usize) -> Vec<u8> {
    let float = number(6, 1);
    let shape = |dims: &[usize]| dims.iter().flat_map(|&dim| field(2, &number(1, dim))).collect::<Vec<_>>();
    let given = [("dtype", float.clone()), ("shape", field(7, &shape(&[1, side])))];
    let mut graph = node("x", "Placeholder", &[], &given);
    let mut last = "x".to_owned();
    for k in 0..n {
        let (matrix, product) = (format!("w{k}"), format!("y{k}"));
        let elements: Vec<u8> = (0..side * side).flat_map(|i| ((i * (k + 1)) as f32).to_le_bytes()).collect();
        let tensor = [number(1, 1), field(2, &shape(&[side, side])), field(4, &elements)].concat();
        let attrs = [("dtype", float.clone()), ("value", field(8, &tensor))];
        graph.extend(node(&matrix, "Const", &[], &attrs));
        let attrs = [("T", float.clone()), ("transpose_b", number(5, k % 2))];
        graph.extend(node(&product, "MatMul", &[&last, &matrix], &attrs));
        last = product;
    }
    graph
}

#[test]
fn translation_takes_little_more_than_a_model() {
    // Large matrices are packed while the file is written.
    for (graph, level) in
        [products(40, 256), products(4, 2600)].iter().flat_map(|g| (0..=2).map(move |i| (g, i)))
    {
        let before = HELD.load(Relaxed);
        MOST.store(before, Relaxed);
        let module = graphdef(&graph[..], graph.len(), &ImportOptions::default()).expect("a model");
        let module = verify(module).expect("a model that is right");
        let mut passes = PassManager::parse(&pipeline(level)).expect("a pipeline");
        let (module, _) = passes.run_with(module, &mut RunOptions::default()).expect("passes that run");
        let file = emit_parts(&module, &EmitOptions::default()).expect("a file");
        file.write_in_order(&mut std::io::sink()).expect("a sink that takes everything");
        let (most, len) = (MOST.load(Relaxed) - before, file.n_bytes());
        let larger = len.max(graph.len());
        assert!(most * 10 <= larger * 13, "level {level}: {most} bytes for {} to {len}", graph.len());
    }
}
