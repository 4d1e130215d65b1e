//! Style transfer: a picture with the content of one and the style of another, by training the picture.
//!
//! ```text
//! content, style ──VGG19──▶ what they have in conv4_2, conv1_1 .. conv5_1: constants of the loss
//! noise + content = the variable `image` ──VGG19──▶ loss ──Adam──▶ image ──▶ out.png
//! ```
//!
//! ```sh
//! cargo run --release -p befrost-train --example style_transfer -- --weights random:1 \
//!     --content C.png --style S.png --size 224 --steps 50 --checkpoint model -o out.png
//! ```
//!
//! Content loss: the mean squared difference of conv4_2. Style loss: the mean over the layers of
//! |G - G'|^2 / (4 N^2 M^2), with the Gram matrix G of N channels and M pixels. The loss is content + 500
//! style. Checkpoints `vgg19.ckpt-N` are saved five times; at the end the latest one is restored, and then
//! the content picture is assigned to the variable and `pool5`, an interior tensor, is fetched.
#![forbid(unsafe_code)]

mod graph;
mod picture;
mod vgg;

use std::path::PathBuf;
use std::process::ExitCode;

use befrost::{
    CompileOptions, Datum, HostTensor, ResourceName, Resources, Runtime, Session, Source, Training,
    assign_variable_values, compile_with, variable_values,
};
use befrost_train::{Checkpoint, Checkpoints, Dataset, Event, Every, Trainer, TrainerOptions, Until};

use self::graph::{Attr, DataType, GraphDef};
use self::vgg::{CONTENT, Convolution, STYLE};

type Failure = Box<dyn std::error::Error>;

/// The weight of the style.
const BETA: f32 = 500.0;

/// The part of noise in the first picture.
const NOISE: f32 = 0.7;

/// Checkpoints that are kept.
const KEPT: usize = 5;

/// The command line.
struct Args {
    weights: String,
    content: PathBuf,
    style: PathBuf,
    size: usize,
    steps: u64,
    checkpoint: PathBuf,
    output: PathBuf,
}

fn main() -> ExitCode {
    match Args::parse(std::env::args().skip(1)).and_then(|args| run(&args)) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

impl Args {
    fn parse(words: impl Iterator<Item = String>) -> Result<Args, Failure> {
        let mut args = Args {
            weights: "random:1".to_owned(),
            content: PathBuf::new(),
            style: PathBuf::new(),
            size: 224,
            steps: 50,
            checkpoint: PathBuf::from("model"),
            output: PathBuf::from("out.png"),
        };
        let mut words = words;
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option}: its value is missing"))?;
            let number =
                || value.parse::<u32>().map_err(|_| format!("{option}: expected a number, got '{value}'"));
            match option.as_str() {
                "--weights" => args.weights = value,
                "--content" => args.content = value.into(),
                "--style" => args.style = value.into(),
                "--size" => args.size = number()? as usize,
                "--steps" => args.steps = u64::from(number()?),
                "--checkpoint" => args.checkpoint = value.into(),
                "-o" => args.output = value.into(),
                _ => {
                    let known = "--weights, --content, --style, --size, --steps, --checkpoint, -o";
                    return Err(format!("unknown option {option}; there are {known}").into());
                }
            }
        }
        if args.content.as_os_str().is_empty() || args.style.as_os_str().is_empty() {
            return Err("--content and --style name two pictures".into());
        }
        if args.size < 32 {
            return Err("--size: a picture has 32 pixels or more, since five layers halve it".into());
        }
        Ok(args)
    }
}

