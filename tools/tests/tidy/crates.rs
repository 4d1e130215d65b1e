//! The allowed dependencies between our crates, checked in the manifests.
//!
//! A manifest is read line by line, as far as needed: tables of dependencies and their entries. An entry must
//! take its version from the workspace (`workspace = true`) or be a path to the crate itself.

/// A crate, its allowed dependencies, and those allowed for its tests only.
type Crate = (&'static str, &'static [&'static str], &'static [&'static str]);

/// The dependencies that the architecture allows. "*" allows every crate.
const EDGES: &[Crate] = &[
    ("bef-format", &[], &["bef-format"]),
    ("befrost-mem", &[], &[]),
    ("befrost-tensor", &["befrost-mem"], &[]),
    ("befrost-kernel-api", &["bef-format", "befrost-mem"], &["befrost-host"]),
    ("befrost-host", &["befrost-kernel-api", "bef-format", "befrost-mem"], &[]),
    (
        "befrost-kernels",
        &["befrost-kernel-api", "befrost-tensor", "befrost-mem", "bef-format"],
        &["befrost-host"],
    ),
    ("befrost-sim", &["befrost-kernel-api", "befrost-mem", "bef-format"], &["befrost"]),
    (
        "befrost-eager",
        &["befrost-kernels", "befrost-kernel-api", "befrost-tensor", "befrost-mem", "bef-format"],
        &["befrost-host"],
    ),
    (
        "befrost",
        &[
            "befrost-host",
            "befrost-eager",
            "befrost-kernel-api",
            "befrost-tensor",
            "befrost-kernels",
            "befrost-mem",
            "bef-format",
            // With the feature `compile`.
            "befrost-compiler",
        ],
        &[],
    ),
    ("befrost-train", &["befrost"], &["befrost"]),
    ("befrost-c", &["befrost"], &[]),
    // Of the second and the third only the features, for `.ci/python`.
    ("befrost-python", &["befrost", "befrost-host", "befrost-kernels"], &[]),
    ("befrost-compiler", &["bef-format", "befrost-tensor"], &[]),
    ("befrost-tools", &["*"], &["*"]),
    ("befrost-testing", &["*"], &[]),
    ("befrost-fuzz", &["*"], &["*"]),
    ("xtask", &["*"], &["*"]),
];

/// Crates that may write BEF outside their tests.
const WRITERS: &[&str] = &["befrost-compiler", "befrost-tools", "befrost-testing", "xtask"];

/// A dependency in a manifest.
#[derive(Debug, PartialEq, Eq)]
struct Dependency {
    line: usize,
    name: String,
    value: String,
    of_tests: bool,
}

/// A fault for each dependency of the manifest that the architecture does not allow.
pub(crate) fn edges(path: &str, text: &str) -> Vec<String> {
    let Some(package) = package_name(text) else {
        return vec![format!("{path}:1: the manifest names no package")];
    };
    let Some((_, allowed, for_tests)) = EDGES.iter().find(|(name, ..)| *name == package) else {
        return vec![format!("{path}:1: the crate '{package}' is not in the table EDGES")];
    };
    let mut found = Vec::new();
    for dependency in dependencies(text) {
        let Dependency { line, name, value, of_tests } = &dependency;
        let mut complain = |what: &str| found.push(format!("{path}:{line}: {what}"));
        let is_itself = *name == package;
        let own_version = is_itself && value.contains("path=\".\"");
        if !value.contains("workspace=true") && !own_version {
            complain(&format!("'{name}' takes its version from elsewhere than the workspace"));
        }
        if !EDGES.iter().any(|(ours, ..)| ours == name) {
            continue;
        }
        let may = |list: &[&str]| list.contains(&"*") || list.contains(&name.as_str());
        let for_tests_only = *of_tests && may(for_tests);
        if !may(allowed) && !for_tests_only {
            let of = if *of_tests { "the tests of " } else { "" };
            complain(&format!("{of}'{package}' may not depend on '{name}'"));
        }
        if name == "bef-format"
            && value.contains("\"write\"")
            && !of_tests
            && !WRITERS.contains(&package.as_str())
        {
            complain(&format!("'{package}' may not write BEF"));
        }
    }
    found
}

/// A line without its comment and blanks.
fn bare(line: &str) -> String {
    let mut quoted = false;
    let code = line.chars().take_while(|c| {
        quoted ^= *c == '"';
        quoted || *c != '#'
    });
    code.filter(|c| !c.is_whitespace()).collect()
}

fn package_name(text: &str) -> Option<String> {
    let mut lines = text.lines().map(bare).skip_while(|l| l != "[package]").skip(1);
    let line = lines.find(|l| l.starts_with("name=") || l.starts_with('['))?;
    Some(line.strip_prefix("name=")?.trim_matches('"').to_owned())
}

/// The dependencies, by the names of their packages. The lines of a value are joined.
fn dependencies(text: &str) -> Vec<Dependency> {
    // The current table: whether its entries are for tests, and the index of the dependency if the table is
    // one.
    let mut table: Option<(bool, Option<usize>)> = None;
    let mut all: Vec<Dependency> = Vec::new();
    let mut open = 0;
    for (i, line) in text.lines().enumerate() {
        let line_text = bare(line);
        let depth = |opening: char, closing: char| {
            let count = |c: char| i32::try_from(line_text.matches(c).count()).unwrap_or(i32::MAX);
            count(opening) - count(closing)
        };
        let change = depth('[', ']') + depth('{', '}');
        if open > 0 {
            if let (Some(_), Some(last)) = (&table, all.last_mut()) {
                last.value.push_str(&line_text);
            }
            open += change;
            continue;
        }
        if let Some(header) = line_text.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            table = None;
            for (name, of_tests) in
                [("dev-dependencies", true), ("build-dependencies", false), ("dependencies", false)]
            {
                let at = format!(".{header}.");
                let Some((_, rest)) = at.split_once(&format!(".{name}.")) else { continue };
                let one = rest.trim_end_matches('.').trim_matches('"');
                table = Some((of_tests, None));
                if !one.is_empty() {
                    let value = String::new();
                    all.push(Dependency { line: i + 1, name: one.to_owned(), value, of_tests });
                    table = Some((of_tests, Some(all.len() - 1)));
                }
                break;
            }
            continue;
        }
        let Some((of_tests, one)) = table else { continue };
        let Some((key, value)) = line_text.split_once('=') else { continue };
        open += change;
        if let Some(one) = one {
            all[one].value.push_str(&format!("{line_text},"));
            continue;
        }
        let (name, member) = key.split_once('.').unwrap_or((key, ""));
        let value = if member.is_empty() { value.to_owned() } else { format!("{member}={value}") };
        let name = name.trim_matches('"').to_owned();
        match all.last_mut() {
            // `a.workspace = true` and `a.features = [..]` are one entry.
            Some(last) if !member.is_empty() && last.name == name && last.of_tests == of_tests => {
                last.value.push_str(&format!(",{value}"));
            }
            _ => all.push(Dependency { line: i + 1, name, value, of_tests }),
        }
    }
    for dependency in &mut all {
        if let Some((_, rest)) = dependency.value.split_once("package=\"") {
            dependency.name = rest.split('"').next().unwrap_or_default().to_owned();
        }
    }
    all
}

#[test]
fn manifests_are_read() {
    let text = "[package]\nname = \"befrost-host\" # it\n[dependencies]\na.workspace = true\nb = { workspace = true, features = [\n  \"x\",\n] }\n\
                c.workspace = true\nc.features = [\"y\"]\n[target.'cfg(loom)'.dependencies]\nd.workspace = true\n\
                [dev-dependencies]\ne = { workspace = true }\n[dependencies.f]\nworkspace = true\n[[bench]]\nname = \"g\"\n\
                [build-dependencies]\nh = { package = \"real\", workspace = true }\n";
    assert_eq!(package_name(text).as_deref(), Some("befrost-host"));
    let names: Vec<_> = dependencies(text).iter().map(|d| (d.name.clone(), d.of_tests)).collect();
    let want =
        [("a", false), ("b", false), ("c", false), ("d", false), ("e", true), ("f", false), ("real", false)];
    assert_eq!(names, want.map(|(n, t)| (n.to_owned(), t)));
    assert!(
        dependencies(text).iter().all(|d| d.value.contains("workspace=true")),
        "{:?}",
        dependencies(text)
    );
    assert!(dependencies(text)[2].value.contains("\"y\""));
}

#[test]
fn forbidden_edges_are_found() {
    let n = |package: &str, table: &str, entry: &str| {
        edges("x/Cargo.toml", &format!("[package]\nname = \"{package}\"\n[{table}]\n{entry}\n")).len()
    };
    assert_eq!(n("befrost-host", "dependencies", "bef-format.workspace = true"), 0);
    assert_eq!(n("befrost-host", "dependencies", "befrost-tensor.workspace = true"), 1);
    assert_eq!(n("befrost-host", "dependencies", "befrost-compiler.workspace = true"), 1);
    assert_eq!(n("befrost-compiler", "dependencies", "befrost-host = { workspace = true }"), 1);
    assert_eq!(n("befrost-compiler", "dev-dependencies", "befrost-kernels.workspace = true"), 1);
    assert_eq!(n("befrost-compiler", "build-dependencies", "befrost-kernels.workspace = true"), 1);
    assert_eq!(n("befrost-compiler", "dependencies.befrost-kernels", "workspace = true"), 1);
    assert_eq!(n("befrost-compiler", "target.'cfg(unix)'.dependencies", "befrost-host.workspace = true"), 1);
    assert_eq!(
        n("befrost-compiler", "dependencies", "x = { package = \"befrost-host\", workspace = true }"),
        1
    );
    assert_eq!(n("befrost-mem", "dependencies", "bef-format.workspace = true"), 1);
    assert_eq!(n("befrost-kernel-api", "dependencies", "befrost-host.workspace = true"), 1);
    assert_eq!(n("befrost-kernel-api", "dev-dependencies", "befrost-host.workspace = true"), 0);
    assert_eq!(n("befrost-kernels", "dependencies", "befrost-host.workspace = true"), 1);
    assert_eq!(n("befrost-tools", "dependencies", "befrost-compiler.workspace = true"), 0);
    assert_eq!(
        n("befrost-compiler", "dependencies", "bef-format = { workspace = true, features = [\"write\"] }"),
        0
    );
    assert_eq!(
        n("befrost-host", "dependencies", "bef-format = { workspace = true, features = [\"write\"] }"),
        1
    );
    assert_eq!(
        n("befrost-host", "dev-dependencies", "bef-format = { workspace = true, features = [\"write\"] }"),
        0
    );
    assert_eq!(
        n("bef-format", "dev-dependencies", "bef-format = { path = \".\", features = [\"write\"] }"),
        0
    );
    assert_eq!(n("bef-format", "dependencies", "serde = \"1\""), 1);
    assert_eq!(n("bef-format", "dependencies", "serde.workspace = true"), 0);
    assert_eq!(n("some-crate", "dependencies", "serde.workspace = true"), 1);
    assert_eq!(edges("x/Cargo.toml", "[dependencies]\n").len(), 1);
}
