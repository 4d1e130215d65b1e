// TFRT's optional sections hold names: without them places are still known, and the names that kernels are told for debugging.
//
// RUN: tfrt_translate -mlir-to-bef --disable-optional-sections %s | bef_executor | FileCheck %s

// CHECK: --- Running 'fails':
// CHECK-NEXT: 'fails' returned <<error: something bad happened>>
func.func @fails() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %a = "tfrt_test.fail"() : () -> i32
  tfrt.return %a : i32
}

// CHECK: --- Running 'named':
// CHECK-NEXT: Test Debug Info
func.func @named() {
  %c = tfrt.new.chain
  %c1 = "tfrt_test.print_debug_info"(%c) : (!tfrt.chain) -> !tfrt.chain loc("Test Debug Info")
  tfrt.return
}
