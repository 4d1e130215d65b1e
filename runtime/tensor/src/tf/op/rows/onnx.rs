//! Operators of ONNX that TensorFlow does not have; the importer lowers to them.

use super::super::eval::onnx as eval;
use super::super::infer::{onnx, rules};
use super::super::row::{Cost, function};
use super::operators::operators;
use crate::tf::op::cost;

operators! { 18:
    /// For each index the element at this position along an axis.
    _GatherElements "x:T indices:Tindices -> y:T; T:type Tindices:type axis:int=0"
        => function(eval::gather_elements, onnx::gather_elements, Cost::Moves).no_gradient();
    /// A tensor with updates at positions along an axis, combined with the elements there in order.
    _ScatterElements
        "x:T indices:Tindices updates:T -> y:T; T:type Tindices:type axis:int=0 reduction:string='none'"
        => function(eval::scatter_elements, onnx::scatter_elements, Cost::Moves).overwrites(&[0]).no_gradient();
    /// A tensor with updates of slices by index, combined with the elements there in order.
    _ScatterNdReduce
        "x:T indices:Tindices updates:T -> y:T; T:type Tindices:type reduction:string='none'"
        => function(eval::scatter_nd_reduce, rules::same, Cost::Moves).overwrites(&[0]).no_gradient();
    /// The largest element, the mean or the norm of windows over images with any number of axes of space.
    _Pool
        "x:T -> y:T; T:type ceil_mode:bool=false count_include_pad:bool=false dilations:list(int)=[] \
         kernel_shape:list(int) mode:string='max' p:int=2 pads:list(int)=[] strides:list(int)=[]"
        => function(eval::pool, onnx::pool, Cost::By(cost::pool)).no_gradient();
    /// The largest elements of windows over images, and their positions among all elements.
    _MaxPoolWithIndices
        "x:T -> y:T indices:int64; T:type ceil_mode:bool=false dilations:list(int)=[] \
         kernel_shape:list(int) pads:list(int)=[] storage_order:int=0 strides:list(int)=[]"
        => function(eval::max_pool_with_indices, onnx::pool, Cost::By(cost::pool)).no_gradient();
    /// The products of matrices of bytes without their zero points.
    _QuantizedMatMul
        "a:Ta b:Tb a_zero_point:Ta b_zero_point:Tb -> y:int32; Ta:type Tb:type"
        => function(eval::quantized_matmul, onnx::quantized_matmul, Cost::By(cost::matmul)).no_gradient();
    /// The convolution of images of bytes with filters of bytes without their zero points.
    _QuantizedConv
        "x:Tx w:Tw x_zero_point:Tx w_zero_point:Tw -> y:int32; Tw:type Tx:type dilations:list(int)=[] \
         group:int=1 pads:list(int)=[] strides:list(int)=[]"
        => function(eval::quantized_conv, onnx::conv, Cost::By(cost::conv_of_channels_first)).no_gradient();
}
