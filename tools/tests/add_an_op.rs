//! The worked examples of the README's section "Add an op in one place", compiled and run. An op of a new
//! dialect gets a definition and a kernel, and with these syntax, verification, folding, documentation and
//! execution. An op on tensors gets a row and a function.
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
    use befrost_kernel_api::kernel::Attr;
    use befrost_kernel_api::{Registry, kernel};

    pub(super) fn geo(registry: &mut Registry) {
        registry.add(kernel!("geo.scale", |x: i32, by: Attr<i32>| x.wrapping_mul(by.0)));
    }
}
// kernel]

// [operator
mod operator {
    use befrost_compiler::dialects::{Registry, tf};
    use befrost_tensor::mem::Allocator;
    use befrost_tensor::tf::op::row::{FLOATS, function};
    use befrost_tensor::tf::op::{Cost, OpRow, of, shape};
    use befrost_tensor::tf::{Binary, Unary, binary, unary};
    use befrost_tensor::{HostTensor, TensorError};
    use std::sync::Arc;

    pub(super) static MISH: OpRow = OpRow::new(
        "tf.Mish",
        "x * tanh(log(exp(x) + 1)), for each element.",
        "x:T -> y:T; T:type",
        function(|attrs| of(attrs, |[x], m| mish(x, m)), shape::same, Cost::PerResult(16)).total(FLOATS),
    );

    fn mish(x: &HostTensor, m: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        binary(Binary::Mul, x, &unary(Unary::Tanh, &unary(Unary::Softplus, x, m)?, m)?, m)
    }

    /// The op for the compiler, and the kernel for the runtime.
    pub(super) fn dialect(r: &mut Registry) {
        tf::add(r, &MISH);
    }

    pub(super) fn kernels(registry: &mut befrost_kernel_api::Registry) {
        registry.add(befrost_kernels::tf_operator(&MISH));
    }
}
// operator]

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
    REGISTRY
        .get_or_init(|| Registry::new().with(dialects::standard).with(op::dialect).with(operator::dialect))
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
    let found = module(&wrong).expect_err("errors");
    assert!(found.iter().any(|d| d.contains("E0")), "{found:?}");
    let found = module(&PROGRAM.replace("by 3", "by 0")).expect_err("errors");
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

const OF_TENSORS: &str = r#"
func.func @main(%x: tensor<2x?xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %folded = "tf.Mish"(%one) : (tensor<f32>) -> tensor<*xf32>
  %y = "tf.Mish"(%x) : (tensor<2x?xf32>) -> tensor<*xf32>
  tfrt.return %y, %folded : tensor<*xf32>, tensor<*xf32>
}
"#;

/// The row alone makes the op verified, inferred, folded, documented and executed, both as written and
/// optimized.
#[test]
fn an_operator_needs_a_row_and_a_function() {
    let wrong =
        OF_TENSORS.replace(r#"(%x) : (tensor<2x?xf32>)"#, r#"(%x, %x) : (tensor<2x?xf32>, tensor<2x?xf32>)"#);
    assert!(module(&wrong).expect_err("errors")[0].contains("2 operands"), "{:?}", module(&wrong).err());
    assert_eq!(registry().find("tf.Mish").expect("it is there").summary, operator::MISH.summary());
    let mut kernels = befrost::registry();
    operator::kernels(&mut kernels);
    let runtime = befrost::Runtime::builder().kernels(kernels).work_queue("s").build().expect("a runtime");
    let x = befrost_tensor::literal::parse("f32[2x2]:0,1,-1,20", runtime.allocator()).expect("a tensor");
    for level in [0, 2] {
        let module = module(OF_TENSORS).expect("a program");
        let mut passes = PassManager::parse(&befrost_compiler::graph::pipeline(level)).expect("a pipeline");
        let module = passes.run(module).expect("no errors").0;
        let text = print(&module, &PrintOptions::default());
        assert_eq!(text.matches("tf.Mish").count(), if level == 0 { 2 } else { 1 }, "{text}");
        assert_eq!(text.contains("(tensor<2x?xf32>) -> tensor<2x?xf32>"), level > 0, "{text}");
        let bytes = emit(&module, &EmitOptions::default()).expect("a file");
        let program = runtime.load_bytes(&bytes).expect("a program");
        let results = program.function("main").and_then(|f| f.call([x.clone().into()])).expect("results");
        let shown: Vec<String> = results.iter().map(ToString::to_string).collect();
        assert!(shown[0].contains("0.8650984") && shown[0].contains("20."), "{shown:?}");
        assert!(shown[1].contains("0.8650984"), "{shown:?}");
    }
}

#[test]
fn the_readme_quotes_it() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a text");
    let (readme, source) = (read("../README.md"), read("tests/add_an_op.rs"));
    for part in ["op", "kernel", "operator"] {
        let (from, to) = (format!("\n// [{part}\n"), format!("\n// {part}]\n"));
        let quoted = source.split_once(&from).and_then(|(_, rest)| rest.split_once(&to));
        let (quoted, _) = quoted.expect("both marks");
        assert!(readme.contains(&format!("```rust\n{quoted}\n```\n")), "README.md differs from:\n{quoted}");
    }
    let program = format!("```mlir\n{PROGRAM}```\n");
    assert!(readme.contains(&program), "README.md does not have {program}");
}
