//! The signatures of the design's page "Interfaces", in its own words: a program written from it compiles.
//!
//! Where the page cannot be followed: mapping a file and loading code are `unsafe`, since a file that changes
//! and code that is wrong break every promise; the ports of a session are a `Result`, since a graph is not
//! read before somebody asks for them.
#![cfg(all(feature = "compile", feature = "eager"))]
#![allow(
    clippy::cloned_ref_to_slice_refs,
    clippy::needless_borrows_for_generic_args,
    reason = "arguments are written as on the page"
)]

use std::error::Error as StdError;
use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use befrost::build::FunctionBuilder;
use befrost::device::Device;
use befrost::eager::{
    Args, CacheStats, ChainHandle, CoreRuntime, Dispatch, Invocation, Mode, Op, OpAttrs, OpHandler, OpKey,
    Results, State, TensorHandle, Type,
};
use befrost::{
    Callable, DType, Datum, Error, ErrorCode, Function, HostTensor, Model, PartialShape, Port, Program,
    Progress, Registry, Resources, Run, RunOptions, Runtime, Session, SessionBuilder, SessionStats, Shape,
    Shapes, Signature, Source, Tensor, Value, Variables,
};

type Tested = Result<(), Box<dyn StdError>>;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn floats(elements: &[f32]) -> Tensor {
    HostTensor::from_vec([elements.len()], elements.to_vec()).expect("a tensor")
}

fn runtime() -> Runtime {
    Runtime::builder().work_queue("s").build().expect("a runtime")
}

#[test]
fn eager_core() -> Tested {
    let runtime = runtime();
    let core = CoreRuntime::new(&runtime);
    let add = core.op("AddV2", &OpAttrs::new())?;
    let (x, y) = (TensorHandle::from(floats(&[1.0, 2.0])), TensorHandle::from(floats(&[3.0, 4.0])));
    let z = add.call(&[x.clone(), y])?;
    let axes = TensorHandle::from(HostTensor::from_vec([1], vec![0i32])?);
    let s = core.execute("Sum", &[z[0].clone(), axes], &OpAttrs::new().set("keep_dims", true))?;
    let t: HostTensor = s[0].wait()?;
    assert_eq!((t.shape().dims(), t.to_vec::<f32>()?), (&[1][..], vec![10.0]));
    // Refused now: an unknown op, an attribute, a dtype, a shape.
    assert_eq!(core.op("AddV3", &OpAttrs::new()).expect_err("unknown").code(), ErrorCode::NotFound);
    assert!(core.op("AddV2", &OpAttrs::new().set("keep_dims", true)).is_err());
    assert!(add.call(&[x.clone(), HostTensor::from_vec([2], vec![1i32, 2])?.into()]).is_err());
    assert!(add.call(&[x, floats(&[0.0; 3]).into()]).is_err());
    Ok(())
}

