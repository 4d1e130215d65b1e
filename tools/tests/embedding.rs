//! The programs of the README's sections "Training" and "Embedding", compiled and run, and tests of the
//! facade `befrost`.
//!
//! The README quotes the text between the marks `[` and `]` verbatim; a test compares the two.
#![forbid(unsafe_code)]

use std::sync::Arc;

use befrost::{CallOptions, Cancellation, Datum, Error, HostTensor, Program, Runtime, Source};

#[rustfmt::skip]
mod quoted {
// [program
use befrost::{HostTensor, Runtime, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bef = compile("testdata/digits/digits_cnn.pb")?;
    let program = Runtime::builder().build()?.load_bytes(&bef)?;
    let model = program.function("main")?;
    println!("{model:?}");

    let image: Vec<f32> = vec![0.5; 64];
    let images = HostTensor::from_vec([1, 64], image)?;
    let results = model.call_ok([images.into()])?;
    let logits: Vec<f32> = results[0].tensor()?.to_vec()?;
    println!("{logits:?}");
    Ok(())
}
// program]

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

#[test]
fn the_programs_run_and_are_the_readme_s() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    std::env::set_current_dir(root).expect("the root");
    quoted::run().expect("it runs");
    trains::run().expect("it trains");
    let readme = std::fs::read_to_string("README.md").expect("the README");
    let source = include_str!("embedding.rs");
    for name in ["program", "training"] {
        let (_, rest) = source.split_once(&format!("// [{name}\n")).expect("the mark");
        let (program, _) = rest.split_once(&format!("// {name}]")).expect("the mark");
        assert!(readme.contains(&format!("```rust\n{program}```")), "the README quotes another {name}");
    }
}

#[rustfmt::skip]
mod trains {
// [training
use befrost::{Runtime, Training};
use befrost_train::{Dataset, Order, Trainer, TrainerOptions, Until};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let training = Training::of("loss").metric("accuracy").optimizer("adam:lr=2e-3");
    let bef = training.compile("testdata/training/digits_cnn.pb")?;
    let program = Runtime::builder().build()?.load_bytes(&bef)?;
    let digits = |set: &str| {
        let images = Dataset::new().npy("images", format!("testdata/digits/{set}_images.npy"))?;
        images.npy("labels", format!("testdata/digits/{set}_labels.npy"))
    };
    let until = Until::Epochs(20);
    let options = TrainerOptions { order: Order::Shuffled(7), until, ..TrainerOptions::default() };
    let mut trainer = Trainer::new(&program)?.options(options);
    trainer.fit(&digits("train")?, None, &mut |_| Ok(()))?;
    println!("{:?}", trainer.evaluate(&digits("test")?)?);
    Ok(())
}
// training]

    pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

fn program(queue: &str, text: &str) -> Program {
    let bef = befrost::compile(Source::Text(text.into())).expect("it compiles");
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    runtime.load_bytes(&bef).expect("it loads")
}

const DIVIDE: &str = "func.func @main(%in: !tfrt.chain, %x: i32, %y: i32) -> (!tfrt.chain, i32, i32) {
  %quotient, %remainder = tfrt.div.i32 %x, %y
  %sum = tfrt.add.i32 %x, %y
  tfrt.return %in, %quotient, %sum : !tfrt.chain, i32, i32
}";

const RELU: &str = r#"func.func @main(%x: tensor<1x4xf32> {tf_saved_model.index_path = ["x"]}) -> tensor<1x4xf32> {
  %y = "tf.Relu"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %y : tensor<1x4xf32>
}"#;

#[test]
fn chains_need_not_be_given_and_names_stand_for_positions() {
    let program = program("s", DIVIDE);
    let main = program.function("main").expect("main");
    let results = main.call_ok([Datum::from(84), Datum::from(2)]).expect("values");
    assert_eq!(i32::try_from(&results[1]).expect("a number"), 42);
    let named = main.call_named([("y", Datum::from(2)), ("x", Datum::from(84))]).expect("values");
    assert_eq!(i32::try_from(&named[2]).expect("a number"), 86);
    let refused = |arguments: &[(&str, i32)]| {
        let arguments = arguments.iter().map(|(name, value)| (*name, Datum::from(*value)));
        main.call_named(arguments).expect_err("it is refused").message().to_owned()
    };
    assert!(refused(&[("x", 1), ("z", 2)]).starts_with("there is no argument 'z'; the function is main("));
    assert!(refused(&[("x", 1), ("x", 2)]).starts_with("argument 'x' is given twice"));
    assert!(refused(&[("x", 1)]).starts_with("argument 'y' is missing"));
}

#[test]
fn errors_are_results_and_call_ok_returns_the_first() {
    let program = program("mstd:2", DIVIDE);
    let main = program.function("main").expect("main");
    let results = main.call([Datum::from(1), Datum::from(0)]).expect("results");
    assert!(results[1].error().is_some() && i32::try_from(&results[2]).expect("the sum") == 1);
    let error: Error = main.call_ok([Datum::from(1), Datum::from(0)]).expect_err("the quotient's");
    assert!(error.location().is_some(), "{error:?}");
}

