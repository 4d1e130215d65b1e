//! Symbols: ops with a name (`sym_name`) inside an op that is a symbol table, and references to them.
//!
//! A reference `@a::@b` is looked up from the nearest enclosing symbol table outwards: `a` is resolved in the
//! first table that contains it, then `b` inside of `a`. Tables are built on first use and cached in
//! [`SymbolTables`], which is valid until the module changes.

use super::{AttrKind, LocKind, Module, OpId, StrId, Traits, names};
use rustc_hash::FxHashMap;

/// The symbol tables of one module, built on first use.
#[derive(Default)]
pub struct SymbolTables {
    tables: FxHashMap<OpId, FxHashMap<StrId, OpId>>,
}

impl Module {
    /// The name of an op that is a symbol.
    pub fn symbol_name(&self, op: OpId) -> Option<StrId> {
        match self.attr(op, names::SYM_NAME).map(|a| self.cx.attr(a)) {
            Some(&AttrKind::Str { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// The name of the node of a model that an op comes from: that of its location.
    pub fn node_name(&self, op: OpId) -> Option<&str> {
        match &*self.cx.loc(self.loc(op)) {
            LocKind::Name { name, .. } => Some(self.cx.str(*name)),
            _ => None,
        }
    }

    /// True if only the enclosing symbol table may refer to a symbol.
    pub fn is_private(&self, op: OpId) -> bool {
        self.attr(op, names::SYM_VISIBILITY).and_then(|attr| self.cx.as_str(attr)) == Some("private")
    }

    /// True if the symbols inside `op` form a table of their own.
    pub fn is_symbol_table(&self, op: OpId) -> bool {
        self.traits(op).has(Traits::SYMBOL_TABLE)
    }

    /// The nearest enclosing op (or `op` itself) that is a symbol table; the root if there is none.
    pub fn nearest_symbol_table(&self, op: OpId) -> OpId {
        let mut at = op;
        loop {
            match (self.is_symbol_table(at), self.parent_op(at)) {
                (true, _) | (false, None) => return at,
                (false, Some(parent)) => at = parent,
            }
        }
    }

    /// The function called `name` directly in the root module.
    pub fn find_function(&self, name: &str) -> Option<OpId> {
        let name = self.cx.find_str(name)?;
        self.ops_in(self.body()).find(|op| self.symbol_name(*op) == Some(name))
    }
}

impl SymbolTables {
    /// The symbols directly inside `table`; the first of several with one name.
    pub fn table(&mut self, module: &Module, table: OpId) -> &FxHashMap<StrId, OpId> {
        self.tables.entry(table).or_insert_with(|| {
            let mut symbols = FxHashMap::default();
            for &region in module.regions_of(table) {
                for &block in module.blocks_of(region) {
                    for op in module.ops_in(block) {
                        if let Some(name) = module.symbol_name(op) {
                            symbols.entry(name).or_insert(op);
                        }
                    }
                }
            }
            symbols
        })
    }

    /// The op that `@root::@nested...` refers to at `from`.
    pub fn resolve(&mut self, module: &Module, from: OpId, root: StrId, nested: &[StrId]) -> Option<OpId> {
        let mut table = module.nearest_symbol_table(from);
        let mut found = loop {
            if let Some(&op) = self.table(module, table).get(&root) {
                break op;
            }
            table = module.nearest_symbol_table(module.parent_op(table)?);
        };
        for name in nested {
            found = *self.table(module, found).get(name)?;
        }
        Some(found)
    }
}
