//! TensorFlow's signatures: what an operator takes, gives and can be told.
//!
//! ```text
//! signatures.txt, sorted by name, a line each:
//!
//!     ConcatV2 values:N*T axis:Tidx -> output:T; N:int T:type Tidx:type=int32
//!     Assert! condition:bool data:*T ->; T:list(type) summarize:int=3
//!
//! line  := name ['!'] { arg } '->' { arg } [ ';' { attr } ]           '!': has effects or state
//! arg   := name ':' [ number '*' ] type | name ':' '*' list           `number` an int attribute, `list` one of list(type)
//! type  := 'float' .. | attribute | 'Ref(' type ')'
//! attr  := name ':' kind [ '=' default ]                              sorted by name
//! default := 3 | 0.5 | true | 'text' | float .. | ? | [2,-1] | [default,..]       `?`: a shape of unknown rank
//! ```
//!
//! A line is found by bisection and parsed when its operator is asked for, so what is not used costs nothing.
//!
//! The lines are facts of TensorFlow's registrations (2.21): names and defaults are exact, since graphs leave defaults out and functions
//! refer to results by name. Not here: which types an attribute allows, and minimal lengths; the evaluators complain about those.

use super::types::Type;

const LINES: &str = include_str!("signatures.txt");

/// What an operator takes, gives and can be told.
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
    /// Whether it has effects or state, so that equal nodes are not one.
    pub is_stateful: bool,
}

/// An operand or result, or several in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name.
    pub name: &'static str,
    /// Its element type.
    pub ty: ArgType,
    /// The attribute that says how many there are; one if there is none.
    pub number: Option<&'static str>,
    /// Whether it is a reference to a variable.
    pub is_ref: bool,
}

/// The element type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// Always this one.
    Is(Type),
    /// What the type attribute of this name says.
    Attr(&'static str),
    /// As many operands as the list(type) attribute of this name has types.
    List(&'static str),
}

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// What values it has.
    pub kind: AttrKind,
    /// Its value where none is given; a must if there is none.
    pub default: Option<DefaultValue>,
}

/// What values an attribute has.
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

/// The value of an attribute that is not given.
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
    /// Of kind `shape`: the dimensions, -1 for an unknown one; nothing if the rank is unknown.
    Shape(Option<Vec<i64>>),
    /// Of a list.
    List(Vec<DefaultValue>),
}

impl Signature {
    /// The attribute with this name.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        let at = self.attrs.binary_search_by_key(&name, |attr| attr.name).ok()?;
        self.attrs.get(at)
    }
}

/// The signature of the operator with this name.
pub fn signature(name: &str) -> Option<Signature> {
    parse(find(name)?)
}

/// The names of all operators, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    LINES.lines().map(name_of)
}

fn name_of(line: &str) -> &str {
    let word = line.split(' ').next().unwrap_or_default();
    word.strip_suffix('!').unwrap_or(word)
}

