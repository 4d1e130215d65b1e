//! Training programs have TensorFlow's losses, metrics, learning rates and gradient norms in each step, and
//! TensorFlow's variables at the end, within a tolerance, at `-O0` and `-O2`. The variables have the same
//! bits on one thread and on two.
//!
//! A case is a folder of `testdata/training`, and of `$BEFROST_TRAINING_RUNS` if that is set: `graph.pb`, the
//! forward graph, and `run.json` with the optimizer, whose results are `.npy` files.
#![forbid(unsafe_code)]

mod cases;

use std::path::Path;
use std::process::Command;

use befrost::{CallOptions, DType, Datum, Function, HostTensor, Resources, Runtime, variable_values};
use befrost_tensor::tf::reference::gather;
use libtest_mimic::Failed;
use serde_json::Value as Json;

fn main() {
    cases::run("training", "BEFROST_TRAINING_RUNS", "run.json", check);
}

fn check(case: &Path) -> Result<(), Failed> {
    let run: Json = serde_json::from_str(&std::fs::read_to_string(case.join("run.json"))?)?;
    for level in ["-O2", "-O0"] {
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("program.bef");
        let said = Command::new(env!("CARGO_BIN_EXE_ir-translate"))
            .arg(case.join("graph.pb"))
            .args(options(&run))
            .arg(level)
            .arg("-o")
            .arg(&program)
            .output()?;
        if !said.status.success() {
            return Err(String::from_utf8_lossy(&said.stderr).into_owned().into());
        }
        let mut last: Option<Vec<Vec<u8>>> = None;
        for queue in ["s", "mstd:2"] {
            let trained = train(case, &run, &program, queue)
                .map_err(|why| format!("{level} on {queue}: {}", why.message().unwrap_or("")))?;
            if last.as_ref().is_some_and(|last| *last != trained) {
                return Err(format!("{level}: the bits on {queue} are others").into());
            }
            last = Some(trained);
        }
    }
    Ok(())
}

