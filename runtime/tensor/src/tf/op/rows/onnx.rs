//! Operators of ONNX that TensorFlow does not have. The ONNX importer creates them.

use super::super::eval::onnx as eval;
use super::super::infer::{onnx, rules};
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;
use crate::tf::op::cost;

operators! { 18:
    /// For each index, the element at this position along an axis.
    _GatherElements "x:T indices:Tindices -> y:T; T:type Tindices:type axis:int=0"
        => function(eval::gather_elements, onnx::gather_elements, Cost::Moves);
    /// A tensor with updates at positions along an axis, combined in order with the elements there.
    _ScatterElements
        "x:T indices:Tindices updates:T -> y:T; T:type Tindices:type axis:int=0 reduction:string='none'"
        => function(eval::scatter_elements, onnx::scatter_elements, Cost::Moves).overwrites(&[0]);
    /// A tensor with updates of slices by index, combined in order with the slices there.
    _ScatterNdReduce
        "x:T indices:Tindices updates:T -> y:T; T:type Tindices:type reduction:string='none'"
        => function(eval::scatter_nd_reduce, rules::same, Cost::Moves).overwrites(&[0]);
    /// The maximum, the mean or the norm of windows over images with any number of spatial axes.
    _Pool
        "x:T -> y:T; T:type ceil_mode:bool=false count_include_pad:bool=false dilations:list(int)=[] \
         kernel_shape:list(int) mode:string='max' p:int=2 pads:list(int)=[] strides:list(int)=[]"
        => function(eval::pool, onnx::pool, Cost::By(cost::pool));
    /// The maximum of each window over images, and its position among all elements.
    _MaxPoolWithIndices
        "x:T -> y:T indices:int64; T:type ceil_mode:bool=false dilations:list(int)=[] \
         kernel_shape:list(int) pads:list(int)=[] storage_order:int=0 strides:list(int)=[]"
        => function(eval::max_pool_with_indices, onnx::pool, Cost::By(cost::pool));
    /// The products of 8-bit matrices, from which zero points are subtracted.
    _QuantizedMatMul
        "a:Ta b:Tb a_zero_point:Ta b_zero_point:Tb -> y:int32; Ta:type Tb:type"
        => function(eval::quantized_matmul, onnx::quantized_matmul, Cost::By(cost::matmul)).no_gradient();
    /// The convolution of 8-bit images with 8-bit filters, from which zero points are subtracted.
    _QuantizedConv
        "x:Tx w:Tw x_zero_point:Tx w_zero_point:Tw -> y:int32; Tw:type Tx:type dilations:list(int)=[] \
         group:int=1 pads:list(int)=[] strides:list(int)=[]"
        => function(eval::quantized_conv, onnx::conv, Cost::By(cost::conv_of_channels_first)).no_gradient();
    /// Numbers as the nearest bytes of a scale and a zero point, or of one for each index of an axis.
    _QuantizeLinear "x:float scale:float zero_point:T -> y:T; T:type axis:int=1"
        => function(eval::quantize_linear, onnx::linear, Cost::PerResult(4)).no_gradient().layout("iee>i");
    /// The numbers that integers stand for, by a scale and a zero point or one for each index of an axis.
    _DequantizeLinear "x:T scale:float zero_point:T -> y:float; T:type axis:int=1"
        => function(eval::dequantize_linear, onnx::linear, Cost::PerResult(2)).layout("iee>i");
    /// The elements of a table of 256 that bytes select by their bits.
    _LookUpBytes "x:T table:U -> y:U; T:type U:type"
        => function(eval::look_up_bytes, onnx::look_up_bytes, Cost::PerResult(1)).no_gradient().layout("i.>i");
    /// Long short-term memories over sequences, in one or both directions.
    _Lstm
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T initial_c:T p:T -> y:T y_h:T y_c:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 input_forget:bool=false"
        => function(eval::lstm, onnx::recurrent, Cost::By(cost::recurrent));
    /// The gradient of `_Lstm`, given its states.
    _LstmGrad
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T initial_c:T p:T y:T y_grad:T y_h_grad:T y_c_grad:T -> \
         x_grad:T w_grad:T r_grad:T b_grad:T initial_h_grad:T initial_c_grad:T p_grad:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 input_forget:bool=false"
        => function(eval::lstm_gradient, onnx::recurrent_gradient, Cost::By(cost::recurrent_gradient))
            .differentiated(Gradient::Missing);
    /// Gated recurrent units over sequences, in one or both directions.
    _Gru
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T -> y:T y_h:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 linear_before_reset:int=0"
        => function(eval::gru, onnx::recurrent, Cost::By(cost::recurrent));
    /// The gradient of `_Gru`, given its states.
    _GruGrad
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T y:T y_grad:T y_h_grad:T -> \
         x_grad:T w_grad:T r_grad:T b_grad:T initial_h_grad:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0 linear_before_reset:int=0"
        => function(eval::gru_gradient, onnx::recurrent_gradient, Cost::By(cost::recurrent_gradient))
            .differentiated(Gradient::Missing);
    /// Plain recurrent units over sequences, in one or both directions.
    _Rnn
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T -> y:T y_h:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0"
        => function(eval::rnn, onnx::recurrent, Cost::By(cost::recurrent));
    /// The gradient of `_Rnn`, given its states.
    _RnnGrad
        "x:T w:T r:T b:T sequence_lens:int32 initial_h:T y:T y_grad:T y_h_grad:T -> \
         x_grad:T w_grad:T r_grad:T b_grad:T initial_h_grad:T; T:type \
         activation_alpha:list(float)=[] activation_beta:list(float)=[] activations:list(string)=[] \
         clip:float=0.0 direction:string='forward' hidden_size:int=0"
        => function(eval::rnn_gradient, onnx::recurrent_gradient, Cost::By(cost::recurrent_gradient))
            .differentiated(Gradient::Missing);
    /// The distinct slices along an axis, sorted or in order of appearance, with positions and counts.
    _UniqueSorted
        "x:T -> y:T indices:int64 inverse_indices:int64 counts:int64; T:type axis:list(int)=[] \
         sorted:bool=true"
        => function(eval::unique_sorted, onnx::unique_sorted, Cost::PerOperand(16)).differentiated(Gradient::Missing);
    /// For each image and class, the boxes that do not overlap a selected box of a higher score.
    _BatchedNonMaxSuppression
        "boxes:float scores:float max_output_boxes_per_class:int64 iou_threshold:float \
         score_threshold:float -> selected_indices:int64; center_point_box:int=0"
        => function(
            eval::batched_non_max_suppression,
            onnx::batched_non_max_suppression,
            Cost::By(cost::suppression),
        ).no_gradient();
    /// Regions of images resampled to a fixed size, between pixels.
    _RoiAlign
        "x:T rois:T batch_indices:int64 -> y:T; T:type half_pixel:bool=true mode:string='avg' \
         output_height:int=1 output_width:int=1 sampling_ratio:int=0 spatial_scale:float=1.0"
        => function(eval::roi_align, onnx::roi_align, Cost::PerResult(64));
    /// The gradient of `_RoiAlign` for the images.
    _RoiAlignGradImage
        "dy:T x:T rois:T batch_indices:int64 -> x_grad:T; T:type half_pixel:bool=true mode:string='avg' \
         output_height:int=1 output_width:int=1 sampling_ratio:int=0 spatial_scale:float=1.0"
        => function(eval::roi_align_grad_image, onnx::grad_image, Cost::PerOperand(64))
            .differentiated(Gradient::Missing);
    /// The gradient of `_RoiAlign` for the regions.
    _RoiAlignGradRois
        "dy:T x:T rois:T batch_indices:int64 -> rois_grad:T; T:type half_pixel:bool=true mode:string='avg' \
         output_height:int=1 output_width:int=1 sampling_ratio:int=0 spatial_scale:float=1.0"
        => function(eval::roi_align_grad_rois, onnx::grad_positions, Cost::PerOperand(64))
            .differentiated(Gradient::Missing);
    /// Regions of images reduced to a fixed size by the maximum of each bin.
    _MaxRoiPool
        "x:T rois:T -> y:T; T:type pooled_shape:list(int) spatial_scale:float=1.0"
        => function(eval::max_roi_pool, onnx::max_roi_pool, Cost::PerResult(64));
    /// The gradient of `_MaxRoiPool`.
    _MaxRoiPoolGrad
        "dy:T x:T rois:T -> x_grad:T; T:type pooled_shape:list(int) spatial_scale:float=1.0"
        => function(eval::max_roi_pool_grad, onnx::grad_image, Cost::PerOperand(64))
            .differentiated(Gradient::Missing);
    /// Images sampled at the positions of a grid.
    _GridSample
        "x:T grid:T -> y:T; T:type align_corners:bool=false mode:string='linear' \
         padding_mode:string='zeros'"
        => function(eval::grid_sample, onnx::grid_sample, Cost::PerResult(32));
    /// The gradient of `_GridSample` for the images.
    _GridSampleGradImage
        "dy:T x:T grid:T -> x_grad:T; T:type align_corners:bool=false mode:string='linear' \
         padding_mode:string='zeros'"
        => function(eval::grid_sample_grad_image, onnx::grad_image, Cost::PerOperand(32))
            .differentiated(Gradient::Missing);
    /// The gradient of `_GridSample` for the positions.
    _GridSampleGradGrid
        "dy:T x:T grid:T -> grid_grad:T; T:type align_corners:bool=false mode:string='linear' \
         padding_mode:string='zeros'"
        => function(eval::grid_sample_grad_grid, onnx::grad_positions, Cost::PerOperand(64))
            .differentiated(Gradient::Missing);
    /// The convolution of images with displaced taps.
    _DeformConv
        "x:T w:T offset:T bias:T mask:T -> y:T; T:type dilations:list(int)=[] group:int=1 \
         offset_group:int=1 pads:list(int)=[] strides:list(int)=[]"
        => function(eval::deform_conv, onnx::conv, Cost::By(cost::conv_of_channels_first))
            .differentiated(Gradient::Expands);
    /// Images that are the sums of their windows.
    _Col2Im
        "x:T image_shape:int64 block_shape:int64 -> y:T; T:type dilations:list(int)=[] pads:list(int)=[] \
         strides:list(int)=[]"
        => function(eval::col_to_image, onnx::col_to_image, Cost::PerOperand(4));
    /// The windows of images of which `_Col2Im` makes sums.
    _Im2Col
        "x:T block_shape:int64 -> y:T; T:type dilations:list(int)=[] pads:list(int)=[] strides:list(int)=[]"
        => function(eval::image_to_col, onnx::image_to_col, Cost::PerResult(4));
    /// A tensor resampled along axes.
    _Resize
        "x:T roi:float scales:float sizes:int64 -> y:T; T:type antialias:bool=false axes:list(int) \
         coordinate_transformation_mode:string='half_pixel' cubic_coeff_a:float=-0.75 \
         exclude_outside:bool=false extrapolation_value:float=0.0 \
         keep_aspect_ratio_policy:string='stretch' mode:string='nearest' \
         nearest_mode:string='round_prefer_floor'"
        => function(eval::resize, onnx::resize, Cost::PerResult(8));
    /// For each row of features, the aggregated weights of the leaves that it reaches in decision trees.
    _TreeEnsemble
        "x:T -> y:float; T:type aggregate_function:string='SUM' base_values:list(float)=[] n_targets:int=1 \
         nodes_falsenodeids:list(int) nodes_featureids:list(int) \
         nodes_missing_value_tracks_true:list(int)=[] nodes_modes:list(string) nodes_nodeids:list(int) \
         nodes_treeids:list(int) nodes_truenodeids:list(int) nodes_value_bits:list(int)=[] \
         nodes_values:list(float) target_ids:list(int) \
         target_nodeids:list(int) target_treeids:list(int) target_weights:list(float)"
        => function(eval::tree_ensemble, onnx::tree_ensemble, Cost::PerOperand(256)).no_gradient();
    /// For each row of the probabilities of pairs of classes, the probabilities of the classes.
    _CoupledProbabilities "pairs:float -> y:float; n_classes:int"
        => function(eval::coupled_probabilities, onnx::coupled_probabilities, Cost::PerOperand(512)).no_gradient();
    /// The operand, or an error if sizes of the same name differ: those along `axes`, and those of the other
    /// operand along `like_axes`.
    _EnsureSameSizes
        "x:T like:L -> y:T; L:type T:type axes:list(int) like_axes:list(int) names:list(string)"
        => function(eval::ensure_same_sizes, onnx::ensure_same_sizes, Cost::Free);
}
