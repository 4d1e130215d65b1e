// Asynchronous kernels of `tfrt_test`.
//
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue s --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 1 --leak-check | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s | bef-exec - --seed 2 --leak-check | FileCheck %s

// CHECK-LABEL: --- Running 'results_of_tasks'
func.func @results_of_tasks() -> (i1, i32, i32, i64) {
  %a = "tfrt_test.async_constant.i1"() {value = true} : () -> i1
  %b = "tfrt_test.async_constant.i32"() {what = 20 : i32} : () -> i32
  %c = "tfrt_test.async_copy_2.i32"(%b) : (i32) -> i32
  %d = "tfrt_test.async_copy.with_delay.i32"(%c) : (i32) -> i32
  %e = tfrt.constant.i64 5
  %f = "tfrt_test.copy.with_delay.i64"(%e) : (i64) -> i64
  %g, %h, %i = tfrt_test.count3.i64 %f
  tfrt.return %a, %b, %d, %i : i1, i32, i32, i64
}
// CHECK: 'results_of_tasks' returned 1,20,20,8

// CHECK-LABEL: --- Running 'failures'
func.func @failures() -> (i32, i32, i32, !tfrt.chain) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %a = "tfrt_test.report_error_async"() : () -> i32
  %b = "tfrt_test.report_error_concrete_async"(%zero) : (i32) -> i32
  %c = "tfrt_test.report_error_indirect_async"(%one) : (i32) -> i32
  // Never an error, whatever it waits for.
  %ch = "tfrt_test.as_chain"(%a, %b, %zero, %c) : (i32, i32, i32, i32) -> !tfrt.chain
  tfrt.return %a, %b, %c, %ch : i32, i32, i32, !tfrt.chain
}
// CHECK: 'failures' returned <<error: something bad happened asynchronously>>,0,<<error: something bad happened asynchronously>>,!tfrt.chain value

// CHECK-LABEL: --- Running 'do_async'
func.func @do_async() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt_test.do.async %a : (i32) -> (i32) {
    %c = tfrt.add.i32 %a, %a
    tfrt.return %c : i32
  }
  %d = tfrt_test.do.async %b : (i32) -> (i32) {
    %e = tfrt_test.do.async %b : (i32) -> (i32) {
      %f = "tfrt_test.async_add.i32"(%b, %b) : (i32, i32) -> i32
      tfrt.return %f : i32
    }
    tfrt.return %e : i32
  }
  tfrt.return %b, %d : i32, i32
}
// CHECK: 'do_async' returned 2,4

// CHECK-LABEL: --- Running 'do_async_fails'
func.func @do_async_fails() -> i32 {
  %a = tfrt_test.do.async : () -> (i32) {
    %b = "tfrt_test.fail"() : () -> i32
    tfrt.return %b : i32
  }
  tfrt.return %a : i32
}
// CHECK: 'do_async_fails' returned <<error: something bad happened>>

// As deep as one likes: nothing waits for anything on the machine's stack.
// CHECK-LABEL: --- Running 'deep'
func.func @deep() -> i32 {
  %n = tfrt.constant.i32 20000
  %r = tfrt.call @down(%n) : (i32) -> i32
  tfrt.return %r : i32
}
// CHECK: 'deep' returned 0

func.func @down(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %done = "tfrt.lessequal.i32"(%n, %zero) : (i32, i32) -> i1
  %r = tfrt.if %done, %n : (i32) -> (i32) {
    tfrt.return %n : i32
  } else {
    %one = tfrt.constant.i32 1
    %less = "tfrt.minus.i32"(%n, %one) : (i32, i32) -> i32
    %s = tfrt_test.do.async %less : (i32) -> (i32) {
      %t = tfrt.call @down(%less) : (i32) -> i32
      tfrt.return %t : i32
    }
    tfrt.return %s : i32
  }
  tfrt.return %r : i32
}

// CHECK-LABEL: --- Running 'sleeps'
func.func @sleeps() -> !tfrt.chain {
  %n = tfrt.constant.i32 100
  // CHECK-NEXT: Slept for 100 microseconds
  %ch = "tfrt_test.blocking.usleep"(%n) : (i32) -> !tfrt.chain
  // CHECK-NEXT: Slept for 100 microseconds
  "tfrt_test.usleep"(%n, %ch) : (i32, !tfrt.chain) -> ()
  tfrt.return %ch : !tfrt.chain
}
