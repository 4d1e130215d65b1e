//! The patterns of directives, and their matching.
//!
//! ```text
//! foo            fixed text, also `CHECK{LITERAL}: [[x]]`
//! {{a|b}}        a regular expression
//! [[X:re]]       the same, and its match is stored in variable X
//! [[X]]          the text of X: from an earlier line, from `-D`, or from earlier on this line
//! [[#%x,N:N+1]]  a number, optionally computed and stored (`numeric.rs`); older spelling `[[@LINE+1]]`
//! ```
//!
//! A pattern with only fixed text is searched for directly. Otherwise its parts are joined to one regular
//! expression when it is matched, because only then the variables' values are known. The numbering of groups
//! is LLVM's, which is visible to `\1` in an expression: a variable is a group, and so is `{{..}}` if it
//! contains a `|` anywhere after its beginning.

use std::collections::BTreeMap;

use super::Options;
use super::numeric::{self, Block, Mode, Names, Numbers, Slot};
use super::regex::{Node, Regex, parse};

/// The kind of a pattern's directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// With the required number of matches.
    Plain(u32),
    Next,
    Same,
    Not,
    Dag,
    Label,
    Empty,
    /// The end of the input, after trailing CHECK-NOT and CHECK-DAG.
    EndOfFile,
}

impl Kind {
    /// The directive's name for `prefix`.
    pub(crate) fn name(self, prefix: &str) -> String {
        let suffix = match self {
            Kind::Plain(1) | Kind::EndOfFile => "",
            Kind::Plain(_) => "-COUNT",
            Kind::Next => "-NEXT",
            Kind::Same => "-SAME",
            Kind::Not => "-NOT",
            Kind::Dag => "-DAG",
            Kind::Label => "-LABEL",
            Kind::Empty => "-EMPTY",
        };
        format!("{prefix}{suffix}")
    }
}

/// A directive's pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) kind: Kind,
    /// The position of the pattern in its text.
    pub(crate) at: usize,
    body: Body,
    ignore_case: bool,
}

#[derive(Clone, Debug)]
enum Body {
    Fixed(Vec<u8>),
    EmptyLine,
    EndOfFile,
    Parts {
        parts: Vec<PatternPart>,
        n_groups: u32,
        definitions: Vec<StringDefinition>,
        line: usize,
        example: Vec<u8>,
    },
}

/// A variable that the pattern defines.
#[derive(Clone, Debug)]
struct StringDefinition {
    name: String,
    /// The group with its text.
    group: u32,
    number: Option<numeric::Definition>,
}

/// A piece of a pattern that has more than fixed text.
#[derive(Clone, Debug)]
enum PatternPart {
    Regex(Node),
    Variable {
        name: String,
        at: usize,
    },
    /// The value of an expression, with the text of its block.
    Number {
        block: Block,
        text: String,
        /// The group's number, if it is stored in a variable.
        group: Option<u32>,
    },
}

/// An error in the check file, with its byte offset.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// The position of a match, relative to the searched text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The captured variables, in the order of the text, with their positions.
    pub(crate) captures: Vec<(String, usize, usize)>,
}

impl Match {
    fn plain(start: usize, end: usize) -> Match {
        Match { start, end, captures: Vec::new() }
    }
}

/// The variables' values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    pub(crate) strings: BTreeMap<String, Vec<u8>>,
    pub(crate) numbers: Numbers,
    /// The numeric variables cleared at the next label.
    pub(crate) local_numbers: Vec<Slot>,
}

impl Variables {
    /// Clears all variables except those with `$`. Numbers are cleared only the first time: as in LLVM,
    /// definitions between later labels stay.
    pub(crate) fn clear_locals(&mut self) {
        self.strings.retain(|name, _| name.starts_with('$'));
        for slot in std::mem::take(&mut self.local_numbers) {
            self.numbers.clear(slot);
        }
    }
}

/// The position of a pattern.
#[derive(Clone, Copy)]
pub(crate) struct PatternPlace<'a> {
    /// The directive's prefix, for messages.
    pub(crate) prefix: &'a str,
    /// Byte offset of the pattern in its text.
    pub(crate) at: usize,
    /// Line number of the directive.
    pub(crate) line: usize,
}

