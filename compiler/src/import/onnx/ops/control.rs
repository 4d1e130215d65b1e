//! Branches, loops, sequences and optional values.
//!
//! ```text
//! If      ──▶ tf.IfRegion, or one of the graphs if the condition is constant
//! Loop, Scan, SequenceMap ──▶ tf.WhileRegion(count, condition, variables, lists)
//! ```
//!
//! Scanned outputs of a loop are collected in lists, which are stacked after it. The types of the variables
//! are found by lowering the body: sizes that it changes become unknown, and it is lowered again.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use crate::build::query;
use crate::dialects::tf;
use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, Why, axis_of, one};
use crate::import::onnx::graph::{OnnxImporter, SequenceType};
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::tensor::element_type;
use crate::import::onnx_proto::GraphProto;
use crate::ir::{OpId, TypeId, ValueId};
use crate::rewrite::would_be_trivially_dead;

/// Limit on the number of times that a body is lowered to find the types of its variables.
const MAX_TRIES: usize = 8;

/// The results of an iteration of a loop.
struct IterationEnd {
    condition: ValueId,
    variables: Vec<ValueId>,
    /// The values to collect.
    scanned: Vec<ValueId>,
}

/// Lowers an iteration, from its number, the condition and the variables.
type Iterate<'a, 'g> =
    &'a mut dyn FnMut(&mut OnnxImporter<'g>, ValueId, ValueId, &[ValueId]) -> Result<IterationEnd, Why>;

/// A loop.
struct Repeat {
    /// Number of iterations, if it is limited.
    trips: Option<ValueId>,
    /// Whether the first iteration runs.
    condition: ValueId,
    variables: Vec<ValueId>,
    /// Number of values collected per iteration.
    n_scanned: usize,
}

/// The results of a loop: its variables, and the lists with the types of their elements.
struct Repeated {
    variables: Vec<ValueId>,
    lists: Vec<(ValueId, SequenceType)>,
}

impl<'g> OnnxImporter<'g> {
    fn sequence_type(&self, value: ValueId) -> Option<SequenceType> {
        self.sequences.get(&value).cloned()
    }

    /// A list of tensors with elements of this type.
    fn empty_list(&mut self, of: SequenceType) -> Result<ValueId, Why> {
        let (any, most) = (self.scalar(-1.0, DType::I32)?, self.scalar(-1.0, DType::I32)?);
        let attrs = [("element_dtype", AttrArg::Type(of.element))];
        let list = self.op(Op::EmptyTensorList, &[any, most], &attrs)?;
        self.sequences.insert(list, of);
        Ok(list)
    }

    fn push(&mut self, list: ValueId, item: ValueId) -> Result<ValueId, Why> {
        let pushed = self.one(Op::TensorListPushBack, &[list, item])?;
        if let Some(of) = self.sequence_type(list) {
            self.sequences.insert(pushed, of);
        }
        Ok(pushed)
    }

    /// The common element type of a sequence of these tensors.
    fn type_of_items(&self, items: &[ValueId]) -> Result<SequenceType, Why> {
        let mut merged: Option<SequenceType> = None;
        for &item in items {
            let element = self.element(item).ok_or("an element of a sequence is no tensor")?;
            let dims = self.dims(item).ok();
            merged = Some(match merged {
                None => SequenceType { element, dims },
                Some(other) if other.element != element => {
                    return Err("the elements of a sequence have different types".into());
                }
                Some(other) => SequenceType { element, dims: common(other.dims, dims) },
            });
        }
        merged.ok_or_else(|| "a sequence of nothing, without a type".to_owned())
    }

    /// The shape of a list's elements as an operand, -1 for unknown dimensions.
    fn element_shape(&mut self, of: &SequenceType) -> Result<ValueId, Why> {
        match &of.dims {
            Some(dims) => {
                let dims = self.ints(dims)?;
                self.cast(dims, DType::I32)
            }
            None => self.scalar(-1.0, DType::I32),
        }
    }

