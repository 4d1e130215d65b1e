//! Steady calls: nothing is allocated, and what is fed and fetched is not copied.
#![cfg(feature = "compile")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

use befrost::{Datum, HostTensor, Runtime, Session};

/// The system's allocator, which counts the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no count any more.
    _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all blocks come from the system's allocator and return to it with the same layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations of `f`.
fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

/// Steps through a callable and the allocations of the last of them.
fn steady(session: &Session, feed: &HostTensor, fetch: &str, feed_name: &str) -> (usize, Datum) {
    let step = session.callable(&[feed_name], &[fetch]).expect("a callable");
    let (mut feeds, mut results) = (Vec::with_capacity(4), Vec::with_capacity(4));
    let feed = Datum::from(feed.clone());
    let mut call = || {
        feeds.push(feed.clone());
        results.clear();
        step.call(&mut feeds, &mut results).expect("a call");
    };
    (0..100).for_each(|_| call());
    let n = allocations(call);
    (n, results.remove(0))
}

fn open(text: &str) -> Session {
    open_on("s", text)
}

fn open_on(queue: &str, text: &str) -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program.mlir");
    std::fs::write(&path, text).expect("a file");
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    Session::builder().runtime(&runtime).open(&path).expect("a session")
}

#[test]
fn steady_calls_allocate_nothing() {
    let of_type = |body: &str| {
        format!(
            "func.func @main(%x: tensor<1024xf32> {{bef.name = \"x\"}}) -> (tensor<1024xf32> {{bef.name = \"y\"}}) {{
  {body}
}}
"
        )
    };
    let x = HostTensor::from_vec([1024], vec![0.5f32; 1024]).expect("a tensor");
    for queue in ["s", "mstd:2"] {
        let same = open_on(queue, &of_type("func.return %x : tensor<1024xf32>"));
        let (n, y) = steady(&same, &x, "y", "x");
        assert_eq!(n, 0, "identity on {queue}");
        // The result is the operand: its memory was neither copied in nor out.
        let y = y.into_tensor().expect("a tensor");
        let address = |tensor: &HostTensor| tensor.buffer().expect("a buffer").address();
        assert_eq!(address(&y), address(&x));
        let negative = of_type(
            "%y = \"tf.Neg\"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>\n  func.return %y : tensor<1024xf32>",
        );
        let (n, _) = steady(&open_on(queue, &negative), &x, "y", "x");
        assert_eq!(n, 0, "a result in a block that was kept, on {queue}");
    }
}

#[test]
fn a_model_allocates_the_same_in_each_call() {
    for queue in ["s", "mstd:2"] {
        let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/digits/digits_mlp.pb");
        let session = Session::builder().runtime(&runtime).open(path).expect("a session");
        let images = HostTensor::from_vec([8, 64], vec![0.5f32; 8 * 64]).expect("images");
        let (n, _) = steady(&session, &images, "logits", "images");
        assert_eq!(n, 0, "{queue}");
    }
}

#[test]
fn results_are_written_into_tensors_of_the_caller() {
    let session = open(
        "func.func @main(%x: tensor<2xf32> {bef.name = \"x\"}) -> (tensor<2xf32> {bef.name = \"y\"}) {
  %y = \"tf.Neg\"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
",
    );
    let step = session.callable(&["x"], &["y"]).expect("a callable");
    let tensor = |values: &[f32]| HostTensor::from_vec([values.len()], values.to_vec()).expect("a tensor");
    let into = tensor(&[0.0, 0.0]);
    let address = into.buffer().expect("a buffer").address();
    step.call_into([tensor(&[1.0, 2.0])], std::slice::from_ref(&into)).expect("a call");
    assert_eq!(into.to_vec::<f32>().expect("floats"), [-1.0, -2.0]);
    assert_eq!(into.buffer().expect("a buffer").address(), address);
    let refused = |into: &[HostTensor], want: &str| {
        let error = step.call_into([tensor(&[1.0, 2.0])], into).expect_err(want);
        assert!(error.message().contains(want), "{error}");
    };
    refused(&[], "0 tensors for 1 fetches");
    refused(&[tensor(&[0.0; 3])], "the fetch 'y' cannot be written: it is f32[2], the tensor f32[3]");
    let adopted = befrost::adopt::<f32>([2], vec![0.0f32; 2]).expect("a tensor");
    refused(&[adopted], "the fetch 'y' cannot be written: ");
    let held = into.read_bytes().expect("it is read");
    refused(std::slice::from_ref(&into), "the fetch 'y' cannot be written: ");
    drop(held);
}

#[test]
fn what_is_lent_is_not_seen_afterwards() {
    let session = open(
        "func.func @main(%x: tensor<4xf32> {bef.name = \"x\"}) -> (tensor<4xf32> {bef.name = \"y\"}) {
  func.return %x : tensor<4xf32>
}
",
    );
    let mut numbers = vec![1.0f32, 2.0, 3.0, 4.0];
    let result = befrost::lend([4], &numbers, |x| session.run(&[("x", x)], &["y"])).expect("it is lent");
    numbers.fill(7.0);
    let result = result.expect("a run");
    // The result is what was lent: it was copied, or cannot be read any more.
    let seen = result["y"].tensor().and_then(|y| {
        y.to_vec::<f32>().map_err(|error| befrost::KernelError::invalid(error.to_string()).into())
    });
    assert!(seen.is_err() || seen.is_ok_and(|seen| seen == [1.0, 2.0, 3.0, 4.0]));
    let wrong = befrost::lend([3], &numbers, |_| unreachable!("of another size"));
    assert!(wrong.is_err());
}
