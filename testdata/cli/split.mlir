// Parts of a file are read each on its own; their places are those of the file.
//
// RUN: ir-opt %s --split-input-file 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: ir-translate --to mlir %s --split-input-file --generic | FileCheck %s --check-prefix=GENERIC
// RUN: ir-opt %s --split-input-file --print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: not ir-opt %s 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not ir-translate --mlir-to-bef --split-input-file %s 2>&1 >/dev/null | FileCheck %s --check-prefix=ONE

// TEXT: func.func @f()
// TEXT: {{^}}// -----{{$}}
// TEXT: func.func @f()
// TEXT-NOT: {{// -----}}
// GENERIC: "func.func"
// GENERIC: {{^}}// -----{{$}}
// GENERIC: "func.func"
// LOC: loc("{{.*}}split.mlir":[[@LINE+1]]:1)
func.func @f() { tfrt.return }
// -----
// LOC: loc("{{.*}}split.mlir":[[@LINE+1]]:1)
func.func @f() { tfrt.return }
// WHOLE: split.mlir:[[@LINE-1]]:{{[0-9]+}}: error[{{.*}}]: {{.*}}f
// ONE: error: 2 parts cannot become one BEF file
