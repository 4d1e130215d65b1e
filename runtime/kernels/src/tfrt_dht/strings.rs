//! `tfrt_sht`: tensors of strings.

use bef_format::AttrView;
use befrost_kernel_api::kernel::RawAttr;
use befrost_kernel_api::{ExecContext, KernelError, Registry, kernel};
use befrost_tensor::StringTensor;

use crate::objects::{Strings, WriteOnceStrings, refused};
use crate::ts::shape_attr;

pub(super) fn add(registry: &mut Registry) {
    twins! { registry, "tfrt_sht";
        "create_tensor" => create;
    }
    registry.add(kernel!("tfrt_sht_sync.create_uninitialized_tensor", empty));
}

fn create(shape: RawAttr<'_>, values: RawAttr<'_>, cx: &ExecContext) -> Result<Strings, KernelError> {
    let strings: Vec<&str> = values
        .elements()
        .map(|element| match element.view {
            AttrView::Str(text) => Ok(text),
            other => {
                Err(KernelError::invalid(format!("expected an array of strings, found {other:?} in it")))
            }
        })
        .collect::<Result<_, _>>()?;
    let shape = shape_attr(&shape)?;
    if shape.num_elements() != strings.len() {
        return Err(KernelError::invalid("Shape mismatch"));
    }
    StringTensor::new(shape, &strings, cx.allocator()).map(Strings).map_err(refused)
}

fn empty(shape: RawAttr<'_>, cx: &ExecContext) -> Result<WriteOnceStrings, KernelError> {
    let shape = shape_attr(&shape)?;
    let n = shape.num_elements();
    // As much memory as the tensor needs anyway.
    let mut strings: Vec<&str> = Vec::new();
    strings.try_reserve_exact(n).map_err(|error| KernelError::invalid(format!("{n} strings: {error}")))?;
    strings.resize(n, "");
    StringTensor::new(shape, &strings, cx.allocator()).map(WriteOnceStrings::new).map_err(refused)
}
