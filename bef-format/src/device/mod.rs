//! Names of devices, specs that restrict them, and sets of devices.
//!
//! ```text
//! "/task:1/device:CPU:*" ──parse──▶ DeviceSpec ──within──▶ DeviceSpec ──matches──▶ DeviceName
//! "CPU:2{threads=1},SIM:1" ──parse──▶ DeviceSet: DeviceName and DeviceConfig of each device
//! ```
//!
//! A name has all fields: job, replica, task, kind, index. A spec has some of them, in any order; `*` leaves
//! a field open, as if it was not given. The module is in this crate because both the compiler, which places
//! ops, and the runtime, which has the devices, read these texts. Texts come from models and command lines:
//! parsing takes linear time, a set has at most [`MAX_DEVICES`] devices, and an error has the position of the
//! byte.
//!
//! Invariants, which the property tests state: what is printed parses to the same value;
//! [`DeviceSpec::within`] is associative; a spec matches a name exactly if, merged into it, it changes
//! nothing.
//!
//! [`picture`] draws schedules, simulated and measured ones alike.
//!
//! Not here: which devices a process really has, and which of them an op may use.

mod config;
mod name;
mod picture;
mod set;
mod text;

pub use config::{DeviceConfig, DeviceKernels, DeviceSpace, LinkConfig};
pub use name::{DeviceName, DeviceSpec, LOCALHOST};
pub use picture::{ScheduleView, device_colour, xml_text};
pub use set::{DeviceLink, DeviceSet, MAX_CHANNELS, MAX_DEVICES, MAX_LOOPS};
pub use text::{DeviceSyntax, DeviceTextError};
