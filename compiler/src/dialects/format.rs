//! The language in which an op declares its custom form: a subset of ODS's `assemblyFormat`.
//!
//! ```text
//! operands                      all operands, separated by commas
//! $name                         an operand, attribute or region by its declared name
//! type(operands) type(results) type($name)      types, separated by commas
//! functional-type(operands, results)            (T, U) -> V
//! attr-dict                     the other attributes in braces, if there are any
//! attr-dict-with-keyword        the same after `attributes`
//! `,` or ','                    itself
//! ( ... x^ ... )?               all of it or nothing; written if x (an operand, attribute or type list) is there
//! custom<module> custom<function>               the two forms of builtin ops that this language cannot say
//! ```
//!
//! An attribute of a kind that is a choice of words is written as its word, a set of flags as `<a, b>`. A group that
//! begins with the type of an operand that has a default type (`(type($c)^ `,`)?`) is written if the type is another.
//!
//! One format drives parser (`syntax::custom`) and printer (`print::custom`), so they cannot disagree. An attribute
//! of a declared numeric type is written without its type. Operands or results whose types are not written must be
//! declared with exactly one type or follow from others; [`Format::parse`] checks that, as it checks names.

use super::def::{Arity, OpDef};
use super::types::TypeSource;

/// Whose types or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All operands.
    Operands,
    /// All results.
    Results,
    /// The declared operand with this index.
    Operand(usize),
    /// The declared result with this index.
    Result(usize),
}

/// A form that is a piece of code on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Custom {
    /// `@name attributes {...} { ops }`.
    Module,
    /// `private @name(%a: T {attrs}) -> (T {attrs}) attributes {...} { blocks }`.
    Function,
}

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A keyword or punctuation.
    Literal(String),
    /// All operands.
    Operands,
    /// One declared operand (a list, if variadic).
    Operand(usize),
    /// One declared attribute.
    Attr(usize),
    /// The rest of the attributes.
    AttrDict {
        /// After the word `attributes`.
        keyword: bool,
    },
    /// Types.
    Types(Of),
    /// `(operand types) -> result types`.
    FunctionalType,
    /// One declared region.
    Region(usize),
    /// A group that may be absent; `anchor` is the index in `elements` of the element that decides.
    Optional {
        /// The group.
        elements: Vec<Element>,
        /// Index of the deciding element.
        anchor: usize,
    },
    /// A form in code.
    Custom(Custom),
}

/// A parsed format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// As declared.
    pub text: &'static str,
    /// Its pieces.
    pub elements: Vec<Element>,
}

impl Format {
    /// Parses a format for an op whose operands, results, attributes and regions are declared already.
    pub fn parse(text: &'static str, def: &OpDef) -> Result<Format, String> {
        let mut parser = Parser { rest: text.trim_start(), def };
        let elements = parser.elements()?;
        if !parser.rest.is_empty() {
            return Err(format!("unexpected `{}`", parser.rest));
        }
        let format = Format { text, elements };
        format.check_types(def)?;
        Ok(format)
    }

    /// Indices of the declared attributes that the format writes outside of the dictionary.
    pub fn written_attrs(&self) -> Vec<usize> {
        let mut found = Vec::new();
        each(&self.elements, &mut |e| {
            if let Element::Attr(i) = e {
                found.push(*i);
            }
        });
        found
    }

