// RUN: ir-opt %s --tf-remap | FileCheck %s

// CHECK-LABEL: func.func @layer
func.func @layer(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = "tf._FusedMatMul"(%arg0, %arg1, %arg2) <{fused_ops = ["BiasAdd", "Relu"]
  // CHECK-NEXT: return %[[Y]]
  %m = "tf.MatMul"(%x, %w) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %s = "tf.BiasAdd"(%m, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = "tf.Relu"(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  tfrt.return %y : tensor<4x8xf32>
}

// A product that somebody else wants is not taken in.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: "tf.MatMul"
  // CHECK-NEXT: "tf.BiasAdd"
  %m = "tf.MatMul"(%x, %w) : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %s = "tf.BiasAdd"(%m, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  tfrt.return %m, %s : tensor<4x8xf32>, tensor<4x8xf32>
}
