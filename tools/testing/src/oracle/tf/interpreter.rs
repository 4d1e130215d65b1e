//! Functions and blocks: the values of one invocation, errors, and the order of effects.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use befrost_compiler::dialects::{Traits, tf};
use befrost_compiler::ir::{AttrKind, BlockId, KnownType, Module, OpId, StrId, ValueId};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::{Attributes, Effect, OpRow, row};

use super::state::{Cx, Strictness, TfExecution};
use super::value::TfValue;
use super::variables::VariableStore;
use super::{arrays, checks, control, functions, generators, lists, optionals, stacks, updates, variables};
use crate::oracle::Refusal;
use crate::oracle::frames::{Stop, place};
use crate::oracle::value::OracleError;

/// Maximum number of ops of one call: loops that do not end are refused.
const MAX_OPS: usize = 1 << 22;

/// Maximum nesting depth of function and region bodies: the interpreter recurs for each.
const MAX_DEPTH: usize = 100;

/// The values of one invocation of a function and of its regions.
pub(super) type Env = HashMap<ValueId, TfValue>;

pub(super) struct TfInterpreter<'m, 'v> {
    pub(super) module: &'m Module,
    pub(super) strictness: Strictness,
    variables: &'v mut VariableStore,
    allocator: Arc<dyn Allocator>,
    /// The functions that have effects.
    effectful: HashSet<StrId>,
    printed: Vec<String>,
    /// The first failure of an effect.
    broken: Option<Rc<OracleError>>,
    depth: usize,
    n_ops: usize,
}

pub(super) fn call(
    module: &Module,
    function: &str,
    arguments: &[TfValue],
    variables: &mut VariableStore,
    strictness: Strictness,
) -> Result<TfExecution, Refusal> {
    let mut interpreter = TfInterpreter {
        module,
        strictness,
        variables,
        allocator: Malloc::shared(),
        effectful: effectful(module),
        printed: Vec::new(),
        broken: None,
        depth: 0,
        n_ops: 0,
    };
    let name = module.cx.find_str(function).ok_or_else(|| Refusal(format!("no function @{function}")))?;
    let block = interpreter.body(name)?;
    let (want, got) = (module.args(block).len(), arguments.len());
    if want != got {
        return Err(Refusal(format!("@{function} takes {want} arguments, got {got}")));
    }
    let mut results = interpreter.block(block, arguments.to_vec(), &mut Env::new())?;
    let TfInterpreter { printed, broken, .. } = interpreter;
    if let Some(failure) = &broken {
        for result in results.iter_mut().filter(|result| result.error().is_none()) {
            *result = TfValue::Error(failure.clone());
        }
    }
    Ok(TfExecution { results, printed, is_cut_short: broken.is_some() })
}

/// The functions with an op that has an effect, or that call such a function.
fn effectful(m: &Module) -> HashSet<StrId> {
    let mut found = HashSet::new();
    loop {
        let n = found.len();
        for function in m.functions() {
            if m.walk(function).any(|op| op != function && has_effect(m, &found, op)) {
                found.extend(m.symbol_name(function));
            }
        }
        if found.len() == n {
            return found;
        }
    }
}

fn has_effect(m: &Module, effectful: &HashSet<StrId>, op: OpId) -> bool {
    let Some(name) = tf::op_of(m.op_name_str(op)) else { return false };
    if control::is_control(name) {
        return control::callees(m, op).iter().any(|callee| effectful.contains(callee))
            || m.walk(op).any(|inner| inner != op && has_effect(m, effectful, inner));
    }
    let is_pure = m.def(op).is_some_and(|def| def.effects.are_allocations());
    !is_pure && name != "NoOp" && name != "Yield"
}

/// The first error among values.
pub(super) fn first_error<'v>(values: impl IntoIterator<Item = &'v TfValue>) -> Option<Rc<OracleError>> {
    values.into_iter().find_map(|value| value.error().cloned())
}

impl TfInterpreter<'_, '_> {
    /// The only block of a function's body.
    pub(super) fn body(&self, name: StrId) -> Result<BlockId, Refusal> {
        let m = self.module;
        let text = m.cx.str(name);
        let function = m.find_function(text).ok_or_else(|| Refusal(format!("no function @{text}")))?;
        self.region(function, 0)
    }

    /// The only block of one of an op's regions.
    pub(super) fn region(&self, op: OpId, i: usize) -> Result<BlockId, Refusal> {
        let m = self.module;
        match m.regions_of(op).get(i).map(|&region| m.blocks_of(region)) {
            Some([block]) => Ok(*block),
            _ => Err(Refusal(format!("'{}' without a region of one block", m.op_name_str(op)))),
        }
    }

