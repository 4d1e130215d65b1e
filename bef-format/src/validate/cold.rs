//! Locations and names: never read by execution, but by messages and by the conversion back to text.

use super::{Checker, pools};
use crate::error::{FormatError, FormatErrorKind as Kind};
use crate::layout::{
    KERNEL_NAMED_ATTRS, KERNEL_OPERAND_INFO, LOCATION_KIND_BITS, LocationEndRec, LocationKind, LocationRec,
    MAX_LOCATION_DEPTH, MAX_LOCATION_NODES, NONE, SectionId,
};

pub(super) fn check(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let image = cx.image;
    let has = |section| cx.tables().section(section).is_some();
    locations(cx)?;
    ends(cx)?;

    let n_locations = image.locations.len();
    let check_ids = |section: SectionId, ids: &mut dyn Iterator<Item = u32>, per_record: usize| {
        for (i, id) in ids.enumerate() {
            if id != NONE {
                cx.index(section, i / per_record, "location", id, n_locations)?;
            }
        }
        Ok(())
    };
    if has(SectionId::KernelLocations) {
        let (found, expected) = (image.kernel_locations.len() as u64, u64::from(image.n_kernels()));
        cx.equal(SectionId::KernelLocations, 0, "number of entries", found, expected)?;
        check_ids(SectionId::KernelLocations, &mut image.kernel_locations.iter().copied(), 1)?;
    }
    if has(SectionId::FunctionLocations) {
        let (found, expected) = (image.function_locations.len() as u64, u64::from(image.n_functions()) + 1);
        cx.equal(SectionId::FunctionLocations, 0, "number of entries", found, expected)?;
        let mut ids = image.function_locations.iter().flat_map(|rec| [rec.function, rec.ret]);
        check_ids(SectionId::FunctionLocations, &mut ids, 2)?;
        // The last record is the module's, which does not return.
        let ret = image.function_locations.last().map_or(NONE, |rec| rec.ret);
        let at = image.function_locations.len() - 1;
        cx.equal(
            SectionId::FunctionLocations,
            at,
            "return of the module at",
            u64::from(ret),
            u64::from(NONE),
        )?;
    }
    if has(SectionId::IoLocations) {
        let (found, expected) = (image.io_locations.len() as u64, image.function_types.len() as u64);
        cx.equal(SectionId::IoLocations, 0, "number of entries", found, expected)?;
        check_ids(SectionId::IoLocations, &mut image.io_locations.iter().copied(), 1)?;
    }
    if has(SectionId::AuxNames) {
        let (found, expected) = (image.aux_names.len() as u64, image.aux.len() as u64);
        cx.equal(SectionId::AuxNames, 0, "number of entries", found, expected)?;
        cx.strings(SectionId::AuxNames, image.aux_names)?;
        unnamed_words(cx)?;
    }
    if has(SectionId::SsaNames) != has(SectionId::SsaNameBytes) {
        let section = if has(SectionId::SsaNames) { SectionId::SsaNameBytes } else { SectionId::SsaNames };
        return Err(cx.refuse(section, 0, Kind::MissingSection));
    }
    if has(SectionId::SsaNames) {
        let (found, expected) = (image.ssa_names.len() as u64, u64::from(image.n_registers()) + 1);
        cx.equal(SectionId::SsaNames, 0, "number of entries", found, expected)?;
        pools::offsets(
            cx,
            SectionId::SsaNames,
            image.ssa_names,
            SectionId::SsaNameBytes,
            image.ssa_name_bytes,
        )?;
    }
    Ok(())
}

/// Checks that operand words have no names, and that attributes whose names are in `Aux` have no other names.
fn unnamed_words(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    for pair in cx.image.kernels.windows(2) {
        let [rec, next] = pair else { continue };
        if rec.flags & (KERNEL_OPERAND_INFO | KERNEL_NAMED_ATTRS) == 0 {
            continue;
        }
        let has_infos = rec.flags & KERNEL_OPERAND_INFO != 0;
        let first_info = next.first_aux - if has_infos { next.first_operand - rec.first_operand } else { 0 };
        let is_named = rec.flags & KERNEL_NAMED_ATTRS != 0;
        let first_function = first_info - u32::from(rec.n_functions);
        let named = if is_named { rec.first_aux..first_function } else { 0..0 };
        for at in named {
            let found = u64::from(cx.image.aux_names[at as usize].0);
            cx.equal(SectionId::AuxNames, at as usize, "name of a named attribute to be string", found, 0)?;
        }
        for at in first_info..next.first_aux {
            let found = u64::from(cx.image.aux_names[at as usize].0);
            cx.equal(SectionId::AuxNames, at as usize, "name of an operand word to be string", found, 0)?;
        }
    }
    Ok(())
}