    /// The elements of a list as one tensor with a new first axis.
    fn stacked(&mut self, list: ValueId, of: &SequenceType) -> Result<ValueId, Why> {
        let shape = self.element_shape(of)?;
        let stacked = self.ops(Op::TensorListStack, &[list, shape], &[], &[of.element])?[0];
        if let Some(dims) = &of.dims {
            let ty = self.tensor_type(of.element, Some(&[&[-1], &dims[..]].concat()));
            self.m.set_value_type(stacked, ty);
        }
        Ok(stacked)
    }

    /// Marks an op with regions as stateless if it has no effects.
    fn note_effects(&mut self, op: OpId) {
        if would_be_trivially_dead(&self.m, op) {
            let (name, yes) = (self.m.cx.str_id("is_stateless"), self.m.cx.bool_attr(true));
            self.m.set_attr(op, name, yes);
        }
    }

    /// Emits a loop.
    fn repeat(&mut self, of: &Repeat, body: Iterate<'_, 'g>) -> Result<Repeated, Why> {
        let n = of.variables.len();
        let mut types: Vec<TypeId> = of.variables.iter().map(|&value| self.ty(value)).collect();
        let sequences: Vec<Option<SequenceType>> =
            of.variables.iter().map(|&value| self.sequence_type(value)).collect();
        let unknown = SequenceType { element: Type::Dense(DType::F32), dims: None };
        let mut scanned = vec![unknown; of.n_scanned];
        let first = self.int(0)?;
        let flag = self.tensor_type(Type::Dense(DType::I1), Some(&[]));
        for _ in 0..MAX_TRIES {
            let mut operands = vec![first, of.condition];
            operands.extend(&of.variables);
            for of in &scanned {
                operands.push(self.empty_list(of.clone())?);
            }
            let mut args = vec![self.ty(first), flag];
            args.extend(&types);
            args.extend(operands[2 + n..].iter().map(|&list| self.ty(list)));
            let op = self.control("tf.WhileRegion", &operands, &args);
            self.region(op, &args, |g, args| {
                let (at, go) = (args[0], args[1]);
                let goes = match of.trips {
                    None => go,
                    Some(trips) => {
                        let left = g.one(Op::Less, &[at, trips])?;
                        g.one(Op::LogicalAnd, &[go, left])?
                    }
                };
                g.yields(&[goes]);
                Ok(())
            })?;
            let kinds: Vec<Option<SequenceType>> =
                sequences.iter().cloned().chain(scanned.iter().cloned().map(Some)).collect();
            let misfit = self.region(op, &args, |g, args| {
                g.mark_sequences(&args[2..], &kinds);
                let step = body(g, args[0], args[1], &args[2..2 + n])?;
                g.close_iteration(args, &step, n, &types, &scanned)
            })?;
            match misfit {
                None => {
                    self.note_effects(op);
                    let results: Vec<ValueId> = self.m.results(op).collect();
                    self.mark_sequences(&results[2..], &kinds);
                    let lists = results[2 + n..].iter().copied().zip(scanned);
                    return Ok(Repeated { variables: results[2..2 + n].to_vec(), lists: lists.collect() });
                }
                Some((new_types, new_scanned)) => {
                    self.m.erase(op);
                    (types, scanned) = (new_types, new_scanned);
                }
            }
        }
        Err("the shapes of its variables change in every iteration".into())
    }

    /// Notes which values are sequences.
    fn mark_sequences(&mut self, values: &[ValueId], kinds: &[Option<SequenceType>]) {
        for (&value, kind) in values.iter().zip(kinds) {
            if let Some(of) = kind {
                self.sequences.insert(value, of.clone());
            }
        }
    }

    /// Ends an iteration. Returns more general types if those of the loop do not fit.
    #[allow(clippy::type_complexity, reason = "the types of variables and of lists")]
    fn close_iteration(
        &mut self,
        args: &[ValueId],
        step: &IterationEnd,
        n: usize,
        types: &[TypeId],
        scanned: &[SequenceType],
    ) -> Result<Option<(Vec<TypeId>, Vec<SequenceType>)>, Why> {
        if step.variables.len() != n || step.scanned.len() != scanned.len() {
            return Err(format!(
                "its body returns {} variables and {} values to collect, expected {n} and {}",
                step.variables.len(),
                step.scanned.len(),
                scanned.len()
            ));
        }
        let mut new_types = Vec::with_capacity(n);
        for (&ty, &value) in types.iter().zip(&step.variables) {
            new_types.push(self.common_type(ty, value)?);
        }
        let mut new_scanned = Vec::with_capacity(scanned.len());
        for &item in &step.scanned {
            new_scanned.push(self.type_of_items(&[item])?);
        }
        if new_types != types || new_scanned != scanned {
            return Ok(Some((new_types, new_scanned)));
        }
        let next = self.plus(args[0], 1.0)?;
        let condition = self.reshape_to(step.condition, &[])?;
        let mut yielded = vec![next, condition];
        yielded.extend(&step.variables);
        for (&list, &item) in args[2 + n..].iter().zip(&step.scanned) {
            yielded.push(self.push(list, item)?);
        }
        self.yields(&yielded);
        Ok(None)
    }

