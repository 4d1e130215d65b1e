// What two devices read in every iteration of a loop is transferred to each of them in front of the loop.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,SIM:2 policy=first},tf-transfers{devices=CPU:1,SIM:2})' | FileCheck %s
// RUN: bef-exec %s --devices CPU:1,SIM:2 -O0 --functions once --input i32:3 --input f32[2]:1,2 --work-queue s | FileCheck %s --check-prefix=ONCE
// RUN: bef-exec %s --devices CPU:1,SIM:2 -O2 --functions once --input i32:3 --input f32[2]:1,2 --work-queue mstd:2 | FileCheck %s --check-prefix=ONCE
// RUN: bef-exec %s --devices CPU:1,SIM:2 -O0 --functions nested --input i32:3 --input f32[2]:1,2 --work-queue s | FileCheck %s --check-prefix=NESTED
// RUN: bef-exec %s --devices CPU:1,SIM:2 -O2 --functions nested --input i32:3 --input f32[2]:1,2 --seed 3 | FileCheck %s --check-prefix=NESTED

// CHECK-LABEL: func.func @once(
// CHECK-DAG: dev.transfer %arg1 to "/job:localhost/replica:0/task:0/device:SIM:0"
// CHECK-DAG: dev.transfer %arg1 to "/job:localhost/replica:0/task:0/device:SIM:1"
// CHECK: "tf.While"
// CHECK-LABEL: func.func private @body(
// CHECK-SAME: %[[W:arg2]]: tensor<2xf32>, %[[A:arg3]]: tensor<2xf32>, %[[B:arg4]]: tensor<2xf32>, %[[MORE:.*]]: tensor<2xf32>
// CHECK-NOT: dev.transfer
// CHECK: tfrt.return
// ONCE: 'once' returned array([4., 8.], shape=(2,), dtype=float32),array([ 1., 16.], shape=(2,), dtype=float32)
func.func @once(%n: tensor<i32>, %w: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:5 = "tf.While"(%zero, %n, %w, %w, %w) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  tfrt.return %r#3, %r#4 : tensor<2xf32>, tensor<2xf32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %c = "tf.AddV2"(%a, %w) {device = "/device:SIM:0"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = "tf.Mul"(%b, %w) {device = "/device:SIM:1"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %j, %n, %w, %c, %d : tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// The readers are in an inner loop: nothing is transferred in either.
// CHECK-LABEL: func.func @nested(
// CHECK-DAG: dev.transfer %arg1 to "/job:localhost/replica:0/task:0/device:SIM:0"
// CHECK-DAG: dev.transfer %arg1 to "/job:localhost/replica:0/task:0/device:SIM:1"
// CHECK: "tf.While"
// CHECK-LABEL: func.func private @outer(
// CHECK-NOT: dev.transfer
// CHECK: "tf.While"
// CHECK-NOT: dev.transfer
// CHECK: tfrt.return
// CHECK-LABEL: func.func private @inner(
// CHECK-NOT: dev.transfer
// CHECK: tfrt.return
// NESTED: 'nested' returned array([10., 20.], shape=(2,), dtype=float32),array([1.000e+00, 1.024e+03], shape=(2,), dtype=float32)
func.func @nested(%n: tensor<i32>, %w: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:5 = "tf.While"(%zero, %n, %w, %w, %w) {cond = @outer_cond, body = @outer} : (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  tfrt.return %r#3, %r#4 : tensor<2xf32>, tensor<2xf32>
}
func.func private @outer_cond(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @outer(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r:5 = "tf.While"(%zero, %n, %w, %a, %b) {cond = @inner_cond, body = @inner} : (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  tfrt.return %j, %n, %w, %r#3, %r#4 : tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func private @inner_cond(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @inner(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2xf32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %c = "tf.AddV2"(%a, %w) {device = "/device:SIM:0"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = "tf.Mul"(%b, %w) {device = "/device:SIM:1"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %j, %n, %w, %c, %d : tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
