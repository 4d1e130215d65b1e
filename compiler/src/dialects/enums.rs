//! Enumerations: attributes that custom forms write as words.
//!
//! An [`EnumDef`] is an enumeration: the attribute is an integer, the form has the word at that position. A
//! [`FlagsDef`] is a set: the attribute is `#dialect.name<a, b>`, the form has `<a, b>`. The empty set is
//! represented by the absence of the attribute; the parser establishes that by [`FlagsDef::canonical`].

use crate::ir::{AttrId, AttrKind, Context, KnownType};

/// An enumeration: one word out of several.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumDef {
    /// Noun for messages.
    pub what: &'static str,
    /// Type of the integer.
    pub ty: KnownType,
    /// The words; the integer is the position.
    pub words: &'static [&'static str],
}

impl EnumDef {
    /// The word for an attribute of the right type.
    pub fn word(&self, cx: &Context, attr: AttrId) -> Option<&'static str> {
        match *cx.attr(attr) {
            AttrKind::Int { ty, value } if ty == self.ty.id() => {
                usize::try_from(value).ok().and_then(|i| self.words.get(i).copied())
            }
            _ => None,
        }
    }

    /// The attribute for a word.
    pub fn attr(&self, cx: &mut Context, word: &str) -> Option<AttrId> {
        let at = self.words.iter().position(|w| *w == word)?;
        Some(cx.int_attr(self.ty.id(), at as i64))
    }
}

/// A set of words.
#[derive(Debug, PartialEq, Eq)]
pub struct FlagsDef {
    /// Name of the attribute, without `#`.
    pub name: &'static str,
    /// The words; word `i` is bit `i`.
    pub words: &'static [&'static str],
    /// The word for the full set, if there is one.
    pub all: Option<&'static str>,
    /// The word for the empty set.
    pub none: &'static str,
    /// Text between words; `None` if a set has at most one.
    pub separator: Option<&'static str>,
}

impl FlagsDef {
    /// The full set, as bits.
    pub fn full(&self) -> u32 {
        (1 << self.words.len()) - 1
    }

    /// The bits of a word.
    pub fn bits_of(&self, word: &str) -> Option<u32> {
        if word == self.none {
            return Some(0);
        }
        if self.all == Some(word) {
            return Some(self.full());
        }
        self.words.iter().position(|w| *w == word).map(|i| 1 << i)
    }

    /// The bits of `<a, b>`, brackets included.
    fn parse(&self, text: &str) -> Option<u32> {
        let words = text.trim().strip_prefix('<')?.strip_suffix('>')?;
        if self.separator.is_none() {
            return self.bits_of(words.trim());
        }
        words.split(',').try_fold(0, |set, word| Some(set | self.bits_of(word.trim())?))
    }

    /// The bits of an attribute.
    pub fn bits(&self, cx: &Context, attr: AttrId) -> Option<u32> {
        match *cx.attr(attr) {
            AttrKind::Opaque { text, ty: None } => self.parse(cx.str(text).strip_prefix(self.name)?),
            _ => None,
        }
    }

    /// The set as text, `<a, b>`.
    pub fn text(&self, bits: u32) -> String {
        let words: Vec<&str> = match self.all {
            Some(all) if bits == self.full() => vec![all],
            _ if bits == 0 => vec![self.none],
            _ => self.words.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, w)| *w).collect(),
        };
        format!("<{}>", words.join(self.separator.unwrap_or_default()))
    }

    /// The attribute for a set; `None` for the empty set.
    pub fn attr(&self, cx: &mut Context, bits: u32) -> Option<AttrId> {
        if bits == 0 {
            return None;
        }
        let text = format!("{}{}", self.name, self.text(bits));
        let text = cx.str_id(&text);
        Some(cx.attr_id(AttrKind::Opaque { text, ty: None }))
    }

    /// Canonical form of a set attribute: words in order, `None` for the empty set. Other attributes stay as
    /// they are.
    pub fn canonical(&self, cx: &mut Context, attr: AttrId) -> Option<AttrId> {
        match self.bits(cx, attr) {
            Some(bits) => self.attr(cx, bits),
            None => Some(attr),
        }
    }
}
