// Errors by the executor's TFRT name: codes in absl's words, of which kernels have one, and what is told on standard error.
//
// RUN: tfrt_translate -mlir-to-bef %s -o %t.bef
// RUN: bef_executor -print_error_code %t.bef 2>%t.err | FileCheck %s
// RUN: not test -s %t.err
// RUN: bef_executor %t.bef 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: bef-exec --print-error-code --work-queue s %t.bef 2>/dev/null | FileCheck %s --check-prefix=OURS
// RUN: bef-exec --work-queue s %t.bef 2>&1 >/dev/null | FileCheck %s --check-prefix=TOLD

// CHECK: 'fails' returned <<error: something bad happened, code: INTERNAL>>
// PLAIN: 'fails' returned <<error: something bad happened>>
// OURS: 'fails' returned <<error: something bad happened, code: Unknown>>
// TOLD: errors.mlir:[[@LINE+3]]:8: error: something bad happened
func.func @fails() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %a = "tfrt_test.fail"() : () -> i32
  tfrt.return %a : i32
}

// CHECK: 'divides' returned <<error: Divide by zero, code: INTERNAL>>
// PLAIN: 'divides' returned <<error: Divide by zero>>
// OURS: 'divides' returned <<error: Divide by zero, code: InvalidArgument>>
func.func @divides() -> i32 {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  // expected-error @+1 {{Divide by zero}}
  %q, %r = tfrt.div.i32 %one, %zero
  tfrt.return %q : i32
}

// Nobody reports a cancellation: it is a value only.
// CHECK: --- Running 'cancels':
// CHECK-NEXT: 'cancels' returned 0,<<error: Cancelled, code: CANCELLED>>
// PLAIN: --- Running 'cancels':
// PLAIN-NEXT: 'cancels' returned 0,<<error: Cancelled>>
// OURS: 'cancels' returned 0,<<error: Cancelled, code: Cancelled>>
// TOLD: {{^}}error: Cancelled
func.func @cancels() -> (i32, i32) {
  %ch0 = tfrt.new.chain
  %zero, %ch1 = "tfrt_test.cancel"(%ch0) : (!tfrt.chain) -> (i32, !tfrt.chain)
  %sum = "tfrt.add.i32"(%zero, %zero, %ch1) : (i32, i32, !tfrt.chain) -> i32
  tfrt.return %zero, %sum : i32, i32
}
