//! Convolutions and poolings of volumes.

use super::super::cost;
use super::super::eval;
use super::super::infer::volumes;
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;

operators! { 13:
    /// The mean of each window of a volume.
    AvgPool3D
        "input:T -> output:T; T:type data_format:string='NDHWC' ksize:list(int) padding:string \
         strides:list(int)"
        => function(eval::volumes::pool3d, volumes::pool3d, Cost::By(cost::pool));
    /// The gradient of `AvgPool3D`.
    AvgPool3DGrad
        "orig_input_shape:int32 grad:T -> output:T; T:type data_format:string='NDHWC' ksize:list(int) \
         padding:string strides:list(int)"
        => function(eval::volumes::avg_pool3d_grad, volumes::sizes_first, Cost::By(cost::pool));
    /// The convolution of volumes with filters.
    Conv3D
        "input:T filter:T -> output:T; T:type data_format:string='NDHWC' \
         dilations:list(int)=[1,1,1,1,1] padding:string strides:list(int)"
        => function(eval::volumes::conv3d, volumes::conv3d, Cost::By(cost::conv3d));
    /// The gradient of `Conv3D` for the filters.
    Conv3DBackpropFilterV2
        "input:T filter_sizes:int32 out_backprop:T -> output:T; T:type data_format:string='NDHWC' \
         dilations:list(int)=[1,1,1,1,1] padding:string strides:list(int)"
        => function(
            eval::volumes::conv3d_backprop_filter,
            volumes::sizes_second,
            Cost::By(cost::conv3d_backprop_filter),
        );
    /// The gradient of `Conv3D` for the volumes; a transposed convolution.
    Conv3DBackpropInputV2
        "input_sizes:Tshape filter:T out_backprop:T -> output:T; T:type Tshape:type=int32 \
         data_format:string='NDHWC' dilations:list(int)=[1,1,1,1,1] padding:string strides:list(int)"
        => function(
            eval::volumes::conv3d_backprop_input,
            volumes::sizes_first,
            Cost::By(cost::conv3d_backprop_input),
        );
    /// For each window of an image, the maximum of its elements plus those of a filter.
    Dilation2D
        "input:T filter:T -> output:T; T:type padding:string rates:list(int) strides:list(int)"
        => function(eval::volumes::dilation2d, volumes::dilation2d, Cost::By(cost::dilation2d));
    /// The gradient of `Dilation2D` for the filters.
    Dilation2DBackpropFilter
        "input:T filter:T out_backprop:T -> filter_backprop:T; T:type padding:string rates:list(int) \
         strides:list(int)"
        => function(eval::volumes::dilation2d_backprop_filter, volumes::dilation2d_backprop_filter, Cost::By(cost::dilation2d_backprop)).differentiated(Gradient::Missing);
    /// The gradient of `Dilation2D` for the images.
    Dilation2DBackpropInput
        "input:T filter:T out_backprop:T -> in_backprop:T; T:type padding:string rates:list(int) \
         strides:list(int)"
        => function(eval::volumes::dilation2d_backprop_input, volumes::dilation2d_backprop_input, Cost::By(cost::dilation2d_backprop)).differentiated(Gradient::Missing);
    /// The elements of each window of a volume.
    ExtractVolumePatches
        "input:T -> patches:T; T:type ksizes:list(int) padding:string strides:list(int)"
        => function(eval::volumes::extract_volume_patches, volumes::extract_volume_patches, Cost::Moves);
    /// The maximum of each window of a volume.
    MaxPool3D
        "input:T -> output:T; T:type data_format:string='NDHWC' ksize:list(int) padding:string \
         strides:list(int)"
        => function(eval::volumes::pool3d, volumes::pool3d, Cost::By(cost::pool));
    /// The gradient of `MaxPool3D`.
    MaxPool3DGrad
        "orig_input:TInput orig_output:TInput grad:T -> output:T; T:type=float TInput:type=float \
         data_format:string='NDHWC' ksize:list(int) padding:string strides:list(int)"
        => function(
            eval::volumes::max_pool3d_grad,
            volumes::max_pool3d_grad,
            Cost::By(cost::pool_grad),
        );
    /// The gradient of `MaxPool3DGrad` by the gradient that it distributes.
    MaxPool3DGradGrad
        "orig_input:T orig_output:T grad:T -> output:T; T:type data_format:string='NDHWC' ksize:list(int) \
         padding:string strides:list(int)"
        => function(eval::volumes::max_pool3d_grad_grad, volumes::pool3d, Cost::By(cost::pool_grad));
}
