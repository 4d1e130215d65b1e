//! Each op that is a pure function, on random operands, valid and invalid: by name in the eager core, as a
//! compiled function of one op, and by the oracle.
//!
//! ```text
//! row, random types, shapes, elements, attributes
//!     CoreRuntime, handler `cpu`          on the queues s, mstd:2 and seeded ones
//!     CoreRuntime, handler `compiling`    the path of ops without kernels of their own
//!     oracle of op graphs                 the text of the function
//! ```
//!
//! Values must be equal within a tolerance, shapes and types exactly, and errors must have the same code. The
//! type and shape in a handle's metadata must be those of its tensor.
//!
//! `state` has the ops on variables.
#![forbid(unsafe_code)]

mod state;

use std::sync::{Arc, LazyLock};

use befrost::eager::{AttrValue, CoreRuntime, OpAttrs, TensorHandle, function_of_op};
use befrost::{DType, HostTensor, Runtime, Shape};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_kernels::Strings;
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{ArgType, AttrDef, AttrKind, Derived, OpRow, Operand, Type, rows};
use befrost_tensor::tf::reference::cast;
use befrost_tensor::{Complex128, StringTensor};
use befrost_testing::dice::Dice;
use befrost_testing::oracle::tf::{self as oracle, Strictness, TfValue, VariableStore};

/// The number of cases per op, unless `BEFROST_EAGER_CASES` sets it.
const CASES: u64 = 6;

/// The eager cores, by queue. The first one also runs the compiled functions.
static CORES: LazyLock<Vec<(&str, CoreRuntime)>> = LazyLock::new(|| {
    let queues = ["s", "mstd:2", "seeded:1", "seeded:2"];
    let core = |queue| Runtime::builder().work_queue(queue).build().expect("a work queue").eager();
    queues.map(|queue| (queue, core(queue))).into()
});

fn malloc() -> Arc<dyn Allocator> {
    Malloc::shared()
}

/// An operand.
#[derive(Clone, Debug)]
enum Given {
    Tensor(HostTensor),
    Strings(StringTensor),
}

impl Given {
    fn ty(&self) -> (Type, PartialShape) {
        match self {
            Given::Tensor(x) => (Type::Dense(x.dtype()), PartialShape::from(x.shape())),
            Given::Strings(x) => (Type::String, PartialShape::from(x.shape())),
        }
    }

    fn handle(&self) -> TensorHandle {
        match self {
            Given::Tensor(x) => TensorHandle::from(x.clone()),
            Given::Strings(x) => TensorHandle::new(befrost::Value::object(Strings(x.clone()))),
        }
    }

    fn oracle(&self) -> TfValue {
        match self {
            Given::Tensor(x) => TfValue::Tensor(x.clone()),
            Given::Strings(x) => TfValue::Strings(x.clone()),
        }
    }
}

/// An op with its operands and attributes.
struct Case {
    row: &'static OpRow,
    operands: Vec<Given>,
    attrs: OpAttrs,
}

const SHAPES: [&[usize]; 14] = [
    &[],
    &[1],
    &[2],
    &[3],
    &[2, 2],
    &[2, 3],
    &[3, 2],
    &[1, 3],
    &[2, 3, 2],
    &[1, 4, 4, 1],
    &[2, 4, 3, 2],
    &[0],
    &[2, 0],
    &[1, 1, 1, 1, 2],
];

/// Names of operands that are positions, sizes or axes.
const INDICES: [&str; 30] = [
    "axis",
    "axes",
    "dim",
    "dimension",
    "reduction_indices",
    "shape",
    "size",
    "sizes",
    "multiples",
    "perm",
    "paddings",
    "begin",
    "end",
    "strides",
    "indices",
    "split_dim",
    "num_segments",
    "segment_ids",
    "concat_dim",
    "start",
    "limit",
    "delta",
    "depth",
    "k",
    "dims",
    "block_shape",
    "crops",
    "num_rows",
    "num_cols",
    "shift",
];