impl Pattern {
    /// The pattern that matches the end of the input.
    pub(crate) fn end_of_file(at: usize) -> Pattern {
        Pattern { kind: Kind::EndOfFile, at, body: Body::EndOfFile, ignore_case: false }
    }

    /// Parses the rest of a directive's line.
    ///
    /// # Errors
    /// The position of the problem.
    pub(crate) fn parse(
        kind: Kind,
        literal: bool,
        text: &[u8],
        place: PatternPlace<'_>,
        options: &Options,
        names: &mut Names,
    ) -> Result<Pattern, PatternError> {
        let PatternPlace { prefix, at, line } = place;
        let exact_lines = options.match_full_lines && options.strict_whitespace;
        let text = if exact_lines { text } else { without_trailing_blanks(text) };
        let error = |message: String| Err(PatternError { at, message });
        let pattern = |body| Pattern { kind, at, body, ignore_case: options.ignore_case };
        if kind == Kind::Empty {
            if text.is_empty() {
                return Ok(pattern(Body::EmptyLine));
            }
            return error(format!("found text behind '{prefix}-EMPTY:', which takes none"));
        }
        if text.is_empty() {
            return error(format!("found empty check string with prefix '{prefix}:'"));
        }
        let full_line = options.match_full_lines && kind != Kind::Not;
        let has_blocks = text.windows(2).any(|w| w == b"{{" || w == b"[[");
        if literal || (!full_line && !has_blocks) {
            return Ok(pattern(Body::Fixed(text.to_vec())));
        }
        let mut reader = PatternReader {
            text,
            base: at,
            line,
            names,
            ignore_case: options.ignore_case,
            next_group: 1,
            parts: Vec::new(),
            definitions: Vec::new(),
            example: Vec::new(),
        };
        let border = if options.strict_whitespace { "" } else { " *" };
        if full_line {
            reader.push_own(&format!("^{border}"))?;
        }
        reader.read()?;
        if full_line {
            reader.push_own(&format!("{border}$"))?;
        }
        let PatternReader { parts, next_group: n_groups, mut definitions, example, .. } = reader;
        // LLVM's order, which is visible if two captures begin at the same byte.
        definitions.sort_by(|a, b| (a.number.is_some(), &a.name).cmp(&(b.number.is_some(), &b.name)));
        Ok(pattern(Body::Parts { parts, n_groups, definitions, line, example }))
    }

    /// True if the pattern uses a variable or an expression, or defines a string variable.
    pub(crate) fn has_variable(&self) -> bool {
        let Body::Parts { parts, definitions, .. } = &self.body else { return false };
        definitions.iter().any(|d| d.number.is_none())
            || parts.iter().any(|p| !matches!(p, PatternPart::Regex(_)))
    }

    /// The fixed text, or the regular expression without the variables' values.
    pub(crate) fn example(&self) -> &[u8] {
        match &self.body {
            Body::Fixed(fixed) => fixed,
            Body::Parts { example, .. } => example,
            Body::EmptyLine => b"(\n$)",
            Body::EndOfFile => b"",
        }
    }

    /// The variables and expressions that the pattern uses, with their current values, for notes.
    pub(crate) fn uses(&self, variables: &Variables) -> Vec<(&str, Vec<u8>)> {
        let Body::Parts { parts, line, .. } = &self.body else { return Vec::new() };
        let value = |part| match part {
            &PatternPart::Regex(_) => None,
            PatternPart::Variable { name, at: _ } => {
                Some((name.as_str(), variables.strings.get(name)?.clone()))
            }
            PatternPart::Number { block, text, group: _ } => {
                Some((text.as_str(), block.text(&variables.numbers, *line).ok()?.into_bytes()))
            }
        };
        parts.iter().filter_map(value).collect()
    }

