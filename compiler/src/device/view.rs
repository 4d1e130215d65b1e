//! `tf-view`: a picture of a placed program.
//!
//! ```text
//! ┌ main.CPU_0 ──────────────────────┐
//! │ arguments ── Sin ── Mul ── return│   a frame per function, or part of one; a box per op, in the colour
//! └──────────────╲───────────────────┘   of its device; a column for each step from the arguments;
//! ┌ main.CPU_1 ───╲──────────────────┐   thin lines for values, dashed ones for control edges,
//! │               recv ── Neg        │   bold ones for what crosses
//! └──────────────────────────────────┘
//! ```
//!
//! Constants, which are on every device, are left out.

use std::fmt::Write;

use bef_format::device::{device_colour, xml_text};
use rustc_hash::FxHashMap;

use super::homes::block_of;
use super::specs::{CLIENT, DEVICES, DeviceIndex, Devices};
use super::transfers::sorted_functions;
use super::{errors, is_constant};
use crate::diag::shortened;
use crate::dialects::dev;
use crate::ir::{KnownType, Module, OpId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-view",
    title: "TFView",
    summary: "prints a picture of a placed program",
    options: &[DEVICES],
    statistics: &[],
    run,
};

/// Maximum number of boxes in a picture.
const MAX_BOXES: usize = 20_000;
/// Distances of columns and rows, and the size of a box.
const COLUMN: f64 = 180.0;
const ROW: f64 = 36.0;
const WIDTH: f64 = 140.0;
const HEIGHT: f64 = 24.0;
/// The margin around everything.
const MARGIN: f64 = 20.0;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Some(devices) = Devices::of_option(cx).filter(|devices| devices.len() > 0) else {
        return r.change();
    };
    let m = r.ir();
    let mut picture = Picture::new(m, &devices);
    sorted_functions(m).into_iter().for_each(|function| picture.function(function));
    cx.print(&picture.svg());
    r.change()
}

/// A box of the picture.
#[derive(Clone, Copy)]
struct Placed {
    x: f64,
    y: f64,
    column: usize,
    device: DeviceIndex,
}

/// A picture that is being drawn.
struct Picture<'m> {
    m: &'m Module,
    devices: &'m Devices,
    frames: String,
    lines: String,
    boxes: String,
    n_boxes: usize,
    n_left_out: usize,
    width: f64,
    height: f64,
    /// The ends of each channel: sends and recvs.
    channels: FxHashMap<i64, [Vec<Placed>; 2]>,
}

