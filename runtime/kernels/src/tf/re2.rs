//! RE2's patterns in the syntax of `regex-lite`.
//!
//! ```text
//! \pL  \p{Greek}  [[]  \Q..\E  \<  a{,  (?i)é  \s  ──translate──▶  ranges and single characters
//! ```
//!
//! Both have ASCII's `\d`, `\w` and `\b`. What RE2 alone has is written out: classes of Unicode, whose ranges
//! are in `categories.txt` and `re2_scripts.txt`, and the case of letters beyond ASCII under `i`. What means
//! something else in `regex-lite` is escaped. Not here: what RE2 alone refuses, like `a**`.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::LazyLock;

/// Code points, first and last.
type Range = (u32, u32);

const LAST: u32 = char::MAX as u32;

/// RE2's `\s`, without the vertical tab of `[:space:]`.
const SPACE: &[Range] = &[(0x9, 0xA), (0xC, 0xD), (0x20, 0x20)];

/// The pattern of `regex-lite` for one of RE2.
pub(super) fn translated(pattern: &str) -> Result<String, String> {
    let mut translator =
        Translator { rest: pattern.chars().peekable(), out: String::new(), folds: vec![false] };
    while let Some(c) = translator.rest.next() {
        translator.part(c)?;
    }
    Ok(translator.out)
}

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    /// For each open group, and for the whole, whether case is ignored.
    folds: Vec<bool>,
}

