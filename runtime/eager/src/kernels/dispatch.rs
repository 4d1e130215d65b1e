//! `corert.executeop`.
//!
//! Attributes are decoded when the program is loaded. The operator is made at the first execution of a use,
//! and again when the handler changes.
//!
//! Nothing waits for a tensor: the results are handles of tensors in any state, which the operators that take
//! them wait for. An operator that is refused or skipped gives errors, so that kernels that take its results
//! are skipped, too; in a synchronous function it gives handles of the error.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bef_format::AttrView;
use befrost_kernel_api::kernel::{
    Completion, Kernel, KernelFrame, KernelUse, MakePrepared, Outcome, Prepared, RawAttr, Signature, Types,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::value::Scalar;
use befrost_kernel_api::{Chain, KernelError, Registry, Value};
use smallvec::SmallVec;

use super::{ANY_ATTR, HandlerValue, handle_in};
use crate::attrs::{AttrValue, OpAttrs, OpAttrsRef};
use crate::handle::TensorHandle;
use crate::handler::{Dispatch, Invocation, Mode, OpHandler, OpKey};

pub(super) fn add(registry: &mut Registry) {
    registry.add(Kernel::lazy(
        "corert.executeop",
        || Signature { completion: Completion::Async, ..signature(&[HandlerValue::TYPES], 3) },
        |frame| execute(frame, How::Unordered),
    ));
    registry.add(Kernel::lazy(
        "corert_sync.executeop",
        || signature(&[HandlerValue::TYPES], 2),
        |frame| execute(frame, How::Sync),
    ));
    let ordered = || Signature {
        results: vec![Chain::TYPES],
        completion: Completion::Async,
        ..signature(&[HandlerValue::TYPES, Chain::TYPES], 3)
    };
    registry.add(Kernel::lazy("corert.executeop.seq", ordered, |frame| execute(frame, How::Ordered)));
}

fn signature(operands: &[Types], n_attrs: usize) -> Signature {
    Signature {
        operands: operands.to_vec(),
        rest: Some(TensorHandle::TYPES),
        rest_results: Some(TensorHandle::TYPES),
        attrs: vec![ANY_ATTR; n_attrs],
        stores_all: true,
        prepare: Some(MakePrepared::new(OpUse::of)),
        ..Signature::default()
    }
}

/// An operator, and the handler that made it.
type MadeOp = (Arc<dyn OpHandler>, Arc<dyn Dispatch>);

/// A use of an operator.
struct OpUse {
    name: String,
    attrs: OpAttrsRef,
    /// The operator of the first handler.
    first: OnceLock<MadeOp>,
    /// The operator of the last other handler.
    other: Mutex<Option<MadeOp>>,
}

/// An operator of a use.
enum UsedOp<'u> {
    Kept(&'u dyn Dispatch),
    Shared(Arc<dyn Dispatch>),
}

impl<'u> Deref for UsedOp<'u> {
    type Target = dyn Dispatch + 'u;

    fn deref(&self) -> &(dyn Dispatch + 'u) {
        match self {
            UsedOp::Kept(op) => *op,
            UsedOp::Shared(op) => &**op,
        }
    }
}

/// The attributes in an array of pairs.
pub(super) fn decode(pairs: &RawAttr<'_>, site: &KernelUse<'_>, attrs: &mut OpAttrs) -> Result<(), String> {
    if !matches!(pairs.view, AttrView::Array(_)) {
        return Err("the attributes of the operator are no array of pairs".to_owned());
    }
    for pair in pairs.elements() {
        let mut parts = pair.elements();
        let (Some(RawAttr { view: AttrView::Str(name), .. }), Some(value), None) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err("an attribute of the operator is no pair of a name and a value".to_owned());
        };
        attrs.insert(name, AttrValue::decode(&value, site));
    }
    Ok(())
}

