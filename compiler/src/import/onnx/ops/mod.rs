//! The operators, by domain and name.
//!
//! ```text
//! one operator of TensorFlow with the same operands      Op(..)
//! anything else                                          With(a function)
//! ```
//!
//! Where an older version of an operator has an attribute in place of an operand, the lowering accepts both.
//! Where it has another default, the lowering looks at the version.

mod attention;
mod classes;
mod contributed;
mod control;
mod convolution;
mod elementwise;
mod indexing;
mod layers;
mod learning;
mod norm;
mod quantize;
mod shaping;
mod signal;
mod support_vectors;
mod text;
mod trees;

use befrost_tensor::tf::op::Op;

use super::graph::{LowerNode, NodeLowering};

/// The lowering of an operator of a domain, if it is supported.
pub(super) fn lowering(domain: &str, op: &str) -> Option<NodeLowering> {
    match domain {
        "" => standard(op),
        "ai.onnx.ml" => classical(op).map(NodeLowering::With),
        "ai.onnx.preview.training" => optimizer(op).map(NodeLowering::With),
        "com.microsoft" => contributed(op).map(NodeLowering::With),
        _ => None,
    }
}

fn standard(op: &str) -> Option<NodeLowering> {
    Some(match op {
        "If" => NodeLowering::WithGraphs(control::if_),
        "Loop" => NodeLowering::WithGraphs(control::loop_),
        "Optional" => NodeLowering::Optional,
        "Scan" => NodeLowering::WithGraphs(control::scan),
        "SequenceMap" => NodeLowering::WithGraphs(control::sequence_map),
        _ => return direct(op).map(NodeLowering::Op).or_else(|| lowered(op).map(NodeLowering::With)),
    })
}

/// Operators that TensorFlow has with the same operands and no attributes.
fn direct(op: &str) -> Option<Op> {
    Some(match op {
        "Abs" => Op::Abs,
        "Acos" => Op::Acos,
        "Acosh" => Op::Acosh,
        "Add" => Op::AddV2,
        "And" => Op::LogicalAnd,
        "Asin" => Op::Asin,
        "Asinh" => Op::Asinh,
        "Atan" => Op::Atan,
        "Atanh" => Op::Atanh,
        "BitwiseAnd" => Op::BitwiseAnd,
        "BitwiseNot" => Op::Invert,
        "BitwiseOr" => Op::BitwiseOr,
        "BitwiseXor" => Op::BitwiseXor,
        "Ceil" => Op::Ceil,
        "Cos" => Op::Cos,
        "Cosh" => Op::Cosh,
        "Equal" => Op::Equal,
        "Erf" => Op::Erf,
        "Exp" => Op::Exp,
        "Floor" => Op::Floor,
        "Greater" => Op::Greater,
        "GreaterOrEqual" => Op::GreaterEqual,
        "IsNaN" => Op::IsNan,
        "Less" => Op::Less,
        "LessOrEqual" => Op::LessEqual,
        "Log" => Op::Log,
        "Mul" => Op::Mul,
        "Neg" => Op::Neg,
        "Not" => Op::LogicalNot,
        "Or" => Op::LogicalOr,
        "Reciprocal" => Op::Reciprocal,
        "Relu" => Op::Relu,
        "Round" => Op::Round,
        "Sigmoid" => Op::Sigmoid,
        "Sign" => Op::Sign,
        "Sin" => Op::Sin,
        "Sinh" => Op::Sinh,
        "Softplus" => Op::Softplus,
        "Softsign" => Op::Softsign,
        "Sqrt" => Op::Sqrt,
        "Sub" => Op::Sub,
        "Tan" => Op::Tan,
        "Tanh" => Op::Tanh,
        "Xor" => Op::NotEqual,
        _ => return None,
    })
}