    /// The most specific type that includes `ty` and the type of `value`.
    fn common_type(&mut self, ty: TypeId, value: ValueId) -> Result<TypeId, Why> {
        let other = self.ty(value);
        if ty == other {
            return Ok(ty);
        }
        let element = tf::type_of(&self.m.cx, ty).map(|(ty, _)| ty);
        let element = element.filter(|&element| Some(element) == self.element(value));
        let element = element.ok_or("values of different element types meet")?;
        let dims = |ty| query::shape_of(&self.m, ty).map(<[i64]>::to_vec);
        let dims = common(dims(ty), dims(other));
        Ok(self.tensor_type(element, dims.as_deref()))
    }
}

/// The dimensions that two shapes have in common.
fn common(a: Option<Vec<i64>>, b: Option<Vec<i64>>) -> Option<Vec<i64>> {
    let (a, b) = (a?, b?);
    (a.len() == b.len()).then(|| a.iter().zip(&b).map(|(&a, &b)| if a == b { a } else { -1 }).collect())
}

fn as_condition(g: &mut OnnxImporter<'_>, value: ValueId) -> Result<ValueId, Why> {
    let scalar = g.reshape_to(value, &[])?;
    g.cast(scalar, DType::I1)
}

pub(super) fn if_<'g>(g: &mut OnnxImporter<'g>, n: &OnnxNode<'g>) -> Lowered {
    let condition = as_condition(g, n.input(0)?)?;
    let (then, otherwise) = (n.graph("then_branch")?, n.graph("else_branch")?);
    if let Some(known) = g.number_of(condition) {
        return g.subgraph(if known != 0.0 { then } else { otherwise }, &[]);
    }
    if then.output.len() != otherwise.output.len() {
        return Err("its branches have different numbers of outputs".into());
    }
    let any = g.tensor_type(Type::Dense(DType::F32), None);
    let op = g.control("tf.IfRegion", &[condition], &vec![any; then.output.len()]);
    let mut yielded: Vec<Vec<ValueId>> = Vec::new();
    for graph in [then, otherwise] {
        yielded.push(g.region(op, &[], |g, _| {
            let values = g.subgraph(graph, &[])?;
            g.yields(&values);
            Ok(values)
        })?);
    }
    let results: Vec<ValueId> = g.m.results(op).collect();
    for (i, &result) in results.iter().enumerate() {
        let (a, b) = (yielded[0][i], yielded[1][i]);
        let first = g.ty(a);
        let ty = g.common_type(first, b)?;
        g.m.set_value_type(result, ty);
        if let (Some(a), Some(b)) = (g.sequence_type(a), g.sequence_type(b)) {
            if a.element != b.element {
                return Err("its branches return sequences of different types".into());
            }
            let dims = common(a.dims, b.dims);
            g.sequences.insert(result, SequenceType { element: a.element, dims });
        }
    }
    g.note_effects(op);
    Ok(results)
}