#[test]
fn arguments_have_the_declared_types() {
    let program = program("s", RELU);
    let main = program.function("main").expect("main");
    let port = &main.arguments()[0];
    assert_eq!(
        (port.dtype(), port.shape().as_slice()),
        (Some(befrost::DType::F32), Some(&[Some(1), Some(4)][..]))
    );
    let of = |sizes: &[usize]| {
        let n = sizes.iter().product();
        HostTensor::from_vec(sizes, vec![-1.5f32; n]).expect("a tensor").into()
    };
    let values = main.call_ok([of(&[1, 4])]).expect("values");
    assert_eq!(values[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats"), [0.0; 4]);
    let refused = |datum: Datum, want: &str| {
        let error = main.call([datum]).expect_err("it is refused");
        assert!(error.message().contains(want), "{error}");
    };
    refused(of(&[4]), "has type tensor<1x4xf32>: expected such a tensor, got dtype f32, shape [4]");
    refused(of(&[500, 4]), "expected such a tensor, got dtype f32, shape [500, 4]");
    refused(HostTensor::from_vec([1, 4], vec![0i32; 4]).expect("a tensor").into(), "got dtype i32");
    refused(7.into(), "got a value of type i32");
    refused("text".into(), "got a value of type !tfrt.string");
    let error = main.call([]).expect_err("one is missing");
    assert!(error.message().starts_with("the function has 1 arguments, got 0"), "{error}");
}

#[test]
fn calls_go_on_in_the_background() {
    for queue in ["s", "mstd:2"] {
        let program = program(queue, DIVIDE);
        let main = program.function("main").expect("main");
        let calls: Vec<_> = (1..100)
            .map(|i| main.call_async([(84 * i).into(), i.into()], &CallOptions::default()).expect("begun"))
            .collect();
        for call in calls {
            let results = call.wait().expect("results");
            assert_eq!(i32::try_from(&results[1]).expect("a number"), 84);
        }
        let cancellation = Cancellation::default();
        cancellation.cancel();
        let options = CallOptions { cancellation, ..CallOptions::default() };
        let results =
            main.call_async([1.into(), 1.into()], &options).expect("begun").wait().expect("results");
        assert!(results.iter().any(|result| result.error().is_some()));
    }
}

#[test]
fn a_pending_call_is_a_future() {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let program = program("mstd:2", DIVIDE);
    let main = program.function("main").expect("main");
    let mut call =
        std::pin::pin!(main.call_async([9.into(), 3.into()], &CallOptions::default()).expect("begun"));
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    let results = loop {
        match call.as_mut().poll(&mut cx) {
            std::task::Poll::Ready(results) => break results.expect("results"),
            std::task::Poll::Pending => std::thread::park(),
        }
    };
    assert_eq!(i32::try_from(&results[1]).expect("a number"), 3);
}

#[test]
fn errors_name_the_file_and_convert() {
    fn load(path: &str) -> Result<Program, Error> {
        Ok(Runtime::builder().build()?.load(path)?)
    }
    let error = load("no/such.bef").expect_err("there is none");
    assert!(error.message().starts_with("cannot load 'no/such.bef': "), "{error}");
    let text = Source::Text("func.func @main() {\n  %x = tfrt.no_such_op\n}".into());
    let error = befrost::compile(text).expect_err("it is refused");
    assert!(error.to_string().starts_with("<text>:2:8: error"), "{error}");
    let error = befrost::compile("model.h5").expect_err("it is refused");
    assert!(error.to_string().contains("model.h5"), "{error}");
}

/// The program in `minimal.rs`.
const DOUBLE: &str = "func.func @main(%x: i32) -> i32 {
  %sum = tfrt.add.i32 %x, %x
  tfrt.return %sum : i32
}
";

/// With `UPDATE=1` in the environment the programs are rewritten.
#[test]
fn the_programs_in_the_small_ones_are_current() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let model = Source::from(&*format!("{root}/testdata/digits/digits_mlp.pb"));
    let current = |name: &str, source: Source| {
        let path = format!("{root}/runtime/befrost/examples/{name}.bef");
        let bef = befrost::compile(source).expect("it compiles");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &bef).expect("the file can be written");
        }
        assert!(
            std::fs::read(&path).expect("the program") == bef,
            "run UPDATE=1 cargo test -p befrost-tools --test embedding"
        );
        bef
    };
    current("double", Source::Text(DOUBLE.to_owned()));
    let bef = current("digits_mlp", model);
    // The programs name exactly the model's kernels.
    let bytes = bef_format::AlignedBytes::copy_of(&bef);
    let image = bef_format::validate(&bytes).expect("it is valid");
    let kernels: std::collections::BTreeSet<&str> = image.kernel_names().collect();
    let kernels = Vec::from_iter(kernels).join(" ");
    for program in ["runtime/befrost/examples/tiny.rs", "runtime/c/examples/tiny.c"] {
        let text = std::fs::read_to_string(format!("{root}/{program}")).expect("the program");
        assert!(text.contains(&format!("\"{kernels}\"")), "{program}: {kernels}");
    }
}
