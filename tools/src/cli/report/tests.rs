//! What diagnostics look like.

use super::*;

fn check(text: &str, diagnostic: Diagnostic, want: &[&str]) {
    let rendered = render(&diagnostic, &Source::new("t.mlir", text), Style::Plain);
    let lines: Vec<&str> = rendered.lines().map(str::trim_end).collect();
    assert_eq!(lines, want, "\n{rendered}");
}

#[test]
fn an_error_points_at_its_place() {
    let error = Diagnostic::error("E0301", "unknown operation `ad`").at(Span::new(7, 9));
    check(
        "first\n%a\u{7}bad %b\nthird\nfourth",
        error.help("did you mean `add`?").label(Some(Span::new(0, 5)), "starts here"),
        &[],
    );
}
