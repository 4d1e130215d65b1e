// Forms of differentiation: a request, function pairs, the tapes of branches and loops, slices.
// RUN: ir-opt %s --tf-gradients | FileCheck %s
// RUN: ir-opt %s --tf-gradients | FileCheck %s --check-prefix=FUNCTIONS

// What is broadcast is summed up: by static shapes at once, by unknown ones at run time.
// CHECK-LABEL: func.func @broadcast
// CHECK:         %[[Z:.*]] = "tf.Tanh"
// CHECK:         %[[D:.*]] = "tf.TanhGrad"(%[[Z]]
// CHECK:         %[[B:.*]] = "tf.Mul"(%[[D]], %arg1)
// CHECK:         %[[X:.*]] = "tf.Sum"(%[[B]]
// CHECK:         "tf.BroadcastGradientArgs"
// CHECK:         %[[DB:.*]] = "tf.Reshape"
// CHECK:         return %[[X]], %[[DB]]
func.func @broadcast(%x: tensor<3xf32>, %b: tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>) {
  %y = "tf.Mul"(%x, %b) : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %z = "tf.Tanh"(%y) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d:2 = "tf._Gradients"(%z, %x, %b) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>)
  func.return %d#0, %d#1 : tensor<3xf32>, tensor<?x3xf32>
}

// Only the wanted argument's gradient is there, and the backward function gets what it reads.
// CHECK-LABEL: func.func @call
// CHECK:         %[[Y:.*]]:2 = "tf.PartitionedCall"(%arg0, %arg1) <{f = @f.fwd}>
// CHECK:         %[[ONES:.*]] = "tf.Const"() <{value = dense<1.000000e+00>
// CHECK:         %[[DX:.*]] = "tf.PartitionedCall"(%arg1, %[[Y]]#1, %[[ONES]]) <{f = @f.bwd}>
// CHECK:         return %[[DX]]
func.func @call(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tf.PartitionedCall"(%x, %w) <{f = @f}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %d : tensor<3xf32>
}
func.func private @f(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tf.Mul"(%x, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s = "tf.Softmax"(%y) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %s : tensor<3xf32>
}

// A branch hands over one tape; one without a gradient gives zeros.
// FUNCTIONS-LABEL: func.func private @branch_then.fwd
// FUNCTIONS:         "tf.OptionalFromValue"
// FUNCTIONS-LABEL: func.func private @branch_then.bwd
// FUNCTIONS:         "tf.OptionalGetValue"(%arg0)
// FUNCTIONS-LABEL: func.func private @branch_else.fwd
// FUNCTIONS:         "tf.OptionalNone"
// FUNCTIONS-LABEL: func.func private @branch_else.bwd
// FUNCTIONS-NEXT:    %[[ZERO:.*]] = "tf.Const"
// FUNCTIONS-NEXT:    return %[[ZERO]]
// CHECK-LABEL: func.func @branch(
// CHECK:         %[[Y:.*]]:2 = "tf.StatelessIf"(%arg0, %arg1) <{else_branch = @branch_else.fwd, then_branch = @branch_then.fwd}>
// CHECK:         "tf.StatelessIf"(%arg0, %[[Y]]#1, %{{.*}}) <{else_branch = @branch_else.bwd, then_branch = @branch_then.bwd}>
func.func @branch(%p: tensor<i1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tf.IfRegion"(%p) ({
    %a = "tf.Softmax"(%x) : (tensor<3xf32>) -> tensor<3xf32>
    "tf.Yield"(%a) : (tensor<3xf32>) -> ()
  }, {
    %a = "tf.Floor"(%x) : (tensor<3xf32>) -> tensor<3xf32>
    "tf.Yield"(%a) : (tensor<3xf32>) -> ()
  }) {is_stateless = true} : (tensor<i1>) -> tensor<3xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %d : tensor<3xf32>
}

