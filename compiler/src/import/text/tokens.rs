//! Tokens of protobuf's text format.

use std::fmt;

/// A token. Words, numbers and texts are parts of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// A text with its quotes.
    Text(&'a str),
    Sign(char),
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = |text: &str| text.chars().take(40).collect::<String>();
        match self {
            Token::Word(word) => write!(f, "'{}'", start(word)),
            Token::Number(number) => write!(f, "{}", start(number)),
            Token::Text(_) => f.write_str("a text"),
            Token::Sign(sign) => write!(f, "'{sign}'"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

impl Token<'_> {
    /// An integer: decimal, octal with a leading 0, or hexadecimal.
    pub(super) fn magnitude(self) -> Option<u64> {
        let Token::Number(text) = self else { return None };
        if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            return u64::from_str_radix(digits, 16).ok();
        }
        match text.strip_prefix('0') {
            Some(digits) if !digits.is_empty() => u64::from_str_radix(digits, 8).ok(),
            _ => text.parse().ok(),
        }
    }

    pub(super) fn int(self, is_negative: bool) -> Option<i64> {
        let magnitude = self.magnitude()?;
        if is_negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
    }

    /// A number, possibly with the suffix `f`, or the name of an infinity or NaN.
    pub(super) fn float(self, is_negative: bool) -> Option<f64> {
        let value = match self {
            Token::Number(text) => match self.magnitude() {
                Some(value) => value as f64,
                None => text.trim_end_matches(['f', 'F']).parse().ok()?,
            },
            Token::Word(word) if word.eq_ignore_ascii_case("nan") => f64::NAN,
            Token::Word(word) if ["inf", "infinity"].iter().any(|inf| word.eq_ignore_ascii_case(inf)) => {
                f64::INFINITY
            }
            _ => return None,
        };
        Some(if is_negative { -value } else { value })
    }

    /// A decimal fraction, rounded to f32 once.
    pub(super) fn float32(self, is_negative: bool) -> Option<f32> {
        let Token::Number(text) = self else { return None };
        if self.magnitude().is_some() {
            return None;
        }
        let value: f32 = text.trim_end_matches(['f', 'F']).parse().ok()?;
        Some(if is_negative { -value } else { value })
    }
}

/// The tokens of a text.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The start of the last token.
    last: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0, last: 0 }
    }

    /// Line and column of the last token.
    pub(super) fn place(&self) -> (usize, usize) {
        let before = &self.text[..self.last];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
    }

    pub(super) fn peek(&mut self) -> Result<Token<'a>, String> {
        let (at, last) = (self.at, self.last);
        let token = self.next();
        (self.at, self.last) = (at, last);
        token
    }

    /// Skips a sign if it comes next.
    pub(super) fn skip(&mut self, sign: char) -> Result<bool, String> {
        let comes = self.peek()? == Token::Sign(sign);
        if comes {
            self.next()?;
        }
        Ok(comes)
    }

    pub(super) fn expect_more(&self) -> Result<(), String> {
        if self.at < self.text.len() { Ok(()) } else { Err("the text ends inside of a name".to_owned()) }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, String> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                Some(b'#') => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
        self.last = self.at;
        let start = self.at;
        let Some(&first) = bytes.get(start) else { return Ok(Token::End) };
        let run = |also: &[u8]| {
            let rest = bytes[start..].iter();
            rest.take_while(|byte| byte.is_ascii_alphanumeric() || also.contains(byte)).count()
        };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.at += run(b"_");
                Ok(Token::Word(&self.text[start..self.at]))
            }
            b'0'..=b'9' | b'.' => {
                self.at += run(b".");
                // The sign of an exponent.
                let is_exponent = |at: usize| {
                    matches!(bytes[at - 1], b'e' | b'E') && !self.text[start..at].starts_with("0x")
                };
                if is_exponent(self.at) && matches!(bytes.get(self.at), Some(b'+' | b'-')) {
                    let rest = bytes[self.at + 1..].iter();
                    self.at += 1 + rest.take_while(|byte| byte.is_ascii_alphanumeric()).count();
                }
                Ok(Token::Number(&self.text[start..self.at]))
            }
            quote @ (b'"' | b'\'') => {
                let mut at = start + 1;
                loop {
                    match bytes.get(at) {
                        Some(b'\\') => at += 2,
                        Some(b'\n') | None => return Err("a text that does not end".to_owned()),
                        Some(&byte) if byte == quote => break,
                        Some(_) => at += 1,
                    }
                }
                self.at = at + 1;
                Ok(Token::Text(&self.text[start..self.at]))
            }
            _ => {
                let sign = self.text[start..].chars().next().unwrap_or_default();
                self.at += sign.len_utf8();
                Ok(Token::Sign(sign))
            }
        }
    }

    /// The bytes of a text and of the texts that follow it, which are concatenated.
    pub(super) fn text(&mut self, first: Token<'a>) -> Result<Vec<u8>, String> {
        let Token::Text(text) = first else { return Err(format!("expected a text, found {first}")) };
        let mut bytes = Vec::with_capacity(text.len());
        unescape(text, &mut bytes)?;
        while let Token::Text(text) = self.peek()? {
            self.next()?;
            unescape(text, &mut bytes)?;
        }
        Ok(bytes)
    }
}

/// Appends the bytes of a quoted text with C's escapes.
fn unescape(quoted: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let text = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let (&kind, behind) = rest[at + 1..].split_first().ok_or("a text ends in an escape")?;
        rest = behind;
        let digits = |rest: &[u8], most: usize, radix: u32| {
            let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
            rest.iter().take(most).take_while(|byte| is_digit(byte)).count()
        };
        let value = |digits: &[u8], radix| {
            std::str::from_utf8(digits).ok().and_then(|digits| u32::from_str_radix(digits, radix).ok())
        };
        match kind {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'0'..=b'7' => {
                let n = digits(rest, 2, 8);
                let octal = [&[kind], &rest[..n]].concat();
                rest = &rest[n..];
                let byte = value(&octal, 8).and_then(|value| u8::try_from(value).ok());
                out.push(byte.ok_or("an octal escape above 377")?);
            }
            b'x' | b'X' => {
                let n = digits(rest, 2, 16);
                out.push(value(&rest[..n], 16).ok_or("an escape without digits")? as u8);
                rest = &rest[n..];
            }
            b'u' | b'U' => {
                let n = if kind == b'u' { 4 } else { 8 };
                let code = if digits(rest, n, 16) == n { value(&rest[..n], 16) } else { None };
                let char = code.and_then(char::from_u32).ok_or("an escape that is no character")?;
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[n..];
            }
            b'\\' | b'\'' | b'"' | b'?' => out.push(kind),
            _ => return Err(format!("an unknown escape '\\{}'", char::from(kind).escape_default())),
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}
