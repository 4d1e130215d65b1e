//! `tf-scalars-to-arith`: arithmetic on tensors of rank 0 becomes arithmetic on scalars, in registers.
//!
//! ```text
//! %p = tf.Less(%i, %n)                  %i' = tensor.extract %i[]      %n' = tensor.extract %n[]
//! %b = tf._Predicate(%p)        ──▶     %b = arith.cmpi slt, %i', %n'
//! %j = tf.AddV2(%i, %one)               %j' = arith.addi %i', %c1
//!                                       %j = tensor.from_elements %j'
//!
//! func @step(%i: tensor<i32>) ──▶ func @step(%i': i32)      used by one loop or branch, or by calls
//! ```
//!
//! A tensor costs an allocation and its operator some 300 ns, a scalar nothing and 5 ns: the counters and
//! conditions of loops. What is extracted from `from_elements` is the element. Then arguments and results of
//! private functions become scalars where one side has the scalar: those of a loop are both.
//!
//! The arithmetic is that of the operators on tensors, so only operators that agree with `arith` in all
//! values are in [`kernel_of`] and [`Scalars::sequence`]: no division by what may be zero, no maximum of
//! floats.
//!
//! Part of the kernel graph's optimization, behind `tf-to-kernels`.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{callees, functions};
use crate::build::query;
use crate::dialects::tf;
use crate::fold::constant::Constant;
use crate::ir::{AttrId, BlockId, KnownType, Module, OpId, StrId, TypeId, TypeKind, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{InsertionPoint, is_trivially_dead, signatures};

pub(crate) const PASS: Pass = Pass {
    name: "tf-scalars-to-arith",
    title: "TFScalarsToArith",
    summary: "computes on scalars in registers what is computed on tensors of rank 0",
    options: &[],
    statistics: &[
        ("num-ops", "Number of operators that became scalar"),
        ("num-ports", "Number of arguments and results of functions that became scalar"),
    ],
    run,
};

const EXTRACT: &str = "tensor.extract";
const FROM_ELEMENTS: &str = "tensor.from_elements";

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let mut all: Vec<OpId> = functions(r.ir()).into_values().collect();
    all.sort_by_key(|op| op.0);
    let mut n_ops = 0;
    for &function in &all {
        if let Some(block) = body_of(r.ir(), function) {
            n_ops += Scalars { r, scalars: FxHashMap::default() }.ops(block);
        }
    }
    cx.count("num-ops", n_ops);
    if n_ops > 0 {
        cx.count("num-ports", ports(r));
        signatures::refresh(r);
        for &function in &all {
            if let Some(block) = body_of(r.ir(), function) {
                clean(r, block);
            }
        }
    }
    r.change()
}

/// The only block of a function.
fn body_of(m: &Module, function: OpId) -> Option<BlockId> {
    let &[region] = m.regions_of(function) else { return None };
    match m.blocks_of(region) {
        &[block] => Some(block),
        _ => None,
    }
}

/// The element type of a tensor that is known to have rank 0, if it can be a scalar.
fn scalar_type(m: &Module, ty: TypeId) -> Option<TypeId> {
    const TYPES: [KnownType; 5] =
        [KnownType::I1, KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64];
    match m.cx.ty(ty) {
        TypeKind::Tensor { shape: Some(shape), elem, .. } if shape.is_empty() => {
            TYPES.iter().any(|known| known.id() == *elem).then_some(*elem)
        }
        _ => None,
    }
}

/// The numbers of `arith.cmpi` (signed) and of `arith.cmpf` (ordered; `une` for "not equal").
fn comparison(op: Op) -> Option<(i64, i64)> {
    Some(match op {
        Op::Equal => (0, 1),
        Op::NotEqual => (1, 13),
        Op::Less => (2, 4),
        Op::LessEqual => (3, 5),
        Op::Greater => (4, 2),
        Op::GreaterEqual => (5, 3),
        _ => return None,
    })
}

