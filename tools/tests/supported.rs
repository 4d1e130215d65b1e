//! `compiler/OPERATORS.md`: the ops that run, and the element types of TensorFlow's ops. The page is
//! generated. The test fails if it is not current; with `UPDATE=1` in the environment it writes the page.
//!
//! The element types of an op are those of the small operands that its function accepts. Where several
//! attributes are types, the first one varies and the others have TensorFlow's defaults.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use befrost_compiler::dialects::{OpDef, Registry};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Arg, ArgType, Attrs, DefaultValue, Derived, OpRow, Signature, Type};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

/// Values for the attributes that an op requires.
struct Samples;

impl Attrs for Samples {
    fn has(&self, _: &str) -> bool {
        false
    }
    fn int(&self, _: &str) -> Option<i64> {
        Some(1)
    }
    fn float(&self, _: &str) -> Option<f64> {
        Some(1.0)
    }
    fn bool(&self, _: &str) -> Option<bool> {
        Some(false)
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        let word: &[u8] = match name {
            "padding" => b"VALID",
            "data_format" => b"NHWC",
            "mode" => b"REFLECT",
            _ => return None,
        };
        Some(Cow::Borrowed(word))
    }
    fn ty(&self, _: &str) -> Option<Type> {
        None
    }
    fn shape(&self, _: &str) -> Option<PartialShape> {
        PartialShape::from_i64(&[1]).ok()
    }
    fn tensor(&self, _: &str) -> Option<HostTensor> {
        None
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        matches!(name, "strides" | "ksize" | "rates" | "dilations").then(|| vec![1; 4])
    }
    fn floats(&self, _: &str) -> Option<Vec<f64>> {
        None
    }
    fn strings(&self, _: &str) -> Option<Vec<Vec<u8>>> {
        None
    }
    fn types(&self, _: &str) -> Option<Vec<Type>> {
        None
    }
    fn shapes(&self, _: &str) -> Option<Vec<PartialShape>> {
        None
    }
}

/// The first attribute that is the type of an operand, except types of indices.
fn varying(signature: &Signature) -> Option<&'static str> {
    let is_index = |name: &str| ["Index", "Ti", "Tshape"].iter().any(|prefix| name.starts_with(prefix));
    signature.inputs.iter().find_map(|arg: &Arg| match arg.ty {
        ArgType::Attr(name) if !is_index(name) => Some(name),
        ArgType::Attr(_) | ArgType::Is(_) | ArgType::List(_) => None,
    })
}

/// Operands of zeros, with `dtype` for the attribute `varying`; `None` if an operand is no tensor of numbers.
fn operands(signature: &Signature, varying: &str, dtype: DType, shape: &[usize]) -> Option<Vec<HostTensor>> {
    let malloc: Arc<dyn Allocator> = Malloc::shared();
    let of = |arg: &Arg| {
        let ty = match arg.ty {
            ArgType::Is(ty) => ty,
            ArgType::Attr(name) if name == varying => Type::Dense(dtype),
            ArgType::Attr(name) => match signature.attr(name)?.default {
                Some(DefaultValue::Type(ty)) => ty,
                _ => Type::Dense(DType::I32),
            },
            ArgType::List(_) => Type::Dense(dtype),
        };
        let shape = Shape::new(shape).ok()?;
        let tensor = HostTensor::allocate(ty.dtype()?, shape, &malloc).ok()?;
        tensor.write_bytes().ok()?.fill(0);
        Some(tensor)
    };
    signature.inputs.iter().map(of).collect()
}

/// True if the op accepts elements of this type; `None` if no shape of operands decides it.
fn accepts(row: &'static OpRow, varying: &str, dtype: DType) -> Option<bool> {
    let malloc: Arc<dyn Allocator> = Malloc::shared();
    let signature = row.signature();
    let mut accepted = None;
    for shape in [&[][..], &[1], &[1, 1], &[1, 1, 1], &[1, 1, 1, 1], &[1, 1, 1, 1, 1]] {
        let given = operands(signature, varying, dtype, shape)?;
        let types = given.iter().map(|x| Some(Type::Dense(x.dtype()))).collect();
        let attrs = Derived::new(signature, Samples, types, vec![None; signature.outputs.len()]);
        let made = row.prepare(&attrs).and_then(|eval| match eval {
            Some(eval) => eval(&given.iter().collect::<Vec<_>>(), &malloc).map(|_| ()),
            None => Ok(()),
        });
        match made {
            Ok(()) => return Some(true),
            Err(TensorError::Unsupported { .. } | TensorError::DType { .. }) => accepted = Some(false),
            Err(_) => {}
        }
    }
    accepted
}

