//! Kernel libraries: a sample in C, used from text, a GraphDef, an ONNX file and the eager core; a library in
//! Rust; and libraries that are refused.

#![allow(unsafe_code, reason = "loads the libraries that it has compiled")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use befrost::eager::{OpAttrs, TensorHandle};
use befrost::{HostTensor, Library, LibraryError, Runtime, npy};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Compiles a library. `None` if there is no C compiler.
fn compile(source: &Path, options: &[&str]) -> Option<PathBuf> {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"));
    let stem = source.file_stem().expect("a name").to_string_lossy();
    let library = folder.path().join(format!("{stem}{}.so", options.concat()));
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC", "-shared", "-pthread"])
        .args(options)
        .arg("-I")
        .arg(root().join("runtime/c/include"))
        .arg(source)
        .arg("-o")
        .arg(&library)
        .arg("-lm")
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("there is no C compiler: libraries were not tried");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(library)
}

/// The library compiled from `testdata/library/sample.c`.
fn sample() -> Option<&'static Path> {
    static SAMPLE: OnceLock<Option<PathBuf>> = OnceLock::new();
    SAMPLE.get_or_init(|| compile(&root().join("testdata/library/sample.c"), &[])).as_deref()
}

fn load(path: &Path) -> Result<Library, LibraryError> {
    // SAFETY: the path is a library that this test has compiled from sources of `testdata` or its own, or
    // it is no library.
    unsafe { Library::load(path) }
}

fn tool(name: &str, arguments: &[&str]) -> Output {
    let tool = match name {
        "bef-exec" => env!("CARGO_BIN_EXE_bef-exec"),
        "ir-opt" => env!("CARGO_BIN_EXE_ir-opt"),
        _ => env!("CARGO_BIN_EXE_ir-translate"),
    };
    Command::new(tool).args(arguments).current_dir(root()).output().expect("it runs")
}

/// Runs a tool on a file with this text and with the sample library. Returns standard output and standard
/// error.
fn run(name: &str, text: &str, arguments: &[&str]) -> Option<(String, String)> {
    let library = sample()?.to_string_lossy().into_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program.mlir");
    std::fs::write(&file, text).expect("a file");
    let file = file.to_string_lossy().into_owned();
    let mut all = vec!["--library", &library, &file];
    all.extend(arguments);
    let said = tool(name, &all);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&said.stdout), text(&said.stderr)))
}

const TEXT: &str = "\
func.func @main() -> (i32, i32, i32, i32) {
  %a = tfrt.constant.i32 3
  %b = tfrt.constant.i32 4
  %c = \"geo.area\"(%a, %b) {by = 2 : i64} : (i32, i32) -> i32
  %d = \"geo.twice\"(%c) : (i32) -> i32
  %e = \"geo.slow_area\"(%d, %b) : (i32, i32) -> i32
  %f = tfrt.add.i32 %e, %d
  tfrt.return %c, %d, %e, %f : i32, i32, i32, i32
}
";

#[test]
fn kernels_are_used_from_text() {
    for queue in ["s", "mstd:2"] {
        let Some((said, errors)) = run("bef-exec", TEXT, &["--leak-check", "--work-queue", queue]) else {
            return;
        };
        assert!(said.contains("24") && said.contains("48") && said.contains("192"), "{said}{errors}");
        assert!(said.contains("240"), "{said}{errors}");
    }
    let Some((text, errors)) = run("ir-opt", TEXT, &[]) else { return };
    assert!(text.contains("\"geo.area\"(") && text.contains("by = 2"), "{text}{errors}");
    let Some((_, errors)) = run("ir-opt", &TEXT.replace("(i32) -> i32", "(i32) -> i64"), &[]) else { return };
    assert!(errors.contains("geo.twice") && errors.contains("i64"), "{errors}");
    let Some((help, _)) = run("ir-opt", TEXT, &["--help-dialects=geo"]) else { return };
    assert!(help.contains("geo.area") && help.contains("an area"), "{help}");
    let Some((help, _)) = run("ir-opt", TEXT, &["--help-dialects=tf.MyNorm"]) else { return };
    assert!(help.contains("sum of squares"), "{help}");
}

