//! The operators: what ONNX has under another name, and what takes several nodes.
//!
//! ```text
//! one operator of ONNX with the same operands      direct
//! anything else                                    a function
//! ```

mod elementwise;
mod gradients;
mod images;
mod indexing;
mod layers;
mod linear;
mod lists;
mod own;
mod reduce;
mod shaping;
mod slices;

use befrost_tensor::tf::op::Op;

use super::emit::{NodeWriter, Written};
use super::node::TfNode;

/// A function that writes the nodes of an operator.
type WriteOp = fn(&mut NodeWriter<'_>, &TfNode<'_>) -> Written;

/// Writes the nodes of an op.
///
/// # Errors
/// The reason why there are none; an empty one for operators that ONNX does not have.
pub(super) fn write(w: &mut NodeWriter<'_>, n: &TfNode<'_>) -> Written {
    if let Some(op_type) = direct(n.operator) {
        return Ok(vec![w.op(op_type, &n.all())]);
    }
    match writer(n.operator) {
        Some(write) => write(w, n),
        None => Err(String::new()),
    }
}

/// Operators that ONNX has with the same operands and no attributes.
fn direct(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Abs => "Abs",
        Op::Acos => "Acos",
        Op::Acosh => "Acosh",
        Op::Add | Op::AddV2 => "Add",
        Op::Asin => "Asin",
        Op::Asinh => "Asinh",
        Op::Atan => "Atan",
        Op::Atanh => "Atanh",
        Op::BitwiseAnd => "BitwiseAnd",
        Op::BitwiseOr => "BitwiseOr",
        Op::BitwiseXor => "BitwiseXor",
        Op::Ceil => "Ceil",
        Op::Cos => "Cos",
        Op::Cosh => "Cosh",
        Op::Elu => "Elu",
        Op::Erf => "Erf",
        Op::Exp => "Exp",
        Op::Floor => "Floor",
        Op::Greater => "Greater",
        Op::GreaterEqual => "GreaterOrEqual",
        Op::Invert => "BitwiseNot",
        Op::IsInf => "IsInf",
        Op::IsNan => "IsNaN",
        Op::Less => "Less",
        Op::LessEqual => "LessOrEqual",
        Op::Log => "Log",
        Op::LogicalAnd => "And",
        Op::LogicalNot => "Not",
        Op::LogicalOr => "Or",
        Op::MatrixDeterminant => "Det",
        Op::Maximum => "Max",
        Op::Minimum => "Min",
        Op::Mul => "Mul",
        Op::Neg => "Neg",
        Op::Pow => "Pow",
        Op::Inv | Op::Reciprocal => "Reciprocal",
        Op::Div | Op::RealDiv => "Div",
        Op::Relu => "Relu",
        Op::Round => "Round",
        Op::SelectV2 => "Where",
        Op::Selu => "Selu",
        Op::Sigmoid => "Sigmoid",
        Op::Sign => "Sign",
        Op::Sin => "Sin",
        Op::Sinh => "Sinh",
        Op::Softplus => "Softplus",
        Op::Softsign => "Softsign",
        Op::Sqrt => "Sqrt",
        Op::Sub => "Sub",
        Op::Tan => "Tan",
        Op::Tanh => "Tanh",
        Op::_SequenceInsert => "SequenceInsert",
        Op::_SequenceErase => "SequenceErase",
        _ => return None,
    })
}

