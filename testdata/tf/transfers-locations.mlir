// The location of a transfer is that of the value, else that of the first reader, else that of the call of the
// function: an argument that a function returns as it is has no other one.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(tf-place{devices=CPU:1,SIM:1},tf-transfers{devices=CPU:1,SIM:1})' --print-local-scope --print-debuginfo | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-LABEL: func.func private @read(
// CHECK: dev.transfer {{.*}}device:SIM:0" : tensor<f32> loc("neg")
// CHECK-LABEL: func.func private @returned(
// CHECK: dev.transfer {{.*}}device:SIM:0" : tensor<f32> loc("if")
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %y = "tf.If"(%p, %x) {then_branch = @read, else_branch = @returned} : (tensor<i1>, tensor<f32>) -> tensor<f32> loc("if")
  %z = "tf.Neg"(%y) {device = "/device:SIM:0"} : (tensor<f32>) -> tensor<f32> loc("last")
  func.return %z : tensor<f32> loc("end")
}
func.func private @read(%x: tensor<f32>) -> tensor<f32> {
  %y = "tf.Neg"(%x) {device = "/device:SIM:0"} : (tensor<f32>) -> tensor<f32> loc("neg")
  func.return %y : tensor<f32> loc(unknown)
}
func.func private @returned(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32> loc(unknown)
}
