//! Where nodes run: their device specs and the groups that share a device.
//!
//! `NodeDef.device` becomes the attribute `device` as it is. `_class = ["loc:@x"]` on a node becomes
//! `colocate = ["x"]`, on the node `x` itself too. `tf-resolve-devices` reads both.

use std::collections::HashSet;

use super::Importer;
use super::body::GraphBody;
use crate::import::proto::NodeDef;
use crate::import::proto::attr_value::Value;
use crate::ir::{AttrId, StrId, names};

/// The nodes that a class of a node names.
fn classes(node: &NodeDef) -> impl Iterator<Item = &str> {
    let list = match node.attr.get("_class").and_then(|value| value.value.as_ref()) {
        Some(Value::List(list)) => list.s.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|class| std::str::from_utf8(class).ok()?.strip_prefix("loc:@"))
}

/// The nodes that some class names.
pub(super) fn groups(nodes: &[NodeDef]) -> HashSet<&str> {
    nodes.iter().flat_map(classes).collect()
}

impl Importer<'_> {
    /// The attributes of an op that say where it runs.
    pub(super) fn device_attrs(&mut self, body: &GraphBody<'_>, node: &NodeDef) -> Vec<(StrId, AttrId)> {
        let cx = &mut self.m.cx;
        let mut attrs = Vec::new();
        if !node.device.is_empty() {
            attrs.push((names::DEVICE, cx.str_attr(&node.device)));
        }
        let mut groups: Vec<&str> = classes(node).collect();
        groups.extend(body.groups.get(node.name.as_str()));
        groups.sort_unstable();
        groups.dedup();
        if !groups.is_empty() {
            let groups: Vec<AttrId> = groups.into_iter().map(|group| cx.str_attr(group)).collect();
            attrs.push((names::COLOCATE, cx.array_attr(&groups)));
        }
        attrs
    }
}
