// RUN: ir-opt %s --tf-outline-regions | FileCheck %s
// RUN: bef-exec %s -O0 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 --work-queue mstd:2 | FileCheck %s --check-prefix=EXEC

// What regions use from outside becomes an argument of the functions.
// CHECK-LABEL: func.func private @choose_then(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK: "tf.Neg"(%arg0)
// CHECK-LABEL: func.func private @choose_else(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK: return %arg0
// CHECK-LABEL: func.func @choose
// CHECK: "tf.StatelessIf"(%[[P:.*]], %[[X:.*]]) <{else_branch = @choose_else, then_branch = @choose_then}>
// EXEC-LABEL: 'choose' returned
// EXEC-SAME: array([-1., -2.]
func.func @choose() -> tensor<2xf32> {
  %p = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tf.IfRegion"(%p) ({
    %n = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    "tf.Yield"(%n) : (tensor<2xf32>) -> ()
  }, {
    "tf.Yield"(%x) : (tensor<2xf32>) -> ()
  }) {is_stateless = true} : (tensor<i1>) -> tensor<2xf32>
  tfrt.return %y : tensor<2xf32>
}

// In a loop they go around; what is inside becomes functions first.
// CHECK-LABEL: func.func private @count_branch(
// CHECK-LABEL: func.func private @count_branch_1(
// CHECK-LABEL: func.func private @count_cond(%arg0: tensor<i32>, %arg1: tensor<i32>, {{.*}}) -> tensor<i1>
// CHECK-LABEL: func.func private @count_body(
// CHECK: "tf.Case"
// CHECK-LABEL: func.func @count
// CHECK: "tf.While"
// CHECK-SAME: parallel_iterations = 4
// EXEC-LABEL: 'count' returned
// EXEC-SAME: array(5,
// EXEC-SAME: array(13,
func.func @count() -> (tensor<i32>, tensor<i32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %n, %sum = "tf.WhileRegion"(%zero, %zero) ({
  ^bb0(%i: tensor<i32>, %s: tensor<i32>):
    %go = "tf.Less"(%i, %five) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %s: tensor<i32>):
    %which = "tf.FloorMod"(%i, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = "tf.CaseRegion"(%which) ({
      %a = "tf.AddV2"(%s, %five) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tf.Yield"(%a) : (tensor<i32>) -> ()
    }, {
      %b = "tf.Sub"(%s, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "tf.Yield"(%b) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    "tf.Yield"(%next, %t) : (tensor<i32>, tensor<i32>) -> ()
  }) {parallel_iterations = 4 : i64} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  tfrt.return %n, %sum : tensor<i32>, tensor<i32>
}

// Effects in a region happen, in order.
// EXEC-LABEL: 'assign' returned
// EXEC-SAME: array(3.,
func.func @assign() -> tensor<f32> {
  %p = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %x = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  "tf.IfRegion"(%p) ({
    "tf.Yield"() : () -> ()
  }, {
    "tf.AssignVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
    "tf.Yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  %y = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
