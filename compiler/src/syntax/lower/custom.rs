//! Custom forms: the pieces of an op, parsed by its declared format.
//!
//! Parsing collects names, types and attributes in a [`Form`]; `typing` then infers the omitted types and
//! builds the parts of the op. The same format drives the printer.

use super::ops::{Blocks, Parts};
use super::pieces::{Cursor, Pieces};
use super::{Lower, errors};
use crate::diag::Span;
use crate::dialects::format::{Custom, Element, FunctionForm, PartRef};
use crate::dialects::{Arity, AttrConstraint, AttrDef, EnumDef, FlagsDef, OpDef};
use crate::ir::{AttrId, KnownType, OpNameId, StrId, TypeId};
use crate::syntax::ast::{Op, PieceKind, RegionRef};
use crate::syntax::token::{Kind, Tok};
use smallvec::SmallVec;

/// Reads a region.
pub(super) fn region(cursor: &mut Cursor<'_>) -> Option<RegionRef> {
    let region = match cursor.tree() {
        Some(PieceKind::Region(n)) => Some(*n),
        Some(PieceKind::EmptyBraces) => None,
        _ => return None,
    };
    cursor.skip();
    Some(region)
}

/// The parsed contents of a form.
#[derive(Default)]
pub(super) struct Form {
    /// Operands with the index of the declared one.
    pub(super) operands: SmallVec<[(usize, Tok); 4]>,
    /// Types as written.
    pub(super) types: SmallVec<[(PartRef, SmallVec<[TypeId; 4]>); 2]>,
    pub(super) attrs: SmallVec<[(StrId, AttrId); 2]>,
    pub(super) successors: Vec<Tok>,
    pub(super) regions: SmallVec<[(usize, RegionRef); 2]>,
    /// Arguments of regions.
    pub(super) args: Vec<RegionArgs>,
}

/// Arguments of a region, one for each value of an operand.
pub(super) struct RegionArgs {
    pub(super) region: usize,
    pub(super) operand: usize,
    /// Their names; `None` if they are those of the operands.
    pub(super) names: Option<Vec<Tok>>,
}

impl Form {
    /// The number of the operands so far that belong to a part.
    fn count(&self, of: PartRef) -> usize {
        let is_part = |index: usize| match of {
            PartRef::Operands => true,
            PartRef::Operand(part) => index == part,
            PartRef::Results | PartRef::Result(_) => false,
        };
        self.operands.iter().filter(|(index, _)| is_part(*index)).count()
    }
}

