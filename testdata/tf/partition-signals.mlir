// Control edges between parts: a part waits for no more than its ops do.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-partition{devices=CPU:2})' | FileCheck %s
// RUN: bef-exec %s --devices CPU:2 --partition device -O0 --functions apart --input f32:2 --input i32:1 --work-queue s | FileCheck %s --check-prefix=GOOD
// RUN: not bef-exec %s --devices CPU:2 --partition device -O0 --functions apart --input f32:2 --input i32:9 --work-queue s 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not bef-exec %s --devices CPU:2 --partition device -O0 --functions apart --input f32:2 --input i32:9 --work-queue mstd:2 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not bef-exec %s --devices CPU:2 -O0 --functions apart --input f32:2 --input i32:9 2>&1 | FileCheck %s --check-prefix=BAD

// The Square waits for two ops, the If for one of them: it runs in both parts, also if the other one
// fails. Its branches are one function.
// CHECK-LABEL: func.func private @apart.CPU_1(
// CHECK: %[[IF:.*]] = dev.recv {{.*}} : !tfrt.chain
// CHECK: %[[OTHER:.*]] = dev.recv {{.*}} : !tfrt.chain
// CHECK: "tf.Square"(%arg0, %[[IF]], %[[OTHER]])
// CHECK-NOT: dev.recv {{.*}} : !tfrt.chain
// CHECK: "tf.If"(%{{.*}}, %[[IF]])
// GOOD: 'apart' returned array(4., {{.*}}array(7.389
// BAD: 'apart' returned <<error: {{.*}}9 is not in [0, 2){{.*}}>>,array(7.389
func.func @apart(%x: tensor<f32>, %i: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
  %table = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %g, %good = "tf.Neg"(%x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>) -> (tensor<f32>, !tfrt.chain)
  %b, %bad = "tf.GatherV2"(%table, %i, %axis) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<2xf32>, tensor<i32>, tensor<i32>) -> (tensor<f32>, !tfrt.chain)
  %s = "tf.Square"(%x, %good, %bad) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>, !tfrt.chain, !tfrt.chain) -> tensor<f32>
  %p = "tf.Less"(%g, %x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %r = "tf.If"(%p, %x, %good) {then_branch = @there_and_back, else_branch = @there_and_back} : (tensor<i1>, tensor<f32>, !tfrt.chain) -> tensor<f32>
  tfrt.return %s, %r : tensor<f32>, tensor<f32>
}
func.func private @there_and_back(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.Exp"(%x) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>) -> tensor<f32>
  %b = "tf.Neg"(%a) {device = "/job:localhost/replica:0/task:0/device:CPU:1"} : (tensor<f32>) -> tensor<f32>
  %c = "tf.Neg"(%b) {device = "/job:localhost/replica:0/task:0/device:CPU:0"} : (tensor<f32>) -> tensor<f32>
  return %c : tensor<f32>
}