fn numbers(dice: &mut Dice, dtype: DType, shape: &Shape, is_index: bool) -> HostTensor {
    let floats = [0.0, 1.0, -1.5, 0.5, 2.0, -0.25, 3.0, 7.5];
    let element = |dice: &mut Dice| match dtype {
        _ if is_index => dice.below(5) as f64 - 1.0,
        DType::I1 => dice.below(2) as f64,
        DType::UI8 | DType::UI16 | DType::UI32 | DType::UI64 => dice.below(6) as f64,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => dice.below(8) as f64 - 3.0,
        _ if dice.below(40) == 0 => [f64::NAN, f64::INFINITY, -0.0][dice.below(3)],
        _ => floats[dice.below(8)],
    };
    let elements: Vec<f64> = (0..shape.num_elements()).map(|_| element(dice)).collect();
    let wide = HostTensor::from_slice(shape.clone(), &elements, &malloc()).expect("memory");
    cast(&wide, dtype, &malloc()).expect("numbers of every type")
}

fn random_type(dice: &mut Dice) -> Type {
    const TYPES: [DType; 14] = [
        DType::F32,
        DType::F32,
        DType::F32,
        DType::F32,
        DType::F64,
        DType::F16,
        DType::I32,
        DType::I32,
        DType::I64,
        DType::UI8,
        DType::I1,
        DType::Complex64,
        DType::BF16,
        DType::I8,
    ];
    Type::Dense(TYPES[dice.below(14)])
}

fn random_shape(dice: &mut Dice, base: &[usize]) -> Shape {
    let dims = match dice.below(10) {
        0..=6 => base,
        7 => &[],
        _ => SHAPES[dice.below(SHAPES.len())],
    };
    Shape::new(dims).expect("a small shape")
}

fn random_ints(dice: &mut Dice, name: &str) -> AttrValue {
    let value: Vec<i64> = match name {
        "strides" | "ksize" | "dilations" if dice.below(4) > 0 => {
            vec![1, 1 + dice.below(2) as i64, 1 + dice.below(2) as i64, 1]
        }
        _ => (0..dice.below(5)).map(|_| dice.below(5) as i64 - 1).collect(),
    };
    AttrValue::from(&value[..])
}

/// The dice of a case.
fn dice_of(row: &OpRow, seed: u64) -> Dice {
    Dice(1 + (seed ^ row.name.bytes().fold(7, |hash: u64, byte| hash.wrapping_mul(31) ^ u64::from(byte))))
}

/// A random value of an attribute; `None` if there are none for its kind.
fn random_attr(dice: &mut Dice, attr: &AttrDef, base: &[usize]) -> Option<AttrValue> {
    Some(match attr.kind {
        AttrKind::Type => AttrValue::Type(random_type(dice)),
        AttrKind::Int => AttrValue::from(dice.below(4) as i64),
        AttrKind::Float => AttrValue::from(dice.below(8) as f32 * 0.25),
        AttrKind::Bool => AttrValue::from(dice.below(2) == 0),
        AttrKind::String => AttrValue::from(match attr.name {
            "padding" => ["SAME", "VALID"][dice.below(2)],
            "data_format" => ["NHWC", "NCHW"][dice.below(2)],
            "equation" => ["ab,bc->ac", "ij->ji", "i,i->"][dice.below(3)],
            _ => ["", "MIRROR", "REFLECT", "SYMMETRIC"][dice.below(4)],
        }),
        AttrKind::Shape => {
            let dims: Vec<Option<usize>> = base.iter().copied().map(Some).collect();
            AttrValue::Shape(PartialShape::new(dims))
        }
        AttrKind::List(AttrKind::Int) => random_ints(dice, attr.name),
        AttrKind::List(AttrKind::Float) => AttrValue::Floats(DType::F32, [0.5, 1.0].into()),
        _ => return None,
    })
}

