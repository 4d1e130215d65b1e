//! `tfrt_test`, `vt` and `tfrt_tutorial`: kernels that exist to be tested with. As in TFRT, few have a custom
//! form.
//!
//! TFRT declares ops for some of these kernels only. The attributes of the others have no declared names:
//! they are [unnamed](OpDef::unnamed), and programs may use any names.

use super::short::*;
use super::tfrt_control::{many, regions};
use super::tfrt_test_tensors;
use super::tfrt_verify::{benchmark_call, verify_all, verify_benchmark, verify_cost};
use super::{
    Access, Arity, AttrConstraint as A, DefaultValue, EffectResource, OpDef, OperandMode, Registry,
    TypeConstraint as T,
};
use crate::ir::KnownType as K;

const STRING: T = T::Is(K::String);
const ATOMIC: T = T::Opaque("!test.atomic.i32");
const VT: T = T::Opaque("!vt.value");
const COORDINATE: T = T::Opaque("!my.coordinate");
const TENSOR_TYPE: T = T::Opaque("!tfrt.tensor_type");
const TEST_RESOURCE: T = T::Opaque("!tfrt.test.resource");

/// An op with operands and results of these types.
fn test(name: &str, summary: &'static str, operands: &[T], results: &[T]) -> OpDef {
    const OPERANDS: [&str; 3] = ["a", "b", "c"];
    const RESULTS: [&str; 4] = ["x", "y", "z", "w"];
    let def = OpDef::new(name, summary).kernel();
    let def = OPERANDS.iter().zip(operands).fold(def, |def, (name, ty)| def.operand(name, *ty));
    RESULTS.iter().zip(results).fold(def, |def, (name, ty)| def.result(name, *ty))
}

/// An op with any operands and as many results of the same types.
fn passing(name: &str, summary: &'static str) -> OpDef {
    many(OpDef::new(name, summary), "operands")
        .result_with("results", T::Any, Arity::Variadic)
        .pure()
        .kernel()
        .asynchronous()
}

fn prints(def: OpDef) -> OpDef {
    def.effect(Access::Write, EffectResource::Output)
}

pub(super) fn ops(r: &mut Registry) {
    numbers(r);
    strings(r);
    failures(r);
    asynchronous(r);
    state(r);
    functions(r);
    inspections(r);
    values(r);
    records(r);
    tfrt_test_tensors::ops(r);
    super::corert::test_ops(r);
}

/// Ops that read training data: records and the images in them.
fn records(r: &mut Registry) {
    const I64: T = T::Is(K::I64);
    const EXAMPLE: T = T::Is(K::ProtoExample);
    let op = |name, summary, operands: &[T], result| {
        test(name, summary, operands, &[result]).pure().large().format("operands attr-dict")
    };
    r.add(op("tfrt_test.decode_jpeg", "the picture in the bytes of a JPEG", &[STRING], TENSOR));
    r.add(op(
        "tfrt_test.resize_bilinear",
        "a picture in another height and width, as f32",
        &[TENSOR, I64, I64],
        TENSOR,
    ));
    r.add(op("tfrt_test.parse_example_from_bytes", "a tf.Example out of its bytes", &[STRING], EXAMPLE));
    r.add(op(
        "tfrt_test.get_bytes_field_from_example",
        "the value of a feature that is bytes",
        &[EXAMPLE, STRING],
        STRING,
    ));
    r.add(op(
        "tfrt_test.get_int64_field_from_example",
        "the value of a feature that is a number",
        &[EXAMPLE, STRING],
        I64,
    ));
}

