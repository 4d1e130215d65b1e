//! The origins of values: found from arguments through all callers, through `Identity`, and along references.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialects::tf::{self, Control};
use crate::graph::callees;
use crate::ir::{AttrId, AttrKind, Module, OpId, StrId, ValueDef, ValueId};

/// The callers of all functions of a module.
pub(super) struct Origins {
    /// The calling ops by the name of the callee, with the number of operands that are not passed.
    callers: FxHashMap<StrId, Vec<(OpId, usize)>>,
}

/// Maximum number of values between an argument and an origin.
const MAX_STEPS: usize = 1 << 12;

/// A variable, by container and name.
pub(super) type VariableKey = (Option<StrId>, StrId);

impl Origins {
    pub(super) fn new(m: &Module) -> Origins {
        let mut callers = FxHashMap::<StrId, Vec<(OpId, usize)>>::default();
        for op in m.walk(m.top()) {
            let skipped = match Control::of(m, op) {
                None => continue,
                Some(Control::Call | Control::While) => 0,
                Some(Control::If | Control::Case) => 1,
            };
            callees(m, op).into_iter().for_each(|name| callers.entry(name).or_default().push((op, skipped)));
        }
        Origins { callers }
    }

    /// The op results that a value may be; `None` if the caller of the program may give it, or the search
    /// took too many steps.
    pub(super) fn of(&self, m: &Module, value: ValueId) -> Option<Vec<ValueId>> {
        let (mut todo, mut seen, mut found) = (vec![value], FxHashSet::default(), Vec::new());
        while let Some(value) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            if seen.len() > MAX_STEPS {
                return None;
            }
            match m.value_def(value) {
                ValueDef::Result(op, _) => {
                    let first = m.operands(op).next();
                    let passes = tf::operator(m, op) == Some(Op::Identity);
                    match first.filter(|&first| passes || is_ref(m, value) && is_ref(m, first)) {
                        Some(first) => todo.push(first),
                        None => found.push(value),
                    }
                }
                ValueDef::Arg(block, index) => {
                    let function = m.region_parent(m.block_parent(block)?);
                    if !m.is_private(function) {
                        return None;
                    }
                    let callers = m.symbol_name(function).and_then(|name| self.callers.get(&name))?;
                    for &(op, skipped) in callers {
                        let index = index as usize;
                        todo.push(m.operands(op).nth(index + skipped)?);
                        if Control::of(m, op) == Some(Control::While) {
                            // The value of the next iteration: the result of the body.
                            todo.push(body_result(m, op, index)?);
                        }
                    }
                }
                ValueDef::Forward => return None,
            }
        }
        Some(found)
    }

    /// The variable that a handle or a reference is, if it is known.
    pub(super) fn variable(&self, m: &Module, value: ValueId) -> Option<VariableKey> {
        let keys = self.of(m, value)?.into_iter().map(|value| {
            let op = m.defining_op(value)?;
            if !makes_variable(m, op) {
                return None;
            }
            Some((text_attr(m, op, "container"), text_attr(m, op, "shared_name")?))
        });
        all_equal(keys)
    }

    /// True if a handle may be that of a variable: made by a variable's op, or of unknown origin.
    pub(super) fn may_be_variable(&self, m: &Module, value: ValueId) -> bool {
        let is_variable = |value: ValueId| m.defining_op(value).is_none_or(|op| makes_variable(m, op));
        self.of(m, value).is_none_or(|values| values.into_iter().any(is_variable))
    }

    /// The constant that a value is, if it is one.
    pub(super) fn constant(&self, m: &Module, value: ValueId) -> Option<AttrId> {
        let constants = self.of(m, value)?.into_iter().map(|value| {
            let op = m.defining_op(value)?;
            (tf::operator(m, op)? == Op::Const).then(|| m.attr_named(op, "value"))?
        });
        all_equal(constants)
    }
}

/// A text among the attributes of an op, if there is one that is not empty.
pub(super) fn text_attr(m: &Module, op: OpId, name: &str) -> Option<StrId> {
    match m.cx.attr(m.attr_named(op, name)?) {
        AttrKind::Str { text, .. } => Some(*text).filter(|&text| !m.cx.str(text).is_empty()),
        _ => None,
    }
}

pub(super) fn makes_variable(m: &Module, op: OpId) -> bool {
    matches!(tf::operator(m, op), Some(Op::VarHandleOp | Op::VariableV2 | Op::Variable))
}

/// The common value of all items, if they are equal.
fn all_equal<T: PartialEq>(mut values: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = values.next()??;
    values.all(|value| value.as_ref() == Some(&first)).then_some(first)
}

/// A result of the body of a loop.
fn body_result(m: &Module, op: OpId, index: usize) -> Option<ValueId> {
    let AttrKind::Symbol { root, .. } = m.cx.attr(m.attr_named(op, "body")?) else { return None };
    let body = m.find_function(m.cx.str(*root))?;
    let end = m.last_op(m.entry(*m.regions_of(body).first()?)?)?;
    m.operands(end).nth(index)
}

/// True for a handle of a resource or a reference to a variable.
pub(super) fn is_handle(m: &Module, value: ValueId) -> bool {
    tf::is_resource(&m.cx, m.value_type(value)) || is_ref(m, value)
}

fn is_ref(m: &Module, value: ValueId) -> bool {
    tf::type_of(&m.cx, m.value_type(value)).is_some_and(|(_, is_ref)| is_ref)
}
