//! `mutate-validate`: mutation testing of the checks in `validate`.
//!
//! ```text
//! bef-format/src/validate/*.rs ──copy, each check wrapped──▶ unless(17, Err(...)) ──one build──▶ test binary
//! test binary, BEF_MUTANT=17 ──▶ must fail
//! ```
//!
//! A check is an expression that makes an error (`Err(...)`, `.ok_or_else(...)`, `.map_err(...)`) or a call
//! of one of the small helpers that make them (`cx.index(...)`). In a copy of the tree each is wrapped by
//! `unless`, which disables the check whose number is in `BEF_MUTANT`: it turns the error into `Ok`, so a
//! file that breaks only this rule is accepted. The shipped library does not contain `unless`. An
//! expression that makes an error and is not wrapped is an error of the chore, so no check is left out.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use befrost_testing::lex::code_only;

/// Functions and closures that are checks: their calls are wrapped, their bodies are not.
const HELPERS: [&str; 7] =
    ["cx.index(", "cx.equal(", "cx.strings(", " zero(", " inline_limit(", " string(", " check_alignment("];

/// The contents of the copy's `src/mutation.rs`.
const MUTATION: &str = "\
//! Lets pass what the check with the number in BEF_MUTANT refuses.
use crate::image::{N_SECTIONS, Tables};
use crate::layout::{FunctionRec, Header};
use std::sync::OnceLock;

static OFF: OnceLock<Option<u32>> = OnceLock::new();
static BLANK: FunctionRec = FunctionRec {
    name: 0, kind: 0, reserved: [0; 3], attrs: 0, n_args: 0, n_results: 0, first_type: 0, first_kernel: 0, n_kernels: 0,
    first_register: 0, n_registers: 0, first_result: 0,
};

pub(crate) fn unless<T: Default, E>(n: u32, result: Result<T, E>) -> Result<T, E> {
    let off = || std::env::var(\"BEF_MUTANT\").ok().and_then(|n| n.parse().ok());
    if result.is_err() && *OFF.get_or_init(off) == Some(n) { Ok(T::default()) } else { result }
}

impl Default for Header {
    fn default() -> Header { bytemuck::Zeroable::zeroed() }
}
impl Default for Tables {
    fn default() -> Tables { Tables { header: Header::default(), payload_checksum: 0, sections: [None; N_SECTIONS] } }
}
impl Default for &FunctionRec {
    fn default() -> Self { &BLANK }
}
";

/// A check and its location.
struct Check {
    /// The file's name in `validate`, without its folder.
    file: String,
    line: usize,
    text: String,
}

/// Runs the tests with each check disabled in turn, and prints a table.
pub(super) fn run(root: &Path, target: &Path) -> Result<(), String> {
    let copy = target.join("mutation");
    let checks = copy_tree(root, &copy.join("tree"))?;
    let binary = build(&copy, target)?;
    if let Some(failures) = failures(&binary, None)? {
        return Err(format!("the tests fail with all checks there: {}", failures.join(", ")));
    }
    let mut unnoticed = 0;
    println!("{:>4}  {:<22}{:<70}noticed by", "", "where", "check");
    for (n, Check { file, line, text }) in checks.iter().enumerate() {
        let noticed = match failures(&binary, Some(n))? {
            None => {
                unnoticed += 1;
                "NOBODY".to_owned()
            }
            Some(names) => match names.as_slice() {
                [] => "a panic".to_owned(),
                [one] => one.clone(),
                [one, rest @ ..] => format!("{one} and {} more", rest.len()),
            },
        };
        let text: String = text.chars().take(68).collect();
        println!("{n:>4}  {:<22}{text:<70}{noticed}", format!("{file}:{line}"));
    }
    println!("{} checks, {unnoticed} unnoticed", checks.len());
    if unnoticed == 0 {
        Ok(())
    } else {
        Err(format!("{unnoticed} checks can be disabled without a test failing"))
    }
}

fn failed(what: &Path) -> impl Fn(std::io::Error) -> String + use<'_> {
    move |error| format!("{}: {error}", what.display())
}

