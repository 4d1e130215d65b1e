//! Variables, optimizers, tensor arrays, stacks, messages: operators with effects.

use super::super::infer::{arrays, random, rules};
use super::super::row::{Cost, Effect, state, unsupported, update};
use super::operators::operators;

operators! { 8:
    /// The value of a reference variable set.
    Assign "ref:Ref(T) value:T -> output_ref:Ref(T); T:type use_locking:bool=true validate_shape:bool=true"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A value added to a reference variable.
    AssignAdd "ref:Ref(T) value:T -> output_ref:Ref(T); T:type use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// A value added to a variable.
    AssignAddVariableOp "!resource:resource value:dtype ->; dtype:type"
        => update();
    /// A value subtracted from a reference variable.
    AssignSub "ref:Ref(T) value:T -> output_ref:Ref(T); T:type use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// A value subtracted from a variable.
    AssignSubVariableOp "!resource:resource value:dtype ->; dtype:type"
        => update();
    /// The value of a variable set.
    AssignVariableOp "!resource:resource value:dtype ->; dtype:type validate_shape:bool=false"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A reference variable counted up to a limit.
    CountUpTo "ref:Ref(T) -> output:T; T:type limit:int"
        => state(Effect::Write, rules::scalar, Cost::Moves).no_gradient();
    /// A resource deleted.
    DestroyResourceOp "!resource:resource ->; ignore_lookup_error:bool=true"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A temporary variable deleted, and its last value.
    DestroyTemporaryVariable "ref:Ref(T) -> value:T; T:type var_name:string" => unsupported(rules::unknown);
    /// No operation: a variable is read without a copy in any case.
    DisableCopyOnRead "!resource:resource ->"
        => state(Effect::Read, rules::unknown, Cost::Moves).no_gradient();
    /// Whether a reference variable has a value.
    IsVariableInitialized "ref:Ref(dtype) -> is_initialized:bool; dtype:type"
        => state(Effect::Read, rules::scalar, Cost::Moves).no_gradient();
    /// The value of a variable.
    ReadVariableOp "!resource:resource -> value:dtype; dtype:type"
        => state(Effect::Read, rules::unknown, Cost::Moves);
    /// A variable counted up to a limit.
    ResourceCountUpTo "!resource:resource -> output:T; T:type limit:int"
        => state(Effect::Write, rules::scalar, Cost::Moves).no_gradient();
    /// Rows of a variable by index.
    ResourceGather
        "!resource:resource indices:Tindices -> output:dtype; Tindices:type batch_dims:int=0 dtype:type \
         validate_indices:bool=true"
        => state(Effect::Read, rules::unknown, Cost::Moves);
    /// Slices of a variable by vectors of indices.
    ResourceGatherNd "!resource:resource indices:Tindices -> output:dtype; Tindices:type dtype:type"
        => state(Effect::Read, rules::unknown, Cost::Moves);
    /// A variable that lives for one step.
    TemporaryVariable "!-> ref:Ref(dtype); dtype:type shape:shape var_name:string=''"
        => unsupported(rules::unknown);
    /// Whether a variable has a value.
    VarIsInitializedOp "!resource:resource -> is_initialized:bool"
        => state(Effect::Read, rules::scalar, Cost::Moves).no_gradient();
    /// A reference to a variable.
    Variable "!-> ref:Ref(dtype); container:string='' dtype:type shape:shape shared_name:string=''"
        => state(Effect::Write, rules::placeholder_with_default, Cost::Moves).no_gradient();
    /// The shape of a variable's value.
    VariableShape "!input:resource -> output:out_type; out_type:type=int32"
        => state(Effect::Read, arrays::variable_shape, Cost::Moves).no_gradient();
    /// A reference to a variable.
    VariableV2 "!-> ref:Ref(dtype); container:string='' dtype:type shape:shape shared_name:string=''"
        => state(Effect::Write, rules::placeholder_with_default, Cost::Moves).no_gradient();
    /// The values of several variables.
    _ReadVariablesOp "!resources:N*resource -> values:*dtypes; N:int dtypes:list(type)"
        => unsupported(rules::unknown);
    /// Rows added to a variable by index.
    ResourceScatterAdd "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a variable divided by index.
    ResourceScatterDiv "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The maximum of rows of a variable and others by index.
    ResourceScatterMax "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The minimum of rows of a variable and others by index.
    ResourceScatterMin "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a variable multiplied by index.
    ResourceScatterMul "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices added to a variable by vectors of indices.
    ResourceScatterNdAdd
        "!ref:resource indices:Tindices updates:T ->; T:type Tindices:type bad_indices_policy:string='' \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The maximum of slices of a variable and others by vectors of indices.
    ResourceScatterNdMax
        "!ref:resource indices:Tindices updates:T ->; T:type Tindices:type bad_indices_policy:string='' \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The minimum of slices of a variable and others by vectors of indices.
    ResourceScatterNdMin
        "!ref:resource indices:Tindices updates:T ->; T:type Tindices:type bad_indices_policy:string='' \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices subtracted from a variable by vectors of indices.
    ResourceScatterNdSub
        "!ref:resource indices:Tindices updates:T ->; T:type Tindices:type bad_indices_policy:string='' \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices of a variable replaced by vectors of indices.
    ResourceScatterNdUpdate
        "!ref:resource indices:Tindices updates:T ->; T:type Tindices:type bad_indices_policy:string='' \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows subtracted from a variable by index.
    ResourceScatterSub "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a variable replaced by index.
    ResourceScatterUpdate "!resource:resource indices:Tindices updates:dtype ->; Tindices:type dtype:type"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// A strided part of a variable replaced.
    ResourceStridedSliceAssign
        "!ref:resource begin:Index end:Index strides:Index value:T ->; Index:type T:type begin_mask:int=0 \
         ellipsis_mask:int=0 end_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// Rows added to a reference variable by index.
    ScatterAdd
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a reference variable divided by index.
    ScatterDiv
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The maximum of rows of a reference variable and others by index.
    ScatterMax
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The minimum of rows of a reference variable and others by index.
    ScatterMin
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a reference variable multiplied by index.
    ScatterMul
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices added to a reference variable by vectors of indices.
    ScatterNdAdd
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         bad_indices_policy:string='' use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The maximum of slices of a reference variable and others by vectors of indices.
    ScatterNdMax
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         bad_indices_policy:string='' use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// The minimum of slices of a reference variable and others by vectors of indices.
    ScatterNdMin
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         bad_indices_policy:string='' use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices subtracted from a reference variable by vectors of indices.
    ScatterNdSub
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         bad_indices_policy:string='' use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Slices of a reference variable replaced by vectors of indices.
    ScatterNdUpdate
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         bad_indices_policy:string='' use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows subtracted from a reference variable by index.
    ScatterSub
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// Rows of a reference variable replaced by index.
    ScatterUpdate
        "ref:Ref(T) indices:Tindices updates:T -> output_ref:Ref(T); T:type Tindices:type \
         use_locking:bool=true"
        => state(Effect::Write, rules::unknown, Cost::PerOperand(1)).no_gradient();
    /// A strided part of a reference variable replaced.
    StridedSliceAssign
        "ref:Ref(T) begin:Index end:Index strides:Index value:T -> output_ref:Ref(T); Index:type T:type \
         begin_mask:int=0 ellipsis_mask:int=0 end_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A tensor array deleted.
    TensorArrayCloseV3 "!handle:resource ->"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// The elements of a tensor array joined along the first axis.
    TensorArrayConcatV3
        "!handle:resource flow_in:float -> value:dtype lengths:int64; dtype:type \
         element_shape_except0:shape=?"
        => state(Effect::Write, rules::unknown, Cost::Moves);
    /// Elements of a tensor array by index, stacked.
    TensorArrayGatherV3
        "!handle:resource indices:int32 flow_in:float -> value:dtype; dtype:type element_shape:shape=?"
        => state(Effect::Write, rules::unknown, Cost::Moves);
    /// The tensor array of the gradients of another.
    TensorArrayGradV3 "!handle:resource flow_in:float -> grad_handle:resource flow_out:float; source:string"
        => state(Effect::Write, rules::tensor_array_v3, Cost::Moves).no_gradient();
    /// The tensor array of the gradients of another, with more axes.
    TensorArrayGradWithShape
        "!handle:resource flow_in:float shape_to_prepend:int32 -> grad_handle:resource flow_out:float; \
         source:string"
        => unsupported(rules::unknown).no_gradient();
    /// One element of a tensor array.
    TensorArrayReadV3 "!handle:resource index:int32 flow_in:float -> value:dtype; dtype:type"
        => state(Effect::Write, rules::unknown, Cost::Moves);
    /// Elements of a tensor array set to the slices of a tensor by index.
    TensorArrayScatterV3 "!handle:resource indices:int32 value:T flow_in:float -> flow_out:float; T:type"
        => state(Effect::Write, rules::scalar, Cost::PerOperand(1));
    /// The number of elements of a tensor array.
    TensorArraySizeV3 "!handle:resource flow_in:float -> size:int32"
        => state(Effect::Write, rules::scalar, Cost::Moves).no_gradient();
    /// Elements of a tensor array set to parts of a tensor.
    TensorArraySplitV3 "!handle:resource value:T lengths:int64 flow_in:float -> flow_out:float; T:type"
        => state(Effect::Write, rules::scalar, Cost::Moves);
    /// A tensor array: elements that are each written once.
    TensorArrayV3
        "!size:int32 -> handle:resource flow:float; clear_after_read:bool=true dtype:type \
         dynamic_size:bool=false element_shape:shape=? identical_element_shapes:bool=false \
         tensor_array_name:string=''"
        => state(Effect::Write, rules::tensor_array_v3, Cost::Moves).no_gradient();
    /// One element of a tensor array set.
    TensorArrayWriteV3 "!handle:resource index:int32 value:T flow_in:float -> flow_out:float; T:type"
        => state(Effect::Write, rules::scalar, Cost::Moves);
    /// A stack, by reference.
    Stack "!-> handle:Ref(string); elem_type:type stack_name:string=''"
        => unsupported(rules::unknown).no_gradient();
    /// A stack deleted, by reference.
    StackClose "handle:Ref(string) ->" => unsupported(rules::unknown).no_gradient();
    /// A stack deleted.
    StackCloseV2 "!handle:resource ->" => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// The last value taken from a stack, by reference.
    StackPop "handle:Ref(string) -> elem:elem_type; elem_type:type" => unsupported(rules::unknown);
    /// The last value taken from a stack.
    StackPopV2 "!handle:resource -> elem:elem_type; elem_type:type"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A value put on a stack, by reference.
    StackPush "handle:Ref(string) elem:T -> output:T; T:type swap_memory:bool=false"
        => unsupported(rules::unknown);
    /// A value put on a stack.
    StackPushV2 "!handle:resource elem:T -> output:T; T:type swap_memory:bool=false"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// A stack.
    StackV2 "!max_size:int32 -> handle:resource; elem_type:type stack_name:string=''"
        => state(Effect::Write, rules::scalar, Cost::Moves).no_gradient();
    /// An error with a message of values, unless a condition holds.
    Assert "!condition:bool data:*T ->; T:list(type) summarize:int=3"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// The operand; values are printed to standard error.
    Print "!input:T data:*U -> output:T; T:type U:list(type) first_n:int=-1 message:string='' summarize:int=3"
        => state(Effect::Write, rules::unknown, Cost::Moves);
    /// A string printed.
    PrintV2 "!input:string ->; end:string='\\n' output_stream:string='stderr'"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// An error that ends the process.
    Abort "->; error_msg:string='' exit_without_error:bool=false"
        => unsupported(rules::unknown).no_gradient();
    /// The time since the Unix epoch in seconds.
    Timestamp "!-> ts:double" => unsupported(rules::unknown).no_gradient();
    /// The state of a generator, which then skips a number of steps.
    RngReadAndSkip "!resource:resource alg:int32 delta:uint64 -> value:int64"
        => state(Effect::Write, random::generator_state, Cost::Moves).no_gradient();
    /// A generator that skips a number of steps.
    RngSkip "!resource:resource algorithm:int64 delta:int64 ->"
        => state(Effect::Write, rules::unknown, Cost::Moves).no_gradient();
    /// Random numbers of the binomial distribution, from a generator.
    StatefulRandomBinomial
        "!resource:resource algorithm:int64 shape:S counts:T probs:T -> output:dtype; S:type T:type=double \
         dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(256)).no_gradient();
    /// Random numbers of the normal distribution, from a generator that begins with its algorithm.
    StatefulStandardNormal
        "!resource:resource shape:shape_dtype -> output:dtype; dtype:type=float shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(32)).no_gradient();
    /// Random numbers of the normal distribution, from a generator.
    StatefulStandardNormalV2
        "!resource:resource algorithm:int64 shape:shape_dtype -> output:dtype; dtype:type=float \
         shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(32)).no_gradient();
    /// Random numbers of the normal distribution within two standard deviations, from a generator.
    StatefulTruncatedNormal
        "!resource:resource algorithm:int64 shape:shape_dtype -> output:dtype; dtype:type=float \
         shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(64)).no_gradient();
    /// Random numbers of the uniform distribution on [0, 1), from a generator.
    StatefulUniform
        "!resource:resource algorithm:int64 shape:shape_dtype -> output:dtype; dtype:type=float \
         shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(16)).no_gradient();
    /// Random integers of the whole range of the type, from a generator.
    StatefulUniformFullInt
        "!resource:resource algorithm:int64 shape:shape_dtype -> output:dtype; dtype:type=uint64 \
         shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(16)).no_gradient();
    /// Random integers of the uniform distribution, from a generator.
    StatefulUniformInt
        "!resource:resource algorithm:int64 shape:shape_dtype minval:dtype maxval:dtype -> output:dtype; \
         dtype:type=int64 shape_dtype:type=int64"
        => state(Effect::Write, random::from_state, Cost::PerResult(16)).no_gradient();
}
