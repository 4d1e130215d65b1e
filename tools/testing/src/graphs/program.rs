//! Random programs of op graphs: functions, branches, loops, state, lists, control edges, and ops that fail.
//!
//! ```text
//! Program ─ main ──▶ FunctionBody: a graph of pure ops, and the scope: variables, lists, conditions, edges
//!             ├── calls, branches, loops ──▶ functions with bodies of their own, or regions in the same one
//!             └── variables, lists, arrays, stacks, optionals, checks
//! ```
//!
//! A program is made step by step from one seed, so a prefix of its steps is a program too. The generator
//! knows all shapes, whether or not the program declares them. Loops run at most [`TRIPS`] times, and floats
//! that leave a body are bounded, so no value grows without limit.

mod state;

use std::collections::HashSet;

use befrost_tensor::mem::Malloc;
use befrost_tensor::{HostTensor, Shape};

use super::{Graph, GraphMode, GraphValue};
use crate::dice::Dice;

/// Maximum number of iterations of a loop.
const TRIPS: usize = 3;

/// Maximum nesting depth of functions and regions.
const DEPTH: usize = 3;

/// Maximum number of steps of a nested body.
const STEPS: usize = 5;

/// The same of programs that are differentiated, each of whose bodies becomes several.
const SMOOTH_DEPTH: usize = 2;
const SMOOTH_STEPS: usize = 2;

const RESOURCE: &str = "tensor<!tf_type.resource>";
const VARIANT: &str = "tensor<!tf_type.variant>";
const INT: &str = "tensor<i32>";
const BOOL: &str = "tensor<i1>";
const CHAIN: &str = "!tfrt.chain";

/// The shapes of the named variables, indexed by the number in the name.
const NAMED: &[&[usize]] = &[&[2, 3, 4], &[4, 6], &[2, 3, 4]];

/// A program whose entry is `@main`.
#[derive(Debug)]
pub struct Program {
    /// The module.
    pub text: String,
    /// The arguments of `@main`: a scalar i32, then tensors.
    pub arguments: Vec<HostTensor>,
}

impl Program {
    /// A program whose `@main` has `n` steps.
    ///
    /// # Panics
    /// If there is no memory for small tensors.
    pub fn random(mode: GraphMode, seed: u64, n: usize) -> Program {
        let mut module = Module::default();
        let mut main = FunctionBody::main(mode, seed);
        main.named(&mut module);
        for _ in 0..n {
            main.step(&mut module);
        }
        main.read_some();
        let last: Vec<Typed> = main.last(4).iter().map(|x| main.typed(x)).collect();
        main.program(&module, &last)
    }

    /// A program whose `@main` has `n` steps without state. Its results are `ys`, the last values, then the
    /// gradients of the sum of their elements with respect to all arguments but the first. Returns the number
    /// of ys too.
    ///
    /// # Panics
    /// As [`Program::random`].
    pub fn differentiated(seed: u64, n: usize) -> (Program, usize) {
        let mut module = Module::default();
        let mode = if seed.is_multiple_of(3) { GraphMode::SmoothPartial } else { GraphMode::Smooth };
        let mut main = FunctionBody::main(mode, seed);
        for _ in 0..n {
            main.step(&mut module);
        }
        let typed = |values: &[GraphValue]| values.iter().map(|x| main.typed(x)).collect::<Vec<_>>();
        let (ys, xs) = (typed(&main.last(2)), typed(&main.graph.inputs));
        let attrs = format!("operandSegmentSizes = array<i32: {}, 0, {}, 0>", ys.len(), xs.len());
        let (given, results) = ([&ys[..], &xs[..]].concat(), types(&xs));
        main.graph.line(format_args!(
            "  %dx:{} = \"tf._Gradients\"({}) <{{{attrs}, unconnected = \"zero\"}}> : ({}) -> ({results})\n",
            xs.len(),
            names(&given),
            types(&given)
        ));
        let gradients = xs.iter().enumerate().map(|(i, (_, ty))| (format!("%dx#{i}"), ty.clone()));
        let results: Vec<Typed> = ys.iter().cloned().chain(gradients).collect();
        (main.program(&module, &results), ys.len())
    }
}

/// The functions made so far.
#[derive(Default)]
struct Module {
    functions: String,
    n: usize,
    /// The names of the functions with effects.
    effectful: HashSet<String>,
}

impl Module {
    fn name(&mut self, stem: &str) -> String {
        self.n += 1;
        format!("@{stem}{}", self.n)
    }
}

