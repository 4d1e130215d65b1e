//! Measured times in files: `--cost-profile p.json`, as `bef-exec --profile=json` writes them.
//!
//! ```text
//! {"kernels": [{"source": "dense/MatMul", "kind": "CPU", "kernel": "tf.MatMul", "calls": 10, "ns": 12000}]}
//! ```
//!
//! Other fields of a row are ignored.

use std::path::Path;

use befrost_compiler::device::CostProfile;
use serde_json::Value as Json;

use super::device_set::read;

/// The times in a file.
///
/// # Errors
/// The reason why the file cannot be read, or its first row that is no measurement.
pub(super) fn profile_of(path: &str) -> Result<CostProfile, String> {
    let json = read(Path::new(path))?;
    times_of(&json).map_err(|why| format!("'{path}' makes no sense: {why}"))
}

fn times_of(json: &Json) -> Result<CostProfile, String> {
    let rows = json.get("kernels").and_then(Json::as_array).ok_or("'kernels' is no list")?;
    let mut profile = CostProfile::default();
    for (i, row) in rows.iter().enumerate() {
        let text = |name: &str| {
            let text = row.get(name).and_then(Json::as_str);
            text.ok_or_else(|| format!("kernels[{i}].{name} is no text"))
        };
        let number = |name: &str| {
            let number = row.get(name).and_then(Json::as_f64);
            number.ok_or_else(|| format!("kernels[{i}].{name} is no number"))
        };
        let (calls, ns) = (number("calls")?, number("ns")?);
        profile.add(text("source")?, text("kind")?, text("kernel")?, calls, ns).map_err(|field| {
            format!("kernels[{i}].{field} is no measurement: {}", row.get(field).unwrap_or(&Json::Null))
        })?;
    }
    Ok(profile)
}
