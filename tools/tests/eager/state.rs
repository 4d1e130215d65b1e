//! Each op on variables, on random operands, valid and invalid: one by one in the eager core, by compiled
//! functions of one op, as a compiled program, and by the oracle.
//!
//! ```text
//! variables with values ──op──▶ results, and the variables' values after it, or the error of the op
//! ```
//!
//! Also with operands that are lent, and overwritten when the op has ended: no variable keeps them.

use befrost::eager::{AttrValue, ChainHandle, CoreRuntime, OpAttrs, TensorHandle, function_of_op};
use befrost::{Datum, HostTensor, Runtime, Shape};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_kernels::Operator;
use befrost_tensor::DType;
use befrost_tensor::mem::Buffer;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{ArgType, Derived, Effect, OpRow, Operand, Type, rows};
use befrost_testing::dice::Dice;
use befrost_testing::oracle::tf::{self as oracle, Strictness, TfValue, VariableStore};

use super::{Answer, CASES, Given, INDICES, dice_of, malloc, numbers, random_attr, same};

/// An op on variables, with their values before it.
struct StateCase {
    row: &'static OpRow,
    before: Vec<HostTensor>,
    operands: Vec<Given>,
    attrs: OpAttrs,
}

/// The code and the message of an error.
fn failed(error: befrost::Error) -> (String, String) {
    (error.code().to_string(), error.message().to_owned())
}

/// Calls `f` with buffers over all of these bytes, which are lent for the time of the call.
fn lend_all<R>(bytes: &[Vec<u8>], mut lent: Vec<Buffer>, f: impl FnOnce(Vec<Buffer>) -> R) -> R {
    match bytes.split_first() {
        None => f(lent),
        Some((first, others)) => Buffer::lend(first, |buffer| {
            lent.push(buffer.clone());
            lend_all(others, lent, f)
        }),
    }
}

/// True for an op whose only resources are variables.
fn is_of_variables(row: &'static OpRow) -> bool {
    let signature = row.signature();
    let resources = signature.inputs.iter().filter(|arg| arg.ty == ArgType::Is(Type::Resource));
    let are_single = resources.clone().all(|arg| arg.number.is_none());
    let others = ["Table", "TensorArray", "Stack", "Queue", "Destroy", "Rng", "_"];
    resources.count() > 0
        && are_single
        && !matches!(row.effect(), Effect::Pure | Effect::OfCallees)
        && Operator::is_known(row)
        && !others.iter().any(|other| row.name.contains(other))
}

/// The shape of an operand by its name: a learning rate is a number, an update has rows for the indices.
fn shape_of(name: &str, base: &[usize], n_indices: usize, dice: &mut Dice) -> Vec<usize> {
    match name {
        _ if dice.below(25) == 0 => vec![dice.below(4)],
        "indices" => vec![n_indices],
        "updates" => [&[n_indices], base.get(1..).unwrap_or_default()].concat(),
        "begin" | "end" | "strides" => vec![base.len()],
        "grad" | "value" | "delta" | "gradient" => base.to_vec(),
        _ => Vec::new(),
    }
}

impl StateCase {
    fn random(row: &'static OpRow, seed: u64) -> StateCase {
        let dice = &mut dice_of(row, seed);
        let base: &[usize] = [&[3][..], &[2, 3], &[], &[4, 2, 2], &[0, 2]][dice.below(5)];
        let dtype = [DType::F32, DType::F32, DType::F32, DType::F64, DType::I32, DType::F16][dice.below(6)];
        let is_sparse = row.name.contains("Sparse");
        let n_indices = dice.below(4);
        let (mut before, mut operands, mut indices) = (Vec::new(), Vec::new(), DType::I32);
        for arg in &row.signature().inputs {
            let shape = shape_of(arg.name, base, n_indices, dice);
            let shape = match arg.name {
                "grad" if is_sparse => shape_of("updates", base, n_indices, dice),
                _ => shape,
            };
            let tensor = |dice: &mut Dice, dtype, shape: &[usize], is_index| {
                numbers(dice, dtype, &Shape::new(shape).expect("a small shape"), is_index)
            };
            match arg.ty {
                ArgType::Is(Type::Resource) => before.push(tensor(dice, dtype, base, false)),
                ArgType::Attr("Tindices" | "Index") | ArgType::Is(Type::Dense(DType::I32)) => {
                    if dice.below(5) == 0 {
                        indices = DType::I64;
                    }
                    operands.push(Given::Tensor(tensor(dice, indices, &shape, true)));
                }
                _ => {
                    let own = if dice.below(30) == 0 { DType::I8 } else { dtype };
                    let is_index = INDICES.contains(&arg.name);
                    operands.push(Given::Tensor(tensor(dice, own, &shape, is_index)));
                }
            }
        }
        let mut attrs = OpAttrs::new();
        for attr in &row.signature().attrs {
            let follows = |arg: &befrost_tensor::tf::op::Arg| matches!(arg.ty, ArgType::Attr(name) | ArgType::List(name) if name == attr.name);
            if row.signature().inputs.iter().any(follows) || attr.default.is_some() && dice.below(3) > 0 {
                continue;
            }
            let value = match attr.name {
                "dtype" | "T" => Some(AttrValue::Type(Type::Dense(dtype))),
                _ => random_attr(dice, attr, base),
            };
            value.into_iter().for_each(|value| _ = attrs.insert(attr.name, value));
        }
        StateCase { row, before, operands, attrs }
    }

