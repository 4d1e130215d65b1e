//! Random op graphs, on which passes and executors are compared: graphs of pure ops ([`Graph`]), and programs
//! with functions, loops and state around them ([`Program`]).

mod program;

use std::fmt::Write;

use befrost_tensor::mem::Malloc;
use befrost_tensor::{HostTensor, Shape};

use crate::dice::Dice;

pub use program::{Program, mode_of};

/// The element type of a graph, and the declared part of its shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphMode {
    /// Floats of known shapes.
    Floats,
    /// [`GraphMode::Floats`] without declared shapes.
    Dynamic,
    /// [`GraphMode::Floats`] with even dimensions undeclared.
    Partial,
    /// Integers, whose results are exact.
    Integers,
    /// Images in both layouts.
    Images,
    /// Floats, and only operators that have a derivative everywhere.
    Smooth,
    /// [`GraphMode::Smooth`] with even dimensions unknown.
    SmoothPartial,
    /// Floats with infinities and NaN, and only ops whose rewrites preserve these.
    Specials,
}

/// A value: its name and its shape.
#[derive(Clone, Debug)]
struct GraphValue {
    name: String,
    dims: Vec<usize>,
    is_const: bool,
    /// For images: true for NCHW.
    is_first: bool,
}

/// A graph with its arguments.
pub struct Graph {
    mode: GraphMode,
    dice: Dice,
    body: String,
    n_names: usize,
    /// The inputs and all computed values.
    values: Vec<GraphValue>,
    inputs: Vec<GraphValue>,
    /// The arguments of `@main`.
    pub arguments: Vec<HostTensor>,
}

const UNARY: &[&str] = &[
    "Neg",
    "Abs",
    "Relu",
    "Relu6",
    "Tanh",
    "Sigmoid",
    "Square",
    "Softplus",
    "Softsign",
    "Erf",
    "Elu",
    "LeakyRelu",
    "Identity",
    "Sin",
    "Neg",
];
const SAFE_UNARY: &[&str] = &["Neg", "Abs", "Relu", "Identity", "Square", "Neg", "Relu6"];
const SMOOTH_UNARY: &[&str] =
    &["Neg", "Tanh", "Sigmoid", "Square", "Softplus", "Erf", "Sin", "Identity", "Neg", "Tanh"];
