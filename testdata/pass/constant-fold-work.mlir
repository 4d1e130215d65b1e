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

// Sequences, boxes and beams cost more than in proportion to their elements.
// CHECK: tf.EditDistance
// CHECK: tf.NonMaxSuppressionV3
// CHECK: tf.CTCBeamSearchDecoder
// REMARK-DAG: constant-fold-work.mlir:[[# @LINE + 5]]:{{[0-9]+}}: remark[E0512]
func.func @distance() -> tensor<*xf32> {
  %at = "tf.Const"() {value = dense<0> : tensor<200000x1xi64>} : () -> tensor<200000x1xi64>
  %v = "tf.Const"() {value = dense<1> : tensor<200000xi64>} : () -> tensor<200000xi64>
  %n = "tf.Const"() {value = dense<200000> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "tf.EditDistance"(%at, %v, %n, %at, %v, %n) : (tensor<200000x1xi64>, tensor<200000xi64>, tensor<1xi64>, tensor<200000x1xi64>, tensor<200000xi64>, tensor<1xi64>) -> tensor<*xf32>
  tfrt.return %0 : tensor<*xf32>
}

// REMARK-DAG: constant-fold-work.mlir:[[# @LINE + 6]]:{{[0-9]+}}: remark[E0512]
func.func @boxes() -> tensor<*xi32> {
  %boxes = "tf.Const"() {value = dense<1.5> : tensor<2000000x4xf32>} : () -> tensor<2000000x4xf32>
  %scores = "tf.Const"() {value = dense<1.5> : tensor<2000000xf32>} : () -> tensor<2000000xf32>
  %most = "tf.Const"() {value = dense<2000000> : tensor<i32>} : () -> tensor<i32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.NonMaxSuppressionV3"(%boxes, %scores, %most, %half, %half) : (tensor<2000000x4xf32>, tensor<2000000xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<*xi32>
  tfrt.return %0 : tensor<*xi32>
}

// REMARK-DAG: constant-fold-work.mlir:[[# @LINE + 4]]:{{[0-9]+}}: remark[E0512]
func.func @beams() -> tensor<*xf32> {
  %x = "tf.Const"() {value = dense<1.5> : tensor<20000x10x5xf32>} : () -> tensor<20000x10x5xf32>
  %n = "tf.Const"() {value = dense<20000> : tensor<10xi32>} : () -> tensor<10xi32>
  %0:4 = "tf.CTCBeamSearchDecoder"(%x, %n) {beam_width = 100000 : i64, top_paths = 1 : i64} : (tensor<20000x10x5xf32>, tensor<10xi32>) -> (tensor<*xi64>, tensor<*xi64>, tensor<*xi64>, tensor<*xf32>)
  tfrt.return %0#3 : tensor<*xf32>
}
