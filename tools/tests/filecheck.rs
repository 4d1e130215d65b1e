//! FileCheck's corpus (`testdata/filecheck/`), in-process, and compared with LLVM's FileCheck if installed.
//!
//! LLVM's is the program in the environment variable `FILECHECK`, in `/usr/lib/llvm-19/bin`, or
//! `FileCheck-19` on the PATH. Without it the comparing tests report this and end. They compare exit codes
//! on the corpus, on mechanical mutations of its inputs and check files, and on random check files. If ours
//! refuses a case that LLVM accepts, the reason must be one of the known differences of `filecheck/mod.rs`.
//! A case that ours accepts and LLVM refuses is always an error.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use befrost_testing::dice::Dice;
use befrost_tools::filecheck::{CheckFailure, Source, check, parse_arguments};

/// The expected outcome of a case.
#[derive(Clone, Debug)]
enum Expected {
    Pass,
    Fail(String),
    Invalid(String),
}

#[derive(Clone, Debug)]
struct Case {
    name: String,
    arguments: Vec<String>,
    expected: Expected,
    differs: bool,
    check: Vec<u8>,
    input: Vec<u8>,
}

fn corpus() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/filecheck");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "case"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| parse_cases(&std::fs::read(file).expect("a case file can be read")))
        .collect()
}

fn parse_cases(file: &[u8]) -> Vec<Case> {
    #[derive(PartialEq)]
    enum Section {
        Head,
        Check,
        Input { crlf: bool },
    }
    let mut cases: Vec<Case> = Vec::new();
    let mut section = Section::Head;
    let mut no_newline = (false, false);
    let finish = |cases: &mut Vec<Case>, flags: &mut (bool, bool)| {
        if let Some(case) = cases.last_mut() {
            if flags.0 {
                case.check.pop();
            }
            if flags.1 {
                case.input.pop();
            }
        }
        *flags = (false, false);
    };
    for line in file.strip_suffix(b"\n").unwrap_or(file).split(|&b| b == b'\n') {
        let text = String::from_utf8_lossy(line);
        if let Some(name) = text.strip_prefix("=== ") {
            finish(&mut cases, &mut no_newline);
            section = Section::Head;
            cases.push(Case {
                name: name.to_owned(),
                arguments: Vec::new(),
                expected: Expected::Pass,
                differs: false,
                check: Vec::new(),
                input: Vec::new(),
            });
            continue;
        }
        let case = cases.last_mut().expect("a case file begins with a case");
        match (&*text, &section) {
            ("--- check", _) => section = Section::Check,
            ("--- check -n", _) => {
                section = Section::Check;
                no_newline.0 = true;
            }
            ("--- input", _) => section = Section::Input { crlf: false },
            ("--- input -crlf", _) => section = Section::Input { crlf: true },
            ("--- input -n", _) => {
                section = Section::Input { crlf: false };
                no_newline.1 = true;
            }
            (_, Section::Check) => {
                case.check.extend_from_slice(line);
                case.check.push(b'\n');
            }
            (_, Section::Input { crlf }) => {
                case.input.extend_from_slice(line);
                case.input.extend_from_slice(if *crlf { b"\r\n" } else { b"\n" });
            }
            ("pass", Section::Head) => case.expected = Expected::Pass,
            (head, Section::Head) => match head.split_once(": ") {
                Some(("args", arguments)) => {
                    case.arguments = arguments.split_whitespace().map(str::to_owned).collect();
                }
                Some(("fail", message)) => case.expected = Expected::Fail(message.to_owned()),
                Some(("invalid", message)) => case.expected = Expected::Invalid(message.to_owned()),
                Some(("differs", _)) => case.differs = true,
                _ => panic!("{}: what is '{head}'?", case.name),
            },
        }
    }
    finish(&mut cases, &mut no_newline);
    cases
}

/// Our FileCheck on a case.
fn ours(arguments: &[String], check_file: &[u8], input: &[u8]) -> Result<(), CheckFailure> {
    report(arguments, check_file, input).map(|_| ())
}

