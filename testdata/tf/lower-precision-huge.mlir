// Filters whose number of elements exceeds 64 bits.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-lower-precision{precision=bf16})" | FileCheck %s
// CHECK: "tf.Conv2D"{{.*}}_precision = "bf16"
func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<?x?x?x?xf32> {
  %w = "tf.Const"() {value = dense<0.5> : tensor<4294967296x4294967296x4x4xf32>} : () -> tensor<4294967296x4294967296x4x4xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "SAME"} : (tensor<1x8x8x4xf32>, tensor<4294967296x4294967296x4x4xf32>) -> tensor<?x?x?x?xf32>
  tfrt.return %y : tensor<?x?x?x?xf32>
}
