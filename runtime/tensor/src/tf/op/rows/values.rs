//! Lists and optionals, immutable values that hold tensors; and the handles of variables.

use super::super::infer::rules;
use super::super::row::{Cost, Effect, state, unsupported, values};
use super::operators::operators;

operators! { 7:
    /// A list without elements.
    EmptyTensorList
        "element_shape:shape_type max_num_elements:int32 -> handle:variant; element_dtype:type \
         shape_type:type"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// The elements of a list joined along the first axis, with their lengths.
    TensorListConcat
        "input_handle:variant -> tensor:element_dtype lengths:int64; element_dtype:type \
         element_shape:shape=?"
        => values(rules::unknown, Cost::Moves);
    /// Two lists joined.
    TensorListConcatLists "input_a:variant input_b:variant -> output:variant; element_dtype:type"
        => values(rules::unknown, Cost::Moves);
    /// The elements of a list joined along the first axis, with their lengths.
    TensorListConcatV2
        "input_handle:variant element_shape:shape_type leading_dims:int64 -> tensor:element_dtype \
         lengths:int64; element_dtype:type shape_type:type"
        => values(rules::unknown, Cost::Moves);
    /// The shape that all elements of a list have.
    TensorListElementShape "input_handle:variant -> element_shape:shape_type; shape_type:type"
        => values(rules::unknown, Cost::Moves).no_gradient();
    /// The list of the slices of a tensor along the first axis.
    TensorListFromTensor
        "tensor:element_dtype element_shape:shape_type -> output_handle:variant; element_dtype:type \
         shape_type:type"
        => values(rules::scalar, Cost::Moves);
    /// Elements of a list by index, stacked.
    TensorListGather
        "input_handle:variant indices:int32 element_shape:int32 -> values:element_dtype; \
         element_dtype:type"
        => values(rules::unknown, Cost::Moves);
    /// One element of a list.
    TensorListGetItem
        "input_handle:variant index:int32 element_shape:Tshape -> item:element_dtype; Tshape:type=int32 \
         element_dtype:type"
        => values(rules::unknown, Cost::Moves);
    /// The number of elements of a list.
    TensorListLength "input_handle:variant -> length:int32"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// A list without its last element, and that element.
    TensorListPopBack
        "input_handle:variant element_shape:int32 -> output_handle:variant tensor:element_dtype; \
         element_dtype:type"
        => values(rules::unknown, Cost::Moves);
    /// A list with one more element.
    TensorListPushBack
        "input_handle:variant tensor:element_dtype -> output_handle:variant; element_dtype:type"
        => values(rules::scalar, Cost::Moves);
    /// A list with one more element, for each of a batch of lists.
    TensorListPushBackBatch
        "input_handles:variant tensor:element_dtype -> output_handles:variant; element_dtype:type"
        => unsupported(rules::unknown);
    /// A list of unset elements.
    TensorListReserve
        "element_shape:shape_type num_elements:int32 -> handle:variant; element_dtype:type \
         shape_type:type"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// A list with more or fewer elements.
    TensorListResize "input_handle:variant size:int32 -> output_handle:variant"
        => values(rules::scalar, Cost::Moves);
    /// A list of the slices of a tensor by index.
    TensorListScatter
        "tensor:element_dtype indices:int32 element_shape:shape_type -> output_handle:variant; \
         element_dtype:type shape_type:type"
        => values(rules::scalar, Cost::Moves);
    /// A list with elements replaced by the slices of a tensor by index.
    TensorListScatterIntoExistingList
        "input_handle:variant tensor:element_dtype indices:int32 -> output_handle:variant; \
         element_dtype:type"
        => values(rules::unknown, Cost::Moves);
    /// A list of the slices of a tensor by index, of a given length.
    TensorListScatterV2
        "tensor:element_dtype indices:int32 element_shape:shape_type num_elements:int32 -> \
         output_handle:variant; element_dtype:type shape_type:type"
        => values(rules::scalar, Cost::Moves);
    /// A list with one element replaced.
    TensorListSetItem
        "input_handle:variant index:int32 item:element_dtype -> output_handle:variant; element_dtype:type \
         resize_if_index_out_of_bounds:bool=false"
        => values(rules::scalar, Cost::Moves);
    /// The list of the parts of a tensor, of given lengths along the first axis.
    TensorListSplit
        "tensor:element_dtype element_shape:shape_type lengths:int64 -> output_handle:variant; \
         element_dtype:type shape_type:type"
        => values(rules::scalar, Cost::Moves);
    /// The elements of a list stacked along a new first axis.
    TensorListStack
        "input_handle:variant element_shape:int32 -> tensor:element_dtype; element_dtype:type \
         num_elements:int=-1"
        => values(rules::unknown, Cost::Moves);
    /// A list with an element inserted before a position; negative ones count from the end.
    _SequenceInsert "list:variant item:T position:int64 -> output:variant; T:type"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// A list without the element at a position; negative ones count from the end.
    _SequenceErase "list:variant position:int64 -> output:variant;"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// An optional that holds values.
    OptionalFromValue "components:*Toutput_types -> optional:variant; Toutput_types:list(type)"
        => values(rules::scalar, Cost::Moves);
    /// The values of an optional; an error if it is empty.
    OptionalGetValue
        "optional:variant -> components:*output_types; output_shapes:list(shape) output_types:list(type)"
        => values(rules::unknown, Cost::Moves);
    /// Whether an optional holds values.
    OptionalHasValue "optional:variant -> has_value:bool;"
        => values(rules::scalar, Cost::Moves).no_gradient();
    /// An empty optional.
    OptionalNone "-> optional:variant;" => values(rules::scalar, Cost::Moves).no_gradient();
    /// The handle of a variable, by container and name.
    VarHandleOp
        "!-> resource:resource; allowed_devices:list(string)=[] container:string='' debug_name:string='' \
         dtype:type shape:shape shared_name:string=''"
        => state(Effect::Allocate, rules::scalar, Cost::Free).no_gradient();
}