/// Makes the picture; what is to be said at the end.
fn run(args: &Args) -> Result<String, Failure> {
    let size = args.size;
    let weights = vgg::weights(&args.weights)?;
    let content = picture::read(&args.content, size)?;
    let style = picture::read(&args.style, size)?;
    let runtime = Runtime::builder().build()?;
    let targets = Targets::of(&runtime, &weights, size, &content, &style)?;
    // Between -20 and 20.
    let noise = vgg::uniform(1, u64::MAX).map(|x| 40.0 * x - 20.0);
    let first: Vec<f32> =
        content.iter().zip(noise).map(|(x, noise)| NOISE * noise + (1.0 - NOISE) * x).collect();
    let graph = loss_graph(&weights, size, &first, &targets);
    let training = Training::of("loss").optimizer("adam:lr=2").init("init");
    let bef = training.compile(Source::GraphDef(graph.clone()))?;
    let program = runtime.load_bytes(&bef)?;
    let checkpoints = Checkpoints::new(&args.checkpoint).named("vgg19.ckpt").keep(KEPT);
    let options = TrainerOptions {
        until: Until::Steps(args.steps),
        save: Every::Steps((args.steps / KEPT as u64).max(1)),
        ..TrainerOptions::default()
    };
    let mut trainer = Trainer::new(&program)?.options(options).checkpoints(checkpoints.clone());
    trainer.fit(&Dataset::new(), None, &mut |event| {
        if let Event::Step(line) = event {
            println!("step {}: loss {:.4}", line.step, line.loss);
        }
        Ok(())
    })?;
    let latest = checkpoints.latest()?.ok_or("no checkpoint was saved")?;
    Checkpoint::open(&latest)?.restore(trainer.resources(), None)?;
    let image = || ResourceName::from("image");
    let made = variable_values(trainer.resources())?.into_iter().find(|(name, _)| *name == image());
    picture::write(&args.output, size, &made.ok_or("there is no variable 'image'")?.1.to_vec::<f32>()?)?;
    assign_variable_values(trainer.resources(), vec![(image(), vgg::image(size, content)?)])?;
    let pool5 = fetched(&runtime, graph, trainer.resources())?;
    let mean = pool5.to_vec::<f32>()?.iter().sum::<f32>() / pool5.num_elements() as f32;
    let (from, to) = (latest.display(), args.output.display());
    Ok(format!("{from} is restored, {to} written; pool5 of the content: {}, mean {mean:.4}", pool5.shape()))
}

/// The value of `pool5` for the variables as they are.
fn fetched(runtime: &Runtime, graph: Vec<u8>, variables: &Resources) -> Result<HostTensor, Failure> {
    let session = Session::builder().runtime(runtime).variables(variables.clone()).graphdef(graph)?;
    let results = session.run(&[], &["pool5"])?;
    Ok(results.get("pool5").ok_or("the network has no 'pool5'")?.tensor()?.clone())
}

/// The features with which those of the picture are compared.
struct Targets {
    content: HostTensor,
    /// The Gram matrices of the layers.
    style: Vec<HostTensor>,
}

impl Targets {
    fn of(
        runtime: &Runtime,
        weights: &[Convolution],
        size: usize,
        content: &[f32],
        style: &[f32],
    ) -> Result<Targets, Failure> {
        let mut graph = GraphDef::default();
        let shape = [1, size, size, 3];
        let image = graph.node(
            "image",
            "Placeholder",
            &[],
            &[("dtype", Attr::Type(DataType::Float)), ("shape", Attr::Dims(&shape))],
        );
        vgg::append(&mut graph, weights, &image);
        let grams: Vec<String> =
            STYLE.iter().map(|layer| vgg::gram(&mut graph, layer, channels(layer))).collect();
        let fetches: Vec<String> = std::iter::once(CONTENT.to_owned()).chain(grams).collect();
        let options = CompileOptions { feeds: vec![image], fetches, ..CompileOptions::default() };
        let bef = compile_with(Source::GraphDef(graph.finish()), &options)?;
        let function = runtime.load_bytes(&bef)?.function("main")?;
        let features = |numbers: &[f32]| -> Result<Vec<HostTensor>, Failure> {
            let results = function.call_ok([Datum::from(vgg::image(size, numbers.to_vec())?)])?;
            results.iter().map(|result| Ok(result.tensor()?.clone())).collect()
        };
        Ok(Targets { content: features(content)?.remove(0), style: features(style)?.split_off(1) })
    }
}

/// The channels of a layer of [`STYLE`].
fn channels(layer: &str) -> usize {
    match layer {
        "conv1_1" => 64,
        "conv2_1" => 128,
        "conv3_1" => 256,
        _ => 512,
    }
}

