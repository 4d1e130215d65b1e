//! The conventions of the repository as a test. Each rule is a function over paths and texts (`rules.rs`,
//! `crates.rs`, `language.rs`, `links.rs`, `circles.rs`), with unit tests that show it failing. `tables.rs`
//! lists the exceptions, each with its reason. This file applies the rules to the repository.
//!
//! All files below the repository's root are read except those of [`is_foreign`]. The rules skip a file
//! that is not text. An unused exception is a fault too, so the tables stay current.
#![forbid(unsafe_code)]

mod circles;
mod crates;
mod language;
mod links;
mod rules;
mod tables;

use std::path::{Path, PathBuf};

/// A file of the repository: its path from the root, with `/`, and its text if it is text.
struct File {
    path: String,
    text: Option<String>,
}

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().expect("the tools are in the repository")
}

/// True if the file or directory does not belong to the repository: `.git`, and entries that `.gitignore`
/// lists. `name` is a path from the root.
fn is_foreign(name: &str) -> bool {
    let top = !name.contains('/');
    let last = name.rsplit('/').next().unwrap_or(name);
    let made = last == ".git" || last == "target" || last.starts_with("target-") || last.ends_with(".bef");
    (top && made) || last.ends_with(".orig")
}

fn files() -> Vec<File> {
    let root = root();
    let mut files = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(root.join(&directory)).expect("a directory can be listed") {
            let entry = entry.expect("a directory can be listed");
            let name = entry.file_name().into_string().expect("names here are UTF-8");
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            if is_foreign(&path) {
                continue;
            }
            if entry.file_type().expect("an entry has a type").is_dir() {
                directories.push(path);
            } else {
                let bytes = std::fs::read(root.join(&path)).expect("a file can be read");
                let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
                files.push(File { path, text });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Applies `rule` to all texts whose path has one of these endings and fails with its faults.
fn hold(endings: &[&str], rule: &dyn Fn(&str, &str) -> Vec<String>) {
    let mut found = Vec::new();
    let mut n_files = 0;
    for file in files() {
        if let Some(text) = &file.text
            && endings.iter().any(|e| file.path.ends_with(e))
        {
            n_files += 1;
            found.extend(rule(&file.path, text));
        }
    }
    assert!(n_files > 0, "no file ends in {endings:?}");
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_module_begins_with_its_essay() {
    hold(&[".rs"], &rules::essay_first);
}

#[test]
fn unsafe_code_is_where_it_may_be() {
    hold(&[".rs"], &|path, text| rules::unsafe_in_table(path, text, tables::UNSAFE));
}

#[test]
fn crates_without_unsafe_code_forbid_it() {
    hold(&[".rs"], &|path, text| rules::unsafe_forbidden(path, text, tables::UNSAFE));
}

#[test]
fn values_and_dispatch_hold_no_locks() {
    hold(&[".rs"], &|path, text| rules::no_locks(path, text, tables::LOCK_FREE, tables::LOCKS));
}

#[test]
fn files_stay_short() {
    hold(&[".rs", ".lalrpop"], &|path, text| rules::short(path, text, tables::LONG));
}

#[test]
fn nothing_is_left_undone() {
    hold(&[".rs"], &rules::nothing_undone);
}

#[test]
fn no_machine_paths() {
    hold(&[""], &rules::no_machine_paths);
}

#[test]
fn links_resolve() {
    let files = files();
    let text_of = |path: &str| files.iter().find(|f| f.path == path).and_then(|f| f.text.clone());
    let exists = |path: &str| files.iter().any(|f| f.path == path || f.path.starts_with(&format!("{path}/")));
    hold(&[".md"], &|path, text| links::links_resolve(path, text, &exists, &text_of));
}

#[test]
fn crates_depend_as_the_architecture_says() {
    hold(&["Cargo.toml"], &|path, text| {
        if path == "Cargo.toml" { Vec::new() } else { crates::edges(path, text) }
    });
}

#[test]
fn files_use_each_other_in_small_circles_only() {
    let files = files();
    let text_of = |path: &str| files.iter().find(|f| f.path == path).and_then(|f| f.text.clone());
    let mut found = Vec::new();
    let mut crates = Vec::new();
    for root in
        files.iter().filter(|f| ["/src/lib.rs", "/src/main.rs"].iter().any(|end| f.path.ends_with(end)))
    {
        let folder = root.path.rsplit_once("/src/").map_or("", |(folder, _)| folder);
        let graph = circles::Graph::of(&root.path, &text_of);
        println!("{folder}: {}", graph.summary());
        found.extend(graph.faults(folder, tables::KNOTS));
        crates.push(folder);
    }
    let gone = tables::KNOTS.iter().filter(|(folder, ..)| !crates.contains(folder));
    found.extend(gone.map(|(folder, ..)| format!("{folder}: in the table KNOTS, and no crate")));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A rule over the paths and texts of all files.
type RuleOverAll = dyn Fn(&[(&str, &str)]) -> Vec<String>;

/// Applies `rule` to all Rust files together and fails with its faults.
fn hold_over_all(rule: &RuleOverAll) {
    let files = files();
    let texts: Vec<(&str, &str)> = files
        .iter()
        .filter(|f| f.path.ends_with(".rs"))
        .filter_map(|f| Some((f.path.as_str(), f.text.as_deref()?)))
        .collect();
    assert!(!texts.is_empty(), "there are Rust files");
    let found = rule(&texts);
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
}

#[test]
fn comments_are_narrow_and_name_their_items() {
    hold_over_all(&|files| language::comments(files, tables::COMMENTS));
}

#[test]
fn type_names_are_unique() {
    hold_over_all(&|files| language::unique_types(files, tables::DUPLICATES));
}

#[test]
fn the_top_level_holds_what_it_should() {
    let mut names: Vec<String> =
        files().iter().map(|f| f.path.split('/').next().unwrap_or(&f.path).to_owned()).collect();
    names.dedup();
    let found = rules::top_level(&names);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn ci_runs_what_the_readme_says() {
    let files = files();
    let text =
        |path: &str| files.iter().find(|f| f.path == path).and_then(|f| f.text.clone()).unwrap_or_default();
    let found = rules::ci_runs(&text("README.md"), &text(".ci/run"));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    let files = files();
    let mut stale = Vec::new();
    let mut check = |table: &str, path: &str, needed: &dyn Fn(&str) -> bool| {
        let text = files.iter().find(|f| f.path == path).and_then(|f| f.text.as_deref());
        if !text.is_some_and(needed) {
            stale.push(format!("{path}: its entry in {table} is not needed (any more)"));
        }
    };
    for (path, _) in tables::UNSAFE {
        check("UNSAFE", path, &|text| !rules::unsafe_in_table(path, text, &[]).is_empty());
    }
    for (path, _) in tables::LOCKS {
        check("LOCKS", path, &|text| !rules::no_locks(path, text, tables::LOCK_FREE, &[]).is_empty());
    }
    for (path, _) in tables::LONG {
        check("LONG", path, &|text| !rules::short(path, text, &[]).is_empty());
    }
    assert!(stale.is_empty(), "{}", stale.join("\n"));
    let reasons = [tables::UNSAFE, tables::LOCKS, tables::LONG].concat();
    assert!(reasons.iter().all(|(_, reason)| reason.len() > 10), "every exception has its reason");
}
