//! The devices that a program may use, and the specs of its ops.

use std::collections::BTreeSet;

use bef_format::device::{
    DeviceConfig, DeviceKernels, DeviceName, DeviceSet, DeviceSpace, DeviceSpec, LinkConfig,
};
use rustc_hash::FxHashMap;

use super::errors;
use crate::dialects::tf;
use crate::ir::{AttrId, AttrKind, Module, OpId, StrId, names};
use crate::pass::{OptionKind, PassCx, PassOption};

/// The option of passes for the devices.
pub(super) const DEVICES: PassOption = PassOption {
    name: "devices",
    summary: "the devices that there are, as CPU:2,SIM:1; without any all runs on the host",
    kind: OptionKind::Text(""),
};

/// Number of a device in its set. 0 is the client's.
pub(crate) type DeviceIndex = u16;

/// The kind of the client's device, whose memory is the host's.
const HOST_KIND: &str = "CPU";

/// True unless a spec names a kind of devices that may have a memory other than the host's.
pub(super) fn may_be_host(spec: &DeviceSpec) -> bool {
    spec.kind().is_none_or(|kind| kind == HOST_KIND)
}

/// The client's device: host memory, and the queue of the caller.
pub(crate) const CLIENT: DeviceIndex = 0;

/// The devices of a set by number and name.
#[derive(Default)]
pub(crate) struct Devices {
    names: Vec<DeviceName>,
    configs: Vec<DeviceConfig>,
    index: FxHashMap<String, DeviceIndex>,
    direct: FxHashMap<(DeviceIndex, DeviceIndex), LinkRate>,
    /// True if a device does not have all kernels of the host.
    lack_kernels: bool,
}

/// Nanoseconds of latency, and nanoseconds per byte.
pub(crate) type LinkRate = (f64, f64);

fn rate(link: LinkConfig) -> LinkRate {
    (link.latency_ns, 1e9 / link.bytes_per_s)
}

impl Devices {
    /// The devices in the option, by default none. Reports a malformed text.
    pub(crate) fn of_option(cx: &PassCx<'_>) -> Option<Devices> {
        let text = cx.text(DEVICES.name);
        if text.is_empty() {
            return Some(Devices::default());
        }
        match text.parse::<DeviceSet>() {
            Ok(set) => Some(Devices::of_set(set)),
            Err(error) => {
                cx.report(errors::bad_set(text, &error));
                None
            }
        }
    }

    /// The devices of a set, of which the first is the client's: host memory.
    pub(super) fn of_set(set: DeviceSet) -> Devices {
        Devices::new(&set.with_client(HOST_KIND))
    }

    pub(super) fn new(set: &DeviceSet) -> Devices {
        let names: Vec<DeviceName> = set.devices().map(|(name, _)| name.clone()).collect();
        let configs: Vec<DeviceConfig> = set.devices().map(|(_, config)| config.clone()).collect();
        // The set has at most 65,535 devices.
        let index = names.iter().enumerate().map(|(i, name)| (name.to_string(), i as DeviceIndex)).collect();
        let mut direct = FxHashMap::default();
        for link in set.links() {
            let matching = |spec: &DeviceSpec| {
                let all = names.iter().enumerate().filter(|(_, name)| spec.matches(name));
                all.map(|(i, _)| i as DeviceIndex).collect::<Vec<_>>()
            };
            let to = matching(&link.to);
            for from in matching(&link.from) {
                to.iter().for_each(|&to| _ = direct.entry((from, to)).or_insert_with(|| rate(link.link)));
            }
        }
        let lacks = |(name, config): (&DeviceName, &DeviceConfig)| match config.kernels {
            Some(ref kernels) => *kernels != DeviceKernels::Host,
            None => known_priority(name.kind()).is_none(),
        };
        let lack_kernels = set.devices().any(lacks);
        Devices { names, configs, index, direct, lack_kernels }
    }

    /// True if nothing has to be placed: there is at most one device.
    pub(crate) fn is_single(&self) -> bool {
        self.names.len() <= 1
    }

