//! `--split-input-file`: one file that holds many inputs, separated by lines `// -----`.
//!
//! Each part is read on its own. So that its locations are those of the file, the lines before it are there, but empty.

/// The marker, alone on its line.
pub(super) const MARKER: &str = "// -----";

/// The parts of a text; one if there is no marker.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut n_lines = 0;
    for line in text.split_inclusive('\n') {
        n_lines += 1;
        if line.trim() == MARKER {
            parts.push(std::mem::take(&mut part));
            part = "\n".repeat(n_lines);
        } else {
            part.push_str(line);
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_lines() {
        let check = |text: &str, parts: &[&str]| assert_eq!(split(text), parts);
        check("", &[""]);
        check("a\nb", &["a\nb"]);
        check("a\n// -----\nb\n", &["a\n", "\n\nb\n"]);
        check("a\n  // -----  \n// -----\nb", &["a\n", "\n\n", "\n\n\nb"]);
        check("// ------\n// ----- x\n", &["// ------\n// ----- x\n"]);
    }
}
