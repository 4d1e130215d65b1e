//! IR to text, as upstream MLIR prints it.
//!
//! Registered ops print in their declared custom form if they fit it, and in generic form otherwise (a wrong
//! operand count, a missing attribute). So any IR, verified or not, reads back as the same IR. `names`
//! assigns names to values, `aliases` to attributes, types and locations. `text` writes types and attributes
//! with the help of `elements` (numbers and tensors) and `affine`. `custom` interprets formats, `plan`
//! precomputes those of plain ops.

mod affine;
mod aliases;
mod builtin;
mod custom;
mod digits;
mod elements;
mod fits;
mod names;
mod op_attrs;
mod options;
mod plan;
mod resources;
mod switch;
mod text;

pub(crate) use elements::element_size;
pub use options::PrintOptions;
pub(crate) use resources::resources_text;
pub(crate) use text::{Typed, write_attr, write_type};
pub use text::{attr_text, loc_text, type_text};

use crate::dialects::Traits;
use crate::ir::{AttrId, BlockId, Context, LocId, Module, OpId, RegionId, StrId, ValueDef, ValueId};
use aliases::Aliases;
use digits::push_number;
use names::{NameKind, ValueNames};
use plan::Plans;
use text::{TextCx, put, write_list, write_loc};

/// The whole module, ending in a line break.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    let aliases = aliases::collect(module, module.top(), options);
    let mut out = print_with(module, module.top(), options, &aliases, None);
    out.push('\n');
    if !options.local_scope {
        resources::write(module, &aliases, &mut out);
    }
    out
}

/// Prints the whole module to `sink` in pieces of moderate size, so that the text as a whole is never in
/// memory.
pub fn print_to(module: &Module, options: &PrintOptions, sink: &mut dyn FnMut(&str)) {
    let aliases = aliases::collect(module, module.top(), options);
    let mut out = print_with(module, module.top(), options, &aliases, Some(&mut |piece: &str| sink(piece)));
    out.push('\n');
    if !options.local_scope {
        resources::write(module, &aliases, &mut out);
    }
    sink(&out);
}

/// One op with all that it contains, without a final line break (but aliases on lines of their own).
pub fn print_op(module: &Module, op: OpId, options: &PrintOptions) -> String {
    print_with(module, op, options, &aliases::collect(module, op, options), None)
}

/// The length at which text is passed to the sink.
const PIECE: usize = 1 << 16;

/// Returns the text that is not in the sink.
fn print_with<'s>(
    module: &Module,
    op: OpId,
    options: &PrintOptions,
    aliases: &Aliases,
    sink: Option<&'s mut (dyn FnMut(&str) + 's)>,
) -> String {
    let plans = Plans::of(&module.cx);
    let capacity = if sink.is_some() { 2 * PIECE } else { module.n_op_ids().min(1 << 24) * 32 };
    let mut printer = Printer {
        m: module,
        cx: &module.cx,
        options: *options,
        names: names::assign(module, op, options),
        style: TextCx::new(&module.cx, aliases),
        aliases,
        plans: &plans,
        out: String::with_capacity(capacity),
        sink,
        indent: 0,
        default_dialect: "builtin",
    };
    aliases.write_first(&module.cx, &mut printer.out);
    printer.op(op);
    aliases.write_last(&module.cx, &mut printer.out);
    printer.out
}

struct Printer<'m, 's> {
    m: &'m Module,
    cx: &'m Context,
    options: PrintOptions,
    names: ValueNames,
    /// The context, with the aliases.
    style: TextCx<'m>,
    aliases: &'m Aliases,
    plans: &'m Plans<'m>,
    out: String,
    sink: Option<&'s mut (dyn FnMut(&str) + 's)>,
    indent: usize,
    /// The dialect whose prefix this region omits.
    default_dialect: &'static str,
}

/// Conditions for writing the header of an entry block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    /// If it has arguments, and to distinguish an empty block from none.
    Generic,
    /// If it has arguments or predecessors.
    Needed,
    /// Never: the op declares the arguments.
    Never,
}