#[test]
fn kernels_that_fail_or_are_wrong_give_errors_with_their_place() {
    for (number, words) in [
        (0, "result #0 is not set"),
        (1, "result #0 is set twice"),
        (2, "result #1 of 1 is set"),
        (3, "a result of type i32 is set to a tensor of f32"),
        (4, "no tensors of type 77"),
        (5, "result #0"),
        (6, "without a ticket"),
        (7, "did not return BF_LATER"),
        (8, "status 99"),
        (9, "not today"),
    ] {
        let text = format!(
            "func.func @main() -> i32 {{\n  %a = tfrt.constant.i32 {number}\n  \
             %b = \"geo.wrong\"(%a) : (i32) -> i32\n  tfrt.return %b : i32\n}}\n"
        );
        let Some((said, errors)) = run("bef-exec", &text, &["--leak-check"]) else { return };
        let all = format!("{said}{errors}");
        assert!(all.contains(words) && all.contains("geo.wrong"), "{number}: {all}");
        assert!(all.contains("program.mlir:3"), "{number}: {all}");
    }
    for (number, words) in [(13, "13 is no good number"), (14, "dropped before"), (15, "30"), (16, "32")] {
        let text = format!(
            "func.func @main() -> i32 {{\n  %a = tfrt.constant.i32 {number}\n  \
             %b = \"geo.twice\"(%a) : (i32) -> i32\n  tfrt.return %b : i32\n}}\n"
        );
        for queue in ["s", "mstd:2"] {
            let Some((said, errors)) = run("bef-exec", &text, &["--work-queue", queue]) else { return };
            assert!(format!("{said}{errors}").contains(words), "{number}: {said}{errors}");
        }
    }
}

#[test]
fn operators_are_used_from_models() {
    let Some(library) = sample().map(|path| path.to_string_lossy().into_owned()) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let given = |name: &str, dims: &[usize], values: &[f32]| {
        let path = folder.path().join(format!("{name}.npy"));
        let x = HostTensor::from_vec(dims, values.to_vec()).expect("memory");
        npy::write_file(&path, &x).expect("a file");
        format!("{name}={}", path.display())
    };
    let (x, scale) = (given("x", &[2, 2], &[3.0, 4.0, 0.0, 2.0]), given("scale", &[2], &[1.0, 10.0]));
    for model in ["testdata/library/norm.pbtxt", "testdata/library/norm.onnx"] {
        for level in ["-O0", "-O2"] {
            let mut arguments = vec!["--library", &library, level, model, "--input", &x];
            if model.ends_with("onnx") {
                arguments.extend(["--input", &scale]);
            }
            let said = tool("bef-exec", &arguments);
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            let errors = String::from_utf8_lossy(&said.stderr);
            assert!(
                text.contains("0.6") && text.contains('8') && text.contains("10"),
                "{model}: {text}{errors}"
            );
        }
        let said = tool("ir-translate", &["--library", &library, model, "--to", "mlir"]);
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(text.contains("tf.MyNorm") && text.contains("eps = 0."), "{text}");
        let said = tool("ir-translate", &[model, "--to", "mlir"]);
        assert!(!said.status.success(), "without the library {model} is refused");
    }
    // The compiler does not run the library's code, so nothing is folded.
    let text = "\
func.func @main() -> tensor<2xf32> {
  %x = \"tf.Const\"() {value = dense<[3.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = \"tf.MyNorm\"(%x, %x) {eps = 0.0 : f32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
";
    let Some((said, errors)) = run("ir-translate", text, &["--to", "mlir", "-O2"]) else { return };
    assert!(said.contains("tf.MyNorm"), "{said}{errors}");
    let Some((_, errors)) =
        run("ir-opt", &text.replace("0.0 : f32", "-1.0 : f32"), &["--tf-shape-inference"])
    else {
        return;
    };
    assert!(!errors.contains("panicked"), "{errors}");
    let Some((said, errors)) = run("bef-exec", &text.replace("0.0 : f32", "-1.0 : f32"), &[]) else { return };
    assert!(format!("{said}{errors}").contains("eps is negative"), "{said}{errors}");
    let Some((said, errors)) = run("bef-exec", &text.replace("xf32", "xf16"), &[]) else { return };
    assert!(format!("{said}{errors}").contains("expected one of float, double"), "{said}{errors}");
}

