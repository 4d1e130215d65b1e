//! The checks, run over the input.
//!
//! The labels are found first, each behind the one before; they cut the input into regions. Within a region,
//! which ends with its label's match, the checks are matched in order, each in what the one before left. Then
//! the label itself is matched once more, now with what belongs before it. A check that fails ends its region;
//! the next region is still tried, so one run reports a fault per region. A label that is not found ends it all.
//!
//! Before a check come its CHECK-DAGs and CHECK-NOTs. A group of CHECK-DAGs (up to the next CHECK-NOT) matches in
//! any order but without overlap, each pattern as early as it can. The CHECK-NOTs before a group hold up to the
//! group's first match, those behind it from the group's end to the check's match.

use super::Options;
use super::directive::{Attached, Check, CheckFile};
use super::pattern::{Kind, Match, Pattern, PatternError, Variables};
use super::source::{Severity, Text, printable};

/// The check failed; its message has been written.
#[derive(Debug)]
struct Failed;

pub(crate) struct Run<'a> {
    file: &'a CheckFile,
    input: &'a Text,
    options: &'a Options,
    variables: Variables,
    report: String,
}

/// Part of the input, as offsets.
#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
}

/// Runs all checks over `input`.
///
/// # Errors
/// The messages, ready to print.
pub(crate) fn run(file: &CheckFile, input: &Text, options: &Options) -> Result<(), String> {
    let run = Run { file, input, options, variables: file.variables.clone(), report: String::new() };
    run.all()
}

