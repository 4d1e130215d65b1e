// What is missing, and what nobody expected, fails.
//
// RUN: not ir-opt %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s
// RUN: not ir-translate --mlir-to-bef %s --split-input-file --verify-diagnostics 2>&1 | FileCheck %s

// CHECK: {{^}}{{.*}}verify-diagnostics-fails.mlir:[[@LINE+2]]:{{[0-9]+}}: error: expected error "nothing like this" was not produced
func.func @missing() {
  tfrt.return // expected-error {{nothing like this}}
}

// -----

// CHECK-NEXT: verify-diagnostics-fails.mlir:[[@LINE+2]]:26: error: unexpected error: use of undefined value `%yy`
func.func @unexpected() -> i32 {
  %a = tfrt.add.i32 %zz, %yy // expected-error {{use of undefined value}}
  tfrt.return %a : i32
}

// -----

// CHECK: error: 'error' diagnostic emitted when expecting a 'warning'
// CHECK: error: expected warning "unknown operation" was not produced
func.func @severity() {
  tfrt.nothing // expected-warning {{unknown operation}}
  tfrt.return
}
