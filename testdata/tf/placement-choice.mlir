// A spec that several devices match leaves the choice to the policy.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,/job:w/CPU:2 policy=list print})' -o /dev/null 2>&1 | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,/job:w/CPU:2 policy=greedy print})' -o /dev/null 2>&1 | FileCheck %s
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,/job:w/CPU:2 print})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIRST

// CHECK-DAG: `tf.Sin` {{.*}}/job:w/replica:0/task:0/device:CPU:0 {{ *}}cost
// CHECK-DAG: `tf.Cos` {{.*}}/job:w/replica:0/task:0/device:CPU:1 {{ *}}cost
// CHECK-DAG: `tf.Mul` {{.*}}/job:w/{{.*}} {{ *}}cost
// CHECK: /job:localhost/replica:0/task:0/device:CPU:0: 0 operators
// FIRST-DAG: `tf.Sin` {{.*}}/job:w/replica:0/task:0/device:CPU:0 {{ *}}first
// FIRST-DAG: `tf.Cos` {{.*}}/job:w/replica:0/task:0/device:CPU:0 {{ *}}first
// FIRST-DAG: `tf.Neg` {{.*}}/job:w/replica:0/task:0/device:CPU:1 {{ *}}spec
func.func @main(%x: tensor<1000000xf32>) -> (tensor<1000000xf32>, tensor<1000000xf32>) {
  %a = "tf.Sin"(%x) {device = "/job:w"} : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %b = "tf.Cos"(%x) {device = "/job:w/device:CPU:*"} : (tensor<1000000xf32>) -> tensor<1000000xf32>
  %c = "tf.Neg"(%b) {device = "/job:w/cpu:1"} : (tensor<1000000xf32>) -> tensor<1000000xf32>
  tfrt.return %a, %c : tensor<1000000xf32>, tensor<1000000xf32>
}

// Ops in a loop go where the loop goes, within their specs.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,/job:w/CPU:2 policy=list})' | FileCheck %s --check-prefix=LOOP
// LOOP-LABEL: func.func @loop
// LOOP: tf.While{{.*}}/job:w/replica:0/task:0/device:CPU:[[DEVICE:[01]]]
// LOOP: func.func private @body
// LOOP: tf.Mul{{.*}}/job:w/replica:0/task:0/device:CPU:[[DEVICE]]
func.func @loop(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.While"(%x) {cond = @cond, body = @body} : (tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
func.func private @cond(%x: tensor<f32>) -> tensor<i1> {
  %limit = "tf.Const"() {value = dense<1.0e3> : tensor<f32>} : () -> tensor<f32>
  %p = "tf.Less"(%x, %limit) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Mul"(%x, %x) {device = "/job:w"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  tfrt.return %y : tensor<f32>
}
