//! Random well-formed programs.
//!
//! Every decision is read from a tape of numbers, so proptest can shrink a program by shrinking its tape. An
//! empty tape yields the simplest program. A program is a list of functions that call earlier ones, branch
//! and loop (`control`). The first argument and the first result of each function are the chain of its
//! prints.
//!
//! Programs may fail in every possible way, but chains order the uses of a tensor: a read waits for the last
//! write, a write for all earlier reads and writes. No tensor is written after it was passed to a call or
//! returned.

mod control;

use std::fmt::Write;

/// The tape of decisions.
pub(crate) struct Tape<'t>(pub(crate) std::slice::Iter<'t, u32>);

impl Tape<'_> {
    /// A number below `n`; 0 at the end of the tape.
    pub(crate) fn pick(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |&choice| choice as usize % n.max(1))
    }

    /// True in `percent` of a hundred cases; false at the end of the tape.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.pick(100) >= 100 - percent
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.pick(choices.len())]
    }
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    Chain,
    I1,
    I32,
    I64,
    F32,
    F64,
    Shape,
    Tensor,
}

use Ty::{Chain, F32, F64, I1, I32, I64, Tensor};

impl Ty {
    const ALL: [Ty; 8] = [I32, I1, I64, F32, F64, Ty::Shape, Tensor, Chain];

    fn name(self) -> &'static str {
        match self {
            Chain => "!tfrt.chain",
            I1 => "i1",
            I32 => "i32",
            I64 => "i64",
            F32 => "f32",
            F64 => "f64",
            Ty::Shape => "!ts.shape",
            Tensor => "!t.tensor",
        }
    }
}

/// A program, and its entry: the last function with the types of its arguments.
pub(crate) struct Generated {
    pub(crate) text: String,
    pub(crate) entry: String,
    pub(crate) arguments: Vec<Ty>,
}

struct Function {
    name: String,
    arguments: Vec<Ty>,
    /// The types of the results. The number is the level of a tensor, see [`Buffer::level`].
    results: Vec<(Ty, u32)>,
}

