//! Branches, loops, and functions that start before their arguments are available.

use befrost_kernel_api::kernel::Cursor;

use super::plain::{check, run};
use super::*;

#[test]
fn one_of_several_functions_runs() {
    let mut source = Source::new();
    let one = source.kernel("note", &[0]);
    let two = source.next("b", &[one]);
    let double = source.kernel("add", &[0, 0]);
    let noted = source.kernel("note", &[double]);
    let double = source.next("outer", &[noted]);
    let yes = source.kernel("is_one", &[0]);
    let chosen = source.control("if", &[yes, 0], 1, &[double, two]);
    let no = source.kernel("is_one", &[chosen]);
    let other = source.control("if", &[no, chosen], 1, &[double, two]);
    let second = source.control("case", &[0, other], 1, &[two, double]);
    let beyond = source.control("case", &[chosen, 0], 1, &[two, double]);
    let failed = source.kernel("fail", &[0]);
    let skipped = source.control("case", &[failed, 0], 1, &[two, double]);
    let program = source.load(&[chosen, other, second, beyond, skipped]);
    let out_of_range = "t:6:1: branch_index invalid. branch index: 2 # branches: 2";
    check(&program, &["2", "2", "4", out_of_range, "t:7:1: fail 1"], "2 2 4");
}

#[test]
fn a_loop_runs_its_function_on_its_own_results() {
    for body in ["add", "later"] {
        let mut source = Source::new();
        let y = source.main.arg(source.int, bef_format::StringId(0), None);
        let sum = source.kernel("add", &[0, y]);
        let sum = if body == "later" { source.kernel("later", &[sum]) } else { sum };
        // Fibonacci numbers: the arguments are swapped.
        let step = source.next("outer", &[y, sum]);
        let ten = source.kernel("ten", &[]);
        let first = source.control("repeat", &[ten, 0, 0], 2, &[step]);
        let none = source.kernel("zero", &[]);
        let second = source.control("repeat", &[none, first, ten], 2, &[step]);
        let minus = source.kernel("minus_one", &[]);
        let third = source.control("repeat", &[minus, 0, 0], 2, &[step]);
        let program = source.load(&[first, first + 1, second, second + 1, third]);
        let error = "t:6:1: the trip count is -1: it must not be negative";
        check(&program, &["89", "144", "89", "10", error], "");
    }
}

#[test]
fn a_while_loop_ends_with_its_condition() {
    for body in ["add", "later"] {
        let mut source = Source::new();
        let double = source.kernel("add", &[0, 0]);
        let double = if body == "later" { source.kernel("later", &[double]) } else { double };
        let more = source.kernel("less_than_100", &[double]);
        let step = source.next("b", &[double, more]);
        let bad = source.on_stream(0, "fail", &[(0, Required)], &["i1"], &[]);
        let fails = source.next("c", &[0, bad]);
        let dead = source.on_stream(0, "dead", &[(0, Required)], &["i1"], &[]);
        let dies = source.next("outer", &[0, dead]);
        let yes = source.kernel("is_one", &[0]);
        let until = source.control("while", &[yes, 0], 1, &[step]);
        let no = source.kernel("is_one", &[until]);
        let never = source.control("while", &[no, until], 1, &[step]);
        let failed = source.control("while", &[yes, 0], 1, &[fails]);
        let died = source.control("while", &[yes, 0], 1, &[dies]);
        let program = source.load(&[until, never, failed, died]);
        check(&program, &["128", "128", "t:1:1: fail 1 < t:5:1", "<<dead>>"], "");
    }
}

#[test]
fn a_cancellation_ends_every_loop() {
    for kernel in ["repeat", "while"] {
        let mut source = Source::new();
        let x = source.kernel("cancel", &[0]);
        let yes = source.on_stream(0, "true", &[], &["i1"], &[]);
        let results = [x, yes];
        let body = source.next("outer", &results[..if kernel == "while" { 2 } else { 1 }]);
        let ten = source.kernel("ten", &[]);
        let yes = source.kernel("is_one", &[0]);
        let first = if kernel == "while" { yes } else { ten };
        let looped = source.control(kernel, &[first, 0], 1, &[body]);
        check(&source.load(&[looped]), &["Cancelled"], "");
    }
}