/// The signatures of `impl TensorHandle`, `impl Op` and `impl CoreRuntime`.
#[test]
fn handles_operators_and_the_core_runtime() -> Tested {
    let handle: TensorHandle = floats(&[1.0]).into();
    let (dtype, shape): (Option<Type>, Option<Shape>) = (handle.dtype(), handle.shape());
    assert_eq!((dtype, shape), (Some(Type::Dense(DType::F32)), Some(Shape::new(&[1])?)));
    let (state, device): (State, &dyn Device) = (handle.state(), handle.device());
    assert_eq!((state, device.name().kind(), device.name().index()), (State::Concrete, "CPU", 0));
    handle.and_then(|value: &Value| assert!(value.error().is_none()));
    let future = handle.clone().into_future();
    drop(future);

    let runtime = runtime();
    let core = CoreRuntime::new(&runtime).with_mode(Mode::Inline);
    let neg: Op = core.op("Neg", &OpAttrs::new())?;
    let name: &str = neg.name();
    assert_eq!(name, "tf.Neg");
    let args = || -> Args { [handle.clone()].into_iter().collect() };
    let mut chain = ChainHandle::new();
    let made: [Results; 3] =
        [neg.call(&[handle.clone()])?, neg.call_owned(args())?, neg.call_after(&mut chain, args())?];
    for results in made {
        assert_eq!(results[0].wait()?.to_vec::<f32>()?, [-1.0]);
    }

    let seven: Arc<dyn OpHandler> =
        Arc::new(SevenHandler { next: core.handler("cpu"), asked: AtomicUsize::new(0) });
    core.register("seven", seven.clone());
    let with_seven: CoreRuntime = core.with_handler("seven")?;
    assert_eq!(with_seven.execute("my.seven", &[], &OpAttrs::new())?[0].wait()?.to_vec::<f32>()?, [7.0]);
    let negative = with_seven.execute("Neg", &[handle.clone()], &OpAttrs::new())?;
    assert_eq!(negative[0].wait()?.to_vec::<f32>()?, [-1.0]);
    assert_eq!(seven.fallback().map(|next| next.name()), Some("CpuOpHandler"));
    assert!(core.with_handler("nobody").is_err());
    let refused = core.with_handler("null")?.execute("x", &[], &OpAttrs::new()).expect_err("null");
    assert!(refused.message().starts_with("tf.x was not supported by NullOpHandler"), "{refused}");

    let text = "func.func @twice(%x: tensor<1xf32>) -> tensor<1xf32> {
  %y = \"tf.AddV2\"(%x, %x) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}";
    let program = runtime.load_bytes(&befrost::compile(Source::Text(text.to_owned()))?)?;
    let f: &Function = &program.function("twice")?;
    let twice: Op = core.composite(f)?;
    assert_eq!(twice.name(), "twice");
    assert_eq!(twice.call(&[handle])?[0].wait()?.to_vec::<f32>()?, [2.0]);
    let stats: CacheStats = core.cache_stats();
    assert!(stats.entries > 0, "{stats:?}");
    Ok(())
}

/// A handler with one operator more.
struct SevenHandler {
    next: Option<Arc<dyn OpHandler>>,
    asked: AtomicUsize,
}

impl OpHandler for SevenHandler {
    fn name(&self) -> &str {
        "SevenHandler"
    }

    fn fallback(&self) -> Option<&Arc<dyn OpHandler>> {
        self.next.as_ref()
    }

    fn make(&self, key: &OpKey<'_>) -> Result<Arc<dyn Dispatch>, Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match (key.name, self.fallback()) {
            ("my.seven", _) => Ok(Arc::new(Seven)),
            (_, Some(next)) => next.make(key),
            (name, None) => Err(Error::new(ErrorCode::NotFound, format!("there is no {name}"), Vec::new())),
        }
    }
}

struct Seven;

impl Dispatch for Seven {
    fn dispatch(&self, call: &mut Invocation<'_>) -> Result<(), Error> {
        call.results.push(floats(&[7.0]).into());
        Ok(())
    }
}

#[test]
fn model_and_session() -> Tested {
    let model = Model::load(data("digits/digits_cnn.onnx"))?;
    let image = HostTensor::from_vec([1, 1, 8, 8], vec![0.5f32; 64])?;
    let name = model.inputs()[0].name().to_owned();
    let logits = model.run([image.clone()])?.remove(0);
    let same = model.run_named([(name.as_str(), image)])?.remove(0);
    assert_eq!(logits.to_vec::<f32>()?, same.to_vec::<f32>()?);

    let s = Session::open(data("digits/digits_mlp.pb"))?;
    let x = HostTensor::from_vec([1, 64], vec![0.5f32; 64])?;
    let r = s.run(&[("images:0", x.clone())], &["logits:0", "images:0"])?;
    let fetched = r["logits:0"].tensor()?.to_vec::<f32>()?;
    let first = HostTensor::from_vec([1, 10], vec![1.0f32; 10])?;
    let fed = s.run(&[("logits:0", first)], &["logits:0"])?;
    assert_eq!((fetched.len(), fed["logits"].tensor()?.to_vec::<f32>()?), (10, vec![1.0; 10]));
    let step: Callable = s.callable(&["images:0"], &["logits:0"])?;
    let (mut args, mut results) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        args.push(Datum::from(x.clone()));
        step.call(&mut args, &mut results)?;
        assert_eq!(results.remove(0).tensor()?.to_vec::<f32>()?, fetched);
        assert!(args.is_empty() && results.is_empty());
    }
    Ok(())
}

