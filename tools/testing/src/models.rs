//! Networks of any size as text of the `tf` dialect, for measuring the compiler.
//!
//! ```text
//! residual      7x7 convolution, max pool, 16 bottlenecks (1x1, 3x3, 1x1, each normalized; added to
//!               the input), mean, matrix product
//! transformer   layers of attention and of two matrix products around gelu, each added to its input and
//!               normalized
//! ```
//!
//! They consist of primitive ops, as written by TensorFlow's libraries. Weights are reproducible random
//! numbers, scaled so that values keep their magnitude from layer to layer. Both layouts have the same
//! weights.

use std::fmt::Write;

use crate::dice::Dice;

/// A residual network of 50 layers or more.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// Width and height of the image.
    pub image: usize,
    /// The number of channels relative to the network of the paper (He et al., 2015), which has 64 in its
    /// first layer.
    pub width: f64,
    /// The batch size; 0 if unknown.
    pub batch: usize,
    /// True for NCHW.
    pub channels_first: bool,
    /// The factor on the number of bottlenecks; 1 for the network of 50 layers.
    pub depth: usize,
}

/// A transformer encoder.
#[derive(Clone, Copy, Debug)]
pub struct Transformer {
    /// The number of layers.
    pub layers: usize,
    /// The length of a token's vector.
    pub hidden: usize,
    /// The number of attention heads, each of which gets an equal part of the vector.
    pub heads: usize,
    /// The number of tokens of a sequence.
    pub tokens: usize,
    /// The length of the vector between the two matrix products of a layer.
    pub ffn: usize,
    /// The batch size; 0 if unknown.
    pub batch: usize,
}

impl Default for Residual {
    fn default() -> Self {
        Residual { image: 224, width: 1.0, batch: 1, channels_first: false, depth: 1 }
    }
}

impl Default for Transformer {
    fn default() -> Self {
        Transformer { layers: 6, hidden: 384, heads: 12, tokens: 128, ffn: 1536, batch: 1 }
    }
}

/// Parses a model's name and parameters, `residual image=64 width=0.25 batch=1 layout=NCHW depth=1` or
/// `transformer layers=6 hidden=384 heads=12 tokens=128 ffn=1536 batch=1`, and writes the model.
pub fn from_words(words: &[&str]) -> Result<String, String> {
    let Some((&kind, parameters)) = words.split_first() else {
        return Err("a model is `residual` or `transformer`".to_owned());
    };
    let (mut residual, mut transformer) = (Residual::default(), Transformer::default());
    for word in parameters {
        let wrong = || format!("'{word}' is no parameter of a model of kind '{kind}'");
        let (name, value) = word.split_once('=').ok_or_else(wrong)?;
        let number = || value.parse::<usize>().map_err(|_| wrong());
        match (kind, name) {
            ("residual", "image") => residual.image = number()?,
            ("residual", "width") => residual.width = value.parse().map_err(|_| wrong())?,
            ("residual", "batch") => residual.batch = number()?,
            ("residual", "depth") => residual.depth = number()?,
            ("residual", "layout") => residual.channels_first = value == "NCHW",
            ("transformer", "layers") => transformer.layers = number()?,
            ("transformer", "hidden") => transformer.hidden = number()?,
            ("transformer", "heads") => transformer.heads = number()?.max(1),
            ("transformer", "tokens") => transformer.tokens = number()?,
            ("transformer", "ffn") => transformer.ffn = number()?,
            ("transformer", "batch") => transformer.batch = number()?,
            _ => return Err(wrong()),
        }
    }
    match kind {
        "residual" => Ok(residual.text()),
        "transformer" => Ok(transformer.text()),
        _ => Err(format!("no model '{kind}'; there are `residual` and `transformer`")),
    }
}

/// A value of a program: its name and its shape, 0 for an unknown dimension.
#[derive(Clone, Debug)]
struct TensorValue {
    name: String,
    dims: Vec<usize>,
}

/// A program under construction.
struct ProgramText {
    text: String,
    n_values: usize,
    dice: Dice,
}

fn tensor(dims: &[usize], element: &str) -> String {
    let dim = |&dim: &usize| if dim == 0 { "?x".to_owned() } else { format!("{dim}x") };
    format!("tensor<{}{element}>", dims.iter().map(dim).collect::<String>())
}

impl ProgramText {
    /// A function of one tensor.
    fn new(input: &[usize], output: &[usize]) -> (ProgramText, TensorValue) {
        let text = format!("func.func @main(%x: {}) -> {} {{\n", tensor(input, "f32"), tensor(output, "f32"));
        let x = TensorValue { name: "%x".to_owned(), dims: input.to_vec() };
        (ProgramText { text, n_values: 0, dice: Dice(0x9e37_79b9_7f4a_7c15) }, x)
    }

