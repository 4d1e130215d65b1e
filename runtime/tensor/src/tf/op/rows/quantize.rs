//! Quantization: floats rounded to the numbers of a quantized range, and tensors of quantized integers.

use super::super::eval;
use super::super::infer::{quantize, quantized, rules};
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;
use crate::tf::op::cost;

operators! { 15:
    /// Numbers rounded to those of a quantized range.
    FakeQuantWithMinMaxArgs
        "inputs:float -> outputs:float; max:float=6.0 min:float=-6.0 narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_args, rules::same, Cost::PerResult(8));
    /// The gradient of `FakeQuantWithMinMaxArgs`.
    FakeQuantWithMinMaxArgsGradient
        "gradients:float inputs:float -> backprops:float; max:float=6.0 min:float=-6.0 \
         narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_args_gradient, rules::all_merged, Cost::PerResult(3)).no_gradient();
    /// Numbers rounded to those of a quantized range.
    FakeQuantWithMinMaxVars
        "inputs:float min:float max:float -> outputs:float; narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_vars, quantize::with_vars, Cost::PerResult(8));
    /// The gradients of `FakeQuantWithMinMaxVars`.
    FakeQuantWithMinMaxVarsGradient
        "gradients:float inputs:float min:float max:float -> backprops_wrt_input:float \
         backprop_wrt_min:float backprop_wrt_max:float; narrow_range:bool=false num_bits:int=8"
        => function(
            eval::quantize::with_vars_gradient,
            quantize::with_vars_gradient,
            Cost::PerResult(3),
        ).no_gradient();
    /// Numbers rounded to those of a quantized range, one range for each channel.
    FakeQuantWithMinMaxVarsPerChannel
        "inputs:float min:float max:float -> outputs:float; narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_vars, quantize::with_vars, Cost::PerResult(8));
    /// The gradients of `FakeQuantWithMinMaxVarsPerChannel`.
    FakeQuantWithMinMaxVarsPerChannelGradient
        "gradients:float inputs:float min:float max:float -> backprops_wrt_input:float \
         backprop_wrt_min:float backprop_wrt_max:float; narrow_range:bool=false num_bits:int=8"
        => function(
            eval::quantize::with_vars_gradient,
            quantize::with_vars_gradient,
            Cost::PerResult(3),
        ).no_gradient();
    /// Numbers rounded to multiples of a step, by which quantized integers cover a range.
    QuantizeAndDequantizeV2
        "input:T input_min:T input_max:T -> output:T; T:type axis:int=-1 narrow_range:bool=false \
         num_bits:int=8 range_given:bool=false round_mode:string='HALF_TO_EVEN' signed_input:bool=true"
        => function(eval::quantize::there_and_back, quantize::there_and_back, Cost::PerResult(8));
    /// `QuantizeAndDequantizeV2` with the number of bits as an operand.
    QuantizeAndDequantizeV3
        "input:T input_min:T input_max:T num_bits:int32 -> output:T; T:type axis:int=-1 \
         narrow_range:bool=false range_given:bool=true signed_input:bool=true"
        => function(eval::quantize::there_and_back_by, quantize::there_and_back, Cost::PerResult(8));
    /// `QuantizeAndDequantizeV2`, whose gradient is 0 outside of the range.
    QuantizeAndDequantizeV4
        "input:T input_min:T input_max:T -> output:T; T:type axis:int=-1 narrow_range:bool=false \
         num_bits:int=8 range_given:bool=false round_mode:string='HALF_TO_EVEN' signed_input:bool=true"
        => function(eval::quantize::there_and_back, quantize::there_and_back, Cost::PerResult(8));
    /// The gradients of `QuantizeAndDequantizeV4`.
    QuantizeAndDequantizeV4Grad
        "gradients:T input:T input_min:T input_max:T -> input_backprop:T input_min_backprop:T \
         input_max_backprop:T; T:type axis:int=-1"
        => function(
            eval::quantize::there_and_back_gradient,
            quantize::there_and_back_gradient,
            Cost::PerResult(2),
        );
    /// The quantized integers that stand for numbers, and the ends of their range.
    QuantizeV2
        "input:float min_range:float max_range:float -> output:T output_min:float output_max:float; T:qtype \
         axis:int=-1 ensure_minimum_range:float=0.009999999776482582 mode:string='MIN_COMBINED' \
         narrow_range:bool=false round_mode:string='HALF_AWAY_FROM_ZERO'"
        => function(eval::quantized::quantize, quantized::quantize, Cost::PerResult(4)).differentiated(Gradient::Missing);
    /// The numbers for which quantized integers stand.
    Dequantize
        "input:T min_range:float max_range:float -> output:dtype; T:qtype axis:int=-1 dtype:type=float \
         mode:string='MIN_COMBINED' narrow_range:bool=false"
        => function(eval::quantized::dequantize, quantized::dequantize, Cost::PerResult(2)).differentiated(Gradient::Missing);
    /// Quantized integers of a narrower type and of the range of the tensor's numbers.
    QuantizeDownAndShrinkRange
        "input:Tinput input_min:float input_max:float -> output:out_type output_min:float output_max:float; \
         Tinput:qtype out_type:qtype"
        => function(eval::quantized::quantize_down, quantized::same, Cost::PerResult(6)).differentiated(Gradient::Missing);
    /// Quantized integers of a narrower type and of a requested range.
    Requantize
        "input:Tinput input_min:float input_max:float requested_output_min:float requested_output_max:float \
         -> output:out_type output_min:float output_max:float; Tinput:qtype out_type:qtype"
        => function(eval::quantized::requantize, quantized::same, Cost::PerResult(4)).differentiated(Gradient::Missing);
    /// The range of the numbers for which quantized integers stand.
    RequantizationRange
        "input:Tinput input_min:float input_max:float -> output_min:float output_max:float; Tinput:qtype"
        => function(eval::quantized::requantization_range, quantized::range, Cost::PerOperand(1)).differentiated(Gradient::Missing);
    /// The products of quantized matrices, and their range.
    QuantizedMatMul
        "a:T1 b:T2 min_a:float max_a:float min_b:float max_b:float -> out:Toutput min_out:float \
         max_out:float; T1:qtype T2:qtype Tactivation:qtype=quint8 Toutput:qtype=qint32 transpose_a:bool=false \
         transpose_b:bool=false"
        => function(eval::quantized::matmul, quantized::matmul, Cost::By(cost::matmul)).differentiated(Gradient::Missing);
    /// The convolution of quantized images with quantized filters, and its range.
    QuantizedConv2D
        "input:Tinput filter:Tfilter min_input:float max_input:float min_filter:float max_filter:float \
         -> output:out_type min_output:float max_output:float; Tfilter:qtype Tinput:qtype \
         dilations:list(int)=[1,1,1,1] out_type:qtype=qint32 padding:string strides:list(int)"
        => function(eval::quantized::conv2d, quantized::conv2d, Cost::By(cost::conv2d)).differentiated(Gradient::Missing);
    /// Quantized numbers plus one bias for each index of the last axis.
    QuantizedBiasAdd
        "input:T1 bias:T2 min_input:float max_input:float min_bias:float max_bias:float -> output:out_type \
         min_out:float max_out:float; T1:qtype T2:qtype out_type:qtype"
        => function(eval::quantized::bias_add, quantized::bias_add, Cost::PerResult(6)).differentiated(Gradient::Missing);
    /// The sums of quantized numbers, and their range.
    QuantizedAdd
        "x:T1 y:T2 min_x:float max_x:float min_y:float max_y:float -> z:Toutput min_z:float max_z:float; \
         T1:qtype T2:qtype Toutput:qtype=qint32"
        => function(eval::quantized::add, quantized::broadcasting, Cost::PerResult(6)).differentiated(Gradient::Missing);
    /// The products of quantized numbers, and their range.
    QuantizedMul
        "x:T1 y:T2 min_x:float max_x:float min_y:float max_y:float -> z:Toutput min_z:float max_z:float; \
         T1:qtype T2:qtype Toutput:qtype=qint32"
        => function(eval::quantized::mul, quantized::broadcasting, Cost::PerResult(4)).differentiated(Gradient::Missing);
    /// The larger of quantized numbers and 0.
    QuantizedRelu
        "features:Tinput min_features:float max_features:float -> activations:out_type \
         min_activations:float max_activations:float; Tinput:qtype out_type:qtype=quint8"
        => function(eval::quantized::relu, quantized::same, Cost::PerResult(1)).differentiated(Gradient::Missing);
    /// Quantized numbers clamped to 0 and 6.
    QuantizedRelu6
        "features:Tinput min_features:float max_features:float -> activations:out_type \
         min_activations:float max_activations:float; Tinput:qtype out_type:qtype=quint8"
        => function(eval::quantized::relu, quantized::same, Cost::PerResult(1)).differentiated(Gradient::Missing);
    /// Quantized numbers clamped to 0 and a maximum.
    QuantizedReluX
        "features:Tinput max_value:float min_features:float max_features:float -> activations:out_type \
         min_activations:float max_activations:float; Tinput:qtype out_type:qtype=quint8"
        => function(eval::quantized::relu_x, quantized::same, Cost::PerResult(1)).differentiated(Gradient::Missing);
    /// The largest quantized number of each window.
    QuantizedMaxPool
        "input:T min_input:float max_input:float -> output:T min_output:float max_output:float; T:qtype \
         ksize:list(int) padding:string strides:list(int)"
        => function(eval::quantized::max_pool, quantized::pool, Cost::By(cost::pool)).differentiated(Gradient::Missing);
    /// The mean of the quantized numbers of each window.
    QuantizedAvgPool
        "input:T min_input:float max_input:float -> output:T min_output:float max_output:float; T:qtype \
         ksize:list(int) padding:string strides:list(int)"
        => function(eval::quantized::avg_pool, quantized::pool, Cost::By(cost::pool)).differentiated(Gradient::Missing);
    /// Quantized tensors joined along an axis, in a common range.
    QuantizedConcat
        "concat_dim:int32 values:N*T input_mins:N*float input_maxes:N*float -> output:T output_min:float \
         output_max:float; N:int T:qtype"
        => function(eval::quantized::concat, quantized::join, Cost::PerResult(4)).differentiated(Gradient::Missing);
    /// A quantized tensor in another shape.
    QuantizedReshape
        "tensor:T shape:Tshape input_min:float input_max:float -> output:T output_min:float \
         output_max:float; T:qtype Tshape:type=int32"
        => function(eval::quantized::reshape, quantized::reshape, Cost::Free).differentiated(Gradient::Missing);
    /// Quantized images normalized by mean, variance, offset and factor of each channel.
    QuantizedBatchNormWithGlobalNormalization
        "t:Tinput t_min:float t_max:float m:Tinput m_min:float m_max:float v:Tinput v_min:float v_max:float \
         beta:Tinput beta_min:float beta_max:float gamma:Tinput gamma_min:float gamma_max:float \
         -> result:out_type result_min:float result_max:float; Tinput:qtype out_type:qtype \
         scale_after_normalization:bool variance_epsilon:float"
        => function(eval::quantized::batch_norm, quantized::same, Cost::PerResult(8)).differentiated(Gradient::Missing);
    /// Quantized images, each channel of an image normalized to mean 0 and variance 1.
    QuantizedInstanceNorm
        "x:T x_min:float x_max:float -> y:T y_min:float y_max:float; T:qtype given_y_max:float=0.0 \
         given_y_min:float=0.0 min_separation:float=0.0010000000474974513 output_range_given:bool=false \
         variance_epsilon:float=9.999999747378752e-06"
        => function(eval::quantized::instance_norm, quantized::same, Cost::PerResult(16)).differentiated(Gradient::Missing);
    /// Quantized images in another size, interpolated between two pixels along each axis.
    QuantizedResizeBilinear
        "images:T size:int32 min:float max:float -> resized_images:T out_min:float out_max:float; T:qtype \
         align_corners:bool=false half_pixel_centers:bool=false"
        => function(eval::quantized::resize_bilinear, quantized::resize, Cost::PerResult(8)).differentiated(Gradient::Missing);
    /// The numbers for which integers with scales and zero points stand.
    UniformDequantize
        "input:Tin scales:float zero_points:int32 -> output:Tout; Tin:qtype Tout:type \
         quantization_axis:int=-1 quantization_max_val:int quantization_min_val:int"
        => function(eval::quantized::uniform_dequantize, quantized::uniform, Cost::PerResult(2)).differentiated(Gradient::Missing);
    /// The integers that stand for numbers, with scales and zero points.
    UniformQuantize
        "input:Tin scales:float zero_points:int32 -> output:Tout; Tin:type Tout:qtype \
         quantization_axis:int=-1 quantization_max_val:int quantization_min_val:int"
        => function(eval::quantized::uniform_quantize, quantized::uniform, Cost::PerResult(4)).differentiated(Gradient::Missing);
    /// The sums of integers with scales and zero points.
    UniformQuantizedAdd
        "lhs:T rhs:T lhs_scales:float lhs_zero_points:int32 rhs_scales:float rhs_zero_points:int32 \
         output_scales:float output_zero_points:int32 -> output:T; T:qtype \
         lhs_quantization_axis:int=-1 lhs_quantization_max_val:int lhs_quantization_min_val:int \
         output_quantization_axis:int=-1 output_quantization_max_val:int output_quantization_min_val:int \
         rhs_quantization_axis:int=-1 rhs_quantization_max_val:int rhs_quantization_min_val:int"
        => function(eval::quantized::uniform_add, quantized::uniform_add, Cost::PerResult(8)).differentiated(Gradient::Missing);
    /// Integers with scales and zero points, clamped.
    UniformQuantizedClipByValue
        "operand:T min:T max:T scales:float zero_points:int32 -> output:T; T:qtype \
         quantization_axis:int=-1 quantization_max_val:int quantization_min_val:int"
        => function(eval::quantized::uniform_clip, quantized::uniform, Cost::PerResult(2)).differentiated(Gradient::Missing);
    /// The product of matrices of integers with scales and zero points.
    UniformQuantizedDot
        "lhs:Tin rhs:Tin lhs_scales:float lhs_zero_points:int32 rhs_scales:float rhs_zero_points:int32 \
         output_scales:float output_zero_points:int32 -> output:Tout; Tin:qtype Tout:qtype \
         lhs_quantization_axis:int=-1 lhs_quantization_max_val:int lhs_quantization_min_val:int \
         output_quantization_axis:int=-1 output_quantization_max_val:int output_quantization_min_val:int \
         rhs_quantization_axis:int=-1 rhs_quantization_max_val:int rhs_quantization_min_val:int"
        => function(eval::quantized::uniform_dot, quantized::uniform_dot, Cost::By(cost::matmul)).differentiated(Gradient::Missing);
    /// The product of a matrix of numbers with a matrix of integers with scales and zero points.
    UniformQuantizedDotHybrid
        "lhs:Tlhs rhs:Trhs rhs_scales:float rhs_zero_points:int32 -> output:Tout; Tlhs:type Tout:type Trhs:qtype \
         rhs_quantization_axis:int=-1 rhs_quantization_max_val:int rhs_quantization_min_val:int"
        => function(eval::quantized::uniform_dot_hybrid, quantized::uniform_dot, Cost::By(cost::matmul)).differentiated(Gradient::Missing);
    /// The integers for the same numbers with other scales and zero points.
    UniformRequantize
        "input:Tin input_scales:float input_zero_points:int32 output_scales:float output_zero_points:int32 \
         -> output:Tout; Tin:qtype Tout:qtype \
         input_quantization_axis:int=-1 input_quantization_max_val:int input_quantization_min_val:int \
         output_quantization_axis:int=-1 output_quantization_max_val:int output_quantization_min_val:int"
        => function(eval::quantized::uniform_requantize, quantized::uniform, Cost::PerResult(6)).differentiated(Gradient::Missing);
}
