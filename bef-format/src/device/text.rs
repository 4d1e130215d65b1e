//! Parsing of specs and device sets: a cursor with a position, and the errors.

use std::fmt;

/// The longest excerpt of a text that an error shows.
const MAX_SHOWN: usize = 64;

/// A malformed spec or device set: the place and the broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTextError {
    /// The byte of the text at which the rule is broken.
    pub at: usize,
    /// The rule.
    pub kind: DeviceSyntax,
}

/// The rules for specs and device sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceSyntax {
    /// Something else is expected here.
    Expected(&'static str),
    /// There is no field of this name.
    UnknownField(String),
    /// The field is given a second time.
    Twice(&'static str),
    /// The number is larger than this.
    TooLarge(u32),
    /// There is no property of this name.
    UnknownProperty(String),
    /// The value of the property is not allowed.
    Value {
        /// The property.
        property: &'static str,
        /// Which values are allowed.
        want: &'static str,
        /// The value found.
        found: String,
    },
    /// There are more devices than this.
    TooMany(usize),
    /// There are too many links, or they join too many pairs of devices.
    TooManyLinks,
    /// A link whose sender or receiver is no device.
    LinkOfNone,
}

impl fmt::Display for DeviceTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceTextError { at, kind } = self;
        write!(f, "at byte {at}: ")?;
        match kind {
            DeviceSyntax::Expected(what) => write!(f, "expected {what}"),
            DeviceSyntax::UnknownField(name) => {
                write!(
                    f,
                    "'{name}' is no field; there are job, replica, task, device, and the old cpu and gpu"
                )
            }
            DeviceSyntax::Twice(name) => write!(f, "'{name}' is given twice"),
            DeviceSyntax::TooLarge(most) => write!(f, "the number is larger than {most}"),
            DeviceSyntax::UnknownProperty(name) => write!(f, "'{name}' is no property of a device"),
            DeviceSyntax::Value { property, want, found } => {
                write!(f, "'{property}' is {want}, not '{found}'")
            }
            DeviceSyntax::TooMany(most) => write!(f, "there are more than {most} devices"),
            DeviceSyntax::TooManyLinks => write!(f, "the links are too many, or join too many devices"),
            DeviceSyntax::LinkOfNone => write!(f, "the link joins no devices"),
        }
    }
}

impl std::error::Error for DeviceTextError {}

/// A text from the input, shortened.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_default).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

/// The rest of a text and its place in the whole.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { rest: text, at: 0 }
    }

    pub(super) fn is_at_end(self) -> bool {
        self.rest.is_empty()
    }

    /// The error at this place.
    pub(super) fn error(self, kind: DeviceSyntax) -> DeviceTextError {
        DeviceTextError { at: self.at, kind }
    }

    /// Skips the token, if it is next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                (self.rest, self.at) = (rest, self.at + token.len());
                true
            }
            None => false,
        }
    }

    /// Skips the token, which must be next.
    pub(super) fn expect(&mut self, token: &str, what: &'static str) -> Result<(), DeviceTextError> {
        if self.eat(token) { Ok(()) } else { Err(self.error(DeviceSyntax::Expected(what))) }
    }

    /// The longest run of such characters, which may be empty.
    pub(super) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        (self.rest, self.at) = (rest, self.at + end);
        taken
    }

    /// A letter, then letters, digits and `_`.
    pub(super) fn word(&mut self, what: &'static str) -> Result<&'t str, DeviceTextError> {
        if !self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(self.error(DeviceSyntax::Expected(what)));
        }
        Ok(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'))
    }

    /// A decimal number up to `most`.
    pub(super) fn number(&mut self, most: u32) -> Result<u32, DeviceTextError> {
        let start = *self;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(start.error(DeviceSyntax::Expected("a number")));
        }
        let number = digits.parse::<u32>().ok().filter(|&number| number <= most);
        number.ok_or_else(|| start.error(DeviceSyntax::TooLarge(most)))
    }
}
