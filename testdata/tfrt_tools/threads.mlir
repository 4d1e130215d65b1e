// On the queue mstd the calling thread runs its own stream; kernels of other streams are left to the queue's threads.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor %t.bef -work_queue_type=mstd | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:1 | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:1 | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:1 | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:8 | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:8 | FileCheck %s
// RUN: bef_executor %t.bef -work_queue_type=mstd:8 | FileCheck %s

// CHECK: --- Running 'two_streams':
// CHECK-NEXT: 'two_streams' returned 0,0,1
func.func @two_streams() -> (i32, i32, i32) attributes {tfrt.cost_threshold = 10 : i64} {
  %ch = tfrt.new.chain
  // The calling thread asks first.
  %zero = "tfrt_test.get_thread_id"(%ch) : (!tfrt.chain) -> i32
  %asked = "tfrt.merge.chains"(%zero) : (i32) -> !tfrt.chain
  %here = "tfrt_test.get_thread_id"(%asked) : (!tfrt.chain) -> i32
  %there = "tfrt_test.get_thread_id"(%asked) : (!tfrt.chain) -> i32
  tfrt.return %zero, %here, %there : i32, i32, i32
}
