//! Sets of devices, in the syntax of the option `--devices`.
//!
//! ```text
//! set      = entry { "," entry }
//! entry    = ["/job:NAME"] ["/replica:N"] ["/task:N"] ["/"] KIND ":" COUNT [properties]
//!          | SPEC "->" SPEC "=" TIME "/" BYTES
//! ```
//!
//! The number after the kind is a count: `CPU:3` is CPU:0, CPU:1, CPU:2. A later entry of the same kind and
//! task continues the numbering, so that devices of one kind may differ.
//! `/device:SIM:0->/device:SIM:1=1us/50GB` is a link in one direction; the first that matches a pair of
//! devices counts. Property `link` is the one to the host's memory, in both directions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::config::{DeviceConfig, LINK, LinkConfig, link};
use super::name::{DeviceName, DeviceSpec};
use super::text::{Cursor, DeviceSyntax, DeviceTextError, shown};

/// Maximum number of devices of a set: a file numbers them with 16 bits.
pub const MAX_DEVICES: usize = u16::MAX as usize;

/// Maximum number of channels of a program: they are numbered from 0.
pub const MAX_CHANNELS: i64 = 1 << 20;

/// The deepest nest of loops in which parts of a program exchange values.
pub const MAX_LOOPS: usize = 64;

/// Maximum number of links of a set.
const MAX_LINKS: usize = 4096;

/// Maximum number of pairs of devices that links join.
const MAX_LINKED: usize = 1 << 20;

/// The devices that a program may use, in the order of their entries. The first is the client's.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSet {
    devices: Vec<(DeviceName, DeviceConfig)>,
    links: Vec<DeviceLink>,
}

/// A link from the devices that match a spec to those that match another.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLink {
    /// The senders.
    pub from: DeviceSpec,
    /// The receivers.
    pub to: DeviceSpec,
    /// The link of each pair of them.
    pub link: LinkConfig,
}

impl fmt::Display for DeviceLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceLink { from, to, link } = self;
        write!(f, "{from}->{to}={link}")
    }
}

impl DeviceSet {
    /// All devices.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = (&DeviceName, &DeviceConfig)> {
        self.devices.iter().map(|(name, config)| (name, config))
    }

    /// The links that are given, the first of a pair of devices counts.
    pub fn links(&self) -> &[DeviceLink] {
        &self.links
    }

    /// The set with the properties that `change` gives each device.
    #[must_use]
    pub fn with_configs(mut self, change: impl Fn(&DeviceName, &mut DeviceConfig)) -> DeviceSet {
        self.devices.iter_mut().for_each(|(name, config)| change(name, config));
        self
    }

    /// The set with a device of kind `host` in front, which is the client's: the first one of that kind, or
    /// one more in the first task.
    #[must_use]
    pub fn with_client(mut self, host: &str) -> DeviceSet {
        match self.devices.iter().position(|(name, _)| name.kind() == host) {
            Some(at) => self.devices[..=at].rotate_right(1),
            None => {
                let name = DeviceSpec::default().name_of(host, 0);
                self.devices.insert(0, (name, DeviceConfig::default()));
            }
        }
        self
    }

    /// The devices that match a spec.
    pub fn matching(&self, spec: &DeviceSpec) -> impl Iterator<Item = &DeviceName> {
        self.devices().map(|(name, _)| name).filter(move |name| spec.matches(name))
    }
}

impl Default for DeviceSet {
    /// One CPU.
    fn default() -> DeviceSet {
        let name = DeviceSpec::default().name_of("CPU", 0);
        DeviceSet { devices: vec![(name, DeviceConfig::default())], links: Vec::new() }
    }
}

impl FromStr for DeviceSet {
    type Err = DeviceTextError;

    fn from_str(text: &str) -> Result<DeviceSet, DeviceTextError> {
        let (mut devices, mut links, mut next) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut text = Cursor::new(text);
        loop {
            if is_link(text) {
                if links.len() == MAX_LINKS {
                    return Err(text.error(DeviceSyntax::TooManyLinks));
                }
                links.push((text, read_link(&mut text)?));
            } else {
                let (task, kind) = read_place(&mut text)?;
                text.expect(":", "':' and the number of devices")?;
                let at = text;
                let count = text.number(u32::MAX)?;
                if count == 0 {
                    return Err(at.error(DeviceSyntax::Expected("at least one device")));
                }
                if count as usize > MAX_DEVICES - devices.len() {
                    return Err(at.error(DeviceSyntax::TooMany(MAX_DEVICES)));
                }
                let config = DeviceConfig::read(&mut text)?;
                let first = next.entry(task.name_of(kind, 0)).or_insert(0);
                let numbers = *first..*first + count;
                devices.extend(numbers.map(|index| (task.name_of(kind, index), config.clone())));
                *first += count;
            }
            if text.is_at_end() {
                break;
            }
            text.expect(",", "',' or the end")?;
        }
        if devices.is_empty() {
            return Err(text.error(DeviceSyntax::Expected("a device besides the links")));
        }
        check_links(&devices, &links)?;
        Ok(DeviceSet { devices, links: links.into_iter().map(|(_, link)| link).collect() })
    }
}

