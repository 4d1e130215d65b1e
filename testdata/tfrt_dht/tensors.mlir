// Dense host tensors of every element type.
//
// RUN: ir-opt %s | ir-opt | FileCheck --check-prefix=TEXT %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | ir-translate --bef-to-mlir | bef-exec - | FileCheck %s

// CHECK-LABEL: --- Running 'integers'
func.func @integers() -> !tfrt.chain {
  %ch = tfrt.new.chain
  // TEXT: tfrt_dht.create_uninitialized_tensor.ui8.1 [2]
  %a = tfrt_dht.create_uninitialized_tensor.ui8.1 [2 : i64]
  // TEXT: tfrt_dht.set_tensor_with_constant_values.ui8 %{{.*}}, %{{.*}} [1 : ui8, 255 : ui8]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.ui8 %a, %ch [1 : ui8, 255 : ui8]
  // CHECK-NEXT: DenseHostTensor dtype = ui8, shape = [2], values = [1, 255]
  %ch2 = tfrt_dht.print_tensor %a, %ch1
  %b = tfrt_dht.create_uninitialized_tensor.i8.0 []
  %ch3 = tfrt_dht.fill_tensor_with_constant.i8 %b, %ch2 -128 : i8
  // CHECK-NEXT: DenseHostTensor dtype = i8, shape = [], values = [-128]
  %ch4 = tfrt_dht.print_tensor %b, %ch3
  %c = tfrt_dht.create_uninitialized_tensor.ui64.1 [1 : i64]
  %ch5 = tfrt_dht.fill_tensor_with_constant.ui64 %c, %ch4 18446744073709551615 : ui64
  // CHECK-NEXT: DenseHostTensor dtype = ui64, shape = [1], values = [18446744073709551615]
  %ch6 = tfrt_dht.print_tensor %c, %ch5
  %d = tfrt_dht.create_uninitialized_tensor.bool.5 [1 : i64, 1 : i64, 1 : i64, 1 : i64, 3 : i64]
  %ch7 = tfrt_dht.set_tensor_with_constant_values.bool %d, %ch6 [true, false, true]
  // CHECK-NEXT: DenseHostTensor dtype = i1, shape = [1, 1, 1, 1, 3], values = [1, 0, 1]
  %ch8 = tfrt_dht.print_tensor %d, %ch7
  %e = tfrt_dht.create_uninitialized_tensor.i32.2 [0 : i64, 2 : i64]
  %ch9 = tfrt_dht.set_tensor_with_constant_values.i32 %e, %ch8 []
  // CHECK-NEXT: DenseHostTensor dtype = i32, shape = [0, 2], values = []
  %ch10 = tfrt_dht.print_tensor %e, %ch9
  // CHECK-NEXT: shape = [0, 2]
  %ch11 = "tfrt_dht.print_tensor_shape"(%e, %ch10) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch11 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'values'
func.func @values() -> !t.tensor {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f64.1 [2 : i64]
  %x = tfrt.constant.f64 1.5
  %ch1 = "tfrt_dht.set_tensor_with_values.f64"(%a, %ch, %x, %x) : (!t.tensor, !tfrt.chain, f64, f64) -> !tfrt.chain
  %b = "cpu.after"(%a, %ch1) : (!t.tensor, !tfrt.chain) -> !t.tensor
  tfrt.return %b : !t.tensor
}
// CHECK: 'values' returned array([1.5, 1.5], shape=(2,), dtype=float64)

// CHECK-LABEL: --- Running 'comparisons'
func.func @comparisons() -> (i1, i1, i1) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [1 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch 0x3F800000 : f32
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 0x3F800003 : f32
  %equal, %ch3 = tfrt_dht.tensor_equal.f32 %a, %b, %ch2
  %close, %ch4 = "tfrt_dht.tensor_allclose.f32"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  %closer, %ch5 = "tfrt_dht.tensor_allclose.3ulp.f32"(%a, %b, %ch2) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i1, !tfrt.chain)
  tfrt.return %equal, %close, %closer : i1, i1, i1
}
// CHECK: 'comparisons' returned 0,0,1

