//! Tests of inference, refusal and rollback; what rewrites make with the builder is tested in `testdata/tf`.

use befrost_compiler::build::query::{dims, splat};
use befrost_compiler::build::*;
use befrost_compiler::dialects::tf;
use befrost_compiler::ir::{KnownType, Module, TypeId, ValueId};
use befrost_compiler::pass::PassManager;
use befrost_compiler::print::{PrintOptions, print, type_text};
use befrost_compiler::rewrite::Rewriter;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

const PROGRAM: &str = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<?x5xf32>, %n: tensor<3xi32>) {
  func.return
}
";

/// Gives `build` a builder in front of the program's last op, and the arguments.
fn check(build: impl FnOnce(&mut Builder<'_, '_>, [ValueId; 3])) -> String {
    let Some(mut m) = parse("t", PROGRAM, &ParseOptions::default()).module else {
        panic!("the program is wrong")
    };
    let function = m.find_function("main").unwrap();
    let block = m.entry(m.regions_of(function)[0]).unwrap();
    let (end, args) = (m.last_op(block).unwrap(), m.args(block).to_vec());
    let top = m.top();
    build(&mut Builder::before(&mut Rewriter::new(&mut m, top), end), [args[0], args[1], args[2]]);
    print(&m, &PrintOptions::default())
}

fn ty(b: &Builder<'_, '_>, value: ValueId) -> String {
    type_text(&b.ir().cx, b.ir().value_type(value))
}

#[test]
fn results_are_inferred() {
    check(|b, [x, y, n]| {
        let product = b.op(Op::MatMul, &[x, y]).bool("transpose_a", true).one().unwrap();
        assert_eq!(ty(b, product), "tensor<3x5xf32>");
        let sum = b.one(Op::AddV2, &[y, y]).unwrap();
        assert_eq!(ty(b, sum), "tensor<?x5xf32>");
        // The values of constants and of `Shape` count.
        let order = b.ints(&[1, 0], DType::I32).unwrap();
        let turned = b.one(Op::Transpose, &[x, order]).unwrap();
        assert_eq!(ty(b, turned), "tensor<3x2xf32>");
        let (shape, zero) = (b.one(Op::Shape, &[x]).unwrap(), b.scalar(0.0, DType::F32).unwrap());
        let filled = b.one(Op::Fill, &[shape, zero]).unwrap();
        assert_eq!((ty(b, filled).as_str(), splat(b.ir(), zero)), ("tensor<2x3xf32>", Some(0.0)));
        let axis = b.ints_of_shape(&[0], &[], DType::I32).unwrap();
        let parts = b.op(Op::Split, &[axis, x]).int("num_split", 2).build().unwrap();
        let part = b.ir().result(parts, 1);
        assert_eq!((b.ir().n_results(parts), dims(b.ir(), part)), (2, Some(&[1, 3][..])));
        assert_eq!(ty(b, n), "tensor<3xi32>");
    });
}

#[test]
fn given_types_are_kept_if_they_fit() {
    check(|b, [x, y, n]| {
        let sum = b.op(Op::AddV2, &[x, x]).like(y).one().unwrap_err();
        assert_eq!(sum.message, "`tf.AddV2`: result #0 has shape [?, 5], expected [2, 3]");
        let open = b.one(Op::Neg, &[y]).unwrap();
        assert_eq!(ty(b, open), "tensor<?x5xf32>");
        let element = b.ir().cx.element(b.ir().value_type(x));
        let known = tf::tensor(b.cx(), Some(&[4, 5]), element);
        let known = b.op(Op::Neg, &[y]).results(&[known]).one().unwrap();
        assert_eq!(ty(b, known), "tensor<4x5xf32>");
        // An element type that no operand says.
        let floats = shaped_like(b, n, x);
        let floats = b.op(Op::Cast, &[n]).results(&[floats]).one().unwrap();
        assert_eq!(ty(b, floats), "tensor<3xf32>");
        let refused = b.one(Op::Cast, &[n]).unwrap_err();
        assert!(refused.message.contains("DstT"), "{}", refused.message);
        // Control edges are no data.
        let chain = KnownType::Chain.id();
        let types = [b.ir().value_type(x), chain];
        let neg = b.op(Op::Neg, &[x]).results(&types).build().unwrap();
        let done = b.ir().result(neg, 1);
        let after = b.one(Op::Neg, &[x, done]).unwrap();
        assert_eq!(ty(b, after), "tensor<2x3xf32>");
    });
}

