//! TFRT's spelling of options: for tools invoked by TFRT's names, through a link or a copy.
//!
//! ```text
//! bef_executor -work_queue_type=mstd:2 x.bef     bef-exec --work-queue=mstd:2 --leak-check ... x.bef
//! tfrt_translate -mlir-to-bef x.mlir             ir-translate --mlir-to-bef x.mlir
//! tfrt_opt -canonicalize x.mlir                  ir-opt --canonicalize x.mlir
//! ```
//!
//! Options have one dash or two, underscores or dashes, values after `=` or a blank; flags take one of LLVM's
//! words for yes and no. Some options have another name, and some have no effect here. `bef_executor` has
//! TFRT's defaults: the queue `s`, a leak check, run-time errors compared with the text, standard input.
//! `tfrt_translate` refuses features that TFRT's files do not support. An option without a counterpart, such
//! as `--shared_libs`, is refused as unknown.

use std::ffi::OsString;
use std::path::Path;

/// Options with another name here.
const NAMES: [(&str, &str); 13] = [
    ("mlir-print-debuginfo", "print-debuginfo"),
    ("mlir-print-local-scope", "print-local-scope"),
    ("mlir-print-op-generic", "generic"),
    ("mlir-print-ir-after-all", "print-ir-after-all"),
    ("mlir-print-ir-after-change", "print-ir-after-change"),
    ("mlir-print-ir-before-all", "print-ir-before-all"),
    ("mlir-print-ir-module-scope", "print-ir-module-scope"),
    ("mlir-timing", "timing"),
    ("mlir-pass-statistics", "pass-statistics"),
    ("work-queue-type", "work-queue"),
    ("test-init-function", "init-function"),
    ("host-allocator-type", "host-allocator"),
    ("tfrt-print-stream", "print-stream"),
];

/// Options with a value, which may be the next word.
const VALUED: [&str; 10] = [
    "functions",
    "host-allocator",
    "init-function",
    "output-split-marker",
    "pass-pipeline",
    "print-ir-after",
    "print-ir-before",
    "shared-libs",
    "tracing-level",
    "work-queue",
];

/// Options without effect, whatever their value.
const IDLE: [&str; 2] = ["mlir-disable-threading", "verify-roundtrip"];

/// LLVM's words for yes and no.
const YES: [&str; 4] = ["true", "TRUE", "True", "1"];
const NO: [&str; 4] = ["false", "FALSE", "False", "0"];

/// Its allocators.
const ALLOCATORS: [(&str, &str); 3] = [
    ("leak_check_allocator", "leak-check"),
    ("profiled_allocator", "profiled"),
    ("test_fixed_size_1k", "fixed-1k"),
];

/// TFRT's dialects have undeclared ops, which all of its tools accept.
const ALLOW_UNREGISTERED: &str = "--allow-unregistered-dialect";

/// The option for a leak check at exit.
const LEAK_CHECK: &str = "--leak-check";

/// The defaults of `bef_executor`: the option, and its full form.
const DEFAULTS: [(&str, &str); 6] = [
    ("--tfrt-output", "--tfrt-output"),
    (ALLOW_UNREGISTERED, ALLOW_UNREGISTERED),
    ("--work-queue=", "--work-queue=s"),
    ("--host-allocator=", "--host-allocator=leak-check"),
    (LEAK_CHECK, LEAK_CHECK),
    ("--verify-diagnostics", "--verify-diagnostics"),
];

fn renamed<'t>(table: &[(&'t str, &'t str)], name: &'t str) -> &'t str {
    table.iter().find(|(from, _)| *from == name).map_or(name, |(_, to)| to)
}

/// Appends the next argument in our spelling, which may be two arguments, or none.
fn respelled(argument: OsString, rest: &mut impl Iterator<Item = OsString>, to: &mut Vec<OsString>) {
    let Some(text) = argument.to_str() else { return to.push(argument) };
    let option = text.trim_start_matches('-');
    if let Some(path) = option.strip_prefix("o=").filter(|_| text.starts_with('-')) {
        return to.extend([OsString::from("-o"), path.into()]);
    }
    // Files, `-`, `--`, and options of one letter, which are spelled alike.
    if option.len() == text.len() || option.is_empty() || !text.starts_with("--") && is_short(option) {
        let takes_next = text == "-o";
        to.push(argument);
        if takes_next {
            to.extend(rest.next());
        }
        return;
    }
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let name = name.replace('_', "-");
    let name = renamed(&NAMES, &name);
    if IDLE.contains(&name) {
        return;
    }
    if !VALUED.contains(&name) {
        return match value {
            Some(value) if NO.contains(&value) => {}
            Some(value) if !YES.contains(&value) => to.push(format!("--{name}={value}").into()),
            _ => to.push(format!("--{name}").into()),
        };
    }
    let next = if value.is_none() { rest.next() } else { None };
    let value = value.or_else(|| next.as_ref()?.to_str());
    match value {
        Some("") if name == "shared-libs" => {}
        Some(value) if name == "host-allocator" => {
            to.push(format!("--{name}={}", renamed(&ALLOCATORS, value)).into());
        }
        Some(value) => to.push(format!("--{name}={value}").into()),
        None => to.extend([Some(format!("--{name}").into()), next].into_iter().flatten()),
    }
}

