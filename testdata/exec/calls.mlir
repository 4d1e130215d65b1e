// RUN: bef-exec %s --work-queue s --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 --leak-check | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check | FileCheck %s
// RUN: bef-exec %s --functions two,one | FileCheck %s --check-prefix=SOME
// RUN: not bef-exec %s --functions increment 2>&1 | FileCheck %s --check-prefix=ARGS

// CHECK: {{^}}--- Not running 'increment' because it has arguments.{{$}}
// ARGS: {{^}}--- Not running 'increment' because it has arguments.{{$}}
// ARGS-NEXT: error: nothing runs: no arguments are given
// ARGS-NEXT: note: the function is increment(x: i32) -> (i32)
func.func @increment(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}

// CHECK-NEXT: --- Running 'two':
// CHECK-NEXT: 'two' returned 2
func.func @two() -> i32 {
  %zero = tfrt.constant.i32 0
  %one = tfrt.call @increment(%zero) : (i32) -> i32
  %two = tfrt.call @increment(%one) : (i32) -> i32
  tfrt.return %two : i32
}

// SOME: --- Running 'two':
// SOME-NEXT: 'two' returned 2
// SOME-NEXT: --- Running 'one':
// SOME-NEXT: 'one' returned 1,1
// SOME-NOT: {{.}}

// CHECK-NEXT: --- Running 'one':
// CHECK-NEXT: 'one' returned 1,1
func.func @one() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %same, %again = tfrt.call @twice(%one) : (i32) -> (i32, i32)
  tfrt.return %same, %again : i32, i32
}

// A returned argument is the argument.
// CHECK-NEXT: --- Not running 'twice'
func.func @twice(%x: i32) -> (i32, i32) {
  tfrt.return %x, %x : i32, i32
}
