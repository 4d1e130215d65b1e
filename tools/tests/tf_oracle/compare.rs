//! Equality of tensors: exact for integers, within a tolerance for floats.

use befrost::{DType, HostTensor};
use befrost_tensor::Complex128;
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::reference::cast;

/// The maximum difference of floats: `absolute + relative * max|want|`.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    pub(crate) relative: f64,
    pub(crate) absolute: f64,
}

/// Compares type, shape and elements. The error describes the difference.
pub(crate) fn same_tensor(found: &HostTensor, want: &HostTensor, by: Tolerance) -> Result<(), String> {
    let typed = |x: &HostTensor| format!("{}{}", x.dtype(), x.shape());
    if typed(found) != typed(want) {
        return Err(format!("{} instead of {}", typed(found), typed(want)));
    }
    let is_float = matches!(want.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let is_same = if is_float {
        near(&wide(found)?, &wide(want)?, by)
    } else if matches!(want.dtype(), DType::Complex64 | DType::Complex128) {
        near(&parts(found)?, &parts(want)?, by)
    } else {
        *found.read_bytes().map_err(|error| error.to_string())?
            == *want.read_bytes().map_err(|error| error.to_string())?
    };
    let shown = |x: &HostTensor| befrost_tensor::print::tensor(x).unwrap_or_default();
    if is_same { Ok(()) } else { Err(format!("{} instead of {}", shown(found), shown(want))) }
}

fn wide(x: &HostTensor) -> Result<Vec<f64>, String> {
    let plain: std::sync::Arc<dyn Allocator> = Malloc::shared();
    let wide = cast(x, DType::F64, &plain).map_err(|error| error.to_string())?;
    Ok(wide.read::<f64>().map_err(|error| error.to_string())?.to_vec())
}

/// The real and imaginary parts of all elements.
fn parts(x: &HostTensor) -> Result<Vec<f64>, String> {
    let plain: std::sync::Arc<dyn Allocator> = Malloc::shared();
    let wide = cast(x, DType::Complex128, &plain).map_err(|error| error.to_string())?;
    let wide = wide.read::<Complex128>().map_err(|error| error.to_string())?;
    Ok(wide.iter().flat_map(|x| [x.re, x.im]).collect())
}

fn near(found: &[f64], want: &[f64], by: Tolerance) -> bool {
    let largest = want.iter().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()));
    let allowed = by.absolute + by.relative * largest;
    found.iter().zip(want).all(|(f, w)| f == w || f.is_nan() && w.is_nan() || (f - w).abs() <= allowed)
}
