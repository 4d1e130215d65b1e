// Limits that exporters write as minima and maxima are activations, which products apply; a `PadV2` of zeros
// goes into the convolution behind the transposes of its layout.
//
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-remap)" | FileCheck %s
// RUN: ir-opt %s --pass-pipeline "builtin.module(tf-arithmetic,tf-layout,tf-constant-fold,tf-remap)" | FileCheck %s --check-prefix=PAD
// RUN: bef-exec %s -O0 --work-queue s > %t.0
// RUN: bef-exec %s -O2 --work-queue s > %t.2
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.0
// RUN: FileCheck %s --check-prefix=EXEC --input-file=%t.2

// CHECK-LABEL: func.func private @six
// CHECK: "tf.Relu6"(%arg0)
// CHECK-NOT: tf.M
// CHECK-LABEL: func.func private @six_first
// CHECK: "tf.Relu6"(%arg0)
// CHECK-NOT: tf.M
// CHECK-LABEL: func.func private @clip
// CHECK: "tf.Relu6"(%arg0)
// A limit with more elements than the image broadcasts it, and one of 5 is no activation.
// CHECK-LABEL: func.func private @other
// CHECK: tf.Maximum
// CHECK: tf.Minimum
// EXEC: 'main' returned
// EXEC-SAME: array([ 0., nan,  3.,  6.,  6.]{{.*}}array([ 0., nan,  3.,  6.,  6.]{{.*}}array([ 0., nan,  3.,  6.,  6.]
func.func @main() -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %x = "tf.Const"() {value = dense<[-1.0, 0x7FC00000, 3.0, 6.0, 0x7F800000]> : tensor<5xf32>} : () -> tensor<5xf32>
  %y = "tf.Identity"(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %a = "tf.PartitionedCall"(%y) {f = @six} : (tensor<5xf32>) -> tensor<5xf32>
  %b = "tf.PartitionedCall"(%y) {f = @six_first} : (tensor<5xf32>) -> tensor<5xf32>
  %c = "tf.PartitionedCall"(%y) {f = @clip} : (tensor<5xf32>) -> tensor<5xf32>
  tfrt.return %a, %b, %c : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func private @six(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %limit = "tf.Const"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Maximum"(%x, %zero) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %z = "tf.Minimum"(%limit, %y) : (tensor<f32>, tensor<5xf32>) -> tensor<5xf32>
  tfrt.return %z : tensor<5xf32>
}

func.func private @six_first(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %limit = "tf.Const"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Minimum"(%x, %limit) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %z = "tf.Maximum"(%y, %zero) : (tensor<5xf32>, tensor<1xf32>) -> tensor<5xf32>
  tfrt.return %z : tensor<5xf32>
}

func.func private @clip(%x: tensor<5xf32>) -> tensor<5xf32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %limit = "tf.Const"() {value = dense<6.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.ClipByValue"(%x, %zero, %limit) : (tensor<5xf32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  tfrt.return %y : tensor<5xf32>
}

func.func private @other(%x: tensor<1xf32>) -> tensor<5xf32> {
  %zeros = "tf.Const"() {value = dense<0.0> : tensor<5xf32>} : () -> tensor<5xf32>
  %limit = "tf.Const"() {value = dense<5.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tf.Maximum"(%x, %zeros) : (tensor<1xf32>, tensor<5xf32>) -> tensor<5xf32>
  %z = "tf.Minimum"(%y, %limit) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  tfrt.return %z : tensor<5xf32>
}

// PAD-LABEL: func.func private @convolution
// PAD-NOT: tf.Pad
// PAD: explicit_paddings = [0, 0, 0, 1, 0, 1, 0, 0]
// PAD-NOT: tf.Pad
// EXEC: 'padded' returned
// EXEC-NEXT: array({{\[\[\[\[}}10.]
func.func @padded() -> tensor<1x2x2x1xf32> {
  %c = "tf.Const"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>} : () -> tensor<1x2x2x1xf32>
  %x = "tf.Identity"(%c) : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %y = "tf.PartitionedCall"(%x) {f = @convolution} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  tfrt.return %y : tensor<1x2x2x1xf32>
}

func.func private @convolution(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %w = "tf.Const"() {value = dense<1.0> : tensor<2x2x1x1xf32>} : () -> tensor<2x2x1x1xf32>
  %pads = "tf.Const"() {value = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>} : () -> tensor<4x2xi64>
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %to = "tf.Const"() {value = dense<[0, 3, 1, 2]> : tensor<4xi64>} : () -> tensor<4xi64>
  %from = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %padded = "tf.PadV2"(%x, %pads, %zero) : (tensor<1x2x2x1xf32>, tensor<4x2xi64>, tensor<f32>) -> tensor<1x3x3x1xf32>
  %t = "tf.Transpose"(%padded, %to) : (tensor<1x3x3x1xf32>, tensor<4xi64>) -> tensor<1x1x3x3xf32>
  %y = "tf.Conv2D"(%t, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NCHW"} : (tensor<1x1x3x3xf32>, tensor<2x2x1x1xf32>) -> tensor<1x1x2x2xf32>
  %z = "tf.Transpose"(%y, %from) : (tensor<1x1x2x2xf32>, tensor<4xi64>) -> tensor<1x2x2x1xf32>
  tfrt.return %z : tensor<1x2x2x1xf32>
}
