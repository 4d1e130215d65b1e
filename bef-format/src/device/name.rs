//! Names and specs: parse, print, match, merge.

use std::fmt;
use std::str::FromStr;

use super::text::{Cursor, DeviceSyntax, DeviceTextError, shown};

/// The job of devices without a cluster.
pub const LOCALHOST: &str = "localhost";

/// The largest replica, task or index: TensorFlow's numbers are `i32`.
const MAX_NUMBER: u32 = i32::MAX as u32;

/// The full name of a device. Names are ordered field by field, numbers by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceName {
    job: Box<str>,
    replica: u32,
    task: u32,
    kind: Box<str>,
    index: u32,
}

/// Some of the fields of a name; `None` is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceSpec {
    pub(super) job: Option<Box<str>>,
    pub(super) replica: Option<u32>,
    pub(super) task: Option<u32>,
    pub(super) kind: Option<Box<str>>,
    pub(super) index: Option<u32>,
}

impl DeviceName {
    /// The job; [`LOCALHOST`] without a cluster.
    pub fn job(&self) -> &str {
        &self.job
    }

    /// The number of the replica.
    pub fn replica(&self) -> u32 {
        self.replica
    }

    /// The number of the task in its job.
    pub fn task(&self) -> u32 {
        self.task
    }

    /// The kind: `CPU`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The number among the devices of its kind in the task.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// True if both are devices of one task, thus of one address space.
    pub fn is_same_task(&self, other: &DeviceName) -> bool {
        (&self.job, self.replica, self.task) == (&other.job, other.replica, other.task)
    }

    /// The spec that matches this name only.
    pub fn to_spec(&self) -> DeviceSpec {
        let DeviceName { job, replica, task, kind, index } = self;
        DeviceSpec {
            job: Some(job.clone()),
            replica: Some(*replica),
            task: Some(*task),
            kind: Some(kind.clone()),
            index: Some(*index),
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceName { job, replica, task, kind, index } = self;
        write!(f, "/job:{job}/replica:{replica}/task:{task}/device:{kind}:{index}")
    }
}

impl FromStr for DeviceName {
    type Err = DeviceTextError;

    /// Reads a full name.
    fn from_str(text: &str) -> Result<DeviceName, DeviceTextError> {
        let spec: DeviceSpec = text.parse()?;
        let missing = |what| DeviceTextError { at: text.len(), kind: DeviceSyntax::Expected(what) };
        let DeviceSpec { job, replica, task, kind, index } = spec;
        Ok(DeviceName {
            job: job.ok_or_else(|| missing("a job: the name of a device has all fields"))?,
            replica: replica.ok_or_else(|| missing("a replica: the name of a device has all fields"))?,
            task: task.ok_or_else(|| missing("a task: the name of a device has all fields"))?,
            kind: kind.ok_or_else(|| missing("a kind of device: the name of a device has all fields"))?,
            index: index.ok_or_else(|| missing("an index: the name of a device has all fields"))?,
        })
    }
}

impl DeviceSpec {
    /// True if no field is given: every device matches.
    pub fn is_open(&self) -> bool {
        *self == DeviceSpec::default()
    }

    /// The kind, if it is given.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// True if all fields that are given are equal to the name's.
    pub fn matches(&self, name: &DeviceName) -> bool {
        let DeviceSpec { job, replica, task, kind, index } = self;
        job.as_ref().is_none_or(|job| *job == name.job)
            && replica.is_none_or(|replica| replica == name.replica)
            && task.is_none_or(|task| task == name.task)
            && kind.as_ref().is_none_or(|kind| *kind == name.kind)
            && index.is_none_or(|index| index == name.index)
    }

    /// This spec inside another: its own fields win.
    pub fn within(&self, outer: &DeviceSpec) -> DeviceSpec {
        let DeviceSpec { job, replica, task, kind, index } = self;
        DeviceSpec {
            job: job.as_ref().or(outer.job.as_ref()).cloned(),
            replica: replica.or(outer.replica),
            task: task.or(outer.task),
            kind: kind.as_ref().or(outer.kind.as_ref()).cloned(),
            index: index.or(outer.index),
        }
    }

    /// The spec without its index: the first step of soft placement.
    pub fn without_index(&self) -> DeviceSpec {
        DeviceSpec { index: None, ..self.clone() }
    }

