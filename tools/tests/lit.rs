//! Runs the lit tests: every `.mlir` and `.test` file under `testdata/`, each as a separate test.
//!
//! `cargo test -p befrost-tools --test lit -- NAME` runs those whose path contains NAME. With
//! `FILECHECK=/path/to/FileCheck` in the environment that program is used instead of ours.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use befrost_testing::lit::{Config, Outcome, Script, discover, run_file};
use libtest_mimic::{Arguments, Trial};

/// Our tools, by name. A tool that is not built is an unknown command in the tests.
const TOOLS: [(&str, Option<&str>); 5] = [
    ("FileCheck", Some(env!("CARGO_BIN_EXE_FileCheck"))),
    ("not", Some(env!("CARGO_BIN_EXE_not"))),
    ("ir-translate", option_env!("CARGO_BIN_EXE_ir-translate")),
    ("ir-opt", option_env!("CARGO_BIN_EXE_ir-opt")),
    ("bef-exec", option_env!("CARGO_BIN_EXE_bef-exec")),
];

/// The names of TFRT's tools, and our corresponding tools.
const TFRT_TOOLS: [(&str, &str); 5] = [
    ("tfrt_opt", "ir-opt"),
    ("tfrt_translate", "ir-translate"),
    ("bef_executor", "bef-exec"),
    ("bef_executor_lite", "bef-exec"),
    ("bef_executor_debug_tracing", "bef-exec"),
];

/// Adds TFRT's names to `tools`, as links in `folder` to our tools.
fn add_tfrt_tools(tools: &mut BTreeMap<String, PathBuf>, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, ours) in TFRT_TOOLS {
        let Some(tool) = tools.get(ours) else { continue };
        let link = folder.join(name);
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::os::unix::fs::symlink(tool, &link)?,
        }
        tools.insert(name.to_owned(), link);
    }
    Ok(())
}

/// The features of the machine and the build, for REQUIRES.
fn features() -> BTreeSet<String> {
    let mut features = BTreeSet::from([std::env::consts::OS.to_owned(), std::env::consts::ARCH.to_owned()]);
    if cfg!(debug_assertions) {
        features.insert("debug".to_owned());
    }
    features
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let root = match root.canonicalize() {
        Ok(root) => root,
        Err(error) => {
            eprintln!("cannot find the tests in '{}': {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let mut tools: BTreeMap<String, PathBuf> =
        TOOLS.iter().filter_map(|(name, path)| Some(((*name).to_owned(), PathBuf::from((*path)?)))).collect();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit");
    if let Err(error) = add_tfrt_tools(&mut tools, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit-tools"))
    {
        eprintln!("cannot link the tools to TFRT's names: {error}");
        return ExitCode::from(2);
    }
    if let Some(llvm) = std::env::var_os("FILECHECK") {
        let llvm = PathBuf::from(llvm);
        if !llvm.is_file() {
            eprintln!("FILECHECK names '{}', which is no file", llvm.display());
            return ExitCode::from(2);
        }
        tools.insert("FileCheck".to_owned(), llvm);
    }
    let config = Arc::new(Config { tools, features: features(), scratch, timeout: Duration::from_secs(60) });
    let files = match discover(&root) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("cannot list the tests in '{}': {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let trials = files.into_iter().map(|file| trial(&config, &root, &file)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(config: &Arc<Config>, root: &Path, file: &Path) -> Trial {
    let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    // Parsed here only to mark the trial as ignored. The run reports all problems of the file.
    let script = std::fs::read(file).ok().and_then(|bytes| Script::parse(&bytes).ok());
    let unsupported = script.is_some_and(|s| s.unmet(&config.features).is_some());
    let (config, root, test) = (Arc::clone(config), root.to_owned(), name.clone());
    let run = move || match run_file(&config, &root, &test) {
        Outcome::Pass | Outcome::ExpectedFailure => Ok(()),
        Outcome::Unsupported(reason) => Err(format!("cannot run here: {reason}").into()),
        Outcome::Fail(report) => Err(report.into()),
    };
    Trial::test(name, run).with_ignored_flag(unsupported)
}