fn numbers(r: &mut Registry) {
    let terms = |name, summary| {
        OpDef::new(name, summary).operand_with("terms", I32, Arity::Variadic, OperandMode::Required)
    };
    r.add(terms("tfrt_test.sum", "the sum of any number of integers").result("sum", I32).pure().kernel());
    for k in [K::I32, K::I64] {
        let (t, ty) = (k.name(), T::Is(k));
        r.add(
            test(&format!("tfrt_test.count3.{t}"), "the next three numbers", &[ty], &[ty; 3])
                .pure()
                .format("operands attr-dict"),
        );
        r.add(
            test(&format!("tfrt_test.copy.with_delay.{t}"), "its operand, after 1 to 10 ms", &[ty], &[ty])
                .pure()
                .large(),
        );
        r.add(
            test(
                &format!("tfrt_test.async_copy.with_delay.{t}"),
                "its operand, after 1 to 10 ms",
                &[ty],
                &[ty],
            )
            .pure()
            .asynchronous(),
        );
    }
    r.add(
        OpDef::new("tfrt_test.select.i32", "the second operand if the first is true, else the third")
            .operand("condition", I1)
            .operand_with("if_true", I32, Arity::One, OperandMode::Lenient)
            .operand_with("if_false", I32, Arity::One, OperandMode::Lenient)
            .result("result", I32)
            .pure()
            .kernel(),
    );
    r.add(prints(
        OpDef::new("tfrt_test.test_cost", "prints `id: N`; the attribute `_tfrt_cost` is its cost")
            .operand_with("args", T::Any, Arity::Variadic, OperandMode::Required)
            .attr("id", A::Int(K::I64))
            .attr("_tfrt_cost", A::Int(K::I64))
            .result("result", I32)
            .verifier(verify_cost)
            .format("$args attr-dict `:` type($args)")
            .kernel(),
    ));
    r.add(prints(test("tfrt_test.print_bool", "prints a truth value", &[CHAIN, I1], &[CHAIN])));
    r.add(
        test(
            "tfrt_test.flat",
            "a string, two integers and a float in nested lists",
            &[],
            &[STRING, I32, I32, T::Is(K::F32)],
        )
        .unnamed(1, 0)
        .pure(),
    );
}

fn strings(r: &mut Registry) {
    for name in ["tfrt_test.get_string", "tfrt_test.get_string_sync"] {
        r.add(
            OpDef::new(name, "a constant string")
                .attr("value", A::Str)
                .result("string", STRING)
                .pure()
                .format("attr-dict")
                .kernel(),
        );
    }
    r.add(prints(test("tfrt_test.print_string", "prints `string = ...`", &[STRING], &[CHAIN])));
    r.add(test("tfrt_test.append_string", "both, one after the other", &[STRING; 2], &[STRING]).pure());
    r.add(test("tfrt_test.string_equal", "true if both are equal", &[STRING; 2], &[I1]).pure());
    r.add(
        test(
            "tfrt_test.format_string",
            "the string, with the number where it has a `%d`",
            &[STRING, I32],
            &[STRING],
        )
        .pure(),
    );
    r.add(test("tfrt_test.read_string_from_file", "what is in a file", &[STRING], &[STRING]).asynchronous());
    r.add(prints(test("tfrt_test.print_hello", "prints `hello host executor!`", &[], &[CHAIN])));
    r.add(prints(test("tfrt_test.logging", "writes three lines to standard error", &[STRING], &[CHAIN])));
    r.add(test(
        "tfrt_test.use_sample_shared_context",
        "the name of something that all kernels share",
        &[CHAIN],
        &[STRING, CHAIN],
    ));
}

fn failures(r: &mut Registry) {
    r.add(test("tfrt_test.fail", "the error `something bad happened`", &[], &[I32]).pure());
    r.add(test("tfrt_test.fail_s", "the same", &[], &[I32]).pure());
    r.add(test("tfrt_test.error_s", "the same for any number of results", &[], &[]).result_with(
        "results",
        T::Any,
        Arity::Variadic,
    ));
    r.add(test("tfrt_test.error_chain", "the error `error chain`", &[CHAIN], &[CHAIN]));
    r.add(
        test("tfrt_test.partial_fail", "1, and the error `something bad happened`", &[], &[I32, I32]).pure(),
    );
    r.add(
        test("tfrt_test.report_error_async", "an error, in a task of its own", &[], &[I32])
            .pure()
            .asynchronous(),
    );
    for name in ["tfrt_test.report_error_concrete_async", "tfrt_test.report_error_indirect_async"] {
        r.add(
            test(name, "0 if the operand is 0, else an error, in a task of its own", &[I32], &[I32])
                .pure()
                .asynchronous(),
        );
    }
    r.add(
        test("tfrt_test.cancel", "cancels the execution; gives 0 and the chain", &[CHAIN], &[I32, CHAIN])
            .effect(Access::Write, EffectResource::ExecutionContext),
    );
}