pub(super) fn loop_<'g>(g: &mut OnnxImporter<'g>, n: &OnnxNode<'g>) -> Lowered {
    let body = n.graph("body")?;
    let trips = n.optional(0).map(|trips| {
        let trips = g.reshape_to(trips, &[])?;
        g.cast(trips, DType::I64)
    });
    let condition = match n.optional(1) {
        Some(condition) => as_condition(g, condition)?,
        None => g.scalar(1.0, DType::I1)?,
    };
    let variables: Vec<ValueId> = (2..n.inputs.len()).map(|i| n.input(i)).collect::<Result<_, _>>()?;
    let n_variables = variables.len();
    let n_scanned = body.output.len().checked_sub(1 + n_variables).ok_or("its body has too few outputs")?;
    let of = Repeat { trips: trips.transpose()?, condition, variables, n_scanned };
    let done = g.repeat(&of, &mut |g, at, condition, variables| {
        let args = [&[at, condition], variables].concat();
        let mut outputs = g.subgraph(body, &args)?;
        let scanned = outputs.split_off(1 + n_variables);
        let variables = outputs.split_off(1);
        Ok(IterationEnd { condition: outputs[0], variables, scanned })
    })?;
    let mut results = done.variables;
    for (list, of) in done.lists {
        results.push(g.stacked(list, &of)?);
    }
    Ok(results)
}

/// An attribute that lists a flag or an axis per value.
fn flags(n: &OnnxNode<'_>, name: &str, count: usize) -> Result<Vec<i64>, Why> {
    let flags = n.ints(name).map_or_else(|| vec![0; count], <[i64]>::to_vec);
    if flags.len() == count {
        Ok(flags)
    } else {
        Err(format!("{name} has {} entries for {count}", flags.len()))
    }
}

pub(super) fn scan<'g>(g: &mut OnnxImporter<'g>, n: &OnnxNode<'g>) -> Lowered {
    let body: &'g GraphProto = n.graph("body")?;
    if n.version < 9 {
        return scan_of_batch(g, n, body);
    }
    let all = n.all()?;
    let n_inputs = usize::try_from(n.int_or("num_scan_inputs", 0)).unwrap_or(0);
    let n_states = all.len().checked_sub(n_inputs).filter(|_| n_inputs > 0).ok_or("too few inputs")?;
    let n_scanned = body.output.len().checked_sub(n_states).ok_or("its body has too few outputs")?;
    let axes = flags(n, "scan_input_axes", n_inputs)?;
    let backwards = flags(n, "scan_input_directions", n_inputs)?;
    let mut inputs = Vec::new();
    for (i, &x) in all[n_states..].iter().enumerate() {
        inputs.push((x, axis_of(axes[i], g.rank(x)?)?, backwards[i] != 0));
    }
    let trips = g.size(inputs[0].0, inputs[0].1)?;
    let trips = g.size_value(trips)?;
    let yes = g.scalar(1.0, DType::I1)?;
    let of = Repeat { trips: Some(trips), condition: yes, variables: all[..n_states].to_vec(), n_scanned };
    let done = g.repeat(&of, &mut |g, at, condition, variables| {
        let mut args = variables.to_vec();
        for &(x, axis, is_backwards) in &inputs {
            let at = if is_backwards {
                let last = g.plus(trips, -1.0)?;
                g.sub(last, at)?
            } else {
                at
            };
            args.push(g.gather(x, at, axis)?);
        }
        let mut variables = g.subgraph(body, &args)?;
        let scanned = variables.split_off(n_states);
        Ok(IterationEnd { condition, variables, scanned })
    })?;
    let axes = flags(n, "scan_output_axes", n_scanned)?;
    let backwards = flags(n, "scan_output_directions", n_scanned)?;
    let mut results = done.variables;
    for (i, (list, of)) in done.lists.into_iter().enumerate() {
        let mut stacked = g.stacked(list, &of)?;
        if backwards[i] != 0 {
            let along = g.ints(&[0])?;
            stacked = g.one(Op::ReverseV2, &[stacked, along])?;
        }
        let axis = axis_of(axes[i], g.rank(stacked)?)?;
        results.push(g.move_axis(stacked, 0, axis)?);
    }
    Ok(results)
}

