// Dense tensors: allocation, writes in the order of chains, shapes, and memory that is refused.
//
// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:2 --host-allocator leak-check --leak-check | FileCheck %s
// RUN: ir-translate %s -o %t.bef && bef-exec %t.bef | FileCheck %s
// RUN: bef-exec %s --host-allocator fixed-1k 2>&1 | FileCheck %s --check-prefix=SMALL

// CHECK: --- Running 'fill':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 3], values = [3, 3, 3, 3, 3, 3]
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 3], values = [1, 2, 3, 4, 5, 6]
// CHECK-NEXT: 'fill' returned
// CHECK-NEXT: array({{\[\[}}1, 2, 3],
// CHECK-NEXT:        [4, 5, 6]], shape=(2, 3), dtype=int32)
func.func @fill() -> !t.tensor {
  %ch0 = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 3 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.i32 %a, %ch0 3 : i32
  %ch2 = tfrt_dht.print_tensor %a, %ch1
  %ch3 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch2 [1 : i32, 2 : i32, 3 : i32, 4 : i32, 5 : i32, 6 : i32]
  %ch4 = tfrt_dht.print_tensor %a, %ch3
  %r = "cpu.after"(%a, %ch4) : (!t.tensor, !tfrt.chain) -> !t.tensor
  tfrt.return %r : !t.tensor
}

// CHECK-NEXT: --- Running 'shapes':
// CHECK-NEXT: shape = [1, 57, 92]
// CHECK-NEXT: 'shapes' returned 5244
func.func @shapes() -> i64 {
  %ch0 = tfrt.new.chain
  %s = ts.build_shape [1 : i64, 57 : i64, 92 : i64]
  %ch1 = ts.print_shape %s, %ch0
  %n = ts.get_num_elements %s
  tfrt.return %n : i64
}

// CHECK-NEXT: --- Running 'large':
// CHECK-NEXT: 'large' returned 1000
// SMALL: tensors.mlir:[[@LINE+4]]:8: error: out of memory: 8064 bytes asked for, 1024 left of a budget of 1024
// SMALL-NEXT: 'large' returned <<error: out of memory: 8064 bytes asked for, 1024 left of a budget of 1024>>
func.func @large() -> i64 {
  %s0 = ts.build_shape [1000 : i64]
  %a = "cpu.allocate.i64"(%s0) : (!ts.shape) -> !t.tensor
  %s = tfrt_dht.get_tensor_shape %a
  %n = ts.get_num_elements %s
  tfrt.return %n : i64
}
