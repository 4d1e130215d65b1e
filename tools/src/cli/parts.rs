//! `--split-input-file[=MARKER]`: one file with several inputs, separated by lines that end in a marker.
//!
//! Each part is read separately. The lines before it are present as empty lines, so that its locations are
//! those of the file. As in mlir-opt, a marker may follow the last operation of a part on its line, and a
//! near miss of the marker causes a warning. Unlike in mlir-opt, a line with more dashes than the marker is
//! not a marker.

use super::failure::tell;

/// The usual marker.
pub(super) const MARKER: &str = "// -----";

/// The parts of a text; one if there is no marker. Reports near misses.
pub(super) fn split(name: &str, text: &str, marker: &str) -> Vec<String> {
    let (parts, misses) = parts(text, marker);
    for (line, column) in misses {
        tell(&format!("{name}:{line}:{column}: warning: near miss with file split marker\n"));
    }
    parts
}

/// The parts, and the positions of near misses: line and column from 1.
fn parts(text: &str, marker: &str) -> (Vec<String>, Vec<(usize, usize)>) {
    let mut parts = Vec::new();
    let mut misses = Vec::new();
    let mut part = String::new();
    let mut n_lines = 0;
    for line in text.split_inclusive('\n') {
        n_lines += 1;
        let content = line.trim_end();
        match content.strip_suffix(marker) {
            // The marker's own first characters must not be part of something longer.
            Some(before) if !before.ends_with(['/', '-']) => {
                part.push_str(before);
                if !before.is_empty() {
                    part.push('\n');
                }
                parts.push(std::mem::take(&mut part));
                part = "\n".repeat(n_lines);
            }
            _ => {
                if is_near(content.trim_start(), marker) {
                    misses.push((n_lines, content.len() - content.trim_start().len() + 1));
                }
                part.push_str(line);
            }
        }
    }
    parts.push(part);
    (parts, misses)
}

/// True if a line is the marker with one or two of its last characters missing, or one more.
fn is_near(line: &str, marker: &str) -> bool {
    let mut shorter = marker.char_indices().rev();
    let Some((at, _)) = shorter.nth(1).filter(|(at, _)| *at > 2) else { return false };
    let last = marker.chars().next_back();
    line.strip_prefix(&marker[..at])
        .is_some_and(|rest| rest.chars().count() <= 3 && rest.chars().all(|c| Some(c) == last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_lines() {
        let check = |text: &str, want: &[&str]| assert_eq!(parts(text, MARKER).0, want);
        check("", &[""]);
        check("a\nb", &["a\nb"]);
        check("a\n// -----\nb\n", &["a\n", "\n\nb\n"]);
        check("a\n  // -----  \n// -----\nb", &["a\n  \n", "\n\n", "\n\n\nb"]);
        check("a // -----\nb", &["a \n", "\nb"]);
        check("// ------\n// ----- x\n", &["// ------\n// ----- x\n"]);
    }

    #[test]
    fn other_markers_and_near_misses() {
        let check = |text: &str, marker: &str, n: usize, want: &[(usize, usize)]| {
            let (parts, misses) = parts(text, marker);
            assert_eq!((parts.len(), misses.as_slice()), (n, want), "{text}");
        };
        check("a\n// CUT\nb\n// -----\n", "// CUT", 2, &[]);
        check("a\n// ----\n  // ------\n//-----\n", MARKER, 1, &[(2, 1), (3, 3)]);
    }
}
