//! The command line of `FileCheck`, in LLVM's manner: one dash or two, `--x=v` or `--x v`, `-DVAR=VALUE`.

use std::io::Read;

use super::{CheckFailure, Dump, Filter, Options, Source, Verbosity, check};

/// The usage message.
pub const USAGE: &str = "\
usage: FileCheck [options] CHECK-FILE      (the input is read from standard input)
  --check-prefix=P  --check-prefixes=P,Q   prefixes of directives (default CHECK)
  --comment-prefixes=P,Q                   prefixes of comments (default COM,RUN)
  -DVAR=VALUE                              defines a variable
  --implicit-check-not=PATTERN             may not occur between matches
  --input-file=FILE                        the input, `-` for standard input
  --match-full-lines --strict-whitespace --ignore-case --enable-var-scope
  --allow-empty --allow-unused-prefixes
  --dump-input=help|always|fail|never      when the input is shown with marks (default fail)
  --dump-input-filter=all|annotation-full|annotation|error
                                           which lines are shown (default error; all if always shown)
  --dump-input-context=N                   how many lines around those (default 5)
  -v -vv                                   tell of matches, of everything
  --color                                  accepted without effect
Options are also taken from FILECHECK_OPTS.
";

/// The output of `--dump-input=help`.
pub const DUMP_HELP: &str = "\
The dump shows the input and below its lines what came of the directives:

  L:     line L of the input; a blank stands for its line end
  T:L    a directive of type T (check, next, not, ..) in line L of the check file;
         L is impN for the Nth --implicit-check-not
  T:L'N  the Nth thing to say about that directive, from 0
  ^~~    a match (with -v)
  !~~    a match that should not be: excluded, on the wrong line, or (with -vv) a CHECK-DAG's that overlaps another
  X~~    where nothing was found: an error, or (with -vv) a CHECK-NOT that holds
  ?      what may have been meant
  .      three of them: lines that are left out

--dump-input-filter and --dump-input-context say which lines are left out, -v and -vv add to what is said.
";

/// A parsed command line.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The options of the check.
    pub options: Options,
    /// The file with the directives.
    pub check_file: String,
    /// The file to check; `None` for standard input.
    pub input_file: Option<String>,
    /// True if only the dump is to be explained.
    pub dump_help: bool,
}

/// Parses the arguments (without the program's name).
///
/// # Errors
/// The problem of the command line.
pub fn parse_arguments(arguments: &[String]) -> Result<Command, CheckFailure> {
    let shown = |message: &str| format!("FileCheck: {message}\n{USAGE}");
    let command = understand(arguments).map_err(|message| CheckFailure::Usage(shown(&message)))?;
    if command.check_file.is_empty() && !command.dump_help {
        // LLVM does not treat this as an error of the command line.
        return Err(CheckFailure::Invalid(shown("no check file was given")));
    }
    Ok(command)
}

