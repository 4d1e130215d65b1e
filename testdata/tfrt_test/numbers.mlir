// The kernels of the training examples that there are for several types.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'f32':
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 2.000000e+00, 2.000000e+00, 6.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [-1.000000e+00, 4.000000e+00, 4.000000e+00, 1.000000e+01]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 2.000000e+00, 0.000000e+00, 4.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 2.000000e+00, 0.000000e+00, 4.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [0.000000e+00, 9.000000e+00, 0.000000e+00, 9.000000e+00]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-NEXT: shape = [], values = [2.000000e+00]
// CHECK-NEXT: shape = [2, 2], values = [2.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00]
// CHECK-NEXT: shape = [1, 1, 2], values = [2.000000e+00, 2.000000e+00]
// CHECK-NEXT: shape = [1, 1, 2], values = [3.000000e+00, 4.000000e+00]
func.func @f32() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %a, %c0 [-1.0 : f32, 2.0 : f32, 0.0 : f32, 4.0 : f32]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.f32 %b, %c1 [1.0 : f32, 0.0 : f32, 2.0 : f32, 2.0 : f32]
  %out = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.f32 %out, %c2 [0.0 : f32, 0.0 : f32, 0.0 : f32, 0.0 : f32]
  %c4 = "tfrt_test.add.f32"(%a, %b, %out, %c3) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  %sum = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c6 = tfrt_dht.set_tensor_with_constant_values.f32 %sum, %c5 [0.0 : f32, 2.0 : f32, 4.0 : f32, 6.0 : f32]
  %c7 = "tfrt_test.add_inplace.f32"(%a, %sum, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %sum, %c7
  %same = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c9 = tfrt_dht.set_tensor_with_constant_values.f32 %same, %c8 [0.0 : f32, 2.0 : f32, 1.0 : f32, 4.0 : f32]
  %c10 = "tfrt_test.equal.f32"(%a, %same, %out, %c9) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c11 = tfrt_dht.print_tensor %out, %c10
  %c12 = "tfrt_test.equal_inplace.f32"(%a, %same, %c11) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c13 = tfrt_dht.print_tensor %same, %c12
  %c14 = "tfrt_test.relu.f32"(%a, %out, %c13) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c15 = tfrt_dht.print_tensor %out, %c14
  %relu = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c16 = tfrt_dht.set_tensor_with_constant_values.f32 %relu, %c15 [-1.0 : f32, 2.0 : f32, 0.0 : f32, 4.0 : f32]
  %c17 = "tfrt_test.relu_inplace.f32"(%relu, %c16) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c18 = tfrt_dht.print_tensor %relu, %c17
  %gradient = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c19 = tfrt_dht.set_tensor_with_constant_values.f32 %gradient, %c18 [9.0 : f32, 9.0 : f32, 9.0 : f32, 9.0 : f32]
  %c20 = "tfrt_test.relu_grad_inplace.f32"(%relu, %gradient, %c19) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c21 = tfrt_dht.print_tensor %gradient, %c20
  %best = "tfrt_test.argmax.f32.2"(%a, %c21) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c22 = tfrt_dht.print_tensor %best, %c21
  %line = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]
  %c23 = tfrt_dht.set_tensor_with_constant_values.f32 %line, %c22 [1.0 : f32, 3.0 : f32]
  %mean = "tfrt_test.reduce_mean.f32.1"(%line, %c23) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c24 = tfrt_dht.print_tensor %mean, %c23
  %two = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %c25 = tfrt_dht.set_tensor_with_constant_values.f32 %two, %c24 [2.0 : f32]
  %s2 = ts.build_shape [2 : i64, 2 : i64]
  %s3 = ts.build_shape [1 : i64, 1 : i64, 2 : i64]
  %wide = "tfrt_test.broadcast.f32.2"(%two, %s2, %c25) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c26 = tfrt_dht.print_tensor %wide, %c25
  %wider = "tfrt_test.broadcast.f32.3"(%two, %s3, %c26) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c27 = tfrt_dht.print_tensor %wider, %c26
  %box = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 2 : i64, 2 : i64]
  %c28 = tfrt_dht.set_tensor_with_constant_values.f32 %box, %c27 [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
  %part = tfrt_dht.create_uninitialized_tensor.f32.3 [1 : i64, 1 : i64, 2 : i64]
  %c29 = tfrt_dht.set_tensor_with_constant_values.f32 %part, %c28 [0.0 : f32, 0.0 : f32]
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %c30 = tfrt_dht.set_tensor_with_constant_values.i64 %begin, %c29 [0 : i64, 1 : i64, 0 : i64]
  %c31 = "tfrt_test.slice_inplace.f32.3"(%box, %begin, %c30, %part) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %c32 = tfrt_dht.print_tensor %part, %c31
  tfrt.return %c32 : !tfrt.chain
}

