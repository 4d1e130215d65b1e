//! A small lexer for Rust: code without comments and without the contents of strings.

/// `text` with every comment, string and character literal blanked out. All bytes of code stay where they
/// are.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out: Vec<char> = Vec::with_capacity(chars.len());
    let blank = |out: &mut Vec<char>, from: usize, to: usize| {
        for &c in &chars[from..to.min(chars.len())] {
            let (blank, n) = if c == '\n' { ('\n', 1) } else { (' ', c.len_utf8()) };
            out.extend(std::iter::repeat_n(blank, n));
        }
    };
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let after_word = out.last().is_some_and(|c| c.is_alphanumeric() || *c == '_');
        let end = if rest.starts_with(&['/', '/']) {
            at + rest.iter().position(|&c| c == '\n').unwrap_or(rest.len())
        } else if rest.starts_with(&['/', '*']) {
            at + block_comment(rest)
        } else if rest[0] == '"' {
            at + 1 + quoted(&rest[1..], '"')
        } else if rest[0] == '\'' {
            at + character(rest)
        } else if !after_word && let Some(length) = prefixed_string(rest) {
            at + length
        } else {
            out.push(rest[0]);
            at += 1;
            continue;
        };
        blank(&mut out, at, end);
        at = end;
    }
    out.into_iter().collect()
}

/// Length of the block comment that `rest` begins with; they nest.
fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(&['/', '*']) {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(&['*', '/']) {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Length up to and including the closing `quote`.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 0;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of the character literal that `rest` begins with; 1 for the tick of a lifetime.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', ..] => 1 + quoted(&rest[1..], '\''),
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}

/// Length of the string or byte literal with a prefix (`b`, `r`, `br`, `c`, `cr`, with any `#`) at the start
/// of `rest`, if there is one.
fn prefixed_string(rest: &[char]) -> Option<usize> {
    let letters = rest.iter().take_while(|c| matches!(c, 'b' | 'r' | 'c')).count();
    let prefix: String = rest[..letters].iter().collect();
    if !matches!(prefix.as_str(), "b" | "r" | "br" | "c" | "cr") {
        return None;
    }
    let rest = &rest[letters..];
    if prefix == "b" && rest.first() == Some(&'\'') {
        return Some(letters + character(rest));
    }
    if !prefix.ends_with('r') {
        return (rest.first() == Some(&'"')).then(|| letters + 1 + quoted(&rest[1..], '"'));
    }
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    if rest.get(hashes) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let inside = &rest[hashes + 1..];
    let length =
        inside.windows(close.len()).position(|w| w == close).map_or(inside.len(), |n| n + close.len());
    Some(letters + hashes + 1 + length)
}

/// Words (with their lines, from 1) and single punctuation characters of the output of [`code_only`].
pub fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    for (i, line) in code.lines().enumerate() {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let length = if word > 0 { word } else { c.len_utf8() };
            if !c.is_whitespace() {
                tokens.push((i + 1, &rest[..length]));
            }
            rest = &rest[length..];
        }
    }
    tokens
}

#[test]
fn comments_and_strings_are_not_code() {
    for text in [
        "// word",
        "/// word",
        "//! word",
        "/* word */",
        "/* a /* b */ word */",
        "\"word\"",
        "\"a \\\" word\"",
        "r\"word\"",
        "r#\"a \" word\"#",
        "br##\"a \"# word\"##",
        "b\"word\"",
        "c\"word\"",
        "\"a\nword\"",
        "'\\'' // word",
        "'\"' // word \"",
        "/* word",
        "\"word",
    ] {
        assert!(!code_only(text).contains("word"), "{text}");
    }
}

#[test]
fn code_is_code() {
    for text in [
        "word",
        "\"a\" word \"b\"",
        "'\"' word '\"'",
        "'a' word 'b'",
        "fn f<'a>() { word } // 'x'",
        "/* a */ word",
        "/* /* */ */ word",
        "// a\nword",
        "r#\"a\"# word",
        "\"\\\\\" word",
        "b'\"' word",
        "bar\"a\" word",
        "for_\"x\" word",
        "r#word",
        "'\\u{1F600}' word",
    ] {
        assert!(code_only(text).contains("word"), "{text}: {}", code_only(text));
    }
    assert_eq!(code_only("a \"b\nc\" d\ne").lines().count(), 3);
    assert_eq!(code_only("\"\u{e9}\" a // \u{1F600}").find('a'), Some(5));
    assert_eq!(
        tokens("ab.c\n #[d]"),
        [(1, "ab"), (1, "."), (1, "c"), (2, "#"), (2, "["), (2, "d"), (2, "]")]
    );
}
