// Errors that kernels raise are told whether or not a result depends on them, and can be compared with what the text expects.
//
// RUN: bef-exec %s --work-queue s 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --work-queue mstd:2 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: bef-exec %s --verify-diagnostics --work-queue s 2>&1 | FileCheck %s --check-prefix=QUIET
// RUN: bef-exec %s --verify-diagnostics --work-queue mstd:2 | FileCheck %s
// RUN: ir-translate %s -o %t.bef
// RUN: bef-exec %t.bef --verify-diagnostics | FileCheck %s
// RUN: not bef-exec %s --verify-diagnostics --functions drops 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: bef-exec %s --seed 1 --verify-diagnostics | FileCheck %s
// RUN: bef-exec %s --seed 2 --verify-diagnostics | FileCheck %s
// RUN: not bef-exec %s --seed 2 --work-queue mstd 2>&1 | FileCheck %s --check-prefix=SEED

// QUIET-NOT: diagnostics.mlir
// QUIET-NOT: unexpected
// SEED: error: --seed chooses an order for one thread: it goes with --work-queue s

// CHECK: --- Running 'drops':
// CHECK-NEXT: 'drops' returned 43
// ERR: diagnostics.mlir:[[@LINE+8]]:8: error: something bad happened
// ERR-NEXT: diagnostics.mlir:[[@LINE+11]]:12: error: Divide by zero
// ERR-NEXT: diagnostics.mlir:[[@LINE+19]]:8: error: something bad happened
// ERR-NOT: error
// MISSED-NOT: diagnostics.mlir:{{.*}}was not produced
func.func @drops() -> i32 {
  %a = tfrt.constant.i32 43
  // expected-error @+1 {{runtime error: something bad happened}}
  %x = "tfrt_test.fail"() : () -> i32
  %y = tfrt.add.i32 %x, %a
  %zero = tfrt.constant.i32 0
  // expected-error @+1 {{Divide by zero}}
  %q, %r = tfrt.div.i32 %a, %zero
  tfrt.return %a : i32
}

// CHECK-NEXT: --- Running 'returns':
// CHECK-NEXT: 'returns' returned <<error: something bad happened>>
// MISSED: diagnostics.mlir:[[@LINE+2]]:{{.*}}: error: expected error "something bad happened" was not produced
func.func @returns() -> i32 {
  // expected-error @+1 {{something bad happened}}
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
