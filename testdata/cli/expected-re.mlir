// Expectations as mlir-opt reads them: regular expressions after `-re`, and a marker of one's own that may follow the
// last operation of a part.
//
// RUN: ir-opt %s --split-input-file='// CUT' --output-split-marker='// NEXT' --verify-diagnostics | FileCheck %s
// RUN: not ir-opt --verify-diagnostics %S/Inputs/expected-re.mlir 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: expected-re.mlir:2:6: error: 'error' diagnostic emitted when expecting a 'warning'
// BAD-NEXT: expected-re.mlir:2:6: error: expected warning "undefined value" was not produced
// BAD-NEXT: expected-re.mlir:5:4: error: invalid regex: unbalanced bracket

// CHECK: func.func @first
// CHECK: {{^}}// NEXT{{$}}
// CHECK: func.func @last
func.func @first() { tfrt.return } // CUT

func.func @bad() -> i32 {
  // expected-error-re@+1 {{undefined value `%{{[a-y]+}}`}} expected-error-re@+1 {{`%{{z+}}`}}
  %a = tfrt.add.i32 %xy, %zz
  tfrt.return %a : i32
}
// CUT
func.func @last() { tfrt.return }
