//! `Graph`: a function that the source front end builds op by op; `Executable`: the compiled function.
//!
//! Values and blocks are numbers in Python, which count from 0 in each graph. A number that a graph has not
//! given out is refused.

use std::sync::Arc;

use befrost::build::{
    Arg, ArgType, AttrKind, BlockId, Checkpoint, DefaultValue, FunctionBuilder, Module, SourcePlace,
    TensorShape, ValueId, compile_module, module_text, row, rows,
};
use befrost::{CompileOptions, Value};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};

use crate::array::{Loans, type_name, type_named};
use crate::call::{Compiled, RunKind, Setup};
use crate::session::VariableStore;
use crate::tensor::Tensor;
use crate::{failure, interrupt, tensor};

/// A type: the element type's name, and the sizes, -1 for unknown ones; None for an unknown rank.
type PyTensorType = (String, Option<Vec<i64>>);

/// A function being built.
#[pyclass(module = "befrost._native")]
pub(crate) struct Graph {
    builder: Option<FunctionBuilder>,
    module: Option<Module>,
    values: Vec<ValueId>,
    blocks: Vec<BlockId>,
    checkpoints: Vec<(Checkpoint, BlockId)>,
    max_ops: usize,
    loops: bool,
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (name, max_ops = 1 << 20))]
    fn new(name: &str, max_ops: usize) -> Graph {
        Graph {
            builder: Some(FunctionBuilder::new(name)),
            module: None,
            values: Vec::new(),
            blocks: Vec::new(),
            checkpoints: Vec::new(),
            max_ops,
            loops: false,
        }
    }

    /// Adds an argument. Returns its value.
    fn argument(&mut self, name: &str, ty: PyTensorType) -> PyResult<usize> {
        let ty = tensor_type(ty)?;
        let value = self.builder()?.argument(name, &ty);
        Ok(self.number(value))
    }

    /// Sets the location of the next ops: (file, line, column), innermost first.
    #[pyo3(signature = (places, label = None))]
    fn location(&mut self, places: Vec<(String, u32, u32)>, label: Option<&str>) -> PyResult<()> {
        let places: Vec<SourcePlace> =
            places.into_iter().map(|(file, line, column)| SourcePlace { file, line, column }).collect();
        self.builder()?.set_location(&places, label);
        Ok(())
    }

    /// Adds an op. Returns the values of its results.
    #[pyo3(signature = (operator, operands, attrs = None, results = None))]
    fn op(
        &mut self,
        operator: &str,
        operands: Vec<usize>,
        attrs: Option<&Bound<'_, PyDict>>,
        results: Option<Vec<PyTensorType>>,
    ) -> PyResult<Vec<usize>> {
        let operands = self.values_of(&operands)?;
        let attrs = attributes(operator, attrs)?;
        let results = results.map(tensor_types).transpose()?;
        let max_ops = self.max_ops;
        let builder = self.builder()?;
        if builder.n_created() > max_ops {
            let message = format!("the function becomes more than {max_ops} operations");
            return Err(PyOverflowError::new_err(message));
        }
        let made = builder.op(operator, &operands, &attrs, results.as_deref());
        let made = made.map_err(PyValueError::new_err)?;
        Ok(made.into_iter().map(|value| self.number(value)).collect())
    }

    /// A constant.
    fn constant(&mut self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let tensor = tensor::of(value)?;
        let value = self.builder()?.constant(&tensor).map_err(PyValueError::new_err)?;
        Ok(self.number(value))
    }

    /// A constant string.
    fn string(&mut self, text: &str) -> PyResult<usize> {
        let value = self.builder()?.string(text);
        Ok(self.number(value))
    }

    /// The type of a value.
    fn type_of(&mut self, value: usize) -> PyResult<(&'static str, Option<Vec<i64>>)> {
        let value = self.value(value)?;
        let ty = self.builder()?.ty(value);
        let (element, dims) = ty.ok_or_else(|| PyTypeError::new_err("the value is no tensor"))?;
        Ok((type_name(element), dims))
    }

    /// A new block with arguments of these types. Returns it and their values.
    fn block(&mut self, types: Vec<PyTensorType>) -> PyResult<(usize, Vec<usize>)> {
        let types = tensor_types(types)?;
        let (block, args) = self.builder()?.block(&types);
        Ok((self.block_number(block), args.into_iter().map(|value| self.number(value)).collect()))
    }

    /// Moves to the end of a block. Returns the previous block.
    fn enter(&mut self, block: usize) -> PyResult<usize> {
        let block = self.block_of(block)?;
        let before = self.builder()?.enter(block);
        Ok(self.block_number(before))
    }

    /// A conditional over two filled blocks. Returns the values of its results.
    fn if_region(
        &mut self,
        condition: usize,
        then: (usize, Vec<usize>),
        otherwise: (usize, Vec<usize>),
        types: Vec<PyTensorType>,
    ) -> PyResult<Vec<usize>> {
        let types = tensor_types(types)?;
        let condition = self.value(condition)?;
        let (then_block, then) = (self.block_of(then.0)?, self.values_of(&then.1)?);
        let (other_block, other) = (self.block_of(otherwise.0)?, self.values_of(&otherwise.1)?);
        let made = self.builder()?.if_region(condition, (then_block, &then), (other_block, &other), &types);
        Ok(made.into_iter().map(|value| self.number(value)).collect())
    }

    /// A loop over two filled blocks. Returns the values of its results.
    fn while_region(
        &mut self,
        initial: Vec<usize>,
        condition: (usize, usize),
        body: (usize, Vec<usize>),
        types: Vec<PyTensorType>,
    ) -> PyResult<Vec<usize>> {
        self.loops = true;
        let types = tensor_types(types)?;
        let initial = self.values_of(&initial)?;
        let (cond_block, goes_on) = (self.block_of(condition.0)?, [self.value(condition.1)?]);
        let (body_block, next) = (self.block_of(body.0)?, self.values_of(&body.1)?);
        let made =
            self.builder()?.while_region(&initial, (cond_block, &goes_on), (body_block, &next), &types);
        Ok(made.into_iter().map(|value| self.number(value)).collect())
    }

    /// The gradients of a value with respect to others.
    fn gradients(&mut self, y: usize, xs: Vec<usize>) -> PyResult<Vec<usize>> {
        let (y, xs) = (self.value(y)?, self.values_of(&xs)?);
        let made = self.builder()?.gradients(y, &xs);
        Ok(made.into_iter().map(|value| self.number(value)).collect())
    }

    /// Keeps the state for `rollback`. Returns its number.
    fn checkpoint(&mut self) -> PyResult<usize> {
        let made = self.builder()?.checkpoint();
        self.checkpoints.push(made);
        Ok(self.checkpoints.len() - 1)
    }

    /// Removes all that was built since the checkpoint.
    fn rollback(&mut self, to: usize) -> PyResult<()> {
        let state = *self.checkpoints.get(to).ok_or_else(|| PyIndexError::new_err("no checkpoint"))?;
        self.checkpoints.truncate(to + 1);
        self.builder()?.rollback(state);
        Ok(())
    }

    /// Ends the function: its results with their names.
    fn finish(&mut self, results: Vec<(String, usize)>) -> PyResult<()> {
        let named = results.into_iter().map(|(name, value)| Ok((name, self.value(value)?)));
        let named = named.collect::<PyResult<Vec<_>>>()?;
        let builder = self.builder.take().ok_or_else(finished)?;
        self.module = Some(builder.finish(&named));
        Ok(())
    }

    /// The text of the finished function.
    fn text(&self) -> PyResult<String> {
        Ok(module_text(self.module.as_ref().ok_or_else(unfinished)?))
    }

    /// Compiles the finished function, and removes it from the graph. `is_long` says that it may print, or
    /// take any time. `resources` are the variables that it may use.
    #[pyo3(signature = (level, work_queue = None, is_long = true, max_memory = None, resources = None, name = "main"))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn compile(
        &mut self,
        py: Python<'_>,
        level: u8,
        work_queue: Option<&str>,
        is_long: bool,
        max_memory: Option<usize>,
        resources: Option<&Bound<'_, VariableStore>>,
        name: &str,
    ) -> PyResult<Executable> {
        let module = self.module.take().ok_or_else(unfinished)?;
        let options = CompileOptions { level, ..CompileOptions::default() };
        let resources = resources.map(|store| store.get().resources().clone()).unwrap_or_default();
        let work_queue = work_queue.map(str::to_owned);
        let name = name.to_owned();
        let setup = Setup { work_queue, max_memory, resources, is_long, name, ..Setup::default() };
        let bef = interrupt::wait_for(py, move || compile_module(module, &options))?;
        let bef = bef.map_err(|error| failure::refused(error.to_string()))?;
        Ok(Executable(Arc::new(Compiled::load(&bef, "main", setup)?)))
    }

    /// True if it has loops: its runs may take any time.
    #[getter]
    fn loops(&self) -> bool {
        self.loops
    }
}

