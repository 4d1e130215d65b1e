//! The placement as a table for people.
//!
//! ```text
//! op                device                                          why
//! 'a' (tf.Sin)      /job:localhost/replica:0/task:0/device:CPU:1    spec
//! ```

use std::fmt::Write;

use super::groups::Groups;
use super::{Choice, Reason, is_control};
use crate::device::errors::op_text;
use crate::device::specs::Devices;
use crate::ir::{LocKind, Module, OpId};

/// The table.
pub(super) fn table(m: &Module, groups: &Groups, choices: &[Choice], devices: &Devices) -> String {
    let mut rows: Vec<[String; 3]> = vec![["op".into(), "device".into(), "why".into()]];
    let mut ops: Vec<OpId> = groups.of.keys().copied().collect();
    ops.sort_by_key(|op| op.0);
    let mut counts = vec![0usize; devices.len()];
    for op in ops {
        let group = groups.of[&op];
        let Choice { device, reason } = choices[group];
        counts[usize::from(device)] += usize::from(!is_control(m, op));
        let group = &groups.all[group];
        let reason = match reason {
            Reason::Spec if group.by != Some(op) => match group.by {
                Some(_) if group.is_resource => Reason::Resource,
                Some(by) => Reason::Colocated(by),
                None => reason,
            },
            Reason::Policy if group.is_resource && group.ops.len() > 1 => Reason::Resource,
            _ => reason,
        };
        let why = match reason {
            Reason::Spec => "spec".to_owned(),
            Reason::Resource => "resource".to_owned(),
            Reason::Colocated(with) => format!("colocated with {}", op_text(m, with)),
            Reason::Soft => "soft".to_owned(),
            Reason::Only => "only kernel".to_owned(),
            Reason::Neighbour => "neighbour".to_owned(),
            Reason::Policy => "first".to_owned(),
        };
        rows.push([placed_text(m, op), devices.name(device).to_string(), why]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = String::new();
    for [op, device, why] in &rows {
        _ = writeln!(text, "{op:<first$}  {device:<second$}  {why}");
    }
    for ((_, name), n) in devices.all().zip(counts) {
        _ = writeln!(text, "{name}: {n} operators");
    }
    text
}

/// An op with its place in the source.
fn placed_text(m: &Module, op: OpId) -> String {
    let mut text = op_text(m, op);
    if let LocKind::File { file, line, col } = &*m.cx.loc(m.loc(op)) {
        _ = write!(text, " at {}:{line}:{col}", m.cx.str(*file));
    }
    text
}