/// The shape of one value with the elements of another.
fn shaped_like(b: &mut Builder<'_, '_>, shape: ValueId, element: ValueId) -> TypeId {
    let (shape, element) = (b.ir().value_type(shape), b.ir().cx.element(b.ir().value_type(element)));
    tf::with_element(b.cx(), shape, element)
}

#[test]
fn ill_typed_ops_are_refused_at_their_place() {
    let before = check(|_, _| {});
    let after = check(|b, [x, _, n]| {
        let end = PROGRAM.find("func.return").unwrap() as u32;
        let mut check = |operator: Op, operands: &[ValueId], words: &str| {
            let refusal = b.one(operator, operands).unwrap_err();
            assert!(refusal.message.contains(words), "{}", refusal.message);
            assert!(refusal.message.starts_with(&format!("`{}`: ", operator.op_name())));
            assert_eq!((refusal.code, refusal.span.map(|span| span.start)), ("E0713", Some(end)));
        };
        check(Op::MatMul, &[x, x], "operands of shapes [2, 3], [2, 3]");
        check(Op::AddV2, &[x, n], "has type");
        check(Op::AddV2, &[x], "1 operands, expected 2");
        check(Op::If, &[x], "the types of the results are not given");
        let refusal = b.ints(&[1 << 40], DType::I32).unwrap_err();
        assert!(refusal.message.contains("of shape [1]"), "{}", refusal.message);
    });
    assert_eq!(before, after);
}

#[test]
fn built_parts_can_be_taken_back() {
    let once = check(|b, [x, ..]| {
        b.one(Op::Neg, &[x]).unwrap();
    });
    let again = check(|b, [x, ..]| {
        b.one(Op::Neg, &[x]).unwrap();
        let before = b.checkpoint();
        let root = b.one(Op::Sqrt, &[x]).unwrap();
        b.one(Op::Mul, &[root, root]).unwrap();
        b.scalar(1.0, DType::F32).unwrap();
        b.rollback(before);
        assert_eq!(b.ir().users(x).count(), 1);
    });
    assert_eq!(once, again);
    assert!(once.contains("tf.Neg"), "{once}");
}

/// Blocks are filled before the op that owns them; what was built is taken back, open blocks too.
#[test]
fn a_function_is_built_with_regions() {
    use befrost_compiler::build::function::{FunctionBuilder, SourcePlace};
    use befrost_tensor::tf::op::{DefaultValue, Type};

    let scalar = (Type::Dense(DType::F32), Some(vec![]));
    let mut b = FunctionBuilder::new("main");
    let x = b.argument("x", &scalar);
    let place = |line, column| SourcePlace { file: "f.py".to_owned(), line, column };
    b.set_location(&[place(2, 5), place(9, 1)], None);
    let condition = b.op("Greater", &[x, x], &[], None).unwrap()[0];
    let before = b.checkpoint();
    let (block, _) = b.block(&[]);
    b.enter(block);
    b.op("Neg", &[x], &[], None).unwrap();
    b.rollback(before);
    let (then, _) = b.block(&[]);
    let outer = b.enter(then);
    let negative = b.op("Neg", &[x], &[], None).unwrap();
    let (otherwise, _) = b.block(&[]);
    b.enter(otherwise);
    b.enter(outer);
    let made = b.if_region(condition, (then, &negative), (otherwise, &[x]), std::slice::from_ref(&scalar));
    assert_eq!(b.ty(made[0]), Some(scalar));
    let attrs = |name: &str, value| vec![(name.to_owned(), value)];
    let refused =
        |b: &mut FunctionBuilder, name: &str, attrs: &[_]| b.op(name, &[x], attrs, None).unwrap_err();
    assert!(refused(&mut b, "Nega", &[]).contains("no operator 'Nega'"));
    assert!(refused(&mut b, "Cast", &attrs("to", DefaultValue::Int(1))).contains("no attribute 'to'"));
    assert!(refused(&mut b, "Cast", &attrs("DstT", DefaultValue::Int(1))).contains("of kind type"));
    let text = print(
        &b.finish(&[("y".to_owned(), made[0])]),
        &PrintOptions { locations: true, ..PrintOptions::default() },
    );
    assert_eq!(text.matches("tf.Neg").count(), 1, "{text}");
    assert!(
        text.contains("tf.IfRegion") && text.contains("callsite(") && text.contains("bef.name = \"y\""),
        "{text}"
    );
}