impl Translator<'_> {
    /// Translates a part that begins with `c`.
    fn part(&mut self, c: char) -> Result<(), String> {
        match c {
            '\\' => self.escape()?,
            '[' => self.class()?,
            '(' => self.group()?,
            ')' => {
                if self.folds.len() > 1 {
                    self.folds.pop();
                }
                self.out.push(c);
            }
            '{' if self.repeats() => {
                let count = self.braced()?;
                self.out.push_str(&format!("{{{count}}}"));
            }
            '{' => self.out.push_str("\\{"),
            '}' | ']' | '.' | '^' | '$' | '|' | '*' | '+' | '?' => self.out.push(c),
            c => self.literal(c),
        }
        Ok(())
    }

    /// True if the number of repetitions and the closing brace follow.
    fn repeats(&self) -> bool {
        let text: String = self.rest.clone().take_while(|&c| c != '}').collect();
        let is_number = |n: &str| !n.is_empty() && n.bytes().all(|digit| digit.is_ascii_digit());
        let is_closed = self.rest.clone().any(|c| c == '}');
        is_closed
            && match text.split_once(',') {
                Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
                None => is_number(&text),
            }
    }

    fn folds(&self) -> bool {
        self.folds.last().is_some_and(|&folds| folds)
    }

    fn literal(&mut self, c: char) {
        if self.folds() {
            self.set(false, &[(c as u32, c as u32)]);
        } else {
            self.point(c as u32);
        }
    }

    /// A character. Under `i`, an escaped letter of ASCII would be a class of two.
    fn point(&mut self, point: u32) {
        match char::from_u32(point) {
            Some(c) if c.is_ascii_alphanumeric() => self.out.push(c),
            _ => self.out.push_str(&format!("\\x{{{point:X}}}")),
        }
    }

    /// The ranges as items of a class.
    fn items(&mut self, ranges: &[Range]) {
        for &(first, last) in ranges {
            self.point(first);
            if first < last {
                self.out.push('-');
                self.point(last);
            }
        }
    }

    /// A class of the ranges, or of all else.
    fn set(&mut self, is_negated: bool, ranges: &[Range]) {
        self.out.push_str(if is_negated { "[^" } else { "[" });
        self.items(&self.folded(ranges));
        self.out.push(']');
    }

    /// The ranges, and under `i` all letters that are the same as theirs.
    fn folded(&self, ranges: &[Range]) -> Vec<Range> {
        let mut all = ranges.to_vec();
        if self.folds() {
            let has = |&c: &char| ranges.iter().any(|&(first, last)| (first..=last).contains(&(c as u32)));
            for letters in LETTERS.values().filter(|letters| letters.iter().any(has)) {
                all.extend(letters.iter().map(|&c| (c as u32, c as u32)));
            }
        }
        merged(all)
    }

    /// A group, or flags for the rest of this one.
    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        let mut folds = self.folds();
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
            let mut is_set = true;
            while let Some(c) = self.rest.next() {
                self.out.push(c);
                match c {
                    'i' => folds = is_set,
                    '-' => is_set = false,
                    'm' | 's' | 'U' => {}
                    ')' => {
                        if let Some(last) = self.folds.last_mut() {
                            *last = folds;
                        }
                        return Ok(());
                    }
                    ':' => break,
                    // A name: to its end nothing is translated.
                    'P' | '<' => {
                        for c in self.rest.by_ref() {
                            self.out.push(c);
                            if c == '>' {
                                break;
                            }
                        }
                        break;
                    }
                    c => return Err(format!("there is no flag '{c}'")),
                }
            }
        }
        self.folds.push(folds);
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.rest.next() {
            Some('Q') => {
                while let Some(c) = self.rest.next() {
                    if c == '\\' && self.rest.next_if_eq(&'E').is_some() {
                        break;
                    }
                    self.literal(c);
                }
            }
            Some('s') => self.set(false, SPACE),
            Some('S') => self.set(true, SPACE),
            Some(c @ ('p' | 'P')) => {
                let (is_negated, ranges) = self.unicode_class(c)?;
                self.set(is_negated, &ranges);
            }
            Some(c @ ('d' | 'D' | 'w' | 'W' | 'b' | 'B' | 'A' | 'z')) => self.out.extend(['\\', c]),
            Some(c) => {
                let c = self.escaped(c)?;
                self.literal(c);
            }
            None => return Err("a backslash ends it".to_owned()),
        }
        Ok(())
    }

    /// The character of an escape of one, behind its backslash.
    fn escaped(&mut self, c: char) -> Result<char, String> {
        let digit = |c: &char| c.to_digit(8);
        let mut point = match c {
            'a' => 0x7,
            'f' => 0xC,
            'n' => 0xA,
            'r' => 0xD,
            't' => 0x9,
            'v' => 0xB,
            'x' => self.hexadecimal()?,
            // A digit alone would be a reference to a group.
            '1'..='7' if self.rest.peek().and_then(digit).is_none() => {
                return Err("references to groups are not supported".to_owned());
            }
            '0'..='7' => c as u32 - '0' as u32,
            c if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' => return Ok(c),
            'C' => return Err("bytes of characters (\\C) are not supported".to_owned()),
            c => return Err(format!("there is no escape '\\{c}'")),
        };
        if c.is_ascii_digit() {
            for _ in 0..2 {
                let Some(next) = self.rest.peek().and_then(digit) else { break };
                self.rest.next();
                point = point * 8 + next;
            }
        }
        char::from_u32(point).ok_or_else(|| format!("there is no character {point:X}"))
    }

    /// The number of `\xHH` or `\x{H..}`.
    fn hexadecimal(&mut self) -> Result<u32, String> {
        let text: String = match self.rest.next_if_eq(&'{') {
            Some(_) => self.braced()?,
            None => self.rest.by_ref().take(2).collect(),
        };
        let is_number = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = if is_number { u32::from_str_radix(&text, 16).ok() } else { None };
        number.ok_or_else(|| format!("'\\x{text}' is no character"))
    }

    /// The text to the closing brace.
    fn braced(&mut self) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some('}') => return Ok(text),
                Some(c) => text.push(c),
                None => return Err("a brace is not closed".to_owned()),
            }
        }
    }

    /// The ranges of `\pN`, `\p{Name}` or `\p{^Name}`, and whether all else is meant.
    fn unicode_class(&mut self, p: char) -> Result<(bool, Vec<Range>), String> {
        let name: String = match self.rest.next() {
            Some('{') => self.braced()?,
            Some(c) => c.into(),
            None => String::new(),
        };
        let (is_negated, name) = match name.strip_prefix('^') {
            Some(name) => (p == 'p', name),
            None => (p == 'P', &*name),
        };
        let ranges = unicode_ranges(name).ok_or_else(|| format!("there is no class '\\p{{{name}}}'"))?;
        Ok((is_negated, ranges))
    }

    /// A class in brackets.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            match self.rest.next() {
                None => return Err("a bracket is not closed".to_owned()),
                Some(']') if !is_first => break,
                Some(c) => self.class_item(c)?,
            }
            is_first = false;
        }
        self.out.push(']');
        Ok(())
    }

    fn class_item(&mut self, c: char) -> Result<(), String> {
        if c == '[' && self.rest.peek() == Some(&':') {
            let name: String = self.rest.clone().take_while(|&c| c != ']').collect();
            if name.len() > 1 && name.ends_with(':') {
                self.rest.by_ref().take(name.chars().count() + 1).for_each(drop);
                self.out.push_str(&format!("[{name}]"));
                return Ok(());
            }
        }
        let mut first = c;
        if c == '\\' {
            match self.rest.next() {
                Some(c @ ('d' | 'D' | 'w' | 'W')) => {
                    self.out.extend(['\\', c]);
                    return Ok(());
                }
                Some(c @ ('s' | 'S' | 'p' | 'P')) => {
                    let (is_negated, ranges) = match c {
                        's' | 'S' => (c == 'S', SPACE.to_vec()),
                        _ => self.unicode_class(c)?,
                    };
                    let ranges = self.folded(&ranges);
                    self.items(&if is_negated { complement(ranges) } else { ranges });
                    return Ok(());
                }
                Some(c) => first = self.escaped(c)?,
                None => return Err("a bracket is not closed".to_owned()),
            }
        }
        let mut last = first;
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']') {
            self.rest.next();
            last = match self.rest.next() {
                Some('\\') => match self.rest.next() {
                    Some(c) => self.escaped(c)?,
                    None => return Err("a bracket is not closed".to_owned()),
                },
                Some(c) => c,
                None => first,
            };
        }
        if last < first {
            return Err(format!("the range '{first}-{last}' is empty"));
        }
        let ranges = self.folded(&[(first as u32, last as u32)]);
        self.items(&ranges);
        Ok(())
    }
}

