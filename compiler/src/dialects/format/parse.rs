//! The parser of the format language.

use super::{Custom, Element, Format, FunctionForm, PartRef, TypePlan, each};
use crate::dialects::corert::OP_ATTRS;
use crate::dialects::def::OpDef;
use crate::ir::KnownType;

impl Format {
    /// Parses a format for an op whose operands, results, attributes, successors and regions are declared
    /// already.
    pub fn parse(text: &'static str, def: &OpDef) -> Result<Format, String> {
        let mut parser = FormatParser { rest: text.trim_start(), def };
        let elements = parser.elements()?;
        if !parser.rest.is_empty() {
            return Err(format!("unexpected `{}`", parser.rest));
        }
        let plan = TypePlan::find(&elements, def)?;
        let mut written_attrs = Vec::new();
        each(&elements, &mut |e| match e {
            Element::Attr(i) => written_attrs.push(*i),
            Element::NamedAttrs(list) => written_attrs.extend(list),
            Element::Custom(Custom::SwitchCases) => {
                let names = ["case_values", "case_operand_segments"];
                written_attrs.extend((0..def.attrs.len()).filter(|i| names.contains(&def.attrs[*i].name)));
            }
            Element::Custom(Custom::RegionCases) => {
                written_attrs.extend(def.attrs.iter().position(|a| a.name == "cases"));
            }
            Element::Custom(Custom::OpAttrs) => {
                written_attrs.extend((0..def.attrs.len()).filter(|i| OP_ATTRS.contains(&def.attrs[*i].name)));
            }
            _ => {}
        });
        written_attrs.extend(def.attrs.iter().position(|a| a.name == "operandSegmentSizes"));
        Ok(Format { text, elements, plan, written_attrs })
    }
}

struct FormatParser<'a> {
    rest: &'static str,
    def: &'a OpDef,
}

impl FormatParser<'_> {
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
                return Ok(match &rest[..end] {
                    " " => Element::Blank,
                    text => Element::Literal(text.into()),
                });
            }
        }
        if self.eat("(") {
            let mut elements = self.elements()?;
            let mut anchor = 0;
            if self.eat("^") {
                anchor = elements.len().checked_sub(1).ok_or("`^` after nothing")?;
                elements.extend(self.elements()?);
            }
            self.expect(")?")?;
            return Ok(Element::Optional { elements, anchor });
        }
        if self.eat("$") {
            let name = self.name();
            return self.named(name).ok_or_else(|| format!("`${name}` is not declared"));
        }
        let word = self.word();
        match word {
            "operands" => return Ok(Element::Operands),
            "attr-dict" => return Ok(Element::AttrDict { keyword: false }),
            "attr-dict-with-keyword" => return Ok(Element::AttrDict { keyword: true }),
            "custom" => {
                self.expect("<")?;
                let form = match self.word() {
                    "module" => Custom::Module,
                    "function" => Custom::Function,
                    "switch-cases" => Custom::SwitchCases,
                    "region-cases" => Custom::RegionCases,
                    "op-attrs" => Custom::OpAttrs,
                    other => return Err(format!("`custom<{other}>` is not known")),
                };
                self.expect(">")?;
                return Ok(Element::Custom(form));
            }
            _ => self.expect("(").map_err(|_| format!("unexpected `{word}{}`", self.rest))?,
        }
        let element = match word {
            "qualified" => self.element()?,
            "type" => {
                let of = self.of()?;
                Element::Types(of, self.assumed()?)
            }
            "functional-type" => self.functional(FunctionForm::Type)?,
            "functional-lists" => self.functional(FunctionForm::Lists)?,
            "chained-lists" => self.functional(FunctionForm::ChainedLists)?,
            "arrow-types" => Element::ArrowTypes(self.of()?, false),
            "arrow-list" => Element::ArrowTypes(self.of()?, true),
            "typed" => Element::Typed(self.operand()?),
            "named-attrs" => {
                let mut attrs = Vec::new();
                while attrs.is_empty() || self.eat(",") {
                    self.expect("$")?;
                    let name = self.name();
                    let index = self.def.attrs.iter().position(|a| a.name == name);
                    attrs.push(index.ok_or_else(|| format!("there is no attribute `{name}`"))?);
                }
                Element::NamedAttrs(attrs)
            }
            "shadow" => {
                let region = self.region()?;
                let mut operands = Vec::new();
                while self.eat(",") {
                    operands.push(self.operand()?);
                }
                Element::Region(region, operands)
            }
            "arg" => {
                let region = self.region()?;
                self.expect(",")?;
                Element::Arg(region, self.operand()?)
            }
            "assign" => {
                let region = self.region()?;
                self.expect(",")?;
                Element::Assign(region, self.operand()?)
            }
            other => return Err(format!("unexpected `{other}`")),
        };
        self.expect(")")?;
        Ok(element)
    }

    /// A word that may have hyphens.
    fn word(&mut self) -> &'static str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    fn named(&self, name: &str) -> Option<Element> {
        let def = self.def;
        let operand = || def.operands.iter().position(|o| o.name == name).map(Element::Operand);
        let attr = || def.attrs.iter().position(|a| a.name == name).map(Element::Attr);
        let successor = || def.successors.iter().position(|s| s.name == name).map(Element::Successor);
        let region = || def.regions.iter().position(|r| r.name == name);
        operand()
            .or_else(attr)
            .or_else(successor)
            .or_else(|| region().map(|i| Element::Region(i, Vec::new())))
    }

    fn operand(&mut self) -> Result<usize, String> {
        self.expect("$")?;
        let name = self.name();
        let index = self.def.operands.iter().position(|o| o.name == name);
        index.ok_or_else(|| format!("there is no operand `{name}`"))
    }

    fn region(&mut self) -> Result<usize, String> {
        self.expect("$")?;
        let name = self.name();
        let index = self.def.regions.iter().position(|r| r.name == name);
        index.ok_or_else(|| format!("there is no region `{name}`"))
    }

    /// `x, y`.
    fn functional(&mut self, form: FunctionForm) -> Result<Element, String> {
        let inputs = self.of()?;
        self.expect(",")?;
        Ok(Element::FunctionalType(inputs, self.of()?, form))
    }

    /// `operands`, `results` or `$name`.
    fn of(&mut self) -> Result<PartRef, String> {
        if self.eat("$") {
            let name = self.name();
            return self.def.value_named(name).ok_or_else(|| format!("`type(${name})`: not declared"));
        }
        match self.name() {
            "operands" => Ok(PartRef::Operands),
            "results" => Ok(PartRef::Results),
            other => Err(format!("`type({other})` is not known")),
        }
    }

    /// ` else T` or nothing.
    fn assumed(&mut self) -> Result<Option<KnownType>, String> {
        if !self.eat("else ") {
            return Ok(None);
        }
        let end = self.rest.find(')').ok_or("unclosed `type(`")?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let known = KnownType::ALL.into_iter().find(|k| k.name() == name);
        known.map(Some).ok_or_else(|| format!("`{name}` is not a known type"))
    }
}
