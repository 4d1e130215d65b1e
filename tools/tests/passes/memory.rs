//! The memory plan compared with the memory that a run needs: an allocator limited to the sizes of the plan
//! and of the results suffices, and one byte less does not.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use befrost::{Datum, HostTensor, Runtime};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::graph::pipeline;
use befrost_compiler::print::{PrintOptions, print};
use befrost_tensor::Shape;
use befrost_tensor::mem::{AllocError, Allocator, Block, Limited, Malloc};

/// The dimensions of an image: batch, height, width, channels.
const IMAGE: [usize; 4] = [1, 16, 16, 8];

/// A chain of residual blocks with two convolutions each.
fn residual(blocks: usize) -> String {
    let image = "tensor<1x16x16x8xf32>";
    let mut text = format!("func.func @main(%x0: {image}) -> {image} {{\n");
    text += "  %w = \"tf.Const\"() {value = dense<0.01> : tensor<3x3x8x8xf32>} : () -> tensor<3x3x8x8xf32>\n";
    for i in 0..blocks {
        let mut op = |to: &str, name: &str, of: &str, types: &str, attrs: &str| {
            _ = writeln!(text, "  %{to}{i} = \"tf.{name}\"({of}){attrs} : ({types}) -> {image}");
        };
        let (conv, filter) =
            (" {strides = [1, 1, 1, 1], padding = \"SAME\"}", format!("{image}, tensor<3x3x8x8xf32>"));
        op("a", "Conv2D", &format!("%x{i}, %w"), &filter, conv);
        op("b", "Relu", &format!("%a{i}"), image, "");
        op("c", "Conv2D", &format!("%b{i}, %w"), &filter, conv);
        op("d", "AddV2", &format!("%c{i}, %x{i}"), &format!("{image}, {image}"), "");
        _ = writeln!(text, "  %x{} = \"tf.Relu\"(%d{i}) : ({image}) -> {image}", i + 1);
    }
    text + &format!("  tfrt.return %x{blocks} : {image}\n}}\n")
}

/// The program, and the total size of its arenas.
fn planned(text: &str) -> (Vec<u8>, usize) {
    let module = super::compiled(text, &pipeline(2)).expect("nothing is wrong with it");
    let printed = print(&module, &PrintOptions::default());
    let arenas = printed.split("bytes = ").skip(1);
    let arenas = arenas.filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
    (emit(&module, &EmitOptions::default()).expect("it can be emitted"), arenas.sum())
}

fn image(allocator: &Arc<dyn Allocator>) -> HostTensor {
    let shape = Shape::new(&IMAGE).expect("small");
    let numbers = vec![0.5_f32; shape.num_elements()];
    HostTensor::from_slice(shape, &numbers, allocator).expect("memory for a small tensor")
}

/// True if a run with at most `bytes` bytes at a time succeeds.
fn suffices(queue: &str, program: &[u8], bytes: usize) -> bool {
    let limited = Arc::new(Limited::new(Malloc::shared(), bytes));
    let runtime = Runtime::builder().work_queue(queue).allocator(limited).build().expect("a few threads");
    let program = runtime.load_bytes(program).expect("it was emitted");
    let main = program.function("main").expect("it is there");
    let image = image(&(Malloc::shared() as Arc<dyn Allocator>));
    let results = main.call([Datum::from(image)]).expect("the function takes one image");
    results.iter().all(|result| result.tensor().is_ok())
}

/// The bytes allocated for an image. They are more than its elements, since kernels read whole vectors.
fn bytes_of_an_image() -> usize {
    let limited = Arc::new(Limited::new(Malloc::shared(), usize::MAX));
    let allocator: Arc<dyn Allocator> = limited.clone();
    let _image = image(&allocator);
    limited.used()
}

#[test]
fn a_run_takes_what_was_planned() {
    let result = bytes_of_an_image();
    for blocks in [2, 16] {
        let (program, planned) = planned(&residual(blocks));
        assert!(planned > 0, "something is planned");
        // At most three images live at once at any depth of the network. The result is outside of the arena.
        assert!(planned <= 3 * result, "{blocks} blocks: {planned} bytes");
        for queue in ["s", "mstd:4"] {
            assert!(
                suffices(queue, &program, planned + result),
                "{queue}, {blocks} blocks: more than planned"
            );
            assert!(
                !suffices(queue, &program, planned + result - 1),
                "{queue}, {blocks} blocks: less than planned"
            );
        }
    }
}

/// An allocator that counts its allocations. Relaxed: the counter guards no other data.
struct Counted {
    below: Arc<dyn Allocator>,
    n: AtomicUsize,
}

impl Allocator for Counted {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        self.n.fetch_add(1, Relaxed);
        self.below.allocate(size, align)
    }

    fn release(&self, block: Block) {
        self.below.release(block);
    }
}

/// The number of allocations in each of several calls. `images` are the batch sizes of the calls.
fn allocations(queue: &str, text: &str, images: &[usize]) -> Vec<usize> {
    let (program, planned) = planned(text);
    assert!(planned > 0, "something is planned");
    let counted = Arc::new(Counted { below: Malloc::shared(), n: AtomicUsize::new(0) });
    let runtime =
        Runtime::builder().work_queue(queue).allocator(counted.clone()).build().expect("a few threads");
    let program = runtime.load_bytes(&program).expect("it was emitted");
    let main = program.function("main").expect("it is there");
    let call = |&n: &usize| {
        let [_, height, width, channels] = IMAGE;
        let shape = Shape::new(&[n, height, width, channels]).expect("small");
        let numbers = vec![0.5_f32; shape.num_elements()];
        let plain = Malloc::shared() as Arc<dyn Allocator>;
        let images = HostTensor::from_slice(shape, &numbers, &plain).expect("memory for a small tensor");
        let before = counted.n.load(Relaxed);
        let results = main.call([Datum::from(images)]).expect("the function takes images");
        assert!(results.iter().all(|result| result.tensor().is_ok()), "{queue}: {n} images");
        counted.n.load(Relaxed) - before
    };
    images.iter().map(call).collect()
}

/// After a call with the largest batch, a call with any batch allocates as little as a call of a program with
/// a fixed batch: only its result.
#[test]
fn calls_with_any_number_of_images_share_one_arena() {
    let unknown = residual(4).replace("tensor<1x16x16x8xf32>", "tensor<?x16x16x8xf32>");
    for queue in ["s", "mstd:4"] {
        let fixed = allocations(queue, &residual(4), &[1, 1]);
        let each = allocations(queue, &unknown, &[5, 1, 2, 5, 3]);
        assert!(each[1..].iter().all(|&n| n == fixed[1]), "{queue}: {each:?}, fixed {fixed:?}");
    }
}