/// The ranges in order, without overlaps.
fn merged(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let is_joined = next.0 <= last.1 + 1;
        if is_joined {
            last.1 = last.1.max(next.1);
        }
        is_joined
    });
    ranges
}

/// All characters that are not in the merged ranges.
fn complement(ranges: Vec<Range>) -> Vec<Range> {
    let (mut between, mut next) = (Vec::new(), 0);
    for (first, last) in ranges {
        if next < first {
            between.push((next, first - 1));
        }
        next = last + 1;
    }
    if next <= LAST {
        between.push((next, LAST));
    }
    between
}

/// Letters that are the same when case is ignored, by the small one.
static LETTERS: LazyLock<BTreeMap<char, Vec<char>>> = LazyLock::new(|| {
    /// The only one, else `c`.
    fn single(mut all: impl Iterator<Item = char>, c: char) -> char {
        match (all.next(), all.next()) {
            (Some(one), None) => one,
            _ => c,
        }
    }
    let mut letters: BTreeMap<char, Vec<char>> = BTreeMap::new();
    // The dotless i is a small I, but not the same as an i.
    for c in ('A'..='\u{1FFFF}').filter(|&c| c != '\u{131}') {
        let upper = single(c.to_uppercase(), c);
        letters.entry(single(upper.to_lowercase(), upper)).or_default().push(c);
    }
    letters.retain(|_, all| all.len() > 1);
    letters
});

