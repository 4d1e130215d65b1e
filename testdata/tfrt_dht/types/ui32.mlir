// Tensors of ui32: every rank, every way to make, set and compare them; what is wrong with values and buffers.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK-LABEL: --- Running 'ranks':
func.func @ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %t0 = tfrt_dht.create_uninitialized_tensor.ui32.0 []
  %c0 = tfrt_dht.fill_tensor_with_constant.ui32 %t0, %ch 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [], values = [1]
  %p0 = tfrt_dht.print_tensor %t0, %c0
  %t1 = tfrt_dht.create_uninitialized_tensor.ui32.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.ui32 %t1, %p0 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2], values = [1, 1]
  %p1 = tfrt_dht.print_tensor %t1, %c1
  %t2 = tfrt_dht.create_uninitialized_tensor.ui32.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.fill_tensor_with_constant.ui32 %t2, %p1 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2, 1], values = [1, 1]
  %p2 = tfrt_dht.print_tensor %t2, %c2
  %t3 = tfrt_dht.create_uninitialized_tensor.ui32.3 [1 : i64, 2 : i64, 1 : i64]
  %c3 = tfrt_dht.fill_tensor_with_constant.ui32 %t3, %p2 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 2, 1], values = [1, 1]
  %p3 = tfrt_dht.print_tensor %t3, %c3
  %t4 = tfrt_dht.create_uninitialized_tensor.ui32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %c4 = tfrt_dht.fill_tensor_with_constant.ui32 %t4, %p3 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 1, 2, 1], values = [1, 1]
  %p4 = tfrt_dht.print_tensor %t4, %c4
  %t5 = tfrt_dht.create_uninitialized_tensor.ui32.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c5 = tfrt_dht.fill_tensor_with_constant.ui32 %t5, %p4 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 1, 1, 1, 2], values = [1, 1]
  %p5 = tfrt_dht.print_tensor %t5, %c5
  tfrt.return %p5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'values':
func.func @values() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.ui32.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.ui32 %a, %ch [1 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2], values = [1, 2]
  %p1 = tfrt_dht.print_tensor %a, %c1
  %one = tfrt.constant.ui32 1
  %two = tfrt.constant.ui32 2
  %c2 = "tfrt_dht.set_tensor_with_values.ui32"(%a, %p1, %two, %one) : (!t.tensor, !tfrt.chain, ui32, ui32) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2], values = [2, 1]
  %p2 = tfrt_dht.print_tensor %a, %c2
  %few = tfrt_dht.set_tensor_with_constant_values.ui32 %a, %p2 [1 : ui32]
  %fewer = "tfrt_dht.set_tensor_with_values.ui32"(%a, %p2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %few, %fewer : !tfrt.chain, !tfrt.chain
}
// CHECK: 'values' returned <<error: Incorrect number of values for the tensor: 1, but expected 2>>,<<error: Incorrect number of values for the tensor: 0, but expected 2>>

// CHECK-LABEL: --- Running 'buffers':
func.func @buffers() -> !t.tensor {
  %ch = tfrt.new.chain
  %size = tfrt.constant.i64 8
  %alignment = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %two = ts.build_shape [2 : i64]
  %three = ts.build_shape [3 : i64]
  %a, %c1 = tfrt_dht.make_tensor.ui32 %buffer, %two, %ch
  %c2 = tfrt_dht.fill_tensor_with_constant.ui32 %a, %c1 1 : ui32
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2], values = [1, 1]
  %c3 = tfrt_dht.print_tensor %a, %c2
  %b, %c4 = tfrt_dht.make_tensor.ui32 %buffer, %three, %c3
  tfrt.return %b : !t.tensor
}
// CHECK: 'buffers' returned <<error: dht.make_tensor failed: buffer_size (8) is not equal to the number of elements in shape ([3]) times element size (4)>>

// CHECK-LABEL: --- Running 'comparisons':
func.func @comparisons() -> (i1, i1, i1, i1, i1, i1, i1) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.ui32.1 [1 : i64]
  %ca = tfrt_dht.set_tensor_with_constant_values.ui32 %a, %ch [1 : ui32]
  %b = tfrt_dht.create_uninitialized_tensor.ui32.1 [1 : i64]
  %cb = tfrt_dht.set_tensor_with_constant_values.ui32 %b, %ch [2 : ui32]
  %set = tfrt.merge.chains %ca, %cb : !tfrt.chain, !tfrt.chain
  %same, %d0 = tfrt_dht.tensor_equal.ui32 %a, %a, %set
  %other, %d1 = tfrt_dht.tensor_equal.ui32 %a, %b, %set
  %close0, %e0 = "tfrt_dht.tensor_allclose.ui32"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close1, %e1 = "tfrt_dht.tensor_allclose.3ulp.ui32"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close2, %e2 = "tfrt_dht.tensor_allclose.1000ulp.ui32"(%a, %a, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close3, %e3 = "tfrt_dht.tensor_allclose.2000ulp.ui32"(%a, %b, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %close4, %e4 = "tfrt_dht.tensor_allclose.100000ulp.ui32"(%a, %b, %set) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %same, %other, %close0, %close1, %close2, %close3, %close4 : i1, i1, i1, i1, i1, i1, i1
}
// CHECK: 'comparisons' returned 1,0,1,1,1,0,0

// CHECK-LABEL: --- Running 'synchronous':
func.func @synchronous() attributes {tfrt.sync} {
  %t0 = tfrt_dht_sync.create_uninitialized_tensor.ui32.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t0 [2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [], values = [2]
  tfrt_dht_sync.print_tensor %t0
  %t1 = tfrt_dht_sync.create_uninitialized_tensor.ui32.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t1 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2], values = [2, 2]
  tfrt_dht_sync.print_tensor %t1
  %t2 = tfrt_dht_sync.create_uninitialized_tensor.ui32.2 [2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t2 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [2, 1], values = [2, 2]
  tfrt_dht_sync.print_tensor %t2
  %t3 = tfrt_dht_sync.create_uninitialized_tensor.ui32.3 [1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t3 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 2, 1], values = [2, 2]
  tfrt_dht_sync.print_tensor %t3
  %t4 = tfrt_dht_sync.create_uninitialized_tensor.ui32.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t4 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 1, 2, 1], values = [2, 2]
  tfrt_dht_sync.print_tensor %t4
  %t5 = tfrt_dht_sync.create_uninitialized_tensor.ui32.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %t5 [2 : ui32, 2 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1, 1, 1, 1, 2], values = [2, 2]
  tfrt_dht_sync.print_tensor %t5
  %d = "tfrt_dht_sync.create_dense_tensor.ui32"() {shape = [3], values = [2 : ui32]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [3], values = [2, 2, 2]
  tfrt_dht_sync.print_tensor %d
  %s = "tfrt_dht_sync.create_from_scalar.ui32"() {shape = [2, 3], value = 1 : ui32} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = ui32, shape = [2, 3], value = 1
  tfrt_dht_sync.print_tensor %s
  %size = "tfrt.constant_s.i64"() {value = 4 : i64} : () -> i64
  %buffer = tfrt_dht_sync.allocate_buffer %size, %size
  %shape = ts_sync.build_shape [1 : i64]
  %m = tfrt_dht_sync.make_tensor.ui32 %buffer, %shape
  tfrt_dht_sync.set_tensor_with_constant_values.ui32 %m [1 : ui32]
  // CHECK-NEXT: DenseHostTensor dtype = ui32, shape = [1], values = [1]
  tfrt_dht_sync.print_tensor %m
  tfrt.return
}
