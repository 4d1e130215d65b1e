//! Aliases of attributes, types and locations: `#map`, `#set`, `#distinct`, `#loc`, `!tuple`.
//!
//! The rules are upstream's, which makes the numbers equal. Before printing, all nodes are visited in the
//! order of printing. They are then sorted by the depth of nested aliases, types first, then by name, then in
//! the order of the visit, and each name is numbered in that order. A definition thus refers to earlier ones
//! only. Nodes used only by locations of operations and arguments are defined after the module, the others
//! before it.
//!
//! Shared parts are visited once. The visit also determines the order of resources. Distinct attributes are
//! numbered as they are printed.

use super::PrintOptions;
use super::text::{TextCx, Typed, put, write_attr_in_full, write_loc, write_type_in_full};
use crate::ir::entity::EntityId;
use crate::ir::{AttrId, AttrKind, Context, LocId, LocKind, Module, OpId, RegionId, StrId, TypeId, TypeKind};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;

/// A node that may have an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Attr(AttrId),
    Type(TypeId),
    Loc(LocId),
}

impl From<AttrId> for Node {
    fn from(id: AttrId) -> Self {
        Node::Attr(id)
    }
}

impl From<TypeId> for Node {
    fn from(id: TypeId) -> Self {
        Node::Type(id)
    }
}

impl From<LocId> for Node {
    fn from(id: LocId) -> Self {
        Node::Loc(id)
    }
}

/// An alias name with its number; 0 is omitted.
#[derive(Clone, Copy)]
struct NumberedAlias {
    text: &'static str,
    number: u32,
    ty: bool,
}

/// The aliases of a printed op.
#[derive(Default)]
pub(super) struct Aliases {
    names: FxHashMap<Node, NumberedAlias>,
    /// Defined before the module.
    first: Vec<Node>,
    /// Defined after the module.
    last: Vec<Node>,
    /// The used resources, in order of use.
    pub(super) resources: IndexSet<StrId, FxBuildHasher>,
    /// Numbers of distinct attributes, in the order of printing.
    distinct: RefCell<FxHashMap<AttrId, u64>>,
    /// [`PrintOptions::elide_larger_than`].
    pub(super) elide_larger_than: Option<usize>,
}

impl Aliases {
    /// Writes the alias of a node if it has one.
    pub(super) fn write(&self, node: Node, out: &mut String) -> bool {
        let Some(name) = self.names.get(&node) else { return false };
        out.push(if name.ty { '!' } else { '#' });
        out.push_str(name.text);
        if name.number > 0 {
            put!(out, "{}", name.number);
        }
        true
    }

    /// The number of a distinct attribute, assigned when it is first printed.
    pub(super) fn distinct_number(&self, attr: AttrId) -> u64 {
        let mut numbers = self.distinct.borrow_mut();
        let next = numbers.len() as u64;
        *numbers.entry(attr).or_insert(next)
    }

    /// Writes the definitions before the module, one per line.
    pub(super) fn write_first(&self, cx: &Context, out: &mut String) {
        for node in &self.first {
            self.write_definition(cx, *node, out);
            out.push('\n');
        }
    }

    /// Writes the definitions after the module, one per line.
    pub(super) fn write_last(&self, cx: &Context, out: &mut String) {
        for node in &self.last {
            out.push('\n');
            self.write_definition(cx, *node, out);
        }
    }

    fn write_definition(&self, cx: &Context, node: Node, out: &mut String) {
        let style = TextCx::new(cx, self);
        self.write(node, out);
        out.push_str(" = ");
        match node {
            Node::Attr(attr) => write_attr_in_full(style, attr, Typed::Always, out),
            Node::Type(ty) => write_type_in_full(style, ty, out),
            Node::Loc(loc) => {
                out.push_str("loc(");
                write_loc(style, loc, out);
                out.push(')');
            }
        }
    }
}

/// Computes the aliases of `op` and all that it contains.
pub(super) fn collect(m: &Module, op: OpId, options: &PrintOptions) -> Aliases {
    let elide_larger_than = options.elide_larger_than;
    if options.local_scope || !options.locations && !may_matter(&m.cx) {
        return Aliases { elide_larger_than, ..Aliases::default() };
    }
    let mut visitor = Visitor { m, cx: &m.cx, options: *options, ..Visitor::new(m) };
    visitor.op(op);
    Aliases { elide_larger_than, ..visitor.finish() }
}

/// True if the context contains anything that could have an alias. Most programs need no visit.
fn may_matter(cx: &Context) -> bool {
    let attr = |id| {
        alias_of(cx, Node::Attr(id)).is_some()
            || matches!(cx.attr(id), AttrKind::DenseResource { .. } | AttrKind::Loc(_))
    };
    cx.attr_ids().any(attr) || cx.type_ids().any(|id| alias_of(cx, Node::Type(id)).is_some())
}