impl Lower<'_> {
    pub(super) fn custom_op(
        &mut self,
        op: &Op,
        pieces: Pieces<'_>,
        blocks: &mut Blocks,
        parts: &mut Parts,
    ) -> Option<OpNameId> {
        let (name, def) = self.op_word(self.text(op.name));
        let Some(def) = def else {
            let text = self.text(op.name);
            self.unknown(op.name.span(), text);
            return None;
        };
        let Some(format) = &def.format else {
            self.report(errors::not_custom(op.name.span(), &def.name));
            return None;
        };
        if format.plan.operands_only
            && let Pieces::Toks(toks) = pieces
            && is_list(toks, def.operands.len())
        {
            self.operands_only(toks, def, parts);
            return Some(name);
        }
        let end = pieces.last_span().unwrap_or(op.name.span());
        let mut cursor = Cursor::new(pieces, end);
        match format.elements.as_slice() {
            [Element::Custom(Custom::Module)] => self.module_form(&mut cursor, parts)?,
            [Element::Custom(Custom::Function)] => self.function_form(&mut cursor, parts)?,
            elements => {
                let mut form = Form::default();
                self.elements(elements, def, &mut cursor, &mut form)?;
                if !cursor.is_done() {
                    self.mismatch("the end of the operation", &cursor, def);
                    return None;
                }
                self.finish(&mut form, def, format, op, blocks, parts)?;
            }
        }
        self.at_end(&mut cursor)?;
        Some(name)
    }

    /// Shortcut for [`Lower::elements`] and [`Lower::finish`] if a form consists of its operands and all
    /// types are known, as for most ops of most programs.
    fn operands_only(&mut self, toks: &[Tok], def: &OpDef, parts: &mut Parts) {
        for (tok, operand) in toks.iter().step_by(2).zip(&def.operands) {
            if let Some(ty) = operand.ty.only() {
                parts.operands.push(self.value(*tok, ty));
                parts.operand_spans.push(tok.span());
            }
        }
        parts.results.extend(def.results.iter().filter_map(|r| r.ty.only()));
    }

    pub(super) fn at_end(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.is_done() {
            return Some(());
        }
        self.expected("the end of the operation", cursor)
    }

    fn found(&self, cursor: &Cursor<'_>) -> String {
        let span = cursor.span();
        match cursor.tree() {
            _ if cursor.is_done() => "its end".into(),
            Some(PieceKind::Region(_) | PieceKind::EmptyBraces) => "`{`".into(),
            Some(PieceKind::Group(..)) => {
                format!("`{}`", self.span_text(Span { end: span.start + 1, ..span }))
            }
            _ => format!("`{}`", errors::shorten(self.span_text(span))),
        }
    }

    /// Reports that `what` was expected instead of the next piece.
    pub(super) fn expected<T>(&mut self, what: &str, cursor: &Cursor<'_>) -> Option<T> {
        let found = self.found(cursor);
        self.report(errors::expected(cursor.span(), what, &found));
        None
    }

    fn mismatch(&mut self, what: &str, cursor: &Cursor<'_>, def: &OpDef) {
        let found = self.found(cursor);
        let form = def.format.as_ref().map_or("", |f| f.text);
        self.report(errors::format_mismatch(cursor.span(), what, &found, &def.name, form));
    }

    fn elements(
        &mut self,
        elements: &[Element],
        def: &'static OpDef,
        cursor: &mut Cursor<'_>,
        form: &mut Form,
    ) -> Option<()> {
        for (i, element) in elements.iter().enumerate() {
            // Brackets are groups: `(` and `)` with their contents.
            if let Element::Literal(text) = element
                && let Some(open) = opener(text)
            {
                let Some(mut inner) = cursor.eat_group(open) else {
                    self.mismatch(&format!("`{text}`"), cursor, def);
                    return None;
                };
                let rest = &elements[i + 1..];
                let close = matching(rest);
                self.elements(&rest[..close], def, &mut inner, form)?;
                if !inner.is_done() {
                    self.mismatch("the closing bracket", &inner, def);
                    return None;
                }
                return self.elements(rest.get(close + 1..).unwrap_or(&[]), def, cursor, form);
            }
            self.format_element(element, def, cursor, form)?;
        }
        Some(())
    }

    fn format_element(
        &mut self,
        element: &Element,
        def: &'static OpDef,
        cursor: &mut Cursor<'_>,
        form: &mut Form,
    ) -> Option<()> {
        match element {
            Element::Blank => {}
            Element::Literal(text) => {
                if !text.is_empty() && !self.literal(text, cursor) {
                    self.mismatch(&format!("`{text}`"), cursor, def);
                    return None;
                }
            }
            Element::Operands => {
                let from = form.operands.len();
                self.operands(cursor, |tok| form.operands.push((form.operands.len() - from, tok)))?;
                let n = form.operands.len() - from;
                if n > def.operands.len() || def.variadic_operand().is_some() {
                    for (i, (index, _)) in form.operands[from..].iter_mut().enumerate() {
                        *index = def.operand_index(i, n).unwrap_or(def.operands.len());
                    }
                }
            }
            Element::Operand(index) => {
                let operand = def.operands.get(*index)?;
                match operand.arity {
                    Arity::Variadic => self.operands(cursor, |tok| form.operands.push((*index, tok)))?,
                    Arity::Optional => form.operands.extend(cursor.eat(Kind::Value).map(|tok| (*index, tok))),
                    Arity::One => match cursor.eat(Kind::Value) {
                        Some(tok) => form.operands.push((*index, tok)),
                        None => {
                            self.mismatch(&format!("the operand `{}`", operand.name), cursor, def);
                            return None;
                        }
                    },
                }
            }
            Element::Typed(index) => {
                let mut types = SmallVec::new();
                while cursor.tok(Kind::Value).is_some() || !types.is_empty() {
                    let Some(tok) = cursor.eat(Kind::Value) else { return self.expected("a value", cursor) };
                    if cursor.eat(Kind::Colon).is_none() {
                        return self.expected("`:` and the type of the operand", cursor);
                    }
                    types.push(self.piece_type(cursor)?);
                    form.operands.push((*index, tok));
                    if cursor.eat(Kind::Comma).is_none() {
                        break;
                    }
                }
                form.types.push((PartRef::Operand(*index), types));
            }
            Element::Attr(index) => self.declared_attr(def.attrs.get(*index)?, def, cursor, form)?,
            Element::NamedAttrs(attrs) => loop {
                let word = cursor.tok(Kind::Word).map(|t| self.text(t));
                let attr = attrs.iter().filter_map(|i| def.attrs.get(*i)).find(|a| Some(a.name) == word);
                let Some(attr) = attr else {
                    self.mismatch("the name of an attribute", cursor, def);
                    return None;
                };
                cursor.skip();
                if cursor.eat(Kind::Eq).is_none() {
                    return self.expected("`=`", cursor);
                }
                self.declared_attr(attr, def, cursor, form)?;
                if cursor.eat(Kind::Comma).is_none() {
                    break;
                }
            },
            Element::AttrDict { keyword } => {
                if !keyword || self.literal("attributes", cursor) {
                    let span = cursor.span();
                    for (name, value) in self.piece_dict(cursor)? {
                        self.add_attr(form, name, value, span)?;
                    }
                }
            }
            Element::Successor(_) => match cursor.eat(Kind::Caret) {
                Some(tok) => form.successors.push(tok),
                None => {
                    self.mismatch("a block", cursor, def);
                    return None;
                }
            },
            Element::Types(of, _) => {
                let types = if def.arity(*of) == Some(Arity::One) {
                    SmallVec::from_slice(&[self.piece_type(cursor)?])
                } else if cursor.is_done() {
                    SmallVec::new()
                } else {
                    self.piece_types(cursor)?.into()
                };
                form.types.push((*of, types));
            }
            Element::FunctionalType(a, b, spelling) => {
                let (mut inputs, mut outputs) = self.piece_function(cursor)?;
                if *spelling == FunctionForm::ChainedLists && inputs.len() + 1 == form.count(*a) {
                    inputs.insert(0, KnownType::Chain.id());
                    outputs.insert(0, KnownType::Chain.id());
                }
                form.types.extend([(*a, inputs.into()), (*b, outputs.into())]);
            }
            Element::ArrowTypes(of, _) => {
                let types = match cursor.eat(Kind::Arrow) {
                    Some(_) => self.piece_results(cursor)?,
                    None => Vec::new(),
                };
                form.types.push((*of, types.into()));
            }
            Element::Region(index, shadow) => {
                let Some(region) = region(cursor) else {
                    self.mismatch("a region", cursor, def);
                    return None;
                };
                form.regions.push((*index, region));
                let args = |operand: &usize| RegionArgs { region: *index, operand: *operand, names: None };
                form.args.extend(shadow.iter().map(args));
            }
            Element::Arg(region, operand) => match cursor.eat(Kind::Value) {
                Some(tok) => {
                    let names = Some(vec![tok]);
                    form.args.push(RegionArgs { region: *region, operand: *operand, names });
                }
                None => {
                    self.mismatch("the name of an argument", cursor, def);
                    return None;
                }
            },
            Element::Assign(region, operand) => {
                let mut names = Vec::new();
                if let Some(mut inner) = cursor.eat_group(Kind::LParen) {
                    while !inner.is_done() {
                        if !names.is_empty() && inner.eat(Kind::Comma).is_none() {
                            return self.expected("`,` or `)`", &inner);
                        }
                        let (Some(name), Some(_), Some(value)) =
                            (inner.eat(Kind::Value), inner.eat(Kind::Eq), inner.eat(Kind::Value))
                        else {
                            return self.expected("`%argument = %operand`", &inner);
                        };
                        names.push(name);
                        form.operands.push((*operand, value));
                    }
                }
                form.args.push(RegionArgs { region: *region, operand: *operand, names: Some(names) });
            }
            Element::Optional { elements, .. } => {
                if self.is_present(elements, def, cursor) {
                    self.elements(elements, def, cursor, form)?;
                }
            }
            Element::Custom(Custom::SwitchCases) => self.switch_cases(def, cursor, form)?,
            Element::Custom(Custom::RegionCases) => self.region_cases(cursor, form)?,
            Element::Custom(Custom::OpAttrs) => self.op_attrs(def, cursor, form)?,
            Element::Custom(Custom::Module | Custom::Function) => return None,
        }
        Some(())
    }

    fn declared_attr(
        &mut self,
        attr: &AttrDef,
        def: &'static OpDef,
        cursor: &mut Cursor<'_>,
        form: &mut Form,
    ) -> Option<()> {
        let span = cursor.span();
        if cursor.is_done() {
            self.mismatch(&format!("the attribute `{}`", attr.name), cursor, def);
            return None;
        }
        let value = match attr.kind {
            AttrConstraint::NumberArray(k) | AttrConstraint::IntArray(k) => {
                self.number_array(cursor, k.id())?
            }
            AttrConstraint::Enum(words) => self.enum_word(words, cursor)?,
            AttrConstraint::Flags(flags) => match self.flags(flags, cursor)? {
                Some(attr) => attr,
                None => return Some(()),
            },
            AttrConstraint::Typed => self.typed_attr(cursor)?,
            AttrConstraint::Int(k) | AttrConstraint::Float(k) => self.piece_attr(cursor, Some(k.id()))?,
            AttrConstraint::Bool => self.piece_attr(cursor, Some(KnownType::I1.id()))?,
            _ => self.piece_attr(cursor, None)?,
        };
        let name = self.m.cx.str_id(attr.name);
        self.add_attr(form, name, value, span)
    }

    fn add_attr(&mut self, form: &mut Form, name: StrId, value: AttrId, span: Span) -> Option<()> {
        if form.attrs.iter().any(|(n, _)| *n == name) {
            let text = self.m.cx.str(name).to_owned();
            self.report(errors::duplicate_attr(span, &text));
            return None;
        }
        form.attrs.push((name, value));
        Some(())
    }

    /// A word of an enumeration.
    fn enum_word(&mut self, words: &EnumDef, cursor: &mut Cursor<'_>) -> Option<AttrId> {
        let tok = cursor.tok(Kind::Word).or_else(|| cursor.tok(Kind::Str));
        let word = tok.map(|tok| self.text(tok).trim_matches('"'));
        match word.and_then(|word| words.attr(&mut self.m.cx, word)) {
            Some(attr) => {
                cursor.skip();
                Some(attr)
            }
            None => self.expected(&format!("{} ({})", words.what, words.words.join(", ")), cursor),
        }
    }

    /// `<a, b>`; the attribute is `None` for the empty set.
    fn flags(&mut self, flags: &FlagsDef, cursor: &mut Cursor<'_>) -> Option<Option<AttrId>> {
        let Some(mut inner) = cursor.eat_group(Kind::LAngle) else {
            return self.expected(&format!("`<` and some of {}", flags.words.join(", ")), cursor);
        };
        let mut set = 0;
        loop {
            match inner.tok(Kind::Word).and_then(|tok| flags.bits_of(self.text(tok))) {
                Some(bits) => set |= bits,
                None => return self.expected(&format!("one of {}", flags.words.join(", ")), &inner),
            }
            inner.skip();
            if inner.is_done() {
                return Some(flags.attr(&mut self.m.cx, set));
            }
            if flags.separator.is_none() {
                return self.expected("`>`", &inner);
            }
            if inner.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `>`", &inner);
            }
        }
    }

    /// An attribute with a type.
    fn typed_attr(&mut self, cursor: &mut Cursor<'_>) -> Option<AttrId> {
        let span = cursor.span();
        let attr = self.piece_attr(cursor, None)?;
        if self.m.cx.attr_type(attr).is_none() {
            let found = format!("`{}`", errors::shorten(self.span_text(span)));
            self.report(errors::expected(span, "a constant with a type", &found));
            return None;
        }
        Some(attr)
    }

    /// Brings sets of flags into canonical form.
    pub(super) fn canonical_flags(&mut self, name: OpNameId, attrs: &mut SmallVec<[(StrId, AttrId); 2]>) {
        let data = self.m.cx.op_name_data(name);
        let Some(def) = data.def() else { return };
        for (i, attr) in def.attrs.iter().enumerate() {
            let AttrConstraint::Flags(flags) = attr.kind else { continue };
            let name = self.m.cx.op_name_data(name).attr_names.get(i).copied();
            let Some(at) = attrs.iter().position(|(n, _)| Some(*n) == name) else { continue };
            match flags.canonical(&mut self.m.cx, attrs[at].1) {
                Some(attr) => attrs[at].1 = attr,
                None => drop(attrs.remove(at)),
            }
        }
    }

    /// True if an optional group begins here.
    fn is_present(&self, elements: &[Element], def: &OpDef, cursor: &Cursor<'_>) -> bool {
        if cursor.is_done() {
            return false;
        }
        let is_region = matches!(cursor.tree(), Some(PieceKind::Region(_) | PieceKind::EmptyBraces));
        let is_spacing = |e: &&Element| match e {
            Element::Blank => true,
            Element::Literal(text) => text.is_empty(),
            _ => false,
        };
        match elements.iter().find(|e| !is_spacing(e)) {
            Some(Element::Literal(text)) => match (cursor.any_tok(), cursor.tree()) {
                (Some(tok), _) => self.text(tok) == text,
                (None, Some(PieceKind::Group(open, _))) => opener(text) == Some(*open),
                _ => false,
            },
            Some(Element::Operands | Element::Operand(_) | Element::Arg(..)) => {
                cursor.tok(Kind::Value).is_some()
            }
            Some(Element::Successor(_)) => cursor.tok(Kind::Caret).is_some(),
            Some(Element::Region(..)) => is_region,
            Some(Element::NamedAttrs(attrs)) => {
                let word = cursor.tok(Kind::Word).map(|t| self.text(t));
                attrs.iter().any(|i| def.attrs.get(*i).is_some_and(|a| Some(a.name) == word))
            }
            Some(Element::Attr(_)) => !is_region && cursor.tok(Kind::Colon).is_none(),
            // A type that is omitted if it is the default: then no comma follows the type at this place.
            Some(Element::Types(..)) => cursor.has(Kind::Comma),
            _ => true,
        }
    }

    /// Consumes the next piece if it is this word or punctuation.
    pub(super) fn literal(&mut self, text: &str, cursor: &mut Cursor<'_>) -> bool {
        let found = cursor.any_tok().is_some_and(|tok| self.text(tok) == text);
        if found {
            cursor.skip();
        }
        found
    }

    /// Values separated by commas, or none.
    pub(super) fn operands(&mut self, cursor: &mut Cursor<'_>, mut found: impl FnMut(Tok)) -> Option<()> {
        if let Some(first) = cursor.eat(Kind::Value) {
            found(first);
            while cursor.eat(Kind::Comma).is_some() {
                match cursor.eat(Kind::Value) {
                    Some(tok) => found(tok),
                    None => return self.expected("a value", cursor),
                }
            }
        }
        Some(())
    }
}

/// True if these are `n` values separated by commas.
fn is_list(toks: &[Tok], n: usize) -> bool {
    let (mut toks, mut n) = (toks, n);
    while let [Tok { kind: Kind::Value, .. }, Tok { kind: Kind::Comma, .. }, rest @ ..] = toks
        && n > 1
    {
        (toks, n) = (rest, n - 1);
    }
    match toks {
        [Tok { kind: Kind::Value, .. }] => n == 1,
        rest => rest.is_empty() && n == 0,
    }
}

/// The bracket that a literal opens.
fn opener(text: &str) -> Option<Kind> {
    match text {
        "(" => Some(Kind::LParen),
        "[" => Some(Kind::LBracket),
        "<" => Some(Kind::LAngle),
        _ => None,
    }
}

/// Index of the literal that closes the bracket before `elements`.
fn matching(elements: &[Element]) -> usize {
    let mut depth = 0usize;
    for (i, element) in elements.iter().enumerate() {
        if let Element::Literal(text) = element {
            match text.as_str() {
                "(" | "[" | "<" => depth += 1,
                ")" | "]" | ">" if depth == 0 => return i,
                ")" | "]" | ">" => depth -= 1,
                _ => {}
            }
        }
    }
    elements.len()
}
