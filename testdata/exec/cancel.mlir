// After a cancellation no kernel starts.
//
// RUN: bef-exec %s --work-queue s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:2 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --print-error-code 2>/dev/null | FileCheck %s --check-prefix=CODE
// RUN: ir-translate %s -o %t.bef
// RUN: not bef-exec %t.bef --timeout 0 --functions after --work-queue s 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: bef-exec %s --timeout 1e6 --functions after 2>&1 | FileCheck %s --check-prefix=AFTER

// CHECK: --- Running 'cancelled':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: 'cancelled' returned 0,<<error: Cancelled>>
// CODE: 'cancelled' returned 0,<<error: Cancelled, code: Cancelled>>
// ERR: {{^}}error: Cancelled{{$}}
// ERR-NOT: {{.}}
func.func @cancelled() -> (i32, i32) {
  %ch0 = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %ch1 = tfrt.print.i32 %one, %ch0
  %zero, %ch2 = "tfrt_test.cancel"(%ch1) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %ch3 = tfrt.print.i32 %one, %ch2
  %sum = "tfrt.add.i32"(%one, %one, %ch3) : (i32, i32, !tfrt.chain) -> i32
  tfrt.return %zero, %sum : i32, i32
}

// Each function is a request of its own.
// CHECK-NEXT: --- Running 'after':
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: 'after' returned 2
// TIME: --- Running 'after':
// TIME-NEXT: {{^}}error: Deadline exceeded{{$}}
// TIME-NEXT: 'after' returned <<error: Deadline exceeded>>
// TIME-NOT: {{.}}
// AFTER: 'after' returned 2
func.func @after() -> i32 {
  %ch0 = tfrt.new.chain
  %two = tfrt.constant.i32 2
  %ch1 = tfrt.print.i32 %two, %ch0
  tfrt.return %two : i32
}