    /// The spec without index and kind: the second step of soft placement, which keeps job and task.
    pub fn without_kind(&self) -> DeviceSpec {
        DeviceSpec { kind: None, ..self.without_index() }
    }

    /// The name with this kind and index, where fields that are open are those of a process without a
    /// cluster.
    pub(super) fn name_of(&self, kind: &str, index: u32) -> DeviceName {
        DeviceName {
            job: self.job.clone().unwrap_or_else(|| LOCALHOST.into()),
            replica: self.replica.unwrap_or(0),
            task: self.task.unwrap_or(0),
            kind: kind.into(),
            index,
        }
    }

    /// Reads one field after its `/`.
    fn read_field(&mut self, text: &mut Cursor<'_>, given: &mut GivenFields) -> Result<(), DeviceTextError> {
        let start = *text;
        let field = text.word("a field: job, replica, task or device")?;
        match field {
            "job" => {
                given.note(start, GivenFields::JOB)?;
                text.expect(":", "':'")?;
                self.job = open_or(text, |text| text.word("a job or '*'"))?.map(Into::into);
            }
            "replica" => {
                given.note(start, GivenFields::REPLICA)?;
                text.expect(":", "':'")?;
                self.replica = open_or(text, |text| text.number(MAX_NUMBER))?;
            }
            "task" => {
                given.note(start, GivenFields::TASK)?;
                text.expect(":", "':'")?;
                self.task = open_or(text, |text| text.number(MAX_NUMBER))?;
            }
            "device" => {
                given.note(start, GivenFields::DEVICE)?;
                text.expect(":", "':'")?;
                self.kind = open_or(text, |text| text.word("a kind of device or '*'"))?.map(Into::into);
                if text.eat(":") {
                    self.index = open_or(text, |text| text.number(MAX_NUMBER))?;
                }
            }
            "cpu" | "CPU" | "gpu" | "GPU" => {
                given.note(start, GivenFields::DEVICE)?;
                text.expect(":", "':'")?;
                self.kind = Some(field.to_ascii_uppercase().into());
                self.index = open_or(text, |text| text.number(MAX_NUMBER))?;
            }
            other => return Err(start.error(DeviceSyntax::UnknownField(shown(other)))),
        }
        Ok(())
    }
}

/// The fields of a spec that were read, `*` included.
#[derive(Default)]
struct GivenFields([bool; 4]);

impl GivenFields {
    const JOB: usize = 0;
    const REPLICA: usize = 1;
    const TASK: usize = 2;
    const DEVICE: usize = 3;

    /// Notes a field, which must be new.
    fn note(&mut self, at: Cursor<'_>, field: usize) -> Result<(), DeviceTextError> {
        const NAMES: [&str; 4] = ["job", "replica", "task", "device"];
        match std::mem::replace(&mut self.0[field], true) {
            true => Err(at.error(DeviceSyntax::Twice(NAMES[field]))),
            false => Ok(()),
        }
    }
}

/// `*`, which is `None`, or what `read` reads.
fn open_or<'t, T>(
    text: &mut Cursor<'t>,
    read: impl FnOnce(&mut Cursor<'t>) -> Result<T, DeviceTextError>,
) -> Result<Option<T>, DeviceTextError> {
    if text.eat("*") { Ok(None) } else { read(text).map(Some) }
}

impl FromStr for DeviceSpec {
    type Err = DeviceTextError;

    fn from_str(text: &str) -> Result<DeviceSpec, DeviceTextError> {
        let (mut spec, mut given) = (DeviceSpec::default(), GivenFields::default());
        let mut text = Cursor::new(text);
        while !text.is_at_end() {
            text.expect("/", "'/'")?;
            spec.read_field(&mut text, &mut given)?;
        }
        Ok(spec)
    }
}

impl fmt::Display for DeviceSpec {
    /// Prints the fields that are given, in the order of names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceSpec { job, replica, task, kind, index } = self;
        if let Some(job) = job {
            write!(f, "/job:{job}")?;
        }
        if let Some(replica) = replica {
            write!(f, "/replica:{replica}")?;
        }
        if let Some(task) = task {
            write!(f, "/task:{task}")?;
        }
        match (kind, index) {
            (None, None) => Ok(()),
            (Some(kind), None) => write!(f, "/device:{kind}"),
            (None, Some(index)) => write!(f, "/device:*:{index}"),
            (Some(kind), Some(index)) => write!(f, "/device:{kind}:{index}"),
        }
    }
}