/// The alias name of a node, without its number.
fn alias_of(cx: &Context, node: Node) -> Option<&'static str> {
    match node {
        Node::Attr(id) => match cx.attr(id) {
            AttrKind::AffineMap(_) => Some("map"),
            AttrKind::IntegerSet(_) => Some("set"),
            AttrKind::Distinct { of, .. } if *cx.attr(*of) != AttrKind::Unit => Some("distinct"),
            _ => None,
        },
        Node::Type(id) => match cx.ty(id) {
            TypeKind::Tuple(elems) if elems.len() > 16 => Some("tuple"),
            _ => None,
        },
        Node::Loc(_) => Some("loc"),
    }
}

/// Facts about a visited node.
struct Visited {
    node: Node,
    alias: Option<&'static str>,
    /// Depth of nested aliases; 0 if there are none.
    depth: u32,
    /// True if only locations of operations and arguments refer to it.
    deferred: bool,
    parts: Vec<u32>,
}

struct Visitor<'m> {
    m: &'m Module,
    cx: &'m Context,
    options: PrintOptions,
    visited: Vec<Visited>,
    /// Indices into `visited` plus one, by id.
    attrs: Vec<u32>,
    types: Vec<u32>,
    locs: FxHashMap<LocId, u32>,
    resources: IndexSet<StrId, FxBuildHasher>,
}

impl<'m> Visitor<'m> {
    fn new(m: &'m Module) -> Self {
        Visitor {
            m,
            cx: &m.cx,
            options: PrintOptions::default(),
            visited: Vec::new(),
            attrs: Vec::new(),
            types: Vec::new(),
            locs: FxHashMap::default(),
            resources: IndexSet::default(),
        }
    }

    fn op(&mut self, op: OpId) {
        if self.options.locations {
            self.visit(Node::Loc(self.m.loc(op)), true);
        }
        // In generic form upstream visits regions first; custom forms are visited as they are written.
        let custom = !self.options.generic && self.m.def(op).is_some();
        if custom {
            self.attrs_of(op);
        } else {
            self.regions_of(op);
        }
        for value in self.m.operands(op).chain(self.m.results(op)) {
            self.visit(Node::Type(self.m.value_type(value)), false);
        }
        if custom {
            self.regions_of(op);
        } else {
            self.attrs_of(op);
        }
    }

    fn attrs_of(&mut self, op: OpId) {
        if let Some(properties) = self.m.properties(op) {
            self.visit(Node::Attr(properties), false);
        }
        for (_, attr) in self.m.attrs(op) {
            self.visit(Node::Attr(*attr), false);
        }
    }

    fn regions_of(&mut self, op: OpId) {
        for region in self.m.regions_of(op) {
            self.region(*region);
        }
    }

    fn region(&mut self, region: RegionId) {
        for &block in self.m.blocks_of(region) {
            for &arg in self.m.args(block) {
                self.visit(Node::Type(self.m.value_type(arg)), false);
                if self.options.locations {
                    let loc = self.m.value_locs.at(arg).copied().unwrap_or(LocId::UNKNOWN);
                    self.visit(Node::Loc(loc), true);
                }
            }
            for op in self.m.ops_in(block) {
                self.op(op);
            }
        }
    }

    fn slot(&mut self, node: Node) -> &mut u32 {
        let (table, at) = match node {
            Node::Attr(id) => (&mut self.attrs, id.index()),
            Node::Type(id) => (&mut self.types, id.index()),
            // Their ids are not dense.
            Node::Loc(id) => return self.locs.entry(id).or_insert(0),
        };
        if at >= table.len() {
            table.resize((at + 1).next_power_of_two(), 0);
        }
        &mut table[at]
    }

    /// Visits a node and its parts; returns its index in `visited`.
    fn visit(&mut self, node: Node, deferred: bool) -> u32 {
        if let Some(known) = self.slot(node).checked_sub(1) {
            if !deferred {
                self.keep_first(known);
            }
            return known;
        }
        if let Node::Attr(id) = node
            && let AttrKind::Loc(loc) = *self.cx.attr(id)
        {
            return self.visit(Node::Loc(loc), deferred);
        }
        let at = self.visited.len() as u32;
        *self.slot(node) = at + 1;
        let alias = alias_of(self.cx, node);
        self.visited.push(Visited {
            node,
            alias,
            depth: u32::from(alias.is_some()),
            deferred,
            parts: Vec::new(),
        });
        let mut parts = Vec::new();
        match node {
            Node::Attr(id) => self.parts_of_attr(id, deferred, &mut parts),
            Node::Type(id) => self.parts_of_type(id, deferred, &mut parts),
            Node::Loc(id) => self.parts_of_loc(id, deferred, &mut parts),
        }
        let deepest = parts.iter().map(|p| self.visited[*p as usize].depth).max().unwrap_or(0);
        let visited = &mut self.visited[at as usize];
        if deepest > 0 {
            visited.depth = deepest + 1;
        }
        visited.parts = parts;
        at
    }

