//! Straight lines in functions that may have to wait: the kernels that they contain, and that they cannot be
//! observed.

use super::plain::check;
use super::*;
use crate::queue::from_spec;
use std::sync::atomic::{AtomicBool, Ordering};

/// The lines of the last function, as kernels in the order in which they were written.
fn lines(program: &Program, is_seeded: bool) -> Vec<Vec<u32>> {
    let plan = program.plans().last().unwrap();
    let general = plan.general(program.image(), is_seeded);
    let mut lines = vec![Vec::new()];
    for member in &general.members {
        lines.last_mut().unwrap().push(member.step.step().kernel);
        if member.is_last {
            lines.push(Vec::new());
        }
    }
    assert_eq!(lines.pop(), Some(Vec::new()));
    lines
}

#[test]
fn a_line_ends_where_something_may_have_to_be_waited_for() {
    let check = |source: Source, results: &[u32], want: &[&[u32]]| {
        let program = source.load(results);
        assert_eq!(lines(&program, false), want);
        assert!(lines(&program, true).is_empty(), "a seed may choose any order");
    };
    // All inputs are known to be final when the first kernel is ready, because `later` has waited for the
    // argument.
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let a = source.kernel("add", &[late, late]);
    let b = source.kernel("add", &[a, 0]);
    let c = source.kernel("add", &[b, late]);
    check(source, &[c], &[&[1, 2, 3]]);
    // A late value, an asynchronous kernel, a control edge, a call.
    let mut source = Source::new();
    let (first, second) = (source.kernel("later", &[0]), source.kernel("later", &[0]));
    let a = source.kernel("add", &[first, first]);
    let b = source.kernel("add", &[a, second]);
    let c = source.kernel("add", &[b, b]);
    let late = source.kernel("later", &[c]);
    let d = source.on_stream(0, "add", &[(late, Required), (late, Required), (c, Order)], &["i32"], &[]);
    let e = source.kernel("add", &[d, d]);
    let f = source.kernel("add", &[e, first]);
    check(source, &[f], &[&[3, 4], &[7, 8]]);
    // Another stream; and a kernel that would not be the next one to run, which is the one that was written
    // first.
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let a = source.kernel("add", &[late, late]);
    let b = source.kernel("add", &[a, a]);
    let c = source.kernel("add", &[a, b]);
    let d = source.on_stream(1, "add", &[(c, Required), (c, Required)], &["i32"], &[]);
    let e = source.kernel("add", &[c, c]);
    check(source, &[d, e], &[&[1, 2, 3]]);
    // No line exceeds the limit of its slots.
    let mut source = Source::new();
    let mut last = source.kernel("later", &[0]);
    for _ in 0..600 {
        last = source.kernel("add", &[last, 0]);
    }
    let program = source.load(&[last]);
    assert_eq!(lines(&program, false).iter().map(Vec::len).collect::<Vec<_>>(), [256, 256, 88]);
    check_sum(&program);
}

fn check_sum(program: &Arc<Program>) {
    check(program, &["601"], "");
}

#[test]
fn effects_come_in_the_same_order() {
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let a = source.kernel("add", &[late, 0]);
    let b = source.kernel("note", &[a]);
    let users: Vec<u32> = (0..3).map(|_| source.kernel("note", &[a])).collect();
    let c = source.kernel("add", &[b, a]);
    let d = source.kernel("note", &[c]);
    let e = source.on_stream(1, "note", &[(b, Required)], &["i32"], &[]);
    let program = source.load(&[d, e, users[0]]);
    assert_eq!(lines(&program, false), [[1, 2, 6, 7]]);
    let (results, printed) = plain::run("s", &program);
    assert_eq!((results, printed.as_str()), (vec!["4".into(), "2".into(), "2".into()], "2 4 2 2 2 2"));
}

#[test]
fn errors_dead_values_and_panics_skip_their_users_in_a_line() {
    for (name, instead) in
        [("fail", "t:2:1: fail 1"), ("dead", "<<dead>>"), ("panic", "t:2:1: a kernel panicked: panic 1")]
    {
        let mut source = Source::new();
        let late = source.kernel("later", &[0]);
        let bad = source.kernel(name, &[late]);
        let skipped = source.kernel("note", &[bad]);
        let sum = source.kernel("sum", &[skipped, late]);
        let program = source.load(&[sum, skipped, bad]);
        assert_eq!(lines(&program, false), [[1, 2, 3]]);
        check(&program, &[instead, instead, instead], "");
    }
}

#[test]
fn missing_results_are_errors_in_a_line_too() {
    let more = |registry: &mut Registry| {
        let signature = Signature { operands: vec![&["i32"]], ..Signature::default() };
        let of = |results| Signature { results, ..signature.clone() };
        registry.add(Kernel::new("half_of", of(vec![&["i32"], &["i32"]]), |frame| {
            frame.set_result(0, Value::I32(1));
            Outcome::error(KernelError::invalid("half"))
        }));
        registry.add(Kernel::new("nothing_of", of(vec![&["i32"]]), |_| Outcome::Done));
    };
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let one = source.kernel("note", &[late]);
    let half = source.on_stream(0, "half_of", &[(one, Required)], &["i32", "i32"], &[]);
    let nothing = source.kernel("nothing_of", &[half]);
    let sum = source.kernel("sum", &[nothing, half + 1]);
    let registry = Registry::new().with(kernels).with(more);
    let program = Program::from_bytes(&source.bytes(&[half, half + 1, nothing, sum]), &registry).unwrap();
    // The last user of the second result to be notified takes another value too.
    assert_eq!(lines(&program, false), [[1, 2]]);
    let (results, printed) = plain::run("s", &program);
    assert_eq!(printed, "1");
    assert_eq!(results[..2], ["1", "t:3:1: half"]);
    assert_eq!(results[2], results[3]);
    assert!(results[2].starts_with("t:4:1: "), "{results:?}");
}

#[test]
fn a_cancellation_stops_a_line_between_its_kernels() {
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let a = source.kernel("note", &[late]);
    let b = source.kernel("cancel", &[a]);
    let c = source.kernel("note", &[b]);
    let program = source.load(&[b, c]);
    assert_eq!(lines(&program, false), [[1, 2, 3]]);
    for spec in ["s", "mstd:2"] {
        let (results, printed) = plain::run(spec, &program);
        assert_eq!((results, printed.as_str()), (vec!["1".into(), "Cancelled".into()], "1"));
    }
}

/// A kernel of another stream uses the first result of a line, whose second kernel waits for it.
#[test]
fn who_uses_a_result_outside_does_not_wait_for_the_line() {
    static IS_THERE: AtomicBool = AtomicBool::new(false);
    let more = |registry: &mut Registry| {
        registry.add(kernel!("arrive", |x: i32| {
            IS_THERE.store(true, Ordering::SeqCst);
            x
        }));
        registry.add(kernel!("await", |x: i32| {
            while !IS_THERE.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            x
        }));
    };
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let a = source.kernel("add", &[late, late]);
    let b = source.kernel("await", &[a]);
    let c = source.on_stream(1, "arrive", &[(a, Required)], &["i32"], &[]);
    let registry = Registry::new().with(kernels).with(more);
    let program = Program::from_bytes(&source.bytes(&[b, c]), &registry).unwrap();
    assert_eq!(lines(&program, false), [[1, 2]]);
    for _ in 0..20 {
        IS_THERE.store(false, Ordering::SeqCst);
        let queue = from_spec("mstd:2").unwrap();
        let (results, _) = run_on(queue, &program, Value::I32(1), Limits::default());
        assert_eq!(results, ["2", "2"]);
    }
}
