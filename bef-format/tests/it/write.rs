//! Files are read back as written.

use std::io::Cursor;
use std::sync::Arc;

use bef_format::validate::verify_payload;
use bef_format::write::{PIECE, Pieces, Writer};
use bef_format::{
    AlignedBytes, AttrId, AttrView, DType, FunctionKind, LocationId, LocationView, OperandMode, validate,
};

use crate::samples;
use crate::walk::walk;

#[test]
fn samples_are_valid_and_deterministic() {
    for ((name, a), (_, b)) in samples::all().into_iter().zip(samples::all()) {
        assert!(*a == *b, "{name}: the same calls gave different bytes");
        let image = validate(&a).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = image.tables().image(&b).expect("same bytes");
        assert_eq!(walk(&image), walk(&again), "{name}");
    }
}

#[test]
fn everything_reads_back() {
    let bytes = samples::everything();
    let image = validate(&bytes).expect("valid");
    assert_eq!(image.module_name(), Some("everything"));
    let main = image.function(0);
    assert_eq!(
        (main.name(), main.kind(), main.n_args(), main.n_results()),
        ("main", FunctionKind::Async, 2, 3)
    );
    assert_eq!((main.arg_name(0), main.arg_type(1), main.result_name(2)), ("a", "i1", "out"));
    assert_eq!(main.results(), [3, 0, 3]);
    let mixed = main.kernel(1);
    assert_eq!(mixed.operands(), [0, 2, 2, 1]);
    assert_eq!(mixed.ready_count(), 3);
    assert_eq!(mixed.operand_mode(1), OperandMode::Lenient);
    assert_eq!((mixed.operand_space(1), image.device_name(mixed.device())), (1, "gpu:0"));
    assert_eq!(mixed.functions().iter().map(|id| id.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(mixed.function_name(2), Some("natives[]"));
    let any = main.kernel(2);
    assert_eq!((any.is_any(), any.ready_count()), (true, 1));
    assert_eq!(main.users(3), [u32::MAX, u32::MAX, 2, 2]);
    assert_eq!(main.users(2), [2, 1, 1]);
    assert_eq!(main.users(0), [u32::MAX, 1]);
    assert_eq!(main.ssa_name(3), "größe");
    assert_eq!(image.location_string(main.kernel(0).location().expect("kept")), "x.mlir:3:4");
    assert_eq!(image.location_string(main.kernel(1).location().expect("kept")), "x.mlir:3:4");
    let dict = main.attrs().expect("kept");
    let nested = image.dict_entry(dict, "z").expect("there");
    let AttrView::Array(children) = image.attr(nested) else { panic!("not an array") };
    let AttrView::Array(leaves) = image.attr(children[0]) else { panic!("not an array") };
    let AttrView::Dense { shape, data, splat, .. } = image.attr(leaves[9]) else { panic!("not dense") };
    assert_eq!((shape, data.len(), splat), (&[2i64, 3][..], 24, false));
    assert_eq!(bytemuck::cast_slice::<u8, f32>(data), [1f32, 2., 3., 4., 5., 6.]);
    assert!(image.is_payload_aligned());
}

#[test]
fn size_of_adds_keeps_the_budget() {
    let n = 100_000;
    let stripped = samples::adds(n, false).len();
    let full = samples::adds(n, true).len();
    assert!(
        stripped <= 64 * n as usize,
        "{} bytes per kernel without optional sections",
        stripped / n as usize
    );
    assert!(full <= 88 * n as usize, "{} bytes per kernel with them", full / n as usize);
}

/// A location that nests deeper than a file may, by each kind of nesting, and what is left of it.
#[test]
fn locations_are_shortened() {
    const LEVELS: u32 = 200;
    let nested = |outer: fn(&mut Writer, LocationId, LocationId) -> LocationId| -> (String, u32) {
        let mut w = Writer::new();
        let mut location = w.location_file("x.mlir", 1, 1);
        for line in 2..LEVELS {
            let place = w.location_file("x.mlir", line, 1);
            location = outer(&mut w, location, place);
        }
        w.set_module_location(location);
        let bytes = samples::finish(w);
        let image = validate(&bytes).expect("valid");
        let mut id = image.module_location().expect("kept");
        let mut depth = 0;
        loop {
            let children = match image.location(id) {
                LocationView::CallSite { callee, caller } => vec![callee, caller],
                LocationView::Fused { parts, .. } => parts.to_vec(),
                LocationView::Name { child, .. } => child.into_iter().collect(),
                _ => break,
            };
            // The newest child is the nested one.
            let Some(newest) = children.into_iter().max() else { break };
            id = newest;
            depth += 1;
        }
        (image.location_string(image.module_location().expect("kept")), depth)
    };
    let (inlined_into, depth) = nested(|w, inner, place| w.location_call_site(inner, place));
    assert!(inlined_into.contains("x.mlir:1:1") && depth > 0, "{inlined_into}");
    let (called_from, depth) = nested(|w, outer, place| w.location_call_site(place, outer));
    assert!(called_from.contains("x.mlir:199:1") && depth > 0, "{called_from}");
    let (fused, _) = nested(|w, inner, place| w.location_fused(&[inner, place], None));
    assert!(fused.contains("x.mlir"), "{fused}");
    let (named, _) = nested(|w, inner, _| w.location_name("n", Some(inner)));
    assert!(named.contains('n'), "{named}");

    // Many parts rather than deep ones.
    let mut w = Writer::new();
    let place = w.location_file("x.mlir", 1, 1);
    let parts: Vec<LocationId> = (0..70_000).map(|i| w.location_name(&i.to_string(), Some(place))).collect();
    let wide = w.location_fused(&parts, None);
    w.set_module_location(wide);
    validate(&samples::finish(w)).expect("valid");
}

/// Numbers that are made when they are written.
struct Counter(usize);

impl Pieces for Counter {
    fn n_bytes(&self) -> usize {
        self.0
    }

    fn make(&self, start: usize, piece: &mut [u8]) {
        assert!(piece.as_ptr().addr().is_multiple_of(64) && start.is_multiple_of(PIECE));
        piece.iter_mut().zip(start..).for_each(|(byte, i)| *byte = (i % 251) as u8);
    }
}

/// Tensors that are made in pieces, between others, are those that are in memory as a whole.
#[test]
fn tensors_in_pieces() {
    let lens = [PIECE - 1, 5 * PIECE + 7, 1, PIECE];
    let file = |in_pieces: bool| {
        let mut w = Writer::new();
        let ty = w.ty("tensor<?xui8>");
        let tensors = lens.iter().enumerate().map(|(i, &len)| {
            let small = vec![i as u8; 100];
            let first = w.attr_dense(ty, DType::UI8, &[100], &small, false);
            let shape = [len as i64];
            let counter = Counter(len);
            let second = if in_pieces {
                let pieces: Arc<dyn Pieces> = Arc::new(counter);
                w.attr_dense_in_pieces(ty, DType::UI8, &shape, &pieces)
            } else {
                let mut bytes = AlignedBytes::zeroed(len);
                bytes.chunks_mut(PIECE).enumerate().for_each(|(i, piece)| counter.make(i * PIECE, piece));
                w.attr_dense(ty, DType::UI8, &shape, &bytes, false)
            };
            [first, second]
        });
        let tensors: Vec<AttrId> = tensors.flatten().collect();
        let list = w.attr_array(&tensors);
        let attrs = w.attr_dict(&[("tensors", list)]);
        w.set_module_attrs(attrs);
        w.finish_parts().expect("it has a form")
    };
    let (whole, parts) = (file(false).to_vec(), file(true));
    assert!(parts.n_bytes() == whole.len() && parts.to_vec() == whole);
    validate(&AlignedBytes::copy_of(&whole)).and_then(|image| verify_payload(&image)).expect("valid");
    let (mut written, mut in_order) = (Cursor::new(Vec::new()), Vec::new());
    parts.write_to_file(&mut written).expect("there is memory");
    parts.write_in_order(&mut in_order).expect("there is memory");
    assert!(written.into_inner() == whole && in_order == whole);
    // A full device: the threads that make pieces end too.
    let mut short = vec![0; 2 * PIECE];
    assert!(parts.write_to_file(&mut Cursor::new(&mut short[..])).is_err());
}
