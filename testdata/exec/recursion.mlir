// Calls nest as deep as memory and a limit allow; the machine's stack has no part in it.
//
// RUN: bef-exec %s --work-queue s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:2 2> %t.err | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:1 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --work-queue mstd:4 2>/dev/null | FileCheck %s
// RUN: bef-exec %s --seed 1 2>/dev/null | FileCheck %s

// CHECK: --- Running 'forever':
// CHECK-NEXT: 'forever' returned <<error: calls nest too deeply: {{.*}}>>
// ERR: recursion.mlir:[[@LINE+3]]:8: error: calls nest too deeply
// ERR-NEXT: recursion.mlir:[[@LINE+2]]:8: note: called from here
func.func @forever() -> i32 {
  %x = tfrt.call @forever() : () -> i32
  tfrt.return %x : i32
}

// CHECK: --- Running 'deep':
// CHECK-NEXT: 'deep' returned 1000000
func.func @deep() -> i32 {
  %n = tfrt.constant.i32 1000000
  %zero = tfrt.constant.i32 0
  %r = tfrt.call @count(%n, %zero) : (i32, i32) -> i32
  tfrt.return %r : i32
}
func.func @count(%n: i32, %sum: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %left = "tfrt.minus.i32"(%n, %one) : (i32, i32) -> i32
  %next = tfrt.add.i32 %sum, %one
  %more = "tfrt.lessequal.i32"(%one, %left) : (i32, i32) -> i1
  %r = tfrt.cond %more @count @second (%left, %next) : (i32, i32) -> (i32)
  tfrt.return %r : i32
}
func.func @second(%x: i32, %y: i32) -> i32 {
  tfrt.return %y : i32
}