impl Case {
    /// A random case; `None` if the op has an operand that is a resource or a variant, or an attribute for
    /// which there are no random values.
    fn random(row: &'static OpRow, seed: u64) -> Option<Case> {
        let dice = &mut dice_of(row, seed);
        let signature = row.signature();
        let base = SHAPES[dice.below(SHAPES.len())];
        let mut types: Vec<(&str, Type)> = Vec::new();
        let mut operands = Vec::new();
        for arg in &signature.inputs {
            let n = if arg.number.is_some() { 1 + dice.below(3) } else { 1 };
            for _ in 0..n {
                let ty = match arg.ty {
                    ArgType::Is(ty) => ty,
                    ArgType::List(_) => random_type(dice),
                    ArgType::Attr(name) => match types.iter().find(|(known, _)| *known == name) {
                        Some((_, ty)) if dice.below(40) > 0 => *ty,
                        _ => {
                            let is_index = INDICES.contains(&arg.name);
                            let ty = if is_index { Type::Dense(DType::I32) } else { random_type(dice) };
                            types.push((name, ty));
                            ty
                        }
                    },
                };
                let is_index = INDICES.contains(&arg.name);
                let shape = match is_index {
                    true if dice.below(3) > 0 => Shape::new(&[[1, 2, base.len()][dice.below(3)]]),
                    true => Shape::new(&[]),
                    false => Ok(random_shape(dice, base)),
                };
                let shape = shape.expect("a small shape");
                operands.push(match ty {
                    Type::Dense(dtype) => Given::Tensor(numbers(dice, dtype, &shape, is_index)),
                    Type::String => {
                        let texts = vec!["a1"; shape.num_elements()];
                        Given::Strings(StringTensor::new(shape, &texts, &malloc()).expect("memory"))
                    }
                    Type::Resource | Type::Variant => return None,
                });
            }
        }
        let mut attrs = OpAttrs::new();
        for attr in &signature.attrs {
            let follows = |arg: &befrost_tensor::tf::op::Arg| {
                arg.number == Some(attr.name)
                    || matches!(arg.ty, ArgType::Attr(name) | ArgType::List(name) if name == attr.name)
            };
            if signature.inputs.iter().any(follows) || attr.default.is_some() && dice.below(4) > 0 {
                continue;
            }
            let value = random_attr(dice, attr, base)?;
            attrs.insert(attr.name, value);
        }
        Some(Case { row, operands, attrs })
    }

    fn eager(&self, core: &CoreRuntime) -> Answer {
        let handles: Vec<TensorHandle> = self.operands.iter().map(Given::handle).collect();
        let results = core
            .execute(self.row.op_name, &handles, &self.attrs)
            .map_err(|error| (error.code().to_string(), error.message().to_owned()))?;
        let mut answer = Vec::new();
        for result in results {
            let promised = result.metadata();
            let value = result
                .wait_value()
                .map_err(|error| (error.code().to_string(), error.message().to_owned()))?;
            let value = match value.downcast_ref::<Strings>() {
                Some(Strings(strings)) => TfValue::Strings(strings.clone()),
                None => {
                    let dense = TensorHandle::new(value).wait();
                    TfValue::Tensor(
                        dense.map_err(|error| (error.code().to_string(), error.message().to_owned()))?,
                    )
                }
            };
            if promised.is_some() && promised != result.metadata() {
                let found = result.metadata();
                return Err(("Metadata".to_owned(), format!("{promised:?} was said, {found:?} came")));
            }
            answer.push(value);
        }
        Ok(answer)
    }

