// RUN: ir-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: ir-translate --mlir-to-bef %s --split-input-file --verify-diagnostics
// RUN: not ir-opt %s --split-input-file 2>&1 | FileCheck %s --check-prefix=NOT

// NOT: error[E0302]: use of undefined value `%zz`
// NOT: error[E0301]

// CHECK: func.func @good
func.func @good() -> i32 {
  %a = tfrt.constant.i32 1
  tfrt.return %a : i32
}

// -----

func.func @bad() -> i32 {
  // expected-error @+1 {{use of undefined value}}
  %a = tfrt.add.i32 %zz, %yy // expected-error {{`%yy`}}
  // expected-error @below {{unknown operation}}
  %b = tfrt.ad.i32 %a, %a
  tfrt.return %a : i32
}

// -----

// CHECK: func.func @last
// CHECK-NOT: @bad
func.func @last() { tfrt.return }