#[test]
fn a_library_may_be_written_in_rust() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("sample_in_rust.so");
    let compiled = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"])
        .arg(&library)
        .arg(root().join("testdata/library/sample.rs"))
        .output();
    let Ok(compiled) = compiled else { return eprintln!("there is no rustc on the path: it was not tried") };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let program = folder.path().join("program.mlir");
    let text = "\
func.func @main() -> f64 {
  %a = tfrt.constant.f64 3.0
  %b = tfrt.constant.f64 4.0
  %c = \"rust.length\"(%a, %b) : (f64, f64) -> f64
  tfrt.return %c : f64
}
";
    std::fs::write(&program, text).expect("a file");
    let (library, program) = (library.to_string_lossy(), program.to_string_lossy());
    let said = tool("bef-exec", &["--library", &library, &program]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("5.0"), "{text}{}", String::from_utf8_lossy(&said.stderr));
    // Two libraries at once.
    let Some(sample) = sample().map(|path| path.to_string_lossy().into_owned()) else { return };
    let said = tool("bef-exec", &["--library", &library, "--library", &sample, &program]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn operators_are_used_by_name() {
    let Some(path) = sample() else { return };
    let library = load(path).expect("it is loaded");
    assert_eq!(library.name(), "sample");
    assert_eq!(load(path).map(|again| again.kernels().count()).ok(), Some(5));
    // SAFETY: as in `load`.
    let runtime = unsafe { Runtime::builder().work_queue("s").library(path) }.expect("it is loaded");
    // SAFETY: as above.
    let twice = unsafe { runtime.library(path) }.map(|_| ()).expect_err("its kernels are there");
    assert!(twice.to_string().contains("tf.MyNorm"), "{twice}");
    let core = Runtime::builder().work_queue("s").build().expect("a runtime").eager();
    let x = |values: &[f64]| TensorHandle::from(HostTensor::from_vec([2], values.to_vec()).expect("memory"));
    let attrs = OpAttrs::new().set("eps", 0.0f32);
    let y = core.execute("MyNorm", &[x(&[3.0, 4.0]), x(&[1.0, 10.0])], &attrs).expect("it is known");
    assert_eq!(y[0].shape().map(|shape| shape.dims().to_vec()), Some(vec![2]));
    assert_eq!(y[0].wait().map(|y| y.to_vec::<f64>().expect("numbers")).ok(), Some(vec![0.6, 8.0]));
    let scale = TensorHandle::from(HostTensor::from_vec([1, 2], vec![1.0f64; 2]).expect("memory"));
    let refused = core.execute("MyNorm", &[x(&[3.0, 4.0]), scale], &attrs).expect_err("its shape is wrong");
    assert!(refused.message().contains("scale has more than one axis"), "{refused}");
}

#[test]
fn libraries_are_refused_with_the_reason() {
    let check = |path: &Path, words: &str| {
        let error = load(path).expect_err("it is refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    check(Path::new("/nowhere/nothing.so"), "nothing.so");
    check(&root().join("README.md"), "cannot be loaded");
    let source = root().join("testdata/library/sample.c");
    let Some(wrong) = compile(&source, &["-DWRONG_VERSION"]) else { return };
    check(&wrong, "it is of version 7");
    let Some(refuses) = compile(&source, &["-DREFUSES"]) else { return };
    check(&refuses, "not on Wednesdays");
    let folder = tempfile::tempdir().expect("a folder");
    let own = |name: &str, text: &str| {
        let source = folder.path().join(format!("{name}.c"));
        std::fs::write(&source, text).expect("a file");
        compile(&source, &[])
    };
    let Some(empty) = own("empty", "int nothing;\n") else { return };
    check(&empty, "it has no function 'befrost_library_v1'");
    let foreign = "#include \"befrost_library.h\"\nstatic long long other[4] = {7};\n\
                   bf_error *befrost_library_v1(const bf_host *host, bf_library *library) {\n\
                   (void)host; (void)library; return (bf_error *)other; }\n";
    let Some(foreign) = own("foreign", foreign) else { return };
    check(&foreign, "it refuses this host: its error was not made by the host's function");
    let with = |name: &str, kernel: &str| {
        own(
            name,
            &format!(
                "#include \"befrost_library.h\"\n\
             static int32_t run(const bf_host *host, void *state, bf_frame *frame) {{\n\
             (void)host; (void)state; (void)frame; return BF_DONE; }}\n\
             static const bf_kernel KERNELS[] = {{ {kernel} }};\n\
             bf_error *befrost_library_v1(const bf_host *host, bf_library *library) {{\n\
             (void)host; (void)run; library->version = BF_LIBRARY_VERSION; library->name = \"own\";\n\
             library->kernels = KERNELS; library->n_kernels = sizeof KERNELS / sizeof *KERNELS; return NULL; }}\n"
            ),
        )
    };
    let kernel = |name: &str, signature: &str| {
        format!("{{sizeof(bf_kernel), 0, \"{name}\", \"{signature}\", NULL, NULL, NULL, run, NULL}}")
    };
    for (name, kernels, words) in [
        ("taken", kernel("tf.AddV2", "x:T -> y:T; T:type"), "there is a kernel 'tf.AddV2' already"),
        ("taken_too", kernel("tfrt.add.i32", "i32 -> i32"), "there is a kernel 'tfrt.add.i32' already"),
        ("twice", format!("{0}, {0}", kernel("own.a", "i32 -> i32")), "two kernels 'own.a'"),
        ("malformed", kernel("tf.Own", "x:T y"), "malformed"),
        ("types", kernel("own.b", "!x.y -> i32"), "'!x.y'"),
        ("dialect", kernel("own", "i32 -> i32"), "no dialect"),
        ("small", "{8, 0, \"own.c\", \"->\", NULL, NULL, NULL, run, NULL}".to_owned(), "has 8 bytes"),
        (
            "nothing",
            "{sizeof(bf_kernel), 0, \"own.d\", \"->\", NULL, NULL, NULL, NULL, NULL}".to_owned(),
            "run must",
        ),
        (
            "flags",
            "{sizeof(bf_kernel), 64, \"own.e\", \"->\", NULL, NULL, NULL, run, NULL}".to_owned(),
            "flags 0x40",
        ),
    ] {
        let Some(library) = with(name, &kernels) else { return };
        check(&library, words);
    }
}
