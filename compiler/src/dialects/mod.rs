//! The op table: one definition per op, shared by parser, printer, verifier, passes, emission and
//! documentation.
//!
//! To add an op, add one [`OpDef`] to its dialect's file here, and one kernel to the runtime:
//!
//! ```text
//! r.add(OpDef::new("tfrt.add.i32", "the sum, wrapping around")
//!     .operand("lhs", I32).operand("rhs", I32).result("sum", I32)
//!     .pure().traits(Traits::COMMUTATIVE).format("operands attr-dict").kernel().cost(1));
//! ```
//!
//! A [`Registry`] is a set of definitions; [`Registry::standard`] has all dialects of this crate. Others
//! are made with [`Registry::new`] and [`Registry::with`], as `tools/tests/add_an_op.rs` does, the worked
//! example of the README. Files by dialect: `builtin` (module), `func`, `cf`, `scf`, `arith`, `math` (with
//! `index`, `vector`, `flow`), `tfrt`, `tfrt_test`, `tfrt_dht`, `ts`, `coo`, `cpu`, `eigen` (with
//! `tf_sync`), `corert` (with `corert_sync`), `tf`, `tf_executor`. Passes read the parts of an op through
//! its typed [`view`].

pub(crate) mod access;
pub mod constraint;
pub mod def;
mod effect;
pub mod enums;
mod foreign;
pub mod format;
pub mod libraries;
mod registry;
mod short;

pub mod arith;
mod builtin;
pub mod cf;
mod coo;
pub(crate) mod corert;
mod cpu;
pub mod dev;
mod eigen;
mod errors;
pub mod func;
mod math;
pub mod scf;
mod tensor;
#[cfg(test)]
mod tests;
pub mod tf;
pub mod tf_executor;
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
    Arity, AttrDef, Cost, DefaultValue, Folded, OpDef, OpPredicate, OperandDef, OperandMode, RegionDef,
    ResultDef, SuccessorDef,
};
pub use effect::{Access, Effect, EffectResource, Effects};
pub use enums::{EnumDef, FlagsDef};
pub use errors::at_op;
pub(crate) use errors::{tf_refused, tf_signature};
pub use format::Format;
pub(crate) use math::PUNCTUATION;
pub use registry::Registry;
pub(crate) use short::UPSTREAM_TO_KERNELS;
pub use types::{ElementKind, TypeFn, TypeRule, TypeSource};

pub use crate::ir::Traits;

use crate::ir::Module;
use std::sync::OnceLock;

impl Registry {
    /// All dialects of this crate.
    pub fn standard() -> &'static Registry {
        static STANDARD: OnceLock<Registry> = OnceLock::new();
        STANDARD.get_or_init(|| Registry::new().with(standard))
    }
}

impl Module {
    /// An empty `builtin.module` over the standard dialects.
    pub fn new() -> Self {
        Self::with_registry(Registry::standard())
    }
}

impl Default for Module {
    fn default() -> Self {
        Self::new()
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
    r.add_lazily(&["math", "index", "vector", "flow"], math::ops);
    r.add_lazily(&["tensor"], tensor::ops);
    r.add_lazily(&["coo"], coo::ops);
    r.add_lazily(&["cpu"], cpu::ops);
    r.add_lazily(&["eigen", "tf_sync"], eigen::ops);
    r.add_lazily(&["dev"], dev::ops);
    r.add_lazily(&["corert", "corert_sync"], corert::ops);
    r.add_lazily(&["tf"], tf::ops);
    r.add_lazily(&["tf_executor"], tf_executor::ops);
}
