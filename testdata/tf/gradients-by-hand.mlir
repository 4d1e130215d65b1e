// One program with a loop and a branch, differentiated by the pass and by hand: compiler/GRADIENTS.md.
// RUN: bef-exec %s -O0 --functions by_pass --input n=i32:4 --input x=f32:3 | FileCheck %s
// RUN: bef-exec %s -O2 --functions by_pass --input n=i32:4 --input x=f32:3 | FileCheck %s
// RUN: bef-exec %s -O2 --functions by_pass --input n=i32:0 --input x=f32:3 | FileCheck %s --check-prefix=NONE
// RUN: bef-exec %s -O0 --functions by_hand --input n=i32:4 --input x=f32:3 | FileCheck %s
// RUN: bef-exec %s -O2 --functions by_hand --input n=i32:4 --input x=f32:3 | FileCheck %s
// RUN: bef-exec %s -O2 --functions by_hand --input n=i32:0 --input x=f32:3 | FileCheck %s --check-prefix=NONE
// RUN: ir-opt %s --tf-gradients | FileCheck %s --check-prefix=FORM

// y = x * x + 3 * x after a product and three sums.
// CHECK: returned array(18{{.*}}),array(9{{.*}})
// NONE: returned array(3{{.*}}),array(1{{.*}})

// An iteration pushes the value that it began with, and nothing else: the condition follows from it, and so
// does what the branches would keep.
// FORM-LABEL: func.func private @by_pass_then.bwd_1(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>)
// FORM-DAG:     "tf.Mul"(%arg2, %arg1)
// FORM-DAG:     "tf.Mul"(%arg2, %arg0)
// FORM-LABEL: func.func private @by_pass_body.fwd
// FORM:         "tf.TensorListPushBack"(%arg3, %arg1)
// FORM-NOT:     "tf.TensorListPushBack"
// FORM-LABEL: func.func private @by_pass_body.bwd
// FORM:         %[[POP:.*]]:2 = "tf.TensorListPopBack"(%arg0
// FORM:         %[[SMALL:.*]] = "tf.Less"(%[[POP]]#1
// FORM:         %[[D:.*]]:2 = "tf.StatelessIf"(%[[SMALL]], %[[POP]]#1, %arg1, %arg2)
// FORM:         %[[DX:.*]] = "tf.AddN"(%[[D]]#1, %arg3)
// FORM:         return %[[POP]]#0, %arg1, %[[D]]#0, %[[DX]]
// FORM-LABEL: func.func @by_pass(
// FORM:         %[[EMPTY:.*]] = "tf.EmptyTensorList"
// FORM:         %[[F:.*]]:4 = "tf.StatelessWhile"(%arg0, %arg1, %arg1, %[[EMPTY]]) <{body = @by_pass_body.fwd, cond = @by_pass_cond.fwd}>
// FORM:         %[[B:.*]]:4 = "tf.StatelessWhile"(%[[F]]#3, %arg1, {{.*}}) <{body = @by_pass_body.bwd, cond = @by_pass_cond.bwd}>
// FORM:         "tf.AddN"(%[[B]]#3, %[[B]]#2)
func.func @by_pass(%n: tensor<i32> {bef.name = "n"}, %x: tensor<f32> {bef.name = "x"}) -> (tensor<f32>, tensor<f32>) {
  %y:2 = "tf.WhileRegion"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %eight = "tf.Const"() <{value = dense<8.0> : tensor<f32>}> : () -> tensor<f32>
    %small = "tf.Less"(%v, %eight) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %u = "tf.IfRegion"(%small) ({
      %product = "tf.Mul"(%v, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tf.Yield"(%product) : (tensor<f32>) -> ()
    }, {
      %sum = "tf.AddV2"(%v, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "tf.Yield"(%sum) : (tensor<f32>) -> ()
    }) {is_stateless = true} : (tensor<i1>) -> tensor<f32>
    "tf.Yield"(%j, %u) : (tensor<i32>, tensor<f32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %dx = "tf._Gradients"(%y#1, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y#1, %dx : tensor<f32>, tensor<f32>
}

func.func @by_hand(%n: tensor<i32> {bef.name = "n"}, %x: tensor<f32> {bef.name = "x"}) -> (tensor<f32>, tensor<f32>) {
  %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %eight = "tf.Const"() <{value = dense<8.0> : tensor<f32>}> : () -> tensor<f32>
  %scalar = "tf.Const"() <{value = dense<> : tensor<0xi32>}> : () -> tensor<0xi32>
  %any = "tf.Const"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %empty = "tf.EmptyTensorList"(%scalar, %any) <{element_dtype = f32}> : (tensor<0xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<f32>>>
  // Forward: each iteration pushes the value that it begins with.
  %y:3 = "tf.WhileRegion"(%n, %x, %empty) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>, %kept: tensor<!tf_type.variant<tensor<f32>>>):
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>, %kept: tensor<!tf_type.variant<tensor<f32>>>):
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %small = "tf.Less"(%v, %eight) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %product = "tf.Mul"(%v, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %sum = "tf.AddV2"(%v, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %u = "tf.SelectV2"(%small, %product, %sum) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %list = "tf.TensorListPushBack"(%kept, %v) : (tensor<!tf_type.variant<tensor<f32>>>, tensor<f32>) -> tensor<!tf_type.variant<tensor<f32>>>
    "tf.Yield"(%j, %u, %list) : (tensor<i32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>) -> (tensor<i32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>)
  // Backward: dv begins with 1, dx with 0; each iteration pops v. Of v * x: dx += dv * v, dv *= x; of v + x:
  // dx += dv.
  %ones = "tf.Const"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %none = "tf.Const"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %d:4 = "tf.WhileRegion"(%n, %ones, %none, %y#2) ({
  ^bb0(%i: tensor<i32>, %dv: tensor<f32>, %dx: tensor<f32>, %kept: tensor<!tf_type.variant<tensor<f32>>>):
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %dv: tensor<f32>, %dx: tensor<f32>, %kept: tensor<!tf_type.variant<tensor<f32>>>):
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %list, %v = "tf.TensorListPopBack"(%kept, %scalar) : (tensor<!tf_type.variant<tensor<f32>>>, tensor<0xi32>) -> (tensor<!tf_type.variant<tensor<f32>>>, tensor<f32>)
    %small = "tf.Less"(%v, %eight) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %by_x = "tf.Mul"(%dv, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %by_v = "tf.Mul"(%dv, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %more_dx = "tf.SelectV2"(%small, %by_x, %dv) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %dv1 = "tf.SelectV2"(%small, %by_v, %dv) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %dx1 = "tf.AddV2"(%dx, %more_dx) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "tf.Yield"(%j, %dv1, %dx1, %list) : (tensor<i32>, tensor<f32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<f32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>) -> (tensor<i32>, tensor<f32>, tensor<f32>, tensor<!tf_type.variant<tensor<f32>>>)
  // The loop began with x itself.
  %dx = "tf.AddV2"(%d#2, %d#1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y#1, %dx : tensor<f32>, tensor<f32>
}