impl Graph {
    fn builder(&mut self) -> PyResult<&mut FunctionBuilder> {
        self.builder.as_mut().ok_or_else(finished)
    }

    fn number(&mut self, value: ValueId) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }

    fn value(&self, number: usize) -> PyResult<ValueId> {
        self.values.get(number).copied().ok_or_else(|| PyIndexError::new_err(format!("no value {number}")))
    }

    fn values_of(&self, numbers: &[usize]) -> PyResult<Vec<ValueId>> {
        numbers.iter().map(|&number| self.value(number)).collect()
    }

    fn block_number(&mut self, block: BlockId) -> usize {
        self.blocks.push(block);
        self.blocks.len() - 1
    }

    fn block_of(&self, number: usize) -> PyResult<BlockId> {
        self.blocks.get(number).copied().ok_or_else(|| PyIndexError::new_err(format!("no block {number}")))
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the function is finished")
}

fn unfinished() -> PyErr {
    PyValueError::new_err("the function is not finished, or compiled already")
}

fn tensor_type((element, dims): PyTensorType) -> PyResult<TensorShape> {
    let element = type_named(&element)
        .ok_or_else(|| PyTypeError::new_err(format!("there is no element type '{element}'")))?;
    Ok((element, dims))
}

fn tensor_types(types: Vec<PyTensorType>) -> PyResult<Vec<TensorShape>> {
    types.into_iter().map(tensor_type).collect()
}

