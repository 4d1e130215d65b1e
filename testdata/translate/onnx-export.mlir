// What an export as ONNX makes of functions: one that is called once, and a small one, become part of the graph;
// others become functions of the model. Branches and loops have graphs.

// RUN: ir-translate %s -O0 --to onnx -o %t.onnx
// RUN: ir-translate %t.onnx --inspect | FileCheck %s --check-prefix=MODEL
// RUN: bef-exec %t.onnx --input x=f32[2]:1,2 --input n=i32:3 | FileCheck %s
// RUN: bef-exec %t.onnx --input x=f32[2]:1,-2 --input n=i32:0 | FileCheck %s --check-prefix=NONE

// MODEL: functions: 1
// MODEL: If {{ *}}1
// MODEL: Loop {{ *}}1
// MODEL: befrost.calls {{ *}}2

// CHECK: 'main' returned array([ 8., 16.], shape=(2,), dtype=float32),array([-1., -2.], shape=(2,), dtype=float32)
// NONE: 'main' returned array([ 1., -2.], shape=(2,), dtype=float32),array([ 1., -2.], shape=(2,), dtype=float32)

func.func @main(%x: tensor<2xf32> {bef.name = "x"}, %n: tensor<i32> {bef.name = "n"})
    -> (tensor<2xf32> {bef.name = "power"}, tensor<2xf32> {bef.name = "sign"}) {
  %0:2 = "tf.StatelessWhile"(%n, %x) {cond = @go, body = @twice} : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  %c0 = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %more = "tf.Greater"(%n, %c0) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = "tf.StatelessIf"(%more, %x) {then_branch = @minus, else_branch = @same} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0#1, %1 : tensor<2xf32>, tensor<2xf32>
}

func.func private @go(%n: tensor<i32>, %x: tensor<2xf32>) -> tensor<i1> {
  %c0 = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %more = "tf.Greater"(%n, %c0) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  func.return %more : tensor<i1>
}

func.func private @twice(%n: tensor<i32>, %x: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
  %c1 = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %less = "tf.Sub"(%n, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %half = "tf.PartitionedCall"(%x) {f = @half} : (tensor<2xf32>) -> tensor<2xf32>
  %whole = "tf.PartitionedCall"(%half) {f = @calls} : (tensor<2xf32>) -> tensor<2xf32>
  %more = "tf.PartitionedCall"(%whole) {f = @calls} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %less, %more : tensor<i32>, tensor<2xf32>
}

// Called twice, and with a call: a function of the model.
func.func private @calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  %twice = "tf.AddV2"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %same = "tf.PartitionedCall"(%twice) {f = @same} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %same : tensor<2xf32>
}

func.func private @half(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "tf.Const"() {value = dense<5.000000e-01> : tensor<f32>} : () -> tensor<f32>
  %half = "tf.Mul"(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return %half : tensor<2xf32>
}

func.func private @minus(%x: tensor<2xf32>) -> tensor<2xf32> {
  %minus = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %minus : tensor<2xf32>
}

func.func private @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
