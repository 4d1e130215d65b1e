//! The execution of the checks over the input.
//!
//! The labels are found first, each after the one before; they divide the input into regions. Within a
//! region, which ends with its label's match, the checks are matched in order, each in the rest left by the
//! one before. Then the label itself is matched once more, now with its attached checks. A check that fails
//! ends its region; the next region is still tried, so one run reports one fault per region. A label that is
//! not found ends the run.
//!
//! CHECK-DAGs and CHECK-NOTs precede a check. A group of CHECK-DAGs (up to the next CHECK-NOT) matches in any
//! order but without overlap, each pattern as early as possible. The CHECK-NOTs before a group apply up to
//! the group's first match, those after it from the group's end to the check's match.

use super::Options;
use super::directive::{Attached, Check, CheckFile};
use super::dump::{Event, EventKind, Verbosity};
use super::pattern::{Kind, Match, Pattern, PatternError, Variables};
use super::source::{Severity, Text, printable};

/// The check failed; its message has been written.
#[derive(Debug)]
struct Failed;

/// The result of all checks.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) passed: bool,
    /// Messages, ready to print.
    pub(crate) messages: String,
    /// For the dump of the input.
    pub(crate) events: Vec<Event>,
}

struct Run<'a> {
    file: &'a CheckFile,
    input: &'a Text,
    options: &'a Options,
    variables: Variables,
    messages: String,
    /// The events for the dump; `None` if there is no dump.
    events: Option<Vec<Event>>,
}

/// A directive's pattern and its position.
#[derive(Clone, Copy)]
struct Line<'a> {
    pattern: &'a Pattern,
    prefix: &'a str,
    text: usize,
    /// The index of this match, and the number of matches, of a CHECK-COUNT.
    number: (u32, u32),
}

