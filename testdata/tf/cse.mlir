// Commutative operators compute the same with exchanged operands.
//
// RUN: ir-opt %s --cse | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: "tf.Mul"
// CHECK-NOT: "tf.Mul"
// CHECK-COUNT-2: "tf.Sub"
// CHECK-COUNT-2: "tf.Maximum"
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = "tf.Mul"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "tf.Mul"(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tf.Sub"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tf.Sub"(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // Zeros of different signs, and NaN.
  %4 = "tf.Maximum"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = "tf.Maximum"(%y, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %0, %1, %2, %3, %4, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
