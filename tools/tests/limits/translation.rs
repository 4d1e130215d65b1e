//! Translation of a model that is nearly all weights: they are in memory once.

use std::io::Cursor;

use bef_format::write::Parts;
use befrost::{HostTensor, Runtime};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::import::{ImportOptions, graphdef};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::verify::verify;

use crate::allocator::peak_of;

/// A field of a message of protobuf, with the bytes of a string or another message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut len = bytes.len();
    while len >= 128 {
        field.push(len as u8 | 128);
        len >>= 7;
    }
    field.push(len as u8);
    field.extend_from_slice(bytes);
    field
}

/// The entry `name` of a node's attributes.
fn attr(name: &str, value: &[u8]) -> Vec<u8> {
    field(5, &[field(1, name.as_bytes()), field(2, value)].concat())
}

fn node(name: &str, op: &str, inputs: &[&str], attrs: &[Vec<u8>]) -> Vec<u8> {
    let inputs = inputs.iter().flat_map(|input| field(3, input.as_bytes())).collect();
    let head = [field(1, name.as_bytes()), field(2, op.as_bytes()), inputs];
    field(1, &[head.concat(), attrs.concat()].concat())
}

/// The side of the matrix, which has 36 MB.
const N: u16 = 3000;

/// The product of a row with a constant matrix.
fn model() -> Vec<u8> {
    let size = [8, N as u8 | 128, (N >> 7) as u8];
    let shape = |dims: &[&[u8]]| dims.iter().flat_map(|dim| field(2, dim)).collect::<Vec<u8>>();
    let elements =
        (0..u32::from(N) * u32::from(N)).flat_map(|i| (i as f32).to_le_bytes()).collect::<Vec<u8>>();
    // Type 1 is f32.
    let (dtype, is_f32) = (attr("dtype", &[6 << 3, 1]), attr("T", &[6 << 3, 1]));
    let weights = [vec![8, 1], field(2, &shape(&[&size, &size])), field(4, &elements)].concat();
    let row = attr("shape", &field(7, &shape(&[&[8, 1], &size])));
    [
        node("x", "Placeholder", &[], &[dtype.clone(), row]),
        node("w", "Const", &[], &[dtype, attr("value", &field(8, &weights))]),
        node("y", "MatMul", &["x", "w"], &[is_f32]),
    ]
    .concat()
}

/// The program of a model at an optimization level.
fn compile(model: &[u8], level: u8) -> Parts {
    let module = graphdef(model, model.len(), &ImportOptions::default()).expect("it is a graph");
    let module = verify(module).expect("it is right");
    let pipeline = default_pipeline(&module, level).expect("it is an op graph");
    let mut passes = PassManager::parse(&pipeline).expect("it is right");
    let (module, _) = passes.run(module).expect("it can be compiled");
    emit_parts(&module, &EmitOptions::default()).expect("it has a form")
}

#[test]
fn weights_are_in_memory_once() {
    let model = model();
    for level in [0, 2] {
        let (n_written, peak) = peak_of(4 << 20, || {
            // Other threads make pieces that are too small to be counted.
            let file = compile(&model, level);
            file.write_in_order(&mut std::io::sink()).expect("it takes everything");
            file.n_bytes()
        });
        let most = model.len().max(n_written) * 13 / 10;
        assert!(n_written > 36_000_000 && peak >= 36_000_000, "{n_written} bytes with {peak} in memory");
        assert!(peak < most, "-O{level}: {n_written} bytes with {peak} in memory");
    }
}

#[test]
fn weights_packed_in_pieces_are_right() {
    let file = compile(&model(), 2);
    let (mut written, mut in_order) = (Cursor::new(Vec::new()), Vec::new());
    file.write_to_file(&mut written).expect("there is memory");
    file.write_in_order(&mut in_order).expect("there is memory");
    assert!(written.get_ref() == &in_order && in_order == file.to_vec());
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let program = runtime.load_bytes(&in_order).expect("it is valid");
    for row in [0, 1234, N - 1] {
        let mut x = vec![0.0f32; N.into()];
        x[usize::from(row)] = 1.0;
        let x = HostTensor::from_vec([1, N.into()], x).expect("there is memory");
        let y = program.function("main").and_then(|main| main.call([x.into()])).expect("it runs");
        let y: HostTensor = (&y[0]).try_into().expect("a tensor");
        let first = u32::from(row) * u32::from(N);
        assert!(y.to_vec::<f32>().unwrap().into_iter().zip(first..).all(|(y, i)| y == i as f32), "row {row}");
    }
}
