// One of several functions runs: the one that is named by a value. The others do nothing.
//
// RUN: bef-exec %s --work-queue s --leak-check 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 --leak-check 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 --leak-check 2>/dev/null | FileCheck %s

// CHECK: --- Running 'if':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: 'if' returned 3,2
func.func @if() -> (i32, i32) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %a = tfrt.if %yes, %one, %two : (i32, i32) -> (i32) {
    %sum = tfrt.add.i32 %one, %two
    tfrt.return %sum : i32
  } else {
    tfrt.return %two : i32
  }
  %b = tfrt.if %no, %one, %two : (i32, i32) -> (i32) {
    %sum = tfrt.add.i32 %one, %two
    tfrt.return %sum : i32
  } else {
    tfrt.return %two : i32
  }
  // Without results, the second branch may be left out.
  tfrt.if %yes, %one, %ch : (i32, !tfrt.chain) -> () {
    %done = tfrt.print.i32 %one, %ch
    tfrt.return
  }
  tfrt.if %no, %two, %ch : (i32, !tfrt.chain) -> () {
    %done = tfrt.print.i32 %two, %ch
    tfrt.return
  }
  tfrt.return %a, %b : i32, i32
}

// The condition comes late; it is an error in the second one, which then is the result.
// CHECK-NEXT: --- Running 'late':
// CHECK-NEXT: 'late' returned 9,<<error: something bad happened>>
// ERR: branches.mlir:[[@LINE+10]]:10: error: something bad happened
func.func @late() -> (i32, i32) {
  %one = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %nine = "tfrt_test.async_constant.i32"() {value = 9 : i32} : () -> i32
  %yes = tfrt.equal.i32 %one, %one
  %a = tfrt.if %yes, %nine, %one : (i32, i32) -> (i32) {
    tfrt.return %nine : i32
  } else {
    tfrt.return %one : i32
  }
  %bad = "tfrt_test.fail"() : () -> i32
  %maybe = tfrt.equal.i32 %bad, %one
  %b = tfrt.if %maybe, %nine : (i32) -> (i32) {
    tfrt.return %nine : i32
  } else {
    tfrt.return %nine : i32
  }
  tfrt.return %a, %b : i32, i32
}

func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @same(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @fails(%x: i32) -> i32 {
  %y = "tfrt_test.fail"() : () -> i32
  tfrt.return %y : i32
}

// CHECK: --- Running 'cond':
// CHECK-NEXT: 'cond' returned 14,7,<<error: something bad happened>>
// ERR-NEXT: branches.mlir:[[@LINE-6]]:8: error: something bad happened
// ERR-NEXT: branches.mlir:[[@LINE+7]]:8: note: called from here
func.func @cond() -> (i32, i32, i32) {
  %seven = tfrt.constant.i32 7
  %yes = tfrt.constant.i1 true
  %no = tfrt.constant.i1 false
  %a = tfrt.cond %yes @double @same (%seven) : (i32) -> (i32)
  %b = tfrt.cond %no @double @same (%seven) : (i32) -> (i32)
  %c = tfrt.cond %no @double @fails (%seven) : (i32) -> (i32)
  tfrt.return %a, %b, %c : i32, i32, i32
}

// CHECK-NEXT: --- Running 'case':
// CHECK-NEXT: 'case' returned 1,4,<<error: branch_index invalid. branch index: 2 # branches: 2>>,<<error: branch_index invalid. branch index: -1 # branches: 2>>
// ERR-NEXT: branches.mlir:[[@LINE+9]]:8: error: branch_index invalid. branch index: 2 # branches: 2
// ERR-NEXT: branches.mlir:[[@LINE+9]]:8: error: branch_index invalid. branch index: -1 # branches: 2
func.func @case() -> (i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %minus = tfrt.constant.i32 -1
  %a = tfrt.case %zero [@same, @double] (%one) : (i32) -> (i32)
  %b = tfrt.case %one [@same, @double] (%two) : (i32) -> (i32)
  %c = tfrt.case %two [@same, @double] (%one) : (i32) -> (i32)
  %d = tfrt.case %minus [@same, @double] (%one) : (i32) -> (i32)
  tfrt.return %a, %b, %c, %d : i32, i32, i32, i32
}
// ERR-NOT: {{.}}