    /// The values of the variables and then the other operands.
    fn arguments(&self) -> Vec<Given> {
        self.before.iter().cloned().map(Given::Tensor).chain(self.operands.iter().cloned()).collect()
    }

    /// The answer of a core, whose handler makes the op.
    fn eager(&self, core: &CoreRuntime, handler: &str) -> Answer {
        let (variables, mut answer) = self.perform(core, handler, self.arguments())?;
        answer.extend(self.read(core, &variables)?);
        Ok(answer)
    }

    /// [`StateCase::eager`] with lent operands, which are overwritten before the variables are read.
    fn lent(&self, core: &CoreRuntime) -> Answer {
        let mut bytes: Vec<Vec<u8>> = Vec::new();
        for given in self.arguments() {
            let Given::Tensor(x) = given else { return self.eager(core, "cpu") };
            // With memory of their own also if there are none: that of no bytes is not aligned.
            let mut own = Vec::with_capacity(64);
            own.extend_from_slice(&x.read_bytes().expect("nobody writes"));
            bytes.push(own);
        }
        let of = |given: Given, bytes: &Buffer| match given {
            Given::Tensor(x) => {
                let lent = HostTensor::from_buffer(x.dtype(), x.shape().clone(), bytes.clone());
                Given::Tensor(lent.expect("as many bytes"))
            }
            strings => strings,
        };
        let performed = lend_all(&bytes, Vec::new(), |buffers| {
            let arguments =
                self.arguments().into_iter().zip(&buffers).map(|(given, buffer)| of(given, buffer));
            self.perform(core, "cpu", arguments.collect())
        });
        bytes.iter_mut().for_each(|bytes| bytes.fill(0xff));
        let (variables, mut answer) = performed?;
        answer.extend(self.read(core, &variables)?);
        Ok(answer)
    }

    /// Makes the variables and executes the op. Returns the variables and the results.
    fn perform(
        &self,
        core: &CoreRuntime,
        handler: &str,
        arguments: Vec<Given>,
    ) -> Result<(Vec<TensorHandle>, Vec<TfValue>), (String, String)> {
        let (before, operands) = arguments.split_at(self.before.len());
        let mut variables = Vec::new();
        for (i, (value, given)) in self.before.iter().zip(before).enumerate() {
            let shape = PartialShape::from(value.shape());
            let attrs = OpAttrs::new()
                .set("dtype", Type::Dense(value.dtype()))
                .set("shape", AttrValue::Shape(shape))
                .set("shared_name", &*format!("v{i}"));
            let variable = core.execute("VarHandleOp", &[], &attrs).map_err(failed)?.remove(0);
            let set = [variable.clone(), given.handle()];
            core.execute("AssignVariableOp", &set, OpAttrs::new()).map_err(failed)?;
            variables.push(variable);
        }
        let args = variables.iter().cloned().chain(operands.iter().map(Given::handle)).collect();
        // An op without results tells its error by the chain.
        let mut chain = ChainHandle::new();
        let op = core.with_handler(handler).and_then(|core| core.op(self.row.op_name, &self.attrs));
        let results = op.map_err(failed)?.call_after(&mut chain, args).map_err(failed)?;
        chain.wait().map_err(failed)?;
        let mut made = Vec::new();
        for result in &results {
            let result = result.wait().map_err(failed)?;
            // A result may be an operand.
            made.push(TfValue::Tensor(result.kept(&malloc()).expect("memory")));
        }
        Ok((variables, made))
    }