fn locations(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let image = cx.image;
    // Depth and number of nodes as a tree; shared children count each time.
    let mut trees: Vec<(u8, u32)> = Vec::with_capacity(image.locations.len());
    let mut extra = 0;
    for (i, rec) in image.locations.iter().enumerate() {
        let tree = location(cx, i, rec, &trees, &mut extra)?;
        trees.push(tree);
    }
    let (found, expected) = (u64::from(extra), image.location_extra.len() as u64);
    cx.equal(SectionId::LocationExtra, 0, "number of entries", expected, found)
}

/// Checks the ends of ranges: each belongs to a different file location, in their order.
fn ends(cx: &Checker<'_, '_>) -> Result<(), FormatError> {
    let section = SectionId::LocationEnds;
    let mut next = 0;
    for (i, rec) in cx.image.location_ends.iter().enumerate() {
        let LocationEndRec { location, line: _, col: _ } = *rec;
        cx.index(section, i, "location", location, cx.image.locations.len())?;
        if location < next {
            return Err(cx.refuse(section, i, Kind::Order { what: "starts of ranges" }));
        }
        next = location + 1;
        let kind = cx.image.locations[location as usize].kind_a & ((1 << LOCATION_KIND_BITS) - 1);
        let file = LocationKind::File as u64;
        cx.equal(section, i, "a place in a file, location kind", u64::from(kind), file)?;
    }
    Ok(())
}

/// Checks one location. Returns its depth and number of nodes. `extra` is the end of the children of fused
/// locations so far.
fn location(
    cx: &Checker<'_, '_>,
    i: usize,
    rec: &LocationRec,
    trees: &[(u8, u32)],
    extra: &mut u32,
) -> Result<(u8, u32), FormatError> {
    let image = cx.image;
    let section = SectionId::Locations;
    let LocationRec { kind_a, b, c } = *rec;
    let a = kind_a >> LOCATION_KIND_BITS;
    let code = kind_a & ((1 << LOCATION_KIND_BITS) - 1);
    let Some(kind) = LocationKind::from_code(code as u8) else {
        return Err(cx.refuse(section, i, Kind::Code { what: "location kind", found: u64::from(code) }));
    };
    let n_strings = image.n_strings() as usize;
    let zero = |field: u32| {
        let kind = Kind::NotZero { what: "unused fields of a location" };
        if field == 0 { Ok(()) } else { Err(cx.refuse(section, i, kind)) }
    };
    let (mut depth, mut n_nodes) = (0u8, 1u32);
    let mut child = |id: u32| {
        cx.index(section, i, "child location", id, trees.len())?;
        let (child_depth, child_nodes) = trees[id as usize];
        depth = depth.max(child_depth + 1);
        n_nodes = n_nodes.saturating_add(child_nodes);
        Ok(())
    };
    match kind {
        LocationKind::Unknown => {
            zero(a)?;
            zero(b)?;
            zero(c)?;
        }
        LocationKind::File => cx.index(section, i, "string", a, n_strings)?,
        LocationKind::Name => {
            cx.index(section, i, "string", a, n_strings)?;
            zero(c)?;
            if b != NONE {
                child(b)?;
            }
        }
        LocationKind::CallSite => {
            zero(a)?;
            child(b)?;
            child(c)?;
        }
        LocationKind::Fused => {
            if a != 0 {
                cx.index(section, i, "attribute", a - 1, image.attributes.len())?;
            }
            cx.equal(section, i, "first part of a fused location", u64::from(b), u64::from(*extra))?;
            let (found, limit) = (u64::from(c), (image.location_extra.len() - *extra as usize) as u64);
            if found > limit {
                return Err(cx.refuse(section, i, Kind::Limit { what: "number of parts", found, limit }));
            }
            for part in &image.location_extra[b as usize..b as usize + c as usize] {
                child(part.0)?;
            }
            *extra += c;
        }
        LocationKind::Text => {
            cx.index(section, i, "string", a, n_strings)?;
            zero(b)?;
            zero(c)?;
        }
    }
    if depth > MAX_LOCATION_DEPTH {
        let (found, limit) = (u64::from(depth), u64::from(MAX_LOCATION_DEPTH));
        return Err(cx.refuse(section, i, Kind::Limit { what: "location depth", found, limit }));
    }
    if n_nodes > MAX_LOCATION_NODES {
        let (found, limit) = (u64::from(n_nodes), u64::from(MAX_LOCATION_NODES));
        return Err(cx.refuse(section, i, Kind::Limit { what: "size of a location", found, limit }));
    }
    Ok((depth, n_nodes))
}
