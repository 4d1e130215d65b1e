// What a branch computes for another part moves in front of it: the predicate rides on that.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2 policy=first},tf-partition{devices=CPU:2},verify-parts)' | FileCheck %s
// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --functions value --input f32:-3 --input i32:1 --work-queue s | FileCheck %s --check-prefix=VALUE
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions value --input f32:-3 --input i32:1 --work-queue mstd:2 | FileCheck %s --check-prefix=VALUE
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions value --input f32:-3 --input i32:1 --seed 3 | FileCheck %s --check-prefix=VALUE
// RUN: bef-exec %s -O2 --devices CPU:2 --functions value --input f32:-3 --input i32:1 | FileCheck %s --check-prefix=VALUE
// VALUE: 'value' returned{{.*}}52
// What would fail in a branch that is not taken does not run.
// RUN: bef-exec %s -O0 --devices CPU:2 --partition device --functions value --input f32:2 --input i32:7 | FileCheck %s --check-prefix=OTHER
// RUN: bef-exec %s -O2 --devices CPU:2 --partition device --functions value --input f32:2 --input i32:7 --seed 2 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: error
// OTHER: 'value' returned{{.*}}-2
// RUN: not bef-exec %s -O0 --devices CPU:2 --partition device --functions value --input f32:-3 --input i32:7 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: not bef-exec %s -O0 --devices CPU:2 --functions value --input f32:-3 --input i32:7 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: partition-heads.mlir:[[@LINE+29]]:8: error: {{.*}}7 is not in [0, 2)

// CHECK-LABEL: func.func private @value.CPU_1(
// CHECK: %[[A:.*]]:2 = dev.recv {{.*}} : tensor<f32>, tensor<i1>
// CHECK-NOT: dev.recv
// CHECK: "tf.If"(%[[A]]#1, %[[A]]#0, %{{.*}})
// CHECK-LABEL: func.func private @value.CPU_0(
// CHECK: %[[P:.*]] = "tf.Less"
// CHECK: %[[HEAD:.*]]:2 = "tf.If"(%[[P]], {{.*}}then_branch = @there.head.CPU_0
// CHECK: dev.send %[[HEAD]]#1, %[[P]] in
// CHECK: "tf.If"(%[[P]], {{.*}}%[[HEAD]]#0
// CHECK-LABEL: func.func private @there.CPU_1(
// CHECK-NOT: dev.recv
// CHECK: "tf.Square"
// CHECK-LABEL: func.func private @there.head.CPU_0(
// CHECK: %[[A:.*]] = "tf.GatherV2"
// CHECK: %[[B:.*]] = "tf.Neg"(%[[A]])
// CHECK: return %[[A]], %[[B]]
// CHECK-LABEL: func.func private @here.head.CPU_0(
// CHECK: return
func.func @value(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %zero) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = "tf.If"(%p, %x, %i) {then_branch = @there, else_branch = @here} : (tensor<i1>, tensor<f32>, tensor<i32>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}
func.func private @there(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %table = "tf.Const"() {value = dense<[1.0, 4.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %a = "tf.GatherV2"(%table, %i, %axis) {device = "/cpu:0"} : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<f32>
  %b = "tf.Neg"(%a) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  %c = "tf.Square"(%b) {device = "/cpu:1"} : (tensor<f32>) -> tensor<f32>
  %d = "tf.AddV2"(%c, %x) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %e = "tf.Mul"(%d, %a) {device = "/cpu:0"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %e : tensor<f32>
}
func.func private @here(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