#[test]
fn a_callee_starts_before_its_arguments_are_there() {
    let mut source = Source::new();
    let y = source.main.arg(source.int, bef_format::StringId(0), None);
    let noted = source.kernel("note", &[0]);
    let sum = source.kernel("add", &[y, noted]);
    let inner = source.next("outer", &[noted, sum]);
    let two = source.kernel("add", &[0, 0]);
    let late = source.kernel("later", &[two]);
    source.kernel("note", &[late]);
    let called = source.on_stream(0, "call", &[(0, Required), (late, Lenient)], &["i32", "i32"], &[inner]);
    // The first result is final at once; the second is returned before it is computed.
    source.kernel("note", &[called]);
    let program = source.load(&[called + 1]);
    let (results, printed) = run("s", &program);
    assert_eq!((results.join(" ").as_str(), printed.as_str()), ("3", "1 1 2"));
    for spec in ["mstd:1", "mstd:3"] {
        assert_eq!(run(spec, &program).0, ["3"]);
    }
}

#[test]
fn errors_of_functions_called_once_have_all_calls() {
    let mut source = Source::new();
    let bad = source.kernel("fail", &[0]);
    let fails = source.next("b", &[bad, 0]);
    source.kernel("one", &[]);
    let asked = source.control("once", &[0], 2, &[fails]);
    let inner = source.next("outer", &[asked, asked + 1]);
    source.kernel("one", &[]);
    source.kernel("one", &[]);
    let first = source.control("call", &[0], 2, &[inner]);
    let again = source.control("once", &[0], 2, &[fails]);
    let program = source.load(&[first, first + 1, again]);
    let error = "t:1:1: fail 1 < t:2:1 < t:3:1";
    check(&program, &[error, "1", error], "");
}

#[test]
fn uses_of_a_kernel_in_a_program_share_data() {
    let program = || {
        let mut source = Source::new();
        let uses = [source.kernel("count_uses", &[]), source.kernel("count_uses", &[])];
        source.load(&uses)
    };
    for program in [program(), program()] {
        let (mut numbers, _) = run("s", &program);
        numbers.sort();
        assert_eq!(numbers, ["0", "1"]);
    }
}

#[test]
fn a_function_that_asks_for_itself_once_is_an_error() {
    let mut writer = Writer::new();
    let (int, unnamed) = (writer.ty("i32"), writer.string(""));
    // Indirectly: `main` calls `a`, which calls `b`, which calls `a`.
    let [a, b] = [writer.declare(), writer.declare()];
    let once = writer.kernel_name("once");
    for (id, name, callee) in [(Some(a), "a", b), (Some(b), "b", a), (None, "main", a)] {
        let name = writer.string(name);
        let mut function = FunctionBuilder::new(name, FunctionKind::Async);
        let x = function.arg(int, unnamed, None);
        let functions = [callee];
        let asked = KernelSpec {
            code: once,
            operands: &[x],
            results: &[int],
            functions: &functions,
            ..KernelSpec::default()
        };
        let result = function.kernel(&asked);
        function.result(result, unnamed);
        match id {
            Some(id) => writer.define(id, function),
            None => _ = writer.add(function),
        }
    }
    let program = load(&writer.finish().unwrap());
    let error = "'tfrt.once @a' is asked for by its own function, whose results it would wait for";
    check(&program, &[error], "");
}

#[test]
fn errors_go_round_in_a_loop() {
    let mut source = Source::new();
    let y = source.main.arg(source.int, bef_format::StringId(0), None);
    let bad = source.kernel("fail", &[0]);
    let step = source.next("outer", &[y, bad]);
    let ten = source.kernel("ten", &[]);
    let looped = source.control("repeat", &[ten, 0, 0], 2, &[step]);
    let error = "t:1:1: fail 1 < t:2:1";
    check(&source.load(&[looped, looped + 1]), &[error, error], "");
}

