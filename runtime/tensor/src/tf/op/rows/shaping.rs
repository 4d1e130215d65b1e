//! Operators that forward or reshape a tensor, return its shape, or create a tensor from a shape.

use super::super::eval;
use super::super::infer::{arrays, rules};
use super::super::row::{ALL, CONSTANT, Cost, Gradient, function, impure};
use super::operators::operators;

operators! { 3:
    /// A constant.
    Const "-> output:dtype; dtype:type value:tensor"
        => function(eval::shaping::constant, rules::constant, Cost::Free).constant().no_gradient();
    /// A constant in the memory of the host.
    HostConst "-> output:dtype; dtype:type value:tensor"
        => function(eval::shaping::constant, rules::constant, Cost::Free).no_gradient();
    /// The operand.
    Identity "input:T -> output:T; T:type"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().layout("i>i");
    /// The operand: values do not change, so there is nothing to copy.
    DeepCopy "x:T -> y:T; T:type"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().no_gradient();
    /// The operand, which the graph's author guarantees to be constant.
    GuaranteeConst "!input:T -> output:T; T:type"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().layout("i>i");
    /// The operands.
    IdentityN "input:*T -> output:*T; T:list(type)"
        => function(eval::shaping::identity_n, rules::identity_n, Cost::Free).passing();
    /// The operand; differentiating it is an error.
    PreventGradient "input:T -> output:T; T:type message:string=''"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().layout("i>i").differentiated(Gradient::Refuses);
    /// The operand; a copy in TensorFlow.
    Snapshot "input:T -> output:T; T:type"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().layout("i>i");
    /// The operand, a constant for differentiation.
    StopGradient "input:T -> output:T; T:type"
        => function(eval::shaping::identity, rules::same, Cost::Free).passing().layout("i>i").no_gradient();
    /// The operand, or an error if its shape is not the attribute's.
    EnsureShape "input:T -> output:T; T:type shape:shape"
        => function(eval::shaping::ensure_shape, rules::ensure_shape, Cost::Free);
    /// An input of the graph with a default value.
    PlaceholderWithDefault "input:dtype -> output:dtype; dtype:type shape:shape"
        => function(eval::shaping::ensure_shape, rules::placeholder_with_default, Cost::Free).lowered();
    /// The operand in another shape.
    Reshape "tensor:T shape:Tshape -> output:T; T:type Tshape:type=int32"
        => function(
            eval::shaping::reshape,
            arrays::reshape,
            Cost::Free,
        ).view().total(CONSTANT).layout("f.>.");
    /// The operand with a new axis of length 1.
    ExpandDims "input:T dim:Tdim -> output:T; T:type Tdim:type=int32"
        => function(eval::shaping::expand_dims, arrays::expand_dims, Cost::Free).view().total(CONSTANT);
    /// The operand without axes of length 1.
    Squeeze "input:T -> output:T; T:type squeeze_dims:list(int)=[]"
        => function(eval::shaping::squeeze, arrays::squeeze, Cost::Free).view().layout("i>k");
    /// The shape.
    Shape "input:T -> output:out_type; T:type out_type:type=int32"
        => function(eval::shaping::shape, arrays::shape, Cost::Free).total(ALL).layout("i>r").no_gradient();
    /// The shapes of several tensors.
    ShapeN "input:N*T -> output:N*out_type; N:int T:type out_type:type=int32"
        => function(eval::shaping::shape_n, arrays::shape_n, Cost::Free).no_gradient();
    /// The number of elements.
    Size "input:T -> output:out_type; T:type out_type:type=int32"
        => function(eval::shaping::size, rules::scalar, Cost::Free).total(ALL).layout("i>.").no_gradient();
    /// The number of axes.
    Rank "input:T -> output:int32; T:type"
        => function(eval::shaping::rank, rules::scalar, Cost::Free).total(ALL).layout("i>.").no_gradient();
    /// The shape that two shapes broadcast to.
    BroadcastArgs "s0:T s1:T -> r0:T; T:type=int32"
        => function(eval::shaping::broadcast_args, arrays::broadcast_args, Cost::Free).no_gradient();
    /// For two shapes that broadcast, the axes along which the gradient of each is summed.
    BroadcastGradientArgs "s0:T s1:T -> r0:T r1:T; T:type=int32"
        => function(
            eval::shaping::broadcast_gradient_args,
            arrays::broadcast_gradient_args,
            Cost::Free,
        ).no_gradient();
    /// The operand broadcast to a shape.
    BroadcastTo "input:T shape:Tidx -> output:T; T:type Tidx:type=int32"
        => function(
            eval::shaping::broadcast_to,
            arrays::broadcast_to,
            Cost::Moves,
        ).total(CONSTANT).layout("ir>i");
    /// For each shape, the start of its tensor in the concatenation.
    ConcatOffset "concat_dim:int32 shape:N*shape_type -> offset:N*shape_type; N:int shape_type:type=int32"
        => function(eval::shaping::concat_offset, arrays::concat_offset, Cost::Free).no_gradient();
    /// The inverse of a permutation.
    InvertPermutation "x:T -> y:T; T:type=int32"
        => function(eval::shaping::invert_permutation, arrays::invert_permutation, Cost::Free).no_gradient();
    /// A tensor of a shape with one value.
    Fill "dims:index_type value:T -> output:T; T:type index_type:type=int32"
        => function(eval::shaping::fill, arrays::fill, Cost::Moves);
    /// A tensor of a shape with any values; here zeros.
    Empty "!shape:int32 -> output:dtype; dtype:type init:bool=false"
        => impure(eval::shaping::empty, arrays::fill, Cost::Moves).no_gradient();
    /// Numbers from a start to a limit by a step.
    Range "start:Tidx limit:Tidx delta:Tidx -> output:Tidx; Tidx:type=int32"
        => function(eval::shaping::range, arrays::range, Cost::PerResult(1)).no_gradient();
    /// Numbers at equal distances between two ends.
    LinSpace "start:T stop:T num:Tidx -> output:T; T:type Tidx:type=int32"
        => function(eval::shaping::lin_space, arrays::lin_space, Cost::PerResult(2)).no_gradient();
}