// CHECK: --- Running 'products.f32':
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1], values = [2.600000e+01]
func.func @products.f32() -> !tfrt.chain {
  %two = tfrt.constant.f32 2.0
  %c0 = tfrt.new.chain
  %row = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f32 %row, %c0 [1.0 : f32, 2.0 : f32]
  %column = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.f32 %column, %c1 [3.0 : f32, 4.0 : f32]
  %out = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.f32 %out, %c2 [2.0 : f32]
  %c4 = "tfrt_test.matmul.f32.2"(%two, %row, %column, %two, %out, %c3) : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  tfrt.return %c5 : !tfrt.chain
}

// CHECK: --- Running 'synchronous.f32':
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 1], values = [1.100000e+01]
// CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [0.000000e+00, 2.000000e+00]
func.func @synchronous.f32() attributes {tfrt.sync} {
  %one = "tfrt.constant_s.f32"() {value = 1.0 : f32} : () -> f32
  %zero = "tfrt.constant_s.f32"() {value = 0.0 : f32} : () -> f32
  %row = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [1.0 : f32, 2.0 : f32]} : () -> !t.tensor
  %column = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [2, 1], values = [3.0 : f32, 4.0 : f32]} : () -> !t.tensor
  %out = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 1], values = [0.0 : f32]} : () -> !t.tensor
  "tfrt_test_sync.matmul.f32.2"(%one, %row, %column, %zero, %out) : (f32, !t.tensor, !t.tensor, f32, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %out
  %signed = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [-1.0 : f32, 2.0 : f32]} : () -> !t.tensor
  %positive = "tfrt_dht_sync.create_dense_tensor.f32"() {shape = [1, 2], values = [0.0 : f32, 0.0 : f32]} : () -> !t.tensor
  "tfrt_test_sync.relu.f32"(%signed, %positive) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %positive
  tfrt.return
}

