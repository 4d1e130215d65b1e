//! The parts of a divided program as files.
//!
//! ```text
//! ir-translate g.pb --devices CPU:2 --partition device -o parts/
//!     parts/CPU_0.bef  parts/CPU_1.bef       each with the functions and constants that the part needs
//!     parts/parts.json                       what each part takes and gives, by the program's functions
//! ```
//!
//! In a file, a function has the name that it has in the program, `main`. It takes the program's arguments
//! whose numbers `takes` lists, then a step (`!dev.step`), and returns the results whose numbers `gives`
//! lists.

use std::fmt::Write;
use std::path::Path;

use befrost_compiler::emit::EmitOptions;
use befrost_compiler::ir::{AttrId, AttrKind, Module, OpId};

use super::compile::Unit;
use super::failure::Failure;
use super::files::Place;
use super::options::LevelArgs;
use super::passes::Passes;

/// A part of the program.
struct Part {
    name: String,
    /// Function, arguments that it takes and results that it gives.
    functions: Vec<(String, Vec<i64>, Vec<i64>)>,
}

/// Writes all parts of a program into a folder. `open` reads the program, `pipeline` makes passes for a
/// level.
pub(super) fn write(
    folder: &Path,
    level: &LevelArgs,
    open: &mut dyn FnMut(&mut Passes) -> Result<Unit, Failure>,
    pipeline: &dyn Fn(&LevelArgs) -> Result<Passes, Failure>,
    emit: &EmitOptions,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Refused(format!("cannot create the folder '{}': {error}", folder.display()))
    })?;
    let mut whole = level.clone();
    whole.devices.stops_divided = true;
    let mut passes = pipeline(&whole)?;
    let mut unit = open(&mut passes)?;
    unit.run(&mut passes);
    unit.conclude(None)?;
    let parts = unit.module().map(parts).unwrap_or_default();
    if parts.is_empty() {
        let why = "the program is not divided: it has no operation graph, or --devices names one device";
        return Err(Failure::Refused(why.to_owned()));
    }
    for part in &parts {
        let mut only = level.clone();
        only.devices.only_part = Some(part.name.clone());
        only.devices.print_placement = false;
        only.devices.print_transfers = false;
        only.devices.view_schedule = None;
        only.devices.view = None;
        let mut passes = pipeline(&only)?;
        let mut unit = open(&mut passes)?;
        unit.run(&mut passes);
        let file = unit.emit(emit, &mut passes.clock);
        if unit.conclude(None).is_err() {
            return Err(Failure::Reported);
        }
        let file = file.ok_or(Failure::Reported)?;
        Place::File(folder.join(format!("{}.bef", part.name))).write_bef(&file)?;
    }
    Place::File(folder.join("parts.json")).write_text(&description(&parts))
}

/// The parts of a divided module.
fn parts(m: &Module) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for function in m.functions() {
        let Some(name) = m.symbol_name(function).map(|name| m.cx.str(name)) else { continue };
        let divided = m.walk(function).filter(|&op| m.op_name_str(op) == "dev.parts");
        for op in divided {
            for (i, &symbol) in items(m, op, "parts").iter().enumerate() {
                let AttrKind::Symbol { root, .. } = m.cx.attr(symbol) else { continue };
                let of = m.cx.str(*root);
                let part = of.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(of);
                let numbers = |name: &str| -> Vec<i64> {
                    let own = items(m, op, name).get(i).map(|&own| m.cx.attr(own));
                    match own {
                        Some(AttrKind::Array(own)) => {
                            own.iter().filter_map(|&number| m.cx.as_int(number)).collect()
                        }
                        _ => Vec::new(),
                    }
                };
                let at = parts.iter().position(|known| known.name == part).unwrap_or_else(|| {
                    parts.push(Part { name: part.to_owned(), functions: Vec::new() });
                    parts.len() - 1
                });
                parts[at].functions.push((name.to_owned(), numbers("takes"), numbers("gives")));
            }
        }
    }
    parts
}

fn items<'m>(m: &'m Module, op: OpId, name: &str) -> &'m [AttrId] {
    match m.attr_named(op, name).map(|attr| m.cx.attr(attr)) {
        Some(AttrKind::Array(items)) => items,
        _ => &[],
    }
}

/// The text of `parts.json`.
fn description(parts: &[Part]) -> String {
    let mut text = String::from("{\"parts\": [");
    for (i, Part { name, functions }) in parts.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        _ = write!(
            text,
            "{comma}\n  {{\"name\": {}, \"file\": {}, ",
            quoted(name),
            quoted(&format!("{name}.bef"))
        );
        text.push_str("\"functions\": [");
        for (i, (function, takes, gives)) in functions.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let function = quoted(function);
            _ = write!(text, "{comma}{{\"name\": {function}, \"takes\": {takes:?}, \"gives\": {gives:?}}}");
        }
        text.push_str("]}");
    }
    text.push_str("\n]}\n");
    text
}

/// A text as JSON writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => _ = write!(quoted, "\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
