// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2})' --split-input-file --verify-diagnostics
// RUN: not ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU})' 2>&1 | FileCheck %s
// CHECK: error[E1007]: the devices 'CPU' make no sense: at byte 3: expected ':' and the number of devices

func.func @malformed(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{the device '/device:CPU:' is malformed: at byte 12: expected a number}}
  %a = "tf.Sin"(%x) {device = "/device:CPU:"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'task' is given twice}}
  %a = "tf.Sin"(%x) {device = "/task:0/task:1"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @nowhere(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{`tf.Sin`: no device matches '/device:GPU:0'}}
  %a = "tf.Sin"(%x) {device = "/gpu:0"} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}

// -----

func.func @contradiction(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.Sin"(%x) {device = "/cpu:0", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{`tf.Neg` is to run on '/device:CPU:1' and together with `tf.Sin`, which is on '/device:CPU:0'}}
  %b = "tf.Neg"(%a) {device = "/cpu:1", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %b : tensor<f32>
}

// -----

func.func @resource_wins(%x: tensor<f32>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v", device = "/cpu:1"} : () -> tensor<!tf_type.resource>
  // expected-warning @+1 {{`tf.AssignVariableOp` runs on '/device:CPU:1', where its resource `tf.VarHandleOp` is, not on '/device:CPU:0'}}
  "tf.AssignVariableOp"(%v, %x) {device = "/cpu:0"} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  tfrt.return
}

// -----

// The error says how the two ops are tied to each other.
// RUN: not ir-opt %s --split-input-file --pass-pipeline='builtin.module(tf-place{devices=CPU:2})' 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: they share a device: `tf.Sin`, group 'g' of @contradiction, `tf.Neg`
// PATH: they share a device: `tf.VarHandleOp`, resource 'v', `tf.VarHandleOp`, group 'g' of @path, `tf.Neg`
func.func @path(%x: tensor<f32>) -> tensor<f32> {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v", device = "/cpu:1"} : () -> tensor<!tf_type.resource>
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v", colocate = ["g"]} : () -> tensor<!tf_type.resource>
  // expected-error @+1 {{`tf.Neg` is to run on '/device:CPU:0' and together with `tf.VarHandleOp`, which is on '/device:CPU:1'}}
  %a = "tf.Neg"(%x) {device = "/cpu:0", colocate = ["g"]} : (tensor<f32>) -> tensor<f32>
  tfrt.return %a : tensor<f32>
}