// CHECK: --- Running 'i32':
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 2, 6]
// CHECK-NEXT: shape = [2, 2], values = [-1, 4, 4, 10]
// CHECK-NEXT: shape = [2, 2], values = [0, 1, 0, 1]
// CHECK-NEXT: shape = [2, 2], values = [0, 1, 0, 1]
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 0, 4]
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 0, 4]
// CHECK-NEXT: shape = [2, 2], values = [0, 9, 0, 9]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-NEXT: shape = [], values = [2]
// CHECK-NEXT: shape = [2, 2], values = [2, 2, 2, 2]
// CHECK-NEXT: shape = [1, 1, 2], values = [2, 2]
// CHECK-NEXT: shape = [1, 1, 2], values = [3, 4]
func.func @i32() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %c0 [-1 : i32, 2 : i32, 0 : i32, 4 : i32]
  %b = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i32 %b, %c1 [1 : i32, 0 : i32, 2 : i32, 2 : i32]
  %out = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.i32 %out, %c2 [0 : i32, 0 : i32, 0 : i32, 0 : i32]
  %c4 = "tfrt_test.add.i32"(%a, %b, %out, %c3) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  %sum = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c6 = tfrt_dht.set_tensor_with_constant_values.i32 %sum, %c5 [0 : i32, 2 : i32, 4 : i32, 6 : i32]
  %c7 = "tfrt_test.add_inplace.i32"(%a, %sum, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %sum, %c7
  %same = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c9 = tfrt_dht.set_tensor_with_constant_values.i32 %same, %c8 [0 : i32, 2 : i32, 1 : i32, 4 : i32]
  %c10 = "tfrt_test.equal.i32"(%a, %same, %out, %c9) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c11 = tfrt_dht.print_tensor %out, %c10
  %c12 = "tfrt_test.equal_inplace.i32"(%a, %same, %c11) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c13 = tfrt_dht.print_tensor %same, %c12
  %c14 = "tfrt_test.relu.i32"(%a, %out, %c13) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c15 = tfrt_dht.print_tensor %out, %c14
  %relu = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c16 = tfrt_dht.set_tensor_with_constant_values.i32 %relu, %c15 [-1 : i32, 2 : i32, 0 : i32, 4 : i32]
  %c17 = "tfrt_test.relu_inplace.i32"(%relu, %c16) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c18 = tfrt_dht.print_tensor %relu, %c17
  %gradient = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %c19 = tfrt_dht.set_tensor_with_constant_values.i32 %gradient, %c18 [9 : i32, 9 : i32, 9 : i32, 9 : i32]
  %c20 = "tfrt_test.relu_grad_inplace.i32"(%relu, %gradient, %c19) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c21 = tfrt_dht.print_tensor %gradient, %c20
  %best = "tfrt_test.argmax.i32.2"(%a, %c21) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c22 = tfrt_dht.print_tensor %best, %c21
  %line = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c23 = tfrt_dht.set_tensor_with_constant_values.i32 %line, %c22 [1 : i32, 3 : i32]
  %mean = "tfrt_test.reduce_mean.i32.1"(%line, %c23) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c24 = tfrt_dht.print_tensor %mean, %c23
  %two = tfrt_dht.create_uninitialized_tensor.i32.1 [1 : i64]
  %c25 = tfrt_dht.set_tensor_with_constant_values.i32 %two, %c24 [2 : i32]
  %s2 = ts.build_shape [2 : i64, 2 : i64]
  %s3 = ts.build_shape [1 : i64, 1 : i64, 2 : i64]
  %wide = "tfrt_test.broadcast.i32.2"(%two, %s2, %c25) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c26 = tfrt_dht.print_tensor %wide, %c25
  %wider = "tfrt_test.broadcast.i32.3"(%two, %s3, %c26) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c27 = tfrt_dht.print_tensor %wider, %c26
  %box = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 2 : i64, 2 : i64]
  %c28 = tfrt_dht.set_tensor_with_constant_values.i32 %box, %c27 [1 : i32, 2 : i32, 3 : i32, 4 : i32]
  %part = tfrt_dht.create_uninitialized_tensor.i32.3 [1 : i64, 1 : i64, 2 : i64]
  %c29 = tfrt_dht.set_tensor_with_constant_values.i32 %part, %c28 [0 : i32, 0 : i32]
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %c30 = tfrt_dht.set_tensor_with_constant_values.i64 %begin, %c29 [0 : i64, 1 : i64, 0 : i64]
  %c31 = "tfrt_test.slice_inplace.i32.3"(%box, %begin, %c30, %part) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %c32 = tfrt_dht.print_tensor %part, %c31
  tfrt.return %c32 : !tfrt.chain
}

// CHECK: --- Running 'products.i32':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1, 1], values = [26]
func.func @products.i32() -> !tfrt.chain {
  %two = tfrt.constant.i32 2
  %c0 = tfrt.new.chain
  %row = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %row, %c0 [1 : i32, 2 : i32]
  %column = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i32 %column, %c1 [3 : i32, 4 : i32]
  %out = tfrt_dht.create_uninitialized_tensor.i32.2 [1 : i64, 1 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.i32 %out, %c2 [2 : i32]
  %c4 = "tfrt_test.matmul.i32.2"(%two, %row, %column, %two, %out, %c3) : (i32, !t.tensor, !t.tensor, i32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  tfrt.return %c5 : !tfrt.chain
}

// CHECK: --- Running 'synchronous.i32':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1, 1], values = [11]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [1, 2], values = [0, 2]
func.func @synchronous.i32() attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i32"() {value = 1 : i32} : () -> i32
  %zero = "tfrt.constant_s.i32"() {value = 0 : i32} : () -> i32
  %row = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1, 2], values = [1 : i32, 2 : i32]} : () -> !t.tensor
  %column = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [2, 1], values = [3 : i32, 4 : i32]} : () -> !t.tensor
  %out = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1, 1], values = [0 : i32]} : () -> !t.tensor
  "tfrt_test_sync.matmul.i32.2"(%one, %row, %column, %zero, %out) : (i32, !t.tensor, !t.tensor, i32, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %out
  %signed = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1, 2], values = [-1 : i32, 2 : i32]} : () -> !t.tensor
  %positive = "tfrt_dht_sync.create_dense_tensor.i32"() {shape = [1, 2], values = [0 : i32, 0 : i32]} : () -> !t.tensor
  "tfrt_test_sync.relu.i32"(%signed, %positive) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %positive
  tfrt.return
}

