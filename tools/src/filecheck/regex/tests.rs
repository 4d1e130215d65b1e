//! Matches of expressions, compared with an exhaustive search over all extents.

use super::parse::{Node, parse};
use super::search::Regex;

/// The expression's match in `text` as `start..end` with its groups, `-` if there is none, or the error.
fn found(expression: &str, text: &str) -> String {
    let parsed = match parse(expression.as_bytes(), 1, false) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_owned(),
    };
    let regex = Regex::new(parsed.node, parsed.n_groups + 1).expect("the expressions here are small");
    let Ok(found) = regex.find(text.as_bytes()) else { return "too complex".to_owned() };
    let Some(found) = found else { return "-".to_owned() };
    let groups = found.groups.iter().skip(1).map(|g| match g {
        Some((start, end)) => format!(" {}", &text[*start..*end]),
        None => " ?".to_owned(),
    });
    format!("{}..{}{}", found.start, found.end, groups.collect::<String>())
}

#[test]
fn the_match_is_leftmost_then_longest() {
    assert_eq!(found("a|ab", "xab"), "1..3");
    assert_eq!(found("(a|ab)(c|bcd)(d*)", "abcd"), "0..4 ab c d");
    assert_eq!(found("a?(ab)?", "ab"), "0..2 ?");
    assert_eq!(found("(a*)(a*)", "aaa"), "0..3 aaa ");
    assert_eq!(found("x*", "aaa"), "0..0");
    assert_eq!(found("(a*)*b", &"a".repeat(2000)), "-");
    assert_eq!(found("a{2,3}", "aaaa"), "0..3");
    assert_eq!(found("b$", "ab\nb"), "1..2");
    assert_eq!(found("^b", "ab\nb"), "3..4");
}

#[test]
fn back_references_want_the_same_text() {
    assert_eq!(found(r"(a|b)\1", "abb"), "1..3 b");
    assert_eq!(found(r"(a*)b\1$", "aabaa"), "0..5 aa");
    assert_eq!(found(r"(a*)b\1$", "aaba"), "1..4 a");
    assert_eq!(found(r"(.*)=\1;", "abc=bc;"), "1..7 bc");
    assert_eq!(found(r"((a)b)\2\1", "abaab"), "0..5 ab a");
    assert_eq!(found(r"(x)?\1", "y"), "-");
}

#[test]
fn hopeless_searches_end() {
    let text = "a".repeat(3000);
    assert_eq!(found(r"(a*)(a*)(a*)(a*)\1\2\3\4b", &format!("{text}b")), "too complex");
    assert_eq!(found("(((a{255}){255}){255}){255}", "a"), "repetition counts make the expression too large");
    assert_eq!(found(&"(".repeat(10_000), "a"), "parentheses nested too deeply");
}

/// All extents of `node` from `at`, by definition; without back-references.
fn extents(node: &Node, text: &[u8], at: usize) -> Vec<usize> {
    let mut ends = match node {
        Node::Set(set) => text.get(at).filter(|b| set.has(**b)).map(|_| at + 1).into_iter().collect(),
        Node::Assert(assertion) => {
            let holds = super::program::holds(*assertion, text, at);
            holds.then_some(at).into_iter().collect()
        }
        Node::Concat(nodes) => nodes.iter().fold(vec![at], |starts, node| {
            let mut ends: Vec<usize> = starts.iter().flat_map(|&s| extents(node, text, s)).collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        }),
        Node::Alternation(nodes) => nodes.iter().flat_map(|n| extents(n, text, at)).collect(),
        Node::Optional(inner) => [vec![at], extents(inner, text, at)].concat(),
        Node::Group(_, inner) => extents(inner, text, at),
        Node::Plus(inner) => {
            let mut all = extents(inner, text, at);
            let mut next = 0;
            while let Some(&from) = all.get(next) {
                for end in extents(inner, text, from) {
                    if !all.contains(&end) {
                        all.push(end);
                    }
                }
                next += 1;
            }
            all
        }
        Node::BackReference(_) => Vec::new(),
    };
    ends.sort_unstable();
    ends.dedup();
    ends
}

#[test]
fn every_small_expression_finds_what_the_definition_says() {
    let pieces = ["a", "b", "(a|ab)", "(b|c)?", "a*", "(ab)+", "[^a]", "^", "$", "(a*)*", ".", "(a|b)"];
    let texts = ["", "a", "ab", "ba\nab", "2ba1\nc c\n\nabb", "cab\n\naab", "aabbabc"];
    for first in &pieces {
        for second in &pieces {
            for third in &pieces {
                let expression = format!("{first}{second}{third}");
                let Ok(parsed) = parse(expression.as_bytes(), 1, false) else { continue };
                for text in texts {
                    let want = (0..=text.len()).find_map(|start| {
                        let end = *extents(&parsed.node, text.as_bytes(), start).last()?;
                        Some((start, end))
                    });
                    let regex = Regex::new(parsed.node.clone(), parsed.n_groups + 1).expect("it is small");
                    let got = regex.find(text.as_bytes()).expect("it is simple").map(|f| (f.start, f.end));
                    assert_eq!(got, want, "{expression:?} in {text:?}");
                }
            }
        }
    }
}