#[derive(Clone)]
struct VariableValue {
    name: String,
    dims: Vec<usize>,
    is_ref: bool,
}

#[derive(Clone)]
struct ListValue {
    name: String,
    /// The shape of its elements.
    dims: Vec<usize>,
    len: usize,
}

/// The values in scope that are not dense tensors of the graph's elements.
#[derive(Clone, Default)]
struct Scope {
    variables: Vec<VariableValue>,
    lists: Vec<ListValue>,
    /// Boolean and integer scalars that do not depend on floats, with their types.
    conditions: Vec<(String, &'static str)>,
    /// Control edges: the completions of earlier ops.
    edges: Vec<String>,
}

/// The body of a function or region under construction.
struct FunctionBody {
    graph: Graph,
    scope: Scope,
    depth: usize,
    /// The value of `%n`.
    trips: usize,
    has_effects: bool,
}

/// An operand or result: its name and its type.
type Typed = (String, String);

fn names(values: &[Typed]) -> String {
    values.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

fn types(values: &[Typed]) -> String {
    values.iter().map(|(_, ty)| ty.as_str()).collect::<Vec<_>>().join(", ")
}

impl FunctionBody {
    fn new(graph: Graph, depth: usize, trips: usize) -> FunctionBody {
        let scope = Scope { conditions: vec![("%n".to_owned(), INT)], ..Scope::default() };
        FunctionBody { graph, scope, depth, trips, has_effects: false }
    }

    /// The empty body of `@main`.
    fn main(mode: GraphMode, seed: u64) -> FunctionBody {
        let mut graph = Graph::random(mode, seed, 0);
        let trips = graph.dice.below(TRIPS + 1);
        FunctionBody::new(graph, 0, trips)
    }

    /// The last values.
    fn last(&self, n: usize) -> Vec<GraphValue> {
        self.graph.values.iter().rev().filter(|value| !value.is_const).take(n).cloned().collect()
    }

    /// The program whose `@main` this body is.
    fn program(self, module: &Module, results: &[Typed]) -> Program {
        let graph = self.graph;
        let inputs =
            graph.inputs.iter().map(|x| format!(", {}: {}", x.name, graph.ty(&x.dims, graph.element())));
        let text = format!(
            "{}{}func.func @main(%n: {INT}{}) -> ({types}) {{\n{}  return {} : {types}\n}}\n",
            graph.functions(),
            module.functions,
            inputs.collect::<String>(),
            graph.body,
            names(results),
            types = types(results),
        );
        let count = HostTensor::from_slice(Shape::scalar(), &[self.trips as i32], &Malloc::shared());
        let count = count.expect("memory for a number");
        Program { text, arguments: std::iter::once(count).chain(graph.arguments).collect() }
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.graph.chance(percent)
    }

    fn below(&mut self, n: usize) -> usize {
        self.graph.dice.below(n)
    }

    /// The type of a tensor of the graph's element type.
    fn ty(&self, dims: &[usize]) -> String {
        self.graph.ty(dims, self.graph.element())
    }

    fn typed(&self, x: &GraphValue) -> Typed {
        (x.name.clone(), self.ty(&x.dims))
    }

    fn value(name: String, dims: &[usize]) -> GraphValue {
        GraphValue { name, dims: dims.to_vec(), is_const: false, is_first: false }
    }

    fn int(&mut self, n: i64) -> Typed {
        (self.graph.ints(&[], &[n]).name, INT.to_owned())
    }

    fn vector(&mut self, ints: &[i64]) -> Typed {
        (self.graph.ints(&[ints.len()], ints).name, format!("tensor<{}xi32>", ints.len()))
    }

    fn shape(&mut self, dims: &[usize]) -> Typed {
        if self.chance(15) {
            return self.int(-1);
        }
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        self.vector(&dims)
    }

    fn shape_attr(&mut self, dims: &[usize]) -> String {
        let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
        let text = if self.chance(20) { "*".to_owned() } else { dims.join("x") };
        format!("#tf_type.shape<{text}>")
    }

    /// Adds an op. Returns the names of its results. The op may take a control edge as its last operand, and
    /// its completion may become its last result and a new control edge.
    fn op(&mut self, op: &str, operands: &[Typed], attrs: &str, results: &[&str]) -> Vec<String> {
        self.op_with(op, operands, attrs, "", results)
    }

    fn op_with(
        &mut self,
        op: &str,
        operands: &[Typed],
        attrs: &str,
        regions: &str,
        results: &[&str],
    ) -> Vec<String> {
        let mut operands = operands.to_vec();
        if !self.scope.edges.is_empty() && self.chance(15) {
            let at = self.below(self.scope.edges.len());
            operands.push((self.scope.edges[at].clone(), CHAIN.to_owned()));
        }
        let mut results: Vec<&str> = results.to_vec();
        let completes = self.chance(15);
        if completes {
            results.push(CHAIN);
        }
        let name = self.graph.name();
        let made: Vec<String> = match results.len() {
            1 => vec![name.clone()],
            n => (0..n).map(|i| format!("{name}#{i}")).collect(),
        };
        let left = match results.len() {
            0 => String::new(),
            1 => format!("{name} = "),
            n => format!("{name}:{n} = "),
        };
        let attrs = if attrs.is_empty() { String::new() } else { format!(" {{{attrs}}}") };
        let (names, types) = (names(&operands), types(&operands));
        let right =
            if results.len() == 1 { results[0].to_owned() } else { format!("({})", results.join(", ")) };
        self.graph
            .line(format_args!("  {left}\"tf.{op}\"({names}){regions}{attrs} : ({types}) -> {right}\n"));
        if completes {
            self.scope.edges.extend(made.last().cloned());
        }
        made
    }

    /// [`FunctionBody::op`] for an op with an effect.
    fn effect(&mut self, op: &str, operands: &[Typed], attrs: &str, results: &[&str]) -> Vec<String> {
        self.has_effects = true;
        self.op(op, operands, attrs, results)
    }

    fn push(&mut self, name: String, dims: &[usize]) {
        let size: usize = dims.iter().product();
        if size > 0 && size <= 2000 {
            self.graph.values.push(FunctionBody::value(name, dims));
        }
    }

    /// A value of this shape: an existing one, or else a constant.
    fn of_dims(&mut self, dims: &[usize]) -> Typed {
        let fit: Vec<GraphValue> = self.graph.values.iter().filter(|x| x.dims == dims).cloned().collect();
        if fit.is_empty() {
            let made = self.graph.constant(dims, Graph::number);
            let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
            return (made.name, format!("tensor<{dims}{}>", self.graph.element()));
        }
        let at = fit.len() - 1 - self.below(fit.len().min(4));
        self.typed(&fit[at])
    }

    /// A scalar operand for a branch: a boolean or an integer.
    fn condition(&mut self) -> Typed {
        if self.chance(50) {
            let at = self.below(self.scope.conditions.len());
            let (name, ty) = self.scope.conditions[at].clone();
            return (name, ty.to_owned());
        }
        let limit = self.below(TRIPS + 1) as i64;
        let (limit, n) = (self.int(limit), ("%n".to_owned(), INT.to_owned()));
        let op = self.graph.dice.pick(&["Less", "GreaterEqual", "Equal"]);
        let made = self.op(op, &[n, limit], "", &[BOOL]);
        self.scope.conditions.push((made[0].clone(), BOOL));
        (made[0].clone(), BOOL.to_owned())
    }

    fn step(&mut self, module: &mut Module) {
        let may_nest = self.depth < if self.graph.is_smooth() { SMOOTH_DEPTH } else { DEPTH };
        if self.graph.is_smooth() {
            return match self.below(26) {
                0..2 if may_nest => self.call(module),
                2..5 if may_nest => self.branch(module),
                5..8 if may_nest => self.repeat(module),
                8..10 if may_nest => self.branch_region(module),
                10..12 if may_nest => self.repeat_region(module),
                12..15 => self.list(),
                15 => self.gathered(),
                _ => self.graph.step(),
            };
        }
        match self.below(36) {
            0..3 if may_nest => self.call(module),
            3..6 if may_nest => self.branch(module),
            6..9 if may_nest => self.repeat(module),
            9..11 if may_nest => self.branch_region(module),
            11..13 if may_nest => self.repeat_region(module),
            13..19 => self.variable(module),
            19..23 => self.list(),
            23 => self.stack(),
            24 => self.array(),
            25 => self.optional(),
            26 => self.check(),
            27 => self.edge(),
            28 if self.chance(40) => self.failure(),
            _ => self.graph.step(),
        }
    }

    fn gathered(&mut self) {
        let x = self.graph.some();
        let rows = self.graph.gathered(&x);
        self.push(rows.name, &rows.dims);
    }

    /// Some steps of a nested body.
    fn steps(&mut self, module: &mut Module) {
        let n = 1 + self.below(if self.graph.is_smooth() { SMOOTH_STEPS } else { STEPS });
        for _ in 0..n {
            self.step(module);
        }
    }

    /// Values of these shapes for the body to return. Floats are bounded.
    fn leaving(&mut self, dims: &[Vec<usize>]) -> Vec<Typed> {
        let found: Vec<Typed> = dims.iter().map(|dims| self.of_dims(dims)).collect();
        let bounded = |body: &mut FunctionBody, (x, dims): (Typed, &Vec<usize>)| {
            if body.graph.mode == GraphMode::Integers {
                return x;
            }
            let ty = body.ty(dims);
            let made = body.op("Tanh", &[x], "", &[&ty]);
            (made[0].clone(), ty)
        };
        found.into_iter().zip(dims).map(|x| bounded(self, x)).collect()
    }

    /// Two values for a call or loop to change.
    fn two(&mut self) -> Vec<GraphValue> {
        vec![self.graph.some(), self.graph.some()]
    }

    /// The operands for a function called in this scope: `%n`, `values`, resource variables, lists.
    fn given(&self, values: &[GraphValue]) -> Vec<Typed> {
        let mut all = vec![("%n".to_owned(), INT.to_owned())];
        all.extend(values.iter().map(|x| self.typed(x)));
        all.extend(self.handles().iter().map(|x| (x.name.clone(), RESOURCE.to_owned())));
        all.extend(self.scope.lists.iter().map(|x| (x.name.clone(), VARIANT.to_owned())));
        all
    }

    /// The resource variables. Functions take these as arguments, but no references.
    fn handles(&self) -> Vec<VariableValue> {
        self.scope.variables.iter().filter(|variable| !variable.is_ref).cloned().collect()
    }

    /// An empty function body and the function's arguments: `first`, then one for each operand of
    /// [`FunctionBody::given`].
    fn callee(
        &mut self,
        values: &[GraphValue],
        first: &[(&str, &'static str)],
    ) -> (FunctionBody, Vec<Typed>) {
        let seed = self.below(1 << 30) as u64;
        let mut graph = Graph::random(self.graph.mode, seed, 0);
        (graph.body, graph.inputs) = (String::new(), Vec::new());
        graph.values = values
            .iter()
            .enumerate()
            .map(|(i, x)| FunctionBody::value(format!("%arg{i}"), &x.dims))
            .collect();
        let mut body = FunctionBody::new(graph, self.depth + 1, self.trips);
        for (i, variable) in self.handles().into_iter().enumerate() {
            body.scope.variables.push(VariableValue { name: format!("%v{i}"), ..variable });
        }
        for (i, list) in self.scope.lists.iter().enumerate() {
            body.scope.lists.push(ListValue { name: format!("%l{i}"), ..list.clone() });
        }
        body.scope.conditions.extend(first.iter().map(|&(name, ty)| (name.to_owned(), ty)));
        let first = first.iter().map(|&(name, ty)| (name.to_owned(), ty.to_owned()));
        let values = body.graph.values.clone();
        let arguments = first.chain(body.given(&values)).collect();
        (body, arguments)
    }

    /// Adds the complete function to the module.
    fn finish(self, module: &mut Module, name: &str, arguments: &[Typed], results: &[Typed]) {
        let arguments: Vec<String> = arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        if self.has_effects {
            module.effectful.insert(name.to_owned());
        }
        module.functions += &format!(
            "func.func private {name}({}) -> ({types}) {{\n{}  return {} : {types}\n}}\n",
            arguments.join(", "),
            self.graph.body,
            names(results),
            types = types(results),
        );
    }

    /// Adds a function of the operands of [`FunctionBody::given`] that returns changed `values`. Returns its
    /// name.
    fn function(&mut self, module: &mut Module, stem: &str, values: &[GraphValue]) -> String {
        let (mut body, arguments) = self.callee(values, &[]);
        body.steps(module);
        let dims: Vec<Vec<usize>> = values.iter().map(|x| x.dims.clone()).collect();
        let results = body.leaving(&dims);
        let name = module.name(stem);
        body.finish(module, &name, &arguments, &results);
        name
    }

    /// The name of the op that runs these functions: `with` if one of them has effects, otherwise a random
    /// one of `with` and `without`.
    fn stateful(
        &mut self,
        module: &Module,
        callees: &[String],
        (with, without): (&'static str, &'static str),
    ) -> &'static str {
        let has_effects = callees.iter().any(|name| module.effectful.contains(name));
        self.has_effects |= has_effects;
        if has_effects || self.chance(30) { with } else { without }
    }

    fn results(&mut self, made: &[String], values: &[GraphValue]) {
        for (name, x) in made.iter().zip(values) {
            self.push(name.clone(), &x.dims);
        }
    }

    fn call(&mut self, module: &mut Module) {
        let values = self.two();
        let callee = self.function(module, "f", &values);
        let op = self.stateful(
            module,
            std::slice::from_ref(&callee),
            ("StatefulPartitionedCall", "PartitionedCall"),
        );
        for _ in 0..1 + self.below(2) {
            let (given, types) = (self.given(&values), self.types(&values));
            let made = self.op(op, &given, &format!("f = {callee}"), &strs(&types));
            self.results(&made, &values);
        }
    }

    fn types(&self, values: &[GraphValue]) -> Vec<String> {
        values.iter().map(|x| self.ty(&x.dims)).collect()
    }

    fn branch(&mut self, module: &mut Module) {
        let values = self.two();
        let n = if self.chance(30) { 1 + self.below(3) } else { 2 };
        let is_case = n != 2 || self.chance(20);
        let callees: Vec<String> = (0..n).map(|_| self.function(module, "b", &values)).collect();
        let (decides, op, attrs) = if is_case {
            let op = self.stateful(module, &callees, ("Case", "StatelessCase"));
            (("%n".to_owned(), INT.to_owned()), op, format!("branches = [{}]", callees.join(", ")))
        } else {
            let op = self.stateful(module, &callees, ("If", "StatelessIf"));
            let attrs = format!("then_branch = {}, else_branch = {}", callees[0], callees[1]);
            (self.condition(), op, attrs)
        };
        let operands: Vec<Typed> = std::iter::once(decides).chain(self.given(&values)).collect();
        let types = self.types(&values);
        let made = self.op(op, &operands, &attrs, &strs(&types));
        self.results(&made, &values);
    }

    /// The trip count of a loop, and the value that holds it.
    fn limit(&mut self) -> (usize, String) {
        if self.chance(60) {
            return (self.trips, "%n".to_owned());
        }
        let trips = self.below(TRIPS + 1);
        (trips, self.int(trips as i64).0)
    }

    /// A loop whose condition and body are functions. It carries a counter, its limit, and the operands of
    /// [`FunctionBody::given`]; lists grow.
    fn repeat(&mut self, module: &mut Module) {
        let values = self.two();
        let (trips, limit) = self.limit();
        let first = [("%i", INT), ("%limit", INT)];
        let (mut cond, arguments) = self.callee(&values, &first);
        if cond.chance(15) {
            cond.step(module);
        }
        let bounds = [("%i".to_owned(), INT.to_owned()), ("%limit".to_owned(), INT.to_owned())];
        let goes_on = cond.op("Less", &bounds, "", &[BOOL]);
        let cond_name = module.name("c");
        cond.finish(module, &cond_name, &arguments, &[(goes_on[0].clone(), BOOL.to_owned())]);

        let (mut body, arguments) = self.callee(&values, &first);
        body.steps(module);
        let one = body.int(1);
        let next = body.op("AddV2", &[bounds[0].clone(), one], "", &[INT]);
        let dims: Vec<Vec<usize>> = values.iter().map(|x| x.dims.clone()).collect();
        let mut results =
            vec![(next[0].clone(), INT.to_owned()), bounds[1].clone(), ("%n".to_owned(), INT.to_owned())];
        results.extend(body.leaving(&dims));
        results.extend(
            body.handles().iter().take(self.handles().len()).map(|x| (x.name.clone(), RESOURCE.to_owned())),
        );
        for list in self.scope.lists.iter_mut().enumerate().map(|(i, list)| (format!("%l{i}"), list)) {
            let (name, list) = list;
            let x = body.of_dims(&list.dims);
            let made = body.op("TensorListPushBack", &[(name, VARIANT.to_owned()), x], "", &[VARIANT]);
            results.push((made[0].clone(), VARIANT.to_owned()));
            list.len += trips;
        }
        let body_name = module.name("w");
        body.finish(module, &body_name, &arguments, &results);

        let op = self.stateful(module, &[cond_name.clone(), body_name.clone()], ("While", "StatelessWhile"));
        let zero = self.int(0);
        let mut operands = vec![zero, (limit, INT.to_owned())];
        operands.extend(self.given(&values));
        let parallel = 1 + self.below(10);
        let attrs = format!("cond = {cond_name}, body = {body_name}, parallel_iterations = {parallel} : i64");
        let types: Vec<String> = operands.iter().map(|(_, ty)| ty.clone()).collect();
        let made = self.op(op, &operands, &attrs, &strs(&types));
        self.results(&made[3..], &values);
        let n_handles = self.handles().len();
        for (list, name) in self.scope.lists.iter_mut().zip(&made[5 + n_handles..]) {
            list.name.clone_from(name);
        }
    }

    /// The text of a region with the ops of `make`, in the scope of this body.
    fn region(&mut self, make: impl FnOnce(&mut FunctionBody) -> Vec<Typed>) -> String {
        let outer = (std::mem::take(&mut self.graph.body), self.graph.values.clone(), self.scope.clone());
        self.depth += 1;
        let yielded = make(self);
        self.depth -= 1;
        self.graph.line(format_args!("  \"tf.Yield\"({}) : ({}) -> ()\n", names(&yielded), types(&yielded)));
        let (body, values, scope) = outer;
        (self.graph.values, self.scope) = (values, scope);
        std::mem::replace(&mut self.graph.body, body)
    }

    /// True if ops with effects were added since `has_effects` was taken. Merges the taken value, `before`,
    /// back into `has_effects`.
    fn effects_since(&mut self, before: bool) -> bool {
        let inside = self.has_effects;
        self.has_effects |= before;
        inside
    }

    fn branch_region(&mut self, module: &mut Module) {
        let values = self.two();
        let dims: Vec<Vec<usize>> = values.iter().map(|x| x.dims.clone()).collect();
        let decides = self.condition();
        let is_case = decides.1 == INT && self.chance(50);
        let before = std::mem::take(&mut self.has_effects);
        let regions: Vec<String> = (0..2)
            .map(|_| {
                self.region(|body| {
                    body.steps(module);
                    body.leaving(&dims)
                })
            })
            .collect();
        let is_stateless = !self.effects_since(before);
        let regions = format!(" ({{\n{}  }}, {{\n{}  }})", regions[0], regions[1]);
        let op = if is_case { "CaseRegion" } else { "IfRegion" };
        let types = self.types(&values);
        let attrs = format!("is_stateless = {is_stateless}");
        let made = self.op_with(op, &[decides], &attrs, &regions, &strs(&types));
        self.results(&made, &values);
    }

    fn repeat_region(&mut self, module: &mut Module) {
        let values = self.two();
        let dims: Vec<Vec<usize>> = values.iter().map(|x| x.dims.clone()).collect();
        let (_, limit) = self.limit();
        let zero = self.int(0);
        let before = std::mem::take(&mut self.has_effects);
        let args: Vec<Typed> = std::iter::once(INT.to_owned())
            .chain(self.types(&values))
            .map(|ty| (self.graph.name(), ty))
            .collect();
        let counter = args[0].clone();
        let header = |args: &[Typed]| {
            let args: Vec<String> = args.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            format!("  ^bb0({}):\n", args.join(", "))
        };
        let asked = counter.clone();
        let cond = self.region(|body| {
            let goes_on = body.op("Less", &[asked, (limit, INT.to_owned())], "", &[BOOL]);
            vec![(goes_on[0].clone(), BOOL.to_owned())]
        });
        let step = self.region(|body| {
            body.scope.conditions.push((counter.0.clone(), INT));
            for ((name, _), dims) in args[1..].iter().zip(&dims) {
                body.push(name.clone(), dims);
            }
            body.steps(module);
            let one = body.int(1);
            let next = body.op("AddV2", &[counter, one], "", &[INT]);
            std::iter::once((next[0].clone(), INT.to_owned())).chain(body.leaving(&dims)).collect()
        });
        let is_stateless = !self.effects_since(before);
        let regions = format!(" ({{\n{h}{cond}  }}, {{\n{h}{step}  }})", h = header(&args));
        let operands: Vec<Typed> =
            std::iter::once(zero).chain(values.iter().map(|x| self.typed(x))).collect();
        let types: Vec<String> = operands.iter().map(|(_, ty)| ty.clone()).collect();
        let attrs = format!("is_stateless = {is_stateless}");
        let made = self.op_with("WhileRegion", &operands, &attrs, &regions, &strs(&types));
        self.results(&made[1..], &values);
    }
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// The mode for [`Program::random`] that a seed selects: floats, integers, and shapes that are unknown as a
/// whole or in part.
pub fn mode_of(seed: u64) -> GraphMode {
    let modes = [GraphMode::Floats, GraphMode::Integers, GraphMode::Partial, GraphMode::Dynamic];
    modes[Dice(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9) | 1).below(modes.len())]
}
