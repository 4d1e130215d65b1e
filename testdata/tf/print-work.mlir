// RUN: ir-opt %s --print-work 2>&1 | FileCheck %s
// RUN: ir-translate %s --print-work -o %t.bef 2>&1 | FileCheck %s --check-prefix=COMPILED

// A product of 8x64 and 64x32 has 2 * 8 * 64 * 32 operations; those of unknown sizes are counted with 1. What is not an operator of a graph is not.
// CHECK: work of @main
// CHECK-NEXT: count GFLOP MB operator
// CHECK-NEXT: 2 0.000037 0.019840 tf.MatMul
// CHECK-NEXT: 1 0.000001 0.002048 tf.Relu
// CHECK-NEXT: 3 0.000038 0.021888 in all
// CHECK-NEXT: 1 operators have unknown dimensions, which count as 1
// COMPILED: work of @main
// COMPILED: tf.MatMul
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %y: tensor<?x64xf32>) -> (tensor<8x32xf32>, tensor<?x32xf32>) {
  %a = "tf.MatMul"(%x, %w) : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %b = "tf.Relu"(%a) : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %c = "tf.MatMul"(%y, %w) : (tensor<?x64xf32>, tensor<64x32xf32>) -> tensor<?x32xf32>
  tfrt.return %b, %c : tensor<8x32xf32>, tensor<?x32xf32>
}
