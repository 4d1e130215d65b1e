// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-pack-weights,tf-remap,tf-fuse-elementwise)" | FileCheck %s

// Numbers are part of the program; a value that somebody else needs is one more result.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  // CHECK: %[[A:.*]]:2 = "tf._FusedElementwise"(%arg0, %arg1) <{numbers = [5.000000e-01 : f32], ops = ["AddV2", "Tanh", "Mul", "Maximum"], results = [1, 3], values = [0, 1, 2, 3, -1, 4, 0]}>
  // CHECK-NEXT: return %[[A]]#0, %[[A]]#1
  %0 = "tf.AddV2"(%x, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = "tf.Tanh"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "tf.Mul"(%1, %half) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = "tf.Maximum"(%2, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tfrt.return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// The body of a loop: results of two types, one of them counted by a comparison, in one op.
// CHECK-LABEL: func.func @several
func.func @several(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xi32>) {
  %four = "tf.Const"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  // CHECK: %[[A:.*]]:3 = "tf._FusedElementwise"(%arg0, %arg1, %arg2) <{numbers = [4.000000e+00 : f32], ops = ["Mul", "Sub", "AddV2", "Less", "AddV2"], results = [1, 2, 4], values = [0, 0, 3, 1, 0, 1, 5, -1, 2, 6]}>
  // CHECK-SAME: -> (tensor<64xf32>, tensor<64xf32>, tensor<64xi32>)
  // CHECK-NEXT: return %[[A]]#0, %[[A]]#1, %[[A]]#2
  %0 = "tf.Mul"(%x, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = "tf.Sub"(%0, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = "tf.AddV2"(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = "tf.Less"(%2, %four) : (tensor<64xf32>, tensor<f32>) -> tensor<64xi1>
  %4 = "tf.Cast"(%3) : (tensor<64xi1>) -> tensor<64xi32>
  %5 = "tf.AddV2"(%n, %4) : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
  tfrt.return %1, %2, %5 : tensor<64xf32>, tensor<64xf32>, tensor<64xi32>
}

// A boolean that somebody else needs is no step, so what chooses by it is none either.
// CHECK-LABEL: func.func @choice
func.func @choice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xi1>) {
  // CHECK: %[[A:.*]] = "tf._FusedElementwise"(%arg1, %arg0) <{numbers = [], ops = ["Neg", "GreaterEqual", "SelectV2"], results = [2], values = [0, 2, 1, 3, 1, 0]}>
  // CHECK: %[[L:.*]] = "tf.Less"(%arg0, %[[A]])
  // CHECK: %[[B:.*]] = "tf.SelectV2"(%[[L]], %arg0, %[[A]])
  // CHECK: return %[[A]], %[[B]], %[[L]]
  %0 = "tf.Neg"(%y) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = "tf.GreaterEqual"(%0, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %2 = "tf.SelectV2"(%1, %x, %y) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = "tf.Less"(%x, %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %4 = "tf.SelectV2"(%3, %x, %2) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tfrt.return %2, %4, %3 : tensor<64xf32>, tensor<64xf32>, tensor<64xi1>
}

// An op whose user comes before the end of the group stays where it is; so does one of another size.
// CHECK-LABEL: func.func @between
func.func @between(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %s: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  // CHECK: %[[N:.*]] = "tf.Neg"(%arg0)
  // CHECK: %[[R:.*]] = "tf.Relu"(%arg2)
  // CHECK: %[[P:.*]] = "tf.MatMul"(%[[N]], %arg1)
  // CHECK: %[[A:.*]]:2 = "tf._FusedElementwise"(%arg0, %[[P]], %[[N]], %[[R]])
  // CHECK-NEXT: return %[[A]]#1, %[[A]]#0, %[[R]]
  %0 = "tf.Neg"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "tf.Abs"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "tf.Relu"(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "tf.MatMul"(%0, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "tf.AddV2"(%3, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "tf.AddV2"(%4, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "tf.AddV2"(%5, %2) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  tfrt.return %6, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
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

// What may fail would make an error of a result that does not depend on it, so there is one result.
// CHECK-LABEL: func.func @errors
func.func @errors(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  // CHECK: %[[A:.*]] = "tf.Neg"(%arg0)
  // CHECK: %[[G:.*]] = "tf.GatherV2"
  // CHECK: %[[B:.*]] = "tf._FusedElementwise"(%[[A]], %[[G]]) <{{.*}}ops = ["AddV2", "Tanh"], results = [1]
  // CHECK: return %[[A]], %[[B]]
  %0 = "tf.Neg"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = "tf.GatherV2"(%x, %i, %axis) : (tensor<64xf32>, tensor<64xi32>, tensor<i32>) -> tensor<64xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = "tf.Tanh"(%2) : (tensor<64xf32>) -> tensor<64xf32>
  tfrt.return %0, %3 : tensor<64xf32>, tensor<64xf32>
}

// The results of one op are errors together, so several results may depend on them; the other operand is an
// argument.
// CHECK-LABEL: func.func @cell
func.func @cell(%x: tensor<4x16xf32>, %c: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  // CHECK: %[[S:.*]]:2 = "tf.Split"
  // CHECK-NEXT: %[[A:.*]]:3 = "tf._FusedElementwise"(%[[S]]#0, %[[S]]#1, %arg1) <{{.*}}ops = ["Sigmoid", "Tanh", "Mul", "AddV2"], results = [0, 1, 3]
  %0:2 = "tf.Split"(%axis, %x) {num_split = 2 : i64} : (tensor<i32>, tensor<4x16xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %1 = "tf.Sigmoid"(%0#0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "tf.Tanh"(%0#1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "tf.Mul"(%1, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "tf.AddV2"(%3, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tfrt.return %1, %2, %4 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A sum of several tensors is added in pairs.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: "tf._FusedElementwise"(%arg0, %arg1, %arg2) <{{.*}}ops = ["AddV2", "AddV2", "Neg"], results = [2], values = [0, 1, 3, 2, 4]
  %0 = "tf.AddN"(%x, %y, %z) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = "tf.Neg"(%0) : (tensor<64xf32>) -> tensor<64xf32>
  tfrt.return %1 : tensor<64xf32>
}

// A boolean from outside ends the group, and so does one that was made in front of that.
// CHECK-LABEL: func.func @flags
func.func @flags(%b: tensor<64xi1>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK: %[[C:.*]] = "tf.Less"(%arg1, %arg2)
  // CHECK: %[[S:.*]] = "tf.SelectV2"(%arg0, %arg1, %arg2)
  // CHECK: %[[T:.*]] = "tf.SelectV2"(%[[C]], %[[S]], %arg2)
  // CHECK: "tf._FusedElementwise"(%[[T]], %arg1) <{{.*}}ops = ["AddV2", "Neg"]
  %0 = "tf.Less"(%x, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %1 = "tf.SelectV2"(%b, %x, %y) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = "tf.SelectV2"(%0, %1, %y) : (tensor<64xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %3 = "tf.AddV2"(%2, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = "tf.Neg"(%3) : (tensor<64xf32>) -> tensor<64xf32>
  tfrt.return %4 : tensor<64xf32>
}
