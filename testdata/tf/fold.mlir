// RUN: ir-opt %s --tf-shape-inference --tf-constant-fold | FileCheck %s

// What depends on constants only is computed; what has an input is as small as it can be.
// CHECK-LABEL: func.func @folded
func.func @folded(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = "tf.Const"() {value = dense<[4.0, 9.0, 16.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %b = "tf.Sqrt"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tf.AddV2"(%x, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[C:.*]] = "tf.Const"() {{.*}}dense<[2.000000e+00, 3.000000e+00, 4.000000e+00]>
  // CHECK: %[[Y:.*]] = "tf.AddV2"(%arg0, %[[C]])
  // CHECK: return %[[Y]], %[[C]]
  tfrt.return %y, %b : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<2x?xf32>) -> (tensor<i32>, tensor<2xi32>) {
  %r = "tf.Rank"(%x) : (tensor<2x?xf32>) -> tensor<i32>
  %s = "tf.Shape"(%x) : (tensor<2x?xf32>) -> tensor<2xi32>
  // CHECK-DAG: "tf.Const"() <{value = dense<2> : tensor<i32>}>
  // CHECK-DAG: "tf.Shape"(%arg0)
  tfrt.return %r, %s : tensor<i32>, tensor<2xi32>
}

// Constants move together: 2 * (x * 3) is x * 6, 2 - (x - 3) is 5 - x.
// CHECK-LABEL: func.func @pushed
func.func @pushed(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.Mul"(%x, %three) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %b = "tf.Mul"(%two, %a) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %c = "tf.Sub"(%x, %three) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %d = "tf.Sub"(%two, %c) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-DAG: %[[SIX:.*]] = "tf.Const"() <{value = dense<6.000000e+00> : tensor<f32>}>
  // CHECK-DAG: %[[FIVE:.*]] = "tf.Const"() <{value = dense<5.000000e+00> : tensor<f32>}>
  // CHECK-DAG: %[[B:.*]] = "tf.Mul"(%arg0, %[[SIX]])
  // CHECK-DAG: %[[D:.*]] = "tf.Sub"(%[[FIVE]], %arg0)
  // CHECK: return %[[B]], %[[D]]
  tfrt.return %b, %d : tensor<3xf32>, tensor<3xf32>
}

// What changes nothing goes; an addition that spreads its operand does not.
// CHECK-LABEL: func.func @neutral
func.func @neutral(%x: tensor<3xf32>, %y: tensor<1xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %a = "tf.AddV2"(%x, %zero) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %b = "tf.AddV2"(%y, %zero) : (tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: %[[B:.*]] = "tf.AddV2"(%arg1
  // CHECK: return %arg0, %[[B]]
  tfrt.return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// A product with 0 is 0 for integers; infinities and NaN make NaN of it.
// CHECK-LABEL: func.func @nothing
func.func @nothing(%n: tensor<3xi32>, %x: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %i = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %f = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.Mul"(%n, %i) : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %b = "tf.Mul"(%f, %x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK-DAG: %[[A:.*]] = "tf.Const"() {{.*}}dense<0> : tensor<3xi32>
  // CHECK-DAG: %[[B:.*]] = "tf.Mul"(%{{.*}}, %arg1)
  // CHECK: return %[[A]], %[[B]]
  tfrt.return %a, %b : tensor<3xi32>, tensor<3xf32>
}

// An operator with a control edge stays where it is.
// CHECK-LABEL: func.func @watched
func.func @watched(%x: tensor<3xf32>, %c: !tfrt.chain) -> tensor<3xf32> {
  // CHECK: "tf.Identity"(%arg0, %arg1)
  %a = "tf.Identity"(%x, %c) : (tensor<3xf32>, !tfrt.chain) -> tensor<3xf32>
  tfrt.return %a : tensor<3xf32>
}

// What is no order of axes is left to fail.
// CHECK-LABEL: func.func @no_order
func.func @no_order(%x: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %perm = "tf.Const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK: %[[Y:.*]] = "tf.Transpose"
  %y = "tf.Transpose"(%x, %perm) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: return %[[Y]]
  tfrt.return %y : tensor<?x?xf32>
}