impl<'m> Picture<'m> {
    fn new(m: &'m Module, devices: &'m Devices) -> Picture<'m> {
        let mut picture = Picture {
            m,
            devices,
            frames: String::new(),
            lines: String::new(),
            boxes: String::new(),
            n_boxes: 0,
            n_left_out: 0,
            width: 600.0,
            height: MARGIN,
            channels: FxHashMap::default(),
        };
        for (device, name) in devices.all().take(MAX_BOXES) {
            let colour = device_colour(device);
            let y = picture.height;
            _ = writeln!(
                picture.frames,
                "<rect x=\"{MARGIN}\" y=\"{y:.1}\" width=\"16\" height=\"12\" fill=\"{colour}\"/>\
                 <text x=\"44\" y=\"{:.1}\">{name}</text>",
                y + 10.0
            );
            picture.height += 18.0;
        }
        picture
    }

    /// Draws a function below the others.
    fn function(&mut self, function: OpId) {
        let m = self.m;
        let Some(block) = block_of(m, function) else { return };
        let top = self.height + MARGIN;
        // The lowest free row of each column.
        let mut rows: Vec<usize> = Vec::new();
        let mut made: FxHashMap<ValueId, Placed> = FxHashMap::default();
        let own = self.devices.of(m, function).unwrap_or(CLIENT);
        if !m.args(block).is_empty() {
            let arguments = self.draw("arguments", "arguments", own, (0, top), &mut rows);
            made.extend(arguments.into_iter().flat_map(|at| m.args(block).iter().map(move |&arg| (arg, at))));
        }
        for op in m.ops_in(block) {
            if is_constant(m, op) {
                continue;
            }
            let from: Vec<(Placed, bool)> = m
                .operands(op)
                .filter_map(|value| Some((*made.get(&value)?, m.value_type(value) == KnownType::Chain.id())))
                .collect();
            let column = from.iter().map(|(from, _)| from.column + 1).max().unwrap_or(0);
            let to = dev::destination(m, op).and_then(|to| self.devices.number(to));
            let device = to.or_else(|| self.devices.of(m, op)).unwrap_or(own);
            let name = m.op_name_str(op);
            let short = name.strip_prefix("tf.").or_else(|| name.strip_prefix("func.")).unwrap_or(name);
            let title = errors::op_text(m, op);
            let Some(at) = self.draw(short, &title, device, (column, top), &mut rows) else { continue };
            for (from, is_control) in from {
                self.line(from, at, from.device != device, is_control);
            }
            made.extend(m.results(op).map(|value| (value, at)));
            let end = [dev::SEND, dev::RECV].iter().position(|&known| known == name);
            let channel = m.attr_named(op, "channel").and_then(|attr| m.cx.as_int(attr));
            if let (Some(end), Some(channel)) = (end, channel) {
                self.channels.entry(channel).or_default()[end].push(at);
            }
        }
        let n_rows = rows.iter().copied().max().unwrap_or(0);
        let (wide, high) = (rows.len() as f64 * COLUMN, n_rows as f64 * ROW + 24.0);
        let name = m.symbol_name(function).map_or("", |name| m.cx.str(name));
        _ = writeln!(
            self.frames,
            "<rect x=\"{MARGIN}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"none\" \
             stroke=\"#888\"/><text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            MARGIN + 6.0,
            top + 14.0,
            xml_text(&shortened(name, 100))
        );
        self.width = self.width.max(wide + 2.0 * MARGIN);
        self.height = top + high;
    }

    /// Draws a box in the next row of a column. `None` if there are too many.
    fn draw(
        &mut self,
        text: &str,
        title: &str,
        device: DeviceIndex,
        (column, top): (usize, f64),
        rows: &mut Vec<usize>,
    ) -> Option<Placed> {
        if self.n_boxes == MAX_BOXES {
            self.n_left_out += 1;
            return None;
        }
        self.n_boxes += 1;
        rows.resize(rows.len().max(column + 1), 0);
        let x = MARGIN + column as f64 * COLUMN + (COLUMN - WIDTH) / 2.0;
        let y = top + 20.0 + rows[column] as f64 * ROW + (ROW - HEIGHT) / 2.0;
        rows[column] += 1;
        _ = writeln!(
            self.boxes,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"4\" fill=\"{}\" \
             stroke=\"#555\" stroke-width=\"0.5\"><title>{} on {}</title></rect>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            device_colour(device),
            xml_text(title),
            self.devices.name(device),
            x + WIDTH / 2.0,
            y + 16.0,
            xml_text(&shortened(text, 22))
        );
        Some(Placed { x, y, column, device })
    }

    /// Draws a line between two boxes.
    fn line(&mut self, from: Placed, to: Placed, crosses: bool, is_control: bool) {
        let stroke = if crosses { "stroke=\"#000\" stroke-width=\"2.5\"" } else { "stroke=\"#999\"" };
        let dashes = if is_control { " stroke-dasharray=\"4 3\"" } else { "" };
        _ = writeln!(
            self.lines,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {stroke}{dashes}/>",
            from.x + WIDTH,
            from.y + HEIGHT / 2.0,
            to.x,
            to.y + HEIGHT / 2.0
        );
    }

    /// The whole as SVG.
    fn svg(mut self) -> String {
        let mut channels: Vec<(i64, [Vec<Placed>; 2])> = self.channels.drain().collect();
        channels.sort_by_key(|&(channel, _)| channel);
        for (_, [sends, recvs]) in channels {
            for (send, recv) in sends.into_iter().zip(recvs) {
                self.line(send, recv, true, false);
            }
        }
        let (width, height) = (self.width, self.height + 2.0 * MARGIN);
        let left_out = match self.n_left_out {
            0 => String::new(),
            n => format!("<text x=\"{MARGIN}\" y=\"{:.1}\">{n} more operators</text>\n", height - 10.0),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n{}{}{}{left_out}</svg>\n",
            self.frames, self.lines, self.boxes
        )
    }
}
