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
}
