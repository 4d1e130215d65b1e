//! The links between devices.
//!
//! ```text
//! SIM:0 ──out──▶ host's memory ──in──▶ SIM:1        two hops, unless there is a direct link
//! ```
//!
//! Each device with a memory of its own has a link from it to the host's memory, and one back. Devices in the
//! host's memory pass references.

use rustc_hash::FxHashMap;

use crate::device::specs::{DeviceIndex, LinkRate};

/// The links of a problem.
#[derive(Clone, Debug, Default)]
pub(in crate::device::place) struct Links {
    /// From devices whose memory is the host's to each other.
    pub(in crate::device::place) host: LinkRate,
    /// For each device the link to the host's memory, and the one from it, if it has its own memory.
    pub(in crate::device::place) ports: Vec<Option<(LinkRate, LinkRate)>>,
    /// The links that lead from one device to another directly.
    pub(in crate::device::place) direct: FxHashMap<(DeviceIndex, DeviceIndex), LinkRate>,
}

/// A link from a device to a device, or from or to the host's memory.
pub(super) type LinkId = (Option<DeviceIndex>, Option<DeviceIndex>);

impl Links {
    /// The links over which a value passes from one device to another.
    pub(super) fn hops(
        &self,
        from: DeviceIndex,
        to: DeviceIndex,
    ) -> impl Iterator<Item = (LinkId, LinkRate)> + use<> {
        let port = |device: DeviceIndex| self.ports[usize::from(device)];
        let direct = self.direct.get(&(from, to)).copied();
        let hops = match (direct, port(from), port(to)) {
            _ if from == to => [None, None],
            (Some(rate), ..) => [Some(((Some(from), Some(to)), rate)), None],
            (None, None, None) => [Some(((None, None), self.host)), None],
            (None, out, into) => [
                out.map(|(rate, _)| ((Some(from), None), rate)),
                into.map(|(_, rate)| ((None, Some(to)), rate)),
            ],
        };
        hops.into_iter().flatten()
    }

    /// The mean over all pairs of devices.
    pub(super) fn mean(&self) -> LinkRate {
        let n = self.ports.len() as f64;
        let n_host = self.ports.iter().filter(|port| port.is_none()).count() as f64;
        let add = |a: LinkRate, b: LinkRate, times: f64| (a.0 + b.0 * times, a.1 + b.1 * times);
        let mut sum = add((0.0, 0.0), self.host, n_host * (n_host - 1.0));
        for &(out, into) in self.ports.iter().flatten() {
            sum = add(add(sum, out, n - 1.0), into, n - 1.0);
        }
        let pairs = (n * (n - 1.0)).max(1.0);
        (sum.0 / pairs, sum.1 / pairs)
    }
}
