//! Generated programs are read back unchanged.

use bef_format::write::{FunctionBuilder, KernelSpec, Writer};
use bef_format::{
    AlignedBytes, AttrId, AttrView, DType, FunctionKind, Image, OperandInfo, OperandMode, validate,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// An attribute, as generated.
#[derive(Clone, Debug, PartialEq)]
enum Attr {
    Unit,
    Bool(bool),
    Int(i32),
    Float(u32),
    Str(String),
    Type(String),
    Text(String),
    Array(Vec<Attr>),
    Dict(Vec<(String, Attr)>),
    Scalars(Vec<i16>),
    Dense(Vec<u8>, bool),
    Shape(Option<Vec<i64>>),
    Compiled(String, String, Vec<String>),
}

fn attr() -> impl Strategy<Value = Attr> {
    let leaf = prop_oneof![
        Just(Attr::Unit),
        any::<bool>().prop_map(Attr::Bool),
        any::<i32>().prop_map(Attr::Int),
        any::<u32>().prop_map(Attr::Float),
        ".{0,6}".prop_map(Attr::Str),
        "[a-z]{1,3}".prop_map(Attr::Type),
        ".{0,6}".prop_map(Attr::Text),
        proptest::collection::vec(any::<i16>(), 0..5).prop_map(Attr::Scalars),
        (proptest::collection::vec(0..2u8, 1..90), any::<bool>())
            .prop_map(|(data, splat)| { Attr::Dense(if splat { data[..1].to_vec() } else { data }, splat) }),
        proptest::option::of(proptest::collection::vec(-1..5i64, 0..4)).prop_map(Attr::Shape),
        (".{1,3}", ".{0,9}", proptest::collection::vec(".{0,3}", 0..3))
            .prop_map(|(name, text, nested)| Attr::Compiled(name, text, nested)),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Attr::Array),
            proptest::collection::btree_map("[a-z]{0,2}", inner, 0..4)
                .prop_map(|entries| Attr::Dict(entries.into_iter().collect())),
        ]
    })
}

fn write_attr(w: &mut Writer, attr: &Attr) -> AttrId {
    match attr {
        Attr::Unit => w.attr_unit(),
        Attr::Bool(value) => w.attr_bool(*value),
        Attr::Int(value) => {
            let ty = w.ty("i32");
            w.attr_int(ty, Some(DType::I32), i64::from(*value))
        }
        Attr::Float(bits) => w.attr_float(DType::F32, u64::from(*bits)),
        Attr::Str(text) => w.attr_str(text),
        Attr::Type(text) => {
            let ty = w.ty(text);
            w.attr_type(ty)
        }
        Attr::Text(text) => w.attr_text(text),
        Attr::Array(children) => {
            let children: Vec<AttrId> = children.iter().map(|child| write_attr(w, child)).collect();
            w.attr_array(&children)
        }
        Attr::Dict(entries) => {
            let entries: Vec<(&str, AttrId)> =
                entries.iter().map(|(key, value)| (key.as_str(), write_attr(w, value))).collect();
            w.attr_dict(&entries)
        }
        Attr::Scalars(values) => {
            let ty = w.ty("i16");
            w.attr_scalars(ty, DType::I16, bytemuck::cast_slice(values), true)
        }
        Attr::Dense(data, splat) => {
            let ty = w.ty("tensor<?xi1>");
            w.attr_dense(ty, DType::I1, &[data.len() as i64], data, *splat)
        }
        Attr::Shape(dims) => w.attr_shape(dims.as_deref()),
        Attr::Compiled(name, text, nested) => {
            let module = w.attr_compiled_module(name, text, 0);
            let unit = |w: &mut Writer| w.attr_compilation_unit(module, nested.iter().map(String::as_str));
            if nested.is_empty() { module } else { unit(w) }
        }
    }
}

fn read_attr(image: &Image<'_>, id: AttrId) -> Attr {
    match image.attr(id) {
        AttrView::Unit => Attr::Unit,
        AttrView::Bool(value) => Attr::Bool(value),
        AttrView::Int { value, .. } => Attr::Int(value as i32),
        AttrView::Float { bits, .. } => Attr::Float(bits as u32),
        AttrView::Str(text) => Attr::Str(text.to_owned()),
        AttrView::Type(text) => Attr::Type(text.to_owned()),
        AttrView::Text(text) => Attr::Text(text.to_owned()),
        AttrView::Array(children) => Attr::Array(children.iter().map(|&id| read_attr(image, id)).collect()),
        AttrView::Dict(entries) => Attr::Dict(
            entries.iter().map(|e| (image.string(e.key).to_owned(), read_attr(image, e.value))).collect(),
        ),
        AttrView::Scalars { bytes, .. } => {
            Attr::Scalars(bytes.chunks(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]])).collect())
        }
        AttrView::Dense { data, splat, .. } => Attr::Dense(data.to_vec(), splat),
        AttrView::Shape(dims) => Attr::Shape(Some(dims.to_vec())),
        AttrView::UnrankedShape => Attr::Shape(None),
        AttrView::CompiledModule { name, text, place: 0 } => {
            Attr::Compiled(name.to_owned(), text.to_owned(), Vec::new())
        }
        AttrView::CompilationUnit { module, nested } => match read_attr(image, module) {
            Attr::Compiled(name, text, _) => {
                let nested = nested.iter().map(|&name| image.string(name).to_owned()).collect();
                Attr::Compiled(name, text, nested)
            }
            attr => panic!("a unit of {attr:?}"),
        },
        AttrView::Symbol(_) | AttrView::CompiledModule { .. } => panic!("none was written"),
    }
}

