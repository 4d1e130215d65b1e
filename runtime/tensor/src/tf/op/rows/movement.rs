//! Operators that move elements, or gather and scatter them by index.

use super::super::eval;
use super::super::infer::{arrays, joins, rules, slices};
use super::super::row::{CONSTANT, Cost, function};
use super::operators::operators;

operators! { 4:
    /// Blocks of the batch moved into height and width; the inverse of `SpaceToBatch`.
    BatchToSpace "input:T crops:Tidx -> output:T; T:type Tidx:type=int32 block_size:int"
        => function(eval::arrays::batches_and_planes, arrays::batch_to_space_nd, Cost::Moves);
    /// Blocks of the batch moved into spatial axes; the inverse of `SpaceToBatchND`.
    BatchToSpaceND
        "input:T block_shape:Tblock_shape crops:Tcrops -> output:T; T:type Tblock_shape:type=int32 \
         Tcrops:type=int32"
        => function(eval::arrays::batches_and_space, arrays::batch_to_space_nd, Cost::Moves);
    /// Tensors joined along an axis, which is the first operand.
    Concat "concat_dim:int32 values:N*T -> output:T; N:int T:type"
        => function(eval::arrays::concat, joins::concat_v1, Cost::Moves).layout("ai*>i");
    /// Tensors joined along an axis, which is the last operand.
    ConcatV2 "values:N*T axis:Tidx -> output:T; N:int T:type Tidx:type=int32"
        => function(eval::arrays::concat_v2, joins::concat_v2, Cost::Moves).total(CONSTANT).layout("i*a>i");
    /// The axes permuted, and elements conjugated.
    ConjugateTranspose "x:T perm:Tperm -> y:T; T:type Tperm:type=int32"
        => function(eval::arrays::conjugate_transpose, joins::transpose, Cost::Moves);
    /// Blocks of channels moved into height and width.
    DepthToSpace "input:T -> output:T; T:type block_size:int data_format:string='NHWC'"
        => function(eval::arrays::depth_and_space, joins::depth_to_space, Cost::Moves);
    /// The rows of a tensor divided into partitions by number.
    DynamicPartition "data:T partitions:int32 -> outputs:num_partitions*T; T:type num_partitions:int"
        => function(eval::arrays::dynamic_partition, arrays::dynamic_partition, Cost::Moves);
    /// Rows of several tensors merged by index; the last of equal indices wins.
    DynamicStitch "indices:N*int32 data:N*T -> merged:T; N:int T:type"
        => function(eval::arrays::dynamic_stitch, joins::dynamic_stitch, Cost::Moves);
    /// Rows by index.
    Gather
        "params:Tparams indices:Tindices -> output:Tparams; Tindices:type Tparams:type \
         validate_indices:bool=true"
        => function(eval::arrays::gather, arrays::gather_v1, Cost::Moves);
    /// Slices by vectors of indices.
    GatherNd
        "params:Tparams indices:Tindices -> output:Tparams; Tindices:type Tparams:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::gather_nd, arrays::gather_nd, Cost::Moves);
    /// Slices along an axis by index, with batch axes.
    GatherV2
        "params:Tparams indices:Tindices axis:Taxis -> output:Tparams; Taxis:type Tindices:type \
         Tparams:type batch_dims:int=0"
        => function(eval::arrays::gather_v2, arrays::gather_v2, Cost::Moves);
    /// Values added to rows by number.
    InplaceAdd "x:T i:int32 v:T -> y:T; T:type"
        => function(eval::arrays::inplace_add, rules::same, Cost::Moves).no_gradient();
    /// Values subtracted from rows by number.
    InplaceSub "x:T i:int32 v:T -> y:T; T:type"
        => function(eval::arrays::inplace_sub, rules::same, Cost::Moves).no_gradient();
    /// A tensor with rows replaced by number. The tensor that is given stays as it is.
    InplaceUpdate "x:T i:int32 v:T -> y:T; T:type"
        => function(eval::arrays::inplace_update, rules::same, Cost::Moves).no_gradient();
    /// The tensor extended by its reflections.
    MirrorPad "input:T paddings:Tpaddings -> output:T; T:type Tpaddings:type=int32 mode:string"
        => function(eval::arrays::mirror_pad, joins::mirror_pad, Cost::Moves).layout("ir>i");
    /// The gradient of `MirrorPad`.
    MirrorPadGrad "input:T paddings:Tpaddings -> output:T; T:type Tpaddings:type=int32 mode:string"
        => function(eval::arrays::mirror_pad, joins::mirror_pad_grad, Cost::PerOperand(1)).layout("ir>i");
    /// For each index, a row with one value at the index and another elsewhere.
    OneHot "indices:TI depth:int32 on_value:T off_value:T -> output:T; T:type TI:type=int64 axis:int=-1"
        => function(eval::arrays::one_hot, arrays::one_hot, Cost::Moves).no_gradient();
    /// Tensors of one shape stacked along a new axis.
    Pack "values:N*T -> output:T; N:int T:type axis:int=0"
        => function(eval::arrays::pack, joins::pack, Cost::Moves);
    /// The tensor extended by zeros.
    Pad "input:T paddings:Tpaddings -> output:T; T:type Tpaddings:type=int32"
        => function(eval::arrays::pad, joins::pad_constant, Cost::Moves).total(CONSTANT).layout("ir>i");
    /// The tensor extended by a value.
    PadV2 "input:T paddings:Tpaddings constant_values:T -> output:T; T:type Tpaddings:type=int32"
        => function(eval::arrays::pad_v2, joins::pad_constant, Cost::Moves).total(CONSTANT).layout("ir.>i");
    /// Tensors of one row joined along the first axis.
    ParallelConcat "values:N*T -> output:T; N:int T:type shape:shape"
        => function(eval::arrays::parallel_concat, joins::parallel_concat, Cost::Moves);
    /// Rows of several tensors merged by index.
    ParallelDynamicStitch "indices:N*int32 data:N*T -> merged:T; N:int T:type"
        => function(eval::arrays::dynamic_stitch, joins::dynamic_stitch, Cost::Moves);
    /// The order of elements reversed along axes given by a mask.
    Reverse "tensor:T dims:bool -> output:T; T:type"
        => function(eval::arrays::reverse, arrays::reverse, Cost::Moves);
    /// The first elements of each row reversed, up to the length of its sequence.
    ReverseSequence "input:T seq_lengths:Tlen -> output:T; T:type Tlen:type=int64 batch_dim:int=0 seq_dim:int"
        => function(eval::arrays::reverse_sequence, rules::same, Cost::Moves);
    /// The order of elements reversed along axes.
    ReverseV2 "tensor:T axis:Tidx -> output:T; T:type Tidx:type=int32"
        => function(eval::arrays::reverse_v2, arrays::reverse_v2, Cost::Moves).layout("ia>i");
    /// Elements rotated along axes.
    Roll "input:T shift:Tshift axis:Taxis -> output:T; T:type Taxis:type Tshift:type"
        => function(eval::arrays::roll, rules::same, Cost::Moves);
    /// Slices added into zeros by vectors of indices.
    ScatterNd
        "indices:Tindices updates:T shape:Tindices -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::scatter_nd, arrays::scatter_nd, Cost::Moves);
    /// Slices added into a tensor by vectors of indices.
    ScatterNdNonAliasingAdd
        "input:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_add, rules::same, Cost::Moves);
    /// A part given by start and size.
    Slice "input:T begin:Index size:Index -> output:T; Index:type T:type"
        => function(eval::arrays::slice, slices::slice, Cost::Moves).layout("irr>i");
    /// The axes of a data format, numbered as in another one.
    DataFormatDimMap "x:T -> y:T; T:type=int32 dst_format:string='NCHW' src_format:string='NHWC'"
        => function(eval::arrays::format_axis, rules::same, Cost::PerResult(4)).no_gradient();
    /// The numbers of the axes of a data format, in the order of another one.
    DataFormatVecPermute "x:T -> y:T; T:type=int32 dst_format:string='NCHW' src_format:string='NHWC'"
        => function(eval::arrays::format_order, rules::same, Cost::PerResult(4)).no_gradient();
    /// Blocks of height and width moved into the batch.
    SpaceToBatch "input:T paddings:Tpaddings -> output:T; T:type Tpaddings:type=int32 block_size:int"
        => function(eval::arrays::batches_and_planes, arrays::space_to_batch_nd, Cost::Moves);
    /// Blocks of spatial axes moved into the batch.
    SpaceToBatchND
        "input:T block_shape:Tblock_shape paddings:Tpaddings -> output:T; T:type Tblock_shape:type=int32 \
         Tpaddings:type=int32"
        => function(eval::arrays::batches_and_space, arrays::space_to_batch_nd, Cost::Moves);
    /// Blocks of height and width moved into channels.
    SpaceToDepth "input:T -> output:T; T:type block_size:int data_format:string='NHWC'"
        => function(eval::arrays::depth_and_space, joins::space_to_depth, Cost::Moves);
    /// Equal parts along an axis.
    Split "split_dim:int32 value:T -> output:num_split*T; T:type num_split:int"
        => function(eval::arrays::split, joins::split, Cost::Moves).layout("ai>i*");
    /// Parts of given sizes along an axis.
    SplitV
        "value:T size_splits:Tlen split_dim:int32 -> output:num_split*T; T:type Tlen:type=int64 \
         num_split:int"
        => function(eval::arrays::split_v, joins::split_v, Cost::Moves).layout("i.a>i*");
    /// A part given by start, end and step, as NumPy slices.
    StridedSlice
        "input:T begin:Index end:Index strides:Index -> output:T; Index:type T:type begin_mask:int=0 \
         ellipsis_mask:int=0 end_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"
        => function(
            eval::arrays::strided_slice,
            slices::strided_slice,
            Cost::Moves,
        ).total(CONSTANT).layout("irrr>i");
    /// The gradient of `StridedSlice`.
    StridedSliceGrad
        "shape:Index begin:Index end:Index strides:Index dy:T -> output:T; Index:type T:type \
         begin_mask:int=0 ellipsis_mask:int=0 end_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"
        => function(eval::arrays::strided_slice_grad, slices::strided_slice_grad, Cost::Moves);
    /// A tensor with slices added by vectors of indices.
    TensorScatterAdd
        "tensor:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_add, rules::same, Cost::Moves);
    /// A tensor with the maximum of its slices and others by vectors of indices.
    TensorScatterMax
        "tensor:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_max, rules::same, Cost::Moves);
    /// A tensor with the minimum of its slices and others by vectors of indices.
    TensorScatterMin
        "tensor:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_min, rules::same, Cost::Moves);
    /// A tensor with slices subtracted by vectors of indices.
    TensorScatterSub
        "tensor:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_sub, rules::same, Cost::Moves);
    /// A tensor with slices replaced by vectors of indices.
    TensorScatterUpdate
        "tensor:T indices:Tindices updates:T -> output:T; T:type Tindices:type \
         bad_indices_policy:string=''"
        => function(eval::arrays::tensor_scatter_update, rules::same, Cost::Moves);
    /// A tensor with a strided part replaced.
    TensorStridedSliceUpdate
        "input:T begin:Index end:Index strides:Index value:T -> output:T; Index:type T:type \
         begin_mask:int=0 ellipsis_mask:int=0 end_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"
        => function(
            eval::arrays::tensor_strided_slice_update,
            slices::tensor_strided_slice_update,
            Cost::Moves,
        );
    /// The tensor repeated along its axes.
    Tile "input:T multiples:Tmultiples -> output:T; T:type Tmultiples:type=int32"
        => function(eval::arrays::tile, joins::tile, Cost::Moves).total(CONSTANT).layout("ir>i");
    /// The axes permuted.
    Transpose "x:T perm:Tperm -> y:T; T:type Tperm:type=int32"
        => function(eval::arrays::transpose, joins::transpose, Cost::Moves).total(CONSTANT);
    /// The slices along an axis; the inverse of `Pack`.
    Unpack "value:T -> output:num*T; T:type axis:int=0 num:int"
        => function(eval::arrays::unpack, joins::unpack, Cost::Moves);
    /// Matrices with zeros outside of a band of diagonals.
    BatchMatrixBandPart "input:T num_lower:int64 num_upper:int64 -> band:T; T:type"
        => function(eval::arrays::matrix_band_part, arrays::matrix_band_part, Cost::Moves);
    /// A tensor with the operand on its diagonal, zeros elsewhere.
    Diag "diagonal:T -> output:T; T:type" => function(eval::arrays::diag, arrays::diag, Cost::Moves);
    /// The diagonal of a tensor whose axes come in two equal halves.
    DiagPart "input:T -> diagonal:T; T:type"
        => function(eval::arrays::diag_part, arrays::diag_part, Cost::Moves);
    /// Matrices with zeros outside of a band of diagonals.
    MatrixBandPart "input:T num_lower:Tindex num_upper:Tindex -> band:T; T:type Tindex:type=int64"
        => function(eval::arrays::matrix_band_part, arrays::matrix_band_part, Cost::Moves);
    /// Matrices with vectors on their diagonals.
    MatrixDiag "diagonal:T -> output:T; T:type"
        => function(eval::arrays::matrix_diag, arrays::matrix_diag, Cost::Moves);
    /// The diagonals of matrices.
    MatrixDiagPart "input:T -> diagonal:T; T:type"
        => function(eval::arrays::matrix_diag_part, arrays::matrix_diag_part, Cost::Moves);
    /// A band of diagonals of matrices.
    MatrixDiagPartV2 "input:T k:int32 padding_value:T -> diagonal:T; T:type"
        => function(eval::arrays::matrix_diag_part_v2, arrays::diagonals, Cost::Moves);
    /// A band of diagonals of matrices, aligned by attribute.
    MatrixDiagPartV3 "input:T k:int32 padding_value:T -> diagonal:T; T:type align:string='RIGHT_LEFT'"
        => function(eval::arrays::matrix_diag_part_v2, arrays::diagonals, Cost::Moves);
    /// Matrices with vectors on a band of diagonals.
    MatrixDiagV2 "diagonal:T k:int32 num_rows:int32 num_cols:int32 padding_value:T -> output:T; T:type"
        => function(eval::arrays::matrix_diag_v2, arrays::matrices_around, Cost::Moves);
    /// Matrices with vectors on a band of diagonals, aligned by attribute.
    MatrixDiagV3
        "diagonal:T k:int32 num_rows:int32 num_cols:int32 padding_value:T -> output:T; T:type \
         align:string='RIGHT_LEFT'"
        => function(eval::arrays::matrix_diag_v2, arrays::matrices_around, Cost::Moves);
    /// Matrices with other diagonals.
    MatrixSetDiag "input:T diagonal:T -> output:T; T:type"
        => function(eval::arrays::matrix_set_diag, arrays::matrix_band_part, Cost::Moves);
    /// Matrices with another band of diagonals.
    MatrixSetDiagV2 "input:T diagonal:T k:int32 -> output:T; T:type"
        => function(eval::arrays::matrix_set_diag_v2, arrays::matrix_band_part, Cost::Moves);
    /// Matrices with another band of diagonals, aligned by attribute.
    MatrixSetDiagV3 "input:T diagonal:T k:int32 -> output:T; T:type align:string='RIGHT_LEFT'"
        => function(eval::arrays::matrix_set_diag_v2, arrays::matrix_band_part, Cost::Moves);
}
