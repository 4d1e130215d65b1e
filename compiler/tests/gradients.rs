//! Gradient rules, compared with central differences in f64: first and second derivatives, with static and
//! with unknown shapes. Programs are evaluated by the functions of the tensor library, without kernels.
//!
//! ```text
//! L(x) = sum r * f(x)      dL/dx = tf._Gradients(f(x), r, x)      compared with (L(x+h) - L(x-h)) / 2h
//! M(x) = sum q * dL/dx     dM/dx = tf._Gradients(dL/dx, q, x)     likewise, for the ops that rules emit
//! ```
//!
//! A case of one op is a line: name, operands, results, attributes. An operand is a constant after `=`, or
//! the shape of random numbers, with their range after `@`. A prefix of the name marks an exception: `!` for
//! no second derivative, `~` for a rule that needs static shapes, `f` for an op of f32 only, which is
//! compared with a larger tolerance.
#![forbid(unsafe_code)]

mod gradient_cases;

use std::collections::HashMap;
use std::sync::Arc;

use befrost_compiler::dialects::tf;
use befrost_compiler::ir::{Module, OpId, ValueId};
use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::{Gradient, rows};
use befrost_tensor::{DType, HostTensor, Shape};
use gradient_cases::{COMPOSED, OPERATORS};

/// A function that is differentiated.
struct Case {
    name: String,
    /// Shapes and ranges of the arguments.
    args: Vec<(Vec<i64>, f64, f64)>,
    /// The ops, which read `%x0` ... and make `%y0` ...; `TYPE0` stands for the type of argument 0.
    body: String,
    /// The shapes of the results.
    results: Vec<Vec<i64>>,
    has_second: bool,
    may_be_dynamic: bool,
    dtype: DType,
}

fn shape(text: &str) -> Vec<i64> {
    text.split('x').filter(|size| !size.is_empty()).map(|size| size.parse().expect("a size")).collect()
}

fn tensor_type(shape: &[i64], dtype: DType) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{dtype}>")
}

/// `2x3@-1..1`: shape and range.
fn argument(text: &str) -> (Vec<i64>, f64, f64) {
    let (sizes, range) = text.split_once('@').unwrap_or((text, "0.2..0.8"));
    let (low, high) = range.split_once("..").expect("a range");
    (shape(sizes.trim_end_matches('s')), low.parse().expect("a number"), high.parse().expect("a number"))
}

fn operator(line: &str) -> Case {
    let has_second = !line.contains('!');
    let may_be_dynamic = !line.contains('~');
    let dtype = if line.starts_with('f') { DType::F32 } else { DType::F64 };
    let (name, rest) = line.trim_start_matches(['f', '!', '~']).split_once(':').expect("a name");
    let (operands, results) = rest.split_once("->").expect("results");
    let (results, attrs) = results
        .split_once('<')
        .map_or((results, String::new()), |(results, attrs)| (results, format!(" <{attrs}")));
    let (mut args, mut body, mut names, mut types) = (Vec::new(), String::new(), Vec::new(), Vec::new());
    for (i, operand) in operands.split(';').map(str::trim).filter(|text| !text.is_empty()).enumerate() {
        match operand.strip_prefix('=') {
            Some(constant) => {
                let (value, ty) = constant.rsplit_once(':').expect("a type");
                let ty = format!("tensor<{}>", ty.trim());
                body += &format!(
                    "  %c{i} = \"tf.Const\"() <{{value = dense<{}> : {ty}}}> : () -> {ty}\n",
                    value.trim()
                );
                names.push(format!("%c{i}"));
                types.push(ty);
            }
            None => {
                names.push(format!("%x{}", args.len()));
                types.push(format!("TYPE{}", args.len()));
                args.push(argument(operand));
            }
        }
    }
    let (mut result_types, mut shapes) = (Vec::new(), Vec::new());
    for result in results.split(';').map(str::trim) {
        match result.split_once(':') {
            Some((sizes, element)) => {
                let sizes: String = shape(sizes).iter().map(|size| format!("{size}x")).collect();
                result_types.push(format!("tensor<{sizes}{element}>"));
            }
            None => {
                let sizes = shape(result.trim_end_matches('s'));
                result_types.push(tensor_type(&sizes, dtype));
                shapes.push((result_types.len() - 1, sizes));
            }
        }
    }
    let n = result_types.len();
    body += &format!(
        "  %y:{n} = \"tf.{name}\"({}){attrs} : ({}) -> ({})\n",
        names.join(", "),
        types.join(", "),
        result_types.join(", ")
    );
    for (k, (i, sizes)) in shapes.iter().enumerate() {
        let ty = tensor_type(sizes, dtype);
        body += &format!("  %y{k} = \"tf.Identity\"(%y#{i}) : ({ty}) -> {ty}\n");
    }
    let results = shapes.into_iter().map(|(_, sizes)| sizes).collect();
    Case { name: name.to_owned(), args, body, results, has_second, may_be_dynamic, dtype }
}