/// A chain of conditionals on `x`, one for each list of constants, that give their numbers; the last one
/// gives -1.
fn chain(element: DType, conditions: &[&[i64]]) -> String {
    use befrost_compiler::build::function::FunctionBuilder;
    use befrost_tensor::HostTensor;
    use befrost_tensor::tf::op::Type;

    let scalar = (Type::Dense(element), Some(vec![]));
    let number = (Type::Dense(DType::F32), Some(vec![]));
    let mut b = FunctionBuilder::new("main");
    let x = b.argument("x", &scalar);
    let float = |b: &mut FunctionBuilder, value: f32| {
        b.constant(&HostTensor::from_vec([], vec![value]).unwrap()).unwrap()
    };
    let mut blocks = Vec::new();
    for (i, constants) in conditions.iter().enumerate() {
        let equal = constants.iter().map(|&value| {
            let value = match element {
                DType::I64 => HostTensor::from_vec([], vec![value]),
                _ => HostTensor::from_vec([], vec![value as i32]),
            };
            let value = b.constant(&value.unwrap()).unwrap();
            b.op("Equal", &[x, value], &[], None).unwrap()[0]
        });
        let equal: Vec<ValueId> = equal.collect();
        let or = |a, c| b.op("LogicalOr", &[a, c], &[], None).unwrap()[0];
        let condition = equal.into_iter().reduce(or).unwrap();
        let (then, _) = b.block(&[]);
        let outer = b.enter(then);
        let given = float(&mut b, i as f32);
        let (otherwise, _) = b.block(&[]);
        b.enter(otherwise);
        blocks.push((condition, then, given, otherwise, outer));
    }
    let mut last = float(&mut b, -1.0);
    for (condition, then, given, otherwise, outer) in blocks.into_iter().rev() {
        b.enter(outer);
        last =
            b.if_region(condition, (then, &[given]), (otherwise, &[last]), std::slice::from_ref(&number))[0];
    }
    print(&b.finish(&[("y".to_owned(), last)]), &PrintOptions::default())
}

#[test]
fn a_chain_of_conditionals_becomes_a_selection() {
    let count = |text: &str, what: &str| text.matches(what).count();
    // Constants that follow each other, in any order: a difference.
    let text = chain(DType::I32, &[&[5], &[4], &[6]]);
    let names = ["tf.IfRegion", "tf.CaseRegion", "tf.Sub", "tf.Yield", "tf.Equal"];
    assert_eq!(names.map(|what| count(&text, what)), [0, 1, 1, 4, 1], "{text}");
    let order = ["1.0", "0.0", "2.0", "-1.0"].map(|number| text.rfind(&format!("dense<{number}")));
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{text}");
    let text = chain(DType::I64, &[&[0], &[1]]);
    assert_eq!((count(&text, "tf.CaseRegion"), count(&text, "tf.Minimum")), (1, 1), "{text}");
    // Any others, or several for one branch: selected by the conditions.
    for conditions in [&[&[200][..], &[404]][..], &[&[0], &[1, 2]], &[&[0], &[1], &[0]]] {
        let text = chain(DType::I64, conditions);
        let found = ["tf.IfRegion", "tf.CaseRegion", "tf.SelectV2"].map(|what| count(&text, what));
        assert_eq!(found, [0, 1, conditions.len()], "{text}");
    }
    // One comparison is a conditional.
    let text = chain(DType::I32, &[&[7]]);
    assert_eq!((count(&text, "tf.IfRegion"), count(&text, "tf.CaseRegion")), (1, 0), "{text}");
}

#[test]
fn a_pass_does_not_rely_on_sizes_from_before() {
    let text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %one = \"tf.Const\"() {value = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %five = \"tf.Const\"() {value = dense<0.0> : tensor<5xf32>} : () -> tensor<5xf32>
  %sum = \"tf.AddV2\"(%x, %one) : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
  func.return %sum : tensor<?xf32>
}
";
    for pass in ["tf-constant-fold", "tf-arithmetic"] {
        let Some(mut m) = parse("t", text, &ParseOptions::default()).module else {
            panic!("the program is wrong")
        };
        let named = |m: &Module, name: &str, i: usize| {
            m.walk(m.top()).filter(|&op| m.op_name_str(op) == name).nth(i).unwrap()
        };
        let (five, add) = (named(&m, "tf.Const", 1), named(&m, "tf.AddV2", 0));
        assert!(sizes::same_shape(&m, m.operand(add, 0), m.result(add, 0)));
        // The sum of one element and five has five.
        m.set_operand(add, 1, m.result(five, 0));
        let mut passes = PassManager::parse(pass).unwrap();
        let (m, _) = passes.run(verify(m).unwrap()).unwrap();
        assert!(print(&m, &PrintOptions::default()).contains("tf.AddV2"), "{pass}");
    }
}