/// The kernel of an operator on scalars of one type, and the number of its comparison.
fn kernel_of(op: Op, ty: TypeId) -> Option<(&'static str, Option<i64>)> {
    let is = |known: KnownType| ty == known.id();
    let (is_int, is_float) =
        (is(KnownType::I32) || is(KnownType::I64), is(KnownType::F32) || is(KnownType::F64));
    if let Some((of_ints, of_floats)) = comparison(op) {
        return match () {
            () if is_int => Some(("arith.cmpi", Some(of_ints))),
            () if is_float => Some(("arith.cmpf", Some(of_floats))),
            () => None,
        };
    }
    let name = match op {
        Op::LogicalAnd if is(KnownType::I1) => "arith.andi",
        Op::LogicalOr if is(KnownType::I1) => "arith.ori",
        Op::AddV2 if is_int => "arith.addi",
        Op::Sub if is_int => "arith.subi",
        Op::Mul if is_int => "arith.muli",
        Op::AddV2 if is_float => "arith.addf",
        Op::Sub if is_float => "arith.subf",
        Op::Mul if is_float => "arith.mulf",
        Op::RealDiv | Op::Div if is_float => "arith.divf",
        Op::Maximum if is_int => "arith.maxsi",
        Op::Minimum if is_int => "arith.minsi",
        Op::BitwiseAnd if is_int => "arith.andi",
        Op::BitwiseOr if is_int => "arith.ori",
        Op::BitwiseXor if is_int => "arith.xori",
        _ => return None,
    };
    Some((name, None))
}

/// The kernel of a conversion between types of scalars, where it agrees with the operator's in all values.
fn cast_kernel(from: TypeId, to: TypeId) -> Option<&'static str> {
    let known = |ty: TypeId| {
        [KnownType::I32, KnownType::I64, KnownType::F32, KnownType::F64]
            .into_iter()
            .find(|known| known.id() == ty)
    };
    Some(match (known(from)?, known(to)?) {
        (KnownType::I32, KnownType::I64) => "arith.extsi",
        (KnownType::I64, KnownType::I32) => "arith.trunci",
        (KnownType::I32 | KnownType::I64, KnownType::F32 | KnownType::F64) => "arith.sitofp",
        (KnownType::F32, KnownType::F64) => "arith.extf",
        (KnownType::F64, KnownType::F32) => "arith.truncf",
        _ => return None,
    })
}

/// The scalars of a block.
struct Scalars<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    /// By tensor.
    scalars: FxHashMap<ValueId, ValueId>,
}

