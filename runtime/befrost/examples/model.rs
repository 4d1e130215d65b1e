//! Runs a model on arrays, and prints the first results, as `model.c` does from C: model FILE ARRAY.npy...
#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;

use befrost::{Model, Runtime, npy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let runtime = Runtime::builder().work_queue("s").build()?;
    let path = arguments.next().ok_or("the model is not named")?;
    let model = Model::load_with(&runtime, path, &Default::default())?;
    let read = |path: String| npy::read_file(Path::new(&path), runtime.allocator());
    let inputs = arguments.map(read).collect::<Result<Vec<_>, _>>()?;
    let results = model.run(inputs)?;
    for number in results.first().ok_or("there are no results")?.to_vec::<f32>()?.iter().take(10) {
        println!("{number}");
    }
    Ok(())
}
