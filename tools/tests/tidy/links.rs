//! Links in Markdown: `[text](target)` and `[name]: target` lead to existing files and headings.
//!
//! Targets on the web are not checked. Code, in fences or in backticks, contains no links.

/// A fault for each broken link of the file at `path`. `exists` tests for files and folders by their path
/// from the root; `text_of` returns the texts of files.
pub(crate) fn links_resolve(
    path: &str,
    text: &str,
    exists: &dyn Fn(&str) -> bool,
    text_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (line, target) in targets(text) {
        let mut complain = |what: &str| found.push(format!("{path}:{line}: the link '{target}' {what}"));
        let is_web = ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme));
        if is_web {
            continue;
        }
        let (file, anchor) = match target.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor)),
            None => (target.as_str(), None),
        };
        let Some(resolved) = resolve(path, file) else {
            complain("leads out of the repository");
            continue;
        };
        if !resolved.is_empty() && !exists(&resolved) {
            complain("leads to no file");
            continue;
        }
        let Some(anchor) = anchor else { continue };
        let there = if file.is_empty() { Some(text.to_owned()) } else { text_of(&resolved) };
        if !there.is_some_and(|text| anchors(&text).iter().any(|a| a == anchor)) {
            complain("leads to no heading");
        }
    }
    found
}

/// The path from the root for `target` in the file at `path`; `None` if it is above the root.
fn resolve(path: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(path.to_owned());
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        return None;
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The text without code, line by line.
fn without_code(text: &str) -> Vec<String> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                let parts = line.split('`').enumerate();
                lines.push(parts.map(|(i, part)| if i % 2 == 0 { part } else { "code" }).collect());
                continue;
            }
            _ => {}
        }
        lines.push(String::new());
    }
    lines
}

/// All link targets with their lines.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    let clean = |target: &str| {
        let target = target.trim();
        let target = target.strip_prefix('<').and_then(|t| t.split_once('>')).map_or(target, |(t, _)| t);
        target.split_whitespace().next().unwrap_or_default().to_owned()
    };
    for (i, line) in without_code(text).iter().enumerate() {
        let mut rest = line.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let end = rest.find(')').unwrap_or(rest.len());
            targets.push((i + 1, clean(&rest[..end])));
        }
        if let Some((name, target)) = line.trim_start().split_once("]: ")
            && name.starts_with('[')
            && !name.starts_with("[^")
        {
            targets.push((i + 1, clean(target)));
        }
    }
    targets
}

/// The anchors of the headings, as the usual hosts make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if fenced || level == 0 || level > 6 || !title.starts_with(' ') {
            continue;
        }
        let keep = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let slug: String = title.trim().to_lowercase().chars().filter(|c| keep(*c)).collect();
        let slug = slug.replace(' ', "-");
        let same = anchors.iter().filter(|a| **a == slug || a.starts_with(&format!("{slug}-"))).count();
        anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
    }
    anchors
}

#[test]
fn links() {
    let exists = |path: &str| ["doc/a.md", "src/x.rs", "src", "README.md"].contains(&path);
    let text_of = |path: &str| (path == "README.md").then(|| "# The Title!\n## `Code` and more\n".to_owned());
    let n = |text: &str| links_resolve("doc/a.md", text, &exists, &text_of).len();
    for good in [
        "[x](../src/x.rs)",
        "[x](../src)",
        "[x](../src/)",
        "[x](a.md)",
        "[x](https://example.org/none.md)",
        "[x](../README.md#the-title)",
        "[x](../README.md#code-and-more)",
        "# Here\n[x](#here)",
        "[x]: ../README.md",
        "[x](<../README.md> \"title\")",
        "`[x](none.md)`",
        "```\n[x](none.md)\n```",
        "no link [x] (none.md)",
    ] {
        assert_eq!(n(good), 0, "{good}");
    }
    for bad in [
        "[x](none.md)",
        "[x](../none.md)",
        "[x](../../README.md)",
        "[x](/README.md)",
        "[x](../README.md#no-title)",
        "[x](#here)",
        "[x]: none.md",
        "`code` [x](none.md)",
        "```\n```\n[x](none.md)",
        "[a](a.md) [x](none.md)",
    ] {
        assert_eq!(n(bad), 1, "{bad}");
    }
}