/// The ranges of a general category of Unicode, of all categories that begin with a letter, or of a script.
fn unicode_ranges(name: &str) -> Option<Vec<Range>> {
    let is_category = name.len() <= 2 && name != "Yi";
    let text = match name {
        "" => return None,
        "Any" => return Some(vec![(0, LAST)]),
        _ if is_category => include_str!("categories.txt"),
        _ => include_str!("re2_scripts.txt"),
    };
    let mut ranges: Vec<Range> = Vec::new();
    let mut open: Option<u32> = None;
    for line in text.lines() {
        let (first, of) = line.split_once(' ')?;
        let first = u32::from_str_radix(first, 16).ok()?;
        let is_in = if is_category { of.starts_with(name) } else { of == name };
        match (open, is_in) {
            (None, true) => open = Some(first),
            (Some(start), false) => {
                ranges.push((start, first - 1));
                open = None;
            }
            _ => {}
        }
    }
    ranges.extend(open.map(|start| (start, LAST)));
    if ranges.is_empty() { None } else { Some(ranges) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;

    /// The parts of the text that the pattern matches.
    fn found(pattern: &str, text: &str) -> Vec<String> {
        let translated = translated(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
        let regex = Regex::new(&translated).unwrap_or_else(|why| panic!("{pattern}, {translated}: {why}"));
        regex.find_iter(text).map(|found| found.as_str().to_owned()).collect()
    }

    fn check(pattern: &str, text: &str, want: &[&str]) {
        assert_eq!(found(pattern, text), want, "{pattern} in {text}");
    }

    #[test]
    fn classes_of_unicode() {
        check(r"\pL+", "häß 12日本_é", &["häß", "日本", "é"]);
        check(r"\PL+", "hä1!é", &["1!"]);
        check(r"\p{Lu}\p{^Lu}", "aÄbC", &["Äb"]);
        check(r"[\p{Nd}x]+|[^\P{Greek}]", "x٣!αa", &["x٣", "α"]);
        check(r"[\PN\d]+", "½1a", &["1a"]);
        check(r"\p{Yi}\p{Any}", "ꀀa", &["ꀀa"]);
        check(r"\p{Mn}", "e\u{301}", &["\u{301}"]);
        for wrong in [r"\p", r"\p{}", r"\pX", r"\p{Greekk}", r"\p{L", r"[\p{l}]"] {
            assert!(translated(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn repetitions_are_counted() {
        check(r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", "to a.b-c@gmail.com.", &[" a.b-c@gmail.com."]);
        check(r"a{2,}|b{1,2}?|c{2}", "aaabbccc", &["aaa", "b", "b", "cc"]);
        check(r"(?i)é{2,3}", "éÉéé", &["éÉé"]);
        check(r"a{,2}|b{x}|{", "a{,2}b{x}{", &["a{,2}", "b{x}", "{"]);
    }

    #[test]
    fn case_is_ignored_beyond_ascii() {
        check(r"(?i)é+", "Éé", &["Éé"]);
        check(r"(?i:[à-é])É", "ÉÉÉé", &["ÉÉ"]);
        check(r"((?i)ß)ß", "ẞß", &["ẞß"]);
        check(r"(?i)[^σ]", "ΣΣςa", &["a"]);
        check(r"(?i)ks|(?-i)É", "\u{212A}\u{17F} é", &["\u{212A}\u{17F}"]);
        check(r"(?i)\p{Lu}i", "äIı", &["äI"]);
    }

    #[test]
    fn what_regex_lite_takes_for_syntax() {
        check(r"[[]+|[a&&b~~]+|[+--]", "[[&~a,c", &["[[", "&~a", ","]);
        check(r"[]a]+|[^]]", "]a-", &["]a", "-"]);
        check(r"[[:digit:]-]+|[[:^alpha:]]|[a\-]", "1-2 -b", &["1-2", " ", "-"]);
        check(r"\Qa.b*\E+|\Q\x", r"a.b**\x", &["a.b**", r"\x"]);
        check(r"\<b\>|a{,2}|a{2}|x{", "<b> a{,2} aa x{", &["<b>", "a{,2}", "aa", "x{"]);
        check(r"\101\x42\x{43}\0", "ABC\0", &["ABC\0"]);
        check(r"\s|\S\v", "\u{b}\u{b} ", &["\u{b}\u{b}", " "]);
        check(r"[\s.]|[^\S]", "\u{b}. ", &[".", " "]);
        check(r"(?P<n>a)(?:b)(?U)c+", "abcc", &["abc"]);
        for wrong in [r"\1", r"\C", r"(?x)a", r"[b-a]", r"[a", r"\", r"[\", r"\xg1", r"\x{110000}", r"\y"] {
            assert!(translated(wrong).is_err(), "{wrong}");
        }
    }
}
