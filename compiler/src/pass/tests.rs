//! Which passes the manager runs again.

mod control_flow;

use crate::dialects::Registry;
use crate::pass::{Change, OptionKind, Pass, PassCx, PassManager, PassOption, Rewriter, RunOptions};
use crate::syntax::{ParseOptions, parse};
use crate::verify::Verified;
use std::cell::RefCell;

thread_local! {
    static RUNS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn note(name: &'static str) -> Change {
    RUNS.with_borrow_mut(|runs| runs.push(name));
    Change::Unchanged
}

/// Erases the first `t.first` of what it runs on.
fn erase(r: &mut Rewriter<'_>, _: &PassCx<'_>) -> Change {
    _ = note("erase");
    let ir = r.ir();
    let first = ir.walk(r.root()).find(|op| ir.op_name_str(*op) == "t.first");
    first.into_iter().for_each(|op| r.erase(op));
    r.change()
}

fn count(_: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    cx.count("ops", 1);
    note("count")
}

const LOOK: Pass = Pass {
    name: "look",
    title: "Look",
    summary: "Finds nothing to do.",
    options: &[PassOption { name: "far", summary: "Nothing.", kind: OptionKind::Flag(false) }],
    statistics: &[],
    run: |_, _| note("look"),
};
const ERASE: Pass = Pass { name: "erase", options: &[], run: erase, ..LOOK };
const COUNT: Pass = Pass { name: "count", statistics: &[("ops", "ops")], options: &[], run: count, ..LOOK };
const PRINT: Pass = Pass {
    name: "print",
    options: &[],
    run: |_, cx| {
        cx.print("text");
        note("print")
    },
    ..LOOK
};

#[test]
fn passes_that_do_nothing_run_again_after_a_change() {
    let runs = |pipeline: &str| {
        let registry = Registry::new().leak();
        let options = ParseOptions { allow_unregistered: true, registry };
        let text = "\"t.func\"() ({\"t.first\"() : () -> ()}) : () -> ()\n\"t.func\"() ({}) : () -> ()";
        let Some(module) = parse("t", text, &options).module else { panic!("the test's program is wrong") };
        let Ok(mut manager) = PassManager::parse_among(pipeline, &[LOOK, ERASE, COUNT, PRINT]) else {
            panic!("no such pass")
        };
        RUNS.take();
        assert!(manager.run_with(Verified::unchecked(module), &mut RunOptions::default()).is_ok());
        RUNS.take().join(" ")
    };
    assert_eq!(runs("look,look{far=false},look{far}"), "look look");
    assert_eq!(runs("look,erase,look,erase,look,erase"), "look erase look erase");
    assert_eq!(runs("print,print,count,count"), "print print count count");
    // On each function by itself; what one function is may change what is done to another one.
    assert_eq!(runs("t.func(look),look,t.func(look)"), "look look look");
    assert_eq!(runs("t.func(look,erase),t.func(look)"), "look erase look erase look");
}
