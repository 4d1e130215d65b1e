//! Ops whose work is out of proportion to their operands stop soon after the deadline.

use std::time::{Duration, Instant};

use befrost::{CallOptions, Cancellation, CompileOptions, ErrorCode, Runtime, Source, compile_with};

/// The deadline of a call. The work of each case takes much longer.
const DEADLINE: Duration = Duration::from_millis(200);

/// Maximum time from the deadline to the end of a call. A release build needs less than 100 ms, but the tests
/// are built without optimization, and other processes run beside them.
const LATE: Duration = Duration::from_secs(3);

/// Constants (values and types), an op on them, and the element type of its results.
struct Case {
    operands: &'static [(&'static str, &'static str)],
    op: &'static str,
    attrs: &'static str,
    result: &'static str,
}

const IMAGE: (&str, &str) = ("1.5", "tensor<1x3000x3000x1xf32>");
const WIDE_IMAGE: (&str, &str) = ("1.5", "tensor<1x3000x3000x1xf64>");
const FILTER: (&str, &str) = ("1.5", "tensor<1500x1500x1x1xf32>");
const OUT: (&str, &str) = ("1.5", "tensor<1x1501x1501x1xf32>");
const SIZES: (&str, &str) = ("[1, 3000, 3000, 1]", "tensor<4xi32>");
const FILTER_SIZES: (&str, &str) = ("[1500, 1500, 1, 1]", "tensor<4xi32>");
const CONV: &str = r#"strides = [1, 1, 1, 1], padding = "VALID""#;
const POOL: &str = r#"ksize = [1, 1500, 1500, 1], strides = [1, 1, 1, 1], padding = "VALID""#;
const POOL3D: &str = r#"ksize = [1, 100, 100, 100, 1], strides = [1, 1, 1, 1, 1], padding = "VALID""#;
const VOLUME: (&str, &str) = ("1.5", "tensor<1x200x200x200x1xf32>");
const LINE: (&str, &str) = ("1.5", "tensor<1x1x10x300000xf32>");
const RADIUS: &str = "depth_radius = 100000 : i64";

const CASES: &[Case] = &[
    Case { operands: &[IMAGE, FILTER], op: "Conv2D", attrs: CONV, result: "f32" },
    Case {
        operands: &[WIDE_IMAGE, ("1.5", "tensor<1500x1500x1x1xf64>")],
        op: "Conv2D",
        attrs: CONV,
        result: "f64",
    },
    Case {
        operands: &[("1.5", "tensor<1x3000x3000x8xf32>"), ("1.5", "tensor<40x40x8x512xf32>")],
        op: "Conv2D",
        attrs: CONV,
        result: "f32",
    },
    Case { operands: &[IMAGE, FILTER], op: "DepthwiseConv2dNative", attrs: CONV, result: "f32" },
    Case { operands: &[SIZES, FILTER, OUT], op: "Conv2DBackpropInput", attrs: CONV, result: "f32" },
    Case { operands: &[IMAGE, FILTER_SIZES, OUT], op: "Conv2DBackpropFilter", attrs: CONV, result: "f32" },
    Case {
        operands: &[SIZES, FILTER, OUT],
        op: "DepthwiseConv2dNativeBackpropInput",
        attrs: CONV,
        result: "f32",
    },
    Case {
        operands: &[IMAGE, FILTER_SIZES, OUT],
        op: "DepthwiseConv2dNativeBackpropFilter",
        attrs: CONV,
        result: "f32",
    },
    Case { operands: &[IMAGE], op: "MaxPool", attrs: POOL, result: "f32" },
    Case { operands: &[WIDE_IMAGE], op: "MaxPool", attrs: POOL, result: "f64" },
    Case { operands: &[IMAGE], op: "AvgPool", attrs: POOL, result: "f32" },
    Case { operands: &[IMAGE, OUT, OUT], op: "MaxPoolGrad", attrs: POOL, result: "f32" },
    Case { operands: &[SIZES, OUT], op: "AvgPoolGrad", attrs: POOL, result: "f32" },
    Case { operands: &[LINE], op: "LRN", attrs: RADIUS, result: "f32" },
    Case { operands: &[LINE, LINE, LINE], op: "LRNGrad", attrs: RADIUS, result: "f32" },
    Case { operands: &[VOLUME], op: "MaxPool3D", attrs: POOL3D, result: "f32" },
    Case {
        operands: &[VOLUME, ("1.5", "tensor<100x100x100x1x1xf32>")],
        op: "Conv3D",
        attrs: r#"strides = [1, 1, 1, 1, 1], padding = "VALID""#,
        result: "f32",
    },
    Case {
        operands: &[("1.5", "tensor<8000x8000xf32>"), ("1.5", "tensor<8000x8000xf32>")],
        op: "MatMul",
        attrs: "",
        result: "f32",
    },
    Case {
        operands: &[("1.5", "tensor<4000x4000xf64>"), ("1.5", "tensor<4000x4000xf64>")],
        op: "MatMul",
        attrs: "",
        result: "f64",
    },
    Case {
        operands: &[("3", "tensor<2000x2000xi32>"), ("3", "tensor<2000x2000xi32>")],
        op: "MatMul",
        attrs: "",
        result: "i32",
    },
    Case {
        operands: &[("3", "tensor<1500x1500xi64>"), ("3", "tensor<1500x1500xi64>")],
        op: "Einsum",
        attrs: r#"equation = "ij,kj->ik""#,
        result: "i64",
    },
    Case { operands: &[("1.5", "tensor<4000x4000xf64>")], op: "Qr", attrs: "", result: "f64" },
    Case { operands: &[("1.5", "tensor<2000x2000xf64>")], op: "SelfAdjointEigV2", attrs: "", result: "f64" },
    Case { operands: &[("1.5", "tensor<2000x2000xf64>")], op: "Svd", attrs: "", result: "f64" },
];

