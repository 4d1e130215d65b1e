//! The core runtime from Rust: operators, handles, handlers, errors, effects.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use befrost_eager::{
    AttrValue, ChainHandle, Compile, CompiledFunction, CoreRuntime, CpuOpHandler, Dispatch, Invocation,
    LoggingOpHandler, Mode, NullOpHandler, OpAttrs, OpHandler, OpKey, Results, TensorHandle,
};
use befrost_kernel_api::context::Output;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::value::State;
use befrost_kernel_api::{Error, ExecContext, Request, Value};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, HostTensor};
use smallvec::smallvec;

/// The text that operators print.
#[derive(Default)]
struct Printed(Mutex<String>);

impl Output for Printed {
    fn write(&self, text: &str) -> std::io::Result<()> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
}

fn core_on(queue: &str) -> (CoreRuntime, Arc<Printed>) {
    let printed = Arc::new(Printed::default());
    let queue = befrost_host::queue::from_spec(queue).unwrap();
    let request = Request { output: printed.clone(), ..Request::new(queue) };
    (CoreRuntime::new(ExecContext::new(Arc::new(request))), printed)
}

fn core() -> CoreRuntime {
    core_on("s").0
}

fn floats(values: &[f32]) -> TensorHandle {
    TensorHandle::from(HostTensor::from_vec([values.len()], values.to_vec()).unwrap())
}

fn read(_: &CoreRuntime, handle: &TensorHandle) -> Vec<f32> {
    handle.wait().unwrap().to_vec().unwrap()
}

#[test]
fn operators_are_found_by_name_and_kept() {
    let core = core();
    let y = core.execute("AddV2", &[floats(&[1.0]), floats(&[2.0])], OpAttrs::new()).unwrap();
    assert_eq!(read(&core, &y[0]), [3.0]);
    let y = core.execute("tf.AddV2", &[floats(&[1.0]), floats(&[2.0])], OpAttrs::new()).unwrap();
    assert_eq!((read(&core, &y[0]), core.cache_stats().entries), (vec![3.0], 1));
    let attrs = || OpAttrs::new().set("transpose_b", true);
    let x = TensorHandle::from(HostTensor::from_vec([1, 2], vec![1.0f32, 2.0]).unwrap());
    let y = core.execute("MatMul", &[x.clone(), x], attrs()).unwrap();
    assert_eq!((read(&core, &y[0]), core.cache_stats().entries), (vec![5.0], 2));
}

#[test]
fn an_op_takes_operands_of_other_types_after_another() {
    let core = core();
    let op = core.op("Neg", OpAttrs::new()).unwrap();
    assert_eq!(read(&core, &op.call(&[floats(&[1.0])]).unwrap()[0]), [-1.0]);
    let ints = TensorHandle::from(HostTensor::from_vec([1], vec![7i32]).unwrap());
    let y = op.call(&[ints]).unwrap();
    assert_eq!(y[0].wait().unwrap().to_vec::<i32>().unwrap(), [-7]);
    assert_eq!(read(&core, &op.call(&[floats(&[2.0])]).unwrap()[0]), [-2.0]);
}

#[test]
fn refusals_come_at_once_and_say_the_shapes() {
    let core = core();
    let check = |result: Result<Results, Error>, code: ErrorCode, words: &[&str]| {
        let error = result.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        words.iter().for_each(|word| assert!(error.message().contains(word), "{error}: no {word}"));
    };
    let no = OpAttrs::new;
    check(core.execute("tf.Nothing", &[], no()), ErrorCode::NotFound, &["tf.Nothing", "NullOpHandler"]);
    let wrong = core.execute("AddV2", &[floats(&[1.0; 2]), floats(&[1.0; 3])], no());
    check(wrong, ErrorCode::InvalidArgument, &["[2]", "[3]"]);
    check(core.execute("AddV2", &[floats(&[1.0])], no()), ErrorCode::InvalidArgument, &[]);
    let attrs = no().set("DstT", 1i64);
    check(core.execute("Cast", &[floats(&[1.0])], attrs), ErrorCode::InvalidArgument, &["DstT"]);
}

