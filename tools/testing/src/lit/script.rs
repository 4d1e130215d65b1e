//! The keywords in a test file's comments.
//!
//! A keyword is the first word of its line; only comment signs precede it. `RUN:` in any other position is an
//! error: the line would look as if it were run. A RUN line that ends in `\` continues
//! in the next one.

use std::collections::BTreeSet;

use super::feature::Condition;

/// A RUN line joined with its continuation lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLine {
    /// Number of its first line in the file.
    pub number: usize,
    /// The command line.
    pub text: String,
}

/// The keywords of a test file.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The lines to run, in order.
    pub runs: Vec<RunLine>,
    requires: Vec<(String, Condition)>,
    unsupported: Vec<(String, Condition)>,
    xfail: Vec<Condition>,
}

const KEYWORDS: [&str; 4] = ["RUN:", "REQUIRES:", "UNSUPPORTED:", "XFAIL:"];
/// Keywords of lit that are not supported.
const REFUSED: [&str; 4] = ["ALLOW_RETRIES:", "DEFINE:", "REDEFINE:", "END."];

impl Script {
    /// Parses the keywords of a test file.
    ///
    /// # Errors
    /// The problem, with its line.
    pub fn parse(file: &[u8]) -> Result<Script, String> {
        let mut script = Script::default();
        let mut open: Option<RunLine> = None;
        for (i, line) in file.split(|&b| b == b'\n').enumerate() {
            let number = i + 1;
            let line = String::from_utf8_lossy(line);
            let text = line.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end();
            if let Some(keyword) = REFUSED.iter().find(|k| text.starts_with(**k)) {
                return Err(format!("line {number}: the keyword {keyword} is not supported"));
            }
            let Some(keyword) = KEYWORDS.iter().find(|k| text.starts_with(**k)) else {
                if mentions_run(text) {
                    return Err(format!("line {number}: 'RUN:' must be the first word of its line"));
                }
                continue;
            };
            let value = text[keyword.len()..].trim();
            if *keyword == "RUN:" {
                let mut run = open.take().unwrap_or(RunLine { number, text: String::new() });
                run.text.push_str(value.strip_suffix('\\').unwrap_or(value));
                if value.ends_with('\\') {
                    run.text.push(' ');
                    open = Some(run);
                } else {
                    run.text = run.text.trim().to_owned();
                    script.runs.push(run);
                }
                continue;
            }
            for part in value.split(',').map(str::trim) {
                let located = |message| format!("line {number}: {message}");
                let condition = if part == "*" && *keyword != "REQUIRES:" {
                    Condition::Constant(true)
                } else {
                    Condition::parse(part).map_err(located)?
                };
                match *keyword {
                    "REQUIRES:" => script.requires.push((part.to_owned(), condition)),
                    "UNSUPPORTED:" => script.unsupported.push((part.to_owned(), condition)),
                    _ => script.xfail.push(condition),
                }
            }
        }
        if let Some(run) = open {
            return Err(format!("line {}: the RUN line's last line ends in '\\'", run.number));
        }
        match script.runs.iter().find(|r| r.text.is_empty()) {
            Some(run) => Err(format!("line {}: the RUN line is empty", run.number)),
            None if script.runs.is_empty() => {
                Err("no RUN line (files that others read belong in Inputs/)".to_owned())
            }
            None => Ok(script),
        }
    }

    /// The reason why the test cannot run with these features, if any.
    #[must_use]
    pub fn unmet(&self, features: &BTreeSet<String>) -> Option<String> {
        let missing =
            self.requires.iter().find(|(_, c)| !c.holds(features)).map(|(t, _)| format!("requires {t}"));
        let unsupported = || self.unsupported.iter().find(|(_, c)| c.holds(features));
        missing.or_else(|| unsupported().map(|(t, _)| format!("unsupported with {t}")))
    }

    /// True if XFAIL applies with these features.
    #[must_use]
    pub fn fails_as_expected(&self, features: &BTreeSet<String>) -> bool {
        self.xfail.iter().any(|c| c.holds(features))
    }
}

/// True if the word `RUN:` occurs in `text`.
fn mentions_run(text: &str) -> bool {
    text.match_indices("RUN:")
        .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_'))
}