impl Scalars<'_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    /// Replaces the operators of a block that compute on scalars. Returns their number.
    fn ops(&mut self, block: BlockId) -> u64 {
        let ops: Vec<OpId> = self.m().ops_in(block).collect();
        ops.into_iter().filter(|&op| self.op(op)).count() as u64
    }

    fn op(&mut self, op: OpId) -> bool {
        let m = self.m();
        let operands: Vec<ValueId> = m.operands(op).collect();
        if m.op_name_str(op) == "tf._Predicate" {
            // Of a number it is more than its element.
            let &[x] = &operands[..] else { return false };
            if scalar_type(m, m.value_type(x)) != Some(KnownType::I1.id()) {
                return false;
            }
            let scalar = self.scalar(x, op);
            self.r.replace_op(op, &[scalar]);
            return true;
        }
        let Some(operator) = tf::operator(m, op) else { return false };
        if operator == Op::Identity {
            self.pass(op, &operands);
            return false;
        }
        if operator == Op::LogicalNot {
            return self.not(op, &operands);
        }
        if let Some(scalar) = self.sequence(op, operator, &operands) {
            self.become_value(op, scalar);
            return true;
        }
        let m = self.m();
        let types: Vec<TypeId> =
            operands.iter().map_while(|&value| scalar_type(m, m.value_type(value))).collect();
        let results: Vec<ValueId> = m.results(op).collect();
        let (&[a, b], &[of_a, of_b], &[result, ref completion @ ..]) =
            (&operands[..], &types[..], &results[..])
        else {
            return false;
        };
        let Some(of_result) = scalar_type(m, m.value_type(result)) else { return false };
        let is_waited_for = completion.iter().any(|&chain| !m.is_unused(chain));
        let Some((name, number)) = kernel_of(operator, of_a) else { return false };
        if of_a != of_b || is_waited_for {
            return false;
        }
        let (a, b) = (self.scalar(a, op), self.scalar(b, op));
        let number = number.map(|number| ("predicate", self.r.cx().int_attr(KnownType::I64.id(), number)));
        let attrs: Vec<(&str, AttrId)> = number.into_iter().collect();
        self.become_scalar(op, name, &[a, b], of_result, &attrs);
        true
    }

    /// Replaces an op by a kernel on scalars and the tensor of its result. Nothing waits for the op.
    fn become_scalar(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[ValueId],
        ty: TypeId,
        attrs: &[(&str, AttrId)],
    ) {
        let scalar = self.kernel(op, name, operands, ty, attrs);
        self.become_value(op, scalar);
    }

    /// A kernel on scalars in front of an op.
    fn kernel(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[ValueId],
        ty: TypeId,
        attrs: &[(&str, AttrId)],
    ) -> ValueId {
        let (at, loc) = (InsertionPoint::Before(op), self.m().loc(op));
        let made = self.r.create_named(at, loc, name, operands, &[ty], attrs);
        self.m().result(made, 0)
    }

    /// A constant scalar in front of an op.
    fn number(&mut self, op: OpId, ty: TypeId, value: i64) -> ValueId {
        let value = self.r.cx().int_attr(ty, value);
        self.kernel(op, "arith.constant", &[], ty, &[("value", value)])
    }

    /// The scalar that operators compute which are no single binary kernel, if nothing waits for the op.
    fn sequence(&mut self, op: OpId, operator: Op, operands: &[ValueId]) -> Option<ValueId> {
        let m = self.m();
        let types: Vec<TypeId> =
            operands.iter().map(|&value| scalar_type(m, m.value_type(value))).collect::<Option<_>>()?;
        let mut results = m.results(op);
        let to = scalar_type(m, m.value_type(results.next()?))?;
        if results.any(|chain| !m.is_unused(chain)) {
            return None;
        }
        let from = *types.first()?;
        let is = |known: KnownType| from == known.id();
        let is_int = is(KnownType::I32) || is(KnownType::I64);
        let is_float = is(KnownType::F32) || is(KnownType::F64);
        match (operator, operands) {
            (Op::SelectV2 | Op::Select, &[condition, a, b]) if is(KnownType::I1) && types[1] == types[2] => {
                let scalars = [condition, a, b].map(|tensor| self.scalar(tensor, op));
                Some(self.kernel(op, "arith.select", &scalars, to, &[]))
            }
            (Op::Cast, &[x]) => {
                let name = cast_kernel(from, to)?;
                let x = self.scalar(x, op);
                Some(self.kernel(op, name, &[x], to, &[]))
            }
            (Op::Neg, &[x]) if is_float => {
                let x = self.scalar(x, op);
                Some(self.kernel(op, "arith.negf", &[x], to, &[]))
            }
            (Op::Neg, &[x]) if is_int => {
                let (zero, x) = (self.number(op, to, 0), self.scalar(x, op));
                Some(self.kernel(op, "arith.subi", &[zero, x], to, &[]))
            }
            (Op::Abs, &[x]) if is_int || is_float => {
                let x = self.scalar(x, op);
                Some(self.kernel(op, if is_int { "math.absi" } else { "math.absf" }, &[x], to, &[]))
            }
            (Op::Square, &[x]) if is_int || is_float => {
                let x = self.scalar(x, op);
                Some(self.kernel(op, if is_int { "arith.muli" } else { "arith.mulf" }, &[x, x], to, &[]))
            }
            (Op::FloorDiv | Op::FloorMod, &[a, b]) if is_int && types[1] == from => {
                // Neither zero nor an overflow.
                let divisor = query::ints(m, b)?.first().copied().filter(|&divisor| divisor > 0)?;
                let (a, b) = (self.scalar(a, op), self.number(op, to, divisor));
                if operator == Op::FloorDiv {
                    return Some(self.kernel(op, "arith.floordivsi", &[a, b], to, &[]));
                }
                let rest = self.kernel(op, "arith.remsi", &[a, b], to, &[]);
                let zero = self.number(op, to, 0);
                let less = self.r.cx().int_attr(KnownType::I64.id(), 2);
                let negative =
                    self.kernel(op, "arith.cmpi", &[rest, zero], KnownType::I1.id(), &[("predicate", less)]);
                let wrapped = self.kernel(op, "arith.addi", &[rest, b], to, &[]);
                Some(self.kernel(op, "arith.select", &[negative, wrapped, rest], to, &[]))
            }
            (Op::LeftShift | Op::RightShift, &[a, b]) if is_int && types[1] == from => {
                let bits = if is(KnownType::I32) { 32 } else { 64 };
                let distance = query::ints(m, b)?.first().copied().filter(|at| (0..bits).contains(at))?;
                let (a, b) = (self.scalar(a, op), self.number(op, to, distance));
                let name = if operator == Op::LeftShift { "arith.shli" } else { "arith.shrsi" };
                Some(self.kernel(op, name, &[a, b], to, &[]))
            }
            _ => None,
        }
    }

    /// Replaces an op by the tensor of a scalar.
    fn become_value(&mut self, op: OpId, scalar: ValueId) {
        let mut values: Vec<ValueId> = self.m().results(op).collect();
        let at = InsertionPoint::Before(op);
        values[0] = boxed(self.r, scalar, self.m().value_type(values[0]), op, at);
        self.scalars.insert(values[0], scalar);
        self.r.replace_op(op, &values);
    }

    /// Replaces a LogicalNot of a scalar.
    fn not(&mut self, op: OpId, operands: &[ValueId]) -> bool {
        let m = self.m();
        let results: Vec<ValueId> = m.results(op).collect();
        let (&[x], &[result]) = (operands, &results[..]) else { return false };
        let bool = KnownType::I1.id();
        if [x, result].iter().any(|&value| scalar_type(m, m.value_type(value)) != Some(bool)) {
            return false;
        }
        let x = self.scalar(x, op);
        let (at, loc, yes) = (InsertionPoint::Before(op), self.m().loc(op), self.r.cx().bool_attr(true));
        let yes = self.r.create_named(at, loc, "arith.constant", &[], &[bool], &[("value", yes)]);
        let operands = [x, self.m().result(yes, 0)];
        self.become_scalar(op, "arith.xori", &operands, bool, &[]);
        true
    }

    /// Drops an Identity that nothing waits for: the completion that kept it has become unused.
    fn pass(&mut self, op: OpId, operands: &[ValueId]) {
        let m = self.m();
        let mut results = m.results(op);
        let (&[value], Some(result)) = (operands, results.next()) else { return };
        if m.value_type(value) == m.value_type(result) && results.all(|chain| m.is_unused(chain)) {
            let values: Vec<ValueId> =
                m.results(op).map(|old| if old == result { value } else { old }).collect();
            self.r.replace_op(op, &values);
        }
    }

    /// The element of a tensor of rank 0, at its first use by `user`.
    fn scalar(&mut self, tensor: ValueId, user: OpId) -> ValueId {
        if let Some(&known) = self.scalars.get(&tensor) {
            return known;
        }
        let scalar = element(self.r, tensor, InsertionPoint::Before(user), user);
        self.scalars.insert(tensor, scalar);
        scalar
    }
}