#[test]
fn mistaken_names_are_answered_with_the_nearest_ones() {
    let core = core();
    let refused = |name: &str, attrs: OpAttrs, want: &str| {
        let error = core.op(name, attrs).unwrap_err();
        assert_eq!((error.code(), error.message()), (ErrorCode::NotFound, want));
    };
    let none = "tf.AddV3 was not supported by NullOpHandler; did you mean 'tf.AddV2'?";
    refused("AddV3", OpAttrs::new(), none);
    refused("tf.invalidop", OpAttrs::new(), "tf.invalidop was not supported by NullOpHandler");
    // There is one of this name, but no handler for it.
    refused("If", OpAttrs::new(), "tf.If was not supported by NullOpHandler");
    let attrs = OpAttrs::new().set("keepdims", true);
    let none = "tf.Sum has no attribute 'keepdims'; it has: T, Tidx, keep_dims; did you mean 'keep_dims'?";
    refused("Sum", attrs, none);
    core.op("Sum", OpAttrs::new().set("_class", "loc:@x")).unwrap();
}

/// An operator without results has its error in the call, or in the next wait.
#[test]
fn errors_of_operators_without_results_are_not_lost() {
    let no = TensorHandle::from(HostTensor::from_vec([], vec![befrost_tensor::I1::FALSE]).unwrap());
    let types = AttrValue::List([Type::Dense(DType::F32).into()].into());
    let attrs = OpAttrs::new().set("T", types);
    for queue in ["s", "mstd:2"] {
        let core = core_on(queue).0;
        let assert = core.op("Assert", &attrs).unwrap();
        let error = assert.call(&[no.clone(), floats(&[1.5])]).unwrap_err();
        assert!(error.message().contains("1.5"), "{error}");
        let skipped = TensorHandle::failed(Error::new(ErrorCode::Unavailable, "gone", Vec::new()));
        assert_eq!(assert.call(&[no.clone(), skipped]).unwrap_err().message(), "gone");
        core.wait().unwrap();

        let (promise, later) = TensorHandle::pending(None);
        assert!(assert.call(&[later, floats(&[2.5])]).unwrap().is_empty());
        promise.set(no.clone().into_value());
        assert!(core.wait().unwrap_err().message().contains("2.5"));
        core.wait().unwrap();

        let queued = core.with_mode(Mode::Queued);
        let assert = queued.op("Assert", &attrs).unwrap();
        assert!(assert.call(&[no.clone(), floats(&[3.5])]).unwrap().is_empty());
        assert!(queued.wait().unwrap_err().message().contains("3.5"));
        let (results, done) = assert.begin_in(queued.context(), &[no.clone(), floats(&[4.5])]).unwrap();
        assert!(results.is_empty() && done.wait().unwrap_err().message().contains("4.5"));
        queued.wait().unwrap();
    }
}