    /// All devices.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = (DeviceIndex, &DeviceName)> {
        self.names.iter().enumerate().map(|(i, name)| (i as DeviceIndex, name))
    }

    /// The name of a device.
    pub(crate) fn name(&self, device: DeviceIndex) -> &DeviceName {
        &self.names[usize::from(device)]
    }

    /// The number of devices.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The device of this full name.
    pub(crate) fn number(&self, name: &str) -> Option<DeviceIndex> {
        self.index.get(name).copied()
    }

    /// The device on which an op was placed.
    pub(crate) fn of(&self, m: &Module, op: OpId) -> Option<DeviceIndex> {
        self.number(text_of(m, op)?)
    }

    /// The properties of a device.
    pub(crate) fn config(&self, device: DeviceIndex) -> &DeviceConfig {
        &self.configs[usize::from(device)]
    }

    /// The link between a device and the host's memory, if it is given.
    pub(crate) fn link(&self, device: DeviceIndex) -> Option<LinkRate> {
        self.config(device).link.map(rate)
    }

    /// The links from devices to others that are given.
    pub(crate) fn direct_links(&self) -> &FxHashMap<(DeviceIndex, DeviceIndex), LinkRate> {
        &self.direct
    }

    /// True if the device's memory is the host's.
    pub(crate) fn is_host(&self, device: DeviceIndex) -> bool {
        match self.config(device).space {
            Some(space) => space == DeviceSpace::Host,
            None => self.name(device).kind() == HOST_KIND,
        }
    }

    /// True if a device has a kernel for an operator. Calls and branches run on all devices.
    pub(super) fn has_kernel(&self, m: &Module, device: DeviceIndex, op: OpId) -> bool {
        match &self.config(device).kernels {
            _ if !self.lack_kernels => true,
            Some(DeviceKernels::Host) => true,
            Some(DeviceKernels::Named(names)) => {
                let name = tf::op_of(m.op_name_str(op)).unwrap_or_default();
                tf::Control::of(m, op).is_some() || names.iter().any(|known| known == name)
            }
            None => known_priority(self.name(device).kind()).is_some(),
        }
    }

    /// True if a device does not have all kernels of the host.
    pub(super) fn lack_kernels(&self) -> bool {
        self.lack_kernels
    }

    /// The kinds of the devices that have a kernel for an operator.
    pub(super) fn kinds_with_kernel(&self, m: &Module, op: OpId) -> BTreeSet<&str> {
        let with = self.all().filter(|&(device, _)| self.has_kernel(m, device, op));
        with.map(|(_, name)| name.kind()).collect()
    }

    fn priority(&self, device: DeviceIndex) -> u32 {
        let given = self.config(device).priority;
        given.or_else(|| known_priority(self.name(device).kind())).unwrap_or(0)
    }

    /// True if the memory of a device is limited.
    pub(super) fn have_capacities(&self) -> bool {
        self.configs.iter().any(|config| config.memory.is_some())
    }

    /// True if a device has a memory other than the host's.
    pub(super) fn have_memories(&self) -> bool {
        self.all().any(|(device, _)| !self.is_host(device))
    }

    /// A device of the same task whose memory is the host's, which control flow reads: the device itself, or
    /// the client's if the task has none.
    pub(crate) fn host_of(&self, device: DeviceIndex) -> DeviceIndex {
        if self.is_host(device) {
            return device;
        }
        let mut hosts = self.all().filter(|&(other, _)| self.is_host(other));
        hosts.find(|(_, name)| name.is_same_task(self.name(device))).map_or(CLIENT, |(host, _)| host)
    }

    /// The devices in TensorFlow's order of preference: by the priority of their kinds, then by name.
    pub(crate) fn by_priority(&self) -> Vec<DeviceIndex> {
        let mut order: Vec<DeviceIndex> = self.all().map(|(device, _)| device).collect();
        order.sort_by(|&a, &b| {
            self.priority(b).cmp(&self.priority(a)).then_with(|| self.name(a).cmp(self.name(b)))
        });
        order
    }
}

/// The priority of a kind that runs the host's kernels, if a set does not say anything else. What other kinds
/// have, their sets say: `TOY:1{priority=200,kernels=MatMul/Add}`.
fn known_priority(kind: &str) -> Option<u32> {
    match kind {
        HOST_KIND => Some(100),
        "SIM" => Some(50),
        _ => None,
    }
}

/// The text of an op's device attribute.
pub(super) fn text_of(m: &Module, op: OpId) -> Option<&str> {
    m.cx.as_str(m.attr(op, names::DEVICE)?)
}

/// The groups that an op shares a device with.
pub(super) fn groups_of(m: &Module, op: OpId) -> Vec<StrId> {
    let Some(AttrKind::Array(items)) = m.attr(op, names::COLOCATE).map(|attr| m.cx.attr(attr)) else {
        return Vec::new();
    };
    let text = |&item: &AttrId| match m.cx.attr(item) {
        AttrKind::Str { text, .. } => Some(*text),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// The specs of a module's ops, each text parsed once.
#[derive(Default)]
pub(super) struct Specs {
    /// Whether one was malformed, which is reported.
    pub(super) failed: bool,
    parsed: FxHashMap<AttrId, Option<DeviceSpec>>,
}

impl Specs {
    /// The spec of an op, open if it has none or a malformed one, which is reported the first time.
    pub(super) fn of(&mut self, m: &Module, op: OpId, cx: &PassCx<'_>) -> DeviceSpec {
        let Some(attr) = m.attr(op, names::DEVICE) else { return DeviceSpec::default() };
        let parsed = self.parsed.entry(attr).or_insert_with(|| {
            let text = m.cx.as_str(attr).unwrap_or_default();
            text.parse().map_err(|error| cx.report(errors::malformed(m, op, text, &error))).ok()
        });
        self.failed |= parsed.is_none();
        parsed.clone().unwrap_or_default()
    }
}