/// `Scan` of version 8: each element of the batch, the first axis of all values, is scanned along the second.
fn scan_of_batch<'g>(g: &mut OnnxImporter<'g>, n: &OnnxNode<'g>, body: &'g GraphProto) -> Lowered {
    if n.optional(0).is_some() {
        return Err("sequence_lens of Scan of version 8 are not supported".into());
    }
    let all: Vec<ValueId> = (1..n.inputs.len()).map(|i| n.input(i)).collect::<Result<_, _>>()?;
    let n_inputs = usize::try_from(n.int_or("num_scan_inputs", 0)).unwrap_or(0);
    let n_states = all.len().checked_sub(n_inputs).filter(|_| n_inputs > 0).ok_or("too few inputs")?;
    let n_scanned = body.output.len().checked_sub(n_states).ok_or("its body has too few outputs")?;
    let backwards = flags(n, "directions", n_inputs)?;
    let first = all[n_states];
    let (batch, steps) = (g.size(first, 0)?, g.size(first, 1)?);
    let (batch, steps) = (g.size_value(batch)?, g.size_value(steps)?);
    let yes = g.scalar(1.0, DType::I1)?;
    let of_batch =
        Repeat { trips: Some(batch), condition: yes, variables: Vec::new(), n_scanned: body.output.len() };
    let done = g.repeat(&of_batch, &mut |g, sample, outer, _| {
        let of_sample = all.iter().map(|&x| g.gather(x, sample, 0)).collect::<Result<Vec<ValueId>, Why>>()?;
        let variables = of_sample[..n_states].to_vec();
        let of_steps = Repeat { trips: Some(steps), condition: yes, variables, n_scanned };
        let done = g.repeat(&of_steps, &mut |g, at, condition, variables| {
            let mut args = variables.to_vec();
            for (&x, &is_backwards) in of_sample[n_states..].iter().zip(&backwards) {
                let at = if is_backwards != 0 {
                    let last = g.plus(steps, -1.0)?;
                    g.sub(last, at)?
                } else {
                    at
                };
                args.push(g.gather(x, at, 0)?);
            }
            let mut variables = g.subgraph(body, &args)?;
            let scanned = variables.split_off(n_states);
            Ok(IterationEnd { condition, variables, scanned })
        })?;
        let mut scanned = done.variables;
        for (list, of) in done.lists {
            scanned.push(g.stacked(list, &of)?);
        }
        Ok(IterationEnd { condition: outer, variables: Vec::new(), scanned })
    })?;
    done.lists.into_iter().map(|(list, of)| g.stacked(list, &of)).collect()
}

// ---- sequences ----

fn of_sequence(g: &OnnxImporter<'_>, value: ValueId) -> Result<SequenceType, Why> {
    g.sequence_type(value).ok_or_else(|| "its input is no sequence".to_owned())
}

pub(super) fn sequence_construct(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let items = n.all()?;
    one(list_of(g, &items))
}

fn list_of(g: &mut OnnxImporter<'_>, items: &[ValueId]) -> Result<ValueId, Why> {
    let of = g.type_of_items(items)?;
    let empty = g.empty_list(of)?;
    items.iter().try_fold(empty, |list, &item| g.push(list, item))
}

pub(super) fn sequence_empty(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let element = element_type(i32::try_from(n.int_or("dtype", 1)).unwrap_or(0))?;
    one(g.empty_list(SequenceType { element, dims: None }))
}

fn length(g: &mut OnnxImporter<'_>, list: ValueId) -> Result<ValueId, Why> {
    let length = g.one(Op::TensorListLength, &[list])?;
    g.cast(length, DType::I64)
}

pub(super) fn sequence_length(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let list = n.input(0)?;
    of_sequence(g, list)?;
    one(length(g, list))
}

fn item(g: &mut OnnxImporter<'_>, list: ValueId, at: ValueId) -> Result<ValueId, Why> {
    let of = of_sequence(g, list)?;
    let (at, shape) = (g.cast(at, DType::I32)?, g.element_shape(&of)?);
    let found = g.ops(Op::TensorListGetItem, &[list, at, shape], &[], &[of.element])?[0];
    if let (Some(dims), Err(_)) = (&of.dims, g.dims(found)) {
        let ty = g.tensor_type(of.element, Some(dims));
        g.m.set_value_type(found, ty);
    }
    Ok(found)
}

pub(super) fn sequence_at(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let list = n.input(0)?;
    of_sequence(g, list)?;
    let at = g.reshape_to(n.input(1)?, &[])?;
    let at = g.cast(at, DType::I64)?;
    let size = length(g, list)?;
    let at = g.wrapped(at, DimSize::Value(size))?;
    one(item(g, list, at))
}

