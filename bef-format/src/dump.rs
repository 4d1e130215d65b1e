//! A file as text, section by section, for debugging.
//!
//! The dump of a valid file is complete: sections with offsets and sizes, the pools, and for each function
//! its registers with their users and its kernels with all fields. Ids are those of the file, so that a dump
//! can be compared with the bytes. For a broken file [`container`] prints the parts that can be read. The
//! text is for humans; no program parses it, and it may change.

use std::fmt::{self, Write};

use crate::image::Image;
use crate::layout::{
    AttrId, FunctionKind, Header, KernelCode, LocationId, MAX_SECTIONS, OperandMode, RETURN,
    SECTION_OPTIONAL, SectionId, SectionRec, StringId, TypeId,
};
use crate::view::{AttrView, FunctionView, KernelView, LocationView};

/// The most bytes shown of a tensor or array.
const SHOWN_BYTES: usize = 64;

/// The whole file as text.
pub fn dump(image: &Image<'_>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(image, &mut out);
    out
}

/// Writes the whole file as text.
pub fn write(image: &Image<'_>, out: &mut dyn Write) -> fmt::Result {
    let (major, minor) = image.version();
    let tables = image.tables();
    writeln!(out, "BEF {major}.{minor}, {} bytes, written by {:?}", tables.file_len(), image.producer())?;
    if let Some(name) = image.module_name() {
        writeln!(out, "module @{name}")?;
    }
    if let Some(attrs) = image.module_attrs() {
        writeln!(out, "module attributes {attrs:?}")?;
    }
    if let Some(location) = image.module_location() {
        writeln!(out, "module {location:?}")?;
    }
    writeln!(out, "\nsections:      id     offset      bytes    entries")?;
    for &id in SectionId::ALL {
        if let Some((offset, len)) = tables.section(id) {
            let (number, n) = (id as u32, len / id.record_size());
            writeln!(out, "  {:18}{number:3} {offset:#10x} {len:10} {n:10}", id.name())?;
        }
    }
    pools(image, out)?;
    for function in image.functions() {
        self::function(image, function, out)?;
    }
    Ok(())
}

/// The readable parts of a possibly broken file: its header, and the directory as far as it can be read, with
/// the problem of each section. Never fails.
pub fn container(bytes: &[u8]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_container(bytes, &mut out);
    out
}

fn write_container(bytes: &[u8], out: &mut dyn Write) -> fmt::Result {
    let Some(head) = bytes.first_chunk::<{ size_of::<Header>() }>() else {
        return writeln!(out, "{} bytes, too few for a header", bytes.len());
    };
    let header: Header = bytemuck::cast(*head);
    let Header { magic, major, minor, n_sections, file_len, features, .. } = header;
    writeln!(out, "BEF {major}.{minor}, magic {:02x}{:02x}, {} bytes", magic[0], magic[1], bytes.len())?;
    writeln!(out, "header: {file_len} bytes, {n_sections} sections, features {features:#x}")?;
    writeln!(out, "\nsections:      id     offset      bytes")?;
    let directory = bytes[size_of::<Header>()..].chunks_exact(size_of::<SectionRec>());
    for record in directory.take(n_sections.min(MAX_SECTIONS) as usize) {
        let SectionRec { id, flags, offset, len, checksum } = bytemuck::pod_read_unaligned(record);
        let known = SectionId::ALL.iter().find(|&&section| section as u32 == id);
        let name = known.map_or("(unknown)", |section| section.name());
        write!(out, "  {name:18}{id:3} {offset:#10x} {len:10}")?;
        if flags & SECTION_OPTIONAL != 0 {
            write!(out, " optional")?;
        }
        let end = offset.checked_add(len).and_then(|end| usize::try_from(end).ok());
        let found = end.zip(usize::try_from(offset).ok()).and_then(|(end, start)| bytes.get(start..end));
        let fault = match found {
            None => " beyond the end of the file",
            Some(section) if xxhash_rust::xxh3::xxh3_64(section) != checksum => " wrong checksum",
            Some(_) => "",
        };
        writeln!(out, "{fault}")?;
    }
    Ok(())
}