/// A kernel, as generated; operands become registers that exist.
#[derive(Clone, Debug)]
struct Kernel {
    name: u8,
    operands: Vec<(Index, u8, u8)>,
    has_info: bool,
    results: Vec<u8>,
    attrs: Vec<(String, Attr)>,
    named_attrs: bool,
    functions: Vec<Index>,
    stream: Index,
    cost: u32,
    device: u8,
    any: bool,
    line: Option<u32>,
}

#[derive(Clone, Debug)]
struct Function {
    kind: FunctionKind,
    args: Vec<(u8, String)>,
    kernels: Vec<Kernel>,
    results: Vec<(Index, String)>,
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let place = (any::<u8>(), 0..2u8);
    let lists = (
        proptest::collection::vec((any::<Index>(), 0..4u8, 0..3u8), 0..5),
        proptest::collection::vec(0..4u8, 0..3),
        proptest::collection::vec(("[a-c]{1,2}", attr()), 0..3),
        proptest::collection::vec(any::<Index>(), 0..3),
    );
    (lists, place, any::<Index>(), 0..5u32, any::<[bool; 3]>(), proptest::option::of(0..100u32)).prop_map(
        |((operands, results, mut attrs, functions), (name, device), stream, cost, flags, line)| {
            let [has_info, any, named_attrs] = flags;
            if named_attrs {
                attrs.sort_by(|a, b| a.0.cmp(&b.0));
                attrs.dedup_by(|a, b| a.0 == b.0);
            }
            Kernel {
                name: name % 5,
                operands,
                has_info,
                results,
                attrs,
                named_attrs,
                functions,
                stream,
                cost,
                device,
                any,
                line,
            }
        },
    )
}

fn program() -> impl Strategy<Value = Vec<Function>> {
    let function = (
        prop_oneof![Just(FunctionKind::Async), Just(FunctionKind::Sync)],
        proptest::collection::vec((0..4u8, "[a-z]{0,3}"), 0..3),
        proptest::collection::vec(kernel(), 0..6),
        proptest::collection::vec((any::<Index>(), "[a-z]{0,3}"), 0..3),
    );
    let function =
        function.prop_map(|(kind, args, kernels, results)| Function { kind, args, kernels, results });
    proptest::collection::vec(function, 0..4)
}

fn type_name(ty: u8) -> String {
    format!("!t.{ty}")
}

/// The register that a kernel or return uses, out of `n` existing ones.
fn register(index: &Index, n: usize) -> Option<u32> {
    (n > 0).then(|| index.index(n) as u32)
}

fn write(program: &[Function]) -> Vec<u8> {
    let mut w = Writer::new();
    let ids: Vec<_> = program.iter().map(|_| w.declare()).collect();
    for (i, function) in program.iter().enumerate() {
        let mut f = FunctionBuilder::new(w.string(&format!("f{i}")), function.kind);
        for (ty, name) in &function.args {
            f.arg(w.ty(&type_name(*ty)), w.string(name), None);
        }
        for kernel in &function.kernels {
            let n = f.n_registers() as usize;
            let operands: Vec<u32> =
                kernel.operands.iter().filter_map(|(at, _, _)| register(at, n)).collect();
            let info: Vec<OperandInfo> = kernel.operands[..operands.len()]
                .iter()
                .map(|(_, mode, space)| OperandInfo { mode: *mode, space: *space, reserved: [0; 2] })
                .collect();
            let results: Vec<_> = kernel.results.iter().map(|ty| w.ty(&type_name(*ty))).collect();
            let attrs: Vec<_> = kernel.attrs.iter().map(|(_, attr)| write_attr(&mut w, attr)).collect();
            let attr_names: Vec<_> = kernel.attrs.iter().map(|(name, _)| w.string(name)).collect();
            let functions: Vec<_> = kernel.functions.iter().map(|at| ids[at.index(ids.len())]).collect();
            let first = f.kernel(&KernelSpec {
                code: w.kernel_name(&format!("k.{}", kernel.name)),
                operands: &operands,
                operand_info: if kernel.has_info { &info } else { &[] },
                results: &results,
                attrs: &attrs,
                attr_names: &attr_names,
                named_attrs: kernel.named_attrs,
                functions: &functions,
                function_names: &[],
                stream: kernel.stream.index(function.kernels.len()) as u32,
                cost: kernel.cost,
                device: if kernel.device > 0 { w.device("gpu") } else { 0 },
                any: kernel.any,
                location: kernel.line.map(|line| w.location_file("f", line, 1)),
            });
            if !results.is_empty() {
                f.name_register(first, &format!("v{first}"));
            }
        }
        for (at, name) in &function.results {
            if let Some(register) = register(at, f.n_registers() as usize) {
                f.result(register, w.string(name));
            }
        }
        w.define(ids[i], f);
    }
    w.finish().expect("generated programs can be written")
}