    fn check_types(&self, def: &OpDef) -> Result<(), String> {
        let (mut operands, mut results) = (false, false);
        let mut single = Vec::new();
        each(&self.elements, &mut |e| match e {
            Element::FunctionalType | Element::Custom(_) => (operands, results) = (true, true),
            Element::Types(Of::Operands) => operands = true,
            Element::Types(Of::Results) => results = true,
            Element::Types(of) => single.push(*of),
            _ => {}
        });
        let said = |of: Of| match of {
            Of::Operand(_) if operands => true,
            Of::Result(_) if results => true,
            of => single.contains(&of),
        };
        let follows = |of: Of| {
            def.type_rule(of).is_some_and(|rule| match rule.from {
                TypeSource::Value(source) => said(source),
                TypeSource::Attr(_) | TypeSource::Default(_) => true,
            })
        };
        for (i, o) in def.operands.iter().enumerate() {
            if !said(Of::Operand(i)) && o.ty.only().is_none() && !follows(Of::Operand(i)) {
                return Err(format!("the type of operand `{}` is not written", o.name));
            }
        }
        for (i, r) in def.results.iter().enumerate() {
            let known = r.arity == Arity::One && (r.ty.only().is_some() || follows(Of::Result(i)));
            if !said(Of::Result(i)) && !known {
                return Err(format!("the type of result `{}` is not written", r.name));
            }
        }
        Ok(())
    }
}

fn each(elements: &[Element], f: &mut dyn FnMut(&Element)) {
    for element in elements {
        f(element);
        if let Element::Optional { elements, .. } = element {
            each(elements, f);
        }
    }
}

struct Parser<'a> {
    rest: &'static str,
    def: &'a OpDef,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("expected `{token}` before `{}`", self.rest)) }
    }

    fn name(&mut self) -> &'static str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        name
    }

    fn elements(&mut self) -> Result<Vec<Element>, String> {
        let mut elements = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(')') && !self.rest.starts_with('^') {
            elements.push(self.element()?);
            if self.rest.starts_with('^') {
                break;
            }
        }
        Ok(elements)
    }

    fn element(&mut self) -> Result<Element, String> {
        for quote in ['`', '\''] {
            if let Some(rest) = self.rest.strip_prefix(quote) {
                let end = rest.find(quote).ok_or("unclosed literal")?;
                self.rest = rest[end + 1..].trim_start();
                return Ok(Element::Literal(rest[..end].into()));
            }
        }
        if self.eat("(") {
            let mut elements = self.elements()?;
            let mut anchor = 0;
            if self.eat("^") {
                anchor = elements.len() - 1;
                elements.extend(self.elements()?);
            }
            self.expect(")?")?;
            return Ok(Element::Optional { elements, anchor });
        }
        if self.eat("$") {
            let name = self.name();
            let def = self.def;
            if let Some(i) = def.operands.iter().position(|o| o.name == name) {
                return Ok(Element::Operand(i));
            }
            if let Some(i) = def.attrs.iter().position(|a| a.name == name) {
                return Ok(Element::Attr(i));
            }
            if let Some(i) = def.regions.iter().position(|r| r.name == name) {
                return Ok(Element::Region(i));
            }
            return Err(format!("`${name}` is not declared"));
        }
        if self.eat("functional-type(operands, results)") {
            return Ok(Element::FunctionalType);
        }
        if self.eat("attr-dict-with-keyword") {
            return Ok(Element::AttrDict { keyword: true });
        }
        if self.eat("attr-dict") {
            return Ok(Element::AttrDict { keyword: false });
        }
        if self.eat("operands") {
            return Ok(Element::Operands);
        }
        if self.eat("custom<module>") {
            return Ok(Element::Custom(Custom::Module));
        }
        if self.eat("custom<function>") {
            return Ok(Element::Custom(Custom::Function));
        }
        if self.eat("type(") {
            let of = self.types_of()?;
            self.expect(")")?;
            return Ok(Element::Types(of));
        }
        Err(format!("unexpected `{}`", self.rest))
    }

    fn types_of(&mut self) -> Result<Of, String> {
        if self.eat("$") {
            let name = self.name();
            if let Some(i) = self.def.operands.iter().position(|o| o.name == name) {
                return Ok(Of::Operand(i));
            }
            if let Some(i) = self.def.results.iter().position(|r| r.name == name) {
                return Ok(Of::Result(i));
            }
            return Err(format!("`type(${name})`: not declared"));
        }
        match self.name() {
            "operands" => Ok(Of::Operands),
            "results" => Ok(Of::Results),
            other => Err(format!("`type({other})` is not known")),
        }
    }
}
