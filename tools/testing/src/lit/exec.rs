//! The execution of pipelines.
//!
//! All commands of a pipeline start at once, in one process group, each with its output connected to the next
//! one's input. The last output and every error stream that is not redirected go to files, so no command
//! blocks because its output is not read. The last bytes of these files go into the report. On a timeout the
//! whole group is killed, including processes started by the commands.

use std::fs::{File, OpenOptions};
use std::io::{PipeWriter, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::shell::{Pipeline, Redirection, ShellCommand, StdStream};

/// Maximum number of bytes of a stream that a report shows.
const MAX_SHOWN: u64 = 16 << 10;
/// Maximum time from the kill of a command to its end.
const GRACE: Duration = Duration::from_secs(10);

/// A pipeline that did not succeed.
#[derive(Debug)]
pub(super) struct PipelineFailure {
    pub(super) report: String,
    /// True if every command ended by itself; false if one could not start or was killed.
    pub(super) ended: bool,
}

impl PipelineFailure {
    fn not_run(report: String) -> PipelineFailure {
        PipelineFailure { report, ended: false }
    }
}

/// The destination of a stream.
enum Sink {
    File(File),
    Pipe(PipeWriter),
}

impl Sink {
    fn again(&self) -> std::io::Result<Sink> {
        Ok(match self {
            Sink::File(file) => Sink::File(file.try_clone()?),
            Sink::Pipe(pipe) => Sink::Pipe(pipe.try_clone()?),
        })
    }

    fn stdio(self) -> Stdio {
        match self {
            Sink::File(file) => file.into(),
            Sink::Pipe(pipe) => pipe.into(),
        }
    }
}

/// Runs the pipelines one after the other, in `directory`, up to the first failure.
pub(super) fn run(
    pipelines: &[Pipeline],
    directory: &Path,
    deadline: Instant,
) -> Result<(), PipelineFailure> {
    pipelines.iter().try_for_each(|p| run_pipeline(p, directory, deadline))
}

fn run_pipeline(pipeline: &Pipeline, directory: &Path, deadline: Instant) -> Result<(), PipelineFailure> {
    let system =
        |error: std::io::Error| PipelineFailure::not_run(format!("cannot set up the pipeline: {error}\n"));
    let mut output = capture().map_err(system)?;
    let mut errors = capture().map_err(system)?;
    let mut group = Group { children: Vec::new() };
    let mut input = Stdio::null();
    for (i, command) in pipeline.iter().enumerate() {
        let (sink, next_input) = if i + 1 == pipeline.len() {
            (Sink::File(output.try_clone().map_err(system)?), Stdio::null())
        } else {
            let (reader, writer) = std::io::pipe().map_err(system)?;
            (Sink::Pipe(writer), reader.into())
        };
        let errors = Sink::File(errors.try_clone().map_err(system)?);
        group.start(command, directory, input, sink, errors)?;
        input = next_input;
    }
    let statuses = group.wait(deadline)?;
    if statuses.iter().all(|s| s.is_some_and(|s| s.success())) {
        return Ok(());
    }
    let mut report = String::new();
    for (command, status) in pipeline.iter().zip(&statuses) {
        let how = match status {
            None => "killed, the time of the test ran out".to_owned(),
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, signal) => format!("signal {}", signal.unwrap_or_default()),
            },
        };
        let shown =
            std::iter::once(command.name.as_str()).chain(command.arguments.iter().map(String::as_str));
        report.push_str(&format!("{}: {how}\n", shown.collect::<Vec<_>>().join(" ")));
    }
    for (name, stream) in [("standard output", &mut output), ("standard error", &mut errors)] {
        let text = tail(stream).map_err(system)?;
        if !text.is_empty() {
            let newline = if text.ends_with('\n') { "" } else { "\n" };
            report.push_str(&format!("--- {name}:\n{text}{newline}"));
        }
    }
    Err(PipelineFailure { report, ended: statuses.iter().all(Option::is_some) })
}

/// A file for a stream's output; every write appends.
fn capture() -> std::io::Result<File> {
    let directory = tempfile::tempdir()?;
    // The open file outlives its directory, which is removed on return.
    OpenOptions::new().read(true).append(true).create_new(true).open(directory.path().join("stream"))
}

