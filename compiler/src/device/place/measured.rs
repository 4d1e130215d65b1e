//! Measured times of ops, which count instead of estimates.
//!
//! ```text
//! bef-exec --profile=json ──▶ CostProfile ──apply──▶ tf.MatMul {cost_ns = {CPU = 1200 : i64}} ──▶ tf-place
//! ```
//!
//! A profile has rows for places in the source. What an op has become after optimization has its place, so
//! that the times of all kernels of a place are one op's. Where several ops have a place, each has that time.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::device::{errors, is_placed};
use crate::ir::{AttrKind, KnownType, LocId, LocKind, Module, OpId, StrId, names};
use crate::pass::{PassCx, Rewriter};

/// The times of kernels in a run, by place in the source and kind of device.
#[derive(Clone, Debug, Default)]
pub struct CostProfile {
    /// For each kernel of a place, on a kind of devices: calls and nanoseconds.
    rows: BTreeMap<(String, String), BTreeMap<String, (f64, f64)>>,
}

impl CostProfile {
    /// Adds a row: a kernel of this place has taken `ns` nanoseconds in all calls.
    ///
    /// # Errors
    /// The name of the number that is no measurement: fewer than one call, or a time that is negative, not
    /// finite or longer than 100 days.
    pub fn add(
        &mut self,
        source: &str,
        kind: &str,
        kernel: &str,
        calls: f64,
        ns: f64,
    ) -> Result<(), &'static str> {
        if !(calls.is_finite() && calls >= 1.0) {
            return Err("calls");
        }
        // 100 days are less than 1e16 ns.
        if !(0.0..1e16).contains(&ns) {
            return Err("ns");
        }
        let kernels = self.rows.entry((source.to_owned(), kind.to_owned())).or_default();
        let (all_calls, all_ns) = kernels.entry(kernel.to_owned()).or_default();
        *all_calls += calls;
        *all_ns += ns;
        Ok(())
    }

    /// Sets the attribute `cost_ns` of ops to the times of their places. Returns the number of ops with a
    /// time, and the places where there is no op.
    pub fn apply(&self, m: &mut Module) -> (usize, Vec<&str>) {
        let mut by_source: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
        for ((source, kind), kernels) in &self.rows {
            let ns = kernels.values().map(|(calls, ns)| ns / calls).sum();
            by_source.entry(source).or_default().push((kind, ns));
        }
        let all: Vec<OpId> = m.walk_functions().filter(|&op| is_placed(m, op)).collect();
        let (mut n_known, mut unknown) = (0, by_source.keys().copied().collect::<BTreeSet<&str>>());
        for op in all {
            let Some(source) = source_of(m, m.loc(op)) else { continue };
            let Some(times) = by_source.get(source.as_str()) else { continue };
            unknown.remove(source.as_str());
            let cx = &mut m.cx;
            let times: Vec<_> = times
                .iter()
                .map(|&(kind, ns)| (cx.str_id(kind), cx.int_attr(KnownType::I64.id(), ns.round() as i64)))
                .collect();
            let times = cx.dict_attr(&times);
            m.set_attr(op, names::COST_NS, times);
            n_known += 1;
        }
        (n_known, unknown.into_iter().collect())
    }
}

/// A place in the source as a profile has it: the name of a node, or a position in a file.
fn source_of(m: &Module, loc: LocId) -> Option<String> {
    match &*m.cx.loc(loc) {
        LocKind::Name { name, .. } => Some(m.cx.str(*name).to_owned()),
        LocKind::File { file, line, col } => Some(format!("{}:{line}:{col}", m.cx.str(*file))),
        _ => None,
    }
}

/// The times of ops by kind of device, in nanoseconds.
pub(in crate::device) type Measured = FxHashMap<OpId, Vec<(StrId, f64)>>;

/// The times that ops have as attributes. Reports those that make no sense.
pub(in crate::device) fn measured(m: &Module, cx: &PassCx<'_>) -> Measured {
    let mut found = Measured::default();
    for op in m.walk_functions() {
        let Some(attr) = m.attr(op, names::COST_NS) else { continue };
        let AttrKind::Dict(entries) = m.cx.attr(attr) else {
            cx.report(errors::bad_cost(m, op));
            continue;
        };
        let ns = |&(kind, ns)| Some((kind, m.cx.as_int(ns).filter(|ns| *ns >= 0)? as f64));
        match entries.iter().map(ns).collect() {
            Some(times) => _ = found.insert(op, times),
            None => cx.report(errors::bad_cost(m, op)),
        }
    }
    found
}

/// Removes the times, which no later pass needs.
pub(super) fn forget(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let with: Vec<OpId> = m.walk_functions().filter(|&op| m.attr(op, names::COST_NS).is_some()).collect();
    with.into_iter().for_each(|op| r.remove_attr(op, names::COST_NS));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_that_lies_is_refused() {
        let mut profile = CostProfile::default();
        for (calls, ns, why) in [
            (0.0, 1.0, "calls"),
            (-1.0, 1.0, "calls"),
            (f64::NAN, 1.0, "calls"),
            (f64::INFINITY, 1.0, "calls"),
            (1.0, -1.0, "ns"),
            (1.0, f64::NAN, "ns"),
            (1.0, f64::INFINITY, "ns"),
        ] {
            assert_eq!(profile.add("a", "CPU", "tf.Neg", calls, ns), Err(why), "{calls} {ns}");
        }
        assert!(profile.rows.is_empty());
        assert_eq!(profile.add("a", "CPU", "tf.Neg", 2.0, 10.0), Ok(()));
    }
}
