//! Compilation in the process: text and models to BEF.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use befrost_compiler::diag::{self, Diagnostic, has_errors};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::import::{Feed, ImportOptions, graphdef};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::syntax::{ParseOptions, parse_source};
use befrost_compiler::verify::verify;
use befrost_kernel_api::{Error, ErrorCode};

/// The program to compile.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file: MLIR text (`.mlir`) or a TensorFlow GraphDef (`.pb`).
    File(PathBuf),
    /// MLIR text.
    Text(String),
    /// The bytes of a TensorFlow GraphDef.
    GraphDef(Vec<u8>),
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::File(path.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::File(path)
    }
}

impl From<&str> for Source {
    /// A path, as for [`Runtime::load`](crate::Runtime::load).
    fn from(path: &str) -> Source {
        Source::File(path.into())
    }
}

/// Options of [`compile_with`].
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The optimization level of op graphs, 0 to 2.
    pub level: u8,
    /// The inputs of a model by their names; all placeholders that the results need if there are none.
    pub feeds: Vec<String>,
    /// The outputs of a model by their names; the nodes that no other uses if there are none.
    pub fetches: Vec<String>,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions { level: 2, feeds: Vec::new(), fetches: Vec::new() }
    }
}

/// The reason why a program cannot be compiled: one line for each error, with its place.
#[derive(Clone, Debug)]
pub struct CompileError(String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        Error::new(ErrorCode::InvalidArgument, error.0, Vec::new())
    }
}

/// The BEF file of a program, for [`Runtime::load_bytes`](crate::Runtime::load_bytes), or to be written.
///
/// ```
/// use befrost::{Runtime, Source, compile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "func.func @main(%x: i32) -> i32 {
///   %sum = tfrt.add.i32 %x, %x
///   tfrt.return %sum : i32
/// }";
/// let program = Runtime::builder().build()?.load_bytes(&compile(Source::Text(text.into()))?)?;
/// let results = program.function("main")?.call_ok([21i32.into()])?;
/// assert_eq!(i32::try_from(&results[0])?, 42);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the source cannot be read, or is refused: each error with its place.
pub fn compile(source: impl Into<Source>) -> Result<Vec<u8>, CompileError> {
    compile_with(source, &CompileOptions::default())
}

/// [`compile`] with options.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(source: impl Into<Source>, options: &CompileOptions) -> Result<Vec<u8>, CompileError> {
    match source.into() {
        Source::Text(text) => from_text("<text>", &text, options),
        Source::GraphDef(bytes) => {
            let len = bytes.len();
            from_graphdef("<graph>", Cursor::new(bytes), len, options)
        }
        Source::File(path) => {
            let name = path.display().to_string();
            let unread = |error: std::io::Error| CompileError(format!("cannot read '{name}': {error}"));
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("pb") => {
                    let file = File::open(&path).map_err(unread)?;
                    let len = file.metadata().map_err(unread)?.len();
                    let len = usize::try_from(len).unwrap_or(usize::MAX);
                    from_graphdef(&name, file, len, options)
                }
                Some("mlir") => from_text(&name, &std::fs::read_to_string(&path).map_err(unread)?, options),
                _ => Err(CompileError(format!(
                    "'{name}' is neither .mlir, MLIR text, nor .pb, a TensorFlow GraphDef"
                ))),
            }
        }
    }
}

fn from_text(name: &str, text: &str, options: &CompileOptions) -> Result<Vec<u8>, CompileError> {
    let parsed = parse_source(diag::Source::new(name, text), &ParseOptions::default());
    let source = parsed.source;
    match parsed.module {
        Some(module) if !has_errors(&parsed.diagnostics) => {
            to_bef(module, options).map_err(|found| refused(&found, &source))
        }
        _ => Err(refused(&parsed.diagnostics, &source)),
    }
}

fn from_graphdef(
    name: &str,
    bytes: impl Read,
    len: usize,
    options: &CompileOptions,
) -> Result<Vec<u8>, CompileError> {
    let import = ImportOptions {
        feeds: options.feeds.iter().map(Feed::named).collect(),
        fetches: options.fetches.clone(),
        function: "main".to_owned(),
        ..ImportOptions::default()
    };
    let module = graphdef(bytes, len, &import);
    let bef = module.and_then(|module| to_bef(module, options));
    bef.map_err(|found| refused(&found, &diag::Source::new(name, "")))
}

fn to_bef(
    module: befrost_compiler::ir::Module,
    options: &CompileOptions,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut module = verify(module)?;
    if let Some(pipeline) = default_pipeline(&module, options.level) {
        let mut passes = PassManager::parse(&pipeline).map_err(|error| vec![*error])?;
        module = passes.run(module)?.0;
    }
    Ok(emit_parts(&module, &EmitOptions::default())?.to_vec())
}

fn refused(found: &[Diagnostic], source: &diag::Source) -> CompileError {
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    let lines: Vec<String> = errors.map(|error| error.render_short(source)).collect();
    CompileError(lines.join("\n"))
}
