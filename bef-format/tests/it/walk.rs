//! Reads the complete contents of an image, as text.

use std::fmt::Write;

use bef_format::layout::{KernelCode, StringId, TypeId};
use bef_format::{AttrId, AttrView, Image, LocationId, LocationView};

/// Calls every accessor with every valid argument.
pub(crate) fn walk(image: &Image<'_>) -> String {
    let mut out = String::new();
    let o = &mut out;
    line(
        o,
        &(
            image.version(),
            image.producer(),
            image.module_name(),
            image.module_attrs(),
            image.module_location(),
        ),
    );
    line(
        o,
        &(image.n_strings(), image.n_devices(), image.n_attrs(), image.n_locations(), image.payload().len()),
    );
    line(
        o,
        &(image.has_aux_names(), image.has_ssa_names(), image.has_locations(), image.is_payload_aligned()),
    );
    for i in 0..image.n_strings() {
        line(o, &image.string(StringId(i)));
    }
    line(o, &image.types().collect::<Vec<_>>());
    line(o, &image.kernel_names().collect::<Vec<_>>());
    for i in 0..image.types().len() as u32 {
        line(o, &image.type_name(TypeId(i)));
    }
    for i in 0..image.n_kernel_names() {
        line(o, &image.kernel_name(KernelCode(i)));
    }
    for i in 0..image.n_devices() {
        line(o, &image.device_name(i));
    }
    for i in 0..image.n_attrs() {
        attr(o, image, AttrId(i));
    }
    for i in 0..image.n_locations() {
        let id = LocationId(i);
        line(o, &(id, image.location(id), image.location_string(id)));
        if let LocationView::Fused { parts, metadata } = image.location(id) {
            for &part in parts {
                line(o, &image.location(part));
            }
            if let Some(metadata) = metadata {
                line(o, &image.attr(metadata));
            }
        }
    }
    for f in image.functions() {
        line(o, &(f.index(), f.name(), f.kind(), f.attrs(), f.location(), f.return_location()));
        if f.name() != "" {
            assert_eq!(image.find_function(f.name()).map(|id| id.0), Some(f.index()));
        }
        for i in 0..f.n_args() {
            line(o, &(f.arg_type(i), f.arg_name(i), f.arg_location(i)));
        }
        for i in 0..f.n_results() {
            line(o, &(f.result_type(i), f.result_name(i)));
        }
        for r in 0..f.n_registers() {
            line(o, &(r, image.type_name(f.register_type(r)), f.users(r), f.ssa_name(r)));
        }
        assert_eq!(f.kernels().len() as u32, f.n_kernels());
        for k in 0..f.n_kernels() {
            let k = f.kernel(k);
            line(
                o,
                &(
                    k.code(),
                    k.name(),
                    k.operands(),
                    k.first_result(),
                    k.n_results(),
                    k.attrs(),
                    k.functions(),
                ),
            );
            line(
                o,
                &(
                    k.ready_count(),
                    k.stream(),
                    k.cost(),
                    k.device(),
                    k.is_any(),
                    k.location(),
                    k.operand_info(),
                ),
            );
            for i in 0..k.operands().len() as u32 {
                line(o, &(k.operand_mode(i), k.operand_space(i)));
            }
            for i in 0..k.n_attrs() {
                line(o, &(k.attr_name(i), k.attr(i)));
            }
            for (i, &name) in k.attr_names().iter().enumerate() {
                assert_eq!(k.attr_named(image.string(name)), Some(k.attr(i as u32)));
            }
            for (i, function) in k.functions().iter().enumerate() {
                line(o, &(k.function_name(i as u32), image.function(function.0).name()));
            }
        }
        line(o, &f.results());
    }
    out
}

fn attr(out: &mut String, image: &Image<'_>, id: AttrId) {
    let view = image.attr(id);
    line(out, &(id, view, view.as_f64()));
    match view {
        AttrView::Array(children) => {
            line(out, &children.iter().map(|&id| image.attr(id)).collect::<Vec<_>>());
        }
        AttrView::Dict(entries) => {
            for entry in entries {
                assert_eq!(image.dict_entry(id, image.string(entry.key)), Some(entry.value));
            }
        }
        _ => {}
    }
}

fn line(out: &mut String, what: &dyn std::fmt::Debug) {
    writeln!(out, "{what:?}").expect("strings take all");
}
