//! `tf`: kernels of TensorFlow's operators, generated from their rows.
//!
//! ```text
//! tf.Conv2D ──load──▶ PreparedOp: the tensor library's function with decoded attributes ──call──▶ tensors
//! ```
//!
//! Operators on state and on objects are an `Action`, a function of values. They are listed in the tables of
//! `lists`, `variables`, `updates`, `scatters`, `arrays`, `stacks`, `optionals`, `files` and `checks`.
//!
//! Attributes are found by TensorFlow's names; loading rejects a use with an unknown one. A use may have one
//! more result than the operator, a chain: its completion.

mod action;
mod arrays;
mod attrs;
mod checks;
mod codes;
mod crosses;
mod dataflow;
mod examples;
mod files;
mod flow;
mod generators;
mod interned;
mod joined;
mod lists;
mod lookups;
mod memory;
mod messages;
mod operands;
mod operator;
mod optionals;
#[cfg(feature = "kernels-images")]
mod pictures;
mod placed;
mod re2;
mod scatters;
mod sequences;
mod stacks;
mod strings;
mod tables;
mod texts;
mod unicode;
mod updates;
mod variables;

use std::sync::{Arc, OnceLock};

use befrost_kernel_api::kernel::{
    Ignored, Kernel, KernelFrame, KernelUse, MakePrepared, Outcome, Param, Prepare, Prepared, RawAttr, Rest,
    Returns, Signature,
};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::Small;
use befrost_tensor::tf::op::{self, Attrs, OpRow, Operands, OwnedEval, Traits, Type};
use befrost_tensor::{HostTensor, Shape, StringTensor};
use smallvec::SmallVec;

pub use self::files::allow_folder;
pub use self::operator::Operator;
#[cfg(feature = "kernels-images")]
pub use self::pictures::decode_picture;
pub use self::variables::{assign_variable_values, remove_variable, variable_values};

use self::attrs::{UseAttrs, attributes};
use self::interned::StringResults;
use self::memory::Memory;
use self::operands::{Results, dense};
use crate::objects::{Strings, Tensor, refused};
use crate::workers;

/// The element type of a value that has no elements: a variable, a table, a stack, an array of tensors; a
/// list, an optional.
pub fn opaque_type(value: &Value) -> Option<Type> {
    let is_resource = value.downcast_ref::<variables::VariableHandle>().is_some()
        || value.downcast_ref::<lookups::TableHandle>().is_some()
        || value.downcast_ref::<stacks::Stack>().is_some()
        || value.downcast_ref::<arrays::ArrayHandle>().is_some();
    let is_variant = value.downcast_ref::<lists::List>().is_some()
        || value.downcast_ref::<optionals::Optional>().is_some();
    match (is_resource, is_variant) {
        (true, _) => Some(Type::Resource),
        (_, true) => Some(Type::Variant),
        _ => None,
    }
}

/// Adds the kernels of the `tf` dialect.
pub fn tf(registry: &mut Registry) {
    for row in op::rows().filter(|row| row.has_function()) {
        registry.add(function(row, of_objects(row.op)));
    }
    others(registry);
    memory::add(registry);
}

/// Adds the kernels of the `tf` dialect that are not functions of tensors.
fn others(registry: &mut Registry) {
    registry.add(kernel!("tf._Strings", |made: Prepared<'_, ConstantStrings>,
                                         _dims: RawAttr<'_>,
                                         _texts: RawAttr<'_>| {
        made.0.0.clone()
    }));
    tables::add(registry);
    variables::add(registry);
    dataflow::add(registry);
    flow::add(registry);
}