    /// The first match in `text`, whose ends count as line ends. Defines the pattern's variables.
    ///
    /// # Errors
    /// If the pattern uses variables without a value, or the search exceeds its bounds.
    pub(crate) fn find(
        &self,
        text: &[u8],
        variables: &mut Variables,
    ) -> Result<Option<Match>, Vec<PatternError>> {
        let error = |message: &str| vec![PatternError { at: self.at, message: message.to_owned() }];
        let (parts, n_groups, definitions, line) = match &self.body {
            Body::EndOfFile => return Ok(Some(Match::plain(text.len(), text.len()))),
            Body::Fixed(fixed) => {
                let start = position(text, fixed, self.ignore_case);
                return Ok(start.map(|start| Match::plain(start, start + fixed.len())));
            }
            Body::EmptyLine => {
                let newline = (0..text.len())
                    .find(|&i| text[i] == b'\n' && text.get(i + 1).is_none_or(|&next| next == b'\n'));
                return Ok(newline.map(|i| Match::plain(i + 1, i + 1)));
            }
            Body::Parts { parts, n_groups, definitions, line, example: _ } => {
                (parts, *n_groups, definitions, *line)
            }
        };
        let nodes = self.nodes(parts, line, variables)?;
        if nodes.iter().all(|n| matches!(n, Node::Concat(inside) if inside.is_empty())) {
            return Err(error("the pattern is empty, because its variables are"));
        }
        let too_complex = |_| error("the back-references of this pattern need too much search");
        let regex = Regex::new(Node::Concat(nodes), n_groups).map_err(too_complex)?;
        let Some(found) = regex.find(text).map_err(too_complex)? else {
            return Ok(None);
        };
        let mut captures = Vec::new();
        for StringDefinition { name, group, number } in definitions {
            let (start, end) = found.groups.get(*group as usize).copied().flatten().unwrap_or((0, 0));
            let value = &text[start..end];
            match number {
                None => _ = variables.strings.insert(name.clone(), value.to_vec()),
                Some(number) => variables.numbers.define(number, value).map_err(|message| error(&message))?,
            }
            captures.push((name.clone(), start, end));
        }
        captures.sort_by_key(|(_, start, _)| *start);
        Ok(Some(Match { start: found.start, end: found.end, captures }))
    }

    /// The parts with the current values, or all variables without one.
    fn nodes(
        &self,
        parts: &[PatternPart],
        line: usize,
        variables: &Variables,
    ) -> Result<Vec<Node>, Vec<PatternError>> {
        let mut nodes = Vec::with_capacity(parts.len());
        let mut errors = Vec::new();
        for part in parts {
            match part {
                PatternPart::Regex(node) => nodes.push(node.clone()),
                PatternPart::Variable { name, at } => match variables.strings.get(name) {
                    Some(value) => nodes.push(Node::literal(value, self.ignore_case)),
                    None => {
                        errors.push(PatternError { at: *at, message: format!("undefined variable: {name}") });
                    }
                },
                PatternPart::Number { block, text: _, group } => match block.text(&variables.numbers, line) {
                    Ok(value) => {
                        let node = Node::literal(value.as_bytes(), self.ignore_case);
                        nodes.push(in_group(*group, node));
                    }
                    Err(why) => errors.extend(why),
                },
            }
        }
        if errors.is_empty() { Ok(nodes) } else { Err(errors) }
    }
}

fn in_group(group: Option<u32>, node: Node) -> Node {
    match group {
        Some(group) => Node::Group(group, Box::new(node)),
        None => node,
    }
}

