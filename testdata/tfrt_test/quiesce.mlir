// On the queue `s` whoever waits for it to be idle runs what it has to do.
//
// RUN: bef-exec %s --work-queue s | FileCheck %s
// RUN: bef-exec %s --seed 1 | FileCheck %s
// RUN: bef-exec %s --seed 2 | FileCheck %s

// CHECK: --- Running 'quiesce':
// CHECK-NEXT: int32 = 1
// CHECK-NEXT: 'quiesce' returned 2
func.func @quiesce() -> i32 {
  %ch = tfrt.new.chain
  %late = "tfrt_test.async_constant.i32"() {value = 1 : i32} : () -> i32
  %printed = tfrt.print.i32 %late, %ch
  %idle = "tfrt_test.quiesce"(%ch) : (!tfrt.chain) -> !tfrt.chain
  %two = tfrt.constant.i32 2
  %r = "tfrt_test.identity"(%idle, %two) : (!tfrt.chain, i32) -> i32
  tfrt.return %r : i32
}