#[test]
fn short_operators_take_dense_tensors_without_handles() {
    let (core, _) = core_on("s");
    let x = HostTensor::from_vec([2], vec![1.0f32, 2.0]).unwrap();
    let y = HostTensor::from_vec([3], vec![1.0f32; 3]).unwrap();
    let of = |core: &CoreRuntime, name: &str| core.op(name, OpAttrs::new()).unwrap();
    let add = of(&core, "AddV2");
    assert_eq!(add.call_dense(&[&x, &x]).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    // All that needs more: a refusal, an operator of another kind, a task, a handler that sees each call.
    assert!(add.call_dense(&[&x, &y]).is_none() && add.call_dense(&[&x]).is_none());
    assert!(of(&core, "Shape").call_dense(&[&x]).is_none());
    assert!(of(&core.with_mode(Mode::Queued), "AddV2").call_dense(&[&x, &x]).is_none());
    core.register("logging", Arc::new(LoggingOpHandler::new(core.handler("cpu").unwrap(), false).unwrap()));
    assert!(of(&core.with_handler("logging").unwrap(), "AddV2").call_dense(&[&x, &x]).is_none());
}

#[test]
fn an_error_of_an_operand_is_one_of_the_results() {
    let core = core();
    let failed = TensorHandle::failed(Error::new(ErrorCode::Unavailable, "gone", Vec::new()));
    let y = core.execute("Relu", &[failed], OpAttrs::new()).unwrap();
    assert_eq!(y[0].wait().unwrap_err().message(), "gone");
    assert_eq!(y[0].to_string(), "Error TensorHandle: 'gone'");
}

#[test]
fn operands_may_come_later() {
    for queue in ["s", "mstd:2"] {
        let (core, _) = core_on(queue);
        let (promise, later) = TensorHandle::pending(floats(&[1.0]).metadata());
        let y = core.execute("Neg", &[later], OpAttrs::new()).unwrap().remove(0);
        assert_eq!((y.state(), y.shape().unwrap().dims()), (State::Unavailable, &[1usize][..]));
        assert_eq!(y.to_string(), "future TensorHandle with metadata f32 shape = [1]");
        let z = core.execute("AddV2", &[y.clone(), y], OpAttrs::new()).unwrap().remove(0);
        promise.set(floats(&[4.0]).into_value());
        assert_eq!(read(&core, &z), [-8.0]);
    }
}

#[test]
fn broken_promises_are_errors() {
    let core = core();
    let (promise, later) = TensorHandle::pending(None);
    let y = core.execute("Neg", &[later], OpAttrs::new()).unwrap().remove(0);
    assert_eq!((y.shape(), y.dtype()), (None, None));
    drop(promise);
    assert_eq!(y.wait().unwrap_err().code(), ErrorCode::Internal);
}

#[test]
fn a_tensor_that_is_given_up_is_overwritten() {
    let core = core();
    let relu = core.op("Relu", OpAttrs::new()).unwrap();
    let x = floats(&[-1.0; 64]);
    let address = |handle: &TensorHandle| {
        let tensor = handle.wait().unwrap();
        tensor.read::<f32>().unwrap().as_ptr() as usize
    };
    let before = address(&x);
    let kept = relu.call(std::slice::from_ref(&x)).unwrap();
    assert_ne!(address(&kept[0]), before);
    let y = relu.call_owned(smallvec![x]).unwrap();
    assert_eq!(address(&y[0]), before);
}

#[test]
fn effects_are_in_the_order_of_the_calls() {
    let (core, printed) = core_on("mstd:2");
    let print = core.op("tfrt_test.print", OpAttrs::new()).unwrap();
    let (promise, later) = TensorHandle::pending(None);
    print.call(&[later]).unwrap();
    for i in 0..3 {
        print.call(&[TensorHandle::from(HostTensor::from_vec([1], vec![i]).unwrap())]).unwrap();
    }
    assert_eq!(*printed.0.lock().unwrap(), "");
    promise.set(TensorHandle::from(HostTensor::from_vec([1], vec![9i32]).unwrap()).into_value());
    let text = printed.0.lock().unwrap().clone();
    let numbers: Vec<&str> = text.lines().filter_map(|line| line.split("values = ").nth(1)).collect();
    assert_eq!(numbers, ["[9]", "[0]", "[1]", "[2]"]);
}

/// The variable `v`, a number.
fn variable(core: &CoreRuntime) -> TensorHandle {
    let attrs = OpAttrs::new()
        .set("dtype", Type::Dense(DType::F32))
        .set("shape", AttrValue::Shape(PartialShape::new(Vec::new())))
        .set("shared_name", "v");
    core.execute("VarHandleOp", &[], attrs).unwrap().remove(0)
}

fn number(x: f32) -> TensorHandle {
    TensorHandle::from(HostTensor::from_vec([], vec![x]).unwrap())
}

#[test]
fn reads_of_a_state_keep_their_place_among_its_changes() {
    for queue in ["s", "mstd:2"] {
        let (core, _) = core_on(queue);
        let v = variable(&core);
        let assign = core.op("AssignVariableOp", OpAttrs::new()).unwrap();
        let get = core.op("ReadVariableOp", OpAttrs::new().set("dtype", Type::Dense(DType::F32))).unwrap();
        let get = || get.call(std::slice::from_ref(&v)).unwrap().remove(0);
        assign.call(&[v.clone(), number(1.0)]).unwrap();
        // An assignment of what is not there yet, a read, an assignment, a read.
        let (promise, later) = TensorHandle::pending(number(0.0).metadata());
        assign.call(&[v.clone(), later]).unwrap();
        let second = get();
        assign.call(&[v.clone(), number(3.0)]).unwrap();
        let third = get();
        assert_eq!((second.state(), third.state()), (State::Unavailable, State::Unavailable), "{queue}");
        promise.set(number(2.0).into_value());
        assert_eq!((read(&core, &second), read(&core, &third)), (vec![2.0], vec![3.0]), "{queue}");
        // An assignment waits for the reads before it.
        let queued = core.with_mode(Mode::Queued);
        let attrs = || OpAttrs::new().set("dtype", Type::Dense(DType::F32));
        let assign = queued.op("AssignVariableOp", OpAttrs::new()).unwrap();
        let get = queued.op("ReadVariableOp", attrs()).unwrap();
        let before = get.call(std::slice::from_ref(&v)).unwrap().remove(0);
        assign.call(&[v.clone(), number(4.0)]).unwrap();
        let after = get.call(std::slice::from_ref(&v)).unwrap().remove(0);
        assert_eq!((read(&core, &before), read(&core, &after)), (vec![3.0], vec![4.0]), "{queue}");
        // A chain of the caller's orders reads, too.
        let mut chain = ChainHandle::new();
        let (promise, later) = TensorHandle::pending(None);
        assign.call_after(&mut chain, smallvec![v.clone(), later]).unwrap();
        let last = get.call_after(&mut chain, smallvec![v.clone()]).unwrap().remove(0);
        promise.set(number(5.0).into_value());
        assert_eq!(read(&core, &last), [5.0], "{queue}");
        assert!(chain.wait().is_ok());
    }
}

#[test]
fn results_of_any_kind_are_waited_for() {
    for queue in ["s", "mstd:2"] {
        let core = core_on(queue).0.with_mode(Mode::Queued);
        let text = core.execute("AsString", &[number(2.0)], OpAttrs::new()).unwrap().remove(0);
        assert_eq!(text.state(), State::Unavailable, "{queue}");
        assert_eq!(
            TensorHandle::new(text.wait_value().unwrap()).to_string(),
            "StringHostTensor shape = [], values = [\"2.000000\"]"
        );
        let v = variable(&core);
        assert!(v.wait_value().unwrap().is_concrete() && v.wait().is_err(), "{queue}");
        let gone = core.execute("ReadVariableOp", &[v], OpAttrs::new()).unwrap().remove(0);
        assert_eq!(gone.wait_value().unwrap_err().code(), gone.wait().unwrap_err().code(), "{queue}");
    }
}

#[test]
fn a_cancelled_call_gives_the_cancellation() {
    let core = core();
    let (promise, later) = TensorHandle::pending(None);
    let y = core.execute("Neg", &[later], OpAttrs::new()).unwrap().remove(0);
    core.context().request.cancellation.cancel();
    promise.set(floats(&[1.0]).into_value());
    assert_eq!(y.wait().unwrap_err().code(), ErrorCode::Cancelled);
}

/// A handler that counts the operators that it is asked for, and delegates to the next one.
struct Counting {
    next: Arc<dyn OpHandler>,
    made: AtomicUsize,
}

impl OpHandler for Counting {
    fn name(&self) -> &str {
        "Counting"
    }
    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        Some(&self.next)
    }
    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        self.made.fetch_add(1, Ordering::Relaxed);
        match key.name {
            "my.seven" => Ok(Arc::new(Seven)),
            _ => self.next.make(key),
        }
    }
}

