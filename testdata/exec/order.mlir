// The order of kernels on the `s` queue is fixed: of kernels without operands the last one runs first; of the users of one value the first
// one, and what follows from it before the other users. This holds within a stream; the other streams are tasks, the least first.
//
// RUN: bef-exec %s --work-queue s | FileCheck %s

// All of it is cheap, so it is one stream.
// CHECK: --- Running 'users':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: int32 = 11
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 3
func.func @users() attributes {tfrt.cost_threshold = 100 : i64} {
  %ch = tfrt.new.chain {_tfrt_cost = 1 : i64}
  %one = tfrt.constant.i32 1 {_tfrt_cost = 1 : i64}
  %two = tfrt.constant.i32 2 {_tfrt_cost = 1 : i64}
  %three = tfrt.constant.i32 3 {_tfrt_cost = 1 : i64}
  %eleven = tfrt.constant.i32 11 {_tfrt_cost = 1 : i64}
  %a = tfrt.print.i32 %one, %ch {_tfrt_cost = 1 : i64}
  %b = tfrt.print.i32 %two, %ch {_tfrt_cost = 1 : i64}
  %c = tfrt.print.i32 %three, %ch {_tfrt_cost = 1 : i64}
  %d = tfrt.print.i32 %eleven, %a {_tfrt_cost = 1 : i64}
  tfrt.return
}

// Where nobody says what it costs, each print is a stream of its own with what it prints, but %d, which is in that of %a. They go on when
// %ch is there, the least first: streams are numbered from the last one to the first, the longest path, %d's, before the others.
// CHECK-NEXT: --- Running 'streams':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: int32 = 11
// CHECK-NEXT: int32 = 3
// CHECK-NEXT: int32 = 2
func.func @streams() {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %eleven = tfrt.constant.i32 11
  %a = tfrt.print.i32 %one, %ch
  %b = tfrt.print.i32 %two, %ch
  %c = tfrt.print.i32 %three, %ch
  %d = tfrt.print.i32 %eleven, %a
  tfrt.return
}

// The chains are there from the last to the first, and each starts its print at once.
// CHECK-NEXT: --- Running 'sources':
// CHECK-NEXT: int32 = 3
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 1
func.func @sources() {
  %x = tfrt.constant.i32 1
  %y = tfrt.constant.i32 2
  %z = tfrt.constant.i32 3
  %ch1 = tfrt.new.chain
  %ch2 = tfrt.new.chain
  %ch3 = tfrt.new.chain
  %c1 = tfrt.merge.chains %ch1 : !tfrt.chain
  %c2 = tfrt.merge.chains %ch2 : !tfrt.chain
  %c3 = tfrt.merge.chains %ch3 : !tfrt.chain
  %p1 = tfrt.print.i32 %x, %c1
  %p2 = tfrt.print.i32 %y, %c2
  %p3 = tfrt.print.i32 %z, %c3
  tfrt.return
}

// The users of an argument come in the order of the arguments, the last pushed first.
// CHECK-NEXT: --- Not running 'arguments'
// CHECK-NEXT: --- Running 'call':
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 1
func.func @arguments(%x: i32, %y: i32, %ch: !tfrt.chain) attributes {tfrt.cost_threshold = 100 : i64} {
  %a = "tfrt_test.sum"(%x) {_tfrt_cost = 1 : i64} : (i32) -> i32
  %b = "tfrt_test.sum"(%y) {_tfrt_cost = 1 : i64} : (i32) -> i32
  %p = tfrt.print.i32 %a, %ch {_tfrt_cost = 1 : i64}
  %q = tfrt.print.i32 %b, %ch {_tfrt_cost = 1 : i64}
  tfrt.return
}
func.func @call() {
  %x = tfrt.constant.i32 1
  %y = tfrt.constant.i32 2
  %ch = tfrt.new.chain
  tfrt.call @arguments(%x, %y, %ch) : (i32, i32, !tfrt.chain) -> ()
  tfrt.return
}

// What a task produces comes when the kernels that need no waiting have run.
// CHECK-NEXT: --- Running 'tasks':
// CHECK-NEXT: int32 = 2
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: 'tasks' returned 1
func.func @tasks() -> i32 {
  %ch = tfrt.new.chain
  %late = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %now = tfrt.constant.i32 2
  %p = tfrt.print.i32 %late, %ch
  %q = tfrt.print.i32 %now, %ch
  tfrt.return %late : i32
}
