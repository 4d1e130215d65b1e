//! Numeric blocks: `[[#%.4x,VAR:EXPR]]`, the older `[[@LINE+1]]`, and `-D#VAR=EXPR`.
//!
//! ```text
//! [[#  %#.4x ,  VAR :  ==  VAR2+max(1,@LINE)  ]]
//!      format   defined  constraint  expression       each part is optional
//! ```
//!
//! Without an expression the block matches any number in its format, otherwise the expression's value at the
//! time of the search. An omitted format is that of the expression's variables, which must agree.
//!
//! Names are resolved while the check file is read, each to a slot of [`Names`], even if a name is used
//! before it is defined; the values are in the run's [`Numbers`]. An expression is stored in postfix form, so
//! that its evaluation needs no recursion.

use std::collections::{BTreeMap, BTreeSet};

use super::number::Number;
use super::pattern::PatternError;

/// Deepest nesting of parentheses in an expression.
const MAX_DEPTH: usize = 100;
/// Largest precision of a format.
const MAX_PRECISION: u32 = 4096;

/// The conversion of a [`NumberFormat`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    Unsigned,
    Signed,
    LowerHex,
    UpperHex,
}

/// The textual format of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NumberFormat {
    conversion: Conversion,
    /// Least number of digits.
    precision: u32,
    /// With `0x` in front.
    alternate: bool,
}

impl NumberFormat {
    const DEFAULT: NumberFormat =
        NumberFormat { conversion: Conversion::Unsigned, precision: 0, alternate: false };

    fn name(self) -> &'static str {
        match self.conversion {
            Conversion::Unsigned => "%u",
            Conversion::Signed => "%d",
            Conversion::LowerHex => "%x",
            Conversion::UpperHex => "%X",
        }
    }

    fn radix(self) -> u32 {
        match self.conversion {
            Conversion::Unsigned | Conversion::Signed => 10,
            Conversion::LowerHex | Conversion::UpperHex => 16,
        }
    }

    /// The regular expression of any number in this format.
    pub(crate) fn wildcard(self) -> String {
        let (sign, digits) = match self.conversion {
            Conversion::Unsigned => ("", "0-9"),
            Conversion::Signed => ("-?", "0-9"),
            Conversion::LowerHex => ("", "0-9a-f"),
            Conversion::UpperHex => ("", "0-9A-F"),
        };
        let prefix = if self.alternate { "0x" } else { "" };
        match self.precision {
            0 => format!("{prefix}{sign}[{digits}]+"),
            precision => {
                let first = digits.replacen('0', "1", 1);
                format!("{prefix}{sign}([{first}][{digits}]*)?[{digits}]{{{precision}}}")
            }
        }
    }

    /// The number in this format; `None` for a negative one without a sign.
    fn write(self, number: &Number) -> Option<String> {
        if number.is_negative() && self.conversion != Conversion::Signed {
            return None;
        }
        let mut digits = number.magnitude(self.radix());
        if self.conversion == Conversion::UpperHex {
            digits.make_ascii_uppercase();
        }
        let sign = if number.is_negative() { "-" } else { "" };
        let prefix = if self.alternate { "0x" } else { "" };
        let width = usize::try_from(self.precision).unwrap_or_default();
        Some(format!("{sign}{prefix}{digits:0>width$}"))
    }

    /// The number of a match of the wildcard; `None` if it is too large.
    fn read(self, text: &[u8]) -> Option<Number> {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let digits = match (self.alternate, text.strip_prefix(b"0x")) {
            (true, Some(digits)) => digits,
            // With --ignore-case the prefix may be `0X`, which LLVM reads as zero.
            (true, None) => b"0",
            (false, _) => text,
        };
        Number::parse(digits, self.radix(), negative)
    }
}

/// The index of a variable in the run's [`Numbers`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(usize);

#[derive(Debug)]
struct NamedVariable {
    slot: Slot,
    format: NumberFormat,
    /// The line of the first definition, if it precedes any use in the check file.
    line: Option<usize>,
}