// CHECK-LABEL: --- Running 'buffers'
func.func @buffers() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %size = tfrt.constant.i64 16
  %align = tfrt.constant.i64 8
  %half = tfrt.constant.i64 8
  %whole = tfrt_dht.allocate_buffer %size, %align
  // CHECK-NEXT: HostBuffer<pointer=0x{{[0-9a-f]+}}, size=16>
  %ch1 = tfrt_dht.print_buffer %whole, %ch
  %part = tfrt_dht.get_buffer_slice %whole, %half, %half
  %four = ts.build_shape [4 : i64]
  %two = ts.build_shape [2 : i64]
  %a, %ch2 = tfrt_dht.make_tensor.i32 %whole, %four, %ch1
  %b, %ch3 = tfrt_dht.make_tensor.i32 %part, %two, %ch2
  %ch4 = tfrt_dht.fill_tensor_with_constant.i32 %a, %ch3 1 : i32
  %ch5 = tfrt_dht.fill_tensor_with_constant.i32 %b, %ch4 2 : i32
  // CHECK-NEXT: DenseHostTensor dtype = i32, shape = [4], values = [1, 1, 2, 2]
  %ch6 = tfrt_dht.print_tensor %a, %ch5
  %again, %ch7 = tfrt_dht.get_buffer %b, %ch6
  // CHECK-NEXT: HostBuffer<pointer=0x{{[0-9a-f]+}}, size=8>
  %ch8 = tfrt_dht.print_buffer %again, %ch7
  tfrt.return %ch8 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bad_buffers'
func.func @bad_buffers() -> (!ht.host_buffer, !ht.host_buffer, !ht.host_buffer, !t.tensor) {
  %ch = tfrt.new.chain
  %n = tfrt.constant.i64 8
  %minus = tfrt.constant.i64 -1
  %a = tfrt_dht.allocate_buffer %minus, %n
  %b = tfrt_dht.allocate_buffer %n, %minus
  %c = tfrt_dht.allocate_buffer %n, %n
  %d = tfrt_dht.get_buffer_slice %c, %n, %n
  %shape = ts.build_shape [3 : i64]
  %e, %ch1 = tfrt_dht.make_tensor.i32 %c, %shape, %ch
  tfrt.return %a, %b, %d, %e : !ht.host_buffer, !ht.host_buffer, !ht.host_buffer, !t.tensor
}
// CHECK: returned <<error: a buffer cannot have -1 bytes>>,<<error: the alignment -1 is not a power of two of at most 64>>,<<error: no 8 bytes from 8 on in a buffer of 8 bytes>>,<<error: {{.*}}>>

// CHECK-LABEL: --- Running 'synchronous'
func.func @synchronous() -> !t.tensor attributes {tfrt.sync} {
  %a = tfrt_dht_sync.create_uninitialized_tensor.f32.2 [1 : i64, 2 : i64]
  tfrt_dht_sync.set_tensor_with_constant_values.f32 %a [1.0 : f32, -0.5 : f32]
  // CHECK-NEXT: DenseHostTensor dtype = f32, shape = [1, 2], values = [1.000000e+00, -5.000000e-01]
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_dht_sync.create_dense_tensor.i64"() {shape = [2 : i64], values = [3 : i64, 4 : i64]} : () -> !t.tensor
  tfrt.return %b : !t.tensor
}
// CHECK: 'synchronous' returned array([3, 4], shape=(2,), dtype=int64)

// CHECK-LABEL: --- Running 'strings'
func.func @strings() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %a = "tfrt_sht.create_tensor"() {shape = [2 : i64], values = ["one", "two"]} : () -> !t.tensor
  // CHECK-NEXT: StringHostTensor shape = [2], values = ["one", "two"]
  %ch1 = tfrt_dht.print_tensor %a, %ch
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sparse'
func.func @sparse() -> (!tfrt.chain, i1) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.i32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.set_tensor_with_constant_values.i32 %a, %ch [0 : i32, 5 : i32, 0 : i32, -6 : i32]
  %b, %ch2 = coo.convert_dht_to_coo.i32.2 %a, %ch1
  // CHECK-NEXT: CooHostTensor dtype = i32, shape = [2, 2], indices = [0, 1, 1, 1], values = [5, -6]
  %ch3 = coo.print_tensor %b, %ch2
  %c, %ch4 = coo.convert_coo_to_dht.i32.2 %b, %ch3
  // CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2, 2], values = [0, 5, 0, -6]
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %equal, %ch6 = coo.tensor_equal.i32.2 %b, %b, %ch5
  tfrt.return %ch6, %equal : !tfrt.chain, i1
}
// CHECK: 'sparse' returned !tfrt.chain value,1
