// RUN: ir-opt %s --tf-arithmetic | FileCheck %s

// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = "tf.AddV2"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.AddV2"(%a, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %c = "tf.AddV2"(%b, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = "tf.AddN"(%x, %x, %x) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-DAG: %[[FOUR:.*]] = "tf.Const"() <{value = dense<4.000000e+00> : tensor<f32>}>
  // CHECK-DAG: %[[THREE:.*]] = "tf.Const"() <{value = dense<3.000000e+00> : tensor<f32>}>
  // CHECK-DAG: %[[C:.*]] = "tf.Mul"(%arg0, %[[FOUR]])
  // CHECK-DAG: %[[D:.*]] = "tf.Mul"(%arg0, %[[THREE]])
  // CHECK: return %[[C]], %[[D]]
  tfrt.return %c, %d : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<3xf32>, %p: tensor<2xi1>) -> (tensor<3xf32>, tensor<2xi1>, tensor<3xf32>) {
  %a = "tf.Neg"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.Neg"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  %c = "tf.LogicalNot"(%p) : (tensor<2xi1>) -> tensor<2xi1>
  %d = "tf.LogicalNot"(%c) : (tensor<2xi1>) -> tensor<2xi1>
  %e = "tf.AddV2"(%x, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[E:.*]] = "tf.Sub"(%arg0, %arg0)
  // CHECK: return %arg0, %arg1, %[[E]]
  tfrt.return %b, %d, %e : tensor<3xf32>, tensor<2xi1>, tensor<3xf32>
}

// A comparison of floats is not negated: x may be NaN.
// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%x: tensor<3xf32>, %n: tensor<3xi32>) -> (tensor<3xi1>, tensor<3xi1>) {
  %a = "tf.Less"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %b = "tf.LogicalNot"(%a) : (tensor<3xi1>) -> tensor<3xi1>
  %c = "tf.Less"(%n, %n) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %d = "tf.LogicalNot"(%c) : (tensor<3xi1>) -> tensor<3xi1>
  // CHECK-DAG: %[[B:.*]] = "tf.LogicalNot"
  // CHECK-DAG: %[[D:.*]] = "tf.GreaterEqual"(%arg1, %arg1)
  // CHECK: return %[[B]], %[[D]]
  tfrt.return %b, %d : tensor<3xi1>, tensor<3xi1>
}

// CHECK-LABEL: func.func @factor
func.func @factor(%x: tensor<3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {
  %a = "tf.Mul"(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.Mul"(%z, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %c = "tf.AddV2"(%a, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[S:.*]] = "tf.AddV2"(%arg1, %arg2)
  // CHECK: "tf.Mul"(%arg0, %[[S]])
  tfrt.return %c : tensor<3xf32>
}

// CHECK-LABEL: func.func @turned
func.func @turned(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %t = "tf.Transpose"(%x, %order) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  // CHECK: "tf.MatMul"(%arg0, %arg1) <{transpose_a = true}>
  %m = "tf.MatMul"(%t, %y) : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  tfrt.return %m : tensor<3x4xf32>
}

// A cast to larger elements follows what moves the elements, a cast to smaller ones goes in front of it.
// CHECK-LABEL: func.func @wider
func.func @wider(%x: tensor<2x6xui8>) -> tensor<3x4xf32> {
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Const"() {value = dense<[3, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK: %[[T:.*]] = "tf.Transpose"(%arg0, %{{.*}}) : (tensor<2x6xui8>, tensor<2xi32>) -> tensor<6x2xui8>
  // CHECK: %[[R:.*]] = "tf.Reshape"(%[[T]], %{{.*}}) : (tensor<6x2xui8>, tensor<2xi32>) -> tensor<3x4xui8>
  // CHECK: %[[C:.*]] = "tf.Cast"(%[[R]]) : (tensor<3x4xui8>) -> tensor<3x4xf32>
  // CHECK: return %[[C]]
  %c = "tf.Cast"(%x) : (tensor<2x6xui8>) -> tensor<2x6xf32>
  %t = "tf.Transpose"(%c, %order) : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<6x2xf32>
  %r = "tf.Reshape"(%t, %shape) : (tensor<6x2xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  tfrt.return %r : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @narrower
func.func @narrower(%x: tensor<2x6xf32>) -> tensor<1x6x2xf16> {
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  // CHECK: %[[C:.*]] = "tf.Cast"(%arg0) <{Truncate = true}> : (tensor<2x6xf32>) -> tensor<2x6xf16>
  // CHECK: %[[T:.*]] = "tf.Transpose"(%[[C]], %{{.*}}) : (tensor<2x6xf16>, tensor<2xi32>) -> tensor<6x2xf16>
  // CHECK: %[[E:.*]] = "tf.ExpandDims"(%[[T]], %{{.*}}) : (tensor<6x2xf16>, tensor<i32>) -> tensor<1x6x2xf16>
  // CHECK: return %[[E]]
  %t = "tf.Transpose"(%x, %order) : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<6x2xf32>
  %e = "tf.ExpandDims"(%t, %axis) : (tensor<6x2xf32>, tensor<i32>) -> tensor<1x6x2xf32>
  %c = "tf.Cast"(%e) {Truncate = true} : (tensor<1x6x2xf32>) -> tensor<1x6x2xf16>
  tfrt.return %c : tensor<1x6x2xf16>
}

// A cast to elements of the same size stays, and so does one whose operand has another use.
// CHECK-LABEL: func.func @casts_that_stay
func.func @casts_that_stay(%x: tensor<2x6xf32>, %y: tensor<2x6xui8>) -> (tensor<6x2xi32>, tensor<6x2xf32>, tensor<2x6xf32>) {
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK: %[[C:.*]] = "tf.Cast"(%arg0)
  // CHECK: %[[T:.*]] = "tf.Transpose"(%[[C]],
  // CHECK: %[[D:.*]] = "tf.Cast"(%arg1)
  // CHECK: %[[U:.*]] = "tf.Transpose"(%[[D]],
  // CHECK: return %[[T]], %[[U]], %[[D]]
  %c = "tf.Cast"(%x) : (tensor<2x6xf32>) -> tensor<2x6xi32>
  %t = "tf.Transpose"(%c, %order) : (tensor<2x6xi32>, tensor<2xi32>) -> tensor<6x2xi32>
  %d = "tf.Cast"(%y) : (tensor<2x6xui8>) -> tensor<2x6xf32>
  %u = "tf.Transpose"(%d, %order) : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<6x2xf32>
  tfrt.return %t, %u, %d : tensor<6x2xi32>, tensor<6x2xf32>, tensor<2x6xf32>
}