fn asynchronous(r: &mut Registry) {
    r.add(
        test("tfrt_test.async_add.i32", "the sum, computed by a task of its own", &[I32, I32], &[I32])
            .pure()
            .asynchronous(),
    );
    for (k, ty) in [("i1", I1), ("i32", I32)] {
        r.add(
            test(
                &format!("tfrt_test.async_constant.{k}"),
                "a constant, given by a task of its own",
                &[],
                &[ty],
            )
            .unnamed(1, 0)
            .pure()
            .asynchronous(),
        );
    }
    for name in ["tfrt_test.async_copy.i32", "tfrt_test.async_copy_2.i32"] {
        r.add(test(name, "its operand, copied by a task of its own", &[I32], &[I32]).pure().asynchronous());
    }
    r.add(
        OpDef::new("tfrt_test.as_chain", "a chain that is ready when all operands are final; never an error")
            .operand_with("operands", T::Any, Arity::Variadic, OperandMode::Lenient)
            .result("chain", CHAIN)
            .kernel()
            .asynchronous(),
    );
    r.add(prints(test("tfrt_test.usleep", "sleeps so many microseconds", &[I32], &[]).asynchronous()));
    r.add(prints(
        test("tfrt_test.blocking.usleep", "sleeps so many microseconds", &[I32], &[CHAIN]).asynchronous(),
    ));
    r.add(test("tfrt_test.get_thread_id", "a number of the thread that runs it", &[CHAIN], &[I32]));
}

fn state(r: &mut Registry) {
    r.add(test("tfrt_test.atomic.create.i32", "a counter that is 0", &[], &[ATOMIC]));
    r.add(test("tfrt_test.atomic.inc.i32", "adds 1", &[ATOMIC], &[CHAIN]));
    r.add(test("tfrt_test.atomic.add.i32", "adds a number", &[ATOMIC, I32], &[CHAIN]));
    r.add(test("tfrt_test.atomic.get.i32", "what is counted", &[ATOMIC], &[I32, CHAIN]));
    r.add(prints(test(
        "tfrt_test.allocate_resource",
        "something that prints when it is made and dropped",
        &[CHAIN],
        &[TEST_RESOURCE, CHAIN],
    )));
    r.add(prints(test(
        "tfrt_test.deallocate_resource",
        "takes it, and prints that it did",
        &[TEST_RESOURCE, CHAIN],
        &[CHAIN],
    )));
    r.add(test("tfrt_test.memory_leak_one_int32", "takes memory and never gives it back", &[], &[]));
    r.add(
        test("tfrt_test.unique_loc", "an error if two names are used at one location", &[], &[CHAIN])
            .unnamed(1, 0),
    );
}

fn functions(r: &mut Registry) {
    let call = |name: &str, results: &[T]| {
        test(name, "calls a function", &[I32, I32], results).unnamed(0, 1).asynchronous()
    };
    for name in ["invoke_sync_function", "sync_function_runner"] {
        r.add(call(&format!("tfrt_test.{name}.i32_i32.i32"), &[I32]));
        r.add(call(&format!("tfrt_test.{name}.i32_i32.i32_i32"), &[I32, I32]));
    }
    r.add(regions(
        many(OpDef::new("tfrt_test.do.async", "does something in a task of its own"), "args")
            .result_with("results", T::Any, Arity::Variadic)
            .region("body", false)
            .verifier(verify_all)
            .format(
                "($args^)? attr-dict-with-keyword `:` functional-type($args, results) shadow($body, $args)",
            )
            .kernel()
            .asynchronous(),
    ));
    let benchmark = |name: &str, summary| {
        many(OpDef::new(name, summary), "args")
            .attr("duration_secs", A::Int(K::I32))
            .attr("max_count", A::Int(K::I32))
            .default_attr("num_warmup_runs", A::Int(K::I32), DefaultValue::Int(1))
            .effect(Access::Write, EffectResource::Output)
            .kernel()
            .asynchronous()
    };
    r.add(regions(
        benchmark("tfrt_test.benchmark", "does something many times and prints how long it took")
            .attr("name", A::Str)
            .result("done", CHAIN)
            .region("body", false)
            .verifier(verify_benchmark)
            .format(
                "$name `(` typed($args) `)` named-attrs($duration_secs, $max_count, $num_warmup_runs) \
                 shadow($body, $args)",
            ),
    ));
    r.add(
        benchmark("tfrt_test.sync_benchmark", "calls a function many times and prints how long it took")
            .attr("target_fn", A::FlatSymbol)
            .callee_type(benchmark_call)
            .format(
                "$target_fn `(` typed($args) `)` \
                 named-attrs($duration_secs, $max_count, $num_warmup_runs)",
            ),
    );
}

