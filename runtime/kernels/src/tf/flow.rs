//! Predicates and branch indices of control flow, read from tensors.

use befrost_kernel_api::kernel::Attr;
use befrost_kernel_api::{KernelError, Registry, kernel};
use befrost_tensor::{DType, HostTensor};

use crate::objects::{Tensor, refused};

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tf._Predicate", |x: &Tensor| predicate(x)));
    registry.add(kernel!("tf._BranchIndex", |x: &Tensor, branches: Attr<i64>| branch_index(x, branches.0)));
}

/// The truth value of a tensor in TensorFlow: a scalar is true if it is not 0, other tensors if they are not
/// empty.
pub(super) fn predicate(x: &HostTensor) -> Result<bool, KernelError> {
    if x.shape().rank() > 0 {
        return Ok(x.num_elements() > 0);
    }
    let bytes = x.read_bytes().map_err(refused)?;
    Ok(match x.dtype() {
        // The sign is shifted out: -0.0 is false.
        DType::F16 | DType::BF16 => u16::from_le_bytes([bytes[0], bytes[1]]) << 1 != 0,
        DType::F32 => x.read::<f32>().map_err(refused)?[0] != 0.0,
        DType::F64 => x.read::<f64>().map_err(refused)?[0] != 0.0,
        _ => bytes.iter().any(|&byte| byte != 0),
    })
}

/// The index of a branch; an index out of range selects the last branch, as in TensorFlow.
pub(super) fn branch_index(x: &HostTensor, branches: i64) -> Result<i32, KernelError> {
    let index = match (x.num_elements(), x.read::<i32>()) {
        (1, Ok(index)) => i64::from(index[0]),
        _ => {
            return Err(KernelError::invalid(format!(
                "a branch index of {} and shape {}",
                x.dtype(),
                x.shape()
            )));
        }
    };
    let index = branch_of(index, branches);
    i32::try_from(index).map_err(|_| KernelError::invalid(format!("branch {index}")))
}

/// The number among `branches` that an index selects.
pub(super) fn branch_of(index: i64, branches: i64) -> i64 {
    if (0..branches).contains(&index) { index } else { branches.saturating_sub(1) }
}
