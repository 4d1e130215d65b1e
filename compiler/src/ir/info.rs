//! The interface between the IR and op definitions: the facts that the IR itself reads.
//!
//! Definitions depend on the IR (verifiers and folders are functions over a module), so a dependency of the
//! IR on them would be circular. The IR looks them up once per op name through [`OpTable`], copies the facts
//! that it needs, and keeps the rest as an opaque [`Definition`] for the layer of the definitions
//! (`dialects`).

use super::Traits;
use std::any::Any;

/// A whole definition, opaque to the IR.
pub(crate) type Definition = &'static (dyn Any + Send + Sync);

/// The facts about a registered op that the IR reads.
pub(crate) struct OpInfo {
    /// Traits.
    pub(crate) traits: Traits,
    /// Names of the declared attributes, sorted.
    pub(crate) attr_names: Vec<&'static str>,
    /// The whole definition.
    pub(crate) definition: Definition,
}

/// A set of definitions by the names of ops.
pub(crate) trait OpTable: Any + Send + Sync {
    /// The op called `name`, if it is registered.
    fn info(&'static self, name: &str) -> Option<OpInfo>;
}