    /// Calls a function of the module.
    pub(super) fn call(&mut self, name: StrId, arguments: Vec<TfValue>) -> Result<Vec<TfValue>, Refusal> {
        let block = self.body(name)?;
        let n_results = self.module.last_op(block).map_or(0, |end| self.module.n_operands(end));
        let broken = self.broken.clone().filter(|_| self.effectful.contains(&name));
        let strict = self.strictness == Strictness::Strict;
        let error = first_error(arguments.iter().filter(|_| strict)).or(broken);
        if let Some(failure) = error {
            if self.effectful.contains(&name) {
                self.broken.get_or_insert_with(|| failure.clone());
            }
            return Ok(vec![TfValue::Error(failure); n_results]);
        }
        self.block(block, arguments, &mut Env::new())
    }

    /// Runs the ops of a block. Returns the operands of its terminator.
    pub(super) fn block(
        &mut self,
        block: BlockId,
        arguments: Vec<TfValue>,
        env: &mut Env,
    ) -> Result<Vec<TfValue>, Refusal> {
        let m = self.module;
        let n_args = m.args(block).len();
        if n_args != arguments.len() {
            return Err(Refusal(format!("{} arguments for a block that takes {n_args}", arguments.len())));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal(format!("calls nested more than {MAX_DEPTH} deep")));
        }
        env.extend(m.args(block).iter().copied().zip(arguments));
        for op in m.ops_in(block) {
            self.n_ops += 1;
            if self.n_ops > MAX_OPS {
                return Err(Refusal(format!("more than {MAX_OPS} ops")));
            }
            let operands = m
                .operands(op)
                .map(|value| env.get(&value).cloned())
                .collect::<Option<Vec<TfValue>>>()
                .ok_or_else(|| Refusal(format!("'{}' before its operands", m.op_name_str(op))))?;
            if m.def(op).is_some_and(|def| def.traits.has(Traits::TERMINATOR)) {
                self.depth -= 1;
                return Ok(operands);
            }
            let results = self.op(op, operands, env)?;
            env.extend(m.results(op).zip(results));
        }
        Err(Refusal("a block without an end".to_owned()))
    }

    /// Runs an op. Returns its results; the last one is its completion, if it has one.
    fn op(&mut self, op: OpId, operands: Vec<TfValue>, env: &mut Env) -> Result<Vec<TfValue>, Refusal> {
        let m = self.module;
        let full_name = m.op_name_str(op);
        let Some(name) = tf::op_of(full_name) else {
            return Err(Refusal(format!("it does not know '{full_name}'")));
        };
        let has_effect = has_effect(m, &self.effectful, op);
        let n_data = tf::n_data_results(m, op);
        let (mut results, failure) = if control::is_control(name) {
            let results = control::run(self, op, name, operands, env)?;
            // The completion of an op with effects is that of its effects. Any other op completes with its
            // results.
            let failed = first_error(&results).filter(|_| !has_effect);
            let failure = self.earlier_failure(op).or(failed);
            (results, failure)
        } else {
            match self.leaf(op, name, &operands, has_effect)? {
                Ok(results) => (results, None),
                Err(failure) => (vec![TfValue::Error(failure.clone()); n_data], Some(failure)),
            }
        };
        if results.len() < n_data {
            return Err(Refusal(format!("'{full_name}' gave {} results of {n_data}", results.len())));
        }
        results.truncate(n_data);
        // An error among the results of control flow does not stop later effects. A failed effect inside it
        // does, and is recorded where it fails.
        if has_effect
            && !control::is_control(name)
            && let Some(failure) = &failure
        {
            self.broken.get_or_insert_with(|| failure.clone());
        }
        if m.n_results(op) > n_data {
            results.push(failure.map_or(TfValue::Chain, TfValue::Error));
        }
        Ok(results)
    }

    /// Runs an op that calls nothing. Returns its results, or the failure.
    fn leaf(
        &mut self,
        op: OpId,
        name: &str,
        operands: &[TfValue],
        has_effect: bool,
    ) -> Result<Result<Vec<TfValue>, Rc<OracleError>>, Refusal> {
        let m = self.module;
        let broken = self.broken.clone().filter(|_| has_effect);
        if let Some(failure) = first_error(operands).or(broken) {
            return Ok(Err(failure));
        }
        match self.evaluate(op, name, &operands[..tf::n_data_operands(m, op)]) {
            Ok(results) => Ok(Ok(results)),
            Err(Stop::Fails { code, message, .. }) => {
                let trace = place(m, m.loc(op)).into_iter().collect();
                Ok(Err(Rc::new(OracleError { code, message, trace })))
            }
            Err(Stop::Refused(why)) => Err(Refusal(format!("'tf.{name}': {why}"))),
        }
    }

    /// Records the failure of an op with effects, if it is the first.
    pub(super) fn record_failure(&mut self, op: OpId, failure: &Rc<OracleError>) {
        if has_effect(self.module, &self.effectful, op) {
            self.broken.get_or_insert_with(|| failure.clone());
        }
    }

    /// The first failure of an effect, if the op has effects and so comes after it.
    pub(super) fn earlier_failure(&self, op: OpId) -> Option<Rc<OracleError>> {
        self.broken.clone().filter(|_| has_effect(self.module, &self.effectful, op))
    }

    /// Counts an iteration as an op, so that a loop without ops ends.
    pub(super) fn iterate(&mut self) -> Result<(), Refusal> {
        self.n_ops += 1;
        if self.n_ops > MAX_OPS { Err(Refusal("a loop that does not end".to_owned())) } else { Ok(()) }
    }

    /// Evaluates an op that calls nothing, none of whose operands is an error.
    fn evaluate(&mut self, op: OpId, name: &str, operands: &[TfValue]) -> Result<Vec<TfValue>, Stop> {
        let m = self.module;
        match (name, operands) {
            ("Const", []) => return constant(m, op, &self.allocator),
            ("NoOp", _) => return Ok(Vec::new()),
            (
                "Identity" | "PreventGradient" | "Snapshot" | "StopGradient" | "PlaceholderWithDefault",
                [x],
            ) => {
                return Ok(vec![x.clone()]);
            }
            ("IdentityN", xs) => return Ok(xs.to_vec()),
            ("_ReadRef", refs) => {
                return refs.iter().map(|x| variables::read(x).map(TfValue::Tensor)).collect();
            }
            _ => {}
        }
        let signature = row(name).map(OpRow::signature);
        let signature = signature.ok_or_else(|| Stop::Refused("it has no signature".to_owned()))?;
        let given = tf::attrs_of(m, op, signature);
        let attrs = &Attributes::new(signature, &given);
        let allocator = &self.allocator;
        let mut cx = Cx { op, variables: self.variables, printed: &mut self.printed, allocator };
        for evaluate in [
            variables::evaluate,
            generators::evaluate,
            updates::evaluate,
            lists::evaluate,
            arrays::evaluate,
            stacks::evaluate,
            optionals::evaluate,
            checks::evaluate,
        ] {
            if let Some(results) = evaluate(name, operands, attrs, &mut cx)? {
                return Ok(results);
            }
        }
        let tensors = operands.iter().map(TfValue::tensor).collect::<Result<Vec<_>, _>>()?;
        // The generator of a random op continues where its last evaluation ended.
        if row(name).is_some_and(|row| row.effect() == Effect::Allocate) {
            let eval = match self.variables.drawing.entry(op) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(functions::prepared(attrs)?),
            };
            return Ok(eval(&tensors, allocator)?.into_iter().map(TfValue::Tensor).collect());
        }
        let results = functions::evaluate(attrs, &tensors, allocator)?;
        Ok(results.into_iter().map(TfValue::Tensor).collect())
    }
}

