//! TensorFlow's signatures: operands, results and attributes.
//!
//! ```text
//! values:N*T axis:Tidx -> output:T; N:int T:type Tidx:type=int32          ConcatV2
//! !condition:bool data:*T ->; T:list(type) summarize:int=3                Assert
//!
//! signature := ['!'] { arg } '->' { arg } [ ';' { attr } ]        '!': has effects or state in TensorFlow
//! arg   := name ':' [ number '*' ] type | name ':' '*' list   `number`: int, `list`: list(type) attribute
//! type  := 'float' .. | attribute | 'Ref(' type ')'
//! attr  := name ':' kind [ '=' default ]                          sorted by name
//! kind  := 'type' | 'int' .. | 'qtype': a type of quantized integers (`types`)
//! default := 3 | 0.5 | true | 'text' | float .. | ? | [2,-1] | [default,..]     `?`: a shape of unknown rank
//! ```
//!
//! A signature is part of its operator's row and parsed once, on first use.
//!
//! Signatures copy TensorFlow's registrations (2.21): names and defaults are exact, since graphs omit
//! defaults and functions refer to results by name. Not here: the types allowed for an attribute, and minimal
//! lengths; the functions check those.

use std::fmt;

use super::types::Type;

/// The operands, results and attributes of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// TensorFlow's name of the operator.
    pub name: &'static str,
    /// The operands.
    pub inputs: Vec<Arg>,
    /// The results.
    pub outputs: Vec<Arg>,
    /// The attributes, sorted by name.
    pub attrs: Vec<AttrDef>,
    /// True if TensorFlow declares effects or state.
    pub is_stateful: bool,
}

/// An operand or result, or a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name.
    pub name: &'static str,
    /// Its element type.
    pub ty: ArgType,
    /// The attribute with the length of the list; `None` for a single one.
    pub number: Option<&'static str>,
    /// True for a reference to a variable.
    pub is_ref: bool,
}

/// The element type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// A fixed type.
    Is(Type),
    /// The value of the type attribute of this name.
    Attr(&'static str),
    /// One operand per type in the list(type) attribute of this name.
    List(&'static str),
}

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: AttrKind,
    /// Its default value; `None` if the attribute is required.
    pub default: Option<DefaultValue>,
    /// True for a type that stands for TensorFlow's quantized type of the same size, if it is an integer.
    pub is_quantized: bool,
}

/// The kind of an attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are TensorFlow's and say it")]
pub enum AttrKind {
    Type,
    Int,
    Float,
    Bool,
    String,
    Shape,
    Tensor,
    Func,
    List(&'static AttrKind),
}

impl fmt::Display for AttrKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AttrKind::Type => "type",
            AttrKind::Int => "int",
            AttrKind::Float => "float",
            AttrKind::Bool => "bool",
            AttrKind::String => "string",
            AttrKind::Shape => "shape",
            AttrKind::Tensor => "tensor",
            AttrKind::Func => "func",
            AttrKind::List(element) => return write!(f, "list({element})"),
        })
    }
}

/// The default value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// Of kind `type`.
    Type(Type),
    /// Of kind `int`.
    Int(i64),
    /// Of kind `float`.
    Float(f64),
    /// Of kind `bool`.
    Bool(bool),
    /// Of kind `string`.
    String(String),
    /// Of kind `shape`: the dimensions, -1 for an unknown one; `None` if the rank is unknown.
    Shape(Option<Vec<i64>>),
    /// Of a list.
    List(Vec<DefaultValue>),
}

impl Signature {
    /// Parses the signature of a row; `None` if it is malformed.
    pub(super) fn parse(name: &'static str, text: &'static str) -> Option<Signature> {
        let (is_stateful, text) = match text.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (args, attrs) = text.split_once(';').unwrap_or((text, ""));
        let (inputs, outputs) = args.split_once("->")?;
        Some(Signature {
            name,
            inputs: inputs.split_whitespace().map(parse_arg).collect::<Option<_>>()?,
            outputs: outputs.split_whitespace().map(parse_arg).collect::<Option<_>>()?,
            attrs: attrs.split_whitespace().map(parse_attr).collect::<Option<_>>()?,
            is_stateful,
        })
    }

