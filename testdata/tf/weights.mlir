// A constant factor behind a product with constant weights goes into the weights, and a pad into the
// convolution. The numbers are the same as without.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-arithmetic,tf-constant-fold)" | FileCheck %s
// RUN: bef-exec %s -O0 --work-queue s > %t.0
// RUN: bef-exec %s -O2 --work-queue s > %t.2
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.0
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.2

// CHECK-LABEL: func.func @convolution
// CHECK-NOT: tf.Mul
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<{{.*}}2.000000e+00, 6.000000e+00{{.*}}> : tensor<1x1x1x2xf32>}>
// CHECK: "tf.Conv2D"({{.*}}, %[[W]])
// CHECK-NOT: tf.Mul
// CHECK: return
// EXEC: 'convolution' returned
// EXEC-NEXT: array({{\[\[\[\[}} 4., 11.]
func.func @convolution() -> tensor<1x2x1x2xf32> {
  %x = "tf.Const"() {value = dense<[[[[1.0]], [[2.0]]]]> : tensor<1x2x1x1xf32>} : () -> tensor<1x2x1x1xf32>
  %image = "tf.Identity"(%x) : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %r = "tf.PartitionedCall"(%image) {f = @scaled_convolution} : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x2xf32>
  tfrt.return %r : tensor<1x2x1x2xf32>
}

