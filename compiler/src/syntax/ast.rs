//! The syntax tree that the grammar builds: the text with spans, unresolved.
//!
//! Names stay text, numbers stay tokens, aliases stay names, custom forms stay [`Piece`]s; `lower` gives them
//! meaning. Regions are numbers: the items of region `n` are read when they are needed. A tree represents one
//! item and is dropped once the item is IR.

use super::token::{Kind, Tok};
use crate::diag::Span;
use smallvec::SmallVec;

/// An item of a region.
#[derive(Debug)]
pub(super) enum Item {
    Op(Op),
    /// An item with a syntax error: the names that it defines, and the regions inside of it.
    Broken {
        results: Vec<Tok>,
        regions: Vec<u32>,
    },
    Label(BlockLabel),
    /// `#a = attribute`, `#l = loc(...)`.
    AttrAlias {
        name: Tok,
        value: AttrSyntax,
    },
    /// `!t = type`.
    TypeAlias {
        name: Tok,
        value: TypeSyntax,
    },
    /// `{-# ... #-}`.
    Resource(Tok),
}

/// `^bb0(%a: i32):`
#[derive(Debug)]
pub(super) struct BlockLabel {
    pub(super) name: Tok,
    pub(super) args: Vec<Arg>,
}

/// `%a: i32 loc(...)`
#[derive(Debug)]
pub(super) struct Arg {
    pub(super) name: Tok,
    pub(super) ty: TypeSyntax,
    pub(super) loc: Option<Box<LocSyntax>>,
}

/// `%a, %b:2 =`: names and counts.
pub(super) type ResultList = SmallVec<[(Tok, Option<Tok>); 1]>;

/// An operation.
#[derive(Debug)]
pub(super) struct Op {
    pub(super) results: ResultList,
    /// The name: a string in generic form, else a word.
    pub(super) name: Tok,
    pub(super) body: OpBody,
    pub(super) loc: Option<Box<LocSyntax>>,
}

/// The part of an operation after its name.
#[derive(Debug)]
pub(super) enum OpBody {
    Generic(Box<Generic>),
    Custom(Vec<Piece>),
    /// A custom form whose pieces are single tokens: the first one and how many there are.
    Tokens(u32, u32),
}

/// `(%a)[^bb] <{...}> ({...}) {...} : (T) -> U`
#[derive(Debug)]
pub(super) struct Generic {
    pub(super) operands: Vec<Tok>,
    pub(super) successors: Vec<Tok>,
    pub(super) properties: Option<AttrSyntax>,
    pub(super) regions: Vec<RegionRef>,
    pub(super) attrs: Vec<DictEntry>,
    pub(super) inputs: Vec<TypeSyntax>,
    pub(super) outputs: Vec<TypeSyntax>,
    pub(super) type_span: Span,
}

/// A region: its number, or `None` for `{}`.
pub(super) type RegionRef = Option<u32>;

/// `name = value` in a dictionary; without a value it is `unit`.
#[derive(Debug)]
pub(super) struct DictEntry {
    pub(super) name: Tok,
    pub(super) value: Option<AttrSyntax>,
}

/// A type.
#[derive(Debug)]
pub(super) struct TypeSyntax {
    pub(super) span: Span,
    pub(super) kind: TypeSyntaxKind,
}

/// Syntax of a type.
#[derive(Debug)]
pub(super) enum TypeSyntaxKind {
    /// `i32`.
    Word(Tok),
    /// `!t`, `!d.t`, `!d.t<...>`.
    Bang(Tok),
    Complex(Box<TypeSyntax>),
    Tuple(Vec<TypeSyntax>),
    /// tensor, vector or memref (by the token): dimensions, element type, parameters after commas.
    Shaped(Box<Shaped>),
    Function(Box<(Vec<TypeSyntax>, Vec<TypeSyntax>)>),
}

/// `tensor<2x?xf32, #encoding>`.
#[derive(Debug)]
pub(super) struct Shaped {
    pub(super) word: Tok,
    pub(super) dims: Vec<Tok>,
    pub(super) elem: TypeSyntax,
    pub(super) more: Vec<AttrSyntax>,
}