/// A value in an option.
fn shown(value: &Json) -> String {
    match value {
        Json::Array(items) => items.iter().map(Json::to_string).collect::<Vec<_>>().join(","),
        Json::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// An object as an option, `NAME:k=v,..`. Its key `name` or `kind` is the name.
fn spec(of: &Json) -> String {
    let name = of["name"].as_str().or(of["kind"].as_str()).unwrap_or_default();
    let numbers = of.as_object().into_iter().flatten();
    let numbers = numbers.filter(|(key, value)| !matches!(&key[..], "name" | "kind") && !value.is_null());
    let numbers: Vec<String> = numbers.map(|(key, value)| format!("{key}={}", shown(value))).collect();
    format!("{name}:{}", numbers.join(","))
}

/// An L2 penalty or weight decay as an option: `X` or `X:only=rank>=2`.
fn decay(of: &Json) -> String {
    let value = of.get("value").or(of.get("factor")).or(of.get("c")).unwrap_or(of);
    match of["only"].as_str() {
        Some(only) => format!("{value}:only={only}"),
        None => value.to_string(),
    }
}

fn options(run: &Json) -> Vec<String> {
    let mut options = vec!["--train".to_owned(), text(&run["loss"]).to_owned()];
    let mut add = |name: &str, value: String| options.extend([format!("--{name}"), value]);
    add("optimizer", spec(&run["optimizer"]));
    add("init", text(&run["init"]).to_owned());
    if !run["schedule"].is_null() {
        add("schedule", spec(&run["schedule"]));
    }
    match run["clip"]["kind"].as_str() {
        Some("global_norm") => add("clip-norm", run["clip"]["value"].to_string()),
        Some(_) => add("clip-value", run["clip"]["value"].to_string()),
        None => {}
    }
    for (key, name) in [("l2", "l2"), ("weight_decay", "weight-decay")] {
        if !run[key].is_null() {
            add(name, decay(&run[key]));
        }
    }
    if let Some(updates) = run["updates"].as_str() {
        add("updates", updates.to_owned());
    }
    if let Some(k) = run["accumulate"].as_u64() {
        add("accumulate", k.to_string());
    }
    for group in run["groups"].as_array().into_iter().flatten() {
        add("group", text(group).to_owned());
    }
    for (name, tensor) in run["metrics"].as_object().into_iter().flatten() {
        add("metric", format!("{name}={}", text(tensor)));
    }
    add("train-steps", run["steps"].to_string());
    options
}

/// Trains and compares. Returns the bytes of all variables.
fn train(case: &Path, run: &Json, program: &Path, queue: &str) -> Result<Vec<Vec<u8>>, Failed> {
    let runtime = Runtime::builder().work_queue(queue).build()?;
    let program = runtime.load(program)?;
    let function = |name: &str| program.function(name).map_err(Failed::from);
    let (init, step, evaluate) = (function("init")?, function("step")?, function("evaluate")?);
    let description = step.attribute("bef.training").ok_or("the step has no description")?;
    let description: Json = serde_json::from_str(description)?;
    let resources = Resources::default();
    call(&init, &[], &resources)?;
    let near = |what: &str, got: &[f64], want: &HostTensor| -> Result<(), Failed> {
        // With recurrent networks and large rates a difference in the last bits grows from step to step,
        // first in gradients.
        let slack = match what {
            "gradient_norm" => 5.0,
            "loss" => 1.0,
            _ => 4.0,
        };
        let number = |key: &str, or: f64| run[key].as_f64().unwrap_or(or);
        let (rtol, atol, want) = (number("rtol", 1e-3), number("atol", 1e-4), numbers(want)?);
        if got.len() != want.len() {
            return Err(format!("{what}: {} numbers, expected {}", got.len(), want.len()).into());
        }
        for (i, (got, want)) in got.iter().zip(&want).enumerate() {
            if !((got - want).abs() <= slack * (atol + rtol * want.abs())
                || got == want
                || got.is_nan() && want.is_nan())
            {
                return Err(format!("{what}[{i}] is {got}, expected {want}").into());
            }
        }
        Ok(())
    };
    let npy = |name: &str| befrost::npy::read_file(&case.join(name), runtime.allocator());
    for (name, value) in variable_values(&resources)? {
        let file = format!("initial_{}.npy", name.name().replace('/', "."));
        if case.join(&file).is_file() && numbers(&value)? != numbers(&npy(&file)?)? {
            return Err(format!("{} starts with other numbers", name.name()).into());
        }
    }
    let mut feeds: Vec<(String, HostTensor)> = Vec::new();
    for (name, source) in run["feeds"].as_object().into_iter().flatten() {
        let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/digits");
        let file = match text(source).strip_prefix("digits ") {
            Some(name) => digits.join(format!("{name}.npy")),
            None => case.join(text(source)),
        };
        feeds.push((name.clone(), befrost::npy::read_file(&file, runtime.allocator())?));
    }
    let n_steps = run["steps"].as_u64().unwrap_or_default() as usize;
    let batches = if feeds.is_empty() { None } else { Some(npy("batches.npy")?) };
    let mut seen: Vec<Vec<f64>> = vec![Vec::new(); step.results().len()];
    for i in 0..n_steps {
        let mut batch: Vec<(String, HostTensor)> = Vec::new();
        if let Some(batches) = &batches {
            let row = HostTensor::from_slice(befrost::Shape::scalar(), &[i as i32], runtime.allocator())?;
            let rows = gather(batches, &row, 0, 0, runtime.allocator())?;
            for (name, data) in &feeds {
                batch.push((name.clone(), gather(data, &rows, 0, 0, runtime.allocator())?));
            }
        }
        if i == 0 {
            // An evaluation changes no variable, and its loss is that of the first step.
            let wanted = evaluate.arguments().iter().map(|port| port.name().to_owned()).collect::<Vec<_>>();
            let some: Vec<_> = batch.iter().filter(|(name, _)| wanted.contains(name)).cloned().collect();
            let results = call(&evaluate, &some, &resources)?;
            near(
                "the first evaluation",
                &numbers(results[0].tensor()?)?,
                &first(&npy("losses.npy")?, &runtime)?,
            )?;
        }
        let results = call(&step, &batch, &resources)?;
        for (seen, result) in seen.iter_mut().zip(&results) {
            seen.extend(numbers(result.tensor()?)?);
        }
    }
    for (port, seen) in step.results().iter().zip(&seen) {
        let file = match port.name() {
            "loss" => "losses.npy".to_owned(),
            "learning_rate" => "learning_rates.npy".to_owned(),
            "gradient_norm" => "gradient_norms.npy".to_owned(),
            metric => format!("metric_{metric}.npy"),
        };
        if case.join(&file).is_file() {
            near(port.name(), seen, &npy(&file)?)?;
        }
    }
    let values = variable_values(&resources)?;
    let value = |name: &str| values.iter().find(|(of, _)| of.name() == name).map(|(_, value)| value);
    let names = |key: &str| -> Vec<&str> {
        run[key].as_array().into_iter().flatten().filter_map(Json::as_str).collect()
    };
    for name in [names("variables"), names("others")].concat() {
        let value = value(name).ok_or_else(|| format!("there is no variable {name}"))?;
        near(name, &numbers(value)?, &npy(&format!("final_{}.npy", name.replace('/', ".")))?)?;
    }
    for name in run["slots"].as_object().into_iter().flatten().map(|(name, _)| name) {
        value(name).ok_or_else(|| format!("there is no slot {name}"))?;
    }
    let described =
        ["variables", "slots", "state"].map(|key| description[key].as_array().map_or(0, Vec::len));
    if described.iter().sum::<usize>() != values.len() {
        return Err(format!("{described:?} variables are described, there are {}", values.len()).into());
    }
    values.iter().map(|(_, value)| Ok(befrost::npy::to_bytes(value)?)).collect()
}

fn first(of: &HostTensor, runtime: &Runtime) -> Result<HostTensor, Failed> {
    let zero = HostTensor::from_slice(befrost::Shape::scalar(), &[0i32], runtime.allocator())?;
    Ok(gather(of, &zero, 0, 0, runtime.allocator())?)
}

fn call(
    function: &Function,
    arguments: &[(String, HostTensor)],
    resources: &Resources,
) -> Result<Vec<Datum>, Failed> {
    let named = arguments.iter().map(|(name, value)| (&name[..], Datum::from(value.clone())));
    let arguments = function.by_name(named)?;
    let options = CallOptions { resources: resources.clone(), ..CallOptions::default() };
    let results = function.call_with(arguments, &options)?;
    for result in &results {
        _ = result.ok()?;
    }
    if let Some(error) = options.cancellation.error() {
        return Err(error.to_string().into());
    }
    Ok(results)
}

fn numbers(of: &HostTensor) -> Result<Vec<f64>, Failed> {
    Ok(match of.dtype() {
        DType::F32 => of.to_vec::<f32>()?.into_iter().map(f64::from).collect(),
        DType::F64 => of.to_vec::<f64>()?,
        DType::I32 => of.to_vec::<i32>()?.into_iter().map(f64::from).collect(),
        DType::I64 => of.to_vec::<i64>()?.into_iter().map(|x| x as f64).collect(),
        dtype => return Err(format!("numbers of type {dtype}").into()),
    })
}

fn text(value: &Json) -> &str {
    value.as_str().unwrap_or_default()
}
