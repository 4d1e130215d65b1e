//! Tests of the executor: order, errors, deadness, laziness, completion, calls, cancellation; and the
//! register protocol under loom.

#![cfg_attr(loom, allow(dead_code, reason = "the models need less than the plain tests"))]

use std::sync::{Arc, Mutex};

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{FunctionId, FunctionKind, OperandInfo, OperandMode, TypeId};

use super::call;
#[cfg(not(loom))]
use super::call_into;
#[cfg(not(loom))]
use crate::fewer;
use crate::program::Program;
use befrost_kernel_api::context::{ExecContext, Limits, Output, Request};
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::kernel;
use befrost_kernel_api::kernel::control;
use befrost_kernel_api::kernel::{
    Async, Call, CompilationUnit, Completion, Deferred, Kernel, KernelFrame, KernelUse, Outcome, Prepare,
    Prepared, Rest, Signature,
};
use befrost_kernel_api::queue::Queue;
use befrost_kernel_api::registry::Registry;
use befrost_kernel_api::value::{Chain, Value};

fn kernels(registry: &mut Registry) {
    registry.add(control::caller("call"));
    registry.add(control::branch("if"));
    registry.add(control::case("case"));
    registry.add(control::repeat("repeat"));
    registry.add(control::while_loop("while"));
    registry.add(control::once("once"));
    registry.add(kernel!("less_than_100", |x: i32| x < 100));
    registry.add(kernel!("add", |a: i32, b: i32| a.wrapping_add(b)));
    registry.add(kernel!("one", || 1i32));
    registry.add(kernel!("zero", || 0i32));
    registry.add(kernel!("ten", || 10i32));
    registry.add(kernel!("minus_one", || -1i32));
    registry.add(kernel!("true", || true));
    registry.add(kernel!("sum", |terms: Rest<'_, i32>| {
        terms.iter().try_fold(0, |sum, term| term.map(|term| sum + term))
    }));
    let fail = kernel!("fail", |x: i32| {
        Err::<i32, _>(KernelError::new(ErrorCode::Unknown, format!("fail {x}")))
    });
    let signature = Signature { results: vec![&[]], ..fail.signature.clone() };
    registry.add(Kernel::new(fail.name, signature, fail.run));
    registry.add(kernel!("panic", |x: i32| -> i32 { std::panic::panic_any(format!("panic {x}")) }));
    // Synchronous, unlike a kernel that returns a `Value`.
    let signature = Signature { operands: vec![&["i32"]], results: vec![&[]], ..Signature::default() };
    registry.add(Kernel::new("dead", signature, |frame| {
        frame.set_result(0, Value::Dead);
        Outcome::Done
    }));
    registry.add(kernel!("note", |x: i32, cx: &ExecContext| { cx.print(&format!("{x} ")).map(|()| x) }));
    registry.add(kernel!("chain", |_: i32| Chain));
    registry
        .add(kernel!("ordered", |x: i32, _: Chain, cx: &ExecContext| cx.print(&format!("{x} ")).map(|()| x)));
    registry.add(kernel!("later", |x: i32| Deferred::new(move |_| x)));
    registry.add(kernel!("promised", |x: i32, cx: &ExecContext| {
        let (promise, result) = Async::<i32>::pending();
        cx.queue().add_task(befrost_kernel_api::queue::Task::new(move || promise.set(Value::I32(x))));
        result
    }));
    registry.add(kernel!("panic_later", |x: i32| {
        Deferred::new(move |_| -> i32 { std::panic::panic_any(format!("panic {x}")) })
    }));
    registry.add(kernel!("first", |c: bool, a: &Value, b: &Value| if c { a.clone() } else { b.clone() }));
    registry.add(kernel!("merge", |a: &Value, b: &Value| {
        let is_there = |value: &Value| value.final_value().is_some_and(|value| !matches!(value, Value::Dead));
        if is_there(a) { a.clone() } else { b.clone() }
    }));
    registry.add(kernel!("is_one", |x: i32| x == 1));
    registry.add(kernel!("compile", |_: i32, unit: CompilationUnit<'_>| {
        let CompilationUnit { id, root, nested, text } = unit;
        Err::<i32, _>(KernelError::invalid(format!("#{id} {root} {nested:?} {text}")))
    }));
    registry.add(kernel!("count_uses", |uses: Prepared<'_, SharedCount>| {
        uses.0.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }));
    registry.add(kernel!("until_cancelled", |x: i32, cx: &ExecContext| {
        while !cx.request.cancellation.is_cancelled() {
            std::thread::yield_now();
        }
        x
    }));
    registry.add(kernel!("cancel", |x: i32, cx: &ExecContext| {
        cx.request.cancellation.cancel();
        x
    }));
    let signature =
        Signature { results: vec![&["i32"], &["i32"]], completion: Completion::Sync, ..Signature::default() };
    registry.add(Kernel::new("half", signature, |frame| {
        frame.set_result(0, Value::I32(1));
        Outcome::error(KernelError::invalid("half"))
    }));
}

