//! What reproduces a failure: the IR before it and the rest of the pipeline, in one file.
//!
//! The pipeline stands in the file's resource section, where upstream puts it too:
//!
//! ```text
//! {-#
//!   external_resources: {
//!     mlir_reproducer: {
//!       pipeline: "builtin.module(func.func(cse))",
//!       disable_threading: false,
//!       verify_each: true
//!     }
//!   }
//! #-}
//! ```

/// What a file says about how to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproducer {
    /// The pipeline.
    pub pipeline: String,
    /// Verify after each pass?
    pub verify_each: bool,
}

impl Reproducer {
    /// The file's text for a module's.
    pub fn write(&self, module: &str) -> String {
        let Reproducer { pipeline, verify_each } = self;
        let pipeline = pipeline.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "{module}\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: \"{pipeline}\",\n      \
             disable_threading: false,\n      verify_each: {verify_each}\n    }}\n  }}\n#-}}\n"
        )
    }

    /// What a resource section says, if it is one of a reproducer.
    pub fn read(section: &str) -> Option<Reproducer> {
        let (_, rest) = section.split_once("mlir_reproducer")?;
        let pipeline = string(value(rest, "pipeline")?)?;
        let verify_each = value(rest, "verify_each").is_some_and(|v| v.starts_with("true"));
        Some(Reproducer { pipeline, verify_each })
    }
}

/// What stands behind `key:`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.match_indices(key)
        .find_map(|(at, _)| text[at + key.len()..].trim_start().strip_prefix(':'))
        .map(str::trim_start)
}

/// The text in quotes at the start.
fn string(text: &str) -> Option<String> {
    let mut chars = text.strip_prefix('"')?.chars();
    let mut out = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => out.push(chars.next()?),
            c => out.push(c),
        }
    }
}
