//! Kernel errors, collected as they are raised, whether or not a result depends on them.
//!
//! They are printed on standard error after the call, in the order of their locations. With
//! `--verify-diagnostics` they are compared instead with the `// expected-error` comments of the texts in the
//! locations of the errors and kernels; the message is then `runtime error: WHY`, as in TFRT.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use befrost::{Diagnostics, Error, Program};
use befrost_compiler::diag::{Diagnostic, Severity, Source, Span};

use crate::cli::expect::{self, Verify};

/// Maximum number of distinct errors kept per call.
const MAX_KEPT: usize = 1000;

/// `file:line:col`, in parts; an error without a location is first.
type SourcePlace = Option<(String, u32, u32)>;

/// Collects errors, each location and message once.
#[derive(Default)]
pub(super) struct Raised(Mutex<BTreeMap<(SourcePlace, String), Error>>);

impl Raised {
    fn errors(&self) -> MutexGuard<'_, BTreeMap<(SourcePlace, String), Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns the errors so far, by location.
    pub(super) fn take(&self) -> Vec<Error> {
        std::mem::take(&mut *self.errors()).into_values().collect()
    }
}

impl Diagnostics for Raised {
    fn report(&self, error: &Error) {
        let key = (error.location().and_then(place), error.message().to_owned());
        let mut errors = self.errors();
        if errors.len() < MAX_KEPT {
            errors.entry(key).or_insert_with(|| error.clone());
        }
    }
}

fn place(location: &str) -> SourcePlace {
    let (rest, column) = location.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?))
}

/// The texts in the locations of the program's kernels.
pub(super) fn sources(program: &Program) -> BTreeSet<String> {
    let image = program.inner().image();
    let kernels = image.functions().flat_map(|function| function.kernels().collect::<Vec<_>>());
    let locations = kernels.filter_map(|kernel| kernel.location());
    let places = locations.filter_map(|location| place(&image.location_string(location)));
    places.map(|(file, _, _)| file).collect()
}

/// The deviations from the texts' expectations, as lines; empty if there are none.
pub(super) fn verify(mut files: BTreeSet<String>, errors: &[Error]) -> Vec<String> {
    let mut by_file: BTreeMap<String, Vec<(u32, u32, &Error)>> = BTreeMap::new();
    let mut problems = Vec::new();
    for error in errors {
        match error.location().map(|location| (location, place(location))) {
            Some((_, Some((file, line, column)))) => {
                files.insert(file.clone());
                by_file.entry(file).or_default().push((line, column, error));
            }
            Some((location, None)) => {
                problems.push(format!("{location}: error: unexpected error: {}", error.message()));
            }
            None => {}
        }
    }
    for file in files {
        let said = by_file.remove(&file).unwrap_or_default();
        match std::fs::read_to_string(&file) {
            Ok(text) => {
                let source = Source::new(&file, &text);
                let said: Vec<Diagnostic> = said.iter().map(|said| diagnostic(&text, said)).collect();
                problems.extend(expect::verify(&source, &said, Verify::All));
            }
            // A missing text expects nothing.
            Err(_) => problems.extend(said.iter().map(|(line, column, error)| {
                format!("{file}:{line}:{column}: error: unexpected error: {}", error.message())
            })),
        }
    }
    problems
}

fn diagnostic(text: &str, (line, column, error): &(u32, u32, &Error)) -> Diagnostic {
    let start =
        text.split_inclusive('\n').take((*line as usize).saturating_sub(1)).map(str::len).sum::<usize>();
    // A column beyond the end of its line would be found on the next line.
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let at = (start + (*column as usize).saturating_sub(1).min(length)) as u32;
    let said = Diagnostic::error("R0000", format!("runtime error: {}", error.message()));
    said.with_severity(Severity::Error).at(Span::new(at, at))
}
