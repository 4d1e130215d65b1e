//! Host buffers as values: allocation, slices, conversion to tensors.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::mem::{ALIGNMENT, Buffer};

use crate::objects::{Tensor, refused};

/// A `!ht.host_buffer`.
#[derive(Clone, Debug)]
pub(super) struct HostBuffer(pub(super) Buffer);

impl Object for HostBuffer {
    const TYPES: &'static [&'static str] = &["!ht.host_buffer"];

    fn display(&self) -> String {
        format!("HostBuffer<pointer=0x{:x}, size={}>", self.0.address(), self.0.len())
    }
}

pub(super) fn add(registry: &mut Registry) {
    twins! { registry, "tfrt_dht";
        "allocate_buffer" => allocate;
        "get_buffer_slice" => slice;
    }
    registry.add(kernel!("tfrt_dht.get_buffer", |tensor: &Tensor, _: Chain| {
        Ok::<_, KernelError>((HostBuffer(tensor.buffer().map_err(refused)?.clone()), Chain))
    }));
    registry.add(kernel!("tfrt_dht.print_buffer", |buffer: &HostBuffer, _: Chain, cx: &ExecContext| {
        cx.print(&format!("{}\n", buffer.display())).map(|()| Chain)
    }));
}

fn allocate(size: i64, alignment: i64, cx: &ExecContext) -> Result<HostBuffer, KernelError> {
    let size = usize::try_from(size)
        .map_err(|_| KernelError::invalid(format!("a buffer cannot have {size} bytes")))?;
    let fits = usize::try_from(alignment).is_ok_and(|align| align.is_power_of_two() && align <= ALIGNMENT);
    if !fits {
        let message = format!("the alignment {alignment} is not a power of two of at most {ALIGNMENT}");
        return Err(KernelError::invalid(message));
    }
    Buffer::allocate(size, cx.allocator())
        .map(HostBuffer)
        .map_err(|_| KernelError::new(ErrorCode::ResourceExhausted, "Cannot allocate host buffer"))
}

fn slice(buffer: &HostBuffer, offset: i64, size: i64) -> Result<HostBuffer, KernelError> {
    let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
    let range = range.and_then(|(offset, size)| Some(offset..offset.checked_add(size)?));
    let part = range.filter(|range| range.end <= buffer.0.len()).and_then(|range| buffer.0.part(range).ok());
    part.map(HostBuffer).ok_or_else(|| {
        let message = format!("no {size} bytes from {offset} on in a buffer of {} bytes", buffer.0.len());
        KernelError::new(ErrorCode::OutOfRange, message)
    })
}
