//! The tables of operators on things with state and on objects: their attributes are decoded when a program
//! is loaded, then they are functions of values.
//!
//! ```text
//! tf.TensorListPushBack in a program ──load──▶ Action ──call──▶ values
//!            tables of lists, variables, updates, arrays, stacks: name ──▶ Make
//! ```

use befrost_host::kernel::{KernelUse, Prepare, Prepared, Rest};
use befrost_host::{ExecContext, KernelError, Registry, Value, kernel};
use smallvec::SmallVec;

use super::action::{Action, Make, Row};
use super::values::Results;
use super::{arrays, attrs, checks, lists, optionals, scatters, stacks, updates, variables};

const TABLES: [&[Row]; 8] = [
    arrays::OPS,
    checks::OPS,
    lists::OPS,
    optionals::OPS,
    scatters::OPS,
    stacks::OPS,
    updates::OPS,
    variables::OPS,
];

pub(super) fn add(registry: &mut Registry) {
    for (names, _) in TABLES.iter().copied().flatten() {
        for name in *names {
            registry.add(kernel!(name, act, attrs::names));
        }
    }
}

/// How the operator of a kernel is made.
pub(super) fn named(kernel: &str) -> Option<Make> {
    let mut rows = TABLES.iter().copied().flatten();
    rows.find(|(names, _)| names.contains(&kernel)).map(|(_, make)| *make)
}

impl Prepare for Action {
    fn prepare(site: &KernelUse<'_>) -> Result<Action, String> {
        let make = named(site.name()).ok_or("there is no such operator")?;
        attrs::attributes(site, |attrs| make(attrs).map_err(|error| error.to_string()))
    }
}

fn act(
    action: Prepared<'_, Action>,
    operands: Rest<'_, Value>,
    cx: &ExecContext,
) -> Result<Results, KernelError> {
    action.0.call(&operands.iter().collect::<SmallVec<[&Value; 4]>>(), cx).map(Results)
}
