//! The devices of a compilation, as passes of its pipeline.

/// How a program is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// Not: one function has ops of several devices.
    #[default]
    None,
    /// A part for each task.
    Worker,
    /// A part for each device.
    Device,
}

/// The devices that an op graph may use, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// The set of devices, as `CPU:2`. Without any, all runs on the host, whatever ops say.
    pub devices: String,
    /// The policy of placement: `first`, `greedy` or `list`; if it is empty `list`, but `first` at -O0.
    pub policy: String,
    /// The number of placements that `list` simulates at most, if given.
    pub budget: Option<u32>,
    /// The number of iterations that a loop is assumed to have, if given.
    pub trips: Option<u32>,
    /// Whether specs that no device matches are softened.
    pub soft: bool,
    /// Whether the placement is printed.
    pub print: bool,
    /// How the program is divided.
    pub partition: Partition,
    /// The only part to keep of a divided program.
    pub only: Option<String>,
}

impl DeviceOptions {
    fn devices(&self) -> String {
        format!("devices={}", self.devices)
    }

    /// The passes that choose a device for each op, each followed by a comma.
    pub(crate) fn place(&self, level: u8) -> String {
        if self.devices.is_empty() {
            return "tf-place,".to_owned();
        }
        let policy = match (self.policy.as_str(), level) {
            ("", 0) => "first",
            ("", _) => "list",
            (policy, _) => policy,
        };
        let number = |name: &str, value: Option<u32>| value.map_or(String::new(), |n| format!(" {name}={n}"));
        let (budget, trips) = (number("budget", self.budget), number("trips", self.trips));
        let (soft, print) = (if self.soft { " soft" } else { "" }, if self.print { " print" } else { "" });
        format!("tf-place{{{} policy={policy}{budget}{trips}{soft}{print}}},", self.devices())
    }

    /// The passes that keep optimizations from crossing devices.
    pub(crate) fn cross(&self) -> String {
        if self.devices.is_empty() { String::new() } else { format!("tf-transfers{{{}}},", self.devices()) }
    }

    /// The passes in front of the making of kernels.
    pub(crate) fn last(&self) -> String {
        let by = match self.partition {
            _ if self.devices.is_empty() => return String::new(),
            Partition::None => return format!("tf-transfers{{{} last}},", self.devices()),
            Partition::Worker => "worker",
            Partition::Device => "device",
        };
        match &self.only {
            None => format!("tf-partition{{{} by={by}}},", self.devices()),
            Some(part) => format!("tf-partition{{{} by={by} only={part}}},symbol-dce,", self.devices()),
        }
    }
}
