//! RUN lines as pipelines.
//!
//! ```text
//! line     = pipeline { "&&" pipeline }
//! pipeline = command { "|" command }
//! command  = { word | redirection }
//! redirection = "<" word | [1|2] ">" word | [1|2] ">>" word | "2>&1" | [1] ">&2" | "&>" word
//! ```
//!
//! Words are separated by blanks. `'..'` quotes everything except substitutions (`%`). `".."` also leaves
//! `\"` and `\\` their meaning. `\` outside quotes quotes the next character. Substitutions are made within
//! a word, so paths may contain blanks. All other shell syntax (`$`, backticks, `;`, `||`, `&`,
//! parentheses, `*`) is refused unless quoted; `$` and backticks need single quotes.
//!
//! `env [-u NAME] [NAME=VALUE].. command` is built in; `not [--crash] command` is a tool like the others, but
//! its command is looked up here as well.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Commands that may come from PATH.
pub(super) const ORDINARY: [&str; 27] = [
    "cat", "chmod", "cmp", "cp", "cut", "diff", "echo", "false", "grep", "head", "ln", "mkdir", "mkfifo",
    "mv", "od", "printf", "rm", "sed", "seq", "sleep", "sort", "tail", "test", "touch", "tr", "true", "wc",
];

/// The values of the substitutions.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) source: PathBuf,
    pub(super) source_directory: PathBuf,
    pub(super) temporary: PathBuf,
    pub(super) directory: PathBuf,
}

/// An output stream of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StdStream {
    Output,
    Error,
}

/// A redirection of a command's streams, in the order written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Redirection {
    Input(PathBuf),
    File {
        stream: StdStream,
        path: PathBuf,
        append: bool,
    },
    /// The stream goes to the current destination of the other one.
    Join(StdStream),
}

/// A program with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ShellCommand {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    /// The variables to set, or to remove if there is no value.
    pub(super) environment: Vec<(String, Option<String>)>,
    pub(super) redirections: Vec<Redirection>,
    /// As written, for reports.
    pub(super) name: String,
}

/// Commands connected by pipes.
pub(super) type Pipeline = Vec<ShellCommand>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Pipe,
    And,
    Less,
    Greater {
        stream: StdStream,
        append: bool,
    },
    /// `&>`
    Both,
    Join(StdStream),
}

/// Parses a RUN line.
///
/// # Errors
/// The problem.
pub(super) fn parse(
    line: &str,
    places: &Places,
    tools: &BTreeMap<String, PathBuf>,
) -> Result<Vec<Pipeline>, String> {
    let tokens = Lexer { rest: line, places }.tokens()?;
    let mut pipelines = Vec::new();
    for pipeline in tokens.split(|t| *t == Token::And) {
        let mut commands = Vec::new();
        for command in pipeline.split(|t| *t == Token::Pipe) {
            commands.push(parse_command(command, places, tools)?);
        }
        pipelines.push(commands);
    }
    Ok(pipelines)
}

fn parse_command(
    tokens: &[Token],
    places: &Places,
    tools: &BTreeMap<String, PathBuf>,
) -> Result<ShellCommand, String> {
    let mut words = Vec::new();
    let mut redirections = Vec::new();
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        let mut file = || match rest.next() {
            Some(Token::Word(word)) => Ok(places.directory.join(word)),
            _ => Err("a redirection lacks its file".to_owned()),
        };
        match token {
            Token::Word(word) => words.push(word.clone()),
            Token::Less => redirections.push(Redirection::Input(file()?)),
            Token::Greater { stream, append } => {
                redirections.push(Redirection::File { stream: *stream, path: file()?, append: *append });
            }
            Token::Both => {
                redirections.push(Redirection::File {
                    stream: StdStream::Output,
                    path: file()?,
                    append: false,
                });
                redirections.push(Redirection::Join(StdStream::Error));
            }
            Token::Join(stream) => redirections.push(Redirection::Join(*stream)),
            Token::Pipe | Token::And => return Err("a command is missing".to_owned()),
        }
    }
    let mut environment = Vec::new();
    let mut at = 0;
    while words.get(at).is_some_and(|w| w == "env") {
        at += 1;
        while let Some(word) = words.get(at) {
            if word == "-u" {
                let name = words.get(at + 1).ok_or("env -u lacks its variable")?;
                environment.push((name.clone(), None));
                at += 2;
            } else if let Some((name, value)) = word.split_once('=') {
                environment.push((name.to_owned(), Some(value.to_owned())));
                at += 1;
            } else {
                break;
            }
        }
    }
    if environment.iter().any(|(name, _)| name.is_empty()) {
        return Err("env sets a variable without a name".to_owned());
    }
    let name = words.get(at).ok_or("a command is missing")?.clone();
    let program = resolve(&name, tools)?;
    let mut arguments = words.split_off(at + 1);
    // The command after `not` is looked up too; it may be `not` again.
    let mut inner = (name == "not").then_some(0);
    while let Some(mut at) = inner {
        at += usize::from(arguments.get(at).is_some_and(|a| a == "--crash"));
        let Some(argument) = arguments.get_mut(at) else {
            return Err("not lacks its command".to_owned());
        };
        inner = (argument == "not").then_some(at + 1);
        let path = resolve(argument, tools)?;
        *argument = path.into_os_string().into_string().map_err(|_| "a tool's path is not valid UTF-8")?;
    }
    Ok(ShellCommand { program, arguments, environment, redirections, name })
}

