//! The rules on language: width and wording of comments, and one meaning per type name.
//!
//! Each rule is a ratchet: a table has the permitted faults, which may only become fewer. A count is an upper
//! bound, not an exact number, so branches that remove faults merge without a conflict in the table.

use super::rules::before_tests;
use befrost_testing::lex::{code_only, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of columns of a line with a comment and nothing else.
const MAX_COLUMNS: usize = 110;

/// Permitted faults of the comments below a folder: the folder, wide lines, headings that begin with "What".
pub(crate) type Comments = (&'static str, usize, usize);

/// Permitted duplicates of type names: the folder of a crate, and the names.
pub(crate) type Duplicates = (&'static str, &'static [&'static str]);

/// The text of a line with a comment and nothing else, without its slashes.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']))
}

/// The lines of `text` with a comment that is too wide.
fn wide(text: &str) -> Vec<usize> {
    let is_wide = |line: &str| comment(line).is_some() && line.chars().count() > MAX_COLUMNS;
    text.lines().enumerate().filter(|(_, line)| is_wide(line)).map(|(i, _)| i + 1).collect()
}

/// The lines of `text` where a doc comment begins with "What".
fn headless(text: &str) -> Vec<usize> {
    let is_doc = |line: &str| ["///", "//!"].iter().any(|doc| line.trim_start().starts_with(doc));
    let mut found = Vec::new();
    let mut before = "";
    for (i, line) in text.lines().enumerate() {
        let begins = is_doc(line) && !is_doc(before);
        if begins && comment(line).is_some_and(|text| text.trim_start().starts_with("What ")) {
            found.push(i + 1);
        }
        before = line;
    }
    found
}

/// A fault for each folder of the table, and each file outside of these folders, that has more wide lines or
/// headings than permitted.
pub(crate) fn comments(files: &[(&str, &str)], table: &[Comments]) -> Vec<String> {
    let mut counts: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
    for (path, text) in files {
        // A file counts for the longest folder of the table that contains it.
        let folders = table.iter().map(|(folder, ..)| *folder);
        let folder = folders.filter(|f| path.strip_prefix(f).is_some_and(|rest| rest.starts_with('/')));
        let folder = folder.max_by_key(|f| f.len()).unwrap_or(path);
        let counts = counts.entry(folder).or_default();
        counts[0].extend(wide(text).into_iter().map(|line| format!("{path}:{line}")));
        counts[1].extend(headless(text).into_iter().map(|line| format!("{path}:{line}")));
    }
    let mut found = Vec::new();
    for (folder, [wide, headless]) in counts {
        let (_, most_wide, most_headless) =
            table.iter().find(|(f, ..)| *f == folder).copied().unwrap_or((folder, 0, 0));
        println!("{folder}: {} wide comments, {} that begin with \"What\"", wide.len(), headless.len());
        let mut complain = |places: &[String], most: usize, what: &str| {
            if places.len() > most {
                let n = places.len();
                found.push(format!("{folder}: {n} {what}, at most {most}: {}", places.join(", ")));
            }
        };
        complain(&wide, most_wide, &format!("lines of comments are wider than {MAX_COLUMNS} columns"));
        complain(&headless, most_headless, "doc comments begin with \"What\"");
    }
    found
}

/// The names of the types that `text` defines outside of its test module, without associated types.
fn types(text: &str) -> BTreeSet<String> {
    let code = before_tests(&code_only(text));
    let tokens = tokens(&code);
    let lines: Vec<&str> = code.lines().collect();
    let mut found = BTreeSet::new();
    for pair in tokens.windows(2) {
        let [(line, word), (_, name)] = pair else { continue };
        let is_item = match *word {
            "struct" | "enum" | "trait" | "union" => true,
            "type" => !lines[line - 1].starts_with(' '),
            _ => false,
        };
        if is_item && name.starts_with(|c: char| c.is_ascii_uppercase()) {
            found.insert((*name).to_owned());
        }
    }
    found
}

/// A fault for each name that several files of a crate define as a type, unless the table has it. Generated
/// files, programs in `bin` and files of tests do not count.
pub(crate) fn unique_types(files: &[(&str, &str)], table: &[Duplicates]) -> Vec<String> {
    let mut names: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for (path, text) in files {
        let Some((folder, file)) = path.split_once("/src/") else { continue };
        let is_test = file.contains("tests/") || file.ends_with("tests.rs") || file.starts_with("bin/");
        if is_test || text.lines().take(5).any(|line| line.contains("@generated")) {
            continue;
        }
        for name in types(text) {
            names.entry((folder, name)).or_default().push(path);
        }
    }
    let is_permitted =
        |folder: &str, name: &str| table.iter().any(|(f, names)| *f == folder && names.contains(&name));
    names.retain(|(folder, name), paths| paths.len() > 1 && !is_permitted(folder, name));
    let describe = |((folder, name), paths): ((&str, String), Vec<&str>)| {
        format!("{folder}: several types are called {name}: {}", paths.join(", "))
    };
    names.into_iter().map(describe).collect()
}

#[test]
fn comments_have_a_width_and_a_subject() {
    let long = |n: usize| format!("{}// {}\n", " ".repeat(4), "x".repeat(n - 7));
    let narrow = long(110);
    let both = format!("{}/// What it does.\nfn f() {{}}\n", long(111));
    let n = |text: &str, table: &[Comments]| comments(&[("a/src/b.rs", text)], table).len();
    assert_eq!(n(&narrow, &[]), 0);
    assert_eq!(n(&both, &[]), 2);
    assert_eq!(n(&both, &[("a", 1, 1)]), 0);
    assert_eq!(n(&both, &[("a", 2, 0)]), 1);
    assert_eq!(n(&both, &[("a", 9, 9), ("a/src", 0, 1)]), 1);
    assert_eq!(n(&both, &[("a/s", 9, 9)]), 2);
    for text in
        ["/// It does.\n/// What follows.\n", "// What\n", "/// Whatever.\n", "let x = \"/// What \";\n"]
    {
        assert_eq!(n(text, &[]), 0, "{text}");
    }
    assert_eq!(n(&format!("let x = {}; // why\n", "1".repeat(110)), &[]), 0);
}

#[test]
fn type_names_have_one_meaning() {
    let n = |a: &str, b: &str, table: &[Duplicates]| {
        unique_types(&[("c/src/a.rs", a), ("c/src/b.rs", b)], table).len()
    };
    assert_eq!(n("struct A;", "pub enum A {}", &[]), 1);
    assert_eq!(n("type A = u8;", "trait A {}", &[]), 1);
    assert_eq!(n("struct A;", "struct A;", &[("c", &["A"])]), 0);
    assert_eq!(n("struct A;", "struct A;", &[("d", &["A"])]), 1);
    assert_eq!(n("struct A;", "struct B;", &[]), 0);
    assert_eq!(n("struct A;", "impl T for U {\n    type A = u8;\n}", &[]), 0);
    assert_eq!(n("struct A;", "// struct A;\n#[cfg(test)]\nmod tests {\nstruct A;\n}", &[]), 0);
    let twice = [("c/src/a.rs", "struct A;"), ("d/src/b.rs", "struct A;"), ("c/src/tests.rs", "struct A;")];
    assert!(unique_types(&twice, &[]).is_empty());
}