/// The names used so far by the check file and the command line.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: BTreeMap<String, NamedVariable>,
    strings: BTreeSet<String>,
}

impl Names {
    /// Registers the definition of the string variable `name`; false if it is a numeric variable.
    pub(crate) fn define_string(&mut self, name: &str) -> bool {
        if self.numbers.contains_key(name) {
            return false;
        }
        self.strings.insert(name.to_owned());
        true
    }

    fn add(&mut self, name: &str, format: NumberFormat, line: Option<usize>) -> Slot {
        let slot = Slot(self.numbers.len());
        self.numbers.insert(name.to_owned(), NamedVariable { slot, format, line });
        slot
    }

    /// The slots cleared by `--enable-var-scope`.
    pub(crate) fn locals(&self) -> Vec<Slot> {
        let local = |(name, named): (&String, &NamedVariable)| (!name.starts_with('$')).then_some(named.slot);
        self.numbers.iter().filter_map(local).collect()
    }
}

/// The values of numeric variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(Vec<Option<Number>>);

impl Numbers {
    fn value(&self, slot: Slot) -> Option<&Number> {
        self.0.get(slot.0)?.as_ref()
    }

    fn set(&mut self, slot: Slot, value: Option<Number>) {
        if self.0.len() <= slot.0 {
            self.0.resize(slot.0 + 1, None);
        }
        self.0[slot.0] = value;
    }

    /// Forgets the value of a variable.
    pub(crate) fn clear(&mut self, slot: Slot) {
        self.set(slot, None);
    }

    /// Defines a variable from `text`, a match of the format's wildcard or of a value in it.
    pub(crate) fn define(&mut self, definition: &Definition, text: &[u8]) -> Result<(), String> {
        match definition.format.read(text) {
            Some(value) => {
                self.set(definition.slot, Some(value));
                Ok(())
            }
            None => Err(format!("the number of variable {} is too large", definition.name)),
        }
    }

    /// Evaluates a definition of the command line.
    pub(crate) fn define_by(&mut self, block: &Block) -> Result<(), Vec<PatternError>> {
        let Block { definition: Some(definition), expression: Some(expression), format: _ } = block else {
            return Err(vec![PatternError {
                at: 0,
                message: "a variable and its value are needed".to_owned(),
            }]);
        };
        let value = expression.evaluate(self, 0)?;
        self.set(definition.slot, Some(value));
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

impl Function {
    fn named(name: &[u8]) -> Option<Function> {
        Some(match name {
            b"add" => Function::Add,
            b"sub" => Function::Sub,
            b"mul" => Function::Mul,
            b"div" => Function::Div,
            b"min" => Function::Min,
            b"max" => Function::Max,
            _ => return None,
        })
    }

    fn apply(self, a: Number, b: Number) -> Option<Number> {
        match self {
            Function::Add => a.add(&b),
            Function::Sub => a.sub(&b),
            Function::Mul => a.mul(&b),
            Function::Div => a.div(&b),
            Function::Min => Some(a.min(b)),
            Function::Max => Some(a.max(b)),
        }
    }
}

/// A step of an expression in postfix form.
#[derive(Clone, Debug)]
enum Step {
    Literal(Number),
    Line,
    Variable { slot: Slot, name: String, at: usize },
    Apply(Function),
}

/// An expression with the position of its block.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    steps: Vec<Step>,
    /// The position of the block's text.
    at: usize,
}

impl Expression {
    /// The value, or all variables without one.
    fn evaluate(&self, numbers: &Numbers, line: usize) -> Result<Number, Vec<PatternError>> {
        let mut stack: Vec<Number> = Vec::new();
        let mut undefined = Vec::new();
        let overflow = || vec![PatternError { at: self.at, message: OVERFLOW.to_owned() }];
        for step in &self.steps {
            let value = match step {
                Step::Literal(number) => number.clone(),
                Step::Line => Number::from_line(line),
                Step::Variable { slot, name, at } => match numbers.value(*slot) {
                    Some(value) => value.clone(),
                    None => {
                        let message = format!("undefined variable: {name}");
                        undefined.push(PatternError { at: *at, message });
                        Number::default()
                    }
                },
                // With an undefined variable only the names of the others are still needed.
                Step::Apply(_) if !undefined.is_empty() => continue,
                Step::Apply(function) => {
                    let (b, a) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                    function.apply(a, b).ok_or_else(overflow)?
                }
            };
            stack.push(value);
        }
        if undefined.is_empty() { Ok(stack.pop().unwrap_or_default()) } else { Err(undefined) }
    }
}

const OVERFLOW: &str = "unable to substitute variable or numeric expression: overflow error";

/// A variable that a block defines.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    slot: Slot,
    format: NumberFormat,
}

