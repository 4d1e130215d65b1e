//! Enumerations: attributes that custom forms write as words.
//!
//! An [`EnumDef`] is a choice of one: the attribute is an integer, the form has the word that stands at its position.
//! A [`FlagsDef`] is a set: the attribute is `#dialect.name<a, b>`, the form has `<a, b>`. The empty set is what an op
//! without the attribute means, so an op never has it: [`FlagsDef::canonical`] is how the parser makes that so.

use crate::ir::{AttrId, AttrKind, Context, KnownType};

/// A choice of one word.
#[derive(Debug, PartialEq, Eq)]
pub struct EnumDef {
    /// What it is, for messages.
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
    /// The word for all of them, if there is one.
    pub all: Option<&'static str>,
    /// What stands between words.
    pub separator: &'static str,
}

impl FlagsDef {
    const NONE: &'static str = "none";

    /// The set with every word.
    pub fn full(&self) -> u32 {
        (1 << self.words.len()) - 1
    }

    /// The set that a word stands for.
    pub fn bits_of(&self, word: &str) -> Option<u32> {
        if word == Self::NONE {
            return Some(0);
        }
        if self.all == Some(word) {
            return Some(self.full());
        }
        self.words.iter().position(|w| *w == word).map(|i| 1 << i)
    }

    /// The set in `<a, b>`, brackets included.
    fn parse(&self, text: &str) -> Option<u32> {
        let words = text.trim().strip_prefix('<')?.strip_suffix('>')?;
        words.split(',').try_fold(0, |set, word| Some(set | self.bits_of(word.trim())?))
    }

    /// The set that an attribute is.
    pub fn bits(&self, cx: &Context, attr: AttrId) -> Option<u32> {
        match *cx.attr(attr) {
            AttrKind::Opaque { text, ty: None } => self.parse(cx.str(text).strip_prefix(self.name)?),
            _ => None,
        }
    }

    /// `<a, b>`.
    pub fn text(&self, bits: u32) -> String {
        let words: Vec<&str> = match self.all {
            Some(all) if bits == self.full() => vec![all],
            _ if bits == 0 => vec![Self::NONE],
            _ => self.words.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, w)| *w).collect(),
        };
        format!("<{}>", words.join(self.separator))
    }

    /// The attribute for a set; none for the empty set.
    pub fn attr(&self, cx: &mut Context, bits: u32) -> Option<AttrId> {
        if bits == 0 {
            return None;
        }
        let text = format!("{}{}", self.name, self.text(bits));
        let text = cx.str_id(&text);
        Some(cx.attr_id(AttrKind::Opaque { text, ty: None }))
    }

    /// An attribute as an op keeps it: words in order, nothing for the empty set. What is no set stays as it is.
    pub fn canonical(&self, cx: &mut Context, attr: AttrId) -> Option<AttrId> {
        match self.bits(cx, attr) {
            Some(bits) => self.attr(cx, bits),
            None => Some(attr),
        }
    }
}