/// A counter of the calls of all uses of a kernel in a program.
struct SharedCount(Arc<std::sync::atomic::AtomicI32>);

impl Prepare for SharedCount {
    fn prepare(site: &KernelUse<'_>) -> Result<SharedCount, String> {
        Ok(SharedCount(site.shared("count", Arc::default)))
    }
}

/// Kernels that break the rules of kernels.
fn bad_kernels(registry: &mut Registry) {
    let signature = |completion| Signature { results: vec![&["i32"]], completion, ..Signature::default() };
    registry.add(Kernel::new("forgets", signature(Completion::Sync), |_| Outcome::Done));
    let calls = |frame: &mut KernelFrame<'_>| frame.call(Call { function: 7, first_operand: 0 });
    registry.add(Kernel::new("misdials", signature(Completion::Calls), calls));
}

/// Builder of a program. `main` takes one i32.
struct Source {
    writer: Writer,
    main: FunctionBuilder,
    int: TypeId,
    /// The device of the next kernels.
    device: u16,
}

/// Operands of a kernel: registers with modes.
type Operands<'o> = &'o [(u32, OperandMode)];

use OperandMode::Required;
#[cfg(not(loom))]
use OperandMode::{After, Lenient, Order};

impl Source {
    fn new() -> Source {
        let mut writer = Writer::new();
        let int = writer.ty("i32");
        let (name, unnamed) = (writer.string("main"), writer.string(""));
        let mut main = FunctionBuilder::new(name, FunctionKind::Async);
        main.arg(int, unnamed, None);
        Source { writer, main, int, device: 0 }
    }

    fn on_stream(
        &mut self,
        stream: u32,
        name: &str,
        operands: Operands<'_>,
        results: &[&str],
        to: &[FunctionId],
    ) -> u32 {
        self.push(stream, name, operands, results, to, &[])
    }

    fn push(
        &mut self,
        stream: u32,
        name: &str,
        operands: Operands<'_>,
        results: &[&str],
        to: &[FunctionId],
        attrs: &[bef_format::AttrId],
    ) -> u32 {
        let code = self.writer.kernel_name(name);
        let results: Vec<TypeId> = results.iter().map(|ty| self.writer.ty(ty)).collect();
        let operand_info: Vec<_> = operands
            .iter()
            .map(|(_, mode)| OperandInfo { mode: *mode as u8, ..OperandInfo::default() })
            .collect();
        let operands: Vec<u32> = operands.iter().map(|(register, _)| *register).collect();
        let line = self.main.n_kernels() + 1;
        let location = Some(self.writer.location_file("t", line, 1));
        self.main.kernel(&KernelSpec {
            code,
            operands: &operands,
            operand_info: &operand_info,
            results: &results,
            functions: to,
            attrs,
            any: name == "merge",
            stream,
            device: self.device,
            location,
            ..KernelSpec::default()
        })
    }

    /// A kernel with functions. All its operands are required.
    fn control(&mut self, name: &str, operands: &[u32], n_results: usize, to: &[FunctionId]) -> u32 {
        let operands: Vec<_> = operands.iter().map(|&register| (register, Required)).collect();
        let attrs = match name {
            "while" => {
                let ty = self.writer.ty("i64");
                vec![self.writer.attr_int(ty, Some(bef_format::DType::I64), 1)]
            }
            _ => Vec::new(),
        };
        self.push(0, name, &operands, &vec!["i32"; n_results], to, &attrs)
    }

