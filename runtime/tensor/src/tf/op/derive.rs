//! Derivation of redundant attributes from the types of operands and results: `T`, `N`, `Tin`.
//!
//! ```text
//! ConcatV2 values:N*T axis:Tidx      (f32, f32, f32, i32) ──▶ N = 3, T = f32, Tidx = i32
//! ```

use std::borrow::Cow;
use std::ops::Range;

use super::attrs::Attrs;
use super::signature::{Arg, ArgType, DefaultValue, Signature};
use super::types::Type;
use crate::HostTensor;
use crate::tf::PartialShape;

/// Given attributes, and those derived from the types of operands and results.
pub struct Derived<'s, A> {
    signature: &'s Signature,
    given: A,
    inputs: Vec<Option<Type>>,
    outputs: Vec<Option<Type>>,
}

/// For each argument, its range among the `n` operands or results, if known. An attribute, the number or the
/// types, gives the length of a list; arguments of unknown length share the operands or results that remain.
fn spans(args: &[Arg], n: usize, number: impl Fn(&str) -> Option<usize>) -> Option<Vec<Range<usize>>> {
    let width = |arg: &Arg| match (arg.number, arg.ty) {
        (None, ArgType::List(name)) => number(name),
        (None, _) => Some(1),
        (Some(name), _) => number(name),
    };
    let widths: Vec<Option<usize>> = args.iter().map(width).collect();
    let known = widths.iter().flatten().try_fold(0usize, |sum, &width| sum.checked_add(width))?;
    let n_open = widths.iter().filter(|width| width.is_none()).count();
    let rest = n.checked_sub(known)?;
    // Several arguments of unknown length have equal lengths.
    if (n_open == 0 && rest > 0) || (n_open > 1 && rest % n_open > 0) {
        return None;
    }
    let mut at = 0;
    let spans = widths.into_iter().map(|width| {
        let first = at;
        at += width.unwrap_or_else(|| rest / n_open);
        first..at
    });
    Some(spans.collect())
}

impl<'s, A: Attrs> Derived<'s, A> {
    /// The attributes of an operator with operands and results of these types, some of which may be unknown.
    pub fn new(
        signature: &'s Signature,
        given: A,
        inputs: Vec<Option<Type>>,
        outputs: Vec<Option<Type>>,
    ) -> Derived<'s, A> {
        Derived { signature, given, inputs, outputs }
    }

    /// Checks that numbers and types of operands and results agree with the signature and with each other.
    ///
    /// # Errors
    /// The first disagreement.
    pub fn check(&self) -> Result<(), String> {
        let sides = [
            ("operand", &self.signature.inputs, &self.inputs),
            ("result", &self.signature.outputs, &self.outputs),
        ];
        for (what, args, types) in sides {
            let n = types.len();
            let spans = self.spans(args, n).ok_or_else(|| format!("{n} {what}s, {} declared", args.len()))?;
            for (arg, span) in args.iter().zip(spans) {
                let want = match arg.ty {
                    ArgType::Is(ty) => Some(ty),
                    ArgType::Attr(name) => self.ty(name),
                    ArgType::List(_) => None,
                };
                for (i, found) in span.clone().zip(&types[span]) {
                    if let (Some(want), Some(found)) = (want, found)
                        && want != *found
                    {
                        return Err(format!(
                            "{what} #{i} '{}' has elements of type {found}, expected {want}",
                            arg.name
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn spans(&self, args: &[Arg], n: usize) -> Option<Vec<Range<usize>>> {
        spans(args, n, |name| {
            let default = || match self.signature.attr(name)?.default.as_ref()? {
                DefaultValue::Int(n) => usize::try_from(*n).ok(),
                DefaultValue::List(items) => Some(items.len()),
                _ => None,
            };
            let number = self.given.int(name).and_then(|n| usize::try_from(n).ok());
            number.or_else(|| self.given.types(name).map(|types| types.len())).or_else(default)
        })
    }

    /// The types of the operands or results of each argument for which `of` is true.
    fn found(&self, of: impl Fn(&Arg) -> bool) -> Vec<&[Option<Type>]> {
        let sides = [(&self.signature.inputs, &self.inputs), (&self.signature.outputs, &self.outputs)];
        let mut found = Vec::new();
        for (args, types) in sides {
            if args.iter().any(&of) {
                let spans = self.spans(args, types.len()).unwrap_or_default();
                let args = args.iter().zip(spans).filter(|(arg, _)| of(arg));
                found.extend(args.filter_map(|(_, span)| types.get(span)));
            }
        }
        found
    }
}

impl<A: Attrs> Attrs for Derived<'_, A> {
    fn has(&self, name: &str) -> bool {
        self.given.has(name)
    }

    fn int(&self, name: &str) -> Option<i64> {
        let number = || self.found(|arg| arg.number == Some(name)).first().map(|types| types.len() as i64);
        self.given.int(name).or_else(number)
    }

    fn float(&self, name: &str) -> Option<f64> {
        self.given.float(name)
    }

    fn bool(&self, name: &str) -> Option<bool> {
        self.given.bool(name)
    }

    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.given.string(name)
    }

    fn ty(&self, name: &str) -> Option<Type> {
        let found = || self.found(|arg| matches!(arg.ty, ArgType::Attr(ty) if ty == name));
        // `check` compares those that are known.
        self.given.ty(name).or_else(|| found().into_iter().flatten().copied().flatten().next())
    }

    fn shape(&self, name: &str) -> Option<PartialShape> {
        self.given.shape(name)
    }

    fn tensor(&self, name: &str) -> Option<HostTensor> {
        self.given.tensor(name)
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.given.ints(name)
    }

    fn floats(&self, name: &str) -> Option<Vec<f64>> {
        self.given.floats(name)
    }

    fn strings(&self, name: &str) -> Option<Vec<Vec<u8>>> {
        self.given.strings(name)
    }

    fn types(&self, name: &str) -> Option<Vec<Type>> {
        let found = || {
            let mut lists = self.found(|arg| matches!(arg.ty, ArgType::List(ty) if ty == name)).into_iter();
            let first = lists.next()?.to_vec();
            let merged = lists.fold(first, |known, types| {
                known.iter().zip(types).map(|(known, ty)| known.or(*ty)).collect()
            });
            merged.into_iter().collect()
        };
        self.given.types(name).or_else(found)
    }

    fn shapes(&self, name: &str) -> Option<Vec<PartialShape>> {
        self.given.shapes(name)
    }
}