fn lowered(op: &str) -> Option<LowerNode> {
    let lower: LowerNode = match op {
        "AffineGrid" => layers::affine_grid,
        "ArgMax" | "ArgMin" => indexing::arg_extreme,
        "Attention" => attention::attention,
        "AveragePool" | "LpPool" | "MaxPool" => convolution::pool,
        "BatchNormalization" => norm::batch_norm,
        "Bernoulli" => elementwise::bernoulli,
        "BitShift" => elementwise::bit_shift,
        "BlackmanWindow" | "HammingWindow" | "HannWindow" => signal::window,
        "Cast" => elementwise::cast,
        "CastLike" => elementwise::cast_like,
        "Celu" => elementwise::celu,
        "CenterCropPad" => shaping::center_crop_pad,
        "Clip" => elementwise::clip,
        "Col2Im" => layers::col2im,
        "Compress" => indexing::compress,
        "Concat" => shaping::concat,
        "ConcatFromSequence" => control::concat_from_sequence,
        "Constant" => shaping::constant,
        "ConstantOfShape" => shaping::constant_of_shape,
        "Conv" => convolution::conv,
        "ConvInteger" => quantize::conv_integer,
        "ConvTranspose" => convolution::conv_transpose,
        "CumSum" => indexing::cumsum,
        "DFT" => signal::dft,
        "DeformConv" => layers::deform_conv,
        "DepthToSpace" => shaping::depth_to_space,
        "DequantizeLinear" => quantize::dequantize_linear,
        "Det" => indexing::det,
        "Div" => elementwise::div,
        "Dropout" => elementwise::dropout,
        "DynamicQuantizeLinear" => quantize::dynamic_quantize_linear,
        "Einsum" => indexing::einsum,
        "Elu" => elementwise::elu,
        "Expand" => shaping::expand,
        "EyeLike" => shaping::eye_like,
        "Flatten" => shaping::flatten,
        "GRU" | "LSTM" | "RNN" => layers::recurrent,
        "Gather" => indexing::gather,
        "GatherElements" => indexing::gather_elements,
        "GatherND" => indexing::gather_nd,
        "Gelu" => elementwise::gelu,
        "Gemm" => indexing::gemm,
        "GlobalAveragePool" | "GlobalLpPool" | "GlobalMaxPool" => convolution::global_pool,
        "GridSample" => layers::grid_sample,
        "GroupNormalization" => norm::group_norm,
        "HardSigmoid" => elementwise::hard_sigmoid,
        "HardSwish" => elementwise::hard_swish,
        "Hardmax" => norm::hardmax,
        "Identity" | "OptionalGetElement" => control::same,
        "InstanceNormalization" => norm::instance_norm,
        "IsInf" => elementwise::is_inf,
        "LRN" => norm::lrn,
        "LayerNormalization" => norm::layer_norm,
        "LeakyRelu" => elementwise::leaky_relu,
        "LogSoftmax" => norm::log_softmax,
        "LpNormalization" => norm::lp_norm,
        "MatMul" => indexing::matmul,
        "MatMulInteger" => quantize::matmul_integer,
        "Max" => elementwise::max,
        "MaxRoiPool" => layers::max_roi_pool,
        "MaxUnpool" => convolution::max_unpool,
        "Mean" => elementwise::mean,
        "MeanVarianceNormalization" => norm::mean_variance,
        "MelWeightMatrix" => signal::mel_weights,
        "Min" => elementwise::min,
        "Mish" => elementwise::mish,
        "Mod" => elementwise::modulo,
        "Multinomial" => elementwise::multinomial,
        "NegativeLogLikelihoodLoss" => layers::negative_log_likelihood,
        "NonMaxSuppression" => layers::non_max_suppression,
        "NonZero" => indexing::non_zero,
        "OneHot" => indexing::one_hot,
        "OptionalHasElement" => control::optional_has_element,
        "PRelu" => elementwise::prelu,
        "Pad" => shaping::pad,
        "Pow" => elementwise::pow,
        "QLinearConv" => quantize::qlinear_conv,
        "QLinearMatMul" => quantize::qlinear_matmul,
        "QuantizeLinear" => quantize::quantize_linear,
        "RMSNormalization" => norm::rms_norm,
        "RandomNormal" | "RandomNormalLike" | "RandomUniform" | "RandomUniformLike" => elementwise::random,
        "Range" => shaping::range,
        "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax" | "ReduceMean"
        | "ReduceMin" | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => indexing::reduce,
        "RegexFullMatch" => text::regex_full_match,
        "Reshape" => shaping::reshape,
        "Resize" | "Upsample" => layers::resize,
        "ReverseSequence" => indexing::reverse_sequence,
        "RoiAlign" => layers::roi_align,
        "RotaryEmbedding" => attention::rotary_embedding,
        "STFT" => signal::stft,
        "Scatter" | "ScatterElements" => indexing::scatter_elements,
        "ScatterND" => indexing::scatter_nd,
        "Selu" => elementwise::selu,
        "SequenceAt" => control::sequence_at,
        "SequenceConstruct" => control::sequence_construct,
        "SequenceEmpty" => control::sequence_empty,
        "SequenceErase" => control::sequence_erase,
        "SequenceInsert" => control::sequence_insert,
        "SequenceLength" => control::sequence_length,
        "Shape" => shaping::shape,
        "Shrink" => elementwise::shrink,
        // Of ONNX Runtime, which has it here.
        "SimplifiedLayerNormalization" => norm::rms_norm,
        "Size" => shaping::size,
        "Slice" => shaping::slice,
        "Softmax" => norm::softmax,
        "SoftmaxCrossEntropyLoss" => layers::softmax_cross_entropy,
        "SpaceToDepth" => shaping::space_to_depth,
        "Split" => shaping::split,
        "SplitToSequence" => control::split_to_sequence,
        "Squeeze" => shaping::squeeze,
        "StringConcat" => text::string_concat,
        "StringNormalizer" => text::string_normalizer,
        "StringSplit" => text::string_split,
        "Sum" => elementwise::sum,
        "Swish" => elementwise::swish,
        "TfIdfVectorizer" => text::tf_idf_vectorizer,
        "ThresholdedRelu" => elementwise::thresholded_relu,
        "Tile" => shaping::tile,
        "TopK" => indexing::top_k,
        "Transpose" => shaping::transpose,
        "Trilu" => shaping::trilu,
        "Unique" => indexing::unique,
        "Unsqueeze" => shaping::unsqueeze,
        "Where" => elementwise::select,
        _ => return None,
    };
    Some(lower)
}