/// The signatures of `impl Session`.
#[test]
fn sessions() -> Tested {
    let s: Session = Session::open(data("digits/digits_mlp.pb"))?;
    let x = HostTensor::from_vec([2, 64], vec![0.5f32; 128])?;
    let signatures: &[Signature] = s.signatures();
    assert!(signatures.is_empty());
    let (inputs, outputs): (&[Port], &[Port]) = (s.inputs()?, s.outputs()?);
    assert_eq!((inputs[0].name(), outputs[0].name()), ("images", "logits"));
    let shape: &PartialShape = inputs[0].shape();
    assert_eq!((inputs[0].dtype(), shape.as_slice()), (Some(DType::F32), Some(&[None, Some(64)][..])));
    let tensors: Vec<Port> = s.tensors()?.into_iter().filter(|port| port.name() == "logits").collect();
    assert_eq!(tensors.len(), 1);

    s.warm(&[("images", Shape::new(&[2, 64])?)], &["logits"])?;
    let warm: SessionStats = s.stats();
    assert_eq!((warm.compilations, warm.hits, warm.specializations), (2, 0, 1));
    let want = s.run(&[("images", x.clone())], &["logits"])?["logits"].tensor()?.to_vec::<f32>()?;
    assert_eq!((s.stats().compilations, s.stats().hits), (2, 1));
    let options = RunOptions::default();
    let with = s.run_with(&[("images", x.clone())], &["logits"], &options)?;
    assert_eq!(with["logits"].tensor()?.to_vec::<f32>()?, want);
    let run: Run = s.start(&[("images", x)], &["logits"]);
    assert_eq!(run.wait()?["logits"].tensor()?.to_vec::<f32>()?, want);
    let failed: Run = s.start(&[], &["nobody"]);
    assert_eq!(failed.wait().expect_err("no such tensor").code(), ErrorCode::NotFound);

    let variables: Variables = s.variables();
    assert!(variables.names()?.is_empty() && variables.snapshot()?.is_empty());
    variables.restore([])?;
    let unknown = HostTensor::from_vec([1], vec![0.0f32])?;
    assert!(variables.get("v").is_err() && variables.set("v", unknown).is_err());
    let folder = tempfile::tempdir()?;
    let path: &Path = &folder.path().join("digits.bef");
    s.save(path)?;

    let program: Program = runtime().load(path)?;
    let of_program: Session = Session::from_program(&program)?;
    assert_eq!(of_program.inputs()?[0].name(), "images");
    let mut builder = FunctionBuilder::new("same");
    let x = builder.argument("x", &(Type::Dense(DType::F32), Some(vec![-1])));
    let module = builder.finish(&[("y".to_owned(), x)]);
    let y = Session::from_module(module)?.run(&[("x", floats(&[3.0]))], &["y"])?["y"].item::<f32>()?;
    assert_eq!(y, 3.0);
    Ok(())
}

/// Counts programs.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Progress for Counted {
    fn begins(&self, _: &[String], _: &[String]) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn ends(&self, _: &[String], _: &[String], _: Duration) {}
}

