//! Reductions, running sums and segments.

use super::super::cost;
use super::super::eval;
use super::super::infer::{arrays, rules};
use super::super::row::{CONSTANT, Cost, Gradient, function, reduce, scan, segment, sorted_segment};
use super::operators::operators;
use crate::tf::{Reduce, Scan, Segment, SortedSegment};

operators! { 2:
    /// The conjunction along axes.
    All "input:bool reduction_indices:Tidx -> output:bool; Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::All).no_gradient();
    /// The disjunction along axes.
    Any "input:bool reduction_indices:Tidx -> output:bool; Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Any).no_gradient();
    /// The square root of the sum of squares along axes.
    EuclideanNorm "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::EuclideanNorm);
    /// The maximum along axes; NaN if an element is NaN.
    Max "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Max).total(CONSTANT);
    /// The mean along axes.
    Mean "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Mean).total(CONSTANT);
    /// The minimum along axes; NaN if an element is NaN.
    Min "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Min).total(CONSTANT);
    /// The product along axes.
    Prod "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Prod).total(CONSTANT);
    /// The sum along axes.
    Sum "input:T reduction_indices:Tidx -> output:T; T:type Tidx:type=int32 keep_dims:bool=false"
        => reduce(Reduce::Sum).total(CONSTANT);
    /// The running product along an axis.
    Cumprod "x:T axis:Tidx -> out:T; T:type Tidx:type=int32 exclusive:bool=false reverse:bool=false"
        => scan(Scan::Cumprod).layout("ia>i");
    /// The running sum along an axis.
    Cumsum "x:T axis:Tidx -> out:T; T:type Tidx:type=int32 exclusive:bool=false reverse:bool=false"
        => scan(Scan::Cumsum).layout("ia>i");
    /// The logarithm of the running sum of exponentials along an axis.
    CumulativeLogsumexp
        "x:T axis:Tidx -> out:T; T:type Tidx:type=int32 exclusive:bool=false reverse:bool=false"
        => scan(Scan::CumulativeLogsumexp);
    /// The maximum of the rows of each segment; segment ids are sorted.
    SegmentMax "data:T segment_ids:Tindices -> output:T; T:type Tindices:type"
        => sorted_segment(SortedSegment::Max);
    /// The mean of the rows of each segment; segment ids are sorted.
    SegmentMean "data:T segment_ids:Tindices -> output:T; T:type Tindices:type"
        => sorted_segment(SortedSegment::Mean);
    /// The minimum of the rows of each segment; segment ids are sorted.
    SegmentMin "data:T segment_ids:Tindices -> output:T; T:type Tindices:type"
        => sorted_segment(SortedSegment::Min);
    /// The product of the rows of each segment; segment ids are sorted.
    SegmentProd "data:T segment_ids:Tindices -> output:T; T:type Tindices:type"
        => sorted_segment(SortedSegment::Prod);
    /// The sum of the rows of each segment; segment ids are sorted.
    SegmentSum "data:T segment_ids:Tindices -> output:T; T:type Tindices:type"
        => sorted_segment(SortedSegment::Sum);
    /// The maximum of the rows of each segment; segment ids may have any order.
    UnsortedSegmentMax
        "data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T; T:type Tindices:type \
         Tnumsegments:type=int32"
        => segment(Segment::Max);
    /// The minimum of the rows of each segment; segment ids may have any order.
    UnsortedSegmentMin
        "data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T; T:type Tindices:type \
         Tnumsegments:type=int32"
        => segment(Segment::Min);
    /// The product of the rows of each segment; segment ids may have any order.
    UnsortedSegmentProd
        "data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T; T:type Tindices:type \
         Tnumsegments:type=int32"
        => segment(Segment::Prod);
    /// The sum of the rows of each segment; segment ids may have any order.
    UnsortedSegmentSum
        "data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T; T:type Tindices:type \
         Tnumsegments:type=int32"
        => segment(Segment::Sum);
    /// The index of the largest element along an axis.
    ArgMax "input:T dimension:Tidx -> output:output_type; T:type Tidx:type=int32 output_type:type=int64"
        => function(
            eval::elementwise::arg_extreme,
            arrays::arg_extreme,
            Cost::PerOperand(1),
        ).layout("ia>k").no_gradient();
    /// The index of the smallest element along an axis.
    ArgMin "input:T dimension:Tidx -> output:output_type; T:type Tidx:type=int32 output_type:type=int64"
        => function(
            eval::elementwise::arg_extreme,
            arrays::arg_extreme,
            Cost::PerOperand(1),
        ).layout("ia>k").no_gradient();
    /// The number of occurrences, or the sum of weights, of each small integer.
    Bincount "arr:int32 size:int32 weights:T -> bins:T; T:type"
        => function(eval::arrays::bincount, arrays::bincount, Cost::PerOperand(1)).differentiated(Gradient::Missing);
    /// For each element, the number of boundaries that are not above it.
    Bucketize "input:T -> output:int32; T:type boundaries:list(float)"
        => function(eval::arrays::bucketize, rules::same, Cost::PerResult(8)).no_gradient();
    /// For each row, the number of occurrences, or the sum of weights, of each small integer.
    DenseBincount "input:Tidx size:Tidx weights:T -> output:T; T:type Tidx:type binary_output:bool=false"
        => function(eval::arrays::bincount, arrays::dense_bincount, Cost::PerOperand(1)).differentiated(Gradient::Missing);
    /// Whether the target of each row is among its k largest elements.
    InTopK "predictions:float targets:T -> precision:bool; T:type=int32 k:int"
        => function(eval::arrays::in_top_k, arrays::in_top_k, Cost::PerOperand(1)).no_gradient();
    /// Whether the target of each row is among its k largest elements.
    InTopKV2 "predictions:float targets:T k:T -> precision:bool; T:type=int32"
        => function(eval::arrays::in_top_kv2, arrays::in_top_k, Cost::PerOperand(1)).no_gradient();
    /// Half of the sum of squares.
    L2Loss "t:T -> output:T; T:type"
        => function(eval::elementwise::l2_loss, rules::scalar, Cost::PerOperand(2));
    /// The elements of one vector that are not in another, with their positions.
    ListDiff "x:T y:T -> out:T idx:out_idx; T:type out_idx:type=int32"
        => function(eval::arrays::list_diff, arrays::list_diff, Cost::PerOperand(4)).differentiated(Gradient::Missing);
    /// For each value, the first position in a sorted row whose element is not less.
    LowerBound "sorted_inputs:T values:T -> output:out_type; T:type out_type:type=int32"
        => function(eval::arrays::sorted_bounds, arrays::sorted_bounds, Cost::PerResult(16)).no_gradient();
    /// The k largest elements of each row, with their positions.
    TopK "input:T -> values:T indices:int32; T:type k:int sorted:bool=true"
        => function(eval::arrays::top_k, arrays::top_k_v1, Cost::PerOperand(8));
    /// The k largest elements of each row, with their positions.
    TopKV2
        "input:T k:Tk -> values:T indices:index_type; T:type Tk:type=int32 index_type:type=int32 \
         sorted:bool=true"
        => function(eval::arrays::top_kv2, arrays::top_kv2, Cost::PerOperand(8));
    /// The distinct elements of a vector, and for each element its position among them.
    Unique "x:T -> y:T idx:out_idx; T:type out_idx:type=int32"
        => function(eval::arrays::unique, arrays::unique, Cost::PerOperand(4)).differentiated(Gradient::Missing);
    /// The distinct slices along an axis, and for each slice its position among them.
    UniqueV2 "x:T axis:Taxis -> y:T idx:out_idx; T:type Taxis:type=int64 out_idx:type=int32"
        => function(eval::arrays::unique_v2, arrays::unique_v2, Cost::PerOperand(4)).differentiated(Gradient::Missing);
    /// The distinct slices along an axis, positions as in `UniqueV2`, and the number of occurrences of each.
    UniqueWithCountsV2
        "x:T axis:Taxis -> y:T idx:out_idx count:out_idx; T:type Taxis:type=int64 out_idx:type=int32"
        => function(
            eval::arrays::unique_with_counts_v2,
            arrays::unique_with_counts_v2,
            Cost::PerOperand(4),
        ).differentiated(Gradient::Missing);
    /// The indices of the elements at positions of a tensor with these sizes.
    UnravelIndex "indices:Tidx dims:Tidx -> output:Tidx; Tidx:type=int32"
        => function(eval::arrays::unravel_index, arrays::unravel_index, Cost::PerResult(16)).no_gradient();
    /// The distinct elements of a vector, positions as in `Unique`, and the number of occurrences of each.
    UniqueWithCounts "x:T -> y:T idx:out_idx count:out_idx; T:type out_idx:type=int32"
        => function(
            eval::arrays::unique_with_counts,
            arrays::unique_with_counts,
            Cost::PerOperand(4),
        ).differentiated(Gradient::Missing);
    /// For each value, the first position in a sorted row whose element is greater.
    UpperBound "sorted_inputs:T values:T -> output:out_type; T:type out_type:type=int32"
        => function(eval::arrays::sorted_bounds, arrays::sorted_bounds, Cost::PerResult(16)).no_gradient();
    /// The indices of the elements that are not zero.
    Where "input:T -> index:int64; T:type=bool"
        => function(
            eval::shaping::indices_of_true,
            arrays::indices_of_true,
            Cost::PerOperand(1),
        ).no_gradient();
    /// The regularized incomplete beta function.
    Betainc
        "a:T b:T x:T -> z:T; T:type"
        => function(eval::numbers::betainc, arrays::betainc, Cost::PerResult(256));
    /// The numbers of changes between sequences in two sparse tensors.
    EditDistance
        "hypothesis_indices:int64 hypothesis_values:T hypothesis_shape:int64 truth_indices:int64 \
         truth_values:T truth_shape:int64 -> output:float; T:type normalize:bool=true"
        => function(
            eval::numbers::edit_distance,
            arrays::edit_distance,
            Cost::By(cost::edit_distance),
        ).no_gradient();
    /// The numbers of elements in equal parts of a range.
    HistogramFixedWidth
        "values:T value_range:T nbins:int32 -> out:dtype; T:type dtype:type=int32"
        => function(eval::numbers::histogram, arrays::histogram, Cost::PerOperand(8)).no_gradient();
    /// The elements at a position of the sorted rows.
    NthElement
        "input:T n:int32 -> values:T; T:type reverse:bool=false"
        => function(eval::numbers::nth_element, arrays::nth_element, Cost::PerOperand(8));
}