/// Copies the crate and its test files to `tree`, with all checks wrapped.
fn copy_tree(root: &Path, tree: &Path) -> Result<Vec<Check>, String> {
    if tree.exists() {
        std::fs::remove_dir_all(tree).map_err(failed(tree))?;
    }
    copy_folder(&root.join("bef-format"), &tree.join("bef-format"))?;
    copy_folder(&root.join("testdata/bef"), &tree.join("testdata/bef"))?;
    let read = |path: &Path| std::fs::read_to_string(path).map_err(failed(path));
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(failed(path));
    let manifest = read(&root.join("Cargo.toml"))?;
    let (start, rest) = manifest.split_once("members = [").ok_or("Cargo.toml has no members")?;
    let (_, rest) = rest.split_once(']').ok_or("Cargo.toml has no end of members")?;
    write(&tree.join("Cargo.toml"), &format!("{start}members = [\"bef-format\"]{rest}"))?;
    let lock = root.join("Cargo.lock");
    std::fs::copy(&lock, tree.join("Cargo.lock")).map_err(failed(&lock))?;

    let source = tree.join("bef-format/src");
    let lib = source.join("lib.rs");
    write(&lib, &read(&lib)?.replacen("pub mod aligned;", "mod mutation;\npub mod aligned;", 1))?;
    write(&source.join("mutation.rs"), MUTATION)?;
    let folder = source.join("validate");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(failed(&folder))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed(&folder))?;
    files.sort();
    let mut checks = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = wrap(&name, &read(&path)?, &mut checks)?;
        write(&path, &text)?;
    }
    Ok(checks)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(failed(to))?;
    for entry in std::fs::read_dir(from).map_err(failed(from))? {
        let path = entry.map_err(failed(from))?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(failed(&path))?;
        }
    }
    Ok(())
}

/// The text with every check in it wrapped.
fn wrap(file: &str, text: &str, checks: &mut Vec<Check>) -> Result<String, String> {
    let code = code_only(text);
    let bodies: Vec<Range<usize>> = HELPERS.iter().flat_map(|name| definitions(&code, name)).collect();
    let is_free = |at: usize| !bodies.iter().any(|body| body.contains(&at));
    // The texts to insert. The sort below is stable: at equal positions the end of a check, pushed first,
    // precedes the beginning of the next.
    let mut inserts: Vec<(usize, String)> = Vec::new();
    let mut covered: Vec<Range<usize>> = Vec::new();
    let mut found = Vec::new();
    for name in HELPERS {
        let starts = code.match_indices(name).map(|(at, _)| at).filter(|&at| is_free(at));
        found.extend(starts.map(|at| (at + name.len() - 1, at + usize::from(name.starts_with(' ')), false)));
    }
    found
        .extend(code.match_indices("Err(").filter(|&(at, _)| is_free(at)).map(|(at, _)| (at + 3, at, false)));
    for name in [".ok_or_else(", ".map_err("] {
        let starts = code.match_indices(name).filter(|&(at, _)| is_free(at));
        found.extend(starts.map(|(at, _)| (at + name.len() - 1, at, true)));
    }
    found.sort_unstable();
    for (open, start, is_after) in found {
        if covered.iter().any(|range| range.contains(&start)) || code[..start].ends_with("let ") {
            continue;
        }
        let end = closing(&code, open).ok_or_else(|| format!("{file}: unbalanced brackets"))?;
        let n = checks.len();
        let line = code[..start].matches('\n').count() + 1;
        let shown = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
        checks.push(Check { file: file.to_owned(), line, text: shown });
        if is_after {
            inserts.push((end, format!(".or_else(|error| crate::mutation::unless({n}, Err(error)))")));
        } else {
            inserts.push((start, format!("crate::mutation::unless({n}, ")));
            inserts.push((end, ")".to_owned()));
        }
        covered.push(start..end);
    }
    for word in ["refuse(", "refuse_header(", "FormatError::new("] {
        for (at, _) in code.match_indices(word) {
            let is_definition = code[..at].ends_with("fn ") || is_inside_maker(&code, at);
            let statement = code[..at].rsplit([';', '{', '}']).next().unwrap_or_default();
            let is_maker = statement.contains("let ") && statement.contains('|');
            if !is_definition && !is_maker && is_free(at) && !covered.iter().any(|range| range.contains(&at))
            {
                let line = code[..at].matches('\n').count() + 1;
                return Err(format!(
                    "{file}:{line}: an error is made here that is not recognized as a check"
                ));
            }
        }
    }
    inserts.sort_by_key(|&(at, _)| at);
    let mut out = String::new();
    let mut last = 0;
    for (at, insert) in inserts {
        write!(out, "{}{insert}", &text[last..at]).map_err(|error| error.to_string())?;
        last = at;
    }
    out.push_str(&text[last..]);
    Ok(out)
}

