//! `mutate-validate`: mutation testing of the checks of untrusted files: those in `validate`, and those of
//! the parts of a divided program (`verify-parts`).
//!
//! ```text
//! validate/*.rs ──copy, each check wrapped──▶ unless(17, || Err(...)) ──one build──▶ test binary
//! test binary, BEF_MUTANT=17 ──▶ must fail
//! ```
//!
//! A check is an expression that makes an error (`Err(...)`, `.ok_or_else(...)`, `.map_err(...)`) or a call
//! of one of the small helpers that make or report them (`cx.index(...)`). In a copy of the tree each is
//! wrapped by `unless`, which disables the check whose number is in `BEF_MUTANT`: it turns the error into
//! `Ok` and does not report it, so what breaks only this rule is accepted. The shipped libraries do not
//! contain `unless`. An expression that makes an error and is not wrapped is an error of the chore, so no
//! check is left out.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use befrost_testing::lex::code_only;

/// Checks that are disabled in turn, and the tests that notice it.
struct Subject {
    /// The folders of the crates in the copy; the first has the checks.
    crates: &'static [&'static str],
    /// Further files that the tests read.
    data: &'static [&'static str],
    /// The file with the checks, or the folder of such files.
    checks: &'static str,
    /// Functions and closures that are checks: their calls are wrapped, their bodies are not.
    helpers: &'static [&'static str],
    /// Functions that make errors, in checks only.
    makers: &'static [&'static str],
    /// Functions that make errors for checks.
    made_in: &'static [&'static str],
    /// The contents of the copy's `src/mutation.rs`.
    mutation: &'static str,
    /// The package and the kind of its tests.
    tests: &'static [&'static str],
    /// The name that cargo gives the binary of the tests.
    binary: &'static str,
    /// Which tests run.
    filter: &'static [&'static str],
}

