// RUN: ir-translate %s --to mlir -o %t.mlir 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err

// Folding has a budget: what costs more is left to the run time, and a remark says so. The window of the
// normalization is as wide as the image has channels, of the convolution nearly as large as the image.

// CHECK: tf.LRN
// CHECK: Conv2D
// REMARK-DAG: constant-fold-work.mlir:[[# @LINE + 3]]:{{[0-9]+}}: remark[E0512]: not folded: evaluating it takes more work than constant folding may spend
func.func @lrn() -> tensor<1x1x1x4000000xf32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<1x1x1x4000000xf32>} : () -> tensor<1x1x1x4000000xf32>
  %0 = "tf.LRN"(%a) {depth_radius = 4000000 : i64} : (tensor<1x1x1x4000000xf32>) -> tensor<1x1x1x4000000xf32>
  tfrt.return %0 : tensor<1x1x1x4000000xf32>
}

// REMARK-DAG: constant-fold-work.mlir:[[# @LINE + 4]]:{{[0-9]+}}: remark[E0512]
func.func @conv() -> tensor<1x801x801x1xf32> {
  %a = "tf.Const"() {value = dense<1.5> : tensor<1x2800x2800x1xf32>} : () -> tensor<1x2800x2800x1xf32>
  %b = "tf.Const"() {value = dense<1.5> : tensor<2000x2000x1x1xf32>} : () -> tensor<2000x2000x1x1xf32>
  %0 = "tf.Conv2D"(%a, %b) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC"} : (tensor<1x2800x2800x1xf32>, tensor<2000x2000x1x1xf32>) -> tensor<1x801x801x1xf32>
  tfrt.return %0 : tensor<1x801x801x1xf32>
}