fn understand(arguments: &[String]) -> Result<Command, String> {
    let mut command = Command::default();
    let mut check_file = None;
    let mut input_file = None;
    let mut dump: Option<Dump> = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            for file in rest.by_ref() {
                set_once(&mut check_file, file.clone(), "check file")?;
            }
            break;
        }
        let bare = match argument.strip_prefix('-') {
            None | Some("") => {
                set_once(&mut check_file, argument.clone(), "check file")?;
                continue;
            }
            Some(one) => one.strip_prefix('-').unwrap_or(one),
        };
        let options = &mut command.options;
        if let Some(definition) = bare.strip_prefix('D') {
            if definition.is_empty() {
                return Err("option -D takes its definition without a blank: -DVAR=VALUE".to_owned());
            }
            options.defines.push(definition.to_owned());
            continue;
        }
        let (name, attached) = match bare.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (bare, None),
        };
        let mut value = || match attached {
            Some(value) => Ok(value.to_owned()),
            None => rest.next().cloned().ok_or_else(|| format!("option '{argument}' needs a value")),
        };
        let commas = |list: String| list.split(',').map(str::to_owned).collect::<Vec<_>>();
        match name {
            "check-prefix" => options.check_prefixes.push(value()?),
            "check-prefixes" => options.check_prefixes.extend(commas(value()?)),
            "comment-prefixes" => options.comment_prefixes.extend(commas(value()?)),
            "implicit-check-not" => options.implicit_check_not.push(value()?),
            "input-file" => set_once(&mut input_file, value()?, "option --input-file")?,
            "match-full-lines" => options.match_full_lines = flag(argument, attached)?,
            "strict-whitespace" => options.strict_whitespace = flag(argument, attached)?,
            "allow-empty" => options.allow_empty = flag(argument, attached)?,
            "enable-var-scope" => options.enable_var_scope = flag(argument, attached)?,
            "ignore-case" => options.ignore_case = flag(argument, attached)?,
            "allow-unused-prefixes" => options.allow_unused_prefixes = flag(argument, attached)?,
            "color" => _ = flag(argument, attached)?,
            "v" if flag(argument, attached)? => options.verbosity = options.verbosity.max(Verbosity::Matches),
            "vv" if flag(argument, attached)? => options.verbosity = Verbosity::All,
            "v" | "vv" => {}
            "dump-input" => {
                let all = [
                    ("help", None),
                    ("always", Some(Dump::Always)),
                    ("fail", Some(Dump::Fail)),
                    ("never", Some(Dump::Never)),
                ];
                match one_of(argument, &value()?, &all)? {
                    Some(wanted) => dump = Some(dump.map_or(wanted, |before| before.min(wanted))),
                    None => command.dump_help = true,
                }
            }
            "dump-input-filter" => {
                let all = [
                    ("all", Filter::All),
                    ("annotation-full", Filter::AnnotationFull),
                    ("annotation", Filter::Annotation),
                    ("error", Filter::Error),
                ];
                let wanted = one_of(argument, &value()?, &all)?;
                options.dump_filter = Some(options.dump_filter.map_or(wanted, |before| before.min(wanted)));
            }
            "dump-input-context" => {
                let lines =
                    value()?.parse::<u32>().map_err(|_| format!("option '{argument}' takes a number"))?;
                options.dump_context = options.dump_context.max(usize::try_from(lines).ok());
            }
            _ => return Err(format!("unknown option '{argument}'")),
        }
    }
    command.check_file = check_file.unwrap_or_default();
    command.options.dump = dump.unwrap_or(Dump::Fail);
    command.input_file = input_file.filter(|file| file != "-");
    Ok(command)
}

fn set_once(place: &mut Option<String>, value: String, what: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{what} was given more than once")),
    }
}

fn flag(argument: &str, value: Option<&str>) -> Result<bool, String> {
    match value {
        None | Some("" | "true" | "TRUE" | "True" | "1") => Ok(true),
        Some("false" | "FALSE" | "False" | "0") => Ok(false),
        Some(_) => Err(format!("option '{argument}' takes true or false")),
    }
}

fn one_of<T: Copy>(argument: &str, value: &str, allowed: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, found)) = allowed.iter().find(|(name, _)| *name == value) {
        return Ok(*found);
    }
    let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
    Err(format!("option '{argument}' takes one of {}", names.join(", ")))
}

/// Reads the files of `command` and checks. Returns the messages of a successful check. `standard_input` is
/// read only if the input comes from there.
///
/// # Errors
/// The reason why the check did not pass.
pub fn run_command(command: &Command, standard_input: &mut dyn Read) -> Result<String, CheckFailure> {
    let invalid = |what: &str, file: &str, error: std::io::Error| {
        CheckFailure::Invalid(format!("error: cannot read the {what} '{file}': {error}\n"))
    };
    let mut from_stdin = || {
        let mut bytes = Vec::new();
        standard_input.read_to_end(&mut bytes).map(|_| bytes)
    };
    let name = command.check_file.as_str();
    let check_bytes = if name == "-" { from_stdin() } else { std::fs::read(name) }
        .map_err(|e| invalid("check file", name, e))?;
    let (input_name, input_bytes) = match command.input_file.as_deref() {
        None => ("<stdin>", from_stdin()),
        Some(file) => (file, std::fs::read(file)),
    };
    let input_bytes = input_bytes.map_err(|e| invalid("input", input_name, e))?;
    check(
        &command.options,
        Source { name, bytes: &check_bytes },
        Source { name: input_name, bytes: &input_bytes },
    )
}