/// The path of the program `name`.
fn resolve(name: &str, tools: &BTreeMap<String, PathBuf>) -> Result<PathBuf, String> {
    if let Some(path) = tools.get(name) {
        return Ok(path.clone());
    }
    if ORDINARY.contains(&name) || Path::new(name).is_absolute() {
        return Ok(PathBuf::from(name));
    }
    if name.contains('=') {
        return Err(format!("unknown command '{name}' (variables are set with env)"));
    }
    if name == "env" {
        return Err("env must stand before not".to_owned());
    }
    let known: Vec<&str> = tools.keys().map(String::as_str).chain(ORDINARY).collect();
    Err(format!("unknown command '{name}'; known are {}", known.join(", ")))
}

struct Lexer<'a> {
    rest: &'a str,
    places: &'a Places,
}

impl Lexer<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn tokens(mut self) -> Result<Vec<Token>, String> {
        const SIGNS: [(&str, Token); 13] = [
            ("&&", Token::And),
            ("&>", Token::Both),
            ("2>&1", Token::Join(StdStream::Error)),
            ("1>&2", Token::Join(StdStream::Output)),
            (">&2", Token::Join(StdStream::Output)),
            ("2>>", Token::Greater { stream: StdStream::Error, append: true }),
            ("1>>", Token::Greater { stream: StdStream::Output, append: true }),
            (">>", Token::Greater { stream: StdStream::Output, append: true }),
            ("2>", Token::Greater { stream: StdStream::Error, append: false }),
            ("1>", Token::Greater { stream: StdStream::Output, append: false }),
            (">", Token::Greater { stream: StdStream::Output, append: false }),
            ("<", Token::Less),
            ("|", Token::Pipe),
        ];
        let mut tokens = Vec::new();
        'tokens: loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() {
                return Ok(tokens);
            }
            if self.rest.starts_with("||") || self.rest.starts_with("<<") || self.rest.starts_with("<(") {
                return Err(format!("'{}' is not supported", &self.rest[..2]));
            }
            for (sign, token) in SIGNS {
                if self.eat(sign) {
                    if matches!(token, Token::Greater { .. } | Token::Both)
                        && self.rest.starts_with(['&', '|'])
                    {
                        return Err(format!("the redirection '{sign}{}' is not supported", &self.rest[..1]));
                    }
                    tokens.push(token);
                    continue 'tokens;
                }
            }
            tokens.push(Token::Word(self.word()?));
        }
    }

    fn word(&mut self) -> Result<String, String> {
        let mut word = String::new();
        loop {
            let Some(c) = self.rest.chars().next() else { return Ok(word) };
            if c.is_whitespace() || matches!(c, '|' | '<' | '>') {
                return Ok(word);
            }
            if self.rest.starts_with("&&") || self.rest.starts_with("&>") {
                return Ok(word);
            }
            self.next();
            match c {
                '\'' => self.quoted('\'', &mut word)?,
                '"' => self.quoted('"', &mut word)?,
                '\\' => word.push(self.next().ok_or("the line ends in a backslash")?),
                '%' => self.substitution(&mut word)?,
                '$' | '`' | ';' | '&' | '(' | ')' | '*' => {
                    return Err(format!("'{c}' is not supported outside quotes"));
                }
                _ => word.push(c),
            }
        }
    }

    fn quoted(&mut self, quote: char, word: &mut String) -> Result<(), String> {
        loop {
            let c = self.next().ok_or_else(|| format!("a quotation lacks its closing {quote}"))?;
            match c {
                _ if c == quote => return Ok(()),
                '\\' if quote == '"' && self.rest.starts_with(['"', '\\']) => word.extend(self.next()),
                '$' | '`' if quote == '"' => return Err(format!("'{c}' is not supported in double quotes")),
                '%' => self.substitution(word)?,
                _ => word.push(c),
            }
        }
    }

    /// A substitution, after its `%`.
    fn substitution(&mut self, word: &mut String) -> Result<(), String> {
        let path = match self.rest.chars().next() {
            Some('%') => {
                self.next();
                word.push('%');
                return Ok(());
            }
            Some('s') => &self.places.source,
            Some('S' | 'p') => &self.places.source_directory,
            Some('t') => &self.places.temporary,
            Some('T') => &self.places.directory,
            _ => {
                let shown: String = self.rest.chars().take_while(|c| !c.is_whitespace()).take(20).collect();
                return Err(format!(
                    "unknown substitution '%{shown}' (known: %s %S %p %t %T, and %% for a percent sign)"
                ));
            }
        };
        self.next();
        word.push_str(path.to_str().ok_or("a path is not valid UTF-8")?);
        Ok(())
    }
}
