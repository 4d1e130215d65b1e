// Symbols that nobody can refer to go.
//
// RUN: ir-opt %s --symbol-dce --split-input-file --verify-each | FileCheck %s
// RUN: ir-opt %s --symbol-dce --split-input-file --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: not ir-opt %s --pass-pipeline='builtin.module(func.func(symbol-dce))' --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG

// COUNT: SymbolDCE
// COUNT-NEXT: (S) 5 num-dce'd - Number of symbols DCE'd
// WRONG: error[E0508]: symbol-dce runs on symbol tables only; `func.func` is none

// CHECK-LABEL: module
// CHECK-NOT:   @dead
// CHECK:       func.func @public
// CHECK:       func.func private @used
// CHECK:       func.func private @used_by_used
// CHECK-NOT:   @dead
func.func private @dead_by_dead() {
  tfrt.return
}
func.func private @dead() {
  tfrt.call @dead_by_dead() : () -> ()
  tfrt.return
}
func.func @public() {
  tfrt.call @used() : () -> ()
  tfrt.return
}
func.func private @used() {
  tfrt.call @used_by_used() : () -> ()
  tfrt.return
}
func.func private @used_by_used() {
  tfrt.return
}
func.func private @dead_alone() {
  tfrt.call @dead_alone() : () -> ()
  tfrt.return
}

// -----

// Nested symbols can be referred to from around their table, which nobody does; a reference keeps the whole path.
// CHECK-LABEL: module @inner
// CHECK-NOT:     @nobody
// CHECK-NOT:     @hidden
// CHECK-LABEL: module @secret
// CHECK:         func.func private @named
module @inner {
  func.func nested @nobody() {
    tfrt.return
  }
  func.func private @hidden() {
    tfrt.return
  }
}
module @secret attributes {sym_visibility = "private"} {
  func.func private @named() {
    tfrt.return
  }
}
func.func private @holder() attributes {refers = [@secret::@named]}
func.func @keeps() attributes {refers = {a = @holder}} {
  tfrt.return
}
