//! Crash reproducers: the IR before a failing pass and the rest of the pipeline, in one file.
//!
//! The pipeline is in the file's resource section, as in MLIR:
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

use crate::ir::resources::{ResourceValue, Resources};

/// The pipeline of a reproducer file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reproducer {
    /// The pipeline.
    pub pipeline: String,
    /// True to verify after each pass.
    pub verify_each: bool,
}

impl Reproducer {
    /// The text of the reproducer file for the text of a module.
    pub fn write(&self, module: &str) -> String {
        let Reproducer { pipeline, verify_each } = self;
        let pipeline = pipeline.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "{module}\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: \"{pipeline}\",\n      \
             disable_threading: false,\n      verify_each: {verify_each}\n    }}\n  }}\n#-}}\n"
        )
    }

    /// Removes the reproducer from a resource section and returns it, if there is one.
    pub fn take(resources: &mut Resources) -> Option<Reproducer> {
        let at = resources.external.iter().position(|g| g.name == "mlir_reproducer")?;
        let value = |key: &str| resources.external[at].entries.iter().find(|e| e.0 == key).map(|e| &e.1);
        let Some(ResourceValue::Str(pipeline)) = value("pipeline") else { return None };
        let pipeline = String::from_utf8(pipeline.to_vec()).ok()?;
        let verify_each = value("verify_each") == Some(&ResourceValue::Bool(true));
        resources.external.remove(at);
        Some(Reproducer { pipeline, verify_each })
    }
}
