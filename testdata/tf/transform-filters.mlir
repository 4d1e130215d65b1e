// Filters that are no constants, as in a training step, are transformed for Winograd's convolution where it
// pays off, for the convolution and for its gradient by the images.
//
// RUN: ir-opt %s --tf-pack-weights | FileCheck %s
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-pack-weights{winograd=false})" | FileCheck %s --check-prefix=NONE
// NONE-NOT: tf._TransformFilters

// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[W:.*]] = "tf._TransformFilters"(%arg1) <{by_images = false, patch = 4 : i64}> : (tensor<3x3x32x64xf32>) -> tensor<{{[0-9]+}}xui8>
// CHECK-NEXT: %[[Y:.*]] = "tf._PackedConv2D"(%arg0, %[[W]], %arg2) <{filter_shape = [3, 3, 32, 64], fused_ops = ["BiasAdd"], num_args = 1 : i64, padding = "SAME", strides = [1, 1, 1, 1]}>
// CHECK-NEXT: return %[[Y]]
func.func @forward(%x: tensor<2x16x16x32xf32>, %w: tensor<3x3x32x64xf32>, %b: tensor<64xf32>) -> tensor<2x16x16x64xf32> {
  %y = "tf._FusedConv2D"(%x, %w, %b) {strides = [1, 1, 1, 1], padding = "SAME", fused_ops = ["BiasAdd"], num_args = 1 : i64} : (tensor<2x16x16x32xf32>, tensor<3x3x32x64xf32>, tensor<64xf32>) -> tensor<2x16x16x64xf32>
  tfrt.return %y : tensor<2x16x16x64xf32>
}

// CHECK-LABEL: func.func @backward
// CHECK: %[[W:.*]] = "tf._TransformFilters"(%arg0) <{by_images = true, patch = 4 : i64}> : (tensor<3x3x32x64xf32>) -> tensor<{{[0-9]+}}xui8>
// CHECK-NEXT: %[[D:.*]] = "tf._PackedConv2D"(%arg1, %[[W]]) <{explicit_paddings = [0, 0, 2, 2, 2, 2, 0, 0], filter_shape = [3, 3, 64, 32], num_args = 0 : i64, padding = "EXPLICIT", strides = [1, 1, 1, 1]}>
// CHECK-NEXT: return %[[D]]
func.func @backward(%w: tensor<3x3x32x64xf32>, %dy: tensor<2x14x14x64xf32>) -> tensor<2x16x16x32xf32> {
  %n = "tf.Const"() {value = dense<[2, 16, 16, 32]> : tensor<4xi32>} : () -> tensor<4xi32>
  %d = "tf.Conv2DBackpropInput"(%n, %w, %dy) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<4xi32>, tensor<3x3x32x64xf32>, tensor<2x14x14x64xf32>) -> tensor<2x16x16x32xf32>
  tfrt.return %d : tensor<2x16x16x32xf32>
}

// Few pixels do not pay for the transform, and strides have no such algorithm.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: tf._TransformFilters
// CHECK: return
func.func @plain(%x: tensor<1x9x9x32xf32>, %w: tensor<3x3x32x64xf32>, %z: tensor<4x32x32x32xf32>) -> (tensor<1x9x9x64xf32>, tensor<4x16x16x64xf32>) {
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x9x9x32xf32>, tensor<3x3x32x64xf32>) -> tensor<1x9x9x64xf32>
  %s = "tf.Conv2D"(%z, %w) {strides = [1, 2, 2, 1], padding = "SAME"} : (tensor<4x32x32x32xf32>, tensor<3x3x32x64xf32>) -> tensor<4x16x16x64xf32>
  tfrt.return %y, %s : tensor<1x9x9x64xf32>, tensor<4x16x16x64xf32>
}