// CHECK: --- Running 'i64':
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 2, 6]
// CHECK-NEXT: shape = [2, 2], values = [-1, 4, 4, 10]
// CHECK-NEXT: shape = [2, 2], values = [0, 1, 0, 1]
// CHECK-NEXT: shape = [2, 2], values = [0, 1, 0, 1]
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 0, 4]
// CHECK-NEXT: shape = [2, 2], values = [0, 2, 0, 4]
// CHECK-NEXT: shape = [2, 2], values = [0, 9, 0, 9]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 1]
// CHECK-NEXT: shape = [], values = [2]
// CHECK-NEXT: shape = [2, 2], values = [2, 2, 2, 2]
// CHECK-NEXT: shape = [1, 1, 2], values = [2, 2]
// CHECK-NEXT: shape = [1, 1, 2], values = [3, 4]
func.func @i64() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i64 %a, %c0 [-1 : i64, 2 : i64, 0 : i64, 4 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i64 %b, %c1 [1 : i64, 0 : i64, 2 : i64, 2 : i64]
  %out = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.i64 %out, %c2 [0 : i64, 0 : i64, 0 : i64, 0 : i64]
  %c4 = "tfrt_test.add.i64"(%a, %b, %out, %c3) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  %sum = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c6 = tfrt_dht.set_tensor_with_constant_values.i64 %sum, %c5 [0 : i64, 2 : i64, 4 : i64, 6 : i64]
  %c7 = "tfrt_test.add_inplace.i64"(%a, %sum, %c6) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c8 = tfrt_dht.print_tensor %sum, %c7
  %same = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c9 = tfrt_dht.set_tensor_with_constant_values.i64 %same, %c8 [0 : i64, 2 : i64, 1 : i64, 4 : i64]
  %c10 = "tfrt_test.equal.i64"(%a, %same, %out, %c9) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c11 = tfrt_dht.print_tensor %out, %c10
  %c12 = "tfrt_test.equal_inplace.i64"(%a, %same, %c11) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c13 = tfrt_dht.print_tensor %same, %c12
  %c14 = "tfrt_test.relu.i64"(%a, %out, %c13) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c15 = tfrt_dht.print_tensor %out, %c14
  %relu = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c16 = tfrt_dht.set_tensor_with_constant_values.i64 %relu, %c15 [-1 : i64, 2 : i64, 0 : i64, 4 : i64]
  %c17 = "tfrt_test.relu_inplace.i64"(%relu, %c16) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c18 = tfrt_dht.print_tensor %relu, %c17
  %gradient = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 2 : i64]
  %c19 = tfrt_dht.set_tensor_with_constant_values.i64 %gradient, %c18 [9 : i64, 9 : i64, 9 : i64, 9 : i64]
  %c20 = "tfrt_test.relu_grad_inplace.i64"(%relu, %gradient, %c19) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c21 = tfrt_dht.print_tensor %gradient, %c20
  %best = "tfrt_test.argmax.i64.2"(%a, %c21) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c22 = tfrt_dht.print_tensor %best, %c21
  %line = tfrt_dht.create_uninitialized_tensor.i64.1 [2 : i64]
  %c23 = tfrt_dht.set_tensor_with_constant_values.i64 %line, %c22 [1 : i64, 3 : i64]
  %mean = "tfrt_test.reduce_mean.i64.1"(%line, %c23) : (!t.tensor, !tfrt.chain) -> !t.tensor
  %c24 = tfrt_dht.print_tensor %mean, %c23
  %two = tfrt_dht.create_uninitialized_tensor.i64.1 [1 : i64]
  %c25 = tfrt_dht.set_tensor_with_constant_values.i64 %two, %c24 [2 : i64]
  %s2 = ts.build_shape [2 : i64, 2 : i64]
  %s3 = ts.build_shape [1 : i64, 1 : i64, 2 : i64]
  %wide = "tfrt_test.broadcast.i64.2"(%two, %s2, %c25) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c26 = tfrt_dht.print_tensor %wide, %c25
  %wider = "tfrt_test.broadcast.i64.3"(%two, %s3, %c26) : (!t.tensor, !ts.shape, !tfrt.chain) -> !t.tensor
  %c27 = tfrt_dht.print_tensor %wider, %c26
  %box = tfrt_dht.create_uninitialized_tensor.i64.3 [1 : i64, 2 : i64, 2 : i64]
  %c28 = tfrt_dht.set_tensor_with_constant_values.i64 %box, %c27 [1 : i64, 2 : i64, 3 : i64, 4 : i64]
  %part = tfrt_dht.create_uninitialized_tensor.i64.3 [1 : i64, 1 : i64, 2 : i64]
  %c29 = tfrt_dht.set_tensor_with_constant_values.i64 %part, %c28 [0 : i64, 0 : i64]
  %begin = tfrt_dht.create_uninitialized_tensor.i64.1 [3 : i64]
  %c30 = tfrt_dht.set_tensor_with_constant_values.i64 %begin, %c29 [0 : i64, 1 : i64, 0 : i64]
  %c31 = "tfrt_test.slice_inplace.i64.3"(%box, %begin, %c30, %part) : (!t.tensor, !t.tensor, !tfrt.chain, !t.tensor) -> !tfrt.chain
  %c32 = tfrt_dht.print_tensor %part, %c31
  tfrt.return %c32 : !tfrt.chain
}