fn pools(image: &Image<'_>, out: &mut dyn Write) -> fmt::Result {
    writeln!(out, "\nstrings:")?;
    for id in (0..image.n_strings()).map(StringId) {
        writeln!(out, "  {id:?} {:?}", image.string(id))?;
    }
    writeln!(out, "\ntypes:")?;
    for id in (0..image.types().len() as u32).map(TypeId) {
        writeln!(out, "  {id:?} {}", image.type_name(id))?;
    }
    writeln!(out, "\nkernel names:")?;
    for code in (0..image.n_kernel_names()).map(KernelCode) {
        writeln!(out, "  {code:?} {}", image.kernel_name(code))?;
    }
    writeln!(out, "\ndevices:")?;
    for device in 0..image.n_devices() {
        writeln!(out, "  {device} {:?}", image.device_name(device))?;
    }
    writeln!(out, "\nattributes:")?;
    for id in (0..image.n_attrs()).map(AttrId) {
        write!(out, "  {id:?} ")?;
        attr(image, id, out)?;
        writeln!(out)?;
    }
    if image.has_locations() {
        writeln!(out, "\nlocations:")?;
        for id in (0..image.n_locations()).map(LocationId) {
            match image.location(id) {
                LocationView::Unknown => writeln!(out, "  {id:?} unknown")?,
                LocationView::File { file, line, col, end: None } => {
                    writeln!(out, "  {id:?} {file}:{line}:{col}")?;
                }
                LocationView::File { file, line, col, end: Some((end_line, end_col)) } => {
                    writeln!(out, "  {id:?} {file}:{line}:{col} to {end_line}:{end_col}")?;
                }
                LocationView::Name { name, child } => {
                    writeln!(out, "  {id:?} name {name:?} {}", or_none(&child))?;
                }
                LocationView::CallSite { callee, caller } => {
                    writeln!(out, "  {id:?} {callee:?} called at {caller:?}")?;
                }
                LocationView::Fused { parts, metadata } => {
                    writeln!(out, "  {id:?} fused {parts:?} {}", or_none(&metadata))?;
                }
                LocationView::Text(text) => writeln!(out, "  {id:?} {text}")?,
            }
        }
    }
    Ok(())
}

fn or_none(id: &Option<impl fmt::Debug>) -> String {
    id.as_ref().map_or(String::new(), |id| format!("{id:?}"))
}

fn attr(image: &Image<'_>, id: AttrId, out: &mut dyn Write) -> fmt::Result {
    match image.attr(id) {
        AttrView::Unit => write!(out, "unit"),
        AttrView::Bool(value) => write!(out, "{value}"),
        AttrView::Int { ty, dtype: _, value } => write!(out, "{value} : {}", image.type_name(ty)),
        AttrView::Float { dtype, bits } => match image.attr(id).as_f64() {
            Some(value) => write!(out, "{value:?} : {dtype}"),
            None => write!(out, "{bits:#x} : {dtype}"),
        },
        AttrView::Str(text) => write!(out, "{text:?}"),
        AttrView::Type(text) => write!(out, "type {text}"),
        AttrView::Symbol(name) => write!(out, "@{name}"),
        AttrView::Array(children) => write!(out, "array {children:?}"),
        AttrView::Scalars { ty, dtype: _, bytes: data, n, dense } => {
            let form = if dense { "dense array" } else { "array" };
            write!(out, "{form} of {n} {} ", image.type_name(ty))?;
            bytes(data, out)
        }
        AttrView::Dict(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|entry| format!("{} = {:?}", image.string(entry.key), entry.value))
                .collect();
            write!(out, "{{{}}}", entries.join(", "))
        }
        AttrView::Dense { ty, dtype, shape, data, splat } => {
            let splat = if splat { "splat " } else { "" };
            write!(out, "dense {splat}{shape:?} {dtype} : {}, {} bytes ", image.type_name(ty), data.len())?;
            bytes(data, out)
        }
        AttrView::Shape(dims) => write!(out, "shape {dims:?}"),
        AttrView::UnrankedShape => write!(out, "shape unranked"),
        AttrView::Text(text) => write!(out, "text {text:?}"),
        AttrView::CompiledModule { name, text, place } => {
            write!(out, "compiled module @{name} before function {place} {text:?}")
        }
        AttrView::CompilationUnit { module, nested } => {
            write!(out, "compilation unit {module:?}")?;
            nested.iter().try_for_each(|&name| write!(out, "::@{}", image.string(name)))
        }
    }
}

