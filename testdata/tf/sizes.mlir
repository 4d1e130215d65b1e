// RUN: ir-opt %s --tf-remap | FileCheck %s

// Unknown dimensions that are equal in every execution: %x and %sum have N rows, so the sum is part of the product.
// CHECK-LABEL: func.func @residual
// CHECK: "tf._FusedMatMul"({{.*}}, %arg0) <{{{.*}}fused_ops = ["BiasAdd", "Add", "Relu"]
// CHECK-NOT: tf.AddV2
// CHECK: return
func.func @residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %p = "tf.MatMul"(%x, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %q = "tf.BiasAdd"(%p, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %sum = "tf.AddV2"(%q, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = "tf.Relu"(%sum) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  tfrt.return %y : tensor<?x8xf32>
}

// The rows of two arguments need not be equally many: one may have one row.
// CHECK-LABEL: func.func @unrelated
// CHECK: tf.AddV2
func.func @unrelated(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %p = "tf.MatMul"(%x, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %q = "tf.BiasAdd"(%p, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %sum = "tf.AddV2"(%q, %y) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  tfrt.return %sum : tensor<?x8xf32>
}

// A slice may cut an unknown dimension, however large the limit is.
// CHECK-LABEL: func.func @limited
// CHECK: tf.AddV2
func.func @limited(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %from = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %to = "tf.Const"() {value = dense<1000000000> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tf.StridedSlice"(%x, %from, %to, %step) : (tensor<?x8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x8xf32>
  %p = "tf.MatMul"(%s, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %q = "tf.BiasAdd"(%p, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %sum = "tf.AddV2"(%q, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  tfrt.return %sum : tensor<?x8xf32>
}

// Sizes through reshapes, transposes and shapes that are computed: N*S rows, and N and S again.
// CHECK-LABEL: func.func @attention
// CHECK: "tf._FusedAttention"
// CHECK-NOT: tf.Softmax
// CHECK: return
func.func @attention(%x: tensor<?x?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x2x?x4xf32> {
  %rows = "tf.Const"() {value = dense<[-1, 8]> : tensor<2xi32>} : () -> tensor<2xi32>
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %heads = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %size = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x8xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %zero, %one, %one) {shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %s = "tf.StridedSlice"(%shape, %one, %two, %one) {shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %split = "tf.Pack"(%n, %s, %heads, %size) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
  %flat = "tf.Reshape"(%x, %rows) : (tensor<?x?x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %p = "tf.MatMul"(%flat, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %a = "tf.Reshape"(%p, %split) : (tensor<?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %b = "tf.Reshape"(%x, %split) : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %q = "tf.Transpose"(%a, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  %k = "tf.Transpose"(%b, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  %scores = "tf.BatchMatMulV2"(%q, %k) {adj_y = true} : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x?xf32>
  %weights = "tf.Softmax"(%scores) : (tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %y = "tf.BatchMatMulV2"(%weights, %k) : (tensor<?x2x?x?xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  tfrt.return %y : tensor<?x2x?x4xf32>
}

// Tensors that are joined have the same sizes beside the axis, so a cache has as many sequences as there are queries.
// CHECK-LABEL: func.func @joined
// CHECK: "tf.ConcatV2"
// CHECK: "tf._FusedAttention"
// CHECK-NOT: tf.Softmax
// CHECK: return
func.func @joined(%x: tensor<?x2x1x4xf32>, %cache: tensor<?x2x7x4xf32>) -> tensor<?x2x1x4xf32> {
  %axis = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.ConcatV2"(%cache, %x, %axis) : (tensor<?x2x7x4xf32>, tensor<?x2x1x4xf32>, tensor<i32>) -> tensor<?x2x8x4xf32>
  %scores = "tf.BatchMatMulV2"(%x, %k) {adj_y = true} : (tensor<?x2x1x4xf32>, tensor<?x2x8x4xf32>) -> tensor<?x2x1x8xf32>
  %weights = "tf.Softmax"(%scores) : (tensor<?x2x1x8xf32>) -> tensor<?x2x1x8xf32>
  %y = "tf.BatchMatMulV2"(%weights, %k) : (tensor<?x2x1x8xf32>, tensor<?x2x8x4xf32>) -> tensor<?x2x1x4xf32>
  tfrt.return %y : tensor<?x2x1x4xf32>
}

// Along the axis they may differ.
// CHECK-LABEL: func.func @along
// CHECK: tf.AddV2
func.func @along(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %joined = "tf.ConcatV2"(%x, %y, %axis) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<i32>) -> tensor<?x8xf32>
  %p = "tf.MatMul"(%joined, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %q = "tf.BiasAdd"(%p, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %sum = "tf.AddV2"(%q, %x) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  tfrt.return %sum : tensor<?x8xf32>
}
