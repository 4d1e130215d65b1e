//! Unique ownership of values: a kernel that is the last reader of a value is its only owner, wherever the
//! value comes from.

use super::plain::run;
use super::*;
use crate::queue::from_spec;
use befrost_kernel_api::object::Object;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that a kernel overwrites if it is the only owner. Counts how often it was and was not.
#[derive(Clone, Debug, Default)]
struct Page {
    reused: u32,
    copied: u32,
}

impl Object for Page {
    const TYPES: &'static [&'static str] = &["!test.page"];
    fn display(&self) -> String {
        format!("{} reused, {} copied", self.reused, self.copied)
    }
}

/// An object that counts how many of it are alive at once.
#[derive(Debug)]
struct Large;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

impl Large {
    fn new() -> Large {
        MOST.fetch_max(ALIVE.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        Large
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Object for Large {
    const TYPES: &'static [&'static str] = &["!test.large"];
    fn display(&self) -> String {
        "large".to_owned()
    }
}

/// The pages among the operands, each overwritten if this kernel is its only owner, else copied.
fn turn(frame: &mut KernelFrame<'_>) -> Result<Page, Outcome> {
    let (mut all, mut copied_from) = (Page::default(), Vec::new());
    for i in 0..frame.n_operands() {
        let page = match frame.take_operand(i).ok_or(Outcome::Operand)?.into_object::<Page>() {
            Ok(Page { reused, copied }) => Page { reused: reused + 1, copied },
            Err(Value::Chain) => continue,
            Err(value) => {
                let Page { reused, copied } = *value.downcast_ref::<Page>().ok_or(Outcome::Operand)?;
                copied_from.push(value);
                Page { reused, copied: copied + 1 }
            }
        };
        all = Page { reused: all.reused + page.reused, copied: all.copied + page.copied };
    }
    Ok(all)
}

fn more(registry: &mut Registry) {
    registry.add(kernel!("page", |_: i32| Page::default()));
    let signature =
        Signature { rest: Some(&[]), results: vec![Page::TYPES], stores_all: true, ..Signature::default() };
    registry.add(Kernel::new("turn", signature.clone(), |frame| match turn(frame) {
        Ok(page) => {
            frame.set_result(0, Value::object(page));
            Outcome::Done
        }
        Err(outcome) => outcome,
    }));
    registry.add(Kernel::new("turn_and_fail", signature, |frame| match turn(frame) {
        Ok(_) => Outcome::error(KernelError::invalid("torn")),
        Err(outcome) => outcome,
    }));
    registry.add(kernel!("look", |_: &Page, _: i32| Chain));
    registry.add(kernel!("large", |_: i32| Large::new()));
    registry.add(kernel!("larger", |_: &Large| Large::new()));
    registry.add(kernel!("not", |x: bool| !x));
    registry.add(kernel!("chain_later", |_: i32| Deferred::new(|_| Chain)));
}

const PAGE: &str = "!test.page";
const LARGE: &str = "!test.large";

impl Source {
    fn of(&mut self, ty: &str, name: &str, operands: &[u32], to: &[FunctionId]) -> u32 {
        let operands: Vec<_> = operands.iter().map(|&register| (register, Required)).collect();
        let attrs = match name {
            "while" => {
                let ty = self.writer.ty("i64");
                vec![self.writer.attr_int(ty, Some(bef_format::DType::I64), 1)]
            }
            _ => Vec::new(),
        };
        self.push(0, name, &operands, &[ty], to, &attrs)
    }

    fn turns(&mut self, page: u32, n: usize) -> u32 {
        (0..n).fold(page, |page, _| self.of(PAGE, "turn", &[page], &[]))
    }

    /// Begins a function of a page and an int, in the middle of another one, with which [`Source::end`]
    /// continues.
    fn begin(&mut self, name: &str) -> FunctionBuilder {
        let mut function = FunctionBuilder::new(self.writer.string(name), FunctionKind::Async);
        let page = self.writer.ty(PAGE);
        function.arg(page, bef_format::StringId(0), None);
        function.arg(self.int, bef_format::StringId(0), None);
        std::mem::replace(&mut self.main, function)
    }

    fn end(&mut self, outer: FunctionBuilder, results: &[u32]) -> FunctionId {
        let function = self.next("unused", results);
        self.main = outer;
        function
    }
}

fn load(source: Source, results: &[u32]) -> Arc<Program> {
    let registry = Registry::new().with(kernels).with(more);
    Program::from_bytes(&source.bytes(results), &registry).unwrap()
}

/// With a sequential plan, then in general frames with a late argument.
fn check(program: &Arc<Program>, want: &[&str]) {
    assert_eq!(run("s", program).0, want, "line");
    for spec in ["s", "mstd:1", "mstd:3", "seeded:5"] {
        let queue = from_spec(spec).unwrap();
        let (promise, late) = befrost_kernel_api::async_value::AsyncRef::pending();
        queue.add_task(befrost_kernel_api::queue::Task::new(move || promise.set(Value::I32(1))));
        let (got, _) = run_on(queue, program, Value::Async(late), Limits::default());
        assert_eq!(got, want, "late argument on {spec}");
    }
}

#[test]
fn the_last_reader_holds_a_value_alone() {
    let mut source = Source::new();
    let page = source.of(PAGE, "page", &[0], &[]);
    let last = source.turns(page, 5);
    check(&load(source, &[last]), &["5 reused, 0 copied"]);
}

#[test]
fn only_the_last_reader_does() {
    let mut source = Source::new();
    let page = source.of(PAGE, "page", &[0], &[]);
    let first = source.turns(page, 1);
    let chain = source.push(0, "chain_of", &[(first, Required)], &["!tfrt.chain"], &[], &[]);
    let second = source.of(PAGE, "turn", &[page, chain], &[]);
    let registry = |registry: &mut Registry| registry.add(kernel!("chain_of", |_: &Page| Chain));
    let registry = Registry::new().with(kernels).with(more).with(registry);
    let program = Program::from_bytes(&source.bytes(&[first, second]), &registry).unwrap();
    check(&program, &["0 reused, 1 copied", "1 reused, 0 copied"]);
}

#[test]
fn a_value_that_a_kernel_gets_twice_is_copied() {
    let mut source = Source::new();
    let page = source.of(PAGE, "page", &[0], &[]);
    let other = source.of(PAGE, "page", &[0], &[]);
    let both = source.of(PAGE, "turn", &[page, other, page], &[]);
    check(&load(source, &[both]), &["1 reused, 2 copied"]);
}

#[test]
fn a_result_is_not_reused() {
    let mut source = Source::new();
    let page = source.of(PAGE, "page", &[0], &[]);
    let turned = source.turns(page, 1);
    check(&load(source, &[page, turned]), &["0 reused, 0 copied", "0 reused, 1 copied"]);
}

#[test]
fn a_kernel_that_took_its_operand_may_fail() {
    let mut source = Source::new();
    let page = source.of(PAGE, "page", &[0], &[]);
    let torn = source.of(PAGE, "turn_and_fail", &[page], &[]);
    let after = source.turns(torn, 2);
    let bad = source.kernel("fail", &[0]);
    let page = source.of(PAGE, "page", &[0], &[]);
    // The page is taken before the error is met.
    let met = source.of(PAGE, "turn", &[page, bad], &[]);
    check(&load(source, &[after, met]), &["t:2:1: torn", "t:5:1: fail 1"]);
}

#[test]
fn many_operands_are_taken() {
    let mut source = Source::new();
    let mut pages: Vec<u32> = (0..70).map(|_| source.of(PAGE, "page", &[0], &[])).collect();
    pages.push(pages[3]);
    let all = source.of(PAGE, "turn", &pages, &[]);
    check(&load(source, &[all]), &["69 reused, 2 copied"]);
}

/// A caller passes on its last reference to a value, and so does a function that returns it. `is_late`: the
/// function also has something asynchronous.
#[test]
fn calls_branches_and_loops_hand_values_on() {
    for is_late in [false, true] {
        for (kind, turns) in [("call", 1), ("if", 1), ("case", 1), ("repeat", 10), ("while", 1)] {
            let mut source = Source::new();
            let outer = source.begin("step");
            let late = if is_late { source.of("!tfrt.chain", "chain_later", &[1], &[]) } else { 1 };
            let page = source.turns(0, 2);
            let more = source.of("i1", "is_one", &[1], &[]);
            let no = source.of("i1", "not", &[more], &[]);
            let results = if kind == "while" { &[page, 1, no][..] } else { &[page, 1] };
            let step = source.end(outer, results);
            assert!(late > 0);
            let yes = source.kernel("is_one", &[0]);
            let (zero, ten) = (source.kernel("zero", &[]), source.kernel("ten", &[]));
            let page = source.of(PAGE, "page", &[0], &[]);
            let operands = match kind {
                "call" => &[page, 0][..],
                "case" => &[zero, page, 0],
                "repeat" => &[ten, page, 0],
                _ => &[yes, page, 0],
            };
            let to = if kind == "if" { &[step, step][..] } else { &[step] };
            let operands: Vec<_> = operands.iter().map(|&register| (register, Required)).collect();
            let ty = source.writer.ty("i64");
            let attrs = [source.writer.attr_int(ty, Some(bef_format::DType::I64), 1)];
            let attrs = if kind == "while" { &attrs[..] } else { &[] };
            let called = source.push(0, kind, &operands, &[PAGE, "i32"], to, attrs);
            let last = source.turns(called, 1);
            let want = format!("{} reused, 0 copied", 2 * turns + 1);
            check(&load(source, &[last]), &[&want]);
        }
    }
}

/// The results of a loop that does not run are its operands, with no other owner.
#[test]
fn a_loop_that_does_not_run_hands_values_on() {
    for kind in ["repeat", "while"] {
        let mut source = Source::new();
        let outer = source.begin("step");
        let no = source.of("i1", "is_one", &[1], &[]);
        let results = if kind == "while" { &[0, 1, no][..] } else { &[0, 1] };
        let step = source.end(outer, results);
        let never = if kind == "while" {
            let yes = source.kernel("is_one", &[0]);
            source.of("i1", "not", &[yes], &[])
        } else {
            source.kernel("zero", &[])
        };
        let page = source.of(PAGE, "page", &[0], &[]);
        let ty = source.writer.ty("i64");
        let attrs = [source.writer.attr_int(ty, Some(bef_format::DType::I64), 1)];
        let attrs = if kind == "while" { &attrs[..] } else { &[] };
        let operands = [(never, Required), (page, Required), (0, Required)];
        let kept = source.push(0, kind, &operands, &[PAGE, "i32"], &[step], attrs);
        let last = source.turns(kept, 1);
        check(&load(source, &[last]), &["1 reused, 0 copied"]);
    }
}

/// A chain of kernels holds what one kernel reads and writes, no more. An argument without readers is
/// dropped.
#[test]
fn a_chain_of_large_values_holds_two_at_once() {
    let mut source = Source::new();
    let large = source.of(LARGE, "large", &[0], &[]);
    let outer = source.main;
    source.main = FunctionBuilder::new(source.writer.string("chain"), FunctionKind::Async);
    let ty = source.writer.ty(LARGE);
    source.main.arg(source.int, bef_format::StringId(0), None);
    source.main.arg(ty, bef_format::StringId(0), None);
    let first = source.of(LARGE, "large", &[0], &[]);
    let last = (0..20).fold(first, |large, _| source.of(LARGE, "larger", &[large], &[]));
    let chain = source.end(outer, &[last]);
    let last = source.of(LARGE, "call", &[0, large], &[chain]);
    let program = load(source, &[last]);
    check(&program, &["large"]);
    assert_eq!(MOST.load(Ordering::Relaxed), 2);
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
}
