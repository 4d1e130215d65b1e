//! VGG19: its convolutions as nodes of a graph, and their weights.

use std::path::Path;

use befrost::{DType, HostTensor, Philox};
use befrost_train::{Checkpoint, Dataset};

use crate::Failure;
use crate::graph::{Attr, DataType, GraphDef};

/// Channels and convolutions of each block.
const BLOCKS: [(usize, usize); 5] = [(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)];

/// The mean of the pictures with which VGG19 was trained.
pub(crate) const MEAN: [f32; 3] = [123.68, 116.779, 103.939];

/// Where the content of a picture is compared.
pub(crate) const CONTENT: &str = "conv4_2";

/// Where its style is compared.
pub(crate) const STYLE: [&str; 5] = ["conv1_1", "conv2_1", "conv3_1", "conv4_1", "conv5_1"];

/// The parameters of a convolution: its name, the sizes and values of its filter, its bias.
pub(crate) struct Convolution {
    name: String,
    dims: [usize; 4],
    filter: Vec<f32>,
    bias: Vec<f32>,
}

/// Names and filter sizes of the convolutions, in their order.
fn convolutions() -> Vec<(String, [usize; 4])> {
    let (mut all, mut channels) = (Vec::new(), 3);
    for (block, (n, convolutions)) in (1..).zip(BLOCKS) {
        for i in 1..=convolutions {
            all.push((format!("conv{block}_{i}"), [3, 3, channels, n]));
            channels = n;
        }
    }
    all
}

/// The weights of a file with the arrays `conv1_1_W`, `conv1_1_b`, ..., or random ones: `random:SEED`.
pub(crate) fn weights(from: &str) -> Result<Vec<Convolution>, Failure> {
    if let Some(seed) = from.strip_prefix("random:") {
        let seed = seed.parse().map_err(|_| format!("--weights {from}: expected random:SEED"))?;
        return Ok(random(seed));
    }
    let file = (!from.ends_with(".npz")).then(|| Checkpoint::open(Path::new(from))).transpose()?;
    let read = |name: &str, dims: &[usize]| -> Result<Vec<f32>, Failure> {
        let tensor = match &file {
            Some(file) => file.read(name)?.ok_or_else(|| format!("{from}: there is no array '{name}'"))?,
            None => {
                let rows: Vec<usize> = (0..dims[0]).collect();
                let mut columns = Dataset::new().npz(name, from, name)?.gather(&rows)?;
                columns.remove(0).1
            }
        };
        if tensor.dtype() != DType::F32 || tensor.shape().dims() != dims {
            let (dtype, shape) = (tensor.dtype(), tensor.shape());
            return Err(format!("{from}: '{name}' is {dtype}{shape}, expected f32{dims:?}").into());
        }
        Ok(tensor.to_vec()?)
    };
    let convolution = |(name, dims): (String, [usize; 4])| {
        let filter = read(&format!("{name}_W"), &dims)?;
        let bias = read(&format!("{name}_b"), &dims[3..])?;
        Ok(Convolution { name, dims, filter, bias })
    };
    convolutions().into_iter().map(convolution).collect()
}

/// Weights that keep the size of what passes through them.
fn random(seed: u64) -> Vec<Convolution> {
    let convolution = |(i, (name, dims)): (usize, (String, [usize; 4]))| {
        let n = dims.iter().product();
        let deviation = (2.0 / (9 * dims[2]) as f32).sqrt();
        let filter = normal(seed, i as u64).take(n).map(|x| x * deviation).collect();
        Convolution { name, dims, filter, bias: vec![0.0; dims[3]] }
    };
    convolutions().into_iter().enumerate().map(convolution).collect()
}

/// Random numbers in [0, 1).
pub(crate) fn uniform(seed: u64, stream: u64) -> impl Iterator<Item = f32> {
    (0..).map(move |i| (Philox::at([i, stream], seed).bits() >> 40) as f32 / (1 << 24) as f32)
}

/// Random numbers of the standard normal distribution (Box and Muller).
fn normal(seed: u64, stream: u64) -> impl Iterator<Item = f32> {
    let mut numbers = uniform(seed, stream);
    std::iter::from_fn(move || {
        let (a, b) = (numbers.next()?, numbers.next()?);
        Some((-2.0 * (1.0 - a).ln()).sqrt() * (std::f32::consts::TAU * b).cos())
    })
}

/// Appends the network to a graph: each layer has its usual name, `conv1_1` to `pool5`.
pub(crate) fn append(graph: &mut GraphDef, weights: &[Convolution], image: &str) {
    let mut x = image.to_owned();
    for (i, Convolution { name, dims, filter, bias }) in weights.iter().enumerate() {
        let filter = graph.floats(&format!("{name}/filter"), dims, filter);
        let bias = graph.floats(&format!("{name}/bias"), &dims[3..], bias);
        let window = [("strides", Attr::Ints(&[1, 1, 1, 1])), ("padding", Attr::Text("SAME"))];
        let y = graph.float(&format!("{name}/Conv2D"), "Conv2D", &[&x, &filter], &window);
        let y = graph.float(&format!("{name}/BiasAdd"), "BiasAdd", &[&y, &bias], &[]);
        x = graph.float(name, "Relu", &[&y], &[]);
        let block = |of: &Convolution| of.name.split('_').next().map(str::to_owned);
        let (this, next) = (block(&weights[i]), weights.get(i + 1).and_then(block));
        if this != next {
            let pool = this.unwrap_or_default().replace("conv", "pool");
            let two = [1, 2, 2, 1];
            let window =
                [("ksize", Attr::Ints(&two)), ("strides", Attr::Ints(&two)), ("padding", Attr::Text("SAME"))];
            x = graph.float(&pool, "AvgPool", &[&x], &window);
        }
    }
}

/// Appends the matrix of the products of a layer's channels, `LAYER/gram`.
pub(crate) fn gram(graph: &mut GraphDef, layer: &str, channels: usize) -> String {
    let sizes = graph.ints(&format!("{layer}/sizes"), &[-1, channels as i32]);
    let tshape = [("Tshape", Attr::Type(DataType::Int32))];
    let flat = graph.float(&format!("{layer}/flat"), "Reshape", &[layer, &sizes], &tshape);
    let turned = [("transpose_a", Attr::Bool(true))];
    graph.float(&format!("{layer}/gram"), "MatMul", &[&flat, &flat], &turned)
}

/// A tensor of a picture's numbers, with one example.
pub(crate) fn image(size: usize, values: Vec<f32>) -> Result<HostTensor, Failure> {
    Ok(HostTensor::from_vec([1, size, size, 3], values)?)
}
