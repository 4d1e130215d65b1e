// Errors are values: they skip what depends on them and nothing else. Their places go to standard error, with the calls that led there.
//
// RUN: bef-exec %s --work-queue s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:2 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:1 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 2 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --functions fails,divides --print-error-code 2>/dev/null | FileCheck %s --check-prefix=CODE
// RUN: ir-translate --disable-optional-sections %s -o %t.bef
// RUN: bef-exec %t.bef --functions fails 2>&1 >/dev/null | FileCheck %s --check-prefix=STRIPPED

// CHECK: --- Running 'fails':
// CHECK-NEXT: {{^}}'fails' returned 43,<<error: something bad happened>>{{$}}
// ERR: {{^}}{{.*}}errors.mlir:[[@LINE+6]]:8: error: something bad happened{{$}}
// CODE: 'fails' returned 43,<<error: something bad happened, code: Unknown>>
// STRIPPED: {{^}}error: something bad happened{{$}}
// STRIPPED-NOT: {{.}}
func.func @fails() -> (i32, i32) {
  %a = tfrt.constant.i32 43
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %a, %x : i32, i32
}

// One error in two results is told once.
// CHECK-NEXT: --- Running 'spreads':
// CHECK-NEXT: 'spreads' returned <<error: something bad happened>>,1,<<error: something bad happened>>
// ERR-NEXT: errors.mlir:[[@LINE+2]]:14: error: something bad happened
func.func @spreads() -> (i32, i32, i32) {
  %one, %x = "tfrt_test.partial_fail"() : () -> (i32, i32)
  %sum = tfrt.add.i32 %one, %x
  %untouched = tfrt.add.i32 %one, %one
  tfrt.return %sum, %one, %x : i32, i32, i32
}

// CHECK-NEXT: --- Running 'divides':
// CHECK-NEXT: 'divides' returned <<error: Divide by zero>>,<<error: Divide by zero>>
// ERR-NEXT: errors.mlir:[[@LINE+5]]:12: error: Divide by zero
// CODE: 'divides' returned <<error: Divide by zero, code: InvalidArgument>>,<<error: Divide by zero, code: InvalidArgument>>
func.func @divides() -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %a, %zero
  tfrt.return %q, %r : i32, i32
}

// CHECK-NEXT: --- Running 'inner':
// CHECK-NEXT: 'inner' returned 1,<<error: something bad happened>>
// ERR-NEXT: errors.mlir:[[@LINE+2]]:12: error: something bad happened
func.func @inner() -> (i32, i32) {
  %a, %b = "tfrt_test.partial_fail"() : () -> (i32, i32)
  tfrt.return %a, %b : i32, i32
}
// CHECK-NEXT: --- Running 'outer':
// CHECK-NEXT: 'outer' returned <<error: something bad happened>>
// ERR-NEXT: errors.mlir:[[@LINE-5]]:12: error: something bad happened
// ERR-NEXT: errors.mlir:[[@LINE+2]]:10: note: called from here
func.func @outer() -> i32 {
  %a:2 = tfrt.call @inner() : () -> (i32, i32)
  tfrt.return %a#1 : i32
}
// CHECK-NEXT: --- Running 'calls':
// CHECK-NEXT: 'calls' returned 43,<<error: something bad happened>>
// ERR-NEXT: errors.mlir:[[@LINE-13]]:12: error: something bad happened
// ERR-NEXT: errors.mlir:[[@LINE-6]]:10: note: called from here
// ERR-NEXT: errors.mlir:[[@LINE+3]]:8: note: called from here
func.func @calls() -> (i32, i32) {
  %a = tfrt.constant.i32 43
  %b = tfrt.call @outer() : () -> i32
  tfrt.return %a, %b : i32, i32
}

// An error that no result depends on is told too.
// CHECK: --- Running 'quiet':
// CHECK-NOT: {{.}}
// ERR-NEXT: errors.mlir:[[@LINE+3]]:8: error: something bad happened
// ERR-NOT: {{.}}
func.func @quiet() {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return
}
