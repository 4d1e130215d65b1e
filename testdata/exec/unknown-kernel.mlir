// An error at load that the text expects is none.
//
// RUN: ir-translate --mlir-to-bef --allow-unregistered-dialect %s -o %t.bef
// RUN: bef-exec %t.bef --verify-diagnostics
// RUN: not bef-exec %t.bef 2>&1 | FileCheck %s --check-prefix=PLAIN

// PLAIN: unknown-kernel.mlir:[[@LINE+3]]:3: error: unknown kernel name 'tfrt_test.unheard_of' (in 'unknown')
func.func @unknown() {
  // expected-error @+1 {{runtime error: unknown kernel name 'tfrt_test.unheard_of'}}
  "tfrt_test.unheard_of"() : () -> ()
  tfrt.return
}
