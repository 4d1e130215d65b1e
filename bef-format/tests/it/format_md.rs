//! Comparison of `FORMAT.md` with `layout.rs`.

use std::mem::offset_of;

use bef_format::layout::{
    self, AttrKind, AttrRec, CompiledModuleRec, DenseRec, DictEntry, FunctionKind, FunctionLocationRec,
    FunctionRec, Header, KernelRec, LocationEndRec, LocationKind, LocationRec, OperandInfo, OperandMode,
    RegisterRec, SectionRec,
};
use bef_format::{DType, SectionId};

const TEXT: &str = include_str!("../../FORMAT.md");

/// The first `n` cells of each row of the table that follows a line.
fn table(after: &str, n: usize) -> Vec<String> {
    let mut lines = TEXT.lines().skip_while(|line| *line != after);
    assert!(lines.next().is_some(), "FORMAT.md lacks the line `{after}`");
    let rows = lines.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2)
        .map(|row| row.trim_matches('|').split('|').map(str::trim).take(n).collect::<Vec<_>>().join(" | "))
        .collect()
}

/// Checks a record: all of its fields, in order, and nothing else.
macro_rules! record {
    ($record:ident: $($field:ident),*) => {{
        // Names every field, so that a new one stops the build here.
        let $record { $($field: _),* } = bytemuck::Zeroable::zeroed();
        let offsets = [$(offset_of!($record, $field),)* size_of::<$record>()];
        let names = [$(stringify!($field)),*];
        let rows: Vec<String> = names
            .iter()
            .zip(offsets.windows(2))
            .map(|(name, ends)| format!("{} | {} | {name}", ends[0], ends[1] - ends[0]))
            .collect();
        let heading = format!("#### {}: {} bytes", stringify!($record), size_of::<$record>());
        assert_eq!(table(&heading, 3), rows, "{heading}");
    }};
}

#[test]
fn records() {
    record!(Header: magic, major, minor, n_sections, file_len, features, producer, module_name, module_attrs, reserved, checksum);
    record!(SectionRec: id, flags, offset, len, checksum);
    record!(AttrRec: kind, dtype, depth, flags, ty, value);
    record!(DictEntry: key, value);
    record!(CompiledModuleRec: name, text, place);
    record!(DenseRec: rank, reserved, offset, len);
    record!(FunctionRec: name, kind, reserved, attrs, n_args, n_results, first_type, first_kernel, n_kernels, first_register, n_registers, first_result);
    record!(KernelRec: code, first_operand, first_result, first_aux, ready_count, stream, cost, n_results, n_functions, device, flags);
    record!(OperandInfo: mode, space, reserved);
    record!(RegisterRec: ty, first_user);
    record!(LocationRec: kind_a, b, c);
    record!(LocationEndRec: location, line, col);
    record!(FunctionLocationRec: function, ret);
}

#[test]
fn sections() {
    let rows: Vec<String> = SectionId::ALL
        .iter()
        .map(|&id| {
            let need = if id.is_optional() { "optional" } else { "mandatory" };
            format!("{} | {} | {need} | {}", id as u32, id.name(), id.record_name())
        })
        .collect();
    assert_eq!(table("All checksums must be right; the payload's is only looked at on request.", 4), rows);
    assert!(SectionId::ALL.windows(2).all(|pair| (pair[0] as u32) < pair[1] as u32), "sections ascend");
}

#[test]
fn codes() {
    fn check<T: std::fmt::Debug + Copy>(name: &str, all: &[T], code: impl Fn(T) -> u8) {
        let rows: Vec<String> = all.iter().map(|&kind| format!("{} | {kind:?}", code(kind))).collect();
        assert_eq!(table(&format!("#### {name}"), 2), rows, "{name}");
    }
    check("AttrKind", AttrKind::ALL, |kind| kind as u8);
    check("FunctionKind", FunctionKind::ALL, |kind| kind as u8);
    check("OperandMode", OperandMode::ALL, |mode| mode as u8);
    check("LocationKind", LocationKind::ALL, |kind| kind as u8);
    let rows: Vec<String> =
        DType::ALL.iter().map(|dtype| format!("{} | {dtype} | {}", *dtype as u8, dtype.size())).collect();
    assert_eq!(table("#### DType", 3), rows);
}

#[test]
fn constants() {
    let rows = [
        format!("MAJOR | {}", layout::MAJOR),
        format!("MINOR | {}", layout::MINOR),
        format!("MAX_SECTIONS | {}", layout::MAX_SECTIONS),
        format!("MAX_ATTR_DEPTH | {}", layout::MAX_ATTR_DEPTH),
        format!("MAX_ATTR_NODES | {}", layout::MAX_ATTR_NODES),
        format!("MAX_LOCATION_DEPTH | {}", layout::MAX_LOCATION_DEPTH),
        format!("MAX_LOCATION_NODES | {}", layout::MAX_LOCATION_NODES),
        format!("MAX_RANK | {}", layout::MAX_RANK),
        format!("TABLE_ALIGN | {}", layout::TABLE_ALIGN),
        format!("PAYLOAD_ALIGN | {}", layout::PAYLOAD_ALIGN),
    ];
    assert_eq!(table("*Limits.*", 2), rows);
    assert!(TEXT.starts_with(&format!("# BEF, format version {}.{}\n", layout::MAJOR, layout::MINOR)));
    assert!(
        TEXT.contains(&format!("`NONE` ({})", layout::NONE))
            && TEXT.contains(&format!("RETURN ({})", layout::RETURN))
    );
    assert_eq!((layout::ATTR_DENSE_ARRAY, layout::ATTR_SPLAT, layout::ATTR_UNRANKED), (1, 2, 4));
    assert_eq!((layout::KERNEL_ANY, layout::KERNEL_OPERAND_INFO, layout::KERNEL_NAMED_ATTRS), (1, 2, 4));
    assert_eq!((layout::FEATURE_COMPILED, layout::FEATURE_NAMED_ATTRS, layout::KNOWN_FEATURES), (1, 2, 3));
    assert_eq!((layout::SECTION_OPTIONAL, layout::LOCATION_KIND_BITS), (1, 4));
}
