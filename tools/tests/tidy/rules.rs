//! The rules on single files. Each returns its faults, `path:line: text`.

use super::tables::Exception;
use befrost_testing::lex::{code_only, tokens};

/// Maximum number of lines of a file.
const MAX_LINES: usize = 800;

fn excepted(path: &str, table: &[Exception]) -> bool {
    table.iter().any(|(excepted, _)| *excepted == path)
}

/// The first line of a module belongs to its essay.
pub(crate) fn essay_first(path: &str, text: &str) -> Vec<String> {
    let first = text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty()) {
        return Vec::new();
    }
    vec![format!("{path}:1: a module begins with `//!` and what it is for")]
}

/// The word `unsafe` occurs only in the files of the table.
pub(crate) fn unsafe_in_table(path: &str, text: &str, table: &[Exception]) -> Vec<String> {
    if excepted(path, table) {
        return Vec::new();
    }
    let code = code_only(text);
    let found = tokens(&code).into_iter().filter(|(_, word)| *word == "unsafe");
    found
        .map(|(line, _)| format!("{path}:{line}: unsafe code in a file that is not in the table UNSAFE"))
        .collect()
}

/// The root of a crate forbids unsafe code, unless one of the crate's files is in the table.
pub(crate) fn unsafe_forbidden(path: &str, text: &str, table: &[Exception]) -> Vec<String> {
    let Some((package, file)) = path.split_once("/src/") else { return Vec::new() };
    let program = file.strip_prefix("bin/").is_some_and(|name| !name.contains('/'));
    let is_root = program || file == "lib.rs" || file == "main.rs";
    // A program is a crate of its own; any other root covers all files except the programs.
    let library = |path: &str| path.starts_with(&format!("{package}/src/")) && !path.contains("/src/bin/");
    // A file belongs to a program if the program names it by `#[path]`.
    let part = |part: &str| {
        let name = part.strip_prefix(&format!("{package}/src/bin/"));
        name.is_some_and(|name| text.contains(&format!("#[path = \"{name}\"]")))
    };
    let of_program = || excepted(path, table) || table.iter().any(|(path, _)| part(path));
    let may = if program { of_program() } else { table.iter().any(|(path, _)| library(path)) };
    let code: String = code_only(text).split_whitespace().collect();
    if !is_root || may || code.contains("#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    vec![format!("{path}:1: `#![forbid(unsafe_code)]` is missing")]
}

/// No lock of the standard library or similar in `folders`, except for the files of the table and tests.
pub(crate) fn no_locks(path: &str, text: &str, folders: &[&str], table: &[Exception]) -> Vec<String> {
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    if !folders.iter().any(|f| path.starts_with(f)) || excepted(path, table) || is_test {
        return Vec::new();
    }
    let locks = ["Mutex", "RwLock", "Condvar", "ReentrantLock", "FairMutex", "SpinLock"];
    let code = before_tests(&code_only(text));
    let found = tokens(&code).into_iter().filter(|(_, word)| locks.contains(word));
    found
        .map(|(line, word)| format!("{path}:{line}: a {word} in a file that is not in the table LOCKS"))
        .collect()
}

/// The code before its test module, which is the last item (enforced by clippy).
pub(crate) fn before_tests(code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let is_tests = |i: usize| {
        let next = lines.get(i + 1).map_or("", |next| next.trim_start());
        lines[i].starts_with("#[cfg(") && lines[i].contains("test") && next.starts_with("mod ")
    };
    let end = (0..lines.len()).find(|&i| is_tests(i)).unwrap_or(lines.len());
    lines[..end].join("\n")
}

/// A file has at most [`MAX_LINES`] lines.
pub(crate) fn short(path: &str, text: &str, table: &[Exception]) -> Vec<String> {
    let n_lines = text.lines().count();
    if n_lines <= MAX_LINES || excepted(path, table) {
        return Vec::new();
    }
    vec![format!("{path}:{MAX_LINES}: {n_lines} lines; split it, or give the reason in the table LONG")]
}

/// No `todo!`, `unimplemented!`, `dbg!`, and no disabled test.
pub(crate) fn nothing_undone(path: &str, text: &str) -> Vec<String> {
    let code = code_only(text);
    let tokens = tokens(&code);
    let mut found = Vec::new();
    for (i, (line, word)) in tokens.iter().enumerate() {
        let next = |n: usize| tokens.get(i + n).map(|(_, word)| *word);
        if matches!(*word, "todo" | "unimplemented" | "dbg") && next(1) == Some("!") {
            found.push(format!("{path}:{line}: {word}! is left"));
        }
        let ignored =
            next(2) == Some("ignore") || (next(2) == Some("cfg_attr") && attribute_ignores(&tokens[i..]));
        if *word == "#" && next(1) == Some("[") && ignored {
            found.push(format!("{path}:{line}: a test is switched off"));
        }
    }
    found
}

/// True if the attribute at the beginning of `tokens` contains the word `ignore`.
fn attribute_ignores(tokens: &[(usize, &str)]) -> bool {
    tokens.iter().take_while(|(_, word)| *word != "]").any(|(_, word)| *word == "ignore")
}

/// No path that exists on one machine only.
pub(crate) fn no_machine_paths(path: &str, text: &str) -> Vec<String> {
    let folders = ["work", "home", "root", "farm", "Users"];
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for folder in folders {
            let machine_path = format!("/{folder}/");
            let begins = |at: usize| {
                let before = line[..at].chars().next_back();
                let after = line[at + machine_path.len()..].chars().next();
                before.is_none_or(|c| !(c.is_alphanumeric() || "._-/%}*]".contains(c)))
                    && after.is_some_and(|c| c.is_alphanumeric() || c == '.' || c == '_')
            };
            if line.match_indices(&machine_path).any(|(at, _)| begins(at)) {
                found.push(format!("{path}:{}: a path below /{folder}", i + 1));
            }
        }
    }
    found
}

