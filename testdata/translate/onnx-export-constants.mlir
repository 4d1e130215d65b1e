// Filters are transposed when they are written, and are in the model once. Constants that became attributes
// are not in it.

// RUN: ir-translate %s -O0 --to onnx -o %t.onnx
// RUN: ir-translate %t.onnx --inspect | FileCheck %s
// CHECK: constants: 3, 3.4 KiB

func.func @main(%x: tensor<1x8x8x3xf32>, %z: tensor<3x3x3x16xf32>) -> (tensor<1x8x8x16xf32>, tensor<3x144xf32>) {
  %w = "tf.Const"() {value = dense<0.5> : tensor<3x3x3x16xf32>} : () -> tensor<3x3x3x16xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<1x8x8x16xf32>
  %a = "tf.Const"() {value = dense<0.25> : tensor<3x3x3x16xf32>} : () -> tensor<3x3x3x16xf32>
  %0 = "tf.Mul"(%z, %a) : (tensor<3x3x3x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
  %sizes = "tf.Const"() {value = dense<[3, 144]> : tensor<2xi32>} : () -> tensor<2xi32>
  %1 = "tf.Reshape"(%0, %sizes) : (tensor<3x3x3x16xf32>, tensor<2xi32>) -> tensor<3x144xf32>
  tfrt.return %y, %1 : tensor<1x8x8x16xf32>, tensor<3x144xf32>
}