// A loop pushes what it keeps, here one value; what does not change is passed.
// FUNCTIONS-LABEL: func.func private @loop_body.fwd
// FUNCTIONS:         "tf.TensorListPushBack"(%arg3, %arg1)
// FUNCTIONS-LABEL: func.func private @loop_body.bwd
// FUNCTIONS:         %[[POP:.*]]:2 = "tf.TensorListPopBack"(%arg0
// FUNCTIONS:         %[[DV:.*]] = "tf.Mul"(%arg2, %arg1)
// FUNCTIONS:         %[[DW:.*]] = "tf.Mul"(%arg2, %[[POP]]#1)
// FUNCTIONS:         %[[SUM:.*]] = "tf.AddN"(%[[DW]], %arg3)
// FUNCTIONS:         return %[[POP]]#0, %arg1, %[[DV]], %[[SUM]]
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[EMPTY:.*]] = "tf.EmptyTensorList"
// CHECK:         %[[R:.*]]:4 = "tf.StatelessWhile"(%arg0, %arg1, %arg2, %[[EMPTY]]) <{body = @loop_body.fwd, cond = @loop_cond.fwd}>
// CHECK:         %[[D:.*]]:4 = "tf.StatelessWhile"(%[[R]]#3, %arg2, {{.*}}) <{body = @loop_body.bwd, cond = @loop_cond.bwd}>
// CHECK:         return %[[D]]#2, %[[D]]#3
func.func @loop(%n: tensor<i32>, %x: tensor<3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %r:2 = "tf.WhileRegion"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
    %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
    %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %u = "tf.Mul"(%v, %w) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "tf.Yield"(%j, %u) : (tensor<i32>, tensor<3xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
  %d:2 = "tf._Gradients"(%r#1, %x, %w) <{operandSegmentSizes = array<i32: 1, 0, 2, 0>}> : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  func.return %d#0, %d#1 : tensor<3xf32>, tensor<3xf32>
}

// Slices of one table are joined, and become dense for the request.
// CHECK-LABEL: func.func @gathers
// CHECK-DAG:     %[[VALUES:.*]] = "tf.ConcatV2"{{.*}}tensor<?x3xf32>
// CHECK:         "tf.UnsortedSegmentSum"
func.func @gathers(%t: tensor<9x3xf32>, %i: tensor<?xi32>, %j: tensor<?xi64>) -> tensor<9x3xf32> {
  %axis = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %a = "tf.GatherV2"(%t, %i, %axis) : (tensor<9x3xf32>, tensor<?xi32>, tensor<i32>) -> tensor<?x3xf32>
  %b = "tf.GatherV2"(%t, %j, %axis) : (tensor<9x3xf32>, tensor<?xi64>, tensor<i32>) -> tensor<?x3xf32>
  %d = "tf._Gradients"(%a, %b, %t) <{operandSegmentSizes = array<i32: 2, 0, 1, 0>}> : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<9x3xf32>) -> tensor<9x3xf32>
  func.return %d : tensor<9x3xf32>
}

// A custom gradient is called with the arguments, the results and their gradients.
// CHECK-LABEL: func.func @custom
// CHECK:         %[[Y:.*]] = "tf.PartitionedCall"(%arg0) <{f = @clipped}>
// CHECK:         "tf.PartitionedCall"(%arg0, %[[Y]], %{{.*}}) <{f = @clipped_grad}>
func.func @custom(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tf.PartitionedCall"(%x) <{f = @clipped}> : (tensor<3xf32>) -> tensor<3xf32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %d : tensor<3xf32>
}
func.func private @clipped(%x: tensor<3xf32>) -> tensor<3xf32> attributes {bef.gradient = @clipped_grad} {
  %y = "tf.Relu6"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
func.func private @clipped_grad(%x: tensor<3xf32>, %y: tensor<3xf32>, %dy: tensor<3xf32>) -> tensor<3xf32> {
  func.return %dy : tensor<3xf32>
}

// TensorFlow's own form of a request, over a function.
// CHECK-LABEL: func.func @symbolic
// CHECK:         %[[Y:.*]]:2 = "tf.StatefulPartitionedCall"(%arg0, %arg1) <{f = @f.fwd{{.*}}}>
// CHECK:         %[[D:.*]]:2 = "tf.StatefulPartitionedCall"
// CHECK:         return %[[D]]#0, %[[D]]#1
func.func @symbolic(%x: tensor<3xf32>, %w: tensor<3xf32>, %dy: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %d:2 = "tf.SymbolicGradient"(%x, %w, %dy) <{f = @f}> : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  func.return %d#0, %d#1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @unconnected
// CHECK-NEXT:    %[[ZERO:.*]] = "tf.Const"() <{value = dense<0.000000e+00> : tensor<2xf32>}>
// CHECK-NEXT:    return %[[ZERO]]
func.func @unconnected(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>, unconnected = "zero"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %d : tensor<2xf32>
}
