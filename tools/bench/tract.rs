//! tract with one model, in a process of its own: what `worker.py` is for the other engines of `compare.py`,
//! with the same commands and answers, a line of JSON each.
//!
//! Not a part of the workspace: `compare.py` writes a manifest and builds the program when it is asked for
//! tract. A model is optimized for the sizes of a batch when its inputs are made: tract folds more that way.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use ndarray_npy::NpzWriter;
use serde_json::{Value, json};
use tract_onnx::onnx;
use tract_onnx::tract_hir::internal::*;

/// A model that is optimized for a batch, and its inputs.
struct Ready {
    plan: Arc<TypedRunnableModel>,
    feeds: TVec<TValue>,
}

struct Worker {
    model: InferenceModel,
    ready: Option<Ready>,
}

/// The numbers of `worker.py`: 24 bits of a hash of the index, between -1 and 1.
fn number(index: u32) -> f32 {
    let mut hash = index.wrapping_mul(0x9e37_79b9);
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    (hash >> 8) as f32 / (1 << 23) as f32 - 1.0
}

impl Ready {
    fn new(mut model: InferenceModel, batch: usize) -> TractResult<Self> {
        let inputs = model.input_outlets()?.to_vec();
        let mut feeds = vec![None; inputs.len()];
        let mut by_name: Vec<usize> = (0..inputs.len()).collect();
        by_name.sort_by_key(|&input| model.node(inputs[input].node).name.clone());
        let mut first = 0;
        for input in by_name {
            let fact = model.input_fact(input)?;
            let sizes: Vec<usize> = fact
                .shape
                .dims()
                .enumerate()
                .map(|(axis, size)| match size.concretize().and_then(|size| size.to_usize().ok()) {
                    Some(size) if axis > 0 => size,
                    _ => batch,
                })
                .collect();
            let next = first + u32::try_from(sizes.iter().product::<usize>())?;
            let numbers: Vec<f32> = (first..next).map(number).collect();
            first = next;
            model.set_input_fact(input, InferenceFact::dt_shape(f32::datum_type(), &sizes))?;
            feeds[input] = Some(Tensor::from_shape(&sizes, &numbers)?.into_tvalue());
        }
        let plan = model.into_optimized()?.into_runnable()?;
        Ok(Self { plan, feeds: feeds.into_iter().flatten().collect() })
    }
}

impl Worker {
    fn load(command: &Value) -> TractResult<(Self, Value)> {
        let path = command["path"].as_str().context("a path")?;
        let threads = usize::try_from(command["threads"].as_u64().context("a number of threads")?)?;
        if threads > 1 {
            multithread::set_default_executor(multithread::Executor::multithread(threads));
        }
        let start = Instant::now();
        // The shapes that the file states for results are those of an unknown batch.
        let model =
            onnx().with_ignore_output_shapes(true).with_ignore_value_info(true).model_for_path(path)?;
        let seconds = start.elapsed().as_secs_f64();
        let answer = json!({"seconds": seconds, "bytes": std::fs::metadata(path)?.len()});
        Ok((Self { model, ready: None }, answer))
    }

    fn answer(&mut self, command: &Value) -> TractResult<Value> {
        let number = |name: &str| command[name].as_f64().context("a number");
        if command["do"] == "feed" {
            self.ready = Some(Ready::new(self.model.clone(), number("batch")? as usize)?);
        }
        let Ready { plan, feeds } = self.ready.as_ref().context("no inputs yet")?;
        match command["do"].as_str() {
            Some("feed") => {
                plan.run(feeds.clone())?;
                Ok(json!({}))
            }
            Some("results") => {
                let mut file = NpzWriter::new(File::create(command["to"].as_str().context("a path")?)?);
                for (i, result) in plan.run(feeds.clone())?.iter().enumerate() {
                    file.add_array(format!("arr_{i}"), &result.to_plain_array_view::<f32>()?)?;
                }
                file.finish()?;
                Ok(json!({}))
            }
            Some("calls") => {
                let (mut times, mut state, begun) = (Vec::new(), plan.spawn()?, ProcessTime::now());
                let end = Instant::now() + Duration::from_secs_f64(number("seconds")?);
                while (times.len() as f64) < number("most")? && (times.is_empty() || Instant::now() < end) {
                    let start = Instant::now();
                    state.run(feeds.clone())?;
                    times.push(start.elapsed().as_secs_f64());
                }
                Ok(json!({"times": times, "cpu": begun.elapsed().as_secs_f64()}))
            }
            Some("concurrent") => {
                let begin = Instant::now();
                let end = begin + Duration::from_secs_f64(number("seconds")?);
                let caller = || -> TractResult<u32> {
                    let (mut count, mut state) = (0, plan.spawn()?);
                    while Instant::now() < end {
                        state.run(feeds.clone())?;
                        count += 1;
                    }
                    Ok(count)
                };
                let callers = number("callers")? as usize;
                let counts = std::thread::scope(|scope| {
                    let threads: Vec<_> = (0..callers).map(|_| scope.spawn(caller)).collect();
                    threads.into_iter().map(|t| t.join().expect("a caller does not panic")).collect()
                });
                let counts: Vec<u32> = TractResult::<Vec<u32>>::from_iter::<Vec<TractResult<u32>>>(counts)?;
                Ok(json!({"rate": f64::from(counts.iter().sum::<u32>()) / begin.elapsed().as_secs_f64()}))
            }
            Some("memory") => {
                let status = std::fs::read_to_string("/proc/self/status")?;
                let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak")?;
                let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>()?;
                Ok(json!({"bytes": kilobytes * 1024}))
            }
            _ => bail!("an unknown command: {command}"),
        }
    }
}

fn main() -> TractResult<()> {
    let mut worker = None;
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line?)?;
        let answer = match &mut worker {
            None => Worker::load(&command).map(|(loaded, answer)| {
                worker = Some(loaded);
                answer
            }),
            Some(worker) => worker.answer(&command),
        };
        let answer = answer.unwrap_or_else(|error| json!({"error": format!("{error:#}")}));
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
