//! Results that TensorFlow itself computed: each file of `testdata/tensorflow` is a graph with its operands and results.
//!
//! ```text
//! file := 'tolerance' rtol atol { line }
//! line := name ':=' literal                                an operand or constant (see `literal`)
//!       | name '=' Op { name [':' output] } { key '=' value }
//!       | 'want' name [':' output] literal                 a result, with the file's tolerance: integers are exact
//!       | 'fails' name                                     the operator refuses its operands
//! ```
//!
//! The tolerances are those that TensorFlow's own results were stored with; ours are computed in f64 and rounded once, theirs in f32.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::*;
use crate::compare::{Tolerance, compare as compare_tensors};
use crate::{DType, HostTensor, Shape, TensorError, literal};

#[test]
fn every_graph_has_tensorflows_results() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tensorflow");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() > 20, "the graphs are gone");
    let problems: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let problems = run(&fs::read_to_string(path).unwrap());
            problems.into_iter().map(move |problem| format!("{}: {problem}", path.display()))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with a file, a line each.
fn run(text: &str) -> Vec<String> {
    let mut values: HashMap<String, HostTensor> = HashMap::new();
    let mut failed: HashMap<String, String> = HashMap::new();
    let mut problems = Vec::new();
    let mut tolerance = Tolerance::EXACT;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["tolerance", rtol, atol] => {
                tolerance = Tolerance { rtol: rtol.parse().unwrap(), atol: atol.parse().unwrap() };
            }
            [name, ":=", text] => {
                values.insert(name.to_owned(), literal::parse(text, &malloc()).unwrap());
            }
            ["want", name, text] => {
                let want = literal::parse(text, &malloc()).unwrap();
                match values.get(name).map(|got| compare_tensors(got, &want, tolerance)) {
                    Some(Ok(report)) if report.is_match() => {}
                    Some(other) => problems
                        .push(format!("{name}: {}", other.map_or_else(|e| e.to_string(), |r| r.to_string()))),
                    None => problems
                        .push(format!("{name}: {}", failed.get(name).map_or("unknown", String::as_str))),
                }
            }
            ["fails", name] if failed.contains_key(name) => {}
            ["fails", name] => problems.push(format!("{name} does not fail")),
            [name, "=", op, ref rest @ ..] => {
                let node = Node::new(op, rest, &values);
                match node
                    .map_err(|missing| format!("no value {missing}"))
                    .and_then(|node| node.run().map_err(|e| e.to_string()))
                {
                    Ok(results) => {
                        for (i, result) in results.into_iter().enumerate() {
                            let key = if i == 0 { name.to_owned() } else { format!("{name}:{i}") };
                            values.insert(key, result);
                        }
                    }
                    Err(error) => _ = failed.insert(name.to_owned(), error),
                }
            }
            _ => problems.push(format!("not understood: {line}")),
        }
    }
    problems
}

fn malloc() -> std::sync::Arc<dyn crate::mem::Allocator> {
    crate::mem::Malloc::shared()
}

/// An operator with its operands and attributes.
struct Node<'a> {
    op: &'a str,
    inputs: Vec<&'a HostTensor>,
    attrs: HashMap<&'a str, &'a str>,
}

impl<'a> Node<'a> {
    fn new(
        op: &'a str,
        rest: &[&'a str],
        values: &'a HashMap<String, HostTensor>,
    ) -> Result<Node<'a>, &'a str> {
        let (attrs, names): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| word.contains('='));
        let inputs = names.into_iter().map(|name| values.get(name).ok_or(name)).collect::<Result<_, _>>()?;
        Ok(Node { op, inputs, attrs: attrs.iter().filter_map(|word| word.split_once('=')).collect() })
    }

    fn attr(&self, key: &str) -> &str {
        self.attrs.get(key).unwrap_or_else(|| panic!("{} has no {key}", self.op))
    }

    fn is(&self, key: &str) -> bool {
        self.attr(key) == "true"
    }

    fn int(&self, key: &str) -> i64 {
        self.attr(key).parse().unwrap()
    }

    fn list(&self, key: &str) -> Vec<i64> {
        self.attr(key).split(',').filter(|s| !s.is_empty()).map(|s| s.parse().unwrap()).collect()
    }