/// The graph of the loss; the picture is its variable, and `pool5` its output.
fn loss_graph(weights: &[Convolution], size: usize, first: &[f32], targets: &Targets) -> Vec<u8> {
    let mut graph = GraphDef::default();
    let shape = [1, size, size, 3];
    let float = || ("dtype", Attr::Type(DataType::Float));
    let handle = graph.node(
        "image",
        "VarHandleOp",
        &[],
        &[float(), ("shape", Attr::Dims(&shape)), ("shared_name", Attr::Text("image"))],
    );
    let first = graph.floats("image/first", &shape, first);
    let assigned = graph.node("image/assign", "AssignVariableOp", &[&handle, &first], &[float()]);
    graph.node("init", "NoOp", &[&format!("^{assigned}")], &[]);
    let image = graph.node("image/read", "ReadVariableOp", &[&handle], &[float()]);
    vgg::append(&mut graph, weights, &image);
    let n_pixels = |layer: &str| {
        // Each block halves the picture, and what is left over is a pixel more.
        let block = usize::from(layer.as_bytes()[4] - b'0');
        (1..block).fold(size, |size, _| size.div_ceil(2)).pow(2)
    };
    let mut terms = vec![squares(
        &mut graph,
        CONTENT,
        CONTENT,
        &targets.content,
        1.0 / targets.content.num_elements() as f32,
    )];
    for (layer, want) in STYLE.iter().zip(&targets.style) {
        let (n, m) = (channels(layer) as f32, n_pixels(layer) as f32);
        let gram = vgg::gram(&mut graph, layer, channels(layer));
        let scale = BETA / STYLE.len() as f32 / (4.0 * n * n * m * m);
        terms.push(squares(&mut graph, layer, &gram, want, scale));
    }
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    graph.float("loss", "AddN", &terms, &[("N", Attr::Int(terms.len() as i64))]);
    graph.finish()
}

/// The sum of the squared differences, scaled.
fn squares(graph: &mut GraphDef, layer: &str, x: &str, want: &HostTensor, scale: f32) -> String {
    let numbers = want.to_vec::<f32>().unwrap_or_default();
    let want = graph.floats(&format!("{layer}/want"), want.shape().dims(), &numbers);
    let squares = graph.float(&format!("{layer}/squares"), "SquaredDifference", &[x, &want], &[]);
    let rank = if x.ends_with("/gram") { 2 } else { 4 };
    let axes = graph.ints(&format!("{layer}/axes"), &(0..rank).collect::<Vec<i32>>());
    let tidx = [("Tidx", Attr::Type(DataType::Int32))];
    let sum = graph.float(&format!("{layer}/sum"), "Sum", &[&squares, &axes], &tidx);
    let scale = graph.floats(&format!("{layer}/scale"), &[], &[scale]);
    graph.float(&format!("{layer}/loss"), "Mul", &[&sum, &scale], &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_gets_better() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for (name, seed) in [("content.png", 1), ("style.npy", 2)] {
            let numbers: Vec<f32> =
                vgg::uniform(seed, 0).map(|x| 200.0 * x - 100.0).take(32 * 32 * 3).collect();
            picture::write(&path(name), 32, &numbers).expect("a picture");
        }
        let args = Args {
            weights: "random:1".to_owned(),
            content: path("content.png"),
            style: path("style.npy"),
            size: 32,
            steps: 7,
            checkpoint: path("model"),
            output: path("out.png"),
        };
        let said = run(&args).expect("a picture is made");
        assert!(
            said.contains("vgg19.ckpt-7 is restored")
                && said.contains("pool5 of the content: [1, 1, 1, 512]"),
            "{said}"
        );
        assert_eq!(picture::read(&args.output, 32).expect("the picture").len(), 32 * 32 * 3);
        let entries = std::fs::read_dir(&args.checkpoint).expect("checkpoints").flatten();
        let indices = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".index"));
        assert_eq!(indices.count(), KEPT);
    }

    #[test]
    fn mistakes_are_reported() {
        let why = |words: &[&str]| {
            let words = words.iter().map(|&word| word.to_owned());
            Args::parse(words).and_then(|args| run(&args)).expect_err("an error").to_string()
        };
        assert!(why(&["--sise", "3"]).contains("unknown option --sise"));
        assert!(why(&["--size"]).contains("its value is missing"));
        assert!(why(&[]).contains("name two pictures"));
        let both = ["--content", "no.png", "--style", "no.png", "--size", "32"];
        assert!(why(&both).contains("no.png: "));
        assert!(why(&[&both[..], &["--weights", "random:x"]].concat()).contains("expected random:SEED"));
        assert!(why(&[&both[..], &["--weights", "no.npz"]].concat()).contains("no.npz"));
    }
}
