//! The fast operators with the signatures of the reference: they run on the calling thread and do not
//! overwrite operands.

use std::sync::Arc;

use super::fast::{self, Cx};
use super::{
    BatchNorm, BatchNormAttrs, Binary, Compare, Conv2dAttrs, ImageFormat, Pool, Pool2dAttrs, Reduce,
    Transposition, Unary,
};
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

macro_rules! serial {
    ($($name:ident($($arg:ident: $type:ty),*) = ($($value:expr),*);)*) => {$(
        #[doc = concat!("See [`reference::", stringify!($name), "`](super::reference::", stringify!($name), ").")]
        pub fn $name($($arg: $type,)* allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
            fast::$name($($value,)* &Cx::serial(allocator))
        }
    )*};
}

serial! {
    unary(op: Unary, x: &HostTensor) = (op, x.clone());
    leaky_relu(x: &HostTensor, alpha: f32) = (x.clone(), alpha);
    cast(x: &HostTensor, to: DType) = (x, to);
    binary(op: Binary, a: &HostTensor, b: &HostTensor) = (op, a.clone(), b.clone());
    compare(op: Compare, a: &HostTensor, b: &HostTensor) = (op, a, b);
    select(condition: &HostTensor, a: &HostTensor, b: &HostTensor) = (condition, a, b);
    matmul(a: &HostTensor, trans_a: Transposition, b: &HostTensor, trans_b: Transposition) = (a, trans_a, b, trans_b);
    batch_matmul(a: &HostTensor, trans_a: Transposition, b: &HostTensor, trans_b: Transposition) = (a, trans_a, b, trans_b);
    einsum(equation: &str, inputs: &[&HostTensor]) = (equation, inputs);
    conv2d(x: &HostTensor, filter: &HostTensor, attrs: &Conv2dAttrs) = (x, filter, attrs);
    conv2d_backprop_input(input: &Shape, filter: &HostTensor, dy: &HostTensor, attrs: &Conv2dAttrs) = (input, filter, dy, attrs);
    conv2d_backprop_filter(x: &HostTensor, filter: &Shape, dy: &HostTensor, attrs: &Conv2dAttrs) = (x, filter, dy, attrs);
    depthwise_conv2d(x: &HostTensor, filter: &HostTensor, attrs: &Conv2dAttrs) = (x, filter, attrs);
    pool(kind: Pool, x: &HostTensor, attrs: &Pool2dAttrs) = (kind, x, attrs);
    bias_add(x: &HostTensor, bias: &HostTensor, format: ImageFormat) = (x.clone(), bias, format);
    batch_norm(x: &HostTensor, by: &BatchNorm<'_>, attrs: &BatchNormAttrs) = (x.clone(), by, attrs);
    reduce(op: Reduce, x: &HostTensor, axes: &[i64], keep_dims: bool) = (op, x, axes, keep_dims);
    softmax(x: &HostTensor) = (x.clone());
    log_softmax(x: &HostTensor) = (x.clone());
    transpose(x: &HostTensor, perm: &[i64]) = (x, perm);
}
