// What would not end by itself is ended by a deadline. It is compiled before, because the deadline is also that of
// compiling and loading.
//
// RUN: ir-translate %s -o %t.bef
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops_later --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops_overlap --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions repeats --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions repeats_later --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions blocks --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions sleeps --work-queue s 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops_later --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops_overlap --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions repeats --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions repeats_later --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions blocks --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions sleeps --work-queue mstd:2 2>&1 | FileCheck %s
// RUN: not bef-exec %t.bef --timeout 0.5 --functions loops_overlap --seed 1 2>&1 | FileCheck %s

// CHECK: --- Running '
// CHECK: {{^}}error: Deadline exceeded{{$}}
// CHECK: returned <<error: Deadline exceeded>>

func.func @goes_on(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y, %yes : i32, i1
}
func.func @loops() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @goes_on(%one) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}

func.func @goes_on_later(%x: i32) -> (i32, i1) {
  %yes = "tfrt_test.async_constant.i1"() {value = 1 : i1} : () -> i1
  %y = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
  tfrt.return %y, %yes : i32, i1
}
func.func @loops_later() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @goes_on_later(%one) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}

func.func @loops_overlap() -> i32 {
  %one = tfrt.constant.i32 1
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @goes_on_later(%one) parallel_iterations(4) : (i32) -> (i32)
  tfrt.return %r : i32
}

func.func @repeats() -> i32 {
  %one = tfrt.constant.i32 1
  %n = tfrt.constant.i32 2147483647
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %two = tfrt.add.i32 %one, %one
    tfrt.return %two : i32
  }
  tfrt.return %r : i32
}

func.func @repeats_later() -> i32 {
  %one = tfrt.constant.i32 1
  %n = tfrt.constant.i32 2147483647
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %two = "tfrt_test.async_add.i32"(%one, %one) : (i32, i32) -> i32
    tfrt.return %two : i32
  }
  tfrt.return %r : i32
}

func.func @blocks() -> !tfrt.chain {
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 2147483647
  %one = tfrt.constant.i32 1
  %ch = tfrt.new.chain
  %done = tfrt.parallel_for.i32 %start to %end fixed %one, %ch : !tfrt.chain {
    %x = tfrt.add.i32 %start, %end
    tfrt.return %ch : !tfrt.chain
  }
  tfrt.return %done : !tfrt.chain
}

// A kernel that blocks, and looks whether it is to stop: it has a result, what comes after it has none.
func.func @sleeps() -> i32 {
  %long = tfrt.constant.i32 2000000000
  %slept = "tfrt_test.blocking.usleep"(%long) : (i32) -> !tfrt.chain
  %one = tfrt.constant.i32 1
  %x = "tfrt.add.i32"(%one, %one, %slept) : (i32, i32, !tfrt.chain) -> i32
  tfrt.return %x : i32
}