    fn kernel(&mut self, name: &str, operands: &[u32]) -> u32 {
        let operands: Vec<_> = operands.iter().map(|&register| (register, Required)).collect();
        let ty = match name {
            "chain" => "!tfrt.chain",
            "is_one" | "less_than_100" => "i1",
            _ => "i32",
        };
        self.on_stream(0, name, &operands, &[ty], &[])
    }

    /// Ends the function and begins another `main`, which also takes one i32.
    fn next(&mut self, name: &str, results: &[u32]) -> FunctionId {
        let unnamed = self.writer.string("");
        for &register in results {
            self.main.result(register, unnamed);
        }
        let next = self.writer.string(name);
        let mut next = FunctionBuilder::new(next, FunctionKind::Async);
        next.arg(self.int, unnamed, None);
        let done = std::mem::replace(&mut self.main, next);
        self.writer.add(done)
    }

    fn bytes(mut self, results: &[u32]) -> Vec<u8> {
        let unnamed = self.writer.string("");
        for &register in results {
            self.main.result(register, unnamed);
        }
        self.writer.add(self.main);
        self.writer.finish().unwrap()
    }

    fn load(self, results: &[u32]) -> Arc<Program> {
        load(&self.bytes(results))
    }
}

fn load(bytes: &[u8]) -> Arc<Program> {
    Program::from_bytes(bytes, &Registry::new().with(kernels).with(bad_kernels)).unwrap()
}

#[derive(Default)]
struct Sink(Mutex<String>);

impl Output for Sink {
    fn write(&self, text: &str) -> std::io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
}

/// Calls the last function with `argument` on `queue`. Returns its results and what it printed.
fn run_on(queue: Queue, program: &Arc<Program>, argument: Value, limits: Limits) -> (Vec<String>, String) {
    let sink = Arc::new(Sink::default());
    let request = Request { output: sink.clone(), limits, ..Request::new(queue) };
    let context = ExecContext::new(Arc::new(request));
    let main = FunctionId(program.image().n_functions() - 1);
    let results = call(program, main, vec![argument], &context).unwrap();
    let results = results.iter().map(|value| match value.error() {
        Some(error) => {
            let calls: String = error.calls().iter().map(|call| format!(" < {call}")).collect();
            format!("{error}{calls}")
        }
        None => value.to_string(),
    });
    let results = results.collect();
    let printed = sink.0.lock().unwrap().trim_end().to_owned();
    (results, printed)
}

#[cfg(not(loom))]
mod bounds;
#[cfg(not(loom))]
mod devices;
#[cfg(not(loom))]
mod flow;
#[cfg(not(loom))]
mod frames;
#[cfg(not(loom))]
mod later;
#[cfg(not(loom))]
mod overlap;
#[cfg(not(loom))]
mod ownership;
#[cfg(not(loom))]
mod prepared;
#[cfg(not(loom))]
mod straight;

#[cfg(not(loom))]
mod plain {
    use super::*;
    use crate::queue::from_spec;
    use befrost_kernel_api::async_value::AsyncRef;

    pub(super) fn run(spec: &str, program: &Arc<Program>) -> (Vec<String>, String) {
        run_on(from_spec(spec).unwrap(), program, Value::I32(1), Limits::default())
    }

    /// Checks results and output: with a final argument, which uses a sequential plan if there is one, then
    /// with a late argument, on both queues.
    pub(super) fn check(program: &Arc<Program>, results: &[&str], printed: &str) {
        let (got, output) = run("s", program);
        assert_eq!(
            (got.as_slice(), output.as_str()),
            (&*results.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>(), printed)
        );
        for spec in ["s", "mstd:1", "mstd:3"] {
            let queue = from_spec(spec).unwrap();
            let (promise, late) = AsyncRef::pending();
            queue.add_task(befrost_kernel_api::queue::Task::new(move || promise.set(Value::I32(1))));
            let (got, output) = run_on(queue, program, Value::Async(late), Limits::default());
            assert_eq!(got, results, "late argument on {spec}");
            if spec == "s" {
                assert_eq!(output, printed, "late argument on {spec}");
            }
        }
    }

    #[test]
    fn a_value_flows_and_an_argument_is_returned_as_it_is() {
        let mut source = Source::new();
        let two = source.kernel("add", &[0, 0]);
        let four = source.kernel("add", &[two, two]);
        check(&source.load(&[four, 0, four, two]), &["4", "1", "4", "2"], "");
    }