    /// The answer of the oracle; `None` if it does not know the op, or the program is refused.
    fn oracle(&self) -> Option<Answer> {
        let inputs: Vec<_> = self.operands.iter().map(Given::ty).collect();
        let constant = |given: &Given| match given {
            Given::Tensor(x) => Some(x.clone()),
            Given::Strings(_) => None,
        };
        let constants: Vec<Option<HostTensor>> = self.operands.iter().map(constant).collect();
        let known = inputs.iter().zip(&constants);
        let operands: Vec<Operand<'_>> = known
            .map(|((ty, shape), constant)| Operand {
                constant: constant.as_ref(),
                ..Operand::new(*ty, shape.clone())
            })
            .collect();
        let frozen = self.attrs.freeze();
        let types = inputs.iter().map(|(ty, _)| Some(*ty)).collect();
        let attrs = Derived::new(self.row.signature(), &frozen, types, Vec::new());
        let results = self.row.infer(&attrs, &operands).ok()?;
        let results: Vec<_> = results.into_iter().map(|r| (r.ty, PartialShape::unknown())).collect();
        let text = function_of_op("op", self.row.op_name, &frozen, &inputs, &results).ok()?;
        let module = verify(parse("op", &text, &ParseOptions::default()).module?).ok()?;
        let arguments: Vec<TfValue> = self.operands.iter().map(Given::oracle).collect();
        let mut variables = VariableStore::default();
        let execution = oracle::call(&module, "op", &arguments, &mut variables, Strictness::Strict).ok()?;
        let error = execution.results.iter().find_map(|result| result.error());
        Some(match error {
            Some(error) => Err((error.code.to_string(), error.message.clone())),
            // The truth value of an op without results is none of them.
            None if results.is_empty() => Ok(Vec::new()),
            None => Ok(execution.results),
        })
    }
}

/// The results, or the code and the message of an error.
type Answer = Result<Vec<TfValue>, (String, String)>;

fn parts(x: &HostTensor) -> Vec<f64> {
    let wide = cast(x, DType::Complex128, &malloc()).expect("numbers of every type");
    let wide = wide.read::<Complex128>().expect("nobody writes");
    wide.iter().flat_map(|x| [x.re, x.im]).collect()
}

fn same_value(a: &TfValue, b: &TfValue) -> bool {
    match (a, b) {
        (TfValue::Tensor(a), TfValue::Tensor(b)) => {
            let tolerance = if matches!(a.dtype(), DType::F16 | DType::BF16) { 2e-2 } else { 1e-4 };
            let near = |(x, y): (f64, f64)| {
                x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * (1.0 + y.abs())
            };
            a.dtype() == b.dtype() && a.shape() == b.shape() && parts(a).into_iter().zip(parts(b)).all(near)
        }
        (TfValue::Strings(a), TfValue::Strings(b)) => {
            a.shape() == b.shape()
                && a.read().expect("nobody writes").iter().eq(b.read().expect("nobody writes").iter())
        }
        _ => false,
    }
}

fn same(found: &Answer, want: &Answer) -> bool {
    match (found, want) {
        (Ok(found), Ok(want)) => {
            found.len() == want.len() && found.iter().zip(want).all(|(a, b)| same_value(a, b))
        }
        (Err((found, _)), Err((want, _))) => found == want,
        _ => false,
    }
}

fn check(case: &Case) -> Result<bool, String> {
    let (_, first) = &CORES[0];
    let found = case.eager(first);
    for (queue, core) in &CORES[1..] {
        let other = case.eager(core);
        if !same(&other, &found) {
            return Err(format!("on {queue} {other:?}\n  on s {found:?}"));
        }
    }
    let compiled = case.eager(&first.with_handler("compiling").expect("it is there"));
    if !same(&found, &compiled) {
        return Err(format!("eager {found:?}\n  compiled {compiled:?}"));
    }
    match case.oracle() {
        Some(want) if !same(&found, &want) => Err(format!("eager {found:?}\n  oracle {want:?}")),
        _ => Ok(found.is_ok()),
    }
}