/// The attributes of an operator, by the kinds that its signature declares.
pub(crate) fn attributes(
    operator: &str,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<(String, DefaultValue)>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let row =
        row(operator).ok_or_else(|| PyValueError::new_err(format!("there is no operator '{operator}'")))?;
    let mut out = Vec::with_capacity(given.len());
    for (name, value) in given {
        let name: String = name.extract()?;
        let declared = row.signature().attrs.iter().find(|attr| attr.name == name);
        let declared = declared
            .ok_or_else(|| PyTypeError::new_err(format!("'{operator}' has no attribute '{name}'")))?;
        out.push((name, attribute(declared.kind, &value)?));
    }
    Ok(out)
}

fn attribute(kind: AttrKind, value: &Bound<'_, PyAny>) -> PyResult<DefaultValue> {
    Ok(match kind {
        AttrKind::Bool => DefaultValue::Bool(value.extract()?),
        AttrKind::Int if !value.is_instance_of::<PyBool>() => DefaultValue::Int(value.extract()?),
        AttrKind::Float => DefaultValue::Float(value.extract()?),
        AttrKind::String => DefaultValue::String(value.extract()?),
        AttrKind::Type => {
            let name: String = value.extract()?;
            let ty = type_named(&name);
            DefaultValue::Type(
                ty.ok_or_else(|| PyTypeError::new_err(format!("there is no element type '{name}'")))?,
            )
        }
        AttrKind::Shape => DefaultValue::Shape(value.extract()?),
        AttrKind::List(kind) => {
            let items = value.try_iter()?.map(|item| attribute(*kind, &item?));
            DefaultValue::List(items.collect::<PyResult<_>>()?)
        }
        kind => {
            return Err(PyTypeError::new_err(format!("no attribute of kind {kind} can be made of {value}")));
        }
    })
}

