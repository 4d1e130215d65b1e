// The gradient of dequantized numbers is that of their scales, one for all numbers or one for each index of an axis:
// the integers less their zero point times what is asked of each number, summed. Integers have none.
// RUN: bef-exec %s -O0 --functions one --input f32:0.5 | FileCheck %s --check-prefix=ONE
// RUN: bef-exec %s -O2 --functions one --input f32:0.5 | FileCheck %s --check-prefix=ONE
// RUN: bef-exec %s -O0 --functions columns --input f32[2]:0.5,2 | FileCheck %s --check-prefix=COLUMNS
// RUN: bef-exec %s -O2 --functions columns --input f32[2]:0.5,2 | FileCheck %s --check-prefix=COLUMNS

// 1 * (5 - 2) + 2 * (1 - 2) + 3 * (-4 - 2) + 4 * (2 - 2)
// ONE: returned array(-17{{.*}}, shape=(), dtype=float32)
func.func @one(%s: tensor<f32>) -> tensor<f32> {
  %x = "tf.Const"() {value = dense<[[5, 1], [-4, 2]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %z = "tf.Const"() {value = dense<2> : tensor<i8>} : () -> tensor<i8>
  %d = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "tf._DequantizeLinear"(%x, %s, %z) : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
  %y = "tf.Mul"(%0, %d) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = "tf._Gradients"(%y, %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  tfrt.return %g : tensor<f32>
}

// 1 * (5 - 2) + 3 * (-4 - 2), 2 * (1 - 0) + 4 * (2 - 0)
// COLUMNS: returned array([-15{{.*}}, 10{{.*}}], shape=(2,), dtype=float32)
func.func @columns(%s: tensor<2xf32>) -> tensor<2xf32> {
  %x = "tf.Const"() {value = dense<[[5, 1], [-4, 2]]> : tensor<2x2xi8>} : () -> tensor<2x2xi8>
  %z = "tf.Const"() {value = dense<[2, 0]> : tensor<2xi8>} : () -> tensor<2xi8>
  %d = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "tf._DequantizeLinear"(%x, %s, %z) {axis = -1 : i64} : (tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xf32>
  %y = "tf.Mul"(%0, %d) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = "tf._Gradients"(%y, %s) <{operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tfrt.return %g : tensor<2xf32>
}
