//! The headers and their examples. The headers declare exactly the functions of the library, and all of those
//! of the first release. Structures have the layout of ABI 1. The examples compile without a warning as C11
//! or C++17. They run, also under AddressSanitizer if the compiler has it.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The functions that the header declares: `bf_` names in front of a parenthesis.
fn declared() -> BTreeSet<String> {
    let header = std::fs::read_to_string(here("include/befrost.h")).expect("the header");
    let is_code = |line: &&str| !line.starts_with([' ', '/', '#', '}']) && !line.starts_with("typedef");
    let name = |line: &str| {
        let before = &line[..line.find('(')?];
        let name = &before[before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1)..];
        name.starts_with("bf_").then(|| name.to_owned())
    };
    header.lines().filter(is_code).filter_map(name).collect()
}

/// The functions of the first release with ABI 1.
fn first_release() -> BTreeSet<String> {
    let pinned = std::fs::read_to_string(here("tests/abi_1.txt")).expect("the list");
    pinned.lines().map(str::to_owned).collect()
}

/// The output of a program. `None` if it is not there.
fn said(program: &str, arguments: &[&std::ffi::OsStr]) -> Option<String> {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        eprintln!("there is no {program}: nothing was compared");
        return None;
    };
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The last words of the lines that nm prints, without the versions of symbols.
fn symbols(printed: &str) -> BTreeSet<String> {
    let last = printed.lines().filter_map(|line| line.split_whitespace().last());
    last.filter_map(|name| Some(name.split('@').next()?.to_owned())).collect()
}

/// The library exports the functions of the header and nothing else, under the name that programs ask for.
#[test]
#[cfg(target_os = "linux")]
fn the_library_exports_the_functions_of_the_header() {
    let (header, library) = (declared(), library());
    assert!(header.len() > 80, "{header:?}");
    if let Some(printed) = said("nm", &["-D".as_ref(), "--defined-only".as_ref(), library.as_ref()]) {
        assert_eq!(symbols(&printed), header);
    }
    if let Some(printed) = said("readelf", &["-d".as_ref(), library.as_ref()]) {
        let soname = printed.lines().find(|line| line.contains("SONAME"));
        assert!(soname.is_some_and(|line| line.contains("[libbefrost.so.1]")), "{printed}");
    }
}

/// A program that was compiled with the header of the first release: nothing that it uses has gone, and it
/// runs.
#[test]
#[cfg(target_os = "linux")]
fn a_program_of_the_first_release_keeps_working() {
    let first = first_release();
    let declared = declared();
    let gone: Vec<&String> = first.difference(&declared).collect();
    assert!(gone.is_empty(), "functions of ABI 1 are gone: {gone:?}");
    let model = here("../../testdata/digits/digits_cnn.pb");
    let Some(printed) = run("tests/abi_1.c", &[&model]) else { return };
    assert_eq!(printed, format!("{} functions\n", first.len()));
    let folder = tempfile::tempdir().expect("a folder");
    let object = folder.path().join("abi_1.o");
    let source = here("tests/abi_1.c");
    said("cc", &["-std=c11".as_ref(), "-c".as_ref(), source.as_ref(), "-o".as_ref(), object.as_ref()]);
    if let Some(printed) = said("nm", &["-u".as_ref(), object.as_ref()]) {
        let taken = symbols(&printed).into_iter().filter(|name| name.starts_with("bf_"));
        assert_eq!(taken.collect::<BTreeSet<_>>(), first);
    }
}

/// The shared library, which cargo builds beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.with_file_name("libbefrost_c.so")
}

/// Compiles a program with these flags. `None` if there is no compiler.
fn compile(source: &Path, flags: &[&str], folder: &Path) -> Option<PathBuf> {
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let (compiler, standard) = if is_cpp { ("c++", "-std=c++17") } else { ("cc", "-std=c11") };
    let program = folder.join("example");
    let compiled = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-pthread", "-I"])
        .arg(here("include"))
        .args(flags)
        .arg(source)
        .arg("-L")
        .arg(folder)
        .args(["-lbefrost", "-o"])
        .arg(&program)
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("there is no {compiler}: the example was not tried");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(program)
}

/// True if the compiler has AddressSanitizer.
fn has_sanitizer(folder: &Path) -> bool {
    let source = folder.join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let made = Command::new("cc")
        .arg("-fsanitize=address")
        .arg(&source)
        .arg("-o")
        .arg(folder.join("empty"))
        .output();
    made.is_ok_and(|made| made.status.success())
}

/// Compiles and runs a program, without and with AddressSanitizer; returns its output. `None` if there is no
/// compiler.
fn run(source: &str, arguments: &[&Path]) -> Option<String> {
    run_with(source, "-DNDEBUG", arguments)
}

