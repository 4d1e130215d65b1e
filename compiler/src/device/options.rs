//! The device options of a compilation, and the passes that they add to its pipeline.

use super::specs::Devices;

/// The division of a program into parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// No division: one function has ops of several devices.
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
    /// The set of devices, as `CPU:2`. If it is empty, all ops run on the host, whatever their specs.
    pub devices: String,
    /// The placement policy: `first`, `greedy` or `list`. If it is empty: `first` at -O0, else `list`.
    pub policy: String,
    /// The number of placements that `list` simulates at most, if given.
    pub budget: Option<u32>,
    /// The number of iterations that a loop is assumed to have, if given.
    pub trips: Option<u32>,
    /// Whether specs that no device matches are softened.
    pub soft: bool,
    /// Whether the placement is printed.
    pub print: bool,
    /// Whether the transfers between devices are printed.
    pub print_transfers: bool,
    /// Whether a picture of the simulated schedule is printed, as SVG.
    pub draw: bool,
    /// Whether a picture of the placed program is printed, as SVG.
    pub view: bool,
    /// The division of the program.
    pub partition: Partition,
    /// The type as which f32 crosses between tasks, `bf16` or `f16`; its own if it is empty.
    pub wire: String,
    /// How many bytes a part may receive before they are read, if that is limited.
    pub recv_memory: Option<u64>,
    /// The only part to keep of a divided program.
    pub only: Option<String>,
}

impl DeviceOptions {
    fn devices(&self) -> String {
        format!("devices={}", self.devices)
    }

    /// True if a device has a memory other than the host's. The passes report a malformed set.
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
        let keep = if self.draw { " keep-times" } else { "" };
        let draw = match self.draw {
            true => format!("tf-simulate{{{}{trips} svg}},", self.devices()),
            false => String::new(),
        };
        format!("tf-place{{{} policy={policy}{budget}{trips}{soft}{print}{keep}}},{draw}", self.devices())
    }

    /// The passes that keep optimizations from crossing devices.
    pub(crate) fn cross(&self) -> String {
        if self.devices.is_empty() {
            return String::new();
        }
        let print = if self.print_transfers { " print" } else { "" };
        format!("tf-transfers{{{}{print}}},", self.devices())
    }

    /// The passes right before the lowering to kernels.
    pub(crate) fn last(&self) -> String {
        let view = match self.view && !self.devices.is_empty() {
            true => format!("tf-view{{{}}},", self.devices()),
            false => String::new(),
        };
        format!("{}{view}", self.cross_last())
    }

    /// The passes that let values cross, without pictures.
    fn cross_last(&self) -> String {
        let transfers = format!("tf-transfers{{{} last}},", self.devices());
        let (by, transfers) = match self.partition {
            _ if self.devices.is_empty() => return String::new(),
            Partition::None => return transfers,
            // A part may have devices with several memories, and parts exchange values in the host's memory.
            Partition::Worker => ("worker", transfers),
            Partition::Device if self.has_memories() => ("device", transfers),
            Partition::Device => ("device", String::new()),
        };
        let wire = match self.partition {
            // Devices of one process share its memory.
            Partition::Worker if !self.wire.is_empty() => format!(" wire={}", self.wire),
            _ => String::new(),
        };
        let memory = self.recv_memory.map_or(String::new(), |bytes| format!(" recv-memory={bytes}"));
        let trips = self.trips.map_or(String::new(), |n| format!(" trips={n}"));
        let (only, then) = match &self.only {
            None => (String::new(), "verify-parts"),
            Some(part) => (format!(" only={part}"), "symbol-dce"),
        };
        format!("tf-partition{{{} by={by}{wire}{memory}{trips}{only}}},{then},{transfers}", self.devices())
    }
}