impl Printer<'_, '_> {
    fn newline(&mut self) {
        const BLANKS: &str = "                                ";
        self.out.push('\n');
        let mut left = 2 * self.indent;
        while left > 0 {
            let n = left.min(BLANKS.len());
            self.out.push_str(&BLANKS[..n]);
            left -= n;
        }
    }

    fn op(&mut self, op: OpId) {
        self.results(op);
        if self.options.generic || !self.custom(op) {
            self.generic(op);
        }
        self.trailing_loc(self.m.loc(op));
    }

    /// Passes the text printed so far to the sink, if it is long enough.
    #[inline]
    fn flush(&mut self) {
        if self.out.len() >= PIECE
            && let Some(sink) = &mut self.sink
        {
            sink(&self.out);
            self.out.clear();
        }
    }

    fn trailing_loc(&mut self, loc: LocId) {
        if self.options.locations {
            self.out.push_str(" loc(");
            if !self.aliases.write(loc.into(), &mut self.out) {
                write_loc(self.style, loc, &mut self.out);
            }
            self.out.push(')');
        }
    }

    fn results(&mut self, op: OpId) {
        let n = self.m.n_results(op);
        if n == 1 {
            self.name(self.m.result(op, 0));
            return self.out.push_str(" = ");
        }
        let mut at = 0;
        while at < n {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.name(self.m.result(op, at));
            let size = self.group_size(op, at);
            if size > 1 {
                put!(self.out, ":{size}");
            }
            at += size;
        }
        if n > 0 {
            self.out.push_str(" = ");
        }
    }

    /// Number of results that share the name of result `first`.
    fn group_size(&self, op: OpId, first: usize) -> usize {
        let n = self.m.n_results(op);
        let next = (first + 1..n).find(|i| self.names.is_named(self.m.result(op, *i)));
        next.unwrap_or(n) - first
    }

    fn value(&mut self, value: ValueId) {
        if let Some(name) = self.names.own(value) {
            return write_value_name(&name, &mut self.out);
        }
        match self.m.value_def(value) {
            ValueDef::Result(op, i) if self.m.n_results(op) > 1 => {
                let i = i as usize;
                let is_named = |i: &usize| self.names.is_named(self.m.result(op, *i));
                let first = (0..=i).rev().find(is_named).unwrap_or(0);
                self.name(self.m.result(op, first));
                if self.group_size(op, first) > 1 {
                    put!(self.out, "#{}", i - first);
                }
            }
            _ => self.name(value),
        }
    }

    fn name(&mut self, value: ValueId) {
        match self.names.value(value) {
            Some(name) => write_value_name(&name, &mut self.out),
            None => put!(self.out, "%<<UNKNOWN {value:?}>>"),
        }
    }

    fn block_name(&mut self, block: BlockId) {
        match self.names.blocks.at(block) {
            Some(n) => put!(self.out, "^bb{n}"),
            None => self.out.push_str("^<<UNKNOWN>>"),
        }
    }