impl<'a> Line<'a> {
    fn of(check: &'a Check) -> Line<'a> {
        Line { pattern: &check.pattern, prefix: &check.prefix, text: 0, number: (1, 1) }
    }

    fn attached(attached: &'a Attached) -> Line<'a> {
        Line { pattern: &attached.pattern, prefix: &attached.prefix, text: attached.text, number: (1, 1) }
    }

    fn name(self) -> String {
        self.pattern.kind.name(self.prefix)
    }

    fn number_text(self) -> String {
        match self.number {
            (_, ..=1) => String::new(),
            (number, count) => format!(" ({number} out of {count})"),
        }
    }
}

/// Most empty matches of one CHECK-COUNT at one position; the rest is assumed to match.
const MAX_EMPTY: u32 = 100;

/// Part of the input, as offsets.
#[derive(Clone, Copy)]
struct Region {
    start: usize,
    end: usize,
}

/// Runs all checks over `input`.
pub(crate) fn run(file: &CheckFile, input: &Text, options: &Options, dump: bool) -> Report {
    let variables = file.variables.clone();
    let events = dump.then(Vec::new);
    let mut run = Run { file, input, options, variables, messages: String::new(), events };
    let passed = run.all().is_ok();
    Report { passed, messages: run.messages, events: run.events.unwrap_or_default() }
}

impl Run<'_> {
    fn all(&mut self) -> Result<(), Failed> {
        let checks = &self.file.checks;
        let mut failed = false;
        let mut rest = Region { start: 0, end: self.input.bytes.len() };
        let mut first = 0;
        loop {
            let label = (first..checks.len()).find(|&i| checks[i].pattern.kind == Kind::Label);
            let (next, mut region) = match label {
                None => (checks.len(), rest),
                Some(label) => {
                    let found = self.repeated(&checks[label], rest)?;
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
                return if failed { Err(Failed) } else { Ok(()) };
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

    /// Runs the check with its attached checks. Returns the start of the rest.
    fn check(&mut self, check: &Check, region: Region) -> Result<usize, Failed> {
        let (start, nots) = self.before(check, region)?;
        let found = self.repeated(check, Region { start, end: region.end })?;
        let skipped = Region { start, end: found.start };
        self.line_distance(check, skipped, found)?;
        self.absent(&nots, skipped)?;
        Ok(found.end)
    }

    /// Finds a required match, and reports it.
    fn expect(&mut self, line: Line<'_>, region: Region) -> Result<Match, Failed> {
        match self.find(line.pattern, region) {
            Ok(Some(found)) => {
                self.found(line, EventKind::Found, &found);
                Ok(found)
            }
            Ok(None) => Err(self.not_found(line, region)),
            Err(errors) => Err(self.bad_pattern(line, region, &errors)),
        }
    }

    /// Matches the check's own pattern, repeatedly for CHECK-COUNT.
    fn repeated(&mut self, check: &Check, region: Region) -> Result<Region, Failed> {
        let count = if let Kind::Plain(count) = check.pattern.kind { count } else { 1 };
        let mut all: Option<Region> = None;
        let mut rest = region;
        for number in 1..=count {
            let line = Line { number: (number, count), ..Line::of(check) };
            let found = self.expect(line, rest)?;
            all = Some(Region { start: all.map_or(found.start, |all| all.start), end: found.end });
            if number >= MAX_EMPTY && found.start == rest.start && found.end == rest.start {
                break;
            }
            rest.start = found.end;
        }
        Ok(all.unwrap_or(Region { start: region.start, end: region.start }))
    }

    /// CHECK-NEXT, CHECK-EMPTY and CHECK-SAME: checks the number of lines between the matches.
    fn line_distance(&mut self, check: &Check, skipped: Region, found: Region) -> Result<(), Failed> {
        let newlines = count_newlines(&self.input.bytes[skipped.start..skipped.end]);
        let problem = match (check.pattern.kind, newlines) {
            (Kind::Next | Kind::Empty, 0) => "is on the same line as previous match",
            (Kind::Next | Kind::Empty, 2..) => "is not on the line after the previous match",
            (Kind::Same, 1..) => "is not on the same line as the previous match",
            _ => return Ok(()),
        };
        let line = Line::of(check);
        self.error(line, check.pattern.at, &format!("{}: {problem}", line.name()));
        let kind = if check.pattern.kind == Kind::Same { "same" } else { "next" };
        self.note(found.start, &format!("'{kind}' match was here"));
        self.note(skipped.start, "previous match ended here");
        if self.options.verbosity >= Verbosity::Matches {
            self.change_last(EventKind::FoundOnWrongLine);
        } else {
            self.event(line, EventKind::FoundOnWrongLine, found, None);
        }
        Err(Failed)
    }

    /// Runs the CHECK-DAGs and CHECK-NOTs before a check. Returns the start of the check's own search and the
    /// CHECK-NOTs still to be applied before its match.
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
            let line = Line::attached(attached);
            let found = match self.find(&attached.pattern, rest) {
                Ok(Some(found)) => found,
                Ok(None) => return Err(self.not_found(line, rest)),
                Err(errors) => return Err(self.bad_pattern(line, rest, &errors)),
            };
            // Without -vv only the final match is reported.
            if self.options.verbosity == Verbosity::All {
                self.found(line, EventKind::Found, &found);
            }
            while next < matches.len() && found.start >= matches[next].end {
                next += 1;
            }
            match matches.get(next) {
                Some(old) if old.start < found.end => {
                    if self.options.verbosity == Verbosity::All {
                        self.change_last(EventKind::Discarded);
                        if self.events.is_none() {
                            self.note(old.start, "match discarded, overlaps earlier DAG match here");
                        }
                    }
                    rest.start = old.end;
                    next += 1;
                }
                _ => {
                    if self.options.verbosity != Verbosity::All {
                        self.found(line, EventKind::Found, &found);
                    }
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
            let line = Line::attached(not);
            match self.find(&not.pattern, region) {
                Ok(None) => self.rightly_not_found(line, region),
                Ok(Some(found)) => {
                    self.found(line, EventKind::FoundButExcluded, &found);
                    outcome = Err(Failed);
                }
                Err(errors) => outcome = Err(self.bad_pattern(line, region, &errors)),
            }
        }
        outcome
    }

    /// Reports a match: as a fault, or on request.
    fn found(&mut self, line: Line<'_>, outcome: EventKind, found: &Match) {
        let is_error = outcome.is_error();
        let wanted = match line.pattern.kind {
            Kind::EndOfFile => Verbosity::All,
            _ => Verbosity::Matches,
        };
        if !is_error && self.options.verbosity < wanted {
            return;
        }
        let region = Region { start: found.start, end: found.end };
        self.event(line, outcome, region, None);
        let mut notes = self.uses(line, found.start);
        notes.extend(found.captures.iter().map(|(name, start, end)| {
            (Region { start: *start, end: *end }, format!("captured var \"{name}\""))
        }));
        if is_error || self.events.is_none() {
            let (severity, what) = match outcome {
                EventKind::Found => (Severity::Remark, "expected"),
                _ => (Severity::Error, "excluded"),
            };
            let message = format!("{}: {what} string found in input{}", line.name(), line.number_text());
            self.message(line, line.pattern.at, severity, &message);
            self.note(found.start, "found here");
            for (region, note) in &notes {
                self.note(region.start, note);
            }
        }
        for (region, note) in notes {
            self.event(line, outcome, region, Some(note));
        }
    }

    /// The variables and expressions that the pattern uses, as notes at `at`.
    fn uses(&self, line: Line<'_>, at: usize) -> Vec<(Region, String)> {
        let note = |(name, value): (&str, Vec<u8>)| {
            let note =
                format!("with \"{}\" equal to \"{}\"", name.escape_debug(), printable(&value).escape_debug());
            (Region { start: at, end: at }, note)
        };
        line.pattern.uses(&self.variables).into_iter().map(note).collect()
    }

    /// Reports a CHECK-NOT that holds.
    fn rightly_not_found(&mut self, line: Line<'_>, region: Region) {
        if self.options.verbosity < Verbosity::All {
            return;
        }
        self.event(line, EventKind::RightlyNotFound, region, None);
        for (region, note) in self.uses(line, region.start) {
            self.event(line, EventKind::RightlyNotFound, region, Some(note));
        }
        if self.events.is_none() {
            let message = format!("{}: excluded string not found in input", line.name());
            self.message(line, line.pattern.at, Severity::Remark, &message);
            self.note(region.start, "scanning from here");
        }
    }

    fn bad_pattern(&mut self, line: Line<'_>, region: Region, errors: &[PatternError]) -> Failed {
        self.event(line, EventKind::BadPattern, region, None);
        let point = Region { start: region.start, end: region.start };
        for error in errors {
            self.error(line, error.at, &error.message);
            self.event(line, EventKind::BadPattern, point, Some(error.message.clone()));
        }
        for (region, note) in self.uses(line, region.start) {
            self.event(line, EventKind::BadPattern, region, Some(note));
        }
        if line.pattern.kind != Kind::Not {
            self.hint(line, region);
        }
        Failed
    }

    fn not_found(&mut self, line: Line<'_>, region: Region) -> Failed {
        let message = format!("{}: expected string not found in input{}", line.name(), line.number_text());
        self.error(line, line.pattern.at, &message);
        self.note(region.start, "scanning from here");
        self.event(line, EventKind::NotFound, region, None);
        for (region, note) in self.uses(line, region.start) {
            self.note(region.start, &note);
            self.event(line, EventKind::NotFound, region, Some(note));
        }
        self.hint(line, region);
        Failed
    }

    /// Reports a possible intended match.
    fn hint(&mut self, line: Line<'_>, region: Region) {
        let searched = &self.input.bytes[region.start..region.end];
        if let Some(likely) = fuzzy_match(searched, line.pattern.example()) {
            let at = region.start + likely;
            self.note(at, "possible intended match here");
            self.event(line, EventKind::FuzzyMatch, Region { start: at, end: at }, None);
        }
    }

    fn event(&mut self, line: Line<'_>, outcome: EventKind, region: Region, note: Option<String>) {
        if let Some(events) = &mut self.events {
            let site = (line.text, line.pattern.at);
            let Region { start, end } = region;
            events.push(Event { site, kind: line.pattern.kind, outcome, start, end, note });
        }
    }

    /// Changes the outcome of the events of the last directive.
    fn change_last(&mut self, outcome: EventKind) {
        let Some(events) = &mut self.events else { return };
        let last = events.last().map(|event| event.site);
        for event in events.iter_mut().rev().take_while(|event| Some(event.site) == last) {
            event.outcome = outcome;
        }
    }

    fn error(&mut self, line: Line<'_>, at: usize, message: &str) {
        self.message(line, at, Severity::Error, message);
    }

    fn message(&mut self, line: Line<'_>, at: usize, severity: Severity, message: &str) {
        self.file.texts[line.text].message(&mut self.messages, at, severity, message);
    }

    fn note(&mut self, at: usize, message: &str) {
        self.input.message(&mut self.messages, at, Severity::Note, message);
    }
}

/// The number of bytes after the start of a search that are examined for a possible intended match.
const MAX_FUZZY: usize = 4096;

/// The position of the line in `text` that differs least from `example`, by LLVM's measure: only a hint.
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

/// The number of bytes to insert, remove or replace to turn `b` into `a`.
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

/// Counts line ends; `\r\n` and `\n\r` are one.
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
