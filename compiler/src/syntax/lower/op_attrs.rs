//! The end of `corert.executeop`: `{attr = 1 : i32} {func_attr = @f} : 2`.

use super::Lower;
use super::custom::Form;
use super::errors;
use super::pieces::Cursor;
use crate::dialects::corert::{MAX_RESULTS, OP_ATTRS};
use crate::dialects::format::PartRef;
use crate::dialects::{Arity, OpDef};
use crate::ir::{AttrId, AttrKind, KnownType, StrId};
use crate::syntax::token::Kind;
use smallvec::smallvec;

impl Lower<'_> {
    /// The arrays of pairs of the declared attributes, and the results.
    pub(super) fn op_attrs(&mut self, def: &OpDef, cursor: &mut Cursor<'_>, form: &mut Form) -> Option<()> {
        for name in OP_ATTRS.into_iter().filter(|name| def.attr_def(name).is_some()) {
            let pairs: Vec<AttrId> =
                self.piece_dict(cursor)?.into_iter().map(|(key, value)| self.pair(key, value)).collect();
            let array = self.m.cx.array_attr(&pairs);
            let name = self.m.cx.str_id(name);
            form.attrs.push((name, array));
        }
        let mut n = 0;
        if cursor.eat(Kind::Colon).is_some() {
            let span = cursor.span();
            let Some(number) = cursor.eat(Kind::Int) else {
                return self.expected("the number of results", cursor);
            };
            match self.text(number).parse() {
                Ok(count @ ..=MAX_RESULTS) => n = count,
                _ => {
                    let found = format!("`{}`", errors::shorten(self.text(number)));
                    self.report(errors::expected(span, "a number of results up to 65536", &found));
                    return None;
                }
            }
        }
        for (i, result) in def.results.iter().enumerate().filter(|(_, r)| r.arity == Arity::Variadic) {
            let ty = result.ty.only().unwrap_or(KnownType::None.id());
            form.types.push((PartRef::Result(i), smallvec![ty; n]));
        }
        Some(())
    }

    fn pair(&mut self, key: StrId, value: AttrId) -> AttrId {
        let key = self.m.cx.attr_id(AttrKind::Str { text: key, ty: None });
        self.m.cx.array_attr(&[key, value])
    }
}
