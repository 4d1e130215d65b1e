// Tensors of bf16: every rank, every way to make, set and compare them; what is wrong with values and buffers.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK-LABEL: --- Running 'ranks':
func.func @ranks() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %t0 = tfrt_dht.create_uninitialized_tensor.bf16.0 []
  %c0 = tfrt_dht.fill_tensor_with_constant.bf16 %t0, %ch 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [], values = [bf16(16256)]
  %p0 = tfrt_dht.print_tensor %t0, %c0
  %t1 = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %c1 = tfrt_dht.fill_tensor_with_constant.bf16 %t1, %p0 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2], values = [bf16(16256), bf16(16256)]
  %p1 = tfrt_dht.print_tensor %t1, %c1
  %t2 = tfrt_dht.create_uninitialized_tensor.bf16.2 [2 : i64, 1 : i64]
  %c2 = tfrt_dht.fill_tensor_with_constant.bf16 %t2, %p1 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2, 1], values = [bf16(16256), bf16(16256)]
  %p2 = tfrt_dht.print_tensor %t2, %c2
  %t3 = tfrt_dht.create_uninitialized_tensor.bf16.3 [1 : i64, 2 : i64, 1 : i64]
  %c3 = tfrt_dht.fill_tensor_with_constant.bf16 %t3, %p2 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 2, 1], values = [bf16(16256), bf16(16256)]
  %p3 = tfrt_dht.print_tensor %t3, %c3
  %t4 = tfrt_dht.create_uninitialized_tensor.bf16.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  %c4 = tfrt_dht.fill_tensor_with_constant.bf16 %t4, %p3 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 1, 2, 1], values = [bf16(16256), bf16(16256)]
  %p4 = tfrt_dht.print_tensor %t4, %c4
  %t5 = tfrt_dht.create_uninitialized_tensor.bf16.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  %c5 = tfrt_dht.fill_tensor_with_constant.bf16 %t5, %p4 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 1, 1, 1, 2], values = [bf16(16256), bf16(16256)]
  %p5 = tfrt_dht.print_tensor %t5, %c5
  tfrt.return %p5 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'values':
func.func @values() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.bf16.1 [2 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.bf16 %a, %ch [1.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2], values = [bf16(16256), bf16(16384)]
  %p1 = tfrt_dht.print_tensor %a, %c1
  %one = tfrt.constant.bf16 1.0
  %two = tfrt.constant.bf16 2.0
  %c2 = "tfrt_dht.set_tensor_with_values.bf16"(%a, %p1, %two, %one) : (!t.tensor, !tfrt.chain, bf16, bf16) -> !tfrt.chain
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2], values = [bf16(16384), bf16(16256)]
  %p2 = tfrt_dht.print_tensor %a, %c2
  %few = tfrt_dht.set_tensor_with_constant_values.bf16 %a, %p2 [1.0 : bf16]
  %fewer = "tfrt_dht.set_tensor_with_values.bf16"(%a, %p2) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %few, %fewer : !tfrt.chain, !tfrt.chain
}
// CHECK: 'values' returned <<error: Incorrect number of values for the tensor: 1, but expected 2>>,<<error: Incorrect number of values for the tensor: 0, but expected 2>>

// CHECK-LABEL: --- Running 'buffers':
func.func @buffers() -> !t.tensor {
  %ch = tfrt.new.chain
  %size = tfrt.constant.i64 4
  %alignment = tfrt.constant.i64 16
  %buffer = tfrt_dht.allocate_buffer %size, %alignment
  %two = ts.build_shape [2 : i64]
  %three = ts.build_shape [3 : i64]
  %a, %c1 = tfrt_dht.make_tensor.bf16 %buffer, %two, %ch
  %c2 = tfrt_dht.fill_tensor_with_constant.bf16 %a, %c1 1.0 : bf16
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2], values = [bf16(16256), bf16(16256)]
  %c3 = tfrt_dht.print_tensor %a, %c2
  %b, %c4 = tfrt_dht.make_tensor.bf16 %buffer, %three, %c3
  tfrt.return %b : !t.tensor
}
// CHECK: 'buffers' returned <<error: dht.make_tensor failed: buffer_size (4) is not equal to the number of elements in shape ([3]) times element size (2)>>

// CHECK-LABEL: --- Running 'synchronous':
func.func @synchronous() attributes {tfrt.sync} {
  %t0 = tfrt_dht_sync.create_uninitialized_tensor.bf16.0 []
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t0 [2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [], values = [bf16(16384)]
  tfrt_dht_sync.print_tensor %t0
  %t1 = tfrt_dht_sync.create_uninitialized_tensor.bf16.1 [2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t1 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2], values = [bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %t1
  %t2 = tfrt_dht_sync.create_uninitialized_tensor.bf16.2 [2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t2 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [2, 1], values = [bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %t2
  %t3 = tfrt_dht_sync.create_uninitialized_tensor.bf16.3 [1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t3 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 2, 1], values = [bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %t3
  %t4 = tfrt_dht_sync.create_uninitialized_tensor.bf16.4 [1 : i64, 1 : i64, 2 : i64, 1 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t4 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 1, 2, 1], values = [bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %t4
  %t5 = tfrt_dht_sync.create_uninitialized_tensor.bf16.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %t5 [2.0 : bf16, 2.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1, 1, 1, 1, 2], values = [bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %t5
  %d = "tfrt_dht_sync.create_dense_tensor.bf16"() {shape = [3], values = [2.0 : bf16]} : () -> !t.tensor
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [3], values = [bf16(16384), bf16(16384), bf16(16384)]
  tfrt_dht_sync.print_tensor %d
  %s = "tfrt_dht_sync.create_from_scalar.bf16"() {shape = [2, 3], value = 1.0 : bf16} : () -> !t.tensor
  // CHECK-NEXT: ScalarHostTensor dtype = bf16, shape = [2, 3], value = bf16(16256)
  tfrt_dht_sync.print_tensor %s
  %size = "tfrt.constant_s.i64"() {value = 2 : i64} : () -> i64
  %buffer = tfrt_dht_sync.allocate_buffer %size, %size
  %shape = ts_sync.build_shape [1 : i64]
  %m = tfrt_dht_sync.make_tensor.bf16 %buffer, %shape
  tfrt_dht_sync.set_tensor_with_constant_values.bf16 %m [1.0 : bf16]
  // CHECK-NEXT: DenseHostTensor dtype = bf16, shape = [1], values = [bf16(16256)]
  tfrt_dht_sync.print_tensor %m
  tfrt.return
}