/// The tensor of a scalar.
fn boxed(r: &mut Rewriter<'_>, scalar: ValueId, ty: TypeId, from: OpId, at: InsertionPoint) -> ValueId {
    let loc = r.ir().loc(from);
    let made = r.create_named(at, loc, FROM_ELEMENTS, &[scalar], &[ty], &[]);
    r.ir().result(made, 0)
}

/// The element of a tensor that is known without a kernel that runs: of `from_elements`, or of a constant,
/// for which one is made.
fn known_element(r: &mut Rewriter<'_>, tensor: ValueId, at: InsertionPoint) -> Option<ValueId> {
    let m = r.ir();
    let op = m.defining_op(tensor)?;
    if m.op_name_str(op) == FROM_ELEMENTS {
        return m.operands(op).next();
    }
    let ty = scalar_type(m, m.value_type(tensor))?;
    let value = m.attr(op, names::VALUE).filter(|_| is_constant(m, op))?;
    let element = Constant::read(&m.cx, value)?.single()?;
    let loc = m.loc(op);
    let value = Constant::of(element).write(r.cx(), ty)?;
    let made = r.create_named(at, loc, "arith.constant", &[], &[ty], &[("value", value)]);
    Some(r.ir().result(made, 0))
}

/// True for a constant that nothing has to be waited for.
fn is_constant(m: &Module, op: OpId) -> bool {
    tf::operator(m, op) == Some(Op::Const) && m.n_operands(op) == 0
}

