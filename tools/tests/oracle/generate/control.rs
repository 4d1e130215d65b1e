//! Branches and loops: ops with regions, and ops that run functions generated for them.
//!
//! Each body takes the chain of the prints and up to three numbers or shapes, and returns values of the same
//! types. Loops terminate: their counts are small constants or errors.

use std::fmt::Write;

use super::Body;
use super::Ty::{self, Chain, F32, F64, I1, I32, I64};

/// Maximum nesting depth of bodies.
const MAX_DEPTH: usize = 2;

impl Body<'_, '_> {
    pub(super) fn control(&mut self) {
        if self.depth == MAX_DEPTH {
            return self.simple();
        }
        let carried: Vec<Ty> =
            (0..self.tape.pick(4)).map(|_| self.tape.of(&[I32, I1, I64, F32, F64, Ty::Shape])).collect();
        let passed: Vec<Ty> = [Chain].into_iter().chain(carried).collect();
        match self.tape.pick(8) {
            0 | 1 => {
                let regions =
                    format!(" ({}, {})", self.region(&passed, &passed), self.region(&passed, &passed));
                let condition = (self.value(I1), I1);
                self.run("tfrt.if", &[condition], &passed, &[], &passed, &regions);
            }
            2 => {
                let functions = [self.function_of(&passed, &passed), self.function_of(&passed, &passed)];
                let attrs = format!(" {{a_true_fn = @{}, b_false_fn = @{}}}", functions[0], functions[1]);
                let condition = (self.value(I1), I1);
                self.run("tfrt.cond", &[condition], &passed, &[], &passed, &attrs);
            }
            3 => {
                let functions: Vec<String> = (0..=self.tape.pick(2))
                    .map(|_| format!("@{}", self.function_of(&passed, &passed)))
                    .collect();
                let attrs = format!(" {{branches = [{}]}}", functions.join(", "));
                let index = (self.small(&["0", "1", "2", "-1"]), I32);
                self.run("tfrt.case", &[index], &passed, &[], &passed, &attrs);
            }
            4 | 5 => {
                let region = format!(" ({})", self.region(&passed, &passed));
                let count = (self.small(&["2", "1", "3", "0", "-1"]), I32);
                self.run("tfrt.repeat.i32", &[count], &passed, &[], &passed, &region);
            }
            6 => {
                let counted = [&passed[..], &[I32]].concat();
                let (body, in_flight) = (self.countdown(&passed), self.tape.pick(4) + 1);
                let attrs = format!(" {{body_fn = @{body}, parallel_iterations = {in_flight} : i64}}");
                let condition = (self.value(I1), I1);
                let n = (self.small(&["2", "1", "3", "0", "-1"]), I32);
                self.run("tfrt.while", &[condition], &passed, &[n], &counted, &attrs);
            }
            _ => {
                let takes: Vec<Ty> = [I32, I32].into_iter().chain(passed.iter().copied()).collect();
                let start = (self.small(&["0", "1", "-2"]), I32);
                let end = (self.small(&["3", "4", "0", "1"]), I32);
                let size = (self.small(&["1", "2", "3", "2", "5", "0", "-1"]), I32);
                let range = [start, end, size];
                if self.tape.chance(50) {
                    let region = format!(" ({})", self.region(&takes, &[Chain]));
                    self.run("tfrt.parallel_for.i32", &range, &passed, &[], &[Chain], &region);
                } else {
                    let attrs = format!(" {{callee = @{}}}", self.function_of(&takes, &[Chain]));
                    self.run("tfrt.parallel_call.i32", &range, &passed, &[], &[Chain], &attrs);
                }
            }
        }
    }

    /// A small number, or an error.
    fn small(&mut self, numbers: &[&str]) -> String {
        if self.tape.chance(6) {
            return self.one("tfrt_test.fail", &[], "", I32);
        }
        let kind = if self.tape.chance(20) { "tfrt_test.async_constant.i32" } else { "tfrt.constant.i32" };
        let number = self.tape.of(numbers);
        self.one(kind, &[], &format!(" {{value = {number} : i32}}"), I32)
    }

    /// Writes an op. Its operands are `first`, the chain of the prints, values of the other types in
    /// `passed`, and `last`. Its first result becomes the chain of the prints. `tail` is the text of its
    /// regions and attributes.
    fn run(
        &mut self,
        name: &str,
        first: &[(String, Ty)],
        passed: &[Ty],
        last: &[(String, Ty)],
        results: &[Ty],
        tail: &str,
    ) {
        let mut operands = first.to_vec();
        operands.push((self.out.clone(), Chain));
        for &ty in &passed[1..] {
            operands.push((self.value(ty), ty));
        }
        operands.extend_from_slice(last);
        let names = self.op(name, &operands, tail, results);
        self.out = names[0].clone();
    }