    /// The values of the variables.
    fn read(&self, core: &CoreRuntime, variables: &[TensorHandle]) -> Answer {
        let mut values = Vec::new();
        for (variable, value) in variables.iter().zip(&self.before) {
            let attrs = OpAttrs::new().set("dtype", Type::Dense(value.dtype()));
            let read = core.execute("ReadVariableOp", std::slice::from_ref(variable), &attrs);
            values.push(TfValue::Tensor(read.map_err(failed)?[0].wait().map_err(failed)?));
        }
        Ok(values)
    }

    /// A program of the case: its function `main` takes [`StateCase::arguments`]. `None` if the op is
    /// refused.
    fn text(&self) -> Option<String> {
        let resource = || (Type::Resource, PartialShape::new(Vec::new()));
        let inputs: Vec<(Type, PartialShape)> =
            self.before.iter().map(|_| resource()).chain(self.operands.iter().map(Given::ty)).collect();
        let constant = |given: &Given| match given {
            Given::Tensor(x) => Some(x.clone()),
            Given::Strings(_) => None,
        };
        let constants: Vec<Option<HostTensor>> =
            self.before.iter().map(|_| None).chain(self.operands.iter().map(constant)).collect();
        let known = inputs.iter().zip(&constants);
        let operands: Vec<Operand<'_>> = known
            .map(|((ty, shape), constant)| Operand {
                constant: constant.as_ref(),
                ..Operand::new(*ty, shape.clone())
            })
            .collect();
        let frozen = self.attrs.freeze();
        let types = inputs.iter().map(|(ty, _)| Some(*ty)).collect();
        let attrs = Derived::new(self.row.signature(), &frozen, types, Vec::new());
        let results = self.row.infer(&attrs, &operands).ok()?;
        let results: Vec<_> = results.into_iter().map(|r| (r.ty, PartialShape::unknown())).collect();
        let function = function_of_op("op", self.row.op_name, &frozen, &inputs, &results).ok()?;

        let handle = "tensor<!tf_type.resource>";
        let dims = |x: &HostTensor| x.shape().dims().iter().map(|dim| format!("{dim}x")).collect::<String>();
        let typed = |x: &Given| match x {
            Given::Tensor(x) => format!("tensor<{}{}>", dims(x), x.dtype()),
            Given::Strings(_) => "tensor<*x!tf_type.string>".to_owned(),
        };
        let arguments = self.arguments();
        let n = self.before.len();
        let parameters: Vec<String> =
            arguments.iter().enumerate().map(|(i, x)| format!("%x{i}: {}", typed(x))).collect();
        let unknown = |ty: Type| match ty {
            Type::Dense(dtype) => format!("tensor<*x{dtype}>"),
            other => format!("tensor<*x!tf_type.{}>", other.name()),
        };
        let made: Vec<String> = match results.len() {
            0 => vec!["tensor<i1>".to_owned()],
            _ => results.iter().map(|(ty, _)| unknown(*ty)).collect(),
        };
        let read: Vec<String> = self.before.iter().map(|x| unknown(Type::Dense(x.dtype()))).collect();
        let mut body = String::new();
        for (i, x) in self.before.iter().enumerate() {
            let (ty, shape) = (typed(&arguments[i]), dims(x));
            body += &format!(
                "  %v{i} = \"tf.VarHandleOp\"() {{dtype = {}, shape = #tf_type.shape<{}>, shared_name = \"v{i}\"}} : () -> {handle}\n  \
                 \"tf.AssignVariableOp\"(%v{i}, %x{i}) : ({handle}, {ty}) -> ()\n",
                x.dtype(),
                shape.trim_end_matches('x'),
            );
        }
        let given: Vec<String> =
            (0..arguments.len()).map(|i| format!("%{}{i}", if i < n { "v" } else { "x" })).collect();
        let types: Vec<String> = arguments
            .iter()
            .enumerate()
            .map(|(i, x)| if i < n { handle.to_owned() } else { typed(x) })
            .collect();
        body += &format!(
            "  %r:{} = \"tf.StatefulPartitionedCall\"({}) {{f = @op, config = \"\", config_proto = \"\", executor_type = \"\"}} : ({}) -> ({})\n",
            made.len(),
            given.join(", "),
            types.join(", "),
            made.join(", "),
        );
        for (i, ty) in read.iter().enumerate() {
            let dtype = self.before[i].dtype();
            body +=
                &format!("  %s{i} = \"tf.ReadVariableOp\"(%v{i}) {{dtype = {dtype}}} : ({handle}) -> {ty}\n");
        }
        // The truth value of an op without results is not returned: its error is that of the reads.
        let n_made = results.len();
        let returned: Vec<String> =
            (0..n_made).map(|i| format!("%r#{i}")).chain((0..read.len()).map(|i| format!("%s{i}"))).collect();
        let all = made.iter().take(n_made).chain(&read).cloned().collect::<Vec<_>>().join(", ");
        let parameters = parameters.join(", ");
        let back = returned.join(", ");
        Some(format!(
            "{function}func.func @main({parameters}) -> ({all}) {{\n{body}  func.return {back} : {all}\n}}\n"
        ))
    }

