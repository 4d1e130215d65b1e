//! The trained model: its predictions, with the variables as constants.
//!
//! ```text
//! the import of TrainingParts ──▶ predict alone, called main ──▶ reads of variables ──▶ their trained values
//! ```

use std::collections::BTreeMap;

use befrost_tensor::HostTensor;

use super::entry::function;
use super::{TrainOptions, constants, errors};
use crate::diag::Diagnostic;
use crate::import::savedmodel::{Unfrozen, copied_attr, freeze_values};
use crate::ir::{AttrId, names};
use crate::rewrite::Rewriter;
use crate::verify::{Verified, verify};

/// Replaces the variables of a model that was imported as [`TrainingParts`](crate::import::TrainingParts) by
/// `values`. Function `main` of the result computes the model's predictions.
///
/// # Errors
/// If the model has no predictions, or an op needs a variable itself, not its value.
pub fn frozen(
    model: Verified,
    options: &TrainOptions,
    values: &[(String, HostTensor)],
) -> Result<Verified, Vec<Diagnostic>> {
    let mut m = model.into_module();
    let Some(predict) = function(&m, "predict") else {
        return Err(vec![errors::option(
            "the model predicts nothing: all of its outputs are losses and metrics",
        )]);
    };
    if let Some(pattern) = &options.constants {
        let top = m.top();
        constants::to_variables(&mut Rewriter::new(&mut m, top), pattern)?;
    }
    for name in ["init", "step", "evaluate"] {
        if let Some(function) = function(&m, name) {
            m.erase(function);
        }
    }
    let name = m.cx.str_attr("main");
    m.set_attr(predict, names::SYM_NAME, name);
    let attrs: BTreeMap<&str, Option<AttrId>> =
        values.iter().map(|(name, value)| (&name[..], copied_attr(&mut m.cx, value))).collect();
    let left = freeze_values(&mut m, &|_, name| *attrs.get(name)?);
    if let Some(Unfrozen { op, .. }) = left.first() {
        return Err(vec![errors::option(&format!(
            "the model cannot be frozen: '{op}' needs a variable itself"
        ))]);
    }
    verify(m)
}
