//! The operators that are implemented by actions.

use befrost_kernel_api::kernel::{KernelUse, Prepare, Prepared, Rest};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::TensorError;
use befrost_tensor::tf::op::{self, Attributes, Op};
use smallvec::SmallVec;

use super::action::{Action, ActionBuilder, ActionRow};
use super::operands::Results;
use super::{
    arrays, attrs, checks, codes, crosses, examples, files, generators, joined, lists, lookups, messages,
    optionals, scatters, sequences, stacks, strings, texts, unicode, updates, variables,
};

/// The entries of a file, unless the Cargo feature of their rows leaves them out, and whether these operators
/// have no state.
macro_rules! tables {
    ($($ops:path, $feature:literal;)+) => {
        const TABLES: [(&[ActionRow], bool); [$($feature),+].len()] =
            [$((if cfg!(feature = $feature) { $ops } else { &[] }, is_pure($feature))),+];
    };
}

/// True for the features of operators on strings and on pictures.
const fn is_pure(feature: &str) -> bool {
    matches!(feature.as_bytes(), b"tf-strings" | b"kernels-images")
}

/// The operators on pictures, whose decoders are crates that nothing else needs.
#[cfg(feature = "kernels-images")]
const PICTURES: &[ActionRow] = super::pictures::OPS;
#[cfg(not(feature = "kernels-images"))]
const PICTURES: &[ActionRow] = &[];

tables! {
    arrays::OPS, "tf-state";
    checks::OPS, "tf-state";
    files::OPS, "tf-state";
    generators::OPS, "tf-state";
    lists::OPS, "tf-state";
    lookups::OPS, "tf-state";
    optionals::OPS, "tf-state";
    scatters::OPS, "tf-state";
    stacks::OPS, "tf-state";
    strings::OPS, "tf-strings";
    texts::OPS, "tf-strings";
    codes::OPS, "tf-strings";
    crosses::OPS, "tf-strings";
    joined::OPS, "tf-strings";
    unicode::OPS, "tf-strings";
    examples::OPS, "tf-strings";
    sequences::OPS, "tf-strings";
    messages::OPS, "tf-strings";
    PICTURES, "kernels-images";
    updates::OPS, "tf-train";
    variables::OPS, "tf-state";
}

pub(super) fn add(registry: &mut Registry) {
    for (operators, _) in TABLES.iter().flat_map(|(ops, _)| *ops) {
        for operator in *operators {
            let row = operator.row();
            registry.add(kernel!(row.op_name, act, |_| attrs::names(row)));
        }
    }
}

/// The constructor of an operator's action.
#[derive(Clone, Copy)]
pub(super) struct ActionMaker {
    make: ActionBuilder,
    is_pure: bool,
}

impl ActionMaker {
    /// That of an operator, if it is implemented by an action.
    pub(super) fn of(operator: Op) -> Option<ActionMaker> {
        let mut entries =
            TABLES.iter().flat_map(|(ops, is_pure)| ops.iter().map(move |entry| (entry, *is_pure)));
        let ((_, make), is_pure) = entries.find(|((operators, _), _)| operators.contains(&operator))?;
        Some(ActionMaker { make: *make, is_pure })
    }

    /// The action with these attributes.
    ///
    /// # Errors
    /// If the operator does not take these attributes.
    pub(super) fn make(self, attrs: &Attributes<'_>) -> Result<Action, TensorError> {
        let action = (self.make)(attrs)?;
        Ok(if self.is_pure { action.interruptible() } else { action })
    }
}

impl Prepare for Action {
    fn prepare(site: &KernelUse<'_>) -> Result<Action, String> {
        let row = site.name().strip_prefix("tf.").and_then(op::row);
        let make = row.and_then(|row| Some((row, ActionMaker::of(row.op?)?)));
        let (row, make) = make.ok_or("TensorFlow has no such operator")?;
        attrs::attributes(row, site, |attrs| make.make(attrs).map_err(|error| error.to_string()))
    }
}

fn act(
    action: Prepared<'_, Action>,
    operands: Rest<'_, Value>,
    cx: &ExecContext,
) -> Result<Results, KernelError> {
    action.0.call(&operands.iter().collect::<SmallVec<[&Value; 4]>>(), cx).map(Results)
}