/// An operator without a kernel.
struct Seven;

impl Dispatch for Seven {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        call.results = smallvec![floats(&[7.0])];
        Ok(())
    }
}

#[test]
fn handlers_are_a_chain() {
    let core = core();
    let null: Arc<dyn OpHandler> = Arc::new(NullOpHandler);
    let cpu: Arc<dyn OpHandler> = Arc::new(CpuOpHandler::new(null));
    let counting = Arc::new(Counting { next: cpu, made: AtomicUsize::new(0) });
    core.register("counting", Arc::new(LoggingOpHandler::new(counting.clone(), false).unwrap()));
    assert!(core.with_handler("nobody").is_err());
    let own = core.with_handler("counting").unwrap();
    let seven = own.execute("my.seven", &[], OpAttrs::new()).unwrap();
    for _ in 0..3 {
        let y = own.execute("Neg", &seven, OpAttrs::new()).unwrap();
        assert_eq!(read(&own, &y[0]), [-7.0]);
    }
    assert_eq!(counting.made.load(Ordering::Relaxed), 2);
    assert!(core.execute("my.seven", &[], OpAttrs::new()).is_err());
    assert_eq!(
        core.handler("counting").map(|handler| handler.name().to_owned()).as_deref(),
        Some("LoggingOpHandler")
    );
}

