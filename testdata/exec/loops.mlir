// Loops run in the frame of one iteration, however many there are, and values that are late make no difference.
//
// RUN: bef-exec %s --work-queue s --leak-check 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'repeat':
// CHECK-NEXT: 'repeat' returned 55,89,1
func.func @repeat() -> (i32, i32, i32) {
  %n = tfrt.constant.i32 10
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.repeat.i32 %n, %zero, %one : i32, i32 {
    %sum = tfrt.add.i32 %zero, %one
    tfrt.return %one, %sum : i32, i32
  }
  %none = tfrt.repeat.i32 %zero, %one : i32 {
    %two = tfrt.add.i32 %one, %one
    tfrt.return %two : i32
  }
  tfrt.return %r#0, %r#1, %none : i32, i32, i32
}

// The iterations print in their order, because a chain goes through them.
// CHECK-NEXT: --- Running 'ordered':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 4
// CHECK-NEXT: int32 = 8
func.func @ordered() {
  %ch = tfrt.new.chain
  %three = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %x, %ch2 = tfrt.repeat.i32 %three, %one, %ch : i32, !tfrt.chain {
    %ch1 = tfrt.print.i32 %one, %ch
    %two = tfrt.add.i32 %one, %one
    tfrt.return %two, %ch1 : i32, !tfrt.chain
  }
  %done = tfrt.print.i32 %x, %ch2
  tfrt.return
}

// Two million iterations in constant memory.
// CHECK-NEXT: --- Running 'many':
// CHECK-NEXT: 'many' returned 2000000
func.func @many() -> i32 {
  %n = tfrt.constant.i32 2000000
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %r:2 = tfrt.repeat.i32 %n, %zero, %one : i32, i32 {
    %sum = tfrt.add.i32 %zero, %one
    tfrt.return %sum, %one : i32, i32
  }
  tfrt.return %r#0 : i32
}

func.func @increment(%i: i32, %limit: i32, %one: i32) -> (i32, i32, i32, i1) {
  %next = tfrt.add.i32 %i, %one
  %end = "tfrt.minus.i32"(%limit, %one) : (i32, i32) -> i32
  %more = "tfrt.lessequal.i32"(%next, %end) : (i32, i32) -> i1
  tfrt.return %next, %limit, %one, %more : i32, i32, i32, i1
}

// CHECK: --- Running 'while':
// CHECK-NEXT: 'while' returned 1000000,0
func.func @while() -> (i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %n = tfrt.constant.i32 1000000
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %r:3 = tfrt.while %yes @increment(%zero, %n, %one) parallel_iterations(1) : (i32, i32, i32) -> (i32, i32, i32)
  %s:3 = tfrt.while %no @increment(%zero, %n, %one) parallel_iterations(1) : (i32, i32, i32) -> (i32, i32, i32)
  tfrt.return %r#0, %s#0 : i32, i32
}

func.func @increment_later(%i: i32, %limit: i32) -> (i32, i32, i1) {
  %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %next = "tfrt_test.async_add.i32"(%i, %one) : (i32, i32) -> i32
  %more = "tfrt.lessequal.i32"(%next, %limit) : (i32, i32) -> i1
  tfrt.return %next, %limit, %more : i32, i32, i1
}

// CHECK: --- Running 'while_later':
// CHECK-NEXT: 'while_later' returned 5001,4000
func.func @while_later() -> (i32, i32) {
  %zero = "tfrt_test.async_constant.i32"() {value = 0 : i32} : () -> i32
  %n = tfrt.constant.i32 5000
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @increment_later(%zero, %n) parallel_iterations(4) : (i32, i32) -> (i32, i32)
  %times = tfrt.constant.i32 4000
  %s = tfrt.repeat.i32 %times, %zero : i32 {
    %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
    %sum = tfrt.add.i32 %zero, %one
    tfrt.return %sum : i32
  }
  tfrt.return %r#0, %s : i32, i32
}

// An error in an iteration goes through those behind it; one in the condition ends the loop.
func.func @fails(%x: i32) -> (i32, i1) {
  %bad = "tfrt_test.fail"() : () -> i32
  %more = tfrt.equal.i32 %bad, %x
  tfrt.return %x, %more : i32, i1
}
// CHECK: --- Running 'errors':
// CHECK-NEXT: 'errors' returned <<error: something bad happened>>,2,<<error: something bad happened>>,<<error: the trip count is -3: it must not be negative>>
// ERR: loops.mlir:[[@LINE+7]]:12: error: something bad happened
// ERR-NEXT: loops.mlir:[[@LINE+5]]:10: note: called from here
func.func @errors() -> (i32, i32, i32, i32) {
  %n = tfrt.constant.i32 1000
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %r:2 = tfrt.repeat.i32 %n, %one, %two : i32, i32 {
    %bad = "tfrt_test.fail"() : () -> i32
    tfrt.return %bad, %two : i32, i32
  }
  %yes = tfrt.constant.i1 true
  // ERR-NEXT: loops.mlir:[[@LINE-17]]:10: error: something bad happened
  // ERR-NEXT: loops.mlir:[[@LINE+1]]:8: note: called from here
  %s = tfrt.while %yes @fails(%one) parallel_iterations(1) : (i32) -> (i32)
  %minus = tfrt.constant.i32 -3
  // ERR-NEXT: loops.mlir:[[@LINE+1]]:8: error: the trip count is -3: it must not be negative
  %t = tfrt.repeat.i32 %minus, %one : i32 {
    tfrt.return %one : i32
  }
  tfrt.return %r#0, %r#1, %s, %t : i32, i32, i32, i32
}

// A cancellation reaches a loop that would not end.
func.func @endless(%x: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %zero, %done = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %yes = tfrt.constant.i1 true
  tfrt.return %x, %ch, %yes : i32, !tfrt.chain, i1
}
// CHECK: --- Running 'cancelled':
// CHECK-NEXT: 'cancelled' returned <<error: Cancelled>>
// ERR-NEXT: {{^}}error: Cancelled{{$}}
func.func @cancelled() -> i32 {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r, %ch1 = tfrt.while %yes @endless(%one, %ch) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
// ERR-NOT: {{.}}

// Constants of a body are there in each iteration: after one that owns something, and after one that failed.
// CHECK-LABEL: 'constants' returned 40
func.func @constants_step(%i: i32, %t: !t.tensor) -> (i32, !t.tensor, i1) {
  %ten = tfrt.constant.i32 10
  %limit = tfrt.constant.i32 30
  %next = tfrt.add.i32 %i, %ten
  %less = tfrt.lessequal.i32 %next, %limit
  tfrt.return %next, %t, %less : i32, !t.tensor, i1
}
func.func @constants() -> i32 {
  %go = tfrt.constant.i1 true
  %zero = tfrt.constant.i32 0
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %r:2 = tfrt.while %go @constants_step(%zero, %t) parallel_iterations(1) : (i32, !t.tensor) -> (i32, !t.tensor)
  tfrt.return %r#0 : i32
}
