//! The description of a training program: the attribute `bef.training` of its function `step`.

use befrost::{DType, Program};
use serde_json::Value as Json;

use crate::error::TrainError;

/// The attribute.
const TRAINING: &str = "bef.training";

/// A tensor that lives between steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The name, of the resource and in checkpoints.
    pub name: String,
    /// True for variables that the optimizer updates.
    pub is_trained: bool,
    /// True for a slot of the optimizer, such as a momentum.
    pub is_slot: bool,
}

/// The description of a program.
#[derive(Clone, Debug)]
pub struct Description {
    /// The names of the metrics.
    pub metrics: Vec<String>,
    /// The variables, the slots of the optimizer and its counters.
    pub stored: Vec<Stored>,
    /// The placeholders of a step: name and element type.
    pub feeds: Vec<(String, Option<DType>)>,
    /// The number of batches of an update.
    pub accumulate: u64,
    /// The whole description, as the program has it.
    pub run: Json,
}

impl Description {
    /// The description of a program.
    ///
    /// # Errors
    /// If it is no training program.
    pub fn of(program: &Program) -> Result<Description, TrainError> {
        let none = || {
            TrainError::new("the program is no training program: its function 'step' has no 'bef.training'")
        };
        let step = program.function("step").map_err(|_| none())?;
        let text = step.attribute(TRAINING).ok_or_else(none)?;
        let wrong = |why: &str| TrainError::new(format!("the description of the training program: {why}"));
        let json: Json = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        if json["format"] != 1 {
            return Err(wrong(&format!("format {} is not known", json["format"])));
        }
        let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
        let mut stored = Vec::new();
        for key in ["variables", "slots", "state"] {
            for item in list(key) {
                let name = item["name"].as_str().ok_or_else(|| wrong("a variable has no name"))?;
                let is_trained = item["trainable"] == true;
                stored.push(Stored { name: name.to_owned(), is_trained, is_slot: key == "slots" });
            }
        }
        let feed = |item: &Json| {
            let dtype = item["dtype"].as_str().and_then(|name| name.parse().ok());
            Some((item["name"].as_str()?.to_owned(), dtype))
        };
        let metrics = list("metrics");
        Ok(Description {
            metrics: metrics.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            stored,
            feeds: list("feeds").iter().filter_map(feed).collect(),
            accumulate: json["accumulate"].as_u64().unwrap_or(1).max(1),
            run: json,
        })
    }
}
