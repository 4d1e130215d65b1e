// Pipelines, and all the ways to watch them.
//
// RUN: ir-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize{max-iterations=3 top-down=true}),symbol-dce)' --timing 2>&1 >/dev/null | FileCheck %s --check-prefix=TIME
// RUN: ir-opt %s --canonicalize=max-iterations=1 --cse --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STAT
// RUN: ir-opt %s --cse --canonicalize --print-ir-before=canonicalize 2>&1 >/dev/null | FileCheck %s --check-prefix=BEFORE
// RUN: ir-opt %s --cse --canonicalize --print-ir-after=cse 2>&1 >/dev/null | FileCheck %s --check-prefix=AFTER
// RUN: ir-opt %s --pass-pipeline='func.func(cse)' --print-ir-before-all --print-ir-module-scope 2>&1 >/dev/null | FileCheck %s --check-prefix=SCOPE
// RUN: not ir-opt %s --pass-pipeline='func.func(symbol-dce)' --print-ir-after-failure --pass-pipeline-crash-reproducer=%t 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: FileCheck %s --check-prefix=FILE < %t
// RUN: not ir-opt %t --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not ir-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ir-opt %s --pass-pipeline='canonicalize{top-dawn=true}' 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not ir-opt %s --print-ir-after=csee 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: ir-opt --list-passes | FileCheck %s --check-prefix=LIST

//      TIME: ... Execution time report ...
//      TIME: Total Execution Time: {{[0-9.]+}} seconds
//      TIME: ----Wall Time----  ----Name----
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Parser
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Verifier
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  'func.func' Pipeline
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)    CSE
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)    Canonicalizer
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  SymbolDCE
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Output
// TIME-NEXT: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Rest
// TIME-NEXT: {{[0-9.]+}} (100.0%)  Total

//      STAT: ... Pass statistics report ...
//      STAT: {{^}}Canonicalizer
//      STAT: {{^}}CSE
// STAT-NEXT: {{^}}  (S) {{[0-9]+}} num-cse'd - Number of operations CSE'd

//     BEFORE: // -----// IR Dump Before Canonicalizer (canonicalize) //----- //
// BEFORE-NOT: IR Dump
//      AFTER: // -----// IR Dump After CSE (cse) //----- //
// AFTER-NEXT: module {
//  AFTER-NOT: IR Dump
//      SCOPE: // -----// IR Dump Before CSE (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: module {

//  FAIL: // -----// IR Dump After SymbolDCE Failed (symbol-dce) //----- //
//  FAIL: error[E0508]
//  FAIL: note: `ir-opt --run-reproducer {{.*}}` shows it again
//  FILE: func.func @f
//  FILE: external_resources: {
//  FILE: mlir_reproducer: {
//  FILE: pipeline: "builtin.module(func.func(symbol-dce))",
// AGAIN: error[E0508]
//  NONE: names no pipeline to run

// OPTION: pipeline:1:14: error[E0503]: the pass `canonicalize` has no option `top-dawn`
// OPTION: did you mean `top-down`?
//   PASS: there is no pass 'csee'
//   LIST: {{^}}canonicalize
//   LIST: {{^}}    max-iterations=N: {{.*}}; default 10
//   LIST: {{^}}cse
func.func @f() -> i32 {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 1
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