const VALIDATE: Subject = Subject {
    crates: &["bef-format"],
    data: &["testdata/bef"],
    checks: "bef-format/src/validate",
    helpers: &[
        "cx.index(",
        "cx.equal(",
        "cx.strings(",
        " zero(",
        " inline_limit(",
        " string(",
        " check_alignment(",
    ],
    makers: &["refuse(", "refuse_header(", "FormatError::new("],
    made_in: &["fn refuse(", "fn refuse_header(", "fn wrong_users(", "fn bad_index(", "fn unequal("],
    mutation: "\
//! Lets pass what the check with the number in BEF_MUTANT refuses.
use crate::image::{N_SECTIONS, Tables};
use crate::layout::{FunctionRec, Header};
use std::sync::OnceLock;

static OFF: OnceLock<Option<u32>> = OnceLock::new();
static BLANK: FunctionRec = FunctionRec {
    name: 0, kind: 0, reserved: [0; 3], attrs: 0, n_args: 0, n_results: 0, first_type: 0, first_kernel: 0, n_kernels: 0,
    first_register: 0, n_registers: 0, first_result: 0,
};

pub(crate) fn unless<T: Default, E>(n: u32, result: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let off = || std::env::var(\"BEF_MUTANT\").ok().and_then(|n| n.parse().ok());
    let result = result();
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
",
    tests: &["-p", "bef-format", "--test", "it"],
    binary: "Executable tests/it/main.rs (",
    filter: &["broken_files_are_refused", "rules::"],
};

const PARTS: Subject = Subject {
    crates: &["compiler", "bef-format", "runtime/mem", "runtime/tensor"],
    data: &["testdata/tf/verify-parts.mlir"],
    checks: "compiler/src/device/partition/verify.rs",
    helpers: &["cx.report(", " report("],
    makers: &["errors::unfit("],
    made_in: &[],
    mutation: "\
//! Does not report what the check with the number in BEF_MUTANT finds.
use std::sync::OnceLock;

static OFF: OnceLock<Option<u32>> = OnceLock::new();

pub(crate) trait Passed { fn passed() -> Self; }
impl Passed for () {
    fn passed() {}
}
impl<E> Passed for Result<(), E> {
    fn passed() -> Self { Ok(()) }
}

pub(crate) fn unless<T: Passed>(n: u32, check: impl FnOnce() -> T) -> T {
    let off = || std::env::var(\"BEF_MUTANT\").ok().and_then(|n| n.parse().ok());
    if *OFF.get_or_init(off) == Some(n) { T::passed() } else { check() }
}
",
    tests: &["-p", "befrost-compiler", "--lib"],
    binary: "Executable unittests src/lib.rs (",
    filter: &["device::partition::tests::"],
};

/// The test of `validate` on files.
const BROKEN_FILES: &str = "broken_files_are_refused_with_their_error";

/// A check and its location.
struct Check {
    /// The file's name, without its folder.
    file: String,
    line: usize,
    text: String,
}

/// Runs the tests with each check disabled in turn, and prints a table.
pub(super) fn run(root: &Path, target: &Path) -> Result<(), String> {
    let unnoticed: usize = [VALIDATE, PARTS]
        .iter()
        .map(|subject| unnoticed(subject, root, target))
        .sum::<Result<usize, String>>()?;
    match unnoticed {
        0 => Ok(()),
        _ => Err(format!("{unnoticed} checks can be disabled without a test failing")),
    }
}

/// The number of checks whose absence no test notices.
fn unnoticed(subject: &Subject, root: &Path, target: &Path) -> Result<usize, String> {
    let copy = target.join("mutation");
    let checks = copy_tree(subject, root, &copy.join("tree"))?;
    let binary = build(subject, &copy, target)?;
    if let Some(failures) = failures(subject, &binary, None)? {
        return Err(format!("the tests fail with all checks there: {}", failures.join(", ")));
    }
    let mut unnoticed = 0;
    println!("{:>4}  {:<22}{:<70}noticed by", "", "where", "check");
    for (n, Check { file, line, text }) in checks.iter().enumerate() {
        let noticed = match failures(subject, &binary, Some(n))? {
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
    Ok(unnoticed)
}

fn failed(what: &Path) -> impl Fn(std::io::Error) -> String + use<'_> {
    move |error| format!("{}: {error}", what.display())
}

/// Copies the crates and their test files to `tree`, with all checks wrapped.
fn copy_tree(subject: &Subject, root: &Path, tree: &Path) -> Result<Vec<Check>, String> {
    if tree.exists() {
        std::fs::remove_dir_all(tree).map_err(failed(tree))?;
    }
    for path in subject.crates.iter().chain(subject.data) {
        copy_all(&root.join(path), &tree.join(path))?;
    }
    let read = |path: &Path| std::fs::read_to_string(path).map_err(failed(path));
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(failed(path));
    let manifest = read(&root.join("Cargo.toml"))?;
    let (start, rest) = manifest.split_once("members = [").ok_or("Cargo.toml has no members")?;
    let (_, rest) = rest.split_once(']').ok_or("Cargo.toml has no end of members")?;
    let members: Vec<String> = subject.crates.iter().map(|path| format!("\"{path}\"")).collect();
    write(&tree.join("Cargo.toml"), &format!("{start}members = [{}]{rest}", members.join(", ")))?;
    let lock = root.join("Cargo.lock");
    std::fs::copy(&lock, tree.join("Cargo.lock")).map_err(failed(&lock))?;

    let source = tree.join(subject.crates[0]).join("src");
    let lib = source.join("lib.rs");
    write(&lib, &read(&lib)?.replacen("\npub mod ", "\nmod mutation;\npub mod ", 1))?;
    write(&source.join("mutation.rs"), subject.mutation)?;
    let checked = tree.join(subject.checks);
    let mut files = vec![checked.clone()];
    if checked.is_dir() {
        let entries = std::fs::read_dir(&checked).map_err(failed(&checked))?;
        files = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed(&checked))?;
    }
    files.sort();
    let mut checks = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = wrap(subject, &name, &read(&path)?, &mut checks)?;
        write(&path, &text)?;
    }
    Ok(checks)
}

/// Copies a file, or a folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    if from.is_dir() {
        std::fs::create_dir_all(to).map_err(failed(to))?;
        for entry in std::fs::read_dir(from).map_err(failed(from))? {
            let path = entry.map_err(failed(from))?.path();
            copy_all(&path, &to.join(path.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    std::fs::copy(from, to).map(|_| ()).map_err(failed(from))
}

/// The text with every check in it wrapped.
fn wrap(subject: &Subject, file: &str, text: &str, checks: &mut Vec<Check>) -> Result<String, String> {
    let code = code_only(text);
    let bodies: Vec<Range<usize>> =
        subject.helpers.iter().flat_map(|name| definitions(&code, name)).collect();
    let is_free = |at: usize| !bodies.iter().any(|body| body.contains(&at));
    // The texts to insert. The sort below is stable: at equal positions the end of a check, pushed first,
    // precedes the beginning of the next.
    let mut inserts: Vec<(usize, String)> = Vec::new();
    let mut covered: Vec<Range<usize>> = Vec::new();
    let mut found = Vec::new();
    for name in subject.helpers {
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
        // The pattern of an error that another function made.
        if code[end..].trim_start().starts_with("=>") {
            continue;
        }
        let n = checks.len();
        let line = code[..start].matches('\n').count() + 1;
        let shown = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
        checks.push(Check { file: file.to_owned(), line, text: shown });
        if is_after {
            inserts.push((end, format!(".or_else(|error| crate::mutation::unless({n}, || Err(error)))")));
        } else {
            inserts.push((start, format!("crate::mutation::unless({n}, || ")));
            inserts.push((end, ")".to_owned()));
        }
        covered.push(start..end);
    }
    for word in subject.makers {
        for (at, _) in code.match_indices(word) {
            let is_definition = code[..at].ends_with("fn ") || is_inside_maker(subject, &code, at);
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
fn is_inside_maker(subject: &Subject, code: &str, at: usize) -> bool {
    subject.made_in.iter().flat_map(|name| code.match_indices(name)).any(|(start, _)| {
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
    for start in [format!("let {name} = |"), format!("let mut {name} = |")] {
        for (at, _) in code.match_indices(&start) {
            let body = code[at..].find('{').map(|i| at + i);
            found.extend(body.and_then(|open| closing(code, open)).map(|end| at..end));
        }
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
fn build(subject: &Subject, copy: &Path, target: &Path) -> Result<PathBuf, String> {
    let output = Command::new("cargo")
        .arg("test")
        .args(subject.tests)
        .args(["--no-run", "--message-format=short"])
        .current_dir(copy.join("tree"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = report.lines().filter_map(|line| line.split_once(subject.binary)).next_back();
    match path {
        Some((_, path)) if output.status.success() => Ok(PathBuf::from(path.trim_end_matches(')'))),
        _ => Err(format!("the copy does not build:\n{report}")),
    }
}

/// The names of the files whose results change without check `n`; `None` if all tests pass.
fn failures(subject: &Subject, binary: &Path, n: Option<usize>) -> Result<Option<Vec<String>>, String> {
    let mut command = Command::new("timeout");
    command.arg("120").arg(binary).args(subject.filter);
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
    // The lines of the failed test of files are `name: result`; other tests are identified by their names.
    let files = report
        .lines()
        .skip_while(|line| !line.contains(&format!("{BROKEN_FILES} stdout")))
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
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
        .filter(|name| *name != BROKEN_FILES)
        .map(str::to_owned);
    Ok(Some(files.chain(rules).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_strings_are_no_code() {
        let text = "fn f(url: &str) { g(\"https://(\").ok_or_else(|| Error)?; // Err(\n h(\"Err(\") }";
        let mut checks = Vec::new();
        let wrapped = wrap(&VALIDATE, "f.rs", text, &mut checks).unwrap();
        let end = ".or_else(|error| crate::mutation::unless(0, || Err(error)))?;";
        assert_eq!(wrapped, text.replace("?;", end));
        assert_eq!((checks.len(), checks[0].line), (1, 1));
    }
}