impl OpUse {
    fn of(site: &KernelUse<'_>) -> Result<OpUse, String> {
        let mut all: Vec<RawAttr<'_>> = (0..).map_while(|i| site.attr(i)).collect();
        let Some(AttrView::Str(name)) = all.pop().map(|name| name.view) else {
            return Err("the name of the operator is no string".to_owned());
        };
        let mut attrs = OpAttrs::new();
        all.iter().try_for_each(|pairs| decode(pairs, site, &mut attrs))?;
        let (first, other) = (OnceLock::new(), Mutex::default());
        Ok(OpUse { name: name.to_owned(), attrs: attrs.freeze(), first, other })
    }

    fn dispatch(&self, handler: &Arc<dyn OpHandler>) -> Result<UsedOp<'_>, KernelError> {
        let is_by = |(by, _): &&MadeOp| Arc::ptr_eq(by, handler);
        if let Some((_, op)) = self.first.get().filter(is_by) {
            return Ok(UsedOp::Kept(&**op));
        }
        let other = self.other.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, op)) = other.filter(|made| is_by(&made)) {
            return Ok(UsedOp::Shared(op));
        }
        // Without a lock: a handler may be slow.
        let op = handler.make(&OpKey { name: &self.name, attrs: &self.attrs });
        let op = op.map_err(|error| KernelError::of_call(&error))?;
        let made = (handler.clone(), op.clone());
        if let Err(made) = self.first.set(made) {
            let before = self.other.lock().unwrap_or_else(PoisonError::into_inner).replace(made);
            drop(before);
        }
        Ok(UsedOp::Shared(op))
    }
}

/// The three kernels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Unordered,
    Ordered,
    Sync,
}

fn execute(frame: &mut KernelFrame<'_>, how: How) -> Outcome {
    let Prepared(site) = match frame.prepared::<OpUse>() {
        Ok(site) => site,
        Err(outcome) => return outcome,
    };
    let chains = usize::from(how == How::Ordered);
    let first = 1 + chains;
    let n = frame.n_operands();
    let is_chain = chains == 0 || matches!(frame.operand(1), Some(Value::Chain));
    let Some(handler) = frame.operand(0).and_then(|value| value.downcast_ref::<HandlerValue>()) else {
        return Outcome::Operand;
    };
    let handles: Option<SmallVec<[&TensorHandle; 4]>> =
        (first..n).map(|i| frame.operand(i)?.downcast_ref::<TensorHandle>()).collect();
    let Some(handles) = handles.filter(|_| is_chain) else { return Outcome::Operand };
    let dispatch = match site.dispatch(&handler.0) {
        Ok(dispatch) => dispatch,
        Err(error) => return Outcome::Error(error),
    };
    let is_quick = frame.n_results() == 1 + chains && !dispatch.may_overwrite();
    let quick = if is_quick { dispatch.quick(&handles, frame.context()) } else { None };
    drop(handles);
    if let Some(result) = quick {
        if chains > 0 {
            frame.set_result(0, Value::Chain);
        }
        frame.set_result(chains, Value::object(result));
        return Outcome::Done;
    }
    let args = (first..n).filter_map(|i| handle_in(frame.take_operand(i)?)).collect();
    let mut call = Invocation {
        cx: frame.context(),
        site: Some(frame.site()),
        args,
        n_results: Some(frame.n_results() - chains),
        results: SmallVec::new(),
        chain: (chains > 0).then_some(Value::Chain),
        mode: Mode::Inline,
    };
    if let Err(error) = dispatch.dispatch(&mut call) {
        let error = call.raise(&KernelError::of_call(&error));
        call.fail(&error);
    }
    let Invocation { results, chain, .. } = call;
    let values = results.into_iter().map(|handle| match how {
        How::Sync => Value::object(handle),
        How::Unordered | How::Ordered => handle.into_result(),
    });
    chain.into_iter().chain(values).enumerate().for_each(|(i, value)| frame.set_result(i, value));
    Outcome::Done
}