    #[test]
    fn order_is_newest_first_and_depth_first() {
        // Independent constants: the last runs first. Users of one value: the earliest first, each with its
        // own users.
        let mut source = Source::new();
        let a = source.kernel("add", &[0, 0]);
        let b = source.kernel("add", &[a, 0]);
        let notes: Vec<u32> = [a, b, a].iter().map(|&x| source.kernel("note", &[x])).collect();
        let after = source.kernel("note", &[notes[0]]);
        let program = source.load(&[after]);
        // The users of a are b, note(a), note(a) in program order: the users of b come before the other users
        // of a.
        let (_, line) = run("s", &program);
        assert_eq!(line, "3 2 2 2");
        check(&program, &["2"], "3 2 2 2");
        let mut source = Source::new();
        let ones: Vec<u32> = (0..3).map(|_| source.kernel("one", &[])).collect();
        let sums: Vec<u32> = ones
            .iter()
            .enumerate()
            .map(|(i, &one)| {
                let mut sum = one;
                for _ in 0..i {
                    sum = source.kernel("add", &[sum, one]);
                }
                sum
            })
            .collect();
        let notes: Vec<u32> = sums.iter().map(|&sum| source.kernel("note", &[sum])).collect();
        let (_, line) = run("s", &source.load(&notes));
        assert_eq!(line, "3 2 1");
    }

    #[test]
    fn an_error_skips_its_users_and_no_others() {
        let mut source = Source::new();
        let bad = source.kernel("fail", &[0]);
        let worse = source.kernel("panic", &[0]);
        let skipped = source.kernel("note", &[bad]);
        let both = source.kernel("add", &[worse, bad]);
        let fine = source.kernel("note", &[0]);
        let sum = source.kernel("sum", &[fine, bad]);
        let program = source.load(&[bad, skipped, both, fine, sum]);
        let results =
            ["t:1:1: fail 1", "t:1:1: fail 1", "t:2:1: a kernel panicked: panic 1", "1", "t:1:1: fail 1"];
        check(&program, &results, "1");
    }

    #[test]
    fn a_panic_in_a_task_is_an_error_of_its_kernel() {
        let mut source = Source::new();
        let bad = source.kernel("panic_later", &[0]);
        let next = source.kernel("add", &[bad, 0]);
        let text = "t:1:1: a kernel panicked: panic 1";
        check(&source.load(&[bad, next]), &[text, text], "");
    }

    #[test]
    fn results_stored_before_a_failure_stay() {
        let mut source = Source::new();
        let first = source.on_stream(0, "half", &[], &["i32", "i32"], &[]);
        let program = source.load(&[first, first + 1]);
        check(&program, &["1", "t:1:1: half"], "");
    }

    #[test]
    fn dead_wins_over_error() {
        let mut source = Source::new();
        let bad = source.kernel("fail", &[0]);
        let dead = source.kernel("dead", &[0]);
        let both = source.kernel("add", &[bad, dead]);
        let call = source.next("outer", &[both]);
        let inner = source.on_stream(0, "call", &[(0, Required)], &["i32"], &[call]);
        let program = source.load(&[inner]);
        check(&program, &["<<dead>>"], "");
    }

    #[test]
    fn control_edges_order_and_carry_errors_but_no_values() {
        let mut source = Source::new();
        let fine = source.kernel("note", &[0]);
        let bad = source.kernel("fail", &[0]);
        let two = source.kernel("add", &[0, 0]);
        let ordered = source.on_stream(0, "note", &[(two, Required), (fine, Order)], &["i32"], &[]);
        let skipped = source.on_stream(0, "note", &[(0, Required), (bad, Order)], &["i32"], &[]);
        let chain = source.kernel("chain", &[ordered]);
        let declared = source.on_stream(0, "ordered", &[(0, Required), (chain, Order)], &["i32"], &[]);
        let bad_chain = source.kernel("chain", &[bad]);
        let not_run = source.on_stream(0, "ordered", &[(0, Required), (bad_chain, Order)], &["i32"], &[]);
        let required = source.kernel("ordered", &[0, bad_chain]);
        let trailing = source.kernel("note", &[0, bad_chain]);
        let program = source.load(&[ordered, skipped, declared, not_run, required, trailing]);
        let failed = "t:2:1: fail 1";
        check(&program, &["2", failed, "1", failed, failed, failed], "1 2 1");
    }

