// Arguments that are the same constant in all calls become constants of the function.
//
// RUN: ir-opt %s --tf-constant-arguments | FileCheck %s
// RUN: bef-exec %s -O0 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: bef-exec %s -O2 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: ir-translate %s -O2 --to mlir | FileCheck %s --check-prefix=OPT

// The weights of a loop: each iteration returns them. At -O2 nothing is left of the variables.
// CHECK-LABEL: func.func private @below(%arg0: tensor<i32>, %arg1: tensor<1x2xf32>, %arg2: tensor<2x2xf32>
// CHECK: %[[THREE:.*]] = "tf.Const"() <{value = dense<3>
// CHECK: "tf.Less"(%arg0, %[[THREE]])
// CHECK-LABEL: func.func private @times(%arg0: tensor<i32>, %arg1: tensor<1x2xf32>, %arg2: tensor<2x2xf32>
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<{{\[}}[0.000000e+00, 1.000000e+00], [1.000000e+00, 1.000000e+00]]>
// CHECK: "tf.MatMul"(%arg1, %[[W]])
// CHECK: return %{{.*}}, %{{.*}}, %arg2, %arg3
// OPT-LABEL: func.func private @times_step(%arg0: i32, %arg1: tensor<1x2xf32>) -> (i32, tensor<1x2xf32>, i1)
// OPT: "tf.MatMul"
// EXEC-LABEL: 'loop' returned
// EXEC-NEXT: array({{\[\[}}2., 3.]]
func.func private @below(%i: tensor<i32>, %x: tensor<1x2xf32>, %w: tensor<2x2xf32>, %n: tensor<i32>) -> tensor<i1> {
  %go = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %go : tensor<i1>
}
func.func private @times(%i: tensor<i32>, %x: tensor<1x2xf32>, %w: tensor<2x2xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<i32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.MatMul"(%x, %w) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  func.return %next, %y, %w, %n : tensor<i32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<i32>
}
func.func @loop() -> tensor<1x2xf32> {
  %i = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.Const"() {value = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %w = "tf.Const"() {value = dense<[[0.0, 1.0], [1.0, 1.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %r:4 = "tf.While"(%i, %x, %w, %n) {cond = @below, body = @times} : (tensor<i32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<i32>) -> (tensor<i32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<i32>)
  func.return %r#1 : tensor<1x2xf32>
}

// Two calls with different constants, and a public function, keep their arguments.
// CHECK-LABEL: func.func private @twice(%arg0: tensor<f32>, %arg1: tensor<f32>)
// CHECK: "tf.AddV2"(%arg0, %{{[0-9a-z_]+}})
// CHECK-LABEL: func.func @visible
// CHECK: "tf.Neg"(%arg0)
// EXEC-LABEL: 'calls' returned
// EXEC-SAME: array(6.
// EXEC-SAME: array(7.
// EXEC-SAME: array(-1.
func.func private @twice(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = "tf.AddV2"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %z : tensor<f32>
}
func.func @visible(%x: tensor<f32>) -> tensor<f32> {
  %z = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  func.return %z : tensor<f32>
}
func.func @calls() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %five = "tf.Const"() {value = dense<5.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.PartitionedCall"(%one, %five) {f = @twice} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = "tf.PartitionedCall"(%two, %five) {f = @twice} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %c = "tf.PartitionedCall"(%one) {f = @visible} : (tensor<f32>) -> tensor<f32>
  func.return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