/// [`ours`], with the messages of a successful check.
fn report(arguments: &[String], check_file: &[u8], input: &[u8]) -> Result<String, CheckFailure> {
    let mut all = arguments.to_vec();
    all.push("case.check".to_owned());
    let command = parse_arguments(&all)?;
    let check_file = Source { name: &command.check_file, bytes: check_file };
    check(&command.options, check_file, Source { name: "<stdin>", bytes: input })
}

/// The dump in the output of either program, without backslashes, with which LLVM escapes values.
fn dump_of(report: &str) -> Option<String> {
    report.find("Input was:\n").map(|at| report[at..].replace('\\', ""))
}

#[test]
fn every_case_comes_out_as_it_says() {
    let mut problems = String::new();
    let cases = corpus();
    for case in &cases {
        let got = ours(&case.arguments, &case.check, &case.input);
        let as_expected = match (&case.expected, &got) {
            (Expected::Pass, Ok(())) => true,
            (Expected::Fail(part), Err(CheckFailure::Mismatch(report)))
            | (Expected::Invalid(part), Err(CheckFailure::Invalid(report) | CheckFailure::Usage(report))) => {
                report.contains(part)
            }
            _ => false,
        };
        if !as_expected {
            problems.push_str(&format!("{}: wanted {:?}, got {got:?}\n", case.name, case.expected));
        }
    }
    assert!(problems.is_empty(), "{problems}");
    let count = |wanted: fn(&Expected) -> bool| cases.iter().filter(|c| wanted(&c.expected)).count();
    assert!(count(|e| matches!(e, Expected::Pass)) > 100, "the corpus has shrunk");
    assert!(count(|e| !matches!(e, Expected::Pass)) > 150, "the corpus has shrunk");
}

/// Runs every case with an empty check file: none may pass.
#[test]
fn a_check_file_without_directives_never_passes() {
    for case in corpus() {
        if case.arguments.iter().any(|a| a.contains("implicit-check-not")) {
            continue;
        }
        let empty = ours(&case.arguments, b"", &case.input);
        assert!(
            matches!(empty, Err(CheckFailure::Invalid(_) | CheckFailure::Usage(_))),
            "{}: {empty:?}",
            case.name
        );
    }
}

/// The path of LLVM's FileCheck, if installed.
fn llvm() -> Option<PathBuf> {
    let named = std::env::var_os("FILECHECK").map(PathBuf::from);
    let candidates =
        named.into_iter().chain(["/usr/lib/llvm-19/bin/FileCheck".into(), "FileCheck-19".into()]);
    for candidate in candidates {
        let answer = Command::new(&candidate).arg("--version").output();
        if let Ok(answer) = answer
            && String::from_utf8_lossy(&answer.stdout).contains("LLVM version 19")
        {
            return Some(candidate);
        }
    }
    eprintln!("no FileCheck of LLVM 19 on this machine: nothing is compared");
    None
}

/// The exit code of LLVM's FileCheck; `None` if it crashes.
fn llvm_answers(
    llvm: &Path,
    file: &Path,
    arguments: &[String],
    check_file: &[u8],
    input: &[u8],
) -> Option<i32> {
    let mut arguments = arguments.to_vec();
    arguments.push("--dump-input=never".to_owned());
    run_llvm(llvm, file, &arguments, check_file, input, Stdio::null())?.status.code()
}