/// The element types of an op, with names for groups of types.
fn dtypes(row: &'static OpRow) -> String {
    let Some(varying) = varying(row.signature()).filter(|_| row.has_function()) else { return String::new() };
    let answers: Vec<(DType, Option<bool>)> =
        DType::ALL.into_iter().map(|dtype| (dtype, accepts(row, varying, dtype))).collect();
    if answers.iter().all(|(_, answer)| *answer != Some(true)) {
        return String::new();
    }
    let mut left: Vec<DType> =
        answers.into_iter().filter(|(_, answer)| *answer == Some(true)).map(|(dtype, _)| dtype).collect();
    if left.len() == DType::ALL.len() {
        return "all".to_owned();
    }
    use DType::{BF16, Complex64, Complex128, F16, F32, F64, I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    let groups: [(&str, &[DType]); 4] = [
        ("floats", &[F16, BF16, F32, F64]),
        ("signed", &[I8, I16, I32, I64]),
        ("unsigned", &[UI8, UI16, UI32, UI64]),
        ("complex", &[Complex64, Complex128]),
    ];
    let mut words = Vec::new();
    for (name, members) in groups {
        if members.iter().all(|member| left.contains(member)) {
            left.retain(|dtype| !members.contains(dtype));
            words.push(name.to_owned());
        }
    }
    words.extend(left.iter().map(ToString::to_string));
    words.join(", ")
}

fn page() -> String {
    let registry = Registry::standard();
    let mut dialects: BTreeMap<&str, Vec<&OpDef>> = BTreeMap::new();
    for def in registry.iter().filter(|def| def.has_kernel || def.lowered_by.is_some()) {
        dialects.entry(def.dialect()).or_default().push(def);
    }
    let mut text = String::from(
        "# Operations that run\n\n\
         Generated by `UPDATE=1 cargo test -p befrost-tools --test supported`, not to be edited. \
         `ir-opt --help-dialects OP` explains each of them.\n\n\
         ## TensorFlow's operators\n\n\
         Types: the element types for which the operator's function accepts small operands, where its first type \
         varies: *floats* f16, bf16, f32, f64; *signed* i8 to i64; *unsigned* ui8 to ui64; *complex* complex64, \
         complex128; *all* are these and i1. Without types: operators on fixed types, strings, resources and \
         functions, and those whose operands are related by shape. *Lowered* operators become kernels by a pass.\n\n\
         | operator | types | |\n|---|---|---|\n",
    );
    let mut operators: Vec<&&OpDef> = dialects.get("tf").into_iter().flatten().collect();
    operators.sort_by(|a, b| a.name.cmp(&b.name));
    // Those that begin with an underscore are made by passes.
    for def in operators.into_iter().filter(|def| !def.name.starts_with("tf._")) {
        let types = def.row.map_or_else(String::new, dtypes);
        let lowered = if def.has_kernel { "" } else { "lowered" };
        _ = writeln!(text, "| `{}` | {types} | {lowered} |", def.name);
    }
    text.push_str("\n## Upstream's dialects\n\n");
    for dialect in ["arith", "cf", "func", "index", "math", "scf", "tensor", "vector"] {
        let mut names: Vec<&str> =
            dialects.get(dialect).into_iter().flatten().map(|def| def.name.as_str()).collect();
        names.sort_unstable();
        let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
        _ = writeln!(text, "* {}", names.join(", "));
    }
    text.push_str(
        "\nScalars of i1, i8, i16, i32, i64, index, f16, bf16, f32 and f64; `tensor` on tensors of these, but index.\n",
    );
    text
}

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/OPERATORS.md");
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let different = found.lines().zip(page.lines()).find(|(found, wanted)| found != wanted);
    assert!(
        found == page,
        "compiler/OPERATORS.md is not current: {different:?}; run UPDATE=1 cargo test -p befrost-tools --test supported"
    );
    assert!(page.contains("| `tf.AddV2` | floats, signed"), "additions take numbers");
}