/// A parsed numeric block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) definition: Option<Definition>,
    pub(crate) expression: Option<Expression>,
    pub(crate) format: NumberFormat,
}

impl Block {
    /// The current text of the block, if it has an expression.
    ///
    /// # Errors
    /// All variables without a value, or the block if the value cannot be written.
    pub(crate) fn text(&self, numbers: &Numbers, line: usize) -> Result<String, Vec<PatternError>> {
        let Some(expression) = &self.expression else { return Ok(String::new()) };
        let value = expression.evaluate(numbers, line)?;
        let overflow = || vec![PatternError { at: expression.at, message: OVERFLOW.to_owned() }];
        self.format.write(&value).ok_or_else(overflow)
    }
}

/// The allowed kinds of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Any,
    /// The first of a `[[@LINE..]]`.
    Line,
    /// The second of a `[[@LINE..]]`.
    Decimal,
}

/// The format implied by an expression's variables.
enum Implicit {
    None,
    Of(NumberFormat),
    Conflict(PatternError),
}

/// A part of an expression: its steps are the reader's last ones.
struct SubExpression {
    implicit: Implicit,
    /// Its text, for the message about a conflict.
    start: usize,
    end: usize,
}

/// The parsing mode of a block.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    /// The older `[[@LINE+n]]`.
    pub(crate) legacy: bool,
    /// The directive's line; `None` on the command line.
    pub(crate) line: Option<usize>,
}

/// Parses the inside of a numeric block, after the `#`, at offset `base`.
///
/// # Errors
/// The position of the problem.
pub(crate) fn parse(text: &[u8], base: usize, mode: Mode, names: &mut Names) -> Result<Block, PatternError> {
    let mut reader =
        BlockReader { text, at: 0, end: text.len(), base, mode, names, steps: Vec::new(), depth: 0 };
    reader.block()
}

struct BlockReader<'a, 'n> {
    text: &'a [u8],
    at: usize,
    end: usize,
    base: usize,
    mode: Mode,
    names: &'n mut Names,
    steps: Vec<Step>,
    depth: usize,
}