/// Adds the kernels of these operators, which are functions of tensors, and those of arenas; with `OTHERS`
/// also the kernels of the dialect that are not functions of tensors.
pub(crate) fn selected<const OTHERS: bool>(functions: &[&'static OpRow], registry: &mut Registry) {
    for row in functions {
        // A program may name an operator twice.
        if registry.find(row.op_name).is_none() {
            registry.add(function(row, if OTHERS { of_objects(row.op) } else { None }));
        }
    }
    if OTHERS {
        others(registry);
    }
    memory::add(registry);
}

/// The kernel of an operator that is a function of tensors. The row may belong to another crate.
///
/// It takes only dense tensors, so that other kernels need not be in the program.
pub fn operator(row: &'static OpRow) -> Kernel {
    function(row, None)
}

fn function(row: &'static OpRow, of_objects: Option<OfObjects>) -> Kernel {
    let name = row.op_name;
    if row.has(Traits::CONSTANT) {
        // The result is in the file.
        let kernel = kernel!(name, constant, |_| attrs::names(row));
        let run = kernel.run;
        let of_file = move || Signature { is_in_file: true, ..(*kernel.signature).clone() };
        return Kernel::lazy(name, of_file, run);
    }
    if row.has(Traits::PASSING) {
        return kernel!(name, pass, |_| attrs::names(row));
    }
    Kernel::lazy(name, move || signature_of_evaluate(row, of_objects), evaluate)
}

fn constant(constant: Prepared<'_, Constant>, _: Ignored, cx: &ExecContext) -> Results {
    let Constant { value, tensor } = constant.0;
    let of_request = || Value::object(Tensor(tensor.with_allocator(cx.allocator())));
    Results(SmallVec::from_iter([value.get_or_init(of_request).clone()]))
}

fn pass(operands: Rest<'_, Value>) -> Results {
    Results(operands.iter().cloned().collect())
}

/// An operator with decoded attributes and planned places for its results.
struct PreparedOp {
    eval: OwnedEval,
    /// Its version for small operands, if that gives equal results.
    small: Option<Small>,
    /// Its implementation for values that are no dense tensors, if it takes them.
    of_objects: Option<OfObjects>,
    /// The results, if the operator takes strings.
    strings: Option<StringResults>,
    memory: Memory,
}

/// A function of values that are no dense tensors.
type OfObjects = fn(&[Value], &Arc<dyn Allocator>) -> Result<Value, KernelError>;

/// The implementation of an operator for variants or strings, if it takes them otherwise than as numbers.
fn of_objects(op: Option<op::Op>) -> Option<OfObjects> {
    match op? {
        op::Op::Add => Some(strings::add),
        op::Op::ZerosLike => Some(optionals::zeros_like),
        op::Op::AddN => Some(optionals::add_n),
        _ => None,
    }
}

impl PreparedOp {
    fn new(row: &OpRow, of_objects: Option<OfObjects>, site: &KernelUse<'_>) -> Result<PreparedOp, String> {
        let is_string = |ty: &str| attrs::element_type(ty) == Some(Type::String);
        let strings = || site.result_types().map(is_string).collect();
        attributes(row, site, |attrs| {
            PreparedOp::of(row, of_objects, attrs.given(), strings, Memory::of(site)?)
        })
    }

    /// An operator with these attributes. `strings` says which results are strings.
    fn of(
        row: &OpRow,
        of_objects: Option<OfObjects>,
        attrs: &dyn Attrs,
        strings: impl FnOnce() -> Vec<bool>,
        memory: Memory,
    ) -> Result<PreparedOp, String> {
        let eval = row.prepare_owned(attrs).map_err(|error| error.to_string())?;
        let eval = eval.ok_or("the operator is no function of tensors")?;
        let strings = StringResults::of(row.op, strings);
        let small = row.small(attrs).filter(Small::is_exact);
        Ok(PreparedOp { eval, small, of_objects, strings, memory })
    }

    /// The result for small operands, in the place of one of them if that may be overwritten.
    fn small_result(&self, values: &mut [Value], allocator: &Arc<dyn Allocator>) -> Option<Value> {
        let small = self.small?;
        let (tensors, may_overwrite) = match values {
            [x] => (SmallVec::<[&HostTensor; 2]>::from_iter([tensor_of(x)?]), [self.may_overwrite(x), false]),
            [a, b] => {
                let may_overwrite = [self.may_overwrite(a), self.may_overwrite(b)];
                (SmallVec::from_iter([tensor_of(a)?, tensor_of(b)?]), may_overwrite)
            }
            _ => return None,
        };
        if may_overwrite.contains(&true)
            && let Some(at) = small.overwrite(&tensors, &|i| may_overwrite[i])
        {
            drop(tensors);
            return Some(std::mem::take(&mut values[at]));
        }
        Some(Value::object(Tensor(small.call(&tensors, allocator)?)))
    }

    /// Whether this is the only reference to a tensor, which may be overwritten.
    fn may_overwrite(&self, value: &Value) -> bool {
        let Value::Object(object) = value else { return false };
        let is_only = |tensor: &Tensor| object.is_unique() && tensor.0.is_unique();
        self.memory.may_overwrite && object.downcast_ref().is_some_and(is_only)
    }
}

fn signature_of_evaluate(row: &'static OpRow, of_objects: Option<OfObjects>) -> Signature {
    let mut signature = Signature {
        attr_names: Some(attrs::names(row)),
        prepare: Some(MakePrepared::new(move |site| PreparedOp::new(row, of_objects, site))),
        ..Signature::default()
    };
    <Rest<'_, Value> as Param>::declare(&mut signature);
    Results::declare(&mut signature);
    signature
}

/// Executes an operator. Operands that the frame gives up and no other owner shares may be overwritten.
fn evaluate(frame: &mut KernelFrame<'_>) -> Outcome {
    let op = match frame.prepared::<PreparedOp>() {
        Ok(op) => op.0,
        Err(outcome) => return outcome,
    };
    let values = (0..frame.n_operands()).map_while(|i| frame.take_operand(i)).collect();
    match compute(op, values, frame.context()) {
        Ok(results) => results.store(frame),
        Err(error) => Outcome::Error(error),
    }
}

fn compute(
    op: &PreparedOp,
    mut values: SmallVec<[Value; 4]>,
    cx: &ExecContext,
) -> Result<Results, KernelError> {
    if let Some(made) = &op.strings
        && interned::has_strings(&values)
    {
        return of_strings(op, made, &values, cx);
    }
    if let Some(of_objects) = op.of_objects
        && values.first().is_some_and(|value| value.downcast_ref::<Tensor>().is_none())
    {
        return Ok(Results(SmallVec::from_iter([of_objects(&values, cx.allocator())?])));
    }
    let allocator = op.memory.allocator(&mut values, cx)?;
    let allocator = allocator.as_ref().unwrap_or(cx.allocator());
    if let Some(result) = op.small_result(&mut values, allocator) {
        return Ok(Results(SmallVec::from_iter([result])));
    }
    let tensors: Result<Operands, KernelError> = match op.memory.may_overwrite {
        true => values.into_iter().map(owned).collect(),
        false => values.iter().map(|value| dense(value).cloned()).collect(),
    };
    let tensors = tensors?;
    let results = workers::compute(cx, allocator, |cx| (op.eval)(tensors, cx))?;
    Ok(Results(results.into_iter().map(|tensor| Value::object(Tensor(tensor))).collect()))
}

/// The dense tensor of a value, if it is one.
fn tensor_of(value: &Value) -> Option<&HostTensor> {
    value.downcast_ref::<Tensor>().map(|tensor| &tensor.0)
}

/// The dense tensor of a value: taken out of the only reference, else cloned.
fn owned(value: Value) -> Result<HostTensor, KernelError> {
    match value.into_object::<Tensor>() {
        Ok(tensor) => Ok(tensor.0),
        Err(value) => dense(&value).cloned(),
    }
}

/// Executes an operator on strings.
fn of_strings(
    op: &PreparedOp,
    made: &StringResults,
    values: &[Value],
    cx: &ExecContext,
) -> Result<Results, KernelError> {
    let results = workers::run(cx, cx.allocator(), |workers| {
        interned::by_numbers(values, made, cx.allocator(), |operands| {
            Ok((op.eval)(operands, workers).map_err(refused)?.into_vec())
        })
    })?;
    Ok(Results(results?.into()))
}

/// A constant: a view of the file.
struct Constant {
    /// Set at the first execution. If all elements are equal, its allocator gives the memory for writing them
    /// out.
    value: OnceLock<Value>,
    tensor: HostTensor,
}

impl Prepare for Constant {
    fn prepare(site: &KernelUse<'_>) -> Result<Constant, String> {
        let tensor = UseAttrs(site)
            .constant("value")
            .ok_or("the attribute 'value' is no dense tensor of numbers")??;
        Ok(Constant { value: OnceLock::new(), tensor })
    }
}

/// A constant of strings.
struct ConstantStrings(Strings);

impl Prepare for ConstantStrings {
    fn prepare(site: &KernelUse<'_>) -> Result<ConstantStrings, String> {
        let dims = site
            .attr(0)
            .and_then(|dims| attrs::ints(&dims))
            .ok_or("the attribute 'shape' is no list of sizes")?;
        let shape = Shape::from_i64(&dims).map_err(|error| error.to_string())?;
        let list = site.attr(1);
        let strings = list.as_ref().and_then(|list| {
            list.elements().map(|text| attrs::string(&text.view)).collect::<Option<Vec<_>>>()
        });
        let strings = strings.ok_or("the attribute 'strings' is no list of strings")?;
        let strings = StringTensor::new(shape, &strings, &(Malloc::shared() as Arc<dyn Allocator>));
        strings.map(|strings| ConstantStrings(Strings(strings))).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