/// A name of a tensor. Several names may denote one buffer.
#[derive(Clone)]
struct Name {
    name: String,
    buffer: usize,
    /// Element type and dimensions, if known.
    known: Option<(&'static str, Vec<usize>)>,
}

/// The buffer that a tensor's names denote.
struct Buffer {
    is_writable: bool,
    last_write: Option<String>,
    reads: Vec<String>,
    /// The depth of multiplications and additions in its elements. Elements of level [`INEXACT`] or more
    /// may be rounded.
    level: u32,
}

/// The level from which elements may be rounded. Programs do not compare such elements with each other.
const INEXACT: u32 = 4;

/// An op on numbers and shapes that accepts any values: its name and the types of its operands and results.
type Simple = (&'static str, &'static [Ty], &'static [Ty]);
const SIMPLE: &[Simple] = &[
    ("tfrt.add.i32", &[I32, I32], &[I32]),
    ("tfrt.add.i64", &[I64, I64], &[I64]),
    ("tfrt.add.f32", &[F32, F32], &[F32]),
    ("tfrt.add.f64", &[F64, F64], &[F64]),
    ("tfrt.minus.i32", &[I32, I32], &[I32]),
    ("tfrt.minus.i64", &[I64, I64], &[I64]),
    ("tfrt.mul.i32", &[I32, I32], &[I32]),
    ("tfrt.mul.i64", &[I64, I64], &[I64]),
    ("tfrt.multiply.f32", &[F32, F32], &[F32]),
    ("tfrt.multiply.f64", &[F64, F64], &[F64]),
    ("tfrt.minimum.i32", &[I32, I32], &[I32]),
    ("tfrt.minimum.i64", &[I64, I64], &[I64]),
    ("tfrt.minimum.f32", &[F32, F32], &[F32]),
    ("tfrt.minimum.f64", &[F64, F64], &[F64]),
    ("tfrt.div.i32", &[I32, I32], &[I32, I32]),
    ("tfrt.div.i64", &[I64, I64], &[I64, I64]),
    ("tfrt.div.f32", &[F32, F32], &[F32]),
    ("tfrt.div.f64", &[F64, F64], &[F64]),
    ("tfrt.equal.i32", &[I32, I32], &[I1]),
    ("tfrt.equal.i64", &[I64, I64], &[I1]),
    ("tfrt.lessequal.i32", &[I32, I32], &[I1]),
    ("tfrt.lessequal.i64", &[I64, I64], &[I1]),
    ("tfrt.and.i1", &[I1, I1], &[I1]),
    ("tfrt_test.async_add.i32", &[I32, I32], &[I32]),
    ("tfrt_test.async_copy.i32", &[I32], &[I32]),
    ("tfrt_test.select.i32", &[I1, I32, I32], &[I32]),
    ("tfrt_test.select.i32", &[I1, I32, I32], &[I32]),
    ("tfrt_test.partial_fail", &[], &[I32, I32]),
    ("ts.equal_shape", &[Ty::Shape, Ty::Shape], &[I1]),
    ("ts.get_num_elements", &[Ty::Shape], &[I64]),
    ("ts.get_dimension", &[Ty::Shape, I32], &[I64]),
    ("ts.matmul_shape", &[Ty::Shape, Ty::Shape], &[Ty::Shape]),
];

/// The program for a tape.
pub(crate) fn program(tape: &mut Tape<'_>) -> Generated {
    let mut text = String::new();
    let mut functions: Vec<Function> = Vec::new();
    for i in 0..=tape.pick(4) {
        let function = Body::function(tape, &functions, format!("f{i}"), &mut text);
        functions.push(function);
    }
    let last = functions.pop().expect("there is one function at least");
    Generated { text, entry: last.name, arguments: last.arguments }
}

struct Body<'a, 't> {
    tape: &'a mut Tape<'t>,
    functions: &'a [Function],
    text: String,
    /// The text of functions generated for ops of this body.
    more: String,
    /// The prefix of these functions' names.
    prefix: String,
    /// The number of enclosing bodies.
    depth: usize,
    n_names: usize,
    values: Vec<(String, Ty)>,
    tensors: Vec<Name>,
    buffers: Vec<Buffer>,
    /// The chain of the prints.
    out: String,
}

impl<'a, 't> Body<'a, 't> {
    fn function(
        tape: &'a mut Tape<'t>,
        functions: &'a [Function],
        name: String,
        text: &mut String,
    ) -> Function {
        let out = "%out".to_owned();
        let mut body = Body {
            tape,
            functions,
            text: String::new(),
            more: String::new(),
            prefix: name.clone(),
            depth: 0,
            n_names: 0,
            values: vec![(out.clone(), Chain)],
            tensors: Vec::new(),
            buffers: Vec::new(),
            out,
        };
        let mut arguments = vec![Chain];
        let mut declared = "%out: !tfrt.chain".to_owned();
        for i in 0..body.tape.pick(5) {
            let ty = body.tape.of(&Ty::ALL);
            let argument = format!("%a{i}");
            write!(declared, ", {argument}: {}", ty.name()).expect("strings take anything");
            body.add(argument, ty, 0);
            arguments.push(ty);
        }
        for _ in 0..body.tape.pick(25) {
            body.step();
        }
        let mut returned = vec![(body.out.clone(), Chain, 0)];
        for _ in 0..=body.tape.pick(4) {
            let ty = body.tape.of(&Ty::ALL);
            let again = body.tape.pick(returned.len());
            returned.push(match ty {
                _ if body.tape.chance(15) => returned[again].clone(),
                Tensor => {
                    let at = body.tensor(INEXACT + 1);
                    let level = body.buffers[body.tensors[at].buffer].level;
                    (body.freeze(at), Tensor, level)
                }
                ty => (body.value(ty), ty, 0),
            });
        }
        let list =
            |f: &dyn Fn(&(String, Ty, u32)) -> String| returned.iter().map(f).collect::<Vec<_>>().join(", ");
        let (names, types) = (list(&|r| r.0.clone()), list(&|r| r.1.name().to_owned()));
        text.push_str(&body.more);
        write!(text, "func.func @{name}({declared}) -> ({types}) {{\n{}", body.text)
            .expect("strings take anything");
        writeln!(text, "  tfrt.return {names} : {types}\n}}").expect("strings take anything");
        Function {
            name,
            arguments,
            results: returned.into_iter().map(|(_, ty, level)| (ty, level)).collect(),
        }
    }

    // ---- values ----

    /// Registers a new value. A tensor gets a buffer of its own.
    fn add(&mut self, name: String, ty: Ty, level: u32) {
        if ty == Tensor {
            let buffer = Buffer { is_writable: false, last_write: None, reads: Vec::new(), level };
            self.buffers.push(buffer);
            self.tensors.push(Name { name, buffer: self.buffers.len() - 1, known: None });
        } else {
            self.values.push((name, ty));
        }
    }

    /// Writes an op and registers its scalar results.
    fn op(&mut self, name: &str, operands: &[(String, Ty)], attrs: &str, results: &[Ty]) -> Vec<String> {
        let id = self.n_names;
        self.n_names += 1;
        let names: Vec<String> = match results {
            [_] => vec![format!("%v{id}")],
            _ => (0..results.len()).map(|i| format!("%v{id}#{i}")).collect(),
        };
        let defines = match results.len() {
            0 => String::new(),
            1 => format!("%v{id} = "),
            n => format!("%v{id}:{n} = "),
        };
        let list =
            |f: &dyn Fn(&(String, Ty)) -> String| operands.iter().map(f).collect::<Vec<_>>().join(", ");
        let (values, takes) = (list(&|o| o.0.clone()), list(&|o| o.1.name().to_owned()));
        let gives: Vec<&str> = results.iter().map(|ty| ty.name()).collect();
        let loc = match self.tape.pick(40) {
            35 => " loc(\"model.py\":3:4)",
            36 => " loc(\"layer\"(\"model.py\":5:6))",
            37 => " loc(callsite(\"inner.py\":1:2 at \"outer.py\":8:9))",
            38 => " loc(fused[\"first.py\":7:8, \"second.py\":9:1])",
            39 => " loc(\"a name\")",
            _ => "",
        };
        writeln!(
            self.text,
            "  {defines}\"{name}\"({values}){attrs} : ({takes}) -> ({}){loc}",
            gives.join(", ")
        )
        .expect("strings take anything");
        for (name, &ty) in names.iter().zip(results) {
            if ty != Tensor {
                self.values.push((name.clone(), ty));
            }
        }
        names
    }

    fn one(&mut self, name: &str, operands: &[(String, Ty)], attrs: &str, result: Ty) -> String {
        self.op(name, operands, attrs, &[result]).swap_remove(0)
    }

    /// An existing value, or a new one. Tensors are chosen by [`Body::tensor`].
    fn value(&mut self, ty: Ty) -> String {
        let known: Vec<usize> = (0..self.values.len()).filter(|&i| self.values[i].1 == ty).collect();
        if !known.is_empty() && !self.tape.chance(25) {
            // Recent values are preferred, which makes programs deep.
            let back = self.tape.pick(known.len()).min(self.tape.pick(known.len()));
            return self.values[known[known.len() - 1 - back]].0.clone();
        }
        match ty {
            Chain => self.one("tfrt.new.chain", &[], "", Chain),
            Ty::Shape => {
                let dims = self.dims();
                self.shape(&dims)
            }
            Tensor => unreachable!("tensors are picked by `tensor`"),
            I1 | I32 | I64 | F32 | F64 => {
                let value = number(self.tape, ty);
                let kind = if ty == I32 && self.tape.chance(20) {
                    "tfrt_test.async_constant"
                } else {
                    "tfrt.constant"
                };
                self.one(&format!("{kind}.{}", ty.name()), &[], &format!(" {{value = {value}}}"), ty)
            }
        }
    }

    fn shape(&mut self, dims: &[usize]) -> String {
        let attrs = format!(" {{value = {dims:?}}}");
        self.one("ts.build_shape", &[], &attrs, Ty::Shape)
    }

    fn dims(&mut self) -> Vec<usize> {
        let rank = self.tape.of(&[2, 2, 2, 2, 1, 1, 3, 0, 4]);
        (0..rank).map(|_| self.tape.of(&[2, 1, 3, 2, 4, 1, 3, 0])).collect()
    }

    // ---- tensors ----

    /// A chain after which the tensors `reads` may be read and `write` may be written.
    fn ordered(&mut self, reads: &[usize], write: Option<usize>) -> String {
        let mut chains: Vec<String> = Vec::new();
        for &at in reads.iter().chain(&write) {
            chains.extend(self.buffers[self.tensors[at].buffer].last_write.clone());
        }
        if let Some(at) = write {
            chains.extend(self.buffers[self.tensors[at].buffer].reads.iter().cloned());
        }
        if self.tape.chance(4) {
            chains.push(self.value(Chain));
        }
        chains.sort_unstable();
        chains.dedup();
        match chains.len() {
            0 => self.one("tfrt.new.chain", &[], "", Chain),
            1 => chains.swap_remove(0),
            _ => {
                let chains: Vec<_> = chains.into_iter().map(|chain| (chain, Chain)).collect();
                self.one("tfrt.merge.chains", &chains, "", Chain)
            }
        }
    }

    /// An op on the tensors `reads`, then `write`, then a chain. Its last result is a chain.
    fn on(&mut self, name: &str, reads: &[usize], write: Option<usize>, attrs: &str, first_results: &[Ty]) {
        let chain = self.ordered(reads, write);
        let mut operands: Vec<(String, Ty)> =
            reads.iter().chain(&write).map(|&at| (self.tensors[at].name.clone(), Tensor)).collect();
        operands.push((chain, Chain));
        let results: Vec<Ty> = first_results.iter().copied().chain([Chain]).collect();
        let done = self.op(name, &operands, attrs, &results).pop().expect("a chain");
        for &at in reads {
            self.buffers[self.tensors[at].buffer].reads.push(done.clone());
        }
        if let Some(at) = write {
            let buffer = &mut self.buffers[self.tensors[at].buffer];
            buffer.reads.clear();
            buffer.last_write = Some(done);
        }
    }

    /// A tensor whose level is below a limit, or a new one.
    fn tensor(&mut self, below: u32) -> usize {
        let level = |body: &Self, at: usize| body.buffers[body.tensors[at].buffer].level;
        let known: Vec<usize> = (0..self.tensors.len()).filter(|&at| level(self, at) < below).collect();
        if known.is_empty() || self.tape.chance(10) {
            let dtype = self.tape.of(&["f32", "f32", "f32", "i32", "f32", "i32", "i64", "f64"]);
            let dims = self.dims();
            return if self.tape.chance(25) { self.constant(dtype, dims) } else { self.create(dtype, dims) };
        }
        known[known.len() - 1 - self.tape.pick(known.len())]
    }

    /// A tensor, usually of this type and these dimensions.
    fn fitting(&mut self, dtype: &'static str, dims: Vec<usize>, is_written: bool) -> usize {
        if self.tape.chance(8) {
            let at = self.tensor(INEXACT);
            if !is_written || self.buffers[self.tensors[at].buffer].is_writable {
                return at;
            }
        }
        let want = Some((dtype, dims.clone()));
        let known: Vec<usize> = (0..self.tensors.len())
            .filter(|&at| self.tensors[at].known == want)
            .filter(|&at| !is_written || self.buffers[self.tensors[at].buffer].is_writable)
            .collect();
        if !known.is_empty() && self.tape.chance(60) {
            return known[self.tape.pick(known.len())];
        }
        if !is_written && self.tape.chance(30) {
            self.constant(dtype, dims)
        } else {
            self.create(dtype, dims)
        }
    }

    fn create(&mut self, dtype: &'static str, dims: Vec<usize>) -> usize {
        let name = if self.tape.chance(50) {
            let shape = self.shape(&dims);
            self.one(&format!("cpu.allocate.{dtype}"), &[(shape, Ty::Shape)], "", Tensor)
        } else {
            let kernel = format!("tfrt_dht.create_uninitialized_tensor.{dtype}.{}", dims.len());
            self.one(&kernel, &[], &format!(" {{shape = {dims:?}}}"), Tensor)
        };
        self.buffers.push(Buffer { is_writable: true, last_write: None, reads: Vec::new(), level: 0 });
        self.tensors.push(Name { name, buffer: self.buffers.len() - 1, known: Some((dtype, dims)) });
        let at = self.tensors.len() - 1;
        self.overwrite(at);
        at
    }

    /// Fills a tensor, usually with the right number of elements of its type.
    fn overwrite(&mut self, at: usize) {
        let (dtype, dims) = self.tensors[at].known.clone().unwrap_or(("f32", Vec::new()));
        let dtype = if self.tape.chance(2) { self.tape.of(&["i32", "i64", "f32", "f64"]) } else { dtype };
        if self.tape.chance(30) {
            let attrs = format!(" {{value = {}}}", element(self.tape, dtype, true));
            self.on(&format!("tfrt_dht.fill_tensor_with_constant.{dtype}"), &[], Some(at), &attrs, &[]);
        } else {
            let n = dims.iter().product::<usize>() + usize::from(self.tape.chance(2));
            let values: Vec<String> = (0..n).map(|_| element(self.tape, dtype, true)).collect();
            let attrs = format!(" {{values = [{}]}}", values.join(", "));
            self.on(&format!("tfrt_dht.set_tensor_with_constant_values.{dtype}"), &[], Some(at), &attrs, &[]);
        }
        self.buffers[self.tensors[at].buffer].level = 0;
    }

    fn constant(&mut self, dtype: &'static str, dims: Vec<usize>) -> usize {
        let n: usize = dims.iter().product();
        let values = match n {
            0 => String::new(),
            _ if self.tape.chance(30) => element(self.tape, dtype, false),
            _ => nested(self.tape, dtype, &dims),
        };
        let shape: String = dims.iter().map(|dim| format!("{dim}x")).collect();
        let attrs = format!(" {{value = dense<{values}> : tensor<{shape}{dtype}>}}");
        let name = self.one("cpu.constant", &[], &attrs, Tensor);
        self.add(name, Tensor, 0);
        let at = self.tensors.len() - 1;
        self.tensors[at].known = Some((dtype, dims));
        at
    }

    /// Another name of a tensor, available after all writes. The tensor becomes read-only.
    fn freeze(&mut self, at: usize) -> String {
        let chain = self.ordered(&[at], None);
        self.buffers[self.tensors[at].buffer].is_writable = false;
        self.after(at, chain)
    }

    fn after(&mut self, at: usize, chain: String) -> String {
        let Name { name, buffer, known } = self.tensors[at].clone();
        let name = self.one("cpu.after", &[(name, Tensor), (chain, Chain)], "", Tensor);
        self.tensors.push(Name { name: name.clone(), buffer, known });
        name
    }

    // ---- steps ----

    fn step(&mut self) {
        match self.tape.pick(18) {
            0..=4 => self.simple(),
            5 => self.print(),
            6 => self.other(),
            7 | 8 => self.call(),
            9 | 10 => self.control(),
            _ => self.tensor_step(),
        }
    }

    fn simple(&mut self) {
        let (name, takes, gives) = self.tape.of(SIMPLE);
        let mut operands: Vec<(String, Ty)> = takes.iter().map(|&ty| (self.value(ty), ty)).collect();
        if self.tape.chance(6) {
            operands.push((self.value(Chain), Chain));
        }
        self.op(name, &operands, "", gives);
    }

    fn print(&mut self) {
        // Sometimes on another chain, which leaves the order of the prints open.
        let chain = if self.tape.chance(8) { self.value(Chain) } else { self.out.clone() };
        let ty = self.tape.of(&[I32, I1, I64, F32, F64, Ty::Shape, Chain]);
        let (name, operands) = match ty {
            Chain => ("tfrt_test.print_hello".to_owned(), vec![]),
            Ty::Shape => ("ts.print_shape".to_owned(), vec![(self.value(ty), ty)]),
            ty => (format!("tfrt.print.{}", ty.name()), vec![(self.value(ty), ty)]),
        };
        let operands: Vec<_> = operands.into_iter().chain([(chain, Chain)]).collect();
        self.out = self.one(&name, &operands, "", Chain);
    }

    fn other(&mut self) {
        match self.tape.pick(6) {
            0 => {
                let terms: Vec<_> = (0..self.tape.pick(4)).map(|_| (self.value(I32), I32)).collect();
                self.op("tfrt_test.sum", &terms, "", &[I32]);
            }
            1 => {
                let chains: Vec<_> = (0..self.tape.pick(4)).map(|_| (self.value(Chain), Chain)).collect();
                self.op("tfrt.merge.chains", &chains, "", &[Chain]);
            }
            2 => {
                let shape = self.value(Ty::Shape);
                let axis = self.tape.of(&[0, 1, -1, -2, 2]);
                self.op(
                    "ts.reduce_shape",
                    &[(shape, Ty::Shape)],
                    &format!(" {{axis = {axis} : i32}}"),
                    &[Ty::Shape],
                );
            }
            3 => drop(self.value(Ty::Shape)),
            4 => drop(self.op("tfrt_test.fail", &[], "", &[I32])),
            _ => {
                // A new chain for the prints drops an earlier error, and the order.
                self.out = self.one("tfrt.new.chain", &[], "", Chain);
            }
        }
    }

    fn call(&mut self) {
        let functions = self.functions;
        if functions.is_empty() {
            return self.simple();
        }
        let Function { name, arguments, results } = &functions[self.tape.pick(functions.len())];
        let mut operands = vec![self.out.clone()];
        for &ty in &arguments[1..] {
            operands.push(match ty {
                Tensor => {
                    let at = self.tensor(1);
                    self.freeze(at)
                }
                ty => self.value(ty),
            });
        }
        let types = |types: &[Ty]| types.iter().map(|ty| ty.name()).collect::<Vec<_>>().join(", ");
        let id = self.n_names;
        self.n_names += 1;
        let n = results.len();
        let gives: Vec<Ty> = results.iter().map(|result| result.0).collect();
        let (takes, gives) = (types(arguments), types(&gives));
        writeln!(
            self.text,
            "  %v{id}:{n} = tfrt.call @{name}({}) : ({takes}) -> ({gives})",
            operands.join(", ")
        )
        .expect("strings take anything");
        for (i, &(ty, level)) in results.iter().enumerate() {
            self.add(format!("%v{id}#{i}"), ty, level);
        }
        self.out = format!("%v{id}#0");
    }

    fn tensor_step(&mut self) {
        let dims_of =
            |body: &Self, at: usize| body.tensors[at].known.clone().map_or(vec![2, 3], |known| known.1);
        let level = |body: &Self, at: usize| body.buffers[body.tensors[at].buffer].level;
        let give = |body: &mut Self, at: usize, level: u32| {
            let buffer = body.tensors[at].buffer;
            body.buffers[buffer].level = level;
        };
        match self.tape.pick(14) {
            0 | 1 => {
                let a = self.tensor(INEXACT + 1);
                let (m, k) = match dims_of(self, a)[..] {
                    [m, k] => (m, k),
                    _ => (2, 2),
                };
                let n = self.tape.of(&[1, 2, 3, 4, 0]);
                let b = self.fitting("f32", vec![k, n], false);
                let out = self.fitting("f32", vec![m, n], true);
                let reached = (level(self, a) + level(self, b) + 1).min(INEXACT);
                self.on("cpu.matmul.f32", &[a, b], Some(out), "", &[]);
                give(self, out, reached);
            }
            2 => {
                let x = self.tensor(INEXACT + 1);
                let dims = dims_of(self, x);
                let bias = self.fitting("f32", dims.last().into_iter().copied().collect(), false);
                let out = self.same_or_fitting(x, dims);
                let reached = (level(self, x).max(level(self, bias)) + 1).min(INEXACT);
                self.on("cpu.bias_add.f32", &[x, bias], Some(out), "", &[]);
                give(self, out, reached);
            }
            which @ (3 | 4) => {
                let x = self.tensor(INEXACT + 1);
                let dims = dims_of(self, x);
                let out = self.same_or_fitting(x, dims);
                let reached = if which == 3 { level(self, x) } else { INEXACT };
                self.on(
                    if which == 3 { "cpu.relu.f32" } else { "cpu.softmax.f32" },
                    &[x],
                    Some(out),
                    "",
                    &[],
                );
                give(self, out, reached);
            }
            5 | 6 => {
                let x = self.tensor(INEXACT);
                let mut dims = dims_of(self, x);
                let axis = self.tape.pick(dims.len());
                if !dims.is_empty() {
                    dims.remove(axis);
                }
                let axis =
                    if self.tape.chance(30) { axis as i64 - dims.len() as i64 - 1 } else { axis as i64 };
                let axis = if self.tape.chance(5) { 7 } else { axis };
                let out = self.fitting("i32", dims, true);
                self.on("cpu.argmax.f32", &[x], Some(out), &format!(" {{axis = {axis} : i32}}"), &[]);
                give(self, out, 0);
            }
            which @ (7 | 8) => {
                let a = self.tensor(INEXACT);
                let (dtype, dims) = self.tensors[a].known.clone().unwrap_or(("f32", vec![2, 3]));
                let b = self.fitting(dtype, dims, false);
                if level(self, b) >= INEXACT {
                    return;
                }
                if which == 7 {
                    self.on("cpu.count_equal.i32", &[a, b], None, "", &[I32]);
                } else {
                    let dtype = if self.tape.chance(5) { self.tape.of(&["i32", "f64"]) } else { dtype };
                    self.on(&format!("tfrt_dht.tensor_equal.{dtype}"), &[a, b], None, "", &[I1]);
                }
            }
            9 => {
                let at = self.tensor(INEXACT + 1);
                let name = self.tensors[at].name.clone();
                self.one("tfrt_dht.get_tensor_shape", &[(name, Tensor)], "", Ty::Shape);
            }
            10 => {
                // No results of arithmetic: the sign of a zero sum depends on the first term of the
                // summation, and printing shows it.
                let at = self.tensor(1);
                let written = self.ordered(&[at], None);
                let chain =
                    self.one("tfrt.merge.chains", &[(self.out.clone(), Chain), (written, Chain)], "", Chain);
                let name = self.tensors[at].name.clone();
                self.out = self.one("tfrt_dht.print_tensor", &[(name, Tensor), (chain, Chain)], "", Chain);
                let buffer = self.tensors[at].buffer;
                self.buffers[buffer].reads.push(self.out.clone());
            }
            11 => {
                let at = self.tensor(INEXACT + 1);
                if self.buffers[self.tensors[at].buffer].is_writable {
                    self.overwrite(at);
                }
            }
            12 => {
                let at = self.tensor(INEXACT + 1);
                let chain = self.value(Chain);
                self.after(at, chain);
            }
            _ => {
                // The shape may be an error.
                let shape = self.value(Ty::Shape);
                let name = self.one("cpu.allocate.f32", &[(shape, Ty::Shape)], "", Tensor);
                self.buffers.push(Buffer {
                    is_writable: true,
                    last_write: None,
                    reads: Vec::new(),
                    level: 0,
                });
                self.tensors.push(Name { name, buffer: self.buffers.len() - 1, known: None });
                let attrs = format!(" {{value = {}}}", element(self.tape, "f32", true));
                self.on(
                    "tfrt_dht.fill_tensor_with_constant.f32",
                    &[],
                    Some(self.tensors.len() - 1),
                    &attrs,
                    &[],
                );
            }
        }
    }

    /// The destination of a result with the shape of `x`: often `x` itself.
    fn same_or_fitting(&mut self, x: usize, dims: Vec<usize>) -> usize {
        let is_writable = self.buffers[self.tensors[x].buffer].is_writable;
        if is_writable && self.tape.chance(50) { x } else { self.fitting("f32", dims, true) }
    }
}

/// A number as an attribute.
fn number(tape: &mut Tape<'_>, ty: Ty) -> String {
    let int = tape.of(&["2", "1", "3", "-1", "7", "0", "-5", "100"]);
    let float = tape.of(&["1.0", "2.5", "-0.5", "3.0e+10", "-1.25e-3", "0.0", "-0.0"]);
    let rare = tape.chance(6);
    match ty {
        I1 => tape.of(&["true", "false"]).to_owned(),
        I32 if rare => tape.of(&["-2147483648 : i32", "2147483647 : i32"]).to_owned(),
        I64 if rare => tape.of(&["-9223372036854775808 : i64", "9223372036854775807 : i64"]).to_owned(),
        F32 if rare => tape.of(&["0x7FC00000 : f32", "0x7F800000 : f32", "0xFF800000 : f32"]).to_owned(),
        F64 if rare => tape.of(&["0x7FF8000000000000 : f64", "0x7FF0000000000000 : f64"]).to_owned(),
        F32 | F64 => format!("{float} : {}", ty.name()),
        ty => format!("{int} : {}", ty.name()),
    }
}

/// An element: a small number, so that sums and products of a few of them are exact.
fn element(tape: &mut Tape<'_>, dtype: &str, is_typed: bool) -> String {
    let value = match dtype {
        "f32" | "f64" => tape.of(&["1.0", "0.5", "-1.0", "2.0", "-2.5", "0.0", "4.0", "-0.5", "3.5"]),
        _ => tape.of(&["1", "0", "2", "-1", "3"]),
    };
    if is_typed { format!("{value} : {dtype}") } else { value.to_owned() }
}

/// Elements in brackets, in `dense` syntax.
fn nested(tape: &mut Tape<'_>, dtype: &str, dims: &[usize]) -> String {
    match dims {
        [] => element(tape, dtype, false),
        [dim, inner @ ..] => {
            let parts: Vec<String> = (0..*dim).map(|_| nested(tape, dtype, inner)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}
