//! Models: recognition of their kind, the files beside them, and their import.
//!
//! ```text
//! DIRECTORY ──▶ saved_model.pb or .pbtxt ┐
//! FILE ──first bytes, name──▶ kind ──────┴─▶ graph alone: read in order, or mapped ──▶ import
//!                                            with signatures: decoded, and the folder for its variables
//! ```

use std::path::Path;

use befrost::{ModelFolder, SAVED_VARIABLES, saved_model};
use befrost_compiler::diag::{Diagnostic, Source};
use befrost_compiler::import::files::{ModelFiles, NoFiles};
use befrost_compiler::import::onnx::summary as onnx_summary;
use befrost_compiler::import::savedmodel::{ImportedModel, TensorFlowKind, TensorFlowModel};
use befrost_compiler::import::summary::ModelSummary;
use befrost_compiler::import::{INIT, ImportOptions, graphdef, graphdef_in_memory, onnx};
use befrost_tensor::bundle::Bytes;

use super::content::{self, Encoding};
use super::failure::Failure;
use super::files::{Format, MapFile, ModelBytes, Place, locked};
use super::report;

/// A model that is open.
pub(super) enum OpenModel {
    /// A binary graph, which is imported while it is read.
    Graph(ModelBytes),
    /// Any other model of TensorFlow's, and the files beside it.
    TensorFlow(TensorFlowModel, Box<dyn ModelFiles>),
    /// An ONNX model, and the files beside it.
    Onnx(Bytes, Box<dyn ModelFiles>),
}

impl OpenModel {
    /// Opens a model. `bytes`: what was read already. Files are mapped if there is a function for it.
    pub(super) fn open(
        place: &Place,
        format: Format,
        bytes: Option<Vec<u8>>,
        map: Option<MapFile>,
    ) -> Result<OpenModel, Failure> {
        let place = match place {
            Place::File(path) if path.is_dir() => saved_model(path).map_or(place.clone(), Place::File),
            place => place.clone(),
        };
        let first = match (&place, &bytes) {
            (_, Some(bytes)) => bytes.get(..content::N_BYTES.min(bytes.len())).unwrap_or_default().to_vec(),
            (Place::File(path), None) if path.is_file() => content::first_bytes(path).unwrap_or_default(),
            _ => Vec::new(),
        };
        let read = |bytes: Option<Vec<u8>>| match (bytes, map) {
            (Some(bytes), _) => Ok(bytes.into()),
            (None, Some(map)) => match place.mapped(map)? {
                ModelBytes::Whole(bytes) => Ok(shared(bytes)),
                ModelBytes::Stream(..) => place.read().map(Bytes::from),
            },
            (None, None) => place.read().map(Bytes::from),
        };
        let beside = || -> Box<dyn ModelFiles> {
            let Place::File(path) = &place else { return Box::new(NoFiles) };
            let root = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let read = move |path: &Path| match map {
                Some(map) => {
                    let file = locked(path).map_err(|failure| match failure {
                        Failure::Refused(why) => why,
                        _ => "it cannot be opened".to_owned(),
                    })?;
                    map(file).map(shared).map_err(|error| error.to_string())
                }
                None => std::fs::read(path).map(Bytes::from).map_err(|error| error.to_string()),
            };
            Box::new(ModelFolder::new(root.unwrap_or(Path::new(".")), read))
        };
        if format == Format::Onnx || content::is_onnx(&first) {
            return Ok(OpenModel::Onnx(read(bytes)?, beside()));
        }
        let (kind, encoding) = content::tensorflow(&first, format);
        let open = |bytes| match (bytes, map) {
            (Some(bytes), _) => Ok(ModelBytes::Whole(Box::new(bytes))),
            (None, Some(map)) => place.mapped(map),
            (None, None) => place.stream(),
        };
        if (kind, encoding) == (TensorFlowKind::GraphDef, Encoding::Binary) {
            return open(bytes).map(OpenModel::Graph);
        }
        let bytes = read(bytes)?;
        let (mut files, mut variables): (Box<dyn ModelFiles>, _) =
            (Box::new(NoFiles), SAVED_VARIABLES.to_owned());
        if let (Place::File(path), true) = (&place, kind != TensorFlowKind::GraphDef) {
            files = beside();
            if kind == TensorFlowKind::MetaGraph {
                variables = path.file_stem().map_or(variables, |stem| stem.to_string_lossy().into_owned());
            }
        }
        let model = TensorFlowModel::decode(kind, bytes, encoding == Encoding::Text, &variables);
        let model = model.map_err(|said| {
            report::show(&said, &Source::new(&place.name(), ""));
            Failure::Reported
        })?;
        Ok(OpenModel::TensorFlow(model, files))
    }

    /// True if the model has signatures.
    pub(super) fn has_signatures(&self) -> bool {
        match self {
            OpenModel::Graph(_) | OpenModel::Onnx(..) => false,
            OpenModel::TensorFlow(model, _) => model.has_signatures(),
        }
    }

    /// Imports the model.
    pub(super) fn import(self, options: &ImportOptions) -> Result<ImportedModel, Vec<Diagnostic>> {
        let init = options.init.as_ref().map(|_| INIT.to_owned());
        let alone = |module| ImportedModel { module, init };
        match self {
            OpenModel::Graph(ModelBytes::Whole(bytes)) => graphdef_in_memory(bytes, options).map(alone),
            OpenModel::Graph(ModelBytes::Stream(bytes, len)) => graphdef(bytes, len, options).map(alone),
            OpenModel::TensorFlow(model, files) => model.import(options, &*files),
            OpenModel::Onnx(bytes, files) => onnx(bytes, options, &*files).map(alone),
        }
    }

    /// Summarizes the model.
    pub(super) fn summary(self) -> Result<ModelSummary, Vec<Diagnostic>> {
        match self {
            OpenModel::Graph(bytes) => {
                let bytes = match bytes {
                    ModelBytes::Whole(bytes) => shared(bytes),
                    ModelBytes::Stream(mut file, len) => {
                        let mut bytes = Vec::with_capacity(len);
                        // A file that cannot be read is decoded as far as it goes, and refused.
                        _ = file.read_to_end(&mut bytes);
                        bytes.into()
                    }
                };
                TensorFlowModel::decode(TensorFlowKind::GraphDef, bytes, false, "")
                    .map(|model| model.summary(&NoFiles))
            }
            OpenModel::TensorFlow(model, files) => Ok(model.summary(&*files)),
            OpenModel::Onnx(bytes, _) => onnx_summary(bytes),
        }
    }
}

/// Bytes that are parts of a mapped file.
fn shared(file: Box<dyn AsRef<[u8]> + Send>) -> Bytes {
    struct Owner(Box<dyn AsRef<[u8]> + Send>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            (*self.0).as_ref()
        }
    }
    Bytes::from_owner(Owner(file))
}