func.func private @scaled_convolution(%x: tensor<1x2x1x1xf32>) -> tensor<1x2x1x2xf32> {
  %w = "tf.Const"() {value = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %c = "tf.Const"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %k = "tf.Const"() {value = dense<[[[[0.0, -1.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %y = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x2x1x1xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x1x2xf32>
  %biased = "tf.BiasAdd"(%y, %b) : (tensor<1x2x1x2xf32>, tensor<2xf32>) -> tensor<1x2x1x2xf32>
  %m = "tf.Mul"(%c, %biased) : (tensor<2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %s = "tf.AddV2"(%m, %k) : (tensor<1x2x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x1x2xf32>
  tfrt.return %s : tensor<1x2x1x2xf32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: tf.Pad
// CHECK: "tf.DepthwiseConv2dNative"({{.*}}) <{explicit_paddings = [0, 0, 1, 0, 0, 1, 0, 0], padding = "EXPLICIT", strides = [1, 1, 1, 1]}>
// CHECK-NOT: tf.Mul
// CHECK: return
func.func @depthwise(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %p = "tf.Const"() {value = dense<[[0, 0], [1, 0], [0, 1], [0, 0]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %w = "tf.Const"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]], [[[5.0], [6.0]], [[7.0], [8.0]]]]> : tensor<2x2x2x1xf32>} : () -> tensor<2x2x2x1xf32>
  %c = "tf.Const"() {value = dense<[[[[2.0, -1.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %padded = "tf.Pad"(%x, %p) : (tensor<1x2x2x2xf32>, tensor<4x2xi32>) -> tensor<1x3x3x2xf32>
  %y = "tf.DepthwiseConv2dNative"(%padded, %w) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x3x3x2xf32>, tensor<2x2x2x1xf32>) -> tensor<1x2x2x2xf32>
  %m = "tf.Mul"(%y, %c) : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  tfrt.return %m : tensor<1x2x2x2xf32>
}

// EXEC: 'depthwise_of_one' returned
// EXEC-NEXT: array({{\[\[\[\[}} 38., -14.]
func.func @depthwise_of_one() -> tensor<1x2x2x2xf32> {
  %x = "tf.Const"() {value = dense<[[[[1.0, 1.0], [2.0, 1.0]], [[3.0, 1.0], [4.0, 1.0]]]]> : tensor<1x2x2x2xf32>} : () -> tensor<1x2x2x2xf32>
  %r = "tf.PartitionedCall"(%x) {f = @depthwise} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  tfrt.return %r : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @max_pool
// CHECK-NOT: tf.Pad
// CHECK: "tf.MaxPool"({{.*}}) <{explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], ksize = [1, 3, 3, 1], padding = "EXPLICIT", strides = [1, 2, 2, 1]}>
// CHECK: return
func.func @max_pool(%x: tensor<1x2x3x1xf32>) -> tensor<1x1x2x1xf32> {
  %p = "tf.Const"() {value = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %r = "tf.Relu"(%x) : (tensor<1x2x3x1xf32>) -> tensor<1x2x3x1xf32>
  %padded = "tf.Pad"(%r, %p) : (tensor<1x2x3x1xf32>, tensor<4x2xi32>) -> tensor<1x4x5x1xf32>
  %y = "tf.MaxPool"(%padded) {ksize = [1, 3, 3, 1], strides = [1, 2, 2, 1], padding = "VALID"} : (tensor<1x4x5x1xf32>) -> tensor<1x1x2x1xf32>
  tfrt.return %y : tensor<1x1x2x1xf32>
}

// Zeros around an image are no pixels if it may be negative, or if a window may have nothing else.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: tf.Pad
// CHECK: return
func.func @kept(%x: tensor<1x2x2x1xf32>) -> (tensor<1x3x3x1xf32>, tensor<1x5x5x1xf32>) {
  %p = "tf.Const"() {value = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %far = "tf.Const"() {value = dense<[[0, 0], [2, 2], [2, 2], [0, 0]]> : tensor<4x2xi32>} : () -> tensor<4x2xi32>
  %a = "tf.Pad"(%x, %p) : (tensor<1x2x2x1xf32>, tensor<4x2xi32>) -> tensor<1x4x4x1xf32>
  %y = "tf.MaxPool"(%a) {ksize = [1, 2, 2, 1], strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x4x4x1xf32>) -> tensor<1x3x3x1xf32>
  %r = "tf.Relu"(%x) : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %b = "tf.Pad"(%r, %far) : (tensor<1x2x2x1xf32>, tensor<4x2xi32>) -> tensor<1x6x6x1xf32>
  %z = "tf.MaxPool"(%b) {ksize = [1, 2, 2, 1], strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<1x6x6x1xf32>) -> tensor<1x5x5x1xf32>
  tfrt.return %y, %z : tensor<1x3x3x1xf32>, tensor<1x5x5x1xf32>
}

// EXEC: 'max_pool_of_one' returned
// EXEC-NEXT: array({{\[\[\[\[}}4.],
// EXEC-NEXT: [3.{{\]\]\]\]}}
func.func @max_pool_of_one() -> tensor<1x1x2x1xf32> {
  %x = "tf.Const"() {value = dense<[[[[1.0], [2.0], [-3.0]], [[4.0], [-1.0], [3.0]]]]> : tensor<1x2x3x1xf32>} : () -> tensor<1x2x3x1xf32>
  %r = "tf.PartitionedCall"(%x) {f = @max_pool} : (tensor<1x2x3x1xf32>) -> tensor<1x1x2x1xf32>
  tfrt.return %r : tensor<1x1x2x1xf32>
}

// Through a transpose and a reshape; the rows of transposed weights are the channels.
// CHECK-LABEL: func.func @matmul
// CHECK: dense<{{\[\[}}1.000000e+01, 2.000000e+01], [6.000000e+01, 8.000000e+01]]> : tensor<2x2xf32>
// CHECK-NOT: tf.Mul
// CHECK: return
func.func @matmul(%x: tensor<3x2xf32>) -> tensor<2x3x1xf32> {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Const"() {value = dense<[2, 3, 1]> : tensor<3xi32>} : () -> tensor<3xi32>
  %c = "tf.Const"() {value = dense<[[[10.0]], [[20.0]]]> : tensor<2x1x1xf32>} : () -> tensor<2x1x1xf32>
  %y = "tf.MatMul"(%x, %w) {transpose_b = true} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %t = "tf.Transpose"(%y, %order) : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %r = "tf.Reshape"(%t, %shape) : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3x1xf32>
  %m = "tf.Mul"(%r, %c) : (tensor<2x3x1xf32>, tensor<2x1x1xf32>) -> tensor<2x3x1xf32>
  tfrt.return %m : tensor<2x3x1xf32>
}

// A factor that varies along another axis stays, and so does one of a product with another use.
// CHECK-LABEL: func.func @stays
// CHECK: tf.MatMul
// CHECK: tf.Mul
// CHECK: tf.MatMul
// CHECK: tf.Mul
// CHECK: return
func.func @stays(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %v = "tf.Const"() {value = dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %rows = "tf.Const"() {value = dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>} : () -> tensor<3x1xf32>
  %c = "tf.Const"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %y = "tf.MatMul"(%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %a = "tf.Mul"(%y, %rows) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  %z = "tf.MatMul"(%x, %v) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %b = "tf.Mul"(%z, %c) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  tfrt.return %a, %b, %z : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// A transposed convolution of stride 1 is a convolution; with a stride it stays.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<{{\[\[\[\[}}3.000000e+00, 4.000000e+00]], {{\[\[}}1.000000e+00, 2.000000e+00]]]]> : tensor<1x2x1x2xf32>}>
// CHECK: "tf.Conv2D"({{.*}}, %[[W]]) <{explicit_paddings = [0, 0, 0, 0, 1, 1, 0, 0], padding = "EXPLICIT", strides = [1, 1, 1, 1]}>
// CHECK: "tf.Conv2DBackpropInput"
// CHECK: return
func.func @transposed(%dy: tensor<1x1x2x1xf32>) -> (tensor<1x1x3x2xf32>, tensor<1x1x4x2xf32>) {
  %w = "tf.Const"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>} : () -> tensor<1x2x2x1xf32>
  %three = "tf.Const"() {value = dense<[1, 1, 3, 2]> : tensor<4xi32>} : () -> tensor<4xi32>
  %four = "tf.Const"() {value = dense<[1, 1, 4, 2]> : tensor<4xi32>} : () -> tensor<4xi32>
  %x = "tf.Conv2DBackpropInput"(%three, %w, %dy) {strides = [1, 1, 1, 1], padding = "VALID"} : (tensor<4xi32>, tensor<1x2x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x3x2xf32>
  %y = "tf.Conv2DBackpropInput"(%four, %w, %dy) {strides = [1, 1, 2, 1], padding = "VALID"} : (tensor<4xi32>, tensor<1x2x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x4x2xf32>
  tfrt.return %x, %y : tensor<1x1x3x2xf32>, tensor<1x1x4x2xf32>
}

// EXEC: 'transposed_of_one' returned
// EXEC-NEXT: array({{\[\[\[\[ *}}10., {{ *}}20.],
// EXEC-NEXT: [{{ *}}130., {{ *}}240.],
// EXEC-NEXT: [{{ *}}300., {{ *}}400.{{\]\]\]\]}}
func.func @transposed_of_one() -> tensor<1x1x3x2xf32> {
  %dy = "tf.Const"() {value = dense<[[[[10.0], [100.0]]]]> : tensor<1x1x2x1xf32>} : () -> tensor<1x1x2x1xf32>
  %x, %y = "tf.PartitionedCall"(%dy) {f = @transposed} : (tensor<1x1x2x1xf32>) -> (tensor<1x1x3x2xf32>, tensor<1x1x4x2xf32>)
  tfrt.return %x : tensor<1x1x3x2xf32>
}

// Products of more axes: a batch with a matrix, one written with transposed weights, a projection to heads.
// CHECK-LABEL: func.func @of_more_axes
// CHECK-NOT: tf.Mul
// CHECK-DAG: %[[V:.*]] = "tf.Const"() <{value = dense<{{\[\[}}2.000000e+00, 6.000000e+00], [6.000000e+00, 1.200000e+01]]> : tensor<2x2xf32>}>
// CHECK-DAG: %[[T:.*]] = "tf.Const"() <{value = dense<{{\[\[}}2.000000e+00, 4.000000e+00], [9.000000e+00, 1.200000e+01]]> : tensor<2x2xf32>}>
// CHECK-DAG: %[[H:.*]] = "tf.Const"() <{value = dense<{{\[\[\[}}5.000000e-01], [1.000000e+00]], {{\[\[}}1.500000e+00], [2.000000e+00]]]> : tensor<2x2x1xf32>}>
// CHECK-DAG: %[[K:.*]] = "tf.Const"() <{value = dense<{{\[\[\[}}2.000000e+00], [6.000000e+00]], {{\[\[}}6.000000e+00], [1.200000e+01]]]> : tensor<2x2x1xf32>}>
// CHECK-DAG: "tf.BatchMatMulV2"(%arg0, %[[V]])
// CHECK-DAG: "tf.BatchMatMulV2"(%arg0, %[[T]]) <{adj_y = true}>
// CHECK-DAG: "tf.Einsum"(%arg0, %[[H]])
// CHECK-DAG: "tf.Einsum"(%arg0, %[[K]])
// CHECK-NOT: tf.Mul
// CHECK: return
func.func @of_more_axes(%x: tensor<1x3x2xf32>) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>) {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %heads = "tf.Const"() {value = dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>} : () -> tensor<2x2x1xf32>
  %c = "tf.Const"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %rows = "tf.Const"() {value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %bias = "tf.Const"() {value = dense<[[1.0], [2.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %v = "tf.BatchMatMulV2"(%x, %w) : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %vc = "tf.Mul"(%v, %c) : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  %t = "tf.BatchMatMulV2"(%x, %w) {adj_y = true} : (tensor<1x3x2xf32>, tensor<2x2xf32>) -> tensor<1x3x2xf32>
  %tc = "tf.Mul"(%t, %c) : (tensor<1x3x2xf32>, tensor<2xf32>) -> tensor<1x3x2xf32>
  %h = "tf.Einsum"(%x, %heads) {N = 2 : i64, equation = "abc,cde->abde"} : (tensor<1x3x2xf32>, tensor<2x2x1xf32>) -> tensor<1x3x2x1xf32>
  %hb = "tf.AddV2"(%h, %bias) : (tensor<1x3x2x1xf32>, tensor<2x1xf32>) -> tensor<1x3x2x1xf32>
  %hc = "tf.Mul"(%hb, %half) : (tensor<1x3x2x1xf32>, tensor<f32>) -> tensor<1x3x2x1xf32>
  %k = "tf.Einsum"(%x, %heads) {N = 2 : i64, equation = "abc,cde->abde"} : (tensor<1x3x2xf32>, tensor<2x2x1xf32>) -> tensor<1x3x2x1xf32>
  %kc = "tf.Mul"(%k, %rows) : (tensor<1x3x2x1xf32>, tensor<2x1xf32>) -> tensor<1x3x2x1xf32>
  tfrt.return %vc, %tc, %hc, %kc : tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>
}

// EXEC: 'more_axes_of_one' returned
// EXEC-NEXT: array({{\[\[\[}}14., 30.],
// EXEC: array({{\[\[\[}}10., 33.],
// EXEC: array({{\[\[\[\[}}4.],
// EXEC: array({{\[\[\[\[}}14.],
func.func @more_axes_of_one() -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>) {
  %x = "tf.Const"() {value = dense<[[[1.0, 2.0], [1.0, 0.0], [0.0, 1.0]]]> : tensor<1x3x2xf32>} : () -> tensor<1x3x2xf32>
  %a, %b, %c, %d = "tf.PartitionedCall"(%x) {f = @of_more_axes} : (tensor<1x3x2xf32>) -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>)
  tfrt.return %a, %b, %c, %d : tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2x1xf32>, tensor<1x3x2x1xf32>
}
