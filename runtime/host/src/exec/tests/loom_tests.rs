//! The executor under loom: small programs, all interleavings of their threads with a few preemptions.

use super::*;
use befrost_kernel_api::queue::{Latch, Task, WhenFull, WorkQueue};
use loom::thread::JoinHandle;

/// A queue that runs every task on a thread of its own. Waiting joins them all.
#[derive(Default)]
struct Threads(Mutex<Vec<JoinHandle<()>>>);

impl WorkQueue for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }
    fn parallelism(&self) -> usize {
        2
    }
    fn add_task(&self, task: Task) {
        let thread = loom::thread::spawn(move || task.run());
        self.0.lock().unwrap().push(thread);
    }
    fn add_blocking_task(&self, task: Task, _: WhenFull) -> Result<(), Task> {
        self.add_task(task);
        Ok(())
    }
    fn quiesce(&self) {}
    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        first();
        loop {
            let thread = self.0.lock().unwrap().pop();
            match thread {
                Some(thread) => thread.join().unwrap(),
                None => break,
            }
        }
        assert!(latch.is_open());
    }
}

/// All interleavings with at most two preemptions. The whole executor is too large for more.
fn bounded() -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder
}

#[test]
fn loom_registers_are_published_across_streams() {
    let mut source = Source::new();
    let a = source.on_stream(0, "add", &[(0, Required), (0, Required)], &["i32"], &[]);
    let b = source.on_stream(1, "add", &[(0, Required), (0, Required)], &["i32"], &[]);
    let c = source.on_stream(0, "add", &[(a, Required), (b, Required)], &["i32"], &[]);
    let bytes = source.bytes(&[c]);
    bounded().check(move || {
        let program = load(&bytes);
        let (results, _) = run_on(Queue::new(Threads::default()), &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["4"]);
    });
}

#[test]
fn loom_asynchronous_results_meet() {
    let mut source = Source::new();
    let a = source.kernel("later", &[0]);
    let b = source.kernel("promised", &[0]);
    let c = source.kernel("add", &[a, b]);
    let bytes = source.bytes(&[c]);
    bounded().check(move || {
        let program = load(&bytes);
        let (results, _) = run_on(Queue::new(Threads::default()), &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["2"]);
    });
}

#[test]
fn loom_a_called_frame_ends_before_its_caller() {
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let inner = source.next("outer", &[late]);
    let called = source.on_stream(0, "call", &[(0, Required)], &["i32"], &[inner]);
    let bytes = source.bytes(&[called]);
    bounded().check(move || {
        let program = load(&bytes);
        let (results, _) = run_on(Queue::new(Threads::default()), &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["1"]);
        // The thread that freed the last frame has dropped the program.
        assert_eq!(Arc::strong_count(&program), 1);
    });
}

#[test]
fn loom_iterations_overlap_and_the_loop_ends_after_them() {
    let mut source = Source::new();
    source.kernel("later", &[0]);
    let next = source.kernel("add", &[0, 0]);
    let again = source.on_stream(0, "is_one", &[(0, Required)], &["i1"], &[]);
    let body = source.next("outer", &[next, again]);
    let yes = source.on_stream(0, "is_one", &[(0, Required)], &["i1"], &[]);
    let ty = source.writer.ty("i64");
    let two = source.writer.attr_int(ty, Some(bef_format::DType::I64), 2);
    let last = source.push(0, "while", &[(yes, Required), (0, Required)], &["i32"], &[body], &[two]);
    let bytes = source.bytes(&[last]);
    bounded().check(move || {
        let program = load(&bytes);
        let (results, _) = run_on(Queue::new(Threads::default()), &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["4"]);
        assert_eq!(Arc::strong_count(&program), 1);
    });
}

/// The second stream reads the first result of a straight line while the line continues.
#[test]
fn loom_a_straight_line_publishes_to_another_stream() {
    let mut source = Source::new();
    let a = source.on_stream(0, "add", &[(0, Required), (0, Required)], &["i32"], &[]);
    let b = source.on_stream(0, "add", &[(a, Required), (a, Required)], &["i32"], &[]);
    let c = source.on_stream(1, "add", &[(a, Required), (0, Required)], &["i32"], &[]);
    let d = source.on_stream(0, "add", &[(b, Required), (c, Required)], &["i32"], &[]);
    let bytes = source.bytes(&[d]);
    bounded().check(move || {
        let program = load(&bytes);
        let plan = program.plans().last().expect("there is a main");
        assert_eq!(plan.general(program.image(), false).members.len(), 2);
        let (results, _) = run_on(Queue::new(Threads::default()), &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["7"]);
    });
}