/// True if a position is in the body of one of the functions that make errors.
fn is_inside_maker(code: &str, at: usize) -> bool {
    let makers = ["fn refuse(", "fn refuse_header(", "fn wrong_users(", "fn bad_index(", "fn unequal("];
    makers.iter().flat_map(|name| code.match_indices(name)).any(|(start, _)| {
        let body = code[start..].find('{').map(|i| start + i);
        body.and_then(|open| closing(code, open)).is_some_and(|end| (start..end).contains(&at))
    })
}

/// The ranges of the definitions of the functions and closures called `name`.
fn definitions(code: &str, name: &str) -> Vec<Range<usize>> {
    let name = name.trim_start_matches("cx.").trim_start().trim_end_matches('(');
    let mut found = Vec::new();
    for start in [format!("fn {name}("), format!("fn {name}<")] {
        for (at, _) in code.match_indices(&start) {
            let body = code[at..].find('{').map(|i| at + i);
            found.extend(body.and_then(|open| closing(code, open)).map(|end| at..end));
        }
    }
    for (at, _) in code.match_indices(&format!("let {name} = |")) {
        let body = code[at..].find('{').map(|i| at + i);
        found.extend(body.and_then(|open| closing(code, open)).map(|end| at..end));
    }
    found
}

/// The position after the bracket that closes the one at `open`.
fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Builds the tests of the copy, reusing built dependencies; returns the path of their binary.
fn build(copy: &Path, target: &Path) -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .args(["test", "-p", "bef-format", "--test", "it", "--no-run", "--message-format=short"])
        .current_dir(copy.join("tree"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = report.lines().filter_map(|line| line.split_once("Executable tests/it/main.rs (")).next_back();
    match path {
        Some((_, path)) if output.status.success() => Ok(PathBuf::from(path.trim_end_matches(')'))),
        _ => Err(format!("the copy does not build:\n{report}")),
    }
}

/// The names of the files whose results change without check `n`; `None` if all tests pass.
fn failures(binary: &Path, n: Option<usize>) -> Result<Option<Vec<String>>, String> {
    let mut command = Command::new("timeout");
    command.arg("120").arg(binary).args(["broken_files_are_refused", "rules::"]);
    match n {
        Some(n) => command.env("BEF_MUTANT", n.to_string()),
        None => command.env_remove("BEF_MUTANT"),
    };
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot run timeout: {error}"))?;
    if output.status.success() {
        return Ok(None);
    }
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    // The lines of the failed test are `name: result`; failed tests of `rules` are identified by their names.
    let files = report
        .lines()
        .skip_while(|line| !line.contains("broken_files_are_refused_with_their_error stdout"))
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .filter(|(name, _)| {
            *name != "note"
                && !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte))
        })
        .map(|(name, _)| name.to_owned());
    let rules = report
        .lines()
        .filter_map(|line| line.strip_prefix("test rules::")?.strip_suffix(" ... FAILED"))
        .map(|name| format!("rules::{name}"));
    Ok(Some(files.chain(rules).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_strings_are_no_code() {
        let text = "fn f(url: &str) { g(\"https://(\").ok_or_else(|| Error)?; // Err(\n h(\"Err(\") }";
        let mut checks = Vec::new();
        let wrapped = wrap("f.rs", text, &mut checks).unwrap();
        let end = ".or_else(|error| crate::mutation::unless(0, Err(error)))?;";
        assert_eq!(wrapped, text.replace("?;", end));
        assert_eq!((checks.len(), checks[0].line), (1, 1));
    }
}