    fn finish(mut self, y: &TensorValue) -> String {
        self.line(format_args!("  return {} : {}\n}}\n", y.name, tensor(&y.dims, "f32")));
        self.text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let written = self.text.write_fmt(line);
        debug_assert!(written.is_ok(), "text takes all that is written");
    }

    fn name(&mut self) -> String {
        self.n_values += 1;
        format!("%{}", self.n_values - 1)
    }

    /// A number from -1 to 1.
    fn random(&mut self) -> f32 {
        ((self.dice.roll() >> 40) as f32) / ((1u32 << 23) as f32) - 1.0
    }

    /// A constant of random numbers around `center`.
    fn weights(&mut self, dims: &[usize], center: f32, spread: f32) -> TensorValue {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let (name, ty) = (self.name(), tensor(dims, "f32"));
        let n: usize = dims.iter().product();
        self.line(format_args!("  {name} = \"tf.Const\"() {{value = dense<\"0x"));
        self.text.reserve(8 * n);
        for _ in 0..n {
            for byte in (center + spread * self.random()).to_le_bytes() {
                self.text.push(char::from(DIGITS[usize::from(byte >> 4)]));
                self.text.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
        self.line(format_args!("\"> : {ty}}} : () -> {ty}\n"));
        TensorValue { name, dims: dims.to_vec() }
    }

    /// Weights of sums of `n_terms` terms, scaled so that sums have the magnitude of their terms.
    fn sum_weights(&mut self, dims: &[usize], n_terms: usize) -> TensorValue {
        self.weights(dims, 0.0, (3.0 / n_terms.max(1) as f32).sqrt())
    }

    fn number(&mut self, number: f32) -> TensorValue {
        let name = self.name();
        self.line(format_args!(
            "  {name} = \"tf.Const\"() {{value = dense<{number:.12}> : tensor<f32>}} : () -> tensor<f32>\n"
        ));
        TensorValue { name, dims: Vec::new() }
    }

    fn op(&mut self, op: &str, operands: &[&TensorValue], attrs: &str, dims: &[usize]) -> TensorValue {
        let types: Vec<String> = operands.iter().map(|x| tensor(&x.dims, "f32")).collect();
        let names: Vec<&str> = operands.iter().map(|x| x.name.as_str()).collect();
        let (name, result) = (self.name(), tensor(dims, "f32"));
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{attrs}}}") };
        self.line(format_args!(
            "  {name} = \"tf.{op}\"({}){attrs} : ({}) -> {result}\n",
            names.join(", "),
            types.join(", ")
        ));
        TensorValue { name, dims: dims.to_vec() }
    }

    /// An op on a tensor and a constant vector of integers.
    fn op_of_ints(
        &mut self,
        op: &str,
        x: &TensorValue,
        ints: &[i64],
        attrs: &str,
        dims: &[usize],
    ) -> TensorValue {
        let (vector, name) = (self.name(), self.name());
        let n = ints.len();
        let (from, to) = (tensor(&x.dims, "f32"), tensor(dims, "f32"));
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{attrs}}}") };
        self.line(format_args!(
            "  {vector} = \"tf.Const\"() {{value = dense<{ints:?}> : tensor<{n}xi32>}} : () -> tensor<{n}xi32>\n"
        ));
        let x = &x.name;
        self.line(format_args!(
            "  {name} = \"tf.{op}\"({x}, {vector}){attrs} : ({from}, tensor<{n}xi32>) -> {to}\n"
        ));
        TensorValue { name, dims: dims.to_vec() }
    }

    /// A matrix product with a bias.
    fn dense(&mut self, x: &TensorValue, n: usize) -> TensorValue {
        let k = x.dims[1];
        let w = self.sum_weights(&[k, n], k);
        let b = self.weights(&[n], 0.0, 0.1);
        let dims = [x.dims[0], n];
        let y = self.op("MatMul", &[x, &w], "", &dims);
        self.op("BiasAdd", &[&y, &b], "", &dims)
    }
}

