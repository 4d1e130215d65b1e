//! Custom forms: the pieces of an op, read as its declared format says.
//!
//! [`Cursor`] walks over pieces; `piece_attr` and `piece_type` put attributes and types together from them, since the
//! grammar could not know what stands where. The same format drives the printer.

use super::ops::{EntryArg, Parts};
use super::{Lower, errors};
use crate::diag::Span;
use crate::dialects::format::{Custom, Element, Of};
use crate::dialects::{Arity, AttrConstraint, EnumDef, FlagsDef, OpDef, TypeSource};
use crate::ir::{AttrId, OpNameId, StrId, TypeId};
use crate::syntax::ast::{self, Number, Op, Piece, PieceKind, RegionRef};
use crate::syntax::token::{Kind, Tok};
use smallvec::SmallVec;

/// A place among the pieces of a form.
pub(super) struct Cursor<'p> {
    pieces: &'p [Piece],
    at: usize,
    /// Where the form ends, for errors.
    end: Span,
}

impl<'p> Cursor<'p> {
    pub(super) fn new(pieces: &'p [Piece], end: Span) -> Self {
        Cursor { pieces, at: 0, end: Span { start: end.end.saturating_sub(1), ..end } }
    }

    pub(super) fn peek(&self) -> Option<&'p Piece> {
        self.pieces.get(self.at)
    }

    fn peek_second(&self) -> Option<&'p Piece> {
        self.pieces.get(self.at + 1)
    }

    pub(super) fn next(&mut self) -> Option<&'p Piece> {
        let piece = self.pieces.get(self.at)?;
        self.at += 1;
        Some(piece)
    }

    pub(super) fn span(&self) -> Span {
        self.peek().map_or(self.end, |p| p.span)
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.pieces.len()
    }

    /// The next piece if it is a token of this kind.
    pub(super) fn tok(&self, kind: Kind) -> Option<Tok> {
        match self.peek()?.kind {
            PieceKind::Tok(tok) if tok.kind == kind => Some(tok),
            _ => None,
        }
    }

    pub(super) fn eat(&mut self, kind: Kind) -> Option<Tok> {
        let tok = self.tok(kind)?;
        self.at += 1;
        Some(tok)
    }

    /// True if a token of this kind stands somewhere before the end.
    fn has(&self, kind: Kind) -> bool {
        self.pieces[self.at..].iter().any(|p| matches!(p.kind, PieceKind::Tok(tok) if tok.kind == kind))
    }

    /// The contents of the next piece if it is a group in these brackets.
    pub(super) fn eat_group(&mut self, open: Kind) -> Option<Cursor<'p>> {
        match self.peek() {
            Some(Piece { kind: PieceKind::Group(kind, inner), span }) if *kind == open => {
                self.at += 1;
                Some(Cursor::new(inner, *span))
            }
            _ => None,
        }
    }
}

/// What has been read of a form.
#[derive(Default)]
struct Form {
    all_operands: SmallVec<[Tok; 4]>,
    operands: SmallVec<[(usize, SmallVec<[Tok; 4]>); 1]>,
    operand_types: Option<Vec<TypeId>>,
    result_types: Option<Vec<TypeId>>,
    types: Vec<(Of, Vec<TypeId>)>,
    attrs: SmallVec<[(StrId, AttrId); 2]>,
    regions: Vec<(RegionRef, Vec<EntryArg>)>,
}

