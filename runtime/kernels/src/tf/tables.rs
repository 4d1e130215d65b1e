//! The operators that are implemented by actions.

use befrost_kernel_api::kernel::{KernelUse, Prepare, Prepared, Rest};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::tf::op::{self, Op};
use smallvec::SmallVec;

use super::action::{Action, ActionBuilder, ActionRow};
use super::operands::Results;
use super::{
    arrays, attrs, checks, codes, crosses, examples, files, generators, joined, lists, lookups, messages,
    optionals, pictures, scatters, sequences, stacks, strings, texts, unicode, updates, variables,
};

/// The entries of a file, unless the Cargo feature of their rows leaves them out.
macro_rules! tables {
    ($($module:ident $feature:literal,)+) => {
        const TABLES: [&[ActionRow]; [$($feature),+].len()] =
            [$(if cfg!(feature = $feature) { $module::OPS } else { &[] }),+];
    };
}

tables! {
    arrays "tf-state",
    checks "tf-state",
    files "tf-state",
    generators "tf-state",
    lists "tf-state",
    lookups "tf-state",
    optionals "tf-state",
    scatters "tf-state",
    stacks "tf-state",
    strings "tf-strings",
    texts "tf-strings",
    codes "tf-strings",
    crosses "tf-strings",
    joined "tf-strings",
    unicode "tf-strings",
    examples "tf-strings",
    sequences "tf-strings",
    messages "tf-strings",
    pictures "tf-strings",
    updates "tf-train",
    variables "tf-state",
}

pub(super) fn add(registry: &mut Registry) {
    for (operators, _) in TABLES.iter().copied().flatten() {
        for operator in *operators {
            let row = operator.row();
            registry.add(kernel!(row.op_name, act, |_| attrs::names(row)));
        }
    }
}

/// The constructor of an operator's action.
pub(super) fn of_operator(operator: Op) -> Option<ActionBuilder> {
    let mut entries = TABLES.iter().copied().flatten();
    entries.find(|(operators, _)| operators.contains(&operator)).map(|(_, make)| *make)
}

impl Prepare for Action {
    fn prepare(site: &KernelUse<'_>) -> Result<Action, String> {
        let row = site.name().strip_prefix("tf.").and_then(op::row);
        let make = row.and_then(|row| Some((row, of_operator(row.op?)?)));
        let (row, make) = make.ok_or("TensorFlow has no such operator")?;
        attrs::attributes(row, site, |attrs| make(attrs).map_err(|error| error.to_string()))
    }
}

fn act(
    action: Prepared<'_, Action>,
    operands: Rest<'_, Value>,
    cx: &ExecContext,
) -> Result<Results, KernelError> {
    action.0.call(&operands.iter().collect::<SmallVec<[&Value; 4]>>(), cx).map(Results)
}