/// The value of a `tf.Const`.
fn constant(m: &Module, op: OpId, allocator: &Arc<dyn Allocator>) -> Result<Vec<TfValue>, Stop> {
    let refused = || Stop::Refused("a constant that it cannot read".to_owned());
    let attr = m.attr_named(op, "value").ok_or_else(refused)?;
    let AttrKind::DenseStrings { ty, splat, strings } = m.cx.attr(attr) else {
        let x = tf::dense_tensor(&m.cx, attr, allocator).ok_or_else(refused)?;
        return Ok(vec![TfValue::Tensor(x)]);
    };
    let (dims, _) = m.cx.ty(*ty).shaped().ok_or_else(refused)?;
    let shape = befrost_tensor::Shape::from_i64(dims.ok_or_else(refused)?)?;
    let n = if *splat { shape.num_elements() } else { 1 };
    let texts: Vec<&[u8]> =
        strings.iter().filter_map(|&text| m.cx.string_bytes(text)).collect::<Vec<_>>().repeat(n);
    Ok(vec![TfValue::Strings(befrost_tensor::StringTensor::new(shape, &texts, allocator)?)])
}

/// True if a value is a control edge.
pub(super) fn is_chain(m: &Module, value: ValueId) -> bool {
    m.value_type(value) == KnownType::Chain.id()
}
