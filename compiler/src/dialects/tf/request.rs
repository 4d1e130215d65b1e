//! The op of a request for gradients, `tf._Gradients`.
//!
//! ```mlir
//! %dw, %db = "tf._Gradients"(%loss, %w, %b)
//!     <{operandSegmentSizes = array<i32: 1, 0, 2, 0>, unconnected = "zero"}> : (...) -> (...)
//! ```
//!
//! Its operands are ys, their gradients (dys; ones without any), xs and stop values. An x without a gradient
//! is an error (`none`, the default), has zeros (`zero`), or leaves the results of the function that returns
//! it (`omit`), which is for requests on command lines.

use crate::build::query;
use crate::diag::Diagnostic;
use crate::dialects::{at_op, tf_signature};
use crate::ir::{Module, OpId, ValueId};
use crate::print::type_text;

/// The op of a request.
pub(crate) const REQUEST: &str = "tf._Gradients";

/// The attribute that says which gradient an unconnected x has.
pub(crate) const UNCONNECTED: &str = "unconnected";

/// The operands of a group: 0 ys, 1 dys, 2 xs, 3 stop values.
pub(crate) fn group(m: &Module, op: OpId, i: usize) -> Vec<ValueId> {
    m.operand_range(op, i).map(|at| m.operand(op, at)).collect()
}

/// The value of [`UNCONNECTED`].
pub(crate) fn unconnected(m: &Module, op: OpId) -> &str {
    m.attr_named(op, UNCONNECTED).and_then(|attr| m.cx.as_str(attr)).unwrap_or("none")
}

/// Checks a request.
pub(super) fn verify(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let [ys, dys, xs] = [0, 1, 2].map(|i| group(m, op, i));
    if !dys.is_empty() && dys.len() != ys.len() {
        let why = format!("{} dys for {} ys; there are as many or none", dys.len(), ys.len());
        diags.push(at_op(m, op, "E0905", why));
    }
    for (i, (&y, &dy)) in ys.iter().zip(&dys).enumerate() {
        let shape = |value| query::partial_shape(m, m.value_type(value));
        let element = |value| m.cx.element(m.value_type(value));
        if element(y) != element(dy) || shape(y).merged(&shape(dy)).is_none() {
            let text = |value| type_text(&m.cx, m.value_type(value));
            let why = format!("dy #{i} has type {}, but y #{i} has type {}", text(dy), text(y));
            diags.push(at_op(m, op, "E0905", why));
        }
    }
    if xs.len() != m.n_results(op) {
        let why = format!("{} results, expected one for each of {} xs", m.n_results(op), xs.len());
        diags.push(tf_signature(m, op, &why));
    }
    if !matches!(unconnected(m, op), "none" | "zero" | "omit") {
        diags.push(tf_signature(m, op, "unconnected is none, zero or omit"));
    }
}
