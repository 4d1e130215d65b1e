//! TFRT's spelling of options: for tools that are called by its tools' names, through a link or a copy.
//!
//! ```text
//! bef_executor -work_queue_type=mstd:2 x.bef     bef-exec --work-queue=mstd:2 --host-allocator=leak-check ... x.bef
//! tfrt_translate -mlir-to-bef x.mlir             ir-translate --mlir-to-bef x.mlir
//! tfrt_opt -canonicalize x.mlir                  ir-opt --canonicalize x.mlir
//! ```
//!
//! Options have one dash or two, underscores or dashes; some have another name. `bef_executor` has TFRT's defaults: the queue `s`, a leak check,
//! run-time errors compared with the text, standard input; `tfrt_translate` refuses what TFRT's files cannot hold. What has no counterpart, such as `--shared_libs`, is refused as any unknown option.

use std::ffi::OsString;
use std::path::Path;

/// Options with another name here.
const NAMES: [(&str, &str); 6] = [
    ("mlir-print-debuginfo", "print-debuginfo"),
    ("mlir-print-op-generic", "generic"),
    ("work-queue-type", "work-queue"),
    ("test-init-function", "init-function"),
    ("host-allocator-type", "host-allocator"),
    ("tfrt-print-stream", "print-stream"),
];

/// Options that TFRT's tools also take with `=true`.
const FLAGS: [&str; 2] = ["enable-tracing", "print-error-code"];

/// Its allocators.
const ALLOCATORS: [(&str, &str); 3] = [
    ("leak_check_allocator", "leak-check"),
    ("profiled_allocator", "profiled"),
    ("test_fixed_size_1k", "fixed-1k"),
];

/// TFRT's dialects have ops that nobody declares. All of its tools take them.
const ALLOW_UNREGISTERED: &str = "--allow-unregistered-dialect";

/// Looks for what is alive at the end.
const LEAK_CHECK: &str = "--leak-check";

/// What `bef_executor` does unless told otherwise: the option, and all of it.
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

/// One argument in our spelling.
fn respelled(argument: OsString) -> OsString {
    let Some(text) = argument.to_str() else { return argument };
    let option = text.trim_start_matches('-');
    // Files, `-`, `--`, and options of one letter, which are spelled alike.
    if option.len() == text.len() || option.is_empty() || !text.starts_with("--") && is_short(option) {
        return argument;
    }
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let name = name.replace('_', "-");
    let name = renamed(&NAMES, &name);
    match value {
        Some("true") if FLAGS.contains(&name) => format!("--{name}").into(),
        Some(value) if name == "host-allocator" => format!("--{name}={}", renamed(&ALLOCATORS, value)).into(),
        Some(value) => format!("--{name}={value}").into(),
        None => format!("--{name}").into(),
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
    arguments =
        arguments.into_iter().enumerate().map(|(i, it)| if i == 0 { it } else { respelled(it) }).collect();
    let given = arguments.split_off(1);
    let has = |option: &str| given.iter().any(|it| it.to_str().is_some_and(|it| it.starts_with(option)));
    let is_of_all = |option: &str| option == ALLOW_UNREGISTERED;
    if program == "tfrt_translate" {
        arguments.push("--tfrt-limits".into());
    }
    // What is left over is looked for by the allocator that is for it.
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
            "bef_executor_lite --test_init_function=f -functions=a_b",
            "bef_executor_lite --tfrt-output --allow-unregistered-dialect --work-queue=s --host-allocator=leak-check \
             --leak-check --verify-diagnostics --init-function=f --functions=a_b -",
        );
    }
}
