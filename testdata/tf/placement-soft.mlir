// Soft placement drops the index of a spec that no device matches, then the kind, never the task.
// RUN: ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:2,/job:w/CPU:2 soft})' --verify-diagnostics | FileCheck %s
// RUN: ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:2,/job:w/CPU:2 soft policy=list})' --verify-diagnostics | FileCheck %s --check-prefix=LIST

// CHECK-LABEL: func.func @index
// LIST-LABEL: func.func @index
func.func @index(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // The policy chooses among the devices that are left: `list` keeps both ops together.
  // CHECK: tf.Sin{{.*}}/job:localhost/replica:0/task:0/device:CPU:0"
  // LIST: tf.Sin{{.*}}/job:w/replica:0/task:0/device:CPU:[[DEVICE:[01]]]"
  // expected-remark @+1 {{`tf.Sin`: no device for '/device:CPU:7'; soft placement takes '/device:CPU'}}
  %a = "tf.Sin"(%x) {device = "/device:CPU:7"} : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Neg{{.*}}/job:w/replica:0/task:0/device:CPU:0"
  // LIST: tf.Neg{{.*}}/job:w/replica:0/task:0/device:CPU:[[DEVICE]]"
  // expected-remark @+1 {{`tf.Neg`: no device for '/job:w/device:CPU:5'; soft placement takes '/job:w/device:CPU'}}
  %b = "tf.Neg"(%a) {device = "/job:w/cpu:5"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a, %b : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @kind
func.func @kind(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: tf.Sin{{.*}}/job:w/replica:0/task:0/device:CPU:0"
  // expected-remark @+1 {{`tf.Sin`: no device for '/job:w/device:GPU:0'; soft placement takes '/job:w'}}
  %a = "tf.Sin"(%x) {device = "/job:w/gpu:0"} : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Neg{{.*}}/job:localhost/replica:0/task:0/device:CPU:0"
  // expected-remark @+1 {{`tf.Neg`: no device for '/device:GPU:0'; soft placement takes any device}}
  %b = "tf.Neg"(%a) {device = "/gpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}

// -----

// In a group the first spec stays.
// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<f32>) -> tensor<f32> {
  // CHECK: tf.Sin{{.*}}device:CPU:1"
  %a = "tf.Sin"(%x) {device = "/job:localhost/cpu:1", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  // CHECK: tf.Neg{{.*}}device:CPU:1"
  // expected-remark @+1 {{`tf.Neg`: no device for '/device:CPU:0'; soft placement takes '/job:localhost/device:CPU:1'}}
  %b = "tf.Neg"(%a) {device = "/cpu:0", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}

// -----

func.func @task(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{`tf.Sin`: no device matches '/job:nowhere/device:CPU:0'}}
  %a = "tf.Sin"(%x) {device = "/job:nowhere/cpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}
