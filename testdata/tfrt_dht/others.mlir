// What tensors of any type have: shapes, parts of buffers, strings.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'shapes':
// CHECK-NEXT: shape = [2, 3]
// CHECK-NEXT: 'shapes' returned shape = [2, 3],!tfrt.chain value
func.func @shapes() -> (!ts.shape, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %shape = tfrt_dht.get_tensor_shape %a
  %c1 = "tfrt_dht.print_tensor_shape"(%a, %ch) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  %c2 = "tfrt_dht.no_op_ht"(%a, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %shape, %c2 : !ts.shape, !tfrt.chain
}

// What is written to a part of a buffer is in the buffer.
// CHECK: --- Running 'parts':
// CHECK-NEXT: DenseHostTensor dtype = i32, shape = [2], values = [1, 2]
// CHECK-NEXT: 'parts' returned shape = [1]
func.func @parts() -> !ts.shape attributes {tfrt.sync} {
  %four = tfrt.constant_s.i64 4
  %eight = tfrt.constant_s.i64 8
  %whole = tfrt_dht_sync.allocate_buffer %eight, %eight
  %part = tfrt_dht_sync.get_buffer_slice %whole, %four, %four
  %one = ts_sync.build_shape [1 : i64]
  %two = ts_sync.build_shape [2 : i64]
  %a = tfrt_dht_sync.make_tensor.i32 %whole, %two
  %b = tfrt_dht_sync.make_tensor.i32 %part, %one
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %a [1 : i32, 1 : i32]
  tfrt_dht_sync.set_tensor_with_constant_values.i32 %b [2 : i32]
  tfrt_dht_sync.print_tensor %a
  %shape = tfrt_dht_sync.get_tensor_shape %b
  tfrt.return %shape : !ts.shape
}

// CHECK: --- Running 'strings':
// CHECK-NEXT: StringHostTensor shape = [1, 2], values = ["one", "two"]
// CHECK-NEXT: StringHostTensor shape = [2], values = ["", ""]
// CHECK-NEXT: 'strings' returned <<error: Shape mismatch>>
func.func @strings() attributes {tfrt.sync} {
  %a = "tfrt_sht_sync.create_tensor"() {shape = [1, 2], values = ["one", "two"]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %a
  %b = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [2]} : () -> !t.tensor
  tfrt_dht_sync.print_tensor %b
  %c = "tfrt_sht_sync.create_tensor"() {shape = [3], values = ["one", "two"]} : () -> !t.tensor
  tfrt.return
}