/// An attribute.
#[derive(Debug)]
pub(super) struct AttrSyntax {
    pub(super) span: Span,
    pub(super) kind: AttrSyntaxKind,
}

/// A number: its token and whether `-` stood before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberLiteral {
    pub(super) tok: Tok,
    pub(super) negative: bool,
}

/// Syntax of an attribute.
#[derive(Debug)]
pub(super) enum AttrSyntaxKind {
    Number(NumberLiteral, Option<Box<TypeSyntax>>),
    Str(Tok, Option<Box<TypeSyntax>>),
    /// `true`, `unit`, `i32`.
    Word(Tok),
    /// `#a`, `#d.a`, `#d.a<...>`.
    Hash(Tok, Option<Box<TypeSyntax>>),
    Symbol(Vec<Tok>),
    Array(Vec<AttrSyntax>),
    Dict(Vec<DictEntry>),
    /// `array<T: ...>`.
    DenseArray(Box<DenseArray>),
    Dense(Option<Box<DenseBody>>, Box<TypeSyntax>),
    /// `sparse<indices, values> : T`.
    Sparse(Option<Box<(DenseBody, DenseBody)>>, Box<TypeSyntax>),
    /// `dense_resource<key> : T`.
    Resource(Tok, Box<TypeSyntax>),
    /// `affine_map<...>`, `affine_set<...>`, `strided<...>`.
    Verbatim(Tok),
    Distinct(Tok, Option<Box<AttrSyntax>>),
    Type(Box<TypeSyntax>),
    Loc(Box<LocSyntax>),
}

/// `array<i32: 1, 2>`: numbers, or words if they are booleans.
#[derive(Debug)]
pub(super) struct DenseArray {
    pub(super) elem: TypeSyntax,
    pub(super) numbers: Vec<NumberLiteral>,
    pub(super) words: Vec<Tok>,
}

/// The contents of `dense<...>`.
#[derive(Debug)]
pub(super) enum DenseBody {
    List(Vec<DenseBody>, Span),
    Number(NumberLiteral),
    /// `true`, `false`.
    Word(Tok),
    /// A string element, or all bytes in hexadecimal.
    Str(Tok),
    Complex(NumberLiteral, NumberLiteral),
}

/// A location.
#[derive(Debug)]
pub(super) struct LocSyntax {
    pub(super) span: Span,
    pub(super) kind: LocSyntaxKind,
}

/// Syntax of a location.
#[derive(Debug)]
pub(super) enum LocSyntaxKind {
    /// `unknown`.
    Word(Tok),
    /// `#loc`.
    Alias(Tok),
    /// `"name"`, `"name"(child)`.
    Name(Tok, Option<Box<LocSyntax>>),
    /// `"file":1:2`.
    File(Tok, Tok, Tok),
    /// `"file":1:2 to 3:4`, where 3 may be missing.
    Range(Box<(Tok, [Tok; 2], Option<Tok>, Tok)>),
    /// `callsite(a at b)`: the two words, for checking.
    CallSite(Tok, Box<LocSyntax>, Tok, Box<LocSyntax>),
    /// `fused<meta>[a, b]`.
    Fused(Tok, Option<Box<AttrSyntax>>, Vec<LocSyntax>),
}

/// A piece of a custom form.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) span: Span,
    pub(super) kind: PieceKind,
}

/// Syntax of a piece.
#[derive(Debug)]
pub(super) enum PieceKind {
    /// A piece that is a single token: value, word, number, string, punctuation, alias, `^bb`.
    Tok(Tok),
    /// `@a::@b`.
    Symbol(Vec<Tok>),
    /// An attribute that begins with a word of its own, or a dictionary.
    Attr(Box<AttrSyntax>),
    /// A type that begins with a word of its own.
    Type(Box<TypeSyntax>),
    /// Balanced brackets: the opening one and the contents.
    Group(Kind, Vec<Piece>),
    /// `{ ops }`.
    Region(u32),
    /// `{}`: an empty dictionary or an empty region.
    EmptyBraces,
    Loc(Box<LocSyntax>),
}
