//! Tests of rendered diagnostics.

use super::*;

fn check(text: &str, diagnostic: &Diagnostic, want: &[&str]) {
    let rendered = render(diagnostic, &Source::new("t.mlir", text), Style::Plain);
    let lines: Vec<&str> = rendered.lines().map(str::trim_end).collect();
    assert_eq!(lines, want, "\n{rendered}");
}

#[test]
fn an_error_points_at_its_place() {
    let error =
        Diagnostic::error("E0301", "unknown operation `ad`").at(Span::new(6, 8)).help("did you mean `add`?");
    check(
        "first\nad %b\nthird\nfourth",
        &error,
        &[
            "t.mlir:2:1: error[E0301]: unknown operation `ad`",
            "   ,-[t.mlir:2:1]",
            " 2 | ad %b",
            "   : ^^",
            "   `----",
            "  help: did you mean `add`?",
        ],
    );
}

#[test]
fn labels_and_notes_have_their_places() {
    let error = Diagnostic::error("E0400", "twice")
        .at(Span::new(6, 9))
        .label(Some(Span::new(0, 3)), "first here")
        .note(Some(Span::new(4, 5)), "between")
        .note(None, "and further");
    check(
        "one + two",
        &error,
        &[
            "t.mlir:1:7: error[E0400]: twice",
            "   ,-[t.mlir:1:7]",
            " 1 | one + two",
            "   : ^|^   ^^^",
            "   :  `-- first here",
            "   `----",
            "t.mlir:1:5: note: between",
            "   ,-[t.mlir:1:5]",
            " 1 | one + two",
            "   :     ^",
            "   `----",
            "t.mlir: note: and further",
        ],
    );
}

#[test]
fn diagnostics_without_a_place_have_no_excerpt() {
    check("text", &Diagnostic::error("E0500", "all wrong"), &["t.mlir: error[E0500]: all wrong"]);
}

#[test]
fn control_characters_are_not_shown() {
    let error = Diagnostic::error("E0100", "odd").at(Span::new(6, 7));
    let rendered = render(&error, &Source::new("t.mlir", "a\u{1b}[31m\u{9b}b"), Style::Plain);
    assert!(rendered.contains("a?[31m??b"), "{rendered}");
}

#[test]
fn ends_of_texts_and_broken_spans_are_harmless() {
    for text in ["", "\n", "a", "a\n", "\u{e9}\u{e9}", "a\r\nb\r\n"] {
        for start in 0..=text.len() as u32 + 3 {
            for end in 0..=text.len() as u32 + 3 {
                let error = Diagnostic::error("E0100", "odd").at(Span::new(start, end));
                let label = error.clone().label(Some(Span::new(end, start)), "label");
                for diagnostic in [error, label] {
                    _ = render(&diagnostic, &Source::new("t.mlir", text), Style::Plain);
                }
            }
        }
    }
}
