//! Operand passing, and the kernel API beyond operands: attributes, the kernel's name, the request,
//! uniqueness of values.

use bef_format::{AttrView, DType};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::context::Resource;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    FrameCx, KernelUse, Outcome, Prepare, Prepared, RawAttr, Rest, Site, StrAttr,
};

use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};

use crate::cpu::constant;
use crate::objects::{TensorType, Text};

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.multi_arg_result", |values: Rest<'_, Value>| values.to_vec()));
    registry.add(kernel!(MAKE_INDIRECT, |values: Rest<'_, Value>| values.to_vec()));
    registry.add(kernel!("tfrt_test.identity", |_: Chain, values: Rest<'_, Value>| values.to_vec()));
    registry.add(kernel!("tfrt_test.get_uniqueness", |_: Rest<'_, Value>, unique: Prepared<'_, Unique>| {
        unique.0.0.iter().copied().map(Value::I1).collect::<Vec<_>>()
    }));
    // TFRT prints the base classes of a value; values have no classes here.
    registry.add(kernel!("tfrt_test.async_value_get", || Text::from("base1:base2:final_class:3")));
    registry.add(kernel!("tfrt_test.async_value_ref", async_value_ref));
    registry.add(kernel!("tfrt_test.const_dense_attr", constant));
    registry.add(kernel!("tfrt_test.sync.const_dense_attr", constant));
    registry.add(kernel!("tfrt_test.sync_sum", |first: i32, others: Rest<'_, i32>| sum(first, &others)));
    registry.add(kernel!("tfrt_test.sync_sum2", |first: i32, others: Rest<'_, i32>| sum(first, &others)));
    registry.add(kernel!("tfrt_test.sync_sum_attributes", |sum: Prepared<'_, AttrSum>| sum.0.0));
    registry.add(kernel!("tfrt_test.sum_array_attr.i32", |start: StrAttr<'_>, terms: RawAttr<'_>| {
        sum_attr(start.0, &terms).map(|sum| sum as i32)
    }));
    registry.add(kernel!("tfrt_test.sum_array_attr.i64", |start: StrAttr<'_>, terms: RawAttr<'_>| {
        sum_attr(start.0, &terms)
    }));
    registry.add(kernel!("tfrt_test.get_request_context_data.i32", |cx: &ExecContext| {
        let name = "tfrt_test.request_context_data".into();
        cx.request.resources.or_insert_with(&name, || RequestData(0)).0
    }));
    registry.add(kernel!("tfrt_test.print_debug_info", |site: Site, cx: &ExecContext| {
        let name = site.name().unwrap_or("Kernel has no debug info".into());
        cx.print(&format!("{name}\n")).map(|()| Chain)
    }));
    registry.add(kernel!(
        "tfrt_test.print_frame",
        |value: i32, _: Chain, frame: FrameCx<'_>, cx: &ExecContext| {
            cx.print(&format!("{value}: step {} {frame}\n", cx.request.step)).map(|()| Chain)
        }
    ));
    registry.add(kernel!("tfrt_test.quiesce", |_: Chain, cx: &ExecContext| {
        cx.queue().check_may_wait()?;
        cx.queue().quiesce();
        Ok::<_, KernelError>(Chain)
    }));
    registry.add(kernel!("tfrt_test.get_static_tensor_type", |name: StrAttr<'_>| TensorType(name.0.into())));
    registry.add(kernel!("tfrt_test.print_tensor_type", |ty: &TensorType, cx: &ExecContext| {
        cx.print(&format!("tensor_type = {}\n", ty.0)).map(|()| Chain)
    }));
}

/// A resource of a request for tests.
struct RequestData(i32);

impl Resource for RequestData {
    const TYPE: &'static str = "request data";
}

const MAKE_INDIRECT: &str = "tfrt_test.make_indirect";

/// For each operand, true if its value is unshared: its producer is in this function and this is the only
/// use.
struct Unique(Vec<bool>);

impl Prepare for Unique {
    fn prepare(site: &KernelUse<'_>) -> Result<Unique, String> {
        let is_own = |(maker, n_uses): (Option<&str>, usize)| {
            n_uses == 1 && maker.is_some_and(|it| it != MAKE_INDIRECT)
        };
        Ok(Unique(site.operand_sources().map(is_own).collect()))
    }
}

/// The sum of the attributes of a use.
struct AttrSum(i32);

impl Prepare for AttrSum {
    fn prepare(site: &KernelUse<'_>) -> Result<AttrSum, String> {
        let attrs = (0..).map_while(|i| site.attr(i));
        attrs
            .map(|attr| match attr.view {
                AttrView::Int { dtype: Some(DType::I32), value, .. } => Ok(value as i32),
                other => Err(format!("expected i32 attributes, got {other:?}")),
            })
            .try_fold(0i32, |sum, term| Ok(sum.wrapping_add(term?)))
            .map(AttrSum)
    }
}

/// The observable states of values.
fn async_value_ref() -> Text {
    let number = |value: Option<&Value>| match value {
        Some(Value::I32(value)) => format!("available:{value}"),
        _ => "unavailable".to_owned(),
    };
    let (promise, there) = AsyncRef::pending();
    promise.set(Value::I32(2));
    let (promise, constructed) = AsyncRef::pending();
    let payload = 3;
    let mut seen = vec![number(there.value()), number(constructed.value()), format!("({payload})")];
    promise.set(Value::I32(payload));
    seen.push(number(constructed.value()));
    let (promise, emplaced) = AsyncRef::pending();
    seen.push(number(emplaced.value()));
    promise.set(Value::I32(4));
    seen.push(number(emplaced.value()));
    Text::from(seen.join(";").as_str())
}

fn sum(first: i32, others: &Rest<'_, i32>) -> Result<i32, Outcome> {
    others.iter().try_fold(first, |sum, term| Ok(sum.wrapping_add(term?)))
}

/// The number in a string plus the elements of an array.
fn sum_attr(start: &str, terms: &RawAttr<'_>) -> Result<i64, KernelError> {
    let start: i64 =
        start.trim().parse().map_err(|_| KernelError::invalid(format!("'{start}' is not a number")))?;
    let sum = |terms: &mut dyn Iterator<Item = i64>| terms.fold(start, i64::wrapping_add);
    match terms.view {
        AttrView::Scalars { dtype: DType::I32, bytes, .. } => {
            Ok(sum(&mut bytes.as_chunks().0.iter().map(|&word| i64::from(i32::from_le_bytes(word)))))
        }
        AttrView::Scalars { dtype: DType::I64, bytes, .. } => {
            Ok(sum(&mut bytes.as_chunks().0.iter().map(|&word| i64::from_le_bytes(word))))
        }
        AttrView::Array([]) => Ok(start),
        other => {
            let message = format!("expected an array of integers, got {other:?}");
            Err(KernelError::new(ErrorCode::InvalidArgument, message))
        }
    }
}