impl Run<'_> {
    fn all(mut self) -> Result<(), String> {
        let checks = &self.file.checks;
        let mut failed = false;
        let mut rest = Region { start: 0, end: self.input.bytes.len() };
        let mut first = 0;
        loop {
            let label = (first..checks.len()).find(|&i| checks[i].pattern.kind == Kind::Label);
            let (next, mut region) = match label {
                None => (checks.len(), rest),
                Some(label) => {
                    let Ok(found) = self.repeated(&checks[label], rest) else {
                        return Err(self.report);
                    };
                    let region = Region { start: rest.start, end: found.end };
                    rest.start = found.end;
                    (label + 1, region)
                }
            };
            if first != 0 && self.options.enable_var_scope {
                self.variables.clear_locals();
            }
            for check in &checks[first..next] {
                match self.check(check, region) {
                    Ok(end) => region.start = end,
                    Err(Failed) => {
                        failed = true;
                        break;
                    }
                }
            }
            first = next;
            if label.is_none() {
                return if failed { Err(self.report) } else { Ok(()) };
            }
        }
    }

    /// Finds `pattern` in `region`, in offsets of the input.
    fn find(&mut self, pattern: &Pattern, region: Region) -> Result<Option<Match>, Vec<PatternError>> {
        let text = &self.input.bytes[region.start..region.end];
        let Some(mut found) = pattern.find(text, &mut self.variables)? else { return Ok(None) };
        found.start += region.start;
        found.end += region.start;
        for (_, start, end) in &mut found.captures {
            *start += region.start;
            *end += region.start;
        }
        Ok(Some(found))
    }

    /// The check with all that belongs before it; answers where the rest begins.
    fn check(&mut self, check: &Check, region: Region) -> Result<usize, Failed> {
        let (start, nots) = self.before(check, region)?;
        let found = self.repeated(check, Region { start, end: region.end })?;
        let skipped = Region { start, end: found.start };
        self.line_distance(check, skipped, found)?;
        self.absent(&nots, skipped)?;
        Ok(found.end)
    }

    /// The check's own pattern, as often as it asks for.
    fn repeated(&mut self, check: &Check, region: Region) -> Result<Region, Failed> {
        let count = if let Kind::Plain(count) = check.pattern.kind { count } else { 1 };
        let mut all: Option<Region> = None;
        let mut rest = region;
        for number in 1..=count {
            let found = match self.find(&check.pattern, rest) {
                Ok(Some(found)) => found,
                Ok(None) => {
                    return Err(self.not_found(
                        &check.pattern,
                        &check.prefix,
                        0,
                        rest,
                        Some((number, count)),
                    ));
                }
                Err(error) => return Err(self.bad_pattern(0, &error)),
            };
            all = Some(Region { start: all.map_or(found.start, |all| all.start), end: found.end });
            if found.start == rest.start && found.end == rest.start {
                // An empty match here is found as often as anyone asks.
                break;
            }
            rest.start = found.end;
        }
        Ok(all.unwrap_or(Region { start: region.start, end: region.start }))
    }

    /// CHECK-NEXT, CHECK-EMPTY and CHECK-SAME: how many lines lie between the matches.
    fn line_distance(&mut self, check: &Check, skipped: Region, found: Region) -> Result<(), Failed> {
        let newlines = count_newlines(&self.input.bytes[skipped.start..skipped.end]);
        let problem = match (check.pattern.kind, newlines) {
            (Kind::Next | Kind::Empty, 0) => "is on the same line as previous match",
            (Kind::Next | Kind::Empty, 2..) => "is not on the line after the previous match",
            (Kind::Same, 1..) => "is not on the same line as the previous match",
            _ => return Ok(()),
        };
        let name = check.pattern.kind.name(&check.prefix);
        self.error(0, check.pattern.at, &format!("{name}: {problem}"));
        let kind = if check.pattern.kind == Kind::Same { "same" } else { "next" };
        self.note(found.start, &format!("'{kind}' match was here"));
        self.note(skipped.start, "previous match ended here");
        Err(Failed)
    }

    /// The CHECK-DAGs and CHECK-NOTs before a check. Answers where the check's own search begins and which
    /// CHECK-NOTs are still to be held against what lies before its match.
    fn before<'c>(&mut self, check: &'c Check, region: Region) -> Result<(usize, Vec<&'c Attached>), Failed> {
        let mut start = region.start;
        let mut nots: Vec<&Attached> = Vec::new();
        // The group's matches so far, in order.
        let mut matches: Vec<Match> = Vec::new();
        for (i, attached) in check.before.iter().enumerate() {
            if attached.pattern.kind == Kind::Not {
                nots.push(attached);
                continue;
            }
            self.dag(attached, Region { start, end: region.end }, &mut matches)?;
            let group_ends = check.before.get(i + 1).is_none_or(|next| next.pattern.kind == Kind::Not);
            if group_ends && let (Some(first), Some(last)) = (matches.first(), matches.last()) {
                let skipped = Region { start, end: first.start };
                start = last.end;
                self.absent(&nots, skipped)?;
                nots.clear();
                matches.clear();
            }
        }
        Ok((start, nots))
    }

    /// One CHECK-DAG: the first match that overlaps none of `matches`, to which it is added.
    fn dag(&mut self, attached: &Attached, region: Region, matches: &mut Vec<Match>) -> Result<(), Failed> {
        let mut rest = region;
        let mut next = 0;
        loop {
            let found = match self.find(&attached.pattern, rest) {
                Ok(Some(found)) => found,
                Ok(None) => {
                    return Err(self.not_found(
                        &attached.pattern,
                        &attached.prefix,
                        attached.text,
                        rest,
                        None,
                    ));
                }
                Err(error) => return Err(self.bad_pattern(attached.text, &error)),
            };
            while next < matches.len() && found.start >= matches[next].end {
                next += 1;
            }
            match matches.get(next) {
                Some(old) if old.start < found.end => {
                    rest.start = old.end;
                    next += 1;
                }
                _ => {
                    matches.insert(next, found);
                    return Ok(());
                }
            }
        }
    }

    /// None of `nots` may match in `region`; reports all that do.
    fn absent(&mut self, nots: &[&Attached], region: Region) -> Result<(), Failed> {
        let mut outcome = Ok(());
        for not in nots {
            match self.find(&not.pattern, region) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let name = not.pattern.kind.name(&not.prefix);
                    self.error(not.text, not.pattern.at, &format!("{name}: excluded string found in input"));
                    self.note(found.start, "found here");
                    outcome = Err(Failed);
                }
                Err(error) => outcome = Err(self.bad_pattern(not.text, &error)),
            }
        }
        outcome
    }

    fn bad_pattern(&mut self, text: usize, errors: &[PatternError]) -> Failed {
        for error in errors {
            self.error(text, error.at, &error.message);
        }
        Failed
    }

    fn not_found(
        &mut self,
        pattern: &Pattern,
        prefix: &str,
        text: usize,
        region: Region,
        count: Option<(u32, u32)>,
    ) -> Failed {
        let name = pattern.kind.name(prefix);
        let number = match count {
            Some((number, count)) if count > 1 => format!(" ({number} out of {count})"),
            _ => String::new(),
        };
        self.error(text, pattern.at, &format!("{name}: expected string not found in input{number}"));
        self.note(region.start, "scanning from here");
        for (name, value) in pattern.uses(&self.variables) {
            let note = format!("with \"{name}\" equal to \"{}\"", printable(&value).escape_debug());
            self.input.message(&mut self.report, region.start, Severity::Note, &note);
        }
        let searched = &self.input.bytes[region.start..region.end];
        if let Some(likely) = fuzzy_match(searched, pattern.example()) {
            self.note(region.start + likely, "possible intended match here");
        }
        Failed
    }

    fn error(&mut self, text: usize, at: usize, message: &str) {
        self.file.texts[text].message(&mut self.report, at, Severity::Error, message);
    }

    fn note(&mut self, at: usize, message: &str) {
        self.input.message(&mut self.report, at, Severity::Note, message);
    }
}

