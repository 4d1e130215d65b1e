// x to the n by recursion: the functions of a pair call each other, with one tape per call.
// RUN: bef-exec %s -O0 --functions main --input n=i32:5 --input x=f32:2 | FileCheck %s
// RUN: bef-exec %s -O2 --functions main --input n=i32:5 --input x=f32:2 | FileCheck %s

// CHECK: 'main' returned array(32., {{.*}}),array(80., {{.*}}),array(160., {{.*}})
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %y = "tf.StatefulPartitionedCall"(%n, %x) <{f = @power}> : (tensor<i32>, tensor<f32>) -> tensor<f32>
  %d = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %e = "tf._Gradients"(%d, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>
}
func.func private @power(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %p = "tf.Greater"(%n, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "tf.If"(%p, %n, %x) <{then_branch = @more, else_branch = @one}> : (tensor<i1>, tensor<i32>, tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}
func.func private @more(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %m = "tf.Sub"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = "tf.StatefulPartitionedCall"(%m, %x) <{f = @power}> : (tensor<i32>, tensor<f32>) -> tensor<f32>
  %y = "tf.Mul"(%r, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}
func.func private @one(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %one = "tf.Const"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  func.return %one : tensor<f32>
}