fn tail(file: &mut File) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_SHOWN)))?;
    let mut bytes = Vec::new();
    file.take(MAX_SHOWN).read_to_end(&mut bytes)?;
    let cut = if length > MAX_SHOWN { "[..]" } else { "" };
    Ok(format!("{cut}{}", String::from_utf8_lossy(&bytes)))
}

/// The running commands of a pipeline.
struct Group {
    children: Vec<Child>,
}

impl Group {
    fn start(
        &mut self,
        command: &ShellCommand,
        directory: &Path,
        input: Stdio,
        output: Sink,
        errors: Sink,
    ) -> Result<(), PipelineFailure> {
        let fail = |what: &Path, error: std::io::Error| {
            PipelineFailure::not_run(format!("{}: cannot open '{}': {error}\n", command.name, what.display()))
        };
        let (mut input, mut output, mut errors) = (input, output, errors);
        for redirection in &command.redirections {
            match redirection {
                Redirection::Input(path) => input = File::open(path).map_err(|e| fail(path, e))?.into(),
                Redirection::File { stream, path, append } => {
                    let mut options = OpenOptions::new();
                    let options = options.create(true);
                    let options =
                        if *append { options.append(true) } else { options.write(true).truncate(true) };
                    let file = Sink::File(options.open(path).map_err(|e| fail(path, e))?);
                    match stream {
                        StdStream::Output => output = file,
                        StdStream::Error => errors = file,
                    }
                }
                Redirection::Join(StdStream::Error) => {
                    errors = output.again().map_err(|e| fail(Path::new("2>&1"), e))?;
                }
                Redirection::Join(StdStream::Output) => {
                    output = errors.again().map_err(|e| fail(Path::new(">&2"), e))?;
                }
            }
        }
        let mut process = std::process::Command::new(&command.program);
        process.args(&command.arguments).current_dir(directory);
        process.stdin(input).stdout(output.stdio()).stderr(errors.stdio());
        process
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .env("BEFROST_LEAK_CHECK", "1")
            .env_remove("FILECHECK_OPTS");
        for (name, value) in &command.environment {
            match value {
                Some(value) => process.env(name, value),
                None => process.env_remove(name),
            };
        }
        // The first child leads the group. Its id cannot be reused before it is waited for.
        let leader = self.children.first().map_or(0, |c| i32::try_from(c.id()).unwrap_or(0));
        process.process_group(leader);
        let child = process.spawn().map_err(|error| {
            PipelineFailure::not_run(format!("cannot run '{}': {error}\n", command.program.display()))
        })?;
        self.children.push(child);
        Ok(())
    }

    /// Waits for all commands. The status of a command that was killed is `None`.
    fn wait(mut self, deadline: Instant) -> Result<Vec<Option<ExitStatus>>, PipelineFailure> {
        let children = std::mem::take(&mut self.children);
        let leader = children.first().map(Child::id);
        let n_children = children.len();
        let mut statuses = vec![None; n_children];
        let (sender, receiver) = mpsc::channel();
        for (i, mut child) in children.into_iter().enumerate() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                // Sending fails only if the receiver has given up on the whole group.
                _ = sender.send((i, child.wait()));
            });
        }
        let mut timed_out = false;
        let mut n_answers = 0;
        while n_answers < n_children {
            let left = if timed_out { GRACE } else { deadline.saturating_duration_since(Instant::now()) };
            match receiver.recv_timeout(left) {
                Ok((i, status)) => {
                    let status = status
                        .map_err(|e| PipelineFailure::not_run(format!("cannot wait for a command: {e}\n")))?;
                    let killed = timed_out && status.signal() == Some(9);
                    statuses[i] = if killed { None } else { Some(status) };
                    n_answers += 1;
                }
                Err(_) if timed_out => {
                    return Err(PipelineFailure::not_run(
                        "a command that was killed does not end\n".to_owned(),
                    ));
                }
                Err(_) => {
                    // Some command is still running, so its group exists.
                    timed_out = true;
                    kill_group(leader);
                }
            }
        }
        Ok(statuses)
    }
}

impl Drop for Group {
    /// Kills the commands already started when a later one cannot start.
    fn drop(&mut self) {
        if let Some(first) = self.children.first() {
            kill_group(Some(first.id()));
        }
        for child in &mut self.children {
            _ = child.wait();
        }
    }
}

fn kill_group(leader: Option<u32>) {
    let leader = leader.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(leader) = leader {
        // An error means that the group has ended by itself.
        _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
}
