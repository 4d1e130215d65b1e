//! The commands of the README's `console` blocks, run as written, with the tools on the PATH and in a
//! directory that contains `testdata`. The lines below a command are its whole output, including standard
//! error. A command without such lines must succeed.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

/// The commands of the README, each with the output below it.
fn commands(readme: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in readme.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => is_inside = line == "```console",
            Some(command) if is_inside => found.push((command.to_owned(), String::new())),
            None if is_inside => {
                if let Some((_, output)) = found.last_mut() {
                    output.push_str(line);
                    output.push('\n');
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn the_commands_do_what_the_text_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let directory = tempfile::tempdir().expect("a directory");
    std::os::unix::fs::symlink(root.join("testdata"), directory.path().join("testdata")).expect("a link");
    let tools = Path::new(env!("CARGO_BIN_EXE_bef-exec")).parent().expect("the directory of the tools");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let commands = commands(&readme);
    assert!(commands.len() >= 5, "{commands:?}");
    for (command, shown) in commands {
        let output = Command::new("sh")
            .args(["-c", &format!("{command} 2>&1")])
            .current_dir(directory.path())
            .env("PATH", &path)
            .output()
            .expect("a shell");
        let printed = String::from_utf8_lossy(&output.stdout);
        if shown.is_empty() {
            assert!(output.status.success(), "{command}\n{printed}");
        } else {
            assert_eq!(printed, shown, "{command}");
        }
    }
}

#[test]
fn the_program_is_the_one_that_the_text_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).expect("a file of the repository");
    let file = read("testdata/add.mlir");
    let is_code = |line: &&str| !line.starts_with("//");
    let program: String = file.split_inclusive('\n').filter(is_code).collect();
    assert!(read("README.md").contains(&format!("```mlir\n{program}```\n")), "testdata/add.mlir differs");
}
