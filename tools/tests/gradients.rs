//! Gradients of TensorFlow's graphs. For every stored run and request `--gradient` computes TensorFlow's
//! gradients, at `-O0` on one thread and at `-O2` on one and on two. A gradient that TensorFlow does not have
//! is reported as missing.
//!
//! A case is a folder of `testdata/gradients`, and of `$BEFROST_GRADIENTS` if that is set: `graph.pb`, the
//! forward graph, or a SavedModel, and `case.json` with the requests and runs, whose tensors are `.npy`
//! files.
#![forbid(unsafe_code)]

mod cases;

use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Failed;
use serde_json::Value as Json;

fn main() {
    cases::run("gradients", "BEFROST_GRADIENTS", "case.json", check);
}

fn check(case: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(case.join("case.json"))?;
    let description: Json = serde_json::from_str(&text)?;
    let requests = match &description["requests"] {
        Json::Array(requests) => requests.clone(),
        _ => vec![description.clone()],
    };
    for (number, request) in requests.iter().enumerate() {
        let program = Program::new(case, &description, request)?;
        for (i, run) in items(&description["runs"]).iter().enumerate() {
            for (level, queue) in [("-O0", "s"), ("-O2", "s"), ("-O2", "mstd:2")] {
                program.run(case, &description, request, number, run, level, queue).map_err(|why| {
                    format!(
                        "request {number}, run {i} with {level} on {queue}: {}",
                        why.message().unwrap_or("")
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// The executed program: the graph, or the text of the graph with a call that initializes the variables.
struct Program {
    /// The options of `bef-exec` for a model; none if there is a text.
    model: Vec<String>,
    text: Option<String>,
}

impl Program {
    fn new(case: &Path, description: &Json, request: &Json) -> Result<Program, Failed> {
        let names =
            |key: &str| items(&request[key]).iter().filter_map(Json::as_str).collect::<Vec<_>>().join(",");
        let mut words = vec![format!("ys={} xs={}", names("ys"), names("xs"))];
        for (key, word) in [("grad_ys", "dys"), ("stop", "stop")] {
            if !items(&request[key]).is_empty() {
                words.push(format!("{word}={}", names(key)));
            }
        }
        if let Some(order) = request["order"].as_u64() {
            words.push(format!("order={order}"));
        }
        if request["unconnected"].as_str() == Some("zero") {
            words.push("unconnected=zero".to_owned());
        }
        let mut model = vec!["--gradient".to_owned(), words.join(" ")];
        for y in items(&request["ys"]).iter().filter_map(Json::as_str) {
            if !model.iter().any(|known| known == y) {
                model.extend(["--fetch".to_owned(), y.to_owned()]);
            }
        }
        let Some(init) = description["init"].as_str() else { return Ok(Program { model, text: None }) };
        let init = ["--function", "init", "--fetch", init].map(str::to_owned);
        let (setup, main) = (imported(case, &init)?, imported(case, &model)?);
        let body = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            lines[1..lines.len() - 1].join("\n")
        };
        // `@main` begins with a call that initializes the variables.
        let call = "  \"tf.StatefulPartitionedCall\"() <{f = @init}> : () -> ()";
        let lines = body(&main);
        let with_call = lines.lines().map(|line| match line.contains("func.func @main") {
            true => format!("{line}\n{call}\n"),
            false => format!("{line}\n"),
        });
        let text = format!("{}\n{}", body(&setup), with_call.collect::<String>());
        Ok(Program { model: Vec::new(), text: Some(text) })
    }

    #[allow(clippy::too_many_arguments, reason = "one run is told by all of them")]
    fn run(
        &self,
        case: &Path,
        description: &Json,
        request: &Json,
        number: usize,
        run: &Json,
        level: &str,
        queue: &str,
    ) -> Result<(), Failed> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bef-exec"));
        let folder = tempfile::tempdir()?;
        match &self.text {
            None => {
                command.arg(case.join(description["model"].as_str().unwrap_or("graph.pb"))).args(&self.model)
            }
            Some(text) => {
                let file = folder.path().join("program.mlir");
                std::fs::write(&file, text)?;
                command.arg(file).args(["--functions", "main"])
            }
        };
        command.args([level, "--work-queue", queue]);
        for feed in items(&run["feeds"]) {
            command.arg("--input").arg(named(text(&feed["tensor"]), case, &feed["file"]));
        }
        let mut missing = Vec::new();
        for gradient in items(&run["gradients"]) {
            if gradient["request"].as_u64().unwrap_or(0) != number as u64 {
                continue;
            }
            let of = text(&gradient["of"]);
            if gradient["none"].as_bool() == Some(true) {
                missing.push(of);
                continue;
            }
            let name = format!("gradients/{}", of.strip_suffix(":0").unwrap_or(of));
            command.arg("--expect").arg(named(&name, case, &gradient["file"]));
        }
        let tolerance = |name: &str| description[name].as_f64().unwrap_or(1e-5).to_string();
        command.args(["--rtol", &tolerance("rtol"), "--atol", &tolerance("atol")]);
        let output: Output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{:?}\n{said}", output.status).into());
        }
        for of in missing {
            let at = items(&request["xs"]).iter().position(|x| x.as_str() == Some(of));
            let remark = format!("leads from x #{} to a y", at.unwrap_or_default());
            if !said.contains(&remark) {
                return Err(format!("there is a gradient by {of}, expected none").into());
            }
        }
        Ok(())
    }
}

fn imported(case: &Path, options: &[String]) -> Result<String, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_ir-translate"))
        .arg(case.join("graph.pb"))
        .args(options)
        .args(["--to", "mlir", "--pass-pipeline", "builtin.module()"])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn named(name: &str, case: &Path, file: &Json) -> String {
    format!("{name}={}", case.join(text(file)).display())
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
