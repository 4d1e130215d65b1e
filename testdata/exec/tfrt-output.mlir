// What TFRT's bef_executor prints of its own.
//
// RUN: bef-exec %s --tfrt-output --work-queue s | FileCheck %s
// RUN: bef-exec %s --tfrt-output --work-queue mstd:2 --host-allocator leak-check | FileCheck %s --check-prefix=OTHERS

// CHECK: Choosing malloc.
// CHECK-NEXT: Choosing single-threaded work queue.
// CHECK-NEXT: --- Running 'values':
// CHECK-NEXT: 'values' returned 1,2,3,1.500000e+00,!t.tensor value,!tfrt.string value,!tfrt.chain value

// OTHERS: Choosing memory leak check allocator.
// OTHERS-NEXT: Choosing Multi-threaded C++ work queue (2 threads) work queue.
func.func @values() -> (i1, i32, i64, f32, !t.tensor, !tfrt.string, !tfrt.chain) {
  %ch = tfrt.new.chain
  %a = tfrt.constant.i1 true
  %b = tfrt.constant.i32 2
  %c = tfrt.constant.i64 3
  %d = tfrt.constant.f32 1.5
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_test.get_string { value = "text" }
  tfrt.return %a, %b, %c, %d, %t, %s, %ch : i1, i32, i64, f32, !t.tensor, !tfrt.string, !tfrt.chain
}
