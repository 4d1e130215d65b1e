//! Where the variables of a session are.
//!
//! A resource belongs to the device on which it was made. A session compiles one program after the other,
//! each placed by itself, so it tells each the places of the resources that the earlier ones made.

use std::collections::{BTreeMap, BTreeSet};

use bef_format::device::{DeviceName, DeviceSet, DeviceSpec};

use super::specs::{CLIENT, Devices, text_of};
use crate::dialects::tf;
use crate::ir::{Module, OpId, names};

/// The devices of named resources: for each container and name those that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePlaces(BTreeMap<(String, String), BTreeSet<DeviceName>>);

impl ResourcePlaces {
    /// Lets the operators of a module that is not placed yet find the resources that there are. An operator
    /// with a device keeps to it.
    pub fn keep(&self, m: &mut Module) {
        for (op, name) in named(m) {
            let spec = match text_of(m, op).map(str::parse::<DeviceSpec>) {
                None => DeviceSpec::default(),
                Some(Ok(spec)) => spec,
                // The placement reports it.
                Some(Err(_)) => continue,
            };
            let places = self.0.get(&name).into_iter().flatten();
            if let Some(place) = places.into_iter().find(|place| spec.matches(place)) {
                let attr = m.cx.str_attr(&place.to_string());
                m.set_attr(op, names::DEVICE, attr);
            }
        }
    }

    /// Adds the resources of a module that was compiled for these devices.
    pub fn record(&mut self, m: &Module, devices: &str) {
        let Ok(set) = devices.parse::<DeviceSet>() else { return };
        let devices = Devices::of_set(set);
        for (op, name) in named(m) {
            // A kernel without a device runs on the client's.
            let place = super::device_of(m, op).and_then(|attr| devices.number(m.cx.as_str(attr)?));
            let place = devices.name(place.unwrap_or(CLIENT)).clone();
            self.0.entry(name).or_default().insert(place);
        }
    }

    /// Adds a resource by its container and name.
    pub fn insert(&mut self, container: &str, name: &str, device: DeviceName) {
        self.0.entry((container.to_owned(), name.to_owned())).or_default().insert(device);
    }

    /// Adds those of another one.
    pub fn extend(&mut self, other: &ResourcePlaces) {
        other.iter().for_each(|(container, name, device)| self.insert(container, name, device.clone()));
    }

    /// All resources: container, name and device.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &DeviceName)> {
        let all = self.0.iter().flat_map(|(name, devices)| devices.iter().map(move |device| (name, device)));
        all.map(|((container, name), device)| (&**container, &**name, device))
    }
}

/// The operators of a module that make named resources, each with the container and the name.
fn named(m: &Module) -> Vec<(OpId, (String, String))> {
    let of = |op: OpId| {
        tf::operator(m, op).filter(|operator| tf::names_resource(operator.row()))?;
        let text = |name| m.attr_named(op, name).and_then(|attr| m.cx.as_str(attr)).unwrap_or_default();
        let name = text("shared_name");
        (!name.is_empty()).then(|| (op, (text("container").to_owned(), name.to_owned())))
    };
    m.walk_functions().filter_map(of).collect()
}
