// The types that a caller passes are found after the ops of the callee were inferred: so they are inferred again, with
// those that follow a dimension through ops whose own types stay the same.
//
// RUN: ir-opt %s --tf-shape-inference | FileCheck %s

// CHECK-LABEL: func.func private @callee(%{{.*}}: tensor<6x2xf32>) -> tensor<6x2x1xf32>
func.func private @callee(%x: tensor<*xf32>) -> tensor<*xf32> {
  %begin = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Shape"(%x) : (tensor<*xf32>) -> tensor<?xi32>
  %rows = "tf.StridedSlice"(%shape, %begin, %end, %end) {shrink_axis_mask = 1} : (tensor<?xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %dims = "tf.Pack"(%rows, %two, %one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %twelve = "tf.Const"() {value = dense<1.0> : tensor<12xf32>} : () -> tensor<12xf32>
  // CHECK: "tf.Reshape"(%{{.*}}, %{{.*}}) : (tensor<12xf32>, tensor<3xi32>) -> tensor<6x2x1xf32>
  %0 = "tf.Reshape"(%twelve, %dims) : (tensor<12xf32>, tensor<3xi32>) -> tensor<*xf32>
  // CHECK: "tf.Abs"(%{{.*}}) : (tensor<6x2x1xf32>) -> tensor<6x2x1xf32>
  %1 = "tf.Abs"(%0) : (tensor<*xf32>) -> tensor<*xf32>
  tfrt.return %1 : tensor<*xf32>
}

// CHECK-LABEL: func.func @main() -> tensor<6x2x1xf32>
func.func @main() -> tensor<*xf32> {
  %x = "tf.Const"() {value = dense<1.0> : tensor<6x2xf32>} : () -> tensor<6x2xf32>
  %0 = "tf.PartitionedCall"(%x) {f = @callee} : (tensor<6x2xf32>) -> tensor<*xf32>
  tfrt.return %0 : tensor<*xf32>
}