/// The functions that attributes of control flow name.
const FUNCTIONS: &str = "\
func.func @twice(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = \"tf.AddV2\"(%x, %x) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
func.func @same(%x: tensor<*xf32>) -> tensor<*xf32> {
  func.return %x : tensor<*xf32>
}
func.func @small(%x: tensor<*xf32>) -> tensor<i1> {
  %limit = \"tf.Const\"() {value = dense<100.0> : tensor<f32>} : () -> tensor<f32>
  %is = \"tf.Less\"(%x, %limit) : (tensor<*xf32>, tensor<f32>) -> tensor<i1>
  func.return %is : tensor<i1>
}
func.func @fails(%x: tensor<*xf32>) -> tensor<*xf32> {
  %y = \"tf.CheckNumerics\"(%x) {message = \"checked\"} : (tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
func.func @plus_v(%x: tensor<*xf32>) -> tensor<*xf32> {
  %v = \"tf.VarHandleOp\"() {dtype = f32, shape = #tf_type.shape<>, shared_name = \"v\"} : () -> tensor<!tf_type.resource>
  %value = \"tf.ReadVariableOp\"(%v) {dtype = f32} : (tensor<!tf_type.resource>) -> tensor<f32>
  %y = \"tf.AddV2\"(%x, %value) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
";

fn number(x: f32) -> TensorHandle {
    TensorHandle::from(HostTensor::from_vec([], vec![x]).expect("memory"))
}

fn read(handle: &TensorHandle) -> Vec<f32> {
    handle.wait().expect("a tensor").to_vec().expect("numbers")
}

#[test]
fn control_flow_is_compiled() {
    for queue in ["s", "mstd:2"] {
        let runtime = Runtime::builder().work_queue(queue).build().expect("a queue");
        let core = runtime.eager_with(FUNCTIONS);
        let func = |name: &str| AttrValue::Func(name.into());
        let float = || AttrValue::List([AttrValue::Type(Type::Dense(DType::F32))].into());
        let branch = OpAttrs::new()
            .set("Tout", float())
            .set("then_branch", func("twice"))
            .set("else_branch", func("same"));
        let flag = |is: bool| {
            TensorHandle::from(HostTensor::from_vec([], vec![befrost_tensor::I1::from(is)]).expect("memory"))
        };
        let choose = core.op("If", &branch).expect("it is compiled");
        for (is, want) in [(true, 6.0), (false, 3.0), (true, 6.0)] {
            let y = choose.call(&[flag(is), number(3.0)]).expect("it runs");
            assert_eq!(read(&y[0]), [want]);
        }
        let turns = OpAttrs::new().set("cond", func("small")).set("body", func("twice"));
        let y = core.execute("While", &[number(3.0)], &turns).expect("it runs");
        assert_eq!(read(&y[0]), [192.0]);
        let call = OpAttrs::new().set("Tout", float()).set("f", func("fails"));
        let y = core.execute("PartitionedCall", &[number(f32::NAN)], &call).expect("it runs");
        assert!(y[0].wait().expect_err("NaN").message().contains("checked"));
        let nobody = OpAttrs::new().set("Tout", float()).set("f", func("nobody"));
        let y = core.execute("PartitionedCall", &[number(1.0)], &nobody).expect("it is queued");
        assert!(y[0].wait().expect_err("there is no function").message().contains("nobody"));
    }
}

#[test]
fn state_is_shared_with_compiled_functions() {
    let runtime = Runtime::builder().work_queue("s").build().expect("a queue");
    let core = runtime.eager_with(FUNCTIONS);
    let handle = OpAttrs::new()
        .set("dtype", Type::Dense(DType::F32))
        .set("shape", AttrValue::Shape(PartialShape::new(Vec::new())))
        .set("shared_name", "v");
    let v = core.execute("VarHandleOp", &[], &handle).expect("a variable");
    core.execute("AssignVariableOp", &[v[0].clone(), number(5.0)], OpAttrs::new()).expect("it is assigned");
    core.execute("AssignAddVariableOp", &[v[0].clone(), number(1.0)], OpAttrs::new()).expect("it is added");
    let call = OpAttrs::new()
        .set("Tout", AttrValue::List([AttrValue::Type(Type::Dense(DType::F32))].into()))
        .set("f", AttrValue::Func("plus_v".into()));
    let y = core.execute("StatefulPartitionedCall", &[number(10.0)], &call).expect("it runs");
    assert_eq!(read(&y[0]), [16.0]);
    // A function of a program can be an op too.
    let bef = befrost::compile(befrost::Source::Text(FUNCTIONS.to_owned())).expect("it compiles");
    let program = runtime.load_bytes(&bef).expect("it loads");
    let plus = core.composite(&program.function("plus_v").expect("it is there")).expect("it is an operator");
    assert_eq!(read(&plus.call(&[number(1.0)]).expect("it runs")[0]), [7.0]);
    assert!(plus.call(&[]).expect("it is queued")[0].wait().is_err());
}

#[test]
fn lists_stacks_and_optionals_are_executed() {
    let core = &CORES[0].1;
    let int = |i: i32| TensorHandle::from(HostTensor::from_vec([], vec![i]).expect("memory"));
    let empty = TensorHandle::from(HostTensor::from_vec([0], Vec::<i32>::new()).expect("memory"));
    let float = Type::Dense(DType::F32);
    let dtype = OpAttrs::new().set("element_dtype", float);
    let list = core.execute("EmptyTensorList", &[empty.clone(), int(-1)], &dtype).expect("a list");
    let list = core.execute("TensorListPushBack", &[list[0].clone(), number(2.0)], &dtype).expect("a list");
    let list = core.execute("TensorListPushBack", &[list[0].clone(), number(3.0)], &dtype).expect("a list");
    let all = core.execute("TensorListStack", &[list[0].clone(), empty], &dtype).expect("a tensor");
    assert_eq!(read(&all[0]), [2.0, 3.0]);
    let stack = OpAttrs::new().set("elem_type", float).set("stack_name", "s");
    let stack = core.execute("StackV2", &[int(-1)], &stack).expect("a stack");
    core.execute("StackPushV2", &[stack[0].clone(), number(4.0)], OpAttrs::new().set("T", float))
        .expect("pushed");
    let popped = core.execute("StackPopV2", &[stack[0].clone()], OpAttrs::new().set("elem_type", float));
    assert_eq!(read(&popped.expect("a tensor")[0]), [4.0]);
    let types = AttrValue::List([AttrValue::Type(float)].into());
    let some = core.execute("OptionalFromValue", &[number(5.0)], OpAttrs::new()).expect("an optional");
    let attrs = OpAttrs::new()
        .set("output_types", types)
        .set("output_shapes", AttrValue::List([AttrValue::Shape(PartialShape::new(Vec::new()))].into()));
    let value = core.execute("OptionalGetValue", &[some[0].clone()], &attrs).expect("a value");
    assert_eq!(read(&value[0]), [5.0]);
}

#[test]
fn each_operator_in_three_ways() {
    let cases = std::env::var("BEFROST_EAGER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let only = std::env::var("BEFROST_EAGER_OP").ok();
    let (mut n_rows, mut good, mut bad, mut failures) = (0, 0, 0, Vec::new());
    for row in rows().filter(|row| row.is_pure_function()) {
        if only.as_ref().is_some_and(|only| only != row.name) {
            continue;
        }
        n_rows += 1;
        for seed in 0..cases {
            let Some(case) = Case::random(row, seed) else { continue };
            match check(&case) {
                Ok(true) => good += 1,
                Ok(false) => bad += 1,
                Err(why) => {
                    let (operands, attrs) = (&case.operands, case.attrs.freeze());
                    failures.push(format!("{}, seed {seed}: {operands:?} {attrs}  {why}", row.name));
                }
            }
        }
    }
    println!("{n_rows} operators, {good} good cases, {bad} refused ones");
    let shown = failures[..failures.len().min(40)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    assert!(only.is_some() || good > 300 && bad > 300, "{good} good cases, {bad} refused ones");
}
