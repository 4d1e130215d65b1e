//! The worked example of the README's section "Add an op in one place", compiled and run: an op of no
//! existing dialect gets a definition and a kernel. With these it has syntax, verification, folding,
//! documentation and execution.
//!
//! The README quotes the text between the marks `[` and `]` verbatim; the last test compares the two.
#![forbid(unsafe_code)]

use befrost_compiler::dialects::{self, Registry, view};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::pass::PassManager;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use std::sync::OnceLock;

// [op
mod op {
    use befrost_compiler::diag::Diagnostic;
    use befrost_compiler::dialects::view::{Attr, Operand, views};
    use befrost_compiler::dialects::{AttrConstraint, Folded, OpDef, Registry, TypeConstraint, at_op};
    use befrost_compiler::ir::{AttrId, KnownType, Module, OpId};

    const I32: TypeConstraint = TypeConstraint::Is(KnownType::I32);

    views! { Scale = "geo.scale" { x: Operand<0>, by: Attr<0>, } }

    pub(super) fn dialect(r: &mut Registry) {
        r.add(
            OpDef::new("geo.scale", "a length, so many times as long, wrapping around")
                .operand("x", I32)
                .attr("by", AttrConstraint::Int(KnownType::I32))
                .result("scaled", I32)
                .pure()
                .format("$x `by` $by attr-dict")
                .verifier(verify)
                .folder(fold)
                .kernel()
                .cost(1),
        );
    }

    fn factor(m: &Module, op: OpId) -> Option<i32> {
        let by = Scale::of(m, op)?.by(m)?;
        i32::try_from(m.cx.as_int(by)?).ok()
    }

    fn verify(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
        if factor(m, op) == Some(0) {
            diags.push(at_op(m, op, "E9001", "scaled to nothing").help("use a constant"));
        }
    }

    fn fold(m: &mut Module, op: OpId, constants: &[Option<AttrId>]) -> Option<Vec<Folded>> {
        let factor = factor(m, op)?;
        if factor == 1 {
            return Some(vec![Folded::Value(Scale::of(m, op)?.x(m))]);
        }
        let x = i32::try_from(m.cx.as_int((*constants.first()?)?)?).ok()?;
        let scaled = m.cx.int_attr(KnownType::I32.id(), x.wrapping_mul(factor).into());
        Some(vec![Folded::Attr(scaled)])
    }
}
// op]

// [kernel
mod kernels {
    use befrost_host::kernel::Attr;
    use befrost_host::{Registry, kernel};

    pub(super) fn geo(registry: &mut Registry) {
        registry.add(kernel!("geo.scale", |x: i32, by: Attr<i32>| x.wrapping_mul(by.0)));
    }
}
// kernel]

const PROGRAM: &str = "\
func.func @main(%x: i32) -> i32 {
  %two = tfrt.constant.i32 2
  %six = geo.scale %two by 3
  %same = geo.scale %x by 1
  %back = geo.scale %same by -7 {note}
  %sum = tfrt.add.i32 %six, %back
  tfrt.return %sum : i32
}
";

const CANONICAL: &str = "\
module {
  func.func @main(%arg0: i32) -> i32 {
    %0 = tfrt.constant.i32 6
    %1 = geo.scale %arg0 by -7 {note}
    %2 = tfrt.add.i32 %1, %0
    tfrt.return %2 : i32
  }
}
";

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::new().with(dialects::standard).with(op::dialect))
}

/// The program, or the messages for its errors.
fn module(text: &str) -> Result<Verified, Vec<String>> {
    let options = ParseOptions { registry: registry(), ..ParseOptions::default() };
    let parsed = parse("example.mlir", text, &options);
    let module = parsed.module.ok_or(parsed.diagnostics).and_then(verify);
    module.map_err(|wrong| wrong.into_iter().map(|d| format!("{}: {}", d.code, d.message)).collect())
}

fn canonical() -> Verified {
    let module = module(PROGRAM).expect("a program");
    let mut passes = PassManager::parse("canonicalize").expect("a pipeline");
    passes.run(module).expect("no errors").0
}

#[test]
fn it_has_a_form_and_folds() {
    let text = print(&canonical(), &PrintOptions::default());
    assert_eq!(text, CANONICAL);
    assert_eq!(print(&module(&text).expect("a program"), &PrintOptions::default()), CANONICAL);
}

#[test]
fn it_is_checked() {
    let wrong = PROGRAM.replace("by 3", "by 0").replace("by -7", "by true");
    let found = module(&wrong).err().expect("errors");
    assert!(found.iter().any(|d| d.contains("E0")), "{found:?}");
    let found = module(&PROGRAM.replace("by 3", "by 0")).err().expect("errors");
    assert_eq!(found, ["E9001: scaled to nothing"]);
    assert_eq!(view::disagreements(registry(), op::VIEWS), Vec::<String>::new());
}

#[test]
fn it_runs() {
    let mut kernels = befrost::registry();
    kernels::geo(&mut kernels);
    let runtime = befrost::Runtime::builder().kernels(kernels).work_queue("s").build().expect("a runtime");
    for module in [module(PROGRAM).expect("a program"), canonical()] {
        let bytes = emit(&module, &EmitOptions::default()).expect("a file");
        let program = runtime.load_bytes(&bytes).expect("a program");
        let results = program.function("main").and_then(|f| f.call([5i32.into()])).expect("a result");
        assert_eq!(results.iter().map(ToString::to_string).collect::<Vec<_>>(), ["-29"]);
    }
}

#[test]
fn the_readme_quotes_it() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a text");
    let (readme, source) = (read("../README.md"), read("tests/add_an_op.rs"));
    for part in ["op", "kernel"] {
        let (from, to) = (format!("\n// [{part}\n"), format!("\n// {part}]\n"));
        let quoted = source.split_once(&from).and_then(|(_, rest)| rest.split_once(&to));
        let (quoted, _) = quoted.expect("both marks");
        assert!(readme.contains(&format!("```rust\n{quoted}\n```\n")), "README.md differs from:\n{quoted}");
    }
    let program = format!("```mlir\n{PROGRAM}```\n");
    assert!(readme.contains(&program), "README.md does not have {program}");
}