    fn values(&mut self, values: impl Iterator<Item = ValueId>) {
        for (i, value) in values.enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(value);
        }
    }

    fn generic(&mut self, op: OpId) {
        text::write_quoted(self.m.op_name_str(op).as_bytes(), &mut self.out);
        self.out.push('(');
        self.values(self.m.operands(op));
        self.out.push(')');
        if !self.m.successors(op).is_empty() {
            self.out.push('[');
            for (i, block) in self.m.successors(op).iter().enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                self.block_name(*block);
            }
            self.out.push(']');
        }
        let (inherent, discardable): (Vec<_>, Vec<_>) =
            self.m.attrs(op).iter().partition(|(name, _)| self.m.is_inherent(op, *name));
        if let Some(properties) = self.m.properties(op) {
            self.out.push_str(" <");
            write_attr(self.style, properties, Typed::Always, &mut self.out);
            self.out.push('>');
        } else if !inherent.is_empty() {
            self.out.push_str(" <");
            text::write_dict(self.style, &inherent, &mut self.out);
            self.out.push('>');
        }
        if !self.m.regions_of(op).is_empty() {
            self.out.push_str(" (");
            for (i, &region) in self.m.regions_of(op).iter().enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                self.region(region, Header::Generic, false);
            }
            self.out.push(')');
        }
        self.attr_dict(&discardable);
        self.out.push_str(" : ");
        self.function_type(op);
    }

    /// ` {...}` unless empty.
    fn attr_dict(&mut self, attrs: &[(StrId, AttrId)]) {
        if !attrs.is_empty() {
            self.out.push(' ');
            text::write_dict(self.style, attrs, &mut self.out);
        }
    }

    fn function_type(&mut self, op: OpId) {
        let inputs: Vec<_> = self.m.operands(op).map(|v| self.m.value_type(v)).collect();
        let results: Vec<_> = self.m.results(op).map(|v| self.m.value_type(v)).collect();
        text::write_function(self.style, &inputs, &results, &mut self.out);
    }

    /// Braces with blocks. `elide`: the terminator is implied.
    fn region(&mut self, region: RegionId, entry_header: Header, elide: bool) {
        self.out.push('{');
        let def = self.m.def(self.m.region_parent(region));
        let outer = std::mem::replace(&mut self.default_dialect, def.map_or("", |d| d.default_dialect));
        let blocks = self.m.blocks_of(region);
        // Without a header it would read back as no block at all.
        let may_vanish = !elide
            && match entry_header {
                Header::Generic => true,
                Header::Never => false,
                Header::Needed => !def.is_some_and(|d| d.traits.has(Traits::NO_TERMINATOR)),
            };
        for (i, &block) in blocks.iter().enumerate() {
            let has_preds = self.names.preds.contains_key(&block);
            let args = !self.m.args(block).is_empty();
            let empty = self.m.first_op(block).is_none() && !args;
            let header = i > 0
                || match entry_header {
                    Header::Never => has_preds && !args,
                    Header::Generic | Header::Needed => {
                        has_preds || args || empty && (may_vanish || blocks.len() > 1)
                    }
                };
            if header {
                self.header(block, i == 0);
            }
            self.indent += 1;
            let mut next = self.m.first_op(block);
            while let Some(op) = next {
                next = self.m.next_op(op);
                if elide && next.is_none() {
                    break;
                }
                self.newline();
                self.op(op);
                self.flush();
            }
            self.indent -= 1;
        }
        self.default_dialect = outer;
        self.newline();
        self.out.push('}');
    }

    fn header(&mut self, block: BlockId, entry: bool) {
        self.newline();
        self.block_name(block);
        if !self.m.args(block).is_empty() {
            self.out.push('(');
            for (i, &arg) in self.m.args(block).iter().enumerate() {
                if i > 0 {
                    self.out.push_str(", ");
                }
                self.value(arg);
                self.out.push_str(": ");
                write_type(self.style, self.m.value_type(arg), &mut self.out);
                self.arg_loc(arg);
            }
            self.out.push(')');
        }
        self.out.push(':');
        match self.names.preds.get(&block).map(Vec::as_slice) {
            None | Some([]) if entry => {}
            None | Some([]) => self.out.push_str("  // no predecessors"),
            Some(preds) => {
                let preds = preds.to_vec();
                match preds.len() {
                    1 => self.out.push_str("  // pred: "),
                    n => put!(self.out, "  // {n} preds: "),
                }
                for (i, pred) in preds.into_iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.block_name(pred);
                }
            }
        }
    }

    fn arg_loc(&mut self, arg: ValueId) {
        let loc = self.m.value_locs.at(arg).copied().unwrap_or(LocId::UNKNOWN);
        self.trailing_loc(loc);
    }

    fn types(&mut self, values: impl Iterator<Item = ValueId>) {
        let types: Vec<_> = values.map(|v| self.m.value_type(v)).collect();
        write_list(&types, &mut self.out, |t, out| write_type(self.style, *t, out));
    }
}

fn write_value_name(name: &NameKind<'_>, out: &mut String) {
    match name {
        NameKind::Number(n) => {
            out.push('%');
            push_number(*n, out);
        }
        NameKind::Arg(n) => {
            out.push_str("%arg");
            push_number(*n, out);
        }
        NameKind::Text(text) => {
            out.push('%');
            out.push_str(text);
        }
    }
}
