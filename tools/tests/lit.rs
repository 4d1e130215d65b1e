//! Runs the lit tests: every `.mlir` and `.test` file under `testdata/`, each as a separate test.
//!
//! `cargo test -p befrost-tools --test lit -- NAME` runs those whose path contains NAME. With
//! `FILECHECK=/path/to/FileCheck` in the environment that program checks too, and must agree with ours.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use befrost_testing::lit::{Config, Outcome, Script, discover, run_file};
use libtest_mimic::{Arguments, Trial};

/// FileCheck's name, and the path of ours. Called by this name, this program is both FileChecks.
const FILECHECK: &str = "FileCheck";
const OURS: &str = env!("CARGO_BIN_EXE_FileCheck");

/// Our tools, by name. A tool that is not built is an unknown command in the tests.
const TOOLS: [(&str, Option<&str>); 5] = [
    (FILECHECK, Some(OURS)),
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

/// Adds TFRT's names to `tools`, as links in `folder` to our tools, and puts both FileChecks in the place of
/// ours if LLVM's is there.
fn add_links(tools: &mut BTreeMap<String, PathBuf>, folder: &Path, has_llvm: bool) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let ours = TFRT_TOOLS.iter().filter_map(|(name, ours)| Some((*name, tools.get(*ours)?.clone())));
    let mut links: Vec<(&str, PathBuf)> = ours.collect();
    if has_llvm {
        links.push((FILECHECK, std::env::current_exe()?));
    }
    for (name, tool) in links {
        let link = folder.join(name);
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::os::unix::fs::symlink(tool, &link)?,
        }
        tools.insert(name.to_owned(), link);
    }
    Ok(())
}

/// Both FileChecks on the same input. The messages are those of ours. If the two disagree, that is a panic:
/// `not` would take an exit code for a check that fails.
fn check_with_both(llvm: &Path) -> ExitCode {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).expect("the input can be read");
    let [ours, theirs] = [(Path::new(OURS), false), (llvm, true)].map(|(program, is_quiet)| {
        let stream = || if is_quiet { Stdio::null() } else { Stdio::inherit() };
        let mut child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .stdin(Stdio::piped())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .expect("a FileCheck starts");
        if let Some(mut stdin) = child.stdin.take() {
            // It may end before it has read its input.
            _ = stdin.write_all(&input);
        }
        child.wait().expect("a FileCheck ends").success()
    });
    assert_eq!(ours, theirs, "ours and LLVM's FileCheck disagree whether this passes");
    if ours { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
    let llvm = std::env::var_os("FILECHECK").map(PathBuf::from);
    let own_name = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    if let Some(llvm) = &llvm
        && own_name.file_name().is_some_and(|name| name == FILECHECK)
    {
        return check_with_both(llvm);
    }
    let mut arguments = Arguments::from_args();
    // Some tests only wait.
    let n_processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(n_processors + 2);
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
    if let Some(llvm) = llvm.as_ref().filter(|llvm| !llvm.is_file()) {
        eprintln!("FILECHECK names '{}', which is no file", llvm.display());
        return ExitCode::from(2);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit-tools");
    if let Err(error) = add_links(&mut tools, &folder, llvm.is_some()) {
        eprintln!("cannot link the tools to their other names: {error}");
        return ExitCode::from(2);
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit");
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
