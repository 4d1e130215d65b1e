// A function that several ops run has its results on the same devices for all of them, and loops share their
// functions with each other, but not with calls.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --input i32:1 --input f32:3 | FileCheck %s --check-prefix=GIVES
// RUN: bef-exec %s --devices CPU:2 --partition device -O2 --input i32:1 --input f32:3 --seed 2 | FileCheck %s --check-prefix=GIVES
// RUN: bef-exec %s --devices CPU:2 -O0 --input i32:1 --input f32:3 | FileCheck %s --check-prefix=GIVES

// CHECK-LABEL: func.func private @sum.CPU_0(
// CHECK-NOT: return %
// CHECK: return
// GIVES: 'main' returned{{.*}}-60
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %p = "tf.Greater"(%n, %n) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %a = "tf.PartitionedCall"(%x) {f = @sum} : (tensor<f32>) -> tensor<f32>
  %b = "tf.If"(%p, %a) {then_branch = @negated, else_branch = @sum} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  %c = "tf.PartitionedCall"(%b) {f = @negated} : (tensor<f32>) -> tensor<f32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:2 = "tf.While"(%zero, %c) {cond = @cond, body = @body} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %s:2 = "tf.While"(%zero, %r#1) {cond = @cond, body = @body} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %t:2 = "tf.PartitionedCall"(%zero, %s#1) {f = @body} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %d = "tf.AddV2"(%s#1, %c) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %d : tensor<f32>
}
func.func private @sum(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.AddV2"(%x, %x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = "tf.Abs"(%y) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %z : tensor<f32>
}
func.func private @negated(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @cond(%i: tensor<i32>, %x: tensor<f32>) -> tensor<i1> {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %p = "tf.Less"(%i, %one) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.AddV2"(%x, %x) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %j, %y : tensor<i32>, tensor<f32>
}