impl Lower<'_> {
    pub(super) fn custom_op(&mut self, op: &Op, pieces: &[Piece]) -> Option<(OpNameId, Parts)> {
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
        let end = pieces.last().map_or(op.name.span(), |p| p.span);
        let mut cursor = Cursor::new(pieces, end);
        if let [Element::Custom(custom)] = format.elements.as_slice() {
            let parts = match custom {
                Custom::Module => self.module_form(&mut cursor)?,
                Custom::Function => self.function_form(&mut cursor)?,
            };
            self.at_end(&mut cursor)?;
            return Some((name, parts));
        }
        let mut form = Form::default();
        self.elements(&format.elements, def, &mut cursor, &mut form)?;
        if !cursor.is_done() {
            self.mismatch("the end of the operation", &cursor, def);
            return None;
        }
        let parts = self.finish(form, def, op)?;
        Some((name, parts))
    }

    pub(super) fn at_end(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        if cursor.is_done() {
            return Some(());
        }
        self.expected("the end of the operation", cursor)
    }

    fn found(&self, cursor: &Cursor<'_>) -> String {
        match cursor.peek() {
            None => "its end".into(),
            Some(piece) => match &piece.kind {
                PieceKind::Region(_) | PieceKind::EmptyBraces => "`{`".into(),
                PieceKind::Group(..) => {
                    format!("`{}`", self.span_text(Span { end: piece.span.start + 1, ..piece.span }))
                }
                _ => format!("`{}`", errors::shorten(self.span_text(piece.span))),
            },
        }
    }

    /// Reports what was expected instead of the next piece.
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
            match element {
                Element::Literal(text) => {
                    // Brackets come as groups: `(` and `)` with what is between.
                    match text.as_str() {
                        "(" | "[" | "<" => {
                            let open = match text.as_str() {
                                "(" => Kind::LParen,
                                "[" => Kind::LBracket,
                                _ => Kind::LAngle,
                            };
                            let Some(mut inner) = cursor.eat_group(open) else {
                                self.mismatch(&format!("`{text}`"), cursor, def);
                                return None;
                            };
                            let rest = &elements[i + 1..];
                            let close = matching(rest);
                            self.elements(&rest[..close], def, &mut inner, form)?;
                            if !inner.is_done() {
                                self.mismatch("`)`", &inner, def);
                                return None;
                            }
                            let after = rest.get(close + 1..).unwrap_or(&[]);
                            return self.elements(after, def, cursor, form);
                        }
                        _ => {
                            if !self.literal(text, cursor) {
                                self.mismatch(&format!("`{text}`"), cursor, def);
                                return None;
                            }
                        }
                    }
                }
                Element::Operands => form.all_operands = self.operands(cursor)?,
                Element::Operand(index) => {
                    let operand = def.operands.get(*index)?;
                    let toks = match operand.arity {
                        Arity::Variadic => self.operands(cursor)?,
                        Arity::Optional => cursor.eat(Kind::Value).into_iter().collect(),
                        Arity::One => match cursor.eat(Kind::Value) {
                            Some(tok) => SmallVec::from_slice(&[tok]),
                            None => {
                                self.mismatch(&format!("the operand `{}`", operand.name), cursor, def);
                                return None;
                            }
                        },
                    };
                    form.operands.push((*index, toks));
                }
                Element::Attr(index) => {
                    let attr = def.attrs.get(*index)?;
                    if cursor.is_done() {
                        self.mismatch(&format!("the attribute `{}`", attr.name), cursor, def);
                        return None;
                    }
                    let hint = match attr.kind {
                        AttrConstraint::Int(k) | AttrConstraint::Float(k) => Some(k.id()),
                        AttrConstraint::Bool => Some(crate::ir::KnownType::I1.id()),
                        _ => None,
                    };
                    let value = match attr.kind {
                        AttrConstraint::NumberArray(k) | AttrConstraint::IntArray(k) => {
                            self.number_array(cursor, k.id())?
                        }
                        AttrConstraint::Enum(words) => self.enum_word(words, cursor)?,
                        AttrConstraint::Flags(flags) => {
                            let Some(attr) = self.flags(flags, cursor)? else { continue };
                            attr
                        }
                        AttrConstraint::Typed => self.typed_attr(cursor)?,
                        _ => self.piece_attr(cursor, hint)?,
                    };
                    let name = self.m.cx.str_id(attr.name);
                    form.attrs.push((name, value));
                }
                Element::AttrDict { keyword } => {
                    if !keyword || self.literal("attributes", cursor) {
                        let span = cursor.span();
                        for (name, value) in self.piece_dict(cursor)? {
                            if form.attrs.iter().any(|(n, _)| *n == name) {
                                let text = self.m.cx.str(name).to_owned();
                                self.report(errors::duplicate_attr(span, &text));
                                return None;
                            }
                            form.attrs.push((name, value));
                        }
                    }
                }
                Element::Types(of) => {
                    let single = def.arity(*of) == Some(Arity::One);
                    let types =
                        if single { vec![self.piece_type(cursor)?] } else { self.piece_types(cursor)? };
                    match of {
                        Of::Operands => form.operand_types = Some(types),
                        Of::Results => form.result_types = Some(types),
                        Of::Operand(_) | Of::Result(_) => form.types.push((*of, types)),
                    }
                }
                Element::FunctionalType => {
                    let (inputs, outputs) = self.piece_function(cursor)?;
                    form.operand_types = Some(inputs);
                    form.result_types = Some(outputs);
                }
                Element::Region(_) => {
                    let region = match cursor.peek().map(|p| &p.kind) {
                        Some(PieceKind::Region(n)) => Some(*n),
                        Some(PieceKind::EmptyBraces) => None,
                        _ => {
                            self.mismatch("a region", cursor, def);
                            return None;
                        }
                    };
                    cursor.next();
                    form.regions.push((region, Vec::new()));
                }
                Element::Optional { elements, .. } => {
                    if self.is_present(elements, def, cursor) {
                        self.elements(elements, def, cursor, form)?;
                    }
                }
                Element::Custom(_) => return None,
            }
        }
        Some(())
    }

    /// Does an optional group begin here?
    fn is_present(&self, elements: &[Element], def: &OpDef, cursor: &Cursor<'_>) -> bool {
        let Some(piece) = cursor.peek() else { return false };
        match elements.first() {
            Some(Element::Attr(i)) if def.enum_attr(*i).is_some() => {
                let word = cursor.tok(Kind::Word).map_or("", |tok| self.text(tok));
                def.enum_attr(*i).is_some_and(|words| words.words.contains(&word))
            }
            Some(Element::Literal(text)) => match &piece.kind {
                PieceKind::Tok(tok) => self.text(*tok) == text,
                PieceKind::Group(open, _) => {
                    matches!((text.as_str(), open), ("(", Kind::LParen) | ("[", Kind::LBracket))
                }
                _ => false,
            },
            Some(Element::Operands | Element::Operand(_)) => cursor.tok(Kind::Value).is_some(),
            Some(Element::Region(_)) => matches!(piece.kind, PieceKind::Region(_) | PieceKind::EmptyBraces),
            // A type that is left out if it is the default one: then no comma follows the type that stands here.
            Some(Element::Types(_)) => cursor.has(Kind::Comma),
            Some(Element::Attr(_)) => !matches!(piece.kind, PieceKind::Region(_) | PieceKind::EmptyBraces),
            _ => true,
        }
    }

    /// Takes the next piece if it is this word or punctuation.
    pub(super) fn literal(&mut self, text: &str, cursor: &mut Cursor<'_>) -> bool {
        let found = match cursor.peek().map(|p| &p.kind) {
            Some(PieceKind::Tok(tok)) => self.text(*tok) == text,
            _ => false,
        };
        if found {
            cursor.next();
        }
        found
    }

    fn operands(&mut self, cursor: &mut Cursor<'_>) -> Option<SmallVec<[Tok; 4]>> {
        let mut toks = SmallVec::new();
        if let Some(first) = cursor.eat(Kind::Value) {
            toks.push(first);
            while cursor.eat(Kind::Comma).is_some() {
                match cursor.eat(Kind::Value) {
                    Some(tok) => toks.push(tok),
                    None => return self.expected("a value", cursor),
                }
            }
        }
        Some(toks)
    }

    /// Operands and results get their types: those written, or the only ones that the definition allows.
    fn finish(&mut self, form: Form, def: &'static OpDef, op: &Op) -> Option<Parts> {
        let Form { all_operands, mut operands, operand_types, result_types, types, attrs, regions } = form;
        operands.sort_by_key(|(i, _)| *i);
        let mut parts = Parts { regions, ..Parts::default() };
        let whole = operands.is_empty();
        let toks: SmallVec<[Tok; 4]> =
            if whole { all_operands } else { operands.iter().flat_map(|(_, t)| t.iter().copied()).collect() };
        let n = toks.len();
        let at_least = def.operands.iter().filter(|o| o.arity == Arity::One).count();
        if n < at_least || n > at_least && def.variadic_operand().is_none() {
            self.report(errors::count(op.name.span(), &format!("operands of `{}`", def.name), at_least, n));
            return None;
        }
        let wanted = match operand_types {
            Some(types) => types.into(),
            None if whole => {
                let mut wanted: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(n);
                for i in 0..n {
                    let index = def
                        .operand_def(i, n)
                        .and_then(|o| def.operands.iter().position(|d| std::ptr::eq(o, d)));
                    let written = index.and_then(|x| types.iter().find(|(of, _)| *of == Of::Operand(x)));
                    match written {
                        Some((_, written)) => {
                            wanted.push(*written.get(i - index.unwrap_or(0)).or(written.last())?);
                        }
                        None => wanted.push(self.implied(Of::Operand(index?), def, &types, &attrs)?),
                    }
                }
                wanted
            }
            None => {
                let mut wanted: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(n);
                for (index, toks) in &operands {
                    match types.iter().find(|(of, _)| *of == Of::Operand(*index)) {
                        Some((_, written)) => {
                            if written.len() != toks.len() {
                                let what = format!("types for `{}`", def.operands[*index].name);
                                self.report(errors::count(op.name.span(), &what, toks.len(), written.len()));
                                return None;
                            }
                            wanted.extend_from_slice(written);
                        }
                        // No operands, so no types either.
                        None if toks.is_empty() => {}
                        None => match self.implied(Of::Operand(*index), def, &types, &attrs) {
                            Some(ty) => wanted.extend(toks.iter().map(|_| ty)),
                            None => {
                                let what = format!("types for `{}`", def.operands[*index].name);
                                self.report(errors::count(op.name.span(), &what, toks.len(), 0));
                                return None;
                            }
                        },
                    }
                }
                wanted
            }
        };
        if wanted.len() != n {
            self.report(errors::count(op.name.span(), "operand types", n, wanted.len()));
            return None;
        }
        for (tok, ty) in toks.into_iter().zip(wanted) {
            parts.operands.push(self.value(tok, ty));
            parts.operand_spans.push(tok.span());
        }
        parts.results = match result_types {
            Some(types) => types.into(),
            None => {
                let mut results: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(def.results.len());
                for i in 0..def.results.len() {
                    match types.iter().find(|(of, _)| *of == Of::Result(i)) {
                        Some((_, written)) => results.extend_from_slice(written),
                        None => results.push(self.implied(Of::Result(i), def, &types, &attrs)?),
                    }
                }
                results
            }
        };
        parts.attrs = attrs;
        Some(parts)
    }

    /// The type of an operand or result whose type is not written.
    fn implied(
        &mut self,
        of: Of,
        def: &OpDef,
        types: &[(Of, Vec<TypeId>)],
        attrs: &[(StrId, AttrId)],
    ) -> Option<TypeId> {
        let Some(rule) = def.type_rule(of) else { return def.only_type(of) };
        let from = match rule.from {
            TypeSource::Value(source) => {
                let written = types.iter().find(|(of, _)| *of == source);
                written.and_then(|(_, t)| t.first().copied()).or_else(|| def.only_type(source))?
            }
            TypeSource::Attr(i) => {
                let name = def.attrs.get(i)?.name;
                let attr = attrs.iter().find(|(n, _)| self.m.cx.str(*n) == name)?.1;
                self.m.cx.attr_type(attr)?
            }
            TypeSource::Default(known) => known.id(),
        };
        Some(rule.by.apply(&mut self.m.cx, from))
    }

    // ---- attributes and types from pieces ----

    /// One of the words of a choice.
    fn enum_word(&mut self, words: &EnumDef, cursor: &mut Cursor<'_>) -> Option<AttrId> {
        let word = cursor.tok(Kind::Word).map(|tok| self.text(tok));
        match word.and_then(|word| words.attr(&mut self.m.cx, word)) {
            Some(attr) => {
                cursor.next();
                Some(attr)
            }
            None => self.expected(&format!("{} ({})", words.what, words.words.join(", ")), cursor),
        }
    }

    /// `<a, b>`; nothing for the empty set.
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
            inner.next();
            if inner.is_done() {
                return Some(flags.attr(&mut self.m.cx, set));
            }
            if inner.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `>`", &inner);
            }
        }
    }

    /// An attribute that has a type.
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

    /// Sets of flags as ops keep them.
    pub(super) fn canonical_flags(&mut self, name: OpNameId, attrs: &mut SmallVec<[(StrId, AttrId); 2]>) {
        let data = self.m.cx.op_name_data(name);
        let Some(def) = data.def else { return };
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

    /// A dictionary, if one stands here.
    pub(super) fn piece_dict(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<(StrId, AttrId)>> {
        if let Some(PieceKind::Attr(attr)) = cursor.peek().map(|p| &p.kind)
            && let ast::AttrKind::Dict(entries) = &attr.kind
        {
            cursor.next();
            return self.entries(entries);
        }
        match cursor.peek().map(|p| &p.kind) {
            Some(PieceKind::EmptyBraces) => {
                cursor.next();
                Some(Vec::new())
            }
            _ => Some(Vec::new()),
        }
    }

    fn number_piece(&mut self, cursor: &mut Cursor<'_>) -> Option<Number> {
        let negative = match (cursor.tok(Kind::Minus), cursor.peek_second()) {
            (Some(_), Some(Piece { kind: PieceKind::Tok(t), .. })) if is_number(t.kind) => {
                cursor.next();
                true
            }
            _ => false,
        };
        match cursor.peek().map(|p| &p.kind) {
            Some(PieceKind::Tok(tok)) if is_number(tok.kind) => {
                cursor.next();
                Some(Number { tok: *tok, negative })
            }
            _ => None,
        }
    }

    /// `: T` after an attribute, if it stands here.
    fn of_type(&mut self, cursor: &mut Cursor<'_>) -> Option<Option<TypeId>> {
        if cursor.eat(Kind::Colon).is_some() { self.piece_type(cursor).map(Some) } else { Some(None) }
    }

    /// `[1, 2]` or `[1 : i64, 2 : i64]`: numbers without a type get `elem`.
    fn number_array(&mut self, cursor: &mut Cursor<'_>, elem: TypeId) -> Option<AttrId> {
        let Some(mut inner) = cursor.eat_group(Kind::LBracket) else {
            // An alias, or something that the verifier will refuse.
            return self.piece_attr(cursor, None);
        };
        let mut ids = Vec::new();
        while !inner.is_done() {
            if !ids.is_empty() && inner.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `]`", &inner);
            }
            ids.push(self.piece_attr(&mut inner, Some(elem))?);
        }
        Some(self.m.cx.array_attr(&ids))
    }

    /// The attribute that begins here; `hint` is the type of a number without one, and then no type may follow a `:`
    /// that belongs to the form.
    pub(super) fn piece_attr(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        self.nested(cursor.span(), |lower| lower.piece_attr_inside(cursor, hint))
    }

    fn piece_attr_inside(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        if let Some(number) = self.number_piece(cursor) {
            let ty = self.of_type(cursor)?.or(hint);
            return self.number_attr(number, ty);
        }
        let Some(piece) = cursor.peek() else { return self.expected("an attribute", cursor) };
        match &piece.kind {
            PieceKind::Tok(tok) => match tok.kind {
                Kind::Str => {
                    cursor.next();
                    self.string_attr(*tok, None)
                }
                Kind::Word => {
                    cursor.next();
                    self.word_attr(*tok)
                }
                Kind::Hash | Kind::HashBody => {
                    cursor.next();
                    let attr = ast::Attr { span: piece.span, kind: ast::AttrKind::Hash(*tok, None) };
                    self.attr(&attr, None)
                }
                Kind::Bang | Kind::BangBody => {
                    let ty = self.piece_type(cursor)?;
                    Some(self.m.cx.type_attr(ty))
                }
                _ => self.expected("an attribute", cursor),
            },
            PieceKind::Symbol(path) => {
                cursor.next();
                self.symbol(path)
            }
            PieceKind::Attr(attr) => {
                cursor.next();
                self.attr(attr, None)
            }
            PieceKind::EmptyBraces => {
                cursor.next();
                Some(self.m.cx.dict_attr(&[]))
            }
            PieceKind::Type(_) | PieceKind::Group(Kind::LParen, _) => {
                let ty = self.piece_type(cursor)?;
                Some(self.m.cx.type_attr(ty))
            }
            PieceKind::Group(Kind::LBracket, _) => {
                let mut inner = cursor.eat_group(Kind::LBracket)?;
                let mut ids = Vec::new();
                while !inner.is_done() {
                    if !ids.is_empty() && inner.eat(Kind::Comma).is_none() {
                        return self.expected("`,` or `]`", &inner);
                    }
                    ids.push(self.piece_attr(&mut inner, None)?);
                }
                Some(self.m.cx.array_attr(&ids))
            }
            PieceKind::Group(..) | PieceKind::Region(_) => self.expected("an attribute", cursor),
            PieceKind::Loc(loc) => {
                cursor.next();
                let loc = self.loc(loc)?;
                Some(self.m.cx.attr_id(crate::ir::AttrKind::Loc(loc)))
            }
        }
    }

    /// The type that begins here.
    pub(super) fn piece_type(&mut self, cursor: &mut Cursor<'_>) -> Option<TypeId> {
        self.nested(cursor.span(), |lower| lower.piece_type_inside(cursor))
    }

    fn piece_type_inside(&mut self, cursor: &mut Cursor<'_>) -> Option<TypeId> {
        let Some(piece) = cursor.peek() else { return self.expected("a type", cursor) };
        match &piece.kind {
            PieceKind::Tok(tok) if tok.kind == Kind::Word => {
                cursor.next();
                self.type_word(*tok)
            }
            PieceKind::Tok(tok) if matches!(tok.kind, Kind::Bang | Kind::BangBody) => {
                cursor.next();
                self.bang(*tok)
            }
            PieceKind::Type(ty) => {
                cursor.next();
                self.ty(ty)
            }
            PieceKind::Group(Kind::LParen, _) => {
                let (inputs, outputs) = self.piece_function(cursor)?;
                Some(self.m.cx.function_type(&inputs, &outputs))
            }
            _ => self.expected("a type", cursor),
        }
    }

    /// Types separated by commas, at least one.
    fn piece_types(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<TypeId>> {
        let mut types = vec![self.piece_type(cursor)?];
        while cursor.eat(Kind::Comma).is_some() {
            types.push(self.piece_type(cursor)?);
        }
        Some(types)
    }

    /// Types in parentheses, or none at all.
    fn type_group(&mut self, mut inner: Cursor<'_>) -> Option<Vec<TypeId>> {
        if inner.is_done() {
            return Some(Vec::new());
        }
        let types = self.piece_types(&mut inner)?;
        if !inner.is_done() {
            return self.expected("`,` or `)`", &inner);
        }
        Some(types)
    }

    /// `(T, U) -> V` or `(T) -> (U, V)`.
    pub(super) fn piece_function(&mut self, cursor: &mut Cursor<'_>) -> Option<(Vec<TypeId>, Vec<TypeId>)> {
        let Some(inner) = cursor.eat_group(Kind::LParen) else {
            return self.expected("a function type", cursor);
        };
        let inputs = self.type_group(inner)?;
        if cursor.eat(Kind::Arrow).is_none() {
            return self.expected("`->`", cursor);
        }
        let outputs = match cursor.eat_group(Kind::LParen) {
            Some(inner) => self.type_group(inner)?,
            None => vec![self.piece_type(cursor)?],
        };
        Some((inputs, outputs))
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Hex | Kind::Float)
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
