//! The op table: one definition per op, from which parser, printer, verifier, passes, emit and documentation read.
//!
//! To add an op, add one [`OpDef`] to its dialect's file here, and one kernel to the runtime:
//!
//! ```text
//! r.add(OpDef::new("tfrt.add.i32", "the sum, wrapping around")
//!     .operand("lhs", I32).operand("rhs", I32).result("sum", I32)
//!     .pure().traits(Traits::COMMUTATIVE).format("operands attr-dict").kernel().cost(1));
//! ```
//!
//! A [`Registry`] is a set of definitions; [`Registry::standard`] has all dialects of this crate. Others are made with
//! [`Registry::new`] and [`Registry::with`], as `tools/tests/add_an_op.rs` does, the worked example of the README. Which file is which dialect: `builtin` (module), `func`, `cf`, `scf`,
//! `arith`, `tfrt`, `tfrt_test`, `tfrt_dht`, `ts`, `cpu`, `eigen` (with `tf_sync`), `tf`. Passes read the parts of an op through its typed [`view`].

pub(crate) mod access;
pub mod constraint;
pub mod def;
pub mod enums;
pub mod format;
pub mod traits;

pub mod arith;
mod builtin;
pub mod cf;
mod coo;
mod cpu;
mod eigen;
mod errors;
pub mod func;
pub mod scf;
#[cfg(test)]
mod tests;
pub mod tf;
pub mod tfrt;
pub mod tfrt_control;
mod tfrt_dht;
mod tfrt_test;
mod tfrt_test_tensors;
pub(crate) mod tfrt_verify;
mod ts;
pub mod types;
pub mod view;

pub use constraint::{AttrConstraint, TypeConstraint};
pub use def::{
    Access, Arity, AttrDef, Cost, DefaultValue, Effect, Effects, Folded, OpDef, OperandDef, OperandMode,
    RegionDef, Resource, ResultDef, SuccessorDef,
};
pub use enums::{EnumDef, FlagsDef};
pub use format::Format;
pub use traits::Traits;
pub use types::{ElementKind, TypeFn, TypeRule, TypeSource};

use crate::rewrite::Pattern;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::OnceLock;

/// A set of op definitions.
#[derive(Default)]
pub struct Registry {
    defs: IndexMap<String, OpDef, FxBuildHasher>,
    /// Those of further dialects, of which a program uses few.
    lazy: Vec<Lazy>,
    /// Other names under which an op may be written: `module`.
    aliases: IndexMap<&'static str, &'static str, FxBuildHasher>,
    /// Dialects whose ops may be written without the dialect's name inside of some op.
    default_dialects: Vec<&'static str>,
}

/// Definitions that are made when somebody asks for an op of these dialects.
struct Lazy {
    dialects: &'static [&'static str],
    ops: fn(&mut Registry),
    made: OnceLock<Registry>,
}

impl Lazy {
    fn get(&self) -> &Registry {
        self.made.get_or_init(|| Registry::new().with(self.ops))
    }
}

impl Registry {
    /// No definitions.
    pub fn new() -> Self {
        Self::default()
    }

    /// All dialects of this crate.
    pub fn standard() -> &'static Registry {
        static STANDARD: OnceLock<Registry> = OnceLock::new();
        STANDARD.get_or_init(|| Registry::new().with(standard))
    }

    /// More definitions.
    #[must_use]
    pub fn with(mut self, dialect: fn(&mut Registry)) -> Self {
        dialect(&mut self);
        self
    }

    /// More definitions, all of these dialects, that are made when somebody asks for one of them. Their ops are written in full.
    fn add_lazily(&mut self, dialects: &'static [&'static str], ops: fn(&mut Registry)) {
        self.lazy.push(Lazy { dialects, ops, made: OnceLock::new() });
    }

    /// Keeps the registry for the life of the process, as contexts need it.
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

    /// Adds patterns to an op of another dialect, if that is defined: those that make ops which it does not know.
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
            self.lazy.iter().find(|lazy| lazy.dialects.contains(&dialect))?.get().find(name)
        })
    }

    /// The full name for `name`, which may be an alias.
    pub fn full_name<'a>(&self, name: &'a str) -> &'a str {
        match self.aliases.get(name) {
            Some(full) => full,
            None => name,
        }
    }

    /// The name of today for an op of 2020: `hex.add.i32` is `tfrt.add.i32`.
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

    /// The definition of `name` where `dialect` need not be named.
    pub fn find_short(&self, dialect: &str, name: &str) -> Option<&OpDef> {
        if dialect.is_empty() || name.contains('.') {
            return None;
        }
        self.defs.get(format!("{dialect}.{name}").as_str())
    }

    /// True if an op may be written so somewhere.
    pub fn is_op_name(&self, name: &str) -> bool {
        self.find(name).is_some()
            || self.aliases.contains_key(name)
            || self.default_dialects.iter().any(|dialect| self.find_short(dialect, name).is_some())
    }

    /// All definitions, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &OpDef> {
        self.defs.values().chain(self.lazy.iter().flat_map(|lazy| lazy.get().defs.values()))
    }

    /// True if an op of this dialect is defined.
    pub fn has_dialect(&self, dialect: &str) -> bool {
        self.defs.values().any(|d| d.dialect() == dialect)
            || self.lazy.iter().any(|lazy| lazy.dialects.contains(&dialect))
    }
}

/// All dialects of this crate.
pub fn standard(r: &mut Registry) {
    let dialects = [
        builtin::ops,
        tfrt::ops,
        tfrt_control::ops,
        arith::ops,
        func::ops,
        cf::ops,
        scf::ops,
        crate::fold::patterns::control_flow,
    ];
    dialects.into_iter().for_each(|dialect: fn(&mut Registry)| dialect(r));
    r.add_lazily(&["tfrt_test", "tfrt_test_sync", "vt", "tfrt_tutorial"], tfrt_test::ops);
    r.add_lazily(&["tfrt_dht", "tfrt_dht_sync", "tfrt_sht", "tfrt_sht_sync", "btf"], tfrt_dht::ops);
    r.add_lazily(&["ts", "ts_sync"], ts::ops);
    r.add_lazily(&["coo"], coo::ops);
    r.add_lazily(&["cpu"], cpu::ops);
    r.add_lazily(&["eigen", "tf_sync"], eigen::ops);
    r.add_lazily(&["tf"], tf::ops);
}

/// Short names for the tables.
mod short {
    use super::TypeConstraint::{self, Is};
    use crate::ir::KnownType;

    pub(super) const I1: TypeConstraint = Is(KnownType::I1);
    pub(super) const I32: TypeConstraint = Is(KnownType::I32);
    pub(super) const I64: TypeConstraint = Is(KnownType::I64);
    pub(super) const CHAIN: TypeConstraint = Is(KnownType::Chain);
    pub(super) const TENSOR: TypeConstraint = Is(KnownType::Tensor);
    pub(super) const SHAPE: TypeConstraint = Is(KnownType::Shape);

    /// The element types that `cpu` allocates tensors of.
    pub(super) const TENSOR_TYPES: [KnownType; 4] =
        [KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64];
    pub(super) const INTEGERS: [KnownType; 2] = [KnownType::I32, KnownType::I64];
    pub(super) const FLOATS: [KnownType; 2] = [KnownType::F32, KnownType::F64];
}
