// Images and matrices, into tensors that are there already. The numbers are small enough to be checked by hand.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | ir-translate --bef-to-mlir | FileCheck %s --check-prefix=TEXT

// The image is 1 2 / 3 4, the filter 1 0 / 0 10.
// CHECK: --- Running 'convolutions':
// CHECK-NEXT: shape = [1, 1, 1, 1], values = [4.100000e+01]
// CHECK-NEXT: shape = [1, 2, 2, 1], values = [4.100000e+01, 2.000000e+00, 3.000000e+00, 4.000000e+00]
// CHECK-NEXT: shape = [1, 2, 2, 1], values = [1.000000e+00, -3.800000e+01, -3.700000e+01, -3.600000e+01]
// CHECK-NEXT: shape = [1, 2, 2, 1], values = [3.100000e+01, -8.000000e+00, -7.000000e+00, -6.000000e+00]
// CHECK-NEXT: shape = [1, 2, 2, 1], values = [3.100000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00]
func.func @convolutions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>} : () -> !t.tensor
  %w = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[10.0]]]]> : tensor<2x2x1x1xf32>} : () -> !t.tensor
  %one = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 1 : i64]
  // TEXT: "eigen.conv2d.f32"(%{{.*}}) {padding = "valid", strides = [1, 1]}
  %ch1 = "eigen.conv2d.f32"(%x, %w, %one, %ch0) {padding = "valid", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %one, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 2 : i64, 1 : i64]
  %ch3 = "eigen.conv2d.f32"(%x, %w, %y, %ch2) {padding = "same", strides = [1 : ui32, 1 : ui32]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %bias = "tfrt_test.const_dense_attr"() {value = dense<-40.0> : tensor<1xf32>} : () -> !t.tensor
  %ch5 = "eigen.conv2d.bias.f32"(%x, %w, %bias, %y, %ch4) {padding = "same", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %y, %ch5
  // (x - 21) / sqrt(3 + 1) * 2 + 11.
  %scale = "tfrt_test.const_dense_attr"() {value = dense<2.0> : tensor<1xf32>} : () -> !t.tensor
  %offset = "tfrt_test.const_dense_attr"() {value = dense<11.0> : tensor<1xf32>} : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() {value = dense<21.0> : tensor<1xf32>} : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() {value = dense<3.0> : tensor<1xf32>} : () -> !t.tensor
  %ch7 = "eigen.conv2d.batch_norm.f32"(%x, %w, %scale, %offset, %mean, %variance, %y, %ch6) {epsilon = 1.0 : f32, padding = "same", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %y, %ch7
  %ch9 = "eigen.conv2d.batch_norm.relu.f32"(%x, %w, %scale, %offset, %mean, %variance, %y, %ch8) {epsilon = 1.0 : f32, padding = "same", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch10 = tfrt_dht.print_tensor %y, %ch9
  tfrt.return %ch10 : !tfrt.chain
}

// CHECK: --- Running 'images':
// CHECK-NEXT: shape = [1, 3, 4, 1], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [1, 1, 2, 1], values = [1.000000e+00, 2.000000e+00]
// CHECK-NEXT: shape = [1, 1, 2, 1], values = [3.000000e+00, 5.000000e+00]
// CHECK-NEXT: 'images' returned <<error: 'SAME' is no padding>>
func.func @images() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> !t.tensor
  %padded = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 4 : i64, 1 : i64]
  %ch1 = "eigen.zero_padding.f32"(%x, %padded, %ch0) {padding = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %padded, %ch1
  %y = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %ch3 = "eigen.max_pooling_2d.f32"(%padded, %y, %ch2) {padding = "valid", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %y, %ch3
  %scale = "tfrt_test.const_dense_attr"() {value = dense<4.0> : tensor<1xf32>} : () -> !t.tensor
  %zero = "tfrt_test.const_dense_attr"() {value = dense<0.0> : tensor<1xf32>} : () -> !t.tensor
  %one = "tfrt_test.const_dense_attr"() {value = dense<1.0> : tensor<1xf32>} : () -> !t.tensor
  %ch5 = "eigen.batch_norm.f32"(%y, %scale, %one, %zero, %one, %ch4) {epsilon = 3.0 : f32} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch6 = tfrt_dht.print_tensor %y, %ch5
  %ch7 = "eigen.max_pooling_2d.f32"(%padded, %y, %ch6) {padding = "SAME", pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch7 : !tfrt.chain
}

// y = x . w for the only window, so the gradients are w and x times that of y.
// CHECK: --- Running 'gradients':
// CHECK-NEXT: shape = [1, 1, 2, 1], values = [6.000000e+00, 1.000000e+01]
// CHECK-NEXT: shape = [1, 2, 1, 1], values = [2.000000e+00, 4.000000e+00]
// CHECK-NEXT: shape = [1, 1, 2, 1], values = [4.000000e+00, 8.000000e+00]
// CHECK-NEXT: shape = [1], values = [2.500000e+00]
// CHECK-NEXT: shape = [1], values = [3.000000e+00]
func.func @gradients() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> !t.tensor
  %w = "tfrt_test.const_dense_attr"() {value = dense<[[[[3.0]], [[5.0]]]]> : tensor<1x2x1x1xf32>} : () -> !t.tensor
  %dy = "tfrt_test.const_dense_attr"() {value = dense<2.0> : tensor<1x1x1x1xf32>} : () -> !t.tensor
  %dx = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %dw = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 2 : i64, 1 : i64, 1 : i64]
  %ch1 = "eigen.conv2d.grad.input.f32"(%dy, %w, %dx, %ch0) {padding = "valid", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %dx, %ch1
  %ch3 = "eigen.conv2d.grad.filter.f32"(%dy, %x, %dw, %ch2) {padding = "valid", strides = [1 : i64, 1 : i64]} : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %dw, %ch3
  // x is normalized to (x - 0) / 2.
  %by = "tfrt_test.const_dense_attr"() {value = dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>} : () -> !t.tensor
  %scale = "tfrt_test.const_dense_attr"() {value = dense<8.0> : tensor<1xf32>} : () -> !t.tensor
  %mean = "tfrt_test.const_dense_attr"() {value = dense<0.0> : tensor<1xf32>} : () -> !t.tensor
  %variance = "tfrt_test.const_dense_attr"() {value = dense<3.0> : tensor<1xf32>} : () -> !t.tensor
  %dscale = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %doffset = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch5:3 = "eigen.batch_norm.grad.f32"(%by, %x, %scale, %mean, %variance, %ch4, %dx, %dscale, %doffset) {epsilon = 1.0 : f32} : (!t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !tfrt.chain, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, !tfrt.chain, !tfrt.chain)
  %ch6 = tfrt_dht.print_tensor %dx, %ch5#0
  %ch7 = tfrt.merge.chains %ch6, %ch5#1 : !tfrt.chain, !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %dscale, %ch7
  %ch9 = tfrt.merge.chains %ch8, %ch5#2 : !tfrt.chain, !tfrt.chain
  %ch10 = tfrt_dht.print_tensor %doffset, %ch9
  tfrt.return %ch10 : !tfrt.chain
}

// CHECK: --- Running 'matrices':
// CHECK-NEXT: shape = [1, 1], values = [2.300000e+01]
// CHECK-NEXT: shape = [1, 1], values = [34]
// CHECK-NEXT: 'matrices' returned !tfrt.chain value,<<error: `operand` has dtype f32, expected i32>>
func.func @matrices() -> (!tfrt.chain, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>} : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() {value = dense<[[3.0], [4.0]]> : tensor<2x1xf32>} : () -> !t.tensor
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %c, %ch0 1.0 : f32
  %two = tfrt.constant.f32 2.0
  %one = tfrt.constant.f32 1.0
  %ch2 = "eigen.matmul.f32"(%two, %a, %b, %one, %c, %ch1) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch3 = tfrt_dht.print_tensor %c, %ch2
  %i = "tfrt_test.const_dense_attr"() {value = dense<[[1, 2]]> : tensor<1x2xi32>} : () -> !t.tensor
  %j = "tfrt_test.const_dense_attr"() {value = dense<[[5], [6]]> : tensor<2x1xi32>} : () -> !t.tensor
  %k = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 1 : i64]
  %zero = tfrt.constant.i32 0
  %doubled = tfrt.constant.i32 2
  %ch4 = "eigen.matmul.i32"(%doubled, %i, %j, %zero, %k, %ch3) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %k, %ch4
  %ch6 = "eigen.matmul.i32"(%doubled, %a, %b, %zero, %k, %ch5) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5, %ch6 : !tfrt.chain, !tfrt.chain
}
