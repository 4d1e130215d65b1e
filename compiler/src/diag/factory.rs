//! One function per code: the caller passes facts, the words are here.

use super::{Diagnostic, Span};

/// The candidate nearest to `name` in spelling, if any is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 6);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let distance = edit_distance(name, candidate);
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, c)| c)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(200).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(200).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// E0301: an op name that no dialect defines.
pub fn unknown_op(span: Option<Span>, name: &str, near: Option<&str>) -> Diagnostic {
    let d = Diagnostic::error("E0301", format!("unknown operation `{name}`")).at(span);
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help("write unregistered operations in generic form and pass --allow-unregistered-dialect"),
    }
}
