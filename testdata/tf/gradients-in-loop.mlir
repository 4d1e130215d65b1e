// Steps of gradient descent in a loop, and the gradient of their outcome.
// RUN: bef-exec %s -O0 --functions main --input n=i32:2 --input x=f32:0.5 | FileCheck %s
// RUN: bef-exec %s -O2 --functions main --input n=i32:2 --input x=f32:0.5 | FileCheck %s

// CHECK: 'main' returned array(-1.3071411, {{.*}}),array(0.93399924, {{.*}})
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = "tf.WhileRegion"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %zero = "tf.Const"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %more = "tf.Greater"(%i, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "tf.Yield"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %one = "tf.Const"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = "tf.Sub"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %s = "tf.Sin"(%v) : (tensor<f32>) -> tensor<f32>
    %d = "tf._Gradients"(%s, %v) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %u = "tf.Sub"(%v, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "tf.Yield"(%j, %u) : (tensor<i32>, tensor<f32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %d = "tf._Gradients"(%r#1, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %r#1, %d : tensor<f32>, tensor<f32>
}