/// The element of a tensor of rank 0.
fn element(r: &mut Rewriter<'_>, tensor: ValueId, at: InsertionPoint, from: OpId) -> ValueId {
    if let Some(known) = known_element(r, tensor, at) {
        return known;
    }
    let m = r.ir();
    let (loc, ty) = (m.loc(from), m.cx.element(m.value_type(tensor)));
    let made = r.create_named(at, loc, EXTRACT, &[tensor], &[ty], &[]);
    r.ir().result(made, 0)
}

/// Private functions and the ops that use them: all functions take the operands of each op from `first` on,
/// and give its results.
struct CallSites {
    ops: Vec<OpId>,
    callees: Vec<OpId>,
    first: usize,
    /// The results are the arguments of the next iteration.
    is_loop: bool,
}

/// Makes arguments and results of functions scalars where one side has the scalar. Returns their number.
fn ports(r: &mut Rewriter<'_>) -> u64 {
    let mut n = 0;
    // What becomes scalar in one function can make it possible in its callers.
    loop {
        let changed: u64 = call_sites(r.ir()).into_iter().map(|mut sites| sites.ports(r)).sum();
        n += changed;
        if changed == 0 {
            return n;
        }
    }
}

/// The private functions that one loop or branch uses, or any number of calls.
fn call_sites(m: &Module) -> Vec<CallSites> {
    let functions = functions(m);
    let mut users: FxHashMap<StrId, Vec<OpId>> = FxHashMap::default();
    let mut order = Vec::new();
    for op in m.walk_functions() {
        let used = callees(m, op);
        used.iter().for_each(|&name| users.entry(name).or_default().push(op));
        order.push((op, used));
    }
    let own = |name: &StrId| {
        let function = *functions.get(name)?;
        (m.is_private(function) && body_of(m, function).is_some()).then_some(function)
    };
    let mut found = Vec::new();
    for (op, used) in order {
        let (first, is_loop) = match m.op_name_str(op) {
            "tfrt.while" => (1, true),
            "tfrt.cond" | "tfrt.case" => (1, false),
            "tfrt.call" => (0, false),
            _ => continue,
        };
        let Some(callees) = used.iter().map(own).collect::<Option<Vec<OpId>>>() else { continue };
        let ops = match &used[..] {
            // All calls of a function, at the first one.
            [name] if first == 0 && users[name].first() == Some(&op) => users[name].clone(),
            names if names.iter().all(|name| users[name].len() == 1) => vec![op],
            _ => continue,
        };
        if ops.len() == 1 || ops.iter().all(|&op| m.op_name_str(op) == "tfrt.call") {
            found.push(CallSites { ops, callees, first, is_loop });
        }
    }
    found
}