/// The program of a case: its results, then the gradients, then the second ones.
fn program(case: &Case, is_dynamic: bool) -> String {
    let arg_types: Vec<String> =
        case.args
            .iter()
            .map(|(sizes, ..)| {
                if is_dynamic { format!("tensor<*x{}>", case.dtype) } else { tensor_type(sizes, case.dtype) }
            })
            .collect();
    let result_types: Vec<String> = case.results.iter().map(|sizes| tensor_type(sizes, case.dtype)).collect();
    let list =
        |prefix: &str, n: usize| (0..n).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let (n, k) = (case.args.len(), case.results.len());
    let mut args: Vec<String> = arg_types.iter().enumerate().map(|(i, ty)| format!("%x{i}: {ty}")).collect();
    args.extend(result_types.iter().enumerate().map(|(i, ty)| format!("%r{i}: {ty}")));
    args.extend(arg_types.iter().enumerate().map(|(i, ty)| format!("%q{i}: {ty}")));
    let mut body = case.body.clone();
    for (i, ty) in arg_types.iter().enumerate() {
        body = body.replace(&format!("TYPE{i}"), ty);
    }
    let (xs, ys) = (arg_types.join(", "), result_types.join(", "));
    body += &format!(
        "  %grad:{n} = \"tf._Gradients\"({}, {}, {}) <{{operandSegmentSizes = array<i32: {k}, {k}, {n}, 0>, \
         unconnected = \"zero\"}}> : ({ys}, {ys}, {xs}) -> ({xs})\n",
        list("y", k),
        list("r", k),
        list("x", n)
    );
    let (mut returned, mut types) =
        (format!("{}, {}", list("y", k), list("grad#", n)), format!("{ys}, {xs}"));
    if case.has_second {
        body += &format!(
            "  %hess:{n} = \"tf._Gradients\"({}, {}, {}) <{{operandSegmentSizes = array<i32: {n}, {n}, {n}, 0>, \
             unconnected = \"zero\"}}> : ({xs}, {xs}, {xs}) -> ({xs})\n",
            list("grad#", n),
            list("q", n),
            list("x", n)
        );
        returned += &format!(", {}", list("hess#", n));
        types += &format!(", {xs}");
    }
    format!(
        "func.func @main({}) -> ({types}) {{\n{body}  func.return {returned} : {types}\n}}\n",
        args.join(", ")
    )
}

fn differentiated(text: &str) -> Result<Module, String> {
    let said = |found: Vec<befrost_compiler::diag::Diagnostic>| {
        found.into_iter().map(|d| format!("{}: {}", d.code, d.message)).collect::<Vec<_>>().join("; ")
    };
    let parsed = parse("case", text, &ParseOptions::default());
    let module = parsed.module.ok_or_else(|| said(parsed.diagnostics))?;
    let module = verify(module).map_err(said)?;
    let mut passes = PassManager::parse("builtin.module(tf-gradients)").expect("a pipeline");
    let (module, _) = passes.run(module).map_err(said)?;
    Ok(module.into_module())
}