/// Continuous integration runs each `cargo test` line of the README verbatim.
pub(crate) fn ci_runs(readme: &str, ci: &str) -> Vec<String> {
    let commands: Vec<&str> = readme.lines().filter(|l| l.starts_with("cargo test")).collect();
    if commands.is_empty() {
        return vec!["README.md:1: no line begins with `cargo test`".to_owned()];
    }
    let missing = commands
        .into_iter()
        .filter(|c| !ci.lines().any(|l| l.trim() == *c || l.trim() == format!("step {c}")));
    missing.map(|c| format!(".ci/run:1: does not run `{c}` as the README says")).collect()
}

/// The entries of the top level are those of the architecture.
pub(crate) fn top_level(names: &[String]) -> Vec<String> {
    let required = [
        "Cargo.toml",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "bef-format",
        "compiler",
        "runtime",
        "testdata",
        "tools",
    ];
    let allowed = ["rustfmt.toml", "clippy.toml", "rust-toolchain.toml"];
    let has = |name: &str| names.iter().any(|n| n == name);
    let missing = required.iter().filter(|r| !has(r)).map(|r| format!("{r}: missing at the top level"));
    let known = |n: &str| required.contains(&n) || allowed.contains(&n) || n.starts_with('.');
    let surplus = names.iter().filter(|n| !known(n)).map(|n| format!("{n}: not a top-level entry"));
    missing.chain(surplus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(found: Vec<String>) -> usize {
        found.len()
    }

    #[test]
    fn essays() {
        assert_eq!(n(essay_first("a.rs", "//! What it is.\nfn f() {}\n")), 0);
        assert_eq!(n(essay_first("a.rs", "fn f() {}\n")), 1);
        assert_eq!(n(essay_first("a.rs", "//!\nfn f() {}\n")), 1);
        assert_eq!(n(essay_first("a.rs", "\n//! Late.\n")), 1);
        assert_eq!(n(essay_first("a.rs", "// Not a doc comment.\n")), 1);
        assert_eq!(n(essay_first("a.rs", "")), 1);
    }

    #[test]
    fn unsafe_code() {
        let table = [("a/src/b.rs", "because it may")];
        assert_eq!(n(unsafe_in_table("a/src/b.rs", "unsafe {}", &table)), 0);
        assert_eq!(unsafe_in_table("a/src/c.rs", "x\nunsafe { f() }", &table).len(), 1);
        assert!(unsafe_in_table("a/src/c.rs", "x\nunsafe { f() }", &table)[0].starts_with("a/src/c.rs:2:"));
        assert_eq!(
            n(unsafe_in_table("a/src/c.rs", "unsafe impl Send for X {}\nunsafe fn f() {}", &table)),
            2
        );
        assert_eq!(
            n(unsafe_in_table("a/src/c.rs", "// unsafe\n#![forbid(unsafe_code)] \"unsafe\"", &table)),
            0
        );
    }

    #[test]
    fn unsafe_forbidden_at_the_root() {
        let table = [("a/src/b.rs", "because it may"), ("d/src/bin/e.rs", "because it may")];
        assert_eq!(n(unsafe_forbidden("d/src/bin/e.rs", "//! X\n", &table)), 0);
        assert_eq!(n(unsafe_forbidden("d/src/lib.rs", "//! X\n", &table)), 1);
        assert_eq!(n(unsafe_forbidden("a/src/bin/x.rs", "//! X\n", &table)), 1);
        assert_eq!(n(unsafe_forbidden("c/src/lib.rs", "//! X\n#![forbid(unsafe_code)]\n", &table)), 0);
        assert_eq!(n(unsafe_forbidden("c/src/lib.rs", "//! X\n", &table)), 1);
        assert_eq!(n(unsafe_forbidden("c/src/lib.rs", "// #![forbid(unsafe_code)]\n", &table)), 1);
        assert_eq!(n(unsafe_forbidden("c/src/bin/d.rs", "//! X\n", &table)), 1);
        assert_eq!(n(unsafe_forbidden("c/src/d.rs", "//! X\n", &table)), 0);
        assert_eq!(n(unsafe_forbidden("a/src/lib.rs", "//! X\n", &table)), 0);
    }

    #[test]
    fn locks() {
        let table = [("host/src/load.rs", "runs once")];
        let folders = ["host/src/"];
        assert_eq!(n(no_locks("host/src/exec.rs", "use std::sync::Mutex;", &folders, &table)), 1);
        assert_eq!(
            n(no_locks("host/src/exec.rs", "std::sync::RwLock::new(0); Condvar::new()", &folders, &table)),
            2
        );
        assert_eq!(n(no_locks("host/src/exec.rs", "// no Mutex\nMutexes", &folders, &table)), 0);
        assert_eq!(n(no_locks("host/src/load.rs", "Mutex", &folders, &table)), 0);
        assert_eq!(n(no_locks("other/src/load.rs", "Mutex", &folders, &table)), 0);
        assert_eq!(n(no_locks("host/src/exec/tests.rs", "Mutex", &folders, &table)), 0);
        assert_eq!(n(no_locks("host/src/exec.rs", "#[cfg(test)]\nmod tests { Mutex }", &folders, &table)), 0);
        assert_eq!(n(no_locks("host/src/exec.rs", "Mutex\n#[cfg(test)]\nmod tests {}", &folders, &table)), 1);
        assert_eq!(
            n(no_locks("host/src/exec.rs", "#[cfg(test)]\nuse std::sync::Mutex;", &folders, &table)),
            1
        );
    }

    #[test]
    fn lengths() {
        assert_eq!(n(short("a.rs", &"x\n".repeat(800), &[])), 0);
        assert_eq!(n(short("a.rs", &"x\n".repeat(801), &[])), 1);
        assert_eq!(n(short("a.rs", &"x\n".repeat(801), &[("a.rs", "one table")])), 0);
    }

    #[test]
    fn undone() {
        for text in ["todo!()", "todo ! ()", "unimplemented!(\"x\")", "dbg!(x)", "std::todo!()"] {
            assert_eq!(n(nothing_undone("a.rs", text)), 1, "{text}");
        }
        for text in ["#[ignore]", "#[ignore = \"slow\"]", "# [ ignore ]", "#[cfg_attr(not(loom), ignore)]"] {
            assert_eq!(n(nothing_undone("a.rs", text)), 1, "{text}");
        }
        for text in
            ["// todo!()", "\"dbg!\"", "fn todo() { ignore() }", "#[cfg(test)] ignore", "let dbg = !x;"]
        {
            assert_eq!(n(nothing_undone("a.rs", text)), 0, "{text}");
        }
    }

    #[test]
    fn machine_paths() {
        for folder in ["work", "home", "root"] {
            for around in ["x = \"@\"", "@", "(@)", "see `@`", "a=@"] {
                let text = around.replace('@', &format!("/{folder}/abc"));
                assert_eq!(n(no_machine_paths("a.md", &text)), 1, "{text}");
            }
        }
        for text in
            ["a/work/b", "https://x.org/home/y", "/workshop/b", "/usr/lib/x", "../work/b", "either/home/or"]
        {
            assert_eq!(n(no_machine_paths("a.md", text)), 0, "{text}");
        }
    }

    #[test]
    fn ci() {
        let readme = "Tests:\n```sh\ncargo test --workspace\n```\n";
        assert_eq!(n(ci_runs(readme, "a\nstep cargo test --workspace\n")), 0);
        assert_eq!(n(ci_runs(readme, "a\ncargo test --workspace\n")), 0);
        assert_eq!(n(ci_runs(readme, "cargo test --workspace --lib\n")), 1);
        assert_eq!(n(ci_runs(readme, "# cargo test --workspace\n")), 1);
        assert_eq!(n(ci_runs("no tests\n", "cargo test\n")), 1);
    }

    #[test]
    fn top_levels() {
        let names = |more: &[&str]| -> Vec<String> {
            let all =
                "Cargo.toml Cargo.lock LICENSE README.md bef-format compiler runtime testdata tools .ci";
            all.split(' ').chain(more.iter().copied()).map(str::to_owned).collect()
        };
        assert_eq!(n(top_level(&names(&[]))), 0);
        assert_eq!(n(top_level(&names(&["rustfmt.toml", ".gitignore"]))), 0);
        assert_eq!(n(top_level(&names(&["notes.txt"]))), 1);
        assert_eq!(n(top_level(&names(&[])[1..])), 1);
    }
}