#[test]
fn threads_share_a_core() {
    let (core, _) = core_on("mstd:2");
    let add = core.op("AddV2", OpAttrs::new()).unwrap();
    std::thread::scope(|scope| {
        for t in 0..4 {
            let (core, add) = (&core, &add);
            scope.spawn(move || {
                let mut x = floats(&[0.0]);
                for _ in 0..100 {
                    x = add.call(&[x, floats(&[t as f32])]).unwrap().remove(0);
                }
                assert_eq!(read(core, &x), [100.0 * t as f32]);
            });
        }
    });
}

#[test]
fn the_value_of_a_handle_is_a_tensor_or_an_error() {
    let handle = TensorHandle::new(Value::I32(3));
    assert!(handle.metadata().is_none() && handle.device().name().to_string().ends_with("CPU:0"));
    assert!(handle.wait().is_err());
}

#[test]
fn operators_run_where_the_mode_says() {
    let (core, _) = core_on("s");
    let state = |mode, n: usize| {
        let core = core.with_mode(mode);
        let x = TensorHandle::from(HostTensor::from_vec([n], vec![1.0f32; n]).unwrap());
        let y = core.execute("Exp", &[x], OpAttrs::new()).unwrap().remove(0);
        let state = y.state();
        assert_eq!(y.wait().unwrap().num_elements(), n);
        state
    };
    assert_eq!(state(Mode::Inline, 1 << 20), State::Concrete);
    assert_eq!(state(Mode::Queued, 1), State::Unavailable);
    assert_eq!(state(Mode::Auto, 1), State::Concrete);
    assert_eq!(state(Mode::Auto, 1 << 20), State::Unavailable);
}

#[test]
fn dispatches_are_recorded() {
    use befrost_eager::RecordingOpHandler;
    let core = core();
    let cpu = core.handler("cpu").unwrap();
    let recording = Arc::new(RecordingOpHandler::new(cpu));
    core.register("recording", recording.clone());
    let own = core.with_handler("recording").unwrap();
    let y = own.execute("Neg", &[floats(&[1.0])], OpAttrs::new()).unwrap();
    let _ = own.execute("Exp", &y, OpAttrs::new()).unwrap();
    assert!(own.execute("AddV2", &[], OpAttrs::new()).is_err());
    let tape = recording.take();
    assert_eq!(tape.iter().map(|op| &*op.name).collect::<Vec<_>>(), ["tf.Neg", "tf.Exp"]);
    assert_eq!(read(&own, &tape[1].args[0]), [-1.0]);
    assert_eq!((tape[1].results.len(), recording.take().len()), (1, 0));
}

#[test]
fn what_comes_later_is_recorded_and_what_is_refused_is_not() {
    use befrost_eager::RecordingOpHandler;
    for mode in [Mode::Auto, Mode::Queued] {
        let core = core_on("mstd:2").0;
        let recording = Arc::new(RecordingOpHandler::new(core.handler("cpu").unwrap()));
        core.register("recording", recording.clone());
        let own = core.with_handler("recording").unwrap().with_mode(mode);
        let (promise, later) = TensorHandle::pending(None);
        let y = own.execute("Neg", &[later], OpAttrs::new()).unwrap();
        let wrong = own.execute("AddV2", &[floats(&[1.0; 2]), floats(&[1.0; 3])], OpAttrs::new());
        assert_eq!(wrong.unwrap_err().code(), ErrorCode::InvalidArgument, "{mode:?}");
        let tape = recording.take();
        assert_eq!(tape.iter().map(|op| &*op.name).collect::<Vec<_>>(), ["tf.Neg"], "{mode:?}");
        assert_eq!(tape[0].results[0].state(), State::Unavailable, "{mode:?}");
        promise.set(floats(&[2.0]).into_value());
        assert_eq!((read(&own, &tape[0].results[0]), read(&own, &y[0])), (vec![-2.0], vec![-2.0]));
        assert_eq!(read(&own, &tape[0].args[0]), [2.0]);
    }
}

