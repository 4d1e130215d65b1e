//! The schedule of a recorded run, as a picture.

use std::collections::HashMap;

use bef_format::device::ScheduleView;

use super::{Crossing, Label, Recorder, TimedEvent};

impl Recorder {
    /// The trace as a picture, SVG: a row for each device and for each link that a value crosses.
    pub fn schedule(&self) -> String {
        let noted = self.0.noted();
        let mut labels: Vec<Option<&Label>> = vec![None; noted.totals.len()];
        noted.labels.iter().for_each(|(label, &i)| labels[i] = Some(label));
        let mut view = ScheduleView::new(noted.devices.iter().map(|(&device, name)| (device, name.clone())));
        let mut sent: HashMap<u64, (u16, f64)> = HashMap::new();
        let (mut first, mut last) = (f64::INFINITY, 0.0);
        // Events are noted when they end, so a send is in front of its recv.
        for TimedEvent { label, is_later: _, track, thread: _, at, took } in &noted.events {
            let Some(Label { kernel, source, operands: _, kind: _ }) = labels.get(*label).copied().flatten()
            else {
                continue;
            };
            let start = at.as_nanos() as f64;
            let end = start + took.as_nanos() as f64;
            (first, last) = (start.min(first), end.max(last));
            let space = if source.is_empty() { "" } else { " " };
            let title = format!("{kernel}{space}{source}");
            match track.crossing {
                Some(Crossing { id, is_send: true }) => _ = sent.insert(id, (track.device, end)),
                Some(Crossing { id, is_send: false }) => {
                    if let Some(&(from, left)) = sent.get(&id) {
                        view.crosses(from, track.device, (left.min(start), start), title.clone());
                    }
                }
                None => {}
            }
            match track.moves {
                Some((from, to)) => view.crosses(from, to, (start, end), title),
                None => view.works(track.device, (start, end), title),
            }
        }
        view.svg(&format!("the run took {:.1} us", (last - first).max(0.0) / 1e3))
    }
}
