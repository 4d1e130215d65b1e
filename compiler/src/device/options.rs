//! The devices of a compilation, as passes of its pipeline.

use super::specs::Devices;

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
    /// Whether a picture of the simulated schedule is printed, as SVG.
    pub draw: bool,
    /// How the program is divided.
    pub partition: Partition,
    /// The type as which f32 crosses between tasks, `bf16` or `f16`; its own if it is empty.
    pub wire: String,
    /// The only part to keep of a divided program.
    pub only: Option<String>,
}

impl DeviceOptions {
    fn devices(&self) -> String {
        format!("devices={}", self.devices)
    }

    /// True if a device has a memory of its own. A malformed text is reported by the passes.
    fn has_memories(&self) -> bool {
        self.devices.parse().is_ok_and(|set| Devices::new(&set).have_memories())
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
        let draw = match self.draw {
            true => format!("tf-simulate{{{}{trips} svg}},", self.devices()),
            false => String::new(),
        };
        format!("tf-place{{{} policy={policy}{budget}{trips}{soft}{print}}},{draw}", self.devices())
    }

    /// The passes that keep optimizations from crossing devices.
    pub(crate) fn cross(&self) -> String {
        if self.devices.is_empty() { String::new() } else { format!("tf-transfers{{{}}},", self.devices()) }
    }

    /// The passes in front of the making of kernels.
    pub(crate) fn last(&self) -> String {
        let transfers = format!("tf-transfers{{{} last}},", self.devices());
        let (by, transfers) = match self.partition {
            _ if self.devices.is_empty() => return String::new(),
            Partition::None => return transfers,
            // A part may have devices of several memories, and what parts send each other is the host's.
            Partition::Worker => ("worker", transfers),
            Partition::Device if self.has_memories() => ("device", transfers),
            Partition::Device => ("device", String::new()),
        };
        let wire = match self.partition {
            // Devices of one process share its memory.
            Partition::Worker if !self.wire.is_empty() => format!(" wire={}", self.wire),
            _ => String::new(),
        };
        let (only, then) = match &self.only {
            None => (String::new(), "verify-parts"),
            Some(part) => (format!(" only={part}"), "symbol-dce"),
        };
        format!("tf-partition{{{} by={by}{wire}{only}}},{then},{transfers}", self.devices())
    }
}
