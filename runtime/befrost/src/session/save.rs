//! A session's function as a file that needs neither the model nor the session.
//!
//! ```text
//! graph    its signature, or feeds and fetches ──import──▶ op graph ─────┐ values of ┌──▶ compile ──▶ BEF
//! program  its function ──raise────────────────────────▶ kernel graph ──┘ variables └────────────▶ BEF
//! ```
//!
//! The present values of the variables are constants of the file. What changes a variable, or needs a table
//! that the session has filled, cannot be written this way, and is refused.

use std::path::Path;

use befrost_compiler::import::Initialization;
use befrost_kernel_api::{Error, ErrorCode};
use befrost_kernels::variable_values;

use super::content::Content;
use super::refusal::refused;
use super::variables::failed;
use super::{Session, unnamed};
use crate::cache::replace;
use crate::compile::{CompileOptions, Source, VariableValues, compiled_frozen, refrozen};
use crate::signature::Signature;

impl Session {
    /// Writes the function from the session's [inputs](Session::inputs) to its [outputs](Session::outputs) as
    /// a BEF file, with the present values of the variables as constants: a [`Runtime`](crate::Runtime), a
    /// [`Model`](crate::Model) and `bef-exec` run it without the model's files. The function has the name of
    /// the signature, of a program its own, of a graph `main`.
    ///
    /// ```
    /// use befrost::{HostTensor, Model, Session};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_mlp.pb");
    /// # let folder = tempfile::tempdir()?;
    /// # let saved = folder.path().join("digits.bef");
    /// Session::open(path)?.save(&saved)?;
    /// let image = HostTensor::from_vec([1, 64], vec![0.5f32; 64])?;
    /// assert_eq!(Model::load(saved)?.run([image])?[0].shape().dims(), [1, 10]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the function changes a variable or reads one that has no value, or needs a table; if there are
    /// several signatures, of which none was named; if the model cannot be read or compiled, or the file
    /// cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let chosen = self.shared.content.signature();
        match &self.shared.content {
            Content::Program(function) => {
                self.saved(path.as_ref(), |values| refrozen(function.image(), function.name(), values))
            }
            Content::Graph { .. } if chosen.is_none() && !self.signatures().is_empty() => {
                Err(unnamed(self.signatures()))
            }
            Content::Graph { source, .. } => {
                let signature = chosen.map(Signature::name).map(str::to_owned);
                let options = CompileOptions { signature, ..self.saving() };
                self.saved(path.as_ref(), |values| self.frozen(source, &options, values))
            }
        }
    }

    /// [`Session::save`] of another part of a graph, by the names of what is fed and of what is fetched, such
    /// as the predictions of a graph for training. Without feeds all placeholders that the fetches need are
    /// arguments. Arguments and results of the function, `main`, have the names of the graph's tensors.
    ///
    /// # Errors
    /// As [`Session::save`], if there is no tensor of a name, or the session is one of a program, whose
    /// function is saved as a whole.
    pub fn save_part(&self, path: impl AsRef<Path>, feeds: &[&str], fetches: &[&str]) -> Result<(), Error> {
        let Content::Graph { source, .. } = &self.shared.content else {
            let message = "a program has no parts to save: its function runs as a whole";
            return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
        };
        if fetches.is_empty() {
            let message = "nothing to save: name a tensor to fetch";
            return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
        }
        let content = &self.shared.content;
        let options = CompileOptions {
            feeds: feeds.iter().map(|feed| content.fed(feed).to_owned()).collect(),
            fetches: fetches.iter().map(|fetch| content.fetched(fetch).to_owned()).collect(),
            ..self.saving()
        };
        self.saved(path.as_ref(), |values| self.frozen(source, &options, values))
    }

    fn frozen(
        &self,
        source: &Source,
        options: &CompileOptions,
        values: &VariableValues<'_>,
    ) -> Result<Vec<u8>, Error> {
        self.shared.reading(|| compiled_frozen(source.clone(), options, values))
    }

    /// The options of the compilation, whose variables have the session's names.
    fn saving(&self) -> CompileOptions {
        CompileOptions { initialization: Initialization::Without, ..self.shared.options.clone() }
    }

    fn saved<E: Into<Error>>(
        &self,
        path: &Path,
        make: impl FnOnce(&VariableValues<'_>) -> Result<Vec<u8>, E>,
    ) -> Result<(), Error> {
        let values = variable_values(&self.shared.resources).map_err(failed)?;
        let named = values.iter().map(|(name, value)| ((name.container(), name.name()), value.clone()));
        let bef = make(&named.collect::<Vec<_>>()).map_err(Into::into)?;
        replace(path, &bef).map_err(|error| {
            refused(ErrorCode::Unavailable, format!("cannot write '{}': {error}", path.display()))
        })
    }
}
