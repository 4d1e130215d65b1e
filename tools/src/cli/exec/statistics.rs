//! `--profile`, `--trace` and `--view-schedule`: the times of kernels, as a table, as JSON, kernel by kernel,
//! and as a picture.

use befrost::Recorder;

use super::{ExecArgs, ProfileAs};
use crate::cli::failure::{Failure, tell};
use crate::cli::files::Place;

/// The reports that the command line asks for, of the times of kernels.
#[derive(Clone)]
pub(super) struct Statistics {
    pub(super) recorder: Option<Recorder>,
    profile: Option<ProfileAs>,
    trace: Option<Place>,
    picture: Option<Place>,
}

impl Statistics {
    pub(super) fn new(args: &ExecArgs) -> Statistics {
        let picture = args.level.devices.view_schedule.clone();
        let recorder = match (args.trace.is_some() || picture.is_some(), args.profile) {
            (true, _) => Some(Recorder::of_traces()),
            (false, Some(_)) => Some(Recorder::of_totals()),
            (false, None) => None,
        };
        Statistics { recorder, profile: args.profile, trace: args.trace.clone(), picture }
    }

    /// Reports what was recorded.
    pub(super) fn report(&self) -> Result<(), Failure> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        match self.profile {
            Some(ProfileAs::Table) => tell(&recorder.table()),
            Some(ProfileAs::Json) => tell(&recorder.profile()),
            None => {}
        }
        if let Some(file) = &self.picture {
            file.write_text(&recorder.schedule())?;
        }
        if let Some(file) = &self.trace {
            file.write_pieces(|put| recorder.write(put))?;
        }
        if (self.trace.is_some() || self.picture.is_some())
            && let (kept, lost @ 1..) = recorder.kept_and_lost()
        {
            tell(&format!("warning: the trace holds the first {kept} events; {lost} later ones were lost\n"));
        }
        Ok(())
    }
}
