//! The transfers of a program as a table.
//!
//! ```text
//! value           type           from                   to                     readers
//! 'a' (tf.Sin)    tensor<3xf32>  /job:.../device:CPU:0  /job:.../device:CPU:1  2
//! 1 transfers
//! ```

use std::fmt::Write;

use super::errors::op_text;
use super::homes::Homes;
use super::specs::Devices;
use super::transfers::sorted_functions;
use crate::dialects::dev;
use crate::ir::{Module, ValueId};
use crate::print::type_text;

/// The table of all transfers, in the order of the program.
pub(super) fn table(m: &Module, devices: &Devices) -> String {
    let homes = Homes::of_module(m, devices);
    let mut rows: Vec<[String; 5]> = vec![["value", "type", "from", "to", "readers"].map(str::to_owned)];
    for op in sorted_functions(m).into_iter().flat_map(|function| m.walk(function)) {
        let Some(to) = dev::destination(m, op) else { continue };
        let value = m.operand(op, 0);
        let from = homes.home(m, value).map_or_else(String::new, |home| devices.name(home).to_string());
        let ty = type_text(&m.cx, m.value_type(value));
        let n_readers = m.users(m.result(op, 0)).count().to_string();
        rows.push([value_text(m, value), ty, from, to.to_owned(), n_readers]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [first, second, third, fourth] = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for [value, ty, from, to, n_readers] in &rows {
        _ = writeln!(text, "{value:<first$}  {ty:<second$}  {from:<third$}  {to:<fourth$}  {n_readers}");
    }
    _ = writeln!(text, "{} transfers", rows.len() - 1);
    text
}

/// A value in a message: the op that makes it, or the argument that it is.
pub(super) fn value_text(m: &Module, value: ValueId) -> String {
    if let Some(op) = m.defining_op(value) {
        return op_text(m, op);
    }
    let argument = sorted_functions(m).into_iter().find_map(|function| {
        let args = super::homes::block_of(m, function).map_or(&[][..], |block| m.args(block));
        Some((m.symbol_name(function)?, args.iter().position(|&arg| arg == value)?))
    });
    match argument {
        Some((function, i)) => format!("argument #{i} of @{}", m.cx.str(function)),
        None => "an argument".to_owned(),
    }
}
