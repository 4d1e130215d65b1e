//! Fake quantization: floats rounded to the numbers of a quantized range.

use super::super::eval;
use super::super::infer::{quantize, rules};
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;

operators! { 15:
    /// Numbers rounded to those of a quantized range.
    FakeQuantWithMinMaxArgs
        "inputs:float -> outputs:float; max:float=6.0 min:float=-6.0 narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_args, rules::same, Cost::PerResult(8));
    /// The gradient of `FakeQuantWithMinMaxArgs`.
    FakeQuantWithMinMaxArgsGradient
        "gradients:float inputs:float -> backprops:float; max:float=6.0 min:float=-6.0 \
         narrow_range:bool=false num_bits:int=8"
        => function(eval::quantize::with_args_gradient, rules::all_merged, Cost::PerResult(3)).differentiated(Gradient::Missing);
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
        ).differentiated(Gradient::Missing);
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
        ).differentiated(Gradient::Missing);
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
}