    /// The answer of the oracle to a program of the case; `None` if it does not know the op.
    fn oracle(&self, text: &str) -> Option<Answer> {
        let module = verify(parse("main", text, &ParseOptions::default()).module?).ok()?;
        let arguments: Vec<TfValue> = self.arguments().iter().map(Given::oracle).collect();
        let mut variables = VariableStore::default();
        let made = oracle::call(&module, "main", &arguments, &mut variables, Strictness::Strict).ok()?;
        let error = made.results.iter().find_map(|result| result.error());
        Some(match error {
            Some(error) => Err((error.code.to_string(), error.message.clone())),
            None => Ok(made.results),
        })
    }

    /// The answer of the compiled program.
    fn compiled(&self, text: &str, runtime: &Runtime) -> Answer {
        let bef = befrost::compile(befrost::Source::Text(text.to_owned())).map_err(|e| failed(e.into()))?;
        let program = runtime.load_bytes(&bef).map_err(|error| failed(error.into()))?;
        let arguments = self.arguments().into_iter().map(|x| match x {
            Given::Tensor(x) => Datum::from(x),
            Given::Strings(x) => Datum::from(x),
        });
        let results = program.function("main").map_err(failed)?.call_ok(arguments).map_err(failed)?;
        results.iter().map(|x| x.tensor().cloned().map(TfValue::Tensor).map_err(failed)).collect()
    }

    fn check(&self, runtimes: &[Runtime]) -> Result<bool, String> {
        let found = self.eager(&runtimes[0].eager(), "cpu");
        for runtime in &runtimes[1..] {
            let other = self.eager(&runtime.eager(), "cpu");
            if !same(&other, &found) {
                return Err(format!("on another queue {other:?}\n  on s {found:?}"));
            }
        }
        let lent = self.lent(&runtimes[0].eager());
        if !same(&lent, &found) {
            return Err(format!("eager {found:?}\n  with lent operands {lent:?}"));
        }
        let compiling = self.eager(&runtimes[0].eager(), "compiling");
        if !same(&compiling, &found) {
            return Err(format!("eager {found:?}\n  compiled alone {compiling:?}"));
        }
        if let Some(text) = self.text() {
            let compiled = self.compiled(&text, &runtimes[0]);
            if !same(&compiled, &found) {
                return Err(format!("eager {found:?}\n  compiled {compiled:?}\n{text}"));
            }
            if let Some(want) = self.oracle(&text)
                && !same(&want, &found)
            {
                return Err(format!("eager {found:?}\n  oracle {want:?}\n{text}"));
            }
        }
        Ok(found.is_ok())
    }
}

#[test]
fn each_operator_on_variables_in_four_ways() {
    let cases = std::env::var("BEFROST_EAGER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let only = std::env::var("BEFROST_EAGER_OP").ok();
    let runtimes = ["s", "mstd:2", "seeded:1"]
        .map(|queue| Runtime::builder().work_queue(queue).build().expect("a work queue"));
    let (mut n_rows, mut good, mut bad, mut failures) = (0, 0, 0, Vec::new());
    for row in rows().filter(|row| is_of_variables(row)) {
        if only.as_ref().is_some_and(|only| only != row.name) {
            continue;
        }
        n_rows += 1;
        for seed in 0..cases {
            let case = StateCase::random(row, seed);
            match case.check(&runtimes) {
                Ok(true) => good += 1,
                Ok(false) => bad += 1,
                Err(why) => {
                    let (before, operands, attrs) = (&case.before, &case.operands, case.attrs.freeze());
                    failures
                        .push(format!("{}, seed {seed}: {before:?} {operands:?} {attrs}  {why}", row.name));
                }
            }
        }
    }
    println!("{n_rows} operators, {good} good cases, {bad} refused ones");
    let shown = failures[..failures.len().min(20)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    assert!(
        only.is_some() || n_rows > 40 && good > 80 && bad > 40,
        "{n_rows} operators, {good} good, {bad} bad"
    );
}
