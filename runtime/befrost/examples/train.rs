//! Trains a graph with variables for 100 steps, and prints the loss of every tenth: train GRAPH.pb
#![forbid(unsafe_code)]

use std::error::Error;

use befrost::{HostTensor, RunOptions, Session};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("the graph is not named")?;
    let session = Session::builder().init("init").open(path)?;
    let x = HostTensor::from_vec([6, 4], (0..24).map(|i| (i % 5) as f32 / 5.0).collect())?;
    let labels = HostTensor::from_vec([6, 1], (0..6).map(|i| (i % 3) as f32).collect())?;
    let feeds = [("x:0", x), ("l:0", labels)];
    let step = RunOptions { targets: vec!["up".to_owned()], ..RunOptions::default() };
    for i in 1..=100 {
        let fetches: &[&str] = if i % 10 == 0 { &["loss:0"] } else { &[] };
        let results = session.run_with(&feeds, fetches, &step)?;
        if let Some(loss) = results.get("loss:0") {
            println!("{:.6}", loss.tensor()?.to_vec::<f32>()?[0]);
        }
    }
    Ok(())
}