    #[test]
    fn lenient_operands_do_not_wait_and_do_not_fail() {
        let mut source = Source::new();
        let yes = source.kernel("is_one", &[0]);
        let bad = source.kernel("fail", &[0]);
        let late = source.kernel("later", &[0]);
        let chosen =
            source.on_stream(0, "first", &[(yes, Required), (late, Lenient), (bad, Lenient)], &["i32"], &[]);
        let failed =
            source.on_stream(0, "first", &[(yes, Required), (bad, Lenient), (late, Lenient)], &["i32"], &[]);
        let next = source.kernel("add", &[chosen, chosen]);
        check(&source.load(&[chosen, failed, next]), &["1", "t:2:1: fail 1", "2"], "");
    }

    #[test]
    fn a_merge_takes_what_comes_first() {
        let mut source = Source::new();
        let late = source.kernel("later", &[0]);
        let two = source.kernel("add", &[0, 0]);
        let first = source.kernel("merge", &[late, two]);
        let dead = source.kernel("dead", &[0]);
        let alive = source.kernel("merge", &[dead, late]);
        let none = source.kernel("merge", &[dead, dead]);
        let bad = source.kernel("fail", &[0]);
        let failed = source.kernel("merge", &[late, bad]);
        let ordered =
            source.on_stream(0, "merge", &[(two, Required), (late, Required), (alive, Order)], &["i32"], &[]);
        let sum = source.kernel("add", &[first, alive]);
        let program = source.load(&[first, alive, none, failed, ordered, sum]);
        let (results, _) = run("s", &program);
        assert_eq!(results, ["2", "1", "<<dead>>", "t:7:1: fail 1", "2", "3"]);
        for spec in ["mstd:1", "mstd:3"] {
            for _ in 0..50 {
                let (results, _) = run(spec, &program);
                // Either may come first.
                assert!(["1", "2"].contains(&results[0].as_str()), "{results:?}");
                assert_eq!(results[1..3], ["1", "<<dead>>"]);
                assert!(["1", "t:7:1: fail 1"].contains(&results[3].as_str()), "{results:?}");
            }
        }
    }

    #[test]
    fn after_edges_wait_for_completion() {
        let mut source = Source::new();
        let late = source.kernel("later", &[0]);
        let noted = source.kernel("note", &[late]);
        let inner = source.next("outer", &[0, noted]);
        // The callee's first result is final at once. The kernel completes after the callee's note is
        // printed.
        let two = source.kernel("add", &[0, 0]);
        let called = source.on_stream(0, "call", &[(0, Required)], &["i32", "i32"], &[inner]);
        let early = source.on_stream(0, "note", &[(two, Required), (called, Order)], &["i32"], &[]);
        let four = source.kernel("add", &[two, two]);
        let last = source.on_stream(0, "note", &[(four, Required), (called, After)], &["i32"], &[]);
        let program = source.load(&[early, last]);
        let (results, printed) = run("s", &program);
        assert_eq!((results.join(" ").as_str(), printed.as_str()), ("2 4", "2 1 4"));
        check(&program, &["2", "4"], "2 1 4");
    }

    #[test]
    fn streams_become_tasks_in_ascending_order() {
        let mut source = Source::new();
        let notes: Vec<u32> = [(0, 1), (2, 2), (1, 3), (2, 4)]
            .iter()
            .map(|&(stream, n)| {
                let mut x = source.on_stream(stream, "one", &[], &["i32"], &[]);
                for _ in 1..n {
                    x = source.on_stream(stream, "add", &[(x, Required), (0, Required)], &["i32"], &[]);
                }
                source.on_stream(stream, "note", &[(x, Required)], &["i32"], &[])
            })
            .collect();
        let program = source.load(&notes);
        let (results, printed) = run("s", &program);
        assert_eq!(results, ["1", "2", "3", "4"]);
        // Stream 0 on the caller; then the queue's tasks: stream 1, then stream 2 with its newest first.
        assert_eq!(printed, "1 3 4 2");
        for _ in 0..50 {
            assert_eq!(run("mstd:3", &program).0, ["1", "2", "3", "4"]);
        }
    }

