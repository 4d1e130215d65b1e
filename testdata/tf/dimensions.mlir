// The elements of a shape are known through what exporters compute with it: slices, casts, joins.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-shape-inference)" | FileCheck %s

// CHECK-LABEL: func.func @channels
// CHECK: "tf.Reshape"({{.*}}) : (tensor<?x32xf32>, tensor<4xi64>) -> tensor<?x1x1x32xf32>
func.func @channels(%x: tensor<?x32xf32>) -> tensor<?x?x?x?xf32> {
  %shape = "tf.Shape"(%x) {out_type = i64} : (tensor<?x32xf32>) -> tensor<2xi64>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %axis = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %ones = "tf.Const"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %at = "tf.Const"() {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %batch = "tf.StridedSlice"(%shape, %zero, %one, %one) {shrink_axis_mask = 1 : i64} : (tensor<2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<i64>
  %channels = "tf.GatherV2"(%shape, %at, %axis) : (tensor<2xi64>, tensor<i64>, tensor<i64>) -> tensor<i64>
  %pair = "tf.Pack"(%batch, %channels) : (tensor<i64>, tensor<i64>) -> tensor<2xi64>
  %narrow = "tf.Cast"(%pair) : (tensor<2xi64>) -> tensor<2xi32>
  %first = "tf.Slice"(%narrow, %zero, %one) : (tensor<2xi32>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi32>
  %last = "tf.StridedSlice"(%narrow, %one, %zero, %one) {end_mask = 1 : i64} : (tensor<2xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi32>
  %scalar = "tf.Squeeze"(%first) {squeeze_dims = [0]} : (tensor<1xi32>) -> tensor<i32>
  %again = "tf.ExpandDims"(%scalar, %axis) : (tensor<i32>, tensor<i64>) -> tensor<1xi32>
  %all = "tf.ConcatV2"(%again, %ones, %last, %axis) : (tensor<1xi32>, tensor<2xi32>, tensor<1xi32>, tensor<i64>) -> tensor<4xi32>
  %to = "tf.Cast"(%all) : (tensor<4xi32>) -> tensor<4xi64>
  %y = "tf.Reshape"(%x, %to) : (tensor<?x32xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
  tfrt.return %y : tensor<?x?x?x?xf32>
}

// A cast that changes elements says nothing.
// CHECK-LABEL: func.func @through_bool
// CHECK: "tf.Fill"({{.*}}) : (tensor<1xi64>, tensor<f32>) -> tensor<?xf32>
func.func @through_bool(%x: tensor<7xf32>, %number: tensor<f32>) -> tensor<?xf32> {
  %shape = "tf.Shape"(%x) {out_type = i64} : (tensor<7xf32>) -> tensor<1xi64>
  %bool = "tf.Cast"(%shape) : (tensor<1xi64>) -> tensor<1xi1>
  %to = "tf.Cast"(%bool) : (tensor<1xi1>) -> tensor<1xi64>
  %y = "tf.Fill"(%to, %number) : (tensor<1xi64>, tensor<f32>) -> tensor<?xf32>
  tfrt.return %y : tensor<?xf32>
}