/// The first position of `needle` in `text`.
fn position(text: &[u8], needle: &[u8], ignore_case: bool) -> Option<usize> {
    let Some(&first) = needle.first() else { return Some(0) };
    let last_start = text.len().checked_sub(needle.len())?;
    let same = |a: &u8, b: u8| if ignore_case { a.eq_ignore_ascii_case(&b) } else { *a == b };
    let mut at = 0;
    while at <= last_start {
        at += text[at..=last_start].iter().position(|b| same(b, first))?;
        let window = &text[at..at + needle.len()];
        if if ignore_case { window.eq_ignore_ascii_case(needle) } else { window == needle } {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The position of `needle` in `text` at or after `from`.
fn find_from(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    position(text.get(from..)?, needle, false).map(|at| from + at)
}

/// `text` up to its last byte that is neither a blank nor a tab.
fn without_trailing_blanks(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|b| !matches!(b, b' ' | b'\t')).map_or(0, |last| last + 1);
    &text[..end]
}

/// The parser of a pattern's blocks.
struct PatternReader<'a, 'n> {
    text: &'a [u8],
    /// Offset of `text` in the check file.
    base: usize,
    line: usize,
    names: &'n mut Names,
    ignore_case: bool,
    next_group: u32,
    parts: Vec<PatternPart>,
    definitions: Vec<StringDefinition>,
    /// The whole pattern as a regular expression, without values.
    example: Vec<u8>,
}

impl PatternReader<'_, '_> {
    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, PatternError> {
        Err(PatternError { at: self.base + at, message: message.into() })
    }

    /// Adds an expression of our own, without groups.
    fn push_own(&mut self, expression: &str) -> Result<(), PatternError> {
        let node = self.expression(expression.as_bytes(), 0)?;
        self.example.extend(expression.bytes());
        self.parts.push(PatternPart::Regex(node));
        Ok(())
    }

    /// Parses an expression at `at` and counts its groups.
    fn expression(&mut self, expression: &[u8], at: usize) -> Result<Node, PatternError> {
        match parse(expression, self.next_group, self.ignore_case) {
            Ok(parsed) => {
                self.next_group += parsed.n_groups;
                Ok(parsed.node)
            }
            Err(why) => self.error(at, format!("invalid regex: {why}")),
        }
    }

    fn read(&mut self) -> Result<(), PatternError> {
        let text = self.text;
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if rest.starts_with(b"{{") {
                let Some(end) = find_from(text, b"}}", at) else {
                    return self.error(at, "found start of regex string with no end '}}'");
                };
                let alternation = rest.contains(&b'|');
                let group = self.next_group;
                self.next_group += u32::from(alternation);
                let node = self.expression(&text[at + 2..end], at + 2)?;
                let node = if alternation { Node::Group(group, Box::new(node)) } else { node };
                self.check_references(&node, at + 2)?;
                self.parts.push(PatternPart::Regex(node));
                self.push_example(&text[at + 2..end], alternation);
                at = end + 2;
            } else if rest.starts_with(b"[[") && !rest.starts_with(b"[[[") {
                let end = self.block_end(at + 2)?;
                self.block(at + 2, end)?;
                at = end + 2;
            } else {
                let next = [find_from(text, b"{{", at + 1), find_from(text, b"[[", at + 1)];
                let end = next.into_iter().flatten().min().unwrap_or(text.len());
                self.parts.push(PatternPart::Regex(Node::literal(&text[at..end], self.ignore_case)));
                for byte in &text[at..end] {
                    self.example.extend(br"()^$|*+?.[]\{}".contains(byte).then_some(b'\\'));
                    self.example.push(*byte);
                }
                at = end;
            }
        }
        Ok(())
    }

    /// The position of the `]]` that ends the block whose inside begins at `from`.
    fn block_end(&self, from: usize) -> Result<usize, PatternError> {
        let mut depth = 0;
        let mut at = from;
        while at < self.text.len() {
            let rest = &self.text[at..];
            if depth == 0 && rest.starts_with(b"]]") {
                return Ok(at);
            }
            match rest[0] {
                b'\\' => at += 1,
                b'[' => depth += 1,
                b']' if depth == 0 => return self.error(at, "missing closing \"]\" for regex variable"),
                b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        self.error(from - 2, "substitution block without its closing ]]")
    }

    /// Parses the block whose inside is `start..end`.
    fn block(&mut self, start: usize, end: usize) -> Result<(), PatternError> {
        let inside = &self.text[start..end];
        if let [b'#', expression @ ..] = inside {
            return self.number(expression, start + 1, false);
        }
        let colon = inside.iter().position(|&b| b == b':');
        let head = &inside[..colon.unwrap_or(inside.len())];
        if let Some(blank) = head.iter().position(|b| matches!(b, b' ' | b'\t')) {
            return self.error(start + blank, "unexpected whitespace");
        }
        if head.first() == Some(&b'@') {
            if colon.is_some() {
                return self.error(start, "invalid name in string variable definition");
            }
            return self.number(inside, start, true);
        }
        let Some(name) = variable_name(head) else {
            let problem = if head.is_empty() { "empty variable name" } else { "invalid variable name" };
            return self.error(start, problem);
        };
        if colon.is_some() {
            if !self.names.define_string(&name) {
                return self.error(start, format!("numeric variable with name '{name}' already exists"));
            }
            let group = self.next_group;
            self.next_group += 1;
            let expression = &inside[head.len() + 1..];
            let at = start + head.len() + 1;
            let node = if expression.is_empty() {
                Node::Concat(Vec::new())
            } else {
                self.expression(expression, at)?
            };
            let node = Node::Group(group, Box::new(node));
            self.check_references(&node, at)?;
            self.parts.push(PatternPart::Regex(node));
            self.push_example(expression, true);
            self.define(StringDefinition { name, group, number: None });
        } else if let Some(definition) =
            self.definitions.iter().find(|d| d.number.is_none() && d.name == name)
        {
            let group = definition.group;
            if group > 9 {
                return self.error(start, "cannot refer back to more than 9 groups of the same line");
            }
            self.parts.push(PatternPart::Regex(Node::BackReference(group)));
            self.example.extend(format!("\\{group}").bytes());
        } else {
            self.parts.push(PatternPart::Variable { name, at: self.base + start });
        }
        Ok(())
    }

    /// Parses the numeric block with `inside`, at `start`.
    fn number(&mut self, inside: &[u8], start: usize, legacy: bool) -> Result<(), PatternError> {
        let mode = Mode { legacy, line: Some(self.line) };
        let block = numeric::parse(inside, self.base + start, mode, self.names)?;
        let definition = block.definition.clone();
        let group = definition.is_some().then_some(self.next_group);
        self.next_group += u32::from(group.is_some());
        if block.expression.is_some() {
            let text = String::from_utf8_lossy(inside).into_owned();
            self.push_example(b"", group.is_some());
            self.parts.push(PatternPart::Number { block, text, group });
        } else {
            let wildcard = block.format.wildcard();
            self.push_example(wildcard.as_bytes(), group.is_some());
            let node = self.expression(wildcard.as_bytes(), start)?;
            self.parts.push(PatternPart::Regex(in_group(group, node)));
        }
        if let (Some(number), Some(group)) = (definition, group) {
            self.define(StringDefinition { name: number.name.clone(), group, number: Some(number) });
        }
        Ok(())
    }

    /// The last definition of a name is kept.
    fn define(&mut self, definition: StringDefinition) {
        self.definitions.retain(|d| d.name != definition.name);
        self.definitions.push(definition);
    }

    fn push_example(&mut self, expression: &[u8], group: bool) {
        self.example.extend(group.then_some(b'('));
        self.example.extend(expression);
        self.example.extend(group.then_some(b')'));
    }

    /// A `\n` counts the groups of the whole line. If it refers to an enclosing open group, LLVM never
    /// matches; that can only be a mistake.
    fn check_references(&self, node: &Node, at: usize) -> Result<(), PatternError> {
        if refers_to_open_group(node, &mut Vec::new()) {
            return self
                .error(at, "invalid regex: back-reference to a group that is still open (on this line)");
        }
        Ok(())
    }
}

fn refers_to_open_group(node: &Node, open: &mut Vec<u32>) -> bool {
    match node {
        Node::Set(_) | Node::Assert(_) => false,
        Node::Concat(nodes) | Node::Alternation(nodes) => nodes.iter().any(|n| refers_to_open_group(n, open)),
        Node::Plus(inner) | Node::Optional(inner) => refers_to_open_group(inner, open),
        Node::Group(number, inner) => {
            open.push(*number);
            let found = refers_to_open_group(inner, open);
            open.pop();
            found
        }
        Node::BackReference(number) => open.contains(number),
    }
}

/// `text` if it is a variable's name: a letter or `_`, then letters, digits and `_`, optionally preceded by
/// `$`.
pub(crate) fn variable_name(text: &[u8]) -> Option<String> {
    let bare = text.strip_prefix(b"$").unwrap_or(text);
    let (first, rest) = bare.split_first()?;
    let valid = (first.is_ascii_alphabetic() || *first == b'_')
        && rest.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    valid.then(|| String::from_utf8_lossy(text).into_owned())
}
