// Calls of the op graph are inlined by the general pass; a constant chooses a branch, which is a call then.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-constant-fold)" | FileCheck %s --check-prefix=CHOSEN
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-constant-fold,inline{dialect=tf})" | FileCheck %s
// RUN: ir-translate -O0 %s -o %t.0 && bef-exec %t.0 | FileCheck %s --check-prefix=GIVES
// RUN: ir-translate -O2 %s -o %t.2 && bef-exec %t.2 | FileCheck %s --check-prefix=GIVES

// GIVES-LABEL: 'main' returned
// GIVES-SAME: array([-1., -2.]
// CHOSEN-LABEL: func.func @main
// CHOSEN: "tf.StatefulPartitionedCall"(%{{.*}}) <{f = @negate}>
// CHECK-LABEL: func.func @main
func.func @main() -> tensor<2xf32> {
  %yes = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %x = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  // CHECK-NOT: tf.If
  // CHECK: "tf.Neg"(%{{.*}}) : (tensor<2xf32>) -> tensor<?xf32>
  %0 = "tf.If"(%yes, %x) {then_branch = @negate, else_branch = @same} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %0 : tensor<2xf32>
}

// A control edge orders all of the callee, and a function that calls itself is not inlined.
// CHECK-LABEL: func.func @refused
func.func @refused(%x: tensor<2xf32>, %after: !tfrt.chain) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: "tf.PartitionedCall"(%{{.*}}, %{{.*}}) <{f = @same}>
  %0 = "tf.PartitionedCall"(%x, %after) {f = @same} : (tensor<2xf32>, !tfrt.chain) -> tensor<2xf32>
  // CHECK: "tf.PartitionedCall"(%{{.*}}) <{f = @forever}>
  %1 = "tf.PartitionedCall"(%x) {f = @forever} : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// The calls of other dialects stay.
// CHECK-LABEL: func.func @kernels
func.func @kernels(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: tfrt.call @same
  %0 = tfrt.call @same(%x) : (tensor<?xf32>) -> tensor<?xf32>
  tfrt.return %0 : tensor<?xf32>
}

// It has no caller any more.
// CHECK-NOT: @negate
func.func private @negate(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "tf.Neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  tfrt.return %0 : tensor<?xf32>
}

func.func private @same(%x: tensor<?xf32>) -> tensor<?xf32> {
  tfrt.return %x : tensor<?xf32>
}

func.func private @forever(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.PartitionedCall"(%x) {f = @forever} : (tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %0 : tensor<2xf32>
}