    /// Height and width of an attribute that has a number per axis.
    fn plane(&self, key: &str) -> (usize, usize) {
        let list = self.list(key);
        (list[1] as usize, list[2] as usize)
    }

    fn dtype(&self, key: &str) -> DType {
        self.attr(key).parse().unwrap()
    }

    fn padding(&self) -> Padding {
        match self.attr("padding") {
            "SAME" => Padding::Same,
            _ => Padding::Valid,
        }
    }

    fn format(&self) -> Format {
        if self.attr("data_format") == "NCHW" { Format::Nchw } else { Format::Nhwc }
    }

    fn conv(&self) -> Conv2d {
        Conv2d {
            strides: self.plane("strides"),
            dilations: self.plane("dilations"),
            padding: self.padding(),
            format: self.format(),
        }
    }

    fn turn(&self, key: &str, turned: Turn) -> Turn {
        if self.is(key) { turned } else { Turn::None }
    }

    fn ints(&self, at: usize) -> Vec<i64> {
        index::indices_of("operand", self.inputs[at]).unwrap()
    }

    fn run(&self) -> Result<Vec<HostTensor>, TensorError> {
        let m = &malloc();
        let x = self.inputs[0];
        let last = self.inputs.len() - 1;
        if let Some(op) = Unary::named(self.op) {
            return Ok(vec![unary(op, x, m)?]);
        }
        if let Some(op) = Binary::named(self.op) {
            return Ok(vec![binary(op, x, self.inputs[1], m)?]);
        }
        if let Some(op) = Compare::named(self.op) {
            return Ok(vec![compare(op, x, self.inputs[1], m)?]);
        }
        if let Some(op) = Reduce::named(self.op) {
            return Ok(vec![reduce(op, x, &self.ints(1), self.is("keep_dims"), m)?]);
        }
        if let Some(op) = Scan::named(self.op) {
            return Ok(vec![scan(op, x, self.ints(1)[0], self.is("exclusive"), self.is("reverse"), m)?]);
        }
        if let Some(op) = Test::named(self.op) {
            return Ok(vec![test(op, x, m)?]);
        }
        Ok(match self.op {
            "AddN" => vec![add_n(&self.inputs, m)?],
            "ArgMax" | "ArgMin" => {
                vec![arg_extreme(self.op == "ArgMax", x, self.ints(1)[0], self.dtype("output_type"), m)?]
            }
            "BatchMatMulV2" => {
                let (left, right) = (self.turn("adj_x", Turn::Adjoint), self.turn("adj_y", Turn::Adjoint));
                vec![batch_matmul(x, left, self.inputs[1], right, m)?]
            }
            "Conv2D" => vec![conv2d(x, self.inputs[1], &self.conv(), m)?],
            "DepthwiseConv2dNative" => vec![depthwise_conv2d(x, self.inputs[1], &self.conv(), m)?],
            "Einsum" => vec![einsum(self.attr("equation"), &self.inputs, m)?],
            "MatMul" => {
                let (left, right) =
                    (self.turn("transpose_a", Turn::Transpose), self.turn("transpose_b", Turn::Transpose));
                vec![matmul(x, left, self.inputs[1], right, m)?]
            }
            "AvgPool" | "MaxPool" => {
                let kind = if self.op == "AvgPool" { Pool::Avg } else { Pool::Max };
                let attrs = Pool2d {
                    window: self.plane("ksize"),
                    strides: self.plane("strides"),
                    padding: self.padding(),
                    format: self.format(),
                };
                vec![pool(kind, x, &attrs, m)?]
            }
            "BiasAdd" => vec![bias_add(x, self.inputs[1], self.format(), m)?],
            "BiasAddGrad" => vec![bias_add_grad(x, self.format(), m)?],
            "Bitcast" => vec![bitcast(x, self.dtype("type"))?],
            "BroadcastTo" => vec![broadcast_to(x, &Shape::from_i64(&self.ints(1))?, m)?],
            "Cast" => vec![cast(x, self.dtype("DstT"), m)?],
            "ConcatV2" => vec![concat(&self.inputs[..last], self.ints(last)[0], m)?],
            "DepthToSpace" => vec![depth_to_space(x, self.int("block_size") as usize, m)?],
            "ExpandDims" => vec![expand_dims(x, self.ints(1)[0])?],
            "Fill" => vec![fill(Shape::from_i64(&self.ints(0))?, self.inputs[1], m)?],
            "FusedBatchNormV3" => {
                let &[x, scale, offset, mean, variance] = &self.inputs[..] else { panic!() };
                let by = BatchNorm { scale, offset, mean, variance };
                let epsilon = self.attr("epsilon").parse().unwrap();
                let attrs = BatchNormAttrs { epsilon, format: self.format(), ..BatchNormAttrs::default() };
                vec![batch_norm(x, &by, &attrs, m)?]
            }
            "GatherNd" => vec![gather_nd(x, self.inputs[1], m)?],
            "GatherV2" => vec![gather(x, self.inputs[1], self.ints(2)[0], self.int("batch_dims"), m)?],
            "InTopKV2" => vec![in_top_k(x, self.inputs[1], self.ints(2)[0], m)?],
            "LeakyRelu" => vec![leaky_relu(x, self.attr("alpha").parse().unwrap(), m)?],
            "LogSoftmax" => vec![log_softmax(x, m)?],
            "OneHot" => {
                let depth = self.ints(1)[0] as usize;
                vec![one_hot(x, depth, self.inputs[2], self.inputs[3], self.int("axis"), m)?]
            }
            "Pack" => vec![pack(&self.inputs, self.int("axis"), m)?],
            "Pad" => {
                let paddings: Vec<(i64, i64)> = self.ints(1).chunks(2).map(|p| (p[0], p[1])).collect();
                vec![pad(x, &paddings, PadMode::Constant(&[]), m)?]
            }
            "Range" => vec![range(x, self.inputs[1], self.inputs[2], m)?],
            "Reshape" => vec![reshape(x, &self.ints(1))?],
            "ReverseV2" => vec![reverse(x, &self.ints(1), m)?],
            "Roll" => vec![roll(x, &self.ints(1), &self.ints(2), m)?],
            "ScatterNd" => vec![scatter_nd(x, self.inputs[1], &Shape::from_i64(&self.ints(2))?, m)?],
            "SelectV2" => vec![select(x, self.inputs[1], self.inputs[2], m)?],
            "Shape" => vec![shape_of(x, self.dtype("out_type"), m)?],
            "Slice" => vec![slice(x, &self.ints(1), &self.ints(2), m)?],
            "Softmax" => vec![softmax(x, m)?],
            "SoftmaxCrossEntropyWithLogits" => softmax_cross_entropy(x, self.inputs[1], m)?.to_vec(),
            "SpaceToDepth" => vec![space_to_depth(x, self.int("block_size") as usize, m)?],
            "SparseSoftmaxCrossEntropyWithLogits" => {
                sparse_softmax_cross_entropy(x, self.inputs[1], m)?.to_vec()
            }
            "Split" => split(self.inputs[1], self.int("num_split") as usize, self.ints(0)[0], m)?,
            "SplitV" => split_v(x, &self.ints(1), self.ints(2)[0], m)?,
            "Squeeze" => vec![squeeze(x, &self.list("squeeze_dims"))?],
            "StridedSlice" => {
                let mask = |key| self.int(key) as u64;
                let masks = SliceMasks {
                    begin: mask("begin_mask"),
                    end: mask("end_mask"),
                    ellipsis: mask("ellipsis_mask"),
                    new_axis: mask("new_axis_mask"),
                    shrink_axis: mask("shrink_axis_mask"),
                };
                let (begin, end, strides) = (self.ints(1), self.ints(2), self.ints(3));
                vec![strided_slice(x, &SliceRange { begin: &begin, end: &end, strides: &strides, masks }, m)?]
            }
            "TensorScatterUpdate" => {
                vec![tensor_scatter(Scatter::Update, x, self.inputs[1], self.inputs[2], m)?]
            }
            "Tile" => vec![tile(x, &self.ints(1), m)?],
            "TopKV2" => top_k(x, self.ints(1)[0] as usize, m)?.to_vec(),
            "Transpose" => vec![transpose(x, &self.ints(1), m)?],
            "Unpack" => unpack(x, self.int("axis"), m)?,
            "UnsortedSegmentSum" => {
                vec![unsorted_segment(Segment::Sum, x, self.inputs[1], self.ints(2)[0] as usize, m)?]
            }
            op => panic!("no operator {op}"),
        })
    }
}
