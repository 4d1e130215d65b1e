// The elements of a list may have different shapes: that of one element is not that of the others.

// RUN: bef-exec %s -O0 --input f32[3]:1,2,3 | FileCheck %s
// RUN: bef-exec %s --input f32[3]:1,2,3 | FileCheck %s

// CHECK: returned array([5{{.*}}, 1{{.*}}, 1{{.*}}], shape=(3,), dtype=float32)
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %sizes = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %any = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %parts:2 = "tf.SplitV"(%x, %sizes, %axis) {num_split = 2 : i64}
      : (tensor<3xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<1xf32>, tensor<2xf32>)
  %l0 = "tf.EmptyTensorList"(%any, %any) {element_dtype = f32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant>
  %l1 = "tf.TensorListPushBack"(%l0, %parts#0) : (tensor<!tf_type.variant>, tensor<1xf32>) -> tensor<!tf_type.variant>
  %l2 = "tf.TensorListPushBack"(%l1, %parts#1) : (tensor<!tf_type.variant>, tensor<2xf32>) -> tensor<!tf_type.variant>
  %a = "tf.TensorListGetItem"(%l2, %axis, %any) : (tensor<!tf_type.variant>, tensor<i32>, tensor<i32>) -> tensor<?xf32>
  %b = "tf.TensorListGetItem"(%l2, %one, %any) : (tensor<!tf_type.variant>, tensor<i32>, tensor<i32>) -> tensor<?xf32>
  %y = "tf.Mul"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %dx = "tf._Gradients"(%y, %x) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  tfrt.return %dx : tensor<3xf32>
}