    #[test]
    fn errors_say_through_which_calls_they_came() {
        for kernel in ["fail", "panic"] {
            for asynchronous in [false, true] {
                let mut source = Source::new();
                let x =
                    if asynchronous { source.kernel("later", &[0]) } else { source.kernel("add", &[0, 0]) };
                let bad = source.kernel(kernel, &[x]);
                let inner = source.next("outer", &[bad]);
                source.kernel("one", &[]);
                source.kernel("one", &[]);
                let called = source.on_stream(0, "call", &[(0, Required)], &["i32"], &[inner]);
                let (results, _) = run("s", &source.load(&[called]));
                let n = if asynchronous { 1 } else { 2 };
                let message = if kernel == "fail" {
                    format!("fail {n}")
                } else {
                    format!("a kernel panicked: panic {n}")
                };
                assert_eq!(results, [format!("t:2:1: {message} < t:3:1")]);
            }
        }
    }

    #[test]
    fn faults_of_kernels_are_errors() {
        let mut source = Source::new();
        let forgotten = source.kernel("forgets", &[]);
        let misdialed = source.kernel("misdials", &[]);
        let program = source.load(&[forgotten, misdialed]);
        let late = AsyncRef::pending().1;
        for argument in [Value::I32(1), Value::Async(late)] {
            let (results, _) = run_on(from_spec("s").unwrap(), &program, argument, Limits::default());
            assert!(results[0].contains("a result was not set"), "{results:?}");
            assert_eq!(results[1], "t:2:1: a kernel called its function #7, which it does not have");
        }
    }

    #[test]
    fn endless_recursion_is_an_error() {
        for asynchronous in [false, true] {
            let mut writer = Writer::new();
            let (int, name, unnamed) = (writer.ty("i32"), writer.string("main"), writer.string(""));
            let id = writer.declare();
            let mut main = FunctionBuilder::new(name, FunctionKind::Async);
            let mut x = main.arg(int, unnamed, None);
            if asynchronous {
                let code = writer.kernel_name("later");
                x = main.kernel(&KernelSpec {
                    code,
                    operands: &[x],
                    results: &[int],
                    ..KernelSpec::default()
                });
            }
            let code = writer.kernel_name("call");
            let result = main.kernel(&KernelSpec {
                code,
                operands: &[x],
                results: &[int],
                functions: &[id],
                ..KernelSpec::default()
            });
            main.result(result, unnamed);
            writer.define(id, main);
            let program =
                Program::from_bytes(&writer.finish().unwrap(), &Registry::new().with(kernels)).unwrap();
            for limits in [
                Limits { depth: fewer(50_000), ..Limits::default() },
                Limits { values: fewer(10_000), ..Limits::default() },
            ] {
                let (results, _) = run_on(from_spec("s").unwrap(), &program, Value::I32(1), limits);
                assert!(results[0].starts_with("calls nest too deeply"), "{results:?}");
            }
        }
    }

    #[test]
    fn after_a_cancellation_nothing_starts() {
        let mut source = Source::new();
        let first = source.kernel("cancel", &[0]);
        let second = source.kernel("note", &[first]);
        let called = source.next("outer", &[first, second]);
        let again = source.on_stream(0, "call", &[(0, Required)], &["i32", "i32"], &[called]);
        source.on_stream(0, "note", &[(0, Required), (again, Order)], &["i32"], &[]);
        let program = source.load(&[again, again + 1]);
        check(&program, &["1", "Cancelled"], "");
    }

    #[test]
    fn after_a_cancellation_only_what_is_known_to_be_dead_is_dead() {
        let mut source = Source::new();
        let yes = source.kernel("is_one", &[0]);
        let dead = source.kernel("dead", &[0]);
        let x = source.on_stream(0, "cancel", &[(0, Required), (dead, After)], &["i32"], &[]);
        let chosen = source.on_stream(
            0,
            "first",
            &[(yes, Required), (dead, Lenient), (dead, Lenient), (x, Order)],
            &["i32"],
            &[],
        );
        let sum = source.kernel("add", &[x, dead]);
        check(&source.load(&[chosen, sum]), &["Cancelled", "<<dead>>"], "");
        // In a sequential plan, dead values come from arguments only.
        let mut source = Source::new();
        let inner = source.next("outer", &[0]);
        let one = source.kernel("one", &[]);
        let x = source.kernel("cancel", &[one]);
        let called = source.on_stream(0, "call", &[(0, Lenient), (x, Order)], &["i32"], &[inner]);
        let sum = source.kernel("add", &[x, 0]);
        let program = source.load(&[called, sum]);
        let queue = from_spec("s").unwrap();
        let (promise, late) = AsyncRef::pending();
        queue.add_task(befrost_kernel_api::queue::Task::new(move || promise.set(Value::Dead)));
        for argument in [Value::Dead, Value::Async(late)] {
            let (results, _) = run_on(queue.clone(), &program, argument, Limits::default());
            assert_eq!(results, ["Cancelled", "<<dead>>"]);
        }
    }

