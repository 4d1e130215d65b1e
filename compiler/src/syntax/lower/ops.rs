//! Operations, regions and blocks.

use super::pieces::Pieces;
use super::{Lower, errors};
use crate::diag::Span;
use crate::diag::factory::{nearest, unknown_dialect, unknown_op};
use crate::dialects::Traits;
use crate::ir::{AttrId, AttrKind, BlockId, LocId, NewOp, OpId, OpNameId, RegionId, StrId, TypeId, ValueId};
use crate::syntax::ast::{BlockLabel, Generic, Item, Op, OpBody, Piece, PieceKind, RegionRef};
use crate::syntax::resources;
use crate::syntax::token::Tok;
use indexmap::IndexMap;
use smallvec::SmallVec;

/// An argument of an entry block that the op itself declares.
pub(super) struct EntryArg {
    pub(super) name: Tok,
    pub(super) ty: TypeId,
    /// `None`: the op's location, since its form cannot express another.
    pub(super) loc: Option<LocId>,
}

/// The blocks of a region while it is parsed.
#[derive(Default)]
pub(super) struct Blocks {
    known: IndexMap<StrId, BlockRef>,
}

struct BlockRef {
    block: BlockId,
    defined: Option<Span>,
    used: Span,
}

/// The parts of an op before its creation.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) operands: SmallVec<[ValueId; 4]>,
    pub(super) operand_spans: SmallVec<[Span; 4]>,
    pub(super) results: SmallVec<[TypeId; 4]>,
    pub(super) attrs: SmallVec<[(StrId, AttrId); 2]>,
    pub(super) properties: Option<AttrId>,
    pub(super) successors: Vec<BlockId>,
    /// Regions in order.
    pub(super) regions: SmallVec<[RegionPart; 1]>,
}

/// A region of an op before it is parsed.
#[derive(Default)]
pub(super) struct RegionPart {
    pub(super) from: RegionRef,
    /// Arguments of the entry block that the op declares.
    pub(super) args: Vec<EntryArg>,
    /// The terminator that is added to a block without one.
    pub(super) implicit: Option<&'static str>,
}

