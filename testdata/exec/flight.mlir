// How many iterations of a `while` are in flight.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s --check-prefixes=CHECK,ORDER
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s

// What takes long waits here for what is quick: how many are in flight is printed, and the bound is reached.
func.func @counts(%i: i32, %end: i32, %in_flight: !test.atomic.i32) -> (i32, i32, !test.atomic.i32, i1) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %minus = tfrt.constant.i32 -1
  %up = "tfrt_test.atomic.inc.i32"(%in_flight, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %n, %got = "tfrt_test.atomic.get.i32"(%in_flight, %up) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %printed = tfrt.print.i32 %n, %got
  %slow = "tfrt_test.copy.with_delay.i32"(%i, %printed) : (i32, !tfrt.chain) -> i32
  %done = tfrt.merge.chains %slow : i32
  %down = "tfrt_test.atomic.add.i32"(%in_flight, %minus, %done) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %end, %in_flight, %more : i32, i32, !test.atomic.i32, i1
}

// CHECK: --- Running 'three_in_flight':
// CHECK-NOT: int32 = 4
// ORDER: int32 = 1
// ORDER-NEXT: int32 = 2
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 3
// ORDER-NEXT: int32 = 3
// CHECK: 'three_in_flight' returned 6
func.func @three_in_flight() -> i32 {
  %zero = tfrt.constant.i32 0
  %end = tfrt.constant.i32 5
  %yes = tfrt.constant.i1 true
  %in_flight = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %r:3 = tfrt.while %yes @counts(%zero, %end, %in_flight) parallel_iterations(3)
    : (i32, i32, !test.atomic.i32) -> (i32, i32, !test.atomic.i32)
  tfrt.return %r#0 : i32
}
