// A kernel can ask for its frame: the calls that lead to it, each with the number of the kernel in its function and the
// iteration. It is the same whatever the queue, and whichever plan the function is run by.
//
// RUN: bef-exec %s --work-queue s --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:2 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:8 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 3 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 4 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'entry':
// CHECK-NEXT: 7: step 0 /
func.func @entry() {
  %ch = tfrt.new.chain
  %seven = tfrt.constant.i32 7
  %done = "tfrt_test.print_frame"(%seven, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return
}

// Nothing here has to wait, and the chain orders everything: two loops in calls, one in the other.
func.func @says(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %done = "tfrt_test.print_frame"(%i, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %next = tfrt.add.i32 %i, %one
  tfrt.return %next, %done : i32, !tfrt.chain
}
func.func @twice(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %two = tfrt.constant.i32 2
  %r:2 = tfrt.repeat.i32 %two, %i, %ch : i32, !tfrt.chain {
    %next:2 = tfrt.call @says(%i, %ch) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %next#0, %next#1 : i32, !tfrt.chain
  }
  tfrt.return %r#0, %r#1 : i32, !tfrt.chain
}
func.func @to_six(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %end = tfrt.constant.i32 5
  %next:2 = tfrt.call @twice(%i, %ch) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %more = "tfrt.lessequal.i32"(%next#0, %end) : (i32, i32) -> i1
  tfrt.return %next#0, %next#1, %more : i32, !tfrt.chain, i1
}
// CHECK: --- Running 'in_order':
// CHECK-NEXT: 0: step 0 /to_six#3[0]/twice#1[0]/tfrt.repeat.i32#1[0]/says#0[0]
// CHECK-NEXT: 1: step 0 /to_six#3[0]/twice#1[0]/tfrt.repeat.i32#1[1]/says#0[0]
// CHECK-NEXT: 2: step 0 /to_six#3[1]/twice#1[0]/tfrt.repeat.i32#1[0]/says#0[0]
// CHECK-NEXT: 3: step 0 /to_six#3[1]/twice#1[0]/tfrt.repeat.i32#1[1]/says#0[0]
// CHECK-NEXT: 4: step 0 /to_six#3[2]/twice#1[0]/tfrt.repeat.i32#1[0]/says#0[0]
// CHECK-NEXT: 5: step 0 /to_six#3[2]/twice#1[0]/tfrt.repeat.i32#1[1]/says#0[0]
// CHECK-NEXT: 'in_order' returned 6
func.func @in_order() -> i32 {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @to_six(%zero, %ch) parallel_iterations(4) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r#0 : i32
}

// The iterations of both loops overlap: what is printed is the number of the outer and of the inner iteration.
func.func @inner(%i: i32, %outer: i32) -> (i32, i32, i1) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %sum = tfrt.add.i32 %outer, %i
  %late = "tfrt_test.async_add.i32"(%sum, %zero) : (i32, i32) -> i32
  %done = "tfrt_test.print_frame"(%late, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  %next = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%next, %one) : (i32, i32) -> i1
  tfrt.return %next, %outer, %more : i32, i32, i1
}
func.func @outer(%i: i32) -> (i32, i1) {
  %ten = tfrt.constant.i32 10
  %zero = tfrt.constant.i32 0
  %twenty = tfrt.constant.i32 20
  %yes = tfrt.constant.i1 true
  %late = "tfrt_test.async_add.i32"(%i, %zero) : (i32, i32) -> i32
  %r:2 = tfrt.while %yes @inner(%zero, %late) parallel_iterations(3) : (i32, i32) -> (i32, i32)
  %next = tfrt.add.i32 %i, %ten
  %more = "tfrt.lessequal.i32"(%next, %twenty) : (i32, i32) -> i1
  tfrt.return %next, %more : i32, i1
}
// CHECK: --- Running 'overlapping':
// CHECK-DAG: {{^}}0: step 0 /outer#2[0]/inner#5[0]{{$}}
// CHECK-DAG: {{^}}1: step 0 /outer#2[0]/inner#5[1]{{$}}
// CHECK-DAG: {{^}}10: step 0 /outer#2[1]/inner#5[0]{{$}}
// CHECK-DAG: {{^}}11: step 0 /outer#2[1]/inner#5[1]{{$}}
// CHECK-DAG: {{^}}20: step 0 /outer#2[2]/inner#5[0]{{$}}
// CHECK-DAG: {{^}}21: step 0 /outer#2[2]/inner#5[1]{{$}}
// CHECK: 'overlapping' returned 30
func.func @overlapping() -> i32 {
  %zero = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @outer(%zero) parallel_iterations(2) : (i32) -> (i32)
  tfrt.return %r : i32
}

// Loops whose iterations do not overlap, of bodies that have to wait.
func.func @waits(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain) {
  %one = tfrt.constant.i32 1
  %next = "tfrt_test.async_add.i32"(%i, %one) : (i32, i32) -> i32
  %done = "tfrt_test.print_frame"(%next, %ch) : (i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %next, %done : i32, !tfrt.chain
}
func.func @waits_while(%i: i32, %ch: !tfrt.chain) -> (i32, !tfrt.chain, i1) {
  %five = tfrt.constant.i32 5
  %next:2 = tfrt.call @waits(%i, %ch) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %more = "tfrt.lessequal.i32"(%next#0, %five) : (i32, i32) -> i1
  tfrt.return %next#0, %next#1, %more : i32, !tfrt.chain, i1
}
// CHECK: --- Running 'one_by_one':
// CHECK-NEXT: 1: step 0 /tfrt.repeat.i32#4[0]/waits#0[0]
// CHECK-NEXT: 2: step 0 /tfrt.repeat.i32#4[1]/waits#0[0]
// CHECK-NEXT: 3: step 0 /tfrt.repeat.i32#4[2]/waits#0[0]
// CHECK-NEXT: 4: step 0 /waits_while#5[0]/waits#1[0]
// CHECK-NEXT: 5: step 0 /waits_while#5[1]/waits#1[0]
// CHECK-NEXT: 6: step 0 /waits_while#5[2]/waits#1[0]
// CHECK-NEXT: 'one_by_one' returned 6
func.func @one_by_one() -> i32 {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %three = tfrt.constant.i32 3
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.repeat.i32 %three, %zero, %ch : i32, !tfrt.chain {
    %next:2 = tfrt.call @waits(%zero, %ch) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %next#0, %next#1 : i32, !tfrt.chain
  }
  %s:2 = tfrt.while %yes @waits_while(%r#0, %r#1) parallel_iterations(1) : (i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %s#0 : i32
}