/// The position in operand `input`; if that is omitted, the list's length plus `end`.
fn position(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, input: usize, end: f64) -> Result<ValueId, Why> {
    match n.optional(input) {
        Some(at) => {
            let at = g.reshape_to(at, &[])?;
            g.cast(at, DType::I64)
        }
        None => {
            let size = length(g, n.input(0)?)?;
            g.plus(size, end)
        }
    }
}

pub(super) fn sequence_insert(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (list, new) = (n.input(0)?, n.input(1)?);
    let of = of_sequence(g, list)?;
    let at = position(g, n, 2, 0.0)?;
    let inserted = g.one(Op::_SequenceInsert, &[list, new, at])?;
    let dims = common(of.dims, g.dims(new).ok());
    g.sequences.insert(inserted, SequenceType { element: of.element, dims });
    one(Ok(inserted))
}

pub(super) fn sequence_erase(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let list = n.input(0)?;
    let of = of_sequence(g, list)?;
    let at = position(g, n, 1, -1.0)?;
    let erased = g.one(Op::_SequenceErase, &[list, at])?;
    g.sequences.insert(erased, of);
    one(Ok(erased))
}

pub(super) fn split_to_sequence(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = axis_of(n.int_or("axis", 0), g.rank(x)?)?;
    let size = g.dims(x)?[axis];
    if size < 0 {
        let part = match n.optional(1) {
            None => Some(1.0),
            Some(split) if g.rank(split)? == 0 => g.number_of(split),
            Some(_) => None,
        };
        if let Some(part) = part {
            return one(parts_of_unknown(g, n, x, (axis, part)));
        }
    }
    /// Limit on the parts, each of which becomes an op.
    const MAX_PARTS: i64 = 1 << 16;
    let parts_of = |count: i64| match usize::try_from(count) {
        Ok(n) if count <= MAX_PARTS => Ok(n),
        Ok(_) => Err(format!("it splits {size} elements into more than {MAX_PARTS} parts")),
        Err(_) => Err("the size of its axis is not known".to_owned()),
    };
    let (sizes, n_parts) = match n.optional(1).map(|split| (split, g.numbers_of(split))) {
        None => {
            let n_parts = parts_of(size)?;
            (g.ints(&vec![1; n_parts])?, n_parts)
        }
        Some((split, None)) => match g.dims(split)?[..] {
            [n_parts] if n_parts >= 0 => (g.cast(split, DType::I64)?, parts_of(n_parts)?),
            _ => return Err("its split must be constant, or a vector of known length".into()),
        },
        Some((split, Some(given))) => {
            let given: Vec<i64> = given.into_iter().map(|part| part as i64).collect();
            let sizes = match (g.rank(split)?, &given[..]) {
                (0, &[part]) if part > 0 => {
                    let mut sizes = vec![part; parts_of(if size < 0 { size } else { size / part })?];
                    sizes.extend((size % part != 0).then_some(size % part));
                    sizes
                }
                (0, _) => return Err("its split is not positive".into()),
                _ => given,
            };
            (g.ints(&sizes)?, sizes.len())
        }
    };
    let mut parts = g.split_by(x, axis, sizes, n_parts)?;
    if n.optional(1).is_none() && !n.flag("keepdims", true) {
        parts = parts.into_iter().map(|part| g.squeeze(part, &[axis as i64])).collect::<Result<_, _>>()?;
    }
    one(list_of(g, &parts))
}