impl CallSites {
    /// Makes ports scalars. Returns their number.
    fn ports(&mut self, r: &mut Rewriter<'_>) -> u64 {
        let m = r.ir();
        let blocks: Vec<BlockId> = self.callees.iter().filter_map(|&function| body_of(m, function)).collect();
        let Some(&first_op) = self.ops.first() else { return 0 };
        let args: FxHashSet<usize> = (0..m.n_operands(first_op) - self.first)
            .filter(|&i| self.has_scalar_argument(m, &blocks, i))
            .collect();
        let results: FxHashSet<usize> =
            (0..m.n_results(first_op)).filter(|&i| self.has_scalar_result(m, &blocks, i)).collect();
        let (mut args, mut results): (Vec<usize>, Vec<usize>) = if self.is_loop {
            // An argument and the result of its number are one variable.
            let fits = |&i: &usize| self.is_variable(m, &blocks, i);
            let both: Vec<usize> = args.union(&results).copied().filter(fits).collect();
            (both.clone(), both)
        } else {
            (args.into_iter().collect(), results.into_iter().collect())
        };
        args.sort_unstable();
        results.sort_unstable();
        for &i in &args {
            blocks.iter().for_each(|&block| scalar_argument(r, block, i));
            for &op in &self.ops {
                let operand = r.ir().operand(op, self.first + i);
                let scalar = element(r, operand, InsertionPoint::Before(op), op);
                r.set_operand(op, self.first + i, scalar);
            }
        }
        for &i in &results {
            for &block in &blocks {
                let (Some(end), Some(value)) = (r.ir().last_op(block), returned(r.ir(), block, i)) else {
                    continue;
                };
                let scalar = element(r, value, InsertionPoint::Before(end), end);
                r.set_operand(end, i, scalar);
            }
        }
        if !results.is_empty() {
            self.ops.iter().for_each(|&op| retype(r, op, &results));
        }
        (args.len() + results.len()) as u64
    }

    /// True if all agree that argument `i` is a tensor of rank 0, and one has or wants its element.
    fn has_scalar_argument(&self, m: &Module, blocks: &[BlockId], i: usize) -> bool {
        let operands = self.ops.iter().map(|&op| m.operands(op).nth(self.first + i));
        let args = blocks.iter().map(|&block| m.args(block).get(i).copied());
        let (Some(operands), Some(args)) =
            (operands.collect::<Option<Vec<ValueId>>>(), args.collect::<Option<Vec<ValueId>>>())
        else {
            return false;
        };
        are_scalars(m, operands.iter().chain(&args))
            && (args.iter().any(|&arg| is_read(m, arg)) || operands.iter().any(|&value| is_made(m, value)))
    }

    /// True if all agree that result `i` is a tensor of rank 0, and its element is at hand where it is
    /// returned.
    fn has_scalar_result(&self, m: &Module, blocks: &[BlockId], i: usize) -> bool {
        let results: Vec<ValueId> = self.ops.iter().filter_map(|&op| m.results(op).nth(i)).collect();
        let returned = blocks.iter().map(|&block| returned(m, block, i));
        let Some(values) = returned.collect::<Option<Vec<ValueId>>>() else { return false };
        let are_read = results.iter().any(|&result| is_read(m, result));
        let is_known = |&value: &ValueId| match m.defining_op(value) {
            Some(op) => is_made(m, value) || is_constant(m, op),
            // What is read here of an argument is read there.
            None => are_read,
        };
        results.len() == self.ops.len()
            && are_scalars(m, results.iter().chain(&values))
            && values.iter().all(is_known)
    }

