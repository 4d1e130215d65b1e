// Handles of resources do not cross between parts.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:2},tf-partition{devices=CPU:2})' --split-input-file --verify-diagnostics | FileCheck %s

// The part of the resource takes the caller's handle.
// CHECK-LABEL: func.func @main
// CHECK: dev.parts(%arg0, %arg1) {gives = {{\[\[0\], \[\]\]}}, parts = [@main.CPU_0, @main.CPU_1], takes = {{\[\[\], \[0, 1\]\]}}}
// CHECK: @main.CPU_1(%arg0: tensor<!tf_type.resource>
func.func @main(%v: tensor<!tf_type.resource>, %x: tensor<f32>) -> tensor<f32> {
  "tf.AssignVariableOp"(%v, %x) {device = "/device:CPU:1"} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %r = "tf.ReadVariableOp"(%v) {device = "/device:CPU:1"} : (tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %r : tensor<f32>
}

// -----

// Results of the program are the client's.
func.func @given(%x: tensor<f32>) -> tensor<!tf_type.resource> {
  // expected-error @+1 {{the handle of `tf.VarHandleOp` would have to cross from CPU_1 to CPU_0}}
  %v = "tf.VarHandleOp"() {device = "/device:CPU:1", shared_name = "v", container = "", dtype = f32, shape = #tf_type.shape<>} : () -> tensor<!tf_type.resource>
  "tf.AssignVariableOp"(%v, %x) {device = "/device:CPU:1"} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  tfrt.return %v : tensor<!tf_type.resource>
}
