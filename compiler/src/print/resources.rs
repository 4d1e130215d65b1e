//! The resource section as text.

use super::aliases::Aliases;
use super::elements::write_bytes;
use super::text::{put, write_quoted};
use crate::ir::resources::{Group, ResourceValue, Resources};
use crate::ir::{Module, StrId};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The whole section, if there is one.
pub(crate) fn resources_text(m: &Module) -> Option<String> {
    let mut out = String::new();
    write_groups(m.resources.as_ref()?, |group| group.entries.iter().collect(), &mut out);
    (!out.is_empty()).then_some(out)
}

/// Writes the section after a blank line, if it is not empty. Of dialect `builtin` only the used resources
/// are written, in the order of use, as upstream.
pub(super) fn write(m: &Module, aliases: &Aliases, out: &mut String) {
    let Some(resources) = &m.resources else { return };
    let limit = aliases.elide_larger_than.unwrap_or(usize::MAX);
    let is_written = |entry: &&(String, ResourceValue)| match &entry.1 {
        ResourceValue::Bool(_) => true,
        ResourceValue::Str(bytes) => bytes.len() <= limit,
        ResourceValue::Blob(bytes) => bytes.len() <= limit,
    };
    let entries = |group| {
        let mut entries = of_dialect(m, group, &aliases.resources);
        entries.retain(is_written);
        entries
    };
    let before = out.len();
    out.push('\n');
    write_groups(resources, entries, out);
    match out.len() {
        n if n == before + 1 => out.truncate(before),
        _ => out.push('\n'),
    }
}

fn of_dialect<'r>(
    m: &Module,
    group: &'r Group,
    referred: &IndexSet<StrId, FxBuildHasher>,
) -> Vec<&'r (String, ResourceValue)> {
    if group.name != "builtin" {
        return group.entries.iter().collect();
    }
    let by_key: FxHashMap<&str, &(String, ResourceValue)> =
        group.entries.iter().map(|e| (e.0.as_str(), e)).collect();
    referred.iter().filter_map(|key| by_key.get(m.cx.str(*key)).copied()).collect()
}

/// `{-# ... #-}`, or nothing if no group has entries; `of_dialect` filters the entries of a dialect.
fn write_groups<'r>(
    resources: &'r Resources,
    of_dialect: impl Fn(&'r Group) -> Vec<&'r (String, ResourceValue)>,
    out: &mut String,
) {
    let dialects: Vec<_> = resources.dialects.iter().map(|g| (g.name.as_str(), of_dialect(g))).collect();
    let external = resources.external.iter().map(|g| (g.name.as_str(), g.entries.iter().collect())).collect();
    let mut first = true;
    for (title, mut groups) in [("dialect_resources", dialects), ("external_resources", external)] {
        groups.retain(|(_, entries)| !entries.is_empty());
        if groups.is_empty() {
            continue;
        }
        out.push_str(if first { "{-#\n" } else { ",\n" });
        first = false;
        put!(out, "  {title}: {{\n");
        for (i, (name, entries)) in groups.iter().enumerate() {
            put!(out, "    {name}: {{\n");
            for (j, (key, value)) in entries.iter().enumerate() {
                put!(out, "      {key}: ");
                match value {
                    ResourceValue::Bool(b) => put!(out, "{b}"),
                    ResourceValue::Str(text) => write_quoted(text, out),
                    ResourceValue::Blob(bytes) => write_bytes(bytes.iter().copied(), out),
                }
                out.push_str(if j + 1 < entries.len() { ",\n" } else { "\n" });
            }
            out.push_str(if i + 1 < groups.len() { "    },\n" } else { "    }\n" });
        }
        out.push_str("  }");
    }
    if !first {
        out.push_str("\n#-}");
    }
}