/// [`run`] of a program that is compiled with one more flag.
fn run_with(source: &str, flag: &str, arguments: &[&Path]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["libbefrost.so", "libbefrost.so.1"] {
        std::fs::copy(library(), folder.path().join(name)).expect("the library");
    }
    let mut printed = Vec::new();
    let sanitized: &[&[&str]] = &[&[flag], &[flag, "-fsanitize=address", "-g"]];
    for flags in &sanitized[..1 + usize::from(has_sanitizer(folder.path()))] {
        let program = compile(&here(source), flags, folder.path())?;
        let mut command = Command::new(&program);
        command.args(arguments).env("LD_LIBRARY_PATH", folder.path());
        // The library reports an allocation that is too large, so the sanitizer must not end the program.
        let said = command.env("ASAN_OPTIONS", "allocator_may_return_null=1").output();
        let said = said.expect("it runs");
        let stderr = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{source} {flags:?}: {:?}: {stderr}", said.status);
        printed.push(String::from_utf8_lossy(&said.stdout).into_owned());
    }
    assert!(printed.windows(2).all(|two| two[0] == two[1]), "{printed:?}");
    printed.pop()
}

#[test]
#[cfg(target_os = "linux")]
fn digits_are_classified() {
    let printed = run("examples/digits.c", &[&here("../../testdata/digits/digits_cnn.pb")]);
    if let Some(printed) = printed {
        assert!(printed.starts_with("image 0: ") && printed.lines().count() == 2, "{printed}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn variables_are_trained() {
    let graph = here("../../testdata/partition/sgd_on_parameter_device/graph.pb");
    if let Some(printed) = run("examples/variables.c", &[&graph, Path::new("w")]) {
        assert_eq!(printed, "the loss falls\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn mistakes_are_refused() {
    if let Some(printed) = run("examples/wrong.c", &[&here("../../testdata/digits/digits_cnn.pb")]) {
        assert_eq!(printed, "all refused\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn operators_and_runs_work_from_several_threads() {
    if let Some(printed) = run("examples/eager.c", &[&here("../../testdata/digits/digits_cnn.pb")]) {
        assert_eq!(printed, "sums are right\nruns agree\ntwo-two\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn operators_work_on_variables_lists_and_functions() {
    if let Some(printed) = run("examples/state.c", &[]) {
        assert_eq!(printed, "variable: 4\nvariable: 4\nlist: 3\ncondition: 6\nfuture: 2.5\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn sessions_tell_their_ports_and_share_variables() {
    let graph = here("../../testdata/partition/sgd_on_parameter_device/graph.pb");
    let onnx = here("../../testdata/digits/digits_cnn.onnx");
    if let Some(printed) = run("examples/session.c", &[&graph, &onnx]) {
        assert!(printed.ends_with("variables are shared and restored\ncompiled 1\n"), "{printed}");
        assert!(printed.starts_with("inputs: ") && printed.contains(" 1 ["), "{printed}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn models_are_run_on_their_inputs() {
    let images = here("../../testdata/digits/test_images.npy");
    if let Some(printed) = run("examples/model.c", &[&here("../../testdata/digits/digits_mlp.pb"), &images]) {
        let logits: Vec<f32> = printed.lines().map(|line| line.parse().expect("a number")).collect();
        assert!(logits.len() == 10 && logits.iter().any(|logit| *logit > 0.0), "{printed}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_has_its_model_inside() {
    let model = here("../befrost/examples/digits_mlp.bef");
    let flag = format!("-DMODEL=\"{}\"", model.display());
    if let Some(printed) = run_with("examples/tiny.c", &flag, &[]) {
        assert_eq!(printed, "It is a 7.\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_cpp_header_releases_what_it_takes() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [&*here("../../testdata/digits/digits_cnn.pb"), &folder.path().join("saved.bef")];
    if let Some(printed) = run("examples/digits.cpp", &arguments) {
        assert!(
            printed.starts_with("digit ") && printed.contains("Nobody") && printed.ends_with("\n6 six 3\n"),
            "{printed}"
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn structures_have_the_layout_of_abi_1() {
    if let Some(printed) = run("tests/layout.c", &[]) {
        assert_eq!(printed, "ABI 1\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn tensors_are_exchanged_by_dlpack_without_a_copy() {
    if let Some(printed) = run("tests/dlpack.c", &[]) {
        assert_eq!(printed, "exchanged\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn every_function_refuses_null_and_handles_of_other_kinds() {
    if let Some(printed) = run("tests/null.c", &[]) {
        assert_eq!(printed, "117 refused\n");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn random_sequences_of_calls_end_in_errors_at_worst() {
    for seed in ["1", "2", "3"] {
        let model = here("../../testdata/digits/digits_cnn.pb");
        if let Some(printed) = run("tests/sequences.c", &[&model, Path::new(seed)]) {
            assert!(printed.starts_with("20000 calls"), "{printed}");
        }
    }
}
