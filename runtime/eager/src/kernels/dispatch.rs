//! `corert.executeop`.
//!
//! Attributes are decoded when the program is loaded. The operator is made when a use is executed for the
//! first time, and made anew if the handler is another one than the last time.

use std::sync::{Arc, Mutex, PoisonError};

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
        || signature(&[HandlerValue::TYPES], 3),
        |frame| execute(frame, false),
    ));
    registry.add(Kernel::lazy(
        "corert_sync.executeop",
        || signature(&[HandlerValue::TYPES], 2),
        |frame| execute(frame, false),
    ));
    let ordered = || Signature {
        results: vec![Chain::TYPES],
        completion: Completion::Async,
        ..signature(&[HandlerValue::TYPES, Chain::TYPES], 3)
    };
    registry.add(Kernel::lazy("corert.executeop.seq", ordered, |frame| execute(frame, true)));
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
    made: Mutex<Option<MadeOp>>,
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
        Ok(OpUse { name: name.to_owned(), attrs: attrs.freeze(), made: Mutex::default() })
    }

    fn dispatch(&self, handler: &Arc<dyn OpHandler>) -> Result<Arc<dyn Dispatch>, KernelError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((by, dispatch)) = &*made
            && Arc::ptr_eq(by, handler)
        {
            return Ok(dispatch.clone());
        }
        let dispatch = handler.make(&OpKey { name: &self.name, attrs: &self.attrs })?;
        *made = Some((handler.clone(), dispatch.clone()));
        Ok(dispatch)
    }
}

fn execute(frame: &mut KernelFrame<'_>, is_ordered: bool) -> Outcome {
    let Prepared(site) = match frame.prepared::<OpUse>() {
        Ok(site) => site,
        Err(outcome) => return outcome,
    };
    let first = 1 + usize::from(is_ordered);
    let n = frame.n_operands();
    let is_handle = |i| frame.operand(i).is_some_and(|value| value.downcast_ref::<TensorHandle>().is_some());
    let is_chain = !is_ordered || matches!(frame.operand(1), Some(Value::Chain));
    let Some(handler) = frame.operand(0).and_then(|value| value.downcast_ref::<HandlerValue>()) else {
        return Outcome::Operand;
    };
    if !is_chain || !(first..n).all(is_handle) {
        return Outcome::Operand;
    }
    let dispatch = match site.dispatch(&handler.0) {
        Ok(dispatch) => dispatch,
        Err(error) => return Outcome::Error(error),
    };
    let args = (first..n).filter_map(|i| handle_in(frame.take_operand(i)?)).collect();
    let mut call = Invocation {
        cx: frame.context(),
        site: Some(frame.site()),
        args,
        n_results: Some(frame.n_results() - usize::from(is_ordered)),
        results: SmallVec::new(),
        chain: is_ordered.then_some(Value::Chain),
        mode: Mode::Inline,
    };
    if let Err(error) = dispatch.dispatch(&mut call) {
        let error = call.raise(&error);
        call.fail(&error);
    }
    let Invocation { results, chain, .. } = call;
    let values = results.into_iter().map(Value::object);
    chain.into_iter().chain(values).enumerate().for_each(|(i, value)| frame.set_result(i, value));
    Outcome::Done
}
