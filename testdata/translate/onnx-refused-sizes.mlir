// Sizes of types that no memory has: a constant of more bytes than an ONNX file holds, and bounds for more axes
// than a tensor has.

// RUN: not ir-translate %s -O0 --to onnx -o %t.onnx 2>&1 | FileCheck %s
// CHECK: error[E1102]: operations that ONNX does not have: tf.Const: constants of more bytes than an ONNX file holds (2), tf.StridedSlice: steps of unknown number (1)

func.func @main(%x: tensor<8xf32>, %b: tensor<1000000000000xi64>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<100000000x!tf_type.string>, tensor<1000000000xf32>) {
  %0 = "tf.StridedSlice"(%x, %b, %b, %b) : (tensor<8xf32>, tensor<1000000000000xi64>, tensor<1000000000000xi64>, tensor<1000000000000xi64>) -> tensor<?xf32>
  %1 = "tf.Slice"(%x, %b, %b) : (tensor<8xf32>, tensor<1000000000000xi64>, tensor<1000000000000xi64>) -> tensor<?xf32>
  %2 = "tf.Const"() {value = dense<"a"> : tensor<100000000x!tf_type.string>} : () -> tensor<100000000x!tf_type.string>
  %3 = "tf.Const"() {value = dense<1.0> : tensor<1000000000xf32>} : () -> tensor<1000000000xf32>
  tfrt.return %0, %1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<100000000x!tf_type.string>, tensor<1000000000xf32>
}
