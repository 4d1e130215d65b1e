// Operators for ONNX that TensorFlow does not have, through the compiler: their attributes reach the functions, sequences are values.
//
// RUN: bef-exec %s | FileCheck %s
// RUN: bef-exec -O2 %s --work-queue mstd:2 | FileCheck %s

// CHECK-LABEL: --- Running 'pool':
// CHECK: array({{\[\[\[}}1.5, 2.5, 3.5]]], shape=(1, 1, 3), dtype=float32)
func.func @pool() -> tensor<1x1x3xf32> {
  %x = "tf.Const"() {value = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>} : () -> tensor<1x1x4xf32>
  %y = "tf._Pool"(%x) {kernel_shape = [2], mode = "average"} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
  tfrt.return %y : tensor<1x1x3xf32>
}

// CHECK-LABEL: --- Running 'trees':
// CHECK: array({{\[\[}}1.5],
// CHECK-NEXT: [2.5]], shape=(2, 1), dtype=float32)
func.func @trees() -> tensor<2x1xf32> {
  %x = "tf.Const"() {value = dense<[[0.0], [3.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %y = "tf._TreeEnsemble"(%x) {
    nodes_falsenodeids = [2, 0, 0], nodes_featureids = [0, 0, 0], nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"],
    nodes_nodeids = [0, 1, 2], nodes_treeids = [0, 0, 0], nodes_truenodeids = [1, 0, 0], nodes_values = [1.0, 0.0, 0.0],
    target_ids = [0, 0], target_nodeids = [1, 2], target_treeids = [0, 0], target_weights = [1.5, 2.5]
  } : (tensor<2x1xf32>) -> tensor<2x1xf32>
  tfrt.return %y : tensor<2x1xf32>
}

// CHECK-LABEL: --- Running 'product':
// CHECK: array({{\[\[}}-1]], shape=(1, 1), dtype=int32)
func.func @product() -> tensor<1x1xi32> {
  %a = "tf.Const"() {value = dense<[[3, -2]]> : tensor<1x2xi8>} : () -> tensor<1x2xi8>
  %b = "tf.Const"() {value = dense<[[1], [4]]> : tensor<2x1xi8>} : () -> tensor<2x1xi8>
  %za = "tf.Const"() {value = dense<1> : tensor<i8>} : () -> tensor<i8>
  %zb = "tf.Const"() {value = dense<2> : tensor<i8>} : () -> tensor<i8>
  // (3 - 1)(1 - 2) + (-2 - 1)(4 - 2) = -8, and 7 to see that it is added to.
  %y = "tf._QuantizedMatMul"(%a, %b, %za, %zb) : (tensor<1x2xi8>, tensor<2x1xi8>, tensor<i8>, tensor<i8>) -> tensor<1x1xi32>
  %seven = "tf.Const"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %z = "tf.AddV2"(%y, %seven) : (tensor<1x1xi32>, tensor<i32>) -> tensor<1x1xi32>
  tfrt.return %z : tensor<1x1xi32>
}

// CHECK-LABEL: --- Running 'sequence':
// CHECK: array([2., 1.]
func.func @sequence() -> tensor<2xf32> {
  %shape = "tf.Const"() {value = dense<> : tensor<0xi32>} : () -> tensor<0xi32>
  %max = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %first = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %last = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.EmptyTensorList"(%shape, %max) {element_dtype = f32} : (tensor<0xi32>, tensor<i32>) -> tensor<!tf_type.variant>
  %1 = "tf._SequenceInsert"(%0, %one, %first) : (tensor<!tf_type.variant>, tensor<f32>, tensor<i64>) -> tensor<!tf_type.variant>
  %2 = "tf._SequenceInsert"(%1, %two, %first) : (tensor<!tf_type.variant>, tensor<f32>, tensor<i64>) -> tensor<!tf_type.variant>
  %3 = "tf._SequenceInsert"(%2, %two, %last) : (tensor<!tf_type.variant>, tensor<f32>, tensor<i64>) -> tensor<!tf_type.variant>
  %4 = "tf._SequenceErase"(%3, %first) : (tensor<!tf_type.variant>, tensor<i64>) -> tensor<!tf_type.variant>
  %5 = "tf.TensorListStack"(%4, %shape) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<0xi32>) -> tensor<2xf32>
  tfrt.return %5 : tensor<2xf32>
}