impl<'a> BlockReader<'a, '_> {
    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, PatternError> {
        Err(PatternError { at: self.base + at, message: message.into() })
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..self.end]
    }

    fn blanks(&mut self) {
        while self.rest().first().is_some_and(|b| matches!(b, b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, what: &[u8]) -> bool {
        let there = self.rest().starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    fn trim_end(&mut self) {
        while self.end > self.at && matches!(self.text[self.end - 1], b' ' | b'\t') {
            self.end -= 1;
        }
    }

    fn block(&mut self) -> Result<Block, PatternError> {
        let (explicit, precision) = self.format_specification()?;
        let definition = self.rest().iter().position(|&b| b == b':').map(|n| (self.at, self.at + n));
        if let Some((_, colon)) = definition {
            self.at = colon + 1;
        }
        self.blanks();
        let constraint = self.eat(b"==");
        self.blanks();
        let mut implicit = Implicit::None;
        let mut expression = None;
        if !self.rest().is_empty() {
            self.trim_end();
            let first = if self.mode.legacy { Operand::Line } else { Operand::Any };
            let mut part = self.operand(first, !constraint)?;
            while !self.rest().is_empty() {
                part = self.binary(part)?;
                if self.mode.legacy && !self.rest().is_empty() {
                    return self.error(self.at, "unexpected characters at end of expression");
                }
            }
            implicit = part.implicit;
            let steps = std::mem::take(&mut self.steps);
            expression = Some(Expression { steps, at: self.base });
        } else if constraint {
            return self.error(self.at, "empty numeric expression should not have a constraint");
        }
        let format = match (explicit, implicit) {
            (Some(explicit), _) => explicit,
            (None, Implicit::Of(format)) => format,
            (None, Implicit::Conflict(error)) => return Err(error),
            (None, Implicit::None) => NumberFormat { precision, ..NumberFormat::DEFAULT },
        };
        let definition = match definition {
            Some((start, end)) => Some(self.definition(start, end, format)?),
            None => None,
        };
        Ok(Block { definition, expression, format })
    }

    /// `%#.4x,`; a comma after a parenthesis separates arguments. A precision may occur alone.
    fn format_specification(&mut self) -> Result<(Option<NumberFormat>, u32), PatternError> {
        let comma = self.text.iter().position(|&b| b == b',');
        let parenthesis = self.text.iter().position(|&b| b == b'(').unwrap_or(usize::MAX);
        let Some(comma) = comma.filter(|&comma| comma < parenthesis) else { return Ok((None, 0)) };
        let invalid = "invalid matching format specification in expression";
        let whole = self.end;
        self.end = comma;
        self.blanks();
        self.trim_end();
        if !self.eat(b"%") {
            return self.error(self.at, invalid);
        }
        let flag_at = self.at;
        let alternate = self.eat(b"#");
        let mut precision = 0;
        if self.eat(b".") {
            let n_digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
            let digits = std::str::from_utf8(&self.rest()[..n_digits]).unwrap_or_default();
            match digits.parse::<u32>() {
                Ok(number) if number <= MAX_PRECISION => precision = number,
                Ok(_) => return self.error(self.at, "the precision is too large"),
                Err(_) => return self.error(self.at, "invalid precision in format specifier"),
            }
            self.at += n_digits;
        }
        let conversion = match self.rest().first() {
            None => None,
            Some(b'u') => Some(Conversion::Unsigned),
            Some(b'd') => Some(Conversion::Signed),
            Some(b'x') => Some(Conversion::LowerHex),
            Some(b'X') => Some(Conversion::UpperHex),
            Some(_) => return self.error(self.at, "invalid format specifier in expression"),
        };
        self.at += usize::from(conversion.is_some());
        if alternate && !matches!(conversion, Some(Conversion::LowerHex | Conversion::UpperHex)) {
            return self.error(flag_at, "alternate form only supported for hex values");
        }
        self.blanks();
        if !self.rest().is_empty() {
            return self.error(self.at, invalid);
        }
        (self.at, self.end) = (comma + 1, whole);
        Ok((conversion.map(|conversion| NumberFormat { conversion, precision, alternate }), precision))
    }

    fn definition(
        &mut self,
        start: usize,
        end: usize,
        format: NumberFormat,
    ) -> Result<Definition, PatternError> {
        (self.at, self.end) = (start, end);
        self.blanks();
        let name_at = self.at;
        let (name, pseudo) = self.name()?;
        if pseudo {
            return self.error(name_at, "definition of pseudo numeric variable unsupported");
        }
        if self.names.strings.contains(name) {
            return self.error(name_at, format!("string variable with name '{name}' already exists"));
        }
        self.blanks();
        if !self.rest().is_empty() {
            return self.error(self.at, "unexpected characters after numeric variable name");
        }
        let slot = match self.names.numbers.get(name) {
            Some(named) if named.format != format => {
                return self.error(name_at, "format different from previous variable definition");
            }
            Some(named) => named.slot,
            None => self.names.add(name, format, self.mode.line),
        };
        Ok(Definition { name: name.to_owned(), slot, format })
    }

    /// A variable's name, and whether it has an `@`.
    fn name(&mut self) -> Result<(&'a str, bool), PatternError> {
        let rest = self.rest();
        let start = usize::from(rest.first().is_some_and(|b| matches!(b, b'@' | b'$')));
        let letters = rest[start..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let valid = rest.get(start).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        if rest.len() == start {
            return self.error(self.at + start, "empty variable name");
        }
        let name = std::str::from_utf8(&rest[..start + letters]).unwrap_or_default();
        if !valid {
            return self.error(self.at, "invalid variable name");
        }
        self.at += name.len();
        Ok((name, rest[0] == b'@'))
    }

    fn operand(&mut self, allowed: Operand, maybe_constraint: bool) -> Result<SubExpression, PatternError> {
        let start = self.at;
        if self.rest().starts_with(b"(") {
            if allowed != Operand::Any {
                return self.error(start, "parenthesized expression not permitted here");
            }
            return self.nested(Self::parenthesized);
        }
        if allowed != Operand::Decimal {
            match self.name() {
                Ok((name, pseudo)) => {
                    let behind = self.at;
                    self.blanks();
                    if self.rest().starts_with(b"(") {
                        if allowed != Operand::Any {
                            return self.error(start, "unexpected function call");
                        }
                        return self.nested(|reader| reader.call(name, start));
                    }
                    self.at = behind;
                    return self.variable(name, pseudo, start);
                }
                Err(error) if allowed == Operand::Line => return Err(error),
                Err(_) => {}
            }
        }
        let negative = self.eat(b"-");
        let radix = if allowed == Operand::Decimal { 10 } else { self.radix() };
        let digits_at = self.at;
        let n_digits = self.rest().iter().take_while(|b| char::from(**b).is_digit(radix)).count();
        self.at += n_digits;
        // As in LLVM, a base's prefix without digits is a zero if anything else follows it.
        if n_digits == 0 && (radix == 10 || self.rest().is_empty()) {
            let constraint = if maybe_constraint { "matching constraint or " } else { "" };
            return self.error(start, format!("invalid {constraint}operand format"));
        }
        let digits = &self.text[digits_at..self.at];
        let Some(number) = Number::parse(digits, radix, negative) else {
            return self.error(start, "the number is too large");
        };
        self.steps.push(Step::Literal(number));
        Ok(SubExpression { implicit: Implicit::None, start, end: self.at })
    }

    /// Consumes the prefix of a base.
    fn radix(&mut self) -> u32 {
        if self.eat(b"0x") || self.eat(b"0X") {
            return 16;
        }
        if self.eat(b"0b") || self.eat(b"0B") {
            return 2;
        }
        if self.eat(b"0o") {
            return 8;
        }
        if matches!(self.rest(), [b'0', next, ..] if next.is_ascii_digit()) {
            self.at += 1;
            return 8;
        }
        10
    }

    fn variable(&mut self, name: &str, pseudo: bool, at: usize) -> Result<SubExpression, PatternError> {
        let end = self.at;
        if pseudo && name != "@LINE" {
            return self.error(at, format!("invalid pseudo numeric variable '{name}'"));
        }
        if pseudo && self.mode.line.is_some() {
            self.steps.push(Step::Line);
            return Ok(SubExpression { implicit: Implicit::Of(NumberFormat::DEFAULT), start: at, end });
        }
        let (slot, format) = match self.names.numbers.get(name) {
            Some(NamedVariable { line: Some(line), .. }) if Some(*line) == self.mode.line => {
                let message =
                    format!("numeric variable '{name}' defined earlier in the same CHECK directive");
                return self.error(at, message);
            }
            Some(named) => (named.slot, named.format),
            None => (self.names.add(name, NumberFormat::DEFAULT, None), NumberFormat::DEFAULT),
        };
        self.steps.push(Step::Variable { slot, name: name.to_owned(), at: self.base + at });
        Ok(SubExpression { implicit: Implicit::Of(format), start: at, end })
    }

    /// The rest of `left + right` or `left - right`.
    fn binary(&mut self, left: SubExpression) -> Result<SubExpression, PatternError> {
        self.blanks();
        let function = match self.rest().first() {
            None => return Ok(left),
            Some(b'+') => Function::Add,
            Some(b'-') => Function::Sub,
            Some(other) => {
                let message = format!("unsupported operation '{}'", char::from(*other));
                return self.error(self.at, message);
            }
        };
        self.at += 1;
        self.blanks();
        if self.rest().is_empty() {
            return self.error(self.at, "missing operand in expression");
        }
        let allowed = if self.mode.legacy { Operand::Decimal } else { Operand::Any };
        let right = self.operand(allowed, false)?;
        Ok(self.apply(function, left, right))
    }

    fn apply(&mut self, function: Function, left: SubExpression, right: SubExpression) -> SubExpression {
        let (start, end) = (left.start, self.at);
        self.steps.push(Step::Apply(function));
        let text = |start: usize, end: usize| String::from_utf8_lossy(&self.text[start..end]).into_owned();
        let implicit = match (left.implicit, right.implicit) {
            (Implicit::Conflict(error), _) | (_, Implicit::Conflict(error)) => Implicit::Conflict(error),
            (Implicit::Of(a), Implicit::Of(b)) if a != b => Implicit::Conflict(PatternError {
                at: self.base + start,
                message: format!(
                    "implicit format conflict between '{}' ({}) and '{}' ({}), need an explicit format specifier",
                    text(left.start, left.end),
                    a.name(),
                    text(right.start, right.end),
                    b.name()
                ),
            }),
            (Implicit::Of(format), _) | (Implicit::None, Implicit::Of(format)) => Implicit::Of(format),
            (Implicit::None, Implicit::None) => Implicit::None,
        };
        SubExpression { implicit, start, end }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<SubExpression, PatternError>,
    ) -> Result<SubExpression, PatternError> {
        if self.depth == MAX_DEPTH {
            return self.error(self.at, "the expression is nested too deeply");
        }
        self.depth += 1;
        let part = read(self)?;
        self.depth -= 1;
        Ok(part)
    }

    fn parenthesized(&mut self) -> Result<SubExpression, PatternError> {
        self.at += 1;
        self.blanks();
        if self.rest().is_empty() {
            return self.error(self.at, "missing operand in expression");
        }
        let mut part = self.operand(Operand::Any, false)?;
        self.blanks();
        while !self.rest().is_empty() && !self.rest().starts_with(b")") {
            part = self.binary(part)?;
            self.blanks();
        }
        if !self.eat(b")") {
            return self.error(self.at, "missing ')' at end of nested expression");
        }
        Ok(part)
    }

    fn call(&mut self, name: &str, name_at: usize) -> Result<SubExpression, PatternError> {
        let Some(function) = Function::named(name.as_bytes()) else {
            return self.error(name_at, format!("call to undefined function '{name}'"));
        };
        self.at += 1;
        self.blanks();
        let mut arguments = Vec::new();
        while !self.rest().is_empty() && !self.rest().starts_with(b")") {
            if self.rest().starts_with(b",") {
                return self.error(self.at, "missing argument");
            }
            let mut part = self.operand(Operand::Any, false)?;
            self.blanks();
            while !matches!(self.rest().first(), None | Some(b',' | b')')) {
                part = self.binary(part)?;
                self.blanks();
            }
            arguments.push(part);
            if !self.eat(b",") {
                break;
            }
            self.blanks();
            if self.rest().starts_with(b")") {
                return self.error(self.at, "missing argument");
            }
        }
        if !self.eat(b")") {
            return self.error(self.at, "missing ')' at end of call expression");
        }
        let n_arguments = arguments.len();
        let mut arguments = arguments.into_iter();
        match (arguments.next(), arguments.next(), arguments.next()) {
            (Some(left), Some(right), None) => {
                let part = self.apply(function, left, right);
                Ok(SubExpression { start: name_at, ..part })
            }
            _ => self.error(name_at, format!("function '{name}' takes 2 arguments but {n_arguments} given")),
        }
    }
}
