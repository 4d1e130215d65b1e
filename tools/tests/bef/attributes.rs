//! Compiler and runtime with different signatures of an op: a file means the same to both, or is refused with
//! the op's name.
//!
//! The signatures differ by one attribute or in the order. `strides` and `dilations` are of one kind, so a
//! confusion of the two would show only in the numbers.

use bef_format::{AlignedBytes, validate};
use befrost::Runtime;
use befrost_compiler::dialects::{self, AttrConstraint, OpDef, Registry};
use befrost_compiler::emit::{EmitOptions, Strip, emit};
use befrost_compiler::ir::{KnownType, Module};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_kernel_api::kernel::{Kernel, Signature};

const OP: &str = "tf.Conv2D";

/// A convolution with the attributes `ATTRS`.
const PROGRAM: &str = "\
module {
  func.func @main() -> tensor<1x2x2x1xf32> {
    %0 = \"tf.Const\"() {value = dense<[[[[1.0], [2.0], [3.0], [4.0]], [[5.0], [6.0], [7.0], [8.0]], \
     [[9.0], [10.0], [11.0], [12.0]], [[13.0], [14.0], [15.0], [16.0]]]]> : tensor<1x4x4x1xf32>} : () -> tensor<1x4x4x1xf32>
    %1 = \"tf.Const\"() {value = dense<1.0> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
    %2 = \"tf.Conv2D\"(%0, %1) {ATTRS} : (tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
    tfrt.return %2 : tensor<1x2x2x1xf32>
  }
}
";

const STRIDES: &str = "padding = \"VALID\", strides = [1, 2, 2, 1]";
const DILATIONS: &str = "dilations = [1, 2, 2, 1], padding = \"VALID\", strides = [1, 1, 1, 1]";

/// The op table of a compiler whose definition of the op is changed by `change`.
fn ops(change: impl FnOnce(&mut OpDef)) -> &'static Registry {
    let mut ops = Registry::new().with(dialects::standard);
    let mut def = ops.find(OP).expect("it is in the table").clone();
    change(&mut def);
    ops.add(def);
    ops.leak()
}