impl Residual {
    /// The program.
    pub fn text(&self) -> String {
        let (mut p, x) = ProgramText::new(&self.shape(self.image, 3), &[self.batch, 1000]);
        let first = self.channels(64);
        let x = self.conv(&mut p, &x, first, 7, 2, 1.0);
        let x = p.op("Relu", &[&x], "", &x.dims);
        let (size, _) = self.split(&x);
        let (window, strides) = (self.list(3), self.list(2));
        let attrs = format!(
            "ksize = {window}, strides = {strides}, padding = \"SAME\", data_format = \"{}\"",
            self.layout()
        );
        let mut x = p.op("MaxPool", &[&x], &attrs, &self.shape(size.div_ceil(2), first));
        for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
            for block in 0..blocks * self.depth.max(1) {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                x = self.bottleneck(&mut p, &x, self.channels(64 << stage), stride);
            }
        }
        let (_, channels) = self.split(&x);
        let plane: [i64; 2] = if self.channels_first { [2, 3] } else { [1, 2] };
        let x = p.op_of_ints("Mean", &x, &plane, "", &[self.batch, channels]);
        let y = p.dense(&x, 1000);
        p.finish(&y)
    }

    fn channels(&self, n: usize) -> usize {
        ((n as f64 * self.width) as usize).max(1)
    }

    fn layout(&self) -> &'static str {
        if self.channels_first { "NCHW" } else { "NHWC" }
    }

    fn shape(&self, size: usize, channels: usize) -> [usize; 4] {
        if self.channels_first {
            [self.batch, channels, size, size]
        } else {
            [self.batch, size, size, channels]
        }
    }

    /// Size and number of channels of a square image.
    fn split(&self, x: &TensorValue) -> (usize, usize) {
        if self.channels_first { (x.dims[2], x.dims[1]) } else { (x.dims[1], x.dims[3]) }
    }

    /// An attribute of four numbers: `n` for height and width, 1 for the others.
    fn list(&self, n: usize) -> String {
        if self.channels_first { format!("[1, 1, {n}, {n}]") } else { format!("[1, {n}, {n}, 1]") }
    }

    /// A normalized convolution.
    fn conv(
        &self,
        p: &mut ProgramText,
        x: &TensorValue,
        n: usize,
        size: usize,
        stride: usize,
        scale: f32,
    ) -> TensorValue {
        let (plane, channels) = self.split(x);
        let terms = size * size * channels;
        // The factor 6 is twice that of `sum_weights`: the rectifier before it halves the mean square.
        let filter = p.weights(&[size, size, channels, n], 0.0, (6.0 / terms.max(1) as f32).sqrt());
        let (layout, strides) = (self.layout(), self.list(stride));
        let attrs = format!("strides = {strides}, padding = \"SAME\", data_format = \"{layout}\"");
        let y = p.op("Conv2D", &[x, &filter], &attrs, &self.shape(plane.div_ceil(stride), n));
        let [scale, offset] = [p.weights(&[n], scale, 0.2 * scale), p.weights(&[n], 0.0, 0.1)];
        let [mean, variance] = [p.weights(&[n], 0.0, 0.1), p.weights(&[n], 1.0, 0.2)];
        let (name, image, vector) = (p.name(), tensor(&y.dims, "f32"), tensor(&[n], "f32"));
        let of = format!("{}, {}, {}, {}, {}", y.name, scale.name, offset.name, mean.name, variance.name);
        p.line(format_args!(
            "  {name}:6 = \"tf.FusedBatchNormV3\"({of}) {{is_training = false, epsilon = 1.001e-5 : f32, data_format = \"{layout}\"}} \
             : ({image}, {vector}, {vector}, {vector}, {vector}) -> ({image}, {vector}, {vector}, {vector}, {vector}, tensor<*xf32>)\n"
        ));
        TensorValue { name: format!("{name}#0"), dims: y.dims }
    }

    fn bottleneck(&self, p: &mut ProgramText, x: &TensorValue, n: usize, stride: usize) -> TensorValue {
        let (_, channels) = self.split(x);
        let shortcut =
            if stride == 1 && channels == 4 * n { x.clone() } else { self.conv(p, x, 4 * n, 1, stride, 0.7) };
        let y = self.conv(p, x, n, 1, 1, 1.0);
        let y = p.op("Relu", &[&y], "", &y.dims);
        let y = self.conv(p, &y, n, 3, stride, 1.0);
        let y = p.op("Relu", &[&y], "", &y.dims);
        let y = self.conv(p, &y, 4 * n, 1, 1, 0.3);
        let y = p.op("AddV2", &[&y, &shortcut], "", &y.dims);
        p.op("Relu", &[&y], "", &y.dims)
    }
}