    /// The text of a block with arguments of the types `takes` that returns values of the types `gives`: its
    /// arguments and its ops.
    fn block(&mut self, takes: &[Ty], gives: &[Ty]) -> (String, String) {
        self.block_of(takes, gives, |_| Vec::new())
    }

    /// [`Body::block`], which also returns the result of `last` after the values of the types `gives`.
    fn block_of(
        &mut self,
        takes: &[Ty],
        gives: &[Ty],
        last: impl FnOnce(&mut Body<'_, '_>) -> Vec<(String, Ty)>,
    ) -> (String, String) {
        let id = self.n_names;
        let arguments: Vec<(String, Ty)> =
            takes.iter().enumerate().map(|(i, &ty)| (format!("%b{id}_{i}"), ty)).collect();
        let chain = takes.iter().position(|&ty| ty == Chain).unwrap_or(0);
        let mut inner = Body {
            tape: &mut *self.tape,
            functions: self.functions,
            text: String::new(),
            more: String::new(),
            prefix: format!("{}_{id}", self.prefix),
            depth: self.depth + 1,
            n_names: id + 1,
            values: arguments.clone(),
            tensors: Vec::new(),
            buffers: Vec::new(),
            out: arguments[chain].0.clone(),
        };
        for _ in 0..inner.tape.pick(7) {
            inner.step();
        }
        let mut returned = vec![(inner.out.clone(), Chain)];
        for &ty in &gives[1..] {
            returned.push((inner.value(ty), ty));
        }
        returned.extend(last(&mut inner));
        let (names, types) = list(&returned);
        writeln!(inner.text, "  \"tfrt.return\"({names}) : ({types}) -> ()").expect("strings take anything");
        let (text, more, n_names) = (inner.text, inner.more, inner.n_names);
        self.more.push_str(&more);
        self.n_names = n_names;
        let declared: Vec<String> =
            arguments.iter().map(|(name, ty)| format!("{name}: {}", ty.name())).collect();
        (declared.join(", "), text)
    }

    fn region(&mut self, takes: &[Ty], gives: &[Ty]) -> String {
        let (arguments, text) = self.block(takes, gives);
        format!("{{\n^bb0({arguments}):\n{text}}}")
    }

    /// Generates a function. Returns its name.
    fn function_of(&mut self, takes: &[Ty], gives: &[Ty]) -> String {
        let name = format!("{}_{}", self.prefix, self.n_names);
        let (arguments, text) = self.block(takes, gives);
        self.declare(&name, &arguments, gives, &text);
        name
    }

    /// Generates the body function of a `tfrt.while`. It takes values of the types `passed` and a number. It
    /// returns values of the same types, the number decremented, and whether to continue. Returns its name.
    fn countdown(&mut self, passed: &[Ty]) -> String {
        let name = format!("{}_{}", self.prefix, self.n_names);
        let n = format!("%b{}_{}", self.n_names, passed.len());
        let (takes, gives) = ([passed, &[I32]].concat(), [passed, &[I32, I1]].concat());
        let (arguments, text) = self.block_of(&takes, passed, |body| {
            let one = body.one("tfrt.constant.i32", &[], " {value = 1 : i32}", I32);
            let left = body.one("tfrt.minus.i32", &[(n, I32), (one.clone(), I32)], "", I32);
            let goes_on = body.one("tfrt.lessequal.i32", &[(one, I32), (left.clone(), I32)], "", I1);
            vec![(left, I32), (goes_on, I1)]
        });
        self.declare(&name, &arguments, &gives, &text);
        name
    }

    fn declare(&mut self, name: &str, arguments: &str, gives: &[Ty], text: &str) {
        let gives: Vec<&str> = gives.iter().map(|ty| ty.name()).collect();
        writeln!(self.more, "func.func @{name}({arguments}) -> ({}) {{\n{text}}}", gives.join(", "))
            .expect("strings take anything");
    }
}

/// The names and the types, each as a list with commas.
fn list(values: &[(String, Ty)]) -> (String, String) {
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    let types: Vec<&str> = values.iter().map(|(_, ty)| ty.name()).collect();
    (names.join(", "), types.join(", "))
}