    /// True if the type of an operand or result stands for a quantized type, if it is an integer.
    pub fn is_quantized(&self, arg: &Arg) -> bool {
        matches!(arg.ty, ArgType::Attr(name) if self.attr(name).is_some_and(|attr| attr.is_quantized))
    }

    /// The attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        let at = self.attrs.binary_search_by_key(&name, |attr| attr.name).ok()?;
        self.attrs.get(at)
    }
}

fn parse_arg(word: &'static str) -> Option<Arg> {
    let (name, ty) = word.split_once(':')?;
    let (number, ty) = match ty.split_once('*') {
        Some(("", list)) => return Some(Arg { name, ty: ArgType::List(list), number: None, is_ref: false }),
        Some((number, ty)) => (Some(number), ty),
        None => (None, ty),
    };
    let referred = ty.strip_prefix("Ref(").and_then(|ty| ty.strip_suffix(')'));
    let ty = referred.unwrap_or(ty);
    let ty = Type::named(ty).map_or(ArgType::Attr(ty), ArgType::Is);
    Some(Arg { name, ty, number, is_ref: referred.is_some() })
}

fn parse_attr(word: &'static str) -> Option<AttrDef> {
    let (name, rest) = word.split_once(':')?;
    let (kind, default) = rest.split_once('=').map_or((rest, None), |(kind, text)| (kind, Some(text)));
    let is_quantized = kind == "qtype";
    let kind = match kind.strip_prefix("list(").and_then(|kind| kind.strip_suffix(')')) {
        Some(element) => AttrKind::List(element_kind(element)?),
        None => *element_kind(kind)?,
    };
    let default = match default {
        Some(text) => Some(parse_default(kind, text)?),
        None => None,
    };
    Some(AttrDef { name, kind, default, is_quantized })
}

fn element_kind(name: &str) -> Option<&'static AttrKind> {
    Some(match name {
        "type" | "qtype" => &AttrKind::Type,
        "int" => &AttrKind::Int,
        "float" => &AttrKind::Float,
        "bool" => &AttrKind::Bool,
        "string" => &AttrKind::String,
        "shape" => &AttrKind::Shape,
        "tensor" => &AttrKind::Tensor,
        "func" => &AttrKind::Func,
        _ => return None,
    })
}

fn parse_default(kind: AttrKind, text: &str) -> Option<DefaultValue> {
    Some(match kind {
        AttrKind::Type => DefaultValue::Type(Type::named(text)?),
        AttrKind::Int => DefaultValue::Int(text.parse().ok()?),
        AttrKind::Float => DefaultValue::Float(text.parse().ok()?),
        AttrKind::Bool => DefaultValue::Bool(text.parse().ok()?),
        AttrKind::String => {
            let text = text.strip_prefix('\'')?.strip_suffix('\'')?;
            DefaultValue::String(text.replace("\\n", "\n").replace("\\t", "\t"))
        }
        AttrKind::Shape if text == "?" => DefaultValue::Shape(None),
        AttrKind::Shape => {
            DefaultValue::Shape(Some(items(text)?.map(|dim| dim.parse().ok()).collect::<Option<_>>()?))
        }
        AttrKind::Tensor | AttrKind::Func => return None,
        AttrKind::List(of) => {
            DefaultValue::List(items(text)?.map(|item| parse_default(*of, item)).collect::<Option<_>>()?)
        }
    })
}

/// The items between brackets, separated by commas. No list of shapes occurs as a default.
fn items(text: &str) -> Option<impl Iterator<Item = &str>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(inside.split(',').filter(|item| !item.is_empty()))
}
