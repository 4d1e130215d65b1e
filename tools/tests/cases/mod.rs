//! Tests whose cases are folders: one trial per folder, under its name.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};

/// Runs `check` on each case: each folder with the file `description` in the folder `folder` of `testdata`,
/// and in the folder that the environment variable `more` names.
pub(crate) fn run(folder: &str, more: &str, description: &str, check: fn(&Path) -> Result<(), Failed>) {
    let arguments = Arguments::from_args();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(folder);
    let mut trials = vec![Trial::test("there_are_cases", {
        let (n, problem) = (cases(&own, description).len(), format!("no cases in testdata/{folder}"));
        move || if n > 0 { Ok(()) } else { Err(problem.into()) }
    })];
    for root in [Some(own), std::env::var_os(more).map(PathBuf::from)].iter().flatten() {
        for case in cases(root, description) {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(name, move || check(&case)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// The folders in `root` that contain the file `description`, sorted.
fn cases(root: &Path, description: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join(description).is_file()).collect();
    found.sort();
    found
}