const INT_UNARY: &[&str] = &["Neg", "Abs", "Square", "Identity", "Neg"];
const SMOOTH_BINARY: &[&str] = &["AddV2", "Sub", "Mul", "SquaredDifference", "AddV2", "Mul"];
const BINARY: &[&str] = &["AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "AddV2", "Mul"];

impl Graph {
    /// A graph of `n` ops.
    ///
    /// # Panics
    /// If there is no memory for small tensors.
    pub fn random(mode: GraphMode, seed: u64, n: usize) -> Graph {
        let mut graph = Graph {
            mode,
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            body: String::new(),
            n_names: 0,
            values: Vec::new(),
            inputs: Vec::new(),
            arguments: Vec::new(),
        };
        for _ in 0..20 {
            graph.dice.below(2);
        }
        let shapes: &[&[usize]] = match mode {
            GraphMode::Images => &[&[2, 4, 6, 5], &[2, 6, 5, 4]],
            _ => &[&[2, 3, 4], &[4, 6], &[2, 3, 4]],
        };
        for (i, dims) in shapes.iter().enumerate() {
            graph.input(dims, mode == GraphMode::Images && i == 0);
        }
        for _ in 0..n {
            graph.step();
        }
        graph
    }

    /// The program, whose results are the last three values that are not constants.
    pub fn text(&self) -> String {
        let last: Vec<&GraphValue> =
            self.values.iter().rev().filter(|value| !value.is_const).take(3).collect();
        let arguments: Vec<String> =
            self.inputs.iter().map(|x| format!("{}: {}", x.name, self.ty(&x.dims, self.element()))).collect();
        let types: Vec<String> = last.iter().map(|x| self.ty(&x.dims, self.element())).collect();
        let names: Vec<&str> = last.iter().map(|x| x.name.as_str()).collect();
        format!(
            "func.func @main({}) -> ({types}) {{\n{}  return {} : {types}\n}}\n{}",
            arguments.join(", "),
            self.body,
            names.join(", "),
            self.functions(),
            types = types.join(", "),
        )
    }

    /// The functions that calls, branches and loops run, on tensors of any shape.
    fn functions(&self) -> String {
        let any = format!("tensor<*x{}>", self.element());
        let function = |name: &str, op: &str| {
            format!(
                "func.func private @{name}(%x: {any}) -> {any} {{\n  %y = \"tf.{op}\"(%x) : ({any}) -> {any}\n  \
                 %z = \"tf.AddV2\"(%y, %x) : ({any}, {any}) -> {any}\n  return %z : {any}\n}}\n"
            )
        };
        let (folded, joined) = if self.is_smooth() { ("Tanh", "Mul") } else { ("Abs", "Maximum") };
        let count = "%n: tensor<i32>";
        let one = "  %one = \"tf.Const\"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>\n";
        let both = "(tensor<i32>, tensor<i32>)";
        format!(
            "{}{}func.func private @again({count}, %x: {any}) -> tensor<i1> {{\n{one}  \
             %b = \"tf.LessEqual\"(%n, %one) : {both} -> tensor<i1>\n  return %b : tensor<i1>\n}}\n\
             func.func private @step({count}, %x: {any}) -> (tensor<i32>, {any}) {{\n{one}  \
             %m = \"tf.AddV2\"(%n, %one) : {both} -> tensor<i32>\n  \
             %y = \"tf.PartitionedCall\"(%x) {{f = @negated}} : ({any}) -> {any}\n  \
             %z = \"tf.{joined}\"(%y, %x) : ({any}, {any}) -> {any}\n  \
             return %m, %z : tensor<i32>, {any}\n}}\n",
            function("negated", "Neg"),
            function("folded", folded),
        )
    }

    /// A call, a branch or a loop.
    fn called(&mut self, x: &GraphValue) -> GraphValue {
        let (name, any, op) = (self.name(), format!("tensor<*x{}>", self.element()), self.dice.below(3));
        let ty = self.ty(&x.dims, self.element());
        let x_name = &x.name;
        if op == 0 {
            let f = self.dice.pick(&["@negated", "@folded"]);
            self.line(format_args!(
                "  {name} = \"tf.PartitionedCall\"({x_name}) {{f = {f}}} : ({ty}) -> {ty}\n"
            ));
            return GraphValue { name, ..x.clone() };
        }
        let n = self.dice.below(2) as i64;
        let n = self.ints(&[], &[n]);
        let n_name = n.name;
        if op == 1 {
            self.line(format_args!(
                "  {name} = \"tf.StatelessIf\"({n_name}, {x_name}) {{then_branch = @negated, else_branch = @folded}} \
                 : (tensor<i32>, {ty}) -> {ty}\n"
            ));
            return GraphValue { name, ..x.clone() };
        }
        self.line(format_args!(
            "  {name}:2 = \"tf.StatelessWhile\"({n_name}, {x_name}) {{cond = @again, body = @step}} : (tensor<i32>, {ty}) -> (tensor<i32>, {any})\n"
        ));
        let shaped = self.name();
        self.line(format_args!("  {shaped} = \"tf.Identity\"({name}#1) : ({any}) -> {ty}\n"));
        GraphValue { name: shaped, ..x.clone() }
    }

    fn is_smooth(&self) -> bool {
        matches!(self.mode, GraphMode::Smooth | GraphMode::SmoothPartial)
    }

    fn element(&self) -> &'static str {
        if self.mode == GraphMode::Integers { "i32" } else { "f32" }
    }

    fn ty(&self, dims: &[usize], element: &str) -> String {
        if self.mode == GraphMode::Dynamic {
            return format!("tensor<*x{element}>");
        }
        let dim = |dim: &usize| match self.mode {
            GraphMode::Partial | GraphMode::SmoothPartial if dim.is_multiple_of(2) => "?x".to_owned(),
            _ => format!("{dim}x"),
        };
        format!("tensor<{}{element}>", dims.iter().map(dim).collect::<String>())
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("%{}", self.n_names)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.dice.below(100) < percent
    }

    fn number(&mut self) -> f32 {
        (self.dice.below(401) as f32 - 200.0) / 100.0
    }

    fn input(&mut self, dims: &[usize], is_first: bool) {
        let n = dims.iter().product();
        let shape = Shape::new(dims).expect("a small shape");
        let tensor = if self.mode == GraphMode::Integers {
            let numbers: Vec<i32> = (0..n).map(|_| self.dice.below(11) as i32 - 5).collect();
            HostTensor::from_slice(shape, &numbers, &Malloc::shared())
        } else {
            let mut numbers: Vec<f32> = (0..n).map(|_| self.number()).collect();
            if self.mode == GraphMode::Specials {
                for (i, special) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0].into_iter().enumerate()
                {
                    numbers[3 * i + 1] = special;
                }
            }
            HostTensor::from_slice(shape, &numbers, &Malloc::shared())
        };
        self.arguments.push(tensor.expect("memory for a small tensor"));
        let name = format!("%arg{}", self.inputs.len());
        let value = GraphValue { name, dims: dims.to_vec(), is_const: false, is_first };
        self.inputs.push(value.clone());
        self.values.push(value);
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let written = self.body.write_fmt(line);
        assert!(written.is_ok(), "text takes all that is written");
    }

    /// A constant of the graph's elements.
    fn constant(&mut self, dims: &[usize], make: impl Fn(&mut Self) -> f32) -> GraphValue {
        let n: usize = dims.iter().product();
        let mut numbers: Vec<f32> = (0..n).map(|_| make(self)).collect();
        if self.mode == GraphMode::Integers {
            numbers.iter_mut().for_each(|x| *x = x.round() + 0.0);
        }
        let digits = if self.mode == GraphMode::Integers { 0 } else { 2 };
        let texts: Vec<String> = numbers.iter().map(|x| format!("{x:.digits$}")).collect();
        self.dense(dims, &texts, self.element())
    }

    /// A constant of integers.
    fn ints(&mut self, dims: &[usize], numbers: &[i64]) -> GraphValue {
        let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
        self.dense(dims, &texts, "i32")
    }

    fn dense(&mut self, dims: &[usize], texts: &[String], element: &str) -> GraphValue {
        let mut parts = texts.to_vec();
        for &dim in dims.iter().rev() {
            parts = parts.chunks(dim.max(1)).map(|row| format!("[{}]", row.join(", "))).collect();
        }
        let (name, text) = (self.name(), parts.concat());
        let ty = format!("tensor<{}{element}>", dims.iter().map(|dim| format!("{dim}x")).collect::<String>());
        self.line(format_args!("  {name} = \"tf.Const\"() {{value = dense<{text}> : {ty}}} : () -> {ty}\n"));
        GraphValue { name, dims: dims.to_vec(), is_const: true, is_first: false }
    }

    /// An op on operands with their element types. The result has the graph's element type.
    fn op_of(
        &mut self,
        op: &str,
        operands: &[(&GraphValue, &str)],
        attrs: &str,
        dims: &[usize],
    ) -> GraphValue {
        let types: Vec<String> = operands
            .iter()
            .map(|(x, element)| {
                let is_known = x.is_const;
                let dims: String = x.dims.iter().map(|dim| format!("{dim}x")).collect();
                if is_known { format!("tensor<{dims}{element}>") } else { self.ty(&x.dims, element) }
            })
            .collect();
        let names: Vec<&str> = operands.iter().map(|(x, _)| x.name.as_str()).collect();
        let (name, result) = (self.name(), self.ty(dims, self.element()));
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{attrs}}}") };
        self.line(format_args!(
            "  {name} = \"tf.{op}\"({}){attrs} : ({}) -> {result}\n",
            names.join(", "),
            types.join(", ")
        ));
        let is_first = operands.first().is_some_and(|(x, _)| x.is_first);
        GraphValue { name, dims: dims.to_vec(), is_const: false, is_first }
    }

    fn op(&mut self, op: &str, operands: &[&GraphValue], attrs: &str, dims: &[usize]) -> GraphValue {
        let element = self.element();
        let operands: Vec<(&GraphValue, &str)> = operands.iter().map(|&x| (x, element)).collect();
        self.op_of(op, &operands, attrs, dims)
    }

    /// An op on a value and a constant vector of integers.
    fn with_ints(
        &mut self,
        op: &str,
        x: &GraphValue,
        ints: &[i64],
        attrs: &str,
        dims: &[usize],
    ) -> GraphValue {
        let vector = self.ints(&[ints.len()], ints);
        let element = self.element();
        self.op_of(op, &[(x, element), (&vector, "i32")], attrs, dims)
    }

    /// A value, preferably one of the last ones.
    fn some(&mut self) -> GraphValue {
        let n = self.values.len();
        let back = self.dice.below(4.min(n));
        let at = if self.chance(70) { n - 1 - back } else { self.dice.below(n) };
        self.values[at].clone()
    }

    fn step(&mut self) {
        let x = self.some();
        let is_image = self.mode == GraphMode::Images && x.dims.len() == 4 && self.chance(60);
        let y = if is_image { self.image(&x) } else { self.any(&x) };
        let size: usize = y.dims.iter().product();
        if size == 0 || size > 2000 {
            return;
        }
        // A frequent `Tanh` keeps products from growing beyond the range of floats.
        let grows = !matches!(self.mode, GraphMode::Integers | GraphMode::Specials);
        let y = if grows && self.chance(25) { self.op("Tanh", &[&y], "", &y.dims.clone()) } else { y };
        self.values.push(y);
    }

    fn any(&mut self, x: &GraphValue) -> GraphValue {
        let dims = x.dims.clone();
        let rank = dims.len();
        match self.dice.below(21) {
            0..3 => {
                let table = match self.mode {
                    GraphMode::Integers => INT_UNARY,
                    _ if self.is_smooth() => SMOOTH_UNARY,
                    GraphMode::Specials => SAFE_UNARY,
                    _ => UNARY,
                };
                let op = self.dice.pick(table);
                self.op(op, &[x], "", &dims)
            }
            3..6 => self.binary(x),
            6 => self.with_constant(x),
            7 => self.sum(x),
            8 if self.mode != GraphMode::Specials => self.reduced(x),
            9 => self.reshaped(x),
            10 | 11 => self.transposed(x),
            12 => self.joined(x),
            13 => self.sliced(x),
            14 => self.padded(x),
            15 | 16 if self.mode != GraphMode::Specials && rank >= 2 => self.product(x),
            17 if self.mode != GraphMode::Integers && self.mode != GraphMode::Specials && rank > 0 => {
                self.op("Softmax", &[x], "", &dims)
            }
            18 => self.chosen(x),
            19 => self.called(x),
            _ => {
                let op = self.dice.pick(&["Neg", "Identity"]);
                let y = self.op(op, &[x], "", &dims);
                self.op("Neg", &[&y], "", &dims)
            }
        }
    }

    /// A value of the shape and layout of `x`; `x` itself if there is no other.
    fn partner(&mut self, x: &GraphValue) -> GraphValue {
        let others: Vec<GraphValue> =
            self.values.iter().filter(|y| y.dims == x.dims && y.is_first == x.is_first).cloned().collect();
        let at = self.dice.below(others.len());
        others.get(at).cloned().unwrap_or_else(|| x.clone())
    }

    fn binary(&mut self, x: &GraphValue) -> GraphValue {
        let table = if self.is_smooth() { SMOOTH_BINARY } else { BINARY };
        let (y, op) = (self.partner(x), self.dice.pick(table));
        if self.mode == GraphMode::Specials {
            let op = self.dice.pick(&["Maximum", "Minimum", "AddV2"]);
            return self.op(op, &[x, &y], "", &x.dims.clone());
        }
        self.op(op, &[x, &y], "", &x.dims.clone())
    }

    /// An op on a value and a broadcast constant, which is often the op's identity element.
    fn with_constant(&mut self, x: &GraphValue) -> GraphValue {
        let dims = x.dims.clone();
        let is_scalar = dims.is_empty() || self.chance(50);
        let last: Vec<usize> = if is_scalar { Vec::new() } else { dims[dims.len() - 1..].to_vec() };
        let choice = self.dice.below(5);
        let c = self.constant(&last, |graph| match choice {
            0 => 0.0,
            1 => 1.0,
            2 => 2.0,
            _ => graph.number() + 3.0,
        });
        let ops: &[&str] = match self.mode {
            GraphMode::Integers => &["AddV2", "Sub", "Mul", "Maximum"],
            // No `Mul`: TensorFlow's own optimizer drops x * 0.
            GraphMode::Specials => &["AddV2", "Sub", "Maximum"],
            _ if self.is_smooth() && choice == 0 => &["AddV2", "Sub", "Mul"],
            _ if choice == 0 => &["AddV2", "Sub", "Mul", "Maximum"],
            _ => &["AddV2", "Sub", "Mul", "RealDiv", "AddV2", "Mul"],
        };
        let op = self.dice.pick(ops);
        if choice == 2 && self.mode == GraphMode::Floats && self.chance(30) {
            return self.op("Pow", &[x, &c], "", &dims);
        }
        let turned = self.chance(40) && op != "RealDiv";
        if turned { self.op(op, &[&c, x], "", &dims) } else { self.op(op, &[x, &c], "", &dims) }
    }

    fn sum(&mut self, x: &GraphValue) -> GraphValue {
        let (y, dims) = (self.partner(x), x.dims.clone());
        if self.chance(50) || self.mode == GraphMode::Specials {
            return self.op("AddN", &[x, &y, x], "", &dims);
        }
        let (a, b) = (self.op("Mul", &[x, &y], "", &dims), self.op("Mul", &[&y, x], "", &dims));
        self.op("AddV2", &[&a, &b], "", &dims)
    }

    fn reduced(&mut self, x: &GraphValue) -> GraphValue {
        let axes: Vec<usize> = (0..x.dims.len()).filter(|_| self.dice.below(2) == 0).collect();
        let keep = self.chance(50);
        let left: Vec<usize> = (0..x.dims.len())
            .filter(|axis| keep || !axes.contains(axis))
            .map(|axis| if axes.contains(&axis) { 1 } else { x.dims[axis] })
            .collect();
        let ops: &[&str] = if self.mode == GraphMode::Integers {
            &["Sum", "Max", "Min"]
        } else if self.is_smooth() {
            &["Sum", "Mean"]
        } else {
            &["Sum", "Mean", "Max", "Min"]
        };
        let op = self.dice.pick(ops);
        let back = x.dims.len() as i64;
        let negative = self.chance(30);
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64 - if negative { back } else { 0 }).collect();
        let y = self.with_ints(op, x, &axes, &format!("keep_dims = {keep}"), &left);
        GraphValue { is_first: keep && x.is_first, ..y }
    }

    fn reshaped(&mut self, x: &GraphValue) -> GraphValue {
        let n: usize = x.dims.iter().product();
        let dims: Vec<usize> = match self.dice.below(4) {
            0 => vec![n],
            1 if n.is_multiple_of(6) => vec![6, n / 6],
            2 if n.is_multiple_of(4) => vec![2, 1, n / 4, 2],
            _ => x.dims.iter().copied().rev().collect(),
        };
        let ints: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let y = self.with_ints("Reshape", x, &ints, "", &dims);
        let y = GraphValue { is_first: false, ..y };
        if self.chance(40) {
            let again: Vec<i64> = x.dims.iter().map(|&dim| dim as i64).collect();
            let z = self.with_ints("Reshape", &y, &again, "", &x.dims.clone());
            return GraphValue { is_first: x.is_first, ..z };
        }
        y
    }

    fn transposed(&mut self, x: &GraphValue) -> GraphValue {
        let rank = x.dims.len();
        let mut order: Vec<usize> = (0..rank).collect();
        let is_layout = rank == 4 && self.chance(70);
        if is_layout {
            order = if x.is_first { vec![0, 2, 3, 1] } else { vec![0, 3, 1, 2] };
        } else {
            for i in (1..rank).rev() {
                order.swap(i, self.dice.below(i + 1));
            }
        }
        let dims: Vec<usize> = order.iter().map(|&axis| x.dims[axis]).collect();
        let order: Vec<i64> = order.iter().map(|&axis| axis as i64).collect();
        let y = self.with_ints("Transpose", x, &order, "", &dims);
        GraphValue { is_first: is_layout && !x.is_first, ..y }
    }

    fn joined(&mut self, x: &GraphValue) -> GraphValue {
        if x.dims.is_empty() {
            return x.clone();
        }
        let axis = self.dice.below(x.dims.len());
        let mut dims = x.dims.clone();
        let element = self.element();
        if self.chance(50) {
            let y = self.partner(x);
            dims[axis] *= 3;
            let (c, at) = (self.constant(&x.dims.clone(), Self::number), self.ints(&[], &[axis as i64]));
            return self.op_of(
                "ConcatV2",
                &[(x, element), (&c, element), (&y, element), (&at, "i32")],
                "",
                &dims,
            );
        }
        let op = self.dice.pick(&["Neg", "Relu", "Abs"]);
        let op = match self.mode {
            GraphMode::Integers => "Neg",
            _ if self.is_smooth() => "Tanh",
            _ => op,
        };
        let (a, b) = (self.op(op, &[x], "", &dims.clone()), self.op(op, &[x], "", &dims.clone()));
        dims[axis] *= 2;
        let at = self.ints(&[], &[axis as i64 - x.dims.len() as i64]);
        self.op_of("ConcatV2", &[(&a, element), (&b, element), (&at, "i32")], "", &dims)
    }

    fn sliced(&mut self, x: &GraphValue) -> GraphValue {
        let begin: Vec<i64> = x.dims.iter().map(|&dim| self.dice.below(dim.min(2)) as i64).collect();
        let dims: Vec<usize> = x.dims.iter().zip(&begin).map(|(&dim, &begin)| dim - begin as usize).collect();
        let sizes: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let n = begin.len();
        let (first, second) = (self.ints(&[n], &begin), self.ints(&[n], &sizes));
        let element = self.element();
        if self.chance(50) {
            return self.op_of("Slice", &[(x, element), (&first, "i32"), (&second, "i32")], "", &dims);
        }
        let ones = self.ints(&[n], &vec![1; n]);
        let mask = self.dice.below(1 << n);
        let dims: Vec<usize> = (0..n).map(|i| if mask >> i & 1 == 1 { x.dims[i] } else { dims[i] }).collect();
        let end: Vec<i64> = x.dims.iter().map(|&dim| dim as i64).collect();
        let end = self.ints(&[n], &end);
        let operands = [(x, element), (&first, "i32"), (&end, "i32"), (&ones, "i32")];
        self.op_of(
            "StridedSlice",
            &operands,
            &format!("begin_mask = {mask}, end_mask = {}", self.dice.0 as usize % 4),
            &dims,
        )
    }

    fn padded(&mut self, x: &GraphValue) -> GraphValue {
        let rank = x.dims.len();
        if rank == 0 {
            return x.clone();
        }
        match self.dice.below(3) {
            0 => {
                let times: Vec<i64> = (0..rank).map(|_| 1 + self.dice.below(2) as i64).collect();
                let dims: Vec<usize> = x.dims.iter().zip(&times).map(|(&dim, &n)| dim * n as usize).collect();
                self.with_ints("Tile", x, &times, "", &dims)
            }
            1 => {
                let axis = self.dice.below(rank) as i64;
                self.with_ints("ReverseV2", x, &[axis], "", &x.dims.clone())
            }
            _ => {
                let pads: Vec<i64> = (0..2 * rank).map(|_| self.dice.below(2) as i64).collect();
                let dims: Vec<usize> =
                    (0..rank).map(|i| x.dims[i] + (pads[2 * i] + pads[2 * i + 1]) as usize).collect();
                let (pads, element) = (self.ints(&[rank, 2], &pads), self.element());
                self.op_of("Pad", &[(x, element), (&pads, "i32")], "", &dims)
            }
        }
    }

    /// A matrix product, optionally with a bias and an activation.
    fn product(&mut self, x: &GraphValue) -> GraphValue {
        let rank = x.dims.len();
        if rank > 2 {
            let (y, turned) = (self.partner(x), self.chance(50));
            let (rows, columns) = (x.dims[rank - 2], x.dims[rank - 1]);
            let mut dims = x.dims.clone();
            (dims[rank - 2], dims[rank - 1]) = if turned { (columns, columns) } else { (rows, rows) };
            let attrs = if turned { "adj_x = true" } else { "adj_y = true" };
            return self.op("BatchMatMulV2", &[x, &y], attrs, &dims);
        }
        let (turned_a, turned_b) = (self.chance(30), self.chance(30));
        let (rows, k) = if turned_a { (x.dims[1], x.dims[0]) } else { (x.dims[0], x.dims[1]) };
        let w = self.constant(&if turned_b { [5, k] } else { [k, 5] }, Self::number);
        let attrs = format!("transpose_a = {turned_a}, transpose_b = {turned_b}");
        let y = self.op("MatMul", &[x, &w], &attrs, &[rows, 5]);
        if self.mode == GraphMode::Integers || self.chance(30) {
            return y;
        }
        let bias = self.constant(&[5], Self::number);
        let op = self.dice.pick(&["BiasAdd", "AddV2"]);
        let y = self.op(op, &[&y, &bias], "", &[rows, 5]);
        let residual = self.values.iter().find(|value| value.dims == [rows, 5]).cloned();
        let y = match residual {
            Some(residual) => self.op("AddV2", &[&y, &residual], "", &[rows, 5]),
            None => y,
        };
        let ops: &[&str] = if self.is_smooth() {
            &["Tanh", "Sigmoid", "Identity"]
        } else {
            &["Relu", "Tanh", "Sigmoid", "Relu6", "Elu", "LeakyRelu", "Identity"]
        };
        let op = self.dice.pick(ops);
        self.op(op, &[&y], "", &[rows, 5])
    }

    /// An elementwise choice (`SelectV2`) between two values.
    fn chosen(&mut self, x: &GraphValue) -> GraphValue {
        let (y, dims, op) = (self.partner(x), x.dims.clone(), self.dice.pick(&["Less", "GreaterEqual"]));
        // The condition compares an input: that of a computed float would depend on its last bits.
        let input =
            self.inputs.iter().find(|input| input.dims == dims && input.is_first == x.is_first).cloned();
        let Some(input) = input else { return x.clone() };
        let (element, ty, bools) = (self.element(), self.ty(&dims, self.element()), self.ty(&dims, "i1"));
        let zero = self.constant(&[], |_| 0.0);
        let (less, not, name) = (self.name(), self.name(), self.name());
        self.line(format_args!(
            "  {less} = \"tf.{op}\"({}, {}) : ({ty}, tensor<{element}>) -> {bools}\n  \
             {not} = \"tf.LogicalNot\"({less}) : ({bools}) -> {bools}\n  \
             {name} = \"tf.SelectV2\"({not}, {}, {}) : ({bools}, {ty}, {ty}) -> {ty}\n",
            input.name, zero.name, x.name, y.name
        ));
        GraphValue { name, dims, is_const: false, is_first: x.is_first }
    }

    /// An op on images.
    fn image(&mut self, x: &GraphValue) -> GraphValue {
        let first = x.is_first;
        let (h, w, c) =
            if first { (x.dims[2], x.dims[3], x.dims[1]) } else { (x.dims[1], x.dims[2], x.dims[3]) };
        let (b, layout) = (x.dims[0], if first { "NCHW" } else { "NHWC" });
        let dims = |h: usize, w: usize, c: usize| if first { [b, c, h, w] } else { [b, h, w, c] };
        let format = format!("data_format = \"{layout}\"");
        let stride = 1 + self.dice.below(2);
        let list = |n: usize| if first { format!("[1, 1, {n}, {n}]") } else { format!("[1, {n}, {n}, 1]") };
        let same = format!("strides = {}, padding = \"SAME\", {format}", list(stride));
        let (down, across) = (h.div_ceil(stride), w.div_ceil(stride));
        let vector = |graph: &mut Self, n: usize| graph.constant(&[n], Self::number);
        match self.dice.below(8) {
            0..3 => {
                let size = 1 + 2 * self.dice.below(2);
                let filter = self.constant(&[size, size, c, 4], |graph| graph.number() / 4.0);
                let y = self.op("Conv2D", &[x, &filter], &same, &dims(down, across, 4));
                let y = if self.chance(60) {
                    let bias = vector(self, 4);
                    self.op("BiasAdd", &[&y, &bias], &format, &y.dims.clone())
                } else {
                    let [scale, offset, mean] = [(); 3].map(|()| vector(self, 4));
                    let variance = self.constant(&[4], |graph| graph.number() + 2.5);
                    self.norm(&y, [&scale, &offset, &mean, &variance], &format)
                };
                let op = self.dice.pick(&["Relu", "Relu6", "Elu", "Identity"]);
                self.op(op, &[&y], "", &y.dims.clone())
            }
            3 => {
                let filter = self.constant(&[3, 3, c, 1], Self::number);
                self.op("DepthwiseConv2dNative", &[x, &filter], &same, &dims(down, across, c))
            }
            4 => {
                let op = self.dice.pick(&["MaxPool", "AvgPool"]);
                self.op(op, &[x], &format!("ksize = {}, {same}", list(2)), &dims(down, across, c))
            }
            5 => {
                let bias = vector(self, c);
                self.op("BiasAdd", &[x, &bias], &format, &x.dims.clone())
            }
            6 => {
                let c = self.constant(&if first { [c, 1, 1] } else { [1, 1, c] }, Self::number);
                let op = self.dice.pick(&["AddV2", "Mul", "Sub", "Maximum"]);
                self.op(op, &[x, &c], "", &x.dims.clone())
            }
            _ => {
                let plane: [i64; 2] = if first { [2, 3] } else { [1, 2] };
                let y = self.with_ints("Mean", x, &plane, "keep_dims = true", &dims(1, 1, c));
                self.op("AddV2", &[x, &y], "", &x.dims.clone())
            }
        }
    }

    /// Rows along an axis, some of them several times.
    fn gathered(&mut self, x: &GraphValue) -> GraphValue {
        if x.dims.is_empty() {
            return x.clone();
        }
        let axis = self.dice.below(x.dims.len());
        let rows: Vec<i64> =
            (0..1 + self.dice.below(4)).map(|_| self.dice.below(x.dims[axis]) as i64).collect();
        let mut dims = x.dims.clone();
        dims[axis] = rows.len();
        let (rows, axis, element) =
            (self.ints(&[rows.len()], &rows), self.ints(&[], &[axis as i64]), self.element());
        self.op_of("GatherV2", &[(x, element), (&rows, "i32"), (&axis, "i32")], "", &dims)
    }

    fn norm(&mut self, x: &GraphValue, vectors: [&GraphValue; 4], format: &str) -> GraphValue {
        let (name, ty, vector) =
            (self.name(), self.ty(&x.dims, "f32"), format!("tensor<{}xf32>", vectors[0].dims[0]));
        let names: Vec<&str> = vectors.iter().map(|value| value.name.as_str()).collect();
        self.line(format_args!(
            "  {name}:6 = \"tf.FusedBatchNormV3\"({}, {}) {{is_training = false, {format}}} : ({ty}, {vector}, {vector}, {vector}, {vector}) \
             -> ({ty}, {vector}, {vector}, {vector}, {vector}, tensor<*xf32>)\n",
            x.name,
            names.join(", ")
        ));
        GraphValue { name: format!("{name}#0"), dims: x.dims.clone(), is_const: false, is_first: x.is_first }
    }
}