/// The result of LLVM's FileCheck; `None` if it crashes.
fn run_llvm(
    llvm: &Path,
    file: &Path,
    arguments: &[String],
    check_file: &[u8],
    input: &[u8],
    stderr: Stdio,
) -> Option<Output> {
    std::fs::write(file, check_file).expect("the check file can be written");
    let mut child = Command::new(llvm)
        .args(arguments)
        .arg(file)
        .env("FILECHECK_OPTS", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .expect("LLVM's FileCheck starts");
    if let Some(mut stdin) = child.stdin.take() {
        // LLVM's may end before it has read its input.
        _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().expect("LLVM's FileCheck ends");
    output.status.code().map(|_| output)
}

/// The exit code for a result.
fn exit_code(answer: &Result<(), CheckFailure>) -> i32 {
    answer.as_ref().map_or_else(|failure| i32::from(failure.exit_code()), |()| 0)
}

/// True if ours may refuse a case for this reason though LLVM accepts it.
fn is_known_difference(failure: &CheckFailure, check_file: &[u8]) -> bool {
    match failure {
        CheckFailure::Mismatch(report) => {
            report.contains("the pattern is empty, because its variables are")
                || report.contains("too much search")
        }
        CheckFailure::Usage(_) => false,
        CheckFailure::Invalid(report) => {
            let known = [
                "the number is too large",
                "the precision is too large",
                "unknown collating element",
                "missing closing \"]\"",
                "word boundaries are not supported",
                "group that is still open",
                "-DVAR=VALUE",
                // An --implicit-check-not that cannot be read.
                "implicit-check-not='",
            ];
            known.iter().any(|k| report.contains(k))
                || (report.contains("found empty check string") && check_file.ends_with(b":"))
        }
    }
}

/// Compares the two on all `cases`. Returns the number of cases that LLVM accepted and of those it refused.
fn compare(llvm: &Path, cases: &[Case]) -> (usize, usize) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let (next, n_pass, n_fail) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut problems: Vec<String> = Vec::new();
    std::thread::scope(|scope| {
        let worker = |number: usize| {
            let file = directory.path().join(format!("{number}.check"));
            let (next, n_pass, n_fail) = (&next, &n_pass, &n_fail);
            move || {
                let mut problems = Vec::new();
                // Relaxed: `next` only hands out indices. The end of the scope orders the counts before
                // they are read.
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(theirs) = llvm_answers(llvm, &file, &case.arguments, &case.check, &case.input)
                    else {
                        continue;
                    };
                    (if theirs == 0 { n_pass } else { n_fail }).fetch_add(1, Ordering::Relaxed);
                    let ours = ours(&case.arguments, &case.check, &case.input);
                    let agree = match &ours {
                        Err(failure) if is_known_difference(failure, &case.check) => true,
                        ours => exit_code(ours) == theirs,
                    };
                    if !agree {
                        let what = match exit_code(&ours) {
                            0 => "FALSE PASS",
                            _ if theirs == 0 => "false failure",
                            _ => "another exit code",
                        };
                        problems.push(format!(
                            "{what}: {} {:?}\n--- check\n{}\n--- input\n{}\n--- ours: {ours:?}\n",
                            case.name,
                            case.arguments,
                            String::from_utf8_lossy(&case.check),
                            String::from_utf8_lossy(&case.input)
                        ));
                    }
                }
                problems
            }
        };
        let workers: Vec<_> = (0..4).map(|number| scope.spawn(worker(number))).collect();
        for worker in workers {
            problems.extend(worker.join().expect("a worker does not panic"));
        }
    });
    let shown: Vec<&str> = problems.iter().take(20).map(String::as_str).collect();
    assert!(problems.is_empty(), "{} of {} differ\n{}", problems.len(), cases.len(), shown.join("\n"));
    (n_pass.into_inner(), n_fail.into_inner())
}

/// For each line of `text`, its versions with this line deleted, doubled or swapped with the next, or one
/// byte of it changed.
fn mutations(text: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    let mut all = Vec::new();
    for i in 0..lines.len() {
        let mut gone = lines.clone();
        gone.remove(i);
        all.push(gone.concat());
        let mut double = lines.clone();
        double.insert(i, lines[i]);
        all.push(double.concat());
        if i + 1 < lines.len() {
            let mut exchanged = lines.clone();
            exchanged.swap(i, i + 1);
            all.push(exchanged.concat());
        }
        let before: usize = lines[..i].iter().map(|l| l.len()).sum();
        // The position varies from line to line, so over the corpus every part of a directive is hit.
        let at = before + (i * 7 + text.len()) % lines[i].len();
        let mut changed = text.to_vec();
        changed[at] = match changed[at] {
            b'a' => b'b',
            b'}' => b']',
            b'[' => b'{',
            b':' => b'-',
            b'-' => b':',
            b' ' => b'x',
            b'\n' => b' ',
            _ => b'a',
        };
        all.push(changed);
    }
    all
}