#[test]
fn functions_are_operators() {
    let core = core();
    let (neg, exp) = (core.op("Neg", OpAttrs::new()).unwrap(), core.op("Exp", OpAttrs::new()).unwrap());
    let both = core.closure("my.both", move |args| exp.call(&neg.call(args)?));
    assert_eq!(read(&core, &both.call(&[floats(&[0.0])]).unwrap()[0]), [1.0]);
    let failed = both.call(&[]).unwrap();
    assert_eq!(failed[0].state(), State::Error);
}

#[test]
fn a_handle_is_a_future() {
    use std::future::{Future, IntoFuture};
    use std::task::{Context, Poll, Waker};
    let (promise, later) = TensorHandle::pending(None);
    let mut future = later.into_future();
    let mut poll = || std::pin::Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
    assert!(poll().is_pending());
    promise.set(Value::I32(1));
    assert!(matches!(poll(), Poll::Ready(Value::I32(1))));
}

#[test]
fn explicit_chains_order_effects_and_pass_errors_on() {
    let (core, printed) = core_on("mstd:2");
    let print = core.op("tfrt_test.print", OpAttrs::new()).unwrap();
    let number = |i: i32| TensorHandle::from(HostTensor::from_vec([1], vec![i]).unwrap());
    let (mut a, mut b) = (ChainHandle::new(), ChainHandle::new());
    let (promise, later) = TensorHandle::pending(None);
    print.call_after(&mut a, smallvec![later]).unwrap();
    print.call_after(&mut a, smallvec![number(1)]).unwrap();
    print.call_after(&mut b, smallvec![number(2)]).unwrap();
    b.wait().unwrap();
    assert_eq!((a.state(), b.state()), (State::Unavailable, State::Concrete));
    let text = || printed.0.lock().unwrap().clone();
    assert!(text().contains("values = [2]") && !text().contains("values = [1]"));
    promise.fail(Error::new(ErrorCode::Unavailable, "gone", Vec::new()));
    assert_eq!(a.wait().unwrap_err().message(), "gone");
    print.call_after(&mut a, smallvec![number(3)]).unwrap();
    assert_eq!(a.error().map(|error| error.message().to_owned()).as_deref(), Some("gone"));
    // Pure ops neither wait for a chain nor advance it, but a failed chain stops them too.
    let neg = core.op("Neg", OpAttrs::new()).unwrap();
    let y = neg.call_after(&mut b, smallvec![floats(&[1.0])]).unwrap();
    assert_eq!(read(&core, &y[0]), [-1.0]);
    assert_eq!(neg.call_after(&mut a, smallvec![floats(&[1.0])]).unwrap()[0].state(), State::Error);
    assert!(!text().contains("values = [3]"));
}

#[test]
fn an_effect_may_call_operators_with_effects() {
    let (core, printed) = core_on("s");
    let print = core.op("tfrt_test.print", OpAttrs::new()).unwrap();
    let both = core.closure("my.both", move |args| {
        print.call(args)?;
        print.call(args)
    });
    both.call(&[floats(&[1.0])]).unwrap();
    assert_eq!(printed.0.lock().unwrap().lines().count(), 2);
}

#[test]
fn operators_are_cached_by_all_of_their_attributes() {
    let core = core();
    let x = TensorHandle::from(HostTensor::from_vec([1, 1, 1, 1, 1, 2], vec![1.0f32, 2.0]).unwrap());
    let dims = |axis: i64| OpAttrs::new().set("squeeze_dims", &[0, 1, 2, 3, axis][..]);
    let y = core.execute("Squeeze", std::slice::from_ref(&x), dims(4)).unwrap();
    assert_eq!(y[0].shape().unwrap().dims(), [2]);
    // The text of a list shows at most five numbers, so it does not distinguish these attributes.
    let long = |last: i64| OpAttrs::new().set("squeeze_dims", &[1, 2, 3, 4, 5, last][..]);
    core.op("Squeeze", long(6)).unwrap();
    core.op("Squeeze", long(7)).unwrap();
    let before = core.cache_stats();
    assert_eq!((before.entries, before.misses, before.hits), (3, 3, 0));
    core.op("Squeeze", long(7)).unwrap();
    for _ in 0..3 {
        core.op("AddV2", OpAttrs::new()).unwrap();
        core.execute("Neg", std::slice::from_ref(&x), OpAttrs::new()).unwrap();
    }
    let after = core.cache_stats();
    assert_eq!((after.entries, after.misses, after.hits, after.evictions), (5, 5, 1, 0));
}

