//! `--profile`, `--trace` and `--view-schedule`: the times of kernels, as a table, as JSON, kernel by kernel,
//! and as a picture.

use befrost::Recorder;

use clap::{Args, ValueEnum};

use super::failure::{Failure, tell};
use super::files::Place;
use super::options::place;

/// Options for times.
#[derive(Args, Clone, Debug)]
pub(super) struct StatisticsArgs {
    /// Write a trace for Chrome's or Perfetto's viewer: when each kernel ran, and on which thread
    #[arg(long, value_name = "FILE.json", value_parser = place())]
    trace: Option<Place>,

    /// Report how long each kernel took, with its place in the source and the shapes of its operands; after
    /// Ctrl-C too. As a table, or as JSON for --cost-profile
    #[arg(long, value_name = "AS", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    profile: Option<ProfileAs>,
}

/// How times are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProfileAs {
    Table,
    Json,
}

/// The reports that the command line asks for, of the times of kernels.
#[derive(Clone)]
pub(super) struct Statistics {
    pub(super) recorder: Option<Recorder>,
    profile: Option<ProfileAs>,
    trace: Option<Place>,
    picture: Option<Place>,
}

impl Statistics {
    /// The reports, and perhaps a picture of the schedule.
    pub(super) fn new(args: &StatisticsArgs, picture: Option<Place>) -> Statistics {
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