fn compare(program: &[Function], image: &Image<'_>) {
    assert_eq!(image.n_functions() as usize, program.len());
    for (f, (i, function)) in image.functions().zip(program.iter().enumerate()) {
        assert_eq!((f.name(), f.kind()), (format!("f{i}").as_str(), function.kind));
        let args: Vec<_> =
            (0..f.n_args()).map(|i| (f.arg_type(i).to_owned(), f.arg_name(i).to_owned())).collect();
        assert_eq!(
            args,
            function.args.iter().map(|(ty, name)| (type_name(*ty), name.clone())).collect::<Vec<_>>()
        );
        let mut types: Vec<String> = function.args.iter().map(|(ty, _)| type_name(*ty)).collect();
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); f.n_registers() as usize];
        assert_eq!(f.n_kernels() as usize, function.kernels.len());
        for (k, (index, kernel)) in f.kernels().zip(function.kernels.iter().enumerate()) {
            assert_eq!(k.name(), format!("k.{}", kernel.name));
            assert_eq!(k.first_result() as usize, types.len());
            let operands: Vec<u32> =
                kernel.operands.iter().filter_map(|(at, _, _)| register(at, types.len())).collect();
            assert_eq!(k.operands(), operands);
            operands.iter().for_each(|&register| users[register as usize].insert(0, index as u32));
            let mut n_counted = [0; 2];
            for (i, (_, mode, space)) in kernel.operands[..operands.len()].iter().enumerate() {
                let (mode, space) = if kernel.has_info { (*mode, *space) } else { (0, 0) };
                assert_eq!((k.operand_mode(i as u32) as u8, k.operand_space(i as u32)), (mode, space));
                let mode = OperandMode::from_code(mode).expect("generated");
                n_counted[0] += u32::from(mode == OperandMode::Required);
                n_counted[1] += u32::from(matches!(mode, OperandMode::Order | OperandMode::After));
            }
            let n_data = operands.len() as u32 - n_counted[1];
            let n_ready = n_counted[1] + if kernel.any { n_data.min(1) } else { n_counted[0] };
            assert_eq!((k.ready_count(), k.is_any()), (n_ready, kernel.any));
            types.extend(kernel.results.iter().map(|ty| type_name(*ty)));
            assert_eq!(k.n_results() as usize, kernel.results.len());
            if k.n_results() > 0 {
                assert_eq!(f.ssa_name(k.first_result()), format!("v{}", k.first_result()));
            }
            let attrs: Vec<(String, Attr)> = (0..k.n_attrs())
                .map(|i| (k.attr_name(i).unwrap_or("").to_owned(), read_attr(image, k.attrs()[i as usize])))
                .collect();
            assert_eq!(attrs, kernel.attrs);
            assert_eq!(k.has_named_attrs(), kernel.named_attrs && !kernel.attrs.is_empty());
            for (i, (name, _)) in kernel.attrs.iter().enumerate() {
                let want = k.has_named_attrs().then(|| k.attr(i as u32));
                assert_eq!(k.attr_named(name), want);
            }
            let functions: Vec<usize> = k.functions().iter().map(|id| id.index()).collect();
            assert_eq!(
                functions,
                kernel.functions.iter().map(|at| at.index(program.len())).collect::<Vec<_>>()
            );
            assert_eq!(k.stream() as usize, kernel.stream.index(function.kernels.len()));
            assert_eq!(k.cost().unwrap_or(0), kernel.cost);
            assert_eq!(image.device_name(k.device()), if kernel.device > 0 { "gpu" } else { "" });
            let location = k.location().map(|id| image.location_string(id));
            assert_eq!(location, kernel.line.map(|line| format!("f:{line}:1")));
        }
        let results: Vec<(u32, &str)> = function
            .results
            .iter()
            .filter_map(|(at, name)| Some((register(at, types.len())?, name.as_str())))
            .collect();
        assert_eq!(f.results(), results.iter().map(|&(register, _)| register).collect::<Vec<_>>());
        for (i, &(register, name)) in results.iter().enumerate() {
            assert_eq!(f.result_name(i as u32), name);
            assert_eq!(f.result_type(i as u32), types[register as usize]);
            users[register as usize].insert(0, u32::MAX);
        }
        for (register, users) in users.iter().enumerate() {
            assert_eq!(f.users(register as u32), users);
            assert_eq!(image.type_name(f.register_type(register as u32)), types[register]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_read_back(program in program()) {
        let bytes = AlignedBytes::copy_of(&write(&program));
        assert!(*bytes == *write(&program), "the same calls gave different bytes");
        let image = validate(&bytes).expect("what was written is valid");
        compare(&program, &image);
    }
}