#[test]
fn operators_go_when_there_are_too_many() {
    let core = core();
    let of = |i: i64| core.op("Squeeze", OpAttrs::new().set("squeeze_dims", &[i][..])).unwrap();
    let first = of(0);
    (0..5000).for_each(|i| _ = of(i));
    let stats = core.cache_stats();
    assert_eq!((stats.entries, stats.evictions, stats.misses), (4096, 5000 - 4096, 5000));
    // The newest are there, and one that has gone is made anew; who holds it may call it.
    of(4999);
    assert_eq!(core.cache_stats().misses, 5000);
    of(0);
    assert_eq!(core.cache_stats().misses, 5001);
    let x = TensorHandle::from(HostTensor::from_vec([1, 2], vec![1.0f32, 2.0]).unwrap());
    assert_eq!(read(&core, &first.call(&[x]).unwrap()[0]), [1.0, 2.0]);
}

#[test]
fn a_core_that_is_gone_leaves_no_operators_to_a_thread() {
    for i in 0..3 {
        let core = core();
        let y = core.execute("Neg", &[floats(&[i as f32])], OpAttrs::new()).unwrap();
        assert_eq!(read(&core, &y[0]), [-(i as f32)]);
        assert_eq!(core.cache_stats().misses, 1);
    }
}