/// The line of an operator, by bisection: `low` and `high` are where lines begin.
fn find(name: &str) -> Option<&'static str> {
    let (mut low, mut high) = (0, LINES.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = LINES.get(..middle)?.rfind('\n').map_or(0, |at| at + 1).max(low);
        let line = LINES.get(start..)?.lines().next()?;
        match name_of(line).cmp(name) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

fn parse(line: &'static str) -> Option<Signature> {
    let (name, rest) = line.split_once(' ')?;
    let (args, attrs) = rest.split_once(';').unwrap_or((rest, ""));
    let (inputs, outputs) = args.split_once("->")?;
    Some(Signature {
        name: name.strip_suffix('!').unwrap_or(name),
        inputs: inputs.split_whitespace().map(parse_arg).collect::<Option<_>>()?,
        outputs: outputs.split_whitespace().map(parse_arg).collect::<Option<_>>()?,
        attrs: attrs.split_whitespace().map(parse_attr).collect::<Option<_>>()?,
        is_stateful: name.ends_with('!'),
    })
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
    let kind = match kind.strip_prefix("list(").and_then(|kind| kind.strip_suffix(')')) {
        Some(element) => AttrKind::List(element_kind(element)?),
        None => *element_kind(kind)?,
    };
    let default = match default {
        Some(text) => Some(parse_default(kind, text)?),
        None => None,
    };
    Some(AttrDef { name, kind, default })
}

fn element_kind(name: &str) -> Option<&'static AttrKind> {
    Some(match name {
        "type" => &AttrKind::Type,
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
            DefaultValue::String(text.replace("\\n", "\n"))
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

/// What is between brackets and commas. No list has lists of shapes for a default.
fn items(text: &str) -> Option<impl Iterator<Item = &str>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(inside.split(',').filter(|item| !item.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    #[test]
    fn every_line_is_sorted_found_and_says_what_it_means() {
        let all: Vec<&str> = names().collect();
        assert!(all.is_sorted_by(|a, b| a < b) && all.len() > 250);
        for (line, name) in LINES.lines().zip(&all) {
            let signature = signature(name).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(signature.name, *name);
            assert!(signature.attrs.is_sorted_by(|a, b| a.name < b.name), "{line}");
            let written = line.split_once(';').map_or("", |(_, attrs)| attrs);
            assert_eq!(signature.attrs.len(), written.split_whitespace().count(), "{line}");
            let defaults = signature.attrs.iter().filter(|attr| attr.default.is_some());
            assert_eq!(defaults.count(), written.matches('=').count(), "{line}");
            for arg in signature.inputs.iter().chain(&signature.outputs) {
                let kind = |name: &str| signature.attr(name).map(|attr| attr.kind);
                match arg.ty {
                    ArgType::Is(_) => {}
                    ArgType::Attr(name) => assert_eq!(kind(name), Some(AttrKind::Type), "{line}"),
                    ArgType::List(name) => {
                        assert_eq!(kind(name), Some(AttrKind::List(&AttrKind::Type)), "{line}");
                    }
                }
                if let Some(number) = arg.number {
                    assert_eq!(kind(number), Some(AttrKind::Int), "{line}");
                }
            }
        }
        for name in ["", "A", "zzz", "Concat V2", "Abort!", "Ifs", "_", "\n"] {
            assert_eq!(signature(name), None, "{name}");
        }
    }

    #[test]
    fn lines_are_read_as_written() {
        let of = |name: &str| signature(name).unwrap();
        let concat = of("ConcatV2");
        let values = Arg { name: "values", ty: ArgType::Attr("T"), number: Some("N"), is_ref: false };
        assert_eq!(concat.inputs[0], values);
        let tidx = DefaultValue::Type(Type::Dense(DType::I32));
        assert_eq!(concat.attr("Tidx").unwrap().default, Some(tidx));
        assert_eq!(concat.attr("N").unwrap().default, None);
        assert!(!concat.is_stateful && of("Assert").is_stateful);
        assert_eq!(of("Assert").outputs, []);
        assert_eq!(of("IdentityN").outputs[0].ty, ArgType::List("T"));
        assert_eq!(of("Less").outputs[0].ty, ArgType::Is(Type::Dense(DType::I1)));
        assert!(of("Assign").inputs[0].is_ref && !of("Assign").inputs[1].is_ref);
        let default = |op: &str, attr: &str| of(op).attr(attr).unwrap().default.clone().unwrap();
        let ones = DefaultValue::List(vec![DefaultValue::Int(1); 4]);
        assert_eq!(default("Conv2D", "dilations"), ones);
        assert_eq!(default("Conv2D", "data_format"), DefaultValue::String("NHWC".to_owned()));
        assert_eq!(default("PrintV2", "end"), DefaultValue::String("\n".to_owned()));
        assert_eq!(default("Placeholder", "shape"), DefaultValue::Shape(None));
        assert_eq!(default("VarHandleOp", "container"), DefaultValue::String(String::new()));
        assert_eq!(default("FusedBatchNormV3", "epsilon"), DefaultValue::Float(1e-4));
        assert_eq!(of("If").attr("then_branch").unwrap().kind, AttrKind::Func);
        assert_eq!(of("Const").attr("value").unwrap().kind, AttrKind::Tensor);
    }
}