impl Transformer {
    /// The program.
    pub fn text(&self) -> String {
        let shape = [self.batch, self.tokens, self.hidden];
        let (mut p, x) = ProgramText::new(&shape, &shape);
        let positions = p.weights(&[self.tokens, self.hidden], 0.0, 0.3);
        let x = p.op("AddV2", &[&x, &positions], "", &shape);
        let x = p.op_of_ints("Reshape", &x, &[-1, self.hidden as i64], "", &self.rows(self.hidden));
        let mut x = self.norm(&mut p, &x);
        for _ in 0..self.layers {
            let attended = self.attention(&mut p, &x);
            let sum = p.op("AddV2", &[&attended, &x], "", &x.dims);
            x = self.norm(&mut p, &sum);
            let wide = p.dense(&x, self.ffn);
            let wide = gelu(&mut p, &wide);
            let y = p.dense(&wide, self.hidden);
            let sum = p.op("AddV2", &[&y, &x], "", &x.dims);
            x = self.norm(&mut p, &sum);
        }
        let to = [-1, self.tokens as i64, self.hidden as i64];
        let y = p.op_of_ints("Reshape", &x, &to, "", &shape);
        p.finish(&y)
    }

    /// The shape of `n` numbers for each token of each sequence.
    fn rows(&self, n: usize) -> [usize; 2] {
        [self.batch * self.tokens, n]
    }

    /// A projection of each token to one vector per head.
    fn heads(&self, p: &mut ProgramText, x: &TensorValue) -> TensorValue {
        let size = self.hidden / self.heads;
        let y = p.dense(x, self.hidden);
        let to = [-1, self.tokens as i64, self.heads as i64, size as i64];
        let y = p.op_of_ints("Reshape", &y, &to, "", &[self.batch, self.tokens, self.heads, size]);
        p.op_of_ints("Transpose", &y, &[0, 2, 1, 3], "", &[self.batch, self.heads, self.tokens, size])
    }

    fn attention(&self, p: &mut ProgramText, x: &TensorValue) -> TensorValue {
        let size = self.hidden / self.heads;
        let [query, key, value] = [(); 3].map(|()| self.heads(p, x));
        let scores = [self.batch, self.heads, self.tokens, self.tokens];
        let y = p.op("BatchMatMulV2", &[&query, &key], "adj_y = true", &scores);
        let scale = p.number(1.0 / (size as f32).sqrt());
        let y = p.op("Mul", &[&y, &scale], "", &scores);
        let y = p.op("Softmax", &[&y], "", &scores);
        let y = p.op("BatchMatMulV2", &[&y, &value], "", &value.dims);
        let y =
            p.op_of_ints("Transpose", &y, &[0, 2, 1, 3], "", &[self.batch, self.tokens, self.heads, size]);
        let y = p.op_of_ints("Reshape", &y, &[-1, self.hidden as i64], "", &self.rows(self.hidden));
        p.dense(&y, self.hidden)
    }

    /// Layer normalization of each row.
    fn norm(&self, p: &mut ProgramText, x: &TensorValue) -> TensorValue {
        let each = self.rows(1);
        let mean = p.op_of_ints("Mean", x, &[-1], "keep_dims = true", &each);
        let squares = p.op("SquaredDifference", &[x, &mean], "", &x.dims);
        let variance = p.op_of_ints("Mean", &squares, &[-1], "keep_dims = true", &each);
        let [scale, offset] = [p.weights(&[self.hidden], 1.0, 0.2), p.weights(&[self.hidden], 0.0, 0.1)];
        let epsilon = p.number(1e-6);
        let y = p.op("AddV2", &[&variance, &epsilon], "", &each);
        let y = p.op("Rsqrt", &[&y], "", &each);
        let factor = p.op("Mul", &[&y, &scale], "", &x.dims);
        let scaled = p.op("Mul", &[x, &factor], "", &x.dims);
        let moved = p.op("Mul", &[&mean, &factor], "", &x.dims);
        let rest = p.op("Sub", &[&offset, &moved], "", &x.dims);
        p.op("AddV2", &[&scaled, &rest], "", &x.dims)
    }
}

/// x/2 * (1 + erf(x/√2)).
fn gelu(p: &mut ProgramText, x: &TensorValue) -> TensorValue {
    let [half, one, root] = [0.5, 1.0, std::f32::consts::FRAC_1_SQRT_2].map(|n| p.number(n));
    let halved = p.op("Mul", &[x, &half], "", &x.dims);
    let y = p.op("Mul", &[x, &root], "", &x.dims);
    let y = p.op("Erf", &[&y], "", &x.dims);
    let y = p.op("AddV2", &[&y, &one], "", &x.dims);
    p.op("Mul", &[&halved, &y], "", &x.dims)
}
