//! Small files that together use every feature of the format.

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{AlignedBytes, DType, FunctionKind, OperandInfo, OperandMode};

/// All samples, by name.
pub(crate) fn all() -> Vec<(&'static str, AlignedBytes)> {
    vec![
        ("empty", empty()),
        ("adds", adds(5, true)),
        ("stripped", adds(5, false)),
        ("everything", everything()),
        ("compiled", compiled()),
        ("named", named()),
    ]
}

/// A file without functions.
pub(crate) fn empty() -> AlignedBytes {
    finish(Writer::new())
}

pub(crate) fn finish(writer: Writer) -> AlignedBytes {
    AlignedBytes::copy_of(&writer.finish().expect("samples can be written"))
}

/// A chain of `n` additions, `main(%a) -> (a + a + ...)`.
pub(crate) fn adds(n: u32, debug: bool) -> AlignedBytes {
    let mut w = Writer::new();
    w.set_producer("bef-format tests");
    let i32t = w.ty("i32");
    let code = w.kernel_name("tfrt.add.i32");
    let name = w.string("main");
    let mut f = FunctionBuilder::new(name, FunctionKind::Async);
    let mut last = f.arg(i32t, w.string("a"), None);
    if debug {
        f.name_register(last, "a");
    }
    for k in 0..n {
        let location = debug.then(|| w.location_file("adds.mlir", 3 + k, 8));
        last = f.kernel(&KernelSpec {
            code,
            operands: &[last, last],
            results: &[i32t],
            location,
            ..Default::default()
        });
        if debug {
            f.name_register(last, &format!("v{k}"));
        }
    }
    f.result(last, w.string(""));
    w.add(f);
    finish(w)
}

/// Every kind of function, operand, attribute and location.
pub(crate) fn everything() -> AlignedBytes {
    let mut w = Writer::new();
    w.set_producer("bef-format tests");
    w.set_module_name("everything");
    let (i32t, i1, chain, f32t) = (w.ty("i32"), w.ty("i1"), w.ty("!tfrt.chain"), w.ty("f32"));
    let tensor = w.ty("tensor<2x3xf32>");
    let gpu = w.device("gpu:0");

    let unit = w.attr_unit();
    let attrs = [
        unit,
        w.attr_bool(true),
        w.attr_int(i32t, Some(DType::I32), -7),
        w.attr_float(DType::F32, u64::from(1.5f32.to_bits())),
        w.attr_str("text, with ümlaut"),
        w.attr_type(tensor),
        w.attr_symbol("callee"),
        w.attr_scalars(i32t, DType::I32, bytemuck::cast_slice(&[1i32, 2, 3]), false),
        w.attr_scalars(i1, DType::I1, &[1, 0], true),
        w.attr_dense(
            tensor,
            DType::F32,
            &[2, 3],
            &[1f32, 2., 3., 4., 5., 6.].map(f32::to_le_bytes).concat(),
            false,
        ),
        w.attr_dense(tensor, DType::F32, &[2, 3], &0.5f32.to_le_bytes(), true),
        w.attr_dense(tensor, DType::F32, &[0, 3], &[], false),
        w.attr_shape(Some(&[1, -1, 3])),
        w.attr_shape(Some(&[])),
        w.attr_shape(None),
        w.attr_text("affine_map<(d0) -> (d0)>"),
    ];
    let array = w.attr_array(&attrs);
    let nested = w.attr_array(&[array, array, unit]);
    let dict = w.attr_dict(&[("z", nested), ("a", unit), ("m", array)]);
    let empty = [w.attr_array(&[]), w.attr_dict(&[]), w.attr_scalars(f32t, DType::F32, &[], true)];
    w.set_module_attrs(dict);

    let file = w.location_file("x.mlir", 3, 4);
    let unknown = w.location_unknown();
    let named = w.location_name("name", Some(file));
    let bare = w.location_name("bare", None);
    let call = w.location_call_site(named, bare);
    let fused = w.location_fused(&[call, file, unknown], Some(unit));
    let text = w.location_text("opaque");
    let range = w.location_range("x.mlir", (3, 4), (5, 6));
    let next = w.location_range("x.mlir", (3, 4), (5, 7));
    w.set_module_location(fused);

    let main = w.declare();
    let body = w.declare();

    let mut native = FunctionBuilder::new(w.string("native"), FunctionKind::Native);
    native.arg(i32t, w.string("x"), None);
    native.native_result(chain, w.string("done"));
    native.set_attrs(empty[1]);
    let native = w.add(native);

    let mut f = FunctionBuilder::new(w.string("main"), FunctionKind::Async);
    f.set_attrs(dict);
    f.set_location(named);
    f.set_return_location(text);
    let a = f.arg(i32t, w.string("a"), Some(file));
    let c = f.arg(i1, w.string(""), Some(range));
    f.name_register(a, "a");
    f.name_register(c, "cond");
    let names = [w.string("value"), w.string("_tfrt_cost")];
    let first = f.kernel(&KernelSpec {
        code: w.kernel_name("tfrt.constant.i32"),
        results: &[i32t],
        attrs: &[attrs[2], nested],
        attr_names: &names,
        cost: 42,
        location: Some(fused),
        ..Default::default()
    });
    let second = f.kernel(&KernelSpec {
        code: w.kernel_name("test.mixed"),
        operands: &[a, first, first, c],
        operand_info: &[
            OperandInfo::new(OperandMode::Required, 0),
            OperandInfo::new(OperandMode::Lenient, 1),
            OperandInfo::new(OperandMode::Order, 0),
            OperandInfo::new(OperandMode::After, 0),
        ],
        results: &[i32t, chain],
        attrs: &[dict],
        attr_names: &names[..1],
        functions: &[main, body, native],
        function_names: &[w.string("callee"), w.string(""), w.string("natives[]")],
        stream: 1,
        device: gpu,
        location: Some(call),
        ..Default::default()
    });
    f.name_register(second, "größe");
    f.kernel(&KernelSpec {
        code: w.kernel_name("test.any"),
        operands: &[second, first, second],
        results: &[],
        any: true,
        ..Default::default()
    });
    for register in [second, a, second] {
        f.result(register, w.string("out"));
    }
    w.define(main, f);

    let mut f = FunctionBuilder::new(w.string(""), FunctionKind::Sync);
    f.arg(chain, w.string(""), None);
    f.set_attrs(empty[1]);
    w.define(body, f);
    let mut f = FunctionBuilder::new(w.string("unused"), FunctionKind::Async);
    f.set_location(next);
    f.kernel(&KernelSpec { code: w.kernel_name("test.empty"), attrs: &empty, ..Default::default() });
    w.add(f);
    finish(w)
}