    /// True if what goes around as number `i` in a loop has one type.
    fn is_variable(&self, m: &Module, blocks: &[BlockId], i: usize) -> bool {
        let (Some(&op), Some(&block)) = (self.ops.first(), blocks.first()) else { return false };
        let values = [m.operands(op).nth(1 + i), m.results(op).nth(i), returned(m, block, i)];
        let arg = m.args(block).get(i).copied();
        let values: Option<Vec<ValueId>> = values.into_iter().chain([arg]).collect();
        values.is_some_and(|values| are_scalars(m, values.iter()))
    }
}

/// True if these are tensors of rank 0 of one type.
fn are_scalars<'v>(m: &Module, values: impl Iterator<Item = &'v ValueId>) -> bool {
    let mut types = values.map(|&value| m.value_type(value));
    types.next().is_some_and(|first| scalar_type(m, first).is_some() && types.all(|ty| ty == first))
}

/// True if the element of a tensor is extracted.
fn is_read(m: &Module, value: ValueId) -> bool {
    m.users(value).any(|(user, _)| m.op_name_str(user) == EXTRACT)
}

/// Gives the results of an op with these numbers their element types.
fn retype(r: &mut Rewriter<'_>, op: OpId, results: &[usize]) {
    let tensors: Vec<TypeId> = r.ir().results(op).map(|value| r.ir().value_type(value)).collect();
    let mut types = tensors.clone();
    for &i in results {
        types[i] = r.ir().cx.element(types[i]);
    }
    let operands: Vec<ValueId> = r.ir().operands(op).collect();
    let new = r.rebuild(op, &operands, &types);
    let mut values: Vec<ValueId> = r.ir().results(new).collect();
    for &i in results.iter().rev() {
        values[i] = boxed(r, values[i], tensors[i], new, InsertionPoint::After(new));
    }
    r.replace_op(op, &values);
}

/// True if a tensor is made of its element.
fn is_made(m: &Module, value: ValueId) -> bool {
    m.defining_op(value).is_some_and(|op| m.op_name_str(op) == FROM_ELEMENTS)
}

/// Result `i` of a function's block.
fn returned(m: &Module, block: BlockId, i: usize) -> Option<ValueId> {
    m.operands(m.last_op(block)?).nth(i)
}

/// Makes argument `i` of a function's block a scalar.
fn scalar_argument(r: &mut Rewriter<'_>, block: BlockId, i: usize) {
    let arg = r.ir().args(block)[i];
    let ty = r.ir().value_type(arg);
    let users: Vec<OpId> = r.ir().users(arg).map(|(user, _)| user).collect();
    let scalar = r.ir().cx.element(ty);
    let Some(first) = r.ir().first_op(block) else { return };
    let tensor = boxed(r, arg, ty, first, InsertionPoint::Start(block));
    let (reads, others): (Vec<OpId>, Vec<OpId>) =
        users.into_iter().partition(|&user| r.ir().op_name_str(user) == EXTRACT);
    // First, while only what needs the tensor has the argument as an operand.
    for user in others {
        let operands: Vec<ValueId> =
            r.ir().operands(user).map(|value| if value == arg { tensor } else { value }).collect();
        r.set_operands(user, &operands);
    }
    reads.into_iter().for_each(|user| r.replace_op(user, &[arg]));
    r.set_type(arg, scalar);
}

/// Replaces what is extracted from a tensor that has become one of a known element, and erases what has
/// become unused.
fn clean(r: &mut Rewriter<'_>, block: BlockId) {
    let ops: Vec<OpId> = r.ir().ops_in(block).collect();
    for &op in &ops {
        if r.ir().op_name_str(op) == EXTRACT
            && let Some(known) = known_element(r, r.ir().operand(op, 0), InsertionPoint::Before(op))
        {
            r.replace_op(op, &[known]);
        }
    }
    for op in ops.into_iter().rev() {
        if !r.ir().is_erased(op) && is_trivially_dead(r.ir(), op) {
            r.erase(op);
        }
    }
}
