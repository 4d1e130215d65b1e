// Kernels that set their results in tasks, on every queue.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4,1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --repeat 200 --warmup 5 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'sum':
// CHECK-NEXT: 'sum' returned 45
func.func @sum() -> i32 {
  %a = "tfrt_test.async_constant.i32"() {value = 42 : i32} : () -> i32
  %b = tfrt.constant.i32 1
  %c = "tfrt_test.async_add.i32"(%a, %b) : (i32, i32) -> i32
  %d = "tfrt_test.async_copy.i32"(%b) : (i32) -> i32
  %e = "tfrt_test.sum"(%c, %d, %b) : (i32, i32, i32) -> i32
  tfrt.return %e : i32
}

// A callee starts with arguments that are not there yet, and gives one back.
// CHECK-NEXT: --- Not running 'second'
// CHECK-NEXT: --- Running 'passes':
// CHECK-NEXT: 'passes' returned 7,3
func.func @second(%x: i32, %y: i32) -> (i32, i32) {
  %sum = tfrt.add.i32 %x, %x
  tfrt.return %y, %sum : i32, i32
}
func.func @passes() -> (i32, i32) {
  %a = "tfrt_test.async_constant.i32"() {value = 7 : i32} : () -> i32
  %b = tfrt.constant.i32 1
  %r:2 = tfrt.call @second(%b, %a) : (i32, i32) -> (i32, i32)
  %three = tfrt.add.i32 %r#1, %b
  tfrt.return %r#0, %three : i32, i32
}

// An error goes through tasks like any value.
// CHECK-NEXT: --- Running 'fails':
// CHECK-NEXT: 'fails' returned <<error: something bad happened>>,5
func.func @fails() -> (i32, i32) {
  %x = "tfrt_test.fail"() : () -> i32
  %a = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %b = "tfrt_test.async_add.i32"(%a, %x) : (i32, i32) -> i32
  tfrt.return %b, %a : i32, i32
}

// What is not chosen may be missing or an error.
// CHECK-NEXT: --- Running 'selects':
// CHECK-NEXT: 'selects' returned 5,<<error: something bad happened>>
func.func @selects() -> (i32, i32) {
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %a = "tfrt_test.async_constant.i32"() {value = 5 : i32} : () -> i32
  %x = "tfrt_test.fail"() : () -> i32
  %r = "tfrt_test.select.i32"(%yes, %a, %x) : (i1, i32, i32) -> i32
  %s = "tfrt_test.select.i32"(%no, %a, %x) : (i1, i32, i32) -> i32
  tfrt.return %r, %s : i32, i32
}