/// Ops that inspect values, attributes and the request.
fn inspections(r: &mut Registry) {
    r.add(
        many(
            OpDef::new("tfrt_test.get_uniqueness", "for each operand whether nobody else uses it"),
            "operands",
        )
        .result_with("results", I1, Arity::Variadic)
        .kernel()
        .asynchronous(),
    );
    r.add(prints(test(
        "tfrt_test.print_frame",
        "prints an integer, the step, and the frame: the calls that lead to it, with their iterations",
        &[I32, CHAIN],
        &[CHAIN],
    )));
    r.add(test("tfrt_test.async_value_get", "a value seen as several types", &[], &[STRING]));
    r.add(test("tfrt_test.async_value_ref", "a value seen in several states", &[], &[STRING]));
    for name in ["tfrt_test.const_dense_attr", "tfrt_test.sync.const_dense_attr"] {
        r.add(test(name, "a constant tensor", &[], &[TENSOR]).unnamed(1, 0).pure());
    }
    for name in ["tfrt_test.sync_sum", "tfrt_test.sync_sum2"] {
        r.add(
            OpDef::new(name, "the sum of one or more integers")
                .operand("a", I32)
                .operand_with("others", I32, Arity::Variadic, OperandMode::Required)
                .result("sum", I32)
                .pure()
                .kernel(),
        );
    }
    r.add(
        OpDef::new("tfrt_test.sync_sum_attributes", "the sum of all of its attributes")
            .result("sum", I32)
            .pure()
            .kernel(),
    );
    for (k, ty) in [("i32", I32), ("i64", I64)] {
        let name = format!("tfrt_test.sum_array_attr.{k}");
        r.add(test(&name, "the sum of a number, as a string, and an array", &[], &[ty]).unnamed(2, 0));
    }
    r.add(test("tfrt_test.get_request_context_data.i32", "a number of the request", &[], &[I32]));
    r.add(prints(test("tfrt_test.print_debug_info", "prints the name of its location", &[], &[CHAIN])));
    r.add(test("tfrt_test.quiesce", "waits until the queue has nothing to do", &[CHAIN], &[CHAIN]));
    r.add(
        test("tfrt_test.get_static_tensor_type", "the type of tensors of this name", &[], &[TENSOR_TYPE])
            .unnamed(1, 0)
            .pure(),
    );
    r.add(prints(test("tfrt_test.print_tensor_type", "prints its name", &[TENSOR_TYPE], &[CHAIN])));
}

fn values(r: &mut Registry) {
    r.add(passing("tfrt_test.multi_arg_result", "its operands"));
    r.add(passing("tfrt_test.make_indirect", "its operands"));
    let identity = OpDef::new("tfrt_test.identity", "its further operands, when the chain is ready")
        .operand("chain", CHAIN);
    r.add(
        many(identity, "operands")
            .result_with("results", T::Any, Arity::Variadic)
            .pure()
            .kernel()
            .asynchronous(),
    );
    r.add(prints(
        test("vt.constant", "a value that prints when it is made, copied and dropped", &[], &[VT])
            .unnamed(1, 0),
    ));
    r.add(prints(test("vt.add", "the sum", &[VT, VT], &[VT])));
    r.add(prints(test("vt.print", "prints it", &[VT], &[CHAIN])));
    r.add(prints(test("tfrt_test.share_to_two", "two copies", &[VT], &[VT, VT])));
    r.add(test("tfrt_tutorial.create_coordinate", "a point", &[I32, I32], &[COORDINATE]).pure());
    r.add(prints(test("tfrt_tutorial.print_coordinate", "prints it", &[COORDINATE], &[CHAIN])));
}
