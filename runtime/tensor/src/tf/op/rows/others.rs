//! Unsupported operators with rows, so that the importer can name and type them.

use super::super::infer::rules;
use super::super::row::unsupported;
use super::operators::operators;

operators! { 10:
    /// The convolution over any number of spatial axes.
    Conv
        "input:T filter:T -> output:T; T:type batch_dims:int=1 data_format:string='CHANNELS_LAST' \
         dilations:list(int)=[] explicit_paddings:list(int)=[] groups:int=1 padding:string \
         strides:list(int)"
        => unsupported(rules::unknown);
    /// Values written into a string.
    StringFormat
        "inputs:*T -> output:string; T:list(type) placeholder:string='%s' summarize:int=3 \
         template:string='%s'"
        => unsupported(rules::unknown).no_gradient();
    /// The gradient of `_FusedBatchNormEx`.
    _FusedBatchNormGradEx
        "y_backprop:T x:T scale:float reserve_space_1:U reserve_space_2:U reserve_space_3:U offset:float \
         y:T -> x_backprop:T scale_backprop:U offset_backprop:U reserve_space_4:U reserve_space_5:U \
         side_input_backprop:num_side_inputs*T; T:type U:type activation_mode:string='Identity' \
         data_format:string='NHWC' epsilon:float=1e-04 is_training:bool=true num_side_inputs:int=0"
        => unsupported(rules::unknown).no_gradient();
}