/// Two modules to compile. A kernel refers to symbols of the first, and to the second as a whole.
pub(crate) fn compiled() -> AlignedBytes {
    let mut w = Writer::new();
    w.set_producer("bef-format tests");
    let first = w.attr_compiled_module("kernels", "\"builtin.module\"() ...", 0);
    let second = w.attr_compiled_module("others", "", 1);
    let unit = w.attr_compilation_unit(first, ["inner", "main"]);
    let all = w.attr_array(&[unit, second, first]);
    let mut f = FunctionBuilder::new(w.string("main"), FunctionKind::Async);
    f.kernel(&KernelSpec { code: w.kernel_name("test.compile"), attrs: &[unit, all], ..Default::default() });
    w.add(f);
    finish(w)
}

/// Kernels with named attributes: followed by functions and operand words, followed by nothing, and one
/// without attributes.
pub(crate) fn named() -> AlignedBytes {
    let mut w = Writer::new();
    w.set_producer("bef-format tests");
    let (i32t, chain) = (w.ty("i32"), w.ty("!tfrt.chain"));
    let mut f = FunctionBuilder::new(w.string("main"), FunctionKind::Async);
    let (x, done) = (f.arg(i32t, w.string("x"), None), f.arg(chain, w.string("done"), None));
    let attrs = [w.attr_int(i32t, Some(DType::I32), 2), w.attr_str("SAME")];
    // Not in the order of their ids in the writer.
    let names = [w.string("padding"), w.string("strides")];
    let dilations = w.string("dilations");
    let main = w.declare();
    let first = f.kernel(&KernelSpec {
        code: w.kernel_name("test.named"),
        operands: &[x, done],
        operand_info: &[OperandInfo::default(), OperandInfo::new(OperandMode::Order, 0)],
        results: &[i32t],
        attrs: &attrs,
        attr_names: &names,
        named_attrs: true,
        functions: &[main],
        function_names: &[w.string("body")],
        ..Default::default()
    });
    let second = f.kernel(&KernelSpec {
        code: w.kernel_name("test.named"),
        operands: &[first],
        results: &[i32t],
        attrs: &[attrs[1], attrs[0], attrs[0]],
        attr_names: &[dilations, names[0], names[1]],
        named_attrs: true,
        ..Default::default()
    });
    let third = f.kernel(&KernelSpec {
        code: w.kernel_name("test.named"),
        operands: &[second],
        results: &[i32t],
        named_attrs: true,
        ..Default::default()
    });
    f.result(third, w.string(""));
    w.define(main, f);
    finish(w)
}

/// A file of three attributes and no functions: a unit in the second module, preceded by something else.
pub(crate) fn unit_of_second() -> AlignedBytes {
    let mut w = Writer::new();
    w.attr_unit();
    let module = w.attr_compiled_module("kernels", "", 0);
    w.attr_compilation_unit(module, ["main"]);
    finish(w)
}

/// A file of an attribute in `depth` arrays, and no functions.
pub(crate) fn nested_arrays(depth: u32) -> AlignedBytes {
    let mut w = Writer::new();
    let mut last = w.attr_unit();
    for _ in 0..depth {
        last = w.attr_array(&[last]);
    }
    finish(w)
}

/// A file of `n` named locations around the first one, which is unknown, and no functions.
pub(crate) fn named_locations(n: usize) -> AlignedBytes {
    let mut w = Writer::new();
    let unknown = w.location_unknown();
    for i in 0..n {
        w.location_name(&format!("name{i}"), Some(unknown));
    }
    finish(w)
}