/// The settings of `SessionBuilder`.
#[test]
fn builders() -> Tested {
    let (runtime, resources, counted) = (runtime(), Resources::default(), Arc::new(Counted::default()));
    let folder = tempfile::tempdir()?;
    let progress: Arc<dyn Progress> = counted.clone();
    let builder: SessionBuilder = Session::builder()
        .runtime(&runtime)
        .level(1)
        .shapes(Shapes::Exact)
        .specializations(2)
        .cache_dir(folder.path())
        .variables(resources)
        .progress(progress);
    let s = builder.open(data("digits/digits_mlp.pb"))?;
    s.warm(&[("images", Shape::new(&[1, 64])?)], &["logits"])?;
    assert_eq!(counted.0.load(Ordering::Relaxed), 2);
    let registry: Registry = befrost::registry();
    let own = Session::builder().kernels(registry).signature("add");
    assert!(own.open(data("saved_models/two_signatures/model"))?.inputs().is_ok());
    for level in 3..=u8::MAX {
        let error = Session::builder().runtime(&runtime).level(level).open(data("digits/digits_mlp.pb"));
        let error = error.expect_err("no such level");
        assert!(error.message().contains(&format!("no optimization level {level}")), "{error}");
    }
    Ok(())
}

#[test]
fn memory_is_lent() -> Tested {
    let session = Session::builder().runtime(&runtime()).text(
        "func.func @main(%x: tensor<?xf32> {bef.name = \"x\"}) -> (tensor<?xf32> {bef.name = \"y\"}) {
  %y = \"tf.Neg\"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}",
    )?;
    let mut numbers = vec![1.0f32, 2.0];
    let (mut kept, into) = (None, floats(&[0.0, 0.0]));
    let results = Tensor::lend(&numbers, |t| {
        kept = Some(t.clone());
        session.run(&[("x", t)], &["y"])
    })?;
    let step = session.callable(&["x"], &["y"])?;
    Tensor::lend(&numbers, |t| step.call_into([t], std::slice::from_ref(&into)))?;
    numbers.fill(5.0);
    assert_eq!(results["y"].tensor()?.to_vec::<f32>()?, [-1.0, -2.0]);
    assert_eq!(into.to_vec::<f32>()?, [-1.0, -2.0]);
    assert!(kept.expect("a tensor").read_bytes().is_err());
    Ok(())
}

/// An ONNX model that flattens its input, whose shape it does not declare.
fn flatten() -> Vec<u8> {
    let message = |number: u8, bytes: &[u8]| [&[number << 3 | 2, bytes.len() as u8], bytes].concat();
    let number = |number: u8, value: u8| vec![number << 3, value];
    // The element type 1 is f32.
    let float = message(2, &message(1, &number(1, 1)));
    let port = |name: &str| [message(1, name.as_bytes()), float.clone()].concat();
    let node = [message(1, b"x"), message(2, b"y"), message(4, b"Flatten")].concat();
    let graph =
        [message(1, &node), message(2, b"g"), message(11, &port("x")), message(12, &port("y"))].concat();
    [number(1, 8), message(7, &graph), message(8, &number(2, 17))].concat()
}

#[test]
fn ranks_that_a_program_needs_are_those_of_the_feeds() {
    let tensor =
        |dims: &[usize]| HostTensor::from_vec(dims, vec![0.5f32; dims.iter().product()]).expect("a tensor");
    let session =
        Session::builder().runtime(&runtime()).shapes(Shapes::Declared).bytes(flatten()).expect("a session");
    let error = session.warm_declared(&["x"], &["y"], &[]).expect_err("it has no rank");
    assert!(error.message().contains("the rank of an input is not known"), "{error}");
    let flat = |dims: &[usize]| {
        let results = session.run(&[("x", tensor(dims))], &["y"]).expect("a run");
        results["y"].tensor().expect("a tensor").shape().dims().to_vec()
    };
    assert_eq!((flat(&[2, 3]), flat(&[4, 3]), flat(&[2, 3, 4])), (vec![2, 3], vec![4, 3], vec![2, 12]));
    let stats = session.stats();
    assert_eq!((stats.compilations, stats.hits, stats.executables), (2, 1, 2));
    session.warm(&[("x", Shape::new(&[1, 2, 3, 4]).expect("a shape"))], &["y"]).expect("it is compiled");
    assert_eq!((session.stats().compilations, flat(&[1, 2, 3, 4])), (3, vec![1, 24]));
    assert_eq!((session.stats().compilations, session.stats().hits), (3, 2));
    let error = session.run(&[("x", tensor(&[1]))], &["z"]).expect_err("there is no such tensor");
    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
}
