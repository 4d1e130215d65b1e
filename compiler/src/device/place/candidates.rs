//! The devices on which groups may be.
//!
//! ```text
//! spec of a group ──matches, has kernels──▶ candidates, best first ──more than one──▶ the policy chooses
//!                      └─none─▶ soft placement: without index, then without kind
//! ```
//!
//! A spec that several devices match leaves the choice among them to the policy.

use std::rc::Rc;

use bef_format::device::DeviceSpec;
use rustc_hash::FxHashMap;

use super::Reason;
use super::groups::{DeviceGroup, Groups};
use crate::device::errors;
use crate::device::specs::{DeviceIndex, Devices};
use crate::ir::{Module, OpId};
use crate::pass::PassCx;

/// The devices on which a group may be, best first; at least one.
pub(super) struct Candidates {
    pub(super) devices: Rc<[DeviceIndex]>,
    /// The reason for the placement, if it is known before the policy chooses.
    pub(super) reason: Option<Reason>,
}

impl Candidates {
    /// The candidates of all groups; `None` after an error.
    pub(super) fn of_groups(
        m: &Module,
        groups: &Groups,
        devices: &Devices,
        soft: bool,
        cx: &PassCx<'_>,
    ) -> Option<Vec<Candidates>> {
        let mut found = Matches { devices, by_priority: devices.by_priority(), of: FxHashMap::default() };
        groups.all.iter().map(|group| found.candidates(m, group, soft, cx)).collect()
    }

    /// True if a policy has to choose.
    pub(super) fn has_choice(&self) -> bool {
        self.devices.len() > 1
    }
}

/// The devices that match specs. Many groups have equal specs.
struct Matches<'a> {
    devices: &'a Devices,
    by_priority: Vec<DeviceIndex>,
    of: FxHashMap<DeviceSpec, Rc<[DeviceIndex]>>,
}

impl Matches<'_> {
    /// The devices that match a spec, best first.
    fn matching(&mut self, spec: &DeviceSpec) -> Rc<[DeviceIndex]> {
        if let Some(known) = self.of.get(spec) {
            return known.clone();
        }
        let all = self.by_priority.iter().copied();
        let found: Rc<[DeviceIndex]> =
            all.filter(|&device| spec.matches(self.devices.name(device))).collect();
        self.of.insert(spec.clone(), found.clone());
        found
    }

    fn candidates(
        &mut self,
        m: &Module,
        group: &DeviceGroup,
        soft: bool,
        cx: &PassCx<'_>,
    ) -> Option<Candidates> {
        let devices = self.devices;
        let op = group.by.or(group.ops.first().copied())?;
        let (mut spec, mut reason) = (group.spec.clone(), None);
        let mut found = self.matching(&spec);
        let has_kernels =
            |device: &DeviceIndex| group.ops.iter().all(|&op| devices.has_kernel(m, *device, op));
        for softer in [spec.without_index(), spec.without_kind()].into_iter().filter(|_| soft) {
            if !found.iter().any(has_kernels) && softer != spec {
                found = self.matching(&softer);
                spec = softer;
                reason = Some(Reason::Soft);
            }
        }
        if found.is_empty() {
            cx.report(errors::no_device(m, op, &group.spec, devices));
            return None;
        }
        let matching = found.clone();
        if devices.lack_kernels() && !found.iter().all(has_kernels) {
            found = found.iter().copied().filter(has_kernels).collect();
        }
        if found.is_empty() {
            // The op that no device can run; if there is none, the group has no common device.
            let lacking = |&op: &OpId| !matching.iter().any(|&device| devices.has_kernel(m, device, op));
            let op = group.ops.iter().copied().find(lacking).unwrap_or(op);
            cx.report(errors::no_kernel(m, op, &spec, devices));
            return None;
        }
        if reason.is_some() {
            cx.report(errors::soft(m, op, &group.spec, &spec));
        } else if found.len() == 1 {
            reason = Some(if spec.is_open() { Reason::Only } else { Reason::Spec });
        }
        Some(Candidates { devices: found, reason })
    }
}
