//! Sparse and ragged operands.

use super::super::cost;
use super::super::eval;
use super::super::infer::{sparse, sparse_arrays};
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;

operators! { 16:
    /// The rows of a ragged tensor at the given indices.
    RaggedGather
        "params_nested_splits:PARAMS_RAGGED_RANK*Tsplits params_dense_values:Tvalues indices:Tindices -> \
         output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits output_dense_values:Tvalues; \
         OUTPUT_RAGGED_RANK:int PARAMS_RAGGED_RANK:int Tindices:type Tsplits:type=int64 Tvalues:type"
        => function(eval::sparse::ragged_gather, sparse::ragged_gather, Cost::Moves);
    /// For each row of a ragged tensor, the number of occurrences, or the sum of weights, of each small
    /// integer.
    RaggedBincount
        "splits:int64 values:Tidx size:Tidx weights:T -> output:T; T:type Tidx:type binary_output:bool=false"
        => function(eval::sparse::ragged_bincount, sparse::ragged_bincount, Cost::PerOperand(1)).differentiated(Gradient::Missing);
    /// The values of a ragged tensor in rows of equal lengths.
    RaggedTensorToTensor
        "shape:Tshape values:T default_value:T row_partition_tensors:num_row_partition_tensors*Tindex -> \
         result:T; T:type Tindex:type Tshape:type num_row_partition_tensors:int row_partition_types:list(string)"
        => function(eval::sparse::ragged_to_tensor, sparse::ragged_to_tensor, Cost::Moves);
    /// The product of a sparse and a dense matrix.
    SparseTensorDenseMatMul
        "a_indices:Tindices a_values:T a_shape:int64 b:T -> product:T; T:type Tindices:type=int64 \
         adjoint_a:bool=false adjoint_b:bool=false"
        => function(eval::sparse::sparse_dense_matmul, sparse::sparse_dense_matmul, Cost::By(cost::sparse_matmul));
    /// A dense tensor of a default value, with other values at the given indices.
    SparseToDense
        "sparse_indices:Tindices output_shape:Tindices sparse_values:T default_value:T -> dense:T; T:type \
         Tindices:type validate_indices:bool=true"
        => function(eval::sparse::sparse_to_dense, sparse::sparse_to_dense, Cost::Moves);
    /// The sum of two sparse tensors, without small sums.
    SparseAdd
        "a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 thresh:Treal \
         -> sum_indices:int64 sum_values:T sum_shape:int64; T:type Treal:type"
        => function(eval::sparse_arrays::sparse_add, sparse_arrays::sparse_add, Cost::PerOperand(8));
    /// The gradients of the operands of `SparseAdd`.
    SparseAddGrad
        "backprop_val_grad:T a_indices:int64 b_indices:int64 sum_indices:int64 -> a_val_grad:T \
         b_val_grad:T; T:type"
        => function(
            eval::sparse_arrays::sparse_add_grad,
            sparse_arrays::sparse_add_grad,
            Cost::PerOperand(4),
        );
    /// Sparse tensors joined along an axis.
    SparseConcat
        "indices:N*int64 values:N*T shapes:N*int64 -> output_indices:int64 output_values:T \
         output_shape:int64; N:int T:type concat_dim:int"
        => function(
            eval::sparse_arrays::sparse_concat,
            sparse_arrays::sparse_concat,
            Cost::PerOperand(16),
        ).no_gradient();
    /// The entries of a sparse tensor, with the elements of a dense one added.
    SparseDenseCwiseAdd
        "sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T; T:type"
        => function(
            eval::sparse_arrays::sparse_dense_cwise,
            sparse_arrays::sparse_dense_cwise,
            Cost::PerResult(16),
        );
    /// The entries of a sparse tensor, divided by the elements of a dense one.
    SparseDenseCwiseDiv
        "sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T; T:type"
        => function(
            eval::sparse_arrays::sparse_dense_cwise,
            sparse_arrays::sparse_dense_cwise,
            Cost::PerResult(16),
        );
    /// The entries of a sparse tensor, multiplied by the elements of a dense one.
    SparseDenseCwiseMul
        "sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T; T:type"
        => function(
            eval::sparse_arrays::sparse_dense_cwise,
            sparse_arrays::sparse_dense_cwise,
            Cost::PerResult(16),
        );
    /// The entries of a sparse tensor, with a default entry in each empty row.
    SparseFillEmptyRows
        "indices:int64 values:T dense_shape:int64 default_value:T -> output_indices:int64 output_values:T \
         empty_row_indicator:bool reverse_index_map:int64; T:type"
        => function(
            eval::sparse_arrays::sparse_fill_empty_rows,
            sparse_arrays::sparse_fill_empty_rows,
            Cost::PerOperand(8),
        );
    /// The gradients of the values and of the default of `SparseFillEmptyRows`.
    SparseFillEmptyRowsGrad
        "reverse_index_map:int64 grad_values:T -> d_values:T d_default_value:T; T:type"
        => function(
            eval::sparse_arrays::sparse_fill_empty_rows_grad,
            sparse_arrays::sparse_fill_empty_rows_grad,
            Cost::PerOperand(8),
        );
    /// The largest entries of a sparse tensor along axes.
    SparseReduceMax
        "input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output:T; T:type \
         keep_dims:bool=false"
        => function(eval::sparse_arrays::sparse_reduce, sparse_arrays::sparse_reduce, Cost::PerOperand(8));
    /// The sums of the entries of a sparse tensor along axes.
    SparseReduceSum
        "input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output:T; T:type \
         keep_dims:bool=false"
        => function(eval::sparse_arrays::sparse_reduce, sparse_arrays::sparse_reduce, Cost::PerOperand(8));
    /// The entries of a sparse tensor in row-major order.
    SparseReorder
        "input_indices:int64 input_values:T input_shape:int64 -> output_indices:int64 output_values:T; \
         T:type"
        => function(
            eval::sparse_arrays::sparse_reorder,
            sparse_arrays::sparse_reorder,
            Cost::PerOperand(16),
        );
    /// The coordinates of the entries of a sparse tensor in another shape.
    SparseReshape
        "input_indices:int64 input_shape:int64 new_shape:int64 -> output_indices:int64 output_shape:int64"
        => function(
            eval::sparse_arrays::sparse_reshape,
            sparse_arrays::sparse_reshape,
            Cost::PerOperand(8),
        ).no_gradient();
    /// The means of selected rows by sorted segment id.
    SparseSegmentMean
        "data:T indices:Tidx segment_ids:Tsegmentids -> output:T; T:type Tidx:type=int32 \
         Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The gradient of `SparseSegmentMean`.
    SparseSegmentMeanGrad
        "grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T; T:type \
         Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The gradient of `SparseSegmentMean` in the selected rows.
    SparseSegmentMeanGradV2
        "grad:T indices:Tidx segment_ids:Tsegmentids dense_output_dim0:int32 -> output:T \
         sorted_unique_indices:Tidx; T:type Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad_rows,
            sparse_arrays::sparse_segment_grad,
            Cost::PerOperand(2),
        );
    /// The means of selected rows by sorted segment id, for a number of segments.
    SparseSegmentMeanWithNumSegments
        "data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T; T:type \
         Tidx:type=int32 Tnumsegments:type=int32 Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The sums of selected rows by sorted segment id, over the roots of their numbers.
    SparseSegmentSqrtN
        "data:T indices:Tidx segment_ids:Tsegmentids -> output:T; T:type Tidx:type=int32 \
         Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The gradient of `SparseSegmentSqrtN`.
    SparseSegmentSqrtNGrad
        "grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T; T:type \
         Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The gradient of `SparseSegmentSqrtN` in the selected rows.
    SparseSegmentSqrtNGradV2
        "grad:T indices:Tidx segment_ids:Tsegmentids dense_output_dim0:int32 -> output:T \
         sorted_unique_indices:Tidx; T:type Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad_rows,
            sparse_arrays::sparse_segment_grad,
            Cost::PerOperand(2),
        );
    /// The sums of selected rows by sorted segment id, over the roots of their numbers, for a number of
    /// segments.
    SparseSegmentSqrtNWithNumSegments
        "data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T; T:type \
         Tidx:type=int32 Tnumsegments:type=int32 Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(2),
        );
    /// The sums of selected rows by sorted segment id.
    SparseSegmentSum
        "data:T indices:Tidx segment_ids:Tsegmentids -> output:T; T:type Tidx:type=int32 \
         Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(1),
        );
    /// The gradient of `SparseSegmentSum`.
    SparseSegmentSumGrad
        "grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T; T:type \
         Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(1),
        );
    /// The gradient of `SparseSegmentSum` in the selected rows.
    SparseSegmentSumGradV2
        "grad:T indices:Tidx segment_ids:Tsegmentids dense_output_dim0:int32 -> output:T \
         sorted_unique_indices:Tidx; T:type Tidx:type=int32 Tsegmentids:type=int32"
        => function(
            eval::sparse_arrays::sparse_segment_grad_rows,
            sparse_arrays::sparse_segment_grad,
            Cost::PerOperand(1),
        );
    /// The sums of selected rows by sorted segment id, for a number of segments.
    SparseSegmentSumWithNumSegments
        "data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T; T:type \
         Tidx:type=int32 Tnumsegments:type=int32 Tsegmentids:type=int32 sparse_gradient:bool=false"
        => function(
            eval::sparse_arrays::sparse_segment,
            sparse_arrays::sparse_segment,
            Cost::PerOperand(1),
        );
    /// The entries of a sparse tensor in a box.
    SparseSlice
        "indices:int64 values:T shape:int64 start:int64 size:int64 -> output_indices:int64 \
         output_values:T output_shape:int64; T:type"
        => function(eval::sparse_arrays::sparse_slice, sparse_arrays::sparse_slice, Cost::PerOperand(4));
    /// The gradient of `SparseSlice`.
    SparseSliceGrad
        "backprop_val_grad:T input_indices:int64 input_start:int64 output_indices:int64 -> val_grad:T; \
         T:type"
        => function(
            eval::sparse_arrays::sparse_slice_grad,
            sparse_arrays::sparse_slice_grad,
            Cost::PerOperand(4),
        );
    /// The sum of a sparse and a dense tensor.
    SparseTensorDenseAdd
        "a_indices:Tindices a_values:T a_shape:Tindices b:T -> output:T; T:type Tindices:type"
        => function(
            eval::sparse_arrays::sparse_dense_add,
            sparse_arrays::sparse_dense_add,
            Cost::PerOperand(2),
        );
    /// An operation on the sets along the last axis of dense tensors, with sparse results.
    DenseToDenseSetOperation
        "set1:T set2:T -> result_indices:int64 result_values:T result_shape:int64; T:type \
         set_operation:string validate_indices:bool=true"
        => function(
            eval::sparse_arrays::dense_sets,
            sparse_arrays::dense_sets,
            Cost::PerOperand(32),
        ).no_gradient();
    /// An operation on the sets along the last axis of a dense and a sparse tensor, with sparse results.
    DenseToSparseSetOperation
        "set1:T set2_indices:int64 set2_values:T set2_shape:int64 -> result_indices:int64 result_values:T \
         result_shape:int64; T:type set_operation:string validate_indices:bool=true"
        => function(
            eval::sparse_arrays::dense_and_sparse_sets,
            sparse_arrays::dense_and_sparse_sets,
            Cost::PerOperand(32),
        ).no_gradient();
    /// An operation on the sets along the last axis of sparse tensors.
    SparseToSparseSetOperation
        "set1_indices:int64 set1_values:T set1_shape:int64 set2_indices:int64 set2_values:T \
         set2_shape:int64 -> result_indices:int64 result_values:T result_shape:int64; T:type \
         set_operation:string validate_indices:bool=true"
        => function(
            eval::sparse_arrays::sparse_sets,
            sparse_arrays::sparse_sets,
            Cost::PerOperand(32),
        ).no_gradient();
    /// The number of distinct values of each set along the last axis of a sparse tensor.
    SetSize
        "set_indices:int64 set_values:T set_shape:int64 -> size:int32; T:type validate_indices:bool=true"
        => function(eval::sparse_arrays::set_size, sparse_arrays::set_size, Cost::PerOperand(32)).no_gradient();
    /// Rows of numbers from starts to limits.
    RaggedRange
        "starts:T limits:T deltas:T -> rt_nested_splits:Tsplits rt_dense_values:T; T:type=int32 \
         Tsplits:type=int64"
        => function(eval::sparse::ragged_range, sparse_arrays::ragged_range, Cost::PerResult(1)).no_gradient();
    /// The sparse tensor with the values of a ragged one.
    RaggedTensorToSparse
        "rt_nested_splits:RAGGED_RANK*Tsplits rt_dense_values:T -> sparse_indices:int64 sparse_values:T \
         sparse_dense_shape:int64; RAGGED_RANK:int T:type Tsplits:type=int64"
        => function(eval::sparse::ragged_to_sparse, sparse_arrays::ragged_to_sparse, Cost::PerResult(4));
    /// How often each value occurs in its row, as a sparse tensor.
    DenseCountSparseOutput
        "values:T weights:output_type -> output_indices:int64 output_values:output_type \
         output_dense_shape:int64; T:type binary_output:bool maxlength:int=-1 minlength:int=-1 \
         output_type:type"
        => function(eval::sparse::dense_counts, sparse::counts, Cost::PerOperand(16)).no_gradient();
    /// How often each value occurs in its row of a ragged tensor, as a sparse tensor.
    RaggedCountSparseOutput
        "splits:int64 values:T weights:output_type -> output_indices:int64 output_values:output_type \
         output_dense_shape:int64; T:type binary_output:bool maxlength:int=-1 minlength:int=-1 \
         output_type:type"
        => function(eval::sparse::ragged_counts, sparse::counts, Cost::PerOperand(16)).no_gradient();
    /// How often each value occurs in its row of a sparse tensor, as a sparse tensor.
    SparseCountSparseOutput
        "indices:int64 values:T dense_shape:int64 weights:output_type -> output_indices:int64 \
         output_values:output_type output_dense_shape:int64; T:type binary_output:bool maxlength:int=-1 \
         minlength:int=-1 output_type:type"
        => function(eval::sparse::sparse_counts, sparse::counts, Cost::PerOperand(16)).no_gradient();
    /// The number of occurrences, or the sum of weights, of each small integer in a sparse vector or in each
    /// row of a sparse tensor.
    SparseBincount
        "indices:int64 values:Tidx dense_shape:int64 size:Tidx weights:T -> output:T; T:type Tidx:type \
         binary_output:bool=false"
        => function(
            eval::sparse_arrays::sparse_bincount,
            sparse_arrays::sparse_bincount,
            Cost::PerOperand(4),
        )
        .differentiated(Gradient::Missing);
    /// The softmax of the entries of a sparse tensor along the last axis.
    SparseSoftmax
        "sp_indices:int64 sp_values:T sp_shape:int64 -> output:T; T:type"
        => function(
            eval::sparse_arrays::sparse_softmax,
            sparse_arrays::sparse_dense_cwise,
            Cost::PerResult(32),
        );
    /// The parts of a sparse tensor along an axis.
    SparseSplit
        "split_dim:int64 indices:int64 values:T shape:int64 -> output_indices:num_split*int64 \
         output_values:num_split*T output_shape:num_split*int64; T:type num_split:int"
        => function(eval::sparse_arrays::sparse_split, sparse_arrays::sparse_split, Cost::PerOperand(4))
            .differentiated(Gradient::Missing);
    /// The larger elements of two sparse tensors.
    SparseSparseMaximum
        "a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 -> \
         output_indices:int64 output_values:T; T:type"
        => function(eval::sparse_arrays::sparse_extreme, sparse_arrays::sparse_extreme, Cost::PerOperand(8))
            .differentiated(Gradient::Missing);
    /// The smaller elements of two sparse tensors.
    SparseSparseMinimum
        "a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 -> \
         output_indices:int64 output_values:T; T:type"
        => function(eval::sparse_arrays::sparse_extreme, sparse_arrays::sparse_extreme, Cost::PerOperand(8))
            .differentiated(Gradient::Missing);
}