/// `-o`, `-O2`.
fn is_short(option: &str) -> bool {
    option.len() == 1 || option.starts_with('O') && option.len() == 2
}

/// The command line in our spelling.
pub(super) fn respell(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let program = arguments.first().and_then(|program| Path::new(program).file_stem());
    let program = program.and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let is_executor = program.starts_with("bef_executor");
    if !is_executor && !["tfrt_translate", "tfrt_opt"].contains(&program.as_str()) {
        return arguments;
    }
    let mut rest = arguments.split_off(1).into_iter();
    let mut given = Vec::new();
    while let Some(argument) = rest.next() {
        respelled(argument, &mut rest, &mut given);
    }
    let has = |option: &str| given.iter().any(|it| it.to_str().is_some_and(|it| it.starts_with(option)));
    let is_of_all = |option: &str| option == ALLOW_UNREGISTERED;
    if program == "tfrt_translate" {
        arguments.push("--tfrt-limits".into());
    }
    // Leaks are found by the leak-checking allocator.
    let looks =
        |option: &str| option != LEAK_CHECK || !has("--host-allocator") || has("--host-allocator=leak-check");
    let defaults = DEFAULTS.iter().map(|(option, whole)| (*option, *whole));
    let defaults = defaults.filter(|(option, _)| is_executor && looks(option) || is_of_all(option));
    let defaults = defaults.filter(|(option, _)| !has(option));
    arguments.extend(defaults.map(|(_, whole)| OsString::from(whole)));
    if program == "bef_executor_debug_tracing" {
        arguments.push("--print-scopes".into());
    }
    if is_executor {
        let is_file = |it: &OsString| it.to_str().is_none_or(|it| it == "-" || !it.starts_with('-'));
        let names_file = given.iter().any(is_file);
        arguments.extend(given);
        if !names_file {
            arguments.push("-".into());
        }
    } else {
        arguments.extend(given);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, want: &str) {
        let arguments = respell(line.split(' ').map(OsString::from));
        let texts: Vec<&str> = arguments.iter().filter_map(|it| it.to_str()).collect();
        assert_eq!(texts.join(" "), want);
    }

    #[test]
    fn ours_stay() {
        check("bef-exec --work-queue=s -x a_b", "bef-exec --work-queue=s -x a_b");
        check("/usr/bin/ir-opt -canonicalize", "/usr/bin/ir-opt -canonicalize");
    }

    #[test]
    fn tfrt_s_become_ours() {
        check(
            "tfrt_translate -mlir-to-bef a_b.mlir -o x.bef -O0",
            "tfrt_translate --tfrt-limits --allow-unregistered-dialect --mlir-to-bef a_b.mlir -o x.bef -O0",
        );
        check(
            "bin/tfrt_opt -tfrt-print-stream -allow-unregistered-dialect -",
            "bin/tfrt_opt --print-stream --allow-unregistered-dialect -",
        );
        check(
            "bef_executor -work_queue_type=mstd:2 --host_allocator_type=test_fixed_size_1k x.bef",
            "bef_executor --tfrt-output --allow-unregistered-dialect --verify-diagnostics --work-queue=mstd:2 --host-allocator=fixed-1k x.bef",
        );
        check(
            "tfrt_opt a.mlir -o=x -mlir-disable-threading -verify-each=false -mlir_timing=1 -pass-pipeline x",
            "tfrt_opt --allow-unregistered-dialect a.mlir -o x --timing --pass-pipeline=x",
        );
        check(
            "bef_executor -functions f -work_queue_type mstd --enable_tracing=false --print_error_code=1 --shared_libs=",
            "bef_executor --tfrt-output --allow-unregistered-dialect --host-allocator=leak-check --leak-check \
             --verify-diagnostics --functions=f --work-queue=mstd --print-error-code -",
        );
        check(
            "bef_executor_lite --test_init_function=f -functions=a_b",
            "bef_executor_lite --tfrt-output --allow-unregistered-dialect --work-queue=s --host-allocator=leak-check \
             --leak-check --verify-diagnostics --init-function=f --functions=a_b -",
        );
    }
}
