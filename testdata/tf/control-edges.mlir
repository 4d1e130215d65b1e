// Control edges from operators that neither fail nor have effects go; others stay.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-prune-control-edges)" | FileCheck %s

// Keras freezes its models like this.
// CHECK-LABEL: func.func @frozen
// CHECK: %[[C:.*]] = "tf.Const"
// CHECK-NEXT: %[[W:.*]] = "tf.Identity"(%[[C]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: "tf.Add"(%[[W]], %[[W]])
// CHECK-NEXT: %[[Y:.*]] = "tf.MatMul"(%arg0, %[[W]])
// CHECK-NEXT: %[[Z:.*]] = "tf.Identity"(%[[Y]]) : (tensor<1x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT: tfrt.return %[[Z]]
func.func @frozen(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %c = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %w:2 = "tf.Identity"(%c) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, !tfrt.chain)
  %twice:2 = "tf.Add"(%w#0, %w#0) : (tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, !tfrt.chain)
  %all = tfrt.merge.chains %w#1, %twice#1 : !tfrt.chain, !tfrt.chain
  %y = "tf.MatMul"(%x, %w#0) : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %z = "tf.Identity"(%y, %all) : (tensor<1x2xf32>, !tfrt.chain) -> tensor<1x2xf32>
  tfrt.return %z : tensor<1x2xf32>
}

// An argument may be an error, an operator may fail for its operands, a read has its place.
// CHECK-LABEL: func.func @stays
// CHECK: %[[ARG:.*]]:2 = "tf.Identity"(%arg0)
// CHECK: %[[DIV:.*]]:2 = "tf.FloorDiv"
// CHECK: %[[ALL:.*]] = tfrt.merge.chains %[[ARG]]#1, %[[DIV]]#1
// CHECK: "tf.Identity"(%arg0, %[[ALL]])
func.func @stays(%x: tensor<2xi32>) -> tensor<2xi32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %sure:2 = "tf.Identity"(%zero) : (tensor<2xi32>) -> (tensor<2xi32>, !tfrt.chain)
  %arg:2 = "tf.Identity"(%x) : (tensor<2xi32>) -> (tensor<2xi32>, !tfrt.chain)
  %div:2 = "tf.FloorDiv"(%zero, %sure#0) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, !tfrt.chain)
  %all = tfrt.merge.chains %sure#1, %arg#1, %div#1 : !tfrt.chain, !tfrt.chain, !tfrt.chain
  %y = "tf.Identity"(%x, %all) : (tensor<2xi32>, !tfrt.chain) -> tensor<2xi32>
  tfrt.return %y : tensor<2xi32>
}

// A chain that is a result stays one.
// CHECK-LABEL: func.func @returned
// CHECK: %[[W:.*]]:2 = "tf.Identity"
// CHECK: tfrt.return %[[W]]#1
func.func @returned() -> !tfrt.chain {
  %c = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %w:2 = "tf.Identity"(%c) : (tensor<f32>) -> (tensor<f32>, !tfrt.chain)
  tfrt.return %w#1 : !tfrt.chain
}

// A constant that only waits for what its readers depend on anyway: directly, or on the way of a predicate.
// CHECK-LABEL: func.func private @constants
// CHECK: %[[ONE:.*]] = "tf.Const"() <{value = dense<1>
// CHECK: "tf.AddV2"(%{{.*}}, %[[ONE]])
// CHECK: %[[TWO:.*]] = "tf.Const"() <{value = dense<2>
// CHECK: "tf.Sub"(%{{.*}}, %[[TWO]])
func.func private @constants(%x: tensor<i32>, %p: tensor<i1>) -> (tensor<i32>, tensor<i32>) {
  %i:2 = "tf.Identity"(%x) : (tensor<i32>) -> (tensor<i32>, !tfrt.chain)
  %one = "tf.Const"(%i#1) {value = dense<1> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
  %y = "tf.AddV2"(%i#0, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %pivot:2 = "tf._Switch"(%p, %p) {is_loop_cond = false} : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
  %way:2 = "tf.Identity"(%pivot#0) : (tensor<i1>) -> (tensor<i1>, !tfrt.chain)
  %two = "tf.Const"(%way#1) {value = dense<2> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
  %data:2 = "tf._Switch"(%y, %p) {is_loop_cond = false} : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
  %z = "tf.Sub"(%data#0, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %y, %z : tensor<i32>, tensor<i32>
}

// Readers on the other way, and a reader that depends on nothing else, keep the edge.
// CHECK-LABEL: func.func private @needed
// CHECK: "tf.Const"(%{{.*}}) <{value = dense<2>
// CHECK: "tf.Const"(%{{.*}}) <{value = dense<3>
func.func private @needed(%x: tensor<i32>, %p: tensor<i1>) -> (tensor<i32>, tensor<i32>) {
  %pivot:2 = "tf._Switch"(%p, %p) {is_loop_cond = false} : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
  %way:2 = "tf.Identity"(%pivot#0) : (tensor<i1>) -> (tensor<i1>, !tfrt.chain)
  %two = "tf.Const"(%way#1) {value = dense<2> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
  %data:2 = "tf._Switch"(%x, %p) {is_loop_cond = false} : (tensor<i32>, tensor<i1>) -> (tensor<i32>, tensor<i32>)
  %z = "tf.Sub"(%data#1, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %three = "tf.Const"(%way#1) {value = dense<3> : tensor<i32>} : (!tfrt.chain) -> tensor<i32>
  %n = "tf.Neg"(%three) : (tensor<i32>) -> tensor<i32>
  tfrt.return %z, %n : tensor<i32>, tensor<i32>
}