    #[test]
    fn a_deadline_ends_an_execution() {
        let mut source = Source::new();
        let slow = source.kernel("until_cancelled", &[0]);
        let next = source.kernel("add", &[slow, 0]);
        let program = source.load(&[next]);
        let deadline = std::time::Instant::now() + std::time::Duration::from_millis(10);
        let cancellation = befrost_kernel_api::context::Cancellation::with_deadline(deadline);
        let request = Request { cancellation, ..Request::new(from_spec("s").unwrap()) };
        let context = ExecContext::new(Arc::new(request));
        let results = call(&program, FunctionId(0), vec![Value::I32(1)], &context).unwrap();
        assert_eq!(results[0].error().map(|error| error.code()), Some(ErrorCode::DeadlineExceeded));
    }

    #[test]
    fn arguments_must_fit() {
        let program = Source::new().load(&[0]);
        let context = ExecContext::new(Arc::new(Request::new(from_spec("s").unwrap())));
        let call = |arguments| call(&program, FunctionId(0), arguments, &context);
        assert_eq!(call(vec![]).unwrap_err().message(), "'main' takes 1 arguments, got 0");
        assert_eq!(
            call(vec![Value::I64(1)]).unwrap_err().message(),
            "argument #0 of 'main' has type i64, expected i32"
        );
    }

    #[test]
    fn misuses_of_kernels_are_found_when_loading() {
        let check = |message: &str, build: &dyn Fn(&mut Source)| {
            let mut source = Source::new();
            build(&mut source);
            source.next("unused", &[]);
            let bytes = source.writer.finish().unwrap();
            let error = Program::from_bytes(&bytes, &Registry::new().with(kernels)).unwrap_err();
            assert_eq!(error.to_string(), format!("t:1:1: {message}"));
        };
        check("unknown kernel name 'x.y': this runtime has no kernels of 'x'", &|s| _ = s.kernel("x.y", &[]));
        check("'add' takes 2 operands, got 1", &|s| _ = s.kernel("add", &[0]));
        check("'sum' gives 1 result, used with 2", &|s| _ = s.on_stream(0, "sum", &[], &["i32", "i32"], &[]));
        check("result #0 of 'add' has type f32, expected i32 or si32", &|s| {
            s.on_stream(0, "add", &[(0, Required), (0, Required)], &["f32"], &[]);
        });
        check("'call' needs 1 function, got 0", &|s| _ = s.kernel("call", &[0]));
        check("operand #0 of 'add' cannot be Order: the kernel reads its value", &|s| {
            s.on_stream(0, "add", &[(0, Order), (0, Required)], &["i32"], &[]);
        });
    }

    #[test]
    fn nothing_is_left_behind() {
        let mut source = Source::new();
        let late = source.kernel("later", &[0]);
        let again = source.kernel("later", &[late]);
        let sum = source.kernel("add", &[late, again]);
        let inner = source.next("outer", &[sum]);
        let called = source.on_stream(0, "call", &[(0, Required)], &["i32"], &[inner]);
        let program = source.load(&[called]);
        for spec in ["s", "mstd:2"] {
            for _ in 0..100 {
                let request = Arc::new(Request::new(from_spec(spec).unwrap()));
                let context = ExecContext::new(request.clone());
                let main = FunctionId(program.image().n_functions() - 1);
                let results = call(&program, main, vec![Value::I32(1)], &context).unwrap();
                assert_eq!(results[0].to_string(), "2");
                drop(context);
                // Every frame, waiter and task holds the execution, which holds the request. On another
                // thread they may still be about to be dropped.
                while Arc::strong_count(&request) > 1 {
                    assert_eq!(spec, "mstd:2", "something holds the request");
                    std::thread::yield_now();
                }
            }
        }
    }
}

#[cfg(loom)]
mod loom_tests;