/// The operators that can run: name and signature.
#[pyfunction]
pub(crate) fn operators<'py>(py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
    let all = rows().filter(|row| row.is_supported());
    PyList::new(py, all.map(|row| (row.signature().name, row.summary())).collect::<Vec<_>>())
}

/// An operand or a result: its name, whether it is a list, and the attribute that counts the list.
type PyArg = (&'static str, bool, Option<&'static str>);

/// An attribute: its name, its kind, and its default in Python's words.
type PyAttr = (&'static str, String, Option<String>);

/// The signature of an operator: its name, operands, results and attributes.
type PySignature = (&'static str, Vec<PyArg>, Vec<PyArg>, Vec<PyAttr>);

/// The signatures of the operators that can run, or of one, without the attributes that follow from operands.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub(crate) fn signatures(name: Option<&str>) -> Vec<PySignature> {
    let known = rows().filter(|row| row.is_supported()).map(|row| row.signature());
    let known = known.filter(|signature| name.is_none_or(|name| signature.name == name));
    known
        .map(|signature| {
            let arg = |arg: &Arg| {
                (arg.name, arg.number.is_some() || matches!(arg.ty, ArgType::List(_)), arg.number)
            };
            let follows = |name: &str| {
                signature.inputs.iter().any(|input| {
                    input.number == Some(name)
                        || matches!(input.ty, ArgType::Attr(of) | ArgType::List(of) if of == name)
                })
            };
            let attrs = signature.attrs.iter().filter(|attr| !follows(attr.name));
            let attrs =
                attrs.map(|attr| (attr.name, attr.kind.to_string(), attr.default.as_ref().map(literal)));
            let (inputs, outputs) = (&signature.inputs, &signature.outputs);
            let args = |all: &[Arg]| all.iter().map(arg).collect::<Vec<_>>();
            (signature.name, args(inputs), args(outputs), attrs.collect())
        })
        .collect()
}

/// A value in Python's words.
fn literal(value: &DefaultValue) -> String {
    match value {
        DefaultValue::Type(ty) => format!("{:?}", type_name(*ty)),
        DefaultValue::Int(value) => value.to_string(),
        DefaultValue::Float(value) => format!("{value:?}"),
        DefaultValue::Bool(true) => "True".to_owned(),
        DefaultValue::Bool(false) => "False".to_owned(),
        DefaultValue::String(text) => format!("{text:?}"),
        DefaultValue::Shape(Some(dims)) => format!("{dims:?}"),
        DefaultValue::Shape(None) => "None".to_owned(),
        DefaultValue::List(values) => {
            format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A compiled function.
#[pyclass(frozen, module = "befrost._native")]
pub(crate) struct Executable(pub(crate) Arc<Compiled>);

#[pymethods]
impl Executable {
    /// Runs it. Results are Tensors, those of strings arrays.
    #[pyo3(signature = (arguments, timeout = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        arguments: Vec<Bound<'py, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut loans = Loans::default();
        let values = arguments.iter().map(|value| operand(value, &mut loans));
        let mut values = values.collect::<PyResult<Vec<Value>>>()?;
        let results = self.0.run(py, &mut values, RunKind { timeout, ..RunKind::default() })?;
        results.into_iter().map(|result| tensor::result(py, result, true)).collect()
    }

    /// The BEF file.
    #[getter]
    fn bef(&self) -> &[u8] {
        self.0.bef()
    }
}

/// An argument as a value; an array is lent.
pub(crate) fn operand<'py>(value: &Bound<'py, PyAny>, loans: &mut Loans<'py>) -> PyResult<Value> {
    match value.cast::<Tensor>() {
        Ok(tensor) => Ok(tensor.get().value().clone()),
        Err(_) => loans.value(value),
    }
}