/// Operators on features of rows.
fn classical(op: &str) -> Option<LowerNode> {
    let lower: LowerNode = match op {
        "ArrayFeatureExtractor" => learning::array_feature_extractor,
        "Binarizer" => learning::binarizer,
        "CategoryMapper" => learning::category_mapper,
        "FeatureVectorizer" => learning::feature_vectorizer,
        "Imputer" => learning::imputer,
        "LabelEncoder" => learning::label_encoder,
        "LinearClassifier" => learning::linear_classifier,
        "LinearRegressor" => learning::linear_regressor,
        "Normalizer" => learning::normalizer,
        "OneHotEncoder" => learning::one_hot_encoder,
        "SVMClassifier" => support_vectors::svm_classifier,
        "SVMRegressor" => support_vectors::svm_regressor,
        "Scaler" => learning::scaler,
        "TreeEnsemble" => trees::tree_ensemble,
        "TreeEnsembleClassifier" => trees::tree_classifier,
        "TreeEnsembleRegressor" => trees::tree_regressor,
        // A sequence of maps from classes to scores is the matrix of the scores.
        "ZipMap" => control::same,
        _ => return None,
    };
    Some(lower)
}

/// Steps of optimizers.
fn optimizer(op: &str) -> Option<LowerNode> {
    let lower: LowerNode = match op {
        "Adagrad" => learning::adagrad,
        "Adam" => learning::adam,
        "Momentum" => learning::momentum,
        _ => return None,
    };
    Some(lower)
}

/// Operators that ONNX Runtime adds.
fn contributed(op: &str) -> Option<LowerNode> {
    let lower: LowerNode = match op {
        "Attention" => attention::packed_attention,
        "BiasGelu" | "FastGelu" => elementwise::bias_gelu,
        "CDist" => contributed::distances,
        "DequantizeLinear" => quantize::dequantize_linear,
        "DynamicQuantizeLSTM" => layers::dynamic_quantize_lstm,
        "DynamicQuantizeMatMul" => contributed::dynamic_quantize_matmul,
        "EmbedLayerNormalization" => contributed::embed_layer_norm,
        "ExpandDims" => contributed::expand_dims,
        "FusedConv" => contributed::fused_conv,
        "FusedGemm" => contributed::fused_gemm,
        "FusedMatMul" | "TransposeMatMul" => indexing::fused_matmul,
        "GatherBlockQuantized" => contributed::gather_block_quantized,
        "GatherND" => indexing::gather_nd,
        "Gelu" => elementwise::gelu,
        "GridSample" => layers::grid_sample,
        "GroupQueryAttention" => attention::group_query_attention,
        "Inverse" => contributed::inverse,
        "MatMulIntegerToFloat" => contributed::matmul_integer_to_float,
        "MatMulNBits" => contributed::matmul_n_bits,
        "MultiHeadAttention" => attention::multi_head_attention,
        "NhwcMaxPool" => convolution::nhwc_max_pool,
        "Pad" => shaping::pad,
        "QAttention" => attention::quantized_attention,
        "QGemm" => contributed::qgemm,
        "QLinearAdd" | "QLinearMul" => quantize::qlinear_binary,
        "QLinearAveragePool"
        | "QLinearGlobalAveragePool"
        | "QLinearLeakyRelu"
        | "QLinearSigmoid"
        | "QLinearSoftmax" => contributed::qlinear_unary,
        "QLinearConcat" => contributed::qlinear_concat,
        "QLinearConv" => quantize::qlinear_conv,
        "QLinearWhere" => contributed::qlinear_where,
        "QuantizeLinear" => quantize::quantize_linear,
        "QuickGelu" => elementwise::quick_gelu,
        "Range" => shaping::range,
        "RotaryEmbedding" => attention::rotary_embedding,
        "SimplifiedLayerNormalization" => norm::rms_norm,
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => norm::skip_layer_norm,
        "Trilu" => shaping::trilu,
        "Unique" => contributed::unique,
        _ => return None,
    };
    Some(lower)
}
