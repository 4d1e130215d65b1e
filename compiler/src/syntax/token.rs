//! Tokens.

use crate::diag::Span;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// `%x`, `%x#1`.
    Value,
    /// `^bb`.
    Caret,
    /// `@f`, `@"f g"`.
    At,
    /// `#a`.
    Hash,
    /// `#d.a<...>`.
    HashBody,
    /// `!t`, `!d.t`.
    Bang,
    /// `!d.t<...>`.
    BangBody,
    Int,
    Hex,
    Float,
    Str,
    // `name<` or `name(`: the word alone; the bracket is a separate token.
    Tensor,
    Vector,
    MemRef,
    Complex,
    Tuple,
    Dense,
    Array,
    Distinct,
    Loc,
    /// `to` in a location: after `"file":1:2`.
    To,
    Sparse,
    DenseResource,
    /// `affine_map<...>` and the like: the word with its brackets and their contents.
    Verbatim,
    // Before the element type of a shaped type, without the `x`.
    DimStatic,
    DimDynamic,
    DimUnranked,
    DimScalable,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    LAngle,
    RAngle,
    Comma,
    Colon,
    ColonColon,
    Eq,
    Arrow,
    Minus,
    Plus,
    Question,
    Star,
    Bar,
    /// `{-# ... #-}`.
    Resource,
    // Made by `structure`.
    /// The `{` of a region; `end` is the number of the region.
    RegionOpen,
    /// The `}` of a region.
    RegionClose,
    /// Skipped: a bracket without a partner.
    Skipped,
    /// Zero width: an operation begins.
    OpMark,
    /// Zero width: a block label begins.
    LabelMark,
    /// Zero width: an alias definition begins.
    AliasMark,
}

/// Kind of item that begins with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Nothing,
    Line,
    // Made by `structure`.
    Op,
    Label,
    Alias,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tok {
    pub(super) kind: Kind,
    pub(super) mark: Mark,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Tok {
    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }

    /// The text of the token.
    pub(super) fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}
