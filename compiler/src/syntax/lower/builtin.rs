//! The custom forms of `builtin.module` and `func.func`.

use super::Lower;
use super::errors;
use super::ops::{EntryArg, Parts, RegionPart};
use super::pieces::Cursor;
use crate::ir::{AttrId, AttrKind, StrId, TypeId, names};
use crate::syntax::ast::{PieceKind, RegionRef};
use crate::syntax::token::{Kind, Tok};
use smallvec::SmallVec;

/// Arguments: with names in a definition, types only in a declaration.
#[derive(Default)]
struct Args {
    names: Vec<EntryArg>,
    types: Vec<TypeId>,
    attrs: Vec<AttrId>,
    any_attrs: bool,
}

impl Lower<'_> {
    /// `@name attributes {...} { ops }`
    pub(super) fn module_form(&mut self, cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
        if let Some(PieceKind::Symbol(path)) = cursor.tree() {
            cursor.skip();
            let name = self.sym_name(path)?;
            parts.attrs.push((names::SYM_NAME, name));
        }
        self.more_attrs(cursor, &mut parts.attrs)?;
        match self.body(cursor) {
            Some(region) => parts.regions.push(RegionPart { from: region, ..RegionPart::default() }),
            None => return self.expected("a region", cursor),
        }
        Some(())
    }

    /// `private @name(%a: T {attrs}, ...) -> (U {attrs}, ...) attributes {...} { blocks }`
    pub(super) fn function_form(&mut self, cursor: &mut Cursor<'_>, parts: &mut Parts) -> Option<()> {
        for visibility in ["private", "public", "nested"] {
            if self.literal(visibility, cursor) {
                let visibility = self.m.cx.str_attr(visibility);
                parts.attrs.push((names::SYM_VISIBILITY, visibility));
                break;
            }
        }
        let Some(PieceKind::Symbol(path)) = cursor.tree() else {
            return self.expected("the name of the function, as `@name`", cursor);
        };
        cursor.skip();
        let name = self.sym_name(path)?;
        parts.attrs.push((names::SYM_NAME, name));
        let Some(inner) = cursor.eat_group(Kind::LParen) else {
            return self.expected("`(` and the arguments", cursor);
        };
        let args = self.args(inner)?;
        let results = if cursor.eat(Kind::Arrow).is_some() {
            match cursor.eat_group(Kind::LParen) {
                Some(inner) => self.result_list(inner)?,
                None => Args { types: vec![self.piece_type(cursor)?], ..Args::default() },
            }
        } else {
            Args::default()
        };
        let ty = self.m.cx.function_type(&args.types, &results.types);
        let ty = self.m.cx.type_attr(ty);
        parts.attrs.push((names::FUNCTION_TYPE, ty));
        for (list, name) in [(&args, names::ARG_ATTRS), (&results, names::RES_ATTRS)] {
            if list.any_attrs {
                let attrs = self.m.cx.array_attr(&list.attrs);
                parts.attrs.push((name, attrs));
            }
        }
        self.more_attrs(cursor, &mut parts.attrs)?;
        if matches!(cursor.tree(), Some(PieceKind::EmptyBraces)) {
            return self.expected("a function body with at least a terminator, or no body", cursor);
        }
        if let Some(region) = self.body(cursor) {
            if args.names.len() != args.types.len() {
                let span = path.first().map_or(cursor.span(), |t| t.span());
                self.report(errors::expected(
                    span,
                    "names for all arguments of a function with a body",
                    "types only",
                ));
                return None;
            }
            parts.regions.push(RegionPart { from: region, args: args.names, implicit: None });
        } else if cursor.is_done() {
            // A declaration: a region without blocks.
            parts.regions.push(RegionPart::default());
        }
        Some(())
    }

    fn sym_name(&mut self, path: &[Tok]) -> Option<AttrId> {
        if let [tok] = path {
            let text = self.symbol_id(*tok)?;
            return Some(self.m.cx.attr_id(AttrKind::Str { text, ty: None }));
        }
        let span = path.iter().fold(path.first()?.span(), |s, t| s.to(t.span()));
        self.report(errors::expected(span, "a name", "a nested reference"));
        None
    }

    /// `attributes {...}`, without those that the form expresses itself.
    fn more_attrs(
        &mut self,
        cursor: &mut Cursor<'_>,
        attrs: &mut SmallVec<[(StrId, AttrId); 2]>,
    ) -> Option<()> {
        if !self.literal("attributes", cursor) {
            return Some(());
        }
        let span = cursor.span();
        for (name, value) in self.piece_dict(cursor)? {
            if attrs.iter().any(|(n, _)| *n == name) {
                let text = self.m.cx.str(name).to_owned();
                self.report(errors::duplicate_attr(span, &text));
                return None;
            }
            attrs.push((name, value));
        }
        Some(())
    }

    /// The region that ends the form, if there is one.
    fn body(&mut self, cursor: &mut Cursor<'_>) -> Option<RegionRef> {
        match cursor.tree()? {
            PieceKind::Region(n) => {
                cursor.skip();
                Some(Some(*n))
            }
            PieceKind::EmptyBraces => {
                cursor.skip();
                Some(None)
            }
            _ => None,
        }
    }

    fn args(&mut self, mut cursor: Cursor<'_>) -> Option<Args> {
        let mut args = Args::default();
        while !cursor.is_done() {
            if !args.types.is_empty() && cursor.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `)`", &cursor);
            }
            let name = cursor.eat(Kind::Value);
            if name.is_some() && cursor.eat(Kind::Colon).is_none() {
                return self.expected("`:` and the type of the argument", &cursor);
            }
            let ty = self.piece_type(&mut cursor)?;
            self.one(&mut args, ty, &mut cursor)?;
            let loc = match cursor.tree() {
                Some(PieceKind::Loc(loc)) => {
                    cursor.skip();
                    Some(&**loc)
                }
                _ => None,
            };
            if let Some(name) = name {
                let loc = Some(self.loc_or_place(loc, name.span()));
                args.names.push(EntryArg { name, ty, loc });
            }
        }
        Some(args)
    }

    fn result_list(&mut self, mut cursor: Cursor<'_>) -> Option<Args> {
        let mut results = Args::default();
        while !cursor.is_done() {
            if !results.types.is_empty() && cursor.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `)`", &cursor);
            }
            let ty = self.piece_type(&mut cursor)?;
            self.one(&mut results, ty, &mut cursor)?;
        }
        Some(results)
    }

    /// A type and the dictionary after it.
    fn one(&mut self, list: &mut Args, ty: TypeId, cursor: &mut Cursor<'_>) -> Option<()> {
        let entries = self.piece_dict(cursor)?;
        list.any_attrs |= !entries.is_empty();
        list.types.push(ty);
        list.attrs.push(self.m.cx.dict_attr(&entries));
        Some(())
    }
}
