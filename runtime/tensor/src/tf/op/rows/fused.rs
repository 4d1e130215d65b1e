//! Operators that only compilers create: TensorFlow's fusions, and Befrost's fused, packed and recognized
//! layers.

use super::super::cost;
use super::super::eval;
use super::super::infer::{layers, onnx, rules};
use super::super::row::{Activates, Cost, FLOATS, Gradient, ProductForm, ProductOps, function};
use super::operators::operators;

operators! { 6:
    /// `FusedBatchNormV3` with an addend and an activation.
    _FusedBatchNormEx
        "x:T scale:U offset:U mean:U variance:U side_input:num_side_inputs*T -> y:T batch_mean:U \
         batch_variance:U reserve_space_1:U reserve_space_2:U reserve_space_3:U; T:type U:type \
         activation_mode:string='Identity' data_format:string='NHWC' epsilon:float=1e-04 \
         exponential_avg_factor:float=1.0 is_training:bool=true num_side_inputs:int=0"
        => function(eval::layers::fused_batch_norm_ex, layers::batch_norm, Cost::PerOperand(6)).differentiated(Gradient::Expands);
    /// `Conv2D` and the operators that follow it.
    _FusedConv2D
        "input:T filter:T args:*TArgs host_args:num_host_args*float -> output:T; T:type TArgs:list(type) \
         data_format:string='NHWC' dilations:list(int)=[1,1,1,1] epsilon:float=1e-04 \
         explicit_paddings:list(int)=[] filter_format:string='HWIO' fused_ops:list(string)=[] \
         leakyrelu_alpha:float=0.2 num_args:int num_host_args:int=0 padding:string strides:list(int) \
         use_cudnn_on_gpu:bool=true"
        => function(
            eval::fused::fused_conv2d,
            layers::conv2d,
            Cost::By(cost::conv2d),
        ).layout("i.g*>i").differentiated(Gradient::Expands).nchw_cost(16).product(ProductOps::CONV2D, ProductForm::Fused);
    /// `DepthwiseConv2dNative` and the operators that follow it.
    _FusedDepthwiseConv2dNative
        "input:T filter:T args:num_args*T -> output:T; T:type data_format:string='NHWC' \
         dilations:list(int)=[1,1,1,1] epsilon:float=1e-04 fused_ops:list(string)=[] \
         leakyrelu_alpha:float=0.2 num_args:int padding:string strides:list(int)"
        => function(
            eval::fused::fused_depthwise_conv2d_native,
            layers::depthwise_conv2d_native,
            Cost::By(cost::depthwise),
        ).layout("i.g*>i").differentiated(Gradient::Expands).nchw_cost(16).product(ProductOps::DEPTHWISE, ProductForm::Fused);
    /// `MatMul` and the operators that follow it.
    _FusedMatMul
        "a:T b:T args:num_args*T -> product:T; T:type epsilon:float=1e-04 fused_ops:list(string)=[] \
         leakyrelu_alpha:float=0.2 num_args:int transpose_a:bool=false transpose_b:bool=false"
        => function(eval::fused::fused_matmul, layers::matmul, Cost::By(cost::matmul)).differentiated(Gradient::Expands).product(ProductOps::MATMUL, ProductForm::Fused);
    /// The attention of queries to keys and values, head by head.
    _FusedAttention
        "q:float k:float v:float mask:num_masks*float -> y:float; heads_inside:bool=false num_masks:int=0 \
         scale:float=1.0"
        => function(
            eval::packed::fused_attention,
            layers::fused_attention,
            Cost::By(cost::attention),
        ).differentiated(Gradient::Expands);
    /// A program of elementwise operators.
    _FusedElementwise
        "args:*TArgs -> y:*TResults; TArgs:list(type) TResults:list(type) numbers:list(float)=[] \
         ops:list(string) results:list(int) values:list(int)"
        => function(
            eval::packed::fused_elementwise,
            layers::fused_elementwise,
            Cost::By(cost::elementwise_program),
        ).overwrites_any().differentiated(Gradient::Missing);
    /// The Gaussian error linear unit.
    _Gelu "x:T -> y:T; T:type approximate:bool=false"
        => function(
            eval::packed::gelu,
            rules::same,
            Cost::PerResult(16),
        ).overwrites(&[0]).layout("i>i").activates(Activates::Matrices);
    /// The normalization of each row by its own moments.
    _LayerNorm "x:T scale:T offset:T -> y:T; T:type epsilon:float"
        => function(eval::packed::layer_norm, rules::same, Cost::PerResult(8)).overwrites(&[0]);
    /// The gradient of `_LayerNorm`, of dy, x and the scale: by x, by the scale and by the offset.
    _LayerNormGrad "dy:T x:T scale:T -> dx:T dscale:T doffset:T; T:type epsilon:float"
        => function(
            eval::packed::layer_norm_grad,
            layers::layer_norm_grad,
            Cost::PerOperand(8),
        ).differentiated(Gradient::Expands);
    /// The right matrix of products in the form in which those with packed weights read it.
    _PackMatrix "x:float -> weights:uint8; transpose:bool=false"
        => function(eval::packed::pack_matrix, layers::pack_matrix, Cost::PerOperand(1)).total(FLOATS).differentiated(Gradient::Missing);
    /// A depthwise convolution with packed filters, the 1x1 convolutions before and behind it, and the
    /// operators that follow each.
    _PackedBottleneck
        "input:float weights:num_weights*uint8 args:num_args*float -> output:float; \
         data_format:string='NHWC' dilations:list(int)=[1,1,1,1] expand_ops:list(string)=[] \
         expand_shape:list(int)=[] explicit_paddings:list(int)=[] filter_shape:list(int) \
         fused_ops:list(string)=[] leakyrelu_alpha:float=0.2 num_args:int num_weights:int padding:string \
         project_ops:list(string)=[] project_shape:list(int)=[] strides:list(int)"
        => function(
            eval::packed::packed_bottleneck,
            layers::packed_bottleneck,
            Cost::By(cost::packed_bottleneck),
        ).differentiated(Gradient::Missing);
    /// `Conv2D` with packed filters, and the operators that follow it.
    _PackedConv2D
        "input:T weights:uint8 args:num_args*float residuals:num_residuals*U -> output:U; T:type=float \
         U:type=float data_format:string='NHWC' dilations:list(int)=[1,1,1,1] \
         explicit_paddings:list(int)=[] filter_shape:list(int) fused_ops:list(string)=[] \
         input_range:list(float)=[] input_zero_point:int=0 leakyrelu_alpha:float=0.2 num_args:int \
         num_residuals:int=0 output_scale:float=1.0 output_zero_point:int=0 padding:string \
         residual_scale:float=1.0 residual_zero_point:int=0 strides:list(int) sum_scale:float=1.0 \
         sum_zero_point:int=0"
        => function(
            eval::packed::packed_conv2d,
            layers::packed_conv2d,
            Cost::By(cost::packed_conv2d),
        ).differentiated(Gradient::Missing).product(ProductOps::CONV2D, ProductForm::Packed);
    /// `DepthwiseConv2dNative` with packed filters, and the operators that follow it.
    _PackedDepthwiseConv2dNative
        "input:T weights:uint8 args:num_args*float residuals:num_residuals*U -> output:U; T:type=float \
         U:type=float data_format:string='NHWC' dilations:list(int)=[1,1,1,1] \
         explicit_paddings:list(int)=[] filter_shape:list(int) fused_ops:list(string)=[] \
         input_range:list(float)=[] input_zero_point:int=0 leakyrelu_alpha:float=0.2 num_args:int \
         num_residuals:int=0 output_scale:float=1.0 output_zero_point:int=0 padding:string \
         residual_scale:float=1.0 residual_zero_point:int=0 strides:list(int) sum_scale:float=1.0 \
         sum_zero_point:int=0"
        => function(
            eval::packed::packed_depthwise_conv2d_native,
            layers::packed_depthwise_conv2d_native,
            Cost::By(cost::packed_depthwise),
        ).differentiated(Gradient::Missing).product(ProductOps::DEPTHWISE, ProductForm::Packed);
    /// `_Gru` of the input's part of the gates, with packed weights of the state.
    _PackedGru
        "from_x:float r:num_weights*uint8 hidden_bias:float sequence_lens:int32 initial_h:float \
         -> y:float y_h:float; \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 linear_before_reset:int=0 num_weights:int"
        => function(
            eval::onnx::packed_gru,
            onnx::packed_recurrent,
            Cost::By(cost::packed_recurrent),
        ).differentiated(Gradient::Missing);
    /// `_Lstm` of the input's part of the gates, with packed weights of the state.
    _PackedLstm
        "from_x:float r:num_weights*uint8 sequence_lens:int32 initial_h:float initial_c:float p:float \
         -> y:float y_h:float y_c:float; \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 input_forget:bool=false num_weights:int"
        => function(
            eval::onnx::packed_lstm,
            onnx::packed_recurrent,
            Cost::By(cost::packed_recurrent),
        ).differentiated(Gradient::Missing);
    /// A product with packed weights, and the operators that follow it.
    _PackedMatMul
        "a:T weights:uint8 args:num_args*float residuals:num_residuals*U -> product:U; T:type=float \
         U:type=float contracted:int=1 fused_ops:list(string)=[] input_range:list(float)=[] \
         input_zero_point:int=0 leakyrelu_alpha:float=0.2 num_args:int num_residuals:int=0 \
         output_scale:float=1.0 output_zero_point:int=0 residual_scale:float=1.0 \
         residual_zero_point:int=0 shape:list(int) sum_scale:float=1.0 sum_zero_point:int=0"
        => function(
            eval::packed::packed_matmul,
            layers::packed_matmul,
            Cost::By(cost::packed_matmul),
        ).differentiated(Gradient::Missing).product(ProductOps::MATMUL, ProductForm::Packed);
    /// `_Rnn` of the input's part of the gates, with packed weights of the state.
    _PackedRnn
        "from_x:float r:num_weights*uint8 sequence_lens:int32 initial_h:float -> y:float y_h:float; \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 num_weights:int"
        => function(
            eval::onnx::packed_rnn,
            onnx::packed_recurrent,
            Cost::By(cost::packed_recurrent),
        ).differentiated(Gradient::Missing);
}
