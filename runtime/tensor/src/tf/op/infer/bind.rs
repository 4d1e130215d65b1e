//! Binding of operands to a signature: operand ranges, and the element types of the results.
//!
//! ```text
//! attributes that are given ─┐
//! operands' number and types ┼──▶ counts (N), types (T), lists of types ──▶ the results' types
//! defaults ──────────────────┘
//! ```
//!
//! A type or number without an attribute follows from the operands, so redundant attributes may be omitted.

use std::collections::BTreeMap;

use super::Operand;
use crate::TensorError;
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::signature::{Arg, ArgType, AttrKind, DefaultValue};
use crate::tf::op::types::Type;

/// The values bound to a signature's attributes.
#[derive(Default)]
struct Bound {
    counts: BTreeMap<&'static str, usize>,
    types: BTreeMap<&'static str, Type>,
    lists: BTreeMap<&'static str, Vec<Type>>,
}

/// The element types of the results. Fails for operands that do not match the signature.
pub(super) fn result_types(
    attrs: &Attributes<'_>,
    operands: &[Operand<'_>],
) -> Result<Vec<Type>, TensorError> {
    let mut bound = given(attrs)?;
    bind_operands(attrs, &mut bound, operands)?;
    let mut types = Vec::new();
    for arg in &attrs.signature().outputs {
        match arg.ty {
            ArgType::List(list) => match bound.lists.get(list) {
                Some(list) => types.extend(list),
                None => types.extend(attrs.types(list)?),
            },
            ArgType::Is(_) | ArgType::Attr(_) => {
                let ty = match arg.ty {
                    ArgType::Is(ty) => ty,
                    ArgType::Attr(name) | ArgType::List(name) => match bound.types.get(name) {
                        Some(ty) => *ty,
                        None => attrs.ty(name)?,
                    },
                };
                let n = match arg.number {
                    None => 1,
                    Some(number) => match bound.counts.get(number) {
                        Some(n) => *n,
                        None => attrs.count(number)?,
                    },
                };
                if n > MAX_RESULTS {
                    return invalid(attrs.op(), format!("{n} results"));
                }
                types.extend(std::iter::repeat_n(ty, n));
            }
        }
    }
    Ok(types)
}

/// The maximum number of results. It bounds the memory that a number attribute can request.
const MAX_RESULTS: usize = 1 << 20;

/// The values of the node's own attributes.
fn given(attrs: &Attributes<'_>) -> Result<Bound, TensorError> {
    let mut bound = Bound::default();
    let signature = attrs.signature();
    for attr in signature.attrs.iter().filter(|attr| attrs.has(attr.name)) {
        match attr.kind {
            AttrKind::Type => _ = bound.types.insert(attr.name, attrs.ty(attr.name)?),
            AttrKind::List(AttrKind::Type) => _ = bound.lists.insert(attr.name, attrs.types(attr.name)?),
            AttrKind::Int => {
                let args = signature.inputs.iter().chain(&signature.outputs);
                if args.clone().any(|arg| arg.number == Some(attr.name)) {
                    bound.counts.insert(attr.name, attrs.count(attr.name)?);
                }
            }
            _ => {}
        }
    }
    Ok(bound)
}

/// The number of operands of an argument. If it is not bound yet, the error is the attribute that would bind
/// it.
fn width(arg: &Arg, bound: &Bound) -> Result<usize, &'static str> {
    match (arg.ty, arg.number) {
        (ArgType::List(list), _) => bound.lists.get(list).map(Vec::len).ok_or(list),
        (_, Some(number)) => bound.counts.get(number).copied().ok_or(number),
        (_, None) => Ok(1),
    }
}

fn bind_operands(
    attrs: &Attributes<'_>,
    bound: &mut Bound,
    operands: &[Operand<'_>],
) -> Result<(), TensorError> {
    let (op, args) = (attrs.op(), &attrs.signature().inputs);
    let open = |bound: &Bound| {
        let mut open: Vec<&'static str> = args.iter().filter_map(|arg| width(arg, bound).err()).collect();
        open.dedup();
        open
    };
    // If several attributes are unbound, those with a default take it.
    for name in open(bound) {
        let default = attrs.signature().attr(name).and_then(|attr| attr.default.as_ref());
        if let (true, Some(DefaultValue::Int(n))) = (open(bound).len() > 1, default) {
            bound.counts.insert(name, usize::try_from(*n).unwrap_or(0));
        }
    }
    let known = args.iter().filter_map(|arg| width(arg, bound).ok());
    let known = known.fold(0usize, usize::saturating_add);
    let wrong = |expected: String| invalid(op, format!("{} operands, expected {expected}", operands.len()));
    let each = match &open(bound)[..] {
        [] if known == operands.len() => 0,
        [] => return wrong(known.to_string()),
        [name] => {
            let n_args = args.iter().filter(|arg| width(arg, bound).is_err()).count();
            match operands.len().checked_sub(known) {
                Some(rest) if rest.is_multiple_of(n_args) => rest / n_args,
                _ => return wrong(format!("{known} and {n_args} times `{name}`")),
            }
        }
        names => return invalid(op, format!("no attributes {names:?}, which say what each operand is")),
    };
    let mut rest = operands;
    for arg in args {
        let n = width(arg, bound).unwrap_or(each);
        let Some((own, after)) = rest.split_at_checked(n) else {
            return wrong(format!("more for `{}`", arg.name));
        };
        rest = after;
        bind_types(attrs, bound, arg, own)?;
    }
    for arg in args {
        if let (Some(number), Err(_)) = (arg.number, width(arg, bound)) {
            bound.counts.insert(number, each);
        }
    }
    Ok(())
}

/// Checks or binds the types of the operands of an argument.
fn bind_types(
    attrs: &Attributes<'_>,
    bound: &mut Bound,
    arg: &Arg,
    operands: &[Operand<'_>],
) -> Result<(), TensorError> {
    if let ArgType::List(list) = arg.ty
        && !bound.lists.contains_key(list)
    {
        bound.lists.insert(list, operands.iter().map(|operand| operand.ty).collect());
    }
    for (i, operand) in operands.iter().enumerate() {
        let want = match arg.ty {
            ArgType::Is(ty) => ty,
            ArgType::Attr(name) => *bound.types.entry(name).or_insert(operand.ty),
            ArgType::List(list) => {
                bound.lists.get(list).and_then(|list| list.get(i)).copied().unwrap_or(operand.ty)
            }
        };
        if want != operand.ty {
            return invalid(attrs.op(), format!("`{}` has type {}, expected {want}", arg.name, operand.ty));
        }
    }
    Ok(())
}
