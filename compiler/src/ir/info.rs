//! The facts about an op's definition that the IR itself reads, and the seam behind which definitions lie.
//!
//! Whole definitions name the IR (verifiers and folders are functions over a module), so the IR cannot name them
//! without a circle: it looks them up once per op name through [`OpTable`], copies its own facts out of them, and
//! keeps the rest as [`Definition`], which only the layer of the definitions (`dialects`) can look into.

use super::Traits;
use std::any::Any;

/// A whole definition, for the layer that knows its type.
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