/// A runtime whose kernel has the attributes that `change` returns. On `None` it has no such kernel.
fn runtime(change: impl FnOnce(Vec<&'static str>) -> Option<Vec<&'static str>>) -> Runtime {
    let standard = befrost::registry();
    let mut kernels = befrost_kernel_api::Registry::new();
    standard.iter().filter(|kernel| kernel.name != OP).for_each(|kernel| kernels.add(kernel.clone()));
    let kernel = standard.find(OP).expect("it is there");
    let names = kernel.signature.attr_names.clone().expect("its attributes are found by name");
    if let Some(names) = change(names) {
        let signature = Signature { attr_names: Some(names), ..(*kernel.signature).clone() };
        kernels.add(Kernel::new(kernel.name, signature, kernel.run));
    }
    Runtime::builder().kernels(kernels).work_queue("s").build().expect("a runtime")
}

fn module(ops: &'static Registry, attrs: &str) -> Verified {
    let options = ParseOptions { registry: ops, ..ParseOptions::default() };
    let parsed = parse("conv.mlir", &PROGRAM.replace("ATTRS", attrs), &options);
    let module = parsed.module.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    verify(module).expect("the program is right")
}

fn file(ops: &'static Registry, attrs: &str, strip: Strip) -> Vec<u8> {
    emit(&module(ops, attrs), &EmitOptions { strip, ..EmitOptions::default() }).expect("a file")
}

/// The result, or the reason why the file is refused. Both are the same with and without the optional
/// sections, except for the location.
fn run(runtime: &Runtime, ops: &'static Registry, attrs: &str) -> Result<String, String> {
    let run = |strip: Strip| {
        let program = runtime.load_bytes(&file(ops, attrs, strip)).map_err(|error| error.to_string())?;
        let results = program.function("main").and_then(|main| main.call([])).expect("a result");
        Ok::<_, String>(results[0].to_string())
    };
    match (run(Strip::Nothing), run(Strip::Debug)) {
        (Ok(full), Ok(stripped)) => {
            assert_eq!(full, stripped);
            Ok(full)
        }
        (Err(full), Err(stripped)) => {
            let why = full.strip_prefix("conv.mlir:5:10: ").expect("the op's place");
            assert_eq!(stripped, format!("in function 'main': {why}"));
            Err(why.to_owned())
        }
        (full, stripped) => panic!("{full:?}, but stripped {stripped:?}"),
    }
}

fn added(def: &mut OpDef) {
    // First in alphabetical order: a reader that counts positions would be off by one.
    *def = def.clone().optional_attr("a_new_one", AttrConstraint::IntArray(KnownType::I64));
}

#[test]
fn a_file_means_the_same_or_is_refused() {
    let (same, all) = (ops(|_| {}), runtime(Some));
    let want = |attrs: &str| run(&all, same, attrs).expect("both know all");
    let (strided, dilated) = (want(STRIDES), want(DILATIONS));
    assert!(strided.contains("[[14.]") && strided.contains("[54.]]"), "{strided}");
    assert!(dilated.contains("[[24.]") && dilated.contains("[44.]]"), "{dilated}");
    let given = format!("a_new_one = [1, 2, 2, 1], {STRIDES}");

    let (more, fewer) = (ops(added), ops(|def| def.attrs.retain(|attr| attr.name != "explicit_paddings")));
    let other_order = ops(|def| def.attrs.reverse());
    let runtimes = [
        runtime(|names| Some([vec!["a_new_one"], names].concat())),
        runtime(|names| Some(names.into_iter().filter(|name| *name != "explicit_paddings").collect())),
        runtime(|names| Some(names.into_iter().rev().collect())),
    ];
    for ops in [same, more, fewer, other_order] {
        for runtime in runtimes.iter().chain([&all]) {
            assert_eq!(run(runtime, ops, STRIDES), Ok(strided.clone()));
            assert_eq!(run(runtime, ops, DILATIONS), Ok(dilated.clone()));
        }
        assert_eq!(file(ops, DILATIONS, Strip::Nothing), file(same, DILATIONS, Strip::Nothing));
    }
    // A compiler that does not know the attribute refuses it itself.
    let refused = Err("'tf.Conv2D' has no attribute 'a_new_one'".to_owned());
    assert_eq!(run(&all, more, &given), refused);

    let without = runtime(|names| Some(names.into_iter().filter(|name| *name != "dilations").collect()));
    assert_eq!(run(&without, same, STRIDES), Ok(strided));
    assert_eq!(run(&without, same, DILATIONS), Err("'tf.Conv2D' has no attribute 'dilations'".to_owned()));
    let unknown = run(&runtime(|_| None), same, STRIDES);
    assert_eq!(unknown, Err("unknown kernel name 'tf.Conv2D'".to_owned()));
}

/// Attributes by position, as in files of the format before named attributes.
#[test]
fn attributes_without_names_are_refused() {
    let unnamed = ops(|def| def.named_attrs = false);
    let why = "'tf.Conv2D' finds its attributes by name, but is used with attributes without names";
    assert_eq!(run(&runtime(Some), unnamed, STRIDES), Err(why.to_owned()));
    let bytes = AlignedBytes::copy_of(&file(unnamed, STRIDES, Strip::Debug));
    let refused = raise(&validate(&bytes).expect("valid")).err().expect("names would have to be guessed");
    assert_eq!(refused[0].code, "E0656");
    assert!(refused[0].message.contains(OP), "{}", refused[0].message);
}

/// Attribute names come back from a file without the optional sections, whatever op table wrote it.
#[test]
fn names_come_back_without_optional_sections() {
    for ops in [ops(|_| {}), ops(added), ops(|def| def.attrs.reverse())] {
        let module = module(ops, &format!("_note = 1, {DILATIONS}, tf.note = 2"));
        let options = EmitOptions { strip: Strip::Debug, ..EmitOptions::default() };
        let bytes = AlignedBytes::copy_of(&emit(&module, &options).expect("a file"));
        let back = raise(&validate(&bytes).expect("valid")).expect("a program");
        let text = |module: &Module| print(module, &PrintOptions::default());
        assert_eq!(text(&back), text(&module));
    }
}
