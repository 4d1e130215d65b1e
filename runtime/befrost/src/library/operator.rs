//! Kernels of libraries that are operators: rows, with shapes and code from the library.
//!
//! Not here: kernels of other dialects (`kernel.rs`), the syntax of signatures (`signature.rs`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};

use befrost_tensor::TensorError;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{self, Attributes, Made, Node, OpRow, Shapes as NodeShapes, Type};

use super::abi::{AttrSource, Attrs, HOST, PortShapes};
use super::call::{CallOperand, LibraryCall};
use super::{Kind, LoadedKernel, Ran};

/// The operators of libraries, by TensorFlow's name.
static OPERATORS: RwLock<BTreeMap<&'static str, &'static LoadedKernel>> = RwLock::new(BTreeMap::new());

/// Adds an operator with its row.
pub(super) fn add(kernel: &'static LoadedKernel, row: &'static OpRow) {
    OPERATORS.write().unwrap_or_else(PoisonError::into_inner).insert(row.name, kernel);
    op::add_row(row);
}

fn operator(name: &str) -> Option<&'static LoadedKernel> {
    OPERATORS.read().unwrap_or_else(PoisonError::into_inner).get(name).copied()
}

fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}

/// Checks that the types of an operator's attributes are in the sets of its signature.
fn check_sets(kernel: &LoadedKernel, attrs: &Attributes<'_>) -> Result<(), TensorError> {
    let Kind::Operator { sets, .. } = &kernel.kind else { return Ok(()) };
    for (name, allowed) in sets {
        // Where the type is not known, it is checked later.
        let Ok(ty) = attrs.ty(name) else { continue };
        if !allowed.contains(&ty) {
            let names: Vec<&str> = allowed.iter().map(|ty| ty.name()).collect();
            let problem =
                format!("attribute `{name}` is {}, expected one of {}", ty.name(), names.join(", "));
            return invalid(attrs.op(), problem);
        }
    }
    Ok(())
}

/// Prepares a node.
pub(super) fn prepare(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let Some(kernel) = operator(op) else { return invalid(op, "its library was not loaded".to_owned()) };
    check_sets(kernel, attrs)?;
    let state = kernel.prepare(&NodeSource(attrs));
    let state = state.or_else(|error| invalid(op, error.message().to_owned()))?;
    let signature = attrs.signature();
    let (n_inputs, n_outputs) = (signature.inputs.len(), signature.outputs.len());
    let is_list = |arg: &op::Arg| arg.number.is_some() || matches!(arg.ty, op::ArgType::List(_));
    let has_lists = signature.inputs.iter().any(is_list);
    if signature.outputs.iter().any(is_list) {
        return invalid(op, "an operator of a library has no lists of results".to_owned());
    }
    Ok(Box::new(move |operands, cx| {
        if operands.len() != n_inputs && !has_lists {
            return invalid(op, format!("{} operands, expected {n_inputs}", operands.len()));
        }
        let operands = operands.into_iter().map(|operand| CallOperand::new(Some(operand))).collect();
        let call = LibraryCall::new(kernel.name, operands, n_outputs, cx.allocator.clone());
        // The code of an operator returns its results, so the thread waits for a deferred call.
        let ended = Arc::new((Mutex::new(None), Condvar::new()));
        let ends = ended.clone();
        let ran = state.run(call, move || {
            Box::new(move |results| {
                *ends.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(results);
                ends.1.notify_all();
            })
        });
        let results = match ran {
            Ran::Done(results) => results,
            Ran::Later => {
                let mut results = ended.0.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    match results.take() {
                        Some(results) => break results,
                        None => results = ended.1.wait(results).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            }
        };
        match results {
            Ok(results) => Ok(results.into()),
            Err(error) => invalid(op, error.message().to_owned()),
        }
    }))
}

/// Infers the shapes of a node's results.
pub(super) fn infer(node: &Node<'_>) -> NodeShapes {
    let Some(kernel) = operator(node.op()) else {
        return node.refuse("its library was not loaded".to_owned());
    };
    check_sets(kernel, node.attrs())?;
    let Some(infer) = kernel.raw.infer else {
        return Ok(vec![PartialShape::unknown(); node.n_results()]);
    };
    let operands = (0..node.n_operands()).map(|i| node.shape(i).ok().and_then(PartialShape::dims));
    let mut shapes = PortShapes::new(operands, node.n_results());
    let source = NodeSource(node.attrs());
    let status = infer(&HOST, &Attrs::new(&source), &mut shapes);
    shapes.finish(status).or_else(|why| node.refuse(why))
}

/// The attributes of a node, with defaults.
struct NodeSource<'a>(&'a Attributes<'a>);

impl AttrSource for NodeSource<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        self.0.int(name).ok()
    }
    fn float(&self, name: &str) -> Option<f64> {
        self.0.float(name).ok()
    }
    fn bool(&self, name: &str) -> Option<bool> {
        self.0.bool(name).ok()
    }
    fn ty(&self, name: &str) -> Option<Type> {
        self.0.ty(name).ok()
    }
    fn string(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.string(name).ok().map(|text| Cow::Owned(text.as_bytes().to_vec()))
    }
    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.0.ints(name).ok()
    }
}