fn bytes(data: &[u8], out: &mut dyn Write) -> fmt::Result {
    for byte in data.iter().take(SHOWN_BYTES) {
        write!(out, "{byte:02x}")?;
    }
    if data.len() > SHOWN_BYTES { write!(out, "...") } else { Ok(()) }
}

fn function(image: &Image<'_>, f: FunctionView<'_, '_>, out: &mut dyn Write) -> fmt::Result {
    let kind = match f.kind() {
        FunctionKind::Async => "async",
        FunctionKind::Native => "native",
        FunctionKind::Sync => "sync",
    };
    let name = if f.name().is_empty() { "(region)" } else { f.name() };
    writeln!(out, "\nfunction {} {name}: {kind}", f.index())?;
    if let Some(attrs) = f.attrs() {
        writeln!(out, "  attributes {attrs:?}")?;
    }
    for (what, location) in [("location", f.location()), ("return location", f.return_location())] {
        if let Some(location) = location {
            writeln!(out, "  {what} {}", image.location_string(location))?;
        }
    }
    for i in 0..f.n_args() {
        writeln!(out, "  argument {i} {:?} : {}", f.arg_name(i), f.arg_type(i))?;
    }
    for i in 0..f.n_results() {
        write!(out, "  result {i} {:?} : {}", f.result_name(i), f.result_type(i))?;
        match f.results().get(i as usize) {
            Some(register) => writeln!(out, " = r{register}")?,
            None => writeln!(out)?,
        }
    }
    for r in 0..f.n_registers() {
        let users: Vec<String> = f
            .users(r)
            .iter()
            .map(|&user| if user == RETURN { "return".to_owned() } else { format!("k{user}") })
            .collect();
        let name = if f.ssa_name(r).is_empty() { String::new() } else { format!(" %{}", f.ssa_name(r)) };
        writeln!(
            out,
            "  r{r}{name} : {}, used by [{}]",
            image.type_name(f.register_type(r)),
            users.join(", ")
        )?;
    }
    for (i, k) in f.kernels().enumerate() {
        kernel(image, i, k, out)?;
    }
    Ok(())
}

fn kernel(image: &Image<'_>, i: usize, k: KernelView<'_, '_>, out: &mut dyn Write) -> fmt::Result {
    write!(out, "  k{i} {}(", k.name())?;
    for (i, register) in k.operands().iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(out, "{comma}r{register}")?;
        match k.operand_mode(i as u32) {
            OperandMode::Required => {}
            mode => write!(out, " {mode:?}")?,
        }
        if k.operand_space(i as u32) != 0 {
            write!(out, " space {}", k.operand_space(i as u32))?;
        }
    }
    write!(out, ")")?;
    for i in 0..k.n_results() {
        let arrow = if i > 0 { "," } else { " ->" };
        write!(out, "{arrow} r{}", k.first_result() + i)?;
    }
    write!(out, "; ready {} stream {}", k.ready_count(), k.stream())?;
    if let Some(cost) = k.cost() {
        write!(out, " cost {cost}")?;
    }
    if k.device() != 0 {
        write!(out, " device {}", k.device())?;
    }
    if k.is_any() {
        write!(out, " any")?;
    }
    if k.has_named_attrs() {
        write!(out, " named")?;
    }
    for (i, id) in k.attrs().iter().enumerate() {
        write!(out, " {}={id:?}", k.attr_name(i as u32).unwrap_or("attribute"))?;
    }
    for (i, id) in k.functions().iter().enumerate() {
        write!(
            out,
            " {}={id:?}",
            k.function_name(i as u32).filter(|name| !name.is_empty()).unwrap_or("function")
        )?;
    }
    match k.location() {
        Some(location) => writeln!(out, " at {}", image.location_string(location)),
        None => writeln!(out),
    }
}