/// The list of the parts of `part` elements along an axis of unknown size; the last one may be smaller.
fn parts_of_unknown(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    x: ValueId,
    (axis, part): (usize, f64),
) -> Result<ValueId, Why> {
    if part < 1.0 {
        return Err("its split is not positive".into());
    }
    let is_dropped = n.optional(1).is_none() && !n.flag("keepdims", true);
    let (size, rank) = (g.size(x, axis)?, g.rank(x)?);
    let (size, each) = (g.size_value(size)?, g.scalar(part, DType::I64)?);
    let over = g.plus(size, part - 1.0)?;
    let (trips, yes) = (g.one(Op::FloorDiv, &[over, each])?, g.scalar(1.0, DType::I1)?);
    let all = Repeat { trips: Some(trips), condition: yes, variables: Vec::new(), n_scanned: 1 };
    let done = g.repeat(&all, &mut |g, at, condition, _| {
        let found = if is_dropped {
            g.gather(x, at, axis)?
        } else {
            let from = g.mul(at, each)?;
            let left = g.sub(size, from)?;
            let (mut begin, mut sizes) = (vec![DimSize::Known(0); rank], vec![DimSize::Known(-1); rank]);
            begin[axis] = DimSize::Value(from);
            sizes[axis] = DimSize::Value(g.one(Op::Minimum, &[left, each])?);
            let (begin, sizes) = (g.size_vector(&begin)?, g.size_vector(&sizes)?);
            g.one(Op::Slice, &[x, begin, sizes])?
        };
        Ok(IterationEnd { condition, variables: Vec::new(), scanned: vec![found] })
    })?;
    let (list, of) = done.lists.into_iter().next().ok_or("its loop collects nothing")?;
    g.sequences.insert(list, of);
    Ok(list)
}

pub(super) fn concat_from_sequence(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let list = n.input(0)?;
    let of = of_sequence(g, list)?;
    if n.flag("new_axis", false) && n.int_or("axis", 0) == 0 {
        return one(g.stacked(list, &of));
    }
    let rank = of.dims.as_ref().ok_or("the rank of its elements is not known")?.len();
    if n.flag("new_axis", false) {
        let axis = axis_of(n.int_or("axis", 0), rank + 1)?;
        let stacked = g.stacked(list, &of)?;
        return one(g.move_axis(stacked, 0, axis));
    }
    let axis = axis_of(n.int_or("axis", 0), rank)?;
    let list = if axis == 0 {
        list
    } else {
        // Move the axis to the front in all elements.
        let (trips, yes) = (length(g, list)?, g.scalar(1.0, DType::I1)?);
        let all = Repeat { trips: Some(trips), condition: yes, variables: Vec::new(), n_scanned: 1 };
        let done = g.repeat(&all, &mut |g, at, condition, _| {
            let element = item(g, list, at)?;
            let turned = g.move_axis(element, axis, 0)?;
            Ok(IterationEnd { condition, variables: Vec::new(), scanned: vec![turned] })
        })?;
        done.lists[0].0
    };
    let mut dims = of.dims.unwrap_or_default();
    dims.remove(axis);
    let shape = [&[-1], &dims[..]].concat();
    let shape = g.element_shape(&SequenceType { element: of.element, dims: Some(shape) })?;
    let leading = g.ints(&[])?;
    let joined =
        g.ops(Op::TensorListConcatV2, &[list, shape, leading], &[], &[of.element, Type::Dense(DType::I64)])?
            [0];
    if g.dims(joined).is_err() {
        let ty = g.tensor_type(of.element, Some(&[&[-1], &dims[..]].concat()));
        g.m.set_value_type(joined, ty);
    }
    one(g.move_axis(joined, 0, axis))
}

pub(super) fn sequence_map<'g>(g: &mut OnnxImporter<'g>, n: &OnnxNode<'g>) -> Lowered {
    let body: &'g GraphProto = n.graph("body")?;
    let inputs = n.all()?;
    let (trips, yes) = (length(g, inputs[0])?, g.scalar(1.0, DType::I1)?);
    let of =
        Repeat { trips: Some(trips), condition: yes, variables: Vec::new(), n_scanned: body.output.len() };
    let done = g.repeat(&of, &mut |g, at, condition, _| {
        let mut args = Vec::new();
        for &input in &inputs {
            args.push(if g.sequences.contains_key(&input) { item(g, input, at)? } else { input });
        }
        Ok(IterationEnd { condition, variables: Vec::new(), scanned: g.subgraph(body, &args)? })
    })?;
    let mut results = Vec::new();
    for (list, of) in done.lists {
        g.sequences.insert(list, of);
        results.push(list);
    }
    Ok(results)
}

// ---- optional values ----

pub(super) fn optional_has_element(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.scalar(f64::from(u8::from(n.optional(0).is_some())), DType::I1))
}

/// `OptionalGetElement`, `Identity`: the value, of any kind.
pub(super) fn same(_: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(n.input(0))
}
