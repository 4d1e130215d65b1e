//! Traversals of the IR. No traversal recurses: nesting costs heap, not stack.

use super::{AttrKind, BlockId, Module, OpId, StrId, TypeId, UseId, ValueId, names};
use crate::ir::entity::PackedOption;

impl Module {
    /// The ops of a block, in order.
    #[inline]
    pub fn ops_in(&self, block: BlockId) -> Ops<'_> {
        Ops { module: self, next: self.first_op(block) }
    }

    /// Pre-order traversal of `root` and all ops inside of it.
    pub fn walk(&self, root: OpId) -> PreOrder<'_> {
        PreOrder { module: self, root, stack: vec![root] }
    }

    /// The uses of a value: op and operand index, newest use first. One entry per use.
    #[inline]
    pub fn users(&self, value: ValueId) -> Users<'_> {
        Users { module: self, next: self.values[value].first_use }
    }

    /// True if `inner` is `outer` or lies inside of it.
    pub fn is_inside(&self, inner: OpId, outer: OpId) -> bool {
        inner == outer || self.ancestors(inner).any(|op| op == outer)
    }

    /// The ops in which an op lies, innermost first.
    pub fn ancestors(&self, op: OpId) -> impl Iterator<Item = OpId> {
        std::iter::successors(self.parent_op(op), |&op| self.parent_op(op))
    }

    /// Inputs and results of a function, by its type.
    pub fn signature(&self, function: OpId) -> Option<(&[TypeId], &[TypeId])> {
        let ty = self.attr(function, names::FUNCTION_TYPE)?;
        self.cx.function_signature(self.cx.as_type(ty)?)
    }

    /// The name by which a function's argument (`list` is `arg_attrs`) or result (`res_attrs`) is given from
    /// outside: its `bef.name`.
    pub fn port_name(&self, function: OpId, list: StrId, i: usize) -> Option<&str> {
        let AttrKind::Array(dicts) = self.cx.attr(self.attr(function, list)?) else { return None };
        let AttrKind::Dict(entries) = self.cx.attr(*dicts.get(i)?) else { return None };
        let (_, name) = entries.iter().find(|(name, _)| *name == names::BEF_NAME)?;
        self.cx.as_str(*name)
    }

    /// The functions of the program: the ops called `func.func` directly in the root module, in order.
    pub fn functions(&self) -> Vec<OpId> {
        self.symbols().filter(|op| self.is(*op, names::FUNC_FUNC)).collect()
    }

    /// Pre-order traversal of the functions of the program and all ops inside of them.
    pub fn walk_functions(&self) -> impl Iterator<Item = OpId> + '_ {
        self.functions().into_iter().flat_map(|function| self.walk(function))
    }

    /// The ops directly in the root module.
    pub fn symbols(&self) -> impl Iterator<Item = OpId> + '_ {
        let blocks = self.regions_of(self.top()).iter().flat_map(|&region| self.blocks_of(region));
        blocks.flat_map(|&block| self.ops_in(block))
    }

    /// True for a module that a kernel compiles. It is opaque to the rest of the program.
    pub fn is_compiled(&self, op: OpId) -> bool {
        self.is(op, names::BUILTIN_MODULE) && self.attr(op, names::TFRT_COMPILED).is_some()
    }
}

/// See [`Module::ops_in`].
#[derive(Clone)]
pub struct Ops<'m> {
    module: &'m Module,
    next: Option<OpId>,
}

impl Iterator for Ops<'_> {
    type Item = OpId;
    #[inline]
    fn next(&mut self) -> Option<OpId> {
        let op = self.next?;
        self.next = self.module.next_op(op);
        Some(op)
    }
}

/// See [`Module::walk`].
pub struct PreOrder<'m> {
    module: &'m Module,
    root: OpId,
    stack: Vec<OpId>,
}

impl Iterator for PreOrder<'_> {
    type Item = OpId;
    fn next(&mut self) -> Option<OpId> {
        let op = self.stack.pop()?;
        // One entry per open list: the op's successor in its block waits below its contents.
        let module = self.module;
        if op != self.root
            && let Some(next) = module.next_op(op)
        {
            self.stack.push(next);
        }
        for &region in module.regions_of(op).iter().rev() {
            for &block in module.blocks_of(region).iter().rev() {
                if let Some(first) = module.first_op(block) {
                    self.stack.push(first);
                }
            }
        }
        Some(op)
    }
}

/// See [`Module::users`].
#[derive(Clone)]
pub struct Users<'m> {
    module: &'m Module,
    next: PackedOption<UseId>,
}

impl Iterator for Users<'_> {
    type Item = (OpId, usize);
    #[inline]
    fn next(&mut self) -> Option<(OpId, usize)> {
        let id = self.next.get()?;
        self.next = self.module.uses[id].next;
        Some(self.module.use_place(id))
    }
}
