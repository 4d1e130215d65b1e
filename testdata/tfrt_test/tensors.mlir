// The kernels that TFRT's training examples are made of.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s

// CHECK: --- Running 'matmul':
// CHECK-NEXT: values = [3, 5, 7, 11]
// CHECK-NEXT: values = [3, 5, 7, 12]
// CHECK-NEXT: values = [1, 1]
// CHECK-NEXT: values = [1, 0]
func.func @matmul() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> !t.tensor
  %b = "tfrt_test.const_dense_attr"() {value = dense<[[1, 1], [1, 2]]> : tensor<2x2xi32>} : () -> !t.tensor
  %c = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch1 = "tfrt_test.matmul.i32.2"(%one, %a, %b, %zero, %c, %ch0) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %c, %ch1
  %d = "tfrt_test.const_dense_attr"() {value = dense<[[0, 0], [0, 1]]> : tensor<2x2xi32>} : () -> !t.tensor
  %ch3 = "tfrt_test.add_inplace.i32"(%d, %c, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %max = "tfrt_test.argmax.i32.2"(%c, %ch4) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch5 = tfrt_dht.print_tensor %max, %ch4
  %want = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %ch6 = tfrt_dht.set_tensor_with_constant_values.i32 %want, %ch5 [1 : i32, 0 : i32]
  %ch7 = "tfrt_test.equal_inplace.i32"(%max, %want, %ch6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch8 = tfrt_dht.print_tensor %want, %ch7
  tfrt.return %ch8 : !tfrt.chain
}

// CHECK: --- Running 'floats':
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [2], values = [1.500000e+00, 1.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 3.000000e+00, 2.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [4], values = [0.000000e+00, 3.000000e+00, 2.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [], values = [1.250000e+00]
// CHECK-NEXT: shape = [4], values = [-1.000000e+00, 2.500000e+00, 1.500000e+00, -1.000000e+00]
// CHECK-NEXT: shape = [1, 2], values = [5.000000e-01, 5.000000e-01]
func.func @floats() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<[[-1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf32>} : () -> !t.tensor
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = "tfrt_test.relu.f32"(%a, %b, %ch0) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %g = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %g, %ch2 1.0 : f32
  %ch4 = "tfrt_test.relu_grad_inplace.f32"(%b, %g, %ch3) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %g, %ch4
  %m = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %ch6 = "tfrt_test.mean_axis_zero.f32"(%b, %m, %ch5) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch7 = tfrt_dht.print_tensor %m, %ch6
  %t = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch8 = "tfrt_test.tensor_transpose.f32"(%b, %t, %ch7) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch9 = tfrt_dht.print_tensor %t, %ch8
  %f = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch10 = "tfrt_test.flatten.f32"(%t, %f, %ch9) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch11 = tfrt_dht.print_tensor %f, %ch10
  %mean = "tfrt_test.reduce_mean.f32.1"(%f, %ch11) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %ch12 = tfrt_dht.print_tensor %mean, %ch11
  %ones = tfrt_dht.create_uninitialized_tensor.f32.1 [4 : i64]
  %ch13 = tfrt_dht.set_tensor_with_constant_values.f32 %ones, %ch12 [2.0 : f32, 1.0 : f32, 1.0 : f32, 2.0 : f32]
  %rate = tfrt_dht.create_uninitialized_tensor.f32.0 []
  %ch14 = tfrt_dht.fill_tensor_with_constant.f32 %rate, %ch13 0.5 : f32
  %ch15 = "tfrt_test.gradient_descent.f32"(%ones, %rate, %f, %ch14) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch16 = tfrt_dht.print_tensor %f, %ch15
  %s = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %ch17 = tfrt_dht.fill_tensor_with_constant.f32 %s, %ch16 3.0 : f32
  %ch18 = "tfrt_test.softmax_inplace.f32"(%s, %ch17) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch19 = tfrt_dht.print_tensor %s, %ch18
  tfrt.return %ch19 : !tfrt.chain
}

// CHECK: --- Running 'images':
// CHECK-NEXT: shape = [1, 3, 3, 1], values = [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 7.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]
// CHECK-NEXT: shape = [1, 1, 1, 1], values = [7.000000e+00]
// CHECK-NEXT: 'images' returned <<error: 'other' is no padding>>
func.func @images() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a = "tfrt_test.const_dense_attr"() {value = dense<7.0> : tensor<1x1x1x1xf32>} : () -> !t.tensor
  %b = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 3 : i64, 3 : i64, 1 : i64]
  %ch1 = "tfrt_test.zero_padding.f32"(%a, %b, %ch0) {padding = [1 : ui32, 1 : ui32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch2 = tfrt_dht.print_tensor %b, %ch1
  %c = tfrt_dht.create_uninitialized_tensor.f32.4 [1 : i64, 1 : i64, 1 : i64, 1 : i64]
  %ch3 = "tfrt_test.max_pooling_2d.f32"(%b, %c, %ch2) {padding = "valid", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32, 2 : ui32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch4 = tfrt_dht.print_tensor %c, %ch3
  %ch5 = "tfrt_test.max_pooling_2d.f32"(%b, %c, %ch4) {padding = "other", pool_size = [2 : ui32, 2 : ui32], strides = [2 : ui32, 2 : ui32]} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch5 : !tfrt.chain
}
