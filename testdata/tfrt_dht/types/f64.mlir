// Tensors of f64: every rank, every way to make, set and compare them; what is wrong with values and buffers.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK-LABEL: --- Running 'ranks':
func.func @ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %t0 = tfrt_dht.create_uninitialized_tensor.f64.0 []
  %c0 = tfrt_dht.fill_tensor_with_constant.f64 %t0, %ch 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [], values = [1.000000e+00]
  %p0 = tfrt_dht.print_tensor %t0, %c0
  %t1 = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.f64 %t1, %p0 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2], values = [1.000000e+00, 1.000000e+00]
  %p1 = tfrt_dht.print_tensor %t1, %c1
  %t2 = tfrt_dht.create_uninitialized_tensor.f64.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.fill_tensor_with_constant.f64 %t2, %p1 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2, 1], values = [1.000000e+00, 1.000000e+00]
  %p2 = tfrt_dht.print_tensor %t2, %c2
  %t3 = tfrt_dht.create_uninitialized_tensor.f64.3 [1 : i64, 2 : i64, 1 : i64]
  %c3 = tfrt_dht.fill_tensor_with_constant.f64 %t3, %p2 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 2, 1], values = [1.000000e+00, 1.000000e+00]
  %p3 = tfrt_dht.print_tensor %t3, %c3
  %t4 = tfrt_dht.create_uninitialized_tensor.f64.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %c4 = tfrt_dht.fill_tensor_with_constant.f64 %t4, %p3 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 1, 2, 1], values = [1.000000e+00, 1.000000e+00]
  %p4 = tfrt_dht.print_tensor %t4, %c4
  %t5 = tfrt_dht.create_uninitialized_tensor.f64.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c5 = tfrt_dht.fill_tensor_with_constant.f64 %t5, %p4 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 1, 1, 1, 2], values = [1.000000e+00, 1.000000e+00]
  %p5 = tfrt_dht.print_tensor %t5, %c5
  tfrt.return %p5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'values':
func.func @values() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.f64 %a, %ch [1.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2], values = [1.000000e+00, 2.000000e+00]
  %p1 = tfrt_dht.print_tensor %a, %c1
  %one = tfrt.constant.f64 1.0
  %two = tfrt.constant.f64 2.0
  %c2 = "tfrt_dht.set_tensor_with_values.f64"(%a, %p1, %two, %one) : (!t.tensor, !tfrt.chain, f64, f64) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2], values = [2.000000e+00, 1.000000e+00]
  %p2 = tfrt_dht.print_tensor %a, %c2
  %few = tfrt_dht.set_tensor_with_constant_values.f64 %a, %p2 [1.0 : f64]
  %fewer = "tfrt_dht.set_tensor_with_values.f64"(%a, %p2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %few, %fewer : !tfrt.chain, !tfrt.chain
}
// CHECK: 'values' returned <<error: Incorrect number of values for the tensor: 1, but expected 2>>,<<error: Incorrect number of values for the tensor: 0, but expected 2>>

// CHECK-LABEL: --- Running 'buffers':
func.func @buffers() -> !t.tensor {
  %ch = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %alignment = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %two = ts.build_shape [2 : i64]
  %three = ts.build_shape [3 : i64]
  %a, %c1 = tfrt_dht.make_tensor.f64 %buffer, %two, %ch
  %c2 = tfrt_dht.fill_tensor_with_constant.f64 %a, %c1 1.0 : f64
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2], values = [1.000000e+00, 1.000000e+00]
  %c3 = tfrt_dht.print_tensor %a, %c2
  %b, %c4 = tfrt_dht.make_tensor.f64 %buffer, %three, %c3
  tfrt.return %b : !t.tensor
}
// CHECK: 'buffers' returned <<error: dht.make_tensor failed: buffer_size (16) is not equal to the number of elements in shape ([3]) times element size (8)>>

// CHECK-LABEL: --- Running 'comparisons':
func.func @comparisons() -> (i1, i1, i1, i1, i1, i1, i1) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f64.1 [1 : i64]
  %ca = tfrt_dht.set_tensor_with_constant_values.f64 %a, %ch [1.0 : f64]
  %b = tfrt_dht.create_uninitialized_tensor.f64.1 [1 : i64]
  %cb = tfrt_dht.set_tensor_with_constant_values.f64 %b, %ch [2.0 : f64]
  %set = tfrt.merge.chains %ca, %cb : !tfrt.chain, !tfrt.chain
  %same, %d0 = tfrt_dht.tensor_equal.f64 %a, %a, %set
  %other, %d1 = tfrt_dht.tensor_equal.f64 %a, %b, %set
  %close0, %e0 = "tfrt_dht.tensor_allclose.f64"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close1, %e1 = "tfrt_dht.tensor_allclose.3ulp.f64"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close2, %e2 = "tfrt_dht.tensor_allclose.1000ulp.f64"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close3, %e3 = "tfrt_dht.tensor_allclose.2000ulp.f64"(%a, %b, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close4, %e4 = "tfrt_dht.tensor_allclose.100000ulp.f64"(%a, %b, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %same, %other, %close0, %close1, %close2, %close3, %close4 : i1, i1, i1, i1, i1, i1, i1
}
// CHECK: 'comparisons' returned 1,0,1,1,1,0,0

// CHECK-LABEL: --- Running 'synchronous':
func.func @synchronous() attributes {tfrt.sync} {
  %t0 = tfrt_dht_sync.create_uninitialized_tensor.f64.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t0 [2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [], values = [2.000000e+00]
  tfrt_dht_sync.print_tensor %t0
  %t1 = tfrt_dht_sync.create_uninitialized_tensor.f64.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t1 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t1
  %t2 = tfrt_dht_sync.create_uninitialized_tensor.f64.2 [2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t2 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [2, 1], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t2
  %t3 = tfrt_dht_sync.create_uninitialized_tensor.f64.3 [1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t3 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 2, 1], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t3
  %t4 = tfrt_dht_sync.create_uninitialized_tensor.f64.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t4 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 1, 2, 1], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t4
  %t5 = tfrt_dht_sync.create_uninitialized_tensor.f64.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %t5 [2.0 : f64, 2.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1, 1, 1, 1, 2], values = [2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %t5
  %d = "tfrt_dht_sync.create_dense_tensor.f64"() {shape = [3], values = [2.0 : f64]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [3], values = [2.000000e+00, 2.000000e+00, 2.000000e+00]
  tfrt_dht_sync.print_tensor %d
  %s = "tfrt_dht_sync.create_from_scalar.f64"() {shape = [2, 3], value = 1.0 : f64} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = f64, shape = [2, 3], value = 1.000000e+00
  tfrt_dht_sync.print_tensor %s
  %size = "tfrt.constant_s.i64"() {value = 8 : i64} : () -> i64
  %buffer = tfrt_dht_sync.allocate_buffer %size, %size
  %shape = ts_sync.build_shape [1 : i64]
  %m = tfrt_dht_sync.make_tensor.f64 %buffer, %shape
  tfrt_dht_sync.set_tensor_with_constant_values.f64 %m [1.0 : f64]
  // CHECK-NEXT: DenseHostTensor dtype = f64, shape = [1], values = [1.000000e+00]
  tfrt_dht_sync.print_tensor %m
  tfrt.return
}