#[test]
fn cancelled_operators_do_not_run() {
    let (core, printed) = core_on("s");
    core.context().request.cancellation.cancel();
    for name in ["AddV2", "MatMul", "tfrt_test.add"] {
        let x = TensorHandle::from(HostTensor::from_vec([1, 1], vec![1.0f32]).unwrap());
        let y = core.execute(name, &[x.clone(), x], OpAttrs::new()).unwrap();
        assert_eq!(y[0].wait().unwrap_err().code(), ErrorCode::Cancelled, "{name}");
    }
    let print = core.execute("tfrt_test.print", &[floats(&[1.0])], OpAttrs::new());
    assert_eq!(print.unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(*printed.0.lock().unwrap(), "");
}

#[test]
fn an_operator_in_another_execution_ends_with_that_one() {
    let core = core();
    let other = ExecContext::new(Arc::new(Request::new(befrost_host::queue::from_spec("s").unwrap())));
    for name in ["Neg", "tfrt_test.print"] {
        let op = core.op(name, OpAttrs::new()).unwrap();
        assert!(op.call_in(&other, &[floats(&[1.0])]).unwrap().iter().all(|y| y.wait().is_ok()), "{name}");
    }
    other.request.cancellation.cancel();
    let neg = core.op("Neg", OpAttrs::new()).unwrap();
    let y = neg.call_in(&other, &[floats(&[1.0])]).unwrap();
    assert_eq!(y[0].wait().unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(read(&core, &neg.call(&[floats(&[1.0])]).unwrap()[0]), [-1.0]);
}

#[test]
fn results_that_are_several_come_later_too() {
    let core = core_on("s").0.with_mode(Mode::Queued);
    let (axis, x) = (TensorHandle::from(HostTensor::from_vec([], vec![0i32]).unwrap()), floats(&[1.0, 2.0]));
    let (promise, later) = TensorHandle::pending(None);
    let halves = core.execute("Split", &[axis, later], OpAttrs::new().set("num_split", 2i64)).unwrap();
    promise.set(x.into_value());
    assert_eq!(halves.len(), 2);
    assert_eq!((read(&core, &halves[0]), read(&core, &halves[1])), (vec![1.0], vec![2.0]));
}

/// A function that adds one to each of two tensors.
#[derive(Clone)]
struct PlusOne;

impl CompiledFunction for PlusOne {
    fn name(&self) -> &str {
        "plus"
    }
    fn n_results(&self) -> usize {
        2
    }
    fn call(&self, args: Vec<Value>, _: &ExecContext) -> Result<Vec<Value>, Error> {
        let plus = |value: Value| -> Result<Value, Error> {
            let x: Vec<f32> = TensorHandle::new(value).wait()?.to_vec().unwrap();
            Ok(floats(&x.iter().map(|x| x + 1.0).collect::<Vec<_>>()).into_value())
        };
        args.into_iter().map(plus).collect()
    }
}

/// A compiler that returns one function for every module, and records the modules.
#[derive(Default)]
struct OneFunction(Mutex<Vec<String>>);

impl Compile for OneFunction {
    fn compile(&self, module: &str, _: &str) -> Result<Arc<dyn CompiledFunction>, Error> {
        self.0.lock().unwrap().push(module.to_owned());
        Ok(Arc::new(PlusOne))
    }
}

#[test]
fn functions_of_programs_are_operators() {
    for queue in ["s", "mstd:2"] {
        let core = core_on(queue).0;
        let plus = core.composite(&PlusOne).unwrap();
        assert_eq!(plus.name(), "plus");
        let y = plus.call(&[floats(&[1.0]), floats(&[2.0])]).unwrap();
        let z = plus.call(&[y[0].clone(), y[1].clone()]).unwrap();
        assert_eq!((read(&core, &z[0]), read(&core, &z[1])), (vec![3.0], vec![4.0]));
    }
}

#[test]
fn operators_without_kernels_are_compiled_once_per_shapes() {
    let compiler = Arc::new(OneFunction::default());
    let queue = befrost_host::queue::from_spec("s").unwrap();
    let cx = ExecContext::new(Arc::new(Request::new(queue)));
    let core = CoreRuntime::with_compiler(cx, compiler.clone(), "func.func @f() { return }");
    let attrs = OpAttrs::new()
        .set("Tout", AttrValue::List([Type::Dense(DType::F32).into(), Type::Dense(DType::F32).into()].into()))
        .set("f", AttrValue::Func("f".into()));
    let call = core.op("PartitionedCall", &attrs).unwrap();
    for n in [1, 1, 2, 1] {
        let x = floats(&vec![1.0; n]);
        let y = call.call(&[x.clone(), x]).unwrap();
        assert_eq!(read(&core, &y[1]), vec![2.0; n]);
    }
    let texts = compiler.0.lock().unwrap();
    assert_eq!(texts.len(), 2);
    assert!(texts[0].starts_with("func.func @f()"), "{}", texts[0]);
    let line = "%r:2 = \"tf.PartitionedCall\"(%a0, %a1) {Tout = [f32, f32], f = @\"f\"} : \
                (tensor<1xf32>, tensor<1xf32>) -> (tensor<*xf32>, tensor<*xf32>)";
    assert!(texts[0].contains(line), "{}", texts[0]);
    let missing = core.execute("tf.Nothing", &[], OpAttrs::new()).unwrap_err();
    assert!(missing.message().contains("NullOpHandler"));
}

/// Every op is executed or refused, whatever its operands are.
#[test]
fn no_operator_panics_on_operands_of_any_kind() {
    use befrost_kernels::Strings;
    use befrost_tensor::mem::{Allocator, Malloc};
    use befrost_tensor::tf::op::rows;
    use befrost_tensor::{Shape, StringTensor};
    let core = core();
    let malloc: Arc<dyn Allocator> = Malloc::shared();
    let strings = StringTensor::new(Shape::new(&[2]).unwrap(), &["a", "b"], &malloc).unwrap();
    let kinds = [
        floats(&[1.0, 2.0]),
        TensorHandle::from(HostTensor::from_vec([2, 2], vec![1.0f32; 4]).unwrap()),
        TensorHandle::from(HostTensor::from_vec([], vec![1i32]).unwrap()),
        TensorHandle::from(HostTensor::from_vec([2], vec![1i64, 2]).unwrap()),
        TensorHandle::from(HostTensor::from_vec([0], Vec::<f32>::new()).unwrap()),
        TensorHandle::new(Value::object(Strings(strings))),
        TensorHandle::new(Value::I1(true)),
        TensorHandle::failed(Error::new(ErrorCode::Unknown, "x", Vec::new())),
    ];
    let mut executed = 0;
    for row in rows() {
        let Ok(op) = core.op(row.name, OpAttrs::new()) else { continue };
        for n in 0..=3 {
            for (i, kind) in kinds.iter().enumerate() {
                let mut args = vec![kind.clone(); n];
                if let Some(last) = args.last_mut() {
                    *last = kinds[(i + n) % kinds.len()].clone();
                }
                let called = op.call(&args);
                let results = called.into_iter().flatten();
                executed +=
                    usize::from(results.filter(|result| result.state() == State::Concrete).count() > 0);
            }
        }
    }
    assert!(executed > 300, "{executed} calls gave results");
}
