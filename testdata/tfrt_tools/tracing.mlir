// Kernels are traced at the level debug, by the tool that is for it.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor_debug_tracing --enable_tracing --tracing_level=debug %t.bef | FileCheck %s
// RUN: bef_executor_debug_tracing --enable_tracing %t.bef | FileCheck %s --check-prefix=NONE
// RUN: bef_executor --enable_tracing=true --tracing_level=debug %t.bef | FileCheck %s --check-prefix=NONE

// NONE-NOT: Scope
// CHECK: --- Running 'traced':
func.func @traced() -> i32 {
  // CHECK: Scope:tfrt.new.chain
  // CHECK-NEXT: End Scope
  %ch = tfrt.new.chain
  // CHECK-NEXT: Scope:tfrt_test.print_hello
  // CHECK-NEXT: hello host executor!
  // CHECK-NEXT: End Scope
  %done = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: Scope:tfrt.alias.value
  // CHECK-NEXT: End Scope
  %one = tfrt.constant.i32 1
  %r = "tfrt.alias.value"(%done, %one) : (!tfrt.chain, i32) -> i32
  // CHECK: 'traced' returned 1
  tfrt.return %r : i32
}