/// How many bytes behind the beginning of a search are looked at for what may have been meant.
const MAX_FUZZY: usize = 4096;

/// Where in `text` a line begins that differs least from `example`: a hint, nothing more, in LLVM's measure.
fn fuzzy_match(text: &[u8], example: &[u8]) -> Option<usize> {
    let n_starts = text.len().min(MAX_FUZZY);
    if MAX_FUZZY * 2048 < n_starts * example.len() {
        return None;
    }
    let mut n_lines = 0;
    let mut best: Option<(f64, usize)> = None;
    for (at, byte) in text[..n_starts].iter().enumerate() {
        n_lines += u32::from(*byte == b'\n');
        if matches!(byte, b' ' | b'\t') {
            continue;
        }
        let rest = &text[at..text.len().min(at + example.len())];
        let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
        let quality = f64::from(edit_distance(line, example)) + f64::from(n_lines) / 100.0;
        if best.is_none_or(|(least, _)| quality < least) {
            best = Some((quality, at));
        }
    }
    best.filter(|&(quality, at)| at != 0 && quality < 50.0).map(|(_, at)| at)
}

/// How many bytes must be inserted, removed or replaced to make `a` of `b`.
fn edit_distance(a: &[u8], b: &[u8]) -> u32 {
    let mut row: Vec<u32> = (0..).take(b.len() + 1).collect();
    for x in a {
        let mut diagonal = row[0];
        row[0] += 1;
        for (i, y) in b.iter().enumerate() {
            let replaced = diagonal + u32::from(x != y);
            diagonal = row[i + 1];
            row[i + 1] = replaced.min(diagonal.min(row[i]) + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Line ends; `\r\n` and `\n\r` are one.
fn count_newlines(text: &[u8]) -> usize {
    let newline = |b: Option<&u8>| b.copied().filter(|b| matches!(b, b'\n' | b'\r'));
    let mut count = 0;
    let mut at = 0;
    while at < text.len() {
        if let Some(byte) = newline(text.get(at)) {
            count += 1;
            at += usize::from(newline(text.get(at + 1)).is_some_and(|next| next != byte));
        }
        at += 1;
    }
    count
}
