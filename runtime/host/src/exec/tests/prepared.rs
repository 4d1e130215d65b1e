//! Functions that are prepared once and called many times.

use super::*;
use crate::exec::PreparedCall;
use crate::queue::from_spec;
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::queue::Task;

fn context_of(spec: &str, limits: Limits) -> ExecContext {
    ExecContext::new(Arc::new(Request { limits, ..Request::new(from_spec(spec).unwrap()) }))
}

#[test]
fn one_call_leaves_nothing_for_the_next() {
    let mut source = Source::new();
    let failed = source.kernel("fail", &[0]);
    let fails = source.next("b", &[failed]);
    let double = source.kernel("add", &[0, 0]);
    let doubles = source.next("outer", &[double]);
    let yes = source.kernel("is_one", &[0]);
    let chosen = source.control("if", &[yes, 0], 1, &[fails, doubles]);
    let program = source.load(&[chosen, 0]);
    let main = FunctionId(program.image().n_functions() - 1);
    for spec in ["s", "seeded:1", "mstd:2"] {
        let context = context_of(spec, Limits::default());
        let mut prepared = PreparedCall::new(&program, main, &context).unwrap();
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        for x in [2, 1, 3, 1, 1, 4] {
            let (promise, late) = AsyncRef::pending();
            context.queue().add_task(Task::new(move || promise.set(Value::I32(x))));
            for argument in [Value::I32(x), Value::Async(late), Value::Dead] {
                let is_dead = matches!(argument, Value::Dead);
                arguments.push(argument);
                prepared.call_into(&mut arguments, &mut results).unwrap();
                let found: Vec<String> = results.drain(..).map(|value| value.to_string()).collect();
                let want = match x {
                    _ if is_dead => ["<<dead>>".to_owned(), "<<dead>>".to_owned()],
                    1 => ["<<error: fail 1>>".to_owned(), "1".to_owned()],
                    x => [(2 * x).to_string(), x.to_string()],
                };
                assert_eq!(found, want, "{spec}");
                assert!(arguments.is_empty());
            }
        }
        arguments.push(Value::I64(1));
        let error = prepared.call_into(&mut arguments, &mut results).unwrap_err();
        assert_eq!(error.message(), "argument #0 of 'outer' has type i64, expected i32");
        assert_eq!((arguments.len(), results.len()), (1, 0));
    }
}

#[test]
fn a_deep_call_and_a_refused_one_are_calls_like_any_other() {
    let mut writer = Writer::new();
    let (int, name, unnamed) = (writer.ty("i32"), writer.string("main"), writer.string(""));
    let (bool, id, minus) = (writer.ty("i1"), writer.declare(), writer.kernel_name("minus_one"));
    let [stops, add, branch] = ["is_one", "add", "if"].map(|name| writer.kernel_name(name));
    // main(n) = n == 1 ? n : step(n); step(n) = main(n - 1)
    let mut base = FunctionBuilder::new(unnamed, FunctionKind::Async);
    let x = base.arg(int, unnamed, None);
    base.result(x, unnamed);
    let base = writer.add(base);
    let mut step = FunctionBuilder::new(unnamed, FunctionKind::Async);
    let x = step.arg(int, unnamed, None);
    let one = step.kernel(&KernelSpec { code: minus, results: &[int], ..KernelSpec::default() });
    let less =
        step.kernel(&KernelSpec { code: add, operands: &[x, one], results: &[int], ..KernelSpec::default() });
    let call = writer.kernel_name("call");
    let called = KernelSpec { code: call, operands: &[less], results: &[int], ..KernelSpec::default() };
    let called = step.kernel(&KernelSpec { functions: &[id], ..called });
    step.result(called, unnamed);
    let step = writer.add(step);
    let mut main = FunctionBuilder::new(name, FunctionKind::Async);
    let x = main.arg(int, unnamed, None);
    let is_one =
        main.kernel(&KernelSpec { code: stops, operands: &[x], results: &[bool], ..KernelSpec::default() });
    let result = main.kernel(&KernelSpec {
        code: branch,
        operands: &[is_one, x],
        results: &[int],
        functions: &[base, step],
        ..KernelSpec::default()
    });
    main.result(result, unnamed);
    writer.define(id, main);
    let program = Program::from_bytes(&writer.finish().unwrap(), &Registry::new().with(kernels)).unwrap();
    let context = context_of("s", Limits { depth: 150_000, ..Limits::default() });
    let mut prepared = PreparedCall::new(&program, id, &context).unwrap();
    let (mut arguments, mut results) = (Vec::new(), Vec::new());
    for n in [3, 70_000, 1, 100_000, 2, 70_000] {
        arguments.push(Value::I32(n));
        prepared.call_into(&mut arguments, &mut results).unwrap();
        match &results[..] {
            [Value::Error(error)] if n == 100_000 => {
                assert!(error.message().starts_with("calls nest too deeply"), "{error}");
            }
            results => assert_eq!(results[0].to_string(), "1"),
        }
        results.clear();
    }
    let none = Limits { depth: 0, ..Limits::default() };
    // Sequentially, and in a general frame.
    for spec in ["s", "seeded:1"] {
        let refusing = context_of(spec, none);
        let mut prepared = PreparedCall::new(&program, id, &refusing).unwrap();
        for _ in 0..2 {
            arguments.push(Value::I32(1));
            prepared.call_into(&mut arguments, &mut results).unwrap();
            assert!(results[0].error().is_some() && arguments.is_empty(), "{spec}");
            results.clear();
        }
    }
}
