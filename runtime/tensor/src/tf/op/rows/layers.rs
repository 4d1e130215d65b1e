//! Products, convolutions, poolings, normalizations, losses.

use super::super::cost;
use super::super::eval;
use super::super::infer::{arrays, cells, layers, rules};
use super::super::row::{Cost, FLOATS, Gradient, ProductForm, ProductOps, function};
use super::operators::operators;

operators! { 5:
    /// The products of matrices, batch by batch.
    BatchMatMul
        "x:T y:T -> output:T; T:type adj_x:bool=false adj_y:bool=false grad_x:bool=false \
         grad_y:bool=false"
        => function(eval::layers::batch_matmul, layers::batch_matmul, Cost::By(cost::matmul)).product(ProductOps::MATMUL, ProductForm::General);
    /// The products of matrices, with batches that broadcast.
    BatchMatMulV2
        "x:T y:T -> output:T; T:type adj_x:bool=false adj_y:bool=false grad_x:bool=false \
         grad_y:bool=false"
        => function(eval::layers::batch_matmul, layers::batch_matmul, Cost::By(cost::matmul)).product(ProductOps::MATMUL, ProductForm::General);
    /// The products of matrices, with batches that broadcast and a result of another type.
    BatchMatMulV3
        "x:Ta y:Tb -> output:Tout; Ta:type Tb:type Tout:type adj_x:bool=false adj_y:bool=false \
         grad_x:bool=false grad_y:bool=false"
        => function(eval::layers::batch_matmul, layers::batch_matmul, Cost::By(cost::matmul)).product(ProductOps::MATMUL, ProductForm::General);
    /// The Einstein summation of an equation of axis labels.
    Einsum "inputs:N*T -> output:T; N:int T:type equation:string"
        => function(eval::layers::einsum, layers::einsum, Cost::By(cost::einsum)).product(ProductOps::MATMUL, ProductForm::General);
    /// The product of two matrices, each transposed by attribute.
    MatMul
        "a:T b:T -> product:T; T:type grad_a:bool=false grad_b:bool=false transpose_a:bool=false \
         transpose_b:bool=false"
        => function(eval::layers::matmul, layers::matmul, Cost::By(cost::matmul)).total(FLOATS).product(ProductOps::MATMUL, ProductForm::Plain);
    /// The mean of each window of an image.
    AvgPool
        "value:T -> output:T; T:type data_format:string='NHWC' ksize:list(int) padding:string \
         strides:list(int)"
        => function(eval::layers::pool, layers::pool, Cost::By(cost::pool)).layout("i>i");
    /// The gradient of `AvgPool`.
    AvgPoolGrad
        "orig_input_shape:int32 grad:T -> output:T; T:type data_format:string='NHWC' ksize:list(int) \
         padding:string strides:list(int)"
        => function(eval::layers::avg_pool_grad, layers::avg_pool_grad, Cost::By(cost::pool)).layout("ri>i");
    /// A vector added along the channels.
    BiasAdd "value:T bias:T -> output:T; T:type data_format:string='NHWC'"
        => function(
            eval::layers::bias_add,
            layers::bias_add,
            Cost::PerResult(1),
        ).total(FLOATS).overwrites(&[0]).layout("i.>i").nchw_cost(1);
    /// The gradient of `BiasAdd` for the vector.
    BiasAddGrad "out_backprop:T -> output:T; T:type data_format:string='NHWC'"
        => function(eval::layers::bias_add_grad, layers::bias_add_grad, Cost::PerOperand(1)).layout("i>.").nchw_cost(1);
    /// A vector added along the last axis.
    BiasAddV1 "value:T bias:T -> output:T; T:type"
        => function(eval::layers::bias_add_v1, layers::bias_add_v1, Cost::PerResult(1));
    /// The convolution of images with filters.
    Conv2D
        "input:T filter:T -> output:T; T:type data_format:string='NHWC' dilations:list(int)=[1,1,1,1] \
         explicit_paddings:list(int)=[] padding:string strides:list(int) use_cudnn_on_gpu:bool=true"
        => function(eval::layers::conv2d, layers::conv2d, Cost::By(cost::conv2d)).layout("i.>i").nchw_cost(16).product(ProductOps::CONV2D, ProductForm::Plain);
    /// The gradient of `Conv2D` for the filters.
    Conv2DBackpropFilter
        "input:T filter_sizes:int32 out_backprop:T -> output:T; T:type data_format:string='NHWC' \
         dilations:list(int)=[1,1,1,1] explicit_paddings:list(int)=[] padding:string strides:list(int) \
         use_cudnn_on_gpu:bool=true"
        => function(
            eval::layers::conv2d_backprop_filter,
            layers::conv2d_backprop_filter,
            Cost::By(cost::conv2d_backprop_filter),
        ).layout("i.i>.").nchw_cost(16);
    /// The gradient of `Conv2D` for the images; a transposed convolution.
    Conv2DBackpropInput
        "input_sizes:int32 filter:T out_backprop:T -> output:T; T:type data_format:string='NHWC' \
         dilations:list(int)=[1,1,1,1] explicit_paddings:list(int)=[] padding:string strides:list(int) \
         use_cudnn_on_gpu:bool=true"
        => function(
            eval::layers::conv2d_backprop_input,
            layers::conv2d_backprop_input,
            Cost::By(cost::conv2d_backprop_input),
        ).layout("r.i>i").nchw_cost(16);
    /// The convolution of each channel with its own filters.
    DepthwiseConv2dNative
        "input:T filter:T -> output:T; T:type data_format:string='NHWC' dilations:list(int)=[1,1,1,1] \
         explicit_paddings:list(int)=[] padding:string strides:list(int)"
        => function(
            eval::layers::depthwise_conv2d_native,
            layers::depthwise_conv2d_native,
            Cost::By(cost::depthwise),
        ).layout("i.>i").nchw_cost(16).product(ProductOps::DEPTHWISE, ProductForm::Plain);
    /// The gradient of `DepthwiseConv2dNative` for the filters.
    DepthwiseConv2dNativeBackpropFilter
        "input:T filter_sizes:int32 out_backprop:T -> output:T; T:type data_format:string='NHWC' \
         dilations:list(int)=[1,1,1,1] explicit_paddings:list(int)=[] padding:string strides:list(int)"
        => function(
            eval::layers::depthwise_conv2d_native_backprop_filter,
            layers::conv2d_backprop_filter,
            Cost::By(cost::depthwise_backprop_filter),
        ).layout("i.i>.").nchw_cost(16);
    /// The gradient of `DepthwiseConv2dNative` for the images.
    DepthwiseConv2dNativeBackpropInput
        "input_sizes:int32 filter:T out_backprop:T -> output:T; T:type data_format:string='NHWC' \
         dilations:list(int)=[1,1,1,1] explicit_paddings:list(int)=[] padding:string strides:list(int)"
        => function(
            eval::layers::depthwise_conv2d_native_backprop_input,
            layers::depthwise_conv2d_native_backprop_input,
            Cost::By(cost::depthwise_backprop_input),
        ).layout("r.i>i").nchw_cost(16);
    /// The batch normalization of images, in training or inference.
    FusedBatchNorm
        "x:T scale:T offset:T mean:T variance:T -> y:T batch_mean:T batch_variance:T reserve_space_1:T \
         reserve_space_2:T; T:type data_format:string='NHWC' epsilon:float=1e-04 \
         exponential_avg_factor:float=1.0 is_training:bool=true"
        => function(eval::layers::batch_norm, layers::batch_norm, Cost::PerOperand(4)).layout("i....>i.*");
    /// The batch normalization of images, with f32 moments.
    FusedBatchNormV2
        "x:T scale:U offset:U mean:U variance:U -> y:T batch_mean:U batch_variance:U reserve_space_1:U \
         reserve_space_2:U; T:type U:type data_format:string='NHWC' epsilon:float=1e-04 \
         exponential_avg_factor:float=1.0 is_training:bool=true"
        => function(eval::layers::batch_norm, layers::batch_norm, Cost::PerOperand(4)).layout("i....>i.*");
    /// The batch normalization of images, with f32 moments and a third reserve space.
    FusedBatchNormV3
        "x:T scale:U offset:U mean:U variance:U -> y:T batch_mean:U batch_variance:U reserve_space_1:U \
         reserve_space_2:U reserve_space_3:U; T:type U:type data_format:string='NHWC' epsilon:float=1e-04 \
         exponential_avg_factor:float=1.0 is_training:bool=true"
        => function(eval::layers::batch_norm, layers::batch_norm, Cost::PerOperand(4)).layout("i....>i.*");
    /// The gradient of `FusedBatchNorm`.
    FusedBatchNormGrad
        "y_backprop:T x:T scale:T reserve_space_1:T reserve_space_2:T -> x_backprop:T scale_backprop:T \
         offset_backprop:T reserve_space_3:T reserve_space_4:T; T:type data_format:string='NHWC' \
         epsilon:float=1e-04 is_training:bool=true"
        => function(
            eval::layers::batch_norm_grad,
            layers::batch_norm_grad,
            Cost::PerOperand(6),
        ).layout("ii.*>i.*").differentiated(Gradient::Expands);
    /// The gradient of `FusedBatchNormV2`.
    FusedBatchNormGradV2
        "y_backprop:T x:T scale:float reserve_space_1:U reserve_space_2:U -> x_backprop:T \
         scale_backprop:U offset_backprop:U reserve_space_3:U reserve_space_4:U; T:type U:type \
         data_format:string='NHWC' epsilon:float=1e-04 is_training:bool=true"
        => function(
            eval::layers::batch_norm_grad,
            layers::batch_norm_grad,
            Cost::PerOperand(6),
        ).layout("ii.*>i.*").differentiated(Gradient::Expands);
    /// The gradient of `FusedBatchNormV3`.
    FusedBatchNormGradV3
        "y_backprop:T x:T scale:float reserve_space_1:U reserve_space_2:U reserve_space_3:U -> \
         x_backprop:T scale_backprop:U offset_backprop:U reserve_space_4:U reserve_space_5:U; T:type \
         U:type data_format:string='NHWC' epsilon:float=1e-04 is_training:bool=true"
        => function(
            eval::layers::fused_batch_norm_grad_v3,
            layers::batch_norm_grad,
            Cost::PerOperand(6),
        ).layout("ii.*>i.*").differentiated(Gradient::Expands);
    /// The local response normalization along channels.
    LRN "input:T -> output:T; T:type=float alpha:float=1.0 beta:float=0.5 bias:float=1.0 depth_radius:int=5"
        => function(eval::layers::lrn, rules::same, Cost::By(cost::lrn));
    /// The gradient of `LRN`.
    LRNGrad
        "input_grads:T input_image:T output_image:T -> output:T; T:type=float alpha:float=1.0 \
         beta:float=0.5 bias:float=1.0 depth_radius:int=5"
        => function(eval::layers::lrn_grad, rules::same, Cost::By(cost::lrn)).differentiated(Gradient::Missing);
    /// The logarithm of `Softmax`.
    LogSoftmax "logits:T -> logsoftmax:T; T:type"
        => function(
            eval::layers::log_softmax,
            arrays::softmax,
            Cost::PerResult(8),
        ).total(FLOATS).overwrites(&[0]);
    /// The maximum of each window of an image.
    MaxPool
        "input:T -> output:T; T:type=float data_format:string='NHWC' explicit_paddings:list(int)=[] \
         ksize:list(int) padding:string strides:list(int)"
        => function(eval::layers::pool, layers::pool, Cost::By(cost::pool)).layout("i>i");
    /// The gradient of `MaxPool`.
    MaxPoolGrad
        "orig_input:T orig_output:T grad:T -> output:T; T:type=float data_format:string='NHWC' \
         explicit_paddings:list(int)=[] ksize:list(int) padding:string strides:list(int)"
        => function(
            eval::layers::max_pool_grad,
            layers::max_pool_grad,
            Cost::By(cost::pool_grad),
        ).layout("iii>i");
    /// The gradient of `MaxPoolGrad`.
    MaxPoolGradGrad
        "orig_input:T orig_output:T grad:T -> output:T; T:type data_format:string='NHWC' ksize:list(int) \
         padding:string strides:list(int)"
        => function(eval::layers::max_pool_grad_grad, layers::pool, Cost::By(cost::pool_grad));
    /// The gradient of `MaxPoolV2`.
    MaxPoolGradV2
        "orig_input:T orig_output:T grad:T ksize:int32 strides:int32 -> output:T; T:type=float \
         data_format:string='NHWC' padding:string"
        => function(
            eval::layers::max_pool_grad_v2,
            layers::max_pool_grad,
            Cost::By(cost::pool_grad),
        ).layout("iiirr>i");
    /// The gradient of `MaxPoolGradV2` by the gradient that it distributes.
    MaxPoolGradGradV2
        "orig_input:T orig_output:T grad:T ksize:int32 strides:int32 -> output:T; T:type \
         data_format:string='NHWC' padding:string"
        => function(eval::layers::max_pool_grad_grad_v2, layers::max_pool_grad_grad_v2, Cost::By(cost::pool_grad));
    /// The maximum of each window of an image; window sizes and strides are operands.
    MaxPoolV2
        "input:T ksize:int32 strides:int32 -> output:T; T:type=float data_format:string='NHWC' \
         padding:string"
        => function(eval::layers::max_pool_v2, layers::max_pool_v2, Cost::By(cost::pool)).layout("irr>i");
    /// exp(x) over its sum along the last axis.
    Softmax "logits:T -> softmax:T; T:type"
        => function(
            eval::layers::softmax,
            arrays::softmax,
            Cost::PerResult(8),
        ).total(FLOATS).overwrites(&[0]);
    /// The cross entropy of logits and probabilities, and its gradient.
    SoftmaxCrossEntropyWithLogits "features:T labels:T -> loss:T backprop:T; T:type"
        => function(
            eval::layers::softmax_cross_entropy_with_logits,
            layers::softmax_cross_entropy_with_logits,
            Cost::PerOperand(8),
        );
    /// The cross entropy of logits and class numbers, and its gradient.
    SparseSoftmaxCrossEntropyWithLogits
        "features:T labels:Tlabels -> loss:T backprop:T; T:type Tlabels:type=int64"
        => function(
            eval::layers::sparse_softmax_cross_entropy_with_logits,
            layers::sparse_softmax_cross_entropy_with_logits,
            Cost::PerOperand(8),
        );
    /// The most probable sequences of labels of classes over time, by a search with a beam.
    CTCBeamSearchDecoder
        "inputs:T sequence_length:int32 -> decoded_indices:top_paths*int64 decoded_values:top_paths*int64 \
         decoded_shape:top_paths*int64 log_probability:T; T:type=float beam_width:int \
         merge_repeated:bool=true top_paths:int"
        => function(eval::ctc::beam_search, layers::ctc_beam_search, Cost::By(cost::beam_search)).no_gradient();
    /// The labels of the most probable classes over time.
    CTCGreedyDecoder
        "inputs:T sequence_length:int32 -> decoded_indices:int64 decoded_values:int64 decoded_shape:int64 \
         log_probability:T; T:type=float blank_index:int=-1 merge_repeated:bool=false"
        => function(eval::ctc::greedy, layers::ctc_greedy, Cost::PerOperand(2)).no_gradient();
    /// The negative logarithms of the probabilities of sequences of labels, and their gradients.
    CTCLoss
        "inputs:T labels_indices:int64 labels_values:int32 sequence_length:int32 -> loss:T gradient:T; \
         T:type=float ctc_merge_repeated:bool=true ignore_longer_outputs_than_inputs:bool=false \
         preprocess_collapse_repeated:bool=false"
        => function(eval::ctc::loss, layers::ctc_loss, Cost::By(cost::ctc_loss));
    /// The negative logarithms of the probabilities of sequences of labels, whose blank label is 0, and
    /// their gradients.
    CTCLossV2
        "inputs:float labels_indices:int64 labels_values:int32 sequence_length:int32 -> loss:float \
         gradient:float; ctc_merge_repeated:bool=true ignore_longer_outputs_than_inputs:bool=false \
         preprocess_collapse_repeated:bool=false"
        => function(eval::ctc::loss, layers::ctc_loss, Cost::By(cost::ctc_loss));
    /// Images normalized by mean, variance, offset and factor of each channel: the operator of early models.
    BatchNormWithGlobalNormalization
        "t:T m:T v:T beta:T gamma:T -> result:T; T:type scale_after_normalization:bool variance_epsilon:float"
        => function(eval::layers::global_batch_norm, layers::global_batch_norm, Cost::PerResult(4)).differentiated(Gradient::Expands);
    /// The convolution of images that are padded by reflection.
    FusedPadConv2D
        "input:T paddings:int32 filter:T -> output:T; T:type mode:string padding:string strides:list(int)"
        => function(eval::layers::pad_conv2d, layers::pad_conv2d, Cost::By(cost::padded_conv2d)).differentiated(Gradient::Expands);
    /// The convolution of images that are resized, then padded by reflection.
    FusedResizeAndPadConv2D
        "input:T size:int32 paddings:int32 filter:T -> output:T; T:type mode:string padding:string \
         resize_align_corners:bool=false strides:list(int)"
        => function(eval::layers::resize_pad_conv2d, layers::resize_pad_conv2d, Cost::By(cost::padded_conv2d)).differentiated(Gradient::Expands);
    /// A step of long short-term memories.
    LSTMBlockCell
        "x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T h:T; T:type \
         cell_clip:float=3.0 forget_bias:float=1.0 use_peephole:bool=false"
        => function(eval::cells::lstm_cell, cells::lstm_cell, Cost::By(cost::lstm));
    /// The gradient of `LSTMBlockCell`: of the memory, of the gates, and of the memory's weights.
    LSTMBlockCellGrad
        "x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T i:T cs:T f:T o:T ci:T co:T cs_grad:T h_grad:T -> \
         cs_prev_grad:T dicfo:T wci_grad:T wcf_grad:T wco_grad:T; T:type use_peephole:bool"
        => function(
            eval::cells::lstm_cell_gradient,
            cells::lstm_cell_gradient,
            Cost::By(cost::lstm),
        ).differentiated(Gradient::Missing);
    /// Long short-term memories over sequences.
    BlockLSTM
        "seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T \
         h:T; T:type cell_clip:float=3.0 forget_bias:float=1.0 use_peephole:bool=false"
        => function(eval::cells::lstm_layer, cells::lstm_layer, Cost::By(cost::lstm));
    /// The gradient of `BlockLSTM`.
    BlockLSTMGrad
        "seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T i:T cs:T f:T o:T ci:T co:T h:T \
         cs_grad:T h_grad:T -> x_grad:T cs_prev_grad:T h_prev_grad:T w_grad:T wci_grad:T wcf_grad:T \
         wco_grad:T b_grad:T; T:type use_peephole:bool"
        => function(
            eval::cells::lstm_layer_gradient,
            cells::lstm_layer_gradient,
            Cost::By(cost::lstm_gradient),
        ).differentiated(Gradient::Missing);
    /// `BlockLSTM` with gates in another order, without a bias of the forget gate.
    BlockLSTMV2
        "seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T \
         h:T; T:type cell_clip:float=0.0 use_peephole:bool=false"
        => function(eval::cells::lstm_layer, cells::lstm_layer, Cost::By(cost::lstm));
    /// The gradient of `BlockLSTMV2`.
    BlockLSTMGradV2
        "seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T i:T cs:T f:T o:T ci:T co:T h:T \
         cs_grad:T h_grad:T -> x_grad:T cs_prev_grad:T h_prev_grad:T w_grad:T wci_grad:T wcf_grad:T \
         wco_grad:T b_grad:T; T:type use_peephole:bool"
        => function(
            eval::cells::lstm_layer_gradient,
            cells::lstm_layer_gradient,
            Cost::By(cost::lstm_gradient),
        ).differentiated(Gradient::Missing);
    /// A step of gated recurrent units.
    GRUBlockCell
        "x:T h_prev:T w_ru:T w_c:T b_ru:T b_c:T -> r:T u:T c:T h:T; T:type"
        => function(eval::cells::gru_cell, cells::gru_cell, Cost::By(cost::gru));
    /// The gradient of `GRUBlockCell`: of the input, of the state, and of all gates.
    GRUBlockCellGrad
        "x:T h_prev:T w_ru:T w_c:T b_ru:T b_c:T r:T u:T c:T d_h:T -> d_x:T d_h_prev:T d_c_bar:T \
         d_r_bar_u_bar:T; T:type"
        => function(
            eval::cells::gru_cell_gradient,
            cells::gru_cell_gradient,
            Cost::By(cost::gru),
        ).differentiated(Gradient::Missing);
}