impl Case {
    fn text(&self) -> String {
        let mut text = format!("func.func @main() -> tensor<*x{}> {{\n", self.result);
        for (i, (value, ty)) in self.operands.iter().enumerate() {
            text += &format!("  %{i} = \"tf.Const\"() {{value = dense<{value}> : {ty}}} : () -> {ty}\n");
        }
        let names: Vec<String> = (0..self.operands.len()).map(|i| format!("%{i}")).collect();
        let types: Vec<&str> = self.operands.iter().map(|(_, ty)| *ty).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let n = match self.op {
            "Qr" | "SelfAdjointEigV2" => 2,
            "Svd" => 3,
            _ => 1,
        };
        let results = vec![format!("tensor<*x{}>", self.result); n].join(", ");
        text += &format!(
            "  %y:{n} = \"tf.{}\"({names}) {{{}}} : ({types}) -> ({results})\n",
            self.op, self.attrs
        );
        text + &format!("  return %y#0 : tensor<*x{}>\n}}\n", self.result)
    }
}

#[test]
fn long_kernels_stop_at_the_deadline() {
    let mut wrong = Vec::new();
    for queue in ["s", "mstd:2"] {
        let runtime = Runtime::builder().work_queue(queue).build().expect("a queue");
        for case in CASES {
            let what = format!("{} of {} on {queue}", case.op, case.operands[0].1);
            let options = CompileOptions { level: 0, ..CompileOptions::default() };
            let bef = compile_with(Source::Text(case.text()), &options).expect(&what);
            let program = runtime.load_bytes(&bef).expect(&what);
            let function = program.function("main").expect("main");
            let end = Instant::now() + DEADLINE;
            let cancellation = Cancellation::with_deadline(end);
            let options = CallOptions { cancellation, ..CallOptions::default() };
            let results = function.call_with([], &options).expect(&what);
            let late = Instant::now().saturating_duration_since(end);
            let code = results[0].error().map(befrost::Error::code);
            if code != Some(ErrorCode::DeadlineExceeded) || late > LATE {
                wrong.push(format!("{what}: {code:?}, {late:?} late: {}", results[0]));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
