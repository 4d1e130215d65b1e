//! Typed views of ops: `scf::For::of(m, op)?.lower_bound(m)` instead of operand number 0 of whatever `op` is.
//!
//! A dialect declares them beside its table, with the names of the parts in the table:
//!
//! ```text
//! views! {
//!     /// `scf.for`.
//!     For = "scf.for" { lower_bound: Operand<0>, init_args: Operands<3>, region: Region<0>, }
//! }
//! ```
//!
//! A view consists of the op's id. It is only created for an op of that name with as many operands,
//! successors and regions as the table requires, so reading a part needs no lookup and cannot fail, verified
//! or not. A view is invalid after a change of the op. A test compares the names and numbers of all views
//! with the table.
//!
//! Not here: building ops (`rewrite`), and decoding of attributes, which a view returns as they are.

use super::Registry;
use super::def::{Arity, OpDef};
use crate::ir::{AttrId, BlockId, Module, OpId, RegionId, ValueId};
use std::ops::Range;

/// A part of an op, by position and type.
pub trait ViewPart {
    /// The value of the part.
    type Output<'m>;

    /// Reads the part from an op that [`fits`].
    fn read(m: &Module, op: OpId) -> Self::Output<'_>;

    /// The declared name of the part, if the definition has such a part.
    fn declared(def: &OpDef) -> Option<&'static str>;
}

/// The operand declared as number `I`. It and all operands before it have arity one.
pub struct Operand<const I: usize>;
/// The operands of declared operand `I`, of any arity.
pub struct Operands<const I: usize>;
/// The results of declared result `I`, of any arity.
pub struct Results<const I: usize>;
/// The attribute declared as number `I` in order of names.
pub struct Attr<const I: usize>;
/// The region declared as number `I`.
pub struct Region<const I: usize>;
/// The successor declared as number `I`. It and all successors before it have arity one.
pub struct Successor<const I: usize>;

impl<const I: usize> ViewPart for Operand<I> {
    type Output<'m> = ValueId;

    fn read(m: &Module, op: OpId) -> ValueId {
        m.operand(op, I)
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        let singles = def.operands.iter().take_while(|o| o.arity == Arity::One).count();
        def.operands[..singles].get(I).map(|o| o.name)
    }
}

impl<const I: usize> ViewPart for Operands<I> {
    type Output<'m> = Values<'m>;

    fn read(m: &Module, op: OpId) -> Values<'_> {
        Values { m, op, at: m.operand_range(op, I), read: Module::operand }
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        def.operands.get(I).map(|o| o.name)
    }
}

impl<const I: usize> ViewPart for Results<I> {
    type Output<'m> = Values<'m>;

    fn read(m: &Module, op: OpId) -> Values<'_> {
        Values { m, op, at: m.result_range(op, I), read: Module::result }
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        def.results.get(I).map(|r| r.name)
    }
}

impl<const I: usize> ViewPart for Attr<I> {
    type Output<'m> = Option<AttrId>;

    fn read(m: &Module, op: OpId) -> Option<AttrId> {
        let name = m.cx.op_name_data(m.op_name(op)).attr_names.get(I)?;
        m.attr(op, *name)
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        def.attrs.get(I).map(|a| a.name)
    }
}

impl<const I: usize> ViewPart for Region<I> {
    type Output<'m> = RegionId;

    fn read(m: &Module, op: OpId) -> RegionId {
        m.regions_of(op)[I]
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        def.regions.get(I).map(|r| r.name)
    }
}

impl<const I: usize> ViewPart for Successor<I> {
    type Output<'m> = BlockId;

    fn read(m: &Module, op: OpId) -> BlockId {
        m.successors(op)[I]
    }

    fn declared(def: &OpDef) -> Option<&'static str> {
        let singles = def.successors.iter().take_while(|s| s.arity == Arity::One).count();
        def.successors[..singles].get(I).map(|s| s.name)
    }
}

/// The values of one declared operand or result.
#[derive(Clone)]
pub struct Values<'m> {
    m: &'m Module,
    op: OpId,
    at: Range<usize>,
    read: fn(&Module, OpId, usize) -> ValueId,
}

impl Iterator for Values<'_> {
    type Item = ValueId;

    fn next(&mut self) -> Option<ValueId> {
        self.at.next().map(|i| (self.read)(self.m, self.op, i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.at.size_hint()
    }
}

impl DoubleEndedIterator for Values<'_> {
    fn next_back(&mut self) -> Option<ValueId> {
        self.at.next_back().map(|i| (self.read)(self.m, self.op, i))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// True if `op` has this name and at least as many operands, successors and regions as its definition
/// requires.
pub fn fits(m: &Module, op: OpId, name: &str) -> bool {
    m.def(op).is_some_and(|def| {
        def.name == name
            && (m.regions_of(op).len() == def.regions.len()
                || def.more_regions && m.regions_of(op).len() > def.regions.len())
            && m.n_operands(op) >= def.operands.iter().filter(|o| o.arity == Arity::One).count()
            && m.successors(op).len() >= def.successors.iter().filter(|s| s.arity == Arity::One).count()
    })
}

/// Declaration of a view, for [`disagreements`].
pub struct Declared {
    /// The op's name.
    pub op: &'static str,
    /// The names of the parts, and [`ViewPart::declared`] of each.
    pub parts: &'static [(&'static str, DeclaredName)],
}

/// [`ViewPart::declared`] of a part.
pub type DeclaredName = fn(&OpDef) -> Option<&'static str>;

/// Differences between views and the table.
pub fn disagreements(registry: &Registry, views: &[Declared]) -> Vec<String> {
    let of = |view: &Declared| {
        let Some(def) = registry.find(view.op) else { return vec![format!("{} is not defined", view.op)] };
        let parts = view.parts.iter().filter(|(name, declared)| declared(def) != Some(*name));
        parts.map(|(name, declared)| format!("{}: {name} is {:?}", view.op, declared(def))).collect()
    };
    views.iter().flat_map(of).collect()
}

/// Declares views: see the essay of [`dialects::view`](crate::dialects::view).
#[macro_export]
macro_rules! views {
    ($($(#[$meta:meta])* $view:ident = $name:literal { $($part:ident: $kind:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $view($crate::ir::OpId);

            #[allow(dead_code, reason = "a view has all parts, read or not")]
            impl $view {
                /// The name of the op.
                pub const NAME: &'static str = $name;

                /// The view of `op`, if it is such an op.
                pub fn of(m: &$crate::ir::Module, op: $crate::ir::OpId) -> Option<Self> {
                    $crate::dialects::view::fits(m, op, Self::NAME).then_some($view(op))
                }

                /// The op.
                pub fn op(self) -> $crate::ir::OpId {
                    self.0
                }

                $(
                    #[doc = concat!("`", stringify!($part), "` of the definition.")]
                    pub fn $part(
                        self,
                        m: &$crate::ir::Module,
                    ) -> <$kind as $crate::dialects::view::ViewPart>::Output<'_> {
                        <$kind as $crate::dialects::view::ViewPart>::read(m, self.0)
                    }
                )*
            }
        )*

        /// The views declared here, for comparison with the table.
        pub const VIEWS: &[$crate::dialects::view::Declared] = &[$($crate::dialects::view::Declared {
            op: $view::NAME,
            parts: &[$((stringify!($part), <$kind as $crate::dialects::view::ViewPart>::declared)),*],
        }),*];
    };
}
pub use views;
