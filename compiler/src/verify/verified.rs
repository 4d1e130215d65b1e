//! The token of verification, which passes and emission require.
//!
//! ```text
//! Module ──verify──▶ Verified ──PassManager::run──▶ Verified ──▶ emit
//! ```
//!
//! A [`Verified`] owns its module and lends it for reading only, so a change of the module gives up the token
//! ([`Verified::into_module`]). Passes are the exception: a run takes the token and issues it again if no
//! pass failed. That relies on the contract of a pass, to keep a verified module verified. The contract is
//! checked after each pass that changed something in builds with debug assertions (so in all tests), under
//! `--verify-each` and by the fuzz targets; in a release build a run costs no verification. Emission does not
//! rely on it for safety: it refuses what it cannot encode with an error of its own.

use super::faults;
use crate::diag::{self, Diagnostic};
use crate::ir::Module;
use crate::ir::resources::Resources;
use std::fmt;
use std::ops::Deref;

/// A well-formed module.
pub struct Verified(Module);

/// Checks a module. Returns the token for it, or all errors in source order.
pub fn verify(module: Module) -> Result<Verified, Vec<Diagnostic>> {
    let found = faults(&module);
    if diag::has_errors(&found) { Err(found) } else { Ok(Verified(module)) }
}

impl Verified {
    /// The module, without the token.
    pub fn into_module(self) -> Module {
        self.0
    }

    /// The resource section, which is not verified.
    pub fn resources_mut(&mut self) -> Option<&mut Resources> {
        self.0.resources.as_mut()
    }

    /// The module after passes, and their result. After an error there is no module.
    pub(crate) fn after_passes<T, E>(
        mut self,
        passes: impl FnOnce(&mut Module) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let answer = passes(&mut self.0)?;
        Ok((self, answer))
    }

    /// The token without a check, to test the stages after verification.
    #[cfg(test)]
    pub(crate) fn unchecked(module: Module) -> Self {
        Verified(module)
    }
}

impl fmt::Debug for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Verified").finish_non_exhaustive()
    }
}

impl Deref for Verified {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.0
    }
}