    /// Marks a node and all its parts as needed before the module.
    fn keep_first(&mut self, at: u32) {
        // Nearly every visit ends here.
        if !self.visited[at as usize].deferred {
            return;
        }
        let mut todo = vec![at];
        while let Some(at) = todo.pop() {
            let visited = &mut self.visited[at as usize];
            if visited.deferred {
                visited.deferred = false;
                todo.extend(&visited.parts);
            }
        }
    }

    fn parts_of_attr(&mut self, id: AttrId, deferred: bool, parts: &mut Vec<u32>) {
        let cx = self.cx;
        match cx.attr(id) {
            AttrKind::Unit
            | AttrKind::Bool(_)
            | AttrKind::Int { .. }
            | AttrKind::WideInt { .. }
            | AttrKind::Float { .. }
            | AttrKind::WideFloat { .. }
            | AttrKind::DenseArray { .. }
            | AttrKind::AffineMap(_)
            | AttrKind::IntegerSet(_)
            | AttrKind::Strided { .. }
            | AttrKind::Symbol { .. }
            | AttrKind::Loc(_) => {}
            AttrKind::Str { ty, .. } | AttrKind::Bytes { ty, .. } | AttrKind::Opaque { ty, .. } => {
                parts.extend(ty.map(|ty| self.visit(Node::Type(ty), deferred)));
            }
            AttrKind::Dense { ty, .. }
            | AttrKind::DenseStrings { ty, .. }
            | AttrKind::Sparse { ty, .. }
            | AttrKind::Type(ty) => parts.push(self.visit(Node::Type(*ty), deferred)),
            AttrKind::DenseResource { ty, key } => {
                self.resources.insert(*key);
                parts.push(self.visit(Node::Type(*ty), deferred));
            }
            AttrKind::Array(elems) => {
                parts.extend(elems.iter().map(|e| self.visit(Node::Attr(*e), deferred)));
            }
            AttrKind::Dict(entries) => {
                parts.extend(entries.iter().map(|(_, e)| self.visit(Node::Attr(*e), deferred)));
            }
            AttrKind::Distinct { of, .. } => parts.push(self.visit(Node::Attr(*of), deferred)),
        }
    }

    fn parts_of_type(&mut self, id: TypeId, deferred: bool, parts: &mut Vec<u32>) {
        let cx = self.cx;
        match cx.ty(id) {
            TypeKind::Integer { .. }
            | TypeKind::Float(_)
            | TypeKind::Index
            | TypeKind::None
            | TypeKind::Opaque(_) => {}
            TypeKind::Complex(elem) | TypeKind::Vector { elem, .. } => {
                parts.push(self.visit(Node::Type(*elem), deferred));
            }
            TypeKind::Tuple(elems) => {
                parts.extend(elems.iter().map(|t| self.visit(Node::Type(*t), deferred)));
            }
            TypeKind::Function { inputs, results } => {
                parts.extend(inputs.iter().chain(results).map(|t| self.visit(Node::Type(*t), deferred)));
            }
            TypeKind::Tensor { elem, encoding, .. } => {
                parts.push(self.visit(Node::Type(*elem), deferred));
                parts.extend(encoding.map(|e| self.visit(Node::Attr(e), deferred)));
            }
            TypeKind::MemRef { elem, layout, space, .. } => {
                parts.push(self.visit(Node::Type(*elem), deferred));
                parts.extend(layout.iter().chain(space).map(|a| self.visit(Node::Attr(*a), deferred)));
            }
        }
    }

    fn parts_of_loc(&mut self, id: LocId, deferred: bool, parts: &mut Vec<u32>) {
        let cx = self.cx;
        match &*cx.loc(id) {
            LocKind::Unknown | LocKind::File { .. } | LocKind::Range { .. } => {}
            LocKind::Name { child: LocId::UNKNOWN, .. } => {}
            LocKind::Name { child, .. } => parts.push(self.visit(Node::Loc(*child), deferred)),
            LocKind::CallSite { callee, caller } => {
                parts.push(self.visit(Node::Loc(*callee), deferred));
                parts.push(self.visit(Node::Loc(*caller), deferred));
            }
            LocKind::Fused { locs, metadata } => {
                parts.extend(metadata.map(|m| self.visit(Node::Attr(m), deferred)));
                parts.extend(locs.iter().map(|l| self.visit(Node::Loc(*l), deferred)));
            }
        }
    }

    fn finish(self) -> Aliases {
        let mut order: Vec<&Visited> = self.visited.iter().filter(|v| v.alias.is_some()).collect();
        order.sort_by_key(|v| (v.depth, !matches!(v.node, Node::Type(_)), v.alias));
        let mut aliases = Aliases { resources: self.resources, ..Aliases::default() };
        let mut counts: FxHashMap<&'static str, u32> = FxHashMap::default();
        for visited in order {
            let Some(text) = visited.alias else { continue };
            let count = counts.entry(text).or_insert(0);
            let name = NumberedAlias { text, number: *count, ty: matches!(visited.node, Node::Type(_)) };
            *count += 1;
            aliases.names.insert(visited.node, name);
            if visited.deferred { &mut aliases.last } else { &mut aliases.first }.push(visited.node);
        }
        aliases
    }
}