#[test]
fn llvm_agrees_on_the_corpus() {
    let Some(llvm) = llvm() else { return };
    let cases: Vec<Case> = corpus().into_iter().filter(|c| !c.differs).collect();
    let (n_pass, n_fail) = compare(&llvm, &cases);
    assert!(n_pass > 100 && n_fail > 100, "{n_pass} passed, {n_fail} failed");
}

/// Compares the dumps, which contain every match with its position and every variable.
fn compare_dumps(llvm: &Path, cases: &[Case], options: &[&str]) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let file = directory.path().join("case.check");
    let mut n_same = 0;
    let mut problems = String::new();
    for case in cases {
        let mut arguments = case.arguments.clone();
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let Some(theirs) = run_llvm(llvm, &file, &arguments, &case.check, &case.input, Stdio::piped()) else {
            continue;
        };
        let theirs = String::from_utf8_lossy(&theirs.stderr).into_owned();
        let ours = match report(&arguments, &case.check, &case.input) {
            Ok(report) => report,
            Err(failure) if is_known_difference(&failure, &case.check) => continue,
            Err(failure) => failure.report().to_owned(),
        };
        if dump_of(&ours) == dump_of(&theirs) {
            n_same += 1;
        } else {
            problems.push_str(&format!(
                "{} {arguments:?}\n--- check\n{}\n--- ours\n{ours}\n--- theirs\n{theirs}\n",
                case.name,
                String::from_utf8_lossy(&case.check),
            ));
        }
    }
    assert!(problems.is_empty() && n_same > 100, "{n_same} are the same\n{problems}");
}

#[test]
fn llvm_dumps_the_same() {
    let Some(llvm) = llvm() else { return };
    let cases: Vec<Case> = corpus().into_iter().filter(|c| !c.differs).collect();
    compare_dumps(&llvm, &cases, &["--dump-input=always", "-vv"]);
    compare_dumps(&llvm, &cases, &["--dump-input=always", "-v"]);
    compare_dumps(&llvm, &cases, &["--dump-input-context=1"]);
    compare_dumps(&llvm, &cases, &["--dump-input-filter=annotation", "--dump-input-context=0", "-v"]);
    let random = random_cases(300);
    compare_dumps(&llvm, &random, &["--dump-input=always", "-vv"]);
    compare_dumps(&llvm, &random, &["--dump-input-filter=annotation-full", "--dump-input-context=0"]);
}

#[test]
fn llvm_agrees_on_mutations_of_the_inputs() {
    let Some(llvm) = llvm() else { return };
    let mut cases = Vec::new();
    for case in corpus().into_iter().filter(|c| !c.differs) {
        for input in mutations(&case.input) {
            cases.push(Case { input, ..case.clone() });
        }
    }
    let (n_pass, n_fail) = compare(&llvm, &cases);
    assert!(n_pass > 200 && n_fail > 200, "{n_pass} passed, {n_fail} failed");
}

#[test]
fn llvm_agrees_on_mutations_of_the_check_files() {
    let Some(llvm) = llvm() else { return };
    let mut cases = Vec::new();
    for case in corpus().into_iter().filter(|c| !c.differs) {
        for check in mutations(&case.check) {
            cases.push(Case { check, ..case.clone() });
        }
    }
    let (n_pass, n_fail) = compare(&llvm, &cases);
    assert!(n_pass > 200 && n_fail > 200, "{n_pass} passed, {n_fail} failed");
}

/// One of `choices`, separated by `;`.
fn one_of<'a>(dice: &mut Dice, choices: &'a str) -> &'a str {
    let n_choices = choices.split(';').count();
    choices.split(';').nth(dice.below(n_choices)).unwrap_or_default()
}

