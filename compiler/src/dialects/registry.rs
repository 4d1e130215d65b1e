//! Sets of op definitions: the op table of the IR.

use super::def::OpDef;
use super::foreign;
use crate::ir::{Capacity, Context, Module, OpId, OpInfo, OpNameData, OpTable};
use crate::rewrite::Pattern;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A set of op definitions.
#[derive(Default)]
pub struct Registry {
    defs: IndexMap<String, OpDef, FxBuildHasher>,
    /// Dialects whose definitions are made on first use.
    pub(super) lazy: Vec<Lazy>,
    /// Other names under which an op may be written: `module`.
    pub(super) aliases: IndexMap<&'static str, &'static str, FxBuildHasher>,
    /// Dialects whose ops may be written without the dialect's name inside of some op.
    default_dialects: Vec<&'static str>,
}

/// Op definitions that are made on the first lookup of an op of these dialects.
pub(super) struct Lazy {
    pub(super) dialects: &'static [&'static str],
    ops: fn(&mut Registry),
    made: OnceLock<Registry>,
}

impl Lazy {
    pub(super) fn get(&self) -> &Registry {
        self.made.get_or_init(|| Registry::new().with(self.ops))
    }
}

impl Registry {
    /// No definitions.
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry with the definitions of one more dialect.
    #[must_use]
    pub fn with(mut self, dialect: fn(&mut Registry)) -> Self {
        dialect(&mut self);
        self
    }

    /// Adds the definitions of these dialects on the first lookup of one of their ops. Their ops are written
    /// with the full name.
    pub(super) fn add_lazily(&mut self, dialects: &'static [&'static str], ops: fn(&mut Registry)) {
        self.lazy.push(Lazy { dialects, ops, made: OnceLock::new() });
    }

    /// Leaks the registry, since contexts need it for the life of the process.
    pub fn leak(self) -> &'static Registry {
        Box::leak(Box::new(self))
    }

    /// Adds a definition.
    ///
    /// # Panics
    /// If the name is taken: definitions are part of the compiler.
    pub fn add(&mut self, def: OpDef) {
        let name = def.name.clone();
        if !def.default_dialect.is_empty() && !self.default_dialects.contains(&def.default_dialect) {
            self.default_dialects.push(def.default_dialect);
        }
        assert!(self.defs.insert(name, def).is_none(), "op defined twice");
    }

    /// Adds patterns to an op of another dialect, if that op is defined: patterns that create ops unknown to
    /// that dialect.
    pub fn extend(&mut self, name: &str, patterns: &[Pattern]) {
        if let Some(def) = self.defs.get_mut(name) {
            *def = patterns.iter().fold(def.clone(), |def, pattern| def.pattern(*pattern));
        }
    }

    /// Adds another name for an op.
    pub fn alias(&mut self, alias: &'static str, name: &'static str) {
        self.aliases.insert(alias, name);
    }

    /// The definition of `name` (not of an alias).
    pub fn find(&self, name: &str) -> Option<&OpDef> {
        self.defs.get(name).or_else(|| {
            let dialect = name.split('.').next()?;
            let lazy = self.lazy.iter().find(|lazy| lazy.dialects.contains(&dialect));
            lazy.and_then(|lazy| lazy.get().find(name)).or_else(|| foreign::find(name))
        })
    }

    /// The full name for `name`, which may be an alias.
    pub fn full_name<'a>(&self, name: &'a str) -> &'a str {
        match self.aliases.get(name) {
            Some(full) => full,
            None => name,
        }
    }

    /// The current name of an op of 2020: `hex.add.i32` is `tfrt.add.i32`.
    pub fn modern_name(&self, name: &str) -> Option<String> {
        let (dialect, rest) = name.split_once('.')?;
        let dialect = match dialect {
            "hex" => "tfrt",
            "dht" => "tfrt_dht",
            _ => return None,
        };
        let rest = if rest == "constant.bool" { "constant.i1" } else { rest };
        Some(format!("{dialect}.{rest}")).filter(|name| self.find(name).is_some())
    }

    /// The definition of `name` in a place where `dialect` may be omitted.
    pub fn find_short(&self, dialect: &str, name: &str) -> Option<&OpDef> {
        if dialect.is_empty() || name.contains('.') {
            return None;
        }
        self.defs.get(format!("{dialect}.{name}").as_str())
    }

    /// True if `name` is the spelling of an op in some place.
    pub fn is_op_name(&self, name: &str) -> bool {
        self.find(name).is_some()
            || self.aliases.contains_key(name)
            || self.default_dialects.iter().any(|dialect| self.find_short(dialect, name).is_some())
    }

    /// All definitions, in the order in which they were added; those of kernel libraries last.
    pub fn iter(&self) -> impl Iterator<Item = &OpDef> {
        let own = self.defs.values().chain(self.lazy.iter().flat_map(|lazy| lazy.get().defs.values()));
        own.chain(foreign::all().map(|def| -> &OpDef { def }))
    }

    /// The names of the dialects, sorted.
    pub fn dialects(&self) -> Vec<&str> {
        let own = self.defs.values().map(OpDef::dialect);
        let lazy = self.lazy.iter().flat_map(|lazy| lazy.dialects.iter().copied());
        let names: BTreeSet<&str> =
            own.chain(lazy).chain(foreign::all().map(|def| -> &str { def.dialect() })).collect();
        names.into_iter().collect()
    }

    /// True if an op of this dialect is defined.
    pub fn has_dialect(&self, dialect: &str) -> bool {
        self.defs.values().any(|d| d.dialect() == dialect)
            || self.lazy.iter().any(|lazy| lazy.dialects.contains(&dialect))
    }
}

impl OpTable for Registry {
    fn info(&'static self, name: &str) -> Option<OpInfo> {
        self.find(name).map(|def| OpInfo {
            traits: def.traits,
            attr_names: def.attrs.iter().map(|a| a.name).collect(),
            definition: def,
        })
    }
}

impl OpNameData {
    /// The definition, if the op is registered.
    #[inline]
    pub fn def(&self) -> Option<&'static OpDef> {
        self.definition?.downcast_ref()
    }
}

impl Context {
    /// The definitions in force.
    pub fn registry(&self) -> &'static Registry {
        let table: &dyn Any = self.table();
        // Modules are made here and nowhere else.
        table.downcast_ref().unwrap_or_else(|| unreachable!("a module is made over a registry"))
    }
}

impl Module {
    /// An empty `builtin.module` over the given dialects.
    pub fn with_registry(registry: &'static Registry) -> Self {
        Self::with_capacity(registry, Capacity::default())
    }

    /// The same, with room for a program of about this size.
    pub fn with_capacity(registry: &'static Registry, size: Capacity) -> Self {
        Self::over(registry, size)
    }

    /// Definition of an op, if it is registered.
    #[inline]
    pub fn def(&self, op: OpId) -> Option<&'static OpDef> {
        self.cx.op_name_data(self.op_name(op)).def()
    }
}
