//! The worked example of the README's section "Kernels of your own", compiled and run: a crate's own kernels,
//! a file of IR with ops of no registered dialect, and a program that runs the file.
//!
//! The README quotes the text between the marks `[` and `]` verbatim; the last test compares the two.
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use befrost::kernel::{Deferred, FrameCx};
use befrost::{CallOptions, ExecContext, Limits, Registry};

const PROGRAM: &str = "\
func.func @main(%width: i32, %length: i32) -> (i32, i32, i32) {
  %area = \"geo.area\"(%width, %length) : (i32, i32) -> i32
  %litres = \"geo.rain\"(%area) {millimetres = 12 : i32} : (i32) -> i32
  %wells = \"geo.wells\"(%litres) : (i32) -> i32
  tfrt.return %area, %litres, %wells : i32, i32, i32
}
";

// [kernels
mod kernels {
    use befrost::kernel::{Attr, Deferred};
    use befrost::{ErrorCode, KernelError, Registry, kernel};

    /// A plain function: the arguments are the op's operands, the return value is the result or an error.
    fn area(width: i32, length: i32) -> Result<i32, KernelError> {
        if width < 0 || length < 0 {
            return Err(KernelError::new(ErrorCode::InvalidArgument, "a side is negative"));
        }
        width
            .checked_mul(length)
            .ok_or_else(|| KernelError::new(ErrorCode::OutOfRange, "the area is too large"))
    }

    /// An asynchronous function: the thread does other work while it waits.
    async fn wells(litres: i32) -> i32 {
        litres / 1000
    }

    pub(super) fn geo(registry: &mut Registry) {
        registry.add(kernel!("geo.area", area));
        // Runs as a task of its own; attributes come after operands.
        registry.add(kernel!("geo.rain", |area: i32, millimetres: Attr<i32>| Deferred::new(move |_| {
            area.saturating_mul(millimetres.0)
        })));
        registry.add(kernel!("geo.wells", |litres: i32| Deferred::future(wells(litres))));
    }
}
// kernels]

// [main
fn run(bef: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let kernels = befrost::registry().with(kernels::geo);
    let runtime = befrost::Runtime::builder().kernels(kernels).work_queue("mstd:2").build()?;
    let program = runtime.load(bef)?;
    let results = program.function("main")?.call([30i32.into(), 20i32.into()])?;
    Ok(results.iter().map(ToString::to_string).collect())
}
// main]

/// The program, translated as the README says.
fn translated(name: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own_kernels");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (text, bef) = (folder.join(format!("{name}.mlir")), folder.join(format!("{name}.bef")));
    std::fs::write(&text, program).expect("a file");
    let mut translate = Command::new(env!("CARGO_BIN_EXE_ir-translate"));
    let status = translate.arg("--allow-unregistered-dialect").arg(&text).arg("-o").arg(&bef).status();
    assert!(status.expect("it starts").success());
    bef
}

#[test]
fn it_runs() {
    assert_eq!(run(&translated("runs", PROGRAM)).expect("results"), ["600", "7200", "7"]);
}

#[test]
fn refusals_of_kernels_are_errors_of_dependents() {
    let program = PROGRAM.replace("\"geo.area\"(%width, %length)", "\"geo.area\"(%width, %low)");
    let program = program.replace("  %area", "  %low = tfrt.constant.i32 -20\n  %area");
    let results = run(&translated("refuses", &program)).expect("results");
    assert_eq!(results, ["<<error: a side is negative>>"; 3]);
}

#[test]
fn a_use_that_does_not_fit_is_refused_with_its_place() {
    let program = PROGRAM.replace("millimetres = 12 : i32", "millimetres = 12 : i64");
    let refused = run(&translated("refused", &program)).expect_err("it does not load").to_string();
    assert!(refused.contains("refused.mlir:3:13"), "{refused}");
    assert!(refused.contains("i32 attribute"), "{refused}");
}

/// `%n` nested calls. The kernel `MINUS` before each call is synchronous or a task.
const DEEP: &str = "\
func.func @main(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %is_end = tfrt.equal.i32 %n, %zero
  %r = tfrt.if %is_end, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %one = tfrt.constant.i32 1
    %less = \"MINUS\"(%n, %one) : (i32, i32) -> i32
    %deeper = tfrt.call @main(%less) : (i32) -> i32
    tfrt.return %deeper : i32
  }
  tfrt.return %r : i32
}
";

#[test]
fn how_deep_calls_nest_is_a_choice() {
    let minus = |registry: &mut Registry| {
        registry.add(befrost::kernel!("now.minus", |a: i32, b: i32| a - b));
        registry.add(befrost::kernel!("late.minus", |a: i32, b: i32| Deferred::new(move |_| a - b)));
    };
    for name in ["now", "late"] {
        let bef = translated(name, &DEEP.replace("MINUS", &format!("{name}.minus")));
        for queue in ["s", "mstd:2"] {
            let call = |limits, n: i32| {
                let builder = befrost::Runtime::builder().kernels(befrost::registry().with(minus));
                let runtime = builder.work_queue(queue).limits(limits).build().expect("it starts");
                let program = runtime.load(&bef).expect("it loads");
                let results = program.function("main").expect("it is there").call([n.into()]);
                results.expect("it runs")[0].to_string()
            };
            // A call and a branch for each level of the recursion.
            let few = Limits { depth: 200, ..Limits::default() };
            assert_eq!(call(few, 90), "0", "{name} {queue}");
            assert!(call(few, 110).contains("calls nest too deeply: at most 200 calls"), "{name} {queue}");
            assert_eq!(call(Limits::default(), 5000), "0", "{name} {queue}");
        }
    }
}

/// A loop that returns the result of the kernel in its last iteration.
const COUNTED: &str = "\
func.func @main() -> i32 {
  %three = tfrt.constant.i32 3
  %last = tfrt.repeat.i32 %three, %three : i32 {
    %key = \"geo.key\"() : () -> i32
    tfrt.return %key : i32
  }
  tfrt.return %last : i32
}
";

#[test]
fn a_kernel_sees_the_step_of_the_call_and_its_iteration() {
    let kernels = befrost::registry().with(|registry| {
        registry.add(befrost::kernel!("geo.key", |frame: FrameCx<'_>, cx: &ExecContext| {
            (cx.request.step * 10 + frame.iteration()) as i32
        }));
    });
    let runtime = befrost::Runtime::builder().kernels(kernels).build().expect("it starts");
    let program = runtime.load(translated("counted", COUNTED)).expect("it loads");
    let options = CallOptions { step: 7, ..CallOptions::default() };
    let results = program.function("main").expect("it is there").call_with([], &options);
    assert_eq!(results.expect("it runs")[0].to_string(), "72");
}

#[test]
fn the_readme_quotes_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a text");
    let (readme, source) = (read("../README.md"), read("tests/own_kernels.rs"));
    for part in ["kernels", "main"] {
        let (from, to) = (format!("\n// [{part}\n"), format!("\n// {part}]\n"));
        let quoted = source.split_once(&from).and_then(|(_, rest)| rest.split_once(&to));
        let (quoted, _) = quoted.expect("both marks");
        assert!(readme.contains(&format!("```rust\n{quoted}\n```\n")), "README.md differs from:\n{quoted}");
    }
    let program = format!("```mlir\n{PROGRAM}```\n");
    assert!(readme.contains(&program), "README.md does not have {program}");
}