impl fmt::Display for DeviceSet {
    /// Prints the set as it is read. Equal neighbours are one entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_same = |(a, of_a): &(DeviceName, DeviceConfig), (b, of_b): &(DeviceName, DeviceConfig)| {
            a.is_same_task(b) && a.kind() == b.kind() && of_a == of_b
        };
        for (i, entry) in self.devices.chunk_by(is_same).enumerate() {
            let (name, config) = &entry[0];
            let separator = if i == 0 { "" } else { "," };
            let task = name.to_spec().without_kind();
            write!(f, "{separator}{task}/{}:{}", name.kind(), entry.len())?;
            let properties = config.properties();
            if !properties.is_empty() {
                write!(f, "{{{}}}", properties.join(","))?;
            }
        }
        self.links.iter().try_for_each(|link| write!(f, ",{link}"))
    }
}

/// True if an entry is a link.
fn is_link(text: Cursor<'_>) -> bool {
    let end = text.rest.find([',', '{']).unwrap_or(text.rest.len());
    text.rest[..end].contains(ARROW)
}

const ARROW: &str = "->";

fn read_link(text: &mut Cursor<'_>) -> Result<DeviceLink, DeviceTextError> {
    fn spec(text: &mut Cursor<'_>) -> Result<DeviceSpec, DeviceTextError> {
        let start = *text;
        // A `-` that begins no arrow is refused with the spec.
        let end = text.rest.find([',', '{', '=']).unwrap_or(text.rest.len());
        let end = text.rest[..end].find(ARROW).unwrap_or(end);
        let (spec, rest) = text.rest.split_at(end);
        *text = Cursor { rest, at: start.at + end };
        spec.parse().map_err(|error: DeviceTextError| DeviceTextError { at: start.at + error.at, ..error })
    }
    let from = spec(text)?;
    text.expect(ARROW, "'->' and the device to which the link leads")?;
    let to = spec(text)?;
    text.expect("=", "'=' and TIME/BYTES of the link")?;
    let at = *text;
    let value = text.take_while(|c| c != ',');
    let malformed = || DeviceSyntax::Value { property: "link", want: LINK, found: shown(value) };
    Ok(DeviceLink { from, to, link: link(value).ok_or_else(|| at.error(malformed()))? })
}

/// Checks that each link joins devices, and that all together join no more pairs than there may be.
fn check_links(
    devices: &[(DeviceName, DeviceConfig)],
    links: &[(Cursor<'_>, DeviceLink)],
) -> Result<(), DeviceTextError> {
    let client = DeviceSet::default();
    let mut pairs = 0usize;
    for (at, DeviceLink { from, to, link: _ }) in links {
        let count = |spec: &DeviceSpec| {
            let all = devices.iter().chain(&client.devices);
            all.filter(|(name, _)| spec.matches(name)).count()
        };
        let (n_from, n_to) = (count(from), count(to));
        if n_from == 0 || n_to == 0 {
            return Err(at.error(DeviceSyntax::LinkOfNone));
        }
        pairs = pairs.saturating_add(n_from.saturating_mul(n_to));
        if pairs > MAX_LINKED {
            return Err(at.error(DeviceSyntax::TooManyLinks));
        }
    }
    Ok(())
}

/// The task of an entry, and the kind.
fn read_place<'t>(text: &mut Cursor<'t>) -> Result<(DeviceSpec, &'t str), DeviceTextError> {
    const KIND: &str = "a kind of device";
    let start = *text;
    let path = text.take_while(|c| !matches!(c, ',' | '{'));
    let split = path.rfind('/').unwrap_or(0);
    let task: DeviceSpec = path[..split]
        .parse()
        .map_err(|error: DeviceTextError| DeviceTextError { at: start.at + error.at, ..error })?;
    if task.kind.is_some() || task.index.is_some() {
        return Err(start.error(DeviceSyntax::Twice("device")));
    }
    *text = Cursor { rest: &start.rest[split..], at: start.at + split };
    text.eat("/");
    Ok((task, text.word(KIND)?))
}