/// Runs `@main`, which has one block of operators.
fn run(m: &Module, args: &[HostTensor], plain: &Arc<dyn Allocator>) -> Result<Vec<HostTensor>, String> {
    let function = m.find_function("main").expect("a function");
    let block = m.entry(m.regions_of(function)[0]).expect("a block");
    let mut values: HashMap<ValueId, HostTensor> =
        m.args(block).iter().copied().zip(args.iter().cloned()).collect();
    for op in m.ops_in(block).collect::<Vec<OpId>>() {
        let operands: Vec<&HostTensor> = m.operands(op).map(|value| &values[&value]).collect();
        if m.op_name_str(op) == "func.return" {
            return Ok(operands.into_iter().cloned().collect());
        }
        let row = tf::row(m, op).ok_or_else(|| format!("{} is no operator", m.op_name_str(op)))?;
        let eval = row.prepare(&tf::attrs_of(m, op, row.signature())).map_err(|error| error.to_string())?;
        let eval = eval.ok_or_else(|| format!("{} cannot be evaluated", row.name))?;
        let results = eval(&operands, plain).map_err(|error| format!("{}: {error}", row.name))?;
        values.extend(m.results(op).zip(results));
    }
    Err("no return".to_owned())
}

/// Pseudorandom numbers from a fixed seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn tensor(&mut self, dtype: DType, sizes: &[i64], low: f64, high: f64) -> HostTensor {
        let n: i64 = sizes.iter().product();
        let offset = self.next();
        // No two numbers of a tensor are nearly equal, and matrices are not singular.
        let at = |i: i64| (offset + 0.618_033_988_749_894_9 * (i * i + i / 3) as f64).fract();
        let numbers: Vec<f64> = (0..n).map(|i| low + (high - low) * at(i)).collect();
        tensor(dtype, Shape::from_i64(sizes).expect("a shape"), &numbers)
    }
}

fn tensor(dtype: DType, shape: Shape, numbers: &[f64]) -> HostTensor {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let wide = HostTensor::from_slice(shape, numbers, &plain).expect("a tensor");
    befrost_tensor::tf::cast(&wide, dtype, &plain).expect("a cast")
}

fn numbers(x: &HostTensor) -> Vec<f64> {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let wide = befrost_tensor::tf::cast(x, DType::F64, &plain).expect("a cast");
    wide.read::<f64>().expect("numbers").to_vec()
}

