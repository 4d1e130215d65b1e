// `-verify-diagnostics=only-expected`: what is expected must be said; what else is said does not matter. `=all` is what the option means without
// a level.
//
// RUN: ir-opt %s --split-input-file --verify-diagnostics=only-expected --allow-unregistered-dialect
// RUN: tfrt_opt -split-input-file -verify-diagnostics=only-expected %s
// RUN: ir-translate --mlir-to-bef %s --split-input-file --verify-diagnostics=only-expected
// RUN: not ir-opt %s --split-input-file --verify-diagnostics=all 2>&1 | FileCheck %s
// RUN: not ir-opt %s --split-input-file --verify-diagnostics= 2>&1 | FileCheck %s
// RUN: not ir-opt %s --verify-diagnostics=none 2>&1 | FileCheck %s --check-prefix=LEVELS
// RUN: sed 's/ of undefined/ of unknown/' %s > %t.mlir
// RUN: not ir-opt %t.mlir --split-input-file --verify-diagnostics=only-expected 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: unexpected error: use of undefined value `%zz`
// LEVELS: possible values: all, only-expected
// MISSING-NOT: unexpected
// MISSING: error: expected error "use of unknown value `%yy`" was not produced
func.func @unexpected() -> i32 {
  %a = tfrt.add.i32 %zz, %yy // expected-error {{use of undefined value `%yy`}}
  tfrt.return %a : i32
}

// -----

// CHECK: unexpected error: use of undefined value `%xx`
func.func @nothing_expected() -> i32 {
  tfrt.return %xx : i32
}
