// Calls nest as deep as memory and a limit allow; the machine's stack has no part in it.
//
// RUN: bef-exec %s --work-queue s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:2 2> %t.err | FileCheck %s

// CHECK: --- Running 'forever':
// CHECK-NEXT: 'forever' returned <<error: calls nest too deeply: {{.*}}>>
// ERR: recursion.mlir:[[@LINE+3]]:8: error: calls nest too deeply
// ERR-NEXT: recursion.mlir:[[@LINE+2]]:8: note: called from here
func.func @forever() -> i32 {
  %x = tfrt.call @forever() : () -> i32
  tfrt.return %x : i32
}