impl Lower<'_> {
    pub(super) fn top_level(&mut self, body: BlockId) {
        let mut place = self.items.start(0);
        let mut places = resources::SectionIndex::default();
        loop {
            if self.items.skip_alias(&mut place) {
                continue;
            }
            let Some(item) = self.items.next(&mut place, self.diags) else { break };
            match item {
                Item::Op(op) => {
                    self.op(&op, body, &mut Blocks::default());
                }
                Item::Label(label) => {
                    let span = label.name.span();
                    self.report(
                        errors::expected(span, "an operation", "a block label")
                            .help("blocks stand in regions"),
                    );
                }
                Item::Broken { results, regions } => self.broken(&results, &regions),
                Item::Resource(tok) => {
                    let mut resources = self.m.resources.take().unwrap_or_default();
                    if let Err(d) = resources::read(self.text(tok), tok.start, &mut resources, &mut places) {
                        self.report(*d);
                    }
                    self.m.resources = Some(resources);
                }
                Item::AttrAlias { .. } | Item::TypeAlias { .. } => {}
            }
        }
        self.report_forwards();
    }

    /// Handles an item with a syntax error: defines its names, and parses its regions for their own errors.
    pub(super) fn broken(&mut self, results: &[Tok], regions: &[u32]) {
        self.quiet += 1;
        if !regions.is_empty() {
            let name = self.m.cx.str_id("");
            let name = self.m.cx.op_name(name);
            let op = self.m.create(NewOp::new(name));
            for region in regions {
                self.region(op, Some(*region), true, &[]);
            }
        }
        self.quiet -= 1;
        for tok in results {
            self.define_broken(*tok);
        }
    }

    pub(super) fn region(
        &mut self,
        op: OpId,
        from: RegionRef,
        isolated: bool,
        args: &[EntryArg],
    ) -> RegionId {
        let region = self.m.add_region(op);
        let mark = self.enter(isolated);
        let mut blocks = Blocks::default();
        let mut current = None;
        if !args.is_empty() {
            let entry = self.m.add_block(region);
            for arg in args {
                let value = self.m.add_arg(entry, arg.ty);
                self.m.value_locs.set(value, arg.loc.unwrap_or_else(|| self.m.loc(op)));
                self.define(arg.name, value, 1);
            }
            current = Some(entry);
        }
        let mut place = from.map(|n| self.items.start(n));
        let mut first = true;
        while let Some(item) = place.as_mut().and_then(|place| self.items.next(place, self.diags)) {
            if let Item::Label(label) = &item
                && std::mem::take(&mut first)
                && !args.is_empty()
            {
                let span = label.name.span();
                self.report(
                    errors::expected(span, "an operation", "a block label")
                        .help("the first block has its arguments from the operation"),
                );
            }
            first = false;
            match item {
                Item::Op(op) => {
                    let block = match current {
                        Some(block) => block,
                        None => *current.insert(self.m.add_block(region)),
                    };
                    self.op(&op, block, &mut blocks);
                }
                Item::Label(label) => current = Some(self.label(&label, region, &mut blocks)),
                Item::Broken { results, regions } => self.broken(&results, &regions),
                Item::AttrAlias { name, .. } | Item::TypeAlias { name, .. } => {
                    self.report(
                        errors::expected(name.span(), "an operation", "an alias")
                            .help("define aliases outside of operations"),
                    );
                }
                Item::Resource(tok) => {
                    self.report(errors::expected(tok.span(), "an operation", "a resource section"));
                }
            }
        }
        for (name, block) in &blocks.known {
            if block.defined.is_none() && self.quiet == 0 {
                let text = self.m.cx.str(*name).to_owned();
                self.report(errors::undefined_block(block.used, &text));
            }
        }
        self.leave(mark);
        region
    }

    fn block_name(&mut self, tok: Tok) -> StrId {
        let text = self.text(tok);
        self.m.cx.str_id(text.strip_prefix('^').unwrap_or(text))
    }

    /// The block of `^name`, which may be defined later.
    pub(super) fn block(&mut self, tok: Tok, blocks: &mut Blocks) -> BlockId {
        let name = self.block_name(tok);
        match blocks.known.get(&name) {
            Some(known) => known.block,
            None => {
                let block = self.m.create_block();
                blocks.known.insert(name, BlockRef { block, defined: None, used: tok.span() });
                block
            }
        }
    }

    fn label(&mut self, label: &BlockLabel, region: RegionId, blocks: &mut Blocks) -> BlockId {
        let name = self.block_name(label.name);
        let span = label.name.span();
        let known = blocks.known.get(&name).map(|b| (b.block, b.defined));
        let block = match known {
            Some((_, Some(first))) => {
                let text = self.m.cx.str(name).to_owned();
                self.report(errors::redefined_block(span, &text, first));
                self.m.create_block()
            }
            Some((block, None)) => block,
            None => self.m.create_block(),
        };
        if known.is_none_or(|(_, defined)| defined.is_none()) {
            blocks.known.insert(name, BlockRef { block, defined: Some(span), used: span });
        }
        self.m.append_block(region, block);
        self.m.block_names.set(block, name);
        for arg in &label.args {
            let ty = self.ty(&arg.ty);
            let loc = self.loc_or_place(arg.loc.as_deref(), arg.name.span());
            match ty {
                Some(ty) => {
                    let value = self.m.add_arg(block, ty);
                    self.m.value_locs.set(value, loc);
                    self.define(arg.name, value, 1);
                }
                None => self.define_broken(arg.name),
            }
        }
        block
    }

    fn op(&mut self, op: &Op, block: BlockId, blocks: &mut Blocks) {
        let mut parts = Parts::default();
        let name = match &op.body {
            OpBody::Generic(generic) => self.generic(op, generic, blocks, &mut parts),
            OpBody::Custom(pieces) => self.custom_op(op, Pieces::Tree(pieces), blocks, &mut parts),
            OpBody::Tokens(first, n) => {
                let pieces = Pieces::Toks(self.items.tokens(*first, *n));
                self.custom_op(op, pieces, blocks, &mut parts)
            }
        };
        let Some(name) = name else {
            let mut inner = Vec::new();
            match &op.body {
                OpBody::Generic(generic) => inner.extend(generic.regions.iter().flatten()),
                OpBody::Custom(pieces) => regions_in(pieces, &mut inner),
                OpBody::Tokens(..) => {}
            }
            self.broken(&[], &inner);
            for (name, _) in &op.results {
                self.define_broken(*name);
            }
            return;
        };
        let loc = self.loc_or_place(op.loc.as_deref(), op.name.span());
        self.canonical_flags(name, &mut parts.attrs);
        self.add_defaults(name, &mut parts);
        let Parts { operands, operand_spans, results, attrs, properties, successors, regions } = &parts;
        let id = self.m.create(NewOp { name, loc, operands, results, attrs, successors });
        self.m.append(block, id);
        if properties.is_some() {
            self.m.set_properties(id, *properties);
        }
        self.m.op_spans.set(id, op.name.span());
        for (i, span) in operand_spans.iter().enumerate() {
            self.m.use_spans.set(self.m.operand_use(id, i), *span);
        }
        if !regions.is_empty() {
            self.regions(op, id, regions, loc);
        }
        self.name_results(op, id, results.len());
    }

    fn regions(&mut self, op: &Op, id: OpId, regions: &[RegionPart], loc: LocId) {
        let def = self.m.def(id);
        let isolated = def.is_some_and(|d| d.traits.has(Traits::ISOLATED));
        let single = def.is_some_and(|d| d.traits.has(Traits::SINGLE_BLOCK.and(Traits::NO_TERMINATOR)));
        let outer = self.default_dialect;
        if !matches!(op.body, OpBody::Generic(_)) {
            self.default_dialect = def.map_or("", |d| d.default_dialect);
        }
        for part in regions {
            let region = self.region(id, part.from, isolated, &part.args);
            if single && self.m.entry(region).is_none() {
                self.m.add_block(region);
            }
            if let Some(terminator) = part.implicit {
                self.end_block(region, terminator, loc);
            }
        }
        self.default_dialect = outer;
    }

    /// Adds the default values of absent attributes.
    fn add_defaults(&mut self, name: OpNameId, parts: &mut Parts) {
        let data = self.m.cx.op_name_data(name);
        let Some(def) = data.def() else { return };
        for (i, attr) in def.attrs.iter().enumerate() {
            let Some(default) = attr.default else { continue };
            let name = self.m.cx.op_name_data(name).attr_names[i];
            if !parts.attrs.iter().any(|(n, _)| *n == name) {
                let value = default.attr(attr.kind, &mut self.m.cx);
                parts.attrs.extend(value.map(|v| (name, v)));
            }
        }
    }

    /// Ends the last block of a region with `terminator`, unless it has one.
    fn end_block(&mut self, region: RegionId, terminator: &str, loc: LocId) {
        let block = match self.m.blocks_of(region).last() {
            Some(block) => *block,
            None => self.m.add_block(region),
        };
        let last = self.m.last_op(block).and_then(|op| self.m.def(op));
        if last.is_some_and(|d| d.traits.has(Traits::TERMINATOR)) {
            return;
        }
        let name = self.m.cx.str_id(terminator);
        let name = self.m.cx.op_name(name);
        let op = self.m.create(NewOp { loc, ..NewOp::new(name) });
        self.m.append(block, op);
        if let Some(span) = self.m.op_spans.at(self.m.region_parent(region)).copied() {
            self.m.op_spans.set(op, span);
        }
    }

    fn name_results(&mut self, op: &Op, id: OpId, n_results: usize) {
        match op.results.as_slice() {
            [] => return,
            [(name, None)] if n_results == 1 => {
                let first = self.m.result(id, 0);
                return self.define(*name, first, 1);
            }
            _ => {}
        }
        let mut packs = SmallVec::<[(Tok, u32); 2]>::new();
        let mut total = 0usize;
        for (name, count) in &op.results {
            let n = match count {
                None => 1,
                Some(tok) => match self.text(*tok).parse::<u32>() {
                    Ok(n) if n > 0 => n,
                    _ => {
                        let text = self.text(*tok);
                        self.report(errors::count_range(tok.span(), text, "a number of results"));
                        return;
                    }
                },
            };
            packs.push((*name, n));
            total = total.saturating_add(n as usize);
        }
        if total != n_results {
            let span = packs.iter().fold(packs[0].0.span(), |s, p| s.to(p.0.span()));
            self.report(errors::result_names(span, total, n_results));
            for (name, _) in packs {
                self.define_broken(name);
            }
            return;
        }
        let mut at = 0;
        for (name, n) in packs {
            let first = self.m.result(id, at);
            self.define(name, first, n);
            at += n as usize;
        }
    }

    fn generic(
        &mut self,
        op: &Op,
        generic: &Generic,
        blocks: &mut Blocks,
        parts: &mut Parts,
    ) -> Option<OpNameId> {
        let word = self.text(op.name);
        let (name_id, def) = match word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => self.op_word(plain),
            _ => {
                let name = self.string_id(op.name)?;
                let id = self.m.cx.op_name(name);
                (id, self.m.cx.op_name_data(id).def())
            }
        };
        if word == "\"\"" {
            self.report(errors::empty_op_name(op.name.span()));
            return None;
        }
        if def.is_none() && !self.options.allow_unregistered {
            let text = self.m.cx.str(self.m.cx.op_name_data(name_id).name).to_owned();
            self.unknown(op.name.span(), &text);
            return None;
        }
        let (inputs, results) = (self.types(&generic.inputs), self.types(&generic.outputs));
        let attrs = self.entries(&generic.attrs);
        let properties = match &generic.properties {
            Some(attr) => Some((self.attr(attr, None)?, attr.span)),
            None => None,
        };
        let (inputs, results, mut attrs) = (inputs?, results?, attrs?);
        if inputs.len() != generic.operands.len() {
            self.report(errors::count(
                generic.type_span,
                "operand types",
                generic.operands.len(),
                inputs.len(),
            ));
            return None;
        }
        parts.results = results.into();
        for (tok, ty) in generic.operands.iter().zip(&inputs) {
            parts.operands.push(self.value(*tok, *ty));
            parts.operand_spans.push(tok.span());
        }
        if let Some((attr, span)) = properties {
            if def.is_none() {
                parts.properties = Some(attr);
            } else if let AttrKind::Dict(entries) = self.m.cx.attr(attr).clone() {
                for (name, value) in entries {
                    if attrs.iter().any(|(n, _)| *n == name) {
                        let text = self.m.cx.str(name).to_owned();
                        self.report(errors::duplicate_attr(span, &text));
                        return None;
                    }
                    attrs.push((name, value));
                }
            } else {
                self.report(errors::expected(span, "a dictionary", "another attribute"));
                return None;
            }
        }
        parts.attrs = attrs.into();
        for tok in &generic.successors {
            let block = self.block(*tok, blocks);
            parts.successors.push(block);
        }
        parts.regions =
            generic.regions.iter().map(|r| RegionPart { from: *r, ..RegionPart::default() }).collect();
        Some(name_id)
    }

    pub(super) fn unknown(&mut self, span: Span, name: &str) {
        if self.is_full() {
            return;
        }
        let registry = self.options.registry;
        let near = nearest(name, registry.iter().map(|d| d.name.as_str()));
        match name.split_once('.') {
            Some((dialect, _)) if !registry.has_dialect(dialect) => {
                let known = registry.dialects();
                // A short name is near to too many.
                let similar = || nearest(dialect, known.iter().copied()).filter(|_| dialect.len() > 3);
                let near = near.or_else(similar);
                self.report(unknown_dialect(Some(span), name, dialect, near, &known));
            }
            _ => self.report(unknown_op(Some(span), name, near)),
        }
    }
}

/// The regions in a custom form, in order.
fn regions_in(pieces: &[Piece], out: &mut Vec<u32>) {
    for piece in pieces {
        match &piece.kind {
            PieceKind::Region(n) => out.push(*n),
            PieceKind::Group(_, inner) => regions_in(inner, out),
            _ => {}
        }
    }
}
