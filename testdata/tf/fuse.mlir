// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-pack-weights,tf-remap,tf-fuse-elementwise)" | FileCheck %s

// Numbers are part of the program; a value that somebody else needs is computed once.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  // CHECK: %[[A:.*]] = "tf._FusedElementwise"(%arg0, %arg1) <{num_args = 2 : i64, numbers = [], ops = ["AddV2", "Tanh"], values = [0, 1, 2]}>
  // CHECK-NEXT: %[[B:.*]] = "tf._FusedElementwise"(%[[A]], %arg0) <{num_args = 2 : i64, numbers = [5.000000e-01 : f32], ops = ["Mul", "Maximum"], values = [0, -1, 2, 1]}>
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = "tf.AddV2"(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = "tf.Tanh"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "tf.Mul"(%1, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = "tf.Maximum"(%2, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tfrt.return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<?x2x2x4xf32>, %w: tensor<4x8xf32>) -> (tensor<?x8xf32>) {
  %c = "tf.Const"() {value = dense<0.5> : tensor<16x8xf32>} : () -> tensor<16x8xf32>
  %b = "tf.Const"() {value = dense<0.25> : tensor<8xf32>} : () -> tensor<8xf32>
  %flat = "tf.Const"() {value = dense<[-1, 16]> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK: "tf._PackedMatMul"(%arg0, %{{.*}}, %{{.*}}) <{contracted = 3 : i64, fused_ops = ["BiasAdd", "Sigmoid"], num_args = 1 : i64, shape = [2, 2, 4, 8]}>
  %0 = "tf.Reshape"(%x, %flat) : (tensor<?x2x2x4xf32>, tensor<2xi32>) -> tensor<?x16xf32>
  %1 = "tf.MatMul"(%0, %c) : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.BiasAdd"(%1, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %3 = "tf.Sigmoid"(%2) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  tfrt.return %3 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @einsum
func.func @einsum(%x: tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32> {
  %c = "tf.Const"() {value = dense<0.5> : tensor<8x2x4xf32>} : () -> tensor<8x2x4xf32>
  %b = "tf.Const"() {value = dense<0.25> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  // CHECK: "tf._PackedMatMul"(%arg0, %{{.*}}, %{{.*}}) <{contracted = 1 : i64, fused_ops = ["BiasAdd"], num_args = 1 : i64, shape = [8, 2, 4]}>
  %0 = "tf.Einsum"(%x, %c) {equation = "btd,dhe->bthe"} : (tensor<2x5x8xf32>, tensor<8x2x4xf32>) -> tensor<2x5x2x4xf32>
  %1 = "tf.AddV2"(%0, %b) : (tensor<2x5x2x4xf32>, tensor<2x4xf32>) -> tensor<2x5x2x4xf32>
  tfrt.return %1 : tensor<2x5x2x4xf32>
}

// Filters of 3 by 3 are transformed, unless somebody keeps away from that.
// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<1x24x24x32xf32>) -> (tensor<1x24x24x32xf32>, tensor<1x24x24x32xf32>) {
  %c = "tf.Const"() {value = dense<0.5> : tensor<3x3x32x32xf32>} : () -> tensor<3x3x32x32xf32>
  // CHECK: "tf._PackedConv2D"(%arg0, %{{.*}}) {{.*}} (tensor<1x24x24x32xf32>, tensor<147584xui8>)
  %0 = "tf.Conv2D"(%x, %c) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x24x24x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x24x24x32xf32>
  // CHECK: "tf._PackedConv2D"(%arg0, %{{.*}}) {{.*}} (tensor<1x24x24x32xf32>, tensor<36992xui8>)
  %1 = "tf.Conv2D"(%x, %c) {strides = [1, 1, 1, 1], padding = "SAME", _no_winograd} : (tensor<1x24x24x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x24x24x32xf32>
  tfrt.return %0, %1 : tensor<1x24x24x32xf32>, tensor<1x24x24x32xf32>
}