fn check(case: &Case, is_dynamic: bool) -> Result<(), String> {
    let (step, tolerance) = if case.dtype == DType::F32 { (1e-2, 1e-2) } else { (1e-5, 2e-5) };
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let module = differentiated(&program(case, is_dynamic))?;
    let mut random = Numbers(case.name.len() as u64 + 7);
    let (n, k) = (case.args.len(), case.results.len());
    let xs: Vec<HostTensor> =
        case.args.iter().map(|(sizes, low, high)| random.tensor(case.dtype, sizes, *low, *high)).collect();
    let rs: Vec<HostTensor> =
        case.results.iter().map(|sizes| random.tensor(case.dtype, sizes, -1.0, 1.0)).collect();
    let qs: Vec<HostTensor> =
        case.args.iter().map(|(sizes, ..)| random.tensor(case.dtype, sizes, -1.0, 1.0)).collect();
    let at = |xs: &[HostTensor]| run(&module, &[xs, &rs, &qs].concat(), &plain);
    let sum = |values: &[HostTensor], weights: &[HostTensor]| -> f64 {
        values
            .iter()
            .zip(weights)
            .map(|(v, w)| numbers(v).iter().zip(numbers(w)).map(|(v, w)| v * w).sum::<f64>())
            .sum()
    };
    let found = at(&xs)?;
    for i in 0..n {
        for j in 0..xs[i].num_elements() {
            let moved = |by: f64| -> Result<Vec<HostTensor>, String> {
                let mut all = xs.clone();
                let mut numbers = numbers(&xs[i]);
                numbers[j] += by;
                all[i] = tensor(case.dtype, xs[i].shape().clone(), &numbers);
                at(&all)
            };
            let (high, low) = (moved(step)?, moved(-step)?);
            let compare = |what: &str, at: usize, weights: &[HostTensor], part: std::ops::Range<usize>| {
                let want = (sum(&high[part.clone()], weights) - sum(&low[part], weights)) / (2.0 * step);
                let got = numbers(&found[at])[j];
                // Central differences lose digits.
                if (got - want).abs() > tolerance * (1.0 + want.abs().max(got.abs())) {
                    return Err(format!("{what} by operand {i}, element {j}: {got}, expected {want}"));
                }
                Ok(())
            };
            compare("first", k + i, &rs, 0..k)?;
            if case.has_second {
                compare("second", k + n + i, &qs, k..k + n)?;
            }
        }
    }
    Ok(())
}

fn cases() -> Vec<Case> {
    let composed = COMPOSED.iter().map(|(name, args, body, results)| Case {
        name: name.trim_start_matches(['!', '~']).to_owned(),
        args: args.split(';').map(|arg| argument(arg.trim())).collect(),
        body: (*body).to_owned(),
        results: results.split(';').map(|result| shape(result.trim().trim_end_matches('s'))).collect(),
        has_second: !name.contains('!'),
        may_be_dynamic: !name.contains('~'),
        dtype: DType::F64,
    });
    OPERATORS.iter().map(|line| operator(line)).chain(composed).collect()
}

#[test]
fn gradients_are_those_of_central_differences() {
    let mut wrong = Vec::new();
    for case in cases() {
        for is_dynamic in [false, true] {
            if is_dynamic && !case.may_be_dynamic {
                continue;
            }
            if let Err(why) = check(&case, is_dynamic) {
                wrong.push(format!("{}{}: {why}", case.name, if is_dynamic { " (dynamic)" } else { "" }));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Ops with a gradient rule but without a case: ops on variables, which graphs in `testdata` test, and ops
/// whose rule is tested by the case of another op; random numbers drawn by rejection, whose derivatives are
/// implicit.
const ELSEWHERE: &[&str] = &[
    "CheckNumericsV2",
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel",
    "FusedBatchNormGrad",
    "FusedBatchNormGradV2",
    "FusedBatchNormGradV3",
    "MaxPoolGradV2",
    "Print",
    "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3",
    "QuantizeAndDequantizeV4",
    "QuantizeAndDequantizeV4Grad",
    "RandomGamma",
    "ReadVariableOp",
    "RefIdentity",
    "ResourceGather",
    "ResourceGatherNd",
    "PlaceholderWithDefault",
    "StatelessParameterizedTruncatedNormal",
    "StatelessRandomGammaV2",
    "StatelessRandomGammaV3",
];

#[test]
fn every_rule_has_a_case() {
    let all = cases();
    let text: String = all.iter().map(|case| case.body.as_str()).collect();
    let untested: Vec<&str> = rows()
        .filter(|row| {
            let has_rule = matches!(row.gradient(), Gradient::Rule | Gradient::Expands);
            let is_value = row.name.starts_with("TensorList")
                || row.name.starts_with("TensorArray")
                || row.name.starts_with("Optional");
            has_rule
                && !is_value
                && !ELSEWHERE.contains(&row.name)
                && !text.contains(&format!("\"{}\"", row.op_name))
        })
        .map(|row| row.name)
        .collect();
    assert!(untested.is_empty(), "no case for {untested:?}");
}
