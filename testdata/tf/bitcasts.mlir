// Bitcasts that undo each other go, also with a transpose between them.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-arithmetic,tf-constant-fold)" | FileCheck %s
// RUN: bef-exec %s -O0 --work-queue s --functions run > %t.0
// RUN: bef-exec %s -O2 --work-queue s --functions run > %t.2
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.0
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.2

// CHECK-LABEL: func.func @there_and_back
func.func @there_and_back(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  // CHECK-NOT: tf.Bitcast
  // CHECK: %[[T:.*]] = "tf.Transpose"(%arg0, %{{.*}}) : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  // CHECK-NOT: tf.Bitcast
  // CHECK: return %[[T]], %arg0
  %bits = "tf.Bitcast"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %t = "tf.Transpose"(%bits, %order) : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  %y = "tf.Bitcast"(%t) : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %bytes = "tf.Bitcast"(%x) : (tensor<2x3xf32>) -> tensor<2x3x4xui8>
  %z = "tf.Bitcast"(%bytes) : (tensor<2x3x4xui8>) -> tensor<2x3xf32>
  tfrt.return %y, %z : tensor<3x2xf32>, tensor<2x3xf32>
}

// Two bitcasts are one if that has the same shape.
// CHECK-LABEL: func.func @one_of_two
func.func @one_of_two(%x: tensor<2xf64>) -> (tensor<2x2xf32>, tensor<2x2x2xi16>) {
  // CHECK: %[[HALVES:.*]] = "tf.Bitcast"(%arg0) : (tensor<2xf64>) -> tensor<2x2xf32>
  // CHECK: %[[A:.*]] = "tf.Bitcast"(%arg0) : (tensor<2xf64>) -> tensor<2x2xi32>
  // CHECK: %[[B:.*]] = "tf.Bitcast"(%[[A]]) : (tensor<2x2xi32>) -> tensor<2x2x2xi16>
  // CHECK: return %[[HALVES]], %[[B]]
  %ints = "tf.Bitcast"(%x) : (tensor<2xf64>) -> tensor<2xi64>
  %y = "tf.Bitcast"(%ints) : (tensor<2xi64>) -> tensor<2x2xf32>
  %a = "tf.Bitcast"(%x) : (tensor<2xf64>) -> tensor<2x2xi32>
  %b = "tf.Bitcast"(%a) : (tensor<2x2xi32>) -> tensor<2x2x2xi16>
  tfrt.return %y, %b : tensor<2x2xf32>, tensor<2x2x2xi16>
}

// EXEC: array({{\[\[}}1., 4.],
// EXEC: array({{\[\[}}1., 2., 3.],
func.func @run() -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %x = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y, %z = "tf.PartitionedCall"(%x) {f = @there_and_back} : (tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>)
  tfrt.return %y, %z : tensor<3x2xf32>, tensor<2x3xf32>
}
