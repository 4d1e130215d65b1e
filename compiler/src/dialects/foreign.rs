//! Definitions of ops of kernel libraries, which are added while the process runs, to all registries.
//!
//! A definition stays for the life of the process, because contexts refer to it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use super::def::OpDef;

static ADDED: RwLock<BTreeMap<&'static str, &'static OpDef>> = RwLock::new(BTreeMap::new());

/// True if there are such definitions.
static HAS_ADDED: AtomicBool = AtomicBool::new(false);

/// The definition of this name.
pub(super) fn find(name: &str) -> Option<&'static OpDef> {
    // Relaxed: a hint. Who sees it takes the lock.
    if !HAS_ADDED.load(Ordering::Relaxed) {
        return None;
    }
    ADDED.read().unwrap_or_else(PoisonError::into_inner).get(name).copied()
}

/// All definitions, by name.
pub(super) fn all() -> impl Iterator<Item = &'static OpDef> {
    let added: Vec<_> = ADDED.read().unwrap_or_else(PoisonError::into_inner).values().copied().collect();
    added.into_iter()
}

/// Adds a definition. False if there is one of its name, which stays.
pub(super) fn add(def: &'static OpDef) -> bool {
    // Nothing panics under the lock.
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if added.contains_key(def.name.as_str()) {
        return false;
    }
    added.insert(&def.name, def);
    HAS_ADDED.store(true, Ordering::Relaxed);
    true
}
