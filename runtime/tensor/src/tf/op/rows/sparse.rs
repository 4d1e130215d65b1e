//! Sparse and ragged operands.

use super::super::eval;
use super::super::infer::sparse;
use super::super::row::{Cost, Gradient, function};
use super::operators::operators;

operators! { 16:
    /// The rows of a ragged tensor at the given indices.
    RaggedGather
        "params_nested_splits:PARAMS_RAGGED_RANK*Tsplits params_dense_values:Tvalues indices:Tindices -> \
         output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits output_dense_values:Tvalues; \
         OUTPUT_RAGGED_RANK:int PARAMS_RAGGED_RANK:int Tindices:type Tsplits:type=int64 Tvalues:type"
        => function(eval::sparse::ragged_gather, sparse::ragged_gather, Cost::Moves).differentiated(Gradient::Missing);
    /// For each row of a ragged tensor, the number of occurrences, or the sum of weights, of each small
    /// integer.
    RaggedBincount
        "splits:int64 values:Tidx size:Tidx weights:T -> output:T; T:type Tidx:type binary_output:bool=false"
        => function(eval::sparse::ragged_bincount, sparse::ragged_bincount, Cost::PerOperand(1)).no_gradient();
    /// The values of a ragged tensor in rows of equal lengths.
    RaggedTensorToTensor
        "shape:Tshape values:T default_value:T row_partition_tensors:num_row_partition_tensors*Tindex -> \
         result:T; T:type Tindex:type Tshape:type num_row_partition_tensors:int row_partition_types:list(string)"
        => function(eval::sparse::ragged_to_tensor, sparse::ragged_to_tensor, Cost::Moves).no_gradient();
    /// The product of a sparse and a dense matrix.
    SparseTensorDenseMatMul
        "a_indices:Tindices a_values:T a_shape:int64 b:T -> product:T; T:type Tindices:type=int64 \
         adjoint_a:bool=false adjoint_b:bool=false"
        => function(eval::sparse::sparse_dense_matmul, sparse::sparse_dense_matmul, Cost::PerOperand(8));
    /// A dense tensor of a default value, with other values at the given indices.
    SparseToDense
        "sparse_indices:Tindices output_shape:Tindices sparse_values:T default_value:T -> dense:T; T:type \
         Tindices:type validate_indices:bool=true"
        => function(eval::sparse::sparse_to_dense, sparse::sparse_to_dense, Cost::Moves);
}