#[test]
fn a_call_may_use_lists_again() {
    let mut source = Source::new();
    let double = source.kernel("add", &[0, 0]);
    let program = source.load(&[double, 0]);
    let context = ExecContext::new(Arc::new(Request::new(crate::queue::from_spec("s").unwrap())));
    let (mut arguments, mut results) = (Vec::new(), Vec::new());
    for i in 0..3 {
        arguments.push(Value::I32(i));
        call_into(&program, FunctionId(0), &mut arguments, &context, &mut results).unwrap();
        assert!(arguments.is_empty());
    }
    let results_are = |results: &[Value]| results.iter().map(Value::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(results_are(&results), "0 0 2 1 4 2");
    arguments.push(Value::I64(1));
    let misfit = call_into(&program, FunctionId(0), &mut arguments, &context, &mut results);
    assert_eq!(misfit.unwrap_err().message(), "argument #0 of 'main' has type i64, expected i32");
    assert_eq!((arguments.len(), results.len()), (1, 6));
}

/// A kernel gets the module that it is to compile, and the symbol in it.
#[test]
fn modules_to_compile_are_attributes() {
    let mut writer = Writer::new();
    writer.attr_unit();
    let module = writer.attr_compiled_module("kernels", "module text", 0);
    let unit = writer.attr_compilation_unit(module, ["inner", "main"]);
    let (int, unnamed) = (writer.ty("i32"), writer.string(""));
    let mut main = FunctionBuilder::new(writer.string("main"), FunctionKind::Async);
    let x = main.arg(int, unnamed, None);
    for attr in [unit, module] {
        let attrs = [attr];
        let code = writer.kernel_name("compile");
        let spec =
            KernelSpec { code, operands: &[x], results: &[int], attrs: &attrs, ..KernelSpec::default() };
        let result = main.kernel(&spec);
        main.result(result, unnamed);
    }
    writer.add(main);
    let program = load(&writer.finish().unwrap());
    check(&program, &["#1 kernels [\"inner\", \"main\"] module text", "#1 kernels [] module text"], "");
}

/// The flag "run on the first operand" has no effect on a kernel that reads its operands.
#[test]
fn strict_kernels_wait_for_all_operands() {
    let mut source = Source::new();
    let late = source.kernel("later", &[0]);
    let code = source.writer.kernel_name("add");
    let int = source.int;
    let any = |source: &mut Source, operands: &[u32]| {
        source.main.kernel(&KernelSpec {
            code,
            operands,
            results: &[int],
            any: true,
            ..KernelSpec::default()
        })
    };
    let two = any(&mut source, &[0, late]);
    let four = any(&mut source, &[two, two]);
    check(&source.load(&[two, four]), &["2", "4"], "");
}

/// The code of a kernel of a form runs if the form does not decide: it has all of its operands.
#[test]
fn a_kernel_of_a_form_reads_its_operands_in_order() {
    let loops = |registry: &mut Registry| {
        let signature = (*control::repeat("").signature).clone();
        let signature = Signature { operands: vec![&["i64"]], ..signature };
        registry.add(Kernel::new("double_below", signature, |frame| {
            let mut cursor = Cursor::default();
            let operands = [cursor.next_operand(frame), cursor.next_operand(frame)];
            match operands {
                [Some(&Value::I64(limit)), Some(&Value::I32(x))] if i64::from(x) >= limit => frame.pass(1),
                [Some(Value::I64(_)), Some(Value::I32(_))] => {
                    frame.repeat(Call { function: 0, first_operand: 1 }, 1)
                }
                _ => Outcome::Operand,
            }
        }));
        registry.add(kernel!("five", || 5i64));
    };
    let mut source = Source::new();
    let double = source.kernel("add", &[0, 0]);
    let step = source.next("outer", &[double]);
    let five = source.on_stream(0, "five", &[], &["i64"], &[]);
    let mut values = vec![0];
    for i in 0..5 {
        values.push(source.control("double_below", &[five, values[i]], 1, &[step]));
    }
    let registry = Registry::new().with(kernels).with(loops);
    let program = Program::from_bytes(&source.bytes(&values), &registry).unwrap();
    check(&program, &["1", "2", "4", "8", "8", "8"], "");
}

/// A kernel that stores more results than its use has changes nothing else, such as the chain of the frame.
#[test]
fn results_that_a_use_does_not_have_are_dropped() {
    let stores = |registry: &mut Registry| {
        let signature = Signature {
            operands: vec![&["i32"]],
            rest_results: Some(&[]),
            stores_all: true,
            ..Signature::default()
        };
        registry.add(Kernel::new("stores_two", signature, |frame| {
            frame.store(0, 7i32);
            assert!(frame.copy_operand(0, 1));
            Outcome::Done
        }));
    };
    let mut source = Source::new();
    let first = source.on_stream(0, "stores_two", &[(0, Required)], &["i32"], &[]);
    source.on_stream(0, "stores_two", &[(first, Required)], &[], &[]);
    let chain = source.kernel("chain", &[first]);
    let last = source.on_stream(0, "ordered", &[(first, Required), (chain, Order)], &["i32"], &[]);
    let registry = Registry::new().with(kernels).with(stores);
    let program = Program::from_bytes(&source.bytes(&[last]), &registry).unwrap();
    check(&program, &["7"], "7");
}
