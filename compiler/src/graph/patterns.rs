//! Which rewrites there are, by operator.

use crate::dialects::OpDef;
use crate::rewrite::Pattern;

/// The passes that rewrites belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// What is simpler because an operand is a constant.
    Constant,
    /// What is simpler by the laws of arithmetic.
    Arithmetic,
    /// What one kernel does at once.
    Fusion,
}

/// The rewrites of an op.
pub(super) fn of(family: Family, def: &'static OpDef) -> &'static [Pattern] {
    _ = family;
    &def.patterns
}