// CHECK: --- Running 'products.i64':
// CHECK-NEXT: DenseHostTensor dtype = i64, shape = [1, 1], values = [26]
func.func @products.i64() -> !tfrt.chain {
  %two = tfrt.constant.i64 2
  %c0 = tfrt.new.chain
  %row = tfrt_dht.create_uninitialized_tensor.i64.2 [1 : i64, 2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i64 %row, %c0 [1 : i64, 2 : i64]
  %column = tfrt_dht.create_uninitialized_tensor.i64.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i64 %column, %c1 [3 : i64, 4 : i64]
  %out = tfrt_dht.create_uninitialized_tensor.i64.2 [1 : i64, 1 : i64]
  %c3 = tfrt_dht.set_tensor_with_constant_values.i64 %out, %c2 [2 : i64]
  %c4 = "tfrt_test.matmul.i64.2"(%two, %row, %column, %two, %out, %c3) : (i64, !t.tensor, !t.tensor, i64, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %c5 = tfrt_dht.print_tensor %out, %c4
  tfrt.return %c5 : !tfrt.chain
}

// CHECK: --- Running 'synchronous.i64':
// CHECK-NEXT: DenseHostTensor dtype = i64, shape = [1, 1], values = [11]
// CHECK-NEXT: DenseHostTensor dtype = i64, shape = [1, 2], values = [0, 2]
func.func @synchronous.i64() attributes {tfrt.sync} {
  %one = "tfrt.constant_s.i64"() {value = 1 : i64} : () -> i64
  %zero = "tfrt.constant_s.i64"() {value = 0 : i64} : () -> i64
  %row = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 2], values = [1 : i64, 2 : i64]} : () -> !t.tensor
  %column = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2, 1], values = [3 : i64, 4 : i64]} : () -> !t.tensor
  %out = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 1], values = [0 : i64]} : () -> !t.tensor
  "tfrt_test_sync.matmul.i64.2"(%one, %row, %column, %zero, %out) : (i64, !t.tensor, !t.tensor, i64, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %out
  %signed = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 2], values = [-1 : i64, 2 : i64]} : () -> !t.tensor
  %positive = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [1, 2], values = [0 : i64, 0 : i64]} : () -> !t.tensor
  "tfrt_test_sync.relu.i64"(%signed, %positive) : (!t.tensor, !t.tensor) -> ()
  tfrt_dht_sync.print_tensor %positive
  tfrt.return
}
