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

// Reads of a variable without a write between them are one; a read that nothing uses stays, since it may fail.
// CHECK-LABEL: func.func @reads
// CHECK: %[[A:.*]] = "tf.ReadVariableOp"
// CHECK-NEXT: "tf.AssignAddVariableOp"
// CHECK-NEXT: %[[B:.*]] = "tf.ReadVariableOp"
// CHECK-NEXT: "tf.ReadVariableOp"(%[[W:.*]])
// CHECK-NEXT: tfrt.return %[[A]], %[[A]], %[[B]]
func.func @reads(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %v = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "v"} : () -> tensor<!tf_type.resource>
  %w = "tf.VarHandleOp"() {dtype = f32, shape = #tf_type.shape<>, shared_name = "w"} : () -> tensor<!tf_type.resource>
  %0 = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  %1 = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  "tf.AssignAddVariableOp"(%v, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %2 = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource>) -> tensor<f32>
  %3 = "tf.ReadVariableOp"(%w) : (tensor<!tf_type.resource>) -> tensor<f32>
  tfrt.return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}