fn writer(op: Op) -> Option<WriteOp> {
    Some(match op {
        // Checks of shapes are not exported.
        Op::EnsureShape
        | Op::Identity
        | Op::IdentityN
        | Op::StopGradient
        | Op::PreventGradient
        | Op::Snapshot
        | Op::GuaranteeConst => elementwise::same,
        Op::_EnsureSameSizes => elementwise::first,
        Op::NoOp => elementwise::nothing,
        Op::Cast => elementwise::cast,
        Op::AccumulateNV2 | Op::AddN => elementwise::add_n,
        Op::DivNoNan => elementwise::div_no_nan,
        Op::MulNoNan => elementwise::mul_no_nan,
        Op::Atan2 => elementwise::atan2,
        Op::Equal => elementwise::equal,
        Op::LeftShift | Op::RightShift => elementwise::shift,
        Op::Erfc => elementwise::erfc,
        Op::Expm1 => elementwise::expm1,
        Op::FloorDiv => elementwise::floor_div,
        Op::FloorMod => elementwise::floor_mod,
        Op::TruncateDiv => elementwise::truncate_div,
        Op::TruncateMod => elementwise::truncate_mod,
        Op::IsFinite => elementwise::is_finite,
        Op::LeakyRelu => elementwise::leaky_relu,
        Op::Log1p => elementwise::log1p,
        Op::NotEqual => elementwise::not_equal,
        Op::Relu6 => elementwise::relu6,
        Op::Rsqrt => elementwise::rsqrt,
        Op::Select => elementwise::select,
        Op::Square => elementwise::square,
        Op::SquaredDifference => elementwise::squared_difference,
        Op::Xdivy => elementwise::xdivy,
        Op::Xlogy => elementwise::xlogy,
        Op::StringJoin => elementwise::string_join,
        Op::StaticRegexFullMatch => elementwise::regex_full_match,

        Op::BiasAddGrad => gradients::bias_add_grad,
        Op::EluGrad => gradients::elu_grad,
        Op::InvGrad | Op::ReciprocalGrad => gradients::reciprocal_grad,
        Op::ReluGrad => gradients::relu_grad,
        Op::RsqrtGrad => gradients::rsqrt_grad,
        Op::SigmoidGrad => gradients::sigmoid_grad,
        Op::SqrtGrad => gradients::sqrt_grad,
        Op::TanhGrad => gradients::tanh_grad,

        Op::AvgPool | Op::AvgPool3D | Op::MaxPool | Op::MaxPool3D => images::pool,
        Op::Conv2D | Op::Conv3D => images::conv,
        Op::Conv2DBackpropInput | Op::Conv3DBackpropInputV2 => images::conv_transpose,
        Op::DepthwiseConv2dNative => images::depthwise,
        Op::DepthToSpace | Op::SpaceToDepth => images::depth_and_space,
        Op::ResizeBicubic | Op::ResizeBilinear | Op::ResizeNearestNeighbor => images::resize,

        Op::Gather | Op::GatherV2 => indexing::gather,
        Op::GatherNd => indexing::gather_nd,
        Op::OneHot => indexing::one_hot,
        Op::ScatterNd => indexing::scatter_nd,
        Op::TensorScatterAdd
        | Op::TensorScatterMax
        | Op::TensorScatterMin
        | Op::TensorScatterSub
        | Op::TensorScatterUpdate => indexing::tensor_scatter,
        Op::TopKV2 => indexing::top_k,
        Op::Unique | Op::UniqueV2 => indexing::unique,
        Op::UnsortedSegmentMax
        | Op::UnsortedSegmentMin
        | Op::UnsortedSegmentProd
        | Op::UnsortedSegmentSum => indexing::segments,
        Op::Where => indexing::where_,

        Op::BiasAdd => layers::bias_add,
        Op::FusedBatchNorm | Op::FusedBatchNormV2 | Op::FusedBatchNormV3 => layers::batch_norm,
        Op::LRN => layers::lrn,
        Op::LogSoftmax => layers::log_softmax,
        Op::Softmax => layers::softmax,
        Op::SoftmaxCrossEntropyWithLogits => layers::cross_entropy,
        Op::SparseSoftmaxCrossEntropyWithLogits => layers::sparse_cross_entropy,

        Op::BatchMatMul | Op::BatchMatMulV2 | Op::BatchMatMulV3 | Op::MatMul => linear::matmul,
        Op::Einsum => linear::einsum,
        Op::MatrixBandPart => linear::band_part,

        Op::EmptyTensorList => lists::empty,
        Op::TensorListFromTensor => lists::from_tensor,
        Op::TensorListGetItem => lists::get_item,
        Op::TensorListLength => lists::length,
        Op::TensorListPopBack => lists::pop_back,
        Op::TensorListPushBack => lists::push_back,
        Op::TensorListReserve => lists::reserve,
        Op::TensorListSetItem => lists::set_item,
        Op::TensorListStack => lists::stack,

        Op::_BatchedNonMaxSuppression => own::non_max_suppression,
        Op::_Col2Im => own::col2im,
        Op::_DeformConv => own::deform_conv,
        Op::_GatherElements => own::gather_elements,
        Op::_GridSample => own::grid_sample,
        Op::_Gru | Op::_Lstm | Op::_Rnn => own::recurrent,
        Op::_MaxPoolWithIndices | Op::_Pool => own::pool,
        Op::_MaxRoiPool => own::max_roi_pool,
        Op::_QuantizedConv | Op::_QuantizedMatMul => own::quantized,
        Op::_QuantizeLinear | Op::_DequantizeLinear => own::linear,
        Op::_Resize => own::resize,
        Op::_RoiAlign => own::roi_align,
        Op::_ScatterElements => own::scatter_elements,
        Op::_ScatterNdReduce => own::scatter_nd,
        Op::_StringNormalizer => own::string_normalizer,
        Op::_StringSplit => own::string_split,
        Op::_TfIdfVectorizer => own::tf_idf_vectorizer,
        Op::_TreeEnsemble => own::tree_ensemble,
        Op::_UniqueSorted => own::unique,

        Op::All | Op::Any => reduce::truths,
        Op::ArgMax | Op::ArgMin => reduce::arg_extreme,
        Op::Cumsum => reduce::cumsum,
        Op::L2Loss => reduce::l2_loss,
        Op::Max | Op::Mean | Op::Min | Op::Prod | Op::Sum => reduce::reduce,

        Op::BroadcastArgs => shaping::broadcast_args,
        Op::BroadcastTo => shaping::broadcast_to,
        Op::ConcatV2 => shaping::concat,
        Op::ExpandDims => shaping::expand_dims,
        Op::Fill => shaping::fill,
        Op::OnesLike | Op::ZerosLike => shaping::same_everywhere,
        Op::Pack => shaping::pack,
        Op::Range => shaping::range,
        Op::Rank => shaping::rank,
        Op::Reshape => shaping::reshape,
        Op::Shape | Op::ShapeN => shaping::shape,
        Op::Size => shaping::size,
        Op::Split | Op::SplitV => shaping::split,
        Op::Squeeze => shaping::squeeze,
        Op::Tile => shaping::tile,
        Op::Transpose => shaping::transpose,
        Op::Unpack => shaping::unpack,

        Op::MirrorPad | Op::Pad | Op::PadV2 => slices::pad,
        Op::ReverseSequence => slices::reverse_sequence,
        Op::ReverseV2 => slices::reverse,
        Op::Roll => slices::roll,
        Op::Slice => slices::slice,
        Op::StridedSlice => slices::strided_slice,
        _ => return None,
    })
}
