// A training step of two towers, each with half of the batch; the variables are on a third device.
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:3},tf-partition{devices=CPU:3},verify-parts)' | FileCheck %s
// CHECK-LABEL: func.func private @step.CPU_2(
// CHECK: "tf.ReadVariableOp"
// CHECK: dev.send
// CHECK: dev.send
// CHECK: dev.recv
func.func @init() {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<3x1>, shared_name = "w", device = "/cpu:2"} : () -> tensor<!tf_type.resource>
  %zero = "tf.Const"() {value = dense<0.25> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  "tf.AssignVariableOp"(%v, %zero) : (tensor<!tf_type.resource>, tensor<3x1xf32>) -> ()
  tfrt.return
}

// The loss before the step, and the variable behind it.
func.func @step(%x: tensor<8x3xf32>, %want: tensor<8x1xf32>) -> (tensor<f32>, tensor<3x1xf32>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<3x1>, shared_name = "w", device = "/cpu:2"} : () -> tensor<!tf_type.resource>
  %w = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<3x1xf32>
  %zero = "tf.Const"() {value = dense<[0, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %half = "tf.Const"() {value = dense<[4, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %three = "tf.Const"() {value = dense<[4, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %one = "tf.Const"() {value = dense<[4, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axes = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %rate = "tf.Const"() {value = dense<0.05> : tensor<f32>} : () -> tensor<f32>

  %x0 = "tf.Slice"(%x, %zero, %three) {device = "/cpu:0"} : (tensor<8x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x3xf32>
  %t0 = "tf.Slice"(%want, %zero, %one) {device = "/cpu:0"} : (tensor<8x1xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x1xf32>
  %y0 = "tf.MatMul"(%x0, %w) {device = "/cpu:0"} : (tensor<4x3xf32>, tensor<3x1xf32>) -> tensor<4x1xf32>
  %d0 = "tf.Sub"(%y0, %t0) {device = "/cpu:0"} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %s0 = "tf.Square"(%d0) {device = "/cpu:0"} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %l0 = "tf.Mean"(%s0, %axes) {device = "/cpu:0"} : (tensor<4x1xf32>, tensor<2xi32>) -> tensor<f32>
  %g0 = "tf.MatMul"(%x0, %d0) {transpose_a = true, device = "/cpu:0"} : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>

  %x1 = "tf.Slice"(%x, %half, %three) {device = "/cpu:1"} : (tensor<8x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x3xf32>
  %t1 = "tf.Slice"(%want, %half, %one) {device = "/cpu:1"} : (tensor<8x1xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x1xf32>
  %y1 = "tf.MatMul"(%x1, %w) {device = "/cpu:1"} : (tensor<4x3xf32>, tensor<3x1xf32>) -> tensor<4x1xf32>
  %d1 = "tf.Sub"(%y1, %t1) {device = "/cpu:1"} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %s1 = "tf.Square"(%d1) {device = "/cpu:1"} : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %l1 = "tf.Mean"(%s1, %axes) {device = "/cpu:1"} : (tensor<4x1xf32>, tensor<2xi32>) -> tensor<f32>
  %g1 = "tf.MatMul"(%x1, %d1) {transpose_a = true, device = "/cpu:1"} : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<3x1xf32>

  %loss = "tf.AddV2"(%l0, %l1) {device = "/cpu:2"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = "tf.AddV2"(%g0, %g1) {device = "/cpu:2"} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %u = "tf.Mul"(%g, %rate) {device = "/cpu:2"} : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
  "tf.AssignSubVariableOp"(%v, %u) : (tensor<!tf_type.resource>, tensor<3x1xf32>) -> ()
  %new = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<3x1xf32>
  tfrt.return %loss, %new : tensor<f32>, tensor<3x1xf32>
}
