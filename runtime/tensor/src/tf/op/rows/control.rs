//! Control flow, calls, and the ports of graphs.

use super::super::infer::rules;
use super::super::row::{Cost, Effect, control, unsupported, values};
use super::operators::operators;

operators! { 9:
    /// The call of one of several functions, by number.
    Case
        "!branch_index:int32 input:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) \
         branches:list(func) output_shapes:list(shape)=[]"
        => control(Effect::OfCallees, rules::unknown);
    /// The value that the sender of a group gives to all its members.
    CollectiveBcastRecv
        "! -> data:T; T:type communication_hint:string='auto' group_key:int group_size:int \
         instance_key:int shape:shape timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// The value that the sender of a group gives to all its members, by keys that are operands.
    CollectiveBcastRecvV2
        "!group_size:int32 group_key:int32 instance_key:int32 shape:Tshape -> data:T; T:type \
         Tshape:type=int32 communication_hint:string='auto' timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// A value for all members of a group.
    CollectiveBcastSend
        "!input:T -> data:T; T:type communication_hint:string='auto' group_key:int group_size:int \
         instance_key:int shape:shape timeout_seconds:float=0"
        => control(Effect::Pure, rules::same).no_gradient();
    /// A value for all members of a group, by keys that are operands.
    CollectiveBcastSendV2
        "!input:T group_size:int32 group_key:int32 instance_key:int32 -> data:T; T:type \
         communication_hint:string='auto' timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// All members' operands, one behind the other.
    CollectiveGather
        "!input:T -> data:T; T:type communication_hint:string='auto' group_key:int group_size:int \
         instance_key:int shape:shape timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// All members' operands, one behind the other, by keys that are operands.
    CollectiveGatherV2
        "!input:T group_size:int32 group_key:int32 instance_key:int32 ordering_token:Nordering_token*resource \
         -> data:T; Nordering_token:int T:type communication_hint:string='auto' is_stateless:bool=false \
         timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// The reduction of all members' operands.
    CollectiveReduce
        "!input:T -> data:T; T:type communication_hint:string='auto' final_op:string group_key:int \
         group_size:int instance_key:int merge_op:string subdiv_offsets:list(int) timeout_seconds:float=0 \
         wait_for:list(int)=[]"
        => control(Effect::Pure, rules::same).no_gradient();
    /// The reduction of all members' operands, by keys that are operands.
    CollectiveReduceV2
        "!input:T group_size:int32 group_key:int32 instance_key:int32 ordering_token:Nordering_token*resource \
         -> data:T; Nordering_token:int T:type communication_hint:string='auto' final_op:string \
         is_stateless:bool=false max_subdivs_per_device:int=-1 merge_op:string timeout_seconds:float=0"
        => control(Effect::Pure, rules::unknown).no_gradient();
    /// The call of a function for each number of a range.
    For "start:int32 limit:int32 delta:int32 input:*T -> output:*T; T:list(type) body:func"
        => unsupported(rules::unknown);
    /// The call of one of two functions, by a condition.
    If
        "!cond:Tcond input:*Tin -> output:*Tout; Tcond:type Tin:list(type) Tout:list(type) \
         else_branch:func output_shapes:list(shape)=[] then_branch:func"
        => control(Effect::OfCallees, rules::unknown);
    /// The call of a function.
    PartitionedCall
        "args:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) config:string='' \
         config_proto:string='' executor_type:string='' f:func"
        => control(Effect::Pure, rules::unknown);
    /// The call of a function on another device.
    RemoteCall "!target:string args:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) f:func"
        => unsupported(rules::unknown);
    /// The call of a function with effects.
    StatefulPartitionedCall
        "!args:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) config:string='' \
         config_proto:string='' executor_type:string='' f:func"
        => control(Effect::OfCallees, rules::unknown);
    /// The call of one of several functions without effects, by number.
    StatelessCase
        "branch_index:int32 input:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) \
         branches:list(func) output_shapes:list(shape)=[]"
        => control(Effect::Pure, rules::unknown);
    /// The call of one of two functions without effects, by a condition.
    StatelessIf
        "cond:Tcond input:*Tin -> output:*Tout; Tcond:type Tin:list(type) Tout:list(type) \
         else_branch:func output_shapes:list(shape)=[] then_branch:func"
        => control(Effect::Pure, rules::unknown);
    /// The repeated call of a function without effects, while another function returns true.
    StatelessWhile
        "input:*T -> output:*T; T:list(type) body:func cond:func output_shapes:list(shape)=[] \
         parallel_iterations:int=10"
        => control(Effect::Pure, rules::unknown);
    /// The call of the gradient of a function.
    SymbolicGradient "input:*Tin -> output:*Tout; Tin:list(type) Tout:list(type) f:func"
        => control(Effect::Pure, rules::unknown);
    /// The repeated call of a function, while another function returns true.
    While
        "!input:*T -> output:*T; T:list(type) body:func cond:func output_shapes:list(shape)=[] \
         parallel_iterations:int=10"
        => control(Effect::OfCallees, rules::unknown);
    /// No operation; a node for control edges.
    NoOp "->" => control(Effect::OfCallees, rules::unknown).no_gradient();
    /// No operation; triggers its control edges even in a dead branch.
    ControlTrigger "->" => unsupported(rules::unknown).no_gradient();
    /// The operand in the first iteration of a loop's frame.
    Enter "data:T -> output:T; T:type frame_name:string is_constant:bool=false parallel_iterations:int=10"
        => unsupported(rules::unknown);
    /// The operand out of a loop's frame.
    Exit "data:T -> output:T; T:type" => unsupported(rules::same);
    /// The condition of a loop's frame.
    LoopCond "input:bool -> output:bool" => unsupported(rules::same).no_gradient();
    /// The first operand that arrives, and its number.
    Merge "inputs:N*T -> output:T value_index:int32; N:int T:type" => unsupported(rules::unknown);
    /// The operand in the next iteration of a loop's frame.
    NextIteration "data:T -> output:T; T:type" => unsupported(rules::unknown);
    /// A reference in the first iteration of a loop's frame.
    RefEnter
        "data:Ref(T) -> output:Ref(T); T:type frame_name:string is_constant:bool=false \
         parallel_iterations:int=10"
        => unsupported(rules::unknown);
    /// A reference out of a loop's frame.
    RefExit "data:Ref(T) -> output:Ref(T); T:type" => unsupported(rules::same);
    /// A reference.
    RefIdentity "input:Ref(T) -> output:Ref(T); T:type" => values(rules::same, Cost::Free).no_gradient();
    /// The first reference that arrives, and its number.
    RefMerge "inputs:N*Ref(T) -> output:Ref(T) value_index:int32; N:int T:type"
        => unsupported(rules::unknown);
    /// A reference in the next iteration of a loop's frame.
    RefNextIteration "data:Ref(T) -> output:Ref(T); T:type" => unsupported(rules::unknown);
    /// One of several references, by number.
    RefSelect "index:int32 inputs:N*Ref(T) -> output:Ref(T); N:int T:type"
        => values(rules::unknown, Cost::Free).no_gradient();
    /// A reference passed to one of two results, by a condition.
    RefSwitch "data:Ref(T) pred:bool -> output_false:Ref(T) output_true:Ref(T); T:type"
        => unsupported(rules::switch);
    /// The operand passed to one of two results, by a condition.
    Switch "data:T pred:bool -> output_false:T output_true:T; T:type" => unsupported(rules::switch);
    /// The operand passed to one of several results, by number.
    _SwitchN "data:T output_index:int32 -> outputs:num_outs*T; T:type num_outs:int"
        => unsupported(rules::unknown);
    /// An argument of a function.
    _Arg "!-> output:T; T:type index:int" => unsupported(rules::unknown).no_gradient();
    /// A list of tensors as values of several types.
    _ArrayToList "input:N*T -> output:*out_types; N:int T:type out_types:list(type)"
        => unsupported(rules::unknown);
    /// Values of several types as a list of tensors.
    _ListToArray "input:*Tin -> output:N*T; N:int T:type Tin:list(type)" => unsupported(rules::unknown);
    /// A result of a function.
    _Retval "!input:T ->; T:type index:int" => unsupported(rules::unknown).no_gradient();
    /// The number of this device in a list of devices.
    DeviceIndex "!-> index:int32; device_names:list(string)" => unsupported(rules::unknown).no_gradient();
    /// A parameter that is never read.
    FakeParam "-> output:dtype; dtype:type shape:shape" => unsupported(rules::unknown).no_gradient();
    /// An input of the graph.
    Placeholder "-> output:dtype; dtype:type shape:shape=?"
        => unsupported(rules::placeholder).no_gradient();
    /// An input of the graph with a shape.
    PlaceholderV2 "-> output:dtype; dtype:type shape:shape"
        => unsupported(rules::placeholder).no_gradient();
}
