//! Pictures of schedules, simulated or measured.
//!
//! ```text
//! CPU:0           ▐████▌    ▐██▌      a row for each device, a box for each op or kernel
//! CPU:1                 ▐███▌
//! CPU:0 to CPU:1       ▐▌             a row for each link that something crosses, a box for each crossing
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

/// Width of the time axis, and the margin for the names of rows.
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 320.0;
/// Height of a row, and of a box in it.
const ROW: f64 = 40.0;
const BOX: f64 = 24.0;
/// The most boxes of a picture.
const MAX_BOXES: usize = 20_000;

/// The colour of a device: hues that are far from each other for neighbours.
pub fn device_colour(device: u16) -> String {
    format!("hsl({},55%,65%)", usize::from(device) * 137 % 360)
}

/// A text inside of XML.
pub fn xml_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Start and end, in nanoseconds.
type Span = (f64, f64);

/// A schedule: what each device and each link does, and when.
#[derive(Clone, Debug, Default)]
pub struct ScheduleView {
    devices: BTreeMap<u16, String>,
    work: Vec<(u16, Span, String)>,
    crossings: BTreeMap<(u16, u16), Vec<(Span, String)>>,
}

impl ScheduleView {
    /// A schedule of these devices, with nothing to do.
    pub fn new(devices: impl IntoIterator<Item = (u16, String)>) -> ScheduleView {
        ScheduleView { devices: devices.into_iter().collect(), ..ScheduleView::default() }
    }

    /// Adds an op or a kernel.
    pub fn works(&mut self, device: u16, span: Span, title: impl Into<String>) {
        self.work.push((device, span, title.into()));
    }

    /// Adds a value on its way between two devices.
    pub fn crosses(&mut self, from: u16, to: u16, span: Span, title: impl Into<String>) {
        self.crossings.entry((from, to)).or_default().push((span, title.into()));
    }

    fn name(&self, device: u16) -> String {
        self.devices.get(&device).map_or_else(|| format!("device {device}"), |name| xml_text(name))
    }

    /// The name of a device without what is as usual.
    fn short(&self, device: u16) -> String {
        let name = self.name(device).replace("/replica:0", "").replace("/device:", "/");
        name.strip_prefix("/job:localhost/task:0/").unwrap_or(&name).to_owned()
    }

    /// The picture, as SVG, with a line of text at the bottom.
    pub fn svg(&self, caption: &str) -> String {
        let all = || self.work.iter().map(|it| it.1).chain(self.crossings.values().flatten().map(|it| it.0));
        let start = all().map(|span| span.0).fold(f64::INFINITY, f64::min);
        let end = all().map(|span| span.1).fold(0.0, f64::max);
        let scale = WIDTH / (end - start).max(1.0);
        let rows: BTreeMap<u16, usize> = self.devices.keys().copied().zip(0..).collect();
        let y = |row: usize| ROW * (row as f64 + 0.5);
        let n_rows = rows.len() + self.crossings.len();
        let (width, height) = (LEFT + WIDTH + 20.0, ROW * (n_rows as f64 + 1.0));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let links =
            self.crossings.keys().map(|&(from, to)| format!("{} to {}", self.short(from), self.short(to)));
        for (row, name) in rows.keys().map(|&device| self.name(device)).chain(links).enumerate() {
            let middle = y(row);
            _ = writeln!(
                svg,
                "<text x=\"8\" y=\"{:.1}\">{name}</text>\n\
                 <line x1=\"{LEFT}\" y1=\"{middle:.1}\" x2=\"{:.1}\" y2=\"{middle:.1}\" stroke=\"#ddd\"/>",
                middle + 4.0,
                LEFT + WIDTH
            );
        }
        let of_devices = self.work.iter().filter_map(|(device, span, title)| {
            Some((*rows.get(device)?, *span, device_colour(*device), title))
        });
        let of_links = self.crossings.values().zip(rows.len()..);
        let of_links = of_links.flat_map(|(crossings, row)| {
            crossings.iter().map(move |(span, title)| (row, *span, "#555".to_owned(), title))
        });
        for (row, (from, to), colour, title) in of_devices.chain(of_links).take(MAX_BOXES) {
            _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX}\" fill=\"{colour}\" \
                 stroke=\"white\" stroke-width=\"0.3\"><title>{} {:.1} us to {:.1} us</title></rect>",
                LEFT + (from - start) * scale,
                y(row) - BOX / 2.0,
                ((to - from) * scale).max(0.5),
                xml_text(title),
                (from - start) / 1e3,
                (to - start) / 1e3
            );
        }
        let n_more = all().count().saturating_sub(MAX_BOXES);
        let more = if n_more > 0 { format!("; {n_more} more are not drawn") } else { String::new() };
        _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{:.1}\">{caption}{more}</text>\n</svg>", height - 12.0);
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_row_for_each_device_and_each_link() {
        let name = |i: u16| (i, format!("/job:a/replica:0/task:{i}/device:CPU:0"));
        let mut view = ScheduleView::new([name(0), name(1)]);
        view.works(0, (1000.0, 3000.0), "a < b");
        view.works(1, (4000.0, 5000.0), "c");
        view.crosses(0, 1, (3000.0, 4000.0), "channel 1");
        let svg = view.svg("it took 4.0 us");
        assert_eq!(svg.matches("<text x=\"8\"").count(), 3, "{svg}");
        assert!(
            svg.contains("<text x=\"8\" y=\"104.0\">/job:a/task:0/CPU:0 to /job:a/task:1/CPU:0</text>"),
            "{svg}"
        );
        assert!(svg.contains("<rect x=\"320.0\" y=\"8.0\" width=\"600.0\""), "{svg}");
        assert!(svg.contains("<title>a &lt; b 0.0 us to 2.0 us</title>"), "{svg}");
        assert!(
            svg.contains("<rect x=\"920.0\" y=\"88.0\" width=\"300.0\" height=\"24\" fill=\"#555\""),
            "{svg}"
        );
        assert!(svg.ends_with("it took 4.0 us</text>\n</svg>\n"), "{svg}");
    }

    #[test]
    fn large_schedules_say_what_is_not_drawn() {
        let mut view = ScheduleView::new([(0, "CPU:0".to_owned())]);
        (0..MAX_BOXES + 3).for_each(|i| view.works(0, (i as f64, i as f64 + 1.0), "op"));
        assert!(view.svg("").contains(">; 3 more are not drawn</text>"));
        assert!(ScheduleView::default().svg("nothing").contains("nothing"));
    }
}
