// Passes as flags and as pipelines.
//
// RUN: ir-opt %s --dce | FileCheck %s
// RUN: ir-opt %s --pass-pipeline 'builtin.module(func.func(dce))' --verify-each | FileCheck %s
// RUN: ir-opt %s --dce --strip-debuginfo --print-debuginfo | FileCheck %s
// RUN: ir-translate %s --pass-pipeline=dce --to mlir | FileCheck %s
// RUN: bef-exec %s --pass-pipeline=dce --print-ir-after-all 2>&1 | FileCheck %s --check-prefix=EXEC
// RUN: ir-opt %s | FileCheck %s --check-prefix=SAME
// RUN: ir-opt %s --dce --timing 2>&1 >/dev/null | FileCheck %s --check-prefix=TIMING
// RUN: ir-opt %s --dce --dce --print-ir-before-all --print-ir-after-change 2>&1 >/dev/null | FileCheck %s --check-prefix=DUMP
// RUN: ir-opt %s --strip-debuginfo --dce --strip-debuginfo --print-ir-before-all 2>&1 >/dev/null | FileCheck %s --check-prefix=ORDER
// RUN: not ir-opt %s --dce=x 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: ir-opt --help | FileCheck %s --check-prefix=HELP
// RUN: ir-opt --list-passes | FileCheck %s --check-prefix=LIST

// CHECK: func.func @f
// CHECK-NEXT: constant.i32 1
// CHECK-NEXT: tfrt.return
// SAME: constant.i32 1
// SAME-NEXT: constant.i32 2
// EXEC: IR Dump After DCE (dce)
// EXEC: 'f' returned 1
// TIMING: Execution time report
// TIMING: ({{.*}}%)  Parser
// TIMING-NEXT: Verifier
// TIMING-NEXT: {{[0-9.]+}} ({{.*}}%)  DCE
// TIMING-NEXT: Output
// TIMING-NEXT: Rest
// TIMING-NEXT: (100.0%)  Total
// DUMP: // -----// IR Dump Before DCE (dce) //----- //
// DUMP: // -----// IR Dump After DCE (dce) //----- //
// DUMP-NOT: constant.i32 2
// DUMP: // -----// IR Dump Before DCE (dce) //----- //
// DUMP-NOT: IR Dump After
// ORDER: IR Dump Before StripDebugInfo (strip-debuginfo)
// ORDER: IR Dump Before DCE (dce)
// ORDER: IR Dump Before StripDebugInfo (strip-debuginfo)
// VALUE: error: unexpected value 'x' for '--dce'
// HELP: {{^}} {{ *}}--dce {{ *}}removes
// LIST: {{^}}canonicalize {{.*}}folds
// LIST: {{^}}dce {{.*}}removes
// LIST: {{^}}sccp {{.*}}constant
// LIST: {{^}}strip-debuginfo {{.*}}locations
func.func @f() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  tfrt.return %a : i32
}