fn random_cases(n_cases: usize) -> Vec<Case> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    // Lists of choices, separated by `;`.
    let directives = "CHECK:;CHECK:;CHECK:;CHECK-NEXT:;CHECK-NEXT:;CHECK-SAME:;CHECK-SAME:;CHECK-NOT:;CHECK-NOT:;\
        CHECK-NOT:;CHECK-DAG:;CHECK-DAG:;CHECK-DAG:;CHECK-LABEL:;CHECK-COUNT-2:;CHECK-EMPTY:;\
        CHECK{LITERAL}:;CHECK-NOT{LITERAL}:;COM: CHECK:;xCHECK:;x CHECK:;CHECK :";
    let atoms = "a;b;ab;c; ;a b;{{a|ab}};{{[ab]+}};{{.*}};{{b?(ab)?}};{{^}};{{$}};[[X:a|ab]];[[X:[a-c]+]];[[X]];\
        [[Y:.*]];[[Y]];[[X:a*b?]];{{(a|b)\\1}};{{c{1,2}}};{{(a|ab)(c|bcd)}};[[@LINE]];[[X:(a|b)+]];{{(ab?)*}};\
        {{[^a]}};{{(a*)+}};{{(a|ab)?(b|c)?}};  ;\t;[[[X:.]]];[[[X]]];{{[[:alpha:]]{2,}}};{{(^|a)b?}};{{a*(b|$)}};{{(c|^)*}};[[#@LINE-1]];\
        {{ *}};[[$Z:[ab]*]];[[$Z]];[[#N:]];[[#N]];[[#N+1]];[[#]];[[#%.2u,M:]];[[#M-N]];[[#%x,H:]];[[#H+1]];[[#%d,D:]];\
        [[#%d,D-N]];[[#N:N+1]];[[#mul(N,2)]];[[#%x,N+9]];[[#$G:]];[[#$G]];[[#X]];[[N]];[[#@LINE]];[[#max(N,@LINE)]];\
        [[#%.3x,H]];[[#%#x,P:]];[[#P]];[[# == N]];[[#N+";
    let words = "a;b;ab;abc;c;cc;aa;bb; ;1;2;a b;ba;\t;[a];  b;10;02;-1;0xa;11";
    let options = ";;;;--match-full-lines;--strict-whitespace;--match-full-lines --strict-whitespace;--enable-var-scope;\
        --ignore-case;-DX=ab;-D$Z=a --enable-var-scope;-D#N=1;-D#%x,H=9 -D#N=H+1;--implicit-check-not=cc;--implicit-check-not={{ab+}}";
    let mut cases = Vec::new();
    for number in 0..n_cases {
        let mut check = String::new();
        for _ in 0..1 + dice.below(4) {
            let directive = one_of(&mut dice, directives);
            check.push_str(directive);
            check.push(' ');
            if directive != "CHECK-EMPTY:" {
                for _ in 0..1 + dice.below(3) {
                    check.push_str(one_of(&mut dice, atoms));
                }
            }
            check.push('\n');
        }
        let mut input = String::new();
        for _ in 0..1 + dice.below(5) {
            for _ in 0..dice.below(5) {
                input.push_str(one_of(&mut dice, words));
            }
            input.push('\n');
        }
        let arguments = one_of(&mut dice, options).split_whitespace().map(str::to_owned).collect();
        cases.push(Case {
            name: format!("random {number}"),
            arguments,
            expected: Expected::Pass,
            differs: false,
            check: check.into_bytes(),
            input: input.into_bytes(),
        });
    }
    cases
}

#[test]
fn llvm_agrees_on_random_checks() {
    let Some(llvm) = llvm() else { return };
    let n_cases = std::env::var("FILECHECK_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let (n_pass, n_fail) = compare(&llvm, &random_cases(n_cases));
    assert!(n_pass * 20 > n_cases && n_fail * 20 > n_cases, "{n_pass} passed, {n_fail} failed");
}
