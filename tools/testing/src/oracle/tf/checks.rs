//! `Assert`, `Print` and `PrintV2`.

use befrost_tensor::tf::op::Attributes;
use befrost_tensor::{I1, print};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::frames::Stop;

/// The results of an op that checks or prints values; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    Ok(Some(match (name, operands) {
        ("Assert", [condition, ..]) => {
            let condition = condition.tensor()?;
            let holds = match condition.read_as::<I1>("condition")?.first() {
                Some(holds) if condition.num_elements() == 1 => holds.is_true(),
                _ => return Err(invalid(format!("a condition of shape {}", condition.shape()))),
            };
            if !holds {
                return Err(invalid("assertion failed"));
            }
            Vec::new()
        }
        // The text goes to standard error, which is not compared.
        ("Print", [x, ..]) => vec![x.clone()],
        ("PrintV2", [x]) => {
            let line = text(x)? + &attrs.string("end")?;
            if attrs.string("output_stream")? == "stdout" {
                cx.printed.push(line);
            }
            Vec::new()
        }
        _ => return Ok(None),
    }))
}

/// A value as it is printed; one string is printed as it is.
fn text(x: &TfValue) -> Result<String, Stop> {
    match x {
        TfValue::Tensor(x) => Ok(print::tensor(x)?),
        TfValue::Strings(x) if x.num_elements() == 1 => {
            Ok(x.read()?.iter().map(String::from_utf8_lossy).collect())
        }
        TfValue::Strings(x) => Ok(print::strings(x)?),
        _ => Err(Stop::Refused("text of a value that is no tensor".to_owned())),
    }
}
